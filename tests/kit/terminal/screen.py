"""What a terminal shows after what a program wrote to it: letters in their places, no colours."""

import codecs
import re
from typing import Final

from rich.cells import cell_len

_PIECE: Final = re.compile(
    r"\x1b\[(?P<given>[0-?]*)[ -/]*(?P<act>[@-~])"  # moves, colours, modes
    r"|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)"  # titles and the like
    r"|\x1b[P_^X][^\x1b]*\x1b\\"
    r"|\x1b[ -/]*[0-OQ-WYZ\\`-~]"
    r"|(?P<text>[^\x00-\x1f\x7f]+)"
    r"|(?P<control>[\x00-\x1a\x1c-\x1f\x7f])"
)


class TerminalScreen:
    """So many lines of so many cells; it understands what the console writes, and no more."""

    def __init__(self, columns: int, lines: int) -> None:
        self._rows = [[" "] * columns for _ in range(lines)]
        self._columns = columns
        self._row = self._column = 0
        self._decode = codecs.getincrementaldecoder("utf-8")("replace").decode
        self._rest = ""

    @property
    def text(self) -> str:
        return "\n".join("".join(row).rstrip() for row in self._rows)

    def take(self, written: bytes) -> None:
        """Show what was written; a command that is cut off waits for its other part."""
        said, place = self._rest + self._decode(written), 0
        while (piece := _PIECE.match(said, place)) is not None:
            place = piece.end()
            if piece["act"] is not None:
                self._act(piece["act"], piece["given"])
            elif piece["control"] is not None:
                self._control(piece["control"])
            else:
                self._put(piece["text"] or "")
        self._rest = said[place:]

    def _act(self, act: str, given: str) -> None:
        numbers = [
            int(number or 1) for number in given.split(";") if number.isdigit() or not number
        ]
        if act == "H":
            row, column = [*numbers, 1, 1][:2]
            self._row, self._column = row - 1, column - 1
        elif act == "J":
            for row in self._rows:
                row[:] = " " * self._columns

    def _control(self, letter: str) -> None:
        if letter == "\n":
            self._row += 1
        elif letter == "\r":
            self._column = 0

    def _put(self, text: str) -> None:
        for letter in text:
            width = cell_len(letter)
            is_seen = self._row < len(self._rows) and self._column + width <= self._columns
            if width and is_seen:
                cells = [letter, *[""] * (width - 1)]
                self._rows[self._row][self._column : self._column + width] = cells
            self._column += width
