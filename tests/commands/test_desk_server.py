"""The MCP server of a desk as a client meets it: in a process of its own, beside a served desk."""

import asyncio
import json
import sys
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest
from mcp import Client
from mcp.client.stdio import StdioServerParameters

from kit.terminal.research import environment
from service_tui.app.options import Options
from service_tui.app.ownership import own_directory
from service_tui.clock import SystemClock
from service_tui.credentials.api_keys import stored_desk_keys
from service_tui.terms import Plan

pytestmark = [pytest.mark.process, pytest.mark.slow]

TOOLS = {"status", "needs", "fleet", "exposure", "why", "propose_buy"}
RUDE = "it \x1b[2Jrains \u202enow"


@dataclass
class Watched:
    """A served desk with two agents, of which `heron` asks before each buy."""

    data_dir: Path
    desk: httpx.AsyncClient
    heron: httpx.AsyncClient
    key: str
    market_id: str

    async def cash(self) -> float:
        return (await self.heron.get("/api/sdk/agents/me")).json()["balance"]

    async def held(self) -> list[dict[str, Any]]:
        return (await self.desk.get("/api/desk/held", params={"status": "all"})).json()["held"]


@asynccontextmanager
async def watched(path: Path) -> AsyncGenerator[Watched]:
    data_dir = path / "data"
    options = Options(
        data_dir, path / "config", path / "log", None, None, seed=7, speed=0, plan=Plan.PRO
    )
    async with own_directory(options, SystemClock()) as held:
        api_keys = stored_desk_keys(data_dir)
        assert api_keys is not None
        desk = httpx.AsyncClient(base_url=held.address, headers=bearer(api_keys.operator))
        heron = httpx.AsyncClient(base_url=held.address)
        async with desk, heron:
            body = {"name": "heron"}
            begun = (await heron.post("/api/sdk/agents/register", json=body)).json()
            heron.headers.update(bearer(begun["api_key"]))
            leash = f"/api/desk/agents/{begun['agent_id']}/leash"
            (await desk.post(leash, json={"mode": "ask", "threshold": 1})).raise_for_status()
            found = (await heron.get("/api/sdk/markets", params={"limit": 1})).json()["markets"]
            yield Watched(data_dir, desk, heron, begun["api_key"], found[0]["id"])


def bearer(key: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {key}"}


@asynccontextmanager
async def client_of(
    data_dir: Path, *words: str, env: Mapping[str, str] | None = None
) -> AsyncGenerator[Client]:
    server = StdioServerParameters(
        command=sys.executable,
        args=["-m", "service_tui", "mcp", *words],
        env=environment(data_dir, env),
    )
    async with Client(server, read_timeout_seconds=120) as client:
        yield client


async def answered(client: Client, tool: str, **given: Any) -> dict[str, Any]:
    said = await client.call_tool(tool, given)
    assert not said.is_error, said.content[0].text
    assert said.structured_content == json.loads(said.content[0].text)
    return said.structured_content


async def refused(client: Client, tool: str, **given: Any) -> str:
    said = await client.call_tool(tool, given)
    assert said.is_error, said.content[0].text
    return said.content[0].text


async def printed(data_dir: Path, *words: str) -> Any:
    """What a command prints with `--json`, beside the desk."""
    run = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "service_tui", *words, "--json", env=environment(data_dir), stdout=-1
    )
    shown, _ = await run.communicate()
    assert run.returncode == 0
    return json.loads(shown)


async def test_a_watcher_reads_what_the_commands_print_and_proposes_what_a_person_decides(
    tmp_path: Path,
) -> None:
    async with (
        watched(tmp_path) as on,
        client_of(on.data_dir, env={"SERVICE_API_KEY": on.key}) as client,
    ):
        assert {one.name for one in (await client.list_tools()).tools} == TOOLS
        cash = await on.cash()
        given = {"market_id": on.market_id, "side": "yes", "amount": 25.0, "reasoning": RUDE}
        asked = await answered(client, "propose_buy", **given)
        assert (asked["schema"], asked["waits"]) == ("service-tui/proposal/1", True)
        assert (await on.cash(), [one["status"] for one in await on.held()]) == (cash, ["waiting"])

        (need,) = (await answered(client, "needs", find="heron"))["rows"]
        assert (need["kind"], need["amount"]) == ("approve", 25.0)
        assert need["need"] == f"held {asked['request']}"
        why = await answered(client, "why", id=need["need"])
        links = {link["name"]: link for link in why["links"]}
        assert links["reasoning"]["values"][0]["value"] == "it rains now"
        assert "a person decides" in links["decision"]["missing"]

        for name in ("fleet", "exposure"):
            shown = await answered(client, name)
            assert (shown["schema"], shown["left_off"]) == (f"service-tui/{name}/1", 0)
            assert shown["rows"] == await printed(on.data_dir, name)
        rows = await answered(client, "fleet", limit=1)
        assert (len(rows["rows"]), rows["left_off"]) == (1, 1)
        status = await answered(client, "status")
        assert status["schema"] == "service-tui/status/1"
        assert status == await printed(on.data_dir, "status")

        path = f"/api/desk/held/{asked['request']}/approve"
        (await on.desk.post(path, json={})).raise_for_status()
        assert await on.cash() == pytest.approx(cash - 25.0)
        why = await answered(client, "why", id=asked["request"])
        decision = {one["label"]: one["value"] for one in why["links"][-1]["values"]}
        assert decision["state"] == "approved"
        trade = await answered(client, "why", id=decision["trade"])
        assert trade == await printed(on.data_dir, "why", decision["trade"])
        assert trade["title"].startswith("heron: buy YES ")


async def test_nothing_that_a_client_sends_trades_or_ends_the_server(tmp_path: Path) -> None:
    async with (
        watched(tmp_path) as on,
        client_of(on.data_dir, env={"SERVICE_API_KEY": on.key}) as client,
    ):
        cash = await on.cash()
        order = {"market_id": on.market_id, "side": "yes"}
        assert "ask nobody" in await refused(client, "propose_buy", **order, amount=1.0)
        assert "the parameters are" in await refused(client, "propose_buy", **order, amount=-1)
        assert "venue" in await refused(client, "propose_buy", **order, amount=9, venue="evm")
        nowhere = {"market_id": "nowhere", "side": "yes", "amount": 5.0}
        assert "market" in await refused(client, "propose_buy", **nowhere)
        assert "no trade or request" in await refused(client, "why", id="t999")
        assert "the tools are status" in await refused(client, "halt")
        for wrong in ({"limit": 0}, {"limit": 10**9}, {"find": "x" * 100_000}, {"more": 1}):
            assert "the parameters are find, limit" in await refused(client, "needs", **wrong)
        # A person who frees the agent lets it trade; what it proposes trades nothing all the same.
        me = (await on.heron.get("/api/sdk/agents/me")).json()["agent_id"]
        (await on.desk.delete(f"/api/desk/agents/{me}/leash")).raise_for_status()
        assert "ask nobody" in await refused(client, "propose_buy", **order, amount=25.0)
        assert await on.cash() == cash
        assert (await answered(client, "status"))["approvals"] == 0


@pytest.mark.parametrize(
    ("words", "env", "why"),
    [
        ((), {}, "proposing needs an agent's own key"),
        ((), {"SERVICE_API_KEY": "sk_live_" + "a" * 32}, "key"),
        (("--read-only",), None, "only reads"),
        ((), {"SERVICE_API_URL": "http://127.0.0.1:1"}, "names another service"),
    ],
    ids=["no key", "an unknown key", "read only", "the key of another service"],
)
async def test_without_a_key_of_this_desk_nothing_is_proposed(
    tmp_path: Path, words: tuple[str, ...], env: dict[str, str] | None, why: str
) -> None:
    async with watched(tmp_path) as on:
        given = {} if env == {} else {"SERVICE_API_KEY": on.key, **(env or {})}
        async with client_of(on.data_dir, *words, env=given) as client:
            order = {"market_id": on.market_id, "side": "yes", "amount": 25.0}
            assert why in await refused(client, "propose_buy", **order)
            assert await answered(client, "needs")
        assert await on.held() == []


async def test_a_desk_that_nobody_serves_is_read_and_gets_no_proposal(tmp_path: Path) -> None:
    async with client_of(
        tmp_path / "data", "--speed", "0", env={"SERVICE_API_KEY": "sk_live_" + "a" * 32}
    ) as client:
        assert (await answered(client, "status"))["cash"] == 10_000.0
        assert await answered(client, "exposure") == {
            "schema": "service-tui/exposure/1", "rows": [], "left_off": 0
        }  # fmt: skip
        said = await refused(client, "propose_buy", market_id="m", side="no", amount=5.0)
        assert "nothing was sent" in said


async def test_a_desk_that_cannot_be_read_is_told_in_a_sentence_and_the_server_stays(
    tmp_path: Path,
) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "desk.sqlite3").write_text("mine " * 1000)
    async with client_of(tmp_path / "data", "--speed", "0") as client:
        said = await refused(client, "status")
        assert "Traceback" not in said
        assert len(said) < 500
        assert said == await refused(client, "why", id="t1")
