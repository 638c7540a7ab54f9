"""The file `autoresearch.jsonl`: sessions and results, one JSON object a line, append-only.

Source: wire reference, 9.2; failures, F-27. What is ours in a line stands behind what is not.
"""

import hashlib
import json
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from service_tui.experiments import CAP_DEFAULT, Result, SeriesState, standing
from service_tui.plain_files import open_below
from service_tui.terms import SLUG_PATTERN, Direction, ExperimentStatus

FILE: Final = "autoresearch.jsonl"
FILE_MAX: Final = 64 * 1024 * 1024
"""Bytes; a larger file is not ours."""

COMMIT_SHORT: Final = 7
_SLUG: Final = re.compile(SLUG_PATTERN)
FIGURE_MAX: Final = 1e300
WHOLE_MAX: Final = 10**13
"""No number, nor a time in milliseconds before the year 2286, is larger."""


@dataclass(frozen=True, slots=True)
class Config:
    """A session: what it measures. `started_ms` and `cap` are ours."""

    name: str
    skill: str
    metric_name: str
    metric_unit: str
    direction: Direction
    segment: int
    started_ms: int = 0
    cap: int = CAP_DEFAULT

    def line(self) -> dict[str, object]:
        """Its line."""
        return {
            "type": "config",
            "name": self.name,
            "skillSlug": self.skill,
            "metricName": self.metric_name,
            "metricUnit": self.metric_unit,
            "bestDirection": self.direction.value,
            "segment": self.segment,
            "startedAt": self.started_ms,
            "maxExperiments": self.cap,
        }


@dataclass(frozen=True, slots=True)
class Logged:
    """A result. `metric` is None where a crash has no figure; `commit` is the whole hash."""

    run: int
    commit: str
    metric: float | None
    metrics: Mapping[str, float]
    status: ExperimentStatus
    description: str
    timestamp_ms: int
    segment: int
    config: Config
    confidence: float | None = None
    asi: Mapping[str, object] | None = None

    @property
    def ref(self) -> str:
        """Identity of this result, on every service."""
        identity = f"{self.config.skill}|{self.segment}|{self.run}|{self.timestamp_ms}"
        return f"jsonl-{hashlib.sha256(identity.encode()).hexdigest()[:32]}"

    def line(self) -> dict[str, object]:
        """Its line."""
        fields: dict[str, object] = {
            "run": self.run,
            "commit": self.commit[:COMMIT_SHORT],
            "metric": self.metric,
            "metrics": dict(self.metrics),
            "status": self.status.value,
            "description": self.description,
            "timestamp": self.timestamp_ms,
            "segment": self.segment,
            "confidence": self.confidence,
        }
        return fields if self.asi is None else {**fields, "asi": dict(self.asi)}


@dataclass(slots=True)
class Notes:
    """Everything that a file holds, in its order. `off` are skills that were turned off."""

    configs: list[Config] = field(default_factory=list[Config])
    results: list[Logged] = field(default_factory=list[Logged])
    off: set[str] = field(default_factory=set[str])
    bad_lines: int = 0

    def config_of(self, skill: str) -> Config | None:
        """The last session of a skill."""
        return next((one for one in reversed(self.configs) if one.skill == skill), None)

    @property
    def last_skill(self) -> str:
        """The skill of the newest session, empty without one."""
        return self.configs[-1].skill if self.configs else ""

    def become(self, other: "Notes") -> None:
        """Replace the content with that of a file that was read again."""
        self.configs, self.results = other.configs, other.results
        self.off, self.bad_lines = other.off, other.bad_lines

    def results_of(self, config: Config) -> list[Logged]:
        """The results of a session, oldest first."""
        return [
            one
            for one in self.results
            if (one.config.skill, one.segment) == (config.skill, config.segment)
        ]

    def standing_of(self, config: Config, cap: int | None = None) -> SeriesState:
        """State of a session."""
        results = [Result(one.status, one.metric) for one in self.results_of(config)]
        limit = config.cap if cap is None else cap
        return standing(results, cap=limit, direction=config.direction)

    def last_run(self, skill: str) -> int:
        """The highest number of a skill's results, 0 before the first."""
        return max((one.run for one in self.results if one.config.skill == skill), default=0)

    def take(self, decoded: object) -> None:
        """Add one decoded line.

        Raises:
            ValueError: it is no line of ours; KeyError and TypeError likewise.
        """
        if not isinstance(decoded, dict):
            raise TypeError("a line holds an object")
        row: dict[str, object] = {str(key): value for key, value in decoded.items()}  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]
        match row.get("type"):
            case "config":
                self._take_config(row)
            case "off":
                self.off.add(_slug(row))
            case None:
                self._take_result(row)
            case other:
                raise ValueError(f"a line of kind {other}")

    def _take_config(self, row: Mapping[str, object]) -> None:
        skill = _slug(row)
        before = self.config_of(skill)
        segment = 0
        if before is not None:
            segment = before.segment + bool(self.results_of(before))
        config = Config(
            name=_text(row, "name"),
            skill=skill,
            metric_name=_text(row, "metricName"),
            metric_unit=_text(row, "metricUnit", ""),
            direction=Direction(_text(row, "bestDirection", Direction.HIGHER.value)),
            segment=_whole(row, "segment", segment),
            started_ms=_whole(row, "startedAt", 0),
            cap=_whole(row, "maxExperiments", CAP_DEFAULT),
        )
        self.configs.append(config)
        self.off.discard(skill)

    def _take_result(self, row: Mapping[str, object]) -> None:
        config = self.configs[-1]
        metrics = row.get("metrics")
        asi = row.get("asi")
        self.results.append(
            Logged(
                run=_whole(row, "run"),
                commit=_text(row, "commit", ""),
                metric=_figure(row.get("metric")),
                metrics=_figures(metrics),
                status=ExperimentStatus(_text(row, "status")),
                description=_text(row, "description", ""),
                timestamp_ms=_whole(row, "timestamp", 0),
                segment=_whole(row, "segment", config.segment),
                config=config,
                confidence=_figure(row.get("confidence")),
                asi={str(key): value for key, value in asi.items()}  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]
                if isinstance(asi, dict)
                else None,
            )
        )


def _text(row: Mapping[str, object], name: str, default: str | None = None) -> str:
    value = row.get(name, default)
    if not isinstance(value, str):
        raise TypeError(f"{name} is no text")
    # A half of a letter can be written nowhere: this raises a ValueError.
    value.encode()
    return value


def _slug(row: Mapping[str, object]) -> str:
    """The slug of a skill: it names files and branches."""
    slug = _text(row, "skillSlug")
    if _SLUG.fullmatch(slug) is None:
        raise ValueError("skillSlug is no slug")
    return slug


def _whole(row: Mapping[str, object], name: str, default: int | None = None) -> int:
    value = row.get(name, default)
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= WHOLE_MAX:
        raise TypeError(f"{name} is no whole number")
    return value


def _figure(value: object) -> float | None:
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise TypeError("a figure is no number")
    # Not the other way round: no comparison holds of what is not a number.
    if not abs(value) <= FIGURE_MAX:
        raise ValueError("a figure is not finite")
    return float(value)


def _figures(value: object) -> dict[str, float]:
    if not isinstance(value, dict):
        return {}
    figures: dict[str, float] = {}
    for key, one in value.items():  # pyright: ignore[reportUnknownVariableType]
        figure = _figure(one)  # pyright: ignore[reportUnknownArgumentType]
        if figure is not None:
            figures[str(key)] = figure  # pyright: ignore[reportUnknownArgumentType]
    return figures


def read(path: Path, bytes_max: int = FILE_MAX) -> Notes:
    """The notes of a file; lines that cannot be read are counted and left where they are.

    Returns:
        Nothing but empty notes where there is no file.

    Raises:
        OSError: it cannot be read, or is larger than any of ours.
    """
    notes = Notes()
    try:
        with os.fdopen(open_below(path.parent, path, os.O_RDONLY), "rb") as file:
            raw = file.read(bytes_max + 1)
        if len(raw) > bytes_max:
            raise OSError(f"{path} is larger than {bytes_max} bytes")
    except FileNotFoundError:
        return notes
    for line in raw.splitlines():
        if not line.strip():
            continue
        try:
            notes.take(json.loads(line))
        except (ValueError, TypeError, KeyError, IndexError, RecursionError):
            notes.bad_lines += 1
    return notes


def append(path: Path, line: Mapping[str, object]) -> None:
    """Write a line, and have it on disk before this returns.

    A last line that was cut off is ended first, so that it spoils no other.

    Raises:
        OSError: the disk or the folder refuses; then nothing was written.
    """
    text = json.dumps(line, ensure_ascii=False, allow_nan=False) + "\n"
    is_new = not path.exists()
    # A repository may bring a link of this name, or a run make one.
    descriptor = open_below(path.parent, path, os.O_RDWR | os.O_APPEND | os.O_CREAT)
    try:
        size = os.fstat(descriptor).st_size
        if size and os.pread(descriptor, 1, size - 1) != b"\n":
            text = f"\n{text}"
        data = text.encode()
        if os.write(descriptor, data) != len(data):
            os.ftruncate(descriptor, size)
            raise OSError("the line could not be written whole")
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
    if is_new:
        folder = os.open(path.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)
