"""Searches of the `/` line: words, `!word`, `column:>value`, `column:choice`, `column:word`.

A term is one token. `expected` is False for a term behind `!`: the row must not match it.
"""

import operator
import re
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from textwrap import shorten
from typing import Final

from service_tui.folding import folded

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
"""Columns of fractions shown in points or per cent: a number from 1 on is per cent."""

POINTS: Final = frozenset({"drift", "slip", "won"})
"""Columns whose numbers are points or per cent already: `%` leaves them as they are."""

_UNITS_OF_TIME: Final = ("min", "h", "d", "w")

_COMPARED: Final = re.compile(r"([^\s:<>=]*):?(>=|<=|>|<)(.*)")
_VALUE: Final = re.compile(r"([+-]?[0-9]{1,15}(?:\.[0-9]{0,9})?|\.[0-9]{1,9})([a-z%]*)")

_NO_CHOICES: Final[Mapping[str, Collection[str]]] = {}
_NO_NAMES: Final[Mapping[str, str]] = {}

_NAME: Final = re.compile(r"[a-z&][a-z0-9&%]+")
"""Text that may be the name of a column; elsewhere a colon is an ordinary character."""

_TITLE: Final = re.compile(r"[a-z0-9&%]+")
_LISTED: Final = 21
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
class _WordTerm:
    word: str
    expected: bool


@dataclass(frozen=True, slots=True)
class _ComparisonTerm:
    column: str
    holds: Callable[[float, float], bool]
    value: float
    expected: bool


@dataclass(frozen=True, slots=True)
class _ChoiceTerm:
    column: str
    names: frozenset[str]
    expected: bool


@dataclass(frozen=True, slots=True)
class _CellTerm:
    column: str
    word: str
    expected: bool


@dataclass(frozen=True, slots=True)
class Search:
    """The parsed part of a search: every term must match.

    `problem` describes the rest; empty without a rest.
    """

    words: tuple[_WordTerm, ...] = ()
    comparisons: tuple[_ComparisonTerm, ...] = ()
    problem: str = ""
    choices: tuple[_ChoiceTerm, ...] = ()
    cells: tuple[_CellTerm, ...] = ()

    def __bool__(self) -> bool:
        """True if it has any term."""
        return bool(self.words or self.comparisons or self.choices or self.cells)

    def matches(
        self,
        text: str,
        number: Callable[[str], float | None],
        cell: Callable[[str], str] = lambda _: "",
    ) -> bool:
        """True if a row matches words, numbers and cells; `matches_choice` asks for choices.

        Args:
            text: the row's words, folded.
            number: the row's value in a column, None if unknown.
            cell: the row's text in a column.

        Returns:
            True if all of these terms match; an unknown value matches no comparison, nor its
            inversion.
        """
        for term in self.words:
            if (term.word in text) is not term.expected:
                return False
        for term in self.comparisons:
            value = number(term.column)
            if value is None or term.holds(value, term.value) is not term.expected:
                return False
        return all((term.word in folded(cell(term.column))) is term.expected for term in self.cells)

    def matches_choice(self, column: str, known: Collection[str]) -> bool:
        """True if a row matches the choice terms of a column.

        `known` are the row's own values there; an empty one is unknown and matches no term.
        """
        return all(
            bool(known) and term.names.isdisjoint(known) is not term.expected
            for term in self.choices
            if term.column == column
        )


def read_search(
    typed: str,
    columns: Collection[str],
    choices: Mapping[str, Collection[str]] = _NO_CHOICES,
    names: Mapping[str, str] = _NO_NAMES,
) -> Search:
    """Parse a search; parts of it may stay unparsed.

    Args:
        typed: tokens separated by spaces; `!` before one inverts it.
        columns: ids of the columns of numbers, for comparisons.
        choices: columns with a few possible values, and these values; `venue:evm` matches a value
        by its beginning.
        names: all names of the table's columns, with the id of each; a column that is in neither of
        the other two has text, of which `column:word` matches a part.

    Returns:
        The search; an empty one is false and matches every row.
    """
    text: list[_WordTerm] = []
    comparisons: list[_ComparisonTerm] = []
    choice_terms: list[_ChoiceTerm] = []
    cells: list[_CellTerm] = []
    known = {**names, **{one: one for one in (*columns, *choices)}}
    problem = ""
    for token in typed.split():
        is_expected = not token.startswith("!")
        bare = token if is_expected else token[1:]
        bare = _with_column(bare, known)
        term = _read_choice(bare, choices, is_expected=is_expected)
        term = term or _read_cell(bare, known, (*columns, *choices), is_expected=is_expected)
        term = term or _read_token(bare, columns, is_expected=is_expected)
        if isinstance(term, str):
            problem = problem or term
        elif isinstance(term, _ComparisonTerm):
            comparisons.append(term)
        elif isinstance(term, _ChoiceTerm):
            choice_terms.append(term)
        elif isinstance(term, _CellTerm):
            cells.append(term)
        else:
            text.append(term)
    return Search(tuple(text), tuple(comparisons), problem, tuple(choice_terms), tuple(cells))


_PARTS: Final = re.compile(r"([^\s:<>=]+)(:?(?:>=|<=|>|<)|:)(.*)")


def _with_column(bare: str, known: Mapping[str, str]) -> str:
    """A term with its column's name, or the beginning of one, replaced by the column's id."""
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
    bare: str, known: Mapping[str, str], others: Collection[str], *, is_expected: bool
) -> _CellTerm | str | None:
    """A term on the text of a column, a problem, or None for another kind of term."""
    parts = _PARTS.fullmatch(bare)
    if parts is None:
        return None
    column, sign, given = parts.group(1).casefold(), parts.group(2), folded(parts.group(3))
    if column in others:
        return None
    if column not in known:
        return _no_column(column, known) if sign != ":" or _NAME.fullmatch(column) else None
    if sign != ":":
        return f"{column}: wants a word, as {column}:abc"
    return _CellTerm(column, given, is_expected) if given else f"{column}: wants a word behind it"


def _no_column(name: str, known: Mapping[str, str]) -> str:
    """The message that there is no such column, with similar or existing names."""
    close = get_close_matches(name, known, 1, _CLOSE)
    text = f"No column {_shortened(name)}"
    if close:
        return f"{text}. Did you mean {close[0]}?"
    listed = ", ".join(dict.fromkeys(known.values()))
    cut = shorten(listed, _LISTED, placeholder="")
    if cut != listed:
        listed = f"{cut} …"
    return f"{text}. Columns: {listed}"


def _shortened(name: str) -> str:
    return name if len(name) <= _NAMED else f"{name[: _NAMED - 1]}…"


def _read_choice(
    bare: str, choices: Mapping[str, Collection[str]], *, is_expected: bool
) -> _ChoiceTerm | str | None:
    """A choice term, a problem, or None for another kind of term."""
    column, colon, given = bare.casefold().partition(":")
    if not colon or column not in choices:
        return None
    every = choices[column]
    result = frozenset(name for name in every if given and name.startswith(given))
    return (
        _ChoiceTerm(column, result, is_expected)
        if result
        else f"{column}: is one of {', '.join(every)}"
    )


def _read_token(
    bare: str, columns: Collection[str], *, is_expected: bool
) -> _WordTerm | _ComparisonTerm | str:
    """A word, a comparison, or a problem."""
    column = bare.partition(":")[0].casefold()
    compared = _COMPARED.fullmatch(bare)
    if compared is None:
        if column in columns and ":" in bare:
            return f"{column}: wants > or < and a number, as {column}:>0.6"
        return _WordTerm(folded(bare), is_expected)
    column, sign, given = compared.group(1).casefold(), compared.group(2), compared.group(3)
    if column not in columns:
        return _no_column(column, {one: one for one in columns})
    value = _read_value(f"{column}:{sign}", column, given.casefold())
    if isinstance(value, str):
        return value
    return _ComparisonTerm(column, _COMPARISONS[sign], value, is_expected)


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
