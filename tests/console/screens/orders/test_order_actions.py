"""What each key of the blotter does."""

from dataclasses import replace
from typing import Any

import pytest

from kit.console.acting import StubScreen, perform
from kit.samples.desk import sample_state
from service_tui.console.forms.why import Why
from service_tui.console.messages import GoTo
from service_tui.console.screens.orders.actions import ACTIONS, PENDING
from service_tui.desk.commands.agents import ExportData
from service_tui.desk.slices.tickets import TicketState

STATE = sample_state()
TICKET, FILL = STATE.tickets[0], STATE.fills[0]


def on(*rows: Any, **other: Any) -> StubScreen:
    return StubScreen(STATE, rows, lists=("orders", "fills"), **other)


def press(screen: StubScreen, key: str) -> str:
    return perform(screen, ACTIONS, f"blotter.{key}")


def test_the_market_and_the_history_are_those_of_the_row() -> None:
    screen = on(TICKET)
    press(screen, "market")
    (message,) = screen.posted
    assert isinstance(message, GoTo)
    assert (message.screen_name, message.row) == ("markets", TICKET.market_id)
    press(screen, "why")
    assert isinstance(screen.opened[-1], Why)


@pytest.mark.parametrize("key", ["market", "why"])
def test_a_command_without_a_market_leads_to_none(key: str) -> None:
    assert press(on(replace(TICKET, market_id="")), key) == "no market in this command"
    assert press(on(), key) == "select a row"


def test_the_other_list_is_shown_without_a_filter() -> None:
    screen = on(TICKET, only=PENDING)
    press(screen, "list")
    assert screen.only is None
    assert screen.calls == [("bring_forward", 1)]


def test_only_commands_without_a_result_are_shown_and_all_again() -> None:
    sent, done = (replace(TICKET, state=one) for one in (TicketState.SENT, TicketState.DONE))
    screen = on(TICKET)
    press(screen, "trades")
    assert screen.only is PENDING
    assert PENDING.name == "pending"
    assert [PENDING.wants(row) for row in (sent, done, FILL)] == [True, False, False]
    press(screen, "trades")
    assert screen.only is None
    assert screen.calls == ["filter_rows"] * 2
    assert press(on(FILL, place=1), "trades") == "fills are final"


def test_an_export_is_given() -> None:
    screen = on(TICKET)
    press(screen, "export")
    assert screen.given == [ExportData()]
