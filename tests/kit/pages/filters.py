"""The page of filters, from the grammar of the `/` line and the tables of the screens."""

import importlib
import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from kit.pages.keys import heading
from kit.pages.table import code, table
from service_tui.console.keys import KEYS, shown_key
from service_tui.console.parts.table_screen import TableScreen
from service_tui.console.screens.markets import filter as markets
from service_tui.console.screens.markets.table import MARKETS as _MARKETS
from service_tui.console.screens.reactor.feed import STATES
from service_tui.console.search import _COMPARISONS, _SUFFIXES, names_of
from service_tui.console.shell.views import SCREENS
from service_tui.console.table_spec import TableSpec

HEAD: Final = """# Filters

Made from the search grammar and the tables by `make docs`. Press `/` on a list and type; the list
follows each letter. `esc` clears the search, `esc` again the filter keys.

## What you can type

Write terms with spaces between them. A row must match all of them.
"""

GRAMMAR: Final = (
    ("rain", "rows whose text contains the word; capitals do not matter"),
    ("!rain", "rows without it; `!` inverts every kind of term"),
    ("price:>0.6", "a number compared; the colon may be left out: `price>0.6`"),
    ("price:>=40%", "the same with a unit"),
    ("24h:>5", "a change of more than five points, as the column shows it"),
    ("left:<2h", "time: less than two hours"),
    ("volume:>10k", "ten thousand and more"),
    ("category:weather", "a part of the text of one column"),
    ("venue:evm", "the beginning of one of a few names"),
)
"""Examples, all of markets, with their meaning; a test parses each of them."""

UNITS: Final = {
    "%": "per cent", "k": "thousand", "m": "million", "min": "minutes", "h": "hours", "d": "days",
    "w": "weeks",
}  # fmt: skip

TAIL_OF_GRAMMAR: Final = """
A time (`left`, `age`, and `ends`, which is `left`) takes `min`, `h`, `d` or `w`, or is in seconds:
`left:<3m` is refused, as `m` is a million.

In a column that shows points or per cent (`24h pt`, `p&l%`) a number of 1 and more is meant as it
is shown, one below 1 is a fraction: `24h:>5`, `24h:>5%` and `24h:>0.05` are the same.

A column is typed by its id, its title, or the beginning of either if only one column begins so
(`vol:>10k`). A row whose number is unknown matches no comparison, inverted or not. A term that
cannot be read is named beside the line; the other terms apply.
"""

SWITCHES: Final = """
## Filter keys of the markets

Active filters are shown above the list. They are kept for the next start.

"""

FEED: Final = """
## Filter keys of the reactor

"""


def page() -> str:
    """The whole page."""
    rows = ((code(typed), meaning) for typed, meaning in GRAMMAR)
    parts = [HEAD, "\n", table(("Type", "To see"), rows), "\n"]
    signs = ", ".join(code(sign) for sign in _COMPARISONS)
    units = ", ".join(f"{code(unit)} {UNITS.get(unit, unit)}" for unit in _SUFFIXES if unit)
    parts.append(f"Comparisons: {signs}. Units of a number: {units}.\n")
    parts.extend((TAIL_OF_GRAMMAR, SWITCHES, _switches(), FEED, _feed(), "\n## Columns\n\n"))
    parts.append("A number takes a comparison, text a part of it. Other screens have no search.\n")
    parts.extend(_screens())
    return "".join(parts)


def _key(ident: str) -> str:
    return next(code(shown_key(key)) for key in KEYS if key.ident == ident)


def _any_of(choices: Any) -> str:
    return ", ".join(code(each) for each in choices)


def _switches() -> str:
    venues = [*markets.NAMED["venue"], markets.SIM_ALONE.replace("alone", "only")]
    rows = (
        ("markets.category", "category", "all, then each category"),
        ("markets.status", "status", _any_of(markets.STATUSES)),
        ("markets.until", "time to resolution", _any_of(markets.UNTIL_S)),
        ("markets.venue", "venue", f"all, then {_any_of(venues[1:])}"),
        ("markets.held", "markets in which you hold a position", "on, off"),
        ("markets.starred", "starred markets", "on, off"),
    )
    return table(("Key", "Filter", "Values"), ((_key(key), *rest) for key, *rest in rows))


def _feed() -> str:
    rows = (
        ("reactor.state", "state of the signal", _any_of(name for name, _ in STATES)),
        ("reactor.wallet", "signals of the selected wallet", "on, off"),
        ("reactor.freeze", "feed frozen as it is", "on, off"),
    )
    return table(("Key", "Filter", "Values"), ((_key(key), *rest) for key, *rest in rows))


def _screens() -> Iterator[str]:
    for group, (module, name) in SCREENS.items():
        screen = getattr(importlib.import_module(module), name)
        if issubclass(screen, TableScreen) and screen.is_searched:
            lists = [_MARKETS if group == "markets" else spec for spec in screen.tables]
            head = ("List", "Numbers", "Text")
            yield f"\n### {heading(group)}\n\n{table(head, map(_of_table, lists))}"


def _of_table(spec: TableSpec[Any]) -> tuple[str, str, str]:
    """A list with the names of its columns: as in its header, else their ids."""
    titles = {column.id: column.title for column in spec.columns if column.title}
    names = markets.NAMES if spec is _MARKETS else names_of(titles.items())
    typed = {
        column: _typed(column, titles.get(column, ""), names)
        for column in dict.fromkeys((*titles, *spec.compared))
        if column in names or column in spec.compared
    }
    numbers = [typed[column] for column in typed if column in spec.compared]
    text = [name for column, name in typed.items() if column not in spec.compared]
    return spec.name, _any_of(numbers) or "-", _any_of(text) or "-"


def _typed(column: str, title: str, names: Mapping[str, str]) -> str:
    """What to type for a column: its title if that is a name of it, else its id."""
    short = "".join(re.findall(r"[a-z0-9&%]+", title.casefold()))
    return short if names.get(short) == column else column
