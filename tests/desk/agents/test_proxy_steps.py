"""The desk between a skill and its service, one call at a time: who is let in, and what counts."""

import asyncio
import json
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from kit.samples.desk import NOW
from service_tui.client.client import Client
from service_tui.client.keys import Key
from service_tui.client.passing import NotPassedError, Passed
from service_tui.clock import ManualClock
from service_tui.desk.agents import skill_proxy
from service_tui.desk.agents.proxy_calls import SkillCall, SkillConnection
from service_tui.desk.agents.proxy_lookup import LookupEnd, end_notice
from service_tui.desk.agents.skill_proxy import SkillProxies
from service_tui.desk.agents.skill_spending import SkillSpending
from service_tui.desk.agents.stored_leash import DAY_S, StoredLeash, Unknown
from service_tui.desk.changes import Loaded
from service_tui.desk.commands.agents import ApproveHeld, RefuseHeld, SetLeash
from service_tui.desk.commands.trading import PlaceTrade
from service_tui.desk.facts import Fact, Noticed
from service_tui.desk.slices.halt import HaltedAgent
from service_tui.desk.slices.notices import NoticeKind
from service_tui.desk.slices.supervision import HeldSeen, LeashView
from service_tui.terms import Action, HeldStatus, LeashMode, Side, Venue
from service_tui.units import ONE, Micros, Timestamp
from service_tui.wire.endpoints.public import PLACE_TRADE

HERE = "http://127.0.0.1:9"
DONE = Passed(200, json.dumps({"success": True, "trade_id": "t-1"}).encode())
NO = Passed(200, json.dumps({"success": False, "error": "too much"}).encode())
LOST = NotPassedError("silence", was_sent=True)
KEPT_BACK = NotPassedError("no line", was_sent=False)


class Way:
    """The ways of skills, and a service that answers from a list."""

    def __init__(self, folder: Path | None = None) -> None:
        self.clock = ManualClock(NOW)
        self.facts: list[Fact] = []
        self.passed: list[tuple[str, tuple[str, str, bytes]]] = []
        self.answers: list[Any] = []
        self.is_halted = False
        self.spending = None if folder is None else SkillSpending(folder)
        client = SimpleNamespace(base_url=HERE, pass_on=self._pass_on)
        self.ways = SkillProxies(
            cast("Client", client),
            self.clock,
            self.facts.append,
            lambda: self.is_halted,
            spending=self.spending,
        )

    async def _pass_on(
        self, key: Key, call: tuple[str, str, bytes], *, last_word: Callable[[], str]
    ) -> Passed:
        self.passed.append((key.secret, call))
        await asyncio.sleep(0)
        if last_word():
            raise KEPT_BACK
        answer = self.answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer

    async def call(self, run_id: str, token: str, call: SkillCall) -> tuple[int, dict[str, Any]]:
        headers = {**call.headers, "authorization": f"Bearer {token}"}
        given = SkillCall(call.method, call.target, headers, call.body)

        async def read() -> SkillCall:
            return given

        caller = cast("SkillConnection", SimpleNamespace(call=read))
        status, answer = await self.ways._answer(run_id, caller)
        return status, json.loads(answer)

    async def buy(self, run_id: str, token: str, amount: float, **other: Any) -> dict[str, Any]:
        body = {"market_id": "m-1", "side": "yes", "amount": amount, "venue": "sim", **other}
        raw = json.dumps(body).encode()
        call = SkillCall(PLACE_TRADE.method, PLACE_TRADE.path, {}, raw)
        return (await self.call(run_id, token, call))[1]

    @property
    def words(self) -> list[tuple[str, str]]:
        return [(one.tone, one.text) for one in self.facts if isinstance(one, Noticed)]

    @property
    def held(self) -> HeldSeen:
        return [one for one in self.facts if isinstance(one, HeldSeen)][-1]

    @property
    def leashes(self) -> tuple[LeashView, ...]:
        seen = [one for one in self.facts if isinstance(one, Loaded)]
        return seen[-1].of(LeashView)


@asynccontextmanager
async def opened(folder: Path | None = None) -> AsyncGenerator[Way]:
    it = Way(folder)
    try:
        yield it
    finally:
        it.ways.close()


def leash(mode: LeashMode = LeashMode.AUTO, slug: str = "gauge", **other: Any) -> StoredLeash:
    return StoredLeash("a-1", "heron", slug, mode, **other)


READ = SkillCall("GET", "/api/sdk/markets?limit=3", {}, b"")


async def test_a_skill_is_let_in_by_the_key_of_its_own_run_alone() -> None:
    async with opened() as it:
        address, token = await it.ways.open("r1", leash(), "sk_own_0123456789")
        _, other = await it.ways.open("r2", leash(slug="rain"), "sk_two_0123456789")
        assert address.startswith("http://127.0.0.1:")
        assert token.startswith("sk_live_")
        for run_id, given in (
            ("r1", other),
            ("r1", "sk_own_0123456789"),
            ("r1", ""),
            ("r9", token),
        ):
            status, answer = await it.call(run_id, given, READ)
            assert (status, answer["error"]) == (401, "unknown key")
        assert it.passed == []
        it.answers = [Passed(200, b"{}"), Passed(503, b"{}")]
        assert await it.call("r1", token, READ) == (200, {})
        assert await it.call("r2", other, READ) == (503, {})
        passed = ("GET", "/api/sdk/markets?limit=3", b"")
        assert it.passed == [("sk_own_0123456789", passed), ("sk_two_0123456789", passed)]


async def test_with_a_key_that_is_none_nothing_listens(monkeypatch: pytest.MonkeyPatch) -> None:
    async def listen(*_: Any) -> None:
        raise AssertionError("listens")

    monkeypatch.setattr(asyncio, "start_server", listen)
    it = Way()
    with pytest.raises(ValueError, match=r"the key is too short"):
        await it.ways.open("r1", leash(), "sk own")
    assert it.ways.leash_of("r1") is None


async def test_the_runs_of_one_skill_spend_from_one_budget() -> None:
    async with opened() as it:
        budget = Micros(10 * ONE)
        first, second = leash(budget=budget), leash(budget=budget)
        other = leash(slug="rain", budget=budget)
        _, one = await it.ways.open("r1", first, "sk_own_0123456789")
        it.answers = [DONE] * 3
        assert (await it.buy("r1", one, 6.0))["success"]
        _, three = await it.ways.open("r3", other, "sk_own_0123456789")
        _, two = await it.ways.open("r2", second, "sk_own_0123456789")
        assert (first.spent, second.spent, other.spent) == (6 * ONE, 6 * ONE, 0)
        assert (await it.buy("r2", two, 5.0))["error_code"] == "LEASH_BUDGET"
        assert (await it.buy("r2", two, 4.0))["success"]
        assert (first.spent, second.spent, other.spent) == (10 * ONE, 10 * ONE, 0)
        assert (await it.buy("r3", three, 9.0))["success"]
        assert [one.spent for one in it.leashes] == [10 * ONE, 9 * ONE, 10 * ONE]
        assert it.ways._spent_today() == 19 * ONE


async def test_a_run_that_begins_anew_has_spent_what_it_had() -> None:
    async with opened() as it:
        _, token = await it.ways.open("r1", leash(), "sk_own_0123456789")
        it.answers = [DONE, LOST, DONE]
        await it.buy("r1", token, 6.0)
        await it.buy("r1", token, 2.0)
        before = it.ways.leash_of("r1")
        assert before is not None
        fresh = leash(LeashMode.ASK)
        _, again = await it.ways.open("r1", fresh, "sk_new_0123456789")
        assert it.ways.leash_of("r1") is fresh
        assert (fresh.spent, fresh.unknown) == (8 * ONE, before.unknown)
        assert len(fresh.unknown) == 1
        assert (await it.call("r1", token, READ))[0] == 401
        assert await it.call("r1", again, READ) == (200, json.loads(DONE.body))
        assert it.passed[-1][0] == "sk_new_0123456789"


async def test_what_was_spent_is_kept_over_a_restart(tmp_path: Path) -> None:
    async with opened(tmp_path) as it:
        _, token = await it.ways.open("r1", leash(), "sk_own_0123456789")
        it.answers = [DONE, NO]
        await it.buy("r1", token, 6.0)
        await it.buy("r1", token, 3.0)
    day = int(NOW // DAY_S)
    assert SkillSpending(tmp_path).rows() == {f"a-1 gauge {HERE}": (day, 6 * ONE)}
    async with opened(tmp_path) as it:
        other = leash(slug="rain")
        again = leash()
        await it.ways.open("r2", other, "sk_own_0123456789")
        assert it.ways._spent_today() == 6 * ONE
        await it.ways.open("r1", again, "sk_own_0123456789")
        assert (again.spent, again.day, other.spent) == (6 * ONE, day, 0)
        assert it.ways._spent_today() == 6 * ONE


async def test_a_run_beside_another_does_not_read_the_file_again(tmp_path: Path) -> None:
    async with opened(tmp_path) as it:
        await it.ways.open("r1", leash(), "sk_own_0123456789")
        (tmp_path / skill_spending_name()).write_text("broken")
        await it.ways.open("r2", leash(), "sk_own_0123456789")
        with pytest.raises(ValueError, match=r"cannot read"):
            await it.ways.open("r3", leash(slug="rain"), "sk_own_0123456789")
        assert it.ways.leash_of("r3") is None


def skill_spending_name() -> str:
    return "skill-spending.json"


async def test_a_buy_that_cannot_be_recorded_is_not_sent(tmp_path: Path) -> None:
    async with opened(tmp_path) as it:
        mine = leash()
        _, token = await it.ways.open("r1", mine, "sk_own_0123456789")
        (tmp_path / skill_spending_name()).write_text("broken")
        answer = await it.buy("r1", token, 6.0)
        assert answer["error"].startswith("nothing sent: cannot read")
        assert (mine.spent, mine.unknown, it.passed) == (0, {}, [])


@pytest.mark.parametrize(
    ("answer", "spent", "unknown"),
    [
        (DONE, 6 * ONE, 0),
        (NO, 0, 0),
        (KEPT_BACK, 0, 0),
        (LOST, 6 * ONE, 1),
        (Passed(200, b'"riddle"'), 6 * ONE, 1),
    ],
)
async def test_a_buy_counts_unless_it_surely_did_not_go_out(
    answer: Any, spent: int, unknown: int
) -> None:
    async with opened() as it:
        mine = leash()
        _, token = await it.ways.open("r1", mine, "sk_own_0123456789")
        it.answers = [answer]
        await it.buy("r1", token, 6.0)
        assert (mine.spent, len(mine.unknown)) == (spent, unknown)
        assert it.ways._sending == set()
        for ref, one in mine.unknown.items():
            sent = json.loads(it.passed[0][1][2])
            assert (one.ref, sent["signal_data"]["desk_ref"]) == (ref, ref)
            assert (one.size, one.counted_at, one.held) == (6 * ONE, NOW, None)


async def test_a_halt_keeps_every_buy_back() -> None:
    async with opened() as it:
        mine = leash()
        _, token = await it.ways.open("r1", mine, "sk_own_0123456789")
        it.is_halted = True
        assert (await it.buy("r1", token, 6.0))["error_code"] == "HALTED"
        assert (mine.spent, it.passed) == (0, [])
        it.answers = [DONE]
        sale = await it.buy("r1", token, 0.0, action="sell", shares=3.0)
        assert sale["success"]
        assert mine.spent == 0


async def test_real_money_is_judged_by_the_order_as_it_is_and_what_was_spent() -> None:
    async with opened() as it:
        seen: list[tuple[PlaceTrade, Micros]] = []

        def against(order: PlaceTrade, spent: Micros) -> tuple[str, str]:
            seen.append((order, spent))
            return "live trading is off", "turn it on"

        it.ways._against_real = against
        mine = leash(spent=Micros(2 * ONE), day=int(NOW // DAY_S))
        _, token = await it.ways.open("r1", mine, "sk_own_0123456789")
        answer = await it.buy("r1", token, 6.0, venue="evm_venue", side="no")
        assert (answer["success"], answer["error_code"]) == (False, "REAL_MONEY")
        order = PlaceTrade("m-1", Side.NO, Action.BUY, Venue.EVM, Micros(6 * ONE), confirmed=True)
        assert seen == [(order, 2 * ONE)]
        assert (mine.spent, it.passed) == (2 * ONE, [])


async def test_a_quote_is_asked_for_even_in_a_halt_and_counts_nothing() -> None:
    async with opened() as it:
        mine = leash()
        _, token = await it.ways.open("r1", mine, "sk_own_0123456789")
        it.is_halted, it.answers = True, [DONE]
        assert (await it.buy("r1", token, 6.0, dry_run=True))["success"]
        assert (mine.spent, mine.unknown, len(it.passed)) == (0, {}, 1)


async def test_a_call_that_is_none_is_refused_with_what_is_one() -> None:
    async with opened() as it:
        _, token = await it.ways.open("r1", leash(), "sk_own_0123456789")
        odd = SkillCall(PLACE_TRADE.method, PLACE_TRADE.path, {}, b"{}")
        status, answer = await it.call("r1", token, odd)
        fix = "give market_id, side and amount or shares"
        assert (status, answer["error"], answer["fix"]) == (422, "malformed order", fix)
        other = SkillCall("POST", "/api/sdk/settings", {}, b"{}")
        status, answer = await it.call("r1", token, other)
        why = "this desk's leash allows a skill to trade and read only"
        assert (status, answer["error"], answer["fix"]) == (403, why, "POST /api/sdk/trade")
        it.answers = [LOST, KEPT_BACK]
        status, answer = await it.call("r1", token, READ)
        fix = "check GET /api/sdk/trades for the result"
        assert (status, answer["error"], answer["fix"]) == (504, "silence", fix)
        status, answer = await it.call("r1", token, READ)
        assert (status, answer["error"], answer["fix"]) == (424, "no line", "retry later")


# -- what becomes of a buy whose answer was lost

BUY = Unknown(
    ref="ref-1", market_id="m-1", side=Side.YES, venue=Venue.SIM, size=Micros(6 * ONE),
    counted_at=Timestamp(NOW),
)  # fmt: skip
FAILED = LookupEnd(HeldStatus.FAILED, "received, then failed", "t-1", is_back=True)
BOUGHT = LookupEnd(HeldStatus.APPROVED, "it executed", "t-1")
MAYBE = LookupEnd(HeldStatus.UNKNOWN, "not found", may_turn_up=True)


@pytest.mark.parametrize(
    ("end", "spent", "is_left", "is_told"),
    [
        (FAILED, 0, False, True),
        (BOUGHT, 6 * ONE, False, True),
        (MAYBE, 6 * ONE, True, False),
        (None, 6 * ONE, True, False),
    ],
)
async def test_the_end_that_was_found_is_counted_and_told(
    end: LookupEnd | None,
    spent: int,
    monkeypatch: pytest.MonkeyPatch,
    *,
    is_left: bool,
    is_told: bool,
) -> None:
    asked: list[Any] = []

    async def found(buys: Any, _: Any, key: Key, clock: Any) -> dict[str, LookupEnd]:
        asked.append((buys, key.secret, clock))
        await asyncio.sleep(0)
        return {} if end is None else {"ref-1": end, "ref-9": FAILED}

    monkeypatch.setattr(skill_proxy, "look_up", found)
    async with opened() as it:
        mine = leash(spent=Micros(6 * ONE), day=int(NOW // DAY_S))
        await it.ways.open("r1", mine, "sk_own_0123456789")
        mine.unknown = {"ref-1": BUY}
        line = it.ways._proxies["r1"]
        it.facts.clear()
        await it.ways._look_up(line, with_old=False)
        assert asked == [([BUY], "sk_own_0123456789", it.clock)]
        assert (mine.spent, bool(mine.unknown)) == (spent, is_left)
        notices = [one for one in it.facts if isinstance(one, Noticed)]
        assert notices == ([end_notice("heron", BUY, end)] if is_told and end else [])
        assert it.leashes[0].spent == spent


async def test_nothing_is_looked_up_that_is_on_its_way_or_old(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked: list[list[str]] = []

    async def found(buys: Any, *_: Any) -> dict[str, LookupEnd]:
        asked.append([one.ref for one in buys])
        await asyncio.sleep(0)
        return {}

    monkeypatch.setattr(skill_proxy, "look_up", found)
    async with opened() as it:
        mine = leash()
        await it.ways.open("r1", mine, "sk_own_0123456789")
        old = Unknown(
            ref="old", market_id="m-1", side=Side.YES, venue=Venue.SIM, size=Micros(ONE),
            counted_at=Timestamp(NOW - 9_000_000),
        )  # fmt: skip
        mine.unknown = {"ref-1": BUY, "old": old}
        it.ways._sending = {"ref-1"}
        line = it.ways._proxies["r1"]
        it.facts.clear()
        await it.ways._look_up(line, with_old=False)
        assert (asked, it.facts) == ([], [])
        await it.ways._look_up(line, with_old=True)
        it.ways._sending = set()
        await it.ways._look_up(line, with_old=False)
        assert asked == [["old"], ["ref-1"]]


async def test_an_approved_buy_whose_end_was_found_has_its_row_changed_once() -> None:
    async with opened() as it:
        mine = leash(LeashMode.ASK, spent=Micros(6 * ONE), day=int(NOW // DAY_S))
        _, token = await it.ways.open("r1", mine, "sk_own_0123456789")
        await it.buy("r1", token, 6.0)
        (trade,) = it.held.held
        it.answers = [LOST]
        await it.ways.carry_out(ApproveHeld(trade.held_id, "it"))
        (row,) = it.held.decided
        assert row.status is HeldStatus.UNKNOWN
        assert it.words[-1][0] == "bad"
        (buy,) = mine.unknown.values()
        assert buy.held == trade
        line = it.ways._proxies["r1"]
        count = len(it.words)
        for _ in range(2):
            await it.ways._end(line, buy, MAYBE)
        assert len(it.words) == count + 1
        assert mine.decided[0].reason == "not found"
        assert mine.unknown
        await it.ways._end(line, buy, BOUGHT)
        assert (mine.decided[0].status, mine.decided[0].reason) == (
            HeldStatus.APPROVED,
            "it executed",
        )
        assert (mine.decided[0].trade_id, mine.decided[0].decided_at) == ("t-1", NOW)
        assert not mine.unknown
        await it.ways._end(line, buy, FAILED)
        assert len(it.words) == count + 2


async def test_what_was_not_decided_in_time_expires_and_is_shown() -> None:
    async with opened() as it:
        mine = leash(LeashMode.ASK, wait_s=5)
        _, token = await it.ways.open("r1", mine, "sk_own_0123456789")
        await it.buy("r1", token, 6.0)
        async with asyncio.TaskGroup() as group:
            running = group.create_task(it.ways.run())
            await asyncio.sleep(0)
            told = len(it.facts)
            await it.clock.advance(2)
            assert len(it.held.held) == 1
            # Nothing is told again that has not changed, neither before nor after its end.
            assert len(it.facts) == told
            for _ in range(4):
                await it.clock.advance(1)
            told = len(it.facts)
            assert it.held.held == ()
            await it.clock.advance(3)
            assert len(it.facts) == told
            running.cancel()
        assert [one.status for one in it.held.decided] == [HeldStatus.EXPIRED]


async def test_unknown_buys_are_looked_up_and_old_ones_more_seldom(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    it = Way()
    seen: list[tuple[float, bool]] = []
    began = it.clock.monotonic()

    async def look(_: Any, *, with_old: bool) -> None:
        seen.append((it.clock.monotonic() - began, with_old))
        await asyncio.sleep(0)

    monkeypatch.setattr(it.ways, "_look_up", look)
    await it.ways.open("r1", leash(), "sk_own_0123456789")
    async with asyncio.TaskGroup() as group:
        running = group.create_task(it.ways._find())
        await asyncio.sleep(0)
        for _ in range(14):
            await it.clock.advance(5)
        running.cancel()
    it.ways.close()
    assert seen == [
        (10, True), (20, False), (30, False), (40, False), (50, False), (60, False), (70, True),
    ]  # fmt: skip


# -- the person's hand


async def test_a_leash_is_changed_by_agent_and_skill() -> None:
    async with opened() as it:
        gauge, rain = leash(), leash(slug="rain")
        other = StoredLeash("a-2", "moss", "gauge", LeashMode.AUTO)
        for run_id, one in (("r1", gauge), ("r2", rain), ("r3", other)):
            await it.ways.open(run_id, one, "sk_own_0123456789")
        order = SetLeash(
            "a-1", "heron", LeashMode.ASK, Micros(2 * ONE), Micros(9 * ONE), 60, "rain"
        )
        await it.ways.carry_out(order)
        assert (rain.mode, rain.threshold, rain.budget, rain.wait_s) == (
            LeashMode.ASK, 2 * ONE, 9 * ONE, 60,
        )  # fmt: skip
        assert (gauge.mode, other.mode) == (LeashMode.AUTO, LeashMode.AUTO)
        assert it.leashes[1].budget == 9 * ONE
        await it.ways.carry_out(SetLeash("a-1", "heron", LeashMode.OBSERVE))
        assert (gauge.mode, rain.mode, other.mode) == (
            LeashMode.OBSERVE, LeashMode.OBSERVE, LeashMode.AUTO,
        )  # fmt: skip
        free, nobody = SetLeash("a-1", "heron", None), SetLeash("a-9", "tide", LeashMode.ASK)
        await it.ways.carry_out(free)
        await it.ways.carry_out(nobody)
        assert [tone for tone, _ in it.words] == ["good", "good", "warn", "warn"]
        assert it.words[0][1] == order.describe()
        assert it.words[2][1].endswith(
            ": the desk's own leash cannot be removed when the service has no leashes"
        )
        assert it.words[3][1] == f"{nobody.describe()}: no local skill runs as that agent"
        assert rain.mode is LeashMode.OBSERVE
        kinds = {one.kind for one in it.facts if isinstance(one, Noticed)}
        assert kinds == {NoticeKind.APPROVAL}


async def test_a_trade_is_refused_once_with_the_reason() -> None:
    async with opened() as it:
        await it.ways.open("r0", leash(LeashMode.ASK, slug="rain"), "sk_own_0123456789")
        _, token = await it.ways.open("r1", leash(LeashMode.ASK), "sk_own_0123456789")
        await it.buy("r1", token, 6.0)
        (trade,) = it.held.held
        order = RefuseHeld(trade.held_id, "it", "too thin")
        await it.ways.carry_out(order)
        await it.ways.carry_out(order)
        assert it.words == [
            ("good", order.describe()),
            ("warn", f"{order.describe()}: no longer pending"),
        ]
        (row,) = it.held.decided
        assert (row.status, row.reason, row.decided_at) == (HeldStatus.REFUSED, "too thin", NOW)


async def test_an_approval_above_the_budget_leaves_the_trade_pending() -> None:
    async with opened() as it:
        mine = leash(LeashMode.ASK, budget=Micros(10 * ONE))
        _, token = await it.ways.open("r1", mine, "sk_own_0123456789")
        await it.buy("r1", token, 6.0)
        (trade,) = it.held.held
        order = ApproveHeld(trade.held_id, "it", Micros(11 * ONE))
        await it.ways.carry_out(order)
        why = "daily budget reached: raise it first, or lower the amount; still pending"
        assert it.words == [("warn", f"{order.describe()}: {why}")]
        assert list(mine.waiting) == [trade.held_id]
        it.answers = [DONE]
        await it.ways.carry_out(ApproveHeld(trade.held_id, "it", Micros(10 * ONE)))
        assert mine.spent == 10 * ONE
        assert json.loads(it.passed[0][1][2])["amount"] == 10.0


def test_each_agent_is_named_once() -> None:
    it = Way()
    for run_id, one in (("r1", leash()), ("r2", leash(slug="rain"))):
        it.ways._proxies[run_id] = cast("Any", SimpleNamespace(leash=one))
    assert it.ways.agents() == (HaltedAgent("a-1", "heron"),)


async def test_an_end_closes_every_way() -> None:
    it = Way()
    await it.ways.open("r1", leash(), "sk_own_0123456789")
    closed: list[str] = []

    class Writer:
        def close(self) -> None:
            closed.append("writer")

    it.ways._writers.add(cast("asyncio.StreamWriter", Writer()))
    server = it.ways._proxies["r1"].server
    it.ways.close()
    assert closed == ["writer"]
    assert not server.is_serving()
    assert it.ways.leash_of("r1") is None
