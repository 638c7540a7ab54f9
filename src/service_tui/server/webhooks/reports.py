"""Turns engine events into webhook events, each for one agent or for all."""

from dataclasses import dataclass

from service_tui.engine.events import (
    Event,
    Fill,
    MarketListed,
    MarketResolved,
    OrderFilled,
    OrderPlaced,
)
from service_tui.engine.notify_events import AgentAlertFired, PriceAlertTriggered
from service_tui.engine.world import World
from service_tui.server.ends import ended_fields
from service_tui.terms import Action, Side, Venue, WebhookEvent
from service_tui.units import Micros, Timestamp, decimal
from service_tui.wire.base import moment

Data = dict[str, object]


@dataclass(frozen=True, slots=True)
class WebhookReport:
    """One event for one agent, or for every agent where that is None.

    `key` distinguishes it from every other report of the same agent. `seq` is the journal row that
    it comes from, 0 where it comes from none. `url` is set for an alert that names an address.
    """

    agent_id: str | None
    event: WebhookEvent
    key: str
    seq: int
    at: Timestamp
    data: Data
    url: str = ""


def text_of(at: Timestamp) -> str:
    """A moment as ISO 8601 text."""
    return moment(at).isoformat().replace("+00:00", "Z")


def reports_of(world: World, seq: int, event: Event) -> list[WebhookReport]:
    """What an event of the journal has to report; empty for most."""
    found: list[WebhookReport] = []
    match event:
        case Fill():
            found = [_trade(world, (seq, event), (event.trade_id, Venue.SIM), "filled")]
        case OrderPlaced(shares=shares) if shares:
            status = "partially_filled" if event.rests else "filled"
            found = [_trade(world, (seq, event), (event.order_id, event.venue), status)]
        case OrderFilled(venue=Venue() as venue):
            found = [_trade(world, (seq, event), (event.order_id, venue), "filled")]
        case MarketResolved():
            found = _resolved(world, seq, event)
        case MarketListed():
            found = _window(event)
        case PriceAlertTriggered():
            found = _alert(world, seq, event)
        case AgentAlertFired():
            found = _agent_alert(world, seq, event)
        case _:
            pass
    return found


def _trade(
    world: World,
    row: tuple[int, Fill | OrderPlaced | OrderFilled],
    trade: tuple[str, Venue],
    fill_status: str,
) -> WebhookReport:
    seq, event = row
    trade_id, venue = trade
    side, action = event.side or Side.YES, event.action or Action.BUY
    data: Data = {
        "trade_id": trade_id,
        "market_id": event.market_id,
        "question": world.question_of(event.market_id),
        "side": side.value,
        "action": action.value,
        "shares": decimal(event.shares),
        "price": price_of(event.money, event.shares),
        "cost_usdc": decimal(event.money),
        "fill_status": fill_status,
        # ours: whose money `cost_usdc` is.
        "venue": venue.value,
        "currency": "$SIM" if venue is Venue.SIM else "USDC",
    }
    name = WebhookEvent.TRADE_EXECUTED
    return WebhookReport(event.agent_id, name, f"trade-{seq}", seq, event.at, data)


def price_of(money: Micros, shares: Micros) -> float:
    """Money a share, 0 to 1."""
    return round(min(1.0, money / shares), 6)


def _resolved(world: World, seq: int, event: MarketResolved) -> list[WebhookReport]:
    """The resolution of a market, for each agent that held shares of it."""
    paid = (*event.payouts, *(payout for _, payout in event.settled))
    data: Data = {
        "market_id": event.market_id,
        "question": world.question_of(event.market_id),
        **ended_fields(event.outcome),
        "resolved_at": text_of(event.at),
    }
    key, name = f"resolved-{event.market_id}", WebhookEvent.MARKET_RESOLVED
    owners = dict.fromkeys(payout.agent_id for payout in paid if payout.shares)
    return [WebhookReport(agent_id, name, key, seq, event.at, data) for agent_id in owners]


def _window(event: MarketListed) -> list[WebhookReport]:
    listing = event.listing
    window = listing.window()
    if window is None:
        return []
    data: Data = {
        "market_id": listing.market_id,
        "question": listing.question,
        "opens_at": text_of(listing.opens_at),
        "resolves_at": text_of(listing.resolves_at),
        "yes_price": round(listing.start_price, 6),
        "window": window.value,
        "tags": list(listing.tags),
    }
    key = f"opened-{listing.market_id}"
    # A moment that has passed is of no use after a restart: it belongs to no row.
    return [WebhookReport(None, WebhookEvent.WINDOW_OPEN, key, 0, event.at, data)]


def _alert(world: World, seq: int, event: PriceAlertTriggered) -> list[WebhookReport]:
    alert = next(
        (
            one
            for one in reversed(world.price_alerts.triggered)
            if one.placed.alert_id == event.alert_id
        ),
        None,
    )
    if alert is None:
        return []
    placed = alert.placed
    data: Data = {
        "alert_id": event.alert_id,
        "market_id": placed.market_id,
        "question": world.question_of(placed.market_id),
        "side": placed.side.value,
        "condition": placed.condition.value,
        "threshold": placed.threshold,
        "price": event.price,
        "triggered_at": text_of(event.at),
    }
    key, name = f"alert-{event.alert_id}", WebhookEvent.PRICE_ALERT
    return [WebhookReport(event.agent_id, name, key, seq, event.at, data, placed.webhook_url)]


def _agent_alert(world: World, seq: int, event: AgentAlertFired) -> list[WebhookReport]:
    """The firing of an alert, for the agent and for the console of the person who set it."""
    alert = world.agent_alerts.by_id.get(event.alert_id)
    if alert is None:
        return []
    placed = alert.placed
    data: Data = {
        "alert_id": event.alert_id,
        "agent_id": event.agent_id,
        "agent_name": world.agents[event.agent_id].settings.name,
        "kind": placed.kind.value,
        "limit": decimal(placed.limit),
        "minutes": placed.minutes,
        "value": decimal(event.value),
        "action": placed.action.value,
        "skill_slug": placed.skill_slug,
        "market_id": event.market_id,
        "fired_at": text_of(event.at),
    }
    key, name = f"agent-alert-{seq}", WebhookEvent.AGENT_ALERT
    owners = dict.fromkeys(one for one in (event.agent_id, placed.told) if one)
    return [WebhookReport(one, name, key, seq, event.at, data) for one in owners]


def movement(world: World, market_id: str, side: Side, prices: tuple[float, float]) -> Data:
    """A price that moved by more than five percent, from the first price to the second."""
    before, now = prices
    return {
        "market_id": market_id,
        "question": world.question_of(market_id),
        "side": side.value,
        "previous_price": round(before, 6),
        "current_price": round(now, 6),
        "change_pct": round((now - before) / before * 100, 4),
    }
