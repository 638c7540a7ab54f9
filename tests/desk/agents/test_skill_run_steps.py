"""Steps of a skill's run without its process: what is signalled, shown, stored, waited for."""

import asyncio
import json
import signal
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from kit.samples.filled import filled
from service_tui.clock import ManualClock
from service_tui.desk.agents import skill_runs
from service_tui.desk.agents.skill_runs import (
    BACKOFF_S,
    CLOSING_S,
    GRACE_S,
    HELD_LOOK_S,
    OUTPUT_EVERY_S,
    RESTARTS_MAX,
    RUN_MAX_S,
    RUNS_MAX,
    STEADY_S,
    SkillRuns,
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


@dataclass
class Process:
    """What the desk did to a process, and the exit code that it has meanwhile."""

    pid: int
    run_id: str
    folder: Path
    code: int | None = None
    signals: list[int] = field(default_factory=list)
    ends: list[str] = field(default_factory=list)
    refuses: bool = False

    def exit_code(self) -> int | None:
        return self.code

    def signal(self, number: int) -> None:
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


@dataclass
class Hand:
    """A desk's runs; processes are only noted."""

    folder: Path
    clock: ManualClock = field(default_factory=ManualClock)
    gate: Gate = field(default_factory=Gate)
    facts: list[Fact] = field(default_factory=list)
    started: list[Launch] = field(default_factory=list)
    made: list[Process] = field(default_factory=list)
    alive: set[tuple[int, str]] = field(default_factory=set)
    ended: list[str] = field(default_factory=list)
    fault: OSError | None = None

    def __post_init__(self) -> None:
        self.runs = SkillRuns(self.folder, self.clock, self.gate, self.facts.append)

    def make(self, pid: int, run_id: str, folder: Path) -> Process:
        self.made.append(Process(pid, run_id, folder))
        return self.made[-1]

    def start(self, launch: Launch, _: object) -> Process:
        if self.fault is not None:
            raise self.fault
        self.started.append(launch)
        return self.make(700 + len(self.started), launch.run_id, launch.folder)

    def begin(self, run_id: str = "run-one", **other: Any) -> SkillRunView:
        view = new_view(run_id, **other)
        self.runs.begin(view, launch_of(self.folder, run_id))
        return view

    async def later(self, by_s: float) -> None:
        await self.clock.advance(by_s)
        self.runs.look()

    def end(self, code: int) -> None:
        self.made[-1].code = code
        self.runs.look()

    @property
    def views(self) -> list[SkillRunView]:
        return [one for fact in self.facts if (one := changed(fact, SkillRunView)) is not None]

    @property
    def view(self) -> SkillRunView:
        return self.views[-1]

    @property
    def tails(self) -> list[LogTailView]:
        return [one for fact in self.facts if (one := changed(fact, LogTailView)) is not None]


@asynccontextmanager
async def running(hand: Hand) -> AsyncGenerator[None]:
    """While the desk watches its runs."""
    async with asyncio.TaskGroup() as tasks:
        task = tasks.create_task(hand.runs.run())
        yield
        task.cancel()


def new_view(run_id: str, **other: Any) -> SkillRunView:
    given: dict[str, Any] = {"pace": Pace.LOOP, "state": SkillRunState.STARTING}
    return SkillRunView(
        run_id=run_id, skill_slug="momentum", agent_id="a-3", agent_name="heron", every_s=60,
        live=True, budget=Micros(7_000_000), granted=True, **(given | other),
    )  # fmt: skip


def launch_of(folder: Path, run_id: str) -> Launch:
    return Launch(run_id, folder / "runs" / run_id, Path("run.py"), ("--live",), {"KEY": "k"})


@pytest.fixture
def hand(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Hand:
    made = Hand(tmp_path)

    class Made:
        """Takes the place of the class: found again by its call, started by its method."""

        start = staticmethod(made.start)

        def __new__(cls, pid: int, run_id: str, folder: Path) -> Any:
            return made.make(pid, run_id, folder)

    monkeypatch.setattr(skill_runs, "SkillProcess", Made)
    monkeypatch.setattr(skill_runs, "is_run", lambda pid, run_id: (pid, run_id) in made.alive)
    monkeypatch.setattr(skill_runs, "end_tagged", made.ended.append)
    return made


def stored(folder: Path, run_id: str) -> dict[str, Any]:
    return json.loads((folder / "runs" / run_id / "run.json").read_text())


def store(folder: Path, view: SkillRunView) -> None:
    where = folder / "runs" / view.run_id
    where.mkdir(parents=True)
    (where / "run.json").write_text(json.dumps(asdict(view)))


# -- the start -------------------------------------------------------------------------------------


def test_a_run_of_before_begins_anew_whatever_it_was(hand: Hand) -> None:
    hand.begin(state=SkillRunState.CRASHED)
    assert hand.view.state is SkillRunState.STARTING
    assert hand.started == []
    hand.runs.look()
    assert len(hand.started) == 1


def test_a_run_is_shown_as_starting_and_then_as_running_with_its_process(hand: Hand) -> None:
    begun = hand.begin()
    log_path = str(hand.folder / "runs" / "run-one" / "output.log")
    starting = replace(begun, log_path=log_path)
    hand.runs.look()
    running = replace(
        starting, state=SkillRunState.RUNNING, pid=701, started_at=Timestamp(START), runs_count=1
    )
    # A run that only runs on is not told again.
    hand.runs.look()
    assert hand.views == [starting, running]
    assert hand.started == [launch_of(hand.folder, "run-one")]
    assert stored(hand.folder, "run-one") == asdict(running)
    assert (hand.folder / "runs" / "run-one").stat().st_mode & 0o777 == 0o700


def test_a_run_that_cannot_start_crashed_and_is_no_longer_watched(hand: Hand) -> None:
    hand.fault = OSError(13, "no permission")
    hand.begin()
    hand.runs.look()
    assert (hand.view.state, hand.view.why) == (
        SkillRunState.CRASHED, "cannot start: no permission",
    )  # fmt: skip
    assert (hand.view.ended_at, hand.view.runs_count) == (START, 0)
    hand.gate.close()
    assert hand.gate.suspended_count == 0


def test_a_process_that_the_halt_cannot_hold_is_named_by_skill_agent_and_run(hand: Hand) -> None:
    hand.begin("0123456789")
    hand.runs.look()
    hand.made[0].refuses = True
    hand.gate.close()
    assert hand.gate.loose == {"momentum as heron (012345)": "not permitted"}


def test_no_run_starts_while_trading_is_halted_and_it_starts_afterwards(hand: Hand) -> None:
    hand.gate.close()
    hand.begin()
    hand.runs.look()
    assert hand.started == []
    hand.gate.open()
    hand.runs.look()
    assert [one.run_id for one in hand.started] == ["run-one"]


def test_only_so_many_runs_are_alive_at_a_time(hand: Hand) -> None:
    for number in range(RUNS_MAX):
        assert not hand.runs.is_full
        hand.begin(f"run-{number:02}")
    assert hand.runs.is_full
    hand.runs.stop("run-07")
    assert not hand.runs.is_full


def test_output_lies_where_the_launch_put_it_and_else_in_the_desks_own_folder(hand: Hand) -> None:
    there = Launch("moved", hand.folder / "elsewhere", Path("run.py"), (), {})
    hand.runs.begin(new_view("moved"), there)
    assert hand.runs.folder_of("moved") == hand.folder / "elsewhere"
    assert hand.runs.folder_of("unknown") == hand.folder / "runs" / "unknown"


# -- stopping and starting again -------------------------------------------------------------------


async def test_a_stop_asks_first_and_kills_when_its_time_is_over(hand: Hand) -> None:
    hand.begin()
    hand.runs.look()
    assert hand.runs.stop("run-one", "enough")
    assert hand.made[0].signals == [TERM, CONT]
    assert (hand.view.state, hand.view.why) == (SkillRunState.STOPPING, "enough")
    await hand.later(GRACE_S - 1)
    assert hand.made[0].ends == []
    await hand.later(1)
    assert hand.made[0].ends == ["kill"]
    hand.end(-9)
    assert (hand.view.state, hand.view.why) == (SkillRunState.STOPPED, "enough")
    assert (hand.view.exit_code, hand.view.pid) == (-9, None)
    assert hand.view.ended_at == START + GRACE_S


def test_a_stop_by_hand_of_a_run_without_a_process_is_over_at_once(hand: Hand) -> None:
    hand.begin()
    assert hand.runs.stop("run-one")
    assert (hand.view.state, hand.view.why) == (SkillRunState.STOPPED, "by hand")
    hand.runs.look()
    assert hand.started == []


def test_neither_an_unknown_run_nor_an_ended_one_is_stopped(hand: Hand) -> None:
    hand.begin()
    hand.runs.stop("run-one")
    told = len(hand.facts)
    assert not hand.runs.stop("run-one")
    assert not hand.runs.stop("another")
    assert len(hand.facts) == told


def test_a_process_that_takes_no_signal_is_stopping_all_the_same(hand: Hand) -> None:
    hand.begin()
    hand.runs.look()
    hand.made[0].refuses = True
    assert hand.runs.stop("run-one")
    assert hand.view.state is SkillRunState.STOPPING


def test_a_living_run_starts_again_only_after_its_process_has_ended(hand: Hand) -> None:
    hand.begin()
    hand.runs.look()
    other = Launch("run-one", hand.folder / "runs" / "run-one", Path("new.py"), (), {})
    hand.runs.restart(new_view("run-one", pace=Pace.ONCE), other)
    hand.runs.look()
    assert len(hand.started) == 1
    assert hand.made[0].signals == [TERM, CONT]
    hand.end(0)
    assert (hand.view.state, hand.view.pace) == (SkillRunState.STARTING, Pace.ONCE)
    hand.runs.look()
    assert [one.script.name for one in hand.started] == ["run.py", "new.py"]
    hand.end(0)
    assert hand.view.state is SkillRunState.DONE


def test_a_run_that_waits_or_has_ended_starts_again_at_once(hand: Hand) -> None:
    hand.begin()
    for _ in range(2):
        hand.runs.restart(new_view("run-one"), launch_of(hand.folder, "run-one"))
        assert hand.view.state is SkillRunState.STARTING
    hand.runs.look()
    assert len(hand.started) == 1


# -- how it ended ----------------------------------------------------------------------------------


async def test_a_crash_waits_longer_each_time_and_the_sixth_in_a_row_is_the_last(
    hand: Hand,
) -> None:
    hand.begin()
    hand.runs.look()
    for number, wait_s in enumerate(BACKOFF_S, 1):
        hand.end(2)
        assert hand.view.state is SkillRunState.BACKING_OFF
        assert hand.view.why == f"exit code 2; retrying in {wait_s:.0f} s"
        assert (hand.view.restarts, hand.view.runs_count) == (number, number)
        assert hand.view.next_at == hand.clock.now() + wait_s
        await hand.later(wait_s - 0.5)
        assert len(hand.started) == number
        await hand.later(0.5)
        assert len(hand.started) == number + 1
        assert (hand.view.state, hand.view.next_at) == (SkillRunState.RUNNING, None)
    hand.end(2)
    assert (hand.view.state, hand.view.restarts) == (SkillRunState.CRASHED, RESTARTS_MAX)
    assert hand.view.why == "exit code 2, 6 times in a row"


@pytest.mark.parametrize(("lasted_s", "restarts"), [(STEADY_S, 2), (STEADY_S + 1, 1)])
async def test_a_run_that_lasted_longer_than_a_minute_is_no_crash_in_a_row(
    hand: Hand, lasted_s: float, restarts: int
) -> None:
    hand.begin()
    hand.runs.look()
    hand.end(1)
    assert hand.view.why == "exit code 1; retrying in 1 s"
    await hand.later(1)
    await hand.clock.advance(lasted_s)
    hand.end(-11)
    assert hand.view.restarts == restarts
    assert hand.view.why.startswith("ended by signal 11; ")


@pytest.mark.parametrize("pace", [Pace.ONCE, Pace.LOOP])
def test_a_run_that_ended_well_is_done_and_what_it_left_is_killed(hand: Hand, pace: Pace) -> None:
    hand.begin(pace=pace)
    hand.runs.look()
    hand.end(0)
    assert (hand.view.state, hand.view.why) == (SkillRunState.DONE, "")
    assert (hand.view.exit_code, hand.view.pid, hand.view.ended_at) == (0, None, START)
    assert hand.made[0].ends == ["kill"]


@pytest.mark.parametrize(("lasted_s", "wait_s"), [(20, 40), (60, 0), (90, 0)])
async def test_the_next_round_begins_so_long_after_the_last_one_began(
    hand: Hand, lasted_s: float, wait_s: float
) -> None:
    hand.begin(pace=Pace.EVERY, restarts=3, why="exit code 1")
    hand.runs.look()
    await hand.clock.advance(lasted_s)
    hand.end(0)
    assert hand.view.state is SkillRunState.RESTING
    assert hand.view.next_at == START + lasted_s + wait_s
    assert (hand.view.restarts, hand.view.why, hand.view.ended_at) == (0, "", None)
    await hand.later(wait_s)
    assert (hand.view.state, hand.view.runs_count) == (SkillRunState.RUNNING, 2)


def test_the_report_of_an_earlier_round_stays_until_there_is_another(hand: Hand) -> None:
    hand.begin(report="signals 1")
    hand.runs.look()
    hand.end(1)
    assert hand.view.report == "signals 1"
    log = hand.folder / "runs" / "run-one" / LOG
    log.write_text('{"automaton": {"signals": 4}}\n')
    hand.runs._runs["run-one"].due = 0
    hand.runs.look()
    hand.end(1)
    assert hand.view.report == "signals 4"


# -- while it runs ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("pace", "is_ended"), [(Pace.ONCE, True), (Pace.EVERY, True), (Pace.LOOP, False)]
)
async def test_a_run_that_should_end_by_itself_is_ended_after_its_longest_time(
    hand: Hand, *, pace: Pace, is_ended: bool
) -> None:
    hand.begin(pace=pace)
    hand.runs.look()
    await hand.later(RUN_MAX_S)
    assert hand.made[0].signals == []
    await hand.later(1)
    assert hand.made[0].signals == ([TERM, CONT] if is_ended else [])
    assert hand.view.why == ("ran longer than 300 s" if is_ended else "")
    # Asked once; its time to end is not put off by each look.
    await hand.later(1)
    assert hand.made[0].signals == ([TERM, CONT] if is_ended else [])


async def test_a_run_that_the_halt_holds_is_suspended_shown_so_and_not_ended_for_its_time(
    hand: Hand,
) -> None:
    hand.begin(pace=Pace.ONCE)
    hand.runs.look()
    hand.gate.close()
    await hand.later(RUN_MAX_S + 5)
    assert hand.made[0].signals == [STOP]
    assert (hand.view.state, hand.view.why) == (SkillRunState.SUSPENDED, "trading is halted")
    told = len(hand.facts)
    hand.runs.look()
    assert len(hand.facts) == told
    hand.runs._runs["run-one"].began = hand.clock.monotonic()
    hand.gate.open()
    hand.runs.look()
    assert hand.made[0].signals == [STOP, CONT]
    assert (hand.view.state, hand.view.why) == (SkillRunState.RUNNING, "")


async def test_new_output_is_noted_at_most_each_half_minute(hand: Hand) -> None:
    hand.begin()
    hand.runs.look()
    log = hand.folder / "runs" / "run-one" / LOG

    async def grow(after_s: float) -> Timestamp | None:
        with log.open("a") as file:
            file.write("x")
        await hand.later(after_s)
        return hand.view.output_at

    assert hand.view.output_at is None
    assert await grow(1) == START + 1
    assert await grow(OUTPUT_EVERY_S - 1) == START + 1
    assert await grow(1) == START + 1 + OUTPUT_EVERY_S
    # What does not grow is silent, however long that lasts.
    await hand.later(OUTPUT_EVERY_S * 3)
    assert hand.view.output_at == START + 1 + OUTPUT_EVERY_S
    # A clock that was set back is no reason to wait until it is there again.
    hand.clock.set(hand.clock.now() - 7_200)
    assert await grow(1) == hand.clock.now() < START


def test_the_end_of_the_output_is_shown_again_only_when_it_changed(hand: Hand) -> None:
    hand.begin()
    hand.begin("run-two")
    log = hand.folder / "runs" / "run-two" / LOG
    log.write_text("")
    hand.runs.look_at("run-two")
    for text in ("", "a\n", "a\n", "a\nb\n"):
        log.write_text(text)
        hand.runs.look()
    lines = [(), ("a",), ("a", "b")]
    assert hand.tails == [LogTailView("run-two", one) for one in lines]
    # Whoever looks again sees it again.
    hand.runs.look_at("run-two")
    hand.runs.look()
    assert len(hand.tails) == 4
    hand.runs.look_at("")
    assert hand.facts[-1] == Removed(LogTailView)


async def test_nothing_is_looked_at_until_there_is_a_run(
    hand: Hand, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with running(hand):
        await hand.clock.advance(5)
        hand.begin()
        await hand.clock.advance(1)
        assert len(hand.started) == 1
        hand.made[0].code = 0
        await hand.clock.advance(1)
        assert hand.view.state is SkillRunState.DONE
        # An ended run is watched no more, and the next one wakes the watch again.
        looks: list[None] = []
        look = hand.runs.look
        monkeypatch.setattr(hand.runs, "look", lambda: (looks.append(None), look()))
        await hand.clock.advance(60)
        assert len(looks) <= 1
        hand.begin("run-two")
        await hand.clock.advance(1)
        assert len(hand.started) == 2


async def test_the_end_of_an_ended_runs_output_is_shown_to_whoever_looks(hand: Hand) -> None:
    hand.begin()
    hand.runs.stop("run-one")
    (hand.folder / "runs" / "run-one" / LOG).write_text("last words\n")
    async with running(hand):
        await hand.clock.advance(1)
        assert hand.tails == []
        hand.runs.look_at("run-one")
        await hand.clock.advance(1)
        assert hand.tails == [LogTailView("run-one", ("last words",))]


def test_output_that_grew_too_long_is_cut_at_the_next_look(hand: Hand) -> None:
    hand.begin()
    hand.runs.look()
    log = hand.folder / "runs" / "run-one" / LOG
    log.write_bytes(b"x" * (LOG_MAX + 1))
    hand.runs.look()
    assert log.stat().st_size < LOG_MAX / 2


@pytest.mark.parametrize(
    ("detached", "state", "end"),
    [(True, SkillRunState.DETACHED, "detach"), (False, SkillRunState.RUNNING, "attach")],
)
def test_a_running_process_is_detached_or_tied_again(
    hand: Hand, *, detached: bool, state: SkillRunState, end: str
) -> None:
    hand.begin()
    assert not hand.runs.detach("run-one", detached=detached)
    assert not hand.runs.detach("another", detached=detached)
    hand.runs.look()
    assert hand.runs.detach("run-one", detached=detached)
    assert (hand.view.state, hand.made[0].ends) == (state, [end])
    hand.made[0].refuses = True
    told = len(hand.facts)
    assert not hand.runs.detach("run-one", detached=not detached)
    assert len(hand.facts) == told


# -- the desk ends, and comes again ----------------------------------------------------------------


async def test_a_closing_desk_ends_every_living_run_but_leaves_the_detached(hand: Hand) -> None:
    hand.begin("ended")
    hand.runs.stop("ended", "by hand")
    hand.begin("tied")
    hand.begin("free")
    hand.runs.look()
    hand.runs.detach("free", detached=True)
    tied, free = hand.made
    tied.code = 0
    hand.begin("waiting")
    told = len(hand.facts)
    await hand.runs.close()
    assert (tied.signals, tied.ends) == ([TERM, CONT], ["kill"])
    assert (free.signals, free.ends) == ([], ["detach", "leave"])
    ended = [(one.run_id, one.state, one.why, one.pid) for one in hand.views][-2:]
    assert len(hand.facts) == told + 2
    assert ended == [
        (name, SkillRunState.STOPPED, "the console ended", None) for name in ("tied", "waiting")
    ]


async def test_a_closing_desk_kills_nothing_while_a_run_is_still_ending(
    hand: Hand, monkeypatch: pytest.MonkeyPatch
) -> None:
    hand.begin("quick")
    hand.begin("slow")
    hand.runs.look()
    quick, slow = hand.made
    quick.code = 0
    waits: list[float] = []

    async def wait(by_s: float) -> None:
        waits.append(by_s)
        assert (quick.ends, slow.ends) == ([], [])
        slow.code = 0 if len(waits) == 3 else None

    monkeypatch.setattr(asyncio, "sleep", wait)
    await hand.runs.close()
    assert waits == [0.05] * 3
    assert (quick.ends, slow.ends) == (["kill"], ["kill"])


async def test_a_closing_desk_waits_no_longer_than_it_may_and_then_kills(
    hand: Hand, monkeypatch: pytest.MonkeyPatch
) -> None:
    hand.begin("deaf")
    hand.runs.look()
    waits: list[float] = []

    async def wait(by_s: float) -> None:
        waits.append(by_s)

    monkeypatch.setattr(asyncio, "sleep", wait)
    await hand.runs.close()
    assert sum(waits) == pytest.approx(CLOSING_S)
    assert hand.made[0].ends == ["kill"]


async def test_the_time_of_a_run_that_was_found_again_is_counted_anew(hand: Hand) -> None:
    await hand.clock.advance(RUN_MAX_S * 2)
    store(hand.folder, new_view("one", pace=Pace.ONCE, state=SkillRunState.DETACHED, pid=55))
    hand.alive.add((55, "one"))
    hand.runs.take_in(hand.folder)
    await hand.later(RUN_MAX_S)
    assert hand.made[0].signals == []
    await hand.later(1)
    assert hand.made[0].signals == [TERM, CONT]


def test_a_detached_run_that_lives_is_looked_after_and_held_by_the_halt_again(hand: Hand) -> None:
    known = new_view("run-one", state=SkillRunState.DETACHED, pid=55, started_at=Timestamp(9.0))
    store(hand.folder, known)
    hand.alive.add((55, "run-one"))
    hand.runs.take_in(hand.folder)
    assert hand.views == [replace(known, why="ran on without the console")]
    assert hand.made == [Process(55, "run-one", hand.folder / "runs" / "run-one")]
    assert hand.ended == []
    hand.gate.close()
    assert hand.made[0].signals == [STOP]
    assert hand.runs.stop("run-one")


@pytest.mark.parametrize(
    ("state", "pid", "alive"),
    [
        (SkillRunState.DETACHED, 55, (55, "another")),
        (SkillRunState.DETACHED, None, (55, "run-one")),
        (SkillRunState.RUNNING, 55, (55, "run-one")),
    ],
)
def test_any_other_run_that_was_alive_is_ended_and_shown_as_ended_with_the_console(
    hand: Hand, state: SkillRunState, pid: int | None, alive: tuple[int, str]
) -> None:
    known = new_view(
        "run-one", state=state, pid=pid, started_at=Timestamp(9.0), next_at=Timestamp(90.0)
    )
    store(hand.folder, known)
    hand.alive.add(alive)
    hand.runs.take_in(hand.folder)
    over = replace(
        known, state=SkillRunState.STOPPED, why="the console ended", ended_at=Timestamp(9.0),
        pid=None, next_at=None,
    )  # fmt: skip
    assert (hand.views, hand.ended, hand.made) == ([over], ["run-one"], [])


@pytest.mark.parametrize(
    "state", [SkillRunState.STOPPED, SkillRunState.DONE, SkillRunState.CRASHED]
)
def test_an_ended_run_is_shown_as_it_was_and_nothing_is_ended(
    hand: Hand, state: SkillRunState
) -> None:
    known = filled(SkillRunView, 5, run_id="run-one", state=state, budget=Micros(5_000_000))
    store(hand.folder, known)
    hand.runs.take_in(hand.folder)
    assert (hand.views, hand.ended) == ([known], [])
    assert stored(hand.folder, "run-one") == asdict(known)


@pytest.mark.parametrize(
    ("started_at", "output_at", "last"),
    [(5.0, 8.0, 8.0), (8.0, 5.0, 8.0), (5.0, None, 5.0), (None, 8.0, 8.0), (None, None, None)],
)
def test_a_run_that_died_with_its_console_ended_with_its_last_sign_of_life(
    hand: Hand, started_at: float | None, output_at: float | None, last: float | None
) -> None:
    known = filled(
        SkillRunView, 6, run_id="run-one", state=SkillRunState.RESTING, pid=55,
        started_at=started_at, output_at=output_at,
    )  # fmt: skip
    store(hand.folder, known)
    assert known_runs(hand.folder) == (
        replace(known, state=SkillRunState.STOPPED, why="the console ended", ended_at=last,
                pid=None, next_at=None),
    )  # fmt: skip
    hand.alive.add((55, "run-one"))
    assert known_runs(hand.folder) == (known,)


def test_stored_runs_come_in_the_order_of_their_start_and_broken_ones_are_left_out(
    hand: Hand,
) -> None:
    for run_id, started_at in (("a", 900.0), ("b", None), ("c", 0.5), ("d", 500.0)):
        store(
            hand.folder,
            filled(SkillRunView, 7, run_id=run_id, state=SkillRunState.DONE, started_at=started_at),
        )
    (hand.folder / "runs" / "e").mkdir()
    for name, text in (("f", "{"), ("g", "[]"), ("h", '{"pace": "once"}')):
        (hand.folder / "runs" / name).mkdir()
        (hand.folder / "runs" / name / "run.json").write_text(text)
    assert [one.run_id for one in known_runs(hand.folder)] == ["b", "c", "d", "a"]
    assert known_runs(hand.folder / "nowhere") == ()


async def test_a_desk_beside_a_holder_shows_the_holders_runs_now_and_then(hand: Hand) -> None:
    held = hand.folder / "held"
    hand.runs = SkillRuns(hand.folder, hand.clock, hand.gate, hand.facts.append, held_in=held)
    done = filled(SkillRunView, 8, run_id="done", state=SkillRunState.DONE, started_at=5.0)
    store(held, done)

    async def turn(by_s: float) -> list[str]:
        before = len(hand.views)
        await hand.clock.advance(by_s)
        # The disk is read beside the loop.
        for _ in range(200):
            await asyncio.sleep(0.001)
            if len(hand.views) > before:
                break
        return [one.run_id for one in hand.views[before:]]

    async with running(hand):
        assert await turn(0) == ["done"]
        assert hand.view == done
        assert hand.runs.folder_of("done") == held / "runs" / "done"
        assert hand.runs.folder_of("other") == hand.folder / "runs" / "other"
        # Its output can be read here as well.
        (held / "runs" / "done" / LOG).write_text("last words\n")
        hand.runs.look_at("done")
        hand.runs.look()
        assert hand.tails == [LogTailView("done", ("last words",))]
        # What is shown already is not told again, and what is newer is.
        store(held, replace(done, run_id="next"))
        store(held, replace(done, run_id="mine"))
        hand.begin("mine")
        hand.runs.look()
        hand.runs._look_again_at = hand.clock.monotonic()
        assert await turn(1) == ["next"]
        assert hand.runs._look_again_at == pytest.approx(
            hand.clock.monotonic() + HELD_LOOK_S, abs=1
        )


async def test_once_this_desk_holds_the_directory_it_reads_no_holders_runs(hand: Hand) -> None:
    held = hand.folder / "held"
    hand.runs = SkillRuns(hand.folder, hand.clock, hand.gate, hand.facts.append, held_in=held)
    hand.runs.take_in(held)
    store(held, new_view("late", state=SkillRunState.DONE))
    await hand.runs._show_held()
    assert hand.views == []
