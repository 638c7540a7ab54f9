"""The time since when nothing has needed the person."""

from dataclasses import dataclass

from service_tui.units import Timestamp


@dataclass(slots=True)
class IdleTime:
    """`since` is when the list of needs was first seen empty; None while it has rows.

    `watched_since`: when this console first had any data.
    """

    since: Timestamp | None = None
    watched_since: Timestamp | None = None

    def update(self, now: Timestamp, *, needed: bool, is_loaded: bool) -> None:
        """Update with the present list; without data from the service there is no idle time."""
        if not is_loaded:
            return
        if self.watched_since is None:
            self.watched_since = now
        if needed:
            self.since = None
        elif self.since is None or self.since > now:
            # A clock that was set back starts the time again.
            self.since = now

    @property
    def is_from_start(self) -> bool:
        """True if nothing has needed the person since this console started."""
        return self.since is not None and self.since == self.watched_since
