"""The document under `/openapi.json`, made from the endpoint table when it is first requested.

Nothing in it depends on the running service: it is made once a process, in a thread, as it takes a
moment and anybody may request it.
"""

import asyncio
import json
from collections.abc import Iterable
from functools import cache
from threading import Lock
from typing import Final

from pydantic import JsonValue
from pydantic.json_schema import JsonSchemaMode, models_json_schema
from starlette.requests import Request
from starlette.responses import Response

from service_tui.server.events.stream import MEDIA_TYPE
from service_tui.server.http.openapi import (
    ABOUT,
    SCHEMAS,
    SECURITY,
    Schema,
    description_of,
    operation_id,
    ref_to,
    responses_of,
    stream_of,
)
from service_tui.server.routes.table import ROUTES, STREAMS
from service_tui.version import VERSION
from service_tui.wire.base import WireModel
from service_tui.wire.endpoint import Endpoint

_HERE: Final = "http://here.invalid"
"""Stands for the address by which the document was requested."""

_PUBLISHED: Final = {"PendingStatus": "HeldStatus"}
"""Bodies by their names in the document, where the code calls them by another: generated clients
call their types by these."""

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
    handlers = {**ROUTES, **STREAMS}
    paths: dict[str, dict[str, Schema]] = {}
    for endpoint, handler in handlers.items():
        path = paths.setdefault(endpoint.path, {})
        path[endpoint.method.lower()] = _operation(endpoint, handler.__doc__)
    made = {
        "openapi": "3.1.0",
        "info": {
            "title": "service-tui, embedded service",
            "description": ABOUT,
            "version": VERSION,
        },
        "servers": [{"url": _HERE}],
        "paths": paths,
        "components": {"schemas": _schemas(handlers), "securitySchemes": SECURITY},
    }
    return json.dumps(made, ensure_ascii=False, separators=(",", ":"))


def _operation(endpoint: Endpoint[WireModel], about: str | None) -> Schema:
    """One operation, as OpenAPI writes it."""
    answers: dict[str, JsonValue] = {
        str(status): {
            "description": answer["description"],
            "content": {"application/json": {"schema": ref_to(answer["model"])}},
        }
        for status, answer in responses_of(endpoint).items()
    }
    if endpoint.streams:
        about_stream = responses_of(endpoint)[200]["description"]
        content: JsonValue = {MEDIA_TYPE: stream_of(endpoint)}
        answers["200"] = {"description": about_stream, "content": content}
    return {
        "summary": endpoint.summary,
        "description": (about or "").partition("\n\n")[0].strip(),
        "operationId": operation_id(endpoint),
        "responses": answers,
        **description_of(endpoint),
    }


def _schemas(endpoints: Iterable[Endpoint[WireModel]]) -> JsonValue:
    """The bodies of all answers, and what they hold, by name."""
    models = {answer["model"] for one in endpoints for answer in responses_of(one).values()}
    # By name: a set of classes has another order in each process.
    wanted: list[tuple[type[WireModel], JsonSchemaMode]] = [
        (model, "serialization") for model in sorted(models, key=lambda model: model.__name__)
    ]
    _, made = models_json_schema(wanted, ref_template=SCHEMAS + "{model}")
    text = json.dumps(made["$defs"])
    for ours, published in _PUBLISHED.items():
        for whole in ("{}", SCHEMAS + "{}"):
            text = text.replace(json.dumps(whole.format(ours)), json.dumps(whole.format(published)))
    known: dict[str, JsonValue] = json.loads(text)
    return dict(sorted(known.items()))
