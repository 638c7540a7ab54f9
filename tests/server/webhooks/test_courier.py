"""When a delivery is made, when it is repeated, and what it says."""

import json
import math
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import pytest

from kit.engine.bare import AT
from kit.service.line import Line
from kit.service.stage import WebhookParts, open_stage
from service_tui.server.webhooks.courier import (
    BACKOFF_MAX_S,
    BEHIND_MAX,
    MemorySecrets,
    first_unread,
    has_moved,
    parcel_of,
    pause_after,
)
from service_tui.server.webhooks.post import Parcel
from service_tui.server.webhooks.reports import WebhookReport
from service_tui.terms import WebhookEvent
from service_tui.wire.endpoints.notify import SET_WEBHOOK, TEST_WEBHOOKS, WEBHOOKS
from service_tui.wire.endpoints.public import PLACE_TRADE

REPORT: Final = WebhookReport("ada", WebhookEvent.TRADE_EXECUTED, "k", 1, AT, {"price": 0.5})


@pytest.mark.parametrize(
    ("failures", "pause_s"), [(0, 2.0), (1, 2.0), (2, 4.0), (4, 16.0), (8, 256.0), (9, 300.0)]
)
def test_the_pause_doubles_with_each_failure_up_to_its_bound(failures: int, pause_s: float) -> None:
    assert pause_after(failures) == pause_s
    assert pause_after(60) == BACKOFF_MAX_S


@pytest.mark.parametrize(
    ("before", "moved"),
    [(0.5, False), (0.4763, False), (0.4761, True), (0.53, True), (0.526, False)],
)
def test_a_price_has_moved_by_more_than_five_percent(before: float, *, moved: bool) -> None:
    assert has_moved(before, 0.5) is moved


@pytest.mark.parametrize(
    ("delivered", "world_seq", "first"),
    [((7, 9), 50, 7), ((9, 7), 7 + BEHIND_MAX, 7), ((7,), 8 + BEHIND_MAX, 8)],
)
def test_after_a_start_reading_begins_behind_the_webhook_that_knows_least(
    delivered: tuple[int, ...], world_seq: int, first: int
) -> None:
    assert first_unread(delivered, world_seq) == first


def test_a_delivery_says_what_it_is_and_when_it_was_and_holds_no_figure_that_is_none() -> None:
    parcel = parcel_of(REPORT, "d-1", "trade_executed")
    assert (parcel.delivery_id, parcel.event) == ("d-1", "trade_executed")
    assert json.loads(parcel.body) == {
        "event": "trade_executed", "delivery_id": "d-1", "created_at": "2027-01-15T08:00:00Z",
        "data": {"price": 0.5},
    }  # fmt: skip
    with pytest.raises(ValueError, match="JSON compliant"):
        parcel_of(replace(REPORT, data={"price": math.nan}), "d-1", "trade_executed")


def test_secrets_in_memory_are_kept_as_a_copy() -> None:
    kept = MemorySecrets()
    given = {"wh1": "s1"}
    kept.save(given)
    given.clear()
    kept.load().clear()
    assert kept.load() == {"wh1": "s1"}


@pytest.mark.slow
async def test_a_fault_of_the_post_is_a_failure_of_this_delivery_told_by_its_kind(
    tmp_path: Path,
) -> None:
    got: list[str] = []

    async def post(_: str, parcel: Parcel, *__: object, **___: object) -> str:
        got.append(parcel.delivery_id)
        if len(got) == 1:
            raise ValueError("https://hook.example/in?token=secret")
        return ""

    async with open_stage(tmp_path, webhooks=WebhookParts(post=post), speed=0) as stage:
        line = Line(stage, stage.key)

        async def state() -> dict[str, Any]:
            return (await line.said(WEBHOOKS))["webhooks"][0]

        body = {"url": "https://hook.example/in", "events": ["trade.executed"]}
        await line.said(SET_WEBHOOK, json=body | {"secret": "a secret of eight"})
        order = {"market_id": stage.open_markets()[0].market_id, "side": "no", "amount": 5}
        await line.said(PLACE_TRADE, json=order)
        await stage.clock.advance(1)
        found = str(await state())
        assert "failed (ValueError)" in found
        assert "token" not in found
        await stage.clock.advance(3)
        # The same delivery again, and then nothing more.
        assert len(got) == 2
        assert len(set(got)) == 1
        assert "ValueError" not in str(await state())


@pytest.mark.slow
async def test_a_webhook_without_its_secret_is_sent_nothing(tmp_path: Path) -> None:
    got: list[str] = []

    async def post(url: str, *_: object, **__: object) -> str:
        got.append(url)
        return ""

    parts = WebhookParts(post=post)
    async with open_stage(tmp_path, webhooks=parts, speed=0) as stage:
        body = {"url": "https://hook.example/in", "events": ["trade.executed"]}
        await Line(stage, stage.key).said(SET_WEBHOOK, json=body | {"secret": "s" * 9})
        key, agent_id = stage.key, stage.agent_id
    # A directory that came without the file of its secrets.
    parts = WebhookParts(post=post)
    async with open_stage(tmp_path, key=key, agent_id=agent_id, webhooks=parts, speed=0) as stage:
        told = await Line(stage, key).said(TEST_WEBHOOKS)
        assert "the secret of this webhook is lost" in str(told)
        assert got == []
