"""The list of trades that need approval: its fields, and what one key does with many."""

from dataclasses import replace
from typing import Any

import pytest

from kit.console.doors import Running, running, seen_before
from kit.samples.desk import NOW, sample_state
from kit.samples.fleet import leash_of, pending_trade_of, sample_supervision
from service_tui.console import formats
from service_tui.console.forms.approval import ApprovalForm, why_text
from service_tui.console.forms.confirm_many import ConfirmMany
from service_tui.console.screens.approvals.actions import approvable
from service_tui.console.screens.approvals.detail import position_of
from service_tui.console.screens.approvals.table import APPROVALS
from service_tui.console.signs import edge_now, signs_text
from service_tui.console.view_context import ViewContext
from service_tui.console.widgets.dialog import ARMED_AFTER_S
from service_tui.desk.agents.refused_today import REASON, RULE, refused_today
from service_tui.desk.commands.agents import ApproveTrade, RefuseTrade
from service_tui.desk.slices.supervision import PendingTradeView
from service_tui.desk.slices.topics import Topic
from service_tui.desk.state import DeskState
from service_tui.terms import Side, Venue
from service_tui.units import ONE, Micros, Timestamp

FULL = replace(seen_before(sample_state()), supervision=sample_supervision())
ROOM = leash_of(budget=None)
DAY = f"{int(NOW // 86_400)}"


def waiting(*pending: PendingTradeView, state: DeskState = FULL) -> DeskState:
    return replace(
        state, supervision=replace(state.supervision, leashes=(ROOM,), pending_trades=pending)
    )


TEN = tuple(
    pending_trade_of(f"h{place}", question=f"question {place}", amount=Micros(place * ONE))
    for place in range(1, 11)
)


def given(seen: Running, kind: type) -> list[object]:
    return [command for command in seen.doors.submitted if isinstance(command, kind)]


def with_agent(state: DeskState, **changed: Any) -> DeskState:
    """The state with another view of the agent whose trades wait."""
    assert state.fleet is not None
    agents = tuple(
        replace(one, **changed) if one.agent_id == pending_trade_of().agent_id else one
        for one in state.fleet.agents
    )
    assert agents != state.fleet.agents
    return replace(state, fleet=replace(state.fleet, agents=agents))


async def armed(seen: Running) -> None:
    await seen.pilot.pause(2 * ARMED_AFTER_S)


@pytest.mark.slow
async def test_ten_trades_are_approved_with_four_keys() -> None:
    async with running(waiting(*TEN), first="portfolio", size=(120, 40)) as seen:
        await seen.press("ampersand")
        assert seen.app.front.name_in_keys == "approvals"
        assert "10 buys  55.00 $SIM" in seen.text
        await seen.press("ctrl+a", "a")
        assert isinstance(seen.app.screen, ConfirmMany)
        await armed(seen)
        await seen.press("y")
        assert {one.pending_id for one in given(seen, ApproveTrade)} == {
            one.pending_id for one in TEN
        }
        assert given(seen, RefuseTrade) == []


@pytest.mark.slow
async def test_a_row_has_its_fields_and_the_pane_says_what_happens_without_an_answer() -> None:
    signs = {"edge": 0.07, "confidence": 0.62}
    one = replace(pending_trade_of("h1"), signal_data=signs, expires_at=Timestamp(NOW + 240))
    both = waiting(one, pending_trade_of("h2", question="another"))
    async with running(both, first="portfolio", size=(160, 50)) as seen:
        await seen.press("ampersand")
        shown = seen.text
        for part in ("agent", "market", "size", "price", "edge", "conf", "left", "+7.0", "62%"):
            assert part in shown
        assert "If you do nothing: refused in 4m" in shown


def test_the_edge_is_that_of_the_price_now() -> None:
    signs = {"edge": 0.017, "probability": 0.068}
    trade = pending_trade_of(side=Side.NO, price=0.9923, signal_data=signs)
    assert edge_now(trade) == pytest.approx(-0.0603)
    (column,) = (one for one in APPROVALS.columns if one.id == "edge")
    view = ViewContext.of(waiting(trade), NOW, 100)
    assert column.cell(trade, view).plain == "-6.0"
    shown = why_text(trade, waiting(trade))
    assert "edge: +1.7 pt" in shown.plain
    assert "edge now -6.0 pt" in shown.plain
    # Without an estimate, or with one that is none, the agent's own figure stands.
    for probability in ({}, {"probability": 1.7}, {"probability": "high"}, {"probability": True}):
        other = replace(trade, signal_data={"edge": 0.017, **probability})
        assert edge_now(other) is None
        assert column.cell(other, view).plain == "+1.7"


@pytest.mark.parametrize("value", [True, 62, -0.1, 1e300, 10**400, "much"])
def test_a_confidence_that_is_none_is_unknown(value: float | str) -> None:
    trade = pending_trade_of(
        side=Side.NO, price=0.9, signal_data={"edge": 0.01, "confidence": value}
    )
    column = next(one for one in APPROVALS.columns if one.id == "confidence")
    state = waiting(trade)
    assert column.cell(trade, ViewContext.of(state, NOW, 100)).plain == formats.NOT_KNOWN
    shown = why_text(trade, state).plain
    assert f"confidence: {'much' if value == 'much' else formats.NOT_KNOWN}" in shown


def test_an_edge_beyond_every_price_is_unknown_and_long_numbers_are_short() -> None:
    signs = {"edge": 1e300, "count": 10**400, "down": -(10**16), "n": 7, "x": 1e300}
    trade = pending_trade_of(side=Side.NO, price=0.9, signal_data=signs)
    column = next(one for one in APPROVALS.columns if one.id == "edge")
    assert column.cell(trade, ViewContext.of(waiting(trade), NOW, 100)).plain == formats.NOT_KNOWN
    assert signs_text(signs) == (
        f"edge: {formats.NOT_KNOWN}, count: 10^15 or more, down: -10^15 or more, n: 7, x: 1e+300"
    )


@pytest.mark.slow
async def test_marked_trades_are_refused_together_and_one_with_its_reason() -> None:
    async with running(waiting(*TEN[:3]), first="portfolio", size=(120, 40)) as seen:
        await seen.press("ampersand", "space", "space", "d")
        await armed(seen)
        await seen.press("y")
        assert len(given(seen, RefuseTrade)) == 2
        await seen.press("d", *"thin", "enter")
        assert given(seen, RefuseTrade)[-1].reason == "thin"
        assert given(seen, ApproveTrade) == []


@pytest.mark.slow
async def test_enter_reviews_and_leaving_goes_back_to_the_list() -> None:
    async with running(waiting(*TEN[:2]), first="portfolio") as seen:
        await seen.press("ampersand", "enter")
        assert isinstance(seen.app.screen, ApprovalForm)
        await seen.press("escape")
        assert seen.app.front.name_in_keys == "approvals"
        assert given(seen, ApproveTrade) == []


def test_real_money_and_what_is_over_its_means_is_left_out_of_one_answer() -> None:
    service = replace(FULL.service, embedded=False)
    real = replace(pending_trade_of("h1"), venue=Venue.EVM)
    rich = pending_trade_of("h2", amount=Micros(10**15))
    able = pending_trade_of("h3", amount=Micros(ONE))
    state = waiting(real, rich, able, state=replace(FULL, service=service))
    listed, left_out = approvable((real, rich, able), ViewContext.of(state, NOW))
    assert listed == (able,)
    assert left_out == "1 of real money, review each, 1 over budget or cash"


def test_trades_of_one_answer_share_cash_and_budget() -> None:
    state = waiting(*TEN)
    budget = replace(
        state.supervision, leashes=(leash_of(budget=Micros(20 * ONE), spent=Micros(13 * ONE)),)
    )
    listed, left_out = approvable(TEN, ViewContext.of(replace(state, supervision=budget), NOW))
    # 1, 2 and 3 of the 7 $SIM that are left; 4 and the later ones do not fit.
    assert [one.pending_id for one in listed] == ["h1", "h2", "h3"]
    assert left_out == "7 over budget or cash"
    few = with_agent(state, cash=Micros(6 * ONE))
    listed, left_out = approvable(TEN[::-1], ViewContext.of(few, NOW))
    assert [one.pending_id for one in listed] == ["h6"]
    assert left_out == "9 over budget or cash"


def test_expired_trades_are_named_as_the_reason() -> None:
    trade = pending_trade_of()
    late = Timestamp(NOW + trade.left_s(NOW) + 1)
    assert approvable((trade,), ViewContext.of(waiting(trade), late)) == ((), "1 expired")


def test_an_own_position_that_is_not_read_is_not_none() -> None:
    state = replace(with_agent(waiting(pending_trade_of()), is_own=True), positions=())
    assert position_of(pending_trade_of(), ViewContext.of(state, NOW)) == (None, True)
    unread = replace(
        state, seen={topic: at for topic, at in state.seen.items() if topic != Topic.POSITIONS}
    )
    assert position_of(pending_trade_of(), ViewContext.of(unread, NOW)) == (None, False)


@pytest.mark.slow
async def test_what_was_decided_elsewhere_is_not_decided_again() -> None:
    async with running(waiting(*TEN[:3]), first="portfolio", size=(120, 40)) as seen:
        await seen.press("ampersand", "ctrl+a", "a")
        await armed(seen)
        await seen.bring(waiting(*TEN[1:3]))
        await seen.press("y")
        assert {one.pending_id for one in given(seen, ApproveTrade)} == {"h2", "h3"}


def test_a_refusal_for_the_day_ends_with_it() -> None:
    state = replace(FULL, preferences={f"{RULE}a-1": DAY})
    assert refused_today(state, NOW) == ("a-1",)
    assert refused_today(state, Timestamp(NOW + 86_400)) == ()
    assert REASON
