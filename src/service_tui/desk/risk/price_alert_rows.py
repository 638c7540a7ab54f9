"""Price alerts as rows of the disk, rows of the wire, and texts."""

import logging
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Final

from service_tui.desk.answer_check import is_same
from service_tui.desk.slices.orders import moment_text
from service_tui.desk.slices.risk import PriceAlertView
from service_tui.desk.wire_values import moment_or_none
from service_tui.records import Named, fields_of_record, read
from service_tui.storage.errors import StorageError
from service_tui.storage.price_alerts import PriceAlerts
from service_tui.units import Timestamp
from service_tui.wire.alerts import PriceAlertBody
from service_tui.wire.base import timestamp

log = logging.getLogger(__name__)

LATE_S: Final = 60.0
"""What fired longer ago is told with its time."""

NEAR_S: Final = 60.0
"""ours: two times of one alert, by two clocks and with a call between, are no further apart."""

ONLY_HERE: Final = "kept by this console only"
"""Said of an alert that no service keeps."""

Place = tuple[str, str]
"""Identity of an alert at the service: its id and the second in which it was set, as the ids of a
world that began anew begin anew as well."""


def place_of(alert: PriceAlertView) -> Place:
    """Identity of an alert that the service keeps."""
    return alert.service_id, f"{alert.created_at:.0f}"


@dataclass(frozen=True, slots=True)
class Listed:
    """What the service listed, the fired included.

    `addressed` are those with a webhook of their own: a program has set them. `is_whole`: no row
    was unreadable, so that what is not among them is not there. `asked_at` is when it was asked.
    """

    rows: dict[Place, PriceAlertView]
    addressed: frozenset[Place]
    is_whole: bool
    asked_at: Timestamp


def listed_of(bodies: Iterable[PriceAlertBody], asked_at: Timestamp, dropped: int) -> Listed:
    """The alerts of the service; of one that is named twice the last holds."""
    rows: dict[Place, PriceAlertView] = {}
    addressed: set[Place] = set()
    for body in bodies:
        row = alert_of(body)
        rows[place_of(row)] = row
        if body.webhook_url is not None:
            addressed.add(place_of(row))
    return Listed(rows, frozenset(addressed), not dropped, asked_at)


def alert_of(body: PriceAlertBody) -> PriceAlertView:
    """An alert of the service as it is shown."""
    created_at, triggered_at = timestamp(body.created_at), moment_or_none(body.triggered_at)
    price = body.threshold if body.triggered_price is None else body.triggered_price
    return PriceAlertView(
        alert_id=f"{body.id}@{created_at:.0f}",
        market_id=body.market_id,
        question=body.market_question,
        side=body.side,
        condition=body.condition,
        threshold=body.threshold,
        created_at=created_at,
        triggered_at=triggered_at,
        triggered_price=None if triggered_at is None else price,
        service_id=body.id,
    )


def may_be(mine: PriceAlertView, row: PriceAlertView) -> bool:
    """True if an alert without the service's id may be this one of the service."""
    if (mine.market_id, mine.side, mine.condition) != (row.market_id, row.side, row.condition):
        return False
    if not is_same(mine.threshold, row.threshold):
        return False
    if mine.sent_at is not None:
        return row.created_at >= mine.sent_at - NEAR_S
    if not mine.is_open:
        # An earlier console set the same alert at the service, and told of it itself.
        return abs(row.created_at - mine.created_at) <= NEAR_S
    return row.triggered_at is None or row.triggered_at >= mine.created_at - NEAR_S


def after_price(alert: PriceAlertView, price: float, at: Timestamp) -> PriceAlertView:
    """A price alert after a price of its side.

    Returns:
        The alert armed or fired; the same object where nothing changed.
    """
    condition, threshold = alert.condition, alert.threshold
    if not alert.is_open:
        return alert
    if condition.fires(threshold, price, is_armed=alert.is_armed):
        return replace(alert, triggered_at=at, triggered_price=price)
    if alert.is_armed or condition.is_beyond(threshold, price):
        return alert
    return replace(alert, is_armed=True)


def view_of(row: Named) -> PriceAlertView | None:
    """A stored alert as it is shown; None where it has no meaning here."""
    fields = dict(row)
    armed = bool(fields.pop("armed"))
    fields.pop("removed", None)
    try:
        return read(PriceAlertView, fields | {"is_armed": armed})
    except ValueError:
        return None


def row_of(alert: PriceAlertView, *, removed: bool = False) -> Named:
    """An alert as it is stored."""
    fields = fields_of_record(alert)
    return fields | {"armed": int(fields.pop("is_armed")), "removed": int(removed)}


def stored_price_alerts(
    stored: PriceAlerts, *, removed: bool = False
) -> tuple[PriceAlertView, ...]:
    """Every alert of the data directory, newest first. Blocks.

    Raises:
        StorageError: it cannot be read.
    """
    rows = (row for row in stored.all() if bool(row["removed"]) is removed)
    return tuple(view for row in rows if (view := view_of(row)) is not None)


def known_price_alerts(stored: PriceAlerts) -> tuple[PriceAlertView, ...]:
    """Every alert of the data directory, newest first; none where it cannot be read. Blocks."""
    try:
        return stored_price_alerts(stored)
    except StorageError as error:
        log.warning("the price alerts cannot be read: %s", error)
        return ()


def fired_text(alert: PriceAlertView, now: Timestamp) -> str:
    """Text of a fired alert, with its time if that was not just now."""
    about = f", {alert.question}" if alert.question else ""
    at = alert.triggered_at
    price = f"{alert.triggered_price or 0.0:.4f}"
    is_late = at is not None and now - at > LATE_S
    where = f"{price} at {moment_text(at)}" if at is not None and is_late else f"now {price}"
    return f"price alert: {alert.describe()}, {where}{about}"


def gone_text(alert: PriceAlertView) -> str:
    """Text of an alert that the service no longer lists and did not report as fired."""
    about = f", {alert.question}" if alert.question else ""
    return (
        f"price alert no longer at the service: {alert.describe()}{about}; it was removed, its "
        "market ended, or it fired more than a week ago"
    )
