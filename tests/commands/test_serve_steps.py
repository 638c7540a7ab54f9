"""Who serves a directory, who stands by, and what is printed of it."""

import asyncio
import socket
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from service_tui.app import attached
from service_tui.app.options import Options
from service_tui.app.output import OutputError
from service_tui.clock import ManualClock
from service_tui.commands import serve
from service_tui.server.http.loopback import PortTakenError
from service_tui.storage.errors import DirectoryLockedError, Holder
from service_tui.terms import Plan

HELD = Holder(7, 1.0, "http://127.0.0.1:7")


@pytest.fixture
def options(tmp_path: Path) -> Options:
    return Options(tmp_path, tmp_path, tmp_path / "log")


@pytest.fixture
def printed(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    lines: list[str] = []
    monkeypatch.setattr(serve, "print_lines", lambda *more: lines.extend(more))
    return lines


class Waits(ManualClock):
    """A clock that passes by itself."""

    async def sleep(self, seconds: float) -> None:
        await self.advance(seconds)


class Turns:
    """What became of each try: owned, or held by another process that serves or does not."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, turns: list[str], options: Options) -> None:
        self.clock = Waits(100.0)
        self.steps: list[str] = []
        self._turns, self._options = turns, options
        monkeypatch.setattr(serve, "SystemClock", lambda: self.clock)
        monkeypatch.setattr(serve, "_own", self.own)
        monkeypatch.setattr(serve, "_stand_by", self.stand_by)
        monkeypatch.setattr(attached, "is_served", self.is_served)
        self.turn = ""

    async def own(self, *values: Any) -> None:
        self.turn = self._turns.pop(0) if len(self._turns) > 1 else self._turns[0]
        self.steps.append(self.turn)
        if self.turn == "owned":
            values[2].set()
            return
        since = None if self.turn == "ended" else self.clock.now()
        if self.turn == "old":
            since = self.clock.now() - attached.STARTING_S
        raise DirectoryLockedError(self._options.data_dir, replace(HELD, since=since))

    async def is_served(self, *_: object) -> bool:
        return self.turn == "serves"

    async def stand_by(self, *_: object) -> None:
        self.steps.append("stood by")
        await self.clock.advance(1_000.0)

    async def run(self) -> None:
        listener = cast("socket.socket", object())
        await serve._own_or_stand_by(self._options, listener, asyncio.Event())


@pytest.mark.parametrize(
    ("turns", "steps"),
    [
        (["owned"], ["owned"]),
        (["serves", "owned"], ["serves", "stood by", "owned"]),
        (["ended", "ended", "owned"], ["ended", "ended", "owned"]),
        (["starting", "serves", "starting", "owned"],
         ["starting", "serves", "stood by", "starting", "owned"]),
    ],
)  # fmt: skip
async def test_a_directory_is_owned_as_soon_as_nobody_else_does(
    monkeypatch: pytest.MonkeyPatch, options: Options, turns: list[str], steps: list[str]
) -> None:
    tries = Turns(monkeypatch, turns, options)

    await tries.run()

    assert tries.steps == steps


@pytest.mark.parametrize("turn", ["old", "starting"])
async def test_an_owner_that_serves_nobody_is_an_error(
    monkeypatch: pytest.MonkeyPatch, options: Options, turn: str
) -> None:
    tries = Turns(monkeypatch, [turn], options)

    with pytest.raises(DirectoryLockedError):
        await tries.run()

    assert (len(tries.steps) == 1) is (turn == "old")
    assert tries.clock.now() <= 100.0 + attached.STARTING_S + attached.AGAIN_S


async def test_on_a_network_nobody_stands_by(
    monkeypatch: pytest.MonkeyPatch, options: Options
) -> None:
    tries = Turns(monkeypatch, ["serves"], replace(options, host="0.0.0.0"))  # noqa: S104

    with pytest.raises(DirectoryLockedError):
        await tries.run()

    assert tries.steps == ["serves"]


class Owner:
    """A directory that this process owns: its service, and what it is asked for."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.backed_up, self.near, self.around = 0, [object()], [object()]
        self.address = "http://127.0.0.1:7"
        self.link: str | None = ""
        world = SimpleNamespace(seed=3, speed=60)
        self.sim = SimpleNamespace(
            app="app", service=SimpleNamespace(world=world, plan=Plan.FREE, address="")
        )

        @asynccontextmanager
        async def own_directory(
            given: object, clock: object, *, listener: object, around: object, link: str | None
        ) -> AsyncGenerator[Owner]:
            assert isinstance(given, Options)
            assert isinstance(clock, ManualClock)
            self.near, self.around, self.link = [listener], [around], link
            yield self

        async def ends_within(_: asyncio.Event, seconds: float) -> bool:
            assert seconds == serve.BACK_UP_S
            return self.backed_up == 2

        monkeypatch.setattr(serve, "own_directory", own_directory)
        monkeypatch.setattr(serve, "ends_within", ends_within)

    async def back_up(self) -> None:
        self.backed_up += 1

    async def serve(self, options: Options, listener: socket.socket) -> None:
        own = serve._own
        await own(options, listener, asyncio.Event(), ManualClock(0.0))


async def test_an_owner_says_where_it_serves_and_backs_up_now_and_then(
    monkeypatch: pytest.MonkeyPatch, options: Options, printed: list[str]
) -> None:
    owner, listener = Owner(monkeypatch), cast("socket.socket", object())

    await owner.serve(options, listener)

    assert (owner.near, owner.around, owner.backed_up) == ([listener], [None], 2)
    assert printed[:3] == [
        "serving http://127.0.0.1:7",
        f"  play money only; data in {options.data_dir}",
        "  world: seed 3, speed 60x; new agents get the free plan (--plan chooses another)",
    ]
    assert printed[3] == "register an agent (its key is shown once):"
    assert f"-d '{serve.EXAMPLE}'" in printed[4]
    assert printed[4].startswith("  curl -s -X POST http://127.0.0.1:7/")
    assert len(printed) == 6


async def test_on_a_network_the_port_is_for_other_machines_alone(
    monkeypatch: pytest.MonkeyPatch, options: Options, printed: list[str]
) -> None:
    owner, listened = Owner(monkeypatch), list[Any]()

    @asynccontextmanager
    async def listen(app: object, **more: object) -> AsyncGenerator[str]:
        listened.append((app, more))
        yield "https://desk.example"

    monkeypatch.setattr(serve, "listen", listen)
    entrance = SimpleNamespace(address="https://desk.example")
    monkeypatch.setattr(serve, "entrance_on", lambda _, port: entrance if port == 9 else None)
    away = replace(options, host="0.0.0.0", limits=False)  # noqa: S104
    listener = SimpleNamespace(getsockname=lambda: ("", 9), dup=lambda: "copy")

    await owner.serve(away, cast("socket.socket", listener))

    assert owner.near == [None]
    assert listened == [("app", {"listener": "copy", "around": None, "entrance": entrance})]
    # Known before either port answers.
    assert owner.link == "https://desk.example"
    assert printed[0] == "serving https://desk.example"
    assert printed[3] == serve.NO_LIMITS
    assert f"-d '{serve.INVITED_EXAMPLE}'" in printed[5]


async def test_health_and_figures_have_a_port_where_one_is_wanted(
    monkeypatch: pytest.MonkeyPatch, options: Options, printed: list[str]
) -> None:
    from service_tui.app import ops  # noqa: PLC0415 - as the service imports it

    owner, ports = Owner(monkeypatch), list[Any]()

    @asynccontextmanager
    async def ops_port(worlds: dict[str, Any], port: int) -> AsyncGenerator[str]:
        ports.append((list(worlds), port))
        yield "http://127.0.0.1:9"

    led: list[Any] = []
    figures = SimpleNamespace(lead=lambda *values: led.append(values), measured="measured")
    monkeypatch.setattr(ops, "ops_port", ops_port)
    monkeypatch.setattr(ops, "ProcessFigures", lambda _: figures)

    await owner.serve(replace(options, ops_port=9), cast("socket.socket", object()))

    assert ports == [([options.world], 9)]
    assert owner.around == ["measured"]
    ((sim, epoch, is_certain),) = led
    assert (sim, epoch, is_certain()) == (owner.sim, 1, True)
    assert "  health and figures: http://127.0.0.1:9" in printed


async def test_who_stands_by_forwards_until_the_owner_ends(
    monkeypatch: pytest.MonkeyPatch, options: Options, printed: list[str]
) -> None:
    holders = [HELD, HELD, HELD, None]
    forwarded: list[Any] = []

    @asynccontextmanager
    async def forwarding(listener: object, where: Any) -> AsyncGenerator[None]:
        forwarded.append((listener, where()))
        yield

    async def ends_within(*_: object) -> bool:
        return False

    listener = SimpleNamespace(getsockname=lambda: ("", 9))
    monkeypatch.setattr(serve, "holder_of", lambda _: holders.pop(0))
    monkeypatch.setattr(serve, "forwarding", forwarding)
    monkeypatch.setattr(serve, "ends_within", ends_within)
    monkeypatch.setattr(attached, "address_of", lambda _: "there")

    await serve._stand_by(options, cast("socket.socket", listener), asyncio.Event())

    assert holders == []
    assert forwarded == [(listener, "there")]
    assert printed[0] == "serving http://127.0.0.1:9"
    assert "which serves http://127.0.0.1:7:" in printed[1]
    assert "-X POST http://127.0.0.1:9/" in printed[4]


async def test_there_is_nothing_to_stand_by_for_without_an_owner(
    monkeypatch: pytest.MonkeyPatch, options: Options, printed: list[str]
) -> None:
    monkeypatch.setattr(serve, "holder_of", lambda _: None)

    listener = cast("socket.socket", object())
    await serve._stand_by(options, listener, asyncio.Event())

    assert printed == []


def test_a_closed_pipe_is_no_reason_to_end(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuses(*_: str) -> None:
        raise OutputError("closed")

    monkeypatch.setattr(serve, "print_lines", refuses)

    serve._print_lines("serving")


@pytest.mark.parametrize(
    ("host", "bound"),
    [("", "127.0.0.1"), ("localhost", "127.0.0.1"), ("127.0.0.1", "127.0.0.1"), ("::1", "::1")],
)
def test_a_port_is_bound_before_anything_is_opened(
    monkeypatch: pytest.MonkeyPatch, options: Options, host: str, bound: str
) -> None:
    asked: list[Any] = []

    def bind_named(*values: object) -> socket.socket:
        asked.append(values)
        raise PortTakenError("taken")

    monkeypatch.setattr(serve, "bind_named", bind_named)
    monkeypatch.setattr(serve, "check_network", asked.append)
    at = replace(options, host=host, listen=8_000)

    with pytest.raises(PortTakenError):
        serve.serve(at)

    assert asked == [at, (8_000, "--port", bound)]


@pytest.mark.parametrize(
    ("database", "worlds", "ran"),
    [
        (None, None, "own"),
        ("postgresql://h/d", None, "shared"),
        ("postgresql://h/d", "a", "worlds"),
    ],
)
async def test_a_shared_desk_is_run_where_a_database_is_named(
    monkeypatch: pytest.MonkeyPatch, database: str | None, worlds: str | None, ran: str
) -> None:
    from service_tui.app import shared_desk  # noqa: PLC0415 - as the service imports them
    from service_tui.commands import worlds as worlds_room  # noqa: PLC0415

    steps: list[str] = []

    def noting(name: str) -> Any:
        async def run(*_: object) -> None:
            steps.append(name)

        return run

    @asynccontextmanager
    async def beside() -> AsyncGenerator[None]:
        steps.append("beside")
        yield
        steps.append("over")

    home = Path("/d")
    monkeypatch.setattr(serve, "_own_or_stand_by", noting("own"))
    monkeypatch.setattr(shared_desk, "run_shared", noting("shared"))
    monkeypatch.setattr(worlds_room, "run_worlds", noting("worlds"))
    options = Options(home, home, home, database=database, worlds=worlds)

    listener = cast("socket.socket", object())
    await serve._until_signalled(options, listener, beside)

    assert steps == ["beside", ran, "over"]
