"""An event loop that skips every wait in which nothing could happen.

A test that waits for a debounce, a glow or a toast waits for the machine's clock, and nobody else
does anything meanwhile. This loop looks first: when no task is ready, no thread owes it an answer
and no socket, pipe or process is open, the next timer is all that could wake it. Then the clock is
moved there at once. `time.monotonic` moves with it, so that Textual's timers and asyncio agree.

The writer of a database answers through a pipe of its own: it is no reason to wait while nothing
has been given to it.

Tests of processes and terminals wait for things that the loop cannot see: they are marked
`process`, and for them no wait is skipped.
"""

import asyncio
import selectors
import sys
import time
from asyncio import Future
from asyncio.base_events import BaseEventLoop
from collections.abc import Callable
from functools import wraps
from threading import Event, Lock
from typing import Any, Final
from weakref import WeakKeyDictionary, WeakSet

WRITERS_PIPE: Final = "LoopWaker._on_wake"
SELF_PIPE: Final = 1
"""What every loop listens to: its own pipe, by which threads wake it."""

LATE_S: Final = 5.0
"""An answer that a thread owes for longer is held back by the test: no longer waited for."""

LOOK_S: Final = 0.02
"""How often to look whether the threads that owe an answer are held back."""

STILL_TURNS: Final = 8
STILL_S: Final = 0.002

owed: WeakKeyDictionary[asyncio.AbstractEventLoop, set[Future[Any]]] = WeakKeyDictionary()
held: WeakSet[Future[Any]] = WeakSet()

_really = time.monotonic
_state = {"ahead": 0.0, "skips": True}


def monotonic() -> float:
    """The machine's monotonic time and all that was skipped."""
    return _really() + _state["ahead"]


def move_on(by_s: float) -> None:
    """Let so much time pass at once: timers of Textual and of the loop are due."""
    _state["ahead"] += by_s


def skip_waits(*, on: bool) -> None:
    """Whether the loops of the running test skip waits."""
    _state["skips"] = on


def owing(loop: asyncio.AbstractEventLoop) -> list[Future[Any]]:
    """What threads owe the loop, without what the test itself holds back."""
    return [one for one in owed.get(loop, ()) if one not in held]


async def quiet() -> None:
    """Return once nothing is under way: no task is ready, no thread owes an answer, no byte comes.

    Whoever speaks with a program of another process cannot wait so.
    """
    loop = asyncio.get_running_loop()
    turns = 0
    while turns < STILL_TURNS:
        await asyncio.sleep(STILL_S)
        turns = 0 if loop._ready or owing(loop) else turns + 1


def noted(call: Callable[..., Future[Any]]) -> Callable[..., Future[Any]]:
    """The call, whose future is owed until it is done."""

    @wraps(call)
    def noting(*args: Any, **kwargs: Any) -> Future[Any]:
        future = call(*args, **kwargs)
        waiting = owed.setdefault(future.get_loop(), set())
        waiting.add(future)
        future.add_done_callback(waiting.discard)
        return future

    return noting


class HeldBack(Event):
    """Holds a thread back until it is set; from then on the thread is waited for again.

    A thread that owes its answer for long is no longer waited for, and waits are skipped: what was
    let go only now would be late by the clock that was moved.
    """

    _counted = Lock()
    threads = 0
    """How many wait in one now."""

    def wait(self, timeout: float | None = None) -> bool:
        with self._counted:
            HeldBack.threads += 1
        try:
            return super().wait(timeout)
        finally:
            with self._counted:
                HeldBack.threads -= 1

    def set(self) -> None:
        super().set()
        held.clear()


class Skipping(selectors.DefaultSelector):
    """A selector that moves the clock instead of waiting where nothing else could wake it."""

    loop: asyncio.AbstractEventLoop | None = None

    def _hears_others(self) -> bool:
        """Whether something is open that may speak at any time: no pipe of a writer does."""
        heard = self.get_map()
        if len(heard) <= SELF_PIPE:
            return False
        readers = (key.data[0] for key in heard.values() if isinstance(key.data, tuple))
        names = [getattr(getattr(one, "_callback", None), "__qualname__", "") for one in readers]
        return len(heard) - sum(name == WRITERS_PIPE for name in names) > SELF_PIPE

    def select(self, timeout: float | None = None) -> Any:
        if timeout is None or timeout <= 0 or not _state["skips"]:
            return super().select(timeout)
        found = super().select(0)
        if found or self._hears_others():
            return found or super().select(timeout)
        late = owing(self.loop) if self.loop is not None else []
        if late:
            return self._answer_of(late)
        _state["ahead"] += timeout
        return found

    def _answer_of(self, late: list[Future[Any]]) -> Any:
        """What comes while threads owe answers; nothing once all of them are held back."""
        until = _really() + LATE_S
        while HeldBack.threads < len(late) and _really() < until:
            found = super().select(LOOK_S)
            if found:
                return found
        held.update(late)
        return []


class SkippingLoop(asyncio.SelectorEventLoop):
    def __init__(self) -> None:
        selector = Skipping()
        super().__init__(selector)
        selector.loop = self

    async def shutdown_default_executor(self, timeout: float | None = None) -> None:  # noqa: ASYNC109  (asyncio's own)
        """Wait for the threads without end: since Python 3.12 a timer bounds it, to be skipped."""
        del timeout
        await super().shutdown_default_executor()


class Policy(asyncio.DefaultEventLoopPolicy):
    def new_event_loop(self) -> asyncio.AbstractEventLoop:
        return SkippingLoop()


def patch() -> None:
    """Give every test such loops. Before anything else is imported that takes `monotonic` away."""
    time.monotonic = monotonic
    asyncio.set_event_loop_policy(Policy())
    note_threads()


def note_threads() -> None:
    """Have every loop know what threads owe it."""
    BaseEventLoop.run_in_executor = noted(BaseEventLoop.run_in_executor)
    asyncio.wrap_future = noted(asyncio.wrap_future)


def patch_writer() -> None:
    """Have the loop wait for what the writer of a database owes it."""
    module = sys.modules.get("service_tui.storage.db.writer")
    if module is not None and not hasattr(module.Writer.write, "__wrapped__"):
        module.Writer.write = noted(module.Writer.write)


def patch_toasts() -> None:
    """Have Textual's toasts grow old by the same clock."""
    notifications = sys.modules.get("textual.notifications")
    if notifications is not None:
        notifications.time = monotonic
