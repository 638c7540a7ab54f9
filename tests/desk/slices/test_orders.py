"""What open orders keep: money of buys, shares of sales, each of its own venue and position."""

from dataclasses import replace

from kit.samples.desk import NOW
from service_tui.desk.slices.orders import OpenOrderView, kept_by_buys, kept_by_sales
from service_tui.terms import Action, Side, Venue
from service_tui.units import Micros

SALE = OpenOrderView(
    "o1", "t1", "m1", "Will it?", Side.YES, Action.SELL, Venue.EVM, Micros(7), Micros(0), 0.5,
    Micros(3), NOW,
)  # fmt: skip
ORDERS = (
    SALE,
    replace(SALE, shares=Micros(20), money=Micros(50), action=Action.BUY),
    replace(SALE, shares=Micros(300), money=Micros(400), side=Side.NO),
    replace(SALE, shares=Micros(5_000), money=Micros(6_000), venue=Venue.SOL),
    replace(SALE, shares=Micros(1), money=Micros(70_000), action=Action.BUY, venue=Venue.SOL),
)


def test_a_sale_keeps_the_shares_of_its_own_position_and_a_buy_keeps_none() -> None:
    assert kept_by_sales(ORDERS, SALE.holding) == 7
    assert kept_by_sales(ORDERS[2:], SALE.holding) == 0


def test_a_buy_keeps_money_of_its_own_venue_and_a_sale_keeps_none() -> None:
    assert [kept_by_buys(ORDERS, venue) for venue in (Venue.EVM, Venue.SOL)] == [50, 70_000]
