"""Changes by people of a shared desk in plain English."""

import json
from collections.abc import Mapping
from typing import Final, cast

from service_tui.desk.slices.team import ActView

HALT_CALL: Final = "POST /api/desk/halt"

_TEXT_OF_CALL: Final[Mapping[str, str]] = {
    HALT_CALL: "halted trading",
    "POST /api/desk/resume": "resumed trading",
    "POST /api/desk/world/speed": "changed the pace of the world",
    "POST /api/desk/world/step": "moved the world on",
    "PATCH /api/desk/agents/{agent_id}": "changed an agent",
    "POST /api/desk/agents/{agent_id}/claim": "claimed an agent",
    "POST /api/desk/agents/{agent_id}/claim-code": "made a claim code",
    "POST /api/desk/agents/{agent_id}/key": "renewed the key of an agent",
    "POST /api/desk/agents/{agent_id}/leash": "set the leash of an agent",
    "DELETE /api/desk/agents/{agent_id}/leash": "removed the leash of an agent",
    "POST /api/desk/agents/{agent_id}/reactor/reset": "reset the circuit breaker of an agent",
    "POST /api/desk/held/{held_id}/approve": "approved a trade",
    "POST /api/desk/held/{held_id}/refuse": "refused a trade",
    "PATCH /api/desk/account": "changed the plan",
    "POST /api/desk/people": "added a person",
    "PATCH /api/desk/people": "changed a role",
    "POST /api/desk/people/key": "renewed the key of a person",
    "POST /api/desk/people/end": "ended the access of a person",
    "POST /api/desk/invitations": "made an invitation",
    "DELETE /api/desk/invitations/{invitation_id}": "ended an invitation",
    "POST /api/desk/me/agent": "opened a console here for the first time",
}
"""Text of a call; a call that is not listed is shown unchanged."""


def act_text(act: ActView) -> str:
    """Text of a change: `refused a trade h12: too large`."""
    words = " ".join(
        part for part in (_TEXT_OF_CALL.get(act.action, act.action), act.subject) if part
    )
    detail = _detail(act.detail)
    return f"{words}: {detail}" if detail else words


def _detail(sent: str) -> str:
    """The request body of a call as names and values."""
    try:
        body: object = json.loads(sent) if sent else None
    except (ValueError, RecursionError):
        return sent
    if not isinstance(body, dict):
        return sent
    values = cast("dict[str, object]", body).items()
    pairs = ((name, _plain(value)) for name, value in values)
    return ", ".join(f"{name} {value}" for name, value in pairs if value)


def _plain(value: object) -> str:
    """Text of a value, lists with blanks between; empty for None."""
    if isinstance(value, list):
        return " ".join(map(_plain, cast("list[object]", value)))
    return "" if value is None else str(value)
