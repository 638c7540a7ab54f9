"""A mirror takes what the day's cap leaves, after mirrors that the service may not know."""

from dataclasses import replace

import pytest

from kit.samples.desk import NOW
from kit.samples.reactor import reactor_state, waiting
from service_tui.desk.reactor.mirror_order import cut_to_day, ticket_of_mirror
from service_tui.desk.slices.tickets import TicketState, TicketView
from service_tui.desk.slices.topics import Topic
from service_tui.desk.state import DeskState
from service_tui.units import ONE, Micros, Timestamp

CAP = 100.0
READ_AT = Timestamp(NOW - 10)


def state_with(spent: float | None, *tickets: TicketView) -> DeskState:
    """A desk whose day has a cap of a hundred; what of it is spent was told ten seconds ago."""
    state = reactor_state()
    day_spent = None if spent is None else Micros(round(spent * ONE))
    return replace(
        state,
        reactor=replace(state.reactor, day_spent=day_spent),
        tickets=tickets,
        seen={**state.seen, Topic.REACTOR: READ_AT},
    )


SIGNAL = replace(waiting(1, reactor_state()), amount=Micros(20 * ONE))


def mirror(amount: float, **changes: object) -> TicketView:
    """A mirror that the desk has ordered after the service told."""
    ticket = ticket_of_mirror(SIGNAL, Timestamp(NOW - 5))
    money = Micros(round(amount * ONE))
    return replace(ticket, **({"amount": money, "state": TicketState.DONE} | changes))


def cut(spent: float | None, *tickets: TicketView) -> float:
    return cut_to_day(state_with(spent, *tickets), SIGNAL).amount / ONE


@pytest.mark.parametrize(
    ("spent", "left"),
    [(0.0, 20.0), (80.0, 20.0), (80.01, 19.99), (87.5, 12.5), (99.99, 0.01)],
)
def test_a_mirror_takes_what_the_cap_leaves_and_no_more(spent: float, left: float) -> None:
    assert cut(spent) == left


def test_what_is_left_is_cut_to_whole_cents_and_never_rounded_up() -> None:
    assert cut(87.500001) == 12.49
    # Less than a cent is nothing: the cap itself refuses the signal as it stands.
    assert cut(99.999) == 20.0


@pytest.mark.parametrize("spent", [CAP, 140.0])
def test_with_nothing_left_the_signal_stays_for_the_cap_to_refuse(spent: float) -> None:
    assert cut(spent) == 20.0


def test_where_nobody_has_told_the_day_nothing_is_cut() -> None:
    assert cut(None) == 20.0
    bare = replace(state_with(90.0), reactor=replace(reactor_state().reactor, config=None))
    assert cut_to_day(bare, SIGNAL) is SIGNAL


@pytest.mark.parametrize(
    ("changes", "left"),
    [
        ({}, 5.0),
        ({"state": TicketState.QUEUED}, 5.0),
        ({"state": TicketState.UNKNOWN}, 5.0),
        # Under way since long before the answer: it may still be spent after it.
        ({"state": TicketState.SENT, "opened_at": Timestamp(READ_AT - 60)}, 5.0),
        # What ended before the answer stands in its figure already.
        ({"opened_at": Timestamp(READ_AT - 60)}, 15.0),
        ({"state": TicketState.REFUSED}, 15.0),
        ({"state": TicketState.FAILED}, 15.0),
        # Orders of the person's own are none of the mirrors' day.
        ({"kind": "trade"}, 15.0),
    ],
)
def test_mirrors_that_the_answer_cannot_know_have_taken_their_part(
    changes: dict[str, object], left: float
) -> None:
    assert cut(85.0, mirror(10.0, **changes)) == left


def test_several_mirrors_take_their_part_together() -> None:
    assert cut(60.0, mirror(10.0), mirror(15.5)) == 14.5
    assert cut(60.0, mirror(30.0), mirror(15.5)) == 20.0
