"""Runs of skills without their processes: what is signalled, shown, stored, waited for."""

import asyncio
import json
import os
import signal
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from kit.samples.filled import filled
from service_tui.clock import ManualClock
from service_tui.desk.agents.skill_runs import (
    BACKOFF_S,
    GRACE_S,
    HOLDER_LOOK_S,
    OUTPUT_EVERY_S,
    RESTARTS_MAX,
    RUN_MAX_S,
    RUNS_MAX,
    STEADY_S,
    AfterExit,
    Processes,
    SkillRuns,
    after_exit,
    known_runs,
)
from service_tui.desk.changes import Removed, changed
from service_tui.desk.facts import Fact
from service_tui.desk.gate import Gate
from service_tui.desk.slices.supervision import LogTailView, Pace, SkillRunState, SkillRunView
from service_tui.skills.process import LOG, LOG_MAX, Launch
from service_tui.units import Micros, Timestamp

START = 1_800_000_000.0
TERM, CONT, STOP = signal.SIGTERM, signal.SIGCONT, signal.SIGSTOP
S = SkillRunState


def new_view(run_id: str = "run-one", **other: Any) -> SkillRunView:
    given: dict[str, Any] = {"pace": Pace.LOOP, "state": S.STARTING}
    return SkillRunView(
        run_id=run_id, skill_slug="momentum", agent_id="a-3", agent_name="heron", every_s=60,
        live=True, budget=Micros(7_000_000), granted=True, **(given | other),
    )  # fmt: skip


@pytest.mark.parametrize(
    ("view", "code", "lasted_s", "after"),
    [
        (new_view(state=S.STOPPING, why="enough"), -9, 5, AfterExit(S.STOPPED, "enough")),
        (new_view(pace=Pace.ONCE), 0, 5, AfterExit(S.DONE)),
        (new_view(restarts=2), 0, 5, AfterExit(S.DONE, restarts=2)),
        (new_view(pace=Pace.EVERY, restarts=3, why="x"), 0, 20, AfterExit(S.RESTING, wait_s=40)),
        (new_view(pace=Pace.EVERY), 0, 60, AfterExit(S.RESTING, wait_s=0)),
        (new_view(pace=Pace.EVERY), 0, 90, AfterExit(S.RESTING, wait_s=0)),
        *(
            (
                new_view(restarts=number),
                2,
                5,
                AfterExit(
                    S.BACKING_OFF, f"exit code 2; retrying in {wait_s:.0f} s", number + 1, wait_s
                ),
            )
            for number, wait_s in enumerate(BACKOFF_S)
        ),
        (
            new_view(restarts=RESTARTS_MAX),
            2,
            STEADY_S,
            AfterExit(S.CRASHED, "exit code 2, 6 times in a row", RESTARTS_MAX),
        ),
        (
            new_view(restarts=RESTARTS_MAX),
            -11,
            STEADY_S + 1,
            AfterExit(S.BACKING_OFF, "ended by signal 11; retrying in 1 s", 1, 1.0),
        ),
    ],
)
def test_what_becomes_of_a_run_whose_process_has_ended(
    view: SkillRunView, code: int, lasted_s: float, after: AfterExit
) -> None:
    assert after_exit(view, code, lasted_s) == after


@dataclass
class Noted:
    """A process of which only is noted what was done to it."""

    pid: int
    code: int | None = None
    looks_left: int | None = None
    signals: list[int] = field(default_factory=list)
    ends: list[str] = field(default_factory=list)
    refuses: bool = False

    def exit_code(self) -> int | None:
        if self.looks_left is not None:
            self.looks_left -= 1
            return 0 if self.looks_left < 0 else None
        return self.code

    def signal(self, number: signal.Signals) -> None:
        if self.refuses:
            raise OSError(1, "not permitted")
        self.signals.append(number)

    def detach(self, *, detached: bool) -> None:
        if self.refuses:
            raise OSError(28, "the disk is full")
        self.ends.append("detach" if detached else "attach")

    def kill(self) -> None:
        self.ends.append("kill")

    def leave(self) -> None:
        self.ends.append("leave")


class Machine(Processes):
    """A machine on which nothing runs."""

    def __init__(self) -> None:
        self.started: list[Launch] = []
        self.made: list[Noted] = []
        self.alive: set[tuple[int | None, str]] = set()
        self.ended: list[str] = []
        self.fault: OSError | None = None

    def start(self, launch: Launch) -> Noted:
        if self.fault is not None:
            raise self.fault
        self.started.append(launch)
        self.made.append(Noted(700 + len(self.started)))
        return self.made[-1]

    def found(self, view: SkillRunView) -> Noted | None:
        if (view.pid, view.run_id) not in self.alive:
            return None
        self.made.append(Noted(view.pid or 0))
        return self.made[-1]

    def end(self, run_id: str) -> None:
        self.ended.append(run_id)


@dataclass
class Hand:
    """A desk's runs on that machine."""

    folder: Path
    holder_dir: Path | None = None
    clock: ManualClock = field(default_factory=ManualClock)
    gate: Gate = field(default_factory=Gate)
    facts: list[Fact] = field(default_factory=list)
    machine: Machine = field(default_factory=Machine)

    def __post_init__(self) -> None:
        self.runs = SkillRuns(
            self.folder,
            self.clock,
            self.gate,
            self.facts.append,
            holder_dir=self.holder_dir,
            processes=self.machine,
        )

    def begin(self, run_id: str = "run-one", **other: Any) -> Launch:
        launch = Launch(run_id, self.folder / "runs" / run_id, Path("run.py"), ("--live",), {})
        self.runs.begin(new_view(run_id, **other), launch)
        return launch

    def started(self, run_id: str = "run-one", **other: Any) -> Noted:
        self.begin(run_id, **other)
        self.runs.look()
        return self.machine.made[-1]

    async def later(self, by_s: float) -> None:
        await self.clock.advance(by_s)
        self.runs.look()

    def end(self, code: int) -> None:
        self.machine.made[-1].code = code
        self.runs.look()

    def log(self, run_id: str = "run-one") -> Path:
        return self.folder / "runs" / run_id / LOG

    @property
    def views(self) -> list[SkillRunView]:
        return [one for fact in self.facts if (one := changed(fact, SkillRunView)) is not None]

    @property
    def view(self) -> SkillRunView:
        return self.views[-1]

    @property
    def says(self) -> tuple[SkillRunState, str]:
        return self.view.state, self.view.why

    @property
    def tails(self) -> list[tuple[str, ...]]:
        found = (changed(fact, LogTailView) for fact in self.facts)
        return [one.lines for one in found if one is not None]

    @asynccontextmanager
    async def running(self) -> AsyncGenerator[None]:
        """While the desk watches its runs."""
        async with asyncio.TaskGroup() as tasks:
            task = tasks.create_task(self.runs.run())
            yield
            task.cancel()


@pytest.fixture
def hand(tmp_path: Path) -> Hand:
    return Hand(tmp_path)


def store(folder: Path, view: SkillRunView) -> None:
    """As an older program did: where the skill works."""
    where = folder / "runs" / view.run_id
    where.mkdir(parents=True)
    (where / "run.json").write_text(json.dumps(asdict(view)))


# -- started and stopped ---------------------------------------------------------------------------


def test_a_run_is_shown_as_starting_then_as_running_and_stands_on_disk(hand: Hand) -> None:
    launch = hand.begin(state=S.CRASHED)
    starting = replace(new_view(), log_path=str(hand.log()))
    hand.runs.look()
    running = replace(starting, state=S.RUNNING, pid=701, started_at=Timestamp(START), runs_count=1)
    # A run that only runs on is not told again.
    hand.runs.look()
    assert hand.views == [starting, running]
    assert hand.machine.started == [launch]
    record = hand.folder / "skill-runs" / "run-one.json"
    assert json.loads(record.read_text()) == asdict(running)
    assert not list(launch.folder.iterdir())
    assert launch.folder.stat().st_mode & 0o777 == 0o700
    assert hand.runs.folder_of("run-one") == launch.folder
    assert hand.runs.folder_of("unknown") == hand.folder / "runs" / "unknown"


def test_a_run_that_cannot_start_crashed_and_is_no_longer_watched(hand: Hand) -> None:
    hand.machine.fault = OSError(13, "no permission")
    hand.begin()
    hand.runs.look()
    assert hand.says == (S.CRASHED, "cannot start: no permission")
    assert (hand.view.ended_at, hand.view.runs_count) == (START, 0)
    hand.gate.close()
    assert hand.gate.suspended_count == 0


def test_only_so_many_runs_are_alive_at_a_time(hand: Hand) -> None:
    for number in range(RUNS_MAX):
        assert not hand.runs.is_full
        hand.begin(f"run-{number:02}")
    assert hand.runs.is_full
    assert hand.runs.stop("run-07")
    assert hand.says == (S.STOPPED, "by hand")
    assert not hand.runs.is_full
    told = len(hand.facts)
    assert not hand.runs.stop("run-07")
    assert not hand.runs.stop("another")
    assert len(hand.facts) == told


async def test_a_stop_asks_first_and_kills_when_its_time_is_over(hand: Hand) -> None:
    process = hand.started()
    assert hand.runs.stop("run-one", "enough")
    assert process.signals == [TERM, CONT]
    await hand.later(GRACE_S - 1)
    assert (hand.says, process.ends) == ((S.STOPPING, "enough"), [])
    await hand.later(1)
    assert process.ends == ["kill"]
    hand.end(-9)
    assert hand.says == (S.STOPPED, "enough")
    assert (hand.view.exit_code, hand.view.pid) == (-9, None)
    assert hand.view.ended_at == START + GRACE_S


def test_a_run_starts_again_only_after_its_process_has_ended(hand: Hand) -> None:
    process = hand.started()
    process.refuses = True
    other = Launch("run-one", hand.folder / "runs" / "run-one", Path("new.py"), (), {})
    hand.runs.restart(new_view(pace=Pace.ONCE), other)
    hand.runs.look()
    # A process that takes no signal is stopping all the same.
    assert (hand.view.state, len(hand.machine.started)) == (S.STOPPING, 1)
    hand.end(0)
    assert (hand.view.state, hand.view.pace) == (S.STARTING, Pace.ONCE)
    hand.runs.look()
    assert [one.script.name for one in hand.machine.started] == ["run.py", "new.py"]
    hand.end(0)
    assert hand.view.state is S.DONE
    hand.runs.restart(new_view(), other)
    assert hand.view.state is S.STARTING


# -- how it ended ----------------------------------------------------------------------------------


async def test_a_crash_waits_and_starts_again_and_its_last_report_stays(hand: Hand) -> None:
    process = hand.started(report="signals 1")
    hand.end(2)
    assert (hand.view.state, hand.view.next_at) == (S.BACKING_OFF, START + 1)
    assert (hand.view.report, process.ends) == ("signals 1", ["kill"])
    await hand.later(0.5)
    assert len(hand.machine.started) == 1
    await hand.later(0.5)
    assert (hand.view.state, hand.view.next_at, hand.view.runs_count) == (S.RUNNING, None, 2)
    hand.log().write_text('{"automaton": {"signals": 4}}\n')
    hand.end(0)
    assert (hand.view.state, hand.view.report) == (S.DONE, "signals 4")
    assert (hand.view.exit_code, hand.view.pid, hand.view.ended_at) == (0, None, START + 1)


async def test_a_run_that_should_end_by_itself_is_stopped_after_its_longest_time(
    hand: Hand,
) -> None:
    for pace in (Pace.ONCE, Pace.EVERY, Pace.LOOP):
        process = hand.started(pace.value, pace=pace)
        await hand.later(RUN_MAX_S)
        assert process.signals == []
        # Asked once; its time to end is not put off by each look.
        for _ in range(2):
            await hand.later(1)
            assert process.signals == ([] if pace is Pace.LOOP else [TERM, CONT])
        hand.end(0)


# -- while it runs ---------------------------------------------------------------------------------


async def test_the_halt_holds_runs_and_starts_none_and_counts_no_time(hand: Hand) -> None:
    process = hand.started("0123456789", pace=Pace.ONCE)
    hand.gate.close()
    hand.begin("run-two")
    await hand.later(RUN_MAX_S + 5)
    assert (process.signals, len(hand.machine.started)) == ([STOP], 1)
    assert hand.says == (S.SUSPENDED, "trading is halted")
    told = len(hand.facts)
    hand.runs.look()
    assert len(hand.facts) == told
    hand.gate.open()
    hand.runs.look()
    assert len(hand.machine.started) == 2
    assert process.signals[:2] == [STOP, CONT]
    process.refuses = True
    hand.gate.close()
    assert hand.gate.loose == {"momentum as heron (012345)": "not permitted"}


async def test_new_output_is_noted_at_most_each_half_minute(hand: Hand) -> None:
    hand.started()

    async def grow(after_s: float) -> Timestamp | None:
        with hand.log().open("a") as file:
            file.write("x")
        await hand.later(after_s)
        return hand.view.output_at

    assert await grow(1) == START + 1
    assert await grow(OUTPUT_EVERY_S - 1) == START + 1
    assert await grow(1) == START + 1 + OUTPUT_EVERY_S
    # What does not grow is silent, however long that lasts.
    await hand.later(OUTPUT_EVERY_S * 3)
    assert hand.view.output_at == START + 1 + OUTPUT_EVERY_S
    # A clock that was set back is no reason to wait until it is there again.
    hand.clock.set(hand.clock.now() - 7_200)
    assert await grow(1) == hand.clock.now() < START
    hand.log().write_bytes(b"x" * (LOG_MAX + 1))
    hand.runs.look()
    assert hand.log().stat().st_size < LOG_MAX / 2


async def test_the_watch_sleeps_without_work_and_shows_output_that_changed(hand: Hand) -> None:
    async with hand.running():
        await hand.clock.advance(5)
        hand.begin()
        await hand.clock.advance(1)
        assert len(hand.machine.started) == 1
        hand.machine.made[0].code = 0
        await hand.clock.advance(1)
        assert hand.view.state is S.DONE
        hand.runs.look_at("run-one")
        for text in ("", "a\n", "a\n", "a\nb\n"):
            hand.log().write_text(text)
            await hand.clock.advance(1)
        assert hand.tails == [(), ("a",), ("a", "b")]
        # Whoever looks again sees it again.
        hand.runs.look_at("run-one")
        await hand.clock.advance(1)
        assert len(hand.tails) == 4
        hand.runs.look_at("")
        assert hand.facts[-1] == Removed(LogTailView)
        hand.begin("run-two")
        await hand.clock.advance(1)
        assert len(hand.machine.started) == 2


def test_a_running_process_is_detached_or_tied_again(hand: Hand) -> None:
    hand.begin()
    assert not hand.runs.detach("run-one", detached=True)
    assert not hand.runs.detach("another", detached=True)
    hand.runs.look()
    (process,) = hand.machine.made
    for detached, state in ((True, S.DETACHED), (False, S.RUNNING)):
        assert hand.runs.detach("run-one", detached=detached)
        assert hand.view.state is state
    assert process.ends == ["detach", "attach"]
    process.refuses = True
    assert not hand.runs.detach("run-one", detached=True)
    assert hand.view.state is S.RUNNING


# -- the desk ends, and comes again ----------------------------------------------------------------


async def test_a_closing_desk_ends_every_living_run_but_leaves_the_detached(hand: Hand) -> None:
    hand.begin("ended")
    hand.runs.stop("ended")
    quick, slow, free = (hand.started(name) for name in ("quick", "slow", "free"))
    hand.runs.detach("free", detached=True)
    # One takes a few looks to end: nothing is killed before.
    quick.code, slow.looks_left = 0, 3
    hand.begin("waiting")
    told = len(hand.facts)
    await hand.runs.close()
    assert slow.looks_left is not None
    assert slow.looks_left < 0
    assert (quick.signals, quick.ends, slow.ends) == ([TERM, CONT], ["kill"], ["kill"])
    assert (free.signals, free.ends) == ([], ["detach", "leave"])
    assert len(hand.facts) == told + 3
    assert {(one.run_id, one.state, one.why, one.pid) for one in hand.views[-3:]} == {
        (name, S.STOPPED, "the console ended", None) for name in ("quick", "slow", "waiting")
    }


async def test_a_detached_run_that_lives_is_looked_after_and_its_time_counted_anew(
    hand: Hand,
) -> None:
    known = new_view(state=S.DETACHED, pid=55, started_at=Timestamp(9.0), pace=Pace.ONCE)
    store(hand.folder, known)
    hand.machine.alive.add((55, "run-one"))
    await hand.clock.advance(RUN_MAX_S * 2)
    hand.runs.take_in(hand.folder)
    assert hand.views == [replace(known, why="ran on without the console")]
    await hand.later(RUN_MAX_S)
    assert (hand.machine.made[0].signals, hand.machine.ended) == ([], [])
    hand.gate.close()
    assert hand.machine.made[0].signals == [STOP]
    assert hand.runs.stop("run-one")


@pytest.mark.parametrize(
    ("state", "pid", "alive"),
    [
        (S.DETACHED, 55, (55, "another")),
        (S.DETACHED, None, (55, "run-one")),
        (S.RUNNING, 55, (55, "run-one")),
        (S.DONE, 55, (55, "run-one")),
    ],
)
def test_any_other_run_that_was_alive_is_ended_and_shown_as_ended_with_the_console(
    hand: Hand, state: SkillRunState, pid: int | None, alive: tuple[int, str]
) -> None:
    known = new_view(state=state, pid=pid, started_at=Timestamp(9.0), next_at=Timestamp(90.0))
    store(hand.folder, known)
    hand.machine.alive.add(alive)
    hand.runs.take_in(hand.folder)
    over = replace(
        known, state=S.STOPPED, why="the console ended", ended_at=Timestamp(9.0), pid=None,
        next_at=None,
    )  # fmt: skip
    is_over = state is S.DONE
    assert hand.views == [known if is_over else over]
    assert (hand.machine.ended, hand.machine.made) == ([] if is_over else ["run-one"], [])


@pytest.mark.parametrize(
    ("started_at", "output_at", "last"),
    [(5.0, 8.0, 8.0), (8.0, 5.0, 8.0), (5.0, None, 5.0), (None, 8.0, 8.0), (None, None, None)],
)
def test_a_run_that_died_with_its_console_ended_with_its_last_sign_of_life(
    tmp_path: Path, started_at: float | None, output_at: float | None, last: float | None
) -> None:
    known = filled(
        SkillRunView, 6, run_id="run-one", state=S.RESTING, pid=os.getpid(),
        started_at=started_at, output_at=output_at,
    )  # fmt: skip
    store(tmp_path, known)
    over = replace(
        known, state=S.STOPPED, why="the console ended", ended_at=last, pid=None, next_at=None
    )
    assert known_runs(tmp_path) == (over,)


def test_stored_runs_come_in_the_order_of_their_start_and_broken_ones_are_left_out(
    tmp_path: Path,
) -> None:
    for run_id, started_at in (("a", 900.0), ("b", None), ("c", 0.5), ("d", 500.0)):
        view = filled(SkillRunView, 7, run_id=run_id, state=S.DONE, started_at=started_at)
        store(tmp_path, view)
    (tmp_path / "runs" / "e").mkdir()
    for name, text in (("f", "{"), ("g", "[]"), ("h", '{"pace": "once"}')):
        (tmp_path / "runs" / name).mkdir()
        (tmp_path / "runs" / name / "run.json").write_text(text)
    assert [one.run_id for one in known_runs(tmp_path)] == ["b", "c", "d", "a"]
    assert known_runs(tmp_path / "nowhere") == ()


async def test_a_desk_beside_a_holder_shows_the_holders_runs_until_it_holds_them(
    tmp_path: Path,
) -> None:
    holder_dir = tmp_path / "held"
    hand = Hand(tmp_path, holder_dir=holder_dir)
    done = filled(SkillRunView, 8, run_id="done", state=S.DONE, started_at=5.0)
    store(holder_dir, done)

    async def turn(by_s: float) -> list[str]:
        before = len(hand.views)
        await hand.clock.advance(by_s)
        await asyncio.sleep(0.02)  # the disk is read beside the loop
        return [one.run_id for one in hand.views[before:]]

    async with hand.running():
        assert await turn(0) == ["done"]
        assert hand.runs.folder_of("done") == holder_dir / "runs" / "done"
        (holder_dir / "runs" / "done" / LOG).write_text("last words\n")
        hand.runs.look_at("done")
        store(holder_dir, replace(done, run_id="next"))
        assert await turn(HOLDER_LOOK_S / 2) == []
        assert hand.tails == [("last words",)]
        assert await turn(HOLDER_LOOK_S) == ["next"]
        hand.runs.take_in(holder_dir)
        store(holder_dir, replace(done, run_id="late"))
        assert await turn(HOLDER_LOOK_S * 2) == []
