"""Watches the autoresearch files of this machine: running sessions and each new line.

Looking costs a few stats a second; reading only what moved.
"""

import asyncio
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Final

from service_tui.desk.ports import Ports
from service_tui.desk.research.translate import file_view
from service_tui.desk.slices.research import FilesSeen, HoldoutView, Source
from service_tui.notes import notebook, registry

if TYPE_CHECKING:
    from service_tui.notes.holdouts import Holdout

LOOK_S: Final = 1.0
"""A line shows within two seconds: one to be seen, and time to be read. Source: issue, "Live"."""

Stamp = tuple[int, int]
"""When a file was changed last, and its size."""


@dataclass(slots=True)
class FileWatch:
    """Polls the session files and emits their content when one changed."""

    folder: Path
    ports: Ports
    _stamps: dict[str, Stamp | None] = field(default_factory=dict[str, Stamp | None])
    _notes: dict[str, notebook.Notes] = field(default_factory=dict[str, notebook.Notes])
    _alive: dict[str, bool] = field(default_factory=dict[str, bool])
    _holdouts: dict[str, "Holdout"] = field(default_factory=dict[str, "Holdout"])

    async def run(self) -> None:
        """Go on for ever."""
        while True:
            source = await asyncio.to_thread(self.look)
            if source is not None:
                self.ports.emit(FilesSeen(source))
            await self.ports.clock.sleep(LOOK_S)

    def look(self) -> Source | None:
        """Everything that the files hold; None where nothing has moved. Blocks."""
        has_moved = False
        stamps: dict[str, Stamp | None] = {}
        entries = registry.entries(self.folder)
        for entry in entries:
            path = Path(entry.repository) / notebook.FILE
            key = str(path)
            stamps[key] = _stamp(path)
            if key not in self._stamps or self._stamps[key] != stamps[key]:
                has_moved = True
                self._notes[key] = _read(path)
            own = str(registry.path_of(self.folder, Path(entry.repository)))
            stamps[own] = _stamp(Path(own))
            alive = registry.is_alive(entry.pid)
            if self._stamps.get(own) != stamps[own] or self._alive.get(key) != alive:
                has_moved = True
                self._alive[key] = alive
            for path in self._holdout_paths(entry, key):
                stamps[str(path)] = _stamp(path)
                if self._stamps.get(str(path)) != stamps[str(path)]:
                    has_moved = True
                    self._keep_holdout(path)
        if not has_moved and stamps.keys() == self._stamps.keys():
            return None
        self._stamps = stamps
        parts = [
            file_view(
                entry,
                self._notes[key],
                self._views(entry, key),
                is_open=self._alive.get(key, False),
            )
            for entry in entries
            for key in (str(Path(entry.repository) / notebook.FILE),)
        ]
        return Source(
            tuple(session for part in parts for session in part.sessions),
            tuple(one for part in parts for one in part.experiments),
        )

    def _holdout_paths(self, entry: registry.RegistryEntry, key: str) -> list[Path]:
        """Where it is written down what is kept back from the skills of a repository."""
        # Whoever has no session does without it.
        from service_tui.notes import holdouts  # noqa: PLC0415

        skills = dict.fromkeys(one.skill for one in self._notes[key].configs)
        root = Path(entry.repository)
        return [holdouts.path_of(self.folder, root, skill) for skill in skills]

    def _views(self, entry: registry.RegistryEntry, key: str) -> dict[str, HoldoutView]:
        """What is kept back from the sessions of a repository, by skill."""
        views: dict[str, HoldoutView] = {}
        for path in self._holdout_paths(entry, key):
            holdout = self._holdouts.get(str(path))
            config = None if holdout is None else self._notes[key].config_of(holdout.skill)
            if holdout is not None and config is not None:
                from service_tui.desk.research.held_back import holdout_view  # noqa: PLC0415

                view = holdout_view(holdout, config)
                views |= {} if view is None else {config.skill: view}
        return views

    def _keep_holdout(self, path: Path) -> None:
        from service_tui.notes import holdouts  # noqa: PLC0415

        self._holdouts.pop(str(path), None)
        with suppress(holdouts.UnreadableHoldoutError):
            found = holdouts.read(path)
            if found is not None:
                self._holdouts[str(path)] = found


def _stamp(path: Path) -> Stamp | None:
    try:
        stat = path.stat()
    except (OSError, ValueError):
        # A path with a zero byte is none.
        return None
    return stat.st_mtime_ns, stat.st_size


def _read(path: Path) -> notebook.Notes:
    try:
        return notebook.read(path)
    except (OSError, ValueError):
        return notebook.Notes()
