"""`service-tui doctor`: the problems it finds, and that it changes nothing."""

import json
import os
import sqlite3
import sys
import zlib
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from kit.engine.recorded import PARTS, write
from kit.samples.desk import NOW
from kit.service.stage import open_stage
from service_tui.app.options import Options
from service_tui.commands.doctor import findings
from service_tui.credentials.api_keys import DESK_FILE, PROFILES_FILE, Profile, keep_profile
from service_tui.skills.guard import UNFENCED, fence_version
from service_tui.storage.db.connection import DATABASE_FILE
from service_tui.storage.db.lock import LOCK_FILE, DataDirLock
from service_tui.storage.history_file import history_path
from service_tui.storage.opening import open_database

SECRET = "sk_live_a_canary_that_sings"  # noqa: S105


@pytest.fixture
def options(tmp_path: Path) -> Options:
    return Options(tmp_path / "data", tmp_path / "config", tmp_path / "data" / "log")


def made(options: Options) -> Path:
    """A data directory as a closed desk leaves it."""
    lock = DataDirLock.acquire(options.data_dir, pid=os.getpid(), now=NOW)
    open_database(options.data_dir, now=NOW, lock=lock).close(NOW)
    lock.release()
    return options.data_dir / DATABASE_FILE


def everything(folder: Path) -> dict[str, bytes]:
    """Every file but the companions that SQLite puts beside a database to read it."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and not path.name.endswith(("-wal", "-shm"))
    }


def test_before_the_first_start_all_is_well_and_nothing_is_made(options: Options) -> None:
    lines, healthy = findings(options)
    assert healthy
    assert lines[-1] == "no problems"
    assert any("none yet" in line for line in lines)
    assert not options.data_dir.exists()
    assert not options.config_dir.exists()


@pytest.mark.slow
def test_it_says_which_line_of_the_own_keys_is_wrong(options: Options) -> None:
    options.config_dir.mkdir()
    file = options.config_dir / "keys.toml"
    file.write_text('"markets.buy" = "ctrl+b"\n')
    lines, healthy = findings(options)
    assert healthy
    assert "keys       1 remapped in keys.toml" in lines
    file.write_text('"markets.buy" = "ctrl+b"\n"app.hep" = "h"\n')
    lines, healthy = findings(options)
    assert not healthy
    said = f"PROBLEM    {file}: line 2: no action is called app.hep; did you mean app.help?"
    assert said in lines


@pytest.mark.slow
def test_it_says_what_is_wrong_with_the_own_commands(options: Options) -> None:
    options.config_dir.mkdir()
    file = options.config_dir / "commands.toml"
    file.write_text("[[command]]\nname = 'hello'\nrun = 'echo hello'\n")
    file.chmod(0o600)
    lines, healthy = findings(options)
    assert healthy
    assert "commands   1 command in commands.toml" in lines
    file.chmod(0o644)
    lines, healthy = findings(options)
    assert not healthy
    said = f"PROBLEM    {file}: others can read or change it: chmod 600 {file}"
    assert said in lines


def test_it_names_what_is_where_and_changes_nothing(options: Options) -> None:
    made(options)
    keep_profile(options.config_dir, Profile("office", "https://h", SECRET))
    before = everything(options.data_dir.parent)
    lines, healthy = findings(options)
    text = "\n".join(lines)
    assert healthy, text
    for part in (str(options.data_dir), str(options.log_path), "office", "SQLite 3.", "textual"):
        assert part in text
    assert SECRET not in text
    assert everything(options.data_dir.parent) == before


def test_it_says_whether_skills_are_kept_from_keys(options: Options) -> None:
    lines, _ = findings(options)
    (fence,) = (line for line in lines if line.startswith("fence "))
    version = fence_version()
    assert fence == (
        f"fence      Landlock {version}: skills cannot read keys" if version
        else f"fence      none: {UNFENCED}"
    )  # fmt: skip


def test_it_finds_a_damaged_database_and_leaves_it_there(options: Options) -> None:
    path = made(options)
    path.write_bytes(path.read_bytes()[:3_000])
    damaged = path.read_bytes()
    lines, healthy = findings(options)
    assert not healthy
    assert lines[-1].startswith("PROBLEM")
    assert str(path) in "\n".join(lines)
    assert path.read_bytes() == damaged


def test_it_finds_that_a_log_is_gone_after_an_unclean_end(options: Options) -> None:
    path = made(options)
    lock = DataDirLock.acquire(options.data_dir, pid=os.getpid(), now=NOW)
    database = open_database(options.data_dir, now=NOW, lock=lock)
    in_use = path.read_bytes()
    database.close(NOW)
    lock.release()
    path.write_bytes(in_use)
    lines, healthy = findings(options)
    assert not healthy
    assert "the last orders and trades may be missing" in lines[-1]


def test_it_finds_a_page_that_is_broken_in_the_middle(options: Options) -> None:
    path = made(options)
    with sqlite3.connect(path) as connection:
        rows = [(f"k{n}", float(n), "x" * 900) for n in range(60)]
        connection.executemany("INSERT INTO cache VALUES (?, ?, ?)", rows)
    connection.close()
    raw = bytearray(path.read_bytes())
    raw[len(raw) // 2 - 2_048 : len(raw) // 2 + 2_048] = b"\xff" * 4_096
    path.write_bytes(raw)
    lines, healthy = findings(options)
    assert not healthy, lines


def test_it_finds_a_database_of_a_newer_program(options: Options) -> None:
    path = made(options)
    with sqlite3.connect(path) as connection:
        connection.execute("PRAGMA user_version = 99")
    connection.close()
    lines, healthy = findings(options)
    assert not healthy
    assert "newer program" in lines[-1]


def test_it_finds_keys_that_cannot_be_read(options: Options) -> None:
    made(options)
    (options.data_dir / DESK_FILE).write_text(f'{{"operator": "{SECRET}"')
    options.config_dir.mkdir()
    (options.config_dir / PROFILES_FILE).write_text("[")
    lines, healthy = findings(options)
    assert not healthy
    problems = [line for line in lines if line.startswith("PROBLEM")]
    assert len(problems) == 2
    assert SECRET not in "\n".join(lines)


@pytest.mark.slow
def test_it_says_who_holds_the_directory(options: Options) -> None:
    made(options)

    def lock_line() -> str:
        return next(line for line in findings(options)[0] if line.startswith("lock"))

    assert lock_line().split() == ["lock", "free"]
    lock = DataDirLock.acquire(options.data_dir, pid=os.getpid(), now=NOW)
    assert f"owned by process {os.getpid()} since 2027-01-15" in lock_line()
    lock.publish("http://127.0.0.1:8017")
    assert lock_line().endswith("serving http://127.0.0.1:8017")
    lock.release()
    for left in ({"pid": 2**22 + 7, "started_at": NOW}, {"pid": "x"}, [], {"pid": 10**30}):
        (options.data_dir / LOCK_FILE).write_text(json.dumps(left))
        assert lock_line().split() == ["lock", "free"]
    (options.data_dir / LOCK_FILE).write_bytes(b"\xff\xfe")
    assert lock_line().split() == ["lock", "free"]


@pytest.mark.parametrize("folder", ["/proc/nope", "/proc/nope/at/all", "{file}/below"])
def test_it_finds_that_a_directory_cannot_be_made(
    options: Options, tmp_path: Path, folder: str
) -> None:
    (tmp_path / "file").touch()
    data_dir = Path(folder.format(file=tmp_path / "file"))
    lines, healthy = findings(replace(options, data_dir=data_dir))
    assert not healthy
    assert "cannot write" in lines[-1]
    assert "--data-dir" in lines[-1]


def test_it_finds_that_others_may_write_in_the_directory(options: Options) -> None:
    made(options)
    options.data_dir.chmod(0o777)
    lines, healthy = findings(options)
    assert not healthy
    assert "chmod go-w" in lines[-1]


def test_it_looks_beside_a_running_desk(options: Options) -> None:
    made(options)
    lock = DataDirLock.acquire(options.data_dir, pid=os.getpid(), now=NOW)
    database = open_database(options.data_dir, now=NOW, lock=lock)
    lines, healthy = findings(options)
    database.close(NOW)
    lock.release()
    assert healthy, lines


async def test_it_reads_what_was_written_down_once(tmp_path: Path) -> None:
    options = Options(tmp_path, tmp_path, tmp_path / "log")
    async with open_stage(tmp_path, ends_with_snapshot=True):
        pass
    unpacked = list[object]()

    def note(_: object, event: str, called: object) -> None:
        if event == "c_call" and called is zlib.decompress:
            unpacked.append(called)

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        lines, healthy = findings(options)
    finally:
        sys.setprofile(before)
    assert healthy, lines
    with closing(sqlite3.connect(tmp_path / DATABASE_FILE)) as database:
        (count,) = database.execute("SELECT count(*) FROM snapshots").fetchone()
    assert len(unpacked) == count > 0


@pytest.mark.parametrize("is_recorded", [False, True])
async def test_it_names_what_the_world_runs_on(tmp_path: Path, *, is_recorded: bool) -> None:
    begin = datetime.fromtimestamp(PARTS, UTC).isoformat()
    options = replace(write(tmp_path / "data", 1, 2), history_from=begin)
    assert "world      none yet" in findings(options)[0]
    recorded = options if is_recorded else None
    async with open_stage(options.data_dir, recorded=recorded, ends_with_snapshot=True):
        pass
    world = "history two from 2023-11-19" if is_recorded else "invented, seed 7"
    assert f"world      {world}" in findings(options)[0]


@pytest.mark.parametrize(
    ("left", "problem"),
    [(None, "no history is called two"), (9, "the history two is another one than that on which")],
)
async def test_it_finds_that_the_history_of_the_world_is_not_there(
    tmp_path: Path, left: int | None, problem: str
) -> None:
    options = write(tmp_path / "data", 1, 2)
    async with open_stage(options.data_dir, recorded=options, ends_with_snapshot=True):
        pass
    assert findings(options)[1]
    history_path(options.data_dir, "two").unlink()
    if left is not None:
        write(options.data_dir, left, left)
    lines, is_healthy = findings(options)
    assert not is_healthy
    assert any(line.startswith(f"PROBLEM    {problem}") for line in lines)
