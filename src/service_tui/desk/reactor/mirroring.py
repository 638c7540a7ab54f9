"""The mirror of a signal: the only place where another wallet's trade becomes an order of ours.

What a wallet's policy calls `auto` is mirrored from here within the listing that brings it;
everything else waits for the person's word.

Before an order leaves, its intent, its once-key and the signal stand on disk in one transaction,
under names made of the signal's own. Whoever comes after a crash finds them there: what was sent is
looked up, never sent again, and the signal is taken out once its mirror is sure. Source: failures,
T-24; spec, "Reactor flow".
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
from service_tui.desk.slices.reactor import (
    Policy,
    SignalsSeen,
    SignalState,
    SignalView,
)
from service_tui.desk.slices.records import NoticeKind, TicketState, TicketView
from service_tui.desk.trading.handlers import NO_ORDER, budget_of, unwritten
from service_tui.desk.trading.preflight import preflight
from service_tui.desk.trading.sending import end, send, settle
from service_tui.desk.translate import amount, shares_of
from service_tui.storage.errors import BudgetExceededError, ClaimedError, StorageError
from service_tui.storage.reactor import putting
from service_tui.terms import Action
from service_tui.wire.endpoints.public import DELETE_SIGNAL, POST_REACTION, REACTIONS
from service_tui.wire.reactor import Decision, ReactionsQuery
from service_tui.wire.trades import TradeBody, TradeRequest

log = logging.getLogger(__name__)

AT_ONCE_MAX: Final = 4
"""Mirrors on their way at one time; they leave in the order in which the signals came."""

REACTIONS_LOOKED: Final = 200
SLACK: Final = 0.0005
"""ours: prices come rounded; so far above its bound a fill is no fault."""

UNSENT: Final = "desk closed before the order was sent"
DISMISSED: Final = "dismissed by you"


class _Why(Enum):
    """Cause of a signal's turn: a policy, the operator, or the end of its mirror."""

    RULE = auto()
    HAND = auto()
    END = auto()


_ENDED: Final = frozenset({SignalState.MIRRORED, SignalState.FAILED})


class Mirrors:
    """Mirrors signals, each at most once for ever.

    `take` receives listings; `mirror`, `mirror_all` and `dismiss` are commands of the operator;
    `on_ticket` receives the ends of orders; `run` does the work.
    """

    def __init__(self, ports: Ports, *, executes: bool, held_back: Callable[[], str]) -> None:
        """Bind to a desk.

        Args:
            ports: the outside.
            executes: whether `auto` is carried out here.
            held_back: why no buy is placed at this moment; empty when one may be.
        """
        self._ports = ports
        self._executes = executes
        self._held_back = held_back
        self._queue: asyncio.Queue[tuple[str, _Why]] = asyncio.Queue()
        self._queued: set[str] = set()
        self._working: set[str] = set()
        self._owed: set[str] = set()
        self._ended_here: set[str] = set()
        self._taken_up: set[str] = set()
        self._reported: set[str] = set()
        self._finished: set[str] = set()
        self._trade_ids: dict[str, str] = {}
        self._slots = asyncio.Semaphore(AT_ONCE_MAX)
        self._closing = False

    @property
    def is_busy(self) -> bool:
        """True while an order is in flight that closing should wait for."""
        return bool(self._working)

    # -- what is to be done --------------------------------------------------------------------

    def take(self, fact: SignalsSeen) -> None:
        """Go through a listing, oldest first, once the state knows it."""
        reactor = self._ports.state().reactor
        known = {one.signal_id: one for one in reactor.signals}
        for kept in (self._owed, self._ended_here, self._reported, self._finished):
            kept.intersection_update(known)
        may_buy = self._executes and not self._held_back()
        for listed in fact.signals:
            signal = known.get(listed.signal_id)
            if signal is None:
                continue
            is_auto = may_buy and reactor.policy_of(signal.wallet) is Policy.AUTO
            if signal.state is SignalState.PENDING and is_auto:
                self._put(signal.signal_id, _Why.RULE)
            elif signal.ticket_id and signal.state in _ENDED:
                # An earlier run ended before it reported this, or before the signal was deleted.
                self._finish_later(signal.signal_id)
        for signal_id in self._owed - self._finished:
            self._finish_later(signal_id)

    def mirror(self, order: MirrorSignal) -> None:
        """Mirror one signal now."""
        signal = self._ports.state().reactor.signal(order.signal_id)
        why = self._why_not_by_hand(signal)
        if why:
            self._ports.emit(Noticed("warn", f"{order.describe()}: {why}"))
        else:
            self._put(order.signal_id, _Why.HAND)

    def mirror_all(self, order: MirrorAllFrom) -> None:
        """Mirror every signal of a wallet that waits, oldest first."""
        waiting = self._ports.state().reactor.waiting
        mine = [one for one in reversed(waiting) if one.wallet == order.wallet]
        why = self._held_back() if mine else "no signal pending"
        if why:
            self._ports.emit(Noticed("warn", f"{order.describe()}: {why}"))
            return
        for one in mine:
            self._put(one.signal_id, _Why.HAND)

    def on_ticket(self, ticket: TicketView) -> None:
        """Continue once a mirror's order ended or was found: the end is reported to the service."""
        if ticket.in_flight and not ticket.has_no_trace:
            return
        signals = self._ports.state().reactor.signals
        signal = next((one for one in signals if one.ticket_id == ticket.ticket_id), None)
        if signal is not None and signal.state in _ENDED:
            self._owed.add(signal.signal_id)
            if signal.signal_id not in self._taken_up:
                # What has just happened cannot have been reported yet.
                self._ended_here.add(signal.signal_id)
            self._finish_later(signal.signal_id)

    def close(self) -> None:
        """Begin no further mirror."""
        self._closing = True

    def _why_not_by_hand(self, signal: SignalView | None) -> str:
        if signal is None:
            return "signal unknown"
        if not signal.can_mirror(self._ports.now()):
            known = f": {signal.detail}" if signal.detail else ""
            if signal.state in {SignalState.PENDING, SignalState.SKIPPED}:
                return f"signal expired{known}"
            return f"signal already {signal.state.value}{known}"
        return self._held_back()

    def _put(self, signal_id: str, why: _Why) -> None:
        if signal_id not in self._queued and signal_id not in self._working:
            self._queued.add(signal_id)
            self._queue.put_nowait((signal_id, why))

    def _finish_later(self, signal_id: str) -> None:
        if signal_id not in self._finished:
            self._put(signal_id, _Why.END)

    # -- doing it ------------------------------------------------------------------------------

    async def run(self) -> None:
        """Process queued signals in order; runs for ever."""
        await self._take_up()
        async with asyncio.TaskGroup() as tasks:
            while True:
                signal_id, why = await self._queue.get()
                await self._slots.acquire()
                self._queued.discard(signal_id)
                self._working.add(signal_id)
                tasks.create_task(self._work(signal_id, why))

    async def _take_up(self) -> None:
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
                # Intent and signal are written together: without the one nothing was sent.
                failed = replace(signal, state=SignalState.FAILED, detail=UNSENT)
                self._ports.emit(Changed(failed))
                continue
            ticket = ticket_of(row)
            if not ticket.in_flight:
                self._taken_up.add(signal.signal_id)
            self._ports.emit(Changed(ticket))
            if not ticket.in_flight:
                self._notify_left_over(ticket.what, ticket.outcome)

    def _notify_left_over(self, description: str, outcome: str) -> None:
        """Notify about an order of an earlier run, whose end was perhaps never shown."""
        text = f"{description}, from an earlier run: {outcome}"
        self._ports.emit(Noticed("info", text, NoticeKind.FILL))

    async def _work(self, signal_id: str, why: _Why) -> None:
        try:
            signal = self._ports.state().reactor.signal(signal_id)
            if signal is not None and self._may_begin(signal, why):
                signal = await self._mirror(signal, by_hand=why is _Why.HAND)
            if signal is not None and signal.state in _ENDED and signal_id not in self._finished:
                await self._finish(signal)
        except StorageError as error:
            self._ports.emit(Noticed("bad", f"reactor: {error}"))
        finally:
            self._working.discard(signal_id)
            self._slots.release()

    def _may_begin(self, signal: SignalView, why: _Why) -> bool:
        """True if the signal is still to be mirrored at its turn."""
        if self._closing or not signal.can_mirror(self._ports.now()):
            return False
        if why is _Why.RULE:
            policy = self._ports.state().reactor.policy_of(signal.wallet)
            return signal.state is SignalState.PENDING and policy is Policy.AUTO
        return why is _Why.HAND

    async def _mirror(self, signal: SignalView, *, by_hand: bool) -> SignalView | None:
        """Place the order of a signal, if nothing speaks against it.

        Returns:
            The signal as it is then.
        """
        state, now = self._ports.state(), self._ports.now()
        never = "" if by_hand else why_never(state, signal)
        if never:
            await self._skip(signal, never)
            return None
        signal = cut_to_day(state, signal)
        order = order_of(signal)
        why = why_not_now(state, signal, now) or preflight(state, order, now)
        try:
            request = request_of_mirror(signal)
        except ValueError:
            why = why or NO_ORDER
            request = None
        if why is not None or request is None:
            self._put_off(signal, why or NO_ORDER, by_hand=by_hand)
            return None
        # Said before anything waits: what it takes is not there for the next one.
        ticket = ticket_of_mirror(signal, now)
        self._ports.emit(Changed(ticket))
        begun = replace(
            signal, state=SignalState.MIRRORING, detail=ticket.what, ticket_id=ticket.ticket_id
        )
        self._ports.emit(Changed(begun))
        if not await self._written(begun, ticket, request):
            return None
        if self._ports.gate.last_word(request):
            # A halt came while the intent was written.
            await settle(self._ports, ticket, TicketState.REFUSED, HALTED)
        else:
            body = await send(self._ports, ticket, order, request)
            self._take_fill(begun, order, body)
        return await self._ended(begun)

    def _put_off(self, signal: SignalView, why: Reason, *, by_hand: bool) -> None:
        """Postpone a mirror.

        Notify the operator, or let the policy retry while the signal waits.
        """
        if by_hand:
            text = f"{ticket_of_mirror(signal, signal.at).what}: {why.text}"
            self._ports.emit(Noticed("warn", text, fix=why.fix))
        elif signal.detail != why.plain():
            self._ports.emit(Changed(replace(signal, detail=why.plain())))

    async def _written(self, signal: SignalView, ticket: TicketView, request: TradeRequest) -> bool:
        """Write intent, once-key and signal; False when nothing may be sent."""
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
        except ClaimedError:
            await self._known_already(signal, ticket)
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

    async def _known_already(self, signal: SignalView, ticket: TicketView) -> None:
        """This transaction was mirrored before, however long ago: show how that went."""
        row = await asyncio.to_thread(self._ports.blotter.find, ticket.ticket_id)
        if row is not None:
            self._ports.emit(Changed(ticket_of(row)))
            return
        reason = Reason("signal already mirrored")
        end(self._ports, ticket, TicketState.REFUSED, reason)
        self._ports.emit(Changed(replace(signal, state=SignalState.SKIPPED, detail=reason[0])))

    def _take_fill(self, signal: SignalView, order: PlaceTrade, body: TradeBody | None) -> None:
        """Put the fill of an answer into the signal; without one the list of trades will."""
        known = self._ports.state().reactor.signal(signal.signal_id)
        if body is None or known is None or known.state is not SignalState.MIRRORED:
            return
        self._trade_ids[signal.signal_id] = body.trade_id or ""
        shares, cost = amount(shares_of(body, Action.BUY)), amount(body.cost)
        if shares <= 0:
            return
        filled = replace(known, shares=shares, cost=cost)
        self._ports.emit(Changed(filled))
        paid = filled.fill_price
        if paid is not None and not paid <= signal.price_max + SLACK:
            text = f"paid {paid:.4f} per share, above the limit of {signal.price_max:.4f}"
            description = f"mirror: {order.describe()}"
            self._ports.emit(
                Noticed("bad", (f"{description}: {text}; the service exceeded the limit"))
            )

    async def _ended(self, begun: SignalView) -> SignalView | None:
        """The signal once its order was answered, or not."""
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
        """Report a signal's end to the service, and delete it once its mirror is sure.

        What fails now is done at the next listing.
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
        if signal.signal_id not in self._ended_here | self._taken_up:
            self._notify_left_over(f"mirror, {signal.question or signal.market_id}", signal.detail)
        self._trade_ids.pop(signal.signal_id, None)

    async def _report(self, signal: SignalView, decision: Decision) -> None:
        if signal.signal_id in self._reported:
            return
        is_new = signal.signal_id in self._ended_here or signal.state is SignalState.SKIPPED
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
        # One that is gone already is what was wanted.
        with suppress(NotFoundError):
            await self._ports.client.call(DELETE_SIGNAL, path=path)

    async def _skip(self, signal: SignalView, why: str) -> None:
        """Mark a signal as skipped, here and on the service: nothing was sent."""
        skipped = replace(signal, state=SignalState.SKIPPED, detail=why)
        self._owed.discard(signal.signal_id)
        self._ports.emit(Changed(skipped))
        try:
            await self._report(skipped, "skipped_filter")
        except ServiceError as error:
            log.info("cannot report a skipped signal: %s", error)

    async def dismiss(self, order: DismissSignal) -> None:
        """Remove a signal on the operator's command."""
        signal = self._ports.state().reactor.signal(order.signal_id)
        if signal is None or signal.state is not SignalState.PENDING:
            how = "gone" if signal is None else f"{signal.state.value} already"
            self._ports.emit(Noticed("warn", f"{order.describe()}: signal {how}"))
            return
        if signal.signal_id in self._working:
            self._ports.emit(Noticed("warn", f"{order.describe()}: pending"))
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
            self._ports.emit(Noticed("warn", f"{order.describe()}: {text}", NoticeKind.SIGNAL))


def _is_about(signal: SignalView, tx_hash: str, signal_id: str | None) -> bool:
    name = (signal.name or signal.tx_hash).lower()
    return name == (signal_id or tx_hash).lower()


def _cap_text(error: BudgetExceededError, reason: Reason, cap: int) -> Reason:
    """Reason that names which of a mirror's two budgets is used up."""
    if error.maximum != cap:
        return reason
    used, most = error.reserved / 1_000_000, error.maximum / 1_000_000
    return Reason(
        f"daily cap of the reactor: {used:,.2f} of {most:,.2f} used by this desk",
        Fix.RAISE_CAP,
    )
