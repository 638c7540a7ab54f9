"""A call that is never free is charged for its answer, and for nothing else."""

from types import SimpleNamespace
from typing import Any, Final

import pytest

from kit.engine.bare import bare_world
from kit.service.bare import bare_service
from service_tui.engine.errors import MarketNotFound
from service_tui.server import app
from service_tui.server.http.direct import DirectRequest
from service_tui.server.http.refusals import denied
from service_tui.storage.errors import StorageError
from service_tui.wire.base import WireModel
from service_tui.wire.endpoints.paid import PAID_BRIEFING
from service_tui.wire.payment import PAID_HEADER

ASKED: Final[dict[str, Any]] = {
    "type": "http", "method": PAID_BRIEFING.method, "path": PAID_BRIEFING.path,
    "query_string": b"", "client": ("127.0.0.1", 1),
    "headers": [(b"host", b"127.0.0.1"), (b"content-type", b"application/json")],
}  # fmt: skip


class Reply(WireModel):
    """An answer."""

    word: str = "yes"


@pytest.fixture
def steps(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What happens to a call, in its order."""
    found: list[str] = []

    async def admitted(*_: object) -> dict[str, str]:
        found.append("admitted")
        return {}

    async def charged(*_: object) -> dict[str, str]:
        found.append("charged")
        return {PAID_HEADER: "receipt"}

    async def read(request: Any, handler: Any) -> tuple[WireModel, int]:
        return await handler(request), 7

    monkeypatch.setattr(app, "admitted", admitted)
    monkeypatch.setattr(app, "charged", charged)
    monkeypatch.setattr(app, "_write", read)
    return found


async def answered(steps: list[str], fault: Exception | None) -> Any:
    """What a caller gets whose call is carried out, or fails."""
    service = bare_service(bare_world("ada"))
    service.world_store.written_seq = 7
    ada = service.world.agents["ada"]
    access: Any = SimpleNamespace(agent=lambda *_: ada)

    async def handler(_: object) -> Reply:
        steps.append("worked")
        if fault is not None:
            raise fault
        return Reply()

    async def receive() -> Any:
        return {"type": "http.request", "body": b"{}", "more_body": False}

    answer = app._answering(service, access, PAID_BRIEFING, handler)
    return await answer(DirectRequest(dict(ASKED), receive))


async def test_it_is_charged_once_its_answer_is_there(steps: list[str]) -> None:
    response = await answered(steps, None)
    assert steps == ["admitted", "worked", "charged"]
    assert (response.status_code, response.headers[PAID_HEADER]) == (200, "receipt")


@pytest.mark.parametrize(
    ("fault", "status"),
    [
        (MarketNotFound("m9"), 404),
        (denied(403, "no", "do"), 403),
        (StorageError("the disk is full"), 503),
    ],
)
async def test_a_call_that_fails_costs_nothing(
    steps: list[str], fault: Exception, status: int
) -> None:
    response = await answered(steps, fault)
    assert steps == ["admitted", "worked"]
    assert response.status_code == status
    assert PAID_HEADER not in response.headers
