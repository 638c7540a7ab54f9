"""Records of skill runs, stored out of reach of the skills and checked when read.

They lie in a folder of their own. Until that is made, once, those of an older program are read,
which lay where each skill works.
"""

import json
import logging
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from service_tui.desk.checked_records import UNREADABLE, tree_of, value_of
from service_tui.desk.slices.supervision import SkillRunView
from service_tui.plain_files import read_plain
from service_tui.storage.db.lock import private_directory
from service_tui.storage.errors import StorageError, as_storage_error
from service_tui.units import LATEST

log = logging.getLogger(__name__)

FOLDER: Final = "runs"
"""Where skills work, each run in a folder with its id; a skill may write there what it likes."""

RECORDS: Final = "skill-runs"
_OLDER: Final = "run.json"

RECORD_MAX: Final = 65_536
_COUNTS_MAX: Final = 2**31 - 1
"""Of numbers of processes, exit codes and counts."""

_TIMES: Final = ("started_at", "ended_at", "next_at", "output_at")
_COUNTS: Final = ("every_s", "runs_count", "restarts")


def keep_record(data_dir: Path, view: SkillRunView) -> None:
    """Store a run; raises StorageError if that fails."""
    keep_older(data_dir)
    _write(data_dir / RECORDS, view)


def _write(folder: Path, view: SkillRunView) -> None:
    path = folder / f"{view.run_id}.json"
    draft = path.with_suffix(".new")
    with as_storage_error():
        try:
            draft.unlink(missing_ok=True)
            made = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
            with os.fdopen(made, "w", encoding="utf-8") as file:
                json.dump(tree_of(view), file)
            draft.replace(path)
        except OSError:
            draft.unlink(missing_ok=True)
            raise


def stored_records(data_dir: Path) -> list[SkillRunView]:
    """Every readable stored run of a data directory, oldest first."""
    found: list[SkillRunView] = []
    for run_id, path in _paths(data_dir):
        try:
            found.append(_read(run_id, path))
        except (OSError, StorageError, *UNREADABLE) as error:
            log.warning("invalid run %s: %s", path, error)
    # The newest is emitted last: the list begins with it, and it decides its agent's health.
    return sorted(found, key=lambda view: view.started_at or 0.0)


def keep_older(data_dir: Path) -> None:
    """Make the folder of records, with those of an older program; raises StorageError if not."""
    if (data_dir / RECORDS).is_dir():
        return
    # Whole or not at all: once the folder stands, the older ones are read no more.
    draft = data_dir / f"{RECORDS}.new"
    private_directory(draft)
    for view in stored_records(data_dir):
        _write(draft, view)
    with as_storage_error():
        draft.rename(data_dir / RECORDS)


def _paths(data_dir: Path) -> Iterator[tuple[str, Path]]:
    """The id and the record of each run."""
    records, works = data_dir / RECORDS, data_dir / FOLDER
    try:
        if records.is_dir():
            yield from ((path.stem, path) for path in sorted(records.glob("*.json")))
        elif works.is_dir():
            yield from ((path.name, path / _OLDER) for path in sorted(works.iterdir()))
    except OSError as error:
        log.warning("runs of %s cannot be listed: %s", data_dir, error.strerror)


def _read(run_id: str, path: Path) -> SkillRunView:
    """A run as stored; raises where it is not readable, or not that run's."""
    # Nor through a link, which a skill may have made where an older program kept it.
    if path.is_symlink():
        raise ValueError("it is a link")
    raw = read_plain(path, RECORD_MAX)
    view = value_of(SkillRunView, json.loads(raw))
    if view.run_id != run_id:
        raise ValueError("it is that of another run")
    counts = (getattr(view, name) for name in _COUNTS)
    if not all(0 <= count <= _COUNTS_MAX for count in counts):
        raise ValueError("a count makes no sense")
    if abs(view.exit_code or 0) > _COUNTS_MAX or abs(view.budget or 0) > 2**63:
        raise ValueError("a number makes no sense")
    if view.pid is not None and not 0 < view.pid <= _COUNTS_MAX:
        raise ValueError("its process makes no sense")
    times = (getattr(view, name) for name in _TIMES)
    if not all(at is None or 0 <= at <= LATEST for at in times):
        raise ValueError("a time makes no sense")
    return view
