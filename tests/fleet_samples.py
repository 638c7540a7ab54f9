"""Leashes, waiting trades, skills and runs of invented agents."""

from dataclasses import replace
from typing import Any

from samples import NOW
from service_tui.desk.records_fleet import (
    HeldView,
    LeashView,
    Pace,
    SkillRunState,
    SkillRunView,
    SkillView,
    SupervisionView,
)
from service_tui.terms import Action, HeldStatus, LeashMode, Side, Venue
from service_tui.units import ONE, Micros, Timestamp


def leash_of(agent_id: str = "a-2", **other: Any) -> LeashView:
    given = {
        "skill_slug": "", "mode": LeashMode.ASK, "threshold": Micros(10 * ONE),
        "budget": Micros(100 * ONE), "wait_s": 300, "spent": Micros(82 * ONE),
    }  # fmt: skip
    return LeashView(agent_id=agent_id, **{**given, **other})


def held_of(held_id: str = "h1", **other: Any) -> HeldView:
    given = {
        "agent_id": "a-2", "agent_name": "heron", "status": HeldStatus.WAITING,
        "market_id": "m", "question": "Will it rain at dawn?", "venue": Venue.SIM,
        "side": Side.YES, "action": Action.BUY, "amount": Micros(25 * ONE),
        "shares": Micros(0), "price_limit": None, "price": 0.41, "average": 0.42,
        "reasoning": "the gauge rises faster than the price", "source": "sdk:gauge",
        "skill_slug": "mean-reversion",
        "signal_data": {"edge": 0.06, "confidence": 0.62, "signal_source": "chart"},
        "created_at": Timestamp(NOW - 40), "expires_at": Timestamp(NOW + 260),
    }  # fmt: skip
    return HeldView(held_id=held_id, **{**given, **other})


def run_of(run_id: str = "r1", **other: Any) -> SkillRunView:
    given = {
        "skill_slug": "mean-reversion", "agent_id": "a-2", "agent_name": "heron",
        "pace": Pace.EVERY, "every_s": 60, "live": True, "state": SkillRunState.RUNNING,
        "started_at": Timestamp(NOW - 600), "pid": 4_242, "runs_count": 9, "log_lines": 118,
        "report": "3 looked at, 1 traded", "budget": Micros(100 * ONE),
    }  # fmt: skip
    return SkillRunView(run_id=run_id, **{**given, **other})


def sample_supervision() -> SupervisionView:
    refused = held_of("h0", status=HeldStatus.REFUSED, reason="too thin", decided_at=NOW)
    names = ("mean-reversion", "momentum", "news-follower")
    return SupervisionView(
        leashes=(leash_of(), leash_of("a-3", mode=LeashMode.OBSERVE, budget=None)),
        held=(held_of(), replace(held_of("h2"), agent_id="a-3", agent_name="moss-runner")),
        decided=(refused,),
        skills=tuple(SkillView(one, one, "A plain idea.", "1.0", is_bundled=True) for one in names),
        runs=(
            run_of(),
            run_of("r2", agent_id="a-3", agent_name="moss-runner", state=SkillRunState.BACKING_OFF,
                   restarts=2, why="it ended with 1, next try in 4 s"),
        ),
    )  # fmt: skip
