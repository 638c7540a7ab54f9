"""Damaged snapshots and journal rows of a service."""

import json
import sqlite3
import zlib
from collections.abc import Callable
from pathlib import Path

import pytest

from kit.engine.topics import TOPICS
from kit.service.stage import open_directory, open_stage
from service_tui.clock import ManualClock
from service_tui.engine.amm.exchange import Order
from service_tui.engine.codec.errors import NewerJournalError
from service_tui.engine.codec.events import dumps
from service_tui.engine.codec.snapshot import fields_of
from service_tui.server.world_store import restore
from service_tui.storage.db.connection import DATABASE_FILE
from service_tui.storage.db.database import Database
from service_tui.storage.errors import DamagedRowsError
from service_tui.storage.journal import JournalStore, Snapshot
from service_tui.terms import Action, Side
from service_tui.units import ONE, Micros

pytestmark = pytest.mark.slow

SPOIL = "UPDATE journal SET body = ? WHERE seq = (SELECT max(seq) FROM journal)"
RENAME = "UPDATE journal SET kind = 'dividend' WHERE seq = (SELECT max(seq) FROM journal)"
SHIFT = "UPDATE journal SET seq = seq + 1 WHERE seq = (SELECT max(seq) FROM journal)"

Spoil = Callable[[bytes], bytes]

SENSELESS: dict[str, Spoil] = {
    "no JSON": lambda _: b"{garbage",
    "no fields": lambda _: b"{}",
    "a list": lambda _: b"[]",
    "nothing": lambda _: b"null",
    "deep": lambda _: b"[" * 100_000,
    "no text": lambda body: b"\xff\xfe" + body,
    "not a number": lambda body: body.replace(b'"world_at":', b'"world_at":NaN,"x":', 1),
    "cut": lambda body: body[: len(body) // 2],
}


@pytest.fixture
async def lived(tmp_path: Path) -> tuple[Path, str]:
    """A closed directory with two snapshots and rows after each, and the world in it."""
    path = tmp_path / "data"
    async with open_stage(path, speed=0) as stage:
        world_store = stage.sim.service.world_store
        for index in range(13):
            market = stage.open_markets()[index]
            order = Order(stage.agent, market.market_id, Side.YES, Action.BUY, Micros(5 * ONE))
            await world_store.place(order, stage.clock.now())
            if index == 6:
                body = dumps(fields_of(stage.world)).encode()
                newest = Snapshot(world_store.seq, stage.clock.now(), body)
                await JournalStore(stage.at_rest).add_snapshot(newest)
        lived = dumps(fields_of(stage.world) | {"at": 0.0})
    return path, lived


def spoil(path: Path, how: Spoil, *, every: bool) -> None:
    with sqlite3.connect(path / DATABASE_FILE) as connection:
        rows = connection.execute("SELECT seq, body FROM snapshots ORDER BY seq DESC").fetchall()
        assert len(rows) == 2
        for seq, body in rows if every else rows[:1]:
            damaged = zlib.compress(how(zlib.decompress(body)))
            connection.execute("UPDATE snapshots SET body = ? WHERE seq = ?", (damaged, seq))
    connection.close()


def text_of(database: Database) -> str:
    found = restore(database, TOPICS)
    assert found is not None
    return dumps(fields_of(found[0]) | {"at": 0.0})


@pytest.mark.parametrize("how", SENSELESS.values(), ids=SENSELESS)
async def test_the_older_snapshot_stands_in_for_one_that_makes_no_sense(
    lived: tuple[Path, str], how: Spoil
) -> None:
    path, world = lived
    spoil(path, how, every=False)
    async with open_directory(path, ManualClock()) as database:
        assert text_of(database) == world
    (aside,) = path.glob("*.corrupt-snapshot-*")
    assert aside.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("how", SENSELESS.values(), ids=SENSELESS)
async def test_two_snapshots_that_make_no_sense_are_damage(
    lived: tuple[Path, str], how: Spoil
) -> None:
    path, _ = lived
    spoil(path, how, every=True)
    async with open_directory(path, ManualClock()) as database:
        with pytest.raises(DamagedRowsError, match="no readable snapshot"):
            restore(database, TOPICS)


@pytest.mark.parametrize("body", ["", "[]", "{}", "[[[", "[" * 100_000, '["x",1]'])
async def test_a_row_that_makes_no_sense_is_named(lived: tuple[Path, str], body: str) -> None:
    path, _ = lived
    async with open_directory(path, ManualClock()) as database:
        await database.write(lambda c: c.execute(SPOIL, (body,)))
        with pytest.raises(DamagedRowsError, match=r"row \d+ of the journal is invalid"):
            restore(database, TOPICS)


async def test_a_fill_in_a_market_that_never_was_is_named(lived: tuple[Path, str]) -> None:
    path, _ = lived
    async with open_directory(path, ManualClock()) as database:

        def elsewhere(connection: sqlite3.Connection) -> None:
            query = "SELECT seq, body FROM journal ORDER BY seq DESC LIMIT 1"
            seq, body = connection.execute(query).fetchone()
            fields = json.loads(body)
            fields[2] = "m-nowhere"
            update = "UPDATE journal SET body = ? WHERE seq = ?"
            connection.execute(update, (json.dumps(fields), seq))

        await database.write(elsewhere)
        with pytest.raises(DamagedRowsError, match="is invalid"):
            restore(database, TOPICS)


async def test_what_a_newer_program_wrote_is_no_damage(lived: tuple[Path, str]) -> None:
    path, _ = lived
    async with open_directory(path, ManualClock()) as database:
        await database.write(lambda c: c.execute(RENAME))
        with pytest.raises(NewerJournalError, match="newer program"):
            restore(database, TOPICS)


async def test_a_row_that_is_missing_after_the_snapshots_is_damage(
    lived: tuple[Path, str],
) -> None:
    path, _ = lived
    async with open_directory(path, ManualClock()) as database:
        await database.write(lambda c: c.execute(SHIFT))
        with pytest.raises(DamagedRowsError, match="1 rows of the journal"):
            restore(database, TOPICS)
