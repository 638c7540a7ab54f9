"""The session: init, run, log and backtest, with everything on disk before the answer.

One server works in a repository at one time.

A result is kept in steps, each of which a restart can take up: a note of what is about to happen,
the line (flushed), the commit or the revert, the end of the note, the service.
"""

import fcntl
import json
import logging
import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from service_tui.autoresearch.errors import BusyError, ToolError
from service_tui.autoresearch.file import fresh, notes_of, size_of
from service_tui.autoresearch.remote import Remote, failure
from service_tui.autoresearch.result_sender import ResultSender
from service_tui.autoresearch.runner import (
    Output,
    Ran,
    end_marked,
    environment_of,
    run,
    temporary,
)
from service_tui.autoresearch.unfinished import Begun
from service_tui.autoresearch.worktree import Repository, Worktree, check_idle, named_among
from service_tui.client.errors import ServiceError
from service_tui.clock import Clock
from service_tui.config import DATA_VARIABLE
from service_tui.experiments import SeriesState
from service_tui.notes import notebook, registry
from service_tui.notes.notebook import Config, Logged, Notes
from service_tui.notes.registry import Live, RegistryEntry
from service_tui.plain_files import folder_below
from service_tui.skills.guard import Rules
from service_tui.skills.process import DEVICES
from service_tui.storage.db.lock import open_private
from service_tui.storage.errors import UnreadableDirectoryError
from service_tui.terms import ExperimentStatus, SessionState
from service_tui.wire.research import BacktestBody, BacktestRequest, StateBody
from service_tui.wire.research_tools import InitArguments, LogArguments, RunArguments

COMMAND_MAX: Final = 60


def description_of(
    config: Config, series: SeriesState, cap: int, warnings: Sequence[str]
) -> dict[str, object]:
    """Fields that describe a session, with a warning if it is nearly full."""
    texts = list(warnings)
    if series.near_cap and series.state is SessionState.RUNNING:
        texts.append(f"{series.count} of {cap} experiments are done: a command runs up to {cap}")
    return {
        "skill": config.skill,
        "session": config.name,
        "state": series.state.value,
        "why": series.why or None,
        "experiments": series.count,
        "max_experiments": cap,
        "kept": series.kept,
        "discarded": series.discarded,
        "crashed": series.crashed,
        "crashes_in_row": series.crashes_in_row,
        "metric": config.metric_name,
        "direction": config.direction.value,
        "baseline": series.baseline,
        "best": series.best,
        "confidence": series.confidence,
        "warnings": texts,
    }


def segment_after(before: Config | None, state: StateBody | None, name: str) -> int:
    """The segment of a new session: after those of its file, and of the service."""
    segment = 0 if before is None else before.segment + 1
    if state is None or not state.last_experiment_number:
        return segment
    # Another process may have come further than this file.
    is_its = before is None and state.session == name
    return max(segment, state.current_segment + (0 if is_its else 1))


def check_same(config: Config, request: InitArguments) -> None:
    """Refuse a session of the same name that measures something else.

    Raises:
        ToolError: the metric or its direction is another.
    """
    if (config.metric_name, config.direction) != (request.metric_name, request.direction):
        raise ToolError(
            f"the session {config.name} measures {config.metric_name}, "
            f"{config.direction.value} is better",
            "give a new name to measure something else",
        )


def confidence_of(results: list[Logged], config: Config) -> float | None:
    """Confidence that a session's best result is real."""
    notes = Notes(configs=[config], results=results)
    return notes.standing_of(config).confidence


def message_of(one: Logged) -> str:
    """A commit's message: the description, and the result. Source: wire reference, 9.2."""
    result = {
        "status": one.status.value,
        one.config.metric_name: one.metric,
        **one.metrics,
    }
    return f"{one.description}\n\nExperiment: {one.run}\nResult: {json.dumps(result)}\n"


def metric_of(request: LogArguments) -> float | None:
    """The figure of a result; a crash may have none."""
    return None if request.status.is_crash and not request.metric else request.metric


def shortened(command: str) -> str:
    """A command as a sentence can hold it."""
    text = " ".join(command.split())
    return text if len(text) <= COMMAND_MAX else f"{text[:COMMAND_MAX]}..."


def untouched(paths: Sequence[str]) -> list[str]:
    """Warning about paths that a result neither kept nor reverted; none without them."""
    if not paths:
        return []
    why = "a repository of its own, or what may not be changed"
    return [f"neither kept nor reverted: {named_among(paths)} ({why})"]


def after(ran: Ran, deadline_s: float) -> str:
    """Advice on the next step after a command."""
    if ran.timed_out:
        return f"it took longer than {deadline_s:g} s and was ended; log it as crash or discard"
    if not ran.succeeded:
        return "it failed: log it as crash, or fix it and run it again"
    return "log it as keep or discard"


log = logging.getLogger(__name__)

SHOW_EVERY_S: Final = 0.3
ALLOW_FIX: Final = (
    "a person allows them by starting the server with --allow-shell; edit the skill yourself and "
    "use backtest_experiment meanwhile"
)
FIRST_INIT: Final = "call init_experiment first"
OFF_FIX: Final = "a person did that; init_experiment with a new name turns it on, if they agree"


@dataclass(frozen=True, slots=True)
class Means:
    """Dependencies and bounds of a session.

    `api` are the variables with which an experiment of a skill reaches the service now, or the
    data directory that it gets; `hidden` are folders with keys, which it cannot read.
    """

    repository: Repository
    remote: Remote
    clock: Clock
    data_dir: Path
    environment: Mapping[str, str]
    cap: int
    allows_shell: bool = False
    mark: str = ""
    api: Callable[[str], Mapping[str, str]] = lambda _: {}
    hidden: tuple[Path, ...] = ()


class Session:
    """The sessions of one repository, one of them the current one."""

    def __init__(self, means: Means) -> None:
        self._means = means
        self._file = means.repository.file
        self._size = size_of(self._file)
        self._notes = notes_of(means.repository)
        self._config: Config | None = self._notes.configs[-1] if self._notes.configs else None
        if self._config is not None and self._config.skill in self._notes.off:
            self._config = None
        self._offset: dict[str, int] = {}
        self._sender = ResultSender(means.remote, self._notes, self._file)
        self._entry = RegistryEntry(
            repository=str(means.repository.root), pid=os.getpid(), allows_shell=means.allows_shell
        )
        self._entry_path = registry.path_of(means.data_dir, means.repository.root)
        self._begun = Begun(self._store)
        self._notice = ""
        self._shown_at = 0.0
        self._lock: int | None = None

    @property
    def notes(self) -> Notes:
        """Content of the file."""
        return self._notes

    # -- opening and closing ---------------------------------------------------------------

    async def open(self) -> None:
        """Take the repository, finish a half-done step of an earlier server, report its end.

        Raises:
            ToolError: another server works here, or the folder cannot be written.
        """
        self._take_lock()
        self._end_left_over()
        for skill in {one.skill for one in self._notes.configs}:
            await self._recover(skill)
        self._show()
        await self._sender.sync()

    def close(self) -> None:
        """Release the repository."""
        registry.write(self._entry_path, replace(self._entry, pid=0))
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None

    def _take_lock(self) -> None:
        path = self._store / "lock"
        try:
            self._store.mkdir(exist_ok=True)
            with folder_below(self._store.parent, self._store):
                pass
            descriptor = open_private(path, os.O_RDWR | os.O_CREAT)
        except UnreadableDirectoryError as error:
            raise ToolError(str(error), "then start the server again") from error
        except OSError as error:
            raise ToolError(
                f"{self._store} cannot be written ({error.strerror})",
                "give the server a repository that it may write",
            ) from error
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            os.close(descriptor)
            raise BusyError(
                "another autoresearch server works in this repository", "end it first"
            ) from error
        self._lock = descriptor

    @property
    def _store(self) -> Path:
        return self._means.repository.store / "autoresearch"

    # -- the four tools --------------------------------------------------------------------

    async def init(self, request: InitArguments) -> dict[str, object]:
        """Begin a session, or continue the one of that name."""
        with suppress(ToolError):
            self._catch_up()
        state = await self._sender.state_of(request.skill_slug)
        repository = self._means.repository
        before = self._notes.config_of(request.skill_slug)
        is_same = before is not None and before.name == request.name
        if request.skill_slug in self._notes.off:
            is_same = False
        await check_idle(repository)
        worktree = Worktree(repository, request.skill_slug)
        await worktree.open()
        await worktree.check_branch()
        if before is not None and is_same:
            check_same(before, request)
            config = before
            if self._config != config:
                self._write(config.line())
        else:
            config = self._new_config(request, before, state)
            self._write(config.line())
        self._config = config
        self._offset[config.skill] = 0 if state is None else state.last_experiment_number
        await self._sender.sync()
        await self._sender.begin(config)
        self._show(worktree)
        return self._description({
            "session": config.name,
            "resumed": bool(before is not None and is_same),
            "worktree": str(worktree.folder),
            "branch": worktree.branch,
            "next_experiment": self._next_run(config),
            "say": f"edit the skill in {worktree.folder}: experiments run there",
        })

    def _new_config(
        self, request: InitArguments, before: Config | None, state: StateBody | None
    ) -> Config:
        return Config(
            name=request.name,
            skill=request.skill_slug,
            metric_name=request.metric_name,
            metric_unit=request.metric_unit,
            direction=request.direction,
            segment=segment_after(before, state, request.name),
            started_ms=self._now_ms(),
            cap=self._means.cap,
        )

    async def run(self, request: RunArguments) -> dict[str, object]:
        """Run a command in the worktree, unless the session is paused or full."""
        config = self._current()
        series = self._standing(config)
        if series.state is not SessionState.RUNNING:
            raise ToolError(f"the session is {series.state.value}: {series.why}")
        if not self._means.allows_shell:
            raise ToolError("shell commands are not allowed on this server", ALLOW_FIX)
        await self._sender.check_plan()
        await self._sender.begin(config)
        worktree = Worktree(self._means.repository, config.skill)
        await worktree.open()
        await worktree.check_branch()
        ran = await self._run_in(worktree, request)
        return self._description({
            "exit_code": ran.exit_code,
            "succeeded": ran.succeeded,
            "timed_out": ran.timed_out,
            "duration_seconds": round(ran.took_s, 3),
            "output": ran.tail,
            "output_bytes": ran.size,
            "say": after(ran, request.deadline_s),
        })

    async def _run_in(self, worktree: Worktree, request: RunArguments) -> Ran:
        now = self._means.clock.now
        live = Live(request.command, now(), request.deadline_s)

        def on_output(output: Output) -> None:
            at = self._means.clock.monotonic()
            if at - self._shown_at >= SHOW_EVERY_S:
                self._shown_at = at
                self._show(worktree, live=replace(live, tail=output.tail()))

        self._show(worktree, live=live)
        api = self._means.api(worktree.skill)
        environment = environment_of(
            self._means.environment,
            mark=self._means.mark,
            api=api,
            skill=worktree.skill,
        )
        self._begun.note_run(self._means.mark, request.command)
        self._notice = ""
        output = Output(on_output)
        ended = live
        try:
            ran = await run(
                request.command,
                worktree.folder,
                deadline_s=request.deadline_s,
                environment=environment,
                output=output,
                rules=self._rules(environment, has_lab=DATA_VARIABLE in api),
            )
            ended = replace(live, exit_code=ran.exit_code, timed_out=ran.timed_out)
        finally:
            # A client that goes away, or takes its question back, ends the command.
            self._begun.end_run()
            self._show(worktree, live=replace(ended, tail=output.tail(), ended_at=now()))
        return ran

    def _rules(self, environment: Mapping[str, str], *, has_lab: bool) -> Rules:
        """All is open to an experiment but the folders with keys; the repository in any case.

        Where time is kept back from it, it writes only there and among temporary files: whatever
        else it changed could be run later by somebody who may read that time.
        """
        hidden = tuple(str(path) for path in self._means.hidden)
        own = (str(self._means.repository.root), str(self._means.repository.store))
        if not has_lab:
            return Rules((), ("/", *own), hidden)
        return Rules(("/",), (*own, str(temporary(environment)), *DEVICES), hidden)

    async def log(self, request: LogArguments) -> dict[str, object]:
        """Keep a result: commit it, or revert the worktree."""
        config = self._current()
        metrics = dict(request.secondary_metrics or request.metrics or {})
        if not (request.force or request.status.is_crash):
            self._check_metrics(config, metrics)
        worktree = Worktree(self._means.repository, config.skill)
        await worktree.open()
        result, is_done = await self._written(config, request)
        if result is None:
            result = await self._write_result(worktree, config, request, metrics)
        backup = "" if is_done else await self._carry_out(worktree, result)
        posted = await self._sender.send(result)
        self._show(worktree)
        warnings = await self._sender.verified(result)
        warnings += untouched(await worktree.untouched())
        self._begun.end(config.skill)
        self._notice = ""
        return self._description({
            "experiment": result.run,
            "status": request.status.value,
            "commit": result.commit[: notebook.COMMIT_SHORT]
            if request.status is ExperimentStatus.KEEP
            else None,
            "backup": backup or None,
            "is_new_best": posted,
            "warnings": warnings,
        })

    async def _write_result(
        self,
        worktree: Worktree,
        config: Config,
        request: LogArguments,
        metrics: Mapping[str, float],
    ) -> Logged:
        """Write the line of a result, with its commit prepared."""
        result = Logged(
            run=self._next_run(config),
            commit="",
            metric=metric_of(request),
            metrics=metrics,
            status=request.status,
            description=request.description,
            timestamp_ms=self._now_ms(),
            segment=config.segment,
            config=config,
            asi=request.asi,
        )
        if request.status is ExperimentStatus.KEEP:
            result = replace(result, commit=await worktree.prepare(message_of(result)))
        else:
            result = replace(result, commit=await worktree.tip())
        self._begun.note(result)
        after = [*self._notes.results_of(config), result]
        result = replace(result, confidence=confidence_of(after, config))
        self._write(result.line())
        self._notes.results[-1] = result
        return result

    async def _written(self, config: Config, request: LogArguments) -> tuple[Logged | None, bool]:
        """The result of an earlier try of the same request, whose line is written already.

        A try of another request is finished first: its line says that it was kept.

        Returns:
            The result, None without one; and whether its tree is carried out.
        """
        noted = self._begun.result(config.skill)
        one = None if noted is None else self._result_of(noted.ref)
        if noted is None or one is None:
            return None, False
        earlier = replace(one, commit=noted.commit)
        if (one.status, one.description, one.metric) == (
            request.status, request.description, metric_of(request),
        ):  # fmt: skip
            return earlier, noted.is_done
        if not noted.is_done:
            await self._finish(earlier)
        await self._sender.send(earlier)
        self._begun.end(config.skill)
        return None, False

    def _result_of(self, ref: str) -> Logged | None:
        return next((one for one in reversed(self._notes.results) if one.ref == ref), None)

    async def backtest(self, request: BacktestRequest) -> BacktestBody:
        """Replay a skill's trades under thresholds, on the service."""
        try:
            return await self._means.remote.backtest(request)
        except ServiceError as error:
            raise failure(error) from error

    # -- command line ----------------------------------------------------------------------

    async def check_other_world(self, history: str) -> None:
        """Refuse to keep time of a history back beside a service whose world runs on it.

        Raises:
            ToolError: it does: an experiment could ask it for later prices.
        """
        with suppress(ServiceError):
            if await self._means.remote.history() == history:
                raise ToolError(
                    f"the desk's own world runs on {history}, and would tell later prices",
                    "keep the session on another --data-dir",
                )

    async def reset(self, skill: str) -> dict[str, object]:
        """Begin a fresh baseline under a new name, with the metric of before."""
        return await self.init(fresh(self._notes, skill, self._now_ms()))

    def description(self) -> dict[str, object]:
        """Fields that describe the current session."""
        return {"session": None} if self._config is None else self._description({})

    # -- steps -----------------------------------------------------------------------------

    def _current(self) -> Config:
        self._catch_up()
        if self._config is None:
            raise ToolError("no session", FIRST_INIT)
        return self._config

    def _catch_up(self) -> None:
        """Read lines that a person added to the file: a new session, or its end."""
        size = size_of(self._file)
        if size == self._size:
            return
        self._size = size
        self._notes.become(notes_of(self._means.repository))
        newest = self._notes.configs[-1] if self._notes.configs else None
        is_off = newest is not None and newest.skill in self._notes.off
        was, self._config = self._config, None if is_off else newest
        if is_off and was is not None:
            raise ToolError(f"autoresearch was turned off for {was.skill}", OFF_FIX)

    def _standing(self, config: Config) -> SeriesState:
        return self._notes.standing_of(config, self._means.cap)

    def _next_run(self, config: Config) -> int:
        offset = self._offset.get(config.skill, 0)
        return max(self._notes.last_run(config.skill), offset) + 1

    def _now_ms(self) -> int:
        return int(self._means.clock.now() * 1_000)

    def _write(self, line: Mapping[str, object]) -> None:
        try:
            notebook.append(self._file, line)
        except OSError as error:
            raise ToolError(
                f"{self._file} cannot be written ({error.strerror}); nothing was kept",
                "make room, or let the server write there, then try again",
            ) from error
        self._size = size_of(self._file)
        self._notes.take(dict(line))

    def _check_metrics(self, config: Config, metrics: Mapping[str, float]) -> None:
        """Refuse secondary metrics that cannot be compared with those of before.

        A crash names none, and needs none. Source: decisions, "Secondary metrics".

        Raises:
            ToolError: some are missing, or new.
        """
        results = self._notes.results_of(config)
        named = (one.metrics for one in results if one.metrics and not one.status.is_crash)
        known = next((set(one) for one in named), set[str]())
        missing, new = known - set(metrics), set(metrics) - known
        if missing:
            named = ", ".join(sorted(missing))
            raise ToolError(f"secondary metrics are missing: {named}", "give them as before")
        if new and known:
            named = ", ".join(sorted(new))
            raise ToolError(
                f"secondary metrics are new: {named}", "give force=true to take them in"
            )

    async def _carry_out(self, worktree: Worktree, result: Logged) -> str:
        """Commit or revert the worktree for a result; the ref of what its branch leaves behind."""
        name = str(result.run)
        if result.status is ExperimentStatus.KEEP:
            backup = await worktree.advance(result.commit, name)
        else:
            backup = await worktree.revert(name)
        self._begun.note(result, is_done=True)
        return backup

    def _end_left_over(self) -> None:
        """End the command of a server that was killed."""
        unfinished = self._begun.run()
        if unfinished is None:
            return
        mark, command = unfinished
        left = end_marked(mark)
        log.warning("the server ended while %r ran; %d processes of it were ended", command, left)
        self._notice = (
            f"the server ended while {shortened(command)!r} ran, and the command was stopped: "
            "its result is unknown; run it again, or log it as crash"
        )
        self._begun.end_run()

    async def _recover(self, skill: str) -> None:
        """Finish a result whose line is on disk; forget one whose line is not.

        Whoever requested it has no answer, and is notified when it asks for anything again.
        """
        noted = self._begun.result(skill)
        if noted is None:
            return
        one = self._result_of(noted.ref)
        if one is not None and not noted.is_done:
            await self._finish(replace(one, commit=noted.commit))
        if one is not None:
            self._notice = (
                f"experiment {one.run} ({one.status.value}: {shortened(one.description)}) was kept "
                "before the server ended: do not log it again"
            )
        self._begun.end(skill)

    async def _finish(self, result: Logged) -> None:
        worktree = Worktree(self._means.repository, result.config.skill)
        await worktree.open()
        is_kept = result.status is ExperimentStatus.KEEP
        if is_kept and not await worktree.full_hash(result.commit):
            log.warning("the commit of experiment %d of %s is gone", result.run, worktree.skill)
            return
        await self._carry_out(worktree, result)

    # -- description ---------------------------------------------------------------------------

    def _description(self, more: Mapping[str, object]) -> dict[str, object]:
        """Fields that describe the session, with more of the caller's."""
        if self._config is None:
            raise ToolError("no session", FIRST_INIT)
        config = self._config
        given = more.get("warnings")
        warnings = [str(one) for one in given] if isinstance(given, list) else []  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]
        warnings += [one for one in (self._notice, self._sender.unsent) if one]
        if self._notes.bad_lines:
            warnings.append(f"{self._notes.bad_lines} lines of {self._file} cannot be read")
        return {**more, **description_of(config, self._standing(config), self._means.cap, warnings)}

    def _show(self, worktree: Worktree | None = None, *, live: Live | None = None) -> None:
        """Update the registry entry for observers."""
        skill = worktree.skill if worktree is not None else self._entry.skill
        warning = ""
        if self._config is not None:
            series = self._standing(self._config)
            if series.near_cap:
                warning = f"{series.count} of {self._means.cap} experiments are done"
        self._entry = replace(
            self._entry,
            skill=skill,
            live=live or self._entry.live,
            warning=warning,
            agent_id=self._sender.agent_id,
        )
        registry.write(self._entry_path, self._entry)
