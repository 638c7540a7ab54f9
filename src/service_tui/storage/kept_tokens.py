"""Outcome tokens of positions, kept over restarts: what binds every later signature for them.

Each console of a directory keeps them in its own database and reads those of the others.
"""

import sqlite3
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

from sqlalchemy import case, func, or_
from sqlalchemy.dialects.sqlite import insert
from sqlmodel import col, select

from service_tui.storage.cached_state import TOKEN_COLUMNS, read_kept_tokens
from service_tui.storage.db import tables
from service_tui.storage.db.database import Database
from service_tui.storage.db.tables import statement, table_of


def _putting() -> str:
    """An insert that leaves the token of an earlier row as it is, and takes the higher fee.

    A row of a listing gives way to one of a buy.
    """
    table = table_of(tables.Kepttokens)
    put = insert(table)
    # max() of a number and NULL is NULL in SQLite: a row without a fee takes that of the other.
    here, there = table.c.fee_rate_bps, put.excluded.fee_rate_bps
    highest = func.max(func.coalesce(here, there), func.coalesce(there, here))
    gives_way = put.excluded.bought > table.c.bought
    replaced = {
        name: case((gives_way, put.excluded[name]), else_=table.c[name])
        for name in ("token", "condition_id", "neg_risk", "at", "bought")
    }
    fee = case((gives_way, func.coalesce(there, here)), else_=highest)
    return statement(
        put.on_conflict_do_update(
            index_elements=list(table.primary_key),
            set_=replaced | {"fee_rate_bps": fee},
            where=or_(table.c.token == put.excluded.token, gives_way),
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
    `fee_rate_bps` the highest fee that was shown, None where none was. `bought` is true after a
    buy, or an order whose token a person confirmed, and false for what was only listed.
    """

    token: str
    condition_id: str
    neg_risk: bool
    at: float
    fee_rate_bps: int | None = None
    bought: bool = False

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
        """Keep a token; an earlier one of the holding stays, its fee rises to a higher one.

        One that was only listed gives way to one that was bought.
        """
        numbers = {"neg_risk": int(kept.neg_risk), "bought": int(kept.bought)}
        values: dict[str, str | float | None] = {**asdict(kept), **numbers}
        await self._database.write(lambda c: _put(c, values))

    def find(self, holding: Holding) -> KeptToken | None:
        """The token that was bought, else listed first, here or beside; None without one. Blocks.

        Fails with a `StorageError` where what is kept here, or by another console whose database
        is there, cannot be read: nothing is signed then.
        """
        return _first(one for one in self._of(holding.wallet) if one.place == holding)

    def find_token(self, token: str, wallet: str) -> KeptToken | None:
        """Under what the wallet's token was bought, else listed first; as `find`."""
        return _first(one for one in self._of(wallet) if one.token == token)

    def _of(self, wallet: str) -> list[KeptToken]:
        table = tables.Kepttokens
        query = select(table).where(col(table.wallet) == wallet)
        with self._database.reader() as session:
            found = [_kept(row.model_dump()) for row in session.exec(query)]
        for path in self._others():
            rows = read_kept_tokens(path, wallet)
            found += [_kept(dict(zip(TOKEN_COLUMNS, row, strict=True))) for row in rows]
        return found


def _first(found: Iterable[KeptToken]) -> KeptToken | None:
    return min(found, key=lambda one: (not one.bought, one.at), default=None)


def _put(connection: sqlite3.Connection, values: dict[str, str | float | None]) -> None:
    connection.execute(_PUT, values)


def _kept(row: dict[str, Any]) -> KeptToken:
    values: dict[str, Any] = {
        **row,
        "neg_risk": bool(row["neg_risk"]),
        "bought": bool(row["bought"]),
    }
    return KeptToken(**values)
