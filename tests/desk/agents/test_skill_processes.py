"""Real processes of skills: how they run, how they misbehave, and that nothing is left of them."""

import asyncio
import json
import os
import signal
from collections.abc import AsyncGenerator, Callable, Iterable
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import TypeVar

import pytest

from kit.samples.fleet import fleet_state, run_of
from service_tui.clock import ManualClock
from service_tui.desk.agents.health import Health, health_of, last_action
from service_tui.desk.agents.skill_runs import RESTARTS_MAX, RUN_MAX_S, SkillRuns, known_runs
from service_tui.desk.changes import Changed, changed
from service_tui.desk.facts import Fact
from service_tui.desk.gate import Gate
from service_tui.desk.slices.supervision import (
    LogTailView,
    Pace,
    SkillRunState,
    SkillRunView,
    SupervisionView,
    reduce_fleet,
)
from service_tui.skills.guard import descendants
from service_tui.skills.package import BUNDLED
from service_tui.skills.process import LOG, LOG_MAX, Launch, tagged, tail
from service_tui.units import Timestamp

pytestmark = pytest.mark.process


BAD = BUNDLED / "misbehaving" / "run.py"
RUN, OTHER = f"r1-{os.getpid()}", f"r2-{os.getpid()}"
"""Of this process alone: whoever ends a run ends all of its name on the machine."""


Row = TypeVar("Row")


def rows_of(facts: Iterable[object], kind: type[Row]) -> list[Row]:
    """Each row of a kind that was told, oldest first."""
    return [row for fact in facts if (row := changed(fact, kind)) is not None]


@dataclass
class Hand:
    """A desk's runs without the desk; time is manual, the processes are real."""

    folder: Path
    clock: ManualClock = field(default_factory=ManualClock)
    gate: Gate = field(default_factory=Gate)
    facts: list[Fact] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.runs = SkillRuns(self.folder, self.clock, self.gate, self.facts.append)

    def begin(self, script: Path = BAD, how: str = "loop", pace: Pace = Pace.LOOP) -> None:
        view = SkillRunView(
            RUN, script.parent.name, "a1", "ada", pace, 30, live=True, state=SkillRunState.STARTING
        )
        own = {"SERVICE_MISBEHAVING_HOW": how}
        self.runs.begin(view, Launch(RUN, self.runs.folder_of(RUN), script, (), own))

    @property
    def view(self) -> SkillRunView:
        told = rows_of(self.facts, SkillRunView)
        return told[-1]

    @property
    def output(self) -> str:
        return "\n".join(tail(self.runs.folder_of(RUN)))

    async def until(self, is_so: Callable[[], object], *, step_s: float = 0.0) -> None:
        for _ in range(6_000):
            self.runs.look()
            if is_so():
                return
            if step_s:
                await self.clock.advance(step_s)
            await asyncio.sleep(0.02)
        raise AssertionError(f"never: {self.view}")


@asynccontextmanager
async def opened(folder: Path) -> AsyncGenerator[Hand]:
    hand = Hand(folder)
    try:
        yield hand
    finally:
        await hand.runs.close()
        # What was killed is gone as soon as the kernel has come to it.
        await hand.until(lambda: not tagged(RUN))


def script(where: Path, text: str) -> Path:
    where.mkdir(exist_ok=True)
    (where / "run.py").write_text(text)
    return where / "run.py"


async def test_a_run_that_ends_in_order_is_done_and_its_report_is_told(tmp_path: Path) -> None:
    said = 'import json; print(json.dumps({"automaton": {"signals": 3, "trades_executed": 1}}))'
    async with opened(tmp_path) as hand:
        hand.begin(script(tmp_path / "s", said), pace=Pace.ONCE)
        await hand.until(lambda: hand.view.state is SkillRunState.DONE)
        assert hand.view.report == "signals 3, trades executed 1"
        assert (hand.view.exit_code, hand.view.runs_count, hand.view.pid) == (0, 1, None)


@pytest.mark.parametrize("plant", ["os.symlink(r'{}', 'run.new')", "os.mkfifo('run.new')"])
async def test_no_state_is_written_through_what_a_skill_has_put_in_its_place(
    tmp_path: Path, plant: str
) -> None:
    other = tmp_path / "keys.json"
    other.write_text("keys")
    async with opened(tmp_path) as hand:
        hand.begin(script(tmp_path / "s", "import os\n" + plant.format(other)), pace=Pace.ONCE)
        await hand.until(lambda: hand.view.state is SkillRunState.DONE)
        assert other.read_text() == "keys"
        assert [run.state for run in known_runs(tmp_path)] == [SkillRunState.DONE]


@pytest.mark.slow
async def test_a_run_of_every_so_often_rests_and_comes_again(tmp_path: Path) -> None:
    async with opened(tmp_path) as hand:
        hand.begin(script(tmp_path / "s", "print('here')"), pace=Pace.EVERY)
        await hand.until(lambda: hand.view.state is SkillRunState.RESTING)
        assert hand.view.runs_count == 1
        await hand.clock.advance(29.0)
        hand.runs.look()
        assert hand.view.state is SkillRunState.RESTING
        await hand.until(lambda: hand.view.runs_count == 2, step_s=1.0)
        await hand.until(lambda: hand.view.state is SkillRunState.RESTING)


@pytest.mark.slow
async def test_a_crash_is_tried_again_with_longer_waits_and_then_no_more(tmp_path: Path) -> None:
    async with opened(tmp_path) as hand:
        hand.begin(how="crash")
        await hand.until(lambda: hand.view.state is SkillRunState.BACKING_OFF)
        assert hand.view.why == "exit code 3; retrying in 1 s"
        hand.runs.look()
        assert hand.view.state is SkillRunState.BACKING_OFF
        await hand.until(lambda: hand.view.state is SkillRunState.CRASHED, step_s=0.5)
        assert hand.view.runs_count == RESTARTS_MAX + 1
        assert hand.view.why == f"exit code 3, {RESTARTS_MAX + 1} times in a row"


async def test_an_endless_loop_is_ended_when_it_is_asked_to(tmp_path: Path) -> None:
    async with opened(tmp_path) as hand:
        hand.begin(how="loop")
        await hand.until(lambda: "looping" in hand.output)
        assert hand.runs.stop(RUN)
        await hand.until(lambda: hand.view.state is SkillRunState.STOPPED)
        assert hand.view.exit_code == 0


async def test_a_run_that_was_to_end_by_itself_is_ended_at_its_bound(tmp_path: Path) -> None:
    async with opened(tmp_path) as hand:
        hand.begin(how="loop", pace=Pace.ONCE)
        await hand.until(lambda: "looping" in hand.output)
        await hand.clock.advance(RUN_MAX_S + 1)
        await hand.until(lambda: hand.view.state is SkillRunState.STOPPED)
        assert hand.view.why == "ran longer than 300 s"


@pytest.mark.slow
async def test_who_does_not_listen_is_killed(tmp_path: Path) -> None:
    async with opened(tmp_path) as hand:
        hand.begin(how="deaf")
        await hand.until(lambda: "deaf" in hand.output)
        hand.runs.stop(RUN)
        hand.runs.look()
        assert hand.view.state is SkillRunState.STOPPING
        await hand.until(lambda: hand.view.state is SkillRunState.STOPPED, step_s=0.2)
        assert f"{hand.view.state.value} {hand.view.why}" == "stopped by hand"
        assert hand.view.exit_code == -signal.SIGKILL


async def test_a_flood_stays_within_its_bound(tmp_path: Path) -> None:
    async with opened(tmp_path) as hand:
        hand.begin(how="flood")
        log = hand.runs.folder_of(RUN) / LOG
        sizes: list[int] = []

        def grown() -> bool:
            sizes.append(log.stat().st_size if log.exists() else 0)
            return (
                hand.view.state is SkillRunState.BACKING_OFF or "was cut" in log.read_text()[:200]
            )

        await hand.until(grown)
        assert max(sizes) <= 16 * 1024 * 1024
        hand.runs.stop(RUN)
        await hand.until(lambda: not hand.view.state.is_alive, step_s=0.2)
        hand.runs.look()
        assert log.stat().st_size <= 16 * 1024 * 1024 + LOG_MAX


async def test_wrong_json_is_told_as_such_and_nothing_of_it_reaches_a_terminal(
    tmp_path: Path,
) -> None:
    async with opened(tmp_path) as hand:
        hand.begin(how="garbage", pace=Pace.ONCE)
        await hand.until(lambda: hand.view.state is SkillRunState.DONE)
        assert hand.view.report == "the report is not JSON"
        assert all(letter.isprintable() or letter == "\n" for letter in hand.output)


@pytest.mark.slow
async def test_children_that_went_away_are_found_and_ended(tmp_path: Path) -> None:
    async with opened(tmp_path) as hand:
        hand.begin(how="children", pace=Pace.ONCE)
        await hand.until(lambda: hand.view.state is SkillRunState.DONE)
        assert "left two behind" in hand.output
        await hand.until(lambda: not tagged(RUN))


async def test_the_wallets_key_is_not_there_to_be_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WALLET_PRIVATE_KEY", "ab" * 32)
    monkeypatch.setenv("SOME_PRIVATE_THING", "x")
    async with opened(tmp_path) as hand:
        hand.begin(how="key", pace=Pace.ONCE)
        await hand.until(lambda: hand.view.state is SkillRunState.DONE)
        assert hand.view.report == "signals 0, trades executed 0"


@pytest.mark.slow
@pytest.mark.parametrize("how", ["crash", "loop", "flood", "deaf"])
async def test_who_misbehaves_disturbs_no_other(tmp_path: Path, how: str) -> None:
    count = "import itertools, time\nfor n in itertools.count():\n    print(n); time.sleep(0.01)"
    async with opened(tmp_path) as hand:
        hand.begin(script(tmp_path / "s", count))
        await hand.until(lambda: "3" in hand.output)
        bad = SkillRunView(
            OTHER,
            "misbehaving",
            "a2",
            "bob",
            Pace.LOOP,
            30,
            live=True,
            state=SkillRunState.STARTING,
        )
        folder = hand.runs.folder_of(OTHER)
        own = {"SERVICE_MISBEHAVING_HOW": how}
        hand.runs.begin(bad, Launch(OTHER, folder, BAD, (), own))
        await hand.until(lambda: tail(folder))
        before = len(hand.output)
        await hand.until(lambda: len(hand.output) > before)
        good = rows_of(hand.facts, SkillRunView)
        states = {one.state for one in good if one.run_id == RUN}
        assert states <= {SkillRunState.STARTING, SkillRunState.RUNNING}
        hand.runs.stop(OTHER)
        await hand.until(lambda: not tagged(OTHER), step_s=0.2)


async def test_the_halt_holds_what_runs_and_what_starts(tmp_path: Path) -> None:
    count = "import itertools, time\nfor n in itertools.count():\n    print(n); time.sleep(0.01)"
    async with opened(tmp_path) as hand:
        hand.begin(script(tmp_path / "s", count))
        await hand.until(lambda: "5" in hand.output)
        hand.gate.close()
        await hand.until(lambda: hand.view.state is SkillRunState.SUSPENDED)
        # Not its guard, which goes on watching over it.
        (pid,) = descendants(hand.view.pid or 0)
        await hand.until(lambda: Path(f"/proc/{pid}/stat").read_text().split()[2] == "T")
        assert hand.gate.suspended_count == 1
        hand.gate.open()
        await hand.until(lambda: hand.view.state is SkillRunState.RUNNING)
        before = len(hand.output)
        await hand.until(lambda: len(hand.output) > before)


async def test_a_stopped_run_that_stands_still_ends_all_the_same(tmp_path: Path) -> None:
    async with opened(tmp_path) as hand:
        hand.begin(how="loop")
        await hand.until(lambda: "looping" in hand.output)
        hand.gate.close()
        hand.runs.stop(RUN)
        await hand.until(lambda: hand.view.state is SkillRunState.STOPPED, step_s=0.1)


async def test_what_is_detached_outlives_the_desk_and_is_found_again(tmp_path: Path) -> None:
    first = Hand(tmp_path)
    first.begin(how="loop")
    await first.until(lambda: "looping" in first.output)
    assert first.runs.detach(RUN, detached=True)
    await first.runs.close()
    assert first.view.pid in tagged(RUN)
    async with opened(tmp_path) as hand:
        hand.runs.take_in(hand.folder)
        assert (hand.view.state, hand.view.pid) == (SkillRunState.DETACHED, first.view.pid)
        hand.runs.stop(RUN)
        await hand.until(lambda: hand.view.state is SkillRunState.STOPPED, step_s=0.2)


async def test_what_is_not_detached_ends_with_the_desk_and_is_remembered(tmp_path: Path) -> None:
    async with opened(tmp_path) as hand:
        hand.begin(how="loop")
        await hand.until(lambda: "looping" in hand.output)
    async with opened(tmp_path) as hand:
        hand.runs.take_in(hand.folder)
        assert (hand.view.state, hand.view.why) == (SkillRunState.STOPPED, "the console ended")


async def test_a_desk_beside_the_holder_shows_its_runs_and_looks_after_them_once_it_holds(
    tmp_path: Path,
) -> None:
    holder = Hand(tmp_path / "held")
    holder.begin(how="loop")
    await holder.until(lambda: "looping" in holder.output)
    assert holder.runs.detach(RUN, detached=True)
    async with opened(tmp_path / "beside") as hand:
        hand.runs = SkillRuns(
            hand.folder, hand.clock, hand.gate, hand.facts.append, holder_dir=holder.folder
        )
        hand.runs.look_at(RUN)
        await hand.runs._show_runs_of_holder()
        hand.runs.look()
        assert (hand.view.state, hand.view.pid) == (SkillRunState.DETACHED, holder.view.pid)
        assert not hand.runs.stop(RUN)
        tails = rows_of(hand.facts, LogTailView)
        assert "looping" in tails[-1].lines[0]
        # The holder is killed: what it ran detached is this desk's from now on.
        await holder.runs.close()
        hand.runs.take_in(holder.folder)
        assert hand.view.why == "ran on without the console"
        assert hand.runs.stop(RUN)
        await hand.until(lambda: hand.view.state is SkillRunState.STOPPED, step_s=0.2)


async def test_what_died_with_its_holder_is_told_beside_it(tmp_path: Path) -> None:
    folder = tmp_path / "held" / "runs" / OTHER
    folder.mkdir(parents=True)
    run = run_of(OTHER, state=SkillRunState.RUNNING, started_at=Timestamp(5.0), pid=2**22 - 1)
    (folder / "run.json").write_text(json.dumps(asdict(run)), encoding="utf-8")
    hand = Hand(tmp_path / "beside")
    hand.runs = SkillRuns(
        hand.folder, hand.clock, hand.gate, hand.facts.append, holder_dir=tmp_path / "held"
    )
    await hand.runs._show_runs_of_holder()
    assert (hand.view.state, hand.view.why) == (SkillRunState.STOPPED, "the console ended")


def test_what_died_with_its_console_is_told_as_ended_then_and_in_the_order_of_time(
    tmp_path: Path,
) -> None:
    # Folders have names that say nothing of time: "a" was begun last.
    last, other, first = (f"{letter}-{os.getpid()}" for letter in "abc")
    for name, started_at, state in (
        (last, 900.0, SkillRunState.RUNNING),
        (other, 500.0, SkillRunState.RUNNING),
        (first, 100.0, SkillRunState.CRASHED),
    ):
        folder = tmp_path / "runs" / name
        folder.mkdir(parents=True)
        run = run_of(
            name, state=state, started_at=Timestamp(started_at), pid=2**22 - 1, ended_at=None,
            output_at=Timestamp(started_at + 50),
        )  # fmt: skip
        (folder / "run.json").write_text(json.dumps(asdict(run)), encoding="utf-8")
    looked = known_runs(tmp_path)
    hand = Hand(tmp_path)
    hand.runs.take_in(hand.folder)
    told = rows_of(hand.facts, SkillRunView)
    for found in (looked, told):
        assert [run.run_id for run in found] == [first, other, last]
        assert {run.state for run in found[1:]} == {SkillRunState.STOPPED}
        assert [run.ended_at for run in found[1:]] == [550.0, 950.0]
        assert {run.why for run in found[1:]} == {"the console ended"}
    # So that the newest one says how its agent is.
    view = SupervisionView()
    for fact in told:
        view = reduce_fleet(view, Changed(fact))
    agent = replace(fleet_state().fleet.agents[1], agent_id=told[0].agent_id, last_trade_at=None)
    health = health_of(agent, view, Timestamp(2_000.0)).health
    assert health is Health.STOPPED
    assert last_action(agent, view, ()) == (f"stopped: {told[0].skill_slug}", 950.0)


async def test_a_killed_desk_takes_its_skills_along(tmp_path: Path) -> None:
    hand = Hand(tmp_path)
    hand.begin(how="deaf")
    await hand.until(lambda: "deaf" in hand.output)

    # As the kernel does it when the desk's process is gone: the other end of the line closes.
    hand.runs._runs[RUN].process.let_go()  # type: ignore[union-attr]
    await hand.until(lambda: tagged(RUN) == [])
    await hand.runs.close()


async def test_the_end_of_the_output_is_shown_while_somebody_looks(tmp_path: Path) -> None:
    async with opened(tmp_path) as hand:
        hand.runs.look_at(RUN)
        hand.begin(script(tmp_path / "s", "print('one\\x1b[2J two')"), pace=Pace.ONCE)
        await hand.until(lambda: any(tail.lines for tail in rows_of(hand.facts, LogTailView)))
        shown = rows_of(hand.facts, LogTailView)
        assert shown[-1].lines == ("one two",)


async def test_a_script_that_is_not_there_is_a_crash_with_a_reason(tmp_path: Path) -> None:
    async with opened(tmp_path) as hand:
        hand.begin(tmp_path / "gone.py", pace=Pace.ONCE)
        await hand.until(lambda: hand.view.state is SkillRunState.BACKING_OFF)
        assert "No such file" in hand.output or "gone.py" in hand.output
