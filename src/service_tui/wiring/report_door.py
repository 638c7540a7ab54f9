"""`service-tui report` and `service-tui export`: the console's tables without a screen.

Whoever holds the directory is asked; where nobody does, this process holds it for as long as it
reads. No desk is opened, and no app is built: either takes longer than the report.
"""

import asyncio
import logging
import random
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from service_tui.client.client import Client
from service_tui.client.errors import ServiceError
from service_tui.clock import Clock, SystemClock
from service_tui.desk.agents.skill_runs import known_runs
from service_tui.desk.audit.exports import agent_rows, as_csv, day_in_markdown, files_of
from service_tui.desk.audit.new_files import write_files, write_new
from service_tui.desk.audit.report import Pasts
from service_tui.desk.changes import Changed
from service_tui.desk.ports import DeskContext
from service_tui.desk.reduce import reduce
from service_tui.desk.single_read import read_once
from service_tui.desk.slices.records import Phase, ServiceView, Topic
from service_tui.desk.state import DeskState
from service_tui.storage.db.database import Database
from service_tui.storage.errors import DirectoryLockedError
from service_tui.storage.opening import open_for_reading
from service_tui.terms import Mode, Venue
from service_tui.units import Timestamp
from service_tui.wiring.attached import AGAIN_S, HolderTransport, address_of, client_of_holder
from service_tui.wiring.closed import closed_in_plain_words
from service_tui.wiring.keys import KeysError, stored_desk_keys
from service_tui.wiring.options import Options

log = logging.getLogger(__name__)

KNOWN_S: Final = 30.0
"""How long another process that holds the directory is given to begin serving, or to end."""

DAY: Final = (Topic.AGENTS, Topic.FLEET)
"""What the day is made of, beside the trades of each agent."""

TABLES: Final = (Topic.MARKETS, Topic.POSITIONS, *DAY, Topic.BRIEFING, Topic.RESEARCH)
"""What every table is made of: prices first, the positions are marked with them."""

ELSEWHERE: Final = "the agents of another service are told of on its own dashboard"
SILENT: Final = "the service does not answer: nothing is reported"


class ReportError(Exception):
    """There is nothing to report from, or nowhere to write; one plain sentence."""


Ends = tuple[Client, Database]
"""Whom to ask, and the database of the same directory."""

Line = Callable[[Options, Clock], AbstractAsyncContextManager[Ends]]
"""Opens a way to whoever answers for a directory."""


# Without words of its own: asyncio makes some of whatever a task returns, and throws them away.
@dataclass(frozen=True, slots=True, repr=False)
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
    known = _known(options, DAY)
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
    known = _known(options, TABLES)
    files = files_of(known.state, known.at, known.pasts)
    try:
        write_files(folder, files)
    except OSError as error:
        raise ReportError(_halt_text(error)) from error
    return len(files)


def keep(path: Path, text: str) -> None:
    """Write a report to a file that is not there yet; ReportError where it is."""
    try:
        write_new(path, text)
    except OSError as error:
        raise ReportError(_halt_text(error)) from error


def _halt_text(error: OSError) -> str:
    """What stands against a file, without a number."""
    if error.strerror is None:
        return str(error)
    return f"{error.filename} cannot be written: {error.strerror}"


def _known(options: Options, topics: Sequence[Topic]) -> Known:
    """What there is to tell; ReportError where the service tells nothing."""
    if options.url is not None:
        raise ReportError(ELSEWHERE)
    with closed_in_plain_words():
        found = asyncio.run(_found(options, topics, SystemClock()))
    # Not raised where something is open: whatever passes there could be wrapped.
    if isinstance(found, str):
        raise ReportError(found)
    return found


async def _found(options: Options, topics: Sequence[Topic], clock: Clock) -> Known | str:
    """What the holder of the directory knows, whoever that is, or why there is nothing."""
    began = clock.monotonic()
    while True:
        try:
            return await told_by(_held, options, topics, clock)
        except DirectoryLockedError:
            # Another report ends soon; whoever stays says where it serves.
            known = await _told_beside(options, topics, clock)
        if known is not None:
            return known
        if clock.monotonic() - began >= KNOWN_S:
            return SILENT
        await clock.sleep(AGAIN_S)


async def _told_beside(options: Options, topics: Sequence[Topic], clock: Clock) -> Known | None:
    """What another process tells that holds the directory; None while it tells nothing."""
    if address_of(options.data_dir) is None:
        return None
    try:
        return await told_by(_beside, options, topics, clock)
    except (ServiceError, KeysError) as error:
        log.warning("the holder tells nothing: %s", error)
        return None


async def told_by(line: Line, options: Options, topics: Sequence[Topic], clock: Clock) -> Known:
    """What is known of some topics, and of every agent's trades, asked over a line."""
    service = ServiceView("embedded", Mode.SIM, Venue.SIM, embedded=True, phase=Phase.CONNECTING)
    state = DeskState(service=service)
    for run in known_runs(options.data_dir):
        state = reduce(state, Changed(run))
    rng = random.SystemRandom()
    async with line(options, clock) as (client, database):
        around = DeskContext(client, database, clock, lambda: f"{rng.getrandbits(128):032x}", rng)
        state, pasts = await read_once(state, around, topics)
        return Known(state, pasts, clock.now())


@asynccontextmanager
async def _beside(options: Options, clock: Clock) -> AsyncGenerator[Ends]:
    """A line to whoever holds the directory; nothing is written.

    Yields:
        The line.
    """
    keys = stored_desk_keys(options.data_dir)
    if keys is None:
        raise KeysError(f"{options.data_dir} has no keys yet: its holder is still starting")
    database = open_for_reading(options.data_dir)
    transport = HolderTransport(options.data_dir)
    try:
        async with client_of_holder(
            transport, keys, clock, random.SystemRandom(), read_only=True
        ) as client:
            yield client, database
    finally:
        database.close(0.0)


@asynccontextmanager
async def _held(options: Options, clock: Clock) -> AsyncGenerator[Ends]:
    """A line to the service of a directory that nobody holds; it comes to now, and goes no further.

    Yields:
        The line.

    Raises:
        DirectoryLockedError: another process holds it.
    """
    # Who finds a holder needs none of this.
    from service_tui.wiring.reading import reading  # noqa: PLC0415

    async with reading(options, clock) as line:
        yield line
