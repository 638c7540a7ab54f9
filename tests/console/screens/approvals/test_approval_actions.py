"""What each key of the approvals does: which trades are decided, and what is left out."""

from dataclasses import replace
from typing import Any

import pytest

from kit.console.acting import StubScreen, confirm, decline, perform
from kit.samples.desk import NOW
from kit.samples.fleet import fleet_state, leash_of, pending_trade_of
from service_tui.console.forms.approval_bound import first_bound
from service_tui.console.forms.confirm_many import ConfirmMany
from service_tui.console.forms.leash_form import THRESHOLD, LeashForm
from service_tui.console.messages import ApprovalRequested, GoTo
from service_tui.console.screens.approvals.actions import ACTIONS, approvable, lost_edge_text
from service_tui.desk.agents.refused_today import RULE
from service_tui.desk.commands.agents import ApproveTrade, RefuseTrade
from service_tui.desk.commands.settings import SetPreference
from service_tui.desk.reasons import READ_ONLY
from service_tui.desk.slices.supervision import approval_text
from service_tui.desk.state import DeskState
from service_tui.terms import Action, MarketStatus, Venue
from service_tui.units import ONE, Micros

FIRST = pending_trade_of("h1", amount=Micros(2 * ONE))
SECOND = pending_trade_of("h2", amount=Micros(3 * ONE), agent_id="a-3", agent_name="moss-runner")
THIRD = pending_trade_of("h3", amount=Micros(4 * ONE))
PLAIN = fleet_state()
STATE = replace(
    PLAIN,
    supervision=replace(
        PLAIN.supervision, pending_trades=(FIRST, SECOND, THIRD), leashes=(leash_of(budget=None),)
    ),
)


def on(*rows: Any, state: DeskState = STATE, marked: tuple[Any, ...] = ()) -> StubScreen:
    return StubScreen(state, rows, marked=marked)


def press(screen: StubScreen, key: str) -> str:
    return perform(screen, ACTIONS, f"approvals.{key}")


def refused(*trades: Any) -> list[RefuseTrade]:
    return [RefuseTrade(one.pending_id, approval_text(one)) for one in trades]


@pytest.mark.parametrize(
    ("key", "refuses"), [("review", False), ("approve", False), ("refuse", True)]
)
def test_one_trade_is_opened_before_it_is_decided(key: str, *, refuses: bool) -> None:
    screen = on(SECOND, FIRST)
    assert not press(screen, key)
    (message,) = screen.posted
    assert isinstance(message, ApprovalRequested)
    assert (message.pending_id, message.refuse) == ("h2", refuses)
    assert not screen.given
    assert not screen.opened


def test_marked_trades_are_approved_after_one_question() -> None:
    screen = on(FIRST, SECOND, THIRD, marked=(FIRST, THIRD))
    press(screen, "approve")
    (dialog,) = screen.opened
    assert isinstance(dialog, ConfirmMany)
    assert (screen.question.title, screen.question.confirm) == ("Approve these trades?", "approve")
    assert screen.question.body.plain.startswith("2 buys")
    assert "6.00 $SIM" in screen.question.body.plain
    assert "Left out" not in screen.question.body.plain
    first, second = dialog.lines
    assert "heron" in first.plain
    assert first.plain.endswith("  sim  Will it rain at dawn?")
    assert "2.00" in first.plain
    assert "4.00" in second.plain
    decline(screen)
    assert not screen.given
    assert not screen.table.calls
    confirm(screen)
    assert screen.given == [
        ApproveTrade(one.pending_id, approval_text(one), not_above=first_bound(one))
        for one in (FIRST, THIRD)
    ]
    assert screen.table.calls == ["clear_marks"]


def test_the_question_lists_price_and_edge_now_and_names_what_lost_its_edge() -> None:
    gone = replace(FIRST, price=0.5, signal_data={"edge": 0.06, "probability": 0.48})
    keeps = replace(THIRD, price=0.5, signal_data={"probability": 0.56})
    screen = on(gone, keeps, marked=(gone, keeps))
    press(screen, "approve")
    (dialog,) = screen.opened
    first, second = (line.plain for line in dialog.lines)
    assert "  0.500  edge -2.0 pt  not above 0.4284  heron" in first
    assert "  0.500  edge +6.0 pt  not above 0.4284  heron" in second
    body = screen.question.body.plain
    assert body.endswith("1 has lost its edge: heron Will it rain at dawn?")
    level = replace(keeps, signal_data={"probability": 0.5})
    text = lost_edge_text((gone, level, SECOND)).plain
    assert text.startswith("\n2 have lost their edge: heron Will it rain at dawn?, heron ")
    assert lost_edge_text((keeps, SECOND)).plain == ""
    # A refusal needs no price.
    press(screen, "refuse")
    assert "0.500" not in screen.opened[-1].lines[0].plain


def test_only_what_still_waits_is_decided() -> None:
    screen = on(FIRST, SECOND, marked=(FIRST, SECOND))
    press(screen, "refuse")
    assert (screen.question.title, screen.question.confirm) == ("Refuse these trades?", "refuse")
    body = "Nothing is traded. Each agent gets a refusal as the answer to its order."
    assert screen.question.body.plain == body
    screen.state = replace(STATE, supervision=replace(STATE.supervision, pending_trades=(SECOND,)))
    confirm(screen)
    assert screen.given == refused(SECOND)


def test_what_cannot_be_approved_together_is_left_out_and_why() -> None:
    late = replace(SECOND, expires_at=NOW)
    view = on(FIRST).view
    assert approvable((FIRST, late), view) == ((FIRST,), "1 expired")
    moved = replace(FIRST, pending_id="moved", asked=0.40, average=0.55, price_limit=None)
    assert approvable((moved, FIRST), view) == ((FIRST,), "1 beyond their price, review each")
    market = next(iter(STATE.markets.values()))
    over = replace(FIRST, pending_id="over", market_id=market.market_id)
    closed = {market.market_id: replace(market, status=MarketStatus.CLOSED)}
    ended = on(FIRST, state=replace(STATE, markets=closed)).view
    assert approvable((over, FIRST), ended) == ((FIRST,), "1 of ended markets")
    dear = replace(THIRD, amount=Micros(10**9 * ONE))
    assert approvable((dear, FIRST), view) == ((FIRST,), "1 over budget or cash")
    sale = replace(dear, action=Action.SELL)
    assert approvable((sale, FIRST), view) == ((sale, FIRST), "")
    real = [replace(FIRST, pending_id=f"r{place}", venue=Venue.EVM) for place in range(2)]
    attached = replace(STATE, service=replace(STATE.service, embedded=False))
    able, left_out = approvable((*real, FIRST), on(FIRST, state=attached).view)
    assert (able, left_out) == ((FIRST,), "2 of real money, review each")
    screen = on(FIRST, late, dear, marked=(FIRST, late, dear))
    press(screen, "approve")
    end = "\nLeft out: 1 over budget or cash, 1 expired"
    assert screen.question.body.plain.endswith(end)
    none = on(late, dear, marked=(late, dear))
    press(none, "approve")
    assert not none.opened
    assert none.toasts == [("none approved: 1 over budget or cash, 1 expired", "warn")]


def test_what_comes_before_is_paid_first() -> None:
    leash = leash_of(budget=Micros(86 * ONE))
    state = replace(STATE, supervision=replace(STATE.supervision, leashes=(leash,)))
    view = on(FIRST, state=state).view
    assert leash.spent == Micros(82 * ONE)
    assert approvable((FIRST, THIRD), view)[0] == (FIRST,)
    assert approvable((THIRD, FIRST), view)[0] == (THIRD,)


def test_an_agent_is_refused_for_today_and_may_ask_again() -> None:
    screen = on(FIRST, SECOND)
    press(screen, "today")
    assert (screen.question.title, screen.question.confirm) == ("Refuse heron for today?", "refuse")
    body = screen.question.body.plain
    assert body.startswith(
        "Trades of heron that need approval are refused until midnight UTC, 2 of"
    )
    confirm(screen)
    day = f"{int(NOW // 86_400)}"
    assert screen.given == [SetPreference(f"{RULE}a-2", day), *refused(FIRST, THIRD)]
    preferences = {f"{RULE}a-2": day, f"{RULE}a-3": day}
    again = on(FIRST, state=replace(STATE, preferences=preferences))
    press(again, "lift")
    assert again.given == [SetPreference(f"{RULE}a-2", ""), SetPreference(f"{RULE}a-3", "")]
    assert again.toasts == [("agents may ask again", "info")]
    assert press(on(FIRST), "lift") == "no agent refused today"


@pytest.mark.parametrize(
    ("leashes", "slug"),
    [((leash_of(skill_slug="mean-reversion"),), "mean-reversion"), ((leash_of(),), "")],
)
def test_the_leash_of_the_trade_is_loosened_to_its_amount(
    leashes: tuple[Any, ...], slug: str
) -> None:
    state = replace(STATE, supervision=replace(STATE.supervision, leashes=leashes))
    trade = replace(FIRST, skill_slug="mean-reversion", amount=Micros(7 * ONE))
    screen = on(trade, state=state)
    press(screen, "always")
    (form,) = screen.opened
    assert isinstance(form, LeashForm)
    assert form._agent.agent_id == "a-2"
    assert form._subjects[form._place] == slug
    assert form.first[THRESHOLD.name].startswith("7")
    screen.answer("a leash")
    assert screen.given == ["a leash"]


def test_a_leash_is_not_loosened_for_a_sale_or_an_unknown_agent() -> None:
    assert press(on(replace(FIRST, action=Action.SELL)), "always") == "a sale has no limit"
    screen = on(FIRST, state=replace(STATE, fleet=None))
    press(screen, "always")
    assert not screen.opened
    assert screen.toasts == [("agent not loaded yet", "warn")]


def test_marks_change_the_sums_above_the_list() -> None:
    screen = on(FIRST)
    press(screen, "mark")
    assert screen.table.calls == ["mark", ("move", 1)]
    press(screen, "mark_all")
    assert screen.table.calls[2:] == ["toggle_all_marks"]
    assert screen.calls == ["show_header", "show_header"]


def test_the_market_of_the_trade_is_shown() -> None:
    screen = on(FIRST)
    press(screen, "market")
    (message,) = screen.posted
    assert isinstance(message, GoTo)
    assert (message.screen_name, message.row) == ("markets", FIRST.market_id)


@pytest.mark.parametrize(
    "key", ["review", "approve", "refuse", "mark", "always", "today", "market"]
)
def test_without_a_trade_nothing_is_done(key: str) -> None:
    assert press(on(), key) == "select a row"
    if key in {"approve", "refuse"}:
        assert not press(on(marked=(FIRST,)), key)


def test_without_waiting_trades_none_is_marked() -> None:
    state = replace(STATE, supervision=replace(STATE.supervision, pending_trades=()))
    assert press(on(state=state), "mark_all") == "no approvals pending"


@pytest.mark.parametrize("key", ["approve", "refuse", "always", "today"])
def test_a_read_only_desk_decides_nothing(key: str) -> None:
    state = replace(STATE, service=replace(STATE.service, read_only=True))
    assert press(on(FIRST, state=state), key) == READ_ONLY
