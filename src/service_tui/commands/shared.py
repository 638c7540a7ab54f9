"""`service-tui db`: looks at the worlds of a shared desk, and copies a world in or out."""

import asyncio
import os
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

from service_tui.app.closed import only_reason
from service_tui.app.histories import topics_for
from service_tui.app.options import Options
from service_tui.app.shared_desk import WORLD_FILE, beat, holder_name
from service_tui.clock import Clock, SystemClock
from service_tui.commands.json_text import json_text
from service_tui.server.books import BooksCheck, books_of
from service_tui.storage.db.connection import DATABASE_FILE
from service_tui.storage.db.lock import DataDirLock
from service_tui.storage.errors import StorageError
from service_tui.storage.opening import open_database, open_for_reading
from service_tui.storage.shared.connection import WorldPlace
from service_tui.storage.shared.database import SharedDatabase
from service_tui.storage.shared.leadership import SILENT_S, Leader, Leadership
from service_tui.storage.shared.schema import VERSION, ensure, worlds_in
from service_tui.storage.shared.server_settings import settings_of
from service_tui.storage.world_copy import copy_world
from service_tui.storage.world_database import WorldDatabase

DATABASE: Final = "database"
"""What stands for the world of the database, where a folder can be given."""


@dataclass(frozen=True, slots=True)
class SharedRequest:
    """The action, and for a copy where from and where to."""

    act: str
    source: str = ""
    target: str = ""
    json: bool = False


@dataclass(frozen=True, slots=True)
class SharedReport:
    """The result of an action: for a script, and in lines for a person."""

    is_well: bool
    lines: tuple[str, ...]
    facts: Mapping[str, object]


def run_shared_command(options: Options, request: SharedRequest) -> tuple[tuple[str, ...], bool]:
    """Carry an action out.

    Returns:
        Lines for a person, or one of JSON, and True if all is well.

    Raises:
        StorageError: it cannot be done; gives the reason.
    """
    report = _report(options, request)
    whole = {"act": request.act, "world": options.world, "well": report.is_well, **report.facts}
    return (json_text("db", whole),) if request.json else report.lines, report.is_well


def _report(options: Options, request: SharedRequest) -> SharedReport:
    if options.database is None:
        raise StorageError("no database is named: give --database URL, or SERVICE_TUI_DATABASE")
    place = WorldPlace(options.database, options.world)
    if request.act == "check":
        return _checked(place, options.data_dir)
    if request.act == "migrate":
        made = ensure(place, upgrade=True)
        line = f"{place}: {'made or changed' if made else 'up to date'}, schema {VERSION}"
        return SharedReport(
            is_well=True, lines=(line,), facts={"changed": made, "version": VERSION}
        )
    try:
        return asyncio.run(_copied(place, request))
    except ExceptionGroup as group:
        raise only_reason(group) from group


# -- check --------------------------------------------------------------------------------------


def _checked(place: WorldPlace, data_dir: Path) -> SharedReport:
    """The worlds of the database, who leads this one, and whether its books add up."""
    worlds = worlds_in(place)
    names = ", ".join(worlds) or "none"
    lines = [f"worlds: {names}"]
    findings = settings_of(place).findings()
    settings = [{"well": is_well, "text": text} for is_well, text in findings]
    facts: dict[str, object] = {"worlds": list(worlds), "settings": settings}
    lines += [f"{'' if is_well else 'PROBLEM '}{text}" for is_well, text in findings]
    are_well = all(is_well for is_well, _ in findings)
    if place.world not in names.split(", "):
        problem = f"PROBLEM no world {place.world}; 'db migrate' makes it"
        return SharedReport(is_well=False, lines=(*lines, problem), facts=facts)
    leadership = Leadership(place, "db check", SystemClock().monotonic)
    database = SharedDatabase(place, None, data_dir / WORLD_FILE)
    try:
        leader = leadership.leader()
        books = books_of(database, topics_for(data_dir))
    finally:
        database.close()
        leadership.close()
    lines.append(f"{place}: {leader_text(leader)}")
    adds_up, text = books_finding(books)
    lines.append(f"{'' if adds_up else 'PROBLEM '}books: {text}")
    facts |= {"leader": leader_facts(leader), "books": None if books is None else asdict(books)}
    return SharedReport(are_well and adds_up, tuple(lines), facts)


def leader_facts(leader: Leader | None) -> dict[str, object] | None:
    """The leader of a world for a script; None where nobody has led it."""
    if leader is None:
        return None
    return {
        "epoch": leader.epoch,
        "holder": leader.holder,
        "address": leader.address,
        "leads": leader.silent_s <= SILENT_S,
    }


def leader_text(leader: Leader | None) -> str:
    """The leader of a world with its address, and whether it is silent."""
    if leader is None:
        return "nobody has led it yet"
    works = leader.silent_s <= SILENT_S
    state = f"at {leader.address or 'no address yet'}" if works else "silent: nobody leads now"
    return f"epoch {leader.epoch}, {leader.holder}, {state}"


def books_finding(books: BooksCheck | None) -> tuple[bool, str]:
    """Whether the books of a world are well, and the text of the finding."""
    if books is None:
        return True, "nothing has happened yet"
    if books.problem:
        return False, books.problem
    return True, f"{books.accounts} accounts add up at row {books.row}"


# -- copy ---------------------------------------------------------------------------------------


async def _copied(place: WorldPlace, request: SharedRequest) -> SharedReport:
    sides = [request.source, request.target]
    if sides.count(DATABASE) != 1:
        raise StorageError(f"give a folder and the word {DATABASE}, in the order of the copy")
    clock = SystemClock()
    folder = Path(next(side for side in sides if side != DATABASE))
    into_database = request.target == DATABASE
    async with _in_database(place, clock, folder, any_encoding=not into_database) as shared:
        with_folder = _from_folder if into_database else _into_folder
        async with with_folder(folder, clock) as own:
            source, target = (own, shared) if into_database else (shared, own)
            copy = await copy_world(source, target)
    lines = (
        f"copied {copy.rows:,} rows from {request.source} to {request.target}",
        f"  both sides have the digest {copy.digest[:16]}",
        "  keys, settings and open orders of a console stay where they are",
    )
    facts = {"from": request.source, "to": request.target, **asdict(copy)}
    return SharedReport(is_well=True, lines=lines, facts=facts)


@asynccontextmanager
async def _in_database(
    place: WorldPlace, clock: Clock, folder: Path, *, any_encoding: bool = False
) -> AsyncGenerator[SharedDatabase]:
    """The world of the database, led by this process, so that nobody changes it."""
    await asyncio.to_thread(ensure, place, any_encoding=any_encoding)
    leadership = Leadership(place, f"{holder_name()}, db copy", clock.monotonic)
    try:
        if leadership.try_lead() is None:
            leader = leadership.leader()
            who = "another process" if leader is None else leader.holder
            raise StorageError(f"{place} is led by {who}; end it first")
        database = SharedDatabase(place, leadership, folder / WORLD_FILE)
        try:
            database.open()
            async with asyncio.TaskGroup() as tasks:
                beating = tasks.create_task(beat(leadership, clock))
                yield database
                beating.cancel()
        finally:
            database.close()
    finally:
        leadership.close()


@asynccontextmanager
async def _from_folder(folder: Path, clock: Clock) -> AsyncGenerator[WorldDatabase]:
    """The world of a data directory that nobody uses."""
    lock = DataDirLock.acquire(folder, pid=os.getpid(), now=clock.now())
    try:
        database = open_for_reading(folder)
        try:
            yield database
        finally:
            database.close(clock.now())
    finally:
        lock.release()


@asynccontextmanager
async def _into_folder(folder: Path, clock: Clock) -> AsyncGenerator[WorldDatabase]:
    """The new database of a data directory that has none."""
    if (folder / DATABASE_FILE).exists():
        raise StorageError(f"{folder} has a database already; nothing was copied")
    lock = DataDirLock.acquire(folder, pid=os.getpid(), now=clock.now())
    try:
        database = open_database(folder, now=clock.now(), lock=lock)
        try:
            yield database
        finally:
            database.close(clock.now())
    finally:
        lock.release()
