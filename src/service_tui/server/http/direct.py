"""A fast path for requests whose path has no id: found by one lookup, before all else."""

from collections.abc import Awaitable, Callable, Mapping
from types import MappingProxyType
from typing import Final

from starlette.applications import Starlette
from starlette.datastructures import Headers
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

JSON: Final = (b"content-type", b"application/json")


class SentHeaders(Headers):
    """Headers in which each look is one of a dictionary: every call looks for half a dozen."""

    def __init__(self, scope: Scope) -> None:
        # Not by way of the base, which takes three times as long to do no more.
        self._list = list(scope["headers"])
        by_name: dict[str, list[str]] = {}
        for sent_name, sent_value in self._list:
            name, value = sent_name.decode("latin-1"), sent_value.decode("latin-1")
            if name in by_name:
                by_name[name].append(value)
            else:
                by_name[name] = [value]
        self._by_name = by_name

    def getlist(self, key: str) -> list[str]:
        """Every value under a name, in the order of their coming."""
        return self._by_name.get(key.lower(), [])

    def __getitem__(self, key: str) -> str:
        return self._by_name[key.lower()][0]

    def __contains__(self, key: object) -> bool:
        return isinstance(key, str) and key.lower() in self._by_name


class DirectRequest:
    """A request, parsed no further than needed; starlette's own parses more."""

    __slots__ = ("_receive", "headers", "scope")

    def __init__(self, scope: Scope, receive: Receive) -> None:
        self.scope = scope
        self.headers = SentHeaders(scope)
        self._receive = receive

    @property
    def path(self) -> str:
        """The path that was called, decoded."""
        path: str = self.scope["path"]
        return path

    async def body(self, limit: int) -> bytes | None:
        """The whole body.

        Returns:
            The body, None when it is longer than the limit; the rest of it is not read.

        Raises:
            ClientDisconnect: it ended early.
        """
        body = b""
        is_more = True
        while is_more:
            message = await self._receive()
            if message["type"] == "http.disconnect":
                raise ClientDisconnect
            part: bytes = message.get("body", b"")
            body = body + part if body else part
            if len(body) > limit:
                return None
            is_more = message.get("more_body", False)
        return body


class JsonText(Response):
    """An answer that is JSON already."""

    def __init__(
        self, text: str, status: int = 200, headers: Mapping[str, str] | None = None
    ) -> None:
        # Not by way of starlette's: it looks for what may stand in any answer.
        self.status_code = status
        self.background = None
        self.body = text.encode()
        self.raw_headers = [(b"content-length", b"%d" % len(self.body)), JSON]
        if headers:
            self.raw_headers += [
                (name.lower().encode("latin-1"), value.encode("latin-1"))
                for name, value in headers.items()
            ]


Answering = Callable[[DirectRequest], Awaitable[Response]]
Fault = Callable[[Request, Exception], Awaitable[Response]]


class Front(Starlette):
    """The app, with the short way before its routes."""

    _direct: Mapping[tuple[str, str], Answering] = MappingProxyType({})
    _fault: Fault

    def lead(self, direct: Mapping[tuple[str, str], Answering], fault: Fault) -> None:
        """Open the short way.

        Args:
            direct: what answers, by method and path; it sees to every refusal itself.
            fault: answers when that has failed by a bug.
        """
        self._direct, self._fault = direct, fault

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer, by the short way where there is one."""
        answer = (
            self._direct.get((scope["method"], scope["path"])) if scope["type"] == "http" else None
        )
        if answer is None:
            await super().__call__(scope, receive, send)
            return
        try:
            response = await answer(DirectRequest(scope, receive))
        except Exception as error:
            response = await self._fault(Request(scope), error)
            await response(scope, receive, send)
            # As the long way does it: whoever serves the app is notified as well.
            raise
        await response(scope, receive, send)
