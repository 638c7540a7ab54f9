"""A position that is sold whole stays in the book of what was closed."""

from pathlib import Path

import pytest

from kit.service.line import Line
from kit.service.stage import open_stage
from service_tui.terms import Venue
from service_tui.wire.endpoints.public import PLACE_TRADE, PORTFOLIO, POSITIONS

pytestmark = pytest.mark.slow


async def test_a_position_sold_whole_is_listed_as_sold(tmp_path: Path) -> None:
    async with open_stage(tmp_path, speed=0) as stage:
        own = Line(stage, stage.key)
        order = {"market_id": stage.open_markets()[0].market_id, "side": "yes"}
        bought = (await own.ask(PLACE_TRADE, json={**order, "amount": 20})).json()
        sale = {**order, "action": "sell", "shares": bought["shares_bought"]}
        sold = (await own.ask(PLACE_TRADE, json=sale)).json()
        assert (await own.ask(POSITIONS)).json()["positions"] == []
        (row,) = (await own.ask(POSITIONS, status="closed")).json()["positions"]
        assert (row["status"], row["outcome"]) == ("sold", None)
        assert row["realized_pnl"] == pytest.approx(sold["cost"] - 20)
        assert (await own.ask(POSITIONS, status="resolved")).json()["positions"] == []


async def test_a_position_sold_whole_on_a_venue_is_listed_as_sold(tmp_path: Path) -> None:
    async with open_stage(tmp_path, speed=0) as stage:
        changes = {"claimed": True, "real_trading_enabled": True}
        world_store = stage.sim.service.world_store
        await world_store.commit(stage.world.change(stage.agent, changes, stage.clock.now()))
        own = Line(stage, stage.key)
        market = next(one for one in stage.open_markets() if one.listing.home is Venue.EVM)
        order = {"market_id": market.market_id, "side": "yes", "venue": "evm_venue"}
        assert (await own.ask(PORTFOLIO)).json()["evm_venue"]["trades_count"] == 0
        bought = (await own.ask(PLACE_TRADE, json={**order, "amount": 9})).json()
        assert (await own.ask(POSITIONS, status="closed")).json()["positions"] == []
        sale = {**order, "action": "sell", "shares": bought["shares_bought"], "order_type": "FAK"}
        sold = (await own.ask(PLACE_TRADE, json=sale)).json()
        assert sold["shares_sold"] == bought["shares_bought"]
        for status in ("active", "resolved"):
            assert (await own.ask(POSITIONS, status=status)).json()["positions"] == []
        (row,) = (await own.ask(POSITIONS, status="all", venue="all")).json()["positions"]
        assert (row["status"], row["outcome"], row["venue"]) == ("sold", None, "evm_venue")
        (side,) = row["sides"]
        made = sold["cost"] - sold["fee"] - bought["cost"] - bought["fee"]
        assert row["realized_pnl"] == side["realized_pnl"] == pytest.approx(made, abs=1e-5)
        assert made < 0
        assert (await own.ask(PORTFOLIO)).json()["evm_venue"]["trades_count"] == 2
