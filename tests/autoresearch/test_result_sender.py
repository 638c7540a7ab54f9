"""Which results are sent, in which order, and what waits."""

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, cast

import pytest

from kit.samples.filled import filled
from service_tui.autoresearch.errors import ToolError
from service_tui.autoresearch.remote import PLAN_FIX, Remote, failure
from service_tui.autoresearch.result_sender import PROBE, ResultSender
from service_tui.client.client import Client
from service_tui.client.errors import (
    Called,
    InvalidError,
    PlanRequiredError,
    RefusalReason,
    ServiceError,
    UnreachableError,
)
from service_tui.client.reply import Reply
from service_tui.notes.notebook import Config, Logged, Notes
from service_tui.terms import EXPERIMENTS_PAGE_MAX, Direction, ExperimentStatus
from service_tui.units import Timestamp
from service_tui.wire.agents import AgentBody
from service_tui.wire.endpoints.public import AGENT, OUTCOMES
from service_tui.wire.endpoints.research import EXPERIMENTS, POST_EXPERIMENT, RESEARCH_STATE
from service_tui.wire.outcomes import OutcomesBody, VenueOutcomesBody
from service_tui.wire.research import (
    ExperimentBody,
    ExperimentLoggedBody,
    ExperimentRequest,
    ExperimentsBody,
    StateBody,
)

CALLED = Called("GET", "/x")
AWAY = UnreachableError("nobody there", CALLED)


def refused(kind: type[Any], fix: str = "") -> Any:
    return kind(RefusalReason(error="no such plan", fix=fix), CALLED, status=403)


def logged(run: int, skill: str = "tides", **changes: Any) -> Logged:
    config = Config("spring", skill, "net pnl", "$", Direction.LOWER, 3, 77, 8)
    one = Logged(
        run, "c0ffee" * 5, 1.5, {"sharpe": 0.7}, ExperimentStatus.KEEP, f"try {run}", 99, 3, config
    )
    return replace(one, **changes)


STATE = StateBody(last_experiment_number=4)


@dataclass
class Service:
    """A service that has some results and takes others; it fails when a test says so."""

    known: set[str] = field(default_factory=set)
    calls: list[tuple[str, Any]] = field(default_factory=list)
    failing: dict[str, Exception] = field(default_factory=dict)
    answers: dict[str, Any] = field(default_factory=dict)

    async def call(self, endpoint: Any, *, query: Any = None, body: Any = None) -> Any:
        name = {
            AGENT: "agent", RESEARCH_STATE: "state", EXPERIMENTS: "known",
            POST_EXPERIMENT: "post", OUTCOMES: "outcomes",
        }[endpoint]  # fmt: skip
        self.calls.append((name, query or body))
        if name in self.failing:
            raise self.failing[name]
        made = {
            "agent": filled(AgentBody, 1, agent_id="ada"),
            "known": ExperimentsBody(
                experiments=tuple(
                    filled(ExperimentBody, 1, client_ref=one) for one in [*self.known, None, ""]
                )
            ),
            "post": filled(ExperimentLoggedBody, 1, is_new_best=True),
            "state": STATE,
        }
        answer = self.answers.get(name, made.get(name))
        return Reply(answer, dropped=0, latency_s=0.0, at=Timestamp(0.0), server_date=None)

    def posted(self) -> list[int]:
        return [body.experiment_number for name, body in self.calls if name == "post"]


def sender(service: Service, *results: Logged) -> ResultSender:
    notes = Notes(results=list(results))
    return ResultSender(Remote(cast("Client", service)), notes, Path("notes.jsonl"))


async def test_a_result_is_sent_with_each_of_its_fields() -> None:
    service, result = Service(), logged(4)
    assert await sender(service).send(result) is True
    assert service.calls == [
        (
            "post",
            ExperimentRequest(
                skill_slug="tides", experiment_number=4, segment=3,
                status=ExperimentStatus.KEEP, metric_name="net pnl", metric_value=1.5,
                metric_unit="$", best_direction=Direction.LOWER,
                secondary_metrics={"sharpe": 0.7}, description="try 4",
                commit_hash="c0ffee" * 5, session="spring", max_experiments=8,
                client_ref=result.ref,
            ),
        )
    ]  # fmt: skip


async def test_a_crash_has_no_commit_and_no_figure() -> None:
    service = Service()
    await sender(service).send(logged(4, commit="", metric=None, status=ExperimentStatus.CRASH))
    (_, body) = service.calls[0]
    assert (body.commit_hash, body.metric_value) == (None, None)


async def test_only_what_the_service_lacks_is_sent_and_each_once() -> None:
    results = [logged(1), logged(2), logged(3)]
    service = Service(known={results[1].ref})
    one = sender(service, *results)
    await one.sync()
    assert (service.posted(), one.agent_id, one.unsent) == ([1, 3], "ada", "")
    assert ("known", EXPERIMENTS.query(skill_slug="tides", limit=EXPERIMENTS_PAGE_MAX)) in (
        service.calls
    )
    service.calls.clear()
    await one.sync()
    assert service.calls == []


async def test_what_was_sent_at_once_is_not_sent_again() -> None:
    service, result = Service(), logged(1)
    one = sender(service, result)
    await one.send(result)
    await one.sync()
    assert service.posted() == [1]


async def test_a_result_that_cannot_be_sent_waits_and_the_next_goes_after_it() -> None:
    service = Service(failing={"post": AWAY})
    one = sender(service, logged(1), logged(2))
    assert await one.send(logged(1)) is None
    assert one.unsent == f"not sent yet: {AWAY}; it waits in notes.jsonl"
    # While one waits no other overtakes it.
    assert await one.send(logged(2)) is None
    assert service.posted() == [1, 1]
    service.failing.clear()
    assert await one.send(logged(2)) is None
    assert (service.posted(), one.unsent) == ([1, 1, 1, 2], "")


async def test_a_sync_that_breaks_off_goes_on_with_the_rest() -> None:
    service = Service(failing={"agent": AWAY})
    one = sender(service, logged(1))
    await one.sync()
    assert (service.posted(), one.unsent) == ([], f"not sent yet: {AWAY}; it waits in notes.jsonl")


async def test_the_state_is_asked_and_a_silent_service_only_noted() -> None:
    service = Service()
    one = sender(service)
    assert await one.state_of("tides") is STATE
    assert service.calls[0][1].skill_slug == "tides"
    service.failing["state"] = AWAY
    assert await one.state_of("tides") is None
    assert one.unsent == f"the service did not answer ({AWAY}); results wait in notes.jsonl"
    service.failing["state"] = refused(PlanRequiredError)
    with pytest.raises(ToolError, match="no such plan"):
        await one.state_of("tides")


async def test_only_a_plan_without_research_stops_a_run() -> None:
    service = Service(failing={"state": AWAY})
    await sender(service).check_plan()
    assert service.calls[0][1].skill_slug == PROBE
    service.failing["state"] = refused(PlanRequiredError)
    with pytest.raises(ToolError):
        await sender(service).check_plan()


@pytest.mark.parametrize(
    ("error", "fix", "status"),
    [
        (refused(PlanRequiredError), PLAN_FIX, 403),
        (refused(PlanRequiredError, "pay"), "pay", 403),
        (InvalidError(RefusalReason(error="bad", fix="mend"), CALLED), "mend", 422),
        (AWAY, "try again when it is there", 0),
    ],
)
def test_an_error_of_the_service_is_one_of_the_tool(
    error: ServiceError, fix: str, status: int
) -> None:
    found = failure(error)
    said = f"the service did not answer: {error}" if error is AWAY else str(error)
    assert (str(found), found.status) == (f"{said}; {fix}", status)


# -- what a result states ------------------------------------------------------------------


def sums(pnl: float, trades: int, **venues: VenueOutcomesBody) -> OutcomesBody:
    return filled(OutcomesBody, 1, pnl=pnl, trades=trades, by_venue=venues)


@pytest.mark.parametrize(
    ("outcomes", "warns"),
    [
        (sums(2.5, 9), None),
        (sums(2.51, 9), "2.51 over 9 trades"),
        (sums(0.5, 9), None),
        (sums(0.49, 9), "0.49 over 9 trades"),
        # Of several monies the nearest one that was traded counts.
        (sums(1.5, 9, sim=sums(7, 4), evm=sums(2, 3)), None),
        (sums(1.5, 9, sim=sums(7, 4), evm=sums(5, 3)), "5.00 over 3 trades"),
        (sums(9, 9, sim=sums(7, 4), evm=sums(1.5, 0)), "7.00 over 4 trades"),
        (sums(9, 9, sim=sums(-4, 2), evm=sums(2, 70)), None),
    ],
)
async def test_a_stated_pnl_that_differs_from_the_outcomes_is_warned_of(
    outcomes: Any, warns: str | None
) -> None:
    service = Service(answers={"outcomes": outcomes})
    found = await sender(service).verified(logged(1))
    assert service.calls[0][1].skill == "tides"
    text = f"net pnl 1.50 differs from the outcomes of tides, {warns}"
    assert found == ([] if warns is None else [text])


@pytest.mark.parametrize(
    "changes",
    [
        {"status": ExperimentStatus.DISCARD},
        {"metric": None},
        {"config": replace(logged(1).config, metric_name="sharpe")},
    ],
)
async def test_only_the_pnl_of_what_is_kept_is_checked(changes: dict[str, Any]) -> None:
    service = Service(answers={"outcomes": sums(99, 9)})
    assert await sender(service).verified(logged(1, **changes)) == []
    assert service.calls == []


async def test_a_stated_pnl_that_cannot_be_checked_is_said_to_be_so() -> None:
    service = Service(failing={"outcomes": AWAY})
    config = replace(logged(1).config, metric_name="Total PNL")
    (text,) = await sender(service).verified(logged(1, config=config))
    assert text == f"the P&L could not be checked against the outcomes: {AWAY}"
