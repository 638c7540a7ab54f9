"""Runs of skills as the desk lists them."""

from kit.samples.fleet import run_of
from service_tui.desk.changes import Changed
from service_tui.desk.slices.supervision import (
    RUNS_MAX,
    SkillRunState,
    SupervisionView,
    reduce_fleet,
)

OVER = SkillRunState.DONE


def test_a_run_is_listed_once_and_keeps_its_place() -> None:
    view = SupervisionView(runs=(run_of("r3"), run_of("r2"), run_of("r1")))
    changed = run_of("r2", runs_count=10)
    assert reduce_fleet(view, Changed(changed)).runs == (run_of("r3"), changed, run_of("r1"))


def test_a_new_run_comes_first_and_the_oldest_ended_one_goes() -> None:
    over = tuple(run_of(f"r{place}", state=OVER) for place in range(RUNS_MAX))
    alive = run_of("alive")
    view = reduce_fleet(SupervisionView(runs=(*over, alive)), Changed(run_of("new", state=OVER)))
    assert [one.run_id for one in view.runs] == [
        "new", *(one.run_id for one in over[:-1]), "alive"
    ]  # fmt: skip
