"""Another wallet in the engine: what is kept for whom, in a replay and in a snapshot."""

import json
from typing import Final

from kit.engine.topics import TOPICS
from service_tui.engine.amm.market import Market
from service_tui.engine.books.orders import VenueOrder, executable, place
from service_tui.engine.books.venues import GRANT
from service_tui.engine.chain_events import WalletLinked
from service_tui.engine.codec import events as codec
from service_tui.engine.codec import snapshot
from service_tui.engine.events import (
    AgentRegistered,
    Event,
    MarketResolved,
    MonitorDeleted,
    OrderEnded,
    kind_of,
)
from service_tui.engine.linking import link
from service_tui.engine.tick import advance
from service_tui.engine.world import World
from service_tui.terms import Action, MarketStatus, OrderType, Plan, Side, Venue
from service_tui.units import ONE, Micros, Timestamp

AT: Final = Timestamp(1_800_000_000.0)
FIRST: Final = "0x" + "Ab" * 20
SECOND: Final = "0x" + "cd" * 20
SPEND: Final = Micros(20 * ONE)


class Life:
    """A world with one agent, and everything that happened in it."""

    def __init__(self) -> None:
        self.world = World(7, AT, TOPICS)
        self.happened: list[Event] = [*advance(self.world, AT)]
        cash = Micros(10_000 * ONE)
        born = AgentRegistered("ada", AT, "ada", "", "hash", "reef", Plan.ELITE, cash)
        self.happened += self.world.register(born)
        agent = self.world.agents["ada"]
        rights = {"claimed": True, "real_trading_enabled": True, "auto_redeem_enabled": False}
        self.happened += self.world.change(agent, {**rights}, AT)

    def market(self) -> Market:
        return min(
            (
                one
                for one in self.world.markets.values()
                if one.status(self.world.world_at) is MarketStatus.ACTIVE
                and one.listing.home is Venue.EVM
                and one.listing.resolves_at > self.world.world_at + 600
            ),
            key=lambda one: one.listing.resolves_at,
        )

    def buy(self, market: Market, *, rests: bool = False) -> None:
        """A buy at once, or one that rests: it asks for what nobody gives."""
        world = self.world
        times = (world.at, world.world_at)
        other = Action.SELL if rests else Action.BUY
        price = executable(world.venues.book(market.market_id), Side.YES, other, times)
        kind = OrderType.GTC if rests else OrderType.FAK
        order = VenueOrder(
            world.agents["ada"], market.market_id, Side.YES, Action.BUY, SPEND, Venue.EVM, kind,
            price,
        )  # fmt: skip
        self.happened += place(world.venues, order, times)

    def link(self, address: str) -> list[Event]:
        events = link(self.world, WalletLinked("ada", self.world.at, address)).events
        self.happened += events
        return events

    def older(self, address: str) -> None:
        self.happened += self.world.note(WalletLinked("ada", self.world.at, address))

    def until_resolved(self, market: Market) -> None:
        at = self.world.at
        while market.resolved_at is None:
            at = Timestamp(at + 60)
            self.happened += advance(self.world, at)

    def cash(self) -> Micros:
        return self.world.venues.cash("ada", Venue.EVM)

    def shares(self) -> dict[str, Micros]:
        holdings = self.world.venues.account("ada", Venue.EVM).holdings
        return {key: one.position.shares(Side.YES) for key, one in holdings.items()}


def replayed(happened: list[Event]) -> World:
    world = World(7, AT, TOPICS)
    for event in happened:
        world.apply(codec.decode(kind_of(event), codec.encode(event)))
    return world


def fields(world: World) -> str:
    return codec.dumps(snapshot.fields_of(world))


def test_money_and_positions_stay_with_the_wallet_that_goes() -> None:
    life = Life()
    market = life.market()
    life.buy(market)
    had = life.cash(), life.shares()
    assert had[0] < GRANT
    life.buy(market, rests=True)
    events = life.link(FIRST)
    assert [type(one) for one in events] == [OrderEnded, MonitorDeleted, WalletLinked]
    assert (life.cash(), life.shares()) == (GRANT, {})
    life.buy(market)
    second = life.cash(), life.shares()
    life.link(SECOND)
    life.link(FIRST.lower())
    assert (life.cash(), life.shares()) == second
    life.link("")
    assert (life.cash(), life.shares()) == had
    assert life.world.ledger.total() == 0


def test_the_same_wallet_again_changes_nothing() -> None:
    life = Life()
    life.link(FIRST)
    life.buy(life.market())
    life.buy(life.market(), rests=True)
    had = life.cash(), life.shares()
    assert [type(one) for one in life.link(FIRST)] == [WalletLinked]
    assert (life.cash(), life.shares()) == had
    assert len(life.world.venues.orders("ada", Venue.EVM)) == 1


def test_rows_of_older_programs_let_money_and_positions_follow() -> None:
    life = Life()
    life.buy(life.market())
    had = life.cash(), life.shares()
    for address in (FIRST, SECOND, "", SECOND):
        life.older(address)
        assert (life.cash(), life.shares()) == had
    world = replayed(life.happened)
    assert fields(world) == fields(life.world)
    assert '"aside"' not in fields(world)
    # Whose they were by then keeps them.
    life.link(FIRST)
    assert (life.cash(), life.shares()) == (GRANT, {})
    life.link(SECOND)
    assert (life.cash(), life.shares()) == had


def test_an_outcome_reaches_what_every_wallet_holds() -> None:
    life = Life()
    market = life.market()
    life.buy(market)
    life.link(FIRST)
    life.buy(market)
    life.until_resolved(market)
    ends = [one for one in life.happened if isinstance(one, MarketResolved)]
    (end,) = [one for one in ends if one.market_id == market.market_id]
    paid = [payout for _, payout in end.settled]
    assert [one.wallet for one in paid] == [FIRST.lower(), ""]
    account = life.world.venues.account("ada", Venue.EVM)
    assert account.realized == sum(one.payout - one.cost for one in paid)
    assert account.win_count + account.loss_count == 2
    waiting = {one.wallet: one.payout for one in paid}
    assert account.holdings[market.market_id].payout() == waiting[FIRST.lower()]
    life.link("")
    assert account.holdings[market.market_id].payout() == waiting[""]


def test_a_snapshot_in_the_middle_and_a_replay_come_to_the_same() -> None:
    life = Life()
    market = life.market()
    life.buy(market)
    life.link(FIRST)
    life.buy(market)
    written = fields(life.world)
    opened = snapshot.world_of(json.loads(written), TOPICS)
    assert fields(opened) == written == fields(replayed(life.happened))
    late = len(life.happened)
    life.link(SECOND)
    life.until_resolved(market)
    life.link("")
    for event in life.happened[late:]:
        opened.apply(codec.decode(kind_of(event), codec.encode(event)))
    assert fields(opened) == fields(life.world) == fields(replayed(life.happened))
