"""Text as it is compared: what looks alike is alike."""

import re
import unicodedata
from functools import lru_cache
from typing import Final

_ALIKE: Final = str.maketrans({
    **dict.fromkeys("\u2018\u2019\u201a\u201b\u2032\u02bc\u02b9\u00b4`\uff07", "'"),
    **dict.fromkeys("\u201c\u201d\u201e\u201f\u2033\u00ab\u00bb\uff02", '"'),
    **dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2015\u2212\u2043\ufe58\ufe63\uff0d", "-"),
    "\u0142": "l", "\u00f8": "o", "\u0111": "d", "\u0131": "i", "\u0127": "h", "\u0167": "t",
    "\u00e6": "ae", "\u0153": "oe", "\u00f0": "d", "\u00fe": "th", "\u2044": "/",
})  # fmt: skip
"""Letters that no decomposition takes apart, and marks that a keyboard has in one form only."""

_MARKS: Final = frozenset({"Mn", "Me", "Cf"})
_PLAIN: Final = re.compile(r"[ -_a-~]*\Z")
"""Letters of ASCII but the accent that stands for a quote."""


@lru_cache(maxsize=16_384)
def folded(text: str) -> str:
    """The text without the difference of capitals, accents, kinds of quotes and of dashes.

    Two texts of which a person would say that they are the same name fold to the same text. It is
    remembered: a search folds each row once, and not at each key.
    """
    if text.isascii() and _PLAIN.match(text):
        return text.lower()
    # Marks go before and after the capitals do: a capital I with a dot becomes two letters.
    small = unicodedata.normalize("NFKD", text).casefold().translate(_ALIKE)
    return "".join(
        letter
        for letter in unicodedata.normalize("NFKD", small)
        if unicodedata.category(letter) not in _MARKS
    )


def folded_with_places(text: str) -> tuple[str, tuple[int, ...]]:
    """The folded text, and of each of its letters the place of the one that it came from."""
    parts = [folded(letter) for letter in text]
    places = tuple(place for place, part in enumerate(parts) for _ in part)
    return "".join(parts), places
