"""The endpoints of the operator: the embedded service's own, behind the operator key.

`endpoints` lists them with the others.
"""

from typing import Final

from service_tui.terms import PersonRole
from service_tui.wire import desk, events, halt, reactor, world
from service_tui.wire.endpoint import DESK, OF_ALL_AGENTS, Endpoint

WORLD = Endpoint(
    "GET", f"{DESK}/world", world.WorldBody, role=PersonRole.OBSERVER, summary="The offline world"
)
SET_SPEED = Endpoint(
    "POST",
    f"{DESK}/world/speed",
    world.WorldBody,
    request=world.SpeedRequest,
    role=PersonRole.SUPERVISOR,
    summary="Set the pace of the offline world",
)
STEP = Endpoint(
    "POST",
    f"{DESK}/world/step",
    world.WorldBody,
    request=world.StepRequest,
    role=PersonRole.SUPERVISOR,
    summary="Move a world on a history on by so many seconds, at once",
)
TAPE = Endpoint(
    "GET",
    f"{DESK}/markets/{{market_id}}/tape",
    world.TapeBody,
    query=world.TapeQuery,
    role=PersonRole.OBSERVER,
    summary="Chart, news and trades of one market",
)
DESK_AGENTS = Endpoint(
    "GET",
    f"{DESK}/agents",
    desk.DeskAgentsBody,
    role=PersonRole.OBSERVER,
    summary="All agents",
    room=OF_ALL_AGENTS,
)
DESK_PATCH_AGENT = Endpoint(
    "PATCH",
    f"{DESK}/agents/{{agent_id}}",
    desk.DeskAgentBody,
    request=desk.DeskAgentPatch,
    role=PersonRole.TRADER,
    summary="Change an agent's name or plan, pause, suspend or retire it",
)
DESK_CLAIM = Endpoint(
    "POST",
    f"{DESK}/agents/{{agent_id}}/claim",
    desk.DeskAgentBody,
    role=PersonRole.TRADER,
    summary="Claim an agent",
)
DESK_CLAIM_CODE = Endpoint(
    "POST",
    f"{DESK}/agents/{{agent_id}}/claim-code",
    desk.ClaimCodeBody,
    role=PersonRole.TRADER,
    summary="A one-time code for the agent's claim page",
)
DESK_NEW_KEY = Endpoint(
    "POST",
    f"{DESK}/agents/{{agent_id}}/key",
    desk.NewKeyBody,
    role=PersonRole.TRADER,
    summary="Give an agent a new key, shown once; the old one is dead at once",
)
DESK_ACCOUNT = Endpoint(
    "GET",
    f"{DESK}/account",
    desk.AccountBody,
    role=PersonRole.OBSERVER,
    summary="The plan of the account",
)
DESK_PATCH_ACCOUNT = Endpoint(
    "PATCH",
    f"{DESK}/account",
    desk.AccountBody,
    request=desk.AccountPatch,
    role=PersonRole.OWNER,
    summary="Choose the plan of new agents, and on request of all",
)
EVENTS = Endpoint(
    "GET",
    f"{DESK}/events",
    events.EventBody,
    role=PersonRole.OBSERVER,
    streams=True,
    summary="What happens, as it happens: server-sent events",
)
DESK_HALT = Endpoint(
    "POST",
    f"{DESK}/halt",
    halt.HaltBody,
    role=PersonRole.SUPERVISOR,
    summary="Refuse the entries of every agent, kept over a restart; cancel the buys that rest",
)
DESK_RESUME = Endpoint(
    "POST",
    f"{DESK}/resume",
    halt.HaltBody,
    role=PersonRole.SUPERVISOR,
    summary="Take entries again",
)
DESK_WALLETS = Endpoint(
    "GET",
    f"{DESK}/wallets",
    reactor.KnownWalletsBody,
    role=PersonRole.OBSERVER,
    summary="Wallets that trade here and can be followed",
)
DESK_RESET_REACTOR = Endpoint(
    "POST",
    f"{DESK}/agents/{{agent_id}}/reactor/reset",
    reactor.ReactorConfigBody,
    role=PersonRole.TRADER,
    summary="Close an agent's circuit breaker before its hour is over",
)

ALL_DESK: Final = (
    WORLD,
    SET_SPEED,
    STEP,
    TAPE,
    DESK_AGENTS,
    DESK_PATCH_AGENT,
    DESK_CLAIM,
    DESK_CLAIM_CODE,
    DESK_NEW_KEY,
    DESK_ACCOUNT,
    DESK_PATCH_ACCOUNT,
    EVENTS,
    DESK_HALT,
    DESK_RESUME,
    DESK_WALLETS,
    DESK_RESET_REACTOR,
)
"""Every one of them."""
