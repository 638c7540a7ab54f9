import ast
import gc
import io
import json
import os
import pty
import re
import select
import signal
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from stat import S_IMODE
from types import SimpleNamespace

import pytest

import service_tui
from service_tui import __main__, __version__, version
from service_tui.app import output
from service_tui.app.address import AddressError, check_url, folder_of
from service_tui.app.options import Options
from service_tui.cli import main as cli
from service_tui.cli.parser import USAGE_ERROR, check, parse, parser_of
from service_tui.commands import drill as command
from service_tui.config import read_environment

SECRET = "sk_live_a_canary_that_sings"  # noqa: S105
ESCAPE = "\x1b"


@pytest.fixture
def home(tmp_path: Path) -> dict[str, str]:
    """An environment whose every folder lies under the test's own."""
    names = {"HOME": "", "XDG_CONFIG_HOME": "config", "XDG_DATA_HOME": "share"}
    kept = {name: os.environ[name] for name in ("PATH",) if name in os.environ}
    return kept | {name: str(tmp_path / folder) for name, folder in names.items()}


@dataclass(frozen=True)
class Ran:
    """What a call in this process came to."""

    returncode: object
    stdout: str
    stderr: str


@pytest.fixture
def run(
    home: dict[str, str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[..., Ran]:
    """Runs a command line in this process, with that environment and some input."""

    def running(*words: str, given: str = "", **more: str) -> Ran:
        monkeypatch.setattr(os, "environ", home | more)
        monkeypatch.setattr(sys, "stdin", io.StringIO(given))
        code: object
        try:
            code = cli.run(words)
        except SystemExit as ended:
            code = ended.code
        said = capsys.readouterr()
        return Ran(code, said.out, said.err)

    return running


@pytest.fixture
def without_log(monkeypatch: pytest.MonkeyPatch) -> None:
    """No command of the test keeps a log: its file would be kept by the process of all tests."""
    monkeypatch.setattr(cli, "KEEPS_LOG", frozenset())


def said_to(
    home: dict[str, str], *words: str, where: int = subprocess.PIPE
) -> subprocess.CompletedProcess[str]:
    """What a program of its own comes to, whose output may lead elsewhere."""
    return subprocess.run(
        [sys.executable, "-m", "service_tui", *words],
        env=home,
        stdout=where,
        stderr=subprocess.PIPE,
        text=True,
        check=False,
        timeout=60,
    )


def one_line(done: Ran) -> str:
    """The one line on stderr of a call that could not do its work."""
    assert done.stdout == ""
    assert done.stderr.startswith("service-tui: ")
    assert done.stderr.endswith("\n")
    assert done.stderr.count("\n") == 1, done.stderr
    assert ESCAPE not in done.stderr
    return done.stderr


# -- systems ------------------------------------------------------------------------------------


def test_windows_gets_one_sentence_before_anything_needs_posix(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(__main__, "os", SimpleNamespace(name="nt"))
    # As it would be there: what lies behind this door cannot be imported.
    monkeypatch.setitem(sys.modules, "service_tui.cli.main", None)
    with pytest.raises(SystemExit) as ended:
        __main__.main()
    said = capsys.readouterr()
    assert (ended.value.code, said.out, said.err) == (2, "", __main__.NOT_ON_WINDOWS)
    assert said.err.count("\n") == 1
    assert "WSL" in said.err


def test_the_door_imports_nothing_that_windows_lacks() -> None:
    for path in (__main__.__file__, service_tui.__file__, version.__file__):
        tree = ast.parse(Path(str(path)).read_text(encoding="utf-8"))
        named = {
            name
            for line in tree.body
            for name in (
                [alias.name for alias in line.names]
                if isinstance(line, ast.Import)
                else [line.module]
                if isinstance(line, ast.ImportFrom)
                else []
            )
        }
        assert named <= {
            "gc",
            "importlib",
            "io",
            "os",
            "service_tui.version",
            "signal",
            "sys",
            "typing",
        }


# -- words --------------------------------------------------------------------------------------


@pytest.mark.cold
@pytest.mark.process
def test_the_version_is_one_line(home: dict[str, str]) -> None:
    done = said_to(home, "--version")
    assert (done.returncode, done.stdout, done.stderr) == (0, f"service-tui {__version__}\n", "")


def test_the_help_has_examples_and_names_the_log(run: Callable[..., Ran], tmp_path: Path) -> None:
    done = run("--help")
    assert (done.returncode, done.stderr) == (0, "")
    assert "examples:\n  service-tui  " in done.stdout
    for part in ("--speed 10", "login --url", "demo --screenshot", "doctor", "SERVICE_API_KEY"):
        assert part in done.stdout
    assert str(tmp_path / "share" / "service-tui" / "service-tui.log") in done.stdout
    assert max(map(len, done.stdout.splitlines())) <= 200
    assert not (tmp_path / "share").exists()


@pytest.mark.slow
@pytest.mark.parametrize(
    "words",
    [
        ("list", "--data-dir", "/tmp/d"),  # noqa: S108 - a name, nothing is written
        ("--data-dir", "/tmp/d", "list"),  # noqa: S108
        ("check", "momentum", "--data-dir", "/tmp/d"),  # noqa: S108
        ("run", "--data-dir", "/tmp/d", "momentum", "--", "--live"),  # noqa: S108
        ("run", "momentum", "--data-dir", "/tmp/d", "--", "--live"),  # noqa: S108
    ],
)
def test_the_folder_is_named_before_or_after_what_is_done_with_skills(
    words: tuple[str, ...],
) -> None:
    given = parse(parser_of(read_environment({})), ["skills", *words])
    assert given.data_dir == Path("/tmp/d")  # noqa: S108
    if given.act == "run":
        assert (given.name, given.words) == ("momentum", ["--live"])


@pytest.mark.parametrize(
    "words",
    [
        ("halt",),
        ("resume",),
        ("agent", "retire", "heron"),
        ("people", "list"),
        ("invite",),
        ("serve",),
        ("drill",),
        ("tour",),
    ],
    ids=lambda words: words[0],
)
def test_what_changes_a_service_is_refused_when_nothing_may_change(
    words: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    parser = parser_of(read_environment({}))
    check(parser, parse(parser, words))
    with pytest.raises(SystemExit) as caught:
        check(parser, parse(parser, (*words, "--read-only")))
    assert caught.value.code == USAGE_ERROR
    assert "--read-only" in capsys.readouterr().err


@pytest.mark.slow
@pytest.mark.parametrize(
    ("words", "fits"),
    [
        (("invite", "end", "i1"), True),
        (("invite", "new"), True),
        (("invite", "end"), False),
        (("invite", "new", "i1"), False),
        (("invite", "list", "i1"), False),
    ],
)
def test_an_invitation_is_named_to_end_it_and_only_then(
    words: tuple[str, ...], *, fits: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    parser = parser_of(read_environment({}))
    given = parse(parser, words)
    if fits:
        check(parser, given)
        return
    with pytest.raises(SystemExit):
        check(parser, given)
    assert "give the ID with 'invite end'" in capsys.readouterr().err


def test_the_words_of_a_skill_stand_behind_two_dashes(capsys: pytest.CaptureFixture[str]) -> None:
    parser = parser_of(read_environment({}))
    with pytest.raises(SystemExit) as caught:
        parse(parser, ["skills", "run", "momentum", "--once"])
    assert caught.value.code == USAGE_ERROR
    assert "arguments after --: -- --once" in capsys.readouterr().err
    for words in (["skills", "list", "--", "x"], ["skills", "run", "a", "b"]):
        with pytest.raises(SystemExit):
            parse(parser, words)
    given = parse(parser, ["skills", "run", "momentum", "--", "--data-dir", "theirs", "--"])
    assert (given.words, given.data_dir) == (["--data-dir", "theirs", "--"], None)


def test_the_doctor_knows_of_no_profile_that_is_not_stored(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["doctor", "--profile", "nope", "--data-dir", str(tmp_path / "d")]
    assert cli.run(words) == cli.CANNOT
    assert "no profile 'nope'" in capsys.readouterr().err


@pytest.mark.parametrize("door", ["serve", "halt", "resume", "login", "demo", "doctor"])
def test_every_command_has_its_help(door: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        cli.run([door, "--help"])
    assert caught.value.code == 0
    assert f"service-tui {door}" in capsys.readouterr().out


USAGE_ERRORS = {
    "an option that is none": (["--fast"], "--fast"),
    "an option cut short": (["--read"], "--read"),
    "cut short after a command": (["doctor", "--data", "x"], "--data"),
    "a command that is none": (["dance"], "dance"),
    "a speed that is none": (["--speed", "5"], "0, 1, 10, 60"),
    "a speed in words": (["--speed", "fast"], "fast"),
    "a plan that is none": (["--plan", "gold"], "'free', 'pro', 'elite'"),
    "a seed below nothing": (["--seed", "-1"], "-1"),
    "a seed too large": (["--seed", str(2**63)], "whole number"),
    "a seed that is none": (["--seed", "nan"], "nan"),
    "a missing value": (["--url"], "--url"),
    "no folder": (["--data-dir", ""], "empty"),
    "nobody's home": (["--data-dir", "~nobody-of-that-name/x"], "home"),
    "two services": (["--url", "https://a", "--profile", "b"], "Give one"),
    "login without an address": (["login"], "--url https://host"),
    "a port that is none": (["serve", "--port", "70000"], "65535"),
    "a service of its own elsewhere": (["serve", "--url", "https://a"], "no --url"),
    "a picture without a folder": (["demo"], "--screenshot"),
    "line breaks and escapes": (["doctor", "one\ntwo\x1b[2Jthree"], "one?two?[2Jthree"),
}


@pytest.mark.parametrize("name", USAGE_ERRORS)
def test_wrong_words_are_one_line_and_status_2(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    words, said = USAGE_ERRORS[name]
    with pytest.raises(SystemExit) as caught:
        cli.run(words)
    out, err = capsys.readouterr()
    assert caught.value.code == 2
    assert out == ""
    assert said in err
    assert err.startswith("service-tui: ")
    assert err.endswith("--help'\n")
    assert err.count("\n") == 1
    assert ESCAPE not in err


def test_wrong_words_leave_nothing_behind(run: Callable[..., Ran], tmp_path: Path) -> None:
    done = run("--speed", "5")
    assert done.returncode == 2
    one_line(done)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.process
def test_words_that_are_no_text_end_in_no_trace_of_a_fault(home: dict[str, str]) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "service_tui", b"--data-dir", b"/tmp/\xff\xfe", b"doctor"],
        env=home,
        capture_output=True,
        check=False,
        timeout=60,
    )
    assert done.stderr == b""
    assert b"\\udcff" in done.stdout


# -- the console --------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("words", [(), ("--read-only",), ("--speed", "10")])
@pytest.mark.usefixtures("without_log")
def test_without_a_terminal_the_console_says_so(
    run: Callable[..., Ran], tmp_path: Path, words: tuple[str, ...]
) -> None:
    data = tmp_path / "data"
    done = run(*words, "--data-dir", str(data))
    assert done.returncode == 1
    assert "needs a terminal" in one_line(done)


@pytest.mark.parametrize("stream", [0, 1, 2])
@pytest.mark.process
def test_one_stream_that_is_no_terminal_is_enough(home: dict[str, str], stream: int) -> None:
    main, side = pty.openpty()
    nowhere = os.open(os.devnull, os.O_RDWR)
    streams = [nowhere if number == stream else side for number in range(3)]
    done = subprocess.run(
        [sys.executable, "-m", "service_tui"],
        env=home,
        stdin=streams[0],
        stdout=streams[1],
        stderr=streams[2],
        check=False,
        timeout=60,
    )
    os.close(side)
    os.close(nowhere)
    assert done.returncode == 1
    shown = read_all(main)
    assert ESCAPE not in shown
    assert ("needs a terminal" in shown) == (stream != 2)


def read_all(descriptor: int) -> str:
    """What stands in a terminal whose other end is closed."""
    chunks = []
    while select.select([descriptor], [], [], 5)[0]:
        try:
            chunk = os.read(descriptor, 65_536)
        except OSError:
            break
        if not chunk:
            break
        chunks.append(chunk)
    os.close(descriptor)
    return b"".join(chunks).decode()


@pytest.mark.process
def test_closed_streams_are_no_terminal(home: dict[str, str]) -> None:
    done = subprocess.run(
        ["/bin/sh", "-c", f"exec {sys.executable} -m service_tui <&- 2>&1"],
        env=home,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert done.returncode == 1
    assert "needs a terminal" in done.stdout


# -- output that cannot be written ---------------------------------------------------------------

SAID = {
    "help": ["--help"],
    "doctor": ["doctor"],
    "skills": ["skills", "list"],
    "log": ["log", "verify"],
    "report": ["report"],
}


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no such device here")
@pytest.mark.parametrize("name", SAID)
@pytest.mark.process
def test_a_full_disk_is_one_line_and_no_fault(name: str, home: dict[str, str]) -> None:
    folder = Path(home["XDG_DATA_HOME"]) / "service-tui"
    folder.mkdir(parents=True, mode=0o700)
    (folder / "actions.jsonl").touch(mode=0o600)
    with Path("/dev/full").open("w", encoding="utf-8") as full:
        done = said_to(home, *SAID[name], where=full.fileno())
    assert done.stderr == ("service-tui: cannot write the output: No space left on device\n")
    assert done.returncode == 1


@pytest.mark.process
def test_a_reader_who_has_left_is_one_line_and_no_fault(home: dict[str, str]) -> None:
    ours, theirs = os.pipe()
    os.close(ours)
    done = said_to(home, "doctor", where=theirs)
    os.close(theirs)
    assert (done.returncode, done.stderr) == (
        1,
        "service-tui: cannot write the output: Broken pipe\n",
    )


@pytest.mark.process
def test_an_output_that_was_closed_is_one_line_and_no_fault(home: dict[str, str]) -> None:
    command = f"exec {sys.executable} -m service_tui doctor >&-"
    done = subprocess.run(
        ["/bin/sh", "-c", command],
        env=home,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert (done.returncode, done.stderr) == (
        1,
        "service-tui: cannot write the output: it is closed\n",
    )


# -- folders ------------------------------------------------------------------------------------


def test_a_file_where_a_folder_belongs_is_one_line(run: Callable[..., Ran], tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("")
    done = run("--data-dir", str(file))
    assert done.returncode == 1
    assert f"{file} is not a directory" in one_line(done)
    done = run(SERVICE_TUI_DATA_DIR=str(file))
    assert done.returncode == 1
    assert f"{file} is not a directory" in one_line(done)


@pytest.mark.parametrize(
    ("folder", "refusal"),
    [
        ("{file}/below", "{where} cannot be used as a data directory: Not a directory"),
        ("/proc/nowhere/at/all", "{where} cannot be used as a data directory: No such file"),
        ("/" + "x" * 300, "cannot use {where} (File name too long)"),
    ],
)
def test_a_folder_that_cannot_be_is_one_line(
    run: Callable[..., Ran], tmp_path: Path, folder: str, refusal: str
) -> None:
    (tmp_path / "file").write_text("")
    where = folder.format(file=tmp_path / "file")
    done = run("--data-dir", where, "--url", "https://h", SERVICE_API_KEY=SECRET)
    assert done.returncode == 1
    line = one_line(done)
    assert refusal.format(where=where) in line
    assert "--data-dir" in line
    assert SECRET not in line


# -- other services -----------------------------------------------------------------------------


def options(monkeypatch: pytest.MonkeyPatch, *words: str, **environ: str) -> Options:
    """What the words come to, without doing it."""
    found: list[Options] = []
    monkeypatch.setitem(cli._COMMANDS, "console", lambda asked, _: found.append(asked) or 0)
    monkeypatch.setattr(cli, "KEEPS_LOG", frozenset())
    monkeypatch.setattr(os, "environ", environ)
    code = cli.run(words)
    if code:
        raise SystemExit(code)
    return found[0]


@pytest.fixture
def stored(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """An environment with one profile stored; the platform's folders lie under the test's own."""
    for name, folder in (("XDG_CONFIG_HOME", "config"), ("XDG_DATA_HOME", "share")):
        monkeypatch.setenv(name, str(tmp_path / folder))
    (tmp_path / "config" / "service-tui").mkdir(parents=True)
    (tmp_path / "config" / "service-tui" / "profiles.json").write_text(
        json.dumps({"office": {"url": "https://office.example", "key": SECRET}})
    )
    return {
        "XDG_CONFIG_HOME": str(tmp_path / "config"),
        "XDG_DATA_HOME": str(tmp_path / "share"),
        "HOME": str(tmp_path),
    }


Stored = dict[str, str]
Patch = pytest.MonkeyPatch


def test_without_words_the_embedded_service_is_opened(stored: Stored, monkeypatch: Patch) -> None:
    asked = options(monkeypatch, **stored)
    assert (asked.url, asked.api_key, asked.read_only, asked.speed) == (None, None, False, None)
    assert str(asked.data_dir) == stored["XDG_DATA_HOME"] + "/service-tui"
    assert asked.log_path.parent == asked.data_dir


def test_flags_are_taken_before_and_after_each_other(
    stored: Stored, monkeypatch: Patch, tmp_path: Path
) -> None:
    words = ("--seed", "7", "--plan", "elite", "--data-dir", str(tmp_path / "d"), "--speed", "0")
    asked = options(monkeypatch, *words, **stored)
    assert (asked.seed, asked.plan.value, asked.speed) == (7, "elite", 0)
    assert asked.data_dir == tmp_path / "d"


def test_each_service_has_a_folder_of_its_own(
    stored: Stored, monkeypatch: Patch, tmp_path: Path
) -> None:
    asked = options(
        monkeypatch,
        *("--url", "https://H:8443/api/", "--data-dir", str(tmp_path)),
        SERVICE_API_KEY=SECRET,
        **stored,
    )
    assert asked.url == "https://h:8443/api"
    assert asked.data_dir == tmp_path / "at-h_8443_api"
    assert asked.log_path == tmp_path / "service-tui.log"
    assert asked.api_key == SECRET
    assert SECRET not in repr(asked)


def test_a_profile_brings_its_address_and_key(stored: Stored, monkeypatch: Patch) -> None:
    asked = options(monkeypatch, "--profile", "office", SERVICE_API_KEY="another_key", **stored)
    assert (asked.url, asked.api_key) == ("https://office.example", SECRET)


@pytest.mark.slow
def test_a_stored_key_is_found_by_its_address(stored: Stored, monkeypatch: Patch) -> None:
    asked = options(monkeypatch, "--url", "https://OFFICE.example/", **stored)
    assert asked.api_key == SECRET


@pytest.mark.slow
def test_the_key_of_the_environment_goes_to_its_own_address_only(
    stored: Stored, monkeypatch: Patch, capsys: pytest.CaptureFixture[str]
) -> None:
    environ = {"SERVICE_API_KEY": "key_of_a", "SERVICE_API_URL": "https://a.example", **stored}
    assert options(monkeypatch, **environ).api_key == "key_of_a"
    assert options(monkeypatch, "--url", "https://a.example/", **environ).api_key == "key_of_a"
    assert options(monkeypatch, "--url", "https://office.example", **environ).api_key == SECRET
    with pytest.raises(SystemExit, match="1"):
        options(monkeypatch, "--url", "https://b.example", **environ)
    assert "no key for https://b.example" in capsys.readouterr().err
    with pytest.raises(SystemExit, match="1"):
        options(monkeypatch, "--url", "https://a.example.net", **environ)
    assert "no key for https://a.example.net" in capsys.readouterr().err


def test_an_address_in_the_environment_without_a_key_is_not_opened(
    stored: Stored, monkeypatch: Patch
) -> None:
    assert options(monkeypatch, SERVICE_API_URL="https://a.example", **stored).url is None


CANNOT = {
    "no key": (["--url", "https://h.example"], "run 'service-tui login --url https://h.example'"),
    "no such profile": (["--profile", "home"], "no profile 'home' (stored: office)"),
    "no address": (["--url", "h.example"], "like https://host"),
    "no host": (["--url", "https://"], "like https://host"),
    "a broken host": (["--url", "https://[::1"], "like https://host"),
    "a port that is none": (["--url", "https://h:99999"], "like https://host"),
    "another scheme": (["--url", "ftp://h"], "like https://host"),
    "a query": (["--url", "https://h?x"], "like https://host"),
    "a password": (["--url", f"https://me:{SECRET}@h"], "is not accepted"),
    "unencrypted": (["--url", "http://h.example"], "use https"),
    "an address for the doctor": (["doctor", "--url", "http://[::1"], "like https://host"),
    "an address to log in to": (["login", "--url", "http://h.example"], "use https"),
}


@pytest.mark.parametrize("name", CANNOT)
def test_what_cannot_be_done_is_one_line_and_status_1(
    name: str, stored: Stored, monkeypatch: Patch, capsys: pytest.CaptureFixture[str]
) -> None:
    words, said = CANNOT[name]
    with pytest.raises(SystemExit, match="1"):
        options(monkeypatch, *words, **stored)
    out, err = capsys.readouterr()
    assert out == ""
    assert said in err
    assert err.startswith("service-tui: ")
    assert err.count("\n") == 1
    assert SECRET not in err


def test_profiles_that_cannot_be_read_are_one_line(
    stored: Stored, monkeypatch: Patch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    path = tmp_path / "config" / "service-tui" / "profiles.json"
    for content, mode in (("{", 0o600), ("{}", 0o666)):
        path.write_text(content)
        path.chmod(mode)
        with pytest.raises(SystemExit, match="1"):
            options(monkeypatch, "--profile", "office", **stored)
        err = capsys.readouterr().err
        assert "profiles.json" in err
        assert err.count("\n") == 1


@pytest.mark.parametrize(
    ("url", "address"),
    [
        ("https://host", "https://host"),
        (" https://Host:443/ ", "https://host:443"),
        ("http://127.0.0.1:8000", "http://127.0.0.1:8000"),
        ("http://[::1]:8000/x/", "http://[::1]:8000/x"),
        ("http://a.localhost", "http://a.localhost"),
    ],
)
def test_an_address_in_its_plain_form(url: str, address: str) -> None:
    assert check_url(url, may_be_plain=False) == address
    assert re.fullmatch(r"at-[A-Za-z0-9._-]+", folder_of(address))


def test_plain_http_to_any_host_is_a_choice_of_the_person() -> None:
    assert check_url("http://h.example", may_be_plain=True) == "http://h.example"
    with pytest.raises(AddressError, match="SERVICE_ALLOW_INSECURE_BASE_URL"):
        check_url("http://h.example", may_be_plain=False)


# -- login --------------------------------------------------------------------------------------


@pytest.mark.process
def test_a_key_that_is_typed_is_stored_and_never_shown(
    home: dict[str, str], tmp_path: Path
) -> None:
    main, side = pty.openpty()
    words = ["login", "--url", "https://h.example/", "--name", "office"]
    with subprocess.Popen(
        [sys.executable, "-m", "service_tui", *words],
        env=home,
        stdin=side,
        stdout=side,
        stderr=side,
        start_new_session=True,
    ) as process:
        os.close(side)
        shown = b""
        while b"API key for https://h.example: " not in shown:
            assert select.select([main], [], [], 30)[0], shown
            shown += os.read(main, 4_096)
        os.write(main, f"{SECRET}\n".encode())
        rest = read_all(main)
        assert process.wait(30) == 0
    assert SECRET not in shown.decode() + rest
    assert "service-tui --profile office" in rest
    path = tmp_path / "config" / "service-tui" / "profiles.json"
    assert json.loads(path.read_text()) == {"office": {"url": "https://h.example", "key": SECRET}}
    assert S_IMODE(path.stat().st_mode) == 0o600
    assert S_IMODE(path.parent.stat().st_mode) == 0o700
    log = tmp_path / "share" / "service-tui" / "service-tui.log"
    assert SECRET not in log.read_text()
    assert S_IMODE(log.stat().st_mode) == 0o600


@pytest.mark.slow
@pytest.mark.usefixtures("without_log")
def test_a_key_that_is_handed_in_is_stored_and_no_key_is_not(
    run: Callable[..., Ran], tmp_path: Path
) -> None:
    path = tmp_path / "config" / "service-tui" / "profiles.json"
    words = ("login", "--url", "https://h.example")
    for given in ("", "\n", "two words\n", "abc\n"):
        done = run(*words, given=given)
        assert done.returncode == 1
        assert "nothing stored" in one_line(done)
        assert not path.exists()
    done = run(*words, given=f"{SECRET}\n")
    assert (done.returncode, done.stderr) == (0, "")
    assert SECRET not in done.stdout
    assert json.loads(path.read_text())["default"]["key"] == SECRET
    # What is stored is not overwritten by accident.
    other = ("login", "--url", "https://other.example")
    done = run(*other, given="sk_live_another\n")
    assert done.returncode == 1
    line = one_line(done)
    assert "'default' has a key for https://h.example" in line
    assert "--replace" in line
    assert json.loads(path.read_text())["default"]["key"] == SECRET
    done = run(*other, "--replace", given="sk_live_another\n")
    assert done.returncode == 0, done.stderr
    assert json.loads(path.read_text())["default"]["url"] == "https://other.example"


@pytest.mark.usefixtures("without_log")
def test_a_key_that_cannot_be_stored_is_one_line(run: Callable[..., Ran], tmp_path: Path) -> None:
    (tmp_path / "config").write_text("")
    done = run("login", "--url", "https://h.example", given=f"{SECRET}\n")
    assert done.returncode == 1
    line = one_line(done)
    assert "key not stored: " in line
    assert SECRET not in line


# -- doctor, environment, faults ----------------------------------------------------------------


def test_the_doctor_finds_a_healthy_place_and_touches_nothing(
    run: Callable[..., Ran], tmp_path: Path
) -> None:
    done = run("doctor", "--data-dir", str(tmp_path / "data"))
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith(f"service-tui {__version__}, Python 3.")
    assert done.stdout.endswith("no problems\n")
    assert str(tmp_path / "data") in done.stdout
    assert list(tmp_path.iterdir()) == []


def test_the_doctor_finds_what_is_wrong_and_says_so_by_its_status(
    run: Callable[..., Ran], tmp_path: Path
) -> None:
    (tmp_path / "desk.sqlite3").write_bytes(b"not a database at all")
    done = run("doctor", SERVICE_TUI_DATA_DIR=str(tmp_path))
    assert done.returncode == 1
    assert "PROBLEM" in done.stdout
    assert (tmp_path / "desk.sqlite3").read_bytes() == b"not a database at all"


def test_the_wallets_key_is_taken_out_of_the_environment(tmp_path: Path) -> None:
    environ = {"WALLET_PRIVATE_KEY": SECRET, "SERVICE_API_KEY": SECRET, "HOME": str(tmp_path)}
    found = read_environment(environ)
    assert "WALLET_PRIVATE_KEY" not in environ
    assert found.api_key == SECRET
    assert SECRET not in repr(found)


@pytest.mark.process
def test_no_child_inherits_the_wallets_key(home: dict[str, str]) -> None:
    code = (
        "import os, subprocess, sys; from service_tui.cli.main import run; run(['doctor']);"
        "print(subprocess.run(['env'], capture_output=True, text=True).stdout)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        env=home | {"WALLET_PRIVATE_KEY": SECRET},
        capture_output=True,
        text=True,
        check=True,
    )
    assert "HOME=" in done.stdout
    assert SECRET not in done.stdout + done.stderr


@pytest.mark.parametrize(
    ("said", "meant"), [("1", True), ("true", True), ("YES", True), ("0", False), ("", False)]
)
def test_what_counts_as_yes_in_the_environment(said: str, *, meant: bool) -> None:
    assert read_environment({"SERVICE_ALLOW_INSECURE_BASE_URL": said}).allow_insecure == meant


def test_a_home_that_is_nobodys_is_taken_as_it_is() -> None:
    found = read_environment({"SERVICE_TUI_DATA_DIR": "~nobody-of-that-name/desk"})
    assert str(found.data_dir) == "~nobody-of-that-name/desk"
    assert read_environment({"SERVICE_TUI_DATA_DIR": "~/desk"}).data_dir == Path.home() / "desk"


def test_a_fault_of_ours_is_a_page_of_places_without_values(
    stored: Stored, monkeypatch: Patch, capsys: pytest.CaptureFixture[str]
) -> None:
    def broken(*_: object) -> int:
        raise RuntimeError(SECRET)

    monkeypatch.setitem(cli._COMMANDS, "doctor", broken)
    monkeypatch.setattr(os, "environ", dict(stored))
    assert cli.run(["doctor"]) == cli.BUG == 70
    err = capsys.readouterr().err
    assert "RuntimeError" in err
    assert "test_cli.py" in err
    assert SECRET not in err


def test_an_interrupt_is_no_fault(stored: Stored, monkeypatch: Patch) -> None:
    def interrupted(*_: object) -> int:
        raise KeyboardInterrupt

    monkeypatch.setitem(cli._COMMANDS, "doctor", interrupted)
    monkeypatch.setattr(os, "environ", dict(stored))
    assert cli.run(["doctor"]) == 130


LOOKING = """
import os, subprocess, sys
from ctypes import CDLL
from service_tui.config import read_environment

assert read_environment(os.environ).wallet_key
print("dumpable", CDLL(None).prctl(3, 0, 0, 0, 0), flush=True)
look = "import os; print(open(f'/proc/{os.getppid()}/environ').read(), os.environ)"
subprocess.run([sys.executable, "-c", look])
"""


@pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="no such files here")
@pytest.mark.process
def test_a_child_finds_no_wallet_key_in_what_its_parent_was_started_with() -> None:
    secret = "5ec4e7" * 10 + "0815"
    around = {**os.environ, "WALLET_PRIVATE_KEY": secret, "SAID_BESIDE": "it"}
    said = subprocess.run(
        [sys.executable, "-c", LOOKING], env=around, capture_output=True, text=True, check=True
    )
    assert "dumpable 0" in said.stdout
    # Whoever may look at all finds the rest as it was.
    assert "SAID_BESIDE=it" in said.stdout or "PermissionError" in said.stderr
    assert secret not in said.stdout + said.stderr


def test_the_end_looks_for_no_more_garbage(monkeypatch: pytest.MonkeyPatch) -> None:
    frozen: list[str] = []
    monkeypatch.setattr(__main__, "gc", SimpleNamespace(freeze=lambda: frozen.append("all")))
    monkeypatch.setattr(sys, "argv", ["service-tui", "--version"])
    with pytest.raises(SystemExit) as ended:
        __main__.main()
    assert (ended.value.code, frozen) == (0, ["all"])


def test_a_signal_that_is_ignored_stays_ignored_and_a_gone_terminal_keeps_the_code(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class Left(BaseException):
        """The process is gone."""

    def leave(code: int) -> None:
        raise Left(code)

    def gone() -> None:
        raise OSError("no terminal")

    taken: list[int] = []
    ignored = signal.SIGHUP
    monkeypatch.setattr(
        __main__.signal, "getsignal",
        lambda number: signal.SIG_IGN if number == ignored else signal.default_int_handler,
    )  # fmt: skip
    monkeypatch.setattr(__main__.signal, "signal", lambda number, _: taken.append(number))
    monkeypatch.setattr(__main__, "_run", lambda _: 7)
    monkeypatch.setattr(__main__, "os", SimpleNamespace(name="posix", _exit=leave))
    monkeypatch.setattr(sys, "stderr", SimpleNamespace(flush=gone))
    with pytest.raises(Left) as left:
        __main__.main()
    assert left.value.args == (7,)
    assert taken == [signal.SIGTERM, signal.SIGQUIT, signal.SIGINT]


def test_a_version_that_nobody_reads_is_no_success(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def refuse(*_: str) -> None:
        raise output.OutputError("the output is closed")

    monkeypatch.setattr(output, "print_lines", refuse)
    assert __main__._run(["--version"]) == 1
    assert capsys.readouterr().err == "service-tui: the output is closed\n"


@pytest.mark.slow
def test_a_drill_is_played_with_the_collector_on(
    stored: Stored, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    was_on: list[bool] = []

    def played(*_: object) -> command.DrillExit:
        was_on.append(gc.isenabled())
        return command.DrillExit(0, ())

    monkeypatch.setattr(cli, "_require_terminal", lambda: None)
    monkeypatch.setattr(cli, "_prepare_for_keys", lambda: None)
    monkeypatch.setattr(command, "play", played)
    monkeypatch.setattr(os, "environ", stored)
    assert cli.run(["--data-dir", str(tmp_path), "drill", "flash-crash"]) == 0
    assert was_on == [True]
