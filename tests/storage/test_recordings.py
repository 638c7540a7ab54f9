"""What is kept of a recording, what is forgotten, and which rows are read for a moment."""

import sqlite3
from collections.abc import Iterable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from service_tui.storage.recordings import (
    DAMAGED,
    LATEST,
    Bounds,
    RecordingError,
    Recordings,
    RecordRow,
)

AT = 1_800_000_000.0


def row(by_s: float, *, whole: bool = False, event: str = "") -> RecordRow:
    return RecordRow(AT + by_s, whole, event, f"body {by_s}".encode())


def kept(folder: Path, *rows: RecordRow) -> Recordings:
    made = Recordings(folder)
    made.begin()
    for one in rows:
        made.add(one)
    return made


def whole(by_s: float) -> RecordRow:
    return row(by_s, whole=True)


def seconds(rows: Iterable[RecordRow]) -> list[float]:
    return [round(one.at - AT, 3) for one in rows]


WRITTEN = (whole(0), row(10), row(20, event="fill"), whole(30), row(40, event="halt"), row(50))


def test_nothing_is_read_where_nothing_was_recorded(tmp_path: Path) -> None:
    made = Recordings(tmp_path)
    for _ in range(2):
        assert (made.span(), made.chain(AT), made.neighbour(AT, 1)) == (None, (), None)
        assert made.begin() is None
    assert made.path.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("statement", ["CREATE TABLE other (n INTEGER)", "PRAGMA user_version=1"])
def test_a_file_that_holds_no_records_says_nothing(tmp_path: Path, statement: str) -> None:
    made = Recordings(tmp_path)
    with closing(sqlite3.connect(made.path)) as connection:
        connection.execute(statement)
    assert (made.span(), made.chain(AT), made.neighbour(AT, 1)) == (None, (), None)


def test_who_begins_again_goes_on_behind_the_last_record(tmp_path: Path) -> None:
    kept(tmp_path, *WRITTEN[:2])
    again = Recordings(tmp_path)
    assert again.begin() == AT + 10
    again.add(row(20))
    assert again.span() == (AT, AT + 20)


def test_a_record_builds_on_the_one_that_was_written_last_here(tmp_path: Path) -> None:
    made, other = kept(tmp_path, whole(0)), Recordings(tmp_path)
    other.begin()
    other.add(row(10))
    with pytest.raises(RecordingError, match="replaced"):
        made.add(row(20))
    # One that is whole builds on nothing.
    made.add(whole(20))
    assert seconds(made.chain(AT + 99)) == [20]


def test_a_time_that_was_given_before_is_a_moment_later(tmp_path: Path) -> None:
    made = kept(tmp_path, whole(0), row(10), row(10), row(10))
    assert seconds(made.chain(AT + 99)) == [0, 10, 10.001, 10.002]
    made.add(row(11))
    assert seconds(made.chain(AT + 99))[-1] == 11


@pytest.mark.parametrize(
    ("by_s", "found"),
    [
        (-0.1, []), (0, [0]), (9.9, [0]), (10, [0, 10]), (29, [0, 10, 20]), (30, [30]),
        (99, [30, 40, 50]),
    ],
)  # fmt: skip
def test_a_moment_is_the_last_whole_record_and_what_follows_it(
    tmp_path: Path, by_s: float, found: list[float]
) -> None:
    chain = kept(tmp_path, *WRITTEN).chain(AT + by_s)
    assert chain == tuple(one for one in WRITTEN if one.at - AT in found)


def test_of_a_clock_that_was_set_back_both_hours_are_read(tmp_path: Path) -> None:
    made = kept(tmp_path, whole(0), row(30), whole(10), row(20))
    assert seconds(made.chain(AT + 25)) == [10, 20]
    assert seconds(made.chain(AT + 35)) == [0, 30]
    assert made.span() == (AT, AT + 30)


@pytest.mark.parametrize(
    ("by_s", "step", "is_event", "found"),
    [
        (20, 1, False, 30), (20, -1, False, 10), (0, -1, False, None), (50, 1, False, None),
        (0, 1, True, 20), (20, 1, True, 40), (40, 1, True, None), (40, -1, True, 20),
        (20, -1, True, None),
    ],
)  # fmt: skip
def test_the_neighbour_of_a_moment(
    tmp_path: Path, *, by_s: float, step: int, is_event: bool, found: float | None
) -> None:
    at = kept(tmp_path, *WRITTEN).neighbour(AT + by_s, step, is_event=is_event)
    assert at == (None if found is None else AT + found)


@pytest.mark.parametrize(("by_s", "first"), [(-1, 0), (9, 0), (19, 0), (29, 30), (30, 30), (99, 0)])
def test_what_later_records_build_on_is_not_forgotten(
    tmp_path: Path, by_s: float, first: float
) -> None:
    made = kept(tmp_path, *WRITTEN)
    made.forget_before(AT + by_s)
    assert made.span() == (AT + first, AT + 50)


def test_of_a_file_that_is_too_large_the_oldest_quarter_goes(tmp_path: Path) -> None:
    made = kept(tmp_path, *[whole(number) for number in range(9)])
    made.forget_before(AT - 1)
    assert made.span() == (AT, AT + 8)
    made = Recordings(tmp_path, Bounds(file_bytes=0))
    made.forget_before(AT - 1)
    assert made.span() == (AT + 2, AT + 8)
    # What is older than is asked for goes in any case.
    made.forget_before(AT + 5)
    assert made.span() == (AT + 6, AT + 8)


@pytest.mark.parametrize(("name", "bound"), [("chain_rows", 3), ("chain_bytes", 20)])
def test_more_records_than_can_be_read_are_refused(tmp_path: Path, name: str, bound: int) -> None:
    kept(tmp_path, whole(0), row(10), row(20))
    made = Recordings(tmp_path, Bounds(**{name: bound}))
    assert len(made.chain(AT + 20)) == 3
    made = Recordings(tmp_path, Bounds(**{name: bound - 1}))
    with pytest.raises(RecordingError, match="too many records"):
        made.chain(AT + 20)


def put(made: Recordings, *values: Any) -> None:
    with closing(sqlite3.connect(made.path)) as connection, connection:
        connection.execute("INSERT INTO records VALUES (?, ?, ?, ?)", values)


@pytest.mark.parametrize("at", [0.0, LATEST])
def test_times_of_any_calendar_are_read(tmp_path: Path, at: float) -> None:
    made = kept(tmp_path)
    put(made, at, 1, "", b"x")
    assert made.span() == (at, at)
    assert made.chain(at) == (RecordRow(at, is_whole=True, event="", body=b"x"),)


@pytest.mark.parametrize(
    "values",
    [
        (-1.0, 1, "", b"x"),
        (LATEST * 1.01, 1, "", b"x"),
        (float("inf"), 1, "", b"x"),
        ("now", 1, "", b"x"),
        (AT, 1, 7, "x"),
        (AT, 1, b"e", b"x"),
    ],
)
def test_a_row_that_no_recorder_wrote_is_put_aside_with_its_file(
    tmp_path: Path, values: tuple[Any, ...]
) -> None:
    made = kept(tmp_path)
    put(made, *values)
    again = Recordings(tmp_path)
    assert again.begin() is None
    assert again.span() is None
    assert [one.name for one in sorted(tmp_path.iterdir())] == [
        made.path.name, f"{made.path.name}{DAMAGED}",
    ]  # fmt: skip


def test_a_file_that_was_removed_is_not_made_again_by_a_record(tmp_path: Path) -> None:
    made = kept(tmp_path, whole(0))
    made.path.unlink()
    with pytest.raises(RecordingError):
        made.add(row(10))
    assert not made.path.exists()


def test_records_that_build_on_nothing_are_not_read(tmp_path: Path) -> None:
    made = kept(tmp_path)
    put(made, AT, 0, "", b"x")
    assert (made.span(), made.chain(AT)) == (None, ())
    put(made, AT + 10, 1, "", b"x")
    assert (made.chain(AT), seconds(made.chain(AT + 10))) == ((), [10])
    assert made.span() == (AT + 10, AT + 10)


def test_a_transaction_that_a_kill_broke_off_is_rolled_back_by_who_reads(tmp_path: Path) -> None:
    made = kept(tmp_path, *WRITTEN)
    log = made.path.with_name(f"{made.path.name}-journal")
    with closing(sqlite3.connect(made.path, isolation_level=None)) as killed:
        killed.execute("PRAGMA cache_size=1")
        killed.execute("BEGIN")
        for number in range(40):
            killed.execute(
                "INSERT INTO records VALUES (?, 1, '', ?)", (AT + 60 + number, b"x" * 900)
            )
        files = made.path.read_bytes(), log.read_bytes()
        killed.execute("ROLLBACK")
    made.path.write_bytes(files[0])
    log.write_bytes(files[1])
    assert made.span() == (AT, AT + 50)
    assert made.chain(AT + 99) == WRITTEN[3:]
    assert not log.exists()


def test_a_record_that_is_too_long_is_neither_kept_nor_read(tmp_path: Path) -> None:
    made = kept(tmp_path, whole(0))
    put(made, AT + 10, 1, "", b"x" * 2_000)
    made = Recordings(tmp_path, Bounds(body_bytes=1_000))
    with pytest.raises(RecordingError, match="too big"):
        made.chain(AT + 10)
    with pytest.raises(RecordingError, match="too big"):
        made.add(RecordRow(AT + 20, is_whole=True, event="", body=b"x" * 2_000))
    assert seconds(made.chain(AT + 9)) == [0]


def test_a_question_that_takes_too_long_is_given_up(tmp_path: Path) -> None:
    kept(tmp_path, *WRITTEN)
    made = Recordings(tmp_path, Bounds(steps=10))
    assert seconds(made.chain(AT + 99)) == [30, 40, 50]
    with pytest.raises(RecordingError, match="interrupted"):
        Recordings(tmp_path, Bounds(steps=10, rounds=1)).chain(AT + 99)
    # It is no fault of the file.
    assert made.begin() == AT + 50


def test_after_a_damaged_file_was_put_aside_the_new_one_is_kept(tmp_path: Path) -> None:
    made = kept(tmp_path, whole(0))
    made.path.write_bytes(b"no database, but long enough to look like one" * 30)
    with pytest.raises(RecordingError, match="not a database"):
        made.span()
    journal = made.path.with_name(f"{made.path.name}-journal")
    journal.write_text("of the damaged file")
    assert made.begin() is None
    aside = made.path.with_name(f"{made.path.name}{DAMAGED}")
    assert aside.read_bytes().startswith(b"no database")
    assert aside.with_name(f"{aside.name}-journal").read_text() == "of the damaged file"
    assert not journal.exists()
    made.add(whole(10))
    assert made.begin() == AT + 10
    # Small pages: of a large one a record leaves half empty.
    assert made.path.read_bytes()[16:18] == (1_024).to_bytes(2, "big")


def test_a_recording_that_others_could_read_is_made_private(tmp_path: Path) -> None:
    made = kept(tmp_path, whole(0))
    made.path.chmod(0o644)
    assert made.begin() == AT
    assert made.path.stat().st_mode & 0o777 == 0o600
