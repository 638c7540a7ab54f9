"""The list of open orders, and their cancellation."""

from typing import ClassVar, Final

from rich.text import Text
from textual.app import App
from textual.binding import BindingType

from service_tui.console import formats
from service_tui.console.forms.confirm import Confirm, Question
from service_tui.console.forms.cursor_list import CursorList
from service_tui.console.freshness import is_private
from service_tui.console.keys import bindings_of, with_keys
from service_tui.console.messages import CommandGiven, GoTo, ToastMessage
from service_tui.console.widgets.top_bar import STALE_PERIODS
from service_tui.desk.commands.trading import CancelOrders
from service_tui.desk.freshness import age_s
from service_tui.desk.slices.orders import OpenOrderView, limit_text
from service_tui.desk.slices.records import Topic
from service_tui.terms import MONEY_OF, Action
from service_tui.units import Micros

_NONE: Final = (
    "No open orders.\n\nTo place a limit order on a real venue: {markets.buy} on the market, "
    "{ticket.venue} for the venue, {ticket.kind} for the limit."
)
_QUESTION_MAX: Final = 34
"""Letters of its market's question, so that it fits into 80 cells beside the rest."""

_UNKNOWN: Final = "Open orders not loaded yet."
_READ_ONLY: Final = "this desk is read-only: no cancellations"


class OpenOrders(CursorList[None, OpenOrderView]):
    """Open orders; a cancellation needs no confirmation, as it takes risk away."""

    BINDINGS: ClassVar[list[BindingType]] = [*bindings_of("open_orders")]

    name_in_keys: ClassVar[str] = "open_orders"
    title_text: ClassVar[str] = "Open orders"
    lines_of_a_row: ClassVar[int] = 2

    def rows(self) -> tuple[OpenOrderView, ...]:
        """The open orders."""
        return self.state.orders

    def key_of(self, row: OpenOrderView) -> str:
        """The order's key."""
        return row.key

    def action_cancel(self) -> None:
        """Cancel the order under the cursor, without a confirmation."""
        order = self.row_or_toast()
        if order is not None and not self._is_refused():
            self.post_message(CommandGiven(CancelOrders((order.order_id,), order.describe())))

    def action_cancel_all(self) -> None:
        """Cancel all listed orders, after a confirmation."""
        orders = self.state.orders
        if not orders or self._is_refused():
            return
        given = CancelOrders(tuple(order.order_id for order in orders))
        body = Text(f"Cancels all {len(orders)} open orders. Filled shares stay yours.")

        def answered(confirmed: bool | None) -> None:  # noqa: FBT001 - a dialog's result
            if confirmed:
                self.post_message(CommandGiven(given))

        app: App[object] = self.app  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType] - untyped
        app.push_screen(
            Confirm(Question("Cancel all open orders?", body, "cancel all", cancel="keep")),
            answered,
        )

    def action_open_market(self) -> None:
        """Close, and show the market of the order under the cursor."""
        order = self.row_or_toast()
        if order is None:
            return
        if order.market_id in self.state.markets:
            self.post_message(GoTo("markets", order.market_id))
            self.dismiss(None)
        else:
            self.post_message(ToastMessage("market not listed", "warn"))

    def _is_refused(self) -> bool:
        if self.state.service.read_only:
            self.post_message(ToastMessage(_READ_ONLY, "warn"))
        return self.state.service.read_only

    def text(self) -> Text:
        """The orders, or why none is listed."""
        lines = [self._lines(order) for order in self.rows()]
        foot = self._foot()
        if not lines and not self.state.service.dropped.get(Topic.ORDERS):
            empty = with_keys(_NONE) if Topic.ORDERS in self.state.seen else _UNKNOWN
            lines = [Text(empty, "muted")]
        return Text("\n").join([*lines, *foot])

    def _foot(self) -> list[Text]:
        """Notes on rows that could not be read, and on an old list."""
        service, foot = self.state.service, list[Text]()
        if dropped := service.dropped.get(Topic.ORDERS, 0):
            text = f"{dropped} orders unreadable: the earlier list stays"
            foot.append(Text(text, "warn"))
        age, period = age_s(self.state, Topic.ORDERS, self.now), self.state.polls.get(Topic.ORDERS)
        if age is not None and period is not None and age > STALE_PERIODS * period:
            why = service.problem if service.problem_of is Topic.ORDERS else ""
            text = f"list from {formats.duration(age)} ago{': ' if why else ''}"
            foot.append(Text.assemble((text, "warn"), formats.plain(why)))
        return foot

    def _lines(self, order: OpenOrderView) -> Text:
        """Two lines: the order with its remainder, then its market and money."""
        masked, here = is_private(self.state), order.key == self.at
        mark = ("▌ " if here else "  ", "accent")
        filled = formats.shares(order.filled, masked=masked)
        unit = MONEY_OF[order.venue]
        money = formats.money(order.money, masked=masked)
        tail = " reserved" if order.action is Action.BUY else " at limit"
        size = formats.shares(Micros(order.filled + order.shares), masked=masked)
        until = "until cancelled" if order.expires_at is None else "until it expires"
        return Text.assemble(
            mark,
            (f"{order.action.value} {order.side.value.upper()} ", "bold" if here else ""),
            Text.assemble(filled, "/", size, " filled @ "),
            (limit_text(order.price), "bold"),
            Text.assemble(", ", money, f" {unit}{tail}"),
            ("\n", ""),
            mark,
            (f"{order.venue.value} ", "live"),
            (f"{until}, {formats.age(order.created_at, self.now)} old  ", "muted"),
            formats.plain(order.question or order.market_id, _QUESTION_MAX),
        )
