"""When a ticket may be closed by hand."""

from dataclasses import replace

import pytest

from kit.samples.desk import NOW, sample_state
from service_tui.desk.slices.tickets import NO_TRACE, NOT_FOUND, TicketState, TicketView
from service_tui.desk.slices.trades import TradeView
from service_tui.terms import TradeStatus
from service_tui.units import Micros

STATE = sample_state(12)


def trade(action: str, shares: int, cost: int) -> TradeView:
    return replace(
        STATE.trades[0],
        action=action,
        shares=Micros(shares),
        cost=Micros(cost),
        status=TradeStatus.FILLED,
    )


@pytest.mark.parametrize("state", TicketState)
@pytest.mark.parametrize(
    ("outcome", "has_no_trace", "is_lost"),
    [
        (NO_TRACE, True, True),
        (f"{NOT_FOUND}: some trades are unreadable", False, True),
        ("sent, no answer yet; looking it up", False, False),
        (f"{NO_TRACE}; closed by you", False, False),
    ],
)
def test_a_ticket_may_be_closed_by_hand_while_its_end_is_unknown_and_was_looked_for(
    state: TicketState, outcome: str, *, has_no_trace: bool, is_lost: bool
) -> None:
    ticket = TicketView("t", "trade", "m", "buy", state, NOW, outcome=outcome)
    is_unknown = state is TicketState.UNKNOWN
    assert ticket.has_no_trace == (is_unknown and has_no_trace)
    assert ticket.is_lost == (is_unknown and is_lost)
    assert ticket.in_flight == (
        state in {TicketState.QUEUED, TicketState.SENT, TicketState.UNKNOWN}
    )
