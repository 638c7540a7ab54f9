"""A data directory: locked, open, closed, and set aside where it is damaged."""

import asyncio
from contextlib import ExitStack
from pathlib import Path

import pytest

from service_tui.app.data import Data, open_beside, open_data, open_data_of
from service_tui.app.options import BESIDE, BESIDE_MAX, Options
from service_tui.clock import ManualClock
from service_tui.storage.db.connection import DATABASE_FILE
from service_tui.storage.db.lock import DataDirLock
from service_tui.storage.errors import (
    CorruptDatabaseError,
    DamagedFileError,
    DamagedRowsError,
    DirectoryLockedError,
)

CLOCK = ManualClock(77.0)


async def in_use(folder: Path) -> Data:
    """Use a directory, and fall over in it."""
    async with open_data(folder, CLOCK) as data:
        data.publish("http://here")
        with pytest.raises(DirectoryLockedError) as held:
            await opened(folder)
        assert held.value.holder.address == "http://here"
        await data.database.write(lambda connection: connection.execute("SELECT 1"))
    # Whoever has let it go publishes nothing.
    data.publish("http://here")
    return data


async def opened(folder: Path, failure: Exception | None = None) -> None:
    async with open_data(folder, CLOCK):
        if failure is not None:
            raise failure


async def test_a_directory_belongs_to_one_and_is_let_go_also_by_who_fails(tmp_path: Path) -> None:
    await in_use(tmp_path / "d")
    with pytest.raises(RuntimeError, match="fell over"):
        await opened(tmp_path / "d", RuntimeError("fell over"))
    await in_use(tmp_path / "d")


@pytest.mark.parametrize(
    "damage", [DamagedFileError("page 7 is wrong"), DamagedRowsError("row 9 is wrong", seq=9)]
)
def test_what_is_damaged_is_closed_and_then_set_aside(tmp_path: Path, damage: Exception) -> None:
    with pytest.raises(CorruptDatabaseError, match="is wrong") as found:
        asyncio.run(opened(tmp_path, damage))
    assert found.value.__cause__ is damage
    assert not (tmp_path / DATABASE_FILE).exists()
    assert list(tmp_path.glob(f"{DATABASE_FILE}*corrupt*"))
    # The directory is free: what follows is the person's choice.
    DataDirLock.acquire(tmp_path, pid=1, now=77.0).release()


async def test_an_attached_desk_takes_the_first_place_that_is_free(tmp_path: Path) -> None:
    with ExitStack() as held:
        for place in range(1, BESIDE_MAX + 1):
            async with open_beside(tmp_path, CLOCK) as data:
                assert data.database.path == tmp_path / BESIDE / str(place) / DATABASE_FILE
            lock = DataDirLock.acquire(tmp_path / BESIDE / str(place), pid=1, now=77.0)
            held.callback(lock.release)
        assert (tmp_path / BESIDE).stat().st_mode & 0o777 == 0o700
        with pytest.raises(DirectoryLockedError):
            async with open_beside(tmp_path, CLOCK):
                raise AssertionError


@pytest.mark.parametrize("read_only", [True, False])
async def test_a_desk_of_another_service_that_only_reads_may_stand_beside_its_owner(
    tmp_path: Path, *, read_only: bool
) -> None:
    folder = tmp_path / "d"
    options = Options(folder, tmp_path / "c", tmp_path / "log", read_only=read_only)
    async with open_data_of(options, CLOCK) as data:
        assert data.database.path.parent == folder
        if read_only:
            async with open_data_of(options, CLOCK) as beside:
                assert beside.database.path.parent == folder / BESIDE / "1"
            return
        with pytest.raises(DirectoryLockedError):
            async with open_data_of(options, CLOCK):
                raise AssertionError
