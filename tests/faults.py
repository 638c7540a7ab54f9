"""A line to the embedded service that breaks when a test says so, and counts what passes."""

import asyncio
import json
import random
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from enum import Enum, auto

import httpx

from service_tui.client.client import Client
from service_tui.client.keys import Key, Keys
from service_tui.server.embedded import BASE_URL
from support import OPERATOR, Stage


class Fault(Enum):
    """How a call goes wrong; those of the second group have reached the service before."""

    NO_LINE = auto()

    LOST = auto()
    TIMED_OUT = auto()
    HALF = auto()
    FAILED = auto()
    HTML = auto()
    SILENT = auto()


UNANSWERED = tuple(fault for fault in Fault if fault is not Fault.NO_LINE)


@dataclass
class Line(httpx.AsyncBaseTransport):
    """`fault` is asked for every request; None lets it pass. `seen` looks at each before that."""

    inner: httpx.AsyncBaseTransport
    fault: Callable[[httpx.Request], Fault | httpx.Response | None] = lambda _: None
    seen: Callable[[httpx.Request], None] = lambda _: None
    sent: list[httpx.Request] = field(default_factory=list)

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        self.sent.append(request)
        self.seen(request)
        fault = self.fault(request)
        if isinstance(fault, httpx.Response):
            return fault
        if fault is Fault.NO_LINE:
            raise httpx.ConnectError("no route to host")
        response = await self.inner.handle_async_request(request)
        match fault:
            case Fault.LOST:
                raise httpx.RemoteProtocolError("server disconnected")
            case Fault.TIMED_OUT:
                raise httpx.ReadTimeout("nothing came")
            case Fault.HALF:
                return httpx.Response(200, content=(await response.aread())[:40])
            case Fault.FAILED:
                return httpx.Response(500, json={"error": "broken"})
            case Fault.HTML:
                return httpx.Response(200, html="<html>sign in to this network</html>")
            case Fault.SILENT:
                await asyncio.Event().wait()
        return response

    def orders(self) -> list[dict]:
        """Bodies of the orders that were sent, dry runs left out."""
        bodies = [json.loads(one.content) for one in self.sent if one.url.path == "/api/sdk/trade"]
        return [body for body in bodies if not body.get("dry_run")]

    def quotes(self) -> list[dict]:
        bodies = [json.loads(one.content) for one in self.sent if one.url.path == "/api/sdk/trade"]
        return [body for body in bodies if body.get("dry_run")]

    def asked(self, path: str) -> int:
        return sum(one.url.path == path for one in self.sent)


def is_order(request: httpx.Request) -> bool:
    return request.url.path == "/api/sdk/trade" and b'"dry_run":true' not in request.content


def is_quote(request: httpx.Request) -> bool:
    return request.url.path == "/api/sdk/trade" and not is_order(request)


def breaking(stage: Stage, fault=None, *, read_only: bool = False) -> tuple[Stage, Line]:
    """The stage with a client behind such a line."""
    line = Line(stage.sim.transport)
    if fault is not None:
        line.fault = lambda request: fault if is_order(request) else None
    client = Client(
        line,
        BASE_URL,
        Keys(Key(stage.key, BASE_URL), Key(OPERATOR, BASE_URL)),
        clock=stage.clock,
        rng=random.Random(1),
        read_only=read_only,
    )
    return replace(stage, client=client), line
