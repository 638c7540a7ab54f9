"""Experiments and sessions of agents."""

import json

from kit.engine.made import experiment, session
from service_tui.engine.codec.events import dumps
from service_tui.engine.codec.research import research_fields, restore_research
from service_tui.engine.research.research import KEPT, SESSIONS_KEPT, Research
from service_tui.terms import Direction, ExperimentStatus, SessionState


def posted(*events: object) -> Research:
    research = Research()
    for event in events:
        research.apply(event)  # type: ignore[arg-type]
    return research


def test_a_skill_without_results_has_a_fresh_state() -> None:
    found = Research().state("ada", "weather-edge")
    assert (found.last_number, found.segment, found.last) == (0, 0, None)
    assert found.standing.state is SessionState.RUNNING


def test_the_state_is_that_of_the_newest_segment() -> None:
    crash = ExperimentStatus.CRASH
    research = posted(
        experiment(1, status=crash, metric=None),
        experiment(2, segment=1, session="again"),
        experiment(3, segment=1, session="again", metric=9.0),
        experiment(4, segment=1, session="again", status=ExperimentStatus.DISCARD),
    )
    found = research.state("ada", "weather-edge")
    assert (found.segment, found.last_number, found.best_number) == (1, 4, 3)
    assert found.standing.state is SessionState.RUNNING
    assert (found.standing.baseline, found.standing.best) == (2.0, 9.0)


def test_agents_and_skills_are_apart() -> None:
    research = posted(
        experiment(1), experiment(1, agent_id="bob"), experiment(1, skill="fast-loop")
    )
    assert research.state("bob", "weather-edge").standing.count == 1
    assert research.skills("ada") == ["fast-loop", "weather-edge"]
    assert research.experiments("bob", "fast-loop") == []


def test_a_reference_tells_a_result_that_is_sent_again() -> None:
    research = posted(experiment(1), experiment(2))
    again = experiment(7, ref="r2", metric=5.0, at=9.0)
    assert research.same(again) == experiment(2)
    assert research.same(experiment(3)) is None


def test_without_a_reference_the_whole_result_tells_it() -> None:
    first = experiment(1, ref="")
    research = posted(first)
    assert research.same(experiment(1, ref="", at=99.0, experiment_id="x9")) == first
    assert research.same(experiment(1, ref="", metric=1.5)) is None


def test_the_best_before_a_result_is_of_its_segment() -> None:
    research = posted(experiment(1, metric=9.0), experiment(2, segment=1, metric=2.0))
    third = experiment(3, segment=1, metric=4.0)
    assert research.best_before(third) == 2.0
    assert research.best_before(experiment(4, segment=2)) is None
    research.apply(third)
    assert research.best_before(third) == 2.0
    assert research.new_bests("ada") == {"x1", "x2", "x3"}


def test_what_is_not_kept_or_has_no_metric_is_no_best() -> None:
    research = posted(
        experiment(1, status=ExperimentStatus.DISCARD, metric=50.0),
        experiment(2, metric=3.0),
        experiment(3, metric=None, status=ExperimentStatus.CRASH),
        experiment(4, metric=3.0),
        experiment(5, status=ExperimentStatus.DISCARD, metric=90.0),
        experiment(6, metric=4.0),
    )
    assert research.new_bests("ada") == {"x2", "x6"}
    assert research.best_before(experiment(7)) == 4.0
    assert research.best_before(experiment(6, metric=4.0)) == 3.0


def test_a_result_that_recovers_from_a_worse_one_is_no_new_best() -> None:
    research = posted(
        experiment(1, metric=5.0), experiment(2, metric=2.0), experiment(3, metric=4.0),
        experiment(4, metric=5.0), experiment(5, metric=5.5),
    )  # fmt: skip
    assert research.new_bests("ada") == {"x1", "x5"}


def test_a_result_that_is_sent_again_is_found_behind_those_of_others() -> None:
    first = experiment(1, ref="")
    research = posted(
        first, experiment(2, skill="fast-loop", ref=""), experiment(3, ref="r3"),
        experiment(4, ref="", metric=7.0),
    )  # fmt: skip
    assert research.same(experiment(1, ref="")) == first
    assert research.same(experiment(9, ref="r3")) == experiment(3, ref="r3")
    assert research.same(experiment(9, skill="fast-loop", ref="r3")) is None


def test_lower_is_better_where_it_was_said() -> None:
    low = Direction.LOWER
    research = posted(
        experiment(1, direction=low, metric=3.0), experiment(2, direction=low, metric=1.0)
    )
    assert research.state("ada", "weather-edge").best_number == 2
    assert research.new_bests("ada") == {"x1", "x2"}


def test_a_snapshot_brings_everything_back() -> None:
    research = posted(experiment(1), experiment(2, agent_id="bob", metric=None))
    again = Research()
    restore_research(again, json.loads(dumps(research_fields(research))))
    assert (again.by_agent, again.count) == (research.by_agent, 2)
    restore_research(again, None)
    assert again.count == 2


def test_memory_holds_a_bounded_past() -> None:
    research = posted(*(experiment(number) for number in range(1, KEPT + 3)))
    assert len(research.experiments("ada")) == KEPT
    assert research.count == KEPT + 2


def test_memory_holds_the_newest_sessions_of_each_agent() -> None:
    research, rows = Research(), [session()._replace(skill=f"s{n}") for n in range(SESSIONS_KEPT)]
    for row in (session()._replace(agent_id="bob"), *rows, rows[0]._replace(segment=2)):
        research.begin(row)
    # What began again is not the oldest.
    research.begin(session()._replace(skill="last"))
    assert {"s0", "last"} <= set(research.skills("ada"))
    assert "s1" not in research.skills("ada")
    assert len(research.skills("ada")) == SESSIONS_KEPT
    assert research.skills("bob") == ["weather-edge"]
    again = Research()
    restore_research(again, json.loads(dumps(research_fields(research))))
    assert research_fields(again) == research_fields(research)
    again.begin(session()._replace(skill="newer"))
    assert "s2" not in again.skills("ada")
