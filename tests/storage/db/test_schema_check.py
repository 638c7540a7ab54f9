"""What a database may declare: ours, and nothing else, whichever door it comes through."""

import sqlite3
from collections.abc import Callable
from contextlib import closing
from hashlib import sha256
from pathlib import Path

import pytest

from kit.command_line import ran
from service_tui.cli import main as cli
from service_tui.storage.db.connection import DATABASE_FILE
from service_tui.storage.db.declared import CREATIONS
from service_tui.storage.db.inspection import DamageFound, inspect
from service_tui.storage.db.schema import SCHEMA, create
from service_tui.storage.errors import ForeignSchemaError, StorageError


def changed(old: str, new: str, name: str = "journal") -> tuple[str, ...]:
    """Another declaration in the place of ours, as a person with an editor can write it."""
    where = f"WHERE name = '{name}'"
    return (
        "PRAGMA writable_schema=ON",
        f"UPDATE sqlite_schema SET sql = replace(sql, '{old}', '{new}') {where}",  # noqa: S608
    )


FOREIGN: dict[str, tuple[tuple[str, ...], str]] = {
    "a trigger": (
        ("CREATE TRIGGER sly AFTER INSERT ON journal BEGIN DELETE FROM journal; END",),
        "trigger 'sly' is not ours",
    ),
    "a trigger on use": (
        ("CREATE TRIGGER sly BEFORE UPDATE ON use BEGIN SELECT RAISE(IGNORE); END",),
        "trigger 'sly' is not ours",
    ),
    "a view": (("CREATE VIEW sly AS SELECT 1",), "view 'sly' is not ours"),
    "a virtual table": (("CREATE VIRTUAL TABLE sly USING fts5(a)",), "table 'sly' is not ours"),
    "a table": (("CREATE TABLE sly (a)",), "table 'sly' is not ours"),
    "a number of its own": (
        ("CREATE TABLE sly (a INTEGER PRIMARY KEY AUTOINCREMENT)",), "is not ours",
    ),
    "a column": (
        ("ALTER TABLE journal ADD COLUMN sly TEXT DEFAULT 'x'",), "table 'journal' is not as ours",
    ),
    "a generated column": (
        ("ALTER TABLE journal ADD COLUMN sly TEXT AS (body) VIRTUAL",),
        "table 'journal' is not as ours",
    ),
    "an index": (("CREATE INDEX sly ON journal (kind)",), "index 'sly' is not ours"),
    "an index of an expression": (
        ("CREATE INDEX sly ON journal (abs(seq))",), "index 'sly' is not ours",
    ),
    "an index that was dropped": (
        ("DROP INDEX journal_by_agent",), "index 'journal_by_agent' is missing",
    ),
    "a check": (
        changed("body TEXT NOT NULL", "body TEXT NOT NULL CHECK (length(body) < 9)"),
        "table 'journal' is not as ours",
    ),
    "an order of letters": (
        changed("kind TEXT NOT NULL", "kind TEXT NOT NULL COLLATE NOCASE"),
        "table 'journal' is not as ours",
    ),
    "a key that swallows rows": (
        changed("PRIMARY KEY (seq)", "PRIMARY KEY (seq) ON CONFLICT IGNORE"),
        "table 'journal' is not as ours",
    ),
    "a key to another table": (
        changed(
            "PRIMARY KEY (seq)",
            "PRIMARY KEY (seq), FOREIGN KEY (kind) REFERENCES cache (key) ON DELETE CASCADE",
        ),
        "table 'journal' is not as ours",
    ),
    "a table that is not strict": (changed("STRICT", ""), "table 'journal' is not as ours"),
    "a comment": (changed("body TEXT", "/* x */ body TEXT"), "table 'journal' is not as ours"),
    "fewer rows in an index": (
        changed("agent_id IS NOT NULL", "agent_id = 1", "journal_by_agent"),
        "index 'journal_by_agent' is not as ours",
    ),
    "one place for two tables": (
        ("PRAGMA writable_schema=ON", "UPDATE sqlite_schema SET rootpage = 2 WHERE rootpage = 4"),
        "lies where another does",
    ),
    "a kind that SQLite does not know": (
        (
            "PRAGMA writable_schema=ON",
            "UPDATE sqlite_schema SET type = 'Table' WHERE name = 'people'",
        ),
        "is not ours",
    ),
    "another program": (("PRAGMA application_id=5",), "application id"),
    "a version that is not its own": (("PRAGMA user_version=3",), "not those of version 3"),
    "a name without end": ((f'CREATE TABLE "{"n" * 5_000}" (a)',), "nnn' is not ours"),
    "a name that speaks to the terminal": (
        ('CREATE TABLE "sly\x1b]52;c;QUJD\x07" (a)',), "table 'sly?]52;c;QUJD?' is not ours",
    ),
    "hundreds of tables": (
        tuple(f"CREATE TABLE sly{number} (a)" for number in range(200)), "it declares too much",
    ),
}  # fmt: skip


def with_declared(path: Path, statements: tuple[str, ...]) -> Path:
    path.parent.mkdir(mode=0o700, exist_ok=True)
    create(path, version=SCHEMA.version)
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        for statement in statements:
            connection.execute(statement)
    return path


@pytest.mark.parametrize("what", FOREIGN)
def test_what_is_not_ours_is_named_and_nothing_is_written(what: str, tmp_path: Path) -> None:
    statements, sentence = FOREIGN[what]
    path = with_declared(tmp_path / "d" / DATABASE_FILE, statements)
    before = path.read_bytes()
    with pytest.raises(ForeignSchemaError) as refused:
        inspect(path, schema=SCHEMA, timeout_s=0)
    assert sentence in str(refused.value)
    assert len(str(refused.value)) < 500
    assert "\x1b" not in str(refused.value)
    assert path.read_bytes() == before


def test_a_table_that_is_not_there_is_damage_as_before(tmp_path: Path) -> None:
    path = with_declared(tmp_path / "d" / DATABASE_FILE, ("DROP TABLE cache",))
    with pytest.raises(DamageFound, match="is missing"):
        inspect(path, schema=SCHEMA, timeout_s=0)


def test_figures_about_rows_that_sqlite_has_gathered_are_nobodys(tmp_path: Path) -> None:
    path = with_declared(tmp_path / "d" / DATABASE_FILE, ("ANALYZE",))
    assert inspect(path, schema=SCHEMA, timeout_s=0).version == SCHEMA.version


def test_text_of_another_encoding_is_refused(tmp_path: Path) -> None:
    path = tmp_path / DATABASE_FILE
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("PRAGMA encoding = 'UTF-16'")
        for statement in CREATIONS:
            connection.execute(statement)
        connection.execute(f"PRAGMA user_version = {SCHEMA.version}")
    with pytest.raises(StorageError, match="UTF-8"):
        inspect(path, schema=SCHEMA, timeout_s=0)


def files_of(folder: Path) -> dict[str, str]:
    hidden = {"desk.lock"}
    return {
        str(path.relative_to(folder)): sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.name not in hidden and not path.name.endswith(("-shm", "-wal"))
    }


DOORS: dict[str, Callable[[Path, Path], list[str]]] = {
    "restore": lambda _, copy: ["restore", str(copy)],
    "verify": lambda _, __: ["verify"],
    "backup": lambda place, _: ["backup", "--to", str(place / "made.sqlite3")],
    "list": lambda _, __: ["agents"],
    "resume": lambda _, __: ["resume"],
}


@pytest.mark.parametrize("door", DOORS)
def test_each_door_refuses_a_trigger_and_leaves_everything_as_it_is(
    door: str, tmp_path: Path
) -> None:
    (statements, sentence), place = FOREIGN["a trigger"], tmp_path / "d"
    copy = with_declared(tmp_path / "copy.sqlite3", statements)
    path = with_declared(place / DATABASE_FILE, () if door == "restore" else statements)
    before = files_of(place)
    done = ran([*DOORS[door](tmp_path, copy), "--data-dir", str(place)], typed="RESUME\n")
    assert done.code == cli.CANNOT
    assert sentence in done.out + done.err
    assert files_of(place) == before
    assert path.exists()
    assert not (tmp_path / "made.sqlite3").exists()


def test_a_list_of_backups_names_the_one_that_is_not_ours(tmp_path: Path) -> None:
    place = tmp_path / "d"
    with_declared(place / DATABASE_FILE, ())
    (place / "backups").mkdir(mode=0o700)
    with_declared(place / "backups" / "desk-2026-01-01.sqlite3", FOREIGN["a view"][0])
    done = ran(["restore", "--data-dir", str(place)])
    assert "view 'sly' is not ours" in done.out
