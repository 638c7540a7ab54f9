"""Which delivery goes to whom, in which order, and what becomes of one that fails."""

import asyncio
import json
import math
from dataclasses import replace
from types import SimpleNamespace
from typing import Any, Final

import pytest

from kit.engine.bare import AT, bare_world, listed
from service_tui.engine.codec import events as codec
from service_tui.engine.events import Event, Fill, MarketListed, Note, kind_of
from service_tui.engine.notify_events import WebhookSet, WebhookTried
from service_tui.engine.position import Position
from service_tui.server.webhooks.courier import (
    BACKOFF_MAX_S,
    QUEUE_MAX,
    Courier,
    MemorySecrets,
    _parcel,
)
from service_tui.server.webhooks.post import Parcel
from service_tui.server.webhooks.reports import WebhookReport
from service_tui.storage.errors import StorageError
from service_tui.storage.journal import JournalRow
from service_tui.terms import WEBHOOK_FAILURES_MAX, Action, Side, WebhookEvent
from service_tui.units import ONE, Micros, Timestamp

TRADE, MOVED = WebhookEvent.TRADE_EXECUTED, WebhookEvent.PRICE_MOVEMENT
URL: Final = "https://hook.example/in"


class Desk:
    """A store, a clock and a post that note what they are asked."""

    def __init__(self) -> None:
        self.world = bare_world("ada", "ben")
        listed(self.world)
        self.seq = 50
        self.rows: list[JournalRow] = []
        self.read: list[int] = []
        self.tried: list[WebhookTried] = []
        self.posted: list[tuple[str, str, str, bool]] = []
        self.answers: list[str] = []
        self.pauses: list[float] = []
        self.whole: Exception | None = None

    def check_whole(self) -> None:
        if self.whole is not None:
            raise self.whole

    async def commit(self, events: Any) -> None:
        self.tried.append(events)

    async def rows_of_agents(self, after: int, _: object, *, limit: int) -> list[JournalRow]:
        self.read.append(after)
        return [row for row in self.rows if row.seq > after][: min(2, limit)]

    def now(self) -> Timestamp:
        return AT

    async def sleep(self, pause_s: float) -> None:
        self.pauses.append(pause_s)

    async def post(self, url: str, parcel: Parcel, secret: str, *, allows_loopback: bool) -> str:
        self.posted.append((url, parcel.delivery_id, secret, allows_loopback))
        answer = self.answers.pop(0) if self.answers else ""
        if answer == "bug":
            raise ZeroDivisionError
        return answer


def fill(number: int = 1, agent_id: str = "ada") -> Fill:
    money = Micros(12 * ONE), 0.5, 0.6, AT, AT, Micros(0)
    shares = Side.YES, Action.BUY, Micros(20 * ONE)
    return Fill(f"t{number}", agent_id, "m1", *shares, *money, Note())


def row_of(seq: int, event: Event, agent_id: str = "ada") -> JournalRow:
    return JournalRow(seq, AT, kind_of(event), agent_id, "m1", codec.encode(event))


def hook(desk: Desk, webhook_id: str = "wh1", agent_id: str = "ada", **changes: Any) -> Any:
    placed = WebhookSet(webhook_id, agent_id, AT, URL, (TRADE,), 0)._replace(**changes)
    desk.world.webhooks.apply(placed)
    return desk.world.webhooks.by_id[webhook_id]


def courier(desk: Any, secrets: Any = None, **named: Any) -> Courier:
    kept = secrets or MemorySecrets()
    if secrets is None:
        kept.save({"wh1": "s1", "wh2": "s2"})
    return Courier(desk, desk, secrets=kept, post=desk.post, **named)


async def deliver(one: Courier) -> None:
    """Everything that is queued or in the journal, as a running courier would."""
    await one._read_journal()
    for webhook_id, queue in one._queues.items():
        await one._deliver(webhook_id, queue)


async def test_rows_are_delivered_in_order_and_page_by_page() -> None:
    desk = Desk()
    hook(desk)
    desk.rows = [row_of(seq, fill(seq)) for seq in (3, 5, 9)]
    one = courier(desk)
    await deliver(one)
    assert desk.read == [0, 5, 9]
    assert [posted[1] for posted in desk.posted] == ["wh1-trade-3", "wh1-trade-5", "wh1-trade-9"]
    assert desk.posted[0] == (URL, "wh1-trade-3", "s1", False)
    assert one.waiting_count("wh1") == 0
    desk.rows.append(row_of(11, fill(11)))
    await deliver(one)
    assert desk.read == [0, 5, 9, 9, 11]
    assert desk.posted[3:] == [(URL, "wh1-trade-11", "s1", False)]


async def test_each_attempt_is_written_down_with_its_row() -> None:
    desk = Desk()
    hook(desk)
    desk.world.note = lambda event: event  # pyright: ignore[reportAttributeAccessIssue]
    desk.rows = [row_of(3, fill(3))]
    await deliver(courier(desk))
    assert desk.tried == [WebhookTried("wh1", AT, "wh1-trade-3", TRADE.value, 3, "")]


async def test_an_attempt_is_not_noted_while_the_disk_refuses() -> None:
    desk = Desk()
    hook(desk)
    desk.whole = StorageError("no room")
    desk.rows = [row_of(3, fill(3))]
    one = courier(desk)
    await deliver(one)
    assert desk.tried == []
    assert one.waiting_count("wh1") == 0


async def test_a_delivery_is_repeated_after_longer_and_longer_pauses_before_the_next_one() -> None:
    desk = Desk()
    hook(desk)
    desk.answers = ["no"] * 4
    desk.rows = [row_of(3, fill(3)), row_of(4, fill(4))]
    await deliver(courier(desk))
    assert [posted[1] for posted in desk.posted] == ["wh1-trade-3"] * 5 + ["wh1-trade-4"]
    assert desk.pauses == [2.0, 4.0, 8.0, 16.0]


async def test_a_pause_has_a_bound_and_ten_failures_end_a_webhook() -> None:
    desk = Desk()
    made = hook(desk)
    desk.answers = ["no"] * 20
    desk.rows = [row_of(3, fill(3)), row_of(4, fill(4))]
    one = courier(desk)
    await deliver(one)
    assert len(desk.posted) == WEBHOOK_FAILURES_MAX == 10
    assert desk.pauses[-3:] == [256.0, BACKOFF_MAX_S, BACKOFF_MAX_S]
    assert not made.is_active
    assert one.waiting_count("wh1") == 0
    await deliver(one)
    assert len(desk.posted) == 10


async def test_a_fault_of_the_post_is_a_failure_of_this_delivery_alone() -> None:
    desk = Desk()
    made = hook(desk)
    desk.answers = ["bug"]
    desk.rows = [row_of(3, fill(3))]
    await deliver(courier(desk))
    assert len(desk.posted) == 2
    assert made.failures == 0


async def test_a_fault_of_the_post_is_told_by_its_kind_alone() -> None:
    desk = Desk()

    async def post(*_: object, **__: object) -> str:
        raise ValueError("https://hook.example/in?token=secret")

    desk.post = post  # type: ignore[method-assign]
    parcel = Parcel("d-1", "trade_executed", b"{}")
    assert await courier(desk)._send(hook(desk), parcel, URL) == "failed (ValueError)"


async def test_a_webhook_gets_what_it_asked_for_of_its_own_agent_and_nothing_twice() -> None:
    desk = Desk()
    hook(desk)
    hook(desk, "wh2", "ben")
    hook(desk, "wh3", "ada", events=(MOVED,))
    hook(desk, "wh4", "ada", seq=3)
    desk.rows = [row_of(3, fill(3)), row_of(4, fill(4, "ben"), "ben"), row_of(5, fill(5))]
    one = courier(desk)
    await one._read_journal()
    one._queue_rows(desk.rows)
    waiting = {
        key: [delivery.parcel.delivery_id for delivery in queue.waiting]
        for key, queue in one._queues.items()
    }
    assert waiting == {
        "wh1": ["wh1-trade-3", "wh1-trade-5"], "wh2": ["wh2-trade-4"], "wh4": ["wh4-trade-5"]
    }  # fmt: skip
    assert one.waiting_count("wh1") == 2
    assert one.waiting_count("wh3") == 0


async def test_a_queue_is_bounded_and_what_comes_beyond_is_dropped() -> None:
    desk = Desk()
    hook(desk)
    one = courier(desk)
    one._queue_rows([row_of(seq, fill(seq)) for seq in range(1, QUEUE_MAX + 3)])
    assert one.waiting_count("wh1") == QUEUE_MAX
    assert one._queues["wh1"].waiting[-1].parcel.delivery_id == f"wh1-trade-{QUEUE_MAX}"


async def test_rows_that_make_no_sense_are_passed_over() -> None:
    desk = Desk()
    hook(desk)
    desk.rows = [JournalRow(3, AT, "fill", "ada", "m1", "{}"), row_of(4, fill(4))]
    await deliver(courier(desk))
    assert [posted[1] for posted in desk.posted] == ["wh1-trade-4"]


@pytest.mark.parametrize(("seq", "world_seq", "first"), [(7, 50, 7), (7, 25_007, 5_007)])
async def test_after_a_start_reading_begins_behind_the_webhook_that_knows_least(
    seq: int, world_seq: int, first: int
) -> None:
    desk = Desk()
    desk.seq = world_seq
    hook(desk, seq=seq)
    hook(desk, "wh2", seq=seq + 2)
    ended = hook(desk, "wh3", seq=1)
    ended.failures = WEBHOOK_FAILURES_MAX
    await courier(desk)._read_journal()
    assert desk.read == [first]


async def test_without_an_active_webhook_nothing_is_read() -> None:
    desk = Desk()
    await courier(desk)._read_journal()
    hook(desk).failures = WEBHOOK_FAILURES_MAX
    await courier(desk)._read_journal()
    assert desk.read == []


async def test_what_happened_wakes_the_courier_and_a_new_window_is_queued_at_once() -> None:
    desk = Desk()
    listing = listed(desk.world, "m2").listing
    fresh = MarketListed(AT, AT, listing)
    one = courier(desk)
    one.take([(1, fresh), (2, fill())])
    assert not one._woken.is_set()
    opened = next(one for one in WebhookEvent if "window" in one.value or "open" in one.value)
    hook(desk, events=(opened,))
    hook(desk, "wh2", "ben", events=(TRADE,))
    one.take([(1, fresh)])
    assert (one.waiting_count("wh1"), one.waiting_count("wh2")) == (1, 0)
    assert not one._woken.is_set()
    one.take([(2, fill())])
    assert one._woken.is_set()


@pytest.mark.parametrize(
    ("before", "reported"), [(0.5, 0), (0.4763, 0), (0.4761, 1), (0.53, 1), (0.526, 0)]
)
async def test_a_held_price_is_reported_when_it_has_moved_by_more_than_five_percent(
    before: float, reported: int
) -> None:
    desk = Desk()
    hook(desk, events=(MOVED,))
    hook(desk, "wh2", "ben", events=(MOVED,))
    market = desk.world.markets["m1"]
    position = desk.world.agents["ada"].positions["m1"] = Position("ada", "m1")
    position.no.shares = Micros(ONE)
    market.start = market.yes = Micros(0)
    one = courier(desk)
    one._report_movements()
    assert one._queues == {}
    assert one._prices == {("ada", "m1", Side.NO): 0.5}
    one._prices = {("ada", "m1", Side.NO): before, ("ada", "gone", Side.YES): 0.1}
    one._report_movements()
    assert one.waiting_count("wh1") == reported
    assert one.waiting_count("wh2") == 0
    assert one._prices == {("ada", "m1", Side.NO): 0.5}
    for queue in one._queues.values():
        (delivery,) = queue.waiting
        body = json.loads(delivery.parcel.body)
        assert (body["event"], body["data"]["side"]) == (MOVED.value, "no")
        assert body["data"]["previous_price"] == before
        assert delivery.seq == 0
        assert delivery.parcel.delivery_id == f"wh1-moved-m1-no-{int(AT)}"


async def test_only_what_is_held_by_who_wants_to_hear_of_it_is_looked_at() -> None:
    desk = Desk()
    hook(desk, events=(MOVED,))
    hook(desk, "wh2", "ben", events=(TRADE,))
    for name in ("ada", "ben"):
        position = desk.world.agents[name].positions["m1"] = Position(name, "m1")
        position.no.shares = Micros(ONE)
    one = courier(desk)
    one._report_movements()
    assert {agent_id for agent_id, *_ in one._prices} == {"ada"}


async def test_a_test_is_one_attempt_that_counts_for_nothing() -> None:
    desk = Desk()
    made = hook(desk, "wh2", "ben", url="https://other.example")
    one = courier(desk, allows_loopback=lambda agent_id: agent_id == "ben")
    desk.answers = ["no connection", ""]
    assert await one.test(made, AT, "d1") == "no connection"
    assert await one.test(made, AT, "d2") == ""
    assert desk.posted == [
        ("https://other.example", "d1", "s2", True), ("https://other.example", "d2", "s2", True)
    ]  # fmt: skip
    assert desk.tried == []


async def test_a_delivery_says_what_it_is_and_when_it_was() -> None:
    desk = Desk()
    bodies: list[Any] = []

    async def post(_: str, parcel: Parcel, *__: object, **___: object) -> str:
        bodies.append((parcel.event, json.loads(parcel.body)))
        return ""

    desk.post = post  # pyright: ignore[reportAttributeAccessIssue]
    await courier(desk).test(hook(desk), AT, "d1")
    assert bodies == [
        (
            "webhook.test",
            {
                "event": "webhook.test",
                "delivery_id": "d1",
                "created_at": "2027-01-15T08:00:00Z",
                "data": {"message": "a test of this webhook"},
            },
        )
    ]


async def test_a_webhook_without_its_secret_is_sent_nothing() -> None:
    desk = Desk()
    made = hook(desk, "wh9")
    assert (await courier(desk).test(made, AT, "d1")).startswith("the secret of this webhook is")
    assert desk.posted == []


async def test_secrets_are_kept_beside_each_other_and_forgotten_one_by_one() -> None:
    desk, kept = Desk(), MemorySecrets()
    one = courier(desk, kept)
    await one.keep_secret("wh1", "s1")
    await one.keep_secret("wh2", "s2")
    assert kept.load() == {"wh1": "s1", "wh2": "s2"}
    await one.forget("wh1")
    assert kept.load() == {"wh2": "s2"}
    await one.forget("wh1")
    assert await one.test(hook(desk, "wh2"), AT, "d1") == ""


async def test_what_is_saved_is_a_copy() -> None:
    kept = MemorySecrets()
    given = {"wh1": "s1"}
    kept.save(given)
    given.clear()
    kept.load().clear()
    assert kept.load() == {"wh1": "s1"}


async def test_a_removed_webhook_leaves_no_queue_and_no_task() -> None:
    desk = Desk()
    hook(desk)
    one = courier(desk)
    one._queue_rows([row_of(3, fill(3))])
    cancelled: list[bool] = []
    task: Any = SimpleNamespace(cancel=lambda: cancelled.append(True), done=lambda: False)
    one._queues["wh1"].task = task
    await one.forget("wh1")
    assert cancelled == [True]
    assert one.waiting_count("wh1") == 0


async def test_what_waits_for_a_webhook_that_is_gone_is_dropped() -> None:
    desk = Desk()
    hook(desk)
    one = courier(desk)
    one._queue_rows([row_of(3, fill(3))])
    desk.world.webhooks.by_id.clear()
    queue = one._queues["wh1"]
    await one._deliver("wh1", queue)
    assert (len(queue.waiting), queue.ids, desk.posted) == (0, set(), [])


async def test_secrets_that_cannot_be_read_wait_and_are_no_fault_of_the_address() -> None:
    desk = Desk()
    made = hook(desk)
    failures = [StorageError("no room")]

    def load() -> dict[str, str]:
        if failures:
            raise failures.pop()
        return {"wh1": "s1"}

    desk.rows = [row_of(3, fill(3))]
    await deliver(courier(desk, SimpleNamespace(load=load, save=None)))
    assert desk.pauses == [BACKOFF_MAX_S]
    assert [posted[1] for posted in desk.posted] == ["wh1-trade-3"]
    assert made.failures == 0


async def test_a_running_courier_delivers_what_is_new_and_ends_with_its_task() -> None:
    desk, came, forever = Desk(), asyncio.Queue[str](), asyncio.Event()
    hook(desk)

    async def sleep(_: float) -> None:
        await forever.wait()

    async def post(_: str, parcel: Parcel, *__: object, **___: object) -> str:
        came.put_nowait(parcel.delivery_id)
        return ""

    desk.sleep, desk.post = sleep, post  # pyright: ignore[reportAttributeAccessIssue]
    one = courier(desk)
    async with asyncio.TaskGroup() as tasks:
        running = tasks.create_task(one.run())
        desk.rows = [row_of(3, fill(3))]
        for number in (3, 4, 5):
            assert await came.get() == f"wh1-trade-{number}"
            desk.rows.append(row_of(number + 1, fill(number + 1)))
            one.take([(number + 1, fill(number + 1))])
        running.cancel()
    assert one._tasks is None


def test_what_is_no_number_in_json_is_never_sent() -> None:
    report = WebhookReport("ada", TRADE, "k", 1, AT, {"price": 0.5})
    content = json.loads(_parcel(report, "d-1", "trade_executed").body)
    assert content["data"] == {"price": 0.5}
    with pytest.raises(ValueError, match="JSON compliant"):
        _parcel(replace(report, data={"price": math.nan}), "d-1", "trade_executed")
