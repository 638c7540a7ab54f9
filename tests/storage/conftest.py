import resource
from collections.abc import Callable, Generator, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

import pytest

from service_tui.storage.db.database import Database
from service_tui.storage.db.lock import DataDirLock
from service_tui.storage.opening import open_database

NOW = 1_800_000_000.0


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    return tmp_path / "data"


@pytest.fixture
def lock(directory: Path) -> Iterator[DataDirLock]:
    lock = DataDirLock.acquire(directory, pid=4711, now=NOW)
    yield lock
    lock.release()


@pytest.fixture
def database(directory: Path, lock: DataDirLock) -> Iterator[Database]:
    database = open_database(directory, now=NOW, lock=lock, timeout_s=0.02)
    yield database
    database.close(NOW + 1)


@pytest.fixture
def file_size_limit() -> Callable[[int], AbstractContextManager[None]]:
    @contextmanager
    def limited(size: int) -> Generator[None]:
        soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
        try:
            yield
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))

    return limited
