"""What becomes of a skill's call on the desk's leash: sent, held, refused, counted, given back."""

import asyncio
import json
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, cast

import pytest

from kit.samples.fleet import held_of
from service_tui.client.keys import Key
from service_tui.client.passing import NotPassedError, Passed
from service_tui.clock import ManualClock
from service_tui.desk.agents.proxy_answers import (
    approved_order,
    held_body,
    held_seen,
    is_sure_no,
    refused,
    submitted,
)
from service_tui.desk.agents.proxy_calls import SkillCall
from service_tui.desk.agents.proxy_lookup import LookupEnd, due, end_notice, is_overdue
from service_tui.desk.agents.skill_proxy import SkillProxies, _Proxy
from service_tui.desk.agents.stored_leash import DAY_S, LeashRefusal, StoredLeash, Unknown
from service_tui.desk.changes import Loaded
from service_tui.desk.commands.agents import ApproveHeld, RefuseHeld, SetLeash
from service_tui.desk.commands.trading import PlaceTrade
from service_tui.desk.facts import Fact, Noticed
from service_tui.desk.reasons import Reason
from service_tui.desk.slices.halt import HaltedAgent
from service_tui.desk.slices.notices import NoticeKind
from service_tui.desk.slices.supervision import HeldSeen, LeashView
from service_tui.desk.trading.lookup import UNKNOWN_HORIZON_S
from service_tui.terms import Action, HeldStatus, LeashMode, Side, Venue
from service_tui.units import ONE, Micros, Timestamp
from service_tui.wire.trades import TradeRequest

HERE = "http://far.example"
OK = b'{"success": true, "trade_id": "tr-1"}'
NO = b'{"success": false, "error": "too thin"}'
MONEY = Micros(8 * ONE)


@dataclass
class Client:
    """The service behind the desk: what it is sent, and what it answers."""

    answer: Passed | Exception | None = None
    sent: list[tuple[Key, tuple[str, str, bytes]]] = field(default_factory=list)
    base_url: str = HERE
    while_sent: Callable[[], object] = lambda: None

    async def pass_on(
        self, key: Key, call: tuple[str, str, bytes], *, last_word: Callable[[], str] | None = None
    ) -> Passed:
        if last_word is not None and (why := last_word()):
            raise NotPassedError(why, was_sent=False)
        self.sent.append((key, call))
        self.while_sent()
        await asyncio.sleep(0)
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer or Passed(200, OK)


class Spending:
    """What was spent today, on a disk that may be full."""

    def __init__(self) -> None:
        self.kept: list[tuple[str, int, Micros]] = []
        self.problem: Exception | None = None

    def keep(self, name: str, day: int, spent: Micros) -> None:
        if self.problem is not None:
            raise self.problem
        self.kept.append((name, day, spent))


class Work:
    """Ways of skills without a socket."""

    def __init__(self, mode: LeashMode = LeashMode.AUTO, **leash: Any) -> None:
        self.clock, self.client, self.spending = ManualClock(), Client(), Spending()
        self.facts: list[Fact] = []
        self.halted = False
        self.real: list[tuple[PlaceTrade, Micros]] = []
        self.against: Reason | None = None
        self.lines = SkillProxies(
            cast("Any", self.client),
            self.clock,
            self.facts.append,
            lambda: self.halted,
            against_real=self._against,
            spending=cast("Any", self.spending),
        )
        self.leash = self.add("r1", mode=mode, **leash)

    def _against(self, order: PlaceTrade, spent: Micros) -> Reason | None:
        self.real.append((order, spent))
        return self.against

    def add(
        self, run: str, *, agent: str = "a-2", slug: str = "gauge", **other: Any
    ) -> StoredLeash:
        leash = StoredLeash(agent, f"{agent} name", slug, **{"mode": LeashMode.AUTO, **other})
        key = Key(f"sk_live_{run}", HERE)
        self.lines._proxies[run] = _Proxy(leash, f"token-{run}", key, cast("Any", None))
        return leash

    @property
    def line(self) -> _Proxy:
        return self.lines._proxies["r1"]

    @property
    def day(self) -> int:
        return int(self.clock.now() // DAY_S)

    async def ask(self, method: str, target: str, body: bytes = b"") -> tuple[int, dict[str, Any]]:
        call = SkillCall(method, target, {}, body)
        status, answer = await self.lines._routed(self.line, call)
        return status, json.loads(answer)

    async def order(self, amount: float = 8.0, **other: Any) -> tuple[int, dict[str, Any]]:
        given = {"market_id": "m1", "side": "no", "action": "buy", "amount": amount, **other}
        return await self.ask("POST", "/api/sdk/trade", json.dumps(given).encode())

    @property
    def bodies(self) -> list[dict[str, Any]]:
        return [json.loads(call[2]) for _, call in self.client.sent]

    @property
    def told(self) -> list[Noticed]:
        return [one for one in self.facts if isinstance(one, Noticed)]


# -- which calls pass ---------------------------------------------------------------------------


@pytest.mark.parametrize("mode", LeashMode)
@pytest.mark.parametrize(
    ("method", "target", "passes", "lowers"),
    [
        ("GET", "/api/sdk/markets?limit=3", True, False),
        ("DELETE", "/api/sdk/orders/o-1", False, True),
        ("POST", "/api/sdk/agents/register", False, False),
        ("GET", "/api/desk/agents", False, False),
        ("GET", "/api/sdk/../desk/agents", False, False),
        ("GET", "/api/sdk/%2e%2e/desk", False, False),
        ("DELETE", "/api/sdk/orders/../positions", False, False),
        ("PUT", "/api/sdk/orders/o-1", False, False),
    ],
)
async def test_a_skill_reads_and_lowers_risk_and_does_nothing_else(
    mode: LeashMode, method: str, target: str, *, passes: bool, lowers: bool
) -> None:
    it = Work(mode)
    status, answer = await it.ask(method, target, b"x")
    may = passes or (lowers and mode is not LeashMode.OBSERVE)
    assert it.client.sent == ([(it.line.key, (method, target, b"x"))] if may else [])
    assert (status, "error" in answer) == ((200, False) if may else (403, True))


async def test_a_call_that_the_service_does_not_answer_says_whether_it_was_sent() -> None:
    it = Work()
    for was_sent, status in ((True, 504), (False, 424)):
        it.client.answer = NotPassedError("broken", was_sent=was_sent)
        assert (await it.ask("GET", "/api/sdk/markets"))[0] == status


# -- orders -------------------------------------------------------------------------------------


async def test_a_buy_leaves_as_it_was_judged_with_a_mark_and_counts_for_the_day() -> None:
    it = Work()
    status, answer = await it.order(reasoning="why")
    assert (status, answer["trade_id"]) == (200, "tr-1")
    ((key, (method, path, _)),) = it.client.sent
    assert (key, method, path) == (it.line.key, "POST", "/api/sdk/trade")
    (body,) = it.bodies
    assert set(body.pop("signal_data")) == {"desk_ref"}
    assert body == {
        "venue": "sim", "market_id": "m1", "side": "no", "action": "buy", "amount": 8.0,
        "reasoning": "why",
    }  # fmt: skip
    assert (it.leash.spent, it.leash.unknown) == (MONEY, {})
    assert it.spending.kept == [(f"a-2 gauge {HERE}", it.day, MONEY)]
    loaded, seen = it.facts[-2:]
    assert isinstance(loaded, Loaded)
    assert [one.spent for one in loaded.of(LeashView)] == [MONEY]
    assert seen == HeldSeen((), ())


@pytest.mark.parametrize(
    "other", [{"action": "sell", "shares": 3.0, "amount": 0.0}, {"dry_run": True}]
)
async def test_a_sale_and_a_quote_leave_unmarked_and_cost_nothing(other: dict[str, Any]) -> None:
    it = Work()
    it.halted = True
    assert (await it.order(**other))[0] == 200
    assert "signal_data" not in it.bodies[0]
    assert (it.leash.spent, it.spending.kept) == (0, [])


@pytest.mark.parametrize("raw", [b"", b"[]", b'{"market_id": "m1"}', b'{"amount": 1}'])
async def test_an_order_that_is_none_is_not_sent(raw: bytes) -> None:
    it = Work()
    assert (await it.ask("POST", "/api/sdk/trade", raw))[0] == 422
    assert it.client.sent == []


async def test_a_halt_refuses_buys() -> None:
    it = Work()
    it.halted = True
    _, answer = await it.order()
    assert (answer["success"], answer["error_code"]) == (False, "HALTED")
    assert (it.client.sent, it.leash.spent) == ([], 0)


async def test_a_halt_that_comes_at_the_last_moment_keeps_the_buy_here() -> None:
    it = Work()
    judged = it.lines._against

    def then_halted(order: PlaceTrade) -> LeashRefusal | None:
        found = judged(order)
        it.halted = True
        return found

    it.lines._against = then_halted  # type: ignore[method-assign]
    assert (await it.order())[0] == 424
    assert (it.client.sent, it.leash.spent, it.leash.unknown) == ([], 0, {})


async def test_real_money_is_judged_with_what_all_skills_spent_today() -> None:
    it = Work(day=0, spent=Micros(5 * ONE))
    it.leash.day = it.day
    it.add("r2", slug="tide", day=it.day, spent=Micros(7 * ONE))
    it.lines._written = {
        f"a-9 ebb {HERE}": (it.day, Micros(11 * ONE)),
        f"a-9 old {HERE}": (it.day - 1, Micros(100 * ONE)),
        "a-9 ebb http://elsewhere": (it.day, Micros(1_000 * ONE)),
        f"a-2 tide {HERE}": (it.day, Micros(6 * ONE)),
    }
    it.against = Reason("live trading is off", "turn it on")
    _, answer = await it.order(venue="evm_venue")
    assert (answer["error_code"], answer["error"]) == ("REAL_MONEY", "live trading is off")
    assert answer["fix"] == "turn it on"
    order = PlaceTrade("m1", Side.NO, Action.BUY, Venue.EVM, MONEY, confirmed=True)
    assert it.real == [(order, 23 * ONE)]
    await it.order()
    assert len(it.real) == 1, "play money is not real"


@pytest.mark.parametrize(
    ("answer", "status", "spent", "unknown"),
    [
        (Passed(200, OK), 200, MONEY, 0),
        (Passed(200, NO), 200, 0, 0),
        (Passed(422, b"{}"), 422, 0, 0),
        (Passed(500, b"{}"), 500, MONEY, 1),
        (Passed(200, b"not json"), 200, MONEY, 1),
        (Passed(200, b'{"success": false, "trade_id": "t"}'), 200, MONEY, 1),
        (NotPassedError("broken", was_sent=True), 504, MONEY, 1),
        (NotPassedError("broken", was_sent=False), 424, 0, 0),
    ],
)
async def test_a_buy_counts_unless_it_was_surely_not_carried_out(
    answer: Passed | Exception, status: int, spent: int, unknown: int
) -> None:
    it = Work()
    it.client.answer = answer
    call = SkillCall("POST", "/api/sdk/trade", {}, b'{"market_id":"m1","side":"no","amount":8.0}')
    assert (await it.lines._routed(it.line, call))[0] == status
    assert (it.leash.spent, len(it.leash.unknown)) == (spent, unknown)
    assert it.spending.kept[-1][2] == spent
    if unknown:
        ((ref, buy),) = it.leash.unknown.items()
        assert buy == Unknown(
            ref=ref,
            market_id="m1",
            side=Side.NO,
            venue=Venue.SIM,
            size=MONEY,
            counted_at=it.clock.now(),
        )
        assert it.bodies[0]["signal_data"] == {"desk_ref": ref}
    assert it.lines._sending == set()


async def test_a_buy_that_cannot_be_written_down_is_not_sent_and_not_counted() -> None:
    it = Work()
    it.spending.problem = OSError("disk full")
    status, answer = await it.order()
    assert (status, answer["error"]) == (424, "nothing sent: disk full")
    assert (it.client.sent, it.leash.spent) == ([], 0)


async def test_runs_of_one_skill_share_their_day() -> None:
    it = Work()
    same, other = it.add("r2"), it.add("r3", slug="tide")
    await it.order()
    assert (same.spent, same.day, other.spent) == (MONEY, it.day, 0)


# -- the person's hand --------------------------------------------------------------------------


async def held(**other: Any) -> Work:
    it = Work(LeashMode.ASK, **other)
    _, answer = await it.order(reasoning="why")
    assert answer["status"] == "submitted"
    assert it.client.sent == []
    it.facts.clear()
    return it


ID = "a-2-h1"


async def test_an_approved_trade_is_sent_once_at_the_size_that_was_given() -> None:
    it = await held()
    await it.lines.carry_out(ApproveHeld(ID, "buy NO", Micros(3 * ONE)))
    assert it.bodies[0]["amount"] == 3.0
    (row,) = it.leash.decided
    assert (row.status, row.reason, row.trade_id) == (
        HeldStatus.APPROVED,
        "approved at another size",
        "tr-1",
    )
    assert row.decided_amount == 3 * ONE
    assert (it.leash.waiting, it.leash.spent) == ({}, 3 * ONE)
    assert it.told == [Noticed("good", "approve for 3.00: buy NO", NoticeKind.APPROVAL)]
    await it.lines.carry_out(ApproveHeld(ID, "buy NO"))
    assert it.told[1:] == [
        Noticed("warn", "approve: buy NO: no longer pending", NoticeKind.APPROVAL)
    ]
    assert len(it.client.sent) == 1


@pytest.mark.parametrize(
    ("answer", "amount", "tone", "words", "status"),
    [
        (Passed(200, OK), None, "good", "", HeldStatus.APPROVED),
        (Passed(200, NO), None, "bad", "too thin", HeldStatus.FAILED),
        (Passed(200, NO), Micros(ONE), "warn", "too thin; still pending", None),
        (Passed(200, NO), MONEY, "bad", "too thin", HeldStatus.FAILED),
        (
            Passed(502, b"{}"),
            None,
            "bad",
            "the service answered 502; result unknown; checking the trades",
            HeldStatus.UNKNOWN,
        ),
        (
            Passed(502, b"{}"),
            Micros(ONE),
            "bad",
            "the service answered 502; result unknown; checking the trades",
            HeldStatus.UNKNOWN,
        ),
    ],
)
async def test_an_approval_ends_as_the_service_answered(
    answer: Passed, amount: Micros | None, *, tone: str, words: str, status: HeldStatus | None
) -> None:
    it = await held()
    it.client.answer = answer
    order = ApproveHeld(ID, "buy NO", amount)
    await it.lines.carry_out(order)
    text = f"{order.describe()}: {words}" if words else order.describe()
    assert it.told == [Noticed(tone, text, NoticeKind.APPROVAL)]
    assert [one.status for one in it.leash.decided] == ([] if status is None else [status])
    assert set(it.leash.waiting) == ({ID} if status is None else set())
    if status is HeldStatus.UNKNOWN:
        ((_, buy),) = it.leash.unknown.items()
        assert buy.held is not None
        assert (buy.held.held_id, buy.size) == (ID, amount or MONEY)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ("halt", "trading is halted (wait until the operator resumes it); still pending"),
        ("budget", "daily budget reached: raise it first, or lower the amount; still pending"),
        ("late", "approval timed out"),
    ],
)
async def test_a_trade_that_cannot_be_approved_now_says_why(change: str, words: str) -> None:
    it = await held(budget=MONEY)
    if change == "halt":
        it.halted = True
    if change == "budget":
        it.leash.budget = Micros(MONEY - 1)
    if change == "late":
        await it.clock.advance(300)
    await it.lines.carry_out(ApproveHeld(ID, "buy NO"))
    assert [one.text for one in it.told] == [f"approve: buy NO: {words}"]
    assert (ID in it.leash.waiting) is (change != "late")
    assert [one.status for one in it.leash.decided] == [HeldStatus.EXPIRED] * (change == "late")
    assert it.client.sent == []


async def test_a_refusal_ends_the_trade_that_is_meant() -> None:
    it = await held()
    second = it.add("r2", agent="a-3", mode=LeashMode.ASK)
    second.waiting["x"] = it.leash.waiting[ID]
    await it.lines.carry_out(RefuseHeld(ID, "buy NO", "too early"))
    assert [(one.status, one.reason) for one in it.leash.decided] == [
        (HeldStatus.REFUSED, "too early")
    ]
    assert (set(second.waiting), second.decided) == ({"x"}, [])
    await it.lines.carry_out(RefuseHeld(ID, "buy NO"))
    assert it.told == [
        Noticed("good", "refuse: buy NO", NoticeKind.APPROVAL),
        Noticed("warn", "refuse: buy NO: no longer pending", NoticeKind.APPROVAL),
    ]


async def test_a_leash_is_set_on_the_runs_that_are_meant() -> None:
    it = Work()
    tide, other = it.add("r2", slug="tide"), it.add("r3", agent="a-3")
    set_one = SetLeash("a-2", "heron", LeashMode.ASK, Micros(1), Micros(2), 33, "tide")
    await it.lines.carry_out(set_one)
    assert (tide.mode, tide.threshold, tide.budget, tide.wait_s) == (LeashMode.ASK, 1, 2, 33)
    assert it.leash.mode is other.mode is LeashMode.AUTO
    await it.lines.carry_out(SetLeash("a-2", "heron", LeashMode.OBSERVE))
    assert it.leash.mode is tide.mode is LeashMode.OBSERVE
    assert other.mode is LeashMode.AUTO
    await it.lines.carry_out(SetLeash("a-9", "nobody", LeashMode.AUTO))
    await it.lines.carry_out(SetLeash("a-3", "gull", None))
    assert [one.tone for one in it.told] == ["good", "good", "warn", "warn"]
    assert it.told[2].text.endswith(": no local skill runs as that agent")
    assert other.mode is LeashMode.AUTO


def test_each_agent_with_a_way_is_named_once() -> None:
    it = Work()
    it.add("r2", slug="tide")
    it.add("r3", agent="a-3")
    assert it.lines.agents() == (HaltedAgent("a-2", "a-2 name"), HaltedAgent("a-3", "a-3 name"))
    assert it.lines.leash_of("r1") is it.leash
    assert it.lines.leash_of("r9") is None


# -- answers ------------------------------------------------------------------------------------

ASKED = TradeRequest(market_id="m1", side=Side.NO, action=Action.BUY, amount=8.0)


def test_answers_to_a_skill_are_those_of_a_service() -> None:
    no = json.loads(refused(ASKED, LeashRefusal("CODE", "why", "what to do")))
    assert (no["success"], no["market_id"], no["side"]) == (False, "m1", "no")
    assert (no["error"], no["error_code"], no["fix"]) == ("why", "CODE", "what to do")
    waits = json.loads(submitted(ASKED, held_of("h9", expires_at=Timestamp(1_800_000_000.0))))
    assert (waits["success"], waits["trade_id"], waits["market_id"]) == (True, "h9", "m1")
    assert {waits[name] for name in ("status", "order_status", "fill_status")} == {"submitted"}
    assert waits["warnings"][0].startswith("pending approval until 2027-01-15T08:00:00+00:00")


def test_held_trades_are_told_to_their_skill_and_decided_ones_on_request() -> None:
    it = Work(LeashMode.ASK)
    waiting = it.leash.hold(ASKED, MONEY, {}, Timestamp(1_800_000_000.0))
    done = held_of(
        "h7",
        amount=Micros(3 * ONE),
        market_id="m9",
        venue=Venue.EVM,
        side=Side.NO,
        action=Action.SELL,
        reasoning="because",
        skill_slug="tide",
        signal_data={"edge": 0.06},
        created_at=Timestamp(1_799_996_401.0),
        expires_at=Timestamp(1_799_996_402.0),
    )
    at = Timestamp(1_800_000_009.0)
    it.leash.end(done, HeldStatus.REFUSED, "no, thanks", at, trade_id="tr-4")
    found = json.loads(held_body(it.leash, everything=False))
    assert [one["held_id"] for one in found["held"]] == [waiting.held_id]
    found = json.loads(held_body(it.leash, everything=True))
    assert found["waiting_count"] == 1
    first, second = found["held"]
    assert (first["held_id"], first["amount"], first["decided_at"]) == (waiting.held_id, 8.0, None)
    told = {
        "held_id": "h7",
        "agent_id": "a-2",
        "agent_name": "heron",
        "status": "refused",
        "market_id": "m9",
        "venue": "evm_venue",
        "side": "no",
        "action": "sell",
        "amount": 3.0,
        "reasoning": "because",
        "source": "sdk:gauge",
        "skill_slug": "tide",
        "signal_data": {"edge": 0.06},
        "reason": "no, thanks",
        "trade_id": "tr-4",
    }
    assert {name: second[name] for name in told} == told
    assert second["created_at"].startswith("2027-01-15T07:00:01")
    assert second["expires_at"].startswith("2027-01-15T07:00:02")
    assert second["decided_at"].startswith("2027-01-15T08:00:09")


def test_the_desk_sees_first_what_ends_first_and_what_was_decided_last() -> None:
    first, second = Work(LeashMode.ASK).leash, Work(LeashMode.ASK).leash
    late = first.hold(ASKED, MONEY, {}, Timestamp(2_000.0))
    soon = second.hold(ASKED, MONEY, {}, Timestamp(1_000.0))
    first.end(held_of("h1"), HeldStatus.REFUSED, "", Timestamp(5.0))
    second.end(held_of("h2"), HeldStatus.REFUSED, "", Timestamp(9.0))
    seen = held_seen([first, second])
    assert seen.held == (soon, late)
    assert [one.held_id for one in seen.decided] == ["h2", "h1"]


def test_an_approval_orders_what_waited() -> None:
    trade = held_of("h1", venue=Venue.EVM, side=Side.NO)
    expected = PlaceTrade("m", Side.NO, Action.BUY, Venue.EVM, Micros(25 * ONE))
    assert approved_order(trade, ApproveHeld("h1", "x")) == expected
    resized = ApproveHeld("h1", "x", Micros(ONE), confirmed=True)
    assert approved_order(trade, resized) == replace(expected, amount=Micros(ONE), confirmed=True)


@pytest.mark.parametrize(
    ("status", "answer", "is_no"),
    [
        (200, NO, True),
        (200, OK, False),
        (200, b"{}", False),
        (200, b'{"success": true}', False),
        (200, b'{"success": true, "error": "too thin"}', False),
        (200, b"x", False),
        (200, b'{"success": false, "shares": 2}', False),
        (404, b"", True),
        (429, b"", True),
        (408, b"", False),
        (409, b"", False),
        (500, NO, False),
    ],
)
def test_an_answer_is_a_sure_no_or_proves_nothing(
    status: int, answer: bytes, *, is_no: bool
) -> None:
    assert is_sure_no(status, answer) is is_no


# -- what was looked up -------------------------------------------------------------------------

BUY = Unknown(
    ref="r", market_id="m1", side=Side.NO, venue=Venue.SIM, size=MONEY,
    counted_at=Timestamp(1_000.0),
)  # fmt: skip


def test_a_buy_is_searched_for_until_its_horizon_and_seldom_after_it() -> None:
    end, late = Timestamp(1_000.0 + UNKNOWN_HORIZON_S), Timestamp(1_000.5 + UNKNOWN_HORIZON_S)
    assert (is_overdue(BUY, end), is_overdue(BUY, late)) == (False, True)
    assert due([BUY], end, with_old=False) == [BUY]
    assert due([BUY], late, with_old=False) == []
    assert due([BUY], late, with_old=True) == [BUY]


@pytest.mark.parametrize(
    ("status", "tone"),
    [
        (HeldStatus.APPROVED, "good"),
        (HeldStatus.FAILED, "warn"),
        (HeldStatus.UNKNOWN, "warn"),
    ],
)
def test_the_end_of_a_buy_is_told_with_its_agent_and_its_size(
    status: HeldStatus, tone: str
) -> None:
    assert end_notice("heron", BUY, LookupEnd(status, "how it ended")) == Noticed(
        tone, "heron: buy NO for 8.00: how it ended", NoticeKind.APPROVAL
    )
