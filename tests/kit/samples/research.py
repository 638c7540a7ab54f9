"""Sessions, experiments and a backtest of an invented skill."""

from typing import Any

from kit.samples.desk import NOW
from service_tui.desk.slices.research import (
    BacktestPoint,
    BacktestView,
    ExperimentRunView,
    ExperimentView,
    ResearchView,
    SessionView,
    better_by,
)
from service_tui.terms import Direction, ExperimentStatus, SessionState, Venue
from service_tui.units import ONE, Micros, Timestamp

SKILL = "weather-edge"
BASE = 1.2


def session_of(**other: Any) -> SessionView:
    given = {
        "skill": SKILL, "name": "tighter edges", "segment": 1, "metric_name": "pnl",
        "metric_unit": "$", "direction": Direction.HIGHER, "state": SessionState.RUNNING,
        "count": 12, "cap": 50, "baseline": BASE, "best": 3.4, "best_number": 9, "kept": 4,
        "discarded": 6, "crashed": 2, "repository": "/home/me/skills",
        "branch": "autoresearch/weather-edge", "file": "/home/me/skills/autoresearch.jsonl",
        "last_at": Timestamp(NOW - 40), "started_at": Timestamp(NOW - 3_600),
    }  # fmt: skip
    return SessionView(**{**given, **other})


def experiment_of(number: int = 1, **other: Any) -> ExperimentView:
    given = {
        "skill": SKILL, "segment": 1, "status": ExperimentStatus.KEEP, "metric": BASE,
        "description": "the thresholds as they came", "at": Timestamp(NOW - 3_600 + 60 * number),
        "metrics": {"trades": 40.0, "win_rate": 0.55}, "commit": f"{number:07x}",
        "session": "tighter edges", "metric_name": "pnl", "metric_unit": "$", "ref": f"r{number}",
    }  # fmt: skip
    return ExperimentView(number=number, **{**given, **other})


def some_experiments() -> tuple[ExperimentView, ...]:
    """Twelve of them, newest first: the best is the ninth, the fourth and the tenth crashed."""
    keep, drop, crash = (
        ExperimentStatus.KEEP,
        ExperimentStatus.DISCARD,
        ExperimentStatus.CRASH,
    )
    told = [
        (keep, 1.2), (drop, 0.9), (keep, 1.9), (crash, None), (drop, 1.7), (keep, 2.6),
        (drop, 2.1), (drop, 2.5), (keep, 3.4), (crash, None), (drop, 3.1), (drop, 2.9),
    ]  # fmt: skip
    made = [
        experiment_of(
            number,
            status=status,
            metric=metric,
            description=f"min_edge at {0.01 * number:.2f}",
            commit=f"{number:07x}" if status is keep else "",
            is_best=number == 9,
            change=better_by(metric, BASE, Direction.HIGHER),
            behind=better_by(metric, 3.4, Direction.HIGHER),
        )
        for number, (status, metric) in enumerate(told, start=1)
    ]
    return tuple(reversed(made))


def run_of(**other: Any) -> ExperimentRunView:
    given = {
        "command": "python skill.py --backtest", "started_at": Timestamp(NOW - 12),
        "deadline_s": 300.0, "tail": "reading 40 trades\nMETRIC pnl=3.1\n",
    }  # fmt: skip
    return ExperimentRunView(**{**given, **other})


def point_of(value: float = 0.05, **other: Any) -> BacktestPoint:
    given = {
        "config": (("min_edge", value),), "included": 40, "excluded": 20,
        "pnl": Micros(int(12 * ONE)), "win_rate": 0.6, "improvement": 0.5,
    }  # fmt: skip
    return BacktestPoint(**{**given, **other})


def backtest_of(**other: Any) -> BacktestView:
    points = tuple(
        point_of(0.01 * step, included=60 - 3 * step, excluded=3 * step,
                 pnl=Micros(int((10 + 4 * step - 0.3 * step * step) * ONE)))
        for step in range(13)
    )  # fmt: skip
    given = {
        "request_id": 1, "skill": SKILL, "venue": Venue.SIM, "days": 7, "at": Timestamp(NOW),
        "total": 60, "original": Micros(8 * ONE),
        "point": point_of(), "keys": ("edge", "probability"), "points": points,
        "best": max(points, key=lambda one: one.pnl),
    }  # fmt: skip
    return BacktestView(**{**given, **other})


def research_sample() -> ResearchView:
    return ResearchView(
        sessions=(
            session_of(run=run_of(), is_open=True, allows_shell=True),
            session_of(
                skill="fast-loop", name="speed", state=SessionState.PAUSED, crashes_in_row=3,
                why="3 crashes in a row; a session with a new name clears it",
            ),
        ),
        experiments=some_experiments(),
        backtest=backtest_of(),
    )  # fmt: skip
