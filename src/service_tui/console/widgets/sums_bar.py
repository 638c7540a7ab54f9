"""One line of figures above a table, as many as fit."""

from rich.text import Text

from service_tui.console.widgets.bar import Bar
from service_tui.console.widgets.line_fit import Bit, fitted_bits, joined


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
