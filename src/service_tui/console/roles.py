"""The least role that each key needs on a shared desk.

The service refuses the same actions; here the key is disabled before it is pressed.
"""

from collections.abc import Mapping
from typing import Final

from service_tui.desk.state import DeskState
from service_tui.terms import PersonRole

_TRADING: Final = (
    *("markets.buy", "markets.exit", "markets.alert", "event.buy"),
    *("portfolio.sell", "portfolio.buy", "portfolio.monitor", "portfolio.alert"),
    *("portfolio.amend", "portfolio.cancel", "portfolio.cancel_all"),
    *("monitors.edit", "monitors.all", "monitors.exit", "monitors.remove", "monitors.undo"),
    "monitors.alert",
    *("reactor.mirror", "reactor.mirror_all", "reactor.dismiss", "reactor.follow", "reactor.edit"),
    *("reactor.policy", "reactor.config", "reactor.run", "reactor.reset", "reactor.undo"),
    *("redemption.redeem", "redemption.all", "redemption.auto", "redemption.abandon"),
    *("wallet.link", "wallet.approve", "wallet.credentials", "wallet.allow", "wallet.pay"),
    *("approvals.review", "approvals.approve", "approvals.refuse"),
    *("agents.pause", "agents.claim", "agents.code", "agents.key", "agents.start"),
    *("research.new", "research.backtest", "settings.edit", "settings.undo"),
    *("webhooks.new", "webhooks.test", "webhooks.remove"),
    *("agent_alerts.new", "agent_alerts.remove"),
    *("exposure.stop", "exposure.sell", "exposure.pause"),
)
_SUPERVISING: Final = (
    *("app.pause", "app.slower", "app.faster", "app.halt", "app.halt_too", "app.resume"),
    *("halt.exit", "halt.resume", "agents.suspend", "agents.retire", "agents.leash"),
    "agents.retire_demos",
    "exposure.limit",
    *("agents.budget", "agents.pause_all"),
    *("approvals.always", "approvals.today", "approvals.lift"),
)
_OWNING: Final = ("agents.plan", "agents.new_plan")

ROLE_OF: Final[Mapping[str, PersonRole]] = {
    **dict.fromkeys(_TRADING, PersonRole.TRADER),
    **dict.fromkeys(_SUPERVISING, PersonRole.SUPERVISOR),
    **dict.fromkeys(_OWNING, PersonRole.OWNER),
}
"""The least role of each key; a key that is not listed changes nothing of the service."""


def role_reason(state: DeskState, ident: str) -> str:
    """Why a person's role forbids a key, in one sentence; empty if it does not.

    Args:
        state: the state that is shown.
        ident: id of the key in `keys.py`.
    """
    team, needed = state.team, ROLE_OF.get(ident)
    if team is None or needed is None or team.role.reaches(needed):
        return ""
    return f"needs the role {needed.value}; yours is {team.role.value}"
