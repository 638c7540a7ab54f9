"""The display of the feed: filters by state and wallet, live or paused."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from rich.text import Text

from service_tui.console.keys import cap
from service_tui.console.screens.reactor.table import ReactorRow, rows_of_paused, wallet_name
from service_tui.console.view_context import ViewContext
from service_tui.console.widgets.text_block import TextBlock
from service_tui.desk.slices.reactor import ReactorView, SignalState, SignalView

STATES: Final[tuple[tuple[str, frozenset[SignalState]], ...]] = (
    ("all", frozenset(SignalState)),
    ("waiting", frozenset({SignalState.PENDING, SignalState.MIRRORING})),
    ("mirrored", frozenset({SignalState.MIRRORED})),
    ("skipped", frozenset({SignalState.SKIPPED})),
    ("failed", frozenset({SignalState.FAILED, SignalState.UNKNOWN})),
)
"""The filters by state, in the order of the key."""


@dataclass(frozen=True, slots=True)
class FeedFilter:
    """The signals to show: a place of `STATES`, and one wallet or, empty, every one."""

    state: int = 0
    wallet: str = ""

    def __bool__(self) -> bool:
        """True if any signal is hidden."""
        return bool(self.state or self.wallet)

    def to_choices(self) -> dict[str, str]:
        """The filters by name, for the next start."""
        return {"state": STATES[self.state][0], "wallet": self.wallet}

    @classmethod
    def from_choices(cls, choices: Mapping[str, str]) -> "FeedFilter":
        """The filters of a former start; an unknown state is every one."""
        names = [name for name, _ in STATES]
        state = choices.get("state", "")
        return cls(names.index(state) if state in names else 0, choices.get("wallet", ""))

    def wants(self, row: ReactorRow) -> bool:
        """True if a row is shown: only signals are hidden."""
        if not isinstance(row, SignalView):
            return True
        return row.state in STATES[self.state][1] and self.wallet in {"", row.wallet}


class FeedLine(TextBlock):
    """Shows the feed's filters. It keeps the operator's choices on the screen."""

    def __init__(self) -> None:
        super().__init__(id="reactor-filter")
        self.filter_in_force = FeedFilter()
        self.paused_rows: tuple[SignalView, ...] | None = None
        """The signals at which the feed was paused; None while it is live."""

    def rows(self, reactor: ReactorView) -> tuple[SignalView, ...]:
        """The signals of the feed, or those at which it was paused, as they are now."""
        return (
            reactor.signals
            if self.paused_rows is None
            else rows_of_paused(self.paused_rows, reactor)
        )

    def show_filter(self, view: ViewContext) -> None:
        """Show the filters, and the number of signals since the feed was paused."""
        self.show_text(filter_text(self.filter_in_force, view, self._newer(view.state.reactor)))

    def _newer(self, reactor: ReactorView) -> int | None:
        if self.paused_rows is None:
            return None
        held = {row.signal_id for row in self.paused_rows}
        return sum(signal.signal_id not in held for signal in reactor.signals)


def filter_text(feed_filter: FeedFilter, view: ViewContext, newer: int | None) -> Text:
    """The feed's filters; `newer` counts the signals since it was paused, None while it is live."""
    line = Text()
    if newer is not None:
        line.append("frozen", "bold stale")
        count = f", {newer} newer" if newer else ""
        line.append(f"{count}; {cap('reactor.freeze')} resumes", "stale")
    if feed_filter.state:
        line.append(f"{'   ' if line else ''}only {STATES[feed_filter.state][0]}", "bold accent")
    if feed_filter.wallet:
        label = view.state.reactor.label_of(feed_filter.wallet)
        line.append("   only " if line else "only ", "bold accent")
        line.append(wallet_name(label, feed_filter.wallet, masked=view.masked).plain, "bold accent")
    return line or Text(
        f"filters: {cap('reactor.state')}, {cap('reactor.wallet')}, {cap('rows.filter')}",
        "muted",
    )
