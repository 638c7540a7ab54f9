"""The time that is kept back from the sessions of a skill, and what they came to on it.

One file for each skill of a repository, in the data directory: experiments cannot read it, nor the
history. They see the lab, a data directory in the repository's store whose history knows nothing
of that time.
"""

import hashlib
import os
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Final, NamedTuple

from pydantic import TypeAdapter, ValidationError

from service_tui.notes.notebook import Config
from service_tui.plain_files import read_plain, write_below

FOLDER: Final = "holdouts"
BYTES_MAX: Final = 1024 * 1024
FILES_MAX: Final = 256


class UnreadableHoldoutError(Exception):
    """A file says what is kept back, and cannot be read: nobody knows what may be seen."""


class Figures(NamedTuple):
    """The figures of one state of a skill, by name: on the time it was fitted to, and behind it.

    `run` is its experiment, `logged` the figure that the session wrote down for it.
    """

    run: int
    logged: float | None
    known: Mapping[str, float]
    held_back: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Judgement:
    """What a session came to. `at` is Unix seconds; `started_ms` is when it began.

    `baseline` is its first experiment, `best` its best kept one. `digest` is that of the history.
    `troubles` say what went wrong in the trials, a sentence each.
    """

    session: str
    segment: int
    started_ms: int
    digest: str
    at: float
    baseline: Figures
    best: Figures
    troubles: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Holdout:
    """A history of which the time from `until` to `ends_at` is kept back; Unix seconds.

    `every` is the time between two rounds, as `1h`. `lab` is the data directory of experiments,
    empty where nothing is kept back any more. `metric` is the figure that is judged, one of
    `evaluate`.
    """

    repository: str
    skill: str
    history: str
    digest: str
    begins_at: float
    until: float
    ends_at: float
    every: str
    lab: str
    metric: str
    judged: tuple[Judgement, ...] = ()

    def judgement_of(self, config: Config) -> Judgement | None:
        """What a session came to; None while it is not judged."""
        asked = (config.segment, config.started_ms)
        return next((one for one in self.judged if (one.segment, one.started_ms) == asked), None)

    def with_judgement(self, one: Judgement) -> "Holdout":
        """With one session more that is judged."""
        return replace(self, judged=(*self.judged, one))


@cache
def _reader() -> TypeAdapter[Holdout]:
    return TypeAdapter(Holdout)


def path_of(data_dir: Path, repository: Path, skill: str) -> Path:
    """Path of the file of a skill of a repository."""
    name = f"{repository}\0{skill}".encode(errors="surrogateescape")
    return data_dir / FOLDER / f"{hashlib.sha256(name).hexdigest()[:24]}.json"


def read(path: Path) -> Holdout | None:
    """What is kept back; None where nothing is.

    Raises:
        UnreadableHoldoutError: a file is there that cannot be read.
    """
    try:
        return _reader().validate_json(read_plain(path, BYTES_MAX))
    except FileNotFoundError:
        return None
    except (OSError, ValidationError, ValueError) as error:
        raise UnreadableHoldoutError(f"{path}, what is kept back, cannot be read") from error


def read_all(data_dir: Path) -> tuple[Holdout, ...]:
    """All of a data directory that can be read. Blocks."""
    found: list[Holdout] = []
    for path in sorted((data_dir / FOLDER).glob("*.json"))[:FILES_MAX]:
        with suppress(UnreadableHoldoutError):
            one = read(path)
            found += [] if one is None else [one]
    return tuple(found)


def write(data_dir: Path, holdout: Holdout) -> None:
    """Write it down, whole or not at all.

    Raises:
        OSError: the disk refuses.
    """
    path = path_of(data_dir, Path(holdout.repository), holdout.skill)
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    write_below(path.parent, path, _reader().dump_json(holdout), f".{os.getpid()}.new")
