"""What it would save to decode a row of the wire straight into the row of a screen.

Run: python tests/bench/bench_records.py
Today a row becomes a body, which is checked, and the body a row of the state. Prints microseconds a
row for that, the share of it that makes the second row, and for a record that takes its place: a
frozen dataclass whose types convert at the edge. Decides house.md 3: worth it from a quarter on.
"""

import json
import statistics
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import field
from datetime import datetime
from pathlib import Path
from typing import Annotated

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from pydantic import AfterValidator, AwareDatetime, ConfigDict, Field, TypeAdapter
from pydantic.dataclasses import dataclass

from service_tui.desk.research.translate import experiment_view
from service_tui.desk.risk.translate import alert_view, monitor_view
from service_tui.desk.wire_values import amount
from service_tui.terms import Side, Venue
from service_tui.units import Micros, Timestamp
from service_tui.wire.base import AnyVenue, Line, Prose, timestamp
from service_tui.wire.monitors import MonitorBody, RiskAlertBody
from service_tui.wire.research import Direction, ExperimentBody, ExperimentStatus

ROWS = 2_000
ROUNDS = 15
NOW = Timestamp(1_800_000_000.0)

Money = Annotated[float, Field(ge=0), AfterValidator(amount)]
At = Annotated[AwareDatetime, AfterValidator(timestamp)]
STRICT = ConfigDict(strict=True, allow_inf_nan=False, extra="ignore")


@dataclass(frozen=True, slots=True, config=STRICT)
class MonitorRecord:
    """A monitor as the screen has it, made from the wire at once."""

    market_id: Line
    side: Side
    venue: AnyVenue = Venue.SIM
    question: Line = ""
    stop_loss_pct: float | None = None
    take_profit_pct: float | None = None
    shares: Money = Micros(0)
    cost_basis: Money = Micros(0)
    entry_price: float | None = None
    current_price: float | None = None
    exit_value: Money = Micros(0)
    automatic: bool = False
    trailing_stop_pct: float | None = None
    trailing_stop_points: float | None = None
    trailing_stop_price: float | None = None
    peak_price: float | None = None
    exit_at: At | None = None


@dataclass(frozen=True, slots=True, config=STRICT)
class AlertRecord:
    """An alert as the screen has it."""

    market_id: Line
    side: Side
    shares: Money
    exit_reason: Line
    venue: AnyVenue = Venue.SIM
    id: Line = ""
    question: Line = ""
    threshold_pct: float | None = None
    threshold_price: float | None = None
    entry_price: float | None = None
    triggered_price: float | None = None
    breached_at: At | None = None
    expires_at: At | None = None
    status: Line = "pending"
    executed_by: Line | None = None
    error: Prose | None = None


@dataclass(frozen=True, slots=True, config=STRICT)
class ExperimentRecord:
    """An experiment as the screen has it."""

    id: Line
    skill_slug: Line
    experiment_number: int
    status: ExperimentStatus
    created_at: At
    segment: int = 0
    metric_name: Line = ""
    metric_value: float | None = None
    metric_unit: Line = ""
    best_direction: Direction = Direction.HIGHER
    secondary_metrics: dict[str, float] = field(default_factory=dict[str, float])
    description: Prose = ""
    commit_hash: Line | None = None
    session: Line = ""
    client_ref: Line | None = None
    agent_id: Line = ""


def moment(number: int) -> str:
    return datetime.fromtimestamp(NOW + number).astimezone().isoformat()


def monitors() -> list[Mapping[str, object]]:
    return [
        {
            "market_id": f"market-{number}",
            "side": "yes",
            "venue": "sim",
            "question": f"Will it rain in the town of number {number} tomorrow?",
            "stop_loss_pct": 0.2,
            "take_profit_pct": 0.5,
            "shares": 12.5,
            "cost_basis": 6.25,
            "stop_price": 0.4,
            "take_profit_price": 0.75,
            "entry_price": 0.5,
            "current_price": 0.51,
            "current_value": 6.375,
            "exit_value": 6.3,
            "automatic": True,
            "set_at": moment(number),
            "simulated": True,
        }
        for number in range(ROWS)
    ]


def alerts() -> list[Mapping[str, object]]:
    return [
        {
            "market_id": f"market-{number}",
            "side": "yes",
            "shares": 12.5,
            "exit_reason": "stop_loss",
            "venue": "sim",
            "id": f"alert-{number}",
            "question": f"Will it rain in the town of number {number} tomorrow?",
            "threshold_pct": 0.2,
            "threshold_price": 0.4,
            "entry_price": 0.5,
            "triggered_price": 0.39,
            "breached_at": moment(number),
            "expires_at": moment(number + 3_600),
            "status": "pending",
            "executed_by": "service",
            "simulated": True,
        }
        for number in range(ROWS)
    ]


def experiments() -> list[Mapping[str, object]]:
    return [
        {
            "id": f"experiment-{number}",
            "skill_slug": "rain-harvester",
            "experiment_number": number,
            "segment": 1,
            "status": "discard",
            "metric_name": "pnl",
            "metric_value": 12.5,
            "metric_unit": "$SIM",
            "best_direction": "higher",
            "secondary_metrics": {"trades": 40.0, "win_rate": 0.55},
            "description": "a higher threshold for the edge",
            "created_at": moment(number),
            "session": "session-1",
            "agent_id": "agent-1",
            "agent_name": "rain",
        }
        for number in range(ROWS)
    ]


def timed(work: Callable[[], object]) -> float:
    """Microseconds a row, the median of some rounds."""
    took: list[float] = []
    for _ in range(ROUNDS):
        start = time.perf_counter()
        work()
        took.append((time.perf_counter() - start) / ROWS * 1e6)
    return statistics.median(took)


def main() -> None:
    print(f"{'us a row':12}{'body':>8}{'view':>8}{'both':>8}{'record':>8}{'saved':>8}")
    for name, rows, body, view, record in (
        ("monitors", monitors(), MonitorBody, monitor_view, MonitorRecord),
        ("alerts", alerts(), RiskAlertBody, lambda one: alert_view(one, NOW), AlertRecord),
        ("experiments", experiments(), ExperimentBody, experiment_view, ExperimentRecord),
    ):
        raw = json.dumps(rows).encode()
        reads, direct = TypeAdapter(list[body]), TypeAdapter(list[record])
        bodies = reads.validate_json(raw)
        first = timed(lambda reads=reads, raw=raw: reads.validate_json(raw))
        second = timed(lambda view=view, bodies=bodies: [view(one) for one in bodies])
        instead = timed(lambda direct=direct, raw=raw: direct.validate_json(raw))
        saved = 1 - instead / (first + second)
        figures = "".join(f"{figure:8.1f}" for figure in (first, second, first + second, instead))
        print(f"{name:12}{figures}{saved:8.0%}")


if __name__ == "__main__":
    main()
