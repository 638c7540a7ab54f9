"""What the records of redemptions say of themselves."""

from dataclasses import replace

import pytest

from kit.samples.desk import NOW
from service_tui.desk.slices.redemption import (
    AutoView,
    ChainRunState,
    RedemptionRow,
    RedemptionView,
    RunView,
    Stage,
    Step,
    StepView,
)
from service_tui.terms import MONEY_OF, Side, Venue
from service_tui.units import ONE, Micros, Timestamp

STEPS = tuple(StepView(step, Timestamp(NOW + place)) for place, step in enumerate(Step))
ROW = RedemptionRow(
    "m1", "Will it?", Side.NO, Venue.EVM, Stage.READY, Micros(9 * ONE), Micros(4 * ONE),
    Micros(8 * ONE),
)  # fmt: skip


def run(state: ChainRunState = ChainRunState.RUNNING, **other: object) -> RunView:
    made = RunView("m1", Side.NO, Venue.EVM, "Will it?", state)
    return replace(made, **other)  # type: ignore[arg-type]


def test_a_run_and_its_row_have_one_name_and_one_money() -> None:
    assert run().key == ROW.key == "m1:no"
    assert run().money == ROW.money == MONEY_OF[Venue.EVM]
    assert run(side=Side.YES).key == replace(ROW, side=Side.YES).key == "m1:yes"


def test_a_run_knows_its_latest_step_and_when_each_was_taken() -> None:
    assert (run().last, run().at(Step.REQUESTED)) == (None, None)
    halfway = run(steps=STEPS[:3])
    assert halfway.last is Step.SIGNED
    assert [halfway.at(step) for step in Step] == [NOW, NOW + 1, NOW + 2, None, None, None]


def test_a_run_under_way_is_one_that_may_still_pay() -> None:
    assert {state for state in ChainRunState if state.is_open} == {
        ChainRunState.RUNNING,
        ChainRunState.UNCONFIRMED,
        ChainRunState.REPORTING,
    }


@pytest.mark.parametrize("stage", Stage)
@pytest.mark.parametrize("lost", [True, False])
@pytest.mark.parametrize("manual", [True, False])
def test_a_winning_side_that_is_final_is_redeemed_here(
    stage: Stage, *, lost: bool, manual: bool
) -> None:
    row = replace(ROW, stage=stage, lost=lost, manual=manual)
    assert row.is_ready == (stage is Stage.READY and not lost and not manual)


@pytest.mark.parametrize("on_service", [None, True, False])
@pytest.mark.parametrize("allowed", [True, False])
def test_it_redeems_by_itself_where_both_agree(*, on_service: bool | None, allowed: bool) -> None:
    assert AutoView(on_service, allowed).is_on == (on_service is True and allowed)


def test_what_is_ready_is_not_being_redeemed_already() -> None:
    yes, other = replace(ROW, side=Side.YES), replace(ROW, market_id="m2")
    lost = replace(ROW, market_id="m3", lost=True)
    failed = run(ChainRunState.FAILED, market_id="m2")
    view = RedemptionView((ROW, yes, other, lost), (run(), failed, run(ChainRunState.DONE)))
    assert view.ready == (yes, other)
    assert (view.row("m2:no"), view.row("m9:no")) == (other, None)
    # The newest run of a position comes first.
    assert (view.run("m1:no"), view.run("m2:no"), view.run("m3:no")) == (run(), failed, None)
