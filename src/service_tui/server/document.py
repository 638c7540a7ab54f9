"""The document under `/openapi.json`: put together once, when it is first asked for.

Knows FastAPI's own document and what the endpoint table adds. Must not know handlers.
Used by app. Putting it together takes a second, and anybody may ask: so it is done in a thread, and
kept as text.
"""

import asyncio
import json
from collections.abc import Awaitable, Callable, Sequence
from typing import Final

from fastapi import FastAPI, Request, Response

from service_tui.server.openapi import SECURITY, description_of
from service_tui.wire.base import WireModel
from service_tui.wire.endpoint import Endpoint

_HERE: Final = "http://here.invalid"
"""Stands for the address by which the document was asked for."""


def document(
    app: FastAPI, endpoints: Sequence[Endpoint[WireModel]]
) -> Callable[[Request], Awaitable[Response]]:
    """What this service offers, for who asks."""
    kept: list[str] = []
    making = asyncio.Lock()

    async def answer(request: Request) -> Response:
        async with making:
            if not kept:
                kept.append(await asyncio.to_thread(_text_of, app, endpoints))
        # Whole strings of JSON, quotes included.
        here = json.dumps(str(request.base_url).rstrip("/"))
        text = kept[0].replace(json.dumps(_HERE), here, 1)
        return Response(text, media_type="application/json")

    return answer


def _text_of(app: FastAPI, endpoints: Sequence[Endpoint[WireModel]]) -> str:
    made = app.openapi()
    made["servers"] = [{"url": _HERE}]
    made["components"]["securitySchemes"] = SECURITY
    for endpoint in endpoints:
        operation = made["paths"][endpoint.path][endpoint.method.lower()]
        operation.update(description_of(endpoint))
    return json.dumps(made, ensure_ascii=False, separators=(",", ":"))
