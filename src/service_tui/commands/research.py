"""Autoresearch from the command line: the old slash commands."""

import asyncio

from service_tui.app.options import Options
from service_tui.app.output import print_lines, print_progress
from service_tui.autoresearch.arguments import arguments
from service_tui.autoresearch.errors import BusyError, ToolError
from service_tui.autoresearch.file import begin_beside, fresh, notes_of, turn_off
from service_tui.autoresearch.session import Session
from service_tui.autoresearch.worktree import check_idle, repository_at
from service_tui.clock import Clock, SystemClock
from service_tui.commands.research_arguments import NOTHING, ResearchRequest
from service_tui.commands.research_holdout import Judging, give_back, keep_back
from service_tui.commands.research_opening import opened
from service_tui.notes.notebook import Notes
from service_tui.trials.evaluation import Progress
from service_tui.wire.research_tools import InitArguments


def autoresearch(options: Options, request: ResearchRequest) -> None:
    """Run a command on the sessions of a repository.

    Raises:
        ToolError: it cannot be done; gives the reason and the fix.
    """
    asyncio.run(_do(options, request))


async def _do(options: Options, request: ResearchRequest) -> None:
    if request.word == "status":
        await _status(request)
        return
    if request.word == "off":
        await _off(options, request, SystemClock())
        return
    # Before anything is written: the skill names a folder.
    first = None if request.word == "reset" else first_arguments(request, SystemClock())
    try:
        async with opened(options, request, SystemClock()) as session:
            if request.holdout:
                await _keep_back(options, request, session)
            if first is None:
                began = await session.reset(request.skill)
            else:
                began = await session.init(first)
    except BusyError:
        await _beside(request, SystemClock())
    else:
        # Not while tasks are open: they would wrap the error.
        _print_result(began)


async def _keep_back(options: Options, request: ResearchRequest, session: Session) -> None:
    """Keep time of a history back from a new session, or nothing any more."""
    if request.word == "reset":
        raise ToolError("a reset keeps back what was kept back before", "leave --holdout out")
    repository = await repository_at(request.folder)
    if request.holdout == NOTHING:
        print_lines(give_back(options, repository, request.word))
        return
    await session.check_other_world(request.holdout)
    print_lines(*keep_back(options, request, repository))


async def _off(options: Options, request: ResearchRequest, clock: Clock) -> None:
    """End a session, and judge it where time was kept back from it."""
    repository = await repository_at(request.folder)
    _check_named(request, notes_of(repository))
    skill = turn_off(repository, request.skill, int(clock.now() * 1_000))
    print_lines(f"autoresearch is off for {skill}; a new session turns it on")
    notes = notes_of(repository)
    config = notes.config_of(skill)
    if config is None:
        return

    def show(progress: Progress) -> None:
        print_progress(f"judging: round {progress.done} of {progress.rounds}")

    judging = Judging(options.data_dir.resolve(), repository, clock.now(), show)
    print_lines(*await judging.judge(notes, config))


def _check_named(request: ResearchRequest, notes: Notes) -> None:
    """Refuse to choose a skill where several have sessions: the newest is whatever wrote last."""
    skills = {config.skill for config in notes.configs} - notes.off
    if not request.skill and len(skills) > 1:
        raise ToolError(f"sessions of {', '.join(sorted(skills))}", "name one of them")


async def _beside(request: ResearchRequest, clock: Clock) -> None:
    """Begin a session while an agent's server works in the repository; that server continues it."""
    repository, now_ms = await repository_at(request.folder), int(clock.now() * 1_000)
    arguments = first_arguments(request, clock)
    if request.holdout:
        raise ToolError("a server works in this repository", "end it, then keep a history back")
    if request.word == "reset":
        arguments = fresh(notes_of(repository), request.skill, now_ms)
    await check_idle(repository)
    config = begin_beside(repository, arguments, request.cap, now_ms)
    print_lines(f"{config.skill}: session {config.name!r} starts with the server of this directory")


def first_arguments(request: ResearchRequest, clock: Clock) -> InitArguments:
    """The arguments of `/autoresearch <skill>`: P&L by default, higher is better."""
    # ours: the old command names no metric; the P&L is what everybody measures first.
    fields = {
        "name": request.name or f"{request.word} {clock.now():.0f}",
        "skill_slug": request.word,
        "metric_name": request.metric,
        "metric_unit": request.unit,
        "direction": request.direction.value,
    }
    return arguments(InitArguments, fields)


async def _status(request: ResearchRequest) -> None:
    """Print the state of a repository's sessions; reads files only."""
    repository = await repository_at(request.folder)
    notes = notes_of(repository)
    skills = list(dict.fromkeys(config.skill for config in reversed(notes.configs)))
    if not skills:
        print_lines(
            f"no session in {repository.root}; start one with 'service-tui autoresearch <skill>'"
        )
    for skill in skills:
        config = notes.config_of(skill)
        if config is None:
            continue
        standing = notes.standing_of(config)
        state = "off" if skill in notes.off else standing.state.value
        print_lines(
            f"{skill}: {state}, session {config.name!r}",
            f"  {standing.count} of {config.cap or 'any number of'} experiments: "
            f"{standing.kept} kept, "
            f"{standing.discarded} discarded, {standing.crashed} crashed",
            f"  {config.metric_name}: baseline {_figure(standing.baseline)}, best "
            f"{_figure(standing.best)} ({config.direction.value} is better)",
            *([f"  {standing.why}"] if standing.why and state != "off" else []),
        )
    if notes.bad_lines:
        print_lines(f"{notes.bad_lines} unreadable lines in {repository.file}")


def _figure(value: float | None) -> str:
    return "none" if value is None else f"{value:g}"


def _print_result(result: dict[str, object]) -> None:
    print_lines(
        f"{result['skill']}: {result['state']}, session {result['session']!r}",
        f"  experiments run in {result['worktree']} on {result['branch']}",
        "  start 'service-tui autoresearch' from an MCP client in the repository",
    )
