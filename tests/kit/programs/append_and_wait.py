"""Appends rows to a journal and waits to be killed: `append_and_wait.py FOLDER ROWS SIZE HOW`."""

import asyncio
import os
import sys
from pathlib import Path

from service_tui.storage.db.lock import DataDirLock
from service_tui.storage.journal import JournalRow, JournalStore
from service_tui.storage.opening import open_database


async def main() -> None:
    directory, count, size = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
    with_lock = sys.argv[4] == "locked"
    lock = DataDirLock.acquire(directory, pid=os.getpid(), now=0.0)
    database = open_database(directory, now=0.0, lock=lock if with_lock else None)
    journal = JournalStore(database)
    first = journal.last_seq() + 1
    for seq in range(first, first + count):
        await journal.append([JournalRow(seq, 0.0, "fill", "a", "m", "x" * size)])
    sys.stdout.write("written\n")
    sys.stdout.flush()
    sys.stdin.read()


if __name__ == "__main__":
    asyncio.run(main())
