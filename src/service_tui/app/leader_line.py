"""The way to the leader, over aiohttp: a call costs the same however many are open.

httpx looks at every connection of its pool at each call: with 256 callers a follower carried a
fifth of what its leader takes.
"""

import ssl
from collections.abc import AsyncGenerator, Generator
from contextlib import contextmanager
from typing import Final

import aiohttp
import httpx
from aiohttp.abc import AbstractCookieJar
from yarl import URL

from service_tui.server.http.connections import HEAD_MAX, connections_max

IDLE_S: Final = 2.0
"""How long an idle connection to the leader is kept; less than the five seconds of the leader, so
that no call is sent on one that is just being closed."""

_ADDED: Final = ("Accept", "Accept-Encoding", "Content-Type", "User-Agent")
"""Headers that aiohttp would add to a call without them."""

_NOT_CONNECTED: Final = (aiohttp.ClientConnectorError, aiohttp.ConnectionTimeoutError)


class LeaderLine(httpx.AsyncBaseTransport):
    """Sends each call once, to the letter, and passes the answer on as it comes.

    Args:
        context: whom to trust; None for those whom the system trusts.
    """

    def __init__(self, context: ssl.SSLContext | None = None) -> None:
        self._context = context
        self._session: aiohttp.ClientSession | None = None

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Send a call whose body is here.

        Returns:
            Status and headers, with the body still to come.

        Raises:
            ConnectError: no connection; nothing was sent.
            ReadError: the connection broke; the call may have been carried out.
        """
        if self._session is None:
            self._session = _session(self._context)
        target: bytes = request.extensions["target"]
        url = URL(f"{str(request.url).rstrip('/')}{target.decode()}", encoded=True)
        if (url.host, url.port) != (request.url.host, request.url.port or url.port):
            raise httpx.ConnectError("the target of the call names another host: nothing was sent")
        timeout: dict[str, float] = request.extensions["timeout"]
        answer = await self._session.request(
            request.method,
            url,
            headers=[(name.decode(), value.decode()) for name, value in request.headers.raw],
            data=request.content or None,
            allow_redirects=False,
            server_hostname=request.extensions.get("sni_hostname"),
            timeout=aiohttp.ClientTimeout(connect=timeout["connect"], sock_read=timeout["read"]),
        )
        return httpx.Response(answer.status, headers=list(answer.raw_headers), stream=_Body(answer))

    async def aclose(self) -> None:
        """Close all connections."""
        if self._session is not None:
            await self._session.close()


def _session(context: ssl.SSLContext | None) -> aiohttp.ClientSession:
    connector = aiohttp.TCPConnector(
        limit=connections_max(),
        keepalive_timeout=IDLE_S,
        ssl=True if context is None else context,
        # The system's own, whatever else is installed.
        resolver=aiohttp.ThreadedResolver(),
    )
    jar: AbstractCookieJar = aiohttp.DummyCookieJar()
    return aiohttp.ClientSession(
        connector=connector,
        cookie_jar=jar,
        skip_auto_headers=_ADDED,
        auto_decompress=False,
        max_line_size=HEAD_MAX,
        max_field_size=HEAD_MAX,
        middlewares=(_once,),
    )


async def _once(
    request: aiohttp.ClientRequest, send: aiohttp.ClientHandlerType
) -> aiohttp.ClientResponse:
    """Name a failure in httpx's words, for which aiohttp does not repeat a DELETE by itself."""
    with _named():
        return await send(request)


@contextmanager
def _named() -> Generator[None]:
    try:
        yield
    except _NOT_CONNECTED as error:
        raise httpx.ConnectError(str(error)) from error
    except (aiohttp.ClientError, OSError) as error:
        raise httpx.ReadError(str(error)) from error


class _Body(httpx.AsyncByteStream):
    """The bytes of an answer as they come."""

    def __init__(self, answer: aiohttp.ClientResponse) -> None:
        self._answer = answer

    async def __aiter__(self) -> AsyncGenerator[bytes]:
        with _named():
            async for chunk in self._answer.content.iter_any():
                yield chunk

    async def aclose(self) -> None:
        # Once it is read to its end, its connection serves others already.
        self._answer.close()
