"""The rows of monitors and alerts, and the commands that set monitors."""

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from kit.desk.faults import at_work, buy, ended, until
from kit.samples.desk import sample_state
from kit.samples.risk import alert_of, exit_of, monitor_of
from kit.service.stage import Stage
from service_tui.desk.changes import Changed, Loaded
from service_tui.desk.commands.risk import RemoveMonitor, SetMonitor, SetMonitors
from service_tui.desk.desk import Desk
from service_tui.desk.facts import MarketsSeen
from service_tui.desk.reduce import reduce
from service_tui.desk.reduce_risk import BY_HOLDER, news_of, reduce_risk
from service_tui.desk.risk.translate import alert_view, exit_views, monitor_view
from service_tui.desk.slices.risk import (
    ALERT_LIFE_S,
    AlertsSeen,
    AlertState,
    MonitorState,
    MonitorView,
    RiskView,
    Thresholds,
    exit_name,
)
from service_tui.desk.state import DeskState
from service_tui.terms import AlertStatus, MarketStatus, Side, Venue
from service_tui.units import ONE, Micros, Timestamp
from service_tui.wire.endpoints.public import MONITORS
from service_tui.wire.monitors import MonitorBody, RiskAlertBody

AT = Timestamp(1_800_000_000.0)


def warned(state: DeskState) -> str:
    return " | ".join(one.text for one in state.notices if one.tone in {"warn", "bad"})


# -- what is shown ------------------------------------------------------------------------------


def test_distances_go_from_the_entry_to_each_end() -> None:
    monitor = monitor_of(entry=0.5, mark=0.45, stop_loss_pct=0.2, take_profit_pct=0.5)
    assert monitor.stop_price == pytest.approx(0.4)
    assert monitor.target_price == pytest.approx(0.75)
    assert monitor.to_stop == pytest.approx(0.5)
    assert monitor.to_target == 1.0
    assert monitor_of(mark=0.9).to_stop == 1.0
    assert monitor_of(mark=0.1).to_stop == 0.0
    # A target is measured by what an exit brings a share, not by the mark.
    hundred = {"shares": Micros(100 * ONE), "take_profit_pct": 0.5, "mark": 0.9}
    assert monitor_of(**hundred, exit_value=Micros(60 * ONE)).to_target == pytest.approx(0.6)
    assert monitor_of(**hundred, exit_value=Micros(40 * ONE)).to_target == 1.0
    assert monitor_of(**hundred, exit_value=Micros(75 * ONE)).to_target == 0.0
    assert monitor_of(**hundred, exit_value=None).to_target is None
    assert monitor_of(mark=None).to_stop is None
    assert monitor_of(stop_loss_pct=None).stop_price is None
    assert monitor_of(entry=0.0, mark=0.0).to_stop == 0.0
    assert monitor_of(exit_value=None).exit_pnl is None
    assert monitor_of().exit_pnl == -3 * ONE


def test_a_monitor_follows_the_price_of_its_market() -> None:
    state = sample_state(40)
    held = state.positions[0]
    bare = monitor_of(held.market_id, side=held.side, shares=Micros(0), entry=None, mark=None)
    state = reduce(state, Loaded(MonitorView, (bare,)))
    (monitor,) = state.risk.monitors
    assert (monitor.shares, monitor.entry) == (held.shares, held.average)
    assert monitor.mark == state.position(held.key).mark_price
    market = state.markets[held.market_id]
    moved = MarketsSeen((market.__class__(**{**_fields(market), "price": 0.123}),), complete=False)
    state = reduce(state, moved)
    price = 0.123 if held.side is Side.YES else 1 - 0.123
    assert state.risk.monitors[0].mark == pytest.approx(price)
    same = reduce(state, moved)
    assert same.risk is state.risk
    closed = {**_fields(market), "status": MarketStatus.CLOSED}
    state = reduce(state, MarketsSeen((market.__class__(**closed),), complete=False))
    assert state.risk.monitors[0].state is MonitorState.CLOSED


def _fields(record: object) -> dict[str, object]:
    return {name: getattr(record, name) for name in record.__slots__}


def test_a_monitor_says_that_its_alert_waits_and_that_its_exit_runs() -> None:
    state = reduce(sample_state(40), Loaded(MonitorView, (monitor_of(),)))
    assert state.risk.monitors[0].state is MonitorState.WATCHING
    state = reduce(state, AlertsSeen(AT, (alert_of(),)))
    assert state.risk.monitors[0].state is MonitorState.BREACHED
    state = reduce(state, Changed(alert_of(state=AlertState.EXITING, attempts=1)))
    assert state.risk.monitors[0].state is MonitorState.EXITING
    state = reduce(state, Changed(alert_of(state=AlertState.EXECUTED, attempts=1)))
    assert state.risk.monitors[0].state is MonitorState.WATCHING
    state = reduce(state, Loaded(MonitorView, (monitor_of(shares=Micros(0)),)))
    assert state.risk.monitors[0].state is MonitorState.NOT_HELD


# -- what becomes of alerts ---------------------------------------------------------------------


def listed(risk: RiskView, *waiting: str, at: float = AT, **ended: AlertState) -> RiskView:
    over = tuple(alert_of(name, state=state) for name, state in ended.items())
    fact = AlertsSeen(Timestamp(at), tuple(alert_of(name) for name in waiting), over)
    return reduce_risk(risk, fact)


def test_what_this_desk_did_with_an_alert_is_not_forgotten_by_a_listing() -> None:
    risk = listed(RiskView(executes=True), "a", "b")
    failed = alert_of("a", state=AlertState.FAILED, attempts=2, detail="no", ticket_id="t")
    risk = listed(reduce_risk(risk, Changed(failed)), "a", "b")
    assert risk.alert("a") == failed
    assert [one.alert_id for one in risk.open_alerts] == ["a", "b"]
    risk = listed(risk, a=AlertState.EXPIRED, b=AlertState.EXPIRED)
    assert risk.alert("a").state is AlertState.MISSED
    assert risk.alert("b").state is AlertState.EXPIRED
    assert risk.open_alerts == ()


def test_why_this_desk_ended_an_alert_is_not_replaced_by_the_services_word_for_any_end() -> None:
    risk = listed(RiskView(executes=True), "a", "b")
    dust = alert_of("a", state=AlertState.ENDED, attempts=1, detail="3 shares are left")
    risk = reduce_risk(risk, Changed(dust))
    over = tuple(alert_of(one, state=AlertState.ENDED, detail="dismissed") for one in ("a", "b"))
    risk = reduce_risk(risk, AlertsSeen(AT, (), over))
    assert [risk.alert(one).detail for one in ("a", "b")] == ["3 shares are left", "dismissed"]


@pytest.mark.parametrize(
    ("venue", "words"),
    [
        (Venue.SIM, "Stopped out: YES Rain?, 19.00, P&L -6.00"),
        (
            Venue.EVM,
            ("LIVE Stopped out: YES Rain?, 19.00 USDC.e, P&L -6.00 on evm_venue"),
        ),
    ],
)
def test_a_sale_for_real_money_by_the_service_is_told_so(venue: Venue, words: str) -> None:
    alert = alert_of(venue=venue, state=AlertState.EXECUTED)
    before = RiskView(exits=(exit_of(venue=venue, by_service=True),))
    after = replace(before, alerts=(alert,))
    assert [one.text for one in news_of(before, after, is_first=False)] == [words]


def test_an_alert_of_which_nothing_is_said_any_more_comes_to_an_end() -> None:
    risk = listed(RiskView(executes=True), "a")
    assert listed(risk, at=AT + 10).alert("a").state is AlertState.ENDED
    assert listed(risk, at=AT + ALERT_LIFE_S).alert("a").state is AlertState.EXPIRED
    unknown = alert_of("a", state=AlertState.UNKNOWN, attempts=1)
    kept = listed(reduce_risk(risk, Changed(unknown)), at=AT + ALERT_LIFE_S)
    assert kept.alert("a").state is AlertState.UNKNOWN


def test_who_exits_is_said() -> None:
    assert listed(RiskView(), "a").alert("a").detail == BY_HOLDER
    assert listed(RiskView(executes=True), "a").alert("a").detail == ""
    managed = AlertsSeen(AT, (alert_of("a", managed=True),))
    assert "the service" in reduce_risk(RiskView(), managed).alert("a").detail


def test_exits_of_both_sources_are_listed_once_and_newest_first() -> None:
    first, second = exit_of("t1"), exit_of("t2", at=Timestamp(AT + 9))
    risk = reduce_risk(RiskView(exits=(first,)), AlertsSeen(AT, (), (), (second, first)))
    assert [one.exit_id for one in risk.exits] == ["t2", "t1"]


def test_an_alert_of_a_service_that_says_the_least_can_be_exited() -> None:
    body = RiskAlertBody(market_id="m", side=Side.YES, shares=5.0, exit_reason="stop_loss")
    view = alert_view(body, AT)
    assert view.alert_id == "~m:yes:sim"
    assert (view.breached_at, view.expires_at) == (AT, AT + ALERT_LIFE_S)
    assert (view.state, view.reason, view.venue) == (AlertState.PENDING, "stop loss", Venue.SIM)
    strange = body.model_copy(update={"status": "pondering", "id": "~x", "exit_reason": "so_what"})
    assert alert_view(strange, AT).state is AlertState.ENDED
    assert alert_view(strange, AT).alert_id.startswith("~m:")
    assert alert_view(strange, AT).reason == "so what"
    assert exit_views([body, strange]) == ()
    assert view.exit_name == exit_name(view.alert_id, Timestamp(AT + 99))
    assert view.exit_name.replace("-", "").isalnum()
    assert exit_name("al-7", AT) == "exit-al-7-1800000000"
    assert exit_name("al-7", AT) != exit_name("al-7", Timestamp(AT + 9))


def test_a_monitor_of_a_service_that_says_the_least_has_its_entry() -> None:
    body = MonitorBody(market_id="m", side=Side.NO, stop_loss_pct=0.1, shares=4.0, cost_basis=2.0)
    view = monitor_view(body)
    assert (view.entry, view.mark, view.exit_value) == (0.5, None, None)
    assert view.stop_price == pytest.approx(0.45)
    assert (view.take_profit_pct, view.key) == (None, "m:no")
    # What was sold may still have a cost: nothing is divided by no shares.
    sold = monitor_view(body.model_copy(update={"shares": 0.0}))
    assert (sold.entry, sold.shares, sold.cost) == (None, 0, 2 * ONE)


# -- commands -----------------------------------------------------------------------------------


async def held(desk: Desk, stage: Stage) -> str:
    market = stage.open_markets()[0]
    await ended(desk, desk.submit(buy(market)), stage)
    await until(desk, lambda s: s.positions and s.risk.monitors, stage)
    return market.market_id


def wish(
    market_id: str,
    stop: float | None = 0.3,
    target: float | None = None,
    **others: float | Timestamp | None,
) -> SetMonitor:
    thresholds = replace(Thresholds(stop, target), **others)
    return SetMonitor(market_id, Side.YES, Venue.SIM, thresholds)


@pytest.mark.slow
async def test_thresholds_are_set_and_removed(tmp_path: Path) -> None:
    async with at_work(tmp_path) as (desk, stage, _):
        market_id = await held(desk, stage)
        assert desk.state.risk.monitors[0].automatic
        desk.submit(wish(market_id, 0.3, 0.5))
        state = await until(desk, lambda s: not s.risk.monitors[0].automatic, stage, step_s=0.05)
        (monitor,) = state.risk.monitors
        assert (monitor.stop_loss_pct, monitor.take_profit_pct) == (0.3, 0.5)
        assert monitor.exit_value is not None
        assert monitor.mark == pytest.approx(state.markets[market_id].price)
        desk.submit(SetMonitors((wish(market_id, None, 0.9), wish("nowhere"))))
        state = await until(desk, lambda s: "1 of 2" in warned(s), stage)
        assert state.risk.monitors[0].stop_loss_pct is None
        desk.submit(RemoveMonitor(market_id, Side.YES, Venue.SIM))
        await until(desk, lambda s: not s.risk.monitors, stage, step_s=0.05)
        await stage.clock.advance(20)
        assert desk.state.risk.monitors == ()
        before = warned(desk.state)
        desk.submit(RemoveMonitor(market_id, Side.YES, Venue.SIM))
        await stage.clock.advance(1)
        assert warned(desk.state) == before


@pytest.mark.slow
async def test_monitors_are_asked_for_with_their_age(tmp_path: Path) -> None:
    async with at_work(tmp_path) as (desk, stage, line):
        await held(desk, stage)
        asked = line.asked(MONITORS.path)
        await stage.clock.advance(60)
        assert 3 <= line.asked(MONITORS.path) - asked <= 6


def test_the_order_for_a_monitor_says_its_limits_to_a_tenth_of_a_percent() -> None:
    asked = SetMonitor("m", Side.YES, Venue.SIM, Thresholds(0.125, 0.375))
    assert asked.describe() == "monitor YES: stop 12.5% down, target 37.5% up"
    off = SetMonitor("m", Side.NO, Venue.SIM, Thresholds(None, 0.5))
    assert off.describe() == "monitor NO: no stop, target 50.0% up"


def test_the_higher_floor_counts_and_the_distance_to_a_trailing_stop_begins_at_the_peak() -> None:
    trailing = monitor_of(
        entry=0.5, mark=0.66, stop_loss_pct=0.2, trailing_stop_pct=0.1, peak=0.7, trail_price=0.63
    )
    assert (trailing.floor_price, trailing.is_trailing) == (0.63, True)
    assert trailing.to_stop == pytest.approx(3 / 7)
    deep = replace(trailing, trail_price=0.35)
    assert (deep.floor_price, deep.is_trailing) == (deep.stop_price, False)
    assert monitor_of(stop_loss_pct=None).floor_price is None
    assert not monitor_of(stop_loss_pct=None).is_trailing


def test_the_command_says_trailing_and_time_stop() -> None:
    at = Timestamp(1_800_003_600.0)
    given = SetMonitor("m", Side.YES, Venue.SIM, Thresholds(trailing_stop_pct=0.05, exit_at=at))
    assert given.describe() == (
        "monitor YES: no stop, no target, trailing stop 5.0% below the peak, "
        "time stop 15 Jan 09:00 UTC wall time"
    )
    points = replace(given, thresholds=Thresholds(trailing_stop_points=0.03))
    assert points.describe().endswith("trailing stop 3.0 pt below the peak")


@pytest.mark.slow
async def test_trailing_and_time_stop_are_set_changed_and_removed(tmp_path: Path) -> None:
    async with at_work(tmp_path) as (desk, stage, _):
        market_id = await held(desk, stage)
        at = Timestamp(float(int(stage.clock.now()) + 7_200))
        wanted = wish(market_id, 0.3, None, trailing_stop_pct=0.05, exit_at=at)
        desk.submit(wanted)
        state = await until(desk, lambda s: s.risk.monitors[0].exit_at, stage, step_s=0.05)
        (monitor,) = state.risk.monitors
        assert monitor.thresholds == wanted.thresholds
        assert monitor.peak == pytest.approx(state.markets[market_id].price, abs=1e-4)
        assert monitor.trail_price == pytest.approx(monitor.peak * 0.95, abs=1e-4)
        desk.submit(wish(market_id, 0.3, None, trailing_stop_points=0.02))
        state = await until(
            desk, lambda s: s.risk.monitors[0].trailing_stop_points, stage, step_s=0.05
        )
        thresholds = state.risk.monitors[0].thresholds
        assert (thresholds.trailing_stop_pct, thresholds.exit_at) == (None, None)
        desk.submit(wish(market_id, 0.3, None))
        state = await until(desk, lambda s: not s.risk.monitors[0].thresholds.trails, stage)
        assert state.risk.monitors[0].thresholds == wish(market_id, 0.3, None).thresholds


@pytest.mark.slow
async def test_a_time_stop_sells_and_says_why(tmp_path: Path) -> None:
    async with at_work(tmp_path) as (desk, stage, _):
        market_id = await held(desk, stage)
        at = Timestamp(float(int(stage.clock.now()) + 30))
        desk.submit(wish(market_id, None, None, exit_at=at))
        await until(desk, lambda s: s.risk.monitors[0].exit_at, stage, step_s=0.05)
        await stage.clock.advance(40)
        state = await until(desk, lambda s: s.risk.exits, stage)
        assert [one.cause for one in state.risk.exits] == ["time stop"]
        assert not state.positions
        assert not state.risk.monitors


@pytest.mark.slow
async def test_a_buy_sets_its_stop_and_target_when_it_fills(tmp_path: Path) -> None:
    async with at_work(tmp_path) as (desk, stage, line):
        await until(desk, lambda s: s.markets and "positions" in s.seen, stage)
        order = replace(buy(stage.open_markets()[0]), stop_loss_pct=0.1, take_profit_pct=0.4)
        desk.submit(order)
        state = await until(desk, lambda s: s.risk.monitors, stage, step_s=0.05)
        (monitor,) = state.risk.monitors
        assert monitor.thresholds == Thresholds(0.1, 0.4)
        assert not monitor.automatic
        # With the order, so that nothing can come between the fill and its stop.
        assert not [one for one in line.sent if one.url.path.endswith("/monitor")]
        assert "stop 10.0% down, target 40.0% up" in state.tickets[0].what


@pytest.mark.parametrize(
    ("breached", "trade", "name"),
    [(40, None, "exit-al-7-1800000040"), (None, None, "exit-al-7-1800000100"), (40, "t9", "t9")],
)
def test_an_exit_has_the_time_of_its_end_and_the_name_of_its_breach(
    breached: int | None, trade: str | None, name: str
) -> None:
    def at(seconds: int) -> datetime:
        return datetime.fromtimestamp(AT + seconds, UTC)

    body = RiskAlertBody(
        id="al-7", market_id="m", side=Side.YES, shares=5.0, exit_reason="stop_loss",
        status=AlertStatus.EXECUTED, shares_sold=5.0, proceeds=2.0, realized_pnl=-0.5,
        ended_at=at(100), breached_at=None if breached is None else at(breached), trade_id=trade,
    )  # fmt: skip
    (view,) = exit_views([body])
    assert (view.exit_id, view.at) == (name, AT + 100)
    assert (view.shares, view.proceeds, view.pnl) == (5 * ONE, 2 * ONE, -ONE // 2)
    assert (view.cause, view.by_service) == ("stop loss", False)
