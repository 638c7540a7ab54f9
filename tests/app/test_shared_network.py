"""Processes of a shared desk on every address of a machine, and where they reach each other."""

import asyncio
import os
import signal
import socket
import subprocess
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import psutil
import pytest

from kit.service.certificates import Certificate, certificate
from kit.service.postgres import Postgres
from kit.service.stage import ANSWER_S
from service_tui.app.network import NetworkError, check_network, entrance_on, with_address
from service_tui.app.options import Options
from service_tui.credentials.api_keys import stored_desk_keys

NAME = "desk.example"
ME = "/api/desk/me"
ANY = "0.0.0.0"  # noqa: S104 - what these tests are about
START_S = 120
LOCAL_DATABASE = "postgresql://desk@127.0.0.1/desk"


def options(path: Path, **given: Any) -> Options:
    return Options(data_dir=path, config_dir=path / "c", log_path=path / "log", **given)


@pytest.fixture
def made(tmp_path: Path) -> Certificate:
    return certificate(tmp_path / "tls", NAME)


# -- the address ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ({"address": ANY}, "--address is no name or address"),
        ({"address": "https://desk-1"}, "without scheme or port"),
        ({"address": "desk-1:8443"}, "without scheme or port"),
        ({"address": "desk-1", "database": None}, "--address is for a shared desk"),
        ({"address": "desk-1", "host": ""}, "--address is for a shared desk"),
        (
            {"address": "desk-1", "host": "127.0.0.1", "trusted_proxy": "127.0.0.1"},
            "listens on loopback, beside its proxy",
        ),
    ],
)
def test_an_address_at_which_nobody_is_reached_is_refused(
    tmp_path: Path, given: dict[str, Any], why: str
) -> None:
    whole = {"database": LOCAL_DATABASE, "host": ANY, "public_names": (NAME,), **given}
    with pytest.raises(NetworkError, match=why):
        check_network(options(tmp_path, **whole))


@pytest.mark.parametrize(
    "database", [LOCAL_DATABASE, "postgresql://desk@/desk?host=/run", "postgresql://desk@/desk"]
)
def test_beside_a_database_of_this_machine_the_address_is_asked_for(
    tmp_path: Path, database: str
) -> None:
    with pytest.raises(NetworkError, match="give --address NAME, another one for each process"):
        with_address(options(tmp_path, host=ANY, database=database))
    assert with_address(options(tmp_path, host=ANY)).address == ""
    assert with_address(options(tmp_path, host="10.0.0.7", database=database)).address == ""
    own = options(tmp_path, host=ANY, database=database, address="desk-1")
    assert with_address(own) == own


def test_the_way_to_the_database_gives_the_address(tmp_path: Path, made: Certificate) -> None:
    for number in own_addresses():
        database = f"postgresql://desk@{number}:5433/desk"
        given = options(
            tmp_path, host=ANY, database=database, public_names=(NAME,),
            tls_cert=made.cert, tls_key=made.key,
        )  # fmt: skip
        entrance = entrance_on(with_address(given), 8443)
        assert entrance.link == f"https://{number}:8443"
        assert entrance.address == f"https://{NAME}:8443"


def own_addresses() -> list[str]:
    """Of this machine, beside loopback; a machine without a network has none."""
    return [
        one.address
        for found in psutil.net_if_addrs().values()
        for one in found
        if one.family is socket.AF_INET and not one.address.startswith("127.")
    ][:1]


# -- the program ---------------------------------------------------------------------------


def free_port() -> int:
    with socket.create_server((ANY, 0)) as found:
        return int(found.getsockname()[1])


@dataclass
class Process:
    """A running `serve` on every address, and what it has said."""

    folder: Path
    url: str
    made: Certificate
    address: str
    port: int = field(default_factory=free_port)
    host: str = ANY
    running: asyncio.subprocess.Process | None = None
    said: list[str] = field(default_factory=list)

    async def start(self) -> None:
        kept = {name: os.environ[name] for name in ("PATH", "PYTHONPATH") if name in os.environ}
        self.running = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "service_tui", "serve", "--data-dir", str(self.folder)),
            *("--host", self.host, "--port", str(self.port), "--public-name", NAME),
            *("--address", self.address, "--invitations", "off", "--limits", "off"),
            *("--tls-cert", str(self.made.cert), "--tls-key", str(self.made.key), "--seed", "7"),
            env={**kept, "HOME": str(self.folder), "SERVICE_TUI_DATABASE": self.url},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )

    async def until(self, word: str) -> None:
        assert self.running is not None
        assert self.running.stdout is not None
        async with asyncio.timeout(START_S):
            while not (self.said and self.said[-1].startswith(word)):
                line = (await self.running.stdout.readline()).decode().rstrip()
                assert line, self.said
                self.said.append(line)

    async def end(self, how: signal.Signals) -> int:
        if self.running is None:
            return 0
        if self.running.returncode is None:
            self.running.send_signal(how)
        code, self.running = await self.running.wait(), None
        self.said.clear()
        return code

    async def call(self, method: str, path: str, key: str = "", **given: Any) -> httpx.Response:
        """A call by the public name, until somebody leads."""
        headers = {"Host": f"{NAME}:{self.port}"} | (
            {"Authorization": f"Bearer {key}"} if key else {}
        )
        async with (
            asyncio.timeout(START_S),
            httpx.AsyncClient(timeout=ANSWER_S, verify=self.made.trusted()) as http,
        ):
            while True:
                answer = await http.request(
                    method, f"https://127.0.0.1:{self.port}{path}", headers=headers, **given
                )
                if answer.status_code != 503:
                    return answer
                await asyncio.sleep(0.05)

    @property
    def operator(self) -> str:
        keys = stored_desk_keys(self.folder)
        assert keys is not None
        return keys.operator


@asynccontextmanager
async def pair(
    path: Path, made: Certificate, first: str, second: str, **given: Any
) -> AsyncGenerator[tuple[Process, Process]]:
    """A process that leads, and one that begins then; `given` is of both."""
    server = Postgres()
    both = (
        Process(path / "first", server.url, made, first, **given),
        Process(path / "second", server.url, made, second, **given),
    )
    if given:
        both[0].host, both[1].host = "127.0.0.2", "127.0.0.3"
    try:
        await both[0].start()
        await both[0].until("leading")
        await both[1].start()
        await both[1].until("standing by")
        yield both
    finally:
        for one in both:
            await one.end(signal.SIGKILL)
        server.close()


@pytest.mark.process
@pytest.mark.slow
async def test_two_on_every_address_reach_each_other_whoever_leads(
    tmp_path: Path, made: Certificate
) -> None:
    async with pair(tmp_path, made, "127.0.0.2", "127.0.0.3") as (first, second):
        # Either operator's key opens the desk, at either process.
        for one in (first, second):
            for other in (first, second):
                assert await role_of(one, other) == "owner"
        await registered(first, second)
        await first.end(signal.SIGKILL)
        await second.until("leading")
        await first.start()
        await first.until("standing by")
        await registered(first, second)
        halted = await first.call("POST", "/api/desk/halt", first.operator, json={})
        assert halted.status_code == 200, halted.text


async def role_of(one: Process, at: Process) -> str:
    """Of the operator's key of a process, once the leader has learnt of it by a beat."""
    async with asyncio.timeout(START_S):
        while (me := await at.call("GET", ME, one.operator)).status_code == 401:  # noqa: ASYNC110 - another process
            await asyncio.sleep(0.1)
    return str(me.json()["role"])


async def registered(*processes: Process) -> None:
    for one in processes:
        born = await one.call("POST", "/api/sdk/agents/register", json={"name": "heron"})
        assert born.status_code == 200, born.text


@pytest.mark.process
@pytest.mark.slow
async def test_a_process_that_would_forward_to_itself_does_not_start(
    tmp_path: Path, made: Certificate
) -> None:
    given = {"port": free_port()}
    async with pair(tmp_path, made, "127.0.0.9", "127.0.0.9", **given) as (first, second):
        # Each listens at an address of its own, as in a network of its own.
        await second.until("service-tui: ")
        assert f"and says that it is reached at https://127.0.0.9:{first.port}" in second.said[-1]
        assert second.said[-1].endswith("give each process of the desk its own --address")
        assert second.running is not None
        assert await second.running.wait() == 1
