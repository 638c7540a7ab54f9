"""The journal: rows, indexes and pruning."""

import sqlite3
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest

from kit.service.memory import MemoryDatabase
from service_tui.storage.agent_rows import AgentRows
from service_tui.storage.answers import KEPT_S, Answer, Answers, remember
from service_tui.storage.db.database import Database
from service_tui.storage.db.lock import DataDirLock
from service_tui.storage.errors import (
    DamagedRowsError,
    DuplicateAnswerError,
    JournalOrderError,
    StorageFullError,
)
from service_tui.storage.journal import History, JournalRow, JournalStore, Snapshot
from service_tui.storage.opening import open_database
from service_tui.storage.world_database import WriteConnection

NOW = 1_800_000_000.0


def row(seq: int, kind: str = "trade", *, agent: str = "a", market: str = "m") -> JournalRow:
    return JournalRow(seq, NOW + seq, kind, agent, market, f'{{"n": {seq}}}')


def crowd(seq: int) -> JournalRow:
    return JournalRow(seq, NOW + seq, "crowd", None, None, "[]")


def answer(key: str = "k", *, agent: str = "a", at: float = NOW) -> Answer:
    return Answer(agent, key, "/api/sdk/trade", "hash", '{"success": true}', at)


def seqs(journal: JournalStore, after: int = 0) -> list[int]:
    return [row.seq for row in journal.rows_after(after)]


async def test_rows_come_back_as_they_were_written(database: Database) -> None:
    journal = JournalStore(database)
    rows = [row(1), crowd(2), row(3, "payout", agent="b", market="m2")]
    await journal.append(rows[:1])
    await journal.append(rows[1:])
    assert list(journal.rows_after(0)) == rows
    assert list(journal.rows_after(2)) == rows[2:]
    assert journal.last_seq() == 3


async def test_an_empty_journal_says_so(database: Database) -> None:
    journal = JournalStore(database)
    assert journal.last_seq() == 0
    assert seqs(journal) == []
    assert journal.snapshots() == []
    await journal.append([])
    assert journal.last_seq() == 0


async def test_a_long_replay_is_read_in_chunks(database: Database) -> None:
    journal = JournalStore(database, chunk=7)
    await journal.append([row(seq) for seq in range(1, 22)])
    assert seqs(journal) == list(range(1, 22))
    await journal.append([row(22)])
    assert seqs(journal, 5) == list(range(6, 23))


@pytest.mark.parametrize(
    ("numbers", "expected", "found"),
    [
        ([4], 3, 4),
        ([2], 3, 2),
        ([2, 3], 3, 2),
        ([3, 5], 4, 5),
        ([3, 3], 4, 3),
        ([4, 3], 5, 3),
        ([0], 3, 0),
    ],
)
async def test_a_gap_or_a_repetition_is_refused_whole(
    database: Database, *, numbers: list[int], expected: int, found: int
) -> None:
    journal = JournalStore(database)
    await journal.append([row(1), row(2)])
    with pytest.raises(JournalOrderError) as refused:
        await journal.append([row(number) for number in numbers])
    assert (refused.value.expected, refused.value.seq) == (expected, found)
    assert seqs(journal) == [1, 2]
    await journal.append([row(3)])


async def test_a_row_behind_a_refused_one_is_refused_as_well(database: Database) -> None:
    journal = JournalStore(database)
    broken = JournalRow(1, NOW, "trade", "a", "m", "\ud800")
    following = row(2)
    with pytest.raises(UnicodeEncodeError):
        await journal.append([broken])
    with pytest.raises(JournalOrderError):
        await journal.append([following])
    assert journal.last_seq() == 0


async def test_an_append_on_a_full_disk_leaves_what_was_acknowledged(database: Database) -> None:
    journal = JournalStore(database)
    await journal.append([row(1)])
    await database.write(lambda connection: connection.execute("PRAGMA max_page_count=1"))
    acknowledged = 1

    async def trade_on() -> None:
        nonlocal acknowledged
        for seq in range(2, 5000):
            await journal.append([JournalRow(seq, NOW, "trade", "a", "m", "x" * 900)])
            acknowledged = seq

    with pytest.raises(StorageFullError):
        await trade_on()
    assert seqs(journal) == list(range(1, acknowledged + 1))


async def test_the_history_of_an_agent_is_its_own_and_newest_first() -> None:
    journal = JournalStore(MemoryDatabase())
    await journal.append([
        row(1),
        row(2, agent="b"),
        crowd(3),
        row(4, "payout"),
        row(5, market="m2"),
        row(6, "login"),
        row(7),
    ])
    kinds = ("trade", "payout")

    def found(history: History, limit: int = 50, offset: int = 0) -> tuple[list[int], int]:
        rows, total = journal.rows_of(history, limit=limit, offset=offset)
        return [one.seq for one in rows], total

    assert found(History("a", kinds)) == ([7, 5, 4, 1], 4)
    assert found(History("a", kinds), limit=2) == ([7, 5], 4)
    assert found(History("a", kinds), limit=2, offset=3) == ([1], 4)
    assert found(History("a", ("payout",))) == ([4], 1)
    assert found(History("a", kinds, market_id="m")) == ([7, 4, 1], 3)
    assert found(History("a", kinds, since=NOW + 4, until=NOW + 7)) == ([5, 4], 2)
    assert found(History("a", kinds, market_id="m2", until=NOW + 6)) == ([5], 1)
    assert found(History("nobody", kinds)) == ([], 0)
    assert found(History("a", ())) == ([], 0)


async def test_history_and_pruning_read_through_their_indexes(database: Database) -> None:
    statements: list[str] = []
    await database.write(lambda connection: connection.set_trace_callback(statements.append))
    journal = JournalStore(database)
    await journal.append([crowd(1), crowd(2)])
    for seq in (1, 2):
        await journal.add_snapshot(Snapshot(seq, NOW, b""))
    await journal.prune_tape(2)
    (prune,) = {text for text in statements if text.startswith("DELETE FROM journal")}

    def plan(connection: sqlite3.Connection, query: str) -> str:
        return str(connection.execute(f"EXPLAIN QUERY PLAN {query}").fetchall())

    of_agent = "SELECT count(*) FROM journal WHERE agent_id = 'a' AND kind IN ('trade')"
    assert "journal_by_kind" in await database.write(lambda c: plan(c, of_agent))
    page = "SELECT seq FROM journal WHERE agent_id = 'a' AND kind {} ORDER BY seq DESC LIMIT 9"
    for kinds, index in (("IN ('fill', 'payout')", "by_agent"), ("= 'fill'", "by_kind")):
        found = await database.write(lambda c, kinds=kinds: plan(c, page.format(kinds)))
        assert f"journal_{index}" in found
        assert "TEMP B-TREE" not in found
    assert "journal_of_the_tape" in await database.write(lambda c: plan(c, prune))


async def test_the_last_two_snapshots_are_kept(database: Database) -> None:
    journal = JournalStore(database)
    await journal.append([row(seq) for seq in range(1, 31)])
    for seq in (10, 20, 30):
        await journal.add_snapshot(Snapshot(seq, NOW + seq, b"world" * seq))
    assert journal.snapshots() == [
        Snapshot(30, NOW + 30, b"world" * 30),
        Snapshot(20, NOW + 20, b"world" * 20),
    ]


async def test_a_snapshot_cannot_be_ahead_of_the_journal(database: Database) -> None:
    journal = JournalStore(database)
    await journal.append([row(1)])
    with pytest.raises(JournalOrderError):
        await journal.add_snapshot(Snapshot(2, NOW, b""))
    await journal.add_snapshot(Snapshot(1, NOW, b"first"))
    await journal.add_snapshot(Snapshot(1, NOW, b"again"))
    assert journal.snapshots() == [Snapshot(1, NOW, b"again")]


async def test_the_snapshot_before_stands_in_for_one_that_cannot_be_read(
    database: Database,
) -> None:
    journal = JournalStore(database)
    await journal.append([row(1), row(2)])
    for seq in (1, 2):
        await journal.add_snapshot(Snapshot(seq, NOW, b"world"))
    spoil = "UPDATE snapshots SET body = x'00ff' WHERE seq = ?"
    await database.write(lambda c: c.execute(spoil, (2,)))
    assert journal.snapshots() == [Snapshot(1, NOW, b"world")]
    aside = database.path.with_name(f"{database.path.name}.corrupt-snapshot-2")
    assert aside.read_bytes() == b"\x00\xff"
    await database.write(lambda c: c.execute(spoil, (1,)))
    with pytest.raises(DamagedRowsError, match="no snapshot"):
        journal.snapshots()


@pytest.mark.parametrize(
    ("damage", "said"),
    [
        ("DELETE FROM journal WHERE seq = 21", "1 rows of the journal after row 10 are missing"),
        ("DELETE FROM journal WHERE seq IN (11, 30)", "2 rows of the journal after row 10"),
        ("DELETE FROM journal WHERE seq > 18", "ends at row 18, and its snapshot was taken"),
        ("DELETE FROM snapshots", "32 rows and no snapshot"),
        ("UPDATE snapshots SET seq = seq + 1000", "ends at row 32"),
    ],
)
async def test_a_hole_where_no_row_may_be_missing_is_told(
    database: Database, damage: str, said: str
) -> None:
    journal = JournalStore(database)
    await journal.append([crowd(seq) for seq in range(1, 33)])
    for seq in (10, 20):
        await journal.add_snapshot(Snapshot(seq, NOW, b"world"))
    await journal.prune_tape(100)
    journal.check()
    await database.write(lambda c: c.execute(damage))
    with pytest.raises(DamagedRowsError, match=said):
        journal.snapshots()
    with pytest.raises(DamagedRowsError, match=said):
        journal.check()


async def test_of_the_tape_everything_is_forgotten_and_of_agents_nothing(
    database: Database,
) -> None:
    journal = JournalStore(database)
    kinds = ("crowd", "listed", "resolved", "agent", "change", "speed", "fill", "payout")
    of_agents = {"fill", "payout"}
    await journal.append([
        JournalRow(seq, NOW, kind, "a" if kind in of_agents else None, None, "{}")
        for seq, kind in enumerate((*kinds, *kinds), start=1)
    ])
    for seq in (9, 16):
        await journal.add_snapshot(Snapshot(seq, NOW, b""))
    assert await journal.prune_tape(100) == 3
    assert [one.kind for one in journal.rows_after(0)] == [*kinds[3:], *kinds]


async def test_only_the_tape_before_both_snapshots_is_forgotten(database: Database) -> None:
    journal = JournalStore(database, chunk=3)
    await journal.append([row(seq) if seq % 3 == 0 else crowd(seq) for seq in range(1, 41)])
    assert await journal.prune_tape(40) == 0
    await journal.add_snapshot(Snapshot(20, NOW, b""))
    assert await journal.prune_tape(40) == 0
    await journal.add_snapshot(Snapshot(35, NOW, b""))
    assert await journal.prune_tape(10) == 6
    assert await journal.prune_tape(40) == 7
    left = seqs(journal)
    assert [seq for seq in left if seq < 20] == [3, 6, 9, 12, 15, 18]
    assert [seq for seq in left if seq >= 20] == list(range(20, 41))
    await journal.append([row(41)])


async def test_rows_of_agents_outlive_any_pruning(directory: Path, lock: DataDirLock) -> None:
    database = open_database(directory, now=NOW, lock=lock)
    journal = JournalStore(database)
    await journal.append([crowd(seq) for seq in range(1, 6)])
    for seq in (4, 5):
        await journal.add_snapshot(Snapshot(seq, NOW, b""))
    assert await journal.prune_tape(100) == 3
    database.close(NOW)
    again = open_database(directory, now=NOW, lock=lock)
    journal = JournalStore(again)
    assert journal.last_seq() == 5
    await journal.append([row(6)])
    assert all(after == before + 1 for before, after in pairwise(seqs(journal)))
    again.close(NOW)


async def test_an_answer_is_written_with_its_rows_or_not_at_all(database: Database) -> None:
    journal, answers = JournalStore(database), Answers(database)
    await journal.append([row(1)], answer=answer())
    assert answers.find("a", "k", now=NOW) == answer()
    with pytest.raises(DuplicateAnswerError):
        await journal.append([row(2)], answer=answer())
    assert journal.last_seq() == 1
    with pytest.raises(JournalOrderError):
        await journal.append([row(5)], answer=answer("other"))
    assert answers.find("a", "other", now=NOW) is None
    await journal.append([], answer=answer("refused"))
    assert answers.find("a", "refused", now=NOW) == answer("refused")


async def test_agents_do_not_see_each_others_answers(database: Database) -> None:
    journal, answers = JournalStore(database), Answers(database)
    await journal.append([row(1)], answer=answer())
    assert answers.find("b", "k", now=NOW) is None
    await journal.append([row(2, agent="b")], answer=answer(agent="b"))
    assert answers.find("b", "k", now=NOW) == answer(agent="b")


async def test_an_answer_is_forgotten_after_a_day(database: Database) -> None:
    journal, answers = JournalStore(database), Answers(database)
    await journal.append([row(1)], answer=answer())
    assert answers.find("a", "k", now=NOW + KEPT_S - 1) is not None
    assert answers.find("a", "k", now=NOW + KEPT_S) is None
    # The old one stands in nobody's way, though nobody has swept it out.
    later = answer(at=NOW + KEPT_S)
    await journal.append([row(2)], answer=later)
    await journal.append([], answer=answer("old"))
    assert await answers.forget_old(NOW + KEPT_S) == 1
    assert answers.find("a", "k", now=NOW + KEPT_S) == later


async def test_how_positions_ended_is_read_by_venue_along_its_index(database: Database) -> None:
    def end(seq: int, venue: str, kind: str = "sold_out") -> JournalRow:
        return JournalRow(seq, NOW + seq, kind, "a", "m", "[]", venue)

    rows = [end(1, "sim"), end(2, "evm"), end(3, "sim"), end(4, "sim", "payout"), row(5)]
    await JournalStore(database).append([*rows, end(6, "evm", "settled"), end(7, "sol", "settled")])
    statements: list[str] = []
    ends = AgentRows(database)

    def seqs_of(venue: str, *kinds: str, before: int | None = None, limit: int = 9) -> list[int]:
        found = ends.ends_before(("a", venue), kinds, before, limit=limit)
        return [one.seq for one in found]

    assert seqs_of("sim", "sold_out", "payout") == [4, 3, 1]
    assert seqs_of("sim", "sold_out", "payout", before=4) == [3, 1]
    assert seqs_of("evm", "sold_out", "settled") == [6, 2]
    assert seqs_of("evm", "sold_out", "settled", limit=1) == [6]
    with database.reader() as connection:
        connection.set_trace_callback(statements.append)
    seqs_of("evm", "sold_out", before=9)
    (query,) = {text for text in statements if text.startswith("SELECT seq")}
    found = await database.write(lambda c: c.execute(f"EXPLAIN QUERY PLAN {query}").fetchall())
    assert "journal_by_venue (agent_id=? AND kind=? AND venue=? AND seq<?)" in str(found)
    assert "TEMP B-TREE" not in str(found)


async def test_what_stands_beside_rows_is_written_with_them_or_not_at_all(
    database: Database,
) -> None:
    journal, answers = JournalStore(database), Answers(database)
    mine = answer("beside")
    await journal.append([row(1)], beside=lambda connection: remember(connection, mine))
    assert answers.find("a", "beside", now=NOW) == mine

    def failing(connection: WriteConnection) -> None:
        remember(connection, answer("failed"))
        raise StorageFullError("no room")

    with pytest.raises(StorageFullError):
        await journal.append([row(2)], beside=failing)
    assert seqs(journal) == [1]
    assert answers.find("a", "failed", now=NOW) is None


async def test_rows_of_agents_are_those_behind_a_row_of_these_kinds(database: Database) -> None:
    journal = JournalStore(database)
    rows = [row(1), crowd(2), row(3, "payout"), row(4, agent="b"), row(5, "order"), row(6)]
    crowded = replace(crowd(7), kind="trade")
    await journal.append([*rows, crowded])

    def found(after: int, *kinds: str, limit: int = 9) -> list[int]:
        return [one.seq for one in journal.rows_of_agents(after, kinds, limit=limit)]

    assert found(0, "trade", "payout") == [1, 3, 4, 6]
    assert found(1, "trade", "payout") == [3, 4, 6]
    assert found(0, "trade", "payout", limit=2) == [1, 3]
    assert found(6, "trade") == []
