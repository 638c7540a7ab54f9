"""What the desk does with a command and a fact, one method at a time."""

import asyncio
import random
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from kit.one_method import Self, called
from kit.samples.desk import NOW, sample_state
from service_tui.client.errors import Called, UnreachableError
from service_tui.clock import ManualClock
from service_tui.desk import desk as desk_module
from service_tui.desk.changes import Changed
from service_tui.desk.commands.agents import ApproveHeld
from service_tui.desk.commands.halt import Halt
from service_tui.desk.commands.risk import ExitAlert
from service_tui.desk.commands.settings import SetStar
from service_tui.desk.commands.trading import PlaceTrade, RequestQuote
from service_tui.desk.desk import (
    HELD_BACK_S,
    IN_FLIGHT_MAX,
    INBOX_MAX,
    PROBE_S,
    RECONCILE_OLD_S,
    RECONCILE_S,
    SAVE_S,
    SEND_WITHIN_S,
    Desk,
)
from service_tui.desk.facts import LookedUp, Noticed, PreferenceSet, WorldSeen
from service_tui.desk.feed.pollers import READINGS
from service_tui.desk.ports import DeskContext
from service_tui.desk.reasons import HALTED
from service_tui.desk.slices.halt import HaltView
from service_tui.desk.slices.risk import AlertsSeen
from service_tui.desk.slices.service import Phase
from service_tui.desk.slices.tickets import TicketState, TicketView
from service_tui.desk.slices.topics import Topic
from service_tui.desk.tickets import Ticket
from service_tui.desk.vault import Vault
from service_tui.signing.policy import SigningPolicy
from service_tui.terms import Action, Side, Venue
from service_tui.units import ONE, Micros, Timestamp

STATE = replace(sample_state(6), tickets=())
BUY = PlaceTrade(
    "m-1", Side.NO, Action.BUY, Venue.EVM, Micros(20 * ONE), shares=Micros(3), question="Rain?",
    price=0.4, rests=True,
)  # fmt: skip
SALE = replace(BUY, action=Action.SELL)
STAR = SetStar("m-1", on=True)
VIEW = TicketView("k-1", "trade", "m-1", "buy NO", TicketState.QUEUED, Timestamp(NOW - 1))


def desk(**other: Any) -> Self:
    """A desk, of which a test gives what its method looks at."""
    gate = Self(why_not=lambda _: "")
    given: dict[str, Any] = {
        "_state": STATE, "_clock": ManualClock(NOW), "_count": 0, "_closing": False,
        "_running": {}, "_tickets": {}, "_inbox": asyncio.Queue(INBOX_MAX),
        "_settled": asyncio.Event(), "_slots": asyncio.Semaphore(2), "_began": 0.0,
        "_new_id": lambda: "k-7", "_halting": Self(), "_registry": Self(), "_memory": Self(),
        "_supervision": Self(actions=Self(), close=done), "_wallet": Self(is_busy=False),
        "_exits": Self(is_busy=False), "_reactor": Self(is_busy=False),
        "_prices": Self(look=lambda *_: ()), "_changed": asyncio.Event(),
        "_refreshes": {topic: asyncio.Event() for topic in Topic},
        "ports": Self(gate=gate, client=Self()),
    }  # fmt: skip
    return Self(**{**given, **other})


async def done(*_: object, **__: object) -> None:
    """Whatever it was."""


def ticket(command: Any = BUY, **view: Any) -> Ticket:
    return Ticket(command, replace(VIEW, **view))


# -- a desk is made -------------------------------------------------------------------------------


def made(state: Any = STATE, **other: Any) -> tuple[Desk, DeskContext]:
    """A desk of its own parts, beside a service and a disk that nobody asks anything."""
    around = DeskContext(
        client=cast("Any", SimpleNamespace(base_url="http://x", skew_s=None)),
        database=cast("Any", SimpleNamespace(path=Path("nowhere") / "desk.db")),
        clock=ManualClock(NOW), new_id=lambda: "k-7", rng=random.Random(1), **other,
    )  # fmt: skip
    nothing: Any = SimpleNamespace()
    return Desk(state, around, nothing, nothing), around


@pytest.mark.parametrize("executes", [True, False])
@pytest.mark.parametrize("signs", [True, False])
async def test_a_desk_exits_and_signs_only_where_that_is_its_own_task(
    *, executes: bool, signs: bool
) -> None:
    one, _ = made(executes=executes, signs=signs)
    assert one._wallet._may_sign.is_set() is (executes and signs)
    assert one._exits._executes is executes


async def test_the_parts_of_a_desk_have_the_outside_that_it_was_given() -> None:
    one, around = made(vault=Vault(), policy=SigningPolicy(), notes=Path("notes"))
    for name in ("client", "clock", "new_id", "vault", "policy", "notes", "renew"):
        assert getattr(one.ports, name) is getattr(around, name)
    assert one.folder == Path("nowhere")
    one.ports.emit(PreferenceSet("theme", "day"))
    assert one.state.preferences["theme"] == one.ports.state().preferences["theme"] == "day"
    # What has waited for its turn is looked at once more where it leaves.
    one.ports.gate.close()
    assert around.client.last_word == one.ports.gate.last_word
    ticket = one.submit(BUY)
    assert ticket.view.state is TicketState.REFUSED
    assert one.submit(STAR).view.state is TicketState.QUEUED


async def test_a_halt_that_was_kept_holds_before_anything_runs() -> None:
    one, _ = made(replace(STATE, halt=HaltView(since=Timestamp(NOW - 9))))
    assert one.ports.gate.is_closed
    assert one.state.halt is not None
    assert (one.state.halt.since, one.state.halt.missing > 0) == (NOW - 9, True)
    assert one.submit(BUY).view.state is TicketState.REFUSED


async def test_so_many_orders_are_carried_out_at_once_and_no_more() -> None:
    one, _ = made()
    one._settled.set()
    under_way: list[Ticket] = []
    end = asyncio.Event()

    async def carry_out(given: Ticket) -> None:
        under_way.append(given)
        await end.wait()

    one._registry = cast("Any", SimpleNamespace(carry_out=carry_out))
    tickets = [Ticket(SALE, replace(VIEW, ticket_id=f"k-{n}")) for n in range(IN_FLIGHT_MAX + 2)]
    async with asyncio.TaskGroup() as tasks:
        for one_ticket in tickets:
            tasks.create_task(one._carry_out(one_ticket))
        for _ in range(4):
            await asyncio.sleep(0)
        assert under_way == tickets[:IN_FLIGHT_MAX]
        end.set()
    assert under_way == tickets


# -- a command comes ------------------------------------------------------------------------------


async def test_an_order_is_a_row_with_all_that_it_says_and_waits_for_its_turn() -> None:
    it = desk()
    made = called(Desk.submit, it, BUY)
    view = TicketView(
        "k-7", "trade", "m-1", BUY.describe(), TicketState.QUEUED, NOW, question="Rain?",
        amount=Micros(20 * ONE), holding=BUY.holding, shares=Micros(3), venue=Venue.EVM, limit=0.4,
    )  # fmt: skip
    assert (made.command, made.view) == (BUY, view)
    assert it._inbox.get_nowait() is made
    assert it._tickets == {"k-7": made}
    assert it.did == [("_emit", Changed(view))]
    assert it._supervision.actions.did == [("on_command", BUY)]
    assert it._count == 1
    market = called(Desk.submit, desk(), replace(BUY, rests=False))
    assert market.view.limit is None


async def test_another_command_waits_without_a_row() -> None:
    it = desk()
    made = called(Desk.submit, it, STAR)
    assert (made.view.kind, made.view.market_id, it.did, it._tickets) == ("star", "", [], {})
    assert it._inbox.qsize() == 1


async def test_a_halt_is_done_before_anything_else_and_ends_what_waits_to_enter() -> None:
    it = desk(_closing=True)
    made = called(Desk.submit, it, Halt())
    assert it._halting.did == [("halt",)]
    assert it.did == [("_end_entries",)]
    assert (made.view.state, it._inbox.qsize()) == (TicketState.DONE, 0)


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"ports": Self(gate=Self(why_not=lambda _: "halted"))}, "halted"),
        ({"_closing": True}, "the desk is closing"),
        ({"_running": dict.fromkeys(range(INBOX_MAX))}, "too many commands at once"),
    ],
)
async def test_a_command_that_cannot_go_fails_at_once(changes: dict[str, Any], why: str) -> None:
    it = desk(**changes)
    made = called(Desk.submit, it, BUY)
    assert it.did == [("_fail", made, why)]
    assert (it._inbox.qsize(), it._tickets) == (0, {})


async def test_the_last_place_of_the_inbox_is_one() -> None:
    it = desk(_running=dict.fromkeys(range(INBOX_MAX - 1)))
    called(Desk.submit, it, STAR)
    assert (it.did, it._inbox.qsize()) == ([], 1)
    called(Desk.submit, it, STAR)
    assert it.did[-1][2] == "too many commands at once"


# -- its turn -------------------------------------------------------------------------------------


class Turn:
    """A desk on which commands are carried out; time passes while one waits."""

    def __init__(self, **other: Any) -> None:
        self.carried: list[Ticket] = []
        self.waited: list[float] = []
        self.it = desk(**other)
        self.it._registry.carry_out = self.carry_out
        self.it._either = self.either
        self.it._held_s = lambda: 3.0
        self.it._held_back = lambda _: ""

    async def carry_out(self, one: Ticket) -> None:
        self.carried.append(one)

    async def either(self, event: asyncio.Event, seconds: float) -> None:
        assert event is self.it._settled
        self.waited.append(seconds)

    async def take(self, one: Ticket) -> None:
        await called(Desk._carry_out, self.it, one)


async def test_what_needs_no_turn_is_carried_out_at_once() -> None:
    turn, star = Turn(), ticket(STAR)
    await turn.take(star)
    assert (turn.carried, turn.waited, star.has_begun) == ([star], [], False)


async def test_a_buy_waits_for_what_an_earlier_run_left_unknown_and_a_sale_does_not() -> None:
    for order, held_s, waited in ((BUY, 3.0, [3.0]), (BUY, 99.0, [SEND_WITHIN_S]),
                                  (BUY, -5.0, [0.0]), (SALE, 3.0, [])):  # fmt: skip
        turn, one = Turn(), ticket(order)
        turn.it._held_s = lambda held_s=held_s: held_s
        await turn.take(one)
        assert (turn.waited, turn.carried, one.has_begun) == (waited, [one], True)


async def test_each_command_has_a_task_of_its_own_and_a_newer_question_ends_the_one_before() -> (
    None
):
    it = desk()
    begun: list[Any] = []
    cancelled: list[Any] = []
    ended: list[Any] = []

    async def fenced(one: Ticket) -> None:
        begun.append(one)
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            cancelled.append(one)
            raise

    it._fenced, it._ended = fenced, lambda one, _: ended.append(one)
    asked = [ticket(RequestQuote(number, BUY), ticket_id=f"q-{number}") for number in range(3)]
    given = [ticket(ticket_id="k-1"), *asked, ticket(SALE, ticket_id="k-2")]
    for one in given:
        it._inbox.put_nowait(one)
    async with asyncio.TaskGroup() as tasks:
        dispatch = tasks.create_task(called(Desk._dispatch, it, tasks))
        for _ in range(6):
            await asyncio.sleep(0)
        assert it._running == {one.view.ticket_id: one for one in given}
        # A question that another follows may end before it has begun.
        assert begun == [given[0], asked[2], given[4]]
        assert ended == asked[:2]
        assert cancelled == []
        asks = ticket(RequestQuote(9, SALE), ticket_id="q-9")
        it._inbox.put_nowait(asks)
        for _ in range(6):
            await asyncio.sleep(0)
        assert cancelled == [asked[2]]
        assert (begun[-1], ended) == (asks, asked)
        dispatch.cancel()
        for task in asyncio.all_tasks() - {asyncio.current_task()}:
            task.cancel()


async def test_what_a_halt_has_ended_meanwhile_is_not_carried_out() -> None:
    turn, one = Turn(), ticket(state=TicketState.REFUSED)
    await turn.take(one)
    assert (turn.carried, turn.waited) == ([], [])
    turn, one = Turn(), ticket()

    async def halt(*_: object) -> None:
        one.update(replace(one.view, state=TicketState.REFUSED))

    turn.it._either = halt
    await turn.take(one)
    assert (turn.carried, one.has_begun, turn.it.did) == ([], False, [])


@pytest.mark.slow
async def test_a_buy_that_is_held_back_or_waited_too_long_is_not_sent() -> None:
    turn, one = Turn(), ticket()
    turn.it._held_back = lambda _: "still looking"
    await turn.take(one)
    assert (turn.carried, turn.it.did) == ([], [("_fail", one, "still looking")])
    for waited_s, goes in ((SEND_WITHIN_S, True), (SEND_WITHIN_S + 0.1, False)):
        turn, one = Turn(), ticket()

        async def wait(*_: object, turn: Turn = turn, waited_s: float = waited_s) -> None:
            turn.it._clock.set(turn.it._clock.now() + waited_s)

        turn.it._either = wait
        await turn.take(one)
        assert bool(turn.carried) is goes
        failed = [] if goes else [("_fail", one, "waited too long behind earlier orders")]
        assert turn.it.did == failed


@pytest.mark.parametrize(
    ("command", "state", "ends"),
    [
        (BUY, TicketState.SENT, "unknown"),
        (BUY, TicketState.QUEUED, "fails"),
        (BUY, TicketState.DONE, "told"),
        (STAR, TicketState.QUEUED, "told"),
    ],
)
async def test_a_fault_ends_its_command_alone_and_what_may_have_left_stays_unknown(
    command: Any, state: TicketState, ends: str
) -> None:
    it, one = desk(), ticket(command, state=state)

    async def fail(_: object) -> None:
        raise KeyError("secret")

    it._carry_out = fail
    await called(Desk._fenced, it, one)
    text = str(it.did[-1])
    assert "a fault in the program (KeyError" in text
    assert "secret" not in text
    first = it.did[0]
    if ends == "unknown":
        assert first[1].row.state is TicketState.UNKNOWN
        assert [type(args[0]) for _, *args in it.did] == [Changed, Noticed]
    elif ends == "fails":
        assert [name for name, *_ in it.did] == ["_fail"]
    else:
        assert [type(args[0]) for _, *args in it.did] == [Noticed]
        assert first[1].text.startswith("buy NO: a fault")


def test_a_halt_ends_the_entries_that_wait_and_nothing_that_has_begun() -> None:
    waits, begun, sale, sent = ticket(), ticket(), ticket(SALE), ticket(state=TicketState.SENT)
    begun.has_begun = True
    why = {BUY: "halted", SALE: ""}
    it = desk(
        _tickets=dict(enumerate((waits, begun, sale, sent))),
        ports=Self(gate=Self(why_not=lambda command: why[command])),
    )
    called(Desk._end_entries, it)
    assert it.did == [("_fail", waits, "halted")]


@pytest.mark.parametrize("halted", [True, False])
def test_a_command_that_never_left_ends_with_its_reason(*, halted: bool) -> None:
    it, one = desk(ports=Self(gate=Self(why_not=lambda _: "x" if halted else ""))), ticket()
    called(Desk._fail, it, one, "too many")
    view = replace(
        VIEW, state=TicketState.REFUSED if halted else TicketState.FAILED, settled_at=NOW,
        outcome="too many; nothing sent", fix=HALTED.fix if halted else "",
    )  # fmt: skip
    assert one.view == view
    told = ("_emit", Noticed("bad", "buy NO: too many; nothing sent"))
    assert it.did == [("_emit", Changed(view)), told]
    it, one = desk(), ticket(STAR)
    called(Desk._fail, it, one, "too many")
    assert it.did == [told]


async def test_a_command_whose_task_ended_releases_who_waits() -> None:
    for command, state, fails in ((BUY, TicketState.QUEUED, 1), (BUY, TicketState.SENT, 0),
                                  (STAR, TicketState.QUEUED, 0)):  # fmt: skip
        one = ticket(command, state=state)
        it = desk(_running={"k-1": one, "k-2": one})
        called(Desk._ended, it, one, None)
        assert list(it._running) == ["k-2"]
        assert it.did == [("_fail", one, "the desk was closed")] * fails
        assert await one.wait() == one.view


# -- held back ------------------------------------------------------------------------------------


def test_buys_are_held_back_until_unknown_orders_were_looked_up_or_for_a_minute() -> None:
    it = desk()
    it._clock.set(it._clock._start + 10.4)
    it._held_s = lambda: called(Desk._held_s, it)
    assert called(Desk._held_s, it) == pytest.approx(HELD_BACK_S - 10.4)
    assert called(Desk._unsettled, it) == (
        "earlier order still being looked up: buys are possible in 50 s at the latest"
    )
    it._clock.set(it._clock._start + HELD_BACK_S)
    assert called(Desk._unsettled, it) == ""
    early = desk()
    early._held_s = lambda: 50.0
    early._settled.set()
    assert called(Desk._unsettled, early) == ""


def test_a_buy_goes_after_a_minute_with_a_word_on_what_is_still_unknown() -> None:
    unknown = replace(VIEW, ticket_id="u", what="buy YES", state=TicketState.UNKNOWN)
    state = replace(STATE, tickets=(replace(VIEW, state=TicketState.SENT), unknown))
    it = desk(_state=state)
    it._unsettled = lambda: ""
    assert called(Desk._held_back, it, BUY) == ""
    text = "buy YES is still unknown: its amount stays reserved"
    assert it.did == [("_emit", Noticed("warn", text))]
    it.did.clear()
    it._unsettled = lambda: "still looking"
    assert called(Desk._held_back, it, BUY) == "still looking"
    assert called(Desk._held_back, it, SALE) == ""
    it._settled.set()
    assert called(Desk._held_back, it, ApproveHeld("h", "x")) == ""
    assert it.did == []


# -- a fact comes ---------------------------------------------------------------------------------


def emitted(fact: Any, after: Any = None, **other: Any) -> tuple[Self, list[Any]]:
    """A desk that has heard a fact which leads to this state."""
    it, seen = desk(**other), list[Any]()
    before = it._state
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(desk_module, "reduce", lambda *given: seen.append(given) or after or given[0])
        called(Desk._emit, it, fact)
    assert it._supervision.actions.did == [("on_fact", before, fact)]
    assert it._wallet.did == [("on_fact", fact)]
    assert it._reactor.did[0][:2] == ("on_fact", before)
    return it, seen


async def test_a_fact_changes_the_state_and_wakes_every_reader() -> None:
    fact, after = Noticed("info", "x"), replace(STATE, stars=frozenset({"x"}))
    it = desk()
    changed = it._changed
    it, seen = emitted(fact, after, _changed=changed)
    assert (it._state, seen) == (after, [(STATE, fact)])
    assert it._reactor.did == [("on_fact", STATE, after, fact)]
    assert changed.is_set()
    assert not it._changed.is_set()
    assert (it.did, it._halting.did, it._exits.did) == ([], [], [])


async def test_news_of_prices_follow_the_fact() -> None:
    looked: list[Any] = []
    prices = Self(look=lambda *given: looked.append(given) or ("one", "two"))
    after = replace(STATE, stars=frozenset({"x"}))
    _, seen = emitted("a fact", after, _prices=prices)
    assert looked == [(STATE, after)]
    assert [fact for _, fact in seen] == ["a fact", "one", "two"]


@pytest.mark.parametrize(
    ("was", "now", "is_back"),
    [(Phase.OFFLINE, Phase.ONLINE, True), (Phase.UNAUTHORIZED, Phase.ONLINE, True),
     (Phase.CONNECTING, Phase.ONLINE, False), (Phase.ONLINE, Phase.ONLINE, False),
     (Phase.OFFLINE, Phase.OFFLINE, False)],
)  # fmt: skip
async def test_a_service_that_is_back_is_read_and_halted_anew(
    was: Phase, now: Phase, *, is_back: bool
) -> None:
    before = replace(STATE, service=replace(STATE.service, phase=was))
    after = replace(STATE, service=replace(STATE.service, phase=now))
    it, _ = emitted("a fact", after, _state=before)
    assert it.did == ([("_refresh_all",)] if is_back else [])
    assert it._halting.did == ([("retry_now",)] if is_back else [])


async def test_waiting_alerts_go_to_the_exits_and_the_world_to_the_halt() -> None:
    it, _ = emitted(AlertsSeen(NOW, ("waiting",), ("ended",), ()))  # type: ignore[arg-type]
    assert it._exits.did == [("take", ("waiting",))]
    it, _ = emitted(WorldSeen("w", ()))  # type: ignore[arg-type]
    assert (it._halting.did, it.did) == ([("on_world",)], [("_end_entries",)])


@pytest.mark.parametrize(
    ("state", "stays"), [(TicketState.SENT, True), (TicketState.UNKNOWN, True),
                         (TicketState.DONE, False), (TicketState.REFUSED, False)],
)  # fmt: skip
async def test_a_ticket_is_followed_to_its_end(state: TicketState, *, stays: bool) -> None:
    one, other = ticket(), ticket()
    row = replace(VIEW, state=state)
    it, _ = emitted(Changed(row), _tickets={"k-1": one, "k-2": other})
    assert one.view == row
    assert other.view == VIEW
    assert ("k-1" in it._tickets) is stays
    assert it._exits.did == []
    exit_row = replace(row, kind=ExitAlert.kind, ticket_id="of nobody here")
    it, _ = emitted(Changed(exit_row), _tickets={"k-1": one})
    assert it._exits.did == [("wake",)]


# -- pace -----------------------------------------------------------------------------------------


def test_reading_all_anew_wakes_every_reading() -> None:
    it = desk()
    called(Desk._refresh_all, it)
    assert it.did == [("_refresh", topic) for topic in READINGS]
    called(Desk._refresh, it, Topic.FLEET)
    assert [topic for topic, event in it._refreshes.items() if event.is_set()] == [Topic.FLEET]


async def test_a_topic_rests_until_its_time_or_until_it_is_woken() -> None:
    it = desk()
    waited: list[Any] = []

    async def either(event: asyncio.Event, seconds: float) -> None:
        waited.append((event, seconds))
        event.set()

    it._either = either
    await called(Desk._rest, it, Topic.FLEET, 5.0)
    event = it._refreshes[Topic.FLEET]
    assert waited == [(event, 5.0)]
    assert not event.is_set()


@pytest.mark.parametrize("is_set", [True, False])
async def test_it_waits_for_an_event_or_so_long(*, is_set: bool) -> None:
    it, event = desk(), asyncio.Event()
    async with asyncio.TaskGroup() as tasks:
        waiting = tasks.create_task(called(Desk._either, it, event, 5.0))
        await it._clock.advance(0)
        await it._clock.advance(4.5)
        assert not waiting.done()
        if is_set:
            event.set()
        await it._clock.advance(0 if is_set else 0.5)
        assert waiting.done()


class Loop:
    """A desk whose pauses pass at once; ends after the states that it is given."""

    def __init__(self, *states: Any, **other: Any) -> None:
        self.left = list(states)
        self.slept: list[float] = []
        self.it = desk(_state=self.left.pop(0), **other)
        self.it._clock.sleep = self.sleep

    async def sleep(self, delay_s: float) -> None:
        self.slept.append(delay_s)
        self.it._clock.set(self.it._clock.now() + delay_s)
        if not self.left:
            raise RuntimeError("over")
        self.it._state = self.left.pop(0)

    async def run(self, method: Any) -> None:
        with pytest.raises(RuntimeError):
            await called(method, self.it)


def phased(phase: Phase, status: int = 0) -> Any:
    service = replace(STATE.service, phase=phase, problem_status=status)
    return replace(STATE, service=service)


@pytest.mark.parametrize(
    ("state", "probes"),
    [(phased(Phase.OFFLINE), 1), (phased(Phase.ONLINE), 0), (phased(Phase.OFFLINE, 403), 0)],
)
async def test_only_a_service_that_is_away_is_probed(state: Any, probes: int) -> None:
    loop, asked = Loop(STATE, state), list[Any]()

    async def call(*given: Any, **more: Any) -> None:
        asked.append((*given, more))

    loop.it.ports.client.call = call
    await loop.run(Desk._probe)
    assert loop.slept == [PROBE_S, PROBE_S]
    assert [more for *_, more in asked] == [{"deadline_s": PROBE_S}] * probes
    assert loop.it.did == [("_refresh_all",)] * probes


async def test_a_probe_without_an_answer_refreshes_nothing() -> None:
    loop = Loop(STATE, phased(Phase.OFFLINE))

    async def call(*_: Any, **__: Any) -> None:
        raise UnreachableError("away", Called("GET", "/x"))

    loop.it.ports.client.call = call
    await loop.run(Desk._probe)
    assert loop.it.did == []


async def test_the_state_is_kept_when_it_is_another_and_copied_each_time() -> None:
    newer = replace(STATE, stars=frozenset({"x"}))
    kept: list[Any] = []
    loop = Loop(STATE, STATE, STATE, newer)

    async def save(state: Any) -> None:
        kept.append(state)

    async def back_up() -> None:
        kept.append("copy")

    loop.it._memory = Self(save=save, back_up=back_up)
    await loop.run(Desk._save)
    assert loop.slept == [SAVE_S] * 4
    assert kept == ["copy", STATE, "copy", "copy", newer]


async def test_unknown_orders_are_looked_up_and_old_ones_more_seldom(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    fresh = replace(VIEW, ticket_id="fresh", state=TicketState.UNKNOWN)
    old = replace(fresh, ticket_id="old")
    sent = replace(VIEW, state=TicketState.SENT)
    looked: list[list[str]] = []
    monkeypatch.setattr(desk_module, "is_overdue", lambda one, _: one.ticket_id == "old")

    async def reconcile(tickets: Any, _: object) -> None:
        looked.append([one.ticket_id for one in tickets])

    monkeypatch.setattr(desk_module, "reconcile", reconcile)
    loop = Loop(*[replace(STATE, tickets=(sent, fresh, old))] * 8)
    await loop.run(Desk._reconcile)
    assert loop.slept == [RECONCILE_S] * 8
    each = int(RECONCILE_OLD_S // RECONCILE_S)
    assert looked == [
        ["fresh", "old"] if turn % each == 0 else ["fresh"] for turn in range(8)
    ]  # fmt: skip
    assert loop.it._settled.is_set()
    assert loop.it.did == []


async def test_what_cannot_be_looked_up_is_told_and_holds_buys_back(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def fail(*_: object) -> None:
        raise UnreachableError("away", Called("GET", "/x"))

    monkeypatch.setattr(desk_module, "reconcile", fail)
    unknown = replace(STATE, tickets=(replace(VIEW, state=TicketState.UNKNOWN),))
    told = replace(unknown, service=replace(STATE.service, lookup_problem="away (GET /x)"))
    loop = Loop(unknown, told)
    await loop.run(Desk._reconcile)
    assert loop.it.did == [("_emit", LookedUp("away (GET /x)"))]
    assert not loop.it._settled.is_set()
    nothing = Loop(STATE)
    await nothing.run(Desk._reconcile)
    assert nothing.it._settled.is_set()


# -- the end --------------------------------------------------------------------------------------


@pytest.mark.parametrize("part", ["_exits", "_reactor", "_wallet", "inbox", "running", "quote"])
async def test_closing_waits_for_all_that_is_under_way_but_a_quote(part: str) -> None:
    it = desk()
    assert not called(Desk._is_busy, it)
    if part == "inbox":
        it._inbox.put_nowait(ticket())
    elif part == "running":
        it._running["k"] = ticket(STAR)
    elif part == "quote":
        it._running["k"] = ticket(RequestQuote(1, BUY))
    else:
        getattr(it, part).is_busy = True
    assert called(Desk._is_busy, it) is (part != "quote")


async def test_closing_begins_nothing_more_and_keeps_everything() -> None:
    steps: list[str] = []

    def step(name: str) -> Any:
        async def take(*_: object) -> None:
            steps.append(name)

        return take

    it = desk(
        _supervision=Self(close=step("supervision"), actions=Self(write=step("log"))),
        _wallet=Self(rest=step("wallet"), close=lambda: steps.append("close wallet")),
        _reactor=Self(flush=step("reactor"), close=lambda: steps.append("close reactor")),
        _exits=Self(close=lambda: steps.append("close exits")),
        _memory=Self(save=step("save")),
    )
    it._is_busy = lambda: False
    await called(Desk.close, it)
    assert it._closing
    assert steps == [
        "close exits", "close reactor", "close wallet", "supervision", "wallet", "reactor", "log",
        "save",
    ]  # fmt: skip


async def test_who_holds_the_directory_signs_with_its_journal(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(desk_module, "ChainRuns", lambda database: ("runs of", database))
    it = desk()
    called(Desk.hold, it, "the directory's")
    assert it._wallet.did == [("sign_with", ("runs of", "the directory's"))]
    assert it._supervision.did == [("hold",)]
    it = desk()
    called(Desk.hold, it, None)
    assert (it._wallet.did, it._supervision.did) == ([("sign_with", None)], [])
