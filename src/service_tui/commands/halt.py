"""Halt and resume without a console: the same desk, gate and acknowledgements, without a screen.

Requests go to the directory's owner over loopback; without an owner, this process owns it for the
moment that it takes. Where no desk can be opened, for whatever reason, a halt is carried out
without one: step by step, each beside the others.
"""

import asyncio
import logging
import os
import random
from collections.abc import Awaitable, Callable, Mapping
from contextlib import AsyncExitStack
from dataclasses import dataclass, field, replace
from typing import Final

from service_tui.app import attached, attached_desk, live
from service_tui.app.closed import explain_closed_desk, only_reason
from service_tui.app.closing_transport import ClosingTransport
from service_tui.app.first_state import first_state
from service_tui.app.options import Options
from service_tui.app.waiting import until
from service_tui.client.api_keys import ApiKey, ApiKeys
from service_tui.client.client import Client
from service_tui.client.errors import ServiceError
from service_tui.client.proxies import proxy_for
from service_tui.clock import SystemClock
from service_tui.console.closed_desk import DeskClosedError
from service_tui.credentials.api_keys import ApiKeysError, stored_desk_keys
from service_tui.desk.agents.skill_runs import suspend_known
from service_tui.desk.commands.halt import RESUME_WORD, Halt, Resume
from service_tui.desk.desk import Desk
from service_tui.desk.restarting import fault_text
from service_tui.desk.slices.halt import AckState, AckView
from service_tui.desk.slices.topics import Topic
from service_tui.desk.state import DeskState
from service_tui.storage.errors import DirectoryLockedError, StorageError
from service_tui.storage.halt_mark import mark_halt
from service_tui.wire.endpoints.desk import DESK_HALT
from service_tui.wire.endpoints.public import PATCH_USER_SETTINGS
from service_tui.wire.settings import UserSettingsPatch

log = logging.getLogger(__name__)

ANSWERS_S: Final = 10.0
"""How long sources have to acknowledge; the service itself takes milliseconds."""

PAUSED_KNOWN_S: Final = 1.5
"""How long a halt waits to learn whether the agent was paused before."""

_SIGNS: Final = {AckState.DONE: "ok", AckState.WAITING: "missing", AckState.FAILED: "missing"}

UNOPENED: Final = "the next desk that opens here is halted. Repair what is named, then retry"
UNKEPT: Final = "the halt is kept nowhere: repair what is named, then retry at once"
KEPT: Final = "halted here and on disk. Retry, or open the desk, to reach the missing sources"
RESUMED: Final = "resumed"
NOTHING: Final = "nothing halted"
NO_ANSWER: Final = "not resumed, still halted: the service does not respond"


@dataclass(frozen=True, slots=True)
class HaltReport:
    """The result in lines, and whether everything is done; `facts` are for `--json`."""

    is_done: bool
    lines: tuple[str, ...]
    facts: Mapping[str, object] = field(default_factory=dict[str, object], compare=False)


def halt(options: Options) -> HaltReport:
    """Halt the service of the directory, or the one that the options name.

    What is broken beside it is a line of the report, never its end.

    Returns:
        A line for each acknowledgement; done when all are in.
    """
    try:
        return run_on_desk(options, halt_on)
    except Exception as error:  # noqa: BLE001 - a halt is carried out whatever is broken
        log.warning("halting without a desk: %s", fault_text(error))
        return without_desk(options, error)


def resume(options: Options) -> HaltReport:
    """End the halt. The word has been typed already.

    Returns:
        Done when entries pass again, or nothing was halted.

    Raises:
        DeskClosedError: the directory cannot be used; gives the reason and the fix.
    """
    return run_on_desk(options, resume_on)


async def halt_on(desk: Desk) -> HaltReport:
    """Halt on an open desk."""
    await until(desk, lambda state: state.limits is not None, PAUSED_KNOWN_S)
    desk.submit(Halt())
    await until(desk, lambda state: state.halt is not None and not state.halt.missing, ANSWERS_S)
    halted = desk.state.halt
    acks = () if halted is None else halted.acks
    missing = [ack for ack in acks if ack.state is not AckState.DONE]
    lines = tuple(_line(ack) for ack in acks)
    return HaltReport(not missing, (*lines, KEPT) if missing else lines)


def without_desk(options: Options, why: Exception) -> HaltReport:
    """Halt what can be reached without a desk; each part that fails is a line.

    Not done by itself: whoever opens the desk next finds the halt and goes on with it.
    """
    lines, kept = [f"missing desk of this directory ({_reason(why)})"], False
    for what, carry_out in _PARTS:
        try:
            ack = AckView("", what, AckState.DONE, carry_out(options))
            kept = kept or carry_out is _marked
        except Exception as error:  # noqa: BLE001 - the others are carried out all the same
            ack = AckView("", what, AckState.FAILED, _reason(error))
        lines.append(_line(ack))
    return HaltReport(is_done=False, lines=(*lines, UNOPENED if kept else UNKEPT))


def _marked(options: Options) -> str:
    mark_halt(options.data_dir, SystemClock().now())
    return "marked; the program that owns it halts too"


def _suspended(options: Options) -> str:
    count = suspend_known(options.log_path.parent)
    return f"{count} suspended" if count else "none running here"


def _service_halted(options: Options) -> str:
    return asyncio.run(_ask(options))


async def _ask(options: Options) -> str:
    """Ask the service itself: the owner of the directory, or the one by its address."""
    clock, rng = SystemClock(), random.SystemRandom()
    if options.url is not None:
        line = ClosingTransport(retries=0, proxy=proxy_for(options.url, os.environ))
        api_keys = ApiKeys(ApiKey(options.api_key, options.url) if options.api_key else None)
        plain = options.allow_insecure
        async with Client(
            line, options.url, api_keys, clock=clock, rng=rng, allow_insecure=plain
        ) as client:
            body = UserSettingsPatch(trading_paused=True)
            answer = (await client.call(PATCH_USER_SETTINGS, body=body)).answer
            if not (answer.trading_paused and "trading_paused" in answer.model_fields_set):
                raise StorageError("trading not paused at the service")
            return "agent of this desk paused"
    if attached.address_of(options.data_dir) is None:
        return "no program serves this directory"
    stored = stored_desk_keys(options.data_dir)
    if stored is None:
        raise ApiKeysError("no keys of this directory")
    line = attached.HolderTransport(options.data_dir)
    async with attached.client_of_holder(line, stored, clock, rng, read_only=False) as client:
        answer = (await client.call(DESK_HALT)).answer
        if not answer.halted:
            raise StorageError("service not halted")
        return ""


def _reason(error: Exception) -> str:
    reason = only_reason(error)
    known = isinstance(reason, DeskClosedError | StorageError | ApiKeysError | ServiceError)
    # The text of any other fault may hold a value.
    return str(reason) if known else fault_text(reason)


_PARTS: Final[tuple[tuple[str, Callable[[Options], str]], ...]] = (
    ("halt kept over a restart", _marked),
    ("local skills paused", _suspended),
    ("service refuses buys", _service_halted),
)


async def resume_on(desk: Desk) -> HaltReport:
    """End the halt on an open desk, after the service has answered: only then is a halt known."""
    last = desk.state.notices[-1].notice_id if desk.state.notices else 0
    is_known = await until(desk, _is_known, ANSWERS_S)
    if is_known and desk.state.halted_since is None:
        return HaltReport(is_done=True, lines=(NOTHING,))
    desk.submit(Resume(RESUME_WORD))

    def message(state: DeskState) -> tuple[str, ...]:
        return tuple(
            notice.text
            for notice in state.notices
            if notice.notice_id > last and RESUMED in notice.text
        )

    def is_over(state: DeskState) -> bool:
        refused = any(not text.startswith(RESUMED) for text in message(state))
        return refused or state.halted_since is None

    await until(desk, is_over, ANSWERS_S)
    is_done = desk.state.halted_since is None
    return HaltReport(is_done, message(desk.state) or (() if is_done else (NO_ANSWER,)))


def _is_known(state: DeskState) -> bool:
    topic = Topic.WORLD if state.service.embedded else Topic.ACCOUNT
    return topic in state.seen


def _line(ack: AckView) -> str:
    detail = f" ({ack.detail})" if ack.detail else ""
    return f"{_SIGNS[ack.state]:<8}{ack.what}{detail}"


def run_on_desk(options: Options, action: Callable[[Desk], Awaitable[HaltReport]]) -> HaltReport:
    """Run an action on a desk opened for it alone; DeskClosedError as `halt`."""
    # A halt or resume sells nothing: exits are for a desk that stays.
    quiet = replace(options, exits=False, listen=None)
    with explain_closed_desk():
        return asyncio.run(_with_desk(quiet, action))


async def _with_desk(
    options: Options, action: Callable[[Desk], Awaitable[HaltReport]]
) -> HaltReport:
    async with AsyncExitStack() as stack:
        return await action(await opened(stack, options))


async def opened(stack: AsyncExitStack, options: Options) -> Desk:
    """The desk, attached to the directory's owner, even one that does not answer."""
    initial = first_state(options)
    if options.url is not None:
        return await stack.enter_async_context(live.open_desk_of(options, initial))
    means = SystemClock(), random.SystemRandom()
    try:
        return await stack.enter_async_context(live.embedded_parts(options, initial, *means))
    except DirectoryLockedError:
        return await stack.enter_async_context(
            attached_desk.attached_parts(options, initial, *means)
        )
