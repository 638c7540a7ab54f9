"""Price alerts: checked at every price the desk reads, one-shot, kept over a restart."""

import asyncio
import logging
from dataclasses import replace
from typing import Final

from service_tui.client.errors import ServiceError
from service_tui.desk.changes import Changed, Removed
from service_tui.desk.commands.risk import RemovePriceAlert, SetPriceAlert
from service_tui.desk.facts import Fact, Noticed
from service_tui.desk.ports import Ports
from service_tui.desk.slices.notices import NoticeKind
from service_tui.desk.slices.risk import (
    Condition,
    PriceAlertView,
)
from service_tui.desk.state import DeskState
from service_tui.records import Named, fields_of_record, read
from service_tui.storage.errors import StorageError
from service_tui.storage.price_alerts import PriceAlerts
from service_tui.terms import AlertCondition
from service_tui.units import Timestamp
from service_tui.wire.alerts import PriceAlertRequest
from service_tui.wire.endpoints.notify import (
    DELETE_PRICE_ALERT,
    PRICE_ALERTS,
    SET_PRICE_ALERT,
)

log = logging.getLogger(__name__)


def after_price(alert: PriceAlertView, price: float, at: Timestamp) -> PriceAlertView:
    """A price alert after a price of its side.

    A plain alert fires at the threshold or beyond it. A crossing needs a price on the near side
    first, so that one which is beyond from the beginning waits until the price has come back.

    Returns:
        The alert armed or fired; the same object where nothing changed.
    """
    if not alert.is_open:
        return alert
    is_upward = alert.condition in {Condition.ABOVE, Condition.CROSSES_ABOVE}
    is_beyond = price >= alert.threshold if is_upward else price <= alert.threshold
    is_plain = alert.condition in {Condition.ABOVE, Condition.BELOW}
    if is_beyond and (is_plain or alert.is_armed):
        return replace(alert, triggered_at=at, triggered_price=price)
    is_near = price < alert.threshold if is_upward else price > alert.threshold
    return replace(alert, is_armed=True) if is_near and not alert.is_armed else alert


def view_of(row: Named) -> PriceAlertView | None:
    """A stored alert as it is shown; None where it has no meaning here."""
    fields = dict(row)
    armed = bool(fields.pop("armed"))
    try:
        return read(PriceAlertView, fields | {"is_armed": armed})
    except ValueError:
        return None


def row_of(alert: PriceAlertView) -> Named:
    """An alert as it is stored."""
    fields = fields_of_record(alert)
    return fields | {"armed": int(fields.pop("is_armed"))}


def known_price_alerts(stored: PriceAlerts) -> tuple[PriceAlertView, ...]:
    """Every alert of the data directory, newest first; none where it cannot be read. Blocks."""
    try:
        views = [view_of(row) for row in stored.all()]
    except StorageError as error:
        log.warning("the price alerts cannot be read: %s", error)
        return ()
    return tuple(view for view in views if view is not None)


class PriceWatch:
    """Compares every new price with the open alerts.

    What has fired shows as fired at once, so that the next price cannot fire it again; it is on
    disk before its notice.
    """

    def __init__(self, stored: PriceAlerts, ports: Ports) -> None:
        self._stored = stored
        self._ports = ports
        self._changed: asyncio.Queue[PriceAlertView] = asyncio.Queue()

    def look(self, before: DeskState, after: DeskState) -> list[Fact]:
        """The facts that a change of the markets means for the alerts; none for most."""
        if after.markets is before.markets or not after.risk.price_alerts:
            return []
        facts: list[Fact] = []
        for alert in after.risk.price_alerts:
            market = after.markets.get(alert.market_id) if alert.is_open else None
            is_old = market is before.markets.get(alert.market_id) and not before.from_cache
            if market is None or is_old:
                continue
            now_so = after_price(alert, market.price_of(alert.side), self._ports.now())
            if now_so is not alert:
                facts.append(Changed(now_so))
                self._changed.put_nowait(now_so)
        return facts

    async def run(self) -> None:
        """Store armed and fired alerts, and notify about the fired; runs for ever."""
        while True:
            alert = await self._changed.get()
            try:
                is_news = await self._written(alert)
            except StorageError as error:
                # Told twice, after a restart, is better than not at all.
                log.warning("a price alert was not written: %s", error)
                is_news = not alert.is_open
            if is_news:
                self._ports.emit(Noticed("warn", fired_text(alert), NoticeKind.PRICE_ALERT))

    async def _written(self, alert: PriceAlertView) -> bool:
        """Write a change down.

        Returns:
            Whether it has fired now, for the first time.
        """
        if alert.triggered_at is None or alert.triggered_price is None:
            await self._stored.arm(alert.alert_id, armed=alert.is_armed)
            return False
        return await self._stored.fire(
            alert.alert_id, at=alert.triggered_at, price=alert.triggered_price
        )


def fired_text(alert: PriceAlertView) -> str:
    """Text of a fired alert."""
    about = f", {alert.question}" if alert.question else ""
    return f"price alert: {alert.describe()}, now {alert.triggered_price or 0.0:.4f}{about}"


ALERTS_MAX: Final = 500
"""ours: every price that comes is compared with each of them."""


def _objection(order: SetPriceAlert, state: DeskState) -> str:
    """Why this price alert is not kept; empty if it is."""
    alerts = state.risk.price_alerts
    wanted = order.market_id, order.side, order.condition, order.threshold
    if not 0 < order.threshold < 1:
        return "price alert: price must be above 0 and below 1"
    if any(
        one.is_open and (one.market_id, one.side, one.condition, one.threshold) == wanted
        for one in alerts
    ):
        return f"{order.describe()}: set already"
    if len(alerts) >= ALERTS_MAX:
        return f"limit of {ALERTS_MAX} price alerts reached: remove some first"
    return ""


async def set_price_alert(order: SetPriceAlert, stored: PriceAlerts, ports: Ports) -> None:
    """Keep a price alert; one that is there already fires at once."""
    state = ports.state()
    why = _objection(order, state)
    if why:
        ports.emit(Noticed("warn", why))
        return
    market = state.markets.get(order.market_id)
    alert = PriceAlertView(
        alert_id=ports.new_id(),
        market_id=order.market_id,
        question=order.question or (market.question if market is not None else ""),
        side=order.side,
        condition=order.condition,
        threshold=order.threshold,
        created_at=ports.now(),
    )
    if market is not None and not state.from_cache:
        alert = after_price(alert, market.price_of(order.side), ports.now())
    try:
        await stored.put(row_of(alert))
        if alert.triggered_at is not None and alert.triggered_price is not None:
            at, price = alert.triggered_at, alert.triggered_price
            await stored.fire(alert.alert_id, at=at, price=price)
    except (StorageError, UnicodeError) as error:
        ports.emit(Noticed("bad", f"{order.describe()}: {error}; not saved"))
        return
    ports.emit(Changed(alert))
    if alert.is_open:
        ports.emit(Noticed("info", order.describe()))
        await _set_at_service(order, ports)
    else:
        ports.emit(Noticed("warn", fired_text(alert), NoticeKind.PRICE_ALERT))


async def remove_price_alert(order: RemovePriceAlert, stored: PriceAlerts, ports: Ports) -> None:
    """Forget a price alert."""
    try:
        await stored.drop(order.alert_id)
    except StorageError as error:
        ports.emit(Noticed("bad", f"{order.describe()}: {error}"))
        return
    known = ports.state().risk.price_alerts
    alert = next((one for one in known if one.alert_id == order.alert_id), None)
    ports.emit(Removed(PriceAlertView, order.alert_id))
    if alert is not None and alert.is_open:
        await _remove_at_service(alert, ports)


def _notifies_webhooks(ports: Ports) -> bool:
    """True where this desk may write, and the service is the embedded one."""
    service = ports.state().service
    return service.embedded and not service.read_only


async def _set_at_service(order: SetPriceAlert, ports: Ports) -> None:
    """Set the same alert at the embedded service, which notifies the webhooks of this agent.

    The console does without it: what fails here is logged and shown nowhere.
    """
    if not _notifies_webhooks(ports):
        return
    body = PriceAlertRequest(
        market_id=order.market_id,
        side=order.side,
        condition=AlertCondition(order.condition.value),
        threshold=order.threshold,
    )
    try:
        await ports.client.call(SET_PRICE_ALERT, body=body)
    except ServiceError as error:
        log.info("no webhook is notified of a price alert: %s", error)


async def _remove_at_service(alert: PriceAlertView, ports: Ports) -> None:
    """Remove the same alert at the embedded service."""
    if not _notifies_webhooks(ports):
        return
    same = (alert.market_id, alert.side, alert.condition.value, alert.threshold)
    try:
        reply = await ports.client.call(PRICE_ALERTS)
        # One with an address of its own is a program's; of others the newest is the console's.
        for row in reversed(reply.answer.alerts):
            terms = (row.market_id, row.side, row.condition.value, row.threshold)
            if terms == same and row.webhook_url is None:
                await ports.client.call(DELETE_PRICE_ALERT, path={"alert_id": row.id})
                return
    except ServiceError as error:
        log.info("a price alert stays at the service: %s", error)
