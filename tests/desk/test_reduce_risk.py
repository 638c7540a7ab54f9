"""Monitors, alerts and exits after what was read and done."""

from dataclasses import replace

import pytest

from kit.samples.desk import NOW, sample_state
from kit.samples.risk import SHARES, alert_of, exit_of, monitor_of, price_alert_of
from service_tui.desk.changes import Changed, Loaded, Removed
from service_tui.desk.facts import Noticed
from service_tui.desk.reasons import Fix
from service_tui.desk.reduce_risk import (
    ALERTS_MAX,
    BY_HOLDER,
    BY_SERVICE,
    EXITS_MAX,
    EXPIRED_TEXT,
    marked,
    news_of,
    reduce_risk,
    with_ticket,
    with_trades,
)
from service_tui.desk.reduce_risk import (
    exit_of as exit_that_ended,
)
from service_tui.desk.slices.notices import NoticeKind
from service_tui.desk.slices.risk import (
    BY_MONITOR,
    AlertsSeen,
    AlertState,
    AlertView,
    BriefingLate,
    ExitView,
    MonitorState,
    MonitorView,
    PriceAlertView,
    RiskView,
)
from service_tui.desk.slices.tickets import TicketState, TicketView
from service_tui.desk.slices.trades import TradeView
from service_tui.terms import MarketStatus, Side, Venue
from service_tui.units import ONE, Micros, Timestamp

STATE = sample_state(12)
OPEN = {AlertState.PENDING, AlertState.EXITING, AlertState.UNKNOWN, AlertState.FAILED}


def at(seconds: float) -> Timestamp:
    return Timestamp(NOW + seconds)


def seen(risk: RiskView, fact: AlertsSeen) -> AlertView:
    (alert,) = reduce_risk(risk, fact).alerts
    return alert


# -- lists --------------------------------------------------------------------------------------


def test_a_monitor_is_known_by_market_side_and_venue() -> None:
    first, no = monitor_of("m1"), monitor_of("m1", side=Side.NO)
    real, other = monitor_of("m1", venue=Venue.EVM), monitor_of("m2")
    rows = (first, no, real, other)
    risk = reduce_risk(RiskView(), Loaded(MonitorView, rows))
    assert risk.monitors == rows
    tighter = replace(no, stop_loss_pct=0.05)
    assert reduce_risk(risk, Changed(tighter)).monitors == (first, tighter, real, other)
    assert reduce_risk(risk, Removed(MonitorView, real.key)).monitors == (first, no, other)
    third = monitor_of("m3")
    assert reduce_risk(risk, Changed(third)).monitors == (*rows, third)
    assert risk.monitor(no.key) is no
    assert risk.monitor(third.key) is None


def test_a_new_price_alert_comes_first_and_a_changed_one_keeps_its_place() -> None:
    first, second = price_alert_of("p1"), price_alert_of("p2")
    risk = reduce_risk(reduce_risk(RiskView(), Changed(first)), Changed(second))
    assert risk.price_alerts == (second, first)
    fired = replace(first, triggered_at=at(5))
    assert reduce_risk(risk, Changed(fired)).price_alerts == (second, fired)
    assert reduce_risk(risk, Removed(PriceAlertView, "p2")).price_alerts == (first,)
    assert (first.is_open, fired.is_open) == (True, False)


def test_a_fact_of_one_list_leaves_the_others() -> None:
    whole = RiskView((monitor_of(),), (alert_of(),), (exit_of(),), (price_alert_of(),))
    whole = replace(whole, executes=True, briefing_late="x")
    for fact, changed in (
        (Loaded(MonitorView, ()), {"monitors": ()}),
        (Removed(MonitorView, monitor_of().key), {"monitors": ()}),
        (Removed(PriceAlertView, "p1"), {"price_alerts": ()}),
        (BriefingLate("5 min"), {"briefing_late": "5 min"}),
        (AlertsSeen(at(1), (alert_of(),)), {}),
    ):
        assert reduce_risk(whole, fact) == replace(whole, **changed)


def test_a_fact_of_something_else_is_no_fact_of_risk() -> None:
    with pytest.raises(TypeError, match="no fact of risk"):
        reduce_risk(RiskView(), Noticed("info", "hello"))  # type: ignore[arg-type]


# -- what becomes of alerts ---------------------------------------------------------------------


@pytest.mark.parametrize("state", AlertState)
def test_an_alert_is_open_while_its_exit_may_still_happen(state: AlertState) -> None:
    assert state.is_open == (state in OPEN)


@pytest.mark.parametrize("state", AlertState)
@pytest.mark.parametrize("attempts", [0, 2])
@pytest.mark.parametrize("late_s", [-0.5, 0.0])
def test_an_alert_that_is_listed_no_more_has_ended_unless_its_exit_is_under_way(
    state: AlertState, attempts: int, late_s: float
) -> None:
    known = alert_of(state=state, attempts=attempts, detail="own words", expires_at=at(60))
    after = seen(RiskView(alerts=(known,)), AlertsSeen(at(60 + late_s), ()))
    if state not in {AlertState.PENDING, AlertState.FAILED}:
        assert after == known
    elif late_s < 0:
        assert after.state is AlertState.ENDED
        assert "another client" in after.detail
    else:
        ended = AlertState.MISSED if attempts else AlertState.EXPIRED
        assert after == replace(known, state=ended)


def test_an_alert_that_expired_without_a_word_says_what_that_means() -> None:
    known = alert_of(expires_at=at(60))
    after = seen(RiskView(alerts=(known,)), AlertsSeen(at(61), ()))
    assert after.detail == EXPIRED_TEXT


@pytest.mark.parametrize("executes", [True, False])
@pytest.mark.parametrize("managed", [True, False])
@pytest.mark.parametrize("state", AlertState)
def test_an_open_alert_names_who_exits(state: AlertState, *, executes: bool, managed: bool) -> None:
    listed = alert_of(state=state, managed=managed)
    who = BY_SERVICE if managed else "" if executes else BY_HOLDER
    after = seen(RiskView(executes=executes), AlertsSeen(NOW, (listed,)))
    assert after == replace(listed, detail=who if state in OPEN else "")
    said = replace(listed, detail="the service's words")
    assert seen(RiskView(executes=executes), AlertsSeen(NOW, (said,))) == said


@pytest.mark.parametrize("state", AlertState)
def test_an_exit_that_was_tried_here_is_known_better_here(state: AlertState) -> None:
    known = alert_of(state=AlertState.FAILED, attempts=3, detail="mine", ticket_id="x-1")
    after = seen(RiskView(alerts=(known,)), AlertsSeen(NOW, (), (alert_of(state=state),)))
    assert (after.attempts, after.ticket_id) == (3, "x-1")
    if state in OPEN:
        assert (after.state, after.detail) == (AlertState.FAILED, "mine")
    elif state is AlertState.EXPIRED:
        assert (after.state, after.detail) == (AlertState.MISSED, "mine")
    else:
        assert (after.state, after.detail) == (state, "mine")
        theirs = alert_of(state=state, detail="theirs")
        after = seen(RiskView(alerts=(known,)), AlertsSeen(NOW, (), (theirs,)))
        assert after.detail == "theirs"
        own = replace(known, state=state)
        after = seen(RiskView(alerts=(own,)), AlertsSeen(NOW, (), (theirs,)))
        assert after.detail == "mine"


def test_an_alert_that_nothing_was_tried_for_is_known_better_by_the_service() -> None:
    known = alert_of(state=AlertState.UNKNOWN, detail="mine", ticket_id="x-1")
    listed = alert_of(state=AlertState.PENDING, detail="theirs")
    assert seen(RiskView(alerts=(known,)), AlertsSeen(NOW, (listed,))) == listed


def test_alerts_are_listed_by_their_breach_and_one_that_waits_counts_more_than_its_end() -> None:
    old, new = alert_of("old", breached_at=at(1)), alert_of("new", breached_at=at(2))
    risk = reduce_risk(RiskView(executes=True), AlertsSeen(at(3), (old, new)))
    assert risk.alerts == (new, old)
    newest = alert_of("z", breached_at=at(1.5), state=AlertState.EXECUTED)
    assert reduce_risk(risk, Changed(newest)).alerts == (new, newest, old)
    both = AlertsSeen(at(3), (old,), (replace(old, state=AlertState.EXPIRED),))
    assert seen(RiskView(executes=True), both).state is AlertState.PENDING


def test_an_alert_that_waits_is_never_forgotten_for_ended_ones() -> None:
    waiting = tuple(alert_of(f"w{number}", breached_at=at(number * 150)) for number in range(3))
    ended = tuple(
        alert_of(f"e{number}", breached_at=at(100 + number), state=AlertState.EXECUTED)
        for number in range(ALERTS_MAX)
    )
    risk = reduce_risk(RiskView(executes=True), AlertsSeen(at(500), waiting, ended))
    assert len(risk.alerts) == ALERTS_MAX
    assert risk.open_alerts == waiting[::-1]
    assert {one.alert_id for one in ended} - {one.alert_id for one in risk.alerts} == {
        "e0",
        "e1",
        "e2",
    }
    many = tuple(alert_of(f"w{number}") for number in range(ALERTS_MAX + 2))
    risk = reduce_risk(RiskView(executes=True), AlertsSeen(NOW, many, ended))
    assert len(risk.alerts) == len(risk.open_alerts) == ALERTS_MAX + 2


# -- what an exit that was found does -----------------------------------------------------------


@pytest.mark.parametrize("state", TicketState)
@pytest.mark.parametrize("before", AlertState)
def test_an_exit_that_is_found_ends_the_alert_that_waited_for_it(
    state: TicketState, before: AlertState
) -> None:
    mine = alert_of("a", ticket_id="x-1", state=before, detail="sent")
    other = alert_of("b", ticket_id="x-2", state=AlertState.UNKNOWN)
    risk = RiskView(alerts=(mine, other))
    ticket = TicketView("x-1", "exit", "m", "sell", state, NOW, outcome="for 19.00")
    after = with_ticket(risk, ticket)
    if state is TicketState.DONE and before in OPEN:
        sold = replace(mine, state=AlertState.EXECUTED, detail="sold: for 19.00")
        assert after.alerts == (sold, other)
    else:
        assert after is risk
    assert with_ticket(risk, replace(ticket, ticket_id="x-9")) is risk


# -- what is told -------------------------------------------------------------------------------


def told(before: RiskView, *after: AlertView, first: bool = False) -> list[Noticed]:
    return list(news_of(before, replace(before, alerts=after), is_first=first))


ABOUT = "stop loss, YES at 0.3900, Rain?"


def test_a_breach_is_told_once_with_where_its_exit_stands() -> None:
    alert = alert_of()
    event = alert.exit_name
    pending = Noticed("bad", f"{ABOUT}: sale pending", NoticeKind.ALERT, event)
    assert told(RiskView(), alert) == [pending]
    assert told(RiskView(), alert, first=True) == [pending]
    said = replace(alert, detail=BY_SERVICE)
    assert told(RiskView(), said) == [
        Noticed("bad", f"{ABOUT}: {BY_SERVICE}", NoticeKind.ALERT, event)
    ]
    assert told(RiskView(alerts=(alert,)), replace(alert, state=AlertState.EXITING)) == []


@pytest.mark.parametrize("state", [AlertState.EXPIRED, AlertState.MISSED])
def test_a_loss_of_protection_is_told_when_it_happens(state: AlertState) -> None:
    lost = alert_of(state=state, detail="why")
    notice = Noticed("bad", f"{ABOUT}: why", NoticeKind.ALERT, lost.exit_name)
    assert told(RiskView(alerts=(alert_of(),)), lost) == [notice]
    assert told(RiskView(), lost) == [notice]
    assert told(RiskView(alerts=(lost,)), lost) == []


def test_what_was_lost_before_the_desk_opened_is_told_in_one_line() -> None:
    lost = [alert_of(name, state=AlertState.MISSED) for name in ("a", "b")]
    done = alert_of("c", state=AlertState.EXECUTED)
    for count, noun in ((1, "1 alert"), (2, "2 alerts")):
        assert told(RiskView(), *lost[:count], done, first=True) == [
            Noticed("bad", f"{noun} expired unsold", NoticeKind.ALERT, fix=Fix.SEE_ALERTS)
        ]
    assert told(RiskView(), done, first=True) == []


def test_a_sale_of_another_hand_is_told_and_one_of_this_desk_is_not() -> None:
    before = RiskView(alerts=(alert_of(),))
    sold = alert_of(state=AlertState.EXECUTED)
    assert told(before, sold) == [
        Noticed("warn", f"{ABOUT}: sold, not by this desk", NoticeKind.EXIT, sold.exit_name)
    ]
    assert told(before, replace(sold, attempts=1)) == []
    assert told(before, replace(sold, state=AlertState.ENDED)) == []
    known = replace(before, exits=(exit_of(),))
    assert told(known, sold)[0].text == "Stopped out: YES Rain?, 19.00, P&L -6.00"
    managed = told(known, replace(sold, managed=True))
    assert managed[0].text == told(known, sold)[0].text


def test_an_alert_without_question_or_price_is_named_by_its_market() -> None:
    bare = alert_of(question="", trigger_price=None, side=Side.NO)
    assert told(RiskView(), bare)[0].text == "stop loss, NO, m: sale pending"


@pytest.mark.parametrize(
    "other",
    [
        {"market_id": "n"},
        {"side": Side.NO},
        {"venue": Venue.EVM},
        {"trigger_price": 0.38},
        {"at": at(-1)},
    ],
)
def test_an_exit_belongs_to_the_alert_of_its_position_and_its_price(
    other: dict[str, object],
) -> None:
    alert, ended = alert_of(), exit_of()
    foreign = exit_of("t0", **other)
    assert exit_that_ended(alert, (foreign, ended)) is ended
    assert exit_that_ended(alert, (foreign,)) is None
    assert exit_that_ended(alert, (exit_of(at=at(0)),)) is not None


# -- exits --------------------------------------------------------------------------------------


def sale(trade_id: str, ref: str, **other: object) -> TradeView:
    made = replace(
        STATE.trades[0],
        trade_id=trade_id,
        market_id="m7",
        question="Snow?",
        side=Side.NO,
        venue=Venue.EVM,
        action="sell",
        shares=Micros(12 * ONE),
        cost=Micros(5 * ONE),
        pnl=Micros(-2 * ONE),
        at=at(44),
        client_ref=ref,
        source="desk",
    )
    return replace(made, **other)  # type: ignore[arg-type]


def test_a_sale_of_the_own_trades_is_the_exit_of_its_alert() -> None:
    alert = alert_of("a", reason="take profit", trigger_price=0.77)
    trade = sale("t-9", f"{alert.exit_name}.2")
    found = ExitView(
        exit_id="t-9",
        at=at(44),
        market_id="m7",
        question="Snow?",
        side=Side.NO,
        venue=Venue.EVM,
        shares=Micros(12 * ONE),
        trigger_price=0.77,
        proceeds=Micros(5 * ONE),
        pnl=Micros(-2 * ONE),
        cause="take profit",
    )
    assert with_trades(RiskView(alerts=(alert,)), (trade,)).exits == (found,)
    (orphan,) = with_trades(RiskView(), (trade,)).exits
    assert orphan == replace(found, trigger_price=None, cause="exit of an alert")


def test_other_trades_are_no_exits() -> None:
    name = alert_of().exit_name
    risk = RiskView(alerts=(alert_of(),))
    for trade in (
        sale("t", f"{name}.1", action="buy"),
        sale("t", f"{name}.1", shares=Micros(0)),
        sale("t", name),
        sale("t", "trade-1.1"),
        sale("t", ""),
    ):
        assert with_trades(risk, (trade,)) is risk
    known = replace(risk, exits=(exit_of(name, at=at(3)),))
    assert with_trades(known, (sale("t", f"{name}.1"),)) is known


def test_a_sale_that_the_service_made_is_marked_so_and_stays_so() -> None:
    risk = RiskView(exits=(exit_of("t1", at=at(2)), exit_of("t2", at=at(1))))
    trades = (sale("t1", "", source=f"{BY_MONITOR}:x"), sale("t2", "", source="desk"))
    after = with_trades(risk, trades)
    assert [(one.exit_id, one.by_service) for one in after.exits] == [("t1", True), ("t2", False)]
    again = reduce_risk(after, AlertsSeen(at(9), (), (), risk.exits))
    assert again.exits == after.exits
    # What the service itself says of a sale holds before its trade is read.
    told = replace(risk.exits[0], by_service=True)
    assert reduce_risk(RiskView(), AlertsSeen(at(9), (), (), (told,))).exits == (told,)
    # Trades that have left the list take no mark away.
    assert with_trades(after, trades[1:]) is after


def test_exits_are_sorted_by_their_time_and_the_oldest_are_forgotten() -> None:
    # The older ones have the greater names.
    rows = tuple(exit_of(f"t{900 - number}", at=at(number)) for number in range(EXITS_MAX + 1))
    exits = reduce_risk(RiskView(), AlertsSeen(NOW, (), (), rows)).exits
    assert exits == rows[:0:-1]
    told_anew = replace(rows[5], pnl=Micros(1))
    after = reduce_risk(RiskView(exits=rows[1:9]), AlertsSeen(NOW, (), (), (told_anew, rows[20])))
    assert [one.at - NOW for one in after.exits] == [20, 8, 7, 6, 5, 4, 3, 2, 1]
    assert after.exits[4] == told_anew


# -- monitors at the prices of now --------------------------------------------------------------

HELD = replace(
    STATE.positions[0],
    shares=Micros(33 * ONE),
    cost=Micros(11 * ONE),
    average=0.37,
    mark_price=0.41,
    exit_value=Micros(13 * ONE),
)
MARKETS = {HELD.market_id: replace(STATE.markets[HELD.market_id], status=MarketStatus.ACTIVE)}


def guard(**other: object) -> MonitorView:
    return monitor_of(HELD.market_id, side=HELD.side, **other)


def test_a_monitor_takes_its_figures_from_the_position_it_guards() -> None:
    known = guard(question="as set", stop_loss_pct=0.2, take_profit_pct=0.3, automatic=True)
    (monitor,) = marked(RiskView((known,)), (HELD,), MARKETS).monitors
    assert monitor == replace(
        known,
        question=HELD.question,
        shares=Micros(33 * ONE),
        cost=Micros(11 * ONE),
        entry=0.37,
        mark=0.41,
        exit_value=Micros(13 * ONE),
        state=MonitorState.WATCHING,
    )
    bare = replace(HELD, question="", average=None)
    (monitor,) = marked(RiskView((known,)), (bare,), MARKETS).monitors
    assert (monitor.question, monitor.entry) == ("as set", known.entry)
    for foreign in (
        replace(HELD, venue=Venue.EVM),
        replace(HELD, shares=Micros(0)),
    ):
        risk = RiskView((known,))
        assert marked(risk, (foreign,), MARKETS) is risk


@pytest.mark.parametrize(
    ("alert", "status", "shares", "state"),
    [
        (None, MarketStatus.ACTIVE, 1, MonitorState.WATCHING),
        (None, MarketStatus.ACTIVE, 0, MonitorState.NOT_HELD),
        (None, MarketStatus.CLOSED, 1, MonitorState.CLOSED),
        (None, None, 1, MonitorState.WATCHING),
        (AlertState.PENDING, MarketStatus.CLOSED, 0, MonitorState.BREACHED),
        (AlertState.FAILED, MarketStatus.ACTIVE, 1, MonitorState.BREACHED),
        (AlertState.EXITING, MarketStatus.ACTIVE, 1, MonitorState.EXITING),
        (AlertState.UNKNOWN, MarketStatus.ACTIVE, 1, MonitorState.EXITING),
        (AlertState.EXECUTED, MarketStatus.ACTIVE, 1, MonitorState.WATCHING),
    ],
)
def test_a_monitor_says_how_far_its_guard_has_come(
    alert: AlertState | None, status: MarketStatus | None, shares: int, state: MonitorState
) -> None:
    known = guard(shares=Micros(shares))
    breach = alert_of(market_id=HELD.market_id, side=HELD.side, state=alert or AlertState.ENDED)
    markets = {} if status is None else {HELD.market_id: replace(MARKETS[HELD.market_id])}
    if status is not None:
        markets = {one: replace(market, status=status) for one, market in markets.items()}
    risk = RiskView((known,), () if alert is None else (breach,))
    (monitor,) = marked(risk, (), markets).monitors
    assert monitor == replace(known, state=state)


@pytest.mark.parametrize(
    ("reason", "stop", "target"),
    [("stop loss", 0.22, None), ("take profit", None, 0.22), ("the service's own", None, None)],
)
def test_a_monitor_that_breached_stays_until_its_alert_has_ended(
    reason: str, stop: float | None, target: float | None
) -> None:
    alert = alert_of(reason=reason, entry=0.5, threshold_pct=0.22, side=Side.NO, market_id="m4")
    (monitor,) = marked(RiskView(alerts=(alert,)), (), {}).monitors
    assert monitor == MonitorView(
        market_id="m4",
        question="Rain?",
        side=Side.NO,
        venue=Venue.SIM,
        shares=SHARES,
        cost=Micros(25 * ONE),
        entry=0.5,
        mark=0.39,
        exit_value=None,
        stop_loss_pct=stop,
        take_profit_pct=target,
        state=MonitorState.BREACHED,
        is_spent=True,
    )
    spent = RiskView((monitor,), (replace(alert, state=AlertState.EXECUTED),))
    assert marked(spent, (), {}).monitors == ()


def test_a_breach_without_its_entry_or_its_shares_has_cost_nothing_that_is_known() -> None:
    for alert in (alert_of(entry=None), alert_of(entry=0.5, shares=Micros(0))):
        (monitor,) = marked(RiskView(alerts=(alert,)), (), {}).monitors
        assert monitor.cost == 0


def test_a_monitor_that_watches_again_stands_for_its_breach() -> None:
    alert = alert_of(entry=0.5)
    anew = monitor_of(stop_loss_pct=0.1)
    (monitor,) = marked(RiskView((anew,), (alert,)), (), {}).monitors
    assert monitor == replace(anew, state=MonitorState.BREACHED)
    older = alert_of("a0", breached_at=at(-50), state=AlertState.EXITING)
    (monitor,) = marked(RiskView((anew,), (alert, older)), (), {}).monitors
    assert monitor.state is MonitorState.BREACHED, "the newest breach counts"
    elsewhere = alert_of("a2", market_id="m9", entry=0.3)
    rows = marked(RiskView((anew,), (alert, elsewhere)), (), {}).monitors
    assert [(one.market_id, one.is_spent) for one in rows] == [("m", False), ("m9", True)]
