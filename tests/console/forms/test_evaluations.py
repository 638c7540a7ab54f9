"""The page of evaluations: what is luck, in a sentence, and every figure behind it."""

import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from kit.clock import ManualClock
from kit.console.doors import running, seen_before
from kit.console.walk import walking
from kit.samples.desk import sample_state
from kit.samples.evaluations import evaluation_of, skill_of, trial_of
from service_tui.console import formats
from service_tui.console.forms.evaluations import Evaluations, evaluation_text
from service_tui.desk.commands.research import ReadEvaluations
from service_tui.desk.slices.research import EvaluationView
from service_tui.desk.slices.service import Phase
from service_tui.desk.state import DeskState
from service_tui.notes.evaluations import FOLDER, REPORT_FILE, as_text
from service_tui.units import Timestamp

PNL_IS = '"pnl": '
PNL = PNL_IS + "36.42"
STATE = seen_before(sample_state())


def with_evaluations(*found: EvaluationView) -> DeskState:
    return replace(STATE, research=replace(STATE.research, evaluations=found))


def shown(view: EvaluationView, width: int = 150, *, masked: bool = False) -> str:
    return evaluation_text(view, width, masked=masked).plain


def test_luck_stands_first_and_each_figure_has_its_interval() -> None:
    text = shown(evaluation_of())
    lines = text.split("\n")
    assert lines[0] == "momentum"
    assert lines[1].startswith("better than 187 of 200 random traders")
    for part in (
        "412 in 118 events",
        "2.0% (-2.1 to 6.3%)",
        "0.024 (-0.004 to 0.051)",
        "0.1874, 0.1921",
        "+0.6 pt",
        "equity, $SIM: seed 1, seed 2",
        "better than 187 of 200",
        "science   220  1,100.00  +41.00",
    ):
        assert part in text, part


@pytest.mark.parametrize("width", [60, 74, 109, 110, 150, 240])
def test_no_line_is_wider_than_the_page(width: int) -> None:
    text = shown(evaluation_of(skill_of(), skill_of("closing-favourite")), width)
    # What is a sentence goes on in the next line.
    prose = ("random traders on", "made more than")
    lines = [line for line in text.split("\n") if not any(part in line for part in prose)]
    assert max(map(len, lines)) <= width
    assert "momentum made more than closing-favourite: +12.50 (-3.25 to 30.00)" in text


def test_tables_stand_side_by_side_where_there_is_room() -> None:
    def beside(width: int) -> bool:
        lines = shown(evaluation_of(), width).split("\n")
        return any("calibration" in line and "edge, in points" in line for line in lines)

    assert beside(150)
    assert not beside(80)


def test_what_went_wrong_is_told_by_name() -> None:
    trial = trial_of(
        ended="it hangs: a round took 60 s",
        errors={"ValueError: [red]no\x1b[2J": 3},
        refusals={"DAILY_LIMIT": 1},
        left_behind=2,
        skipped_rounds=4,
        is_fenced=False,
        rounds=7,
    )
    text = shown(evaluation_of(skill_of(trials=(trial,))))
    for part in (
        "seed 1: ended after 7 rounds: it hangs: a round took 60 s",
        "seed 1: 3 rounds failed: ValueError: [red]no",
        "seed 1: 1 order refused: DAILY_LIMIT",
        "seed 1: 2 programs left behind, and ended",
        "seed 1: 4 rounds skipped while it waited",
        "this proves nothing",
    ):
        assert part in text, part
    assert "\x1b" not in text


def test_a_skill_that_did_nothing_has_no_figure() -> None:
    bare = skill_of(
        trials=(trial_of(curve=()),), controls=(), calibration=(), edges=(), groups={},
        roi=None, roi_interval=None, skill_score=None, skill_interval=None, brier=None,
        market_brier=None, log_loss=None, market_log_loss=None, closing_line=None,
    )  # fmt: skip
    text = shown(evaluation_of(bare))
    assert "equity" not in text
    assert "None" not in text


def test_amounts_are_hidden_while_they_are_masked() -> None:
    text = shown(evaluation_of(skill_of(), skill_of("other")), masked=True)
    for amount in ("36.42", "1,100.00", "41.00", "12.50", "10,0"):
        assert amount not in text
    assert "2.0%" in text


def test_a_report_that_cannot_be_read_says_why() -> None:
    view = EvaluationView("old", Timestamp(0.0), None, "its file has another form")
    assert shown(view) == "its file has another form"


@pytest.mark.slow
async def test_the_arrows_go_to_older_and_newer_ones() -> None:
    found = (evaluation_of(name="newest"), evaluation_of(name="older"))
    async with running(with_evaluations(*found), first="research", size=(120, 40)) as seen:
        await seen.press("e")
        assert isinstance(seen.app.screen, Evaluations)
        assert any(isinstance(one, ReadEvaluations) for one in seen.doors.submitted)
        when = formats.date_time(found[0].at).plain
        assert f"1 of 2  newest  {when}" in seen.text
        await seen.press("right", "right")
        assert "2 of 2  older" in seen.text
        await seen.press("left")
        assert "1 of 2  newest" in seen.text
        await seen.press("escape")
        assert not isinstance(seen.app.screen, Evaluations)


@pytest.mark.slow
async def test_reports_of_the_data_directory_are_read_whatever_lies_beside_them(
    tmp_path: Path,
) -> None:
    view = evaluation_of()
    assert view.report is not None
    text = as_text(view.report)
    odd = {
        "good": text,
        "half": text[: len(text) // 2],
        "other": text.replace("service-tui/evaluation/1", "service-tui/evaluation/9"),
        "endless": text.replace(PNL, PNL_IS + "1e400"),
        "huge": text.replace(PNL, PNL_IS + "1e300"),
        "word": text.replace(PNL, PNL_IS + '"much"'),
    }
    for name, content in odd.items():
        (tmp_path / FOLDER / name).mkdir(parents=True)
        (tmp_path / FOLDER / name / REPORT_FILE).write_text(content)
    (tmp_path / FOLDER / "link").symlink_to(tmp_path)
    async with walking(tmp_path, ManualClock(), size=(120, 40)) as walk:
        await walk.until(lambda state: state.service.phase is Phase.ONLINE)
        for key in ("enter", "6", "e"):
            await walk.press(key)
        await walk.until(lambda state: state.research.evaluations is not None)
        found = {one.name: one for one in walk.state.research.evaluations or ()}
        assert set(found) == set(odd)
        assert found["good"].report == view.report
        problems = {name: one.problem for name, one in found.items() if one.report is None}
        assert set(problems) == set(odd) - {"good"}
        assert "its form is service-tui/evaluation/9" in problems["other"]
        assert "beyond all measure" in problems["huge"]
        shutil.rmtree(tmp_path / FOLDER)


@pytest.mark.slow
async def test_a_desk_without_one_says_how_to_make_it() -> None:
    async with running(with_evaluations(), first="research") as seen:
        await seen.press("e")
        assert "service-tui evaluate momentum" in seen.text
