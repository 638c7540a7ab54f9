"""`verify`, `backup` and `restore` on a data directory, and what a damaged database offers."""

import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from kit.service.stage import open_stage
from service_tui.app.closed import explain_closed_desk
from service_tui.app.options import Options
from service_tui.cli.main import CANNOT, OK, run
from service_tui.commands.database import checked, ledger_finding
from service_tui.commands.serve import serve
from service_tui.commands.shared import (
    SharedRequest,
    books_finding,
    leader_text,
    run_shared_command,
)
from service_tui.console.closed_desk import DeskClosedError
from service_tui.engine.amm.exchange import Order
from service_tui.server import world_store as keeper_room
from service_tui.server.books import BooksCheck
from service_tui.storage.action_log import FILE, ActionLog
from service_tui.storage.db.connection import DATABASE_FILE
from service_tui.storage.errors import (
    CorruptDatabaseError,
    Had,
    Rest,
    StorageError,
)
from service_tui.storage.shared.leadership import SILENT_S, Leader
from service_tui.terms import Action, Side
from service_tui.units import ONE, Micros


@pytest.fixture
async def data_dir(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A closed directory with two snapshots, trades and an action log."""
    monkeypatch.setattr(keeper_room, "SNAPSHOT_ROWS", 5)
    path = tmp_path / "data"
    async with open_stage(path, speed=0) as stage:
        for market in stage.open_markets()[:8]:
            order = Order(stage.agent, market.market_id, Side.YES, Action.BUY, Micros(5 * ONE))
            await stage.sim.service.world_store.place(order, stage.clock.now())
    ActionLog(path / FILE).append([{"what": "one"}, {"what": "two"}])
    return path


def printed(capsys: pytest.CaptureFixture[str], *words: str | Path) -> tuple[int, str]:
    code = run([str(word) for word in words])
    output = capsys.readouterr()
    return code, output.out + output.err


def alter(path: Path, statement: str) -> None:
    with closing(sqlite3.connect(path / DATABASE_FILE)) as connection:
        connection.execute(statement)
        connection.commit()


@pytest.mark.slow
def test_verify_prints_one_line_for_each_part_of_the_data(
    data_dir: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, text = printed(capsys, "verify", "--data-dir", data_dir)
    lines = text.splitlines()
    assert [line.split()[0] for line in lines] == ["database", "journal", "ledger", "actions"]
    assert code == OK, text
    assert "2 entries, log verified" in lines[3]
    assert "sum to zero" in lines[2]


CHANGES = {
    "journal": "UPDATE journal SET seq = seq + 1 WHERE seq = (SELECT max(seq) FROM journal)",
    "ledger": "UPDATE journal SET body = replace(body, '5000000', '4000000') WHERE kind = 'fill'",
    "database": "PRAGMA user_version = -5",
}


@pytest.mark.slow
@pytest.mark.parametrize("name", CHANGES)
def test_verify_names_the_part_that_was_altered(
    data_dir: Path, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    alter(data_dir, CHANGES[name])
    code, text = printed(capsys, "verify", "--data-dir", data_dir)
    assert code == CANNOT
    assert f"PROBLEM {name}" in text, text


@pytest.mark.slow
def test_verify_reports_an_altered_action_log(
    data_dir: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    log = data_dir / FILE
    log.write_text(log.read_text().replace("one", "own"))
    code, text = printed(capsys, "verify", "--data-dir", data_dir)
    assert code == CANNOT
    assert "PROBLEM actions" in text


@pytest.mark.slow
def test_verify_passes_and_backup_fails_before_the_first_start(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "none"
    assert printed(capsys, "verify", "--data-dir", folder)[0] == OK
    assert printed(capsys, "backup", "--data-dir", folder)[0] == CANNOT
    assert printed(capsys, "restore", "--data-dir", folder)[0] == OK
    assert not folder.exists()


@pytest.mark.slow
async def test_an_open_desk_can_be_backed_up_and_verified_but_not_restored(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "data"
    async with open_stage(path, speed=0):
        code, text = printed(capsys, "backup", "--data-dir", path)
        assert code == OK, text
        copy = Path(text.splitlines()[0])
        assert printed(capsys, "verify", "--data-dir", path)[0] == OK
        code, text = printed(capsys, "restore", copy, "--data-dir", path)
        assert code == CANNOT
        assert "in use by process 1" in text


@pytest.mark.slow
def test_a_backup_is_written_to_the_given_place_and_can_be_restored(
    data_dir: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    to = tmp_path / "copy.sqlite3"
    assert printed(capsys, "backup", "--to", to, "--data-dir", data_dir)[0] == OK
    code, text = printed(capsys, "backup", tmp_path / "copies", "--data-dir", data_dir)
    assert code == OK
    assert Path(text.splitlines()[0]).parent == tmp_path / "copies"
    alter(data_dir, "DELETE FROM snapshots")
    code, text = printed(capsys, "restore", to, "--data-dir", data_dir)
    assert code == OK, text
    kept = Path(text.splitlines()[1].removeprefix("the old database is kept as "))
    assert kept.exists()
    assert printed(capsys, "verify", "--data-dir", data_dir)[0] == OK
    code, text = printed(capsys, "restore", kept, "--data-dir", data_dir)
    assert code == CANNOT
    assert "nothing was changed" in text


ANEW = "a new, empty desk; the damaged database is kept"
REST, BACKUP = Rest(Path("rest"), "row 7", "row 8"), Rest(Path("backup"), "row 5")


@pytest.mark.parametrize(
    ("had", "offered"),
    [
        (Had(), [ANEW]),
        (Had(backup=BACKUP), ["backup, row 5", ANEW]),
        (Had(rest=REST), ["what was salvaged, row 7; missing: row 8", ANEW]),
        (
            Had(REST, BACKUP),
            ["what was salvaged, row 7; missing: row 8", "backup, row 5", ANEW],
        ),
    ],
)
def test_a_damaged_database_offers_salvage_then_backup_then_a_new_desk(
    had: Had, offered: list[str]
) -> None:
    damaged = CorruptDatabaseError(
        Path("db"), reason="page 3", kept_as=Path("kept"), backups=(), had=had
    )
    with pytest.raises(DeskClosedError) as closed, explain_closed_desk():
        raise damaged
    shown = [choice.details.splitlines()[0] for choice in closed.value.choices]
    assert shown == offered
    assert str(damaged) == closed.value.sentence


@pytest.mark.slow
def test_arguments_that_exclude_each_other_are_refused(capsys: pytest.CaptureFixture[str]) -> None:
    for arguments in (("backup", "a", "--to", "b"), ("restore", "a", "--empty")):
        with pytest.raises(SystemExit):
            run(arguments)
    assert "not both" in capsys.readouterr().err


@pytest.mark.slow
def test_serve_refuses_a_damaged_database_until_a_restore(
    data_dir: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (data_dir / DATABASE_FILE).write_bytes(b"no database")
    for _ in range(2):
        with pytest.raises(DeskClosedError) as refused:
            serve(Options(data_dir, data_dir / "config", data_dir / "log"))
        assert f"'service-tui restore --empty --data-dir {data_dir}'" in str(refused.value)
    assert "PROBLEM" in printed(capsys, "doctor", "--data-dir", data_dir)[1]
    assert "PROBLEM database" in printed(capsys, "verify", "--data-dir", data_dir)[1]
    assert printed(capsys, "restore", "--empty", "--data-dir", data_dir)[0] == OK
    assert printed(capsys, "verify", "--data-dir", data_dir)[0] == OK


LEADER = Leader(3, "process 7", "http://127.0.0.1:1", SILENT_S)


@pytest.mark.parametrize(
    ("leader", "text"),
    [
        (None, "nobody has led it yet"),
        (LEADER, "epoch 3, process 7, at http://127.0.0.1:1"),
        (replace(LEADER, address=None), "epoch 3, process 7, at no address yet"),
        (
            replace(LEADER, silent_s=SILENT_S + 0.1),
            "epoch 3, process 7, silent: nobody leads now",
        ),
    ],
)
def test_the_leader_text_gives_epoch_holder_and_address_or_silence(
    leader: Leader | None, text: str
) -> None:
    assert leader_text(leader) == text


@pytest.mark.parametrize(
    ("books", "shared", "own"),
    [
        (None, (True, "nothing has happened yet"), (True, "no entries yet")),
        (
            BooksCheck(9, 1_234),
            (True, "1234 accounts add up at row 9"),
            (True, "1234 accounts match their postings, and sum to zero"),
        ),
        (BooksCheck(9, 4, "heron: 1 is missing"),) + ((False, "heron: 1 is missing"),) * 2,
    ],
)
def test_the_books_check_passes_if_accounts_add_up_and_else_names_the_problem(
    books: BooksCheck | None, shared: tuple[bool, str], own: tuple[bool, str]
) -> None:
    assert books_finding(books) == shared
    assert ledger_finding(books) == own


def test_shared_commands_need_a_database_address(tmp_path: Path) -> None:
    options = Options(tmp_path, tmp_path, tmp_path / "log")
    with pytest.raises(StorageError, match="no database is named: give --database"):
        run_shared_command(options, SharedRequest("check"))
    named = replace(options, database="postgresql://127.0.0.1:9/d")
    for source, target in (("database", "database"), ("/a", "/b")):
        with pytest.raises(StorageError, match="give a folder and the word database"):
            run_shared_command(named, SharedRequest("copy", source, target))


@pytest.mark.slow
def test_restore_without_a_name_lists_the_backups_and_marks_damaged_ones(
    data_dir: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert printed(capsys, "restore", "--data-dir", data_dir) == (
        OK,
        f"no copy in {data_dir / 'backups'}\n",
    )
    assert printed(capsys, "backup", "--data-dir", data_dir)[0] == OK
    (copy,) = (data_dir / "backups").iterdir()
    assert f"{copy}\n  " in printed(capsys, "restore", "--data-dir", data_dir)[1]
    copy.write_bytes(b"no database")
    assert f"{copy}\n  DAMAGED" in printed(capsys, "restore", "--data-dir", data_dir)[1]
    # A folder that cannot be made, and a file that is no backup, change nothing.
    assert printed(capsys, "backup", copy / "below", "--data-dir", data_dir)[0] == CANNOT
    assert printed(capsys, "restore", copy, "--data-dir", data_dir)[0] == CANNOT
    assert printed(capsys, "verify", "--data-dir", data_dir)[0] == OK


def test_an_unreadable_action_log_is_a_problem(tmp_path: Path) -> None:
    (tmp_path / FILE).mkdir()
    findings = checked(tmp_path)
    assert findings[:3] == [
        (True, f"{name:<10} none yet") for name in ("database", "journal", "ledger")
    ]
    is_well, text = findings[3]
    assert (is_well, text) == (False, "actions    cannot read the log: it is no plain file")
