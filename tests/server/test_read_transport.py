"""Reads carried straight to the handlers: which is meant, who asks, and what is answered."""

import json
from types import SimpleNamespace
from typing import Any, Final

import httpx
import pytest

from service_tui.engine.errors import MarketNotFound
from service_tui.server import read_transport
from service_tui.server.http.refusals import denied
from service_tui.server.read_transport import ReadTransport
from service_tui.storage.errors import StorageError
from service_tui.wire.base import WireModel


class Asked(WireModel):
    """A query."""

    limit: int = 5


class Reply(WireModel):
    """An answer with a field that may be null."""

    word: str = "yes"
    polymarket_pnl: float | None = None


class Path:
    """An endpoint, as far as this way looks at it."""

    def __init__(self, path: str, **changes: Any) -> None:
        self.path, self.method, self.reads = path, "GET", True
        self.operator = self.keyless = False
        self.query: Any = None
        vars(self).update(changes)


OF_AGENT: Final = Path("/api/markets/{market_id}", query=Asked)
LISTED: Final = Path("/api/markets/open")
OF_PERSON: Final = Path("/api/desk", operator=True)
OPEN: Final = Path("/health", keyless=True)
CHANGES: Final = Path("/api/trade", reads=False, method="POST")


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """The requests that reached a handler."""
    found: list[Any] = []

    async def handler(request: Any) -> Reply:
        found.append(request)
        error = request.service.error
        if error is not None:
            raise error
        return Reply()

    routes = dict.fromkeys((OF_AGENT, LISTED, OF_PERSON, OPEN, CHANGES), handler)
    monkeypatch.setattr(read_transport, "ROUTES", routes)
    return found


class Access:
    """Who calls: by the key alone."""

    def agent(self, _: Any, headers: Any, asked: Any) -> Any:
        if headers.get("x-api-key") != "k1":
            raise denied(401, "no key", "send one")
        return f"agent of {asked.path}"

    def person(self, _: Any, asked: Any, headers: Any) -> Any:
        return f"person of {asked.path} {headers['x-api-key']}"


async def call(
    path: str, method: str = "GET", error: Exception | None = None, key: str = "k1"
) -> tuple[int, Any]:
    service: Any = SimpleNamespace(error=error, clock=SimpleNamespace(now=lambda: 77.0))
    access: Any = Access()
    request = httpx.Request(method, f"http://here{path}", headers={"x-api-key": key})
    answer = await ReadTransport(service, access).handle_async_request(request)
    assert answer.headers["content-type"] == "application/json"
    return answer.status_code, json.loads(await answer.aread())


async def test_an_agents_read_has_its_caller_its_ids_and_its_query(asked: list[Any]) -> None:
    status, body = await call("/api/markets/m1?limit=7")
    assert (status, body) == (200, {"word": "yes", "evm_venue_pnl": None})
    (request,) = asked
    assert (request.caller, request.person) == ("agent of /api/markets/{market_id}", None)
    assert (request.path, request.query, request.now) == ({"market_id": "m1"}, Asked(limit=7), 77.0)


async def test_a_path_of_its_own_comes_before_one_with_an_id(asked: list[Any]) -> None:
    await call("/api/markets/open")
    assert asked[0].caller == "agent of /api/markets/open"
    assert (asked[0].path, asked[0].query) == ({}, None)


async def test_a_persons_read_has_its_person_and_an_open_one_nobody(asked: list[Any]) -> None:
    await call("/api/desk")
    await call("/health", key="")
    assert [(one.caller, one.person) for one in asked] == [
        (None, "person of /api/desk k1"), (None, None)
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("path", "method"),
    [
        ("/api/trade", "POST"),
        ("/api/markets/open", "POST"),
        ("/api/markets", "GET"),
        ("/api/markets/m1/more", "GET"),
        ("/api/other/m1", "GET"),
    ],
)
async def test_only_reads_that_there_are_are_carried(
    path: str, method: str, asked: list[Any]
) -> None:
    status, body = await call(path, method)
    assert (status, body["error"]) == (404, f"{method} {path} is not read here")
    assert asked == []


@pytest.mark.parametrize(
    ("error", "status", "said"),
    [
        (MarketNotFound("gone", "look"), 404, "gone"),
        (denied(409, "taken", "wait"), 409, "taken"),
        (StorageError("no room"), 503, "no room"),
    ],
)
async def test_a_refusal_is_answered_as_the_app_does(
    error: Exception, status: int, said: str, asked: list[Any]
) -> None:
    got, body = await call("/api/markets/open", error=error)
    assert (got, body["error"]) == (status, said)
    assert "claim_url" not in body
    assert len(asked) == 1


async def test_a_wrong_key_and_a_wrong_query_reach_no_handler(asked: list[Any]) -> None:
    assert (await call("/api/markets/open", key="k2"))[0] == 401
    status, body = await call("/api/markets/m1?limit=many")
    assert (status, body["detail"][0]["loc"]) == (422, ["query", "limit"])
    assert asked == []
