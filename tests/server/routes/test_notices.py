"""Price alerts, webhooks, wallets, orders and the world: what each handler answers and writes."""

import asyncio
from types import SimpleNamespace
from typing import Any, Final

import pytest

from kit.engine.bare import AT, bare_world, listed
from kit.service.bare import ACT, bare_service, request_to
from service_tui.engine.errors import MarketNotFound, MarketNotOpen, WebhookNotFound
from service_tui.engine.events import OrderEnd, OrderEnded, SpeedSet
from service_tui.engine.notify_events import (
    PriceAlertDeleted,
    PriceAlertSet,
    PriceAlertTriggered,
    WebhookDeleted,
    WebhookSet,
    WebhookTried,
)
from service_tui.server.http.refusals import Denied
from service_tui.server.routes import agent_wallets, alerts, orders, webhooks, world
from service_tui.terms import AlertCondition, Side, WebhookEvent
from service_tui.units import ONE, Micros, Timestamp
from service_tui.wire.alerts import PriceAlertRequest, TriggeredQuery
from service_tui.wire.webhooks import WebhookRequest, WebhookTestRequest
from service_tui.wire.world import SpeedRequest

URL: Final = "https://hook.example/in"
TRADE: Final = WebhookEvent.TRADE_EXECUTED
ABOVE: Final = AlertCondition.ABOVE


class Post:
    """A courier that notes which secrets it keeps and what it tries."""

    def __init__(self) -> None:
        self.registering = asyncio.Lock()
        self.kept: list[tuple[str, str]] = []
        self.forgotten: list[str] = []
        self.tried: list[tuple[str, str]] = []
        self.failing: dict[str, str] = {}
        self.counts: dict[str, int] = {}

    def allows_loopback(self, agent_id: str) -> bool:
        return agent_id == "ben"

    def waiting_count(self, webhook_id: str) -> int:
        return self.counts.get(webhook_id, 0)

    async def keep_secret(self, webhook_id: str, secret: str) -> None:
        self.kept.append((webhook_id, secret))

    async def forget(self, webhook_id: str) -> None:
        self.forgotten.append(webhook_id)

    async def test(self, webhook: Any, at: Timestamp, delivery_id: str) -> str:
        assert at == AT
        self.tried.append((webhook.placed.webhook_id, delivery_id))
        return self.failing.get(webhook.placed.webhook_id, "")


def service() -> Any:
    made = bare_world("ada", "ben")
    listed(made)
    listed(made, "late", resolves_at=Timestamp(AT - 1))
    return bare_service(made, courier=Post())


def hooked(one: Any, webhook_id: str, agent_id: str = "ada", **changes: Any) -> None:
    placed = WebhookSet(webhook_id, agent_id, AT, URL, (TRADE,), 0)._replace(**changes)
    one.world.webhooks.apply(placed)


# -- price alerts -------------------------------------------------------------------------------


async def alert(one: Any, **sent: Any) -> Any:
    given = {"market_id": "m1", "side": Side.NO, "condition": ABOVE, "threshold": 0.7, **sent}
    return await alerts.create(request_to(one, "ada", body=PriceAlertRequest(**given)))


async def test_an_alert_is_written_and_told_with_the_price_of_its_side() -> None:
    one = service()
    answer = await alert(one)
    told = answer.model_dump()
    assert told.pop("created_at").timestamp() == AT
    assert told == {
        "id": "pa1", "market_id": "m1", "side": Side.NO, "condition": ABOVE, "threshold": 0.7,
        "market_question": "Does m1 end well?", "webhook_url": None, "triggered_at": None,
        "triggered_price": None, "current_price": 0.6, "webhook_secret": None,
    }  # fmt: skip
    (event,) = one.world_store.written
    assert isinstance(event, PriceAlertSet)
    assert (event.agent_id, event.market_id, event.side, event.threshold, event.at) == (
        "ada", "m1", Side.NO, 0.7, AT
    )  # fmt: skip
    waiting = await alerts.waiting(request_to(one, "ada"))
    assert ([row.id for row in waiting.alerts], waiting.count) == (["pa1"], 1)
    assert (await alerts.waiting(request_to(one, "ben"))).count == 0


async def test_an_address_of_an_alert_becomes_a_webhook_unless_it_is_one() -> None:
    one = service()
    answer = await alert(one, webhook_url=URL)
    assert one.courier.kept == [("wh1", answer.webhook_secret)]
    assert answer.webhook_url == URL
    (hook,) = one.world.webhooks.of("ada")
    assert (hook.placed.events, hook.placed.url, hook.placed.seq) == ((), URL, 50)
    again = await alert(one, webhook_url=URL, threshold=0.8)
    assert again.webhook_secret is None
    assert len(one.courier.kept) == 1


@pytest.mark.parametrize(
    ("sent", "error"),
    [
        ({"market_id": "nobodys"}, MarketNotFound),
        ({"market_id": "late"}, MarketNotOpen),
        ({"webhook_url": "http://127.0.0.1:9/x"}, Denied),
    ],
)
async def test_an_alert_that_cannot_be_leaves_nothing_behind(
    sent: dict[str, Any], error: type[Exception]
) -> None:
    one = service()
    with pytest.raises(error):
        await alert(one, **sent)
    assert one.world_store.written == []
    assert one.courier.kept == []


async def test_an_address_of_which_no_alert_waits_any_more_is_removed_with_the_next_one() -> None:
    one = service()
    hooked(one, "wh1", events=())
    hooked(one, "wh2", url="https://other.example")
    hooked(one, "wh3", "ben", events=())
    hooked(one, "wh4", events=(), url="https://busy.example")
    one.courier.counts["wh4"] = 2
    await alert(one)
    assert [event for event in one.world_store.written if isinstance(event, WebhookDeleted)] == [
        WebhookDeleted("wh1", AT)
    ]
    assert list(one.world.webhooks.by_id) == ["wh2", "wh3", "wh4"]


async def test_alerts_that_met_their_price_are_told_for_some_hours() -> None:
    one = service()
    await alert(one)
    one.world.price_alerts.apply(PriceAlertTriggered("pa1", "ada", Timestamp(AT - 7_000), 0.71))
    for hours, count in ((1, 0), (2, 1)):
        query = TriggeredQuery(hours=hours)
        answer = await alerts.triggered(request_to(one, "ada", query=query))
        assert answer.count == len(answer.alerts) == count
    (row,) = answer.alerts
    assert (row.triggered_price, row.triggered_at.timestamp()) == (0.71, AT - 7_000)
    assert (await alerts.waiting(request_to(one, "ada"))).count == 0


async def test_an_alert_is_removed_by_its_agent() -> None:
    one = service()
    await alert(one)
    request = request_to(one, "ada", path={"alert_id": "pa1"})
    answer = await alerts.delete(request)
    assert (answer.success, answer.id) == (True, "pa1")
    assert one.world_store.written[-1] == PriceAlertDeleted("pa1", AT)
    assert (await alerts.waiting(request_to(one, "ada"))).count == 0


# -- webhooks -----------------------------------------------------------------------------------


async def hook(one: Any, agent_id: str = "ada", **sent: Any) -> Any:
    body = WebhookRequest(**{"url": URL, "events": (TRADE, TRADE), **sent})
    return await webhooks.create(request_to(one, agent_id, body=body))


@pytest.mark.parametrize("secret", [None, "a secret of eight"])
async def test_a_webhook_keeps_its_secret_first_and_shows_its_own_once(secret: str | None) -> None:
    one = service()
    answer = await hook(one, secret=secret)
    kept = secret or "id-001-of-a-new-thingid-002-of-a-new-thing"
    assert one.courier.kept == [("wh1", kept)]
    assert answer.secret == (None if secret else kept)
    assert one.world_store.written == [WebhookSet("wh1", "ada", AT, URL, (TRADE,), 50)]
    assert (answer.id, answer.url, answer.events, answer.active, answer.waiting) == (
        "wh1", URL, (TRADE,), True, 0
    )  # fmt: skip


async def test_a_webhook_to_this_machine_is_a_choice_of_the_operator() -> None:
    one = service()
    with pytest.raises(Denied) as refused:
        await hook(one, url="http://127.0.0.1:9/x")
    body: Any = refused.value.body
    assert (refused.value.status, body.detail[0].loc) == (422, ("body", "url"))
    assert (await hook(one, "ben", url="http://127.0.0.1:9/x")).id == "wh1"


async def test_webhooks_are_listed_with_how_their_deliveries_went() -> None:
    one = service()
    hooked(one, "wh1")
    hooked(one, "wh2", "ben")
    one.world.webhooks.apply(WebhookTried("wh1", Timestamp(AT - 9), "d", "e", 3, ""))
    one.world.webhooks.apply(WebhookTried("wh1", AT, "d", "e", 4, "no connection"))
    one.courier.counts["wh1"] = 3
    answer = await webhooks.read(request_to(one, "ada"))
    (row,) = answer.webhooks
    assert answer.count == 1
    assert (row.id, row.consecutive_failures, row.last_error, row.waiting) == (
        "wh1", 1, "no connection", 3
    )  # fmt: skip
    assert row.last_delivery_at is not None
    assert row.last_delivery_at.timestamp() == AT - 9


async def test_a_webhook_is_removed_with_what_waits_for_it() -> None:
    one = service()
    hooked(one, "wh1")
    request = request_to(one, "ada", path={"webhook_id": "wh1"})
    assert (await webhooks.delete(request)).id == "wh1"
    assert one.world_store.written == [WebhookDeleted("wh1", AT)]
    assert one.courier.forgotten == ["wh1"]
    with pytest.raises(WebhookNotFound):
        await webhooks.delete(request_to(one, "ada", path={"webhook_id": "wh1"}))
    assert len(one.courier.forgotten) == 1


async def test_a_test_delivery_goes_to_one_or_to_each_webhook_of_the_agent() -> None:
    one = service()
    hooked(one, "wh1")
    hooked(one, "wh2", url="https://other.example")
    hooked(one, "wh3", "ben")
    one.courier.failing["wh2"] = "no connection"
    answer = await webhooks.test(request_to(one, "ada", body=WebhookTestRequest()))
    assert not answer.success
    assert [(row.id, row.url, row.success, row.error) for row in answer.results] == [
        ("wh1", URL, True, ""), ("wh2", "https://other.example", False, "no connection")
    ]  # fmt: skip
    assert one.courier.tried == [("wh1", "wh1-test-id-001-of-a-"), ("wh2", "wh2-test-id-002-of-a-")]
    only = await webhooks.test(request_to(one, "ada", body=WebhookTestRequest(webhook_id="wh1")))
    assert (only.success, len(only.results)) == (True, 1)
    with pytest.raises(WebhookNotFound):
        await webhooks.test(request_to(one, "ada", body=WebhookTestRequest(webhook_id="wh3")))


# -- wallets of agents --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("call", "path", "status"),
    [
        (agent_wallets.register, {}, 410),
        (agent_wallets.update_creds, {}, 409),
        (agent_wallets.no_deposit_wallet, {}, 409),
        (agent_wallets.no_deposit_wallet, {"agent_id": "ada"}, 409),
        (agent_wallets.no_deposit_wallet, {"agent_id": "ben"}, 404),
    ],
)
async def test_what_the_chain_does_not_have_is_refused(
    call: Any, path: dict[str, str], status: int
) -> None:
    with pytest.raises(Denied) as refused:
        await call(request_to(service(), "ada", path=path))
    assert refused.value.status == status


# -- orders -------------------------------------------------------------------------------------


def end(order_id: str, returned: float) -> OrderEnded:
    back = Micros(round(returned * ONE))
    nothing = Micros(0)
    return OrderEnded(
        order_id, "ada", "m1", OrderEnd.CANCELLED, AT, AT, nothing, nothing, nothing, back
    )


def resting(order_id: str, market_id: str, side: Side) -> Any:
    return SimpleNamespace(order_id=order_id, market_id=market_id, side=side)


RESTING: Final = [resting("o1", "m1", Side.YES), resting("o2", "m1", Side.NO),
                  resting("o3", "late", Side.YES)]  # fmt: skip


@pytest.fixture
def books(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Three resting orders of ada; what is cancelled."""
    calls: list[Any] = []
    found = type(bare_world().venues)
    monkeypatch.setattr(found, "orders", lambda _, who: RESTING if who == "ada" else [])

    def cancel_all(_: Any, chosen: Any, times: Any) -> list[OrderEnded]:
        calls.append(([one.order_id for one in chosen], times))
        return [end(one.order_id, 1.5) for one in chosen]

    def cancel(_: Any, agent: Any, times: Any, *, order_id: str) -> list[OrderEnded]:
        calls.append((agent.agent_id, order_id, times))
        return [end(order_id, 2.5)]

    monkeypatch.setattr(orders, "cancel_all", cancel_all)
    monkeypatch.setattr(orders, "cancel", cancel)
    return calls


# -- the world ----------------------------------------------------------------------------------


async def test_the_pace_is_changed_with_who_did_it_and_a_script_keeps_its_own() -> None:
    one = service()
    answer = await world.set_speed(request_to(one, body=SpeedRequest(speed=60)))
    assert one.world_store.written == [SpeedSet(AT, one.world.world_at, 60), ACT]
    assert (answer.speed, answer.seed, answer.open_count) == (60, 7, 1)
    assert (answer.now.timestamp(), answer.wall_at.timestamp()) == (one.world.world_at, AT)
    assert (answer.halted_at, answer.meanwhile, answer.news) == (None, None, ())
    one.is_scripted = True
    with pytest.raises(Denied, match="409"):
        await world.set_speed(request_to(one, body=SpeedRequest(speed=10)))
    assert one.world.speed == 60
