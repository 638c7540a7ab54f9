"""Writes files for the operator: exports that spreadsheets open, and the saved output of a skill.

`desk/supervision.py` registers both handlers.
"""

import asyncio
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from string import ascii_letters, digits
from typing import Final

from service_tui.desk.agents.past import pasts_of
from service_tui.desk.audit.exports import files_of
from service_tui.desk.audit.new_files import write_files
from service_tui.desk.audit.report import known_pasts
from service_tui.desk.commands.agents import ExportData, SaveOutput
from service_tui.desk.facts import Noticed
from service_tui.desk.own_notes import notes_of
from service_tui.desk.ports import Ports

FOLDER: Final = "exports"
_OF_NAMES: Final = frozenset(f"{ascii_letters}{digits}_-")
"""Characters of a file's name; any other one of a skill's slug becomes -."""


async def export_data(order: ExportData, data_dir: Path, ports: Ports) -> None:
    """Write the export files and report their folder in a notice."""
    state = ports.state()
    pasts = {**known_pasts(state), **(await pasts_of(ports) if state.service.embedded else {})}
    now = ports.now()
    files = files_of(ports.state(), now, pasts, notes_of(ports.state()))
    stamp = f"{datetime.fromtimestamp(now, UTC):%Y-%m-%dT%H%M%S}"
    try:
        folder = await asyncio.to_thread(_write, order.folder, data_dir / FOLDER / stamp, files)
    except (OSError, RuntimeError, UnicodeError) as error:
        ports.emit(Noticed("bad", f"{order.describe()}: {error}"))
    else:
        ports.emit(Noticed("good", f"{len(files)} files written to {folder}"))


async def save_output(order: SaveOutput, data_dir: Path, ports: Ports) -> None:
    """Write the shown output of a skill to a file and report it in a notice."""
    stamp = f"{datetime.fromtimestamp(ports.now(), UTC):%Y-%m-%dT%H%M%S}"
    name = "".join(letter if letter in _OF_NAMES else "-" for letter in order.skill_slug)[:60]
    folder = data_dir / FOLDER / f"{stamp}-output"
    files = {f"{name or 'skill'}.log": "".join(f"{line}\n" for line in order.lines)}
    try:
        await asyncio.to_thread(_write, "", folder, files)
    except (OSError, RuntimeError, UnicodeError) as error:
        ports.emit(Noticed("bad", f"{order.describe()}: {error}"))
    else:
        ports.emit(Noticed("good", f"Output saved: {folder / next(iter(files))}"))


def _write(wanted: str, usual: Path, files: Mapping[str, str]) -> Path:
    folder = Path(wanted).expanduser() if wanted else usual
    write_files(folder, files)
    return folder
