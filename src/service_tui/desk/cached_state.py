"""Dumps the state to text and loads it back, for the first paint of the next start.

It must import nothing heavy: the first paint waits for it.
"""

import json
import math
from collections.abc import Callable
from dataclasses import replace
from enum import StrEnum
from functools import cache, partial
from types import NoneType, UnionType
from typing import Any, Final, TypeGuard, TypeVar, Union, get_args, get_origin, get_type_hints

from service_tui.desk.slices.account import AccountView, EquityPoint, LimitsView
from service_tui.desk.slices.markets import MarketView, NewsView
from service_tui.desk.slices.positions import PositionView
from service_tui.desk.slices.trades import TradeView
from service_tui.desk.slices.venues import VenueSumView
from service_tui.desk.slices.world import WorldView
from service_tui.desk.state import DeskState
from service_tui.units import Timestamp

STATE_KEY: Final = "state"
"""Key of the cache that stores the dumped state."""

Record = TypeVar("Record")

MARKETS_MAX: Final = 300
TRADES_MAX: Final = 50
NEWS_MAX: Final = 40
"""Enough for a first screen; everything else is read soon after."""

Fields = dict[str, Any]
"""A record's fields as JSON gives them; every use below makes typed values of them."""

Reader = Callable[[Any], object]


def dump_state(state: DeskState) -> str:
    """The part of the state worth showing before an answer: held, starred and busiest markets."""
    held = {position.market_id for position in state.positions} | state.stars
    ranked = sorted(
        state.markets.values(),
        key=lambda market: (market.market_id not in held, -(market.volume or 0)),
    )
    return json.dumps(
        {
            "account": _plain(state.account),
            "limits": _plain(state.limits),
            "markets": [_plain(market) for market in ranked[: max(MARKETS_MAX, len(held))]],
            "positions": [_plain(position) for position in state.positions],
            "on_venues": [_plain(held) for held in state.on_venues if not held.is_closed],
            "venue_sums": [_plain(one) for one in state.venue_sums],
            "trades": [_plain(trade) for trade in state.trades[:TRADES_MAX]],
            "world": _plain(None if state.world is None else replace(state.world, meanwhile=None)),
            "news": [_plain(line) for line in state.news[:NEWS_MAX]],
            "equity": [[point.at, point.equity] for point in state.equity],
            "seen": state.seen,
            "stars": sorted(state.stars),
        },
        separators=(",", ":"),
        allow_nan=False,
    )


def _plain(record: Any) -> Fields | None:  # noqa: ANN401  (any record of records.py)
    # As `asdict` would, without its copies: no record in the frozen part holds another one.
    return None if record is None else {name: getattr(record, name) for name in record.__slots__}


def load_state(text: str, state: DeskState) -> DeskState:
    """The given state with the cached parts filled in and marked as cached.

    Text that this program cannot read changes nothing: a cache is no truth, and a screen must not
    meet a word where a number belongs.

    Returns:
        The new state; its service last answered when the cached one did.
    """
    try:
        return _loaded(json.loads(text), state)
    except (AttributeError, KeyError, TypeError, ValueError, OverflowError, RecursionError):
        return state


def _loaded(fields: Fields, state: DeskState) -> DeskState:
    markets = [_made(MarketView, row) for row in fields["markets"]]
    return replace(
        state,
        service=replace(state.service, last_ok_at=_last_seen(fields["seen"])),
        account=_made_or_none(AccountView, _without_older_names(fields["account"])),
        limits=_made_or_none(LimitsView, fields["limits"]),
        markets={market.market_id: market for market in markets},
        positions=tuple(_made(PositionView, row) for row in fields["positions"]),
        # An older program has kept none of them.
        on_venues=tuple(_made(PositionView, row) for row in fields.get("on_venues", ())),
        venue_sums=tuple(_made(VenueSumView, row) for row in fields.get("venue_sums", ())),
        trades=tuple(_made(TradeView, row) for row in fields["trades"]),
        world=_made_or_none(WorldView, fields["world"]),
        news=tuple(_made(NewsView, row) for row in fields["news"]),
        equity=tuple(
            _made(EquityPoint, {"at": at, "equity": equity}) for at, equity in fields["equity"]
        ),
        stars=frozenset(_text(star) for star in fields["stars"]),
        from_cache=True,
    )


def _last_seen(seen: Fields) -> Timestamp | None:
    """Time of the latest answer to any topic."""
    return Timestamp(max(_number(at) for at in seen.values())) if seen else None


def _without_older_names(account: Fields | None) -> Fields | None:
    """The account without what an older program kept: there `equity` was by the mark."""
    if account is None or "exit_equity" not in account:
        return account
    known = {name: value for name, value in account.items() if name != "exit_equity"}
    sold = account["exit_equity"]
    return {
        **known,
        "equity": known["equity"] if sold is None else sold,
        "mark_equity": known["equity"],
        "is_at_mark": sold is None,
    }


def _made_or_none(kind: type[Record], fields: Fields | None) -> Record | None:
    return None if fields is None else _made(kind, fields)


def _made(kind: type[Record], fields: Fields) -> Record:
    """A record from its fields, each checked against the type that it is declared with."""
    readers = _readers(kind)
    return kind(**{name: readers[name](value) for name, value in fields.items()})


@cache
def _readers(kind: type[object]) -> dict[str, Reader]:
    return {name: _reader(hint) for name, hint in get_type_hints(kind).items()}


def _reader(hint: Any) -> Reader:  # noqa: ANN401  (whatever a field is declared as)
    """Function that converts a JSON value to the declared type, or raises."""
    declared = getattr(hint, "__supertype__", hint)
    if isinstance(declared, type) and issubclass(declared, StrEnum):
        return declared
    if declared in _PLAIN:
        return _PLAIN[declared]
    inner = [_reader(part) for part in get_args(declared) if part not in {NoneType, Ellipsis}]
    if get_origin(declared) is tuple:
        return partial(_entries, inner[0])
    if get_origin(declared) in {Union, UnionType} and len(inner) == 1:
        return lambda value: None if value is None else inner[0](value)
    # Other records are never frozen: where one may stand, only nothing is read.
    return _nothing


def _entries(read: Reader, value: object) -> tuple[object, ...]:
    if _is_list(value):
        return tuple([read(entry) for entry in value])
    raise TypeError("no list")


def _text(value: object) -> str:
    if type(value) is str:
        return value
    raise TypeError("no text")


def _number(value: object) -> float:
    if (type(value) is float or type(value) is int) and math.isfinite(value):
        return float(value)
    raise TypeError("no finite number")


def _whole(value: object) -> int:
    if type(value) is int:
        return value
    raise TypeError("not a whole number")


def _truth(value: object) -> bool:
    if type(value) is bool:
        return value
    raise TypeError("neither true nor false")


def _is_list(value: object) -> TypeGuard[list[object]]:
    return type(value) is list


def _nothing(value: object) -> None:
    if value is not None:
        raise TypeError("not empty")


_PLAIN: Final[dict[Any, Reader]] = {str: _text, float: _number, int: _whole, bool: _truth}
