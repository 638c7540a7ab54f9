"""The endpoints of the operator: the embedded service's own, behind the operator key.

`endpoints` lists them with the others.
"""

from typing import Final

from service_tui.wire import desk, events, halt, reactor, world
from service_tui.wire.endpoint import DESK, Endpoint

WORLD = Endpoint(
    "GET", f"{DESK}/world", world.WorldBody, operator=True, summary="The offline world"
)
SET_SPEED = Endpoint(
    "POST",
    f"{DESK}/world/speed",
    world.WorldBody,
    request=world.SpeedRequest,
    operator=True,
    summary="Set the pace of the offline world",
)
TAPE = Endpoint(
    "GET",
    f"{DESK}/markets/{{market_id}}/tape",
    world.TapeBody,
    query=world.TapeQuery,
    operator=True,
    summary="Chart, news and trades of one market",
)
DESK_AGENTS = Endpoint(
    "GET", f"{DESK}/agents", desk.DeskAgentsBody, operator=True, summary="All agents"
)
DESK_PATCH_AGENT = Endpoint(
    "PATCH",
    f"{DESK}/agents/{{agent_id}}",
    desk.DeskAgentBody,
    request=desk.DeskAgentPatch,
    operator=True,
    summary="Change an agent's name or plan, pause, suspend or retire it",
)
DESK_CLAIM = Endpoint(
    "POST",
    f"{DESK}/agents/{{agent_id}}/claim",
    desk.DeskAgentBody,
    operator=True,
    summary="Claim an agent",
)
DESK_CLAIM_CODE = Endpoint(
    "POST",
    f"{DESK}/agents/{{agent_id}}/claim-code",
    desk.ClaimCodeBody,
    operator=True,
    summary="A one-time code for the agent's claim page",
)
DESK_NEW_KEY = Endpoint(
    "POST",
    f"{DESK}/agents/{{agent_id}}/key",
    desk.NewKeyBody,
    operator=True,
    summary="Give an agent a new key, shown once; the old one is dead at once",
)
DESK_ACCOUNT = Endpoint(
    "GET", f"{DESK}/account", desk.AccountBody, operator=True, summary="The plan of the account"
)
DESK_PATCH_ACCOUNT = Endpoint(
    "PATCH",
    f"{DESK}/account",
    desk.AccountBody,
    request=desk.AccountPatch,
    operator=True,
    summary="Choose the plan of new agents, and on request of all",
)
EVENTS = Endpoint(
    "GET",
    f"{DESK}/events",
    events.EventBody,
    operator=True,
    streams=True,
    summary="What happens, as it happens: server-sent events",
)
DESK_HALT = Endpoint(
    "POST",
    f"{DESK}/halt",
    halt.HaltBody,
    operator=True,
    summary="Refuse the entries of every agent, kept over a restart; cancel the buys that rest",
)
DESK_RESUME = Endpoint(
    "POST",
    f"{DESK}/resume",
    halt.HaltBody,
    operator=True,
    summary="Take entries again",
)
DESK_WALLETS = Endpoint(
    "GET",
    f"{DESK}/wallets",
    reactor.KnownWalletsBody,
    operator=True,
    summary="Wallets that trade here and can be followed",
)
DESK_RESET_REACTOR = Endpoint(
    "POST",
    f"{DESK}/agents/{{agent_id}}/reactor/reset",
    reactor.ReactorConfigBody,
    operator=True,
    summary="Close an agent's circuit breaker before its hour is over",
)

ALL_DESK: Final = (
    WORLD,
    SET_SPEED,
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
