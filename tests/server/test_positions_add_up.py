"""Positions add up: cash and holdings are what was paid in, and what the rows say was made."""

import asyncio
import random
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from kit.service.line import Line, change, line_to
from kit.service.stage import Stage, open_stage
from service_tui.engine import venues as venues_room
from service_tui.engine import world as world_room
from service_tui.engine.market import Market
from service_tui.engine.venues import GRANT
from service_tui.server import past_positions
from service_tui.server.by_source import by_source
from service_tui.server.present import FIRST_CASH
from service_tui.terms import Venue
from service_tui.units import ONE, Micros, micros
from service_tui.wire.endpoints import BRIEFING, PLACE_TRADE, PORTFOLIO, POSITIONS, TRADES
from service_tui.wire.endpoints_wallet import REDEEM, REDEMPTIONS

RICH: dict[str, object] = {
    "claimed": True,
    "real_trading_enabled": True,
    "max_trade": Micros(1_000 * ONE),
    "day_spend_max": Micros(1_000_000 * ONE),
}
SOON_S = 1_800.0
HOUR_S = 3_600.0
Row = dict[str, Any]


def remember_little(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let memory forget after so few rows that each story reads from storage as well."""
    monkeypatch.setattr(world_room, "CLOSED_KEPT", 2)
    monkeypatch.setattr(venues_room, "SETTLED_KEPT", 2)
    monkeypatch.setattr(past_positions, "PAGE", 3)
    monkeypatch.setattr(world_room, "RESOLVED_KEPT", 5)


@dataclass
class Story:
    """An agent that buys, sells, waits and redeems by chance, and what it told of its buys."""

    stage: Stage
    line: Line
    draw: random.Random
    bought: dict[str, set[tuple[str, str]]] = field(default_factory=dict)
    count: int = 0

    async def step(self) -> None:
        await self.draw.choice([self.buy, self.buy, self.buy, self.sell, self.sell, self.redeem])()

    def _market(self, venue: Venue) -> Market | None:
        world = self.stage.world
        found = [
            one
            for one in self.stage.open_markets()
            if venue in {Venue.SIM, one.listing.home}
            and world.world_at + 30 < one.listing.resolves_at < world.world_at + SOON_S
        ]
        return self.draw.choice(found) if found else None

    async def buy(self) -> None:
        venue = self.draw.choice(list(Venue))
        market = self._market(venue)
        if market is None:
            return
        self.count += 1
        tag = f"sdk:buy-{self.count:04d}"
        order = {
            "market_id": market.market_id,
            "side": self.draw.choice(["yes", "no"]),
            "amount": self.draw.randrange(500, 3_000) / 100,
            "venue": venue.value,
            "source": tag,
        }
        done = await self.line.said(PLACE_TRADE, json=order)
        if done["success"] and done["shares_bought"]:
            self.bought.setdefault(tag, set()).add((venue.value, market.market_id))

    async def sell(self) -> None:
        rows = (await self.line.said(POSITIONS, venue="all"))["positions"]
        held = [
            (row, side, row[f"shares_{side}"])
            for row in rows
            for side in ("yes", "no")
            if row[f"shares_{side}"] > 0
        ]
        if not held:
            return
        row, side, shares = self.draw.choice(held)
        part = shares if self.draw.random() < 0.6 else int(shares * 50_000) / 100_000
        order = {"market_id": row["market_id"], "side": side, "venue": row["venue"]}
        order |= {"action": "sell", "shares": part, "order_type": "FAK"}
        await self.line.said(PLACE_TRADE, json=order)

    async def redeem(self) -> None:
        rows = (await self.line.said(POSITIONS, venue="all", status="resolved"))["positions"]
        for row in [one for one in rows if one["redeemable"]][:1]:
            asked = {"market_id": row["market_id"], "side": row["redeemable_side"]}
            await self.line.said(REDEEM, json=asked)

    async def wait(self, seconds: float) -> None:
        """Cross a silence: what is due resolves, and is paid."""
        keeper = self.stage.sim.service.keeper
        self.stage.clock._now += seconds
        await keeper.advance(self.stage.clock.now())

    async def check(self) -> None:
        rows: list[Row] = (await self.line.said(POSITIONS, venue="all", status="all"))["positions"]
        for row in rows:
            made = micros(row["realized_pnl"]) + micros(row["unrealized_pnl"])
            assert micros(row["pnl"]) == made
            parts = [micros(one["realized_pnl"] + one["unrealized_pnl"]) for one in row["sides"]]
            assert sum(parts) == pytest.approx(made, abs=2)
        world, agent = self.stage.world, self.stage.agent
        for venue in Venue:
            made = sum(micros(row["pnl"]) for row in rows if row["venue"] == venue.value)
            if venue is Venue.SIM:
                assert made == world.equity(agent) - FIRST_CASH
            else:
                account = world.venues.account(agent.agent_id, venue)
                equity = world.venues.equity(account, (self.stage.clock.now(), world.world_at))
                assert made == equity - GRANT, venue
        await self._check_sources(rows)
        await self._check_redemptions()
        for tag, places in self.bought.items():
            found = await self.line.said(POSITIONS, venue="all", status="all", source=tag)
            assert {(row["venue"], row["market_id"]) for row in found["positions"]} == places

    async def _check_redemptions(self) -> None:
        """What was redeemed ever, and what waits, venue for venue."""
        told = (await self.line.said(REDEMPTIONS))["by_venue"]
        for venue in (Venue.EVM, Venue.SOL):
            past = (await self.line.said(TRADES, venue=venue.value, limit=200))["trades"]
            paid = [micros(row["cost"]) for row in past if row["action"] == "redeem"]
            rows = (await self.line.said(POSITIONS, venue=venue.value, status="resolved"))[
                "positions"
            ]
            waits = [micros(row["current_value"]) for row in rows if row["redeemable"]]
            sums = told[venue.value]
            assert (sums["redeemed_count"], micros(sums["redeemed_amount"])) == (
                len(paid),
                sum(paid),
            )
            assert (sums["redeemable_count"], micros(sums["redeemable_amount"])) == (
                len(waits),
                sum(waits),
            )

    async def _check_sources(self, rows: list[Row]) -> None:
        """What the portfolio and the briefing say of each source is what its rows say."""
        told = await self.line.said(PORTFOLIO)
        blocks = (await self.line.said(BRIEFING))["venues"]
        for venue in Venue:
            mine = await self.line.said(PORTFOLIO, venue=venue.value)
            tags = {tag for tag, places in self.bought.items() if venue in dict(places)}
            assert mine["by_source"].keys() == tags
            if venue is Venue.SIM:
                assert told["by_source"] == mine["by_source"]
            brief = blocks[venue.value]["by_skill"]
            assert brief.keys() == tags
            for tag, sums in mine["by_source"].items():
                own = [row for row in rows if tag in row["sources"] and row["venue"] == venue]
                made = sum(micros(row["pnl"]) for row in own)
                assert micros(sums["realized_pnl"]) + micros(sums["unrealized_pnl"]) == made
                going_on = [row for row in own if row["outcome"] is None]
                worth = sum(micros(row["current_value"]) for row in going_on)
                assert micros(sums["exposure"]) == worth
                assert sums["trade_count"] == 1
                assert micros(brief[tag]["total_pnl"]) == made
        assert self.stage.sim.service.past.seq == self.stage.sim.service.keeper.seq
        for venue in Venue:
            past = (await self.line.said(TRADES, venue=venue.value, limit=200))["trades"]
            count = sum(row["action"] != "redeem" and row["shares"] > 0 for row in past)
            assert told[venue.value]["trades_count"] == count


@pytest.mark.parametrize("seed", [1, 2, 3])
async def test_rows_of_every_venue_add_up_to_what_was_made(
    seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    remember_little(monkeypatch)
    async with open_stage(tmp_path, speed=1) as stage:
        stage.sim.service.limits = False
        await change(stage, **RICH, auto_redeem_enabled=seed != 2)
        story = Story(stage, line_to(stage), random.Random(seed))
        for _ in range(4):
            for _ in range(14):
                await story.step()
                await story.wait(7)
            await story.check()
            await story.wait(SOON_S)
            await story.check()
        await story.wait(4 * HOUR_S)
        await story.check()
        ended = (await story.line.said(POSITIONS, venue="all", status="all"))["positions"]
        by_venue = {venue: [one for one in ended if one["venue"] == venue.value] for venue in Venue}
        assert all(len(rows) > 3 for rows in by_venue.values())
        assert {one["status"] for one in ended} >= {"won", "lost", "sold"}
        # As an older program left them: without sources, which stand with the buys as well.
        closed = stage.agent.closed
        closed[:] = [replace(one, sources=None) for one in closed]
        await story.check()


async def test_sums_by_source_do_not_dip_while_a_commit_is_on_its_way(tmp_path: Path) -> None:
    async with open_stage(tmp_path, speed=1) as stage:
        keeper, past = stage.sim.service.keeper, stage.sim.service.past
        line = line_to(stage)
        soon = sorted(stage.open_markets(), key=lambda one: one.listing.resolved_at)
        market = next(one for one in soon if one.listing.resolves_at > stage.world.world_at + 30)
        order = {"market_id": market.market_id, "side": "yes", "amount": 20, "source": "dip"}
        assert (await line.said(PLACE_TRADE, json=order))["success"]
        # Applied in memory, and not on disk: whoever asks now waits for the disk.
        stage.clock._now += market.listing.resolved_at - stage.world.world_at + 1
        events = stage.world.advance(stage.clock.now())
        assert not stage.agent.positions
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(keeper.commit(events))
            reading = tasks.create_task(by_source(keeper, past, stage.agent_id))
        (sums,) = reading.result().values()
        assert sums.realized == stage.agent.closed[0].realized
        assert (sums.trades, sums.positions, past.seq) == (1, 0, keeper.seq)
