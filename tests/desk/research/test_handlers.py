"""What experiments and backtests ask of the service, of this program and of git."""

import sys
from dataclasses import replace
from pathlib import Path

import pytest

from kit.desk.offline import Offline
from kit.samples.desk import sample_state
from kit.samples.research import session_of
from kit.terminal.research import git, new_repository
from service_tui.client.errors import Called
from service_tui.desk.changes import Changed, Removed
from service_tui.desk.commands.research import (
    EndSession,
    ResetSession,
    ShowDiff,
    StartSession,
)
from service_tui.desk.research.handlers import (
    show_diff,
    start_session,
    turn_session,
)
from service_tui.desk.slices.research import (
    DiffView,
    HoldoutView,
    ResearchSeen,
    Source,
)
from service_tui.desk.slices.topics import Topic
from service_tui.terms import Direction
from service_tui.units import Timestamp

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


async def test_whoever_ends_a_session_that_will_be_judged_is_told_so() -> None:
    holdout = HoldoutView("markets", Timestamp(1.0), Timestamp(2.0))
    programs, on = Programs(), desk(skill="gauge", repository="/its/repo", holdout=holdout)
    await turn_session(EndSession("gauge"), on.ports, programs.run)
    text = "judging gauge on the time held back; the figures come on this screen"
    assert on.words == [("info", text), ("good", EndSession("gauge").describe())]


# -- diffs --------------------------------------------------------------------------------------


@pytest.mark.process
async def test_a_diff_is_that_of_its_commit(tmp_path: Path) -> None:
    folder = new_repository(tmp_path / "skill")
    on = desk(repository=str(folder))
    key, commit = on.state.research.sessions[0].key, git(folder, "rev-parse", "--short", "HEAD")
    await show_diff(ShowDiff(key, commit), on.ports)
    (fact,) = on.facts
    assert isinstance(fact, Changed)
    assert isinstance(fact.row, DiffView)
    assert (fact.row.key, fact.row.commit, fact.row.problem) == (key, commit, "")
    assert "the skill" in fact.row.text
    assert "+MIN_EDGE = 0.05" in fact.row.text


@pytest.mark.process
async def test_a_diff_that_cannot_be_read_says_why(tmp_path: Path) -> None:
    folder = new_repository(tmp_path / "skill")
    on = desk(repository=str(folder))
    key = on.state.research.sessions[0].key
    for commit in ("abc1", f"--output={tmp_path / 'written'}", "HEAD"):
        await show_diff(ShowDiff(key, commit), on.ports)
    await show_diff(ShowDiff("nobody", "abc3"), on.ports)
    await show_diff(ShowDiff(key, ""), on.ports)
    no_hash = "the name of its commit is no hash"
    assert on.facts == [
        Changed(DiffView(key, "abc1", problem="fatal: bad revision 'abc1'")),
        Changed(DiffView(key, f"--output={tmp_path / 'written'}", problem=no_hash)),
        Changed(DiffView(key, "HEAD", problem=no_hash)),
        Changed(DiffView("nobody", "abc3", problem="repository not on this machine")),
        Removed(DiffView),
    ]
    assert not (tmp_path / "written").exists()
