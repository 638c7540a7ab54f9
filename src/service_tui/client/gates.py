"""Holding calls back: one gate a path, shared by all callers.

A path that answers is not slowed; one that fails is asked at most five times a second, and not at
all until its Retry-After has passed.
"""

from dataclasses import dataclass, field
from typing import Final

from service_tui.client.errors import Called, RateLimitedError, Reason
from service_tui.client.retry import clamp_wait
from service_tui.clock import Clock

PACE_S: Final = 0.2
"""Between two calls to a path that fails. Source: failures, T-12."""


@dataclass(slots=True)
class _Gate:
    """Moments of the monotonic clock: closed until `opens_at`, next call not before `next_at`."""

    opens_at: float = 0.0
    next_at: float = 0.0
    reason: Reason = field(default_factory=lambda: Reason("held back, it fails too often"))


class Gates:
    """The gates of one service. Only paths that fail have one."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._gates: dict[str, _Gate] = {}

    def close(self, path: str, wait_s: float, reason: Reason) -> None:
        """Send nothing to `path` for `wait_s` seconds; the later of two closings holds."""
        gate = self._gates.setdefault(path, _Gate())
        gate.opens_at = max(gate.opens_at, self._clock.monotonic() + wait_s)
        gate.reason = reason

    def failed(self, path: str) -> None:
        """From now on calls to `path` keep their distance."""
        gate = self._gates.setdefault(path, _Gate())
        gate.next_at = max(gate.next_at, self._clock.monotonic() + PACE_S)

    def answered(self, path: str) -> None:
        """Let calls to `path` pass freely again, unless it was closed."""
        gate = self._gates.get(path)
        if gate is not None and gate.opens_at <= self._clock.monotonic():
            del self._gates[path]

    async def enter(self, path: str, called: Called, until: float) -> None:
        """Wait until a call to `path` may be sent.

        A read waits for a closed gate, a write does not: who orders wants to know at once.

        Args:
            path: the endpoint's path, with its names in braces.
            called: the call, for the error.
            until: the call's deadline on the monotonic clock.

        Raises:
            RateLimitedError: the wait would be longer than the deadline; nothing was sent.
        """
        while True:
            now = self._clock.monotonic()
            gate = self._gates.get(path)
            if gate is None:
                return
            due = max(gate.opens_at, gate.next_at)
            if due <= now:
                gate.next_at = now + PACE_S
                return
            if due >= until or (gate.opens_at > now and not called.reads):
                raise RateLimitedError(gate.reason, called, retry_after_s=clamp_wait(due - now))
            await self._clock.sleep(due - now)
