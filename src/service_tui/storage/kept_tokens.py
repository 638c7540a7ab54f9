"""Outcome tokens of positions, kept over restarts: what binds every later signature for them.

Each console of a directory keeps them in its own database and reads those of the others.
"""

import sqlite3
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

from sqlalchemy import func
from sqlalchemy.dialects.sqlite import insert
from sqlmodel import col, select

from service_tui.storage.cached_state import TOKEN_COLUMNS, read_kept_tokens
from service_tui.storage.db import tables
from service_tui.storage.db.database import Database
from service_tui.storage.db.tables import statement, table_of


def _putting() -> str:
    """An insert that leaves the token of an earlier row as it is, and takes the higher fee."""
    table = table_of(tables.Kepttokens)
    put = insert(table)
    # max() of a number and NULL is NULL in SQLite: a row without a fee takes that of the other.
    here, there = table.c.fee_rate_bps, put.excluded.fee_rate_bps
    highest = func.max(func.coalesce(here, there), func.coalesce(there, here))
    return statement(
        put.on_conflict_do_update(
            index_elements=list(table.primary_key),
            set_={"fee_rate_bps": highest},
            where=table.c.token == put.excluded.token,
        )
    )


_PUT: Final = _putting()


@dataclass(frozen=True, slots=True, kw_only=True)
class Holding:
    """A side of a market on a venue, held by a wallet; its address in small letters."""

    market_id: str
    side: str
    venue: str
    wallet: str


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptToken(Holding):
    """What was shown of a holding when it was bought, or first listed while it was held.

    `token` is the outcome token by its digits, made of `condition_id`, the side and `neg_risk`;
    `fee_rate_bps` the highest fee that was shown, None where none was.
    """

    token: str
    condition_id: str
    neg_risk: bool
    at: float
    fee_rate_bps: int | None = None

    @property
    def place(self) -> Holding:
        """The holding that it is the token of."""
        return Holding(
            market_id=self.market_id, side=self.side, venue=self.venue, wallet=self.wallet
        )


class KeptTokens:
    """The tokens that one console keeps, and those of the directory's other consoles.

    Args:
        database: this console's own.
        others: returns the databases of the others, which are only read.
    """

    def __init__(self, database: Database, others: Callable[[], tuple[Path, ...]] = tuple) -> None:
        self._database = database
        self._others = others

    async def keep(self, kept: KeptToken) -> None:
        """Keep a token; an earlier one of the holding stays, its fee rises to a higher one."""
        values: dict[str, str | float | None] = {**asdict(kept), "neg_risk": int(kept.neg_risk)}
        await self._database.write(lambda c: _put(c, values))

    def find(self, holding: Holding) -> KeptToken | None:
        """The token that was kept first, here or by another console; None without one. Blocks.

        Fails with a `StorageError` where what is kept here cannot be read: nothing is signed then.
        The database of another console that cannot be read now counts as one that keeps nothing.
        """
        table = tables.Kepttokens
        place = (holding.market_id, holding.side, holding.venue, holding.wallet)
        query = select(table).where(
            col(table.market_id) == holding.market_id,
            col(table.side) == holding.side,
            col(table.venue) == holding.venue,
            col(table.wallet) == holding.wallet,
        )
        with self._database.reader() as session:
            found = [_kept(row.model_dump()) for row in session.exec(query)]
        for path in self._others():
            rows = read_kept_tokens(path, place)
            found += [_kept(dict(zip(TOKEN_COLUMNS, row, strict=True))) for row in rows]
        return min(found, key=lambda one: one.at, default=None)


def _put(connection: sqlite3.Connection, values: dict[str, str | float | None]) -> None:
    connection.execute(_PUT, values)


def _kept(row: dict[str, Any]) -> KeptToken:
    values: dict[str, Any] = {**row, "neg_risk": bool(row["neg_risk"])}
    return KeptToken(**values)
