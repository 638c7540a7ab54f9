"""The served document against the service that serves it: every operation, good and bad input.

The service runs in a thread of its own; the tool sends it whole requests in process. It is asked to
make up the requests of an operation when the test of that operation runs: whoever only collects the
tests waits for none of it.
"""

import asyncio
import random
import tempfile
from collections import Counter
from collections.abc import Callable, Generator
from http import HTTPStatus
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import quote

import httpx
import pytest
from hypothesis import HealthCheck

from kit.examples import DEPTH, examples
from kit.service.line import sink_on
from kit.service.stage import OPERATOR, open_stage
from kit.service.threaded import Threaded
from service_tui.engine.chain_events import WalletLinked
from service_tui.server.embedded import BASE_URL
from service_tui.signing.credentials import sign_credentials
from service_tui.signing.signer import LocalSigner
from service_tui.terms import Plan, Venue
from service_tui.wire.endpoint import Endpoint
from service_tui.wire.endpoints.desk import STEP
from service_tui.wire.endpoints.public import ALL, IMPORT_TICKER_EVENT
from service_tui.wire.endpoints.trading import SOL_SUBMIT
from service_tui.wire.text import line

if TYPE_CHECKING:
    from schemathesis import Case
    from schemathesis.schemas import BaseSchema

pytestmark = pytest.mark.fuzz

EXAMPLES = 5 if DEPTH == 1 else 25
"""Requests made up by chance for each operation, beside those that its schema calls for."""
SEED = 20_261_101
WITHOUT_A_KEY = 2
"""Calls that the tool repeats without a key and with a wrong one."""

Scope = dict[str, Any]
OWN = {"max_position_usd": 1_000_000, "bot_solana_wallet": "1" * 32}


OPEN = {
    "sdk_real_trading_enabled": True,
    "sdk_max_trade_amount": 100,
    "sdk_daily_limit": 1_000_000,
    "max_trades_per_day": 5_000,
    "trading_paused": False,
}


class Running(Threaded):
    """A service on its own loop, and a plain (WSGI) app that hands requests over to it.

    As a plain one the tool starts no loop and no thread for a request.
    """

    def __init__(self) -> None:
        self.answers: Counter[tuple[str, str, int]] = Counter()
        self.refused_keys = 0
        self.others: list[str] = []
        self.importable: dict[str, str] = {}
        self.held = 0
        self.people = 0

    def open(self, path: Path, plan: Plan = Plan.ELITE) -> None:
        super().open(path, plan)
        # Hundreds of calls in a minute of manual time.
        self.stage.sim.service.limits = False
        self.run(self.settle())

    def line(self) -> httpx.AsyncClient:
        """In process, for what a case needs to be there."""
        headers = {"Authorization": f"Bearer {self.stage.key}"}
        return httpx.AsyncClient(
            transport=self.stage.sim.transport, base_url=BASE_URL, headers=headers
        )

    async def settle(self) -> None:
        """Two more agents for the desk to govern, and real trading for the first."""
        desk = {"Authorization": f"Bearer {OPERATOR}"}
        async with self.line() as line:
            for name in ("governed", "claimed"):
                born = await line.post("/api/sdk/agents/register", json={"name": name})
                self.others.append(born.json()["agent_id"])
            await line.post(f"/api/desk/agents/{self.stage.agent_id}/claim", headers=desk)
            known = (await line.get("/api/sdk/markets/importable?limit=100")).json()["markets"]
            evm = next(one for one in known if one["venue"] == "evm_venue")
            sol = next(one for one in known if one["venue"] == "sol_venue")
            self.importable = {"url": evm["url"], "ticker": evm["ticker"], "sol": sol["url"]}
        while not self.stage.world.reactor.recent:
            await self.stage.clock.advance(1.0)

    async def rest(self) -> str:
        """An order that rests on a book."""
        async with self.line() as line:
            await self.free(line)
            listed = await line.get("/api/sdk/markets?venue=evm_venue&limit=20")
            market = next(one for one in listed.json()["markets"] if (one["best_bid"] or 0) > 0.1)
            order = {
                "market_id": market["id"],
                "side": "yes",
                "amount": 10,
                "venue": "evm_venue",
                "order_type": "GTC",
                "price": market["best_bid"],
            }
            said = (await line.post("/api/sdk/trade", json=order)).json()
            assert said["status"] == "submitted", said["error"]
            return said["order_id"]

    async def hold(self) -> str:
        """A trade that waits for the operator."""
        desk = {"Authorization": f"Bearer {OPERATOR}"}
        path = f"/api/desk/agents/{self.stage.agent_id}/leash"
        async with self.line() as line:
            await self.free(line)
            for pending_id in list(self.stage.world.pending_trades.waiting):
                await line.post(f"/api/desk/held/{pending_id}/refuse", json={}, headers=desk)
            await line.post(path, json={"mode": "ask"}, headers=desk)
            # Another one each time: what was refused is not asked again.
            self.held += 1
            market = self.stage.open_markets()[self.held % len(self.stage.open_markets())]
            order = {"market_id": market.market_id, "side": "yes"}
            said = (await line.post("/api/sdk/trade", json=order | {"amount": 5})).json()
            await line.delete(path, headers=desk)
            assert said["status"] == "submitted", said["error"]
            return said["trade_id"]

    async def free(self, line: httpx.AsyncClient) -> None:
        """Lift what other cases have set, which is whatever came to their mind."""
        desk = {"Authorization": f"Bearer {OPERATOR}"}
        plan = {"plan": "elite", "all_agents": True}
        own = {"wallet": "external", "trading_paused": False, "suspended": False}
        await line.post("/api/desk/resume", headers=desk)
        # Orders without a signature are those of a managed wallet.
        await line.post("/api/sdk/wallet/unlink")
        await line.patch("/api/desk/account", json=plan, headers=desk)
        await line.patch(f"/api/desk/agents/{self.stage.agent_id}", json=own, headers=desk)
        await line.post("/api/sdk/settings", json=OPEN)
        await line.patch("/api/sdk/user/settings", json=OWN)

    async def freed(self) -> None:
        """On the largest plan again, whatever another case has chosen."""
        async with self.line() as line:
            await self.free(line)

    async def link(self) -> None:
        """A linked wallet of the first agent."""
        world, now = self.stage.world, self.stage.clock.now()
        if world.chain.wallet_of(self.stage.agent_id) is None:
            linked = WalletLinked(self.stage.agent_id, now, SIGNER.address)
            await self.stage.sim.service.world_store.commit(world.note(linked))

    async def guard(self, *, breached: bool) -> str:
        """A position with a monitor on it, or with the alert of one."""
        # On a real venue, where the alert of an external wallet waits for its client.
        venue = Venue.SOL if breached else Venue.SIM
        markets = [
            one
            for one in self.stage.open_markets()
            if 0.1 < one.price() < 0.9 and (not breached or one.listing.home is venue)
        ]
        market_id = max(markets, key=lambda one: one.listing.resolves_at).market_id
        order = {"market_id": market_id, "side": "yes", "amount": 5, "venue": venue.value}
        # A level so near is passed by any fall.
        near = {"take_profit_pct": 0.0001, "stop_loss_pct": 0.0001}
        watch = {
            "side": "yes",
            "venue": venue.value,
            **(near if breached else {"take_profit_pct": 9, "stop_loss_pct": 0.99}),
        }
        path = f"/api/sdk/positions/{market_id}/monitor"
        async with self.line() as line:
            await self.free(line)
            for _ in range(20):
                said = (await line.post("/api/sdk/trade", json=order)).json()
                assert said["success"], said["error"]
                assert (await line.post(path, json=watch)).status_code == 200
                if not breached:
                    return market_id
                await sink_on(self.stage, market_id)
                await self.stage.clock.advance(1.0)
                await self.stage.sim.service.world_store.advance(self.stage.clock.now())
                alerts = self.stage.world.risk.alerts.of(self.stage.agent_id)
                if market_id in {one.breach.market_id for one in alerts}:
                    return market_id
        raise AssertionError("no monitor was ever breached")

    def __call__(self, asked: dict[str, Any], begin: Callable[..., Any]) -> list[bytes]:
        """The service's app, for a caller without a loop of its own (WSGI)."""
        size = int(asked.get("CONTENT_LENGTH") or 0)
        status, headers, body = self.run(
            self.answer(scope_of(asked), asked["wsgi.input"].read(size))
        )
        self.refused_keys += status == 401
        begin(f"{status} {HTTPStatus(status).phrase}", headers)
        return [body]

    async def answer(self, scope: Scope, sent: bytes) -> tuple[int, list[tuple[str, str]], bytes]:
        said: list[Any] = []
        left = iter([{"type": "http.request", "body": sent}, {"type": "http.disconnect"}])

        async def note_venues() -> Any:
            return next(left)

        async def say(message: Any) -> None:
            said.append(message)

        await self.stage.sim.app(scope, note_venues, say)
        headers = [
            (one.decode("latin-1"), two.decode("latin-1")) for one, two in said[0]["headers"]
        ]
        return said[0]["status"], headers, b"".join(one.get("body", b"") for one in said[1:])


def scope_of(asked: dict[str, Any]) -> Scope:
    """A request as an ASGI app hears it, from how a WSGI app does. Source: PEP 3333."""
    plain = {"CONTENT_TYPE": "content-type", "CONTENT_LENGTH": "content-length"}
    names = {
        name: plain.get(name) or name[len("HTTP_") :].replace("_", "-").lower()
        for name in asked
        if name.startswith("HTTP_") or (name in plain and asked[name])
    }
    path = asked["PATH_INFO"].encode("latin-1")
    return {
        "type": "http", "asgi": {"version": "3.0"}, "http_version": "1.1", "scheme": "http",
        "method": asked["REQUEST_METHOD"], "root_path": "",
        "path": path.decode(errors="replace"), "raw_path": quote(path).encode(),
        "query_string": asked.get("QUERY_STRING", "").encode("latin-1"),
        "headers": [
            (header.encode(), asked[name].encode("latin-1")) for name, header in names.items()
        ],
        "client": ("127.0.0.1", 1), "server": ("127.0.0.1", 8000),
    }  # fmt: skip


OTHERWISE: Final = {IMPORT_TICKER_EVENT: 404, SOL_SUBMIT: 404, STEP: 409}
"""What a good request is answered with that names no event and no quote, and no history."""

SIGNER: Final = LocalSigner("5e" * 32)
RUNNING = Running()


async def invited() -> dict[str, str]:
    """A person who is here, and an invitation that waits to be ended."""
    desk = {"Authorization": f"Bearer {OPERATOR}"}
    RUNNING.people += 1
    name = f"person {RUNNING.people}"
    async with RUNNING.line() as line:
        await line.post("/api/desk/people", json={"name": name, "role": "trader"}, headers=desk)
        made = await line.post("/api/desk/invitations", json={}, headers=desk)
    return {"name": name, "invitation_id": made.json()["invitation"]["invitation_id"]}


def help_on_people(case: "Case", known: dict[str, Any]) -> None:
    """Somebody who is here, and an invitation that is open."""
    if "/desk/invitations" in case.path or "/desk/people" in case.path:
        known |= RUNNING.run(invited())
    if isinstance(case.body, dict):
        if case.path.startswith("/api/desk/people") and not (
            case.method == "POST" and case.path.endswith("/people")
        ):
            case.body["name"] = known["name"]
        if "person" in case.body:
            case.body["person"] = known["name"]


async def agent_alert(agent_id: str) -> dict[str, str]:
    """An alert on an agent that waits to be removed; no other stands."""
    desk = {"Authorization": f"Bearer {OPERATOR}"}
    path = f"/api/desk/agents/{agent_id}/alerts"
    async with RUNNING.line() as line:
        for row in (await line.get("/api/desk/alerts", headers=desk)).json()["alerts"]:
            known = f"/api/desk/agents/{row['agent_id']}/alerts/{row['id']}"
            await line.delete(known, headers=desk)
        made = await line.post(path, json={"kind": "silent", "limit": 30}, headers=desk)
    return {"agent_id": agent_id, "alert_id": made.json()["id"]}


def help_on_supervision(case: "Case", known: dict[str, Any]) -> None:
    """What a kind of alert, or of limit, wants beside its type."""
    if "/desk/agents/" in case.path and "/alerts" in case.path:
        known |= RUNNING.run(agent_alert(RUNNING.stage.agent_id))
        if case.method == "POST":
            case.body |= {"kind": "spend", "limit": 30, "minutes": 10, "skill_slug": ""}
    if case.path.endswith("/world/speed") and isinstance(case.body, dict):
        # The two highest are for histories.
        case.body |= {"speed": 60} if case.body.get("speed") in {600, 3_600} else {}
    if case.path.endswith("/desk/limits") and case.method == "POST":
        case.body |= {"group": "category", "key": "weather"}


async def notify() -> dict[str, str]:
    """A price alert and a webhook that wait to be removed."""
    market_id = RUNNING.stage.open_markets()[0].market_id
    alert = {"market_id": market_id, "side": "yes", "condition": "above", "threshold": 0.99}
    hook = {"url": "https://example.org/hook", "events": ["trade.executed"]}
    async with RUNNING.line() as line:
        for row in (await line.get("/api/sdk/webhooks")).json()["webhooks"]:
            await line.delete(f"/api/sdk/webhooks/{row['id']}")
        made = await line.post("/api/sdk/alerts", json=alert)
        hooked = await line.post("/api/sdk/webhooks", json=hook)
    return {"alert_id": made.json()["id"], "webhook_id": hooked.json()["id"]}


async def document() -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder:
        async with (
            open_stage(Path(folder)) as stage,
            httpx.AsyncClient(transport=stage.sim.transport, base_url=BASE_URL) as client,
        ):
            return (await client.get("/openapi.json")).json()


@pytest.fixture(scope="module")
def api() -> "BaseSchema":
    """The document as the tool reads it."""
    import schemathesis  # noqa: PLC0415  (a second of imports, for these tests alone)
    from schemathesis.checks import load_all_checks  # noqa: PLC0415
    from schemathesis.config import SchemathesisConfig  # noqa: PLC0415

    load_all_checks()
    schema = schemathesis.openapi.from_dict(
        asyncio.run(document()), config=SchemathesisConfig(seed=SEED)
    )
    schema.app = RUNNING
    schema.config.update(base_url="http://127.0.0.1:8000")
    schema.config.generation.update(
        deterministic=True, no_shrink=True, with_security_parameters=False
    )
    return schema


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Generator[Running]:
    RUNNING.open(tmp_path_factory.mktemp("served"))
    yield RUNNING
    RUNNING.close()


def help_on(case: "Case") -> None:
    """Help a good request to reach what it is about."""
    if case.meta is not None and case.meta.generation.mode.is_positive:
        case.body = integral(case.body)
        market = random.Random(repr(case.body)).choice(RUNNING.stage.open_markets())
        help_on_the_query(case)
        known = {
            "market_id": market.market_id,
            "agent_id": RUNNING.others[case.path.endswith("/claim")],
            "claim_code": RUNNING.stage.agent.claim_code,
            "signal_id": next(iter(RUNNING.stage.world.reactor.recent), ""),
        }
        if "held_id" in (case.path_parameters or {}):
            known["held_id"] = RUNNING.run(RUNNING.hold())
            help_on_approval(case)
        if "order_id" in (case.path_parameters or {}):
            known["order_id"] = RUNNING.run(RUNNING.rest())
        if case.path.endswith("/monitor") or "/risk-alerts/" in case.path:
            is_alert = "/risk-alerts/" in case.path
            known |= {"market_id": RUNNING.run(RUNNING.guard(breached=is_alert)), "side": "yes"}
            known["agent_id"] = RUNNING.stage.agent_id
            if case.method == "DELETE":
                case.query = {} if is_alert else {"side": "yes"}
            else:
                case.body |= {"side": "yes", "venue": "sim"}
        help_on_wallets(case, known)
        help_on_people(case, known)
        help_on_supervision(case, known)
        for name in case.path_parameters or {}:
            case.path_parameters[name] = known.get(name, case.path_parameters[name])
        if isinstance(case.body, dict) and "market_id" in case.body:
            case.body["market_id"] = market.market_id


def help_on_approval(case: "Case") -> None:
    """What waits is a buy: a size within the limits, and a bound above its price."""
    if isinstance(case.body, dict) and case.path.endswith("/approve"):
        case.body.pop("not_below", None)
        case.body |= {"amount": 3, "not_above": 0.99}


def help_on_wallets(case: "Case", known: dict[str, Any]) -> None:
    """A linked wallet, and headers that it has signed."""
    known |= {"address": SIGNER.address, "venue": "sim"}
    if "/agent-wallet" in case.path or case.path.endswith("/quote"):
        RUNNING.run(RUNNING.freed())
    if "/agent-wallet/" in case.path or "/user/agent/" in case.path:
        known["agent_id"] = RUNNING.stage.agent_id
    if case.path.endswith("/quote"):
        case.body |= {"amount": 5, "shares": 0, "action": "buy"}
    if case.method == "DELETE" and case.path.endswith(("/{alert_id}", "/{webhook_id}")):
        known |= RUNNING.run(notify())
    if case.path.endswith(("/wallet", "/credentials", "/derive-via-proxy")):
        RUNNING.run(RUNNING.link())
        known["agent_id"] = RUNNING.stage.agent_id
    if case.path.endswith("/derive-via-proxy"):
        signed = sign_credentials(SIGNER, now_s=int(RUNNING.stage.clock.now()))
        # A document lets a body carry more than is asked for.
        case.body = {name: getattr(signed, name, sent) for name, sent in case.body.items()}


def help_on_the_query(case: "Case") -> None:
    """What a parameter must be beside its own type."""
    if isinstance(case.query, dict) and "symbol" in case.query:
        case.query = {"symbol": RUNNING.stage.open_markets()[0].market_id}
    if case.path.endswith("/markets/check"):
        case.query = {"ticker": RUNNING.importable["ticker"]}
    if isinstance(case.body, dict) and "market_ids" in case.body:
        case.body["market_ids"] = None
    if isinstance(case.body, dict) and isinstance(case.body.get("sweep"), dict):
        # How many combinations several lists make.
        case.body["sweep"] = dict(list(case.body["sweep"].items())[:1])
    for given, known in (
        (case.query, {"agent_id": RUNNING.stage.agent_id, "skill_versions": '{"mine":"1.0"}'}),
        (
            case.body,
            {
                "polymarket_url": RUNNING.importable["url"],
                "kalshi_url": RUNNING.importable["sol"],
                "bot_solana_wallet": "1" * 32,
                "wallet_address": "1" * 32,
                "clawdbot_webhook_url": "https://example.org/hook",
                "webhook_url": "https://example.org/hook",
                "url": "https://example.org/hook",
                "webhook_id": None,
                "wallets": [f"0x{'5e' * 20}"],
            },
        ),
    ):
        for name in known.keys() & (given.keys() if isinstance(given, dict) else ()):
            given[name] = given[name] and known[name]


def within_the_grain(case: "Case") -> bool:
    """A number one step of a double off a whole micro means that micro, which no schema can say."""
    data = None if case.meta is None else case.meta.phase.data
    return "Non-multiple" in (getattr(data, "description", None) or "")


def cannot_be_sent(case: "Case") -> bool:
    """An object in a query has no letters of its own: whatever is sent for it is a good text."""
    values = case.query.values() if isinstance(case.query, dict) else ()
    return any(isinstance(value, dict) for value in values)


def integral(body: Any) -> Any:
    """What a document cannot say: whole numbers are written without a point."""
    if isinstance(body, dict):
        return {name: integral(value) for name, value in body.items()}
    if isinstance(body, list):
        return [integral(value) for value in body]
    if isinstance(body, str) and body and not line(body):
        # Nor can it say which letters are visible.
        return "x"
    return int(body) if isinstance(body, float) and body.is_integer() else body


@pytest.fixture
def answered(
    running: Running, request: pytest.FixtureRequest
) -> Generator[Counter[tuple[str, str, int]]]:
    """What one operation answered: a good request at least once, and none without a key."""
    running.answers.clear()
    running.refused_keys = 0
    yield running.answers
    operation: Endpoint[Any] = request.node.callspec.params["endpoint"]
    # What always refuses, or is unpaid, or wants what no document can say, has tests of its own.
    wanted = operation.refuses or (402 if operation.price else OTHERWISE.get(operation, 200))
    assert (operation.method, operation.path, wanted) in running.answers
    # The tool tried it without a key and with a wrong one, where a good request is taken.
    assert operation.keyless or wanted != 200 or running.refused_keys >= WITHOUT_A_KEY


def cases_of(
    api: "BaseSchema", endpoint: Endpoint[Any], check: Callable[..., None]
) -> Callable[[], None]:
    """The check, over all requests that the tool makes up for an operation."""
    from schemathesis.generation.feedback import FeedbackSources  # noqa: PLC0415
    from schemathesis.pytest._test_builder import build_operation_test  # noqa: PLC0415
    from schemathesis.pytest.plugin import make_constants_value_source  # noqa: PLC0415

    return build_operation_test(
        config=api.config,
        operation=api[endpoint.path][endpoint.method],
        test_func=check,
        given_kwargs={},
        feedback=FeedbackSources(constants_value_source=make_constants_value_source(api)),
    )


@pytest.mark.slow
@pytest.mark.parametrize("endpoint", ALL, ids=lambda one: f"{one.method} {one.path}")
def test_the_document_is_true(
    endpoint: Endpoint[Any],
    api: "BaseSchema",
    running: Running,
    answered: Counter[tuple[str, str, int]],
) -> None:
    from schemathesis.specs.openapi.checks import ignored_auth  # noqa: PLC0415

    refused: Counter[bool] = Counter()

    @examples(EXAMPLES, suppress_health_check=list(HealthCheck), database=None)
    def check(case: "Case") -> None:
        if within_the_grain(case) or cannot_be_sent(case):
            return
        help_on(case)
        key = OPERATOR if case.path.startswith("/api/desk") else running.stage.key
        response = case.call(headers={"Authorization": f"Bearer {key}"})
        answered[case.method, case.path, response.status_code] += 1
        if response.status_code in {402, endpoint.refuses}:
            # The tool takes these for a refusal of what was sent.
            return
        # Without a key, and with a wrong one: a good request and a bad one each, in a deep run all.
        is_good = case.meta is not None and case.meta.generation.mode.is_positive
        is_enough = DEPTH == 1 and refused[is_good] >= WITHOUT_A_KEY
        before = running.refused_keys
        case.validate_response(
            response,
            headers={"Authorization": f"Bearer {key}"},
            excluded_checks=[ignored_auth] if is_enough else [],
        )
        refused[is_good] += running.refused_keys - before

    cases_of(api, endpoint, check)()


def test_every_operation_is_described(api: "BaseSchema") -> None:
    described = {(one.ok().method.upper(), one.ok().path) for one in api.get_all_operations()}
    assert described == {(one.method, one.path) for one in ALL}
