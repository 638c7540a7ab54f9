"""The agents screen: table, one agent in full, skills, and actions."""

import re
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest
from textual.widgets import Static

from kit.console.doors import Running, running, seen_before
from kit.samples.desk import NOW, sample_state
from kit.samples.fleet import fleet_state, leash_of, limits_of, sample_supervision
from kit.samples.reactor import reactor_state
from service_tui.console import formats
from service_tui.console.forms.about import About
from service_tui.console.forms.leash_form import LeashForm
from service_tui.console.forms.secret import Secret
from service_tui.console.keys import KEYS
from service_tui.console.screens.agents.detail import describe, history_text
from service_tui.console.screens.agents.pane import LOADING, NO_POINTS, AgentPane
from service_tui.console.screens.agents.screen import AgentsScreen
from service_tui.console.view_context import ViewContext
from service_tui.desk.commands.agents import WatchAgent
from service_tui.desk.commands.settings import Forget, SetPreference
from service_tui.desk.slices.agents import AgentDetailView, FleetView, RevealedView, VenueMoneyView
from service_tui.desk.slices.positions import PositionView
from service_tui.desk.slices.service import Phase
from service_tui.desk.slices.supervision import LogTailView
from service_tui.desk.state import DeskState
from service_tui.server.routes.claim import WAITS
from service_tui.terms import Plan, Venue
from service_tui.units import ONE, Micros, Timestamp

STATE = seen_before(sample_state())
DESK, HERON, MOSS, TIDE = STATE.fleet.agents
KEY = "sk_live_a_canary_that_sings"
SHOWN = RevealedView(HERON.agent_id, HERON.name, is_key=True, secret=KEY)
SERVED = replace(STATE, service=replace(STATE.service, address="http://127.0.0.1:8017"))


def screen(seen: Running) -> AgentsScreen:
    front = seen.app.front
    assert isinstance(front, AgentsScreen)
    return front


def rows(seen: Running) -> list[str]:
    order = screen(seen).table.order
    return [order[place].name for place in range(len(order))]


def given(seen: Running) -> list[object]:
    aside = SetPreference, WatchAgent
    return [one for one in seen.doors.submitted if not isinstance(one, aside)]


async def at(seen: Running, agent_id: str, *keys: str) -> None:
    screen(seen).focus_row(agent_id)
    await seen.press(*keys)


def without_rows(state: DeskState) -> DeskState:
    return replace(state, fleet=FleetView((), Plan.PRO, 10), fills=())


def test_a_skills_output_is_shown_at_the_agent_whose_run_it_is() -> None:
    supervision = sample_supervision()
    run = supervision.runs[0]
    other = replace(run, run_id="another", started_at=run.started_at)
    agent = next(one for one in STATE.fleet.agents if one.agent_id == run.agent_id)
    for run_id, is_shown in ((run.run_id, True), (other.run_id, True), ("elsewhere", False)):
        tail = LogTailView(run_id, ("the last words",))
        state = replace(STATE, supervision=replace(supervision, runs=(run, other), tail=tail))
        text = describe(agent, ViewContext.of(state, NOW)).plain
        assert ("the last words" in text) is is_shown


@pytest.mark.parametrize("embedded", [True, False])
def test_the_desk_is_asked_once_for_the_agent_in_focus(embedded: bool) -> None:  # noqa: FBT001 - a case
    supervision = sample_supervision()
    run = supervision.runs[0]
    state = replace(
        STATE, service=replace(STATE.service, embedded=embedded), supervision=supervision
    )
    agent = next(one for one in STATE.fleet.agents if one.agent_id == run.agent_id)
    given: list[object] = []
    pane: Any = SimpleNamespace(
        _watched=("", ""), post_message=lambda message: given.append(message.command)
    )
    for one in (None, agent, agent, None):
        AgentPane.watch_agent(pane, one, state)
    watched = WatchAgent(agent.agent_id, supervision.runs_of(agent.agent_id)[0].run_id)
    assert given == ([watched, WatchAgent("", "")] if embedded else [watched])


# -- what is seen -------------------------------------------------------------------------------


@pytest.mark.slow
async def test_each_agent_under_the_cursor_is_read() -> None:
    async with running(STATE, first="agents") as seen:
        read = [DESK.agent_id]
        for key in ("j", "j", "k", "j", "j"):
            await seen.press(key)
            row = screen(seen).table.selected()
            assert row is not None
            read.append(row.agent_id)
        watched = [one.agent_id for one in seen.doors.submitted if isinstance(one, WatchAgent)]
        assert watched == read


@pytest.mark.slow
async def test_agents_are_sorted_by_equity_and_found_by_words_and_numbers() -> None:
    async with running(STATE, first="agents") as seen:
        assert rows(seen) == ["desk", "heron", "moss-runner", "tide [/red]"]
        screen(seen).narrow("elite")
        assert rows(seen) == ["moss-runner"]
        screen(seen).narrow("today:>0")
        assert rows(seen) == ["desk", "heron"]
        screen(seen).narrow("!paused trades:>100")
        assert rows(seen) == ["heron", "moss-runner"]


@pytest.mark.slow
async def test_a_trade_that_is_heard_stands_on_top() -> None:
    async with running(STATE, first="agents") as seen:
        newer = replace(STATE.fills[0], seq=999, at=Timestamp(NOW + 1), agent_name="brand-new")
        await seen.bring(replace(STATE, fills=(newer, *STATE.fills)))
        feed = screen(seen).feed.order
        assert feed[0] == newer
        assert "brand-new" in seen.text


@pytest.mark.slow
async def test_a_trade_on_a_real_venue_says_where_it_was_made() -> None:
    money = VenueMoneyView(
        venue=Venue.EVM,
        cash=Micros(700 * ONE),
        reserved=Micros(45 * ONE),
        equity=Micros(987_650_000),
        total_pnl=Micros(-12_350_000),
        positions_count=3,
        orders_count=2,
    )
    heron = replace(HERON, venues=(money,))
    fleet = replace(STATE.fleet, agents=(DESK, heron, MOSS, TIDE))
    fill = replace(STATE.fills[0], seq=999, agent_id=HERON.agent_id, venue=Venue.EVM)
    state = replace(STATE, fleet=fleet, fills=(fill, *STATE.fills))
    async with running(state, first="agents", size=(160, 60)) as seen:
        await at(seen, HERON.agent_id)
        text = seen.text
        assert "evm_venue, play USDC" in text
        # The person's own agent does not count against the plan.
        assert "3/10 agents" in text
        assert "987.65" in text
        assert "45.00" in text
        (row,) = [line for line in text.splitlines() if "evm_venue" in line and "buy" in line][-1:]
        assert formats.clock_time(fill.at).plain in row
        private = replace(state, preferences={**state.preferences, "privacy": "on"})
        await seen.bring(private)
        assert "987.65" not in seen.text


@pytest.mark.slow
async def test_whether_it_is_told_at_once_or_asked_is_said() -> None:
    async with running(STATE, first="agents") as seen:
        assert "live" in seen.text
        await seen.bring(replace(STATE, listening=False))
        assert "polled" in seen.text


@pytest.mark.slow
async def test_who_has_no_agents_learns_how_one_registers() -> None:
    async with running(without_rows(SERVED), first="agents") as seen:
        text = seen.text
        assert "No agents yet" in text
        assert "http://127.0.0.1:8017/api/sdk/agents/register" in text


@pytest.mark.slow
async def test_before_the_first_answer_it_is_asked_and_nothing_is_said_of_agents() -> None:
    service = replace(STATE.service, phase=Phase.CONNECTING, address="")
    state = replace(without_rows(STATE), service=service)
    async with running(state, first="agents", size=(160, 50)) as seen:
        assert "Loading agents" in seen.text
        assert "No agents yet" not in seen.text
        assert "no address yet" not in seen.text


def test_what_a_skill_made_is_said_to_be_realized() -> None:
    state = fleet_state()
    detail = state.supervision.detail
    assert detail is not None
    story = history_text(
        replace(HERON, agent_id=detail.agent_id), ViewContext.of(state, NOW, 70)
    ).plain
    for one in detail.results:
        assert f"{one.skill_slug or 'no skill named'}  realized " in story


def test_the_open_positions_of_an_agent_stand_above_its_results() -> None:
    state = fleet_state()
    detail = state.supervision.detail
    assert detail is not None
    agent = replace(HERON, agent_id=detail.agent_id, positions_count=33)
    held = replace(sample_state().positions[0], question="Will it rain?", shares=Micros(12 * ONE))
    many = tuple(replace(held, question=f"Will it rain {place}?") for place in range(33))

    def text_of(positions: tuple[PositionView, ...]) -> str:
        seen = replace(detail, positions=positions)
        known = replace(state, supervision=replace(state.supervision, detail=seen))
        return history_text(agent, ViewContext.of(known, NOW, 100)).plain

    pnl = formats.pnl(held.pnl).plain
    prices = f"at {held.average:.3f}, now {held.mark_price:.3f}  P&L {pnl} $SIM"
    text = text_of((held,))
    assert f"it rain?\n  {held.side.value.upper()} 12.00 {prices}" in text
    assert text.index("it rain") < text.index("realized")
    assert "and 3 more" in text_of(many)
    assert "No open positions." in text_of(())


def test_a_trade_of_the_history_names_its_market_as_the_lists_do() -> None:
    state = fleet_state()
    detail = state.supervision.detail
    assert detail is not None
    first, *others = detail.trades
    question = "Will storm Isolde strengthen to 181 km/h by 18:00 UTC on 16 January?"
    trade = replace(first, trade=replace(first.trade, question=question))
    told = replace(detail, trades=(trade, *others))
    known = replace(state, supervision=replace(state.supervision, detail=told))
    agent = replace(HERON, agent_id=detail.agent_id)
    text = history_text(agent, ViewContext.of(known, NOW, 100)).plain
    assert "Storm Isolde strengthens to 181 km/h by 18:00 on 16 January" in text


def test_the_reactor_of_this_desk_has_its_own_daily_cap() -> None:
    state = reactor_state()
    config = state.reactor.config
    assert config is not None
    own = replace(HERON, is_own=True, limits=limits_of(
        skill_budget=None, skills=(("reactor", Micros(270_000)), ("gauge", Micros(ONE)))
    ))  # fmt: skip
    view = ViewContext.of(state, NOW, 100)
    cap = formats.money(config.daily_cap).plain
    assert f"0.27 of {cap}" in describe(own, view).plain
    assert "1.00 of no limit" in describe(own, view).plain
    assert "0.27 of no limit" in describe(replace(own, is_own=False), view).plain


def test_a_trade_of_another_day_tells_its_day() -> None:
    state = fleet_state()
    detail = state.supervision.detail
    assert detail is not None
    heron = replace(HERON, agent_id=detail.agent_id)
    today = history_text(heron, ViewContext.of(state, NOW, 70)).plain
    later = history_text(heron, ViewContext.of(state, Timestamp(NOW + 86_400), 70)).plain
    at = formats.clock_time(detail.trades[0].trade.at).plain
    assert f"\n{at}  " in today
    assert f"\n15 Jan {at}  " in later


@pytest.mark.slow
async def test_a_leash_of_a_skill_says_whom_it_binds() -> None:
    leash = leash_of(skill_slug="mean-reversion")
    view = replace(STATE.supervision, leashes=(leash_of(), leash))
    async with running(replace(STATE, supervision=view), first="agents") as seen:
        await at(seen, HERON.agent_id, "l")
        form = seen.app.screen
        assert isinstance(form, LeashForm)
        form.write("leash-threshold", "5")
        for slug, says in (("", False), ("mean-reversion", True)):
            while form._subjects[form._place] != slug:
                await seen.press("f5")
            preview = str(form.query_one("#form-preview", Static).render())
            assert ("trades that name the skill" in preview) is says


@pytest.mark.slow
async def test_another_service_keeps_its_agents_to_itself() -> None:
    away = replace(without_rows(STATE), fleet=None, service=replace(STATE.service, embedded=False))
    async with running(away, first="agents") as seen:
        assert "its dashboard" in seen.text
        assert "asking for" not in seen.text
        await seen.press("N")
        assert given(seen) == []


@pytest.mark.slow
async def test_of_another_service_the_agents_whose_skills_run_here_are_led_and_not_guessed_at() -> (
    None
):
    service = replace(STATE.service, embedded=False)
    view = replace(sample_supervision(), pending_trades=())
    away = replace(without_rows(STATE), fleet=None, service=service, supervision=view)
    async with running(away, first="agents", size=(120, 40)) as seen:
        assert set(rows(seen)) == {"heron", "moss-runner"}
        assert "0.00" not in "\n".join(line for line in seen.lines if " heron " in line)
        await at(seen, "a-2", "ctrl+x")
        assert [one.run_id for one in given(seen)] == ["r1"]
        await seen.press("l")
        assert isinstance(seen.app.screen, LeashForm)
        await seen.press("escape", "H")
        assert len(given(seen)) == 1


@pytest.mark.slow
async def test_enter_tells_all_on_a_page_or_in_the_pane() -> None:
    async with running(STATE, first="agents", size=(80, 24)) as seen:
        await at(seen, HERON.agent_id, "enter")
        assert isinstance(seen.app.screen, About)
        assert "watches the gauges" in seen.text
        await seen.press("escape")
    async with running(STATE, first="agents", size=(160, 50)) as seen:
        await at(seen, HERON.agent_id, "enter")
        assert seen.app.focused is seen.app.query_one("#agents-detail")
        told = str(seen.app.query_one("#agents-detail-text", Static).content)
        assert HERON.agent_id in told
        await seen.press("escape")
        assert screen(seen).table.has_focus


@pytest.mark.slow
async def test_a_trade_leads_to_its_market() -> None:
    async with running(STATE, first="agents") as seen:
        screen(seen).feed.focus()
        await seen.press("enter")
        assert seen.app.front.name_in_keys == "markets"
    async with running(replace(STATE, markets={}), first="agents") as seen:
        screen(seen).feed.focus()
        await seen.press("enter")
        assert seen.app.front.name_in_keys == "agents"
        assert seen.toasts == ["! market not listed"]


@pytest.mark.slow
async def test_the_curve_of_an_agent_is_awaited_until_its_own_detail_came() -> None:
    def with_detail(agent_id: str) -> DeskState:
        detail = AgentDetailView(agent_id, (), (), at=NOW)
        return replace(STATE, supervision=replace(STATE.supervision, detail=detail))

    async with running(with_detail("another"), first="agents", size=(160, 50)) as seen:
        assert LOADING in seen.text
        await seen.bring(with_detail(DESK.agent_id))
        assert LOADING not in seen.text
        assert NO_POINTS in seen.text


def test_the_claim_page_says_where_the_code_comes_from() -> None:
    # Not by which keys: they can be moved, and the page is the service's.
    keys = {key.ident: key for key in KEYS}
    assert f"{keys['app.agents'].label} screen" in WAITS
    assert keys["agents.code"].label in WAITS


# -- what is done -------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize(("key", "digit", "present"), [("P", "1", "free"), ("N", "3", "elite")])
async def test_the_present_plan_is_marked_and_choosing_it_changes_nothing(
    key: str, digit: str, present: str
) -> None:
    agents = tuple(
        replace(one, plan=Plan.FREE) if one is HERON else one for one in STATE.fleet.agents
    )
    fleet = replace(STATE.fleet, agents=agents, plan=Plan.ELITE)
    async with running(replace(STATE, fleet=fleet), first="agents") as seen:
        await at(seen, HERON.agent_id, key)
        assert re.findall(r"● (free|pro|elite)\b", seen.text) == [present]
        await seen.press(digit)
        assert given(seen) == []


# -- secrets ------------------------------------------------------------------------------------


@pytest.mark.slow
async def test_a_new_key_is_shown_with_a_warning_and_then_forgotten() -> None:
    async with running(STATE, first="agents") as seen:
        await seen.bring(replace(STATE, revealed=SHOWN))
        assert isinstance(seen.app.screen, Secret)
        text = seen.text
        assert KEY in text
        assert "Shown only once" in text
        await seen.bring(replace(STATE, revealed=SHOWN, listening=False))
        await seen.press("escape")
        assert given(seen) == [Forget()]
        await seen.bring(STATE)
        assert KEY not in seen.text


@pytest.mark.slow
async def test_a_secret_that_came_while_another_screen_was_in_front_waits() -> None:
    async with running(STATE, first="markets") as seen:
        await seen.bring(replace(STATE, revealed=SHOWN))
        assert KEY not in seen.text
        await seen.press("7")
        assert KEY in seen.text


@pytest.mark.slow
async def test_a_secret_is_copied_only_on_demand_and_stands_in_no_picture() -> None:
    async with running(STATE, first="agents") as seen:
        await seen.bring(replace(STATE, revealed=SHOWN))
        assert seen.app.clipboard == ""
        await seen.press("y")
        assert seen.app.clipboard == KEY
        assert not any(KEY in said for said in seen.toasts)
        seen.app.exit(0)
    assert seen.app.picture
    assert KEY not in "\n".join(seen.app.picture)


@pytest.mark.slow
async def test_a_claim_code_comes_with_its_page_and_its_end() -> None:
    code = replace(
        SHOWN,
        is_key=False,
        secret="4711-0815",  # noqa: S106
        claim_url="http://127.0.0.1:8017/claim/reef-1",
        expires_at=Timestamp(NOW + 600),
    )
    async with running(STATE, first="agents") as seen:
        await seen.bring(replace(STATE, revealed=code))
        text = seen.text
        for part in ("4711-0815", "/claim/reef-1", "Valid once", "until"):
            assert part in text


@pytest.mark.slow
async def test_why_an_agent_is_left_as_it_is_names_the_agent() -> None:
    claimed = next(one for one in STATE.fleet.agents if one.claimed and not one.is_own)
    async with running(STATE, first="agents") as seen:
        await at(seen, claimed.agent_id, "C")
        assert seen.toasts[-1] == f"! {claimed.name}: already claimed"
        assert given(seen) == []
