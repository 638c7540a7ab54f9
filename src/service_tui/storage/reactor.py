"""Stores the reactor's signals that a desk has seen, and the person's choices on wallets."""

import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from sqlalchemy import insert, text
from sqlmodel import col, select

from service_tui.storage.db import tables
from service_tui.storage.db.database import Database
from service_tui.storage.db.tables import statement
from service_tui.storage.db.writer import Work

_PUT: Final = statement(insert(tables.Reactorsignals).prefix_with("OR REPLACE"))
_CHOOSE: Final = statement(insert(tables.Reactorwallets).prefix_with("OR REPLACE"))
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
        table = tables.Reactorsignals
        order = (col(table.at).desc(), col(table.signal_id))
        query = select(table).order_by(*order).limit(limit)
        with self._database.reader() as session:
            return [row.model_dump() for row in session.exec(query)]

    def tallies(self, *, beyond: int) -> list[StoredTally]:
        """Sums of all signals but the newest so many."""
        with self._database.reader() as session:
            rows = session.connection().execute(text(_TALLIES), {"beyond": beyond}).all()
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
        with self._database.reader() as session:
            rows = session.exec(select(tables.Reactorwallets))
            return [row.model_dump() for row in rows]

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
