"""The agents' screen and its dialogs at three sizes in every theme, as pictures to be read."""

import pytest

from console.snapshot import assert_snapshot
from console.test_pictures import NAMES, SIZES, THEMES, shown
from doors import RecordingDoors
from fleet_samples import fleet_state
from samples import NOW
from service_tui.console.app import ConsoleApp

PICTURES = {
    "fleet": ("j", "j"),
    "page": ("j", "j", "enter"),
    "leash": ("j", "j", "l"),
    "start": ("n",),
    "approval": ("ampersand",),
}


@pytest.mark.parametrize("size", SIZES, ids=lambda size: f"{size[0]}x{size[1]}")
@pytest.mark.parametrize("name", PICTURES)
async def test_the_agents_look_as_they_are_meant_to(name: str, size: tuple[int, int]) -> None:
    doors = RecordingDoors(fleet_state())
    app = ConsoleApp(
        open_desk=doors.open,
        initial=doors.state,
        now=lambda: NOW,
        themes=THEMES,
        log_path="/log/service-tui.log",
        data_path="/data",
        first="agents",
    )
    async with app.run_test(size=size) as pilot:
        await shown(pilot, PICTURES[name])
        await assert_snapshot(pilot, f"agents_{name}_{size[0]}x{size[1]}", themes=NAMES)
