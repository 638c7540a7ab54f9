"""A world in PostgreSQL: who may write, what is refused, and in which words."""

import asyncio
import json
import signal
import time
import tracemalloc
from collections.abc import Awaitable, Generator, Iterable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from pathlib import Path
from threading import Event

import psycopg
import pytest

from kit.service.pooler import pooled
from kit.service.postgres import USER, Postgres, leading, new_place, postgres
from service_tui.storage.answers import Answer, Answers
from service_tui.storage.entries import Bound, EntryQuery, EntryStore, StoredEntry
from service_tui.storage.errors import (
    DuplicateAnswerError,
    JournalOrderError,
    NewerSchemaError,
    StorageError,
    StorageFullError,
)
from service_tui.storage.journal import History, JournalRow, JournalStore, Snapshot
from service_tui.storage.shared.connection import Raw, WorldPlace, connect
from service_tui.storage.shared.database import SharedDatabase
from service_tui.storage.shared.errors import NotLeadingError, as_shared_error
from service_tui.storage.shared.leadership import CERTAIN_S, OPERATORS_MAX, SILENT_S, Leadership
from service_tui.storage.shared.roll import Roll
from service_tui.storage.shared.schema import VERSION, ensure, worlds_in
from service_tui.storage.shared.server_settings import (
    ServerSettings,
    other_encoding,
    settings_of,
)
from service_tui.storage.shared.statements import translated
from service_tui.storage.world_database import WriteConnection

pytestmark = pytest.mark.process


@pytest.fixture
def place() -> WorldPlace:
    return new_place()


def row(seq: int, body: str = "{}") -> JournalRow:
    return JournalRow(seq, float(seq), "fill", "heron", "m-1", body)


def leadership(place: WorldPlace, name: str = "a test") -> Leadership:
    return Leadership(place, name, lambda: 0.0)


def taken_over(by: Leadership) -> int:
    """The epoch of who takes the lead, once the server has seen that the former leader is gone."""
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline:
        epoch = by.try_lead()
        if epoch is not None:
            return epoch
    raise AssertionError("nobody leads")


def written(place: WorldPlace, query: str) -> list[tuple[object, ...]]:
    with connect(place, "test") as raw:
        return raw.execute(query.encode()).fetchall()


def cut_writer(place: WorldPlace) -> None:
    """Have the server end the connection through which a leader writes."""
    query = b"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = %s"
    with connect(place, "test") as raw:
        raw.execute(query, [f"service-tui writer {place.world}"])


async def ends_of(writes: Iterable[Awaitable[object]]) -> list[Exception | None]:
    """How writes of the same moment ended, each for itself."""
    writes = list(writes)
    ends: list[Exception | None] = [None] * len(writes)

    async def end(number: int, write: Awaitable[object]) -> None:
        try:
            await write
        except Exception as error:  # noqa: BLE001 - each is looked at
            ends[number] = error

    async with asyncio.TaskGroup() as tasks:
        for number, write in enumerate(writes):
            tasks.create_task(end(number, write))
    return ends


# -- what is stored ---------------------------------------------------------------------------


@pytest.mark.slow
async def test_the_journal_is_kept_in_order_and_read_back(
    place: WorldPlace, tmp_path: Path
) -> None:
    with leading(place, tmp_path) as database:
        journal = JournalStore(database)
        await journal.append([row(1), row(2, '["\\u0000 and 100 %"]')])
        with pytest.raises(JournalOrderError):
            await journal.append([row(4)])
        assert [one.seq for one in journal.rows_after(0)] == [1, 2]
        assert next(iter(journal.rows_after(1))).body == '["\\u0000 and 100 %"]'
        found, count = journal.rows_of(History("heron", ("fill",)), limit=1)
        assert ([one.seq for one in found], count) == ([2], 2)
        await journal.add_snapshot(Snapshot(2, 2.0, b"a"))
        await journal.add_snapshot(Snapshot(2, 2.0, b"b"))
        assert journal.snapshots() == [Snapshot(2, 2.0, b"b")]
    with leading(place, tmp_path) as database:
        assert JournalStore(database).last_seq() == 2


@pytest.mark.slow
async def test_of_works_at_the_same_moment_those_that_fail_leave_no_trace(
    place: WorldPlace, tmp_path: Path
) -> None:
    with leading(place, tmp_path) as database:
        journal, answers = JournalStore(database), Answers(database)
        answer = Answer("heron", "k", "/trade", "h", "{}", 1.0)
        failed: list[Exception] = []

        async def append(seq: int) -> None:
            try:
                await journal.append([row(seq)], answer=answer)
            except DuplicateAnswerError as error:
                failed.append(error)

        async with asyncio.TaskGroup() as tasks:
            for seq in (1, 2):
                tasks.create_task(append(seq))
        assert len(failed) == 1
        assert journal.last_seq() == 1
        assert answers.find("heron", "k", now=2.0) == answer
        # What is no text of the database is found nowhere.
        assert answers.find("her\x00on", "k", now=2.0) is None


@pytest.mark.slow
async def test_rows_of_a_crowd_arrive_as_they_are(place: WorldPlace, tmp_path: Path) -> None:
    bodies = ['{"a": "ü \\\\ \\" \'"}', '["\\n\\u0000"]', "%s ::json 100 %", "\U0001f600", "1e-7"]
    with leading(place, tmp_path) as database:
        journal = JournalStore(database)
        rows = [
            JournalRow(seq, 1_764_525_600.123456 + seq / 7, "fill", None, "m-1", body)
            for seq, body in enumerate(bodies * 20, 1)
        ]
        assert not any(await ends_of(journal.append([one]) for one in rows))
        assert list(journal.rows_after(0)) == rows


@pytest.mark.slow
async def test_a_row_that_is_there_already_fails_alone_and_leaves_nothing(
    place: WorldPlace, tmp_path: Path
) -> None:
    put = (
        "INSERT INTO people (name, role, salt, key_hash, created_at, created_by) "
        "VALUES (:name, :role, :salt, :key_hash, :created_at, :created_by)"
    )

    def person(name: str) -> dict[str, object]:
        texts = dict.fromkeys(("role", "salt", "key_hash", "created_by"), "x")
        return {"name": name, "created_at": 1.0, **texts}

    with leading(place, tmp_path) as database:
        names = ("ada", "bea", "ada", "cleo")
        adding = [
            database.write(lambda c, n=n: c.executemany(put, [person(f"{n}-2"), person(n)]))  # type: ignore[misc]
            for n in names
        ]
        found = await ends_of(adding)
        assert [isinstance(one, StorageError) for one in found] == [False, False, True, False]
        # It goes on as if nothing had been.
        await database.write(lambda c: c.executemany(put, [person("dan")]))
    names_kept = [name for (name,) in written(place, "SELECT name FROM people ORDER BY name")]
    assert names_kept == ["ada", "ada-2", "bea", "bea-2", "cleo", "cleo-2", "dan"]


@pytest.mark.slow
async def test_of_a_crowd_whose_line_dies_before_the_commit_nothing_is_there(
    place: WorldPlace, tmp_path: Path
) -> None:
    with leading(place, tmp_path) as database:
        journal = JournalStore(database)
        await journal.append([row(1)])

        crowd = [
            journal.append([row(2)]),
            journal.append([row(3)], beside=lambda _: cut_writer(place)),
            database.write(len),
        ]
        assert all(await ends_of(crowd))
        with pytest.raises(StorageError):
            await journal.append([row(2)])
        await database.reopen()
        assert journal.last_seq() == 1
        await journal.append([row(2)])
        assert journal.last_seq() == 2


@pytest.mark.slow
async def test_behind_a_refused_row_of_the_same_moment_no_row_is_taken(
    place: WorldPlace, tmp_path: Path
) -> None:
    with leading(place, tmp_path) as database:
        journal = JournalStore(database)
        answer = Answer("heron", "k", "/trade", "hash", "{}", 1.0)
        await journal.append([row(1)], answer=answer)
        go = Event()

        async def let_go() -> None:
            go.set()

        # They join the group of the work that waits.
        waiting = database.write(lambda _: go.wait(20))
        crowd = [
            journal.append([row(2)], answer=answer),
            *(journal.append([row(n)]) for n in (3, 4)),
        ]
        kinds = [type(one) for one in await ends_of([waiting, *crowd, let_go()])]
        refused = [DuplicateAnswerError, JournalOrderError, JournalOrderError]
        assert kinds == [type(None), *refused, type(None)]
        assert journal.last_seq() == 1


@pytest.mark.slow
@pytest.mark.parametrize("uses", range(7))
async def test_a_statement_that_another_ones_error_kept_from_being_run_is_run_later(
    place: WorldPlace, tmp_path: Path, uses: int
) -> None:
    query = "SELECT count(*) FROM people WHERE name = :name"

    def look(connection: WriteConnection) -> int:
        (count,) = connection.execute(query, {"name": "ada"}).fetchone()
        return int(count)

    def fail(connection: WriteConnection) -> None:
        connection.execute("SELECT 1 / 0")
        connection.execute(query, {"name": "ada"})

    with leading(place, tmp_path) as database:
        for _ in range(uses):
            assert await database.write(look) == 0
        for _ in range(2):
            with pytest.raises(StorageError, match="division by zero"):
                await database.write(fail)
            assert await database.write(look) == 0


@pytest.mark.slow
async def test_a_work_of_many_rows_does_not_keep_all_of_them(
    place: WorldPlace, tmp_path: Path
) -> None:
    put = (
        "INSERT INTO people (name, role, salt, key_hash, created_at, created_by) "
        "VALUES (:name, :role, :salt, :key_hash, :created_at, :created_by)"
    )

    def people(chunk: int) -> Iterable[dict[str, object]]:
        for number in range(500):
            texts = dict.fromkeys(("role", "key_hash", "created_by"), "x")
            yield {
                "name": f"{chunk}-{number}",
                "salt": f"{number:02000}",
                "created_at": 1.0,
                **texts,
            }

    def fill(connection: WriteConnection) -> None:
        for chunk in range(20):
            connection.executemany(put, people(chunk))

    with leading(place, tmp_path) as database:
        await database.write(id)
        tracemalloc.start()
        try:
            await database.write(fill)
            _, most = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
    assert written(place, "SELECT count(*) FROM people") == [(10_000,)]
    # All of them are twenty megabytes of text.
    assert most < 12_000_000


@pytest.mark.slow
async def test_what_a_work_keeps_to_itself_is_no_commit(place: WorldPlace, tmp_path: Path) -> None:
    def keep_silent(connection: WriteConnection) -> None:
        with suppress(psycopg.Error):
            connection.execute("SELECT 1 / 0").fetchone()

    with leading(place, tmp_path) as database:
        journal = JournalStore(database)
        await journal.append([row(1)])
        with pytest.raises(StorageError, match="nothing was acknowledged"):
            await journal.append([row(2)], beside=keep_silent)
        await database.reopen()
        await journal.append([row(2)])
        assert journal.last_seq() == 2


@pytest.mark.slow
async def test_a_work_that_fails_while_the_line_dies_keeps_nobody_waiting(
    place: WorldPlace, tmp_path: Path
) -> None:
    with leading(place, tmp_path) as database:
        journal = JournalStore(database)

        def cut_and_fail(_: object) -> None:
            cut_writer(place)
            raise ValueError("of the work itself")

        async with asyncio.timeout(20):
            with pytest.raises(StorageError):
                await journal.append([row(1)], beside=cut_and_fail)
            await database.reopen()
            await journal.append([row(1)])


@pytest.mark.slow
async def test_backtests_add_up_to_the_same_figures_as_in_sqlite(
    place: WorldPlace, tmp_path: Path
) -> None:
    lots = [
        StoredEntry(1, "t1", "heron", "sim", "s", "m", "yes", 1.0, 10, 5, 0, 9, '{"edge": 0.2}'),
        StoredEntry(2, "t2", "heron", "sim", "s", "m", "yes", 2.0, 10, 5, 0, 1, '{"edge": 0.1}'),
        StoredEntry(3, "t3", "heron", "sim", "s", "m", "yes", 3.0, 10, 5, 4, 0, '{"edge": 0.3}'),
        StoredEntry(4, "t4", "heron", "sim", "s", "m", "no", 4.0, 10, 5, 0, 0, None),
    ]
    wanted = EntryQuery("heron", "s", "sim", 0.0)
    with leading(place, tmp_path) as database:
        entries = EntryStore(database)
        await entries.take(lots, (), 4)
        decided, held = entries.sums(wanted, (Bound("edge", is_max=False, value=0.15),))
        assert (decided.bought, decided.gained, decided.passed, decided.won) == (2, 0, 1, 1)
        assert (held.market_id, held.side, held.held, held.passed_gained) == ("m", "yes", 4, -5)
        assert all(isinstance(figure, int) for figure in (*decided[2:], *held[2:]))
        assert (entries.carries(wanted, "edge"), entries.carries(wanted, "none")) == (True, False)
        assert (entries.silent(wanted), entries.read_to()) == (1, 4)
        assert json.loads(entries.signals_lately(wanted)[0]) == {"edge": 0.3}


def test_statements_keep_their_per_cent_signs_and_lose_the_hints_of_sqlite() -> None:
    sql = "SELECT a % 2 FROM e INDEXED BY i WHERE at > :since AND x::int = 1 LIMIT -1"
    assert translated(sql) == "SELECT a %% 2 FROM e WHERE at > %(since)s AND x::int = 1"


# -- who leads --------------------------------------------------------------------------------


@pytest.mark.slow
async def test_a_former_leader_begins_no_transaction(place: WorldPlace, tmp_path: Path) -> None:
    first, second = leadership(place, "first"), leadership(place, "second")
    assert first.try_lead() == 1
    assert second.try_lead() is None
    database = SharedDatabase(place, first, tmp_path / "world")
    database.open()
    journal = JournalStore(database)
    await journal.append([row(1)])
    # The lock goes with its connection, while the writer of the first one goes on.
    lead = f"application_name = 'service-tui lead {place.world}'"
    holds = "pid IN (SELECT pid FROM pg_locks WHERE locktype = 'advisory')"
    ended = f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE {lead} AND {holds}"  # noqa: S608 - ours
    assert written(place, ended) == [(True,)]
    assert taken_over(second) == 2
    with pytest.raises(NotLeadingError):
        await journal.append([row(2)])
    with pytest.raises(StorageError):
        first.beat()
    with pytest.raises(NotLeadingError):
        first.beat()
    with pytest.raises(NotLeadingError):
        await database.reopen()
    other = SharedDatabase(place, second, tmp_path / "other")
    other.open()
    await JournalStore(other).append([row(2)])
    assert written(place, "SELECT seq, epoch FROM journal ORDER BY seq") == [(1, 1), (2, 2)]
    assert written(place, "SELECT epoch, after_seq, holder FROM leaders ORDER BY epoch") == [
        (1, 0, "first"),
        (2, 1, "second"),
    ]
    for each in (database, other, first, second):
        each.close()


def test_a_leader_that_has_not_beaten_for_a_while_answers_nothing(place: WorldPlace) -> None:
    now = 0.0
    mine = Leadership(place, "me", lambda: now)
    with pytest.raises(NotLeadingError):
        mine.check()
    mine.try_lead()
    mine.check()
    now = CERTAIN_S
    with pytest.raises(NotLeadingError):
        mine.check()
    mine.beat()
    mine.check()
    mine.close()
    assert CERTAIN_S < SILENT_S


def test_only_a_silent_leader_is_ended_by_another(place: WorldPlace) -> None:
    first, second = leadership(place, "first"), leadership(place, "second")
    first.try_lead()
    first.publish("http://127.0.0.1:1")
    second.end_silent()
    assert second.try_lead() is None
    found = second.leader()
    assert found is not None
    assert (found.holder, found.address) == ("first", "http://127.0.0.1:1")
    assert SILENT_S < 10
    written(place, "UPDATE beat SET at = at - interval '10 seconds' RETURNING 1")
    second.end_silent()
    with pytest.raises(StorageError):
        first.beat()
    assert taken_over(second) == 2
    first.close()
    second.close()


def test_each_process_brings_an_operators_key_up_to_a_bound(place: WorldPlace) -> None:
    mine = leadership(place)
    assert taken_over(mine) == 1
    for name in ("a", "b", "a"):
        found = mine.add_operator(name)
    assert found == ("a", "b")
    for number in range(OPERATORS_MAX):
        found = mine.add_operator(f"{number}")
    assert (len(found), found[:3]) == (OPERATORS_MAX, ("a", "b", "0"))
    # The leader learns of the others' with its next beat.
    other = leadership(place)
    written(place, "UPDATE world SET operator_hash = 'a' RETURNING 1")
    other.add_operator("c")
    mine.beat()
    assert mine.operator_hashes == ("a", "c")
    other.close()
    mine.close()


# -- threads that nobody waits for any more ---------------------------------------------------


def open_lines(place: WorldPlace, purpose: str) -> int:
    """How many connections of a purpose the server has, once those that end have ended."""
    name, deadline = f"service-tui {purpose} {place.world}", time.monotonic() + 2
    while True:
        names = written(place, "SELECT application_name FROM pg_stat_activity")
        if not (found := names.count((name,))) or time.monotonic() > deadline:
            return found
        time.sleep(0.01)  # noqa: TID251 - the server's own processes end, on no loop


def test_a_reader_that_outlives_its_database_leaves_no_line_open(
    place: WorldPlace, tmp_path: Path
) -> None:
    database = SharedDatabase(place, None, tmp_path / "world")
    with database.reader() as connection:
        connection.execute("SELECT 1")
        database.close()
    assert open_lines(place, "reader") == 0


def test_who_does_not_lead_opens_nothing(place: WorldPlace, tmp_path: Path) -> None:
    for who in (None, leadership(place)):
        database = SharedDatabase(place, who, tmp_path / "world")
        with pytest.raises(NotLeadingError):
            database.open()
        with pytest.raises(StorageError, match="closed, or open for reading only"):
            database.write(lambda _: None)
    assert open_lines(place, "writer") == 0


def test_a_reader_sees_one_moment_and_may_not_write(place: WorldPlace, tmp_path: Path) -> None:
    database = SharedDatabase(place, None, tmp_path / "world")
    versions = "SELECT version FROM world"
    with database.reader() as connection:
        (before,) = connection.execute(versions).fetchone()
        written(place, "UPDATE world SET version = version + 1 RETURNING 1")
        assert connection.execute(versions).fetchone() == (before,)
    with pytest.raises(StorageError, match="refused"), database.reader() as connection:
        connection.execute("UPDATE world SET version = 7")
    # What PostgreSQL takes in no text is found nowhere.
    assert database.rows("SELECT CAST(:a AS text)", {"a": "a\0b"}) == [("a\ufffdb",)]
    with pytest.raises(StorageError):
        database.rows("SELECT 1 / 0", {})
    database.close()


async def test_a_writer_that_lost_its_line_is_replaced(place: WorldPlace, tmp_path: Path) -> None:
    with leading(place, tmp_path) as database:
        journal = JournalStore(database)
        await database.reopen()
        await journal.append([row(1)])
        name = f"application_name = 'service-tui writer {place.world}'"
        written(place, f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE {name}")  # noqa: S608 - ours
        with pytest.raises(StorageError):
            await journal.append([row(2)])
        with pytest.raises(StorageError):
            await journal.append([row(2)])
        await database.reopen()
        await journal.append([row(2)])
        assert journal.last_seq() == 2


def test_who_tries_for_the_lead_while_it_is_closed_has_neither_lead_nor_line(
    place: WorldPlace,
) -> None:
    connecting, may = Event(), Event()

    def late(place: WorldPlace, purpose: str) -> Raw:
        connecting.set()
        may.wait(20)
        return connect(place, purpose)

    mine = Leadership(place, "a test", lambda: 0.0, connect=late)
    with ThreadPoolExecutor(2) as threads:
        trying = threads.submit(mine.try_lead)
        connecting.wait(20)
        closing = threads.submit(mine.close)
        may.set()
        assert (trying.result(20), closing.result(20)) == (1, None)
    assert mine.epoch is None
    assert open_lines(place, "lead") == 0


def test_a_database_that_is_closed_opens_no_writer(place: WorldPlace, tmp_path: Path) -> None:
    mine = leadership(place)
    mine.try_lead()
    database = SharedDatabase(place, mine, tmp_path / "world")
    database.close()
    with pytest.raises(StorageError, match="closed"):
        database.open()
    assert open_lines(place, "writer") == 0
    mine.close()


# -- what goes wrong --------------------------------------------------------------------------


@pytest.fixture(scope="module")
def own() -> Generator[Postgres]:
    server = Postgres()
    yield server
    server.close()


@pytest.mark.slow
async def test_a_server_that_dies_takes_nothing_acknowledged_along(
    own: Postgres, tmp_path: Path
) -> None:
    place = new_place(own.url)
    with leading(place, tmp_path) as database:
        journal = JournalStore(database)
        await journal.append([row(1)])
        own.stop(signal.SIGKILL)
        with pytest.raises(StorageError, match="does not answer"):
            await journal.append([row(2)])
        with pytest.raises(StorageError, match="does not answer"):
            ensure(place)
        own.start()
    with leading(place, tmp_path) as database:
        assert JournalStore(database).last_seq() == 1
        await JournalStore(database).append([row(2)])


# -- what a server is set to ------------------------------------------------------------------


LAZY: dict[str, tuple[str, ...]] = {
    "a role": ("ALTER ROLE desk SET synchronous_commit = off",),
    "a database": ("ALTER DATABASE postgres SET synchronous_commit = off",),
    "the cluster": ("ALTER SYSTEM SET synchronous_commit = off", "SELECT pg_reload_conf()"),
    "PGOPTIONS": (),
    "the address": (),
}
"""Who says that a commit need not wait for the disk, and how."""

UNDONE = (
    "ALTER ROLE desk RESET ALL",
    "ALTER DATABASE postgres RESET ALL",
    "ALTER SYSTEM RESET synchronous_commit",
    "SELECT pg_reload_conf()",
)


@pytest.fixture(scope="module")
def slow() -> Generator[Postgres]:
    """A server that writes its log every ten seconds unless a commit waits for it."""
    server = Postgres("wal_writer_delay=10s")
    yield server
    server.close()


def run_on(server: Postgres, *statements: str) -> None:
    with psycopg.connect(server.url, autocommit=True) as raw:
        for statement in statements:
            raw.execute(statement.encode())


@pytest.mark.parametrize("who", LAZY)
async def test_what_is_acknowledged_outlives_a_server_that_need_not_wait_for_its_disk(
    slow: Postgres, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, who: str
) -> None:
    run_on(slow, *LAZY[who])
    url = slow.url
    if who == "PGOPTIONS":
        monkeypatch.setenv("PGOPTIONS", "-c synchronous_commit=off")
    if who == "the address":
        url += "&options=-csynchronous_commit%3Doff"
    place = new_place(url)
    with leading(place, tmp_path) as database:
        for number in range(1, 6):
            await JournalStore(database).append([row(number)])
        slow.stop(signal.SIGQUIT)
    slow.start()
    run_on(slow, *UNDONE)
    with leading(place, tmp_path) as database:
        assert JournalStore(database).last_seq() == 5
        # The tables, the lead and the rows: none of them was acknowledged too early.
        assert database.rows("SELECT epoch FROM world", {}) == [(2,)]


async def test_a_reload_in_the_middle_weakens_no_commit(slow: Postgres, tmp_path: Path) -> None:
    place = new_place(slow.url)
    with leading(place, tmp_path) as database:
        await JournalStore(database).append([row(1)])
        run_on(slow, *LAZY["the cluster"])
        for number in range(2, 6):
            await JournalStore(database).append([row(number)])
        slow.stop(signal.SIGQUIT)
    slow.start()
    run_on(slow, *UNDONE)
    with leading(place, tmp_path) as database:
        assert JournalStore(database).last_seq() == 5


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ("off", "on"), ("on", "on"), ("local", "local"), ("remote_write", "remote_write"),
        ("remote_apply", "remote_apply"),
    ],
)  # fmt: skip
def test_only_a_commit_that_waits_for_nothing_is_changed(
    slow: Postgres, given: str, kept: str
) -> None:
    place = new_place(slow.url)
    run_on(slow, f"ALTER ROLE desk SET synchronous_commit = {given}")
    with connect(place, "test") as raw:
        assert raw.execute(b"SHOW synchronous_commit").fetchone() == (kept,)
    assert settings_of(place).synchronous_commit == given
    run_on(slow, *UNDONE)


def test_other_habits_of_a_role_change_no_row(slow: Postgres) -> None:
    place = new_place(slow.url)
    run_on(
        slow,
        "ALTER ROLE desk SET extra_float_digits = -15",
        "ALTER ROLE desk SET default_transaction_isolation = 'serializable'",
    )
    with connect(place, "test") as raw:
        assert raw.execute(b"SELECT 1790000000.123456::float8").fetchone() == (1790000000.123456,)
        assert raw.execute(b"SHOW transaction_isolation").fetchone() == ("read committed",)
    run_on(slow, *UNDONE)


CHANGED = (
    "writes: synchronous_commit is off for this user; each connection of service-tui sets it to on"
)

TEXT = "Trump\u2019s \u2013 \u0130lkay \U0001f986"


@pytest.mark.parametrize("who", ["a role", "PGCLIENTENCODING", "the address"])
async def test_texts_arrive_whatever_encoding_a_client_is_given(
    slow: Postgres, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, who: str
) -> None:
    url = slow.url
    if who == "a role":
        run_on(slow, "ALTER ROLE desk SET client_encoding = 'LATIN1'")
    if who == "PGCLIENTENCODING":
        monkeypatch.setenv("PGCLIENTENCODING", "LATIN1")
    if who == "the address":
        url += "&client_encoding=LATIN1&options=-cclient_encoding%3DLATIN1"
    place = new_place(url)
    with leading(place, tmp_path) as database:
        await JournalStore(database).append([row(1, TEXT)])
        assert [kept.body for kept in JournalStore(database).rows_after(0)] == [TEXT]
    run_on(slow, *UNDONE)


@pytest.mark.parametrize("encoding", ["LATIN1", "SQL_ASCII"])
def test_a_database_of_another_encoding_is_refused_in_a_sentence(
    slow: Postgres, encoding: str
) -> None:
    name = f"other_{encoding.lower()}"
    run_on(slow, f"CREATE DATABASE {name} ENCODING '{encoding}' TEMPLATE template0 LOCALE 'C'")
    place = WorldPlace(slow.url.replace("/postgres?", f"/{name}?"), "main")
    with pytest.raises(StorageError, match=f"encoding is {encoding}, .* --template template0"):
        ensure(place)
    assert settings_of(place).encoding == encoding
    # A world that somebody has there already can be copied out.
    assert ensure(place, any_encoding=True)


def test_what_the_database_refused_is_said_in_its_own_words(place: WorldPlace) -> None:
    with (
        connect(place, "test") as raw,
        pytest.raises(StorageError, match=r'refused; .* \(column "heron" does not exist\)$'),
        as_shared_error(),
    ):
        raw.execute(b"SELECT heron")


def test_a_pooler_that_keeps_no_sessions_is_refused_in_a_sentence(slow: Postgres) -> None:
    with pooled(slow, keeps_sessions=False) as url:
        place = WorldPlace(url, "behind_one")
        for ask in (ensure, settings_of):
            with pytest.raises(StorageError, match="a pooler stands before the database"):
                ask(place)
    # Nothing was made, and no lock stayed behind in a session of the pooler's.
    direct = WorldPlace(slow.url, "behind_one")
    assert "behind_one" not in worlds_in(direct)
    assert ensure(direct)


def test_a_pooler_that_has_other_work_is_refused_each_time(slow: Postgres) -> None:
    direct = WorldPlace(slow.url, "behind_busy")
    with pooled(slow, keeps_sessions=False, sessions=4) as url:
        place = WorldPlace(url, "behind_busy")
        for _ in range(20):
            with pytest.raises(StorageError, match="a pooler stands before the database"):
                ensure(place)
        assert "behind_busy" not in worlds_in(direct)
    assert ensure(direct)


async def test_a_pooler_that_keeps_sessions_is_as_good_as_none(
    slow: Postgres, tmp_path: Path
) -> None:
    with pooled(slow, keeps_sessions=True) as url:
        place = new_place(url)
        with leading(place, tmp_path) as database:
            await JournalStore(database).append([row(1, TEXT)])
            assert [kept.body for kept in JournalStore(database).rows_after(0)] == [TEXT]
            # What another process has to end is in the database, not in the pooler.
            assert written(
                place,
                "UPDATE world SET version = version RETURNING "
                "(SELECT count(*) FROM pg_stat_activity WHERE pid IN (lock_pid, writer_pid))",
            ) == [(2,)]


@pytest.mark.parametrize(
    ("settings", "findings"),
    [
        (
            ServerSettings(),
            (
                (True, "encoding: UTF8"),
                (True, "writes: on the server's disk before they are acknowledged"),
            ),
        ),
        (
            ServerSettings(synchronous_commit="remote_apply"),
            ((True, "encoding: UTF8"), (True, "writes: synchronous_commit is remote_apply")),
        ),
        (
            ServerSettings("LATIN1", "off"),
            ((False, other_encoding("LATIN1")), (True, CHANGED)),
        ),
    ],
)
def test_a_setting_that_a_world_depends_on_is_a_finding(
    settings: ServerSettings, findings: tuple[tuple[bool, str], ...]
) -> None:
    assert settings.findings() == findings


@pytest.mark.parametrize(
    ("settings", "name"),
    [
        (ServerSettings(fsync=False), "fsync"),
        (ServerSettings(full_page_writes=False), "full_page_writes"),
    ],
)
def test_a_server_that_may_lose_what_it_wrote_is_named_plainly(
    settings: ServerSettings, name: str
) -> None:
    (problem,) = [text for is_well, text in settings.findings() if not is_well]
    assert problem.startswith(f"{name} is off: a crash of the database's machine")
    assert f"set {name} = on" in problem


@pytest.mark.slow
async def test_on_a_full_disk_nothing_is_written_and_it_goes_on_after(
    place: WorldPlace, tmp_path: Path
) -> None:
    full = """CREATE FUNCTION full() RETURNS trigger LANGUAGE plpgsql AS
    $$ BEGIN RAISE EXCEPTION 'no space left' USING ERRCODE = '53100'; END $$;
    CREATE TRIGGER no_room BEFORE INSERT ON journal EXECUTE FUNCTION full()"""
    with leading(place, tmp_path) as database:
        journal = JournalStore(database)
        await journal.append([row(1)])
        with connect(place, "test") as raw:
            raw.execute(full.encode())
        with pytest.raises(StorageFullError, match="disk is full"):
            await journal.append([row(2)])
        with connect(place, "test") as raw:
            raw.execute(b"DROP TRIGGER no_room ON journal")
        await database.reopen()
        await journal.append([row(2)])
        assert journal.last_seq() == 2


def test_tables_are_made_once_and_another_version_is_refused(place: WorldPlace) -> None:
    assert ensure(place) is False
    assert place.world in worlds_in(place)
    with connect(place, "test") as raw:
        raw.execute(b"UPDATE world SET version = %s", [VERSION + 1])
    with pytest.raises(NewerSchemaError, match="install the newer program"):
        ensure(place)
    with connect(place, "test") as raw:
        raw.execute(b"UPDATE world SET version = 0")
    with pytest.raises(StorageError, match="older schema 0; run service-tui db migrate"):
        ensure(place)


@pytest.mark.parametrize(
    ("url", "world", "words"),
    [
        ("sqlite:///x", "main", "no address of a database"),
        ("postgresql://[", "main", "no address of a database"),
        ("postgresql://u:se@cret@h/d", "main", "an @ too many; in a password write %40"),
        ("postgresql://u:se/cret@h/d", "main", "an @ too many; in a password write %40"),
        ("postgresql://desk:hush@127.0.0.1/x", "Main; DROP", "no name of a world"),
        ("postgresql://desk:hush@127.0.0.1/x", "w" * 41, "no name of a world"),
    ],
)
def test_what_is_no_database_or_no_world_is_refused_in_a_line(
    url: str, world: str, words: str
) -> None:
    with pytest.raises(StorageError, match=words) as refused:
        WorldPlace(url, world)
    assert "hush" not in str(refused.value)


def test_no_way_to_the_database_is_one_line_without_the_password() -> None:
    place = WorldPlace("postgresql://desk:hush@127.0.0.1:1/x", "main")
    with pytest.raises(StorageError, match="does not answer") as refused:
        ensure(place)
    assert "\n" not in str(refused.value)
    assert "hush" not in f"{refused.value} {place} {place!r}"
    stranger = WorldPlace(postgres().url.replace(USER, "stranger"), "main")
    with pytest.raises(StorageError, match='role "stranger" does not exist'):
        ensure(stranger)


def test_a_missing_right_is_named() -> None:
    place = new_place()
    with psycopg.connect(postgres().url, autocommit=True) as raw:
        raw.execute(b"CREATE ROLE reader LOGIN")
    with pytest.raises(StorageError, match="lacks a right"):
        ensure(WorldPlace(postgres().url.replace(USER, "reader"), place.world))
    with pytest.raises(StorageError, match="lacks a right"):
        ensure(WorldPlace(postgres().url.replace(USER, "reader"), "of_a_reader"))


def columns(place: WorldPlace) -> list[tuple[object, ...]]:
    return written(
        place,
        "SELECT table_name, column_name, data_type, is_nullable, collation_name "  # noqa: S608 - ours
        f"FROM information_schema.columns WHERE table_schema = '{place.schema}' "
        "UNION SELECT tablename, replace(indexname, schemaname, ''), "
        "replace(indexdef, schemaname, ''), '', '' "
        f"FROM pg_indexes WHERE schemaname = '{place.schema}' ORDER BY 1, 2",
    )


def test_tables_of_version_1_become_what_new_ones_are(place: WorldPlace) -> None:
    wanted = columns(place)
    with connect(place, "test") as raw:
        raw.execute(b"DROP TABLE people")
        raw.execute(b"DROP TABLE invitations")
        raw.execute(b"DROP INDEX journal_of_people")
        raw.execute(b"UPDATE world SET version = 1")
    assert columns(place) != wanted
    with pytest.raises(StorageError, match="older schema 1; run service-tui db migrate"):
        ensure(place)
    assert ensure(place, upgrade=True)
    assert columns(place) == wanted
    assert not ensure(place, upgrade=True)


def test_processes_that_start_together_make_the_tables_once() -> None:
    url = postgres().url
    place = WorldPlace(url, f"together_{time.monotonic_ns()}")
    with ThreadPoolExecutor(3) as threads:
        made = list(threads.map(lambda _: ensure(place), range(3)))
    assert sorted(made) == [False, False, True]


@pytest.mark.slow
def test_who_calls_on_the_roll_counts_itself_at_once_and_no_more_once_it_left() -> None:
    place, deadline = new_place(), time.monotonic() + 20
    with closing(Roll(place, "first")) as first:
        alone = first.call()
        assert alone >= 1
        with closing(Roll(place, "second")) as second:
            assert second.call() == alone + 1
        while first.call() > alone:
            assert time.monotonic() < deadline
