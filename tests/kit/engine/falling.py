"""A mark that falls on an order book, because somebody else sells."""

from kit.engine.venues import RICH
from service_tui.engine.books.orders import VenueOrder, place
from service_tui.engine.events import AgentRegistered, Event
from service_tui.engine.world import World
from service_tui.terms import Action, OrderType, Plan, Side
from service_tui.units import ONE, Micros, Timestamp

PART = Micros(100 * ONE)
"""Money of one order: below every limit, and of ten a whole account."""

ORDERS_EACH = 9


def sink(world: World, market_id: str, at: Timestamp | None = None) -> list[Event]:
    """Let other agents buy NO until the price of YES on the market's book has fallen.

    Returns:
        What happened, applied already.
    """
    now = world.at if at is None else at
    when = (now, world.world_at)
    book = world.venues.book(market_id)
    start, events = book.mid(when), list[Event]()
    for number in range(5 * ORDERS_EACH):
        if number % ORDERS_EACH == 0:
            name = f"seller {len(world.agents)}"
            cash = Micros(10_000 * ONE)
            joins = AgentRegistered(name, now, name, "", f"h {name}", f"c {name}", Plan.ELITE, cash)
            events += world.register(joins)
            events += world.change(world.agents[name], RICH, now)
        order = VenueOrder(
            world.agents[name], market_id, Side.NO, Action.BUY, PART, book.listing.home,
            OrderType.FAK,
        )  # fmt: skip
        events += place(world.venues, order, when)
        if book.mid(when) < start:
            return events
    raise AssertionError("the price did not fall")
