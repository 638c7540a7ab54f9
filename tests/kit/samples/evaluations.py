"""Evaluations as the screens show them: one that went well, one with troubles."""

import math

from service_tui.desk.slices.research import EvaluationView
from service_tui.evaluation.report import (
    SCHEMA,
    CalibrationReport,
    DifferenceReport,
    EdgeReport,
    EvaluationReport,
    GroupReport,
    SkillReport,
    TrialReport,
)
from service_tui.units import Timestamp

BEGIN = 1_700_006_400.0
HOURS = 24 * 30


def trial_of(name: str = "seed 1", turn: float = 0.0, **changes: object) -> TrialReport:
    """A trial of thirty days whose equity swings upwards."""
    curve = tuple(
        (BEGIN + hour * 3_600.0, 10_000.0 + hour / 20 + 15 * math.sin(turn + hour / 90))
        for hour in range(HOURS)
    )
    values: dict[str, object] = {
        "name": name, "history": None, "seed": 1, "begins_at": BEGIN,
        "ends_at": BEGIN + HOURS * 3_600.0, "every_s": 900.0, "budget": 20.0, "rounds": 2_880,
        "failed_rounds": 0, "skipped_rounds": 0, "ended": None, "errors": {}, "refusals": {},
        "left_behind": 0, "is_fenced": True, "total_return": 0.0036, "max_drawdown": 0.0021,
        "under_water_s": 518_400.0, "sharpe": 1.42, "sortino": 2.31, "curve": curve,
    }  # fmt: skip
    return TrialReport(**{**values, **changes})  # type: ignore[arg-type]


def skill_of(skill: str = "momentum", **changes: object) -> SkillReport:
    """A skill that did well, and may have been lucky."""
    values: dict[str, object] = {
        "skill": skill,
        "verdict": "better than 187 of 200 random traders on the same markets: this may well be "
        "luck",
        "trials": (trial_of(), trial_of("seed 2", 2.0)),
        "trades": 412, "events": 118, "bought": 1_830.0, "pnl": 36.42, "roi": 0.0199,
        "roi_interval": (-0.021, 0.0634), "turnover": 2_940.5, "slippage": 4.18,
        "forecasts": 396, "brier": 0.1874, "market_brier": 0.1921, "log_loss": 0.5566,
        "market_log_loss": 0.5702, "skill_score": 0.024, "skill_interval": (-0.004, 0.051),
        "closing_line": 0.0061, "controls_beaten": 187,
        "controls": tuple(sorted(60 * math.sin(one * 1.7) + one % 7 for one in range(200))),
        "calibration": tuple(
            CalibrationReport(low / 10, (low + 1) / 10, 40, low / 10 + 0.05, low / 10 + 0.03,
                              (low / 10, low / 10 + 0.1))
            for low in range(1, 9)
        ),
        "edges": tuple(EdgeReport(40, one / 500, (one - 4) / 300) for one in range(1, 11)),
        "groups": {
            "category": (GroupReport("science", 220, 1_100.0, 41.0),
                         GroupReport("sports", 192, 730.0, -4.58)),
            "side": (GroupReport("no", 200, 900.0, 12.1), GroupReport("yes", 212, 930.0, 24.32)),
        },
    }  # fmt: skip
    return SkillReport(**{**values, **changes})  # type: ignore[arg-type]


def evaluation_of(*skills: SkillReport, name: str = "momentum-invented") -> EvaluationView:
    """An evaluation of these skills."""
    shown = skills or (skill_of(),)
    differences = tuple(
        DifferenceReport(shown[0].skill, one.skill, 12.5, (-3.25, 30.0)) for one in shown[1:]
    )
    report = EvaluationReport(SCHEMA, shown, differences)
    return EvaluationView(name, Timestamp(BEGIN), report)
