"""The columns of alerts, exits and price alerts."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from rich.text import Text

from service_tui.console import formats
from service_tui.console.amounts import told
from service_tui.console.parts.standard_columns import (
    amount_column,
    date_column,
    market_column,
    price_column,
    side_column,
)
from service_tui.console.widgets.columns import Column
from service_tui.desk.slices.risk import AlertState, AlertView, ExitView, PriceAlertView
from service_tui.desk.state import DeskState
from service_tui.units import Timestamp

SOON_S: Final = 600.0
"""An alert with ten minutes left of its hour is worth a colour."""

_STATES: Final = {
    AlertState.PENDING: ("◷", "warn"),
    AlertState.EXITING: ("→", "warn"),
    AlertState.UNKNOWN: ("?", "breach"),
    AlertState.EXECUTED: ("✓", "profit"),
    AlertState.EXPIRED: ("✗", "muted"),
    AlertState.MISSED: ("✗", "loss"),
    AlertState.FAILED: ("!", "breach"),
    AlertState.ENDED: ("■", "muted"),
}


@dataclass(frozen=True, slots=True)
class Look:
    """What cells need beside the row: the state, wall time, and whether amounts are masked."""

    state: DeskState
    now: Timestamp
    masked: bool


def alert_state_text(alert: AlertView) -> Text:
    """How far its exit has come, in a sign and a word."""
    glyph, tone = _STATES[alert.state]
    return Text(f"{glyph} {alert.state.value}", tone)


def left_text(alert: AlertView, now: Timestamp) -> Text:
    """What is left of its hour, while that matters."""
    if not alert.state.is_open:
        return Text(formats.NOT_KNOWN, "muted")
    left = alert.left_s(now)
    ink = "breach" if left <= 0 else "warn" if left <= SOON_S else ""
    return Text(formats.duration(left) if left > 0 else "passed", ink)


def sold_by(row: ExitView) -> str:
    """Who sold, in a word or two."""
    return "service" if row.by_service else "this desk"


def alert_columns(look: Callable[[], Look]) -> tuple[Column[AlertView], ...]:
    """The columns of the alerts, from left to right."""

    def masked() -> bool:
        return look().masked

    return (
        market_column(),
        side_column(),
        Column[AlertView](
            "reason",
            "breached",
            11,
            lambda row: formats.plain(row.reason, 20),
            sort_key=lambda row: row.reason,
        ),
        price_column("trigger", "trigger", 7, lambda row: row.trigger_price),
        amount_column(
            "shares", "shares", 9, lambda row: row.shares, formats.shares, masked, tier=92
        ),
        Column[AlertView](
            "left",
            "time left",
            9,
            lambda row: left_text(row, look().now),
            sort_key=lambda row: row.expires_at if row.state.is_open else None,
            align="right",
            glows=False,
        ),
        Column[AlertView](
            "state", "exit", 11, alert_state_text, sort_key=lambda row: row.state.value
        ),
        date_column("time", "when", lambda row: row.breached_at, tier=84),
        Column[AlertView](
            "words",
            "how it stands",
            30,
            lambda row: Text(told(formats.plain(row.words).plain, masked=look().masked), "muted"),
            tier=140,
        ),
    )


def exit_columns(look: Callable[[], Look]) -> tuple[Column[ExitView], ...]:
    """The columns of the exits that happened, from left to right."""

    def masked() -> bool:
        return look().masked

    return (
        date_column("time", "time", lambda row: row.at),
        market_column(),
        side_column(),
        Column[ExitView](
            "cause",
            "cause",
            11,
            lambda row: formats.plain(row.cause, 40),
            sort_key=lambda row: row.cause,
        ),
        price_column("trigger", "trigger", 7, lambda row: row.trigger_price),
        amount_column(
            "shares", "shares", 9, lambda row: row.shares, formats.shares, masked, tier=92
        ),
        amount_column(
            "proceeds", "proceeds $", 10, lambda row: row.proceeds, formats.money, masked
        ),
        amount_column("pnl", "P&L $", 9, lambda row: row.pnl, formats.pnl, masked),
        Column[ExitView](
            "by",
            "sold by",
            9,
            sold_by,
            sort_key=sold_by,
            tier=106,
        ),
        Column[ExitView](
            "venue",
            "venue",
            9,
            lambda row: row.venue.value,
            sort_key=lambda row: row.venue.value,
            tier=130,
        ),
    )


def price_alert_columns(look: Callable[[], Look]) -> tuple[Column[PriceAlertView], ...]:
    """The columns of the price alerts, from left to right."""
    return (
        market_column(),
        side_column(),
        Column[PriceAlertView](
            "condition",
            "tell when",
            13,
            lambda row: row.condition.in_words,
            sort_key=lambda row: row.condition.value,
        ),
        price_column("threshold", "price", 6, lambda row: row.threshold),
        price_column("now", "now", 6, lambda row: price_now(row, look().state)),
        Column[PriceAlertView](
            "way",
            "points off",
            10,
            lambda row: formats.points(points_off(row, look().state)),
            sort_key=lambda row: _far(row, look().state),
            numeric=True,
            tier=88,
        ),
        Column[PriceAlertView](
            "state",
            "state",
            16,
            lambda row: price_alert_state(row, look().now),
            sort_key=lambda row: row.triggered_at,
        ),
        date_column("created", "since", lambda row: row.created_at, tier=104),
    )


def price_alert_state(row: PriceAlertView, now: Timestamp) -> Text:
    """Whether it waits, or when and where it fired."""
    if row.triggered_at is None:
        return Text("◷ waits", "muted")
    ago = formats.age(row.triggered_at, now).plain
    return Text(f"✓ {ago} ago {formats.price(row.triggered_price).plain}", "accent")


def price_now(row: PriceAlertView, state: DeskState) -> float | None:
    """The price of its side now; None where the market is not known."""
    market = state.markets.get(row.market_id)
    return None if market is None else market.price_of(row.side)


def points_off(row: PriceAlertView, state: DeskState) -> float | None:
    """How far the price still has to go, signed, while it waits."""
    now = price_now(row, state)
    return None if now is None or not row.is_open else row.threshold - now


def _far(row: PriceAlertView, state: DeskState) -> float | None:
    off = points_off(row, state)
    return None if off is None else abs(off)
