"""Explains numbers: formula, inputs, who reported them and when."""

from dataclasses import dataclass
from typing import Final

from rich.text import Text

from service_tui.console.figures import figures
from service_tui.console.forms.page import Page
from service_tui.console.keys import cap
from service_tui.units import Timestamp

WIDTH: Final = 60
"""Cells of text; the frame around it takes six more."""

_INDENT: Final = 2


@dataclass(frozen=True, slots=True)
class Explanation:
    """One number explained.

    Attributes:
        name: its name on the screen.
        value: as the screen shows it.
        formula: how it is computed from the inputs; empty if it is used as reported.
        inputs: label and value of each input.
        source: who reported it.
        age: how long ago; empty if that does not matter.
    """

    name: str
    value: Text
    formula: str
    inputs: tuple[tuple[str, Text], ...]
    source: str
    age: Text


class Explain(Page):
    """Explained numbers, one below the other; scrolls."""

    def __init__(
        self, title: str, parts: tuple[Explanation, ...], now: Timestamp, clock: str = ""
    ) -> None:
        super().__init__(title, f"{cap('dialog.close')} closes", now, clock)
        self._parts = parts

    def text(self) -> Text:
        """A paragraph a number."""
        return Text("\n\n").join(_paragraph(part) for part in self._parts)


def _paragraph(part: Explanation) -> Text:
    heading = figures([(part.name, part.value)], across=1, width=WIDTH)
    heading.stylize("bold")
    lines = [heading]
    if part.formula:
        lines.append(Text(f"= {part.formula}"))
    if part.inputs:
        inputs = figures(part.inputs, across=1, width=WIDTH - _INDENT)
        lines.extend(Text(" " * _INDENT) + line for line in inputs.split("\n"))
    shown = Text(part.source, "muted")
    if part.age.plain:
        shown.append(", ")
        shown.append_text(part.age)
        shown.append(" ago", "muted")
    lines.append(shown)
    return Text("\n").join(lines)
