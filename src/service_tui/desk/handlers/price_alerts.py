"""SetPriceAlert and RemovePriceAlert: what the person wants to hear of, kept on this machine.

Knows ports and the table. Must not know widgets.
Used by desk.desk.
"""

from typing import Final

from service_tui.desk.commands import RemovePriceAlert, SetPriceAlert
from service_tui.desk.facts import Noticed
from service_tui.desk.facts_risk import PriceAlertChanged, PriceAlertGone
from service_tui.desk.ports import Ports
from service_tui.desk.price_alerts import fired_words, judged, row_of
from service_tui.desk.records import NoticeKind
from service_tui.desk.records_risk import PriceAlertView
from service_tui.storage.errors import StorageError
from service_tui.storage.price_alerts import PriceAlerts

ALERTS_MAX: Final = 500
"""ours: every price that comes is compared with each of them."""


async def set_price_alert(order: SetPriceAlert, stored: PriceAlerts, ports: Ports) -> None:
    """Keep a price alert; one that is there already fires at once."""
    state = ports.state()
    if not 0 < order.threshold < 1:
        ports.say(Noticed("warn", "a price alert needs a price above 0 and below 1"))
        return
    if len(state.risk.price_alerts) >= ALERTS_MAX:
        ports.say(Noticed("warn", f"there are {ALERTS_MAX} price alerts: remove some first"))
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
        alert = judged(alert, market.price_of(order.side), ports.now())
    try:
        await stored.put(row_of(alert))
        if alert.triggered_at is not None and alert.triggered_price is not None:
            at, price = alert.triggered_at, alert.triggered_price
            await stored.fire(alert.alert_id, at=at, price=price)
    except (StorageError, UnicodeError) as error:
        ports.say(Noticed("bad", f"{order.in_words()}: {error}; it was not kept"))
        return
    ports.say(PriceAlertChanged(alert))
    if alert.is_open:
        ports.say(Noticed("info", order.in_words()))
    else:
        ports.say(Noticed("warn", fired_words(alert), NoticeKind.PRICE_ALERT))


async def remove_price_alert(order: RemovePriceAlert, stored: PriceAlerts, ports: Ports) -> None:
    """Forget a price alert."""
    try:
        await stored.drop(order.alert_id)
    except StorageError as error:
        ports.say(Noticed("bad", f"{order.in_words()}: {error}"))
        return
    ports.say(PriceAlertGone(order.alert_id))
