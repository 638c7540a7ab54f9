"""Webhooks of the desk: listed, added with their secret shown once, tested, removed."""

from pathlib import Path

import pytest

from kit.service.stage import Stage, WebhookParts, open_stage, open_test_desk, until
from service_tui.desk.commands.risk import RemovePriceAlert, SetPriceAlert
from service_tui.desk.commands.settings import Forget
from service_tui.desk.commands.webhooks import SetWebhook
from service_tui.desk.desk import Desk
from service_tui.engine.amm.exchange import Order
from service_tui.server.webhooks.post import Parcel
from service_tui.terms import Action, AlertCondition, Side, WebhookEvent
from service_tui.units import ONE, Micros

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
            order = SetPriceAlert(market.market_id, Side.YES, AlertCondition.ABOVE, threshold, "q")
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
