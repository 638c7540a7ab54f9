"""Leashes, and the trades that wait for the operator, on the running service."""

from pathlib import Path
from typing import Any, Final

import pytest

from kit.clock import leap
from kit.engine.bare import AT, bare_world, listed
from kit.service.bare import ACT, bare_service, request_to
from kit.service.line import Line, line_to
from kit.service.stage import OPERATOR, Stage, open_stage
from service_tui.client.errors import NotFoundError, RefusedError
from service_tui.engine.agents.leash import Leash
from service_tui.engine.errors import AgentNotFound, PendingTradeNotFound
from service_tui.engine.events import Fill, LeashSet, Note, OrderPlaced, PendingEnded, TradePending
from service_tui.engine.limits import day_of
from service_tui.server.http.refusals import Denied
from service_tui.server.routes import fleet
from service_tui.storage.errors import StorageError
from service_tui.terms import (
    LEASH_WAIT_MAX_S,
    Action,
    LeashMode,
    OrderType,
    PendingStatus,
    Side,
    TradeStatus,
    Venue,
)
from service_tui.units import ONE, Micros, Timestamp
from service_tui.wire.batch import BatchRequest, LegRequest
from service_tui.wire.endpoints.fleet import (
    DESK_AGENT_OUTCOMES,
    DESK_AGENT_POSITIONS,
    DESK_AGENT_TRADES,
    DESK_APPROVE,
    DESK_FREE_LEASH,
    DESK_LEASHES,
    DESK_PENDING_TRADES,
    DESK_REFUSE,
    DESK_SET_LEASH,
    PENDING_TRADES,
    PROPOSE_TRADE,
)
from service_tui.wire.endpoints.public import BATCH, PLACE_TRADE, REGISTER, TRADES
from service_tui.wire.events import EventKind
from service_tui.wire.fleet import (
    ApproveRequest,
    HeldQuery,
    HeldTradeBody,
    LeashBody,
    LeashQuery,
    LeashRequest,
    ProposalRequest,
    RefuseRequest,
)
from service_tui.wire.outcomes import OutcomesQuery
from service_tui.wire.positions import PositionsQuery
from service_tui.wire.trades import TradeBody, TradeRequest, TradesQuery

pytestmark = pytest.mark.slow

ALL = HeldQuery(status="all")


async def leash(stage: Stage, mode: LeashMode, **other: object) -> LeashBody:
    await stage.clock.advance(0.3)
    body = LeashRequest.model_validate({"mode": mode, **other})
    reply = await stage.client.call(DESK_SET_LEASH, path={"agent_id": stage.agent_id}, body=body)
    return reply.answer


async def buy(stage: Stage, amount: float, **other: object) -> TradeBody:
    # The client asks each path five times a second at most.
    await stage.clock.advance(0.3)
    given = {"market_id": stage.open_markets()[0].market_id, "side": Side.YES, "amount": amount}
    reply = await stage.client.call(
        PLACE_TRADE, body=TradeRequest.model_validate({**given, **other})
    )
    return reply.answer


async def propose(stage: Stage, amount: float, market_id: str = "") -> TradeBody:
    await stage.clock.advance(0.3)
    market_id = market_id or stage.open_markets()[0].market_id
    given = {"market_id": market_id, "side": Side.YES, "amount": amount, "reasoning": "it rains"}
    body = ProposalRequest.model_validate(given)
    return (await stage.client.call(PROPOSE_TRADE, body=body)).answer


async def approve(
    stage: Stage, pending_id: str, amount: float | None = None, **bounds: float
) -> HeldTradeBody:
    await stage.clock.advance(0.3)
    body = ApproveRequest.model_validate({"amount": amount, **bounds})
    reply = await stage.client.call(DESK_APPROVE, path={"held_id": pending_id}, body=body)
    return reply.answer.held


async def own(stage: Stage) -> tuple[HeldTradeBody, ...]:
    await stage.clock.advance(0.3)
    return (await stage.client.call(PENDING_TRADES, query=ALL)).answer.held


async def test_a_free_agent_trades_as_ever(tmp_path: Path) -> None:
    async with open_stage(tmp_path) as stage:
        assert (await buy(stage, 20.0)).status is TradeStatus.FILLED
        assert (await stage.client.call(DESK_LEASHES)).answer.leashes == ()


async def test_who_observes_may_ask_and_not_trade(tmp_path: Path) -> None:
    async with open_stage(tmp_path) as stage:
        await buy(stage, 20.0)
        await leash(stage, LeashMode.OBSERVE)
        said = await buy(stage, 20.0)
        assert (said.success, said.error_code) == (False, "LEASH_OBSERVE")
        assert (await buy(stage, 20.0, dry_run=True)).success
        market = stage.open_markets()[0].market_id
        body = TradeRequest.model_validate_json(
            f'{{"market_id":"{market}","side":"yes","shares":5,"action":"sell"}}'
        )
        sold = await stage.client.call(PLACE_TRADE, body=body)
        assert sold.answer.error_code == "LEASH_OBSERVE"


@pytest.mark.parametrize("mode", [None, LeashMode.AUTO, LeashMode.ASK])
async def test_a_proposal_about_which_nobody_is_asked_fills_nothing(
    tmp_path: Path, mode: LeashMode | None
) -> None:
    async with open_stage(tmp_path) as stage:
        if mode is not None:
            budget = {"threshold": 25.0} if mode is LeashMode.ASK else {"daily_budget": 90.0}
            await leash(stage, mode, **budget)
        cash = stage.world.cash(stage.agent)
        said = await propose(stage, 25.0)
        assert (said.success, said.error_code) == (False, "NOBODY_ASKED")
        assert (stage.world.cash(stage.agent), await own(stage)) == (cash, ())


async def test_a_proposal_waits_and_a_person_alone_fills_it(tmp_path: Path) -> None:
    async with open_stage(tmp_path) as stage:
        await leash(stage, LeashMode.ASK, threshold=10.0)
        cash = stage.world.cash(stage.agent)
        said = await propose(stage, 25.0)
        assert (said.success, said.status) == (True, TradeStatus.SUBMITTED)
        assert stage.world.cash(stage.agent) == cash
        (waiting,) = await own(stage)
        assert (waiting.held_id, waiting.amount) == (said.trade_id, 25.0)
        assert waiting.reasoning == "it rains"
        assert (await approve(stage, waiting.held_id)).status is PendingStatus.APPROVED
        assert stage.world.cash(stage.agent) == cash - 25_000_000
        beyond = await propose(stage, 1e6)
        assert not beyond.success
        with pytest.raises(NotFoundError):
            await propose(stage, 25.0, "nowhere")


async def test_a_buy_above_the_threshold_waits_and_is_carried_out_when_approved(
    tmp_path: Path,
) -> None:
    async with open_stage(tmp_path) as stage:
        await leash(stage, LeashMode.ASK, threshold=10.0)
        assert (await buy(stage, 10.0)).status is TradeStatus.FILLED
        cash = stage.world.cash(stage.agent)
        said = await buy(stage, 25.0, reasoning="it rains", signal_data={"edge": 0.1})
        assert said.success
        assert said.status is TradeStatus.SUBMITTED
        assert said.shares_bought == 0
        assert stage.world.cash(stage.agent) == cash
        waiting = (await stage.client.call(DESK_PENDING_TRADES, query=HeldQuery())).answer
        assert waiting.waiting_count == 1
        trade = waiting.held[0]
        assert (trade.held_id, trade.amount, trade.reasoning) == (said.trade_id, 25.0, "it rains")
        assert trade.signal_data is not None
        assert trade.signal_data["edge"] == 0.1
        assert trade.avg_price is not None
        done = await approve(stage, trade.held_id)
        assert (done.status, done.decided_amount) == (PendingStatus.APPROVED, 25.0)
        assert stage.world.cash(stage.agent) == cash - 25_000_000
        trades = (await stage.client.call(TRADES, query=TradesQuery())).answer.trades
        assert trades[0].trade_id == done.trade_id
        assert trades[0].reasoning == "it rains"
        with pytest.raises(NotFoundError, match="approved"):
            await approve(stage, trade.held_id)
        assert stage.world.cash(stage.agent) == cash - 25_000_000


async def test_an_approval_within_its_bound_goes_out_once_and_keeps_the_bound_over_a_restart(
    tmp_path: Path,
) -> None:
    async with open_stage(tmp_path) as stage:
        await leash(stage, LeashMode.ASK)
        pending_id = (await buy(stage, 25.0)).trade_id or ""
        waiting = (await own(stage))[0]
        assert waiting.price_asked is not None
        assert waiting.price_asked == waiting.avg_price
        bound = round(waiting.price_asked + 0.01, 4)
        done = await approve(stage, pending_id, not_above=bound)
        assert (done.status, done.decided_bound) == (PendingStatus.APPROVED, bound)
        cash = stage.world.cash(stage.agent)
        key, agent_id, clock = stage.key, stage.agent_id, stage.clock
    async with open_stage(tmp_path, clock, key=key, agent_id=agent_id) as stage:
        (row,) = await own(stage)
        assert (row.status, row.decided_bound) == (PendingStatus.APPROVED, bound)
        assert row.price_asked == waiting.price_asked
        with pytest.raises(NotFoundError, match="already decided"):
            await approve(stage, pending_id, not_above=bound)
        assert (stage.world.cash(stage.agent), stage.agent.trades_count) == (cash, 1)


@pytest.mark.parametrize("amount", [None, 7.5])
async def test_beyond_its_bound_nothing_is_bought_and_the_agent_may_ask_again(
    tmp_path: Path, amount: float | None
) -> None:
    async with open_stage(tmp_path) as stage:
        await leash(stage, LeashMode.ASK)
        pending_id = (await buy(stage, 25.0)).trade_id or ""
        cash, average = stage.world.cash(stage.agent), (await own(stage))[0].avg_price or 0.0
        bound = round(average - 0.05, 2)
        await stage.clock.advance(0.3)
        body = ApproveRequest(amount=amount, not_above=bound)
        answer = (
            await stage.client.call(DESK_APPROVE, path={"held_id": pending_id}, body=body)
        ).answer
        assert answer.trade is not None
        assert (answer.trade.error_code, bool(answer.trade.fix)) == ("PRICE_BEYOND_APPROVAL", True)
        done = answer.held
        assert (done.status, done.decided_bound) == (PendingStatus.FAILED, bound)
        assert done.reason.startswith(f"price beyond {bound:g}: it would be 0.")
        assert stage.world.cash(stage.agent) == cash
        key, agent_id, clock = stage.key, stage.agent_id, stage.clock
    async with open_stage(tmp_path, clock, key=key, agent_id=agent_id) as stage:
        (row,) = await own(stage)
        assert (row.status, row.reason, row.decided_bound) == (done.status, done.reason, bound)
        with pytest.raises(NotFoundError, match="already decided"):
            await approve(stage, pending_id)
        # Unlike a person's refusal it does not bar the same trade for an hour.
        again = await buy(stage, 25.0)
        assert again.status is TradeStatus.SUBMITTED
        assert (stage.world.cash(stage.agent), stage.agent.trades_count) == (cash, 0)


async def test_the_operator_sees_who_holds_the_other_side_and_the_agent_does_not(
    tmp_path: Path,
) -> None:
    async with open_stage(tmp_path) as stage:
        bought = await buy(stage, 25.0, side=Side.NO)
        await leash(stage, LeashMode.ASK)
        await buy(stage, 25.0)
        listed = (await stage.client.call(DESK_PENDING_TRADES, query=HeldQuery())).answer.held
        (other,) = listed[0].other_side
        assert (other.agent_id, other.agent_name) == (stage.agent_id, "tester")
        assert other.shares == bought.shares_bought
        assert (await own(stage))[0].other_side == ()


async def test_the_average_is_bound_and_not_the_price_after(tmp_path: Path) -> None:
    async with open_stage(tmp_path) as stage:
        await leash(stage, LeashMode.ASK)
        pending_id = (await buy(stage, 400.0)).trade_id or ""
        average = (await own(stage))[0].avg_price or 0.0
        bound = average + 0.0001
        after = await buy(stage, 400.0, dry_run=True)
        assert after.new_price is not None
        assert after.new_price > bound
        assert (await approve(stage, pending_id, not_above=bound)).status is PendingStatus.APPROVED


async def test_a_buy_has_no_bound_below_and_a_bound_is_a_price(tmp_path: Path) -> None:
    async with open_stage(tmp_path) as stage:
        await leash(stage, LeashMode.ASK)
        where = {"held_id": (await buy(stage, 25.0)).trade_id or ""}
        bodies: tuple[dict[str, object], ...] = (
            {"not_below": 0.4},
            {"not_above": 0},
            {"not_above": 1},
            {"not_above": "0.4"},
        )
        for body in bodies:
            await Line(stage, OPERATOR).said(DESK_APPROVE, 422, path=where, json=body)
        assert (await own(stage))[0].status is PendingStatus.WAITING


async def test_a_refusal_reaches_the_agent_with_its_reason(tmp_path: Path) -> None:
    async with open_stage(tmp_path) as stage:
        await leash(stage, LeashMode.ASK)
        pending_id = (await buy(stage, 25.0)).trade_id or ""
        body = RefuseRequest(reason="too thin a market")
        await stage.client.call(DESK_REFUSE, path={"held_id": pending_id}, body=body)
        told = await own(stage)
        assert [(one.status, one.reason) for one in told] == [
            (PendingStatus.REFUSED, "too thin a market")
        ]


async def test_an_agent_sees_no_other_agents_held_trades(tmp_path: Path) -> None:
    async with open_stage(tmp_path) as stage:
        other = Line(stage, (await line_to(stage).said(REGISTER, json={"name": "b"}))["api_key"])
        await leash(stage, LeashMode.ASK)
        for amount in (25.0, 26.0):
            pending_id = (await buy(stage, amount)).trade_id or ""
        await stage.client.call(DESK_REFUSE, path={"held_id": pending_id}, body=RefuseRequest())
        assert [one.status for one in await own(stage)] == [
            PendingStatus.WAITING,
            PendingStatus.REFUSED,
        ]
        seen = await other.said(PENDING_TRADES, status="all")
        assert (seen["held"], seen["waiting_count"]) == ([], 0)


async def test_what_the_operator_refused_is_not_asked_again_within_the_hour(
    tmp_path: Path,
) -> None:
    async with open_stage(tmp_path, speed=0) as stage:
        await leash(stage, LeashMode.ASK)
        pending_id = (await buy(stage, 25.0)).trade_id or ""
        await stage.client.call(DESK_REFUSE, path={"held_id": pending_id}, body=RefuseRequest())
        await leap(stage.clock, 60.0)
        again = await buy(stage, 20.0)
        assert (again.success, again.error_code) == (False, "REFUSED_BEFORE")
        assert again.error == "refused by the operator 1 min ago"
        assert [one.status for one in await own(stage)] == [PendingStatus.REFUSED]
        # ours: an hour later it may be another story.
        await leap(stage.clock, 3_600.0)
        assert (await buy(stage, 20.0)).success


async def test_nobody_deciding_is_a_no_at_the_deadline(tmp_path: Path) -> None:
    async with open_stage(tmp_path) as stage:
        await leash(stage, LeashMode.ASK, wait_s=30)
        pending_id = (await buy(stage, 25.0)).trade_id or ""
        await stage.clock.advance(20.0)
        assert (await own(stage))[0].status is PendingStatus.WAITING
        await stage.clock.advance(11.0)
        await stage.sim.service.world_store.advance(stage.clock.now())
        told = (await own(stage))[0]
        assert (told.status, told.reason) == (PendingStatus.EXPIRED, "approval timed out")
        with pytest.raises(NotFoundError, match="expired"):
            await approve(stage, pending_id)


async def test_a_request_lapses_with_its_market_and_keeps_its_question(tmp_path: Path) -> None:
    async with open_stage(tmp_path, speed=60) as stage:
        await leash(stage, LeashMode.ASK, wait_s=LEASH_WAIT_MAX_S)
        market = min(stage.open_markets(), key=lambda one: one.listing.resolves_at)
        pending_id = (await buy(stage, 25.0, market_id=market.market_id)).trade_id or ""
        left_s = market.listing.resolves_at - stage.world.world_at
        await leap(stage.clock, left_s / 60 + 2)
        told = (await own(stage))[0]
        assert (told.status, told.reason) == (PendingStatus.EXPIRED, "the market ended")
        assert told.question == market.listing.question
        with pytest.raises(NotFoundError, match="expired"):
            await approve(stage, pending_id)
        # The service forgets ended markets; the question stays with the request.
        del stage.world.markets[market.market_id]
        assert (await own(stage))[0].question == market.listing.question


@pytest.mark.parametrize("slug", ["", "gauge"])
async def test_what_the_budget_has_no_room_for_waits_on(tmp_path: Path, slug: str) -> None:
    async with open_stage(tmp_path) as stage:
        await leash(stage, LeashMode.ASK)
        pending_id = (await buy(stage, 400.0, skill_slug="gauge")).trade_id or ""
        await leash(stage, LeashMode.ASK, daily_budget=100.0, skill_slug=slug)
        with pytest.raises(RefusedError, match=r"daily budget .*waits on"):
            await approve(stage, pending_id)
        assert [one.status for one in await own(stage)] == [PendingStatus.WAITING]
        assert stage.agent.trades_count == 0
        done = await approve(stage, pending_id, 100.0)
        assert (done.status, done.decided_amount) == (PendingStatus.APPROVED, 100.0)


async def test_a_budget_binds_the_day_of_the_agent_and_of_each_skill(tmp_path: Path) -> None:
    async with open_stage(tmp_path) as stage:
        await leash(stage, LeashMode.AUTO, daily_budget=50.0)
        await leash(stage, LeashMode.AUTO, daily_budget=20.0, skill_slug="gauge")
        assert (await buy(stage, 20.0, skill_slug="gauge")).success
        assert (await buy(stage, 1.0, skill_slug="gauge")).error_code == "LEASH_BUDGET"
        assert (await buy(stage, 30.0)).success
        assert (await buy(stage, 1.0)).error_code == "LEASH_BUDGET"
        spent = (await stage.client.call(DESK_LEASHES)).answer.leashes
        assert [(one.skill_slug, one.spent) for one in spent] == [("", 50.0), ("gauge", 20.0)]


async def test_the_stricter_leash_binds(tmp_path: Path) -> None:
    async with open_stage(tmp_path) as stage:
        await leash(stage, LeashMode.AUTO)
        await leash(stage, LeashMode.OBSERVE, skill_slug="gauge")
        assert (await buy(stage, 5.0, skill_slug="gauge")).error_code == "LEASH_OBSERVE"
        assert (await buy(stage, 5.0)).success
        path = {"agent_id": stage.agent_id}
        query = LeashQuery(skill_slug="gauge")
        left = await stage.client.call(DESK_FREE_LEASH, path=path, query=query)
        assert [one.skill_slug for one in left.answer.leashes] == [""]
        assert (await buy(stage, 5.0, skill_slug="gauge")).success


async def test_a_batch_does_not_go_round_the_leash(tmp_path: Path) -> None:
    async with open_stage(tmp_path) as stage:
        await leash(stage, LeashMode.ASK, threshold=10.0)
        market = stage.open_markets()[0].market_id
        legs = tuple(
            LegRequest(market_id=market, side=Side.YES, amount=amount) for amount in (5.0, 15.0)
        )
        said = (await stage.client.call(BATCH, body=BatchRequest(trades=legs))).answer
        assert [row.success for row in said.results] == [True, False]
        assert said.results[1].error_code == "NEEDS_APPROVAL"


async def test_no_more_trades_wait_than_can_be_decided(tmp_path: Path) -> None:
    async with open_stage(tmp_path) as stage:
        await leash(stage, LeashMode.ASK)
        for _ in range(20):
            assert (await buy(stage, 2.0)).success
        assert (await buy(stage, 2.0)).error_code == "TOO_MANY_HELD"


async def test_leash_and_waiting_trades_survive_a_restart(tmp_path: Path) -> None:
    async with open_stage(tmp_path) as stage:
        await leash(stage, LeashMode.ASK, threshold=3.0, daily_budget=40.0)
        await buy(stage, 2.0)
        pending_id = (await buy(stage, 9.0)).trade_id or ""
        key, agent_id, clock = stage.key, stage.agent_id, stage.clock
    async with open_stage(tmp_path, clock, key=key, agent_id=agent_id) as stage:
        found = (await stage.client.call(DESK_LEASHES)).answer.leashes[0]
        assert (found.mode, found.threshold, found.spent) == (LeashMode.ASK, 3.0, 2.0)
        assert (await approve(stage, pending_id)).status is PendingStatus.APPROVED
        assert sum(stage.world.ledger.balances().values()) == 0


async def test_the_operator_sees_what_each_agent_did(tmp_path: Path) -> None:
    async with open_stage(tmp_path) as stage:
        await buy(stage, 20.0, reasoning="because", skill_slug="gauge")
        path = {"agent_id": stage.agent_id}
        trades = await stage.client.call(DESK_AGENT_TRADES, path=path, query=TradesQuery())
        assert trades.answer.trades[0].reasoning == "because"
        held = await stage.client.call(DESK_AGENT_POSITIONS, path=path, query=PositionsQuery())
        assert len(held.answer.positions) == 1
        sums = await stage.client.call(
            DESK_AGENT_OUTCOMES, path=path, query=OutcomesQuery(skill="gauge")
        )
        assert (sums.answer.skill, sums.answer.pnl) == ("gauge", 0.0)
        with pytest.raises(NotFoundError):
            await stage.client.call(
                DESK_AGENT_TRADES, path={"agent_id": "nobody"}, query=TradesQuery()
            )


async def test_who_listens_hears_of_leashes_of_what_waits_and_of_how_it_was_decided(
    tmp_path: Path,
) -> None:
    async with open_stage(tmp_path) as stage, stage.sim.service.subscribe() as heard:
        assert (await anext(heard)).kind == EventKind.READY
        await leash(stage, LeashMode.ASK)
        told = await anext(heard)
        assert (told.kind, told.agent.agent_id) == (EventKind.LEASH, stage.agent_id)
        trade = await buy(stage, 20.0)
        waits = await anext(heard)
        assert (waits.kind, waits.held.held_id) == (EventKind.PENDING, trade.trade_id)
        assert (waits.held.state, waits.held.agent_id) == ("waiting", stage.agent_id)
        await stage.client.call(
            DESK_REFUSE, path={"held_id": trade.trade_id}, body=RefuseRequest(reason="no")
        )
        ended = await anext(heard)
        assert (ended.held.held_id, ended.held.state) == (trade.trade_id, "refused")


ASK, OBSERVE = LeashMode.ASK, LeashMode.OBSERVE
NOTE: Final = Note("it rains", "sdk:rain", "rain", {"edge": 0.25})


def dollars(amount: float) -> Micros:
    return Micros(round(amount * ONE))


def service() -> Any:
    world = bare_world("ada", "ben")
    listed(world)
    ada = world.agents["ada"]
    ada.leashes = {
        "snow": Leash(ASK, dollars(4), None, 60), "": Leash(OBSERVE, dollars(3), dollars(90), 90)
    }  # fmt: skip
    ada.buys_day = ada.skills_day = day_of(AT)
    ada.day_spent, ada.skills_spent = dollars(7), {"snow": dollars(2)}
    return bare_service(world)


def leash_row(agent_id: str, slug: str, mode: LeashMode, figures: tuple[Any, ...]) -> LeashBody:
    threshold, budget, wait_s, spent = figures
    return LeashBody(
        agent_id=agent_id, skill_slug=slug, mode=mode, threshold=threshold, daily_budget=budget,
        wait_s=wait_s, spent=spent,
    )  # fmt: skip


OWN: Final = leash_row("ada", "", OBSERVE, (3.0, 90.0, 90, 7.0))
SNOW: Final = leash_row("ada", "snow", ASK, (4.0, None, 60, 2.0))


async def test_leashes_are_listed_the_agents_own_first() -> None:
    assert (await fleet.list_leashes(request_to(service()))).leashes == (OWN, SNOW)


async def test_a_new_leash_is_written_with_who_set_it() -> None:
    one = service()
    body = LeashRequest(mode=ASK, skill_slug="fog", threshold=5.5, daily_budget=20, wait_s=120)
    answer = await fleet.set_leash(request_to(one, path={"agent_id": "ben"}, body=body))
    assert answer == leash_row("ben", "fog", ASK, (5.5, 20.0, 120, 0.0))
    event = LeashSet("ben", AT, "fog", ASK, dollars(5.5), dollars(20), 120)
    assert one.world_store.written == [event, ACT]
    with pytest.raises(AgentNotFound):
        await fleet.set_leash(request_to(one, path={"agent_id": "nobody"}, body=body))


@pytest.mark.parametrize(
    ("sent", "figures"),
    [
        ({}, (3.0, 90.0, 90, 7.0)),
        ({"threshold": 1.5}, (1.5, 90.0, 90, 7.0)),
        ({"daily_budget": 5}, (3.0, 5.0, 90, 7.0)),
        ({"daily_budget": None}, (3.0, None, 90, 7.0)),
        ({"wait_s": 300}, (3.0, 90.0, 300, 7.0)),
    ],
)
async def test_what_is_not_sent_of_a_leash_stays_as_it_was(
    sent: dict[str, Any], figures: tuple[Any, ...]
) -> None:
    one, body = service(), LeashRequest(mode=ASK, **sent)
    answer = await fleet.set_leash(request_to(one, path={"agent_id": "ada"}, body=body))
    assert answer == leash_row("ada", "", ASK, figures)


@pytest.mark.parametrize("field", ["threshold", "daily_budget"])
async def test_parts_of_a_micro_are_no_money(field: str) -> None:
    one, body = service(), LeashRequest(mode=ASK, **{field: 1.00000001})
    with pytest.raises(Denied) as refused:
        await fleet.set_leash(request_to(one, path={"agent_id": "ada"}, body=body))
    detail: Any = refused.value.body
    assert (refused.value.status, detail.detail[0].loc) == (422, ("body", field))
    assert one.world_store.written == []


async def test_a_leash_is_taken_off_where_there_is_one() -> None:
    one = service()
    for slug, left in (("nothing", (OWN, SNOW)), ("snow", (OWN,)), ("", ())):
        query = LeashQuery(skill_slug=slug)
        request = request_to(one, path={"agent_id": "ada"}, query=query)
        assert (await fleet.free_leash(request)).leashes == left
    assert one.world_store.written == [
        LeashSet("ada", AT, "snow", None, Micros(0), None, 0), ACT,
        LeashSet("ada", AT, "", None, Micros(0), None, 0), ACT,
    ]  # fmt: skip


async def test_no_leash_changes_while_the_disk_refuses() -> None:
    one = service()
    one.world_store.refuses = StorageError("no room")
    for call, request in (
        (fleet.set_leash, {"body": LeashRequest(mode=ASK)}),
        (fleet.free_leash, {"query": LeashQuery()}),
    ):
        with pytest.raises(StorageError):
            await call(request_to(one, path={"agent_id": "ada"}, **request))
    assert one.world.agents["ada"].leashes[""].mode is OBSERVE


# -- trades that wait --------------------------------------------------------------------------


def pending_trade(pending_id: str = "h1", **changes: Any) -> TradePending:
    return TradePending(
        pending_id, "ben", AT, Timestamp(AT + 60), Venue.SIM, "m1", Side.NO, Action.BUY,
        dollars(30), OrderType.GTC, 0.7, 1_900_000_000.0, NOTE,
    )._replace(**changes)  # fmt: skip


def waiting(*trades: TradePending) -> Any:
    one = service()
    for trade in trades:
        one.world.pending_trades.apply(trade)
    return one


def test_a_waiting_trade_is_told_with_what_it_would_get_now() -> None:
    one = waiting(pending_trade())
    body = fleet.pending_trade_body(request_to(one), pending_trade()).model_dump()
    quote = one.world.markets["m1"].quote_buy(Side.NO, dollars(30))
    assert body.pop("created_at").timestamp() == AT
    assert body.pop("expires_at").timestamp() == AT + 60
    assert body.pop("avg_price") == pytest.approx(30 * ONE / quote.shares)
    assert body == {
        "held_id": "h1", "agent_id": "ben", "agent_name": "ben", "status": PendingStatus.WAITING,
        "market_id": "m1", "question": "Does m1 end well?", "venue": Venue.SIM, "side": Side.NO,
        "action": Action.BUY, "order_type": OrderType.GTC, "amount": 30.0, "shares": 0.0,
        "price_limit": 0.7, "price": pytest.approx(0.6), "shares_estimate": quote.shares / ONE,
        "reasoning": "it rains", "source": "sdk:rain", "skill_slug": "rain",
        "signal_data": {"edge": 0.25}, "decided_at": None, "decided_by": "",
        "decided_amount": None, "reason": "", "trade_id": "",
        "decided_bound": None, "other_side": (), "price_asked": None,
    }  # fmt: skip


def test_a_decided_trade_is_told_with_its_end() -> None:
    sale = pending_trade(action=Action.SELL, venue=Venue.EVM, market_id="gone")
    end = PendingEnded(
        "h1", Timestamp(AT + 5), PendingStatus.APPROVED, "why", dollars(12), "t9", "ann"
    )  # fmt: skip
    body = fleet.pending_trade_body(request_to(waiting()), sale, end)
    assert (body.status, body.amount, body.shares) == (PendingStatus.APPROVED, 0.0, 30.0)
    assert (body.question, body.price, body.avg_price, body.shares_estimate) == (
        "", None, None, None
    )  # fmt: skip
    assert body.decided_at is not None
    assert body.decided_at.timestamp() == AT + 5
    assert (body.decided_amount, body.decided_by, body.reason, body.trade_id) == (
        12.0, "ann", "why", "t9"
    )  # fmt: skip
    refused = fleet.pending_trade_body(request_to(waiting()), sale, end._replace(size=Micros(0)))
    assert refused.decided_amount is None
    # What it would get now is told of a trade that waits alone.
    ended = fleet.pending_trade_body(request_to(waiting()), pending_trade(), end)
    assert (ended.avg_price, ended.shares_estimate) == (None, None)
    assert ended.price == pytest.approx(0.6)


@pytest.mark.parametrize("changes", [{"venue": Venue.EVM}, {"size": dollars(10_000_000)}])
def test_what_cannot_be_quoted_has_no_estimate(changes: dict[str, Any]) -> None:
    trade = pending_trade(**changes)
    body = fleet.pending_trade_body(request_to(waiting(trade)), trade)
    assert (body.avg_price, body.shares_estimate) == (None, None)
    assert body.price == pytest.approx(0.6)


async def test_waiting_trades_are_listed_by_deadline_and_the_ended_ones_on_request() -> None:
    one = waiting(
        pending_trade("h1", expires_at=Timestamp(AT + 90)), pending_trade("h2"),
        pending_trade("h3", agent_id="ada"),
        pending_trade("h4"), pending_trade("h5", agent_id="ada"),
    )  # fmt: skip
    one.world.pending_trades.end(
        PendingEnded(name, AT, PendingStatus.REFUSED, "no") for name in ("h4", "h5")
    )
    for call, agent_id, status, names in (
        (fleet.all_pending_trades, None, "waiting", ["h2", "h3", "h1"]),
        (fleet.all_pending_trades, None, "all", ["h2", "h3", "h1", "h5", "h4"]),
        (fleet.own_pending_trades, "ben", "waiting", ["h2", "h1"]),
        (fleet.own_pending_trades, "ben", "all", ["h2", "h1", "h4"]),
        (fleet.own_pending_trades, "ada", "all", ["h3", "h5"]),
    ):
        answer = await call(request_to(one, agent_id, query=HeldQuery(status=status)))
        assert [row.held_id for row in answer.held] == names
        assert answer.waiting_count == sum(name in {"h1", "h2", "h3"} for name in names)


async def refuse(one: Any, reason: str = "") -> Any:
    body = RefuseRequest(reason=reason)
    return await fleet.refuse(request_to(one, path={"held_id": "h1"}, body=body))


@pytest.mark.parametrize(
    ("sent", "told"), [("too risky", "too risky"), ("", "refused by the operator")]
)
async def test_a_refusal_names_who_and_why(sent: str, told: str) -> None:
    one = waiting(pending_trade())
    answer = await refuse(one, sent)
    end = PendingEnded("h1", AT, PendingStatus.REFUSED, told, by="ann")
    assert one.world_store.written == [end, ACT]
    assert (answer.held.status, answer.held.reason, answer.held.decided_by) == (
        PendingStatus.REFUSED, told, "ann"
    )  # fmt: skip
    assert answer.trade is None
    with pytest.raises(PendingTradeNotFound, match="already decided"):
        await refuse(one)


async def test_nothing_is_decided_while_the_disk_refuses() -> None:
    one = waiting(pending_trade())
    one.world_store.refuses = StorageError("no room")
    with pytest.raises(StorageError):
        await refuse(one)
    with pytest.raises(StorageError):
        await approve_by(one)
    assert list(one.world.pending_trades.waiting) == ["h1"]


async def approve_by(one: Any, amount: float | None = None) -> Any:
    body = ApproveRequest.model_construct(amount=amount)
    return await fleet.approve(request_to(one, path={"held_id": "h1"}, body=body))


async def test_an_approved_trade_is_carried_out_for_its_agent_with_its_reasons() -> None:
    one = waiting(pending_trade())
    answer = await approve_by(one)
    fill, end, act = one.world_store.written
    assert isinstance(fill, Fill)
    assert (fill.agent_id, fill.side, fill.action, fill.money) == (
        "ben", Side.NO, Action.BUY, dollars(30)
    )  # fmt: skip
    assert fill.note == NOTE
    assert end == PendingEnded(
        "h1", AT, PendingStatus.APPROVED, "approved", dollars(30), fill.trade_id, "ann"
    )
    assert act == ACT
    assert isinstance(answer.trade, TradeBody)
    assert answer.trade.trade_id == answer.held.trade_id == fill.trade_id
    assert one.world.pending_trades.waiting == {}


async def test_an_operator_may_approve_another_amount() -> None:
    one = waiting(pending_trade())
    answer = await approve_by(one, 12.5)
    fill, end, _ = one.world_store.written
    assert fill.money == end.size == dollars(12.5)
    assert end.reason == "approved at another size"
    assert answer.held.decided_amount == 12.5


@pytest.mark.parametrize(("amount", "kind"), [(12.505, "decimal_max_places"), (1e-8, "decimal")])
async def test_an_amount_is_whole_cents(amount: float, kind: str) -> None:
    one = waiting(pending_trade())
    with pytest.raises(Denied) as refused:
        await approve_by(one, amount)
    body: Any = refused.value.body
    assert (refused.value.status, body.detail[0].type) == (422, kind)
    assert list(one.world.pending_trades.waiting) == ["h1"]


async def test_a_sale_is_not_sized_by_money() -> None:
    one = waiting(pending_trade(action=Action.SELL))
    with pytest.raises(Denied) as refused:
        await approve_by(one, 5.0)
    body: Any = refused.value.body
    assert body.detail[0].msg == "a sale is not sized by money"


async def test_a_no_of_the_venue_decides_a_trade_at_its_own_size() -> None:
    one = waiting(pending_trade(size=dollars(10_000_000)))
    answer = await approve_by(one)
    assert (answer.held.status, answer.held.trade_id) == (PendingStatus.FAILED, "")
    assert answer.held.reason
    assert answer.held.decided_amount is None
    assert [type(event) for event in one.world_store.written[:1]] == [PendingEnded]
    assert one.world.pending_trades.waiting == {}


async def test_a_no_of_the_venue_at_another_size_leaves_the_trade_waiting() -> None:
    one = waiting(pending_trade())
    with pytest.raises(Denied) as refused:
        await approve_by(one, 9_999_999.0)
    body: Any = refused.value.body
    assert refused.value.status == 409
    assert body.error.endswith("; it waits on")
    assert list(one.world.pending_trades.waiting) == ["h1"]
    assert one.world_store.written == []


async def test_a_budget_of_a_leash_leaves_the_trade_waiting() -> None:
    one = waiting(pending_trade())
    one.world.agents["ben"].leashes = {"rain": Leash(ASK, Micros(0), dollars(29.99), 60)}
    with pytest.raises(Denied, match="409") as refused:
        await approve_by(one)
    body: Any = refused.value.body
    assert body.error == "daily budget of skill rain reached: 29.99, 0.00 spent; it waits on"
    assert list(one.world.pending_trades.waiting) == ["h1"]
    await approve_by(one, 29.99)
    assert one.world.pending_trades.waiting == {}


async def test_a_trade_of_an_agent_that_may_only_look_by_now_fails() -> None:
    one = waiting(pending_trade())
    one.world.agents["ben"].leashes = {"": Leash(OBSERVE, Micros(0), None, 60)}
    answer = await approve_by(one)
    assert answer.held.status is PendingStatus.FAILED
    assert answer.held.reason.startswith("observe-only leash")


async def test_the_parts_of_an_agents_page_are_read_in_its_name(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    one, asked = service(), list[str]()

    def of(name: str) -> Any:
        async def read(request: Any) -> str:
            asked.append(request.agent.agent_id)
            return name

        return read

    monkeypatch.setattr(fleet.trades, "history", of("trades"))
    monkeypatch.setattr(fleet.positions, "positions", of("positions"))
    monkeypatch.setattr(fleet.outcomes, "outcomes", of("outcomes"))
    request = request_to(one, path={"agent_id": "ben"})
    told = [
        await part(request) for part in (fleet.trades_of, fleet.positions_of, fleet.outcomes_of)
    ]
    assert (told, asked) == (["trades", "positions", "outcomes"], ["ben"] * 3)
    with pytest.raises(AgentNotFound):
        await fleet.trades_of(request_to(one, path={"agent_id": "nobody"}))


@pytest.mark.parametrize("action", list(Action))
def test_a_released_trade_is_the_one_that_was_sent(action: Action) -> None:
    pending = pending_trade(
        action=action, venue=Venue.EVM, order_type=OrderType.GTD, price=0.25, expiration=int(AT) + 9
    )
    sent = fleet.request_of(pending, dollars(30))
    buys = action is Action.BUY
    assert (sent.market_id, sent.side, sent.action, sent.venue) == (
        pending.market_id, pending.side, action, Venue.EVM,
    )  # fmt: skip
    assert (sent.amount, sent.shares) == ((30.0, 0.0) if buys else (0.0, 30.0))
    assert (sent.order_type, sent.price, sent.expiration) == (OrderType.GTD, 0.25, int(AT) + 9)
    assert (sent.reasoning, sent.source, sent.skill_slug, sent.signal_data) == (
        NOTE.reasoning, NOTE.source, NOTE.skill_slug, NOTE.signal_data,
    )  # fmt: skip


def test_a_trade_is_named_by_its_fill_or_by_its_order() -> None:
    known = dict.fromkeys(OrderPlaced._fields)
    placed = OrderPlaced(**(known | {"order_id": "o-1"}))  # type: ignore[arg-type]
    filled = Fill(**(dict.fromkeys(Fill._fields) | {"trade_id": "t-1"}))  # type: ignore[arg-type]
    ended = PendingEnded("h1", AT, PendingStatus.FAILED, "why")
    assert list(fleet.ids_of([ended, placed, filled])) == ["o-1", "t-1"]
