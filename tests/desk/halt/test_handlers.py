"""What each step of a halt asks of the service, and when it is not done."""

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from kit.desk.offline import Asked, Offline
from kit.samples.desk import NOW, sample_state
from service_tui.client.errors import Called, NotFoundError, RefusalReason
from service_tui.desk.halt.handlers import (
    NotDoneError,
    NotYetError,
    cancel_buys,
    halt_service,
    lift_pause,
    pause_agent,
    resume_service,
    service_is_halted,
    stop_what_runs,
)
from service_tui.desk.slices.tickets import TicketState, TicketView
from service_tui.desk.slices.topics import Topic
from service_tui.terms import Action
from service_tui.units import Micros
from service_tui.wire.endpoints.desk import DESK_HALT, DESK_RESUME, WORLD
from service_tui.wire.endpoints.public import CANCEL_ORDER, OPEN_ORDERS, PATCH_USER_SETTINGS
from service_tui.wire.settings import UserSettingsPatch


def desk(**other: Any) -> Offline:
    return Offline(replace(sample_state(8), tickets=()), **other)


def order(name: str, action: Action = Action.BUY) -> SimpleNamespace:
    return SimpleNamespace(order_id=name, trade_type=action)


def cancelled(message: str = "", *, success: bool = True) -> SimpleNamespace:
    return SimpleNamespace(success=success, message=message)


async def test_the_service_is_halted_when_it_says_so() -> None:
    on = desk()
    on.answers[DESK_HALT] = [
        SimpleNamespace(halted=True, cancelled=("a", "b")),
        SimpleNamespace(halted=True, cancelled=()),
        SimpleNamespace(halted=False, cancelled=("a",)),
    ]
    assert await halt_service(on.ports) == "2 open buys cancelled"
    assert on.woken == [Topic.WORLD, Topic.BRIEFING]
    assert await halt_service(on.ports) == ""
    with pytest.raises(NotDoneError, match="service not halted"):
        await halt_service(on.ports)
    assert on.woken == [Topic.WORLD, Topic.BRIEFING] * 2


async def test_the_service_is_resumed_when_it_says_so() -> None:
    on = desk()
    on.answers[DESK_RESUME] = [SimpleNamespace(halted=False), SimpleNamespace(halted=True)]
    await resume_service(on.ports)
    assert on.woken == [Topic.WORLD, Topic.BRIEFING]
    with pytest.raises(NotDoneError, match="service still halted"):
        await resume_service(on.ports)
    assert on.woken == [Topic.WORLD, Topic.BRIEFING]


async def test_the_halt_of_the_service_is_read_anew() -> None:
    on = desk()
    on.answers[WORLD] = [SimpleNamespace(halted_at=NOW), SimpleNamespace(halted_at=None)]
    assert [await service_is_halted(on.ports) for _ in range(2)] == [True, False]
    assert on.woken == [Topic.WORLD] * 2


async def test_a_pause_is_acknowledged_by_the_word_for_it_alone() -> None:
    on = desk()
    said = {"trading_paused"}
    on.answers[PATCH_USER_SETTINGS] = [
        SimpleNamespace(trading_paused=True, model_fields_set=said),
        SimpleNamespace(trading_paused=False, model_fields_set=said),
        SimpleNamespace(trading_paused=True, model_fields_set=set()),
    ]
    assert await pause_agent(on.ports) == ""
    assert on.woken == [Topic.ACCOUNT]
    for _ in range(2):
        with pytest.raises(NotDoneError, match="trading not paused at the service"):
            await pause_agent(on.ports)
    patch = UserSettingsPatch(trading_paused=True)
    assert on.asked == [Asked(PATCH_USER_SETTINGS, body=patch)] * 3
    assert on.woken == [Topic.ACCOUNT]


async def test_the_pause_is_lifted() -> None:
    on = desk()
    on.answers[PATCH_USER_SETTINGS] = None
    await lift_pause(on.ports)
    assert on.asked == [Asked(PATCH_USER_SETTINGS, body=UserSettingsPatch(trading_paused=False))]
    assert on.woken == [Topic.ACCOUNT]


async def test_every_open_buy_is_cancelled_and_no_sale() -> None:
    on = desk()
    orders = (order("o-1"), order("o-2", Action.SELL), order("o-3"))
    on.answers = {OPEN_ORDERS: SimpleNamespace(orders=orders), CANCEL_ORDER: cancelled()}
    assert await cancel_buys(on.ports) == "2 cancelled"
    assert on.asked[1:] == [Asked(CANCEL_ORDER, {"order_id": one}) for one in ("o-1", "o-3")]
    on.answers[OPEN_ORDERS] = SimpleNamespace(orders=orders[1:2])
    assert await cancel_buys(on.ports) == "none open"


@pytest.mark.parametrize(
    ("message", "words"),
    [("the book is busy", "1 of 3 not cancelled: the book is busy"), ("", "1 of 3 not cancelled")],
)
async def test_a_buy_that_is_not_cancelled_is_tried_again_and_the_others_are_cancelled(
    message: str, words: str
) -> None:
    on = desk()
    gone = NotFoundError(RefusalReason("none", ""), Called("DELETE", "/x"), status=404)
    on.answers = {
        OPEN_ORDERS: SimpleNamespace(orders=(order("o-1"), order("o-2"), order("o-3"))),
        CANCEL_ORDER: [cancelled(message, success=False), gone, cancelled()],
    }
    with pytest.raises(NotDoneError) as left:
        await cancel_buys(on.ports)
    assert str(left.value) == words
    assert len(on.asked) == 4


async def test_open_orders_that_cannot_be_read_may_be_buys() -> None:
    on = desk(dropped=2)
    on.answers[OPEN_ORDERS] = SimpleNamespace(orders=())
    with pytest.raises(NotDoneError, match="2 open orders unreadable"):
        await cancel_buys(on.ports)


@pytest.mark.parametrize(
    ("state", "amount", "waits"),
    [
        (TicketState.SENT, 1, True),
        (TicketState.SENT, 0, False),
        (TicketState.UNKNOWN, 1, False),
        (TicketState.DONE, 1, False),
    ],
)
async def test_a_buy_that_was_sent_before_the_halt_is_waited_for(
    state: TicketState, amount: int, *, waits: bool
) -> None:
    on = desk()
    ticket = TicketView("t", "trade", "m", "buy", state, NOW, amount=Micros(amount))
    on.state = replace(on.state, tickets=(ticket,))
    on.answers = {OPEN_ORDERS: SimpleNamespace(orders=(order("o-1"),)), CANCEL_ORDER: cancelled()}
    if not waits:
        assert await cancel_buys(on.ports) == "1 cancelled"
        return
    with pytest.raises(NotYetError, match="1 cancelled; 1 buys still pending"):
        await cancel_buys(on.ports)


class Gate:
    """A gate with runs that may refuse to be suspended."""

    def __init__(self, suspended: int, **loose: str) -> None:
        self.loose, self.suspended_count, self.tries = dict(loose), suspended, 0

    def suspend(self) -> None:
        self.tries += 1
        self.loose = {name: why for name, why in self.loose.items() if why != "once"}


async def test_what_runs_is_suspended_or_named() -> None:
    on = desk()

    async def stopped(gate: Gate) -> str:
        on.ports = replace(on.ports, gate=gate)  # type: ignore[arg-type]
        return await stop_what_runs(on.ports)

    assert await stopped(Gate(0)) == "none running here"
    assert await stopped(Gate(3)) == "3 suspended"
    again = Gate(1, gauge="once")
    assert await stopped(again) == "1 suspended"
    assert again.tries == 1
    with pytest.raises(NotDoneError) as left:
        await stopped(Gate(1, gauge="denied", tide="gone", ebb="once"))
    assert str(left.value) == "gauge still running: denied; tide still running: gone"
