"""Fills of the own agent that no command of this console made, as rows of the blotter. Pure."""

from collections.abc import Iterable
from typing import Final

from service_tui.desk.slices.agents import FillView
from service_tui.desk.slices.orders import price_text
from service_tui.desk.slices.records import Deal, TicketState, TicketView, TradeView
from service_tui.terms import MONEY_OF, Action
from service_tui.units import decimal

KIND: Final = "fill"


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


def fill_id(trade: TradeView) -> str:
    """The name of a fill's row."""
    return f"{KIND}:{trade.trade_id}"


def ticket_of_fill(fill: FillView) -> TicketView:
    """The row of a fill of any agent."""
    side, money = fill.side.value.upper(), f"{decimal(fill.money):,.2f}"
    shares = f"{decimal(fill.shares):,.2f}"
    buys = fill.action is Action.BUY
    return TicketView(
        ticket_id=f"{KIND}:{fill.trade_id}",
        kind=KIND,
        market_id=fill.market_id,
        what=f"buy {side} for {money}" if buys else f"sell {shares} {side}",
        state=TicketState.DONE,
        opened_at=fill.at,
        client_ref=fill.trade_id,
        amount=fill.money,
        question=fill.question,
        venue=fill.venue,
    )


def _ticket(trade: TradeView) -> TicketView:
    unit, buys = MONEY_OF[trade.venue], trade.deal is Deal.BUY
    side, cost = trade.side.value.upper(), f"{decimal(trade.cost):,.2f}"
    money = f"{cost} {unit}"
    shares = f"{decimal(trade.shares):,.2f} shares"
    average = "" if trade.average is None else f" (average {price_text(trade.average)})"
    verb, tail = ("bought", "for") if buys else ("sold", "brought")
    source = f", by {trade.source}" if trade.source else ""
    return TicketView(
        ticket_id=fill_id(trade),
        kind=KIND,
        market_id=trade.market_id,
        what=f"buy {side} for {cost}" if buys else f"sell {decimal(trade.shares):,.2f} {side}",
        state=TicketState.DONE,
        opened_at=trade.at,
        outcome=f"{verb} {shares}, {tail} {money}{average}{source}",
        client_ref=trade.trade_id,
        amount=trade.cost,
        question=trade.question,
        venue=trade.venue,
    )
