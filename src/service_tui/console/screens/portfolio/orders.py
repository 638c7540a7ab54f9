"""The table of open orders, and one of them in detail."""

from typing import Final

from rich.text import Text

from service_tui.console import formats
from service_tui.console.figures import Figure, figures
from service_tui.console.keys import with_keys
from service_tui.console.table_spec import (
    TableSpec,
    amount_column,
    market_column,
    side_column,
    venue_mark,
    word_column,
)
from service_tui.console.view_context import ViewContext
from service_tui.console.widgets.columns import Column
from service_tui.console.widgets.detail_pane import Detail
from service_tui.console.widgets.top_bar import STALE_PERIODS
from service_tui.desk.freshness import age_s
from service_tui.desk.slices.orders import OpenOrderView, limit_text, moment_text
from service_tui.desk.slices.topics import Topic
from service_tui.desk.state import DeskState
from service_tui.folding import folded
from service_tui.terms import MONEY_OF, Action
from service_tui.units import Micros, Timestamp, decimal

_NONE: Final = (
    "No open orders.\n\nIn a market of a real venue {markets.buy} opens the ticket; "
    "{ticket.venue} selects the venue, {ticket.kind} a limit order."
)
_TWO_ACROSS: Final = 44
"""Cells from which figures stand in two columns."""

_UNREAD: Final = "Open orders appear with the service's first answer."


def _limit_text(order: OpenOrderView) -> Text:
    return Text(limit_text(order.price))


def _expiry_text(order: OpenOrderView, view: ViewContext) -> Text:
    if order.expires_at is None:
        return Text(order.order_type.value, "muted")
    return Text(formats.duration_short(max(0.0, order.expires_at - view.now)))


def _venue_text(order: OpenOrderView) -> Text:
    return Text(venue_mark(order.venue), "live")


def _reserved(order: OpenOrderView) -> Micros | None:
    """Money that a buy reserves; a sale reserves shares."""
    return order.money if order.action is Action.BUY else None


def _search_text(order: OpenOrderView, _: ViewContext) -> str:
    where = f"{order.venue.value} {MONEY_OF[order.venue]}"
    return folded(f"{order.question} {order.action.value} {order.side.value} {where}")


def notes(state: DeskState, now: Timestamp) -> Text:
    """What the list lacks: rows that could not be read, or an answer of now."""
    parts = list[Text]()
    if dropped := state.service.dropped.get(Topic.ORDERS, 0):
        parts.append(Text(f"{dropped} open orders cannot be read; those listed stay", "warn"))
    age, period = age_s(state, Topic.ORDERS, now), state.polls.get(Topic.ORDERS)
    if age is not None and period is not None and age > STALE_PERIODS * period:
        why = state.service.problem if state.service.problem_of is Topic.ORDERS else ""
        text = f"open orders as of {formats.duration(age)} ago{': ' if why else ''}"
        parts.append(Text.assemble((text, "warn"), formats.plain(why) if why else ""))
    return Text("\n").join(parts)


def _empty_text(state: DeskState) -> str:
    return with_keys(_NONE) if Topic.ORDERS in state.seen else _UNREAD


ORDERS: Final = TableSpec[OpenOrderView](
    "orders",
    rows=lambda state: state.orders,
    key=lambda order: order.key,
    columns=(
        market_column("question", width=18),
        Column(
            "action",
            "action",
            6,
            lambda order, _: Text(order.action.value),
            sort_key=lambda order, _: order.action.value,
        ),
        side_column(),
        Column(
            "limit",
            "limit",
            6,
            lambda order, _: _limit_text(order),
            sort_key=lambda order, _: order.price,
            numeric=True,
        ),
        amount_column("shares", "open", 9, lambda order: order.shares, formats.shares),
        amount_column("filled", "filled", 9, lambda order: order.filled, formats.shares),
        amount_column("money", "reserved", 9, _reserved, formats.money, tier=100),
        word_column("currency", "ccy", 6, lambda order: MONEY_OF[order.venue], tier=118),
        Column(
            "expires",
            "expires",
            7,
            _expiry_text,
            sort_key=lambda order, _: order.expires_at,
            align="right",
            tier=110,
        ),
        Column(
            "age",
            "age",
            4,
            lambda order, view: formats.age(order.created_at, view.now),
            sort_key=lambda order, _: -order.created_at,
            align="right",
            glows=False,
        ),
        Column("venue", "venue", 5, lambda order, _: _venue_text(order), tier=78),
    ),
    search_text=_search_text,
    empty_text=_empty_text,
    sort="age",
    compared={
        "limit": lambda order, _: order.price,
        "shares": lambda order, _: decimal(order.shares),
        "filled": lambda order, _: decimal(order.filled),
        "age": lambda order, view: view.now - order.created_at,
    },
    is_loaded=lambda state: Topic.ORDERS in state.seen,
)


def describe_order(order: OpenOrderView, view: ViewContext) -> Detail:
    """An open order in full."""
    currency = MONEY_OF[order.venue]
    is_buy = order.action is Action.BUY
    head = Text.assemble(
        (formats.plain(order.question).plain, "bold"),
        "\n",
        (f"{order.action.value.upper()} ", "bold"),
        (order.side.value.upper(), f"bold {order.side.value}"),
        (f"  limit {limit_text(order.price)}  ", "bold"),
        (order.venue.value, "live"),
    )
    rows: tuple[Figure, ...] = (
        ("open shares", view.shares(order.shares)),
        ("filled shares", view.shares(order.filled)),
        (f"{'reserved' if is_buy else 'proceeds'} {currency}", view.money(order.money)),
        ("age", formats.age(order.created_at, view.now)),
    )
    expiry = (
        Text("good till cancelled")
        if order.expires_at is None
        else Text.assemble(
            f"{moment_text(order.expires_at)}, ", formats.until(order.expires_at, view.now)
        )
    )
    rest = Text.assemble(
        ("expires   ", "muted"),
        expiry,
        "\n",
        ("order     ", "muted"),
        formats.plain(order.order_id),
    )
    across = 2 if view.width >= _TWO_ACROSS else 1
    return Detail(head, figures(rows, across=across, width=view.width), rest)
