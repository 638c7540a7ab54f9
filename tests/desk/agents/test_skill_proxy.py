"""A service that keeps no leash: the desk keeps it, and every call of a skill goes through it."""

import asyncio
import json
import random
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import pytest

from kit.desk.leash import raw_call, status
from kit.samples.desk import NOW
from kit.service.scripted import HastyClock, said, scripted
from kit.service.stage import Stage, open_stage
from service_tui.client.api_keys import ApiKey, ApiKeys
from service_tui.client.client import Client
from service_tui.client.errors import RefusedError, ServiceError
from service_tui.clock import ManualClock
from service_tui.desk.agents.skill_proxy import SkillProxies
from service_tui.desk.agents.skill_spending import SPENDING, SkillSpending
from service_tui.desk.agents.stored_leash import StoredLeash, Unknown
from service_tui.desk.changes import Loaded
from service_tui.desk.commands.agents import ApproveTrade, RefuseTrade, SetLeash
from service_tui.desk.commands.trading import PlaceTrade
from service_tui.desk.facts import Fact, Noticed
from service_tui.desk.slices.halt import HaltedAgent
from service_tui.desk.slices.supervision import LeashView, PendingTradesSeen
from service_tui.sdk.client import ServiceClient
from service_tui.terms import Action, LeashMode, PendingStatus, Side, Venue
from service_tui.units import ONE, Micros, Timestamp

Answer = Any
"""JSON of the service, with another status a pair; or the fault that comes instead."""


@dataclass
class Far:
    """A skill on the desk's leash, and a service that knows nothing of it."""

    stage: Stage
    lines: SkillProxies
    leash: StoredLeash
    skill: ServiceClient
    way: tuple[str, str]
    facts: list[Fact] = field(default_factory=list)
    halted: list[bool] = field(default_factory=list)

    async def ask(self, call: Callable[[], object]) -> object:
        await self.stage.clock.advance(0.3)
        return await asyncio.to_thread(call)

    async def buy(self, amount: float, place: int = 0) -> object:
        market = self.stage.open_markets()[place].market_id
        signals = {"edge": 0.1, "confidence": 0.6}
        return await self.ask(
            lambda: self.skill.trade(
                market, "yes", amount, reasoning="why", signal_data=signals, allow_rebuy=True
            )
        )

    @property
    def spent(self) -> int:
        return self.stage.agent.spent_today(self.stage.clock.now())

    @property
    def seen(self) -> PendingTradesSeen:
        return [fact for fact in self.facts if isinstance(fact, PendingTradesSeen)][-1]


@asynccontextmanager
async def far(path: Path, mode: LeashMode, **other: object) -> AsyncGenerator[Far]:
    async with open_stage(path, speed=0) as stage:
        facts, halted = list[Fact](), list[bool]()
        lines = SkillProxies(stage.client, stage.clock, facts.append, lambda: bool(halted))
        leash = StoredLeash(stage.agent_id, "heron", "gauge", mode, **other)
        url, key = await lines.open("r1", leash, stage.key)
        assert key != stage.key
        skill = await asyncio.to_thread(lambda: ServiceClient(key, url))
        try:
            yield Far(stage, lines, leash, skill, (url, key), facts, halted)
        finally:
            await asyncio.to_thread(skill.close)
            await lines.close()


def own_client(url: str, clock: HastyClock) -> Client:
    api_keys = ApiKeys(ApiKey("sk_test_0123456789", url))
    transport = httpx.AsyncHTTPTransport(retries=0)
    return Client(transport, url, api_keys, clock=clock, rng=random.Random(7))


def told(found: object) -> tuple[object, ...]:
    return found.success, found.error_code


@pytest.mark.slow
async def test_who_observes_reads_and_asks_for_quotes_and_trades_nothing(tmp_path: Path) -> None:
    async with far(tmp_path, LeashMode.OBSERVE) as it:
        assert await it.ask(lambda: it.skill.get_markets(limit=3))
        assert told(await it.buy(5.0)) == (False, "LEASH_OBSERVE")
        assert (it.spent, it.leash.waiting) == (0, {})


@pytest.mark.slow
async def test_a_buy_above_the_threshold_waits_and_goes_out_at_the_approved_size(
    tmp_path: Path,
) -> None:
    async with far(tmp_path, LeashMode.ASK, threshold=Micros(2 * ONE)) as it:
        assert (await it.buy(2.0)).success
        assert it.spent == 2 * ONE
        waits = await it.buy(5.0, 1)
        assert waits.success
        assert (it.spent, waits.fill_status) == (2 * ONE, "submitted")
        (waiting,) = it.seen.pending_trades
        assert (waiting.pending_id, waiting.amount, waiting.reasoning) == (
            waits.trade_id, 5 * ONE, "why",
        )  # fmt: skip
        assert waiting.signal_data["confidence"] == 0.6
        await it.lines.carry_out(ApproveTrade(waiting.pending_id, "it", Micros(4 * ONE)))
        assert it.spent == 6 * ONE
        (own,) = await it.ask(it.skill.get_held_trades)
        assert (own.status, own.reason) == (PendingStatus.APPROVED, "approved at another size")
        assert own.trade_id
        assert it.seen.pending_trades == ()
        # Approved once, it does not go out again.
        await it.lines.carry_out(ApproveTrade(waiting.pending_id, "it"))
        assert it.spent == 6 * ONE


@pytest.mark.slow
async def test_a_service_without_leashes_is_given_the_bound_as_the_price(tmp_path: Path) -> None:
    async with far(tmp_path, LeashMode.ASK) as it:
        await it.buy(5.0)
        (waiting,) = it.seen.pending_trades
        await it.lines.carry_out(ApproveTrade(waiting.pending_id, "it", not_above=0.01))
        (own,) = await it.ask(it.skill.get_held_trades)
        assert own.status is PendingStatus.FAILED
        assert "above 0.01" in own.reason
        assert (it.seen.pending_trades, it.spent) == ((), 0)


@pytest.mark.slow
async def test_an_amount_that_the_venue_refuses_does_not_use_the_trade_up(tmp_path: Path) -> None:
    async with far(tmp_path, LeashMode.ASK) as it:
        await it.buy(5.0)
        (waiting,) = it.seen.pending_trades
        for amount in (900, 999_999_999):
            await it.lines.carry_out(ApproveTrade(waiting.pending_id, "it", Micros(amount * ONE)))
            assert [one.pending_id for one in it.seen.pending_trades] == [waiting.pending_id]
        assert it.spent == 0
        await it.lines.carry_out(ApproveTrade(waiting.pending_id, "it"))
        assert (it.seen.pending_trades, it.spent) == ((), 5 * ONE)


@pytest.mark.parametrize(
    ("answer", "waits_on"),
    [
        (said({"success": False, "error": "too much"}), True),
        (said({"error": "too much", "fix": "take less"}, 400), True),
        (said({"error": "not now"}, 429), True),
        # Whoever says these may stand in front of a service that did trade.
        (said({"success": False, "error": "the gateway broke"}, 502), False),
        (said({"success": False}, 504), False),
        (said({"success": False}, 408), False),
        (said({"success": False}, 409), False),
        (said("not one word of JSON"), False),
        (said({"success": None}), False),
        # It says no, and yet names a trade.
        (said({"success": False, "trade_id": "t", "shares_bought": 12.5, "cost": 5}), False),
        (said({"success": False, "fill_status": "filled"}), False),
    ],
)
async def test_only_a_sure_no_to_another_amount_lets_a_trade_wait_on(
    *, answer: bytes, waits_on: bool
) -> None:
    filled = {"success": True, "trade_id": "t", "market_id": "m", "shares_bought": 1.0}
    clock = HastyClock()
    async with scripted(answer, said(filled)) as service, own_client(service.url, clock) as client:
        lines = SkillProxies(client, clock, list[Fact]().append)
        leash = StoredLeash("a", "heron", "gauge", LeashMode.ASK)
        way = await lines.open("r1", leash, "sk_test_0123456789")
        await raw_call(
            way, "POST /api/sdk/trade", b'{"market_id": "m", "side": "yes", "amount": 5.0}'
        )
        (pending_id,) = leash.waiting
        await lines.carry_out(ApproveTrade(pending_id, "it", Micros(4 * ONE)))
        assert (pending_id in leash.waiting) is waits_on
        assert leash.spent == (0 if waits_on else 4 * ONE)
        await lines.carry_out(ApproveTrade(pending_id, "it"))
        assert len(service.requests) == (2 if waits_on else 1)
        (ended,) = leash.decided
        assert ended.status is (PendingStatus.APPROVED if waits_on else PendingStatus.UNKNOWN)
        assert ("result unknown" in (ended.reason or "")) is not waits_on
        await lines.close()


@pytest.mark.slow
async def test_a_refusal_and_a_deadline_reach_the_skill_with_their_reason(tmp_path: Path) -> None:
    async with far(tmp_path, LeashMode.ASK, wait_s=60) as it:
        first = await it.buy(5.0)
        await it.lines.carry_out(RefuseTrade(first.trade_id, "it", "too thin"))
        # The same trade is not asked for again so soon; another one may be.
        assert told(await it.buy(5.0)) == (False, "REFUSED_BEFORE")
        second = await it.buy(5.0, 1)
        async with asyncio.TaskGroup() as tasks:
            looking = tasks.create_task(it.lines.run())
            await it.stage.clock.advance(61.0)
            await it.stage.clock.advance(1.0)
            looking.cancel()
        own = {one.held_id: one for one in await it.ask(it.skill.get_held_trades)}
        assert own[first.trade_id].reason == "too thin"
        assert own[second.trade_id].status is PendingStatus.EXPIRED
        assert it.spent == 0


@pytest.mark.slow
async def test_the_budget_of_the_day_binds_and_what_was_refused_does_not_count(
    tmp_path: Path,
) -> None:
    async with far(tmp_path, LeashMode.AUTO, budget=Micros(10 * ONE)) as it:
        assert (await it.buy(6.0)).success
        assert told(await it.buy(6.0)) == (False, "LEASH_BUDGET")
        (leash,) = [fact for fact in it.facts if isinstance(fact, Loaded)][-1].of(LeashView)
        assert (leash.spent, leash.budget) == (6 * ONE, 10 * ONE)
        wider = SetLeash(it.stage.agent_id, "heron", LeashMode.AUTO, budget=Micros(2_000 * ONE))
        await it.lines.carry_out(wider)
        # More than one trade may be: the service says no, and nothing of it counts.
        assert not (await it.buy(900.0, 1)).success
        assert it.leash.spent == 6 * ONE
        tomorrow = Timestamp(it.stage.clock.now() + 86_400.0)
        assert it.leash.spent_on(tomorrow) == 0


@pytest.mark.slow
async def test_a_way_that_is_opened_anew_remembers_what_was_spent(tmp_path: Path) -> None:
    async with far(tmp_path, LeashMode.AUTO, budget=Micros(10 * ONE)) as it:
        assert (await it.buy(6.0)).success
        again = StoredLeash(
            it.stage.agent_id, "heron", "gauge", LeashMode.AUTO, budget=Micros(10 * ONE)
        )
        await it.lines.open("r2", again, it.stage.key)
        assert again.spent_on(it.stage.clock.now()) == 6 * ONE


async def test_what_was_spent_today_outlives_the_desk(tmp_path: Path) -> None:
    filled = {"success": True, "trade_id": "t", "market_id": "m", "shares_bought": 1.0}
    full = said({"success": False, "market_id": "m", "error": "no"})
    steps = (said(filled), full, full)
    buy = b'{"market_id": "m", "side": "yes", "amount": 6.0}'
    clock = HastyClock()
    async with scripted(*steps) as service, own_client(service.url, clock) as client:

        async def opened() -> tuple[SkillProxies, StoredLeash, tuple[str, str]]:
            spending = SkillSpending(tmp_path)
            lines = SkillProxies(client, clock, list[Fact]().append, spending=spending)
            leash = StoredLeash("a", "heron", "gauge", LeashMode.AUTO, budget=Micros(10 * ONE))
            return lines, leash, await lines.open("r1", leash, "sk_test_0123456789")

        lines, leash, way = await opened()
        await raw_call(way, "POST /api/sdk/trade", buy)
        await lines.close()
        lines, leash, way = await opened()
        assert leash.spent_on(clock.now()) == 6 * ONE
        assert b"LEASH_BUDGET" in await raw_call(way, "POST /api/sdk/trade", buy)
        assert len(service.requests) == 1
        # What the service refused is given back, there too.
        await raw_call(way, "POST /api/sdk/trade", buy.replace(b"6.0", b"3.0"))
        await lines.close()
        lines, leash, way = await opened()
        assert leash.spent_on(clock.now()) == 6 * ONE
        # What cannot be written down is not sent.
        (tmp_path / SPENDING).write_text("[" * 100_000)
        assert (
            status(await raw_call(way, "POST /api/sdk/trade", buy.replace(b"6.0", b"3.0"))) == 424
        )
        assert (leash.spent, len(service.requests)) == (6 * ONE, 2)
        await lines.close()
        with pytest.raises(ValueError, match=SPENDING):
            await opened()


@pytest.mark.slow
async def test_the_halt_holds_buys_on_the_way_and_an_approval_changes_nothing_twice(
    tmp_path: Path,
) -> None:
    async with far(tmp_path, LeashMode.AUTO) as it:
        it.halted.append(True)
        assert told(await it.buy(5.0)) == (False, "HALTED")
        assert it.spent == 0


@pytest.mark.slow
async def test_nothing_is_approved_while_the_halt_stands(tmp_path: Path) -> None:
    async with far(tmp_path, LeashMode.ASK) as it:
        waits = await it.buy(5.0)
        it.halted.append(True)
        await it.lines.carry_out(ApproveTrade(waits.trade_id, "it"))
        assert it.spent == 0
        # It waits on, and can be approved when the halt is over.
        assert [one.pending_id for one in it.seen.pending_trades] == [waits.trade_id]
        it.halted.clear()
        await it.lines.carry_out(ApproveTrade(waits.trade_id, "it"))
        assert it.spent == 5 * ONE


@pytest.mark.slow
async def test_nothing_is_approved_behind_its_deadline(tmp_path: Path) -> None:
    async with far(tmp_path, LeashMode.ASK, wait_s=60) as it:
        waits = await it.buy(5.0)
        await it.stage.clock.advance(60.0)
        await it.lines.carry_out(ApproveTrade(waits.trade_id, "it"))
        assert it.spent == 0
        (ended,) = it.seen.decided
        assert ended.status is PendingStatus.EXPIRED


@pytest.mark.parametrize("ask", [1, 2, 3, 4])
async def test_a_halt_that_comes_while_a_buy_leaves_keeps_it_here(ask: int) -> None:
    halted: list[bool] = []

    def is_halted() -> bool:
        halted.append(len(halted) + 1 >= ask)
        return halted[-1]

    filled = {"success": True, "trade_id": "t", "market_id": "m", "shares_bought": 1.0}
    clock = HastyClock()
    async with scripted(said(filled)) as service, own_client(service.url, clock) as client:
        lines = SkillProxies(client, clock, list[Fact]().append, is_halted)
        leash = StoredLeash("a", "heron", "gauge", LeashMode.AUTO, budget=Micros(10 * ONE))
        way = await lines.open("r1", leash, "sk_test_0123456789")
        buy = b'{"market_id": "m", "side": "yes", "amount": 5.0}'
        await raw_call(way, "POST /api/sdk/trade", buy)
        assert (service.requests, leash.spent, len(halted)) == ([], 0, ask)
        sale = b'{"market_id": "m", "side": "yes", "action": "sell", "shares": 5.0}'
        assert status(await raw_call(way, "POST /api/sdk/trade", sale)) == 200
        assert len(service.requests) == 1
        await lines.close()


async def test_real_money_leaves_only_where_the_desk_has_nothing_against_it() -> None:
    asked: list[tuple[PlaceTrade, Micros]] = []
    said_no = [("live trading is off", "press 5, W")]

    def against(order: PlaceTrade, spent: Micros) -> tuple[str, str] | None:
        asked.append((order, spent))
        if said_no:
            return said_no[-1]
        return None if order.confirmed else ("nobody has confirmed", "confirm it")

    filled = {"success": True, "trade_id": "t", "market_id": "m", "shares_bought": 1.0}
    clock = HastyClock()
    async with scripted(said(filled)) as service, own_client(service.url, clock) as client:
        facts = list[Fact]()
        lines = SkillProxies(client, clock, facts.append, against_real=against)
        leash = StoredLeash("a", "heron", "gauge", LeashMode.AUTO)
        way = await lines.open("r1", leash, "sk_test_0123456789")
        buy = b'{"market_id": "m", "side": "yes", "amount": 5.0, "venue": "polymarket"}'
        await raw_call(way, "POST /api/sdk/trade", buy)
        assert (service.requests, leash.spent) == ([], 0)
        ((order, spent),) = asked
        assert (order.venue, order.amount, spent) == (Venue.EVM, 5 * ONE, 0)
        # Play money is not asked about, and says its venue where the skill did not.
        await raw_call(way, "POST /api/sdk/trade", buy.replace(b', "venue": "polymarket"', b""))
        assert len(asked) == 1
        assert json.loads(service.requests[0].partition(b"\r\n\r\n")[2])["venue"] == "sim"
        said_no.clear()
        await raw_call(way, "POST /api/sdk/trade", buy)
        assert (asked[-1][1], len(service.requests)) == (5 * ONE, 2)
        # What waits is asked about once more, and needs the person's own yes.
        leash.mode = LeashMode.ASK
        await raw_call(way, "POST /api/sdk/trade", buy)
        (pending_id,) = leash.waiting
        await lines.carry_out(ApproveTrade(pending_id, "it"))
        assert (list(leash.waiting), len(service.requests)) == ([pending_id], 2)
        await lines.carry_out(ApproveTrade(pending_id, "it", confirmed=True))
        assert (leash.waiting, len(service.requests)) == ({}, 3)
        await lines.close()


async def test_the_day_of_the_desk_counts_skills_that_run_no_more(tmp_path: Path) -> None:
    asked: list[Micros] = []

    def against(_: PlaceTrade, spent: Micros) -> tuple[str, str] | None:
        asked.append(spent)
        return None

    filled = {"success": True, "trade_id": "t", "market_id": "m", "shares_bought": 1.0}
    buy = b'{"market_id": "m", "side": "yes", "amount": 4.0, "venue": "polymarket"}'
    clock = HastyClock()
    async with scripted(said(filled)) as service, own_client(service.url, clock) as client:
        for slug in ("gauge", "tide"):
            spending = SkillSpending(tmp_path)
            lines = SkillProxies(
                client, clock, list[Fact]().append, against_real=against, spending=spending
            )
            leash = StoredLeash("a", "heron", slug, LeashMode.AUTO)
            way = await lines.open("r1", leash, "sk_test_0123456789")
            await raw_call(way, "POST /api/sdk/trade", buy)
            await lines.close()
        # What another service was sent is its own.
        SkillSpending(tmp_path).keep("a owl https://elsewhere.example", leash.day, Micros(9 * ONE))
        way = await lines.open("r2", leash, "sk_test_0123456789")
        await raw_call(way, "POST /api/sdk/trade", buy)
        assert asked == [0, 4 * ONE, 8 * ONE]
        await lines.close()


def test_what_is_given_back_after_midnight_is_not_of_the_new_day() -> None:
    leash = StoredLeash("a", "heron", "gauge", LeashMode.AUTO, budget=Micros(10 * ONE))
    before, after = Timestamp(86_400 * 20_000 - 0.5), Timestamp(86_400 * 20_000 + 1.0)
    leash.count_buy(Micros(10 * ONE), before)
    leash.count_buy(Micros(10 * ONE), after)
    leash.count_buy(Micros(-10 * ONE), before)
    assert leash.spent_on(after) == 10 * ONE
    # Nor does a clock that was set back begin a day with a new budget.
    assert not leash.has_left(Micros(ONE), before)


@pytest.mark.slow
async def test_a_desk_that_was_told_nothing_lets_no_real_money_leave(tmp_path: Path) -> None:
    async with far(tmp_path, LeashMode.AUTO) as it:
        buy = b'{"market_id": "m", "side": "yes", "amount": 5.0, "venue": "kalshi"}'
        answer = await raw_call(it.way, "POST /api/sdk/trade", buy)
        assert json.loads(answer.partition(b"\r\n\r\n")[2])["error_code"] == "REAL_MONEY"


@pytest.mark.slow
async def test_there_is_no_way_around(tmp_path: Path) -> None:
    async with far(tmp_path, LeashMode.AUTO) as it:
        # Neither with another key, nor by another call that trades or changes limits.
        stranger = await asyncio.to_thread(lambda: ServiceClient(it.stage.key, it.way[0]))
        with pytest.raises(ServiceError):
            await it.ask(lambda: stranger.get_markets(limit=1))
        await asyncio.to_thread(stranger.close)
        with pytest.raises(RefusedError, match="allows a skill to trade and read"):
            await it.ask(lambda: it.skill.update_settings(max_trades_per_day=1))


@pytest.mark.slow
@pytest.mark.parametrize(
    "target",
    [
        "/api/sdk/positions/../trade",
        "/api/sdk/positions/x/../../trade",
        "/api/sdk/positions/./../trade",
        "/api/sdk/positions/%2e%2e/trade",
        "/api/sdk/positions/..\\trade",
        "/api/sdk/positions//trade",
        "/api/sdk/positions/../trade?a=b",
        "/api/sdk/positions/../trade#/monitor",
    ],
)
async def test_no_spelling_of_a_path_leads_to_another_call(tmp_path: Path, target: str) -> None:
    async with far(tmp_path, LeashMode.AUTO, budget=Micros(ONE)) as it:
        it.halted.append(True)
        market = it.stage.open_markets()[0].market_id
        order = json.dumps({"market_id": market, "side": "yes", "amount": 5.0}).encode()
        assert status(await raw_call(it.way, f"POST {target}", order)) == 403
        assert it.spent == 0
        # Nor do readings leave their own part of the service.
        assert status(await raw_call(it.way, "GET /api/sdk/../desk/agents")) == 403
        assert status(await raw_call(it.way, "GET /api/sdk/markets?limit=1&q=a%20b/../c")) == 200


@pytest.mark.slow
async def test_a_call_may_come_in_chunks_and_ask_before_its_body(tmp_path: Path) -> None:
    async with far(tmp_path, LeashMode.AUTO) as it:
        market = it.stage.open_markets()[0].market_id
        order = json.dumps({"market_id": market, "side": "yes", "amount": 5.0, "dry_run": True})
        half, rest = order[:20].encode(), order[20:].encode()
        url, key = it.way
        reader, writer = await asyncio.open_connection("127.0.0.1", int(url.rpartition(":")[2]))
        writer.write(
            f"POST /api/sdk/trade HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {key}\r\n"
            "Expect: 100-continue\r\nTransfer-Encoding: chunked\r\n\r\n".encode()
        )
        assert (await reader.readuntil(b"\r\n\r\n")).startswith(b"HTTP/1.1 100 ")
        for part in (half, rest, b""):
            writer.write(b"%x\r\n%s\r\n" % (len(part), part))
        answer = await reader.read()
        writer.close()
        await writer.wait_closed()
        assert status(answer) == 200
        assert json.loads(answer.partition(b"\r\n\r\n")[2])["success"]


# -- a service that answers from a list ---------------------------------------------------------

HERE = "http://127.0.0.1:9"
OWN = "sk_own_0123456789"
DONE: Answer = {"success": True, "trade_id": "t-1"}
NO: Answer = {"success": False, "error": "too much"}
LOST: Answer = httpx.ReadError("silence")
KEPT_BACK: Answer = httpx.ConnectError("no line")


class Listed(httpx.AsyncBaseTransport):
    """Notes each request with its key, and gives the next answer."""

    def __init__(self) -> None:
        self.answers: list[Answer] = []
        self.passed: list[tuple[str, str, bytes]] = []

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        key = request.headers["authorization"].removeprefix("Bearer ")
        self.passed.append((key, request.url.path, await request.aread()))
        answer = self.answers.pop(0) if self.answers else {}
        if isinstance(answer, Exception):
            raise answer
        code, answer = answer if isinstance(answer, tuple) else (200, answer)
        return httpx.Response(code, stream=httpx.ByteStream(json.dumps(answer).encode()))


class Ways:
    """The ways of skills to that service."""

    def __init__(self, folder: Path | None = None) -> None:
        self.clock = ManualClock(NOW)
        self.facts: list[Fact] = []
        self.service = Listed()
        self.judged: list[tuple[PlaceTrade, Micros]] = []
        client = Client(self.service, HERE, ApiKeys(None), clock=self.clock, rng=random.Random(7))
        self.lines = SkillProxies(
            client,
            self.clock,
            self.facts.append,
            against_real=self.against_real,
            spending=None if folder is None else SkillSpending(folder),
        )

    def against_real(self, order: PlaceTrade, spent: Micros) -> tuple[str, str]:
        self.judged.append((order, spent))
        return "live trading is off", "turn it on"

    async def call(self, way: tuple[str, str], call: str, **body: object) -> tuple[int, Any]:
        answer = await raw_call(way, call, json.dumps(body).encode())
        return status(answer), json.loads(answer.partition(b"\r\n\r\n")[2])

    async def buy(self, way: tuple[str, str], amount: float, **other: object) -> Any:
        body = {"market_id": "m-1", "side": "yes", "amount": amount, "venue": "sim", **other}
        return (await self.call(way, "POST /api/sdk/trade", **body))[1]

    async def spent_today(self, way: tuple[str, str]) -> Micros:
        """What real money is judged by."""
        await self.buy(way, 1.0, venue="evm_venue")
        return self.judged[-1][1]

    @property
    def words(self) -> list[tuple[str, str]]:
        return [(one.tone, one.text) for one in self.facts if isinstance(one, Noticed)]

    @property
    def seen(self) -> PendingTradesSeen:
        return [one for one in self.facts if isinstance(one, PendingTradesSeen)][-1]


@asynccontextmanager
async def ways(folder: Path | None = None) -> AsyncGenerator[Ways]:
    it = Ways(folder)
    try:
        yield it
    finally:
        await it.lines.close()


def on(mode: LeashMode = LeashMode.AUTO, slug: str = "gauge", **other: Any) -> StoredLeash:
    return StoredLeash("a-1", "heron", slug, mode, **other)


async def test_a_skill_is_let_in_by_the_key_of_its_own_run_alone() -> None:
    async with ways() as it:
        (url, token), other = (
            await it.lines.open("r1", on(), OWN),
            await it.lines.open("r2", on(slug="rain"), "sk_two_0123456789"),
        )
        for given in (other[1], OWN, ""):
            assert (await it.call((url, given), "GET /api/sdk/markets"))[0] == 401
        assert it.service.passed == []
        assert (await it.call((url, token), "GET /api/sdk/markets"))[0] == 200
        await it.call(other, "GET /api/sdk/markets")
        assert [key for key, _, _ in it.service.passed] == [OWN, "sk_two_0123456789"]
        with pytest.raises(ValueError, match=r"the key is too short"):
            await it.lines.open("r3", on(), "sk own")
        assert it.lines.leash_of("r3") is None
        assert it.lines.agents() == (HaltedAgent("a-1", "heron"),)


async def test_the_runs_of_one_skill_spend_from_one_budget_and_real_money_counts_all() -> None:
    async with ways() as it:
        first, second, other = (on(slug=one, budget=Micros(10 * ONE)) for one in ("g", "g", "r"))
        one = await it.lines.open("r1", first, OWN)
        it.service.answers = [DONE] * 3
        assert (await it.buy(one, 6.0))["success"]
        three = await it.lines.open("r3", other, OWN)
        two = await it.lines.open("r2", second, OWN)
        assert (await it.buy(two, 5.0))["error_code"] == "LEASH_BUDGET"
        assert (await it.buy(two, 4.0))["success"]
        assert (await it.buy(three, 9.0))["success"]
        assert (first.spent, second.spent, other.spent) == (10 * ONE, 10 * ONE, 9 * ONE)
        answer = await it.buy(one, 6.0, venue="evm_venue", side="no")
        assert (answer["success"], answer["error_code"]) == (False, "REAL_MONEY")
        order = PlaceTrade("m-1", Side.NO, Action.BUY, Venue.EVM, Micros(6 * ONE), confirmed=True)
        assert it.judged == [(order, 19 * ONE)]
        assert len(it.service.passed) == 3


async def test_a_run_that_begins_anew_has_spent_what_it_had() -> None:
    async with ways() as it:
        way = await it.lines.open("r1", on(), OWN)
        it.service.answers = [DONE, LOST]
        await it.buy(way, 6.0)
        await it.buy(way, 2.0)
        before, fresh = it.lines.leash_of("r1"), on(LeashMode.ASK)
        assert before is not None
        again = await it.lines.open("r1", fresh, "sk_new_0123456789")
        assert it.lines.leash_of("r1") is fresh
        assert (fresh.spent, fresh.unknown) == (8 * ONE, before.unknown)
        assert len(fresh.unknown) == 1
        await it.call(again, "GET /api/sdk/markets")
        assert it.service.passed[-1][0] == "sk_new_0123456789"


async def test_what_was_spent_outlives_the_desk_and_is_not_counted_twice(tmp_path: Path) -> None:
    async with ways(tmp_path) as it:
        way = await it.lines.open("r1", on(), OWN)
        it.service.answers = [DONE, NO]
        await it.buy(way, 6.0)
        await it.buy(way, 3.0)
    async with ways(tmp_path) as it:
        other, again = on(slug="rain"), on()
        rain = await it.lines.open("r2", other, OWN)
        assert await it.spent_today(rain) == 6 * ONE
        await it.lines.open("r1", again, OWN)
        assert (again.spent, other.spent) == (6 * ONE, 0)
        assert await it.spent_today(rain) == 6 * ONE
        (tmp_path / SPENDING).write_text("broken")
        # What another run of the skill knows is not read anew, and what nobody knows is needed.
        await it.lines.open("r3", on(), OWN)
        with pytest.raises(ValueError, match=r"cannot read"):
            await it.lines.open("r4", on(slug="wind"), OWN)
        answer = await it.buy(rain, 2.0)
        assert answer["error"].startswith("nothing sent: cannot read")
        assert (other.spent, other.unknown, it.service.passed) == (0, {}, [])


@pytest.mark.parametrize(
    ("answer", "spent", "unknown"),
    [
        (DONE, 6, 0),
        (NO, 0, 0),
        (KEPT_BACK, 0, 0),
        (LOST, 6, 1),
        ("riddle", 6, 1),
        ((422, {}), 0, 0),
        ((500, {}), 6, 1),
        ({"success": False, "trade_id": "t"}, 6, 1),
    ],
)
async def test_a_buy_counts_unless_it_surely_did_not_go_out(
    answer: Answer, spent: int, unknown: int
) -> None:
    async with ways() as it:
        mine = on()
        way = await it.lines.open("r1", mine, OWN)
        it.service.answers = [answer]
        await it.buy(way, 6.0)
        assert (mine.spent, len(mine.unknown)) == (spent * ONE, unknown)
        for ref, one in mine.unknown.items():
            sent = json.loads(it.service.passed[0][2])
            assert (one.ref, sent["signal_data"]["desk_ref"]) == (ref, ref)
            assert (one.size, one.counted_at, one.approved) == (6 * ONE, NOW, None)


async def looked_up(it: Ways) -> list[float]:
    """When trades were asked for, of a minute and a quarter in steps of five seconds."""
    looked: list[float] = []
    for _ in range(15):
        before = len(it.service.passed)
        await it.clock.advance(5)
        for _ in range(40):
            await asyncio.sleep(0)
        if len(it.service.passed) > before:
            looked.append(it.clock.now() - NOW)
    return looked


async def test_buys_of_unknown_end_are_looked_up_and_old_ones_more_seldom() -> None:
    async with ways() as it, asyncio.TaskGroup() as group:
        mine = on()
        await it.lines.open("r1", mine, OWN)
        old = Unknown(
            ref="old", market_id="m-1", side=Side.YES, venue=Venue.SIM, size=Micros(ONE),
            counted_at=Timestamp(NOW - 9_000_000),
        )  # fmt: skip
        mine.unknown = {"old": old}
        it.service.answers = ["riddle"] * 99
        running = group.create_task(it.lines.run())
        await it.clock.advance(0)
        assert await looked_up(it) == [10, 70]
        assert mine.unknown
        running.cancel()


async def test_a_leash_is_changed_by_agent_and_skill() -> None:
    async with ways() as it:
        gauge, rain = on(), on(slug="rain")
        other = StoredLeash("a-2", "moss", "gauge", LeashMode.AUTO)
        for run_id, one in (("r1", gauge), ("r2", rain), ("r3", other)):
            await it.lines.open(run_id, one, OWN)
        order = SetLeash(
            "a-1", "heron", LeashMode.ASK, Micros(2 * ONE), Micros(9 * ONE), 60, "rain"
        )
        await it.lines.carry_out(order)
        assert (rain.mode, rain.threshold, rain.budget, rain.wait_s) == (
            LeashMode.ASK, 2 * ONE, 9 * ONE, 60,
        )  # fmt: skip
        assert (gauge.mode, other.mode) == (LeashMode.AUTO, LeashMode.AUTO)
        await it.lines.carry_out(SetLeash("a-1", "heron", LeashMode.OBSERVE))
        assert [one.mode.value for one in (gauge, rain, other)] == ["observe", "observe", "auto"]
        free, nobody = SetLeash("a-1", "heron", None), SetLeash("a-9", "tide", LeashMode.ASK)
        await it.lines.carry_out(free)
        await it.lines.carry_out(nobody)
        kept = "the desk's own leash cannot be removed when the service has no leashes"
        assert it.words[2:] == [
            ("warn", f"{free.describe()}: {kept}"),
            ("warn", f"{nobody.describe()}: no local skill runs as that agent"),
        ]
        assert rain.mode is LeashMode.OBSERVE


async def test_a_trade_is_decided_once_and_never_beyond_the_budget() -> None:
    async with ways() as it:
        mine = on(LeashMode.ASK, budget=Micros(10 * ONE))
        await it.lines.open("r0", on(LeashMode.ASK, slug="rain"), OWN)
        way = await it.lines.open("r1", mine, OWN)
        await it.buy(way, 6.0)
        (trade,) = it.seen.pending_trades
        order = ApproveTrade(trade.pending_id, "it", Micros(11 * ONE))
        await it.lines.carry_out(order)
        why = "daily budget reached: raise it first, or lower the amount; still pending"
        assert it.words == [("warn", f"{order.describe()}: {why}")]
        it.service.answers = [DONE]
        await it.lines.carry_out(ApproveTrade(trade.pending_id, "it", Micros(10 * ONE)))
        assert (mine.spent, json.loads(it.service.passed[0][2])["amount"]) == (10 * ONE, 10.0)
        mine.budget = Micros(99 * ONE)
        await it.buy(way, 6.0)
        (trade,) = it.seen.pending_trades
        no = RefuseTrade(trade.pending_id, "it", "too thin")
        await it.lines.carry_out(no)
        await it.lines.carry_out(no)
        assert it.words[-2:] == [
            ("good", no.describe()), ("warn", f"{no.describe()}: no longer pending"),
        ]  # fmt: skip
        row = it.seen.decided[0]
        assert (row.status, row.reason, row.decided_at) == (PendingStatus.REFUSED, "too thin", NOW)


@pytest.mark.parametrize("mode", LeashMode)
@pytest.mark.parametrize(
    ("call", "passes", "lowers"),
    [
        ("GET /api/sdk/markets?limit=3", True, False),
        ("DELETE /api/sdk/orders/o-1", False, True),
        ("POST /api/sdk/agents/register", False, False),
        ("GET /api/desk/agents", False, False),
        ("GET /api/sdk/../desk/agents", False, False),
        ("GET /api/sdk/%2e%2e/desk", False, False),
        ("DELETE /api/sdk/orders/../positions", False, False),
        ("PUT /api/sdk/orders/o-1", False, False),
    ],
)
async def test_a_skill_reads_and_lowers_risk_and_does_nothing_else(
    mode: LeashMode, call: str, *, passes: bool, lowers: bool
) -> None:
    async with ways() as it:
        way = await it.lines.open("r1", on(mode), OWN)
        may = passes or (lowers and mode is not LeashMode.OBSERVE)
        assert (await it.call(way, call))[0] == (200 if may else 403)
        assert len(it.service.passed) == may


async def test_a_buy_leaves_as_it_was_judged_with_the_desks_mark_and_a_sale_without() -> None:
    async with ways() as it:
        way = await it.lines.open("r1", on(), OWN)
        it.service.answers = [DONE] * 3
        await it.buy(way, 8.0, reasoning="why")
        body = json.loads(it.service.passed[0][2])
        assert set(body.pop("signal_data")) == {"desk_ref"}
        assert body == {
            "venue": "sim", "market_id": "m-1", "side": "yes", "amount": 8.0, "reasoning": "why",
        }  # fmt: skip
        await it.buy(way, 0.0, action="sell", shares=3.0)
        await it.buy(way, 8.0, dry_run=True)
        assert all("signal_data" not in json.loads(raw) for _, _, raw in it.service.passed[1:])
        leash = it.lines.leash_of("r1")
        assert leash is not None
        assert leash.spent == 8 * ONE


@pytest.mark.parametrize(
    "more",
    [
        {"size": 900.0},
        {"Amount": 900.0},
        {"legs": [{"market_id": "m-2", "amount": 900.0}]},
        {"amount_usd": 900.0},
        {"leverage": 50},
    ],
)
@pytest.mark.parametrize("mode", [LeashMode.AUTO, LeashMode.ASK])
async def test_a_field_that_was_not_judged_never_leaves(
    mode: LeashMode, more: dict[str, object]
) -> None:
    async with ways() as it:
        way = await it.lines.open("r1", on(mode), OWN)
        (name,) = more
        for other in ({}, {"action": "sell", "shares": 3.0}, {"dry_run": True}):
            amount = 0.0 if "shares" in other else 8.0
            answer = await it.buy(way, amount, **other, **more)
            assert answer["error"] == f"malformed order: unknown field not passed on: {name!r}"
        assert it.service.passed == []
        leash = it.lines.leash_of("r1")
        assert leash is not None
        assert (leash.spent, leash.waiting) == (0, {})


@pytest.mark.parametrize(
    "more",
    [
        {"execute": True},
        {"execute": False},
        {"signed_order": {"maker_amount": "50000000000"}},
        {"wallet_address": "0x" + "5a" * 20},
    ],
)
async def test_an_order_that_another_service_may_read_otherwise_never_leaves(
    more: dict[str, object],
) -> None:
    async with ways() as it:
        way = await it.lines.open("r1", on(LeashMode.AUTO), OWN)
        answer = await it.buy(way, 8.0, **more)
        assert answer["error"].startswith("malformed order: ")
        assert it.service.passed == []


async def test_an_approved_trade_leaves_as_it_was_judged() -> None:
    async with ways() as it:
        way = await it.lines.open("r1", on(LeashMode.ASK), OWN)
        # A name that comes twice is read once, here and behind the leash.
        twice = b'{"market_id": "m-1", "amount": 900.0, "side": "yes", "amount": 6.0}'
        await raw_call(way, "POST /api/sdk/trade?amount=900", twice)
        (trade,) = it.seen.pending_trades
        assert trade.amount == 6 * ONE
        it.service.answers = [DONE]
        await it.lines.carry_out(ApproveTrade(trade.pending_id, "buy YES"))
        ((_, path, raw),) = it.service.passed
        assert path == "/api/sdk/trade"
        body = json.loads(raw)
        assert set(body.pop("signal_data")) == {"desk_ref"}
        assert body == {"venue": "sim", "market_id": "m-1", "side": "yes", "amount": 6.0}
        assert raw.count(b'"amount"') == 1


DOUBT = "result unknown; checking the trades"


@pytest.mark.parametrize(
    ("answer", "words", "status_then"),
    [
        (DONE, "", PendingStatus.APPROVED),
        (NO, ": too much", PendingStatus.FAILED),
        ((502, {}), f": the service answered 502; {DOUBT}", PendingStatus.UNKNOWN),
    ],
)
async def test_an_approval_ends_as_the_service_answered(
    answer: Answer, words: str, status_then: PendingStatus
) -> None:
    async with ways() as it:
        mine = on(LeashMode.ASK)
        way = await it.lines.open("r1", mine, OWN)
        await it.buy(way, 6.0)
        (trade,) = it.seen.pending_trades
        it.service.answers = [answer]
        order = ApproveTrade(trade.pending_id, "buy YES")
        await it.lines.carry_out(order)
        tone = "good" if status_then is PendingStatus.APPROVED else "bad"
        assert it.words == [(tone, f"{order.describe()}{words}")]
        assert [one.status for one in mine.decided] == [status_then]
        assert [one.approved for one in mine.unknown.values()] == (
            [trade] if status_then is PendingStatus.UNKNOWN else []
        )
        await it.lines.carry_out(order)
        assert it.words[-1] == ("warn", f"{order.describe()}: no longer pending")
        assert len(it.service.passed) == 1
