"""Every command has a handler and a kind."""

import asyncio
import sys
from pathlib import Path

import pytest

from kit.samples.desk import sample_state
from kit.service.stage import open_stage, open_test_desk
from service_tui.desk.command import Command
from service_tui.desk.commands.settings import SetSpeed, SetStar
from service_tui.desk.registry import Registry
from service_tui.desk.tickets import Ticket


def commands() -> set[type[Command]]:
    """Every command of the program; a class that a decorator has replaced is none."""
    found = Command.__subclasses__()
    return {one for one in found if getattr(sys.modules[one.__module__], one.__name__, 0) is one}


@pytest.mark.slow
async def test_every_command_is_carried_out_by_somebody(tmp_path: Path) -> None:
    async with open_stage(tmp_path) as stage, open_test_desk(stage) as desk:
        known = set(desk._registry.kinds)
    made = commands()
    assert len(made) > 60
    assert known == made


def test_every_command_names_its_kind() -> None:
    assert [kind.__name__ for kind in commands() if not kind.kind] == []


VIEW = sample_state(6).tickets[0]


async def test_a_command_goes_to_the_function_of_its_own_type() -> None:
    registry, heard = Registry(), list[object]()
    registry.on(SetStar, lambda order: heard.append(("star", order)))
    registry.on_ticket(SetSpeed, lambda view, order: heard.append(("speed", view, order)))
    star, speed = SetStar("m", on=True), SetSpeed(10)
    for order in (speed, star):
        await registry.carry_out(Ticket(order, VIEW))
    assert heard == [("speed", VIEW, speed), ("star", star)]
    assert list(registry.kinds) == [SetStar, SetSpeed]


async def test_what_takes_time_is_waited_for() -> None:
    registry, heard = Registry(), list[str]()

    async def slowly(_: SetStar) -> None:
        await asyncio.sleep(0)
        heard.append("done")

    registry.on(SetStar, slowly)
    await registry.carry_out(Ticket(SetStar("m", on=True), VIEW))
    assert heard == ["done"]


def test_a_type_has_one_function() -> None:
    registry = Registry()
    registry.on(SetStar, lambda _: None)
    with pytest.raises(ValueError, match=r"^SetStar is carried out already$"):
        registry.on_ticket(SetStar, lambda _, __: None)
