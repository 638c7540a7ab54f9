"""A person's own notes on markets, trades and days. Pure.

They lie in preferences, on this computer: no service is sent one, and no other person's console
shows it. What a person writes beside an order is another thing: that one is public.
"""

import json
from collections.abc import Iterable, Mapping
from datetime import UTC, date, datetime, tzinfo
from typing import Final

from service_tui.desk.checked_records import UNREADABLE, tree_of, value_of
from service_tui.desk.commands.settings import SetPreference
from service_tui.desk.slices.own_notes import NoteOn, OwnNote
from service_tui.desk.slices.rows import LastMade
from service_tui.desk.state import DeskState
from service_tui.units import Timestamp

OWN_NOTES: Final = "own_note."
"""The preference with a note is called so, with its person and what it is on."""

TEXT_MAX: Final = 500
NOTES_MAX: Final = 2_000
# ours: a few lines of a pane, and together no more than a file of preferences holds with ease.


Notes = Mapping[tuple[str, NoteOn, str], OwnNote]
"""Notes by person and by what they are on."""

_made = LastMade[Notes]()


def person_of(state: DeskState) -> str | None:
    """Whose notes this console has: empty on a desk of one, None while that is not known."""
    if not state.service.shared:
        return ""
    return None if state.team is None else state.team.name


def notes_of(state: DeskState) -> tuple[OwnNote, ...]:
    """The notes of the person at this console, the newest first."""
    person = person_of(state)
    every = _kept(state.preferences).values()
    return _newest_first(note for note in every if note.person == person)


def note_on(state: DeskState, on: NoteOn, key: str) -> OwnNote | None:
    """The note of the person at this console on one thing; None without one."""
    person = person_of(state)
    note = None if person is None else _kept(state.preferences).get((person, on, key))
    return note if note is not None and note.text else None


def noted_since(state: DeskState) -> object:
    """What differs once any note does."""
    return person_of(state), _kept(state.preferences)


def all_notes(preferences: Iterable[Mapping[str, str]]) -> tuple[OwnNote, ...]:
    """The notes of every person in the preferences of several consoles, the newest first."""
    notes: dict[tuple[str, NoteOn, str], OwnNote] = {}
    # What one console removed later than another one wrote it is gone.
    for one in preferences:
        for key, note in _read(one).items():
            if key not in notes or notes[key].at < note.at:
                notes[key] = note
    return _newest_first(notes.values())


def keep_note(note: OwnNote) -> SetPreference:
    """The command that keeps a note, or that it was removed: one without a text is none."""
    name = f"{OWN_NOTES}{note.person}.{note.noted.on.value}.{note.noted.key}"
    return SetPreference(name, json.dumps(tree_of(note), ensure_ascii=False))


def day_of(at: Timestamp, zone: tzinfo | None = None) -> str:
    """The date of a time in a zone; None is the machine's own."""
    return datetime.fromtimestamp(at, UTC).astimezone(zone).date().isoformat()


def day_text(day: str) -> str:
    """A date as the screens write it, `21 Nov 2026`; what is none as it is."""
    try:
        return f"{date.fromisoformat(day):%d %b %Y}"
    except ValueError:
        return day


def _newest_first(notes: Iterable[OwnNote]) -> tuple[OwnNote, ...]:
    known = (note for note in notes if note.text)
    return tuple(sorted(known, key=lambda note: (-note.at, note.noted.on, note.noted.key)))


def _kept(preferences: Mapping[str, str]) -> Notes:
    return _made.of((preferences,), lambda: _read(preferences))


def _read(preferences: Mapping[str, str]) -> Notes:
    notes: dict[tuple[str, NoteOn, str], OwnNote] = {}
    for name, text in preferences.items():
        if not text or not name.startswith(OWN_NOTES):
            continue
        try:
            note: OwnNote = value_of(OwnNote, json.loads(text))
        except UNREADABLE:
            # What cannot be read is as if nothing was kept; it stays where it is.
            continue
        notes[note.person, note.noted.on, note.noted.key] = note
    return notes
