"""The console as lines of text, for screen readers and slow links: a command a line, no screens.

The same desk as behind the screens. What happens is printed as it happens; nothing is drawn again.
"""

import asyncio
import shlex
import signal
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AsyncExitStack, suppress
from typing import Final, TextIO

from service_tui.app import live
from service_tui.app.closed import explain_closed_desk
from service_tui.app.first_state import first_state
from service_tui.app.options import Options
from service_tui.app.output import OutputError, print_lines, print_text
from service_tui.app.typed_lines import next_line
from service_tui.console.freshness import is_private
from service_tui.console.reasons import reason_text, without_amounts
from service_tui.desk.desk import Desk
from service_tui.desk.reasons import Reason
from service_tui.desk.slices.notices import Notice
from service_tui.desk.state import DeskState

PROMPT: Final = "> "
LEAVES: Final = frozenset({"quit", "q", "exit"})
ENDED: Final = "desk closed; open orders, monitors and agents stay as they are"

Answer = Callable[[Desk, Sequence[str]], Awaitable[Sequence[str]]]
"""Carries out the words of a line on the desk; returns the lines of its result."""


def run(options: Options, stream: TextIO, answer: Answer, hello: Sequence[str]) -> None:
    """Open the desk, and answer commands until `quit` or the end of the input.

    Args:
        options: of the start.
        stream: where the lines come from.
        answer: carries out a line.
        hello: the first lines.

    Raises:
        DeskClosedError: the desk cannot be opened; gives the reason and the fix.
    """
    asyncio.run(_interruptible(options, stream, answer, hello))


async def _interruptible(
    options: Options, stream: TextIO, answer: Answer, hello: Sequence[str]
) -> None:
    """Leave at ctrl+c, except at the question of an order, which that answers with no."""
    own = asyncio.current_task()
    if own is not None:
        asyncio.get_running_loop().add_signal_handler(signal.SIGINT, own.cancel)
    with suppress(asyncio.CancelledError):
        await _run(options, stream, answer, hello)
    print_lines(ENDED)


async def _run(options: Options, stream: TextIO, answer: Answer, hello: Sequence[str]) -> None:
    async with AsyncExitStack() as stack:
        with explain_closed_desk():
            opening = live.open_desk_of(options, first_state(options))
            desk = await stack.enter_async_context(opening)
        print_lines(*hello)
        try:
            async with asyncio.TaskGroup() as tasks:
                news = tasks.create_task(_print_news(desk))
                await answer_lines(desk, stream, answer)
                news.cancel()
        except* OutputError as errors:
            raise OutputError(str(errors.exceptions[0])) from errors


async def answer_lines(desk: Desk, stream: TextIO, answer: Answer) -> None:
    """Answer each line on an open desk."""
    while True:
        print_text(PROMPT)
        line = await next_line(stream)
        if line is None or line.strip().lower() in LEAVES:
            return
        try:
            words = shlex.split(line)
        except ValueError:
            print_lines("a quotation mark is missing")
            continue
        if words:
            print_lines(*await answer(desk, words))


async def _print_news(desk: Desk) -> None:
    """Print each notice once, as it comes."""
    last = newest(desk.state)
    async for state in desk.changes():
        print_lines(*(notice_line(one, state) for one in state.notices if one.notice_id > last))
        last = max(last, newest(state))


def newest(state: DeskState) -> int:
    """Number of the newest notice; 0 without any."""
    return max((one.notice_id for one in state.notices), default=0)


def notice_line(notice: Notice, state: DeskState) -> str:
    """A notice as one line: its kind, what passed, and what to do."""
    masked = is_private(state)
    text = without_amounts(reason_text(Reason(notice.text, notice.fix)), masked=masked)
    return f"{notice.kind.value}: {text}"
