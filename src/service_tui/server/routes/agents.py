"""Routes of an agent: registration, identity and settings."""

from collections.abc import Iterable
from typing import Final

from service_tui.engine.agents.leash import OWN
from service_tui.engine.events import AgentRegistered, Event, LeashSet
from service_tui.folding import looks_of
from service_tui.server.http.access import hash_of
from service_tui.server.http.people.invitation_book import no_invitation
from service_tui.server.http.refusals import denied
from service_tui.server.http.service import RequestContext, Routes
from service_tui.server.projections.present import agent_body, claim_url, context_body
from service_tui.storage.invitations import InvitationRecord
from service_tui.terms import LEASH_WAIT_S, NEW_AGENT_CASH_SIM, AgentStatus, LeashMode, Plan
from service_tui.units import ONE, Micros
from service_tui.version import VERSION
from service_tui.wire.agents import (
    AgentBody,
    AgentSettingsBody,
    AgentSettingsPatch,
    ContextBody,
    RegisterBody,
    RegisterRequest,
)
from service_tui.wire.base import moment
from service_tui.wire.endpoints.public import (
    AGENT,
    CONTEXT,
    HEALTH,
    PATCH_AGENT,
    REGISTER,
    HealthBody,
)

CODE_PARTS: Final = ("reef", "fern", "dune", "mist", "vale", "cove", "moor", "glen")
PREFIX_LENGTH: Final = 12


async def health(request: RequestContext) -> HealthBody:
    """Whether the service answers."""
    world = request.world
    return HealthBody(
        status="ok",
        timestamp=moment(request.now),
        version=VERSION,
        world="invented" if world.history is None else f"history {world.history.name}",
        world_time=moment(world.world_at),
    )


async def register(request: RequestContext) -> RegisterBody:
    """Take in a new agent with 10,000 $SIM; its key is shown here and never again."""
    body = request.body_as(RegisterRequest)
    service = request.service
    invitation = _invitation_of(request, body)
    service.check_slot("" if invitation is None else invitation.person)
    refuse_lookalike(body.name, (agent.settings.name for agent in request.world.agents.values()))
    key = service.new_key()
    code = service.new_id()
    agent_id = f"agent-{service.new_id()}"
    event = AgentRegistered(
        agent_id=agent_id,
        at=request.now,
        name=body.name,
        description=body.description or "",
        key_hash=hash_of(key),
        claim_code=f"{CODE_PARTS[len(request.world.agents) % len(CODE_PARTS)]}-{code[:12]}",
        plan=service.plan if invitation is None or not invitation.plan else Plan(invitation.plan),
        cash=Micros(NEW_AGENT_CASH_SIM * ONE),
    )
    service.world_store.check_whole()
    events = request.world.register(event)
    if invitation is not None:
        # In the same transaction: that an agent names its invitation is the use of it.
        events += _invited(request, agent_id, invitation)
    await service.world_store.commit(events)
    agent = request.world.agents[agent_id]
    return RegisterBody(
        agent_id=agent_id,
        api_key=key,
        key_prefix=key[:PREFIX_LENGTH],
        claim_url=claim_url(service.address, agent),
        claim_code=agent.claim_code,
        status=AgentStatus.UNCLAIMED,
    )


def refuse_lookalike(name: str, known: Iterable[str]) -> None:
    """Refuse a name that a person would take for another agent's.

    # ours: two agents may have the same name, and lists tell them apart then; a name that only
    looks the same passes for the other wherever it is read.

    Raises:
        Denied: 409, with the name that it looks like.
    """
    looks = looks_of(name)
    like = next((one for one in known if one != name and looks_of(one) == looks), None)
    if like is not None:
        raise denied(409, f"the name {name!r} looks like {like!r}", "choose another name")


def _invitation_of(request: RequestContext, body: RegisterRequest) -> InvitationRecord | None:
    """The invitation by which an agent may register; None where it has none and needs none.

    Raises:
        Denied: 403 without one that is good.
    """
    service = request.service
    if body.invitation is not None:
        return service.invitations.good(body.invitation, request.world.agents.values(), request.now)
    # The console's own agent comes with the data directory.
    if service.needs_invitation and not request.in_process:
        raise no_invitation()
    return None


def _invited(request: RequestContext, agent_id: str, invitation: InvitationRecord) -> list[Event]:
    """What an agent gets by its invitation, beside the plan; already applied."""
    world, now = request.world, request.now
    changes: dict[str, object] = {
        "invitation": invitation.invitation_id,
        "owner": invitation.person,
    }
    events = world.change(world.agents[agent_id], changes, now)
    if invitation.budget is not None:
        # ours: `auto`: the budget binds, nothing else does, until a supervisor says so.
        budget = Micros(invitation.budget)
        leash = LeashSet(agent_id, now, OWN, LeashMode.AUTO, Micros(0), budget, LEASH_WAIT_S)
        events += world.note(leash)
    return events


async def me(request: RequestContext) -> AgentBody:
    """The calling agent."""
    return agent_body(request.world, request.agent, request.service.address)


async def context(request: RequestContext) -> ContextBody:
    """The calling agent in short, with its claim link."""
    return context_body(request.world, request.agent, request.service.address, request.now)


async def patch_me(request: RequestContext) -> AgentSettingsBody:
    """Change the agent's own settings."""
    patch = request.body_as(AgentSettingsPatch)
    changes = patch.changes()
    if patch.name is not None and patch.name != request.agent.settings.name:
        others = (one for one in request.world.agents.values() if one is not request.agent)
        refuse_lookalike(patch.name, (one.settings.name for one in others))
    if changes:
        await request.service.world_store.commit(
            request.world.change(request.agent, changes, request.now)
        )
    settings = request.agent.settings
    return AgentSettingsBody(
        auto_redeem_enabled=settings.auto_redeem_enabled,
        name=settings.name,
        warnings=patch.warnings(),
    )


ROUTES: Final[Routes] = {
    HEALTH: health,
    REGISTER: register,
    AGENT: me,
    CONTEXT: context,
    PATCH_AGENT: patch_me,
}
