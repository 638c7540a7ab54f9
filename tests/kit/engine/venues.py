"""Worlds with order books: agents with money, orders, and the check that every book balances."""

from typing import Any, Final

from kit.engine.begun import world_of
from service_tui.engine.agents.agents import Agent
from service_tui.engine.amm.market import Market
from service_tui.engine.books.liquidity import fee_rate_bps
from service_tui.engine.books.orders import VenueOrder, executable, place
from service_tui.engine.books.venues import GRANT, REAL
from service_tui.engine.events import AgentRegistered, Event
from service_tui.engine.tick import advance
from service_tui.engine.world import World
from service_tui.terms import Action, Plan, Side, Venue
from service_tui.units import ONE, Micros, Timestamp

AT: Final = Timestamp(1_800_000_000.0)


YES, NO, BUY, SELL = Side.YES, Side.NO, Action.BUY, Action.SELL


EVM, SOL = Venue.EVM, Venue.SOL


RICH: Final[dict[str, object]] = {
    "claimed": True,
    "real_trading_enabled": True,
    "max_trade": Micros(1_000 * ONE),
    "day_spend_max": Micros(1_000_000 * ONE),
    # Or positions would be sold at the first large move.
    "auto_risk_monitor_enabled": False,
    # Or the service would redeem before anybody here does.
    "auto_redeem_enabled": False,
}


def new_world(*names: str) -> World:
    world = world_of(7, AT)
    advance(world, AT)
    for name in names or ("ada",):
        joined(world, name)
    return world


def joined(world: World, name: str, **changes: object) -> Agent:
    event = AgentRegistered(
        name, world.at, name, "", f"hash of {name}", f"reef-{name}", Plan.ELITE,
        Micros(10_000 * ONE),
    )  # fmt: skip
    world.register(event)
    world.change(world.agents[name], RICH | changes, world.at)
    return world.agents[name]


def times(world: World) -> tuple[Timestamp, Timestamp]:
    return world.at, world.world_at


def market_of(world: World, venue: Venue = EVM, life_s: float = 3_600.0) -> Market:
    """A market of a venue near even odds that stays open for a while, with a fee."""
    return min(
        (
            one
            for one in world.markets.values()
            if one.listing.home is venue
            and one.listing.resolves_at > world.world_at + life_s
            and fee_rate_bps(one.listing)
        ),
        key=lambda one: abs(world.venues.book(one.market_id).mid(times(world)) - 0.5),
    )


def order(world: World, name: str, market: Market, **fields: object) -> VenueOrder:
    basis: dict[str, object] = {
        "side": YES,
        "action": BUY,
        "size": Micros(20 * ONE),
        "venue": market.listing.home,
    }
    # Floats are units, as a person thinks; ints are micros.
    known: dict[str, Any] = {
        key: round(value * ONE) if key in {"size", "price"} and isinstance(value, float) else value
        for key, value in (basis | fields).items()
    }
    return VenueOrder(world.agents[name], market.market_id, **known)


def put(world: World, name: str, market: Market, **fields: object) -> list[Event]:
    return place(world.venues, order(world, name, market, **fields), times(world))


def best(world: World, market: Market, side: Side = YES, action: Action = BUY) -> int:
    found = executable(world.venues.book(market.market_id), side, action, times(world))
    assert found is not None
    return found


def gap_price(world: World, market: Market) -> float:
    """A price below all asks, at which a buy of YES rests."""
    return best(world, market, YES, SELL) / ONE


def books_balance(world: World) -> None:
    """Every micro is accounted for, in each currency, and nothing is crossed or owed twice."""
    venues = world.venues
    assert world.ledger.total() == 0
    for venue in REAL:
        names = {f"{kind}:{venue.value}" for kind in ("issuer", "orders", "venue", "fees")}
        names |= {f"agent:{name}:{venue.value}" for name in world.agents}
        assert sum(world.ledger.balance(name) for name in names) == 0
        kept = sum(venues.reserved(name, venue) for name in world.agents)
        assert world.ledger.balance(f"orders:{venue.value}") == kept
        for name in world.agents:
            assert venues.cash(name, venue) >= 0
            account = venues.account(name, venue)
            wealth = venues.equity(account, times(world))
            assert wealth - GRANT == account.realized + venues.unrealized(account, times(world))
            held = {key: one for key, one in account.holdings.items() if one.outcome is None}
            assert all(venues.free_shares(name, key, side) >= 0 for key in held for side in Side)
    for book in venues.books.values():
        bids, asks = (book.offers(times(world), bids=bids) for bids in (True, False))
        assert not bids or not asks or bids[0].price < asks[0].price
        for resting in book.orders.values():
            assert resting.left > 0
            assert resting.reserved >= 0
            assert resting.shares + resting.left == resting.requested


def waiting_payouts(world: World) -> dict[str, set[str]]:
    """Where a tick has something to redeem, looked for in every account."""
    found: dict[str, set[str]] = {}
    for account in world.venues.accounts.values():
        for market_id, holding in account.holdings.items():
            if account.venue is EVM and holding.payout():
                found.setdefault(account.agent_id, set()).add(market_id)
    return found
