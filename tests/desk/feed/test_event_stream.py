"""Trades that come in a burst: all are told, and the state changes few times."""

from collections.abc import AsyncGenerator
from pathlib import Path

from kit.service.stage import Stage, open_stage, open_test_desk, until
from service_tui.desk.feed.event_stream import FILLS_EVERY_S, REFRESH_EVERY_S, _of_resolution
from service_tui.desk.slices.records import Topic
from service_tui.desk.state import DeskState
from service_tui.terms import Side
from service_tui.wire.endpoints.desk import SET_SPEED
from service_tui.wire.endpoints.public import PLACE_TRADE
from service_tui.wire.events import EventBody, MarketPart
from service_tui.wire.trades import TradeRequest
from service_tui.wire.world import SpeedRequest

BURST = 20


async def buy(stage: Stage, market_id: str) -> None:
    request = TradeRequest(market_id=market_id, side=Side.YES, amount=1.0)
    assert (await stage.client.call(PLACE_TRADE, body=request)).answer.success


def test_a_resolution_touches_the_queue_of_who_holds_the_market_on_a_real_venue() -> None:
    market = MarketPart(market_id="m", question="Q", outcome=True)
    nobody = _of_resolution(market, "heron", is_held=False)
    assert nobody == {Topic.MARKETS, Topic.DETAIL}
    held = _of_resolution(market, "heron", is_held=True)
    assert held >= {Topic.REDEMPTIONS, Topic.POSITIONS, Topic.ACCOUNT}


async def test_a_change_of_speed_renews_all_that_is_marked_at_prices(tmp_path: Path) -> None:
    async with open_stage(tmp_path, speed=60) as stage:

        async def listen(after: int | None) -> AsyncGenerator[EventBody]:
            async with stage.sim.service.subscribe(after) as events:
                async for body in events:
                    yield body

        async with open_test_desk(stage, listen=listen) as desk:
            await until(desk, lambda now: now.listening and now.fleet is not None, stage.clock)
            await stage.clock.advance(1.0)
            before = desk.state.seen
            await stage.client.call(SET_SPEED, body=SpeedRequest(speed=0))
            at = stage.clock.now()
            await stage.clock.advance(REFRESH_EVERY_S)
            # Long before the next poll of the slowest of them.
            marked = {Topic.AGENTS, Topic.POSITIONS, Topic.ACCOUNT, Topic.MONITORS, Topic.MARKETS}
            await until(desk, lambda now: all(now.seen[one] >= at for one in marked), stage.clock)
            assert stage.clock.now() - at < 2
            assert all(before[one] < at for one in marked)


async def test_a_burst_of_trades_is_told_together_and_whole(tmp_path: Path) -> None:
    async with open_stage(tmp_path, speed=0) as stage:

        async def listen(after: int | None) -> AsyncGenerator[EventBody]:
            async with stage.sim.service.subscribe(after) as events:
                async for body in events:
                    yield body

        async with open_test_desk(stage, listen=listen) as desk:
            market_id = stage.open_markets()[0].market_id
            await until(desk, lambda now: now.listening and market_id in now.markets, stage.clock)
            await stage.clock.advance(1.0)
            seen: list[tuple[int, ...]] = []

            def note(state: DeskState) -> bool:
                told = tuple(fill.seq for fill in state.fills)
                if not seen or seen[-1] != told:
                    seen.append(told)
                return len(told) == BURST

            for _ in range(BURST):
                await buy(stage, market_id)
                note(desk.state)
            await stage.clock.advance(FILLS_EVERY_S)
            state = await until(desk, note, stage.clock)
            assert len(seen) <= 4
            assert [fill.seq for fill in state.fills] == sorted(seen[-1], reverse=True)
            price = stage.world.markets[market_id].price()
            assert abs(state.markets[market_id].price - price) < 1e-9
