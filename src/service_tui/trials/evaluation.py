"""An evaluation: several trials, as many at a time as there are cores, each in its own process."""

import asyncio
import fcntl
import json
import os
import shutil
import subprocess  # a trial is a process of its own
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final, NamedTuple

from service_tui.notes.evaluations import FOLDER
from service_tui.records import read
from service_tui.trials import worker
from service_tui.trials.plan import TrialPlan
from service_tui.trials.trial import TrialResult

TRIALS: Final = "trials"
AMOUNT_MAX: Final = 10**18
"""Micros: more than all the money of a world."""

LOOK_S: Final = 0.1
ENDING_S: Final = 5.0


class Progress(NamedTuple):
    """How far an evaluation is: rounds that are done, of how many, and trades."""

    done: int
    rounds: int
    trades: int


class EvaluationError(Exception):
    """A trial could not be made: one plain sentence."""


def trial_folder(data_dir: Path, key: str) -> Path:
    """Where the result of a trial lies."""
    return data_dir / FOLDER / TRIALS / key


def kept_result(data_dir: Path, key: str) -> TrialResult | None:
    """The result of a trial that was made before; None where there is none that can be read."""
    try:
        raw = (trial_folder(data_dir, key) / worker.RESULT_FILE).read_text(encoding="utf-8")
        result = read(TrialResult, json.loads(raw))
        return result if _is_sound(result, key) else None
    except (OSError, ValueError, TypeError, LookupError, RecursionError, AttributeError):
        return None


def _is_sound(result: TrialResult, key: str) -> bool:
    """Whether a result that was read is that of the trial, and all of it can be counted."""
    ledger, markets = result.ledger, result.ledger.by_id
    whole = [
        *(amount for one in ledger.trades for amount in (one.shares, one.money)),
        *(amount for one in ledger.trades for amount in (one.mirror_shares, one.mirror_money)),
        *(amount for one in ledger.markets for amount in (one.left, one.mirror_left)),
        *(point.equity for point in ledger.curve),
    ]
    return (
        result.plan.key == key
        and all(isinstance(amount, int) and abs(amount) < AMOUNT_MAX for amount in whole)
        and all(one.market_id in markets for one in ledger.trades)
    )


class _Running(NamedTuple):
    plan: TrialPlan
    folder: Path
    process: "subprocess.Popen[bytes]"
    lock: int

    def let_go(self) -> None:
        """Close the pipe with which the process ends, if it has not ended yet."""
        if self.process.stdin is not None:
            self.process.stdin.close()

    def unlock(self) -> None:
        """Let others make this trial."""
        os.close(self.lock)

    def progress(self) -> tuple[int, int]:
        """Rounds and trades so far."""
        try:
            rounds, trades = (self.folder / worker.PROGRESS_FILE).read_text().split()
            return int(rounds), int(trades)
        except (OSError, ValueError):
            return 0, 0


async def evaluate(
    plans: Sequence[TrialPlan],
    at_once: int,
    on_progress: Callable[[Progress], None],
    *,
    again: bool = False,
) -> list[TrialResult]:
    """Make trials; results of earlier runs are reused.

    Args:
        plans: the trials, with different keys.
        at_once: trials at one time.
        on_progress: called with the progress.
        again: make those again as well.

    Returns:
        Their results, in the order of the plans.

    Raises:
        EvaluationError: one could not be made. What was finished is kept for the next time.
    """
    waiting = [one for one in plans if again or kept_result(Path(one.data_dir), one.key) is None]
    rounds, running = sum(one.rounds for one in waiting), list[_Running]()
    done = done_trades = 0
    try:
        while waiting or running:
            while waiting and len(running) < at_once:
                running.append(await asyncio.to_thread(_start, waiting.pop(0)))
            for one in [one for one in running if one.process.poll() is not None]:
                running.remove(one)
                done += one.plan.rounds
                done_trades += _finish(one)
            so_far = [one.progress() for one in running]
            done_now = done + sum(one for one, _ in so_far)
            on_progress(Progress(done_now, rounds, done_trades + sum(one for _, one in so_far)))
            await asyncio.sleep(LOOK_S)
    finally:
        await asyncio.to_thread(_end, running)
    results = [kept_result(Path(one.data_dir), one.key) for one in plans]
    found = [one for one in results if one is not None]
    if len(found) < len(plans):
        raise EvaluationError("the result of a trial cannot be read: evaluate it again")
    return found


def _start(plan: TrialPlan) -> _Running:
    """Start a trial, after removing the files of one that was broken off.

    Raises:
        EvaluationError: another evaluation makes it now, or the folder cannot be written.
    """
    folder = trial_folder(Path(plan.data_dir), plan.key)
    lock = _locked(plan, folder)
    try:
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True, mode=0o700)
        (folder / worker.PLAN_FILE).write_text(plan.as_text(), encoding="utf-8")
        with (folder / "trial.log").open("wb") as log:
            process = subprocess.Popen(  # noqa: S603 - our own program
                [sys.executable, "-m", worker.__name__, str(folder)],
                # The trial ends with this pipe, and so with this process.
                stdin=subprocess.PIPE,
                stdout=log,
                stderr=log,
                # Ctrl+c reaches this process alone, which ends the others.
                start_new_session=True,
            )
    except OSError as error:
        os.close(lock)
        raise EvaluationError(f"{folder} cannot be written: {error.strerror}") from error
    return _Running(plan, folder, process, lock)


def _locked(plan: TrialPlan, folder: Path) -> int:
    """The lock of a trial: no second evaluation removes its files while it is made."""
    path = folder.with_suffix(".lock")
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        lock = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise EvaluationError(f"{path} cannot be written: {error.strerror}") from error
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(lock)
        raise EvaluationError(
            f"the trial {plan.name} of {plan.slug} is made by another evaluation: wait for its end"
        ) from None
    return lock


def _finish(one: _Running) -> int:
    """Take the result of a trial, and remove its world; how many trades it had.

    Raises:
        EvaluationError: it has none.
    """
    one.let_go()
    try:
        result = kept_result(Path(one.plan.data_dir), one.plan.key)
        if result is None:
            why = f"its process ended ({one.process.returncode}): see {one.folder / 'trial.log'}"
            with suppress(OSError):
                why = (one.folder / worker.REFUSED_FILE).read_text(encoding="utf-8")
            raise EvaluationError(f"the trial {one.plan.name} of {one.plan.slug} failed: {why}")
        for path in one.folder.iterdir():
            if path.is_dir():
                shutil.rmtree(path, ignore_errors=True)
        return len(result.ledger.trades)
    finally:
        # Only now may another evaluation remove these files.
        one.unlock()


def _end(running: Sequence[_Running]) -> None:
    """End trials that nobody waits for: a skill ends with the line to its trial."""
    for one in running:
        one.let_go()
        one.process.terminate()
    for one in running:
        try:
            one.process.wait(ENDING_S)
        except subprocess.TimeoutExpired:
            one.process.kill()
            one.process.wait()
        one.unlock()


def cores() -> int:
    """Trials that run at one time: one for each core."""
    return os.cpu_count() or 1
