"""P&L as the real venues report it: each figure is up to 15 minutes old, as on the real service.

The figures are in memory only: after a restart the first reading computes them.
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

    `paid` is the sum of redemptions until then, `wallet` the wallet linked then.
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
    """The figures of all agents; a reading refreshes one that is too old."""

    _kept: dict[tuple[str, Venue], Reported] = field(
        default_factory=dict[tuple[str, Venue], Reported]
    )

    def of(self, world: World, agent_id: str, venue: Venue, now: Timestamp) -> Reported:
        """The P&L that the venue reports now."""
        key = (agent_id, venue)
        kept = self._kept.get(key)
        account = world.venues.account(agent_id, venue)
        paid = sum_of(holding.paid for holding in account.holdings.values())
        basis = paid, world.venues.wallets.get(agent_id)
        # ours: a redemption or another linked wallet refreshes the figure at once; otherwise new
        # cash would be shown beside a P&L from before it. The age is checked from below as well: a
        # clock that was set back must not keep a figure for more than 15 minutes.
        is_old = kept is None or (kept.paid, kept.wallet) != basis
        if kept is None or is_old or not 0 <= now - kept.at < REFRESH_S:
            floating = world.venues.unrealized(account, (now, world.world_at))
            kept = self._kept[key] = Reported(now, account.realized, floating, *basis)
        return kept
