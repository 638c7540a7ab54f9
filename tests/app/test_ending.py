"""The exit of a console process: signals, the report of a fault, and the terminal afterwards."""

import signal
from pathlib import Path

import pytest

from kit.terminal.own import COLUMNS, LINES, own_terminal
from service_tui.app.picture import BADGE, PICTURE_FILE
from service_tui.cli.main import STACKS_FILE
from service_tui.cli.parser import LOG_FILE
from service_tui.console.shell.terminal import HEIGHT_MAX

pytestmark = pytest.mark.process


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """A data directory with a last picture, which is drawn before anything else is there."""
    data = tmp_path / "data"
    data.mkdir(mode=0o700)
    (data / PICTURE_FILE).write_text(f"{COLUMNS}x{LINES}\nwhat was known")
    (data / PICTURE_FILE).chmod(0o600)
    return data


DRAWN = BADGE.encode()
ENTERED = b"\x1b[?1003h"
"""What tells that the last picture stands, and that the console itself has begun."""

TAKEN = b"\x1b[?2004h"
"""The last that is switched on, once keys are read."""


@pytest.mark.parametrize(
    ("name", "after"),
    [
        ("SIGTERM", DRAWN),
        ("SIGHUP", DRAWN),
        ("SIGINT", DRAWN),
        ("SIGQUIT", DRAWN),
        ("SIGUSR2", DRAWN),
        ("SIGXCPU", ENTERED),
        ("SIGTERM", ENTERED),
        ("SIGINT", ENTERED),
    ],
)
def test_a_signal_while_the_console_comes_up_gives_the_terminal_back(
    data: Path, name: str, after: bytes
) -> None:
    number = getattr(signal, name)
    with own_terminal(data.parent, "--data-dir", str(data)) as run:
        run.read_until(after)
        run.kill(number)
        assert run.wait(30) in {128 + number, 0}
        assert run.left_behind() == []
        assert b"Traceback" not in run.shown


@pytest.mark.parametrize("words", [(), ("tour",), ("replay",)])
def test_a_terminal_without_a_screen_gets_a_sentence_and_no_escapes(
    data: Path, words: tuple[str, ...]
) -> None:
    with own_terminal(data.parent, *words, "--data-dir", str(data), TERM="dumb") as run:
        assert run.wait(60) == 1
        assert run.shown.count(b"\n") == 1
        assert b"without a screen: 'service-tui --plain' gives lines of text" in run.shown
        assert b"\x1b" not in run.shown


def test_the_places_of_all_threads_are_written_down_and_the_console_goes_on(data: Path) -> None:
    with own_terminal(data.parent, "--data-dir", str(data)) as run:
        run.read_until(b"online")
        run.kill(signal.SIGUSR1)
        stacks = data / STACKS_FILE
        while b"Current thread" not in stacks.read_bytes():
            run.read_on()
        assert stacks.stat().st_mode & 0o777 == 0o600
        run.read_on()
        run.kill(signal.SIGQUIT)
        # It may still be coming up, and then ends as the test above says.
        assert run.wait(30) in {128 + signal.SIGQUIT, 0}
        assert run.left_behind() == []


def test_a_console_that_was_stopped_without_notice_goes_on_with_one_reader_and_ends(
    data: Path,
) -> None:
    with own_terminal(data.parent, "--data-dir", str(data)) as run:
        run.read_until(b"online")
        for _ in range(3):
            run.kill(signal.SIGSTOP)
            run.shown = b""
            run.kill(signal.SIGCONT)
            run.read_until(TAKEN)
            # The whole screen, its first line to its last.
            run.read_until(b"simulated")
            run.read_until(b"halt")
        run.type("\x11")
        assert run.wait(30) == 0
        assert run.left_behind() == []
    assert b"Current thread" not in (data / STACKS_FILE).read_bytes()


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="the memory is read in /proc")
def test_a_window_of_a_size_that_none_has_takes_no_more_memory_than_a_large_one(
    data: Path,
) -> None:
    with own_terminal(data.parent, "--data-dir", str(data)) as run:
        run.read_until(b"online")
        run.shown = b""
        run.resize(65_535, 65_535)
        # Its last line lies below the part that is painted.
        run.read_until(f"\x1b[{HEIGHT_MAX};".encode())
        assert run.memory() < 800_000_000
        run.shown = b""
        run.resize(COLUMNS, LINES)
        run.read_until(b"online")
        run.type("\x11")
        assert run.wait(60) == 0
        assert run.left_behind() == []


def test_a_terminal_that_reports_its_size_is_not_asked_to_count_pixels(data: Path) -> None:
    with own_terminal(data.parent, "--data-dir", str(data)) as run:
        run.read_until(b"\x1b[?2048$p")
        run.type("\x1b[?2048;2$y")
        run.read_until(b"\x1b[?2048h")
        run.read_until(b"online")
        assert b"\x1b[?1016h" not in run.shown
        run.type("\x11")
        assert run.wait(60) == 0
        assert run.left_behind() == []


@pytest.mark.slow
@pytest.mark.cold
def test_a_closed_terminal_ends_the_program_in_order(data: Path) -> None:
    with own_terminal(data.parent, "--data-dir", str(data), "--speed", "60") as run:
        run.read_until(b"online")
        run.close()
        assert run.wait(30) == 129
    assert (data / "desk.lock").read_bytes() == b""
    assert not (data / "desk.sqlite3-wal").exists()
    logged = (data / LOG_FILE).read_text()
    assert "Traceback" not in logged
    assert " ERROR " not in logged
