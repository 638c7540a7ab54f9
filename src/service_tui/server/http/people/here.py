"""The people who are online: when each called last. Kept in memory only."""

from typing import Final

from service_tui.terms import PersonRole

HERE_S: Final = 20.0
"""ours: an open console polls every few seconds; after this silence its person has left."""


class PeopleHere:
    """When each person called last, in seconds of a clock that only goes forward."""

    def __init__(self) -> None:
        self._seen: dict[str, tuple[PersonRole, float]] = {}

    def note(self, name: str, role: PersonRole, now_s: float) -> None:
        """Note a call of a person."""
        self._seen[name] = role, now_s

    def here(self, now_s: float) -> tuple[tuple[str, PersonRole, float], ...]:
        """Name, role, and seconds since the last call of each person online, by name."""
        return tuple(
            (name, role, now_s - at)
            for name, (role, at) in sorted(self._seen.items())
            if now_s - at < HERE_S
        )
