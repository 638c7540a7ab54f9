"""Dumps the state to text and loads it back, for the first paint of the next start.

It must import nothing heavy: the first paint waits for it.
"""

import json
from dataclasses import replace
from typing import Any, Final

from service_tui.desk.checked_records import (
    UNREADABLE,
    Fields,
    Record,
    checked,
    number_in,
    text_in,
)
from service_tui.desk.slices.account import AccountView, EquityPoint, LimitsView
from service_tui.desk.slices.markets import MarketView, NewsView
from service_tui.desk.slices.positions import PositionView
from service_tui.desk.slices.trades import TradeView
from service_tui.desk.slices.venues import VenueSumView
from service_tui.desk.slices.world import WorldView
from service_tui.desk.state import DeskState
from service_tui.units import Timestamp

_DAY_S: Final = 86_400

STATE_KEY: Final = "state"
"""Key of the cache that stores the dumped state."""

MARKETS_MAX: Final = 300
TRADES_MAX: Final = 50
NEWS_MAX: Final = 40
"""Enough for a first screen; everything else is read soon after."""


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


def load_state(text: str, state: DeskState, now: Timestamp | None = None) -> DeskState:
    """The given state with the cached parts filled in and marked as cached.

    Figures of a day that is over at `now`, wall time, are not those of today: they are unknown.

    Text that this program cannot read changes nothing: a cache is no truth, and a screen must not
    meet a word where a number belongs.

    Returns:
        The new state; its service last answered when the cached one did.
    """
    try:
        loaded = _loaded(json.loads(text), state)
    except UNREADABLE:
        return state
    known_at = loaded.service.last_ok_at
    is_of_today = known_at is None or now is None or known_at // _DAY_S == now // _DAY_S
    return loaded if is_of_today else _without_day(loaded)


def _without_day(state: DeskState) -> DeskState:
    account = state.account
    if account is not None:
        account = replace(account, day_open=None, day_pnl=None)
    return replace(state, account=account, limits=None)


def _loaded(fields: Fields, state: DeskState) -> DeskState:
    markets = [checked(MarketView, row) for row in fields["markets"]]
    return replace(
        state,
        service=replace(state.service, last_ok_at=_last_seen(fields["seen"])),
        account=_made_or_none(AccountView, _without_older_names(fields["account"])),
        limits=_made_or_none(LimitsView, fields["limits"]),
        markets={market.market_id: market for market in markets},
        positions=tuple(checked(PositionView, row) for row in fields["positions"]),
        # An older program has kept none of them.
        on_venues=tuple(checked(PositionView, row) for row in fields.get("on_venues", ())),
        venue_sums=tuple(checked(VenueSumView, row) for row in fields.get("venue_sums", ())),
        trades=tuple(checked(TradeView, row) for row in fields["trades"]),
        world=_made_or_none(WorldView, fields["world"]),
        news=tuple(checked(NewsView, row) for row in fields["news"]),
        equity=tuple(
            checked(EquityPoint, {"at": at, "equity": equity}) for at, equity in fields["equity"]
        ),
        stars=frozenset(text_in(star) for star in fields["stars"]),
        from_cache=True,
    )


def _last_seen(seen: Fields) -> Timestamp | None:
    """Time of the latest answer to any topic."""
    return Timestamp(max(number_in(at) for at in seen.values())) if seen else None


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
    return None if fields is None else checked(kind, fields)
