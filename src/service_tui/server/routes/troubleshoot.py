"""Help for agents: advice on errors, and whether their client library is too old."""

from typing import Final

from service_tui.engine.agents.agents import Agent, status_of
from service_tui.engine.agents.halt import is_stopped, no_entry
from service_tui.engine.errors import AgentBroke, AgentSuspended, NotClaimed, Refusal
from service_tui.server.advice import UNKNOWN, advice_on
from service_tui.server.client_versions import lacks_of
from service_tui.server.http.refusals import unauthenticated
from service_tui.server.http.service import RequestContext, Routes
from service_tui.terms import AgentStatus
from service_tui.wire.advice import (
    TroubleshootBody,
    TroubleshootRequest,
    VersionBody,
    VersionQuery,
)
from service_tui.wire.endpoints.public import TROUBLESHOOT, VERSION_CHECK

STANDING: Final[dict[AgentStatus, type[Refusal]]] = {
    AgentStatus.SUSPENDED: AgentSuspended,
    AgentStatus.BROKE: AgentBroke,
    AgentStatus.UNCLAIMED: NotClaimed,
}
"""What a status keeps an agent from is the same thing that refuses its orders."""


def _standing(request: RequestContext, agent: Agent) -> str | None:
    """What the agent's own state keeps it from, None where nothing does."""
    status = status_of(agent, request.world.cash(agent))
    settings, halt = agent.settings, request.world.halt
    if is_stopped(settings, halt):
        state = "paused" if halt.since is None else "halted"
        return f"This agent is {state}: {no_entry(settings, halt).fix}."
    kind = STANDING.get(status)
    return None if kind is None else f"This agent is {status.value}: {kind.fix}."


def texts_of(problem: TroubleshootRequest) -> list[str]:
    """Every text to look at, the nearest to the trouble first."""
    turns = [turn.content for turn in reversed(problem.conversation or ())]
    return [text for text in (problem.error_text, problem.message, *turns) if text]


async def troubleshoot(request: RequestContext) -> TroubleshootBody:
    """Advice from the table of known errors; for a question also from the agent's own state.

    Returns:
        What to do, and whether the text named a known error.

    Raises:
        Denied: 401 for a question without a key.
    """
    problem = request.body_as(TroubleshootRequest)
    if problem.message and request.caller is None:
        raise unauthenticated("a question in words needs a key; error_text does not")
    found = next((row for text in texts_of(problem) if (row := advice_on(text))), None)
    fixes = [] if found is None else [found.fix]
    if problem.message and (standing := _standing(request, request.agent)):
        # ours: a question is answered from the same table and from what is known of the agent.
        fixes.append(standing)
    return TroubleshootBody(
        matched=found is not None,
        fix="\n".join(fixes) or UNKNOWN,
        source=None if found is None else found.source,
    )


async def check_version(request: RequestContext) -> VersionBody:
    """Whether a version of the client library is good enough for all that is here."""
    version = request.query_as(VersionQuery).sdk_version
    if version is None:
        return VersionBody(status="ok", message="name a version to have it checked")
    lacks = lacks_of(version)
    if not lacks:
        return VersionBody(status="ok", message=f"{version} is good for everything here")
    # ours: nothing is blocked, as an old client still trades.
    return VersionBody(status="deprecated", message=f"{version} is old: {'; '.join(lacks)}")


ROUTES: Final[Routes] = {TROUBLESHOOT: troubleshoot, VERSION_CHECK: check_version}
