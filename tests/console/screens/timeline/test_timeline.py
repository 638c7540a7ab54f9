"""The timeline: each thing once, in order, with its place; filters, absence, hostile text."""

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kit.console.doors import running
from kit.console.pictures import SIZES, assert_each
from kit.samples.attention import everything
from kit.samples.desk import NOW
from kit.samples.log import sample_log
from kit.samples.research import research_sample
from service_tui.console.moments import MomentKind, Moments, MomentView, moments
from service_tui.console.screens.timeline.actions import AWAY, OURS
from service_tui.console.screens.timeline.screen import TimelineScreen
from service_tui.console.screens.timeline.table import words
from service_tui.console.view_context import ViewContext
from service_tui.desk.commands.agents import ReadLog
from service_tui.desk.slices.agents import FillView
from service_tui.desk.slices.log import ActionView, LogView
from service_tui.desk.slices.markets import NewsView
from service_tui.desk.slices.risk import PriceAlertView
from service_tui.desk.slices.service import Phase
from service_tui.desk.slices.team import ActView, TeamView
from service_tui.desk.slices.trades import TradeView
from service_tui.desk.slices.world import AbsenceView, ResolvedView, WorldView
from service_tui.desk.state import DeskState
from service_tui.outcome import NO, YES
from service_tui.terms import Action, AlertCondition, PersonRole, Side, Venue
from service_tui.units import ONE, Micros, Timestamp

CLOSED, OPENED = Timestamp(NOW - 7_200), Timestamp(NOW - 3_600)


def test_a_row_is_named_by_what_happened() -> None:
    state = replace(everything(), preferences={"welcome": "seen"})
    screen = TimelineScreen(state, NOW)
    row = MomentView("k", NOW, MomentKind.ORDER, "it was bought")
    assert screen.name_of(row) == "it was bought"


def whole() -> DeskState:
    """A desk with a moment of each kind, one hour of which nobody saw."""
    state = everything()
    first, second, third, *_ = state.markets.values()
    missed = NewsView(Timestamp(NOW - 5_000), first.market_id, "Missed headline", 0.4, 0.5)
    payout: TradeView = replace(
        state.trades[0], trade_id="paid", action="redeem", at=Timestamp(NOW - 5_500)
    )
    world = WorldView(NOW, NOW, 1, 7)
    absence = AbsenceView(
        CLOSED, OPENED, 3_600.0, 1, 0,
        (ResolvedView(Timestamp(NOW - 5_200), second.market_id, second.question, outcome=YES,
                      payout=Micros(3 * ONE), pnl=Micros(ONE)),),
        (missed,), None, None,
    )  # fmt: skip
    fired = PriceAlertView(
        "p-1", first.market_id, first.question, Side.YES, AlertCondition.ABOVE, 0.6, NOW,
        triggered_at=Timestamp(NOW - 40), triggered_price=0.61,
    )  # fmt: skip
    return replace(
        state,
        preferences={"welcome": "seen"},
        markets={
            **state.markets,
            third.market_id: replace(third, resolved_at=Timestamp(NOW - 90), outcome=NO),
        },
        trades=(payout, *state.trades),
        news=(*state.news, missed),
        log=sample_log(),
        research=research_sample(),
        world=replace(world, meanwhile=absence),
        risk=replace(state.risk, price_alerts=(fired,)),
    )


STATE = whole()
ROWS = moments(STATE)


def of(kind: MomentKind) -> list[MomentView]:
    return [row for row in ROWS if row.kind is kind]


@pytest.mark.parametrize(
    "kind",
    [
        MomentKind.FILL, MomentKind.PAYOUT, MomentKind.ALERT, MomentKind.PRICE, MomentKind.SIGNAL,
        MomentKind.NEWS, MomentKind.RESOLVED, MomentKind.RESULT, MomentKind.ORDER,
        MomentKind.REFUSED, MomentKind.APPROVAL, MomentKind.AGENT,
    ],
)  # fmt: skip
def test_there_is_a_moment_of_each_kind_that_leads_to_its_thing(kind: MomentKind) -> None:
    rows = of(kind)
    assert rows
    assert all(row.screen for row in rows)


def test_moments_are_in_order_and_each_is_there_once() -> None:
    assert [row.at for row in ROWS] == sorted((row.at for row in ROWS), reverse=True)
    assert len({row.key for row in ROWS}) == len(ROWS)


def test_a_lost_service_is_a_moment_and_an_unknown_order_is_not_done() -> None:
    lost = replace(
        STATE,
        service=replace(
            STATE.service, phase=Phase.OFFLINE, problem="refused", last_ok_at=Timestamp(NOW - 30)
        ),
    )
    (row,) = (row for row in moments(lost) if row.kind is MomentKind.CONNECTION)
    assert (row.at, row.words) == (NOW - 30, "service lost: refused")
    unknown = ActionView(9, "h", NOW, "person", "unknown", "trade", "buy YES: no answer")
    (row,) = moments(replace(DeskState(STATE.service), log=LogView(entries=(unknown,))))
    assert row.kind is MomentKind.UNKNOWN


DONE = ActionView(
    7, "h", NOW, "person", "result", "trade", "buy YES for 25.00: done: bought 50.00 shares"
)


def own_fill() -> FillView:
    """The fill of that order."""
    assert STATE.account is not None
    return FillView(
        0, Timestamp(NOW - 0.4), STATE.account.agent_id, "me", "m-1", "Will it rain?", Venue.SIM,
        Side.YES, Action.BUY, Micros(50 * ONE), 0.5, 0.5, Micros(25 * ONE), Micros(0),
        trade_id="t-1",
    )  # fmt: skip


def test_an_own_order_is_told_by_its_fill_alone() -> None:
    fill = own_fill()
    state = replace(
        DeskState(STATE.service), account=STATE.account, log=LogView(entries=(DONE,)), fills=(fill,)
    )
    assert [row.kind for row in moments(state)] == [MomentKind.FILL]
    # Another agent's fill says nothing of it, nor one of an hour ago or of other shares.
    others = (
        replace(fill, agent_id="a-9"),
        replace(fill, at=Timestamp(NOW - 3_600)),
        replace(fill, shares=Micros(60 * ONE)),
    )
    for other in others:
        kinds = {row.kind for row in moments(replace(state, fills=(other,)))}
        assert kinds == {MomentKind.FILL, MomentKind.ORDER}


def test_a_command_is_no_order_and_one_row_with_its_answer() -> None:
    def entry(number: int, *texts: str, kind: str = "notice") -> ActionView:
        who, what, text = texts
        return ActionView(number, "", Timestamp(NOW - 90 + number), who, what, kind, text)

    entries = (
        entry(9, "person", "intent", "reset the breaker", kind="breaker"),
        entry(8, "desk", "result", "World speed 10x"),
        entry(7, "person", "intent", "World speed 10x", kind="speed"),
        entry(4, "person", "intent", "World speed 10x", kind="speed"),
        entry(3, "person", "intent", "sell 40.00 YES", kind="exit"),
    )  # fmt: skip
    rows = moments(replace(DeskState(STATE.service), log=LogView(entries=entries)))
    assert [(row.kind, row.who, row.words) for row in rows] == [
        (MomentKind.COMMAND, "person", "reset the breaker"),
        (MomentKind.COMMAND, "desk", "World speed 10x"),
        (MomentKind.COMMAND, "person", "World speed 10x"),
        (MomentKind.ORDER, "person", "sell 40.00 YES"),
    ]


def test_agents_that_are_registered_together_are_one_row() -> None:
    def registered(number: int, name: str, ago_s: float) -> ActionView:
        return ActionView(
            number, "", Timestamp(NOW - ago_s), name, "agent", "agent_registered",
            f"{name} registered: active, free",
        )  # fmt: skip

    entries = (
        registered(9, "heron", 5.0), registered(8, "moss", 5.5), registered(7, "tide", 6.0),
        registered(2, "reed", 7_200.0),
    )  # fmt: skip
    rows = moments(replace(DeskState(STATE.service), log=LogView(entries=entries)))
    assert [(row.words, row.who, row.at) for row in rows] == [
        ("3 agents registered (tide, moss, heron)", "", NOW - 5.0),
        ("reed registered: active, free", "reed", NOW - 7_200.0),
    ]


def test_a_fill_tells_one_order_only_and_that_of_its_market() -> None:
    done = replace(DONE, market="m-1")
    again = replace(done, number=8, at=Timestamp(NOW + 1))
    fill = own_fill()
    state = replace(
        DeskState(STATE.service),
        account=STATE.account,
        log=LogView(entries=(again, done)),
        fills=(fill,),
    )
    assert sorted(row.kind for row in moments(state)) == [MomentKind.FILL, MomentKind.ORDER]
    elsewhere = replace(state, fills=(replace(fill, market_id="m-2"),))
    assert len(moments(elsewhere)) == 3


@pytest.mark.slow
async def test_an_outcome_and_a_star_are_listed_when_they_come() -> None:
    market = next(
        one
        for one in STATE.markets.values()
        if one.resolved_at is None and one.market_id not in STATE.stars
    )
    async with running(STATE, size=(120, 40), first="timeline") as seen:
        await seen.press("c")
        ended = replace(market, resolved_at=NOW, outcome=YES)
        state = replace(STATE, markets={**STATE.markets, market.market_id: ended})
        await seen.bring(state)
        rows = seen.app.front.table.order  # type: ignore[attr-defined]
        key = f"resolved {market.market_id}"
        assert key in {rows[n].key for n in range(len(rows))}


def test_moments_are_collected_once_for_a_state() -> None:
    rows = Moments()
    assert rows(STATE) is rows(STATE)
    assert rows(replace(STATE, stars=frozenset())) is not rows(STATE)


def test_what_came_while_the_desk_was_closed_is_marked() -> None:
    away = {row.key for row in ROWS if row.is_away}
    assert {f"payout {trade.trade_id}" for trade in STATE.trades[:1]} <= away
    missed = [row for row in ROWS if "Missed headline" in row.words]
    assert [(row.is_away, row.at) for row in missed] == [(True, OPENED)]
    assert all(not row.is_away for row in ROWS if row.at > OPENED)


def test_an_event_of_the_world_has_its_time_and_an_estimate_of_ours() -> None:
    world = WorldView(Timestamp(NOW + 10_000), NOW, 10, 7)
    news = NewsView(Timestamp(NOW + 9_000), "m-1", "Rain", 0.4, 0.5)
    (row,) = moments(replace(DeskState(STATE.service), world=world, news=(news,)))
    assert row.world_at == NOW + 9_000
    assert row.at == NOW - 100


def test_news_and_outcomes_of_foreign_markets_are_not_ours() -> None:
    held = {row.market_id for row in (*STATE.positions, *STATE.closed, *STATE.trades, *STATE.fills)}
    for row in ROWS:
        is_public = row.kind in {MomentKind.NEWS, MomentKind.RESOLVED}
        assert row.is_own is (not is_public or row.market_id in held | STATE.stars)


def test_amounts_are_masked_in_the_words() -> None:
    row = MomentView("k", NOW, MomentKind.ORDER, "buy YES for 25.00: done", money=Micros(25 * ONE))
    assert "25.00" in words(row, ViewContext(STATE, NOW))
    assert "25.00" not in words(row, ViewContext(STATE, NOW, masked=True))


HOSTILE = "[red]x[/] \x1b[2J \u202eevil\n[@click=quit]y"


def test_text_from_outside_is_inert() -> None:
    row = MomentView("k", NOW, MomentKind.NEWS, HOSTILE, who=HOSTILE, question=HOSTILE)
    text = words(row, ViewContext(STATE, NOW))
    assert "[red]x[/]" in text
    assert not {"\x1b", "\n", "\u202e"} & set(text)


@pytest.mark.slow
@settings(max_examples=25)
@given(
    st.lists(st.builds(NewsView), max_size=6),
    st.lists(
        st.builds(
            ActionView, at=st.floats(0, 4e9), number=st.integers(1, 9), what=st.text(max_size=9)
        ),
        max_size=6,
    ),
    st.booleans(),
)
def test_any_state_has_moments_in_order_each_once(
    news: list[NewsView],
    entries: list[ActionView],
    embedded: bool,  # noqa: FBT001 - drawn by hypothesis
) -> None:
    finite = [one for one in news if one.at == one.at]
    state = replace(
        DeskState(replace(STATE.service, embedded=embedded)),
        news=tuple(finite),
        log=LogView(entries=tuple(entries)),
        world=WorldView(NOW, NOW, 0, 7),
    )
    rows = moments(state)
    assert [row.at for row in rows] == sorted((row.at for row in rows), reverse=True)
    assert len({row.key for row in rows}) == len(rows)


ANOTHER_STATE = {
    "a fill": {"fills": STATE.fills[1:]},
    "a payout": {"trades": STATE.trades[1:]},
    "an entry of the log": {"log": replace(STATE.log, entries=STATE.log.entries[1:])},
    "an alert": {"risk": replace(STATE.risk, alerts=STATE.risk.alerts[1:])},
    "a price": {"risk": replace(STATE.risk, price_alerts=())},
    "a signal": {"reactor": replace(STATE.reactor, signals=STATE.reactor.signals[1:])},
    "a result": {"research": replace(STATE.research, experiments=STATE.research.experiments[1:])},
    "news": {"news": STATE.news[1:]},
    "an absence": {"world": replace(STATE.world, meanwhile=None)},
    "a silence": {
        "service": replace(STATE.service, phase=Phase.OFFLINE, last_ok_at=Timestamp(NOW - 30))
    },
    "an outcome": {"markets": dict(list(STATE.markets.items())[:2])},
    "a star": {"stars": frozenset(STATE.markets) - STATE.stars},
}


@pytest.mark.parametrize("what", ANOTHER_STATE)
def test_whatever_makes_a_moment_shows_the_timeline_anew(what: str) -> None:
    screen = TimelineScreen(STATE, NOW)
    screen.state = replace(STATE, **ANOTHER_STATE[what])
    before = screen.watched()
    assert moments(screen.state) != ROWS
    screen.state = STATE
    assert screen.watched() != before


@pytest.mark.slow
@pytest.mark.parametrize("name", ["world", "account"])
async def test_a_timeline_stands_without_what_the_service_has_not_told(name: str) -> None:
    # Another service than the embedded one has no world to tell of.
    without = replace(STATE, **{name: None})
    async with running(without, size=(120, 40), first="timeline") as seen:
        await seen.bring(STATE)
        await seen.bring(without)
        assert isinstance(seen.app.front, TimelineScreen)


def test_an_act_of_another_person_shows_the_timeline_anew() -> None:
    team = TeamView("ada", PersonRole.OWNER, "w")
    screen = TimelineScreen(replace(STATE, team=team), NOW)
    before = screen.watched()
    act = ActView(1, NOW, "eve", "POST /api/desk/halt")
    screen.state = replace(STATE, team=replace(team, acts=(act,)))
    assert moments(screen.state) != ROWS
    assert screen.watched() != before


# -- the screen -----------------------------------------------------------------------------------


@pytest.mark.slow
async def test_keys_filter_and_lead_to_the_things() -> None:
    async with running(STATE, size=(120, 40)) as seen:
        await seen.press("apostrophe")
        front = seen.app.front
        assert isinstance(front, TimelineScreen)
        assert [one for one in seen.doors.submitted if isinstance(one, ReadLog)]
        assert front.only is OURS
        await seen.press("c")
        assert front.only is None
        assert len(front.table.order) == len(ROWS)
        await seen.press("c")
        assert front.only is not None
        assert {front.table.order[n].kind for n in range(len(front.table.order))} == {
            MomentKind.FILL
        }
        fill = front.selected()
        assert fill is not None
        await seen.press("enter")
        await seen.until(lambda: seen.app.front.name_in_keys == "blotter")
        assert seen.app.front.current_row() == fill.row
        await seen.press("apostrophe", "w")
        assert front.only is AWAY
        assert "while you were away" in seen.text
        assert all(front.table.order[n].is_away for n in range(len(front.table.order)))
        await seen.press("escape")
        assert front.only is OURS
        await seen.press("slash", *"missed", "enter")
        assert "Missed headline" in seen.text


@pytest.mark.slow
async def test_the_cursor_stays_on_its_row_when_something_happens() -> None:
    async with running(STATE, size=(120, 40), first="timeline") as seen:
        await seen.press("j", "j")
        row = seen.app.front.current_row()
        newer = replace(STATE.fills[0], trade_id="new", seq=999, at=Timestamp(NOW + 1))
        await seen.bring(replace(STATE, fills=(newer, *STATE.fills)))
        assert seen.app.front.current_row() == row
        await seen.press("i")
        assert "Traceback" not in seen.text


@pytest.mark.slow
async def test_the_timeline_looks_as_it_is_meant_to() -> None:
    async with running(STATE, first="timeline", size=SIZES[0]) as seen:
        await seen.press("j")
        await assert_each(seen.pilot, "timeline")
