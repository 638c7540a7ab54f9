import asyncio
import gc
import json
import subprocess
import sys
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace
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
from service_tui.client.keys import Key, Keys
from service_tui.clock import ManualClock
from service_tui.sdk import transport
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


class Waited:
    """A lock that notes what is waited for."""

    def __init__(self, steps: list[Any]) -> None:
        self.steps = steps

    def __enter__(self) -> None:
        """Nobody else is there."""

    def __exit__(self, *_: object) -> None:
        """It is free again."""

    def wait_for(self, is_so: Callable[[], bool], seconds: float) -> None:
        self.steps.append(("waits", is_so(), seconds))


@pytest.mark.parametrize("is_forked", [False, True])
def test_calls_on_their_way_end_before_the_thread_and_a_fork_ends_nothing(
    monkeypatch: pytest.MonkeyPatch, *, is_forked: bool
) -> None:
    steps: list[Any] = []

    class Ending:
        """The last work, done at once."""

        def add_done_callback(self, done: Callable[[object], None]) -> None:
            done(self)

    def submit(work: Any, loop: object) -> Ending:
        work.close()
        steps.append("last")
        assert loop is background._loop
        return Ending()

    async def last() -> None:
        """Close the connections."""

    monkeypatch.setattr(transport.asyncio, "run_coroutine_threadsafe", submit)
    background: Any = transport.Background()
    background._lock = Waited(steps)
    background._loop = SimpleNamespace(
        call_soon_threadsafe=lambda call: call(), stop=lambda: steps.append("stops")
    )
    background._thread = SimpleNamespace(join=lambda seconds: steps.append(("joins", seconds)))
    background._in_flight = 1
    if is_forked:
        background._pid -= 1
    for _ in range(2):
        background.close(last())
    wait_s = transport.CLOSE_S
    ended = [("waits", False, wait_s), "last", "stops", ("joins", wait_s)]
    assert steps == ([] if is_forked else ended)


@pytest.mark.parametrize("key", [None, "sk_test_0815_0816"])
def test_a_line_sends_nothing_twice_and_may_be_without_a_key(
    monkeypatch: pytest.MonkeyPatch, key: str | None
) -> None:
    made: list[Any] = []
    monkeypatch.setattr(transport.httpx, "AsyncHTTPTransport", lambda **given: made.append(given))

    class Noted(transport.Client):
        """A client that notes its keys."""

        def __init__(self, line: object, base_url: str, keys: Keys, **_: object) -> None:
            del line, base_url
            made.append(keys)

    monkeypatch.setattr(transport, "Client", Noted)
    line = transport.SyncTransport("https://api.example", key, clock=ManualClock())
    given, keys = made
    assert given["retries"] == 0
    assert given["limits"].max_connections == transport.CONNECTIONS_MAX
    assert keys == Keys(None if key is None else Key(key, "https://api.example"))
    line._ending.detach()
