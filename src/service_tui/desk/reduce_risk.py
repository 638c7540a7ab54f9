"""Reducer of monitors, alerts and exits: (slice, fact) -> slice. Pure."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Final

from service_tui.desk.changes import Changed, Loaded, Removed
from service_tui.desk.facts import Noticed
from service_tui.desk.reasons import Fix
from service_tui.desk.slices.markets import MarketView
from service_tui.desk.slices.notices import NoticeKind
from service_tui.desk.slices.positions import PositionView
from service_tui.desk.slices.risk import (
    BY_MONITOR,
    EXIT,
    REASONS,
    AlertsSeen,
    AlertState,
    AlertView,
    BriefingLate,
    ExitView,
    MonitorState,
    MonitorView,
    PriceAlertView,
    RiskFact,
    RiskView,
)
from service_tui.desk.slices.rows import in_place
from service_tui.desk.slices.tickets import TicketState, TicketView
from service_tui.desk.slices.trades import TradeView
from service_tui.terms import MONEY_OF, Action, ExitReason, Venue, venue_marked
from service_tui.units import ONE, Micros

ALERTS_MAX: Final = 200
EXITS_MAX: Final = 200
"""What the state keeps of endless things; the service keeps the rest."""

BY_SERVICE: Final = "exit by the service"
BY_HOLDER: Final = "exit by the program that holds this data directory"
_ELSEWHERE: Final = "closed without an exit by this desk: handled by another client"


RISK_KINDS: Final = frozenset({MonitorView, AlertView, PriceAlertView})


def reduce_risk(risk: RiskView, fact: RiskFact) -> RiskView:  # noqa: C901, PLR0912  (a closed union)
    """The slice after a fact; the caller updates it to current prices."""
    match fact:
        case Loaded():
            changed = replace(risk, monitors=fact.of(MonitorView))
        case Changed(row=MonitorView() as monitor):
            changed = replace(risk, monitors=_with_monitor(risk.monitors, monitor))
        case Changed(row=AlertView() as alert):
            changed = replace(risk, alerts=_with_alert(risk.alerts, alert))
        case Changed(row=PriceAlertView() as alert):
            alerts = _with_price_alert(risk.price_alerts, alert)
            changed = replace(risk, price_alerts=alerts)
        case Removed() if fact.kind is MonitorView:
            left = tuple(one for one in risk.monitors if one.key != fact.key)
            changed = replace(risk, monitors=left)
        case Removed():
            alerts = tuple(one for one in risk.price_alerts if one.alert_id != fact.key)
            changed = replace(risk, price_alerts=alerts)
        case AlertsSeen():
            sold = {one.exit_id for one in risk.exits if one.by_service}
            exits = _merged(
                tuple(
                    replace(one, by_service=one.by_service or one.exit_id in sold)
                    for one in fact.exits
                ),
                risk.exits,
            )
            changed = replace(risk, alerts=_with_alerts(risk, fact), exits=exits)
        case BriefingLate():
            changed = replace(risk, briefing_late=fact.text)
        case _:
            raise TypeError(f"no fact of risk: {fact}")
    return changed


def marked(
    risk: RiskView, positions: tuple[PositionView, ...], markets: Mapping[str, MarketView]
) -> RiskView:
    """The slice with every monitor at the prices of now; unchanged, it is the same object."""
    alerts = {one.holding: one for one in reversed(risk.alerts) if one.state.is_open}
    if not risk.monitors and not alerts:
        return risk
    held = {position.key: position for position in positions if position.shares > 0}
    watching = [one for one in risk.monitors if not one.is_spent]
    listed = {one.key for one in watching}
    spent = [_spent(alert) for place, alert in alerts.items() if place not in listed]
    monitors = tuple(
        _marked(
            one,
            held.get(one.key),
            markets.get(one.market_id),
            alerts.get(one.key),
        )
        for one in (*watching, *spent)
    )
    return risk if monitors == risk.monitors else replace(risk, monitors=monitors)


def _spent(alert: AlertView) -> MonitorView:
    """The monitor of an alert: a service forgets it at the breach, the person wants to see it."""
    by_stop = alert.reason == REASONS[ExitReason.STOP_LOSS]
    by_target = alert.reason == REASONS[ExitReason.TAKE_PROFIT]
    return MonitorView(
        market_id=alert.market_id,
        question=alert.question,
        side=alert.side,
        venue=alert.venue,
        shares=alert.shares,
        cost=Micros(round((alert.entry or 0.0) * alert.shares)),
        entry=alert.entry,
        mark=alert.trigger_price,
        exit_value=None,
        stop_loss_pct=alert.threshold_pct if by_stop else None,
        take_profit_pct=alert.threshold_pct if by_target else None,
        is_spent=True,
    )


def _marked(
    monitor: MonitorView,
    position: PositionView | None,
    market: MarketView | None,
    alert: AlertView | None,
) -> MonitorView:
    """One monitor with the figures of its position and market, if those are known."""
    if position is not None:
        monitor = replace(
            monitor,
            question=position.question or monitor.question,
            shares=position.shares,
            cost=position.cost,
            entry=position.average if position.average is not None else monitor.entry,
            mark=position.mark_price,
            exit_value=position.exit_value,
        )
    return replace(monitor, state=_state_of(monitor, market, alert))


def _state_of(
    monitor: MonitorView, market: MarketView | None, alert: AlertView | None
) -> MonitorState:
    if alert is not None:
        is_leaving = alert.state in {AlertState.EXITING, AlertState.UNKNOWN}
        return MonitorState.EXITING if is_leaving else MonitorState.BREACHED
    if market is not None and not market.is_open:
        return MonitorState.CLOSED
    return MonitorState.WATCHING if monitor.shares > 0 else MonitorState.NOT_HELD


def _with_monitor(
    monitors: tuple[MonitorView, ...], monitor: MonitorView
) -> tuple[MonitorView, ...]:
    return in_place(monitors, monitor, lambda one: one.key) or (*monitors, monitor)


def _with_price_alert(
    alerts: tuple[PriceAlertView, ...], alert: PriceAlertView
) -> tuple[PriceAlertView, ...]:
    return in_place(alerts, alert, lambda one: one.alert_id) or (alert, *alerts)


# -- alerts ------------------------------------------------------------------------------------


def _with_alerts(risk: RiskView, fact: AlertsSeen) -> tuple[AlertView, ...]:
    """The alerts after a listing: what this desk did with one is known better here."""
    known = {alert.alert_id: alert for alert in risk.alerts}
    listed = {alert.alert_id: alert for alert in (*fact.ended, *fact.waiting)}
    rows = {
        alert_id: _with_own_exit(alert, known.get(alert_id), executes=risk.executes)
        for alert_id, alert in listed.items()
    }
    gone = {alert_id: one for alert_id, one in known.items() if alert_id not in listed}
    rows |= {alert_id: _left(one, fact) for alert_id, one in gone.items()}
    return _newest(rows.values())


def _with_own_exit(listed: AlertView, known: AlertView | None, *, executes: bool) -> AlertView:
    """An alert from the service, with what this desk knows of its exit."""
    if known is None or not known.attempts:
        by_whom = BY_SERVICE if listed.managed else "" if executes else BY_HOLDER
        return replace(listed, detail=listed.detail or by_whom) if listed.state.is_open else listed
    tried = replace(listed, ticket_id=known.ticket_id, attempts=known.attempts)
    if listed.state.is_open:
        return replace(tried, state=known.state, detail=known.detail)
    if listed.state is AlertState.EXPIRED:
        return replace(tried, state=AlertState.MISSED, detail=known.detail)
    # This desk's own reason is more exact than the general one.
    own = known.detail if listed.state is known.state else ""
    return replace(tried, detail=own or listed.detail or known.detail)


def _left(known: AlertView, fact: AlertsSeen) -> AlertView:
    """An alert that the service no longer lists."""
    if not known.state.is_open or known.state in {AlertState.EXITING, AlertState.UNKNOWN}:
        return known
    if known.expires_at <= fact.at:
        state = AlertState.MISSED if known.attempts else AlertState.EXPIRED
        return replace(known, state=state, detail=known.detail or EXPIRED_TEXT)
    return replace(known, state=AlertState.ENDED, detail=_ELSEWHERE)


EXPIRED_TEXT: Final = "expired unsold: position no longer protected"


def _with_alert(alerts: tuple[AlertView, ...], alert: AlertView) -> tuple[AlertView, ...]:
    rows = {one.alert_id: one for one in alerts}
    return _newest({**rows, alert.alert_id: alert}.values())


def _newest(alerts: Iterable[AlertView]) -> tuple[AlertView, ...]:
    """Newest breach first, at most `ALERTS_MAX`; what is open is never among those forgotten."""
    ordered = sorted(alerts, key=lambda one: one.breached_at, reverse=True)
    waiting = [one for one in ordered if one.state.is_open]
    ended = [one for one in ordered if not one.state.is_open]
    kept = {one.alert_id for one in (*waiting, *ended[: max(0, ALERTS_MAX - len(waiting))])}
    return tuple(one for one in ordered if one.alert_id in kept)


def with_ticket(risk: RiskView, ticket: TicketView) -> RiskView:
    """The slice once an exit was found to have happened; its alert may not be listed any more."""
    alert = next((one for one in risk.alerts if one.ticket_id == ticket.ticket_id), None)
    if alert is None or ticket.state is not TicketState.DONE or not alert.state.is_open:
        return risk
    sold = replace(alert, state=AlertState.EXECUTED, detail=f"sold: {ticket.outcome}")
    return replace(risk, alerts=_with_alert(risk.alerts, sold))


def news_of(before: RiskView, after: RiskView, *, is_first: bool) -> Iterator[Noticed]:
    """Notices about changes in a listing of alerts.

    Args:
        before: the slice before it.
        after: the slice after it.
        is_first: the desk has just opened; of earlier ends only losses are reported, in one notice.

    Yields:
        A notice each.
    """
    known = {alert.alert_id: alert for alert in before.alerts}
    news = [one for one in after.alerts if _is_news(one, known.get(one.alert_id))]
    lost = [one for one in news if one.state in _LOST]
    for alert in news:
        about, event = _about(alert), alert.exit_name
        if alert.state.is_open:
            text = f"{about}: {alert.detail or 'sale pending'}"
            yield Noticed("bad", text, NoticeKind.ALERT, event)
        elif alert.state in _LOST and not is_first:
            yield Noticed("bad", f"{about}: {alert.detail}", NoticeKind.ALERT, event)
        elif alert.state is AlertState.EXECUTED and not alert.attempts and not is_first:
            text = _stopped_text(alert, after.exits) or f"{about}: sold, not by this desk"
            yield Noticed("warn", text, NoticeKind.EXIT, event)
    if lost and is_first:
        noun = "alert" if len(lost) == 1 else "alerts"
        text = f"{len(lost)} {noun} expired unsold"
        yield Noticed("bad", text, NoticeKind.ALERT, fix=Fix.SEE_ALERTS)


_LOST: Final = frozenset({AlertState.EXPIRED, AlertState.MISSED})


def _is_news(alert: AlertView, old: AlertView | None) -> bool:
    """True if an alert is new, or ended since the last listing."""
    if old is None:
        return True
    return old.state.is_open and not alert.state.is_open


def _stopped_text(alert: AlertView, exits: tuple[ExitView, ...]) -> str:
    """Market, proceeds and P&L of an exit that this desk did not make; empty while not known."""
    one = exit_of(alert, exits)
    if one is None:
        return ""
    done = (
        "Stopped out" if alert.reason == REASONS[ExitReason.STOP_LOSS] else f"Sold, {alert.reason}"
    )
    unit = "" if one.venue is Venue.SIM else f" {MONEY_OF[one.venue]}"
    pnl = "" if one.pnl is None else f", P&L {one.pnl / ONE:+,.2f}"
    text = (
        f"{done}: {alert.side.value.upper()} {alert.question or alert.market_id}, "
        f"{one.proceeds / ONE:,.2f}{unit}{pnl}"
    )
    return venue_marked(text, alert.venue)


def exit_of(alert: AlertView, exits: tuple[ExitView, ...]) -> ExitView | None:
    """The exit that ended an alert; None while there is none."""
    sale = (alert.market_id, alert.side, alert.venue, alert.trigger_price)
    return next(
        (
            one
            for one in exits
            if (one.market_id, one.side, one.venue, one.trigger_price) == sale
            and one.at >= alert.breached_at
        ),
        None,
    )


def _about(alert: AlertView) -> str:
    at = "" if alert.trigger_price is None else f" at {alert.trigger_price:.4f}"
    text = venue_marked(f"{alert.reason}, {alert.side.value.upper()}{at}", alert.venue)
    return f"{text}, {alert.question or alert.market_id}"


# -- exits -------------------------------------------------------------------------------------


def with_trades(risk: RiskView, trades: tuple[TradeView, ...]) -> RiskView:
    """The slice with the exits among the agent's own trades; a service may keep no history."""
    alerts = {one.exit_name: one for one in risk.alerts}
    by_service = {one.trade_id for one in trades if one.source.startswith(BY_MONITOR)}
    known = tuple(
        replace(one, by_service=True) if one.exit_id in by_service else one for one in risk.exits
    )
    known_ids = {one.exit_id for one in risk.exits}
    found: list[ExitView] = []
    for trade in trades:
        name = trade.client_ref.rpartition(".")[0]
        is_exit = name.startswith(EXIT) and trade.action == Action.SELL.value
        if is_exit and trade.shares > 0 and name not in known_ids:
            found.append(_exit_of(trade, alerts.get(name)))
    exits = _merged(known, tuple(found))
    return risk if exits == risk.exits else replace(risk, exits=exits)


def _exit_of(trade: TradeView, alert: AlertView | None) -> ExitView:
    return ExitView(
        exit_id=trade.trade_id,
        at=trade.at,
        market_id=trade.market_id,
        question=trade.question,
        side=trade.side,
        venue=trade.venue,
        shares=trade.shares,
        trigger_price=None if alert is None else alert.trigger_price,
        proceeds=trade.cost,
        pnl=trade.pnl,
        cause="exit of an alert" if alert is None else alert.reason,
    )


def _merged(listed: tuple[ExitView, ...], known: tuple[ExitView, ...]) -> tuple[ExitView, ...]:
    """Both lists, each exit once and as in the first; newest first."""
    rows = {one.exit_id: one for one in (*reversed(known), *reversed(listed))}
    return tuple(sorted(rows.values(), key=lambda one: one.at, reverse=True)[:EXITS_MAX])
