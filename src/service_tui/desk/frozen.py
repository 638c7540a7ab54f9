"""The state as text and back: what a cold start shows before anybody answered.

Knows DeskState and json. Must import nothing heavy: the first paint waits for it.
Used by wiring (thaw) and by the desk's memory (freeze).
"""

import json
from collections.abc import Callable
from dataclasses import asdict, replace
from typing import Any, Final, TypeVar

from service_tui.desk.records import (
    AccountView,
    EquityPoint,
    LimitsView,
    MarketView,
    NewsView,
    PositionView,
    TradeView,
    WorldView,
)
from service_tui.desk.state import DeskState
from service_tui.terms import AgentStatus, MarketStatus, Plan, Side, TradeStatus, Venue

STATE_KEY: Final = "state"
"""Key of the cache under which the frozen state lies."""

Record = TypeVar("Record")

MARKETS_MAX: Final = 300
TRADES_MAX: Final = 50
NEWS_MAX: Final = 40
"""What a first screen can use; the rest is asked for anyway."""

Fields = dict[str, Any]
"""A record's fields as JSON gives them; every use below makes typed values of them."""

Terms = dict[str, Callable[[Any], object]]
_MARKET: Final[Terms] = {
    "status": MarketStatus,
    "venue": Venue,
    "tags": tuple,
    "sparkline": tuple,
}
_POSITION: Final[Terms] = {"status": MarketStatus, "side": Side, "venue": Venue}
_TRADE: Final[Terms] = {"status": TradeStatus, "side": Side, "venue": Venue}
_ACCOUNT: Final[Terms] = {"status": AgentStatus, "plan": Plan}
"""What is more than a number or a text in each record, and what makes it."""


def freeze(state: DeskState) -> str:
    """The part of the state that is worth showing before an answer, as JSON."""
    held = {position.market_id for position in state.positions} | state.stars
    ranked = sorted(
        state.markets.values(),
        key=lambda market: (market.market_id not in held, -(market.volume or 0)),
    )
    return json.dumps(
        {
            "account": _plain(state.account),
            "limits": _plain(state.limits),
            "markets": [_plain(market) for market in ranked[:MARKETS_MAX]],
            "positions": [_plain(position) for position in state.positions],
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
    return None if record is None else asdict(record)


def thaw(text: str, state: DeskState) -> DeskState:
    """The given state with what was frozen put in, marked as cached.

    Returns:
        The new state.

    Text that this program cannot read changes nothing: a cache is no truth.
    """
    try:
        return _thawed(json.loads(text), state)
    except (KeyError, TypeError, ValueError, AttributeError):
        return state


def _thawed(frozen: Fields, state: DeskState) -> DeskState:
    markets = [_made(MarketView, row, _MARKET) for row in frozen["markets"]]
    account = frozen["account"]
    limits = frozen["limits"]
    world = frozen["world"]
    return replace(
        state,
        account=account and _made(AccountView, account, _ACCOUNT),
        limits=limits and LimitsView(**limits),
        markets={market.market_id: market for market in markets},
        positions=tuple(_made(PositionView, row, _POSITION) for row in frozen["positions"]),
        trades=tuple(_made(TradeView, row, _TRADE) for row in frozen["trades"]),
        world=world and WorldView(**world),
        news=tuple(NewsView(**row) for row in frozen["news"]),
        equity=tuple(EquityPoint(at, equity) for at, equity in frozen["equity"]),
        stars=frozenset(frozen["stars"]),
        from_cache=True,
    )


def _made(kind: Callable[..., Record], fields: Fields, terms: Terms) -> Record:
    """A record from its fields: words become terms again, lists tuples."""
    return kind(**{name: terms.get(name, _same)(value) for name, value in fields.items()})


def _same(value: object) -> object:
    return value


def last_seen(text: str) -> float | None:
    """When the frozen state was last true, seconds since 1970; None when it cannot be read."""
    try:
        seen = json.loads(text)["seen"]
        return max(seen.values(), default=None)
    except (KeyError, TypeError, ValueError, AttributeError):
        return None
