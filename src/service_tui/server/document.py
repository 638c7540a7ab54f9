"""The document under `/openapi.json`, made from the endpoint table when it is first requested.

Nothing in it depends on the running service: it is made once a process, in a thread, as it takes a
second and anybody may request it. FastAPI writes it from routes of its own that serve nothing, so
that a start does not pay for the models of a document that nobody reads.
"""

import asyncio
import json
from collections.abc import Callable
from functools import cache
from threading import Lock
from typing import TYPE_CHECKING, Final

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from service_tui.server.events.stream import MEDIA_TYPE, EventStream
from service_tui.server.http.openapi import ABOUT, SECURITY, description_of, responses_of, stream_of
from service_tui.server.routes.table import ROUTES, STREAMS
from service_tui.version import VERSION
from service_tui.wire.base import WireModel
from service_tui.wire.endpoint import Endpoint

if TYPE_CHECKING:
    from fastapi import FastAPI

_HERE: Final = "http://here.invalid"
"""Stands for the address by which the document was requested."""

_MAKING: Final = Lock()


async def document(request: Request) -> Response:
    """Answer with the OpenAPI document, for the address by which it was requested."""
    text = await asyncio.to_thread(_text_once)
    # Whole strings of JSON, quotes included.
    here = json.dumps(str(request.base_url).rstrip("/"))
    return Response(text.replace(json.dumps(_HERE), here, 1), media_type="application/json")


def _text_once() -> str:
    # Two first requests at a time would make it twice.
    with _MAKING:
        return _text()


@cache
def _text() -> str:
    made = _described().openapi()
    made["servers"] = [{"url": _HERE}]
    made["components"]["securitySchemes"] = SECURITY
    for endpoint in (*ROUTES, *STREAMS):
        operation = made["paths"][endpoint.path][endpoint.method.lower()]
        operation.update(description_of(endpoint))
        if endpoint.streams:
            operation["responses"]["200"]["content"] = {MEDIA_TYPE: stream_of(endpoint)}
    return json.dumps(made, ensure_ascii=False, separators=(",", ":"))


def _described() -> "FastAPI":
    """An app that serves nothing and has the routes of the table, as FastAPI describes them."""
    from fastapi import FastAPI  # noqa: PLC0415  (a fifth of a start, for a document few ask for)

    app = FastAPI(title="service-tui, embedded service", description=ABOUT, version=VERSION)

    async def routed(_: Request) -> Response:
        raise NotImplementedError

    async def answer(_: Request) -> Response:
        raise NotImplementedError

    # The names of the two are part of the operations' ids.
    for endpoint, handler in ROUTES.items():
        _describe(app, endpoint, routed, handler.__doc__)
    for endpoint, opener in STREAMS.items():
        _describe(app, endpoint, answer, opener.__doc__)
    return app


def _describe(
    app: "FastAPI",
    endpoint: Endpoint[WireModel],
    stand_in: Callable[..., object],
    about: str | None,
) -> None:
    app.add_api_route(
        endpoint.path,
        stand_in,
        methods=[endpoint.method],
        summary=endpoint.summary,
        description=(about or "").partition("\n\n")[0].strip(),
        response_model=None,
        status_code=200,
        response_class=EventStream if endpoint.streams else JSONResponse,
        responses={status: {**answer} for status, answer in responses_of(endpoint).items()},
    )
