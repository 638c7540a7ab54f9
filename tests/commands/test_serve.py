"""The service in a process of its own, and who finds it there."""

import asyncio
import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from datetime import datetime, timedelta
from pathlib import Path
from stat import S_IMODE

import httpx
import pytest

from kit.service.stage import ANSWER_S
from service_tui.app import live
from service_tui.app.attached import STARTING_S, HolderTransport, address_of
from service_tui.app.first_state import first_state
from service_tui.app.options import BESIDE, Options
from service_tui.app.start import open_desk
from service_tui.commands.serve import Turn, turn_beside
from service_tui.console.closed_desk import DeskClosedError
from service_tui.credentials.api_keys import stored_desk_keys
from service_tui.desk.commands.trading import PlaceTrade
from service_tui.desk.desk import Desk
from service_tui.desk.slices.service import Phase
from service_tui.desk.slices.tickets import TicketState
from service_tui.desk.state import DeskState
from service_tui.storage.cached_state import has_open_tickets
from service_tui.storage.db.connection import DATABASE_FILE
from service_tui.storage.db.lock import LOCK_FILE, DataDirLock, holder_of
from service_tui.terms import Action, Side, Venue, WalletKind
from service_tui.units import ONE, Micros, decimal
from service_tui.wire.desk import DeskAgentPatch
from service_tui.wire.endpoints.desk import DESK_CLAIM, DESK_PATCH_AGENT
from service_tui.wire.endpoints.public import PATCH_SETTINGS, PLACE_TRADE, SET_MONITOR
from service_tui.wire.monitors import MonitorRequest
from service_tui.wire.settings import SettingsPatch
from service_tui.wire.trades import TradeRequest

pytestmark = pytest.mark.process


START_S = 120
END_S = 60
"""Five seconds by F-23, on a machine that does nothing else; what never ends fails either way."""


class Served:
    """A running `service-tui serve`."""

    def __init__(self, process: asyncio.subprocess.Process, address: str, said: list[str]) -> None:
        self.process = process
        self.address = address
        self.said = said

    async def end(self, number: int = signal.SIGTERM) -> tuple[int, str]:
        self.process.send_signal(number)
        async with asyncio.timeout(END_S):
            _, err = await self.process.communicate()
        assert self.process.returncode is not None
        return self.process.returncode, err.decode()


def environment(path: Path) -> dict[str, str]:
    kept = {name: os.environ[name] for name in ("PATH", "PYTHONPATH") if name in os.environ}
    return kept | {"HOME": str(path)}


async def start(path: Path, *words: str) -> asyncio.subprocess.Process:
    return await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "service_tui", "serve", "--data-dir", str(path / "data")),
        *("--seed", "7", *words),
        env=environment(path),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )


@asynccontextmanager
async def served(path: Path, *words: str) -> AsyncGenerator[Served]:
    process = await start(path, *words)
    try:
        said: list[str] = []
        async with asyncio.timeout(START_S):
            assert process.stdout is not None
            while not said or not said[-1].endswith("ctrl+c ends this"):
                line = (await process.stdout.readline()).decode()
                assert line, (await process.stderr.read()).decode() if process.stderr else ""
                said.append(line.rstrip())
        yield Served(process, said[0].removeprefix("serving "), said)
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()


async def registered(address: str, name: str = "heron") -> str:
    async with httpx.AsyncClient(timeout=ANSWER_S) as http:
        reply = await http.post(f"{address}/api/sdk/agents/register", json={"name": name})
    assert reply.status_code == 200
    return str(reply.json()["api_key"])


async def who_am_i(address: str, key: str) -> tuple[str, float]:
    async with httpx.AsyncClient(
        headers={"Authorization": f"Bearer {key}"}, timeout=ANSWER_S
    ) as http:
        reply = (await http.get(f"{address}/api/sdk/agents/me")).json()
    return reply["agent_id"], reply["balance"]


def options(path: Path, **changes: object) -> Options:
    return Options(path / "data", path / "config", path / "log", **{"seed": 7, **changes})


async def seen(desk: Desk, is_so: object, within_s: float = START_S) -> DeskState:
    assert callable(is_so)
    async with asyncio.timeout(within_s):
        async for state in desk.changes():
            if is_so(state):
                return state
    raise AssertionError("the changes of a desk never end")


def ready(state: DeskState) -> bool:
    return bool(state.service.phase is Phase.ONLINE and state.account and state.limits) and (
        not state.from_cache and len(state.markets) > 60
    )


def an_order(state: DeskState) -> PlaceTrade:
    market = next(view for view in state.markets.values() if view.is_open)
    return PlaceTrade(market.market_id, Side.YES, Action.BUY, Venue.SIM, amount=Micros(25 * ONE))


async def first_link(address: str) -> str:
    """The claim link of an agent that registers as soon as the port answers."""
    async with httpx.AsyncClient(timeout=ANSWER_S) as http:
        for number in range(10_000):
            with suppress(httpx.TransportError):
                made = await http.post(
                    f"{address}/api/sdk/agents/register", json={"name": f"early {number}"}
                )
                return str(made.json()["claim_url"])
            await asyncio.sleep(0.005)
    raise AssertionError("nobody answers")


@pytest.mark.cold
async def test_the_first_claim_link_leads_to_the_port(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    address = f"http://127.0.0.1:{port}"
    async with asyncio.TaskGroup() as tasks:
        asking = tasks.create_task(first_link(address))
        async with served(tmp_path, "--port", str(port)) as service:
            assert (await asking).startswith(f"{address}/claim/")
            assert await service.end(signal.SIGTERM) == (0, "")


# -- the process --------------------------------------------------------------------------------


@pytest.mark.cold
async def test_it_serves_agents_until_it_is_ended_and_knows_them_the_next_time(
    tmp_path: Path,
) -> None:
    async with served(tmp_path, "--limits", "off", "--plan", "elite") as service:
        text = "\n".join(service.said)
        assert f"{service.address}/api/sdk/agents/register" in text
        assert "LIMITS ARE OFF" in text
        assert "elite" in text
        key = await registered(service.address)
        async with httpx.AsyncClient(
            headers={"Authorization": f"Bearer {key}"}, timeout=ANSWER_S
        ) as http:
            link = (await http.get(f"{service.address}/api/sdk/context")).json()["claim_url"]
        assert link.startswith(service.address)
        me = await who_am_i(service.address, key)
        held = json.loads((tmp_path / "data" / LOCK_FILE).read_text())
        assert (held["pid"], held["address"]) == (service.process.pid, service.address)
        assert S_IMODE((tmp_path / "data" / LOCK_FILE).stat().st_mode) == 0o600
        assert await service.end(signal.SIGTERM) == (0, "")
    assert holder_of(tmp_path / "data") is None
    async with served(tmp_path) as service:
        assert "LIMITS" not in "\n".join(service.said)
        assert await who_am_i(service.address, key) == me
        assert await service.end(signal.SIGINT) == (0, "")


async def test_a_collector_of_logs_gets_each_line_as_an_object(tmp_path: Path) -> None:
    process = await start(tmp_path, "--log-json", "--log-level", "info")
    assert process.stdout is not None
    async with asyncio.timeout(START_S):
        first = json.loads(await process.stdout.readline())
        while not first["message"].startswith("serving http://127.0.0.1:"):
            first = json.loads(await process.stdout.readline())
    assert (first["level"], first["logger"]) == ("info", "service_tui.commands.serve")
    assert datetime.fromisoformat(first["at"]).utcoffset() == timedelta(0)
    process.send_signal(signal.SIGTERM)
    async with asyncio.timeout(END_S):
        rest, err = await process.communicate()
    for line in rest.decode().splitlines():
        assert {*json.loads(line)} >= {"at", "level", "logger", "message"}
    assert (process.returncode, err) == (0, b"")
    # The file has them as ever.
    assert "serving http://127.0.0.1:" in (tmp_path / "data" / "service-tui.log").read_text()


async def test_it_ends_while_an_agent_hangs_on_its_line(tmp_path: Path) -> None:
    async with served(tmp_path) as service:
        host, _, port = service.address.removeprefix("http://").partition(":")
        _, writer = await asyncio.open_connection(host, int(port))
        writer.write(b"POST /api/sdk/trade HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Le")
        await writer.drain()
        assert await service.end(signal.SIGHUP) == (0, "")
        writer.close()


async def test_a_port_that_is_taken_is_one_line_and_status_1(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        process = await start(tmp_path, "--port", str(port))
        async with asyncio.timeout(START_S):
            out, err = await process.communicate()
    assert (process.returncode, out) == (1, b"")
    assert err.count(b"\n") == 1
    assert str(port).encode() in err
    assert b"--port" in err


async def test_a_holder_that_serves_nobody_is_named(tmp_path: Path) -> None:
    lock = DataDirLock.acquire(tmp_path / "data", pid=4711, now=1_700_000_000.0)
    process = await start(tmp_path)
    async with asyncio.timeout(START_S):
        out, err = await process.communicate()
    lock.release()
    assert (process.returncode, out) == (1, b"")
    assert err.count(b"\n") == 1
    for part in (b"process 4711", b"2023-11-1", b"--read-only", b"--data-dir"):
        assert part in err


# -- a second one -------------------------------------------------------------------------------


async def test_a_second_serve_leads_to_the_first_and_takes_over_from_it(tmp_path: Path) -> None:
    async with served(tmp_path) as first, served(tmp_path) as second:
        assert second.address != first.address
        assert f"process {first.process.pid} since" in "\n".join(second.said)
        key = await registered(second.address)
        before = await who_am_i(first.address, key)
        first.process.kill()
        await first.process.wait()
        async with asyncio.timeout(END_S * 2):
            while address_of(tmp_path / "data") != second.address:  # noqa: ASYNC110
                await asyncio.sleep(0.05)
        assert await who_am_i(second.address, key) == before
        assert await second.end() == (0, "")


@pytest.mark.slow
async def test_a_desk_attaches_to_the_holder_and_trades_there(tmp_path: Path) -> None:
    async with served(tmp_path, "--speed", "0") as service:
        asked = options(tmp_path, speed=60)
        before = (tmp_path / "data" / DATABASE_FILE).stat().st_ino
        async with live.local_desk(asked, first_state(asked)) as desk:
            state = await seen(desk, ready)
            assert state.service.attached
            assert not state.risk.executes
            assert state.service.address == service.address
            assert any("--seed, --speed not used" in said.text for said in state.notices)
            ticket = await desk.submit(an_order(state)).wait()
            assert ticket.state is TicketState.DONE
            bought = await seen(desk, lambda s: s.positions)
        assert (tmp_path / "data" / DATABASE_FILE).stat().st_ino == before
        assert (tmp_path / "data" / BESIDE / "1" / DATABASE_FILE).exists()
        assert S_IMODE((tmp_path / "data" / BESIDE).stat().st_mode) == 0o700
        api_keys = stored_desk_keys(tmp_path / "data")
        assert api_keys is not None
        async with httpx.AsyncClient(timeout=ANSWER_S) as http:
            reply = await http.get(
                f"{service.address}/api/sdk/portfolio",
                headers={"Authorization": f"Bearer {api_keys.agent}"},
            )
        assert reply.json()["sim"]["balance"] * ONE == bought.account.cash
        assert await service.end() == (0, "")


@pytest.mark.slow
async def test_a_breach_below_a_serve_is_exited_by_it_and_by_no_attached_desk(
    tmp_path: Path,
) -> None:
    asked = options(tmp_path)
    async with (
        served(tmp_path, "--speed", "60", "--limits", "off"),
        live.local_desk(asked, first_state(asked)) as one,
        live.local_desk(asked, first_state(asked)) as other,
    ):
        state = await seen(one, ready)
        patch = DeskAgentPatch(wallet=WalletKind.EXTERNAL)
        path = {"agent_id": state.account.agent_id}
        client = one.ports.client
        await client.call(DESK_PATCH_AGENT, path=path, body=patch)
        # What lies on sim the service exits itself: this lies on a real venue.
        await client.call(DESK_CLAIM, path=path)
        await client.call(PATCH_SETTINGS, body=SettingsPatch(sdk_real_trading_enabled=True))
        # Some of them end before this machine has looked, and some stand still: one is enough.
        bought: dict[str, float] = {}
        for market in [one for one in state.markets.values() if Venue.SOL in one.venues][:8]:
            named = {"market_id": market.market_id}
            order = TradeRequest(**named, side=Side.YES, amount=10, venue=Venue.SOL)
            done = (await client.call(PLACE_TRADE, body=order)).answer
            if done.success:
                bought[market.market_id] = done.shares_bought
                # So near that any move of the middle of its book reaches one of them.
                hair = MonitorRequest(side=Side.YES, stop_loss_pct=0.0001, take_profit_pct=0.0001)
                await client.call(SET_MONITOR, path=named, body=hair)
        assert bought
        for desk in (one, other):
            left = await seen(desk, lambda s: s.risk.exits)
            for gone in left.risk.exits:
                assert decimal(gone.shares) == bought[gone.market_id]
                assert not gone.by_service
            assert not left.risk.executes
        assert one.state.tickets == ()
        assert other.state.tickets == ()


@pytest.mark.slow
async def test_two_attached_desks_have_a_blotter_each(tmp_path: Path) -> None:
    async with served(tmp_path, "--speed", "0"):
        asked = options(tmp_path)
        async with (
            live.local_desk(asked, first_state(asked)) as one,
            live.local_desk(asked, first_state(asked)) as other,
        ):
            state = await seen(one, ready)
            await seen(other, ready)
            assert (await one.submit(an_order(state)).wait()).state is TicketState.DONE
            held = await seen(other, lambda s: s.positions)
            assert held.positions[0].cost == 25 * ONE
            assert len(one.state.tickets) == 1
            assert other.state.tickets == ()
        assert sorted(p.name for p in (tmp_path / "data" / BESIDE).iterdir()) == ["1", "2"]


@pytest.mark.slow
async def test_an_attached_desk_finds_the_next_holder_by_itself(tmp_path: Path) -> None:
    asked = options(tmp_path)
    async with (
        served(tmp_path, "--speed", "0") as first,
        live.local_desk(asked, first_state(asked)) as desk,
    ):
        known = await seen(desk, ready)
        first.process.kill()
        await first.process.wait()
        gone = await seen(desk, lambda s: s.service.phase is Phase.OFFLINE)
        assert gone.markets.keys() == known.markets.keys()
        assert "no program serves" in gone.service.problem
        failed = await desk.submit(an_order(gone)).wait()
        assert failed.state is TicketState.REFUSED
        async with served(tmp_path, "--speed", "0") as second:
            back = await seen(desk, lambda s: s.service.address == second.address)
            assert back.service.attached
            await seen(desk, lambda s: s.service.phase is Phase.ONLINE)


@pytest.mark.slow
async def test_an_attached_desk_takes_over_when_nobody_holds_the_directory(tmp_path: Path) -> None:
    asked = options(tmp_path, listen=0, speed=60)
    folder = tmp_path / "data"
    async with (
        served(tmp_path, "--speed", "0") as first,
        live.local_desk(asked, first_state(asked)) as one,
    ):
        key = await registered(first.address)
        async with live.local_desk(asked, first_state(asked)) as other:
            state = await seen(one, ready)
            await seen(other, ready)
            me = await who_am_i(first.address, key)
            first.process.kill()
            await first.process.wait()
            for desk in (one, other):
                now = await seen(desk, lambda s: s.service.address != first.address)
                await seen(desk, lambda s: s.service.phase is Phase.ONLINE)
                assert await who_am_i(now.service.address, key) == me
                assert (await desk.submit(an_order(state)).wait()).state is TicketState.DONE
            # One of the two holds, and the world is as it was left.
            assert sorted(d.state.service.attached for d in (one, other)) == [False, True]
            assert one.state.world.speed == 0
        # And when that one ends it is the other's turn.
        await seen(one, lambda s: not s.service.attached)
        await seen(one, lambda s: s.service.phase is Phase.ONLINE)
        holder = holder_of(folder)
        assert holder is not None
        assert (holder.pid, holder.address) == (os.getpid(), one.state.service.address)
        await seen(one, lambda s: len(s.trades) == 2)
    assert holder_of(folder) is None


@pytest.mark.slow
async def test_whoever_only_looks_may_stand_beside_a_holder_that_serves_nobody(
    tmp_path: Path,
) -> None:
    asked = options(tmp_path)
    async with served(tmp_path):
        pass
    lock = DataDirLock.acquire(tmp_path / "data", pid=4711, now=1_700_000_000.0)
    with pytest.raises(DeskClosedError, match=r"process 4711 since .*--read-only"):
        async with open_desk(asked, first_state(asked)):
            pass
    looking = options(tmp_path, read_only=True)
    async with live.local_desk(looking, first_state(looking)) as desk:
        state = await seen(desk, lambda s: s.service.phase is Phase.OFFLINE)
        assert state.service.read_only
    lock.release()


async def test_keys_go_to_no_address_but_the_holders_own(tmp_path: Path) -> None:
    """What a dead process left in the lock file leads nowhere, nor does another machine."""
    async with served(tmp_path) as service:
        left = (tmp_path / "data" / LOCK_FILE).read_text()
        service.process.kill()
        await service.process.wait()
    (tmp_path / "data" / LOCK_FILE).write_text(left)
    transport = HolderTransport(tmp_path / "data")
    with pytest.raises(httpx.ConnectError):
        await transport.handle_async_request(httpx.Request("GET", "http://holder.localhost/"))
    lock = DataDirLock.acquire(tmp_path / "data", pid=1, now=0.0)
    for published in ("http://192.0.2.1:80", "http://127.0.0.1:80@host", "file:///etc/passwd", ""):
        lock.publish(published)
        assert address_of(tmp_path / "data") is None
    lock.publish("http://127.0.0.1:8080")
    assert address_of(tmp_path / "data") == "http://127.0.0.1:8080"
    lock.release()


@pytest.mark.slow
async def test_orders_that_a_killed_console_left_open_are_looked_up_by_the_next(
    tmp_path: Path,
) -> None:
    code = (
        "import asyncio, sys; sys.path.insert(0, sys.argv[2])\n"
        "from pathlib import Path; from commands import test_serve\n"
        "asyncio.run(test_serve.die_in_doubt(Path(sys.argv[1])))"
    )
    async with served(tmp_path, "--speed", "0") as service:
        console = await asyncio.create_subprocess_exec(*(
            sys.executable,
            "-c",
            code,
            str(tmp_path),
            str(Path(__file__).parents[1]),
        ))
        async with asyncio.timeout(START_S):
            assert await console.wait() == -signal.SIGKILL
        beside = tmp_path / "data" / BESIDE / "1" / DATABASE_FILE
        assert has_open_tickets(beside)
        await service.end()
    asked = options(tmp_path)
    async with live.local_desk(asked, first_state(asked)) as desk:
        state = await seen(desk, lambda s: s.tickets and not s.tickets[0].in_flight)
        assert state.tickets[0].state is TicketState.DONE
        assert "order found" in state.tickets[0].outcome
    assert not has_open_tickets(beside)


async def die_in_doubt(path: Path) -> None:
    """An attached console that is killed between the answer and its note of it."""
    asked = options(path)
    async with live.local_desk(asked, first_state(asked)) as desk:
        state = await seen(desk, ready)

        async def die(*_: object, **__: object) -> None:
            os.kill(os.getpid(), signal.SIGKILL)

        desk.ports.blotter.settle = die  # type: ignore[method-assign]
        await desk.submit(an_order(state)).wait()


# -- a console that holds the directory ---------------------------------------------------------


@pytest.mark.slow
async def test_a_desk_that_holds_the_directory_serves_it(tmp_path: Path) -> None:
    asked = options(tmp_path, listen=0)
    async with live.local_desk(asked, first_state(asked)) as desk:
        state = await seen(desk, lambda s: s.service.address)
        assert not state.service.attached
        assert address_of(tmp_path / "data") == state.service.address
        await registered(state.service.address)
        async with live.local_desk(asked, first_state(asked)) as second:
            assert (await seen(second, ready)).service.attached
    assert holder_of(tmp_path / "data") is None


@pytest.mark.slow
async def test_a_desk_whose_port_is_taken_says_so_and_serves_at_another(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        asked = options(tmp_path, listen=port)
        async with live.local_desk(asked, first_state(asked)) as desk:
            state = await seen(desk, lambda s: s.service.address)
            assert str(port) not in state.service.address
            assert any(f"port {port} is in use" in notice.text for notice in state.notices)


@pytest.mark.parametrize(
    ("is_on_network", "is_served", "may_serve", "alone_s", "turn"),
    [
        (False, True, True, 0.0, Turn.STAND_BY),
        (False, True, False, 1e6, Turn.STAND_BY),
        (False, False, True, STARTING_S - 0.1, Turn.WAIT),
        (False, False, True, STARTING_S, Turn.END),
        (False, False, False, 0.0, Turn.END),
        (True, True, True, 0.0, Turn.END),
        (True, False, True, 0.0, Turn.END),
    ],
)
def test_beside_an_owner_a_service_stands_by_waits_or_ends(
    *, is_on_network: bool, is_served: bool, may_serve: bool, alone_s: float, turn: Turn
) -> None:
    found = turn_beside(
        is_on_network=is_on_network, is_served=is_served, may_serve=may_serve, alone_s=alone_s
    )
    assert found is turn
