"""Exits that the SDK's client makes for alerts."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from kit.service.line import change, line_to, sink_on
from kit.service.scripted import said, scripted
from kit.service.served import Served, open_served
from service_tui import ServiceClient
from service_tui.client.errors import (
    Called,
    NotFoundError,
    OutcomeUnknownError,
    RefusalReason,
    UnreachableError,
)
from service_tui.clock import SystemClock
from service_tui.engine.risk.monitors import MonitoredSide
from service_tui.sdk.exits import sell_for
from service_tui.sdk.result import TradeResult
from service_tui.sdk.transport import SyncTransport
from service_tui.terms import Action, OrderType, Side, Venue, WalletKind
from service_tui.units import Timestamp
from service_tui.wire.base import moment
from service_tui.wire.endpoint import Endpoint
from service_tui.wire.endpoints.public import END_RISK_ALERT, PLACE_TRADE, SET_MONITOR
from service_tui.wire.monitors import RiskAlertBody, RiskAlertQuery
from service_tui.wire.trades import TradeBody, TradeRequest

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


# -- what is sent ------------------------------------------------------------------------------


CALLED = Called("POST", "/x")


class Line:
    """A line that gives its answers in turn, and what was called on it."""

    def __init__(self, *answers: object) -> None:
        self.called: list[tuple[Endpoint[Any], dict[str, Any]]] = []
        self.answers = list(answers)

    def call(self, endpoint: Endpoint[Any], **given: Any) -> Any:
        self.called.append((endpoint, given))
        answer = self.answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer


def alert(**fields: Any) -> RiskAlertBody:
    given: dict[str, Any] = {
        "market_id": "m", "side": Side.NO, "shares": 0.29, "exit_reason": "stop_loss",
        "venue": Venue.SOL, "id": "a-1", "breached_at": moment(Timestamp(12.3456)),
        "message": "it fell", "expires_at": moment(Timestamp(1_000.5)),
    }  # fmt: skip
    return RiskAlertBody.model_construct(
        **(RiskAlertBody.model_construct().__dict__ | given | fields)
    )


SOLD = TradeBody(success=True, shares_sold=0.29)


def test_an_exit_sells_under_the_key_of_its_alert_and_ends_it() -> None:
    line: Any = Line(SOLD, None)
    (result,) = sell_for(line, [alert()], Timestamp(1_000.0))
    key = "exit:m:no:12346:a-1"
    assert line.called == [
        (PLACE_TRADE, {
            "body": TradeRequest(
                market_id="m", side=Side.NO, shares=0.29, action=Action.SELL, venue=Venue.SOL,
                order_type=OrderType.FAK, reasoning="it fell", source="risk:stop_loss",
                signal_data={"client_ref": key},
            ),
            "idempotency_key": key,
        }),
        (END_RISK_ALERT, {
            "path": {"market_id": "m", "side": "no"},
            "query": RiskAlertQuery(venue=Venue.SOL, alert_id="a-1"),
        }),
    ]  # fmt: skip
    assert (result.success, result.shares_sold, result.client_ref) == (True, 0.29, key)


def test_an_alert_of_another_service_lacks_much() -> None:
    line: Any = Line(SOLD, None)
    bare = alert(venue=None, id="", breached_at=None, message="", expires_at=None)
    sell_for(line, [bare], Timestamp(1_000.0))
    body = line.called[0][1]["body"]
    assert (body.venue, body.reasoning) == (Venue.EVM, "stop_loss")
    assert line.called[0][1]["idempotency_key"] == "exit:m:no:0:"
    assert line.called[1][1]["query"] == RiskAlertQuery()
    sim: Any = Line(SOLD, None)
    sell_for(sim, [alert(venue=Venue.SIM)], Timestamp(1_000.0))
    assert sim.called[0][1]["body"].order_type is None


@pytest.mark.parametrize(
    "fields",
    [
        {"executed_by": "service"},
        {"expires_at": moment(Timestamp(1_000.0))},
        {"shares": 0.000009},
    ],
)
def test_an_alert_that_is_over_or_of_nothing_sells_nothing(fields: dict[str, Any]) -> None:
    line: Any = Line(SOLD, None)
    assert sell_for(line, [alert(**fields)], Timestamp(1_000.0)) == []
    assert line.called == []


@pytest.mark.parametrize(("shares", "sold"), [(0.000019, 0.00001), (1.234567, 1.23456)])
def test_shares_are_cut_to_five_decimals(shares: float, sold: float) -> None:
    line: Any = Line(SOLD, None)
    sell_for(line, [alert(shares=shares)], Timestamp(1_000.0))
    assert line.called[0][1]["body"].shares == sold


@pytest.mark.parametrize(
    "body", [TradeBody(success=False, shares_sold=0.29), TradeBody(success=True, shares_sold=0.0)]
)
def test_an_alert_is_ended_by_a_sale_alone(body: TradeBody) -> None:
    line: Any = Line(body, None)
    assert len(sell_for(line, [alert()], Timestamp(1_000.0))) == 1
    assert [one for one, _ in line.called] == [PLACE_TRADE]


def test_an_exit_that_is_not_confirmed_keeps_no_other_waiting() -> None:
    gone = NotFoundError(RefusalReason(error="none"), CALLED, status=404)
    line: Any = Line(OutcomeUnknownError("lost", CALLED), SOLD, gone)
    (result,) = sell_for(line, [alert(), alert(market_id="n")], Timestamp(1_000.0))
    assert result.client_ref == "exit:n:no:12346:a-1"


def test_an_exit_that_cannot_be_ended_is_not_confirmed() -> None:
    away = UnreachableError("no line", CALLED)
    line: Any = Line(SOLD, away)
    assert sell_for(line, [alert()], Timestamp(1_000.0)) == []
