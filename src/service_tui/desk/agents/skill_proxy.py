"""The proxy of skills to a service without permissions: this desk enforces them.

A skill is given an address on loopback and a key that is good there alone: its agent's own key
stays with the desk, so that there is no way around.

ours: beside reading, a skill on such a leash may trade, cancel its orders and set monitors; other
writes are refused. Trades that wait are forgotten with the desk, as the skill ends with it too.
"""

import asyncio
import hmac
import json
import logging
import secrets
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Final

from h11 import ProtocolError

from service_tui.client.api_keys import ApiKey
from service_tui.client.client import Client
from service_tui.client.passing import NotPassedError, Passed, no_objection
from service_tui.clock import Clock
from service_tui.desk.agents.judged_call import (
    JudgedBody,
    NotJudgedError,
    judged_body,
    judged_call,
)
from service_tui.desk.agents.proxy_answers import (
    AgainstReal,
    approved_order,
    bounded_price,
    is_sure_no,
    never_real,
    pending_trade_body,
    pending_trades_seen,
    refused,
    submitted,
)
from service_tui.desk.agents.proxy_calls import (
    Answered,
    BadCallError,
    SkillCall,
    SkillConnection,
    fields_of,
    refusal,
)
from service_tui.desk.agents.proxy_lookup import (
    LookupEnd,
    due,
    end_notice,
    look_up,
    marked,
    unknown_of,
)
from service_tui.desk.agents.skill_spending import SkillSpending
from service_tui.desk.agents.stored_leash import DAY_S, LeashRefusal, StoredLeash, Unknown, Waiting
from service_tui.desk.changes import Loaded
from service_tui.desk.commands.agents import ApproveTrade, RefuseTrade, SetLeash
from service_tui.desk.commands.trading import PlaceTrade
from service_tui.desk.facts import Fact, Noticed
from service_tui.desk.reasons import HALTED, Fix
from service_tui.desk.slices.halt import HaltedAgent
from service_tui.desk.slices.notices import NoticeKind
from service_tui.desk.slices.supervision import LeashView, PendingTradeView
from service_tui.listening import stop_listening
from service_tui.terms import Action, LeashMode, PendingStatus, Venue
from service_tui.units import Micros, NotMicrosError, Timestamp, decimal, micros, sum_of
from service_tui.wire.endpoints.fleet import PENDING_TRADES
from service_tui.wire.endpoints.public import PLACE_TRADE
from service_tui.wire.trades import TradeRequest

log = logging.getLogger(__name__)

HOST: Final = "127.0.0.1"
CALL_S: Final = 40.0
LOOK_S: Final = 1.0
RECONCILE_S: Final = 10.0
RECONCILE_OLD_S: Final = 60.0
"""How often unknown buys are looked up; those past their horizon more seldom."""


@dataclass(slots=True)
class _Proxy:
    """Proxy of one run: its leash, the key that the skill was given, and the agent's real key."""

    leash: StoredLeash
    token: str = field(repr=False)
    key: ApiKey = field(repr=False)
    server: asyncio.Server


class SkillProxies:
    """The ways of all runs, and what waits on them."""

    def __init__(
        self,
        client: Client,
        clock: Clock,
        emit: Callable[[Fact], None],
        is_halted: Callable[[], bool] = lambda: False,
        *,
        against_real: AgainstReal = never_real,
        spending: SkillSpending | None = None,
    ) -> None:
        self._spending = spending
        self._keeping = asyncio.Lock()
        self._is_halted = is_halted
        self._against_real = against_real
        self._client = client
        self._clock = clock
        self._emit = emit
        self._proxies: dict[str, _Proxy] = {}
        self._led = asyncio.Event()
        self._written: dict[str, tuple[int, Micros]] = {}
        self._writers: set[asyncio.StreamWriter] = set()
        self._sending: set[str] = set()

    async def open(self, run_id: str, leash: StoredLeash, key: str) -> tuple[str, str]:
        """Open a run's way; one that was open before is closed, what it spent stays.

        Returns:
            Address and key for the skill.

        Raises:
            OSError: what was spent today cannot be read.
            ValueError: the same, or the agent's key is malformed.
        """
        token = f"sk_live_{secrets.token_urlsafe(24)}"
        # Before anything listens: a malformed key raises.
        real_key = ApiKey(key, self._client.base_url)

        async def met(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await self._met(run_id, reader, writer)

        if self._spending is not None and self._alike(run_id, leash) is None:
            async with self._keeping:
                self._written = await asyncio.to_thread(self._spending.rows)
        server = await asyncio.start_server(met, HOST, 0)
        # From here on nothing waits: what moves meanwhile moves the leash that is copied.
        before = self._alike(run_id, leash)
        if before is not None:
            leash.day, leash.spent, leash.count = before.day, before.spent, before.count
        else:
            nothing = (leash.day, leash.spent)
            leash.day, leash.spent = self._written.get(self._name(leash), nothing)
        made = _Proxy(leash, token, real_key, server)
        line = self._proxies.setdefault(run_id, made)
        self._led.set()
        if line is not made:
            before_it = line.server
            # What is unknown is looked up on, and what is on its way ends on the new leash.
            leash.unknown = line.leash.unknown
            line.leash, line.token, line.key, line.server = leash, token, real_key, server
            await stop_listening(before_it)
        self._emit_leashes()
        return f"http://{HOST}:{server.sockets[0].getsockname()[1]}", token

    def _alike(self, run_id: str, leash: StoredLeash) -> StoredLeash | None:
        """A leash that counts the same money: of another run of the skill, or this run's before."""
        others = {one: proxy.leash for one, proxy in self._proxies.items()}
        before = others.pop(run_id, None)
        alike = [one for one in others.values() if self._name(one) == self._name(leash)]
        return alike[-1] if alike else before

    def leash_of(self, run_id: str) -> StoredLeash | None:
        """The leash of a run; None where it has no way here."""
        line = self._proxies.get(run_id)
        return None if line is None else line.leash

    async def run(self) -> None:
        """Expire approvals that were not decided in time and look up unknown buys, for ever."""
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(self._expire())
            tasks.create_task(self._find())

    async def _find(self) -> None:
        """Look up the buys whose end is unknown; those past their horizon more seldom."""
        old_at = self._clock.monotonic()
        while True:
            await self._clock.sleep(RECONCILE_S)
            with_old = self._clock.monotonic() >= old_at
            if with_old:
                old_at = self._clock.monotonic() + RECONCILE_OLD_S
            for line in list(self._proxies.values()):
                await self._look_up(line, with_old=with_old)

    async def _look_up(self, line: _Proxy, *, with_old: bool) -> None:
        """Set each row, and the money of the day, to what really happened."""
        at_rest = [one for one in line.leash.unknown.values() if one.ref not in self._sending]
        buys = due(at_rest, self._clock.now(), with_old=with_old)
        if not buys:
            return
        ends = await look_up(buys, self._client, line.key, self._clock)
        for one in buys:
            end = ends.get(one.ref)
            if end is not None:
                await self._end(line, one, end)
        self._emit_leashes()

    async def _end(self, proxy: _Proxy, buy: Unknown, end: LookupEnd) -> None:
        """Report the end of an unknown buy; one that may still turn up is searched for further."""
        if not end.may_turn_up and proxy.leash.unknown.pop(buy.ref, None) is None:
            return
        if end.is_back:
            try:
                await self._count(proxy, Micros(-buy.size), buy.counted_at)
            except (OSError, ValueError) as error:
                # Counted it stays: nothing is spent twice for it.
                log.warning("a skill's budget was not released: %s", error)
        leash = proxy.leash
        if buy.approved is not None:
            if leash.is_recorded(buy.approved, end.status, end.text):
                return
            at = self._clock.now()
            leash.end(buy.approved, end.status, end.text, at, trade_id=end.trade_id)
        elif end.may_turn_up:
            return
        self._emit(end_notice(leash.agent_name, buy, end))

    async def _expire(self) -> None:
        while True:
            # Without a skill there is nothing to wake for.
            await self._led.wait()
            await self._clock.sleep(LOOK_S)
            now = self._clock.now()
            late = [line for line in self._proxies.values() if line.leash.expire(now)]
            if late:
                self._emit_leashes()

    def agents(self) -> tuple[HaltedAgent, ...]:
        """The agents that have a way here, each once."""
        leashes = [line.leash for line in self._proxies.values()]
        named = {leash.agent_id: leash.agent_name for leash in leashes}
        return tuple(HaltedAgent(agent_id, name) for agent_id, name in named.items())

    async def close(self) -> None:
        """Close every connection and accept no more."""
        for line in tuple(self._proxies.values()):
            await stop_listening(line.server)
        for writer in tuple(self._writers):
            writer.close()
        self._proxies.clear()

    # -- the person's hand -----------------------------------------------------------------

    async def carry_out(self, order: SetLeash | ApproveTrade | RefuseTrade) -> None:
        """Change a leash or decide a waiting trade, and report the result in a notice."""
        match order:
            case SetLeash():
                tone, text = self._set(order)
            case RefuseTrade():
                did = self._refuse(order)
                tone, text = ("good", "") if did else ("warn", "no longer pending")
            case ApproveTrade():
                tone, text = await self._approve(order)
        notice = f"{order.describe()}: {text}" if text else order.describe()
        self._emit(Noticed(tone, notice, NoticeKind.APPROVAL))
        self._emit_leashes()

    def _set(self, order: SetLeash) -> tuple[str, str]:
        found = [
            line.leash
            for line in self._proxies.values()
            if line.leash.agent_id == order.agent_id
            and order.skill_slug in {"", line.leash.skill_slug}
        ]
        if order.mode is None:
            return "warn", "the desk's own leash cannot be removed when the service has no leashes"
        for leash in found:
            leash.mode, leash.threshold = order.mode, order.threshold
            leash.budget, leash.wait_s = order.budget, order.wait_s
        return ("good", "") if found else ("warn", "no local skill runs as that agent")

    def _refuse(self, order: RefuseTrade) -> bool:
        now, leashes = self._clock.now(), [line.leash for line in self._proxies.values()]
        return any(leash.refuse(order.pending_id, order.reason, now) for leash in leashes)

    async def _approve(self, order: ApproveTrade) -> tuple[str, str]:
        line = next(
            (one for one in self._proxies.values() if order.pending_id in one.leash.waiting), None
        )
        objection = None if line is None else self._against_approval(line, order)
        if objection is not None:
            return "warn", f"{objection}; still pending"
        waiting = None if line is None else line.leash.take(order.pending_id)
        if line is None or waiting is None:
            return "warn", "no longer pending"
        leash, trade = line.leash, waiting.view
        size = trade.amount if order.amount is None else order.amount
        now = self._clock.now()
        lapsed = leash.against_approval(trade, size, now)
        if lapsed is not None:
            leash.end(trade, *lapsed, now)
            return "bad", lapsed[1]
        return await self._send_approved(line, waiting, size, order)

    async def _send_approved(
        self, line: _Proxy, waiting: Waiting, size: Micros, order: ApproveTrade
    ) -> tuple[str, str]:
        """Send an approved trade once; tone and text of the notice about it."""
        trade = waiting.view
        body = {**waiting.body, "amount": decimal(size), **bounded_price(trade, order)}
        status, answer = await self._send(line, body, size, trade)
        # The run may have been restarted meanwhile.
        leash = line.leash
        fields, changed = fields_of(answer), size != trade.amount
        if status == _OK and fields.get("success") is True:
            reason = "approved at another size" if changed else "approved"
            trade_id = str(fields.get("trade_id") or "")
            now = self._clock.now()
            leash.end(trade, PendingStatus.APPROVED, reason, now, trade_id=trade_id, approved=size)
            return "good", ""
        why = f"{fields.get('error') or f'the service answered {status}'}"[:200]
        is_no = is_sure_no(status, answer)
        if is_no and changed:
            # An amount of the person's that the venue refuses uses nothing up.
            leash.waiting[trade.pending_id] = waiting
            return "warn", f"{why}; still pending"
        why = why if is_no else f"{why}; {_MAYBE}"
        status_now = PendingStatus.FAILED if is_no else PendingStatus.UNKNOWN
        leash.end(trade, status_now, why, self._clock.now())
        return "bad", why

    def _against_approval(self, line: _Proxy, order: ApproveTrade) -> str | None:
        """Reason why a trade cannot be approved at the moment; None if it can."""
        trade = line.leash.waiting[order.pending_id].view
        order_to_send = approved_order(trade, order)
        size, no = order_to_send.amount, self._against(order_to_send)
        now = self._clock.now()
        if no is None and trade.expires_at > now and not line.leash.has_left(size, now):
            return "daily budget reached: raise it first, or lower the amount"
        return None if no is None else f"{no.text} ({no.fix})"

    def _against(self, order: PlaceTrade) -> LeashRefusal | None:
        """The desk's own objection to a skill's buy; None without one."""
        if self._is_halted():
            return _HALTED
        if order.venue is Venue.SIM:
            return None
        objection = self._against_real(order, self._spent_today())
        return None if objection is None else LeashRefusal("REAL_MONEY", *objection)

    def _spent_today(self) -> Micros:
        """Money of the buys of all skills at this service, of this UTC day, run they now or not."""
        now = self._clock.now()
        today, here = int(now // DAY_S), f" {self._client.base_url}"
        rows = self._written.items()
        spent = {one: money for one, (day, money) in rows if day == today and one.endswith(here)}
        for line in self._proxies.values():
            spent[self._name(line.leash)] = line.leash.spent_on(now)
        return sum_of(spent.values())

    # -- the skill's calls -----------------------------------------------------------------

    async def _met(
        self, run_id: str, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        if len(self._writers) >= CALLERS_MAX:
            writer.close()
            return
        self._writers.add(writer)
        try:
            async with asyncio.timeout(CALL_S):
                caller = SkillConnection(reader, writer)
                await caller.answer(await self._answer(run_id, caller))
        except (OSError, TimeoutError, ProtocolError) as error:
            log.info("a skill's request failed: %s", error)
        finally:
            self._writers.discard(writer)
            writer.close()
            with suppress(OSError):
                await writer.wait_closed()

    async def _answer(self, run_id: str, caller: SkillConnection) -> Answered:
        try:
            call = await caller.call()
        except BadCallError as error:
            return refusal(400, str(error), "send plain HTTP with one length")
        line = self._proxies.get(run_id)
        given = call.headers.get("authorization", "").removeprefix("Bearer ").encode()
        if line is None or not hmac.compare_digest(given, line.token.encode()):
            return refusal(401, "unknown key", "use the key in SERVICE_API_KEY")
        return await self._routed(line, call)

    async def _routed(self, line: _Proxy, call: SkillCall) -> Answered:
        """Answer to a skill's call, from the desk or from the service."""
        path = call.target.partition("?")[0]
        if (call.method, path) == (PLACE_TRADE.method, PLACE_TRADE.path):
            return await self._trade(line, call.body)
        try:
            judged = judged_call(call)
        except NotJudgedError as error:
            return refusal(422, str(error), "leave it out, or spell it as this service does")
        is_observing = line.leash.mode is LeashMode.OBSERVE
        if judged is None or (judged.lowers_risk and is_observing):
            return refusal(
                403,
                "this desk's leash allows a skill to trade and read only",
                "POST /api/sdk/trade",
            )
        if judged.endpoint is PENDING_TRADES:
            everything = judged.query.get("status") == "all"
            return _OK, pending_trade_body(line.leash, everything=everything)
        return await self._pass(line, judged.call)

    async def _trade(self, line: _Proxy, raw: bytes) -> Answered:
        try:
            judged, size = _order_of(raw)
        except NotJudgedError as error:
            fix = "give market_id, side and amount or shares, and no field of another name"
            return refusal(422, f"malformed order: {error}", fix)
        # What was judged is what leaves, whichever venue the service would take by itself.
        order = judged.value
        body = {"venue": order.venue.value, **judged.fields}
        is_buy = order.action is Action.BUY and not order.is_quote
        # A leash that lets a buy pass is the person's standing yes. Source: decisions.
        placed = PlaceTrade(
            order.market_id, order.side, order.action, order.venue, size, confirmed=True
        )
        no = self._against(placed) if is_buy else None
        if no is not None:
            return _OK, refused(order, no)
        verdict = line.leash.check(order, size, self._clock.now())
        if isinstance(verdict, LeashRefusal):
            return _OK, refused(order, verdict)
        if verdict:
            return await self._send(line, body, size if is_buy else Micros(0))
        trade = line.leash.let_wait(order, size, body, self._clock.now())
        self._emit_leashes()
        return _OK, submitted(order, trade)

    async def _send(
        self,
        line: _Proxy,
        body: Mapping[str, object],
        size: Micros,
        trade: PendingTradeView | None = None,
    ) -> Answered:
        """Send an order; what surely did not go out counts for nothing.

        A buy of unknown end is looked up, and counts until its end is known.

        Returns:
            What the skill is answered.
        """
        counted_at = self._clock.now()
        try:
            await self._count(line, size, counted_at)
        except (OSError, ValueError) as error:
            log.warning("a skill's buy was not recorded: %s", error)
            return refusal(_NOT_SENT, f"nothing sent: {error}", Fix.FREE_DISK)
        sent, ref = marked(body) if size else (body, "")
        raw = json.dumps(sent).encode()
        call = (PLACE_TRADE.method, PLACE_TRADE.path, raw)
        if size:
            # Before it leaves: whatever breaks from here on, it is looked up.
            buy = unknown_of(raw, ref, size, counted_at)
            line.leash.unknown[ref] = replace(buy, approved=trade)
        self._sending.add(ref)
        try:
            status, answer = await self._pass(
                line, call, self._why_no_buy if size else no_objection
            )
        finally:
            self._sending.discard(ref)
        is_no = is_sure_no(status, answer)
        if is_no or (status == _OK and fields_of(answer).get("success") is True):
            line.leash.unknown.pop(ref, None)
        if is_no:
            with suppress(OSError, ValueError):
                await self._count(line, Micros(-size), counted_at)
        self._emit_leashes()
        return status, answer

    async def _count(self, line: _Proxy, money: Micros, at: Timestamp) -> None:
        """Add a buy's money to the day it counts for, or give it back, and store the sum.

        Raises:
            OSError: it could not be, and is undone.
            ValueError: the same.
        """
        if not money:
            return
        # At once: the next order is judged by it.
        moved = self._move(line.leash, money, at)
        if self._spending is None:
            return
        name = self._name(line.leash)
        async with self._keeping:
            row = (line.leash.day, line.leash.spent)
            try:
                await asyncio.to_thread(self._spending.keep, name, *row)
            except (OSError, ValueError):
                if int(at // DAY_S) >= line.leash.day:
                    self._move(line.leash, Micros(-moved), at)
                raise
            self._written[name] = row

    def _move(self, leash: StoredLeash, money: Micros, at: Timestamp) -> Micros:
        """Count it on every leash of the skill.

        Returns:
            What it really moved.
        """
        moved = leash.count_buy(money, at)
        for other in (line.leash for line in self._proxies.values()):
            if self._name(other) == self._name(leash):
                other.day, other.spent = leash.day, leash.spent
        return moved

    def _name(self, leash: StoredLeash) -> str:
        """Name under which a skill's spending is stored."""
        return f"{leash.agent_id} {leash.skill_slug} {self._client.base_url}"

    def _why_no_buy(self) -> str:
        """Reason why a buy must not be sent, checked until its bytes leave; empty if it may."""
        return HALTED.text if self._is_halted() else ""

    async def _pass(
        self,
        line: _Proxy,
        call: tuple[str, str, bytes],
        last_word: Callable[[], str] = no_objection,
    ) -> Answered:
        passing: Awaitable[Passed] = self._client.pass_on(line.key, call, last_word=last_word)
        try:
            passed = await passing
        except NotPassedError as error:
            if error.was_sent:
                return refusal(504, str(error), "check GET /api/sdk/trades for the result")
            return refusal(_NOT_SENT, str(error), "retry later")
        return passed.status, passed.body

    def _emit_leashes(self) -> None:
        now = self._clock.now()
        leashes = [line.leash for line in self._proxies.values()]
        self._emit(Loaded(LeashView, tuple(leash.view(now) for leash in leashes)))
        self._emit(pending_trades_seen(leashes))


def _order_of(raw: bytes) -> tuple[JudgedBody[TradeRequest], Micros]:
    """A skill's order and its money."""
    judged = judged_body(TradeRequest, raw)
    unjudged = sorted(_UNJUDGED & judged.fields.keys())
    if unjudged:
        raise NotJudgedError(f"field not passed on: {unjudged[0]}")
    try:
        return judged, micros(judged.value.amount)
    except NotMicrosError as error:
        raise NotJudgedError("malformed amount") from error


_UNJUDGED: Final = frozenset({"execute", "signed_order", "wallet_address"})
"""# ours: what a leash cannot judge: an order that is signed already, and a word for a quote that
other services may take for an order."""

CALLERS_MAX: Final = 32
"""Connections of skills at one time: so many leave the desk its own files."""

_HALTED: Final = LeashRefusal("HALTED", "trading is halted", "wait until the operator resumes it")
_MAYBE: Final = "result unknown; checking the trades"
_OK: Final = 200
_NOT_SENT: Final = 424
"""A call that surely did not go out is a no, and no riddle."""
