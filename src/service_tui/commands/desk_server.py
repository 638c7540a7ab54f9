"""`service-tui mcp`: the MCP server of a desk, over standard input and output."""

import asyncio
import os
import signal
from typing import Final

from service_tui.app.options import Options
from service_tui.autoresearch.protocol import QUOTED, Face, serve
from service_tui.commands.desk_tools import DeskTools

ENDS: Final = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
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
    for number in ENDS:
        # At once: nothing is half done here, and the thread that reads would wait for more input.
        asyncio.get_running_loop().add_signal_handler(number, os._exit, KILLED + number)
    await serve(desk, FACE)
