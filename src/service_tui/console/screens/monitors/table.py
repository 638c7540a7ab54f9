"""The tables of the monitors screen: monitors, alerts, exits, price alerts."""

from collections.abc import Callable
from typing import Final, TypeAlias

from rich.text import Text

from service_tui.console import formats
from service_tui.console.forms.monitor_draft import trail_text
from service_tui.console.freshness import is_answered, not_loaded_text
from service_tui.console.keys import with_keys
from service_tui.console.table_spec import (
    TableSpec,
    amount_column,
    date_column,
    market_column,
    price_column,
    side_column,
    venue_market_column,
    word_column,
)
from service_tui.console.view_context import ViewContext
from service_tui.console.widgets.columns import Column
from service_tui.desk.slices.risk import (
    AlertState,
    AlertView,
    ExitView,
    MonitorState,
    MonitorView,
    PriceAlertView,
    seller,
)
from service_tui.desk.slices.service import Phase
from service_tui.desk.slices.topics import Topic
from service_tui.desk.state import DeskState
from service_tui.folding import folded
from service_tui.units import Micros, Timestamp, decimal

RiskRow: TypeAlias = MonitorView | AlertView | ExitView | PriceAlertView
"""Any row of the screen."""

TRACK: Final = 9
"""Cells of the bar in the table: four on each side of the entry."""

NEAR: Final = 0.25
"""A quarter of the distance left to the stop: shown in colour."""

SOON_S: Final = 600.0
"""An alert with ten minutes left of its hour is shown in colour."""

_PERCENT_MAX: Final = 4
"""Letters of a percentage without its sign: `12.5`."""

_THOUSANDS_FROM: Final = 9_999.5

_MONITOR_STATES: Final = {
    MonitorState.WATCHING: ("●", "profit"),
    MonitorState.BREACHED: ("▼", "breach"),
    MonitorState.EXITING: ("→", "warn"),
    MonitorState.NOT_HELD: ("○", "muted"),
    MonitorState.CLOSED: ("■", "muted"),
}

_ALERT_STATES: Final = {
    AlertState.PENDING: ("◷", "warn"),
    AlertState.EXITING: ("→", "warn"),
    AlertState.UNKNOWN: ("?", "breach"),
    AlertState.EXECUTED: ("✓", "profit"),
    AlertState.EXPIRED: ("✗", "muted"),
    AlertState.MISSED: ("✗", "loss"),
    AlertState.FAILED: ("!", "breach"),
    AlertState.ENDED: ("■", "muted"),
}

_WAITING: Final = {
    Phase.CONNECTING: "Connecting to the service.\n\nMonitors appear with its first answer.",
    Phase.OFFLINE: "The service cannot be reached: {problem}.\n\n{app.refresh} retries now.",
    Phase.UNAUTHORIZED: "The service refuses this key: {problem}.\n\nSettings ({app.settings}) "
    "show key and service.",
}


# -- cells of a monitor -------------------------------------------------------------------------


def monitor_state_text(monitor: MonitorView) -> Text:
    """A monitor's state, as a sign and a word."""
    glyph, tone = _MONITOR_STATES[monitor.state]
    return Text(f"{glyph} {monitor.state.value}", tone)


def kind_word(monitor: MonitorView) -> str:
    """The monitor's origin, in a word."""
    return "auto" if monitor.automatic else "manual"


def stop_text(monitor: MonitorView) -> Text:
    """The stop that would sell first; `~` before the distance of a trailing one."""
    if not monitor.is_trailing:
        return threshold_text(monitor.stop_price, monitor.stop_loss_pct, "-")
    distance = f"~{trail_text(monitor.thresholds)}"
    return Text.assemble(
        formats.price(monitor.trail_price, aligned=True), (f"{distance:>6}", "muted")
    )


def _below_entry(monitor: MonitorView) -> float | None:
    """How far the stop that sells first is below the entry, as a fraction; below 0: above it."""
    if not monitor.is_trailing or monitor.trail_price is None or not monitor.entry:
        return monitor.stop_loss_pct
    return 1.0 - monitor.trail_price / monitor.entry


def exit_left_text(monitor: MonitorView, now: Timestamp) -> Text:
    """The time until a time stop sells; `off` without one."""
    if monitor.exit_at is None:
        return Text("off", "muted")
    return Text(formats.duration(max(0.0, monitor.exit_at - now)))


def threshold_text(price: float | None, pct: float | None, sign: str) -> Text:
    """A threshold as price and as signed percent of the entry; `off` if there is none."""
    if pct is None:
        return Text("off", "muted")
    percent = f"{sign}{percent_short(pct)}"
    if sign == "+" and price is not None and price >= 1:
        return Text.assemble(("never ", "warn"), (f"{percent:>6}", "muted"))
    return Text.assemble(formats.price(price, aligned=True), (f"{percent:>6}", "muted"))


def percent_short(pct: float) -> str:
    """A fraction in percent in at most five cells, with a decimal only if it has one."""
    value = pct * 100.0
    written = f"{value:.1f}".removesuffix(".0")
    if len(written) > _PERCENT_MAX:
        written = f"{value / 1000:.0f}k" if value >= _THOUSANDS_FROM else f"{value:.0f}"
    return f"{written}%"


def nearest(monitor: MonitorView) -> float | None:
    """The rest of the shorter distance to a threshold, 0 to 1."""
    ways = [way for way in (monitor.to_stop, monitor.to_target) if way is not None]
    return min(ways, default=None)


def track(monitor: MonitorView, width: int = TRACK) -> Text:
    """The range from the stop (left) over the entry (middle) to the target (right), and the mark.

    Returns:
        `width` cells, an odd number. A side without a threshold is empty; each has its own scale.
    """
    half = (width - 1) // 2
    left = "├" + "─" * (half - 1) if monitor.floor_price is not None else " " * half
    right = "─" * (half - 1) + "┤" if monitor.take_profit_pct is not None else " " * half
    line = list(f"{left}┼{right}")
    place, ink = _mark_place(monitor, half)
    if place is None:
        return Text("".join(line), "muted")
    before, after = "".join(line[:place]), "".join(line[place + 1 :])
    return Text.assemble((before, "muted"), ("●", ink), (after, "muted"))


def bar_text(monitor: MonitorView) -> Text:
    """The range as a bar while it is watched, else the word for its state."""
    if monitor.state is MonitorState.WATCHING:
        return track(monitor)
    labels = {MonitorState.BREACHED: "▼ breach", MonitorState.CLOSED: "■ closed"}
    _, tone = _MONITOR_STATES[monitor.state]
    return Text(labels.get(monitor.state, monitor.state.value), tone)


def _mark_place(monitor: MonitorView, half: int) -> tuple[int | None, str]:
    """The mark's place on the bar, and its ink."""
    mark, entry = monitor.mark, monitor.entry
    if mark is None or entry is None:
        return None, "muted"
    if mark < entry and monitor.to_stop is not None:
        left = monitor.to_stop
        ink = "breach" if left <= 0 else "warn" if left <= NEAR else "loss"
        # Only a breach is at the very end.
        return max(int(left > 0), round(left * half)), f"bold {ink}"
    if mark > entry and monitor.to_target is not None:
        left = monitor.to_target
        return half + min(half - int(left > 0), round((1.0 - left) * half)), "bold profit"
    return half, "bold loss" if mark < entry else "bold profit" if mark > entry else "bold"


# -- cells of alerts and exits ------------------------------------------------------------------


def alert_state_text(alert: AlertView) -> Text:
    """An alert's exit, as a sign and a word."""
    glyph, tone = _ALERT_STATES[alert.state]
    return Text(f"{glyph} {alert.state.value}", tone)


def left_text(alert: AlertView, now: Timestamp) -> Text:
    """The rest of its hour, while that matters."""
    if not alert.state.is_open:
        return Text(formats.NOT_KNOWN, "muted")
    left = alert.left_s(now)
    ink = "breach" if left <= 0 else "warn" if left <= SOON_S else ""
    return Text(formats.duration(left) if left > 0 else "expired", ink)


def sold_by(row: ExitView) -> str:
    """The seller, in a word or two."""
    return seller(by_service=row.by_service)


KEPT_HERE: Final = "kept by this console only"
"""Said of a price alert that no service keeps."""


def price_alert_state(row: PriceAlertView, now: Timestamp) -> Text:
    """The state of a price alert: waiting, or when and where it fired."""
    if row.triggered_at is None and row.sent_at is not None:
        return Text("◷ looked up", "warn")
    if row.triggered_at is None:
        return Text("◷ console only" if row.is_local else "◷ armed", "muted")
    ago = formats.age(row.triggered_at, now).plain
    return Text(f"✓ {ago} ago {formats.price(row.triggered_price).plain}", "accent")


def price_now(row: PriceAlertView, state: DeskState) -> float | None:
    """The price of its side now; None if the market is not loaded."""
    market = state.markets.get(row.market_id)
    return None if market is None else market.price_of(row.side)


def points_off(row: PriceAlertView, state: DeskState) -> float | None:
    """The price's remaining distance, signed, while it waits."""
    now = price_now(row, state)
    return None if now is None or not row.is_open else row.threshold - now


def _distance(row: PriceAlertView, state: DeskState) -> float | None:
    off = points_off(row, state)
    return None if off is None else abs(off)


# -- what a search finds ------------------------------------------------------------------------


def _monitor_text(row: MonitorView, _: ViewContext) -> str:
    kind = "automatic auto" if row.automatic else "hand manual"
    return _search_text(row, row.venue.value, row.state.value, kind)


def _alert_text(row: AlertView, _: ViewContext) -> str:
    return _search_text(row, row.venue.value, row.reason, row.state.value, row.detail)


def _exit_text(row: ExitView, _: ViewContext) -> str:
    return _search_text(row, row.cause, row.venue.value)


def _price_alert_text(row: PriceAlertView, _: ViewContext) -> str:
    kept = KEPT_HERE if row.is_local and row.is_open else ""
    return _search_text(row, row.describe(), "armed" if row.is_open else "fired", kept)


def _search_text(row: RiskRow, *more: str) -> str:
    return folded("\n".join((row.question, row.market_id, row.side.value, *more)))


def _units(amount: Micros | None) -> float | None:
    return None if amount is None else decimal(amount)


# -- why there are no rows ----------------------------------------------------------------------


def _is_loaded(state: DeskState) -> bool:
    return is_answered(state, Topic.MONITORS)


def _empty(sentence: str) -> Callable[[DeskState], str]:
    """The empty text of a table that the service fills."""

    def empty_text(state: DeskState) -> str:
        service = state.service
        if _is_loaded(state):
            return with_keys(sentence)
        if service.phase in _WAITING:
            waiting = with_keys(_WAITING[service.phase])
            return waiting.replace("{problem}", service.problem or "no answer")
        return not_loaded_text("monitors")

    return empty_text


def _no_price_alert(_: DeskState) -> str:
    return with_keys(
        "No price alert.\n\n"
        "A price alert notifies you once at a price. It trades nothing.\n"
        "To add one: {markets.alert} on a row of Markets ({app.markets}) or Portfolio "
        "({app.portfolio})."
    )


# -- the tables ---------------------------------------------------------------------------------

MONITORS: Final = TableSpec[MonitorView](
    "monitors",
    rows=lambda state: state.risk.monitors,
    key=lambda row: row.key,
    columns=(
        venue_market_column(),
        side_column(),
        word_column("venue", "venue", 9, lambda row: row.venue.value, tier=148),
        amount_column("shares", "shares", 9, lambda row: row.shares, formats.shares, tier=156),
        price_column("entry", "entry", 6, lambda row: row.entry, tier=106),
        price_column("mark", "mark", 6, lambda row: row.mark),
        Column(
            "stop",
            "stop",
            12,
            lambda row, _: stop_text(row),
            sort_key=lambda row, _: _below_entry(row),
            numeric=True,
        ),
        Column(
            "way",
            "distance",
            TRACK,
            lambda row, _: bar_text(row),
            sort_key=lambda row, _: nearest(row),
        ),
        Column(
            "target",
            "target",
            12,
            lambda row, _: threshold_text(row.target_price, row.take_profit_pct, "+"),
            sort_key=lambda row, _: row.take_profit_pct,
            numeric=True,
        ),
        Column(
            "until",
            "sells in",
            8,
            lambda row, view: exit_left_text(row, view.now),
            sort_key=lambda row, _: row.exit_at,
            align="right",
            tier=140,
            glows=False,
        ),
        amount_column("exit", "sale value", 10, lambda row: row.exit_value, formats.money, tier=88),
        amount_column("pnl", "sale P&L", 9, lambda row: row.exit_pnl, formats.pnl, tier=116),
        word_column("kind", "set", 6, kind_word, tier=118),
        Column(
            "state",
            "state",
            15,
            lambda row, _: monitor_state_text(row),
            sort_key=lambda row, _: row.state.value,
            tier=134,
            fits=True,
        ),
    ),
    search_text=_monitor_text,
    empty_text=_empty(
        "No position is protected.\n\n"
        "A monitor sells all of one position at its stop or at its target (one-shot).\n\n"
        "Auto stop-loss on every buy: Settings ({app.settings}).\n"
        "To protect a position: {portfolio.monitor} in Portfolio ({app.portfolio})."
    ),
    # The row nearest to its end is on top.
    sort="way",
    compared={
        "entry": lambda row, _: row.entry,
        "mark": lambda row, _: row.mark,
        "stop": lambda row, _: row.floor_price,
        "target": lambda row, _: row.target_price,
        "way": lambda row, _: nearest(row),
        "exit": lambda row, _: _units(row.exit_value),
        "pnl": lambda row, _: _units(row.exit_pnl),
    },
    is_loaded=_is_loaded,
)

ALERTS: Final = TableSpec[AlertView](
    "alerts",
    rows=lambda state: state.risk.alerts,
    key=lambda row: row.alert_id,
    columns=(
        venue_market_column(),
        side_column(),
        Column(
            "reason",
            "breached",
            11,
            lambda row, _: formats.plain(row.reason, 20),
            sort_key=lambda row, _: row.reason,
        ),
        price_column("trigger", "trigger", 7, lambda row: row.trigger_price),
        amount_column("shares", "shares", 9, lambda row: row.shares, formats.shares, tier=92),
        Column(
            "left",
            "time left",
            9,
            lambda row, view: left_text(row, view.now),
            sort_key=lambda row, _: row.expires_at if row.state.is_open else None,
            align="right",
            glows=False,
        ),
        Column(
            "state",
            "exit",
            11,
            lambda row, _: alert_state_text(row),
            sort_key=lambda row, _: row.state.value,
        ),
        date_column("time", "when", lambda row: row.breached_at, tier=84),
        Column(
            "words",
            "status",
            30,
            lambda row, view: Text(view.sentence(row.detail), "muted"),
            tier=140,
        ),
    ),
    search_text=_alert_text,
    empty_text=_empty(
        "No alert.\n\n"
        "A breached stop or target appears here, with the time left of its hour\n"
        "and the result of the sale."
    ),
    newest_on_top=True,
    keeps_row=True,
    sort="time",
    falling=True,
    is_loaded=_is_loaded,
)

EXITS: Final = TableSpec[ExitView](
    "sales",
    rows=lambda state: state.risk.exits,
    key=lambda row: row.exit_id,
    columns=(
        date_column("time", "time", lambda row: row.at),
        venue_market_column(),
        side_column(),
        Column(
            "cause",
            "cause",
            11,
            lambda row, _: formats.plain(row.cause, 40),
            sort_key=lambda row, _: row.cause,
        ),
        price_column("trigger", "trigger", 7, lambda row: row.trigger_price),
        amount_column("shares", "shares", 9, lambda row: row.shares, formats.shares, tier=112),
        amount_column("proceeds", "proceeds", 10, lambda row: row.proceeds, formats.money),
        amount_column("pnl", "P&L", 9, lambda row: row.pnl, formats.pnl),
        word_column("by", "sold by", 13, sold_by, tier=106),
        word_column("venue", "venue", 9, lambda row: row.venue.value, tier=130),
    ),
    search_text=_exit_text,
    empty_text=_empty(
        "No stop sale yet.\n\n"
        "Positions sold by a stop or a target appear here,\n"
        "with the price that hit it, and proceeds."
    ),
    newest_on_top=True,
    sort="time",
    falling=True,
    is_loaded=_is_loaded,
)

PRICE_ALERTS: Final = TableSpec[PriceAlertView](
    "price alerts",
    rows=lambda state: state.risk.price_alerts,
    key=lambda row: row.alert_id,
    columns=(
        market_column(),
        side_column(),
        Column(
            "condition",
            "condition",
            13,
            lambda row, _: row.condition.describe,
            sort_key=lambda row, _: row.condition.value,
        ),
        price_column("threshold", "price", 6, lambda row: row.threshold),
        Column(
            "now",
            "now",
            6,
            lambda row, view: formats.price(price_now(row, view.state), aligned=True),
            sort_key=lambda row, view: price_now(row, view.state),
            numeric=True,
        ),
        Column(
            "way",
            "distance",
            10,
            lambda row, view: formats.points(points_off(row, view.state)),
            sort_key=lambda row, view: _distance(row, view.state),
            numeric=True,
            tier=88,
        ),
        Column(
            "state",
            "state",
            16,
            lambda row, view: price_alert_state(row, view.now),
            sort_key=lambda row, _: row.triggered_at,
        ),
        date_column("created", "wall since", lambda row: row.created_at, tier=104),
    ),
    search_text=_price_alert_text,
    # Some are stored on this machine: no service has to report them.
    empty_text=_no_price_alert,
    sort="created",
    falling=True,
)

TABLES: Final = (MONITORS, ALERTS, EXITS, PRICE_ALERTS)
