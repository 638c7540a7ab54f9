"""Delivers reports to webhooks: in order, each with its retries, whatever the addresses do.

Each webhook has a queue and a task of its own, so that a slow address holds up nobody else. What
the journal holds is delivered after a restart as well, under the same delivery id.
"""

import asyncio
import json
import logging
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final, Protocol

from service_tui.clock import Clock
from service_tui.engine.codec import events as codec
from service_tui.engine.codec.errors import JournalError
from service_tui.engine.events import (
    Event,
    Fill,
    MarketListed,
    MarketResolved,
    OrderFilled,
    OrderPlaced,
)
from service_tui.engine.notify.webhooks import Webhook
from service_tui.engine.notify_events import AgentAlertFired, PriceAlertTriggered, WebhookTried
from service_tui.engine.world import World
from service_tui.server.past.history import Paid, SettledSide, past_of
from service_tui.server.webhooks.post import HttpPost, Parcel, Post
from service_tui.server.webhooks.reports import WebhookReport, movement, reports_of, text_of
from service_tui.server.world_store import WorldStore
from service_tui.storage.errors import StorageError
from service_tui.storage.journal import JournalRow
from service_tui.terms import Side, WebhookEvent
from service_tui.units import Micros, Timestamp

log = logging.getLogger(__name__)

QUEUE_MAX: Final = 256
"""Deliveries that wait for one webhook; what comes beyond is dropped, and the log notes it."""

BACKOFF_MAX_S: Final = 300.0
"""The longest pause between two attempts: 2, 4, 8 ... seconds, doubled at each failure."""

MOVEMENT_S: Final = 300.0
MOVEMENT_MIN: Final = 0.05
"""How often prices are compared, and by how much one has moved. Source: wire reference, 2.4."""

CATCH_UP_MAX: Final = 2_000
BEHIND_MAX: Final = 20_000
"""Journal rows that are read at one time, and how far back, for what was not delivered."""

REPORTED: Final = (
    Fill,
    OrderPlaced,
    OrderFilled,
    MarketResolved,
    PriceAlertTriggered,
    AgentAlertFired,
)
"""Events whose rows are read for deliveries."""

CAUGHT_UP: Final = (
    "fill",
    "order",
    "order_fill",
    "payout",
    "settled",
    "price_alert_met",
    "agent_alert_met",
)
"""Kinds of rows that are reported, after a restart too."""


class SecretStore(Protocol):
    """Keeps the secrets of webhooks outside the database, by webhook id. Blocks."""

    def load(self) -> dict[str, str]:
        """What was saved last; empty before."""
        ...

    def save(self, secrets: dict[str, str]) -> None:
        """Replace what was saved; a StorageError where it cannot be."""
        ...


class MemorySecrets:
    """Secrets that are gone with the process: of a service without a directory of its own."""

    def __init__(self) -> None:
        self._kept: dict[str, str] = {}

    def load(self) -> dict[str, str]:
        """What was saved."""
        return dict(self._kept)

    def save(self, secrets: dict[str, str]) -> None:
        """Replace what was saved."""
        self._kept = dict(secrets)


@dataclass(slots=True)
class _Delivery:
    parcel: Parcel
    seq: int
    url: str


@dataclass(slots=True)
class _Queue:
    """What waits for one target; `task` works on it while something waits."""

    waiting: deque[_Delivery] = field(default_factory=deque["_Delivery"])
    ids: set[str] = field(default_factory=set[str])
    task: asyncio.Task[None] | None = None


class Courier:
    """The deliveries of one service."""

    def __init__(
        self,
        world_store: WorldStore,
        clock: Clock,
        *,
        secrets: SecretStore,
        post: Post | None = None,
        allows_loopback: Callable[[str], bool] = lambda _: False,
    ) -> None:
        self._world_store = world_store
        self._clock = clock
        self._store = secrets
        self._secrets: dict[str, str] | None = None
        # Of two that save at one time, the second must know what the first has added.
        self._saving = asyncio.Lock()
        self._post: Post = post or HttpPost()
        self.allows_loopback = allows_loopback
        self._queues: dict[str, _Queue] = {}
        self._tasks: asyncio.TaskGroup | None = None
        self._prices: dict[tuple[str, str, Side], float] = {}
        # Up to which row of the journal everything is queued; None before the first reading.
        self._read_seq: int | None = None
        self._woken = asyncio.Event()
        # Held while an id is given and its secret kept.
        self.registering = asyncio.Lock()

    def waiting_count(self, webhook_id: str) -> int:
        """Deliveries of a webhook that wait for their next attempt."""
        queue = self._queues.get(webhook_id)
        return 0 if queue is None else len(queue.waiting)

    async def keep_secret(self, webhook_id: str, secret: str) -> None:
        """Keep the secret of a new webhook. StorageError where it cannot be kept."""
        async with self._saving:
            await self._save((await self._loaded()) | {webhook_id: secret})

    async def forget(self, webhook_id: str) -> None:
        """Forget the secret and the queue of a webhook that was removed."""
        queue = self._queues.pop(webhook_id, None)
        if queue is not None and queue.task is not None:
            queue.task.cancel()
        async with self._saving:
            kept = await self._loaded()
            if webhook_id in kept:
                await self._save({key: kept[key] for key in kept if key != webhook_id})

    async def _loaded(self) -> dict[str, str]:
        if self._secrets is None:
            self._secrets = await asyncio.to_thread(self._store.load)
        return self._secrets

    async def _save(self, secrets: dict[str, str]) -> None:
        await asyncio.to_thread(self._store.save, secrets)
        self._secrets = secrets

    async def test(self, webhook: Webhook, at: Timestamp, delivery_id: str) -> str:
        """Make one attempt now; it counts for nothing.

        Returns:
            What went wrong, empty when the address took it.
        """
        report = WebhookReport(
            webhook.placed.agent_id,
            WebhookEvent.TRADE_EXECUTED,
            delivery_id,
            0,
            at,
            {"message": "a test of this webhook"},
        )
        parcel = parcel_of(report, delivery_id, "webhook.test")
        return await self._send(webhook, parcel, webhook.placed.url)

    # -- what is reported --------------------------------------------------------------------

    async def run(self) -> None:
        """Deliver until cancelled."""
        async with asyncio.TaskGroup() as tasks:
            self._tasks = tasks
            tasks.create_task(self._watch_prices())
            try:
                while True:
                    self._woken.clear()
                    await self._read_journal()
                    self._start_all()
                    await self._woken.wait()
            finally:
                self._tasks = None

    async def _watch_prices(self) -> None:
        """Compare prices every five minutes, and read what no commit has announced."""
        while True:
            self._report_movements()
            self._woken.set()
            await self._clock.sleep(MOVEMENT_S)

    def take(self, happened: Sequence[tuple[int, Event]]) -> None:
        """Learn of events that are on disk now; those of agents are read from the journal."""
        world = self._world_store.world
        if not world.webhooks.by_id:
            return
        for seq, event in happened:
            if isinstance(event, MarketListed):
                for report in reports_of(world, seq, event):
                    self._queue(report)
            elif isinstance(event, REPORTED):
                self._woken.set()

    async def _read_journal(self) -> None:
        """Queue the reports of every row after the last that was read, in order."""
        hooks = self._world_store.world.webhooks.by_id.values()
        seqs = [hook.seq for hook in hooks if hook.is_active]
        if not seqs:
            return
        oldest = first_unread(seqs, self._world_store.seq)
        after = oldest if self._read_seq is None else self._read_seq
        try:
            while rows := await self._world_store.rows_of_agents(
                after, CAUGHT_UP, limit=CATCH_UP_MAX
            ):
                self._queue_rows(rows)
                after = self._read_seq = rows[-1].seq
        except StorageError as error:
            log.warning("cannot read the undelivered webhook events: %s", error)

    def _queue_rows(self, rows: Sequence[JournalRow]) -> None:
        for row in rows:
            for report in self._reports_in(row.seq, row.kind, row.body, row.agent_id or ""):
                self._queue(report)

    def _reports_in(self, seq: int, kind: str, body: str, agent_id: str) -> list[WebhookReport]:
        world = self._world_store.world
        try:
            if kind not in {"payout", "settled"}:
                return reports_of(world, seq, codec.decode(kind, body))
            past = past_of(kind, body)
        except (JournalError, LookupError, ValueError, TypeError) as error:
            log.warning("row %d not delivered to webhooks: %s", seq, error)
            return []
        if not isinstance(past, Paid | SettledSide):
            return []
        end = MarketResolved(past.market_id, past.at, past.at, past.outcome, (), Micros(0))
        return [
            report
            for report in reports_of(world, seq, end._replace(payouts=(past.payout,)))
            if report.agent_id == agent_id
        ]

    def _report_movements(self) -> None:
        """Report each held side whose price has moved by more than five percent since last time."""
        world, at = self._world_store.world, self._clock.now()
        prices: dict[tuple[str, str, Side], float] = {}
        owners = {
            hook.placed.agent_id
            for hook in world.webhooks.by_id.values()
            if hook.wants(WebhookEvent.PRICE_MOVEMENT)
        }
        for agent_id, market_id, side in _held_sides(world, owners):
            now = world.markets[market_id].price_of(side)
            where = (agent_id, market_id, side)
            before = self._prices.get(where)
            prices[where] = now
            if before is None or not has_moved(before, now):
                continue
            data = movement(world, market_id, side, (before, now))
            key = f"moved-{market_id}-{side.value}-{int(at)}"
            self._queue(WebhookReport(agent_id, WebhookEvent.PRICE_MOVEMENT, key, 0, at, data))
        self._prices = prices

    def _queue(self, report: WebhookReport) -> None:
        webhooks = self._world_store.world.webhooks
        for hook in webhooks.by_id.values():
            placed = hook.placed
            if report.agent_id not in {None, placed.agent_id}:
                continue
            is_named = report.url == placed.url
            is_wanted = hook.wants(report.event) and (not report.url or is_named)
            if not hook.is_active or not (is_wanted or is_named):
                continue
            if 0 < report.seq <= hook.seq:
                continue
            delivery_id = f"{placed.webhook_id}-{report.key}"
            parcel = parcel_of(report, delivery_id, report.event.value)
            self._enqueue(placed.webhook_id, _Delivery(parcel, report.seq, placed.url))

    def _enqueue(self, webhook_id: str, delivery: _Delivery) -> None:
        queue = self._queues.setdefault(webhook_id, _Queue())
        if delivery.parcel.delivery_id in queue.ids:
            return
        if len(queue.waiting) >= QUEUE_MAX:
            log.warning("webhook %s is %d behind: delivery dropped", webhook_id, QUEUE_MAX)
            return
        queue.waiting.append(delivery)
        queue.ids.add(delivery.parcel.delivery_id)
        self._start(webhook_id, queue)

    def _start_all(self) -> None:
        for webhook_id, queue in self._queues.items():
            self._start(webhook_id, queue)

    def _start(self, webhook_id: str, queue: _Queue) -> None:
        is_idle = queue.task is None or queue.task.done()
        if self._tasks is not None and queue.waiting and is_idle:
            queue.task = self._tasks.create_task(self._deliver(webhook_id, queue))

    # -- how it is delivered -----------------------------------------------------------------

    async def _deliver(self, webhook_id: str, queue: _Queue) -> None:
        """Empty one queue, in order; a delivery that fails is tried again after a pause."""
        while queue.waiting:
            hook = self._world_store.world.webhooks.by_id.get(webhook_id)
            if hook is None or not hook.is_active:
                queue.waiting.clear()
                queue.ids.clear()
                return
            delivery = queue.waiting[0]
            try:
                detail = await self._send(hook, delivery.parcel, delivery.url)
            except StorageError as error:
                # The address has done nothing wrong.
                log.warning("cannot read the webhook secrets: %s", error)
                await self._clock.sleep(BACKOFF_MAX_S)
                continue
            await self._note(webhook_id, delivery, detail)
            if detail:
                await self._clock.sleep(pause_after(hook.failures))
                continue
            queue.waiting.popleft()
            queue.ids.discard(delivery.parcel.delivery_id)

    async def _send(self, hook: Webhook, parcel: Parcel, url: str) -> str:
        placed = hook.placed
        secret = (await self._loaded()).get(placed.webhook_id)
        if secret is None:
            return "the secret of this webhook is lost: remove it and add it again"
        allowed = self.allows_loopback(placed.agent_id)
        try:
            return await self._post(url, parcel, secret, allows_loopback=allowed)
        except Exception as error:  # noqa: BLE001 - whatever an address does ends no service
            return f"failed ({type(error).__name__})"

    async def _note(self, webhook_id: str, delivery: _Delivery, detail: str) -> None:
        """Write an attempt down. While the disk refuses the attempt stays unnoted."""
        log.info("webhook delivery %s: %s", delivery.parcel.delivery_id, detail or "delivered")
        at, parcel = self._clock.now(), delivery.parcel
        tried = WebhookTried(webhook_id, at, parcel.delivery_id, parcel.event, delivery.seq, detail)
        world_store = self._world_store
        try:
            world_store.check_whole()
            await world_store.commit(world_store.world.note(tried))
        except StorageError as error:
            log.warning("delivery attempt at %s not recorded: %s", parcel.delivery_id, error)


def first_unread(delivered: Iterable[int], world_seq: int) -> int:
    """After which row reading begins at a start: behind the webhook that knows least."""
    return max(min(delivered), world_seq - BEHIND_MAX)


def pause_after(failures: int) -> float:
    """Seconds until the next attempt after so many failures in a row."""
    return min(BACKOFF_MAX_S, 2.0 ** max(1, failures))


def has_moved(before: float, now: float) -> bool:
    """Whether a price has moved by enough to be reported."""
    return abs(now - before) > before * MOVEMENT_MIN


def _held_sides(world: World, owners: Iterable[str]) -> Iterator[tuple[str, str, Side]]:
    """Agent, market and side of every position of these agents on sim."""
    for agent_id in owners:
        for market_id, position in world.agents[agent_id].positions.items():
            yield from ((agent_id, market_id, side) for side in Side if position.on(side).shares)


def parcel_of(report: WebhookReport, delivery_id: str, event: str) -> Parcel:
    """What is sent of a report; a ValueError where a figure in it is none."""
    content = {
        "event": event,
        "delivery_id": delivery_id,
        "created_at": text_of(report.at),
        "data": report.data,
    }
    return Parcel(delivery_id, event, json.dumps(content, allow_nan=False).encode())
