"""Paths without an id, found in one look instead of one pattern after the other.

Knows methods and paths. Must not know endpoints.
Used by app: for a trade it halves what stands between the socket and the handler.
"""

from collections.abc import Awaitable, Callable, Mapping

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Match
from starlette.types import Receive, Scope, Send

Answering = Callable[[Request], Awaitable[Response]]


class Direct(BaseRoute):
    """A route that stands before all others; what it does not know goes on to them."""

    def __init__(self, answers: Mapping[tuple[str, str], Answering]) -> None:
        self._answers = dict(answers)

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        """Whether method and path are known.

        Returns:
            All or nothing, and nothing to add to the scope.
        """
        known = scope["type"] == "http" and (scope["method"], scope["path"]) in self._answers
        return (Match.FULL if known else Match.NONE), {}

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer; what is raised passes to the app's exception handlers."""
        answer = self._answers[scope["method"], scope["path"]]
        response = await answer(Request(scope, receive, send))
        await response(scope, receive, send)
