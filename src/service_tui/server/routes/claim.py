"""Claiming: what a claim link shows, to programs and to people, and the code that proves a person.

The page is the only thing here that a browser may use. Source: decisions, "Claiming".
"""

from dataclasses import dataclass
from typing import Final

from service_tui.engine.agents.agents import Agent, check_claimed, status_of
from service_tui.engine.errors import AgentNotFound, NotClaimed
from service_tui.engine.events import Event, OperatorActed
from service_tui.engine.world import World
from service_tui.server.claim.page import page
from service_tui.server.http.refusals import not_claimed
from service_tui.server.http.service import RequestContext, Routes, Service
from service_tui.server.projections.present import claim_url
from service_tui.terms import Venue
from service_tui.units import Timestamp
from service_tui.wire.agents import ClaimBody
from service_tui.wire.base import moment
from service_tui.wire.endpoints.public import CLAIM, CLAIM_PAGE

UNCLAIMED: Final = "Agent to claim"
WAITS: Final = (
    "This agent asks for your approval. Until it is claimed it trades with play money only. "
    "The code comes from your console: choose the agent on its agents screen and ask "
    "for a claim code. It is good for ten minutes."
)
WRONG: Final = "That is not the code. Tries left: {}."
VOID: Final = "That code is not good, or no longer. Make a new one in the console."
DONE: Final = "This agent is claimed. You can close this page."


@dataclass(frozen=True, slots=True)
class HtmlPage:
    """What a browser gets."""

    status: int
    content: bytes


def by_claim_code(world: World, code: str) -> Agent:
    """The agent whose claim link holds this code.

    Returns:
        The agent, claimed or not.

    Raises:
        AgentNotFound: the code is nobody's.
    """
    found = next((one for one in world.agents.values() if one.claim_code == code), None)
    if found is None:
        raise AgentNotFound("no agent has this claim code")
    return found


def require_claim(request: RequestContext, venue: Venue) -> None:
    """Let only a claimed agent trade on a real venue; for every route that trades or imports.

    Raises:
        Denied: 403 with the claim link.
    """
    try:
        check_claimed(request.agent, venue)
    except NotClaimed as refusal:
        raise not_claimed(refusal, claim_url(request.service.address, request.agent)) from refusal


async def look(request: RequestContext) -> ClaimBody:
    """What anybody with the link may know."""
    agent = by_claim_code(request.world, request.path["claim_code"])
    return ClaimBody(
        name=agent.settings.name,
        description=agent.description,
        status=status_of(agent, request.world.cash(agent)),
        claimed=agent.settings.claimed,
        created_at=moment(agent.created_at),
        claim_url=claim_url(request.service.address, agent),
    )


def show(service: Service, code: str) -> HtmlPage:
    """The page as it is opened."""
    try:
        agent = by_claim_code(service.world, code)
    except AgentNotFound:
        return _unknown()
    return _done(agent) if agent.settings.claimed else _waiting(agent, 200, WAITS)


async def enter(service: Service, code: str, typed: str) -> HtmlPage:
    """The page after a code was typed; the right one claims the agent."""
    try:
        agent = by_claim_code(service.world, code)
    except AgentNotFound:
        return _unknown()
    if agent.settings.claimed:
        return _done(agent)
    codes, moment_s = service.claim_codes, service.clock.monotonic()
    by = codes.maker_of(agent.agent_id)
    if not codes.use(agent.agent_id, typed, moment_s):
        left = codes.tries_left(agent.agent_id, moment_s)
        return _waiting(agent, 403, WRONG.format(left) if left else VOID, mood="bad")
    now = service.clock.now()
    events = owned(service.world, agent, by, now)
    if events:
        # The page has no operator of its own: the code is the word of the one who made it.
        events.append(OperatorActed(by, now, f"POST {CLAIM_PAGE}", agent.agent_id))
    await service.world_store.commit(events)
    return _done(service.world.agents[agent.agent_id])


def owned(world: World, agent: Agent, by: str, at: Timestamp) -> list[Event]:
    """Claim an agent, and give it to the person if it has no owner; twice changes nothing.

    Returns:
        What happened, already applied: nothing the second time.
    """
    # ours: an agent belongs to whom its invitation names, else to who claims it first.
    changes: dict[str, object] = {}
    if not agent.settings.claimed:
        changes["claimed"] = True
        if not agent.settings.owner:
            changes["owner"] = by
    return world.change(agent, changes, at) if changes else []


def _unknown() -> HtmlPage:
    text = "No agent here has this claim link. Ask the agent for a fresh one."
    return HtmlPage(404, page("Unknown link", kind="Claim an agent", text=text, mood="bad"))


def _done(agent: Agent) -> HtmlPage:
    return HtmlPage(200, page(agent.settings.name, kind="Claimed agent", text=DONE, mood="good"))


def _waiting(agent: Agent, status: int, text: str, *, mood: str = "") -> HtmlPage:
    name = agent.settings.name
    return HtmlPage(status, page(name, kind=UNCLAIMED, text=text, mood=mood, form=True))


ROUTES: Final[Routes] = {CLAIM: look}
