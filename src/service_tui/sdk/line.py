"""One service, reached from threads that wait."""

import logging
import random
import weakref
from collections.abc import Coroutine, Mapping
from typing import Final, TypeVar

import httpx

from service_tui.client.asking import Names, called_of
from service_tui.client.client import Client
from service_tui.client.errors import unanswered
from service_tui.client.keys import Key, Keys
from service_tui.client.reply import Answer
from service_tui.clock import Clock
from service_tui.sdk.background import Background, ClosedError
from service_tui.wire.base import WireModel
from service_tui.wire.endpoint import Endpoint

log = logging.getLogger(__name__)

Result = TypeVar("Result")

KEEPALIVE_S: Final = 4.0
"""Less than the usual five seconds of servers: a write on a line that is just being closed would
end as unknown."""

CONNECTIONS_MAX: Final = 20


class SyncTransport:
    """A client of one service, and the thread on which it waits. Ends when nobody holds it."""

    def __init__(
        self,
        base_url: str,
        api_key: str | None,
        *,
        clock: Clock,
        allow_insecure: bool = False,
        names: Names = "neutral",
    ) -> None:
        """Bind a key to an address. Sends nothing.

        A ValueError says that the address or the key are not acceptable.
        """
        limits = httpx.Limits(max_connections=CONNECTIONS_MAX, keepalive_expiry=KEEPALIVE_S)
        self._client = Client(
            httpx.AsyncHTTPTransport(retries=0, limits=limits),
            base_url,
            Keys(None if api_key is None else Key(api_key, base_url)),
            clock=clock,
            rng=random.SystemRandom(),
            allow_insecure=allow_insecure,
            names=names,
        )
        self._clock = clock
        self._background = Background()
        # Also when nobody closes it: no thread and no connection outlives the line.
        self._ending = weakref.finalize(self, _end, self._background, self._client)

    def close(self) -> None:
        """Let calls on their way end, at most two seconds, and close the connections."""
        self._ending()

    def pause(self, seconds: float) -> None:
        """Wait."""
        self._background.run(self._clock.sleep(seconds))

    def ask(
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
        asking = self.answer(
            endpoint,
            body=body,
            query=query,
            path=path,
            idempotency_key=idempotency_key,
            deadline_s=deadline_s,
        )
        return self.run(asking, on=endpoint, path=path)

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
        """Wait for a coroutine that asks `on` by `answer`.

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
