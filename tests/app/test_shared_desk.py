"""Two processes on one world in PostgreSQL: one leads, and what becomes of that."""

import asyncio
import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import httpx
import pytest

from kit.engine.recorded import BEGIN, DAY, write
from kit.engine.topics import TOPICS
from kit.service.certificates import certificate
from kit.service.line import Line
from kit.service.postgres import Postgres, leading, postgres
from kit.service.stage import ANSWER_S, OPERATOR, open_stage
from service_tui.app.options import Options
from service_tui.app.shared_desk import AGAIN_S
from service_tui.cli import main as cli
from service_tui.credentials.api_keys import stored_desk_keys
from service_tui.server.books import books_of
from service_tui.storage.db.lock import LOCK_FILE
from service_tui.storage.shared.connection import WorldPlace, connect
from service_tui.wire.endpoints.desk import STEP
from service_tui.wire.endpoints.public import MARKETS, PLACE_TRADE, POSITIONS

pytestmark = pytest.mark.process

START_S = 120
WORLD = "trial"


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as found:
        return int(found.getsockname()[1])


@dataclass
class Process:
    """A running `service-tui serve --database`."""

    folder: Path
    url: str
    port: int = field(default_factory=free_port)
    ops: int = field(default_factory=free_port)
    words: tuple[str, ...] = ()
    running: asyncio.subprocess.Process | None = None
    said: list[str] = field(default_factory=list)

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    async def start(self) -> None:
        kept = {name: os.environ[name] for name in ("PATH", "PYTHONPATH") if name in os.environ}
        self.running = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "service_tui", "serve", "--data-dir", str(self.folder)),
            *("--port", str(self.port), "--ops-port", str(self.ops), "--world", WORLD),
            *("--limits", "off", "--seed", "7", *self.words),
            env={**kept, "HOME": str(self.folder), "SERVICE_TUI_DATABASE": self.url},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )

    async def until(self, word: str) -> None:
        assert self.running is not None
        assert self.running.stdout is not None
        async with asyncio.timeout(START_S):
            while True:
                line = (await self.running.stdout.readline()).decode().rstrip()
                assert line, self.said
                self.said.append(line)
                if line.startswith(word):
                    return

    def send(self, number: signal.Signals) -> None:
        assert self.running is not None
        self.running.send_signal(number)

    async def gone(self) -> int:
        assert self.running is not None
        async with asyncio.timeout(START_S):
            code = await self.running.wait()
        self.running = None
        return code


@asynccontextmanager
async def desk(path: Path, *words: str) -> AsyncGenerator[tuple[Postgres, Process, Process]]:
    """A database, a leader and a process that stands by."""
    server = Postgres()
    first, second = (Process(path / name, server.url, words=words) for name in ("first", "second"))
    try:
        await first.start()
        await first.until("leading")
        await second.start()
        await second.until("standing by")
        yield server, first, second
    finally:
        for each in (first, second):
            if each.running is not None:
                each.send(signal.SIGKILL)
                await each.gone()
        server.close()


@dataclass
class Agent:
    """An agent that trades, and repeats an order by its own key until it is answered."""

    http: httpx.AsyncClient
    market: str = ""
    bought: float = 0.0
    placed: int = 0

    async def register(self, address: str) -> None:
        reply = await self.http.post(f"{address}/api/sdk/agents/register", json={"name": "heron"})
        self.http.headers["Authorization"] = f"Bearer {reply.json()['api_key']}"
        markets = await self.http.get(f"{address}/api/sdk/markets", params={"limit": 1})
        self.market = markets.json()["markets"][0]["id"]

    async def buy(self, address: str) -> None:
        """Buy once, however often it has to be asked."""
        self.placed += 1
        key = {"Idempotency-Key": f"order {self.placed}"}
        order = {"market_id": self.market, "side": "yes", "amount": 1, "venue": "sim"}
        async with asyncio.timeout(START_S):
            while (shares := await self._answer(address, order, key)) is None:  # noqa: ASYNC110 - another process answers
                await asyncio.sleep(0.05)
        self.bought += shares

    async def _answer(
        self, address: str, order: dict[str, object], key: dict[str, str]
    ) -> float | None:
        """The shares bought; None where nobody answered for certain."""
        try:
            reply = await self.http.post(f"{address}/api/sdk/trade", json=order, headers=key)
        except httpx.TransportError:
            return None
        assert reply.status_code in {200, 502, 503}, reply.text
        return reply.json()["shares_bought"] if reply.status_code == 200 else None

    async def _positions(self, address: str) -> httpx.Response:
        return await self.http.get(f"{address}/api/sdk/positions")

    async def held(self, address: str) -> float:
        """The shares held, by a process that has a leader or a copy."""
        async with asyncio.timeout(START_S):
            while (reply := await self._positions(address)).status_code == 503:  # noqa: ASYNC110 - another process
                await asyncio.sleep(0.05)
        return float(reply.json()["positions"][0]["shares_yes"])


async def without_follower(agent: Agent, *both: Process) -> Process:
    """Kill the follower, which is nothing to the leader; returns that."""
    for each in both:
        await ready_of(agent.http, each)
    roles = {(await figures_of(agent.http, each))[0]: each for each in both}
    leader, follower = roles["leading"], roles["standing by"]
    follower.send(signal.SIGKILL)
    await follower.gone()
    await agent.buy(leader.address)
    assert await agent.held(leader.address) == pytest.approx(agent.bought)
    return leader


@pytest.mark.slow
async def test_the_lead_passes_on_and_no_trade_is_lost_or_doubled(tmp_path: Path) -> None:
    async with desk(tmp_path) as (server, first, second):
        async with httpx.AsyncClient(timeout=ANSWER_S) as http:
            agent = Agent(http)
            await agent.register(second.address)
            for each in (first, second):
                await agent.buy(each.address)
            assert await figures_of(http, first) == ("leading", 200, 1, 1)
            assert await ready_of(http, second) == ("standing by", 200, 0, 0)
            # The leader is killed: the other one leads, and answers at once.
            first.send(signal.SIGKILL)
            await first.gone()
            await agent.buy(second.address)
            await second.until("leading")
            await first.start()
            await first.until("standing by")
            assert await figures_of(http, second) == ("leading", 200, 2, 1)
            # The leader stands still: it is replaced, and what it does afterwards counts nothing.
            second.send(signal.SIGSTOP)
            await agent.buy(first.address)
            await first.until("leading")
            second.send(signal.SIGCONT)
            await second.until("the lead ended")
            await second.until("standing by")
            await agent.buy(second.address)
            # The database dies and comes back: nobody answers meanwhile, and somebody leads after.
            server.stop(signal.SIGKILL)
            server.start()
            await agent.buy(first.address)
            assert await agent.held(first.address) == pytest.approx(agent.bought)
            # Either one reads what was written by the other: from its copy, or by the leader.
            assert await agent.held(second.address) == pytest.approx(agent.bought)
            leader = await without_follower(agent, first, second)
        leader.send(signal.SIGTERM)
        assert await leader.gone() == 0
        assert not server_said_words(first.said + second.said, server.url)
        check_journal(WorldPlace(server.url, WORLD), tmp_path)


STEPS_S = (6 * 3_600, 5 * 3_600, 36 * 3_600, 3 * 86_400)
KILLED_AT = 1
"""A world on a history, in steps by hand: before which of them the leader is killed."""

WALL_TIMES = frozenset({"created_at", "updated_at"})
EVERY = {"limit": 500, "status": "all", "tradeable_only": "false"}

Json = dict[str, Any]


@pytest.mark.slow
@pytest.mark.process
async def test_a_planned_end_cuts_no_connection_that_is_in_use(tmp_path: Path) -> None:
    async with desk(tmp_path) as (_, first, second), asyncio.TaskGroup() as tasks:
        callers = [tasks.create_task(last_answer(first.address)) for _ in range(8)]
        await asyncio.sleep(0.5)
        first.send(signal.SIGTERM)
        ends = [await one for one in callers]
        assert await first.gone() == 0
        assert [(status, says) for status, says in ends] == [(503, "close")] * 8
        await second.until("leading")


async def last_answer(address: str) -> tuple[int, str]:
    """Call on one connection without a pause until it is hung up on; a cut one is an error."""
    limits = httpx.Limits(max_connections=1)
    async with httpx.AsyncClient(limits=limits, timeout=START_S) as http:
        while True:
            reply = await http.get(f"{address}/api/sdk/health")
            if "connection" in reply.headers:
                return reply.status_code, reply.headers["connection"]
            await asyncio.sleep(0.01)


def as_traded(answer: Json) -> list[Json]:
    """Markets with their prices and books, without what the clock on the wall says."""
    return sorted(
        (
            {name: value for name, value in one.items() if name not in WALL_TIMES}
            for one in answer["markets"]
        ),
        key=lambda one: str(one["id"]),
    )


async def uninterrupted(folder: Path, recorded: Options) -> list[list[Json]]:
    """The markets of one world that runs on, after each step; an agent buys before the first."""
    async with open_stage(folder, recorded=recorded, speed=0) as stage:
        line, operator = Line(stage, stage.key), Line(stage, OPERATOR)
        first = (await line.said(MARKETS, limit=1))["markets"][0]["id"]
        order = {"market_id": first, "side": "yes", "amount": 1, "venue": "sim"}
        await line.said(PLACE_TRADE, json=order)
        found = list[list[Json]]()
        for seconds in STEPS_S:
            await operator.said(STEP, json={"seconds": seconds})
            found.append(as_traded(await line.said(MARKETS, **EVERY)))
        return found


async def stepped(http: httpx.AsyncClient, address: str, seconds: int, operator: str) -> list[Json]:
    """The markets after a step."""
    keyed = {"Authorization": f"Bearer {operator}"}
    moved = await http.post(f"{address}{STEP.path}", json={"seconds": seconds}, headers=keyed)
    assert moved.status_code == 200, moved.text
    reply = await http.get(f"{address}{MARKETS.path}", params=EVERY)
    return as_traded(reply.json())


@pytest.mark.slow
async def test_who_takes_over_a_history_goes_on_as_if_nobody_had_died(tmp_path: Path) -> None:
    begin = datetime.fromtimestamp(BEGIN + 3 * DAY, UTC).isoformat()
    for name in ("first", "second", "alone"):
        recorded = replace(write(tmp_path / name, 3, 4), history_from=begin)
    expected = await uninterrupted(tmp_path / "world", recorded)
    words = ("--history", "two", "--from", begin, "--speed", "0")
    found = list[list[Json]]()
    async with (
        desk(tmp_path, *words) as (_, first, second),
        httpx.AsyncClient(timeout=ANSWER_S) as http,
    ):
        agent = Agent(http)
        await agent.register(first.address)
        await agent.buy(first.address)
        keys = stored_desk_keys(first.folder)
        assert keys is not None
        for seconds in STEPS_S[:KILLED_AT]:
            found.append(await stepped(http, first.address, seconds, keys.operator))
        first.send(signal.SIGKILL)
        await first.gone()
        await second.until("leading")
        assert await agent.held(second.address) == pytest.approx(agent.bought)
        for seconds in STEPS_S[KILLED_AT:]:
            found.append(await stepped(http, second.address, seconds, keys.operator))
    assert any(one.get("best_bid") for one in expected[KILLED_AT])
    assert {one["status"] for one in expected[-1]} > {"resolved"}
    assert found == expected


def check_journal(place: WorldPlace, path: Path) -> None:
    """No two leaders wrote in turns, and the books add up."""
    with connect(place, "test") as raw:
        rows = raw.execute(b"SELECT epoch FROM journal ORDER BY seq").fetchall()
        leaders = raw.execute(b"SELECT epoch FROM leaders ORDER BY epoch").fetchall()
    assert rows == sorted(rows)
    assert len(leaders) >= 4
    with leading(place, path) as database:
        books = books_of(database, TOPICS)
    assert books is not None
    assert books.problem == ""


async def ready_of(http: httpx.AsyncClient, process: Process) -> tuple[str, int, int, int]:
    """The same, once the process is ready: a follower needs a moment for its copy."""
    async with asyncio.timeout(START_S):
        while (found := await figures_of(http, process))[1] != 200:  # noqa: ASYNC110 - another process
            await asyncio.sleep(0.02)
    return found


async def figures_of(http: httpx.AsyncClient, process: Process) -> tuple[str, int, int, int]:
    """Role, readiness, epoch and whether it leads, as a process shows them of itself."""
    address = f"http://127.0.0.1:{process.ops}"
    ready = await http.get(f"{address}/readyz")
    lines = dict(
        line.rsplit(" ", 1)
        for line in (await http.get(f"{address}/metrics")).text.splitlines()
        if not line.startswith("#")
    )
    epoch, leads = (int(float(lines[f"service_tui_{name}"])) for name in ("epoch", "leads"))
    return ready.json()["role"], ready.status_code, epoch, leads


def server_said_words(lines: list[str], url: str) -> list[str]:
    """Lines that show the whole address, which may hold a password."""
    return [line for line in lines if url in line]


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (("--database", "sqlite:///x"), "no address of a database"),
        (("--database", "postgresql://d:hush@127.0.0.1:1/x"), "does not answer"),
        (("--database", "postgresql://d:hush@127.0.0.1:1/x", "--world", "A b"), "no name of"),
    ],
)
async def test_a_database_that_cannot_be_used_is_one_line(
    tmp_path: Path, words: tuple[str, ...], reason: str
) -> None:
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "service_tui", "serve", "--data-dir", str(tmp_path / "d"), *words),
        env={**os.environ, "HOME": str(tmp_path)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    out, err = await process.communicate()
    assert (process.returncode, out) == (1, b"")
    said = err.decode()
    assert reason in said
    assert said.count("\n") == 1
    assert "hush" not in said
    assert not (tmp_path / "d" / LOCK_FILE).exists() or reason == "does not answer"


async def test_a_lead_that_fails_at_once_is_tried_again_after_a_pause(tmp_path: Path) -> None:
    server = Postgres()
    process = Process(tmp_path / "one", server.url)
    place = WorldPlace(server.url, WORLD)
    try:
        await process.start()
        await process.until("leading")
        process.send(signal.SIGTERM)
        assert await process.gone() == 0
        with connect(place, "test") as raw:
            raw.execute(b"UPDATE journal SET body = 'torn'")
            raw.execute(b"DELETE FROM snapshots")
        await process.start()
        for _ in range(3):
            await process.until("the lead ended")
        process.send(signal.SIGTERM)
        assert await process.gone() == 0
        with connect(place, "test") as raw:
            # Two pauses at least lie between the three leads, by the server's own clock.
            (paused,) = raw.execute(
                b"SELECT max(at) - min(at) >= make_interval(secs => %s) FROM leaders "
                b"WHERE epoch > 1",
                [2 * AGAIN_S],
            ).fetchall()[0]
        assert paused
    finally:
        server.close()


@pytest.mark.parametrize("where", ["ROLE desk", "DATABASE postgres"])
async def test_trades_that_were_answered_outlive_an_immediate_stop_of_the_database(
    tmp_path: Path, where: str
) -> None:
    server = Postgres("wal_writer_delay=10s")
    with connect(WorldPlace(server.url, WORLD), "test") as raw:
        raw.execute(f"ALTER {where} SET synchronous_commit = off".encode())
    process = Process(tmp_path / "one", server.url)
    try:
        await process.start()
        await process.until("leading")
        async with httpx.AsyncClient(timeout=START_S) as http:
            agent = Agent(http)
            await agent.register(process.address)
            for _ in range(5):
                await agent.buy(process.address)
            # As `pg_ctl stop -m immediate` does.
            server.stop(signal.SIGQUIT)
            server.start()
            assert await agent.held(process.address) == pytest.approx(agent.bought)
        process.send(signal.SIGTERM)
        assert await process.gone() == 0
    finally:
        server.close()


# -- db -----------------------------------------------------------------------------------------


async def traded(folder: Path) -> tuple[str, str, float]:
    """A world in a folder in which an agent bought: its key, its id, and its shares."""
    async with open_stage(folder) as stage:
        market = stage.open_markets()[0].market_id
        order = {"market_id": market, "side": "yes", "amount": 10, "venue": "sim"}
        bought = await Line(stage, stage.key).said(PLACE_TRADE, json=order)
        return stage.key, stage.agent_id, bought["shares_bought"]


async def holder_dir(folder: Path, key: str, agent_id: str) -> float:
    async with open_stage(folder, key=key, agent_id=agent_id) as stage:
        return (await Line(stage, key).said(POSITIONS))["positions"][0]["shares_yes"]


@pytest.mark.slow
def test_a_world_is_copied_into_the_database_and_back_row_by_row(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    source, back = tmp_path / "source", tmp_path / "back"
    key, agent_id, shares = asyncio.run(traded(source))
    monkeypatch.setenv("SERVICE_TUI_DATABASE", postgres().url)
    world = f"copied_{os.getpid()}"

    def db(*words: str) -> tuple[int, str]:
        code = cli.run(["db", *words, "--world", world, "--data-dir", str(tmp_path / "own")])
        out, err = capsys.readouterr()
        return code, out + err

    assert f"no world {world}; 'db migrate' makes it" in db("check")[1]
    code, said = db("copy", str(source), "database")
    assert (code, "both sides have the digest" in said) == (0, True), said
    code, said = db("check")
    # The server of the tests is quick at the price of a crash of its machine, and is told so.
    assert (code, "accounts add up at row" in said, said.count("PROBLEM")) == (1, True, 1)
    assert "PROBLEM fsync is off" in said
    # Neither side is ever written over.
    nothing = "service-tui: the target holds a world already; nothing was copied\n"
    assert db("copy", str(source), "database") == (1, nothing)
    code, said = db("copy", "database", str(back))
    assert code == 0, said
    assert "has a database already" in db("copy", "database", str(back))[1]
    assert "the word database" in db("copy", "a", "b")[1]
    assert asyncio.run(holder_dir(back, key, agent_id)) == shares


@pytest.mark.slow
async def test_people_and_agents_come_by_either_process_over_tls(tmp_path: Path) -> None:
    made = certificate(tmp_path / "tls", "localhost")
    names = ("--public-name", "localhost", "--public-name", "desk.example")
    tls = ("--tls-cert", str(made.cert), "--tls-key", str(made.key), *names)
    async with (
        desk(tmp_path, *tls) as (_, first, second),
        httpx.AsyncClient(verify=made.trusted(), timeout=ANSWER_S) as http,
    ):
        near, far = (f"https://localhost:{one.port}/api" for one in (first, second))
        key = json.loads((first.folder / "keys.json").read_text())["operator"]
        owner = {"Authorization": f"Bearer {key}"}
        for at, status in (("desk.example", 200), ("127.0.0.1", 403)):
            for one in (near, far):
                reply = await http.get(f"{one}/desk/audit", headers=owner | {"Host": at})
                assert reply.status_code == status, reply.text
        person = {"name": "ada", "role": "trader"}
        added = await http.post(f"{far}/desk/people", json=person, headers=owner)
        of_ada = {"Authorization": f"Bearer {added.json()['key']}"}
        invited = await http.post(f"{near}/desk/invitations", json={}, headers=owner)
        body = {"name": "heron", "invitation": invited.json()["code"]}
        answers = [await http.post(f"{far}/sdk/agents/register", json=body) for _ in range(2)]
        assert [one.status_code for one in answers] == [200, 403]
        first.send(signal.SIGKILL)
        await first.gone()
        await second.until("leading")
        mine = (await http.get(f"{far}/desk/me", headers=of_ada)).json()
        assert (mine["name"], mine["role"], mine["world"]) == ("ada", "trader", WORLD)
        assert (await http.get(f"{far}/desk/me", headers=owner)).json()["name"] == "owner"
        again = await http.post(f"{far}/sdk/agents/register", json=body)
        assert "used up" in again.json()["error"]
