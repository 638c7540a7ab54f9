"""Halt and resume without a console: the same desk, its gate and its acknowledgements, no screen.

Whoever holds the directory is asked over loopback; where nobody does, this process holds it for the
moment that it takes.
"""

import asyncio
import random
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack, suppress
from dataclasses import dataclass, replace
from typing import Final

from service_tui.clock import SystemClock
from service_tui.desk.commands.halt import RESUME_WORD, Halt, Resume
from service_tui.desk.desk import Desk
from service_tui.desk.slices.halt import AckState, AckView
from service_tui.desk.slices.records import Topic
from service_tui.desk.state import DeskState
from service_tui.storage.errors import DirectoryLockedError
from service_tui.wiring import beside, live
from service_tui.wiring.closed import closed_in_plain_words
from service_tui.wiring.options import Options
from service_tui.wiring.start import first_state

ANSWERS_S: Final = 10.0
"""How long everybody is given to acknowledge; the service's own answer takes milliseconds."""

KNOWN_S: Final = 1.5
"""How long a halt waits to learn whether the agent was paused before."""

_SIGNS: Final = {AckState.DONE: "ok", AckState.WAITING: "missing", AckState.FAILED: "missing"}

KEPT: Final = "halted here and on disk; run it again, or open the desk, to have the missing told"
RESUMED: Final = "resumed"
NOTHING: Final = "nothing is halted"
NO_ANSWER: Final = "not resumed, still halted: the service does not answer"


@dataclass(frozen=True, slots=True)
class HaltReport:
    """What came of it, in lines, and whether it is done whole."""

    is_done: bool
    lines: tuple[str, ...]


def halt(options: Options) -> HaltReport:
    """Halt the service of the directory, or the one that the options name.

    Returns:
        A line for each acknowledgement; done when all are in.

    Raises:
        DeskClosedError: the directory cannot be used; says why and what to do.
    """
    return run_on_desk(options, _halt)


def resume(options: Options) -> HaltReport:
    """End the halt. The word has been typed already.

    Returns:
        Done when entries pass again, or nothing was halted.

    Raises:
        DeskClosedError: the directory cannot be used; says why and what to do.
    """
    return run_on_desk(options, _resume)


async def _halt(desk: Desk) -> HaltReport:
    await until(desk, lambda state: state.limits is not None, KNOWN_S)
    desk.submit(Halt())
    await until(desk, lambda state: state.halt is not None and not state.halt.missing, ANSWERS_S)
    halted = desk.state.halt
    acks = () if halted is None else halted.acks
    missing = [ack for ack in acks if ack.state is not AckState.DONE]
    lines = tuple(_line(ack) for ack in acks)
    return HaltReport(not missing, (*lines, KEPT) if missing else lines)


async def _resume(desk: Desk) -> HaltReport:
    """The service is heard first: only then is it known whether anything is halted."""
    last = desk.state.notices[-1].notice_id if desk.state.notices else 0
    is_known = await until(desk, _is_known, ANSWERS_S)
    if is_known and desk.state.halted_since is None:
        return HaltReport(is_done=True, lines=(NOTHING,))
    desk.submit(Resume(RESUME_WORD))

    def said(state: DeskState) -> tuple[str, ...]:
        return tuple(
            notice.text
            for notice in state.notices
            if notice.notice_id > last and RESUMED in notice.text
        )

    def is_over(state: DeskState) -> bool:
        refused = any(not text.startswith(RESUMED) for text in said(state))
        return refused or state.halted_since is None

    await until(desk, is_over, ANSWERS_S)
    is_done = desk.state.halted_since is None
    return HaltReport(is_done, said(desk.state) or (() if is_done else (NO_ANSWER,)))


def _is_known(state: DeskState) -> bool:
    topic = Topic.WORLD if state.service.embedded else Topic.ACCOUNT
    return topic in state.seen


def _line(ack: AckView) -> str:
    detail = f" ({ack.detail})" if ack.detail else ""
    return f"{_SIGNS[ack.state]:<8}{ack.what}{detail}"


async def until(desk: Desk, wanted: Callable[[DeskState], bool], seconds: float) -> bool:
    """Wait for a state, but not for ever.

    Returns:
        Whether it came.
    """
    with suppress(TimeoutError):
        await asyncio.wait_for(_seen(desk, wanted), seconds)
        return True
    return False


async def _seen(desk: Desk, wanted: Callable[[DeskState], bool]) -> None:
    async for state in desk.changes():
        if wanted(state):
            return


def run_on_desk(options: Options, act: Callable[[Desk], Awaitable[HaltReport]]) -> HaltReport:
    """Do something with a desk that stays for that moment alone; DeskClosedError as `halt`."""
    # Whoever only halts or resumes sells nothing: exits are for a desk that stays.
    quiet = replace(options, exits=False, listen=None)
    with closed_in_plain_words():
        return asyncio.run(_with_desk(quiet, act))


async def _with_desk(options: Options, act: Callable[[Desk], Awaitable[HaltReport]]) -> HaltReport:
    async with AsyncExitStack() as stack:
        return await act(await opened(stack, options))


async def opened(stack: AsyncExitStack, options: Options) -> Desk:
    """The desk, attached to whoever holds the directory, whether that one answers or not."""
    initial = first_state(options)
    if options.url is not None:
        return await stack.enter_async_context(live.remote_desk(options, initial))
    means = SystemClock(), random.SystemRandom()
    try:
        return await stack.enter_async_context(live.embedded_parts(options, initial, *means))
    except DirectoryLockedError:
        return await stack.enter_async_context(beside.attached_parts(options, initial, *means))
