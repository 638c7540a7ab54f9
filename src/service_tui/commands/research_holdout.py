"""Keeps the last third of a history back from a session, and judges the session on it."""

import os
import shutil
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from service_tui import pinned_git
from service_tui.app.histories import day, folder_of, folders_of
from service_tui.app.options import Options
from service_tui.autoresearch.errors import ToolError
from service_tui.autoresearch.runner import is_closed
from service_tui.autoresearch.worktree import Repository, Worktree
from service_tui.commands.evaluate import (
    EvaluateError,
    hash_of,
    kept_report,
    part_of,
    seconds_of,
    skill_of,
)
from service_tui.commands.research_arguments import ResearchRequest
from service_tui.inherited import settings_in
from service_tui.notes import holdouts
from service_tui.notes.holdouts import Figures, Holdout, Judgement
from service_tui.notes.notebook import Config, Logged, Notes
from service_tui.skills.guard import UNFENCED, fence_version
from service_tui.skills.package import DAILY_BUDGET_USD, DOCUMENT, settings_of
from service_tui.storage.errors import StorageError
from service_tui.storage.history_file import HistoryFile, HistoryWriter, cut, history_path
from service_tui.terms import Plan, counted
from service_tui.trials.evaluation import EvaluationError, Progress, cores, evaluate
from service_tui.trials.plan import TrialPlan
from service_tui.trials.report import METRICS, figures_of, report_of
from service_tui.units import Timestamp

KNOWN: Final = "known time"
HELD_BACK: Final = "held back"


# -- the begin -----------------------------------------------------------------------------------


def keep_back(options: Options, request: ResearchRequest, repository: Repository) -> Iterator[str]:
    """Keep the last third of a history back from the sessions of a skill.

    Makes the lab: the data directory that its experiments get, with the history until then.

    Yields:
        Lines for a person.

    Raises:
        ToolError: it cannot be done; gives the reason and the fix.
    """
    if request.metric not in METRICS:
        raise ToolError(
            f"{request.metric[:40]!r} is no figure of 'evaluate'",
            f"with --holdout, --metric is one of {', '.join(METRICS)}",
        )
    data_dir, skill = options.data_dir.resolve(), request.word
    lab = repository.store / "autoresearch" / "lab" / skill
    try:
        seconds_of(request.every)
        folder = folder_of(request.holdout, folders_of(data_dir))
        _check_closed((data_dir, folder))
        with HistoryFile(history_path(folder, request.holdout)) as source:
            about = source.about
            _, until = part_of(about.begins_at, about.ends_at, "first")
            known = holdouts.read(holdouts.path_of(data_dir, repository.root, skill))
            _empty(repository.store, lab)
            _write_known(source, until, lab, request.holdout)
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
        judged=known.judged if known is not None and known.digest == about.digest else (),
    )
    try:
        holdouts.write(data_dir, holdout)
    except OSError as error:
        raise ToolError(f"{data_dir} cannot be written ({error.strerror})") from error
    yield f"{day(until)} to {day(about.ends_at)} of {about.name} is kept back from {skill}"
    command = f"service-tui evaluate . --history {about.name} --every {request.every}"
    yield f"  in an experiment: {command}"
    if holdout.judged:
        looks = counted(len(holdout.judged), "session")
        yield f"  {looks} judged on that time before: each look at it fits a little"
    if not fence_version():
        yield f"  {UNFENCED}: experiments can read the time that is kept back"


def give_back(options: Options, repository: Repository, skill: str) -> str:
    """Keep nothing back from a skill any more; a line for a person."""
    holdouts.path_of(options.data_dir.resolve(), repository.root, skill).unlink(missing_ok=True)
    return f"nothing is kept back from {skill}"


def _check_closed(folders: Sequence[Path]) -> None:
    """Refuse to keep anything back in a folder that no fence closes.

    Raises:
        ToolError: it lies among temporary files.
    """
    for folder in folders:
        if not is_closed(folder, os.environ):
            raise ToolError(
                f"{folder} lies among temporary files, which experiments can read",
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


def _write_known(source: HistoryFile, until: float, lab: Path, name: str) -> None:
    writer = HistoryWriter(history_path(lab, name))
    try:
        cut(source, until, writer)
        writer.finish(name)
    except BaseException:
        writer.give_up()
        raise


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
        path = holdouts.path_of(self.data_dir, self.repository.root, config.skill)
        holdout = holdouts.read(path)
        if holdout is None:
            return ()
        judgement = holdout.judgement_of(config.name, config.segment)
        if judgement is None:
            best = notes.standing_of(config).best_index
            results = notes.results_of(config)
            if best is None:
                return ("nothing was kept: there is nothing to judge on the time held back",)
            try:
                judgement = await self._judged(holdout, results[0], results[best])
                holdouts.write(self.data_dir, holdout.with_judgement(judgement))
            except (EvaluateError, EvaluationError, StorageError) as error:
                raise ToolError(str(error), f"then 'autoresearch off {config.skill}'") from error
            except OSError as error:
                raise ToolError(f"{path} cannot be written ({error.strerror})") from error
        return tuple(table(holdout, judgement))

    async def _judged(self, holdout: Holdout, first: Logged, best: Logged) -> Judgement:
        plans: dict[str, TrialPlan] = {}
        pairs: list[tuple[str, str]] = []
        with tempfile.TemporaryDirectory() as folder:
            for logged in (first, best):
                skill = await _checked_out(self.repository, logged, Path(folder))
                pair = (
                    self._plan(holdout, skill, KNOWN, (holdout.begins_at, holdout.until)),
                    self._plan(holdout, skill, HELD_BACK, (holdout.until, holdout.ends_at)),
                )
                # The best may be the first, or the same files.
                plans |= {one.key: one for one in pair}
                pairs.append((pair[0].key, pair[1].key))
            made = await evaluate(list(plans.values()), cores(), self.show)
        reports = {one.plan.key: report_of([one]) for one in made}
        # It opens from screen 6.
        name = f"{holdout.skill}-{holdout.history}-held-back"
        kept_report(self.data_dir, name, reports[pairs[1][1]])
        baseline, judged = (
            Figures(logged.run, figures_of(reports[known]), figures_of(reports[held_back]))
            for logged, (known, held_back) in zip((first, best), pairs, strict=True)
        )
        config = best.config
        return Judgement(
            session=config.name,
            segment=config.segment,
            at=self.now,
            metric=config.metric_name,
            claimed=best.metric,
            baseline=baseline,
            best=judged,
        )

    def _plan(
        self, holdout: Holdout, skill: Path, name: str, span: tuple[float, float]
    ) -> TrialPlan:
        settings = settings_in(os.environ, settings_of(skill.name))
        return TrialPlan(
            name=name,
            slug=skill.name,
            skill=str(skill),
            skill_hash=hash_of(skill),
            data_dir=str(self.data_dir),
            history=holdout.history,
            digest=holdout.digest,
            seed=0,
            begins_at=Timestamp(span[0]),
            ends_at=Timestamp(span[1]),
            every_s=seconds_of(holdout.every),
            budget=DAILY_BUDGET_USD,
            plan=Plan.PRO,
            settings=tuple((one, os.environ[one]) for one in sorted(settings)),
        )


async def _checked_out(repository: Repository, logged: Logged, folder: Path) -> Path:
    """The skill as it was in an experiment, in a folder of its own.

    Raises:
        ToolError: its commit is gone, or holds no such skill.
    """
    skill = logged.config.skill
    worktree = Worktree(repository, skill)
    await worktree.open()
    commit = await worktree.full_hash(logged.commit)
    place = folder / commit[:12] / skill
    place.mkdir(parents=True, exist_ok=True)
    env = {"GIT_INDEX_FILE": str(folder / f"{commit[:12]}.index")}
    for words in (
        ("read-tree", commit),
        ("checkout-index", "--all", "--force", f"--prefix={place}/"),
    ):
        answer = await pinned_git.call(repository.root, *words, env=env, at=repository.at)
        if not commit or answer.code:
            raise ToolError(f"the commit of experiment {logged.run} is gone")
    for inside in (place, place / skill, place / "skills" / skill):
        if (inside / DOCUMENT).is_file():
            return skill_of(repository.root, str(inside))
    raise ToolError(f"experiment {logged.run} has no {DOCUMENT} of {skill}")


def table(holdout: Holdout, judgement: Judgement) -> Iterator[str]:
    """What a session came to, for a person: the figures side by side."""
    yield (
        f"{judgement.metric} of {judgement.session!r} on {holdout.history}, held back from "
        f"{day(holdout.until)} to {day(holdout.ends_at)}"
    )
    yield f"{'':14}{'logged':>12}{KNOWN:>12}{HELD_BACK:>12}"
    rows = (("baseline", judgement.baseline, None), ("best", judgement.best, judgement.claimed))
    for name, figures, logged in rows:
        known, held_back = (
            part.get(judgement.metric) for part in (figures.known, figures.held_back)
        )
        cells = "".join(f"{_figure(one):>12}" for one in (logged, known, held_back))
        yield f"{f'{name} #{figures.run}':<14}{cells}"
    yield "the figure on the time held back counts; a gap is what fitting looks like"


def _figure(value: float | None) -> str:
    return "-" if value is None else f"{value:.4g}"
