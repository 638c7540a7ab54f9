"""Rebuy and conflict guards: positions by source, as far as this client knows.

Source: wire reference, 4.1, step 4.
"""

import threading
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final

from service_tui.clock import Clock
from service_tui.terms import Action
from service_tui.wire.positions import PositionBody
from service_tui.wire.trades import TradeBody, TradeRequest

FRESH_S: Final = 30.0
REBUY: Final = "rebuy skipped"
CONFLICT: Final = "conflicts skipped"


@dataclass(slots=True)
class _GuardedMarket:
    """One market: shares by side, who bought them, and the sources of buys on their way.

    `ordered_at` is when a buy was last accepted, perhaps without a fill yet; seconds, monotonic.
    """

    shares: dict[str, float] = field(default_factory=dict[str, float])
    sources: set[str] = field(default_factory=set[str])
    pending: list[str] = field(default_factory=list[str])
    ordered_at: float | None = None

    @property
    def is_held(self) -> bool:
        return bool(
            self.pending
            or self.ordered_at is not None
            or any(count > 0 for count in self.shares.values())
        )

    def without_shares(self, now: float) -> "_GuardedMarket":
        """Money that no position shows: buys in flight, and one just accepted."""
        ordered_at = self.ordered_at
        if ordered_at is not None and not now - ordered_at < FRESH_S:
            ordered_at = None
        sources = self.sources if ordered_at is not None else set[str]()
        return _GuardedMarket(sources=sources, pending=self.pending, ordered_at=ordered_at)

    @property
    def buyers(self) -> set[str]:
        return {source for source in (*self.sources, *self.pending) if source}


class Guards:
    """This client's knowledge of positions and reservations; thread-safe."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._holdings: dict[str, _GuardedMarket] = {}
        self._read_at: float | None = None

    @property
    def is_stale(self) -> bool:
        """True when the positions must be read again."""
        read_at = self._read_at
        return read_at is None or not self._clock.monotonic() - read_at < FRESH_S

    def learn(self, positions: Iterable[PositionBody]) -> None:
        """Replace positions with those just read; buys in flight and fresh ones stay counted.

        An order that rests is in no position, so what was ordered a moment ago is not forgotten.
        """
        now = self._clock.monotonic()
        with self._lock:
            self._holdings = {
                market_id: holding.without_shares(now)
                for market_id, holding in self._holdings.items()
                if holding.without_shares(now).is_held
            }
            for row in positions:
                holding = self._holdings.setdefault(row.market_id, _GuardedMarket())
                # One market may have a row on each of two venues.
                for side, count in (("yes", row.shares_yes), ("no", row.shares_no)):
                    holding.shares[side] = holding.shares.get(side, 0.0) + count
                holding.sources |= set(row.sources)
            self._read_at = now

    def forget(self) -> None:
        """Read the positions again before the next buy."""
        with self._lock:
            self._read_at = None

    def reserve(self, request: TradeRequest, *, allow_rebuy: bool) -> str | None:
        """Let a buy pass and count it, so that a second thread meets it.

        Returns:
            None, or why the buy is held back.
        """
        with self._lock:
            holding = self._holdings.setdefault(request.market_id, _GuardedMarket())
            source = request.source or ""
            if holding.is_held:
                if source and holding.buyers - {source}:
                    return CONFLICT
                is_own = not source or source in holding.buyers
                if is_own and not allow_rebuy:
                    return REBUY
            holding.pending.append(source)
            return None

    def settle(self, request: TradeRequest, answer: TradeBody | None) -> None:
        """Count an order's result and end its reservation; None if nothing came of it."""
        with self._lock:
            holding = self._holdings.setdefault(request.market_id, _GuardedMarket())
            source = request.source or ""
            if request.action is Action.BUY and source in holding.pending:
                holding.pending.remove(source)
            if answer is not None and answer.success and not request.dry_run:
                held = holding.shares.get(request.side.value, 0.0)
                change = answer.shares_bought - answer.shares_sold
                holding.shares[request.side.value] = max(0.0, round(held + change, 5))
                if request.action is Action.BUY:
                    holding.ordered_at = self._clock.monotonic()
                    holding.sources |= {source} if source else set[str]()
                elif not any(holding.shares.values()):
                    holding.ordered_at = None
            if not holding.is_held:
                del self._holdings[request.market_id]
