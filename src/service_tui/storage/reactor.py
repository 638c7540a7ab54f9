"""Stores the reactor's signals that a desk has seen, and the person's choices on wallets."""

import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from service_tui.storage.db.database import Database
from service_tui.storage.db.declared import TABLES
from service_tui.storage.db.statements import columns, replacing
from service_tui.storage.db.writer import Work

_PUT: Final = replacing("reactorsignals")
_CHOOSE: Final = replacing("reactorwallets")
_RECENT: Final = (
    f"SELECT {columns('reactorsignals')} FROM reactorsignals "  # noqa: S608 - names of ours
    "ORDER BY at DESC, signal_id LIMIT :limit"
)
_WALLETS: Final = f"SELECT {columns('reactorwallets')} FROM reactorwallets"  # noqa: S608 - names of ours
_TALLIES: Final = """
SELECT wallet, state, count(*), sum(cost), sum(shares), sum(shares * price),
       sum(coalesce(
           coalesce(proceeds, 0) - cost
           + CASE WHEN shares > coalesce(sold, 0)
             THEN (shares - coalesce(sold, 0)) * price_now ELSE 0 END,
           0.0)),
       max(at)
FROM (SELECT * FROM reactorsignals ORDER BY at DESC, signal_id LIMIT -1 OFFSET :beyond)
GROUP BY wallet, state
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredTally:
    """Sums over the rows of one wallet in one state. `pnl` is of those whose price is known."""

    wallet: str
    state: str
    count: int
    spent: int
    shares: int
    source_cost: float
    pnl: float
    last_at: float


Row = dict[str, Any]
"""A row by the names of its columns."""


class StoredReactor:
    """The signals and wallets of one data directory."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def recent(self, limit: int) -> list[Row]:
        """The newest signals first."""
        return self._rows("reactorsignals", _RECENT, {"limit": limit})

    def tallies(self, *, beyond: int) -> list[StoredTally]:
        """Sums of all signals but the newest so many."""
        rows = self._database.rows(_TALLIES, {"beyond": beyond})
        return [
            StoredTally(
                wallet=wallet,
                state=state,
                count=count,
                spent=spent,
                shares=shares,
                source_cost=source_cost,
                pnl=pnl,
                last_at=last_at,
            )
            for wallet, state, count, spent, shares, source_cost, pnl, last_at in rows
        ]

    def wallets(self) -> list[Row]:
        """Everything that was chosen for wallets."""
        return self._rows("reactorwallets", _WALLETS, {})

    def _rows(self, table: str, query: str, values: dict[str, object]) -> list[Row]:
        names = TABLES[table].columns
        return [dict(zip(names, row, strict=True)) for row in self._database.rows(query, values)]

    async def put(self, signals: Sequence[Row]) -> None:
        """Store signals in one transaction."""
        writes = [putting(signal) for signal in signals]

        def work(connection: sqlite3.Connection) -> None:
            for one in writes:
                one(connection)

        await self._database.write(work)

    async def choose(self, wallet: Row) -> None:
        """Keep what was chosen for a wallet."""

        def work(connection: sqlite3.Connection) -> None:
            connection.execute(_CHOOSE, wallet)

        await self._database.write(work)


def putting(signal: Row) -> Work[sqlite3.Connection, None]:
    """Write of a signal, for a transaction with more writes."""

    def work(connection: sqlite3.Connection) -> None:
        connection.execute(_PUT, signal)

    return work
