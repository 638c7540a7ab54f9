"""Handles `Govern`: claims agents of the embedded service, changes them and renews their keys.

A new API key or claim code goes into the state only, never into a notice, the log or the blotter.
"""

from collections.abc import Awaitable, Callable
from typing import Final

from service_tui.client.errors import ServiceError
from service_tui.desk.changes import Changed
from service_tui.desk.commands.agents import AgentAct, Govern
from service_tui.desk.facts import Noticed
from service_tui.desk.fixes import failed_text
from service_tui.desk.ports import Ports
from service_tui.desk.reasons import READ_ONLY
from service_tui.desk.registry import Handlers
from service_tui.desk.slices.agents import RevealedView
from service_tui.desk.slices.topics import Topic
from service_tui.wire.base import timestamp
from service_tui.wire.desk import AccountPatch, DeskAgentPatch
from service_tui.wire.endpoints.desk import (
    DESK_CLAIM,
    DESK_CLAIM_CODE,
    DESK_NEW_KEY,
    DESK_PATCH_ACCOUNT,
    DESK_PATCH_AGENT,
)

OWN_KEY: Final = "the desk has its own key; every console of this data directory finds it"


async def govern(command: Govern, ports: Ports) -> None:
    """Carry out a governance command and report the result in a notice."""
    why = _objection(ports)
    if why:
        ports.emit(Noticed("warn", why))
        return
    try:
        await _ACTS[command.act](command, ports)
    except ServiceError as error:
        ports.emit(Noticed("bad", failed_text(command, error)))
    ports.refresh(Topic.AGENTS)
    if command.agent_id == _own_id(ports):
        for topic in (Topic.ACCOUNT, Topic.WALLET):
            ports.refresh(topic)


def _objection(ports: Ports) -> str:
    """Reason why this desk refuses the command; empty if it does not."""
    if not ports.state().service.embedded:
        return "only agents of the embedded service are managed here"
    if ports.state().service.read_only:
        return READ_ONLY
    return ""


def _own_id(ports: Ports) -> str:
    account = ports.state().account
    return "" if account is None else account.agent_id


async def _claim(command: Govern, ports: Ports) -> None:
    await ports.client.call(DESK_CLAIM, path={"agent_id": command.agent_id})
    ports.emit(Noticed("good", f"{command.name} claimed"))


async def _code(command: Govern, ports: Ports) -> None:
    reply = await ports.client.call(DESK_CLAIM_CODE, path={"agent_id": command.agent_id})
    made = reply.answer
    ports.emit(
        Changed(
            RevealedView(
                command.agent_id,
                command.name,
                is_key=False,
                secret=made.code,
                claim_url=made.claim_url,
                expires_at=timestamp(made.expires_at),
            )
        )
    )


async def _new_key(command: Govern, ports: Ports) -> None:
    reply = await ports.client.call(DESK_NEW_KEY, path={"agent_id": command.agent_id})
    if command.agent_id == _own_id(ports):
        # Nobody has to see it: it lies where every desk of this directory looks for it.
        ports.renew()
        ports.emit(Noticed("good", OWN_KEY))
        return
    ports.emit(
        Changed(
            RevealedView(command.agent_id, command.name, is_key=True, secret=reply.answer.api_key)
        )
    )
    ports.emit(Noticed("good", f"{command.name} has a new key; the old one is revoked"))


async def _plan(command: Govern, ports: Ports) -> None:
    if command.agent_id:
        await _patch(command, ports, DeskAgentPatch(plan=command.plan))
        return
    reply = await ports.client.call(DESK_PATCH_ACCOUNT, body=AccountPatch(plan=command.plan))
    ports.emit(Noticed("good", f"new agents: plan {reply.answer.plan.value}"))


async def _patch(command: Govern, ports: Ports, changes: DeskAgentPatch) -> None:
    await ports.client.call(DESK_PATCH_AGENT, path={"agent_id": command.agent_id}, body=changes)
    ports.emit(Noticed("good", _RESULTS[command.act].format(name=command.name)))


async def _pause(command: Govern, ports: Ports) -> None:
    await _patch(command, ports, DeskAgentPatch(trading_paused=True))


async def _resume(command: Govern, ports: Ports) -> None:
    await _patch(command, ports, DeskAgentPatch(trading_paused=False))


async def _suspend(command: Govern, ports: Ports) -> None:
    await _patch(command, ports, DeskAgentPatch(suspended=True))


async def _readmit(command: Govern, ports: Ports) -> None:
    await _patch(command, ports, DeskAgentPatch(suspended=False))


async def _retire(command: Govern, ports: Ports) -> None:
    await _patch(command, ports, DeskAgentPatch(retired=True))


_RESULTS: Final = {
    AgentAct.PAUSE: "{name} paused: sales only",
    AgentAct.RESUME: "{name} may buy again",
    AgentAct.SUSPEND: "{name} suspended: all orders refused",
    AgentAct.READMIT: "{name} may trade again",
    AgentAct.RETIRE: "{name} retired: slot free, history kept",
    AgentAct.PLAN: "{name}: plan changed",
}

_ACTS: Final[dict[AgentAct, Callable[[Govern, Ports], Awaitable[None]]]] = {
    AgentAct.CLAIM: _claim,
    AgentAct.CODE: _code,
    AgentAct.NEW_KEY: _new_key,
    AgentAct.PAUSE: _pause,
    AgentAct.RESUME: _resume,
    AgentAct.SUSPEND: _suspend,
    AgentAct.READMIT: _readmit,
    AgentAct.RETIRE: _retire,
    AgentAct.PLAN: _plan,
}


HANDLERS: Final[Handlers] = {Govern: govern}
