"""Reads the settings of a PostgreSQL server that a world depends on."""

from dataclasses import dataclass
from typing import Final

from service_tui.storage.errors import StorageError
from service_tui.storage.shared.connection import Raw, WorldPlace, connect, refuse_split_sessions
from service_tui.storage.shared.errors import as_shared_error

Finding = tuple[bool, str]
"""Whether it is well, and the text of the finding."""

ENCODING: Final = "UTF8"
"""The encoding of a database that takes every text of a world."""

# `reset_val` is what the server gives this user in this database, before a connection changes it.
_SETTINGS: Final = (
    b"SELECT name, reset_val FROM pg_settings "
    b"WHERE name IN ('server_encoding', 'synchronous_commit', 'fsync', 'full_page_writes')"
)
_WRITES: Final = {
    "on": "writes: on the server's disk before they are acknowledged",
    "off": "writes: synchronous_commit is off for this user; each connection of service-tui "
    "sets it to on",
}

_NO_FSYNC: Final = (
    "fsync is off: a crash of the database's machine loses or damages what was acknowledged; "
    "set fsync = on in postgresql.conf and reload"
)
_NO_WHOLE_PAGES: Final = (
    "full_page_writes is off: a crash of the database's machine may damage its tables; "
    "set full_page_writes = on in postgresql.conf and reload"
)


@dataclass(frozen=True, slots=True)
class ServerSettings:
    """The encoding of the database, and when the server has a write on its disk."""

    encoding: str = ENCODING
    synchronous_commit: str = "on"
    fsync: bool = True
    full_page_writes: bool = True

    def findings(self) -> tuple[Finding, ...]:
        """One finding for each setting that a person should know of."""
        writes = _WRITES.get(
            self.synchronous_commit, f"writes: synchronous_commit is {self.synchronous_commit}"
        )
        found: list[Finding] = [
            (True, f"encoding: {self.encoding}")
            if self.encoding == ENCODING
            else (False, other_encoding(self.encoding)),
            (True, writes),
        ]
        if not self.fsync:
            found.append((False, _NO_FSYNC))
        if not self.full_page_writes:
            found.append((False, _NO_WHOLE_PAGES))
        return tuple(found)


def other_encoding(encoding: str) -> str:
    """One sentence on a database of another encoding, with the fix."""
    return (
        f"the database's encoding is {encoding}, and a world has texts that it cannot hold; make "
        f"one with 'createdb --encoding {ENCODING} --template template0 NAME', and use that"
    )


def settings_of(place: WorldPlace) -> ServerSettings:
    """What the server is set to, for this user and this database. Blocks.

    Raises:
        StorageError: the database does not answer, or a pooler before it keeps no sessions.
    """
    with connect(place, "settings") as raw, as_shared_error():
        refuse_split_sessions(place, raw)
        found = {str(name): str(value) for name, value in raw.execute(_SETTINGS).fetchall()}
    return ServerSettings(
        encoding=found["server_encoding"],
        synchronous_commit=found["synchronous_commit"],
        fsync=found["fsync"] == "on",
        full_page_writes=found["full_page_writes"] == "on",
    )


def refuse_other_encoding(raw: Raw) -> None:
    """Refuse a database that cannot hold every text.

    Raises:
        StorageError: its encoding is another one; gives the fix.
    """
    row = raw.execute(b"SELECT current_setting('server_encoding')").fetchone()
    if row is not None and row[0] != ENCODING:
        raise StorageError(other_encoding(str(row[0])))
