"""Folds text for comparison, so that letters that look alike are equal."""

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


_LATIN: Final = str.maketrans(
    "\u0410\u0430\u0412\u0432\u0415\u0435\u041a\u043a\u041c\u043c\u041d\u043d\u041e\u043e"
    "\u0420\u0440\u0421\u0441\u0422\u0442\u0423\u0443\u0425\u0445\u0406\u0456\u0408\u0458\u0405\u0455"
    "\u0501\u04bb\u04cf\u051b\u051d\u0261\u0251\u0391\u03b1\u0392\u03b2\u0395\u03b5\u0396\u0397\u03b7"
    "\u0399\u03b9\u039a\u03ba\u039c\u039d\u03bd\u039f\u03bf\u03a1\u03c1\u03a4\u03c4\u03a5\u03c5\u03a7\u03c7"
    "\u03c9\u03f2\u03f3\u0578\u0585\u057d\u0570",
    "AaBbEeKkMmHhOoPpCcTtYyXxIiJjSsdhlqwgaAaBbEeZHnIiKkMNvOoPpTtYuXxwcjnouh",
) | str.maketrans(
    "\u1d00\u0299\u1d04\u1d05\u1d07\ua730\u0262\u029c\u026a\u1d0a\u1d0b\u029f\u1d0d\u0274\u1d0f\u1d18"
    "\u0280\ua731\u1d1b\u1d1c\u1d20\u1d21\u028f\u1d22\u0138\u212e\u04bd\u0475\u0433",
    "abcdefghijklmnoprstuvwyzkeevr",
    "\u115f\u1160\u2800\u3164\uffa0",
)
"""Letters of Cyrillic, Greek and Armenian that pass for a Latin one, and small capitals.

# ours: the alphabets that keyboards have. Unicode's own list has thousands of letters, and is no
part of Python.
"""


def looks_of(name: str) -> str:
    """A name as the eye takes it in.

    Names of equal looks differ in what is overlooked: capitals, blanks, accents, kinds of quotes,
    letters of another alphabet.
    """
    return "".join(folded_name(name.translate(_LATIN)).split())


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
