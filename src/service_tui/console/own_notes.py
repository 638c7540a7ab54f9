"""A person's own notes on the screens: the sign beside a row, the text in a pane."""

from typing import Final

from rich.text import Text

from service_tui.console import formats
from service_tui.console.figures import section
from service_tui.console.view_context import ViewContext
from service_tui.desk.own_notes import note_on
from service_tui.desk.slices.own_notes import NoteOn

NOTE_SIGN: Final = "✎"
"""Stands beside what has a note of one's own."""

HIDDEN: Final = "hidden while amounts are masked"
# ours: who masks amounts shows the screen to somebody else.


def sign_of(view: ViewContext, on: NoteOn, key: str) -> Text:
    """The sign of a note, or nothing."""
    return Text(NOTE_SIGN if note_on(view.state, on, key) else "", "accent")


def signed(name: Text | str, market_id: str, view: ViewContext) -> Text | str:
    """The name of a market, with the sign before it where it has a note."""
    # Hardly any market has one, and every line of a list asks each second.
    if note_on(view.state, NoteOn.MARKET, market_id) is None:
        return name
    return Text.assemble(sign_of(view, NoteOn.MARKET, market_id), " ", name)


def note_text(view: ViewContext, on: NoteOn, key: str) -> Text:
    """The text of a note; empty without one."""
    note = note_on(view.state, on, key)
    if note is None:
        return Text()
    return Text(HIDDEN, "muted") if view.masked else formats.plain(note.text)


def note_section(view: ViewContext, on: NoteOn, key: str) -> Text:
    """The text of a note under its title; empty without one."""
    text = note_text(view, on, key)
    return section("own note", text) if text.plain else Text()
