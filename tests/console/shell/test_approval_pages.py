"""The person's hand on the agents: waiting trades, leashes, skills, from the keys."""

from dataclasses import replace

import pytest

from kit.console.doors import Running, running, seen_before
from kit.samples.desk import NOW, sample_state
from kit.samples.fleet import (
    fleet_state,
    leash_of,
    limits_of,
    pending_trade_of,
    run_of,
    sample_supervision,
)
from service_tui.console.formats import MASK, NOT_KNOWN
from service_tui.console.forms.approval import ApprovalForm
from service_tui.console.forms.confirm import Confirm
from service_tui.console.needs import needs
from service_tui.console.screens.agents.detail import describe
from service_tui.console.screens.agents.screen import AgentsScreen
from service_tui.console.screens.agents.skill_forms import StartSkillForm
from service_tui.console.screens.agents.table import AGENTS
from service_tui.console.view_context import ViewContext
from service_tui.console.widgets.dialog import ARMED_AFTER_S
from service_tui.console.widgets.text_block import TextBlock
from service_tui.desk.commands.agents import ApproveTrade, RefuseTrade, SetLeash, StartSkill
from service_tui.desk.slices.agents import AgentView, VenueMoneyView
from service_tui.desk.slices.supervision import Pace, SkillRunState, SupervisionView
from service_tui.desk.state import DeskState
from service_tui.terms import LeashMode, Venue
from service_tui.units import ONE, Micros, Timestamp

FULL = replace(seen_before(sample_state()), supervision=sample_supervision())
ROOM = leash_of(spent=Micros(20 * ONE))
STATE = replace(FULL, supervision=replace(FULL.supervision, leashes=(ROOM,)))


def given(seen: Running, kind: type) -> list[object]:
    return [command for command in seen.doors.submitted if isinstance(command, kind)]


def problem(seen: Running) -> str:
    return str(seen.app.screen.query_one("#form-problem").render())


@pytest.mark.slow
async def test_a_waiting_trade_is_approved_from_anywhere() -> None:
    async with running(STATE, first="markets") as seen:
        await seen.press("ampersand", "enter")
        assert isinstance(seen.app.screen, ApprovalForm)
        text = str(seen.app.screen.query_one("#approval-why").render())
        assert "the gauge rises faster" in text
        await seen.press("enter")
        (order,) = given(seen, ApproveTrade)
        assert (order.pending_id, order.amount) == ("h1", None)


@pytest.mark.slow
async def test_real_money_says_its_venue_and_is_confirmed_on_a_dialog_of_its_own() -> None:
    pending = pending_trade_of(venue=Venue.EVM)
    service = replace(STATE.service, embedded=False)
    supervision = replace(STATE.supervision, pending_trades=(pending,))
    off = replace(STATE, service=service, supervision=supervision)
    async with running(off) as seen:
        await seen.press("ampersand")
        assert "for USDC.e" in [str(one.render()) for one in seen.app.screen.query(".label")]
        await seen.press("enter")
        assert "Live trading is off" in problem(seen)
        await seen.bring(replace(off, wallet=replace(off.wallet, live=True)))
        assert "USDC.e on evm_venue" in str(
            seen.app.screen.query_one("#form-preview", TextBlock).render()
        )
        await seen.press("enter")
        assert isinstance(seen.app.screen, Confirm)
        assert given(seen, ApproveTrade) == []
        await seen.press("enter")
        assert given(seen, ApproveTrade) == []
        await seen.press("ampersand", "enter")
        await seen.pilot.pause(ARMED_AFTER_S * 2)
        await seen.press("p")
        (order,) = given(seen, ApproveTrade)
        assert order.confirmed


@pytest.mark.slow
async def test_a_skill_is_started_on_a_leash() -> None:
    async with running(STATE, first="agents") as seen:
        await seen.press("n")
        assert isinstance(seen.app.screen, StartSkillForm)
        await seen.press("f5", "f6", "f7", "enter")
        (order,) = given(seen, StartSkill)
        assert (order.skill_slug, order.pace, order.mode, order.live) == (
            "momentum", Pace.EVERY, LeashMode.OBSERVE, False,
        )  # fmt: skip
        assert order.budget == 20 * ONE


@pytest.mark.slow
async def test_a_threshold_a_deadline_and_whose_leash_it_is_are_typed() -> None:
    async with running(STATE, first="agents") as seen:
        seen.app.front.focus_row("a-2")
        await seen.press("l", "f5", "ctrl+u", "5", "tab", "ctrl+u", "9", "tab", "ctrl+u")
        await seen.press("6", "0", "enter")
        (order,) = given(seen, SetLeash)
        assert (order.skill_slug, order.mode) == ("mean-reversion", LeashMode.ASK)
        assert (order.threshold, order.budget, order.wait_s) == (5 * ONE, 9 * ONE, 60)


@pytest.mark.slow
async def test_what_waits_stands_in_the_status_bar_of_every_screen() -> None:
    async with running(STATE, first="markets", size=(120, 40)) as seen:
        assert "& 2 approvals, 4m 20s" in seen.text
        view = replace(STATE.supervision, pending_trades=())
        await seen.bring(replace(STATE, supervision=view))
        assert "& 2 approvals" not in seen.text


@pytest.mark.slow
async def test_a_trade_is_refused_with_the_mouse_too() -> None:
    async with running(STATE, size=(120, 40)) as seen:
        await seen.press("ampersand", "enter")
        assert "1 more pending" in seen.text
        await seen.pilot.click("#approval-refuse")
        await seen.pilot.click("#form-set")
        assert [order.pending_id for order in given(seen, RefuseTrade)] == ["h1"]


@pytest.mark.slow
async def test_a_trade_that_was_decided_elsewhere_closes_its_dialog() -> None:
    async with running(STATE) as seen:
        await seen.press("ampersand")
        rest = STATE.supervision.pending_trades[1:]
        await seen.bring(
            replace(STATE, supervision=replace(STATE.supervision, pending_trades=rest))
        )
        assert not isinstance(seen.app.screen, ApprovalForm)


def test_what_waits_is_ranked_by_its_time_and_turns_grave() -> None:
    late = pending_trade_of("h9", expires_at=Timestamp(NOW + 30))
    view = replace(STATE.supervision, pending_trades=(late, *STATE.supervision.pending_trades))
    rows = [one for one in needs(replace(STATE, supervision=view), NOW) if one.word == "approve"]
    assert [row.key for row in rows] == ["held h9", "held h1", "held h2"]
    assert [row.tone for row in rows] == ["breach", "warn", "warn"]


def test_a_crash_and_a_spent_budget_need_the_person() -> None:
    crashed = run_of("r9", state=SkillRunState.CRASHED, why="exit code 3, 6 times in a row")
    view = replace(FULL.supervision, runs=(crashed,))
    words = {one.word: one for one in needs(replace(FULL, supervision=view), NOW)}
    assert "exit code 3" in words["crashed"].what
    assert words["budget"].figure.plain.startswith("82")
    assert words["budget"].what.endswith("daily budget nearly spent")
    (leash, other) = FULL.supervision.leashes
    spent = replace(view, leashes=(replace(leash, spent=leash.budget), other))
    words = {one.word: one for one in needs(replace(FULL, supervision=spent), NOW)}
    assert words["budget"].what.endswith("daily budget spent")
    assert "until 00:00 UTC" in words["budget"].otherwise


def test_the_detail_tells_leash_and_skills() -> None:
    agent = STATE.fleet.agents[1]
    text = describe(agent, ViewContext.of(STATE, NOW)).plain
    assert "ask above 10.00" in text
    assert "running  mean-reversion" in text


def test_what_was_spent_stands_apart_by_money() -> None:
    state = fleet_state()
    assert state.fleet is not None
    heron = state.fleet.agents[0]
    both = replace(
        heron, spent_today=Micros(90 * ONE), limits=limits_of(day_spent=Micros(40 * ONE))
    )
    free = replace(state, supervision=SupervisionView())

    def told(agent: AgentView, state: DeskState) -> str:
        (spent,) = (one for one in AGENTS.columns if one.id == "spent")
        return str(spent.cell(agent, ViewContext.of(state, NOW)))

    assert told(both, free) == "50+40"
    assert told(replace(both, limits=limits_of()), free) == "90"
    assert told(replace(both, spent_today=Micros(40 * ONE)), free) == f"{NOT_KNOWN}+40"
    assert AGENTS.compared["spent"](both, ViewContext.of(free, NOW)) == 50
    assert told(both, replace(free, preferences={"privacy": "on"})) == MASK
    # A budget counts all money alike.
    leash = leash_of(heron.agent_id, spent=Micros(90 * ONE))
    bound = replace(free, supervision=SupervisionView(leashes=(leash,)))
    assert told(both, bound) == "90/100"
    venue = VenueMoneyView(
        Venue.EVM, Micros(0), Micros(0), Micros(0), Micros(0), positions_count=0, orders_count=0
    )
    play = describe(replace(both, venues=(venue,)), ViewContext.of(free, NOW)).plain
    play = play.partition("money, $SIM")[2].partition("evm_venue")[0]
    assert "50.00" in play
    assert "won" in play


@pytest.mark.slow
@pytest.mark.parametrize("size", [(80, 24), (120, 40)])
@pytest.mark.parametrize(
    ("state", "said"),
    [
        (SkillRunState.STOPPED, "□ stopped ?2"),
        (SkillRunState.CRASHED, "✗ crashed ?2"),
        (SkillRunState.BACKING_OFF, "↻ retrying ?2"),
        (SkillRunState.RUNNING, "? asks"),
    ],
)
async def test_what_an_agent_left_to_be_decided_stands_beside_its_state(
    state: SkillRunState, said: str, size: tuple[int, int]
) -> None:
    pending = (pending_trade_of(), pending_trade_of("h2"))
    view = SupervisionView(pending_trades=pending, runs=(run_of(state=state, why="by hand"),))
    async with running(replace(STATE, supervision=view), first="agents", size=size) as seen:
        screen = seen.app.front
        assert isinstance(screen, AgentsScreen)
        (row,) = (line for line in seen.text.splitlines() if said in line)
        assert "heron" in row
        screen.narrow("asks")
        order = screen.table.order
        assert [order[place].name for place in range(len(order))] == ["heron"]
