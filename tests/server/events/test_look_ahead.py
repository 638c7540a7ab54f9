"""Events and webhooks of a history: nothing that is told differs before the futures part."""

import asyncio
import json
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import httpx
import pytest

from kit.engine.recorded import DAY, HOUR, PARTS, WALLETS, two_futures
from kit.service.chance import without_chance
from kit.service.line import Line
from kit.service.stage import ANSWER_S, OPERATOR, Stage, WebhookParts, open_stage
from service_tui.addresses import checksummed
from service_tui.app.options import Options
from service_tui.server.http.loopback import listen
from service_tui.server.webhooks.post import Parcel
from service_tui.terms import Venue, WebhookEvent
from service_tui.wire.endpoints.desk import DESK_CLAIM, EVENTS, STEP
from service_tui.wire.endpoints.notify import SET_PRICE_ALERT, SET_WEBHOOK
from service_tui.wire.endpoints.public import (
    PATCH_AGENT,
    PATCH_REACTOR,
    PATCH_SETTINGS,
    PENDING_SIGNALS,
    PLACE_TRADE,
)

pytestmark = pytest.mark.slow

Json = dict[str, Any]
HOOKS: Final = tuple(event.value for event in WebhookEvent)


@dataclass
class Mailbox:
    """A post that keeps what it is given."""

    bodies: list[object] = field(default_factory=list)

    async def __call__(
        self, url: str, parcel: Parcel, secret: str, *, allows_loopback: bool
    ) -> str:
        del url, secret, allows_loopback
        body = json.loads(parcel.body)
        # It has the number of a row, of which the deliveries before have some: as they end.
        del body["delivery_id"]
        self.bodies.append(without_chance(body))
        return ""


@dataclass
class Listener:
    """Whoever hears the stream over HTTP, frame by frame."""

    lines: AsyncIterator[str]
    line: Line
    heard: list[object] = field(default_factory=list)

    async def until_named(self, name: str) -> None:
        """Hear all that was told up to now: the last of it is the agent's new name."""
        await self.line.said(PATCH_AGENT, json={"name": name})
        async with asyncio.timeout(ANSWER_S):
            while (said := await self._next()).get("agent", {}).get("name") != name:
                self.heard.append(without_chance(said))

    async def _next(self) -> Json:
        while not (text := await anext(self.lines)).startswith("data: "):
            pass
        return json.loads(text.removeprefix("data: "))


async def prepared(stage: Stage, line: Line, *, has_hook: bool) -> None:
    """Everything that is told by itself later: positions, orders, alerts, webhooks, wallets."""
    followed = [checksummed(f"0x{one.hex()}") for one in WALLETS]
    await line.said(
        PATCH_REACTOR, json={"wallets": followed, "enabled": True, "mirror_fraction": 1}
    )
    if has_hook:
        hook = {"url": "https://hook.example/in", "events": HOOKS, "secret": "a secret of eight"}
        await line.said(SET_WEBHOOK, json=hook)
    for market in stage.open_markets():
        for condition, threshold in (("above", 0.6), ("below", 0.4)):
            alert = {"market_id": market.market_id, "side": "yes", "condition": condition,
                     "threshold": threshold}  # fmt: skip
            await line.ask(SET_PRICE_ALERT, json=alert)
        home = market.listing.home
        order = {"market_id": market.market_id, "side": "yes", "amount": 5}
        await line.ask(PLACE_TRADE, json=order | {"venue": "sim"})
        if home is not Venue.SIM:
            rests = {"order_type": "GTC", "price": 0.3, "amount": 20, "venue": home.value}
            await line.said(PLACE_TRADE, json=order | rests)


async def told(
    folder: Path, recorded: Options, *, has_hook: bool
) -> tuple[list[object], list[object]]:
    """What is told until the futures part; and from there until three days after.

    It is what stream and signals say, or what a webhook gets: when a delivery is written down, and
    so the numbers of the rows, is a matter of chance.
    """
    box = Mailbox()
    async with (
        open_stage(folder, recorded=recorded, speed=0, webhooks=WebhookParts(post=box)) as stage,
        listen(stage.sim.app) as url,
        httpx.AsyncClient(base_url=url, trust_env=False, timeout=ANSWER_S) as client,
        client.stream("GET", EVENTS.path, headers={"Authorization": f"Bearer {OPERATOR}"}) as said,
    ):
        line, operator = Line(stage, stage.key), Line(stage, OPERATOR)
        listener = Listener(said.aiter_lines(), line)
        await operator.said(DESK_CLAIM, path={"agent_id": stage.agent_id})
        await line.said(PATCH_SETTINGS, json={"sdk_real_trading_enabled": True})
        await prepared(stage, line, has_hook=has_hook)

        async def step_to(until: float) -> list[object]:
            signals = list[object]()
            while (left := until - stage.world.world_at) > 0:
                await operator.said(STEP, json={"seconds": int(min(HOUR, left))})
                await stage.clock.advance(1.0)
                signals.append(without_chance(await line.said(PENDING_SIGNALS)))
            await listener.until_named(f"at {until}")
            found = box.bodies if has_hook else listener.heard + signals
            box.bodies, listener.heard = [], []
            return found

        return await step_to(PARTS - HOUR), await step_to(PARTS + 3 * DAY)


@pytest.mark.parametrize(
    ("has_hook", "words"),
    [
        (False, ("market_resolved", "market_listed", '"fill"', "copytrade", '"order"')),
        (True, ("market.resolved", "trade.executed", "price.alert")),
    ],
    ids=["stream and signals", "webhooks"],
)
@pytest.mark.parametrize("seed", range(2))
async def test_nothing_is_told_of_what_comes_after_the_futures_of_two_recordings_part(
    tmp_path: Path, seed: int, *, has_hook: bool, words: tuple[str, ...]
) -> None:
    (one, later), (two, other) = [
        await told(tmp_path / f"world {recorded.data_dir.name}", recorded, has_hook=has_hook)
        for recorded in two_futures(tmp_path, seed, PARTS - 2 * DAY)
    ]
    assert one == two
    assert later != other
    text = json.dumps(one)
    assert [word for word in words if word not in text] == []
