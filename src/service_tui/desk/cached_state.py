"""Dumps the state to text and loads it back, for the first paint of the next start.

It must not import slow modules: the first paint waits for it.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final

from service_tui.desk.checked_records import UNREADABLE, Tree, tree_of, value_of
from service_tui.desk.slices.account import AccountView, EquityPoint, LimitsView
from service_tui.desk.slices.markets import MarketView, NewsView
from service_tui.desk.slices.positions import PositionView
from service_tui.desk.slices.trades import TradeView
from service_tui.desk.slices.venues import VenueSumView
from service_tui.desk.slices.world import WorldView
from service_tui.desk.state import DeskState
from service_tui.units import Micros, Timestamp

_DAY_S: Final = 86_400

STATE_KEY: Final = "state"
"""Key of the cache that stores the dumped state."""

MARKETS_MAX: Final = 300
TRADES_MAX: Final = 50
NEWS_MAX: Final = 40
"""Enough for a first screen; everything else is read soon after."""


@dataclass(frozen=True, slots=True)
class _Kept:
    """The part of a state that the first paint shows.

    Caches of older programs lack the last two.
    """

    account: AccountView | None
    limits: LimitsView | None
    markets: tuple[MarketView, ...]
    positions: tuple[PositionView, ...]
    trades: tuple[TradeView, ...]
    world: WorldView | None
    news: tuple[NewsView, ...]
    equity: tuple[tuple[Timestamp, Micros], ...]
    seen: Mapping[str, Timestamp]
    stars: frozenset[str]
    on_venues: tuple[PositionView, ...] = ()
    venue_sums: tuple[VenueSumView, ...] = ()


def dump_state(state: DeskState) -> str:
    """The part of the state to show at the next start until the service has answered.

    Markets with positions, starred ones and the busiest are included.
    """
    held = {position.market_id for position in state.positions} | state.stars
    ranked = sorted(
        state.markets.values(),
        key=lambda market: (market.market_id not in held, -(market.volume or 0)),
    )
    kept = _Kept(
        account=state.account,
        limits=state.limits,
        markets=tuple(ranked[: max(MARKETS_MAX, len(held))]),
        positions=state.positions,
        trades=state.trades[:TRADES_MAX],
        world=None if state.world is None else replace(state.world, meanwhile=None),
        news=state.news[:NEWS_MAX],
        equity=tuple((point.at, point.equity) for point in state.equity),
        seen={topic.value: at for topic, at in state.seen.items()},
        stars=state.stars,
        on_venues=tuple(held for held in state.on_venues if not held.is_closed),
        venue_sums=state.venue_sums,
    )
    return json.dumps(tree_of(kept), separators=(",", ":"), allow_nan=False)


def load_state(text: str, state: DeskState, now: Timestamp | None = None) -> DeskState:
    """The given state with the cached parts filled in and marked as cached.

    Today's figures (limits, the day's P&L) are left out if the cache is of another day than `now`,
    wall time.

    Text that this program cannot read is ignored: the service's answers replace the cache anyway,
    and a screen must not get a text where it expects a number.

    Returns:
        The new state; its service last answered when the cached one did.
    """
    try:
        fields = json.loads(text)
        kept = value_of(_Kept, {**fields, "account": _with_newer_names(fields["account"])})
    except UNREADABLE:
        return state
    known_at = max(kept.seen.values(), default=None)
    is_of_today = known_at is None or now is None or known_at // _DAY_S == now // _DAY_S
    return _filled(state, kept if is_of_today else _without_day(kept), known_at)


def _without_day(kept: _Kept) -> _Kept:
    account = kept.account
    if account is not None:
        account = replace(account, day_open=None, day_pnl=None)
    return replace(kept, account=account, limits=None)


def _filled(state: DeskState, kept: _Kept, known_at: Timestamp | None) -> DeskState:
    return replace(
        state,
        service=replace(state.service, last_ok_at=known_at),
        account=kept.account,
        limits=kept.limits,
        markets={market.market_id: market for market in kept.markets},
        positions=kept.positions,
        on_venues=kept.on_venues,
        venue_sums=kept.venue_sums,
        trades=kept.trades,
        world=kept.world,
        news=kept.news,
        equity=tuple(EquityPoint(at, equity) for at, equity in kept.equity),
        stars=kept.stars,
        from_cache=True,
    )


def _with_newer_names(account: Tree) -> Tree:
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
