"""Access: keys, origins, malformed requests, and refusals."""

import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import httpx
import pytest
from starlette.datastructures import Headers

from kit.clock import leap
from kit.service.stage import ANSWER_S, OPERATOR, Stage, open_stage
from service_tui.engine.codec.events import dumps
from service_tui.engine.codec.snapshot import fields_of
from service_tui.server.embedded import BASE_URL
from service_tui.server.http.access import (
    BODY_MAX,
    KEY_MAX,
    Access,
    check_own,
    hash_of,
    key_of,
    new_key,
)
from service_tui.server.http.loopback import listen
from service_tui.server.http.people.roster import Person
from service_tui.server.http.refusals import Denied
from service_tui.terms import PersonRole, Plan
from service_tui.wire.agents import AgentBody
from service_tui.wire.base import WireModel
from service_tui.wire.endpoint import Endpoint
from service_tui.wire.endpoints.browse import BROWSE
from service_tui.wire.endpoints.desk import WORLD
from service_tui.wire.endpoints.public import (
    AGENT,
    ALL,
    BRIEFING,
    CLAIM,
    CONTEXT,
    HEALTH,
    LEADERS,
    MARKET,
    MARKETS,
    PATCH_AGENT,
    PLACE_TRADE,
    PORTFOLIO,
    POSITIONS,
    REGISTER,
    SDK_LEADERS,
    SETTINGS,
    SKILLS,
    TRADES,
    TROUBLESHOOT,
    VENUE_LEADERS,
)

Header = tuple[str, str]
KEYLESS: Final = [one for one in ALL if one.keyless]
OF_AGENTS: Final = [one for one in ALL if not one.keyless and not one.operator]
OF_OPERATORS: Final = [one for one in ALL if one.operator]


def path_of(endpoint: Endpoint[WireModel]) -> str:
    ids = {
        "market_id": "some-market",
        "side": "yes",
        "agent_id": "some-agent",
        "claim_code": "reef-1",
        "order_id": "some-order",
        "address": "0x" + "ab" * 20,
        "held_id": "h1",
        "alert_id": "pa1",
        "webhook_id": "wh1",
        "venue": "sim",
        "invitation_id": "invite-1",
        "signal_id": "0x12:maker:0:0xab:77",
    }
    return endpoint.path.format_map(ids)


def bearer(key: str) -> list[Header]:
    return [("Authorization", f"Bearer {key}")]


async def ask(
    stage: Stage,
    method: str,
    path: str,
    headers: list[Header],
    *,
    host: str = BASE_URL,
    content: bytes | None = None,
) -> httpx.Response:
    """One call straight into the app, with exactly these headers."""
    request = httpx.Request(method, f"{host}{path}", headers=headers, content=content)
    response = await stage.sim.transport.handle_async_request(request)
    await response.aread()
    return response


def body_of(response: httpx.Response, status: int) -> dict[str, Any]:
    """The body of a no: always JSON, always with what happened and what to do."""
    assert response.status_code == status, response.text[:200]
    assert response.headers["content-type"] == "application/json"
    body = response.json()
    assert body["error"] if status != 422 else body["detail"]
    assert body["fix"]
    return body


def world_of(stage: Stage) -> str:
    return dumps(fields_of(stage.world))


# Headers with K in the place of the agent's key.
MALFORMED: Final[dict[str, list[Header]]] = {
    "nothing": [],
    "an empty header": [("Authorization", "")],
    "no prefix": [("Authorization", "K")],
    "another scheme": [("Authorization", "Basic K")],
    "a prefix in small letters": [("Authorization", "bearer K")],
    "a prefix without a key": [("Authorization", "Bearer ")],
    "a prefix alone": [("Authorization", "Bearer")],
    "a space more": [("Authorization", "Bearer  K")],
    "a space before": [("Authorization", " Bearer K")],
    "a space after": [("Authorization", "Bearer K ")],
    "a tab between": [("Authorization", "Bearer\tK")],
    "a line break after": [("Authorization", "Bearer K\n")],
    "a line break within": [("Authorization", "Bearer K\r\nX")],
    "a key twice in one": [("Authorization", "Bearer K,Bearer K")],
    "a key that nobody has": [("Authorization", "Bearer sk_live_nobody")],
    "a key cut short": [("Authorization", "Bearer K"[:-2])],
    "a key with a zero": [("Authorization", "Bearer K\x00")],
    "a foreign letter": [("Authorization", "Bearer K\u00e9")],
    "a very long key": [("Authorization", "Bearer " + "K" * 100)],
    "two headers": [("Authorization", "Bearer K"), ("Authorization", "Bearer K")],
    "both headers": [("Authorization", "Bearer K"), ("X-API-Key", "K")],
    "the other header twice": [("X-API-Key", "K"), ("X-API-Key", "K")],
    "the other header with a prefix": [("X-API-Key", "Bearer K")],
    "the other header with a space": [("X-API-Key", " K")],
    "the other header empty": [("X-API-Key", "")],
    "the key's hash": [("Authorization", "Bearer H")],
    "the key as a cookie": [("Cookie", "key=K")],
}


@pytest.mark.slow
async def test_a_missing_or_malformed_key_is_a_401_that_says_what_to_check(tmp_path: Path) -> None:
    async with open_stage(tmp_path) as stage:
        passed: list[str] = []
        for name, headers in MALFORMED.items():
            filled = [
                (key, value.replace("K", stage.key).replace("H", hash_of(stage.key)))
                for key, value in headers
            ]
            # A header's value ends where its letters end: nothing of this reaches the app.
            raw = [(key.encode(), value.encode("latin-1")) for key, value in filled]
            request = httpx.Request("GET", f"{BASE_URL}{AGENT.path}")
            request.headers = httpx.Headers([*request.headers.raw, *raw])
            response = await stage.sim.transport.handle_async_request(request)
            await response.aread()
            if response.status_code != 401:
                passed.append(name)
                continue
            body = body_of(response, 401)
            assert body["detail"] == "Missing or invalid Authorization header"
            assert "Authorization: Bearer" in body["fix"]
            assert stage.key not in response.text
            assert response.headers["www-authenticate"] == "Bearer"
        assert passed == []


@pytest.mark.slow
async def test_the_key_is_taken_from_either_header(tmp_path: Path) -> None:
    async with open_stage(tmp_path) as stage:
        for headers in (bearer(stage.key), [("X-API-Key", stage.key)], [("x-api-key", stage.key)]):
            response = await ask(stage, "GET", AGENT.path, headers)
            assert response.json()["agent_id"] == stage.agent_id


@pytest.mark.slow
@pytest.mark.parametrize("plan", Plan)
async def test_what_needs_a_plan_is_a_403_that_says_how_to_get_it(
    tmp_path: Path, plan: Plan
) -> None:
    async with open_stage(tmp_path, plan=plan) as stage:
        access = Access(hash_of(OPERATOR))
        headers = Headers({"Authorization": f"Bearer {stage.key}"})
        for wanted in Plan:
            gated = Endpoint("GET", "/api/sdk/gated", AgentBody, plan=wanted)
            if list(Plan).index(plan) >= list(Plan).index(wanted):
                assert access.agent(stage.sim.service, headers, gated) is stage.agent
                continue
            with pytest.raises(Denied) as said:
                access.agent(stage.sim.service, headers, gated)
            assert said.value.status == 403
            assert f"--plan {wanted.value}" in json.loads(said.value.body.model_dump_json())["fix"]


@pytest.mark.slow
async def test_every_endpoint_but_the_keyless_wants_its_own_key(tmp_path: Path) -> None:
    async with open_stage(tmp_path) as stage:
        before = world_of(stage)
        for endpoint in OF_AGENTS + OF_OPERATORS:
            body_of(await ask(stage, endpoint.method, path_of(endpoint), []), 401)
        for endpoint in OF_OPERATORS:
            body = body_of(
                await ask(stage, endpoint.method, path_of(endpoint), bearer(stage.key)), 401
            )
            assert "operator" in body["error"]
        for endpoint in OF_AGENTS:
            body_of(await ask(stage, endpoint.method, path_of(endpoint), bearer(OPERATOR)), 409)
        assert world_of(stage) == before


@pytest.mark.slow
async def test_keyless_endpoints_answer_without_a_key(tmp_path: Path) -> None:
    async with open_stage(tmp_path) as stage:
        assert (await ask(stage, "GET", HEALTH.path, [])).status_code == 200
        leaderboards = [LEADERS, SDK_LEADERS, VENUE_LEADERS]
        assert [HEALTH, REGISTER, CLAIM, TROUBLESHOOT, *leaderboards, SKILLS, BROWSE] == KEYLESS


FOREIGN: Final = (
    "evil.example",
    "127.0.0.1.evil.example",
    "evil-localhost",
    "localhost.evil.example",
    "[::2]",
)
OWN: Final = ("127.0.0.1:8000", "localhost", "LocalHost:80", "[::1]:8000")


@pytest.mark.slow
async def test_only_names_of_loopback_are_served_on_any_path(tmp_path: Path) -> None:
    async with open_stage(tmp_path) as stage:
        headers = [*bearer(stage.key), ("Content-Type", "application/json")]
        paths = [(one.method, path_of(one)) for one in ALL]
        for host in FOREIGN:
            for method, path in [*paths, ("GET", "/openapi.json"), ("GET", "/nowhere")]:
                response = await ask(stage, method, path, headers, host=f"http://{host}:8000")
                assert "loopback" in body_of(response, 403)["error"]
        for host in OWN:
            response = await ask(stage, "GET", HEALTH.path, [], host=f"http://{host}")
            assert response.status_code == 200


@pytest.mark.slow
async def test_web_pages_are_refused_on_every_path(tmp_path: Path) -> None:
    async with open_stage(tmp_path) as stage:
        before = world_of(stage)
        for origin in ("https://evil.example", "http://127.0.0.1:8000", "null", ""):
            headers = [*bearer(stage.key), ("Origin", origin)]
            for endpoint in ALL:
                response = await ask(stage, endpoint.method, path_of(endpoint), headers)
                assert "web pages" in body_of(response, 403)["error"]
            # A browser asks before it sends: that is refused as well, so nothing follows.
            response = await ask(stage, "OPTIONS", PLACE_TRADE.path, headers)
            body_of(response, 403)
            assert "access-control-allow-origin" not in response.headers
        assert world_of(stage) == before


WRONG_PATHS: Final = {
    "/api/sdk/agent/me": "/api/sdk/agents/me",
    "/api/sdk/agent": "/api/sdk/agents/me",
    "/api/sdk/agent/register": "/api/sdk/agents/register",
    "/api/sdk/agents/me/": "/api/sdk/agents/me",
    "/api/sdk/market": "/api/sdk/markets",
    "/api/sdk/markets/": "/api/sdk/markets",
    "/api/sdk/position": "/api/sdk/positions",
    "/api/sdk/trades/": "/api/sdk/trades",
    "/api/sdk/agents": "/api/sdk/agents/me",
    "/api/sdk/agent/settings": "/api/sdk/agents/me/settings",
    "/api/sdk/register": "/api/sdk/agents/register",
    "/api/sdk/me": "/api/sdk/agents/me",
    "/api/sdk/markets/some-market/": "/api/sdk/markets/some-market",
    "/api/agents/me": "/api/sdk/agents/me",
    "/sdk/agents/me": "/api/sdk/agents/me",
    "/api/v1/sdk/markets": "/api/sdk/markets",
    "/v1/markets/some-market": "/api/sdk/markets/some-market",
    "/API/SDK/Markets": "/api/sdk/markets",
    "/markets": "/api/sdk/markets",
    "/health": "/api/sdk/health",
    "/api/sdk/buy": "/api/sdk/trade",
    "/api/sdk/trade/history": "/api/sdk/trades",
    "/api/sdk/user": "/api/sdk/user/settings",
    "/api/sdk/portfolios": "/api/sdk/portfolio",
    "/api/sdk/breifing": "/api/sdk/briefing",
    "/api/sdk/metrics": "/openapi.json",
    "/api/sdk/nothing/of/this": "/openapi.json",
    "/": "/openapi.json",
    "/docs": "/openapi.json",
    "/redoc": "/openapi.json",
    "/api/sdk/%00%0a%1b[31m": "/openapi.json",
    "/api/sdk/" + "a" * 5_000: "/openapi.json",
}


@pytest.mark.slow
async def test_a_wrong_path_is_a_404_that_names_the_right_one(tmp_path: Path) -> None:
    async with open_stage(tmp_path) as stage:
        for path, right in WRONG_PATHS.items():
            body = body_of(await ask(stage, "GET", path, bearer(stage.key)), 404)
            assert right in body["fix"].rstrip("?").split()
            # What does not apply is not there, rather than null.
            assert set(body) == {"error", "detail", "fix"}
            assert body["error"].isprintable()


@pytest.mark.slow
async def test_doubled_slashes_do_not_hide_what_was_meant(tmp_path: Path) -> None:
    async with open_stage(tmp_path) as stage:
        body = body_of(await ask(stage, "GET", f"//api/sdk//{MARKETS.path[9:]}", []), 404)
        assert body["fix"] == f"did you mean {MARKETS.path}?"
        twice = await ask(stage, "GET", f"{MARKETS.path}?limit=1&limit=2", bearer(stage.key))
        assert body_of(twice, 422)["fix"] == "correct the query: duplicate parameter"


WRONG_METHODS: Final = (
    ("GET", PLACE_TRADE.path, "POST"),
    ("DELETE", PLACE_TRADE.path, "POST"),
    ("POST", AGENT.path, "GET"),
    ("PUT", SETTINGS.path, "GET or PATCH or POST"),
    ("OPTIONS", SETTINGS.path, "GET or PATCH or POST"),
)


@pytest.mark.slow
async def test_a_wrong_method_is_a_405_that_names_the_right_one(tmp_path: Path) -> None:
    async with open_stage(tmp_path) as stage:
        for method, path, right in WRONG_METHODS:
            response = await ask(stage, method, path, bearer(stage.key))
            assert body_of(response, 405)["fix"] == f"use {right}"
            assert response.headers["allow"] == right.replace(" or ", ", ")
        assert (await ask(stage, "HEAD", HEALTH.path, [])).status_code == 405


KINDS: Final = (
    "",
    "text/plain",
    "application/x-www-form-urlencoded",
    "multipart/form-data",
    "application/xml",
)


@pytest.mark.slow
async def test_a_body_that_is_not_said_to_be_json_is_a_415(tmp_path: Path) -> None:
    async with open_stage(tmp_path) as stage:
        content = json.dumps({"name": "other"}).encode()
        for kind in KINDS:
            headers = [*bearer(stage.key), *([("Content-Type", kind)] if kind else [])]
            response = await ask(stage, "PATCH", PATCH_AGENT.path, headers, content=content)
            assert "application/json" in body_of(response, 415)["fix"]
        assert stage.agent.settings.name == "tester"


@pytest.mark.slow
async def test_a_body_that_is_too_large_is_a_413_also_over_a_line(tmp_path: Path) -> None:
    async with open_stage(tmp_path) as stage, listen(stage.sim.app) as url:
        headers = [*bearer(stage.key), ("Content-Type", "application/json")]
        content = b'{"name":"' + b"a" * (BODY_MAX + 1) + b'"}'
        response = await ask(stage, "PATCH", PATCH_AGENT.path, headers, content=content)
        assert str(BODY_MAX) in body_of(response, 413)["fix"]
        async with httpx.AsyncClient(base_url=url, trust_env=False, timeout=ANSWER_S) as client:
            response = await client.patch(PATCH_AGENT.path, headers=headers, content=content)
        body_of(response, 413)
        assert stage.agent.settings.name == "tester"


async def over_the_line(url: str, head: str) -> tuple[int, bytes]:
    """Bytes as they are, which no honest client would send."""
    host, port = url.removeprefix("http://").split(":")
    reader, writer = await asyncio.open_connection(host, int(port))
    try:
        writer.write(head.replace("\n", "\r\n").encode("latin-1") + b"\r\n\r\n")
        answer = await reader.read()
    finally:
        writer.close()
        await writer.wait_closed()
    return int(answer.split()[1]), answer.partition(b"\r\n\r\n")[2]


@pytest.mark.slow
async def test_bytes_on_the_line_that_no_honest_client_sends_are_refused(tmp_path: Path) -> None:
    async with open_stage(tmp_path) as stage, listen(stage.sim.app) as url:
        host = url.removeprefix("http://")
        start = f"GET {AGENT.path} HTTP/1.1\nConnection: close\n"
        key = f"Authorization: Bearer {stage.key}"
        assert (await over_the_line(url, f"{start}Host: {host}\n{key}"))[0] == 200
        for said in (
            f"Host: {host}\nAuthorization: Bearer {stage.key}\n Z",
            f"Host: {host}\nAuthorization: Bearer\n {stage.key}x",
            f"Host: {host}\n{key}\n{key}",
            f"Host: {host}\n{key}\nX-API-Key: {stage.key}",
            f"Host: {host}\n{key}\u00e9",
        ):
            status, body = await over_the_line(url, start + said)
            # What is no header at all, the parser refuses before anybody looks for a key.
            assert status == 400 or (status == 401 and json.loads(body)["fix"])
        for said in (f"{key}", f"Host: {host}\nHost: {host}\n{key}", f"Host: {host}\n{key}\x00"):
            assert (await over_the_line(url, start + said))[0] == 400
        for said in ("Host: evil.example", "Host: ", f"Host: {host}\nOrigin: http://{host}"):
            assert (await over_the_line(url, f"{start}{said}\n{key}"))[0] == 403


async def registered(stage: Stage, name: str) -> dict[str, Any]:
    headers = [("Content-Type", "application/json")]
    content = json.dumps({"name": name}).encode()
    return (await ask(stage, "POST", REGISTER.path, headers, content=content)).json()


@pytest.mark.slow
async def test_an_agents_key_sees_its_own_data_only(tmp_path: Path) -> None:
    async with open_stage(tmp_path) as stage:
        other = await registered(stage, "other")
        market = stage.open_markets()[0]
        order = {"market_id": market.market_id, "side": "yes", "amount": 33, "source": "sdk:own"}
        order["signal_data"] = {"edge_of_mine": 0.25}
        headers = [*bearer(stage.key), ("Content-Type", "application/json")]
        content = json.dumps(order).encode()
        bought = await ask(stage, "POST", PLACE_TRADE.path, headers, content=content)
        assert bought.json()["success"] is True

        async def seen(endpoint: Endpoint[WireModel], key: str) -> dict[str, Any]:
            path = endpoint.path.format(
                market_id=market.market_id,
                address="0x" + "ab" * 20,
                agent_id=stage.agent_id,
                venue="sim",
            )
            return (await ask(stage, "GET", path, bearer(key))).json()

        theirs = other["api_key"]
        assert (await seen(TRADES, stage.key))["total_count"] == 1
        assert await seen(TRADES, theirs) == {"trades": [], "total_count": 0}
        assert (await seen(POSITIONS, theirs))["positions"] == []
        assert (await seen(PORTFOLIO, theirs))["sim_balance"] == 10_000
        assert (await seen(BRIEFING, theirs))["venues"]["sim"]["positions_count"] == 0
        assert (await seen(AGENT, theirs))["agent_id"] == other["agent_id"]
        assert (await seen(CONTEXT, theirs))["claim_url"] == other["claim_url"]
        everything = [await seen(one, theirs) for one in OF_AGENTS if one.method == "GET"]
        text = json.dumps(everything)
        for secret in (
            stage.agent_id,
            stage.agent.claim_code,
            stage.key,
            "sdk:own",
            "edge_of_mine",
        ):
            assert secret not in text
        # The market itself is public: its price has moved for everybody.
        price = (await seen(MARKET, theirs))["market"]["current_price"]
        assert price == pytest.approx(bought.json()["new_price"], abs=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("plan", "agents", "said"), [(Plan.FREE, 1, "one agent"), (Plan.PRO, 10, "10 agents")]
)
async def test_an_account_has_as_many_agents_as_its_plan_beside_the_consoles_own(
    tmp_path: Path, plan: Plan, agents: int, said: str
) -> None:
    async with open_stage(tmp_path, plan=plan) as stage:
        for count in range(agents):
            if not count % 5:
                # Ten registrations a minute.
                await leap(stage.clock, 60.0)
            assert (await registered(stage, f"agent {count}"))["starting_balance"] == 10_000
        headers = [("Content-Type", "application/json")]
        response = await ask(stage, "POST", REGISTER.path, headers, content=b'{"name":"more"}')
        assert said in body_of(response, 403)["error"]
        assert len(stage.world.agents) == agents + 1


@pytest.mark.slow
async def test_no_answer_and_no_row_on_disk_holds_a_key(tmp_path: Path) -> None:
    async with open_stage(tmp_path) as stage:
        me = await ask(stage, "GET", AGENT.path, bearer(stage.key))
        world = await ask(stage, "GET", WORLD.path, bearer(OPERATOR))
        assert stage.key not in me.text + world.text
        assert hash_of(stage.key) not in me.text + world.text
        assert stage.key not in world_of(stage)
    kept = kept_in(tmp_path)
    assert stage.key.encode() not in kept
    assert OPERATOR.encode() not in kept


def kept_in(path: Path) -> bytes:
    return b"".join(file.read_bytes() for file in path.rglob("*") if file.is_file())


# -- the rules, one by one -----------------------------------------------------------------


def status(run: Callable[[], object]) -> int:
    with pytest.raises(Denied) as refused:
        run()
    return refused.value.status


def test_a_new_key_is_long_and_its_own() -> None:
    keys = {new_key() for _ in range(20)}
    assert len(keys) == 20
    assert {(key[:8], len(key)) for key in keys} == {("sk_live_", 40)}
    assert hash_of("abc").startswith("ba7816bf")


@pytest.mark.parametrize(
    ("headers", "key"),
    [
        ([("authorization", "Bearer k1")], "k1"),
        ([("x-api-key", "k1")], "k1"),
        ([("x-api-key", "k" * KEY_MAX)], "k" * KEY_MAX),
        ([("x-api-key", "k" * (KEY_MAX + 1))], None),
        ([("authorization", "Bearer k1"), ("x-api-key", "k1")], None),
        ([("x-api-key", "k1"), ("x-api-key", "k1")], None),
        ([("authorization", "bearer k1")], None),
        ([("authorization", "Basic k1")], None),
        ([("authorization", "Bearer ")], None),
        ([("authorization", "Bearer")], None),
        ([("authorization", "Bearer k 1")], None),
        ([("x-api-key", " k1")], None),
        ([("x-api-key", "k\xe91")], None),
        ([("x-api-key", "")], None),
        ([], None),
    ],
)
def test_a_key_is_sent_once_and_in_one_word(headers: list[Header], key: str | None) -> None:
    given = Headers(raw=[(name.encode(), value.encode("latin-1")) for name, value in headers])
    if key is not None:
        assert key_of(given) == key
    else:
        assert status(lambda: key_of(given)) == 401


@pytest.mark.parametrize(
    ("role", "owner", "may_take", "may"),
    [
        (PersonRole.TRADER, "ann", False, True),
        (PersonRole.TRADER, "ben", False, False),
        (PersonRole.TRADER, "ben", True, False),
        (PersonRole.TRADER, "", False, False),
        (PersonRole.TRADER, "", True, True),
        (PersonRole.SUPERVISOR, "ben", False, True),
        (PersonRole.SUPERVISOR, "", False, True),
    ],
)
def test_a_trader_acts_on_agents_of_its_own(
    role: PersonRole, owner: str, *, may_take: bool, may: bool
) -> None:
    def check() -> None:
        check_own(Person("ann", role), owner, may_take=may_take)

    if may:
        check()
    else:
        assert status(check) == 403
