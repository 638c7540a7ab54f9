"""Lines from a terminal or a pipe, read while everything else goes on."""

import asyncio
from typing import Final, TextIO

from service_tui.app.output import print_lines

ENDED: Final = None
"""In place of a line, at the end of the input."""


async def typed_line(stream: TextIO) -> str:
    """The next line without its end; empty at the end of the input."""
    return await next_line(stream) or ""


async def next_line(stream: TextIO) -> str | None:
    """The next line without its end.

    Returns:
        The line; None at the end of the input.
    """
    if not stream.isatty():
        # A pipe may hold many lines at once, of which a loop that waits hears of the first alone.
        text = await asyncio.to_thread(stream.readline)
    else:
        text = await _from_terminal(stream)
    return text.rstrip("\r\n") if text else ENDED


async def _from_terminal(stream: TextIO) -> str:
    """The line as typed. A thread that reads could not be stopped by ctrl+c."""
    loop, is_typed = asyncio.get_running_loop(), asyncio.Event()
    loop.add_reader(stream, is_typed.set)
    text = ""
    try:
        await is_typed.wait()
        text = stream.readline()
    finally:
        loop.remove_reader(stream)
        if not text.endswith("\n"):
            print_lines("")
    return text
