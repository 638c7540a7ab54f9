import asyncio
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from kit.service.line import change, line_to, sink_on
from kit.service.scripted import said, scripted
from kit.service.served import Served, open_served
from service_tui import ServiceClient
from service_tui.client.errors import (
    Called,
    NotFoundError,
    RefusalReason,
    ServiceError,
    UnreachableError,
)
from service_tui.clock import SystemClock
from service_tui.engine.risk.monitors import MonitoredSide
from service_tui.sdk.exits import _acknowledge, sell_for
from service_tui.sdk.result import TradeResult
from service_tui.sdk.transport import SyncTransport
from service_tui.terms import Side, Venue, WalletKind
from service_tui.units import Timestamp
from service_tui.wire.endpoints.public import END_RISK_ALERT, PLACE_TRADE, SET_MONITOR
from service_tui.wire.monitors import RiskAlertBody

SIGNS = "11" * 32


async def breached(served: Served) -> str:
    """A market in which a tick has crossed the threshold of an external wallet."""
    own = {"wallet": WalletKind.EXTERNAL, "claimed": True, "real_trading_enabled": True}
    await change(served.stage, auto_risk_monitor_enabled=False, **own)
    line = line_to(served.stage)
    found = [one for one in served.stage.open_markets() if one.listing.home is Venue.SOL]
    market_id = max(found, key=lambda one: one.listing.resolves_at).market_id
    order = {"market_id": market_id, "side": "yes", "amount": 10, "venue": "sol_venue"}
    assert (await line.said(PLACE_TRADE, json=order))["success"]
    # Any fall reaches it.
    hair = {"side": "yes", "stop_loss_pct": 0.0001}
    await line.said(SET_MONITOR, path={"market_id": market_id}, json=hair)
    served.stage.world.speed = 0
    await sink_on(served.stage, market_id)
    await line.wait(1)
    served.asked.clear()
    return market_id


def held(served: Served, market_id: str) -> int:
    where = MonitoredSide(served.stage.agent_id, Venue.SOL, market_id, Side.YES)
    return served.stage.world.risk.position_of(where).shares


@pytest.mark.slow
async def test_a_client_that_may_not_sell_leaves_alerts_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def script(served: Served) -> None:
        with served.client() as client:
            client.get_briefing()
            assert client.execute_risk_alerts() == []
            assert len(client.get_risk_alerts()) == 1
        monkeypatch.setenv("WALLET_PRIVATE_KEY", SIGNS)
        with served.client(live=False) as client:
            client.get_briefing()
            assert client.execute_risk_alerts() == []
            with pytest.raises(ValueError, match="paper"):
                client.set_monitor(served.market_id, "yes", stop_loss_pct=0.2)

    async with open_served(tmp_path) as served:
        market_id = await breached(served)
        await asyncio.to_thread(script, served)
        assert held(served, market_id) > 0
        assert served.posts == []


@pytest.mark.slow
@pytest.mark.parametrize("from_environment", [True, False])
async def test_opening_a_live_client_with_a_signing_key_makes_the_exit_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, from_environment: bool
) -> None:
    def script(served: Served) -> None:
        if from_environment:
            monkeypatch.setenv("WALLET_PRIVATE_KEY", f"0x{SIGNS}")
        own = None if from_environment else SIGNS
        clients = [ServiceClient(served.stage.key, served.url, private_key=own) for _ in range(3)]
        for client in clients:
            client.get_briefing()
            client.close()

    async with open_served(tmp_path) as served:
        market_id = await breached(served)
        await asyncio.to_thread(script, served)
        assert held(served, market_id) == 0
        where = f"DELETE /api/sdk/risk-alerts/{market_id}/yes"
        assert served.posts == ["POST /api/sdk/trade", where]
        (alert,) = served.stage.world.risk.history_of(served.stage.agent_id)
        assert (alert.status.value, alert.is_acknowledged) == ("executed", True)


@pytest.mark.slow
async def test_clients_that_open_together_sell_once(tmp_path: Path) -> None:
    def script(served: Served) -> None:
        ServiceClient(served.stage.key, served.url, private_key=SIGNS).close()

    async with open_served(tmp_path) as served:
        market_id = await breached(served)
        sold = held(served, market_id)
        async with asyncio.TaskGroup() as opening:
            for _ in range(6):
                opening.create_task(asyncio.to_thread(script, served))
        assert held(served, market_id) == 0
        (alert,) = served.stage.world.risk.history_of(served.stage.agent_id)
        assert alert.sold == sold
        # Only what was bought and what was sold once.
        account = served.stage.world.venues.account(served.stage.agent_id, Venue.SOL)
        assert account.trades_count == 2


def test_a_signing_key_of_another_form_is_refused_and_not_repeated() -> None:
    for key in ("0x12", "g" * 64, "1" * 65):
        with pytest.raises(ValueError, match="64 hex digits") as caught:
            ServiceClient("sk_live_1234", "http://127.0.0.1:1", private_key=key)
        assert key not in str(caught.value)


def test_a_service_that_is_not_there_keeps_nobody_from_opening() -> None:
    with ServiceClient("sk_live_1234", "http://127.0.0.1:1", private_key=SIGNS) as client:
        assert client.live


@pytest.mark.slow
async def test_thresholds_that_no_service_takes_are_not_sent(tmp_path: Path) -> None:
    def script(served: Served) -> None:
        with served.client() as client:
            for wrong in ({}, {"stop_loss_pct": 0.0}, {"take_profit_pct": -1.0}):
                with pytest.raises(ValueError, match=r"stop_loss_pct|take_profit_pct"):
                    client.set_monitor(served.market_id, "yes", **wrong)

    async with open_served(tmp_path) as served:
        await asyncio.to_thread(script, served)
        assert served.asked == []


async def test_an_exit_that_sold_nothing_leaves_its_alert_there() -> None:
    alert = RiskAlertBody(market_id="m", side=Side.YES, shares=3.0, exit_reason="stop_loss")
    answer = {"success": True, "market_id": "m", "side": "yes", "status": "submitted"}
    made: list[TradeResult] = []

    def script(url: str) -> None:
        line = SyncTransport(url, "sk_test_0815_0816", clock=SystemClock())
        made.extend(sell_for(line, [alert], Timestamp(0.0)))
        line.close()

    async with scripted(said(answer)) as service:
        await asyncio.to_thread(script, service.url)
    assert [head.split()[0] for head in service.heads] == ["POST"]
    assert [(one.success, one.shares_sold) for one in made] == [(True, 0.0)]


@pytest.mark.parametrize("venue", [Venue.SOL, Venue.EVM])
def test_an_alert_is_ended_by_its_own_name_and_what_else_goes_wrong_is_told(venue: Venue) -> None:
    asked: list[Any] = []
    called = Called("DELETE", "/api/sdk/risk-alerts/m/no")
    gone = NotFoundError(RefusalReason("gone", "", ""), called, status=404)
    answers: list[ServiceError | None] = [None, gone, UnreachableError("no line", called)]

    def call(endpoint: object, **given: Any) -> None:
        asked.append((endpoint, given["path"], given["query"].model_dump(exclude_none=True)))
        answer = answers.pop(0)
        if answer is not None:
            raise answer

    alert = RiskAlertBody(
        id="7", market_id="m", side=Side.NO, venue=venue, shares=3.0, exit_reason="stop_loss"
    )
    line: Any = SimpleNamespace(call=call)
    _acknowledge(line, alert)
    _acknowledge(line, alert)
    # Nobody has ended it: the exit is not confirmed.
    with pytest.raises(UnreachableError):
        _acknowledge(line, alert)
    named = {"venue": venue, "alert_id": "7"}
    assert asked == [(END_RISK_ALERT, {"market_id": "m", "side": "no"}, named)] * 3
