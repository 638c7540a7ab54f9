"""What agents made of their money, on page 7: a curve in each row, sorted by any, a calendar."""

from dataclasses import replace

import pytest

from kit.console.doors import running
from kit.samples.desk import NOW
from kit.samples.fleet import fleet_state, returns_of, returns_state
from service_tui.console import formats
from service_tui.console.charts.series import TimeSeries
from service_tui.console.charts.sources import ChartName, series_of
from service_tui.console.screens.agents.detail import calendar, describe
from service_tui.console.screens.agents.screen import AgentsScreen
from service_tui.console.screens.agents.table import ratio_text
from service_tui.console.view_context import ViewContext
from service_tui.desk.audit.listings import fleet_rows
from service_tui.desk.state import DeskState
from service_tui.units import ONE, Micros, Timestamp

FLEET = fleet_state()
assert FLEET.fleet is not None
HERON = next(one for one in FLEET.fleet.agents if one.agent_id == "a-2")
STATE = returns_state()


def test_the_calendar_has_each_day_of_the_month_with_its_sign() -> None:
    name, text = calendar(returns_of(), ViewContext.of(STATE, NOW, 60))
    assert name == "January by day, $SIM"
    lines = text.plain.splitlines()
    assert lines[0].split() == ["Mo", "Tu", "We", "Th", "Fr", "Sa", "Su"]
    days = next(
        place for place, line in enumerate(lines) if line.split()[:4] == ["11", "12", "13", "14"]
    )
    *before, yesterday, today = lines[days + 1].split()
    assert before == ["·", "·", "·"]
    assert (yesterday[0], today[0]) == ("-", "+")
    # Days to come are left empty, and every line has the width of a week.
    assert "16" not in text.plain
    assert {len(line.rstrip()) <= 48 for line in lines} == {True}


def test_a_masked_calendar_tells_no_amount() -> None:
    view = replace(ViewContext.of(STATE, NOW, 60), masked=True)
    assert "41" not in calendar(returns_of(), view)[1].plain


def test_the_pane_has_the_figures_and_none_of_them_before_they_are_read() -> None:
    text = describe(HERON, ViewContext.of(STATE, NOW, 100)).plain
    for line in (
        "return       +3.4%",
        "drawdown     1.2%",
        "deepest      20.0%",
        "Sharpe       1.24",
    ):
        assert line in text
    assert "this week    +12.00" in text
    assert "this month   -7.00" in text
    assert "Sharpe" not in describe(HERON, ViewContext.of(FLEET, NOW, 100)).plain


def test_the_week_and_today_move_with_the_equity_beside_them() -> None:
    """The figures of a period are read each minute, the equity each second."""
    moved = replace(HERON, equity=Micros(HERON.equity - 20 * ONE))
    fleet = STATE.fleet
    assert fleet is not None
    state = replace(STATE, fleet=replace(fleet, agents=(moved,)))
    view = ViewContext.of(state, Timestamp(NOW + 30), 100)
    text = describe(moved, view).plain
    assert "this week    -8.00" in text
    assert "this month   -27.00" in text
    assert "+1480" in text or "+1.48k" in text
    (row,) = fleet_rows(state, Timestamp(NOW + 30))
    assert (row["week_pnl"], row["month_pnl"]) == (-8.0, -27.0)


@pytest.mark.parametrize(
    ("ratio", "text"), [(1.239, "1.24"), (-0.5, "-0.50"), (5e9, None), (None, None)]
)
def test_a_ratio_is_told_where_it_says_something(ratio: float | None, text: str | None) -> None:
    assert ratio_text(ratio).plain == (formats.NOT_KNOWN if text is None else text)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("column", "first"), [("return", "a-2"), ("drawdown", "a-3"), ("sharpe", "a-2")]
)
async def test_the_rows_are_sorted_by_any_figure(column: str, first: str) -> None:
    async with running(STATE, first="agents", size=(180, 50)) as seen:
        page = seen.app.front
        assert isinstance(page, AgentsScreen)
        page.table.sort_by(column, falling=True)
        await seen.pilot.pause()
        assert page.table.order[0].agent_id == first
        (line,) = (line for line in seen.lines if " heron " in line and "+3.4%" in line)
        assert any("⠀" < sign <= "⣿" for sign in line)


def test_the_list_of_the_shell_has_every_figure() -> None:
    rows = {row["agent"]: row for row in fleet_rows(STATE, NOW)}
    heron = rows["a-2"]
    assert (heron["return"], heron["drawdown"], heron["max_drawdown"], heron["sharpe"]) == (
        0.034, 0.012, 0.2, 1.239,
    )  # fmt: skip
    assert (heron["week_pnl"], heron["month_pnl"]) == (12.0, -7.0)
    assert heron["hit_rate"] == HERON.win_rate
    unread = rows["a-5"]
    assert {unread[name] for name in ("return", "week_pnl", "month_pnl", "sharpe")} == {None}
    # A week in which nothing has changed is one of nothing.
    later = {row["agent"]: row for row in fleet_rows(STATE, Timestamp(NOW + 7 * 86_400))}
    assert later["a-2"]["week_pnl"] == 0.0


def many(count: int) -> DeskState:
    """A fleet of so many agents, each worse than the one before."""
    fleet = FLEET.fleet
    assert fleet is not None
    ids = [f"b-{place}" for place in range(count)]
    agents = tuple(replace(HERON, agent_id=one, name=f"agent {one}") for one in ids)
    returns = tuple(
        returns_of(one, curve=tuple((at, Micros(9_000 * ONE - place * at_place * ONE))
                                    for at_place, (at, _) in enumerate(returns_of().curve)))
        for place, one in enumerate(ids)
    )  # fmt: skip
    view = replace(FLEET.supervision, returns=returns)
    return replace(FLEET, fleet=replace(fleet, agents=agents), supervision=view)


def test_of_many_agents_the_chart_shows_the_best_and_the_worst() -> None:
    series = series_of(ChartName.AGENTS, ViewContext.of(many(9), NOW), "", 0)
    assert isinstance(series, TimeSeries)
    assert series.names == tuple(f"agent b-{place}" for place in (0, 1, 2, 6, 7, 8))
    assert "the 3 best and the 3 worst of 9" in series.title


async def test_marked_agents_are_those_of_the_chart_else_the_filtered_ones() -> None:
    async with running(many(9), first="agents", size=(120, 40)) as seen:
        for name in ("b-8", "b-4"):
            seen.app.front.focus_row(name)
            await seen.press("space")
        await seen.press("f4")
        assert "gain since the first mark, the chosen ones" in seen.text
        assert "agent b-8" in seen.text
        assert "agent b-0" not in seen.text
        await seen.press("c")
        assert "mark the agents" in seen.toasts[-1]
        await seen.press("escape", "escape", "/", *"b-5", "enter", "f4")
        assert "the chosen ones" in seen.text
        assert "agent b-8" not in seen.text
