"""Requests to trade that carry nothing out, and notes of a trade that say nothing that counts."""

from pathlib import Path
from typing import Final

import pytest

from kit.service.line import change, line_to
from kit.service.stage import open_stage
from service_tui.terms import Venue
from service_tui.wire.endpoints import PLACE_TRADE, POSITIONS, TRADES


async def test_the_deprecated_execute_answers_order_params_and_trades_nothing(
    tmp_path: Path,
) -> None:
    async with open_stage(tmp_path, speed=0) as stage:
        line = line_to(stage)
        await change(stage, claimed=True, real_trading_enabled=True)
        cash = stage.world.cash(stage.agent)
        names: set[str] = set()
        for venue in (Venue.SIM, Venue.EVM):
            found = next(one for one in stage.open_markets() if one.listing.home is venue)
            order = {"market_id": found.market_id, "side": "yes", "amount": 10}
            order |= {"venue": venue.value, "execute": True}
            said = await line.said(PLACE_TRADE, json=order)
            assert (said["success"], said["trade_id"], said["cost"]) == (True, None, 0)
            assert (said["shares_bought"], said["platform"]) == (0, venue.value)
            params = said["order_params"]
            assert params["side"] == "BUY"
            assert 0 < params["price"] < 1
            assert params["size"] > 0
            assert (params["token_id"] is None) == (venue is Venue.SIM)
            assert (params["condition_id"] is None) == (venue is Venue.SIM)
            names.add(said["intent_id"])
            # Without it, the same order is carried out.
            assert (await line.said(POSITIONS, status="all"))["positions"] == []
        assert len(names) == 2
        assert stage.world.cash(stage.agent) == cash
        assert (await line.said(TRADES))["total_count"] == 0
        no = await line.said(PLACE_TRADE, json=order | {"amount": 0.01})
        assert (no["success"], no["order_params"]) == (False, None)
        said = await line.said(PLACE_TRADE, json=order | {"execute": False})
        assert said["trade_id"]


WRONG_SIGNALS: Final[tuple[tuple[dict[str, object], str], ...]] = (
    ({"confidence": 1.5}, "confidence"),
    ({"confidence": -0.1}, "confidence"),
    ({"confidence": "high"}, "confidence"),
    ({"edge": "x"}, "edge"),
    ({"signal_source": 3}, "signal_source"),
)


async def test_signal_data_of_another_kind_is_refused_by_name(tmp_path: Path) -> None:
    async with open_stage(tmp_path, speed=0) as stage:
        line, market = line_to(stage), stage.open_markets()[0]
        order = {"market_id": market.market_id, "side": "yes", "amount": 1}
        for data, name in WRONG_SIGNALS:
            said = await line.said(PLACE_TRADE, 422, json=order | {"signal_data": data})
            assert f"signal_data.{name}" in said["fix"]
        fine = {"confidence": 1, "edge": -0.2, "signal_source": "news", "other": "x"}
        assert (await line.said(PLACE_TRADE, json=order | {"signal_data": fine}))["success"]


@pytest.mark.parametrize("name", ["dry_run", "execute"])
async def test_neither_form_of_a_quote_waits_for_the_operator(tmp_path: Path, name: str) -> None:
    async with open_stage(tmp_path, speed=0) as stage:
        await change(stage, trading_paused=True)
        line, market = line_to(stage), stage.open_markets()[0]
        order = {"market_id": market.market_id, "side": "yes", "amount": 1, name: True}
        assert (await line.said(PLACE_TRADE, json=order))["success"]
        assert stage.agent.trades_count == 0
