"""Named filters of screens and named lists of markets, stored as preferences.

Both lie in preferences, on this computer; what cannot be read there is as if nothing was kept.
"""

import json
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Final, TypeVar

from service_tui.console.fields import FieldError
from service_tui.desk.checked_records import UNREADABLE, tree_of, value_of
from service_tui.desk.commands.settings import SetPreference
from service_tui.folding import folded_name

FILTERS: Final = "filters."
"""The preference with the filters of a screen is called so, with the screen's name."""

WATCHLISTS: Final = "watchlists"
"""The preference with the lists of markets."""

LABEL_MAX: Final = 24
NAMED_MAX: Final = 40
"""Filters of one screen, and lists of markets."""

MARKETS_MAX: Final = 2_000
# ours: as much as one line of a dialog, one screen and one file of preferences hold.


@dataclass(frozen=True, slots=True)
class NamedFilter:
    """A filter of a screen: its list in front, the search, and the screen's own choices."""

    name: str
    tab: int = 0
    search: str = ""
    choices: Mapping[str, str] = field(default_factory=dict[str, str])


@dataclass(frozen=True, slots=True)
class Watchlist:
    """Markets under a name, in the order in which they came."""

    name: str
    markets: tuple[str, ...] = ()

    def with_markets(self, markets: Iterable[str]) -> "Watchlist":
        """The list with these markets behind its own; beyond the bound the newest are left out."""
        every = tuple(dict.fromkeys((*self.markets, *markets)))
        return replace(self, markets=every[:MARKETS_MAX])

    def without_markets(self, markets: Collection[str]) -> "Watchlist":
        """The list without these markets."""
        return replace(self, markets=tuple(one for one in self.markets if one not in markets))


Named = TypeVar("Named", NamedFilter, Watchlist)


def filters_of(preferences: Mapping[str, str], screen: str) -> tuple[NamedFilter, ...]:
    """The filters kept of a screen, in the order in which they were saved."""
    return _read(tuple[NamedFilter, ...], preferences.get(f"{FILTERS}{screen}", ""))


def watchlists_of(preferences: Mapping[str, str]) -> tuple[Watchlist, ...]:
    """The lists of markets, in the order in which they were made."""
    return _watchlists(preferences.get(WATCHLISTS, ""))


@lru_cache(maxsize=2)
def _watchlists(text: str) -> tuple[Watchlist, ...]:
    # Asked at every poll while a list is shown, and changed by a person alone.
    return _read(tuple[Watchlist, ...], text)


def keep_filters(screen: str, filters: Iterable[NamedFilter]) -> SetPreference:
    """The command that keeps the filters of a screen."""
    return SetPreference(f"{FILTERS}{screen}", _text(filters))


def keep_watchlists(lists: Iterable[Watchlist]) -> SetPreference:
    """The command that keeps the lists of markets."""
    return SetPreference(WATCHLISTS, _text(lists))


def with_named(kept: Iterable[Named], new: Named) -> tuple[Named, ...]:
    """What is kept with another one, in the place of that with the same name, else at the end."""
    every = list(kept)
    place = next((at for at, one in enumerate(every) if _is_same(one.name, new.name)), None)
    if place is None:
        return (*every, new)
    every[place] = new
    return tuple(every)


def read_name(typed: str, kept: Collection[NamedFilter] | Collection[Watchlist]) -> str:
    """A typed name.

    Raises:
        FieldError: it is empty, or there is no room for another name.
    """
    name = " ".join(typed.split())[:LABEL_MAX]
    if not name:
        raise FieldError("Enter a name")
    if len(kept) >= NAMED_MAX and not any(_is_same(one.name, name) for one in kept):
        raise FieldError(f"{NAMED_MAX} are kept already: remove one")
    return name


def named(kept: Iterable[Named], name: str) -> Named | None:
    """What is kept under a name, whatever its capitals; None without it."""
    return next((one for one in kept if _is_same(one.name, name)), None)


def _is_same(one: str, other: str) -> bool:
    return folded_name(one) == folded_name(other)


def _text(kept: Iterable[Named]) -> str:
    return json.dumps(tree_of(tuple(kept)), ensure_ascii=False)


def _read(kind: type[tuple[Named, ...]], text: str) -> tuple[Named, ...]:
    try:
        kept: tuple[Named, ...] = value_of(kind, json.loads(text or "[]"))
    except UNREADABLE:
        return ()
    # Names are one each: a second of the same could be neither chosen nor removed.
    return tuple({folded_name(one.name): one for one in kept if one.name.strip()}.values())
