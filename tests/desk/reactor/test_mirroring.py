"""Mirrors one step at a time: what is queued, bought once, reported, deleted or left alone."""

import asyncio
import json
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any, cast

import pytest

from kit.desk.offline import Asked, Offline
from kit.samples.desk import NOW, sample_state
from kit.samples.reactor import reactor
from service_tui.client.errors import (
    Called,
    NotFoundError,
    ReadOnlyError,
    RefusalReason,
    UnreachableError,
)
from service_tui.clock import ManualClock
from service_tui.desk.changes import Changed
from service_tui.desk.commands.reactor import DismissSignal, MirrorAllFrom, MirrorSignal
from service_tui.desk.commands.trading import PlaceTrade
from service_tui.desk.facts import Noticed
from service_tui.desk.reactor import mirroring
from service_tui.desk.reactor.mirror_order import (
    SLACK,
    once_of,
    order_of,
    reaction_of,
    request_of_mirror,
    ticket_id_of,
    ticket_of_mirror,
)
from service_tui.desk.reactor.mirroring import DISMISSED, UNSENT, Mirrors, _Cause
from service_tui.desk.reactor.stored import row_of
from service_tui.desk.reasons import HALTED, Fix, Reason
from service_tui.desk.slices.notices import NoticeKind
from service_tui.desk.slices.reactor import (
    BreakerView,
    Policy,
    SignalsSeen,
    SignalState,
    SignalView,
    WalletChoice,
)
from service_tui.desk.slices.tickets import NO_TRACE, TicketState, TicketView
from service_tui.desk.slices.topics import Topic
from service_tui.desk.trading.sending import end
from service_tui.storage.blotter import Blotter, Intent, StoredState, StoredTicket
from service_tui.storage.errors import BudgetExceededError, ClaimedError, StorageError
from service_tui.terms import Side, Venue
from service_tui.units import ONE, Micros, Timestamp
from service_tui.wire.endpoints.public import DELETE_SIGNAL, POST_REACTION, REACTIONS
from service_tui.wire.reactor import BreakerBody
from service_tui.wire.trades import TradeRequest

WALLET, OTHER = "0x" + "1a" * 20, "0x" + "5c" * 20
CALLED = Called("POST", "/x")
GONE = NotFoundError(RefusalReason("gone", "", ""), CALLED, status=404)
AWAY = UnreachableError("away", CALLED)
AUTO = {WALLET: WalletChoice(WALLET, "ada", Policy.AUTO)}


def signal_of(name: str = "s-1", **other: Any) -> SignalView:
    given: dict[str, Any] = {
        "signal_id": name, "tx_hash": f"tx-{name}", "wallet": WALLET, "label": "ada",
        "market_id": "m-00001", "question": "Will it?", "side": Side.NO, "venue": Venue.SIM,
        "size": Micros(120 * ONE), "price": 0.41, "amount": Micros(8 * ONE), "price_max": 0.44,
        "at": Timestamp(NOW - 5), "expires_at": Timestamp(NOW + 60), "name": f"Event-{name}",
    }  # fmt: skip
    return SignalView(**(given | other))


@dataclass
class Work:
    """A desk that mirrors; an order ends as `ends` says."""

    on: Offline
    ends: list[tuple[TicketState, Reason, object]] = field(default_factory=list)
    sent: list[tuple[TicketView, PlaceTrade, TradeRequest]] = field(default_factory=list)
    opened: list[tuple[Intent, str, list[Any]]] = field(default_factory=list)
    rows: dict[str, StoredTicket] = field(default_factory=dict)
    fault: StorageError | None = None
    held_back: str = ""
    objection: Reason | None = None
    halts: bool = False
    executes: bool = True

    def __post_init__(self) -> None:
        blotter = SimpleNamespace(
            find=self.rows.get, open_ticket=self.open_ticket, settle=self.on._settle
        )
        self.on.ports = replace(self.on.ports, blotter=cast("Blotter", blotter))
        self.mirrors = Mirrors(
            self.on.ports, executes=self.executes, held_back=lambda: self.held_back
        )

    async def open_ticket(
        self, intent: Intent, *, budget: list[Any], once: str, beside: object
    ) -> None:
        if self.fault is not None:
            raise self.fault
        self.opened.append((intent, once, budget))
        assert beside is not None
        if self.halts:
            self.on.ports.gate.close()

    async def send(self, _: object, ticket: TicketView, order: PlaceTrade, body: TradeRequest):  # noqa: ANN201
        self.sent.append((ticket, order, body))
        state, reason, answer = self.ends.pop(0)
        # As the desk does with every ticket that ends.
        self.mirrors.on_ticket(end(self.on.ports, ticket, state, reason))
        return answer

    async def work(self, name: str = "s-1", why: _Cause = _Cause.HAND) -> None:
        await self.mirrors._slots.acquire()
        self.mirrors._working.add(name)
        await self.mirrors._work(name, why)
        assert not self.mirrors.is_busy

    def queued(self) -> list[tuple[str, _Cause]]:
        queue = self.mirrors._queue
        return [queue.get_nowait() for _ in range(queue.qsize())]

    def signal(self, name: str = "s-1") -> SignalView:
        known = self.on.state.reactor.signal(name)
        assert known is not None
        return known

    def calls(self, endpoint: object) -> list[Asked]:
        return [one for one in self.on.asked if one.endpoint is endpoint]


@pytest.fixture
def work(monkeypatch: pytest.MonkeyPatch) -> Callable[..., Work]:
    def make(*signals: SignalView, choices: Any = AUTO, **other: Any) -> Work:
        base = sample_state(12)
        known = reactor(base)
        assert known.config is not None
        config = replace(
            known.config, wallets=(WALLET,), min_size=Micros(ONE), venue=Venue.SIM,
            daily_cap=Micros(500 * ONE),
        )  # fmt: skip
        slice_ = replace(
            known, barred="", config=config, breaker=BreakerView(), choices=choices,
            signals=signals or (signal_of(),), day_spent=Micros(0),
        )  # fmt: skip
        seen = {**base.seen, Topic.REACTOR: NOW}
        limits = replace(base.buy_limits, skill_day_max=None)
        state = replace(base, reactor=slice_, tickets=(), seen=seen, buy_limits=limits)
        answers = {POST_REACTION: SimpleNamespace(breaker=None), DELETE_SIGNAL: None}
        on = Offline(state, answers, clock=ManualClock(NOW))
        made = Work(on, **other)
        monkeypatch.setattr(mirroring, "send", made.send)
        monkeypatch.setattr(mirroring, "preflight", lambda *_: made.objection)
        return made

    return make


def seen(*signals: SignalView) -> SignalsSeen:
    return SignalsSeen(at=NOW, signals=signals)


def bought(shares: float, cost: float) -> SimpleNamespace:
    return SimpleNamespace(
        trade_id="t-9", shares_bought=shares, shares=shares, shares_sold=0.0, cost=cost
    )


DONE = Reason("18.18 shares for 8.00", "")


# -- what is queued --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("state", "ticket_id", "other", "queued"),
    [
        (SignalState.PENDING, "", {}, _Cause.RULE),
        (SignalState.PENDING, "", {"executes": False}, None),
        (SignalState.PENDING, "", {"held_back": "halted"}, None),
        (SignalState.PENDING, "", {"choices": {}}, None),
        (
            SignalState.PENDING,
            "",
            {"choices": {OTHER: WalletChoice(OTHER, "bob", Policy.AUTO)}},
            None,
        ),
        (SignalState.SKIPPED, "", {}, None),
        (SignalState.MIRRORING, "t", {}, None),
        (SignalState.MIRRORED, "t", {}, _Cause.END),
        (SignalState.FAILED, "t", {"executes": False}, _Cause.END),
        (SignalState.FAILED, "", {}, None),
    ],
)
def test_a_listed_signal_is_mirrored_finished_or_left(
    work: Callable[..., Work],
    state: SignalState,
    ticket_id: str,
    other: dict[str, Any],
    *,
    queued: _Cause | None,
) -> None:
    one = signal_of(state=state, ticket_id=ticket_id)
    made = work(one, **other)
    made.mirrors.take(seen(one, signal_of("unknown")))
    made.mirrors.take(seen(one))
    assert made.queued() == ([] if queued is None else [("s-1", queued)])


def test_what_is_not_listed_is_not_begun_and_the_order_is_the_listings(
    work: Callable[..., Work],
) -> None:
    one, two, three = (signal_of(name) for name in ("s-1", "s-2", "s-3"))
    made = work(one, two, three)
    made.mirrors.take(seen(three, one))
    assert [name for name, _ in made.queued()] == ["s-3", "s-1"]


@pytest.mark.parametrize(
    ("one", "held_back", "why"),
    [
        (None, "", "signal unknown"),
        (signal_of(), "", ""),
        (signal_of(), "trading is halted", "trading is halted"),
        (signal_of(state=SignalState.SKIPPED), "", ""),
        (signal_of(expires_at=NOW), "", "signal expired"),
        (
            signal_of(state=SignalState.SKIPPED, expires_at=NOW, detail="too dear"),
            "",
            "signal expired: too dear",
        ),
        (
            signal_of(state=SignalState.MIRRORED, ticket_id="t", detail="bought"),
            "",
            "signal already mirrored: bought",
        ),
        (signal_of(state=SignalState.MIRRORING, ticket_id="t"), "", "signal already mirroring"),
    ],
)
def test_a_person_mirrors_what_was_not_tried_and_has_not_expired(
    work: Callable[..., Work], one: SignalView | None, held_back: str, why: str
) -> None:
    made = work(one or signal_of("another"), held_back=held_back)
    order = MirrorSignal("s-1")
    made.mirrors.mirror(order)
    assert made.on.words == ([("warn", f"{order.describe()}: {why}")] if why else [])
    assert made.queued() == ([] if why else [("s-1", _Cause.HAND)])


def test_all_signals_of_one_wallet_are_queued_oldest_first(work: Callable[..., Work]) -> None:
    made = work(
        signal_of("new"), signal_of("other", wallet=OTHER), signal_of("old"),
        signal_of("done", state=SignalState.MIRRORED, ticket_id="t"),
    )  # fmt: skip
    made.mirrors.mirror_all(MirrorAllFrom(WALLET))
    assert made.queued() == [("old", _Cause.HAND), ("new", _Cause.HAND)]


@pytest.mark.parametrize(
    ("wallet", "why"), [(WALLET, "trading is halted"), (OTHER, "no signal pending")]
)
def test_none_of_a_wallet_is_queued_without_signals_or_while_buys_are_held_back(
    work: Callable[..., Work], wallet: str, why: str
) -> None:
    made = work(held_back="trading is halted")
    order = MirrorAllFrom(wallet)
    made.mirrors.mirror_all(order)
    assert made.on.words == [("warn", f"{order.describe()}: {why}")]
    assert made.queued() == []


# -- a mirror --------------------------------------------------------------------------------------


async def test_a_mirror_is_written_down_sent_once_reported_and_deleted(
    work: Callable[..., Work],
) -> None:
    made = work(ends=[(TicketState.DONE, DONE, bought(18.0, 7.8))])
    one = signal_of()
    await made.work()
    ((ticket, order, body),) = made.sent
    assert ticket == ticket_of_mirror(one, NOW)
    # Its amount counts as spent before anything is waited for.
    assert made.on.facts[0] == Changed(ticket)
    assert (order, body) == (order_of(one), request_of_mirror(one))
    ((intent, once, budgets),) = made.opened
    assert (intent.ticket_id, intent.amount_micros, once) == (
        ticket_id_of(one), 8 * ONE, once_of(one),
    )  # fmt: skip
    assert json.loads(json.loads(intent.body)["sent"]) == json.loads(
        body.model_dump_json(exclude_none=True)
    )
    assert budgets[0].max_micros == 500 * ONE
    assert None not in budgets
    ended = made.signal()
    assert (ended.state, ended.ticket_id) == (SignalState.MIRRORED, ticket_id_of(one))
    assert (ended.shares, ended.cost) == (18 * ONE, 7_800_000)
    assert made.on.asked == [
        Asked(POST_REACTION, body=reaction_of(ended, "mirrored", "t-9")),
        Asked(DELETE_SIGNAL, {"signal_id": "Event-s-1"}),
    ]
    assert made.mirrors._finished == {"s-1"}
    # What is finished is neither mirrored nor reported again.
    asked = len(made.on.asked)
    made.mirrors.take(seen(one))
    assert made.queued() == []
    await made.work(why=_Cause.END)
    assert (len(made.sent), len(made.on.asked)) == (1, asked)


async def test_a_mirror_that_failed_is_reported_and_stays_at_the_service(
    work: Callable[..., Work],
) -> None:
    made = work(ends=[(TicketState.FAILED, Reason("no shares for sale", ""), None)])
    made.mirrors._ended_now.add("s-1")
    await made.work()
    ended = made.signal()
    assert ended.state is SignalState.FAILED
    assert made.on.asked == [Asked(POST_REACTION, body=reaction_of(ended, "failed"))]


@pytest.mark.parametrize(
    ("why", "other", "policy", "is_sent"),
    [
        (_Cause.HAND, {}, Policy.ASK, True),
        (_Cause.HAND, {"state": SignalState.SKIPPED}, Policy.ASK, True),
        (_Cause.RULE, {}, Policy.AUTO, True),
        (_Cause.RULE, {}, Policy.ASK, False),
        (_Cause.RULE, {"state": SignalState.SKIPPED}, Policy.AUTO, False),
        (_Cause.END, {}, Policy.AUTO, False),
        (_Cause.HAND, {"expires_at": NOW}, Policy.ASK, False),
        (_Cause.HAND, {"state": SignalState.UNKNOWN}, Policy.ASK, False),
    ],
)
async def test_whether_a_queued_signal_is_still_mirrored_when_its_turn_comes(
    work: Callable[..., Work],
    why: _Cause,
    other: dict[str, Any],
    policy: Policy,
    *,
    is_sent: bool,
) -> None:
    made = work(
        signal_of(**other), choices={WALLET: WalletChoice(WALLET, "ada", policy)},
        ends=[(TicketState.UNKNOWN, Reason("no answer", ""), None)],
    )  # fmt: skip
    await made.work(why=why)
    assert len(made.sent) == is_sent
    closing = work(signal_of(**other), choices=made.on.state.reactor.choices)
    closing.mirrors.close()
    await closing.work(why=why)
    assert closing.sent == []


async def test_a_wallet_off_the_watchlist_is_mirrored_by_hand_alone(
    work: Callable[..., Work],
) -> None:
    off = signal_of(wallet=OTHER)
    choices = {OTHER: WalletChoice(OTHER, "bob", Policy.AUTO)}
    made = work(off, choices=choices)
    await made.work(why=_Cause.RULE)
    assert made.sent == []
    skipped = made.signal()
    assert (skipped.state, skipped.detail) == (SignalState.SKIPPED, "wallet not on the watchlist")
    assert made.on.asked == [Asked(POST_REACTION, body=reaction_of(skipped, "skipped_filter"))]
    made = work(off, choices=choices, ends=[(TicketState.UNKNOWN, Reason("none", ""), None)])
    await made.work(why=_Cause.HAND)
    assert len(made.sent) == 1


async def test_what_keeps_a_mirror_back_is_said_to_a_person_and_else_noted_once(
    work: Callable[..., Work],
) -> None:
    objection = Reason("not enough cash", Fix.WAIT_FOR_ANSWER)
    made = work(objection=objection)
    await made.work(why=_Cause.HAND)
    (notice,) = made.on.told
    what = ticket_of_mirror(signal_of(), NOW).what
    assert notice == Noticed("warn", f"{what}: not enough cash", fix=objection.fix)
    assert made.signal() == signal_of()
    await made.work(why=_Cause.RULE)
    assert made.signal() == signal_of(detail=objection.plain())
    told = len(made.on.facts)
    await made.work(why=_Cause.RULE)
    assert (len(made.on.facts), made.sent, made.opened) == (told, [], [])


async def test_a_halt_while_the_intent_is_written_refuses_the_mirror(
    work: Callable[..., Work],
) -> None:
    made = work(halts=True)
    await made.work()
    assert made.sent == []
    assert made.on.written[0][:2] == (ticket_id_of(signal_of()), StoredState.REFUSED)
    skipped = made.signal()
    assert (skipped.state, skipped.detail, skipped.ticket_id) == (
        SignalState.SKIPPED, HALTED.text, "",
    )  # fmt: skip
    assert made.calls(DELETE_SIGNAL) == []


async def test_a_mirror_that_stands_on_disk_already_is_shown_as_it_ended(
    work: Callable[..., Work],
) -> None:
    one = signal_of()
    made = work(fault=ClaimedError("done"))
    await made.work()
    assert (made.sent, made.signal().state, made.signal().detail) == (
        [], SignalState.SKIPPED, "signal already mirrored",
    )  # fmt: skip
    made = work(fault=ClaimedError("done"))
    made.rows[ticket_id_of(one)] = stored(one, StoredState.UNKNOWN)
    await made.work()
    assert (made.sent, made.signal().state) == ([], SignalState.UNKNOWN)


def stored(one: SignalView, state: StoredState, outcome: str = "it ended") -> StoredTicket:
    ticket = ticket_of_mirror(one, NOW)
    return StoredTicket(
        ticket_id=ticket.ticket_id, at=NOW, kind=ticket.kind, subject=ticket.market_id,
        venue=None, amount_micros=int(ticket.amount), client_ref=ticket.client_ref,
        body=json.dumps({"what": ticket.what}), state=state,
        outcome=json.dumps({"outcome": outcome}), sent_at=NOW,
        settled_at=None if state is StoredState.UNKNOWN else NOW,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("fault", "text"),
    [
        (
            BudgetExceededError(reserved=496 * ONE, requested=8 * ONE, maximum=500 * ONE),
            "daily cap of the reactor: 496.00 of 500.00 used by this desk",
        ),
        (BudgetExceededError(reserved=3 * ONE, requested=8 * ONE, maximum=9 * ONE), ""),
        (StorageError("the disk is full"), ""),
    ],
)
async def test_a_mirror_that_the_disk_does_not_take_is_not_sent(
    work: Callable[..., Work], fault: StorageError, text: str
) -> None:
    made = work(fault=fault)
    await made.work()
    assert made.sent == []
    skipped = made.signal()
    assert (skipped.state, skipped.ticket_id) == (SignalState.SKIPPED, "")
    assert ("daily cap of the reactor" in skipped.detail) is bool(text)
    assert skipped.detail.startswith(text)
    assert made.on.state.tickets[0].settled_at == NOW


@pytest.mark.parametrize(
    ("cost", "is_above"), [(0.44 + SLACK - 1e-5, False), (0.44 + SLACK + 1e-5, True)]
)
async def test_a_fill_above_the_limit_is_said(
    work: Callable[..., Work], cost: float, *, is_above: bool
) -> None:
    made = work(ends=[(TicketState.DONE, DONE, bought(10.0, cost * 10))])
    await made.work()
    loud = [text for tone, text in made.on.words if tone == "bad"]
    assert len(loud) == is_above
    if is_above:
        assert loud[0].endswith(
            "paid 0.4405 per share, above the limit of 0.4400; the service exceeded the limit"
        )


@pytest.mark.parametrize(("shares", "is_above"), [(12.0, False), (12.00001, True)])
async def test_a_fill_of_more_shares_than_the_config_allows_is_said(
    work: Callable[..., Work], shares: float, *, is_above: bool
) -> None:
    made = work(ends=[(TicketState.DONE, DONE, bought(shares, 4.0))])
    config = made.on.state.reactor.config
    assert config is not None
    assert (config.mirror_fraction, config.max_size) == (0.1, 100 * ONE)
    await made.work()
    loud = [text for tone, text in made.on.words if tone == "bad"]
    assert len(loud) == is_above
    if is_above:
        assert loud[0].endswith(
            "bought 12.00001 shares, above the limit of 12.0; the service exceeded the limit"
        )


async def test_an_answer_without_shares_adds_nothing_to_the_signal(
    work: Callable[..., Work],
) -> None:
    made = work(ends=[(TicketState.DONE, DONE, bought(0.0, 7.8))])
    await made.work()
    assert (made.signal().shares, made.signal().cost) == (0, 0)


# -- the end at the service ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("state", "outcome", "is_queued"),
    [
        (TicketState.DONE, "", True),
        (TicketState.FAILED, "", True),
        (TicketState.UNKNOWN, "sent, no answer", False),
        (TicketState.UNKNOWN, NO_TRACE, True),
        (TicketState.SENT, "", False),
    ],
)
def test_the_end_of_a_mirrors_order_is_queued_for_its_report(
    work: Callable[..., Work], state: TicketState, outcome: str, *, is_queued: bool
) -> None:
    one = signal_of(state=SignalState.MIRRORED, ticket_id="t-1")
    made = work(signal_of("s-2"), one)
    ticket = replace(ticket_of_mirror(one, NOW), ticket_id="t-1", state=state, outcome=outcome)
    made.mirrors.on_ticket(replace(ticket, ticket_id="another"))
    assert made.queued() == []
    made.mirrors.on_ticket(ticket)
    assert made.queued() == ([("s-1", _Cause.END)] if is_queued else [])
    assert made.mirrors._unreported == ({"s-1"} if is_queued else set())


async def test_a_report_that_fails_is_made_again_with_the_next_listing_and_then_no_more(
    work: Callable[..., Work],
) -> None:
    made = work(ends=[(TicketState.DONE, DONE, None)])
    made.mirrors._ended_now.add("s-1")
    made.on.answers[POST_REACTION] = [AWAY, SimpleNamespace(breaker=None)]
    made.on.answers[DELETE_SIGNAL] = [AWAY, GONE]
    await made.work()
    assert made.mirrors._finished == set()
    for is_done in (False, True):
        made.mirrors.take(seen(signal_of()))
        assert made.queued() == [("s-1", _Cause.END)]
        made.mirrors._queued.clear()
        await made.work(why=_Cause.END)
        assert (made.mirrors._finished == {"s-1"}) is is_done
    # The report that was taken is not made a third time.
    ends = [one.endpoint for one in made.on.asked]
    assert ends == [POST_REACTION, POST_REACTION, DELETE_SIGNAL, DELETE_SIGNAL]


@pytest.mark.parametrize(
    ("rows", "is_reported"),
    [
        ([("tx-other", "event-S-1")], False),
        ([("tx-s-1", None)], True),
        ([("tx-s-1", "event-of-another")], True),
        ([], True),
        (GONE, True),
    ],
)
async def test_an_end_of_an_earlier_run_is_reported_unless_it_was(
    work: Callable[..., Work], rows: Any, *, is_reported: bool
) -> None:
    one = signal_of(state=SignalState.MIRRORED, ticket_id="t-1", detail="bought 3")
    made = work(one)
    made.on.answers[REACTIONS] = (
        rows
        if isinstance(rows, Exception)
        else SimpleNamespace(
            reactions=[SimpleNamespace(event_tx_hash=tx, signal_id=name) for tx, name in rows]
        )
    )
    await made.work(why=_Cause.END)
    assert len(made.calls(POST_REACTION)) == is_reported
    assert made.calls(DELETE_SIGNAL) == [Asked(DELETE_SIGNAL, {"signal_id": "Event-s-1"})]
    # Nobody may have seen it end.
    assert made.on.told == [
        Noticed("info", "mirror, Will it?, from an earlier run: bought 3", NoticeKind.FILL)
    ]


async def test_a_signal_without_a_name_goes_by_its_transaction(work: Callable[..., Work]) -> None:
    one = replace(signal_of(state=SignalState.MIRRORED, ticket_id="t-1", question=""), name="")
    made = work(one)
    rows = [SimpleNamespace(event_tx_hash="TX-S-1", signal_id=None)]
    made.on.answers[REACTIONS] = SimpleNamespace(reactions=rows)
    await made.work(why=_Cause.END)
    assert made.calls(POST_REACTION) == []
    assert made.calls(DELETE_SIGNAL) == [Asked(DELETE_SIGNAL, {"signal_id": "tx-s-1"})]
    assert made.on.told[0].text.startswith("mirror, m-00001, from an earlier run")


@pytest.mark.parametrize("state", [SignalState.MIRRORING, SignalState.UNKNOWN])
async def test_a_mirror_that_an_earlier_run_left_is_shown_as_the_disk_knows_it(
    work: Callable[..., Work], state: SignalState
) -> None:
    one = signal_of(state=state, ticket_id=ticket_id_of(signal_of()))
    made = work(one, signal_of("s-2"))
    await made.mirrors._resume_earlier()
    assert made.signal() == replace(one, state=SignalState.FAILED, detail=UNSENT)
    assert made.signal("s-2") == signal_of("s-2")

    made = work(one)
    made.rows[one.ticket_id] = stored(one, StoredState.UNKNOWN)
    await made.mirrors._resume_earlier()
    assert (made.signal().state, made.on.told) == (SignalState.UNKNOWN, [])

    made = work(one)
    made.rows[one.ticket_id] = stored(one, StoredState.DONE, "bought 3")
    await made.mirrors._resume_earlier()
    assert made.signal().state is SignalState.MIRRORED
    what = ticket_of_mirror(one, NOW).what
    assert made.on.words == [("info", f"{what}, from an earlier run: bought 3")]
    assert made.mirrors._found_ended == {"s-1"}


# -- dismissed -------------------------------------------------------------------------------------


async def test_a_dismissed_signal_is_skipped_here_and_gone_at_the_service(
    work: Callable[..., Work],
) -> None:
    made = work()
    await made.mirrors.dismiss(DismissSignal("s-1"))
    gone = signal_of(state=SignalState.SKIPPED, detail=DISMISSED)
    assert made.signal() == gone
    assert made.on.asked == [
        Asked(POST_REACTION, body=reaction_of(gone, "skipped_filter")),
        Asked(DELETE_SIGNAL, {"signal_id": "Event-s-1"}),
    ]
    assert made.on.told == []


@pytest.mark.parametrize(
    ("one", "is_working", "how"),
    [
        (signal_of("another"), False, "signal gone"),
        (signal_of(state=SignalState.FAILED), False, "signal failed already"),
        (signal_of(), True, "pending"),
    ],
)
async def test_what_is_gone_ended_or_under_way_is_not_dismissed(
    work: Callable[..., Work], one: SignalView, how: str, *, is_working: bool
) -> None:
    made = work(one)
    if is_working:
        made.mirrors._working.add("s-1")
    order = DismissSignal("s-1")
    await made.mirrors.dismiss(order)
    assert made.on.words == [("warn", f"{order.describe()}: {how}")]
    assert (made.on.asked, made.signal(one.signal_id)) == ([], one)


@pytest.mark.parametrize("fault", [GONE, ValueError("an id that is none")])
async def test_a_report_that_the_service_never_takes_holds_up_no_end(
    work: Callable[..., Work], fault: Exception
) -> None:
    made = work(ends=[(TicketState.DONE, DONE, None)])
    made.on.answers[POST_REACTION] = fault
    await made.work()
    assert made.mirrors._finished == made.mirrors._reported == {"s-1"}
    assert [one.endpoint for one in made.on.asked] == [POST_REACTION, DELETE_SIGNAL]


@pytest.mark.parametrize("fault", [ReadOnlyError("only looks", CALLED), AWAY])
async def test_a_dismissed_signal_that_stays_at_the_service_is_said_so(
    work: Callable[..., Work], fault: Exception
) -> None:
    made = work()
    made.on.answers[POST_REACTION] = fault
    order = DismissSignal("s-1")
    await made.mirrors.dismiss(order)
    text = f"{order.describe()}: still listed by the service until it expires: {AWAY}"
    is_said = fault is AWAY
    assert made.on.told == ([Noticed("warn", text, NoticeKind.SIGNAL)] if is_said else [])
    assert made.signal().state is SignalState.SKIPPED


def test_a_signal_is_stored_with_all_of_its_fields() -> None:
    row = row_of(signal_of(price_now=0.5, shares=Micros(3), cost=Micros(4), ticket_id="t"))
    assert (row["words"], row["side"], row["venue"], row["name"]) == ("", "no", "sim", "Event-s-1")
    assert Changed(signal_of()).row == signal_of()


# -- the loop, and what goes wrong -----------------------------------------------------------------


async def test_signals_are_worked_on_in_their_order_and_only_so_many_at_a_time(
    work: Callable[..., Work], monkeypatch: pytest.MonkeyPatch
) -> None:
    names = [f"s-{number}" for number in range(6)]
    made = work(*(signal_of(name) for name in names))
    begun: list[tuple[str, _Cause]] = []
    go_on = asyncio.Event()

    async def resume() -> None:
        begun.append(("resumed", _Cause.END))

    async def work_on(name: str, why: _Cause) -> None:
        begun.append((name, why))
        await go_on.wait()
        made.mirrors._working.discard(name)
        made.mirrors._slots.release()

    monkeypatch.setattr(made.mirrors, "_work", work_on)
    monkeypatch.setattr(made.mirrors, "_resume_earlier", resume)
    for name in names:
        made.mirrors.mirror(MirrorSignal(name))
    assert not made.mirrors.is_busy
    async with asyncio.TaskGroup() as tasks:
        task = tasks.create_task(made.mirrors.run())
        await turns()
        four = [("resumed", _Cause.END), *((name, _Cause.HAND) for name in names[:4])]
        assert begun == four
        assert made.mirrors.is_busy
        # What is under way or waits is not queued once more.
        made.mirrors.mirror(MirrorSignal(names[0]))
        made.mirrors.mirror(MirrorSignal(names[5]))
        go_on.set()
        await turns()
        assert begun == [*four, *((name, _Cause.HAND) for name in names[4:])]
        assert not made.mirrors.is_busy
        made.mirrors.mirror(MirrorSignal(names[0]))
        await turns()
        assert begun[-1] == (names[0], _Cause.HAND)
        task.cancel()


async def turns() -> None:
    for _ in range(20):
        await asyncio.sleep(0)


async def test_a_disk_that_fails_is_said_and_holds_up_no_other_mirror(
    work: Callable[..., Work], monkeypatch: pytest.MonkeyPatch
) -> None:
    made = work()
    free = made.mirrors._slots._value

    def fails(*_: object) -> None:
        raise StorageError("the disk is full")

    monkeypatch.setattr(mirroring, "cut_to_day", fails)
    await made.work()
    assert made.on.words == [("bad", "reactor: the disk is full")]
    assert made.mirrors._slots._value == free


async def test_a_mirror_waits_while_the_breaker_is_open(work: Callable[..., Work]) -> None:
    made = work()
    state = made.on.state
    breaker = BreakerView(5, 5, NOW, Timestamp(NOW + 60))
    made.on.state = replace(state, reactor=replace(state.reactor, breaker=breaker))
    await made.work()
    assert made.sent == []
    assert made.on.words[0][1].endswith(": circuit breaker open")


async def test_a_mirror_that_the_service_refuses_has_failed_and_is_not_taken_for_a_halt(
    work: Callable[..., Work],
) -> None:
    other = replace(ticket_of_mirror(signal_of("s-2"), NOW), fix=HALTED.fix)
    made = work(ends=[(TicketState.REFUSED, Reason("market closed", "wait"), None)])
    made.on.state = replace(made.on.state, tickets=(other,))
    await made.work()
    assert (made.signal().state, made.signal().detail) == (
        SignalState.FAILED, "market closed — wait",
    )  # fmt: skip
    assert [one.body.decision for one in made.calls(POST_REACTION)] == ["failed"]


async def test_the_breaker_of_a_report_is_shown_by_this_desks_clock(
    work: Callable[..., Work],
) -> None:
    made = work(ends=[(TicketState.FAILED, Reason("no", ""), None)])
    cast("Any", made.on.ports.client).skew_s = 7.0
    paused_at = datetime.fromtimestamp(NOW - 20, UTC)
    body = BreakerBody(
        state="paused", failures=5, failures_max=6, paused_at=paused_at,
        resets_at=datetime.fromtimestamp(NOW + 90, UTC), skipped=3,
    )  # fmt: skip
    made.on.answers[POST_REACTION] = SimpleNamespace(breaker=body)
    await made.work()
    assert made.on.state.reactor.breaker == BreakerView(
        failures=5, failures_max=6, paused_at=Timestamp(NOW - 13),
        resets_at=Timestamp(NOW + 97), skipped=3,
    )  # fmt: skip


def test_an_end_that_is_not_reported_is_queued_with_each_listing_until_the_signal_is_gone(
    work: Callable[..., Work],
) -> None:
    made = work(signal_of(state=SignalState.MIRRORED, ticket_id="t"))
    kept = made.mirrors
    for known in (kept._unreported, kept._ended_now, kept._reported, kept._finished):
        known.update({"s-1", "forgotten"})
    made.mirrors.take(seen())
    assert made.queued() == []
    for known in (kept._unreported, kept._ended_now, kept._reported, kept._finished):
        assert known == {"s-1"}
    kept._finished.clear()
    made.mirrors.take(seen())
    assert made.queued() == [("s-1", _Cause.END)]
