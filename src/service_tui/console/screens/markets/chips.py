"""The filters of the markets, as a strip of switches above the list."""

from service_tui.console.freshness import counted, is_answered
from service_tui.console.screens.markets.filter import MarketFilter
from service_tui.console.widgets.segmented_control import SegmentedControl
from service_tui.desk.slices.topics import Topic
from service_tui.desk.state import DeskState


class MarketChips(SegmentedControl, can_focus=False):
    """Holds the filter; a click on a switch does the same as its key."""

    SWITCHES = (
        "markets.category",
        "markets.status",
        "markets.until",
        "markets.venue",
        "markets.held",
        "markets.starred",
    )
    """The keys of the switches, behind the number of markets."""

    def __init__(self, filter_in_force: MarketFilter, *, id: str) -> None:  # noqa: A002 - Textual's own word
        super().__init__(id=id)
        self.filter_in_force = filter_in_force

    def show_number(self, state: DeskState, number: int) -> None:
        """Show the number of listed markets, and the filters in force."""
        chips = self.filter_in_force.chips()
        total = counted(len(state.markets), is_loaded=is_answered(state, Topic.MARKETS))
        labels = (f"{number:,} of {total}", *(chip.words for chip in chips))
        narrows = frozenset(place for place, chip in enumerate(chips, start=1) if chip.narrows)
        self.show(labels, None, strong=narrows)
