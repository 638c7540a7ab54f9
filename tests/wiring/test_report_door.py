"""Reports and exports from the command line: what the service tells, whole, and over nothing."""

import csv
import io
import json
from pathlib import Path

import pytest

from service_tui import cli
from service_tui.wiring.report_door import ReportError, keep


def ran(capsys: pytest.CaptureFixture[str], folder: Path, *words: str) -> tuple[int, str, str]:
    code = cli.run([*words, "--data-dir", str(folder / "d")])
    told = capsys.readouterr()
    return code, told.out, told.err


def test_the_day_and_the_tables_come_without_a_console(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(cli, "_start_log", lambda _: None)
    folder = tmp_path / "out"
    code, said, _ = ran(capsys, tmp_path, "export", str(folder))
    assert code == cli.OK
    files = {path.name: path for path in folder.iterdir()}
    assert said == f"{len(files)} files are in {folder}\n"
    assert {"day.md", "day.csv", "trades.csv", "positions.json", "experiments.csv"} <= set(files)
    assert {path.stat().st_mode & 0o777 for path in files.values()} == {0o600}
    (agent,) = json.loads(files["agents.json"].read_text())
    assert agent["equity"] > 0

    code, said, _ = ran(capsys, tmp_path, "report", "--format", "csv")
    (row,) = csv.DictReader(io.StringIO(said))
    assert (code, row["agent"], row["problem"]) == (cli.OK, agent["agent"], "")

    kept = folder / "day.md"
    before = kept.read_text()
    code, _, problem = ran(capsys, tmp_path, "report", "--to", str(kept))
    assert code == cli.CANNOT
    assert "is there already: nothing was written" in problem
    assert kept.read_text() == before

    code, _, problem = ran(capsys, tmp_path, "report", "--agent", "nobody")
    assert code == cli.CANNOT
    assert "no agent is called 'nobody'" in problem


def test_a_report_that_cannot_be_kept_names_the_path_that_was_asked_for(tmp_path: Path) -> None:
    with pytest.raises(ReportError, match="names no file"):
        keep(Path(), "text")
    with pytest.raises(ReportError, match=r"none/day\.md") as refused:
        keep(tmp_path / "none" / "day.md", "text")
    assert ".new" not in str(refused.value)
