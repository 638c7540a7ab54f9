"""StartSkill, StopSkill, RestartSkill, DetachSkill, InstallSkill: skills that this desk runs.

Keys pass through here into the process of their skill, and nowhere else.
"""

import asyncio
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from service_tui.client.errors import ServiceError
from service_tui.config import KEY_VARIABLE, URL_VARIABLE, WALLET_VARIABLE
from service_tui.desk.agents.health import still_waiting
from service_tui.desk.agents.leashing import set_leash
from service_tui.desk.agents.skill_home import SkillHome
from service_tui.desk.agents.skill_proxy import SkillProxies
from service_tui.desk.agents.skill_runs import SkillRuns
from service_tui.desk.agents.stored_leash import StoredLeash
from service_tui.desk.changes import Loaded
from service_tui.desk.commands.agents import (
    DetachSkill,
    InstallSkill,
    RestartSkill,
    SetLeash,
    StartSkill,
    StopSkill,
)
from service_tui.desk.facts import Noticed
from service_tui.desk.fixes import failed_text
from service_tui.desk.ports import Ports
from service_tui.desk.reasons import READ_ONLY
from service_tui.desk.slices.supervision import Pace, SkillRunState, SkillRunView, SkillView
from service_tui.desk.slices.topics import Topic
from service_tui.skills.checking import problems_of
from service_tui.skills.install import SkillRefusedError, install
from service_tui.skills.package import (
    BUNDLED,
    DAILY_BUDGET_USD,
    NotASkillError,
    SkillPackage,
    budget_variable,
    entry_script,
    installed,
)
from service_tui.skills.process import Launch
from service_tui.terms import EVERY_MAX_S, EVERY_MIN_S, LeashMode
from service_tui.units import decimal
from service_tui.wire.agents import RegisterRequest
from service_tui.wire.endpoints.public import REGISTER

SkillOrder = StartSkill | StopSkill | RestartSkill | DetachSkill | InstallSkill

SKILLS_S: Final = 2.0
"""Seconds after which the folder of skills is looked at again."""


class CannotStartError(Exception):
    """A skill does not start; one plain sentence."""


@dataclass(frozen=True, slots=True)
class SkillPorts:
    """Dependencies of the skill handlers beside `Ports`."""

    home: SkillHome
    runs: SkillRuns
    lines: SkillProxies


async def carry_out(order: SkillOrder, skill_ports: SkillPorts, ports: Ports) -> None:
    """Carry out a skill command and report the result in a notice."""
    if ports.state().service.read_only and not isinstance(order, StopSkill):
        reason = READ_ONLY
        ports.emit(Noticed("warn", f"{order.describe()}: {reason}"))
        return
    try:
        tone, text = await _done(order, skill_ports, ports)
    except (CannotStartError, SkillRefusedError) as error:
        tone, text = "bad", f"{order.describe()}: {error}"
    except (ServiceError, OSError, ValueError) as error:
        tone, text = "bad", failed_text(order, error)
    ports.emit(Noticed(tone, text))
    ports.refresh(Topic.AGENTS)


async def _done(order: SkillOrder, skill_ports: SkillPorts, ports: Ports) -> tuple[str, str]:
    match order:
        case StartSkill():
            return "good", await _start(order, skill_ports, ports)
        case StopSkill():
            did = skill_ports.runs.stop(order.run_id)
            view = ports.state().supervision
            agent_id = next((run.agent_id for run in view.runs if run.run_id == order.run_id), "")
            left = still_waiting(view, agent_id)
            return ("good", f"{order.describe()}{left}") if did else ("warn", "not running")
        case RestartSkill():
            return "good", await _restart(order, skill_ports, ports)
        case DetachSkill():
            did = skill_ports.runs.detach(order.run_id, detached=order.detached)
            return ("good", order.describe()) if did else ("warn", "not running")
        case InstallSkill():
            return "good", await _install(order, skill_ports, ports)


async def see_skills(home: SkillHome, ports: Ports) -> None:
    """Load the installed skills into the state."""
    ports.emit(Loaded(SkillView, await asyncio.to_thread(home.views)))


async def watch_skills(home: SkillHome, ports: Ports) -> None:
    """Load the installed skills whenever their folders change, for ever."""
    known = None
    while True:
        # Before the skills themselves: what comes between is seen the next time.
        stamps = await asyncio.to_thread(home.stamps)
        if stamps != known:
            known = stamps
            await see_skills(home, ports)
        await ports.clock.sleep(SKILLS_S)


async def _install(order: InstallSkill, own: SkillPorts, ports: Ports) -> str:
    taken = [one.slug for one in await asyncio.to_thread(installed, (BUNDLED,))]
    made = await asyncio.to_thread(_installed, order.path, own.home.own, taken)
    await see_skills(own.home, ports)
    return f"{made.slug} {made.version} installed"


def _installed(path: str, into: Path, names: list[str]) -> SkillPackage:
    return install(Path(path).expanduser(), into, names)


async def _start(order: StartSkill, skill_ports: SkillPorts, ports: Ports) -> str:
    """Give the skill an agent and a leash, then start its process."""
    if skill_ports.runs.is_full:
        raise CannotStartError("too many skills running: stop one first")
    if order.pace is Pace.EVERY and not EVERY_MIN_S <= order.every_s <= EVERY_MAX_S:
        raise CannotStartError(f"pace: {EVERY_MIN_S} to {EVERY_MAX_S:,} seconds")
    if order.granted:
        # That key belongs to the program that signs for this desk, and is not lent.
        raise CannotStartError(
            "this desk lends no wallet key: let the skill trade through its agent"
        )
    embedded = ports.state().service.embedded
    script = await asyncio.to_thread(_script_of, skill_ports.home, order.skill_slug)
    agent_id, name = await _agent(order, skill_ports.home, ports)
    if order.mode is not None and embedded:
        leash_order = SetLeash(
            agent_id,
            name,
            order.mode,
            threshold=order.threshold,
            budget=order.budget,
            skill_slug=order.skill_slug,
        )
        await set_leash(leash_order, ports)
    view = SkillRunView(
        run_id=ports.new_id()[:32],
        skill_slug=order.skill_slug,
        agent_id=agent_id,
        agent_name=name,
        pace=order.pace,
        every_s=order.every_s,
        live=order.live and order.mode is not LeashMode.OBSERVE,
        state=SkillRunState.STARTING,
        budget=order.budget,
    )
    leash = None if embedded else _leash_of_run(order, view)
    skill_ports.runs.begin(view, await _launch(view, script, skill_ports, ports, leash=leash))
    return order.describe()


async def _restart(order: RestartSkill, own: SkillPorts, ports: Ports) -> str:
    runs = ports.state().supervision.runs
    known = next((run for run in runs if run.run_id == order.run_id), None)
    if known is None:
        raise CannotStartError("no such run")
    script = await asyncio.to_thread(_script_of, own.home, known.skill_slug)
    fresh = replace(known, restarts=0, why="", exit_code=None, ended_at=None)
    leash = None if ports.state().service.embedded else own.lines.leash_of(fresh.run_id)
    own.runs.restart(fresh, await _launch(fresh, script, own, ports, leash=leash))
    return order.describe()


def _script_of(home: SkillHome, slug: str) -> Path:
    """The script of a skill that nothing is wrong with.

    Returns:
        The script.

    Raises:
        CannotStartError: there is no such skill, or something is wrong with it.
    """
    folder = home.folder_of(slug)
    if folder is None:
        raise CannotStartError("no skill of this name installed")
    problems = problems_of(folder)
    if problems:
        raise CannotStartError(problems[0])
    try:
        return entry_script(folder)
    except NotASkillError as error:
        raise CannotStartError(str(error)) from error


async def _agent(order: StartSkill, home: SkillHome, ports: Ports) -> tuple[str, str]:
    """The agent as which the skill trades: one that this desk has the key of, or a new one.

    Returns:
        Its id and name.

    Raises:
        CannotStartError: the key of the one that was named is not known here.
        OSError, ValueError: the keys cannot be read.
        ServiceError: no other agent is to be had.
    """
    # Asked first in any case: where the keys cannot be read no other one can be kept.
    known = await asyncio.to_thread(home.key_of, order.agent_id, _keys_of(ports))
    if order.agent_id:
        if known is None:
            raise CannotStartError(
                "no key of this agent here for this service: run the skill as a new agent"
            )
        return order.agent_id, order.name or order.agent_id
    name = order.name or order.skill_slug
    body = RegisterRequest(name=name, description=f"runs {order.skill_slug}")
    made = (await ports.client.call(REGISTER, body=body)).answer
    await asyncio.to_thread(home.keep_key, made.agent_id, _keys_of(ports), made.api_key)
    return made.agent_id, name


def _keys_of(ports: Ports) -> str:
    """Stored keys for the service that this desk is connected to."""
    return "embedded" if ports.state().service.embedded else ports.client.base_url


def _leash_of_run(order: StartSkill, view: SkillRunView) -> StoredLeash:
    """Leash that this desk keeps for a run; without settings every buy needs approval."""
    return StoredLeash(
        view.agent_id,
        view.agent_name,
        view.skill_slug,
        order.mode or LeashMode.ASK,
        order.threshold,
        order.budget,
    )


async def _launch(
    view: SkillRunView,
    script: Path,
    skill_ports: SkillPorts,
    ports: Ports,
    *,
    leash: StoredLeash | None,
) -> Launch:
    """Launch parameters of the process, with its own agent's key and budget."""
    key = skill_ports.home.key_of(view.agent_id, _keys_of(ports))
    if key is None:
        raise CannotStartError("no key of its agent here for this service")
    service = ports.state().service
    address = service.address if service.embedded else ports.client.base_url
    if not address:
        raise CannotStartError("service not reachable for local programs yet")
    if not service.embedded:
        # A run of before, whose leash is no longer known, needs approval for everything.
        kept = leash or StoredLeash(
            view.agent_id, view.agent_name, view.skill_slug, LeashMode.ASK, budget=view.budget
        )
        address, key = await skill_ports.lines.open(view.run_id, kept, key)
    variables = {KEY_VARIABLE: key, URL_VARIABLE: address, "TRADING_VENUE": service.venue.value}
    budget = DAILY_BUDGET_USD if view.budget is None else decimal(view.budget)
    variables[budget_variable(view.skill_slug)] = f"{budget:.2f}"
    variables.pop(WALLET_VARIABLE, None)
    flags = [
        *(["--live"] if view.live else []),
        *(["--once"] if view.pace is not Pace.LOOP else []),
    ]
    folder = skill_ports.runs.folder_of(view.run_id)
    hidden = skill_ports.home.hidden
    return Launch(view.run_id, folder, script, tuple(flags), variables, hidden)
