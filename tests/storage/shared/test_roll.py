"""Who is on the roll, which tables are made, and whom a commit wakes, without a database."""

from dataclasses import dataclass, field
from threading import Event
from typing import Any, cast

import psycopg
import pytest

from kit.service.rows import RowsLine
from service_tui.storage.errors import NewerSchemaError, StorageError
from service_tui.storage.shared import feed as feed_room
from service_tui.storage.shared import roll as roll_room
from service_tui.storage.shared import schema
from service_tui.storage.shared.connection import Raw, WorldPlace
from service_tui.storage.shared.feed import CommitNotifier
from service_tui.storage.shared.roll import ALIVE_S, Roll

PLACE = WorldPlace("postgresql://eve@db.example/desk", "north")


@dataclass
class Line(RowsLine):
    """A connection that notes statements and answers those whose beginning is known."""

    answers: dict[str, list[tuple[Any, ...]]] = field(default_factory=dict)
    asked: list[tuple[str, Any]] = field(default_factory=list)
    purposes: list[str] = field(default_factory=list)
    heard: Event = field(default_factory=Event)
    backend_pid: int = 0
    """The session that a driver was told of when it connected: the one that answers."""

    @property
    def info(self) -> "Line":
        return self

    def connect(self, place: WorldPlace, purpose: str) -> Raw:
        assert place is PLACE
        self.purposes.append(purpose)
        self.closed = False
        return cast("Raw", self)

    def execute(self, query: Any, values: Any = None) -> Any:
        said = query.as_string(None) if hasattr(query, "as_string") else query
        text = said.decode() if isinstance(said, bytes) else said
        self.asked.append((text, values))
        self.heard.set()
        if self.failing is not None:
            raise self.failing
        self.rows = next(
            (rows for begin, rows in self.answers.items() if text.startswith(begin)), []
        )
        return self

    @property
    def words(self) -> list[str]:
        """The first two words of each statement."""
        return [" ".join(text.split()[:2]) for text, _ in self.asked]


# -- the roll -------------------------------------------------------------------------------


def on_roll(line: Line, monkeypatch: pytest.MonkeyPatch) -> Roll:
    monkeypatch.setattr(roll_room, "connect", line.connect)
    line.answers["SELECT count(*)"] = [(3,)]
    return Roll(PLACE, "desk-1")


def test_a_call_counts_who_is_there_on_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    line = Line()
    roll = on_roll(line, monkeypatch)

    assert (roll.call(), roll.call()) == (3, 3)

    assert line.purposes == ["roll"]
    assert line.words == [
        "SELECT pg_advisory_xact_lock(%s)", "CREATE SCHEMA", "CREATE TABLE", "DELETE FROM",
        *["INSERT INTO", "SELECT count(*)"] * 2,
    ]  # fmt: skip
    assert line.asked[0][1] == [schema.MAKING]
    assert [values for _, values in line.asked[-2:]] == [["desk-1"], [ALIVE_S]]


def test_a_line_that_was_lost_is_replaced_at_the_next_call(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    line = Line()
    roll = on_roll(line, monkeypatch)
    roll.call()
    line.closed = True

    assert roll.call() == 3

    assert line.purposes == ["roll", "roll"]


def test_a_database_that_counts_nobody_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    line = Line()
    roll = on_roll(line, monkeypatch)
    line.answers.clear()

    with pytest.raises(StorageError, match="the database counts no processes"):
        roll.call()


def test_an_error_of_the_driver_is_one_of_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    line = Line()
    roll = on_roll(line, monkeypatch)
    line.failing = psycopg.OperationalError("gone")

    with pytest.raises(StorageError, match="the database does not answer"):
        roll.call()


def test_who_leaves_closes_the_line_even_a_lost_one(monkeypatch: pytest.MonkeyPatch) -> None:
    line = Line()
    roll = on_roll(line, monkeypatch)
    roll.close()
    assert not line.closed
    roll.call()
    line.failing = psycopg.OperationalError("gone")

    roll.close()

    assert line.closed
    line.failing = None
    roll.call()
    assert line.purposes == ["roll", "roll"]


# -- the tables -----------------------------------------------------------------------------


def found(line: Line, monkeypatch: pytest.MonkeyPatch, version: int | None) -> None:
    monkeypatch.setattr(schema, "connect", line.connect)
    if version is not None:
        line.answers["SELECT to_regclass"] = [("world_north.world",)]
        line.answers["SELECT version"] = [(version,)]


def test_a_new_world_gets_every_table_and_its_version(monkeypatch: pytest.MonkeyPatch) -> None:
    line = Line()
    found(line, monkeypatch, None)

    assert schema.ensure(PLACE) is True

    statements = [text for text, _ in line.asked]
    # A lock that a pooler leaves in another session would stay there.
    assert statements[:2] == ["SELECT pg_backend_pid()", "SELECT pg_advisory_lock(%s)"]
    assert line.asked[3] == ("SELECT to_regclass(%s)", ["world_north.world"])
    assert statements[4] == 'CREATE SCHEMA IF NOT EXISTS "world_north"'
    made = {text.split()[2] for text in statements if text.strip().startswith("CREATE TABLE")}
    assert made == {
        "journal", "snapshots", "idempotency", "entries", "entriesread", "endedmarkets",
        "endedfilled", "people", "invitations", "world", "beat", "leaders",
    }  # fmt: skip
    assert line.asked[-1][1] == [schema.VERSION]
    journal = next(text for text in statements if "CREATE TABLE journal" in text)
    assert 'kind TEXT COLLATE "C" NOT NULL' in journal
    assert "seq BIGINT NOT NULL" in journal
    assert "SERIAL" not in journal
    snapshots = next(text for text in statements if "CREATE TABLE snapshots" in text)
    assert "body BYTEA NOT NULL" in snapshots
    assert not [text for text in statements if "STRICT" in text]
    assert any(
        "INDEX journal_by_agent" in text and text.endswith("WHERE agent_id IS NOT NULL")
        for text in statements
    )


def test_a_world_of_this_version_is_left_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    for upgrade in (False, True):
        line = Line()
        found(line, monkeypatch, schema.VERSION)

        assert schema.ensure(PLACE, upgrade=upgrade) is False

        assert all(word.startswith("SELECT") for word in line.words)


def test_an_older_world_is_changed_only_where_that_is_asked_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    line = Line()
    found(line, monkeypatch, 1)
    with pytest.raises(StorageError, match="older schema 1; run service-tui db migrate"):
        schema.ensure(PLACE)
    assert all(word.startswith("SELECT") for word in line.words)

    line.asked.clear()
    assert schema.ensure(PLACE, upgrade=True) is True

    changes = [word for word in line.words if not word.startswith("SELECT")]
    assert changes == ["CREATE TABLE", "CREATE TABLE", "CREATE INDEX", "UPDATE world"]
    assert line.asked[-1] == ("UPDATE world SET version = %s", [schema.VERSION])


def test_a_newer_world_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    line = Line()
    found(line, monkeypatch, schema.VERSION + 1)

    with pytest.raises(NewerSchemaError):
        schema.ensure(PLACE, upgrade=True)


@pytest.mark.parametrize("answer", [[], [(None,)]])
def test_a_world_without_its_table_has_no_version(answer: list[tuple[None]]) -> None:
    line = Line({"SELECT to_regclass": answer, "SELECT version": [(2,)]})

    assert schema.version_of(cast("Raw", line), PLACE) is None


def test_a_world_whose_row_is_missing_has_no_version() -> None:
    line = Line({"SELECT to_regclass": [("there",)]})

    assert schema.version_of(cast("Raw", line), PLACE) is None


@pytest.mark.parametrize(("by_age", "order"), [(False, "nspname"), (True, "oid")])
def test_worlds_are_listed_by_name_or_age(
    monkeypatch: pytest.MonkeyPatch, order: str, *, by_age: bool
) -> None:
    line = Line({"SELECT nspname": [("world_north",), ("world_world_2",)]})
    monkeypatch.setattr(schema, "connect", line.connect)

    assert schema.worlds_in(PLACE, by_age=by_age) == ("north", "world_2")

    assert line.asked[0][0].endswith(f"ORDER BY {order}")
    assert line.purposes == ["list"]


# -- commits --------------------------------------------------------------------------------


def test_a_commit_wakes_the_followers_of_its_world(monkeypatch: pytest.MonkeyPatch) -> None:
    line = Line()
    monkeypatch.setattr(feed_room, "connect", line.connect)
    notifier = CommitNotifier(PLACE)

    notifier.notify()
    assert line.heard.wait(5.0)
    notifier.close()

    assert line.asked[0][0] == 'NOTIFY "world_north"'
    assert line.purposes == ["notifier"]


def test_nobody_is_woken_without_a_commit(monkeypatch: pytest.MonkeyPatch) -> None:
    line = Line()
    monkeypatch.setattr(feed_room, "connect", line.connect)

    CommitNotifier(PLACE).close()

    assert line.asked == []


def test_a_notifier_without_a_line_says_so_and_ends(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def refuses(*_: object) -> Raw:
        raise StorageError("no way")

    monkeypatch.setattr(feed_room, "connect", refuses)

    CommitNotifier(PLACE).close()

    assert "followers look for new rows by themselves from now on: no way" in caplog.text


def test_a_notifier_whose_line_is_lost_says_so_and_ends(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    line = Line(failing=psycopg.OperationalError("gone"))
    monkeypatch.setattr(feed_room, "connect", line.connect)
    notifier = CommitNotifier(PLACE)

    notifier.notify()
    assert line.heard.wait(5.0)
    notifier.close()

    assert "by themselves from now on: gone" in caplog.text
    assert len(line.asked) == 1
