"""Leashes, and the trades that wait for the operator, on the running service."""

from pathlib import Path

import pytest

from kit.clock import leap
from kit.service.line import Line, line_to
from kit.service.stage import OPERATOR, Stage, open_stage
from service_tui.client.errors import NotFoundError, RefusedError
from service_tui.terms import (
    LEASH_WAIT_MAX_S,
    LEASH_WAIT_S,
    HeldStatus,
    LeashMode,
    Side,
    TradeStatus,
)
from service_tui.wire.batch import BatchRequest, LegRequest
from service_tui.wire.endpoints.fleet import (
    DESK_AGENT_OUTCOMES,
    DESK_AGENT_POSITIONS,
    DESK_AGENT_TRADES,
    DESK_APPROVE,
    DESK_FREE_LEASH,
    DESK_HELD,
    DESK_LEASHES,
    DESK_REFUSE,
    DESK_SET_LEASH,
    HELD_TRADES,
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


async def approve(
    stage: Stage, held_id: str, amount: float | None = None, **bounds: float
) -> HeldTradeBody:
    await stage.clock.advance(0.3)
    body = ApproveRequest.model_validate({"amount": amount, **bounds})
    reply = await stage.client.call(DESK_APPROVE, path={"held_id": held_id}, body=body)
    return reply.answer.held


async def own(stage: Stage) -> tuple[HeldTradeBody, ...]:
    await stage.clock.advance(0.3)
    return (await stage.client.call(HELD_TRADES, query=ALL)).answer.held


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
        waiting = (await stage.client.call(DESK_HELD, query=HeldQuery())).answer
        assert waiting.waiting_count == 1
        held = waiting.held[0]
        assert (held.held_id, held.amount, held.reasoning) == (said.trade_id, 25.0, "it rains")
        assert held.signal_data is not None
        assert held.signal_data["edge"] == 0.1
        assert held.avg_price is not None
        done = await approve(stage, held.held_id)
        assert (done.status, done.decided_amount) == (HeldStatus.APPROVED, 25.0)
        assert stage.world.cash(stage.agent) == cash - 25_000_000
        trades = (await stage.client.call(TRADES, query=TradesQuery())).answer.trades
        assert trades[0].trade_id == done.trade_id
        assert trades[0].reasoning == "it rains"
        with pytest.raises(NotFoundError, match="approved"):
            await approve(stage, held.held_id)
        assert stage.world.cash(stage.agent) == cash - 25_000_000


async def test_the_size_can_be_edited(tmp_path: Path) -> None:
    async with open_stage(tmp_path) as stage:
        await leash(stage, LeashMode.ASK)
        held_id = (await buy(stage, 25.0)).trade_id or ""
        # The operator's own client does not send such a size either.
        where = {"held_id": held_id}
        for amount in (0.001, 0, -7.5):
            body = {"amount": amount}
            await Line(stage, OPERATOR).said(DESK_APPROVE, 422, path=where, json=body)
        done = await approve(stage, held_id, 7.5)
        assert (done.decided_amount, done.reason) == (7.5, "approved at another size")
        assert stage.agent.spent_today(stage.clock.now()) == 7_500_000


async def test_an_approval_within_its_bound_goes_out_once_and_keeps_the_bound_over_a_restart(
    tmp_path: Path,
) -> None:
    async with open_stage(tmp_path) as stage:
        await leash(stage, LeashMode.ASK)
        held_id = (await buy(stage, 25.0)).trade_id or ""
        waiting = (await own(stage))[0]
        assert waiting.price_asked is not None
        assert waiting.price_asked == waiting.avg_price
        bound = round(waiting.price_asked + 0.01, 4)
        done = await approve(stage, held_id, not_above=bound)
        assert (done.status, done.decided_bound) == (HeldStatus.APPROVED, bound)
        cash = stage.world.cash(stage.agent)
        key, agent_id, clock = stage.key, stage.agent_id, stage.clock
    async with open_stage(tmp_path, clock, key=key, agent_id=agent_id) as stage:
        (row,) = await own(stage)
        assert (row.status, row.decided_bound) == (HeldStatus.APPROVED, bound)
        assert row.price_asked == waiting.price_asked
        with pytest.raises(NotFoundError, match="already decided"):
            await approve(stage, held_id, not_above=bound)
        assert (stage.world.cash(stage.agent), stage.agent.trades_count) == (cash, 1)


@pytest.mark.parametrize("amount", [None, 7.5])
async def test_beyond_its_bound_nothing_is_bought_and_the_agent_may_ask_again(
    tmp_path: Path, amount: float | None
) -> None:
    async with open_stage(tmp_path) as stage:
        await leash(stage, LeashMode.ASK)
        held_id = (await buy(stage, 25.0)).trade_id or ""
        cash, average = stage.world.cash(stage.agent), (await own(stage))[0].avg_price or 0.0
        bound = round(average - 0.05, 2)
        await stage.clock.advance(0.3)
        body = ApproveRequest(amount=amount, not_above=bound)
        answer = (
            await stage.client.call(DESK_APPROVE, path={"held_id": held_id}, body=body)
        ).answer
        assert answer.trade is not None
        assert (answer.trade.error_code, bool(answer.trade.fix)) == ("PRICE_BEYOND_APPROVAL", True)
        done = answer.held
        assert (done.status, done.decided_bound) == (HeldStatus.FAILED, bound)
        assert done.reason.startswith(f"price beyond {bound:g}: it would be 0.")
        assert stage.world.cash(stage.agent) == cash
        key, agent_id, clock = stage.key, stage.agent_id, stage.clock
    async with open_stage(tmp_path, clock, key=key, agent_id=agent_id) as stage:
        (row,) = await own(stage)
        assert (row.status, row.reason, row.decided_bound) == (done.status, done.reason, bound)
        with pytest.raises(NotFoundError, match="already decided"):
            await approve(stage, held_id)
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
        listed = (await stage.client.call(DESK_HELD, query=HeldQuery())).answer.held
        (other,) = listed[0].other_side
        assert (other.agent_id, other.agent_name) == (stage.agent_id, "tester")
        assert other.shares == bought.shares_bought
        assert (await own(stage))[0].other_side == ()


async def test_the_average_is_bound_and_not_the_price_after(tmp_path: Path) -> None:
    async with open_stage(tmp_path) as stage:
        await leash(stage, LeashMode.ASK)
        held_id = (await buy(stage, 400.0)).trade_id or ""
        average = (await own(stage))[0].avg_price or 0.0
        bound = average + 0.0001
        after = await buy(stage, 400.0, dry_run=True)
        assert after.new_price is not None
        assert after.new_price > bound
        assert (await approve(stage, held_id, not_above=bound)).status is HeldStatus.APPROVED


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
        assert (await own(stage))[0].status is HeldStatus.WAITING


async def test_a_refusal_reaches_the_agent_with_its_reason(tmp_path: Path) -> None:
    async with open_stage(tmp_path) as stage:
        await leash(stage, LeashMode.ASK)
        held_id = (await buy(stage, 25.0)).trade_id or ""
        body = RefuseRequest(reason="too thin a market")
        await stage.client.call(DESK_REFUSE, path={"held_id": held_id}, body=body)
        told = await own(stage)
        assert [(one.status, one.reason) for one in told] == [
            (HeldStatus.REFUSED, "too thin a market")
        ]


async def test_an_agent_sees_no_other_agents_held_trades(tmp_path: Path) -> None:
    async with open_stage(tmp_path) as stage:
        other = Line(stage, (await line_to(stage).said(REGISTER, json={"name": "b"}))["api_key"])
        await leash(stage, LeashMode.ASK)
        for amount in (25.0, 26.0):
            held_id = (await buy(stage, amount)).trade_id or ""
        await stage.client.call(DESK_REFUSE, path={"held_id": held_id}, body=RefuseRequest())
        assert [one.status for one in await own(stage)] == [
            HeldStatus.WAITING,
            HeldStatus.REFUSED,
        ]
        seen = await other.said(HELD_TRADES, status="all")
        assert (seen["held"], seen["waiting_count"]) == ([], 0)


async def test_what_the_operator_refused_is_not_asked_again_within_the_hour(
    tmp_path: Path,
) -> None:
    async with open_stage(tmp_path, speed=0) as stage:
        await leash(stage, LeashMode.ASK)
        held_id = (await buy(stage, 25.0)).trade_id or ""
        await stage.client.call(DESK_REFUSE, path={"held_id": held_id}, body=RefuseRequest())
        await leap(stage.clock, 60.0)
        again = await buy(stage, 20.0)
        assert (again.success, again.error_code) == (False, "REFUSED_BEFORE")
        assert again.error == "refused by the operator 1 min ago"
        assert [one.status for one in await own(stage)] == [HeldStatus.REFUSED]
        # ours: an hour later it may be another story.
        await leap(stage.clock, 3_600.0)
        assert (await buy(stage, 20.0)).success


async def test_nobody_deciding_is_a_no_at_the_deadline(tmp_path: Path) -> None:
    async with open_stage(tmp_path) as stage:
        await leash(stage, LeashMode.ASK, wait_s=30)
        held_id = (await buy(stage, 25.0)).trade_id or ""
        await stage.clock.advance(20.0)
        assert (await own(stage))[0].status is HeldStatus.WAITING
        await stage.clock.advance(11.0)
        await stage.sim.service.world_store.advance(stage.clock.now())
        told = (await own(stage))[0]
        assert (told.status, told.reason) == (HeldStatus.EXPIRED, "approval timed out")
        with pytest.raises(NotFoundError, match="expired"):
            await approve(stage, held_id)


async def test_a_request_lapses_with_its_market_and_keeps_its_question(tmp_path: Path) -> None:
    async with open_stage(tmp_path, speed=60) as stage:
        await leash(stage, LeashMode.ASK, wait_s=LEASH_WAIT_MAX_S)
        market = min(stage.open_markets(), key=lambda one: one.listing.resolves_at)
        held_id = (await buy(stage, 25.0, market_id=market.market_id)).trade_id or ""
        left_s = market.listing.resolves_at - stage.world.world_at
        await leap(stage.clock, left_s / 60 + 2)
        told = (await own(stage))[0]
        assert (told.status, told.reason) == (HeldStatus.EXPIRED, "the market ended")
        assert told.question == market.listing.question
        with pytest.raises(NotFoundError, match="expired"):
            await approve(stage, held_id)
        # The service forgets ended markets; the question stays with the request.
        del stage.world.markets[market.market_id]
        assert (await own(stage))[0].question == market.listing.question


async def test_what_the_venue_refuses_after_all_is_decided_too(tmp_path: Path) -> None:
    async with open_stage(tmp_path) as stage:
        await leash(stage, LeashMode.ASK)
        held_id = (await buy(stage, 400.0)).trade_id or ""
        await leash(stage, LeashMode.OBSERVE)
        done = await approve(stage, held_id)
        assert done.status is HeldStatus.FAILED
        assert "observe-only" in done.reason
        assert stage.agent.trades_count == 0


async def test_an_absurd_amount_of_the_operators_does_not_use_the_trade_up(tmp_path: Path) -> None:
    async with open_stage(tmp_path) as stage:
        await leash(stage, LeashMode.ASK)
        held_id = (await buy(stage, 25.0)).trade_id or ""
        for amount in (999_999_999.0, 501.0):
            with pytest.raises(RefusedError, match="it waits on") as no:
                await approve(stage, held_id, amount)
            assert no.value.fix
            assert (await own(stage))[0].status is HeldStatus.WAITING
        assert stage.agent.trades_count == 0
        done = await approve(stage, held_id)
        assert (done.status, done.decided_amount) == (HeldStatus.APPROVED, 25.0)


@pytest.mark.parametrize("slug", ["", "gauge"])
async def test_what_the_budget_has_no_room_for_waits_on(tmp_path: Path, slug: str) -> None:
    async with open_stage(tmp_path) as stage:
        await leash(stage, LeashMode.ASK)
        held_id = (await buy(stage, 400.0, skill_slug="gauge")).trade_id or ""
        await leash(stage, LeashMode.ASK, daily_budget=100.0, skill_slug=slug)
        with pytest.raises(RefusedError, match=r"daily budget .*waits on"):
            await approve(stage, held_id)
        assert [one.status for one in await own(stage)] == [HeldStatus.WAITING]
        assert stage.agent.trades_count == 0
        done = await approve(stage, held_id, 100.0)
        assert (done.status, done.decided_amount) == (HeldStatus.APPROVED, 100.0)


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


async def test_what_is_not_sent_of_a_leash_stays_and_null_takes_the_budget_off(
    tmp_path: Path,
) -> None:
    async with open_stage(tmp_path) as stage:
        operator, path = Line(stage, OPERATOR), {"agent_id": stage.agent_id}
        whole = {"mode": "ask", "threshold": 5.0, "daily_budget": 20.0, "wait_s": 120}
        asked = (
            (whole, (5.0, 20.0, 120)),
            ({"mode": "auto"}, (5.0, 20.0, 120)),
            ({"mode": "auto", "daily_budget": None}, (5.0, None, 120)),
            ({"mode": "ask", "skill_slug": "gauge"}, (0.0, None, LEASH_WAIT_S)),
        )
        for body, expected in asked:
            said = await operator.said(DESK_SET_LEASH, path=path, json=body)
            assert (said["threshold"], said["daily_budget"], said["wait_s"]) == expected
        # The client sends the null that takes the budget off.
        await leash(stage, LeashMode.ASK, daily_budget=7.0)
        assert (await leash(stage, LeashMode.ASK, daily_budget=None)).daily_budget is None


async def test_leash_and_waiting_trades_survive_a_restart(tmp_path: Path) -> None:
    async with open_stage(tmp_path) as stage:
        await leash(stage, LeashMode.ASK, threshold=3.0, daily_budget=40.0)
        await buy(stage, 2.0)
        held_id = (await buy(stage, 9.0)).trade_id or ""
        key, agent_id, clock = stage.key, stage.agent_id, stage.clock
    async with open_stage(tmp_path, clock, key=key, agent_id=agent_id) as stage:
        found = (await stage.client.call(DESK_LEASHES)).answer.leashes[0]
        assert (found.mode, found.threshold, found.spent) == (LeashMode.ASK, 3.0, 2.0)
        assert (await approve(stage, held_id)).status is HeldStatus.APPROVED
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
        held = await buy(stage, 20.0)
        waits = await anext(heard)
        assert (waits.kind, waits.held.held_id) == (EventKind.HELD, held.trade_id)
        assert (waits.held.state, waits.held.agent_id) == ("waiting", stage.agent_id)
        await stage.client.call(
            DESK_REFUSE, path={"held_id": held.trade_id}, body=RefuseRequest(reason="no")
        )
        ended = await anext(heard)
        assert (ended.held.held_id, ended.held.state) == (held.trade_id, "refused")
