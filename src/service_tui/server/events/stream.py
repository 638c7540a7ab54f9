"""A subscription as server-sent events over HTTP."""

from collections.abc import AsyncGenerator, Callable
from typing import Final

from starlette.applications import Starlette
from starlette.datastructures import Headers
from starlette.responses import StreamingResponse
from starlette.types import Receive, Scope, Send

from service_tui.server.events.listeners import Subscription
from service_tui.wire.events import EventBody

MEDIA_TYPE: Final = "text/event-stream"

HEADERS: Final = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
"""Nobody keeps events. # ours: proxies are told to pass each on at once. The usual ones collect
some kilobytes first, and a console behind one stands still meanwhile."""

RETRY_MS: Final = 1_000
"""After this long a browser-like client comes back."""

FRAMES_MAX: Final = 64
"""Events that go out together: to send is dearer than to write, and trades come in groups."""

STREAMS_MAX: Final = 32
"""ours: streams of one person over HTTP at one time. A line that is being answered is never let go
to make room for another, and there are 512 of them for everybody."""

STATE: Final = "streams"
"""Where the app keeps them."""

NUMBER_MAX: Final = 18
"""Digits of the number of an event."""


class EventStream(StreamingResponse):
    """The answer that goes on until one of the two sides ends it."""

    media_type = MEDIA_TYPE

    def __init__(
        self,
        subscription: Subscription,
        streams: "OpenStreams",
        may_listen: Callable[[], bool],
        who: str = "",
    ) -> None:
        super().__init__(_frames(subscription, may_listen), headers=HEADERS)
        self._subscription = subscription
        self._streams = streams
        self._who = who

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send until it ends; nothing is kept after the listener hangs up."""
        self._streams.add(self._subscription, self._who)
        try:
            await super().__call__(scope, receive, send)
        finally:
            self._streams.remove(self._subscription)


class OpenStreams:
    """What goes out over HTTP now: a server that ends has to end these first, or it waits."""

    def __init__(self) -> None:
        self._open: dict[Subscription, str] = {}

    def __len__(self) -> int:
        """How many there are."""
        return len(self._open)

    def has_room(self, who: str) -> bool:
        """True if a person may have one more."""
        return sum(one == who for one in self._open.values()) < STREAMS_MAX

    def add(self, subscription: Subscription, who: str = "") -> None:
        """One more is on its way, of a person."""
        self._open[subscription] = who

    def remove(self, subscription: Subscription) -> None:
        """One is over."""
        self._open.pop(subscription, None)
        subscription.end()

    def end(self) -> None:
        """End all of them; what waits in them is still sent."""
        for subscription in tuple(self._open):
            subscription.end()


def streams_of(app: Starlette) -> OpenStreams:
    """The open streams of an app.

    Returns:
        What the app was made with.

    Raises:
        TypeError: this is no app of ours.
    """
    found: object = getattr(app.state, STATE, None)
    if not isinstance(found, OpenStreams):
        raise TypeError("this app has no streams")
    return found


async def _frames(
    subscription: Subscription, may_listen: Callable[[], bool]
) -> AsyncGenerator[str]:
    """The subscription in the letters of the format, until the listener's key opens it no more."""
    yield f"retry: {RETRY_MS}\n\n"
    while True:
        try:
            bodies = await subscription.next(FRAMES_MAX)
        except StopAsyncIteration:
            return
        if not may_listen():
            return
        yield "".join(map(frame, bodies)) or ": beat\n\n"


def frame(body: EventBody) -> str:
    """One event in the letters of the format; JSON has no line breaks of its own."""
    data = body.model_dump_json(exclude_none=True)
    return f"id: {body.seq}\nevent: {body.kind}\ndata: {data}\n\n"


def last_event_seen(headers: Headers) -> int | None:
    """The number of the last event that a returning listener received.

    Returns:
        None for a new listener; -1, which is no event's number, for what cannot be read.
    """
    number = headers.get("last-event-id")
    if number is None:
        return None
    known = number.isascii() and number.isdigit() and len(number) <= NUMBER_MAX
    return int(number) if known else -1
