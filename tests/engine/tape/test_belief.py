"""The belief process: its mean, its jumps, and access at any time."""

import math
import random
from functools import cache
from typing import Final

import pytest

from kit.engine.topics import TOPICS
from service_tui.engine.listing import Listing, NewsReport
from service_tui.engine.tape.belief import (
    CERTAIN,
    NEWS_JUMP_MIN,
    belief,
    chance_of,
    log_odds,
    news_jump,
)
from service_tui.engine.tape.draws import Draws, bits, mix, unit
from service_tui.engine.tape.feed import Tape
from service_tui.engine.tape.slots import SLOTS
from service_tui.engine.tape.topics import Scope
from service_tui.terms import Category
from service_tui.units import Micros, Probability, Timestamp

SEED: Final = 20_260_101
NUMBERS: Final = range(1_000, 1_040)
PRICED: Final = [-0.549099136, 0.14262884, 1.467930066, 3.294657731]
"""Log-odds of a fixed market; if these change, old journals continue at other prices."""

ERRORS: Final = 4.0
"""Standard errors that a mean may be off; the seed is fixed, so that a pass stays a pass."""


@cache
def lives() -> tuple[Listing, ...]:
    tape = Tape(SEED, TOPICS)
    return tuple(tape.listing_of(slot.index, number) for slot in SLOTS for number in NUMBERS)


def moment(listing: Listing, share: float) -> Timestamp:
    life_s = listing.resolves_at - listing.opens_at
    return Timestamp(listing.opens_at + share * life_s)


def mean_and_error(values: list[float]) -> tuple[float, float]:
    mean = sum(values) / len(values)
    variance = sum((value - mean) ** 2 for value in values) / (len(values) - 1)
    return mean, math.sqrt(variance / len(values))


@pytest.mark.slow
@pytest.mark.parametrize("share", [0.1, 0.3, 0.5, 0.7, 0.9, 0.98])
def test_the_mean_belief_stays_at_the_start_price(share: float) -> None:
    drifts = [belief(one, moment(one, share)) - one.start_price for one in lives()]
    mean, error = mean_and_error(drifts)
    assert abs(mean) < ERRORS * error


@pytest.mark.slow
@pytest.mark.parametrize(("early", "late"), [(0.2, 0.4), (0.4, 0.8), (0.6, 0.95)])
def test_no_belief_says_where_the_next_one_goes(early: float, late: float) -> None:
    moves: list[list[float]] = [[] for _ in range(5)]
    for one in lives():
        before = belief(one, moment(one, early))
        moves[min(4, int(before * 5))].append(belief(one, moment(one, late)) - before)
    for group in moves:
        mean, error = mean_and_error(group)
        assert abs(mean) < ERRORS * error


@pytest.mark.slow
@pytest.mark.parametrize("share", [0.25, 0.5, 0.85])
def test_beliefs_come_true_as_often_as_they_say(share: float) -> None:
    groups: list[list[tuple[float, bool]]] = [[] for _ in range(8)]
    for one in lives():
        chance = belief(one, moment(one, share))
        groups[min(7, int(chance * 8))].append((chance, one.outcome))
    for group in groups:
        expected = sum(chance for chance, _ in group)
        error = math.sqrt(sum(chance * (1.0 - chance) for chance, _ in group))
        assert abs(sum(outcome for _, outcome in group) - expected) < ERRORS * error


@pytest.mark.slow
def test_beliefs_end_at_the_outcome() -> None:
    for one in lives():
        sign = 1.0 if one.outcome else -1.0
        assert sign * log_odds(one, moment(one, 1.0 - 1e-5)) > 10.0
        end = CERTAIN if one.outcome else 1.0 - CERTAIN
        assert belief(one, one.resolves_at) == pytest.approx(end)
        assert belief(one, one.resolved_at) == pytest.approx(end)
    near = [abs(belief(one, moment(one, 0.995)) - one.outcome) for one in lives()]
    assert sum(near) / len(near) < 0.01


@pytest.mark.slow
def test_a_market_begins_at_its_start_price() -> None:
    for one in lives():
        assert belief(one, one.opens_at) == pytest.approx(one.start_price)
        assert belief(one, moment(one, -0.5)) == pytest.approx(one.start_price)


@pytest.mark.slow
def test_beliefs_stay_prices() -> None:
    for one in lives():
        for step in range(-1, 12):
            assert 0.000499 < belief(one, moment(one, step / 10)) < 0.999501


@pytest.mark.slow
def test_random_access_equals_sequential_access() -> None:
    shares = [step / 500 for step in range(500)]
    mixed = shares.copy()
    random.Random(5).shuffle(mixed)
    for one in lives()[::400]:
        path = {share: belief(one, moment(one, share)) for share in shares}
        assert {share: belief(one, moment(one, share)) for share in mixed} == path


def test_the_same_seed_believes_the_same() -> None:
    again = Tape(SEED, TOPICS)
    for one in lives()[::97]:
        twin = again.listing_of(one.slot, one.number)
        assert [belief(twin, moment(one, k / 7)) for k in range(8)] == [
            belief(one, moment(one, k / 7)) for k in range(8)
        ]


def test_a_listing_kept_in_the_journal_is_priced_as_ever() -> None:
    kept = Listing(
        market_id="05f40b69-1e49-49e5-a551-7c9c368dcaf3",
        slot=0,
        number=1,
        category=Category.POLITICS,
        question="Will Yes lead?",
        criteria="YES if it leads.",
        tags=("politics", "referendum", "minutes"),
        b=Micros(1_000_000_000),
        start_price=Probability(0.4),
        opens_at=Timestamp(1_000_000.0),
        resolves_at=Timestamp(1_000_400.0),
        resolved_at=Timestamp(1_000_424.0),
        outcome=True,
        strength=0.8,
        news=(NewsReport(Timestamp(1_000_150.0), 0.5, "Yes leads"),),
    )
    assert [round(log_odds(kept, moment(kept, k / 5)), 9) for k in range(1, 5)] == PRICED


@pytest.mark.parametrize(
    ("odds", "chance"),
    [(0.0, 0.5), (1.0, 0.731059), (-1.0, 0.268941), (50.0, CERTAIN), (-50.0, 1 - CERTAIN)],
)
def test_odds_become_a_price_short_of_certainty(odds: float, chance: float) -> None:
    assert chance_of(odds) == pytest.approx(chance, abs=1e-6)


def test_a_path_of_a_no_market_is_the_same_in_every_release() -> None:
    kept = Listing(
        market_id="05f40b69-1e49-49e5-a551-7c9c368dcaf3",
        slot=0,
        number=1,
        category=Category.POLITICS,
        question="",
        criteria="",
        tags=(),
        b=Micros(1_000_000_000),
        start_price=Probability(0.7),
        opens_at=Timestamp(1_000_000.0),
        resolves_at=Timestamp(1_600_000.0),
        resolved_at=Timestamp(1_600_024.0),
        outcome=False,
        strength=1.1,
        news=(
            NewsReport(Timestamp(1_150_000.0), -0.5, "No"),
            NewsReport(Timestamp(1_300_000.0), 0.25, "Yes"),
        ),
    )
    assert [round(log_odds(kept, moment(kept, k / 8)), 9) for k in range(-1, 10)] == [
        0.84729786,
        0.84729786,
        0.480894327,
        -0.066053943,
        -0.311572408,
        0.593156707,
        1.19090798,
        -0.068849292,
        2.587909519,
        -7.600402335,
        -7.600402335,
    ]


def test_another_seed_believes_something_else() -> None:
    other = Tape(SEED + 1, TOPICS)
    pairs = [(one, other.listing_of(one.slot, one.number)) for one in lives()[::97]]
    assert all(one.market_id != twin.market_id for one, twin in pairs)
    assert all(log_odds(one, moment(one, 0.5)) != log_odds(twin, moment(twin, 0.5))
               for one, twin in pairs)  # fmt: skip


@pytest.mark.slow
def test_news_moves_the_log_odds_by_its_jump_at_once() -> None:
    seen = 0
    for one in lives():
        for report in one.news:
            before = Timestamp(math.nextafter(report.at, 0.0))
            step = log_odds(one, report.at) - log_odds(one, before)
            assert step == pytest.approx(report.jump, abs=1e-4)
            seen += 1
    assert seen > 4_000


@pytest.mark.slow
def test_between_news_the_belief_does_not_leap() -> None:
    for one in lives()[::101]:
        odds = [log_odds(one, moment(one, step / 4_000)) for step in range(3_000)]
        news = {int((report.at - one.opens_at) / (one.resolves_at - one.opens_at) * 4_000)
                for report in one.news}  # fmt: skip
        for step in range(2_999):
            if step not in news:
                assert abs(odds[step + 1] - odds[step]) < 0.35


@pytest.mark.slow
@pytest.mark.parametrize(("scope", "shares"), [(Scope.MINUTES, 30), (Scope.WEEKS, 200)])
def test_short_and_long_markets_both_move_visibly(scope: Scope, shares: int) -> None:
    moves = [
        abs(belief(one, moment(one, (k + 1) / shares)) - belief(one, moment(one, k / shares)))
        for one in lives()[::3]
        if SLOTS[one.slot].clock.scope is scope
        for k in range(shares // 2)
    ]
    assert sum(moves) / len(moves) > 0.003


@pytest.mark.slow
def test_a_jump_is_the_ratio_of_its_likelihoods() -> None:
    for strength in (0.3, 0.7, 1.2):
        draws = Draws(SEED, int(strength * 10))
        on_yes = [math.exp(-news_jump(draws, strength, outcome=True)) for _ in range(8_000)]
        on_no = [math.exp(news_jump(draws, strength, outcome=False)) for _ in range(8_000)]
        for ratios in (on_yes, on_no):
            mean, error = mean_and_error(ratios)
            assert abs(mean - 1.0) < ERRORS * error


def test_no_jump_is_faint() -> None:
    draws = Draws(SEED, 3)
    jumps = [news_jump(draws, 0.4, outcome=k % 2 == 0) for k in range(2_000)]
    assert min(abs(jump) for jump in jumps) >= NEWS_JUMP_MIN
    assert min(jumps) < 0 < max(jumps)


def test_draws_do_not_change_from_one_release_to_the_next() -> None:
    # SplitMix64 from seed 1234567, the published first outputs.
    assert [bits(1_234_567, count) for count in (1, 2, 3)] == [
        6_457_827_717_110_365_317,
        3_203_168_211_198_807_973,
        9_817_491_932_198_370_423,
    ]


@pytest.mark.slow
def test_draws_fill_their_range_evenly() -> None:
    draws = Draws(1, 2)
    values = [draws.unit() for _ in range(20_000)]
    mean, error = mean_and_error(values)
    assert abs(mean - 0.5) < ERRORS * error
    assert 0.0 < min(values) < 0.001
    assert 0.999 < max(values) < 1.0
    normals = [draws.normal() for _ in range(20_000)]
    mean, error = mean_and_error(normals)
    assert abs(mean) < ERRORS * error
    assert error * math.sqrt(20_000) == pytest.approx(1.0, abs=0.02)
    assert {draws.below(3) for _ in range(100)} == {0, 1, 2}


def test_the_order_of_keys_counts() -> None:
    assert mix(1, 2) != mix(2, 1)
    assert mix(-1) == mix(2**64 - 1)
    assert unit(5, 1) != unit(5, 2)
