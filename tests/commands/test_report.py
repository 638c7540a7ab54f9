"""Reports and exports from the command line: what the service tells, whole, and over nothing."""

import asyncio
import csv
import errno
import io
import json
import os
import random
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from kit.clock import leap
from kit.command_line import ran as line_ran
from kit.service.stage import client_of
from service_tui.app.data import open_data
from service_tui.app.options import Options
from service_tui.app.ownership import open_embedded, own_directory
from service_tui.app.renewal import client_keys
from service_tui.cli import main as cli
from service_tui.client.client import Client
from service_tui.clock import Clock, ManualClock
from service_tui.commands.report import (
    AGAIN_S,
    DAY,
    ELSEWHERE,
    OWNER_WAIT_S,
    SILENT,
    TABLES,
    Connect,
    Connection,
    ReportData,
    ReportError,
    connect_as_owner,
    connect_to_owner,
    keep,
    load,
    read_from,
    read_topics,
)
from service_tui.credentials.api_keys import stored_desk_keys
from service_tui.desk.audit.exports import day_in_markdown, files_of
from service_tui.desk.audit.listings import LISTINGS
from service_tui.desk.audit.new_files import write_files
from service_tui.desk.own_notes import keep_note
from service_tui.desk.slices.own_notes import Noted, NoteOn, OwnNote
from service_tui.server.startup import BASE_URL
from service_tui.storage.cache import CacheStore
from service_tui.storage.db.lock import DataDirLock
from service_tui.terms import MarketStatus, Side, Venue
from service_tui.units import Timestamp
from service_tui.wire.agents import RegisterRequest
from service_tui.wire.endpoints.desk import DESK_CLAIM
from service_tui.wire.endpoints.public import MARKETS, PLACE_TRADE, POSITIONS, REGISTER
from service_tui.wire.trades import TradeRequest


def ran(folder: Path, *words: str) -> tuple[object, str, str]:
    done = line_ran([*words, "--data-dir", str(folder / "d")])
    return done.code, done.out, done.err


@pytest.mark.slow
def test_the_day_and_the_tables_come_without_a_console(
    tmp_path: Path,
) -> None:
    folder = tmp_path / "out"
    code, said, _ = ran(tmp_path, "export", str(folder))
    assert code == cli.OK
    files = {path.name: path for path in folder.iterdir()}
    assert said == f"{len(files)} files written to {folder}\n"
    assert {"day.md", "day.csv", "trades.csv", "positions.json", "experiments.csv"} <= set(files)
    assert {path.stat().st_mode & 0o777 for path in files.values()} == {0o600}
    (agent,) = json.loads(files["agents.json"].read_text())
    assert agent["equity"] > 0

    code, said, _ = ran(tmp_path, "report", "--format", "csv")
    (row,) = csv.DictReader(io.StringIO(said))
    assert (code, row["agent"], row["problem"]) == (cli.OK, agent["agent"], "")

    kept = folder / "day.md"
    before = kept.read_text()
    code, _, problem = ran(tmp_path, "report", "--to", str(kept))
    assert code == cli.CANNOT
    assert "exists already: nothing written" in problem
    assert kept.read_text() == before

    code, _, problem = ran(tmp_path, "report", "--agent", "nobody")
    assert code == cli.CANNOT
    assert "no agent 'nobody'" in problem


class Asked:
    """One directory, asked in each of the ways that there are."""

    def __init__(self, path: Path) -> None:
        self.clock = ManualClock()
        self.options = Options(path / "data", path / "config", path / "log", seed=7)

    async def by(self, connect: Connect) -> dict[str, str]:
        """Every file of an export."""
        known = await read_topics(connect, self.options, TABLES, self.clock)
        files = files_of(known.state, known.at, known.pasts)
        day = await read_topics(connect, self.options, DAY, self.clock)
        # A report asks for less, and says the same.
        assert day_in_markdown(day.state, day.at, day.pasts) == files["day.md"]
        return files

    @asynccontextmanager
    async def whole(self, options: Options, clock: Clock) -> AsyncGenerator[Connection]:
        """The whole service with its app, in this process."""
        async with (
            open_data(options.data_dir, clock) as data,
            open_embedded(options, data.database, clock) as (sim, api_keys),
            Client(
                sim.transport,
                BASE_URL,
                client_keys(api_keys, BASE_URL),
                clock=clock,
                rng=random.Random(1),
            ) as client,
        ):
            yield client, data.database

    async def trade(self) -> None:
        """Play money and real money, bought by the person's own agent."""
        async with (
            open_data(self.options.data_dir, self.clock) as data,
            open_embedded(self.options, data.database, self.clock) as (sim, api_keys),
            Client(
                sim.transport,
                BASE_URL,
                client_keys(api_keys, BASE_URL),
                clock=self.clock,
                rng=random.Random(1),
            ) as client,
        ):
            world_store, agent_id = sim.service.world_store, api_keys.agent_id or ""
            await client.call(DESK_CLAIM, path={"agent_id": agent_id})
            agent = world_store.world.agent(agent_id)
            allowed = {"real_trading_enabled": True}
            await world_store.commit(world_store.world.change(agent, allowed, self.clock.now()))
            markets = [
                market.listing.market_id
                for market in world_store.world.markets.values()
                if market.listing.home is Venue.EVM
                and market.status(world_store.world.world_at) is MarketStatus.ACTIVE
            ]
            for venue in (Venue.SIM, Venue.EVM):
                bought = await client.call(
                    PLACE_TRADE,
                    body=TradeRequest(market_id=markets[0], side=Side.YES, amount=9.0, venue=venue),
                )
                assert bought.answer.success, bought.answer.error


@pytest.mark.slow
async def test_every_way_of_asking_gives_the_same_figures(tmp_path: Path) -> None:
    asked = Asked(tmp_path)
    await asked.trade()
    brief = await asked.by(connect_as_owner)
    assert await asked.by(asked.whole) == brief
    async with own_directory(asked.options, asked.clock):
        assert await asked.by(connect_to_owner) == brief
    rows = json.loads(brief["positions.json"])
    assert {row["venue"]: row["money"] for row in rows} == {"sim": "$SIM", "evm_venue": "USDC.e"}
    assert {row["market"] for row in rows} == {rows[0]["market"]}
    days = json.loads(brief["agents.json"])
    assert {day["money"]: day["bought"] for day in days} == {
        row["money"]: row["cost"] for row in json.loads(brief["trades.json"])
    }


async def test_the_list_of_positions_has_the_values_of_the_service_to_the_micro(
    tmp_path: Path,
) -> None:
    asked = Asked(tmp_path)
    async with asked.whole(asked.options, asked.clock) as connection:
        client, _ = connection
        markets = (await client.call(MARKETS)).answer.markets[:4]
        for place, market in enumerate(markets):
            side = Side.YES if place % 2 else Side.NO
            order = TradeRequest(market_id=market.id, side=side, amount=300.0)
            assert (await client.call(PLACE_TRADE, body=order)).answer.success
        told = (await client.call(POSITIONS)).answer.positions

        @asynccontextmanager
        async def again(_: Options, __: Clock) -> AsyncGenerator[Connection]:
            yield connection

        listing = LISTINGS["positions"]
        data = await read_topics(again, asked.options, listing.wanted, asked.clock)
    rows = {row["market"]: row for row in listing.rows(data.state, data.pasts, data.at)}
    assert len(rows) == len(told) == 4
    for position in told:
        (side,), row = position.sides, rows[position.market_id]
        for name, value in (
            ("mark_price", side.mark_price),
            ("mark_value", side.current_value),
            ("exit_value", side.exit_value),
            ("cost", side.cost_basis),
            ("unrealized", side.unrealized_pnl),
        ):
            assert row[name] == value, name


def test_own_notes_of_every_console_are_listed_and_exported_and_no_service_is_asked(
    tmp_path: Path,
) -> None:
    assert ran(tmp_path, "notes", "--json")[:2] == (cli.OK, "[]\n")
    kept = Noted(NoteOn.MARKET, "m-1", "Will it rain?", "m-1")
    older, newer = (OwnNote(kept, text, Timestamp(at)) for text, at in (("was", 5), ("is", 9)))
    day = OwnNote(Noted(NoteOn.DAY, "2026-11-30"), "a =bad= day", Timestamp(7))

    async def write(folder: Path, *notes: OwnNote) -> None:
        async with open_data(folder, ManualClock()) as data:
            for note in notes:
                command = keep_note(note)
                await CacheStore(data.database).put_preference(command.name, command.value)

    # Two consoles of one directory: the owner, and one beside it.
    asyncio.run(write(tmp_path / "d", older, day))
    asyncio.run(write(tmp_path / "d" / "attached" / "1", newer))
    code, said, _ = ran(tmp_path, "notes", "--json")
    assert code == cli.OK
    assert [(row["on"], row["key"], row["text"]) for row in json.loads(said)] == [
        ("market", "m-1", "is"), ("day", "2026-11-30", "a =bad= day"),
    ]  # fmt: skip
    assert "a =bad= day" in ran(tmp_path, "notes", "--find", "bad")[1]
    gone = OwnNote(kept, "", Timestamp(11))
    asyncio.run(write(tmp_path / "d", gone))
    folder = tmp_path / "out"
    assert ran(tmp_path, "export", str(folder))[0] == cli.OK
    assert len(json.loads((folder / "notes.json").read_text())) == 1


@pytest.mark.slow
async def test_an_export_has_the_positions_of_every_agent(tmp_path: Path) -> None:
    asked = Asked(tmp_path)
    async with own_directory(asked.options, asked.clock) as held:
        async with client_of(held.sim, asked.clock, None) as nobody:
            made = (await nobody.call(REGISTER, body=RegisterRequest(name="other"))).answer
        async with client_of(held.sim, asked.clock, made.api_key) as other:
            market = next(iter(held.sim.service.world.markets))
            order = TradeRequest(market_id=market, side=Side.YES, amount=9.0)
            assert (await other.call(PLACE_TRADE, body=order)).answer.success
        files = await asked.by(connect_to_owner)
    (row,) = json.loads(files["positions.json"])
    assert (row["agent"], row["market"], row["cost"]) == (made.agent_id, market, 9.0)


@pytest.mark.slow
async def test_a_report_leaves_a_directory_free_and_keeps_what_it_made_of_the_time(
    tmp_path: Path,
) -> None:
    asked = Asked(tmp_path)
    await asked.by(connect_as_owner)
    await leap(asked.clock, 3_600.0)
    later = await asked.by(connect_as_owner)
    assert await asked.by(asked.whole) == later


def test_a_disk_that_is_full_leaves_no_half_of_an_export(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    count = 0

    def full(_: int) -> None:
        nonlocal count
        count += 1
        if count == 3:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr("os.fsync", full)
    files = {f"{name}.csv": "text" for name in "abcd"}
    with pytest.raises(OSError, match="No space left") as refused:
        write_files(tmp_path / "out", files)
    assert refused.value.filename == str(tmp_path / "out" / "c.csv")
    assert list((tmp_path / "out").iterdir()) == []
    count = 2
    with pytest.raises(ReportError, match=r"cannot write .*day\.md: No space left on device"):
        keep(tmp_path / "day.md", "text")
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_a_report_that_cannot_be_kept_names_the_path_that_was_asked_for(tmp_path: Path) -> None:
    with pytest.raises(ReportError, match="not a file name"):
        keep(Path(), "text")
    with pytest.raises(ReportError, match=r"none/day\.md") as refused:
        keep(tmp_path / "none" / "day.md", "text")
    assert ".new" not in str(refused.value)


class Waits(ManualClock):
    """A clock that passes by itself, and does something when somebody waits."""

    def __init__(self, then: Callable[[], None]) -> None:
        super().__init__(0.0)
        self._then = then

    async def sleep(self, delay_s: float) -> None:
        await self.advance(delay_s)
        self._then()


@pytest.mark.slow
async def test_a_directory_in_use_is_read_as_soon_as_it_is_free(tmp_path: Path) -> None:
    asked = Asked(tmp_path)
    await asked.by(connect_as_owner)
    lock = DataDirLock.acquire(asked.options.data_dir, pid=7, now=1.0)
    # Its owner serves nobody, and never ends.
    stuck = Waits(lambda: None)
    assert await read_from(asked.options, DAY, stuck) == SILENT
    assert OWNER_WAIT_S <= stuck.monotonic() < OWNER_WAIT_S + 2 * AGAIN_S
    ending = Waits(lock.release)
    found = await read_from(asked.options, DAY, ending)
    assert isinstance(found, ReportData)
    assert ending.monotonic() == pytest.approx(AGAIN_S)


@pytest.mark.slow
async def test_a_lost_key_is_mended_by_reading(tmp_path: Path) -> None:
    asked = Asked(tmp_path)
    before = await asked.by(connect_as_owner)
    kept = asked.options.data_dir / "keys.json"
    api_keys = stored_desk_keys(asked.options.data_dir)
    assert api_keys is not None
    kept.write_text(kept.read_text().replace(api_keys.agent or "", "sk_live_" + "0" * 24))
    after = await asked.by(connect_as_owner)
    assert (
        json.loads(after["agents.json"])[0]["agent"]
        == json.loads(before["agents.json"])[0]["agent"]
    )


def test_there_is_no_report_of_another_service(tmp_path: Path) -> None:
    away = Options(tmp_path, tmp_path, tmp_path / "log", url="https://desk.example")
    with pytest.raises(ReportError, match=ELSEWHERE[:30]):
        load(away, DAY)
