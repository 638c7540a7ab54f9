"""The outcomes endpoint: results by skill."""

import random
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from kit.service.line import Line, change, line_to
from kit.service.stage import open_stage
from service_tui.clock import ManualClock
from service_tui.engine.books.liquidity import fee_rate_bps
from service_tui.engine.events import Fill, Note, OrderFilled, OrderPlaced, Payout
from service_tui.engine.position import Position
from service_tui.outcome import NO, VOID, YES, Outcome
from service_tui.server.past.agent_past import AgentFill, in_one_form
from service_tui.server.past.history import Paid
from service_tui.server.past.outcomes import books_of
from service_tui.server.routes.outcomes import weighed
from service_tui.terms import Action, OrderType, Side, Venue
from service_tui.units import ONE, Micros, Timestamp
from service_tui.wire.endpoints.public import OUTCOMES, PLACE_TRADE, TRADES
from service_tui.wire.outcomes import OutcomesQuery

START = Timestamp(1_800_000_000.0)


def past_of(seed: int, skills: tuple[str, ...]) -> tuple[list[Fill | Paid], Position]:
    """A random life of one side of one market, and the position that it makes."""
    rng = random.Random(seed)
    position = Position("a", "m")
    past: list[Fill | Paid] = []
    for count in range(rng.randrange(1, 40)):
        at = Timestamp(START + count)
        note = Note(skill_slug=rng.choice(skills))
        held = position.yes.shares
        if held and rng.random() < 0.4:
            shares = Micros(held if rng.random() < 0.2 else rng.randrange(1, held + 1))
            money = Micros(rng.randrange(1, shares + 2))
            realized = position.sell(Side.YES, shares, money)
            action = Action.SELL
        else:
            shares, money = Micros(rng.randrange(1, 90 * ONE)), Micros(rng.randrange(1, 50 * ONE))
            position.buy(Side.YES, shares, money, at)
            realized, action = Micros(0), Action.BUY
        past.append(
            Fill(
                f"t{count}", "a", "m", Side.YES, action, shares, money, 0.5, 0.5, at, at, realized,
                note,
            )
        )  # fmt: skip
    shares = position.yes.shares
    if shares:
        ended = rng.choice((YES, NO, Outcome.at(0.35), VOID))
        worth = ended.paid(Side.YES, shares, position.yes.cost)
        paid = Payout("a", Side.YES, shares, position.yes.cost, worth, Micros(0), START)
        past.append(Paid("m", Timestamp(START + 99), ended, paid))
        position.settle(ended)
    return past, position


@pytest.mark.parametrize("seed", range(60))
def test_all_skills_together_bring_what_the_position_brought(seed: int) -> None:
    past, position = past_of(seed, ("rain", "dip", "", "copy"))
    closings = books_of(in_one_form(past), apart=True).closings
    assert sum(one.pnl for one in closings) == position.yes.realized
    assert {one.settled for one in closings} <= {True, False}


@pytest.mark.parametrize("seed", range(20))
def test_one_skill_alone_has_every_sale_as_the_position_has_it(seed: int) -> None:
    past, _ = past_of(seed, ("rain",))
    sales = [one.realized for one in past if isinstance(one, Fill) and one.action is Action.SELL]
    assert [
        one.pnl for one in books_of(in_one_form(past), apart=True).closings if not one.settled
    ] == sales


@pytest.mark.slow
async def test_outcomes_agree_with_the_agents_own_figures(tmp_path: Path) -> None:
    async with open_stage(tmp_path, speed=1) as stage:
        # Held to the end.
        stage.world.change(stage.agent, {"auto_risk_monitor_enabled": False}, stage.clock.now())
        line = line_to(stage)
        market = min(stage.open_markets(), key=lambda one: one.listing.resolved_at)

        async def trade(**fields: object) -> dict[str, Any]:
            order = {"market_id": market.market_id, "side": "yes"} | fields
            said = await line.said(PLACE_TRADE, json=order)
            assert said["success"], said["error"]
            return said

        bought = await trade(amount=40, skill_slug="rain")
        await trade(amount=25, skill_slug="dip", side="no")
        await trade(amount=5)
        await trade(action="sell", shares=round(bought["shares"] / 2, 5), skill_slug="rain")
        before = datetime.fromtimestamp(stage.clock.now() + 0.5, UTC).isoformat()
        await line.wait(market.listing.resolved_at - stage.world.world_at + 1)
        whole = await line.said(OUTCOMES)
        parts = {skill: await line.said(OUTCOMES, skill=skill) for skill in ("rain", "dip", "none")}
        assert whole["pnl"] == pytest.approx(stage.agent.realized / ONE, abs=1e-9)
        assert whole["trades"] == 4
        assert whole["resolved_markets"] == 1
        assert (whole["wins"], whole["losses"]) == (stage.agent.win_count, stage.agent.loss_count)
        assert (whole["settled_wins"] + whole["settled_losses"]) == 2
        assert whole["confidence_breakdown"] == {"settlement": 2, "native": 1, "mirror": 0}
        shared = [*parts.values(), await line.said(OUTCOMES, skill="unnamed")]
        assert sum(part["trades"] for part in shared) == 3
        assert [parts[skill]["trades"] for skill in parts] == [2, 1, 0]
        assert parts["none"]["pnl"] == 0
        later = await line.said(OUTCOMES, since=before)
        assert (later["trades"], later["pnl"]) == (0, whole["settled_pnl"])
        rows = (await line.said(TRADES))["trades"]
        settled = sum(row["pnl"] for row in rows if row["action"] == "redeem")
        assert whole["settled_pnl"] == pytest.approx(settled, abs=1e-9)


SKILLS = ("rain", "dip")


async def says_one_money(line: Line, on_evm: dict[str, Any]) -> None:
    """Without a venue the figures are of sim: no sum has two monies in it."""
    plain = await line.said(OUTCOMES)
    assert (plain["venue"], plain["pnl"], plain["trades"]) == ("sim", 0, 0)
    assert plain["by_venue"].keys() == {"sim", "evm_venue", "sol_venue"}
    assert plain["by_venue"]["evm_venue"].items() <= on_evm.items()
    assert plain["by_venue"] == on_evm["by_venue"]
    await line.said(OUTCOMES, 422, venue="all")


@pytest.mark.slow
async def test_outcomes_count_the_real_venues_with_their_fees(tmp_path: Path) -> None:
    clock = ManualClock()
    async with open_stage(tmp_path, clock, speed=60) as stage:
        line = line_to(stage)
        await change(stage, claimed=True, real_trading_enabled=True, max_trade=Micros(900 * ONE))
        # Held to the end.
        await change(stage, auto_risk_monitor_enabled=False)
        market = min(
            (
                one
                for one in stage.open_markets()
                if one.listing.home is Venue.EVM and fee_rate_bps(one.listing)
            ),
            key=lambda one: one.listing.resolved_at,
        )

        async def trade(**fields: object) -> dict[str, Any]:
            order = {"market_id": market.market_id, "side": "yes", "venue": "evm_venue"} | fields
            said = await line.said(PLACE_TRADE, json=order)
            assert said["success"], said["error"]
            return said

        bought = await trade(amount=40, skill_slug="rain")
        await trade(amount=25, skill_slug="dip", side="no")
        await trade(action="sell", shares=round(bought["shares"] / 2, 5), order_type="FAK")
        account = stage.world.venues.account(stage.agent_id, Venue.EVM)
        sold = await line.said(OUTCOMES, venue="evm_venue")
        assert sold["pnl"] == pytest.approx(account.realized / ONE, abs=1e-9)
        assert (sold["trades"], sold["resolved_markets"]) == (3, 0)
        seconds = (market.listing.resolved_at - stage.world.world_at) / 60 + 2
        for _ in range(int(seconds / 4) + 1):
            await line.wait(4)
        account = stage.world.venues.account(stage.agent_id, Venue.EVM)
        whole = await line.said(OUTCOMES, venue="evm_venue")
        assert whole["pnl"] == pytest.approx(account.realized / ONE, abs=1e-9)
        assert whole["pnl_by_venue"] == {"evm_venue": whole["pnl"]}
        await says_one_money(line, whole)
        # A side at a time: of a market that is held on both, one side wins.
        assert (whole["settled_wins"], whole["settled_losses"]) == (1, 1)
        assert (whole["resolved_markets"], whole["confidence_breakdown"]["settlement"]) == (1, 2)
        parts = [
            await line.said(OUTCOMES, skill=skill, venue="evm_venue") for skill in ("rain", "dip")
        ]
        assert sum(part["pnl"] for part in parts) == pytest.approx(whole["pnl"], abs=1e-9)
        assert (await line.said(OUTCOMES, venue="sim"))["trades"] == 0
        assert (await line.said(OUTCOMES, venue="polymarket"))["pnl"] == whole["pnl"]
        # To redeem brings what is counted already.
        key, agent_id = stage.key, stage.agent_id
    async with open_stage(tmp_path, clock, key=key, agent_id=agent_id) as stage:
        assert await line_to(stage).said(OUTCOMES, venue="evm_venue") == whole


def test_what_rested_is_told_by_its_own_row_or_by_that_of_its_order() -> None:
    note = Note(skill_slug="rain", reasoning="why")
    placed = OrderPlaced(
        "o1", "a", Venue.EVM, "m", Side.NO, Action.BUY, OrderType.GTC, Micros(50), Micros(500_000),
        Micros(100), Micros(0), Micros(0), Micros(0), Micros(100), Micros(50), 0.5, 0.5, START,
        START, Micros(0), Timestamp(0), 0, (), note,
    )  # fmt: skip
    old = OrderFilled("o1", "a", "m", Micros(100), Micros(50), Micros(0), START, START, 0, ())
    new = old._replace(side=Side.NO, action=Action.BUY, venue=Venue.EVM, skill_slug="rain")
    (told,) = in_one_form([placed, old])
    assert isinstance(told, AgentFill)
    assert (told.venue, told.side, told.skill, told.money) == (Venue.EVM, Side.NO, "rain", 50)
    (alone,) = in_one_form([new])
    assert alone == replace(told, reasoning="")
    # Without either nothing is made up.
    assert in_one_form([old]) == []


@pytest.mark.parametrize(
    ("query", "trades", "pnl", "venues"),
    [
        ({}, 4, 3.0, {"sim": 3.0}),
        # From the moment itself on.
        ({"since": 2}, 2, 2.0, {"sim": 2.0}),
        ({"since": 3}, 1, 2.0, {"sim": 2.0}),
        ({"since": 4}, 0, 0.0, {}),
        ({"skill": "dip"}, 3, 3.0, {"sim": 3.0}),
        ({"skill": "rain"}, 1, 0.0, {}),
    ],
)
def test_outcomes_count_from_their_moment_on_and_by_the_skill_that_is_named(
    query: dict[str, Any], trades: int, pnl: float, venues: dict[str, float]
) -> None:
    position, past = Position("a", "m"), list[Fill]()
    for after, (action, skill, money) in enumerate([
        ("buy", "dip", 2),
        ("sell", "dip", 2),
        ("buy", "rain", 3),
        ("sell", "dip", 3),
    ]):
        at, side = Timestamp(START + after), Side.YES if skill == "dip" else Side.NO
        shares, paid = Micros((10 if action == "buy" else 5) * ONE), Micros(money * ONE)
        realized = Micros(0)
        if action == "buy":
            position.buy(side, shares, paid, at)
        else:
            realized = position.sell(side, shares, paid)
        past.append(
            Fill(
                f"t{after}", "a", "m", side, Action(action), shares, paid, 0.5, 0.5, at, at,
                realized, Note(skill_slug=skill),
            )
        )  # fmt: skip
    if "since" in query:
        query = {"since": datetime.fromtimestamp(START + query["since"], UTC)}
    found = weighed(OutcomesQuery(**query), past)
    assert (found.trades, found.pnl, found.pnl_by_venue) == (trades, pnl, venues)
