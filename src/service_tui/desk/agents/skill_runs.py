"""Skills that this desk runs: started, watched, restarted, suspended by the halt, ended.

Nothing here waits for a process: a look every fifth of a second decides what is next.
"""

import asyncio
import logging
import os
import signal
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final, NamedTuple, Protocol

from service_tui.clock import Clock
from service_tui.desk.agents.run_records import FOLDER, keep_older, keep_record, stored_records
from service_tui.desk.changes import Changed, Removed
from service_tui.desk.facts import Fact
from service_tui.desk.gate import Gate
from service_tui.desk.slices.supervision import LogTailView, Pace, SkillRunState, SkillRunView
from service_tui.skills.process import (
    LOG,
    Launch,
    SkillProcess,
    bound_log,
    end_tagged,
    is_run,
    report_of,
    tail,
)
from service_tui.storage.errors import StorageError
from service_tui.units import Timestamp

log = logging.getLogger(__name__)

LOOK_S: Final = 0.2
GRACE_S: Final = 3.0
"""How long a skill may take to end after SIGTERM; then it is killed."""

CLOSING_S: Final = 1.5
"""The same when the console ends, which has little time itself."""

RESTARTS_MAX: Final = 5
BACKOFF_S: Final = (1.0, 2.0, 4.0, 8.0, 16.0)
"""How often a crash is forgiven in a row, and how long each is waited after."""

STEADY_S: Final = 60.0
"""A run that lasted so long is no crash in a row."""

RUN_MAX_S: Final = 300.0
"""Of a run that is to end by itself. Source: wire reference, section 10."""

RUNS_MAX: Final = 40
"""ours: at one time; twenty agents with two skills each."""

OUTPUT_EVERY_S: Final = 30.0
"""Least pause between two updates of a run's time of output."""

HOLDER_LOOK_S: Final = 3.0
"""How old what is shown of another program's runs may be."""

ENDED_WITH_CONSOLE: Final = "the console ended"


class Process(Protocol):
    """A skill's process, as `SkillProcess` is one."""

    @property
    def pid(self) -> int:
        """Number of the process."""
        ...

    def exit_code(self) -> int | None:
        """Exit status; None while it runs."""
        ...

    def signal(self, number: signal.Signals) -> None:
        """Send a signal; raises OSError where it may not be."""
        ...

    def detach(self, *, detached: bool) -> None:
        """Let it outlive the console, or not; raises OSError if that cannot be written."""
        ...

    def kill(self) -> None:
        """End it and everything that it has started."""
        ...

    def leave(self) -> None:
        """Let go of it; it runs on."""
        ...


class Processes:
    """Starts processes of this machine, and finds those of an earlier start."""

    def start(self, launch: Launch) -> Process:
        """Start a skill; raises OSError if that fails."""
        return SkillProcess.start(launch, os.environ)

    def found(self, view: SkillRunView) -> Process | None:
        """The living process of a run of an earlier start; None if it has ended."""
        if view.pid and is_run(view.pid, view.run_id):
            return SkillProcess(view.pid, view.run_id)
        return None

    def end(self, run_id: str) -> None:
        """End whatever a run has left behind."""
        end_tagged(run_id)


class AfterExit(NamedTuple):
    """What becomes of a run whose process has ended."""

    state: SkillRunState
    why: str = ""
    restarts: int = 0
    wait_s: float | None = None


def after_exit(view: SkillRunView, code: int, lasted_s: float) -> AfterExit:
    """State of a run after this exit code; with a wait if it is to start again."""
    if view.state is SkillRunState.STOPPING:
        return AfterExit(SkillRunState.STOPPED, view.why, view.restarts)
    if code == 0 and view.pace is not Pace.EVERY:
        return AfterExit(SkillRunState.DONE, "", view.restarts)
    if code == 0:
        return AfterExit(SkillRunState.RESTING, wait_s=max(0.0, view.every_s - lasted_s))
    how = f"exit code {code}" if code > 0 else f"ended by signal {-code}"
    restarts = 0 if lasted_s > STEADY_S else view.restarts
    if restarts >= RESTARTS_MAX:
        why = f"{how}, {restarts + 1} times in a row"
        return AfterExit(SkillRunState.CRASHED, why, view.restarts)
    wait_s = BACKOFF_S[min(restarts, len(BACKOFF_S) - 1)]
    why = f"{how}; retrying in {wait_s:.0f} s"
    return AfterExit(SkillRunState.BACKING_OFF, why, restarts + 1, wait_s)


@dataclass(slots=True)
class _Run:
    """A run with what only this room knows of it. Durations are by the monotonic clock."""

    view: SkillRunView
    launch: Launch
    process: Process | None = None
    began: float = 0.0
    due: float = 0.0
    kill_at: float | None = None
    is_suspended: bool = False
    log_size: int = 0
    then: tuple[SkillRunView, Launch] | None = None

    @property
    def name(self) -> str:
        """Name of the run in the halt's sentences."""
        return f"{self.view.skill_slug} as {self.view.agent_name} ({self.view.run_id[:6]})"

    def suspend(self) -> None:
        """Suspend the process; raises OSError if that fails."""
        self.is_suspended = True
        if self.process is not None:
            self.process.signal(signal.SIGSTOP)

    def go_on(self) -> None:
        """Run on."""
        self.is_suspended = False
        if self.process is not None:
            self.process.signal(signal.SIGCONT)


class SkillRuns:
    """Every run of this desk, living or ended; and those of the program that holds the directory.

    A desk beside a holder shows the holder's runs as they are written down, and looks after them
    itself once it holds the directory.
    """

    def __init__(
        self,
        data_dir: Path,
        clock: Clock,
        gate: Gate,
        emit: Callable[[Fact], None],
        *,
        holder_dir: Path | None = None,
        processes: Processes | None = None,
    ) -> None:
        """Make an empty list.

        Args:
            data_dir: where this desk keeps its own.
            clock: time.
            gate: what suspends runs while trading is halted.
            emit: takes the view of each run.
            holder_dir: the directory that another program holds; None: it is this desk's own.
            processes: what starts and finds processes; None: those of this machine.
        """
        self._data_dir = data_dir
        self._folder = data_dir / FOLDER
        self._holder_dir = holder_dir
        self._processes = processes or Processes()
        self._shown: dict[str, SkillRunView] = {}
        self._look_again_at = 0.0
        self._clock = clock
        self._gate = gate
        self._emit = emit
        self._runs: dict[str, _Run] = {}
        self._tail_of = ""
        self._tail_at = 0
        self._woken = asyncio.Event()

    @property
    def is_full(self) -> bool:
        """True if no other run fits."""
        return sum(run.view.state.is_alive for run in self._runs.values()) >= RUNS_MAX

    def folder_of(self, run_id: str) -> Path:
        """Folder of a run's output."""
        run = self._runs.get(run_id)
        if run is not None:
            return run.launch.folder
        if self._holder_dir is not None and run_id in self._shown:
            return self._holder_dir / FOLDER / run_id
        return self._folder / run_id

    # -- what is ordered -------------------------------------------------------------------

    def begin(self, view: SkillRunView, launch: Launch) -> None:
        """Accept a run; it starts at the next check."""
        known = replace(view, state=SkillRunState.STARTING, log_path=str(launch.folder / LOG))
        run = _Run(known, launch, due=self._clock.monotonic())
        self._runs[view.run_id] = run
        self._gate.watch(run)
        self._update(run)
        self._woken.set()

    def stop(self, run_id: str, why: str = "by hand") -> bool:
        """Stop a run; False if no such run is alive."""
        run = self._runs.get(run_id)
        if run is None or not run.view.state.is_alive:
            return False
        if run.process is None:
            self._over(run, SkillRunState.STOPPED, why)
            return True
        run.kill_at = self._clock.monotonic() + GRACE_S
        self._signal(run, signal.SIGTERM)
        # A stopped process receives no signal until it continues.
        self._signal(run, signal.SIGCONT)
        self._update(run, state=SkillRunState.STOPPING, why=why)
        return True

    def restart(self, view: SkillRunView, launch: Launch) -> None:
        """Stop a run if it is alive, and start it again."""
        run = self._runs.get(view.run_id)
        if run is not None and self.stop(view.run_id) and run.process is not None:
            run.then = view, launch
        else:
            self.begin(view, launch)

    def detach(self, run_id: str, *, detached: bool) -> bool:
        """Let a run outlive the console, or undo that.

        False if it does not run or cannot be marked.
        """
        run = self._runs.get(run_id)
        if run is None or run.process is None:
            return False
        try:
            run.process.detach(detached=detached)
        except OSError as error:
            log.warning("%s: %s", run.name, error)
            return False
        self._update(run, state=SkillRunState.DETACHED if detached else SkillRunState.RUNNING)
        return True

    def look_at(self, run_id: str) -> None:
        """Show the end of a run's output from now on; empty: of none."""
        self._tail_of, self._tail_at = run_id, -1
        self._woken.set()
        if not run_id:
            self._emit(Removed(LogTailView))

    # -- what passes -----------------------------------------------------------------------

    async def run(self) -> None:
        """Watch all runs, for ever; while there is none, wait for one."""
        while True:
            if not self._has_work():
                self._woken.clear()
                await self._woken.wait()
            self.look()
            await self._show_runs_of_holder()
            await self._clock.sleep(LOOK_S)

    def _has_work(self) -> bool:
        is_watching = self._holder_dir is not None or bool(self._tail_of)
        return is_watching or any(run.view.state.is_alive for run in self._runs.values())

    async def _show_runs_of_holder(self) -> None:
        """Show the runs of the program that owns the directory, as stored on disk."""
        if self._holder_dir is None or self._clock.monotonic() < self._look_again_at:
            return
        self._look_again_at = self._clock.monotonic() + HOLDER_LOOK_S
        for view in await asyncio.to_thread(known_runs, self._holder_dir):
            # Runs that were adopted meanwhile emit their own changes.
            if view.run_id not in self._runs and self._shown.get(view.run_id) != view:
                self._shown[view.run_id] = view
                self._emit(Changed(view))

    def look(self) -> None:
        """Check every live run and the output on screen once."""
        now = self._clock.monotonic()
        for run in list(self._runs.values()):
            if run.view.state.is_alive:
                self._look_after(run, now)
        if self._tail_of in self._runs or self._tail_of in self._shown:
            self._show_tail(self._tail_of)

    def _look_after(self, run: _Run, now: float) -> None:
        if run.process is None:
            if now >= run.due and not run.is_suspended:
                self._start(run, now)
            return
        bound_log(run.launch.folder)
        self._note_output(run)
        code = run.process.exit_code()
        if code is not None:
            self._ended(run, code, now)
        elif run.kill_at is not None and now >= run.kill_at:
            run.process.kill()
        elif (
            run.kill_at is None
            and run.view.pace is not Pace.LOOP
            and not run.is_suspended
            and now - run.began > RUN_MAX_S
        ):
            self.stop(run.view.run_id, f"ran longer than {RUN_MAX_S:.0f} s")
        else:
            self._note_suspension(run)

    def _note_output(self, run: _Run) -> None:
        """Note the time of new output; a run without any for long is shown as silent."""
        with suppress(OSError):
            size = (run.launch.folder / LOG).stat().st_size
            now, noted_at = self._clock.now(), run.view.output_at
            if size != run.log_size and (
                noted_at is None or not 0 <= now - noted_at < OUTPUT_EVERY_S
            ):
                run.log_size = size
                self._update(run, output_at=now)

    def _note_suspension(self, run: _Run) -> None:
        """Update the view when the halt suspends or resumes the process."""
        if run.is_suspended and run.view.state is SkillRunState.RUNNING:
            self._update(run, state=SkillRunState.SUSPENDED, why="trading is halted")
        elif not run.is_suspended and run.view.state is SkillRunState.SUSPENDED:
            self._update(run, state=SkillRunState.RUNNING, why="")

    def _start(self, run: _Run, now: float) -> None:
        try:
            run.process = self._processes.start(run.launch)
        except OSError as error:
            self._over(run, SkillRunState.CRASHED, f"cannot start: {error.strerror}")
            return
        run.began, run.kill_at = now, None
        self._update(
            run,
            state=SkillRunState.RUNNING,
            pid=run.process.pid,
            started_at=self._clock.now(),
            next_at=None,
            runs_count=run.view.runs_count + 1,
        )

    def _ended(self, run: _Run, code: int, now: float) -> None:
        """Clean up after a process that ended, and decide whether it runs again."""
        process, run.process = run.process, None
        if process is not None:
            process.kill()
        report = report_of(tail(run.launch.folder)) or run.view.report
        self._update(run, pid=None, exit_code=code, report=report)
        after = after_exit(run.view, code, now - run.began)
        if after.wait_s is None:
            self._over(run, after.state, after.why)
            return
        run.due = now + after.wait_s
        self._update(
            run,
            state=after.state,
            restarts=after.restarts,
            next_at=Timestamp(self._clock.now() + after.wait_s),
            why=after.why,
        )

    def _over(self, run: _Run, state: SkillRunState, why: str, at: Timestamp | None = None) -> None:
        self._gate.release(run.name)
        ended_at = self._clock.now() if at is None else at
        self._update(run, state=state, why=why, ended_at=ended_at, pid=None, next_at=None)
        if run.then is not None:
            self.begin(*run.then)

    def _signal(self, run: _Run, number: signal.Signals) -> None:
        if run.process is not None:
            try:
                run.process.signal(number)
            except OSError as error:
                log.warning("%s: %s", run.name, error)

    def _show_tail(self, run_id: str) -> None:
        folder = self.folder_of(run_id)
        with suppress(OSError):
            size = (folder / LOG).stat().st_size
            if size != self._tail_at:
                self._tail_at = size
                self._emit(Changed(LogTailView(run_id, tail(folder))))

    def _update(self, run: _Run, **changes: object) -> None:
        """Change a run's view and store it; a disk that fails loses only the stored copy."""
        run.view = replace(run.view, **changes)  # pyright: ignore[reportArgumentType]
        self._emit(Changed(run.view))
        with suppress(OSError):
            run.launch.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        try:
            keep_record(self._data_dir, run.view)
        except StorageError as error:
            log.warning("the state of %s was not stored: %s", run.name, error)

    # -- over a restart --------------------------------------------------------------------

    def take_in(self, data_dir: Path) -> None:
        """Adopt the detached runs of a directory that are alive, and no others."""
        if data_dir == self._holder_dir:
            self._holder_dir = None
        try:
            keep_older(data_dir)
        except StorageError as error:
            log.warning("the runs of an older program were not kept: %s", error)
        for run in _written(data_dir):
            self._runs[run.view.run_id] = run
            self._find_again(run)
        self._woken.set()

    def _find_again(self, run: _Run) -> None:
        view = run.view
        if not view.state.is_alive:
            self._emit(Changed(view))
            return
        is_detached = view.state is SkillRunState.DETACHED
        found = self._processes.found(view) if is_detached else None
        if found is not None:
            run.process = found
            run.began = self._clock.monotonic()
            self._gate.watch(run)
            self._update(run, why="ran on without the console")
            return
        self._processes.end(view.run_id)
        self._over(run, SkillRunState.STOPPED, ENDED_WITH_CONSOLE, _last_sign(view))

    async def close(self) -> None:
        """End all runs but the detached: SIGTERM first, then SIGKILL."""
        going = [run for run in self._runs.values() if self._ends_with_us(run)]
        for run in going:
            self._signal(run, signal.SIGTERM)
            self._signal(run, signal.SIGCONT)
        for _ in range(round(CLOSING_S / 0.05)):  # a closing desk waits in real time
            if all(run.process is None or run.process.exit_code() is not None for run in going):
                break
            await asyncio.sleep(0.05)
        for run in self._runs.values():
            if run in going:
                if run.process is not None:
                    run.process.kill()
                    run.process = None
                self._over(run, SkillRunState.STOPPED, ENDED_WITH_CONSOLE)
            elif run.process is not None:
                run.process.leave()

    @staticmethod
    def _ends_with_us(run: _Run) -> bool:
        return run.view.state.is_alive and run.view.state is not SkillRunState.DETACHED


def known_runs(data_dir: Path) -> tuple[SkillRunView, ...]:
    """Stored runs of a directory, for a reader that ends and adopts nothing."""
    return tuple(_as_it_is(view) for view in stored_records(data_dir))


def suspend_known(data_dir: Path) -> int:
    """Suspend the runs of a directory that go on without a desk, and count them.

    StorageError names those that cannot be; the others are suspended all the same.

    The desk that finds them again does the same while it is halted, and lets them run on after it.
    """
    going = [view for view in known_runs(data_dir) if view.state.is_alive and view.pid]
    loose: list[str] = []
    for view in going:
        process = SkillProcess(view.pid or 0, view.run_id)
        try:
            process.signal(signal.SIGSTOP)
        except OSError as error:
            loose.append(f"{view.skill_slug}: {error.strerror}")
    if loose:
        raise StorageError(f"not suspended: {'; '.join(loose)}")
    return len(going)


def _as_it_is(view: SkillRunView) -> SkillRunView:
    """A run that was alive when it was written down may have ended with its console."""
    if not view.state.is_alive or (view.pid and is_run(view.pid, view.run_id)):
        return view
    ended_at = _last_sign(view)
    return replace(
        view,
        state=SkillRunState.STOPPED,
        why=ENDED_WITH_CONSOLE,
        ended_at=ended_at,
        pid=None,
        next_at=None,
    )


def _last_sign(view: SkillRunView) -> Timestamp | None:
    """Last known sign of life of a run that died with its console."""
    signs = [at for at in (view.started_at, view.output_at) if at is not None]
    return max(signs, default=None)


def _written(data_dir: Path) -> list[_Run]:
    """Stored runs; their launch parameters are made again when they start."""
    return [
        _Run(view, Launch(view.run_id, data_dir / FOLDER / view.run_id, Path(), (), {}))
        for view in stored_records(data_dir)
    ]
