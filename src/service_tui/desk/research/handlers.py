"""Experiments from the desk's side: backtests, sessions, and the diff of one."""

import asyncio
import os
import re
import sys
from collections.abc import Awaitable, Callable
from functools import partial
from pathlib import Path
from typing import Final

from service_tui.client.errors import PlanRequiredError, RefusedError, ServiceError
from service_tui.desk.changes import Changed, Removed
from service_tui.desk.commands.research import (
    EndSession,
    ReadEvaluations,
    ResetSession,
    RunBacktest,
    ShowDiff,
    StartSession,
)
from service_tui.desk.facts import Noticed
from service_tui.desk.ports import Ports
from service_tui.desk.registry import Handlers
from service_tui.desk.research.translate import backtest_view
from service_tui.desk.slices.research import (
    BacktestRequested,
    BacktestSeen,
    DiffView,
    EvaluationsSeen,
    EvaluationView,
)
from service_tui.desk.slices.topics import Topic
from service_tui.desk.wire_values import UNTRANSLATABLE
from service_tui.inherited import OURS, inherited_by_git
from service_tui.terms import Venue
from service_tui.units import Timestamp
from service_tui.wire.endpoints.research import BACKTEST
from service_tui.wire.research import BacktestRequest
from service_tui.wire.text import line, prose

WITHIN_S: Final = 60.0
PROGRAM: Final = "service-tui: "
"""What a sentence of a command that failed begins with."""

JUDGING_S: Final = 6 * 3_600.0
"""How long a session is judged at most: both its states on a whole history."""

DIFF_MAX: Final = 200_000
COMMIT: Final = re.compile(r"[0-9a-f]{4,64}")
"""The whole hash of a commit, or its beginning; any other name could be an option of git's."""

SHOWN: Final = (
    "--no-color", "--no-ext-diff", "--no-textconv", "--no-show-signature", "--no-notes",
    "--format=medium", "--submodule=short", "--ignore-submodules=dirty", "--stat", "--patch",
)  # fmt: skip
PLAN_TEXT: Final = "autoresearch needs the Pro plan"


async def run_backtest(order: RunBacktest, ports: Ports) -> None:
    """Replay a skill's trades; a newer request makes an older answer void."""
    ports.emit(BacktestRequested(order.request_id))
    try:
        body = BacktestRequest(
            skill_slug=order.skill,
            config=dict(order.config),
            days=order.days,
            venue=Venue.EVM if order.venue is Venue.EVM else Venue.SIM,
            sweep=dict(order.sweep) or None,
        )
        reply = await ports.client.call(BACKTEST, body=body)
        view = backtest_view(reply.answer, order.request_id, ports.now())
    except ServiceError as error:
        ports.emit(BacktestSeen(order.request_id, None, _why(error)))
    except UNTRANSLATABLE:
        problem = "invalid thresholds: enter signal names and figures"
        ports.emit(BacktestSeen(order.request_id, None, problem))
    else:
        ports.emit(BacktestSeen(order.request_id, view))


def _why(error: ServiceError) -> str:
    if isinstance(error, PlanRequiredError):
        return f"{PLAN_TEXT}; {error.fix}" if error.fix else PLAN_TEXT
    if isinstance(error, RefusedError) and error.fix:
        return f"{error}; {error.fix}"
    return str(error)


async def run_program(
    command: tuple[str, ...], environment: dict[str, str], within_s: float = WITHIN_S
) -> tuple[int, str]:
    """Run a program to its end or a deadline; its status and what it wrote, bounded."""
    try:
        process = await asyncio.create_subprocess_exec(
            *command, env=environment, stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT,
        )  # fmt: skip
    except (OSError, ValueError) as error:
        return 1, f"cannot start {command[0]} ({error})"
    try:
        async with asyncio.timeout(within_s):
            output, _ = await process.communicate()
    except TimeoutError:
        return 1, f"took longer than {within_s:.0f} s"
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    return process.returncode or 0, output[:DIFF_MAX].decode(errors="replace")


RunProgram = Callable[[tuple[str, ...], dict[str, str]], Awaitable[tuple[int, str]]]
"""Runs a command in an environment; its status and what it wrote, bounded."""

run_judging: RunProgram = partial(run_program, within_s=JUDGING_S)
"""Runs a command that may judge a session on a history."""


async def start_session(order: StartSession, ports: Ports, run: RunProgram = run_program) -> None:
    """Begin a session in a repository and report the result in a notice."""
    arguments = (
        order.skill, "--repo", order.repository, "--name", order.name,
        "--metric", order.metric_name, "--unit", order.metric_unit,
        "--direction", order.direction.value,
    )  # fmt: skip
    await _run_session_command(order.describe(), arguments, ports, run)


async def turn_session(
    order: EndSession | ResetSession, ports: Ports, run: RunProgram = run_judging
) -> None:
    """Turn a skill's autoresearch off or reset its baseline, and report the result in a notice."""
    known = ports.state().research.sessions
    session = next((one for one in known if one.skill == order.skill), None)
    place = "" if session is None else session.repository
    if session is None or not place:
        text = f"{order.describe()}: repository not on this machine"
        ports.emit(Noticed("warn", text))
        return
    word = "off" if isinstance(order, EndSession) else "reset"
    if word == "off" and session.holdout is not None and not session.holdout.rows:
        text = f"judging {order.skill} on the time held back; the figures come on this screen"
        ports.emit(Noticed("info", text))
    await _run_session_command(order.describe(), (word, order.skill, "--repo", place), ports, run)


async def _run_session_command(
    description: str, arguments: tuple[str, ...], ports: Ports, run: RunProgram
) -> None:
    code, output = await _run_own(arguments, ports, run)
    if code:
        why = next((one for one in output.splitlines() if one.startswith(PROGRAM)), output)
        text = line(why.removeprefix(PROGRAM).partition("\n")[0], limit=400)
        ports.emit(Noticed("bad", f"{description}: {text}"))
    else:
        ports.emit(Noticed("good", description))
    ports.refresh(Topic.RESEARCH)


async def _run_own(arguments: tuple[str, ...], ports: Ports, run: RunProgram) -> tuple[int, str]:
    """Have this program do something to a repository, as a person would from a shell."""
    # A key of a service is none of them.
    own = {name: one for name, one in os.environ.items() if name.startswith(OURS)}
    environment = inherited_by_git(os.environ) | own
    folder = () if ports.notes is None else ("--data-dir", str(ports.notes))
    return await run(
        (sys.executable, "-m", "service_tui", "autoresearch", *arguments, *folder), environment
    )


async def read_evaluations(_: ReadEvaluations, ports: Ports) -> None:
    """Read the newest reports of the data directory; none where it has no place of its own."""
    folder = ports.notes
    found = () if folder is None else await asyncio.to_thread(_reports, folder)
    ports.emit(EvaluationsSeen(found))


def _reports(folder: Path) -> tuple[EvaluationView, ...]:
    # Loaded by the first look at one: it brings what reads a report.
    from service_tui.notes.evaluations import read_reports  # noqa: PLC0415

    return tuple(
        EvaluationView(one.name, Timestamp(one.at), one.report, one.problem)
        for one in read_reports(folder)
    )


async def show_diff(order: ShowDiff, ports: Ports) -> None:
    """Read what a commit changed; an empty commit closes it."""
    if not order.commit:
        ports.emit(Removed(DiffView))
        return
    session = ports.state().research.session(order.key)
    if session is None or not session.repository:
        problem = "repository not on this machine"
        ports.emit(Changed(DiffView(order.key, order.commit, problem=problem)))
        return
    view = await _diff(order, session.repository)
    ports.emit(Changed(view))


async def _diff(order: ShowDiff, repository: str) -> DiffView:
    from service_tui import pinned_git  # noqa: PLC0415 - not at first

    if not COMMIT.fullmatch(order.commit):
        return DiffView(order.key, order.commit, problem="the name of its commit is no hash")
    try:
        called = await pinned_git.call(
            repository, "show", *SHOWN, "--end-of-options", order.commit, "--", output_max=DIFF_MAX
        )
    except (OSError, ValueError) as error:
        return DiffView(order.key, order.commit, problem=f"git cannot be started ({error})")
    if called.code:
        first = next(iter(called.wrong.splitlines()), "no git output")
        return DiffView(order.key, order.commit, problem=line(first, limit=400))
    text = prose(called.output.decode(errors="replace"), limit=DIFF_MAX)
    return DiffView(order.key, order.commit, text=text)


HANDLERS: Final[Handlers] = {
    RunBacktest: run_backtest,
    StartSession: start_session,
    EndSession: turn_session,
    ResetSession: turn_session,
    ShowDiff: show_diff,
    ReadEvaluations: read_evaluations,
}
