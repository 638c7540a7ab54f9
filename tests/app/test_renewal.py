"""Keys of a directory that another program has changed, and what an action log says of itself."""

import random
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import httpx
import pytest

from service_tui.app.renewal import client_keys, renewing
from service_tui.client.api_keys import ApiKey, ApiKeys
from service_tui.client.client import Client
from service_tui.client.errors import ServiceError
from service_tui.clock import SystemClock
from service_tui.commands import log as log_command
from service_tui.commands.log import LogCommandError, verify_log
from service_tui.credentials.api_keys import DESK_FILE, DeskKeys, keep_desk_keys
from service_tui.storage.action_log import FILE
from service_tui.wire.endpoints.public import AGENT

URL = "http://127.0.0.1:9"
OLD = DeskKeys("sk_operator", agent="sk_live_old", agent_id="own")
NEW = DeskKeys("sk_operator", agent="sk_live_new", agent_id="own")


def test_keys_of_a_directory_are_for_its_own_service() -> None:
    assert client_keys(OLD, URL) == ApiKeys(ApiKey("sk_live_old", URL), ApiKey("sk_operator", URL))
    assert client_keys(DeskKeys("sk_operator"), URL) == ApiKeys(None, ApiKey("sk_operator", URL))


async def test_keys_are_renewed_once_they_are_others(tmp_path: Path) -> None:
    sent: list[str] = []

    def answer(request: httpx.Request) -> httpx.Response:
        sent.append(request.headers["Authorization"])
        return httpx.Response(404, stream=httpx.ByteStream(b"{}"))

    line = httpx.MockTransport(answer)
    api_keys = client_keys(OLD, URL)
    async with Client(line, URL, api_keys, clock=SystemClock(), rng=random.Random(1)) as client:

        async def key() -> str:
            with suppress(ServiceError):
                await client.call(AGENT)
            return sent[-1].removeprefix("Bearer ")

        renew = renewing(tmp_path, client, OLD, URL)
        # Nothing is stored, or the same as before.
        assert not renew()
        keep_desk_keys(tmp_path, OLD)
        assert not renew()
        assert await key() == OLD.agent
        keep_desk_keys(tmp_path, NEW)
        assert [renew(), renew()] == [True, False]
        assert await key() == NEW.agent
        (tmp_path / DESK_FILE).write_text("[")
        assert not renew()
        assert await key() == NEW.agent
        # An operator's key that was renewed counts as well.
        keep_desk_keys(tmp_path, replace(NEW, operator="sk_other"))
        assert renew()


@pytest.mark.parametrize(
    ("chain", "expected", "said", "is_well"),
    [
        (("", 9, "ab12"), "", "9 entries: log verified; last hash ab12", True),
        (("line 4 differs", 3, ""), "", "line 4 differs; the 3 entries before it are", False),
        (FileNotFoundError(), "", "0 entries: nothing logged in", True),
        (FileNotFoundError(), "ab12", "does not exist: no line has the hash ab12", False),
        (PermissionError(13, "not allowed"), "", "cannot read", False),
    ],
)
def test_the_log_says_how_far_it_holds(
    monkeypatch: pytest.MonkeyPatch, chain: Any, expected: str, said: str, *, is_well: bool
) -> None:
    def verify(path: Path, wanted: str) -> Any:
        assert (path, wanted) == (Path("/d") / FILE, expected)
        if isinstance(chain, Exception):
            raise chain
        problem, count, last = chain
        return SimpleNamespace(problem=problem, count=count, last_hash=last)

    monkeypatch.setattr(log_command, "verify", verify)
    if is_well:
        assert verify_log(Path("/d"), expected).startswith(said)
    else:
        with pytest.raises(LogCommandError, match=said):
            verify_log(Path("/d"), expected)
