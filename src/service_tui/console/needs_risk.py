"""Needs of alerts, signals and prices: rows with a deadline. Pure."""

from collections.abc import Iterator
from typing import Final

from rich.text import Text

from service_tui.console import formats, needs_fleet
from service_tui.console.freshness import is_private
from service_tui.console.keys import cap
from service_tui.console.questions import short_question, side_question
from service_tui.console.ranking import LAST_S, Need
from service_tui.console.reasons import without_amounts
from service_tui.desk.freshness import age_s
from service_tui.desk.slices.reactor import Policy, SignalView
from service_tui.desk.slices.risk import AlertState, AlertView
from service_tui.desk.slices.topics import Topic
from service_tui.desk.state import DeskState
from service_tui.terms import Venue
from service_tui.units import Micros, Timestamp

UNSOLD_FOR_S: Final = 86_400.0
"""An alert that expired unsold is listed for a day."""

PRICE_ALERT_LISTED_S: Final = 3_600.0
"""A price alert that fired is listed for an hour."""

BRIEFED_WITHIN_S: Final = 1_800.0
"""Without a briefing for longer, alerts may have come and gone."""

_UNSOLD: Final = frozenset({AlertState.EXPIRED, AlertState.MISSED})


def of_risk(state: DeskState, now: Timestamp) -> Iterator[Need]:
    """Rows about alerts, signals and price alerts."""
    for alert in state.risk.open_alerts:
        yield _open_alert(alert, state, now)
    yield from _heartbeat(state, now)
    yield from _unsold(state, now)
    yield from _breaker(state, now)
    for signal in waiting_signals(state, now):
        yield _signal(signal, now)
    yield from _fired_price_alerts(state, now)


def is_last(alert: AlertView, now: Timestamp) -> bool:
    """True if an alert that waits for its exit is in its last ten minutes."""
    return alert.state.is_open and 0 < alert.left_s(now) <= LAST_S


def last_alerts(state: DeskState, now: Timestamp) -> frozenset[str]:
    """Names of the alerts in their last ten minutes; cached ones are over."""
    if state.from_cache:
        return frozenset()
    own = (alert.exit_name for alert in state.risk.open_alerts if is_last(alert, now))
    others = (need.key for need in state.supervision.needs if needs_fleet.is_last(need, now))
    return frozenset((*own, *others))


def waiting_signals(state: DeskState, now: Timestamp) -> tuple[SignalView, ...]:
    """The signals that wait for a person, not for their turn."""
    return tuple(
        signal
        for signal in state.reactor.waiting
        if signal.left_s(now) > 0 and state.reactor.policy_of(signal.wallet) is Policy.ASK
    )


def _open_alert(alert: AlertView, state: DeskState, now: Timestamp) -> Need:
    """A breach that waits for its exit; in its last ten minutes in red, and in another word."""
    last = is_last(alert, now)
    held = state.position(alert.holding)
    worth = (
        None if alert.trigger_price is None else Micros(round(alert.shares * alert.trigger_price))
    )
    if held is not None and held.exit_value is not None:
        worth = held.exit_value
    return Need(
        key=f"alert {alert.alert_id}",
        tone="breach",
        glyph="!" if last else "▼",
        word="LAST 10m" if last else "alert",
        what=_about(alert),
        figure=Text(),
        otherwise="expires unsold",
        screen="monitors",
        row=alert.alert_id,
        note=without_amounts(alert.detail, masked=is_private(state)),
        is_real=alert.venue is not Venue.SIM,
        left_s=alert.left_s(now),
        money=worth,
        verb="Sell",
        act="monitors.exit",
        is_last=last,
        is_pinned=True,
    )


def _heartbeat(state: DeskState, now: Timestamp) -> Iterator[Need]:
    if state.risk.briefing_late:
        # Source: spec, "Limits": at least every 30 minutes, or alerts come and go unseen.
        lost = (age_s(state, Topic.BRIEFING, now) or 0.0) > BRIEFED_WITHIN_S
        yield Need(
            key="briefing",
            tone="breach" if lost else "warn",
            glyph="✗" if lost else "!",
            word="heartbeat",
            what=formats.plain(state.risk.briefing_late).plain,
            figure=Text(),
            otherwise="alerts may expire unseen",
            screen="settings",
            left_s=0.0 if lost else None,
            verb="Refresh",
            act="app.refresh",
        )


def _unsold(state: DeskState, now: Timestamp) -> Iterator[Need]:
    for alert in state.risk.alerts:
        if alert.state in _UNSOLD and now - alert.expires_at <= UNSOLD_FOR_S:
            yield Need(
                key=f"alert {alert.alert_id}",
                tone="loss",
                glyph="✗",
                word=alert.state.value,
                what=_about(alert),
                figure=formats.age(alert.expires_at, now),
                is_clock=True,
                otherwise="the position stays open",
                screen="monitors",
                row=alert.alert_id,
                note=f"nothing sold; {cap('app.portfolio')} shows the position",
                is_real=alert.venue is not Venue.SIM,
                is_dismissable=True,
            )


def _about(alert: AlertView) -> str:
    price = formats.price(alert.trigger_price).plain
    return f"{alert.reason} at {price}, {side_question(alert.side, alert.question)}"


def _breaker(state: DeskState, now: Timestamp) -> Iterator[Need]:
    """A breaker that blocks signals."""
    reactor = state.reactor
    if reactor.is_enabled and reactor.breaker.is_paused(now):
        left = reactor.breaker.left_s(now)
        yield Need(
            key="breaker",
            tone="loss",
            glyph="■",
            word="breaker",
            what="Reactor paused: signals skipped",
            figure=Text(),
            otherwise="resets automatically",
            screen="reactor",
            left_s=left,
            verb="Reset",
            act="reactor.reset",
            topic="circuit breakers",
        )


def _signal(signal: SignalView, now: Timestamp) -> Need:
    dear = "price above the mirror limit" if signal.is_too_dear else ""
    drift = signal.drift
    return Need(
        key=f"signal {signal.signal_id}",
        tone="warn",
        glyph="○",
        word="signal",
        what=side_question(signal.side, signal.question),
        figure=Text() if drift is None else formats.points(drift).append(" pt"),
        otherwise="expires",
        screen="reactor",
        row=signal.signal_id,
        note=dear,
        left_s=signal.left_s(now),
        is_real=signal.venue is not Venue.SIM,
        money=signal.amount,
        verb="Mirror",
        act="reactor.mirror",
        kind="signals",
        # ours: a signal of a wallet without a name is folded by its address.
        group=formats.plain(signal.label).plain or formats.address(signal.wallet).plain,
        market=short_question(signal.question),
        edge=drift,
        topic=needs_fleet.SIGNALS,
    )


def _fired_price_alerts(state: DeskState, now: Timestamp) -> Iterator[Need]:
    """Price alerts that fired a short while ago."""
    for alert in state.risk.price_alerts:
        if alert.triggered_at is not None and now - alert.triggered_at <= PRICE_ALERT_LISTED_S:
            yield Need(
                key=f"price {alert.alert_id}",
                tone="accent",
                glyph="◷",
                word="price",
                what=f"{alert.describe()}: {short_question(alert.question)}",
                figure=formats.price(alert.triggered_price),
                otherwise="leaves this list after an hour",
                screen="monitors",
                row=alert.alert_id,
                kind="price alerts fired",
                note=f"{cap('monitors.remove')} in Monitors removes it",
                is_dismissable=True,
                topic="price alerts",
            )
