"""Views of the offline world's clock, and of events while the desk was closed."""

from dataclasses import dataclass, replace

from service_tui.desk.slices.markets import NewsView
from service_tui.outcome import Outcome
from service_tui.terms import INVENTED_SPEED_MAX, SPEEDS
from service_tui.units import Micros, Timestamp


@dataclass(frozen=True, slots=True)
class ResolvedView:
    """A market that resolved while the desk was closed."""

    at: Timestamp
    market_id: str
    question: str
    outcome: Outcome
    payout: Micros
    pnl: Micros


@dataclass(frozen=True, slots=True)
class AbsenceView:
    """Summary of what happened while the desk was closed."""

    closed_at: Timestamp
    opened_at: Timestamp
    world_elapsed_s: float
    resolved_count: int
    listed_count: int
    resolved: tuple[ResolvedView, ...]
    news: tuple[NewsView, ...]
    equity_before: Micros | None
    equity_after: Micros | None


@dataclass(frozen=True, slots=True)
class WorldView:
    """The offline world's clock: at wall time `wall_at` the world's time was `now`.

    `halted_at` is since when its service refuses the entries of every agent. `history` is the name
    of the recording on which it runs, empty for an invented world; `is_over`: the recording has
    ended, and the world stands still.
    """

    now: Timestamp
    wall_at: Timestamp
    speed: int
    seed: int
    open_count: int = 0
    meanwhile: AbsenceView | None = None
    halted_at: Timestamp | None = None
    history: str = ""
    is_over: bool = False

    @property
    def speeds(self) -> tuple[int, ...]:
        """The speeds that this world can run at, slowest first."""
        most = SPEEDS[-1] if self.history else INVENTED_SPEED_MAX
        return tuple(speed for speed in SPEEDS if speed <= most)

    @property
    def pace(self) -> int:
        """Seconds of the world in one of the wall; none where it stands still."""
        return 0 if self.is_over else self.speed

    def time_at(self, wall: Timestamp) -> Timestamp:
        """World time at a wall time soon after `wall_at`."""
        return Timestamp(self.now + max(0.0, wall - self.wall_at) * self.pace)

    def seen_again(self, newer: "WorldView") -> "WorldView":
        """The newer view; this one where the world stood still since, and nothing is new."""
        is_same = not self.pace and replace(newer, wall_at=self.wall_at) == self
        return self if is_same else newer
