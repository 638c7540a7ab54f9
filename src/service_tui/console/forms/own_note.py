"""The form of a personal note: one line of text, stored on this computer."""

from collections.abc import Mapping
from typing import ClassVar, Final

from rich.text import Text

from service_tui.console import formats
from service_tui.console.fields import Field, FieldError
from service_tui.console.forms.form import Form, Shown
from service_tui.console.questions import short_question
from service_tui.desk.own_notes import NOTES_MAX, TEXT_MAX, day_text, note_on, notes_of
from service_tui.desk.slices.own_notes import Noted, NoteOn, OwnNote
from service_tui.desk.state import DeskState
from service_tui.units import Timestamp

TEXT: Final = Field("note-line", "note", str, letters=TEXT_MAX, css_class="text")

_ABOUT_CELLS: Final = 120
_PRIVATE: Final = "Stays on this computer. An empty note is removed."


class OwnNoteForm(Form[OwnNote]):
    """Returns the note as typed; one without a text is to be removed.

    Args:
        state: the newest.
        now: wall time.
        noted: what the note is on.
        person: whose it is.
    """

    heading: ClassVar[str] = "Own note"
    body = ("form-question", TEXT, "form-hint")

    def __init__(self, state: DeskState, now: Timestamp, noted: Noted, person: str) -> None:
        super().__init__(state, now)
        self._noted, self._person = noted, person
        kept = note_on(state, noted.on, noted.key)
        self._is_new = kept is None
        self.first = {} if kept is None else {TEXT.name: kept.text}

    def validate(self) -> OwnNote:
        """The typed note, cleaned of what no line of text has."""
        text = formats.plain(" ".join(self.typed(TEXT.name).split()), TEXT_MAX).plain
        if not text and self._is_new:
            raise FieldError("Enter a note")
        if self._is_new and len(notes_of(self.state)) >= NOTES_MAX:
            raise FieldError(f"{NOTES_MAX:,} notes are kept already: remove one")
        return OwnNote(self._noted, text, self.now, self._person)

    def describe(self, result: OwnNote | None) -> Mapping[str, Shown]:
        """What the note is on, and who sees it."""
        del result
        return {
            "form-question": Text(title_of(self._noted), "bold"),
            "form-hint": Text(_PRIVATE, "muted"),
        }


def title_of(noted: Noted) -> str:
    """What a note is on, in one line."""
    if noted.on is NoteOn.DAY:
        return f"the day {day_text(noted.key)}"
    question = formats.plain(short_question(noted.about), _ABOUT_CELLS).plain
    return f"a trade in: {question}" if noted.on is NoteOn.TRADE else question
