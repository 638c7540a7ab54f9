"""What each key of the monitors' screen does, and to which row."""

from dataclasses import replace
from typing import Any

import pytest

from kit.console.acting import StubScreen, confirm, decline, perform
from kit.console.opened import words_in
from kit.samples.guarded import guarded_state
from service_tui.console import formats
from service_tui.console.exit_estimate import guarded
from service_tui.console.forms.confirm_many import ConfirmMany
from service_tui.console.forms.monitor_draft import Change, monitor_command
from service_tui.console.forms.monitor_form import MonitorForm
from service_tui.console.forms.price_alert import PriceAlertForm
from service_tui.console.forms.trade_form import TradeForm
from service_tui.console.messages import GoTo
from service_tui.console.questions import short_question
from service_tui.console.screens.monitors.actions import ACTIONS
from service_tui.console.screens.monitors.forms import MonitorMany
from service_tui.desk.commands.risk import (
    ExitAlert,
    RemoveMonitor,
    RemovePriceAlert,
    SetMonitors,
    SetPriceAlert,
)
from service_tui.desk.reasons import READ_ONLY
from service_tui.desk.slices.risk import MonitorState, MonitorView
from service_tui.desk.state import DeskState
from service_tui.terms import Action, Mode, Venue
from service_tui.units import Timestamp

STATE = guarded_state()
MONITORS = STATE.risk.monitors
FIRST, SECOND, THIRD, TARGET_ONLY, *_ = MONITORS
PENDING, FAILED, EXECUTED, EXPIRED = STATE.risk.alerts
EXIT = STATE.risk.exits[0]
PRICE_ALERT, *_, TRIGGERED = STATE.risk.price_alerts


def on(*rows: Any, state: DeskState = STATE, marked: tuple[Any, ...] = ()) -> StubScreen:
    return StubScreen(state, rows, marked=marked)


def press(screen: StubScreen, key: str) -> str:
    return perform(screen, ACTIONS, f"monitors.{key}")


def with_risk(**changed: Any) -> DeskState:
    return replace(STATE, risk=replace(STATE.risk, **changed))


def removal(row: MonitorView) -> RemoveMonitor:
    return RemoveMonitor(row.market_id, row.side, row.venue, row.question)


# -- which row a key is for ---------------------------------------------------------------------

NOT_A_MONITOR = "only monitors have a stop and target: o shows them"
REASONS = {
    ("edit", PENDING): NOT_A_MONITOR,
    ("mark", EXIT): NOT_A_MONITOR,
    ("all", PRICE_ALERT): NOT_A_MONITOR,
    ("remove", PENDING): "history cannot be removed",
    ("remove", EXIT): "history cannot be removed",
    ("exit", EXIT): "nothing to sell here",
    ("exit", PRICE_ALERT): "nothing to sell here",
    ("exit", EXECUTED): "sale already executed",
    ("exit", EXPIRED): "sale already expired",
    ("undo", FIRST): "nothing to undo here",
}


@pytest.mark.parametrize(("key", "row"), REASONS, ids=lambda it: it if isinstance(it, str) else "")
def test_a_key_that_is_not_for_this_row_says_why(key: str, row: Any) -> None:
    screen = on(row)
    assert press(screen, key) == REASONS[key, row]
    assert not screen.given


@pytest.mark.parametrize(
    ("key", "row"),
    [("edit", FIRST), ("mark", FIRST), ("remove", FIRST), ("remove", PRICE_ALERT), ("exit", FIRST),
     ("exit", PENDING), ("exit", FAILED)],
)  # fmt: skip
def test_a_key_that_is_for_this_row_works(key: str, row: Any) -> None:
    assert not press(on(row), key)


@pytest.mark.parametrize("key", ["edit", "all", "mark", "exit", "remove", "alert", "market"])
def test_without_a_row_nothing_is_done(key: str) -> None:
    assert press(StubScreen(STATE), key) == "select a row"


@pytest.mark.parametrize("key", ["edit", "remove", "mark"])
def test_marked_rows_are_meant_without_a_highlighted_one(key: str) -> None:
    screen = StubScreen(STATE, marked=(FIRST,))
    assert not press(screen, key)


@pytest.mark.parametrize("key", ["edit", "all", "remove", "undo", "alert"])
def test_a_read_only_desk_changes_nothing(key: str) -> None:
    state = replace(STATE, service=replace(STATE.service, read_only=True))
    screen = on(FIRST, state=state)
    screen.take_back = (removal(FIRST),)
    assert press(screen, key) == READ_ONLY
    assert not screen.given
    assert not screen.opened


def test_nothing_is_sold_on_old_positions() -> None:
    screen = on(FIRST)
    screen.now = Timestamp(screen.now + 3_600)
    assert "too old to trade" in press(screen, "exit")


# -- set and change -----------------------------------------------------------------------------


async def test_a_monitor_is_changed_and_the_change_is_undone() -> None:
    screen = on(SECOND, FIRST)
    press(screen, "edit")
    (form,) = screen.opened
    assert isinstance(form, MonitorForm)
    assert SECOND.question[:30] in await words_in(form)
    change = Change(SECOND, replace(SECOND.thresholds, stop_loss_pct=0.5))
    screen.answer(change)
    assert screen.given == [change.command]
    press(screen, "undo")
    assert screen.given[1:] == [monitor_command(SECOND, SECOND.thresholds)]
    assert press(screen, "undo") == "nothing to undo here"


def test_a_change_that_changes_nothing_is_not_sent() -> None:
    screen = on(SECOND)
    press(screen, "edit")
    screen.answer(Change(SECOND, SECOND.thresholds))
    assert not screen.given
    assert screen.toasts == [("no change: same stop and target", "info")]


def test_what_had_no_monitor_has_none_again_after_undo() -> None:
    bare = replace(FIRST, stop_loss_pct=None, take_profit_pct=None)
    screen = on(bare)
    press(screen, "edit")
    screen.answer(Change(bare, replace(bare.thresholds, stop_loss_pct=0.5)))
    press(screen, "undo")
    assert screen.given[1:] == [removal(bare)]


def test_a_closed_market_takes_no_monitor() -> None:
    screen = on(replace(FIRST, state=MonitorState.CLOSED))
    press(screen, "edit")
    assert not screen.opened
    assert screen.toasts == [("Market closed. Nothing to protect", "warn")]


CHANGES = tuple(Change(row, replace(row.thresholds, stop_loss_pct=0.4)) for row in (FIRST, THIRD))


async def test_marked_monitors_are_changed_together() -> None:
    screen = on(FIRST, SECOND, THIRD, marked=(FIRST, THIRD))
    press(screen, "edit")
    (form,) = screen.opened
    assert isinstance(form, MonitorMany)
    assert "2 monitors" in await words_in(form)
    screen.answer(CHANGES)
    assert screen.given == [SetMonitors(tuple(one.command for one in CHANGES))]
    assert screen.table.calls == ["clear_marks"]
    press(screen, "undo")
    before = tuple(monitor_command(row, row.thresholds) for row in (FIRST, THIRD))
    assert screen.given[1:] == [SetMonitors(before)]


async def test_all_monitors_of_the_list_are_changed() -> None:
    screen = on(FIRST, SECOND, THIRD)
    press(screen, "all")
    (form,) = screen.opened
    assert "3 monitors" in await words_in(form)


def test_where_no_monitor_can_be_set_no_form_opens() -> None:
    closed = replace(FIRST, state=MonitorState.CLOSED)
    screen = on(closed, replace(SECOND, state=MonitorState.EXITING))
    press(screen, "all")
    assert not screen.opened
    ((text, tone),) = screen.toasts
    assert (text, tone) == ("no monitor can be set: closed, being sold or no position", "warn")
    some = on(closed, SECOND)
    press(some, "all")
    assert len(some.opened) == 1


# -- remove -------------------------------------------------------------------------------------


def test_one_monitor_is_removed_at_once_and_restored() -> None:
    screen = on(SECOND, FIRST)
    press(screen, "remove")
    assert screen.given == [removal(SECOND)]
    assert not screen.opened
    press(screen, "undo")
    assert screen.given[1:] == [monitor_command(SECOND, SECOND.thresholds)]


async def test_marked_monitors_are_removed_after_a_question_that_lists_them() -> None:
    screen = on(FIRST, SECOND, THIRD, marked=(FIRST, THIRD))
    press(screen, "remove")
    (dialog,) = screen.opened
    assert isinstance(dialog, ConfirmMany)
    assert screen.question.title == "Remove these monitors?"
    assert screen.question.confirm == "remove"
    body = "2 positions without stop or target afterwards. u restores.\n"
    assert screen.question.body.plain == body
    text = await words_in(dialog)
    first, third = (
        text.index(f"{one.side.value.upper()} {short_question(one.question)[:20]}")
        for one in (FIRST, THIRD)
    )
    assert text.index("stop", first) < third
    decline(screen)
    assert not screen.given
    assert not screen.table.calls
    confirm(screen)
    assert screen.given == [removal(FIRST), removal(THIRD)]
    assert screen.table.calls == ["clear_marks"]
    press(screen, "undo")
    before = tuple(monitor_command(row, row.thresholds) for row in (FIRST, THIRD))
    assert screen.given[2:] == [SetMonitors(before)]


def test_a_price_alert_is_removed_and_restored_while_it_is_open() -> None:
    screen = on(PRICE_ALERT)
    press(screen, "remove")
    assert screen.given == [RemovePriceAlert(PRICE_ALERT.alert_id)]
    row = PRICE_ALERT
    again = SetPriceAlert(row.market_id, row.side, row.condition, row.threshold, row.question)
    assert screen.take_back == (again,)
    fired = on(TRIGGERED)
    press(fired, "remove")
    assert fired.given == [RemovePriceAlert(TRIGGERED.alert_id)]
    assert not fired.take_back


# -- sell ---------------------------------------------------------------------------------------


def test_a_guarded_position_is_sold_on_its_side_and_venue() -> None:
    screen = on(FIRST)
    press(screen, "exit")
    (form,) = screen.opened
    assert isinstance(form, TradeForm)
    market = STATE.markets[FIRST.market_id]
    assert (form.market, form.side) == (market, FIRST.side)
    assert (form.action, form.venue) == (Action.SELL, FIRST.venue)


def test_a_position_whose_market_is_not_listed_is_not_sold_from_here() -> None:
    markets = {key: one for key, one in STATE.markets.items() if key != FIRST.market_id}
    screen = on(FIRST, state=replace(STATE, markets=markets))
    press(screen, "exit")
    assert not screen.opened
    assert screen.toasts == [("market not listed: r refreshes", "warn")]


def test_an_exit_for_an_alert_is_sent_after_its_question() -> None:
    screen = on(PENDING)
    press(screen, "exit")
    assert (screen.question.title, screen.question.confirm) == ("Sell now?", "sell")
    decline(screen)
    assert not screen.given
    confirm(screen)
    assert screen.given == [ExitAlert(PENDING.alert_id)]


@pytest.mark.parametrize(
    ("venue", "mode", "managed", "said"),
    [
        (Venue.SIM, Mode.SIM, False, "SIM play money on sim, signed by this desk."),
        (Venue.SIM, Mode.DRY, True, "DRY dry run on sim, signed by the service."),
        (
            Venue.EVM,
            Mode.DRY,
            False,
            "LIVE simulated, no real money, on evm_venue, signed by this desk.",
        ),
    ],
)
def test_the_question_of_an_exit_says_whose_money_and_who_signs(
    venue: Venue, mode: Mode, said: str, *, managed: bool
) -> None:
    state = replace(STATE, service=replace(STATE.service, mode=mode))
    screen = on(replace(PENDING, venue=venue, managed=managed), state=state)
    press(screen, "exit")
    assert said in screen.question.body.plain


def test_the_question_of_an_exit_names_what_is_sold_and_what_it_brings() -> None:
    screen = on(PENDING)
    press(screen, "exit")
    held = guarded(STATE, PENDING.holding)
    assert held is not None
    view = screen.view
    assert screen.question.body.plain == (
        f"{PENDING.question}\n\n"
        f"Sell all {view.shares(PENDING.shares).plain} {PENDING.side.value.upper()} at market, "
        f"no price limit: about {view.money(held.exit_value).plain} $ at the mark of "
        f"{formats.price(held.mark).plain}.\n"
        "SIM play money on sim, signed by this desk.\n\n"
        "Sent once. Orders (9) shows the result. The monitor is removed."
    )
    gone = on(PENDING, state=replace(with_risk(monitors=()), positions=()))
    press(gone, "exit")
    assert f"about {view.money(None).plain} $ at" in gone.question.body.plain


# -- other keys ---------------------------------------------------------------------------------


def test_marking_moves_the_cursor_on() -> None:
    screen = on(FIRST)
    press(screen, "mark")
    assert screen.table.calls == ["mark", ("move", 1)]


def test_the_lists_follow_each_other_in_a_circle() -> None:
    screen = on(FIRST)
    screen.lists = ("monitors", "alerts", "exits")
    for place in range(3):
        screen.place = place
        press(screen, "list")
    assert screen.calls == [("bring_forward", place) for place in (1, 2, 0)]
    assert screen.table.calls == ["focus"] * 3


def test_the_market_of_the_row_is_shown() -> None:
    screen = on(PENDING)
    press(screen, "market")
    (message,) = screen.posted
    assert isinstance(message, GoTo)
    assert (message.screen_name, message.row) == ("markets", PENDING.market_id)


def test_a_price_alert_is_added_on_the_market_and_side_of_the_row() -> None:
    screen = on(SECOND)
    press(screen, "alert")
    (form,) = screen.opened
    assert isinstance(form, PriceAlertForm)
    assert (form.market.market_id, form.side) == (SECOND.market_id, SECOND.side)
    screen.answer("an alert")
    assert screen.given == ["an alert"]


def test_no_price_alert_is_added_where_the_market_is_unknown_or_closed() -> None:
    unlisted = on(SECOND, state=replace(STATE, markets={}))
    press(unlisted, "alert")
    assert unlisted.toasts == [("market not listed: r refreshes", "warn")]
    assert not unlisted.opened
