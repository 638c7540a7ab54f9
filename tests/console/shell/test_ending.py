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
    """Takes an exit status in place of the process."""

    def __init__(self) -> None:
        self.codes: list[int] = []
        self.steps: list[str] = []
        self.came = threading.Event()

    def __call__(self, code: int) -> None:
        self.codes.append(code)
        self.came.set()


def test_an_end_that_takes_too_long_is_made_with_the_first_status() -> None:
    ends = Ends()
    ending = Ending(ends, note=lambda: ends.steps.append("noted"), bound_s=0.01)
    ending.begin(143, lambda: ends.steps.append("given back"))
    ending.begin(0, lambda: ends.steps.append("again"))
    assert ends.came.wait(10)
    assert ends.codes == [143]
    assert ends.steps == ["noted", "given back"]


def test_nothing_comes_between_a_late_end_and_the_end() -> None:
    def fail() -> None:
        raise OSError("gone")

    ends = Ends()
    Ending(ends, note=fail, bound_s=0.0).begin(70, fail)
    assert ends.came.wait(10)
    assert ends.codes == [70]


def test_signals_are_answered_and_then_left_as_they_were() -> None:
    before = {number: signal.getsignal(number) for number in SIGNALS}
    heard: list[int] = []
    signals = Signals()
    signals.answer(heard.append)
    for number in SIGNALS:
        os.kill(os.getpid(), number)
    signals.leave()
    assert heard == list(SIGNALS)
    assert {number: signal.getsignal(number) for number in SIGNALS} == before


class Screen:
    """A terminal's file of which somebody else has the other end."""

    def __init__(self, descriptor: int) -> None:
        self.descriptor = descriptor

    def fileno(self) -> int:
        return self.descriptor


def terminal(thread: object) -> Terminal:
    """A driver that has begun, on a writer of the test's."""
    made = object.__new__(Terminal)
    write_by(made, thread)
    made._loop = asyncio.get_running_loop()
    made.attrs_before = None
    return made


@pytest.mark.parametrize("full", [True, False])
async def test_a_terminal_that_is_gone_holds_nobody_and_is_told_once(*, full: bool) -> None:
    queue: Queue[str | None] = Queue(1)
    if full:
        queue.put("unwritten")
    told: list[None] = []
    gone = terminal(SimpleNamespace(_queue=queue, is_alive=lambda: False))
    gone.on_lost = lambda: told.append(None)
    for _ in range(100):
        gone.write("x")
    gone.close()
    await asyncio.sleep(0)
    assert told == [None]


async def test_a_writer_that_dies_while_somebody_waits_lets_him_go() -> None:
    queue: Queue[str | None] = Queue(1)
    queue.put("unwritten")
    alive = iter([True, True])
    dying = terminal(SimpleNamespace(_queue=queue, is_alive=lambda: next(alive, False)))
    dying.write("x")
    assert queue.qsize() == 1


async def test_a_terminal_is_given_back_by_whoever_ends_the_program() -> None:
    ours, other = os.pipe()
    terminal(Screen(other)).give_back()
    os.close(other)
    assert os.read(ours, 1_000).decode() == GIVE_BACK
    os.close(ours)


async def test_a_full_terminal_is_not_waited_for_at_the_end() -> None:
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
