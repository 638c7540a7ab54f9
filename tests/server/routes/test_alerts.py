"""Price alerts over the wire: set, triggered by the tape, delivered, removed."""

import json
from pathlib import Path
from typing import Any

import pytest

from kit.service.line import Line
from kit.service.stage import Stage, WebhookParts, open_stage
from service_tui.server.webhooks.post import Parcel
from service_tui.wire.endpoints.notify import (
    DELETE_PRICE_ALERT,
    PRICE_ALERTS,
    SET_PRICE_ALERT,
    TRIGGERED_ALERTS,
    WEBHOOKS,
)
from service_tui.wire.endpoints.public import PLACE_TRADE, REGISTER

pytestmark = pytest.mark.slow

Json = dict[str, Any]


async def placed(stage: Stage, **changes: object) -> Json:
    body: Json = {"side": "yes", "condition": "above", "threshold": 0.999}
    body |= {"market_id": stage.open_markets()[0].market_id} | changes
    answer = await Line(stage, stage.key).ask(SET_PRICE_ALERT, json=body)
    assert answer.status_code == 200, answer.text
    made: Json = answer.json()
    return made


async def test_an_alert_is_listed_until_it_triggers_and_then_among_the_triggered(
    tmp_path: Path,
) -> None:
    async with open_stage(tmp_path) as stage:
        line = Line(stage, stage.key)
        market = stage.open_markets()[0]
        price = market.price()
        threshold = round(price - 0.01, 4)
        made = await placed(stage, threshold=threshold, webhook_url="https://mine.example/in")
        waits = (await line.ask(PRICE_ALERTS)).json()
        assert waits["count"] == 1
        assert waits["alerts"][0]["id"] == made["id"]
        assert waits["alerts"][0]["market_question"] == market.listing.question
        assert waits["alerts"][0]["triggered_at"] is None
        await stage.clock.advance(2)
        assert (await line.ask(PRICE_ALERTS)).json() == {"alerts": [], "count": 0}
        (row,) = (await line.ask(TRIGGERED_ALERTS)).json()["alerts"]
        assert row["id"] == made["id"]
        assert row["triggered_at"]
        assert row["triggered_price"] > made["threshold"]
        await stage.clock.advance(2)
        assert (await line.ask(TRIGGERED_ALERTS)).json()["count"] == 1


async def test_an_alert_that_is_met_already_triggers_also_while_the_world_is_paused(
    tmp_path: Path,
) -> None:
    async with open_stage(tmp_path, speed=0) as stage:
        line = Line(stage, stage.key)
        threshold = round(stage.open_markets()[0].price() - 0.01, 4)
        made = await placed(stage, threshold=threshold)
        assert made["triggered_at"]
        waits = await placed(stage, condition="crosses_above", threshold=threshold)
        (row,) = (await line.ask(TRIGGERED_ALERTS)).json()["alerts"]
        assert row["id"] == made["id"]
        (row,) = (await line.ask(PRICE_ALERTS)).json()["alerts"]
        assert row["id"] == waits["id"]


async def test_a_trade_that_crosses_the_threshold_triggers_at_the_next_tick(
    tmp_path: Path,
) -> None:
    async with open_stage(tmp_path, speed=1) as stage:
        line = Line(stage, stage.key)
        market = min(stage.open_markets(), key=lambda one: one.b)
        threshold = round(market.price() + 0.01, 4)
        made = await placed(
            stage, market_id=market.market_id, condition="crosses_above", threshold=threshold
        )
        body = {"market_id": market.market_id, "side": "yes", "amount": 100}
        assert (await line.ask(PLACE_TRADE, json=body)).json()["success"]
        assert market.price() > threshold
        await stage.clock.advance(1)
        rows = (await line.ask(TRIGGERED_ALERTS)).json()["alerts"]
        assert [row["id"] for row in rows] == [made["id"]]


async def test_an_alert_is_delivered_to_its_own_address_signed_by_a_secret_shown_once(
    tmp_path: Path,
) -> None:
    got: list[tuple[str, Parcel, str]] = []

    async def post(url: str, parcel: Parcel, secret: str, *, allows_loopback: bool) -> str:
        del allows_loopback
        got.append((url, parcel, secret))
        return ""

    url = "https://hook.example/alert"
    async with open_stage(tmp_path, webhooks=WebhookParts(post=post)) as stage:
        low = round(stage.open_markets()[0].price() - 0.01, 4)
        silent = await placed(stage, threshold=low)
        made = await placed(stage, threshold=low, webhook_url=url)
        again = await placed(stage, threshold=low, webhook_url=url)
        assert silent["webhook_secret"] is None
        assert made["webhook_secret"]
        assert again["webhook_secret"] is None
        (hook,) = (await Line(stage, stage.key).ask(WEBHOOKS)).json()["webhooks"]
        assert (hook["url"], hook["events"]) == (url, [])
        await stage.clock.advance(3)
        told = [json.loads(parcel.body)["data"]["alert_id"] for _, parcel, _ in got]
        assert told == [made["id"], again["id"]]
        assert {(where, secret) for where, _, secret in got} == {(url, made["webhook_secret"])}


async def test_alerts_are_an_agents_own(tmp_path: Path) -> None:
    async with open_stage(tmp_path) as stage:
        made = await placed(stage)
        key = (await Line(stage, stage.key).ask(REGISTER, json={"name": "b"})).json()["api_key"]
        other = Line(stage, key)
        assert (await other.ask(PRICE_ALERTS)).json()["count"] == 0
        path = {"alert_id": made["id"]}
        assert (await other.ask(DELETE_PRICE_ALERT, path=path)).status_code == 404


async def test_alerts_outlive_a_restart(tmp_path: Path) -> None:
    async with open_stage(tmp_path) as stage:
        made = await placed(stage)
        key, agent_id, clock = stage.key, stage.agent_id, stage.clock
    async with open_stage(tmp_path, clock, key=key, agent_id=agent_id) as stage:
        (row,) = (await Line(stage, key).ask(PRICE_ALERTS)).json()["alerts"]
        assert (row["id"], row["threshold"]) == (made["id"], made["threshold"])
