"""The output of a skill, saved to a file."""

import stat
from pathlib import Path
from types import SimpleNamespace

from service_tui.desk.audit.handlers import save_output
from service_tui.desk.commands.agents import SaveOutput
from service_tui.desk.facts import Noticed
from service_tui.units import Timestamp


async def test_the_lines_are_written_and_the_notice_names_the_file(tmp_path: Path) -> None:
    emitted: list[Noticed] = []
    ports = SimpleNamespace(now=lambda: Timestamp(1_800_000_000.0), emit=emitted.append)
    order = SaveOutput("../dips", ("one", "zwei ü"))
    await save_output(order, tmp_path, ports)
    path = tmp_path / "exports" / "2027-01-15T080000-output" / "---dips.log"
    assert path.read_text("utf-8") == "one\nzwei ü\n"
    assert stat.S_IMODE(path.stat().st_mode) & 0o077 == 0
    assert [(one.tone, one.text) for one in emitted] == [("good", f"Output saved: {path}")]
    await save_output(order, tmp_path, ports)
    assert emitted[-1].tone == "bad"
    assert path.read_text("utf-8") == "one\nzwei ü\n"
