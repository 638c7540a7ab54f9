"""What a terminal sends, read by the thread that reads it: nothing that comes may end it."""

import os
import select
import signal
import threading
from collections.abc import Callable, Iterable
from pathlib import Path
from queue import Queue
from types import SimpleNamespace
from typing import Final

import pytest
from textual import constants, events
from textual.app import App
from textual.geometry import Size
from textual.message import Message

from kit.console.textual_private import read_by
from kit.terminal.own import LINES, own_terminal
from service_tui.console.shell import terminal
from service_tui.console.shell.terminal import (
    CALM_S,
    ESCAPE_S,
    PASTE_MAX,
    PASTE_S,
    KeyParser,
    Terminal,
)

BROKEN: Final = {
    "half a letter": b"\xe2\x98",
    "a letter of another encoding": b"caf\xe9 ",
    "no letter at all": b"\xff\xfe\x80",
    "a key without a number": b"\x1b[:;:1u",
    "a key beyond every letter": b"\x1b[2004201u",
    "a key of many digits": b"\x1b[99999999999999999999u",
    "a text beyond every letter": b"\x1b[97;1;99999999999999999999u",
    "modifiers in two parts": b"\x1b[97;1:3u",
    "a window larger than any": b"\x1b[48;99999999;99999999;1;1t",
    "a window of no size": b"\x1b[48;0;0;0;0t",
    "the mouse in a window without pixels": b"\x1b[48;10;10;0;0t\x1b[<0;5;5M",
    "a paste that never ends": b"\x1b[201~\x1b[200~" + b"x" * 40 + b"\x1b[201~",
}


class Reading:
    """The thread of a terminal on a pipe, and what it told the app."""

    def __init__(self) -> None:
        reader, self.writer = os.pipe()
        self.told: Queue[Message] = Queue()
        self.terminal = Terminal(App[None]())
        self.terminal.fileno = reader
        self.terminal.send_message = self.told.put
        self.thread = threading.Thread(target=self.terminal.run_input_thread)
        self.thread.start()

    def until(self, key: str) -> list[Message]:
        """Everything that was told up to this key."""
        found: list[Message] = []
        while not (found and isinstance(found[-1], events.Key) and found[-1].key == key):
            found.append(self.told.get(timeout=60.0))
        return found

    def close(self) -> None:
        read_by(self.terminal, self.thread)
        self.terminal.disable_input()


async def test_nothing_that_a_terminal_sends_ends_the_thread_that_reads_it() -> None:
    reading = Reading()
    try:
        for name, sent in BROKEN.items():
            os.write(reading.writer, sent + b"q")
            told = reading.until("q")
            sizes = [one.size for one in told if isinstance(one, events.Resize)]
            assert all(0 < size.area < 10**7 for size in sizes), name
    finally:
        reading.close()


@pytest.mark.parametrize(
    ("sent", "shown"), [(b"caf\xe9.", "caf\ufffd."), ("café.".encode(), "café.")]
)
async def test_a_letter_that_cannot_be_read_is_shown_as_such(sent: bytes, shown: str) -> None:
    reading = Reading()
    try:
        os.write(reading.writer, sent)
        told = reading.until("full_stop")
    finally:
        reading.close()
    assert "".join(one.character or "" for one in told if isinstance(one, events.Key)) == shown


async def test_a_click_lands_on_its_cell_also_after_a_report_of_the_windows_pixels() -> None:
    reading = Reading()
    try:
        os.write(reading.writer, b"\x1b[48;40;120;800;960t\x1b[<0;33;17M\x1b[<0;33;17mq")
        told = reading.until("q")
    finally:
        reading.close()
    clicks = [one for one in told if isinstance(one, events.MouseEvent)]
    assert [(one.x, one.y) for one in clicks] == [(32, 16), (32, 16)]


async def test_an_escape_and_a_digit_that_arrive_together_are_two_keys() -> None:
    reading = Reading()
    try:
        os.write(reading.writer, b"\x1b1")
        told = reading.until("1")
    finally:
        reading.close()
    assert [one.key for one in told if isinstance(one, events.Key)] == ["escape", "1"]


@pytest.mark.parametrize(
    ("wait_s", "sent", "keys"),
    [
        (0.1, b"\x1b", ["escape"]),
        (0.1, b"\x1b[200~x\x1b[201~a\x1b", ["a", "escape"]),
        # As long as a person lets it wait, who sets ESCDELAY.
        (0.5, b"\x1b", ["escape"]),
        (0.5, b"a\x1b\x1b", ["a", "escape", "escape"]),
    ],
)
async def test_an_escape_that_nothing_follows_is_a_key(
    monkeypatch: pytest.MonkeyPatch, wait_s: float, sent: bytes, keys: list[str]
) -> None:
    monkeypatch.setattr(constants, "ESCAPE_DELAY", wait_s)
    reading = Reading()
    told: list[str] = []
    try:
        os.write(reading.writer, sent)
        while len(told) < len(keys):
            message = reading.told.get(timeout=10.0)
            told += [message.key] if isinstance(message, events.Key) else []
    finally:
        reading.close()
    assert told == keys


PASTE: Final = "\x1b[200~"
END: Final = "\x1b[201~"
PASTES: dict[str, tuple[list[tuple[float, str]], list[str]]] = {
    # What comes and how long after the last, and what the app is told.
    "a whole one": ([(0, f"{PASTE}two\nlines{END}a")], ["paste two\nlines", "a"]),
    "one in pieces": (
        [(0, "\x1b[2"), (0.05, "00~on"), (0.9, "e"), (0.9, "\x1b[20"), (0.05, "1~a")],
        ["paste one", "a"],
    ),
    "two": ([(0, f"{PASTE}a{END}{PASTE}b{END}c")], ["paste a", "paste b", "c"]),
    "an empty one": ([(0, f"{PASTE}{END}a")], ["a"]),
    "zero bytes": ([(0, f"{PASTE}a\0b{END}")], ["paste ab"]),
    "a lost end": ([(0, f"{PASTE}x"), (1.0, ""), (0.5, "q")], ["paste x", "q"]),
    "a lost end, nothing yet": ([(0, f"{PASTE}x"), (0.9, ""), (0, "q"), (0.9, "")], []),
    "half an end": ([(0, f"{PASTE}x\x1b[20"), (1.0, ""), (0.5, "q")], ["paste x", "q"]),
    "half an end, late": ([(0, f"{PASTE}x\x1b[20"), (1.0, ""), (2, "1~q")], ["paste x", "q"]),
    "an end that comes late in pieces": (
        [(0, f"{PASTE}x"), (0.5, "\x1b[20"), (1.0, ""), (2, "1~q")], ["paste x", "q"],
    ),
    "a lost end, nothing pasted": ([(0, PASTE), (1.0, ""), (0.5, "q")], ["q"]),
    "more of it at once after a second": (
        [(0, f"{PASTE}x"), (1.0, ""), (0.1, "by\r"), (0.4, "q"), (0.1, "\n"), (0.5, "q")],
        ["paste x", "q"],
    ),
    "more of it after a long while": (
        [(0, f"{PASTE}x"), (1.0, ""), (9, "by\ty\r"), (0.1, f"y\r{END}q")], ["paste x", "q"],
    ),
    "more of it, then another": (
        [(0, f"{PASTE}x"), (1.0, ""), (0.1, f"by\r{PASTE}z{END}q")], ["paste x", "paste z", "q"],
    ),
    "keys of a person after a second": (
        [(0, f"{PASTE}x"), (1.0, ""), (0, "\x1bOP"), (0, "y"), (0, "\x1b[A"), (0, "\x03")],
        ["paste x", "f1", "up", "ctrl+c"],
    ),
    "an escape after a second": (
        [(0, f"{PASTE}x"), (1.0, ""), (0, "\x1by")], ["paste x", "escape"],
    ),
    "a function key": ([(0, f"{PASTE}x"), (0.1, "\x1b[20~"), (0, "q")], ["paste x", "f9", "q"]),
    "another function key": ([(0, f"{PASTE}x"), (0.1, "\x1bOP")], ["paste x", "f1"]),
    "a function key within": (
        [(0, f"{PASTE}hello \x1bOPby\r{END}q")], ["paste hello \x1bOPby\r", "q"],
    ),
    "a function key at the end of what came": (
        [(0, f"{PASTE}x\x1b[20~"), (0.1, f"{END}q")], ["paste x\x1b[20~", "q"],
    ),
    "a function key with something behind it": (
        [(0, f"{PASTE}x"), (0.1, "\x1bOPy"), (0.1, f"{END}q")], ["paste x\x1bOPy", "q"],
    ),
    "a function key without silence before it": (
        [(0, f"{PASTE}x"), (0.01, "\x1bOP"), (0.01, f"y{END}q")], ["paste x\x1bOPy", "q"],
    ),
    "half a function key, then a text": (
        [(0, f"{PASTE}x"), (0.1, "\x1b["), (0.1, f"y{END}q")], ["paste x\x1b[y", "q"],
    ),
    "an escape, then a function key": (
        [(0, f"{PASTE}x"), (0.1, "\x1b"), (0.1, "\x1bOP")], ["paste x", "f1"],
    ),
    "a function key in pieces": (
        [(0, f"{PASTE}x"), (0.1, "\x1b"), (0.05, "[20"), (0.05, "~")], ["paste x", "f9"],
    ),
    "a function key, then the end": (
        [(0, f"{PASTE}x"), (0.1, "\x1b[20~"), (0.1, f"{END}q")], ["paste x", "f9", "q"],
    ),
    "escapes within": (
        [(0, f"{PASTE}\x1b[31mred\x1b[0m\x1b{'y' * 40}{END}a")],
        [f"paste \x1b[31mred\x1b[0m\x1b{'y' * 40}", "a"],
    ),
    "an end without a beginning": ([(0, f"{END}a")], ["a"]),
    "what looks like the beginning": ([(0, "\x1b[20~0")], ["f9", "0"]),
}  # fmt: skip


def told_of(comes: Iterable[tuple[float, str]]) -> list[str]:
    """What the app is told of texts that come, each so long after the last."""
    at = 100.0
    parser = KeyParser(now=lambda: at)
    told: list[str] = []
    for after_s, text in comes:
        at += after_s
        for message in (*parser.feed(text), *parser.tick()):
            if isinstance(message, events.Paste):
                told.append(f"paste {message.text}")
            elif isinstance(message, events.Key):
                told.append(message.key)
    return told


@pytest.mark.parametrize("case", PASTES)
def test_a_paste_is_over_with_its_end_a_lone_function_key_or_a_second_of_silence(case: str) -> None:
    comes, expected = PASTES[case]
    assert told_of(comes) == expected


@pytest.mark.parametrize("is_ended", [True, False])
def test_of_a_paste_as_much_is_kept_as_may_be_and_keys_behind_it_work(*, is_ended: bool) -> None:
    parts = [(0.0, "x" * 4_096)] * 750
    end = [(0.0, f"{END}q")] if is_ended else [(1.0, ""), (0.5, "q")]
    pasted, key = told_of([(0.0, PASTE), *parts, *end])
    assert (len(pasted), key) == (len("paste ") + PASTE_MAX, "q")


async def test_keys_work_again_after_a_paste_that_never_ended() -> None:
    reading = Reading()
    try:
        os.write(reading.writer, f"{PASTE}x".encode())
        pasted = reading.told.get(timeout=60.0)
        assert isinstance(pasted, events.Paste)
        assert pasted.text == "x"
        threading.Event().wait(CALM_S * 2)
        os.write(reading.writer, b"q")
        assert len(reading.until("q")) == 1
    finally:
        reading.close()


def until(holds: Callable[[], bool]) -> None:
    """Wait for what a program shows, however slow the machine is."""
    pause = threading.Event()
    for _ in range(1_200):
        if holds():
            return
        pause.wait(0.05)
    raise AssertionError("it never came")


@pytest.mark.process
@pytest.mark.parametrize(
    ("key", "pause_s", "shown"),
    [("8", PASTE_S * 3, "per trade, sim"), ("\x1bOP", PASTE_S / 2, "Keys on Ma")],
)
def test_a_console_takes_keys_again_after_a_paste_whose_end_is_lost(
    tmp_path: Path, key: str, pause_s: float, shown: str
) -> None:
    with own_terminal(tmp_path, "--data-dir", str(tmp_path / "data")) as run, run.watched() as seen:
        until(lambda: "online" in seen.text and "Welcome" in seen.text)
        run.type("2")
        until(lambda: "Welcome" not in seen.text)
        run.type("\x1b[200~x")
        threading.Event().wait(pause_s)
        run.type(key)
        until(lambda: shown in seen.text)
        run.kill(signal.SIGTERM)
        run.wait(60)


@pytest.mark.process
@pytest.mark.parametrize(
    "given",
    [{"COLUMNS": "20", "LINES": "5"}, {"COLUMNS": "abc", "LINES": "-1"}, {"NO_COLOR": "1"},
     {"COLORTERM": "nonsense"}],
)  # fmt: skip
def test_variables_that_contradict_the_terminal_leave_the_screen_whole(
    tmp_path: Path, given: dict[str, str]
) -> None:
    data = str(tmp_path / "data")
    with own_terminal(tmp_path, "--data-dir", data, **given) as run, run.watched() as seen:
        until(lambda: "online" in seen.text and "Welcome" in seen.text)
        assert len(seen.text.splitlines()) == LINES
        run.kill(signal.SIGTERM)
        run.wait(60)


def cursor_line(text: str) -> int:
    """In which line of the screen the cursor of a table is."""
    return next((n for n, line in enumerate(text.splitlines()) if line.startswith("▌")), -1)


@pytest.mark.process
def test_an_arrow_in_pieces_is_one_key_as_long_as_escdelay_says(tmp_path: Path) -> None:
    with (
        own_terminal(
            tmp_path, "--data-dir", str(tmp_path / "data"), "--speed", "0", ESCDELAY="60000"
        ) as run,
        run.watched() as seen,
    ):
        until(lambda: "online" in seen.text and "Welcome" in seen.text)
        run.type("2")
        until(lambda: "Welcome" not in seen.text)
        run.type("8")
        until(lambda: "\n▌ limits" in seen.text)
        before = cursor_line(seen.text)
        for piece in ("\x1b", "[", "B"):
            run.type(piece)
            threading.Event().wait(ESCAPE_S * 4)
        until(lambda: cursor_line(seen.text) == before + 1)
        run.kill(signal.SIGTERM)
        run.wait(60)


async def test_a_terminal_can_be_read_again_after_a_pause() -> None:
    reading = Reading()
    for key in ("a", "b"):
        os.write(reading.writer, key.encode())
        reading.until(key)
        reading.close()
        assert not reading.thread.is_alive()
        reading.thread = threading.Thread(target=reading.terminal.run_input_thread)
        reading.thread.start()
    reading.close()


async def test_reading_ends_without_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    # With a pause that never ends, only the end itself can wake the thread.
    monkeypatch.setattr(terminal, "ESCAPE_S", None)
    reading = Reading()
    reading.close()
    assert not reading.thread.is_alive()


async def test_a_letter_in_two_parts_is_one() -> None:
    reading = Reading()
    try:
        for part in ("é".encode()[:1], "é".encode()[1:] + b"."):
            os.write(reading.writer, part)
            while select.select([reading.terminal.fileno], [], [], 0)[0]:
                pass
        told = reading.until("full_stop")
    finally:
        reading.close()
    assert [one.character for one in told if isinstance(one, events.Key)] == ["é", "."]


@pytest.mark.parametrize("is_restarted", [True, False])
@pytest.mark.parametrize("is_reading", [True, False])
def test_a_stop_without_notice_never_leaves_two_threads_that_read(
    monkeypatch: pytest.MonkeyPatch, *, is_restarted: bool, is_reading: bool
) -> None:
    did = list[str]()
    # Without its beginning, which listens to the signals of this process.
    it = Terminal.__new__(Terminal)
    monkeypatch.setattr(it, "_auto_restart", is_restarted, raising=False)
    monkeypatch.setattr(
        it, "_key_thread", SimpleNamespace(is_alive=lambda: is_reading), raising=False
    )
    monkeypatch.setattr(it, "suspend_application_mode", lambda: did.append("gave it back"))
    monkeypatch.setattr(it, "resume_application_mode", lambda: did.append("took it"))
    it._sigcont_application()
    takes = ["took it"] if is_restarted else []
    assert did == (["gave it back", *takes] if is_restarted and is_reading else takes)


@pytest.mark.parametrize(
    ("told", "painted"),
    [
        (Size(120, 40), Size(120, 40)),
        (Size(1, 1), Size(1, 1)),
        (Size(terminal.WIDTH_MAX, terminal.HEIGHT_MAX), Size(2_000, 1_000)),
        (Size(65_535, 65_535), Size(2_000, 1_000)),
        (Size(80, 65_535), Size(80, 1_000)),
        (Size(0, 40), None),
        (Size(120, -1), None),
    ],
)
def test_of_a_window_no_more_is_painted_than_a_window_has(told: Size, painted: Size | None) -> None:
    assert terminal.of_a_window(told) == painted
