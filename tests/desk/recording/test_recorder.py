"""When a state is recorded, what of it, and how it is read back."""

import random
import sqlite3
import zlib
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from kit.samples.desk import sample_state
from service_tui.desk.cached_state import MARKETS_MAX
from service_tui.desk.recording.moment import RecordError
from service_tui.desk.recording.player import Player
from service_tui.desk.recording.recorder import (
    AFTER_EVENT_S,
    CHAIN_MAX,
    DAY_BYTES,
    EVERY_S,
    ROW_BYTES,
    SAVED_MAX,
    Recorder,
    event_between,
    recorded,
)
from service_tui.desk.slices.agents import RevealedView
from service_tui.desk.slices.halt import HaltView
from service_tui.desk.slices.records import Notice, Phase, TicketState
from service_tui.desk.state import DeskState
from service_tui.storage.recordings import RECORDING_FILE, Recordings
from service_tui.units import Timestamp

START = Timestamp(1_800_000_000.0)
DAY_MAX = 5_000_000
REVEALED = "sk_live_of_nobody"


def later(state: DeskState, rng: random.Random) -> DeskState:
    """The state with every price moved."""
    markets = {
        name: replace(market, price=rng.uniform(0.01, 0.99))  # pyright: ignore[reportArgumentType]
        for name, market in state.markets.items()
    }
    return replace(state, markets=markets)


def test_time_alone_is_recorded_every_ten_seconds_and_an_event_after_two() -> None:
    state, rng, recorder = sample_state(20), random.Random(1), Recorder()
    assert recorder.is_due(state, START)
    assert recorder.record(state, START) is not None
    newer = later(state, rng)
    assert not recorder.is_due(newer, Timestamp(START + EVERY_S - 0.1))
    assert recorder.is_due(newer, Timestamp(START + EVERY_S))
    halted = replace(newer, halt=HaltView(START))
    assert not recorder.is_due(halted, Timestamp(START + AFTER_EVENT_S - 0.1))
    assert recorder.is_due(halted, Timestamp(START + AFTER_EVENT_S))


def test_a_state_that_has_not_changed_is_not_recorded_again() -> None:
    state, recorder = sample_state(20), Recorder()
    recorder.record(state, START)
    assert not recorder.is_due(state, Timestamp(START + 3_600))


def test_a_clock_that_is_set_back_keeps_the_records_in_order() -> None:
    state, rng, recorder = sample_state(20), random.Random(1), Recorder(last_at=START)
    first = recorder.record(state, Timestamp(START - 7_200))
    newer = later(state, rng)
    assert recorder.is_due(newer, Timestamp(START - 7_190))
    second = recorder.record(newer, Timestamp(START - 7_190))
    assert first is not None
    assert second is not None
    assert START < first.at < second.at


def test_a_number_that_is_none_is_not_recorded_and_the_next_state_is() -> None:
    state, rng, recorder = sample_state(20), random.Random(1), Recorder()
    assert (
        recorder.record(replace(state, stars=frozenset(), polls={"markets": float("nan")}), START)
        is None
    )  # pyright: ignore[reportArgumentType]
    record = recorder.record(later(state, rng), Timestamp(START + 10))
    assert record is not None
    assert record.is_whole


def test_no_secret_and_no_endless_list_is_recorded() -> None:
    state = replace(
        sample_state(MARKETS_MAX + 50),
        revealed=RevealedView("agent", "name", is_key=True, secret=REVEALED),
    )
    kept = recorded(state)
    assert kept.revealed is None
    assert kept.supervision.tail is None
    assert kept.supervision.pasts == ()
    assert len(kept.markets) == MARKETS_MAX
    assert {held.market_id for held in state.positions} <= kept.markets.keys()
    assert list(kept.markets) == [name for name in state.markets if name in kept.markets]
    record = Recorder().record(state, START)
    assert record is not None
    assert REVEALED.encode() not in zlib.decompress(record.body)


CHANGES: tuple[tuple[Callable[[DeskState], DeskState], str], ...] = (
    (lambda state: replace(state, halt=HaltView(START)), "halt"),
    (
        lambda state: replace(state, service=replace(state.service, phase=Phase.OFFLINE)),
        "connection",
    ),
    (
        lambda state: replace(
            state, tickets=(replace(state.tickets[0], state=TicketState.SENT), *state.tickets[1:])
        ),
        "order",
    ),
    (lambda state: replace(state, fills=state.fills[1:]), "fill"),
    (lambda state: replace(state, notices=(Notice(9, "warn", "gone"),)), "notice"),
    (lambda state: later(state, random.Random(1)), ""),
)


@pytest.mark.parametrize(("change", "event"), CHANGES)
def test_the_event_of_a_record_names_what_happened(
    change: Callable[[DeskState], DeskState], event: str
) -> None:
    state = sample_state(20)
    assert event_between(state, change(state)) == event


def test_a_day_of_a_hundred_markets_that_all_move_stays_below_five_megabytes() -> None:
    state, rng, recorder = sample_state(100), random.Random(1), Recorder()
    size, records, at = 0, 0, START
    # The hours are alike: one of them, and the rest by what comes in.
    while at < START + 3_600:
        state = later(state, rng)
        if recorder.is_due(state, at):
            record = recorder.record(state, at)
            assert record is not None
            size += len(record.body) + ROW_BYTES
            records += 1
        at = Timestamp(at + EVERY_S)
    assert size <= SAVED_MAX + DAY_BYTES / 24 + 40_000
    assert size + DAY_BYTES * 23 / 24 < DAY_MAX
    assert records > 40


def filled(folder: Path, count: int, seed: int = 1) -> dict[Timestamp, DeskState]:
    """A recording of as many states, by their times."""
    store, rng, recorder = Recordings(folder), random.Random(seed), Recorder()
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
        states[at] = state
        at = Timestamp(at + rng.uniform(2, 30))
    return states


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


def test_steps_lead_to_neighbours_and_to_events(tmp_path: Path) -> None:
    states = filled(tmp_path, 20)
    player, times = Player(Recordings(tmp_path)), list(states)
    assert player.span() == (times[0], times[-1])
    assert player.neighbour(times[5], -1) == times[4]
    assert player.neighbour(times[5], 1) == times[6]
    assert player.neighbour(times[0], -1) is None
    assert player.neighbour(times[-1], 1) is None
    assert player.neighbour(times[5], 1, is_event=True) == times[10]
    assert player.neighbour(times[5], -1, is_event=True) == times[3]


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


@pytest.mark.parametrize(
    "spoiled",
    [
        b"",
        b"x",
        zlib.compress(b"[1"),
        zlib.compress(b'{"a":1}'),
        zlib.compress(b"NaN"),
        zlib.compress(b"[" * 100_000),
        "text",
        7,
    ],
)
def test_a_damaged_record_is_named_and_the_others_are_shown(
    tmp_path: Path, spoiled: object
) -> None:
    states = filled(tmp_path, 40)
    times = list(states)
    store = Recordings(tmp_path)
    row = store.chain(times[10])[-1]
    assert row.at == times[10]
    with closing(sqlite3.connect(store.path)) as connection, connection:
        connection.execute("UPDATE records SET body = ? WHERE at = ?", (spoiled, row.at))
    player = Player(store)
    with pytest.raises(RecordError, match=r"cannot be read|a row that is none"):
        player.moment(times[12])
    for at in (times[9], times[35]):
        moment = player.moment(at)
        assert moment is not None
        assert moment.state == states[at]


def test_a_damaged_file_is_put_aside(tmp_path: Path) -> None:
    (tmp_path / RECORDING_FILE).write_bytes(b"no database, but longer than a header" * 99)
    with pytest.raises(RecordError):
        Player(Recordings(tmp_path)).span()
    assert Recordings(tmp_path).begin() is None
    filled(tmp_path, 2)
    assert (tmp_path / f"{RECORDING_FILE}.damaged").exists()
    assert Player(Recordings(tmp_path)).span() is not None


def test_a_long_busy_hour_is_written_whole_again(tmp_path: Path) -> None:
    del tmp_path
    state, rng, recorder, at = sample_state(20), random.Random(1), Recorder(), START
    wholes = 0
    for place in range(2 * CHAIN_MAX):
        state = replace(state, stars=frozenset({str(place)}))
        record = recorder.record(state, at)
        assert record is not None
        wholes += record.is_whole
        at = Timestamp(at + rng.uniform(2, 4))
    assert wholes == 2
