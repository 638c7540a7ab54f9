"""What needs me now: one list over all agents, what cannot wait first; and the bell."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.text import Text

from kit.console.doors import running
from kit.examples import examples
from kit.samples.attention import CALM, STATE, alert_of, at, everything
from kit.samples.desk import NOW
from kit.samples.fleet import leash_of, pending_trade_of, sample_supervision
from service_tui.console.forms.approval import ApprovalForm
from service_tui.console.idle_time import IdleTime
from service_tui.console.keys import KEYS, key_named
from service_tui.console.needs import needs
from service_tui.console.needs_risk import last_alerts
from service_tui.console.needs_service import REFUSED_FOR_S
from service_tui.console.notifications import CHANNELS_OF, QUIET
from service_tui.console.ranking import LAST_S, TIERS_S, Need, folded, rank, ranked
from service_tui.console.shell.notifier import BELL, Notifier
from service_tui.desk.slices.agents import AgentNeedKind, AgentNeedView
from service_tui.desk.slices.notices import NoticeKind
from service_tui.desk.slices.risk import AlertView
from service_tui.desk.slices.service import Phase
from service_tui.desk.slices.tickets import TicketState, TicketView
from service_tui.desk.slices.topics import Topic
from service_tui.desk.state import DeskState
from service_tui.terms import Side
from service_tui.units import ONE, Micros, Timestamp


def need(
    key: str, left_s: float | None = None, money: int | None = None, tone: str = "warn"
) -> Need:
    worth = None if money is None else Micros(money)
    return Need(key, tone, "!", "word", "what", Text(), "", "blotter", left_s=left_s, money=worth)


NEEDS = st.builds(
    need,
    st.text("abcdef", min_size=1, max_size=6),
    st.none() | st.floats(0, 1e6),
    st.none() | st.integers(-(10**9), 10**9),
    st.sampled_from(("breach", "loss", "warn", "accent", "muted")),
)


# -- the order ----------------------------------------------------------------------------------


def test_time_left_comes_before_money_and_money_decides_within_a_step() -> None:
    found = ranked((
        need("a day", 80_000, 9 * ONE),
        need("minutes, little", 300, ONE),
        need("minutes, much", 590, 500 * ONE),
        need("now", 5, 0),
        need("no end, grave", None, 0, "breach"),
        need("no end, rich", None, 900 * ONE),
    ))
    assert [one.key for one in found] == [
        "now", "minutes, much", "minutes, little", "a day", "no end, grave", "no end, rich",
    ]  # fmt: skip


def test_a_step_holds_its_own_end_and_what_has_none_comes_after_the_last() -> None:
    for tier in TIERS_S:
        found = ranked((need("within", tier, 9 * ONE), need("before", tier / 2, ONE)))
        assert [one.key for one in found] == ["within", "before"]
    later = need("in weeks", 9e6, 0, "muted")
    assert ranked((need("no end", None, 900 * ONE, "breach"), later))[0] is later


def test_a_loss_counts_as_much_as_a_gain() -> None:
    found = ranked((need("gain", 500, 3 * ONE), need("loss", 500, -9 * ONE)))
    assert [one.key for one in found] == ["loss", "gain"]


def test_with_equal_money_the_nearer_end_comes_first() -> None:
    found = ranked((need("b", 500, ONE), need("a", 100, ONE), need("c", 300, None)))
    assert [one.key for one in found] == ["a", "b", "c"]


def test_real_money_comes_before_play_money_of_any_amount() -> None:
    little = replace(need("real", 500, ONE), is_real=True)
    found = ranked((need("play", 100, 900 * ONE), little, need("sooner", 50, 1)))
    assert [one.key for one in found] == ["sooner", "real", "play"]
    kept = replace(need("real", None, None), is_real=True)
    assert ranked((need("play", None, 900 * ONE), kept))[0] is kept
    graver = need("grave", None, 1, "breach")
    assert ranked((kept, graver))[0] is graver


def test_pinned_rows_come_first_whatever_time_is_left_and_real_money_first_of_them() -> None:
    pinned = replace(need("pinned", 80_000, 1), is_pinned=True)
    real = replace(need("pinned, real", None, None), is_pinned=True, is_real=True)
    found = ranked((need("now", 1, 900 * ONE, "breach"), pinned, real))
    assert [one.key for one in found] == ["pinned, real", "pinned", "now"]


def test_what_holds_money_or_a_decision_is_pinned() -> None:
    found = needs(everything(), NOW)
    assert {one.word for one in found if one.is_pinned} == {"LAST 10m", "approve", "unknown"}
    # The first rows are the pinned ones, and no row after them is.
    pinned = [one.is_pinned for one in found]
    assert pinned == sorted(pinned, reverse=True)
    assert not any(one.can_be_muted for one in found if one.is_pinned)


def signals(*whose: tuple[str, float | None]) -> tuple[Need, ...]:
    return tuple(
        replace(
            need(f"signal {place}", 300 + place, ONE), kind="signals", group=wallet, edge=edge,
            topic="signals",
        )
        for place, (wallet, edge) in enumerate(whose)
    )  # fmt: skip


def test_two_signals_of_a_wallet_are_one_row_with_the_best_of_them() -> None:
    late, heron = "Late Breakfast", "Heron"
    rows = signals((late, 0.012), (heron, 0.05), (late, 0.031), (late, None))
    group, alone = folded(rows)
    assert group.what == "3 signals, Late Breakfast, best +3.1 pt"
    assert (group.money, group.left_s, group.topic) == (3 * ONE, 300, "signals")
    assert alone.key == "signal 1"
    opened = folded(rows, frozenset({group.key}))
    assert [one.key for one in opened] == [
        group.key,
        "signal 0",
        "signal 2",
        "signal 3",
        "signal 1",
    ]
    assert folded(signals((late, None), (late, None)))[0].what == "2 signals, Late Breakfast"


def test_signals_of_several_wallets_in_one_market_are_one_row() -> None:
    rows = [
        replace(one, market=market)
        for one, market in zip(
            signals(("Heron", 0.01), ("Late", 0.02), ("Moss", None), ("Heron", 0.0)),
            ("Curlew 3", "Curlew 3", "Curlew 3", "Isolde"),
            strict=True,
        )
    ]
    heron, market = folded(rows)
    assert heron.what == "2 signals, Heron, best +1.0 pt"
    assert market.what == "2 signals, Curlew 3, best +2.0 pt"
    assert [one.key for one in market.members] == ["signal 1", "signal 2"]


def test_real_money_is_not_added_to_play_money() -> None:
    rows = signals(("Heron", None), ("Heron", None))
    (group,) = folded((rows[0], replace(rows[1], is_real=True)))
    assert (group.money, group.topic) == (None, "")


def test_three_alike_are_one_row_where_the_first_was_and_two_are_not() -> None:
    def moved(key: str) -> Need:
        figure = Text("+9 %")
        return replace(
            need(key), kind="positions moved", otherwise="stays open", figure=figure, row=key
        )

    rows = (need("a"), moved("b"), need("c"), moved("d"))
    assert folded(rows) == rows
    rows = (*rows, moved("e"))
    (first, group, last) = folded(rows)
    assert (first.key, last.key) == ("a", "c")
    assert [one.key for one in group.members] == ["b", "d", "e"]
    assert (group.what, group.otherwise) == ("3 positions moved: what", "stays open")
    # The row of several claims no figure and no position of its first one.
    assert (group.figure.plain, group.row, group.verb) == ("", None, "Show all")
    opened = folded(rows, frozenset({group.key}))
    assert [one.key for one in opened] == ["a", group.key, "b", "d", "e", "c"]
    mixed = (*rows[:4], replace(moved("e"), otherwise="is sold", is_dismissable=True))
    group = folded(mixed)[1]
    assert (group.otherwise, group.is_dismissable) == ("as each row says", False)


@pytest.mark.slow
@examples(8)
@given(st.lists(NEEDS, max_size=12, unique_by=lambda one: one.key), st.randoms())
def test_the_order_is_one_whatever_way_they_were_found(found: list[Need], random: object) -> None:
    mixed = list(found)
    random.shuffle(mixed)
    told = ranked(mixed)
    assert told == ranked(found)
    assert [rank(one) for one in told] == sorted(rank(one) for one in found)


@examples(15)
@given(NEEDS, NEEDS)
def test_no_money_outweighs_a_shorter_step(one: Need, other: Need) -> None:
    if one.left_s is None or other.left_s is None:
        return
    steps = [sum(each.left_s > tier for tier in TIERS_S) for each in (one, other)]
    if steps[0] < steps[1]:
        assert ranked((other, one))[0] is one


# -- what is found ------------------------------------------------------------------------------


def with_alerts(*alerts: AlertView, **preferences: str) -> DeskState:
    risk = replace(CALM.risk, alerts=alerts)
    return replace(CALM, risk=risk, preferences={**CALM.preferences, **preferences})


def test_one_list_holds_every_kind_over_all_agents() -> None:
    found = needs(everything(), NOW)
    assert {
        "LAST 10m", "approve", "signal", "crashed", "budget", "skill", "broke", "paused",
        "capped", "429", "403", "unknown",
    } <= {one.word for one in found}  # fmt: skip
    assert len({one.key for one in found}) == len(found)
    assert list(found) == sorted(found, key=lambda one: (rank(one), one.key))


def test_each_verb_stands_in_the_key_table() -> None:
    idents = {key.ident for key in KEYS}
    found = needs(everything(), NOW)
    assert {one.act for one in found if one.act} <= idents
    assert all(one.verb for one in found)
    assert all(key_named(one.act).group in {"app", one.screen} for one in found if one.act)


@pytest.mark.parametrize(("status", "word"), [(403, "403"), (429, "429")])
def test_a_topic_that_is_refused_is_told_until_it_is_answered(status: int, word: str) -> None:
    service = replace(STATE.service, problem="no", problem_of=Topic.TRADES, problem_status=status)
    assert [one.word for one in needs(replace(CALM, service=service), NOW)] == [word]


@pytest.mark.parametrize(
    ("phase", "word"), [(Phase.UNAUTHORIZED, "401 key"), (Phase.OFFLINE, "offline")]
)
def test_a_dead_line_cannot_wait(phase: Phase, word: str) -> None:
    service = replace(STATE.service, phase=phase, problem="it says no")
    found = needs(replace(STATE, service=service, tickets=()), NOW)
    assert (found[0].word, found[0].left_s) == (word, 0.0)


def test_a_command_that_failed_is_listed_for_a_while_whatever_stands_before_it() -> None:
    one = STATE.tickets[0]

    def ended(ticket_id: str, state: TicketState, ago_s: float) -> TicketView:
        return replace(one, ticket_id=ticket_id, state=state, settled_at=Timestamp(NOW - ago_s))

    tickets = (
        ended("done", TicketState.DONE, 1), ended("old", TicketState.FAILED, REFUSED_FOR_S + 1),
        ended("refused", TicketState.REFUSED, REFUSED_FOR_S), ended("new", TicketState.FAILED, 1),
    )  # fmt: skip
    found = needs(replace(CALM, tickets=tickets), NOW)
    assert {(need.row, need.word) for need in found} == {
        ("refused", TicketState.REFUSED.value), ("new", TicketState.FAILED.value),
    }  # fmt: skip


def test_a_trade_that_waits_is_masked_where_amounts_are() -> None:
    view = replace(sample_supervision(), runs=(), leashes=())
    private = replace(CALM, supervision=view, preferences={"privacy": "on"})
    assert not any("25.00" in one.what for one in needs(private, NOW))


def test_a_leash_is_told_from_80_percent() -> None:
    for spent, told in ((80, []), (81, ["budget"])):
        leash = leash_of(spent=Micros(spent * ONE))
        view = replace(CALM.supervision, leashes=(leash,), pending_trades=(), runs=())
        assert [one.word for one in needs(replace(CALM, supervision=view), NOW)] == told


def of_agent(kind: AgentNeedKind, left: float | None = None) -> AgentNeedView:
    at = None if left is None else Timestamp(NOW + left)
    return AgentNeedView(
        kind, "a-2", "heron", "n-1", "Will it rain?", Side.YES, Micros(9 * ONE), at
    )  # fmt: skip


def with_needs(*found: AgentNeedView) -> DeskState:
    return replace(CALM, supervision=replace(CALM.supervision, needs=found))


@pytest.mark.parametrize(
    ("kind", "word"),
    [
        (AgentNeedKind.ALERT, "alert"),
        (AgentNeedKind.SIGNAL, "signal"),
        (AgentNeedKind.REDEEMABLE, "redeem"),
        (AgentNeedKind.BREAKER, "breaker"),
    ],
)
def test_what_other_agents_wait_for_stands_in_the_same_list(kind: AgentNeedKind, word: str) -> None:
    left = None if kind is AgentNeedKind.REDEEMABLE else 1_200.0
    (found,) = needs(with_needs(of_agent(kind, left)), NOW)
    assert (found.word, found.row, found.screen) == (word, "a-2", "agents")
    assert (found.agent, found.what) == ("heron", "YES: Will it rain?")
    assert found.left_s == left
    assert found.is_dismissable is (left is None)


def test_an_alert_of_any_agent_rings_in_its_last_ten_minutes() -> None:
    ears = Ears()
    telling = Notifier(ears, 0)
    state = with_needs(of_agent(AgentNeedKind.ALERT, 650), of_agent(AgentNeedKind.SIGNAL, 30))
    telling.ring(state, Timestamp(NOW))
    assert ears.heard == []
    telling.ring(state, Timestamp(NOW + 60))
    telling.ring(state, Timestamp(NOW + 61))
    assert ears.heard == [BELL]
    assert next(one for one in needs(state, Timestamp(NOW + 60)) if one.is_last).word == "LAST 10m"


# -- the last ten minutes -----------------------------------------------------------------------


@pytest.mark.parametrize(("left", "last"), [(LAST_S + 1, False), (LAST_S, True), (1, True)])
def test_an_alert_turns_red_in_its_last_ten_minutes(left: float, *, last: bool) -> None:
    (found,) = needs(with_alerts(alert_of(left)), NOW)
    assert (found.is_last, found.word, found.glyph) == (
        last, "LAST 10m" if last else "alert", "!" if last else "▼",
    )  # fmt: skip


class Ears:
    def __init__(self) -> None:
        self.heard: list[str] = []

    def show_toast(self, text: str, tone: str = "info", kind: str = "") -> object:
        raise AssertionError((text, tone, kind))

    def signal(self, data: str) -> None:
        self.heard.append(data)


def test_it_rings_once_for_each_alert() -> None:
    ears = Ears()
    telling = Notifier(ears, 0)
    state = with_alerts(alert_of(700))
    for later in (0, 99, 101, 102, 500):
        telling.ring(state, Timestamp(NOW + later))
    assert ears.heard == [BELL]
    telling.ring(with_alerts(alert_of(700), alert_of(650, "al-2")), Timestamp(NOW + 102))
    assert ears.heard == [BELL, BELL]


def test_a_cached_alert_and_one_that_is_over_ring_nothing() -> None:
    assert last_alerts(replace(with_alerts(alert_of(60)), from_cache=True), NOW) == frozenset()
    assert last_alerts(with_alerts(alert_of(0)), NOW) == frozenset()


def test_quiet_hours_hold_the_bell_back_until_they_end() -> None:
    ears = Ears()
    telling = Notifier(ears, 0)
    telling.ring(with_alerts(alert_of(300), **{QUIET: "00:00-23:59"}), Timestamp(NOW))
    assert ears.heard == []
    telling.ring(with_alerts(alert_of(300)), Timestamp(NOW + 1))
    assert ears.heard == [BELL]


def test_who_took_the_bell_from_alerts_hears_none() -> None:
    ears = Ears()
    chosen = {CHANNELS_OF + NoticeKind.ALERT.value: "toast"}
    Notifier(ears, 0).ring(with_alerts(alert_of(300), **chosen), Timestamp(NOW))
    assert ears.heard == []


@pytest.mark.slow
async def test_the_console_rings_as_the_minutes_come() -> None:
    async with running(with_alerts(alert_of(700))) as seen:
        written: list[str] = []
        seen.app.signal = written.append
        seen.clock[0] = NOW + 60
        seen.app.show_state()
        assert written == []
        for later in (150, 151, 152):
            seen.clock[0] = NOW + later
            seen.app.show_state()
        assert written == [BELL]
        await seen.pilot.pause()
        assert "! LAST 10m" in seen.text


# -- the calm -----------------------------------------------------------------------------------


def test_calm_begins_when_the_last_need_has_gone() -> None:
    calm = IdleTime()
    calm.update(Timestamp(1.0), needed=False, is_loaded=False)
    assert calm.since is None
    calm.update(Timestamp(2.0), needed=False, is_loaded=True)
    assert (calm.since, calm.is_from_start) == (2.0, True)
    calm.update(Timestamp(3.0), needed=True, is_loaded=True)
    calm.update(Timestamp(4.0), needed=False, is_loaded=True)
    calm.update(Timestamp(9.0), needed=False, is_loaded=True)
    assert (calm.since, calm.is_from_start) == (4.0, False)


@pytest.mark.slow
async def test_an_empty_list_says_since_when_all_is_well() -> None:
    async with running(CALM) as seen:
        assert "All clear. Watching for " in seen.text
        await seen.bring(STATE)
        seen.clock[0] = NOW + 10
        await seen.bring(CALM)
        seen.clock[0] = NOW + 135
        seen.app.show_state()
        await seen.pilot.pause()
        assert "(2m 05s)." in seen.text


# -- enter --------------------------------------------------------------------------------------


@pytest.mark.slow
async def test_enter_decides_the_trade_that_is_highlighted() -> None:
    other = pending_trade_of("h9", expires_at=Timestamp(NOW + 40), reasoning="the last one")
    view = replace(sample_supervision(), pending_trades=(pending_trade_of(), other))
    async with running(replace(CALM, supervision=view)) as seen:
        seen.app.front.focus_row("held h1")
        await seen.press("enter")
        assert isinstance(seen.app.screen, ApprovalForm)
        assert seen.app.screen._trade.pending_id == "h1"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("word", "screen"),
    [
        ("LAST 10m", "monitors"),
        ("signal", "reactor"),
        ("budget", "agents"),
        ("resolves", "portfolio"),
    ],
)
async def test_enter_opens_the_dialog_of_the_verb_over_its_screen(word: str, screen: str) -> None:
    async with running(everything(), size=(120, 40)) as seen:
        found = await at(seen, word)
        await seen.until(lambda: seen.app.front.name_in_keys == screen)
        await seen.until(lambda: len(seen.app.screen_stack) > 1)
        assert seen.app.front.current_row() == found.row


@pytest.mark.slow
async def test_enter_starts_a_crashed_skill_again_and_asks_the_service_anew() -> None:
    async with running(everything(), size=(120, 40)) as seen:
        await at(seen, "crashed")
        await seen.until(lambda: any(order.kind == "skill" for order in seen.doors.submitted))
        await seen.press("0")
        await at(seen, "429")
        await seen.until(lambda: any(order.kind == "refresh" for order in seen.doors.submitted))


@pytest.mark.slow
async def test_an_unknown_order_leads_to_the_blotter() -> None:
    async with running(STATE) as seen:
        await at(seen, "unknown")
        await seen.until(lambda: seen.app.front.name_in_keys == "blotter")
        unknown = next(one for one in STATE.tickets if one.state is TicketState.UNKNOWN)
        assert seen.app.front.current_row() == unknown.ticket_id
