"""What reports and lists are made of, and what a directory says without its service."""

from dataclasses import dataclass
from pathlib import Path

from service_tui.app.halts import databases
from service_tui.desk.audit.report import Pasts
from service_tui.desk.own_notes import all_notes, keep_note
from service_tui.desk.slices.service import Phase, ServiceView
from service_tui.desk.state import DeskState
from service_tui.storage.cached_state import can_be_read, read_preferences
from service_tui.terms import Mode, Venue
from service_tui.units import Timestamp


class ReportError(Exception):
    """There is no data to report, or the file cannot be written; one plain sentence."""


# No repr: asyncio builds that of each task's result, and throws it away.
@dataclass(frozen=True, slots=True, repr=False)
class ReportData:
    """The state, the past of each agent, and when they were read."""

    state: DeskState
    pasts: Pasts
    at: Timestamp


def local_state(data_dir: Path) -> DeskState:
    """What a directory knows without its service: a person's own notes.

    Raises:
        ReportError: one of its databases cannot be read.
    """
    service = ServiceView("embedded", Mode.SIM, Venue.SIM, embedded=True, phase=Phase.CONNECTING)
    return DeskState(service=service, preferences=_notes_kept(data_dir))


def _notes_kept(data_dir: Path) -> dict[str, str]:
    """The preferences with the notes of every console of a directory, of each the newest."""
    paths = databases(data_dir)
    for path in paths:
        if not can_be_read(path):
            raise ReportError(f"{path} cannot be read now")
    commands = map(keep_note, all_notes(map(read_preferences, paths)))
    return {command.name: command.value for command in commands}
