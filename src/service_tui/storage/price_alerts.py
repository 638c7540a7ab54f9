"""Price alerts, stored until they are removed."""

import sqlite3
from collections.abc import Mapping
from typing import Any, Final

from sqlalchemy import REAL, bindparam, delete, update
from sqlmodel import col, select

from service_tui.storage.db import tables
from service_tui.storage.db.database import Database
from service_tui.storage.db.tables import statement

_PUT: Final = tables.replacing(tables.Pricealerts)
_DROP: Final = statement(
    delete(tables.Pricealerts).where(col(tables.Pricealerts.alert_id) == bindparam("of"))
)
_ARM: Final = statement(
    update(tables.Pricealerts)
    .where(col(tables.Pricealerts.alert_id) == bindparam("of"))
    .values(armed=bindparam("now_armed"))
)
_FIRE: Final = statement(
    update(tables.Pricealerts)
    .where(
        col(tables.Pricealerts.alert_id) == bindparam("of"),
        col(tables.Pricealerts.triggered_at).is_(None),
    )
    .values(
        triggered_at=bindparam("at", type_=REAL), triggered_price=bindparam("price", type_=REAL)
    )
)


Row = dict[str, Any]
"""A row by the names of its columns; `armed` and `removed` are 0 or 1."""


class PriceAlerts:
    """The price alerts of one data directory."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def all(self) -> list[Row]:
        """Every one, newest first, the removed included."""
        table = tables.Pricealerts
        query = select(table).order_by(col(table.created_at).desc(), col(table.alert_id))
        with self._database.reader() as session:
            return [row.model_dump() for row in session.exec(query)]

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
