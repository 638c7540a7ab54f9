"""The embedded service without a console, until a signal ends it."""

import asyncio
import logging
import os
import socket
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager, nullcontext, suppress
from typing import Final

from service_tui.clock import Clock, SystemClock
from service_tui.server.http.loopback import address_of, bind
from service_tui.storage.db.lock import holder_of
from service_tui.storage.errors import DirectoryLockedError
from service_tui.wire.endpoints.public import REGISTER
from service_tui.wiring import attached
from service_tui.wiring.closed import explain_closed_desk
from service_tui.wiring.forward import forwarding
from service_tui.wiring.options import Options
from service_tui.wiring.output import OutputError, print_lines
from service_tui.wiring.ownership import BACK_UP_S, own_directory
from service_tui.wiring.signals import end_signalled, ends_within

log = logging.getLogger(__name__)

CHECK_S: Final = 0.5
"""How often the other owner is checked."""

EXAMPLE: Final = '{"name": "my-agent"}'
"""Body of the request that registers an agent."""

NO_LIMITS: Final = "  LIMITS ARE OFF: no rates, no daily counts, no cooldowns. For benchmarks only."


class PortTakenError(Exception):
    """The port is taken or not allowed; one plain sentence."""


def serve(
    options: Options, beside: Callable[[], AbstractAsyncContextManager[object]] = nullcontext
) -> None:
    """Serve until SIGINT, SIGTERM or SIGHUP.

    Args:
        options: of the start.
        beside: what else lives on the same loop, and as long.

    Raises:
        PortTakenError: another program uses the port.
        DeskClosedError: the data directory cannot be used; gives the reason and the fix.
    """
    try:
        listener = bind(options.listen or 0)
    except (OSError, OverflowError) as error:
        # Not Python's own message: it quotes the whole call.
        why = os.strerror(error.errno or 0) if isinstance(error, OSError) else "no such port"
        raise PortTakenError(
            f"cannot use port {options.listen} ({why}); give another --port"
        ) from error
    with listener, explain_closed_desk():
        asyncio.run(_until_signalled(options, listener, beside))


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
        from service_tui.wiring.shared_desk import run_shared  # noqa: PLC0415

        await run_shared(options, listener, ending, _print_lines)


async def _own_or_stand_by(
    options: Options, listener: socket.socket, ending: asyncio.Event
) -> None:
    clock = SystemClock()
    alone_at = clock.monotonic()
    while not ending.is_set():
        try:
            await _own(options, listener, ending, clock)
        except DirectoryLockedError as held:
            if await attached.is_served(options.data_dir, clock):
                await _stand_by(options, listener, ending)
                alone_at = clock.monotonic()
                continue
            is_late = clock.monotonic() - alone_at >= attached.STARTING_S
            if is_late or not attached.may_still_serve(held.holder, clock.now()):
                raise
            await clock.sleep(attached.AGAIN_S)


async def _own(
    options: Options, listener: socket.socket, ending: asyncio.Event, clock: Clock
) -> None:
    """Own the directory and serve it until the end."""
    async with own_directory(options, clock, listener=listener) as owner:
        service = owner.sim.service
        _print_lines(
            f"serving {owner.address}",
            f"  play money only; data in {options.data_dir}",
            f"  world: seed {service.world.seed}, speed {service.world.speed}x; "
            f"new agents get the {service.plan.value} plan (--plan chooses another)",
            *([] if options.limits else [NO_LIMITS]),
            *_how_to_register(owner.address),
        )
        while not await ends_within(ending, BACK_UP_S):
            await owner.back_up()


async def _stand_by(options: Options, listener: socket.socket, ending: asyncio.Event) -> None:
    """Forward this port to the other owner until that process ends, or the end."""
    holder = holder_of(options.data_dir)
    if holder is None:
        return
    here = address_of(listener)
    _print_lines(
        f"serving {here}",
        f"  {options.data_dir} is owned by {holder.describe()}, which serves {holder.address}:",
        "  this port forwards there, with its world, plan and limits, and takes over when it ends",
        *_how_to_register(here),
    )
    async with forwarding(listener, lambda: attached.address_of(options.data_dir)):
        while holder_of(options.data_dir) is not None and not await ends_within(ending, CHECK_S):
            pass


def _how_to_register(address: str) -> tuple[str, ...]:
    call = f"curl -s -X {REGISTER.method} {address}{REGISTER.path}"
    return (
        "register an agent (its key is shown once):",
        f"  {call} -H 'Content-Type: application/json' -d '{EXAMPLE}'",
        "claim and manage agents in a console on the same data directory; ctrl+c ends this",
    )


def _print_lines(*lines: str) -> None:
    """Print at once: a script may wait for it; a closed pipe is no reason to end."""
    with suppress(OutputError):
        print_lines(*lines)
