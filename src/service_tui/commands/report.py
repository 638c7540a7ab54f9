"""`service-tui report` and `service-tui export`: the console's tables without a screen.

Requests go to the directory's owner; without an owner, this process owns it while it reads. No
desk is opened, and no app is built: either takes longer than the report.
"""

import asyncio
import logging
import random
from collections.abc import AsyncGenerator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Final

from service_tui.app.attached import AGAIN_S, HolderTransport, address_of, client_of_holder
from service_tui.app.closed import explain_closed_desk
from service_tui.app.options import Options
from service_tui.client.client import Client
from service_tui.client.errors import ServiceError
from service_tui.clock import Clock, SystemClock
from service_tui.commands.report_data import ReportData, ReportError, local_state
from service_tui.credentials.api_keys import ApiKeysError, stored_desk_keys
from service_tui.desk import wanted as parts
from service_tui.desk.agents.skill_runs import known_runs
from service_tui.desk.audit.exports import agent_rows, as_csv, day_in_markdown, files_of
from service_tui.desk.audit.new_files import write_files, write_new
from service_tui.desk.changes import Changed
from service_tui.desk.own_notes import notes_of
from service_tui.desk.ports import DeskContext
from service_tui.desk.reduce import reduce
from service_tui.desk.single_read import read_once
from service_tui.desk.slices.topics import Topic
from service_tui.desk.wanted import Wanted
from service_tui.storage.db.database import Database
from service_tui.storage.errors import DirectoryLockedError
from service_tui.storage.opening import open_for_reading

log = logging.getLogger(__name__)

OWNER_WAIT_S: Final = 30.0
"""How long another process that owns the directory has to begin serving, or to end."""

DAY: Final = Wanted((Topic.AGENTS, Topic.FLEET), parts.DAY)
"""What the day's report is made of."""

TABLES: Final = Wanted(
    (Topic.MARKETS, Topic.POSITIONS, *DAY.topics, Topic.BRIEFING, Topic.RESEARCH), parts.WHOLE
)
"""What the tables are made of: prices first, the positions are marked with them."""

ELSEWHERE: Final = (
    "only for the embedded service, and another one is named by flag, SERVICE_API_URL or "
    "config.toml: open the console on it"
)
SILENT: Final = "the service does not respond: no report"


Connection = tuple[Client, Database]
"""A client of the service, and the database of the same directory."""

Connect = Callable[[Options, Clock], AbstractAsyncContextManager[Connection]]
"""Opens a connection to the service of a directory."""


def day(options: Options, agent: str, *, as_table: bool) -> str:
    """The day of all agents, or of the one with this name or id.

    Returns:
        Markdown, or CSV.

    Raises:
        ReportError: no such agent, or no answer.
        DeskClosedError: the directory cannot be used.
    """
    data = load(options, DAY)
    fleet = data.state.fleet
    names = [{member.agent_id, member.name} for member in (() if fleet is None else fleet.agents)]
    if agent and not any(agent in aliases for aliases in names):
        raise ReportError(f"no agent {agent!r}; 'service-tui report' lists all")
    if not as_table:
        return day_in_markdown(data.state, data.at, data.pasts, agent)
    rows = agent_rows(data.state, data.pasts, data.at)
    return as_csv([row for row in rows if not agent or agent in {row["agent"], row["name"]}])


def export(options: Options, folder: Path) -> int:
    """Write every table as CSV and JSON, and the day as Markdown.

    Returns:
        How many files were written.

    Raises:
        ReportError: a file is in the way, or the disk refuses.
        DeskClosedError: the directory cannot be used.
    """
    data = load(options, TABLES)
    files = files_of(data.state, data.at, data.pasts, notes_of(data.state))
    try:
        write_files(folder, files)
    except OSError as error:
        raise ReportError(_halt_text(error)) from error
    return len(files)


def keep(path: Path, text: str) -> None:
    """Write a report to a new file; ReportError if the file exists."""
    try:
        write_new(path, text)
    except OSError as error:
        raise ReportError(_halt_text(error)) from error


def _halt_text(error: OSError) -> str:
    """Why a file could not be written, without an error number."""
    if error.strerror is None:
        return str(error)
    return f"cannot write {error.filename}: {error.strerror}"


def load(options: Options, wanted: Wanted) -> ReportData:
    """Read what is wanted of the directory's service.

    Raises:
        ReportError: no answer, or the options name another service.
        DeskClosedError: the directory cannot be used.
    """
    return asyncio.run(loaded(options, wanted))


async def loaded(options: Options, wanted: Wanted) -> ReportData:
    """The same in a loop that runs already."""
    if options.url is not None:
        raise ReportError(ELSEWHERE)
    with explain_closed_desk():
        data = await read_from(options, wanted, SystemClock())
    # Raised behind the reading: an error that passes open contexts could be wrapped.
    if isinstance(data, str):
        raise ReportError(data)
    return data


async def read_from(options: Options, wanted: Wanted, clock: Clock) -> ReportData | str:
    """Read what is wanted from the directory's service, or return why that failed."""
    began = clock.monotonic()
    while True:
        try:
            return await read_topics(connect_as_owner, options, wanted, clock)
        except DirectoryLockedError:
            # Another report ends soon; a process that stays publishes its address.
            data = await _read_from_owner(options, wanted, clock)
        if data is not None:
            return data
        if clock.monotonic() - began >= OWNER_WAIT_S:
            return SILENT
        await clock.sleep(AGAIN_S)


async def _read_from_owner(options: Options, wanted: Wanted, clock: Clock) -> ReportData | None:
    """Read what is wanted from the directory's owner; None while it does not answer."""
    if address_of(options.data_dir) is None:
        return None
    try:
        return await read_topics(connect_to_owner, options, wanted, clock)
    except (ServiceError, ApiKeysError) as error:
        log.warning("the owner did not respond: %s", error)
        return None


async def read_topics(
    connect: Connect,
    options: Options,
    wanted: Wanted,
    clock: Clock,
) -> ReportData:
    """Read what is wanted over a connection."""
    rng = random.SystemRandom()
    async with connect(options, clock) as (client, database):
        # Whoever opens the directory says best why it cannot be read.
        state = local_state(options.data_dir)
        for run in known_runs(options.data_dir):
            state = reduce(state, Changed(run))
        context = DeskContext(client, database, clock, lambda: f"{rng.getrandbits(128):032x}", rng)
        state, pasts = await read_once(state, context, wanted)
        return ReportData(state, pasts, clock.now())


@asynccontextmanager
async def connect_to_owner(options: Options, clock: Clock) -> AsyncGenerator[Connection]:
    """A connection to the directory's owner; nothing is written.

    Yields:
        The client and the database.
    """
    api_keys = stored_desk_keys(options.data_dir)
    if api_keys is None:
        raise ApiKeysError(f"{options.data_dir} has no keys yet: its owner is still starting")
    database = open_for_reading(options.data_dir)
    transport = HolderTransport(options.data_dir)
    try:
        async with client_of_holder(
            transport, api_keys, clock, random.SystemRandom(), read_only=True
        ) as client:
            yield client, database
    finally:
        database.close(0.0)


@asynccontextmanager
async def connect_as_owner(options: Options, clock: Clock) -> AsyncGenerator[Connection]:
    """A connection to the service of a directory without an owner; its world is brought up to now.

    Yields:
        The client and the database.

    Raises:
        DirectoryLockedError: another process owns it.
    """
    # Not needed where an owner answers.
    from service_tui.commands.reading import reading  # noqa: PLC0415

    async with reading(options, clock) as connection:
        yield connection
