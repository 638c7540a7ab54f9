"""Leashes, waiting trades, skills and runs of invented agents."""

from dataclasses import replace
from typing import Any

from kit.samples.desk import NOW, QUESTIONS, sample_state
from service_tui.desk.slices.agents import (
    AgentDetailView,
    AgentLimitsView,
    CalibrationView,
    ReasonedTradeView,
    ReturnsView,
    SkillResultView,
)
from service_tui.desk.slices.supervision import (
    LeashView,
    LogTailView,
    Pace,
    PendingTradeView,
    SkillRunState,
    SkillRunView,
    SkillView,
    SupervisionView,
)
from service_tui.desk.slices.trades import TradeView
from service_tui.desk.state import DeskState
from service_tui.terms import (
    Action,
    AgentStatus,
    LeashMode,
    PendingStatus,
    Side,
    TradeStatus,
    Venue,
)
from service_tui.units import ONE, Micros, Timestamp


def leash_of(agent_id: str = "a-2", **other: Any) -> LeashView:
    given = {
        "skill_slug": "", "mode": LeashMode.ASK, "threshold": Micros(10 * ONE),
        "budget": Micros(100 * ONE), "wait_s": 300, "spent": Micros(82 * ONE),
    }  # fmt: skip
    return LeashView(agent_id=agent_id, **{**given, **other})


def pending_trade_of(pending_id: str = "h1", **other: Any) -> PendingTradeView:
    given = {
        "agent_id": "a-2", "agent_name": "heron", "status": PendingStatus.WAITING,
        "market_id": "m", "question": "Will it rain at dawn?", "venue": Venue.SIM,
        "side": Side.YES, "action": Action.BUY, "amount": Micros(25 * ONE),
        "shares": Micros(0), "price_limit": None, "price": 0.41, "average": 0.42,
        "reasoning": "the gauge rises faster than the price", "source": "sdk:gauge",
        "skill_slug": "mean-reversion",
        "signal_data": {"edge": 0.06, "confidence": 0.62, "signal_source": "chart"},
        "created_at": Timestamp(NOW - 40), "expires_at": Timestamp(NOW + 260),
    }  # fmt: skip
    return PendingTradeView(pending_id=pending_id, **{**given, **other})


def run_of(run_id: str = "r1", **other: Any) -> SkillRunView:
    given = {
        "skill_slug": "mean-reversion", "agent_id": "a-2", "agent_name": "heron",
        "pace": Pace.EVERY, "every_s": 60, "live": True, "state": SkillRunState.RUNNING,
        "started_at": Timestamp(NOW - 600), "pid": 4_242, "runs_count": 9,
        "report": "3 looked at, 1 traded", "budget": Micros(100 * ONE),
    }  # fmt: skip
    return SkillRunView(run_id=run_id, **{**given, **other})


def sample_supervision() -> SupervisionView:
    refused = pending_trade_of(
        "h0", status=PendingStatus.REFUSED, reason="too thin", decided_at=NOW
    )
    names = ("mean-reversion", "momentum", "news-follower")
    return SupervisionView(
        leashes=(leash_of(), leash_of("a-3", mode=LeashMode.OBSERVE, budget=None)),
        pending_trades=(
            pending_trade_of(),
            pending_trade_of("h2", agent_id="a-3", agent_name="moss-runner"),
        ),
        decided=(refused,),
        skills=tuple(SkillView(one, one, "A plain idea.", "1.0") for one in names),
        runs=(
            run_of(),
            run_of("r2", agent_id="a-3", agent_name="moss-runner", state=SkillRunState.BACKING_OFF,
                   restarts=2, why="exit code 1, next try in 4 s"),
        ),
    )  # fmt: skip


def limits_of(**other: Any) -> AgentLimitsView:
    given = {
        "sim_trade_max": Micros(500 * ONE), "sim_market_max": Micros(2_000 * ONE),
        "trade_max": Micros(100 * ONE), "day_spend_max": Micros(500 * ONE),
        "day_spent": Micros(0), "position_max": None, "buys_today": 23, "buys_max": 500,
        "skill_budget": Micros(100 * ONE), "skills": (("mean-reversion", Micros(82 * ONE)),),
        "cooldowns_count": 0,
    }  # fmt: skip
    return AgentLimitsView(**{**given, **other})


def trade_of(place: int, **other: Any) -> ReasonedTradeView:
    side = Side.YES if place % 3 else Side.NO
    trade = TradeView(
        trade_id=f"t{place}", market_id=f"m{place}", question=QUESTIONS[place % len(QUESTIONS)],
        side=side, action="sell" if place == 2 else "buy", shares=Micros(12 * ONE),
        cost=Micros((5 + place) * ONE), price_before=0.41, average=0.42, price_after=0.43,
        venue=Venue.SIM, status=TradeStatus.FILLED, source="sdk:mean-reversion",
        reasoning="0.41 after 0.52 a day ago and no news: it may come back",
        at=Timestamp(NOW - 95 * place - 20), pnl=Micros(1_250_000) if place == 2 else None,
    )  # fmt: skip
    signals = {
        "edge": 0.06, "confidence": 0.62, "probability": 0.47, "signal_source": "price 24 h ago",
    }  # fmt: skip
    return ReasonedTradeView(trade, "mean-reversion", signals, **other)


def result_of(slug: str = "mean-reversion", **other: Any) -> SkillResultView:
    given = {
        "trades_count": 143, "pnl": Micros(61_400_000), "wins": 58, "losses": 41,
        "confidence": 0.62, "hit_rate": 0.58, "brier": 0.231, "edge": 0.06, "slippage": 0.012,
        "edge_kept": 0.048, "calibration": (
            CalibrationView(0.4, 0.6, 44, 0.55, 0.41), CalibrationView(0.6, 0.8, 51, 0.66, 0.71),
        ),
    }  # fmt: skip
    return SkillResultView(slug, **{**given, **other})


def returns_of(agent_id: str = "a-2", **other: Any) -> ReturnsView:
    """What an agent made of its money, hour by hour until now; that of heron ends at its equity."""
    today = int(NOW // 86_400)
    curve = tuple(
        (Timestamp(NOW - 3_600 * (19 - place)), Micros(8_320_895_866 - 40 * (19 - place) * ONE))
        for place in range(20)
    )
    given: dict[str, Any] = {
        "curve": curve, "total_return": 0.034, "drawdown": 0.012, "max_drawdown": 0.2,
        "sharpe": 1.239, "days": ((today - 1, Micros(-41_250_000)), (today, Micros(1_500 * ONE))),
        "weeks": ((today - 4, Micros(12 * ONE)),), "months": ((today - 14, Micros(-7 * ONE)),),
    }  # fmt: skip
    return ReturnsView(agent_id, **{**given, **other})


def returns_state() -> DeskState:
    """The fleet, with what two of its agents made of their money."""
    state = fleet_state()
    fallen = tuple((at, Micros(17_000 * ONE - equity)) for at, equity in returns_of().curve)
    worse = returns_of("a-3", curve=fallen, total_return=-0.5, drawdown=0.5, sharpe=None)
    view = replace(state.supervision, returns=(returns_of(), worse))
    return replace(state, supervision=view)


def fleet_state() -> DeskState:
    """Agents in many states: one is asked about, one crashes, one is paused, one rehearses."""
    state = sample_state()
    fleet = state.fleet
    assert fleet is not None
    told = tuple(
        replace(agent, wins=58 - place * 9, losses=41, spent_today=Micros(82 * ONE),
                limits=limits_of(buys_today=23 + 100 * place), claimed=place != 3,
                status=AgentStatus.UNCLAIMED if place == 3 else AgentStatus.ACTIVE, suspended=False)
        for place, agent in enumerate(fleet.agents)
    )  # fmt: skip
    moss = replace(told[2], agent_id="a-5", name="reed-observer", paused=False, last_trade_at=None,
                   trades_count=0, positions_count=0, wins=0, losses=0, equity=Micros(10_000 * ONE),
                   total_pnl=Micros(0), day_pnl=Micros(0), spent_today=Micros(0))  # fmt: skip
    view = sample_supervision()
    rehearsal = run_of("r3", agent_id="a-5", agent_name="reed-observer", live=False,
                       skill_slug="momentum", state=SkillRunState.RESTING, budget=None)  # fmt: skip
    points = tuple(
        (Timestamp(NOW - 7_200 + 60 * step), Micros(round((-step * 49 / 120 - step % 17) * ONE)))
        for step in range(121)
    )
    detail = AgentDetailView(
        "a-2", tuple(trade_of(place) for place in range(9)),
        (result_of(), result_of("", trades_count=2, wins=0, losses=1, pnl=Micros(-2_000_000),
                                calibration=(), confidence=None, hit_rate=None, edge=None)),
        points=points, at=NOW,
    )  # fmt: skip
    lines = tuple(f"[{count}] 50 looked at, {count % 3} traded" for count in range(30))
    return replace(
        state,
        fleet=replace(fleet, agents=(*told, moss)),
        service=replace(state.service, address="http://127.0.0.1:8017"),
        preferences={"welcome": "seen"},
        supervision=replace(
            view,
            runs=(*view.runs, rehearsal),
            leashes=(*view.leashes, leash_of("a-2", skill_slug="mean-reversion"),
                     leash_of("a-5", mode=LeashMode.OBSERVE, budget=None, spent=Micros(0))),
            detail=detail,
            tail=LogTailView("r1", lines),
        ),
    )  # fmt: skip
