"""Short names of markets for lists: the short form of the question.

The questions of the offline world have short forms of their own (data/topics/short_forms.txt). Any
other question is its own short form: a sentence that a machine shortened may say something else.
"""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from functools import cache, lru_cache
from itertools import pairwise, starmap
from pathlib import Path
from typing import Final, NamedTuple

from service_tui.console.formats import TEXT_MAX, date_time, plain
from service_tui.terms import Side
from service_tui.units import Timestamp

FORMS: Final = Path(__file__).parents[1] / "data" / "topics" / "short_forms.txt"

_MONTHS: Final = (
    "jan",
    "feb",
    "mar",
    "apr",
    "may",
    "jun",
    "jul",
    "aug",
    "sep",
    "oct",
    "nov",
    "dec",
)
_MONTH: Final = r"(?P<{0}>(?:" + "|".join(month.capitalize() for month in _MONTHS) + r")[a-z]*)"
_DEADLINE: Final = re.compile(
    r"\s+(?:by|at|on)\s+(?:(?P<clock>[0-2]\d:[0-5]\d)(?: on (?P<clock_day>\d{1,2}) "
    + _MONTH.format("clock_month")
    + r")?|(?P<day>\d{1,2}) "
    + _MONTH.format("month")
    + ")$"
)
_NEAR_S: Final = 36 * 3_600
"""How far the end may be from the day named: a venue closes a market in another zone's night."""

_GAP: Final = re.compile(r"\{(\w+)\}")
_UTC: Final = re.compile(r"(?<=\d) UTC\b")


class _Form(NamedTuple):
    """A question of the offline world and its short form, with the same gaps in braces."""

    question: str
    short: str


@lru_cache(maxsize=8_192)
def short_question(question: str, ends_at: Timestamp | None = None) -> str:
    """What lists call a market.

    Args:
        question: as the service has it; cleaned here.
        ends_at: the end that a column of the same row shows; None: there is no such column, and
            the deadline stays.

    Returns:
        One line. The short form of a question of the offline world, without a deadline that is
        that end, else with it; any other question as it is.
    """
    text = plain(question, TEXT_MAX).plain
    short = _short_form(text)
    if short is None:
        return text
    if ends_at is not None:
        found = _DEADLINE.search(short)
        if found is not None and _is_at(found, datetime.fromtimestamp(ends_at, UTC)):
            return short[: found.start()]
    return short


def side_question(side: Side, question: str) -> str:
    """A side of a market in a line: the side, then what the market is called."""
    return f"{side.value.upper()}: {short_question(question)}"


class Names(NamedTuple):
    """What lists call a market: beside a column with its end, and where none is shown."""

    question: str
    beside_end: str
    alone: str


def names_of(markets: Iterable[tuple[str, str, Timestamp | None]]) -> dict[str, Names]:
    """Names of markets, no two of them equal while their ends differ.

    Args:
        markets: each market's id, question and end.

    Returns:
        By id. A deadline is left out beside the end, except where two names would be equal; where
        two questions are equal, the end follows the name.
    """
    known = {market_id: (question, end) for market_id, question, end in markets}
    alone = {each: short_question(question) for each, (question, _) in known.items()}
    beside = {each: short_question(question, end) for each, (question, end) in known.items()}
    often, often_beside = Counter(alone.values()), Counter(beside.values())
    ends: dict[str, set[Timestamp | None]] = {}
    for each, name in alone.items():
        if often[name] > 1:
            ends.setdefault(name, set()).add(known[each][1])
    return {
        each: Names(
            known[each][0],
            beside[each] if often_beside[beside[each]] == 1 else name,
            _dated(name, known[each][1]) if len(ends.get(name, ())) > 1 else name,
        )
        for each, name in alone.items()
    }


@lru_cache(maxsize=4)
def shorter_names(names: frozenset[str]) -> Mapping[str, str]:
    """Names without the ending that names of the same beginning share, for where one has no room.

    "Will Ada win Ohio's primary election?" beside others of the kind is "Will Ada win Ohio's…".

    Args:
        names: what markets are called.

    Returns:
        By the whole name; those alone that differ in their middle, before a long ending.
    """
    rows = sorted({tuple(name.split(" ")) for name in names})
    near = [0, *starmap(_equal_words, pairwise(rows)), 0]
    # The words that a name shares with the one that is most like it, and what stands behind them.
    alike: dict[tuple[str, ...], list[tuple[str, ...]]] = {}
    for place, row in enumerate(rows):
        begin = row[: max(near[place : place + 2])]
        if len(begin) >= _LIKE_WORDS:
            alike.setdefault(begin, []).append(row)
    found: dict[str, str] = {}
    for begin, likes in alike.items():
        ends = min(_equal_words(likes[0][::-1], other[::-1]) for other in likes)
        shared = likes[0][len(likes[0]) - ends :]
        if len(likes) == 1 or len(" ".join(shared)) < _LONG_END:
            continue
        for row in likes:
            left = row[: len(row) - ends]
            if len(left) > len(begin):
                found[" ".join(row)] = f"{' '.join(left)}…"
    return found


_LIKE_WORDS: Final = 2
"""Names that begin with as many equal words are of one kind."""

_LONG_END: Final = 16
"""Letters of a shared ending that would fill what is kept of an end; a date is shorter."""


def _equal_words(one: Sequence[str], other: Sequence[str]) -> int:
    """How many words two names begin with alike."""
    pairs = zip(one, other, strict=False)
    return next((place for place, (a, b) in enumerate(pairs) if a != b), min(len(one), len(other)))


def _dated(name: str, end: Timestamp | None) -> str:
    return name if end is None else f"{name} ({date_time(end).plain})"


def _short_form(text: str) -> str | None:
    """The short form of a question of the offline world; None for any other."""
    forms = _forms()
    # A form is looked up by its longest word: of a hundred and more, a few are tried. The one that
    # says most comes first: another may take its words for a name.
    near = {form for word in _words(text) for form in forms.get(word, ())}
    for form in sorted(near, key=lambda form: -len(_GAP.sub("", form.question))):
        found = _pattern(form.question).fullmatch(text)
        if found is not None:
            filled = form.short.format_map(found.groupdict()).replace("s's ", "s' ")
            shorter = _UTC.sub("", filled)
            return shorter[:1].upper() + shorter[1:]
    return None


@cache
def _forms() -> dict[str, tuple[_Form, ...]]:
    """The forms of all questions by their longest word."""
    text = FORMS.read_text("utf-8")
    found: dict[str, tuple[_Form, ...]] = {}
    for line in text.splitlines():
        if line.startswith("#"):
            continue
        question, short = line.split(" | ")
        key = max(_words(_GAP.sub(" ", question)), key=lambda word: (len(word), word))
        found[key] = (*found.get(key, ()), _Form(question, short))
    return found


def _words(text: str) -> list[str]:
    return re.findall(r"[A-Za-z]{2,}", text)


@cache
def _pattern(question: str) -> re.Pattern[str]:
    """What a question reads like with any words in its gaps; compiled when it is first met."""
    literal = _GAP.split(question)
    # A name in s has the short possessive.
    parts = [
        f"(?P<{part}>.+?)" if place % 2 else re.escape(part).replace("'s\\ ", "'s?\\ ")
        for place, part in enumerate(literal)
    ]
    return re.compile("".join(parts))


def _is_at(deadline: re.Match[str], end: datetime) -> bool:
    """True if the deadline names this end."""
    named = deadline.groupdict()
    if named["clock"] is not None:
        hour, minute = map(int, named["clock"].split(":"))
        if (hour, minute) != (end.hour, end.minute):
            return False
        return named["clock_day"] is None or _is_near(named["clock_day"], named["clock_month"], end)
    return _is_near(named["day"], named["month"], end)


def _is_near(day: str, month: str, end: datetime) -> bool:
    number = _MONTHS.index(month[:3].lower()) + 1
    for year in (end.year - 1, end.year, end.year + 1):
        try:
            start = datetime(year, number, int(day), tzinfo=UTC)
        except ValueError:
            continue
        # The day named, or the moment at which it begins or ends.
        if -_NEAR_S <= (end - start).total_seconds() <= _NEAR_S:
            return True
    return False
