"""Backup, loss and restore, as docs/operations.md tells them: the books are the same afterwards."""

import asyncio
import shutil
import subprocess
from collections.abc import Generator
from pathlib import Path

import psycopg
import pytest
from psycopg import sql

from kit.command_line import ran
from kit.service.postgres import Postgres, binaries, new_place
from kit.service.stage import Stage, open_stage
from service_tui.cli.main import OK
from service_tui.engine.amm.exchange import Order
from service_tui.storage.shared.connection import WorldPlace
from service_tui.terms import Action, Side
from service_tui.units import ONE, Micros
from service_tui.wire.endpoints.public import AGENT

Books = dict[str, Micros]


def printed(*words: str | Path) -> str:
    """What a command prints; it must end well."""
    done = ran([str(word) for word in words])
    assert done.code == OK, done.out + done.err
    return done.out


async def trade(stage: Stage) -> None:
    for number, market in enumerate(stage.open_markets()[:8], 1):
        side = Side.YES if number % 2 else Side.NO
        spent = Micros(5 * ONE + number)
        order = Order(stage.agent, market.market_id, side, Action.BUY, spent)
        await stage.sim.service.world_store.place(order, stage.clock.now())


async def reopened(path: Path, before: Stage) -> Books:
    """The books of a restored directory, in which the agent's key still opens its account."""
    async with open_stage(path, speed=0, key=before.key, agent_id=before.agent_id) as stage:
        assert (await stage.client.call(AGENT)).answer.agent_id == before.agent_id
        return stage.world.ledger.balances()


@pytest.mark.slow
async def test_a_lost_data_directory_is_restored_from_a_backup_to_the_micro(
    tmp_path: Path,
) -> None:
    data, copy = tmp_path / "data", tmp_path / "backup.sqlite3"
    async with open_stage(data, speed=0) as stage:
        await trade(stage)
        printed("backup", "--to", copy, "--data-dir", data)
        books = stage.world.ledger.balances()
    shutil.rmtree(data)
    printed("restore", copy, "--data-dir", data)
    assert "sum to zero" in printed("verify", "--data-dir", data)
    assert await reopened(data, stage) == books
    assert sum(books.values()) == 0


@pytest.mark.slow
@pytest.mark.process
def test_a_lost_world_of_a_shared_desk_is_restored_from_a_dump_to_the_micro(
    tmp_path: Path, careful: Postgres
) -> None:
    data, dump, place = tmp_path / "data", tmp_path / "desk.dump", new_place(careful.url)
    of_database = ("--database", place.url, "--world", place.world)
    stage, books = asyncio.run(traded(data))
    copied = printed("db", "copy", data, "database", *of_database)
    tool("pg_dump", "--format=custom", f"--schema={place.schema}", f"--file={dump}", place.url)
    lose(place)
    tool("pg_restore", f"--dbname={place.url}", dump)
    assert "add up" in printed("db", "check", "--data-dir", data, *of_database)
    back = printed("db", "copy", "database", tmp_path / "back", *of_database)
    assert back.splitlines()[1] == copied.splitlines()[1]
    assert asyncio.run(reopened(tmp_path / "back", stage)) == books


@pytest.fixture
def careful() -> Generator[Postgres]:
    """A server that keeps what it acknowledged: `db check` calls another one a problem."""
    server = Postgres("fsync=on")
    yield server
    server.close()


async def traded(data: Path) -> tuple[Stage, Books]:
    async with open_stage(data, speed=0) as stage:
        await trade(stage)
        return stage, stage.world.ledger.balances()


def tool(name: str, *words: str | Path) -> None:
    subprocess.run([binaries() / name, *words], check=True, capture_output=True)


def lose(place: WorldPlace) -> None:
    with psycopg.connect(place.url) as connection:
        connection.execute(sql.SQL("DROP SCHEMA {} CASCADE").format(sql.Identifier(place.schema)))
