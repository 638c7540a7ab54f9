"""The research screen: sessions, experiments, backtests, and actions."""

from dataclasses import replace

import pytest
from textual.command import CommandPalette
from textual.widgets import Input

from kit.console.doors import Running, running, seen_before
from kit.console.painted import strips_of
from kit.console.textual_private import hit_count
from kit.samples.desk import sample_state
from kit.samples.research import point_of, research_sample, session_of, some_experiments
from service_tui.console.fields import FieldError
from service_tui.console.screens.research.chart import metric_chart, sweep_chart
from service_tui.console.screens.research.detail import backtest_text
from service_tui.console.screens.research.forms import BacktestForm, SessionForm, read_thresholds
from service_tui.console.screens.research.screen import ResearchScreen
from service_tui.desk.commands.research import EndSession, ResetSession, RunBacktest, ShowDiff
from service_tui.desk.commands.settings import SetPreference
from service_tui.desk.slices.research import (
    DiffView,
    ResearchSeen,
    ResearchView,
    Source,
    reduce_research,
)
from service_tui.terms import SessionState, Venue

STATE = replace(seen_before(sample_state()), research=research_sample())


def screen(seen: Running) -> ResearchScreen:
    front = seen.app.front
    assert isinstance(front, ResearchScreen)
    return front


def given(seen: Running) -> list[object]:
    return [one for one in seen.doors.submitted if not isinstance(one, SetPreference)]


def text(seen: Running) -> str:
    return "\n".join(
        "".join(segment.text for segment in line) for line in strips_of(seen.app.screen)
    )


@pytest.mark.slow
async def test_the_screen_tells_sessions_experiments_and_what_runs() -> None:
    async with running(STATE, size=(120, 40)) as seen:
        await seen.press("6")
        assert [screen(seen).table.order[place].number for place in (0, 11)] == [12, 1]
        told = text(seen)
        for wanted in (
            "● running", "tighter edges", "12/50 experiments", "✗ crash", "best",
            "min_edge at 0.09", "METRIC pnl=3.1", "▶", "baseline",
        ):  # fmt: skip
            assert wanted in told, wanted


@pytest.mark.slow
async def test_the_next_session_says_why_it_is_paused_and_what_clears_it() -> None:
    async with running(STATE, size=(120, 40)) as seen:
        await seen.press("6", "o")
        assert "a session with a new name clears it" in text(seen)
        await seen.press("d")
        assert given(seen) == [EndSession("fast-loop")]


@pytest.mark.parametrize(
    ("count", "text_shown"),
    [(12, "4 kept 6 dropped 2 crashed"), (13, "- kept - dropped - crashed")],
)
async def test_outcomes_that_nobody_counted_are_not_shown_as_none(
    count: int, text_shown: str
) -> None:
    uncounted = session_of(count=count, kept=None, discarded=None, crashed=None)
    seen = ResearchSeen(Source((uncounted,), some_experiments()))
    state = replace(STATE, research=reduce_research(ResearchView(), seen))
    async with running(state, size=(120, 40)) as console:
        await console.press("6")
        await console.until(lambda: text_shown in text(console))


@pytest.mark.slow
async def test_a_backtest_is_asked_for_in_a_form_and_drawn() -> None:
    async with running(STATE, size=(120, 40)) as seen:
        await seen.press("6", "b")
        assert isinstance(seen.app.screen, BacktestForm)
        assert "of this desk's agent" in text(seen)
        await seen.press("enter")
        (order,) = given(seen)
        assert isinstance(order, RunBacktest)
        assert (order.skill, order.days, order.sweep[0][0]) == ("weather-edge", 7, "min_edge")
        assert len(order.sweep[0][1]) == 20
        await seen.until(lambda: "best: min_edge" in text(seen))
        told = text(seen)
        assert "█" in told
        assert "best: min_edge" in told


@pytest.mark.slow
@pytest.mark.parametrize(
    ("typed", "venue"), [("evm_venue", Venue.EVM), ("sim", Venue.SIM), ("sol_venue", None)]
)
async def test_a_backtest_is_asked_of_a_venue(typed: str, venue: Venue | None) -> None:
    async with running(STATE, size=(120, 40)) as seen:
        await seen.press("6", "b")
        form = seen.app.screen
        assert isinstance(form, BacktestForm)
        form.write("backtest-venue", typed)
        form.refresh_form()
        said = form.result_or_problem()
        if venue is None:
            assert said == "venue: sim or evm_venue"
        else:
            assert isinstance(said, RunBacktest)
            assert said.venue is venue


@pytest.mark.slow
@pytest.mark.parametrize(
    ("typed", "wanted"),
    [
        ("/autoresearch off fast", EndSession("fast-loop")),
        ("/autoresearch reset fast", ResetSession("fast-loop")),
    ],
)
async def test_the_old_slash_commands_are_in_the_palette(typed: str, wanted: object) -> None:
    async with running(STATE, size=(120, 40)) as seen:
        await chosen(seen, typed)
        assert given(seen) == [wanted]


@pytest.mark.slow
async def test_the_slash_command_of_a_skill_asks_for_a_new_session_of_it() -> None:
    async with running(STATE, size=(120, 40)) as seen:
        await chosen(seen, "/autoresearch fast-loop")
        await seen.until(lambda: isinstance(seen.app.screen, SessionForm))
        form = seen.app.screen
        assert isinstance(form, SessionForm)
        assert form.typed("session-skill") == "fast-loop"


@pytest.mark.slow
async def test_the_slash_command_status_leads_to_the_screen() -> None:
    async with running(STATE, size=(120, 40)) as seen:
        await chosen(seen, "/autoresearch status")
        await seen.until(lambda: isinstance(seen.app.front, ResearchScreen))
        assert given(seen) == []


async def chosen(seen: Running, typed: str) -> None:
    """Choose the best match of what is typed into the palette."""
    await seen.press("ctrl+p")
    palette = seen.app.screen
    assert isinstance(palette, CommandPalette)
    palette.query_one(Input).value = typed
    await seen.until(lambda: bool(palette.query(".--visible")) and hit_count(palette) > 0)
    await seen.until(lambda: typed.rsplit(maxsplit=1)[-1] in text(seen))
    await seen.press("enter")
    if isinstance(seen.app.screen, CommandPalette):
        await seen.press("enter")


@pytest.mark.slow
async def test_the_diff_of_a_kept_experiment_is_shown_and_closed() -> None:
    async with running(STATE, size=(120, 40)) as seen:
        await seen.press("6")
        screen(seen).focus_row("r9")
        await seen.press("enter")
        assert given(seen) == [ShowDiff(":weather-edge", "0000009")]
        diff = DiffView(":weather-edge", "0000009", text="+MIN_EDGE = 0.09")
        await seen.bring(replace(STATE, research=replace(STATE.research, diff=diff)))
        await seen.until(lambda: "+MIN_EDGE = 0.09" in text(seen))
        await seen.press("escape")
        assert given(seen)[-1] == ShowDiff("", "")


@pytest.mark.slow
async def test_a_row_of_another_session_brings_that_session_to_the_front() -> None:
    research = STATE.research
    ours = research.experiments[0]
    other = replace(ours, skill="other-skill", ref="elsewhere")
    session = replace(research.sessions[0], skill="other-skill")
    both = replace(
        research,
        sessions=(*research.sessions, session),
        experiments=(*research.experiments, other),
    )
    async with running(replace(STATE, research=both), size=(120, 40)) as seen:
        await seen.press("6")
        assert "other-skill" not in text(seen)
        screen(seen).focus_row(other.key)
        await seen.pilot.pause()
        assert "other-skill" in text(seen)
        assert screen(seen).current_row() == other.key


@pytest.mark.slow
@pytest.mark.parametrize("size", [(60, 18), (80, 24), (160, 50)])
async def test_without_a_session_it_says_what_to_do(size: tuple[int, int]) -> None:
    async with running(replace(STATE, research=ResearchView()), size=size) as seen:
        await seen.press("6")
        assert "Improve a skill" in text(seen)
        assert "Pro plan" not in text(seen)
        await seen.bring(replace(STATE, research=ResearchView(needs_plan=True)))
        assert "Pro plan" in text(seen)
        assert "Improve a skill" not in text(seen)


@pytest.mark.slow
@pytest.mark.parametrize("size", [(60, 18), (80, 24), (160, 50)])
async def test_a_session_without_experiments_says_what_brings_the_first(
    size: tuple[int, int],
) -> None:
    async with running(replace(STATE, research=ResearchView()), size=size) as seen:
        await seen.press("6")
        for session, wanted in (
            (session_of(), "No experiments"),
            (session_of(state=SessionState.PAUSED), "n starts a new one"),
        ):
            research = ResearchView(sessions=(session,))
            await seen.bring(replace(STATE, research=research))
            told = " ".join(text(seen).split())
            assert wanted in told
            assert "Improve a skill" not in told


def test_thresholds_are_read_as_a_person_writes_them() -> None:
    fixed, swept = read_thresholds("min_edge=0.05, max_probability=0.1..0.9")
    assert fixed == (("min_edge", 0.05),)
    assert swept[0][1][0] == 0.1
    assert swept[0][1][-1] == 0.9


@pytest.mark.parametrize(
    "typed", ["edge", "edge=", "edge=x", "edge=1..", "edge=nan", "edge=3..1", "a b=1", "=1",
              "a=0..1 b=0..1 c=0..1"]
)  # fmt: skip
def test_what_is_no_threshold_is_said(typed: str) -> None:
    with pytest.raises(FieldError):
        read_thresholds(typed)


def test_the_chart_marks_each_status_and_the_best() -> None:
    rows = STATE.research.experiments[::-1]
    drawn = metric_chart(rows, 60, 9).plain
    for mark in "●○✗─":
        assert mark in drawn
    assert max(map(len, drawn.splitlines())) <= 60
    assert "3.4" in drawn
    assert metric_chart((), 60, 9).plain == "no experiment figures yet"


def test_a_backtest_says_whose_trades_it_replayed_and_praises_nothing_over_none() -> None:
    backtest = STATE.research.backtest
    assert backtest is not None
    told = backtest_text(backtest, ResearchView(), masked=False).plain
    assert "of this desk's agent" in told
    assert "best: min_edge" in told
    message = "this agent has no trade of weather-edge"
    nothing = replace(backtest, total=0, message=message)
    told = backtest_text(nothing, ResearchView(), masked=False).plain
    assert message in told
    assert "best" not in told
    assert sweep_chart(nothing, 60, 9).plain == "no trades replayed: no chart"


def test_the_sweep_is_drawn_within_its_width() -> None:
    backtest = STATE.research.backtest
    assert backtest is not None
    for width in (30, 60, 120):
        drawn = sweep_chart(backtest, width, 9).plain
        assert max(map(len, drawn.splitlines()[:-1])) <= width
    assert "min_edge" in drawn
    points = tuple(point_of(step / 19 * 0.3) for step in range(20))
    axis = sweep_chart(replace(backtest, points=points), 120, 9).plain.splitlines()[-1]
    figures = axis.replace("min_edge", "").split()
    assert "0.01579" in figures
    assert all(len(one.removeprefix("0.").lstrip("0")) <= 4 for one in figures)
    assert session_of().key == ":weather-edge"
