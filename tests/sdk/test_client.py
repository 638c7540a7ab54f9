"""The SDK's client: trades, settings and names of venues."""

import asyncio
import gc
import json
import subprocess
import sys
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from kit.service.scripted import said, scripted
from kit.service.served import Served, open_served
from service_tui import ServiceClient, __version__
from service_tui.client.errors import (
    NotFoundError,
    OutcomeUnknownError,
    PlanRequiredError,
    ServiceFaultError,
    UnauthenticatedError,
)
from service_tui.clock import ManualClock
from service_tui.sdk.reads import POSITIONS_PAGE
from service_tui.sdk.result import TradeUnknownError
from service_tui.sdk.transport import ClosedError
from service_tui.wire.trades import CLIENT_REF

KEY = "sk_test_0815_0816"
FILLED = {
    "success": True,
    "trade_id": "t-1",
    "market_id": "m-1",
    "side": "yes",
    "shares_bought": 10.0,
    "shares_requested": 10.0,
    "cost": 5.0,
}
NOTHING_HELD = {"agent_id": "a-1", "positions": []}


async def off(script: Callable[..., Any], *arguments: Any) -> Any:
    """Run a script that waits where the service's loop does not stand still for it."""
    return await asyncio.to_thread(script, *arguments)


def body_of(request: bytes) -> dict[str, Any]:
    return json.loads(request.partition(b"\r\n\r\n")[2])


def headers_of(head: str) -> dict[str, str]:
    return dict(line.lower().split(": ", 1) for line in head.splitlines()[1:])


# -- Trading on the real service -------------------------------------------------------------


@pytest.mark.slow
async def test_a_buy_and_a_sale_of_all_of_it(tmp_path: Path) -> None:
    def script(served: Served) -> None:
        with served.client() as client:
            bought = client.trade(
                served.market_id, "yes", 25.004, source="sdk:test", signal_data={"edge": 0.1}
            )
            assert bought.success
            assert bought.cost == 25.0
            assert bought.shares_bought == bought.shares_filled > 0
            assert bought.fully_filled
            assert bought.balance == 9_975.0
            assert bought.skip_reason is None
            assert not bought.on_paper
            held = client.get_positions(source="sdk:test")
            assert [row.market_id for row in held] == [served.market_id]
            sold = client.trade(served.market_id, "yes", action="sell", shares=held[0].shares_yes)
            assert sold.success
            assert sold.shares_sold == held[0].shares_yes
            assert 0 < sold.cost <= 25.0
            assert client.get_positions() == []
            rows = client.get_trades().trades
            assert [row.action for row in rows] == ["sell", "buy"]
            assert rows[1].signal_data == {"edge": 0.1, CLIENT_REF: bought.client_ref}
            assert rows[1].trade_id == bought.trade_id

    async with open_served(tmp_path) as served:
        await off(script, served)
        assert served.posts == ["POST /api/sdk/trade"] * 2


@pytest.mark.slow
async def test_a_quote_changes_nothing_and_a_refusal_is_a_result(tmp_path: Path) -> None:
    def script(served: Served) -> None:
        with served.client() as client:
            quote = client.trade(served.market_id, "no", 25, dry_run=True)
            assert quote.success
            assert quote.dry_run
            assert quote.client_ref is None
            assert client.get_trades().total_count == 0
            no = client.trade(served.market_id, "no", action="sell", shares=5)
            assert not no.success
            assert no.error_code == "INSUFFICIENT_SHARES"
            assert no.fix
            assert not no.fully_filled
            # The quote did not count as held.
            assert client.trade(served.market_id, "no", quote.cost).success

    async with open_served(tmp_path) as served:
        await off(script, served)


@pytest.mark.slow
async def test_an_unknown_market_raises_and_an_unknown_key_says_so(tmp_path: Path) -> None:
    def script(served: Served) -> None:
        with served.client() as client:
            assert client.get_market("no-such-market") is None
            with pytest.raises(NotFoundError) as raised:
                client.trade("no-such-market", "yes", 5)
            assert raised.value.fix
            # Nothing came of it, so nothing is held.
            assert client.trade(served.market_id, "yes", 5).success
        with ServiceClient(KEY, served.url) as stranger, pytest.raises(UnauthenticatedError):
            stranger.get_agent()

    async with open_served(tmp_path) as served:
        await off(script, served)


@pytest.mark.slow
async def test_guards_hold_back_and_read_the_positions_once(tmp_path: Path) -> None:
    clock = ManualClock()

    def first(client: ServiceClient, served: Served) -> None:
        one, two = served.markets[:2]
        assert client.trade(one, "yes", 5, source="sdk:a").success
        again = client.trade(one, "yes", 5, source="sdk:a")
        assert again.skip_reason == "rebuy skipped"
        assert not again.success
        assert "allow_rebuy" in (again.fix or "")
        other = client.trade(one, "no", 5, source="sdk:b", allow_rebuy=True)
        assert other.skip_reason == "conflicts skipped"
        assert client.trade(one, "yes", 5).skip_reason == "rebuy skipped"
        assert client.trade(one, "yes", 5, source="sdk:a", allow_rebuy=True).success
        assert client.trade(two, "yes", 5).success

    def later(client: ServiceClient, served: Served) -> None:
        assert client.trade(served.markets[2], "yes", 5).success

    async with open_served(tmp_path) as served:
        with served.client(clock=clock) as client:
            await off(first, client, served)
            reads = "GET /api/sdk/positions"
            assert served.asked.count(reads) == 1
            assert len(served.posts) == 3
            await clock.advance(31)
            await off(later, client, served)
            assert served.asked.count(reads) == 2


@pytest.mark.slow
async def test_a_guard_sees_what_another_program_holds(tmp_path: Path) -> None:
    def script(served: Served) -> None:
        with served.client() as one, served.client() as two:
            assert one.trade(served.market_id, "yes", 5, source="sdk:one").success
            held = two.trade(served.market_id, "yes", 5, source="sdk:two")
            assert held.skip_reason == "conflicts skipped"

    async with open_served(tmp_path) as served:
        await off(script, served)


@pytest.mark.slow
async def test_a_real_venue_is_asked_for_leave_first(tmp_path: Path) -> None:
    def script(served: Served) -> None:
        with served.client(venue="evm_venue") as client:
            verdict = client.ensure_can_trade(5)
            assert not verdict.ok
            blocked = client.trade(served.market_id, "yes", 5)
            assert blocked.skip_reason == "preflight_blocked"
            assert "not claimed" in (blocked.error or "")
            assert served.posts == []
            assert client.ensure_can_trade(5, venue="sim").ok
            with pytest.raises(PlanRequiredError) as refused:
                client.trade(served.market_id, "yes", 5, skip_preflight=True)
            assert refused.value.fix

    async with open_served(tmp_path) as served:
        await off(script, served)


@pytest.mark.slow
async def test_every_reading_method_answers(tmp_path: Path) -> None:
    def script(served: Served) -> None:
        with served.client() as client:
            markets = client.get_markets(limit=7, sort="volume")
            assert len(markets) == 7
            word = markets[0].question.split()[1]
            assert client.get_markets(q=word)
            one = client.get_market(markets[0].id)
            assert one is not None
            assert one.resolution_criteria
            assert len(client.get_market_history(one.id, hours=2, interval=30)) <= 5
            assert client.get_portfolio().sim_balance == 10_000
            assert client.get_portfolio(venue="sandbox").sim_balance == 10_000
            assert client.get_positions("sim") == []
            assert client.get_trades(limit=5).trades == ()
            assert client.get_agent().agent_id == served.stage.agent_id
            assert client.get_context().claim_url
            assert client.get_settings().sdk_daily_limit == 500
            assert client.get_user_settings().default_stop_loss_pct == 0.2
            briefing = client.get_briefing()
            assert briefing.venues["sim"] is not None

    async with open_served(tmp_path) as served:
        await off(script, served)


@pytest.mark.slow
async def test_orders_rest_and_are_cancelled(tmp_path: Path) -> None:
    def script(served: Served, market_id: str) -> None:
        with served.client(venue="evm_venue") as client:
            bid = client.get_executable_price(market_id, "yes", "sell").price

            def rest() -> str:
                resting = client.trade(
                    market_id, "yes", 10, price=bid, order_type="GTC", allow_rebuy=True
                )
                assert resting.success
                assert (resting.status, resting.shares_filled) == ("submitted", 0)
                assert resting.order_id is not None
                return resting.order_id

            one = rest()
            assert [order.order_id for order in client.get_open_orders()] == [one]
            # It rests, so it counts as held.
            again = client.trade(market_id, "yes", 10, price=bid, order_type="GTC")
            assert again.skip_reason == "rebuy skipped"
            assert client.cancel_order(one).cancelled == 1
            rest()
            assert client.cancel_market_orders(market_id, "no").cancelled == 0
            assert client.cancel_market_orders(market_id).cancelled == 1
            rest()
            assert client.cancel_all_orders().cancelled == 1
            assert client.get_open_orders() == []

    async with open_served(tmp_path) as served:
        stage = served.stage
        change = {"claimed": True, "real_trading_enabled": True}
        await stage.sim.service.world_store.commit(
            stage.world.change(stage.agent, change, stage.clock.now())
        )
        market = next(
            one for one in served.markets if stage.world.markets[one].listing.home == "evm_venue"
        )
        await off(script, served, market)


@pytest.mark.slow
async def test_a_question_is_imported_looked_at_and_traded(tmp_path: Path) -> None:
    def script(served: Served) -> None:
        with served.client() as client:
            found = client.get_importable_markets(limit=5)[0]
            assert not client.check_market(found.url).exists
            taken = client.import_market(found.url)
            market_id = taken.market_id or taken.markets[0].market_id
            assert client.check_market(found.url).exists
            context = client.get_market_context(market_id, my_probability=0.9)
            assert context.edge.user_probability == 0.9
            assert not context.position.has_position
            assert client.trade(market_id, "yes", 10, skill_slug="mine").success
            assert client.get_market_context(market_id).position.has_position
            assert client.get_outcomes("mine").trades == 1
            assert client.get_outcomes("other").trades == 0
            assert isinstance(client.get_expiring_positions(168), list)

    async with open_served(tmp_path) as served:
        stage = served.stage
        change = {"claimed": True}
        await stage.sim.service.world_store.commit(
            stage.world.change(stage.agent, change, stage.clock.now())
        )
        await off(script, served)


@pytest.mark.slow
async def test_advice_is_asked_for(tmp_path: Path) -> None:
    def script(served: Served) -> None:
        with served.client() as client:
            assert client.troubleshoot("insufficient balance").fix

    async with open_served(tmp_path) as served:
        await off(script, served)


@pytest.mark.slow
async def test_settings_change_only_where_something_was_said(tmp_path: Path) -> None:
    def script(served: Served) -> None:
        with served.client() as client:
            changed = client.update_settings(default_stop_loss_pct=0, max_trades_per_day=77)
            assert changed.default_stop_loss_pct is None
            assert changed.max_trades_per_day == 77
            assert changed.auto_risk_monitor_enabled
            assert client.update_settings(trading_paused=True).trading_paused
            assert client.trade(served.market_id, "yes", 5).error_code == "TRADING_PAUSED"
            agent = client.update_agent(auto_redeem_enabled=False)
            assert not agent.auto_redeem_enabled

    async with open_served(tmp_path) as served:
        await off(script, served)


@pytest.mark.slow
async def test_an_agent_registers_itself(tmp_path: Path) -> None:
    def script(served: Served) -> None:
        born = ServiceClient.register("new one", description="tries", base_url=served.url)
        with ServiceClient(born.api_key, served.url) as client:
            assert client.get_agent().agent_id == born.agent_id
            assert client.get_context().claim_url == born.claim_url

    async with open_served(tmp_path) as served:
        await off(script, served)


@pytest.mark.slow
async def test_threads_share_a_client_and_buy_a_market_once(tmp_path: Path) -> None:
    def script(served: Served) -> None:
        with served.client() as client, ThreadPoolExecutor(8) as threads:
            found = list(threads.map(lambda _: client.trade(served.market_id, "yes", 5), range(16)))
            assert sum(result.success for result in found) == 1
            assert {r.skip_reason for r in found if not r.success} == {"rebuy skipped"}
            many = threads.map(lambda one: client.trade(one, "yes", 5), served.markets[1:9])
            assert all(result.success for result in many)
            assert client.get_portfolio().sim_balance == 10_000 - 9 * 5

    async with open_served(tmp_path) as served:
        await off(script, served)


# -- What goes over the line, and what does not come back -----------------------------------


async def test_what_a_trade_sends() -> None:
    def script(url: str) -> str | None:
        with ServiceClient(KEY, url) as client:
            return client.trade(
                "m-1", "yes", 5, reasoning="because", skill_slug="mine", allow_rebuy=True
            ).client_ref

    async with scripted(said(FILLED)) as service:
        ref = await off(script, service.url)
    headers = headers_of(service.heads[0])
    assert service.heads[0].startswith("POST /api/sdk/trade ")
    assert headers["user-agent"] == f"service-tui/{__version__}"
    assert headers["authorization"] == f"bearer {KEY}"
    assert "x-api-key" not in headers
    assert headers["idempotency-key"] == ref
    assert body_of(service.requests[0]) == {
        "market_id": "m-1",
        "side": "yes",
        "amount": 5.0,
        "shares": 0.0,
        "action": "buy",
        "venue": "sim",
        "dry_run": False,
        "reasoning": "because",
        "skill_slug": "mine",
        "signal_data": {CLIENT_REF: ref},
    }


async def test_an_order_goes_out_with_each_of_its_fields() -> None:
    def script(url: str) -> None:
        with ServiceClient(KEY, url, venue="sol_venue") as client:
            client.trade(
                "m", "no", 5.006, venue="sim", order_type="GTD", price=0.4, source="s",
                signal_data={"edge": 0.1}, expiration=1_900_000_000.0, stop_loss_pct=0.2,
                take_profit_pct=0.3,
            )  # fmt: skip
            client.trade("m", "no", shares=3, action="sell", skip_preflight=True)
            client.trade("m", "no", 5, venue="sim", dry_run=True, allow_rebuy=True)

    async with scripted(said(NOTHING_HELD), said(FILLED)) as service:
        await off(script, service.url)
    bought, sold, quoted = (body_of(one) for one in service.requests[1:])
    ref = headers_of(service.heads[1])["idempotency-key"]
    assert bought == {
        "market_id": "m", "side": "no", "amount": 5.01, "shares": 0.0, "action": "buy",
        "venue": "sim", "dry_run": False, "order_type": "GTD", "price": 0.4, "source": "s",
        "signal_data": {"edge": 0.1, "client_ref": ref}, "expiration": 1_900_000_000.0,
        "stop_loss_pct": 0.2, "take_profit_pct": 0.3,
    }  # fmt: skip
    assert (sold["action"], sold["shares"], sold["venue"]) == ("sell", 3.0, "sol_venue")
    # A quote is no order that anybody could ask about.
    assert "signal_data" not in quoted
    assert "idempotency-key" not in headers_of(service.heads[3])


WHEN = datetime(2027, 1, 15, tzinfo=UTC)
LATER = datetime(2027, 1, 16, tzinfo=UTC)
ASKED: list[tuple[Callable[[ServiceClient], object], str, object]] = [
    (lambda c: c.get_briefing(since=WHEN), "GET briefing?since=2027-01-15T00%3A00%3A00Z", None),
    (
        lambda c: c.get_market_history("m", hours=3, interval=7),
        "GET markets/m/history?hours=3&interval=7",
        None,
    ),
    (
        lambda c: c.get_market_context("m", my_probability=0.3),
        "GET context/m?venue=all&my_probability=0.3",
        None,
    ),
    (
        lambda c: c.get_markets(
            "closed",
            limit=3,
            offset=4,
            q="xy",
            tags="a,b",
            venue="evm_venue",
            ids="m,n",
            sort="recent",
            max_hours_to_resolution=5,
            include="y",
            tradeable_only=False,
        ),
        (
            "GET markets?status=closed&limit=3&offset=4&venue=evm_venue&q=xy"
            "&tags=a%2Cb&ids=m%2Cn&sort=recent"
            "&max_hours_to_resolution=5&include=y&tradeable_only=false"
        ),
        None,
    ),
    (
        lambda c: c.get_markets(),
        "GET markets?status=active&limit=50&offset=0&tradeable_only=true",
        None,
    ),
    (
        lambda c: c.get_importable_markets(q="xy", min_volume=3.0, limit=4),
        "GET markets/importable?min_volume=3.0&limit=4&q=xy",
        None,
    ),
    (lambda c: c.check_market("https://q"), "GET markets/check?url=https%3A%2F%2Fq", None),
    (lambda c: c.get_expiring_positions(5), "GET positions/expiring?hours=5", None),
    (
        lambda c: c.get_outcomes("tides", since=WHEN, venue="sol_venue"),
        "GET outcomes?skill=tides&since=2027-01-15T00%3A00%3A00Z&venue=sol_venue",
        None,
    ),
    (
        lambda c: c.get_positions("evm_venue", "sdk:x"),
        "GET positions?venue=evm_venue&source=sdk%3Ax&status=active&offset=0",
        None,
    ),
    (lambda c: c.get_portfolio(), "GET portfolio?venue=all", None),
    (lambda c: c.get_portfolio("sol_venue"), "GET portfolio?venue=sol_venue", None),
    (lambda c: c.get_trades(), "GET trades?venue=all&limit=50&offset=0&include_failed=false", None),
    (
        lambda c: c.get_trades(
            "evm_venue",
            limit=3,
            offset=4,
            market_id="m",
            since=WHEN,
            until=LATER,
            include_failed=True,
        ),
        (
            "GET trades?venue=evm_venue&limit=3&offset=4&market_id=m"
            "&since=2027-01-15T00%3A00%3A00Z&until=2027-01-16T00%3A00%3A00Z&include_failed=true"
        ),
        None,
    ),
    (lambda c: c.get_risk_alerts(), "GET risk-alerts", None),
    (lambda c: c.get_open_orders(), "GET orders/open", None),
    (lambda c: c.get_signals(), "GET reactor/pending", None),
    (lambda c: c.get_held_trades(), "GET trades/held?status=all", None),
    (
        lambda c: c.get_executable_price("m", "no", "sell", apply_buffer=True),
        "GET markets/m/executable-price?side=no&action=sell&apply_buffer=true",
        None,
    ),
    (
        lambda c: c.troubleshoot("broken", message="why"),
        "POST troubleshoot",
        {"error_text": "broken", "message": "why"},
    ),
    (lambda c: c.cancel_order("o"), "DELETE orders/o", None),
    (lambda c: c.cancel_market_orders("m", "no"), "DELETE markets/m/orders?side=no", None),
    (lambda c: c.cancel_market_orders("m"), "DELETE markets/m/orders", None),
    (lambda c: c.cancel_all_orders(), "DELETE orders", None),
    (
        lambda c: c.import_market("https://q"),
        "POST markets/import",
        {"polymarket_url": "https://q", "shared": True},
    ),
    (lambda c: c.dismiss_signal("s"), "DELETE reactor/pending/s", None),
    (
        lambda c: c.set_monitor(
            "m",
            "no",
            stop_loss_pct=0.1,
            take_profit_pct=0.2,
            trailing_stop_pct=0.3,
            exit_at=1_800_000_000.0,
            venue="sol_venue",
        ),
        "POST positions/m/monitor",
        {
            "side": "no",
            "stop_loss_pct": 0.1,
            "take_profit_pct": 0.2,
            "trailing_stop_pct": 0.3,
            "exit_at": 1800000000.0,
            "venue": "sol_venue",
        },
    ),
    (
        lambda c: c.set_monitor("m", "yes", trailing_stop_points=0.1),
        "POST positions/m/monitor",
        {"side": "yes", "trailing_stop_points": 0.1},
    ),
    (
        lambda c: c.delete_monitor("m", "no", venue="evm_venue"),
        "DELETE positions/m/monitor?side=no&venue=evm_venue",
        None,
    ),
    (lambda c: c.delete_monitor("m", "yes"), "DELETE positions/m/monitor?side=yes", None),
    (
        lambda c: c.update_settings(
            max_trades_per_day=1,
            max_position_usd=2.0,
            default_stop_loss_pct=0.3,
            default_take_profit_pct=0.4,
            auto_risk_monitor_enabled=True,
            trading_paused=False,
        ),
        "PATCH user/settings",
        {
            "max_trades_per_day": 1,
            "max_position_usd": 2.0,
            "default_stop_loss_pct": 0.3,
            "default_take_profit_pct": 0.4,
            "auto_risk_monitor_enabled": True,
            "trading_paused": False,
        },
    ),
]


async def test_a_method_asks_exactly_this() -> None:
    def script(url: str) -> None:
        with ServiceClient(KEY, url) as client:
            for call, _, _ in ASKED:
                with suppress(NotFoundError):
                    assert call(client) is None

    async with scripted(said({"error": "there is none"}, 404)) as service:
        await off(script, service.url)
    asked = [head.partition(" HTTP")[0].replace("/api/sdk/", "") for head in service.heads]
    assert asked == [line for _, line, _ in ASKED]
    bodies = [one.partition(b"\r\n\r\n")[2] for one in service.requests]
    assert [json.loads(one) if one else None for one in bodies] == [body for *_, body in ASKED]


async def test_past_positions_are_read_page_by_page() -> None:
    def page(first: int, count: int) -> bytes:
        rows = [{"market_id": f"m{number}"} for number in range(first, first + count)]
        return said({"agent_id": "a-1", "positions": rows})

    found: list[int] = []

    def script(url: str) -> None:
        with ServiceClient(KEY, url) as client:
            found.append(len(client.get_positions("evm_venue", "sdk:x", status="all")))
            # A service that knows no pages is asked twice and no more.
            found.append(len(client.get_positions(status="all")))

    first = page(0, POSITIONS_PAGE)
    async with scripted(first, page(POSITIONS_PAGE, 3), first) as service:
        await off(script, service.url)
    assert found == [POSITIONS_PAGE + 3, POSITIONS_PAGE]
    queries = [head.split()[1].partition("?")[2] for head in service.heads]
    one = "venue=evm_venue&source=sdk%3Ax&status=all"
    assert queries[0] == f"{one}&limit={POSITIONS_PAGE}&offset=0"
    assert queries[1] == f"{one}&limit={POSITIONS_PAGE}&offset={POSITIONS_PAGE}"
    assert len(queries) == 4


async def test_where_no_trade_waits_for_an_operator_the_open_buys_wait() -> None:
    known = {"trade_id": "t", "market_id": "m", "side": "yes", "shares": 9.0, "price": 0.5}
    known |= {"venue": "evm_venue", "created_at": "2027-01-15T00:00:00Z"}
    rests = [("d", 8.0, "buy"), (None, 16.0, "buy"), ("e", 32.0, "sell")]
    orders = [
        known | {"order_id": f"o{cost}", "source": source, "cost_usdc": cost, "trade_type": action}
        for source, cost, action in rests
    ]
    found: list[object] = []

    def script(url: str) -> None:
        with ServiceClient(KEY, url) as client:
            found.append(client.waiting_buys())

    async with scripted(
        said({"error": "none"}, 404), said({"orders": orders, "count": 3})
    ) as service:
        await off(script, service.url)
    assert found == [[("d", 8.0), ("", 16.0)]]


ON_PAPER: list[Callable[[ServiceClient], object]] = [
    lambda c: c.redeem("m", "yes"), lambda c: c.auto_redeem(), lambda c: c.link_wallet(),
    lambda c: c.set_approvals(), lambda c: c.cancel_order("o"),
    lambda c: c.cancel_market_orders("m"), lambda c: c.cancel_all_orders(),
    lambda c: c.set_monitor("m", "yes"), lambda c: c.delete_monitor("m", "yes"),
]  # fmt: skip


def test_a_client_on_paper_touches_nothing_of_the_service() -> None:
    # Nobody answers there.
    with ServiceClient(KEY, "http://127.0.0.1:9", live=False, private_key="11" * 32) as client:
        for call in ON_PAPER:
            with pytest.raises(ValueError, match="on paper touches no order of the service"):
                call(client)
        assert client.get_open_orders() == client.waiting_buys() == []
        assert client.execute_risk_alerts() == client.get_positions() == []
        assert client.get_trades().total_count == client.get_portfolio().positions_count == 0


def test_a_client_without_a_key_has_no_wallet(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("WALLET_PRIVATE_KEY", raising=False)
    with ServiceClient(KEY, "http://127.0.0.1:9") as client:
        for call in (client.link_wallet, client.set_approvals):
            with pytest.raises(ValueError, match="no signing key: pass private_key or set WALLET_"):
                call()


async def test_venues_are_named_as_the_service_names_them() -> None:
    def script(url: str) -> None:
        with ServiceClient(KEY, url, venue="evm_venue", names="public") as client:
            client.trade("m-1", "yes", 5, allow_rebuy=True, skip_preflight=True)
            client.get_positions("sol_venue")
            client.get_positions("sim")

    async with scripted(said(FILLED), said(NOTHING_HELD)) as service:
        await off(script, service.url)
    assert body_of(service.requests[0])["venue"] == "polymarket"
    assert "venue=kalshi" in service.heads[1]
    assert "venue=sim" in service.heads[2]


async def test_a_lost_answer_is_unknown_and_nothing_is_sent_again() -> None:
    async def hang_up(writer: asyncio.StreamWriter) -> None:
        writer.close()

    def script(url: str) -> None:
        with ServiceClient(KEY, url) as client:
            with pytest.raises(TradeUnknownError) as raised:
                client.trade("m-1", "yes", 5, allow_rebuy=True)
            assert isinstance(raised.value, OutcomeUnknownError)
            assert raised.value.client_ref in str(raised.value)
            # A quote has no outcome that anybody must look for.
            with pytest.raises(OutcomeUnknownError) as quoted:
                client.trade("m-1", "yes", 5, allow_rebuy=True, dry_run=True)
            assert not isinstance(quoted.value, TradeUnknownError)

    async with scripted(hang_up) as service:
        await off(script, service.url)
    assert len(service.requests) == 2


@pytest.mark.parametrize("status", [500, 502, 503, 408])
async def test_a_failure_of_the_service_leaves_a_trade_unknown(status: int) -> None:
    def script(url: str) -> None:
        with ServiceClient(KEY, url) as client, pytest.raises(TradeUnknownError):
            client.trade("m-1", "yes", 5, allow_rebuy=True)

    async with scripted(said({"error": "no"}, status)) as service:
        await off(script, service.url)
    assert len(service.requests) == 1


async def test_after_a_lost_answer_the_positions_are_read_again() -> None:
    lost = said({"error": "no"}, 500)

    def script(url: str) -> None:
        with ServiceClient(KEY, url) as client:
            with pytest.raises(TradeUnknownError):
                client.trade("m-1", "yes", 5)
            assert client.trade("m-2", "yes", 5).success

    answers = (said(NOTHING_HELD), lost, said(NOTHING_HELD), said(FILLED))
    async with scripted(*answers) as service:
        await off(script, service.url)
    assert [head.split()[0] for head in service.heads] == ["GET", "POST", "GET", "POST"]


async def test_a_guard_that_cannot_read_lets_nothing_pass() -> None:
    def script(url: str) -> None:
        with ServiceClient(KEY, url) as client, pytest.raises(ServiceFaultError):
            client.trade("m-1", "yes", 5)

    async with scripted(said({"error": "no"}, 500)) as service:
        await off(script, service.url)
    assert {head.split()[0] for head in service.heads} == {"GET"}


# -- Ending ----------------------------------------------------------------------------------


def threads_of_clients() -> set[threading.Thread]:
    return {one for one in threading.enumerate() if one.name == "service-client"}


async def test_a_closed_client_leaves_no_thread_and_takes_no_call() -> None:
    def script(url: str) -> None:
        # Another test's client may live on for as long as its service.
        before = threads_of_clients()
        client = ServiceClient(KEY, url)
        client.get_positions()
        assert len(threads_of_clients() - before) == 1
        client.close()
        client.close()
        assert not threads_of_clients() - before
        with pytest.raises(ClosedError):
            client.get_positions()

    async with scripted(said(NOTHING_HELD)) as service:
        await off(script, service.url)


@pytest.mark.slow
async def test_a_forgotten_client_leaves_no_thread() -> None:
    def script(url: str) -> None:
        before = threads_of_clients()
        ServiceClient(KEY, url).get_positions()
        gc.collect()
        assert not threads_of_clients() - before

    async with scripted(said(NOTHING_HELD)) as service:
        await off(script, service.url)


async def test_a_trade_cut_short_by_closing_is_unknown() -> None:
    arrived = threading.Event()

    async def never(_: asyncio.StreamWriter) -> None:
        arrived.set()
        await asyncio.sleep(3_600)

    def script(url: str) -> None:
        client = ServiceClient(KEY, url)

        def close() -> None:
            arrived.wait(5)
            client.close()

        closing = threading.Thread(target=close)
        closing.start()
        with pytest.raises(TradeUnknownError):
            client.trade("m-1", "yes", 5, allow_rebuy=True)
        closing.join()

    async with scripted(never) as service:
        await off(script, service.url)


async def test_a_call_on_its_way_ends_before_the_client_is_closed() -> None:
    arrived, closes = threading.Event(), threading.Event()

    async def slowly(writer: asyncio.StreamWriter) -> None:
        arrived.set()
        await asyncio.to_thread(closes.wait)
        writer.write(said(FILLED))
        await writer.drain()

    def script(url: str) -> None:
        client = ServiceClient(KEY, url)

        def close() -> None:
            arrived.wait(5)
            closes.set()
            client.close()

        closing = threading.Thread(target=close)
        closing.start()
        assert client.trade("m-1", "yes", 5, allow_rebuy=True).success
        closing.join()

    async with scripted(slowly) as service:
        await off(script, service.url)


UNCLOSED = """
from service_tui import ServiceClient
client = ServiceClient({key!r}, {url!r})
print(len(client.get_positions()))
"""


@pytest.mark.process
async def test_a_program_that_never_closes_ends_in_silence() -> None:
    def script(url: str) -> subprocess.CompletedProcess[str]:
        code = UNCLOSED.format(key=KEY, url=url)
        return subprocess.run(
            [sys.executable, "-W", "error", "-c", code],
            check=False,
            capture_output=True,
            text=True,
            timeout=30,
        )

    async with scripted(said(NOTHING_HELD)) as service:
        done = await off(script, service.url)
    assert (done.returncode, done.stdout, done.stderr) == (0, "0\n", "")


FORKED = """
import os
from service_tui import ServiceClient
from service_tui.sdk.transport import ClosedError
client = ServiceClient({key!r}, {url!r})
client.get_positions()
child = os.fork()
if not child:
    try:
        client.get_positions()
    except ClosedError as error:
        print(error, flush=True)
    client.close()
    os._exit(0)
os.waitpid(child, 0)
print(len(client.get_positions()))
client.close()
"""


@pytest.mark.process
async def test_a_client_belongs_to_the_process_that_made_it() -> None:
    def script(url: str) -> subprocess.CompletedProcess[str]:
        code = FORKED.format(key=KEY, url=url)
        return subprocess.run(
            [sys.executable, "-c", code], check=False, capture_output=True, text=True, timeout=30
        )

    async with scripted(said(NOTHING_HELD)) as service:
        done = await off(script, service.url)
    refused = "this client belongs to another process: make one in each"
    assert (done.returncode, done.stdout) == (0, f"{refused}\n0\n")
    assert len(service.requests) == 2
