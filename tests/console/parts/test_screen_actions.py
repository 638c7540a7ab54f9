"""Screens made from data: each of their keys has one action, and each action one key."""

from collections.abc import Iterator
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest
from textual.widgets import Static

from kit.console.acting import StubScreen
from kit.console.doors import Running, running, seen_before
from kit.console.screens import MADE
from kit.samples.guarded import guarded_state
from service_tui.console.actions import NO_ROW, ScreenAction
from service_tui.console.forms.confirm import Confirm
from service_tui.console.forms.monitor_form import MonitorForm
from service_tui.console.keys import key_named, keys_of, move_keys, shown_key
from service_tui.console.messages import GoTo, KeyChosen
from service_tui.console.parts.shared_actions import has_row
from service_tui.console.parts.table_screen import TableScreen
from service_tui.console.screens.markets.pane import MarketPane
from service_tui.console.screens.research.session import SessionLine
from service_tui.console.screens.wallet import actions as wallet
from service_tui.console.shell.views import SCREENS
from service_tui.console.table_spec import TableSpec
from service_tui.desk.slices.risk import RiskView
from service_tui.desk.state import DeskState

STATE = seen_before(guarded_state())


SPECS = [spec for screen in MADE for spec in screen.tables]


def help_line(seen: Running, label: str) -> str:
    text = str(seen.app.screen.query_one("#frame > Static", Static).content)
    return next(line for line in text.splitlines() if f" {label} " in f"{line} ")


@pytest.mark.parametrize("screen", MADE, ids=lambda screen: screen.name_in_keys)
def test_every_key_has_its_action_and_every_action_its_key(screen: type[TableScreen[Any]]) -> None:
    idents = [action.id for action in screen.actions]
    keys = keys_of(screen.name_in_keys)
    assert sorted(idents) == sorted(key.ident for key in keys)
    assert [key.action for key in keys] == [f"perform('{key.ident}')" for key in keys]
    assert screen.opens in {"", *idents}


def test_the_wallet_panel_has_an_action_for_each_of_its_keys() -> None:
    keys = keys_of("wallet")
    assert sorted(action.id for action in wallet.ACTIONS) == sorted(key.ident for key in keys)
    assert [key.action for key in keys] == [f"perform('{key.ident}')" for key in keys]


def test_every_key_that_is_performed_belongs_to_a_screen_made_from_data() -> None:
    performed = {
        key.group for group in SCREENS for key in keys_of(group) if "perform(" in key.action
    }
    assert performed == {screen.name_in_keys for screen in MADE}


@pytest.mark.parametrize("spec", SPECS, ids=lambda spec: spec.name)
def test_what_a_table_declares_is_there(spec: TableSpec[Any]) -> None:
    columns = {column.id: column for column in spec.columns}
    assert len(columns) == len(spec.columns)
    assert not spec.sort or columns[spec.sort].sort_key is not None


def test_the_first_reason_disables_an_action() -> None:
    requires = (lambda on: "" if on else "first", lambda _: "second")
    action: ScreenAction[bool] = ScreenAction("x.y", print, requires)
    assert [action.disabled_reason(target=on) for on in (False, True)] == ["first", "second"]


@pytest.mark.slow
async def test_help_shows_every_action_and_why_it_is_disabled() -> None:
    async with running(STATE, first="monitors") as seen:
        await seen.press("o", "o", "question_mark")
        for key in keys_of("monitors"):
            line = help_line(seen, key.label)
            assert shown_key(key) in line
            assert key.tooltip in line
        assert "(nothing to sell here)" in help_line(seen, "sell")
        assert "(history cannot be removed)" in help_line(seen, "remove")
        assert "(nothing to undo here)" in help_line(seen, "undo")
        assert "(" not in help_line(seen, "next list")


@pytest.mark.slow
async def test_another_screen_leads_to_an_action() -> None:
    alert = STATE.risk.open_alerts[0]
    async with running(STATE, first="attention") as seen:
        seen.app.post_message(GoTo("monitors", alert.alert_id, key_named("monitors.exit")))
        await seen.until(lambda: isinstance(seen.app.screen, Confirm))
        assert seen.app.front.current_row() == alert.alert_id


@pytest.mark.slow
async def test_the_mouse_and_the_palette_run_an_action_or_hear_why_not() -> None:
    async with running(STATE, first="monitors") as seen:
        seen.app.post_message(KeyChosen(key_named("monitors.undo")))
        await seen.until(lambda: any("undo: nothing to undo" in toast for toast in seen.toasts))
        await seen.press("j")
        seen.app.post_message(KeyChosen(key_named("monitors.edit")))
        await seen.until(lambda: isinstance(seen.app.screen, MonitorForm))


@pytest.mark.slow
async def test_what_is_disabled_stands_in_no_footer() -> None:
    async with running(replace(STATE, risk=RiskView()), first="monitors", size=(160, 50)) as seen:
        assert "o next list" in seen.lines[-2]
        assert "e edit" not in seen.lines[-2]


@pytest.mark.slow
async def test_no_requirement_raises_without_a_row() -> None:
    bare = replace(
        STATE, risk=RiskView(), positions=(), closed=(), on_venues=(), markets={}, tickets=(),
        trades=(),
    )  # fmt: skip
    reasons: dict[str, str] = {}
    async with running(bare) as seen:
        for screen in MADE:
            await seen.app.run_action(f"go('{screen.name_in_keys}')")
            front = seen.app.front
            assert isinstance(front, screen)
            # Some lists are never empty by themselves, as that of the settings.
            front.table.show(())
            for key in keys_of(screen.name_in_keys):
                reasons[key.ident] = front.disabled_reason(key)
    wants_row = {"monitors.edit", "monitors.market", "portfolio.sell", "markets.star"}
    assert {ident: reasons[ident] for ident in wants_row} == dict.fromkeys(wants_row, NO_ROW)


def actions_of_rows() -> Iterator[tuple[type[TableScreen[Any]], ScreenAction[Any], Any]]:
    """Each action with a row of its screen's first table that it is for."""
    for screen in MADE:
        rows = screen.tables[0].rows(STATE)[:1]
        for action in screen.actions if rows else ():
            yield screen, action, rows[0]


@pytest.mark.parametrize(
    ("screen", "action", "row"), [*actions_of_rows()], ids=lambda one: getattr(one, "id", "")
)
def test_no_key_hits_a_row_that_has_just_come_under_the_cursor(
    screen: type[TableScreen[Any]], action: ScreenAction[Any], row: Any
) -> None:
    stub = StubScreen(STATE, (row,), spec=screen.tables[0], lists=screen.tables, has_row_gone=True)
    stub.parts[MarketPane] = SimpleNamespace(has_book=False)
    if action.disabled_reason(stub) or has_row not in action.requires:
        return
    action.run(stub)
    assert not stub.given
    assert not stub.opened
    assert not stub.posted


@pytest.mark.parametrize("screen", MADE, ids=lambda screen: screen.name_in_keys)
def test_no_requirement_raises_in_an_empty_list(screen: type[TableScreen[Any]]) -> None:
    stub = StubScreen(DeskState(service=STATE.service), spec=screen.tables[0], lists=screen.tables)
    stub.parts[SessionLine] = SimpleNamespace(session=lambda _: None)
    for action in screen.actions:
        why = action.disabled_reason(stub)
        assert isinstance(why, str)
        assert bool(why) or has_row not in action.requires


def test_the_help_of_a_key_names_other_keys_as_they_are_now() -> None:
    assert key_named("monitors.mark").tooltip == "e and d apply to marked rows"
    move_keys({"monitors.edit": ("f4",)})
    try:
        assert key_named("monitors.mark").tooltip == "F4 and d apply to marked rows"
    finally:
        move_keys({})


OF_ANY_DESK = {
    "agents": "alerts export list mark mark_all open output",
    "approvals": "lift mark mark_all market review",
    "attention": "mark mute open run snooze undo",
    "blotter": "export list market orders trades why",
    "exposure": "both group list mark mark_all market open",
    "log": "open verify who", "monitors": "list mark market",
    "markets": "book_down book_up category event held lists mark mark_all range star starred status"
    " until venue",
    "portfolio": "list mark mark_all market orders why", "redemption": "hash market",
    "reactor": "freeze list mark market mirror mirror_all state wallet",
    "research": "backtest diff evaluations next", "settings": "undo",
    "timeline": "away kind market open",
}  # fmt: skip
"""Keys that need no desk that may change things: they read, filter, and set what is this console's
own. Whether a signal may be mirrored, `mirror_block_reason` says of each."""


def test_what_changes_something_asks_whether_it_may() -> None:
    free = {f"{screen}.{key}" for screen, keys in OF_ANY_DESK.items() for key in keys.split()}
    actions = [action for screen in MADE for action in screen.actions]
    assert free <= {action.id for action in actions}
    for action in actions:
        asks = any(one.__name__.startswith("can_") for one in action.requires)
        assert asks is (action.id not in free), action.id
