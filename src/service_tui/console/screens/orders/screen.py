"""Every command given, how far it came, and how it ended."""

from collections.abc import Mapping
from typing import ClassVar, Final, NamedTuple

from rich.text import Text
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Horizontal, Vertical, VerticalScroll

from service_tui.console import formats
from service_tui.console.forms.explain import Explanation
from service_tui.console.freshness import is_private, of_wall, on_wall
from service_tui.console.keys import bindings_of, with_keys
from service_tui.console.messages import GoTo, Said
from service_tui.console.parts.rows import RowsScreen
from service_tui.console.parts.ticket_text import COMPARED, number_of, ticket_detail, words_of
from service_tui.console.screens.orders.columns import milliseconds, ticket_columns
from service_tui.console.widgets.record_table import RecordTable
from service_tui.console.widgets.words import Words
from service_tui.desk.chain.run_tickets import run_tickets
from service_tui.desk.fill_tickets import fill_tickets
from service_tui.desk.slices.records import TicketView, TradeView
from service_tui.desk.slices.redemption import RunView
from service_tui.desk.state import DeskState
from service_tui.units import Timestamp

_SORT: Final = "time falling"
_UNREAD: Final = "Not known yet: the commands of earlier days are being read."
_NONE: Final = (
    "No command yet.\n\n"
    "Every order you place appears here, with what became of it.\n"
    "{app.markets} shows the markets; {markets.buy} there opens the ticket."
)


class BlotterPart(NamedTuple):
    """What this screen shows."""

    tickets: tuple[TicketView, ...]
    runs: tuple[RunView, ...]
    trades: tuple[TradeView, ...]
    is_read: bool
    masked: bool


class BlotterScreen(RowsScreen[BlotterPart, TicketView]):  # noqa: PLR0904 - one action a key
    """The list, newest first, and one command in detail."""

    BINDINGS: ClassVar[list[BindingType]] = [*bindings_of("blotter")]

    sizes: ClassVar[Mapping[str, tuple[int, int]]] = {"-beside": (120, 0)}
    """From where the detail stands beside the list; below it, under the list."""

    name_in_keys: ClassVar[str] = "blotter"
    title: ClassVar[str] = "Blotter"

    def __init__(self, state: DeskState, now: Timestamp) -> None:
        super().__init__(state, now)
        self.table = RecordTable[TicketView](
            ticket_columns(lambda: self.state),
            key=lambda ticket: ticket.ticket_id,
            empty=_UNREAD,
            id="blotter-table",
        )
        self._detail = Words(id="blotter-detail-text", keeps_room=True)
        self._wide = 40
        self._open_only = False

    def compose(self) -> ComposeResult:
        """The list with its search line, the detail."""
        yield self.line
        with Horizontal(id="blotter-body"):
            with Vertical(id="blotter-list"):
                yield self.table
            with VerticalScroll(id="blotter-detail"):
                yield self._detail

    def on_mount(self) -> None:
        """Sort as last time."""
        self.restore_sort(_SORT)

    def part_of(self, state: DeskState) -> BlotterPart:
        """The commands, the redemptions, and whether amounts are masked."""
        return BlotterPart(
            state.tickets,
            state.redemption.runs,
            state.trades,
            bool(state.polls),
            is_private(state),
        )

    def show(self, part: BlotterPart) -> None:
        """Show the commands, redemptions and fills of others among them."""
        # What there is to poll is known once the desk is open, and with it its commands.
        self.table.empty = with_keys(_NONE) if part.is_read else _UNREAD
        others = fill_tickets(part.trades, part.tickets)
        self.table.show((*run_tickets(part.runs), *part.tickets, *others))
        self.show_focus()

    @property
    def compared(self) -> tuple[str, ...]:
        """Columns that can be compared."""
        return COMPARED

    def words_of(self, row: TicketView) -> str:
        """Everything that a search finds a command by."""
        return words_of(row, self.state)

    def number_of(self, row: TicketView, column: str) -> float | None:
        """A command's value in a column."""
        return number_of(row, column, self.now)

    @property
    def is_narrowed(self) -> bool:
        """Whether only what has no end yet is shown."""
        return self._open_only

    def wants(self, row: TicketView) -> bool:
        """Whether a command is shown, were there no search."""
        return row.in_flight or not self._open_only

    def show_all(self) -> None:
        """Leave no command out."""
        self._open_only = False
        super().show_all()

    def name_of(self, row: TicketView) -> str:
        """Its reference, by which the service knows it; else what was ordered."""
        return row.client_ref or row.what

    def explained(self, row: TicketView | None) -> tuple[Explanation, ...]:
        """How long a command took."""
        if row is None:
            return ()
        formula = "settled - sent" if row.sent_at is not None else "settled - opened"
        wall = on_wall(self.state)
        moments = (
            (f"opened{wall}", formats.moment_of(row.opened_at, self.now)),
            (f"sent{wall}", formats.moment_of(row.sent_at, self.now)),
            (f"settled{wall}", formats.moment_of(row.settled_at, self.now)),
        )
        age = formats.age(row.opened_at, self.now)
        took = Text(milliseconds(row))
        return (Explanation("took, ms", took, formula, moments, "measured here", age),)

    def action_open_market(self) -> None:
        """Show the market of the command that is highlighted."""
        ticket = self.row_in_focus()
        if ticket is None:
            return
        if ticket.market_id:
            self.post_message(GoTo("markets", ticket.market_id))
        else:
            self.post_message(Said("this command is about no market", "warn"))

    def action_open_orders(self) -> None:
        """List what rests on a book; there it is cancelled."""
        from service_tui.console.forms.open_orders import OpenOrders  # noqa: PLC0415 - not at first

        self._app().push_screen(OpenOrders(self.state, self.now))

    def action_why(self) -> None:
        """Why it traded: the chain of this order, as far as it is known."""
        from service_tui.console.forms.why import Why  # noqa: PLC0415 - not in the first frame
        from service_tui.desk.audit.why import why_ticket  # noqa: PLC0415 - nor what it shows

        ticket = self.row_in_focus()
        if ticket is None:
            return
        if ticket.market_id:
            chain = why_ticket(self.state, ticket)
            self._app().push_screen(
                Why(chain, self.now, masked=is_private(self.state), clock=of_wall(self.state))
            )
        else:
            self.post_message(Said("this command is about no market", "warn"))

    def action_toggle_open(self) -> None:
        """Show only what has no end yet, or all."""
        self._open_only = not self._open_only
        self.filter_rows()

    def action_open(self) -> None:
        """Show the market of the command that is highlighted."""
        self.action_open_market()

    def show_focus(self) -> None:
        """Show the command under the cursor."""
        ticket = self.table.selected()
        text = Text("no command highlighted", "muted")
        if ticket is not None:
            # Coming back, it has no size until it is laid out: most likely that of before.
            self._wide = self._detail.size.width or self._wide
            text = ticket_detail(ticket, self.state, self.now, width=self._wide)
        self._detail.tell(text)
