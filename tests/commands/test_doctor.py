import json
import os
import sqlite3
from dataclasses import replace
from pathlib import Path

import pytest

from kit.samples.desk import NOW
from service_tui.app.options import Options
from service_tui.app.start import DATABASE_FILE
from service_tui.commands.doctor import findings
from service_tui.credentials.keys import DESK_FILE, PROFILES_FILE, Profile, keep_profile
from service_tui.skills.guard import UNFENCED, fence_version
from service_tui.storage.db.lock import LOCK_FILE, DataDirLock
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
