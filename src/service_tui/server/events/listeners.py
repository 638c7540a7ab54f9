"""Delivers every event of interest to all listeners, once it is on disk.

In process, listen with `service.subscribe()`; `httpx.ASGITransport` holds a body back until its
end, which never comes.
"""

import asyncio
from collections import deque
from collections.abc import Callable, Sequence
from typing import Final, Self

from service_tui.engine.events import Event
from service_tui.engine.world import World
from service_tui.server.events.event_parts import PARTS, body_of
from service_tui.units import Timestamp
from service_tui.wire.base import moment
from service_tui.wire.events import EventBody, EventKind

WAITING_MAX: Final = 2_048
"""Events that may wait for one listener; who is further behind starts over."""

KEPT_MAX: Final = WAITING_MAX - 1
"""Events kept in memory for those who come back. # ours: minutes of twenty busy agents."""

LISTENERS_MAX: Final = 32
"""Listeners at one time; one more, and the one who has listened longest starts over."""

BEAT_S: Final = 10.0
"""Seconds between two signs of life on a quiet stream."""

LOST: Final = {
    "kind": EventKind.RESET.value,
    "fill": None,
    "order": None,
    "agent": None,
    "market": None,
    "speed": None,
    "plan": None,
    "halted": None,
    "monitor": None,
    "risk_alert": None,
    "experiment": None,
    "held": None,
}
"""Makes of an event the one which reports that earlier events were missed."""

Happened = tuple[int, Event]
"""An event with the number of its row in the journal."""


class Subscription:
    """Events that a listener has yet to get, oldest first: `async for body in subscription`.

    It begins with `ready` or `reset`. It ends when the service closes, when `end` is called, or
    after a `reset` when the listener was too slow; then subscribe again.
    """

    def __init__(self, leave: Callable[["Subscription"], None]) -> None:
        self._leave = leave
        self._waiting: deque[EventBody | None] = deque()
        self._ready = asyncio.Event()
        self._is_ended = False

    def put(self, body: EventBody) -> None:
        """Queue an event for the listener, or the notice that it was too slow."""
        if len(self._waiting) >= WAITING_MAX:
            self._waiting.clear()
            self._waiting.append(body.model_copy(update=LOST))
            self.end()
            return
        self._waiting.append(body)
        self._ready.set()

    def beat(self) -> None:
        """Give a sign of life to a listener who waits."""
        if not self._waiting:
            self._waiting.append(None)
            self._ready.set()

    def end(self) -> None:
        """Take no new events; queued ones are still delivered."""
        self._is_ended = True
        self._leave(self)
        self._ready.set()

    async def next(self, at_most: int = 1) -> list[EventBody]:
        """The next events, as many as wait, or none for a sign of life.

        Returns:
            What happened, as soon as it has.

        Raises:
            StopAsyncIteration: there is nothing more to hear.
        """
        waiting = self._waiting
        while not waiting:
            if self._is_ended:
                raise StopAsyncIteration
            self._ready.clear()
            await self._ready.wait()
        bodies = [waiting.popleft() for _ in range(min(at_most, len(waiting)))]
        return [body for body in bodies if body is not None]

    def __aiter__(self) -> Self:
        """The subscription itself."""
        return self

    async def __anext__(self) -> EventBody:
        """The next event, signs of life passed over."""
        while True:
            for body in await self.next():
                return body

    async def __aenter__(self) -> Self:
        """The subscription itself."""
        return self

    async def __aexit__(self, *_: object) -> None:
        """Stop listening."""
        self.end()


class EventHub:
    """Hands what happened to all who listen, and keeps the last of it for those who return."""

    def __init__(self, world: Callable[[], World], seq: int) -> None:
        self._world = world
        self._kept: deque[Happened] = deque()
        # Every event of interest after this number is kept.
        self._since = seq
        self._last = seq
        # In the order of their coming.
        self._listeners: dict[Subscription, None] = {}
        self.followers: list[Callable[[Sequence[Happened]], None]] = []

    def publish(self, happened: Sequence[Happened]) -> None:
        """Notify followers and listeners of what is on disk now, in the order of the journal."""
        for follower in self.followers:
            follower(happened)
        for seq, event in happened:
            self._last = seq
            if type(event) not in PARTS:
                continue
            self._kept.append((seq, event))
            if len(self._kept) > KEPT_MAX:
                self._since = self._kept.popleft()[0]
            if self._listeners:
                body = body_of(self._world(), seq, event)
                for listener in tuple(self._listeners):
                    listener.put(body)

    def subscribe(self, now: Timestamp, after: int | None = None) -> Subscription:
        """Subscribe from now on, or from right after the last event received."""
        if len(self._listeners) >= LISTENERS_MAX:
            oldest = next(iter(self._listeners))
            oldest.put(self._reset(now))
            oldest.end()
        listener = Subscription(self._forget)
        missed = self._missed(after)
        kind = EventKind.RESET if missed is None else EventKind.READY
        first = self._last if missed is None or after is None else after
        listener.put(EventBody(kind=kind.value, seq=first, at=moment(now)))
        self._listeners[listener] = None
        world = self._world()
        for seq, event in missed or ():
            listener.put(body_of(world, seq, event))
        return listener

    def start_over(self, seq: int, now: Timestamp) -> None:
        """Notify listeners of a possible gap: the world was read back from disk."""
        self._kept.clear()
        self._since = self._last = seq
        for listener in tuple(self._listeners):
            listener.put(self._reset(now))

    def beat(self) -> None:
        """Send each listener a heartbeat."""
        for listener in self._listeners:
            listener.beat()

    def close(self) -> None:
        """End every subscription; queued events are still delivered."""
        for listener in tuple(self._listeners):
            listener.end()

    def _missed(self, after: int | None) -> list[Happened] | None:
        """What came after an event, None where that is not known any more."""
        if after is None:
            return []
        if not self._since <= after <= self._last:
            return None
        return [one for one in self._kept if one[0] > after]

    def _reset(self, now: Timestamp) -> EventBody:
        return EventBody(kind=EventKind.RESET.value, seq=self._last, at=moment(now))

    def _forget(self, listener: Subscription) -> None:
        self._listeners.pop(listener, None)
