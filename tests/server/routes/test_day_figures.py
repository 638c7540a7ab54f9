"""What was gained today, and in the last 24 hours, over a midnight of the service's clock."""

from pathlib import Path
from typing import Any

import pytest

from kit.service.line import Line, line_to
from kit.service.stage import OPERATOR, open_stage
from service_tui.clock import ManualClock
from service_tui.units import Timestamp
from service_tui.wire.endpoints.desk import DESK_AGENTS, SET_SPEED
from service_tui.wire.endpoints.public import PLACE_TRADE, PORTFOLIO, POSITIONS

DAY_S = 86_400.0


async def day_of(line: Line) -> tuple[dict[str, Any], dict[str, Any]]:
    """The portfolio, and the row of the agent in the fleet."""
    (row,) = (await Line(line.stage, OPERATOR).said(DESK_AGENTS))["agents"]
    return await line.said(PORTFOLIO), row


async def test_a_buy_in_a_thin_market_is_no_gain_of_the_day(tmp_path: Path) -> None:
    async with open_stage(tmp_path, speed=0) as stage:
        line = line_to(stage)
        thin = min(
            (one for one in stage.open_markets() if 0.2 < one.price() < 0.8), key=lambda one: one.b
        )
        order = {"market_id": thin.market_id, "side": "yes", "amount": 150}
        assert (await line.said(PLACE_TRADE, json=order))["success"]
        portfolio, row = await day_of(line)
        # By the mark its own price impact is a gain; selling returns what was paid.
        assert portfolio["pnl_total"] == row["pnl_total"] > 1
        assert row["equity"] - row["exit_equity"] == pytest.approx(row["pnl_total"], abs=1e-4)
        for gained in (row["pnl_today"], portfolio["pnl_today"]):
            assert gained == pytest.approx(0, abs=1e-4)
        assert portfolio["exit_equity"] == row["exit_equity"]
        assert portfolio["pnl_24h"] == portfolio["pnl_total"]


@pytest.mark.parametrize("speed", [0, 1])
async def test_today_begins_at_midnight_and_24_hours_do_not(tmp_path: Path, speed: int) -> None:
    clock = ManualClock()
    midnight = (clock.now() // DAY_S + 1) * DAY_S
    await clock.advance(midnight - clock.now() - 600)
    async with open_stage(tmp_path, clock, speed=0) as stage:
        line = line_to(stage)
        last = max(stage.open_markets(), key=lambda one: one.listing.resolves_at)
        order = {"market_id": last.market_id, "side": "yes", "amount": 100}
        assert (await line.said(PLACE_TRADE, json=order))["success"]
        bought, row = await day_of(line)
        assert row["pnl_today"] == pytest.approx(0, abs=1e-4)
        start = row["exit_equity"]
        if speed:
            await Line(stage, OPERATOR).said(SET_SPEED, json={"speed": speed})
        await line.wait(540)
        _, before = await day_of(line)
        await Line(stage, OPERATOR).said(SET_SPEED, json={"speed": 0})
        await line.wait(120)
        portfolio, after = await day_of(line)
        assert Timestamp(clock.now()) > midnight
        assert before["pnl_today"] == pytest.approx(before["exit_equity"] - start, abs=1e-4)
        assert after["pnl_today"] == pytest.approx(
            after["exit_equity"] - before["exit_equity"], abs=1e-4
        )
        # The agent is younger than a day: all its P&L is of the last 24 hours.
        assert portfolio["pnl_24h"] == pytest.approx(portfolio["pnl_total"], abs=1e-6)
        await line.wait(DAY_S, 3_600)
        portfolio, row = await day_of(line)
        # The world has stood still since: neither the last 24 hours nor today moved anything.
        assert (portfolio["pnl_24h"], row["pnl_today"]) == (0, 0)
        assert portfolio["pnl_total"] != 0
        assert bought["pnl_total"] != 0


async def test_the_loss_of_a_first_trade_counts_for_an_agent_older_than_a_day(
    tmp_path: Path,
) -> None:
    async with open_stage(tmp_path, ManualClock(), speed=0) as stage:
        line = line_to(stage)
        await line.wait(30 * 3_600, 3_600)
        last = max(stage.open_markets(), key=lambda one: one.listing.resolves_at)
        for side in ("yes", "no"):
            order = {"market_id": last.market_id, "side": side, "amount": 200}
            assert (await line.said(PLACE_TRADE, json=order))["success"]
        for _ in range(3):
            portfolio, _ = await day_of(line)
            assert portfolio["pnl_24h"] == pytest.approx(portfolio["pnl_total"], abs=1e-6)
            assert portfolio["pnl_24h"] != 0
            await line.wait(70)


async def test_both_sides_of_a_market_are_worth_what_selling_them_brings(tmp_path: Path) -> None:
    async with open_stage(tmp_path, speed=0) as stage:
        line = line_to(stage)
        thin = min(
            (one for one in stage.open_markets() if 0.3 < one.price() < 0.7), key=lambda one: one.b
        )
        for side, amount in (("yes", 400), ("no", 350)):
            order = {"market_id": thin.market_id, "side": side, "amount": amount}
            assert (await line.said(PLACE_TRADE, json=order))["success"]
        _, before = await day_of(line)
        (row,) = (await line.said(POSITIONS))["positions"]
        for side in ("yes", "no"):
            sale = {"action": "sell", "side": side, "shares": row[f"shares_{side}"]}
            assert (await line.said(PLACE_TRADE, json={**sale, "market_id": thin.market_id}))[
                "success"
            ]
        _, after = await day_of(line)
        # A pair brings 1 in whatever turn: what was promised came, but for the rounding of a sale.
        assert after["cash"] == pytest.approx(before["exit_equity"], abs=1e-4)
