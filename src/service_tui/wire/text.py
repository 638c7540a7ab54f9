"""The one sanitiser: text from outside becomes harmless plain text."""

import re
import unicodedata
from typing import Final

from service_tui.terms import LINE_MAX, PROSE_MAX

_ELLIPSIS: Final = "…"
_COMBINING_MAX: Final = 4
"""Marks on one letter beyond which text is decoration that breaks the layout."""

_ESCAPES: Final = re.compile(
    r"(?:\x1b\]|\x9d)[^\x07\x1b\x9c]*(?:\x07|\x1b\\|\x9c)?"  # system commands, with payload
    r"|(?:\x1b[P^_X]|[\x90\x98\x9e\x9f])[^\x1b\x9c]*(?:\x1b\\|\x9c)?"  # control strings
    r"|(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]?"  # control sequences
    r"|\x1b[ -/]*[0-~]?"  # all other escapes: one letter, perhaps after some marks
)
_INTRODUCER: Final = re.compile("[\x1b\x90\x98\x9b\x9d-\x9f]")
_UNSHOWN: Final = bytes([*range(33), 127])
_SIMPLE: Final = re.compile(
    "[ -\u02ff\u0400-\u0482\u048a-\u052f\u2010-\u205e\u20a0-\u20bf"
    "\u3041-\u3096\u30a1-\u30fe\u4e00-\u9fff\uac00-\ud7a3]*\\Z"
)
"""Common letters without any mark; text of these that is printable need not be looked at singly."""

_JSON: Final = ("{", "[")
_OBEYED: Final = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f"
    "\ufeff\ufff9-\ufffb\U000e0000-\U000e007f]"
)
"""Controls, marks of direction, and letters without width: all that a terminal obeys or hides."""

_UNWANTED: Final = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})
_STACKED: Final = re.compile(r"[\u1160-\u11ff\ud7b0-\ud7ff]")
"""Letters that take no cell of their own: parts of Hangul syllables."""

_UNSEEN: Final = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180d\u180f\u3164\ufe00-\ufe0f\uffa0"
    "\U0001f3fb-\U0001f3ff\U000e0100-\U000e01ef]"
)
"""Fillers and selectors: nothing to see, or a width on which terminals disagree."""


def line(text: str, limit: int = LINE_MAX) -> str:
    """One printable line: no controls, escapes, bidi marks, zero-width or lone surrogates."""
    if _is_plain(text, limit):
        return _single_spaced(text)
    return _cut(" ".join(_clean(text[: limit * 8]).split()), limit)


def prose(text: str, limit: int = PROSE_MAX) -> str:
    """The same, but line breaks stay, at most two in a row."""
    if _is_plain(text, limit):
        return _single_spaced(text)
    # Escapes go first: their payload may run over several lines.
    lines = [" ".join(_clean(part).split()) for part in _bare(text[: limit * 8]).splitlines()]
    return _cut(re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).strip(), limit)


def harmless(text: str) -> str:
    """The text unchanged if it is printable, else cleaned as by `prose`, at its full length."""
    if text.isprintable() and _SIMPLE.match(text):
        return text
    return prose(text, limit=max(1, len(text)))


def on_terminal(text: str) -> str:
    """A text of several lines as a terminal may get it: nothing in it is obeyed, only shown.

    Line breaks and tabs stay. Of JSON, whose values are for programs, what is taken out of other
    text stays as an escape.
    """
    if text.startswith(_JSON):
        return _OBEYED.sub(lambda found: _escaped(found.group()), text)
    return _OBEYED.sub("", _bare(text))


def _escaped(letter: str) -> str:
    units = letter.encode("utf-16-be", "surrogatepass").hex()
    return "".join(f"\\u{units[place : place + 4]}" for place in range(0, len(units), 4))


def has_controls(text: str) -> bool:
    """Whether a text has control sequences, which a terminal could execute."""
    return not text.isprintable() and _INTRODUCER.search(text) is not None


def letters(text: str) -> str:
    """The visible ASCII letters of a text, joined: to search it for a word split by other marks.

    Returns:
        A text without whatever `line` and `prose` remove, and without all that is not ASCII.
    """
    bare = _bare(text) if has_controls(text) else text
    return bare.encode("ascii", "ignore").translate(None, _UNSHOWN).decode()


def _is_plain(text: str, limit: int) -> bool:
    """Whether there is nothing to take out of a text but spaces, as of most texts."""
    return (
        len(text) <= limit
        and text.isprintable()
        and (text.isascii() or _SIMPLE.match(text) is not None)
    )


def _single_spaced(text: str) -> str:
    """The words of a printable text, which has no blanks but spaces."""
    return " ".join(text.split()) if "  " in text else text.strip(" ")


def _bare(text: str) -> str:
    """The text without escapes and their payloads."""
    return _ESCAPES.sub("", text)


def _clean(text: str) -> str:
    text = _bare(text)
    if text.isprintable() and _SIMPLE.match(text):
        return text
    kept: list[str] = []
    # A mark without a letter before it would sit on whatever the screen shows to its left.
    marks = _COMBINING_MAX
    for letter in text:
        category = unicodedata.category(letter)
        if category in _UNWANTED or _UNSEEN.match(letter):
            # Tabs and breaks separate words; everything else of these leaves no trace.
            if category in {"Cc", "Zl", "Zp"} and letter.isspace():
                kept.append(" ")
                marks = _COMBINING_MAX
            continue
        if category in {"Mn", "Me"} or _STACKED.match(letter):
            marks += 1
        else:
            marks = _COMBINING_MAX if category == "Zs" else 0
        if marks <= _COMBINING_MAX:
            kept.append(letter)
    return "".join(kept)


def _cut(text: str, limit: int) -> str:
    return text if len(text) <= limit else text[: limit - 1].rstrip() + _ELLIPSIS
