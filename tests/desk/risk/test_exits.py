"""Exits of alerts: what is sold, once, and what is never sold."""

import asyncio
import json
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from kit.desk.faults import refuse_writes
from kit.desk.offline import Asked, Offline
from kit.samples.desk import sample_state
from kit.service.stage import open_directory
from service_tui.client.errors import (
    Called,
    NotFoundError,
    OutcomeUnknownError,
    RefusalReason,
    UnreachableError,
)
from service_tui.clock import ManualClock
from service_tui.desk.changes import changed
from service_tui.desk.commands.risk import ExitAlert
from service_tui.desk.reduce_risk import BY_HOLDER, BY_SERVICE, EXPIRED_TEXT
from service_tui.desk.risk.exits import (
    AGAIN_MAX_S,
    AGAIN_S,
    REPEAT_S,
    Exits,
    is_due,
    may_repeat,
    objection,
)
from service_tui.desk.slices.risk import ALERT_LIFE_S, AlertState, AlertView
from service_tui.desk.slices.service import Phase
from service_tui.desk.slices.tickets import NO_TRACE, TicketState, TicketView
from service_tui.desk.slices.topics import Topic
from service_tui.desk.slices.wallet import Ownership
from service_tui.desk.state import DeskState
from service_tui.signing.orders import SHARES_MIN
from service_tui.storage.blotter import Blotter, Intent, StoredState
from service_tui.storage.db.database import Database
from service_tui.terms import Action, Side, Venue
from service_tui.units import ONE, SHARE_QUANTUM, Micros, Timestamp, decimal
from service_tui.wire.endpoints.public import (
    DELETE_MONITOR,
    END_RISK_ALERT,
    OPEN_ORDERS,
    PLACE_TRADE,
    POSITIONS,
    RISK_ALERTS,
)
from service_tui.wire.monitors import MonitorQuery, RiskAlertBody, RiskAlertQuery, RiskAlertsBody
from service_tui.wire.orders import OrdersBody
from service_tui.wire.positions import PositionBody, PositionsBody
from service_tui.wire.trades import TradeBody, TradeRequest

START = 1_800_000_000.0
CALLED = Called("POST", "/api/sdk/trade")
AWAY = UnreachableError("away", CALLED)
SILENT = OutcomeUnknownError("no answer", CALLED)
GONE = NotFoundError(RefusalReason("gone", "", ""), CALLED, status=404)
DOUBT = "sent, no answer: being looked up, not resent"


def alert_of(**other: Any) -> AlertView:
    given: dict[str, Any] = {
        "alert_id": "al-7", "market_id": "m-4", "question": "Will it rain?", "side": Side.NO,
        "venue": Venue.SIM, "shares": Micros(30 * ONE), "reason": "take profit",
        "trigger_price": 0.31, "breached_at": Timestamp(START - 60),
        "expires_at": Timestamp(START + 3_540),
    }  # fmt: skip
    return AlertView(**(given | other))


NAME = alert_of().exit_name


def state_of(alert: AlertView, **other: Any) -> DeskState:
    """A desk on the embedded service that may trade."""
    state = sample_state(8)
    service = {"embedded": True, "phase": Phase.ONLINE, "read_only": False, "lookup_problem": ""}
    wallet = {"ownership": Ownership.MANAGED, "live": True}
    return replace(
        state,
        tickets=(),
        risk=replace(state.risk, alerts=(alert,)),
        service=replace(state.service, **(service | other.get("service", {}))),
        wallet=replace(state.wallet, **(wallet | other.get("wallet", {}))),
    )


# -- decisions -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("alert", "other", "why"),
    [
        (None, {}, "alert no longer pending"),
        (alert_of(managed=True), {}, BY_SERVICE),
        (alert_of(), {"executes": False}, BY_HOLDER),
        (alert_of(), {"service": {"read_only": True}}, BY_HOLDER),
        (alert_of(), {"service": {"phase": Phase.UNAUTHORIZED}}, "API key rejected"),
        (alert_of(), {"service": {"phase": Phase.OFFLINE}}, ""),
        (alert_of(), {"service": {"embedded": False}, "wallet": {"live": False}}, ""),
        (alert_of(venue=Venue.EVM), {"wallet": {"live": False}}, ""),
        (
            alert_of(venue=Venue.EVM),
            {"service": {"embedded": False}, "wallet": {"live": False}},
            "live trading is off, evm_venue is a real venue",
        ),
        (alert_of(venue=Venue.EVM), {"service": {"embedded": False}}, ""),
    ],
)
def test_whose_exit_an_alert_is(alert: AlertView | None, other: dict[str, Any], why: str) -> None:
    state = state_of(alert_of(), **other)
    assert objection(alert, state, executes=other.get("executes", True)) == why


@pytest.mark.parametrize(
    ("tries", "pause_s"), [(1, AGAIN_S), (2, 20), (3, 40), (5, 160), (6, AGAIN_MAX_S)]
)
def test_a_refused_exit_is_tried_again_after_a_pause_that_doubles(
    tries: int, pause_s: float
) -> None:
    assert not is_due(START, tries, START + pause_s - 1)
    assert is_due(START, tries, START + pause_s)
    assert is_due(START, tries, START - pause_s), "a clock that was put back holds up no exit"
    assert is_due(None, tries, START)


@pytest.mark.parametrize(
    ("other", "venue", "wait_s", "may"),
    [
        ({}, Venue.SIM, REPEAT_S, True),
        ({}, Venue.SIM, REPEAT_S - 1, False),
        ({"service": {"embedded": False}}, Venue.SIM, REPEAT_S, False),
        ({"service": {"lookup_problem": "no list of trades"}}, Venue.SIM, REPEAT_S, False),
        ({}, Venue.EVM, REPEAT_S, True),
        ({"wallet": {"ownership": Ownership.EXTERNAL, "address": "0xa"}}, Venue.EVM, 999, False),
        ({"wallet": {"ownership": Ownership.EXTERNAL, "address": "0xa"}}, Venue.SOL, 999, True),
    ],
)
def test_a_sale_without_a_trace_is_repeated_only_where_one_key_is_carried_out_once(
    other: dict[str, Any], venue: Venue, wait_s: float, *, may: bool
) -> None:
    assert may_repeat(state_of(alert_of(), **other), venue, wait_s) is may


# -- a desk whose service answers as a test says ---------------------------------------------------


def held(shares: int, venue: Venue = Venue.SIM) -> PositionsBody:
    row = PositionBody(market_id="m-4", shares_no=decimal(Micros(shares)), venue=venue)
    return PositionsBody(agent_id="a", positions=(row,))


def sold(shares: float) -> TradeBody:
    return TradeBody(
        success=True, trade_id="t", market_id="m-4", side=Side.NO, shares_sold=shares,
        shares_requested=shares, cost=shares * 0.3,
    )  # fmt: skip


NO = TradeBody(success=False, error="no orders now")


async def until(is_so: Callable[[], object]) -> None:
    for _ in range(5_000):
        if is_so():
            return
        await asyncio.sleep(0.0002)
    raise AssertionError("it never came to that")


@dataclass
class Work:
    on: Offline
    exits: Exits
    blotter: Blotter
    database: Database

    async def turn(self, alert: AlertView | None = None, *, by_hand: bool = False) -> None:
        """One turn of an alert that is listed."""
        self.exits.take([alert or self.alert])
        if by_hand:
            self.exits.exit_now(ExitAlert("al-7"))
        await self.rest()

    async def rest(self) -> None:
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        await until(lambda: not self.exits.is_busy)

    @property
    def alert(self) -> AlertView:
        known = self.on.state.risk.alert("al-7")
        assert known is not None
        return known

    @property
    def says(self) -> tuple[AlertState, str]:
        return self.alert.state, self.alert.detail

    @property
    def is_listed(self) -> bool:
        """Whether an exit by hand finds the alert."""
        before = len(self.on.told)
        self.exits.exit_now(ExitAlert("al-7"))
        return len(self.on.told) == before

    def calls(self, endpoint: object) -> list[Asked]:
        return [one for one in self.on.asked if one.endpoint is endpoint]

    @property
    def orders(self) -> list[TradeRequest]:
        return [
            body for one in self.calls(PLACE_TRADE) if isinstance(body := one.body, TradeRequest)
        ]

    def know(self, *tickets: TicketView) -> None:
        self.on.state = replace(self.on.state, tickets=tickets)


@asynccontextmanager
async def working(
    path: Path, *answers: object, alert: AlertView | None = None, have: object = None, **other: Any
) -> AsyncGenerator[Work]:
    """A desk that exits; `have` answers what is held, the others what becomes of each sale."""
    clock = ManualClock(START)
    on = Offline(
        state_of(alert or alert_of(), **other),
        {
            DELETE_MONITOR: None,
            END_RISK_ALERT: None,
            OPEN_ORDERS: OrdersBody(orders=(), count=0),
            POSITIONS: have or [held(30 * ONE)] + [held(0)] * 9,
            PLACE_TRADE: list(answers),
            RISK_ALERTS: RiskAlertsBody(),
        },
        skew_s=other.get("skew_s"),
        clock=clock,
    )
    async with open_directory(path, clock) as database, asyncio.TaskGroup() as tasks:
        blotter = Blotter(database)
        ports = replace(on.ports, blotter=blotter)
        exits = Exits(ports, executes=True)
        task = tasks.create_task(exits.run())
        yield Work(on, exits, blotter, database)
        task.cancel()


def ticket_of(number: int = 1, **other: Any) -> TicketView:
    name = f"{NAME}.{number}"
    given: dict[str, Any] = {
        "ticket_id": name, "kind": "exit", "market_id": "m-4", "what": "exit",
        "state": TicketState.UNKNOWN, "opened_at": Timestamp(START - 50), "client_ref": name,
        "holding": alert_of().holding, "shares": Micros(30 * ONE), "venue": Venue.SIM,
    }  # fmt: skip
    return TicketView(**(given | other))


REFUSED = ticket_of(state=TicketState.REFUSED, settled_at=Timestamp(START))

# -- one sale --------------------------------------------------------------------------------------


async def test_a_breach_is_sold_once_written_down_first_and_then_acknowledged(
    tmp_path: Path,
) -> None:
    async with working(tmp_path, sold(30)) as made:
        await made.turn()
        (order,) = made.orders
        assert (order.market_id, order.side, order.action, order.shares) == (
            "m-4", Side.NO, Action.SELL, 30.0,
        )  # fmt: skip
        assert (order.source, order.dry_run) == ("desk:take_profit", False)
        assert made.calls(PLACE_TRADE)[0].idempotency_key == f"{NAME}.1"
        row = await asyncio.to_thread(made.blotter.find, f"{NAME}.1")
        assert row is not None
        assert (row.state, row.client_ref) == (StoredState.DONE, f"{NAME}.1")
        assert json.loads(json.loads(row.body)["sent"]) == json.loads(
            order.model_dump_json(exclude_none=True)
        )
        assert (made.alert.state, made.alert.ticket_id, made.alert.attempts) == (
            AlertState.EXECUTED, f"{NAME}.1", 1,
        )  # fmt: skip
        # Nothing is left: the monitor goes first, then the alert.
        ends = [one for one in made.on.asked if one.endpoint in {DELETE_MONITOR, END_RISK_ALERT}]
        assert ends == [
            Asked(DELETE_MONITOR, {"market_id": "m-4"},
                  query=MonitorQuery(side=Side.NO, venue=Venue.SIM)),
            Asked(END_RISK_ALERT, {"market_id": "m-4", "side": "no"},
                  query=RiskAlertQuery(venue=Venue.SIM, alert_id="al-7")),
        ]  # fmt: skip
        assert {Topic.BRIEFING, Topic.MONITORS, Topic.POSITIONS, Topic.TRADES} <= set(made.on.woken)
        assert not made.is_listed
        shown = [one.state for fact in made.on.facts if (one := changed(fact, AlertView))]
        assert shown == [AlertState.EXITING]
        # Listed once more, as the service has not taken note: the sale on disk is found.
        made.know()
        await made.turn()
        assert len(made.orders) == 1
        assert len(made.calls(END_RISK_ALERT)) == 2


async def test_an_exit_that_cannot_be_written_down_sends_nothing(tmp_path: Path) -> None:
    async with working(tmp_path, sold(30)) as made:
        await made.database.write(refuse_writes)
        await made.turn()
        assert made.orders == []
        assert made.alert.state is AlertState.FAILED


@pytest.mark.parametrize(
    ("due", "have", "leaving", "shares"),
    [(30, 50, 0, 30), (50, 30, 0, 30), (0, 40, 0, 40), (30, 40, 15, 25), (30, 50, 15, 30)],
)
async def test_an_exit_sells_what_is_due_but_no_more_than_is_held_and_free(
    tmp_path: Path, *, due: int, have: int, leaving: int, shares: int
) -> None:
    alert = alert_of(shares=Micros(due * ONE))
    async with working(tmp_path, SILENT, alert=alert, have=held(have * ONE)) as made:
        other = ticket_of(shares=Micros(leaving * ONE), ticket_id="hand", state=TicketState.SENT)
        made.know(
            other,
            replace(other, ticket_id="else", holding="another", shares=Micros(900 * ONE)),
            replace(other, ticket_id="over", state=TicketState.DONE, shares=Micros(900 * ONE)),
            replace(other, ticket_id="lost", state=TicketState.UNKNOWN, outcome=NO_TRACE),
        )
        await made.turn()
        assert [one.shares for one in made.orders] == [shares]
        assert made.says == (AlertState.UNKNOWN, DOUBT)
        # Neither sent again nor acknowledged, not even by hand.
        await made.turn(by_hand=True)
        assert len(made.orders) == 1
        assert made.calls(END_RISK_ALERT) == []
        assert made.is_listed


async def test_nothing_is_sold_while_it_is_unclear_what_is_free(tmp_path: Path) -> None:
    async with working(tmp_path, have=held(30 * ONE)) as made:
        made.know(ticket_of(ticket_id="by-hand", state=TicketState.SENT))
        await made.turn()
        assert made.says == (AlertState.PENDING, "another sale of these shares is pending")
        made.on.dropped, made.on.answers[POSITIONS] = 1, held(0)
        await made.turn()
        assert made.says == (AlertState.FAILED, "not sold yet: position unreadable")
        made.on.answers[POSITIONS] = AWAY
        await made.turn()
        assert made.says == (AlertState.FAILED, "not sold yet: away (POST /api/sdk/trade)")
        assert (made.orders, made.is_listed) == ([], True)


LEAST = "shares left, below the venue's minimum order of 5: awaiting resolution"


@pytest.mark.parametrize(
    ("venue", "have", "text"),
    [
        (Venue.SIM, 0, "no shares left"),
        (Venue.SIM, SHARE_QUANTUM - 1, "no shares left"),
        (Venue.EVM, SHARES_MIN - SHARE_QUANTUM, f"4.99999 {LEAST}"),
        (Venue.EVM, SHARE_QUANTUM, f"0.00001 {LEAST}"),
    ],
)
async def test_an_alert_of_too_few_shares_for_any_order_ends_without_a_sale(
    tmp_path: Path, venue: Venue, have: int, text: str
) -> None:
    async with working(tmp_path, alert=alert_of(venue=venue), have=held(have, venue)) as made:
        await made.turn()
        assert made.says == (AlertState.ENDED, text)
        asked = [one.endpoint for one in made.on.asked]
        assert asked == [POSITIONS, DELETE_MONITOR, END_RISK_ALERT]
        assert not made.is_listed


async def test_what_a_sale_leaves_keeps_its_monitor_and_dust_is_named(tmp_path: Path) -> None:
    async with working(tmp_path, sold(30), have=[held(50 * ONE), held(20 * ONE)]) as made:
        await made.turn()
        assert made.calls(DELETE_MONITOR) == []
        assert len(made.calls(END_RISK_ALERT)) == 1
    alert = alert_of(venue=Venue.EVM, alert_id="al-7")
    have = [held(28 * ONE, Venue.EVM), held(28 * ONE, Venue.EVM), held(2 * ONE, Venue.EVM)]
    async with working(tmp_path / "b", sold(28), alert=alert, have=have[1:]) as made:
        await made.turn()
        assert made.alert.state is AlertState.EXECUTED
        assert made.alert.detail.endswith(f"; 2.00000 {LEAST}")
        assert len(made.calls(DELETE_MONITOR)) == 1


async def test_an_alert_that_is_gone_already_or_has_no_name_ends_all_the_same(
    tmp_path: Path,
) -> None:
    alert = alert_of(alert_id="~m-4:no:sim")
    async with working(tmp_path, sold(30), alert=alert) as made:
        made.on.answers |= {DELETE_MONITOR: GONE, END_RISK_ALERT: GONE}
        await made.turn(alert)
        ended = made.on.state.risk.alert(alert.alert_id)
        assert ended is not None
        assert ended.state is AlertState.EXECUTED
        (end,) = made.calls(END_RISK_ALERT)
        assert end.query == RiskAlertQuery(venue=Venue.SIM)


async def test_an_alert_that_cannot_be_named_in_an_order_is_said_so(tmp_path: Path) -> None:
    alert = alert_of(market_id="m 4\n")
    async with working(tmp_path, alert=alert, have=ValueError("no path")) as made:
        await made.turn()
        assert made.says == (AlertState.FAILED, "not sold yet: alert name not usable in an order")


# -- part of it sold -------------------------------------------------------------------------------


def listed(**other: Any) -> RiskAlertsBody:
    given = {
        "id": "al-7", "market_id": "m-4", "side": Side.NO, "venue": Venue.SOL, "shares": 12.0,
        "shares_sold": 18.0, "exit_reason": "take_profit",
        "breached_at": datetime.fromtimestamp(START - 60, UTC),
        "expires_at": datetime.fromtimestamp(START + 3_540, UTC),
    }  # fmt: skip
    return RiskAlertsBody(risk_alerts=(RiskAlertBody.model_validate(given | other),))


@pytest.mark.parametrize("other", [{"shares": 0.0}, {"shares_sold": 0.0}, {"id": "al-8"}])
async def test_a_sale_after_which_the_service_counts_nothing_is_whole(
    tmp_path: Path, other: dict[str, Any]
) -> None:
    alert = alert_of(venue=Venue.SOL)
    have = [held(30 * ONE, Venue.SOL), held(0)]
    async with working(tmp_path, sold(30), alert=alert, have=have) as made:
        made.on.answers[RISK_ALERTS] = listed(**other)
        await made.turn()
        assert made.alert.state is AlertState.EXECUTED


async def test_the_rest_of_a_part_is_a_second_sale_under_a_second_name(tmp_path: Path) -> None:
    alert = alert_of(venue=Venue.SOL)
    have = [held(40 * ONE, Venue.SOL)] * 2
    async with working(tmp_path, sold(30), SILENT, alert=alert, have=have) as made:
        made.on.answers[RISK_ALERTS] = listed()
        await made.turn(alert)
        assert made.alert.state is AlertState.PENDING
        assert made.alert.detail.startswith("sold in part, the rest follows: ")
        await made.turn(alert)
        assert len(made.orders) == 1
        await made.on.clock.advance(AGAIN_S)
        await made.turn(alert)
        assert [one.shares for one in made.orders] == [30.0, 12.0]
        assert made.calls(PLACE_TRADE)[1].idempotency_key == f"{NAME}.2"
        assert (made.alert.ticket_id, made.alert.attempts) == (f"{NAME}.2", 2)


# -- what is never sold ----------------------------------------------------------------------------


async def test_an_alert_that_is_not_listed_or_not_ours_is_not_exited(tmp_path: Path) -> None:
    async with working(tmp_path) as made:
        made.exits.take([alert_of(alert_id="al-8", managed=True)])
        made.exits.exit_now(ExitAlert("al-7"))
        made.exits.exit_now(ExitAlert("al-8"))
        assert made.on.words == [("warn", "alert no longer pending"), ("warn", BY_SERVICE)]
        made.exits.close()
        await made.turn()
        assert made.on.asked == []


@pytest.mark.parametrize(
    ("after_s", "skew_s", "is_over"),
    [
        (3_539, None, False), (3_540, None, True), (3_540, 5.0, False), (3_545, 5.0, True),
        (3_540, -5.0, True),
    ],
)  # fmt: skip
async def test_no_exit_begins_once_the_alerts_hour_has_passed_by_the_services_clock(
    tmp_path: Path, after_s: float, skew_s: float | None, *, is_over: bool
) -> None:
    async with working(tmp_path, SILENT, skew_s=skew_s) as made:
        await made.on.clock.advance(after_s)
        await made.turn()
        assert len(made.orders) == (not is_over)
        assert made.is_listed is not is_over
        if is_over:
            assert made.says == (AlertState.EXPIRED, EXPIRED_TEXT)


# -- after a failure -------------------------------------------------------------------------------


async def test_a_refused_exit_is_tried_again_under_the_next_name_until_its_hour_is_over(
    tmp_path: Path,
) -> None:
    async with working(tmp_path, *[NO] * 3, have=held(30 * ONE)) as made:
        for number, by_hand in ((1, False), (2, True)):
            await made.turn(by_hand=by_hand)
            await made.turn()
            keys = [one.idempotency_key for one in made.calls(PLACE_TRADE)]
            assert keys == [f"{NAME}.{one}" for one in range(1, number + 1)]
        await made.on.clock.advance(20)
        await made.turn()
        assert made.says == (AlertState.FAILED, "not sold yet, retrying: no orders now")
        assert (made.alert.attempts, made.is_listed) == (3, True)
        await made.on.clock.advance(3_540)
        await made.turn()
        assert made.says == (AlertState.MISSED, EXPIRED_TEXT)
        assert len(made.orders) == 3


@pytest.mark.parametrize("state", [AlertState.UNKNOWN, AlertState.EXECUTED])
async def test_a_fault_hides_no_exit_that_was_sent(tmp_path: Path, state: AlertState) -> None:
    alert = alert_of(state=state, detail="as it was")
    async with working(tmp_path, alert=alert, have=AWAY) as made:
        await made.turn()
        assert made.alert == alert


def intent_of_exit(number: int = 1, sent: str = "{}") -> Intent:
    name = f"{NAME}.{number}"
    return Intent(
        ticket_id=name, at=START - 50, kind="exit", subject="m-4", client_ref=name,
        body=json.dumps({"sent": sent, "holding": alert_of().holding, "shares": 30 * ONE}),
    )  # fmt: skip


async def test_a_key_that_was_taken_under_another_name_sends_nothing(tmp_path: Path) -> None:
    async with working(tmp_path) as made:
        other = replace(intent_of_exit(), ticket_id="of-an-earlier-program")
        await made.blotter.open_ticket(other, once=f"alert:{NAME}")
        await made.turn()
        assert made.orders == []
        assert made.says == (AlertState.UNKNOWN, "earlier sale found: being looked up")
        assert made.is_listed


# -- an exit without an answer ---------------------------------------------------------------------


async def test_a_lost_exit_is_closed_by_hand_and_then_sold_anew(tmp_path: Path) -> None:
    async with working(tmp_path, SILENT) as made:
        await made.blotter.open_ticket(intent_of_exit())
        made.know(ticket_of(outcome=NO_TRACE))
        await made.turn()
        assert made.alert.detail == f"{NO_TRACE}: check the position, then sell again"
        assert made.orders == []
        await made.turn(by_hand=True)
        row = await asyncio.to_thread(made.blotter.find, f"{NAME}.1")
        assert row is not None
        assert row.state is StoredState.FAILED
        assert f"{NO_TRACE}; retried by you" in str(row.outcome)
        assert [one.idempotency_key for one in made.calls(PLACE_TRADE)] == [f"{NAME}.2"]


@pytest.mark.parametrize(("earlier_s", "count"), [(0, 0), (1, 1)])
async def test_a_sale_of_long_ago_under_a_position_is_not_this_alerts(
    tmp_path: Path, earlier_s: int, count: int
) -> None:
    opened = Timestamp(START - 60 - ALERT_LIFE_S - earlier_s)
    done = ticket_of(state=TicketState.DONE, opened_at=opened, settled_at=Timestamp(START))
    async with working(tmp_path, SILENT) as made:
        made.know(done)
        await made.turn()
        assert len(made.orders) == count


REQUEST = TradeRequest(
    market_id="m-4", side=Side.NO, action=Action.SELL, amount=0, shares=30.0, venue=Venue.SIM
)


async def test_an_exit_in_doubt_is_repeated_under_its_own_key_when_no_look_up_found_it(
    tmp_path: Path,
) -> None:
    async with working(tmp_path, AWAY, sold(30), have=held(0)) as made:
        await made.blotter.open_ticket(intent_of_exit(sent=REQUEST.model_dump_json()))
        await made.on.clock.advance(500)
        made.know(ticket_of())
        # A desk that starts later begins to look anew.
        for wait_s, count in ((0.0, 0), (REPEAT_S - 1, 0), (1.0, 1)):
            await made.on.clock.advance(wait_s)
            await made.turn()
            repeated = Asked(PLACE_TRADE, body=REQUEST, idempotency_key=f"{NAME}.1")
            assert made.calls(PLACE_TRADE) == [repeated] * count
            assert made.says == (AlertState.UNKNOWN, DOUBT)
        await made.turn()
        assert made.alert.state is AlertState.EXECUTED
        assert made.calls(PLACE_TRADE) == [repeated] * 2


@pytest.mark.parametrize("sent", ["[]", "{}"])
async def test_an_exit_that_cannot_be_read_back_is_not_repeated(tmp_path: Path, sent: str) -> None:
    async with working(tmp_path) as made:
        await made.blotter.open_ticket(intent_of_exit(sent=sent))
        made.know(ticket_of())
        await made.turn()
        await made.on.clock.advance(REPEAT_S)
        await made.turn()
        assert (made.on.asked, made.alert.state) == ([], AlertState.UNKNOWN)


async def test_an_answer_to_a_repeated_exit_counts_only_while_nobody_else_found_it(
    tmp_path: Path,
) -> None:
    async with working(tmp_path, sold(12), have=held(0)) as made:
        await made.blotter.open_ticket(intent_of_exit(sent=REQUEST.model_dump_json()))
        made.know(ticket_of())
        await made.turn()
        await made.on.clock.advance(REPEAT_S)
        made.exits.take([made.alert])
        await until(lambda: made.calls(PLACE_TRADE))
        made.know(ticket_of(state=TicketState.DONE, outcome="found", settled_at=Timestamp(START)))
        await made.rest()
        assert made.says == (AlertState.EXECUTED, "sold: found")


async def test_work_begins_with_a_listing_a_word_or_an_orders_end(tmp_path: Path) -> None:
    async with working(tmp_path, have=AWAY) as made:
        wakes: list[Callable[[], None]] = [
            lambda: made.exits.take([alert_of()]),
            lambda: made.exits.exit_now(ExitAlert("al-7")),
            made.exits.wake,
        ]
        for number, wake in enumerate(wakes, 1):
            wake()
            await made.rest()
            assert len(made.calls(POSITIONS)) == number
