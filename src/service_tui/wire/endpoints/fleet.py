"""The endpoints of the fleet: permissions, pending trades, and each agent's actions.

`endpoints` lists them with the others.
"""

from typing import Final

from service_tui.terms import PersonRole, Plan
from service_tui.wire import (
    alerts,
    fleet,
    holdings,
    limits,
    monitors,
    needs,
    outcomes,
    positions,
    trades,
)
from service_tui.wire.endpoint import DESK, OF_ALL_AGENTS, SDK, Endpoint

PENDING_TRADES = Endpoint(
    "GET",
    f"{SDK}/trades/held",
    fleet.HeldTradesBody,
    query=fleet.HeldQuery,
    summary="The agent's own trades that wait for its operator, or how they were decided",
)
PROPOSE_TRADE = Endpoint(
    "POST",
    f"{SDK}/trades/held",
    trades.TradeBody,
    request=fleet.ProposalRequest,
    summary="Propose a buy: it waits for the operator, and is refused where nobody would be asked",
    once=True,
)
DESK_LEASHES = Endpoint(
    "GET",
    f"{DESK}/leashes",
    fleet.LeashesBody,
    role=PersonRole.OBSERVER,
    summary="How free each agent is",
)
DESK_SET_LEASH = Endpoint(
    "POST",
    f"{DESK}/agents/{{agent_id}}/leash",
    fleet.LeashBody,
    request=fleet.LeashRequest,
    role=PersonRole.SUPERVISOR,
    summary="Put an agent, or one of its skills, on a leash",
)
DESK_FREE_LEASH = Endpoint(
    "DELETE",
    f"{DESK}/agents/{{agent_id}}/leash",
    fleet.LeashesBody,
    query=fleet.LeashQuery,
    role=PersonRole.SUPERVISOR,
    summary="Take a leash off",
)
DESK_PENDING_TRADES = Endpoint(
    "GET",
    f"{DESK}/held",
    fleet.HeldTradesBody,
    query=fleet.HeldQuery,
    role=PersonRole.OBSERVER,
    summary="The trades of all agents that wait for the person",
)
DESK_APPROVE = Endpoint(
    "POST",
    f"{DESK}/held/{{held_id}}/approve",
    fleet.DecidedBody,
    request=fleet.ApproveRequest,
    role=PersonRole.TRADER,
    summary="Carry a waiting trade out, as asked or at another size",
)
DESK_REFUSE = Endpoint(
    "POST",
    f"{DESK}/held/{{held_id}}/refuse",
    fleet.DecidedBody,
    request=fleet.RefuseRequest,
    role=PersonRole.TRADER,
    summary="Decline a waiting trade; its agent is told why",
)
DESK_AGENT_TRADES = Endpoint(
    "GET",
    f"{DESK}/agents/{{agent_id}}/trades",
    trades.TradesBody,
    query=trades.TradesQuery,
    role=PersonRole.OBSERVER,
    summary="What an agent traded, with its reasons",
)
DESK_AGENT_POSITIONS = Endpoint(
    "GET",
    f"{DESK}/agents/{{agent_id}}/positions",
    positions.PositionsBody,
    query=positions.PositionsQuery,
    role=PersonRole.OBSERVER,
    summary="What an agent holds",
)
DESK_AGENT_OUTCOMES = Endpoint(
    "GET",
    f"{DESK}/agents/{{agent_id}}/outcomes",
    outcomes.OutcomesBody,
    query=outcomes.OutcomesQuery,
    role=PersonRole.OBSERVER,
    summary="What an agent's trades came to, of all skills or of one",
)
# ours: one call for all agents, where one for each took half a minute of a thousand.
DESK_TRADES = Endpoint(
    "GET",
    f"{DESK}/trades",
    fleet.AllTradesBody,
    query=fleet.AllTradesQuery,
    role=PersonRole.OBSERVER,
    summary="What all agents traded, with their reasons, newest first",
)
DESK_OUTCOMES = Endpoint(
    "GET",
    f"{DESK}/outcomes",
    fleet.AllOutcomesBody,
    query=fleet.AllOutcomesQuery,
    role=PersonRole.OBSERVER,
    summary="What the trades of each agent came to since a moment",
    room=OF_ALL_AGENTS,
)
# ours: the spec names the analytics of Elite and no path of theirs.
SKILL_ANALYTICS = Endpoint(
    "GET",
    f"{SDK}/skills/analytics",
    fleet.AgentResultsBody,
    plan=Plan.ELITE,
    summary="The agent's own P&L over time, and what each of its skills came to",
)
DESK_AGENT_RESULTS = Endpoint(
    "GET",
    f"{DESK}/agents/{{agent_id}}/results",
    fleet.AgentResultsBody,
    role=PersonRole.OBSERVER,
    summary="An agent's P&L over time, and what each of its skills came to",
)
# ours: one call for the whole fleet, from what the service notes by the minute.
DESK_RETURNS = Endpoint(
    "GET",
    f"{DESK}/returns",
    fleet.AllReturnsBody,
    query=fleet.AllReturnsQuery,
    role=PersonRole.OBSERVER,
    summary="Equity over time, return, drawdown and gains by day of every agent",
)

DESK_NEEDS = Endpoint(
    "GET",
    f"{DESK}/needs",
    needs.NeedsBody,
    role=PersonRole.OBSERVER,
    summary="What needs the person over all agents: alerts, signals, payouts, open breakers",
)
# ours: what a supervisor is told of agents; the spec has alerts on prices alone.
DESK_AGENT_ALERTS = Endpoint(
    "GET",
    f"{DESK}/alerts",
    fleet.AgentAlertsBody,
    role=PersonRole.OBSERVER,
    summary="The alerts on all agents, with their last firing",
)
DESK_SET_AGENT_ALERT = Endpoint(
    "POST",
    f"{DESK}/agents/{{agent_id}}/alerts",
    fleet.AgentAlertBody,
    request=fleet.AgentAlertRequest,
    role=PersonRole.TRADER,
    summary="Be told when an agent goes wrong, or let that pause it or halt all buys",
)
DESK_DELETE_AGENT_ALERT = Endpoint(
    "DELETE",
    f"{DESK}/agents/{{agent_id}}/alerts/{{alert_id}}",
    alerts.RemovedBody,
    role=PersonRole.TRADER,
    summary="Remove an alert on an agent",
)

DESK_HOLDINGS = Endpoint(
    "GET",
    f"{DESK}/holdings",
    holdings.HoldingsBody,
    role=PersonRole.OBSERVER,
    summary="What all agents hold, with its stops and the open orders",
    room=OF_ALL_AGENTS,
)

# ours: the spec lets an agent alone set the stops of what it holds.
DESK_SET_MONITOR = Endpoint(
    "POST",
    f"{DESK}/agents/{{agent_id}}/positions/{{market_id}}/monitor",
    monitors.MonitorSetBody,
    request=monitors.MonitorRequest,
    role=PersonRole.TRADER,
    summary="Change the stop and target of what an agent holds",
    # A time stop of the past.
    refuses=400,
)
DESK_DELETE_MONITOR = Endpoint(
    "DELETE",
    f"{DESK}/agents/{{agent_id}}/positions/{{market_id}}/monitor",
    monitors.MonitorRemovedBody,
    query=monitors.MonitorQuery,
    role=PersonRole.TRADER,
    summary="Stop watching what an agent holds",
)

DESK_LIMITS = Endpoint(
    "GET",
    f"{DESK}/limits",
    limits.ExposureLimitsBody,
    role=PersonRole.OBSERVER,
    summary="The limits on what all agents hold, by category, event and agent",
)
DESK_SET_LIMIT = Endpoint(
    "POST",
    f"{DESK}/limits",
    limits.ExposureLimitsBody,
    request=limits.ExposureLimitRequest,
    role=PersonRole.SUPERVISOR,
    summary="Limit what a category, an event or an agent may cost, or take the limit off",
)

ALL_FLEET: Final = (
    PENDING_TRADES,
    PROPOSE_TRADE,
    DESK_LEASHES,
    DESK_SET_LEASH,
    DESK_FREE_LEASH,
    DESK_PENDING_TRADES,
    DESK_APPROVE,
    DESK_REFUSE,
    DESK_AGENT_TRADES,
    DESK_AGENT_POSITIONS,
    DESK_AGENT_OUTCOMES,
    DESK_TRADES,
    DESK_OUTCOMES,
    SKILL_ANALYTICS,
    DESK_AGENT_RESULTS,
    DESK_RETURNS,
    DESK_NEEDS,
    DESK_HOLDINGS,
    DESK_SET_MONITOR,
    DESK_DELETE_MONITOR,
    DESK_LIMITS,
    DESK_SET_LIMIT,
    DESK_AGENT_ALERTS,
    DESK_SET_AGENT_ALERT,
    DESK_DELETE_AGENT_ALERT,
)
"""Every one of them."""
