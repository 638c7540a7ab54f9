"""Folders of the operator's skills, and keys of the agents that the desk registered for them.

The keys lie in a file that only its owner reads, as the desk's own.
"""

import json
import os
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from service_tui.desk.slices.fleet import SkillView
from service_tui.skills.checking import problems_of
from service_tui.skills.package import BUNDLED, DOCUMENT, SkillPackage, installed

SKILLS: Final = "skills"
KEYS: Final = "skill-agents.json"
_BROKEN: Final = f"cannot read {KEYS}; left unchanged: repair it or move it away"


@dataclass(frozen=True, slots=True)
class SkillHome:
    """The data directory as skills know it. Every method blocks."""

    data_dir: Path
    _keeping: threading.Lock = field(default_factory=threading.Lock, repr=False, compare=False)
    """Held from the moment the keys are read until they are written with one more."""

    @property
    def own(self) -> Path:
        """Folder of the operator's own skills."""
        return self.data_dir / SKILLS

    def folder_of(self, slug: str) -> Path | None:
        """The folder of an installed skill; None where there is none."""
        for parent in (self.own, BUNDLED):
            if slug and (parent / slug / DOCUMENT).is_file():
                return parent / slug
        return None

    def views(self) -> tuple[SkillView, ...]:
        """Every installed skill."""
        return tuple(self._views())

    def stamps(self) -> tuple[tuple[str, int], ...]:
        """Modification times of the operator's own skills; another value means: read them again."""
        try:
            return tuple(
                sorted(
                    (folder.name, (folder / DOCUMENT).stat().st_mtime_ns)
                    for folder in self.own.iterdir()
                    if (folder / DOCUMENT).is_file()
                )
            )
        except OSError:
            # None was ever installed, or one goes away just now.
            return ()

    def _views(self) -> Iterator[SkillView]:
        for package in installed((self.own, BUNDLED)):
            folder = self.folder_of(package.slug)
            is_own = folder is not None and folder.parent == self.own
            # Those that come with the program are checked by its tests, not at each start.
            problems = problems_of(folder) if folder is not None and is_own else []
            yield _view(package, is_bundled=not is_own).with_problem("; ".join(problems))

    def key_of(self, agent_id: str, service: str) -> str | None:
        """The key of an agent that this desk made at a service, for that one alone.

        Returns:
            The key; None where it is not known.

        Raises:
            OSError: the keys cannot be read.
            ValueError: what stands there are no keys.
        """
        return self._keys().get(_name(agent_id, service))

    def keep_key(self, agent_id: str, service: str, key: str) -> None:
        """Store a key beside the others; raises OSError or ValueError if that fails."""
        with self._keeping:
            keys = self._keys() | {_name(agent_id, service): key}
            draft = self.data_dir / f"{KEYS}.new"
            draft.unlink(missing_ok=True)
            made = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            with os.fdopen(made, "w", encoding="utf-8") as file:
                json.dump(keys, file)
                file.flush()
                os.fsync(file.fileno())
            draft.replace(self.data_dir / KEYS)

    def _keys(self) -> dict[str, str]:
        """Every key; one that cannot be read is no reason to write over all of them.

        Returns:
            Keys by their agents and services.

        Raises:
            OSError: the file cannot be read.
            ValueError: something else stands in it.
        """
        try:
            stored: object = json.loads((self.data_dir / KEYS).read_text(encoding="utf-8"))
        except FileNotFoundError:
            return {}
        except ValueError as error:
            raise ValueError(_BROKEN) from error
        if not isinstance(stored, dict):
            raise ValueError(_BROKEN)  # noqa: TRY004 - the file's fault, no caller's
        pairs: dict[object, object] = {**stored}
        keys = {
            name: key
            for name, key in pairs.items()
            if isinstance(name, str) and isinstance(key, str)
        }
        if len(keys) != len(pairs):
            raise ValueError(_BROKEN)
        return keys


def _name(agent_id: str, service: str) -> str:
    """Name of a stored key; ids contain no space. A key without a service is lent to none."""
    return f"{agent_id} {service}"


def _view(package: SkillPackage, *, is_bundled: bool) -> SkillView:
    metadata = package.metadata
    return SkillView(
        slug=package.slug,
        name=package.name,
        description=package.description,
        version=package.version or "",
        author=metadata.get("author", ""),
        difficulty=metadata.get("difficulty", ""),
        is_bundled=is_bundled,
        requires=package.requires,
    )
