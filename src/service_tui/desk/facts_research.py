"""What just became known of experiments, sessions and backtests.

Knows records. Must not know where a fact came from.
Used by pollers and handlers (which yield them) and by desk.reduce_research.
"""

from dataclasses import dataclass

from service_tui.desk.records_research import (
    BacktestView,
    DiffView,
    Source,
)


@dataclass(frozen=True, slots=True)
class ResearchSeen:
    """The service told its sessions and newest experiments; `needs_plan`: it tells nothing."""

    told: Source
    needs_plan: bool = False


@dataclass(frozen=True, slots=True)
class FilesSeen:
    """The files of sessions on this machine told theirs, with what runs there now."""

    filed: Source


@dataclass(frozen=True, slots=True)
class BacktestAsked:
    """A backtest is on its way; 0: none is."""

    request_id: int


@dataclass(frozen=True, slots=True)
class BacktestSeen:
    """A backtest has its figures, or `words` why it has none."""

    request_id: int
    backtest: BacktestView | None
    words: str = ""


@dataclass(frozen=True, slots=True)
class DiffSeen:
    """What a commit changed; None: the reader has closed it."""

    diff: DiffView | None


ResearchFact = ResearchSeen | FilesSeen | BacktestAsked | BacktestSeen | DiffSeen
"""Every fact of this subject."""
