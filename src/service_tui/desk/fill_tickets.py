"""Fills of the desk's agent that no command of this console made, as blotter rows. Pure."""

from collections.abc import Iterable
from dataclasses import replace
from typing import Final

from service_tui.desk.slices.agents import FillView
from service_tui.desk.slices.orders import OpenOrderView, price_text
from service_tui.desk.slices.risk import BY_DESK, BY_MONITOR, exit_cause
from service_tui.desk.slices.tickets import OnBook, TicketState, TicketView
from service_tui.desk.slices.trades import Deal, TradeView
from service_tui.terms import MONEY_OF, Action, TradeStatus, venue_marked
from service_tui.units import Micros, decimal

KIND: Final = "fill"

_ENDS: Final = {
    (TradeStatus.CANCELLED, False): (OnBook.CANCELLED, "cancelled: nothing filled"),
    (TradeStatus.CANCELLED, True): (OnBook.CANCELLED, "cancelled; {}"),
    (TradeStatus.PARTIALLY_FILLED, True): (OnBook.PARTIAL, "{}; the rest is no longer open"),
    (TradeStatus.FILLED, True): (OnBook.FILLED, "{}"),
    (TradeStatus.CONFIRMED, True): (OnBook.FILLED, "{}"),
}
"""What became of an order that is not open, by its status and whether any of it filled."""


def fill_tickets(
    trades: Iterable[TradeView], tickets: Iterable[TicketView]
) -> tuple[TicketView, ...]:
    """A row for each buy and sale that none of these commands made.

    Returns:
        The rows, in the order of the trades; `client_ref` is the number of the trade.
    """
    ours = {one.client_ref for one in tickets if one.client_ref}
    return tuple(
        _ticket(one)
        for one in trades
        if one.deal in {Deal.BUY, Deal.SALE} and not (one.client_ref and one.client_ref in ours)
    )


def with_book(
    tickets: Iterable[TicketView],
    trades: Iterable[TradeView],
    orders: Iterable[OpenOrderView] | None,
) -> tuple[TicketView, ...]:
    """The commands; those that rested on a book with what became of them since.

    Args:
        tickets: the commands.
        trades: the history of the own agent.
        orders: its open orders; None while unknown, then no order is called ended.
    """
    by_ref = {one.client_ref: one for one in trades if one.client_ref}
    still_open = None if orders is None else {one.trade_id for one in orders}
    return tuple(_on_book(one, by_ref.get(one.client_ref), still_open) for one in tickets)


def _on_book(
    ticket: TicketView, trade: TradeView | None, still_open: set[str] | None
) -> TicketView:
    rested = ticket.limit is not None and ticket.state is TicketState.DONE
    if not rested or trade is None or still_open is None:
        return ticket
    if trade.trade_id in still_open:
        return replace(ticket, on_book=OnBook.OPEN)
    filled = _filled(trade) if trade.shares > 0 else ""
    found = _ENDS.get((trade.status, bool(filled)))
    if found is None:
        return ticket
    on_book, outcome = found
    return replace(ticket, on_book=on_book, outcome=outcome.format(filled))


def _filled(trade: TradeView) -> str:
    verb, tail = ("bought", "for") if trade.action == Action.BUY else ("sold", "brought")
    money = f"{decimal(trade.cost):,.2f} {MONEY_OF[trade.venue]}"
    average = "" if trade.average is None else f" (average {price_text(trade.average)})"
    pnl = "" if trade.pnl is None else f", P&L {decimal(trade.pnl):+,.2f}"
    return f"{verb} {decimal(trade.shares):,.2f} shares, {tail} {money}{average}{pnl}"


def fill_id(trade: TradeView) -> str:
    """The name of a fill's row."""
    return f"{KIND}:{trade.trade_id}"


def ticket_of_fill(fill: FillView) -> TicketView:
    """The row of a fill of any agent."""
    return TicketView(
        ticket_id=f"{KIND}:{fill.trade_id}",
        kind=KIND,
        market_id=fill.market_id,
        what=_what(fill, fill.money, is_buy=fill.action is Action.BUY),
        state=TicketState.DONE,
        opened_at=fill.at,
        client_ref=fill.trade_id,
        amount=fill.money,
        question=fill.question,
        venue=fill.venue,
    )


def _what(fill: FillView | TradeView, money: Micros, *, is_buy: bool) -> str:
    """A fill as the command that would have made it; that of an exit names its cause."""
    side, unit = fill.side.value.upper(), f" {MONEY_OF[fill.venue]}"
    if is_buy:
        return venue_marked(f"buy {side} for {decimal(money):,.2f}", fill.venue, unit)
    text = venue_marked(f"sell {decimal(fill.shares):,.2f} {side}", fill.venue)
    cause = exit_cause(fill.source)
    return f"exit, {cause}: {text}" if cause else text


def _ticket(trade: TradeView) -> TicketView:
    by = "the service" if trade.source.startswith(BY_MONITOR) else trade.source
    source = f", by {by}" if by and not trade.source.startswith(BY_DESK) else ""
    return TicketView(
        ticket_id=fill_id(trade),
        kind=KIND,
        market_id=trade.market_id,
        what=_what(trade, trade.cost, is_buy=trade.deal is Deal.BUY),
        state=TicketState.DONE,
        opened_at=trade.at,
        outcome=f"{_filled(trade)}{source}",
        client_ref=trade.trade_id,
        amount=trade.cost,
        question=trade.question,
        venue=trade.venue,
    )
