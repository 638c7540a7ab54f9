"""What a terminal sends, read by the thread that reads it: nothing that comes may end it."""

import os
import threading
from queue import Queue
from typing import Final

import pytest
from textual import events
from textual.app import App
from textual.message import Message

from service_tui.console.shell.terminal import Terminal

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
        self.terminal.exit_event.set()
        os.write(self.writer, b".")
        self.thread.join()


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
