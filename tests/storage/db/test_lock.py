"""The lock of the data directory: permissions, takeover and links."""

import errno
import fcntl
import os
import signal
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from kit.desk.faults import broken_disk
from service_tui.storage.db import lock as lock_room
from service_tui.storage.db.lock import (
    LOCK_FILE,
    DataDirLock,
    holder_of,
    open_private,
    refuse_foreign_directory,
)
from service_tui.storage.errors import (
    DirectoryLockedError,
    Holder,
    LockUnavailableError,
    UnreadableDirectoryError,
)

NOW = 1_800_000_000.0

HOLD = """
import sys, time
from pathlib import Path
from service_tui.storage.db.lock import DataDirLock
lock = DataDirLock.acquire(Path(sys.argv[1]), pid=4242, now=5.0)
lock.publish("http://127.0.0.1:9")
print("held", flush=True)
time.sleep(60)
"""

as_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_directory_and_lock_file_are_for_us_alone(directory: Path) -> None:
    lock = DataDirLock.acquire(directory, pid=1, now=NOW)
    assert mode(directory) == 0o700
    assert mode(directory / LOCK_FILE) == 0o600
    lock.release()


def test_a_second_lock_hears_who_holds_the_first(directory: Path) -> None:
    lock = DataDirLock.acquire(directory, pid=4711, now=NOW)
    with pytest.raises(DirectoryLockedError, match="process 4711") as before:
        DataDirLock.acquire(directory, pid=2, now=NOW + 1)
    assert before.value.holder == Holder(pid=4711, since=NOW, address=None)
    lock.publish("http://127.0.0.1:8017")
    with pytest.raises(DirectoryLockedError) as after:
        DataDirLock.acquire(directory, pid=2, now=NOW + 1)
    assert after.value.holder == Holder(4711, NOW, "http://127.0.0.1:8017")
    lock.release()


def test_a_lock_that_is_not_got_leaves_no_file_open(
    directory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[int] = []
    lock = DataDirLock.acquire(directory, pid=1, now=NOW)
    really = os.open

    def noted(*given: Any) -> int:
        opened.append(really(*given))
        return opened[-1]

    monkeypatch.setattr(lock_room.os, "open", noted)
    with pytest.raises(DirectoryLockedError):
        DataDirLock.acquire(directory, pid=2, now=NOW)
    assert opened
    for descriptor in opened:
        with pytest.raises(OSError, match="Bad file descriptor"):
            os.fstat(descriptor)
    lock.release()


def test_asking_who_holds_it_takes_nothing_and_believes_no_dead_process(directory: Path) -> None:
    assert holder_of(directory) is None
    lock = DataDirLock.acquire(directory, pid=4711, now=NOW)
    lock.publish("http://127.0.0.1:8017")
    assert holder_of(directory) == Holder(4711, NOW, "http://127.0.0.1:8017")
    left = (directory / LOCK_FILE).read_bytes()
    lock.release()
    (directory / LOCK_FILE).write_bytes(left)
    assert holder_of(directory) is None
    second = DataDirLock.acquire(directory, pid=2, now=NOW)
    second.release()


@pytest.mark.parametrize("since", [NOW, 0.0, 1e30, float("nan"), None])
def test_a_holder_is_told_in_words_whatever_its_file_says(since: float | None) -> None:
    words = Holder(7, since, None).describe()
    assert words.startswith("process 7")
    assert ("since 2027-01-1" in words) is (since == NOW)


def test_a_shorter_address_leaves_nothing_of_the_longer_one(directory: Path) -> None:
    lock = DataDirLock.acquire(directory, pid=4711, now=NOW)
    lock.publish("http://127.0.0.1:65000/a/long/way")
    lock.publish(None)
    with pytest.raises(DirectoryLockedError) as refused:
        DataDirLock.acquire(directory, pid=2, now=NOW)
    assert refused.value.holder.address is None
    lock.release()


def test_a_released_lock_is_free_and_says_nothing(directory: Path) -> None:
    first = DataDirLock.acquire(directory, pid=1, now=NOW)
    first.release()
    first.release()
    assert not first.is_ours
    assert (directory / LOCK_FILE).read_bytes() == b""
    with pytest.raises(LockUnavailableError):
        first.publish("http://127.0.0.1:1")
    second = DataDirLock.acquire(directory, pid=2, now=NOW)
    assert second.is_ours
    second.release()


@pytest.mark.process
def test_the_lock_of_a_killed_process_is_taken_over(directory: Path) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", HOLD, str(directory)], stdout=subprocess.PIPE, text=True
    ) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "held\n"
        with pytest.raises(DirectoryLockedError) as refused:
            DataDirLock.acquire(directory, pid=1, now=NOW)
        assert refused.value.holder == Holder(4242, 5.0, "http://127.0.0.1:9")
        holder.send_signal(signal.SIGKILL)
    lock = DataDirLock.acquire(directory, pid=1, now=NOW)
    assert b'"pid": 1' in (directory / LOCK_FILE).read_bytes()
    lock.release()


@pytest.mark.parametrize(
    "content", [b"", b"\xff\xfe", b"{", b"[]", b'{"pid": "x"}', b"[" * 4000, b"null"]
)
def test_a_holder_that_cannot_be_read_is_unknown(directory: Path, content: bytes) -> None:
    lock = DataDirLock.acquire(directory, pid=1, now=NOW)
    (directory / LOCK_FILE).write_bytes(content)
    with pytest.raises(DirectoryLockedError, match="process unknown") as refused:
        DataDirLock.acquire(directory, pid=2, now=NOW)
    assert refused.value.holder == Holder(None, None, None)
    lock.release()


@pytest.mark.parametrize("bits", [0o770, 0o777, 0o702])
def test_a_directory_that_others_may_write_is_refused(directory: Path, bits: int) -> None:
    directory.mkdir()
    directory.chmod(bits)
    with pytest.raises(UnreadableDirectoryError, match="chmod go-w"):
        DataDirLock.acquire(directory, pid=1, now=NOW)


def test_a_file_in_place_of_the_directory_is_refused(directory: Path) -> None:
    directory.write_text("mine")
    with pytest.raises(UnreadableDirectoryError, match="cannot be used as a data directory"):
        DataDirLock.acquire(directory, pid=1, now=NOW)
    assert directory.read_text() == "mine"


def test_a_lock_file_that_leads_elsewhere_is_refused(directory: Path, tmp_path: Path) -> None:
    directory.mkdir(mode=0o700)
    (tmp_path / "other").write_text("precious")
    (directory / LOCK_FILE).symlink_to(tmp_path / "other")
    with pytest.raises(UnreadableDirectoryError, match="not a plain file"):
        DataDirLock.acquire(directory, pid=1, now=NOW)
    assert (tmp_path / "other").read_text() == "precious"


@as_root
def test_a_directory_of_somebody_else_is_refused(directory: Path) -> None:
    directory.mkdir(mode=0o700)
    os.chown(directory, 65534, 65534)
    with pytest.raises(UnreadableDirectoryError, match="belongs to another user"):
        DataDirLock.acquire(directory, pid=1, now=NOW)


@pytest.mark.parametrize("ask", [holder_of, lambda path: open_private(path / LOCK_FILE, os.O_RDWR)])
def test_a_link_in_place_of_a_file_of_ours_is_refused(
    directory: Path, tmp_path: Path, ask: Callable[[Path], object]
) -> None:
    directory.mkdir(mode=0o700)
    (tmp_path / "other").write_text("precious")
    (directory / LOCK_FILE).symlink_to(tmp_path / "other")
    with pytest.raises(UnreadableDirectoryError, match="not a plain file"):
        ask(directory)


def test_a_file_that_becomes_a_link_after_the_look_is_not_followed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "other").write_text("precious")
    (tmp_path / "file").symlink_to(tmp_path / "other")
    monkeypatch.setattr(lock_room, "refuse_foreign_file", lambda _: None)
    with pytest.raises(OSError, match="symbolic link"):
        open_private(tmp_path / "file", os.O_WRONLY | os.O_TRUNC)
    assert (tmp_path / "other").read_text() == "precious"
    os.mkfifo(tmp_path / "pipe", 0o600)
    # A pipe that nobody writes to would be waited for.
    with pytest.raises(UnreadableDirectoryError, match="not a plain file"):
        open_private(tmp_path / "pipe", os.O_RDONLY)


def test_a_private_file_is_made_for_us_alone(tmp_path: Path) -> None:
    os.close(open_private(tmp_path / "file", os.O_WRONLY | os.O_CREAT))
    assert mode(tmp_path / "file") == 0o600
    with pytest.raises(FileNotFoundError):
        open_private(tmp_path / "none", os.O_WRONLY)


def test_a_directory_that_we_cannot_write_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[int] = []
    monkeypatch.setattr(os, "access", lambda _, bits: asked.append(bits))
    with pytest.raises(UnreadableDirectoryError, match=f"not ours to write; chmod 700 {tmp_path}"):
        refuse_foreign_directory(tmp_path)
    assert asked == [os.R_OK | os.W_OK | os.X_OK]
    with pytest.raises(UnreadableDirectoryError, match="cannot be used as a data directory"):
        refuse_foreign_directory(tmp_path / "none")


def test_a_file_system_that_cannot_lock_says_so(
    directory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuses(*_: object) -> None:
        raise OSError(errno.ENOLCK, "no locks available")

    monkeypatch.setattr(fcntl, "flock", refuses)
    with pytest.raises(LockUnavailableError, match="cannot be locked: no locks available"):
        DataDirLock.acquire(directory, pid=1, now=NOW)
    # Nobody has published anything where nothing can be locked.
    assert holder_of(directory) is None


def test_folders_above_a_data_directory_are_made_too(tmp_path: Path) -> None:
    lock = DataDirLock.acquire(tmp_path / "above" / "data", pid=7, now=NOW)
    assert mode(tmp_path / "above" / "data") == 0o700
    lock.publish("http://127.0.0.1:9")
    assert lock.holder == Holder(7, NOW, "http://127.0.0.1:9")
    lock.release()


def test_a_private_file_that_others_may_write_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for bits in (0o620, 0o602):
        (tmp_path / "file").chmod(bits)
        with pytest.raises(UnreadableDirectoryError, match="chmod go-w"):
            open_private(tmp_path / "file", os.O_RDONLY)


def test_a_lock_that_has_no_byte_for_its_line_holds_and_names_nobody(directory: Path) -> None:
    with broken_disk():
        lock = DataDirLock.acquire(directory, pid=4711, now=NOW)
        lock.publish("http://127.0.0.1:9")
        assert holder_of(directory) == Holder(None, None, None)
    lock.publish("http://127.0.0.1:9")
    assert holder_of(directory) == Holder(4711, NOW, "http://127.0.0.1:9")
    with broken_disk():
        # An address that is not withdrawn would be given the keys of whoever looks for one.
        lock.publish(None)
        assert holder_of(directory) == Holder(None, None, None)
        lock.release()
    assert holder_of(directory) is None


@pytest.mark.parametrize(
    "line",
    [
        b"", bytes(99), b"null", b"[]", b"[" * 4_000, b'{"pid": true, "started_at": 1}',
        b'{"pid": 1, "started_at": NaN, "address": null}', b'{"pid": ' + b"9" * 4_000,
        b'{"pid": 1, "started_at": 1' + b"0" * 400 + b', "address": null}', b"\xff",
    ],
)  # fmt: skip
def test_a_lock_file_that_makes_no_sense_names_nobody(directory: Path, line: bytes) -> None:
    lock = DataDirLock.acquire(directory, pid=4711, now=NOW)
    (directory / LOCK_FILE).write_bytes(line + b"\n")
    assert holder_of(directory) == Holder(None, None, None)
    lock.release()
