"""Rows of the journal by agent and market: which ones, in which order, from where on."""

import pytest

from kit.service.memory import MemoryDatabase
from service_tui.storage.agent_rows import AgentRows
from service_tui.storage.journal import JournalRow, JournalStore

NOW = 1_800_000_000.0

ROWS = [
    ("payout", "ada", "m1", "sim"),
    ("lost", "ada", "m2", "evm_venue"),
    ("payout", "bea", "m1", "sim"),
    ("settled", "ada", "m1", "evm_venue"),
    ("fill", "ada", "m1", None),
    ("lost", "ada", "m3", "sol_venue"),
    ("payout", "ada", "m1", "sim"),
    ("lost", "ada", "m4", "evm_venue"),
    ("payout", None, "m1", None),
]


@pytest.fixture
def database() -> MemoryDatabase:
    return MemoryDatabase()


@pytest.fixture
async def rows(database: MemoryDatabase) -> AgentRows:
    journal = JournalStore(database)
    await journal.append([
        JournalRow(number, NOW + number, kind, agent, market, "[]", venue)
        for number, (kind, agent, market, venue) in enumerate(ROWS, start=1)
    ])
    return AgentRows(database)


def seqs(found: list[JournalRow]) -> list[int]:
    return [one.seq for one in found]


def test_rows_of_a_market_are_those_of_all_agents_oldest_first(rows: AgentRows) -> None:
    assert seqs(rows.of_market("m1", ("payout", "settled"))) == [1, 3, 4, 7]
    assert seqs(rows.of_market("m1", ("fill",))) == [5]
    assert rows.of_market("m9", ("payout",)) == []


def test_ends_are_those_of_an_agent_on_a_venue_newest_first(rows: AgentRows) -> None:
    kinds = ("settled", "lost", "payout")

    def found(venue: str, before: int | None = None, limit: int = 9, who: str = "ada") -> list[int]:
        return seqs(rows.ends_before((who, venue), kinds, before, limit=limit))

    assert found("evm_venue") == [8, 4, 2]
    assert found("sim") == [7, 1]
    assert found("sol_venue") == [6]
    assert found("sim", who="bea") == [3]
    assert found("evm_venue", before=8) == [4, 2]
    assert found("evm_venue", before=4) == [2]
    assert found("evm_venue", limit=2) == [8, 4]
    assert seqs(rows.ends_before(("ada", "evm_venue"), ("lost",), None, limit=9)) == [8, 2]


async def test_rows_of_people_are_the_newest_ones_first(database: MemoryDatabase) -> None:
    await JournalStore(database).append([
        JournalRow(number, NOW, "acted" if number % 2 else "fill", None, None, "[]")
        for number in range(1, 8)
    ])
    people = AgentRows(database)
    assert seqs(people.of_people(9)) == [7, 5, 3, 1]
    assert seqs(people.of_people(2)) == [7, 5]
