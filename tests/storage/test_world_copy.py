"""A world is copied whole, table by table and chunk by chunk, and compared afterwards."""

from collections.abc import Callable
from typing import Any

import pytest

from kit.service.memory import MemoryDatabase
from service_tui.storage import world_copy
from service_tui.storage.errors import StorageError
from service_tui.storage.world_copy import WorldCopy, copy_world, count_of, digest_of

WORLD = ("snapshots", "entriesread", "endedfilled")


@pytest.fixture(autouse=True)
def small_world(monkeypatch: pytest.MonkeyPatch) -> None:
    """A world of three tables, read two rows at a time."""
    monkeypatch.setattr(world_copy, "WORLD", WORLD)
    monkeypatch.setattr(world_copy, "_CHUNK", 2)


async def world(*seqs: int, read_to: int | None = None) -> MemoryDatabase:
    def work(connection: Any) -> None:
        rows = [(seq, 1.5, b"\0x") for seq in seqs]
        connection.executemany("INSERT INTO snapshots VALUES (?, ?, ?)", rows)
        if read_to is not None:
            connection.execute("INSERT INTO entriesread VALUES (1, ?)", (read_to,))

    made = MemoryDatabase()
    await made.write(work)
    return made


@pytest.mark.parametrize("count", [0, 1, 2, 5])
async def test_every_row_of_every_table_is_copied_and_counted(count: int) -> None:
    source, target = await world(*range(count), read_to=9), await world()
    copy = await copy_world(source, target)
    assert copy == WorldCopy(rows=count + 1, digest=digest_of(source))
    assert (count_of(source), count_of(target)) == (count + 1, count + 1)
    assert target.rows("SELECT seq, at, body FROM snapshots ORDER BY seq", {}) == [
        (seq, 1.5, b"\0x") for seq in range(count)
    ]
    assert target.rows("SELECT seq FROM entriesread", {}) == [(9,)]


async def test_an_empty_world_is_copied_as_it_is() -> None:
    source, target = await world(), await world()
    assert (await copy_world(source, target)).rows == 0


@pytest.mark.parametrize("there", [{"read_to": 1}, {"seqs": (0,)}])
async def test_a_target_with_a_row_in_any_table_is_refused(there: dict[str, Any]) -> None:
    target = await world(*there.pop("seqs", ()), **there)
    before = digest_of(target)
    with pytest.raises(StorageError, match="holds a world already"):
        await copy_world(await world(1), target)
    assert digest_of(target) == before


async def test_a_digest_is_that_of_the_rows_whatever_their_order() -> None:
    one, other = await world(1, 2, 3), await world(3, 1, 2)
    assert digest_of(one) == digest_of(other)
    assert len(digest_of(one)) == 64
    unlike = [await world(1, 2), await world(1, 2, 4), await world(1, 2, 3, read_to=0)]
    # The same row in another table is another world.
    moved = await world(1, 2, 3)
    await moved.write(
        lambda connection: connection.execute("INSERT INTO endedfilled VALUES (1, 0)")
    )
    unlike.append(moved)
    assert len({digest_of(each) for each in (one, *unlike)}) == 5


async def test_a_copy_that_came_to_other_rows_is_not_to_be_used() -> None:
    class Losing(MemoryDatabase):
        async def write(self, work: Callable[[Any], Any]) -> Any:
            done = await super().write(work)
            await super().write(lambda connection: connection.execute("DELETE FROM entriesread"))
            return done

    with pytest.raises(StorageError, match="differs from its source; do not use it"):
        await copy_world(await world(1, read_to=1), Losing())
