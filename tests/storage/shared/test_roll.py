"""Who is on the roll, which tables are made, and whom a commit wakes, without a database."""

from dataclasses import dataclass, field
from threading import Event
from typing import Any, cast

import psycopg
import pytest

from kit.service.rows import RowsLine
from service_tui.storage.errors import StorageError
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


def on_roll(line: Line) -> Roll:
    line.answers["SELECT count(*)"] = [(3,)]
    return Roll(PLACE, "desk-1", connect=line.connect)


def test_a_call_counts_who_is_there_on_one_line() -> None:
    line = Line()
    roll = on_roll(line)

    assert (roll.call(), roll.call()) == (3, 3)

    assert line.purposes == ["roll"]
    assert line.words == [
        "SELECT pg_advisory_xact_lock(%s)", "CREATE SCHEMA", "CREATE TABLE", "DELETE FROM",
        *["INSERT INTO", "SELECT count(*)"] * 2,
    ]  # fmt: skip
    assert line.asked[0][1] == [schema.MAKING]
    assert [values for _, values in line.asked[-2:]] == [["desk-1"], [ALIVE_S]]


def test_a_line_that_was_lost_is_replaced_at_the_next_call() -> None:
    line = Line()
    roll = on_roll(line)
    roll.call()
    line.closed = True

    assert roll.call() == 3

    assert line.purposes == ["roll", "roll"]


def test_a_database_that_counts_nobody_is_refused() -> None:
    line = Line()
    roll = on_roll(line)
    line.answers.clear()

    with pytest.raises(StorageError, match="the database counts no processes"):
        roll.call()


def test_an_error_of_the_driver_is_one_of_ours() -> None:
    line = Line()
    roll = on_roll(line)
    line.failing = psycopg.OperationalError("gone")

    with pytest.raises(StorageError, match="the database does not answer"):
        roll.call()


def test_who_leaves_closes_the_line_even_a_lost_one() -> None:
    line = Line()
    roll = on_roll(line)
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


@pytest.mark.parametrize("answer", [[], [(None,)]])
def test_a_world_without_its_table_has_no_version(answer: list[tuple[None]]) -> None:
    line = Line({"SELECT to_regclass": answer, "SELECT version": [(2,)]})

    assert schema.version_of(cast("Raw", line), PLACE) is None


def test_a_world_whose_row_is_missing_has_no_version() -> None:
    line = Line({"SELECT to_regclass": [("there",)]})

    assert schema.version_of(cast("Raw", line), PLACE) is None


# -- commits --------------------------------------------------------------------------------


def test_a_commit_wakes_the_followers_of_its_world() -> None:
    line = Line()
    notifier = CommitNotifier(PLACE, connect=line.connect)

    notifier.notify()
    assert line.heard.wait(5.0)
    notifier.close()

    assert line.asked[0][0] == 'NOTIFY "world_north"'
    assert line.purposes == ["notifier"]


def test_nobody_is_woken_without_a_commit() -> None:
    line = Line()

    CommitNotifier(PLACE, connect=line.connect).close()

    assert line.asked == []


def test_a_notifier_without_a_line_says_so_and_ends(caplog: pytest.LogCaptureFixture) -> None:
    def refuses(*_: object) -> Raw:
        raise StorageError("no way")

    CommitNotifier(PLACE, connect=refuses).close()

    assert "followers look for new rows by themselves from now on: no way" in caplog.text


def test_a_notifier_whose_line_is_lost_says_so_and_ends(caplog: pytest.LogCaptureFixture) -> None:
    line = Line(failing=psycopg.OperationalError("gone"))
    notifier = CommitNotifier(PLACE, connect=line.connect)

    notifier.notify()
    assert line.heard.wait(5.0)
    notifier.close()

    assert "by themselves from now on: gone" in caplog.text
    assert len(line.asked) == 1
