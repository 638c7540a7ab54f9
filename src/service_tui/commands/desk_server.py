"""`service-tui mcp`: the MCP server of a desk, over standard input and output."""

import asyncio
import os
import signal
from typing import Final

from service_tui.app.options import Options
from service_tui.autoresearch.protocol import QUOTED, Face, serve
from service_tui.commands.desk_tools import DeskTools

ENDS: Final = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
LEAVE_S: Final = 2.0
"""How long a call has to give the directory back."""

KILLED: Final = 128
"""Added to a signal's number it is the exit status. Source: sh(1)."""

FACE: Final = Face(
    "service-tui-desk",
    "Watch over a trading desk: status, needs, fleet, exposure and why only read. propose_buy lets "
    "a buy wait for a person; nothing here trades, pauses, halts or answers a request. "
    f"Note: {QUOTED}.",
)


def serve_desk(options: Options, api_key: str | None, api_url: str | None) -> int:
    """Answer a client until it goes away, or a signal comes.

    Args:
        options: which directory.
        api_key: of the agent that proposes; None where none does.
        api_url: the service of that key; None for that of the directory.

    Returns:
        The exit status.
    """
    asyncio.run(_serve(DeskTools(options, api_key, api_url)))
    return 0


async def _serve(desk: DeskTools) -> None:
    loop = asyncio.get_running_loop()
    serving = loop.create_task(serve(desk, FACE))
    leaving = set[asyncio.Task[None]]()
    for number in ENDS:
        loop.add_signal_handler(
            number, lambda number=number: leaving.add(loop.create_task(_leave(number, serving)))
        )
    await serving


async def _leave(number: int, serving: asyncio.Task[None]) -> None:
    """End the call in hand, which may hold the directory, and then the program."""
    serving.cancel()
    await asyncio.wait([serving], timeout=LEAVE_S)
    # The thread that reads would wait for more input.
    os._exit(KILLED + number)
