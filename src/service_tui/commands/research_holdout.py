"""Keeps the last third of a history back from a session, and judges the session on it."""

import os
import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from service_tui import pinned_git
from service_tui.app.histories import day, folder_of, folders_of
from service_tui.app.options import Options
from service_tui.autoresearch.errors import ToolError
from service_tui.autoresearch.runner import is_closed
from service_tui.autoresearch.worktree import Repository
from service_tui.commands.evaluate import (
    EvaluateError,
    WorldPeriod,
    kept_report,
    part_of,
    seconds_of,
    skill_of,
    trial_plan,
)
from service_tui.commands.research_arguments import ResearchRequest
from service_tui.experiments import JUDGED_TEXT
from service_tui.notes import holdouts
from service_tui.notes.holdouts import Figures, Holdout, Judgement, UnreadableHoldoutError
from service_tui.notes.notebook import Config, Logged, Notes
from service_tui.skills.guard import UNFENCED, fence_version
from service_tui.skills.package import DOCUMENT
from service_tui.storage.errors import StorageError
from service_tui.storage.history_file import (
    HistoryFile,
    HistorySummary,
    cut,
    history_path,
)
from service_tui.terms import Direction, counted
from service_tui.trials.evaluation import EvaluationError, Progress, evaluate
from service_tui.trials.plan import TrialPlan
from service_tui.trials.report import METRICS, figures_of, report_of, troubles_of
from service_tui.units import Timestamp
from service_tui.wire.text import line

KNOWN_PART: Final = "known time"
LAST_PART: Final = "held back"
LOWER: Final = frozenset({"brier"})
"""Figures of which the lower one is the better."""

NAME_MAX: Final = 160


# -- the begin -----------------------------------------------------------------------------------


def keep_back(options: Options, request: ResearchRequest, repository: Repository) -> Iterator[str]:
    """Keep the last third of a history back from the sessions of a skill.

    Makes the lab: the data directory that its experiments get, with the history until then.

    Args:
        options: the data directory.
        request: the history, the metric, and as its word the skill: a slug.
        repository: where the experiments run.

    Yields:
        Lines for a person.

    Raises:
        ToolError: it cannot be done; gives the reason and the fix.
    """
    _check_metric(request)
    data_dir, skill = options.data_dir.resolve(), request.word
    known = _read(data_dir, repository, skill)
    lab = repository.store / "autoresearch" / "lab" / skill
    try:
        folder = folder_of(request.holdout, folders_of(data_dir))
        path = history_path(folder, request.holdout)
        with HistoryFile(path) as source:
            about = source.about
            _, until = part_of(about.begins_at, about.ends_at, "first")
            _check_rounds(about, until, seconds_of(request.every))
            _check_closed(path, folders_of(data_dir))
            _empty(repository.store, lab)
            cut(source, until, history_path(lab, request.holdout), request.holdout)
    except (EvaluateError, StorageError) as error:
        raise ToolError(str(error)) from error
    except OSError as error:
        raise ToolError(f"{lab} cannot be written ({error.strerror})") from error
    holdout = Holdout(
        repository=str(repository.root),
        skill=skill,
        history=request.holdout,
        digest=about.digest,
        begins_at=about.begins_at,
        until=until,
        ends_at=about.ends_at,
        every=request.every,
        lab=str(lab),
        metric=request.metric,
        judged=() if known is None else known.judged,
    )
    _write(data_dir, holdout)
    yield f"{day(until)} to {day(about.ends_at)} of {about.name} is kept back from {skill}"
    command = f"service-tui evaluate . --history {about.name} --every {request.every}"
    yield f"  in an experiment: {command}"
    looks = sum(
        judged.digest == about.digest
        for one in holdouts.read_all(data_dir)
        for judged in one.judged
    )
    if looks:
        yield f"  {counted(looks, 'session')} judged on it before; each look makes it less honest"
    if not fence_version():
        yield f"  {UNFENCED}: experiments can read the time that is kept back"


def give_back(options: Options, repository: Repository, skill: str) -> str:
    """Keep nothing back from a skill any more; a line for a person.

    Raises:
        ToolError: it cannot be written down.
    """
    data_dir = options.data_dir.resolve()
    holdout = _read(data_dir, repository, skill)
    if holdout is not None and holdout.lab:
        shutil.rmtree(holdout.lab, ignore_errors=True)
        _write(data_dir, replace(holdout, lab=""))
    return f"nothing is kept back from {skill}"


def _check_metric(request: ResearchRequest) -> None:
    if request.metric not in METRICS:
        raise ToolError(
            f"{request.metric[:40]!r} is no figure of 'evaluate'",
            f"with --holdout, --metric is one of {', '.join(METRICS)}",
        )
    better = Direction.LOWER if request.metric in LOWER else Direction.HIGHER
    if request.direction is not better:
        raise ToolError(
            f"a {better.value} {request.metric} is the better one",
            f"give --direction {better.value}",
        )


def _check_rounds(about: HistorySummary, until: float, every_s: float) -> None:
    """Refuse a history of which a part is shorter than a round."""
    if min(until - about.begins_at, about.ends_at - until) < every_s:
        raise ToolError(f"a third of {about.name} is shorter than a round", "give another --every")


def _check_closed(path: Path, folders: Sequence[Path]) -> None:
    """Refuse a history that no fence closes: among temporary files, or behind a link."""
    real = path.resolve()
    if not any(real.is_relative_to(folder.resolve()) for folder in folders):
        raise ToolError(
            f"{path} leads to {real}, which experiments can read",
            "put the file itself there",
        )
    if not is_closed(real.parent, os.environ):
        raise ToolError(
            f"{path.parent} lies among temporary files, which experiments can read",
            "keep histories in another data directory",
        )


def _empty(store: Path, lab: Path) -> None:
    """Make the folder of a lab anew; neither it nor what leads to it stays a link."""
    at = store
    for part in lab.relative_to(store).parts:
        at /= part
        if at.is_symlink():
            at.unlink()
    shutil.rmtree(lab, ignore_errors=True)
    lab.mkdir(parents=True, mode=0o700)


def _read(data_dir: Path, repository: Repository, skill: str) -> Holdout | None:
    try:
        return holdouts.read(holdouts.path_of(data_dir, repository.root, skill))
    except UnreadableHoldoutError as error:
        raise ToolError(str(error), "move it away") from error


def _write(data_dir: Path, holdout: Holdout) -> None:
    try:
        holdouts.write(data_dir, holdout)
    except OSError as error:
        raise ToolError(f"{data_dir} cannot be written ({error.strerror})") from error


# -- the end -------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Judging:
    """Judges the sessions of a repository on the time that was kept back from them.

    `now` is Unix seconds; `show` is called with the progress.
    """

    data_dir: Path
    repository: Repository
    now: float
    show: Callable[[Progress], None]

    async def judge(self, notes: Notes, config: Config) -> Sequence[str]:
        """Judge an ended session, once.

        Returns:
            Lines for a person; none where nothing was kept back.

        Raises:
            ToolError: it cannot be done; gives the reason and the fix.
        """
        holdout = _read(self.data_dir, self.repository, config.skill)
        if holdout is None:
            return ()
        judgement = holdout.judgement_of(config)
        if judgement is None and not holdout.lab:
            return ()
        if judgement is None:
            best = notes.standing_of(config).best_index
            results = notes.results_of(config)
            if best is None:
                return ("nothing was kept: there is nothing to judge on the time held back",)
            try:
                judgement = await self._judged(holdout, config, (results[0], results[best]))
            except (EvaluateError, EvaluationError, StorageError) as error:
                raise ToolError(str(error), f"then 'autoresearch off {config.skill}'") from error
            _write(self.data_dir, holdout.with_judgement(judgement))
        return tuple(table(holdout, judgement))

    async def _judged(
        self, holdout: Holdout, config: Config, both: tuple[Logged, Logged]
    ) -> Judgement:
        until = Timestamp(holdout.until)
        parts = (
            (LAST_PART, until, Timestamp(holdout.ends_at)),
            (KNOWN_PART, Timestamp(holdout.begins_at), until),
        )
        plans: dict[str, TrialPlan] = {}
        keys: list[list[str]] = []
        with tempfile.TemporaryDirectory(prefix="service-tui-") as folder:
            # The best one first: no other trial of this time can tell it what comes.
            for logged in reversed(both):
                skill = await _checked_out(self.repository, logged, Path(folder))
                own = [
                    trial_plan(
                        self.data_dir,
                        skill,
                        WorldPeriod(name, holdout.history, holdout.digest, 0, begins_at, ends_at),
                        every_s=seconds_of(holdout.every),
                    )
                    for name, begins_at, ends_at in parts
                ]
                # The best may be the first, or the same files.
                plans |= {one.key: one for one in own}
                keys.insert(0, [one.key for one in own])
            made = await evaluate(list(plans.values()), 1, self.show)
        reports = {one.plan.key: report_of([one]) for one in made}
        # It opens from screen 6.
        name = f"{holdout.skill}-{holdout.history}-held-back"
        kept_report(self.data_dir, name, reports[keys[1][0]])
        baseline, best = (
            Figures(
                logged.run, logged.metric, figures_of(reports[known]), figures_of(reports[last])
            )
            for logged, (last, known) in zip(both, keys, strict=True)
        )
        runs = {key: logged.run for logged, own in zip(both, keys, strict=True) for key in own}
        return Judgement(
            session=line(config.name, NAME_MAX),
            segment=config.segment,
            started_ms=config.started_ms,
            digest=holdout.digest,
            at=self.now,
            baseline=baseline,
            best=best,
            troubles=tuple(
                f"#{runs[key]} {trouble}"
                for key, report in reports.items()
                for trouble in troubles_of(report)
            ),
        )


async def _checked_out(repository: Repository, logged: Logged, folder: Path) -> Path:
    """The skill as it was in an experiment, in a folder of its own.

    Git gets the repository's objects alone: a setting or a name there, which an experiment may
    have made, says neither which commit that is nor what is run to write its files.

    Raises:
        ToolError: its commit is gone, or holds no such skill.
    """
    skill = logged.config.skill
    place = folder / str(logged.run) / skill
    place.mkdir(parents=True, exist_ok=True)
    own = folder / f"{logged.run}.git"
    for part in ("objects/info", "refs"):
        (own / part).mkdir(parents=True, exist_ok=True)
    (own / "HEAD").write_text("ref: refs/heads/none\n", encoding="utf-8")
    alternates = own / "objects" / "info" / "alternates"
    alternates.write_text(f"{repository.store / 'objects'}\n", encoding="utf-8")
    at = {"GIT_DIR": str(own), "GIT_WORK_TREE": str(place)}
    commit = f"{logged.commit}^{{commit}}"
    await _git(place, at, logged, "read-tree", "--end-of-options", commit)
    await _git(place, at, logged, "checkout-index", "--all", "--force")
    for inside in (place, place / skill, place / "skills" / skill):
        if (inside / DOCUMENT).is_file():
            return skill_of(repository.root, str(inside))
    raise ToolError(f"experiment {logged.run} has no {DOCUMENT} of {skill}")


async def _git(place: Path, at: Mapping[str, str], logged: Logged, *words: str) -> None:
    answer = await pinned_git.call(place, *words, at=at)
    if answer.code:
        raise ToolError(f"the commit of experiment {logged.run} is gone")


def table(holdout: Holdout, judgement: Judgement) -> Iterator[str]:
    """What a session came to, for a person: the figures side by side."""
    yield (
        f"{holdout.metric} of {judgement.session!r} on {holdout.history}, held back from "
        f"{day(holdout.until)} to {day(holdout.ends_at)}"
    )
    yield f"{'':14}{'logged':>12}{KNOWN_PART:>12}{LAST_PART:>12}"
    for name, figures in (("baseline", judgement.baseline), ("best", judgement.best)):
        known, last = figures.known.get(holdout.metric), figures.held_back.get(holdout.metric)
        cells = "".join(f"{_figure(one):>12}" for one in (figures.logged, known, last))
        yield f"{f'{name} #{figures.run}':<14}{cells}"
    yield from judgement.troubles
    yield JUDGED_TEXT


def _figure(value: float | None) -> str:
    return "-" if value is None else f"{value:.4g}"
