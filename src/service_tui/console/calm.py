"""Since when nothing has needed the person."""

from dataclasses import dataclass

from service_tui.units import Timestamp


@dataclass(slots=True)
class Calm:
    """`since` is when the list of needs was first seen empty; None while it is not.

    `watched_since`: when this console first knew anything at all.
    """

    since: Timestamp | None = None
    watched_since: Timestamp | None = None

    def look(self, now: Timestamp, *, needed: bool, known: bool) -> None:
        """Look at the list once more; what nobody has told yet is no calm."""
        if not known:
            return
        if self.watched_since is None:
            self.watched_since = now
        if needed:
            self.since = None
        elif self.since is None or self.since > now:
            # A clock that was set back begins anew.
            self.since = now

    @property
    def is_from_start(self) -> bool:
        """True while it has been calm for as long as this console looks."""
        return self.since is not None and self.since == self.watched_since
