"""Fills of all agents and consoles as one list. Pure."""

from service_tui.desk.slices.agents import FillView
from service_tui.desk.slices.trades import TradeView
from service_tui.desk.state import DeskState
from service_tui.terms import Action, Venue
from service_tui.units import Micros


def all_fills(state: DeskState) -> tuple[FillView, ...]:
    """Fills of every agent, and those of the own agent where a service lists no others.

    Returns:
        Newest first; each trade once.
    """
    account = state.account
    known = {fill.trade_id for fill in state.fills}
    own = tuple(
        fill_of(
            trade,
            "" if account is None else account.agent_id,
            "" if account is None else account.name,
        )
        for trade in state.trades
        if trade.is_fill and trade.trade_id not in known
    )
    if not own:
        return state.fills
    return tuple(sorted((*state.fills, *own), key=lambda fill: fill.at, reverse=True))


def fill_of(trade: TradeView, agent_id: str, agent_name: str) -> FillView:
    """A buy or sale of an agent's history as a fill."""
    average = trade.cost / trade.shares if trade.shares else 0.0
    price = average if trade.average is None else trade.average
    return FillView(
        seq=0,
        at=trade.at,
        agent_id=agent_id,
        agent_name=agent_name,
        market_id=trade.market_id,
        question=trade.question,
        venue=trade.venue,
        side=trade.side,
        action=Action(trade.action),
        shares=trade.shares,
        price=price,
        price_after=trade.price_after or price,
        money=trade.cost,
        realized=trade.pnl or Micros(0),
        source=trade.source,
        skill=trade.skill_slug,
        trade_id=trade.trade_id,
        # On sim there are no fees. Source: spec, the service adds no commission.
        fee=Micros(0) if trade.venue is Venue.SIM else trade.fee,
    )
