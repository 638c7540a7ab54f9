"""Autoresearch from the command line: what the old slash commands did."""

import asyncio

from service_tui.autoresearch.arguments import arguments
from service_tui.autoresearch.errors import BusyError
from service_tui.autoresearch.file import begin_beside, fresh, notes_of, turn_off
from service_tui.autoresearch.worktree import check_idle, repository_at
from service_tui.clock import Clock, SystemClock
from service_tui.wire.research_tools import InitArguments
from service_tui.wiring.options import Options
from service_tui.wiring.output import say
from service_tui.wiring.research_opening import opened
from service_tui.wiring.research_words import Wish


def autoresearch(options: Options, wish: Wish) -> None:
    """Do it.

    Raises:
        ToolError: it cannot be done; says why and what to do.
    """
    asyncio.run(_do(options, wish))


async def _do(options: Options, wish: Wish) -> None:
    if wish.word == "status":
        await _status(wish)
        return
    if wish.word == "off":
        now_ms = int(SystemClock().now() * 1_000)
        skill = turn_off(await repository_at(wish.folder), wish.skill, now_ms)
        say(f"autoresearch is off for {skill}; a new session turns it on")
        return
    try:
        async with opened(options, wish, SystemClock()) as session:
            if wish.word == "reset":
                began = await session.reset(wish.skill)
            else:
                began = await session.init(_first(wish, SystemClock()))
    except BusyError:
        await _beside(wish, SystemClock())
    else:
        # Not while tasks are open: they would wrap what is raised where nobody reads it.
        _tell(began)


async def _beside(wish: Wish, clock: Clock) -> None:
    """Begin a session while an agent's server works in the repository; that one takes it up."""
    repository, now_ms = await repository_at(wish.folder), int(clock.now() * 1_000)
    asked = _first(wish, clock)
    if wish.word == "reset":
        asked = fresh(notes_of(repository), wish.skill, now_ms)
    await check_idle(repository)
    config = begin_beside(repository, asked, wish.cap, now_ms)
    say(f"{config.skill}: session {config.name!r} begins with the server that works here")


def _first(wish: Wish, clock: Clock) -> InitArguments:
    """What `/autoresearch <skill>` begins: the P&L unless told, higher is better."""
    # ours: the old command names no metric; the P&L is what everybody measures first.
    given = {
        "name": wish.name or f"{wish.word} {clock.now():.0f}",
        "skill_slug": wish.word,
        "metric_name": wish.metric,
        "metric_unit": wish.unit,
        "direction": wish.direction.value,
    }
    return arguments(InitArguments, given)


async def _status(wish: Wish) -> None:
    """Say where the sessions of a repository stand; asks nobody and changes nothing."""
    repository = await repository_at(wish.folder)
    notes = notes_of(repository)
    skills = list(dict.fromkeys(one.skill for one in reversed(notes.configs)))
    if not skills:
        say(f"no session in {repository.root}; begin one with 'service-tui autoresearch <skill>'")
    for skill in skills:
        config = notes.config_of(skill)
        if config is None:
            continue
        stands = notes.standing_of(config)
        state = "off" if skill in notes.off else stands.state.value
        say(
            f"{skill}: {state}, session {config.name!r}",
            f"  {stands.count} of {config.cap or 'any number of'} experiments: {stands.kept} kept, "
            f"{stands.discarded} discarded, {stands.crashed} crashed",
            f"  {config.metric_name}: baseline {_figure(stands.baseline)}, best "
            f"{_figure(stands.best)} ({config.direction.value} is better)",
            *([f"  {stands.why}"] if stands.why and state != "off" else []),
        )
    if notes.bad_lines:
        say(f"{notes.bad_lines} lines of {repository.file} cannot be read")


def _figure(value: float | None) -> str:
    return "none" if value is None else f"{value:g}"


def _tell(said: dict[str, object]) -> None:
    say(
        f"{said['skill']}: {said['state']}, session {said['session']!r}",
        f"  experiments run in {said['worktree']} on {said['branch']}",
        "  let an MCP client start 'service-tui autoresearch' in the repository",
    )
