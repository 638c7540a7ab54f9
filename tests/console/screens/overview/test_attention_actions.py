"""What each key of the needs does: where it leads, and what is dismissed."""

from dataclasses import replace
from typing import Any

import pytest
from rich.text import Text

from kit.console.acting import StubScreen, perform
from kit.samples.desk import NOW, sample_state
from service_tui.console.keys import key_named
from service_tui.console.messages import ApprovalRequested, GoTo, KeyChosen
from service_tui.console.needs import DISMISSED, DISMISSED_ABSENCE, absence_mark
from service_tui.console.needs_fleet import PENDING
from service_tui.console.ranking import Need
from service_tui.console.screens.overview.actions import ACTIONS, Toggled
from service_tui.desk.commands.settings import SetPreference
from service_tui.desk.commands.trading import GiveUp
from service_tui.desk.slices.tickets import NO_TRACE, TicketState
from service_tui.desk.slices.world import AbsenceView
from service_tui.desk.state import DeskState

STATE = sample_state()
assert STATE.world is not None
HERE = replace(STATE, world=replace(STATE.world, meanwhile=None))


def need_of(key: str = "n1", **other: Any) -> Need:
    given = {
        "tone": "warn", "glyph": "!", "word": "stop", "what": "heron", "figure": Text("3"),
        "otherwise": "it is sold", "screen": "monitors", "row": "al-0",
    }  # fmt: skip
    return Need(key, **{**given, **other})


def on(*rows: Any, state: DeskState = HERE) -> StubScreen:
    return StubScreen(state, rows)


def press(screen: StubScreen, key: str) -> str:
    return perform(screen, ACTIONS, f"attention.{key}")


@pytest.mark.parametrize("act", ["", "monitors.exit"])
def test_a_need_leads_to_its_row_and_performs_its_key_there(act: str) -> None:
    screen = on(need_of(act=act), need_of("n2"))
    press(screen, "open")
    (message,) = screen.posted
    assert isinstance(message, GoTo)
    assert (message.screen_name, message.row) == ("monitors", "al-0")
    assert message.act == (key_named(act) if act else None)


def test_a_key_of_the_whole_program_is_pressed_at_once() -> None:
    screen = on(need_of(act="app.halt"))
    press(screen, "open")
    (message,) = screen.posted
    assert isinstance(message, KeyChosen)
    assert message.key == key_named("app.halt")


def test_a_trade_that_waits_is_opened_and_a_group_unfolded() -> None:
    screen = on(need_of(f"{PENDING}h7"))
    press(screen, "open")
    (message,) = screen.posted
    assert isinstance(message, ApprovalRequested)
    assert (message.pending_id, message.refuse) == ("h7", False)
    group = on(need_of(f"{PENDING}many", members=(need_of("n1"), need_of("n2"))))
    press(group, "open")
    (message,) = group.posted
    assert isinstance(message, Toggled)
    assert message.key == f"{PENDING}many"


def test_without_a_need_nothing_is_opened() -> None:
    screen = on()
    press(screen, "open")
    assert not screen.posted


def test_a_need_is_dismissed_and_restored() -> None:
    state = replace(HERE, preferences={DISMISSED: "old\n"})
    screen = on(need_of(is_dismissable=True), state=state)
    press(screen, "dismiss")
    assert screen.given == [SetPreference(DISMISSED, "old\nn1")]
    press(screen, "undo")
    assert screen.given[1:] == [SetPreference(DISMISSED, "old\n")]
    assert press(screen, "undo") == "nothing to restore"


def test_a_group_is_dismissed_whole_and_the_oldest_are_forgotten() -> None:
    kept = "\n".join(f"k{place}" for place in range(200))
    members = (need_of("n1"), need_of("n2"))
    screen = on(
        need_of("all", is_dismissable=True, members=members),
        state=replace(HERE, preferences={DISMISSED: kept}),
    )
    press(screen, "dismiss")
    (order,) = screen.given
    keys = order.value.split("\n")
    assert len(keys) == 200
    assert keys[0] == "k2"
    assert keys[-2:] == ["n1", "n2"]


def test_what_cannot_be_dismissed_stays() -> None:
    assert press(on(need_of()), "dismiss") == "nothing here can be dismissed"
    assert press(on(), "dismiss") == "nothing here can be dismissed"


def test_else_the_note_of_the_absence_is_dismissed() -> None:
    assert STATE.world is not None
    absence = AbsenceView(**{
        **dict.fromkeys(AbsenceView.__dataclass_fields__, 0),
        "opened_at": NOW,
    })
    state = replace(STATE, world=replace(STATE.world, meanwhile=absence))
    screen = on(need_of(), state=state)
    press(screen, "dismiss")
    assert screen.given == [SetPreference(DISMISSED_ABSENCE, absence_mark(absence))]
    assert screen.take_back == (SetPreference(DISMISSED_ABSENCE, ""),)


def test_an_order_without_a_trace_is_given_up() -> None:
    ticket = STATE.tickets[0]
    lost = replace(ticket, state=TicketState.UNKNOWN, outcome=NO_TRACE)
    state = replace(HERE, tickets=(replace(lost, ticket_id="other"), lost))
    assert lost.is_lost
    screen = on(need_of(row=lost.ticket_id, is_dismissable=True), state=state)
    press(screen, "dismiss")
    assert screen.given == [GiveUp(lost.ticket_id)]
    found = replace(state, tickets=(replace(lost, state=TicketState.DONE),))
    assert press(on(need_of(row=lost.ticket_id), state=found), "dismiss")
