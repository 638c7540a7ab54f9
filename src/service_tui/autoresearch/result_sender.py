"""Sends each result to the service once, in order, and stores those it could not send."""

import logging
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from service_tui.autoresearch.remote import Remote, failure
from service_tui.client.errors import (
    InvalidError,
    NotFoundError,
    PlanRequiredError,
    ServiceError,
)
from service_tui.notes.notebook import Config, Logged, Notes
from service_tui.terms import ExperimentStatus
from service_tui.wire.research import StateBody

log = logging.getLogger(__name__)

PROBE: Final = "__probe__"
DIVERGES_ABOVE: Final = 1.0
"""Source: wire reference, 9.1 and 9.2."""

PNL: Final = "pnl"


@dataclass(slots=True)
class ResultSender:
    """Sends results to the service. `unsent` is why one waits; empty if none does."""

    remote: Remote
    notes: Notes
    file: Path
    unsent: str = ""
    agent_id: str = ""
    _synced: set[str] = field(default_factory=set[str])
    _begun: set[tuple[str, int]] = field(default_factory=set[tuple[str, int]])

    async def state_of(self, skill: str) -> StateBody | None:
        """The service's session of a skill; None while it does not answer."""
        try:
            return await self.remote.state(skill)
        except PlanRequiredError as error:
            raise failure(error) from error
        except ServiceError as error:
            self.unsent = f"the service did not answer ({error}); results wait in {self.file}"
            return None

    async def check_plan(self) -> None:
        """Only a plan that does not have it stops a run. Source: wire reference, 9.1."""
        try:
            await self.remote.state(PROBE)
        except PlanRequiredError as error:
            raise failure(error) from error
        except ServiceError as error:
            log.info("plan unknown: %s", error)

    async def begin(self, config: Config) -> None:
        """Report a session without results to the service, once.

        A service that does not answer hears it before the next run; one that takes no beginnings
        learns of the session by its first result.
        """
        place = config.skill, config.segment
        if place in self._begun or self.notes.results_of(config):
            return
        try:
            await self.remote.begin(config)
        except (NotFoundError, InvalidError) as error:
            log.info("the service takes no beginnings: %s", error)
        except ServiceError as error:
            log.info("the service was not told of a session: %s", error)
            return
        self._begun.add(place)

    async def sync(self) -> None:
        """Send what the service does not have; what cannot be sent waits in the file."""
        waiting = [one for one in self.notes.results if one.ref not in self._synced]
        try:
            self.agent_id = self.agent_id or await self.remote.agent_id()
            for skill in {one.config.skill for one in waiting}:
                self._synced |= await self.remote.known(skill)
            for one in waiting:
                if one.ref not in self._synced:
                    await self.remote.post(one)
                    self._synced.add(one.ref)
        except ServiceError as error:
            self.unsent = f"not sent yet: {error}; it waits in {self.file}"
            return
        self.unsent = ""

    async def send(self, result: Logged) -> bool | None:
        """Send a result, after those that wait; whether it is a new best, None if not known."""
        if self.unsent:
            await self.sync()
            return None
        try:
            answer = await self.remote.post(result)
        except ServiceError as error:
            self.unsent = f"not sent yet: {error}; it waits in {self.file}"
            return None
        self._synced.add(result.ref)
        return answer.is_new_best

    async def verified(self, result: Logged) -> list[str]:
        """Warnings where a stated P&L differs from the outcomes of the skill's trades."""
        config = result.config
        is_pnl = PNL in config.metric_name.lower()
        if result.status is not ExperimentStatus.KEEP or not is_pnl or result.metric is None:
            return []
        try:
            outcomes = await self.remote.outcomes(config.skill)
        except ServiceError as error:
            return [f"the P&L could not be checked against the outcomes: {error}"]
        # A skill may trade for more than one money: what it states must be true of one of them.
        traded = [venue for venue in outcomes.by_venue.values() if venue.trades] or [outcomes]
        metric = result.metric
        nearest = min(traded, key=lambda venue: abs(metric - venue.pnl))
        if abs(metric - nearest.pnl) <= DIVERGES_ABOVE:
            return []
        text = (
            f"{config.metric_name} {result.metric:.2f} differs from the outcomes of "
            f"{config.skill}, {nearest.pnl:.2f} over {nearest.trades} trades"
        )
        log.warning("experiment %d: %s", result.run, text)
        return [text]
