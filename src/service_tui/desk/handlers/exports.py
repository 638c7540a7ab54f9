"""ExportData: what the desk knows, as files that spreadsheets open.

Knows ports and the tables. Must not know widgets.
Used by desk.desk.
"""

import asyncio
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from service_tui.desk.commands_fleet import ExportData
from service_tui.desk.exports import TABLES, agent_rows, as_csv, as_json, day_in_markdown
from service_tui.desk.facts import Noticed
from service_tui.desk.ports import Ports

FOLDER: Final = "exports"


async def export_data(order: ExportData, data_dir: Path, ports: Ports) -> None:
    """Write the files, and say where they are."""
    now, state = ports.now(), ports.state()
    files = {"day.md": day_in_markdown(state, now), "day.csv": as_csv(agent_rows(state))}
    for name, table in TABLES.items():
        rows = table(state)
        files |= {f"{name}.csv": as_csv(rows), f"{name}.json": as_json(rows)}
    stamp = f"{datetime.fromtimestamp(now, UTC):%Y-%m-%dT%H%M%S}"
    try:
        folder = await asyncio.to_thread(_write, order.folder, data_dir / FOLDER / stamp, files)
    except (OSError, RuntimeError, UnicodeError) as error:
        ports.say(Noticed("bad", f"{order.in_words()}: {error}"))
    else:
        ports.say(Noticed("good", f"{len(files)} files are in {folder}"))


def _write(wanted: str, usual: Path, files: Mapping[str, str]) -> Path:
    """Write each file whole; others may read what a person exports, but not what is usual."""
    folder = Path(wanted).expanduser() if wanted else usual
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    for name, text in files.items():
        draft = folder / f".{name}.new"
        draft.write_text(text, encoding="utf-8")
        draft.replace(folder / name)
    return folder
