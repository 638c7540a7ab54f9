"""The markets with which one can be compared: a list that a typed text narrows."""

from collections.abc import Iterator, Sequence
from typing import ClassVar, Final

from rich.text import Text
from textual import on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical, VerticalScroll
from textual.widgets import Input

from service_tui.console import formats
from service_tui.console.charts.sources import ending_of
from service_tui.console.forms.cursor_list import CursorList
from service_tui.console.keys import bindings_of
from service_tui.console.questions import short_question
from service_tui.console.saved import watchlists_of
from service_tui.console.theme import content
from service_tui.console.widgets.plain_input import PlainInput
from service_tui.console.widgets.text_block import TextBlock
from service_tui.desk.slices.markets import MarketView
from service_tui.desk.state import DeskState
from service_tui.folding import folded
from service_tui.units import Timestamp

ROWS_MAX: Final = 100
# ours: nobody reads a longer list; a few letters find the rest.

_NAME_CELLS: Final = 56
_WHY_CELLS: Final = 14
_NONE: Final = "No market matches."


class CompareMenu(CursorList[str, MarketView]):
    """Returns the id of the market to compare with.

    Args:
        state: the newest.
        now: wall time.
        market: the one that is compared.
        recent: ids of markets that were looked at, the newest first.
    """

    BINDINGS: ClassVar[list[BindingType]] = [*bindings_of("compare_menu")]

    name_in_keys: ClassVar[str] = "compare_menu"
    title_text: ClassVar[str] = "Compare with"

    def __init__(
        self, state: DeskState, now: Timestamp, market: MarketView, recent: Sequence[str]
    ) -> None:
        self._market, self._recent = market, recent
        self._line = PlainInput(placeholder="words of the question", compact=True)
        self._found = ranked(state, market, recent)
        self._why = dict(self._found)
        self._rows = self._matching(state, "")
        super().__init__(state, now)

    def compose(self) -> ComposeResult:
        """The typed text, and the markets that match it."""
        with Vertical(id="frame", classes="dialog") as frame:
            frame.border_title = content(Text(f" {self.title_text} "))
            yield self._line
            with VerticalScroll(classes="list-body", can_focus=False):
                yield TextBlock(classes="list-rows")

    def on_mount(self) -> None:
        """Show the markets; letters narrow them at once."""
        self._line.focus()

    def take(self, state: DeskState, now: Timestamp) -> None:
        """Receive a newer state; its markets are ranked anew."""
        if state.markets is not self.state.markets:
            self._found = ranked(state, self._market, self._recent)
            self._why = dict(self._found)
            self._rows = self._matching(state, self._line.value)
        super().take(state, now)

    def rows(self) -> Sequence[MarketView]:
        """The markets that match what was typed, the likeliest first."""
        return self._rows

    def key_of(self, row: MarketView) -> str:
        """The market."""
        return row.market_id

    def text(self) -> Text:
        """One line a market, with the reason why it stands so high, or how it ended."""
        if not self._rows:
            return Text(_NONE, "muted")
        return Text("\n").join(map(self._shown, self._rows))

    def action_choose(self) -> None:
        """Compare with the market under the cursor."""
        row = self.row_or_toast()
        if row is not None:
            self.dismiss(row.market_id)

    @on(Input.Changed)
    def _typed(self, event: Input.Changed) -> None:
        event.stop()
        self._rows = self._matching(self.state, event.value)
        # What is typed asks for another list: its first row is no fall of the cursor.
        self.at = self._rows[0].market_id if self._rows else ""
        self._place = 0
        self._show()

    @on(Input.Submitted)
    def _submitted(self, event: Input.Submitted) -> None:
        event.stop()
        self.action_choose()

    def _matching(self, state: DeskState, typed: str) -> tuple[MarketView, ...]:
        words = folded(typed).split()
        markets = (state.markets[market_id] for market_id, _ in self._found)
        matching = [
            market
            for market in markets
            if all(word in folded(f"{market.question} {market.category}") for word in words)
        ]
        return tuple(matching[:ROWS_MAX])

    def _shown(self, market: MarketView) -> Text:
        is_here = market.market_id == self.at
        name = formats.plain(short_question(market.question), _NAME_CELLS).plain
        why = self._why.get(market.market_id, "") if market.is_open else ending_of(market)
        return Text.assemble(
            ("▌ " if is_here else "  ", "accent"),
            (f"{name:<{_NAME_CELLS}}  ", "bold" if is_here else ""),
            (why, "muted"),
        )


def ranked(
    state: DeskState, market: MarketView, recent: Sequence[str]
) -> tuple[tuple[str, str], ...]:
    """The ids of the other markets with the reason of their rank.

    Those looked at lately come first, then those of watchlists, of the same event, of the same
    topic, and the rest by their question.
    """
    reasons: dict[str, str] = {}
    for market_id, reason in _reasons(state, market, recent):
        if market_id in state.markets and market_id != market.market_id:
            reasons.setdefault(market_id, reason)
    return tuple(reasons.items())


def _reasons(
    state: DeskState, market: MarketView, recent: Sequence[str]
) -> Iterator[tuple[str, str]]:
    yield from ((market_id, "seen") for market_id in recent)
    yield from ((market_id, "starred") for market_id in sorted(state.stars))
    for kept in watchlists_of(state.preferences):
        name = formats.plain(kept.name, _WHY_CELLS).plain
        yield from ((market_id, name) for market_id in kept.markets)
    by_question = sorted(state.markets.values(), key=lambda one: (one.question, one.market_id))
    if market.event_id:
        same = (one for one in by_question if one.event_id == market.event_id)
        yield from ((one.market_id, "same event") for one in same)
    # ours: the tag behind the category says the topic, as on the page of an event.
    topic = market.tags[1:2]
    if topic:
        same = (one for one in by_question if one.tags[1:2] == topic)
        yield from ((one.market_id, "same topic") for one in same)
    yield from ((one.market_id, "") for one in by_question)
