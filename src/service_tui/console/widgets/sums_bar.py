"""One line of figures above a table, as many as fit."""

from collections.abc import Sequence

from rich.text import Text

from service_tui.console.widgets.bar import Bar
from service_tui.console.widgets.line_fit import GAP, Bit, fitted_bits, joined


def sums_bit(head: str, sums: Sequence[tuple[str, Text]], *, ahead: int) -> Bit:
    """The sums of one currency; where room is short, the first and the last word of it.

    Args:
        head: number of rows and the currency.
        sums: labels and amounts; the last one, the result, stays longest.
        ahead: number of currencies before it, which stay whole longer.
    """
    first = Text(head, "bold")
    parts = [Text.assemble((f"{label} ", "muted"), amount) for label, amount in sums]
    gap = Text(" " * GAP)
    short = gap.join((first, *parts[-1:]))
    return Bit(gap.join((first, *parts)), rank=ahead + 1, short=short)


class SumsBar(Bar):
    """The bits that fit."""

    def __init__(self, *, id: str) -> None:  # noqa: A002 - Textual's own word
        super().__init__(id=id)
        self._bits: tuple[Bit, ...] = ()

    def show(self, bits: tuple[Bit, ...]) -> None:
        """Show these bits."""
        if bits != self._bits:
            self._bits = bits
            self.refresh()

    def drawn(self, width: int, height: int) -> Text:
        """The line."""
        del height
        return joined(fitted_bits(self._bits, width), width)
