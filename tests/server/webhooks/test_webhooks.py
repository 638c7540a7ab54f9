"""Webhooks: what is delivered, signed how, how often, and where never."""

import asyncio
import ipaddress
import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

import httpx
import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from kit.clock import leap
from kit.service.stage import Stage, WebhookParts, open_stage
from service_tui.credentials.webhook_secrets import SECRETS_FILE, SecretFile
from service_tui.server.embedded import BASE_URL
from service_tui.server.events.stream import STATE, OpenStreams
from service_tui.server.http.loopback import listen
from service_tui.server.webhooks.address import (
    AddressRefusedError,
    _inner,
    check_number,
    parsed,
    reachable,
)
from service_tui.server.webhooks.courier import QUEUE_MAX
from service_tui.server.webhooks.post import HttpPost, Parcel, signature
from service_tui.storage.errors import StorageError
from service_tui.terms import WEBHOOK_FAILURES_MAX, WEBHOOKS_MAX

Json = dict[str, Any]
SECRET: Final = "a secret of eight"  # noqa: S105
LATE_S: Final = 20.0
"""A guard: what should come comes in milliseconds."""


@dataclass
class Mailbox:
    """A post that keeps what it is given, and answers as it is told."""

    errors: list[str] = field(default_factory=list)
    """What goes wrong with the next attempts, "" for nothing; then nothing goes wrong."""

    got: list[Parcel] = field(default_factory=list)
    urls: list[str] = field(default_factory=list)
    secrets: list[str] = field(default_factory=list)

    async def __call__(
        self, url: str, parcel: Parcel, secret: str, *, allows_loopback: bool
    ) -> str:
        del allows_loopback
        self.got.append(parcel)
        self.urls.append(url)
        self.secrets.append(secret)
        return self.errors.pop(0) if self.errors else ""

    @property
    def bodies(self) -> list[Json]:
        return [json.loads(parcel.body) for parcel in self.got]


async def ask(stage: Stage, method: str, path: str, body: Json | None = None) -> Json:
    async with calling(stage) as line:
        headers = {"Authorization": f"Bearer {stage.key}"}
        answer = await line.request(method, f"/api/sdk/{path}", json=body, headers=headers)
        assert answer.status_code == 200, answer.text
        found: Json = answer.json()
        return found


def calling(stage: Stage) -> httpx.AsyncClient:
    headers = {"Content-Type": "application/json"}
    return httpx.AsyncClient(transport=stage.sim.transport, base_url=BASE_URL, headers=headers)


async def hook(stage: Stage, *events: str, url: str = "https://hook.example/in") -> str:
    body = {"url": url, "events": list(events), "secret": SECRET}
    return str((await ask(stage, "POST", "webhooks", body))["id"])


async def buy(stage: Stage, amount: float = 5, index: int = 0) -> Json:
    market = stage.open_markets()[index]
    body = {"market_id": market.market_id, "side": "yes", "amount": amount}
    return await ask(stage, "POST", "trade", body)


async def state_of(stage: Stage, webhook_id: str) -> Json:
    rows = (await ask(stage, "GET", "webhooks"))["webhooks"]
    return next(row for row in rows if row["id"] == webhook_id)


@asynccontextmanager
async def opened(path: Path, box: Mailbox) -> AsyncGenerator[Stage]:
    async with open_stage(path, webhooks=WebhookParts(post=box), speed=0) as stage:
        yield stage


@pytest.mark.slow
async def test_a_trade_is_reported_once_and_in_order(tmp_path: Path) -> None:
    box = Mailbox()
    async with opened(tmp_path, box) as stage:
        await hook(stage, "trade.executed")
        trades = [await buy(stage, amount) for amount in (5, 6, 7)]
        await stage.clock.advance(1)
        assert [body["data"]["trade_id"] for body in box.bodies] == [
            trade["trade_id"] for trade in trades
        ]
        first = box.bodies[0]
        assert first["event"] == "trade.executed"
        assert first["delivery_id"] == box.got[0].delivery_id
        assert first["data"]["cost_usdc"] == trades[0]["cost"] == 5
        assert first["data"]["shares"] == trades[0]["shares_bought"]
        assert (first["data"]["currency"], first["data"]["venue"]) == ("$SIM", "sim")
        assert first["data"]["fill_status"] == "filled"
        assert {*box.secrets} == {SECRET}
        await leap(stage.clock, 700)
        assert len(box.got) == 3


@pytest.mark.slow
async def test_a_failed_delivery_is_repeated_under_one_id_after_longer_and_longer_pauses(
    tmp_path: Path,
) -> None:
    box = Mailbox(errors=["responded with status 500"] * 3)
    async with opened(tmp_path, box) as stage:
        webhook_id = await hook(stage, "trade.executed")
        await buy(stage)
        await buy(stage, 6)
        times: list[int] = []
        for second in range(30):
            await stage.clock.advance(1)
            times += [second] * (len(box.got) - len(times))
        first = box.got[0]
        # Three failures: after 2, 4 and 8 seconds; the second trade waits behind the first.
        assert [one == first for one in box.got] == [True, True, True, True, False]
        assert [late - early for early, late in pairwise(times)] == [2, 4, 8, 0]
        row = await state_of(stage, webhook_id)
        assert (row["consecutive_failures"], row["active"], row["waiting"]) == (0, True, 0)
        assert row["last_error"] == ""
        assert row["last_delivery_at"]


@pytest.mark.slow
async def test_ten_failures_in_a_row_disable_a_webhook_and_no_other(tmp_path: Path) -> None:
    refused = "https://down.example/in"

    async def post(url: str, parcel: Parcel, secret: str, *, allows_loopback: bool) -> str:
        await box(url, parcel, secret, allows_loopback=allows_loopback)
        return "no answer" if url == refused else ""

    box = Mailbox()
    async with open_stage(tmp_path, webhooks=WebhookParts(post=post), speed=0) as stage:
        bad = await hook(stage, "trade.executed", url=refused)
        good = await hook(stage, "trade.executed")
        await buy(stage)
        await leap(stage.clock, 2_000)
        assert box.urls.count(refused) == WEBHOOK_FAILURES_MAX
        row = await state_of(stage, bad)
        assert (row["active"], row["consecutive_failures"]) == (False, WEBHOOK_FAILURES_MAX)
        assert (row["last_error"], row["waiting"]) == ("no answer", 0)
        await buy(stage)
        await leap(stage.clock, 2_000)
        assert box.urls.count(refused) == WEBHOOK_FAILURES_MAX
        assert (await state_of(stage, good))["active"]
        assert len(box.got) == WEBHOOK_FAILURES_MAX + 2


@pytest.mark.slow
async def test_what_was_not_delivered_before_a_stop_is_delivered_after_it(tmp_path: Path) -> None:
    box = Mailbox(errors=["no answer"] * 2)
    parts = WebhookParts(post=box)
    async with open_stage(tmp_path, webhooks=parts, speed=0) as stage:
        webhook_id = await hook(stage, "trade.executed")
        trades = [await buy(stage, amount) for amount in (5, 6)]
        await stage.clock.advance(1)
        key, agent_id, clock = stage.key, stage.agent_id, stage.clock
    tried = len(box.got)
    assert tried == 1
    box.errors.clear()
    again = open_stage(tmp_path, clock, key=key, agent_id=agent_id, webhooks=parts)
    async with again as stage:
        await stage.clock.advance(1)
        ids = [parcel.delivery_id for parcel in box.got[tried:]]
        assert ids[0] == box.got[0].delivery_id
        assert [body["data"]["trade_id"] for body in box.bodies[tried:]] == [
            trade["trade_id"] for trade in trades
        ]
        assert (await state_of(stage, webhook_id))["consecutive_failures"] == 0


@pytest.mark.slow
async def test_the_deliveries_that_wait_are_bounded(tmp_path: Path) -> None:
    box = Mailbox(errors=["no answer"] * 1_000)
    async with opened(tmp_path, box) as stage:
        webhook_id = await hook(stage, "trade.executed")
        for _ in range(QUEUE_MAX + 4):
            fill = await buy(stage, 1)
            assert fill["success"], fill
            await stage.clock.advance(0)
            if (await state_of(stage, webhook_id))["waiting"] == 3:
                break
        assert (await state_of(stage, webhook_id))["waiting"] == 3


@pytest.mark.slow
async def test_a_webhook_gets_the_events_it_asked_for_of_its_own_agent(tmp_path: Path) -> None:
    box = Mailbox()
    async with opened(tmp_path, box) as stage:
        await ask(stage, "PATCH", "user/settings", {"auto_risk_monitor_enabled": False})
        await hook(stage, "market.resolved", "price.movement", "market.window_open")
        await buy(stage, 20)
        await stage.clock.advance(1)
        assert box.got == []
        ending = min(stage.open_markets(), key=lambda one: one.listing.resolved_at)
        body = {"market_id": ending.market_id, "side": "yes", "amount": 5}
        await ask(stage, "POST", "trade", body)
        stage.world.speed = 1
        await leap(stage.clock, ending.listing.resolved_at - stage.world.world_at + 10)
        kinds = [one["event"] for one in box.bodies]
        resolved = next(one["data"] for one in box.bodies if one["event"] == "market.resolved")
        assert resolved["market_id"] == ending.market_id
        assert resolved["outcome"] is ending.listing.outcome
        assert kinds.count("market.resolved") == 1
        opened_ = [one["data"] for one in box.bodies if one["event"] == "market.window_open"]
        assert opened_
        assert {one["window"] for one in opened_} <= {"5m", "15m", "1h", "4h", "daily"}
        assert "trade.executed" not in kinds


@pytest.mark.slow
async def test_a_test_delivery_counts_for_nothing(tmp_path: Path) -> None:
    box = Mailbox(errors=["responded with status 500"])
    async with opened(tmp_path, box) as stage:
        webhook_id = await hook(stage, "trade.executed")
        failed = await ask(stage, "POST", "webhooks/test", {})
        assert failed["success"] is False
        assert failed["results"][0]["error"] == "responded with status 500"
        passed = await ask(stage, "POST", "webhooks/test", {"webhook_id": webhook_id})
        assert passed["success"] is True
        assert box.bodies[-1]["event"] == "webhook.test"
        row = await state_of(stage, webhook_id)
        assert (row["consecutive_failures"], row["last_delivery_at"]) == (0, None)


@pytest.mark.slow
async def test_a_removed_webhook_is_sent_nothing_more(tmp_path: Path) -> None:
    box = Mailbox(errors=["no answer"] * 20)
    async with opened(tmp_path, box) as stage:
        webhook_id = await hook(stage, "trade.executed")
        await buy(stage)
        await stage.clock.advance(1)
        await ask(stage, "DELETE", f"webhooks/{webhook_id}")
        count = len(box.got)
        await leap(stage.clock, 600)
        assert len(box.got) == count
        assert (await ask(stage, "GET", "webhooks"))["webhooks"] == []


@pytest.mark.slow
async def test_a_removed_webhook_leaves_the_secret_of_another(tmp_path: Path) -> None:
    box = Mailbox()
    async with opened(tmp_path, box) as stage:
        removed = await hook(stage, "trade.executed", url="https://gone.example/in")
        await hook(stage, "trade.executed")
        await ask(stage, "DELETE", f"webhooks/{removed}")
        await buy(stage)
        await stage.clock.advance(1)
        assert (box.urls, box.secrets) == (["https://hook.example/in"], [SECRET])


@pytest.mark.slow
async def test_a_delivery_under_way_ends_with_its_webhook(tmp_path: Path) -> None:
    begun, ended = asyncio.Event(), asyncio.Event()

    async def post(url: str, parcel: Parcel, secret: str, *, allows_loopback: bool) -> str:
        del url, parcel, secret, allows_loopback
        begun.set()
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()
        return ""

    async with open_stage(tmp_path, webhooks=WebhookParts(post=post), speed=0) as stage:
        webhook_id = await hook(stage, "trade.executed")
        await buy(stage)
        async with asyncio.timeout(LATE_S):
            await begun.wait()
            assert not ended.is_set()
            await ask(stage, "DELETE", f"webhooks/{webhook_id}")
            await ended.wait()


@pytest.mark.slow
async def test_another_agent_sees_and_removes_no_webhook_of_mine(tmp_path: Path) -> None:
    async with opened(tmp_path, Mailbox()) as stage, calling(stage) as line:
        webhook_id = await hook(stage, "trade.executed")
        key = (await line.post("/api/sdk/agents/register", json={"name": "b"})).json()["api_key"]
        mine = {"Authorization": f"Bearer {key}"}
        seen = (await line.get("/api/sdk/webhooks", headers=mine)).json()
        assert seen == {"webhooks": [], "count": 0}
        path = f"/api/sdk/webhooks/{webhook_id}"
        assert (await line.delete(path, headers=mine)).status_code == 404
        # Only the operator's own agent may reach this machine, unless the operator allows it.
        for url in ("http://127.0.0.1:9/x", "https://[::1]:9/x"):
            body = {"url": url, "events": ["trade.executed"]}
            answer = await line.post("/api/sdk/webhooks", json=body, headers=mine)
            assert answer.status_code == 422
            assert "operator" in answer.json()["detail"][0]["msg"]


@pytest.mark.slow
async def test_a_secret_is_shown_once_and_stands_in_no_row(tmp_path: Path) -> None:
    data = tmp_path / "data"
    parts = WebhookParts(post=Mailbox(), secrets=SecretFile(tmp_path))
    async with open_stage(data, webhooks=parts, speed=0) as stage:
        body = {"url": "https://hook.example/", "events": ["trade.executed"]}
        made = await ask(stage, "POST", "webhooks", body)
        secret = made["secret"]
        assert len(secret) >= 32
        own = await ask(stage, "POST", "webhooks", body | {"secret": SECRET})
        assert own["secret"] is None
        assert secret not in json.dumps(await ask(stage, "GET", "webhooks"))
    kept = tmp_path / SECRETS_FILE
    assert kept.stat().st_mode & 0o077 == 0
    assert json.loads(kept.read_text()) == {made["id"]: secret, own["id"]: SECRET}
    for file in data.iterdir():
        if file.is_file():
            content = file.read_bytes()
            assert secret.encode() not in content
            assert SECRET.encode() not in content


@pytest.mark.slow
async def test_an_answer_without_an_event_disturbs_no_webhook(tmp_path: Path) -> None:
    box = Mailbox()
    async with opened(tmp_path, box) as stage, calling(stage) as line:
        await hook(stage, "trade.executed")
        body = {"market_id": stage.open_markets()[0].market_id, "side": "yes", "amount": 501}
        headers = {"Authorization": f"Bearer {stage.key}", "Idempotency-Key": "k1"}
        for _ in range(2):
            # Refused: nothing happens, and the answer alone is kept.
            answer = await line.post("/api/sdk/trade", json=body, headers=headers)
            assert (answer.status_code, answer.json()["success"]) == (200, False)
        await stage.clock.advance(1)
        assert box.got == []


@pytest.mark.slow
async def test_webhooks_that_are_registered_together_keep_their_own_secrets(
    tmp_path: Path,
) -> None:
    box = Mailbox()
    async with opened(tmp_path, box) as stage:
        body = {"events": ["trade.executed"]}
        async with asyncio.TaskGroup() as tasks:
            urls = (f"https://hook.example/{number}" for number in range(5))
            asked = [
                tasks.create_task(ask(stage, "POST", "webhooks", body | {"url": url}))
                for url in urls
            ]
        made = [one.result() for one in asked]
        assert len({one["id"] for one in made}) == 5
        await buy(stage)
        await stage.clock.advance(1)
        sent = dict(zip(box.urls, box.secrets, strict=True))
        assert sent == {one["url"]: one["secret"] for one in made}


@pytest.mark.slow
async def test_alerts_that_are_set_together_are_all_kept(tmp_path: Path) -> None:
    async with opened(tmp_path, Mailbox()) as stage:
        market_id = stage.open_markets()[0].market_id
        body = {"market_id": market_id, "side": "yes", "condition": "above", "threshold": 0.99}
        async with asyncio.TaskGroup() as tasks:
            urls = (f"https://hook.example/{number}" for number in range(5))
            asked = [
                tasks.create_task(ask(stage, "POST", "alerts", body | {"webhook_url": url}))
                for url in urls
            ]
        made = [one.result() for one in asked]
        assert len({one["id"] for one in made}) == 5
        assert (await ask(stage, "GET", "alerts"))["count"] == 5


@pytest.mark.slow
async def test_a_trade_that_no_commit_has_announced_is_delivered_in_its_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    box = Mailbox()
    async with opened(tmp_path, box) as stage:
        await hook(stage, "trade.executed")
        trades = [await buy(stage, 5)]
        with monkeypatch.context() as silent:
            silent.setattr(stage.sim.service.world_store.events, "followers", [])
            trades.append(await buy(stage, 6))
        trades.append(await buy(stage, 7))
        await stage.clock.advance(1)
        assert [body["data"]["trade_id"] for body in box.bodies] == [
            trade["trade_id"] for trade in trades
        ]


@pytest.mark.slow
async def test_secrets_that_cannot_be_read_disable_no_webhook(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    box = Mailbox()
    async with opened(tmp_path, box) as stage:
        webhook_id = await hook(stage, "trade.executed")
        courier = stage.sim.service.courier

        async def fail() -> dict[str, str]:
            raise StorageError("no secrets today")

        with monkeypatch.context() as broken:
            broken.setattr(courier, "_loaded", fail)
            await buy(stage)
            await leap(stage.clock, 4_000)
            assert (await state_of(stage, webhook_id))["consecutive_failures"] == 0
        await leap(stage.clock, 400)
        assert len(box.got) == 1


@pytest.mark.slow
async def test_an_address_for_one_alert_alone_goes_with_it(tmp_path: Path) -> None:
    async with opened(tmp_path, Mailbox()) as stage:
        market_id = stage.open_markets()[0].market_id
        body = {"market_id": market_id, "side": "yes", "condition": "above", "threshold": 0.99}
        for number in range(WEBHOOKS_MAX + 2):
            url = f"https://hook.example/{number}"
            alert = await ask(stage, "POST", "alerts", body | {"webhook_url": url})
            await ask(stage, "DELETE", f"alerts/{alert['id']}")
        assert (await ask(stage, "GET", "webhooks"))["count"] == 1


# -- over HTTP -----------------------------------------------------------------------------


@dataclass
class Receiver:
    """A server of the test's own; `statuses` are its next answers, then 204."""

    statuses: list[int] = field(default_factory=list)
    heard: list[tuple[str, dict[str, str], bytes]] = field(default_factory=list)
    url: str = ""
    came: asyncio.Event = field(default_factory=asyncio.Event)

    async def take(self, request: Request) -> Response:
        self.heard.append((request.url.path, dict(request.headers), await request.body()))
        self.came.set()
        status = self.statuses.pop(0) if self.statuses else 204
        if status == 302:
            return RedirectResponse(f"{self.url}/elsewhere", 302)
        return Response(status_code=status)


@asynccontextmanager
async def receiving(*statuses: int) -> AsyncGenerator[Receiver]:
    receiver = Receiver([*statuses])
    routes = [Route("/{path:path}", receiver.take, methods=["GET", "POST"])]
    app = Starlette(routes=routes)
    setattr(app.state, STATE, OpenStreams())
    async with listen(app) as address:
        receiver.url = address
        yield receiver


@pytest.mark.slow
async def test_a_trade_arrives_at_a_program_on_this_machine(tmp_path: Path) -> None:
    parts = WebhookParts(post=HttpPost())
    async with receiving() as receiver, open_stage(tmp_path, webhooks=parts, speed=0) as stage:
        await hook(stage, "trade.executed", url=f"{receiver.url}/mine")
        trade = await buy(stage)
        async with asyncio.timeout(LATE_S):
            await receiver.came.wait()
        _, headers, body = receiver.heard[0]
        assert headers["x-service-signature"] == signature(SECRET, body)
        assert json.loads(body)["data"]["trade_id"] == trade["trade_id"]


# -- where never ---------------------------------------------------------------------------

REFUSED: Final = (
    "http://hook.example/",
    "ftp://hook.example/",
    "https://",
    "hook.example",
    "https://user:word@hook.example/",
    "https://hook.example/#part",
    "https://hook.example:0/",
    "https://hook.example:99999/",
    "https://10.1.2.3/",
    "https://172.16.0.1/",
    "https://192.168.1.1/",
    "https://169.254.169.254/latest/meta-data",
    "https://100.64.0.1/",
    "https://0.0.0.0/",
    "https://224.0.0.1/",
    "https://255.255.255.255/",
    "https://[fe80::1]/",
    "https://[fc00::1]/",
    "https://[ff02::1]/",
    "https://[::]/",
    "https://[::ffff:127.0.0.1]/",
    "https://[::ffff:10.0.0.1]/",
    "https://[::ffff:169.254.169.254]/",
    "https://[64:ff9b::10.0.0.1]/",
    "https://[64:ff9b::127.0.0.1]/",
    "https://[64:ff9b::169.254.169.254]/",
    "https://[2002:7f00:1::]/",
    "https://[2002:0a00:1::]/",
    "https://[2002:a9fe:a9fe::1]/",
    # Through a public server of a tunnel to 127.0.0.1, 10.0.0.1 and 169.254.169.254.
    "https://[2001:0:5db8:d822::80ff:fffe]/",
    "https://[2001:0:5db8:d822::f5ff:fffe]/",
    "https://[2001:0:5db8:d822::5601:5601]/",
    "https://[fec0::1]/",
    "https://[::7f00:1]/",
    "https://[::ffff:0:7f00:1]/",
    "https://[5f00::1]/",
    "https://[3fff::1]/",
    "https://[2001:db8::1]/",
    "https://[64:ff9b:1::7f00:1]/",
    "https://192.88.99.1/",
)


@pytest.mark.parametrize("url", REFUSED)
@pytest.mark.parametrize("allows_loopback", [False, True])
def test_an_address_that_is_not_public_is_refused(url: str, *, allows_loopback: bool) -> None:
    with pytest.raises(AddressRefusedError):
        parsed(url, allows_loopback=allows_loopback)


@pytest.mark.parametrize("url", ["http://127.0.0.1:8000/x", "https://127.9.9.9/", "http://[::1]/"])
def test_loopback_by_number_wants_the_operator(url: str) -> None:
    assert parsed(url, allows_loopback=True).number is not None
    with pytest.raises(AddressRefusedError, match="operator"):
        parsed(url, allows_loopback=False)


async def test_the_number_that_was_checked_is_the_one_that_is_called() -> None:
    asked: list[str] = []

    async def lookup(name: str, port: int) -> list[str]:
        del port
        asked.append(name)
        # The second answer would lead inside: it is never asked for.
        return ["93.184.216.34"] if len(asked) == 1 else ["127.0.0.1"]

    address = parsed("https://hook.example/in", allows_loopback=False)
    number = await reachable(address, lookup, allows_loopback=False)
    assert (str(number), asked) == ("93.184.216.34", ["hook.example"])
    assert address.host_header == "hook.example"


async def test_a_number_is_reached_as_it_stands_and_a_port_is_any_above_zero() -> None:
    async def lookup(*_: object) -> list[str]:
        raise AssertionError("a number needs no name server")

    address = parsed("https://93.184.216.34:1/in", allows_loopback=False)
    number = await reachable(address, lookup, allows_loopback=False)
    assert (str(number), address.port) == ("93.184.216.34", 1)
    with pytest.raises(AddressRefusedError, match="not a port"):
        parsed("https://hook.example:0/", allows_loopback=False)


def test_a_number_inside_a_tunnel_is_looked_at() -> None:
    # Source: RFC 4380, 4: the client's number stands in the last 32 bits, each bit turned.
    inner = ipaddress.IPv4Address("10.0.0.1")
    number = ipaddress.IPv6Address((0x2001_0000 << 96) | (0xFFFF_FFFF ^ int(inner)))
    assert _inner(number) == inner


def test_public_numbers_pass() -> None:
    for text in ("93.184.216.34", "2606:2800:220:1:248:1893:25c8:1946"):
        check_number(ipaddress.ip_address(text), allows_loopback=False)
