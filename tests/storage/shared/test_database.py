"""A world in PostgreSQL as its leader opens, loses and closes it, without a server."""

from contextlib import nullcontext
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import psycopg
import pytest
from psycopg.conninfo import conninfo_to_dict
from sqlalchemy.exc import DBAPIError

from service_tui.storage.errors import StorageBusyError, StorageError
from service_tui.storage.shared import connection as connection_room
from service_tui.storage.shared import database as room
from service_tui.storage.shared.connection import WorldPlace, _TextDumper, connect
from service_tui.storage.shared.database import SharedDatabase
from service_tui.storage.shared.errors import NotLeadingError

PLACE = WorldPlace("postgresql://eve@db.example/desk", "north")


class Around:
    """What stands around a database: the lead, the lines to the server, and what was done."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.done: list[Any] = []
        self.epoch: int | None = 7
        self.refuses: StorageError | None = None
        self.failure: StorageError | None = None
        self.lines = 0
        monkeypatch.setattr(room, "connect", self.connect)
        monkeypatch.setattr(room, "CommitNotifier", self.notifier)
        monkeypatch.setattr(room, "SharedPort", lambda _, epoch, notify: (epoch, notify()))
        monkeypatch.setattr(room, "Writer", self.writer)

    # -- the lead --

    def check(self) -> None:
        self.done.append("checked")
        if self.refuses is not None:
            raise self.refuses

    def note_writer(self, pid: int) -> None:
        self.done.append(("noted", pid))
        if self.refuses is not None:
            raise self.refuses

    # -- lines, writers and notifiers --

    def connect(self, place: WorldPlace, purpose: str) -> Any:
        assert place is PLACE
        self.lines += 1
        name = f"{purpose} {self.lines}"
        return SimpleNamespace(
            info=SimpleNamespace(backend_pid=40 + self.lines), close=self.closing(name)
        )

    def notifier(self, place: WorldPlace) -> Any:
        assert place is PLACE
        return SimpleNamespace(notify=lambda: "woken", close=self.closing("notifier"))

    def writer(self, port: object) -> Any:
        self.done.append(("writes", port))
        around = self

        class Writer:
            close = staticmethod(self.closing("writer"))

            @property
            def failure(self) -> StorageError | None:
                return around.failure

            def write(self, work: object) -> object:
                return ("written", work)

        return Writer()

    def closing(self, name: str) -> Any:
        return lambda: self.done.append(f"{name} closed")

    def database(self, *, leads: bool = True) -> SharedDatabase:
        leadership: Any = self if leads else None
        return SharedDatabase(PLACE, leadership, Path("/here/desk"))


@pytest.fixture
def around(monkeypatch: pytest.MonkeyPatch) -> Around:
    return Around(monkeypatch)


OPENED = [("noted", 41), ("writes", (7, "woken"))]


def test_a_leader_writes_in_its_epoch_and_says_by_which_process(around: Around) -> None:
    database: Any = around.database()
    with pytest.raises(StorageError, match="closed, or open for reading only"):
        database.write("work")
    database.open()
    assert around.done == OPENED
    assert database.write("work") == ("written", "work")
    database.check()
    assert around.done[2:] == ["checked"]
    database.close()
    assert around.done[3:] == ["writer closed", "notifier closed"]
    database.close()
    assert len(around.done) == 5
    with pytest.raises(StorageError, match="closed"):
        database.write("work")


def test_who_does_not_lead_opens_nothing(around: Around) -> None:
    reading = around.database(leads=False)
    reading.check()
    with pytest.raises(NotLeadingError):
        reading.open()
    around.epoch = None
    with pytest.raises(NotLeadingError):
        around.database().open()
    assert around.done == []


def test_what_was_closed_is_not_opened_again(around: Around) -> None:
    database = around.database()
    database.close()
    with pytest.raises(StorageError, match="the database is closed"):
        database.open()
    assert around.done == []


def test_a_line_of_a_writer_that_is_not_noted_is_closed(around: Around) -> None:
    around.refuses = NotLeadingError("another process leads")
    with pytest.raises(NotLeadingError):
        around.database().open()
    assert around.done == [("noted", 41), "writer 1 closed"]


async def test_without_a_failure_nothing_is_reopened(around: Around) -> None:
    database = around.database()
    database.open()
    await database.reopen()
    assert around.done == OPENED


async def test_a_failed_writer_is_replaced_while_this_process_leads(around: Around) -> None:
    database = around.database()
    database.open()
    around.failure = StorageError("the line was lost")
    await database.reopen()
    assert around.done[2:] == [
        "checked", "writer closed", "notifier closed", ("noted", 42), ("writes", (7, "woken")),
    ]  # fmt: skip
    del around.done[:]
    around.refuses = NotLeadingError("another process leads")
    with pytest.raises(NotLeadingError):
        await database.reopen()
    assert around.done == ["checked"]


def test_errors_of_the_driver_are_ours_and_others_pass(around: Around) -> None:
    database = around.database(leads=False)
    with pytest.raises(StorageError, match="no route"), database.reader():
        raise DBAPIError("SELECT", None, psycopg.OperationalError("no route"))
    with pytest.raises(DBAPIError), database.reader():
        raise DBAPIError("SELECT", None, Exception("of another driver"))


@pytest.mark.parametrize("fails", ["execute", "fetchall"])
def test_a_query_that_the_server_ends_is_our_error(
    monkeypatch: pytest.MonkeyPatch, around: Around, fails: str
) -> None:
    class Line:
        def cursor(self, **_: object) -> "Line":
            return self

        def execute(self, *_: object) -> "Line":
            return self.said("execute")

        def fetchall(self) -> list[Any]:
            return [self.said("fetchall")]

        def said(self, name: str) -> "Line":
            if name == fails:
                raise psycopg.errors.QueryCanceled("canceling statement due to statement timeout")
            return self

    line = SimpleNamespace(connection=SimpleNamespace(driver_connection=Line()))
    session = SimpleNamespace(connection=lambda: line)
    monkeypatch.setattr(SharedDatabase, "reader", lambda _: nullcontext(session))
    monkeypatch.setattr(room, "psycopg", SimpleNamespace(Connection=Line))
    with pytest.raises(StorageBusyError, match="canceling statement"):
        around.database(leads=False).rows("SELECT 1", {})


def test_a_reader_sees_one_moment_and_may_not_write(
    monkeypatch: pytest.MonkeyPatch, around: Around
) -> None:
    monkeypatch.setattr(
        room, "create_engine", lambda _, **options: SimpleNamespace(pool=None, **options)
    )
    engine: Any = around.database(leads=False)._engine
    line = engine.creator()
    assert around.lines == 1
    assert (line.autocommit, line.read_only) == (False, True)
    assert line.isolation_level is psycopg.IsolationLevel.REPEATABLE_READ
    # A pool as large as its readers, and each line tried before it is used.
    assert (engine.pool_size, engine.max_overflow) == (room.READERS_MAX, 0)
    assert engine.pool_pre_ping


def test_a_line_that_comes_back_after_the_end_is_closed(around: Around) -> None:
    database: Any = around.database(leads=False)
    database._readers = SimpleNamespace(dispose=around.closing("readers"))
    with database.reader():
        assert around.done == []
        database.close()
    # Once at the end, and once for the thread that nobody waited for.
    assert around.done == ["readers closed"] * 2


# -- lines ----------------------------------------------------------------------------------


class Server:
    """A server that answers every statement, or refuses the one that begins so."""

    def __init__(self, refuses: str = "never") -> None:
        self.said: list[str] = []
        self.registered: list[Any] = []
        self.refuses, self.is_closed = refuses, False
        self.adapters = SimpleNamespace(
            register_dumper=lambda *given: self.registered.append(given)
        )

    def execute(self, query: Any) -> None:
        said = query if isinstance(query, bytes | str) else query.as_string(None)
        text = said.decode() if isinstance(said, bytes) else said
        self.said.append(text)
        if text.startswith(self.refuses):
            raise psycopg.OperationalError("refused")

    def close(self) -> None:
        self.is_closed = True


def connected(monkeypatch: pytest.MonkeyPatch, server: Server) -> list[Any]:
    given: list[Any] = []

    def made(line: str, **options: object) -> Server:
        given.append((conninfo_to_dict(line), options))
        return server

    monkeypatch.setattr(connection_room.psycopg, "connect", made)
    return given


def test_a_line_is_of_its_world_and_waits_for_nobody_for_ever(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    server = Server()
    given = connected(monkeypatch, server)
    assert connect(PLACE, "reader") is server  # type: ignore[comparison-overlap]
    ((line, options),) = given
    assert (line["host"], line["user"], line["dbname"]) == ("db.example", "eve", "desk")
    assert line["application_name"] == "service-tui reader north"
    assert options == {"autocommit": True}
    assert server.said[0] == 'SET search_path = "world_north"'
    # A transaction that stands for ten seconds is ended by the server, in milliseconds.
    assert server.said[-1] == "SET idle_in_transaction_session_timeout = 10000"
    assert server.registered == [(str, _TextDumper)]
    assert not server.is_closed


@pytest.mark.parametrize("statement", ["SET search_path", "SET idle_in_transaction"])
def test_a_line_that_is_refused_something_is_closed(
    monkeypatch: pytest.MonkeyPatch, statement: str
) -> None:
    server = Server(statement)
    connected(monkeypatch, server)
    with pytest.raises(StorageError, match="refused"):
        connect(PLACE, "reader")
    assert server.is_closed


def test_a_text_with_a_nul_is_sent_with_a_sign_that_nothing_has() -> None:
    dumped = _TextDumper(str).dump("a\0b")
    assert dumped is not None
    assert bytes(dumped).decode() == "a\ufffdb"
