"""Entries of skills as they are stored: which are read, in which order, and how many."""

import json
from dataclasses import replace
from typing import Any

import pytest

from kit.service.memory import MemoryDatabase
from service_tui.storage.db.database import Database
from service_tui.storage.entries import Bound, EntryQuery, EntryStore, StoredEntry

WANTED = EntryQuery("heron", "rain", "sim", since=100.0)
ENTRY = StoredEntry(
    1, "t1", "heron", "sim", "rain", "m", "yes", 100.0, 10, 5, 0, back=9, signal='{"edge": 0.1}'
)


def numbered(seq: int, **other: object) -> StoredEntry:
    """An entry of the same skill, bought `seq` seconds after the begin, with its number."""
    signal = json.dumps({"n": seq})
    given = {"at": 100.0 + seq, "signal": signal, **other}
    return replace(ENTRY, seq=seq, trade_id=f"t{seq}", **given)


@pytest.mark.slow
async def test_the_signals_of_the_last_five_hundred_buys_are_read_newest_first(
    database: Database,
) -> None:
    entries = EntryStore(database)
    await entries.take([numbered(seq) for seq in range(1, 503)], (), 502)
    found = [json.loads(signal)["n"] for signal in entries.signals_lately(WANTED)]
    assert found == list(range(502, 2, -1))


async def test_what_is_replayed_is_every_buy_with_signals_oldest_first(
    database: Database,
) -> None:
    entries = EntryStore(database)
    later = numbered(2, at=300.0, open_shares=4, back=0)
    await entries.take([later, numbered(3, at=200.0), numbered(4, signal=None)], (), 4)
    assert entries.replay(WANTED) == [
        (4, 0, None, None, '{"n": 3}'),
        (-5, 4, "m", "yes", '{"n": 2}'),
    ]


@pytest.mark.parametrize(
    "other",
    [
        {"agent_id": "stork"},
        {"skill": "snow"},
        {"venue": "evm_venue"},
        {"at": 99.9},
        {"shares": 0},
    ],
    ids=lambda other: next(iter(other)),
)
async def test_entries_of_others_and_of_before_are_in_no_figure(
    database: Database, other: dict[str, object]
) -> None:
    entries = EntryStore(database)
    silent = replace(ENTRY, seq=3, trade_id="t3", signal=None)
    held = replace(ENTRY, seq=2, trade_id="t2", open_shares=4)
    own = [ENTRY, held, silent]
    foreign = [replace(one, seq=one.seq + 3, trade_id=f"f{one.seq}", **other) for one in own]
    await entries.take([*own, *foreign], (), 6)
    decided, open_ones = entries.sums(WANTED, ())
    assert (decided.bought, decided.gained, open_ones.bought, open_ones.held) == (1, 4, 1, 4)
    assert (len(entries.replay(WANTED)), len(entries.signals_lately(WANTED))) == (2, 2)
    assert entries.silent(WANTED) == 1


@pytest.mark.parametrize(("is_max", "passed"), [(False, 3), (True, 2)], ids=["least", "most"])
async def test_a_figure_at_its_bound_passes(
    database: Database, *, is_max: bool, passed: int
) -> None:
    entries = EntryStore(database)
    await entries.take([numbered(seq) for seq in (1, 2, 3, 4)], (), 4)
    (decided,) = entries.sums(WANTED, (Bound("n", is_max, 2.0),))
    assert (decided.bought, decided.passed, decided.passed_gained, decided.won) == (
        4, passed, 4 * passed, passed
    )  # fmt: skip


async def test_held_entries_are_those_with_open_shares_oldest_first(database: Database) -> None:
    entries = EntryStore(database)
    second, first = numbered(2, open_shares=4), numbered(1, open_shares=4)
    sold, elsewhere = numbered(3), numbered(4, open_shares=4, market_id="other")
    await entries.take([second, first, sold, elsewhere], (), 4)
    assert entries.held("heron", "m") == [first, second]
    assert entries.held("stork", "m") == []


async def test_a_sale_changes_an_entry_and_its_place_in_the_journal_is_kept(
    database: Database,
) -> None:
    entries = EntryStore(database)
    assert entries.read_to() == 0
    await entries.take([numbered(1, open_shares=10, back=0)], (), 7)
    sold = numbered(1, open_shares=4, back=6)
    await entries.take((), [sold], 9)
    assert (entries.of_trade("t1"), entries.of_trade("t2"), entries.read_to()) == (sold, None, 9)


@pytest.mark.parametrize(
    ("other", "key", "is_there"),
    [
        ({}, "edge", True),
        ({}, "odds", False),
        ({}, "edge.deep", False),
        ({"signal": None}, "edge", False),
        ({"signal": '{"edge": null}'}, "edge", False),
        ({"signal": '{"a.b c": 1}'}, "a.b c", True),
        ({"agent_id": "stork"}, "edge", False),
        ({"skill": "snow"}, "edge", False),
        ({"venue": "evm_venue"}, "edge", False),
        ({"at": 99.9}, "edge", False),
        ({"shares": 0}, "edge", False),
    ],
)
async def test_a_figure_is_carried_where_a_wanted_buy_came_with_it(
    other: dict[str, Any], key: str, *, is_there: bool
) -> None:
    entries = EntryStore(MemoryDatabase())
    await entries.take([replace(ENTRY, **other)], (), 1)
    assert entries.carries(WANTED, key) is is_there
