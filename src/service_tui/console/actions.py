"""Actions of a screen: one row each, with its requirements.

Key, label and help of an action are in `keys.py` under the same id.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, Generic, TypeAlias, TypeVar

from service_tui.console.keys import cap
from service_tui.desk.reasons import READ_ONLY
from service_tui.desk.state import DeskState

Target = TypeVar("Target")

Requirement: TypeAlias = Callable[[Target], str]
"""Returns why an action is disabled on a screen now; empty if it is enabled.

It runs at each repaint of the footer: it must be quick, change nothing, and never raise, also
without a highlighted row.
"""

NO_ROW: Final = "select a row"


@dataclass(frozen=True)
class ScreenAction(Generic[Target]):
    """One action of a screen.

    Args:
        id: the id of its row in `keys.py`, `monitors.edit`.
        run: performs it; called only while every requirement is met.
        requires: checked in this order; the first reason disables the action and is shown.
    """

    id: str
    run: Callable[[Target], None]
    requires: tuple[Requirement[Target], ...] = ()

    def disabled_reason(self, target: Target) -> str:
        """Why the action is disabled now; empty if it is enabled."""
        return next((why for check in self.requires if (why := check(target))), "")


def not_halted_reason(state: DeskState) -> str:
    """Why there is nothing to resume, in one sentence; empty while the desk is halted."""
    if state.halted_since is not None:
        return ""
    return f"the desk is not halted: {cap('app.halt')} halts"


def read_only_reason(state: DeskState) -> str:
    """Why nothing can be changed from here, in one sentence; empty if it can."""
    return READ_ONLY if state.service.read_only else ""
