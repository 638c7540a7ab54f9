"""Requests to trade that carry nothing out, and notes of a trade that say nothing that counts."""

from pathlib import Path
from typing import Final

import pytest

from kit.service.line import change, line_to
from kit.service.stage import open_stage
from service_tui.engine.events import LeashSet
from service_tui.terms import LeashMode, Venue
from service_tui.units import Micros
from service_tui.wire.endpoints.public import PLACE_TRADE, POSITIONS, TRADES


@pytest.mark.slow
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


@pytest.mark.parametrize("home", [Venue.SIM, Venue.EVM])
async def test_order_params_without_a_venue_are_those_of_the_venue_that_trades_the_market(
    tmp_path: Path, home: Venue
) -> None:
    async with open_stage(tmp_path, speed=0) as stage:
        line = line_to(stage)
        await change(stage, claimed=True, real_trading_enabled=True)
        found = next(one for one in stage.open_markets() if one.listing.home is home)
        order = {"market_id": found.market_id, "side": "yes", "amount": 10, "execute": True}
        said = await line.said(PLACE_TRADE, json=order)
        assert (said["success"], said["platform"]) == (True, home.value)
        has_ids = all(said["order_params"][name] for name in ("token_id", "condition_id"))
        assert has_ids is (home is Venue.EVM)
        # Without `execute` an order that names no venue is for play money, as ever.
        del order["execute"]
        await line.said(PLACE_TRADE, json=order)
        assert (await line.said(TRADES, venue="sim"))["total_count"] == 1


WRONG_SIGNALS: Final[tuple[tuple[dict[str, object], str], ...]] = (
    ({"confidence": 1.5}, "confidence"),
    ({"confidence": -0.1}, "confidence"),
    ({"confidence": "high"}, "confidence"),
    ({"edge": "x"}, "edge"),
    ({"signal_source": 3}, "signal_source"),
    ({"edge": None}, "edge"),
    ({"edge": [1]}, "edge"),
    ({"confidence": True}, "confidence"),
    ({"other": {"a": 1}}, "other"),
    ({"other": None}, "other"),
)


@pytest.mark.slow
async def test_signal_data_of_another_kind_is_refused_by_name(tmp_path: Path) -> None:
    async with open_stage(tmp_path, speed=0) as stage:
        line, market = line_to(stage), stage.open_markets()[0]
        order = {"market_id": market.market_id, "side": "yes", "amount": 1}
        for data, name in WRONG_SIGNALS:
            said = await line.said(PLACE_TRADE, 422, json=order | {"signal_data": data})
            assert f"signal_data.{name} has to be a " in said["fix"]
            assert len(said["detail"]) == 1
        fine = {"confidence": 1, "edge": -0.2, "signal_source": "news", "other": "x"}
        assert (await line.said(PLACE_TRADE, json=order | {"signal_data": fine}))["success"]


@pytest.mark.slow
async def test_neither_form_of_a_quote_waits_for_the_operator(tmp_path: Path) -> None:
    async with open_stage(tmp_path, speed=0) as stage:
        leash = LeashSet(stage.agent_id, stage.clock.now(), "", LeashMode.ASK, Micros(0), None, 60)
        stage.world.note(leash)
        line, market = line_to(stage), stage.open_markets()[0]
        order = {"market_id": market.market_id, "side": "yes", "amount": 1, "venue": "sim"}
        for name in ("dry_run", "execute"):
            said = await line.said(PLACE_TRADE, json=order | {name: True})
            assert (said["success"], said["status"]) != (True, "submitted")
            assert said["success"]
        assert not stage.world.pending_trades.waiting
        await change(stage, trading_paused=True)
        assert (await line.said(PLACE_TRADE, json=order | {"dry_run": True}))["success"]
        assert stage.agent.trades_count == 0


IMPOSSIBLE: Final[tuple[dict[str, object], ...]] = (
    {"action": "sell", "shares": 5},
    {"amount": 99_999},
    {"amount": 10, "expiration": 5},
    {"amount": 0.01},
)


@pytest.mark.slow
@pytest.mark.parametrize("venue", [Venue.SIM, Venue.EVM])
async def test_execute_refuses_what_the_order_itself_is_refused_for(
    venue: Venue, tmp_path: Path
) -> None:
    async with open_stage(tmp_path, speed=0) as stage:
        line = line_to(stage)
        found = next(one for one in stage.open_markets() if one.listing.home is venue)
        place = {"market_id": found.market_id, "side": "yes", "venue": venue.value}

        async def refusals(**order: object) -> tuple[object, object]:
            kept = ("success", "error", "error_code", "fix")
            told = [
                await line.said(PLACE_TRADE, 200, json=place | order | {"execute": asks})
                for asks in (True, False)
            ]
            one, other = ([said[name] for name in kept] for said in told)
            return one, other

        if venue is not Venue.SIM:
            for asks in (True, False):
                order = place | {"amount": 10, "execute": asks}
                assert "claim" in str(await line.said(PLACE_TRADE, 403, json=order))
            await change(stage, claimed=True)
            one, other = await refusals(amount=10)
            assert one == other
            assert "real trading" in str(one)
        await change(stage, claimed=True, real_trading_enabled=True)
        for order in IMPOSSIBLE:
            one, other = await refusals(**order)
            if other[0] is False:
                assert one == other, order
        await change(stage, trading_paused=True)
        one, other = await refusals(amount=10)
        assert one == other
        assert one[0] is False
        assert stage.agent.trades_count <= 2


@pytest.mark.slow
async def test_a_sale_that_takes_a_remainder_along_says_so(tmp_path: Path) -> None:
    async with open_stage(tmp_path, speed=0) as stage:
        line = line_to(stage)
        await change(stage, claimed=True, real_trading_enabled=True)
        found = next(one for one in stage.open_markets() if one.listing.home is Venue.EVM)
        place = {"market_id": found.market_id, "side": "yes", "venue": "evm_venue"}
        bought = await line.said(PLACE_TRADE, json=place | {"amount": 10})
        shares = bought["shares_bought"]
        assert shares > 6
        sale = place | {"action": "sell", "shares": round(shares - 0.5, 5), "order_type": "GTC"}
        for also in ({"dry_run": True}, {}):
            said = await line.said(PLACE_TRADE, json=sale | also)
            assert said["shares_requested"] == shares
            assert any("0.5 shares" in one and "too few" in one for one in said["warnings"])
