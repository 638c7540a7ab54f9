"""The service as a session uses it: state, results, backtests, outcomes."""

from dataclasses import dataclass
from typing import Final

from service_tui.autoresearch.errors import ToolError
from service_tui.client.client import Client
from service_tui.client.errors import PlanRequiredError, RefusedError, ServiceError
from service_tui.notes.notebook import Config, Logged
from service_tui.terms import EXPERIMENTS_PAGE_MAX
from service_tui.wire.base import line
from service_tui.wire.endpoints.desk import WORLD
from service_tui.wire.endpoints.public import AGENT, OUTCOMES
from service_tui.wire.endpoints.research import (
    BACKTEST,
    BEGIN_SESSION,
    EXPERIMENTS,
    POST_EXPERIMENT,
    RESEARCH_STATE,
)
from service_tui.wire.outcomes import OutcomesBody, OutcomesQuery
from service_tui.wire.research import (
    BacktestBody,
    BacktestRequest,
    ExperimentLoggedBody,
    ExperimentRequest,
    ExperimentsQuery,
    SessionRequest,
    StateBody,
    StateQuery,
)
from service_tui.wire.text import prose

PLAN_FIX: Final = (
    "autoresearch needs the Pro plan: choose it for this agent in the console, then try again"
)


def failure(error: ServiceError) -> ToolError:
    """Tool error for an error of the service."""
    if isinstance(error, PlanRequiredError):
        return ToolError(str(error), error.fix or PLAN_FIX, status=403)
    if isinstance(error, RefusedError):
        return ToolError(str(error), error.fix, status=error.status)
    return ToolError(f"the service did not answer: {error}", "try again when it is there")


@dataclass(frozen=True, slots=True)
class Remote:
    """One service, through one key."""

    client: Client

    async def agent_id(self) -> str:
        """Id of the agent that owns the key."""
        return (await self.client.call(AGENT)).answer.agent_id

    async def history(self) -> str:
        """The history on which the service's world runs, if any; raises ServiceError."""
        world = (await self.client.call(WORLD)).answer
        return "" if world.history is None else world.history.name

    async def state(self, skill: str) -> StateBody:
        """State of a skill's session; raises ServiceError."""
        query = StateQuery(skill_slug=skill)
        return (await self.client.call(RESEARCH_STATE, query=query)).answer

    async def begin(self, config: Config) -> None:
        """Say that a session began; raises ServiceError."""
        body = SessionRequest(
            skill_slug=config.skill,
            session=line(config.name),
            segment=config.segment,
            metric_name=line(config.metric_name),
            metric_unit=line(config.metric_unit),
            best_direction=config.direction,
            max_experiments=config.cap,
        )
        await self.client.call(BEGIN_SESSION, body=body)

    async def known(self, skill: str) -> set[str]:
        """References of the results that the service has; fails with ServiceError."""
        query = ExperimentsQuery(skill_slug=skill, limit=EXPERIMENTS_PAGE_MAX)
        experiments = (await self.client.call(EXPERIMENTS, query=query)).answer.experiments
        return {one.client_ref for one in experiments if one.client_ref}

    async def post(self, result: Logged) -> ExperimentLoggedBody:
        """Send a result; fails with ServiceError."""
        config = result.config
        body = ExperimentRequest(
            skill_slug=config.skill,
            experiment_number=result.run,
            segment=result.segment,
            status=result.status,
            metric_name=line(config.metric_name),
            metric_value=result.metric,
            metric_unit=line(config.metric_unit),
            best_direction=config.direction,
            secondary_metrics=dict(result.metrics),
            description=prose(result.description),
            commit_hash=result.commit or None,
            session=line(config.name),
            max_experiments=config.cap,
            client_ref=result.ref,
        )
        return (await self.client.call(POST_EXPERIMENT, body=body)).answer

    async def backtest(self, request: BacktestRequest) -> BacktestBody:
        """Replay trades; fails with ServiceError."""
        return (await self.client.call(BACKTEST, body=request)).answer

    async def outcomes(self, skill: str) -> OutcomesBody:
        """Outcomes of a skill's trades; raises ServiceError."""
        query = OutcomesQuery(skill=skill)
        return (await self.client.call(OUTCOMES, query=query)).answer
