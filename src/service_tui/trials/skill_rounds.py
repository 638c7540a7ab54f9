"""Runs the rounds of a skill in a trial: in one process, or in a new one for each round."""

import asyncio
import json
import os
import signal
import socket
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final, Protocol, TypeVar

from starlette.types import ASGIApp

from service_tui.clock import Clock, SystemClock
from service_tui.config import KEY_VARIABLE, NOW_VARIABLE, URL_VARIABLE
from service_tui.sdk import resident
from service_tui.sdk.line import FRAME_BODY_MAX, FRAME_HEAD_MAX, SIZES, Head, packed
from service_tui.skills.process import Launch, SkillProcess, bound_log, tagged
from service_tui.trials.calling import Header, call_app, is_list, is_object
from service_tui.units import Timestamp
from service_tui.wire.text import line

ANSWER_MAX_S: Final = 60.0
"""# ours: seconds of the machine that a round of a process that stays may take."""

ANEW_MAX_S: Final = 300.0
"""The same of a process for each round. Source: wire reference, section 10."""

LOOK_S: Final = 0.01
ENDING_S: Final = 1.0
LOOPBACK: Final = "http://127.0.0.1"
HEADERS_MAX: Final = 64
NONSENSE: Final = "it wrote nonsense into the line to its world"

Frame = tuple[dict[str, object], bytes]
T = TypeVar("T")

Wait = Callable[[float], Awaitable[Timestamp]]
"""Lets the world go on for so many seconds; returns its time then."""


class TrialEndedError(Exception):
    """The skill can have no more rounds: one plain sentence."""


@dataclass(frozen=True, slots=True)
class SkillAccess:
    """How a skill is started, where it calls, and with which key."""

    launch: Launch
    app: ASGIApp
    address: str
    key: str = field(repr=False)
    machine: Clock = field(default_factory=SystemClock)

    def started(self, launch: Launch, **own: str) -> SkillProcess:
        """A process of the skill with its key, its address and these variables.

        Raises:
            TrialEndedError: it cannot be started.
        """
        given = {**launch.own, KEY_VARIABLE: self.key, URL_VARIABLE: self.address, **own}
        try:
            return SkillProcess.start(replace(launch, own=given), os.environ)
        except OSError as error:
            raise TrialEndedError(f"it cannot be started: {error.strerror}") from error


class SkillRounds(Protocol):
    """A skill whose rounds can be called."""

    async def one_round(self, now: Timestamp, wait: Wait) -> str:
        """Have a round; why it failed, empty if it did not.

        Raises:
            TrialEndedError: there can be no more.
        """
        ...

    async def end(self) -> int:
        """End the skill and every process it started; returns how many it had left behind."""
        ...


class ResidentSkill:
    """A skill that stays: its calls come over a socket and go straight to the app."""

    def __init__(self, access: SkillAccess) -> None:
        self._access = access
        own, its = socket.socketpair()
        with its:
            number = its.fileno()
            launch = replace(access.launch, runner=Path(resident.__file__), inherits=(number,))
            try:
                self._process = access.started(launch, **{resident.LINE_NUMBER: str(number)})
            except TrialEndedError:
                own.close()
                raise
        self._own = own
        self._reader: asyncio.StreamReader | None = None
        self._writer: asyncio.StreamWriter | None = None

    async def open(self) -> bool:
        """Wait until its script is loaded; False if that defines no round.

        Raises:
            TrialEndedError: it cannot be loaded.
        """
        self._reader, self._writer = await asyncio.open_connection(sock=self._own)
        head, _ = await self._within(self._frame())
        if "broken" in head:
            raise TrialEndedError(f"its script cannot be loaded: {_text(head['broken'])}")
        return "ready" in head

    async def one_round(self, now: Timestamp, wait: Wait) -> str:
        """Have a round; see `SkillRounds`."""
        self._send({"round": True, "now": float(now)})
        head = await self._within(self._serve(now, wait))
        bound_log(self._access.launch.folder)
        return _text(head.get("error", ""))

    async def _serve(self, now: Timestamp, wait: Wait) -> dict[str, object]:
        """Answer its calls until it has ended its round."""
        while True:
            head, body = await self._frame()
            if "done" in head:
                return head
            if "wait" in head:
                now = await wait(_number(head["wait"]))
                self._send({"now": float(now)})
                continue
            call, headers = _call_of(head)
            answer = await call_app(self._access.app, call, headers, body)
            reply = {"status": answer.status, "headers": answer.headers, "now": float(now)}
            self._send(reply, answer.body)

    async def end(self) -> int:
        """End it; see `SkillRounds`."""
        left = await asyncio.to_thread(_left_behind, self._process, 2)
        if self._writer is not None:
            self._writer.close()
        else:
            self._own.close()
        await _ended(self._process, ENDING_S, self._access.machine)
        await asyncio.to_thread(self._process.kill)
        return left

    async def _within(self, wanted: Awaitable[T]) -> T:
        try:
            async with asyncio.timeout(ANSWER_MAX_S):
                return await wanted
        except TimeoutError:
            raise TrialEndedError(f"it hangs: a round took {ANSWER_MAX_S:.0f} s") from None
        except (EOFError, ConnectionError):
            code = await _ended(self._process, ENDING_S, self._access.machine)
            raise TrialEndedError(f"its process ended in a round ({_how(code)})") from None

    async def _frame(self) -> Frame:
        """Its next frame.

        Raises:
            EOFError: it has ended.
            TrialEndedError: it is no frame.
        """
        if self._reader is None:
            raise TrialEndedError("it was not opened")
        head_size, body_size = SIZES.unpack(await self._reader.readexactly(SIZES.size))
        if head_size > FRAME_HEAD_MAX or body_size > FRAME_BODY_MAX:
            raise TrialEndedError(NONSENSE)
        raw = await self._reader.readexactly(head_size)
        body = await self._reader.readexactly(body_size)
        try:
            head: object = json.loads(raw)
        except (ValueError, RecursionError):
            head = None
        if not is_object(head):
            raise TrialEndedError(NONSENSE)
        return head, body

    def _send(self, head: Head, body: bytes = b"") -> None:
        if self._writer is not None:
            self._writer.write(packed(head, body))


class SkillEachRound:
    """A skill that is started for each round, with `--live --once`; it calls over loopback."""

    def __init__(self, access: SkillAccess) -> None:
        self._access = access
        self._left = 0

    async def one_round(self, now: Timestamp, wait: Wait) -> str:  # noqa: ARG002 - the world stands
        """Have a round; see `SkillRounds`."""
        launch = replace(self._access.launch, arguments=("--live", "--once"))
        process = self._access.started(launch, **{NOW_VARIABLE: repr(float(now))})
        try:
            code = await _ended(process, ANEW_MAX_S, self._access.machine)
            if code is None:
                raise TrialEndedError(f"it hangs: a round took {ANEW_MAX_S:.0f} s")
            self._left += await asyncio.to_thread(_left_behind, process, 0)
        finally:
            await asyncio.to_thread(process.kill)
            bound_log(launch.folder)
        return _how(code) if code else ""

    async def end(self) -> int:
        """Nothing of it runs between two rounds; see `SkillRounds`."""
        return self._left


async def _ended(process: SkillProcess, within_s: float, clock: Clock) -> int | None:
    """Wait for the end of a process.

    Returns:
        Its exit code; None while it runs still.
    """
    until = clock.monotonic() + within_s
    while (code := process.exit_code()) is None and clock.monotonic() < until:
        await clock.sleep(LOOK_S)
    return code


def _left_behind(process: SkillProcess, own: int) -> int:
    """Processes of a run beside its own ones."""
    return max(0, len(tagged(process.run_id)) - own)


def _how(code: int | None) -> str:
    if code is None:
        return "it runs on"
    if code >= 0:
        return f"exit code {code}"
    known = {one.value: one.name for one in signal.Signals}
    return f"by signal {known.get(-code, -code)}"


def _text(value: object) -> str:
    return line(str(value), resident.TOLD_MAX)


def _number(value: object) -> float:
    try:
        return float(value) if isinstance(value, int | float) else 0.0
    except OverflowError:
        raise TrialEndedError(NONSENSE) from None


def _call_of(head: dict[str, object]) -> tuple[tuple[str, str], list[Header]]:
    """Method, target and headers of a call.

    Raises:
        TrialEndedError: it is none.
    """
    call, given = head.get("call"), head.get("headers")
    pairs = given if is_list(given) else []
    headers = [
        (str(pair[0]), str(pair[1]))
        for pair in pairs[:HEADERS_MAX]
        if is_list(pair) and len(pair) == 2  # noqa: PLR2004
    ]
    if not is_list(call) or [type(one) for one in call] != [str, str]:
        raise TrialEndedError(NONSENSE)
    return (str(call[0]), str(call[1])), headers
