"""`service-tui report` and `service-tui export`: the console's tables without a screen.

Knows how desks are opened, and what they know. Must not know the command line's words.
Used by cli. Whoever holds the directory is asked; where nobody does, this process holds it.
"""

import asyncio
from contextlib import AsyncExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from service_tui.desk.agent_past import pasts_of
from service_tui.desk.exports import agent_rows, as_csv, day_in_markdown, files_of
from service_tui.desk.records import Topic
from service_tui.desk.report import Pasts, known_pasts
from service_tui.desk.state import DeskState
from service_tui.desk.written import write_files, write_new
from service_tui.units import Timestamp
from service_tui.wiring import halt_door
from service_tui.wiring.closed import closed_in_plain_words
from service_tui.wiring.options import Options

KNOWN_S: Final = 30.0
"""How long the service is given to tell everything."""

WANTED: Final = (
    Topic.POSITIONS, Topic.TRADES, Topic.AGENTS, Topic.FLEET, Topic.MONITORS, Topic.RESEARCH,
)  # fmt: skip
"""What a report is made of."""


class ReportError(Exception):
    """There is nothing to report from, or nowhere to write; one plain sentence."""


@dataclass(frozen=True, slots=True)
class Known:
    """What was told, and when."""

    state: DeskState
    pasts: Pasts
    at: Timestamp


def day(options: Options, agent: str, *, as_table: bool) -> str:
    """The day of all agents, or of the one with this name or id.

    Returns:
        Markdown, or CSV.

    Raises:
        ReportError: no such agent, or no answer.
        DeskClosedError: the directory cannot be used.
    """
    known = _known(options)
    fleet = known.state.fleet
    names = [{one.agent_id, one.name} for one in (() if fleet is None else fleet.agents)]
    if agent and not any(agent in each for each in names):
        raise ReportError(f"no agent is called {agent!r}; 'service-tui report' lists all")
    if not as_table:
        return day_in_markdown(known.state, known.at, known.pasts, agent)
    rows = agent_rows(known.state, known.pasts, known.at)
    return as_csv([row for row in rows if not agent or agent in {row["agent"], row["name"]}])


def export(options: Options, folder: Path) -> int:
    """Write every table as CSV and JSON, and the day as Markdown.

    Returns:
        How many files were written.

    Raises:
        ReportError: a file is in the way, or the disk refuses.
        DeskClosedError: the directory cannot be used.
    """
    known = _known(options)
    files = files_of(known.state, known.at, known.pasts)
    try:
        write_files(folder, files)
    except OSError as error:
        raise ReportError(str(error)) from error
    return len(files)


def keep(path: Path, text: str) -> None:
    """Write a report to a file that is not there yet; ReportError where it is."""
    try:
        write_new(path, text)
    except OSError as error:
        raise ReportError(str(error)) from error


def _known(options: Options) -> Known:
    """What there is to tell; ReportError where the service tells nothing."""
    quiet = replace(options, exits=False, listen=None)
    with closed_in_plain_words():
        found = asyncio.run(_heard(quiet))
    # Not raised where the desk is open: its tasks would wrap what passes through them.
    if isinstance(found, str):
        raise ReportError(found)
    return found


async def _heard(options: Options) -> Known | str:
    """What the desk has heard once it has heard everything, or why there is nothing."""
    async with AsyncExitStack() as stack:
        desk = await halt_door.opened(stack, options)
        if not desk.state.service.embedded:
            return "the agents of another service are told of on its own dashboard"

        def is_told(state: DeskState) -> bool:
            return not state.from_cache and all(topic in state.seen for topic in WANTED)

        if not await halt_door.until(desk, is_told, KNOWN_S):
            return "the service does not answer: nothing is reported"
        pasts = {**known_pasts(desk.state), **await pasts_of(desk.ports)}
        return Known(desk.state, pasts, desk.ports.now())
