"""Processes that follow a leader: what they answer, and what they never do."""

import asyncio
import json
import random
import re
from collections.abc import AsyncGenerator, Generator
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import httpx
import psycopg
import pytest
from starlette.applications import Starlette

from kit.engine.topics import TOPICS
from kit.engine.traders import Crowd
from kit.ports import until_closed
from kit.service.followed import (
    SETTINGS,
    CutLine,
    Followed,
    Trader,
    at_port,
    open_follower,
    open_leader,
    until_reached,
)
from kit.service.postgres import leading, new_place, postgres
from kit.service.stage import ANSWER_S, OPERATOR
from service_tui.app.edge import Edge, is_copied
from service_tui.app.options import Options
from service_tui.app.shared_desk import run_shared
from service_tui.clock import SystemClock
from service_tui.engine.codec import events as codec
from service_tui.engine.codec import snapshot
from service_tui.engine.tick import advance
from service_tui.engine.world import World
from service_tui.server.events.listeners import WAITING_MAX
from service_tui.server.following import FRESH_S, FollowingStore, caught_up, open_copy
from service_tui.server.http.entrance import Entrance
from service_tui.server.http.loopback import address_of, bind
from service_tui.server.routes.table import ROUTES
from service_tui.server.world_store import WorldStore, begin
from service_tui.storage.errors import DamagedRowsError, StorageError
from service_tui.storage.journal import JournalStore
from service_tui.storage.shared.connection import Raw, WorldPlace, connect
from service_tui.storage.shared.database import SharedDatabase
from service_tui.storage.shared.errors import NotLeadingError
from service_tui.storage.shared.feed import FEED_ROWS_MAX, JournalFeed
from service_tui.terms import Plan
from service_tui.units import Timestamp
from service_tui.wire.world_seq import LATEST, WORLD_SEQ

pytestmark = pytest.mark.process

AT = Timestamp(1_800_000_000.0)


@pytest.fixture
def place() -> WorldPlace:
    return new_place()


def text_of(world: World) -> str:
    return codec.dumps(snapshot.fields_of(world))


# -- the copy -----------------------------------------------------------------------------------


@dataclass
class Journal:
    """A keeper that writes, without a service, and random traders on its world."""

    store: WorldStore
    crowd: Crowd
    database: SharedDatabase

    @property
    def world(self) -> World:
        return self.store.world


@pytest.fixture
async def journal(place: WorldPlace, tmp_path: Path) -> AsyncGenerator[Journal]:
    world = World(7, AT, TOPICS)
    advance(world, AT)
    with leading(place, tmp_path) as database:
        store, crowd = await begin(database, world), Crowd(world, seed=6)
        await store.commit(crowd.gather())
        yield Journal(store, crowd, database)


@pytest.fixture
def feed(place: WorldPlace) -> Generator[JournalFeed]:
    found = JournalFeed(place)
    found.open()
    yield found
    found.close()


@pytest.mark.slow
async def test_a_follower_equals_its_leader_byte_for_byte_at_equal_rows(
    place: WorldPlace, tmp_path: Path, journal: Journal
) -> None:
    store, world, crowd = journal.store, journal.world, journal.crowd
    rng = random.Random(3)
    async with open_follower(place, tmp_path, lambda: None) as follower:
        for round_ in range(12):
            for _ in range(rng.randrange(1, 60)):
                await store.commit(crowd.operate())
            await store.commit(crowd.advance())
            if round_ == 7:
                await store.commit(world.change(world.agents["ada"], {"plan": Plan.FREE}, world.at))
            await until_reached(follower.copy, store.seq)
            assert follower.copy.store.seq == store.seq
            assert text_of(follower.copy.store.world) == text_of(world)
        assert world.resolved_count > 0
        assert follower.copy.store.world.ended == {}
        # One that begins at the newest snapshot comes to the same.
        await store.close(world.at)
        await store.commit(crowd.advance())
        async with open_follower(place, tmp_path, lambda: None) as later:
            await until_reached(later.copy, store.seq)
            assert text_of(later.copy.store.world) == text_of(world)
        # So does the one that leads from now on.
        await follower.stop()
        warm = follower.copy.store.hand_over()
        assert warm is not None
        warm = await caught_up(journal.database, warm)
        assert warm is not None
        assert (text_of(warm[0]), warm[1]) == (text_of(world), store.seq)
        with pytest.raises(StorageError, match="this copy of the world is over"):
            await follower.copy.store.on_disk()


@pytest.mark.slow
async def test_a_copy_that_misses_a_row_or_meets_a_former_leader_is_made_anew(
    place: WorldPlace, journal: Journal, feed: JournalFeed
) -> None:
    assert len(feed.rows_after(0)) == journal.store.seq
    with connect(place, "test") as raw:
        raw.execute(b"UPDATE journal SET epoch = 0 WHERE seq = 3")
        with pytest.raises(DamagedRowsError, match="former leader 0"):
            feed.rows_after(0)
        raw.execute(b"DELETE FROM journal WHERE seq = 2")
    with pytest.raises(DamagedRowsError, match="row 2 of the journal is missing"):
        feed.rows_after(1)
    # Nor does a process lead with such a copy.
    assert await caught_up(journal.database, (World(7, AT, TOPICS), 1)) is None


@pytest.mark.slow
async def test_a_follower_that_is_asked_to_write_refuses(
    place: WorldPlace, tmp_path: Path, journal: Journal, feed: JournalFeed
) -> None:
    reading = SharedDatabase(place, None, tmp_path / "world")
    async with open_copy(reading, feed, SystemClock(), SETTINGS) as copy:
        store = copy.store
        store.take(feed.rows_after(store.seq))
        before = text_of(store.world)
        for refused in (store.commit(()), store.advance(AT), store.play((AT, AT), {})):
            with pytest.raises(NotLeadingError, match="it writes nothing"):
                await refused
        with pytest.raises(NotLeadingError):
            store.check_whole()
        await read_everything(copy.app)
        assert text_of(store.world) == before == text_of(journal.world)
        store.check_following()
        # A handler that comes here in spite of it is refused.
        async with caller_of(copy.app) as http:
            reply = await http.post("/api/sdk/agents/register", json={"name": "heron"})
        assert reply.status_code == 503
        store.check_following()
        # One that has changed something before it asked costs the copy.
        changed = store.world.change(store.world.agents["ada"], {"plan": Plan.FREE}, AT)
        with pytest.raises(NotLeadingError, match="it writes nothing"):
            await store.commit(changed)
        with pytest.raises(StorageError, match="made anew"):
            await copy.follow()
        assert store.hand_over() is None
    with pytest.raises(StorageError, match="for reading only"):
        await reading.write(lambda _: None)
    reading.close()
    assert feed._raw is not None
    with pytest.raises(psycopg.errors.ReadOnlySqlTransaction):
        feed._raw.execute(b"DELETE FROM journal")
    assert JournalStore(journal.database).last_seq() == journal.store.seq


def caller_of(app: Starlette) -> httpx.AsyncClient:
    transport = httpx.ASGITransport(app, raise_app_exceptions=False)
    headers = {"Authorization": f"Bearer {OPERATOR}"}
    return httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1", headers=headers)


async def read_everything(app: Starlette) -> None:
    """Ask for every read that a follower answers."""
    async with caller_of(app) as http:
        for endpoint in ROUTES:
            path = re.sub(r"{\w+}", "ada", endpoint.path.replace("{venue}", "sim"))
            if endpoint.reads and is_copied(endpoint.path):
                reply = await http.get(path)
                assert reply.status_code < 500, (path, reply.text)


@pytest.mark.slow
async def test_a_follower_far_behind_answers_nothing_until_it_has_every_row(
    place: WorldPlace, tmp_path: Path, journal: Journal
) -> None:
    store, crowd = journal.store, journal.crowd
    async with open_follower(place, tmp_path, lambda: None) as follower:
        # A listener that reads nothing: it is told at the end that it has missed something.
        slow = follower.copy.store.events.subscribe(AT)
        events = crowd.register("eve")
        while len(events) <= WAITING_MAX + FEED_ROWS_MAX:
            events += crowd.operate()
        await store.commit(events)
        assert not await follower.copy.reaches(store.seq + 1)
        await until_reached(follower.copy, store.seq)
        assert text_of(follower.copy.store.world) == text_of(journal.world)
        slow.end()
        assert [body.kind async for body in slow] == ["reset"]


@pytest.mark.slow
async def test_a_person_who_ended_opens_no_copy_that_has_the_row_of_it(
    place: WorldPlace, tmp_path: Path
) -> None:
    async with (
        open_leader(place, tmp_path) as led,
        open_follower(place, tmp_path, lambda: led.address) as follower,
        httpx.AsyncClient(timeout=ANSWER_S, headers={"Authorization": f"Bearer {OPERATOR}"}) as own,
        httpx.AsyncClient(timeout=ANSWER_S) as ada,
    ):
        people = f"{led.address}/api/desk/people"
        made = await own.post(people, json={"name": "ada", "role": "owner"})
        ada.headers["Authorization"] = f"Bearer {made.json()['key']}"
        renew, begun, may = follower.copy._renew, asyncio.Event(), asyncio.Event()

        async def late() -> None:
            begun.set()
            await may.wait()
            await renew()

        await until_reached(follower.copy, led.seq)
        follower.copy._renew = late
        await own.post(f"{people}/end", json={"name": "ada"})
        await asyncio.wait_for(begun.wait(), ANSWER_S)
        for _ in range(2):
            answer = await ada.get(f"{follower.address}/api/desk/audit")
            assert answer.status_code == 401
            may.set()


# -- at the port --------------------------------------------------------------------------------


@asynccontextmanager
async def desk(place: WorldPlace, path: Path) -> AsyncGenerator[tuple[Followed, list[str], Trader]]:
    """A leader, the addresses of two followers, and an agent that joined by the first."""
    async with (
        open_leader(place, path) as led,
        open_follower(place, path, lambda: led.address) as one,
        open_follower(place, path, lambda: led.address) as other,
    ):
        trader = Trader()
        async with trader.http:
            await trader.join(one.address)
            yield led, [one.address, other.address], trader


def test_a_feed_that_is_closed_while_it_connects_leaves_no_line_open(place: WorldPlace) -> None:
    # As when a follower is told to end: the thread that connects is not interrupted.
    lines = list[Raw]()

    def late(place: WorldPlace, purpose: str) -> Raw:
        lines.append(connect(place, purpose))
        feed.close()
        return lines[0]

    feed = JournalFeed(place, connect=late)
    with pytest.raises(StorageError, match="closed"):
        feed.open()
    assert [line.closed for line in lines] == [True]


@pytest.mark.slow
async def test_who_wrote_reads_it_a_hundred_times_through_either_follower(
    place: WorldPlace, tmp_path: Path
) -> None:
    async with desk(place, tmp_path) as (led, (one, other), trader):
        led.asked.clear()
        for number in range(100):
            await trader.buy(one)
            # By the same process without a word, by another one with the row of the write.
            wanted = {} if number % 2 else {WORLD_SEQ: str(trader.seq)}
            shares, seq = await trader.held(one if number % 2 else other, **wanted)
            assert shares == pytest.approx(trader.bought)
            assert seq >= trader.seq
        # They were answered by the followers, but for what took longer than a moment.
        forwarded = led.asked.count("GET /api/sdk/positions")
        assert forwarded < 30, forwarded
        assert led.asked.count("POST /api/sdk/trade") == 100


@pytest.mark.slow
async def test_what_a_follower_cannot_answer_for_certain_the_leader_answers(
    place: WorldPlace, tmp_path: Path
) -> None:
    async with desk(place, tmp_path) as (led, (one, _), trader):
        await trader.buy(one)
        led.asked.clear()
        for word in (LATEST, str(led.seq + 10_000), "9" * 30, "-1"):
            await trader.held(one, **{WORLD_SEQ: word})
        reads = ["GET /api/sdk/positions"] * 4
        assert led.asked == reads
        # What the leader alone knows, an agent that nobody knows, and what is no path at all.
        for path, status in (("/api/sdk/health", 200), ("/api/sdk/nothing", 404)):
            assert (await trader.http.get(f"{one}{path}")).status_code == status
        wrong = {"Authorization": "Bearer sk_live_nobody"}
        reply = await trader.http.get(f"{one}/api/sdk/positions", headers=wrong)
        assert reply.status_code == 401
        # The published client: that an agent uses it is written down, once.
        seen = {"User-Agent": "x-sdk/1.2.3"}
        for _ in range(2):
            await trader.held(one, **seen)
            await asyncio.sleep(0.05)
        assert led.asked[4:] == [
            "GET /api/sdk/health", "GET /api/sdk/nothing", *["GET /api/sdk/positions"] * 2
        ]  # fmt: skip
        # A web page is refused by whoever is asked.
        page = {"Origin": "http://evil.test"}
        assert (await trader.http.get(f"{one}/api/sdk/markets", headers=page)).status_code == 403


@pytest.mark.slow
async def test_every_read_is_answered_through_a_follower_as_by_the_leader(
    place: WorldPlace, tmp_path: Path
) -> None:
    async with desk(place, tmp_path) as (led, (one, _), trader):
        await trader.buy(one)
        agent = trader.http.headers["Authorization"]
        for key in (agent, f"Bearer {OPERATOR}"):
            for endpoint in (found for found in ROUTES if found.reads):
                path = re.sub(r"{\w+}", "none", endpoint.path)
                headers = {"Authorization": key}
                mine, its = [
                    await trader.http.get(f"{address}{path}", headers=headers)
                    for address in (led.address, one)
                ]
                assert its.status_code == mine.status_code, (path, its.text)
                assert its.status_code < 500, (path, its.text)


@pytest.mark.slow
async def test_events_come_from_a_follower_and_go_on_at_another(
    place: WorldPlace, tmp_path: Path
) -> None:
    async with desk(place, tmp_path) as (led, (one, other), trader):
        led.asked.clear()
        last = await heard(one, trader, "fill", None)
        await trader.buy(one)
        # Whoever comes back to another process misses nothing.
        assert await heard(other, None, "fill", last) > last
        assert "GET /api/desk/events" not in led.asked


async def heard(address: str, buyer: Trader | None, kind: str, after: int | None) -> int:
    """The number of the first event of a kind; `buyer` buys once the stream is open."""
    headers = {"Authorization": f"Bearer {OPERATOR}"}
    if after is not None:
        headers["Last-Event-ID"] = str(after)
    url = f"{address}/api/desk/events"
    async with (
        httpx.AsyncClient(timeout=ANSWER_S) as http,
        http.stream("GET", url, headers=headers) as stream,
    ):
        async for line in stream.aiter_lines():
            if not line.startswith("data: "):
                continue
            body = json.loads(line.removeprefix("data: "))
            if body["kind"] == "ready" and buyer is not None:
                await buyer.buy(address)
            assert body["kind"] != "reset"
            if body["kind"] == kind:
                return int(body["seq"])
    raise AssertionError("the stream ended")


async def test_a_write_is_sent_once_and_the_caller_learns_whether_it_was() -> None:
    taken: list[bytes] = []

    async def hang_up(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        taken.append(await reader.readuntil(b"\r\n\r\n"))
        writer.close()

    server = await asyncio.start_server(hang_up, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    found = [f"http://127.0.0.1:{port}"]
    edge = Edge(lambda: found[0] if found else None)
    async with (
        until_closed(server),
        at_port(edge) as address,
        httpx.AsyncClient(timeout=ANSWER_S) as http,
    ):
        broken = await http.post(f"{address}/api/sdk/trade", json={})
        assert (broken.status_code, len(taken)) == (502, 1)
        assert "may have been carried out" in broken.json()["error"]
        assert "same Idempotency-Key" in broken.json()["fix"]
        read = await http.get(f"{address}/api/sdk/positions")
        assert (read.status_code, "nothing was changed" in read.text) == (503, True)
        server.close()
        await asyncio.sleep(0)
        for _ in range(2):
            unsent = await http.post(f"{address}/api/sdk/trade", json={})
            assert (unsent.status_code, unsent.headers["retry-after"]) == (503, "1")
            assert "nothing was sent" in unsent.json()["error"]
            found.clear()
        # A call that another process forwarded goes no further.
        found.append(address)
        circle = await http.post(f"{address}/api/sdk/trade", json={})
        assert (circle.status_code, "nothing was sent" in circle.text) == (503, True)
        large = await http.post(f"{address}/api/sdk/trade", content=b"x" * 300_000)
        assert large.status_code == 413
        assert len(taken) == 2
        await edge.aclose()


async def test_a_call_is_known_by_its_own_port_before_it_goes_on() -> None:
    async def nobody(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        taken.append(await reader.readline())
        writer.close()

    taken: list[bytes] = []
    server = await asyncio.start_server(nobody, "127.0.0.1", 0)
    leader = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    named = Entrance(frozenset({"desk.example"}), "https")
    async with until_closed(server), aclosing(Edge(lambda: leader)) as edge:
        async with at_port(edge) as address:
            for hosts in ("", "Host: localhost\r\nHost: 127.0.0.1\r\n", "Host: evil.test\r\n"):
                assert await status_of(address, hosts) in {400, 403}
        async with at_port(edge, entrance=named) as address:
            assert await status_of(address, "Host: localhost\r\n") == 403
            assert await status_of(address, "Host: desk.example\r\nOrigin: null\r\n") == 403
            assert taken == []
            assert await status_of(address, "Host: desk.example\r\n") == 502
    assert taken == [b"POST /api/desk/halt HTTP/1.1\r\n"]


async def status_of(address: str, hosts: str) -> int:
    """Of the answer to a call with these headers, to the letter."""
    host, port = address.removeprefix("https://").removeprefix("http://").split(":")
    reader, writer = await asyncio.open_connection(host, int(port))
    writer.write(f"POST /api/desk/halt HTTP/1.1\r\n{hosts}\r\n".encode())
    status = await reader.readline()
    writer.close()
    return int(status.split()[1])


async def test_what_waits_for_a_leader_that_stands_still_ends_with_its_lead() -> None:
    asked = asyncio.Event()

    async def say_nothing(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        asked.set()
        await reader.read()
        writer.close()

    server = await asyncio.start_server(say_nothing, "127.0.0.1", 0)
    edge = Edge(lambda: f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}")
    async with (
        until_closed(server),
        at_port(edge) as address,
        httpx.AsyncClient(timeout=ANSWER_S) as http,
        asyncio.TaskGroup() as tasks,
    ):
        waiting = tasks.create_task(http.post(f"{address}/api/sdk/trade", json={}))
        await asked.wait()
        edge.leader_changed()
        assert (await waiting).status_code == 502
        await edge.aclose()


async def until_said(said: dict[str, list[str]], name: str, word: str) -> None:
    """Wait for a line of a process that begins with a word; those before it are forgotten."""
    async with asyncio.timeout(ANSWER_S):
        while not any(one.startswith(word) for one in said[name]):  # noqa: ASYNC110 - another task says it
            await asyncio.sleep(0.02)
    said[name].clear()


@pytest.mark.slow
async def test_a_leader_whose_line_to_the_database_is_cut_answers_nothing_stale(
    place: WorldPlace, tmp_path: Path
) -> None:
    line = CutLine(postgres().folder)
    said: dict[str, list[str]] = {"cut": [], "whole": []}
    until = partial(until_said, said)
    ending, trader = asyncio.Event(), Trader()
    with bind() as one, bind() as other:
        cut, whole = address_of(one), address_of(other)
        async with line.at_port() as url, trader.http, asyncio.TaskGroup() as tasks:
            options = options_of(tmp_path / "cut", place.world, url)
            tasks.create_task(run_shared(options, one, ending, said["cut"].append))
            await until("cut", "leading")
            options = options_of(tmp_path / "whole", place.world, place.url)
            tasks.create_task(run_shared(options, other, ending, said["whole"].append))
            await until("whole", "standing by")
            await trader.join(whole)
            await trader.buy(cut)
            line.cut()
            await until("whole", "leading")
            await trader.buy(whole)
            await nothing_stale(trader, cut)
            line.is_cut = False
            await until("cut", "standing by")
            assert (await trader.held(cut))[0] == pytest.approx(trader.bought)
            await trader.buy(cut)
            assert (await trader.held(whole))[0] == pytest.approx(trader.bought)
            # The same happens to it as a follower: it lives on, and follows again.
            said["cut"].clear()
            line.cut()
            await until("cut", "waiting")
            line.is_cut = False
            await until("cut", "the database answers again")
            await trader.buy(cut)
            assert (await trader.held(cut))[0] == pytest.approx(trader.bought)
            ending.set()
    assert [row for row in epochs(place) if row > 2] == []


async def nothing_stale(trader: Trader, former: str) -> None:
    """A former leader answers nobody who has seen a row of the new one, and soon nobody at all."""
    seen = {WORLD_SEQ: str(trader.seq)}
    reply = await trader.http.get(f"{former}/api/sdk/positions", headers=seen)
    assert reply.status_code == 503, reply.text
    await asyncio.sleep(FRESH_S)
    for path in ("positions", "markets", "health"):
        reply = await trader.http.get(f"{former}/api/sdk/{path}")
        assert reply.status_code == 503, reply.text


def epochs(place: WorldPlace) -> list[int]:
    """Of the rows of the journal, which never fall."""
    with connect(place, "test") as raw:
        rows = [int(row[0]) for row in raw.execute(b"SELECT epoch FROM journal ORDER BY seq")]
    assert rows == sorted(rows)
    return rows


def options_of(folder: Path, world: str, url: str) -> Options:
    return Options(
        data_dir=folder, config_dir=folder, log_path=folder / "log", database=url, world=world,
        limits=False, speed=1, seed=7,
    )  # fmt: skip


def test_a_store_that_follows_has_no_way_to_write_but_those_that_refuse() -> None:
    """Whoever adds a way to write to the keeper has to think of followers."""
    ways = {name for name in vars(WorldStore) if not name.startswith("_")}
    reads = {
        "history", "history_of_all", "pasts_since", "seq", "written_seq", "rows_of_agents",
        "ends_before", "ends", "ends_after", "distrust", "close", "place", "acts",
    }  # fmt: skip
    assert ways - reads == {one for one in vars(FollowingStore) if not one.startswith("_")} - {
        "take",
        "hand_over",
        "check_following",
    }
