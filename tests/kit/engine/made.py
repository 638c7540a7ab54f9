"""Experiments that nobody made."""

from typing import Any, Final

from service_tui.engine.events import ExperimentLogged, SessionBegun
from service_tui.terms import Direction, ExperimentStatus
from service_tui.units import Timestamp

NOTED: Final = Timestamp(1_800_000_000.0)


def experiment(number: int = 1, at: float = NOTED, **other: Any) -> ExperimentLogged:
    given: dict[str, Any] = {
        "experiment_id": f"x{number}", "agent_id": "ada", "skill": "weather-edge", "segment": 0,
        "status": ExperimentStatus.KEEP, "metric_name": "pnl", "metric": float(number),
        "metric_unit": "$", "direction": Direction.HIGHER, "metrics": {"trades": 40.0},
        "description": "as it came", "commit": "abc1234", "session": "edges", "cap": 50,
        "ref": f"r{number}",
    }  # fmt: skip
    return ExperimentLogged(number=number, at=Timestamp(at), **{**given, **other})


def session(at: float = NOTED) -> SessionBegun:
    """The beginning of the next series on the same skill."""
    higher = Direction.HIGHER
    return SessionBegun("ada", Timestamp(at), "weather-edge", 1, "again", "pnl", "$", higher, 50)
