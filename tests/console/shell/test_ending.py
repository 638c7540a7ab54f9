"""How the console exits: its time limit, its signals, and a terminal that is lost or full."""

import asyncio
import os
import signal
import threading
from contextlib import suppress
from queue import Queue
from types import SimpleNamespace

import pytest

from kit.console.textual_private import write_by
from service_tui.console.shell.ending import SIGNALS, Ending, Signals
from service_tui.console.shell.terminal import GIVE_BACK, Terminal


class Ends:
    """Records an exit code in place of ending the process."""

    def __init__(self) -> None:
        self.codes: list[int] = []
        self.steps: list[str] = []
        self.came = threading.Event()

    def __call__(self, code: int) -> None:
        self.codes.append(code)
        self.came.set()


def test_an_exit_past_the_time_limit_uses_the_first_exit_code() -> None:
    ends = Ends()
    ending = Ending(ends, note=lambda: ends.steps.append("noted"), bound_s=0.01)
    ending.begin(143, lambda: ends.steps.append("given back"))
    ending.begin(0, lambda: ends.steps.append("again"))
    assert ends.came.wait(10)
    assert ends.codes == [143]
    assert ends.steps == ["noted", "given back"]


def test_an_exit_past_the_time_limit_happens_even_if_its_callbacks_fail() -> None:
    def fail() -> None:
        raise OSError("gone")

    ends = Ends()
    Ending(ends, note=fail, bound_s=0.0).begin(70, fail)
    assert ends.came.wait(10)
    assert ends.codes == [70]


def test_signals_call_the_handler_and_leave_restores_the_former_handlers() -> None:
    before = {number: signal.getsignal(number) for number in SIGNALS}
    received: list[int] = []
    signals = Signals()
    signals.answer(received.append)
    for number in SIGNALS:
        os.kill(os.getpid(), number)
    signals.leave()
    assert received == list(SIGNALS)
    assert {number: signal.getsignal(number) for number in SIGNALS} == before


class Screen:
    """A terminal's file; the test reads from its other end."""

    def __init__(self, descriptor: int) -> None:
        self.descriptor = descriptor

    def fileno(self) -> int:
        return self.descriptor


def terminal(thread: object) -> Terminal:
    """A started driver that writes through the test's thread."""
    made = object.__new__(Terminal)
    write_by(made, thread)
    made._loop = asyncio.get_running_loop()
    made.attrs_before = None
    return made


@pytest.mark.parametrize("full", [True, False])
async def test_writing_to_a_lost_terminal_never_blocks_and_reports_the_loss_once(
    *, full: bool
) -> None:
    queue: Queue[str | None] = Queue(1)
    if full:
        queue.put("unwritten")
    reported: list[None] = []
    gone = terminal(SimpleNamespace(_queue=queue, is_alive=lambda: False))
    gone.on_lost = lambda: reported.append(None)
    for _ in range(100):
        gone.write("x")
    gone.close()
    await asyncio.sleep(0)
    assert reported == [None]


async def test_a_write_returns_if_the_writer_thread_dies_while_it_waits() -> None:
    queue: Queue[str | None] = Queue(1)
    queue.put("unwritten")
    alive = iter([True, True])
    dying = terminal(SimpleNamespace(_queue=queue, is_alive=lambda: next(alive, False)))
    dying.write("x")
    assert queue.qsize() == 1


async def test_give_back_writes_the_sequences_that_restore_the_terminal() -> None:
    ours, other = os.pipe()
    terminal(Screen(other)).give_back()
    os.close(other)
    assert os.read(ours, 1_000).decode() == GIVE_BACK
    os.close(ours)


async def test_give_back_does_not_block_on_a_terminal_that_accepts_no_output() -> None:
    ours, other = os.pipe()
    os.set_blocking(other, False)
    with suppress(BlockingIOError):
        while True:
            os.write(other, b"x" * 4096)
    os.set_blocking(other, True)
    with pytest.raises(BlockingIOError):
        terminal(Screen(other)).give_back()
    assert os.get_blocking(other)
    os.close(other)
    os.close(ours)
