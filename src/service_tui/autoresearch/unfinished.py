"""Notes about unfinished work, so that the next server can continue it.

A note is written whole or not at all, and is on disk before what it is about.
"""

import json
import logging
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final, NamedTuple

from service_tui.autoresearch.errors import ToolError
from service_tui.notes.notebook import Logged
from service_tui.plain_files import FILE_MAX, open_below, write_below

log = logging.getLogger(__name__)

RUNNING: Final = "running"
MARK_MAX: Final = 64


class Unanswered(NamedTuple):
    """A result that was not reported yet.

    `commit` is whole, `is_done` that its tree is carried out.
    """

    ref: str
    commit: str
    is_done: bool


@dataclass(frozen=True, slots=True)
class Begun:
    """The notes of one repository, in `folder`."""

    folder: Path

    # -- a result that is being kept -------------------------------------------------------

    def note(self, result: Logged, *, is_done: bool = False) -> None:
        """Note that a result is about to be stored, or is stored but not reported (`is_done`).

        Raises:
            ToolError: the disk or the folder refuses.
        """
        note = {"ref": result.ref, "commit": result.commit, "done": "yes" if is_done else ""}
        self._write(self._path(result.config.skill), note)

    def result(self, skill: str) -> Unanswered | None:
        """The result that was not reported; None without one."""
        note = _read(self._path(skill))
        if note is None:
            return None
        if "ref" not in note or "commit" not in note:
            log.warning("the note of %s names no result", skill)
            self.end(skill)
            return None
        return Unanswered(str(note["ref"]), str(note["commit"]), bool(note.get("done")))

    def end(self, skill: str) -> None:
        """Remove the note: the result was reported, or never stored."""
        self._path(skill).unlink(missing_ok=True)

    def _path(self, skill: str) -> Path:
        return self.folder / f"{skill}.pending"

    # -- a command that runs ---------------------------------------------------------------

    def note_run(self, mark: str, command: str) -> None:
        """A command is about to run, and all its processes carry a mark.

        Raises:
            ToolError: the disk or the folder refuses.
        """
        self._write(self.folder / RUNNING, {"mark": mark[:MARK_MAX], "command": command})

    def run(self) -> tuple[str, str] | None:
        """Mark and text of a command whose end is unknown; None without one."""
        note = _read(self.folder / RUNNING)
        if note is None:
            return None
        return str(note.get("mark", ""))[:MARK_MAX], str(note.get("command", ""))

    def end_run(self) -> None:
        """Nothing of it runs any more."""
        (self.folder / RUNNING).unlink(missing_ok=True)

    def _write(self, path: Path, note: Mapping[str, str]) -> None:
        try:
            # A run may write here too: no link of its leads our notes elsewhere.
            write_below(path.parent, path, json.dumps(note).encode())
        except OSError as error:
            raise ToolError(f"{path} cannot be written ({error.strerror}); nothing was kept") from (
                error
            )


def _read(path: Path) -> Mapping[str, object] | None:
    """Content of a note; an empty one is removed."""
    try:
        with os.fdopen(open_below(path.parent, path, os.O_RDONLY), "rb") as file:
            note = json.loads(file.read(FILE_MAX))
    except FileNotFoundError:
        return None
    except (OSError, ValueError, RecursionError) as error:
        log.warning("cannot read %s: %s", path, error)
        path.unlink(missing_ok=True)
        return None
    if not isinstance(note, dict):
        path.unlink(missing_ok=True)
        return None
    return {str(key): value for key, value in note.items()}  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]
