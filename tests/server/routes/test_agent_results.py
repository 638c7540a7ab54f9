"""What an agent's past came to: figures worked out by hand, and the same from a running service."""

from datetime import datetime
from pathlib import Path

import pytest

from kit.service.line import Line, line_to
from kit.service.stage import OPERATOR, open_stage
from kit.service.where import ON_POSTGRES
from service_tui.clock import ManualClock
from service_tui.outcome import NO, VOID, YES, Outcome
from service_tui.server.past.agent_past import AgentFill, AgentPayout
from service_tui.server.routes.agent_results import (
    POINTS_MAX,
    Bucket,
    SkillResult,
    _skill_body,
    buckets_of,
    pnl_curve,
    skill_results,
)
from service_tui.terms import Action, Plan, Side, Venue
from service_tui.units import ONE, Micros, Timestamp
from service_tui.wire.endpoints.desk import DESK_AGENTS
from service_tui.wire.endpoints.fleet import DESK_AGENT_RESULTS, DESK_RETURNS, SKILL_ANALYTICS
from service_tui.wire.endpoints.public import PLACE_TRADE
from service_tui.wire.fleet import CalibrationBody, SkillResultBody
from service_tui.wire.trades import TradeRequest


def fill(at: float, action: Action, shares: float, money: float, **other: object) -> AgentFill:
    given = {
        "trade_id": f"t{at:g}", "venue": Venue.SIM, "market_id": "m", "side": Side.YES,
        "action": action, "shares": Micros(round(shares * ONE)),
        "money": Micros(round(money * ONE)), "price": money / shares, "at": Timestamp(at),
        "skill": "gauge", "reasoning": "", "price_before": money / shares - 0.02,
        "price_after": money / shares + 0.02,
    }  # fmt: skip
    return AgentFill(**{**given, **other})


def paid(at: float, *, won: bool, side: Side = Side.YES, market: str = "m") -> AgentPayout:
    outcome = YES if won is (side is Side.YES) else NO
    return AgentPayout(Venue.SIM, market, side, Timestamp(at), outcome, Micros(0))


def test_a_part_of_one_counts_as_what_it_paid_and_money_back_counts_for_nobody() -> None:
    past = [
        fill(1, Action.BUY, 10, 5, signals={"confidence": 0.7}),
        AgentPayout(Venue.SIM, "m", Side.YES, Timestamp(2), Outcome.at(0.3), Micros(3 * ONE)),
        fill(3, Action.BUY, 10, 4, market_id="n", signals={"confidence": 0.9}),
        AgentPayout(Venue.SIM, "n", Side.YES, Timestamp(4), VOID, Micros(4 * ONE)),
    ]
    (one,) = skill_results(past, {}.get)
    assert (one.pnl, one.wins, one.losses) == (-2 * ONE, 0, 1)
    assert (one.confidence, one.hit_rate) == (0.7, 0.3)
    assert one.brier == pytest.approx(0.4**2)
    curve = pnl_curve(past, (), Timestamp(5), Micros(-2 * ONE))
    assert [pnl / ONE for at, pnl in curve if at in {2, 4}] == [-2.0, -2.0]


def test_a_skill_is_told_by_what_its_closings_brought_and_how_sure_it_was() -> None:
    sure = {"edge": 0.06, "confidence": 0.7}
    past = [
        # 10 shares for 5, of which 4 are sold for 3, and 6 pay 6: +1 and +3.
        fill(1, Action.BUY, 10, 5, signals=sure),
        fill(2, Action.SELL, 4, 3),
        paid(3, won=True),
        # 10 shares for 3, worthless: -3.
        fill(4, Action.BUY, 10, 3, market_id="n", side=Side.NO,
             signals={"edge": 0.02, "confidence": 0.5}),
        paid(5, won=False, side=Side.NO, market="n"),
        # Open still: no closing, no hit, and its edge counts.
        fill(6, Action.BUY, 10, 4, market_id="o", signals={"edge": 0.01, "confidence": 0.9}),
    ]  # fmt: skip
    (one,) = skill_results(past, {}.get)
    assert (one.skill, one.trades, one.pnl) == ("gauge", 4, 1 * ONE)
    assert (one.wins, one.losses) == (2, 1)
    assert one.confidence == pytest.approx(0.6)
    assert one.hit_rate == pytest.approx(0.5)
    assert one.brier == pytest.approx((0.3**2 + 0.5**2) / 2)
    assert one.edge == pytest.approx(0.03)
    assert one.slippage == pytest.approx(0.02)
    assert one.kept == pytest.approx(0.01)
    assert [(each.low, each.count, each.hit_rate) for each in one.buckets] == [
        (0.4, 1, 0.0), (0.6, 1, 1.0),
    ]  # fmt: skip


def test_skills_are_told_apart_and_the_busiest_comes_first() -> None:
    past = [
        fill(1, Action.BUY, 10, 5, skill="rare"),
        fill(2, Action.BUY, 10, 5, skill="busy"),
        fill(3, Action.BUY, 10, 5, skill="busy"),
        paid(4, won=True),
    ]
    busy, rare = skill_results(past, {}.get)
    assert (busy.skill, busy.pnl, busy.wins) == ("busy", 10 * ONE, 1)
    assert (rare.skill, rare.pnl, rare.wins) == ("rare", 5 * ONE, 1)
    assert (busy.edge, busy.kept, busy.confidence, busy.buckets) == (None, None, None, ())


def test_the_two_monies_of_one_skill_are_never_summed() -> None:
    past = [
        fill(1, Action.BUY, 10, 5),
        fill(2, Action.BUY, 10, 4, venue=Venue.EVM),
        fill(3, Action.SELL, 10, 3),
        fill(4, Action.SELL, 10, 9, venue=Venue.EVM),
    ]
    found = {(one.skill, one.venue): one for one in skill_results(past, {}.get)}
    assert {key: one.pnl for key, one in found.items()} == {
        ("gauge", Venue.SIM): -2 * ONE,
        ("gauge", Venue.EVM): 5 * ONE,
    }
    assert {one.trades for one in found.values()} == {2}


def test_an_outcome_that_the_world_knows_counts_for_what_was_sold_before_it() -> None:
    past = [
        fill(1, Action.BUY, 10, 5, signals={"confidence": 1.0}, side=Side.NO),
        fill(2, Action.SELL, 10, 6, side=Side.NO),
    ]
    (one,) = skill_results(past, {"m": NO}.get)
    assert (one.hit_rate, one.confidence, one.buckets[0].high) == (1.0, 1.0, 1.0)


def test_the_curve_follows_money_and_the_price_after_each_trade() -> None:
    past = [
        fill(10, Action.BUY, 10, 5),
        fill(20, Action.BUY, 10, 4, side=Side.NO),
        fill(30, Action.SELL, 10, 7, price_after=0.6),
        paid(40, won=False),
        paid(40, won=True, side=Side.NO),
    ]
    curve = pnl_curve(past, (), Timestamp(50), Micros(8 * ONE))
    # After the first: 10 shares at 0.52, less 5. After the second YES is at 0.58, NO at 0.42.
    assert [(at, pnl / ONE) for at, pnl in curve] == [
        (10, 0.0),
        (10, pytest.approx(0.2)),
        (20, pytest.approx(10 * 0.58 + 10 * 0.42 - 9)),
        (30, pytest.approx(10 * 0.4 - 2)),
        (40, pytest.approx(10 * 0.4 - 2)),
        (40, pytest.approx(10 - 2)),
        (50, 8.0),
    ]


def test_what_was_traded_with_other_money_is_not_added() -> None:
    assert (
        pnl_curve([fill(1, Action.BUY, 1, 1, venue=Venue.EVM)], (), Timestamp(2), Micros(0)) == ()
    )


@pytest.mark.parametrize("count", [1, 2, POINTS_MAX - 2, POINTS_MAX - 1, POINTS_MAX, 3_000])
def test_a_long_life_has_a_short_curve_with_both_its_ends(count: int) -> None:
    past = [fill(at, Action.BUY, 1, 0.5) for at in range(1, count + 1)]
    curve = pnl_curve(past, (), Timestamp(9_999), Micros(7))
    assert 2 <= len(curve) <= POINTS_MAX
    assert (curve[0], curve[-1]) == ((1.0, 0), (9_999, 7))
    assert curve[-2][0] == count
    assert list(curve) == sorted(curve, key=lambda point: point[0])


@pytest.mark.slow
async def test_the_service_tells_what_an_agents_skills_came_to(tmp_path: Path) -> None:
    async with open_stage(tmp_path, plan=Plan.ELITE) as stage:
        market = stage.open_markets()[0]
        bought = None
        for action in (Action.BUY, Action.SELL):
            await stage.clock.advance(0.3)
            shares = 0.0 if bought is None else bought.shares_bought
            order = TradeRequest(
                market_id=market.market_id,
                side=Side.YES,
                action=action,
                amount=0.0 if shares else 20.0,
                shares=shares,
                skill_slug="gauge",
                signal_data={"edge": 0.06, "confidence": 0.7},
            )
            sold = bought
            bought = (await stage.client.call(PLACE_TRADE, body=order)).answer
            assert bought.success, bought.error
        first = sold
        assert first is not None
        path = {"agent_id": stage.agent_id}
        told = (await stage.client.call(DESK_AGENT_RESULTS, path=path)).answer
        # With its own key an agent of the Elite plan is told the same of itself.
        own = (await stage.client.call(SKILL_ANALYTICS)).answer
        assert (own.agent_id, own.skills) == (stage.agent_id, told.skills)
        (one,) = told.skills
        assert (one.skill_slug, one.trades, one.confidence) == ("gauge", 2, None)
        assert one.edge == pytest.approx(0.06)
        assert one.slippage == pytest.approx(first.avg_price - first.price_before)
        assert one.edge_kept == pytest.approx(0.06 - one.slippage)
        # A round trip loses: by how much the agent's own row says too.
        rows = (await stage.client.call(DESK_AGENTS)).answer.agents
        (row,) = [one for one in rows if one.agent_id == stage.agent_id]
        assert (row.wins, row.losses, row.spent_today) == (0, one.losses, 20.0)
        assert (row.rails.trades_today, one.losses + one.wins) == (1, 1 if one.pnl else 0)
        assert one.pnl == pytest.approx(row.pnl_total)
        assert told.points[-1].pnl == pytest.approx(row.pnl_total)
        assert told.points[0].pnl == 0.0


@pytest.mark.parametrize("edge", [True, 1e300, -1.01, 10**400, "0.06"])
def test_an_edge_that_can_be_none_is_left_out_of_the_average(edge: float | str) -> None:
    past = [
        fill(1, Action.BUY, 10, 5, signals={"edge": 0.06, "confidence": 0.7}),
        fill(2, Action.BUY, 10, 5, signals={"edge": edge, "confidence": 62}),
        paid(3, won=True),
    ]
    (result,) = skill_results(past, lambda _: None)
    assert (result.edge, result.confidence) == (0.06, 0.7)


def test_an_exit_is_a_trade_of_the_skill_that_bought() -> None:
    past = [
        fill(1, Action.BUY, 10, 5, skill="reactor"),
        # A stop names no skill.
        fill(2, Action.SELL, 10, 7, skill=""),
        fill(3, Action.BUY, 10, 5, skill="", market_id="n"),
    ]
    found = {one.skill: one for one in skill_results(past, {}.get)}
    assert {skill: one.trades for skill, one in found.items()} == {"reactor": 2, "": 1}
    assert found["reactor"].pnl == 2 * ONE
    # What was bought before is not known: the seller remains.
    (alone,) = skill_results([fill(1, Action.SELL, 10, 7, skill="gauge")], {}.get)
    assert (alone.skill, alone.trades) == ("gauge", 1)


def test_each_figure_of_a_skill_is_told_under_its_own_name() -> None:
    bucket = Bucket(0.6, 0.8, count=4, confidence=0.7, hit_rate=0.75)
    result = SkillResult(
        "gauge", trades=9, pnl=Micros(3 * ONE), wins=5, losses=2, confidence=0.65, hit_rate=0.55,
        brier=0.2, edge=0.06, slippage=0.02, buckets=(bucket,), venue=Venue.EVM,
    )  # fmt: skip
    told = _skill_body(result)
    assert told == SkillResultBody(
        skill_slug="gauge", venue=Venue.EVM, trades=9, pnl=3.0, wins=5, losses=2, confidence=0.65,
        hit_rate=0.55, brier=0.2, edge=0.06, slippage=0.02, edge_kept=told.edge_kept,
        calibration=(
            CalibrationBody(low=0.6, high=0.8, count=4, confidence=0.7, hit_rate=0.75),
        ),
    )  # fmt: skip
    assert told.edge_kept == pytest.approx(0.04)


@pytest.mark.parametrize(("edge", "slippage"), [(None, 0.02), (0.06, None), (None, None)])
def test_nothing_is_known_to_be_left_of_an_edge_without_both_figures(
    edge: float | None, slippage: float | None
) -> None:
    result = SkillResult("x", 1, Micros(0), 0, 0, edge=edge, slippage=slippage)
    assert result.kept is None


@pytest.mark.parametrize(
    ("confidence", "low"), [(0.0, 0.0), (0.2, 0.2), (0.1999, 0.0), (0.8, 0.8), (1.0, 0.8)]
)
def test_a_confidence_counts_from_the_lower_edge_on_and_certainty_in_the_last(
    confidence: float, low: float
) -> None:
    (bucket,) = buckets_of([(confidence, True), (confidence, False)])
    assert (bucket.low, bucket.count, bucket.confidence, bucket.hit_rate) == (
        low, 2, confidence, 0.5,
    )  # fmt: skip


@pytest.mark.parametrize("confidence", [0.0, 1.0])
def test_a_confidence_of_nothing_or_of_certainty_is_one(confidence: float) -> None:
    past = [fill(1, Action.BUY, 10, 5, signals={"confidence": confidence}), paid(2, won=True)]
    (one,) = skill_results(past, {}.get)
    assert (one.confidence, one.brier) == (confidence, (1 - confidence) ** 2)


def test_a_sale_says_nothing_of_how_sure_a_skill_was() -> None:
    past = [fill(1, Action.SELL, 10, 5, signals={"edge": 0.5, "confidence": 0.9})]
    (one,) = skill_results(past, lambda _: True)
    assert (one.trades, one.edge, one.confidence) == (1, None, None)


@pytest.mark.parametrize("plan", [Plan.FREE, Plan.PRO])
async def test_the_analytics_of_skills_are_of_the_elite_plan(tmp_path: Path, plan: Plan) -> None:
    async with open_stage(tmp_path, plan=plan, speed=0) as stage:
        refused = await line_to(stage).said(SKILL_ANALYTICS, 403)
        assert "elite" in refused["fix"].lower()


@pytest.mark.slow
@pytest.mark.parametrize(
    "after", ["a restart", pytest.param("a takeover", marks=pytest.mark.process)]
)
async def test_the_curve_is_what_the_agent_was_worth_each_minute(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, after: str
) -> None:
    """By hand: its exit equity read in the last second of a minute, in which nothing follows."""
    if after == "a takeover":
        # Another leads the world in the database then.
        monkeypatch.setenv(ON_POSTGRES, "yes")
    clock = ManualClock()
    by_hand: dict[float, float] = {}
    known: dict[str, str] = {}
    for _ in range(2):
        async with open_stage(tmp_path, clock, speed=10, **known) as stage:
            known = {"key": stage.key, "agent_id": stage.agent_id}
            line, operator = line_to(stage), Line(stage, OPERATOR)
            path = {"agent_id": stage.agent_id}
            market = max(stage.open_markets(), key=lambda one: one.listing.resolves_at)
            order = {"market_id": market.market_id, "side": "yes", "amount": 50}
            assert (await line.said(PLACE_TRADE, json=order))["success"]
            for _ in range(3):
                await line.wait(59.5 - clock.now() % 60, 0.5)
                (row,) = (await operator.said(DESK_AGENTS))["agents"]
                by_hand[clock.now() // 60 * 60 + 60] = row["exit_equity"]
                await line.wait(5, 0.5)
            told = await operator.said(DESK_AGENT_RESULTS, path=path)
            (returns,) = (await operator.said(DESK_RETURNS))["agents"]
            (row,) = (await operator.said(DESK_AGENTS))["agents"]
    points = [(datetime.fromisoformat(one["at"]).timestamp(), one["pnl"]) for one in told["points"]]
    assert len(by_hand) == 6
    for minute, worth in by_hand.items():
        # While it stays as it is, only its first mark and its latest are kept.
        noted = next(pnl for at, pnl in points if at >= minute)
        assert noted == pytest.approx(worth - 10_000, abs=1e-6)
    assert told["points"][-1]["pnl"] == pytest.approx(row["exit_equity"] - 10_000, abs=1e-6)
    # The curve beside those of all others is the same, in fewer points.
    whole = row["exit_equity"] - 10_000
    assert returns["points"][-1]["equity"] == pytest.approx(row["exit_equity"], abs=1e-6)
    assert returns["total_return"] == pytest.approx(whole / 10_000, abs=1e-9)
    for period in ("days", "weeks", "months"):
        gained = sum(one["gained"] for one in returns[period])
        assert gained == pytest.approx(whole, abs=1e-6), period
    seen = [10_000, *by_hand.values(), row["exit_equity"]]
    assert returns["drawdown"] >= 1 - row["exit_equity"] / max(seen) - 1e-9
    assert returns["sharpe"] is None
