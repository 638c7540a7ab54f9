"""Markets that ended are kept where an agent had to do with them, and read by their ids."""

import pytest

from kit.service.memory import MemoryDatabase
from service_tui.outcome import NO, VOID, YES, Outcome
from service_tui.storage import ended_markets
from service_tui.storage.ended_markets import EndedHead, EndedMarket, EndedMarkets, keep

_JOURNAL = (
    "INSERT INTO journal (seq, at, kind, agent_id, market_id, body) VALUES (?, 1, ?, ?, ?, '')"
)


@pytest.fixture
def database() -> MemoryDatabase:
    return MemoryDatabase()


def ended(market_id: str, *, outcome: Outcome = YES, body: str = "{}") -> EndedMarket:
    head = EndedHead(market_id, f"Rain in {market_id}?", "sim", outcome.stored, 5.0, 7.0)
    return EndedMarket(head, lambda: body)


async def put(
    database: MemoryDatabase, *markets: EndedMarket, rows: tuple[tuple[object, ...], ...]
) -> None:
    def work(connection: ended_markets.WriteConnection) -> None:
        connection.executemany(_JOURNAL, rows)
        keep(connection, markets)

    await database.write(work)


def traded(*market_ids: str) -> tuple[tuple[object, ...], ...]:
    return tuple((seq, "fill", "heron", one) for seq, one in enumerate(market_ids, 1))


async def test_only_a_market_that_an_agent_has_rows_about_is_kept(database: MemoryDatabase) -> None:
    def never() -> str:
        raise AssertionError("a text that is not stored is not made")

    unknown = EndedMarket(ended("m3").head, never)
    rows = (*traded("m1"), (2, "crowd", None, "m3"), (3, "fill", "heron", "m4"))
    await put(database, ended("m1", body="one"), unknown, ended("m4", outcome=NO), rows=rows)

    stored = EndedMarkets(database)
    wanted = ["m4", "m1", "m3", "none", "m1"]
    heads = stored.heads(wanted)
    assert heads == {"m1": ended("m1").head, "m4": ended("m4", outcome=NO).head}
    # Not 1 and 0, as the table has them: the head goes out as JSON.
    assert (heads["m1"].outcome, heads["m4"].outcome) == (True, False)
    assert stored.bodies(wanted) == {"m1": "one", "m4": "{}"}
    assert (stored.heads([]), stored.bodies([])) == ({}, {})


async def test_a_market_that_ends_once_more_keeps_its_first_row(database: MemoryDatabase) -> None:
    await put(database, ended("m1", body="first"), rows=traded("m1"))
    await put(database, ended("m1", outcome=NO, body="second"), rows=())
    assert EndedMarkets(database).bodies(["m1"]) == {"m1": "first"}
    assert EndedMarkets(database).heads(["m1"])["m1"].outcome is True


@pytest.mark.parametrize("count", [1, 2, 3, 4, 5])
async def test_more_ids_than_fit_one_question_are_all_read(
    database: MemoryDatabase, monkeypatch: pytest.MonkeyPatch, count: int
) -> None:
    monkeypatch.setattr(ended_markets, "_CHUNK", 2)
    ids = [f"m{number}" for number in range(count)]
    await put(database, *[ended(one, body=one) for one in ids], rows=traded(*ids))
    assert EndedMarkets(database).bodies([*ids, *ids]) == {one: one for one in ids}
    assert [*EndedMarkets(database).heads(ids)] == ids


async def test_what_an_older_program_left_out_is_filled_in_once(database: MemoryDatabase) -> None:
    stored = EndedMarkets(database)
    assert stored.is_filled_in() is False
    for seq in (7, 9):
        await stored.mark_filled_in(seq)
        assert stored.is_filled_in() is True
        assert database.rows("SELECT one, seq FROM endedfilled", {}) == [(1, seq)]


@pytest.mark.parametrize(
    "outcome", [YES, NO, VOID, Outcome.at(0.35), Outcome.at(0.000_001), Outcome.at(0.999_999)]
)
async def test_an_end_of_every_kind_is_read_as_it_was(
    database: MemoryDatabase, outcome: Outcome
) -> None:
    await put(database, ended("m1", outcome=outcome), rows=traded("m1"))
    assert EndedMarkets(database).heads(["m1"]) == {"m1": ended("m1", outcome=outcome).head}
