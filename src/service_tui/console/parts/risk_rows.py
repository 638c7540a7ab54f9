"""The four lists of the monitors screen as rows of one kind, so that one table shows each."""

from typing import Final

from service_tui.console.parts.monitor_columns import monitor_number, monitor_words
from service_tui.desk.slices.risk import AlertView, ExitView, MonitorView, PriceAlertView, RiskView

RiskRow = MonitorView | AlertView | ExitView | PriceAlertView
"""Whatever the screen lists."""

PRICE_ALERTS: Final = "price alerts"
"""These stay on this machine: no service has to tell of them."""

LISTS: Final = ("monitors", "alerts", "exits", PRICE_ALERTS)
"""Names of the lists, in their order."""


def rows_of(risk: RiskView, place: int) -> tuple[RiskRow, ...]:
    """The rows of a list, by its place in `LISTS`."""
    lists: tuple[tuple[RiskRow, ...], ...] = (
        risk.monitors,
        risk.alerts,
        risk.exits,
        risk.price_alerts,
    )
    return lists[place]


def key_of(row: RiskRow) -> str:
    """What names a row while it lives; no two of one list share it."""
    match row:
        case MonitorView():
            return row.key
        case ExitView():
            return row.exit_id
        case AlertView() | PriceAlertView():
            return row.alert_id


def words_of(row: RiskRow) -> str:
    """Everything that a search finds a row by, casefolded."""
    match row:
        case MonitorView():
            return monitor_words(row)
        case AlertView():
            rest = (row.reason, row.state.value, row.words)
        case ExitView():
            rest = (row.cause, row.venue.value)
        case PriceAlertView():
            rest = (row.in_words(), "waits" if row.is_open else "fired")
    return "\n".join((row.question, row.market_id, row.side.value, *rest)).casefold()


def number_of(row: RiskRow, column: str) -> float | None:
    """A row's value in a column that can be compared; the lists but the first have none."""
    return monitor_number(row, column) if isinstance(row, MonitorView) else None
