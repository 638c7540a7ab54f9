"""A transport that leaves no connection open behind a request that is cancelled."""

import asyncio

import httpx


class ClosingTransport(httpx.AsyncHTTPTransport):
    """Sends requests over connections that are kept, as httpx does, and closes what it gives up.

    Before a request, httpcore takes connections that the other end has closed out of its pool and
    closes them one after the other. A request that is cancelled meanwhile leaves the rest open
    until they are collected: this closes them.
    """

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Send a request.

        Returns:
            The answer.
        """
        known = self._pool.connections
        try:
            return await super().handle_async_request(request)
        except asyncio.CancelledError:
            kept = self._pool.connections
            for connection in known:
                # A connection that is out of the pool serves no request; closed twice is harmless.
                if connection not in kept:
                    await connection.aclose()
            raise
