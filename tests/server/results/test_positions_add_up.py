"""Positions add up: cash and holdings are what was paid in, and what the rows say was made."""

import asyncio
import random
from collections import Counter
from dataclasses import dataclass, field, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import Phase, given
from hypothesis import strategies as st

from kit.examples import examples
from kit.service.line import Line, change, line_to
from kit.service.stage import OPERATOR, Stage, open_stage
from service_tui.engine import world as world_room
from service_tui.engine.amm.market import Market
from service_tui.engine.books import venues as venues_room
from service_tui.engine.books.venues import GRANT
from service_tui.engine.tick import advance
from service_tui.server.projections.present import FIRST_CASH
from service_tui.server.results import positions as past_positions
from service_tui.server.results.by_source import by_source
from service_tui.terms import Venue
from service_tui.units import ONE, Micros, micros
from service_tui.wire.endpoints.public import (
    BRIEFING,
    DELETE_MONITOR,
    PLACE_TRADE,
    PORTFOLIO,
    POSITIONS,
    SET_MONITOR,
    TRADES,
)
from service_tui.wire.endpoints.wallet import DESK_REDEEM, REDEEM, REDEMPTIONS

pytestmark = pytest.mark.slow

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
    monkeypatch.setattr(past_positions, "PAGE", 8)
    monkeypatch.setattr(world_room, "RESOLVED_KEPT", 5)


@dataclass
class Story:
    """An agent that buys, sells, waits and redeems by chance, and what it told of its buys."""

    stage: Stage
    line: Line
    draw: random.Random
    bought: dict[str, set[tuple[str, str]]] = field(default_factory=dict)
    count: int = 0
    kept: set[str] = field(default_factory=set)
    ends_at: float = 0.0

    async def step(self) -> None:
        await self.draw.choice([self.buy, self.buy, self.buy, self.sell, self.sell, self.redeem])()

    def _market(self, venue: Venue) -> Market | None:
        world = self.stage.world
        found = [
            one
            for one in self.stage.open_markets()
            if venue in {Venue.SIM, one.listing.home}
            and one.market_id not in self.kept
            and world.world_at + 30 < one.listing.resolves_at < world.world_at + SOON_S
        ]
        return self.draw.choice(found) if found else None

    async def buy(self) -> None:
        venue = self.draw.choice(list(Venue))
        market = self._market(venue)
        if market is not None:
            side, amount = self.draw.choice(["yes", "no"]), self.draw.randrange(500, 3_000) / 100
            await self._bought(venue, market, side, amount)

    async def _bought(self, venue: Venue, market: Market, side: str, amount: float) -> bool:
        self.count += 1
        tag = f"sdk:buy-{self.count:04d}"
        order = {
            "market_id": market.market_id,
            "side": side,
            "amount": amount,
            "venue": venue.value,
            "source": tag,
        }
        done = await self.line.said(PLACE_TRADE, json=order)
        if done["success"] and done["shares_bought"]:
            self.bought.setdefault(tag, set()).add((venue.value, market.market_id))
        return bool(done["success"] and done["shares_bought"])

    async def keep_pairs(self) -> None:
        """Hold both sides of a market on each venue to its end: one wins, the other loses."""
        for venue in Venue:
            for market in self._soonest(venue):
                if all([await self._bought(venue, market, side, 8) for side in ("yes", "no")]):
                    break
            path = {"market_id": market.market_id}
            for side in ("yes", "no"):
                await self.line.said(DELETE_MONITOR, path=path, side=side, venue=venue.value)
            self.kept.add(market.market_id)
            self.ends_at = max(self.ends_at, market.listing.resolved_at)

    async def stop_out(self) -> None:
        """Sell by hand on each venue, and have a monitor sell there.

        The price that was paid lies above the price of either side.
        """
        for venue in Venue:
            for market in self._soonest(venue):
                if await self._bought(venue, market, "yes", 9):
                    break
            await self._bought(venue, market, "no", 11)
            order = {"market_id": market.market_id, "side": "no", "venue": venue.value}
            sale = {"action": "sell", "shares": 9, "order_type": "FAK"}
            await self.line.said(PLACE_TRADE, json=order | sale)
            wanted = {"side": "yes", "venue": venue.value, "stop_loss_pct": 1e-6}
            await self.line.said(SET_MONITOR, path={"market_id": market.market_id}, json=wanted)

    def _soonest(self, venue: Venue) -> list[Market]:
        found = [
            one
            for one in self.stage.open_markets()
            if venue in {Venue.SIM, one.listing.home}
            and one.market_id not in self.kept
            and one.listing.resolves_at > self.stage.world.world_at + 300
            and 0.3 < one.price() < 0.7
        ]
        return sorted(found, key=lambda one: one.listing.resolves_at)

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
        if row["market_id"] in self.kept:
            return
        order = {"market_id": row["market_id"], "side": side, "venue": row["venue"]}
        order |= {"action": "sell", "shares": part, "order_type": "FAK"}
        await self.line.said(PLACE_TRADE, json=order)

    async def redeem(self) -> None:
        rows = (await self.line.said(POSITIONS, venue="all", status="resolved"))["positions"]
        for row in [one for one in rows if one["redeemable"]][:1]:
            await self._redeemed(row)

    async def _redeemed(self, row: Row) -> None:
        asked = {"market_id": row["market_id"], "side": row["redeemable_side"]}
        if row["venue"] == Venue.EVM.value:
            await self.line.said(REDEEM, json=asked)
        else:
            # By hand, on the venue's own page.
            path = {"agent_id": self.stage.agent_id}
            await Line(self.stage, OPERATOR).said(DESK_REDEEM, path=path, json=asked)

    async def redeem_all(self) -> None:
        """Take every payout that waits; one of a market that is not final yet waits on."""
        rows = (await self.line.said(POSITIONS, venue="all", status="resolved"))["positions"]
        for row in rows:
            if row["redeemable"]:
                await self._redeemed(row)

    async def told(self) -> Counter[tuple[str, str]]:
        """What happened in the story: how often, on which venue."""
        found: Counter[tuple[str, str]] = Counter()
        for venue in Venue:
            past = (await self.line.said(TRADES, venue=venue.value, limit=200))["trades"]
            rows = await self.line.said(POSITIONS, venue=venue.value, status="all")
            for row in past:
                is_exit = (row["source"] or "").startswith("risk:")
                found[venue.value, "exit" if is_exit else row["action"]] += row["shares"] > 0
            for row in rows["positions"]:
                found[venue.value, "sold"] += row["status"] == "sold"
                if row["outcome"] is not None:
                    # A market of which both sides were held to its end has one row.
                    won, lost = (row["outcome"], not row["outcome"])
                    found[venue.value, "won"] += row["shares_yes" if won else "shares_no"] > 0
                    found[venue.value, "lost"] += row["shares_yes" if lost else "shares_no"] > 0
        return found

    async def wait(self, seconds: float) -> None:
        """Cross a silence: what is due resolves, and is paid."""
        world_store = self.stage.sim.service.world_store
        self.stage.clock.set(self.stage.clock.now() + seconds)
        await world_store.advance(self.stage.clock.now())

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
            paid = [
                micros(row["cost"]) for row in past if row["action"] == "redeem" and row["cost"]
            ]
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
        assert self.stage.sim.service.source_sums.seq == self.stage.sim.service.world_store.seq
        for venue in Venue:
            past = (await self.line.said(TRADES, venue=venue.value, limit=200))["trades"]
            count = sum(row["action"] != "redeem" and row["shares"] > 0 for row in past)
            assert told[venue.value]["trades_count"] == count


@examples(2, phases=[Phase.explicit, Phase.generate])
@given(seed=st.integers(0, 2**32), redeems=st.booleans())
def test_rows_of_every_venue_add_up_to_what_was_made(seed: int, redeems: bool) -> None:  # noqa: FBT001
    with pytest.MonkeyPatch.context() as patch, TemporaryDirectory() as folder:
        remember_little(patch)
        found = asyncio.run(told_of(Path(folder), seed, redeems=redeems))
    for venue in Venue:
        for event in ("buy", "sell", "exit", "won", "lost", "sold", "redeem"):
            assert found[venue.value, event] > 0, (venue, event)


async def told_of(path: Path, seed: int, *, redeems: bool) -> Counter[tuple[str, str]]:
    """Let a story happen and check it at every turn; what happened in it."""
    async with open_stage(path, speed=1) as stage:
        stage.sim.service.limits = False
        await change(stage, **RICH, auto_redeem_enabled=redeems)
        story = Story(stage, line_to(stage), random.Random(seed))
        await story.keep_pairs()
        for turn in range(4):
            for _ in range(14):
                await story.step()
                await story.wait(7)
            if turn == 1:
                await story.stop_out()
                await story.wait(7)
            if turn % 2:
                await story.check()
            await story.wait(SOON_S)
            await story.check()
        await story.wait(max(HOUR_S, story.ends_at - stage.world.world_at) + HOUR_S)
        await story.redeem_all()
        await story.check()
        found = await story.told()
        # As an older program left them: without sources, which stand with the buys as well.
        closed = stage.agent.closed
        closed[:] = [replace(one, sources=None) for one in closed]
        await story.check()
    return found


async def test_sums_by_source_do_not_dip_while_a_commit_is_on_its_way(tmp_path: Path) -> None:
    async with open_stage(tmp_path, speed=1) as stage:
        world_store, past = stage.sim.service.world_store, stage.sim.service.source_sums
        line = line_to(stage)
        soon = sorted(stage.open_markets(), key=lambda one: one.listing.resolved_at)
        market = next(one for one in soon if one.listing.resolves_at > stage.world.world_at + 30)
        order = {"market_id": market.market_id, "side": "yes", "amount": 20, "source": "dip"}
        assert (await line.said(PLACE_TRADE, json=order))["success"]
        # Applied in memory, and not on disk: whoever asks now waits for the disk.
        stage.clock.set(stage.clock.now() + market.listing.resolved_at - stage.world.world_at + 1)
        events = advance(stage.world, stage.clock.now())
        assert not stage.agent.positions
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(world_store.commit(events))
            reading = tasks.create_task(by_source(world_store, past, stage.agent_id))
        (sums,) = reading.result().values()
        assert sums.realized == stage.agent.closed[0].realized
        assert (sums.trades, sums.positions, past.seq) == (1, 0, world_store.seq)
