"""Monitors, alerts and exits of invented positions."""

from typing import Any

from kit.samples.desk import NOW
from service_tui.desk.slices.risk import AlertView, ExitView, MonitorView, PriceAlertView
from service_tui.terms import AlertCondition, Side, Venue
from service_tui.units import ONE, Micros, Timestamp

SHARES = Micros(50 * ONE)


def monitor_of(market_id: str = "m", **other: Any) -> MonitorView:
    given = {
        "question": "Rain?", "side": Side.YES, "venue": Venue.SIM, "shares": SHARES,
        "cost": Micros(25 * ONE), "entry": 0.5, "mark": 0.45, "exit_value": Micros(22 * ONE),
        "stop_loss_pct": 0.2, "take_profit_pct": None, "automatic": True,
    }  # fmt: skip
    return MonitorView(market_id=market_id, **{**given, **other})


def alert_of(alert_id: str = "a1", **other: Any) -> AlertView:
    given = {
        "market_id": "m", "question": "Rain?", "side": Side.YES, "venue": Venue.SIM,
        "shares": SHARES, "reason": "stop loss", "trigger_price": 0.39,
        "breached_at": Timestamp(NOW), "expires_at": Timestamp(NOW + 3_600),
    }  # fmt: skip
    return AlertView(alert_id=alert_id, **{**given, **other})


def exit_of(exit_id: str = "t1", **other: Any) -> ExitView:
    given = {
        "at": Timestamp(NOW), "market_id": "m", "question": "Rain?", "side": Side.YES,
        "venue": Venue.SIM, "shares": SHARES, "trigger_price": 0.39,
        "proceeds": Micros(19 * ONE), "pnl": Micros(-6 * ONE), "cause": "stop loss",
    }  # fmt: skip
    return ExitView(exit_id=exit_id, **{**given, **other})


def price_alert_of(alert_id: str = "p1", **other: Any) -> PriceAlertView:
    given = {
        "market_id": "m", "question": "Rain?", "side": Side.YES, "condition": AlertCondition.ABOVE,
        "threshold": 0.6, "created_at": Timestamp(NOW),
    }  # fmt: skip
    return PriceAlertView(alert_id=alert_id, **{**given, **other})
