"""What exports and reports are made of: all that an agent traded and held in its whole life."""

import json
import random
from pathlib import Path

import pytest

from kit.service.stage import Stage, first_state, open_stage
from service_tui.desk.audit.exports import files_of
from service_tui.desk.audit.report import day_reports
from service_tui.desk.ports import DeskContext
from service_tui.desk.positions import pages as position_pages
from service_tui.desk.single_read import read_once
from service_tui.desk.slices.topics import Topic
from service_tui.desk.wanted import WHOLE, Wanted
from service_tui.engine import world as world_room
from service_tui.engine.amm.exchange import Order
from service_tui.engine.events import Event
from service_tui.terms import Action, Side
from service_tui.units import ONE, Micros

COUNT = 1_010


async def trade_often(stage: Stage) -> None:
    """Buy in a few markets again and again, then let all of them end."""
    soon = sorted(stage.open_markets(), key=lambda one: one.listing.resolved_at)
    markets = [one for one in soon if one.listing.resolves_at > stage.world.world_at + 60][:6]
    events: list[Event] = []
    for number in range(COUNT):
        market = markets[number % len(markets)]
        order = Order(stage.agent, market.market_id, Side.YES, Action.BUY, Micros(ONE))
        events.append(stage.world.place(order._replace(unlimited=True), stage.clock.now()))
    world_store = stage.sim.service.world_store
    await world_store.commit(events)
    stage.clock.set(stage.clock.now() + markets[-1].listing.resolved_at - stage.world.world_at + 1)
    await world_store.advance(stage.clock.now())


@pytest.mark.slow
async def test_no_trade_and_no_position_of_a_long_life_is_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(world_room, "CLOSED_KEPT", 2)
    monkeypatch.setattr(position_pages, "PAGE", 2)
    monkeypatch.setattr(position_pages, "ENDED_KEPT", 2)
    monkeypatch.setattr(position_pages, "FIRST_PAGES", 1)
    async with open_stage(tmp_path, speed=1) as stage:
        await trade_often(stage)
        around = DeskContext(
            stage.client, stage.database, stage.clock, lambda: "id", random.Random(1)
        )
        topics = (Topic.MARKETS, Topic.POSITIONS, Topic.AGENTS, Topic.FLEET)
        state, pasts = await read_once(first_state(), around, Wanted(topics, WHOLE))
        now = stage.clock.now()
        files = files_of(state, now, pasts)
        trades = json.loads(files["trades.json"])
        assert len([one for one in trades if one["action"] == "buy"]) == COUNT
        positions = json.loads(files["positions.json"])
        assert len({one["market"] for one in positions}) == 6
        assert sum(one["realized"] for one in positions) == pytest.approx(
            stage.agent.realized / ONE, abs=1e-6
        )
        (day,) = [one for one in day_reports(state, now, pasts) if one.agent.name == "tester"]
        (money,) = [one for one in day.monies if one.buys]
        assert (money.buys, money.bought) == (COUNT, COUNT * ONE)
        assert money.realized == stage.agent.realized
