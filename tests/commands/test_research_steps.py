"""Whose key and service a session of a repository takes, and what its commands print."""

import sys
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from service_tui.app import ownership
from service_tui.app.options import Options
from service_tui.autoresearch.errors import BusyError, ToolError
from service_tui.clock import ManualClock
from service_tui.commands import research, research_opening
from service_tui.commands.research_arguments import ResearchRequest
from service_tui.console.closed_desk import DeskClosedError
from service_tui.storage.errors import DirectoryLockedError, Holder

AT_HOME = "http://127.0.0.1:7"


@pytest.fixture
def options(tmp_path: Path) -> Options:
    return Options(tmp_path, tmp_path, tmp_path / "log")


def stored(monkeypatch: pytest.MonkeyPatch, key: str | None, address: str | None) -> None:
    keys = None if key is None else SimpleNamespace(agent=key)
    monkeypatch.setattr(research_opening, "stored_desk_keys", lambda _: keys)
    monkeypatch.setattr(research_opening, "address_of", lambda _: address)


@pytest.mark.parametrize(
    ("given", "kept", "found"),
    [
        (("k1", "https://desk.example"), ("k2", AT_HOME), ("k1", "https://desk.example")),
        ((None, "https://desk.example"), ("k2", AT_HOME), ("k2", AT_HOME)),
        (("k1", None), ("k2", AT_HOME), ("k1", AT_HOME)),
        (("k1", None), (None, AT_HOME), ("k1", AT_HOME)),
        ((None, None), ("k2", AT_HOME), ("k2", AT_HOME)),
        ((None, None), (None, AT_HOME), None),
        ((None, None), ("k2", None), None),
    ],
)
def test_an_experiment_reaches_the_service_of_its_session(
    monkeypatch: pytest.MonkeyPatch,
    given: tuple[str | None, str | None],
    kept: tuple[str | None, str | None],
    found: tuple[str, str] | None,
) -> None:
    stored(monkeypatch, *kept)
    home = Path("/home")
    request = ResearchRequest(home, api_key=given[0], api_url=given[1])

    api = research_opening._api_of(Options(home, home, home), request)

    wanted = {} if found is None else {"SERVICE_API_KEY": found[0], "SERVICE_API_URL": found[1]}
    assert api == wanted


def test_a_command_finds_the_servers_own_python_first() -> None:
    made = research_opening._command_environment({"PATH": "/bin", "A": "b"})

    assert made == {"PATH": f"{Path(sys.executable).parent}:/bin", "A": "b"}


def test_a_python_that_was_activated_stays_first() -> None:
    environment = {"PATH": "/v/bin:/bin", "VIRTUAL_ENV": "/v"}

    assert research_opening._command_environment(environment) == environment


def test_a_command_has_a_path_where_the_environment_names_none() -> None:
    made = research_opening._command_environment({})

    assert made["PATH"].startswith(f"{Path(sys.executable).parent}:/")


def test_a_directory_without_a_key_says_what_to_do(
    monkeypatch: pytest.MonkeyPatch, options: Options
) -> None:
    stored(monkeypatch, None, None)

    with pytest.raises(ToolError, match=r"has no key.*open the console on it once"):
        research_opening._keys_of(options, ResearchRequest(options.data_dir))


def test_a_successor_serves_at_the_port_of_the_start_or_any(options: Options) -> None:
    as_successor = research_opening._as_successor

    assert as_successor(options).listen == 0
    assert as_successor(replace(options, listen=8_000)).listen == 8_000


class Waits(ManualClock):
    """A clock that passes by itself."""

    async def sleep(self, seconds: float) -> None:
        await self.advance(seconds)


class Served:
    """A directory that is served after so many looks, or that others own so often."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, *, after: int, locked: int) -> None:
        self.looks = self.owned = 0
        self._after, self._locked = after, locked

        async def is_served(*_: object) -> bool:
            self.looks += 1
            return self.looks > self._after

        @asynccontextmanager
        async def own_directory(options: Options, *_: object) -> AsyncGenerator[None]:
            if self._locked > 0:
                self._locked -= 1
                raise DirectoryLockedError(options.data_dir, Holder(7, 1.0, None))
            self.owned += 1
            yield

        monkeypatch.setattr(research_opening, "is_served", is_served)
        monkeypatch.setattr(ownership, "own_directory", own_directory)

    async def ensure(self, options: Options) -> float:
        """Seconds that it took."""
        clock = Waits(0.0)
        async with AsyncExitStack() as stack:
            await research_opening._ensure_served(stack, options, clock)
        return clock.monotonic()


@pytest.mark.parametrize(
    ("looks", "owned", "tries"), [((0, 0), 0, 0), ((9, 0), 1, 0), ((9, 2), 1, 2), ((1, 9), 0, 1)]
)
async def test_a_directory_is_owned_where_nobody_serves_it(
    monkeypatch: pytest.MonkeyPatch, looks: tuple[int, int], owned: int, tries: int
) -> None:
    served = Served(monkeypatch, after=looks[0], locked=looks[1])

    waited = await served.ensure(Options(Path("/d"), Path("/d"), Path("/d/log")))

    assert served.owned == owned
    assert waited == pytest.approx(tries * research_opening.AGAIN_S)


async def test_an_owner_that_never_serves_is_an_error_after_a_while(
    monkeypatch: pytest.MonkeyPatch, options: Options
) -> None:
    served = Served(monkeypatch, after=10_000, locked=10_000)

    with pytest.raises(DirectoryLockedError):
        await served.ensure(options)

    assert served.looks >= research_opening.STARTING_S / research_opening.AGAIN_S


@pytest.mark.parametrize(
    ("raised", "seen"),
    [
        (DeskClosedError("in use", "end it"), ToolError),
        (ToolError("no repository"), ToolError),
        (ExceptionGroup("two", [ToolError("no repository")]), ToolError),
        (ValueError("no key"), ToolError),
        (KeyError("a bug"), KeyError),
    ],
)
async def test_why_a_session_does_not_open_is_one_error(
    monkeypatch: pytest.MonkeyPatch, options: Options, raised: Exception, seen: type[Exception]
) -> None:
    @asynccontextmanager
    async def opening(*_: object) -> AsyncGenerator[Any]:
        raise raised
        yield

    monkeypatch.setattr(research_opening, "_opened", opening)

    with pytest.raises(seen):
        async with research_opening.opened(
            options, ResearchRequest(options.data_dir), ManualClock(0.0)
        ):
            pass


class Clients:
    """Clients that are made, and the sessions on them."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.made: list[tuple[Any, ...]] = []
        self.means: list[Any] = []
        self.steps: list[str] = []

        @asynccontextmanager
        async def client(*values: Any, **_: object) -> AsyncGenerator[str]:
            self.made.append(values)
            yield "client"

        @asynccontextmanager
        async def succeeding(options: Options, _: object) -> AsyncGenerator[None]:
            self.steps.append(f"succeeds at {options.listen}")
            yield

        async def ensure_served(_: AsyncExitStack, options: Options, __: object) -> None:
            self.steps.append(f"serves {options.data_dir.name}")

        async def repository_at(folder: Path) -> str:
            return f"repository {folder}"

        monkeypatch.setattr(research_opening, "Client", client)
        monkeypatch.setattr(research_opening, "succeeding", succeeding)
        monkeypatch.setattr(research_opening, "_ensure_served", ensure_served)
        monkeypatch.setattr(research_opening, "repository_at", repository_at)
        monkeypatch.setattr(research_opening, "Remote", lambda client: f"remote of {client}")
        monkeypatch.setattr(research_opening, "Session", self.session)

    def session(self, means: Any) -> SimpleNamespace:
        self.means.append(means)

        async def begin() -> None:
            self.steps.append("opened")

        return SimpleNamespace(open=begin, close=lambda: self.steps.append("closed"))


SECRET = "sk_live_0123456789abcdef"  # noqa: S105 - opens nothing


async def test_a_session_is_opened_on_the_service_that_the_environment_names(
    monkeypatch: pytest.MonkeyPatch, options: Options
) -> None:
    clients = Clients(monkeypatch)
    request = ResearchRequest(
        Path("/r"), allows_shell=True, cap=4, api_key=SECRET, api_url="https://desk.example"
    )

    async with research_opening.opened(options, request, ManualClock(0.0)):
        assert clients.steps == ["opened"]

    assert clients.steps == ["opened", "closed"]
    ((_, address, keys),) = clients.made
    assert (address, keys.api.secret, keys.api.base_url) == (
        "https://desk.example", SECRET, "https://desk.example",
    )  # fmt: skip
    (means,) = clients.means
    assert (means.repository, means.remote) == ("repository /r", "remote of client")
    assert (means.cap, means.allows_shell, means.data_dir) == (4, True, options.data_dir)
    assert means.api()["SERVICE_API_KEY"] == SECRET


async def test_without_one_a_session_is_opened_on_the_owner_of_the_directory(
    monkeypatch: pytest.MonkeyPatch, options: Options
) -> None:
    clients = Clients(monkeypatch)
    request = ResearchRequest(Path("/r"), api_key=SECRET)

    async with research_opening.opened(options, request, ManualClock(0.0)):
        pass

    assert clients.steps == [
        f"serves {options.data_dir.name}", "succeeds at 0", "opened", "closed",
    ]  # fmt: skip
    ((_, address, keys),) = clients.made
    assert address == research_opening.HOLDER_URL
    assert (keys.api.secret, keys.api.base_url) == (SECRET, research_opening.HOLDER_URL)


# -- the commands ---------------------------------------------------------------------------


@pytest.fixture
def printed(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    lines: list[str] = []
    monkeypatch.setattr(research, "print_lines", lambda *more: lines.extend(more))

    async def repository_at(folder: Path) -> SimpleNamespace:
        return SimpleNamespace(root=folder, file=folder / "autoresearch.jsonl")

    monkeypatch.setattr(research, "repository_at", repository_at)
    return lines


def notes(monkeypatch: pytest.MonkeyPatch, *, bad_lines: int = 0, **states: str) -> None:
    """Sessions of skills, in the order of the file, each in a state or off."""
    configs = [
        SimpleNamespace(
            skill=skill, name=f"{skill} 1", cap=3 if skill == "dip" else 0, metric_name="pnl",
            direction=SimpleNamespace(value="higher"),
        )
        for skill in states
    ]  # fmt: skip

    def standing_of(config: Any) -> SimpleNamespace:
        why = "three crashed in a row" if states[config.skill] != "running" else ""
        return SimpleNamespace(
            state=SimpleNamespace(value=states[config.skill]), count=6, kept=1, discarded=2,
            crashed=3, baseline=None, best=12.5, why=why,
        )  # fmt: skip

    found = SimpleNamespace(
        configs=configs, bad_lines=bad_lines, standing_of=standing_of,
        off={skill for skill, state in states.items() if state == "off"},
        config_of=lambda skill: next(one for one in configs if one.skill == skill),
    )  # fmt: skip
    monkeypatch.setattr(research, "notes_of", lambda _: found)


def test_the_status_of_a_repository_without_a_session_says_how_to_start_one(
    monkeypatch: pytest.MonkeyPatch, options: Options, printed: list[str]
) -> None:
    notes(monkeypatch)

    research.autoresearch(options, ResearchRequest(Path("/r"), "status"))

    assert printed == ["no session in /r; start one with 'service-tui autoresearch <skill>'"]


def test_the_status_shows_each_skill_once_the_latest_first(
    monkeypatch: pytest.MonkeyPatch, options: Options, printed: list[str]
) -> None:
    notes(monkeypatch, bad_lines=2, dip="stopped", fade="running", edge="off")

    research.autoresearch(options, ResearchRequest(Path("/r"), "status"))

    counts = "1 kept, 2 discarded, 3 crashed"
    figures = "  pnl: baseline none, best 12.5 (higher is better)"
    assert printed == [
        "edge: off, session 'edge 1'", f"  6 of any number of experiments: {counts}", figures,
        "fade: running, session 'fade 1'", f"  6 of any number of experiments: {counts}", figures,
        "dip: stopped, session 'dip 1'", f"  6 of 3 experiments: {counts}", figures,
        "  three crashed in a row", "2 unreadable lines in /r/autoresearch.jsonl",
    ]  # fmt: skip


def test_a_skill_is_turned_off(
    monkeypatch: pytest.MonkeyPatch, options: Options, printed: list[str]
) -> None:
    asked: list[tuple[Any, ...]] = []

    def turn_off(repository: Any, skill: str, now_ms: int) -> str:
        asked.append((repository.root, skill, now_ms > 1_000_000_000_000))
        return "dip"

    monkeypatch.setattr(research, "turn_off", turn_off)

    research.autoresearch(options, ResearchRequest(Path("/r"), "off", "d"))

    assert printed == ["autoresearch is off for dip; a new session turns it on"]
    assert asked == [(Path("/r"), "d", True)]


class Sessions:
    """A session that notes how it began, or a server that works already."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, *, is_busy: bool = False) -> None:
        self.began: list[tuple[str, Any]] = []

        @asynccontextmanager
        async def opened(*_: object) -> AsyncGenerator[Sessions]:
            if is_busy:
                raise BusyError("another server works here")
            yield self

        monkeypatch.setattr(research, "opened", opened)

    async def init(self, arguments: Any) -> dict[str, object]:
        self.began.append(("init", arguments))
        return {"skill": "dip", "state": "running", "session": "s", "worktree": "/w", "branch": "b"}

    async def reset(self, skill: str) -> dict[str, object]:
        self.began.append(("reset", skill))
        return {"skill": skill, "state": "fresh", "session": "s", "worktree": "/w", "branch": "b"}


LAST = "  start 'service-tui autoresearch' from an MCP client in the repository"


def test_a_skills_session_begins_with_the_request_as_it_was_made(
    monkeypatch: pytest.MonkeyPatch, options: Options, printed: list[str]
) -> None:
    sessions = Sessions(monkeypatch)
    request = ResearchRequest(Path("/r"), "dip", name="first", metric="sharpe", unit="x")

    research.autoresearch(options, request)

    ((word, made),) = sessions.began
    assert word == "init"
    assert (made.name, made.skill_slug, made.metric_name) == ("first", "dip", "sharpe")
    assert (made.metric_unit, made.direction) == ("x", "higher")
    assert printed == ["dip: running, session 's'", "  experiments run in /w on b", LAST]


def test_a_session_without_a_name_is_named_by_its_skill_and_the_time() -> None:
    first = research._first_arguments

    made = first(ResearchRequest(Path("/r"), "dip"), ManualClock(1_234.4))

    assert (made.name, made.metric_name, made.metric_unit) == ("dip 1234", "pnl", "$")


def test_a_reset_begins_the_skill_afresh(
    monkeypatch: pytest.MonkeyPatch, options: Options, printed: list[str]
) -> None:
    sessions = Sessions(monkeypatch)

    research.autoresearch(options, ResearchRequest(Path("/r"), "reset", "dip"))

    assert sessions.began == [("reset", "dip")]
    assert printed[0] == "dip: fresh, session 's'"


@pytest.mark.parametrize(("word", "step"), [("dip", "first of dip 4"), ("reset", "fresh dip 4")])
def test_beside_a_server_that_works_the_session_is_left_to_it(
    monkeypatch: pytest.MonkeyPatch, printed: list[str], word: str, step: str
) -> None:
    Sessions(monkeypatch, is_busy=True)
    notes(monkeypatch, dip="running")
    steps: list[str] = []

    async def check_idle(_: object) -> None:
        steps.append("checked")

    def begin_beside(_: object, arguments: Any, cap: int, now_ms: int) -> SimpleNamespace:
        assert now_ms > 1_000_000_000_000
        steps.append(f"{arguments} {cap}")
        return SimpleNamespace(skill="dip", name="s")

    monkeypatch.setattr(research, "_first_arguments", lambda one, _: f"first of {one.word}")
    monkeypatch.setattr(research, "fresh", lambda *values: f"fresh {values[1]}")
    monkeypatch.setattr(research, "check_idle", check_idle)
    monkeypatch.setattr(research, "begin_beside", begin_beside)

    home = Path("/r")
    research.autoresearch(Options(home, home, home), ResearchRequest(home, word, "dip", cap=4))

    assert steps == ["checked", step]
    assert printed == ["dip: session 's' starts with the server of this directory"]
