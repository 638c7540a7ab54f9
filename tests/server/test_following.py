"""What a copy makes of the rows that it takes in together."""

from pathlib import Path

import pytest

from kit.engine.topics import TOPICS
from service_tui.engine.codec import events as codec
from service_tui.engine.events import Event, HaltSet, OperatorActed, kind_of
from service_tui.engine.world import World
from service_tui.server.following import FollowingStore
from service_tui.storage.db.database import Database
from service_tui.storage.errors import DamagedRowsError
from service_tui.storage.journal import JournalRow
from service_tui.units import Timestamp

AT = Timestamp(1_800_000_000.0)
ACTED = OperatorActed("ada", AT, "POST /api/desk/people/end", "eve")
HALTED = HaltSet(AT, halted=True)


def following(folder: Path, seq: int = 0) -> FollowingStore:
    database = Database(folder / "none", port=None, with_wal=False, timeout_s=0.1)
    return FollowingStore(database, (World(7, AT, TOPICS), seq))


def rows_of(*events: Event, after: int = 0) -> list[JournalRow]:
    return [
        JournalRow(seq, AT, kind_of(event), None, None, codec.encode(event))
        for seq, event in enumerate(events, start=after + 1)
    ]


@pytest.mark.parametrize(
    ("events", "has_acted"),
    [
        ((), False),
        ((HALTED,), False),
        ((ACTED,), True),
        ((HALTED, ACTED), True),
        ((ACTED, HALTED), True),
        ((HALTED, ACTED, HALTED), True),
    ],
)
def test_an_act_of_an_operator_is_reported_wherever_it_stands_among_the_rows(
    tmp_path: Path, events: tuple[Event, ...], *, has_acted: bool
) -> None:
    assert following(tmp_path).take(rows_of(*events)) is has_acted


def test_a_copy_is_at_the_last_row_that_it_took(tmp_path: Path) -> None:
    store = following(tmp_path, seq=4)
    store.take(rows_of(HALTED, ACTED, after=4))
    assert (store.seq, store.written_seq, store.world.halt.since) == (6, 6, AT)
    store.take(())
    assert (store.seq, store.written_seq) == (6, 6)


def test_rows_before_one_without_sense_have_happened_and_it_has_not(tmp_path: Path) -> None:
    store = following(tmp_path)
    good, bad = rows_of(HALTED, ACTED)
    with pytest.raises(DamagedRowsError):
        store.take([good, JournalRow(bad.seq, AT, bad.kind, None, None, "[]")])
    assert (store.seq, store.world.halt.since) == (1, AT)
