"""Exits of alerts: the only place where a breach becomes a sale.

Only the desk that holds the data directory runs it. Exits pass every block of entries: pause, halt,
limits.

Before a sale leaves, its intent and its once-key stand on disk in one transaction, under names made
of the alert's id. Whoever comes after a crash finds them there, looks the order up, and only then
acknowledges the alert. Source: failures, rule 16 and F-21.
"""

import asyncio
import itertools
import logging
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from service_tui.client.errors import RefusedError, ServiceError
from service_tui.desk.blotter import intent_of, sent_of, ticket_of
from service_tui.desk.changes import Changed
from service_tui.desk.commands.risk import ExitAlert
from service_tui.desk.commands.trading import PlaceTrade
from service_tui.desk.facts import Noticed
from service_tui.desk.ports import Ports
from service_tui.desk.reasons import Reason
from service_tui.desk.reduce_risk import BY_HOLDER, BY_SERVICE, EXPIRED_TEXT
from service_tui.desk.risk.translate import alert_view
from service_tui.desk.slices.risk import (
    ALERT_LIFE_S,
    UNNAMED,
    AlertState,
    AlertView,
    exit_source,
)
from service_tui.desk.slices.service import Phase
from service_tui.desk.slices.tickets import TicketState, TicketView
from service_tui.desk.slices.topics import Topic
from service_tui.desk.state import DeskState
from service_tui.desk.trading.cancel_orders import free_shares, held_now, sellable
from service_tui.desk.trading.sending import request_of, send, settle, take_answer
from service_tui.signing.orders import SHARES_MIN
from service_tui.storage.errors import StorageError, TakenError
from service_tui.terms import Action, Venue
from service_tui.units import ONE, SHARE_QUANTUM, Micros, decimal, sum_of
from service_tui.wire.endpoints.public import (
    DELETE_MONITOR,
    END_RISK_ALERT,
    PLACE_TRADE,
    RISK_ALERTS,
)
from service_tui.wire.monitors import MonitorQuery, RiskAlertQuery, RiskAlertsQuery
from service_tui.wire.trades import TradeRequest

log = logging.getLogger(__name__)

AT_ONCE_MAX: Final = 4
"""Exits on their way at one time."""

AGAIN_S: Final = 10.0
AGAIN_MAX_S: Final = 300.0
"""ours: the pause before an exit that was refused is tried again, doubled each time."""

REPEAT_S: Final = 30.0
"""ours: so long an exit without an answer is looked up before it is repeated under its own key."""

SOLD: Final = "sold"
NOT_SOLD_YET: Final = "not sold yet"
UNSENDABLE: Final = "alert name not usable in an order"


def objection(alert: AlertView | None, state: DeskState, *, executes: bool) -> str:
    """Why a desk in this state runs no exit for an alert; empty if it does."""
    service = state.service
    if alert is None:
        return "alert no longer pending"
    if alert.managed:
        return BY_SERVICE
    is_real = alert.venue is not Venue.SIM and not service.embedded and not state.wallet.live
    whys = {
        BY_HOLDER: not executes or service.read_only,
        f"live trading is off, {alert.venue.value} is a real venue": is_real,
        "API key rejected": service.phase is Phase.UNAUTHORIZED,
    }
    return next((why for why, is_so in whys.items() if is_so), "")


def is_due(settled_at: float | None, attempts: int, now: float) -> bool:
    """Whether the pause after so many failed exits, the last at this time, is over."""
    pause_s = min(AGAIN_MAX_S, AGAIN_S * 2.0 ** (attempts - 1))
    return settled_at is None or abs(now - settled_at) >= pause_s


def may_repeat(state: DeskState, venue: Venue, looked_for_s: float) -> bool:
    """Whether a sale without a trace may be sent again under its own key, looked for so long."""
    if venue is Venue.EVM and state.wallet.is_linked:
        # What was signed is not kept, and a second signature would be a second order.
        return False
    service = state.service
    return service.embedded and not service.lookup_problem and looked_for_s >= REPEAT_S


class Exits:
    """Carries out the exit of every alert that waits for one, once.

    `take` receives a listing, `exit_now` is the operator's command; `run` does the work.
    """

    def __init__(self, ports: Ports, *, executes: bool) -> None:
        self._ports = ports
        self._executes = executes
        self._listed: dict[str, AlertView] = {}
        self._by_hand: set[str] = set()
        self._busy: set[str] = set()
        self._first_seen: dict[str, float] = {}
        self._awake = asyncio.Event()
        self._slots = asyncio.Semaphore(AT_ONCE_MAX)
        self._closing = False

    @property
    def is_busy(self) -> bool:
        """True while a sale is in flight that closing should wait for."""
        return bool(self._busy)

    def take(self, waiting: Sequence[AlertView]) -> None:
        """The alerts that wait, by the newest listing of the service; never a remembered one."""
        self._listed = {alert.alert_id: alert for alert in waiting}
        self._awake.set()

    def exit_now(self, command: ExitAlert) -> None:
        """Exit for one alert now, whatever pause a failed exit left behind."""
        alert = self._listed.get(command.alert_id)
        why = self._why_not(alert)
        if why or alert is None:
            self._ports.emit(Noticed("warn", why))
            return
        self._by_hand.add(alert.alert_id)
        self._awake.set()

    def wake(self) -> None:
        """Continue at once, as an exit's order ended or was found."""
        self._awake.set()

    def close(self) -> None:
        """Begin no further exit."""
        self._closing = True

    async def run(self) -> None:
        """Process listed alerts whenever something changed; runs for ever."""
        async with asyncio.TaskGroup() as tasks:
            while True:
                await self._awake.wait()
                self._awake.clear()
                for alert in self._idle():
                    self._busy.add(alert.alert_id)
                    tasks.create_task(self._work(alert))

    def _idle(self) -> list[AlertView]:
        """Alerts whose exit is this desk's to run, and is not running now."""
        return [
            alert
            for alert in self._listed.values()
            if not (self._closing or alert.alert_id in self._busy or self._why_not(alert))
        ]

    def _why_not(self, alert: AlertView | None) -> str:
        return objection(alert, self._ports.state(), executes=self._executes)

    async def _work(self, alert: AlertView) -> None:
        """One turn of an alert; faults are shown, and the next turn follows."""
        by_hand = alert.alert_id in self._by_hand
        self._by_hand.discard(alert.alert_id)
        turn = _Turn(self._ports, alert, self._since(alert))
        try:
            async with self._slots:
                if await turn.take(by_hand=by_hand):
                    # Until the service lists it again, which it does if it has not taken note.
                    self._listed.pop(alert.alert_id, None)
        except (ServiceError, StorageError) as error:
            turn.show(AlertState.FAILED, f"{NOT_SOLD_YET}: {error}", only_if_idle=True)
        except ValueError:
            # A service may name its markets and alerts as nothing can be named that is sent.
            log.warning("an alert cannot be answered as it is named")
            turn.show(AlertState.FAILED, f"{NOT_SOLD_YET}: {UNSENDABLE}", only_if_idle=True)
        finally:
            self._busy.discard(alert.alert_id)

    def _since(self, alert: AlertView) -> float:
        """Since when this program knows of the alert, by the monotonic clock."""
        return self._first_seen.setdefault(alert.alert_id, self._ports.clock.monotonic())


class _Turn:
    """One turn of an alert: finds where its exit is, and takes the next step."""

    def __init__(self, ports: Ports, alert: AlertView, known_since: float) -> None:
        self._ports = ports
        self._alert = alert
        self._known_since = known_since
        self._attempts = 0
        self._ticket_id = ""

    async def take(self, *, by_hand: bool) -> bool:
        """Go the next step of the exit.

        Returns:
            Whether nothing is left to do for this alert.
        """
        past = await self._past()
        last = past[-1] if past else None
        if last is not None and last.in_flight:
            last = await self._doubtful(last, by_hand=by_hand)
            if last is None:
                return False
        if last is not None and last.state is TicketState.DONE:
            rest = await self._rest()
            if rest is None:
                await self._acknowledge(last)
                return True
            self._alert = rest
        if self._is_over():
            self.show(AlertState.EXPIRED, EXPIRED_TEXT)
            return True
        if last is None or by_hand or is_due(last.settled_at, self._attempts, self._ports.now()):
            return await self._exit(number=len(past) + 1)
        return False

    def show(self, state: AlertState, text: str, *, only_if_idle: bool = False) -> None:
        """Show the state of the exit."""
        known = self._ports.state().risk.alert(self._alert.alert_id) or self._alert
        if only_if_idle and known.state in {AlertState.UNKNOWN, AlertState.EXECUTED}:
            return
        attempts = max(self._attempts, known.attempts, 1)
        if state is AlertState.EXPIRED and self._attempts:
            state = AlertState.MISSED
        changed = replace(
            known,
            state=state,
            detail=text,
            ticket_id=self._ticket_id or known.ticket_id,
            attempts=attempts,
        )
        if changed != known:
            self._ports.emit(Changed(changed))

    # -- what was tried before -----------------------------------------------------------------

    async def _past(self) -> list[TicketView]:
        """Tickets of this alert's exits, oldest first."""
        past: list[TicketView] = []
        for number in itertools.count(1):
            ticket = await self._ticket(_ticket_id(self._alert, number))
            if ticket is None:
                break
            past.append(ticket)
        if past:
            self._attempts, self._ticket_id = len(past), past[-1].ticket_id
        # An alert without a name is known by its position: a sale of long ago was another's.
        oldest = self._alert.breached_at - ALERT_LIFE_S
        if past and past[-1].state is TicketState.DONE and past[-1].opened_at < oldest:
            return [replace(one, state=TicketState.FAILED, settled_at=None) for one in past]
        return past

    async def _ticket(self, ticket_id: str) -> TicketView | None:
        known = (one for one in self._ports.state().tickets if one.ticket_id == ticket_id)
        if (ticket := next(known, None)) is not None:
            return ticket
        row = await asyncio.to_thread(self._ports.blotter.find, ticket_id)
        return None if row is None else ticket_of(row)

    def _is_over(self) -> bool:
        """True if the alert's hour has passed, by the service's clock if known."""
        ahead_s = max(0.0, self._ports.client.skew_s or 0.0)
        return self._ports.now() - ahead_s >= self._alert.expires_at

    # -- a sale in doubt -----------------------------------------------------------------------

    async def _doubtful(self, ticket: TicketView, *, by_hand: bool) -> TicketView | None:
        """An exit that was sent, or was about to be, and has no end yet.

        It is looked up as every order is. The embedded service carries out one key once, so there
        it is repeated under its own key when the look-up found nothing.

        Returns:
            The ticket once it has an end; None while it has none.
        """
        if by_hand and ticket.is_lost:
            reason = Reason(f"{ticket.outcome}; retried by you")
            await settle(self._ports, ticket, TicketState.FAILED, reason)
        elif self._may_repeat(ticket):
            await self._repeat(ticket)
        ended = await self._ticket(ticket.ticket_id)
        if ended is not None and not ended.in_flight:
            return ended
        text = "sent, no answer: being looked up, not resent"
        if ticket.is_lost:
            text = f"{ticket.outcome}: check the position, then sell again"
        self.show(AlertState.UNKNOWN, text)
        return None

    def _may_repeat(self, ticket: TicketView) -> bool:
        clock = self._ports.clock
        looked_for_s = min(
            clock.monotonic() - self._known_since,
            abs(clock.now() - (ticket.sent_at or ticket.opened_at)),
        )
        is_allowed = may_repeat(self._ports.state(), self._alert.venue, looked_for_s)
        return is_allowed and not self._is_over()

    async def _repeat(self, ticket: TicketView) -> None:
        """Send the same order under the same key; the service answers a repeated one as before."""
        row = await asyncio.to_thread(self._ports.blotter.find, ticket.ticket_id)
        sent = "" if row is None else sent_of(row)
        try:
            request = TradeRequest.model_validate_json(sent)
        except ValueError:
            log.warning("an exit cannot be read back: %s", ticket.ticket_id)
            return
        log.info("an exit without a trace is repeated under its key: %s", ticket.ticket_id)
        try:
            reply = await self._ports.client.call(
                PLACE_TRADE, body=request, idempotency_key=ticket.client_ref
            )
        except ServiceError as error:
            log.info("it stays unknown: %s", error)
            return
        newest = await self._ticket(ticket.ticket_id)
        if newest is not None and newest.state is TicketState.UNKNOWN:
            await take_answer(self._ports, newest, self._order(ticket.shares), reply.answer)

    # -- a new sale ----------------------------------------------------------------------------

    async def _exit(self, number: int, *, is_freed: bool = False) -> bool:
        """Sell the alert's shares, at most those of the position; the intent is stored first."""
        held = await self._held()
        if held is None:
            self.show(AlertState.FAILED, f"{NOT_SOLD_YET}: position unreadable")
            return False
        free = held - self._leaving()
        due = self._alert.shares or held
        if not sellable(self._alert.venue, min(due, held)):
            # No venue takes it, however often it is sent: the alert ends, what is held stays.
            await self._finish(held)
            self.show(AlertState.ENDED, _dust_text(min(due, held)))
            return True
        shares = sellable(self._alert.venue, min(due, free))
        if not shares:
            self.show(AlertState.PENDING, "another sale of these shares is pending")
            return False
        # What open sales were met with, until they are cancelled here, is held no more.
        alert = self._alert
        if not is_freed and await free_shares(alert.holding, alert.venue, self._ports):
            return await self._exit(number, is_freed=True)
        return await self._sell(number, self._order(shares, everything=shares == held))

    async def _sell(self, number: int, order: PlaceTrade) -> bool:
        """Write the intent down, and send; True when nothing is left to do for the alert."""
        ref = _ticket_id(self._alert, number)
        ticket = self._new_ticket(order, number, ref)
        source = exit_source(self._alert.reason)
        request = request_of(order, dry_run=False, client_ref=ref, source=source)
        once = f"alert:{self._alert.exit_name}" + (f":{number}" if number > 1 else "")
        try:
            intent = intent_of(ticket, request.model_dump_json(exclude_none=True))
            await self._ports.blotter.open_ticket(intent, once=once)
        except TakenError:
            self.show(AlertState.UNKNOWN, "earlier sale found: being looked up")
            return False
        self._attempts, self._ticket_id = number, ticket.ticket_id
        self.show(AlertState.EXITING, ticket.what)
        await send(self._ports, ticket, order, request)
        return await self._after(ticket)

    async def _after(self, ticket: TicketView) -> bool:
        """Show what an answer means for the alert; True if nothing is left to do."""
        ended = await self._ticket(ticket.ticket_id)
        if ended is None or ended.in_flight:
            self.show(AlertState.UNKNOWN, "sent, no answer: being looked up, not resent")
        elif ended.state is TicketState.DONE:
            if await self._rest() is None:
                await self._acknowledge(ended)
                return True
            self.show(AlertState.PENDING, f"{SOLD} in part, the rest follows: {ended.outcome}")
        else:
            self.show(AlertState.FAILED, f"{NOT_SOLD_YET}, retrying: {ended.outcome}")
        return False

    def _order(self, shares: Micros, *, everything: bool = False) -> PlaceTrade:
        alert = self._alert
        return PlaceTrade(
            market_id=alert.market_id,
            side=alert.side,
            action=Action.SELL,
            venue=alert.venue,
            shares=shares,
            reasoning=f"exit of a risk alert: {alert.reason}"[:200],
            question=alert.question,
            everything=everything,
        )

    def _new_ticket(self, order: PlaceTrade, number: int, ref: str) -> TicketView:
        return TicketView(
            ticket_id=_ticket_id(self._alert, number),
            kind=ExitAlert.kind,
            market_id=order.market_id,
            what=f"exit, {self._alert.reason}: {order.describe()}",
            state=TicketState.QUEUED,
            opened_at=self._ports.now(),
            client_ref=ref,
            question=order.question,
            holding=order.holding,
            shares=order.shares,
            venue=order.venue,
        )

    def _leaving(self) -> Micros:
        """Shares of the side that sales in flight may still take."""
        return sum_of(
            ticket.shares
            for ticket in self._ports.state().tickets
            if ticket.in_flight and not ticket.has_no_trace
            if ticket.holding == self._alert.holding and ticket.ticket_id != self._ticket_id
        )

    # -- the end of an alert -------------------------------------------------------------------

    async def _rest(self) -> AlertView | None:
        """The alert after a partial sale, as the service counts it.

        Returns:
            None where nothing is left; an order on sim is filled whole.
        """
        if self._alert.venue is Venue.SIM:
            return None
        reply = await self._ports.client.call(RISK_ALERTS, query=RiskAlertsQuery())
        for body in reply.answer.risk_alerts:
            alert = alert_view(body, self._ports.now())
            is_part = body.shares_sold > 0 and sellable(alert.venue, alert.shares) > 0
            if alert.alert_id == self._alert.alert_id and is_part:
                return alert
        return None

    async def _acknowledge(self, ticket: TicketView) -> None:
        """End the alert after a sure sale, and first its monitor if no shares are left.

        In this order a crash in between leaves the alert, so that the rest is done next time.
        """
        self.show(AlertState.EXECUTED, f"{SOLD}: {ticket.outcome}")
        shares = await self._held()
        await self._finish(shares)
        if (
            shares is not None
            and shares >= SHARE_QUANTUM
            and not sellable(self._alert.venue, shares)
        ):
            self.show(AlertState.EXECUTED, f"{SOLD}: {ticket.outcome}; {_dust_text(shares)}")

    async def _finish(self, held: Micros | None) -> None:
        """End the alert, and first its monitor if no sellable shares are left."""
        if held is not None and not sellable(self._alert.venue, held):
            await self._drop_monitor()
        await self._end_alert()
        for topic in (Topic.BRIEFING, Topic.MONITORS, Topic.POSITIONS, Topic.TRADES):
            self._ports.refresh(topic)

    async def _drop_monitor(self) -> None:
        query = MonitorQuery(side=self._alert.side, venue=self._alert.venue)
        path = {"market_id": self._alert.market_id}
        try:
            await self._ports.client.call(DELETE_MONITOR, path=path, query=query)
        except RefusedError as error:
            # Gone already: a service may end a monitor together with its position.
            log.debug("no monitor to remove: %s", error)

    async def _end_alert(self) -> None:
        alert = self._alert
        named = None if alert.alert_id.startswith(UNNAMED) else alert.alert_id
        path = {"market_id": alert.market_id, "side": alert.side.value}
        try:
            query = RiskAlertQuery(venue=alert.venue, alert_id=named)
        except ValueError:
            # A name that cannot be sent back: then its market and side are its name.
            query = RiskAlertQuery(venue=alert.venue)
        try:
            await self._ports.client.call(END_RISK_ALERT, path=path, query=query)
        except RefusedError as error:
            log.debug("no alert to acknowledge: %s", error)

    async def _held(self) -> Micros | None:
        """Shares of the side now; None if the answer does not prove them."""
        alert = self._alert
        return await held_now(alert.market_id, alert.side, alert.venue, self._ports)


def _dust_text(shares: Micros) -> str:
    """Text about shares that are too few for any order."""
    if shares < SHARE_QUANTUM:
        return "no shares left"
    return (
        f"{decimal(Micros(shares)):,.5f} shares left, below the venue's minimum order of "
        f"{SHARES_MIN // ONE}: awaiting resolution"
    )


def _ticket_id(alert: AlertView, number: int) -> str:
    """Name of one exit: of its row, of its order, and of its idempotency key."""
    return f"{alert.exit_name}.{number}"
