"""Stores the people who operate a world: names, roles, and hashes of their keys."""

from dataclasses import asdict, dataclass, field
from typing import Final

from service_tui.storage.db.statements import columns, replacing
from service_tui.storage.world_database import WorldDatabase, WriteConnection

_KEEP: Final = replacing("people")
_ALL: Final = f"SELECT {columns('people')} FROM people ORDER BY created_at, name"  # noqa: S608 - names of ours


@dataclass(frozen=True, slots=True)
class PersonRecord:
    """A person as the database has them. `ended_at` is None while the key opens something."""

    name: str
    role: str
    salt: str = field(repr=False)
    key_hash: str = field(repr=False)
    created_at: float
    created_by: str
    ended_at: float | None = None


def read_people(database: WorldDatabase) -> list[PersonRecord]:
    """Everybody, the first one first. Blocks."""
    return [PersonRecord(*row) for row in database.rows(_ALL, {})]


def keep_person(connection: WriteConnection, record: PersonRecord) -> None:
    """Write a person, new or changed, within the caller's transaction."""
    connection.execute(_KEEP, asdict(record))
