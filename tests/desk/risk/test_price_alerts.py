"""Price alerts of a desk: at the service, or on this console where that keeps none."""

import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import pytest

from kit.desk.faults import Fault, Line, breaking, reading_seldom, ready, said, until
from kit.samples.risk import price_alert_of
from kit.service.stage import Stage, first_state, open_stage, open_test_desk
from service_tui.desk.commands.halt import Halt
from service_tui.desk.commands.risk import RemovePriceAlert, SetPriceAlert
from service_tui.desk.desk import Desk
from service_tui.desk.facts import MarketsSeen
from service_tui.desk.risk.price_alert_rows import row_of
from service_tui.desk.slices.risk import PriceAlertView
from service_tui.desk.state import DeskState
from service_tui.storage.price_alerts import PriceAlerts
from service_tui.terms import PRICE_ALERTS_MAX, AlertCondition, Side
from service_tui.units import Probability, Timestamp
from service_tui.wire.alerts import PriceAlertBody, PriceAlertRequest
from service_tui.wire.endpoints.notify import (
    DELETE_PRICE_ALERT,
    PRICE_ALERTS,
    SET_PRICE_ALERT,
    TRIGGERED_ALERTS,
)
from service_tui.wire.endpoints.public import PLACE_TRADE
from service_tui.wire.trades import TradeRequest

pytestmark = pytest.mark.slow

URL = "https://mine.example/in"

ABOVE, RISES = AlertCondition.ABOVE, AlertCondition.CROSSES_ABOVE


@asynccontextmanager
async def open_line(path: Path, speed: int = 0) -> AsyncGenerator[tuple[Stage, Line]]:
    async with open_stage(path, speed=speed) as whole:
        with reading_seldom():
            yield breaking(whole)


@asynccontextmanager
async def open_ready(stage: Stage, *, read_only: bool = False) -> AsyncGenerator[Desk]:
    async with open_test_desk(stage, first_state(read_only=read_only)) as desk:
        await until(desk, ready, stage)
        yield desk


def without_endpoint(request: httpx.Request) -> httpx.Response | None:
    return said({"error": "no such path"}, 404) if "/alerts" in request.url.path else None


def told(state: DeskState, begins: str = "price alert:") -> list[str]:
    return [one.text for one in state.notices if one.text.startswith(begins)]


def open_ones(state: DeskState) -> list[PriceAlertView]:
    return [one for one in state.risk.price_alerts if one.is_open]


def at_service(state: DeskState) -> list[PriceAlertView]:
    return [one for one in state.risk.price_alerts if one.service_id]


async def listed(stage: Stage) -> tuple[PriceAlertBody, ...]:
    return (await stage.client.call(PRICE_ALERTS)).answer.alerts


def see(desk: Desk, market_id: str, yes: float) -> None:
    """A price, as any poll or event would bring it."""
    market = replace(desk.state.markets[market_id], price=Probability(yes))
    desk.ports.emit(MarketsSeen((market,), complete=False))


def wish(
    stage: Stage,
    off: float = 0.01,
    condition: AlertCondition = RISES,
    *,
    side: Side = Side.YES,
) -> SetPriceAlert:
    """An alert on the market that moves easiest, so far off its price."""
    market = min(stage.open_markets(), key=lambda one: one.b)
    return SetPriceAlert(market.market_id, side, condition, round(market.price_of(side) + off, 4))


async def cross(stage: Stage) -> None:
    """Buy in that market until it is beyond such an alert, and let the world tick."""
    market = min(stage.open_markets(), key=lambda one: one.b)
    body = TradeRequest(market_id=market.market_id, side=Side.YES, amount=100)
    await stage.client.call(PLACE_TRADE, body=body)
    await stage.clock.advance(2)


async def test_an_alert_is_placed_at_the_service_and_removed_there(tmp_path: Path) -> None:
    async with open_line(tmp_path) as (stage, _), open_ready(stage) as desk:
        order = wish(stage)
        desk.submit(order)
        await until(desk, at_service, stage)
        (body,) = await listed(stage)
        (alert,) = desk.state.risk.price_alerts
        assert (body.id, body.threshold) == (alert.service_id, order.threshold)
        assert alert.question == body.market_question
        assert told(desk.state, "alert when") == [order.describe()]
        desk.submit(order)
        await until(desk, lambda s: len(told(s, "alert when")) > 1, stage)
        assert told(desk.state, "alert when")[-1].endswith("set already")
        desk.submit(RemovePriceAlert(alert.alert_id))
        await until(desk, lambda s: not s.risk.price_alerts, stage)
        assert await listed(stage) == ()
        await stage.clock.advance(25)
        assert not desk.state.risk.price_alerts
        assert PriceAlerts(stage.database).all() == []


async def test_a_firing_of_the_service_is_told_once_also_after_a_restart(tmp_path: Path) -> None:
    async with open_line(tmp_path, speed=1) as (stage, _):
        async with open_ready(stage) as desk:
            desk.submit(wish(stage))
            await until(desk, at_service, stage)
            await cross(stage)
            await until(desk, told, stage)
            (alert,) = desk.state.risk.price_alerts
            assert not alert.is_open
            await stage.clock.advance(30)
            assert len(told(desk.state)) == 1
            assert ", now 0." in told(desk.state)[0]
        async with open_ready(stage) as desk:
            await stage.clock.advance(30)
            assert desk.state.risk.price_alerts == (alert,)
            assert told(desk.state) == []
            desk.submit(RemovePriceAlert(alert.alert_id))
            await until(desk, lambda s: not s.risk.price_alerts, stage)
            await stage.clock.advance(30)
            assert not desk.state.risk.price_alerts
        async with open_ready(stage) as desk:
            await stage.clock.advance(30)
            assert not desk.state.risk.price_alerts


async def test_what_fired_while_the_console_was_closed_is_told_with_its_time(
    tmp_path: Path,
) -> None:
    async with open_line(tmp_path, speed=1) as (stage, _):
        async with open_ready(stage) as desk:
            desk.submit(wish(stage))
            await until(desk, at_service, stage)
        await cross(stage)
        await stage.clock.advance(600)
        (body,) = (await stage.client.call(TRIGGERED_ALERTS)).answer.alerts
        assert body.triggered_at is not None
        async with open_ready(stage) as desk:
            await until(desk, told, stage)
            assert f" at {body.triggered_at:%d %b %H:%M UTC}" in told(desk.state)[0]
            await stage.clock.advance(30)
            assert len(told(desk.state)) == 1
            (alert,) = desk.state.risk.price_alerts
            assert alert.triggered_at == body.triggered_at.timestamp()
        async with open_ready(stage) as desk:
            await stage.clock.advance(30)
            assert told(desk.state) == []


async def test_an_alert_that_is_met_already_fires_at_once_at_the_service(tmp_path: Path) -> None:
    async with open_line(tmp_path) as (stage, _), open_ready(stage) as desk:
        desk.submit(wish(stage, -0.01, ABOVE))
        await until(desk, told, stage)
        (body,) = (await stage.client.call(TRIGGERED_ALERTS)).answer.alerts
        (alert,) = desk.state.risk.price_alerts
        assert (alert.service_id, alert.is_open) == (body.id, False)
        await stage.clock.advance(30)
        assert len(told(desk.state)) == 1


async def test_an_alert_of_the_agents_own_program_is_shown_and_its_firing_told(
    tmp_path: Path,
) -> None:
    async with open_line(tmp_path, speed=1) as (stage, _), open_ready(stage) as desk:
        order = wish(stage)
        body = PriceAlertRequest(
            market_id=order.market_id, side=order.side, condition=RISES, threshold=order.threshold
        )
        made = (await stage.client.call(SET_PRICE_ALERT, body=body)).answer
        await until(desk, at_service, stage)
        gone = wish(stage, 0.2)
        desk.submit(gone)
        await until(desk, lambda s: len(at_service(s)) > 1, stage)
        other = next(one for one in at_service(desk.state) if one.service_id != made.id)
        await stage.client.call(DELETE_PRICE_ALERT, path={"alert_id": other.service_id})
        await until(desk, lambda s: told(s, "price alert no longer at the service"), stage)
        await cross(stage)
        await until(desk, told, stage)
        assert [one.service_id for one in desk.state.risk.price_alerts] == [made.id]


async def test_a_service_without_alerts_leaves_them_to_this_console(tmp_path: Path) -> None:
    async with open_line(tmp_path) as (stage, line):
        line.fault = without_endpoint
        async with open_ready(stage) as desk:
            order = wish(stage, 0.05, AlertCondition.CROSSES_ABOVE)
            see(desk, order.market_id, order.threshold - 0.05)
            desk.submit(order)
            await until(desk, open_ones, stage)
            text = f"{order.describe()}; kept by this console only"
            assert told(desk.state, "alert when") == [text]
            assert desk.state.risk.price_alerts[0].is_local
            see(desk, order.market_id, order.threshold + 0.01)
            # Between two polls, and gone again: seen all the same.
            see(desk, order.market_id, order.threshold - 0.01)
            see(desk, order.market_id, order.threshold + 0.01)
            await until(desk, told, stage)
            (alert,) = desk.state.risk.price_alerts
            assert len(told(desk.state)) == 1
            desk.submit(replace(order, condition=ABOVE, threshold=0.0001))
            await until(desk, lambda s: len(told(s)) > 1, stage)
        assert all(
            request.method == "GET" for request in line.sent if "/alerts" in str(request.url)
        )
        async with open_ready(stage) as desk:
            assert alert in desk.state.risk.price_alerts
            see(desk, order.market_id, order.threshold - 0.01)
            see(desk, order.market_id, order.threshold + 0.01)
            await stage.clock.advance(5)
            assert told(desk.state) == []
            desk.submit(RemovePriceAlert(alert.alert_id))
            await until(desk, lambda s: alert not in s.risk.price_alerts, stage)
        assert alert.alert_id not in [one["alert_id"] for one in PriceAlerts(stage.database).all()]


@pytest.mark.parametrize("fault", [Fault.LOST, Fault.TIMED_OUT, Fault.HALF, Fault.SWALLOWED])
async def test_an_alert_without_an_answer_is_looked_up_and_is_there_once(
    tmp_path: Path, fault: Fault
) -> None:
    async with open_line(tmp_path) as (stage, line):
        met: list[Fault] = []

        def once(request: httpx.Request) -> Fault | None:
            if request.method != "POST" or "/alerts" not in request.url.path or met:
                return None
            met.append(fault)
            return fault

        line.fault = once
        async with open_ready(stage) as desk:
            desk.submit(wish(stage))
            await until(desk, lambda s: told(s, "alert when"), stage)
            assert "looked up" in told(desk.state, "alert when")[0]
            if fault is Fault.SWALLOWED:
                desk.submit(RemovePriceAlert(desk.state.risk.price_alerts[0].alert_id))
                await until(desk, lambda s: told(s, "remove a price"), stage)
        # Whatever has become of it, the next start looks it up.
        async with open_ready(stage) as desk:
            await until(desk, at_service, stage, tries=200)
            (alert,) = desk.state.risk.price_alerts
            assert [one.id for one in await listed(stage)] == [alert.service_id]
            await stage.clock.advance(90)
            assert len(await listed(stage)) == 1
    sent = [one for one in line.sent if one.method == "POST" and "/alerts" in one.url.path]
    assert len(sent) == (2 if fault is Fault.SWALLOWED else 1)


async def test_alerts_of_an_earlier_console_are_handed_over_once(tmp_path: Path) -> None:
    async with open_line(tmp_path) as (stage, line):
        order = wish(stage)
        at = Timestamp(stage.clock.now() - 86_400)
        terms: dict[str, Any] = {
            "market_id": order.market_id, "condition": RISES, "created_at": at, "is_armed": True,
        }  # fmt: skip
        price = order.threshold - 0.01
        waits = price_alert_of("waits", threshold=price + 0.02, **terms)
        mirrored = price_alert_of("mirrored", threshold=price + 0.03, **terms)
        crossed = price_alert_of("crossed", threshold=price - 0.03, **terms)
        fired = price_alert_of("fired", threshold=0.7, triggered_at=at, **terms)
        stored = PriceAlerts(stage.database)
        for alert in (waits, mirrored, crossed, fired):
            await stored.put(row_of(alert))
        body = PriceAlertRequest(
            market_id=order.market_id, side=Side.YES, condition=RISES, threshold=mirrored.threshold
        )
        made = (await stage.client.call(SET_PRICE_ALERT, body=body)).answer
        # The same as another one, with an address of its own: a program's.
        theirs = body.model_copy(update={"threshold": waits.threshold, "webhook_url": URL})
        await stage.client.call(SET_PRICE_ALERT, body=theirs)
        for _ in range(2):
            async with open_ready(stage) as desk:
                await until(desk, lambda s: len(at_service(s)) == 3, stage)
                await stage.clock.advance(30)
                alerts = {one.alert_id: one for one in desk.state.risk.price_alerts}
                assert alerts.keys() > {"waits", "mirrored", "crossed", "fired"}
                assert alerts["mirrored"].service_id == made.id
                # The service would have begun with the price of now: told here.
                assert not alerts["crossed"].is_open
                assert alerts["fired"] == fired
                assert len(await listed(stage)) == 3
    sent = [json.loads(one.content) for one in line.sent if one.method == "POST"]
    assert [one["threshold"] for one in sent if "threshold" in one] == [
        made.threshold, waits.threshold, waits.threshold,
    ]  # fmt: skip


async def test_what_fired_before_this_console_looked_is_shown_and_not_told(tmp_path: Path) -> None:
    async with open_line(tmp_path) as (stage, _):
        theirs, mirrored = wish(stage, -0.02, ABOVE), wish(stage, -0.01, ABOVE)
        for one in (theirs, mirrored):
            body = PriceAlertRequest(
                market_id=one.market_id, side=one.side, condition=ABOVE, threshold=one.threshold
            )
            await stage.client.call(SET_PRICE_ALERT, body=body)
        at = stage.clock.now()
        told_then = price_alert_of(
            "mirrored", market_id=mirrored.market_id, threshold=mirrored.threshold, created_at=at,
            triggered_at=at, triggered_price=0.5,
        )  # fmt: skip
        await PriceAlerts(stage.database).put(row_of(told_then))
        for _ in range(2):
            async with open_ready(stage) as desk:
                await until(desk, lambda s: len(at_service(s)) == 2, stage)
                await stage.clock.advance(30)
                assert told(desk.state) == []
                alerts = {one.threshold: one for one in desk.state.risk.price_alerts}
                assert len(desk.state.risk.price_alerts) == 2
                assert not alerts[theirs.threshold].is_open
                assert alerts[mirrored.threshold].triggered_price == 0.5
                assert alerts[mirrored.threshold].alert_id == "mirrored"


async def test_the_limit_of_the_service_refuses_with_a_sentence(tmp_path: Path) -> None:
    async with open_line(tmp_path) as (stage, _):
        order = wish(stage)
        for place in range(PRICE_ALERTS_MAX):
            body = PriceAlertRequest(
                market_id=order.market_id, side=Side.NO, condition=ABOVE,
                threshold=0.9 + place / 10_000,
            )  # fmt: skip
            await stage.client.call(SET_PRICE_ALERT, body=body)
        old = price_alert_of("old", market_id=order.market_id, threshold=0.98)
        await PriceAlerts(stage.database).put(row_of(old))
        async with open_ready(stage) as desk:
            await until(desk, told, stage)
            (text,) = told(desk.state)
            assert text.endswith("kept by this console only")
            desk.submit(order)
            await until(desk, lambda s: told(s, "alert when"), stage)
            assert "100 price alerts already" in told(desk.state, "alert when")[0]
            await stage.clock.advance(60)
            assert [one.alert_id for one in desk.state.risk.price_alerts if one.is_local] == ["old"]
            assert len(told(desk.state)) == 1
            assert not [one.text for one in desk.state.notices if "restarting" in one.text]


async def test_without_an_answer_an_alert_waits_here_until_the_service_answers(
    tmp_path: Path,
) -> None:
    async with open_line(tmp_path) as (stage, line), open_ready(stage) as desk:
        line.fault = lambda one: Fault.NO_LINE if "/alerts" in one.url.path else None
        desk.submit(wish(stage))
        await until(desk, open_ones, stage)
        assert desk.state.risk.price_alerts[0].is_local
        assert "until it answers" in told(desk.state, "alert when")[0]
        line.fault = lambda _: None
        await until(desk, at_service, stage)
        assert len(await listed(stage)) == 1


async def test_a_read_only_desk_lists_and_changes_nothing(tmp_path: Path) -> None:
    async with open_line(tmp_path) as (stage, _):
        async with open_ready(stage) as desk:
            desk.submit(wish(stage))
            await until(desk, at_service, stage)
        await PriceAlerts(stage.database).put(
            row_of(replace(price_alert_of("own"), market_id=wish(stage).market_id, threshold=0.99))
        )
        async with open_ready(stage, read_only=True) as desk:
            (alert,) = at_service(desk.state)
            desk.submit(wish(stage, 0.02))
            desk.submit(RemovePriceAlert(alert.alert_id))
            await until(desk, lambda s: told(s, "remove a price"), stage)
            assert "read-only" in told(desk.state, "alert when")[0]
            assert len(await listed(stage)) == 1
            assert len(desk.state.risk.price_alerts) == 2


async def test_a_halted_desk_may_place_alerts(tmp_path: Path) -> None:
    async with open_line(tmp_path) as (stage, _), open_ready(stage) as desk:
        desk.submit(Halt())
        desk.submit(wish(stage))
        await until(desk, at_service, stage)


@pytest.mark.parametrize("threshold", [0.0, 1.0, -0.1, float("nan")])
async def test_a_price_beyond_its_bounds_is_refused(tmp_path: Path, threshold: float) -> None:
    async with open_line(tmp_path) as (stage, _), open_ready(stage) as desk:
        desk.submit(replace(wish(stage), threshold=threshold))
        text = "price alert: price must be above 0 and below 1"
        await until(desk, lambda s: told(s) == [text], stage)
        assert desk.state.risk.price_alerts == ()
