"""What the lock's file says of its holder, and what stands in a file's place."""

import os
from pathlib import Path

import pytest

from service_tui.storage.db import presence
from service_tui.storage.db.lock import LOCK_FILE, DataDirLock, holder_of
from service_tui.storage.errors import FileGoneError, Holder


def test_a_shorter_line_leaves_nothing_of_a_longer_one(tmp_path: Path) -> None:
    lock = DataDirLock.acquire(tmp_path, pid=7, now=5.0)
    lock.publish("http://127.0.0.1:12345")
    assert holder_of(tmp_path) == Holder(7, 5.0, "http://127.0.0.1:12345")
    lock.publish(None)
    assert len((tmp_path / LOCK_FILE).read_bytes().splitlines()) == 1
    assert holder_of(tmp_path) == Holder(7, 5.0, None)
    lock.release()


def test_an_address_that_is_no_text_is_none(tmp_path: Path) -> None:
    lock = DataDirLock.acquire(tmp_path, pid=7, now=5.0)
    (tmp_path / LOCK_FILE).write_text('{"pid": 7, "started_at": 5, "address": 80}\n')
    assert holder_of(tmp_path) == Holder(7, 5, None)
    lock.release()


@pytest.mark.parametrize("other", ["device", "inode"])
def test_the_same_number_on_another_device_is_another_file(tmp_path: Path, other: str) -> None:
    path = tmp_path / "desk.sqlite3"
    path.touch()
    status = os.stat(path)  # noqa: PTH116  (as the check itself)
    seen = (str(path), status.st_dev, status.st_ino)
    presence.check_seen(seen)
    with pytest.raises(FileGoneError, match="another file"):
        presence.check_seen((
            seen[0], seen[1] + (other == "device"), seen[2] + (other == "inode"),
        ))  # fmt: skip
