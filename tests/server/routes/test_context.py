"""The context endpoint of a market: estimates, warnings and edge."""

from pathlib import Path
from typing import Any, Final

import pytest

from kit.clock import leap
from kit.engine.bare import AT, HOUR, bare_world, listed
from kit.service.bare import bare_service, request_to
from kit.service.line import Line, change, line_to
from kit.service.stage import open_stage
from service_tui.engine.books.orders import VenueOrder
from service_tui.engine.events import Fill, HaltSet, Note
from service_tui.server.past.agent_past import AgentFill, in_one_form
from service_tui.server.routes import market_context
from service_tui.server.routes.market_context import AMOUNTS
from service_tui.terms import Action, MarketStatus, Side, Venue
from service_tui.units import ONE, Micros, Probability, Timestamp
from service_tui.wire.base import moment
from service_tui.wire.endpoints.public import MARKET, MARKET_CONTEXT, PLACE_TRADE
from service_tui.wire.market_context import (
    ContextPositionBody,
    DisciplineBody,
    MarketContextQuery,
    RecentTradeBody,
)
from service_tui.wire.positions import PositionBody, PositionSideBody

NOW: Final = Timestamp(1_800_000_000.0)


async def context(line: Line, market_id: str, **params: object) -> dict[str, Any]:
    return await line.said(MARKET_CONTEXT, path={"market_id": market_id}, **params)


async def trade(line: Line, market_id: str, **fields: object) -> dict[str, Any]:
    order = {"market_id": market_id, "side": "yes"} | fields
    said = await line.said(PLACE_TRADE, json=order)
    assert said["success"], said["error"]
    return said


@pytest.mark.slow
async def test_the_estimates_are_what_a_dry_run_gets(tmp_path: Path) -> None:
    async with open_stage(tmp_path, speed=0) as stage:
        line = line_to(stage)
        # The most liquid one takes every size.
        market_id = max(stage.open_markets(), key=lambda one: one.b).market_id
        for chance, side in ((0.999, "yes"), (0.001, "no")):
            said = (await context(line, market_id, my_probability=chance))["slippage"]
            assert (said["venue"], said["side"], said["spread_pct"]) == ("sim", side, 0)
            assert [one["amount_usd"] for one in said["estimates"]] == list(AMOUNTS)
            for one in said["estimates"]:
                order = {"market_id": market_id, "side": side, "amount": one["amount_usd"]}
                quote = await line.said(PLACE_TRADE, json=order | {"dry_run": True})
                assert (one["shares"], one["avg_price"]) == (quote["shares"], quote["avg_price"])
                slipped = quote["avg_price"] / quote["price_before"] - 1
                assert one["slippage_pct"] == pytest.approx(slipped, abs=1e-6)
            slips = [one["slippage_pct"] for one in said["estimates"]]
            assert slips == sorted(slips)


@pytest.mark.slow
async def test_the_market_and_the_position_agree_with_their_own_endpoints(tmp_path: Path) -> None:
    async with open_stage(tmp_path, speed=0) as stage:
        line = line_to(stage)
        market_id = stage.open_markets()[-1].market_id
        empty = await context(line, market_id)
        assert empty["position"]["has_position"] is False
        assert not any(value is None for name, value in empty["position"].items() if name != "side")
        assert empty["positions"] == {"sim": None, "evm_venue": None, "sol_venue": None}
        await trade(line, market_id, amount=20)
        bought = await trade(line, market_id, side="no", amount=60, reasoning="because")
        await leap(stage.clock, 1_800)
        said = await context(line, market_id)
        one = (await line.said(MARKET, path={"market_id": market_id}))["market"]
        for name in ("question", "status", "current_price", "price_24h_ago", "url", "tags"):
            assert said["market"][name] == one[name]
        held = said["position"]
        assert said["positions"]["sim"] == held
        assert (held["side"], held["shares"]) == ("no", bought["shares"])
        assert held["avg_cost_basis"] == pytest.approx(60 / bought["shares"])
        assert held["unrealized_pnl"] == pytest.approx(held["current_value"] - 60)
        assert held["pnl_pct"] == pytest.approx(held["unrealized_pnl"] / 60, abs=1e-6)
        assert held["position_age_hours"] == pytest.approx(0.5, abs=0.01)
        assert [row["action"] for row in said["recent_trades"]] == ["buy_no", "buy_yes"]
        assert said["recent_trades"][0]["reasoning"] == "because"
        assert said["discipline"]["last_action"] == "buy_no"
        assert said["discipline"]["direction_changes_24h"] == 1
        elsewhere = await context(line, market_id, venue="polymarket")
        assert elsewhere["position"]["has_position"] is False


def fills(*actions: str, step_s: float = 60.0) -> list[AgentFill]:
    """Trades like "buy_yes", given oldest first, as a history gives them: newest first."""
    made = [
        Fill(
            f"t{count}", "a", "m", Side(side), Action(action), Micros(ONE), Micros(ONE // 2), 0.5,
            0.5, Timestamp(NOW - step_s * (len(actions) - count)), NOW, Micros(0), Note(),
        )
        for count, (action, _, side) in enumerate(one.partition("_") for one in actions)
    ]  # fmt: skip
    return [one for one in in_one_form(made) if isinstance(one, AgentFill)][::-1]


@pytest.mark.slow
async def test_the_context_knows_the_book_and_the_position_of_a_real_venue(tmp_path: Path) -> None:
    async with open_stage(tmp_path, speed=0) as stage:
        line = line_to(stage)
        await change(stage, claimed=True, real_trading_enabled=True)
        market = next(one for one in stage.open_markets() if one.listing.home is Venue.EVM)
        market_id = market.market_id
        one = (await line.said(MARKET, path={"market_id": market_id}))["market"]
        order = {"market_id": market_id, "side": "yes", "venue": "polymarket", "amount": 10}
        said = await context(line, market_id, venue="evm_venue")
        for name in ("external_price_yes", "divergence", "fee_rate_bps", "spread", "spread_cents"):
            assert said["market"][name] == one[name], name
        assert said["slippage"]["venue"] == "evm_venue"
        assert said["slippage"]["spread_pct"] == pytest.approx(one["spread"])
        for row in said["slippage"]["estimates"]:
            quote = await line.said(
                PLACE_TRADE,
                json=order | {"amount": row["amount_usd"], "order_type": "FOK", "dry_run": True},
            )
            assert (row["shares"], row["avg_price"]) == (quote["shares"], quote["avg_price"])
        bought = await line.said(PLACE_TRADE, json=order)
        assert bought["success"], bought["error"]
        held = await context(line, market_id)
        assert held["positions"]["sim"] is None
        assert held["positions"]["evm_venue"]["shares"] == bought["shares"]
        assert held["position"] == held["positions"]["evm_venue"]
        assert (await context(line, market_id, venue="sim"))["position"]["has_position"] is False


YES, NO = Side.YES, Side.NO


def fill(action: str, side: Side, hours_ago: float = 0.0, **changes: Any) -> AgentFill:
    given: dict[str, Any] = {
        "trade_id": "t1", "venue": Venue.SIM, "market_id": "m1", "side": side,
        "action": Action(action), "shares": Micros(20 * ONE), "money": Micros(12 * ONE),
        "price": 0.6, "at": Timestamp(AT - hours_ago * HOUR), "skill": "", "reasoning": "",
    }  # fmt: skip
    return AgentFill(**{**given, **changes})


@pytest.mark.parametrize(
    ("action", "side", "rises"),
    [("buy", YES, True), ("sell", NO, True), ("buy", NO, False), ("sell", YES, False)],
)
def test_a_trade_bets_on_yes_or_against_it(action: str, side: Side, *, rises: bool) -> None:
    assert market_context.rises(fill(action, side)) is rises


UP, DOWN = ("buy", YES), ("buy", NO)


@pytest.mark.parametrize(
    ("turns", "changes", "level", "warning"),
    [
        ([], 0, "none", None),
        ([UP, UP, ("sell", NO)], 0, "none", None),
        ([UP, DOWN], 1, "mild", "changed direction once in 24 hours here"),
        ([UP, DOWN, UP], 2, "mild", "changed direction 2 times in 24 hours here"),
        ([UP, DOWN, UP, DOWN], 3, "severe", "changed direction 3 times in 24 hours here"),
    ],
)
def test_turning_round_is_counted_and_warned_of(
    turns: list[Any], changes: int, level: str, warning: str | None
) -> None:
    fills = [fill(*turn, hours_ago=n) for n, turn in enumerate(turns)]
    told = market_context.discipline_part(fills, AT)
    assert (told.direction_changes_24h, told.warning_level, told.flip_flop_warning) == (
        changes, level, warning
    )  # fmt: skip
    assert told.last_action == ("buy_yes" if turns else None)
    assert told.last_action_at == (moment(AT) if turns else None)


def test_what_is_older_than_a_day_is_no_turn_and_still_the_last_trade() -> None:
    old = [fill("sell", YES, 24.0), fill("buy", YES, 25.0)]
    told = market_context.discipline_part(old, AT)
    assert (told.direction_changes_24h, told.last_action) == (0, "sell_yes")
    young = [fill("sell", YES, 0.0), fill("buy", YES, 23.9), fill("sell", YES, 24.0)]
    assert market_context.discipline_part(young, AT).direction_changes_24h == 1


def test_the_last_trades_are_told_with_price_and_reason() -> None:
    fills = [fill("sell", NO, 1.0, reasoning="it rains"), fill("buy", YES)]
    assert market_context.recent_part(fills) == (
        RecentTradeBody(
            action="sell_no", shares=20.0, price=0.6, timestamp=moment(Timestamp(AT - HOUR)),
            reasoning="it rains",
        ),
        RecentTradeBody(
            action="buy_yes", shares=20.0, price=0.6, timestamp=moment(AT), reasoning=None
        ),
    )  # fmt: skip


def held_side(name: str, value: float, cost: float, age_h: float = 2.0) -> PositionSideBody:
    opened = moment(Timestamp(AT - age_h * HOUR))
    return PositionSideBody.model_construct(
        side=name, current_value=value, cost_basis=cost, shares=8.0, opened_at=opened
    )


def test_of_two_sides_held_the_one_worth_more_is_told() -> None:
    held = PositionBody(
        market_id="m1", sides=(held_side("yes", 3.0, 2.0), held_side("no", 5.0, 4.0))
    )
    assert market_context.position_part(held, AT) == ContextPositionBody(
        has_position=True, side=NO, shares=8.0, avg_cost_basis=0.5, current_value=5.0,
        unrealized_pnl=1.0, pnl_pct=0.25, position_age_hours=2.0,
    )  # fmt: skip
    free = PositionBody(market_id="m1", sides=(held_side("yes", 3.0, 0.0, age_h=-1),))
    told = market_context.position_part(free, AT)
    assert told is not None
    assert (told.pnl_pct, told.position_age_hours, told.unrealized_pnl) == (0.0, 0.0, 3.0)
    assert market_context.position_part(PositionBody(market_id="m1"), AT) is None
    assert market_context.position_part(None, AT) is None


HELD_NO: Final = ContextPositionBody(has_position=True, side=NO)


@pytest.mark.parametrize(
    ("probability", "held", "expected"),
    [
        (0.9, None, (0.5, YES, "TRADE")),
        (0.1, None, (-0.3, NO, "TRADE")),
        (0.41, None, (0.01, YES, "SKIP")),
        (0.39, None, (-0.01, NO, "SKIP")),
        (0.39, HELD_NO, (-0.01, NO, "HOLD")),
        (0.41, HELD_NO, (0.01, YES, "SKIP")),
        (0.4, None, (0.0, NO, "SKIP")),
    ],
)
def test_an_edge_over_the_price_is_a_recommendation(
    probability: float, held: Any, expected: tuple[float, Side, str]
) -> None:
    edge, chosen, word = expected
    market = listed(bare_world())
    told = market_context.edge_part(market, AT, probability=probability, held=held)
    assert told.user_probability == probability
    assert told.user_edge == pytest.approx(edge, abs=1e-5)
    assert (told.recommended_side, told.recommendation) == (chosen, word)


def test_the_threshold_of_an_edge_follows_the_time_that_is_left() -> None:
    world = bare_world()
    found = []
    for hours in (1, 30, 24 * 10, 24 * 60):
        market = listed(world, f"m{hours}", resolves_at=Timestamp(AT + hours * HOUR))
        told = market_context.edge_part(market, AT, probability=None, held=None)
        assert told.suggested_threshold == round(
            market_context.BASE_THRESHOLD * told.time_factor, 6
        )
        assert told.recommendation is None or told.recommendation
        found.append(told.time_factor)
    assert len(set(found)) > 1
    closed = listed(world, "closed", resolves_at=Timestamp(AT - 1))
    told = market_context.edge_part(closed, AT, probability=0.99, held=None)
    assert told.recommendation == "SKIP"


def order(venue: Venue = Venue.SIM, market_id: str = "m1") -> VenueOrder:
    agent = bare_world().agents["ada"]
    return VenueOrder(agent, market_id, YES, Action.BUY, Micros(0), venue)


def test_the_price_of_size_is_told_for_each_amount_that_can_be_filled() -> None:
    world = bare_world()
    market = listed(world)
    told = market_context.slippage_part(world, market, order(), AT)
    assert (told.venue, told.side, told.spread_pct) == (Venue.SIM, YES, 0.0)
    assert [one.amount_usd for one in told.estimates] == [
        float(one) for one in market_context.AMOUNTS
    ]
    for one in told.estimates:
        quote = market.quote_buy(YES, Micros(round(one.amount_usd * ONE)))
        assert one.shares == quote.shares / ONE
        assert one.avg_price == quote.money / quote.shares
        assert one.slippage_pct == round(one.avg_price / quote.price_before - 1, 6)
    closed = listed(world, "late", resolves_at=Timestamp(AT - 1))
    assert market_context.slippage_part(world, closed, order(market_id="late"), AT).estimates == ()
    small = listed(world, "small", b=Micros(30 * ONE))
    fits = market_context.slippage_part(world, small, order(market_id="small"), AT).estimates
    assert 0 < len(fits) < len(market_context.AMOUNTS)


CALM: Final = DisciplineBody()


def warned(discipline: DisciplineBody = CALM, *, halted: bool = False, **changes: Any) -> list[str]:
    world = bare_world("ada", trading_paused=changes.pop("paused", False))
    state = changes.pop("state", MarketStatus.ACTIVE)
    market = listed(world, **{"resolves_at": Timestamp(AT + 2 * HOUR), **changes})
    if state is MarketStatus.RESOLVED:
        market.resolved_at = AT
    if halted:
        world.decide(HaltSet(AT, halted=True))
    request = request_to(bare_service(world), "ada")
    return list(market_context.warnings_of(request, market, discipline))


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({}, []),
        ({"resolves_at": Timestamp(AT + HOUR)}, []),
        ({"resolves_at": Timestamp(AT + HOUR - 1)}, ["the market resolves within the hour"]),
        ({"resolves_at": Timestamp(AT)}, ["the market is closed and awaits its outcome"]),
        ({"state": MarketStatus.RESOLVED}, ["the market is resolved"]),
        ({"start_price": Probability(0.0299)}, ["the price is almost certain"]),
        ({"start_price": Probability(0.0301)}, []),
        ({"start_price": Probability(0.9701)}, ["the price is almost certain"]),
        ({"halted": True}, ["trading is halted by the operator: entries are blocked"]),
        ({"paused": True}, ["trading is paused: entries are blocked"]),
        ({"discipline": DisciplineBody(flip_flop_warning="turned round")}, ["turned round"]),
    ],
)
def test_what_speaks_against_a_trade_is_told(changes: dict[str, Any], told: list[str]) -> None:
    assert warned(**changes) == told


async def test_a_market_is_told_as_its_agent_should_see_it() -> None:
    world = bare_world("ada")
    market = listed(world)
    market.samples = [(Timestamp(AT - 25 * HOUR), 0.11), (Timestamp(AT - 2 * HOUR), 0.22)]
    market.count_volume(world.world_at, Micros(7 * ONE))
    one = bare_service(world)

    async def found(_: str) -> Any:
        return market

    async def history(criteria: Any, *, limit: int, offset: int) -> Any:
        assert (criteria.agent_id, criteria.market_id, limit, offset) == ("ada", "m1", 200, 0)
        return [], 0

    one.world_store.past.market, one.world_store.history = found, history
    query = MarketContextQuery(my_probability=0.1)
    request = request_to(one, "ada", path={"market_id": "m1"}, query=query)
    told = await market_context.market_context(request)
    assert told.market.model_dump(include={
        "id", "question", "price_1h_ago", "price_24h_ago", "volume_24h", "resolution_criteria",
        "import_source", "fee_note", "spread", "current_price",
    }) == {
        "id": "m1", "question": "Does m1 end well?", "price_1h_ago": 0.22, "price_24h_ago": 0.11,
        "volume_24h": 7.0, "resolution_criteria": "YES if it ends well.", "import_source": "sim",
        "fee_note": "no fee", "spread": 0.0, "current_price": pytest.approx(0.4),
    }  # fmt: skip
    assert told.position.has_position is False
    assert (told.slippage.side, told.slippage.venue) == (NO, Venue.SIM)
    assert told.edge.recommended_side is NO
    assert told.recent_trades == ()


@pytest.mark.parametrize(
    ("price", "is_told"), [(0.0301, False), (0.0299, True), (0.9699, False), (0.9701, True)]
)
def test_a_price_near_its_end_is_warned_of_from_three_cents_on(
    price: float, *, is_told: bool
) -> None:
    world = bare_world("ada")
    market = listed(world, resolves_at=Timestamp(AT + 9 * HOUR), start_price=Probability(price))
    request = request_to(bare_service(world), "ada")
    found = market_context.warnings_of(request, market, market_context.discipline_part([], AT))
    assert ("the price is almost certain" in found) is is_told
