"""The recording of an open desk: what is written, a disk that refuses, and the shell's replay."""

import asyncio
import sqlite3
import stat
import subprocess
import sys
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from threading import Event
from typing import Any

import pytest

from kit.samples.desk import sample_state
from service_tui.app.first_state import first_state
from service_tui.app.live import open_desk_of
from service_tui.app.options import BESIDE, Options
from service_tui.app.recording import KEPT_S, RecordWriter, recording
from service_tui.cli.main import CANNOT
from service_tui.clock import ManualClock
from service_tui.commands import replay
from service_tui.commands.replay import ReplayError, player_of
from service_tui.desk.facts import Fact, Noticed
from service_tui.desk.recording.player import Player
from service_tui.desk.recording.recorder import Recorder
from service_tui.desk.state import DeskState
from service_tui.storage.recordings import RECORDING_FILE, RecordingError, Recordings, RecordRow
from service_tui.units import Timestamp

STATE = sample_state(20)


class Still:
    """A desk that brings the states it was given, one after the other."""

    def __init__(self, *states: DeskState) -> None:
        self.states = states
        self.state = states[-1]
        self.emitted: list[Fact] = []
        self.ports = self
        self.folder = Path()
        self.clock: ManualClock | None = None

    def emit(self, fact: Fact) -> None:
        self.emitted.append(fact)

    async def changes(self) -> Any:
        for state in self.states:
            yield state


def starred(name: str) -> DeskState:
    return replace(STATE, stars=frozenset({name}))


class Skipping(ManualClock):
    """A clock on which each sleep passes at once, and the time with it."""

    async def sleep(self, delay_s: float) -> None:
        self._now += delay_s


def writer_of(folder: Path, desk: Still, clock: ManualClock) -> RecordWriter:
    return RecordWriter(Recordings(folder), desk, clock)  # type: ignore[arg-type]


@pytest.mark.slow
async def test_states_are_kept_as_they_come_but_not_those_of_an_earlier_run(tmp_path: Path) -> None:
    desk = Still(replace(STATE, from_cache=True), *(starred(str(n)) for n in range(12)))
    clock = Skipping()
    writer = writer_of(tmp_path, desk, clock)
    await writer.run()
    await writer.write_last()
    player, at = Player(Recordings(tmp_path)), clock.now()
    seen: list[str] = []
    while (moment := player.moment(at)) is not None:
        seen.append(min(moment.state.stars))
        before = player.neighbour(moment.at, -1)
        if before is None:
            break
        at = before
    # One in ten seconds, and the last.
    assert seen == ["11", "10", "5", "0"]


async def test_the_file_is_open_to_its_owner_only(tmp_path: Path) -> None:
    await writer_of(tmp_path, Still(STATE), Skipping()).run()
    assert stat.S_IMODE((tmp_path / RECORDING_FILE).stat().st_mode) == 0o600


@pytest.mark.slow
async def test_a_disk_that_refuses_is_told_once_and_the_recording_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    refusals = 3
    add = Recordings.add

    def refusing(self: Recordings, row: RecordRow) -> None:
        nonlocal refusals
        refusals -= 1
        if refusals >= 0:
            raise RecordingError("recording: disk full")
        add(self, row)

    monkeypatch.setattr(Recordings, "add", refusing)
    desk = Still(*(starred(str(n)) for n in range(6)))
    clock = Skipping()
    await writer_of(tmp_path, desk, clock).run()
    told = [fact.text for fact in desk.emitted if isinstance(fact, Noticed)]
    assert told == ["recording: disk full: the replay has a gap from here on"]
    moment = Player(Recordings(tmp_path)).moment(clock.now())
    assert moment is not None
    # Whole again: what the refused ones differed from was never kept.
    assert moment.state.stars in [frozenset({str(n)}) for n in (3, 4, 5)]


async def test_a_console_that_quits_leaves_its_last_state_recorded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk, clock = Still(starred("first")), Skipping()
    entered, written, add = asyncio.Event(), Event(), Recordings.add

    def noted(self: Recordings, row: RecordRow) -> None:
        add(self, row)
        written.set()

    monkeypatch.setattr(Recordings, "add", noted)

    async def opened() -> None:
        async with recording(desk, clock):  # type: ignore[arg-type]
            entered.set()
            await asyncio.Event().wait()

    desk.folder = tmp_path
    desk.clock = clock
    async with asyncio.TaskGroup() as tasks:
        task = tasks.create_task(opened())
        await entered.wait()
        await asyncio.to_thread(written.wait)
        desk.state = starred("last")
        # As the console ends: whoever has the desk open is cancelled.
        task.cancel()
    # Both records may be of one time of this clock, and then stand a millisecond apart.
    moment = Player(Recordings(tmp_path)).moment(Timestamp(clock.now() + 1))
    assert moment is not None
    assert moment.state.stars == {"last"}


@pytest.mark.slow
async def test_a_file_that_is_removed_meanwhile_is_begun_anew(tmp_path: Path) -> None:
    desk, clock = Still(starred("0")), Skipping()
    writer = writer_of(tmp_path, desk, clock)
    await writer.run()
    (tmp_path / RECORDING_FILE).unlink()
    desk.states = tuple(starred(str(n)) for n in range(1, 12))
    await writer.run()
    told = [fact.text for fact in desk.emitted if isinstance(fact, Noticed)]
    assert len(told) == 1
    moment = Player(Recordings(tmp_path)).moment(clock.now())
    assert moment is not None
    assert moment.state.stars <= {str(n) for n in range(5, 12)}


@pytest.mark.slow
async def test_a_file_that_is_damaged_meanwhile_is_put_aside(tmp_path: Path) -> None:
    desk, clock = Still(starred("0")), Skipping()
    writer = writer_of(tmp_path, desk, clock)
    await writer.run()
    (tmp_path / RECORDING_FILE).write_bytes(b"no database, but longer than a header" * 99)
    desk.states = tuple(starred(str(n)) for n in range(1, 12))
    await writer.run()
    assert (tmp_path / f"{RECORDING_FILE}.damaged").exists()
    assert Player(Recordings(tmp_path)).moment(clock.now()) is not None


async def test_records_older_than_thirty_days_go(tmp_path: Path) -> None:
    clock = Skipping()
    await writer_of(tmp_path, Still(starred("old"), starred("old too")), clock).run()
    first = Player(Recordings(tmp_path)).span()
    await clock.sleep(KEPT_S + 86_400)
    await writer_of(tmp_path, Still(starred("new")), clock).run()
    await clock.sleep(KEPT_S + 86_400)
    await writer_of(tmp_path, Still(starred("newest")), clock).run()
    span = Player(Recordings(tmp_path)).span()
    assert first is not None
    assert span is not None
    # The last whole record before that time stays: later ones may build on it.
    assert span[0] > first[1] + KEPT_S


@pytest.mark.slow
async def test_an_open_desk_is_recorded_and_played_back(tmp_path: Path) -> None:
    options = Options(tmp_path, tmp_path, tmp_path / "log", seed=7, speed=0)
    clock = ManualClock()
    async with (
        open_desk_of(options, first_state(options)) as desk,
        recording(desk, clock) as store,  # type: ignore[arg-type]
    ):
        async for state in desk.changes():
            if state.markets and not state.from_cache and store.span() is not None:
                break
        markets = desk.state.markets
    moment = Player(Recordings(tmp_path)).moment(Timestamp(clock.now() + 1))
    assert moment is not None
    assert moment.state.markets.keys() == markets.keys()


def one_record(folder: Path, at: float) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    store = Recordings(folder)
    store.begin()
    row = Recorder().record(starred(folder.name), Timestamp(at))
    assert row is not None
    store.add(row)


@pytest.mark.slow
def test_the_shell_takes_the_recording_closest_before_the_time(tmp_path: Path) -> None:
    one_record(tmp_path, 1_000.0)
    one_record(tmp_path / BESIDE / "1", 2_000.0)
    one_record(tmp_path / BESIDE / "2", 3_000.0)
    for at, name in (
        (1_500.0, tmp_path.name),
        (2_500.0, "1"),
        (9_000.0, "2"),
        (10.0, tmp_path.name),
    ):
        moment = player_of(tmp_path, Timestamp(at)).moment(Timestamp(at))
        assert moment is not None
        assert moment.state.stars == {name}


@pytest.mark.parametrize(
    ("at", "name"), [(1_500.0, "a"), (2_500.0, "b"), (2_000.0, "b"), (9_000.0, "c"), (10.0, "a")]
)
def test_of_several_recordings_the_closest_before_a_time_is_shown(
    monkeypatch: pytest.MonkeyPatch, at: float, name: str
) -> None:
    class Recorded:
        """A recording with one record."""

        def __init__(self, store: tuple[str, float | None]) -> None:
            self.name, self._at = store

        def span(self) -> tuple[float, float] | None:
            return None if self._at is None else (self._at, self._at)

        def neighbour(self, before: float, by: int) -> float | None:
            assert by == -1
            return self._at if self._at is not None and self._at < before else None

    found = (("none", None), ("a", 1_000.0), ("c", 3_000.0), ("b", 2_000.0))
    monkeypatch.setattr(replay, "_folders", lambda _: found)
    monkeypatch.setattr(replay, "Recordings", lambda one: one)
    monkeypatch.setattr(replay, "Player", Recorded)
    shown: Any = player_of(Path("d"), Timestamp(at))
    assert shown.name == name


def test_a_damaged_recording_hides_no_other(tmp_path: Path) -> None:
    (tmp_path / RECORDING_FILE).write_bytes(b"no database, but longer than a header" * 99)
    one_record(tmp_path / BESIDE / "1", 1_000.0)
    moment = player_of(tmp_path, Timestamp(1_500.0)).moment(Timestamp(1_500.0))
    assert moment is not None
    assert moment.state.stars == {"1"}


def test_nothing_recorded_and_a_damaged_file_are_named(tmp_path: Path) -> None:
    with pytest.raises(ReplayError, match="nothing is recorded in"):
        player_of(tmp_path, Timestamp(0.0))
    (tmp_path / RECORDING_FILE).write_bytes(b"no database, but longer than a header" * 99)
    with pytest.raises(ReplayError, match="recording: file is not a database"):
        player_of(tmp_path, Timestamp(0.0))


@pytest.mark.process
def test_a_typed_time_that_is_none_is_refused_before_anything_opens(
    tmp_path: Path,
) -> None:
    command = [sys.executable, "-m", "service_tui", "replay", "--at", "noon"]
    ended = subprocess.run(
        [*command, "--data-dir", str(tmp_path)], capture_output=True, text=True, check=False
    )
    assert ended.returncode == CANNOT
    assert "invalid --at: type a time, such as 03:12" in ended.stderr


def test_reading_leaves_the_file_as_it_is(tmp_path: Path) -> None:
    one_record(tmp_path, 1_000.0)
    path = tmp_path / RECORDING_FILE
    before = path.read_bytes()
    path.chmod(0o400)
    player_of(tmp_path, Timestamp(2_000.0)).moment(Timestamp(2_000.0))
    assert path.read_bytes() == before
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
