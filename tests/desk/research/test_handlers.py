"""What experiments and backtests ask of the service, of this program and of git."""

import sys
from dataclasses import replace
from pathlib import Path

import pytest

from kit.desk.offline import Asked, Offline
from kit.samples.desk import sample_state
from kit.samples.research import session_of
from service_tui.client.errors import Called, PlanRequiredError, RefusalReason, UnreachableError
from service_tui.desk.changes import Changed, Removed
from service_tui.desk.commands.research import (
    EndSession,
    ResetSession,
    RunBacktest,
    ShowDiff,
    StartSession,
)
from service_tui.desk.research.handlers import (
    PLAN_TEXT,
    run_backtest,
    show_diff,
    start_session,
    turn_session,
)
from service_tui.desk.slices.research import (
    BacktestRequested,
    BacktestSeen,
    DiffView,
    ResearchSeen,
    Source,
)
from service_tui.desk.slices.topics import Topic
from service_tui.terms import Direction, Venue
from service_tui.wire.endpoints.research import BACKTEST
from service_tui.wire.research import BacktestRequest

CALLED = Called("POST", "/x")


class Programs:
    """Programs that are run: what each was asked, and what it answers."""

    def __init__(self, code: int = 0, output: str = "") -> None:
        self.ran: list[tuple[str, ...]] = []
        self.environments: list[dict[str, str]] = []
        self.answer = code, output

    async def run(self, command: tuple[str, ...], environment: dict[str, str]) -> tuple[int, str]:
        self.ran.append(command)
        self.environments.append(environment)
        return self.answer


def desk(**session: str) -> Offline:
    on = Offline(sample_state(8))
    known = replace(session_of(), **session) if session else session_of()
    on.ports.emit(ResearchSeen(Source((known,)), needs_plan=False))
    on.facts.clear()
    return on


# -- sessions -----------------------------------------------------------------------------------

START = StartSession("first", "gauge", "score", "pt", Direction.LOWER, "/repo")


async def test_a_session_is_started_by_this_program_on_its_own_data(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("SERVICE_API_KEY", "sk_test_0123456789")
    monkeypatch.setenv("SERVICE_API_URL", "http://elsewhere")
    monkeypatch.setenv("CLOUD_TOKEN", "secret")
    monkeypatch.setenv("SERVICE_TUI_DATABASE", "postgresql://desk:secret@db/world")
    monkeypatch.setenv("HOME", "/home/ann")
    programs, on = Programs(), desk()
    on.ports = replace(on.ports, notes=Path("/data"))
    await start_session(START, on.ports, programs.run)
    assert programs.ran == [(
        *(sys.executable, "-m", "service_tui", "autoresearch", "gauge", "--repo", "/repo"),
        *("--name", "first", "--metric", "score", "--unit", "pt", "--direction", "lower"),
        *("--data-dir", "/data"),
    )]  # fmt: skip
    (environment,) = programs.environments
    assert not {"SERVICE_API_KEY", "SERVICE_API_URL", "CLOUD_TOKEN"} & set(environment)
    # It is this program: where its world lies is its own to know.
    assert environment["SERVICE_TUI_DATABASE"] == "postgresql://desk:secret@db/world"
    assert environment["HOME"] == "/home/ann"
    assert on.words == [("good", "start the session first on gauge")]
    assert on.woken == [Topic.RESEARCH]


async def test_a_session_that_does_not_start_says_why_in_one_line() -> None:
    on = desk()
    programs = Programs(1, "service-tui: no repository\nmore")
    await start_session(START, on.ports, programs.run)
    programs = Programs(2, "")
    await start_session(START, on.ports, programs.run)
    assert on.words == [
        ("bad", "start the session first on gauge: no repository"),
        ("bad", "start the session first on gauge: "),
    ]
    assert on.woken == [Topic.RESEARCH] * 2


@pytest.mark.parametrize(("order", "word"), [(EndSession, "off"), (ResetSession, "reset")])
async def test_a_session_is_turned_off_or_reset_where_its_repository_is(
    order: type[EndSession | ResetSession], word: str
) -> None:
    programs, on = Programs(), desk(skill="gauge", repository="/its/repo")
    await turn_session(order("gauge"), on.ports, programs.run)
    program = (sys.executable, "-m", "service_tui", "autoresearch")
    assert programs.ran == [(*program, word, "gauge", "--repo", "/its/repo")]
    assert on.words == [("good", order("gauge").describe())]
    await turn_session(order("tide"), on.ports, programs.run)
    away = ("warn", f"{order('tide').describe()}: repository not on this machine")
    assert on.words[1:] == [away]
    assert (len(programs.ran), on.woken) == (1, [Topic.RESEARCH])


# -- diffs --------------------------------------------------------------------------------------


async def test_the_git_of_a_diff_gets_the_persons_configuration_and_no_secret(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    secrets = ("SERVICE_API_KEY", "SERVICE_TUI_DATABASE", "CLOUD_TOKEN", "GIT_SSH_COMMAND")
    kept = {
        "HOME": "/home/ann", "GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "safe.directory",
        "GIT_CONFIG_VALUE_0": "/its/repo",
    }  # fmt: skip
    for name, value in {**kept, **dict.fromkeys(secrets, "secret")}.items():
        monkeypatch.setenv(name, value)
    programs, on = Programs(0, "+ one\n"), desk(repository="/its/repo")
    key = on.state.research.sessions[0].key
    await show_diff(ShowDiff(key, "abc1"), on.ports, programs.run)
    (environment,) = programs.environments
    assert environment.items() >= kept.items()
    assert "secret" not in environment.values()


async def test_a_diff_is_that_of_its_commit_and_runs_nothing_of_the_repository() -> None:
    programs, on = Programs(0, "+ one\n"), desk(repository="/its/repo")
    key = on.state.research.sessions[0].key
    await show_diff(ShowDiff(key, "abc1"), on.ports, programs.run)
    assert programs.ran == [(
        *("git", "-c", "core.hooksPath=/dev/null", "-C", "/its/repo", "show", "--no-color"),
        *("--no-ext-diff", "--no-textconv", "--stat", "--patch", "abc1", "--"),
    )]  # fmt: skip
    (fact,) = on.facts
    assert isinstance(fact, Changed)
    assert isinstance(fact.row, DiffView)
    assert (fact.row.key, fact.row.commit, fact.row.problem) == (key, "abc1", "")
    assert fact.row.text.strip() == "+ one"


async def test_a_diff_that_cannot_be_read_says_why() -> None:
    on = desk(repository="/its/repo")
    key = on.state.research.sessions[0].key
    programs = Programs(128, "fatal: bad object\nmore")
    await show_diff(ShowDiff(key, "abc1"), on.ports, programs.run)
    programs = Programs(128, "")
    await show_diff(ShowDiff(key, "abc2"), on.ports, programs.run)
    await show_diff(ShowDiff("nobody", "abc3"), on.ports, programs.run)
    await show_diff(ShowDiff(key, ""), on.ports, programs.run)
    assert on.facts == [
        Changed(DiffView(key, "abc1", problem="fatal: bad object")),
        Changed(DiffView(key, "abc2", problem="no git output")),
        Changed(DiffView("nobody", "abc3", problem="repository not on this machine")),
        Removed(DiffView),
    ]


# -- backtests ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("venue", "asked"), [(Venue.SIM, Venue.SIM), (Venue.EVM, Venue.EVM), (Venue.SOL, Venue.SIM)]
)
async def test_a_backtest_asks_for_its_skill_its_days_and_its_thresholds(
    venue: Venue, asked: Venue
) -> None:
    on = desk()
    on.answers[BACKTEST] = UnreachableError("no connection", CALLED)
    order = RunBacktest(4, "gauge", (("edge", 0.1),), 3, venue, (("edge", (0.1, 0.2)),))
    await run_backtest(order, on.ports)
    body = BacktestRequest(
        skill_slug="gauge", config={"edge": 0.1}, days=3, venue=asked, sweep={"edge": (0.1, 0.2)}
    )
    assert on.asked == [Asked(BACKTEST, body=body)]
    problem = "no connection (POST /x)"
    assert on.facts == [BacktestRequested(4), BacktestSeen(4, None, problem)]


@pytest.mark.parametrize(
    ("fix", "problem"), [("upgrade", f"{PLAN_TEXT}; upgrade"), ("", PLAN_TEXT)]
)
async def test_a_backtest_without_its_plan_names_the_plan(fix: str, problem: str) -> None:
    on = desk()
    on.answers[BACKTEST] = PlanRequiredError(RefusalReason("no", fix), CALLED, status=403)
    await run_backtest(RunBacktest(4, "gauge"), on.ports)
    assert on.facts[-1] == BacktestSeen(4, None, problem)
    assert on.asked[0].body.sweep is None  # type: ignore[union-attr]


async def test_thresholds_that_are_none_are_not_sent() -> None:
    on = desk()
    await run_backtest(RunBacktest(4, "gauge", days=99), on.ports)
    assert on.asked == []
    problem = "invalid thresholds: enter signal names and figures"
    assert on.facts[-1] == BacktestSeen(4, None, problem)
