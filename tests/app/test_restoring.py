"""The choices after a damaged database, for a person and for a program."""

from pathlib import Path

import pytest

from kit.service.stage import open_stage
from service_tui.app.restoring import choices_for, recovery_commands
from service_tui.commands.database import back_up
from service_tui.console.closed_desk import DeskClosedError, RecoveryOption
from service_tui.storage.db.connection import DATABASE_FILE
from service_tui.storage.errors import CorruptDatabaseError, Had, Rest

SALVAGED = Rest(Path("rest"), "row 9")


def damaged(data_dir: Path, had: Had) -> CorruptDatabaseError:
    database = data_dir / DATABASE_FILE
    return CorruptDatabaseError(
        database, reason="page 3", kept_as=Path("kept"), backups=(), had=had
    )


@pytest.mark.parametrize(
    ("had", "files"),
    [
        (Had(), []),
        (Had(rest=SALVAGED), ["rest"]),
        (Had(SALVAGED, Rest(Path("a copy"), "row 5")), ["rest", "'a copy'"]),
    ],
)
def test_a_program_without_a_person_reads_which_commands_go_on(had: Had, files: list[str]) -> None:
    text = recovery_commands(damaged(Path("my data"), had))
    commands = [f"'service-tui restore {one} --data-dir 'my data''" for one in (*files, "--empty")]
    assert text == f"choose one first: {', or '.join(commands)} for a new desk"


async def with_backup(data_dir: Path) -> list[RecoveryOption]:
    """The choices of a damaged desk: a salvaged file that is no database, its backup, anew."""
    async with open_stage(data_dir, speed=0):
        pass
    copy = Path(back_up(data_dir, None, None)[0])
    torn = data_dir / "torn"
    torn.write_text("no database")
    return list(choices_for(damaged(data_dir, Had(Rest(torn, "row 9"), Rest(copy, "row 5")))))


async def test_a_person_chooses_what_was_salvaged_a_backup_or_a_new_desk(tmp_path: Path) -> None:
    salvaged, backup, anew = await with_backup(tmp_path)
    assert [one.label for one in (salvaged, backup, anew)] == ["restore", "restore", "start anew"]
    assert salvaged.details.startswith("what was salvaged, row 9")
    assert backup.details.startswith("backup, row 5")
    assert backup.act()[0].startswith("restored: ")
    assert (tmp_path / DATABASE_FILE).exists()
    assert anew.act()[0] == "the next start opens a new desk"
    assert not (tmp_path / DATABASE_FILE).exists()


async def test_a_choice_that_fails_says_why_and_leaves_the_others(tmp_path: Path) -> None:
    salvaged, backup, anew = await with_backup(tmp_path)
    with pytest.raises(DeskClosedError, match="torn"):
        salvaged.act()
    async with open_stage(tmp_path, speed=0):
        for one in (backup, anew):
            with pytest.raises(DeskClosedError, match="in use"):
                one.act()
    assert backup.act()[0].startswith("restored: ")
