"""Good, or lucky: the interval of a trader without skill holds 0, the controls favour nobody."""

import math
import random
import statistics

import pytest

from kit.ledgers import drawn_ledger
from service_tui.evaluation.forecasts import Interval, forecasts_of, skill_score
from service_tui.evaluation.ledger import MarketResult, results_of
from service_tui.evaluation.luck import (
    CONTROLS,
    LuckTest,
    bootstrap,
    by_block,
    controls_of,
    expanded_tail,
    paired_difference,
    roi_of,
    verdict_words,
)
from service_tui.evaluation.verdict import verdict_of
from service_tui.units import ONE, Micros

RUNS = 100


def test_an_interval_is_that_of_the_percentiles_of_its_draws() -> None:
    blocks = [[float(number)] for number in range(30)]
    found = bootstrap(blocks, statistics.fmean, random.Random(5))
    rng = random.Random(5)
    means = [
        statistics.fmean(one for block in rng.choices(blocks, k=30) for one in block)
        for _ in range(1_000)
    ]
    cuts = statistics.quantiles(means, n=10_000, method="inclusive")
    tail = round(expanded_tail(30) * 10_000)
    assert found == pytest.approx(Interval(cuts[tail - 1], cuts[-tail]), rel=0.01)
    # Of a mean the interval is about that of Student's distribution.
    spread = statistics.stdev(range(30)) / math.sqrt(30)
    assert found is not None
    assert found.high - found.low == pytest.approx(2 * 1.699 * spread, rel=0.1)


@pytest.mark.parametrize(("count", "student"), [(5, 2.1318), (10, 1.8331), (30, 1.6991)])
def test_the_tail_of_few_events_is_that_of_students_quantile(count: int, student: float) -> None:
    reach = -statistics.NormalDist().inv_cdf(expanded_tail(count))
    assert reach == pytest.approx(student * math.sqrt(count / (count - 1)), rel=0.01)
    assert expanded_tail(100_000) == pytest.approx(0.05, abs=1e-4)


def test_few_events_give_no_interval() -> None:
    assert bootstrap([[1.0]] * 4, lambda _: 1.0, random.Random(1)) is None
    assert bootstrap([[1.0]] * 9, lambda _: None, random.Random(1)) is None


def test_trades_of_one_event_are_drawn_together() -> None:
    results = [MarketResult("one", Micros(ONE), Micros(n), Micros(0)) for n in range(5)]
    assert [len(block) for block in by_block(results)] == [5]
    ledger = drawn_ledger(random.Random(1), stated=lambda price, _: price)
    assert len(by_block(forecasts_of(ledger))) == len(by_block(results_of(ledger)))


def test_who_knows_the_outcome_scores_one_and_a_guesser_nothing_with_zero_inside() -> None:
    held = 0
    for seed in range(RUNS):
        rng = random.Random(seed)
        knowing = forecasts_of(drawn_ledger(rng, stated=lambda _, came: came))
        assert skill_score(knowing) == 1.0

        def guess(price: float, _: float, rng: random.Random = rng) -> float:
            # As far from the price to one side as to the other, and no worse by its own square.
            return price + rng.choice((-0.02, 0.02))

        guessed = forecasts_of(drawn_ledger(rng, stated=guess))
        score = skill_score(guessed)
        assert score is not None
        assert abs(score) < 0.1
        interval = bootstrap(by_block(guessed), skill_score, rng)
        assert interval is not None
        held += interval.low <= 0 <= interval.high
    # 90 % intervals, wider than that for so few events: 95 of 100.
    assert held >= 85


def test_random_sides_neither_win_nor_lose_where_prices_are_fair() -> None:
    gains: list[float] = []
    for seed in range(RUNS):
        rng = random.Random(seed)
        luck = controls_of(results_of(drawn_ledger(rng)), rng)
        assert len(luck.controls) == CONTROLS
        assert luck.controls == tuple(sorted(luck.controls))
        gains.append(statistics.fmean(one / ONE for one in luck.controls))
    z = statistics.fmean(gains) / (statistics.stdev(gains) / math.sqrt(RUNS))
    assert abs(z) < 2


def test_random_sides_of_a_trader_who_knows_are_beaten() -> None:
    results = [MarketResult(f"e{n}", Micros(ONE), Micros(ONE), Micros(-ONE)) for n in range(40)]
    luck = controls_of(results, random.Random(1))
    assert luck.beaten == CONTROLS
    assert luck.share_better == 0
    words = verdict_words(luck, Interval(0.5, 1.0))
    assert words.startswith("better than 200 of 200 random traders on the same markets")
    assert "hardly luck" in words
    worst = [one._replace(own=one.mirror, mirror=one.own) for one in results]
    bad = controls_of(worst, random.Random(1))
    assert (bad.beaten, bad.share_better) == (0, 1)
    assert "bad, not unlucky" in verdict_words(bad, Interval(-1.0, -0.5))


@pytest.mark.parametrize(
    ("beaten", "roi", "words"),
    [
        (120, Interval(-0.1, 0.2), "better than 120 of 200 random traders"),
        (74, Interval(-0.1, 0.2), "better than only 74 of 200 random traders"),
        (74, Interval(-0.3, -0.1), "below 0 in 90 % of draws: no sign of skill"),
        (10, Interval(-0.3, -0.1), "below 0 in 90 % of draws: it is bad, not unlucky"),
        (150, Interval(0.1, 0.2), "this may well be luck"),
    ],
)
def test_a_loser_is_not_called_unlucky(beaten: int, roi: Interval, words: str) -> None:
    luck = LuckTest(Micros(0), (Micros(0),) * CONTROLS, beaten)
    assert words in verdict_words(luck, roi)


def test_a_trader_who_did_nothing_is_not_judged() -> None:
    luck = controls_of([], random.Random(1))
    assert "did not trade" in verdict_words(luck, None)
    few = controls_of(results_of(drawn_ledger(random.Random(1), markets=2)), random.Random(1))
    assert "too few events" in verdict_words(few, None)


def test_a_difference_is_drawn_by_the_events_of_both() -> None:
    rng = random.Random(2)
    first = results_of(drawn_ledger(rng))
    # The other made a unit less of each event, whatever that came to.
    other = [one._replace(own=Micros(one.own - ONE)) for one in first]
    more, interval = paired_difference(first, other, rng)
    assert more == ONE * len(first)
    assert interval is not None
    alone = bootstrap(by_block(first), lambda drawn: float(sum(one.own for one in drawn)), rng)
    assert alone is not None
    # What an event did to both is no luck of one: this interval is far narrower.
    assert interval.high - interval.low < (alone.high - alone.low) / 4
    none, _ = paired_difference(first, first, rng)
    assert none == 0


def test_the_same_trades_get_the_same_verdict() -> None:
    ledger = drawn_ledger(random.Random(4), stated=lambda price, _: price)
    one, two = (verdict_of([ledger], random.Random(0)) for _ in range(2))
    assert one == two
    assert one.roi_interval == bootstrap(by_block(results_of(ledger)), roi_of, random.Random(0))
