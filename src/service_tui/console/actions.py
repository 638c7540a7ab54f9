"""What the keys of a screen do: one row an action, with what it requires.

Key, label and help of an action stand in `keys.py` under the same id.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, Generic, TypeAlias, TypeVar

from service_tui.desk.reasons import READ_ONLY
from service_tui.desk.state import DeskState

Target = TypeVar("Target")

Requirement: TypeAlias = Callable[[Target], str]
"""Returns why an action is disabled on a screen now; empty when it is not.

It is asked at each repaint of the footer: it is quick, changes nothing, and never raises, also
while no row is highlighted.
"""

NO_ROW: Final = "no row is highlighted"


@dataclass(frozen=True)
class ScreenAction(Generic[Target]):
    """One action of a screen.

    Args:
        id: that of its row in `keys.py`, `monitors.edit`.
        run: what it does; called only while every requirement is met.
        requires: asked in this order; the first reason disables the action and is shown.
    """

    id: str
    run: Callable[[Target], None]
    requires: tuple[Requirement[Target], ...] = ()

    def disabled_reason(self, target: Target) -> str:
        """Why it does nothing now; empty when it works."""
        return next((why for check in self.requires if (why := check(target))), "")


def read_only_reason(state: DeskState) -> str:
    """Why nothing is changed from here, in one sentence; empty when it may be."""
    return READ_ONLY if state.service.read_only else ""
