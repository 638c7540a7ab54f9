"""Which copy a command makes, and what is said of the database of a shared desk."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from service_tui.app.options import Options
from service_tui.commands import database as room
from service_tui.commands import shared
from service_tui.commands.database import DatabaseRequest
from service_tui.commands.shared import SharedRequest, run_shared_command
from service_tui.storage.db.inspection import DamageFound
from service_tui.storage.db.lock import DataDirLock
from service_tui.storage.errors import DamagedRowsError, DirectoryLockedError, StorageError
from service_tui.storage.recovery.salvage import Copy
from service_tui.storage.shared.leadership import SILENT_S, Leader
from service_tui.storage.shared.schema import VERSION
from service_tui.storage.shared.server_settings import ServerSettings

HOME = Path("/d")
FILE = Path("/c.sqlite3")
PLACE = "north on h/d"
WELL = ServerSettings()
SETTINGS = tuple(text for _, text in WELL.findings())


@pytest.mark.parametrize(
    ("request_", "done"),
    [
        (DatabaseRequest("backup", Path("/b")), ("back_up", HOME, Path("/b"), None)),
        (DatabaseRequest("backup", to=FILE), ("back_up", HOME, None, FILE)),
        (DatabaseRequest("restore", empty=True), ("begin_anew", HOME)),
        (DatabaseRequest("restore"), ("copies", HOME)),
        (DatabaseRequest("restore", file=FILE, empty=False), ("restore", HOME, FILE)),
    ],
)
def test_each_request_is_carried_out_by_its_own_step(
    monkeypatch: pytest.MonkeyPatch, request_: DatabaseRequest, done: tuple[object, ...]
) -> None:
    for name in ("back_up", "begin_anew", "copies", "restore"):
        monkeypatch.setattr(room, name, lambda *values, name=name: (name, *values))

    assert room.run_command(HOME, request_) == (done, True)


@pytest.mark.parametrize(
    ("findings", "lines", "is_well"),
    [
        ([(True, "a"), (True, "b")], ("a", "b"), True),
        ([(True, "a"), (False, "b")], ("a", "PROBLEM b"), False),
        ([(False, "a"), (True, "b")], ("PROBLEM a", "b"), False),
    ],
)
def test_a_check_is_well_where_all_findings_are(
    monkeypatch: pytest.MonkeyPatch, findings: list[Any], lines: tuple[str, ...], *, is_well: bool
) -> None:
    monkeypatch.setattr(room, "checked", lambda _: findings)

    assert room.run_command(HOME, DatabaseRequest("verify")) == (lines, is_well)


# -- a shared desk --------------------------------------------------------------------------


@pytest.fixture
def options() -> Options:
    return Options(HOME, HOME, HOME / "log", database="postgresql://h/d", world="north")


def test_a_database_has_to_be_named(options: Options) -> None:
    with pytest.raises(StorageError, match="no database is named: give --database"):
        run_shared_command(replace(options, database=None), SharedRequest("check"))


@pytest.mark.parametrize(("made", "word"), [(True, "made or changed"), (False, "up to date")])
def test_tables_are_made_or_changed_on_request(
    monkeypatch: pytest.MonkeyPatch, options: Options, word: str, *, made: bool
) -> None:
    asked: list[Any] = []

    def ensure(place: object, *, upgrade: bool) -> bool:
        asked.append((str(place), upgrade))
        return made

    monkeypatch.setattr(shared, "ensure", ensure)

    told = run_shared_command(options, SharedRequest("migrate"))

    assert told == ((f"{PLACE}: {word}, schema {VERSION}",), True)
    assert asked == [(PLACE, True)]


class Database:
    """What a check finds in the database, and what it closes."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, **found: Any) -> None:
        self.closed: list[str] = []
        names: tuple[str, ...] = found.get("names", ("north", "south"))
        leader: Leader | None = found.get("leader")
        monkeypatch.setattr(shared, "worlds_in", lambda _: names)
        monkeypatch.setattr(shared, "settings_of", lambda _: found.get("settings", WELL))
        monkeypatch.setattr(shared, "books_of", lambda *_: found.get("books"))
        monkeypatch.setattr(shared, "Leadership", lambda *_: self.opened("lead", leader))
        monkeypatch.setattr(shared, "SharedDatabase", lambda *_: self.opened("rows", None))

    def opened(self, name: str, leader: Leader | None) -> SimpleNamespace:
        return SimpleNamespace(leader=lambda: leader, close=lambda: self.closed.append(name))


def check(options: Options) -> tuple[tuple[str, ...], bool]:
    return run_shared_command(options, SharedRequest("check"))


@pytest.mark.parametrize(("names", "shown"), [((), "none"), (("northern",), "northern")])
def test_a_world_that_is_not_there_is_a_problem(
    monkeypatch: pytest.MonkeyPatch, options: Options, names: tuple[str, ...], shown: str
) -> None:
    Database(monkeypatch, names=names)

    assert check(options) == (
        (f"worlds: {shown}", *SETTINGS, "PROBLEM no world north; 'db migrate' makes it"), False,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("leader", "line"),
    [
        (None, "nobody has led it yet"),
        (Leader(4, "host, process 7", "http://h:1", SILENT_S), "at http://h:1"),
        (Leader(4, "host, process 7", None, 0.0), "at no address yet"),
        (Leader(4, "host, process 7", "http://h:1", SILENT_S + 0.1), "silent: nobody leads now"),
    ],
)
def test_who_leads_a_world_is_said(
    monkeypatch: pytest.MonkeyPatch, options: Options, leader: Leader | None, line: str
) -> None:
    database = Database(monkeypatch, leader=leader)

    lines, is_well = check(options)

    who = "" if leader is None else "epoch 4, host, process 7, "
    assert lines == (
        "worlds: north, south", *SETTINGS, f"{PLACE}: {who}{line}",
        "books: nothing has happened yet",
    )  # fmt: skip
    assert is_well
    assert sorted(database.closed) == ["lead", "rows"]


@pytest.mark.parametrize(
    ("problem", "line"),
    [("", "books: 12 accounts add up at row 90"), ("one is off", "PROBLEM books: one is off")],
)
def test_books_are_well_where_they_add_up(
    monkeypatch: pytest.MonkeyPatch, options: Options, problem: str, line: str
) -> None:
    books = SimpleNamespace(row=90, accounts=12, problem=problem)
    Database(monkeypatch, books=books)

    lines, is_well = check(options)

    assert (lines[-1], is_well) == (line, not problem)


def test_a_check_is_not_well_where_the_server_may_lose_what_it_acknowledged(
    monkeypatch: pytest.MonkeyPatch, options: Options
) -> None:
    Database(monkeypatch, settings=ServerSettings("SQL_ASCII", fsync=False))

    lines, is_well = check(options)

    assert not is_well
    problems = [line for line in lines if line.startswith("PROBLEM")]
    assert len(problems) == 2
    assert "the database's encoding is SQL_ASCII" in problems[0]
    assert "fsync is off" in problems[1]


class Copies:
    """A folder and a database, and which was copied into which."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.copied: list[tuple[object, object]] = []

        def side(name: str) -> Any:
            @asynccontextmanager
            async def opened(*values: object, **_: object) -> AsyncGenerator[str]:
                folder = values[-1] if name == "shared" else values[0]
                yield f"{name} {folder}"

            return opened

        async def copy_world(source: object, target: object) -> SimpleNamespace:
            self.copied.append((source, target))
            return SimpleNamespace(rows=1_234, digest="0123456789abcdef0123")

        monkeypatch.setattr(shared, "_in_database", side("shared"))
        monkeypatch.setattr(shared, "_from_folder", side("old"))
        monkeypatch.setattr(shared, "_into_folder", side("new"))
        monkeypatch.setattr(shared, "copy_world", copy_world)


@pytest.mark.parametrize(
    ("source", "target", "sides"),
    [("/f", "database", ("old /f", "shared /f")), ("database", "/f", ("shared /f", "new /f"))],
)
def test_a_world_is_copied_in_or_out(
    monkeypatch: pytest.MonkeyPatch, source: str, target: str, sides: tuple[str, str]
) -> None:
    copies = Copies(monkeypatch)
    options = Options(HOME, HOME, HOME, database="postgresql://h/d", world="north")

    lines, is_well = run_shared_command(options, SharedRequest("copy", source, target))

    assert (copies.copied, is_well) == ([sides], True)
    assert lines[0] == f"copied 1,234 rows from {source} to {target}"
    assert lines[1] == "  both sides have the digest 0123456789abcdef"


@pytest.mark.parametrize(("source", "target"), [("database", "database"), ("/a", "/b")])
def test_a_copy_has_one_side_in_the_database(options: Options, source: str, target: str) -> None:
    with pytest.raises(StorageError, match="give a folder and the word database"):
        run_shared_command(options, SharedRequest("copy", source, target))


class Lead:
    """The lead of a world, free or taken, and what a copy does with it."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, epoch: int | None) -> None:
        self.steps: list[str] = []
        self.epoch = epoch
        self.held: Leader | None = Leader(4, "host, process 7", None, 0.0)
        monkeypatch.setattr(shared, "ensure", lambda _, **__: self.steps.append("tables"))
        monkeypatch.setattr(shared, "Leadership", lambda *_: self)
        monkeypatch.setattr(shared, "SharedDatabase", lambda *_: self.database())
        monkeypatch.setattr(shared, "beat", self.beat)

    async def beat(self, *_: object) -> None:
        self.steps.append("beat")

    def database(self) -> SimpleNamespace:
        return SimpleNamespace(
            open=lambda: self.steps.append("opened"), close=lambda: self.steps.append("closed")
        )

    def try_lead(self) -> int | None:
        return self.epoch

    def leader(self) -> Leader | None:
        return self.held

    def close(self) -> None:
        self.steps.append("given up")


async def enter() -> None:
    place = shared.WorldPlace("postgresql://h/d", "north")
    async with shared._in_database(place, shared.SystemClock(), HOME):
        pass


async def test_a_copy_leads_the_world_meanwhile(monkeypatch: pytest.MonkeyPatch) -> None:
    lead = Lead(monkeypatch, 5)

    await enter()

    assert [step for step in lead.steps if step != "beat"] == [
        "tables", "opened", "closed", "given up",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("is_named", "who"), [(True, "host, process 7"), (False, "another process")]
)
async def test_a_world_that_is_led_is_not_copied(
    monkeypatch: pytest.MonkeyPatch, who: str, *, is_named: bool
) -> None:
    lead = Lead(monkeypatch, None)
    if not is_named:
        lead.held = None

    with pytest.raises(StorageError, match=f"north on h/d is led by {who}; end it first"):
        await enter()

    assert lead.steps == ["tables", "given up"]


# -- copies and findings ------------------------------------------------------------------------


COPY = Copy(FILE, 7, None)


@pytest.mark.parametrize("folder", ["deep/er", None])
def test_a_copy_goes_into_a_folder_under_a_name_with_its_time_or_where_it_is_sent(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, folder: str | None
) -> None:
    asked: list[object] = []
    monkeypatch.setattr(room, "stamp", lambda now: f"at-{now > 0}")
    monkeypatch.setattr(
        room.restoring,
        "back_up",
        lambda home, to, *, now: asked.append((home, to, now > 0)) or COPY,
    )
    where = None if folder is None else tmp_path / folder
    lines = room.back_up(HOME, where, FILE)
    to = FILE if where is None else where / "desk-at-True.sqlite3"
    assert asked == [(HOME, to, True)]
    assert lines == (str(FILE), "  whole, no row in its journal")
    assert where is None or where.is_dir()


def test_a_folder_for_copies_that_cannot_be_made_is_a_problem_of_the_disk(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(StorageError):
        room.back_up(HOME, tmp_path / "file" / "below", None)


@pytest.mark.parametrize("old", [Path("/d/old.sqlite3"), None])
def test_what_is_replaced_is_named_and_the_directory_is_let_go(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, old: Path | None
) -> None:
    asked: list[object] = []

    def restore(lock: DataDirLock, source: Path, *, now: float) -> tuple[Copy, Path | None]:
        asked.append((source, now > 0))
        with pytest.raises(DirectoryLockedError):
            DataDirLock.acquire(tmp_path, pid=1, now=1.0)
        assert lock is not None
        return COPY, old

    def begin_anew(lock: DataDirLock, *, now: float) -> Path | None:
        asked.append(now > 0)
        assert lock is not None
        return old

    monkeypatch.setattr(room.restoring, "restore", restore)
    monkeypatch.setattr(room.restoring, "begin_anew", begin_anew)
    kept = () if old is None else (f"the old database is kept as {old}",)
    assert room.restore(tmp_path, FILE) == ("restored: no row in its journal", *kept)
    assert room.begin_anew(tmp_path) == ("the next start opens a new desk", *kept)
    assert asked == [(FILE, True), True]
    DataDirLock.acquire(tmp_path, pid=1, now=1.0).release()


def test_a_disk_that_refuses_a_new_desk_is_told_and_the_directory_is_let_go(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def begin_anew(*_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(room.restoring, "begin_anew", begin_anew)
    with pytest.raises(StorageError, match="Permission denied"):
        room.begin_anew(tmp_path)
    DataDirLock.acquire(tmp_path, pid=1, now=1.0).release()


def test_copies_are_listed_with_their_reach_or_their_damage(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    found: list[tuple[Path, object]] = [(FILE, COPY), (Path("/b"), "page 3 is broken")]
    monkeypatch.setattr(room.restoring, "copies_in", lambda _: found)
    assert room.copies(HOME) == (
        f"{FILE}\n  no row in its journal", "/b\n  DAMAGED: page 3 is broken",
    )  # fmt: skip
    found.clear()
    assert room.copies(HOME) == ("no copy in /d/backups",)


class Looked:
    """A database that is looked at: what its pages, rows and books say."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, **found: Any) -> None:
        self.found: dict[str, Any] = {"lost": False, "rows": COPY, "held": None, **found}
        self.asked: list[object] = []
        monkeypatch.setattr(room, "look_at", self.look_at)
        monkeypatch.setattr(room, "examined", lambda _: self.given("rows"))
        monkeypatch.setattr(room, "_ledger", lambda at: self.asked.append(at) or (True, "sums"))
        monkeypatch.setattr(room, "_actions", lambda at: (True, f"log of {at.name}"))
        monkeypatch.setattr(room, "holder_of", lambda _: self.given("held"))
        monkeypatch.setattr(room, "copy_whole", lambda *given: self.asked.append(given))

    def given(self, name: str) -> Any:
        value = self.found[name]
        if isinstance(value, Exception):
            raise value
        return value

    def look_at(self, directory: Path, *, timeout_s: float) -> Any:
        self.asked.append((directory, timeout_s))
        return SimpleNamespace(log_is_lost=self.given("lost"))


UNKNOWN = (False, "unknown: the database is damaged")


@pytest.mark.parametrize(
    ("found", "database", "journal"),
    [
        ({}, (True, "all pages intact"), (True, "whole, no row in its journal")),
        ({"lost": DamageFound("page 2")}, (False, "page 2"), UNKNOWN),
        ({"rows": StorageError("busy")}, (False, "busy"), UNKNOWN),
    ],
)
def test_each_part_of_a_database_is_found_well_or_not(
    monkeypatch: pytest.MonkeyPatch, found: dict[str, Any], database: object, journal: object
) -> None:
    it = Looked(monkeypatch, **found)
    ledger = UNKNOWN if found else (True, "sums")
    assert room._of_database(HOME) == [database, journal, ledger]
    assert it.asked[0] == (HOME, room.BUSY_TIMEOUT_S)


def test_damaged_rows_leave_the_pages_whole_and_a_lost_log_the_rest(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    Looked(monkeypatch, rows=DamagedRowsError("row 3"))
    assert room._of_database(HOME) == [(True, "all pages intact"), (False, "row 3"), UNKNOWN]
    Looked(monkeypatch, lost=True)
    first, *rest = room._of_database(HOME)
    assert first == (False, room.lost_log(HOME / room.DATABASE_FILE))
    assert rest == [(True, "whole, no row in its journal"), (True, "sums")]


@pytest.mark.parametrize("held", [None, "somebody"])
def test_a_database_in_use_is_copied_before_it_is_checked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, held: str | None
) -> None:
    it = Looked(monkeypatch, held=held)
    path = tmp_path / room.DATABASE_FILE
    path.touch()
    findings = room.checked(tmp_path)
    assert [text for _, text in findings] == [
        "database   all pages intact", "journal    whole, no row in its journal",
        "ledger     sums", f"actions    log of {tmp_path.name}",
    ]  # fmt: skip
    copied = [one for one in it.asked if isinstance(one, tuple) and one[0] == path]
    looked = it.asked[-1]
    if held is None:
        assert (copied, looked) == ([], tmp_path)
    else:
        ((_, copy),) = copied
        assert (copy.parent, copy.name) == (looked, room.DATABASE_FILE)
        assert not copy.parent.exists()


@pytest.mark.parametrize("question", [None, "choose one"])
def test_a_directory_without_a_database_is_well_unless_a_question_is_open(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, question: str | None
) -> None:
    Looked(monkeypatch)
    monkeypatch.setattr(room, "open_question", lambda _: question)
    wells = [is_well for is_well, _ in room.checked(tmp_path)]
    assert wells == ([True] * 4 if question is None else [False, False, False, True])


@pytest.mark.parametrize(
    ("chain", "finding"),
    [
        (FileNotFoundError(), (True, "no entries yet")),
        (PermissionError(13, "not allowed"), (False, "cannot read the log: not allowed")),
        (("", 9), (True, "9 entries, log verified")),
        (("line 4 differs", 3), (False, "line 4 differs; the 3 entries before it are verified")),
    ],
)
def test_the_log_is_verified_as_far_as_it_can_be(
    monkeypatch: pytest.MonkeyPatch, chain: Any, finding: tuple[bool, str]
) -> None:
    def verify(path: Path) -> Any:
        assert path == HOME / room.FILE
        if isinstance(chain, Exception):
            raise chain
        return SimpleNamespace(problem=chain[0], count=chain[1])

    monkeypatch.setattr(room, "verify", verify)
    assert room._actions(HOME) == finding
