"""The endpoints of autoresearch: experiments, state, backtest; Pro only.

`endpoints` lists them with the others.
"""

from typing import Final

from service_tui.terms import PersonRole, Plan
from service_tui.wire import research
from service_tui.wire.endpoint import DESK, SDK, Endpoint

RESEARCH: Final = f"{SDK}/autoresearch"

POST_EXPERIMENT = Endpoint(
    "POST",
    f"{RESEARCH}/experiments",
    research.ExperimentLoggedBody,
    request=research.ExperimentRequest,
    plan=Plan.PRO,
    summary="Keep the result of an experiment",
)
EXPERIMENTS = Endpoint(
    "GET",
    f"{RESEARCH}/experiments",
    research.ExperimentsBody,
    query=research.ExperimentsQuery,
    plan=Plan.PRO,
    summary="The agent's experiments, newest first",
)
RESEARCH_STATE = Endpoint(
    "GET",
    f"{RESEARCH}/state",
    research.StateBody,
    query=research.StateQuery,
    plan=Plan.PRO,
    summary="Where the session of a skill stands",
)
# ours: nothing in the specification tells a service that a session began.
BEGIN_SESSION = Endpoint(
    "POST",
    f"{RESEARCH}/sessions",
    research.StateBody,
    request=research.SessionRequest,
    plan=Plan.PRO,
    summary="Begin a session of a skill, which clears a pause",
)
BACKTEST = Endpoint(
    "POST",
    f"{RESEARCH}/backtest",
    research.BacktestBody,
    request=research.BacktestRequest,
    plan=Plan.PRO,
    summary="Replay the trades of a skill under thresholds",
)
DESK_RESEARCH = Endpoint(
    "GET",
    f"{DESK}/research",
    research.ResearchBody,
    query=research.ExperimentsQuery,
    role=PersonRole.OBSERVER,
    summary="Sessions and newest experiments of all agents",
)

ALL_RESEARCH: Final = (
    POST_EXPERIMENT,
    EXPERIMENTS,
    RESEARCH_STATE,
    BEGIN_SESSION,
    BACKTEST,
    DESK_RESEARCH,
)
"""Every one of them."""
