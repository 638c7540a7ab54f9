"""The language of the `/` line: words, `!word`, `column:>value`, `column:name`."""

import operator
import re
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from textwrap import shorten
from typing import Final

_COMPARISONS: Final[dict[str, Callable[[float, float], bool]]] = {
    ">": operator.gt,
    ">=": operator.ge,
    "<": operator.lt,
    "<=": operator.le,
}
_SUFFIXES: Final = {
    "": 1.0,
    "%": 0.01,
    "k": 1e3,
    "m": 1e6,
    "min": 60.0,
    "h": 3_600.0,
    "d": 86_400.0,
    "w": 604_800.0,
}
"""A `m` is a million: minutes are spelled `min`."""

TIMES: Final = frozenset({"left", "age"})
"""Columns of seconds, which take a unit of time or none."""

FRACTIONS: Final = frozenset({"change", "gap", "percent", "edge", "confidence", "behind"})
"""Columns of fractions that are shown in points or per cent: a bare number of 1 and more is so."""

POINTS: Final = frozenset({"drift", "slip", "won"})
"""Columns whose numbers are points or per cent already: `%` leaves them as they are."""

_UNITS_OF_TIME: Final = ("min", "h", "d", "w")

_COMPARED: Final = re.compile(r"([^\s:<>=]*):?(>=|<=|>|<)(.*)")
_VALUE: Final = re.compile(r"([+-]?[0-9]{1,15}(?:\.[0-9]{0,9})?|\.[0-9]{1,9})([a-z%]*)")

_NONE_NAMED: Final[Mapping[str, Collection[str]]] = {}
_NO_NAMES: Final[Mapping[str, str]] = {}

_NAME: Final = re.compile(r"[a-z&][a-z0-9&%]+")
"""Text that may be the name of a column; elsewhere a colon is an ordinary character."""

_TITLE: Final = re.compile(r"[a-z0-9&%]+")
_LISTED: Final = 30
_NAMED: Final = 12
"""Letters of the columns that a problem lists, and of an unknown one: 80 cells leave it 60."""

_CLOSE: Final = 0.5
"""Least similarity of a name that is suggested for an unknown one."""


def names_of(columns: Iterable[tuple[str, str]]) -> dict[str, str]:
    """The names of each column before a colon: its id, its title, the title's first word.

    Args:
        columns: id and title of each, from left to right; the first one gets a shared name.

    Returns:
        The column's id by each of its names, in small letters.
    """
    known = list(columns)
    columns_by_name = {column: column for column, _ in known}
    for column, title in known:
        text = _TITLE.findall(title.casefold())
        for name in ("".join(text), *text[:1]):
            if name:
                columns_by_name.setdefault(name, column)
    return columns_by_name


@dataclass(frozen=True, slots=True)
class _Word:
    word: str
    wanted: bool


@dataclass(frozen=True, slots=True)
class _Comparison:
    column: str
    holds: Callable[[float, float], bool]
    value: float
    wanted: bool


@dataclass(frozen=True, slots=True)
class _Named:
    column: str
    names: frozenset[str]
    wanted: bool


@dataclass(frozen=True, slots=True)
class _Cell:
    column: str
    word: str
    wanted: bool


@dataclass(frozen=True, slots=True)
class Search:
    """The parsed part of a search: every word, comparison and name must match.

    `problem` describes the rest; empty without a rest.
    """

    words: tuple[_Word, ...] = ()
    comparisons: tuple[_Comparison, ...] = ()
    problem: str = ""
    named: tuple[_Named, ...] = ()
    cells: tuple[_Cell, ...] = ()

    def __bool__(self) -> bool:
        """True if it has any term."""
        return bool(self.words or self.comparisons or self.named or self.cells)

    def matches(
        self,
        text: str,
        number: Callable[[str], float | None],
        cell: Callable[[str], str] = lambda _: "",
    ) -> bool:
        """True if a row matches the words and numbers.

        Args:
            text: the row's words, casefolded.
            number: the row's value in a column, None if unknown.
            cell: the row's text in a column.

        Returns:
            True if all terms match; an unknown value matches no comparison, nor its inversion.
        """
        for term in self.words:
            if (term.word in text) is not term.wanted:
                return False
        for term in self.comparisons:
            value = number(term.column)
            if value is None or term.holds(value, term.value) is not term.wanted:
                return False
        return all(
            (term.word in cell(term.column).casefold()) is term.wanted for term in self.cells
        )

    def names(self, column: str, known: Collection[str]) -> bool:
        """True if a row matches by the names in one of its columns; `known` empty: unknown."""
        return all(
            bool(known) and term.names.isdisjoint(known) is not term.wanted
            for term in self.named
            if term.column == column
        )


def read_search(
    typed: str,
    columns: Collection[str],
    named: Mapping[str, Collection[str]] = _NONE_NAMED,
    names: Mapping[str, str] = _NO_NAMES,
) -> Search:
    """Parse a search; parts of it may stay unparsed.

    Args:
        typed: tokens separated by spaces; `!` before one inverts it.
        columns: names that may stand before a comparison.
        named: columns whose cells hold some of a few names, with these; `venue:evm` matches a name
        by its beginning.
        names: the names of the table's columns, with the id of each; a column that is neither
        compared nor named holds text, of which `column:word` matches a part.

    Returns:
        The search; an empty one is false and matches every row.
    """
    text: list[_Word] = []
    comparisons: list[_Comparison] = []
    by_name: list[_Named] = []
    cells: list[_Cell] = []
    known = {**names, **{one: one for one in (*columns, *named)}}
    problem = ""
    for token in typed.split():
        is_wanted = not token.startswith("!")
        bare = token if is_wanted else token[1:]
        bare = _with_column(bare, known)
        term = _read_name(bare, named, is_wanted=is_wanted)
        term = term or _read_cell(bare, known, (*columns, *named), is_wanted=is_wanted)
        term = term or _read_token(bare, columns, is_wanted=is_wanted)
        if isinstance(term, str):
            problem = problem or term
        elif isinstance(term, _Comparison):
            comparisons.append(term)
        elif isinstance(term, _Named):
            by_name.append(term)
        elif isinstance(term, _Cell):
            cells.append(term)
        else:
            text.append(term)
    return Search(tuple(text), tuple(comparisons), problem, tuple(by_name), tuple(cells))


_PARTS: Final = re.compile(r"([^\s:<>=]+)(:?(?:>=|<=|>|<)|:)(.*)")


def _with_column(bare: str, known: Mapping[str, str]) -> str:
    """A term with the id of its column in place of the column's name, or of its beginning."""
    parts = _PARTS.fullmatch(bare)
    if parts is None:
        return bare
    name, sign, value = parts.groups()
    column = _column_of(name.casefold(), known)
    return bare if column is None else f"{column}{sign}{value}"


def _column_of(name: str, known: Mapping[str, str]) -> str | None:
    """The column of a name, or of the beginning of the names of one column only."""
    if name in known:
        return known[name]
    begun = {column for each, column in known.items() if each.startswith(name)}
    return begun.pop() if len(begun) == 1 and len(name) > 1 else None


def _read_cell(
    bare: str, known: Mapping[str, str], others: Collection[str], *, is_wanted: bool
) -> _Cell | str | None:
    """A column of text with a part of it, a problem, or None for another kind of term."""
    parts = _PARTS.fullmatch(bare)
    if parts is None:
        return None
    column, sign, given = parts.group(1).casefold(), parts.group(2), parts.group(3).casefold()
    if column in others:
        return None
    if column not in known:
        return _no_column(column, known) if sign != ":" or _NAME.fullmatch(column) else None
    if sign != ":":
        return f"{column}: wants a word, as {column}:abc"
    return _Cell(column, given, is_wanted) if given else f"{column}: wants a word behind it"


def _no_column(name: str, known: Mapping[str, str]) -> str:
    """The message that there is no such column, with similar or existing names."""
    close = get_close_matches(name, known, 1, _CLOSE)
    message = f"no column {_shortened(name)!r}"
    if close:
        return f"{message}, did you mean {close[0]}?"
    listed = ", ".join(dict.fromkeys(known.values()))
    cut = shorten(listed, _LISTED, placeholder="")
    if cut != listed:
        listed = f"{cut} …"
    return f"{message}: {listed}"


def _shortened(name: str) -> str:
    return name if len(name) <= _NAMED else f"{name[: _NAMED - 1]}…"


def _read_name(
    bare: str, named: Mapping[str, Collection[str]], *, is_wanted: bool
) -> _Named | str | None:
    """A column with a name, a problem, or None for another kind of term."""
    column, colon, given = bare.casefold().partition(":")
    if not colon or column not in named:
        return None
    every = named[column]
    result = frozenset(name for name in every if given and name.startswith(given))
    return (
        _Named(column, result, is_wanted) if result else f"{column}: is one of {', '.join(every)}"
    )


def _read_token(
    bare: str, columns: Collection[str], *, is_wanted: bool
) -> _Word | _Comparison | str:
    """A word, a comparison, or a problem."""
    column = bare.partition(":")[0].casefold()
    compared = _COMPARED.fullmatch(bare)
    if compared is None:
        if column in columns and ":" in bare:
            return f"{column}: wants > or < and a number, as {column}:>0.6"
        return _Word(bare.casefold(), is_wanted)
    column, sign, given = compared.group(1).casefold(), compared.group(2), compared.group(3)
    if column not in columns:
        return _no_column(column, {one: one for one in columns})
    value = _read_value(f"{column}:{sign}", column, given.casefold())
    if isinstance(value, str):
        return value
    return _Comparison(column, _COMPARISONS[sign], value, is_wanted)


def _read_value(begun: str, column: str, given: str) -> float | str:
    """A number with its unit, or a problem; `begun` is the term before the number."""
    value = _VALUE.fullmatch(given)
    if value is None or value.group(2) not in _SUFFIXES:
        return f"{begun} wants a number, as {begun}0.6"
    number, unit = value.groups()
    if column in TIMES and unit not in {"", *_UNITS_OF_TIME}:
        units = f"{', '.join(_UNITS_OF_TIME[:-1])} or {_UNITS_OF_TIME[-1]}"
        return f"{begun} takes {units}, as {begun}{number}min"
    return float(number) * _scale(column, float(number), unit)


def _scale(column: str, number: float, unit: str) -> float:
    """What a typed number is multiplied with to compare it with the values of its column."""
    if column in FRACTIONS and not unit and abs(number) >= 1:
        return _SUFFIXES["%"]
    return 1.0 if column in POINTS and unit == "%" else _SUFFIXES[unit]
