"""Dialogs of the inbox: snooze a row until a time, mute kinds of rows."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Final

from rich.text import Text
from textual.binding import BindingType

from service_tui.console import formats
from service_tui.console.fields import Field, FieldError
from service_tui.console.forms.cursor_list import CursorList
from service_tui.console.forms.form import Form, Shown
from service_tui.console.forms.moment import read_moment
from service_tui.console.keys import bindings_of
from service_tui.console.needs import put_aside
from service_tui.console.needs_aside import Mute, Snooze, may_wait_for_change, mutes_of
from service_tui.console.ranking import Need
from service_tui.desk.state import DeskState
from service_tui.units import Timestamp

CHANGES: Final = "changes"
_HOW: Final = "Enter a duration, a time in UTC, or changes: 45m, 2h, 18:00, changes"
_USUAL: Final = "1h"
_LETTERS: Final = 12
_WHAT: Final = 44


@dataclass(frozen=True, slots=True)
class SnoozeUntil:
    """When a snoozed row comes back; None: when it changes."""

    at: Timestamp | None


def read_snooze(text: str, now: Timestamp) -> SnoozeUntil:
    """Parse until when a row is hidden: `45m`, `2h`, the next `18:00` in UTC, or `changes`.

    Returns:
        The moment; an hour from now for an empty text.

    Raises:
        FieldError: it is none of them; the sentence gives the fix.
    """
    given = text.strip().casefold() or _USUAL
    if CHANGES.startswith(given):
        return SnoozeUntil(None)
    try:
        return SnoozeUntil(read_moment(given, now))
    except FieldError:
        raise FieldError(_HOW) from None


class SnoozeForm(Form[SnoozeUntil]):
    """Returns until when the rows are hidden."""

    heading: ClassVar[str] = "Snooze"
    set_word: ClassVar[str] = "snooze"

    def __init__(self, state: DeskState, now: Timestamp, needs: Sequence[Need]) -> None:
        super().__init__(state, now)
        self._needs = tuple(needs)
        self._until = Field(
            "snooze-until", "until", self._read, placeholder=_USUAL, letters=_LETTERS
        )
        self.body = ("snooze-what", self._until, "snooze-then")

    def _read(self, text: str) -> SnoozeUntil:
        return read_snooze(text, self.now)

    def validate(self) -> SnoozeUntil:
        """The moment, or the next change where there is one to be seen."""
        until = self.read(self._until)
        if until.at is None and not all(map(may_wait_for_change, self._needs)):
            raise FieldError("Give a time: no change of this row would be seen")
        return until

    def describe(self, result: SnoozeUntil | None) -> Mapping[str, Shown]:
        """What is hidden, and when it comes back."""
        first, *others = self._needs
        more = f" and {len(others)} more" if others else ""
        then = Text("45m, 2h, 18:00 (UTC) or changes", "muted")
        if result is not None and result.at is None:
            then = Text("Comes back when its figure or amount changes by a tenth")
            if not all(map(may_wait_for_change, self._needs)):
                then = Text("No figure that could change, or it is pinned: give a time", "warn")
        elif result is not None:
            length = formats.duration(max(0.0, (result.at or self.now) - self.now))
            then = Text(f"Comes back in {length}, or when it changes")
        return {"snooze-what": f"{formats.plain(first.what).plain}{more}", "snooze-then": then}


@dataclass(frozen=True, slots=True)
class AsideChoice:
    """One line of the list: something to mute, or to show again."""

    key: str
    verb: str
    label: str
    mute: Mute | None = None
    snooze: Snooze | None = None
    is_hidden: bool = False


def aside_choices(need: Need | None, state: DeskState, now: Timestamp) -> tuple[AsideChoice, ...]:
    """How the row can be muted, then everything that is hidden now.

    Args:
        need: the highlighted row; None without one.
        state: the newest.
        now: wall time.
    """
    aside = put_aside(state)
    hidden = {(one.name, one.is_agent) for one in aside.mutes}
    fresh = () if need is None else mutes_of(need)
    lasting = [one for one in aside.snoozes if one.until is None or now < one.until]
    return (
        *(
            AsideChoice(_mute_key("mute", one), "mute", _mute_label(one), mute=one)
            for one in fresh
            if (one.name, one.is_agent) not in hidden
        ),
        *(
            AsideChoice(_mute_key("unmute", one), "unmute", _mute_label(one), one, is_hidden=True)
            for one in aside.mutes
        ),
        *(
            AsideChoice(
                f"show {one.key}", "show", _snooze_label(one, now), snooze=one, is_hidden=True
            )
            for one in lasting
        ),
    )


def _mute_key(verb: str, mute: Mute) -> str:
    return f"{verb} {mute.is_agent} {mute.name}"


def _mute_label(mute: Mute) -> str:
    label = formats.plain(mute.label, _WHAT).plain
    return f"agent {label}" if mute.is_agent else f"all {label}"


def _snooze_label(snooze: Snooze, now: Timestamp) -> str:
    left = "until it changes"
    if snooze.until is not None:
        left = f"for {formats.duration(max(0.0, snooze.until - now))}"
    return f"{formats.plain(snooze.what, _WHAT).plain}, {left}"


class AsideList(CursorList[AsideChoice | None, AsideChoice]):
    """Returns what to mute, or to show again."""

    BINDINGS: ClassVar[list[BindingType]] = [*bindings_of("aside")]

    name_in_keys: ClassVar[str] = "aside"
    title_text: ClassVar[str] = "Mute, or show again"

    def __init__(self, state: DeskState, now: Timestamp, need: Need | None) -> None:
        self._need = need
        super().__init__(state, now)

    def rows(self) -> Sequence[AsideChoice]:
        """The choices of the present state."""
        return aside_choices(self._need, self.state, self.now)

    def key_of(self, row: AsideChoice) -> str:
        """The identity of a choice."""
        return row.key

    def text(self) -> Text:
        """One line a choice."""
        rows = self.rows()
        if not rows:
            return Text("Nothing is muted or snoozed.", "muted")
        return Text("\n").join([self._line(row) for row in rows])

    def action_choose(self) -> None:
        """Return the choice under the cursor."""
        row = self.row_or_toast()
        if row is not None:
            self.dismiss(row)

    def _line(self, row: AsideChoice) -> Text:
        is_here = row.key == self.at
        return Text.assemble(
            ("▌ " if is_here else "  ", "accent"),
            (f"{row.verb:<7}", "accent" if row.is_hidden else "warn"),
            (row.label, "bold" if is_here else ""),
        )
