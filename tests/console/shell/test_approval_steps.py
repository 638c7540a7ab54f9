"""Decisions about waiting trades, one after another, as the console's page opens them."""

from dataclasses import replace
from typing import Any

import pytest

from kit.console.shell import Front, Shell
from kit.samples.fleet import fleet_state, pending_trade_of
from service_tui.console.forms.approval import ApprovalForm
from service_tui.console.forms.confirm import Confirm
from service_tui.console.forms.report import Report
from service_tui.console.messages import ApprovalRequested, GoTo, ToastMessage
from service_tui.console.shell.approval_pages import (
    NOT_SENT,
    TOO_EARLY,
    TYPED_AHEAD,
    ApprovalPages,
)
from service_tui.desk.commands.agents import ApproveTrade, ReadDay, RefuseTrade
from service_tui.desk.slices.supervision import PendingTradeView
from service_tui.desk.slices.topics import Topic
from service_tui.desk.state import DeskState
from service_tui.terms import Venue
from service_tui.units import Timestamp

ONE_HELD, OTHER = pending_trade_of("h1"), pending_trade_of("h2", question="Will it snow?")
REAL = pending_trade_of("h9", venue=Venue.EVM)


def waiting(*pending: PendingTradeView, **other: Any) -> DeskState:
    state = fleet_state()
    view = replace(state.supervision, pending_trades=pending)
    return replace(state, supervision=view, **other)


def elsewhere(*pending: PendingTradeView) -> DeskState:
    """The same on a service with real money."""
    state = waiting(*pending)
    return replace(state, service=replace(state.service, embedded=False))


def pages(state: DeskState) -> tuple[ApprovalPages, Shell]:
    shell = Shell(state)
    return ApprovalPages(shell.app), shell


def said(shell: Shell) -> list[tuple[str, str]]:
    return [(one.text, one.tone) for one in shell.posted if isinstance(one, ToastMessage)]


@pytest.mark.parametrize("is_answered", [True, False])
@pytest.mark.parametrize("embedded", [True, False])
def test_without_a_waiting_trade_it_says_so(*, embedded: bool, is_answered: bool) -> None:
    state = waiting()
    seen = {Topic.FLEET: state.seen.get(Topic.FLEET, Timestamp(1.0))} if is_answered else {}
    state = replace(state, service=replace(state.service, embedded=embedded), seen=seen)
    page, shell = pages(state)
    page.open()
    is_early = embedded and not is_answered
    text = "approvals not loaded yet" if is_early else "no approvals pending"
    assert said(shell) == [(text, "warn")]
    assert shell.pushed == []


def test_the_only_one_is_opened_and_several_are_listed() -> None:
    page, shell = pages(waiting(ONE_HELD))
    page.open()
    [(form, _)] = shell.pushed
    assert isinstance(form, ApprovalForm)
    page, shell = pages(waiting(ONE_HELD, OTHER))
    page.open()
    [message] = shell.posted
    assert isinstance(message, GoTo)
    assert (message.screen_name, message.row) == ("approvals", "h1")
    assert shell.pushed == []


def opened(shell: Shell, place: int = -1) -> ApprovalForm:
    form, _ = shell.pushed[place]
    assert isinstance(form, ApprovalForm)
    return form


@pytest.mark.parametrize("refuse", [True, False])
def test_the_one_that_is_asked_for_is_opened(*, refuse: bool) -> None:
    page, shell = pages(waiting(ONE_HELD, OTHER))
    page.open_requested(ApprovalRequested("h2", refuse=refuse))
    assert len(shell.pushed) == 1
    form = vars(opened(shell))
    assert (form["_trade"], form["_begins_refusing"], form["_is_new"]) == (OTHER, refuse, False)
    assert said(shell) == []
    for gone in ("h9", "h0", "h"):
        page.open_requested(ApprovalRequested(gone))
    assert said(shell) == [("trade no longer pending", "info")] * 3
    assert len(shell.pushed) == 1


def test_over_an_open_one_no_other_is_opened() -> None:
    page, shell = pages(waiting(ONE_HELD))
    page.open()
    shell.screen_stack.insert(0, opened(shell))
    page.open()
    page.open_requested(ApprovalRequested("h1"))
    assert len(shell.pushed) == 1


def test_on_a_recorded_state_nothing_is_decided() -> None:
    page, shell = pages(waiting(ONE_HELD, rewound_to=Timestamp(1_800_000_000.0)))
    page.open()
    assert shell.pushed == []
    [(text, tone)] = said(shell)
    assert text
    assert tone == "warn"


@pytest.mark.parametrize("left", [(), (OTHER,)])
@pytest.mark.parametrize("decision", [RefuseTrade("h1", ""), ApproveTrade("h1", "buy")])
def test_a_decision_that_was_taken_leads_to_the_next(
    left: tuple[PendingTradeView, ...], decision: RefuseTrade | ApproveTrade
) -> None:
    page, shell = pages(waiting(ONE_HELD, OTHER))
    page.open_requested(ApprovalRequested("h1"))
    _, answer = shell.pushed.pop()
    assert answer is not None
    shell.desk_state = waiting(*left)
    answer(decision)
    assert shell.given == [decision]
    assert shell.rested == [TOO_EARLY if left else TYPED_AHEAD]
    assert len(shell.pushed) == len(left)
    if left:
        form = vars(opened(shell))
        assert (form["_trade"], form["_begins_refusing"], form["_is_new"]) == (OTHER, False, True)


def test_a_decision_that_was_not_taken_rests_the_keys() -> None:
    page, shell = pages(waiting(ONE_HELD, OTHER))
    shell.refusal = "read-only"
    page.open_requested(ApprovalRequested("h1"))
    _, answer = shell.pushed.pop()
    assert answer is not None
    answer(RefuseTrade("h1", ""))
    assert shell.rested == [NOT_SENT]
    assert shell.pushed == []


def test_a_form_that_is_left_decides_nothing() -> None:
    page, shell = pages(waiting(ONE_HELD, OTHER))
    page.open_requested(ApprovalRequested("h1"))
    _, answer = shell.pushed.pop()
    assert answer is not None
    answer(None)
    assert (shell.given, shell.rested, shell.pushed) == ([], [], [])


@pytest.mark.parametrize("confirmed", [True, False, None])
def test_real_money_is_asked_about_once_more(*, confirmed: bool | None) -> None:
    page, shell = pages(elsewhere(REAL))
    page.open()
    _, answer = shell.pushed.pop()
    assert answer is not None
    answer(ApproveTrade("h9", "buy"))
    assert shell.given == []
    question, last = shell.pushed.pop()
    assert isinstance(question, Confirm)
    assert last is not None
    last(confirmed)
    assert shell.given == ([ApproveTrade("h9", "buy", confirmed=True)] if confirmed else [])


@pytest.mark.parametrize("state", [waiting(REAL), elsewhere(ONE_HELD)])
def test_play_money_is_asked_about_once(state: DeskState) -> None:
    page, shell = pages(state)
    page.open()
    _, answer = shell.pushed.pop()
    assert answer is not None
    order = ApproveTrade(state.supervision.pending_trades[0].pending_id, "buy")
    answer(order)
    assert shell.given == [order]


def test_a_refusal_of_real_money_needs_no_question() -> None:
    page, shell = pages(elsewhere(REAL))
    page.open()
    _, answer = shell.pushed.pop()
    assert answer is not None
    answer(RefuseTrade("h9", ""))
    assert shell.given == [RefuseTrade("h9", "")]


@pytest.mark.parametrize(
    ("name", "row", "first"), [("agents", "a-3", "a-3"), ("agents", None, ""), ("log", "a-3", "")]
)
def test_the_day_of_the_agents_begins_with_the_one_in_focus(
    name: str, row: str | None, first: str
) -> None:
    page, shell = pages(fleet_state())
    shell.front = Front(name, row)
    page.report()
    assert shell.given == [ReadDay()]
    [(report, _)] = shell.pushed
    assert isinstance(report, Report)
    assert vars(report)["_first"] == first
    shell.screen_stack.append(report)
    page.report()
    assert len(shell.pushed) == len(shell.given) == 1
