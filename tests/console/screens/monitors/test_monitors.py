"""The monitors screen: monitors, alerts, exits, and actions on them."""

import random
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace

import pytest
from textual.pilot import Pilot
from textual.widgets import Input, Static

from kit.console.host import Host, until
from kit.console.painted import strips_of
from kit.samples.desk import NOW
from kit.samples.guarded import guarded_state
from kit.samples.risk import alert_of
from service_tui.console.exit_estimate import guarded
from service_tui.console.formats import NOT_KNOWN
from service_tui.console.forms.confirm import Confirm
from service_tui.console.forms.confirm_many import ConfirmMany
from service_tui.console.forms.monitor_form import MonitorForm, _head
from service_tui.console.screens.monitors.actions import exit_question
from service_tui.console.screens.monitors.detail import guarded_text
from service_tui.console.screens.monitors.forms import MonitorMany
from service_tui.console.screens.monitors.screen import MonitorsScreen
from service_tui.console.screens.monitors.table import (
    TABLES,
    RiskRow,
    nearest,
    percent_short,
    track,
)
from service_tui.console.screens.portfolio.screen import PortfolioScreen
from service_tui.console.view_context import ViewContext
from service_tui.desk.commands.risk import (
    ExitAlert,
    RemoveMonitor,
    RemovePriceAlert,
    SetMonitor,
    SetMonitors,
    SetPriceAlert,
)
from service_tui.desk.commands.settings import SetPreference
from service_tui.desk.slices.risk import (
    AlertState,
    AlertView,
    ExitView,
    MonitorState,
    MonitorView,
    PriceAlertView,
    RiskView,
    Thresholds,
)
from service_tui.desk.slices.topics import Topic
from service_tui.desk.state import DeskState
from service_tui.terms import Venue
from service_tui.units import ONE, Micros, Timestamp

STATE = guarded_state()
SMALL, WIDE = (80, 24), (120, 40)
SETTABLE = [row for row in STATE.risk.monitors if row.state is MonitorState.WATCHING]


def key_of(row: RiskRow) -> str:
    kinds = (MonitorView, AlertView, ExitView, PriceAlertView)
    return dict(zip(kinds, TABLES, strict=True))[type(row)].key(row)


class View:
    """The screen, seen from outside."""

    def __init__(self, pilot: Pilot[None], app: Host, screen: MonitorsScreen) -> None:
        self.pilot = pilot
        self.app = app
        self.screen = screen

    def rows(self) -> list[RiskRow]:
        order = self.screen.table.order
        return [order[place] for place in range(len(order))]

    @property
    def here(self) -> RiskRow:
        row = self.screen.table.selected()
        assert row is not None
        return row

    def part(self, selector: str) -> str:
        return str(self.app.screen.query_one(selector, Static).content)

    def line(self, name: str) -> str:
        return self.app.screen.query_one(f"#{name}", Input).value

    def preview(self, name: str) -> str:
        """The price in a line of the form's preview."""
        lines = self.part("#form-preview").splitlines()
        return next(line for line in lines if line.startswith(name))[len(name) :].split()[0]

    @property
    def orders(self) -> list[object]:
        return [each for each in self.app.given if not isinstance(each, SetPreference)]

    @property
    def text(self) -> str:
        return "\n".join(strip.text for strip in strips_of(self.app.screen))

    async def press(self, *keys: str) -> None:
        await self.pilot.press(*keys)
        await self.pilot.pause()

    async def write(self, name: str, text: str) -> None:
        self.app.screen.query_one(f"#{name}", Input).value = text
        await self.pilot.pause()

    async def confirm(self, key: str = "y") -> None:
        asked = self.app.screen
        assert isinstance(asked, Confirm)
        await until(self.pilot, lambda: asked.is_armed)
        await self.press(key)
        await until(self.pilot, lambda: self.app.screen is not asked)


@asynccontextmanager
async def monitors(state: DeskState = STATE, size: tuple[int, int] = SMALL) -> AsyncIterator[View]:
    app = Host(state, MonitorsScreen)
    async with app.run_test(size=size) as pilot:
        await pilot.pause()
        assert isinstance(app.front, MonitorsScreen)
        yield View(pilot, app, app.front)


@pytest.mark.slow
async def test_what_is_nearest_to_its_end_stands_on_top() -> None:
    async with monitors(size=WIDE) as view:
        ways = [nearest(row) for row in STATE.risk.monitors]
        shown = [nearest(row) for row in view.rows()]
        assert shown == sorted(way for way in ways if way is not None)
        text = view.text
        for words in (
            "0.128   -20%",
            "0.240   +50%",
            "never  +400%",
            "sale P&L",
            "■ closed",
        ):
            assert words in text
        assert "6/7 protected" in text


@pytest.mark.slow
async def test_the_pane_says_what_an_exit_brings_now_and_at_each_end() -> None:
    async with monitors(size=WIDE) as view:
        await view.press("j")
        body = view.part(".detail-body")
        for words in (
            "if sold now $",
            "if stopped out $",
            "at target $",
            "stop 0.128",
            "0.240 target",
        ):
            assert words in body
        assert (
            "Sells all 125.09 YES (cost 19.99) at 0.128 or below, or at 0.240 or above"
            in view.part(".detail-more")
        )


@pytest.mark.slow
async def test_edit_sets_what_was_typed_for_the_row_that_was_highlighted() -> None:
    async with monitors() as view:
        await view.press("j")
        row = view.here
        await view.press("e")
        assert isinstance(view.app.screen, MonitorForm)
        assert view.line("stop-percent") == "20"
        assert view.line("target-percent") == "50"
        await view.write("stop-percent", "17.5")
        await view.press("enter")
        assert view.orders == [
            SetMonitor(row.market_id, row.side, row.venue, Thresholds(0.175, 0.5), row.question)
        ]
        await view.press("u")
        assert view.orders[-1] == SetMonitor(
            row.market_id, row.side, row.venue, Thresholds(0.2, 0.5), row.question
        )
        await view.press("u")
        assert "nothing to undo" in view.app.said[-1]


def trailing_state() -> DeskState:
    """The guarded state, whose first row has a trailing stop and a time stop as well."""
    first, *others = STATE.risk.monitors
    peak = (first.mark or 0.0) * 1.02
    first = replace(
        first,
        trailing_stop_pct=0.05,
        peak=peak,
        trail_price=peak * 0.95,
        exit_at=Timestamp(NOW + 7_260),
    )
    return replace(STATE, risk=replace(STATE.risk, monitors=(first, *others)))


@pytest.mark.slow
async def test_a_trailing_and_a_time_stop_are_shown_edited_and_undone() -> None:
    state = trailing_state()
    row = state.risk.monitors[0]
    async with monitors(state, size=WIDE) as view:
        view.screen.focus_row(row.key)
        await view.pilot.pause()
        assert f"{row.trail_price:.3f}    ~5%" in view.text
        more = " ".join(view.part(".detail-more").split())
        assert f"at {row.trail_price:.3f} or below (trailing stop)" in more
        assert "or at the latest 15 Jan 10:01 UTC, wall time (in 2h 01m) (one-shot)" in more
        assert f"stays 5% below the highest mark, {row.peak:.3f} so far" in more
        await view.press("e")
        assert (view.line("trail"), view.line("exit-at")) == ("5%", "2h1m")
        # What is wrong in one line leaves the figures of the others right, and none of before.
        floor = view.preview("if stopped out")
        await view.write("exit-at", "2h33")
        assert view.preview("if stopped out") == floor
        await view.write("trail", "12%")
        assert view.preview("if stopped out") == f"{row.peak * 0.88:.3f}"
        await view.write("trail", "nonsense")
        assert view.preview("if stopped out") == NOT_KNOWN
        await view.write("exit-at", "2h1m")
        await view.write("trail", "2pt")
        await view.press("enter")
        (given,) = view.orders
        kept = replace(row.thresholds, trailing_stop_pct=None, trailing_stop_points=0.02)
        assert given.thresholds == kept
        await view.press("u")
        assert view.orders[-1].thresholds == row.thresholds


@pytest.mark.slow
async def test_keys_hit_the_highlighted_row_whatever_the_order_becomes() -> None:
    rng = random.Random(3)
    async with monitors() as view:
        await view.press("j", "j", "j")
        row = view.here
        for _ in range(12):
            mixed = list(STATE.risk.monitors)
            rng.shuffle(mixed)
            moved = tuple(
                replace(each, mark=(each.entry or 0.5) * rng.uniform(0.7, 1.4)) for each in mixed
            )
            view.app.bring(replace(STATE, risk=replace(STATE.risk, monitors=moved)))
            await view.pilot.pause()
            assert key_of(view.here) == key_of(row)
        await view.press("d")
        assert view.orders == [RemoveMonitor(row.market_id, row.side, row.venue, row.question)]


@pytest.mark.slow
async def test_a_key_for_a_row_that_vanished_is_refused_and_said() -> None:
    async with monitors() as view:
        for key in ("e", "d", "x", "a", "M", "space"):
            view.app.bring(STATE)
            await view.press("home", "j")
            row = view.here
            rest = tuple(each for each in STATE.risk.monitors if each.key != key_of(row))
            view.app.said.clear()
            view.app.bring(replace(STATE, risk=replace(STATE.risk, monitors=rest)))
            await view.press(key)
            assert any("has just changed" in said for said in view.app.said), key
            assert (view.orders, view.app.dialogs) == ([], []), key
            assert view.screen.table.order.marked == frozenset()


@pytest.mark.slow
async def test_marked_rows_are_set_together_after_saying_exactly_what_changes() -> None:
    async with monitors(size=WIDE) as view:
        await view.press("space", "space")
        first, second = view.rows()[:2]
        await view.press("e")
        assert isinstance(view.app.screen, MonitorMany)
        await view.write("stop-percent", "30")
        assert "2 change" in view.part("#form-preview")
        await view.press("enter")
        assert isinstance(view.app.screen, ConfirmMany)
        text = view.text
        assert "2 of 2 monitors change" in text
        assert text.count("stop 20 % → 30 %") == 2
        assert "target 50 %" in text
        await view.press("escape")
        assert view.line("stop-percent") == "30"
        assert view.orders == []
        await view.press("enter")
        await view.confirm()
        given = view.orders[0]
        assert isinstance(given, SetMonitors)
        assert [(each.market_id, each.thresholds) for each in given.monitors] == [
            (first.market_id, Thresholds(0.3, first.take_profit_pct)),
            (second.market_id, Thresholds(0.3, second.take_profit_pct)),
        ]
        assert not view.screen.table.order.marked
        await view.press("u")
        undone = view.orders[1]
        assert isinstance(undone, SetMonitors)
        assert [each.thresholds.stop_loss_pct for each in undone.monitors] == [0.2, 0.2]


@pytest.mark.slow
async def test_an_alert_is_exited_by_hand_after_saying_what_is_sold() -> None:
    async with monitors(size=WIDE) as view:
        await view.press("o")
        row = view.here
        assert row in STATE.risk.alerts
        assert "48m 20s" in view.text
        await view.press("x")
        for words in ("Sell all 202.32 NO", "SIM", "play money on sim", "64.27"):
            assert words in view.text
        await view.confirm()
        assert view.orders == [ExitAlert("al-0")]


@pytest.mark.slow
async def test_time_runs_for_an_alert() -> None:
    async with monitors() as view:
        await view.press("o")
        view.app.bring(later_s=100.0)
        await view.pilot.pause()
        assert "46m 40s" in view.text
        view.app.bring(later_s=4_000.0)
        await view.pilot.pause()
        assert "expired" in view.text


@pytest.mark.slow
async def test_the_history_says_trigger_price_and_proceeds() -> None:
    async with monitors(size=WIDE) as view:
        await view.press("o", "o")
        assert [key_of(row) for row in view.rows()] == ["ex-0", "ex-1", "ex-2", "ex-3"]
        for words in ("trigger", "proceeds $", "33.40", "take profit", "this desk", "service"):
            assert words in view.text


@pytest.mark.slow
async def test_price_alerts_are_listed_removed_and_brought_back() -> None:
    async with monitors() as view:
        await view.press("o", "o", "o")
        assert "crosses above" in view.text
        assert "✓ 5m ago" in view.text
        row = view.here
        await view.press("d")
        assert view.orders == [RemovePriceAlert(key_of(row))]
        await view.press("u")
        assert isinstance(view.orders[-1], SetPriceAlert)
        assert view.orders[-1].market_id == row.market_id


@pytest.mark.slow
async def test_what_only_one_list_compares_is_typed_while_each_list_comes_to_the_front() -> None:
    async with monitors() as view:
        await view.press("slash", *"kestrels entry:>0.01", "enter")
        shown = [key_of(row) for row in view.rows()]
        assert shown
        await view.press("o", "o", "o", "o")
        assert [key_of(row) for row in view.rows()] == shown
        await view.press("o")
        assert view.rows()
        assert all("Kestrels" in row.question for row in view.rows())


@pytest.mark.slow
async def test_a_row_is_found_in_whichever_list_it_stands() -> None:
    async with monitors() as view:
        for key in ("ex-2", "pa-1", "al-1", STATE.risk.monitors[2].key):
            view.screen.focus_row(key)
            await view.pilot.pause()
            assert key_of(view.here) == key
            assert view.screen.current_row() == key
        view.screen.focus_row("al-9")
        assert view.screen.table.selected() is None


@pytest.mark.slow
async def test_search_compares_and_each_list_is_searched() -> None:
    async with monitors() as view:
        await view.press("slash")
        line = view.screen.query_one(Input)
        for typed in (
            "stop:>0.1",
            "way:<0.5",
            "exit:>1 pnl:<0",
            "mark:<0.5 entry:>0.01",
            "target:>0",
        ):
            line.value = typed
            await view.pilot.pause()
            assert 0 < len(view.rows()) <= 6
        line.value = "kestrels"
        await view.pilot.pause()
        assert len(view.rows()) == 1
        await view.press("enter", "o")
        assert {row.question for row in view.rows()} == {view.rows()[0].question}
        await view.press("o")
        assert len(view.rows()) == 1
        await view.press("escape")
        assert len(view.rows()) == 4


@pytest.mark.slow
async def test_an_empty_list_explains_what_a_monitor_is_and_how_to_get_one() -> None:
    async with monitors(replace(STATE, risk=RiskView())) as view:
        for words in (
            "No position is protected",
            "Portfolio (1)",
            "protect a position: m",
            "0/7 protected",
        ):
            assert words in view.text
        await view.press("o")
        assert "No alert." in view.text
        await view.press("o")
        assert "No stop sale yet." in view.text
        await view.press("e", "d", "x", "a", "u", "space", "E")
        assert view.orders == []


@pytest.mark.slow
@pytest.mark.parametrize("size", [SMALL, WIDE])
async def test_each_row_on_a_real_venue_is_marked_and_no_amount_of_it_is_in_dollars(
    size: tuple[int, int],
) -> None:
    risk = RiskView(
        monitors=(SETTABLE[0], replace(SETTABLE[0], venue=Venue.EVM)),
        alerts=tuple(replace(each, venue=Venue.EVM) for each in STATE.risk.alerts[:1]),
        exits=tuple(replace(each, venue=Venue.EVM) for each in STATE.risk.exits[:1]),
    )
    async with monitors(replace(STATE, risk=risk), size) as view:
        for rows in (2, 1, 1):
            lines = view.text.splitlines()
            head = next(place for place, line in enumerate(lines) if "market  " in line)
            shown = lines[head + 1 : head + 1 + rows]
            assert ["EVM " in line for line in shown] == [False, True][-rows:]
            assert "$" not in lines[head]
            await view.press("o")


@pytest.mark.slow
@pytest.mark.parametrize("by_service", [True, False])
async def test_an_alert_and_its_exit_name_the_seller_in_the_same_words(*, by_service: bool) -> None:
    alert = replace(STATE.risk.alerts[0], state=AlertState.EXECUTED, detail="", managed=False)
    sold = replace(
        STATE.risk.exits[0],
        market_id=alert.market_id,
        side=alert.side,
        venue=alert.venue,
        trigger_price=alert.trigger_price,
        at=Timestamp(alert.breached_at + 1),
        by_service=by_service,
    )
    state = replace(STATE, risk=RiskView(alerts=(alert,), exits=(sold,), executes=True))
    words = "the service" if by_service else "this desk"
    async with monitors(state, WIDE) as view:
        await view.press("o")
        assert f"sold by {words}" in view.text
        await view.press("o")
        assert "".join(f"sold by {words}".split()) in "".join(view.text.split())


@pytest.mark.slow
async def test_an_alert_tells_its_stop_and_the_price_that_hit_it_apart() -> None:
    alert = replace(
        STATE.risk.alerts[0], reason="stop loss", level=0.542, trigger_price=0.537, detail=""
    )
    state = replace(STATE, risk=RiskView(alerts=(alert,), executes=True))
    async with monitors(state, WIDE) as view:
        await view.press("o")
        assert "stop loss hit at 0.537" in view.text
        assert re.search(r"set at\s+0\.542\s+hit at\s+0\.537", view.text)


@pytest.mark.slow
async def test_old_data_is_marked() -> None:
    async with monitors() as view:
        assert "STALE" not in view.text
        view.app.bring(replace(STATE, seen={**STATE.seen, Topic.MONITORS: Timestamp(NOW - 9)}))
        await view.pilot.pause()
        assert "STALE 9s" in view.text


@pytest.mark.slow
async def test_texts_from_outside_are_never_markup() -> None:
    evil = "[@click=app.quit]x[/] [/red] \x1b[2J"
    risk = STATE.risk
    state = replace(
        STATE,
        risk=replace(
            risk,
            monitors=tuple(replace(each, question=evil) for each in risk.monitors),
            alerts=tuple(
                replace(each, question=evil, detail=evil, reason=evil) for each in risk.alerts
            ),
            exits=tuple(replace(each, question=evil, cause=evil) for each in risk.exits),
            price_alerts=tuple(replace(each, question=evil) for each in risk.price_alerts),
            briefing_late=evil,
        ),
    )
    async with monitors(state, WIDE) as view:
        for _ in range(4):
            assert "[@click" in view.text
            assert "\x1b" not in view.text
            await view.press("o")
        await view.press("e")
        assert "[@click" in view.part("#form-question")


def test_the_bar_shows_where_the_mark_is() -> None:
    row = replace(STATE.risk.monitors[1], entry=0.5, stop_loss_pct=0.2, take_profit_pct=0.2)
    # A target is measured by what an exit brings: here as much as the mark says.
    places = {
        mark: track(replace(row, mark=mark, exit_value=Micros(int(row.shares * mark) + 1))).plain
        for mark in (0.4, 0.401, 0.5, 0.599, 0.6)
    }
    assert places[0.4] == "●───┼───┤"
    assert places[0.401] == "├●──┼───┤"
    assert places[0.5] == "├───●───┤"
    assert places[0.599] == "├───┼──●┤"
    assert places[0.6] == "├───┼───●"
    assert track(replace(row, mark=None)).plain == "├───┼───┤"
    assert track(replace(row, mark=0.45, stop_loss_pct=None)).plain == "    ●───┤"
    assert [percent_short(pct) for pct in (0.2, 0.125, 1.0, 4.0, 123.0)] == [
        "20%",
        "12.5%",
        "100%",
        "400%",
        "12k%",
    ]


# -- one market on two venues -------------------------------------------------------------------


PLAY = STATE.positions[6]
REAL = replace(PLAY, venue=Venue.EVM, shares=Micros(7 * ONE), question="for real money")
BOTH = replace(STATE, on_venues=(REAL,))


@pytest.mark.slow
async def test_a_form_of_a_real_position_stays_with_it_when_play_money_is_held_as_well() -> None:
    app = Host(BOTH, PortfolioScreen)
    async with app.run_test(size=SMALL) as pilot:
        await pilot.pause()
        assert app.front is not None
        app.front.focus_row(REAL.key)
        await pilot.press("m")
        await pilot.pause()
        form = app.screen
        assert isinstance(form, MonitorForm)
        form.take(replace(BOTH), NOW)
        await pilot.pause()
        assert "on evm" in str(form.query_one("#form-about", Static).content)
        await pilot.press("enter")
        await pilot.pause()
        orders = [each for each in app.given if isinstance(each, SetMonitor)]
        assert [each.venue for each in orders] == [Venue.EVM]


def test_what_guards_one_venue_is_not_told_of_the_other() -> None:
    own = replace(STATE.risk.monitors[0], market_id=PLAY.market_id, side=PLAY.side)
    real = replace(own, venue=Venue.EVM)
    state = replace(BOTH, risk=replace(BOTH.risk, monitors=(real,)))
    assert guarded(state, REAL.key) == real
    found = guarded(state, PLAY.key)
    assert found is not None
    assert (found.venue, found.stop_loss_pct) == (Venue.SIM, None)
    assert guarded_text(state).plain.startswith("! 1/8 protected")
    both = replace(state, risk=replace(state.risk, monitors=(own, real)))
    assert guarded(both, REAL.key) == real
    assert guarded(both, PLAY.key) == own


@pytest.mark.slow
async def test_an_exit_of_an_alert_says_what_its_own_venue_brings() -> None:
    alert = replace(
        STATE.risk.alerts[0],
        market_id=PLAY.market_id, side=PLAY.side, venue=Venue.EVM, shares=REAL.shares,
    )  # fmt: skip
    real = replace(REAL, exit_value=Micros(3_210_000))
    state = replace(BOTH, on_venues=(real,), risk=replace(BOTH.risk, monitors=(), alerts=(alert,)))
    async with monitors(state, size=WIDE) as view:
        await view.press("o", "x")
        assert isinstance(view.app.screen, Confirm)
        for words in ("3.21", "LIVE", "no real money, on evm"):
            assert words in view.text


def test_money_of_a_real_venue_is_named_in_forms_and_details() -> None:
    assert _head(60, Venue.SIM).plain.split() == [
        "price", "from", "entry", "proceeds", "$", "P&L", "$",
    ]  # fmt: skip
    real = _head(60, Venue.EVM).plain
    assert real.split() == ["in", "USDC.e", "price", "from", "entry", "proceeds", "P&L"]
    assert len(real) == len(_head(60, Venue.SIM).plain)
    view = ViewContext.of(STATE, NOW, 80)
    asked = exit_question(alert_of(venue=Venue.EVM), view).plain
    assert " USDC.e at the mark of " in asked
    assert " $ at the mark of " in exit_question(alert_of(), view).plain
