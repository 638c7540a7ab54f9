"""`service-tui evaluate`: a skill on a history or on invented worlds, judged."""

import argparse
import asyncio
import hashlib
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final, NamedTuple

from service_tui.app.histories import folder_of, folders_of, moment_at
from service_tui.commands.history import progress_text
from service_tui.commands.skills import SkillsError, skill_folder
from service_tui.inherited import settings_in
from service_tui.notes.evaluations import FOLDER, REPORT_FILE, as_text
from service_tui.skills.checking import problems_of
from service_tui.skills.package import DAILY_BUDGET_USD, FILE_MAX, is_slug, settings_of
from service_tui.storage.history_file import HistoryFile, history_path
from service_tui.terms import Plan
from service_tui.trials.evaluation import (
    EvaluationError,
    Progress,
    cores,
    evaluate,
)
from service_tui.trials.plan import INVENTED_BEGINS_AT, ROUND_MIN_S, TrialPlan
from service_tui.trials.report import (
    JudgedEvaluation,
    kept_form,
    markdown,
    metrics,
    report_of,
    trades_csv,
)
from service_tui.units import Timestamp
from service_tui.wire.text import line

DAY_S: Final = 86_400.0
TRIAL_DAYS_MAX: Final = 400.0
SEEDS_MAX: Final = 50
BUDGET_MAX: Final = 1e6
ROUND_MAX_S: Final = 7 * DAY_S
_UNITS: Final = {"s": 1.0, "m": 60.0, "h": 3_600.0, "d": DAY_S}
HELD_BACK: Final = 1 / 3
"""The part of the time that `--holdout` keeps back."""


class EvaluateError(Exception):
    """The command cannot be done; one plain sentence."""


def run_evaluate(
    data_dir: Path,
    arguments: argparse.Namespace,
    *,
    on_progress: Callable[[str], None],
    clock: Callable[[], float],
) -> Iterator[str]:
    """Evaluate, keep the report in the data directory, and give it.

    Args:
        data_dir: where skills, histories and reports lie.
        arguments: those of `evaluate`.
        on_progress: called with the progress.
        clock: seconds since any moment.

    Yields:
        The lines of the report.

    Raises:
        EvaluateError: it cannot be done.
        StorageError: the history cannot be read, or the report not be written.
    """
    data_dir = data_dir.resolve()
    plans = plans_of(data_dir, arguments)
    name = name_of(plans, arguments)
    begun, shown = clock(), ""

    def show(progress: Progress) -> None:
        nonlocal shown
        share = progress.done / max(1, progress.rounds)
        what = f"round {progress.done} of {progress.rounds}, {progress.trades} trades"
        text = progress_text(what, share, clock() - begun)
        if text != shown:
            shown = text
            on_progress(text)

    try:
        results = asyncio.run(evaluate(plans, cores(), show, again=arguments.again))
    except EvaluationError as error:
        raise EvaluateError(str(error)) from error
    report = report_of(results)
    texts = kept_report(data_dir, name, report)
    if arguments.json:
        yield texts[REPORT_FILE].rstrip("\n")
    elif arguments.csv:
        yield from texts["trades.csv"].splitlines()
    else:
        yield from texts["report.md"].splitlines()
        yield from metrics(report)
        yield f"report: {data_dir / FOLDER / name}"


def kept_report(data_dir: Path, name: str, report: JudgedEvaluation) -> Mapping[str, str]:
    """Keep a report in a data directory under a name; its files.

    Raises:
        EvaluateError: the disk refuses.
    """
    texts = {
        "report.md": "\n".join(markdown(report)) + "\n",
        REPORT_FILE: as_text(kept_form(report)),
        "trades.csv": trades_csv(report),
    }
    _keep(data_dir / FOLDER / name, texts)
    return texts


def _keep(folder: Path, texts: dict[str, str]) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        for name, text in texts.items():
            part = folder / f".{name}.part"
            part.write_text(text, encoding="utf-8")
            part.replace(folder / name)
    except OSError as error:
        raise EvaluateError(f"{folder} cannot be written: {error.strerror}") from error


def name_of(plans: Sequence[TrialPlan], arguments: argparse.Namespace) -> str:
    """The name of the report: the requested one, else made of its skills and its world."""
    if arguments.name:
        if not is_slug(arguments.name) or arguments.name == "trials":
            raise EvaluateError(f"{arguments.name[:40]!r} is not of lower-case letters, digits, -")
        return str(arguments.name)
    slugs = "+".join(dict.fromkeys(one.slug for one in plans))[:80]
    part = f"-{arguments.holdout}" if arguments.holdout else ""
    return f"{slugs}-{arguments.history or 'invented'}{part}"


class WorldPeriod(NamedTuple):
    """A world and a period: a history, or an invented one by its seed."""

    name: str
    history: str
    digest: str
    seed: int
    begins_at: Timestamp
    ends_at: Timestamp


def plans_of(data_dir: Path, arguments: argparse.Namespace) -> list[TrialPlan]:
    """The requested trials: each skill on the history, or on each seed.

    Raises:
        EvaluateError: a skill, a time or a number is none.
        HistoryError: there is no such history.
    """
    if not 0 < _budget(arguments) < BUDGET_MAX:
        raise EvaluateError("--budget is an amount of money a day, above 0")
    worlds = list(_worlds(data_dir, arguments))
    plans = [
        trial_plan(
            data_dir,
            skill_of(data_dir, asked),
            world,
            every_s=seconds_of(arguments.every),
            budget=_budget(arguments),
            plan=Plan(arguments.plan or Plan.PRO),
            anew=bool(arguments.anew),
        )
        for asked in arguments.skills
        for world in worlds
    ]
    if len({one.key for one in plans}) < len(plans):
        raise EvaluateError("the same skill was given twice")
    if any(one.rounds < 1 for one in plans):
        raise EvaluateError("the period is shorter than a round: --from, --to, --days, --every")
    return plans


def trial_plan(  # noqa: PLR0913 - what a trial is made of
    data_dir: Path,
    folder: Path,
    world: WorldPeriod,
    *,
    every_s: float,
    budget: float = DAILY_BUDGET_USD,
    plan: Plan = Plan.PRO,
    anew: bool = False,
) -> TrialPlan:
    """The trial of the skill in a folder on a world, with the person's settings for it."""
    settings = settings_in(os.environ, settings_of(folder.name))
    return TrialPlan(
        name=world.name,
        slug=folder.name,
        skill=str(folder),
        skill_hash=hash_of(folder),
        data_dir=str(data_dir),
        history=world.history,
        digest=world.digest,
        seed=world.seed,
        begins_at=world.begins_at,
        ends_at=world.ends_at,
        every_s=every_s,
        budget=budget,
        plan=plan,
        anew=anew,
        settings=tuple((name, os.environ[name]) for name in sorted(settings)),
    )


def _budget(arguments: argparse.Namespace) -> float:
    return DAILY_BUDGET_USD if arguments.budget is None else float(arguments.budget)


def _worlds(data_dir: Path, arguments: argparse.Namespace) -> Iterator[WorldPeriod]:
    """The worlds of the trials, each with the requested period."""
    if arguments.history:
        folder = folder_of(arguments.history, folders_of(data_dir))
        with HistoryFile(history_path(folder, arguments.history)) as file:
            about = file.about
        begins = (
            about.begins_at if arguments.begins is None else moment_at(arguments.begins, "--from")
        )
        ends = about.ends_at if arguments.ends is None else moment_at(arguments.ends, "--to")
        begins, ends = max(begins, about.begins_at), min(ends, about.ends_at)
        if not begins < ends:
            raise EvaluateError(f"the history {about.name} has no price between --from and --to")
        first, last = part_of(begins, ends, arguments.holdout)
        yield WorldPeriod(about.name, about.name, about.digest, 0, first, last)
        return
    if arguments.begins is not None or arguments.ends is not None:
        raise EvaluateError("--from and --to are of a --history; an invented world has --days")
    if not 0 < arguments.days <= TRIAL_DAYS_MAX:
        raise EvaluateError(f"--days is a number from 0 to {TRIAL_DAYS_MAX:.0f}")
    ends = INVENTED_BEGINS_AT + arguments.days * DAY_S
    first, last = part_of(INVENTED_BEGINS_AT, ends, arguments.holdout)
    for seed in _seeds(arguments.seeds):
        yield WorldPeriod(f"seed {seed}", "", "", seed, first, last)


def part_of(begins: float, ends: float, part: str | None) -> tuple[Timestamp, Timestamp]:
    """A period, or the part of it before or behind what is kept back."""
    cut = ends - (ends - begins) * HELD_BACK
    match part:
        case "first":
            return Timestamp(begins), Timestamp(cut)
        case "last":
            return Timestamp(cut), Timestamp(ends)
        case _:
            return Timestamp(begins), Timestamp(ends)


def seconds_of(text: str) -> float:
    """Seconds of a time as `15m`, `1h` or `90s`.

    Raises:
        EvaluateError: it is none, or shorter than a minute.
    """
    unit = _UNITS.get(text[-1:], 0.0)
    try:
        found = float(text[:-1]) * unit
    except ValueError:
        found = 0.0
    if not ROUND_MIN_S <= found <= ROUND_MAX_S:
        raise EvaluateError(f"--every {text[:20]!r} is no time of a minute to a week: 15m, 1h, 1d")
    return found


def _seeds(text: str) -> list[int]:
    try:
        seeds = [int(one) for one in text.split(",")]
    except ValueError:
        seeds = []
    if not 0 < len(set(seeds)) == len(seeds) <= SEEDS_MAX or min(seeds) < 0:
        raise EvaluateError(f"--seeds {text[:40]!r} are not whole numbers, each once: 1,2,3")
    return seeds


def skill_of(data_dir: Path, asked: str) -> Path:
    """The folder of a skill that can be run.

    Raises:
        EvaluateError: there is none, or it has a problem.
    """
    try:
        folder = skill_folder(data_dir, asked)
        problems = problems_of(folder)
    except SkillsError as error:
        raise EvaluateError(str(error)) from error
    if problems:
        raise EvaluateError(f"{folder.name}: {line(problems[0])}")
    return folder.resolve()


def hash_of(folder: Path) -> str:
    """SHA-256 over the files of a skill: one that was changed is tried anew.

    Of a link it is where it leads; of a large file its size and when it was changed.
    """
    found = hashlib.sha256()
    for path in sorted(folder.rglob("*")):
        if path.is_symlink():
            content = os.fsencode(path.readlink())
        elif path.suffix == ".pyc" or not path.is_file():
            continue
        elif (state := path.stat()).st_size <= FILE_MAX:
            content = path.read_bytes()
        else:
            content = f"{state.st_size} {state.st_mtime_ns}".encode()
        found.update(os.fsencode(path.relative_to(folder)) + b"\0" + content + b"\0")
    return found.hexdigest()[:16]
