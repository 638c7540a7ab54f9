"""Exits that a service leaves to its client: sells for each alert and acknowledges it.

Source: spec, "Risk alert lifecycle"; decisions, "Money and safety".

Each sale goes out under a key that every client makes alike of the alert, so that a service that
honours such keys sells once, whoever asks and however often. An alert whose sale is not confirmed
is never taken back: it is met again with the next briefing.
"""

import logging
import math
from collections.abc import Iterable
from typing import Final

from service_tui.client.errors import NotFoundError, ServiceError
from service_tui.sdk.result import TradeResult, answered
from service_tui.sdk.transport import SyncTransport
from service_tui.terms import Action, OrderType, Venue
from service_tui.units import Timestamp
from service_tui.wire.base import timestamp
from service_tui.wire.endpoints import public as on
from service_tui.wire.monitors import RiskAlertBody, RiskAlertQuery
from service_tui.wire.trades import CLIENT_REF, TradeRequest

log = logging.getLogger(__name__)

GRAIN: Final = 100_000
"""Sales go out with five decimals of a share. Source: wire reference, 3.3."""

KEY_MAX: Final = 128


def sell_for(
    transport: SyncTransport, alerts: Iterable[RiskAlertBody], now: Timestamp
) -> list[TradeResult]:
    """Sell for every alert that waits for a client.

    Args:
        transport: the connection to the service.
        alerts: as the service gave them.
        now: wall time; an alert that is over by then is left alone.

    Returns:
        What became of each sale that was answered.
    """
    wanted = [one for one in alerts if _is_due(one, now)]
    return [result for one in wanted if (result := _sell(transport, one)) is not None]


def _is_due(alert: RiskAlertBody, now: Timestamp) -> bool:
    is_over = alert.expires_at is not None and timestamp(alert.expires_at) <= now
    return alert.executed_by != "service" and not is_over and _shares(alert) > 0


def _shares(alert: RiskAlertBody) -> float:
    # A hair more, as 0.29 * 100_000 is a little less than 29_000.
    return math.floor(alert.shares * GRAIN + 1e-3) / GRAIN


def _sell(transport: SyncTransport, alert: RiskAlertBody) -> TradeResult | None:
    """Sell, and acknowledge once confirmed; None if the service gave no usable answer."""
    ref = _key_of(alert)
    # Without a word of the venue it is the one that the published service knows here.
    venue = alert.venue or Venue.EVM
    request = TradeRequest(
        market_id=alert.market_id,
        side=alert.side,
        shares=_shares(alert),
        action=Action.SELL,
        venue=venue,
        order_type=None if venue is Venue.SIM else OrderType.FAK,
        reasoning=alert.message or alert.exit_reason,
        source=f"risk:{alert.exit_reason}",
        signal_data={CLIENT_REF: ref},
    )
    try:
        body = transport.call(on.PLACE_TRADE, body=request, idempotency_key=ref)
        result = answered(body, request, ref)
        if result.success and result.shares_sold > 0:
            _acknowledge(transport, alert)
    except ServiceError as error:
        # Also an unknown outcome: the next try under the same key meets the same sale.
        log.warning("the exit of %s is not confirmed: %s", alert.market_id, error)
        return None
    return result


def _acknowledge(transport: SyncTransport, alert: RiskAlertBody) -> None:
    path = {"market_id": alert.market_id, "side": alert.side.value}
    query = RiskAlertQuery(venue=alert.venue, alert_id=alert.id or None)
    try:
        transport.call(on.END_RISK_ALERT, path=path, query=query)
    except NotFoundError:
        # It saw the sale, and has ended the alert by itself.
        log.debug("the alert of %s is gone already", alert.market_id)


def _key_of(alert: RiskAlertBody) -> str:
    """Identity of an alert: market, side and breach. Source: decisions, "Alert identity"."""
    when = 0 if alert.breached_at is None else round(timestamp(alert.breached_at) * 1_000)
    return f"exit:{alert.market_id}:{alert.side.value}:{when}:{alert.id}"[:KEY_MAX]
