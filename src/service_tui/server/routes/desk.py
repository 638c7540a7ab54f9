"""Routes of the operator's desk: agents, their keys and claims, the plan, the event stream."""

import asyncio
from collections.abc import Mapping
from typing import Final

from service_tui.engine.agents.agents import Agent, status_of
from service_tui.engine.books.resting import cancel_all
from service_tui.engine.books.venues import REAL
from service_tui.engine.events import Event, KeyRotated, PlanSet
from service_tui.server.claim.codes import TRIES
from service_tui.server.events.listeners import Subscription
from service_tui.server.http.access import check_role, hash_of
from service_tui.server.http.people.roster import OWNER
from service_tui.server.http.refusals import denied
from service_tui.server.http.service import RequestContext, Routes, StreamHandler
from service_tui.server.projections.buy_limits import buy_limits_body
from service_tui.server.projections.present import agent_pnl, claim_url
from service_tui.server.routes.agents import PREFIX_LENGTH
from service_tui.server.routes.claim import owned
from service_tui.server.routes.positions import UNSETTLED
from service_tui.server.routes.wallet import BUSY, unlinked
from service_tui.storage.errors import StorageError
from service_tui.terms import PersonRole, Venue, WalletKind
from service_tui.units import Micros, decimal, sum_of
from service_tui.wire.base import WireModel, moment
from service_tui.wire.desk import (
    AccountBody,
    AccountPatch,
    ClaimCodeBody,
    DeskAgentBody,
    DeskAgentPatch,
    DeskAgentsBody,
    DeskVenueBody,
    NewKeyBody,
)
from service_tui.wire.endpoint import Endpoint
from service_tui.wire.endpoints.desk import (
    DESK_ACCOUNT,
    DESK_AGENTS,
    DESK_CLAIM,
    DESK_CLAIM_CODE,
    DESK_NEW_KEY,
    DESK_PATCH_ACCOUNT,
    DESK_PATCH_AGENT,
    EVENTS,
)

ROLES_OF_FIELDS: Final = {
    "plan": PersonRole.OWNER,
    "suspended": PersonRole.SUPERVISOR,
    "retired": PersonRole.SUPERVISOR,
    "wallet": PersonRole.SUPERVISOR,
}
"""Fields of an agent that want more than the call itself. # ours: a trader names and pauses own
agents; what a supervisor has suspended a trader does not readmit, and plans are the owner's."""


def agent_row(request: RequestContext, agent: Agent, own_id: str) -> DeskAgentBody:
    """One agent as its operator sees it; `own_id` is the agent of the operator's console."""
    world, settings = request.world, agent.settings
    cash, equity = world.cash(agent), world.equity(agent)
    return DeskAgentBody(
        agent_id=agent.agent_id,
        name=settings.name,
        description=agent.description,
        status=status_of(agent, cash),
        plan=settings.plan,
        claimed=settings.claimed,
        claim_url=claim_url(request.service.address, agent),
        trading_paused=settings.is_paused,
        suspended=settings.suspended,
        cash=decimal(cash),
        equity=decimal(equity),
        exit_equity=decimal(world.exit_equity(agent)),
        pnl_total=decimal(agent_pnl(world, agent)),
        pnl_today=decimal(world.gained_today(agent, request.now)),
        # Both sides of a market are two positions, as in every list of them.
        positions_count=sum(
            bool(one.yes.shares) + bool(one.no.shares) for one in agent.open_positions()
        ),
        trades_count=agent.trades_count,
        last_trade_at=None if agent.last_trade_at is None else moment(agent.last_trade_at),
        created_at=moment(agent.created_at),
        sdk_version=agent.sdk_version,
        wallet=settings.wallet,
        is_own=agent.agent_id == own_id,
        wins=agent.win_count,
        losses=agent.loss_count,
        spent_today=decimal(agent.spent_today(request.now)),
        rails=buy_limits_body(world, agent, request.now),
        venues=tuple(row for venue in REAL if (row := _venue_row(request, agent, venue))),
        retired=settings.retired,
        owner=request.service.owner_of(agent.agent_id),
    )


def _venue_row(request: RequestContext, agent: Agent, venue: Venue) -> DeskVenueBody | None:
    """What an agent has on a real venue; None where it was never active."""
    world = request.world
    venues, agent_id = world.venues, agent.agent_id
    account, open_orders = venues.account(agent_id, venue), venues.orders(agent_id, venue)
    if not (open_orders or account.trades_count):
        return None
    times = (request.now, world.world_at)
    return DeskVenueBody(
        venue=venue,
        cash=decimal(venues.cash(agent_id, venue)),
        reserved=decimal(venues.reserved(agent_id, venue)),
        equity=decimal(venues.equity(account, times)),
        pnl=decimal(Micros(account.realized + venues.unrealized(account, times))),
        positions_count=sum(
            one.is_held() and one.state in UNSETTLED for one in account.holdings.values()
        ),
        orders_count=len(open_orders),
        to_redeem=decimal(sum_of(one.payout() for one in account.holdings.values())),
    )


def account_body(request: RequestContext) -> AccountBody:
    """The account of the person who asks, as it is."""
    service, person = request.service, request.operator.name
    return AccountBody(
        plan=service.plan,
        agents_count=service.agents_count(person),
        agents_max=service.agents_bound(person),
    )


def _named(request: RequestContext) -> Agent:
    return request.world.agent(request.path["agent_id"])


async def list_agents(request: RequestContext) -> DeskAgentsBody:
    """All agents, in the order of their registration."""
    # Once: it is looked for among all agents.
    own_id = request.service.own_agent(request.person)
    rows = tuple(agent_row(request, agent, own_id) for agent in request.world.agents.values())
    return DeskAgentsBody(agents=rows, account=account_body(request))


async def patch_agent(request: RequestContext) -> DeskAgentBody:
    """Change an agent; what is already as wanted leaves no trace."""
    agent = _named(request)
    patch = request.body_as(DeskAgentPatch).model_dump(exclude_none=True)
    for name in patch.keys() & ROLES_OF_FIELDS.keys():
        check_role(request.operator, ROLES_OF_FIELDS[name])
    if (paused := patch.pop("trading_paused", None)) is not None:
        # A flag of its own, which the agent's own settings call does not reach.
        patch["operator_paused"] = paused
        if not paused:
            patch["trading_paused"] = False
    patch |= _retirement(request, agent, patch)
    changes = {
        name: value for name, value in patch.items() if getattr(agent.settings, name) != value
    }
    events: list[Event] = []
    if changes.get("wallet") is WalletKind.MANAGED:
        own = request.world.chain.wallet_of(agent.agent_id)
        if own is not None and request.world.chain.pending(own.address):
            raise denied(409, *BUSY[1:])
        events += unlinked(request, agent).events
    if changes.get("retired"):
        # Nobody is left to cancel them: an open order would go on buying.
        world = request.world
        resting = world.venues.orders(agent.agent_id)
        events += cancel_all(world.venues, resting, (request.now, world.world_at))
    if changes:
        events += request.world.change(agent, changes, request.now)
    await request.write(events)
    return agent_row(request, _named(request), request.service.own_agent(request.person))


def _retirement(
    request: RequestContext, agent: Agent, patch: Mapping[str, object]
) -> dict[str, object]:
    """What else changes where an agent retires, or comes back.

    Returns:
        Further settings; none if neither is requested.

    Raises:
        Denied: 409 for the console's own agent, 403 where no slot is free to come back to.
    """
    retires = patch.get("retired")
    if retires:
        if agent.agent_id == request.service.operator_agent or agent.settings.console_of:
            raise denied(409, "this is a console's own agent", "it takes no slot: keep it")
        return {"suspended": True}
    comes_back = retires is False or patch.get("suspended") is False
    if not comes_back or not agent.settings.retired:
        return {}
    request.service.check_slot(agent.settings.owner)
    return {"retired": False, "suspended": False}


async def claim_agent(request: RequestContext) -> DeskAgentBody:
    """Claim an agent, from the console and without a code."""
    agent = _named(request)
    _check_claim(request, agent)
    await request.write(owned(request.world, agent, request.operator.name, request.now))
    return agent_row(request, _named(request), request.service.own_agent(request.person))


def _check_claim(request: RequestContext, agent: Agent) -> None:
    """Refuse to give nobody's agent to a person whose account is full.

    Raises:
        Denied: 403 where it is.
    """
    person = request.operator.name
    if not agent.settings.claimed and not agent.settings.owner and person != OWNER:
        request.service.check_account(person)


async def claim_code(request: RequestContext) -> ClaimCodeBody:
    """Make the code for the agent's claim page.

    Returns:
        The code, shown here and nowhere else.

    Raises:
        Denied: 409 for an agent that is claimed already.
    """
    agent, service = _named(request), request.service
    if agent.settings.claimed:
        raise denied(409, "this agent is claimed already", "nothing is left to do")
    _check_claim(request, agent)
    made = service.claim_codes.make(
        agent.agent_id,
        int(service.new_id(), 16),
        now=request.now,
        monotonic=service.clock.monotonic(),
        by=request.operator.name,
    )
    await request.write((), always=True)
    return ClaimCodeBody(
        agent_id=agent.agent_id,
        code=made.code,
        claim_url=claim_url(service.address, agent),
        expires_at=moment(made.expires_at),
        tries=TRIES,
    )


async def new_key(request: RequestContext) -> NewKeyBody:
    """Give an agent a new key. Of it, as of the first, only the hash is kept.

    Returns:
        The key, shown here and never again.

    Raises:
        Denied: 409 for the console's own agent where the key cannot be kept for its desks, and for
            the agent of a person's console.
    """
    agent, service = _named(request), request.service
    if agent.settings.console_of:
        # Who had another key could trade in the person's name.
        why = f"this agent is opened by the key of {agent.settings.console_of} alone"
        raise denied(409, why, f"renew that: service-tui people renew {agent.settings.console_of}")
    key = service.new_key()
    if agent.agent_id == service.operator_agent:
        # ours: the owner's console trades with it; who has its key could trade in the owner's name.
        check_role(request.operator, PersonRole.OWNER)
        if service.keep_own_key is None:
            raise denied(
                409,
                "the console itself trades with this agent's key",
                "register another agent for programs, and give them its key",
            )
        try:
            # First: a key that its desks do not find would shut the person out.
            await asyncio.to_thread(service.keep_own_key, key)
        except StorageError as error:
            message = f"the new key cannot be kept: {error}"
            raise denied(409, message, "the old one goes on; make room, then try again") from error
    event = KeyRotated(agent.agent_id, request.now, hash_of(key))
    service.world_store.check_whole()
    await request.write(request.world.decide(event))
    return NewKeyBody(agent_id=agent.agent_id, api_key=key, key_prefix=key[:PREFIX_LENGTH])


async def account(request: RequestContext) -> AccountBody:
    """The plan of the account, and how many agents it has and may have."""
    return account_body(request)


async def patch_account(request: RequestContext) -> AccountBody:
    """Choose the plan of new agents; it stays chosen after a restart."""
    patch, world = request.body_as(AccountPatch), request.world
    plan = patch.plan or request.service.plan
    events: list[Event] = []
    if plan is not world.plan:
        events += world.decide(PlanSet(request.now, plan))
    for agent in world.agents.values() if patch.all_agents else ():
        if agent.settings.plan is not plan:
            events += world.change(agent, {"plan": plan}, request.now)
    await request.write(events)
    request.service.plan = plan
    return account_body(request)


def listen(request: RequestContext, after: int | None) -> Subscription:
    """What happens, from now on or from where the listener was."""
    return request.service.subscribe(after)


ROUTES: Final[Routes] = {
    DESK_AGENTS: list_agents,
    DESK_PATCH_AGENT: patch_agent,
    DESK_CLAIM: claim_agent,
    DESK_CLAIM_CODE: claim_code,
    DESK_NEW_KEY: new_key,
    DESK_ACCOUNT: account,
    DESK_PATCH_ACCOUNT: patch_account,
}
STREAMS: Final[dict[Endpoint[WireModel], StreamHandler]] = {EVENTS: listen}
