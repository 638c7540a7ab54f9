"""Commands that misbehave: ended, bounded, and nothing of them left."""

import asyncio
import os
import secrets
import sys
import tracemalloc
from pathlib import Path

import pytest

from service_tui.autoresearch.errors import ToolError
from service_tui.autoresearch.runner import (
    FILE_BLOCKS,
    KEPT_BYTES,
    LINES,
    MARK,
    SHOWN_MAX,
    Output,
    Ran,
    environment_of,
    run,
)
from service_tui.skills.guard import UNFENCED, Rules, fence_version

pytestmark = pytest.mark.process


async def ran(command: str, folder: Path, *, deadline_s: float = 20.0) -> tuple[Ran, str]:
    mark = secrets.token_hex(8)
    environment = environment_of(os.environ, mark=mark, api={})
    output = Output()
    done = await run(command, folder, deadline_s=deadline_s, environment=environment, output=output)
    return done, mark


def survivors(mark: str) -> list[str]:
    found: list[str] = []
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            is_dead = b") Z " in (entry / "stat").read_bytes()
            if not is_dead and f"{MARK}={mark}".encode() in (entry / "environ").read_bytes():
                found.append((entry / "cmdline").read_text())
        except OSError:
            continue
    return found


async def test_a_command_tells_its_end_and_its_output(tmp_path: Path) -> None:
    done, _ = await ran("echo out; echo err >&2; exit 3", tmp_path)
    assert (done.exit_code, done.timed_out) == (3, False)
    assert done.tail.split() == ["out", "err"]


async def test_a_command_has_its_folder_its_variables_and_no_more(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WALLET_PRIVATE_KEY", "0xdead")
    done, mark = await ran("pwd; cat; ulimit -c; ulimit -f; env", tmp_path)
    folder, core, blocks, *variables = done.tail.splitlines()
    assert (folder, core, blocks) == (str(tmp_path), "0", str(FILE_BLOCKS))
    assert f"{MARK}={mark}" in variables
    assert "0xdead" not in done.tail


@pytest.mark.parametrize(
    "command",
    [
        "sleep 60",
        "trap '' TERM INT HUP; while true; do sleep 1; done",
        "(setsid sleep 60 &) ; sleep 60",
        "setsid bash -c 'trap \"\" TERM; (sleep 60 &); sleep 60' & wait",
        "for i in $(seq 30); do sleep 60 & done; wait",
    ],
    ids=["sleeps", "ignores signals", "leaves its group", "both", "forks"],
)
async def test_what_takes_too_long_is_ended_with_all_its_children(
    tmp_path: Path, command: str
) -> None:
    done, mark = await ran(command, tmp_path, deadline_s=0.7)
    assert done.timed_out
    assert survivors(mark) == []


async def test_what_is_left_in_the_background_is_ended_as_well(tmp_path: Path) -> None:
    done, mark = await ran("setsid sleep 60 & echo done", tmp_path)
    assert (done.exit_code, done.tail.strip()) == (0, "done")
    assert survivors(mark) == []


async def test_what_clears_its_environment_is_ended_as_well(tmp_path: Path) -> None:
    told = tmp_path / "pid"
    words = f"env -i setsid bash -c 'echo $$ > {told}; sleep 60 & wait' & sleep 0.3; echo done"
    done, _ = await ran(words, tmp_path)
    assert done.succeeded
    assert is_gone(int(told.read_text()))


CHAIN = """
import os, sys, time
def note():
    with open("{told}.new", "w") as file:
        file.write(str(os.getpid()))
    os.rename("{told}.new", "{told}")
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        note()
        for count in range(60_000):
            if os.fork():
                os._exit(0)
            if count % 50 == 0:
                note()
    os._exit(0)
while not os.path.exists("{told}"):
    time.sleep(0.01)
time.sleep({after})
"""
"""Forks without a pause, for a minute: whoever looks for it by number comes too late."""


@pytest.mark.parametrize("way", ["ends", "takes too long"])
async def test_what_forks_without_a_pause_is_ended_as_well(tmp_path: Path, way: str) -> None:
    told = tmp_path / "pid"
    (tmp_path / "chain.py").write_text(CHAIN.format(told=told, after=60 if "long" in way else 0))
    done, _ = await ran(
        f"env -i {sys.executable} chain.py", tmp_path, deadline_s=2.0 if "long" in way else 20.0
    )
    assert done.timed_out is ("long" in way)
    before = told.read_text()
    await asyncio.sleep(0.5)
    assert told.read_text() == before


async def test_a_command_dies_of_a_closed_pipe_as_in_a_shell(tmp_path: Path) -> None:
    done, _ = await ran("yes | head -1; echo ${PIPESTATUS[0]}", tmp_path)
    assert done.tail.split() == ["y", "141"]


def is_gone(pid: int) -> bool:
    """Whether no more than its entry is left."""
    stat = Path(f"/proc/{pid}/stat")
    return not stat.exists() or stat.read_bytes().rpartition(b")")[2].split()[0] == b"Z"


@pytest.mark.slow
async def test_endless_output_is_bounded(tmp_path: Path) -> None:
    done, _ = await ran("yes gigabytes | head -c 30000000; echo end", tmp_path)
    assert done.size > 30_000_000
    assert len(done.tail) <= KEPT_BYTES
    assert done.tail.strip().endswith("end")


@pytest.mark.slow
def test_a_gigabyte_takes_no_more_room_than_its_end() -> None:
    heard: list[int] = []
    output = Output(lambda told: heard.append(told.size))
    part = b"gigabytes without an end of line " * 2_000
    tracemalloc.start()
    try:
        for _ in range(10**9 // len(part) + 1):
            output.take(part)
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert output.size > 10**9
    assert heard[-1] == output.size
    assert most < 8 * KEPT_BYTES + 40 * len(heard)
    assert len(output.tail()) <= KEPT_BYTES


async def test_binary_output_becomes_harmless_text(tmp_path: Path) -> None:
    done, _ = await ran("head -c 20000 /dev/urandom; printf '\\033[2J\\007'; echo end", tmp_path)
    assert not {"\x1b", "\x07", "\x00"} & set(done.tail)


async def test_a_command_knows_no_secret() -> None:
    around = {
        "PATH": os.environ["PATH"], "WALLET_PRIVATE_KEY": "0xdead", "AWS_SECRET": "s",
        "SERVICE_WALLET_KEY": "w", "SERVICE_WEATHER_MIN_EDGE": "0.1", "GITHUB_TOKEN": "t",
        "SERVICE_API_KEY": "old", "SERVICE_TUI_DATABASE": "postgresql://desk:secret@db/world",
        "SERVICE_WEATHER_FEED": "https://ann:secret@feed", "LC_ALL": "secret", "LC_TIME": "it_IT",
    }  # fmt: skip
    api = {"SERVICE_API_KEY": "sk_live_x", "SERVICE_API_URL": "http://127.0.0.1:1"}
    passed = environment_of(around, mark="m", api=api, skill="weather")
    assert set(passed) == {
        "PATH", "LC_TIME", "SERVICE_WEATHER_MIN_EDGE", "SERVICE_API_KEY", "SERVICE_API_URL", MARK,
        "TERM",
    }  # fmt: skip
    assert passed["SERVICE_API_KEY"] == "sk_live_x"


@pytest.mark.skipif(not fence_version(), reason=UNFENCED)
async def test_a_command_cannot_read_the_folders_with_keys(tmp_path: Path) -> None:
    data, repository, temporary = (tmp_path / name for name in ("data", "skill", "tmp"))
    for folder in (data, repository, temporary):
        folder.mkdir()
    (data / "keys.json").write_text("the operator's key")
    (repository / "run.py").write_text("print('ran')")
    environment = environment_of(
        {"PATH": os.environ["PATH"], "TMPDIR": str(temporary)}, mark=secrets.token_hex(8), api={}
    )
    tries = (
        f"cat {data}/keys.json; ln -s {data} link; cat link/keys.json; echo x > {data}/new;"
        f"tr '\\0' ' ' < /proc/{os.getpid()}/environ | grep PATH; kill -0 {os.getpid()};"
        f"cd {repository}; python3 run.py; echo made > made; mktemp; git init"
    )
    done = await run(
        tries, repository, deadline_s=20.0, environment=environment, output=Output(),
        rules=Rules((), ("/",), (str(data), str(tmp_path / "none"))),
    )  # fmt: skip
    assert "the operator's key" not in done.tail
    assert done.tail.count("ermission denied") >= 4
    assert "\nran\n" in done.tail
    assert str(temporary) in done.tail
    assert done.succeeded, done.tail
    assert (repository / "made").read_text() == "made\n"
    assert [path.name for path in data.iterdir()] == ["keys.json"]


@pytest.mark.skipif(not fence_version(), reason=UNFENCED)
async def test_a_repository_in_the_folder_with_keys_is_open_to_its_command(tmp_path: Path) -> None:
    repository = tmp_path / "data" / "skills" / "tide"
    repository.mkdir(parents=True)
    (tmp_path / "data" / "keys.json").write_text("the operator's key")
    environment = environment_of(
        {"PATH": os.environ["PATH"], "TMPDIR": "/none"}, mark=secrets.token_hex(8), api={}
    )
    done = await run(
        "echo made > made && cat made; cat ../../keys.json", repository, deadline_s=20.0,
        environment=environment, output=Output(),
        rules=Rules((), ("/", str(repository)), (str(tmp_path / "data"),)),
    )  # fmt: skip
    assert done.tail.startswith("made\n")
    assert "the operator's key" not in done.tail


async def test_a_folder_that_is_gone_is_named(tmp_path: Path) -> None:
    with pytest.raises(ToolError, match="cannot be started"):
        await ran("true", tmp_path / "nowhere")


# -- values ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("exit_code", "timed_out", "succeeded"),
    [(0, False, True), (0, True, False), (1, False, False), (None, False, False)],
)
def test_only_a_command_that_ended_well_by_itself_succeeded(
    *, exit_code: int | None, timed_out: bool, succeeded: bool
) -> None:
    assert Ran(exit_code, timed_out, 1.0, "", 0).succeeded is succeeded


@pytest.mark.parametrize(
    ("name", "value", "is_kept"),
    [
        ("PATH", "/bin", True),
        ("HOME", "/root", True),
        ("LC_NUMERIC", "C", True),
        ("LC_NUMERIC", "sk_live_x", False),
        ("LC_OWN", "C", False),
        ("SERVICE_TIDE_POOL_DEPTH", "x", True),
        ("SERVICE_TIDE_POOL_FEED", "https://ann:secret@feed", False),
        ("SERVICE_TIDE_POOL_KEY", "x", False),
        ("SERVICE_DEPTH", "x", False),
        ("SERVICE_ALLOW_INSECURE_BASE_URL", "1", True),
        ("SERVICE_TUI_DATABASE", "x", False),
        ("SERVICE_API_KEY", "x", False),
        ("SERVICE_WALLET", "x", False),
        ("SERVICE_TIDE_POOL_My_password", "x", False),
        ("MY_SERVICE_TIDE_POOL_DEPTH", "x", False),
        ("WALLET_PRIVATE_KEY", "x", False),
        ("OTHER", "x", False),
    ],
)
def test_a_command_gets_named_settings_and_no_secret(
    name: str, value: str, *, is_kept: bool
) -> None:
    found = environment_of({name: value}, mark="m", api={}, skill="tide-pool")
    assert found == {**({name: value} if is_kept else {}), MARK: "m", "TERM": "dumb"}


def test_no_name_of_a_skill_opens_our_own_settings() -> None:
    ours = {
        "SERVICE_TUI_DATABASE": "/world",
        "SERVICE_TUI_DATA_DIR": "/data",
        "SERVICE_API_KEY": "k",
    }
    for skill in ("tui", "api", ""):
        assert set(environment_of(ours, mark="m", api={}, skill=skill)) == {MARK, "TERM"}


def test_a_command_gets_the_sessions_own_key_and_mark_and_no_other() -> None:
    ours = {"SERVICE_API_URL": "http://ours", MARK: "theirs", "TERM": "xterm"}
    api = {"SERVICE_API_KEY": "k", "SERVICE_API_URL": "http://it", "OTHER": "x"}
    assert environment_of(ours, mark="m", api=api) == {
        "SERVICE_API_KEY": "k", "SERVICE_API_URL": "http://it", MARK: "m", "TERM": "dumb",
    }  # fmt: skip


def test_each_part_of_an_output_is_counted_and_shown() -> None:
    sizes: list[int] = []
    output = Output(lambda one: sizes.append(one.size))
    for part in (b"one\n", b"two\r\n", b"three"):
        output.take(part)
    assert (sizes, output.size, output.tail()) == ([4, 9, 14], 14, "one\ntwo\nthree")


def test_of_a_long_output_the_end_stays() -> None:
    output = Output()
    output.take(b"x" * (KEPT_BYTES - 5))
    output.take(b"\nlast")
    assert output.tail().endswith("x\nlast")
    output.take(b"a" * (KEPT_BYTES + 7))
    assert output.size == 2 * KEPT_BYTES + 7
    assert output.tail() == "a" * SHOWN_MAX


def test_the_last_lines_are_shown() -> None:
    output = Output()
    output.take("".join(f"line {number}\n" for number in range(200)).encode())
    shown = output.tail().split("\n")
    assert shown[0] == f"line {200 - LINES}"
    assert [one for one in shown if one][-1] == "line 199"


async def test_a_command_with_a_zero_byte_is_named(tmp_path: Path) -> None:
    with pytest.raises(ToolError, match=r"cannot be started in .* \(it holds a zero byte\)"):
        await ran("echo \0", tmp_path)
