"""The person's connection to the service, which a scenario breaks."""

from collections.abc import AsyncGenerator, Callable
from dataclasses import dataclass, field
from typing import Final

import httpx

from service_tui.clock import Clock
from service_tui.desk.ports import Listen
from service_tui.wire.endpoints.public import PLACE_TRADE
from service_tui.wire.events import EventBody

_REFUSED: Final = "drill: connection refused"
_LOST: Final = "drill: the answer was lost"
_FAILED: Final = b'{"error": "internal error"}'
_AGAIN_S: Final = 0.25


@dataclass(slots=True)
class LineFault:
    """Which calls break and how, until a second of the drill.

    One of `orders` breaks one order; after it nothing gets through for `silence_s`.
    """

    calls: str
    fault: str
    until: float
    silence_s: float = 0.0

    def hits(self, *, is_order: bool, reads: bool) -> bool:
        """Whether it breaks a call."""
        return self.calls == "all" or (is_order if self.calls == "orders" else reads)


@dataclass
class BrokenLine(httpx.AsyncBaseTransport):
    """Passes calls to the service, except while a fault breaks them.

    `now_s` is the second of the drill; it stands still before the start and after the end.
    """

    inner: httpx.AsyncBaseTransport
    clock: Clock
    now_s: Callable[[], float] = lambda: 0.0
    faults: list[LineFault] = field(default_factory=list[LineFault])

    def is_silent(self) -> bool:
        """Whether reads, and with them the stream of events, get nothing now."""
        return self._fault(is_order=False, reads=True) is not None

    def _fault(self, *, is_order: bool, reads: bool) -> LineFault | None:
        now_s = self.now_s()
        self.faults = [one for one in self.faults if one.until > now_s]
        return next((one for one in self.faults if one.hits(is_order=is_order, reads=reads)), None)

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """The service's answer, or what the fault makes of it."""
        is_order = request.url.path == PLACE_TRADE.path and b'"dry_run":true' not in request.content
        fault = self._fault(is_order=is_order, reads=request.method == "GET")
        if fault is None:
            return await self.inner.handle_async_request(request)
        if fault.calls == "orders":
            self.faults.remove(fault)
            if fault.silence_s:
                self.faults.append(LineFault("all", "refused", self.now_s() + fault.silence_s))
        return await self._broken(request, fault)

    async def _broken(self, request: httpx.Request, fault: LineFault) -> httpx.Response:
        if fault.fault == "refused":
            raise httpx.ConnectError(_REFUSED)
        response = await self.inner.handle_async_request(request)
        if fault.fault == "lost":
            raise httpx.RemoteProtocolError(_LOST)
        if fault.fault == "stuck":
            await self._wait_for_the_end()
            return response
        return httpx.Response(500, stream=httpx.ByteStream(_FAILED))

    async def _wait_for_the_end(self) -> None:
        while self.is_silent():
            await self.clock.sleep(_AGAIN_S)


def listening(listen: Listen, line: BrokenLine) -> Listen:
    """The stream of events as it comes through a line: it breaks off in silence."""

    async def through(after: int | None) -> AsyncGenerator[EventBody]:
        if line.is_silent():
            return
        async for body in listen(after):
            if line.is_silent():
                return
            yield body

    return through
