"""The endpoint of positions that resolve soon."""

from pathlib import Path

import pytest

from kit.service.line import line_to
from kit.service.stage import open_stage
from service_tui.terms import MarketStatus
from service_tui.wire.endpoints.public import EXPIRING, PLACE_TRADE, POSITIONS

pytestmark = pytest.mark.slow


async def test_positions_that_resolve_soon_come_with_a_countdown(tmp_path: Path) -> None:
    async with open_stage(tmp_path, speed=1) as stage:
        line = line_to(stage)
        assert (await line.said(EXPIRING))["positions"] == []
        markets = sorted(stage.open_markets(), key=lambda one: one.listing.resolves_at)
        chosen = [markets[0], markets[len(markets) // 2], markets[-1]]
        for market in chosen:
            order = {"market_id": market.market_id, "side": "no", "amount": 5}
            assert (await line.said(PLACE_TRADE, json=order))["success"]
        for hours in (1, 24, 168):
            said = await line.said(EXPIRING, hours=hours)
            left = {
                one.market_id: (one.listing.resolves_at - stage.world.world_at) / 3_600
                for one in chosen
            }
            wanted = [key for key, after in left.items() if after <= hours]
            assert [row["market_id"] for row in said["positions"]] == wanted
            assert (said["count"], said["hours"]) == (len(wanted), hours)
            for row in said["positions"]:
                assert row["hours_to_resolution"] == pytest.approx(left[row["market_id"]], abs=1e-3)
                assert row["time_to_resolution"]
        held = (await line.said(POSITIONS))["positions"]
        row = (await line.said(EXPIRING, hours=168))["positions"][0]
        assert set(row) - set(held[0]) == {"hours_to_resolution", "time_to_resolution"}
        assert row["sides"][0]["side"] == "no"


async def test_a_closed_market_counts_down_to_zero_and_a_resolved_one_is_gone(
    tmp_path: Path,
) -> None:
    async with open_stage(tmp_path, speed=1) as stage:
        line = line_to(stage)
        market = min(stage.open_markets(), key=lambda one: one.listing.resolves_at)
        order = {"market_id": market.market_id, "side": "yes", "amount": 5}
        await line.said(PLACE_TRADE, json=order)
        await line.wait(market.listing.resolves_at - stage.world.world_at + 0.1)
        assert market.status(stage.world.world_at) is MarketStatus.CLOSED
        (row,) = (await line.said(EXPIRING, hours=1))["positions"]
        assert (row["hours_to_resolution"], row["time_to_resolution"]) == (0, "0m")
        assert row["status"] == "closed"
        await line.wait(market.listing.resolved_at - stage.world.world_at + 1)
        assert (await line.said(EXPIRING, hours=168))["positions"] == []
