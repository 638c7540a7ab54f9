"""Price alerts and webhooks of the engine: when they trigger, and that a replay is the same."""

import math

import pytest

from kit.engine.guarded import AT, joined, new_world, open_markets, replayed, text_of
from service_tui.engine.agents.agents import Agent
from service_tui.engine.amm.market import Market
from service_tui.engine.errors import (
    PriceAlertNotFound,
    TooManyPriceAlerts,
    TooManyWebhooks,
    WebhookNotFound,
)
from service_tui.engine.events import Event, kind_of
from service_tui.engine.notify_events import (
    NOTIFY_KINDS,
    AgentAlertEvent,
    PriceAlertSet,
    PriceAlertTriggered,
    WebhookTried,
)
from service_tui.engine.tick import resolution_of
from service_tui.engine.world import World
from service_tui.terms import (
    PRICE_ALERTS_MAX,
    WEBHOOK_FAILURES_MAX,
    WEBHOOKS_MAX,
    AlertCondition,
    Side,
    WebhookEvent,
)
from service_tui.units import Micros, Timestamp

ABOVE, BELOW = AlertCondition.ABOVE, AlertCondition.BELOW
RISES, FALLS = AlertCondition.CROSSES_ABOVE, AlertCondition.CROSSES_BELOW


OF_PRICES_AND_WEBHOOKS = {
    name for name, kind in NOTIFY_KINDS.items() if not issubclass(kind, AgentAlertEvent)
}
"""Alerts on agents have a test of their own."""


def an_alert(  # noqa: PLR0917  (the parts of an alert)
    world: World,
    agent: Agent,
    market: Market,
    condition: AlertCondition,
    threshold: float,
    side: Side = Side.YES,
) -> list[Event]:
    return world.note(
        world.price_alerts.request(
            agent,
            market,
            side=side,
            condition=condition,
            threshold=threshold,
            webhook_url="",
            at=world.at,
        )
    )


def priced(market: Market, price: float) -> None:
    """Set the price of YES, as if somebody had traded."""
    odds = price / (1 - price)
    market.yes = Micros(market.no + round(market.b * math.log(odds)))


def looked(world: World) -> list[Event]:
    return world.did(world.price_alerts.due(world.markets, world.at))


@pytest.mark.parametrize(
    ("condition", "prices", "triggers_at"),
    [
        # The price at first is 0.50, the threshold 0.60 or 0.40.
        (ABOVE, (0.55, 0.599, 0.601), 2),
        (BELOW, (0.45, 0.401, 0.399), 2),
        (RISES, (0.55, 0.61), 1),
        (FALLS, (0.45, 0.39), 1),
    ],
)
def test_an_alert_triggers_once_beyond_its_threshold(
    condition: AlertCondition, prices: tuple[float, ...], triggers_at: int
) -> None:
    world = new_world()
    agent, market = joined(world, "ada"), open_markets(world)[0]
    priced(market, 0.5)
    threshold = 0.6 if condition in {ABOVE, RISES} else 0.4
    an_alert(world, agent, market, condition, threshold)
    for step, price in enumerate(prices):
        priced(market, price)
        kinds = [kind_of(event) for event in looked(world)]
        assert kinds == (["price_alert_met"] if step == triggers_at else []), step
    assert looked(world) == []
    assert world.price_alerts.of(agent.agent_id) == []
    (found,) = world.price_alerts.triggered_of(agent.agent_id, Timestamp(0.0))
    assert found.triggered_price == pytest.approx(prices[-1], abs=1e-5)


def test_beyond_the_threshold_already_above_triggers_and_crossing_waits_for_the_way_back() -> None:
    world = new_world()
    agent, market = joined(world, "ada"), open_markets(world)[0]
    priced(market, 0.8)
    an_alert(world, agent, market, ABOVE, 0.6)
    an_alert(world, agent, market, RISES, 0.6)
    assert [kind_of(event) for event in looked(world)] == ["price_alert_met"]
    priced(market, 0.9)
    assert looked(world) == []
    priced(market, 0.5)
    assert [kind_of(event) for event in looked(world)] == ["price_alert_armed"]
    priced(market, 0.7)
    assert [kind_of(event) for event in looked(world)] == ["price_alert_met"]


def test_triggered_alerts_of_an_agent_since_a_moment_are_told_newest_first() -> None:
    world = new_world()
    agent, other, market = joined(world, "ada"), joined(world, "bob"), open_markets(world)[0]
    book = world.price_alerts
    priced(market, 0.5)
    for owner in (agent, other, agent, agent):
        an_alert(world, owner, market, ABOVE, 0.6)
    times = dict(zip(list(book.waiting), (AT, AT + 1, AT + 2, AT + 3), strict=True))
    for alert_id, at in times.items():
        owner_id = book.waiting[alert_id].placed.agent_id
        book.apply(PriceAlertTriggered(alert_id, owner_id, Timestamp(at), 0.7))
    found = book.triggered_of(agent.agent_id, Timestamp(AT + 2))
    assert [one.triggered_at for one in found] == [AT + 3, AT + 2]


def test_the_end_of_a_market_drops_its_alerts_alone() -> None:
    world = new_world()
    agent, (first, second, *_) = joined(world, "ada"), open_markets(world)
    for market in (first, second):
        priced(market, 0.5)
        an_alert(world, agent, market, ABOVE, 0.6)
    world.price_alerts.end_market(first.market_id)
    waiting = world.price_alerts.of(agent.agent_id)
    assert [one.placed.market_id for one in waiting] == [second.market_id]


def test_the_price_of_no_is_that_of_no() -> None:
    world = new_world()
    agent, market = joined(world, "ada"), open_markets(world)[0]
    priced(market, 0.5)
    priced(market, 0.8)
    (placed,) = an_alert(world, agent, market, ABOVE, 0.6, Side.NO)
    assert isinstance(placed, PriceAlertSet)
    assert placed.price == pytest.approx(0.2, abs=1e-5)
    priced(market, 0.7)
    assert looked(world) == []
    priced(market, 0.3)
    (event,) = looked(world)
    assert isinstance(event, PriceAlertTriggered)
    assert event.price == pytest.approx(0.7, abs=1e-5)


def test_an_alert_ends_with_its_market() -> None:
    world = new_world()
    agent, market = joined(world, "ada"), open_markets(world)[0]
    an_alert(world, agent, market, ABOVE, 0.99)
    world.did([resolution_of(market, world.venues, world.at)])
    assert world.price_alerts.of(agent.agent_id) == []


def test_alerts_and_webhooks_are_bounded_and_an_agents_own() -> None:
    world = new_world()
    agent, other = joined(world, "ada"), joined(world, "bob")
    market = open_markets(world)[0]
    for _ in range(PRICE_ALERTS_MAX):
        an_alert(world, agent, market, ABOVE, 0.99)
    with pytest.raises(TooManyPriceAlerts):
        an_alert(world, agent, market, ABOVE, 0.99)
    an_alert(world, other, market, ABOVE, 0.99)
    with pytest.raises(PriceAlertNotFound):
        world.price_alerts.delete(other.agent_id, "pa1", world.at)
    world.note(world.price_alerts.delete(agent.agent_id, "pa1", world.at))
    # A number is never given twice.
    (placed,) = an_alert(world, agent, market, ABOVE, 0.99)
    assert placed[0] == f"pa{PRICE_ALERTS_MAX + 2}"

    webhooks, events = world.webhooks, (WebhookEvent.TRADE_EXECUTED,)
    for _ in range(WEBHOOKS_MAX):
        world.note(webhooks.request("ada", "https://h.example", events, at=world.at, seq=1))
    with pytest.raises(TooManyWebhooks):
        webhooks.request("ada", "https://h.example", events, at=world.at, seq=1)
    with pytest.raises(WebhookNotFound):
        webhooks.delete("bob", "wh1", world.at)


def test_a_webhook_is_disabled_by_ten_failures_in_a_row_alone() -> None:
    world = new_world()
    joined(world, "ada")
    hooks = world.webhooks
    events = (WebhookEvent.TRADE_EXECUTED,)
    world.note(hooks.request("ada", "https://h.example", events, at=world.at, seq=4))
    for number in range(WEBHOOK_FAILURES_MAX - 1):
        world.note(WebhookTried("wh1", world.at, f"d{number}", "trade.executed", 5, "no answer"))
    hook = hooks.find("ada", "wh1")
    assert hook.is_active
    assert hook.seq == 4
    world.note(WebhookTried("wh1", world.at, "d", "trade.executed", 5, ""))
    assert (hook.failures, hook.seq, hook.last_delivery_at) == (0, 5, world.at)
    for number in range(WEBHOOK_FAILURES_MAX):
        world.note(WebhookTried("wh1", world.at, f"d{number}", "trade.executed", 6, "no answer"))
    assert not hook.is_active


def test_a_delivery_that_arrived_clears_its_failure_and_never_goes_back() -> None:
    world = new_world()
    joined(world, "ada")
    hooks, events = world.webhooks, (WebhookEvent.TRADE_EXECUTED,)
    world.note(hooks.request("ada", "https://h.example", events, at=world.at, seq=4))
    hook = hooks.find("ada", "wh1")
    for seq, detail in ((9, "no answer"), (9, ""), (7, "")):
        world.note(WebhookTried("wh1", world.at, "d", "trade.executed", seq, detail))
        assert (hook.detail, hook.seq) == (detail, 4 if detail else 9)
    # A name is never given a second time: a delivery under way belongs to the one that was.
    world.note(hooks.request("ada", "https://i.example", events, at=world.at, seq=9))
    world.note(hooks.delete("ada", "wh1", world.at))
    for name in ("j", "k"):
        world.note(hooks.request("ada", f"https://{name}.example", events, at=world.at, seq=9))
    assert [one.placed.webhook_id for one in hooks.of("ada")] == ["wh2", "wh3", "wh4"]


@pytest.mark.slow
def test_a_replay_makes_the_same_alerts_and_webhooks() -> None:
    world = new_world()
    agent, market = joined(world, "ada"), open_markets(world)[0]
    priced(market, 0.5)
    begin = text_of(world)
    assert '"notify"' not in begin
    events: list[Event] = []
    for condition, threshold in ((ABOVE, 0.6), (FALLS, 0.6), (BELOW, 0.1), (RISES, 0.9)):
        events += an_alert(world, agent, market, condition, threshold)
    events += world.note(world.price_alerts.delete(agent.agent_id, "pa3", world.at))
    kept = (WebhookEvent.PRICE_ALERT, WebhookEvent.MARKET_RESOLVED)
    for _ in range(2):
        hook = world.webhooks.request("ada", "https://h.example", kept, at=world.at, seq=9)
        events += world.note(hook)
    events += world.note(world.webhooks.delete("ada", "wh2", world.at))
    moments = [(len(events), text_of(world))]
    priced(market, 0.7)
    middle = text_of(world)
    events += looked(world)
    events += world.note(WebhookTried("wh1", world.at, "d", "price.alert", 12, "no answer"))
    # Removed while its delivery was on the way.
    events += world.note(WebhookTried("wh2", world.at, "d", "price.alert", 12, ""))
    assert {kind_of(event) for event in events} == OF_PRICES_AND_WEBHOOKS
    assert text_of(replayed(begin, events[: moments[0][0]])) == moments[0][1]
    assert text_of(replayed(middle, events[moments[0][0] :])) == text_of(world)
    assert world.at == AT
