"""Stops of an agent, changed by the person who supervises it."""

from pathlib import Path

import pytest

from kit.service.line import Line, line_to
from kit.service.stage import OPERATOR, Stage, open_stage
from service_tui.wire.endpoints.fleet import (
    DESK_DELETE_MONITOR,
    DESK_HOLDINGS,
    DESK_SET_MONITOR,
)
from service_tui.wire.endpoints.public import MONITORS, PLACE_TRADE

pytestmark = pytest.mark.slow


async def bought(stage: Stage) -> str:
    market_id = stage.open_markets()[0].market_id
    order = {"market_id": market_id, "side": "yes", "amount": 10}
    assert (await line_to(stage).said(PLACE_TRADE, json=order))["success"]
    return market_id


async def test_an_operator_changes_and_removes_the_stop_of_an_agent(tmp_path: Path) -> None:
    async with open_stage(tmp_path, speed=0) as stage:
        line, operator = line_to(stage), Line(stage, OPERATOR)
        market_id = await bought(stage)
        path = {"agent_id": stage.agent_id, "market_id": market_id}
        told = await operator.said(
            DESK_SET_MONITOR, path=path, json={"side": "yes", "stop_loss_pct": 0.4}
        )
        (held,) = (await operator.said(DESK_HOLDINGS))["holdings"]
        assert held["stop_price"] == pytest.approx(told["stop_price"])
        (own,) = (await line.said(MONITORS))["monitors"]
        assert (own["stop_loss_pct"], own["automatic"]) == (0.4, False)
        # What is not sent stays.
        await operator.said(
            DESK_SET_MONITOR, path=path, json={"side": "yes", "take_profit_pct": 0.5}
        )
        (own,) = (await line.said(MONITORS))["monitors"]
        assert (own["stop_loss_pct"], own["take_profit_pct"]) == (0.4, 0.5)
        await operator.said(DESK_DELETE_MONITOR, path=path, side="yes")
        assert not (await line.said(MONITORS))["monitors"]


async def test_a_stop_of_nobody_or_of_nothing_held_is_refused(tmp_path: Path) -> None:
    async with open_stage(tmp_path, speed=0) as stage:
        operator, market_id = Line(stage, OPERATOR), await bought(stage)
        body = {"side": "yes", "stop_loss_pct": 0.4}
        for path in (
            {"agent_id": "nobody", "market_id": market_id},
            {"agent_id": stage.agent_id, "market_id": stage.open_markets()[1].market_id},
        ):
            await operator.said(DESK_SET_MONITOR, 404, path=path, json=body)
        # An agent's own key opens no door to the stops of others.
        path = {"agent_id": stage.agent_id, "market_id": market_id}
        await line_to(stage).said(DESK_SET_MONITOR, 401, path=path, json=body)
