"""The one sanitiser: text from outside becomes harmless plain text.

Knows Unicode. Must not know who sends or who shows.
Used by every model of the wire, and by whoever reads a foreign file.
"""

import re
import unicodedata
from typing import Final

LINE_MAX: Final = 200
PROSE_MAX: Final = 4_000

_ELLIPSIS: Final = "…"
_COMBINING_MAX: Final = 4
"""Marks on one letter beyond which text is decoration that breaks the layout."""

_ESCAPES: Final = re.compile(
    r"\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)?"  # operating system commands, with their payload
    r"|\x1b[P^_X][^\x1b]*(?:\x1b\\)?"  # device control strings
    r"|(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]?"  # control sequences
)
_PLAIN: Final = re.compile(r"[ -~]*\Z")
_UNWANTED: Final = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})


def line(text: str, limit: int = LINE_MAX) -> str:
    """One printable line: no controls, escapes, bidi marks, zero-width or lone surrogates."""
    if len(text) <= limit and _PLAIN.match(text):
        return text.strip()
    return _cut(" ".join(_clean(text[: limit * 8]).split()), limit)


def prose(text: str, limit: int = PROSE_MAX) -> str:
    """The same, but line breaks stay, at most two in a row."""
    lines = [" ".join(_clean(part).split()) for part in text[: limit * 8].splitlines()]
    return _cut(re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).strip(), limit)


def _clean(text: str) -> str:
    kept: list[str] = []
    marks = 0
    for letter in _ESCAPES.sub("", text):
        category = unicodedata.category(letter)
        if category in _UNWANTED:
            # Tabs and breaks separate words; everything else of these leaves no trace.
            if category == "Cc" and letter.isspace():
                kept.append(" ")
            continue
        marks = marks + 1 if category in {"Mn", "Me"} else 0
        if marks <= _COMBINING_MAX:
            kept.append(letter)
    return "".join(kept)


def _cut(text: str, limit: int) -> str:
    return text if len(text) <= limit else text[: limit - 1].rstrip() + _ELLIPSIS
