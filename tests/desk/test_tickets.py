"""The rows and ends of submitted commands."""

from dataclasses import replace

import pytest

from kit.samples.desk import NOW
from service_tui.desk.command import Command
from service_tui.desk.commands.settings import SetStar
from service_tui.desk.commands.trading import PlaceTrade, RequestQuote
from service_tui.desk.reasons import HALTED
from service_tui.desk.slices.tickets import TicketState, TicketView
from service_tui.desk.tickets import is_waited_for, never_left, row_of, state_after_fault
from service_tui.terms import Action, Side, Venue
from service_tui.units import ONE, Micros

BUY = PlaceTrade(
    "m-1", Side.NO, Action.BUY, Venue.EVM, Micros(20 * ONE), shares=Micros(3), question="Rain?",
    price=0.4, rests=True,
)  # fmt: skip
STAR = SetStar("m-1", on=True)


def test_an_order_is_a_row_with_all_that_it_says() -> None:
    assert row_of(BUY, "k-7", NOW) == TicketView(
        "k-7", "trade", "m-1", BUY.describe(), TicketState.QUEUED, NOW, question="Rain?",
        amount=Micros(20 * ONE), holding=BUY.holding, shares=Micros(3), venue=Venue.EVM, limit=0.4,
    )  # fmt: skip
    assert row_of(replace(BUY, rests=False), "k-7", NOW).limit is None
    assert row_of(STAR, "k-7", NOW) == TicketView(
        "k-7", "star", "", STAR.describe(), TicketState.QUEUED, NOW
    )


def test_a_command_that_never_left_ends_with_its_reason() -> None:
    row = row_of(BUY, "k-7", NOW)
    failed = never_left(row, "too many", NOW, halted=False)
    assert failed == replace(
        row, state=TicketState.FAILED, settled_at=NOW, outcome="too many; nothing sent"
    )
    refused = never_left(row, "halted", NOW, halted=True)
    assert (refused.state, refused.fix) == (TicketState.REFUSED, HALTED.fix)


@pytest.mark.parametrize(
    ("command", "before", "after"),
    [
        (BUY, TicketState.SENT, TicketState.UNKNOWN),
        (BUY, TicketState.QUEUED, TicketState.FAILED),
        (BUY, TicketState.DONE, TicketState.DONE),
        (STAR, TicketState.QUEUED, TicketState.QUEUED),
    ],
)
def test_after_a_fault_what_may_have_left_is_unknown(
    command: Command, before: TicketState, after: TicketState
) -> None:
    assert state_after_fault(command, before) is after


def test_an_end_waits_for_every_command_but_a_quote() -> None:
    assert [is_waited_for(one) for one in (BUY, STAR, RequestQuote(1, BUY))] == [True, True, False]
