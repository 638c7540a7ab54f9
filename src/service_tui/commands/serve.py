"""The embedded service without a console, until a signal ends it."""

import asyncio
import logging
import socket
from collections.abc import AsyncGenerator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager, nullcontext, suppress
from enum import Enum, auto
from functools import partial
from typing import Final

from starlette.types import ASGIApp

from service_tui.app import attached
from service_tui.app.closed import explain_closed_desk
from service_tui.app.forward import forwarding
from service_tui.app.histories import day
from service_tui.app.network import check_network, entrance_on, host_of_port, with_address
from service_tui.app.options import Options
from service_tui.app.output import OutputError, print_lines
from service_tui.app.ownership import BACK_UP_S, DirectoryOwner, own_directory
from service_tui.app.signals import end_signalled, ends_within
from service_tui.clock import Clock, SystemClock
from service_tui.engine.world import World
from service_tui.server.embedded import Sim
from service_tui.server.http.entrance import Entrance
from service_tui.server.http.loopback import PortTakenError, address_of, bind_named, listen
from service_tui.storage.db.lock import holder_of
from service_tui.storage.errors import DirectoryLockedError
from service_tui.wire.endpoints.public import REGISTER

log = logging.getLogger(__name__)

CHECK_S: Final = 0.5
"""How often the other owner is checked."""

EXAMPLE: Final = '{"name": "my-agent"}'
"""Body of the request that registers an agent."""

INVITED_EXAMPLE: Final = '{"name": "my-agent", "invitation": "CODE"}'
"""The same where agents need an invitation, as `service-tui invite` makes one."""

__all__ = ["PortTakenError", "serve"]

NO_LIMITS: Final = (
    "  LIMITS ARE OFF: no rates, no daily counts, no cooldowns; caps of money stay. "
    "For benchmarks only."
)


def serve(
    options: Options, beside: Callable[[], AbstractAsyncContextManager[object]] = nullcontext
) -> None:
    """Serve until SIGINT, SIGTERM or SIGHUP.

    Args:
        options: of the start.
        beside: what else lives on the same loop, and as long.

    Raises:
        PortTakenError: another program uses the port.
        NetworkError: it would be open to a network without encryption, or its files cannot be used.
        DeskClosedError: the data directory cannot be used; gives the reason and the fix.
    """
    check_network(options)
    options = with_address(options)
    if options.log_json:
        # Imported here: a start loads no more than it needs.
        from service_tui.app.logfile import log_to_output  # noqa: PLC0415

        log_to_output()
    if options.callers_max is not None:
        _allow(options.callers_max, _saying(options))
    host = host_of_port(options)
    with bind_named(options.listen or 0, "--port", host) as listener, explain_closed_desk():
        asyncio.run(_until_signalled(options, listener, beside))


def _allow(callers: int, say: Callable[..., None]) -> None:
    """Let each port have so many callers, or say how many the system allows."""
    from service_tui.server.http.connections import allow_connections  # noqa: PLC0415 - few want it

    allowed = allow_connections(callers)
    if allowed < callers:
        say(
            f"warning: {allowed} callers at one time, not {callers}: the system gives this process "
            "no more open files; raise its limit (ulimit -n, LimitNOFILE)"
        )


async def _until_signalled(
    options: Options,
    listener: socket.socket,
    beside: Callable[[], AbstractAsyncContextManager[object]],
) -> None:
    ending = end_signalled()
    async with beside():
        if options.database is None:
            await _own_or_stand_by(options, listener, ending)
            return
        # Imported here: only a shared desk needs the other database's driver.
        from service_tui.app.shared_desk import run_shared  # noqa: PLC0415
        from service_tui.commands.worlds import run_worlds  # noqa: PLC0415

        run = run_worlds if options.worlds else run_shared
        await run(options, listener, ending, _saying(options))


class Turn(Enum):
    """What this process does while another one owns the directory."""

    STAND_BY = auto()
    WAIT = auto()
    END = auto()


def turn_beside(*, is_on_network: bool, is_served: bool, may_serve: bool, alone_s: float) -> Turn:
    """The turn beside an owner, which serves, may still begin to, or has had its time."""
    if is_on_network:
        # To forward there would lead around names, encryption and invitations.
        return Turn.END
    if is_served:
        return Turn.STAND_BY
    return Turn.WAIT if may_serve and alone_s < attached.STARTING_S else Turn.END


async def _own_or_stand_by(
    options: Options, listener: socket.socket, ending: asyncio.Event
) -> None:
    clock = SystemClock()
    alone_at = clock.monotonic()
    while not ending.is_set():
        try:
            await _own(options, listener, ending, clock)
        except DirectoryLockedError as locked:
            turn = turn_beside(
                is_on_network=options.is_on_network,
                is_served=await attached.is_served(options.data_dir, clock),
                may_serve=attached.may_still_serve(locked.holder, clock.now()),
                alone_s=clock.monotonic() - alone_at,
            )
            if turn is Turn.END:
                raise
            if turn is Turn.STAND_BY:
                await _stand_by(options, listener, ending)
                alone_at = clock.monotonic()
            else:
                await clock.sleep(attached.AGAIN_S)


async def _own(
    options: Options, listener: socket.socket, ending: asyncio.Event, clock: Clock
) -> None:
    """Own the directory and serve it until the end."""
    # On a network consoles of this machine come by a port of their own, on loopback.
    near = None if options.is_on_network else listener
    entrance = entrance_on(options, listener.getsockname()[1]) if options.is_on_network else None
    link = None if entrance is None else entrance.address
    async with (
        _watched(options, clock) as (around, took),
        own_directory(options, clock, listener=near, around=around, link=link) as owner,
        _on_network(entrance, owner, listener, around=around) as address,
    ):
        watched = took(owner.sim)
        service = owner.sim.service
        _saying(options)(
            f"serving {address}",
            f"  play money only; data in {options.data_dir}",
            f"  world: {_what(service.world)}, speed {service.world.speed}x; "
            f"new agents get the {service.plan.value} plan (--plan chooses another)",
            *([watched] if watched else []),
            *([] if options.limits else [NO_LIMITS]),
            *_how_to_register(address, invited=options.needs_invitation),
        )
        while not await ends_within(ending, BACK_UP_S):
            await owner.back_up()


@asynccontextmanager
async def _on_network(
    entrance: Entrance | None,
    owner: DirectoryOwner,
    listener: socket.socket,
    *,
    around: Callable[[ASGIApp], ASGIApp] | None,
) -> AsyncGenerator[str]:
    """The port for other machines, where one is wanted.

    Yields:
        Where agents call.
    """
    if entrance is None:
        yield owner.address
        return
    async with listen(
        owner.sim.app, listener=listener.dup(), around=around, entrance=entrance
    ) as address:
        yield address


Watching = tuple[Callable[[ASGIApp], ASGIApp] | None, Callable[[Sim], str]]
"""What stands before the service, and what to call once that is open: it gives a line to print."""


@asynccontextmanager
async def _watched(options: Options, clock: Clock) -> AsyncGenerator[Watching]:
    """The port for health and figures, and the log of calls, where they are wanted."""
    around: Callable[[ASGIApp], ASGIApp] | None = None
    if options.access_log:
        from service_tui.app.access_log import logged, random_id  # noqa: PLC0415 - few want it

        around = partial(logged, monotonic=clock.monotonic, new_id=random_id)
    if options.ops_port is None:
        yield around, lambda _: ""
        return
    # Imported here: most who serve want no figures, and they cost a library.
    from service_tui.app.ops import ProcessFigures, ops_port  # noqa: PLC0415

    figures = ProcessFigures(clock.monotonic)
    ops = ops_port({options.world: figures}, options.ops_port, options.ops_host)
    async with ops as address:

        def took(sim: Sim) -> str:
            figures.lead(sim, 1, lambda: True)
            return f"  health and figures: {address}"

        def measured(app: ASGIApp) -> ASGIApp:
            app = figures.measured(app)
            return app if around is None else around(app)

        yield measured, took


async def _stand_by(options: Options, listener: socket.socket, ending: asyncio.Event) -> None:
    """Forward this port to the other owner until that process ends, or the end."""
    holder = holder_of(options.data_dir)
    if holder is None:
        return
    here = address_of(listener)
    _saying(options)(
        f"serving {here}",
        f"  {options.data_dir} is owned by {holder.describe()}, which serves {holder.address}:",
        "  this port forwards there, with its world, plan and limits, and takes over when it ends",
        *_how_to_register(here),
    )
    async with forwarding(listener, lambda: attached.address_of(options.data_dir)):
        while holder_of(options.data_dir) is not None and not await ends_within(ending, CHECK_S):
            pass


def _what(world: World) -> str:
    """What a world is, for the first lines of `serve`."""
    if world.history is None:
        return f"seed {world.seed}"
    return f"history {world.history.name} from {day(world.history.begins_at)}"


def _how_to_register(address: str, *, invited: bool = False) -> tuple[str, ...]:
    example = INVITED_EXAMPLE if invited else EXAMPLE
    call = f"curl -s -X {REGISTER.method} {address}{REGISTER.path}"
    return (
        "register an agent (its key is shown once):",
        f"  {call} -H 'Content-Type: application/json' -d '{example}'",
        "claim and manage agents in a console on the same data directory; ctrl+c ends this",
    )


def _saying(options: Options) -> Callable[..., None]:
    """What shows lines at the terminal; where that takes objects alone, the log has them."""
    return _log_lines if options.log_json else _print_lines


def _log_lines(*lines: str) -> None:
    for one in lines:
        log.info("%s", one.strip())


def _print_lines(*lines: str) -> None:
    """Print at once: a script may wait for it; a closed pipe is no reason to end."""
    with suppress(OutputError):
        print_lines(*lines)
