"""What a skill has started ends with it, also where no variable tells any more whose it is."""

import asyncio
import json
import os
import signal
import stat
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

from service_tui.skills.guard import (
    FILE_MAX,
    LIFELINE,
    NICENESS,
    UNFENCED,
    descendants,
    end_all,
    fence_version,
)
from service_tui.skills.process import (
    CUT,
    LOG,
    LOG_KEPT,
    LOG_MAX,
    TAG,
    Launch,
    SkillProcess,
    bound_log,
    end_tagged,
    environment,
    report_of,
    rules_of,
    tagged,
)

ESCAPES = """
import pathlib, subprocess, sys, time
words = f"env -i setsid bash -c 'echo $$ > {sys.argv[1]}.new; mv {sys.argv[1]}.new {sys.argv[1]}; sleep 60' &"
subprocess.run(["bash", "-c", words])
while not pathlib.Path(sys.argv[1]).exists():
    time.sleep(0.01)
time.sleep(float(sys.argv[2]))
"""  # noqa: E501


def is_gone(pid: int) -> bool:
    """Whether no more than its entry is left."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_bytes()
    except OSError:
        return True
    return stat.rpartition(b")")[2].split()[0] == b"Z"


async def until(is_so: Callable[[], bool]) -> None:
    for _ in range(3_000):
        if is_so():
            return
        await asyncio.sleep(0.02)
    raise AssertionError("not within a minute")


@pytest.mark.process
@pytest.mark.parametrize("ends", ["by itself", "killed"])
async def test_what_cleared_its_environment_ends_with_the_skill(tmp_path: Path, ends: str) -> None:
    script, told = tmp_path / "run.py", tmp_path / "run" / "pid"
    script.write_text(ESCAPES)
    words = (str(told), "0" if ends == "by itself" else "60")
    process = SkillProcess.start(
        Launch(f"r{os.getpid()}", tmp_path / "run", script, words, own={}), dict(os.environ)
    )
    try:
        await until(told.exists)
        if ends == "killed":
            process.kill()
        await until(lambda: process.exit_code() is not None)
        escaped = int(told.read_text())
        await until(lambda: is_gone(escaped))
    finally:
        process.kill()


@pytest.mark.process
async def test_what_a_child_of_a_skill_has_started_is_found_below_it() -> None:
    words = "sh -c 'sleep 60 & wait' & wait"
    skill = await asyncio.create_subprocess_exec("sh", "-c", words)
    try:
        await until(lambda: len(descendants(skill.pid)) == 2)
    finally:
        end_all([skill.pid, *(below := descendants(skill.pid))])
        await skill.wait()
    await until(lambda: all(is_gone(pid) for pid in below))


SHOWS = """
import json, os, pathlib, resource, signal, sys, time
pathlib.Path("shown.new").write_text(json.dumps({
    "nice": os.nice(0), "core": resource.getrlimit(resource.RLIMIT_CORE),
    "size": resource.getrlimit(resource.RLIMIT_FSIZE), "words": sys.argv, "path": sys.path[0],
    "environment": dict(os.environ), "group": os.getpgrp(), "pid": os.getpid(),
    "lines": [name for name in os.listdir("/proc/self/fd") if int(name) > 2],
}))
os.rename("shown.new", "shown")
print("begun", flush=True)
time.sleep(60)
"""


def started(folder: Path, text: str, *words: str, run_id: str = "") -> SkillProcess:
    script = folder.parent / "run.py"
    script.write_text(text)
    run_id = run_id or f"{folder.parent.name}-{os.getpid()}"
    return SkillProcess.start(Launch(run_id, folder, script, words, {"OWN": "1"}), dict(os.environ))


@pytest.mark.process
async def test_a_skill_runs_within_bounds_in_its_folder_and_ends_in_order_when_it_is_asked(
    tmp_path: Path,
) -> None:
    folder = tmp_path / "new" / "tides"
    (tmp_path / "new").mkdir()
    process = started(folder, SHOWS, "--live", "x")
    try:
        await until((folder / "shown").exists)
        shown = json.loads((folder / "shown").read_text())
        assert shown["nice"] == min(19, NICENESS + os.nice(0))
        assert (shown["core"], shown["size"]) == ([0, 0], [FILE_MAX, FILE_MAX])
        assert shown["words"] == [str(tmp_path / "new" / "run.py"), "--live", "x"]
        assert shown["path"] == str(tmp_path / "new")
        assert shown["environment"].items() >= {"OWN": "1", "HOME": str(folder)}.items()
        # It finds no word of the line by which it dies with the console.
        assert LIFELINE not in shown["environment"]
        assert shown["group"] == shown["pid"] != process.pid
        assert shown["lines"] == ["3"]
        assert stat.S_IMODE((folder / LOG).stat().st_mode) == 0o600
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
        # It is known by its tag, also to who finds it again; another run of this number is not it.
        assert sorted(tagged(process.run_id)) == sorted([process.pid, shown["pid"]])
        assert SkillProcess(process.pid, process.run_id).exit_code() is None
        assert SkillProcess(process.pid, "another").exit_code() == 0
        process.signal(signal.SIGTERM)
        await until(lambda: process.exit_code() is not None)
        assert process.exit_code() == 0
        assert tagged(process.run_id) == []
        assert SkillProcess(process.pid, process.run_id).exit_code() == 0
        # What is gone takes a signal without a word, and the next run adds to the output.
        process.signal(signal.SIGTERM)
        process.let_go()
        process = started(folder, "print('again')")
        await until(lambda: process.exit_code() == 0)
        lines = (folder / LOG).read_text().splitlines()
        unfenced = [] if fence_version() else [f"guard: {UNFENCED}"]
        assert lines == [*unfenced, "begun", "again"]
    finally:
        process.kill()


LEAVES = """
import pathlib, subprocess, sys
child = subprocess.Popen(["sleep", "60"], start_new_session=True)
pathlib.Path("child.new").write_text(str(child.pid))
pathlib.Path("child.new").rename("child")
raise SystemExit(3)
"""


@pytest.mark.process
async def test_what_a_skill_left_is_ended_although_it_failed(tmp_path: Path) -> None:
    process = started(tmp_path / "run", LEAVES)
    await until(lambda: process.exit_code() is not None)
    child = int((tmp_path / "run" / "child").read_text())
    await until(lambda: is_gone(child))
    assert process.exit_code() == 3
    process.let_go()


@pytest.mark.process
@pytest.mark.parametrize("is_detached", [False, True])
async def test_a_skill_dies_with_who_started_it_unless_it_is_detached(
    tmp_path: Path, *, is_detached: bool
) -> None:
    process = started(tmp_path / "run", SHOWS)
    try:
        await until((tmp_path / "run" / "shown").exists)
        process.detach(detached=is_detached)
        if is_detached:
            process.leave()
            await asyncio.sleep(0.3)
            assert process.pid in tagged(process.run_id)
            assert process.exit_code() == 0
        else:
            process.let_go()
            await until(lambda: tagged(process.run_id) == [])
    finally:
        end_tagged(process.run_id)
        if is_detached:
            await asyncio.to_thread(os.waitpid, process.pid, 0)
        else:
            process.kill()


@pytest.mark.process
async def test_the_end_of_a_run_ends_all_that_has_its_tag_and_nothing_else() -> None:
    run_id = f"run-{os.getpid()}"
    tags = [run_id, run_id, f"{run_id}-other"]
    sleeping = [
        await asyncio.create_subprocess_exec("sleep", "600", env={**os.environ, TAG: tag})
        for tag in tags
    ]
    try:
        await until(lambda: len(tagged(run_id)) == 2)
        end_tagged(run_id)
        await until(lambda: all(is_gone(one.pid) for one in sleeping[:2]))
        assert sleeping[2].returncode is None
        assert not is_gone(sleeping[2].pid)
    finally:
        for one in sleeping:
            with suppress(ProcessLookupError):
                one.kill()
            await one.wait()


@pytest.mark.process
async def test_a_run_that_was_killed_takes_along_what_has_its_tag_elsewhere(tmp_path: Path) -> None:
    process = started(tmp_path / "run", "print('over')")
    await until(lambda: process.exit_code() is not None)
    left = await asyncio.create_subprocess_exec(
        "sleep", "600", env={**os.environ, TAG: process.run_id}
    )
    try:
        process.kill()
        await until(lambda: is_gone(left.pid))
    finally:
        with suppress(ProcessLookupError):
            left.kill()
        await left.wait()


@pytest.mark.process
def test_a_skill_that_cannot_be_started_leaves_nothing_open(tmp_path: Path) -> None:
    before = len(list(Path("/proc/self/fd").iterdir()))
    # No system takes a word of this length.
    launch = Launch("r", tmp_path, Path("run.py"), ("x" * 1_000_000,), {})
    with pytest.raises(OSError, match="too long"):
        SkillProcess.start(launch, {})
    assert len(list(Path("/proc/self/fd").iterdir())) == before


def test_one_that_is_gone_keeps_no_other_alive_and_has_nobody_below_it() -> None:
    end_all([2**22 + 1])
    assert descendants(2**22 + 1) == []


def launch(**own: str) -> Launch:
    return Launch("run-1", Path("/skills/tides"), Path("run.py"), (), own)


def test_a_skill_gets_a_little_of_our_environment_and_its_own_variables() -> None:
    ours = {"PATH": "/bin", "LANG": "C.UTF-8", "HOME": "/root", "WALLET_PRIVATE_KEY": "0x"}
    assert environment(launch(SERVICE_API_KEY="sk", TZ="UTC"), ours) == {
        "PATH": "/bin", "LANG": "C.UTF-8",
        "HOME": "/skills/tides", "PYTHONUNBUFFERED": "1", "PYTHONDONTWRITEBYTECODE": "1",
        "AUTOMATON_MANAGED": "1", "SERVICE_MANAGED_MODE": "1",
        "SERVICE_API_KEY": "sk", "TZ": "UTC",
        TAG: "run-1",
    }  # fmt: skip


def test_no_variable_of_a_skill_replaces_its_tag() -> None:
    found = environment(launch(**{TAG: "other", "HOME": "/own"}), {})
    assert (found[TAG], found["HOME"]) == ("run-1", "/own")
    assert "sk-1" not in repr(launch(SERVICE_API_KEY="sk-1"))


# -- what a skill tries ----------------------------------------------------------------------

FORKS = """
import os, pathlib, sys, time
def told(name):
    pathlib.Path(name + ".new").write_text(str(os.getpid()))
    os.rename(name + ".new", name)
def away(name):
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            told(name)
            os.execve("/bin/sleep", ["sleep", "60"], {})
        os._exit(0)
    while not os.path.exists(name):
        time.sleep(0.01)
"""
"""Defines what leaves the group, the session, the environment and the parent of a skill."""

ESCAPING = {
    "ends at once": "away('gone'); os._exit(0)",
    "is replaced": "away('gone'); os.execve('/bin/sleep', ['sleep', '60'], {})",
    "kills itself": "away('gone'); os.kill(os.getpid(), 9)",
    "lets its guard open nothing": """
import resource
resource.prlimit(os.getppid(), resource.RLIMIT_NOFILE, (0, 0))
away('gone')
os._exit(0)""",
    "marks itself as detached": """
pathlib.Path('detached').touch()
away('gone')
os.execve('/bin/sleep', ['sleep', '60'], {})""",
    "writes to every open file": """
for name in os.listdir('/proc/self/fd'):
    try: os.write(int(name), b'd')
    except OSError: pass
away('gone')
time.sleep(60)""",
    "forks without a pause": """
away('gone')
told('chain')
while True:
    if os.fork():
        os._exit(0)""",
}


@pytest.mark.process
@pytest.mark.parametrize("how", ESCAPING)
async def test_nothing_of_a_skill_outlives_it_or_its_console(tmp_path: Path, how: str) -> None:
    process = started(tmp_path / "run", FORKS + ESCAPING[how])
    try:
        await until((tmp_path / "run" / "gone").exists)
        gone = int((tmp_path / "run" / "gone").read_text())
        # The console ends without a word, as one that is killed.
        process.let_go()
        await until(lambda: process.exit_code() is not None)
        assert is_gone(gone)
        assert descendants(process.pid) == []
        assert tagged(process.run_id) == []
    finally:
        process.kill()


@pytest.mark.process
async def test_what_is_detached_may_be_kept_again(tmp_path: Path) -> None:
    process = started(tmp_path / "run", SHOWS)
    try:
        await until((tmp_path / "run" / "shown").exists)
        process.detach(detached=True)
        process.detach(detached=False)
        process.let_go()
        await until(lambda: process.exit_code() is not None)
    finally:
        process.kill()


STANDS = (
    FORKS
    + """
away('gone')
while True:
    time.sleep(0.01)
"""
)


def state_of(pid: int) -> bytes:
    return Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()[0]


@pytest.mark.process
async def test_what_left_its_group_stands_still_and_ends_with_the_skill(tmp_path: Path) -> None:
    process = started(tmp_path / "run", STANDS)
    try:
        await until((tmp_path / "run" / "gone").exists)
        gone = int((tmp_path / "run" / "gone").read_text())
        process.signal(signal.SIGSTOP)
        await until(lambda: state_of(gone) == b"T")
        process.signal(signal.SIGCONT)
        await until(lambda: state_of(gone) != b"T")
        process.signal(signal.SIGSTOP)
        await until(lambda: state_of(gone) == b"T")
        # Its console is killed while it stands still.
        process.let_go()
        await until(lambda: process.exit_code() is not None)
        assert is_gone(gone)
    finally:
        process.kill()


needs_landlock = pytest.mark.skipif(not fence_version(), reason=UNFENCED)

READS = """
import json, os, pathlib, sys, tempfile
def tried(what):
    try:
        return what() or "done"
    except OSError as error:
        return type(error).__name__
found = {
    "keys": tried(lambda: pathlib.Path(sys.argv[1], "keys.json").read_text()),
    "agents": tried(lambda: pathlib.Path("../../skill-agents.json").read_text()),
    "listed": tried(lambda: " ".join(os.listdir(sys.argv[1]))),
    "other run": tried(lambda: pathlib.Path("../other/output.log").read_text()),
    "by link": tried(lambda: (os.symlink(sys.argv[1], "link"), pathlib.Path("link/keys.json").read_text())),
    "home": tried(lambda: pathlib.Path(sys.argv[2], "diary").read_text()),
    "made at home": tried(lambda: pathlib.Path(sys.argv[2], "new").write_text("x")),
    "package written": tried(lambda: pathlib.Path(sys.argv[0]).write_text("x")),
    "parent": tried(lambda: pathlib.Path(f"/proc/{os.getppid()}/environ").read_text()),
    "console": tried(lambda: pathlib.Path(f"/proc/{sys.argv[3]}/environ").read_text()),
    "killed": tried(lambda: os.kill(os.getppid(), 9)),
    "package": tried(lambda: pathlib.Path(sys.argv[0]).with_name("data.txt").read_text()),
    "own": tried(lambda: (pathlib.Path("own").write_text("mine"), pathlib.Path("own").read_text())[1]),
    "temporary": tried(lambda: (tempfile.NamedTemporaryFile().write(b"x"), "")[1]),
    "program": tried(lambda: str(__import__("subprocess").call(["sh", "-c", "exit 3"]))),
    "library": tried(lambda: __import__("service_tui.sdk.rounds") and ""),
    "random": tried(lambda: (open("/dev/urandom", "rb").read(1), open("/dev/null", "w").write("x"))[0] and ""),
}
pathlib.Path("found.new").write_text(json.dumps(found))
os.rename("found.new", "found")
"""  # noqa: E501


def test_a_library_path_with_the_home_in_it_opens_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home, library = tmp_path / "home", tmp_path / "home" / "library"
    library.mkdir(parents=True)
    monkeypatch.setenv("HOME", str(home))
    launch = Launch("r", tmp_path / "r", tmp_path / "p" / "run.py", (), {})
    paths = os.pathsep.join((str(home), str(tmp_path), str(library)))
    read = rules_of(launch, {"PYTHONPATH": paths}).read
    assert str(library) in read
    assert not {str(home), str(tmp_path)} & {*read}


@needs_landlock
@pytest.mark.process
async def test_a_skill_reads_no_key_and_nothing_of_the_persons(tmp_path: Path) -> None:
    data, home, package = (tmp_path / name for name in ("data", "home", "package"))
    for path, text_ in (
        (data / "keys.json", "the operator's key"), (data / "skill-agents.json", "keys"),
        (data / "runs" / "other" / LOG, "theirs"), (home / "diary", "dear"),
        (package / "run.py", READS), (package / "data.txt", "of the package"),
    ):  # fmt: skip
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text_)
    folder = data / "runs" / "r"
    words = (str(data), str(home), str(os.getpid()))
    run_id = f"fenced-{os.getpid()}"
    process = SkillProcess.start(
        Launch(run_id, folder, package / "run.py", words, {}, hidden=(data,)), dict(os.environ)
    )
    try:
        await until(lambda: process.exit_code() is not None)
        no = "PermissionError"
        assert json.loads((folder / "found").read_text()) == {
            **dict.fromkeys(("keys", "agents", "listed", "other run", "by link", "home"), no),
            **dict.fromkeys(("made at home", "package written", "parent", "console"), no),
            "killed": no if fence_version() >= 6 else "done",
            "package": "of the package", "own": "mine", "program": "3",
            **dict.fromkeys(("temporary", "library", "random"), "done"),
        }, (folder / LOG).read_text()  # fmt: skip
        # The folder of its temporary files went with it.
        assert list(folder.glob("tmp-*")) == []
    finally:
        process.kill()


@needs_landlock
@pytest.mark.process
async def test_a_data_directory_below_a_skills_package_stays_closed(tmp_path: Path) -> None:
    data, package = tmp_path / "package" / "deep" / "data", tmp_path / "package"
    data.mkdir(parents=True)
    (data / "keys.json").write_text("the operator's key")
    (package / "deep" / "data.txt").write_text("of the package")
    (package / "run.py").write_text(
        "import pathlib, sys\nprint(pathlib.Path(sys.argv[1]).with_name('data.txt').read_text())\n"
        "pathlib.Path(sys.argv[1], 'keys.json').read_text()\n"
    )
    launched = Launch(
        f"below-{os.getpid()}", data / "runs" / "r", package / "run.py", (str(data),), {}, (data,)
    )
    process = SkillProcess.start(launched, dict(os.environ))
    try:
        await until(lambda: process.exit_code() is not None)
        output = (launched.folder / LOG).read_text()
        assert output.startswith("of the package\n")
        assert "PermissionError" in output
    finally:
        process.kill()


BARE = """
import os, sys, time
from pathlib import Path
from service_tui.skills.guard import Rules, enclose
from service_tui.skills.process import Launch, SkillProcess
while enclose(Rules((), ("/",), ())):
    pass
launch = Launch(sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3]), (), {})
process = SkillProcess.start(launch, dict(os.environ))
while process.exit_code() is None:
    time.sleep(0.02)
"""
"""Closes files until the kernel closes no more, as one that never could, and starts a skill."""


@pytest.mark.process
async def test_where_nothing_can_be_closed_a_skill_runs_and_its_output_says_so(
    tmp_path: Path,
) -> None:
    (tmp_path / "run.py").write_text("print('ran')")
    words = (f"bare-{os.getpid()}", str(tmp_path / "run"), str(tmp_path / "run.py"))
    program = await asyncio.create_subprocess_exec(sys.executable, "-c", BARE, *words)
    assert await program.wait() == 0
    assert (tmp_path / "run" / LOG).read_text() == f"guard: {UNFENCED}\nran\n"


PLANTS = {
    "a link": "import os; os.remove('output.log'); os.symlink(r'{}', 'output.log')",
    "a second name": "import os; os.remove('output.log'); os.link(r'{}', 'output.log')",
    "a pipe": "import os; os.remove('output.log'); os.mkfifo('output.log')",
}


@pytest.mark.process
@pytest.mark.parametrize("how", PLANTS)
async def test_no_output_is_written_through_what_a_skill_has_put_in_its_place(
    tmp_path: Path, how: str
) -> None:
    other = tmp_path / "run" / "other"
    (tmp_path / "run").mkdir()
    other.write_text("a" * (LOG_MAX + 1))
    for text_ in (PLANTS[how].format(other), "print('again')"):
        process = started(tmp_path / "run", text_)
        await until(lambda one=process: one.exit_code() is not None)
        process.let_go()
        bound_log(tmp_path / "run")
    assert other.read_text() == "a" * (LOG_MAX + 1)
    assert (tmp_path / "run" / LOG).read_text() == "again\n"


@pytest.mark.process
async def test_nothing_that_a_skill_has_left_in_its_home_runs_before_the_next_one(
    tmp_path: Path,
) -> None:
    folder = tmp_path / "run"
    for name in ("json.py", "ctypes.py", "psutil.py", "sitecustomize.py", "usercustomize.py"):
        for place in (folder, folder / ".local/lib/python3.11/site-packages"):
            place.mkdir(parents=True, exist_ok=True)
            (place / name).write_text("open('planted', 'w')\n")
    process = started(folder, "print('again')")
    await until(lambda: process.exit_code() is not None)
    process.let_go()
    assert (process.exit_code(), (folder / "planted").exists()) == (0, False)


# -- the output ----------------------------------------------------------------------------


@pytest.mark.parametrize(("size", "is_cut"), [(LOG_MAX, False), (LOG_MAX + 1, True)])
def test_an_output_is_cut_when_it_grows_too_long(
    tmp_path: Path, size: int, *, is_cut: bool
) -> None:
    content = b"a" * (size - LOG_KEPT) + b"z" * LOG_KEPT
    (tmp_path / LOG).write_bytes(content)
    bound_log(tmp_path)
    assert (tmp_path / LOG).read_bytes() == (CUT + b"z" * LOG_KEPT if is_cut else content)
    bound_log(tmp_path / "none")


FULL = {
    "signals": 3, "trades_attempted": 2, "trades_executed": 1, "amount_usd": 4.5,
    "skip_reason": "s" * 61, "other": "x",
}  # fmt: skip


FULL_SAID = "signals 3, trades attempted 2, trades executed 1, amount usd 4.5, skip reason " + (
    "s" * 60
)


@pytest.mark.parametrize(
    ("lines", "text"),
    [
        ((), ""),
        (("no report", " {}"), ""),
        (
            (json.dumps({"automaton": FULL}), "bye"),
            FULL_SAID,
        ),
        (('{"service_managed_output": {"signals": 0}}',), "signals 0"),
        (('{"automaton": {"signals": 1}}', '{"automaton": {"signals": 2}}'), "signals 2"),
        (('{"automaton": {"signals": 1}}', "{"), "the report is not JSON"),
        (('{"automaton": {"signals": NaN}}',), "the report is not JSON"),
        (('{"a":' * 100_000,), "the report is not JSON"),
        (('{"automaton": [1]}',), ""),
        (('{"other": {"signals": 1}}',), ""),
        (('{"automaton": {"signals": 1}}', *["x"] * 19), "signals 1"),
        (('{"automaton": {"signals": 1}}', *["x"] * 20), ""),
    ],
)
def test_a_report_is_the_last_object_of_the_last_lines(lines: tuple[str, ...], text: str) -> None:
    assert report_of(lines) == text


def test_the_newest_report_is_told() -> None:
    lines = ['{"automaton": {"signals": 1}}', "working", '{"automaton": {"signals": 2}}', "done"]
    assert report_of(lines) == "signals 2"
