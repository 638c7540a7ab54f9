"""The language of the `/` line: words, `!word`, `column:>value`, `column:name`.

Knows text and numbers only. Must not know what the rows are.
Used by every screen with a table, at every key typed into its filter line.
"""

import operator
import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
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

_COMPARED: Final = re.compile(r"([^\s:<>=]*):?(>=|<=|>|<)(.*)")
_VALUE: Final = re.compile(r"([+-]?[0-9]{1,15}(?:\.[0-9]{0,9})?|\.[0-9]{1,9})([a-z%]*)")

_NONE_NAMED: Final[Mapping[str, Collection[str]]] = {}


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
class Search:
    """What of a search is understood: every word, comparison and name must hold.

    `problem` says what is wrong with the rest; empty when there is no rest.
    """

    words: tuple[_Word, ...] = ()
    comparisons: tuple[_Comparison, ...] = ()
    problem: str = ""
    named: tuple[_Named, ...] = ()

    def __bool__(self) -> bool:
        """True if it asks for anything."""
        return bool(self.words or self.comparisons or self.named)

    def matches(self, text: str, number: Callable[[str], float | None]) -> bool:
        """True if a row is wanted, by its words and numbers.

        Args:
            text: the row's words, casefolded.
            number: the row's value in a column, None if not known.

        Returns:
            Whether all terms hold; what is not known matches no comparison, nor its inversion.
        """
        for term in self.words:
            if (term.word in text) is not term.wanted:
                return False
        for term in self.comparisons:
            value = number(term.column)
            if value is None or term.holds(value, term.value) is not term.wanted:
                return False
        return True

    def names(self, column: str, known: Collection[str]) -> bool:
        """True if a row is wanted, by the names in one of its columns; `known` empty: not known."""
        return all(
            bool(known) and term.names.isdisjoint(known) is not term.wanted
            for term in self.named
            if term.column == column
        )


def read_search(
    typed: str, columns: Collection[str], named: Mapping[str, Collection[str]] = _NONE_NAMED
) -> Search:
    """The search that was typed, of which a part may not be understood.

    Args:
        typed: tokens apart by spaces; `!` before one inverts it.
        columns: names that may stand before a comparison.
        named: columns whose cells hold some of a few names, with these; `venue:evm` asks for one
            by how it begins.

    Returns:
        The search; an empty one is false and matches every row.
    """
    words: list[_Word] = []
    comparisons: list[_Comparison] = []
    names: list[_Named] = []
    problem = ""
    for token in typed.split():
        is_wanted = not token.startswith("!")
        bare = token if is_wanted else token[1:]
        term = _read_name(bare, named, is_wanted=is_wanted)
        term = term or _read_token(bare, columns, is_wanted=is_wanted)
        if isinstance(term, str):
            problem = problem or term
        elif isinstance(term, _Comparison):
            comparisons.append(term)
        elif isinstance(term, _Named):
            names.append(term)
        else:
            words.append(term)
    return Search(tuple(words), tuple(comparisons), problem, tuple(names))


def _read_name(
    bare: str, named: Mapping[str, Collection[str]], *, is_wanted: bool
) -> _Named | str | None:
    """A column with a name, what is wrong with it, or None: it is something else."""
    column, colon, given = bare.casefold().partition(":")
    if not colon or column not in named:
        return None
    every = named[column]
    found = frozenset(name for name in every if given and name.startswith(given))
    return _Named(column, found, is_wanted) if found else f"{column}: is one of {', '.join(every)}"


def _read_token(
    bare: str, columns: Collection[str], *, is_wanted: bool
) -> _Word | _Comparison | str:
    """A word, a comparison, or what is wrong with it."""
    column = bare.partition(":")[0].casefold()
    compared = _COMPARED.fullmatch(bare)
    if compared is None:
        if column in columns and ":" in bare:
            return f"{column}: wants > or < and a number, as {column}:>0.6"
        return _Word(bare.casefold(), is_wanted)
    column, sign, given = compared.group(1).casefold(), compared.group(2), compared.group(3)
    if column not in columns:
        return f"no column {column[:20]!r}: {', '.join(columns)}"
    value = _VALUE.fullmatch(given.casefold())
    if value is None or value.group(2) not in _SUFFIXES:
        return f"{column}:{sign} wants a number, as {column}:{sign}0.6"
    scale = _SUFFIXES[value.group(2)]
    return _Comparison(column, _COMPARISONS[sign], float(value.group(1)) * scale, is_wanted)
