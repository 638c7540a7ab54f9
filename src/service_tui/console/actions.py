"""Actions of a screen: one row each, with its requirements.

Key, label and help of an action are in `keys.py` under the same id.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, Generic, TypeAlias, TypeVar

from service_tui.console.keys import cap
from service_tui.console.roles import role_reason
from service_tui.desk.reasons import READ_ONLY
from service_tui.desk.state import DeskState

Target = TypeVar("Target")

UnmetReason: TypeAlias = str
"""Why a requirement is not met, as a short text for the footer; empty if it is met."""

Requirement: TypeAlias = Callable[[Target], UnmetReason]
"""A condition of an action, named as what has to be true; returns why it is not.

It runs at each repaint of the footer: it must be quick, change nothing, and never raise, also
without a highlighted row.
"""

GROUPS_ON_RECORD: Final = frozenset({
    "rows",
    "dialog",
    "sort",
    "columns",
    "saved",
    "beside",
    "compare",
    "command",
    "help",
    "page",
    "chart",
})
"""Groups whose keys only move, list and close."""

ON_RECORD: Final = frozenset({
    *("app.attention", "app.portfolio", "app.markets", "app.monitors", "app.reactor"),
    *("app.redemption", "app.research", "app.agents", "app.settings", "app.blotter", "app.log"),
    *("app.exposure", "exposure.market", "exposure.list", "exposure.group", "event.choose"),
    *("exposure.open", "exposure.both", "exposure.mark", "exposure.mark_all"),
    *("app.timeline", "timeline.open", "timeline.kind", "timeline.away", "timeline.market"),
    *("app.last", "app.back", "app.forward", "app.command", "app.palette", "app.help"),
    *("app.privacy", "app.theme", "app.themes", "app.suspend", "app.toasts", "app.quit"),
    *(
        "app.charts",
        "app.beside",
        "app.out",
        "app.halt",
        "app.halt_too",
        "app.replay",
        "app.earlier",
        "app.later",
    ),
    *("app.minute_back", "app.minute_on", "app.hour_back", "app.hour_on"),
    *("app.event_before", "app.event_after", "app.replay_time"),
    *("markets.category", "markets.status", "markets.until", "markets.held"),
    *("markets.starred", "markets.venue", "markets.range"),
    *("markets.event", "markets.mark", "markets.mark_all", "portfolio.mark", "portfolio.mark_all"),
    *("agents.mark", "agents.mark_all"),
    *("portfolio.market", "portfolio.list", "monitors.list", "monitors.market"),
    *("reactor.list", "reactor.state", "reactor.wallet", "reactor.market"),
    *("redemption.market", "redemption.hash", "blotter.market", "blotter.list", "blotter.trades"),
    *("log.open", "log.who", "approvals.market", "agents.open", "agents.list", "research.next"),
})
"""Keys that work on a recorded state: they move, filter and read, and send nothing."""

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


def rewound_reason(state: DeskState, ident: str) -> str:
    """Why a key does nothing on a recorded state, in one sentence; empty if it works.

    Args:
        state: the state that is shown.
        ident: id of the key in `keys.py`; empty for what is no key.
    """
    if (
        state.rewound_to is None
        or ident in ON_RECORD
        or ident.partition(".")[0] in GROUPS_ON_RECORD
    ):
        return ""
    return "replay: nothing can be sent"


def barred_reason(state: DeskState, ident: str) -> str:
    """Why a key is barred whatever the screen: by a recorded state, or by the person's role."""
    return rewound_reason(state, ident) or role_reason(state, ident)


def read_only_reason(state: DeskState) -> str:
    """Why nothing can be changed from here, in one sentence; empty if it can."""
    return READ_ONLY if state.service.read_only else ""
