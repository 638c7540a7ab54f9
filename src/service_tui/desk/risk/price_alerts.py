"""Price alerts: the service's, and a local one only where a service keeps none.

An alert that is local on a service which keeps alerts is handed over to it once. Its intent is on
disk before it is sent, and one without an answer is looked up before anything is sent again.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import replace
from typing import Final

from service_tui.client.errors import (
    NotFoundError,
    OutcomeUnknownError,
    RateLimitedError,
    RefusedError,
    ServiceError,
    UnauthenticatedError,
)
from service_tui.desk.changes import Changed, Removed
from service_tui.desk.commands.risk import RemovePriceAlert, SetPriceAlert
from service_tui.desk.facts import Fact, Noticed
from service_tui.desk.fixes import failed_text, fix_of
from service_tui.desk.ports import Ports
from service_tui.desk.reasons import READ_ONLY
from service_tui.desk.risk.price_alert_rows import (
    ONLY_HERE,
    Listed,
    Place,
    after_price,
    alert_of,
    fired_text,
    gone_text,
    listed_of,
    may_be,
    place_of,
    row_of,
    stored_price_alerts,
)
from service_tui.desk.slices.notices import NoticeKind
from service_tui.desk.slices.risk import PriceAlertView
from service_tui.desk.state import DeskState
from service_tui.storage.errors import StorageError
from service_tui.storage.price_alerts import PriceAlerts
from service_tui.terms import HISTORY_HOURS_MAX
from service_tui.units import Timestamp
from service_tui.wire.alerts import PriceAlertRequest, TriggeredQuery
from service_tui.wire.endpoints.notify import (
    DELETE_PRICE_ALERT,
    PRICE_ALERTS,
    SET_PRICE_ALERT,
    TRIGGERED_ALERTS,
)

log = logging.getLogger(__name__)

PERIOD_S: Final = 10.0
"""Pause between two lists of the service; a price that passes an alert brings the next at once."""

ABSENT_S: Final = 3_600.0
"""Pause after which a service without price alerts is asked again."""

QUIET_S: Final = 60.0
"""Pause between two lists of what has fired, while nothing waits."""

LIMITED_S: Final = 600.0
"""Pause after a 429, before an alert is handed over again: its limit may be one of the rate or one
of the number of alerts."""

SENT_S: Final = 60.0
"""ours: twice the deadline of a write. A list asked so long after an alert was sent has it."""

ALERTS_MAX: Final = 500
"""ours: every price that comes is compared with each of them."""

Rest = Callable[[asyncio.Event, float], Awaitable[None]]
"""Returns after so many seconds, or once the event is set."""


class PriceWatch:
    """The price alerts of a desk.

    Listing, setting, removing and handing over never overlap, so that no old list undoes a change.
    What has fired shows as fired at once, so that the next price cannot fire it again; it is on
    disk before its notice.
    """

    def __init__(self, stored: PriceAlerts, ports: Ports) -> None:
        self._stored = stored
        self._ports = ports
        self._changed: asyncio.Queue[PriceAlertView] = asyncio.Queue()
        self._lock = asyncio.Lock()
        self._wanted = asyncio.Event()
        self._removed: dict[Place, str] | None = None
        self._is_first = True
        self._refused: set[str] = set()
        self._told: set[str] = set()
        self._next_at = 0.0
        self._fired_at = float("-inf")

    # -- prices ----------------------------------------------------------------------------

    def look(self, before: DeskState, after: DeskState) -> list[Fact]:
        """The facts that a change of the markets means for the alerts; none for most."""
        if after.markets is before.markets or not after.risk.price_alerts:
            return []
        facts: list[Fact] = []
        for alert in after.risk.price_alerts:
            market = after.markets.get(alert.market_id) if alert.is_open else None
            known = before.markets.get(alert.market_id)
            if market is None or (market is known and not before.from_cache):
                continue
            price = market.price_of(alert.side)
            if not alert.is_local:
                was_near = known is None or not alert.condition.is_beyond(
                    alert.threshold, known.price_of(alert.side)
                )
                if was_near and alert.condition.is_beyond(alert.threshold, price):
                    self.wake()
                continue
            now_so = after_price(alert, price, self._ports.now())
            if now_so is not alert:
                facts.append(Changed(now_so))
                self._changed.put_nowait(now_so)
        return facts

    async def run(self) -> None:
        """Store armed and fired local alerts, and notify about the fired; runs for ever."""
        while True:
            alert = await self._changed.get()
            if alert.is_open:
                try:
                    await self._stored.arm(alert.alert_id, armed=alert.is_armed)
                except StorageError as error:
                    log.warning("a price alert was not written: %s", error)
            else:
                await self._tell(alert)

    async def _tell(self, alert: PriceAlertView) -> None:
        """Write down that an alert has fired, and notify about it once."""
        at, price = alert.triggered_at, alert.triggered_price
        if at is None or price is None:
            return
        try:
            is_news = await self._stored.fire(alert.alert_id, at=at, price=price)
        except StorageError as error:
            # Told twice, after a restart, is better than not at all.
            log.warning("a price alert was not written: %s", error)
            is_news = True
        if is_news:
            text = fired_text(alert, self._ports.now())
            self._ports.emit(Noticed("warn", text, NoticeKind.PRICE_ALERT))

    async def _fire(self, alert: PriceAlertView, at: Timestamp, price: float) -> None:
        fired = replace(alert, triggered_at=at, triggered_price=price)
        self._ports.emit(Changed(fired))
        await self._tell(fired)

    # -- the service's list ----------------------------------------------------------------

    def wake(self) -> None:
        """Ask the service for its list now."""
        self._wanted.set()

    async def follow(self, rest: Rest) -> None:
        """Take what the service lists, and hand over what it does not keep; runs for ever."""
        while True:
            await rest(self._wanted, await self._follow_once())
            self._wanted.clear()

    async def _follow_once(self) -> float:
        """Take one list; the pause until the next."""
        try:
            async with self._lock:
                if not await self._read():
                    return ABSENT_S
                await self._hand_over()
        except (ServiceError, StorageError) as error:
            log.info("price alerts not read: %s", error)
        return PERIOD_S

    async def _read(self) -> bool:
        """Take what the service lists.

        Returns:
            False where it has no price alerts.
        """
        call, asked_at = self._ports.client.call, self._ports.now()
        try:
            waiting = await call(PRICE_ALERTS)
        except NotFoundError:
            return False
        is_expected = bool(waiting.answer.alerts or self._removed)
        is_quiet = not is_expected and all(
            one.is_local or not one.is_open for one in self._alerts()
        )
        if is_quiet and asked_at < self._fired_at + QUIET_S:
            return True
        # Read second: what fires between the two is in both, not in none.
        query = TriggeredQuery(hours=HISTORY_HOURS_MAX)
        fired = await call(TRIGGERED_ALERTS, query=query)
        bodies = (*waiting.answer.alerts, *reversed(fired.answer.alerts))
        self._fired_at = asked_at
        await self._take(listed_of(bodies, asked_at, waiting.dropped + fired.dropped))
        return True

    async def _take(self, listed: Listed) -> None:
        removed = await self._known_removed()
        for place, row in listed.rows.items():
            if place not in removed:
                await self._take_row(row, self._own_of(row, listed))
        self._is_first = False
        if listed.is_whole:
            await self._forget_gone(listed, removed)
        for alert in self._alerts():
            if alert.sent_at is not None and listed.asked_at - alert.sent_at >= SENT_S:
                await self._keep(replace(alert, sent_at=None))

    async def _known_removed(self) -> dict[Place, str]:
        """What a person removed here and the service may still list."""
        if self._removed is None:
            alerts = await asyncio.to_thread(stored_price_alerts, self._stored, removed=True)
            self._removed = {place_of(alert): alert.alert_id for alert in alerts}
        return self._removed

    def _own_of(self, row: PriceAlertView, listed: Listed) -> PriceAlertView | None:
        """The alert of this desk that a row of the service is; None for one that is new here."""
        place = place_of(row)
        for alert in self._alerts():
            if alert.service_id and place_of(alert) == place:
                return alert
        if place in listed.addressed:
            return None
        nameless = [one for one in self._alerts() if not one.service_id and may_be(one, row)]
        return min(nameless, key=lambda one: abs(one.created_at - row.created_at), default=None)

    async def _take_row(self, row: PriceAlertView, mine: PriceAlertView | None) -> None:
        at, price = row.triggered_at, row.triggered_price
        if mine is None and at is not None and self._is_first:
            # Another program set it, and it fired before this console looked: shown, not told.
            self._ports.emit(Changed(row))
            return
        known = row if mine is None else mine
        is_told = mine is not None and not mine.is_open
        kept = replace(
            row,
            alert_id=known.alert_id,
            question=row.question or known.question,
            triggered_at=known.triggered_at if is_told else None,
            triggered_price=known.triggered_price if is_told else None,
            is_armed=known.is_armed,
        )
        if kept != mine and not (is_told and known.service_id):
            await self._keep(kept)
        if at is not None and price is not None and not is_told:
            await self._fire(kept, at, price)

    async def _forget_gone(self, listed: Listed, removed: dict[Place, str]) -> None:
        """Forget what the service no longer lists."""
        for alert in self._alerts():
            if alert.is_open and alert.service_id and place_of(alert) not in listed.rows:
                await self._drop(alert)
                text = gone_text(alert)
                self._ports.emit(Noticed("warn", text, NoticeKind.PRICE_ALERT))
        for place in [place for place in removed if place not in listed.rows]:
            await self._stored.drop(removed.pop(place))

    def _alerts(self) -> tuple[PriceAlertView, ...]:
        return self._ports.state().risk.price_alerts

    async def _keep(self, alert: PriceAlertView) -> None:
        """Show and store an alert as it is now."""
        self._ports.emit(Changed(alert))
        await self._stored.put(row_of(alert))

    async def _drop(self, alert: PriceAlertView) -> None:
        await self._stored.drop(alert.alert_id)
        self._ports.emit(Removed(PriceAlertView, alert.alert_id))

    # -- to the service --------------------------------------------------------------------

    async def _hand_over(self) -> None:
        """Place what only this console keeps at the service, one after the other.

        A price of now is compared with it first: a crossing while the desk was closed is told here,
        as the service begins with the price of now.
        """
        if self._ports.clock.monotonic() < self._next_at:
            return
        for alert_id in [alert.alert_id for alert in self._alerts() if alert.is_local]:
            # Read again for each: a price may have fired it while the one before was sent.
            alert = next((one for one in self._alerts() if one.alert_id == alert_id), None)
            if alert is None or not self._is_due(alert):
                continue
            try:
                await self._send(alert)
            except RefusedError as error:
                if isinstance(error, UnauthenticatedError):
                    return
                self._tell_refused(alert, error)
                if isinstance(error, RateLimitedError):
                    self._next_at = self._ports.clock.monotonic() + LIMITED_S
                    return
                self._refused.add(alert.alert_id)

    def _tell_refused(self, alert: PriceAlertView, error: RefusedError) -> None:
        """Notify that an alert stays here, once for each."""
        if alert.alert_id not in self._told:
            self._told.add(alert.alert_id)
            text = f"price alert: {alert.describe()}: {error}; {ONLY_HERE}"
            self._ports.emit(Noticed("warn", text, fix=fix_of(error.code, error.fix)))

    def _is_due(self, alert: PriceAlertView) -> bool:
        """True if an alert is to be handed over."""
        state = self._ports.state()
        is_barred = state.service.read_only or alert.alert_id in self._refused
        is_priced = alert.market_id in state.markets and not state.from_cache
        return alert.is_open and is_priced and not is_barred

    async def _send(self, alert: PriceAlertView) -> None:
        """Place an alert at the service, which keeps it from then on.

        Raises:
            OutcomeUnknownError: it may be there; the next lists tell.
            ServiceError: it is not there, and is as it was.
            StorageError: the same.
        """
        await self._keep(replace(alert, sent_at=self._ports.now()))
        body = PriceAlertRequest(
            market_id=alert.market_id,
            side=alert.side,
            condition=alert.condition,
            threshold=alert.threshold,
        )
        try:
            reply = await self._ports.client.call(SET_PRICE_ALERT, body=body)
        except OutcomeUnknownError:
            raise
        except ServiceError:
            await self._keep(alert)
            raise
        placed = alert_of(reply.answer)
        kept = replace(
            alert, service_id=placed.service_id, created_at=placed.created_at, sent_at=None
        )
        try:
            await self._keep(kept)
        except StorageError as error:
            # As sent it is on disk: the next start finds it at the service.
            log.warning("a price alert was not written: %s", error)
        price = reply.answer.current_price
        if placed.triggered_at is not None and placed.triggered_price is not None:
            await self._fire(kept, placed.triggered_at, placed.triggered_price)
        elif price is not None and _has_crossed(alert, price):
            # On the way: the service waits for the price to come back, and is not needed any more.
            await self._fire(kept, self._ports.now(), price)
            with suppress(ServiceError):
                path = {"alert_id": kept.service_id}
                await self._ports.client.call(DELETE_PRICE_ALERT, path=path)

    # -- commands --------------------------------------------------------------------------

    async def set(self, order: SetPriceAlert) -> None:
        """Place a price alert at the service; keep it here where that keeps none.

        Without an answer it is kept here until the service answers.
        """
        async with self._lock:
            try:
                await self._set(order)
            except (StorageError, UnicodeError) as error:
                self._ports.emit(Noticed("bad", f"{order.describe()}: {error}; not saved"))

    async def _set(self, order: SetPriceAlert) -> None:
        ports = self._ports
        if why := objection(order, ports.state()):
            ports.emit(Noticed("warn", why))
            return
        mark = ""
        try:
            is_kept_there = await self._read()
        except RefusedError as error:
            ports.emit(Noticed("bad", failed_text(order, error)))
            return
        except ServiceError as error:
            log.info("a price alert stays local: %s", error)
            is_kept_there, mark = False, f"no answer from the service: {ONLY_HERE} until it answers"
        # Another console may have set it meanwhile.
        if why := objection(order, ports.state()):
            ports.emit(Noticed("warn", why))
        elif not is_kept_there:
            await self._set_here(order, mark or ONLY_HERE)
        elif ports.state().service.read_only:
            ports.emit(Noticed("warn", f"{order.describe()}: {READ_ONLY}"))
        else:
            await self._set_there(order)

    def _new(self, order: SetPriceAlert) -> PriceAlertView:
        market = self._ports.state().markets.get(order.market_id)
        return PriceAlertView(
            alert_id=self._ports.new_id(),
            market_id=order.market_id,
            question=order.question or (market.question if market is not None else ""),
            side=order.side,
            condition=order.condition,
            threshold=order.threshold,
            created_at=self._ports.now(),
        )

    def _with_price(self, alert: PriceAlertView) -> PriceAlertView:
        """The alert after the price that is known now."""
        state = self._ports.state()
        market = state.markets.get(alert.market_id)
        if market is None or state.from_cache:
            return alert
        return after_price(alert, market.price_of(alert.side), self._ports.now())

    async def _set_here(self, order: SetPriceAlert, mark: str) -> None:
        """Keep an alert on this machine; one that is met already fires at once."""
        alert = self._new(order)
        now_so = self._with_price(alert)
        at, price = now_so.triggered_at, now_so.triggered_price
        if at is not None and price is not None:
            await self._stored.put(row_of(alert))
            await self._fire(alert, at, price)
        else:
            await self._stored.put(row_of(now_so))
            self._ports.emit(Changed(now_so))
            self._ports.emit(Noticed("info", f"{order.describe()}; {mark}"))

    async def _set_there(self, order: SetPriceAlert) -> None:
        alert = self._new(order)
        now_so = self._with_price(alert)
        alert = replace(alert, is_armed=now_so.is_armed)
        try:
            await self._send(alert)
        except OutcomeUnknownError as error:
            self._ports.emit(Noticed("warn", f"{order.describe()}: {error}; is looked up"))
        except RefusedError as error:
            await self._drop(alert)
            fix = fix_of(error.code, error.fix)
            self._ports.emit(Noticed("bad", f"{order.describe()}: {error}", fix=fix))
        except ServiceError:
            mark = f"no answer from the service: {ONLY_HERE} until it answers"
            self._ports.emit(Noticed("info", f"{order.describe()}; {mark}"))
        except StorageError:
            self._ports.emit(Removed(PriceAlertView, alert.alert_id))
            raise
        else:
            self._ports.emit(Noticed("info", order.describe()))

    async def remove(self, order: RemovePriceAlert) -> None:
        """Remove a price alert, at the service as well."""
        async with self._lock:
            alert = next((one for one in self._alerts() if one.alert_id == order.alert_id), None)
            try:
                if alert is None or alert.is_local:
                    await self._stored.drop(order.alert_id)
                    self._ports.emit(Removed(PriceAlertView, order.alert_id))
                else:
                    await self._remove_there(order, alert)
            except StorageError as error:
                self._ports.emit(Noticed("bad", f"{order.describe()}: {error}"))

    async def _remove_there(self, order: RemovePriceAlert, alert: PriceAlertView) -> None:
        emit = self._ports.emit
        if alert.sent_at is not None:
            emit(Noticed("warn", f"{order.describe()}: it is looked up; try again in a minute"))
            return
        if alert.is_open and self._ports.state().service.read_only:
            emit(Noticed("warn", f"{order.describe()}: {READ_ONLY}"))
            return
        removed = await self._known_removed()
        if alert.is_open:
            path = {"alert_id": alert.service_id}
            try:
                await self._ports.client.call(DELETE_PRICE_ALERT, path=path)
            except NotFoundError:
                log.info("a price alert is gone already: %s", alert.service_id)
            except ServiceError as error:
                emit(Noticed("bad", failed_text(order, error)))
                return
        # The service lists what has fired for a week more.
        await self._stored.put(row_of(alert, removed=True))
        removed[place_of(alert)] = alert.alert_id
        emit(Removed(PriceAlertView, alert.alert_id))


def _has_crossed(alert: PriceAlertView, price: float) -> bool:
    is_crossing = alert.condition.is_crossing
    return is_crossing and alert.condition.fires(alert.threshold, price, is_armed=alert.is_armed)


def objection(order: SetPriceAlert, state: DeskState) -> str:
    """Why this price alert is not set; empty if it is."""
    waiting = [one for one in state.risk.price_alerts if one.is_open]
    wanted = order.market_id, order.side, order.condition, order.threshold
    if not 0 < order.threshold < 1:
        return "price alert: price must be above 0 and below 1"
    if any((one.market_id, one.side, one.condition, one.threshold) == wanted for one in waiting):
        return f"{order.describe()}: set already"
    if len(waiting) >= ALERTS_MAX:
        return f"limit of {ALERTS_MAX} price alerts reached: remove some first"
    return ""
