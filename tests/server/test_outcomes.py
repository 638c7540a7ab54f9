import random
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from line import line_to
from service_tui.engine.events import Fill, Note, Payout
from service_tui.engine.position import Position
from service_tui.server.history import Paid
from service_tui.server.outcomes import closings_of
from service_tui.terms import Action, Side
from service_tui.units import ONE, Micros, Timestamp
from service_tui.wire.endpoints import OUTCOMES, PLACE_TRADE, TRADES
from support import open_stage

START = Timestamp(1_800_000_000.0)


def past_of(seed: int, skills: tuple[str, ...]) -> tuple[list[Fill | Paid], Position]:
    """A random life of one side of one market, and the position that it makes."""
    rng = random.Random(seed)
    position = Position("a", "m")
    past: list[Fill | Paid] = []
    for count in range(rng.randrange(1, 40)):
        at = Timestamp(START + count)
        note = Note(skill_slug=rng.choice(skills))
        held = position.yes.shares
        if held and rng.random() < 0.4:
            shares = Micros(held if rng.random() < 0.2 else rng.randrange(1, held + 1))
            money = Micros(rng.randrange(1, shares + 2))
            realized = position.sell(Side.YES, shares, money)
            action = Action.SELL
        else:
            shares, money = Micros(rng.randrange(1, 90 * ONE)), Micros(rng.randrange(1, 50 * ONE))
            position.buy(Side.YES, shares, money, at)
            realized, action = Micros(0), Action.BUY
        past.append(
            Fill(
                f"t{count}", "a", "m", Side.YES, action, shares, money, 0.5, 0.5, at, at, realized,
                note,
            )
        )  # fmt: skip
    shares = position.yes.shares
    if shares:
        worth = Micros(shares if rng.random() < 0.5 else 0)
        paid = Payout("a", Side.YES, shares, position.yes.cost, worth, Micros(0), START)
        past.append(Paid("m", Timestamp(START + 99), bool(worth), paid))
        position.settle(outcome=bool(worth))
    return past, position


@pytest.mark.parametrize("seed", range(60))
def test_all_skills_together_bring_what_the_position_brought(seed: int) -> None:
    past, position = past_of(seed, ("rain", "dip", "", "copy"))
    closings = closings_of(past, apart=True)
    assert sum(one.pnl for one in closings) == position.yes.realized
    assert {one.settled for one in closings} <= {True, False}


@pytest.mark.parametrize("seed", range(20))
def test_one_skill_alone_has_every_sale_as_the_position_has_it(seed: int) -> None:
    past, _ = past_of(seed, ("rain",))
    sales = [one.realized for one in past if isinstance(one, Fill) and one.action is Action.SELL]
    assert [one.pnl for one in closings_of(past, apart=True) if not one.settled] == sales


async def test_outcomes_agree_with_the_agents_own_figures(tmp_path: Path) -> None:
    async with open_stage(tmp_path, speed=1) as stage:
        line = line_to(stage)
        market = min(stage.open_markets(), key=lambda one: one.listing.resolved_at)

        async def trade(**fields: object) -> dict[str, Any]:
            order = {"market_id": market.market_id, "side": "yes"} | fields
            said = await line.said(PLACE_TRADE, json=order)
            assert said["success"], said["error"]
            return said

        bought = await trade(amount=40, skill_slug="rain")
        await trade(amount=25, skill_slug="dip", side="no")
        await trade(amount=5)
        await trade(action="sell", shares=round(bought["shares"] / 2, 5), skill_slug="rain")
        before = datetime.fromtimestamp(stage.clock.now() + 0.5, UTC).isoformat()
        await line.wait(market.listing.resolved_at - stage.world.world_at + 1)
        whole = await line.said(OUTCOMES)
        parts = {skill: await line.said(OUTCOMES, skill=skill) for skill in ("rain", "dip", "none")}
        assert whole["pnl"] == pytest.approx(stage.agent.realized / ONE, abs=1e-9)
        assert whole["trades"] == 4
        assert whole["resolved_markets"] == 1
        assert (whole["wins"], whole["losses"]) == (stage.agent.win_count, stage.agent.loss_count)
        assert (whole["settled_wins"] + whole["settled_losses"]) == 2
        assert whole["confidence_breakdown"] == {"settlement": 2, "native": 1, "mirror": 0}
        shared = [*parts.values(), await line.said(OUTCOMES, skill="unnamed")]
        assert sum(part["trades"] for part in shared) == 3
        assert [parts[skill]["trades"] for skill in parts] == [2, 1, 0]
        assert parts["none"]["pnl"] == 0
        later = await line.said(OUTCOMES, since=before)
        assert (later["trades"], later["pnl"]) == (0, whole["settled_pnl"])
        rows = (await line.said(TRADES))["trades"]
        settled = sum(row["pnl"] for row in rows if row["action"] == "redeem")
        assert whole["settled_pnl"] == pytest.approx(settled, abs=1e-9)
