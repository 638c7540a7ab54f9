"""The halt on the desk's floor: the gate, everybody who has to know, the restart and the end."""

import asyncio
import sqlite3
import threading
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager, closing
from dataclasses import dataclass, field, replace
from pathlib import Path

import httpx
import pytest

from kit.desk.faults import (
    Fault,
    at_work,
    breaking,
    buy,
    ended,
    is_order,
    ready,
    rows,
    said,
    sell,
    until,
)
from kit.service.stage import ANSWER_S, Stage, first_state, open_stage, open_test_desk
from service_tui.desk.commands.halt import Halt, Resume
from service_tui.desk.commands.settings import SetStar
from service_tui.desk.commands.trading import PlaceTrade, RequestQuote
from service_tui.desk.desk import IN_FLIGHT_MAX, Desk
from service_tui.desk.facts import WorldSeen
from service_tui.desk.gate import Gate, enters, is_entry
from service_tui.desk.reasons import HALTED
from service_tui.desk.slices.halt import (
    HALT,
    AckState,
    HaltedAgent,
    HaltView,
    KeptHalt,
    kept_halt,
    newest,
)
from service_tui.desk.slices.tickets import TicketState
from service_tui.desk.state import DeskState
from service_tui.storage.blotter import StoredState
from service_tui.terms import Action, Plan, Side, Venue
from service_tui.units import ONE, Micros
from service_tui.wire.batch import BatchRequest, LegRequest
from service_tui.wire.desk import DeskAgentPatch
from service_tui.wire.endpoints.desk import DESK_HALT, DESK_RESUME
from service_tui.wire.trades import TradeRequest

AT_SERVICE = "/api/desk/halt"
AT_RESUME = "/api/desk/resume"
PAUSE = "/api/sdk/user/settings"


def acked(state: DeskState) -> bool:
    return state.halt is not None and not state.halt.missing


def resumed(state: DeskState) -> bool:
    return state.halted_since is None


def states_of(state: DeskState) -> dict[str, AckState]:
    assert state.halt is not None
    return {ack.name: ack.state for ack in state.halt.acks}


def fails(fault: Fault, *paths: str) -> Callable[[httpx.Request], Fault | None]:
    """Writes to these paths go wrong."""
    return lambda one: fault if one.method != "GET" and one.url.path in paths else None


def kept_on_disk(folder: Path) -> KeptHalt:
    with closing(sqlite3.connect(folder / "desk.sqlite3")) as beside:
        query = "SELECT value FROM preferences WHERE key = 'halt'"
        ((text,),) = beside.execute(query).fetchall()
    kept = kept_halt(text)
    assert kept is not None
    return kept


# -- the gate -----------------------------------------------------------------------------------


@pytest.mark.slow
async def test_the_gate_is_closed_before_the_command_is_back(tmp_path: Path) -> None:
    async with at_work(tmp_path) as (desk, stage, line):
        ticket = desk.submit(Halt())
        # Not one step of the loop has passed.
        assert desk.ports.gate.is_closed
        assert ticket.view.state is TicketState.DONE
        assert desk.state.halted_since == stage.clock.now()
        entry = desk.submit(buy(stage.open_markets()[0]))
        assert (entry.view.state, entry.view.fix != "") == (TicketState.REFUSED, True)
        assert entry.view.outcome == f"{HALTED.text}; nothing sent"
        await until(desk, acked, stage)
        assert line.orders() == []


@pytest.mark.slow
async def test_no_later_order_of_a_batch_in_flight_leaves(tmp_path: Path) -> None:
    async with at_work(tmp_path) as (desk, stage, line):
        line.fault = lambda one: (
            Fault.STUCK if is_order(one) else fails(Fault.NO_LINE, AT_SERVICE)(one)
        )
        markets = stage.open_markets()
        batch = [desk.submit(buy(market, ONE)) for market in markets[: IN_FLIGHT_MAX + 12]]
        await until(desk, lambda _: line.waiting == IN_FLIGHT_MAX, stage, step_s=0.1)
        late = [desk.submit(buy(market, ONE)) for market in markets[-3:]]
        desk.submit(Halt())
        # Those that wait are ended at once, not when their turn would have come.
        for ticket in [*batch[IN_FLIGHT_MAX:], *late]:
            assert ticket.view.state is TicketState.REFUSED
        line.released.set()
        for ticket in batch[:IN_FLIGHT_MAX]:
            assert (await ended(desk, ticket, stage)).state is TicketState.DONE
        await stage.clock.advance(30)
        assert len(line.orders()) == stage.world.trade_count == IN_FLIGHT_MAX


@pytest.mark.slow
async def test_what_was_on_its_way_at_the_halt_is_refused_by_the_service(tmp_path: Path) -> None:
    async with at_work(tmp_path, Fault.STUCK) as (desk, stage, line):
        tickets = [desk.submit(buy(market)) for market in stage.open_markets()[:4]]
        await until(desk, lambda _: line.waiting == 4, stage, step_s=0.1)
        desk.submit(Halt())
        await until(desk, lambda s: states_of(s)["service"] is AckState.DONE, stage, step_s=0.1)
        # Whether a buy has come to rest is known only when none is on its way.
        assert states_of(desk.state)["orders"] is AckState.WAITING
        line.released.set()
        for ticket in tickets:
            view = await ended(desk, ticket, stage)
            assert view.state is TicketState.REFUSED
            assert "halted by the operator" in view.outcome
        await until(desk, acked, stage)
        assert stage.world.trade_count == 0


@pytest.mark.slow
async def test_an_order_that_waits_for_its_path_is_held_back_at_the_last_moment(
    tmp_path: Path,
) -> None:
    async with at_work(tmp_path, Fault.NO_LINE) as (desk, stage, line):
        markets = stage.open_markets()
        # After a failure the path keeps its distance: the next order waits inside the client.
        first = desk.submit(buy(markets[0]))
        await until(desk, lambda _: len(line.orders()) == 1, stage, step_s=0.0)
        waiting = desk.submit(buy(markets[1]))
        await until(desk, lambda _: waiting.view.state is TicketState.SENT, stage, step_s=0.0)
        desk.submit(Halt())
        line.fault = lambda _: None
        view = await ended(desk, waiting, stage)
        assert (view.state, view.outcome) == (
            TicketState.REFUSED,
            f"{HALTED.text}; nothing sent",
        )
        assert first.view.state is TicketState.FAILED
        assert len(line.orders()) == 1
        assert {row.state for row in await rows(stage)} == {
            StoredState.FAILED,
            StoredState.REFUSED,
        }


@pytest.mark.slow
async def test_a_halt_while_the_intent_is_written_keeps_the_order_here(tmp_path: Path) -> None:
    async with at_work(tmp_path) as (desk, stage, line):
        # Nothing is written while this work waits in front.
        may_write = threading.Event()
        held = stage.database.submit(lambda _: may_write.wait(ANSWER_S))
        ticket = desk.submit(buy(stage.open_markets()[0]))
        # Not `advance`: it waits for the disk.
        for _ in range(40):
            await asyncio.sleep(0)
        desk.submit(Halt())
        # Its turn has come: it is ended once, by whoever carries it out.
        assert ticket.view.state is TicketState.QUEUED
        may_write.set()
        assert (await ended(desk, ticket, stage)).state is TicketState.REFUSED
        assert sum(ticket.view.what in notice.text for notice in desk.state.notices) == 1
        assert held.result(1)
        assert line.orders() == []


@pytest.mark.slow
async def test_sales_quotes_and_readings_pass_while_halted(tmp_path: Path) -> None:
    async with at_work(tmp_path) as (desk, stage, line):
        desk.submit(buy(stage.open_markets()[0]))
        held = (await until(desk, lambda s: s.positions, stage)).positions[0]
        desk.submit(Halt())
        await until(desk, acked, stage)
        desk.submit(RequestQuote(1, buy(stage.open_markets()[1])))
        assert (await until(desk, lambda s: s.quote, stage)).quote.ok
        desk.submit(SetStar("m", on=True))
        ticket = desk.submit(sell(held))
        assert (await ended(desk, ticket, stage)).state is TicketState.DONE
        await until(desk, lambda s: s.stars and not s.positions, stage)
        assert [order["action"] for order in line.orders()] == ["buy", "sell"]


def order(action: Action) -> PlaceTrade:
    return PlaceTrade("m", Side.YES, action, Venue.SIM, amount=Micros(ONE))


def request(**fields: object) -> TradeRequest:
    return TradeRequest.model_validate({"market_id": "m", "side": Side.YES, "amount": 1.0} | fields)


LEG = LegRequest(market_id="m", side=Side.YES, amount=1.0)
ENTRIES = {
    "a buy": (request(), True),
    "a quote": (request(dry_run=True), False),
    "a sale": (request(action=Action.SELL, amount=0.0, shares=5.0), False),
    "a batch": (BatchRequest(trades=(LEG,)), True),
    "a rehearsed batch": (BatchRequest(trades=(LEG,), dry_run=True), False),
    "a pause": (DeskAgentPatch(trading_paused=True), False),
    "nothing": (None, False),
}


@pytest.mark.parametrize("name", ENTRIES)
def test_a_body_that_enters_is_known_whoever_sends_it(name: str) -> None:
    body, is_one = ENTRIES[name]
    gate = Gate()
    assert enters(body) is is_one
    assert gate.last_word(body) == ""
    gate.close()
    assert bool(gate.last_word(body)) is is_one


def test_a_command_that_enters_is_known_by_its_kind() -> None:
    assert is_entry(order(Action.BUY))
    for command in (
        order(Action.SELL),
        Halt(),
        Resume("RESUME"),
        RequestQuote(1, order(Action.BUY)),
    ):
        assert not is_entry(command)


# -- what runs for the desk ---------------------------------------------------------------------


@dataclass
class Runner:
    """A process that can be stopped, or not."""

    name: str = "radar"
    refuses: int = 0
    log: list[str] = field(default_factory=list)

    def suspend(self) -> None:
        if self.refuses:
            self.refuses -= 1
            raise ProcessLookupError(3, "no such process")
        self.log.append("suspended")

    def go_on(self) -> None:
        self.log.append("goes on")


@pytest.mark.slow
async def test_what_runs_for_the_desk_stands_still_at_once_and_goes_on_after_the_word(
    tmp_path: Path,
) -> None:
    async with at_work(tmp_path) as (desk, stage, _):
        early, late, stubborn = Runner(), Runner("late"), Runner("stubborn", refuses=2)
        desk.ports.gate.watch(early)
        desk.ports.gate.watch(stubborn)
        desk.submit(Halt())
        assert early.log == ["suspended"]
        desk.ports.gate.watch(late)
        assert late.log == ["suspended"]
        state = await until(desk, lambda s: states_of(s)["skills"] is AckState.FAILED, stage)
        (row,) = [ack for ack in state.halt.acks if ack.name == "skills"]
        assert row.detail == "stubborn still running: no such process"
        state = await until(desk, acked, stage)
        (row,) = [ack for ack in state.halt.acks if ack.name == "skills"]
        assert row.detail == "3 suspended"
        desk.submit(Resume("RESUME"))
        await until(desk, resumed, stage)
        assert [one.log[-1] for one in (early, late, stubborn)] == ["goes on"] * 3
        desk.ports.gate.release("late")


# -- acknowledgements ---------------------------------------------------------------------------


@pytest.mark.slow
async def test_everybody_is_told_and_each_answer_is_a_line(tmp_path: Path) -> None:
    async with at_work(tmp_path) as (desk, stage, _):
        desk.submit(Halt())
        names = ["gate", "kept", "skills", "service", "pause", "orders"]
        assert list(states_of(desk.state)) == names
        assert states_of(desk.state)["gate"] is AckState.DONE
        await until(desk, acked, stage, step_s=0.0)
        assert stage.world.halt.since is not None
        assert stage.agent.settings.trading_paused
        state = await until(desk, lambda s: s.limits.paused and s.world.halted_at, stage)
        assert state.notices[-1].text == "halted: all sources acknowledged"


@pytest.mark.slow
async def test_a_slow_service_holds_up_no_other_line(tmp_path: Path) -> None:
    async with at_work(tmp_path) as (desk, stage, line):
        line.fault = fails(Fault.STUCK, PAUSE)
        desk.submit(Halt())
        state = await until(desk, lambda s: s.halt.missing == 1, stage, step_s=0.1)
        assert states_of(state)["pause"] is AckState.WAITING
        line.released.set()
        await until(desk, acked, stage, step_s=0.1)


def faked(body: object) -> Callable[[], httpx.Response]:
    return lambda: said(body, content_type="application/json")


@pytest.mark.slow
async def test_a_resting_buy_is_cancelled_by_the_public_calls_and_a_sale_stays(
    tmp_path: Path,
) -> None:
    async with at_work(tmp_path) as (desk, stage, line):
        open_orders = {
            "orders": [row("b-1", "buy"), row("s-1", "sell"), row("b-2", "buy")],
            "count": 3,
        }
        gone = {"success": True, "cancelled": 1}
        answers = {"GET": faked(open_orders), "DELETE": faked(gone)}
        line.fault = lambda one: answers[one.method]() if "/orders" in one.url.path else None
        desk.submit(Halt())
        state = await until(desk, acked, stage)
        asked = [one.url.path for one in line.sent if one.method == "DELETE"]
        assert asked == ["/api/sdk/orders/b-1", "/api/sdk/orders/b-2"]
        assert state.halt.acks[-1].detail == "2 cancelled"


def row(order_id: str, action: str) -> dict[str, object]:
    return {
        "order_id": order_id, "trade_id": order_id, "market_id": "m", "side": "yes",
        "trade_type": action, "shares": 10.0, "price": 0.5, "cost_usdc": 5.0,
        "venue": "evm_venue", "created_at": "2027-01-15T08:00:00Z",
    }  # fmt: skip


# -- over a restart -----------------------------------------------------------------------------


@asynccontextmanager
async def again(stage: Stage) -> AsyncGenerator[Desk]:
    async with open_test_desk(stage, first_state()) as desk:
        yield desk


@pytest.mark.slow
async def test_the_halt_is_there_before_anything_may_trade_at_the_next_start(
    tmp_path: Path,
) -> None:
    async with open_stage(tmp_path, speed=0) as whole:
        stage, line = breaking(whole)
        async with again(stage) as desk:
            await until(desk, ready, stage)
            desk.submit(Halt())
            since = desk.state.halted_since
            await until(desk, acked, stage)
        async with again(stage) as desk:
            # Before the first step of its loops.
            assert desk.ports.gate.is_closed
            assert desk.state.halted_since == since
            ticket = desk.submit(buy(stage.open_markets()[0]))
            assert ticket.view.state is TicketState.REFUSED
            await until(desk, lambda s: ready(s) and acked(s), stage)
            desk.submit(Resume("RESUME"))
            await until(desk, resumed, stage)
        async with again(stage) as desk:
            assert desk.state.halt is None
            await until(desk, ready, stage)
            ticket = desk.submit(buy(stage.open_markets()[0]))
            assert (await ended(desk, ticket, stage)).state is TicketState.DONE
        assert len(line.orders()) == 1


@pytest.mark.slow
async def test_the_halt_is_on_disk_within_the_first_steps(tmp_path: Path) -> None:
    async with at_work(tmp_path) as (desk, stage, line):
        line.fault = lambda _: Fault.NO_LINE
        desk.submit(Halt())
        await until(desk, lambda s: states_of(s)["kept"] is AckState.DONE, stage, step_s=0.0)
        assert kept_on_disk(tmp_path) == KeptHalt(on=True, at=desk.state.halted_since)


KEPT = {
    "nothing": ((), None),
    "a halt": ((KeptHalt(on=True, at=5.0),), 5.0),
    "its end": ((KeptHalt(on=False, at=5.0),), None),
    "an end after it, elsewhere": ((KeptHalt(on=True, at=5.0), KeptHalt(on=False, at=6.0)), None),
    "a halt after an end": ((KeptHalt(on=False, at=5.0), None, KeptHalt(on=True, at=6.0)), 6.0),
    "both at once": ((KeptHalt(on=False, at=5.0), KeptHalt(on=True, at=5.0)), 5.0),
}


@pytest.mark.parametrize("name", KEPT)
def test_the_last_word_of_all_consoles_counts(name: str) -> None:
    found, since = KEPT[name]
    halt = newest(found)
    assert (None if halt is None else halt.since) == since


@pytest.mark.parametrize(
    "text", ["", "{", "[]", "null", '{"on": false}', '{"on": 0, "at": 1, "was_paused": false}',
             '{"on": false, "at": NaN, "was_paused": false}']
)  # fmt: skip
def test_what_cannot_be_read_counts_as_a_halt(text: str) -> None:
    kept = kept_halt(text)
    assert kept is not None
    assert kept.on
    assert newest((kept,)) is not None
    assert kept_halt(None) is None


def test_what_is_kept_is_read_as_it_was() -> None:
    for kept in (KeptHalt(on=True, at=1.5, was_paused=True), KeptHalt(on=False, at=2.0)):
        assert kept_halt(kept.as_text()) == kept
    assert newest((KeptHalt(on=True, at=1.5, was_paused=True),)) == HaltView(1.5, was_paused=True)
    skills = (HaltedAgent("a", "heron", was_paused=True), HaltedAgent("b", "gull"))
    kept = KeptHalt(on=True, at=1.5, agents=skills)
    assert kept_halt(kept.as_text()) == kept
    assert newest((kept,)) == HaltView(1.5, agents=skills)
    # A halt of an older program names none, and what is no agent is passed over.
    old = '{"on": true, "at": 1.5, "was_paused": false}'
    assert kept_halt(old) == KeptHalt(on=True, at=1.5)
    odd = old.replace(
        "}", ', "agents": [["a", "heron", null], ["b", 3, true], 7, ["c", "gull", true]]}'
    )
    good = (HaltedAgent("a", "heron"), HaltedAgent("c", "gull", was_paused=True))
    assert kept_halt(odd).agents == good
    assert HALT == "halt"


# -- the end ------------------------------------------------------------------------------------


@pytest.mark.slow
async def test_the_word_ends_it_everywhere_and_the_gate_opens_last(tmp_path: Path) -> None:
    async with at_work(tmp_path) as (desk, stage, line):
        desk.submit(Halt())
        await until(desk, acked, stage)
        line.fault = fails(Fault.STUCK, AT_RESUME)
        desk.submit(Resume("RESUME"))
        await until(desk, lambda _: line.waiting, stage, step_s=0.0)
        assert desk.state.halt.is_resuming
        assert desk.ports.gate.is_closed
        line.released.set()
        await until(desk, resumed, stage)
        assert not desk.ports.gate.is_closed
        assert stage.world.halt.since is None
        assert not stage.agent.settings.trading_paused
        await until(desk, lambda s: not s.limits.paused, stage)
        ticket = desk.submit(buy(stage.open_markets()[0]))
        assert (await ended(desk, ticket, stage)).state is TicketState.DONE


@pytest.mark.slow
async def test_the_briefing_names_the_halt_no_longer_than_it_lasts(tmp_path: Path) -> None:
    def named(state: DeskState) -> bool:
        told = () if state.briefing is None else state.briefing.every_action
        return any("halted" in one for one in told)

    async with at_work(tmp_path) as (desk, stage, _):
        for command, holds in ((Halt(), True), (Resume("RESUME"), False)):
            desk.submit(command)
            await until(desk, acked if holds else resumed, stage)
            at = stage.clock.now()
            await until(desk, lambda state, holds=holds: named(state) is holds, stage)
            # Long before it would be read again by itself.
            assert stage.clock.now() - at < 10


@pytest.mark.slow
async def test_a_halt_overtakes_its_own_end(tmp_path: Path) -> None:
    async with at_work(tmp_path) as (desk, stage, line):
        desk.submit(Halt())
        await until(desk, acked, stage)
        line.fault = fails(Fault.STUCK, AT_RESUME)
        ending = desk.submit(Resume("RESUME"))
        await until(desk, lambda _: line.waiting, stage, step_s=0.0)
        desk.submit(Halt())
        line.released.set()
        await ending.wait()
        assert desk.ports.gate.is_closed
        await until(desk, acked, stage)
        assert stage.world.halt.since is not None
        assert stage.agent.settings.trading_paused
        assert any("halted again" in one.text for one in desk.state.notices)


# -- another console's halt ---------------------------------------------------------------------


@pytest.mark.slow
async def test_a_halt_of_another_console_closes_the_gate_here_and_its_end_opens_it(
    tmp_path: Path,
) -> None:
    async with at_work(tmp_path) as (desk, stage, line):
        runner = Runner()
        desk.ports.gate.watch(runner)
        await stage.client.call(DESK_HALT)
        await until(desk, lambda s: s.halted_since, stage)
        assert desk.state.halt is None
        assert runner.log == ["suspended"]
        ticket = desk.submit(buy(stage.open_markets()[0]))
        assert ticket.view.state is TicketState.REFUSED
        await stage.client.call(DESK_RESUME)
        await until(desk, resumed, stage)
        assert runner.log == ["suspended", "goes on"]
        ticket = desk.submit(buy(stage.open_markets()[0]))
        assert (await ended(desk, ticket, stage)).state is TicketState.DONE
        assert len(line.orders()) == 1


@pytest.mark.slow
async def test_the_word_ends_another_consoles_halt_as_well(tmp_path: Path) -> None:
    async with at_work(tmp_path) as (desk, stage, _):
        await stage.client.call(DESK_HALT)
        await until(desk, lambda s: s.halted_since, stage)
        desk.submit(Resume("RESUME"))
        await until(desk, resumed, stage)
        assert stage.world.halt.since is None
        assert not desk.ports.gate.is_closed


@pytest.mark.slow
async def test_a_reading_from_before_the_halt_opens_nothing(tmp_path: Path) -> None:
    async with at_work(tmp_path) as (desk, stage, line):
        before = desk.state.world
        assert before is not None
        assert before.halted_at is None
        desk.submit(Halt())
        await until(desk, acked, stage)
        for _ in range(5):
            # As an answer that took its time would say it.
            desk.ports.emit(WorldSeen(before, ()))
            await stage.clock.advance(0.5)
            assert desk.ports.gate.is_closed
        await until(desk, lambda s: s.world.halted_at, stage)
        assert desk.state.halt is not None
        assert not [one for one in line.sent if one.url.path == AT_RESUME]


@pytest.mark.slow
async def test_a_service_of_others_is_halted_by_its_public_settings_alone(tmp_path: Path) -> None:
    async with open_stage(tmp_path, speed=0, plan=Plan.FREE) as whole:
        stage, line = breaking(whole)
        state = first_state()
        remote = replace(state, service=replace(state.service, embedded=False, label="host"))
        async with open_test_desk(stage, remote) as desk:
            await until(desk, ready, stage)
            desk.submit(Halt())
            assert list(states_of(desk.state)) == ["gate", "kept", "skills", "pause", "orders"]
            await until(desk, acked, stage)
            assert stage.agent.settings.trading_paused
            assert not any(one.url.path.startswith("/api/desk") for one in line.sent)
            desk.submit(Resume("RESUME"))
            await until(desk, resumed, stage)
            assert not stage.agent.settings.trading_paused
