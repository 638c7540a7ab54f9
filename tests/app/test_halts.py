"""Whether a directory is halted, by the last word of all its consoles."""

import asyncio
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from service_tui.app.halts import is_halted
from service_tui.desk.slices.halt import HALT, KeptHalt
from service_tui.storage.cache import CacheStore
from service_tui.storage.db.lock import DataDirLock
from service_tui.storage.halt_mark import mark_halt
from service_tui.storage.opening import open_database
from service_tui.units import Timestamp


def keep(folder: Path, *, on: bool, at: float) -> None:
    """Store a console's word in its database."""
    lock = DataDirLock.acquire(folder, pid=os.getpid(), now=1.0)
    database = open_database(folder, now=1.0, lock=lock)
    word = KeptHalt(on=on, at=Timestamp(at)).as_text()
    asyncio.run(CacheStore(database).put_preference(HALT, word))
    database.close(1.0)
    lock.release()


def test_the_newest_word_of_all_consoles_counts(tmp_path: Path) -> None:
    assert not is_halted(tmp_path)
    keep(tmp_path / "attached" / "1", on=True, at=5.0)
    assert is_halted(tmp_path)
    keep(tmp_path, on=False, at=6.0)
    assert not is_halted(tmp_path)
    mark_halt(tmp_path, 7.0)
    assert is_halted(tmp_path)


def garbage(path: Path) -> None:
    path.write_bytes(b"no database")


def pipe_beside(path: Path) -> None:
    os.mkfifo(path.with_name(f"{path.name}-journal"))


@pytest.mark.parametrize("spoil", [garbage, pipe_beside])
def test_a_word_that_is_there_and_cannot_be_read_is_a_halt(
    tmp_path: Path, spoil: Callable[[Path], None]
) -> None:
    keep(tmp_path, on=False, at=6.0)
    assert not is_halted(tmp_path)
    spoil(tmp_path / "desk.sqlite3")
    assert is_halted(tmp_path)
