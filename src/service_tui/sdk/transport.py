"""The synchronous transport to one service."""

import asyncio
import logging
import os
import random
import threading
import weakref
from collections.abc import Coroutine, Mapping
from concurrent.futures import CancelledError
from typing import Final, TypeVar

import httpx

from service_tui.client.api_keys import ApiKey, ApiKeys
from service_tui.client.client import Client
from service_tui.client.errors import unanswered
from service_tui.client.http_request import Names, called_of
from service_tui.client.proxies import proxy_for
from service_tui.client.reply import Answer
from service_tui.clock import Clock
from service_tui.wire.base import WireModel
from service_tui.wire.endpoint import Endpoint

log = logging.getLogger(__name__)

Result = TypeVar("Result")

KEEPALIVE_S: Final = 4.0
"""Less than the usual five seconds of servers: a write on a line that is just being closed would
end as unknown."""

CONNECTIONS_MAX: Final = 20

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
                # Ctrl+C while waiting: no thread waits for the answer any more.
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


class SyncTransport:
    """Blocking client of one service, on a thread of its own. Ends with its last reference."""

    def __init__(
        self,
        base_url: str,
        api_key: str | None,
        *,
        clock: Clock,
        allow_insecure: bool = False,
        names: Names = "neutral",
        over: httpx.AsyncBaseTransport | None = None,
    ) -> None:
        """Bind a key to an address. Sends nothing. `over` carries the calls in the place of HTTP.

        Raises ValueError if the address, the key or the environment's proxy are not acceptable.
        """
        limits = httpx.Limits(max_connections=CONNECTIONS_MAX, keepalive_expiry=KEEPALIVE_S)
        self._client = Client(
            over
            or httpx.AsyncHTTPTransport(
                retries=0, limits=limits, proxy=proxy_for(base_url, os.environ)
            ),
            base_url,
            ApiKeys(None if api_key is None else ApiKey(api_key, base_url)),
            clock=clock,
            rng=random.SystemRandom(),
            allow_insecure=allow_insecure,
            names=names,
        )
        self._clock = clock
        self._background = Background()
        # Also without `close`: no thread and no connection outlives the transport.
        self._ending = weakref.finalize(self, _end, self._background, self._client)

    def close(self) -> None:
        """Let calls on their way end, at most two seconds, and close the connections."""
        self._ending()

    def pause(self, seconds: float) -> None:
        """Wait."""
        self._background.run(self._clock.sleep(seconds))

    def call(
        self,
        endpoint: Endpoint[Answer],
        *,
        body: WireModel | None = None,
        query: WireModel | None = None,
        path: Mapping[str, str] | None = None,
        idempotency_key: str | None = None,
        deadline_s: float | None = None,
    ) -> Answer:
        """Wait for an answer.

        Returns:
            The answer; rows that were not of the protocol are missing from it.

        Raises:
            ServiceError: as `Client.call`; also when the line is closed under a call.
            ClosedError: the line is closed; nothing was sent.
        """
        pending = self.answer(
            endpoint,
            body=body,
            query=query,
            path=path,
            idempotency_key=idempotency_key,
            deadline_s=deadline_s,
        )
        return self.run(pending, on=endpoint, path=path)

    async def answer(
        self,
        endpoint: Endpoint[Answer],
        *,
        body: WireModel | None = None,
        query: WireModel | None = None,
        path: Mapping[str, str] | None = None,
        idempotency_key: str | None = None,
        deadline_s: float | None = None,
    ) -> Answer:
        """The same for a coroutine that runs on the line's own thread.

        Returns:
            The answer; rows that were not of the protocol are missing from it.
        """
        reply = await self._client.call(
            endpoint,
            body=body,
            query=query,
            path=path,
            idempotency_key=idempotency_key,
            deadline_s=deadline_s,
        )
        if reply.dropped:
            log.warning("%s: %d rows are not of the protocol", endpoint.path, reply.dropped)
        return reply.answer

    def run(
        self,
        wanted: Coroutine[object, object, Result],
        *,
        on: Endpoint[WireModel],
        path: Mapping[str, str] | None = None,
    ) -> Result:
        """Run a coroutine that calls `answer` for the endpoint `on`.

        Returns:
            What it returns; what it raises is raised here.

        Raises:
            ServiceError: the line was closed under a call.
            ClosedError: the line is closed; nothing was sent.
        """
        try:
            return self._background.run(wanted)
        except ClosedError as error:
            if error.was_sent:
                raise unanswered(str(error), called_of(on, path or {})) from error
            raise


def _end(background: Background, client: Client) -> None:
    background.close(client.aclose())
