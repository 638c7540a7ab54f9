"""How many calls a minute: the plans' figures by path, and the windows that count them."""

from collections import deque
from functools import cache
from typing import Final

from service_tui.engine.limits import PLANS
from service_tui.terms import Plan
from service_tui.wire.endpoint import (
    SDK,
)
from service_tui.wire.endpoints.public import ALL

MINUTE_S: Final = 60.0

OTHERS: Final = 30
"""Calls a minute on the Free plan to a path that is not named here."""

FREE_RATES: Final = {
    f"{SDK}/markets": 60,
    f"{SDK}/trade": 60,
    f"{SDK}/markets/importable": 6,
    f"{SDK}/markets/import": 6,
    f"{SDK}/context": 20,
    f"{SDK}/redeem": 20,
    f"{SDK}/trades/batch": 2,
    # ours: as many trades as a batch, and attempts that wait for somebody else's machine.
    f"{SDK}/copytrading/execute": 2,
    f"{SDK}/webhooks/test": 2,
    f"{SDK}/positions": 12,
    f"{SDK}/positions/monitors": OTHERS,
    f"{SDK}/positions/{{market_id}}": OTHERS,
    f"{SDK}/portfolio": 6,
    f"{SDK}/briefing": 10,
}
"""Calls a minute of one key on the Free plan, by the beginning of the path; the longest counts.

Source: wire reference, section 7. A plan multiplies them by its factor.
"""
# ours: each path counts alone; the reference does not say whether paths of one line share a count.

FIXED_RATES: Final = {f"{SDK}/skills": 300, f"{SDK}/agents/register": 10}
"""The same on every plan. Without a key there is only one caller here: the machine itself."""

WINDOWS_MAX: Final = 4_096
"""Callers times paths that are counted at one time: twenty agents have a thousand at most."""


@cache
def rate_of(path: str, plan: Plan) -> int:
    """Calls a minute that one key may make of a path of the endpoint table."""
    fixed = _longest(FIXED_RATES, path)
    if fixed is not None:
        return fixed
    free = _longest(FREE_RATES, path)
    return (OTHERS if free is None else free) * PLANS[plan].rate_factor


def has_larger(path: str, plan: Plan) -> bool:
    """Whether another plan has more calls a minute of a path of the endpoint table."""
    return any(rate_of(path, other) > rate_of(path, plan) for other in Plan)


def _longest(rates: dict[str, int], path: str) -> int | None:
    """The rate of the longest beginning of a path, whole segments only."""
    while path:
        if path in rates:
            return rates[path]
        path = path.rpartition("/")[0]
    return None


@cache
def rates_of(plan: Plan) -> dict[str, int]:
    """Calls a minute by path, for every endpoint that a key opens."""
    return {one.path: rate_of(one.path, plan) for one in ALL if not (one.keyless or one.operator)}


class Rates:
    """Counts calls in windows that slide: never more than the limit in any span of that length.

    A call that is refused is not counted. Memory is bounded by what passed in one span.
    """

    def __init__(self) -> None:
        self._windows: dict[tuple[str, str], deque[float]] = {}

    def take(
        self, caller: str, what: str, limit: int, *, now: float, span_s: float = MINUTE_S
    ) -> float:
        """Count a call, if it may pass.

        Args:
            caller: who is counted.
            what: what is counted; always with the same span.
            limit: calls in a span, at least 1.
            now: of the monotonic clock.
            span_s: length of the window.

        Returns:
            0 when the call may pass, else the seconds until one may.
        """
        window = self._windows.get((caller, what))
        if window is None:
            window = self._open((caller, what))
        # By the same sum as below, so that what is not over has some time left.
        while window and window[0] + span_s <= now:
            window.popleft()
        # More than the limit may stand there: the plan was changed to a smaller one.
        excess = len(window) - limit
        if excess >= 0:
            return (window[excess] + span_s) - now
        window.append(now)
        return 0.0

    def _open(self, key: tuple[str, str]) -> deque[float]:
        if len(self._windows) >= WINDOWS_MAX:
            del self._windows[next(iter(self._windows))]
        window = self._windows[key] = deque()
        return window
