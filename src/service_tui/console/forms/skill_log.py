"""The output of a skill: followed, wrapped, searched, as a table, and saved."""

from typing import ClassVar, Final

from rich.text import Text
from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical

from service_tui.console import formats
from service_tui.console.freshness import is_private
from service_tui.console.keys import bindings_of, cap
from service_tui.console.log_lines import (
    LogLines,
    ShownLine,
    as_table,
    has_json,
    matches,
    unwrapped,
    wrapped,
)
from service_tui.console.messages import CommandGiven, ToastMessage
from service_tui.console.reasons import without_amounts
from service_tui.console.theme import content
from service_tui.console.widgets.dialog import Dialog
from service_tui.console.widgets.filter_line import FilterLine
from service_tui.console.widgets.output_view import OutputView
from service_tui.console.widgets.text_block import TextBlock
from service_tui.desk.commands.agents import SaveOutput, WatchAgent
from service_tui.desk.slices.supervision import SkillRunView
from service_tui.desk.state import DeskState
from service_tui.units import Timestamp

_TITLE_MAX: Final = 60
_ALL: Final = 1_000_000
"""More lines than any view has."""

_NONE: Final = "no output yet: a round ends with one line"

_STEP: Final = 8
"""Cells by which long lines move sideways."""


class SkillLog(Dialog[None]):
    """The output of one run, renewed while it is open."""

    BINDINGS: ClassVar[list[BindingType]] = [
        *bindings_of("dialog"),
        *bindings_of("skill_log"),
        Binding("j,down", "lines(1)", show=False),
        Binding("k,up", "lines(-1)", show=False),
        Binding("ctrl+d,pagedown", "lines(10)", show=False),
        Binding("ctrl+u,pageup", "lines(-10)", show=False),
        Binding("g,home", f"lines(-{_ALL})", show=False),
        Binding("G,end", f"lines({_ALL})", show=False),
        Binding("left", "aside(-1)", show=False),
        Binding("right", "aside(1)", show=False),
    ]
    name_in_keys: ClassVar[str] = "skill_log"

    def __init__(self, state: DeskState, now: Timestamp, run: SkillRunView) -> None:
        super().__init__()
        del now
        self._state, self._run = state, run
        self._log = LogLines()
        self._is_wrapped, self._is_table = True, False
        self._found: tuple[int, ...] = ()
        self._at = -1
        self._new = 0
        self._shown: list[ShownLine] = []
        self._head = TextBlock(id="log-head")
        self._columns = TextBlock(id="log-columns")
        self._search = FilterLine(placeholder="text")
        self._view = OutputView()

    def compose(self) -> ComposeResult:
        """The state of the view, the search, the head of the table, the lines."""
        with Vertical(id="frame", classes="dialog") as frame:
            name = formats.plain(f"{self._run.skill_slug} as {self._run.agent_name}", _TITLE_MAX)
            frame.border_title = content(Text(f" Output: {name.plain} "))
            keys = (
                ("follow", "follow"), ("wrap", "wrap"), ("table", "table"), ("search", "search"),
                ("save", "save"),
            )  # fmt: skip
            hint = ", ".join(f"{cap(f'skill_log.{ident}')} {label}" for ident, label in keys)
            frame.border_subtitle = content(Text(f" {hint} "))
            yield self._head
            yield self._search
            yield self._columns
            yield self._view

    def on_mount(self) -> None:
        """Have the desk read the run's output, and show the newest lines."""
        self.post_message(CommandGiven(WatchAgent(self._run.agent_id, self._run.run_id)))
        self._view.focus()
        self.call_after_refresh(self._renew)

    def take(self, state: DeskState, now: Timestamp) -> None:
        """Add new lines; masked amounts may have changed as well."""
        del now
        before, self._state = self._state, state
        if before.supervision.tail is not state.supervision.tail or is_private(
            before
        ) != is_private(state):
            self._renew()

    # -- keys ---------------------------------------------------------------------------------

    def action_turn(self, what: str) -> None:
        """Follow, wrap, or show a table; or no longer."""
        {"follow": self._follow, "wrap": self._wrap, "table": self._tabulate}[what]()

    def action_search(self) -> None:
        """Type a text to look for."""
        self._search.begin()

    def action_match(self, by: int) -> None:
        """Go to the next match, or the one before; from the last to the first."""
        if not self._found:
            typed = self._search.typed
            reason = f"no line contains {typed}" if typed else f"{cap('skill_log.search')} searches"
            self.post_message(ToastMessage(reason, "warn"))
            return
        self._at = (self._at + by) % len(self._found)
        self._view.reveal(self._found[self._at])
        self._draw()

    def action_save(self) -> None:
        """Write the lines into a file."""
        if not len(self._log):
            self.post_message(ToastMessage("no output to save", "warn"))
            return
        self.post_message(CommandGiven(SaveOutput(self._run.skill_slug, self._log.lines)))

    def action_lines(self, by: int) -> None:
        """Scroll by lines."""
        self._view.step(by)

    def action_aside(self, by: int) -> None:
        """Move lines that are cut to the left or right."""
        if not self._is_wrapped or self._is_table:
            self._view.left = max(0, self._view.left + by * _STEP)
            self._lay_out()

    def action_close(self) -> None:
        """Leave."""
        self.dismiss(None)

    def _follow(self) -> None:
        self._view.follow(on=not self._view.follows)
        self._show_head()

    def _wrap(self) -> None:
        self._is_wrapped = not self._is_wrapped
        self._view.left = 0
        self._lay_out()

    def _tabulate(self) -> None:
        if not self._is_table and not has_json(self._log.lines):
            self.post_message(ToastMessage("no JSON lines in this output", "warn"))
            return
        self._is_table = not self._is_table
        self._view.left = 0
        self._lay_out()

    # -- what is shown ------------------------------------------------------------------------

    def _renew(self) -> None:
        tail = self._state.supervision.tail
        if tail is not None and tail.run_id == self._run.run_id:
            dropped = self._log.dropped
            fresh = self._log.feed(tail.lines)
            self._new = 0 if self._view.follows else self._new + fresh
            if not self._view.follows and not self._is_wrapped:
                # The lines in view stay where they are when old ones are left out.
                self._view.place(self._view.top - (self._log.dropped - dropped))
        self._lay_out()

    def _lay_out(self) -> None:
        masked = is_private(self._state)
        lines = [without_amounts(line, masked=masked) for line in self._log.lines]
        head = ""
        if self._is_table:
            head, self._shown = as_table(self._log.lines)
            if masked:
                self._shown = [
                    ShownLine(line.source, without_amounts(line.text, masked=True))
                    for line in self._shown
                ]
        elif self._is_wrapped:
            self._shown = wrapped(lines, self._view.size.width - 1)
        else:
            self._shown = unwrapped(lines)
        left = self._view.left
        self._columns.show_if_any(Text(head[left : left + self._view.size.width], "muted"))
        self._look_for(self._search.typed)

    def _look_for(self, typed: str) -> None:
        self._found = matches(self._shown, typed)
        self._at = min(self._at, len(self._found) - 1)
        self._draw()

    def _draw(self) -> None:
        at = self._found[self._at] if 0 <= self._at < len(self._found) else -1
        self._view.show(self._shown, self._found, at)
        self._show_head()

    def _show_head(self) -> None:
        new = min(self._new, self._view.below)
        state = "following" if self._view.follows else "not following"
        parts = [
            Text.assemble((state, "profit" if self._view.follows else "warn")),
            Text(_length(len(self._log)), "muted"),
        ]
        if new:
            parts.insert(1, Text(f"{new:,} new below", "accent"))
        if self._search.typed:
            place = f"match {self._at + 1} of " if self._at >= 0 else "matches: "
            parts.append(Text(f"{place}{len(self._found):,}", "accent"))
        parts.append(Text(self._mode(), "muted"))
        self._head.show_text(Text("  ").join(parts))

    def _mode(self) -> str:
        if self._is_table:
            return "table"
        return "wrapped" if self._is_wrapped else "cut at the edge"

    @on(OutputView.Scrolled)
    def _moved(self, event: OutputView.Scrolled) -> None:
        event.stop()
        if not self._view.below:
            self._new = 0
        self._show_head()

    @on(FilterLine.Typed)
    def _typed(self, event: FilterLine.Typed) -> None:
        event.stop()
        self._at = -1
        self._look_for(event.text)

    @on(FilterLine.Left)
    def _left(self, event: FilterLine.Left) -> None:
        event.stop()
        self._view.focus()
        if self._found and self._at < 0:
            self.action_match(1)

    @on(OutputView.WidthChanged)
    def _resized(self, event: OutputView.WidthChanged) -> None:
        event.stop()
        self._lay_out()


def _length(lines: int) -> str:
    if not lines:
        return _NONE
    return f"{lines:,} line" if lines == 1 else f"{lines:,} lines"
