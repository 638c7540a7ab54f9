"""Exits of alerts one step at a time: what is sold, once, and what is never sold."""

import asyncio
import json
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any, cast

import pytest

from kit.desk.offline import Asked, Offline
from kit.samples.desk import sample_state
from service_tui.client.errors import Called, NotFoundError, RefusalReason, UnreachableError
from service_tui.desk.changes import Changed
from service_tui.desk.commands.risk import ExitAlert
from service_tui.desk.commands.trading import PlaceTrade
from service_tui.desk.reasons import Reason
from service_tui.desk.reduce_risk import BY_HOLDER, BY_SERVICE, EXPIRED_TEXT
from service_tui.desk.risk import exits
from service_tui.desk.risk.exits import AGAIN_MAX_S, AGAIN_S, REPEAT_S, Exits
from service_tui.desk.slices.position_key import position_key
from service_tui.desk.slices.risk import ALERT_LIFE_S, AlertState, AlertView
from service_tui.desk.slices.service import Phase
from service_tui.desk.slices.tickets import NO_TRACE, TicketState, TicketView
from service_tui.desk.slices.topics import Topic
from service_tui.desk.trading.sending import end
from service_tui.signing.orders import SHARES_MIN
from service_tui.storage.blotter import Blotter, Intent, StoredState, StoredTicket
from service_tui.storage.errors import ClaimedError, StorageError
from service_tui.terms import Action, Side, Venue
from service_tui.units import ONE, SHARE_QUANTUM, Micros, Timestamp
from service_tui.wire.endpoints.public import (
    DELETE_MONITOR,
    END_RISK_ALERT,
    PLACE_TRADE,
    RISK_ALERTS,
)
from service_tui.wire.monitors import MonitorQuery, RiskAlertBody, RiskAlertQuery
from service_tui.wire.trades import TradeRequest

START = 1_800_000_000.0
CALLED = Called("POST", "/api/sdk/trade")
FOLLOWED = [Topic.BRIEFING, Topic.MONITORS, Topic.POSITIONS, Topic.TRADES]


def alert_of(**other: Any) -> AlertView:
    given: dict[str, Any] = {
        "alert_id": "al-7", "market_id": "m-4", "question": "Will it rain?", "side": Side.NO,
        "venue": Venue.SIM, "shares": Micros(30 * ONE), "reason": "take profit",
        "trigger_price": 0.31, "breached_at": Timestamp(START - 60),
        "expires_at": Timestamp(START + 3_540),
    }  # fmt: skip
    return AlertView(**(given | other))


NAME = alert_of().exit_name


@dataclass
class Work:
    """A desk that exits; a sale ends as `ends` says, and each is noted."""

    on: Offline
    held: list[Micros | Exception | None]
    ends: list[tuple[TicketState, str]] = field(default_factory=list)
    sold: list[tuple[TicketView, PlaceTrade, TradeRequest]] = field(default_factory=list)
    opened: list[tuple[Intent, str]] = field(default_factory=list)
    asked_held: list[tuple[str, Side, Venue]] = field(default_factory=list)
    freed: list[tuple[str, Venue]] = field(default_factory=list)
    frees: list[bool] = field(default_factory=list)
    rows: dict[str, StoredTicket] = field(default_factory=dict)
    fault: StorageError | None = None
    executes: bool = True

    def __post_init__(self) -> None:
        blotter = SimpleNamespace(
            find=self.rows.get, open_ticket=self.open_ticket, settle=self.on._settle
        )
        self.on.ports = replace(self.on.ports, blotter=cast("Blotter", blotter))
        self.exits = Exits(self.on.ports, executes=self.executes)

    async def open_ticket(self, intent: Intent, *, once: str) -> None:
        if self.fault is not None:
            raise self.fault
        assert self.sold == self.sold[: len(self.opened)], "written before it is sent"
        self.opened.append((intent, once))

    async def send(self, _: object, ticket: TicketView, order: PlaceTrade, body: TradeRequest):  # noqa: ANN201
        self.sold.append((ticket, order, body))
        state, outcome = self.ends.pop(0)
        sent = replace(ticket, state=TicketState.SENT, sent_at=self.on.clock.now())
        self.on.ports.emit(Changed(sent))
        if state is not TicketState.SENT:
            end(self.on.ports, sent, state, Reason(outcome))

    async def held_now(self, market_id: str, side: Side, venue: Venue, _: object) -> Micros | None:
        self.asked_held.append((market_id, side, venue))
        held = self.held.pop(0) if len(self.held) > 1 else self.held[0]
        if isinstance(held, Exception):
            raise held
        return held

    async def free_shares(self, holding: str, venue: Venue, _: object) -> bool:
        self.freed.append((holding, venue))
        return bool(self.frees) and self.frees.pop(0)

    async def turn(self, alert: AlertView, *, by_hand: bool = False) -> None:
        """One turn of an alert that is listed."""
        self.exits.take([alert])
        if by_hand:
            self.exits.exit_now(ExitAlert(alert.alert_id))
        await self.exits._work(alert)

    @property
    def alert(self) -> AlertView:
        known = self.on.state.risk.alert("al-7")
        assert known is not None
        return known

    @property
    def is_listed(self) -> bool:
        return "al-7" in self.exits._listed

    def calls(self, endpoint: object) -> list[Asked]:
        return [one for one in self.on.asked if one.endpoint is endpoint]


@pytest.fixture
def work(monkeypatch: pytest.MonkeyPatch) -> Callable[..., Work]:
    def make(
        *held: Micros | Exception | None, alert: AlertView | None = None, **other: Any
    ) -> Work:
        service = {"embedded": True, "phase": Phase.ONLINE, "read_only": False}
        state = sample_state(8)
        on = Offline(
            replace(
                state,
                tickets=(),
                risk=replace(state.risk, alerts=(alert or alert_of(),)),
                service=replace(state.service, **(service | other.pop("service", {}))),
                wallet=replace(state.wallet, **other.pop("wallet", {})),
            ),
            {DELETE_MONITOR: None, END_RISK_ALERT: None},
        )
        made = Work(on, list(held) or [Micros(30 * ONE), Micros(0)], **other)
        monkeypatch.setattr(exits, "send", made.send)
        monkeypatch.setattr(exits, "held_now", made.held_now)
        monkeypatch.setattr(exits, "free_shares", made.free_shares)
        return made

    return make


def ticket_of(number: int = 1, **other: Any) -> TicketView:
    name = f"{NAME}.{number}"
    given: dict[str, Any] = {
        "ticket_id": name, "kind": "exit", "market_id": "m-4", "what": "exit",
        "state": TicketState.UNKNOWN, "opened_at": Timestamp(START - 50), "client_ref": name,
        "holding": alert_of().holding, "shares": Micros(30 * ONE), "venue": Venue.SIM,
    }  # fmt: skip
    return TicketView(**(given | other))


def with_tickets(made: Work, *tickets: TicketView) -> Work:
    made.on.state = replace(made.on.state, tickets=tickets)
    return made


# -- one sale --------------------------------------------------------------------------------------


async def test_a_breach_is_sold_once_written_down_first_and_then_acknowledged(
    work: Callable[..., Work],
) -> None:
    made = work(ends=[(TicketState.DONE, "30.00 shares for 9.00")])
    await made.turn(alert_of())
    ((ticket, order, body),) = made.sold
    assert order == PlaceTrade(
        "m-4", Side.NO, Action.SELL, Venue.SIM, shares=Micros(30 * ONE), question="Will it rain?",
        reasoning="exit of a risk alert: take profit", everything=True,
    )  # fmt: skip
    assert ticket == TicketView(
        ticket_id=f"{NAME}.1", kind="exit", market_id="m-4", client_ref=f"{NAME}.1",
        what=f"exit, take profit: {order.describe()}", state=TicketState.QUEUED,
        opened_at=Timestamp(START), question="Will it rain?", shares=Micros(30 * ONE),
        holding=position_key("m-4", Side.NO, Venue.SIM), venue=Venue.SIM,
    )  # fmt: skip
    assert (body.source, body.dry_run) == ("desk:take_profit", False)
    ((intent, once),) = made.opened
    assert once == f"alert:{NAME}"
    assert (intent.ticket_id, intent.client_ref) == (f"{NAME}.1", f"{NAME}.1")
    assert json.loads(json.loads(intent.body)["sent"]) == json.loads(
        body.model_dump_json(exclude_none=True)
    )
    assert (made.alert.state, made.alert.detail) == (
        AlertState.EXECUTED, "sold: 30.00 shares for 9.00",
    )  # fmt: skip
    assert (made.alert.ticket_id, made.alert.attempts) == (f"{NAME}.1", 1)
    # Nothing is left: the monitor goes first, then the alert.
    assert made.on.asked == [
        Asked(DELETE_MONITOR, {"market_id": "m-4"},
              query=MonitorQuery(side=Side.NO, venue=Venue.SIM)),
        Asked(END_RISK_ALERT, {"market_id": "m-4", "side": "no"},
              query=RiskAlertQuery(venue=Venue.SIM, alert_id="al-7")),
    ]  # fmt: skip
    assert made.on.woken == FOLLOWED
    assert set(made.asked_held) == {("m-4", Side.NO, Venue.SIM)}
    assert not made.is_listed
    assert not made.exits.is_busy


@pytest.mark.parametrize(
    ("due", "held", "leaving", "sold", "everything"),
    [
        (30, 50, 0, 30, False),
        (30, 30, 0, 30, True),
        (50, 30, 0, 30, True),
        (0, 40, 0, 40, True),
        (30, 40, 15, 25, False),
        (30, 50, 15, 30, False),
    ],
)
async def test_an_exit_sells_what_is_due_but_no_more_than_is_held_and_free(
    work: Callable[..., Work], *, due: int, held: int, leaving: int, sold: int, everything: bool
) -> None:
    alert = alert_of(shares=Micros(due * ONE))
    made = work(Micros(held * ONE), alert=alert, ends=[(TicketState.SENT, "")])
    other = ticket_of(shares=Micros(leaving * ONE), ticket_id="by-hand", state=TicketState.SENT)
    elsewhere = replace(other, ticket_id="else", holding="another", shares=Micros(900 * ONE))
    over = replace(other, ticket_id="over", state=TicketState.DONE, shares=Micros(900 * ONE))
    lost = replace(other, ticket_id="lost", state=TicketState.UNKNOWN, outcome=NO_TRACE)
    with_tickets(made, other, elsewhere, over, lost)
    await made.turn(alert)
    ((_, order, _),) = made.sold
    assert (order.shares, order.everything) == (sold * ONE, everything)
    assert (made.alert.state, made.alert.detail) == (
        AlertState.UNKNOWN, "sent, no answer: being looked up, not resent",
    )  # fmt: skip
    assert made.is_listed
    assert made.on.asked == []


async def test_nothing_is_sold_while_another_sale_takes_all_of_the_shares(
    work: Callable[..., Work],
) -> None:
    made = work(Micros(30 * ONE))
    with_tickets(made, ticket_of(ticket_id="by-hand", state=TicketState.SENT))
    await made.turn(alert_of())
    assert (made.sold, made.opened, made.freed) == ([], [], [])
    assert made.alert.detail == "another sale of these shares is pending"
    assert made.alert.state is AlertState.PENDING
    assert made.is_listed


@pytest.mark.parametrize(
    ("venue", "held", "text"),
    [
        (Venue.SIM, 0, "no shares left"),
        (Venue.SIM, SHARE_QUANTUM - 1, "no shares left"),
        (
            Venue.EVM,
            SHARES_MIN - SHARE_QUANTUM,
            "4.99999 shares left, below the venue's minimum order of 5: awaiting resolution",
        ),
        (
            Venue.EVM,
            SHARE_QUANTUM,
            "0.00001 shares left, below the venue's minimum order of 5: awaiting resolution",
        ),
    ],
)
async def test_an_alert_of_too_few_shares_for_any_order_ends_without_a_sale(
    work: Callable[..., Work], venue: Venue, held: int, text: str
) -> None:
    alert = alert_of(venue=venue)
    made = work(Micros(held), alert=alert, wallet={"live": True})
    await made.turn(alert)
    assert (made.sold, made.freed) == ([], [])
    assert (made.alert.state, made.alert.detail) == (AlertState.ENDED, text)
    assert [one.endpoint for one in made.on.asked] == [DELETE_MONITOR, END_RISK_ALERT]
    assert not made.is_listed


async def test_a_position_that_cannot_be_read_is_not_sold(work: Callable[..., Work]) -> None:
    made = work(None)
    await made.turn(alert_of())
    assert (made.alert.state, made.alert.detail) == (
        AlertState.FAILED, "not sold yet: position unreadable",
    )  # fmt: skip
    assert (made.sold, made.on.asked, made.is_listed) == ([], [], True)


async def test_shares_of_open_sales_are_freed_once_and_what_is_held_is_read_anew(
    work: Callable[..., Work],
) -> None:
    made = work(
        Micros(30 * ONE), Micros(12 * ONE), frees=[True, True], ends=[(TicketState.SENT, "")]
    )
    await made.turn(alert_of())
    assert made.freed == [(alert_of().holding, Venue.SIM)]
    assert [order.shares for _, order, _ in made.sold] == [12 * ONE]


async def test_shares_that_are_left_after_a_sale_keep_their_monitor(
    work: Callable[..., Work],
) -> None:
    made = work(Micros(50 * ONE), Micros(20 * ONE), ends=[(TicketState.DONE, "sold 30")])
    await made.turn(alert_of())
    assert [one.endpoint for one in made.on.asked] == [END_RISK_ALERT]
    assert made.alert.detail == "sold: sold 30"


async def test_dust_that_a_sale_leaves_is_named(work: Callable[..., Work]) -> None:
    alert = alert_of(venue=Venue.EVM)
    left = Micros(2 * ONE)
    made = work(
        Micros(30 * ONE), left, alert=alert, wallet={"live": True},
        ends=[(TicketState.DONE, "sold 28")],
    )  # fmt: skip
    made.on.answers[RISK_ALERTS] = SimpleNamespace(risk_alerts=())
    await made.turn(alert)
    assert made.alert.state is AlertState.EXECUTED
    assert made.alert.detail == (
        "sold: sold 28; 2.00000 shares left, below the venue's minimum order of 5: "
        "awaiting resolution"
    )
    assert DELETE_MONITOR in [one.endpoint for one in made.on.asked]


async def test_an_answer_that_something_is_gone_already_ends_the_alert_all_the_same(
    work: Callable[..., Work],
) -> None:
    made = work(ends=[(TicketState.DONE, "all")])
    gone = NotFoundError(RefusalReason("gone", "", ""), CALLED, status=404)
    made.on.answers.update({DELETE_MONITOR: gone, END_RISK_ALERT: gone})
    await made.turn(alert_of())
    assert made.alert.state is AlertState.EXECUTED
    assert made.on.woken == FOLLOWED
    assert not made.is_listed


async def test_an_alert_without_a_name_is_acknowledged_by_its_market_side_and_venue(
    work: Callable[..., Work],
) -> None:
    alert = alert_of(alert_id="~m-4:no:sim")
    made = work(alert=alert, ends=[(TicketState.DONE, "all")])
    await made.turn(alert)
    assert made.calls(END_RISK_ALERT) == [
        Asked(END_RISK_ALERT, {"market_id": "m-4", "side": "no"},
              query=RiskAlertQuery(venue=Venue.SIM)),
    ]  # fmt: skip


# -- part of it sold -------------------------------------------------------------------------------


def moment_of(at: float) -> datetime:
    return datetime.fromtimestamp(at, UTC)


def listed(**other: Any) -> RiskAlertBody:
    given = {
        "id": "al-7", "market_id": "m-4", "side": Side.NO, "venue": Venue.EVM, "shares": 12.0,
        "shares_sold": 18.0, "exit_reason": "take_profit",
    }  # fmt: skip
    return RiskAlertBody.model_validate(given | other)


@pytest.mark.parametrize(
    ("other", "is_part"),
    [
        ({}, True),
        ({"shares": SHARES_MIN / ONE}, True),
        ({"shares": SHARES_MIN / ONE - 0.5}, False),
        ({"shares_sold": 0.0}, False),
        ({"id": "al-8"}, False),
    ],
)
async def test_what_the_service_still_counts_after_a_part_is_sold_next(
    work: Callable[..., Work], other: dict[str, Any], *, is_part: bool
) -> None:
    alert = alert_of(venue=Venue.EVM)
    made = work(
        Micros(30 * ONE), Micros(0), alert=alert, wallet={"live": True},
        ends=[(TicketState.DONE, "18 sold")],
    )  # fmt: skip
    rows = (listed(id="al-1"), listed(**other))
    made.on.answers[RISK_ALERTS] = SimpleNamespace(risk_alerts=rows)
    await made.turn(alert)
    text = "sold in part, the rest follows: 18 sold" if is_part else "sold: 18 sold"
    assert made.alert.detail == text
    assert made.alert.state is (AlertState.PENDING if is_part else AlertState.EXECUTED)
    assert made.is_listed is is_part
    assert len(made.calls(END_RISK_ALERT)) == (not is_part)


async def test_the_rest_of_a_part_is_a_second_sale_under_a_second_name(
    work: Callable[..., Work],
) -> None:
    alert = alert_of(venue=Venue.EVM)
    made = work(Micros(40 * ONE), alert=alert, wallet={"live": True}, ends=[(TicketState.SENT, "")])
    with_tickets(made, ticket_of(state=TicketState.DONE, settled_at=Timestamp(START)))
    at = {"breached_at": moment_of(START - 60), "expires_at": moment_of(START + 3_540)}
    made.on.answers[RISK_ALERTS] = SimpleNamespace(risk_alerts=(listed(**at),))
    await made.turn(alert)
    assert made.sold == []
    await made.on.clock.advance(AGAIN_S)
    await made.turn(alert)
    ((ticket, order, _),) = made.sold
    assert (ticket.ticket_id, order.shares) == (f"{NAME}.2", 12 * ONE)
    assert made.opened[0][1] == f"alert:{NAME}:2"
    assert (made.alert.ticket_id, made.alert.attempts) == (f"{NAME}.2", 2)


# -- what is never sold ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("other", "alert", "why"),
    [
        ({}, alert_of(managed=True), BY_SERVICE),
        ({"executes": False}, alert_of(), BY_HOLDER),
        ({"service": {"read_only": True}}, alert_of(), BY_HOLDER),
        ({"service": {"phase": Phase.UNAUTHORIZED}}, alert_of(), "API key rejected"),
        ({"service": {"phase": Phase.OFFLINE}}, alert_of(), ""),
        ({"service": {"embedded": False}}, alert_of(), ""),
        ({"service": {"embedded": True}}, alert_of(venue=Venue.EVM), ""),
        (
            {"service": {"embedded": False}, "wallet": {"live": False}},
            alert_of(venue=Venue.EVM),
            "live trading is off, evm_venue is a real venue",
        ),
        (
            {"service": {"embedded": False}, "wallet": {"live": True}},
            alert_of(venue=Venue.EVM),
            "",
        ),
    ],
)
def test_whose_exit_an_alert_is(
    work: Callable[..., Work], other: dict[str, Any], alert: AlertView, why: str
) -> None:
    made = work(alert=alert, **other)
    made.exits.take([alert])
    assert made.exits._idle() == ([] if why else [alert])
    made.exits.exit_now(ExitAlert("al-7"))
    assert made.on.words == ([("warn", why)] if why else [])


def test_an_exit_by_hand_of_an_alert_that_is_not_listed_says_so(
    work: Callable[..., Work],
) -> None:
    made = work()
    made.exits.take([alert_of(alert_id="al-8")])
    made.exits.exit_now(ExitAlert("al-7"))
    assert made.on.words == [("warn", "alert no longer pending")]
    # The newest listing counts, not what an earlier one had.
    made.exits.take([alert_of()])
    assert [one.alert_id for one in made.exits._idle()] == ["al-7"]


def test_a_closing_desk_begins_no_exit(work: Callable[..., Work]) -> None:
    made = work()
    made.exits.take([alert_of()])
    made.exits.close()
    assert made.exits._idle() == []


def test_an_alert_that_is_worked_on_is_not_taken_a_second_time(work: Callable[..., Work]) -> None:
    made = work()
    made.exits.take([alert_of(), alert_of(alert_id="al-8")])
    made.exits._busy.add("al-7")
    assert made.exits.is_busy
    assert [one.alert_id for one in made.exits._idle()] == ["al-8"]


async def test_the_end_of_one_exit_leaves_the_others_at_work_and_each_word_counts_once(
    work: Callable[..., Work],
) -> None:
    made = work(Micros(0))
    made.exits._busy |= {"al-7", "al-8"}
    await made.turn(alert_of(), by_hand=True)
    assert made.exits._busy == {"al-8"}
    assert made.exits._by_hand == set()


@pytest.mark.parametrize(
    ("after_s", "skew_s", "is_over"),
    [
        (3_539, None, False), (3_540, None, True), (3_540, 5.0, False), (3_545, 5.0, True),
        (3_540, -5.0, True),
    ],
)  # fmt: skip
async def test_no_exit_begins_once_the_alerts_hour_has_passed_by_the_services_clock(
    work: Callable[..., Work], after_s: float, skew_s: float | None, *, is_over: bool
) -> None:
    made = work(ends=[(TicketState.SENT, "")])
    cast("Any", made.on.ports.client).skew_s = skew_s
    await made.on.clock.advance(after_s)
    await made.turn(alert_of())
    assert len(made.sold) == (not is_over)
    assert made.is_listed is not is_over
    if is_over:
        assert (made.alert.state, made.alert.detail) == (AlertState.EXPIRED, EXPIRED_TEXT)


async def test_an_alert_whose_exits_failed_until_its_hour_passed_was_missed(
    work: Callable[..., Work],
) -> None:
    made = work()
    with_tickets(made, ticket_of(state=TicketState.FAILED, settled_at=Timestamp(START)))
    await made.on.clock.advance(3_540)
    await made.turn(alert_of())
    assert (made.alert.state, made.alert.detail) == (AlertState.MISSED, EXPIRED_TEXT)
    assert (made.sold, made.alert.attempts) == ([], 1)


# -- after a failure -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("tries", "pause_s"), [(1, AGAIN_S), (2, 20), (3, 40), (5, 160), (6, AGAIN_MAX_S)]
)
async def test_a_refused_exit_is_tried_again_after_a_pause_that_doubles(
    work: Callable[..., Work], tries: int, pause_s: float
) -> None:
    made = work(ends=[(TicketState.REFUSED, "no orders now")])
    with_tickets(
        made,
        *(
            ticket_of(number, state=TicketState.REFUSED, settled_at=Timestamp(START))
            for number in range(1, tries + 1)
        ),
    )
    await made.on.clock.advance(pause_s - 1)
    await made.turn(alert_of())
    assert made.sold == []
    await made.on.clock.advance(1)
    await made.turn(alert_of())
    assert [one.ticket_id for one, _, _ in made.sold] == [f"{NAME}.{tries + 1}"]
    assert (made.alert.state, made.alert.detail, made.alert.attempts) == (
        AlertState.FAILED, "not sold yet, retrying: no orders now", tries + 1,
    )  # fmt: skip
    assert made.is_listed


async def test_an_exit_by_hand_waits_for_no_pause_and_counts_once(
    work: Callable[..., Work],
) -> None:
    made = work(ends=[(TicketState.REFUSED, "no")])
    with_tickets(made, ticket_of(state=TicketState.REFUSED, settled_at=Timestamp(START)))
    await made.turn(alert_of(), by_hand=True)
    assert len(made.sold) == 1
    await made.turn(alert_of())
    assert len(made.sold) == 1


@pytest.mark.parametrize(
    ("fault", "text"),
    [
        (UnreachableError("away", CALLED), "away (POST /api/sdk/trade)"),
        (ValueError("a name that cannot be sent"), "alert name not usable in an order"),
    ],
)
async def test_a_fault_is_shown_and_leaves_the_alert_for_the_next_turn(
    work: Callable[..., Work], fault: Exception, text: str
) -> None:
    made = work(fault)
    await made.turn(alert_of())
    assert (made.alert.state, made.alert.detail) == (AlertState.FAILED, f"not sold yet: {text}")
    assert (made.sold, made.is_listed, made.exits.is_busy) == ([], True, False)


@pytest.mark.parametrize("state", [AlertState.UNKNOWN, AlertState.EXECUTED])
async def test_a_fault_hides_no_exit_that_was_sent(
    work: Callable[..., Work], state: AlertState
) -> None:
    alert = alert_of(state=state, detail="as it was")
    made = work(UnreachableError("away", CALLED), alert=alert)
    await made.turn(alert_of())
    assert made.alert == alert


async def test_an_exit_that_the_disk_does_not_take_is_not_sent(work: Callable[..., Work]) -> None:
    made = work(fault=StorageError("the disk is full"))
    await made.turn(alert_of())
    assert (made.sold, made.alert.state) == ([], AlertState.FAILED)
    assert made.alert.detail == "not sold yet: the disk is full"


async def test_an_exit_that_stands_on_disk_already_is_not_sent_again(
    work: Callable[..., Work],
) -> None:
    made = work(fault=ClaimedError("done"))
    await made.turn(alert_of())
    assert made.sold == []
    assert (made.alert.state, made.alert.detail) == (
        AlertState.UNKNOWN, "earlier exit found: being looked up",
    )  # fmt: skip
    assert (made.alert.ticket_id, made.is_listed) == ("", True)


# -- an exit without an answer ---------------------------------------------------------------------


async def test_an_exit_in_doubt_is_neither_sent_again_nor_acknowledged(
    work: Callable[..., Work],
) -> None:
    made = with_tickets(work(), ticket_of())
    for by_hand in (False, True):
        await made.turn(alert_of(), by_hand=by_hand)
        assert (made.sold, made.on.asked, made.is_listed) == ([], [], True)
        assert (made.alert.state, made.alert.ticket_id) == (AlertState.UNKNOWN, f"{NAME}.1")
        assert made.alert.detail == "sent, no answer: being looked up, not resent"


@pytest.mark.parametrize("state", [TicketState.UNKNOWN, TicketState.DONE])
async def test_the_last_of_several_exits_says_where_the_alert_is(
    work: Callable[..., Work], state: TicketState
) -> None:
    failed = ticket_of(state=TicketState.FAILED, settled_at=Timestamp(START - 40))
    made = with_tickets(work(Micros(0)), failed, ticket_of(2, state=state))
    await made.turn(alert_of())
    assert made.sold == []
    assert (made.alert.ticket_id, made.alert.attempts) == (f"{NAME}.2", 2)
    is_done = state is TicketState.DONE
    assert made.alert.state is (AlertState.EXECUTED if is_done else AlertState.UNKNOWN)
    assert len(made.calls(END_RISK_ALERT)) == is_done


async def test_an_exit_that_was_found_on_disk_as_done_is_acknowledged_and_not_sold_again(
    work: Callable[..., Work],
) -> None:
    made = work(Micros(0))
    ticket = ticket_of()
    made.rows[ticket.ticket_id] = stored(ticket, StoredState.DONE, '{"outcome": "sold 30"}')
    await made.turn(alert_of())
    assert (made.sold, made.alert.state) == ([], AlertState.EXECUTED)
    assert made.alert.detail == "sold: sold 30"
    assert len(made.calls(END_RISK_ALERT)) == 1


def stored(
    ticket: TicketView, state: StoredState, outcome: str | None = None, sent: str = "{}"
) -> StoredTicket:
    return StoredTicket(
        ticket_id=ticket.ticket_id, at=ticket.opened_at, kind=ticket.kind,
        subject=ticket.market_id, venue=None, amount_micros=0, client_ref=ticket.client_ref,
        body=json.dumps({"sent": sent}), state=state, outcome=outcome, sent_at=None,
        settled_at=START,
    )  # fmt: skip


async def test_a_lost_exit_is_closed_by_hand_and_then_sold_anew(work: Callable[..., Work]) -> None:
    made = with_tickets(
        work(ends=[(TicketState.SENT, "")]), ticket_of(state=TicketState.UNKNOWN, outcome=NO_TRACE)
    )
    await made.turn(alert_of())
    assert made.alert.detail == f"{NO_TRACE}: check the position, then exit again"
    assert made.sold == []
    await made.turn(alert_of(), by_hand=True)
    assert made.on.written == [(f"{NAME}.1", StoredState.FAILED, made.on.written[0][2], START)]
    assert f"{NO_TRACE}; retried by you" in str(made.on.written[0][2])
    assert [one.ticket_id for one, _, _ in made.sold] == [f"{NAME}.2"]


async def test_a_sale_of_long_ago_under_a_position_is_not_this_alerts(
    work: Callable[..., Work],
) -> None:
    for opened_at, sold in ((START - 60 - ALERT_LIFE_S, 0), (START - 61 - ALERT_LIFE_S, 1)):
        made = work(Micros(30 * ONE), ends=[(TicketState.SENT, "")])
        done = ticket_of(
            state=TicketState.DONE, opened_at=Timestamp(opened_at), settled_at=Timestamp(START)
        )
        with_tickets(made, done)
        await made.turn(alert_of())
        assert len(made.sold) == sold


REQUEST = TradeRequest(
    market_id="m-4", side=Side.NO, action=Action.SELL, amount=0, shares=30.0, venue=Venue.SIM
)


@pytest.mark.parametrize(
    ("wait_s", "service", "other", "is_repeated"),
    [
        (REPEAT_S, {}, {}, True),
        (REPEAT_S - 1, {}, {}, False),
        (REPEAT_S, {"embedded": False}, {}, False),
        (REPEAT_S, {"lookup_problem": "no list of trades"}, {}, False),
        (REPEAT_S, {}, {"sent_at": Timestamp(START + 1)}, False),
        (3_540, {}, {}, False),
    ],
)
async def test_an_exit_in_doubt_is_repeated_under_its_own_key_when_no_look_up_found_it(
    work: Callable[..., Work],
    monkeypatch: pytest.MonkeyPatch,
    *,
    wait_s: float,
    service: dict[str, Any],
    other: dict[str, Any],
    is_repeated: bool,
) -> None:
    made = work(service=service)
    answered: list[tuple[TicketView, PlaceTrade, object]] = []

    async def take_answer(_: object, ticket: TicketView, order: PlaceTrade, body: object) -> None:
        answered.append((ticket, order, body))

    monkeypatch.setattr(exits, "take_answer", take_answer)
    ticket = ticket_of(**other)
    with_tickets(made, ticket)
    made.rows[ticket.ticket_id] = stored(ticket, StoredState.SENT, sent=REQUEST.model_dump_json())
    made.on.answers[PLACE_TRADE] = "the answer"
    await made.turn(alert_of())
    await made.on.clock.advance(wait_s)
    await made.turn(alert_of())
    repeated = Asked(PLACE_TRADE, body=REQUEST, idempotency_key=f"{NAME}.1")
    assert made.calls(PLACE_TRADE) == ([repeated] if is_repeated else [])
    assert (made.sold, made.opened) == ([], [])
    if is_repeated:
        ((settled, order, body),) = answered
        assert (settled, body) == (ticket, "the answer")
        assert (order.shares, order.side, order.action) == (30 * ONE, Side.NO, Action.SELL)


async def test_an_exit_that_cannot_be_read_back_is_not_repeated(work: Callable[..., Work]) -> None:
    made = with_tickets(work(), ticket_of())
    made.rows[f"{NAME}.1"] = stored(ticket_of(), StoredState.SENT, sent="[]")
    await made.turn(alert_of())
    await made.on.clock.advance(REPEAT_S)
    await made.turn(alert_of())
    assert (made.on.asked, made.alert.state) == ([], AlertState.UNKNOWN)


async def test_an_exit_that_was_signed_is_never_repeated(
    work: Callable[..., Work], monkeypatch: pytest.MonkeyPatch
) -> None:
    alert = alert_of(venue=Venue.EVM)
    for is_linked in (True, False):
        made = with_tickets(work(alert=alert, wallet={"live": True}), ticket_of())
        wallet = type(made.on.state.wallet)
        monkeypatch.setattr(wallet, "is_linked", property(lambda _, so=is_linked: so))
        made.rows[f"{NAME}.1"] = stored(
            ticket_of(), StoredState.SENT, sent=REQUEST.model_dump_json()
        )
        made.on.answers[PLACE_TRADE] = UnreachableError("away", CALLED)
        await made.turn(alert)
        await made.on.clock.advance(REPEAT_S)
        await made.turn(alert)
        assert len(made.calls(PLACE_TRADE)) == (not is_linked)
        assert made.alert.state is AlertState.UNKNOWN


async def test_work_begins_with_a_listing_and_again_with_a_word_or_an_orders_end(
    work: Callable[..., Work],
) -> None:
    made = work(None)
    async with asyncio.TaskGroup() as tasks:
        task = tasks.create_task(made.exits.run())
        for number, wake in enumerate(
            (
                lambda: made.exits.take([alert_of()]),
                lambda: made.exits.exit_now(ExitAlert("al-7")),
                made.exits.wake,
            ),
            1,
        ):
            await settled()
            assert len(made.asked_held) == number - 1
            wake()
            await settled()
            assert len(made.asked_held) == number
        task.cancel()


async def settled() -> None:
    """Give tasks and the thread that reads the disk their turns."""
    for _ in range(12):
        await asyncio.sleep(0.0005)


async def test_an_answer_to_a_repeated_exit_counts_only_while_nobody_else_found_it(
    work: Callable[..., Work], monkeypatch: pytest.MonkeyPatch
) -> None:
    made = with_tickets(work(Micros(0)), ticket_of())
    made.rows[f"{NAME}.1"] = stored(ticket_of(), StoredState.SENT, sent=REQUEST.model_dump_json())

    async def take_answer(*_: object) -> None:
        raise AssertionError("it has an end already")

    async def call(endpoint: object, **_: object) -> SimpleNamespace:
        if endpoint is PLACE_TRADE:
            done = ticket_of(state=TicketState.DONE, outcome="found", settled_at=Timestamp(START))
            with_tickets(made, done)
        return SimpleNamespace(answer=None)

    monkeypatch.setattr(exits, "take_answer", take_answer)
    await made.turn(alert_of())
    await made.on.clock.advance(REPEAT_S)
    cast("Any", made.on.ports.client).call = call
    await made.turn(alert_of())
    assert (made.alert.state, made.alert.detail) == (AlertState.EXECUTED, "sold: found")
    assert made.sold == []


async def test_an_exit_by_hand_ends_only_a_lost_one_whatever_is_known_of_it(
    work: Callable[..., Work],
) -> None:
    made = with_tickets(work(), ticket_of(outcome="sent, no answer: timeout"))
    await made.turn(alert_of(), by_hand=True)
    assert (made.on.written, made.sold) == ([], [])
    assert made.alert.detail == "sent, no answer: being looked up, not resent"


async def test_a_look_of_a_later_start_begins_to_wait_anew(work: Callable[..., Work]) -> None:
    made = work()
    await made.on.clock.advance(500)
    with_tickets(made, ticket_of())
    made.rows[f"{NAME}.1"] = stored(ticket_of(), StoredState.SENT, sent=REQUEST.model_dump_json())
    made.on.answers[PLACE_TRADE] = UnreachableError("away", CALLED)
    for wait_s, count in ((0.0, 0), (REPEAT_S - 1, 0), (1.0, 1)):
        await made.on.clock.advance(wait_s)
        await made.turn(alert_of())
        assert len(made.calls(PLACE_TRADE)) == count
