"""Price alerts, stored until they are removed."""

import sqlite3
from collections.abc import Mapping
from typing import Any, Final

from service_tui.storage.db.database import Database
from service_tui.storage.db.declared import TABLES
from service_tui.storage.db.statements import columns, replacing

_PUT: Final = replacing("pricealerts")
_DROP: Final = "DELETE FROM pricealerts WHERE alert_id = :of"
_ARM: Final = "UPDATE pricealerts SET armed = :now_armed WHERE alert_id = :of"
_FIRE: Final = """
UPDATE pricealerts SET triggered_at = :at, triggered_price = :price
WHERE alert_id = :of AND triggered_at IS NULL
"""
_COLUMNS: Final = TABLES["pricealerts"].columns
_ALL: Final = f"SELECT {columns('pricealerts')} FROM pricealerts ORDER BY created_at DESC, alert_id"  # noqa: S608 - names of ours


Row = dict[str, Any]
"""A row by the names of its columns; `armed` and `removed` are 0 or 1."""


class PriceAlerts:
    """The price alerts of one data directory."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def all(self) -> list[Row]:
        """Every one, newest first, the removed included."""
        return [dict(zip(_COLUMNS, row, strict=True)) for row in self._database.rows(_ALL, {})]

    async def put(self, alert: Row) -> None:
        """Keep a new one, or one as it is now."""
        await self._database.write(lambda c: _changed(c, _PUT, alert))

    async def drop(self, alert_id: str) -> bool:
        """Forget one; False where there is none."""
        return await self._database.write(lambda c: _changed(c, _DROP, {"of": alert_id}))

    async def arm(self, alert_id: str, *, armed: bool) -> None:
        """Note whether the price was seen on the near side."""
        values = {"of": alert_id, "now_armed": int(armed)}
        await self._database.write(lambda c: _changed(c, _ARM, values))

    async def fire(self, alert_id: str, *, at: float, price: float) -> bool:
        """Note that it has fired.

        Returns:
            True for the first call; False for ever after, and where there is none.
        """
        values = {"of": alert_id, "at": at, "price": price}
        return await self._database.write(lambda c: _changed(c, _FIRE, values))


def _changed(
    connection: sqlite3.Connection, sql: str, values: Mapping[str, str | float | None]
) -> bool:
    return connection.execute(sql, values).rowcount == 1
