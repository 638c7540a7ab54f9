"""A history whose markets end in every way, on every venue."""

from pathlib import Path
from typing import Final

from service_tui.outcome import NO, VOID, YES, Outcome
from service_tui.storage.history_file import VOID as GIVEN_BACK
from service_tui.storage.history_file import HistoryWriter, MarketRow, history_path
from service_tui.terms import Venue

BEGIN: Final = 1_700_000_000.0
CLOSE: Final = BEGIN + 86_400.0
END: Final = CLOSE + 3_600.0
NAME: Final = "ends"
ENDS: Final[dict[str, Outcome]] = {
    "yes": YES, "no": NO, "part": Outcome.at(0.35), "void": VOID
}  # fmt: skip
SOURCES: Final = {Venue.EVM: "polymarket", Venue.SOL: "kalshi", Venue.SIM: "own"}


def question_of(end: str, venue: Venue) -> str:
    return f"Does it end {end} on {venue.value}?"


def write_ends(folder: Path) -> None:
    """One market for each end and venue, all open from BEGIN to CLOSE and ended at END."""
    writer = HistoryWriter(history_path(folder, NAME))
    for end, outcome in ENDS.items():
        for venue, source in SOURCES.items():
            row = MarketRow(
                source, end, "", question_of(end, venue), "science", BEGIN, CLOSE, END,
                GIVEN_BACK if outcome.part is None else outcome.part, 1_000.0,
            )  # fmt: skip
            times = [BEGIN + 1_800.0 * step for step in range(40)]
            writer.add(row, times, [0.5 + 0.01 * (step % 5) for step in range(40)])
    late = MarketRow("own", "late", "", "Is it late?", "science", BEGIN, None, None, None, 0.0)
    writer.add(late, [BEGIN, END + 7 * 86_400.0], [0.5, 0.6])
    writer.finish(NAME)
