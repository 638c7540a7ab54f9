"""What a page of ended positions reads: the rows of its venue, and none of another's."""

import sqlite3
from pathlib import Path
from typing import Any

import pytest

from kit.service.line import Line, change, line_to
from kit.service.stage import open_stage
from service_tui.clock import ManualClock
from service_tui.engine import world as world_room
from service_tui.engine.books import venues as venues_room
from service_tui.server import world_store as keeper_room
from service_tui.server.past.history import Past, past_of
from service_tui.server.routes import positions as positions_room
from service_tui.storage.db.connection import DATABASE_FILE
from service_tui.terms import Venue
from service_tui.units import ONE, Micros
from service_tui.wire.endpoints.public import PLACE_TRADE, POSITIONS

pytestmark = pytest.mark.slow

RICH: dict[str, object] = {
    "claimed": True,
    "real_trading_enabled": True,
    "day_spend_max": Micros(100_000 * ONE),
}

TO_VERSION_8 = """
UPDATE journal SET kind = 'settled' WHERE kind = 'lost';
DROP INDEX journal_of_people;
DROP TABLE kepttokens;
DROP TABLE people;
DROP TABLE invitations;
DROP INDEX journal_by_venue;
ALTER TABLE journal DROP COLUMN venue;
PRAGMA user_version = 8;
"""


async def ended(line: Line) -> dict[str, list[Any]]:
    """The positions that ended, by venue."""
    rows = {
        venue.value: (await line.said(POSITIONS, venue=venue.value, status="all"))["positions"]
        for venue in Venue
    }
    assert all(row["outcome"] is not None for found in rows.values() for row in found)
    return rows


async def test_rows_of_an_older_program_are_told_apart_by_venue(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(world_room, "CLOSED_KEPT", 1)
    monkeypatch.setattr(venues_room, "SETTLED_KEPT", 1)
    clock = ManualClock()
    async with open_stage(tmp_path, clock, speed=1) as stage:
        stage.sim.service.limits = False
        await change(stage, **RICH)
        line = line_to(stage)
        soon = sorted(stage.open_markets(), key=lambda one: one.listing.resolved_at)
        soon = [one for one in soon if one.listing.resolves_at > stage.world.world_at + 60]
        for venue in Venue:
            for market in [one for one in soon if one.listing.home is venue][:3]:
                order = {"market_id": market.market_id, "side": "yes", "venue": venue.value}
                await line.said(PLACE_TRADE, json=order | {"amount": 10})
        clock.set(clock.now() + 6 * 3_600)
        await stage.sim.service.world_store.advance(clock.now())
        before = await ended(line)
        assert min(len(rows) for rows in before.values()) >= 2
        key, agent_id = stage.key, stage.agent_id
    with sqlite3.connect(tmp_path / DATABASE_FILE) as database:
        database.executescript(TO_VERSION_8)
    database.close()
    async with open_stage(tmp_path, clock, key=key, agent_id=agent_id) as stage:
        assert await ended(line_to(stage)) == before


async def test_a_venue_reads_its_own_ended_positions_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(world_room, "CLOSED_KEPT", 1)
    async with open_stage(tmp_path, speed=1) as stage:
        stage.sim.service.limits = False
        await change(stage, **RICH)
        line = line_to(stage)
        soon = sorted(stage.open_markets(), key=lambda one: one.listing.resolved_at)
        soon = [one for one in soon if one.listing.resolves_at > stage.world.world_at + 60]
        at_evm = next(one for one in soon if one.listing.home is Venue.EVM)
        wanted = [(one, Venue.SIM) for one in soon[:8]] + [(at_evm, Venue.EVM)]
        for market, venue in wanted:
            order = {"market_id": market.market_id, "side": "yes", "venue": venue.value}
            got = await line.said(PLACE_TRADE, json=order | {"amount": 20})
            assert got["success"], got
            sale = {"action": "sell", "shares": got["shares_bought"], "order_type": "FAK"}
            assert (await line.said(PLACE_TRADE, json=order | sale))["success"]
        stage.clock.set(stage.clock.now() + 6 * 3_600)
        await stage.sim.service.world_store.advance(stage.clock.now())
        read: list[str] = []

        def told(kind: str, body: str) -> Past:
            read.append(kind)
            return past_of(kind, body)

        monkeypatch.setattr(keeper_room, "past_of", told)
        for venue, count in ((Venue.SIM, 8), (Venue.EVM, 1), (Venue.SOL, 0)):
            read.clear()
            rows = await line.said(POSITIONS, venue=venue.value, status="all")
            assert len(rows["positions"]) == count
            assert read == ["sold_out"] * count, venue


async def test_ended_positions_made_a_few_at_a_time_are_all_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(world_room, "CLOSED_KEPT", 1)
    async with open_stage(tmp_path, speed=1) as stage:
        stage.sim.service.limits = False
        line = line_to(stage)
        soon = sorted(stage.open_markets(), key=lambda one: one.listing.resolved_at)
        bought = [one for one in soon if one.listing.resolves_at > stage.world.world_at + 60][:8]
        for market in bought:
            order = {"market_id": market.market_id, "side": "yes", "amount": 10}
            await line.said(PLACE_TRADE, json=order)
        stage.clock.set(stage.clock.now() + 6 * 3_600)
        await stage.sim.service.world_store.advance(stage.clock.now())
        monkeypatch.setattr(positions_room, "AT_ONCE", 3)
        rows = (await ended(line))[Venue.SIM.value]
        assert {row["market_id"] for row in rows} == {one.market_id for one in bought}
