"""P&L of the real venues as they report it: a figure of the last quarter of an hour.

Kept in memory: a restart only refreshes it sooner.
"""

from dataclasses import dataclass, field
from typing import Final

from service_tui.engine.world import World
from service_tui.terms import Venue
from service_tui.units import Micros, Timestamp, sum_of

REFRESH_S: Final = 900.0
"""Source: spec, "Other behaviour": the cache refreshes every 15 minutes; wall time."""


@dataclass(frozen=True, slots=True)
class Reported:
    """Total P&L is realized plus unrealized, both of the same moment `at`.

    `paid` is what redemptions had brought by then, `wallet` whose positions they were.
    """

    at: Timestamp
    realized: Micros
    unrealized: Micros
    paid: Micros = Micros(0)
    wallet: str | None = None

    @property
    def total(self) -> Micros:
        """Realized plus unrealized."""
        return Micros(self.realized + self.unrealized)


@dataclass(slots=True)
class ReportedPnl:
    """The figures of all agents, refreshed on reading when they are too old."""

    _kept: dict[tuple[str, Venue], Reported] = field(
        default_factory=dict[tuple[str, Venue], Reported]
    )

    def of(self, world: World, agent_id: str, venue: Venue, now: Timestamp) -> Reported:
        """The figure that the venue reports now."""
        key = (agent_id, venue)
        kept = self._kept.get(key)
        account = world.venues.account(agent_id, venue)
        paid = sum_of(holding.paid for holding in account.holdings.values())
        whose = paid, world.venues.wallets.get(agent_id)
        # ours: a redemption asks anew, and so does another wallet, or its cash would stand beside a
        # P&L from before it. A clock that was set back must not keep a figure for longer than it is
        # good.
        is_old = kept is None or (kept.paid, kept.wallet) != whose
        if kept is None or is_old or not 0 <= now - kept.at < REFRESH_S:
            floating = world.venues.unrealized(account, (now, world.world_at))
            kept = self._kept[key] = Reported(now, account.realized, floating, *whose)
        return kept
