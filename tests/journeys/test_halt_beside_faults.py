"""The halt, whatever else is broken: from the shell and by its key. It is kept over a restart."""

import json
import os
import shutil
import sqlite3
from collections.abc import Callable, Generator
from contextlib import AbstractContextManager, closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
from textual.pilot import Pilot

from kit.command_line import ran
from kit.console.painted import words_of
from kit.desk.faults import broken_disk
from kit.examples import every
from service_tui.app.halts import kept_halts
from service_tui.app.options import Options
from service_tui.app.start import console_of
from service_tui.cli import main as cli
from service_tui.desk.slices.halt import newest
from service_tui.storage.db.connection import DATABASE_FILE

GATE, KEPT = "ok      buys blocked on this desk", "ok      halt kept over a restart"
DEEP = b"[" * 60_000

Break = Callable[[Path], AbstractContextManager[None]]


def writes(name: str, raw: bytes) -> Break:
    """A file with other contents."""

    @contextmanager
    def broken(folder: Path) -> Generator[None]:
        path = folder / name
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        path.write_bytes(raw)
        path.chmod(0o600)
        yield

    return broken


def puts(name: str, make: Callable[[Path], object]) -> Break:
    """Something else in the place of a file."""

    @contextmanager
    def broken(folder: Path) -> Generator[None]:
        path = folder / name
        if path.is_dir():
            shutil.rmtree(path)
        path.unlink(missing_ok=True)
        make(path)
        yield

    return broken


def declares(*statements: str) -> Break:
    """A database in which somebody else has worked."""

    @contextmanager
    def broken(folder: Path) -> Generator[None]:
        with closing(sqlite3.connect(folder / DATABASE_FILE, isolation_level=None)) as connection:
            for statement in statements:
                connection.execute(statement)
        yield

    return broken


@contextmanager
def full(_: Path) -> Generator[None]:
    with broken_disk():
        yield


def loop(path: Path) -> None:
    path.symlink_to(path)


RUN = json.dumps({"pid": -1, "started_at": "now", "output_at": []}).encode()


@dataclass(frozen=True)
class Fault:
    """How a directory is broken, and whether the desk opens all the same."""

    breaks: Break
    opens: bool = False


FAULTS: dict[str, Fault] = {
    "a full disk": Fault(full),
    "a run with wrong types": Fault(writes("skill-runs/r.json", RUN), opens=True),
    "an older run with wrong types": Fault(writes("runs/r/run.json", RUN), opens=True),
    "records of runs are a file": Fault(puts("skill-runs", Path.touch), opens=True),
    "records of runs are a loop": Fault(puts("skill-runs", loop), opens=True),
    "keys of skills are no keys": Fault(writes("skill-agents.json", b"[1]"), opens=True),
    "keys of skills are deep": Fault(writes("skill-agents.json", DEEP), opens=True),
    "keys of skills are a pipe": Fault(puts("skill-agents.json", os.mkfifo), opens=True),
    "spending is no spending": Fault(writes("skill-spending.json", b'{"a": [1, "x"]}'), opens=True),
    "spending is a pipe": Fault(puts("skill-spending.json", os.mkfifo), opens=True),
    "keys are empty": Fault(writes("keys.json", b"")),
    "keys are NUL bytes": Fault(writes("keys.json", bytes(99))),
    "keys are a list": Fault(writes("keys.json", b"[]")),
    "keys are numbers": Fault(writes("keys.json", b'{"operator": 1}')),
    "keys are a pipe": Fault(puts("keys.json", os.mkfifo)),
    "keys are a folder": Fault(puts("keys.json", Path.mkdir)),
    "keys are a loop": Fault(puts("keys.json", loop)),
    "the lock is a pipe": Fault(puts("desk.lock", os.mkfifo)),
    "the lock is a folder": Fault(puts("desk.lock", Path.mkdir)),
    "the lock names nonsense": Fault(writes("desk.lock", b'{"pid": true}'), opens=True),
    "the log of actions is a folder": Fault(puts("actions.jsonl", Path.mkdir), opens=True),
    "the log of actions is a pipe": Fault(puts("actions.jsonl", os.mkfifo), opens=True),
    "recordings are no database": Fault(writes("recordings.sqlite3", b"x" * 999), opens=True),
    "attached is a file": Fault(puts("attached", Path.touch), opens=True),
    "the database is empty": Fault(writes(DATABASE_FILE, b"")),
    "the database is none": Fault(writes(DATABASE_FILE, b"x" * 9_999)),
    "the database is a pipe": Fault(puts(DATABASE_FILE, os.mkfifo)),
    "the database is a loop": Fault(puts(DATABASE_FILE, loop)),
    "the database has a trigger": Fault(
        declares("CREATE TRIGGER sly AFTER INSERT ON journal BEGIN DELETE FROM journal; END")
    ),
    "preferences compute for ever": Fault(
        declares(
            "DROP TABLE preferences",
            "CREATE VIEW preferences AS WITH RECURSIVE c(x) AS "
            "(SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT x AS key, x AS value FROM c",
        )
    ),
    "the database lacks a table": Fault(declares("DROP TABLE journal")),
    "rows of the journal make no sense": Fault(
        declares("UPDATE journal SET body = '[[['"), opens=True
    ),
    "recordings are a pipe": Fault(puts("recordings.sqlite3", os.mkfifo), opens=True),
    "another version's directory": Fault(declares("PRAGMA user_version = 9999")),
}


@pytest.fixture(scope="module")
def used(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory in which a desk was open before."""
    folder = tmp_path_factory.mktemp("used") / "d"
    for words, typed in ((["halt"], ""), (["resume"], "RESUME\n")):
        assert ran([*words, "--data-dir", str(folder)], typed=typed).code == cli.OK
    return folder


@pytest.fixture
def folder(used: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(used, tmp_path / "d"))


@pytest.mark.slow
@pytest.mark.parametrize("what", FAULTS)
def test_from_the_shell_each_fault_is_a_line_and_the_halt_is_kept(what: str, folder: Path) -> None:
    with FAULTS[what].breaks(folder):
        done = ran(["halt", "--data-dir", str(folder)])
    assert done.code in {cli.OK, cli.CANNOT}
    assert "internal error" not in done.err
    assert KEPT in done.out
    assert (GATE in done.out) == FAULTS[what].opens
    assert newest(kept_halts(folder)) is not None


async def until(is_so: Callable[[], bool], pilot: Pilot[int]) -> None:
    for _ in range(400):
        if is_so():
            return
        await pilot.pause(0.02)


@pytest.mark.slow
@pytest.mark.parametrize("what", every(3, FAULTS))
async def test_by_its_key_the_halt_is_shown_and_kept(what: str, folder: Path) -> None:
    options = Options(folder, folder / "config", folder / "log", seed=7, recording=False)
    with FAULTS[what].breaks(folder):
        app = console_of(options)
        async with app.run_test(size=(120, 40), notifications=True) as pilot:
            await pilot.press("f9")
            await pilot.pause()
            assert app.desk_state.halted_since is not None
            await until(lambda: newest(kept_halts(folder)) is not None, pilot)
            assert "HALTED" in words_of(app.screen)
    assert newest(kept_halts(folder)) is not None
