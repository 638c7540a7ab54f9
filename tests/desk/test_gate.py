"""The gate: closed by either halt, and every process suspended with it."""

from dataclasses import dataclass, field

import pytest

from service_tui.desk.command import Command
from service_tui.desk.commands.agents import ApproveTrade
from service_tui.desk.commands.halt import Halt
from service_tui.desk.commands.reactor import MirrorAllFrom, MirrorSignal
from service_tui.desk.commands.trading import PlaceTrade
from service_tui.desk.gate import Gate
from service_tui.desk.reasons import HALTED
from service_tui.terms import Action, Side, Venue
from service_tui.units import ONE, Micros
from service_tui.wire.batch import BatchRequest
from service_tui.wire.fleet import ApproveRequest
from service_tui.wire.trades import TradeRequest

BUY = PlaceTrade("m", Side.YES, Action.BUY, Venue.SIM, Micros(ONE))
SALE = PlaceTrade("m", Side.YES, Action.SELL, Venue.SIM, shares=Micros(ONE))


@dataclass
class Running:
    """A process that may refuse to stop or to go on."""

    name: str
    problem: OSError | None = None
    did: list[str] = field(default_factory=list)

    def _do(self, word: str) -> None:
        self.did.append(word)
        if self.problem is not None:
            raise self.problem

    def suspend(self) -> None:
        self._do("suspend")

    def go_on(self) -> None:
        self._do("go on")


@pytest.mark.parametrize("own", [True, False])
@pytest.mark.parametrize("service", [True, False])
def test_buys_are_blocked_while_either_halt_stands(*, own: bool, service: bool) -> None:
    gate = Gate()
    if own:
        gate.close()
    gate.on_service_halt(service_halted=service)
    is_closed = own or service
    assert gate.is_closed is is_closed
    blocked: dict[Command, str] = {BUY: HALTED.text if is_closed else "", SALE: "", Halt(): ""}
    assert {one: gate.why_not(one) for one in blocked} == blocked
    buy = TradeRequest(market_id="m", side=Side.YES, action=Action.BUY, amount=1.0)
    sale = buy.model_copy(update={"action": Action.SELL})
    quote = buy.model_copy(update={"dry_run": True})
    assert gate.last_word(buy) == blocked[BUY]
    assert (gate.last_word(sale), gate.last_word(quote), gate.last_word(None)) == ("", "", "")
    gate.open()
    assert (gate.is_closed, gate.why_not(BUY)) == (False, "")


def test_everything_that_may_enter_is_an_entry_whatever_sends_it() -> None:
    gate = Gate()
    gate.close()
    entries = (MirrorSignal("s"), MirrorAllFrom("0x1"), ApproveTrade("h", "buy YES"), BUY)
    assert {gate.why_not(one) for one in entries} == {HALTED.text}
    order = {"market_id": "m", "side": Side.YES, "amount": 1.0}
    batch = BatchRequest.model_construct(trades=(order,), dry_run=False)
    assert gate.last_word(batch) == HALTED.text
    assert gate.last_word(batch.model_copy(update={"dry_run": True})) == ""
    assert gate.last_word(ApproveRequest()) == HALTED.text
    gate.open()
    assert {gate.why_not(one) for one in entries} == {""}
    assert {gate.last_word(one) for one in (batch, ApproveRequest())} == {""}


def test_a_halt_suspends_what_runs_and_what_starts_and_its_end_lets_all_go_on() -> None:
    gate, first, second = Gate(), Running("first"), Running("second")
    gate.watch(first)
    assert (first.did, gate.suspended_count) == ([], 0)
    gate.close()
    gate.watch(second)
    assert (first.did, second.did, gate.suspended_count) == (["suspend"], ["suspend"], 2)
    gate.open()
    assert (first.did, second.did) == (["suspend", "go on"],) * 2
    assert gate.suspended_count == 0


def test_the_services_halt_does_so_once_and_not_against_the_own_one() -> None:
    gate, one = Gate(), Running("one")
    gate.watch(one)
    for _ in range(2):
        gate.on_service_halt(service_halted=True)
    assert one.did == ["suspend"]
    gate.close()
    gate.on_service_halt(service_halted=False)
    assert gate.is_closed
    assert "go on" not in one.did
    gate.open()
    gate.on_service_halt(service_halted=True)
    gate.on_service_halt(service_halted=False)
    assert one.did[-1] == "go on"


def test_a_process_that_cannot_be_suspended_is_named_until_it_is() -> None:
    gate = Gate()
    loose, still = Running("loose", PermissionError(1, "denied")), Running("still")
    nameless = Running("odd", OSError())
    for one in (loose, still, nameless):
        gate.watch(one)
    gate.close()
    assert gate.loose == {"loose": "denied", "odd": "OSError"}
    assert gate.suspended_count == 1
    loose.problem = None
    gate.suspend()
    assert gate.loose == {"odd": "OSError"}
    gate.release("odd")
    assert (gate.loose, gate.suspended_count) == ({}, 2)
    gate.release("still")
    assert gate.suspended_count == 1
    still.did.clear()
    loose.problem = OSError("gone")
    gate.open()
    assert (gate.loose, still.did) == ({}, [])
