"""Open orders as the ticket and the portfolio show them."""

from dataclasses import replace

from kit.console.real_ticket import MARKET
from kit.samples.desk import NOW
from service_tui.desk.slices.orders import OpenOrderView
from service_tui.terms import Action, Side, Venue
from service_tui.units import ONE, Micros


def open_order(**other: object) -> OpenOrderView:
    given = OpenOrderView(
        "o1", "o1", MARKET.market_id, MARKET.question, Side.YES, Action.SELL, Venue.EVM,
        Micros(30 * ONE), Micros(0), 0.6, Micros(18 * ONE), NOW,
    )  # fmt: skip
    return replace(given, **other)  # type: ignore[arg-type]
