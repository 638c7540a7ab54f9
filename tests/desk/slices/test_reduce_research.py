"""Experiments of files and service in one state."""

from dataclasses import replace

import pytest

from kit.samples.research import experiment_of, research_sample, session_of, some_experiments
from service_tui.desk.slices.research import (
    BacktestRequested,
    BacktestSeen,
    ExperimentView,
    FilesSeen,
    ResearchSeen,
    ResearchView,
    SessionView,
    Source,
    reduce_research,
)
from service_tui.terms import Direction, ExperimentStatus, SessionState
from service_tui.units import Timestamp

ROWS = some_experiments()


def test_a_row_that_file_and_service_know_stands_once() -> None:
    told = ResearchSeen(Source((session_of(),), ROWS[1:]))
    filed = FilesSeen(Source((session_of(),), tuple(replace(one, synced=False) for one in ROWS)))
    research = reduce_research(reduce_research(ResearchView(), filed), told)
    assert [one.number for one in research.experiments] == list(range(12, 0, -1))
    assert [one.number for one in research.experiments if not one.synced] == [12]
    assert len(research.sessions) == 1


UNCOUNTED = session_of(kept=None, discarded=None, crashed=None)


@pytest.mark.parametrize(
    ("session", "rows", "counts"),
    [
        (UNCOUNTED, ROWS, (4, 6, 2)),
        (UNCOUNTED, ROWS[1:], (None, None, None)),
        (UNCOUNTED, (), (None, None, None)),
        (replace(UNCOUNTED, count=0), (), (0, 0, 0)),
        (replace(UNCOUNTED, count=0, segment=2), ROWS, (0, 0, 0)),
        (session_of(kept=7, discarded=0, crashed=5), ROWS, (7, 0, 5)),
    ],
)
def test_outcomes_are_those_that_the_service_counts_or_lists_whole(
    session: SessionView, rows: tuple[ExperimentView, ...], counts: tuple[int | None, ...]
) -> None:
    research = reduce_research(ResearchView(), ResearchSeen(Source((session,), rows)))
    (found,) = research.sessions
    assert (found.kept, found.discarded, found.crashed) == counts


def test_changes_are_against_the_baseline_and_the_best_of_the_segment() -> None:
    research = reduce_research(ResearchView(), ResearchSeen(Source((session_of(),), ROWS)))
    best = next(one for one in research.experiments if one.is_best)
    assert best.number == 9
    assert best.behind == 0.0
    assert best.change is not None
    assert abs(best.change - (3.4 - 1.2) / 1.2) < 1e-9
    assert sum(one.is_best for one in research.experiments) == 1


def test_lower_is_better_where_the_session_says_so() -> None:
    rows = [
        experiment_of(2, metric=0.6, direction=Direction.LOWER),
        experiment_of(1, metric=1.2, direction=Direction.LOWER),
    ]
    research = reduce_research(ResearchView(), ResearchSeen(Source((), tuple(rows))))
    assert research.experiments[0].is_best
    assert research.experiments[0].change == 0.5


def test_a_discarded_result_is_never_the_best() -> None:
    rows = (
        experiment_of(2, metric=99.0, status=ExperimentStatus.DISCARD),
        experiment_of(1),
    )
    research = reduce_research(ResearchView(), ResearchSeen(Source((), rows)))
    assert [one.number for one in research.experiments if one.is_best] == [1]


def test_the_service_counts_where_another_machine_went_on() -> None:
    ours = session_of(count=3, state=SessionState.PAUSED, is_open=True, repository="/r")
    theirs = session_of(count=9, repository="", last_at=Timestamp(5.0))
    seen = reduce_research(ResearchView(), FilesSeen(Source((ours,), ())))
    seen = reduce_research(seen, ResearchSeen(Source((theirs,), ())))
    assert seen.sessions[0].count == 9
    assert seen.sessions[0].state is SessionState.RUNNING
    assert seen.sessions[0].repository == "/r"


def test_a_new_session_of_the_file_is_shown_before_its_first_result() -> None:
    old = session_of(segment=1, state=SessionState.PAUSED, why="3 crashes in a row")
    new = session_of(segment=2, count=0, name="again")
    seen = reduce_research(ResearchView(), ResearchSeen(Source((old,), ())))
    seen = reduce_research(seen, FilesSeen(Source((new,), ())))
    assert [(one.name, one.state) for one in seen.sessions] == [("again", SessionState.RUNNING)]


def test_nothing_new_changes_nothing() -> None:
    seen = reduce_research(ResearchView(), ResearchSeen(Source((session_of(),), ROWS)))
    assert reduce_research(seen, ResearchSeen(Source((session_of(),), ROWS))) is seen


def test_only_the_newest_backtest_is_shown() -> None:
    sample = research_sample()
    asked = reduce_research(sample, BacktestRequested(7))
    assert asked.request_id == 7
    for other in (6, 8):
        assert reduce_research(asked, BacktestSeen(other, None, "too late")) is asked
    failed = reduce_research(asked, BacktestSeen(7, None, "no trades"))
    assert (failed.request_id, failed.problem) == (0, "no trades")
    assert failed.backtest is sample.backtest


def test_a_new_request_forgets_the_last_problem() -> None:
    failed = replace(research_sample(), problem="no trades")
    assert reduce_research(failed, BacktestRequested(8)).problem == ""


def test_what_a_plan_lacks_takes_nothing_away_that_was_read() -> None:
    read = reduce_research(ResearchView(), ResearchSeen(Source((session_of(),), ROWS)))
    barred = reduce_research(read, ResearchSeen(Source((), ()), needs_plan=True))
    assert (barred.needs_plan, barred.experiments) == (True, read.experiments)


def test_the_experiments_of_a_session_are_those_of_its_skill_and_its_agent() -> None:
    session = session_of()
    other = replace(ROWS[0], agent=f"not {ROWS[0].agent}", number=77)
    research = ResearchView(experiments=(other, *ROWS))
    own = tuple(one for one in ROWS if (one.skill, one.agent) == (session.skill, session.agent))
    assert own
    assert research.of(session) == own
