"""An event loop on a thread of its own, for callers that wait."""

import asyncio
import os
import threading
from collections.abc import Coroutine
from concurrent.futures import CancelledError
from typing import Final, TypeVar

Result = TypeVar("Result")

CLOSE_S: Final = 2.0
"""Seconds that calls on their way have when the loop closes. Source: decisions, "Deadlines"."""


class ClosedError(RuntimeError):
    """The client is closed; `was_sent` when the call was on its way already."""

    def __init__(self, sentence: str, *, was_sent: bool = False) -> None:
        super().__init__(sentence)
        self.was_sent = was_sent


class Background:
    """Runs coroutines for threads that wait. The thread starts with the first of them."""

    def __init__(self) -> None:
        self._lock = threading.Condition()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._pid = os.getpid()
        self._in_flight = 0
        self._is_closed = False

    def run(self, wanted: Coroutine[object, object, Result]) -> Result:
        """Wait for a coroutine.

        Returns:
            What it returns; what it raises is raised here.

        Raises:
            ClosedError: the loop is closed or belongs to the process that this one was forked
                from; `wanted` did not run, or was cut short by the closing.
        """
        try:
            loop = self._enter()
        except ClosedError:
            wanted.close()
            raise
        try:
            future = asyncio.run_coroutine_threadsafe(wanted, loop)
            try:
                return future.result()
            except CancelledError as error:
                raise ClosedError("closed before the answer came", was_sent=True) from error
            except BaseException:
                # Ctrl+C while waiting: nobody waits for the answer any more.
                future.cancel()
                raise
        finally:
            with self._lock:
                self._in_flight -= 1
                self._lock.notify_all()

    def close(self, last: Coroutine[object, object, None]) -> None:
        """Let calls on their way end, run `last`, and end the thread; only once."""
        with self._lock:
            was_closed, self._is_closed = self._is_closed, True
            loop, thread = self._loop, self._thread
            idle = was_closed or loop is None or thread is None or self._pid != os.getpid()
            if not idle and thread is not threading.current_thread():
                self._lock.wait_for(lambda: self._in_flight == 0, CLOSE_S)
        if idle or loop is None or thread is None:
            last.close()
            return
        if thread is threading.current_thread():
            # The garbage collector came by on the loop's own thread: it cannot wait for itself.
            last.close()
            loop.call_soon(loop.stop)
            return
        ending = asyncio.run_coroutine_threadsafe(last, loop)
        ending.add_done_callback(lambda _: loop.call_soon_threadsafe(loop.stop))
        thread.join(CLOSE_S)

    def _enter(self) -> asyncio.AbstractEventLoop:
        """Count a call in.

        Returns:
            The loop, started if this is the first call.

        Raises:
            ClosedError: no more calls are taken.
        """
        with self._lock:
            if self._is_closed:
                raise ClosedError("the client is closed")
            if self._pid != os.getpid():
                raise ClosedError("this client belongs to another process: make one in each")
            if self._loop is None:
                self._loop = self._start()
            self._in_flight += 1
            return self._loop

    def _start(self) -> asyncio.AbstractEventLoop:
        runner = asyncio.Runner()
        loop = runner.get_loop()

        def main() -> None:
            # Cancels what is left, and closes the loop, so that nothing of it is ever leaked.
            with runner:
                loop.run_forever()

        self._thread = threading.Thread(target=main, name="service-client", daemon=True)
        self._thread.start()
        return loop
