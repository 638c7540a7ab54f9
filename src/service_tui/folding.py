"""Text as it is compared: what looks alike is alike."""

import re
import unicodedata
from functools import lru_cache
from itertools import groupby
from typing import Final

_ALIKE: Final = str.maketrans({
    **dict.fromkeys("\u2018\u2019\u201a\u201b\u2032\u02bc\u02b9\u00b4`\uff07", "'"),
    **dict.fromkeys("\u201c\u201d\u201e\u201f\u2033\u00ab\u00bb\uff02", '"'),
    **dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2015\u2212\u2043\ufe58\ufe63\uff0d", "-"),
    "\u0142": "l", "\u00f8": "o", "\u0111": "d", "\u0131": "i", "\u0127": "h", "\u0167": "t",
    "\u00e6": "ae", "\u0153": "oe", "\u00f0": "d", "\u00fe": "th", "\u2044": "/",
})  # fmt: skip
"""Letters that no decomposition takes apart, and marks that a keyboard has in one form only."""

_MARKS: Final = frozenset({"Mn", "Me"})
_UNSEEN: Final = re.compile("[\u034f\u180b-\u180d\u180f\ufe00-\ufe0f\U000e0100-\U000e01ef]")
"""Marks that only choose among forms of a letter."""

_ACCENTED: Final = ("LATIN ", "GREEK ", "CYRILLIC ")
"""Scripts whose marks are accents. In others a mark is a vowel, and makes another word."""

_JOINED: Final = _MARKS | {"Cf"}
_PLAIN: Final = re.compile(r"[ -_a-~]*\Z")
"""Letters of ASCII but the accent that stands for a quote."""


@lru_cache(maxsize=16_384)
def folded(text: str) -> str:
    """The text without the difference of capitals, accents, kinds of quotes and of dashes.

    An accent is a mark on a letter that is Latin, Greek or Cyrillic. It is remembered: a search
    folds each row once, and not at each key.
    """
    if text.isascii() and _PLAIN.match(text):
        return text.lower()
    seen = "".join(one for one in _UNSEEN.sub("", text) if unicodedata.category(one) != "Cf")
    # Twice: an accent that stands alone falls apart, and capitals become more than one letter.
    small = unicodedata.normalize("NFKD", seen.translate(_ALIKE)).casefold().translate(_ALIKE)
    letters: list[str] = []
    is_accented = False
    for letter in unicodedata.normalize("NFKD", small):
        is_mark = unicodedata.category(letter) in _MARKS
        if not is_mark:
            is_accented = unicodedata.name(letter, "").startswith(_ACCENTED)
        if not (is_mark and is_accented):
            letters.append(letter)
    return "".join(letters)


def folded_name(text: str) -> str:
    """The text as names are compared: folded, but 10\u00b2 is not 102, and \u00bd is not 1/2."""
    parts = groupby(text, lambda letter: unicodedata.category(letter) == "No")
    return "".join(
        "".join(part) if is_figure else folded("".join(part)) for is_figure, part in parts
    )


def folded_with_places(text: str) -> tuple[str, tuple[int, ...]]:
    """The folded text, and of each of its letters the place of the one that it came from."""
    shown: list[str] = []
    places: list[int] = []
    first, length = 0, 0
    for place, letter in enumerate(text):
        # What becomes of a mark depends on the letter before it.
        if unicodedata.category(letter) not in _JOINED:
            first, length = place, 0
        part = folded(text[first : place + 1])
        if length == 0:
            shown.append(part)
        else:
            shown[-1] = part
        places += [place] * (len(part) - length)
        length = len(part)
    return "".join(shown), tuple(places)
