"""The steps of a session without git, without a service, without commands."""

import json
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Final

import pytest

from service_tui.autoresearch import session as session_module
from service_tui.autoresearch.errors import BusyError, ToolError
from service_tui.autoresearch.runner import Ran
from service_tui.autoresearch.session import (
    Means,
    Session,
    after,
    check_same,
    description_of,
    message_of,
    shortened,
)
from service_tui.autoresearch.unfinished import Begun, Unanswered
from service_tui.autoresearch.worktree import Repository
from service_tui.experiments import SeriesState
from service_tui.notes import notebook, registry
from service_tui.notes.notebook import Config, Logged
from service_tui.notes.registry import Live
from service_tui.terms import Direction, ExperimentStatus, SessionState
from service_tui.wire.research_tools import InitArguments, LogArguments, RunArguments

NOW: Final = 1_800_000_000.5
CONFIG: Final = Config("spring", "tides", "pnl", "$", Direction.LOWER, 3, 77, 8)
HASHES: Final = {"head": "aaaaaaaaaaaa", "prepared": "bbbbbbbbbbbb"}


class Tree:
    """Worktrees that note what is asked of them."""

    def __init__(self) -> None:
        self.calls: list[Any] = []
        self.backup = ""
        self.is_at: str = HASHES["head"]
        self.next_ones: set[str] = set()
        self.skill = ""
        self.root = Path()

    def __call__(self, repository: Repository, skill: str) -> "Tree":
        self.skill, self.root = skill, repository.root
        return self

    @property
    def folder(self) -> Path:
        return self.root / "tree" / self.skill

    @property
    def branch(self) -> str:
        return f"branch of {self.skill}"

    async def open(self) -> None:
        self.calls.append(f"open {self.skill}")

    async def head(self) -> str:
        return self.is_at

    async def is_next(self, commit: str) -> bool:
        return commit in self.next_ones

    async def prepare(self, message: str) -> str:
        self.calls.append(("prepare", message))
        return HASHES["prepared"]

    async def advance(self, commit: str) -> None:
        self.calls.append(("advance", commit))

    async def revert(self, name: str) -> str:
        self.calls.append(("revert", name))
        return self.backup


class Sender:
    """A service that takes every result."""

    def __init__(self) -> None:
        self.sent: list[Logged] = []
        self.state: Any = None
        self.unsent = ""
        self.agent_id = "ada"
        self.synced = 0
        self.warnings: list[str] = []
        self.is_best: bool | None = True
        self.plan: Exception | None = None

    def __call__(self, *_: object) -> "Sender":
        return self

    async def state_of(self, skill: str) -> Any:
        self.asked = skill
        return self.state

    async def check_plan(self) -> None:
        if self.plan is not None:
            raise self.plan

    async def sync(self) -> None:
        self.synced += 1

    async def send(self, result: Logged) -> bool | None:
        self.sent.append(result)
        return self.is_best

    async def verified(self, _: Logged) -> list[str]:
        return self.warnings


class Desk:
    """A session with everything around it."""

    def __init__(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.tree, self.sender = Tree(), Sender()
        self.shown: list[Any] = []
        self.idle: list[Path] = []
        self.at = NOW
        self.repository = Repository(tmp_path, tmp_path / "git")
        self.repository.store.mkdir()
        self.data = tmp_path / "data"

        async def idle(repository: Repository) -> None:
            self.idle.append(repository.root)

        monkeypatch.setattr(session_module, "Worktree", self.tree)
        monkeypatch.setattr(session_module, "ResultSender", self.sender)
        monkeypatch.setattr(session_module, "check_idle", idle)
        monkeypatch.setattr(registry, "write", lambda _, entry: self.shown.append(entry))
        monkeypatch.setattr(notebook.os, "fsync", lambda _: None)

    def session(self, **changes: Any) -> Session:
        given: dict[str, Any] = {
            "repository": self.repository, "remote": None,
            "clock": SimpleNamespace(now=lambda: self.at, monotonic=lambda: self.at),
            "data_dir": self.data, "environment": {"PATH": "/bin"}, "cap": 8, "mark": "m1",
        }  # fmt: skip
        made = Session(Means(**{**given, **changes}))
        made._store.mkdir(exist_ok=True)
        return made

    def write(self, *lines: dict[str, object]) -> None:
        for line in lines:
            notebook.append(self.repository.file, line)

    def lines(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.repository.file.read_text().splitlines()]


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Desk:
    return Desk(tmp_path, monkeypatch)


def init(**changes: Any) -> InitArguments:
    given: dict[str, Any] = {
        "name": "spring", "skill_slug": "tides", "metric_name": "pnl", "metric_unit": "$",
        "direction": "lower",
    }  # fmt: skip
    return InitArguments.model_validate_json(json.dumps({**given, **changes}))


def log(status: str = "keep", metric: float = 2.5, **changes: Any) -> LogArguments:
    given = {"status": status, "metric": metric, "description": "a try"}
    return LogArguments.model_validate_json(json.dumps({**given, **changes}))


def logged(run: int = 4, status: str = "keep", **changes: Any) -> Logged:
    one = Logged(
        run, "c0ffee" * 5, 1.5, {"sharpe": 0.7}, ExperimentStatus(status), "more", 99, 3, CONFIG
    )
    return replace(one, **changes)


# -- words -------------------------------------------------------------------------------------


def series(**changes: Any) -> SeriesState:
    given: dict[str, Any] = {
        "state": SessionState.RUNNING, "why": "", "count": 7, "crashes_in_row": 1, "kept": 2,
        "discarded": 3, "crashed": 4, "baseline": 1.5, "best": 0.5, "best_index": 6,
        "near_cap": False, "confidence": 2.25,
    }  # fmt: skip
    return SeriesState(**{**given, **changes})


def test_a_description_has_every_figure_of_the_series() -> None:
    assert description_of(CONFIG, series(), 8, ["careful"]) == {
        "skill": "tides", "session": "spring", "state": "running", "why": None,
        "experiments": 7, "max_experiments": 8, "kept": 2, "discarded": 3, "crashed": 4,
        "crashes_in_row": 1, "metric": "pnl", "direction": "lower", "baseline": 1.5, "best": 0.5,
        "confidence": 2.25, "warnings": ["careful"],
    }  # fmt: skip


def test_a_series_that_is_nearly_full_is_warned_of_while_it_runs() -> None:
    near = description_of(CONFIG, series(near_cap=True), 8, [])
    assert near["warnings"] == ["7 of 8 experiments are done: a command runs up to 8"]
    paused = series(near_cap=True, state=SessionState.PAUSED, why="three crashes")
    said = description_of(CONFIG, paused, 8, [])
    assert (said["warnings"], said["state"], said["why"]) == ([], "paused", "three crashes")


@pytest.mark.parametrize("changed", [{"metric_name": "sharpe"}, {"direction": "higher"}])
def test_a_session_goes_on_only_with_its_own_metric(changed: dict[str, str]) -> None:
    check_same(CONFIG, init(metric_unit="EUR"))
    with pytest.raises(ToolError, match="measures pnl, lower is better"):
        check_same(CONFIG, init(**changed))


def test_the_message_of_a_commit_is_the_description_and_the_result() -> None:
    assert message_of(logged()) == (
        'more\n\nExperiment: 4\nResult: {"status": "keep", "pnl": 1.5, "sharpe": 0.7}\n'
    )


@pytest.mark.parametrize(
    ("command", "text"),
    [
        ("make  \n all", "make all"),
        ("x" * 60, "x" * 60),
        ("x" * 61, "x" * 60 + "..."),
    ],
)
def test_a_long_command_is_shortened(command: str, text: str) -> None:
    assert shortened(command) == text


def ran(**changes: Any) -> Ran:
    given: dict[str, Any] = {
        "exit_code": 0,
        "timed_out": False,
        "took_s": 1.23456,
        "tail": "done",
        "size": 4,
        "left_over": 0,
    }
    return Ran(**{**given, **changes})


def test_after_a_command_its_end_says_what_to_log() -> None:
    assert after(ran(), 9) == "log it as keep or discard"
    assert after(ran(exit_code=1), 9).startswith("it failed")
    assert after(ran(timed_out=True, exit_code=None), 9.5).startswith("it took longer than 9.5 s")


# -- beginning -----------------------------------------------------------------------------------


async def test_a_new_session_is_written_and_described(desk: Desk) -> None:
    session = desk.session()
    said = await session.init(init())
    config = Config("spring", "tides", "pnl", "$", Direction.LOWER, 0, int(NOW * 1_000), 8)
    assert desk.lines() == [config.line()]
    assert session.notes.configs == [config]
    folder = desk.repository.root / "tree" / "tides"
    own = {
        "session": "spring", "resumed": False, "worktree": str(folder),
        "branch": "branch of tides", "next_experiment": 1,
        "say": f"edit the skill in {folder}: experiments run there",
    }  # fmt: skip
    assert {name: said[name] for name in own} == own
    assert said["state"] == "running"
    assert desk.idle == [desk.repository.root]
    assert desk.tree.calls == ["open tides"]
    assert (desk.sender.asked, desk.sender.synced) == ("tides", 1)
    assert (desk.shown[-1].skill, desk.shown[-1].agent_id) == ("tides", "ada")


async def test_a_session_of_that_name_goes_on_and_is_written_only_where_another_was_current(
    desk: Desk,
) -> None:
    other = replace(CONFIG, name="autumn", skill="winds", segment=0)
    desk.write(CONFIG.line(), logged().line(), other.line())
    session = desk.session()
    said = await session.init(init())
    assert (said["resumed"], said["next_experiment"], said["experiments"]) == (True, 5, 1)
    assert desk.lines()[3:] == [CONFIG.line()]
    again = await session.init(init())
    assert again["resumed"] is True
    assert len(desk.lines()) == 4
    with pytest.raises(ToolError, match="measures pnl"):
        await session.init(init(metric_name="sharpe"))


async def test_a_session_of_another_name_counts_in_a_series_of_its_own(desk: Desk) -> None:
    desk.write(CONFIG.line(), logged().line())
    session = desk.session()
    said = await session.init(init(name="autumn", metric_name="sharpe"))
    assert (said["resumed"], said["experiments"], said["next_experiment"]) == (False, 0, 5)
    assert session.notes.configs[-1].segment == 4


async def test_a_session_that_was_turned_off_begins_anew(desk: Desk) -> None:
    desk.write(CONFIG.line(), {"type": "off", "skillSlug": "tides", "timestamp": 1})
    session = desk.session()
    assert session.description() == {"session": None}
    with pytest.raises(ToolError, match="no session"):
        await session.log(log())
    said = await session.init(init())
    assert said["resumed"] is False
    assert session.notes.configs[-1].segment == 4


@pytest.mark.parametrize(
    ("name", "before", "segment"),
    [("spring", [], 5), ("other", [], 6), ("autumn", [CONFIG], 6)],
)
async def test_a_service_that_has_come_further_counts(
    desk: Desk, name: str, before: list[Config], segment: int
) -> None:
    desk.write(*(one.line() for one in before))
    desk.sender.state = SimpleNamespace(
        last_experiment_number=9, session="spring", current_segment=5
    )
    session = desk.session()
    said = await session.init(init(name=name))
    assert said["next_experiment"] == 10
    assert session.notes.configs[-1].segment == segment


async def test_a_fresh_baseline_has_a_new_name_and_the_metric_of_before(desk: Desk) -> None:
    desk.write(CONFIG.line())
    session = desk.session()
    said = await session.reset("")
    assert said["session"] == f"spring @{int(NOW * 1_000)}"
    assert session.notes.configs[-1].metric_name == "pnl"


# -- results -----------------------------------------------------------------------------------


async def test_a_result_that_is_kept_is_committed_sent_and_answered(desk: Desk) -> None:
    desk.write(CONFIG.line(), logged().line())
    session = desk.session()
    desk.sender.warnings = ["differs"]
    said = await session.log(log(metric=1.0, secondary_metrics={"sharpe": 0.9}, asi={"a": 1}))
    result = Logged(
        5, HASHES["prepared"], 1.0, {"sharpe": 0.9}, ExperimentStatus.KEEP, "a try",
        int(NOW * 1_000), 3, CONFIG, None, {"a": 1},
    )  # fmt: skip
    assert desk.lines()[2:] == [result.line()]
    assert desk.tree.calls == [
        "open tides", ("prepare", message_of(replace(result, commit=""))),
        ("advance", HASHES["prepared"]),
    ]  # fmt: skip
    assert desk.sender.sent == [result] == session.notes.results[1:]
    own = {
        "experiment": 5, "status": "keep", "commit": "bbbbbbb", "backup": None,
        "is_new_best": True, "warnings": ["differs"], "best": 1.0, "experiments": 2,
    }  # fmt: skip
    assert {name: said[name] for name in own} == own
    assert Begun(session._store).result("tides") is None


@pytest.mark.parametrize("status", ["discard", "crash"])
async def test_a_result_that_is_not_kept_is_reverted(desk: Desk, status: str) -> None:
    desk.write(CONFIG.line(), logged(metrics={}).line())
    desk.tree.backup, desk.sender.is_best = "refs/backup/5", False
    said = await desk.session().log(log(status))
    assert desk.tree.calls == ["open tides", ("revert", "5")]
    assert (said["commit"], said["backup"], said["is_new_best"]) == (None, "refs/backup/5", False)
    assert desk.lines()[-1]["commit"] == HASHES["head"][:7]
    assert desk.sender.sent[0].commit == HASHES["head"]


@pytest.mark.parametrize(
    ("status", "metric", "kept"),
    [("crash", 0.0, None), ("crash", 2.0, 2.0), ("discard", 0.0, 0.0), ("keep", 0.0, 0.0)],
)
async def test_a_crash_without_a_figure_has_none(
    desk: Desk, status: str, metric: float, kept: float | None
) -> None:
    desk.write(CONFIG.line())
    await desk.session().log(log(status, metric))
    assert desk.lines()[-1]["metric"] == kept


async def test_figures_of_before_are_wanted_again_and_new_ones_are_not(desk: Desk) -> None:
    crash = logged(5, "crash", metrics={})
    desk.write(CONFIG.line(), crash.line(), logged(6).line())
    session = desk.session()
    with pytest.raises(ToolError, match="missing: sharpe"):
        await session.log(log())
    with pytest.raises(ToolError, match="new: depth"):
        await session.log(log(metrics={"sharpe": 1.0, "depth": 2.0}))
    assert len(desk.lines()) == 3
    await session.log(log("crash"))
    await session.log(log(metrics={"depth": 2.0}, force=True))
    await session.log(log(metrics={"sharpe": 2.0}))
    assert [line["run"] for line in desk.lines()[3:]] == [7, 8, 9]


async def test_a_result_is_noted_before_its_line_and_until_its_answer(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk.write(CONFIG.line())
    session = desk.session()
    begun, seen = Begun(session._store), list[Any]()
    written = notebook.append

    def append(path: Path, line: Any) -> None:
        seen.append(begun.result("tides"))
        written(path, line)

    monkeypatch.setattr(notebook, "append", append)
    send = desk.sender.send

    async def noted(result: Logged) -> bool | None:
        seen.append(begun.result("tides"))
        return await send(result)

    monkeypatch.setattr(desk.sender, "send", noted)
    await session.log(log())
    ref = session.notes.results[0].ref
    assert seen == [
        Unanswered(ref, HASHES["prepared"], is_done=False),
        Unanswered(ref, HASHES["prepared"], is_done=True),
    ]


async def test_a_file_that_cannot_be_written_keeps_nothing(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk.write(CONFIG.line())
    session = desk.session()

    def append(*_: object) -> None:
        raise OSError(28, "no room")

    monkeypatch.setattr(notebook, "append", append)
    with pytest.raises(ToolError, match="nothing was kept"):
        await session.log(log())
    assert session.notes.results == []
    assert desk.sender.sent == []
    assert ("advance", HASHES["prepared"]) not in desk.tree.calls


# -- commands ------------------------------------------------------------------------------------


@pytest.fixture
def runs(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    made: list[Any] = []

    async def run(command: str, folder: Path, **named: Any) -> Ran:
        made.append((command, folder, named["deadline_s"], named["environment"]))
        named["output"].take(b"a line\n")
        return ran(exit_code=3)

    def environment_of(environment: Any, *, mark: str, api: Any) -> dict[str, str]:
        return {**environment, "mark": mark, **api}

    monkeypatch.setattr(session_module, "run", run)
    monkeypatch.setattr(session_module, "environment_of", environment_of)
    return made


async def test_a_command_runs_in_the_worktree_and_is_shown(desk: Desk, runs: list[Any]) -> None:
    desk.write(CONFIG.line())
    session = desk.session(allows_shell=True, api=lambda: {"KEY": "k"})
    said = await session.run(RunArguments(command="make", timeout=9))
    folder = desk.repository.root / "tree" / "tides"
    assert runs == [("make", folder, 9, {"PATH": "/bin", "mark": "m1", "KEY": "k"})]
    own = {
        "exit_code": 3, "succeeded": False, "timed_out": False, "duration_seconds": 1.235,
        "output": "done", "output_bytes": 4, "say": after(ran(exit_code=3), 9),
    }  # fmt: skip
    assert {name: said[name] for name in own} == own
    assert desk.shown[0].live == Live("make", NOW, 9)
    assert desk.shown[-1].live == Live("make", NOW, 9, "a line", NOW, 3)
    assert Begun(session._store).run() is None


@pytest.mark.parametrize("results", [0, 8])
async def test_no_command_runs_without_leave_or_in_a_full_series(
    desk: Desk, runs: list[Any], results: int
) -> None:
    desk.write(CONFIG.line(), *(logged(n).line() for n in range(results)))
    with pytest.raises(ToolError, match="capped" if results else "not allowed"):
        await desk.session(allows_shell=bool(results)).run(RunArguments(command="make"))
    desk.sender.plan = ToolError("no plan")
    if not results:
        with pytest.raises(ToolError, match="no plan"):
            await desk.session(allows_shell=True).run(RunArguments(command="make"))
    assert runs == []


# -- what a person or an earlier server left ------------------------------------------------------


async def test_lines_that_a_person_added_count_at_once(desk: Desk) -> None:
    desk.write(CONFIG.line())
    session = desk.session()
    desk.write(replace(CONFIG, name="autumn", segment=4).line())
    said = await session.log(log())
    assert said["session"] == "autumn"
    desk.write({"type": "off", "skillSlug": "tides", "timestamp": 1})
    with pytest.raises(ToolError, match="was turned off for tides"):
        await session.log(log())
    with pytest.raises(ToolError, match="no session"):
        await session.log(log())


async def opened(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> Session:
    ended: list[str] = []
    monkeypatch.setattr(session_module, "end_marked", lambda mark: ended.append(mark) or 2)
    session = desk.session()
    await session.open()
    session.ended = ended  # pyright: ignore[reportAttributeAccessIssue]
    return session


async def test_a_command_of_a_server_that_was_killed_is_ended_and_told(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk.write(CONFIG.line())
    Begun(desk.session()._store).note_run("m0", "make all")
    session: Any = await opened(desk, monkeypatch)
    assert session.ended == ["m0"]
    (warning,) = session.description()["warnings"]
    assert warning.startswith("the server ended while 'make all' ran")
    assert Begun(session._store).run() is None
    assert desk.sender.synced == 1
    session.close()
    assert desk.shown[-1].pid == 0


RECOVERIES: Final[dict[str, tuple[str, str, bool, list[Any]]]] = {
    # status, where the branch is, whether it was carried out already, what is done
    "committed": ("keep", "c0ffee" * 5, False, ["open tides", ("advance", "c0ffee" * 5)]),
    "not yet": ("keep", "its parent", False, ["open tides", ("advance", "c0ffee" * 5)]),
    "elsewhere": ("keep", "another", False, ["open tides"]),
    "discarded": ("discard", "another", False, ["open tides", ("revert", "4")]),
    "done": ("keep", "another", True, []),
}


@pytest.mark.parametrize("case", RECOVERIES)
async def test_a_result_whose_line_is_on_disk_is_finished(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, case: str
) -> None:
    status, place, is_done, calls = RECOVERIES[case]
    one = logged(status=status)
    desk.write(CONFIG.line(), one.line())
    Begun(desk.session()._store).note(one, is_done=is_done)
    desk.tree.is_at = place
    desk.tree.next_ones = {"c0ffee" * 5} if place == "its parent" else set()
    session = await opened(desk, monkeypatch)
    assert desk.tree.calls == calls
    assert session.description()["warnings"] == [
        f"experiment 4 ({status}: more) was kept before the server ended: do not log it again"
    ]
    assert Begun(session._store).result("tides") is None
    session.close()


async def test_a_result_whose_line_is_not_on_disk_is_forgotten(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk.write(CONFIG.line(), logged(3).line())
    Begun(desk.session()._store).note(logged(4))
    session = await opened(desk, monkeypatch)
    assert desk.tree.calls == []
    assert session.description()["warnings"] == []
    assert Begun(session._store).result("tides") is None
    session.close()


async def test_one_server_at_a_time_works_in_a_repository(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = await opened(desk, monkeypatch)
    with pytest.raises(BusyError):
        await desk.session().open()
    first.close()
    second = await opened(desk, monkeypatch)
    second.close()


async def test_lines_that_cannot_be_read_and_results_that_wait_are_warned_of(desk: Desk) -> None:
    desk.write(CONFIG.line(), {"type": "odd"})
    session = desk.session()
    desk.sender.unsent = "2 results wait"
    session._notice = "look"
    assert session.description()["warnings"] == [
        "look", "2 results wait", f"1 lines of {desk.repository.file} cannot be read"
    ]  # fmt: skip


@pytest.mark.parametrize(("count", "warning"), [(5, ""), (6, "6 of 8 experiments are done")])
async def test_observers_see_that_a_series_is_nearly_full(
    desk: Desk, count: int, warning: str
) -> None:
    desk.write(CONFIG.line(), *(logged(n, metrics={}).line() for n in range(count - 1)))
    await desk.session().log(log())
    assert desk.shown[-1].warning == warning
