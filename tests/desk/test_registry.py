import sys
from pathlib import Path

from kit.service.stage import open_stage, open_test_desk
from service_tui.desk.command import Command


def commands() -> set[type[Command]]:
    """Every command of the program; a class that a decorator has replaced is none."""
    found = Command.__subclasses__()
    return {one for one in found if getattr(sys.modules[one.__module__], one.__name__, 0) is one}


async def test_every_command_is_carried_out_by_somebody(tmp_path: Path) -> None:
    async with open_stage(tmp_path) as stage, open_test_desk(stage) as desk:
        known = set(desk._registry.kinds)
    made = commands()
    assert len(made) > 60
    assert known == made


def test_every_command_names_its_kind() -> None:
    assert [kind.__name__ for kind in commands() if not kind.kind] == []
