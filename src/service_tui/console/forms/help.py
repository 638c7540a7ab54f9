"""Every key that works here, made from the live key table; disabled ones with the reason."""

from collections.abc import Callable
from typing import ClassVar, Final

from rich.text import Text
from textual.binding import Binding, BindingType

from service_tui.console.forms.page import Page
from service_tui.console.keys import KeyBinding, cap, keys_of, readable, shown_key
from service_tui.console.widgets.record_table import RecordTable

_KEY: Final = 8
_LABEL: Final = 15

DisabledReason = Callable[[KeyBinding], str]
"""Why a key is disabled here; empty if it works."""


class Help(Page):
    """The keys in groups, those of the screen in front first; scrolls."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("question_mark", "close", show=False, id="app.help")
    ]

    def __init__(self, group: str, title: str, disabled_reason: DisabledReason) -> None:
        super().__init__(f"Keys on {title}", f"{cap('dialog.close')} closes, j and k scroll")
        self._group = group
        self._heading = title
        self._disabled_reason = disabled_reason

    def text(self) -> Text:
        """The text, group by group."""
        groups = (
            (self._heading, self._lines(self._group)),
            ("lists", [*self._lines("rows"), *moves()]),
            ("everywhere", self._lines("app")),
            ("order ticket", self._lines("ticket")),
            ("forms", [*self._lines("form"), *self._lines("price_alert")]),
            ("halt", self._lines("halt")),
        )
        return Text("\n\n").join(
            Text("\n").join([Text(title, "bold heading"), *lines])
            for title, lines in groups
            if lines
        )

    def _lines(self, group: str) -> list[Text]:
        return [key_line(key, self._disabled_reason(key)) for key in keys_of(group)]


def key_line(key: KeyBinding, why: str) -> Text:
    """One key with its name and effect; greyed with the reason if disabled."""
    others = [readable(name) for name in key.keys[1:]]
    cap = " ".join([shown_key(key), *others])
    message = f"{key.label:<{_LABEL}} {key.tooltip}".rstrip()
    if why:
        return Text(f"{cap:>{_KEY}}  {message}  ({why})", "muted")
    return Text.assemble((f"{cap:>{_KEY}}", "accent"), f"  {message}")


def moves() -> list[Text]:
    """Keys that move in a list: from the bindings of the table itself."""
    lines: list[Text] = []
    for binding in RecordTable.BINDINGS:
        if isinstance(binding, Binding) and (binding.id or "").startswith("table."):
            cap = " ".join(readable(name) for name in binding.key.split(","))
            lines.append(Text.assemble((f"{cap:>{_KEY}}", "accent"), f"  {binding.description}"))
    return lines
