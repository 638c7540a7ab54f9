"""The marks of real positions that this desk has shown in the last minutes."""

from collections import deque
from collections.abc import Iterable
from typing import Final

from service_tui.desk.slices.positions import PositionView

REMEMBERED_S: Final = 600.0
"""ours: how long an earlier, higher mark binds a sale that nobody confirmed; one answer with a low
mark and a low book sells nothing, and after a true fall the sale passes when this time is over."""


class ShownMarks:
    """The highest mark of each open position, over the last ten minutes of this desk."""

    def __init__(self) -> None:
        # By position, the oldest first; each mark is lower than the one before it.
        self._seen: dict[str, deque[tuple[float, float]]] = {}

    def note(self, positions: Iterable[PositionView], now_s: float) -> None:
        """Remember the marks that are shown now, by the monotonic clock; forget the oldest."""
        for one in positions:
            mark = one.mark_price
            if one.is_closed or mark is None or not 0 < mark <= 1:
                continue
            seen = self._seen.setdefault(one.key, deque())
            while seen and seen[-1][1] <= mark:
                seen.pop()
            seen.append((now_s, mark))
        for key, seen in list(self._seen.items()):
            while seen and now_s - seen[0][0] > REMEMBERED_S:
                seen.popleft()
            if not seen:
                del self._seen[key]

    def highest(self, key: str) -> float:
        """The highest mark of a position as of the newest `note`; 0 where none is remembered."""
        seen = self._seen.get(key)
        return seen[0][1] if seen else 0.0
