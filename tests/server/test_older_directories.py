"""A directory of an older program tells of ended markets as one of today does."""

import sqlite3
from pathlib import Path
from typing import Any

import pytest

from kit.service.line import Line, change, line_to
from kit.service.stage import Stage, open_stage
from service_tui.clock import ManualClock
from service_tui.engine import world as world_room
from service_tui.engine.amm.market import Market
from service_tui.storage.db.connection import DATABASE_FILE
from service_tui.terms import Venue
from service_tui.units import ONE, Micros
from service_tui.wire.endpoints.public import (
    MARKET,
    MARKET_HISTORY,
    PLACE_TRADE,
    PORTFOLIO,
    POSITIONS,
    TRADES,
)

HOUR_S = 3_600.0
RICH: dict[str, object] = {
    "claimed": True,
    "real_trading_enabled": True,
    "max_trade": Micros(1_000 * ONE),
}
LATER = """
DROP INDEX journal_of_people;
DROP TABLE kepttokens;
DROP TABLE people;
DROP TABLE invitations;
DROP INDEX journal_by_kind;
DROP INDEX journal_by_venue;
ALTER TABLE journal DROP COLUMN venue;
DROP TABLE endedfilled;
DELETE FROM endedmarkets;
DELETE FROM journal WHERE kind = 'sold_out';
DELETE FROM snapshots WHERE seq < (SELECT max(seq) FROM snapshots);
DROP TABLE endedmarkets;
PRAGMA user_version = 6;
"""
"""What takes a directory of today back to what an older program would have left."""


def soonest(stage: Stage, home: Venue) -> list[Market]:
    found = [
        one
        for one in stage.open_markets()
        if one.listing.home is home
        and one.listing.resolves_at > stage.world.world_at + 60
        and 0.2 < one.price() < 0.8
    ]
    return sorted(found, key=lambda one: one.listing.resolved_at)


async def bought(line: Line, market: Market, venue: Venue, *, sells: bool) -> None:
    order = {"market_id": market.market_id, "side": "yes", "venue": venue.value}
    got = await line.said(PLACE_TRADE, json=order | {"amount": 20, "source": f"old:{venue.value}"})
    assert got["success"], got
    if sells:
        sale = {"action": "sell", "shares": got["shares_bought"], "order_type": "FAK"}
        sold = await line.said(PLACE_TRADE, json=order | sale)
        assert sold["shares_sold"] == got["shares_bought"]


async def told(stage: Stage, markets: list[Market]) -> dict[str, Any]:
    """Everything that the service says of these markets and of the agent's past."""
    line = line_to(stage)
    kept = ("status", "outcome", "resolves_at", "resolved_at", "question", "url")
    looks = [
        (await line.said(MARKET, path={"market_id": one.market_id}))["market"] for one in markets
    ]
    for one in markets:
        past = await line.said(MARKET_HISTORY, path={"market_id": one.market_id}, hours=168)
        assert past["points"]
    rows = (await line.said(POSITIONS, venue="all", status="all"))["positions"]
    fields = ("market_id", "venue", "status", "pnl", "realized_pnl", "sources", "question")
    trades = (await line.said(TRADES, limit=200))["trades"]
    return {
        "markets": [{name: look.get(name) for name in kept} for look in looks],
        "positions": sorted([str(row.get(name)) for name in fields] for row in rows),
        "trades": [(row["trade_id"], row["outcome"], row["market_question"]) for row in trades],
        "by_source": (await line.said(PORTFOLIO))["by_source"],
    }


@pytest.mark.slow
async def test_an_older_directory_is_filled_in_once_from_its_journal_and_its_tape(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(world_room, "RESOLVED_KEPT", 1)
    clock = ManualClock()
    async with open_stage(tmp_path, clock, speed=1, ends_with_snapshot=True) as stage:
        stage.sim.service.limits = False
        await change(stage, **RICH)
        line = line_to(stage)
        (held, sold), (on_evm, sold_on_evm) = (
            soonest(stage, home)[:2] for home in (Venue.SIM, Venue.EVM)
        )
        markets = [held, sold, on_evm, sold_on_evm]
        for market, venue, sells in (
            (held, Venue.SIM, False),
            (sold, Venue.SIM, True),
            (on_evm, Venue.EVM, False),
            (sold_on_evm, Venue.EVM, True),
        ):
            await bought(line, market, venue, sells=sells)
            clock.set(clock.now() + 1)
            await stage.sim.service.world_store.advance(clock.now())
        ends = max(one.listing.resolved_at for one in markets) + 6 * HOUR_S
        clock.set(stage.world.at + ends - stage.world.world_at)
        await stage.sim.service.world_store.advance(clock.now())
        assert not {one.market_id for one in markets} & stage.world.markets.keys()
        before = await told(stage, markets)
        assert {row["outcome"] for row in before["markets"]} <= {True, False}
        assert len(before["positions"]) == 4
        # As an older program: neither memory nor the journal told of what was sold whole.
        account = stage.world.venues.account(stage.agent_id, Venue.EVM)
        del account.holdings[sold_on_evm.market_id]
        stage.agent.closed[:] = [one for one in stage.agent.closed if one.shares]
        clock.set(clock.now() + 1)
        await stage.sim.service.world_store.advance(clock.now())
        key, agent_id = stage.key, stage.agent_id
    with sqlite3.connect(tmp_path / DATABASE_FILE) as database:
        database.executescript(LATER)
    database.close()
    for _ in range(2):
        async with open_stage(tmp_path, clock, key=key, agent_id=agent_id) as stage:
            assert await told(stage, markets) == before
    with sqlite3.connect(tmp_path / DATABASE_FILE) as database:
        ((rows,),) = database.execute("SELECT count(*) FROM journal WHERE kind = 'sold_out'")
    database.close()
    sold_whole = [row for row in before["positions"] if "sold" in row]
    assert rows == len(sold_whole) >= 2
