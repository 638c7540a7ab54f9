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
from service_tui.clock import ManualClock
from service_tui.server.embedded import BASE_URL
from support import OPERATOR, Stage


class Fault(Enum):
    """How a call goes wrong; those of the second group have reached the service before."""

    NO_LINE = auto()
    SWALLOWED = auto()

    LOST = auto()
    TIMED_OUT = auto()
    HALF = auto()
    FAILED = auto()
    HTML = auto()
    SILENT = auto()


UNANSWERED = tuple(Fault)[2:]


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
        if fault is Fault.SWALLOWED:
            raise httpx.ReadTimeout("nothing came")
        response = await self.inner.handle_async_request(request)
        match fault:
            case Fault.LOST:
                raise httpx.RemoteProtocolError("server disconnected")
            case Fault.TIMED_OUT:
                raise httpx.ReadTimeout("nothing came")
            case Fault.HALF:
                return said((await response.aread())[:40])
            case Fault.FAILED:
                return said({"error": "broken"}, 500)
            case Fault.HTML:
                return said(b"<html>sign in to this network</html>")
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


def said(body: object, status: int = 200, **headers: str) -> httpx.Response:
    """A whole answer, unread as it comes off a line."""
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return httpx.Response(status, headers=named, stream=httpx.ByteStream(content))


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


async def until(desk, is_so, stage: Stage, *, step_s: float = 0.5, tries: int = 200):
    """Let manual time pass, and the disk and its threads keep up, until the state is as wanted."""
    for _ in range(tries):
        if is_so(desk.state):
            return desk.state
        await stage.clock.advance(step_s)
        await stage.database.write(lambda _: None)
        await asyncio.to_thread(int)
    raise AssertionError("the desk never came to the wanted state")


async def ended(desk, ticket, stage: Stage):
    """The view of a ticket once it has come to an end, unknown included."""
    await until(desk, lambda _: ticket.view.state not in {"queued", "sent"}, stage, step_s=0.1)
    return ticket.view


async def asleep(clock: ManualClock, seconds: float) -> None:
    """A machine that was suspended: every waiter wakes once, however long it was."""
    clock._now += seconds
    await clock.advance(0.0)
