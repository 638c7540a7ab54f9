"""Every key that works here, made from the live key table; disabled ones with the reason."""

from collections.abc import Callable, Iterable, Sequence
from typing import ClassVar, Final

from rich.text import Text
from textual import on
from textual.binding import Binding, BindingType
from textual.widget import Widget

from service_tui.console import formats
from service_tui.console.forms.page import Page
from service_tui.console.keys import (
    KEYS,
    KeyBinding,
    bindings_of,
    cap,
    keys_of,
    readable,
    shown_key,
)
from service_tui.console.widgets.filter_line import FilterLine
from service_tui.console.widgets.record_table import RecordTable
from service_tui.folding import folded

_KEY: Final = 8
_LABEL: Final = 15
_USAGE: Final = 32

DisabledReason = Callable[[KeyBinding], str]
"""Why a key is disabled here; empty if it works."""


class Help(Page):
    """The keys in groups, those of the screen in front first; scrolls, and can be searched.

    A search that finds nothing here finds the keys of the other screens.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("question_mark,f1", "close", show=False, id="app.help"),
        *(binding for binding in bindings_of("rows") if binding.action == "filter"),
    ]

    def __init__(
        self,
        group: str,
        title: str,
        disabled_reason: DisabledReason,
        commands: Sequence[tuple[str, str]] = (),
        *,
        typed: str = "",
    ) -> None:
        """The help of a screen.

        Args:
            group: its group in keys.py.
            title: its heading.
            disabled_reason: why a key is disabled.
            commands: usage and effect of each command of the `:` line.
            typed: the search it opens with.
        """
        hint = f"{cap('rows.filter')} finds, {cap('dialog.close')} closes, j and k scroll"
        super().__init__(f"Keys on {title}", hint)
        self._group = group
        self._heading = title
        self._disabled_reason = disabled_reason
        self._commands = commands
        self._search = FilterLine(typed, "a key, a name or a word")

    def above(self) -> Iterable[Widget]:
        """The line of the search."""
        yield self._search

    def text(self) -> Text:
        """The text, group by group; of a search the matching lines alone."""
        here = self._found(self._groups())
        if here:
            return Text("\n\n").join(here)
        if elsewhere := self._found(self._elsewhere()):
            title = Text(f"Not on {self._heading}. On other screens:", "muted")
            return Text("\n\n").join((title, *elsewhere))
        typed = formats.plain(self._search.typed).plain
        return Text(f"No key matches /{typed}. {cap('dialog.close')} shows all.", "muted")

    def action_filter(self) -> None:
        """Type into the line of the search."""
        self._search.begin()

    def action_close(self) -> None:
        """Clear the search; without one, close."""
        if self._search.typed:
            self._search.action_clear()
        else:
            super().action_close()

    def _groups(self) -> tuple[tuple[str, list[Text]], ...]:
        return (
            (self._heading, self._lines(self._group)),
            ("lists", [*self._lines("rows"), *moves()]),
            ("everywhere", self._lines("app")),
            (f"commands, after {cap('app.command')}", [command_line(*c) for c in self._commands]),
            ("order ticket", self._lines("ticket")),
            ("forms", [*self._lines("form"), *self._lines("price_alert")]),
            ("halt", self._lines("halt")),
        )

    def _elsewhere(self) -> tuple[tuple[str, list[Text]], ...]:
        """The keys of the other screens; whether they work there now is not known here."""
        screens = {
            key.action: f"{key.label} ({shown_key(key)})"
            for key in keys_of("app")
            if key.action.startswith("go(")
        }
        groups = dict.fromkeys(key.group for key in KEYS)
        return tuple(
            (title, [key_line(key, "") for key in keys_of(group)])
            for group in groups
            if group != self._group and (title := screens.get(f"go('{group}')"))
        )

    def _found(self, groups: Iterable[tuple[str, list[Text]]]) -> list[Text]:
        """The groups with their matching lines, each under its title."""
        return [
            Text("\n").join([Text(title, "bold heading"), *found])
            for title, lines in groups
            if (found := self._matching(lines))
        ]

    def _lines(self, group: str) -> list[Text]:
        return [key_line(key, self._disabled_reason(key)) for key in keys_of(group)]

    def _matching(self, lines: list[Text]) -> list[Text]:
        words = folded(self._search.typed).split()
        return [line for line in lines if matches(line.plain, words)]

    @on(FilterLine.Typed)
    def _typed(self, event: FilterLine.Typed) -> None:
        event.stop()
        self.show()
        self.query_one("#frame").scroll_home(animate=False)

    @on(FilterLine.Left)
    def _left(self, event: FilterLine.Left) -> None:
        event.stop()
        self.query_one("#frame").focus()


def matches(line: str, words: Iterable[str]) -> bool:
    """True if a line of the help contains every word; one letter must be a key or a word."""
    text = folded(line)
    parts = frozenset(text.split())
    return all(word in parts if len(word) == 1 else word in text for word in words)


def key_line(key: KeyBinding, why: str) -> Text:
    """One key with its name and effect; greyed with the reason if disabled."""
    others = [readable(name) for name in key.keys[1:]]
    cap = " ".join([shown_key(key), *others])
    line = f"{key.label:<{_LABEL}} {key.tooltip}".rstrip()
    if why:
        return Text(f"{cap:>{_KEY}}  {line}  ({why})", "muted")
    return Text.assemble((f"{cap:>{_KEY}}", "accent"), f"  {line}")


def command_line(usage: str, does: str) -> Text:
    """One command with its effect."""
    return Text.assemble("  ", (f"{usage:<{_USAGE}}", "accent"), f"  {does}")


def moves() -> list[Text]:
    """Keys that move in a list: from the bindings of the table itself."""
    lines: list[Text] = []
    for binding in RecordTable.BINDINGS:
        if isinstance(binding, Binding) and (binding.id or "").startswith("table."):
            cap = " ".join(readable(name) for name in binding.key.split(","))
            lines.append(Text.assemble((f"{cap:>{_KEY}}", "accent"), f"  {binding.description}"))
    return lines
