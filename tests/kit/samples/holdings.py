"""What four agents and the person hold, on three venues."""

from dataclasses import replace
from itertools import cycle
from typing import Final

from kit.samples.desk import NOW, sample_state
from service_tui.desk.slices.holdings import AgentOrderView, HoldingsView
from service_tui.desk.slices.orders import OpenOrderView
from service_tui.desk.slices.topics import Topic
from service_tui.desk.state import DeskState
from service_tui.evaluation.exposure import AgentHolding
from service_tui.terms import Action, OrderType, Side, Venue
from service_tui.units import ONE, Micros, Probability, Timestamp

HOUR_S: Final = 3_600.0
AGENTS: Final = ("desk", "momentum", "news", "favourite")


def holdings_state(count: int = 12, agents: tuple[str, ...] = AGENTS) -> DeskState:
    """A desk beside which so much is held; the first market by two agents on both sides."""
    state = sample_state()
    markets = list(state.markets.values())
    names, sides = cycle(agents), cycle((Side.YES, Side.NO, Side.NO))
    rows = [
        holding(next(names), next(sides), place, markets[(place // 2) % len(markets)])
        for place in range(count)
    ]
    market = markets[0]
    order = OpenOrderView(
        order_id="o-1", trade_id="t-1", market_id=market.market_id, question=market.question,
        side=Side.YES, action=Action.BUY, venue=Venue.EVM, shares=Micros(40 * ONE),
        filled=Micros(0), price=0.31, money=Micros(12_400_000), created_at=Timestamp(NOW - 90),
        order_type=OrderType.GTC,
    )  # fmt: skip
    orders = (AgentOrderView("a-news", "news", order),)
    held = HoldingsView(tuple(rows), orders, Timestamp(NOW), Timestamp(NOW))
    return replace(state, holdings=held, polls={**state.polls, Topic.HOLDINGS: 3.0})


def holding(agent: str, side: Side, place: int, market: object) -> AgentHolding:
    """The holding at a place; each seventh is on a real venue, the last hour is overdue."""
    venue = Venue.EVM if place % 7 == 3 else Venue.SIM
    return AgentHolding(
        agent_id=f"a-{agent}",
        agent_name=agent,
        market_id=f"{getattr(market, 'market_id', '')}",
        question=f"{getattr(market, 'question', '')}",
        category=f"{getattr(market, 'category', '')}",
        event="",
        venue=venue,
        side=side,
        shares=Micros((10 + place) * ONE),
        cost=Micros((5 + place % 4) * ONE),
        value=Micros((4 + place % 5) * ONE),
        price=Probability(0.35 + place % 6 / 10),
        resolves_at=Timestamp(NOW + (place // 2 - 1) * 9 * HOUR_S),
        stop=0.2 if place % 2 else None,
    )
