"""The owner of a data directory: whether it is one, and who gets what is sent to it."""

import random
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Self

import httpx
import pytest

from service_tui.app import attached
from service_tui.app.attached import (
    HOLDER_URL,
    STARTING_S,
    HolderTransport,
    address_of,
    client_of_holder,
    is_served,
    loopback_address,
    loopback_transport,
    may_still_serve,
)
from service_tui.app.attached_desk import _unused
from service_tui.app.renewal import client_keys
from service_tui.client.errors import Called, UnreachableError
from service_tui.clock import ManualClock
from service_tui.credentials.keys import DeskKeys, KeysError
from service_tui.desk.facts import Fact, Served
from service_tui.storage.errors import Holder, StorageError

KEYS = DeskKeys("operator-key", "agent-key", "ada")


@pytest.mark.parametrize(
    ("address", "is_taken"),
    [
        ("http://127.0.0.1:8000", True),
        ("http://127.0.0.1:1", True),
        ("http://127.0.0.1:65535", True),
        ("http://127.0.0.1:0", False),
        ("http://127.0.0.1:012", False),
        ("http://127.0.0.1:123456", False),
        ("http://127.0.0.1:8000/x", False),
        ("http://127.0.0.2:8000", False),
        ("http://127x0.0.1:8000", False),
        ("https://127.0.0.1:8000", False),
        ("http://example.org:8000", False),
        ("", False),
        (None, False),
    ],
)
def test_an_owner_is_reached_on_this_machine_alone(
    monkeypatch: pytest.MonkeyPatch, address: str | None, *, is_taken: bool
) -> None:
    holder = Holder(7, 1.0, address)
    wanted = address if is_taken else None
    assert loopback_address(holder) == wanted
    monkeypatch.setattr(attached, "holder_of", lambda folder: holder if folder == Path("d") else 0)
    assert address_of(Path("d")) == wanted


def test_without_an_owner_or_a_readable_file_there_is_no_address(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def broken(_: Path) -> Holder:
        raise StorageError("the lock file cannot be read")

    monkeypatch.setattr(attached, "holder_of", lambda _: None)
    assert address_of(Path("d")) is None
    monkeypatch.setattr(attached, "holder_of", broken)
    assert address_of(Path("d")) is None


def test_a_line_of_this_machine_trusts_no_certificate_and_tries_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    given: dict[str, Any] = {}
    monkeypatch.setattr(attached, "ClosingTransport", lambda **more: given.update(more))
    loopback_transport()
    assert given["retries"] == 0
    assert given["limits"].keepalive_expiry == 4.0
    assert given["verify"].get_ca_certs() == []


class Line:
    """In place of a connection: what was sent, and whether it was closed."""

    def __init__(self) -> None:
        self.sent: list[httpx.Request] = []
        self.is_closed = False

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        self.sent.append(request)
        return httpx.Response(200, text="hello")

    async def aclose(self) -> None:
        self.is_closed = True


@pytest.fixture
def line(monkeypatch: pytest.MonkeyPatch) -> Line:
    made = Line()
    monkeypatch.setattr(attached, "loopback_transport", lambda: made)
    return made


async def test_each_request_goes_to_whoever_owns_the_directory_now(
    line: Line, monkeypatch: pytest.MonkeyPatch
) -> None:
    addresses = ["http://127.0.0.1:8001", "http://127.0.0.1:8002"]
    monkeypatch.setattr(attached, "address_of", lambda _: addresses.pop(0) if addresses else None)
    transport = HolderTransport(Path("d"))
    async with httpx.AsyncClient(transport=transport, base_url=HOLDER_URL) as client:
        for _ in range(2):
            answer = await client.post("/api/x?y=1", json={"a": 1}, headers={"Authorization": "k"})
            assert answer.text == "hello"
        with pytest.raises(httpx.ConnectError, match="no program serves this data directory"):
            await client.get("/api/x")
    assert [str(one.url) for one in line.sent] == [
        f"http://127.0.0.1:{port}/api/x?y=1" for port in (8001, 8002)
    ]
    assert [one.headers["Host"] for one in line.sent] == ["127.0.0.1:8001", "127.0.0.1:8002"]
    assert {(one.method, one.headers["Authorization"]) for one in line.sent} == {("POST", "k")}
    assert line.is_closed


async def test_an_owner_is_reported_once_and_again_when_it_is_another(
    line: Line, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = ["http://127.0.0.1:8001"]
    monkeypatch.setattr(attached, "address_of", lambda _: now[0])
    transport, told, own = HolderTransport(Path("d")), list[Fact](), [""]
    request = httpx.Request("GET", f"{HOLDER_URL}/x")
    await transport.handle_async_request(request)
    transport.report_to(told.append, own=lambda: own[0])
    for _ in range(2):
        await transport.handle_async_request(request)
    now[0] = own[0] = "http://127.0.0.1:8002"
    await transport.handle_async_request(request)
    assert told == [
        Served("http://127.0.0.1:8001", attached=True),
        Served("http://127.0.0.1:8002", attached=False),
    ]
    assert len(line.sent) == 4


class Client:
    """Of an owner that answers, or not."""

    def __init__(self, failing: str = "") -> None:
        self.called: list[Any] = []
        self._failing = failing

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None: ...

    async def health(self) -> None:
        self._note("health")

    async def call(self, _endpoint: Any, *, deadline_s: float) -> None:
        self._note("world")
        assert deadline_s == 2.0

    def _note(self, name: str) -> None:
        self.called.append(name)
        if name == self._failing:
            raise UnreachableError("away", Called("GET", "/x"))


@pytest.mark.parametrize(
    ("keys", "address", "failing", "called"),
    [
        (KEYS, "a", "", ["health", "world"]),
        (KEYS, "a", "world", ["health", "world"]),
        (KEYS, "a", "health", ["health"]),
        (KEYS, None, "", []),
        (DeskKeys("operator-key"), "a", "", []),
        (None, "a", "", []),
        (KeysError("broken"), "a", "", []),
    ],
)
async def test_a_directory_is_served_where_its_owner_answers_and_takes_its_key(  # noqa: PLR0917 - a table
    monkeypatch: pytest.MonkeyPatch,
    line: Line,
    keys: DeskKeys | KeysError | None,
    address: str | None,
    failing: str,
    called: list[str],
) -> None:
    client = Client(failing)
    opened: list[Any] = []

    def stored(_: Path) -> DeskKeys | None:
        if isinstance(keys, KeysError):
            raise keys
        return keys

    def client_of(*given: Any, read_only: bool) -> Client:
        opened.append((given[1], read_only))
        return client

    monkeypatch.setattr(attached, "stored_desk_keys", stored)
    monkeypatch.setattr(attached, "address_of", lambda _: address)
    monkeypatch.setattr(attached, "client_of_holder", client_of)
    found = await is_served(Path("d"), ManualClock())
    assert found is (called == ["health", "world"] and not failing)
    assert client.called == called
    assert opened == ([(KEYS, True)] if called else [])
    assert line.sent == []


@pytest.mark.parametrize(
    ("since", "may"), [(None, True), (100.0 - STARTING_S, False), (100.1 - STARTING_S, True)]
)
def test_an_owner_that_has_just_started_may_still_serve(since: float | None, *, may: bool) -> None:
    assert may_still_serve(Holder(7, since, None), 100.0) is may


def test_both_keys_are_for_the_owner_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[Any] = []
    monkeypatch.setattr(attached, "Client", lambda *given, **more: made.append((given, more)))
    transport, clock, rng = HolderTransport(Path("d")), ManualClock(), random.Random(1)
    client_of_holder(transport, KEYS, clock, rng, read_only=True)
    (((sent_by, url, keys), more),) = made
    assert (sent_by, url) == (transport, HOLDER_URL)
    assert keys == client_keys(KEYS, HOLDER_URL)
    assert more == {"clock": clock, "rng": rng, "read_only": True}


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({}, ""),
        ({"seed": 0}, "--seed"),
        ({"speed": 0}, "--speed"),
        ({"plan": "pro"}, "--plan"),
        ({"listen": 0}, ""),
        ({"listen": 8000}, "--listen"),
        ({"seed": 1, "listen": 8000}, "--seed, --listen"),
    ],
)
def test_what_only_an_owner_can_follow_is_named(given: dict[str, Any], said: str) -> None:
    options: Any = SimpleNamespace(
        **({"seed": None, "speed": None, "plan": None, "listen": None} | given)
    )
    assert _unused(options) == said
