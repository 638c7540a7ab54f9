"""Which copy a command makes, and what is said of the database of a shared desk."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from service_tui.storage.errors import StorageError
from service_tui.storage.shared.leadership import SILENT_S, Leader
from service_tui.storage.shared.schema import VERSION
from service_tui.wiring import database_command as room
from service_tui.wiring import shared_command as shared
from service_tui.wiring.database_command import DatabaseRequest
from service_tui.wiring.options import Options
from service_tui.wiring.shared_command import SharedRequest, run_shared_command

HOME = Path("/d")
FILE = Path("/c.sqlite3")
PLACE = "north on h/d"


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
        (f"worlds: {shown}", "PROBLEM no world north; 'db migrate' makes it"), False,
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
        "worlds: north, south", f"{PLACE}: {who}{line}", "books: nothing has happened yet",
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


class Copies:
    """A folder and a database, and which was copied into which."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.copied: list[tuple[object, object]] = []

        def side(name: str) -> Any:
            @asynccontextmanager
            async def opened(*values: object) -> AsyncGenerator[str]:
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
        monkeypatch.setattr(shared, "ensure", lambda _: self.steps.append("tables"))
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
