"""Which service a session of a repository reaches, by whose key."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from service_tui.app.options import Options
from service_tui.client.keys import Key, Keys
from service_tui.clock import ManualClock
from service_tui.commands import research_opening
from service_tui.commands.research_arguments import ResearchRequest

OPTIONS = Options(Path("d"), Path("c"), Path("l"))
KEY = "sk_live_" + "a" * 40


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """What was opened and made, in order."""
    found: list[Any] = []

    @asynccontextmanager
    async def client(*given: Any, **more: Any) -> AsyncIterator[Any]:
        found.append((given, more))
        yield "client"

    @asynccontextmanager
    async def succeeding(options: Options, _: Any) -> AsyncIterator[None]:
        found.append(("succeeds", options.listen))
        yield

    async def served(_stack: Any, options: Options, _: Any) -> None:
        found.append(("served", options.data_dir))

    monkeypatch.setattr(research_opening, "Client", client)
    monkeypatch.setattr(research_opening, "succeeding", succeeding)
    monkeypatch.setattr(research_opening, "_ensure_served", served)
    monkeypatch.setattr(research_opening, "_keys_of", lambda *_: "its keys")
    monkeypatch.setattr(research_opening, "HolderTransport", lambda folder: ("line", folder))
    monkeypatch.setattr(
        research_opening, "httpx", SimpleNamespace(AsyncHTTPTransport=lambda **more: more)
    )
    return found


@pytest.mark.parametrize("insecure", [True, False])
async def test_a_service_that_is_named_is_reached_as_the_person_allows(
    made: list[Any], *, insecure: bool
) -> None:
    request = ResearchRequest(Path("r"), api_key=KEY, api_url="http://there:80")
    clock = ManualClock()
    options = replace(OPTIONS, allow_insecure=insecure)
    async with research_opening._client(options, request, clock) as client:
        assert client == "client"
    (((line, url, keys), more),) = made
    assert (line, url) == ({"retries": 0, "proxy": None}, "http://there:80")
    assert keys == Keys(Key(KEY, "http://there:80"))
    assert (more["clock"], more["allow_insecure"]) == (clock, insecure)


@pytest.mark.parametrize("named", [{}, {"api_key": KEY}, {"api_url": "http://there:80"}])
async def test_else_it_is_the_service_of_the_directory(
    made: list[Any], named: dict[str, str]
) -> None:
    request = ResearchRequest(Path("r"), **named)
    async with research_opening._client(OPTIONS, request, ManualClock()):
        pass
    served, succeeds, (given, _) = made
    assert (served, succeeds) == (("served", Path("d")), ("succeeds", 0))
    assert given == (("line", Path("d")), research_opening.HOLDER_URL, "its keys")


@pytest.mark.parametrize("allows", [True, False])
async def test_a_session_runs_commands_only_where_a_person_allowed_it_and_is_closed(
    made: list[Any], monkeypatch: pytest.MonkeyPatch, *, allows: bool
) -> None:
    steps: list[Any] = []

    class Session:
        """A session that notes what it was made of."""

        def __init__(self, means: Any) -> None:
            self.means = means

        async def open(self) -> None:
            steps.append("opened")

        def close(self) -> None:
            steps.append("closed")

    async def repository_at(folder: Path) -> str:
        return f"repository of {folder}"

    monkeypatch.setattr(research_opening, "Session", Session)
    monkeypatch.setattr(research_opening, "repository_at", repository_at)
    monkeypatch.setattr(research_opening, "Remote", lambda client: ("remote", client))
    request = ResearchRequest(Path("r"), api_key=KEY, api_url="http://there:80")
    request = replace(request, allows_shell=allows, cap=7)
    means: list[Any] = []

    async def broken_off() -> None:
        async with research_opening._opened(OPTIONS, request, ManualClock()) as session:
            means.append(session.means)
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await broken_off()
    (given,) = means
    assert (given.allows_shell, given.cap) == (allows, 7)
    assert (given.repository, given.remote) == ("repository of r", ("remote", "client"))
    assert given.data_dir == OPTIONS.data_dir
    assert steps == ["opened", "closed"]
    assert made
