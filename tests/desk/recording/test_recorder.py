"""When a state is recorded, what of it, and how it is read back."""

import random
import sqlite3
import stat
import subprocess
import sys
import zlib
from contextlib import closing, suppress
from dataclasses import replace
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

from kit.samples.desk import sample_state
from service_tui.desk.cached_state import MARKETS_MAX
from service_tui.desk.recording.moment import RecordError
from service_tui.desk.recording.player import TEXT_MAX, Player
from service_tui.desk.recording.recorder import (
    AFTER_EVENT_S,
    DAY_BYTES,
    EVERY_S,
    MARKETS_OF_A_DAY,
    ROW_BYTES,
    SAVED_MAX,
    WHOLE_EVERY_S,
    WHOLE_SHARE,
    Recorder,
    Wholes,
    event_between,
    packed,
    recorded,
)
from service_tui.desk.slices.agents import RevealedView
from service_tui.desk.slices.halt import HaltView
from service_tui.desk.slices.notices import Notice
from service_tui.desk.state import DeskState
from service_tui.storage.recordings import (
    RECORDING_FILE,
    Bounds,
    RecordingError,
    Recordings,
    RecordRow,
)
from service_tui.units import Timestamp

START = Timestamp(1_800_000_000.0)
DAY_MAX = 5_000_000
REVEALED = "sk_live_of_nobody"
BUSY = 250


def later(state: DeskState, rng: random.Random) -> DeskState:
    """The state with every price moved."""
    markets = {
        name: replace(market, price=rng.uniform(0.01, 0.99))  # pyright: ignore[reportArgumentType]
        for name, market in state.markets.items()
    }
    return replace(state, markets=markets)


@pytest.mark.parametrize("back_s", [1.0, 3_600.0])
def test_a_clock_that_is_set_back_does_not_stop_the_recording(back_s: float) -> None:
    state, recorder = sample_state(20), Recorder()
    recorder.record(state, START)
    assert recorder.is_due(later(state, random.Random(1)), Timestamp(START - back_s))


def test_a_record_has_the_event_that_came_and_not_the_one_that_went() -> None:
    state, recorder = sample_state(20), Recorder()
    halted = replace(state, halt=HaltView(START))
    events: list[str] = []
    for place, one in enumerate((state, halted, state)):
        row = recorder.record(one, Timestamp(START + place * EVERY_S))
        assert row is not None
        events.append(row.event)
    assert events == ["", "halt", event_between(halted, state)]


def test_a_state_that_has_not_changed_is_not_recorded_again() -> None:
    state, recorder = sample_state(20), Recorder()
    recorder.record(state, START)
    assert not recorder.is_due(state, Timestamp(START + 3_600))


@pytest.mark.slow
def test_a_clock_that_was_wrong_for_a_while_hides_nothing(tmp_path: Path) -> None:
    store, rng, recorder = Recordings(tmp_path), random.Random(1), Recorder()
    store.begin()
    state, states = sample_state(20), {}
    # Right, a year ahead, in 1970, right again; each time two records.
    for jump in (0.0, 3e7, -START + 100, 40.0):
        for step in (0.0, 20.0):
            state, at = later(state, rng), Timestamp(START + jump + step)
            assert recorder.is_due(state, at)
            row = recorder.record(state, at)
            assert row is not None
            assert row.at == at
            store.add(row)
            recorder.kept(row)
            states[at] = state
    player = Player(store)
    for at, then in states.items():
        moment = player.moment(at)
        assert moment is not None
        assert (moment.at, moment.state) == (at, then)
    times = sorted(states)
    assert [player.neighbour(at, 1) for at in times] == [*times[1:], None]


@pytest.mark.slow
def test_records_written_by_a_wrong_clock_are_kept_in_bounds(
    tmp_path: Path,
) -> None:
    store = Recordings(tmp_path)
    store.begin()
    state, rng = sample_state(20), random.Random(1)
    for place in range(40):
        # One of the year 2096, and then the right time: nothing of it is thirty days old.
        at = Timestamp(START + (2_190_000_000 if place == 0 else place * 10.0))
        row = Recorder().record(later(state, rng), at)
        assert row is not None
        store.add(row)
    store.forget_before(START + 300)
    assert len(list_of(store)) == 40
    store = Recordings(tmp_path, Bounds(file_bytes=100_000))
    for _ in range(20):
        store.forget_before(START)
    left = list_of(store)
    assert 0 < len(left) < 40
    assert left[-1] == START + 390


def list_of(store: Recordings) -> list[float]:
    with closing(sqlite3.connect(store.path)) as connection:
        return [row[0] for row in connection.execute("SELECT at FROM records ORDER BY rowid")]


@pytest.mark.slow
def test_what_the_disk_refused_costs_nothing_and_a_halt_is_always_recorded() -> None:
    state, rng, recorder, at = sample_state(100), random.Random(1), Recorder(), START
    size = 0
    while size < SAVED_MAX:
        # As a full disk does it: a whole record every few seconds, none of them kept.
        state = later(state, rng)
        refused = recorder.record(state, at)
        assert refused is not None
        assert refused.is_whole
        size += len(refused.body)
        recorder.forget()
        at = Timestamp(at + AFTER_EVENT_S)
    state = later(state, rng)
    row = recorder.record(state, at)
    assert row is not None
    recorder.kept(row)
    assert recorder.is_due(later(state, rng), Timestamp(at + EVERY_S))
    # Now nothing is left of the day's bytes.
    while recorder.is_due(replace(state, tickets=()), Timestamp(at + AFTER_EVENT_S)):
        recorder.kept(row)
    later_at = Timestamp(at + EVERY_S)
    assert not recorder.is_due(later(state, rng), later_at)
    assert recorder.is_due(replace(state, halt=HaltView(at)), later_at)


def test_the_last_bytes_are_for_orders_and_the_connection() -> None:
    state, recorder = sample_state(20), Recorder()
    row = recorder.record(state, START)
    assert row is not None
    recorder.is_due(state, START)
    noticed = replace(state, notices=(Notice(9, "warn", "gone"),))
    ordered = replace(state, tickets=())
    at = Timestamp(START + AFTER_EVENT_S)
    while recorder.is_due(noticed, at):
        recorder.kept(row)
    assert recorder.is_due(ordered, at)


def test_a_number_that_is_none_is_not_recorded_and_the_next_state_is() -> None:
    state, rng, recorder = sample_state(20), random.Random(1), Recorder()
    assert (
        recorder.record(replace(state, stars=frozenset(), polls={"markets": float("nan")}), START)
        is None
    )  # pyright: ignore[reportArgumentType]
    record = recorder.record(later(state, rng), Timestamp(START + 10))
    assert record is not None
    assert record.is_whole


@pytest.mark.slow
def test_no_secret_and_no_endless_list_is_recorded() -> None:
    state = replace(
        sample_state(MARKETS_MAX + 50),
        revealed=RevealedView("agent", "name", is_key=True, secret=REVEALED),
    )
    kept = recorded(state)
    assert kept.revealed is None
    assert kept.supervision.tail is None
    assert kept.supervision.pasts == ()
    assert kept.research.evaluations is None
    assert len(kept.markets) == MARKETS_MAX
    assert {held.market_id for held in state.positions} <= kept.markets.keys()
    assert list(kept.markets) == [name for name in state.markets if name in kept.markets]
    record = Recorder().record(state, START)
    assert record is not None
    assert REVEALED.encode() not in zlib.decompress(record.body)


@pytest.mark.slow
@pytest.mark.parametrize("markets", [100, 280])
def test_a_day_of_a_hundred_markets_that_all_move_stays_below_five_megabytes(
    markets: int,
) -> None:
    state, rng, recorder = sample_state(markets), random.Random(1), Recorder()
    # More markets may take as much more.
    scale = markets / MARKETS_OF_A_DAY
    size, records, at = 0, 0, START
    # The hours are alike: one of them, and the rest by what comes in.
    while at < START + 3_600:
        # Only where it is looked at each price moves: whether it is due does not depend on that.
        if recorder.is_due(replace(state), at):
            state = later(state, rng)
            record = recorder.record(state, at)
            assert record is not None
            recorder.kept(record)
            size += len(record.body) + ROW_BYTES
            records += 1
        at = Timestamp(at + EVERY_S)
    assert size <= scale * (SAVED_MAX + DAY_BYTES / 24 + 40_000)
    assert size + scale * DAY_BYTES * 23 / 24 < scale * DAY_MAX
    assert records > 40


def filled(folder: Path, count: int) -> dict[Timestamp, DeskState]:
    """A recording of as many states, by their times; it is made once, and copied for each test."""
    made, states = recorded_once(count)
    (folder / RECORDING_FILE).write_bytes(made)
    (folder / RECORDING_FILE).chmod(0o600)
    return dict(states)


@cache
def recorded_once(count: int) -> tuple[bytes, dict[Timestamp, DeskState]]:
    """The file of a recording, closed, and what stands in it."""
    with TemporaryDirectory() as folder:
        states = fill(Path(folder), count)
        return (Path(folder) / RECORDING_FILE).read_bytes(), states


def fill(folder: Path, count: int) -> dict[Timestamp, DeskState]:
    """Record as many states."""
    store, rng, recorder = Recordings(folder), random.Random(1), Recorder()
    states: dict[Timestamp, DeskState] = {}
    store.begin()
    state, at = sample_state(24), START
    for place in range(count):
        state = later(state, rng)
        if place % 7 == 3:
            state = replace(
                state, tickets=(replace(state.tickets[0], ticket_id=f"n-{place}"), *state.tickets)
            )
        if place == 30:
            recorder.forget()
        record = recorder.record(state, at)
        assert record is not None
        store.add(record)
        recorder.kept(record)
        states[at] = state
        at = Timestamp(at + rng.uniform(2, 30))
    return states


@pytest.mark.slow
def test_every_moment_is_read_back_as_it_was_in_any_order(tmp_path: Path) -> None:
    states, rng = filled(tmp_path, 60), random.Random(2)
    player = Player(Recordings(tmp_path))
    drawn = list(states) + rng.choices(list(states), k=40)
    rng.shuffle(drawn)
    for at in drawn:
        moment = player.moment(Timestamp(at + 0.5))
        assert moment is not None
        assert moment.at == at
        assert moment.state == states[at]


def test_a_time_before_the_first_record_shows_the_first(tmp_path: Path) -> None:
    states = filled(tmp_path, 3)
    moment = Player(Recordings(tmp_path)).moment(Timestamp(0.0))
    assert moment is not None
    assert moment.at == next(iter(states))


def test_nothing_recorded_is_no_error(tmp_path: Path) -> None:
    player = Player(Recordings(tmp_path))
    assert player.span() is None
    assert player.moment(START) is None
    assert player.neighbour(START, 1) is None


def test_old_records_go_and_the_rest_can_still_be_read(tmp_path: Path) -> None:
    states = filled(tmp_path, 60)
    times = list(states)
    Recordings(tmp_path).forget_before(times[45])
    player = Player(Recordings(tmp_path))
    # The records from the whole one before that time on are needed.
    assert player.span() == (times[30], times[-1])
    moment = player.moment(times[50])
    assert moment is not None
    assert moment.state == states[times[50]]


@pytest.mark.slow
@pytest.mark.parametrize(
    "spoiled",
    [
        b"",
        b"x",
        zlib.compress(b"[1"),
        zlib.compress(b'{"a":1}'),
        zlib.compress(b"NaN"),
        zlib.compress(b"[" * 100_000),
        zlib.compress(b'["d",{"account":["d",{"cash":["r",1e999]},{},[]]},{},[]]'),
        zlib.compress(b'["r",' + b"9" * 4_000 + b"]"),
        lambda: zlib.compress(b" " * 70_000_000),
        "text",
        7,
    ],
)
def test_a_damaged_record_is_named_and_the_others_are_shown(tmp_path: Path, spoiled: Any) -> None:
    # What takes long to make is made where it is needed, and not while tests are collected.
    spoiled = spoiled() if callable(spoiled) else spoiled
    states = filled(tmp_path, 40)
    times = list(states)
    store = Recordings(tmp_path)
    row = store.chain(times[10])[-1]
    assert row.at == times[10]
    with closing(sqlite3.connect(store.path)) as connection, connection:
        connection.execute("UPDATE records SET body = ? WHERE at = ?", (spoiled, row.at))
    player = Player(store)
    # Trees of another hour are at hand when the damage is met.
    assert player.moment(times[35]) is not None
    with pytest.raises(RecordError, match=r"cannot be read|a row that is none"):
        player.moment(times[12])
    for at in (times[35], times[9]):
        moment = player.moment(at)
        assert moment is not None
        assert moment.state == states[at]
    if isinstance(spoiled, bytes):
        moment, problem = player.readable(times[12])
        assert moment is not None
        assert moment.at == times[9]
        assert "cannot be read" in problem


WHOLE_BODY = zlib.compress(b'{"a":1}')


@pytest.mark.slow
def test_a_chain_without_a_readable_beginning_is_passed_over(tmp_path: Path) -> None:
    states = filled(tmp_path, 40)
    times = list(states)
    store = Recordings(tmp_path)
    with closing(sqlite3.connect(store.path)) as connection, connection:
        connection.execute("UPDATE records SET body = ? WHERE at = ?", (WHOLE_BODY, times[30]))
    player = Player(store)
    for moment, problem in (player.readable(times[35]), player.step(times[31], -1)):
        assert moment is not None
        assert moment.at == times[29]
        assert "cannot be read" in problem
    moment, problem = player.step(times[29], 1)
    assert moment is None
    assert "cannot be read" in problem
    with closing(sqlite3.connect(store.path)) as connection, connection:
        connection.execute("UPDATE records SET body = ?", (WHOLE_BODY,))
    with pytest.raises(RecordError, match="cannot be read"):
        Player(store).readable(times[35])


def test_lists_that_grow_without_end_are_refused(tmp_path: Path) -> None:
    store = Recordings(tmp_path)
    store.begin()
    text = b'{"a":[1,1,1,1]}'
    store.add(RecordRow(START, is_whole=True, event="", body=zlib.compress(text)))
    doubled = b'["d",{"a":["l",[[0,%d],[0,%d]]]},{},[]]'
    for place in range(40):
        before, count = text, 4 * 2**place
        text = doubled % (count, count)
        store.add(RecordRow(START + place + 1, is_whole=False, event="", body=packed(text, before)))
    with pytest.raises(RecordError, match="cannot be read"):
        Player(store).moment(Timestamp(START + 100))


def test_an_event_that_is_none_is_not_shown(tmp_path: Path) -> None:
    states = filled(tmp_path, 3)
    store = Recordings(tmp_path)
    with closing(sqlite3.connect(store.path)) as connection, connection:
        connection.execute("UPDATE records SET event = ?", ("\x1b[2J",))
    moment = Player(store).moment(next(reversed(states)))
    assert moment is not None
    assert moment.event == ""


FOREIGN = (
    "CREATE TABLE records (at REAL PRIMARY KEY, body BLOB)",
    "CREATE VIEW records AS SELECT 1.0 AS at, 1 AS is_whole, '' AS event, x'00' AS body",
    """CREATE VIEW records AS
    WITH RECURSIVE n(at) AS (SELECT 1.0 UNION ALL SELECT at + 1 FROM n)
    SELECT at, 0 AS is_whole, '' AS event, x'00' AS body FROM n""",
    """CREATE TABLE records (at REAL PRIMARY KEY, is_whole, event, body);
    INSERT INTO records VALUES (9e999, 1, '', x'00')""",
    """CREATE TABLE records (at REAL PRIMARY KEY, is_whole, event, body);
    INSERT INTO records VALUES (1.0, 1, '', 'text')""",
    """CREATE TABLE records (at TEXT PRIMARY KEY, is_whole, event, body);
    INSERT INTO records VALUES ('then', 1, '', x'00')""",
)


@pytest.mark.parametrize("schema", FOREIGN)
def test_a_file_of_somebody_else_is_put_aside(tmp_path: Path, schema: str) -> None:
    path = tmp_path / RECORDING_FILE
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.executescript(schema)
    player = Player(Recordings(tmp_path))
    with suppress(RecordError):
        assert player.moment(START) is None
    assert Recordings(tmp_path).begin() is None
    assert (tmp_path / f"{RECORDING_FILE}.damaged").exists()
    states = fill(tmp_path, 3)
    assert Player(Recordings(tmp_path)).moment(next(reversed(states))) is not None


def test_a_page_that_is_damaged_is_met_by_the_next_record(tmp_path: Path) -> None:
    filled(tmp_path, 40)
    store = Recordings(tmp_path)
    store.begin()
    with closing(sqlite3.connect(store.path)) as connection:
        (root,) = connection.execute(
            "SELECT rootpage FROM sqlite_master WHERE name = 'events'"
        ).fetchone()
    content = bytearray(store.path.read_bytes())
    content[1024 * (root - 1) : 1024 * root] = b"\xff" * 1024
    store.path.write_bytes(content)
    row = Recorder().record(sample_state(20), Timestamp(START + 90_000))
    assert row is not None
    with pytest.raises(RecordingError, match="malformed"):
        store.add(row._replace(event="halt"))
    assert store.begin() is None
    store.add(row)
    assert (tmp_path / f"{RECORDING_FILE}.damaged").exists()


def test_a_file_that_was_removed_or_replaced_is_not_written_on(tmp_path: Path) -> None:
    states, store = filled(tmp_path, 3), Recordings(tmp_path)
    store.begin()
    recorder = Recorder(next(reversed(states)))
    first = recorder.record(sample_state(20), Timestamp(START + 1_000))
    assert first is not None
    store.add(first)
    newer = later(sample_state(20), random.Random(3))
    second = recorder.record(newer, Timestamp(START + 1_010))
    assert second is not None
    assert not second.is_whole
    store.path.rename(tmp_path / "away")
    with pytest.raises(RecordingError, match="unable to open"):
        store.add(second)
    assert not store.path.exists()
    filled(tmp_path, 2)
    with pytest.raises(RecordingError, match="the file was replaced"):
        store.add(second)


def test_an_existing_file_is_closed_to_others(tmp_path: Path) -> None:
    filled(tmp_path, 2)
    path = tmp_path / RECORDING_FILE
    path.chmod(0o644)
    Recordings(tmp_path).begin()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


KILLED = """
import os, sqlite3, sys
connection = sqlite3.connect(sys.argv[1])
connection.execute("PRAGMA cache_size=1")
connection.execute("BEGIN")
connection.execute("UPDATE records SET body = zeroblob(200000)")
os._exit(9)
"""


@pytest.mark.slow
@pytest.mark.process
def test_a_program_that_was_killed_while_it_wrote_leaves_a_readable_file(tmp_path: Path) -> None:
    states, store = filled(tmp_path, 5), Recordings(tmp_path)
    subprocess.run([sys.executable, "-c", KILLED, str(store.path)], check=False)
    assert store.path.with_name(f"{RECORDING_FILE}-journal").stat().st_size > 0
    last = next(reversed(states))
    moment = Player(store).moment(last)
    assert moment is not None
    assert moment.state == states[last]


def test_a_damaged_file_is_put_aside(tmp_path: Path) -> None:
    (tmp_path / RECORDING_FILE).write_bytes(b"no database, but longer than a header" * 99)
    with pytest.raises(RecordError):
        Player(Recordings(tmp_path)).span()
    assert Recordings(tmp_path).begin() is None
    fill(tmp_path, 2)
    assert (tmp_path / f"{RECORDING_FILE}.damaged").exists()
    assert Player(Recordings(tmp_path)).span() is not None


@pytest.mark.slow
def test_a_long_busy_hour_is_written_whole_again() -> None:
    # Fewer than in earnest, and still so many that a whole state is affordable behind them.
    recorder = Recorder(wholes=Wholes(differences=BUSY))
    state, rng, at = TINY, random.Random(1), START
    wholes = 0
    for place in range(2 * BUSY):
        state = replace(state, stars=frozenset({str(place)}))
        record = recorder.record(state, at)
        assert record is not None
        wholes += record.is_whole
        at = Timestamp(at + rng.uniform(2, 4))
    assert wholes == 2


TINY = sample_state(6)
KILOBYTE = RecordRow(START, is_whole=True, event="", body=b"x" * (1_000 - ROW_BYTES))
MOVED = replace(TINY, stars=frozenset({"moved"}))
NOTICED = replace(TINY, notices=(Notice(9, "warn", "gone"),))
ORDERED = replace(TINY, tickets=TINY.tickets[1:])
HALTED = replace(TINY, halt=HaltView(START))


def spent(kilobytes: int, at: Timestamp, **wholes: float) -> Recorder:
    """A recorder that has used as much of what was saved up."""
    recorder = Recorder(wholes=Wholes()._replace(**wholes))
    assert recorder.record(TINY, START) is not None
    recorder.is_due(TINY, at)
    for _ in range(kilobytes):
        recorder.kept(KILOBYTE)
    return recorder


@pytest.mark.parametrize(("state", "last_kilobyte"), [(MOVED, 240), (NOTICED, 360), (ORDERED, 400)])
def test_what_is_saved_up_is_kept_for_what_matters_most(
    state: DeskState, last_kilobyte: int
) -> None:
    at = Timestamp(START + EVERY_S)
    assert spent(last_kilobyte - 1, at).is_due(state, at)
    assert not spent(last_kilobyte, at).is_due(state, at)
    assert spent(last_kilobyte, at).is_due(HALTED, at)


def test_the_bytes_of_a_day_come_in_evenly_and_no_more_is_saved_up_than_the_most() -> None:
    at = Timestamp(START + EVERY_S)
    for_moves_s = 160_000 * 86_400 / DAY_BYTES
    assert not spent(400, at).is_due(MOVED, Timestamp(at + for_moves_s - 1))
    assert spent(400, at).is_due(MOVED, Timestamp(at + for_moves_s + 1))
    recorder = spent(400, at)
    # In parts as at once, and nothing for a clock that goes back.
    recorder.is_due(MOVED, Timestamp(at + for_moves_s / 2))
    assert recorder.is_due(MOVED, Timestamp(at + for_moves_s + 1))
    recorder.is_due(MOVED, Timestamp(at + 1_000_000))
    for _ in range(240):
        recorder.kept(KILOBYTE)
    assert not recorder.is_due(MOVED, Timestamp(at + 1_000_000))
    assert not recorder.is_due(MOVED, Timestamp(at + 500_000))


def test_twice_the_markets_have_twice_the_bytes() -> None:
    half = len(TINY.markets) / 2
    at = Timestamp(START + EVERY_S)
    # Both marks are twice as high, what there is at the start is not.
    assert spent(79, at, markets=half).is_due(MOVED, at)
    assert not spent(80, at, markets=half).is_due(MOVED, at)
    assert spent(319, at, markets=half).is_due(NOTICED, at)
    assert not spent(320, at, markets=half).is_due(NOTICED, at)
    recorder, full = spent(400, at, markets=half), Timestamp(at + 1_000_000)
    recorder.is_due(TINY, full)
    for _ in range(480):
        recorder.kept(KILOBYTE)
    assert not recorder.is_due(MOVED, full)
    half = Timestamp(full + 80_000 * 86_400 / DAY_BYTES)
    assert recorder.is_due(MOVED, half) is True
    assert recorder.record(MOVED, half) is not None


@pytest.mark.slow
def test_a_state_is_due_by_its_age_on_either_side_of_each_bound() -> None:
    def is_due(state: DeskState, after_s: float) -> bool:
        recorder = Recorder()
        recorder.record(TINY, START)
        return recorder.is_due(state, Timestamp(START + after_s))

    assert [is_due(MOVED, s) for s in (-0.1, 0.0, 0.5, 2.0, 9.9, 10.0)] == [
        True, False, False, False, False, True,
    ]  # fmt: skip
    assert [is_due(HALTED, s) for s in (-0.1, 0.0, 0.5, 1.9, 2.0)] == [
        True, False, False, False, True,
    ]  # fmt: skip


def test_the_record_names_what_happened_since_the_one_before() -> None:
    recorder = Recorder()
    rows = [recorder.record(state, START) for state in (TINY, HALTED, ORDERED, ORDERED, MOVED)]
    assert [row and row.event for row in rows] == ["", "halt", "halt", None, "order"]
    # Nothing that came between is told of again once the desk is as it was.
    assert [row and row.is_whole for row in rows] == [True, False, False, None, False]


@pytest.mark.parametrize(
    ("now", "at", "is_whole"),
    [
        (START + 5, START + 5, False),
        (START, START + 0.001, False),
        (START - 2, START + 0.001, False),
        (START - 2.1, START - 2.1, True),
    ],
)
def test_the_time_of_a_record_lies_after_the_last_one_unless_the_clock_was_far_off(
    now: float, at: float, *, is_whole: bool
) -> None:
    recorder = Recorder()
    recorder.record(TINY, START)
    row = recorder.record(MOVED, Timestamp(now))
    assert row is not None
    assert (row.at, row.is_whole) == (at, is_whole)
    # So it is behind the last one of an earlier run, whose tree nobody has.
    row = Recorder(START).record(MOVED, Timestamp(now))
    assert row is not None
    assert (row.at, row.is_whole) == (at, True)


def test_a_record_that_no_earlier_one_bounds_has_the_time_of_the_clock() -> None:
    for at in (0.5, START):
        row = Recorder().record(TINY, Timestamp(at))
        assert row is not None
        assert row.at == at


def second(after_s: float, between: int = 0, **wholes: float) -> RecordRow:
    """The record so long after a whole one, with as many between them."""
    recorder = Recorder(wholes=Wholes()._replace(**wholes))
    recorder.record(TINY, START)
    for place in range(between):
        recorder.record(replace(TINY, stars=frozenset({str(place)})), START)
    row = recorder.record(MOVED, Timestamp(START + after_s))
    assert row is not None
    return row


def test_a_state_is_whole_again_after_an_hour() -> None:
    assert not second(WHOLE_EVERY_S - 0.1).is_whole
    assert second(WHOLE_EVERY_S).is_whole
    # Not before its bytes are there: a fifth of what comes in.
    whole = Recorder().record(TINY, START)
    assert whole is not None
    affordable_s = len(whole.body) / (WHOLE_SHARE * DAY_BYTES / 86_400)
    assert not second(affordable_s - 0.01, every_s=1.0).is_whole
    assert second(affordable_s + 0.01, every_s=1.0).is_whole


def test_a_state_is_whole_again_after_so_many_differences() -> None:
    found = [second(3_000, between, differences=2).is_whole for between in (0, 1, 2)]
    assert found == [False, False, True]


def test_more_markets_write_whole_states_as_much_sooner() -> None:
    recorder = Recorder(wholes=Wholes(every_s=1.0, markets=len(TINY.markets) / 2))
    whole = recorder.record(TINY, START)
    assert whole is not None
    recorder.is_due(TINY, START)
    affordable_s = len(whole.body) / (WHOLE_SHARE * 2 * DAY_BYTES / 86_400)
    row = recorder.record(MOVED, Timestamp(START + affordable_s - 0.01))
    assert row is not None
    assert not row.is_whole
    row = recorder.record(TINY, Timestamp(START + affordable_s + 0.01))
    assert row is not None
    assert row.is_whole


class Store:
    """A recording whose chains are given; says what was asked of it."""

    def __init__(self, rows: list[RecordRow]) -> None:
        self.rows = rows

    def span(self) -> tuple[float, float] | None:
        return (self.rows[0].at, self.rows[-1].at) if self.rows else None

    def chain(self, at: float) -> tuple[RecordRow, ...]:
        until = [row for row in self.rows if row.at <= at]
        first = max((place for place, row in enumerate(until) if row.is_whole), default=len(until))
        return tuple(until[first:])

    def neighbour(self, at: float, by: int, *, is_event: bool) -> float | None:
        times = [row.at for row in self.rows if row.event or not is_event]
        found = [time for time in times if (time - at) * by > 0]
        return (min(found) if by > 0 else max(found)) if found else None


def recording(
    count: int, text_max: int = TEXT_MAX
) -> tuple[Player, list[RecordRow], list[DeskState]]:
    """So many states, a second apart, and what plays them."""
    states = [replace(TINY, stars=frozenset({f"star-{place}"})) for place in range(count)]
    recorder, rows = Recorder(), []
    for place, state in enumerate(states):
        row = recorder.record(state, Timestamp(START + place))
        assert row is not None
        rows.append(row._replace(event="order" if place % 2 else ""))
    return Player(Store(rows), text_max), rows, states  # pyright: ignore[reportArgumentType]


def test_a_moment_is_that_of_the_last_record_and_reads_none_twice(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    player, _, states = recording(5)
    read: list[bytes] = []
    real = zlib.decompressobj

    def counted(**given: bytes) -> object:
        read.append(given.get("zdict", b""))
        return real(**given)

    monkeypatch.setattr("service_tui.desk.recording.player.zlib.decompressobj", counted)
    counts = []
    for place in (2, 4, 4, 3, 0):
        moment = player.moment(Timestamp(START + place + 0.5))
        assert moment is not None
        assert (moment.at, moment.state) == (START + place, states[place])
        assert moment.event == ("order" if place % 2 else "")
        counts.append(len(read))
    assert counts == [3, 5, 5, 5, 5]


def test_steps_go_to_either_side_and_to_events_alone() -> None:
    player, _, states = recording(5)
    steps = [(1, False), (-1, False), (1, True), (-1, True)]
    found = [player.step(Timestamp(START + 2), by, is_event=is_event) for by, is_event in steps]
    assert [(moment and moment.state, problem) for moment, problem in found] == [
        (states[3], ""),
        (states[1], ""),
        (states[3], ""),
        (states[1], ""),
    ]
    assert player.step(Timestamp(START + 3), 1, is_event=True) == (None, "")
    assert player.step(START, -1) == (None, "")
    assert player.neighbour(Timestamp(START + 1), 1) == START + 2


def test_what_is_damaged_is_passed_over_and_told_by_its_first_problem() -> None:
    player, rows, states = recording(6)
    rows[3] = rows[3]._replace(body=b"")
    with pytest.raises(
        RecordError, match=r"^record cannot be read: damaged or of another version$"
    ):
        player.moment(Timestamp(START + 4))
    moment, problem = player.readable(Timestamp(START + 5))
    assert moment is not None
    assert (moment.at, moment.state) == (START + 2, states[2])
    assert problem == "record cannot be read: damaged or of another version"
    assert player.step(Timestamp(START + 2), 1) == (None, problem)
    moment, problem = player.step(Timestamp(START + 5), -1)
    assert moment is not None
    assert (moment.at, bool(problem)) == (START + 2, True)


def test_no_record_before_the_damaged_one_is_no_moment() -> None:
    player, rows, _ = recording(1)
    rows[0] = rows[0]._replace(is_whole=False)
    with pytest.raises(RecordError) as caught:
        player.moment(START)
    assert caught.value.before is None
    with pytest.raises(RecordError):
        player.readable(START)


def test_all_the_texts_behind_a_moment_have_one_bound() -> None:
    _, rows, _ = recording(3)
    # The first difference fits behind the whole text, the second does not.
    whole = len(zlib.decompress(rows[0].body))
    player, _, states = recording(3, whole + 60)
    moment = player.moment(Timestamp(START + 1))
    assert moment is not None
    assert moment.state == states[1]
    player, rows, _ = recording(3, whole + 60)
    with pytest.raises(RecordError):
        player.moment(Timestamp(START + 2))
