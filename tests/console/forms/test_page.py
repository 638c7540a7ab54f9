"""A page of text: what its lower edge says of a text that is not renewed."""

import pytest
from rich.text import Text

from kit.samples.desk import NOW
from service_tui.console.formats import clock_time
from service_tui.console.forms.page import Page
from service_tui.units import Timestamp


class Note(Page):
    def text(self) -> Text:
        return Text("a note")


@pytest.mark.parametrize(
    ("at", "clock", "hint"),
    [
        (None, "", "esc closes"),
        (NOW, "", f"as of {clock_time(NOW).plain}, esc closes"),
        (NOW, " UTC", f"as of {clock_time(NOW).plain} UTC, esc closes"),
    ],
)
def test_a_page_that_is_not_renewed_says_of_when_it_is(
    at: Timestamp | None, clock: str, hint: str
) -> None:
    assert Note("Note", "esc closes", at, clock)._hint == hint
