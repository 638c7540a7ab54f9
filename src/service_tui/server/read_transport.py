"""Reads straight from the handlers, without app, routing or rate limits."""

from typing import Final

import httpx
from pydantic import ValidationError

from service_tui.engine.errors import Refusal
from service_tui.server.http.access import Access
from service_tui.server.http.refusals import Denied, denied, from_refusal, invalid
from service_tui.server.http.service import Handler, RequestContext, Service
from service_tui.server.routes.table import ROUTES
from service_tui.storage.errors import StorageError
from service_tui.wire.base import WireModel
from service_tui.wire.endpoint import Endpoint

OK: Final = 200

MatchedRoute = tuple[Endpoint[WireModel], Handler, dict[str, str]]
"""An endpoint, its handler, and the ids that stood in the path."""


class _Sent:
    """The headers of a request of httpx."""

    def __init__(self, headers: httpx.Headers) -> None:
        self._headers = headers

    def getlist(self, key: str, /) -> list[str]:
        return self._headers.get_list(key)


class ReadTransport(httpx.AsyncBaseTransport):
    """Carries reading calls to the handlers of one service; every other call is refused."""

    def __init__(self, service: Service, access: Access) -> None:
        self._service = service
        self._access = access

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Answer as the app does.

        Returns:
            The answer of the handler, or why there is none.
        """
        try:
            reply = await self._answer(request)
        except Refusal as refusal:
            return _refused(from_refusal(refusal))
        except Denied as denial:
            return _refused(denial)
        except StorageError as error:
            return _refused(denied(503, str(error), "see the log, and whether the disk has room"))
        return _encoded(OK, reply)

    async def _answer(self, request: httpx.Request) -> WireModel:
        endpoint, handler, path = _matched_route(request.method, request.url.path)
        headers = _Sent(request.headers)
        caller = person = None
        if endpoint.operator:
            person = self._access.person(self._service, endpoint, headers)
        elif not endpoint.keyless:
            caller = self._access.agent(self._service, headers, endpoint)
        query = None
        if endpoint.query is not None:
            try:
                query = endpoint.query.model_validate_strings(
                    dict(request.url.params), strict=False
                )
            except ValidationError as error:
                raise invalid(error, "query") from error
        now = self._service.clock.now()
        return await handler(
            RequestContext(self._service, caller, now, query=query, path=path, person=person)
        )


def _matched_route(method: str, path: str) -> MatchedRoute:
    """Which endpoint is meant; one without ids in its path before one with them.

    Returns:
        What answers.

    Raises:
        Denied: nothing does.
    """
    found = [
        (endpoint, handler, ids)
        for endpoint, handler in ROUTES.items()
        if endpoint.reads and endpoint.method == method
        if (ids := _ids(endpoint.path, path)) is not None
    ]
    if not found:
        raise denied(404, f"{method} {path} is not read here", "ask the service itself")
    return min(found, key=lambda one: len(one[2]))


def _ids(template: str, path: str) -> dict[str, str] | None:
    """The parts of a path that are ids; None where it is another path."""
    names, parts = template.split("/"), path.split("/")
    if len(names) != len(parts):
        return None
    pairs = list(zip(names, parts, strict=True))
    if any(name != part for name, part in pairs if not name.startswith("{")):
        return None
    return {name[1:-1]: part for name, part in pairs if name.startswith("{")}


def _refused(denial: Denied) -> httpx.Response:
    return _encoded(denial.status, denial.body, leaves_out=True)


def _encoded(status: int, body: WireModel, *, leaves_out: bool = False) -> httpx.Response:
    return httpx.Response(
        status,
        headers={"content-type": "application/json"},
        # A stream: its reader bounds how much it reads.
        stream=httpx.ByteStream(
            body.model_dump_json(by_alias=True, exclude_none=leaves_out).encode()
        ),
    )
