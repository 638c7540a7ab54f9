"""Mirroring signals: the only place where another wallet's trade becomes an order of this desk.

Signals of wallets with the policy `auto` are mirrored as soon as they are listed; all others need a
command of the person.

Before an order is sent, its intent, its once-key and the signal are stored in one transaction, with
keys derived from the signal's id. After a crash the next run finds them: a sent order is looked up,
never sent again, and the signal is deleted on the service once its mirror is certain. Source:
failures, T-24; spec, "Reactor flow".
"""

import asyncio
import logging
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from enum import Enum, auto
from typing import Final

from service_tui.client.errors import (
    InvalidError,
    NotFoundError,
    ReadOnlyError,
    ServiceError,
)
from service_tui.desk.blotter import intent_of, ticket_of
from service_tui.desk.changes import Changed
from service_tui.desk.commands.reactor import DismissSignal, MirrorAllFrom, MirrorSignal
from service_tui.desk.commands.trading import PlaceTrade
from service_tui.desk.facts import Noticed
from service_tui.desk.ports import Ports
from service_tui.desk.reactor.mirror_order import (
    cap_of,
    cut_to_day,
    cut_to_shares,
    excesses,
    once_of,
    order_of,
    reaction_of,
    request_of_mirror,
    ticket_of_mirror,
    why_never,
    why_not_now,
)
from service_tui.desk.reactor.stored import row_of
from service_tui.desk.reactor.translate import breaker_view
from service_tui.desk.reasons import HALTED, Fix, Reason
from service_tui.desk.slices.notices import NoticeKind
from service_tui.desk.slices.reactor import (
    Policy,
    SignalsSeen,
    SignalState,
    SignalView,
)
from service_tui.desk.slices.tickets import TicketState, TicketView
from service_tui.desk.trading.execution_check import shares_of
from service_tui.desk.trading.handlers import NO_ORDER, budget_of, unwritten
from service_tui.desk.trading.preflight import preflight
from service_tui.desk.trading.sending import end, send, settle
from service_tui.desk.wire_values import amount
from service_tui.storage.errors import BudgetExceededError, StorageError, TakenError
from service_tui.storage.reactor import putting
from service_tui.terms import Action
from service_tui.units import Timestamp
from service_tui.wire.endpoints.public import DELETE_SIGNAL, POST_REACTION, REACTIONS
from service_tui.wire.reactor import Decision, ReactionsQuery
from service_tui.wire.trades import TradeBody, TradeRequest

log = logging.getLogger(__name__)

AT_ONCE_MAX: Final = 4
"""Mirrors in progress at one time; they begin in the order of the signals."""

REACTIONS_LOOKED: Final = 200
UNSENT: Final = "desk closed before the order was sent"
DISMISSED: Final = "dismissed by you"


class _Cause(Enum):
    """Cause of a queued signal: its policy, a command, or the end of its order."""

    RULE = auto()
    HAND = auto()
    END = auto()


_ENDED: Final = frozenset({SignalState.MIRRORED, SignalState.FAILED})


def manual_objection(signal: SignalView | None, now: Timestamp, held_back: str) -> str:
    """Why a person cannot have this signal mirrored now; empty if they can."""
    if signal is None:
        return "signal unknown"
    if not signal.can_mirror(now):
        known = f": {signal.detail}" if signal.detail else ""
        if signal.state in {SignalState.PENDING, SignalState.SKIPPED}:
            return f"signal expired{known}"
        return f"signal already {signal.state.value}{known}"
    return held_back


class Mirrors:
    """Mirrors signals, each at most once for ever.

    `take` receives listings; `mirror`, `mirror_all` and `dismiss` are commands of the operator;
    `on_ticket` receives the ends of orders; `run` does the work.
    """

    def __init__(self, ports: Ports, *, executes: bool, held_back: Callable[[], str]) -> None:
        """Bind to a desk.

        Args:
            ports: dependencies of the desk.
            executes: True if this desk mirrors signals with the policy `auto`.
            held_back: returns why no buy may be placed now; empty if it may.
        """
        self._ports = ports
        self._executes = executes
        self._held_back = held_back
        self._queue: asyncio.Queue[tuple[str, _Cause]] = asyncio.Queue()
        self._queued: set[str] = set()
        self._working: set[str] = set()
        # Ids of signals: mirrors that ended and are not finished at the service yet,
        self._unreported: set[str] = set()
        # mirrors that ended in this run, which therefore were not reported before,
        self._ended_now: set[str] = set()
        # mirrors of an earlier run whose order had ended when this run began,
        self._found_ended: set[str] = set()
        # those whose end was reported, and those that were also deleted there.
        self._reported: set[str] = set()
        self._finished: set[str] = set()
        self._trade_ids: dict[str, str] = {}
        self._slots = asyncio.Semaphore(AT_ONCE_MAX)
        self._closing = False

    @property
    def is_busy(self) -> bool:
        """True while an order is in flight that closing should wait for."""
        return bool(self._working)

    # -- the queue ----------------------------------------------------------------------------

    def take(self, fact: SignalsSeen) -> None:
        """Queue the signals of a listing that are to be mirrored or finished, oldest first."""
        reactor = self._ports.state().reactor
        known = {one.signal_id: one for one in reactor.signals}
        for kept in (self._unreported, self._ended_now, self._reported, self._finished):
            kept.intersection_update(known)
        may_buy = self._executes and not self._held_back()
        for listed in fact.signals:
            signal = known.get(listed.signal_id)
            if signal is None:
                continue
            is_auto = may_buy and reactor.policy_of(signal.wallet) is Policy.AUTO
            if signal.state is SignalState.PENDING and is_auto:
                self._enqueue(signal.signal_id, _Cause.RULE)
            elif signal.ticket_id and signal.state in _ENDED:
                # An earlier run ended before it reported this, or before the signal was deleted.
                self._enqueue_finish(signal.signal_id)
        for signal_id in self._unreported - self._finished:
            self._enqueue_finish(signal_id)

    def mirror(self, command: MirrorSignal) -> None:
        """Mirror one signal now."""
        signal = self._ports.state().reactor.signal(command.signal_id)
        why = self._manual_objection(signal)
        if why:
            self._ports.emit(Noticed("warn", f"{command.describe()}: {why}"))
        else:
            self._enqueue(command.signal_id, _Cause.HAND)

    def mirror_all(self, command: MirrorAllFrom) -> None:
        """Mirror every pending signal of a wallet, oldest first."""
        waiting = self._ports.state().reactor.waiting
        mine = [one for one in reversed(waiting) if one.wallet == command.wallet]
        why = self._held_back() if mine else "no signal pending"
        if why:
            self._ports.emit(Noticed("warn", f"{command.describe()}: {why}"))
            return
        for one in mine:
            self._enqueue(one.signal_id, _Cause.HAND)

    def on_ticket(self, ticket: TicketView) -> None:
        """Queue the report of a mirror whose order has ended."""
        if ticket.in_flight and not ticket.has_no_trace:
            return
        signals = self._ports.state().reactor.signals
        signal = next((one for one in signals if one.ticket_id == ticket.ticket_id), None)
        if signal is not None and signal.state in _ENDED:
            self._unreported.add(signal.signal_id)
            if signal.signal_id not in self._found_ended:
                # It ended in this run: it cannot have been reported before.
                self._ended_now.add(signal.signal_id)
            self._enqueue_finish(signal.signal_id)

    def close(self) -> None:
        """Stop beginning mirrors."""
        self._closing = True

    def _manual_objection(self, signal: SignalView | None) -> str:
        return manual_objection(signal, self._ports.now(), self._held_back())

    def _enqueue(self, signal_id: str, why: _Cause) -> None:
        if signal_id not in self._queued and signal_id not in self._working:
            self._queued.add(signal_id)
            self._queue.put_nowait((signal_id, why))

    def _enqueue_finish(self, signal_id: str) -> None:
        if signal_id not in self._finished:
            self._enqueue(signal_id, _Cause.END)

    # -- mirrors -------------------------------------------------------------------------------

    async def run(self) -> None:
        """Process queued signals in order; runs for ever."""
        await self._resume_earlier()
        async with asyncio.TaskGroup() as tasks:
            while True:
                signal_id, why = await self._queue.get()
                await self._slots.acquire()
                self._queued.discard(signal_id)
                self._working.add(signal_id)
                tasks.create_task(self._work(signal_id, why))

    async def _resume_earlier(self) -> None:
        """Show the state of mirrors that an earlier run left in flight."""
        for signal in self._ports.state().reactor.signals:
            if signal.state not in {SignalState.MIRRORING, SignalState.UNKNOWN}:
                continue
            try:
                row = await asyncio.to_thread(self._ports.blotter.find, signal.ticket_id)
            except StorageError as error:
                log.warning("cannot read a mirror of an earlier run: %s", error)
                continue
            if row is None:
                # Intent and signal are stored together: without an intent nothing was sent.
                failed = replace(signal, state=SignalState.FAILED, detail=UNSENT)
                self._ports.emit(Changed(failed))
                continue
            ticket = ticket_of(row)
            if not ticket.in_flight:
                self._found_ended.add(signal.signal_id)
            self._ports.emit(Changed(ticket))
            if not ticket.in_flight:
                self._notify_earlier(ticket.what, ticket.outcome)

    def _notify_earlier(self, description: str, outcome: str) -> None:
        """Notify about the end of an earlier run's order, which may never have been shown."""
        text = f"{description}, from an earlier run: {outcome}"
        self._ports.emit(Noticed("info", text, NoticeKind.FILL))

    async def _work(self, signal_id: str, why: _Cause) -> None:
        try:
            signal = self._ports.state().reactor.signal(signal_id)
            if signal is not None and self._may_begin(signal, why):
                signal = await self._mirror(signal, by_hand=why is _Cause.HAND)
            if signal is not None and signal.state in _ENDED and signal_id not in self._finished:
                await self._finish(signal)
        except StorageError as error:
            self._ports.emit(Noticed("bad", f"reactor: {error}"))
        finally:
            self._working.discard(signal_id)
            self._slots.release()

    def _may_begin(self, signal: SignalView, why: _Cause) -> bool:
        """True if the queued signal may still be mirrored."""
        if self._closing or not signal.can_mirror(self._ports.now()):
            return False
        if why is _Cause.RULE:
            policy = self._ports.state().reactor.policy_of(signal.wallet)
            return signal.state is SignalState.PENDING and policy is Policy.AUTO
        return why is _Cause.HAND

    async def _mirror(self, signal: SignalView, *, by_hand: bool) -> SignalView | None:
        """Place the order of a signal, unless a limit or the halt forbids it.

        Returns:
            The signal after the order; None if none was placed.
        """
        state, now = self._ports.state(), self._ports.now()
        never = "" if by_hand else why_never(state, signal)
        if never:
            await self._skip(signal, never)
            return None
        signal = cut_to_day(state, cut_to_shares(state, signal))
        order = order_of(signal)
        why = why_not_now(state, signal, now) or preflight(state, order, now)
        try:
            request = request_of_mirror(signal)
        except ValueError:
            why = why or NO_ORDER
            request = None
        if why is not None or request is None:
            self._postpone(signal, why or NO_ORDER, by_hand=by_hand)
            return None
        # Emitted before the first await, so that the next mirror counts its amount as spent.
        ticket = ticket_of_mirror(signal, now)
        self._ports.emit(Changed(ticket))
        begun = replace(
            signal, state=SignalState.MIRRORING, detail=ticket.what, ticket_id=ticket.ticket_id
        )
        self._ports.emit(Changed(begun))
        if not await self._store_intent(begun, ticket, request):
            return None
        if self._ports.gate.last_word(request):
            # A halt came while the intent was written.
            await settle(self._ports, ticket, TicketState.REFUSED, HALTED)
        else:
            body = await send(self._ports, ticket, order, request)
            self._take_fill(begun, order, body)
        return await self._signal_after(begun)

    def _postpone(self, signal: SignalView, why: Reason, *, by_hand: bool) -> None:
        """Postpone a mirror.

        Notify the operator, or let the policy retry while the signal waits.
        """
        if by_hand:
            text = f"{ticket_of_mirror(signal, signal.at).what}: {why.text}"
            self._ports.emit(Noticed("warn", text, fix=why.fix))
        elif signal.detail != why.plain():
            self._ports.emit(Changed(replace(signal, detail=why.plain())))

    async def _store_intent(
        self, signal: SignalView, ticket: TicketView, request: TradeRequest
    ) -> bool:
        """Store intent, once-key and signal; False if nothing may be sent."""
        state, now = self._ports.state(), self._ports.now()
        cap = cap_of(state, now)
        budgets = [one for one in (cap, budget_of(self._ports)) if one is not None]
        try:
            await self._ports.blotter.open_ticket(
                intent_of(ticket, request.model_dump_json(exclude_none=True)),
                budget=budgets,
                once=once_of(signal),
                beside=putting(row_of(signal)),
            )
        except TakenError:
            await self._show_earlier(signal, ticket)
        except StorageError as error:
            end_state, reason = unwritten(error)
            if isinstance(error, BudgetExceededError) and cap is not None:
                reason = _cap_text(error, reason, cap.max_micros)
            end(self._ports, ticket, end_state, reason)
            skipped = replace(signal, ticket_id="", detail=" — ".join(reason))
            await self._skip(skipped, skipped.detail)
        else:
            return True
        return False

    async def _show_earlier(self, signal: SignalView, ticket: TicketView) -> None:
        """Show the earlier mirror of the same transaction."""
        row = await asyncio.to_thread(self._ports.blotter.find, ticket.ticket_id)
        if row is not None:
            self._ports.emit(Changed(ticket_of(row)))
            return
        reason = Reason("signal already mirrored")
        end(self._ports, ticket, TicketState.REFUSED, reason)
        self._ports.emit(Changed(replace(signal, state=SignalState.SKIPPED, detail=reason[0])))

    def _take_fill(self, signal: SignalView, order: PlaceTrade, body: TradeBody | None) -> None:
        """Add the fill of an answer to the signal; a later list of trades adds a missing one."""
        known = self._ports.state().reactor.signal(signal.signal_id)
        if body is None or known is None or known.state is not SignalState.MIRRORED:
            return
        self._trade_ids[signal.signal_id] = body.trade_id or ""
        shares, cost = amount(shares_of(body, Action.BUY)), amount(body.cost)
        if shares <= 0:
            return
        filled = replace(known, shares=shares, cost=cost)
        self._ports.emit(Changed(filled))
        for text in excesses(self._ports.state(), filled):
            description = f"mirror: {order.describe()}"
            self._ports.emit(
                Noticed("bad", (f"{description}: {text}; the service exceeded the limit"))
            )

    async def _signal_after(self, begun: SignalView) -> SignalView | None:
        """The newest signal after its order; None if a halt has refused the order."""
        signal = self._ports.state().reactor.signal(begun.signal_id)
        ticket = self._ticket(begun.ticket_id)
        if signal is None or ticket is None:
            return signal
        if ticket.state is TicketState.REFUSED and ticket.fix == HALTED.fix:
            await self._skip(replace(signal, ticket_id=""), HALTED.text)
            return None
        return signal

    def _ticket(self, ticket_id: str) -> TicketView | None:
        tickets = self._ports.state().tickets
        return next((one for one in tickets if one.ticket_id == ticket_id), None)

    # -- reports to the service ----------------------------------------------------------------

    async def _finish(self, signal: SignalView) -> None:
        """Report a signal's end to the service, and delete a mirrored signal there.

        A failed step is repeated at the next listing.
        """
        is_mirrored = signal.state is SignalState.MIRRORED
        try:
            await self._report(signal, "mirrored" if is_mirrored else "failed")
            if is_mirrored:
                await self._delete(signal)
        except ServiceError as error:
            log.info("mirror unfinished: %s", error)
            return
        self._finished.add(signal.signal_id)
        if signal.signal_id not in self._ended_now | self._found_ended:
            self._notify_earlier(f"mirror, {signal.question or signal.market_id}", signal.detail)
        self._trade_ids.pop(signal.signal_id, None)

    async def _report(self, signal: SignalView, decision: Decision) -> None:
        if signal.signal_id in self._reported:
            return
        is_new = signal.signal_id in self._ended_now or signal.state is SignalState.SKIPPED
        if is_new or not await self._was_reported(signal):
            trade_id = self._trade_ids.get(signal.signal_id, "")
            try:
                reply = await self._ports.client.call(
                    POST_REACTION, body=reaction_of(signal, decision, trade_id)
                )
            except (NotFoundError, InvalidError, ValueError) as error:
                log.info("the service accepts no mirror reports: %s", error)
            else:
                breaker = breaker_view(reply.answer.breaker, self._ports.client.skew_s or 0.0)
                if breaker is not None:
                    self._ports.emit(Changed(breaker))
        self._reported.add(signal.signal_id)

    async def _was_reported(self, signal: SignalView) -> bool:
        """True if an earlier run reported the end before the program stopped."""
        query = ReactionsQuery(limit=REACTIONS_LOOKED)
        try:
            reply = await self._ports.client.call(REACTIONS, query=query)
        except (NotFoundError, InvalidError):
            return False
        return any(
            _is_about(signal, one.event_tx_hash, one.signal_id) for one in reply.answer.reactions
        )

    async def _delete(self, signal: SignalView) -> None:
        path = {"signal_id": signal.name or signal.tx_hash}
        # It may be deleted already.
        with suppress(NotFoundError):
            await self._ports.client.call(DELETE_SIGNAL, path=path)

    async def _skip(self, signal: SignalView, why: str) -> None:
        """Mark a signal as skipped, here and on the service: nothing was sent."""
        skipped = replace(signal, state=SignalState.SKIPPED, detail=why)
        self._unreported.discard(signal.signal_id)
        self._ports.emit(Changed(skipped))
        try:
            await self._report(skipped, "skipped_filter")
        except ServiceError as error:
            log.info("cannot report a skipped signal: %s", error)

    async def dismiss(self, command: DismissSignal) -> None:
        """Remove a signal on the operator's command."""
        signal = self._ports.state().reactor.signal(command.signal_id)
        if signal is None or signal.state is not SignalState.PENDING:
            how = "gone" if signal is None else f"{signal.state.value} already"
            self._ports.emit(Noticed("warn", f"{command.describe()}: signal {how}"))
            return
        if signal.signal_id in self._working:
            self._ports.emit(Noticed("warn", f"{command.describe()}: pending"))
            return
        self._ports.emit(Changed(replace(signal, state=SignalState.SKIPPED, detail=DISMISSED)))
        dismissed = replace(signal, state=SignalState.SKIPPED, detail=DISMISSED)
        try:
            await self._report(dismissed, "skipped_filter")
            await self._delete(signal)
        except ReadOnlyError:
            pass
        except ServiceError as error:
            text = f"still listed by the service until it expires: {error}"
            self._ports.emit(Noticed("warn", f"{command.describe()}: {text}", NoticeKind.SIGNAL))


def _is_about(signal: SignalView, tx_hash: str, signal_id: str | None) -> bool:
    name = (signal.name or signal.tx_hash).lower()
    return name == (signal_id or tx_hash).lower()


def _cap_text(error: BudgetExceededError, reason: Reason, cap: int) -> Reason:
    """Reason that names the budget of a mirror that is used up: its cap, or the desk's limit."""
    if error.maximum != cap:
        return reason
    used, most = error.reserved / 1_000_000, error.maximum / 1_000_000
    return Reason(
        f"daily cap of the reactor: {used:,.2f} of {most:,.2f} used by this desk",
        Fix.RAISE_CAP,
    )
