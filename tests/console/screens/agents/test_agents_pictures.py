"""The agents' screen and its dialogs at three sizes in every theme, as pictures to be read."""

import pytest

from kit.console.pictures import assert_at_sizes
from kit.samples.fleet import fleet_state, returns_state

PICTURES = {
    "fleet": ("j", "j"),
    "page": ("j", "j", "enter"),
    "leash": ("j", "j", "l"),
    "alerts": ("j", "j", "w"),
    "alert_form": ("j", "j", "w", "n"),
    "start": ("n",),
    "approval": ("ampersand", "enter"),
    "approvals": ("ampersand",),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", PICTURES)
async def test_the_agents_look_as_they_are_meant_to(name: str) -> None:
    keys = PICTURES[name]
    await assert_at_sizes(
        fleet_state(), keys, f"agents_{name}", "agents", anew=name in {"page", "approval"}
    )


@pytest.mark.slow
async def test_returns_look_as_they_are_meant_to() -> None:
    keys = PICTURES["page"]
    await assert_at_sizes(returns_state(), keys, "agents_returns", "agents", anew=True)
