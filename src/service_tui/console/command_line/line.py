"""The `:` line at the bottom: typed commands, their completion and their history."""

from collections.abc import Callable
from typing import Any, ClassVar, Final

from rich.text import Text
from textual import events, on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Horizontal, Vertical
from textual.widgets import Input, Static

from service_tui.console.command_line.history import CommandHistory
from service_tui.console.command_line.verb import CommandContext, CommandError, Effect
from service_tui.console.command_line.verbs import completions, prepare, verb_of
from service_tui.console.keys import KeyBinding, bindings_of, cap
from service_tui.console.messages import ToastMessage
from service_tui.console.parts.table_screen import TableScreen
from service_tui.console.widgets.dialog import Dialog
from service_tui.console.widgets.plain_input import PlainInput
from service_tui.console.widgets.text_block import TextBlock
from service_tui.desk.commands.settings import SetPreference

IN_SIGHT_MAX: Final = 8
"""Completions in sight; the rest is counted."""

LETTERS_MAX: Final = 200

_NAME_CELLS: Final = 12
_NOTHING: Final = "nothing to complete"


class CommandLine(Dialog[Effect | None]):
    """Returns the effect of a command that was read without a problem, or None if it was left."""

    BINDINGS: ClassVar[list[BindingType]] = [*bindings_of("command_line")]
    AUTO_FOCUS = "#command-typed"

    def __init__(
        self,
        front: TableScreen[Any],
        disabled_reason: Callable[[KeyBinding], str],
        begun: str = "",
    ) -> None:
        super().__init__()
        self._target = CommandContext(front, disabled_reason, front.current_row())
        self._history = CommandHistory.from_text(
            front.state.preferences.get(CommandHistory.PREFERENCE, "")
        )
        self._line = PlainInput(begun, compact=True, max_length=LETTERS_MAX, id="command-typed")
        self._line.cursor_blink = False
        self._list = TextBlock(id="command-list")
        self._hint = TextBlock(id="command-hint")
        self._found: tuple[str, ...] = ()
        self._place: int | None = None
        self._filled = ""
        self._problem = ""

    def compose(self) -> ComposeResult:
        """The completions, a hint or the problem, and the line."""
        with Vertical(id="command"):
            yield self._list
            yield self._hint
            with Horizontal(id="command-row"):
                yield Static(cap("app.command"), markup=False, id="command-mark")
                yield self._line

    def on_mount(self) -> None:
        """List the commands."""
        self._line.cursor_position = len(self._line.value)
        self._look_up()

    def action_close(self) -> None:
        """Leave, and run nothing."""
        self.dismiss(None)

    def action_complete(self, by: int) -> None:
        """Fill in the next completion, or the one before."""
        if not self._found:
            self._show_problem(_NOTHING)
            return
        first = 0 if by > 0 else len(self._found) - 1
        self._place = first if self._place is None else (self._place + by) % len(self._found)
        only = len(self._found) == 1
        self._fill(f"{self._found[self._place]}{' ' if only else ''}")
        if only:
            self._look_up()

    def action_recall(self, by: int) -> None:
        """Fill in an older command (-1), or a newer one."""
        self._history = self._history.stepped(by, self._line.value)
        self._fill(self._history.shown)
        self._look_up()

    @on(Input.Changed)
    def _changed(self, event: Input.Changed) -> None:
        event.stop()
        if event.value != self._filled:
            self._filled = ""
            self._look_up()

    @on(Input.Submitted)
    def _submitted(self, event: Input.Submitted) -> None:
        event.stop()
        typed = self._line.value.strip()
        if not typed:
            self.dismiss(None)
            return
        try:
            effect = prepare(typed, self._target)
        except CommandError as refused:
            self._show_problem(str(refused))
            return
        kept = self._history.with_command(typed).to_text()
        self._target.front.give(SetPreference(CommandHistory.PREFERENCE, kept))
        self.dismiss(effect)

    @on(PlainInput.SecretCleared)
    def _cleared(self, event: PlainInput.SecretCleared) -> None:
        event.stop()
        self.post_message(ToastMessage("possible secret key: cleared", "warn"))

    @on(events.Click)
    def _clicked(self, event: events.Click) -> None:
        """Fill in a completion; a click outside of the line leaves it."""
        offset = event.get_content_offset(self._list)
        if offset is not None:
            place = self._first() + offset.y
            if place < len(self._found):
                self._fill(f"{self._found[place]} ")
                self._look_up()
        elif event.widget is self:
            self.action_close()

    def _fill(self, text: str) -> None:
        self._filled = text
        self._line.value = text
        self._line.cursor_position = len(text)
        self._problem = ""
        self._show()

    def _look_up(self) -> None:
        self._problem, self._place = "", None
        self._found = completions(self._line.value, self._target)
        self._show()

    def _show_problem(self, problem: str) -> None:
        self._problem = f"{problem[:1].upper()}{problem[1:]}"
        self._show()

    def _first(self) -> int:
        """The first completion in sight."""
        place = 0 if self._place is None else self._place
        return max(0, min(place - IN_SIGHT_MAX + 1, len(self._found) - IN_SIGHT_MAX))

    def _show(self) -> None:
        first = self._first()
        listed = self._found[first : first + IN_SIGHT_MAX]
        lines = [_listed(found) for found in listed]
        if self._place is not None:
            lines[self._place - first].stylize("bold accent")
        self._list.show_if_any(Text("\n").join(lines))
        self._hint.show_text(self._hint_text(len(self._found) - len(listed)))

    def _hint_text(self, others: int) -> Text:
        if self._problem:
            return Text(f"! {self._problem}", "warn")
        more = f"{others} more, " if others else ""
        keys = f"{more}{cap('command.complete')} completes, {cap('command.older')} recalls"
        verb = verb_of(self._line.value)
        if verb is None:
            return Text(f"{keys}, {cap('app.palette')} finds by name", "muted")
        more = f"   {others} more" if others else ""
        return Text.assemble((verb.usage, "accent"), (f"   {verb.help}{more}", "muted"))


def _listed(found: str) -> Text:
    """One completion; a command with its help."""
    verb = verb_of(found) if " " not in found else None
    line = Text(f"{found:<{_NAME_CELLS}}", no_wrap=True, overflow="ellipsis")
    return line if verb is None else line.append(f"  {verb.help}", "muted")
