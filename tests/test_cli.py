"""The command line: commands, refusals and exit codes."""

import ast
import gc
import json
import os
import pty
import re
import select
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from stat import S_IMODE

import pytest

import service_tui
from kit.command_line import Ran, ran
from service_tui import __main__, __version__, version
from service_tui.app.address import AddressError, check_url, folder_of
from service_tui.app.output import OutputError
from service_tui.cli import main as cli
from service_tui.cli.begin import CannotError
from service_tui.cli.parser import USAGE_ERROR, check, parse, parser_of
from service_tui.config import read_environment

SECRET = "sk_live_a_canary_that_sings"  # noqa: S105
ESCAPE = "\x1b"


@pytest.fixture
def home(tmp_path: Path) -> dict[str, str]:
    """An environment whose every folder lies under the test's own."""
    names = {"HOME": "", "XDG_CONFIG_HOME": "config", "XDG_DATA_HOME": "share"}
    kept = {name: os.environ[name] for name in ("PATH",) if name in os.environ}
    return kept | {name: str(tmp_path / folder) for name, folder in names.items()}


@pytest.fixture
def run(home: dict[str, str]) -> Callable[..., Ran]:
    """Runs a command line in this process, with that environment and some input."""

    def running(*words: str, given: str = "", **more: str) -> Ran:
        return ran(words, typed=given, environ=home | more)

    return running


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
    assert done.out == ""
    assert done.err.startswith("service-tui: ")
    assert done.err.endswith("\n")
    assert done.err.count("\n") == 1, done.err
    assert ESCAPE not in done.err
    return done.err


# -- systems ------------------------------------------------------------------------------------


def test_windows_gets_one_sentence(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        __main__.main(system="nt")
    said = capsys.readouterr()
    assert (ended.value.code, said.out, said.err) == (2, "", __main__.NOT_ON_WINDOWS)
    assert said.err.count("\n") == 1
    assert "WSL" in said.err


NOHUP = """
import signal, sys
signal.signal(signal.SIGHUP, signal.SIG_IGN)
from service_tui.__main__ import main
sys.argv = ["service-tui", "--version"]
try:
    main()
finally:
    print(signal.getsignal(signal.SIGHUP) is signal.SIG_IGN)
    print(signal.getsignal(signal.SIGTERM) in (signal.SIG_DFL, signal.SIG_IGN))
"""


@pytest.mark.cold
@pytest.mark.process
def test_a_signal_that_is_ignored_stays_ignored() -> None:
    done = subprocess.run([sys.executable, "-c", NOHUP], capture_output=True, text=True, check=True)
    assert done.stdout == f"service-tui {__version__}\nTrue\nFalse\n"


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
    assert (done.code, done.err) == (0, "")
    assert "examples:\n  service-tui  " in done.out
    for part in ("--speed 10", "login --url", "demo --screenshot", "doctor", "SERVICE_API_KEY"):
        assert part in done.out
    assert str(tmp_path / "share" / "service-tui" / "service-tui.log") in done.out
    assert max(map(len, done.out.splitlines())) <= 200
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
    assert done.code == 2
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
def test_without_a_terminal_the_console_says_so(
    run: Callable[..., Ran], tmp_path: Path, words: tuple[str, ...]
) -> None:
    data = tmp_path / "data"
    done = run(*words, "--data-dir", str(data))
    assert done.code == 1
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
    "version": ["--version"],
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
    assert done.code == 1
    assert f"{file} is not a directory" in one_line(done)
    done = run(SERVICE_TUI_DATA_DIR=str(file))
    assert done.code == 1
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
    home: dict[str, str], tmp_path: Path, folder: str, refusal: str
) -> None:
    (tmp_path / "file").write_text("")
    where = folder.format(file=tmp_path / "file")
    words = ["--data-dir", where, "--url", "https://h"]
    done = ran(words, environ=home | {"SERVICE_API_KEY": SECRET}, starts_log=cli.start_log)
    assert done.code == 1
    line = one_line(done)
    assert refusal.format(where=where) in line
    assert "--data-dir" in line
    assert SECRET not in line


def test_pages_are_not_given_the_wallets_key_and_it_is_said(
    run: Callable[..., Ran], tmp_path: Path
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        words = ["web", "--port", port, "--data-dir", str(tmp_path / "d")]
        done = run(*words, WALLET_PRIVATE_KEY="0x" + "7" * 64)
    assert done.code == 1
    assert "WALLET_PRIVATE_KEY stays here" in done.out
    assert f"cannot use port {port}" in done.err
    assert "7777" not in done.out + done.err


# -- other services -----------------------------------------------------------------------------


CANNOT = {
    "no key": (["--url", "https://h.example"], "run 'service-tui login --url https://h.example'"),
    "no such profile": (["--profile", "home"], "no profile 'home' (stored: office)"),
    "a buy for no such profile": (
        ["buy", "rain", "yes", "5", "--yes", "--profile", "home"],
        "no profile 'home' (stored: office)",
    ),
    "a list of another service": (["status", "--profile", "office"], "only for the embedded"),
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
    name: str, run: Callable[..., Ran], tmp_path: Path
) -> None:
    path = tmp_path / "config" / "service-tui" / "profiles.json"
    path.parent.mkdir(parents=True)
    path.write_text(json.dumps({"office": {"url": "https://office.example", "key": SECRET}}))
    path.chmod(0o600)
    words, said = CANNOT[name]
    done = run(*words)
    assert done.code == 1
    line = one_line(done)
    assert said in line
    assert SECRET not in line


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
def test_a_key_that_is_handed_in_is_stored_and_no_key_is_not(
    run: Callable[..., Ran], tmp_path: Path
) -> None:
    path = tmp_path / "config" / "service-tui" / "profiles.json"
    words = ("login", "--url", "https://h.example")
    for given in ("", "\n", "two words\n", "abc\n"):
        done = run(*words, given=given)
        assert done.code == 1
        assert "nothing stored" in one_line(done)
        assert not path.exists()
    done = run(*words, given=f"{SECRET}\n")
    assert (done.code, done.err) == (0, "")
    assert SECRET not in done.out
    assert json.loads(path.read_text())["default"]["key"] == SECRET
    # What is stored is not overwritten by accident.
    other = ("login", "--url", "https://other.example")
    done = run(*other, given="sk_live_another\n")
    assert done.code == 1
    line = one_line(done)
    assert "'default' has a key for https://h.example" in line
    assert "--replace" in line
    assert json.loads(path.read_text())["default"]["key"] == SECRET
    done = run(*other, "--replace", given="sk_live_another\n")
    assert done.code == 0, done.err
    assert json.loads(path.read_text())["default"]["url"] == "https://other.example"


def test_a_key_that_cannot_be_stored_is_one_line(run: Callable[..., Ran], tmp_path: Path) -> None:
    (tmp_path / "config").write_text("")
    done = run("login", "--url", "https://h.example", given=f"{SECRET}\n")
    assert done.code == 1
    line = one_line(done)
    assert "key not stored: " in line
    assert SECRET not in line


# -- doctor, environment, faults ----------------------------------------------------------------


def test_the_doctor_finds_a_healthy_place_and_touches_nothing(
    run: Callable[..., Ran], tmp_path: Path
) -> None:
    done = run("doctor", "--data-dir", str(tmp_path / "data"))
    assert (done.code, done.err) == (0, "")
    assert done.out.startswith(f"service-tui {__version__}, Python 3.")
    assert done.out.endswith("no problems\n")
    assert str(tmp_path / "data") in done.out
    assert list(tmp_path.iterdir()) == []


def test_the_doctor_finds_what_is_wrong_and_says_so_by_its_status(
    run: Callable[..., Ran], tmp_path: Path
) -> None:
    (tmp_path / "desk.sqlite3").write_bytes(b"not a database at all")
    done = run("doctor", SERVICE_TUI_DATA_DIR=str(tmp_path))
    assert done.code == 1
    assert "PROBLEM" in done.out
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


@pytest.mark.parametrize("words", [["doctor"], ["halt"]])
def test_a_fault_of_ours_is_a_page_of_places_without_values(
    home: dict[str, str], words: list[str]
) -> None:
    def broken(*_: object) -> int:
        raise RuntimeError(SECRET)

    done = ran(words, environ=home, commands={words[0]: broken})
    assert done.code == cli.BUG == 70
    assert "RuntimeError" in done.err
    assert "test_cli.py" in done.err
    assert SECRET not in done.err
    # A command that keeps a log names it.
    assert ("service-tui.log" in done.err) is (words == ["halt"])


@pytest.mark.parametrize(
    ("error", "code", "said"),
    [
        (CannotError("no such thing"), 1, "service-tui: no such thing\n"),
        (AddressError("no address"), 1, "service-tui: no address\n"),
        (OutputError("nobody reads"), 1, "service-tui: nobody reads\n"),
        (KeyboardInterrupt(), 130, ""),
    ],
)
def test_what_a_command_ends_with_is_a_sentence_and_a_code(
    home: dict[str, str], error: BaseException, code: int, said: str
) -> None:
    def work(*_: object) -> int:
        raise error

    done = ran(["doctor"], environ=home, commands={"doctor": work})
    assert (done.code, done.out, done.err) == (code, "", said)
    assert gc.isenabled()


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


# -- commands -----------------------------------------------------------------------------------


@pytest.mark.process
@pytest.mark.parametrize(
    ("word", "address"), [("yes", "https://b.example"), ("y", "https://a.example")]
)
def test_at_a_terminal_a_stored_key_is_replaced_after_a_yes(
    home: dict[str, str], tmp_path: Path, word: str, address: str
) -> None:
    words = ["login", "--url", "https://a.example"]
    assert ran(words, typed=f"{SECRET}\n", environ=home).code == 0
    main, side = pty.openpty()
    with subprocess.Popen(
        [sys.executable, "-m", "service_tui", "login", "--url", "https://b.example"],
        env=home, stdin=side, stdout=side, stderr=side, start_new_session=True,
    ) as process:  # fmt: skip
        os.close(side)
        for asked, typed in (("API key for https://b.example: ", SECRET), ("replace it:", word)):
            shown = b""
            while asked.encode() not in shown:
                assert select.select([main], [], [], 30)[0], shown
                shown += os.read(main, 4_096)
            os.write(main, f"{typed}\n".encode())
        rest = read_all(main)
        assert process.wait(30) == (0 if word == "yes" else 1)
    assert ("nothing stored" in rest) is (word != "yes")
    path = tmp_path / "config" / "service-tui" / "profiles.json"
    assert json.loads(path.read_text())["default"]["url"] == address


def test_a_stored_key_is_removed_by_its_name(run: Callable[..., Ran]) -> None:
    words = ("login", "--url", "https://h.example", "--name", "team")
    assert run(*words, given=f"\ufeff{SECRET}\r\n").code == 0
    # A page takes the key that is stored, and no other.
    away = run("web", "--url", "https://other.example", SERVICE_API_KEY=SECRET)
    assert "no stored key for https://other.example" in one_line(away)
    done = run("logout", "--name", "team")
    assert (done.code, done.out) == (0, "removed the key for https://h.example\n")
    assert "no profile 'team'" in one_line(run("logout", "--name", "team"))
    assert "nothing stored" in one_line(ran(words, typed=None))


@pytest.mark.process
def test_input_that_is_no_text_stores_nothing(home: dict[str, str], tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "service_tui", "login", "--url", "https://h.example"],
        env=home, input=b"\xff\xfe\n", capture_output=True, check=False, timeout=60,
    )  # fmt: skip
    assert (done.returncode, b"not UTF-8 text; nothing stored" in done.stderr) == (1, True)
    assert not (tmp_path / "config").exists()


REFUSED = {
    "a replay at no time": (["replay", "--at", "soon"], "invalid --at"),
    "a replay without a screen": (["replay"], "needs a terminal"),
    "a drill without a screen": (["drill", "flash-crash"], "needs a terminal"),
    "a drill that is none": (["drill", "--check", "nope"], "nope"),
    "a shared desk without a database": (["db", "check"], "database"),
    "a copy that is none": (["restore", "nope.db"], "nope.db"),
    "a skill that is none": (["skills", "check", "nope"], "nope"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_a_command_cannot_do_is_one_line(
    name: str, run: Callable[..., Ran], tmp_path: Path
) -> None:
    words, said = REFUSED[name]
    done = run(*words, "--data-dir", str(tmp_path / "d"))
    assert done.code == 1, done
    assert said in one_line(done)


@pytest.mark.parametrize("kind", ["dumb", "unknown"])
@pytest.mark.process
def test_a_terminal_without_a_screen_is_told_of_lines(home: dict[str, str], kind: str) -> None:
    main, side = pty.openpty()
    done = subprocess.run(
        [sys.executable, "-m", "service_tui"], env=home | {"TERM": kind},
        stdin=side, stdout=side, stderr=side, check=False, timeout=60,
    )  # fmt: skip
    os.close(side)
    assert done.returncode == 1
    assert f"TERM={kind} is a terminal without a screen: 'service-tui --plain'" in read_all(main)


@pytest.mark.parametrize(
    ("words", "flags"),
    [
        (
            "--data-dir /d --read-only --log-level debug",
            "--data-dir /d --read-only --log-level debug",
        ),
        ("--url https://h", "--url https://h"),
        ("--profile team", "--profile team"),
        ("--port 8080", ""),
    ],
)
def test_a_page_s_console_is_started_with_the_settings_of_its_pages(words: str, flags: str) -> None:
    arguments = parse(parser_of(read_environment({})), ["web", *words.split()])
    url = "https://h" if {"--url", "--profile"} & {*words.split()} else None
    assert cli.page_flags(arguments, url) == flags.split()
