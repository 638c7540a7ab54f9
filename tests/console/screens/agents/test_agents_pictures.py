"""The agents' screen and its dialogs at three sizes in every theme, as pictures to be read."""

import pytest

from kit.console.pictures import SIZES, seen
from kit.console.snapshot import assert_snapshot
from kit.samples.fleet import fleet_state, returns_state

PICTURES = {
    "fleet": ("j", "j"),
    "page": ("j", "j", "enter"),
    "leash": ("j", "j", "l"),
    "start": ("n",),
    "approval": ("ampersand", "enter"),
    "approvals": ("ampersand",),
}


@pytest.mark.slow
@pytest.mark.parametrize("size", SIZES, ids=lambda size: f"{size[0]}x{size[1]}")
@pytest.mark.parametrize("name", PICTURES)
async def test_the_agents_look_as_they_are_meant_to(name: str, size: tuple[int, int]) -> None:
    async with seen(fleet_state(), PICTURES[name], size, "agents") as (pilot, _):
        await assert_snapshot(pilot, f"agents_{name}_{size[0]}x{size[1]}")


@pytest.mark.slow
@pytest.mark.parametrize("size", SIZES, ids=lambda size: f"{size[0]}x{size[1]}")
async def test_returns_look_as_they_are_meant_to(size: tuple[int, int]) -> None:
    async with seen(returns_state(), ("j", "j", "enter"), size, "agents") as (pilot, _):
        await assert_snapshot(pilot, f"agents_returns_{size[0]}x{size[1]}")
