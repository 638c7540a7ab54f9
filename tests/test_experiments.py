"""The rules of a series of experiments: pauses, caps and the best result."""

import pytest

from service_tui.experiments import Result, SeriesState, standing
from service_tui.terms import Direction, ExperimentStatus, SessionState

KEEP, DROP = ExperimentStatus.KEEP, ExperimentStatus.DISCARD
CRASH, FAILED = ExperimentStatus.CRASH, ExperimentStatus.CHECKS_FAILED


def after(*statuses: ExperimentStatus, cap: int = 50) -> SeriesState:
    results = [Result(one, None if one.is_crash else 1.0) for one in statuses]
    return standing(results, cap=cap, direction=Direction.HIGHER)


def test_a_session_without_results_runs() -> None:
    found = after()
    assert found.state is SessionState.RUNNING
    assert (found.baseline, found.best, found.best_index) == (None, None, None)


@pytest.mark.parametrize("crash", [CRASH, FAILED])
def test_a_crash_of_the_first_experiment_pauses(crash: ExperimentStatus) -> None:
    found = after(crash)
    assert found.state is SessionState.PAUSED
    assert "misconfigured" in found.why
    assert "new name clears it" in found.why


def test_three_crashes_in_a_row_pause_and_two_do_not() -> None:
    assert after(KEEP, CRASH, FAILED).state is SessionState.RUNNING
    assert after(KEEP, CRASH, DROP, CRASH, CRASH).state is SessionState.RUNNING
    paused = after(KEEP, CRASH, FAILED, CRASH)
    assert paused.state is SessionState.PAUSED
    assert paused.crashes_in_row == 3


def test_a_pause_outlasts_what_is_logged_after_it() -> None:
    assert after(CRASH, KEEP, KEEP).state is SessionState.PAUSED


def test_the_cap_caps_and_four_fifths_of_it_warn() -> None:
    found = [after(*[KEEP] * count, cap=5) for count in range(6)]
    assert [one.near_cap for one in found] == [False] * 4 + [True] * 2
    assert [one.state for one in found] == [SessionState.RUNNING] * 5 + [SessionState.CAPPED]


def test_a_cap_of_zero_is_none() -> None:
    found = after(*[DROP] * 500, cap=0)
    assert found.state is SessionState.RUNNING
    assert not found.near_cap


def test_a_pause_goes_before_the_cap() -> None:
    assert after(KEEP, CRASH, CRASH, CRASH, cap=4).state is SessionState.PAUSED


def test_the_best_is_the_first_of_the_kept_ones_that_are_best() -> None:
    results = [Result(KEEP, 2.0), Result(DROP, 9.0), Result(KEEP, 3.0), Result(KEEP, 3.0)]
    found = standing(results, cap=0, direction=Direction.HIGHER)
    assert (found.baseline, found.best, found.best_index) == (2.0, 3.0, 2)
    lower = standing(results, cap=0, direction=Direction.LOWER)
    assert (lower.best, lower.best_index) == (2.0, 0)


def test_confidence_is_the_gain_in_spreads_and_needs_three_figures() -> None:
    two = [Result(KEEP, 1.0), Result(KEEP, 5.0)]
    assert standing(two, cap=0, direction=Direction.HIGHER).confidence is None
    four = [Result(KEEP, 1.0), Result(DROP, 2.0), Result(DROP, 3.0), Result(KEEP, 9.0)]
    # Median 2.5, deviations 1.5 0.5 0.5 6.5: their median is 1.
    assert standing(four, cap=0, direction=Direction.HIGHER).confidence == 8.0
    same = [Result(KEEP, 1.0)] * 4
    assert standing(same, cap=0, direction=Direction.HIGHER).confidence is None


def test_a_figure_of_zero_says_nothing_of_the_spread() -> None:
    figures = [Result(KEEP, 1.0), Result(DROP, 2.0), Result(DROP, 3.0), Result(KEEP, 9.0)]
    nothing = [Result(CRASH, 0.0), Result(FAILED, 0.0)]
    assert standing([*figures, *nothing], cap=0, direction=Direction.HIGHER).confidence == 8.0


def test_a_series_counts_what_was_kept_what_was_not_and_what_crashed() -> None:
    found = after(KEEP, DROP, DROP, CRASH, KEEP, KEEP, FAILED, cap=7)
    assert (found.kept, found.discarded, found.crashed, found.count) == (3, 2, 2, 7)
    assert found.crashes_in_row == 1
    assert found.why == "7 of 7 experiments are done; a session with a new name counts anew"


def test_the_best_needs_a_figure_and_may_be_below_zero() -> None:
    results = [Result(KEEP, None), Result(KEEP, -4.0), Result(KEEP, -2.0), Result(DROP, -1.0)]
    found = standing(results, cap=0, direction=Direction.HIGHER)
    assert (found.baseline, found.best, found.best_index) == (None, -2.0, 2)
    assert found.confidence is None
    found = standing(results[1:], cap=0, direction=Direction.LOWER)
    assert (found.baseline, found.best, found.best_index) == (-4.0, -4.0, 0)
    nothing = standing([Result(KEEP, None)], cap=0, direction=Direction.HIGHER)
    assert (nothing.best, nothing.best_index) == (None, None)


def test_three_figures_are_enough_however_small() -> None:
    three = [Result(KEEP, 0.25), Result(DROP, 0.75), Result(KEEP, 1.25)]
    found = standing(three, cap=0, direction=Direction.HIGHER)
    assert found.confidence == 2.0
    # Without a first figure, or without a kept one, there is no gain to measure.
    assert (
        standing([Result(KEEP, None), *three], cap=0, direction=Direction.HIGHER).confidence is None
    )
    dropped = [Result(DROP, one.metric) for one in three]
    assert standing(dropped, cap=0, direction=Direction.HIGHER).confidence is None


def test_the_third_crash_in_a_row_pauses_and_not_the_second() -> None:
    assert after(KEEP, CRASH, CRASH).state is SessionState.RUNNING
    assert after(KEEP, CRASH, CRASH, CRASH).why.startswith("3 experiments crashed in a row")


@pytest.mark.parametrize(
    ("figures", "confidence"),
    [
        # Median 0.3, deviations 0.2 0.1 0.1 0.6: their median is 0.15.
        ((0.1, 0.2, 0.4, 0.9), pytest.approx(0.8 / 0.15)),
        # Median 1.5, deviations 0.5 0.5 0.5 5.5.
        ((1.0, 1.0, 2.0, 7.0), 12.0),
    ],
)
def test_the_middle_of_an_even_number_of_figures_lies_between_two(
    figures: tuple[float, ...], confidence: object
) -> None:
    statuses = (KEEP, DROP, DROP, KEEP)
    results = [Result(*row) for row in zip(statuses, figures, strict=True)]
    assert standing(results, cap=0, direction=Direction.HIGHER).confidence == confidence


def test_a_series_of_one_is_not_near_its_end_before_it_began() -> None:
    assert [after(*[KEEP] * count, cap=1).near_cap for count in (0, 1)] == [False, True]


def test_a_kept_figure_of_zero_is_the_best_where_nothing_is_lower() -> None:
    results = [Result(KEEP, 2.0), Result(KEEP, 0.0), Result(KEEP, 1.0)]
    found = standing(results, cap=0, direction=Direction.LOWER)
    assert (found.best, found.best_index) == (0.0, 1)
