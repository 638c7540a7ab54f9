"""Checks that the books of a data directory add up, by replaying the journal.

Changes nothing.
"""

from dataclasses import dataclass

from service_tui.engine.codec.errors import NewerJournalError
from service_tui.engine.tape.topics import Topics
from service_tui.engine.world import World
from service_tui.server.world_store import replay, world_in
from service_tui.storage.errors import DamagedRowsError, StorageError
from service_tui.storage.journal import JournalStore
from service_tui.storage.world_database import WorldDatabase
from service_tui.units import Micros


@dataclass(frozen=True, slots=True)
class BooksCheck:
    """What making the books again came to. `problem` is empty where they add up."""

    row: int
    accounts: int
    problem: str = ""


def books_of(database: WorldDatabase, topics: Topics) -> BooksCheck | None:
    """Replay the journal from the older snapshot, and compare with the newer one on the way.

    Args:
        database: nobody writes to it meanwhile.
        topics: what the world's markets are about.

    Returns:
        How far the books go; None where nothing has happened yet.
    """
    journal = JournalStore(database)
    try:
        readable = [(one.seq, world_in(one, topics)) for one in journal.readable()]
        worlds = [(seq, world) for seq, world in reversed(readable) if world is not None]
        if not worlds:
            return BooksCheck(0, 0, "no snapshot of it makes sense") if readable else None
        return _compared(journal, worlds)
    except (NewerJournalError, DamagedRowsError, StorageError) as error:
        return BooksCheck(0, 0, str(error))


def _compared(journal: JournalStore, worlds: list[tuple[int, World]]) -> BooksCheck:
    row, world = worlds[0]
    for seq, later in worlds[1:]:
        row = replay(journal, world, row, until=seq)
        if odd := _difference(_balances(world), _balances(later)):
            return BooksCheck(row, len(_balances(world)), f"at row {seq} {odd}")
    row = replay(journal, world, row)
    total = world.ledger.total()
    odd = f"all accounts sum to {total} micros, not to zero" if total else ""
    return BooksCheck(row, len(_balances(world)), odd)


def _balances(world: World) -> dict[str, Micros]:
    return {name: amount for name, amount in world.ledger.balances().items() if amount}


def _difference(made: dict[str, Micros], kept: dict[str, Micros]) -> str:
    """The first account whose balance is not what its rows come to; empty where all are."""
    for name in sorted(made.keys() | kept.keys()):
        if made.get(name, 0) != kept.get(name, 0):
            return f"{name} has {kept.get(name, 0)} micros, its rows come to {made.get(name, 0)}"
    return ""
