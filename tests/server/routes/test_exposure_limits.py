"""The operator's limits on what all agents hold: a buy beyond one is refused, or warned about."""

from pathlib import Path
from typing import Any

import pytest

from kit.service.line import Line, change, line_to
from kit.service.stage import OPERATOR, Stage, open_stage
from kit.service.wallets import market_on_chain
from service_tui.terms import Venue
from service_tui.wire.endpoints.fleet import DESK_HOLDINGS, DESK_LIMITS, DESK_SET_LIMIT
from service_tui.wire.endpoints.public import PLACE_TRADE, REGISTER

pytestmark = pytest.mark.slow


async def another(stage: Stage) -> Line:
    born = await Line(stage, "").said(REGISTER, json={"name": "heron"})
    return Line(stage, born["api_key"])


async def limited(stage: Stage, code: int = 200, /, **body: object) -> dict[str, Any]:
    return await Line(stage, OPERATOR).said(
        DESK_SET_LIMIT, code, json={"venue": "sim", "cost_max": 10, **body}
    )


def buy(market_id: str, amount: float, **more: object) -> dict[str, object]:
    return {"market_id": market_id, "side": "yes", "amount": amount, **more}


async def test_all_agents_together_stay_within_the_limit_of_a_category(tmp_path: Path) -> None:
    async with open_stage(tmp_path, speed=0) as stage:
        line, heron = line_to(stage), await another(stage)
        market = stage.open_markets()[0]
        category = market.listing.category
        other = next(one for one in stage.open_markets() if one.listing.category is not category)
        await limited(stage, group="category", key=category.value)
        assert (await line.said(PLACE_TRADE, json=buy(market.market_id, 6)))["success"]
        no = await heron.said(PLACE_TRADE, json=buy(market.market_id, 5))
        assert (no["success"], no["error_code"]) == (False, "EXPOSURE_LIMIT")
        assert f"limit of 10.00 $SIM in {category.value}" in no["error"]
        assert no["fix"]
        assert (await heron.said(PLACE_TRADE, json=buy(other.market_id, 5)))["success"]
        assert (await heron.said(PLACE_TRADE, json=buy(market.market_id, 4)))["success"]
        (told,) = (await Line(stage, OPERATOR).said(DESK_LIMITS))["limits"]
        assert (told["used"], told["cost_max"], told["refuses"]) == (10.0, 10.0, True)
        # Selling is never bound, and makes room.
        held = (await Line(stage, OPERATOR).said(DESK_HOLDINGS))["holdings"]
        own = next(
            one
            for one in held
            if one["agent_name"] == "heron" and one["market_id"] == market.market_id
        )
        sale = {"market_id": market.market_id, "side": "yes", "action": "sell"}
        sold = await heron.said(PLACE_TRADE, json=sale | {"shares": own["shares"]})
        assert sold["success"]
        assert (await heron.said(PLACE_TRADE, json=buy(market.market_id, 4)))["success"]


async def test_a_limit_that_warns_refuses_nothing(tmp_path: Path) -> None:
    async with open_stage(tmp_path, speed=0) as stage:
        line, market = line_to(stage), stage.open_markets()[0]
        await limited(stage, group="agent", key=stage.agent_id, refuses=False)
        quoted = await line.said(PLACE_TRADE, json=buy(market.market_id, 12, dry_run=True))
        bought = await line.said(PLACE_TRADE, json=buy(market.market_id, 12))
        assert bought["success"]
        for one in (quoted, bought):
            assert any("beyond the operator's limit of 10.00 $SIM" in w for w in one["warnings"])
        # Of another agent it says nothing.
        other = await (await another(stage)).said(PLACE_TRADE, json=buy(market.market_id, 12))
        assert not any("limit" in w for w in other["warnings"])


async def test_a_limit_outlives_the_service_and_is_taken_off(tmp_path: Path) -> None:
    async with open_stage(tmp_path, speed=0, ends_with_snapshot=True) as stage:
        market_id = stage.open_markets()[0].market_id
        await limited(stage, group="event", key=market_id)
        await limited(stage, group="agent", key=stage.agent_id, cost_max=7, refuses=False)
        key, agent_id = stage.key, stage.agent_id
        before = (await Line(stage, OPERATOR).said(DESK_LIMITS))["limits"]
    for _ in range(2):
        async with open_stage(tmp_path, speed=0, key=key, agent_id=agent_id) as stage:
            assert (await Line(stage, OPERATOR).said(DESK_LIMITS))["limits"] == before
            no = await line_to(stage).said(PLACE_TRADE, json=buy(market_id, 11))
            assert no["error_code"] == "EXPOSURE_LIMIT"
    async with open_stage(tmp_path, speed=0, key=key, agent_id=agent_id) as stage:
        left = await limited(stage, group="event", key=market_id, cost_max=None)
        assert [one["group"] for one in left["limits"]] == ["agent"]
        assert (await line_to(stage).said(PLACE_TRADE, json=buy(market_id, 11)))["success"]


async def test_on_a_real_venue_orders_that_rest_count(tmp_path: Path) -> None:
    async with open_stage(tmp_path, speed=0) as stage:
        line, market = line_to(stage), market_on_chain(stage)
        await change(stage, claimed=True, real_trading_enabled=True)
        await limited(stage, group="event", key=market.market_id, venue=Venue.EVM.value)
        resting = {"venue": "evm_venue", "order_type": "GTC", "price": 0.05}
        rests = await line.said(PLACE_TRADE, json=buy(market.market_id, 6, **resting))
        assert rests["success"], rests
        no = await line.said(PLACE_TRADE, json=buy(market.market_id, 6, **resting))
        assert no["error_code"] == "EXPOSURE_LIMIT"
        assert "USDC.e" in no["error"]
        # Play money has limits of its own.
        assert (await line.said(PLACE_TRADE, json=buy(market.market_id, 50)))["success"]


@pytest.mark.parametrize(
    ("body", "code"),
    [
        ({"group": "category", "key": "wheather"}, 422),
        ({"group": "agent", "key": "nobody"}, 422),
        ({"group": "agent", "key": ""}, 422),
        ({"group": "category", "key": "weather", "cost_max": 0}, 422),
        ({"group": "category", "key": "weather", "cost_max": 1.0000001}, 422),
        ({"group": "planet", "key": "weather"}, 422),
    ],
)
async def test_a_limit_that_would_bind_nothing_is_refused(
    tmp_path: Path, body: dict[str, object], code: int
) -> None:
    async with open_stage(tmp_path, speed=0) as stage:
        await limited(stage, code, **body)
        assert (await Line(stage, OPERATOR).said(DESK_LIMITS))["limits"] == []
