"""Folders of the operator's skills, and keys of the agents that the desk registered for them.

The keys lie in a file that only its owner reads, as the desk's own.
"""

import fcntl
import json
import os
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from service_tui.desk.slices.supervision import SkillView
from service_tui.plain_files import read_plain
from service_tui.skills.checking import problems_of
from service_tui.skills.package import BUNDLED, DOCUMENT, SkillPackage, installed
from service_tui.storage.db.lock import open_private

SKILLS: Final = "skills"
KEYS: Final = "skill-agents.json"
_BROKEN: Final = f"cannot read {KEYS}; left unchanged: repair it or move it away"


@dataclass(frozen=True, slots=True)
class SkillHome:
    """Skills and agent keys in the data directory, shared by all consoles on it. Methods block.

    Attributes:
        data_dir: where skills and keys are kept.
        former: data directory of an earlier console that kept its own skills and keys; only read.
    """

    data_dir: Path
    former: Path | None = None

    @property
    def own(self) -> Path:
        """Folder of the operator's own skills."""
        return self.data_dir / SKILLS

    @property
    def hidden(self) -> tuple[Path, ...]:
        """Folders with keys, which no skill may read."""
        return (self.data_dir, *(() if self.former is None else (self.former,)))

    def folder_of(self, slug: str) -> Path | None:
        """The folder of an installed skill; None where there is none."""
        for parent in self._parents():
            if slug and (parent / slug / DOCUMENT).is_file():
                return parent / slug
        return None

    def _parents(self) -> tuple[Path, ...]:
        """Folders of skills; the first has precedence where two skills have the same name."""
        former = () if self.former is None else (self.former / SKILLS,)
        return (self.own, *former, BUNDLED)

    def views(self) -> tuple[SkillView, ...]:
        """Every installed skill."""
        return tuple(self._views())

    def stamps(self) -> tuple[tuple[str, int], ...]:
        """Modification times of the operator's own skills: skills are read again if they change."""
        try:
            return tuple(
                sorted(
                    (folder.name, (folder / DOCUMENT).stat().st_mtime_ns)
                    for folder in self.own.iterdir()
                    if (folder / DOCUMENT).is_file()
                )
            )
        except OSError:
            # No skill was ever installed, or one is being removed.
            return ()

    def _views(self) -> Iterator[SkillView]:
        for package in installed(self._parents()):
            folder = self.folder_of(package.slug)
            is_own = folder is not None and folder.parent != BUNDLED
            # Those that come with the program are checked by its tests, not at each start.
            problems = problems_of(folder) if folder is not None and is_own else []
            yield _view(package).with_problem("; ".join(problems))

    def key_of(self, agent_id: str, service: str) -> str | None:
        """The key of an agent that this desk registered at a service; valid for that service only.

        Returns:
            The key; None where it is not known.

        Raises:
            OSError: the keys cannot be read.
            ValueError: the file does not contain keys.
        """
        return self._keys().get(_name(agent_id, service))

    def keep_key(self, agent_id: str, service: str, key: str) -> None:
        """Store a key beside the others; raises OSError or ValueError if that fails."""
        with self._locked():
            keys = _keys_in(self.data_dir) | {_name(agent_id, service): key}
            draft = self.data_dir / f"{KEYS}.new"
            draft.unlink(missing_ok=True)
            made = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            with os.fdopen(made, "w", encoding="utf-8") as file:
                json.dump(keys, file)
                file.flush()
                os.fsync(file.fileno())
            draft.replace(self.data_dir / KEYS)

    @contextmanager
    def _locked(self) -> Generator[None]:
        """Lock the keys against other threads and consoles from reading them to writing them."""
        descriptor = open_private(self.data_dir / f"{KEYS}.lock", os.O_RDWR | os.O_CREAT)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            yield
        finally:
            os.close(descriptor)

    def _keys(self) -> dict[str, str]:
        own = _keys_in(self.data_dir)
        return own if self.former is None else {**_keys_in(self.former), **own}


def _keys_in(folder: Path) -> dict[str, str]:
    """Every key of a folder; raises if one is unreadable, so that the file is not overwritten.

    Returns:
        Keys by their agents and services.

    Raises:
        OSError: the file cannot be read.
        ValueError: the file contains anything else.
    """
    try:
        stored: object = json.loads(read_plain(folder / KEYS))
    except FileNotFoundError:
        return {}
    except (ValueError, RecursionError) as error:
        raise ValueError(_BROKEN) from error
    if not isinstance(stored, dict):
        raise ValueError(_BROKEN)  # noqa: TRY004 - the file's fault, no caller's
    pairs: dict[object, object] = {**stored}
    keys = {
        name: key for name, key in pairs.items() if isinstance(name, str) and isinstance(key, str)
    }
    if len(keys) != len(pairs):
        raise ValueError(_BROKEN)
    return keys


def _name(agent_id: str, service: str) -> str:
    """Name of a stored key; ids contain no space. A key stored without a service is never used."""
    return f"{agent_id} {service}"


def _view(package: SkillPackage) -> SkillView:
    return SkillView(
        slug=package.slug,
        name=package.name,
        description=package.description,
        version=package.version or "",
        requires=package.requires,
    )
