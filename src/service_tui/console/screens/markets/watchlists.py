"""The lists of markets that a person keeps: which markets are in each, and which list is shown."""

from collections.abc import Sequence
from typing import ClassVar, Final

from rich.text import Text
from textual.binding import BindingType

from service_tui.console import formats
from service_tui.console.forms.cursor_list import CursorList
from service_tui.console.forms.name_form import ChosenName, NameForm
from service_tui.console.keys import bindings_of, with_keys
from service_tui.console.messages import CommandGiven
from service_tui.console.questions import short_question
from service_tui.console.saved import (
    LABEL_MAX,
    Watchlist,
    keep_watchlists,
    named,
    read_name,
    watchlists_of,
    with_named,
)
from service_tui.console.widgets.dialog import open_above
from service_tui.desk.slices.markets import MarketView
from service_tui.desk.state import DeskState
from service_tui.terms import counted
from service_tui.units import Timestamp

_NONE: Final = "No watchlists yet.\n\n{watchlists.new} makes one with these markets."
_TITLE_CELLS: Final = 56


class Watchlists(CursorList[str, Watchlist]):
    """Returns the name of the list to show.

    Args:
        state: the newest.
        now: wall time.
        markets: those that space puts into a list, or takes out: highlighted or marked.
    """

    BINDINGS: ClassVar[list[BindingType]] = [*bindings_of("watchlists")]

    name_in_keys: ClassVar[str] = "watchlists"
    title_text: ClassVar[str] = "Watchlists"

    def __init__(self, state: DeskState, now: Timestamp, markets: Sequence[MarketView]) -> None:
        self._markets = tuple(markets)
        self._ids = frozenset(market.market_id for market in markets)
        super().__init__(state, now)

    def rows(self) -> tuple[Watchlist, ...]:
        """The lists, in the order in which they were made."""
        return watchlists_of(self.state.preferences)

    def key_of(self, row: Watchlist) -> str:
        """The name."""
        return row.name

    def text(self) -> Text:
        """What is put into a list, and one line a list."""
        rows = self.rows()
        lines = list(map(self._line, rows)) if rows else [Text(with_keys(_NONE), "muted")]
        return Text("\n").join([self._about(), Text(), *lines])

    def action_choose(self) -> None:
        """Show the list under the cursor."""
        row = self.row_or_toast()
        if row is not None:
            self.dismiss(row.name)

    def action_flip(self) -> None:
        """Put the markets into the list under the cursor; once all are in it, take them out."""
        row = self.row_or_toast()
        if row is not None and self._ids:
            is_in = self._ids <= frozenset(row.markets)
            ids = [market.market_id for market in self._markets]
            changed = row.without_markets(self._ids) if is_in else row.with_markets(ids)
            self._keep(with_named(self.rows(), changed))

    def action_new(self) -> None:
        """Make a list of the markets under a name; one of the same name gets them as well."""
        rows = self.rows()
        form = NameForm(self.state, self.now, lambda typed: read_name(typed, rows), self._about())
        open_above(self, form, self._make)

    def action_remove(self) -> None:
        """Remove the list under the cursor; the markets stay."""
        row = self.row_or_toast()
        if row is not None:
            self._keep([one for one in self.rows() if one.name != row.name])

    def _make(self, chosen: ChosenName) -> None:
        rows = self.rows()
        made = (named(rows, chosen.text) or Watchlist(chosen.text)).with_markets(
            one.market_id for one in self._markets
        )
        self.at = made.name
        self._keep(with_named(rows, made))

    def _keep(self, lists: Sequence[Watchlist]) -> None:
        self.post_message(CommandGiven(keep_watchlists(lists)))

    def _about(self) -> Text:
        first = next(iter(self._markets), None)
        if first is None:
            return Text("No market is highlighted.", "muted")
        if len(self._markets) > 1:
            return Text(f"{counted(len(self._markets), 'marked market')}", "bold")
        question = short_question(first.question)
        return Text(formats.plain(question, _TITLE_CELLS).plain, "bold")

    def _line(self, row: Watchlist) -> Text:
        is_here, known = row.name == self.at, frozenset(row.markets)
        inside = len(self._ids & known)
        sign = "✓" if self._ids and inside == len(self._ids) else "~" if inside else "·"
        return Text.assemble(
            ("▌ " if is_here else "  ", "accent"),
            (f"{sign} ", "accent" if inside else "muted"),
            (
                f"{formats.plain(row.name, LABEL_MAX).plain:<{LABEL_MAX + 2}}",
                "bold" if is_here else "",
            ),
            (counted(len(row.markets), "market"), "muted"),
        )
