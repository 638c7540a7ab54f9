"""Every figure of a report, over one or several trials together. Pure."""

import random
from collections.abc import Sequence
from dataclasses import dataclass

from service_tui.evaluation import returns
from service_tui.evaluation.forecasts import (
    CalibrationBin,
    EdgeRow,
    Interval,
    brier,
    calibration,
    closing_line,
    edges,
    forecasts_of,
    log_loss,
    skill_score,
)
from service_tui.evaluation.ledger import (
    TradedGroup,
    TrialLedger,
    TrialSums,
    groups_of,
    pooled,
    results_of,
    sums_of,
)
from service_tui.evaluation.luck import (
    LuckTest,
    bootstrap,
    by_block,
    controls_of,
    roi_of,
    verdict_words,
)


@dataclass(frozen=True, slots=True)
class CurveFigures:
    """Figures of one curve of equity; each None where it is undefined.

    `under_water_s` is the longest time below an earlier peak, seconds.
    """

    total_return: float | None
    max_drawdown: float | None
    under_water_s: float | None
    sharpe: float | None
    sortino: float | None


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a skill came to. `curves` are by trial; the rest is of all trials together.

    `brier`, `log_loss` and `market_brier`, `market_log_loss` are of the same forecasts.
    """

    trials: int
    events: int
    sums: TrialSums
    curves: tuple[CurveFigures, ...]
    forecasts: int
    brier: float | None
    market_brier: float | None
    log_loss: float | None
    market_log_loss: float | None
    skill_score: float | None
    closing_line: float | None
    roi_interval: Interval | None
    skill_interval: Interval | None
    calibration: tuple[CalibrationBin, ...]
    edges: tuple[EdgeRow, ...]
    groups: dict[str, tuple[TradedGroup, ...]]
    luck: LuckTest
    sentence: str


def curve_figures(ledger: TrialLedger) -> CurveFigures:
    """The figures of a trial's curve."""
    curve = ledger.curve
    return CurveFigures(
        returns.total_return(curve),
        returns.max_drawdown(curve),
        returns.under_water_s(curve),
        returns.sharpe(curve),
        returns.sortino(curve),
    )


def verdict_of(ledgers: Sequence[TrialLedger], rng: random.Random) -> Verdict:
    """Judge the trials of one skill.

    Args:
        ledgers: its trials, at least one.
        rng: draws events and sides; the same seed gives the same figures.

    Returns:
        Every figure.
    """
    whole = pooled(ledgers)
    results, forecasts = results_of(whole), forecasts_of(whole)
    own = [(one.stated, one.came) for one in forecasts]
    market = [(one.market, one.came) for one in forecasts]
    blocks = by_block(results)
    roi_interval = bootstrap(blocks, roi_of, rng)
    luck = controls_of(results, rng)
    return Verdict(
        trials=len(ledgers),
        events=len(blocks),
        sums=sums_of(whole.trades, whole.markets),
        curves=tuple(curve_figures(one) for one in ledgers),
        forecasts=len(forecasts),
        brier=brier(own),
        market_brier=brier(market),
        log_loss=log_loss(own),
        market_log_loss=log_loss(market),
        skill_score=skill_score(forecasts),
        closing_line=closing_line(whole),
        roi_interval=roi_interval,
        skill_interval=bootstrap(by_block(forecasts), skill_score, rng),
        calibration=calibration(own),
        edges=edges(whole),
        groups=groups_of(whole),
        luck=luck,
        sentence=verdict_words(luck, roi_interval),
    )
