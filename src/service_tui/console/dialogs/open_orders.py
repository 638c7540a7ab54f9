"""Everything of ours that rests on a book, and the way to take it off again.

Knows the desk's state and its commands. Must not know how an order is cancelled.
Used by the portfolio and the blotter.
"""

from typing import ClassVar, Final

from rich.text import Text
from textual.app import App, ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical, VerticalScroll
from textual.screen import ModalScreen

from service_tui.console import formats
from service_tui.console.dialogs.confirm import Confirm, Question
from service_tui.console.freshness import is_private
from service_tui.console.keys import bindings_of, keys_of, shown_key
from service_tui.console.messages import CommandGiven, GoTo, Said
from service_tui.console.theme import content
from service_tui.console.widgets.words import Words
from service_tui.desk.commands_orders import CancelOrders
from service_tui.desk.records import Topic
from service_tui.desk.records_orders import OpenOrderView, price_in_words
from service_tui.desk.state import DeskState
from service_tui.terms import MONEY_OF, Action
from service_tui.units import Timestamp

_NONE: Final = (
    "Nothing rests on a book.\n\nOn a market of a real venue b opens the ticket, F7 takes the "
    "venue, and F8 rests at a limit."
)
_UNKNOWN: Final = "What rests is not known before the service's first answer."
_READ_ONLY: Final = "this desk is read-only: it cancels nothing"


class OpenOrders(ModalScreen[None]):
    """A list with a cursor, which follows its order by identity; cancelling takes risk away."""

    BINDINGS: ClassVar[list[BindingType]] = [
        *bindings_of("dialog"),
        *bindings_of("open_orders"),
        Binding("j,down", "step(1)", show=False),
        Binding("k,up", "step(-1)", show=False),
    ]

    def __init__(self, state: DeskState, now: Timestamp) -> None:
        super().__init__()
        self._state = state
        self._now = now
        self._at = state.orders[0].key if state.orders else ""

    def compose(self) -> ComposeResult:
        """The orders, and the keys that work."""
        with Vertical(id="frame", classes="dialog") as frame:
            frame.border_title = content(Text(" Open orders "))
            frame.border_subtitle = content(Text(" esc closes "))
            with VerticalScroll(id="orders-body", can_focus=False):
                yield Words(id="orders-list")
            yield Words(id="orders-keys")

    def on_mount(self) -> None:
        """Show what rests."""
        self._show()

    def take(self, state: DeskState, now: Timestamp) -> None:
        """Receive a newer state; the cursor of an order that is gone goes to its neighbour."""
        known = [order.key for order in self._state.orders]
        left = {order.key for order in state.orders}
        if self._at not in left:
            place = known.index(self._at) if self._at in known else 0
            after = [key for key in (*known[place:], *reversed(known[:place])) if key in left]
            self._at = next(iter((*after, *(order.key for order in state.orders))), "")
        self._state, self._now = state, now
        self._show()

    def action_step(self, by: int) -> None:
        """The next order, or the one before."""
        keys = [order.key for order in self._state.orders]
        if self._at in keys:
            self._at = keys[max(0, min(keys.index(self._at) + by, len(keys) - 1))]
            self._show()

    def action_cancel(self) -> None:
        """Cancel the order under the cursor; that takes risk away, and asks nothing."""
        order = self._chosen()
        if order is not None and not self._is_refused():
            self.post_message(CommandGiven(CancelOrders((order.order_id,), order.in_words())))

    def action_cancel_all(self) -> None:
        """Cancel all that are listed, once that is confirmed."""
        orders = self._state.orders
        if not orders or self._is_refused():
            return
        given = CancelOrders(tuple(order.order_id for order in orders))
        body = Text(f"All {len(orders)} are taken off their books; what was filled stays yours.")

        def answered(confirmed: bool | None) -> None:  # noqa: FBT001 - a dialog's result
            if confirmed:
                self.post_message(CommandGiven(given))

        app: App[object] = self.app  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType] - untyped
        app.push_screen(Confirm(Question("Cancel every open order?", body, "cancel all")), answered)

    def action_open_market(self) -> None:
        """Leave, and show the market of the order under the cursor."""
        order = self._chosen()
        if order is None:
            return
        if order.market_id in self._state.markets:
            self.post_message(GoTo("markets", order.market_id))
            self.dismiss(None)
        else:
            self.post_message(Said("that market is not among those known here", "warn"))

    def action_close(self) -> None:
        """Leave."""
        self.dismiss(None)

    def _is_refused(self) -> bool:
        if self._state.service.read_only:
            self.post_message(Said(_READ_ONLY, "warn"))
        return self._state.service.read_only

    def _chosen(self) -> OpenOrderView | None:
        return next((order for order in self._state.orders if order.key == self._at), None)

    def _show(self) -> None:
        state = self._state
        lines = [self._lines(order) for order in state.orders]
        empty = _NONE if Topic.ORDERS in state.seen else _UNKNOWN
        keys = "   ".join(f"{shown_key(key)} {key.label}" for key in keys_of("open_orders"))
        told = {
            "list": Text("\n").join(lines) if lines else Text(empty, "muted"),
            "keys": Text(keys if lines else "", "muted"),
        }
        # A state may come before the parts stand, or while they are taken down.
        for name, words in told.items():
            for part in self.query(f"#orders-{name}").results(Words):
                part.tell(words)

    def _lines(self, order: OpenOrderView) -> Text:
        """Two lines: the order and what is left of it, then its market and money."""
        masked, here = is_private(self._state), order.key == self._at
        mark = ("▌ " if here else "  ", "accent")
        filled = formats.shares(order.filled, masked=masked)
        unit = MONEY_OF[order.venue]
        money = formats.money(order.money, masked=masked)
        what = "keeps" if order.action is Action.BUY else "asks for"
        until = "until cancelled" if order.expires_at is None else "until it expires"
        return Text.assemble(
            mark,
            (f"{order.action.value} {order.side.value.upper()} ", "bold" if here else ""),
            Text.assemble(formats.shares(order.shares, masked=masked), " left at "),
            (price_in_words(order.price), "bold"),
            Text.assemble(", ", filled, " filled, ", what, " ", money, f" {unit}"),
            ("\n", ""),
            mark,
            (f"{order.venue.value} ", "live"),
            (f"{until}, {formats.age(order.created_at, self._now)}  ", "muted"),
            formats.plain(order.question or order.market_id, 80),
        )
