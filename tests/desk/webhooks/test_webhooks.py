"""Webhooks of the desk: listed, added with their secret shown once, tested, removed."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from kit.service.stage import (
    Stage,
    WebhookParts,
    first_state,
    open_stage,
    open_test_desk,
    until,
)
from service_tui.client.errors import Called, UnreachableError
from service_tui.desk.commands.risk import RemovePriceAlert, SetPriceAlert
from service_tui.desk.commands.settings import Forget
from service_tui.desk.commands.webhooks import (
    ReadWebhooks,
    RemoveWebhook,
    SetWebhook,
    TestWebhook,
)
from service_tui.desk.desk import Desk
from service_tui.desk.slices.risk import Condition
from service_tui.engine.amm.exchange import Order
from service_tui.server.webhooks.post import Parcel
from service_tui.terms import Action, AlertCondition, Side, WebhookEvent
from service_tui.units import ONE, Micros
from service_tui.wire.endpoint import Endpoint
from service_tui.wire.endpoints.notify import WEBHOOKS

pytestmark = pytest.mark.slow

URL = "https://mine.example/in"
EVENTS = (WebhookEvent.TRADE_EXECUTED,)


class Mailbox:
    def __init__(self) -> None:
        self.error = ""
        self.sent: list[tuple[str, str]] = []

    async def __call__(
        self, url: str, parcel: Parcel, secret: str, *, allows_loopback: bool
    ) -> str:
        del secret, allows_loopback
        self.sent.append((url, parcel.event))
        return self.error


@asynccontextmanager
async def opened(path: Path, parts: WebhookParts) -> AsyncGenerator[tuple[Stage, Desk]]:
    async with open_stage(path, webhooks=parts, speed=0) as stage, open_test_desk(stage) as desk:
        yield stage, desk


async def added(desk: Desk, stage: Stage) -> str:
    desk.submit(SetWebhook(URL, EVENTS))
    state = await until(desk, lambda s: s.webhooks is not None and s.webhooks.rows, stage.clock)
    assert state.webhooks is not None
    return state.webhooks.rows[0].webhook_id


async def test_a_new_webhook_is_listed_and_its_secret_is_revealed_once(tmp_path: Path) -> None:
    parts = WebhookParts(post=Mailbox())
    async with (
        open_stage(tmp_path, webhooks=parts, speed=0) as stage,
        open_test_desk(stage) as desk,
    ):
        await added(desk, stage)
        revealed = desk.state.revealed
        assert revealed is not None
        assert revealed.is_webhook
        assert (revealed.name, len(revealed.secret) >= 32) == (URL, True)
        assert revealed.secret not in repr(desk.state)
        desk.submit(Forget())
        await until(desk, lambda s: s.revealed is None, stage.clock)
        assert desk.state.webhooks is not None
        (row,) = desk.state.webhooks.rows
        assert (row.url, row.events, row.is_active) == (URL, EVENTS, True)


async def test_a_test_says_how_it_went(tmp_path: Path) -> None:
    box = Mailbox()
    parts = WebhookParts(post=box)
    async with (
        open_stage(tmp_path, webhooks=parts, speed=0) as stage,
        open_test_desk(stage) as desk,
    ):
        webhook_id = await added(desk, stage)
        assert desk.state.webhooks is not None
        listed_at = desk.state.webhooks.at
        await stage.clock.advance(1)
        desk.submit(TestWebhook(webhook_id, URL))
        await until(desk, lambda s: "accepted the test" in s.notices[-1].text, stage.clock)
        # The list is read anew: a delivery changes it.
        await until(desk, lambda s: s.webhooks and s.webhooks.at > listed_at, stage.clock)
        assert box.sent == [(URL, "webhook.test")]
        box.error = "responded with status 500"
        desk.submit(TestWebhook(webhook_id, URL))
        await until(desk, lambda s: box.error in s.notices[-1].text, stage.clock)


async def test_a_removed_webhook_is_gone_and_a_refusal_says_why(tmp_path: Path) -> None:
    parts = WebhookParts(post=Mailbox())
    async with (
        open_stage(tmp_path, webhooks=parts, speed=0) as stage,
        open_test_desk(stage) as desk,
    ):
        webhook_id = await added(desk, stage)
        desk.submit(RemoveWebhook(webhook_id, URL))
        await until(desk, lambda s: s.webhooks is not None and not s.webhooks.rows, stage.clock)
        desk.submit(RemoveWebhook(webhook_id, URL))
        state = await until(desk, lambda s: "not found" in s.notices[-1].text, stage.clock)
        assert "GET /api/sdk/webhooks" in state.notices[-1].text
        desk.submit(SetWebhook("https://10.0.0.1/", EVENTS))
        await until(desk, lambda s: "not a public address" in s.notices[-1].text, stage.clock)


async def test_a_list_that_cannot_be_read_stays_with_the_reason(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    parts = WebhookParts(post=Mailbox())
    async with opened(tmp_path, parts) as (stage, desk):
        await added(desk, stage)
        call = stage.client.call

        async def fail(endpoint: Endpoint[Any], *given: Any, **named: Any) -> object:
            if endpoint is WEBHOOKS:
                raise UnreachableError("no connection", Called("GET", WEBHOOKS.path))
            return await call(endpoint, *given, **named)

        monkeypatch.setattr(stage.client, "call", fail)
        desk.submit(ReadWebhooks())
        state = await until(desk, lambda s: s.webhooks and s.webhooks.problem, stage.clock)
        assert state.webhooks is not None
        assert len(state.webhooks.rows) == 1


async def test_a_read_only_desk_adds_nothing(tmp_path: Path) -> None:
    parts = WebhookParts(post=Mailbox())
    first = first_state(read_only=True)
    async with (
        open_stage(tmp_path, webhooks=parts, speed=0) as stage,
        open_test_desk(stage, first) as desk,
    ):
        desk.submit(SetWebhook(URL, EVENTS))
        await until(desk, lambda s: s.notices and "read-only" in s.notices[-1].text, stage.clock)
        assert stage.world.webhooks.by_id == {}


async def test_a_price_alert_of_the_console_notifies_a_webhook_until_it_is_removed(
    tmp_path: Path,
) -> None:
    box = Mailbox()
    parts = WebhookParts(post=box)
    async with open_stage(tmp_path, webhooks=parts) as stage, open_test_desk(stage) as desk:
        await until(desk, lambda s: s.markets and not s.from_cache, stage.clock)
        desk.submit(SetWebhook(URL, (WebhookEvent.PRICE_ALERT,)))
        market = min(stage.open_markets(), key=lambda one: one.b)
        for threshold in (0.998, round(market.price() + 0.02, 4)):
            order = SetPriceAlert(market.market_id, Side.YES, Condition.ABOVE, threshold, "q")
            desk.submit(order)
        await until(desk, lambda _: len(stage.world.price_alerts.waiting) == 2, stage.clock)
        far = next(one for one in desk.state.risk.price_alerts if one.threshold == 0.998)
        desk.submit(RemovePriceAlert(far.alert_id))
        await until(desk, lambda _: len(stage.world.price_alerts.waiting) == 1, stage.clock)
        while market.price() < threshold:
            order = Order(stage.agent, market.market_id, Side.YES, Action.BUY, Micros(100 * ONE))
            await stage.sim.service.world_store.place(order, stage.clock.now())
        await until(desk, lambda _: box.sent, stage.clock)
        assert box.sent == [(URL, "price.alert")]


async def test_a_read_only_desk_sets_no_alert_at_the_service(tmp_path: Path) -> None:
    first = first_state(read_only=True)
    async with open_stage(tmp_path, speed=0) as stage, open_test_desk(stage, first) as desk:
        market_id = stage.open_markets()[0].market_id
        desk.submit(SetPriceAlert(market_id, Side.YES, Condition.ABOVE, 0.998, "q"))
        await until(desk, lambda s: s.risk.price_alerts, stage.clock)
        await stage.clock.advance(1)
        assert stage.world.price_alerts.waiting == {}


async def test_the_desk_removes_no_alert_of_a_program(tmp_path: Path) -> None:
    async with open_stage(tmp_path, speed=0) as stage, open_test_desk(stage) as desk:
        market = stage.open_markets()[0]
        theirs = stage.world.price_alerts.request(
            stage.agent,
            market,
            side=Side.YES,
            condition=AlertCondition.ABOVE,
            threshold=0.998,
            webhook_url=URL,
            at=stage.clock.now(),
        )
        await stage.sim.service.world_store.commit(stage.world.note(theirs))
        desk.submit(SetPriceAlert(market.market_id, Side.YES, Condition.ABOVE, 0.998, "q"))
        waiting = stage.world.price_alerts.waiting
        await until(desk, lambda _: len(stage.world.price_alerts.waiting) == 2, stage.clock)
        desk.submit(RemovePriceAlert(desk.state.risk.price_alerts[0].alert_id))
        await until(desk, lambda _: len(stage.world.price_alerts.waiting) == 1, stage.clock)
        assert list(waiting) == [theirs.alert_id]
