"""Acknowledged rows after a killed process."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from service_tui.storage.db.lock import DataDirLock
from service_tui.storage.journal import JournalStore
from service_tui.storage.opening import open_database

pytestmark = pytest.mark.process


NOW = 1_800_000_000.0

APPEND_FOR_EVER = """
import asyncio, itertools, os, sys
from pathlib import Path
from service_tui.storage.journal import JournalStore, JournalRow
from service_tui.storage.db.lock import DataDirLock
from service_tui.storage.opening import open_database

async def main():
    directory = Path(sys.argv[1])
    lock = DataDirLock.acquire(directory, pid=os.getpid(), now=0.0)
    journal = JournalStore(open_database(directory, now=0.0, lock=lock))
    seqs = itertools.count(journal.last_seq() + 1)
    async def trade():
        for seq in seqs:
            await journal.append([JournalRow(seq, 0.0, "trade", "a", "m", "x" * (seq % 700))])
            os.write(1, b"%d\\n" % seq)
    async with asyncio.TaskGroup() as group:
        for _ in range(5):
            group.create_task(trade())

asyncio.run(main())
"""


@pytest.mark.slow
@pytest.mark.parametrize("acknowledged", [1, 300])
def test_every_acknowledged_row_survives_a_kill_and_stands_once(
    directory: Path, acknowledged: int
) -> None:
    seen: list[int] = []
    for _ in range(2):
        with subprocess.Popen(
            [sys.executable, "-c", APPEND_FOR_EVER, str(directory)], stdout=subprocess.PIPE
        ) as program:
            assert program.stdout is not None
            heard = [program.stdout.readline() for _ in range(acknowledged)]
            program.send_signal(signal.SIGKILL)
            heard += program.stdout.read().splitlines(keepends=True)
        assert program.returncode == -signal.SIGKILL
        seen += [int(line) for line in heard if line.endswith(b"\n")]
    lock = DataDirLock.acquire(directory, pid=os.getpid(), now=NOW)
    database = open_database(directory, now=NOW, lock=lock)
    on_disk = [row.seq for row in JournalStore(database).rows_after(0)]
    assert on_disk == list(range(1, len(on_disk) + 1))
    assert set(seen) <= set(on_disk)
    assert len(set(seen)) == len(seen) >= 2 * acknowledged
    database.close(NOW)
    lock.release()
