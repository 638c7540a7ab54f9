"""Reads the evaluation reports of a data directory."""

import json
from dataclasses import asdict
from functools import cache
from pathlib import Path
from typing import Final, NamedTuple, cast

from pydantic import TypeAdapter, ValidationError

from service_tui.evaluation.report import SCHEMA, EvaluationReport
from service_tui.plain_files import read_plain

FOLDER: Final = "evaluations"
REPORT_FILE: Final = "report.json"
REPORTS_MAX: Final = 40
"""The newest that are read."""

FIGURE_MAX: Final = 1e12
REPORT_BYTES_MAX: Final = 16 * 1024 * 1024


class KeptReport(NamedTuple):
    """A report, by its name; `at` is when it was written, Unix seconds.

    `report` is None where it cannot be read, with the reason in `problem`.
    """

    name: str
    at: float
    report: EvaluationReport | None
    problem: str = ""


@cache
def reader() -> TypeAdapter[EvaluationReport]:
    """What reads a report, and knows its schema."""
    return TypeAdapter(EvaluationReport)


def as_text(report: EvaluationReport) -> str:
    """A report as it is kept."""
    return json.dumps(asdict(report), allow_nan=False) + "\n"


def read_reports(data_dir: Path) -> tuple[KeptReport, ...]:
    """The reports of a data directory, newest first. Blocks."""
    found: list[tuple[float, Path]] = []
    for path in (data_dir / FOLDER).glob(f"*/{REPORT_FILE}"):
        try:
            found.append((path.lstat().st_mtime, path))
        except OSError:
            continue
    found.sort(reverse=True)
    return tuple(_kept(path, at) for at, path in found[:REPORTS_MAX])


def _is_beyond(value: object) -> bool:
    """Whether a figure is one that no chart can draw."""
    if isinstance(value, dict):
        return any(map(_is_beyond, cast("dict[str, object]", value).values()))
    if isinstance(value, tuple | list):
        return any(map(_is_beyond, cast("tuple[object, ...]", value)))
    return isinstance(value, float | int) and abs(value) > FIGURE_MAX


def _kept(path: Path, at: float) -> KeptReport:
    name = path.parent.name
    try:
        report = reader().validate_json(read_plain(path, REPORT_BYTES_MAX))
    except OSError as error:
        return KeptReport(name, at, None, f"it cannot be read: {error.strerror}")
    except (ValidationError, ValueError):
        return KeptReport(name, at, None, "its file has another form: evaluate it again")
    if _is_beyond(asdict(report)):
        return KeptReport(name, at, None, "its figures are beyond all measure: evaluate it again")
    if report.schema != SCHEMA:
        return KeptReport(name, at, None, f"its form is {report.schema[:60]}: evaluate it again")
    return KeptReport(name, at, report)
