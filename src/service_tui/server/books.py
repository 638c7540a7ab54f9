"""Whether the books of a data directory add up: they are made again from the journal.

Changes nothing.
"""

from dataclasses import dataclass

from service_tui.engine.codec.events import NewerJournalError
from service_tui.engine.world import World
from service_tui.server.world_store import replay, world_in
from service_tui.storage.db.database import Database
from service_tui.storage.errors import DamagedRowsError, StorageError
from service_tui.storage.journal import Journal


@dataclass(frozen=True, slots=True)
class Books:
    """What making the books again came to. `problem` is empty where they add up."""

    row: int
    accounts: int
    problem: str = ""


def books_of(database: Database) -> Books | None:
    """Replay the journal from the older snapshot, and compare with the newer one on the way.

    Args:
        database: nobody writes to it meanwhile.

    Returns:
        How far the books go; None where nothing has happened yet.
    """
    journal = Journal(database)
    try:
        readable = [(one.seq, world_in(one)) for one in journal.readable()]
        worlds = [(seq, world) for seq, world in reversed(readable) if world is not None]
        if not worlds:
            return Books(0, 0, "no snapshot of it makes sense") if readable else None
        return _compared(journal, worlds)
    except (NewerJournalError, DamagedRowsError, StorageError) as error:
        return Books(0, 0, str(error))


def _compared(journal: Journal, worlds: list[tuple[int, World]]) -> Books:
    row, world = worlds[0]
    for seq, later in worlds[1:]:
        row = replay(journal, world, row, until=seq)
        if odd := _difference(_held(world), _held(later)):
            return Books(row, len(_held(world)), f"at row {seq} {odd}")
    row = replay(journal, world, row)
    total = world.ledger.total()
    odd = f"all accounts sum to {total} micros, not to zero" if total else ""
    return Books(row, len(_held(world)), odd)


def _held(world: World) -> dict[str, int]:
    return {name: held for name, held in world.ledger.balances().items() if held}


def _difference(made: dict[str, int], kept: dict[str, int]) -> str:
    """The first account whose balance is not what its rows come to; empty where all are."""
    for name in sorted(made.keys() | kept.keys()):
        if made.get(name, 0) != kept.get(name, 0):
            return f"{name} has {kept.get(name, 0)} micros, its rows come to {made.get(name, 0)}"
    return ""
