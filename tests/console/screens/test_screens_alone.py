"""The screens of the desk without an app: what each lists, names, keeps, and says of a row."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from kit.console.alone import WIDTH, event
from kit.console.lone_screen import LoneScreen
from kit.samples.desk import NOW
from kit.samples.filled import filled
from kit.samples.whole import whole_desk
from service_tui.console.forms.secret import Secret
from service_tui.console.messages import NEW_SESSION, GoTo
from service_tui.console.moments import MomentKind
from service_tui.console.parts.view_memory import VIEW, ViewMemory
from service_tui.console.screens.agents.pane import LOADING, NO_POINTS
from service_tui.console.screens.agents.screen import AgentsScreen
from service_tui.console.screens.approvals.screen import ApprovalsScreen
from service_tui.console.screens.log.actions import by_actor
from service_tui.console.screens.log.screen import LogScreen
from service_tui.console.screens.monitors.screen import MonitorsScreen
from service_tui.console.screens.orders.actions import PENDING
from service_tui.console.screens.orders.screen import BlotterScreen
from service_tui.console.screens.overview import screen as overview
from service_tui.console.screens.overview.actions import Toggled
from service_tui.console.screens.overview.screen import AttentionScreen
from service_tui.console.screens.portfolio.orders import ORDERS
from service_tui.console.screens.portfolio.screen import PortfolioScreen
from service_tui.console.screens.portfolio.table import CLOSED
from service_tui.console.screens.redemption.screen import RedemptionScreen
from service_tui.console.screens.research.screen import ResearchScreen
from service_tui.console.screens.settings.screen import SettingsScreen
from service_tui.console.screens.timeline.actions import OURS, of_kind
from service_tui.console.screens.timeline.screen import TimelineScreen
from service_tui.console.view_context import ViewContext
from service_tui.desk.commands.agents import ReadLog, WatchAgent
from service_tui.desk.commands.research import ShowDiff
from service_tui.desk.commands.settings import Forget
from service_tui.desk.slices.agents import AgentDetailView, RevealedView
from service_tui.desk.slices.research import DiffView
from service_tui.desk.slices.topics import Topic
from service_tui.desk.state import DeskState

STATE = replace(whole_desk(), rewound_to=None, from_cache=False)


def alone(kind: Any, state: DeskState = STATE, size: tuple[int, int] = (120, 40)) -> LoneScreen:
    return LoneScreen(kind(state, NOW), size)


def with_choices(name: str, choices: dict[str, str], tab: int = 0) -> DeskState:
    """The state of somebody who left a screen with these choices."""
    memory = ViewMemory(tab=tab, choices=choices)
    return replace(STATE, preferences={**STATE.preferences, f"{VIEW}{name}": memory.to_text()})


def shown(widget: Any) -> str:
    return str(widget.content)


def rows(lone: LoneScreen) -> Sequence[Any]:
    order = lone.screen.table.order
    return [order[place] for place in range(len(order))]


# -- the log -------------------------------------------------------------------------------------


def test_the_log_is_read_at_once_and_the_entry_under_the_cursor_shown() -> None:
    lone = alone(LogScreen)
    assert lone.given == [ReadLog()]
    first = rows(lone)[0]
    assert lone.screen.name_of(first) == first.hash
    assert first.hash[:8] in shown(lone.screen._detail)
    assert "only" not in shown(lone.screen._chain)
    empty = alone(LogScreen, replace(STATE, log=replace(STATE.log, entries=())))
    assert shown(empty.screen._detail) == "select an entry"
    assert empty.screen.explain(None, empty.screen.view) == ()


def test_the_entries_of_one_actor_are_kept_alone_for_the_next_start() -> None:
    who = STATE.log.entries[0].who
    lone = alone(LogScreen)
    assert lone.screen.choices() == {}
    lone.screen.only = by_actor(who)
    again = alone(LogScreen, with_choices("log", dict(lone.screen.choices())))
    assert {row.who for row in rows(again)} == {who}
    assert shown(again.screen._chain).endswith(f"only {who}")
    assert {row.who for row in rows(lone)} != {who}


# -- the timeline --------------------------------------------------------------------------------


def test_the_timeline_begins_with_this_desk_and_keeps_another_choice() -> None:
    lone = alone(TimelineScreen)
    assert lone.given == [ReadLog()]
    assert lone.screen.choices() == {}
    assert all(row.is_own for row in rows(lone))
    kind = rows(lone)[0].kind
    lone.screen.only = of_kind(kind)
    kept = dict(lone.screen.choices())
    again = alone(TimelineScreen, with_choices("timeline", kept))
    assert {row.kind for row in rows(again)} == {kind}
    assert f"only {kind.value}" in shown(again.screen._head)
    everything = alone(TimelineScreen, with_choices("timeline", {"only": "all"}))
    assert everything.screen.only is None
    assert "only" not in shown(everything.screen._head)
    assert everything.screen.choices() == {"only": "all"}
    assert len(rows(everything)) >= len(rows(lone))
    unknown = alone(TimelineScreen, with_choices("timeline", {"only": "no such kind"}))
    assert unknown.screen.only is OURS


def test_stepping_out_of_a_choice_comes_back_to_this_desk() -> None:
    lone = alone(TimelineScreen, with_choices("timeline", {"only": MomentKind.FILL.value}))
    lone.screen.table.has_focus = True
    assert lone.screen.step_out()
    assert lone.screen.only is OURS
    assert len({row.kind for row in rows(lone)}) > 1
    assert not lone.screen.step_out()


# -- the orders ----------------------------------------------------------------------------------


def test_pending_orders_alone_are_kept_for_the_list_of_orders() -> None:
    lone = alone(BlotterScreen)
    assert lone.screen.choices() == {}
    lone.screen.only = PENDING
    kept = dict(lone.screen.choices())
    again = alone(BlotterScreen, with_choices("blotter", kept))
    assert again.screen.only is PENDING
    assert all(PENDING.wants(row) for row in rows(again))
    assert alone(BlotterScreen, with_choices("blotter", {})).screen.only is None
    assert alone(BlotterScreen, with_choices("blotter", kept, tab=1)).screen.only is None


def test_an_order_is_copied_by_its_reference_and_a_fill_by_its_trade() -> None:
    lone = alone(BlotterScreen)
    ticket = replace(rows(lone)[0], client_ref="ref-1")
    assert lone.screen.name_of(ticket) == "ref-1"
    assert lone.screen.name_of(replace(ticket, client_ref="")) == ticket.what
    lone.screen.bring_forward(1)
    fill = rows(lone)[0]
    assert lone.screen.name_of(fill) == fill.trade_id
    assert lone.screen.explain(fill, lone.screen.view)
    assert lone.screen.explain(None, lone.screen.view) == ()


def test_the_detail_of_an_order_is_beside_the_list_and_a_fill_has_sums() -> None:
    lone = alone(BlotterScreen)
    assert lone.screen.is_beside
    assert lone.named == {}
    assert rows(lone)[0].what.split()[0] in shown(lone.screen._detail)
    lone.screen.bring_forward(1)
    assert not lone.screen.is_beside
    (sums,) = lone.named.values()
    assert sums.options
    none = replace(STATE.redemption, runs=())
    lone.bring(replace(STATE, trades=(), fills=(), tickets=(), redemption=none))
    assert shown(lone.screen._detail) == "Select a fill"
    lone.screen.bring_forward(0)
    assert shown(lone.screen._detail) == "Select an order"


# -- the account ---------------------------------------------------------------------------------


def test_the_search_of_the_positions_is_kept_and_says_when_it_hides_all() -> None:
    lone = alone(PortfolioScreen)
    first = rows(lone)[0]
    word = first.question.split()[-2]
    lone.search(word)
    assert first.key in lone.listed
    assert len(lone.listed) < len(STATE.positions)
    lone.screen.keep()
    assert lone.kept["filter.portfolio"] == word
    lone.search("no such word")
    assert lone.listed == []
    assert lone.screen.empty_text().startswith(
        f"No position of {len(STATE.positions)} matches /no such word"
    )
    assert lone.screen.is_hidden(first.key) is False
    again = alone(PortfolioScreen, replace(STATE, preferences={"filter.portfolio": word}))
    assert first.key in again.listed
    assert len(again.listed) < len(STATE.positions)


def test_a_position_is_told_as_open_or_as_ended_by_the_tab() -> None:
    held = replace(STATE.positions[0], outcome=True)
    lone = alone(PortfolioScreen)
    view = ViewContext.of(STATE, NOW, 80)
    assert "outcome" not in lone.screen.detail(held, view).body.plain
    lone.screen.bring_forward(lone.screen.tables.index(CLOSED))
    assert "outcome" in lone.screen.detail(held, view).body.plain


def test_what_the_list_of_orders_lacks_is_told_above_that_list_alone() -> None:
    dropped = {Topic.ORDERS: 2}
    lone = alone(PortfolioScreen, replace(STATE, service=replace(STATE.service, dropped=dropped)))
    for place, spec in enumerate(lone.screen.tables):
        lone.screen.bring_forward(place)
        told = "2 open orders cannot be read" in lone.text("portfolio-notes")
        assert told is (spec is ORDERS), spec.name


def test_the_figures_of_the_account_stand_side_by_side_where_there_is_room() -> None:
    lines = [
        len(alone(PortfolioScreen, size=(width, 40)).text("portfolio-figures").splitlines())
        for width in (20, 60, 120)
    ]
    assert lines == sorted(lines, reverse=True)
    assert lines[0] > lines[-1] > 0


def test_the_axis_of_the_curve_is_money_and_masked() -> None:
    lone = alone(PortfolioScreen)
    assert lone.screen._worth(1.5) == "1.50"
    private = replace(STATE, preferences={"privacy": "on"})
    assert "1.5" not in alone(PortfolioScreen, private).screen._worth(1.5)
    assert len(lone.screen._curve._points) > 0


@pytest.mark.parametrize(("height", "short"), [(16, True), (17, False)])
def test_a_low_account_gives_the_curve_to_the_positions(height: int, *, short: bool) -> None:
    assert alone(PortfolioScreen, size=(120, height)).screen.has_class("-short") is short


# -- what needs the person -----------------------------------------------------------------------


def attention(state: DeskState = STATE, size: tuple[int, int] = (120, 40)) -> LoneScreen:
    return alone(AttentionScreen, state, size)


def test_a_row_of_several_opens_into_its_members_and_folds_again() -> None:
    lone = attention()
    folded = lone.listed
    key = next(row.key for row in rows(lone) if getattr(row, "members", ()))
    lone.screen._toggle(event(key=key))
    assert len(lone.listed) > len(folded)
    assert lone.listed[: folded.index(key) + 1] == folded[: folded.index(key) + 1]
    toggle = event(key=key)
    lone.screen._toggle(toggle)
    assert (lone.listed, toggle.stopped) == (folded, ["stop"])
    assert isinstance(Toggled(key).key, str)


def test_the_row_in_focus_is_advised_where_no_column_does() -> None:
    lone = attention(size=(80, 24))
    need = lone.screen.selected()
    assert lone.screen.row_in_focus() == need
    assert lone.screen._advice.display
    assert shown(lone.screen._advice)
    assert not attention(size=(250, 40)).screen._advice.display


def test_a_row_that_cannot_be_dismissed_says_when_it_goes() -> None:
    screen = attention().screen
    dismiss = next(one for one in screen.actions if "dismiss" in one.id)
    other = next(one for one in screen.actions if "dismiss" not in one.id)
    assert screen.refusal(dismiss, "why") == "cannot be dismissed: clears once resolved"
    assert screen.refusal(other, "why") == "why"


def test_an_empty_list_tells_what_is_loading_or_since_when_it_is_calm(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    module = "service_tui.console.screens.overview.screen"
    monkeypatch.setattr(f"{module}.idle_text", lambda *_: "calm")  # pyright: ignore[reportUnknownLambdaType, reportUnknownArgumentType]
    assert attention().screen.empty_text() == "calm"
    loading = attention(replace(STATE, seen={}))
    assert loading.screen.empty_text() != "calm"
    monkeypatch.setattr(f"{module}.idle_text", lambda *_: "calm since a minute")  # pyright: ignore[reportUnknownLambdaType, reportUnknownArgumentType]
    lone = attention()
    lone.screen.table.empty = ""
    lone.screen.tick()
    assert lone.screen.table.empty == "calm since a minute"


# -- research ------------------------------------------------------------------------------------


@pytest.mark.slow
def test_the_experiments_of_the_session_in_front_are_listed() -> None:
    lone = alone(ResearchScreen)
    session = lone.screen.session
    assert len(lone.listed) == len(STATE.research.of(session)) > 0
    assert lone.screen.name_of(rows(lone)[0]) == rows(lone)[0].description
    assert lone.screen.explain(rows(lone)[0], lone.screen.view)
    assert lone.screen.explain(None, lone.screen.view) == ()
    assert session.name in shown(lone.screen.session_line)
    none = alone(ResearchScreen, replace(STATE, research=replace(
        STATE.research, sessions=(), experiments=())))  # fmt: skip
    assert none.listed == []
    assert none.screen.explain(rows(lone)[0], none.screen.view) == ()


def test_a_row_brings_its_session_to_the_front() -> None:
    research = STATE.research
    ours = research.experiments[0]
    other = replace(ours, skill="other-skill", ref="elsewhere")
    session = replace(research.sessions[0], skill="other-skill")
    state = replace(STATE, research=replace(
        research, sessions=(*research.sessions, session),
        experiments=(*research.experiments, other),
    ))  # fmt: skip
    lone = alone(ResearchScreen, state)
    assert other.key not in lone.listed
    lone.screen.focus_row(other.key)
    assert lone.listed == [other.key]
    assert lone.screen.table.order.cursor == other.key
    lone.screen.focus_row(f"{NEW_SESSION}{research.sessions[0].key}")
    assert lone.screen.session == research.sessions[0]
    assert len(lone.listed) > 1
    lone.screen.focus_row(f"{NEW_SESSION}unknown")
    assert lone.screen.session == research.sessions[0]
    performed: list[Any] = []
    lone.screen.action_perform = performed.append
    lone.screen.focus_row(f"{NEW_SESSION}unknown")
    lone.later[-1]()
    assert performed == ["research.new"]


def test_a_diff_and_a_backtest_are_left_before_the_screen() -> None:
    lone = alone(ResearchScreen)
    lone.screen.table.has_focus = True
    lone.screen.session_line.shows_backtest = True
    lone.screen.show_detail()
    before = lone.detail
    assert lone.screen.step_out()
    assert not lone.screen.session_line.shows_backtest
    assert lone.detail != before
    assert not lone.screen.step_out()
    assert lone.given == []
    diff = filled(DiffView, 3)
    lone.bring(replace(STATE, research=replace(STATE.research, diff=diff)))
    assert f"commit {diff.commit}" in lone.detail
    assert lone.screen.step_out()
    assert lone.given == [ShowDiff("", "")]


# -- agents --------------------------------------------------------------------------------------


def test_the_agent_under_the_cursor_is_watched_once() -> None:
    lone = alone(AgentsScreen)
    first = rows(lone)[0]
    (watched,) = [one for one in lone.given if isinstance(one, WatchAgent)]
    assert watched.agent_id == first.agent_id
    lone.bring(STATE, later_s=1.0)
    lone.screen.leave()
    lone.screen.show_detail()
    assert [one for one in lone.given if isinstance(one, WatchAgent)] == [watched, watched]
    assert lone.screen.name_of(first) == first.name
    assert first.name in shown(lone.screen.agent._detail)


def test_the_curve_of_an_agent_is_awaited_until_its_own_detail_came() -> None:
    embedded = replace(STATE, service=replace(STATE.service, embedded=True))
    assert STATE.fleet is not None
    agent = STATE.fleet.agents[0]
    pane = alone(AgentsScreen, embedded).screen.agent
    view = alone(AgentsScreen, embedded).screen.view

    def curve(agent: Any, state: DeskState) -> str:
        pane.show_agent(agent, replace(view, state=state))
        return pane._curve._empty

    def with_detail(agent_id: str | None) -> DeskState:
        detail = None
        if agent_id is not None:
            detail = AgentDetailView(agent_id, (), (), at=NOW)
        return replace(embedded, supervision=replace(embedded.supervision, detail=detail))

    assert LOADING in curve(agent, with_detail(None))
    assert LOADING in curve(agent, with_detail("another"))
    assert curve(agent, with_detail(agent.agent_id)) == NO_POINTS
    assert curve(None, with_detail(None)) == NO_POINTS
    assert shown(pane._detail).startswith("select an agent")


def test_trades_of_all_agents_are_kept_below_the_list() -> None:
    lone = alone(AgentsScreen)
    assert lone.screen.choices() == {}
    lone.screen.add_class("-all")
    kept = dict(lone.screen.choices())
    again = alone(AgentsScreen, with_choices("agents", kept))
    assert again.screen.has_class("-all")


def test_a_refusal_names_the_agent_that_it_is_about() -> None:
    lone = alone(AgentsScreen)
    named = next(one for one in lone.screen.actions if one.requires)
    name = rows(lone)[0].name
    assert lone.screen.refusal(named, "no").endswith("no")
    assert lone.screen.refusal(named, "no").startswith(name)
    none = alone(AgentsScreen, replace(STATE, fleet=None))
    assert none.screen.refusal(named, "no") == "no"


def test_the_secret_of_an_agent_is_shown_once_and_forgotten() -> None:
    lone = alone(AgentsScreen)
    secret = RevealedView("a-1", "heron", is_key=True, secret="s3cret")  # noqa: S106 - invented
    lone.bring(replace(STATE, revealed=secret))
    lone.bring(replace(STATE, revealed=secret, listening=not STATE.listening))
    (page,) = lone.opened
    assert isinstance(page, Secret)
    lone.answer(None)
    assert Forget() in lone.given
    hook = replace(secret, agent_id="", is_key=False)
    assert alone(AgentsScreen, replace(STATE, revealed=hook)).opened == []


def test_enter_on_a_trade_leads_to_its_market_if_it_is_listed() -> None:
    lone = alone(AgentsScreen)
    feed = lone.screen.feed
    assert len(feed.order) == len(STATE.fills) > 0
    feed.on_mount()
    assert feed.state().sort == "time"
    assert feed.state().falling
    fill = STATE.fills[0]
    for market_id, went in ((next(iter(STATE.markets)), True), ("unknown", False)):
        lone.posted.clear()
        feed.selected = lambda fill=fill, one=market_id: replace(fill, market_id=one)
        opened = event()
        feed._opened(opened)
        assert opened.stopped == ["stop"]
        places = [(one.screen_name, one.row) for one in lone.posted if isinstance(one, GoTo)]
        assert places == ([("markets", market_id)] if went else [])
        assert lone.toasts == ([] if went else ["market not listed"])


# -- approvals -----------------------------------------------------------------------------------


def test_the_agent_of_a_trade_is_read_and_again_when_the_screen_comes_back() -> None:
    lone = alone(ApprovalsScreen)
    first, second = rows(lone)
    assert lone.given == [WatchAgent(first.agent_id)]
    lone.screen.detail(first, lone.screen.view)
    assert len(lone.given) == 1
    lone.screen.leave()
    lone.screen.detail(first, lone.screen.view)
    lone.screen.detail(replace(second, agent_id="a-9"), lone.screen.view)
    assert lone.given[1:] == [WatchAgent(first.agent_id), WatchAgent("a-9")]


def test_the_sums_are_of_what_is_marked_or_of_all(monkeypatch: pytest.MonkeyPatch) -> None:
    counted: list[int] = []

    def totals(listed: Sequence[Any], _: Any) -> tuple[Any, ...]:
        counted.append(len(listed))
        return ()

    module = "service_tui.console.screens.approvals.screen"
    monkeypatch.setattr(f"{module}.totals", totals)
    lone = alone(ApprovalsScreen)
    lone.screen.table.order.toggle_mark()
    lone.screen.show_header()
    assert counted == [2, 1]
    (sums,) = lone.named.values()
    assert sums.display
    lone.bring(replace(STATE, supervision=replace(STATE.supervision, held=())))
    assert not sums.display


def test_agents_that_are_refused_for_today_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    module = "service_tui.console.screens.approvals.screen"
    assert STATE.fleet is not None
    agent = STATE.fleet.agents[0]
    assert alone(ApprovalsScreen).text("approvals-rules") == ""
    monkeypatch.setattr(f"{module}.refused_today", lambda *_: (agent.agent_id, "a-unknown"))  # pyright: ignore[reportUnknownLambdaType, reportUnknownArgumentType]
    text = alone(ApprovalsScreen).text("approvals-rules")
    assert text.startswith(f"refused today: {agent.name}, a-unknown")


# -- settings, redemption, monitors --------------------------------------------------------------


def test_a_setting_is_described_beside_the_list_or_below_it() -> None:
    wide = alone(SettingsScreen, size=(160, 40)).screen
    assert shown(wide._detail)
    assert shown(wide._about)
    assert not shown(wide._hint)
    beside = alone(SettingsScreen, size=(120, 40)).screen
    assert shown(beside._detail) == shown(wide._detail)
    assert not shown(beside._about)
    narrow = alone(SettingsScreen, size=(80, 24)).screen
    assert shown(narrow._hint)
    assert not shown(narrow._detail)


def test_the_queue_shows_its_sums_and_the_row_in_focus() -> None:
    lone = alone(RedemptionScreen)
    assert lone.part("redemption-sums").options
    first = rows(lone)[0]
    assert first.question[:30] in lone.detail
    assert lone.screen.explain(first, lone.screen.view)
    assert lone.screen.explain(None, lone.screen.view) == ()


def test_the_tab_of_the_alerts_stands_out_while_one_is_open() -> None:
    lone = alone(MonitorsScreen)
    assert STATE.risk.open_alerts
    assert len(lone.screen.tabs._strong) == 1
    assert lone.text("monitors-guarded").endswith("protected")
    calm = alone(MonitorsScreen, replace(STATE, risk=replace(STATE.risk, alerts=())))
    assert calm.screen.tabs._strong == set()


def test_the_pane_of_a_row_has_a_head_a_body_and_more() -> None:
    lone = alone(MonitorsScreen)
    head, body, more = (lone.text(f"detail-{name}") for name in ("head", "body", "more"))
    described = lone.screen.detail(rows(lone)[0], ViewContext.of(STATE, NOW, WIDTH))
    assert (head, body, more) == tuple(text.plain for text in described)


@pytest.mark.parametrize(("height", "lines"), [(8, 1), (40, None)])
def test_the_briefing_has_a_third_of_the_room_and_a_line_at_least(
    monkeypatch: pytest.MonkeyPatch, height: int, lines: int | None
) -> None:
    asked: list[int] = []

    def briefing(_: Any, count: int) -> str:
        asked.append(count)
        return "heartbeat"

    monkeypatch.setattr(overview, "briefing_text", briefing)
    lone = attention(size=(120, height))
    assert shown(lone.screen._briefing) == "heartbeat"
    assert asked[-1] == (overview._BRIEFING_LINES if lines is None else lines)  # pyright: ignore[reportPrivateUsage]
    assert {type(count) for count in asked} == {int}
