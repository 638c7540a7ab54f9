"""The filters of the markets, as a strip of switches above the list."""

from service_tui.console.freshness import counted, is_heard
from service_tui.console.screens.markets.filter import MarketFilter
from service_tui.console.widgets.choice import Choice
from service_tui.desk.slices.records import Topic
from service_tui.desk.state import DeskState


class MarketChips(Choice, can_focus=False):
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

    def __init__(self, wanted: MarketFilter, *, id: str) -> None:  # noqa: A002 - Textual's own word
        super().__init__(id=id)
        self.wanted = wanted

    def show_number(self, state: DeskState, number: int) -> None:
        """Show the number of listed markets, and the filters in force."""
        chips = self.wanted.chips()
        total = counted(len(state.markets), heard=is_heard(state, Topic.MARKETS))
        words = (f"{number:,} of {total}", *(chip.words for chip in chips))
        narrows = frozenset(place for place, chip in enumerate(chips, start=1) if chip.narrows)
        self.show(words, None, strong=narrows)
