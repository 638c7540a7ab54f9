"""Idempotency keys: repeated requests, and what is remembered."""

import asyncio
import json
import random
import resource
import shutil
import sqlite3
from collections.abc import AsyncGenerator, Coroutine, Generator
from contextlib import asynccontextmanager, contextmanager, suppress
from pathlib import Path
from typing import Any, Final

import httpx
import pytest

from kit.desk.faults import asleep
from kit.service.stage import Stage, open_stage
from service_tui.clock import ManualClock
from service_tui.server import app
from service_tui.server import world_store as store_module
from service_tui.server.embedded import BASE_URL
from service_tui.server.http import idempotency
from service_tui.server.http.service import RequestContext
from service_tui.storage.answers import KEPT_S
from service_tui.storage.errors import StorageError
from service_tui.terms import Plan
from service_tui.wire.base import WireModel, moment
from service_tui.wire.endpoints.public import PLACE_TRADE, REGISTER, TRADES, HealthBody

pytestmark = pytest.mark.slow

HEADER: Final = idempotency.HEADER
LONG: Final = "why " * 900
"""A reasoning that does not fit on the pages that the database has already."""


@asynccontextmanager
async def caller(stage: Stage, key: str | None = None) -> AsyncGenerator[httpx.AsyncClient]:
    headers = {"Authorization": f"Bearer {key or stage.key}"}
    async with httpx.AsyncClient(
        transport=stage.sim.transport, base_url=BASE_URL, headers=headers
    ) as client:
        yield client


@asynccontextmanager
async def at_work(path: Path, **other: Any) -> AsyncGenerator[tuple[Stage, httpx.AsyncClient]]:
    async with (
        open_stage(path, speed=0, plan=Plan.ELITE, **other) as stage,
        caller(stage) as client,
    ):
        yield stage, client


def order_of(stage: Stage, amount: float = 5, index: int = 0, **other: Any) -> dict[str, Any]:
    market_id = sorted(market.market_id for market in stage.open_markets())[index]
    return {"market_id": market_id, "side": "yes", "amount": amount, **other}


async def place(
    client: httpx.AsyncClient, order: dict[str, Any], key: str | None = "k"
) -> httpx.Response:
    headers = {} if key is None else {HEADER: key}
    return await client.post(PLACE_TRADE.path, json=order, headers=headers)


async def test_a_repeat_meets_the_first_answer_and_trades_nothing(tmp_path: Path) -> None:
    async with at_work(tmp_path) as (stage, client):
        first = await place(client, order_of(stage))
        assert first.json()["success"] is True
        assert idempotency.REPLAYED not in first.headers
        # Something else happens in between, which the first answer knows nothing of.
        assert (await place(client, order_of(stage), "other")).json()["success"] is True
        for _ in range(3):
            again = await place(client, order_of(stage))
            assert (again.status_code, again.content) == (200, first.content)
            assert again.headers[idempotency.REPLAYED] == "true"
        assert stage.agent.trades_count == 2
        assert stage.world.cash(stage.agent) == 9_990 * 1_000_000


async def test_without_a_key_every_order_is_a_new_one(tmp_path: Path) -> None:
    async with at_work(tmp_path) as (stage, client):
        ids = {(await place(client, order_of(stage), None)).json()["trade_id"] for _ in range(3)}
        assert len(ids) == stage.agent.trades_count == 3


async def test_the_same_key_with_another_order_is_a_409(tmp_path: Path) -> None:
    async with at_work(tmp_path) as (stage, client):
        await place(client, order_of(stage))
        for other in (
            order_of(stage, 6),
            order_of(stage, index=1),
            order_of(stage, side="no"),
            order_of(stage, reasoning="on second thought"),
        ):
            refused = await place(client, other)
            assert refused.status_code == 409
            assert HEADER in refused.json()["fix"]
        assert stage.agent.trades_count == 1
        # Order of fields, blanks, other names of the venue and spelled-out defaults are no change.
        same = {"action": "buy", "dry_run": False, "venue": "sandbox", **order_of(stage, 5.0)}
        text = json.dumps(dict(reversed(same.items())), indent=3)
        headers = {HEADER: "k", "Content-Type": "application/json"}
        again = await client.post(PLACE_TRADE.path, content=text, headers=headers)
        assert (again.status_code, again.headers[idempotency.REPLAYED]) == (200, "true")


async def test_a_refusal_of_the_venue_is_remembered_too(tmp_path: Path) -> None:
    async with at_work(tmp_path) as (stage, client):
        order = order_of(stage, 500, price=0.0002)
        first = await place(client, order)
        assert (first.status_code, first.json()["success"]) == (200, False)
        before = stage.world.cash(stage.agent)
        again = await place(client, order)
        assert (again.content, again.headers[idempotency.REPLAYED]) == (first.content, "true")
        assert stage.world.cash(stage.agent) == before


async def test_a_fault_of_the_request_uses_no_key_up(tmp_path: Path) -> None:
    async with at_work(tmp_path) as (stage, client):
        unknown = order_of(stage) | {"market_id": "nowhere"}
        assert (await place(client, unknown)).status_code == 404
        assert (await place(client, order_of(stage, -1))).status_code == 422
        assert (await place(client, order_of(stage, 0.001))).status_code == 422
        assert (await place(client, order_of(stage))).json()["success"] is True
        assert stage.agent.trades_count == 1


async def test_a_dry_run_uses_no_key_up(tmp_path: Path) -> None:
    async with at_work(tmp_path) as (stage, client):
        quote = await place(client, order_of(stage, dry_run=True))
        assert quote.json()["success"] is True
        assert (await place(client, order_of(stage))).json()["trade_id"] == "t1"


async def test_agents_do_not_share_keys(tmp_path: Path) -> None:
    async with at_work(tmp_path) as (stage, client):
        joined = (await client.post(REGISTER.path, json={"name": "second"})).json()
        await place(client, order_of(stage))
        async with caller(stage, joined["api_key"]) as second:
            theirs = await place(second, order_of(stage))
        assert theirs.json()["trade_id"] == "t2"
        assert idempotency.REPLAYED not in theirs.headers


async def test_a_repeat_meets_the_own_answer_where_two_agents_use_the_same_key(
    tmp_path: Path,
) -> None:
    async with at_work(tmp_path) as (stage, client):
        joined = (await client.post(REGISTER.path, json={"name": "second"})).json()
        async with caller(stage, joined["api_key"]) as second:
            placed = [await place(one, order_of(stage)) for one in (client, second)]
            again = [await place(one, order_of(stage)) for one in (client, second)]
        assert [one.json()["trade_id"] for one in placed] == ["t1", "t2"]
        assert [one.content for one in again] == [one.content for one in placed]


async def test_repeats_at_the_same_moment_wait_for_the_first(tmp_path: Path) -> None:
    async with at_work(tmp_path) as (stage, client):
        async with asyncio.TaskGroup() as tasks:
            calls = [tasks.create_task(place(client, order_of(stage))) for _ in range(20)]
            other = tasks.create_task(place(client, order_of(stage, 7)))
        assert len({call.result().content for call in calls}) == 1
        assert other.result().status_code == 409
        assert stage.agent.trades_count == 1


async def test_it_is_remembered_over_a_restart_and_for_a_day(tmp_path: Path) -> None:
    clock = ManualClock()
    async with at_work(tmp_path, clock=clock) as (stage, client):
        order = order_of(stage)
        first = await place(client, order)
        refused = await place(client, order_of(stage, 501), "no")
        key, agent_id = stage.key, stage.agent_id
    async with at_work(tmp_path, clock=clock, key=key, agent_id=agent_id) as (stage, client):
        again = await place(client, order)
        assert (again.content, stage.agent.trades_count) == (first.content, 1)
        assert (await place(client, order | {"amount": 501}, "no")).content == refused.content
        assert (await place(client, order | {"amount": 7})).status_code == 409
        # A paused tape stays where it is: the market is open still.
        await asleep(clock, KEPT_S - 1)
        assert (await place(client, order)).content == first.content
        await asleep(clock, 1.0)
        later = await place(client, order | {"amount": 7})
        assert later.json()["trade_id"] == "t2"
        assert (await place(client, order | {"amount": 7})).content == later.content


async def test_the_answer_of_a_handler_that_writes_nothing_is_remembered_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked_for: list[str] = []

    async def unsigned(asked: RequestContext) -> WireModel:
        asked_for.append(asked.agent.agent_id)
        return HealthBody(status="ok", timestamp=moment(asked.now), version=str(len(asked_for)))

    monkeypatch.setitem(app.ROUTES, PLACE_TRADE, unsigned)
    async with at_work(tmp_path) as (stage, client):
        answers = [(await place(client, order_of(stage))).json() for _ in range(3)]
        assert [one["version"] for one in answers] == ["1"] * 3
        assert (await place(client, order_of(stage), "other")).json()["version"] == "2"


async def test_answers_older_than_a_day_leave_the_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(store_module, "SNAPSHOT_ROWS", 3)
    async with at_work(tmp_path) as (stage, client):
        for day in range(4):
            for index in range(4):
                await place(client, order_of(stage, 1, index), f"{day} {index}")
            await asleep(stage.clock, KEPT_S)
            await stage.sim.service.world_store.advance(stage.clock.now())
        count = await stage.database.write(
            lambda one: one.execute("SELECT count(*) FROM idempotency").fetchone()[0]
        )
        assert stage.agent.trades_count == 16
        assert count <= 8


async def cut_off(call: Coroutine[Any, Any, object], after: int) -> None:
    """Let a call run for some turns of the loop, then stop listening to it."""
    async with asyncio.TaskGroup() as tasks:
        task = tasks.create_task(call)
        for _ in range(after):
            await asyncio.sleep(0)
        task.cancel()


@pytest.mark.parametrize("after", [0, 1, 2, 3, 4, 5, 6, 8, 10, 15])
async def test_a_call_that_is_cut_off_at_any_turn_is_carried_out_at_most_once(
    tmp_path: Path, after: int
) -> None:
    async with at_work(tmp_path) as (stage, client):
        await cut_off(place(client, order_of(stage)), after)
        again = await place(client, order_of(stage))
        assert again.json()["trade_id"] == "t1"
        assert stage.agent.trades_count == 1


async def limit_pages(stage: Stage, pages: int | None) -> None:
    """Let the database grow no more, as on a disk without room; None makes room."""

    def limit(connection: sqlite3.Connection) -> None:
        (now,) = connection.execute("PRAGMA page_count").fetchone()
        connection.execute(f"PRAGMA max_page_count={1_000_000 if pages is None else now + pages}")

    await stage.database.write(limit)


@contextmanager
def broken_disk() -> Generator[None]:
    """The system refuses every write of this process, at the COMMIT too."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


async def read_back(stage: Stage) -> None:
    with suppress(StorageError):
        await stage.sim.service.world_store.advance(stage.clock.now())


async def test_what_a_full_disk_refused_is_carried_out_by_the_repeat(tmp_path: Path) -> None:
    async with at_work(tmp_path) as (stage, client):
        await limit_pages(stage, 0)
        order = order_of(stage, reasoning=LONG)
        statuses = [(await place(client, order, f"k{index}")).status_code for index in range(30)]
        assert statuses[-1] == 503
        passed = statuses.count(200)
        await limit_pages(stage, None)
        await read_back(stage)
        again = [(await place(client, order, f"k{index}")) for index in range(30)]
        assert [one.json()["success"] for one in again] == [True] * 30
        replayed = [idempotency.REPLAYED in one.headers for one in again]
        assert replayed == [True] * passed + [False] * (30 - passed)
        assert stage.agent.trades_count == 30


class Life:
    """An agent that repeats what it did not hear of, on a machine where everything goes wrong."""

    def __init__(self, folder: Path, seed: int) -> None:
        self.rng = random.Random(seed)
        self.folder = folder
        self.path = folder / "0"
        self.clock = ManualClock()
        self.who: dict[str, str] = {}
        self.heard: dict[str, set[bytes]] = {}
        self.orders: dict[str, dict[str, Any]] = {}
        self.lives = 0
        self.refused = 0
        self.replayed = 0

    @asynccontextmanager
    async def living(self) -> AsyncGenerator[tuple[Stage, httpx.AsyncClient]]:
        async with at_work(self.path, clock=self.clock, **self.who) as (stage, client):
            self.who = {"key": stage.key, "agent_id": stage.agent_id}
            yield stage, client

    async def order(self, stage: Stage, client: httpx.AsyncClient, key: str) -> bool:
        if key not in self.orders:
            amount = self.rng.choice((1, 2, 501))
            why = LONG if self.rng.random() < 0.3 else ""
            other = order_of(stage, amount, self.rng.randrange(20), source=key, reasoning=why)
            self.orders[key] = other
        answer = await place(client, self.orders[key], key)
        assert answer.status_code in {200, 503}, answer.text
        if answer.status_code == 503:
            self.refused += 1
            return False
        self.replayed += idempotency.REPLAYED in answer.headers
        self.heard.setdefault(key, set()).add(answer.content)
        return True

    async def live(self, steps: int) -> None:
        """Some steps on one start of the service; then it ends, or the machine stops."""
        async with self.living() as (stage, client):
            for _ in range(steps):
                await self.step(stage, client, f"k{self.rng.randrange(12)}")
            with suppress(StorageError):
                await limit_pages(stage, None)
            if self.rng.random() < 0.5:
                return
            call = self.order(stage, client, f"k{self.rng.randrange(12)}")
            await cut_off(call, self.rng.randrange(16))
            with suppress(StorageError):
                await stage.database.write(lambda _: None)
            # What a machine that stops here leaves behind.
            self.lives += 1
            left = self.folder / str(self.lives)
            await asyncio.to_thread(shutil.copytree, self.path, left)
            self.path = left

    async def step(self, stage: Stage, client: httpx.AsyncClient, key: str) -> None:
        match self.rng.randrange(9):
            case 0:
                async with asyncio.TaskGroup() as tasks:
                    for _ in range(3):
                        tasks.create_task(self.order(stage, client, key))
            case 1:
                await cut_off(self.order(stage, client, key), self.rng.randrange(16))
            case 2:
                with suppress(StorageError):
                    await limit_pages(stage, self.rng.choice((0, 1, None)))
            case 3:
                with broken_disk():
                    await self.order(stage, client, key)
            case 4:
                await read_back(stage)
            case _:
                await self.order(stage, client, key)

    async def finish(self) -> tuple[dict[str, int], int]:
        """Every order until it is answered; then the trades by key, and the ledger's sum."""
        async with self.living() as (stage, client):
            for key in self.orders:
                for _ in range(2):
                    assert await self.order(stage, client, key)
            rows = (await client.get(TRADES.path, params={"limit": 200})).json()["trades"]
            counts = {key: sum(row["source"] == key for row in rows) for key in self.orders}
            assert len(rows) == sum(counts.values()) == stage.agent.trades_count
            return counts, stage.world.ledger.total()


@pytest.mark.parametrize("seed", range(8))
async def test_repeats_crashes_and_a_failing_disk_never_trade_twice(
    tmp_path: Path, seed: int
) -> None:
    life = Life(tmp_path, seed)
    for _ in range(4):
        await life.live(12)
    counts, total = await life.finish()
    assert total == 0
    assert counts
    assert life.refused > 0
    assert life.replayed > len(counts)
    for key, order in life.orders.items():
        # One answer to all that were heard, whenever; and a trade where it says so.
        assert len(life.heard[key]) == 1, key
        succeeded = json.loads(next(iter(life.heard[key])))["success"]
        assert succeeded == (order["amount"] < 501)
        assert counts[key] == int(succeeded)
