"""Commands for experiments and backtests. Frozen values."""

from dataclasses import dataclass
from typing import ClassVar

from service_tui.desk.command import Command
from service_tui.terms import Direction, Venue


@dataclass(frozen=True, slots=True)
class RunBacktest(Command):
    """Replay the trades of a skill under thresholds; `sweep` tries every combination of a grid.

    A reading: leaves no row, and a newer one replaces it. `days` is 1 to 30.
    """

    kind: ClassVar[str] = "backtest"

    request_id: int
    skill: str
    config: tuple[tuple[str, float], ...] = ()
    days: int = 7
    venue: Venue = Venue.SIM
    sweep: tuple[tuple[str, tuple[float, ...]], ...] = ()

    def describe(self) -> str:
        """Describe the command in plain English."""
        what = "sweep" if self.sweep else "backtest"
        return f"{what} {self.skill} over {self.days} days"


@dataclass(frozen=True, slots=True)
class ReadEvaluations(Command):
    """Read the reports of evaluations of this machine. A reading."""

    kind: ClassVar[str] = "evaluations"

    def describe(self) -> str:
        """Describe the command in plain English."""
        return "read the evaluations"


@dataclass(frozen=True, slots=True)
class StartSession(Command):
    """Begin a series of experiments with a fresh baseline, in a worktree of a repository.

    `allows_shell`: the client of the session may run shell commands there.
    """

    kind: ClassVar[str] = "research"

    name: str
    skill: str
    metric_name: str
    metric_unit: str = "$"
    direction: Direction = Direction.HIGHER
    repository: str = ""
    allows_shell: bool = False

    def describe(self) -> str:
        """Describe the command in plain English."""
        return f"start the session {self.name} on {self.skill}"


@dataclass(frozen=True, slots=True)
class EndSession(Command):
    """Accept no more experiments of a skill until a new session begins."""

    kind: ClassVar[str] = "research"

    skill: str

    def describe(self) -> str:
        """Describe the command in plain English."""
        return f"turn autoresearch off for {self.skill}"


@dataclass(frozen=True, slots=True)
class ResetSession(Command):
    """Begin a fresh baseline of a skill, with the metric and in the repository of before."""

    kind: ClassVar[str] = "research"

    skill: str

    def describe(self) -> str:
        """Describe the command in plain English."""
        return f"new baseline of {self.skill}"


@dataclass(frozen=True, slots=True)
class ShowDiff(Command):
    """Read what a commit of a session changed. A reading; an empty `commit` closes it."""

    kind: ClassVar[str] = "diff"

    key: str
    commit: str

    def describe(self) -> str:
        """Describe the command in plain English."""
        return f"show the diff of {self.commit}"
