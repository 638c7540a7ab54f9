"""Remembers the outcome token each position was bought as, so that no later order signs another.

Each console of a data directory stores tokens in its own database and reads the others' too.
"""

import sqlite3
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

from service_tui.storage.cached_state import TOKEN_COLUMNS, read_kept_tokens
from service_tui.storage.db.database import Database
from service_tui.storage.db.declared import TABLES
from service_tui.storage.db.statements import adding, columns

_BUY_REPLACES: Final = "excluded.bought > kepttokens.bought"
_REPLACED: Final = ", ".join(
    f"{name} = CASE WHEN {_BUY_REPLACES} THEN excluded.{name} ELSE kepttokens.{name} END"
    for name in ("token", "condition_id", "neg_risk", "at", "bought")
)
# max() of a number and NULL is NULL in SQLite: a missing fee counts as that of the other row.
_PUT: Final = f"""
{adding("kepttokens")} ON CONFLICT ({", ".join(TABLES["kepttokens"].key)}) DO UPDATE
SET {_REPLACED}, fee_rate_bps = CASE WHEN {_BUY_REPLACES}
THEN coalesce(excluded.fee_rate_bps, kepttokens.fee_rate_bps)
ELSE max(coalesce(kepttokens.fee_rate_bps, excluded.fee_rate_bps),
coalesce(excluded.fee_rate_bps, kepttokens.fee_rate_bps)) END
WHERE kepttokens.token = excluded.token OR {_BUY_REPLACES}
"""
"""An insert that keeps the token of the earlier row, and the higher fee of both.

A row of a buy replaces one that was only listed, token and all.
"""
_OF_WALLET: Final = f"SELECT {columns('kepttokens')} FROM kepttokens WHERE wallet = :wallet"  # noqa: S608 - names of ours


@dataclass(frozen=True, slots=True, kw_only=True)
class Holding:
    """A side of a market on a venue in one wallet, whose address is in small letters."""

    market_id: str
    side: str
    venue: str
    wallet: str


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptToken(Holding):
    """The token of a position as the service gave it at the buy, or when it first listed it.

    `token` is the outcome token by its digits, made of `condition_id`, the side and `neg_risk`;
    `fee_rate_bps` the highest fee the service has given, None for none. `bought` is true after a
    buy, or an order whose token the operator confirmed, and false if it was only listed.
    """

    token: str
    condition_id: str
    neg_risk: bool
    at: float
    fee_rate_bps: int | None = None
    bought: bool = False

    @property
    def place(self) -> Holding:
        """The position that this is the token of."""
        return Holding(
            market_id=self.market_id, side=self.side, venue=self.venue, wallet=self.wallet
        )


class KeptTokens:
    """Stores this console's tokens, and reads those of the directory's other consoles.

    Args:
        database: that of this console.
        others: returns the paths of the other consoles' databases.
    """

    def __init__(self, database: Database, others: Callable[[], tuple[Path, ...]] = tuple) -> None:
        self._database = database
        self._others = others

    async def keep(self, kept: KeptToken) -> None:
        """Store a token, unless the position has one already; the higher fee of both is kept.

        A token that was bought replaces one that was only listed.
        """
        numbers = {"neg_risk": int(kept.neg_risk), "bought": int(kept.bought)}
        values: dict[str, str | float | None] = {**asdict(kept), **numbers}
        await self._database.write(lambda c: _put(c, values))

    def find(self, holding: Holding) -> KeptToken | None:
        """The position's token over all consoles: the first bought, else the first listed. Blocks.

        Raises a `StorageError` if a console's database is there and cannot be read: nothing is
        signed then.

        Returns:
            The token; None if no console has stored one.
        """
        return _first(one for one in self._of(holding.wallet) if one.place == holding)

    def find_token(self, token: str, wallet: str) -> KeptToken | None:
        """The position a wallet bought this token as, else first listed it as; errors as `find`."""
        return _first(one for one in self._of(wallet) if one.token == token)

    def _of(self, wallet: str) -> list[KeptToken]:
        rows = self._database.rows(_OF_WALLET, {"wallet": wallet})
        found = [_kept(dict(zip(TABLES["kepttokens"].columns, row, strict=True))) for row in rows]
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
