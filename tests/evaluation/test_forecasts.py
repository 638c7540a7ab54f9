"""Forecasts against formulas that were written down another way."""

import math
import random
import statistics

import pytest

from kit.ledgers import drawn_ledger
from service_tui.evaluation.forecasts import (
    Forecast,
    Interval,
    brier,
    calibration,
    closing_line,
    edges,
    forecasts_of,
    log_loss,
    skill_score,
    wilson,
)
from service_tui.terms import Side


def noisy(price: float, came: float) -> float:
    return min(0.99, max(0.01, price + 0.1 * (came - 0.5)))


@pytest.mark.parametrize("seed", range(50))
def test_scores_are_those_of_their_definitions(seed: int) -> None:
    ledger = drawn_ledger(random.Random(seed), stated=noisy)
    forecasts = forecasts_of(ledger)
    assert len(forecasts) == sum(one.is_buy for one in ledger.trades)
    pairs = [(one.stated, one.came) for one in forecasts]
    own = statistics.fmean((p - o) ** 2 for p, o in pairs)
    assert brier(pairs) == pytest.approx(own)
    chances = [p if o else 1.0 - p for p, o in pairs]
    assert log_loss(pairs) == pytest.approx(-math.log(statistics.geometric_mean(chances)))
    market = statistics.fmean((one.market - one.came) ** 2 for one in forecasts)
    assert skill_score(forecasts) == pytest.approx(1.0 - own / market)


@pytest.mark.parametrize("seed", range(20))
def test_calibration_holds_every_forecast_once(seed: int) -> None:
    rng = random.Random(seed)
    pairs = [(rng.choice((0.0, 1.0, rng.random())), float(rng.random() < 0.5)) for _ in range(200)]
    rows = calibration(pairs)
    assert sum(row.forecasts for row in rows) == len(pairs)
    for row in rows:
        members = [(p, o) for p, o in pairs if row.low <= p < row.high or (p == row.high == 1.0)]
        assert row.forecasts == len(members)
        assert row.stated == pytest.approx(statistics.fmean(p for p, _ in members))
        assert row.came == pytest.approx(statistics.fmean(o for _, o in members))
        assert row.interval.low <= row.came <= row.interval.high


def test_wilsons_interval_solves_its_equation() -> None:
    z = statistics.NormalDist().inv_cdf(0.95)
    for hits, count in ((0, 5), (3, 10), (50, 100), (999, 1_000)):
        interval = wilson(hits, count)
        assert interval is not None
        for end in interval:
            # Its ends are where the share lies just z standard errors away.
            off = abs(hits / count - end)
            assert off == pytest.approx(z * math.sqrt(end * (1 - end) / count), abs=1e-9)
    assert wilson(0, 0) is None


@pytest.mark.parametrize("seed", range(20))
def test_edges_are_in_tenths_by_their_claim(seed: int) -> None:
    ledger = drawn_ledger(random.Random(seed), markets=57, stated=noisy)
    rows = edges(ledger)
    assert sum(row.buys for row in rows) == 57
    assert {row.buys for row in rows} <= {5, 6}
    claims = [row.claimed for row in rows]
    assert claims == sorted(claims)
    markets = ledger.by_id
    realised = [
        (markets[one.market_id].paid_yes if one.side is Side.YES
         else 1.0 - (markets[one.market_id].paid_yes or 0.0)) - one.money / one.shares
        for one in ledger.trades
        if one.is_buy
    ]  # fmt: skip
    whole = sum(row.buys * row.realised for row in rows)
    assert whole == pytest.approx(math.fsum(realised), abs=1e-9)


def test_the_closing_line_is_the_price_at_the_end_less_what_was_paid() -> None:
    ledger = drawn_ledger(random.Random(3))
    markets = ledger.by_id
    values: list[float] = []
    for one in ledger.trades:
        close = markets[one.market_id].close_price
        assert close is not None
        if one.is_buy:
            side = close if one.side is Side.YES else 1.0 - close
            values.append(side - one.money / one.shares)
    assert closing_line(ledger) == pytest.approx(statistics.fmean(values))


def test_what_is_not_there_has_no_score() -> None:
    ledger = drawn_ledger(random.Random(1))
    assert forecasts_of(ledger) == []
    assert (brier([]), log_loss([]), skill_score([])) == (None, None, None)
    assert (calibration([]), edges(ledger)) == ((), ())
    # Nothing is better than a market that was never wrong.
    assert skill_score([Forecast("e", 0.5, 1.0, 1.0)]) is None
    # One miss of somebody who was sure is bad, and no infinity.
    assert log_loss([(1.0, 0.0)]) == pytest.approx(-math.log(1e-6))


def test_a_market_that_paid_a_part_counts_as_that_part() -> None:
    assert brier([(0.3, 0.3)]) == 0
    assert wilson(0.5, 1) == Interval(*wilson(0.5, 1) or (0.0, 0.0))
    assert log_loss([(0.5, 0.5)]) == pytest.approx(math.log(2))
