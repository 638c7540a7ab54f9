"""Orders at the market maker: fills, refusals and quotes."""

import math
from collections.abc import Callable
from contextlib import suppress
from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kit.examples import examples
from service_tui.engine import errors
from service_tui.engine.agents.agents import Agent, AgentSettings, status_of
from service_tui.engine.amm.exchange import Exchange, Order, open_shares
from service_tui.engine.amm.ledger import Ledger
from service_tui.engine.amm.market import Market
from service_tui.engine.events import Fill, Note
from service_tui.engine.limits import DAY_S, PLANS, day_of
from service_tui.engine.listing import Listing
from service_tui.terms import Action, AgentStatus, Category, Plan, Side, Venue
from service_tui.units import (
    ONE,
    PRICE_MAX,
    PRICE_MIN,
    SHARE_QUANTUM,
    Micros,
    Probability,
    Timestamp,
)

NOON: Final = Timestamp(20_000 * 86_400.0 + 43_200.0)
FIRST_CASH: Final = 10_000 * ONE
MARKETS: Final = ("m0", "m1", "m2")
AGENTS: Final = ("ada", "bea")

actions = st.sampled_from(Action)
sides = st.sampled_from(Side)
# An order: agent, market, side, action, cents of a buy, parts per thousand of a sale.
orders = st.tuples(
    st.sampled_from(AGENTS),
    st.sampled_from(MARKETS),
    sides,
    actions,
    st.integers(1, 60_000),
    st.integers(1, 1_000),
)
Orders = list[tuple[str, str, Side, Action, int, int]]


def market(market_id: str, *, b: int = 1_000, start: float = 0.4) -> Market:
    return Market(
        Listing(
            market_id=market_id,
            slot=0,
            number=0,
            category=Category.SPORTS,
            question="Will the Kestrels win?",
            criteria="It counts if they win.",
            tags=("sports",),
            b=Micros(b * ONE),
            start_price=Probability(start),
            opens_at=Timestamp(NOON - 1_000.0),
            resolves_at=Timestamp(NOON + 2 * DAY_S),
            resolved_at=Timestamp(NOON + 2 * DAY_S + 60.0),
            outcome=True,
            strength=1.0,
            news=(),
        )
    )


def agent(name: str, plan: Plan = Plan.ELITE) -> Agent:
    return Agent(
        agent_id=name,
        created_at=NOON,
        description="",
        key_hash=f"hash of {name}",
        claim_code=f"reef-{name}",
        settings=AgentSettings(name=name, plan=plan),
        cash_account=f"agent:{name}",
        equity_day=day_of(NOON),
        day_equity=Micros(FIRST_CASH),
    )


def exchange(plan: Plan = Plan.ELITE) -> Exchange:
    ledger = Ledger()
    for name in AGENTS:
        ledger.transfer("issuer", f"agent:{name}", Micros(FIRST_CASH))
    return Exchange(
        {
            name: market(name, start=start)
            for name, start in zip(MARKETS, (0.1, 0.5, 0.9), strict=True)
        },
        {name: agent(name, plan) for name in AGENTS},
        ledger,
    )


class Trader:
    """Places orders of one agent, and counts what went and came."""

    def __init__(self, venue: Exchange, name: str = "ada", at: float = NOON) -> None:
        self.venue = venue
        self.agent = venue.agents[name]
        self.at = Timestamp(at)
        self.count = 0

    def order(self, action: Action, size: int, **other: object) -> Order:
        requested: dict[str, object] = {"market_id": "m1", "side": Side.YES, **other}
        return Order(agent=self.agent, action=action, size=Micros(size), **requested)

    def place(self, order: Order) -> Fill:
        self.count += 1
        fill = self.venue.check(order, f"t{self.count}", (self.at, self.at))
        self.venue.apply(fill)
        return fill

    def buy(self, dollars: float, **other: object) -> Fill:
        fill = self.place(self.order(Action.BUY, round(dollars * ONE), **other))
        # On the Free plan the next one is refused until the cooldown is over.
        self.at = Timestamp(self.at + PLANS[self.agent.settings.plan].sim_cooldown_s)
        return fill

    def sell(self, shares: int, **other: object) -> Fill:
        return self.place(self.order(Action.SELL, shares, **other))

    @property
    def cash(self) -> Micros:
        return self.venue.ledger.balance(self.agent.cash_account)

    def held(self, side: Side = Side.YES, market_id: str = "m1") -> Micros:
        return self.agent.positions[market_id].shares(side)


def state_of(venue: Exchange) -> str:
    books = [(m.yes, m.no, tuple(m.tape), dict(m.volumes)) for m in venue.markets.values()]
    return repr((books, venue.agents, dict(venue.ledger.balances())))


@pytest.mark.parametrize("side", Side)
def test_a_buy_moves_cash_to_the_maker_and_shares_to_the_agent(side: Side) -> None:
    ada = Trader(exchange())
    fill = ada.buy(25, side=side, note=Note(source="sdk:weather"))
    book = ada.venue.markets["m1"]
    assert fill.money == 25 * ONE
    assert ada.cash == FIRST_CASH - 25 * ONE
    assert ada.venue.ledger.balance(book.account) == 25 * ONE
    assert ada.held(side) == book.sold(side) == fill.shares
    assert ada.agent.positions["m1"].cost(side) == 25 * ONE
    assert ada.agent.sources == {"m1": ("sdk:weather",)}
    assert (ada.agent.trades_count, ada.agent.day_buys) == (1, 1)
    assert ada.agent.last_trade_at == NOON
    _, trader, _, action, shares, _ = book.tape[-1]
    assert (trader, action, shares) == ("ada", "buy", fill.shares)
    assert book.volume_24h(NOON) == 25 * ONE


@pytest.mark.parametrize("side", Side)
def test_a_sale_of_everything_closes_the_position_exactly(side: Side) -> None:
    ada = Trader(exchange())
    bought = ada.buy(25, side=side)
    sold = ada.sell(bought.shares, side=side)
    position = ada.agent.positions["m1"]
    assert (position.shares(side), position.cost(side)) == (0, 0)
    assert sold.realized == sold.money - 25 * ONE == ada.agent.realized == position.realized(side)
    assert sold.realized <= 0
    assert ada.cash == FIRST_CASH + sold.realized
    assert ada.venue.markets["m1"].price() == pytest.approx(0.5)
    assert (ada.agent.win_count, ada.agent.loss_count) == (0, 1)


def test_both_sides_are_held_at_once_and_pay_one_together() -> None:
    ada = Trader(exchange())
    for side in Side:
        ada.buy(100, side=side)
    position = ada.agent.positions["m1"]
    assert position.shares(Side.YES) > 0
    assert position.shares(Side.NO) > 0


def refused(trader: Trader, order: Order) -> errors.Refusal:
    before = state_of(trader.venue)
    with pytest.raises(errors.Refusal) as refusal:
        trader.place(order)
    assert state_of(trader.venue) == before
    assert refusal.value.fix not in {"", "see the error"}
    return refusal.value


Ask = Callable[[Trader], Order]
BUY, SELL = Action.BUY, Action.SELL
REFUSALS: Final[list[tuple[str, dict[str, object], Ask]]] = [
    ("MARKET_NOT_FOUND", {}, lambda one: one.order(BUY, ONE, market_id="nowhere")),
    ("MARKET_NOT_FOUND", {}, lambda one: one.order(SELL, ONE, market_id="nowhere")),
    ("MARKET_NOT_FOUND", {"suspended": True}, lambda one: one.order(BUY, ONE, market_id="nope")),
    ("VENUE_NOT_SERVED", {}, lambda one: one.order(BUY, ONE, venue=Venue.EVM)),
    ("VENUE_NOT_SERVED", {}, lambda one: one.order(SELL, ONE, venue=Venue.SOL)),
    ("VENUE_NOT_SERVED", {}, lambda one: one.order(BUY, 501 * ONE, venue=Venue.EVM)),
    ("AGENT_SUSPENDED", {"suspended": True}, lambda one: one.order(BUY, ONE)),
    ("AGENT_SUSPENDED", {"suspended": True}, lambda one: one.order(SELL, ONE)),
    ("TRADING_PAUSED", {"trading_paused": True}, lambda one: one.order(BUY, ONE)),
    ("TRADE_TOO_LARGE", {}, lambda one: one.order(BUY, 500 * ONE + 1)),
    ("TRADE_TOO_LARGE", {}, lambda one: one.order(BUY, 10**15)),
    ("MARKET_LIMIT", {"max_position": 10 * ONE}, lambda one: one.order(BUY, 10 * ONE + 1)),
    ("INSUFFICIENT_SHARES", {}, lambda one: one.order(SELL, SHARE_QUANTUM)),
    ("INSUFFICIENT_SHARES", {}, lambda one: one.order(SELL, 10**15)),
    ("BELOW_MINIMUM", {}, lambda one: one.order(BUY, 1)),
    ("PRICE_BEYOND_LIMIT", {}, lambda one: one.order(BUY, 100 * ONE, price_limit=0.5)),
    ("PRICE_BEYOND_LIMIT", {}, lambda one: one.order(BUY, 100 * ONE, price_limit=math.nan)),
]


@pytest.mark.parametrize(
    ("code", "changes", "ask"), REFUSALS, ids=[f"{row[0]}-{n}" for n, row in enumerate(REFUSALS)]
)
def test_a_refusal_says_why_and_changes_nothing(
    code: str, changes: dict[str, object], ask: Ask
) -> None:
    ada = Trader(exchange())
    ada.agent.change(changes)
    refusal = refused(ada, ask(ada))
    assert refusal.code == code
    assert refusal.error


def test_a_market_past_its_end_takes_no_orders() -> None:
    ada = Trader(exchange())
    shares = ada.buy(10).shares
    ada.at = ada.venue.markets["m1"].listing.resolves_at
    for order in (ada.order(BUY, ONE), ada.order(SELL, shares)):
        assert refused(ada, order).code == "MARKET_NOT_OPEN"
    ada.venue.markets["m1"].resolved_at = ada.at
    for order in (ada.order(BUY, ONE), ada.order(SELL, shares)):
        assert "resolved" in refused(ada, order).error


def test_insufficient_balance_names_what_is_left() -> None:
    ada = Trader(exchange())
    ada.venue.ledger.transfer("agent:ada", "issuer", Micros(FIRST_CASH - 99 * ONE))
    refusal = refused(ada, ada.order(BUY, 100 * ONE))
    assert (refusal.code, refusal.error) == (
        "INSUFFICIENT_BALANCE",
        "insufficient balance: 100.00 asked, 99.00 $SIM left",
    )
    assert ada.buy(99).money == 99 * ONE
    assert ada.cash == 0


def test_insufficient_shares_names_what_is_held() -> None:
    ada = Trader(exchange())
    shares = ada.buy(10).shares
    refusal = refused(ada, ada.order(SELL, shares + SHARE_QUANTUM))
    assert refusal.error.startswith("insufficient shares to sell: ")
    assert f"{shares / ONE:,.5f} held" in refusal.error
    assert refused(ada, ada.order(SELL, shares, side=Side.NO)).code == "INSUFFICIENT_SHARES"


def test_shares_are_sold_in_whole_quanta() -> None:
    ada = Trader(exchange())
    ada.buy(10)
    assert refused(ada, ada.order(SELL, ONE + 1)).code == "BELOW_MINIMUM"


def test_one_trade_and_one_market_have_their_limits() -> None:
    ada = Trader(exchange())
    for side in (Side.YES, Side.NO, Side.YES):
        ada.buy(500, side=side)
    ada.buy(499.99)
    refusal = refused(ada, ada.order(BUY, ONE))
    assert refusal.code == "MARKET_LIMIT"
    assert "2,000.00 $SIM in one market" in refusal.error
    assert refused(ada, ada.order(BUY, ONE, side=Side.NO)).code == "MARKET_LIMIT"
    assert ada.buy(0.01).money == ONE // 100
    assert ada.buy(1, market_id="m0").money == ONE
    assert ada.sell(ada.held()).money > 0
    assert ada.buy(1).money == ONE


def test_a_paused_agent_sells_all_the_same() -> None:
    ada = Trader(exchange())
    shares = ada.buy(10).shares
    ada.agent.change({"trading_paused": True})
    assert refused(ada, ada.order(BUY, ONE)).code == "TRADING_PAUSED"
    assert ada.sell(shares).shares == shares


@pytest.mark.parametrize("side", Side)
def test_a_price_limit_binds_both_ways_and_is_worth_another_try(side: Side) -> None:
    ada = Trader(exchange())
    free = ada.venue.quote(ada.order(BUY, 100 * ONE, side=side), NOON)
    refusal = refused(ada, ada.order(BUY, 100 * ONE, side=side, price_limit=0.51))
    assert refusal.retryable
    assert "above 0.51" in refusal.error
    bought = ada.buy(100, side=side, price_limit=free.price_after)
    assert bought.price_after == free.price_after
    refusal = refused(ada, ada.order(SELL, bought.shares, side=side, price_limit=0.52))
    assert "below 0.52" in refusal.error
    assert "lower the price limit" in refusal.fix
    assert ada.sell(bought.shares, side=side, price_limit=0.4999).shares == bought.shares


def test_a_price_out_of_range_is_refused_with_what_to_spend_instead() -> None:
    ada = Trader(exchange())
    ada.venue.markets["m1"] = market("m1", b=20, start=0.99)
    refusal = refused(ada, ada.order(BUY, 500 * ONE))
    assert refusal.code == "PRICE_OUT_OF_RANGE"
    most = float(refusal.fix.split()[3])
    assert PRICE_MIN < ada.buy(most).price_after <= PRICE_MAX


def test_a_quote_says_exactly_what_the_order_then_gets() -> None:
    ada = Trader(exchange())
    for action, size in ((BUY, 77 * ONE), (SELL, 30 * ONE)):
        before = state_of(ada.venue)
        quote = ada.venue.quote(ada.order(action, size), NOON)
        assert state_of(ada.venue) == before
        fill = ada.place(ada.order(action, size))
        assert (fill.shares, fill.money) == (quote.shares, quote.money)
        assert (fill.price_before, fill.price_after) == (quote.price_before, quote.price_after)


@pytest.mark.parametrize(("action", "limit"), [(BUY, 0.4), (SELL, 0.6)])
def test_a_quote_beyond_the_price_limit_is_refused_as_the_order_would_be(
    action: Action, limit: float
) -> None:
    ada = Trader(exchange())
    ada.buy(10)
    asked = ada.order(action, ONE, price_limit=limit)
    with pytest.raises(errors.PriceBeyondLimit) as quoted:
        ada.venue.quote(asked, NOON)
    assert quoted.value.error == refused(ada, asked).error


def test_a_broke_agent_is_told_so_whatever_it_asks() -> None:
    ada = Trader(exchange())
    ada.venue.ledger.transfer("agent:ada", "issuer", FIRST_CASH)
    for order in (ada.order(BUY, ONE), ada.order(SELL, ONE)):
        assert refused(ada, order).code == "AGENT_BROKE"


def test_an_agent_is_broke_only_when_nothing_it_holds_can_still_pay() -> None:
    one = agent("ada")
    assert status_of(one, Micros(1)) is AgentStatus.UNCLAIMED
    ada = Trader(exchange())
    shares = ada.buy(10).shares
    assert status_of(ada.agent, Micros(0)) is AgentStatus.UNCLAIMED
    ada.sell(shares)
    assert status_of(ada.agent, Micros(0)) is AgentStatus.BROKE
    ada.agent.change({"claimed": True})
    assert status_of(ada.agent, ada.cash) is AgentStatus.ACTIVE
    ada.agent.change({"suspended": True})
    assert status_of(ada.agent, ada.cash) is AgentStatus.SUSPENDED


@pytest.mark.slow
@given(st.lists(orders, max_size=30))
@examples()
def test_nothing_appears_or_gets_lost(sequence: Orders) -> None:
    venue = exchange()
    traders = {name: Trader(venue, name) for name in AGENTS}
    own = dict.fromkeys(AGENTS, FIRST_CASH)
    for name, market_id, side, action, cents, part in sequence:
        trader = traders[name]
        position = trader.agent.positions.get(market_id)
        held = 0 if position is None else position.shares(side)
        size = cents * 10_000
        if action is Action.SELL:
            size = held * part // 1_000 // SHARE_QUANTUM * SHARE_QUANTUM
        with suppress(errors.Refusal):
            fill = trader.place(trader.order(action, size, market_id=market_id, side=side))
            own[name] += fill.money if action is Action.SELL else -fill.money
    assert venue.ledger.total() == 0
    for book in venue.markets.values():
        for side in Side:
            assert open_shares(venue.agents, book.market_id, side) == book.sold(side)
    for name, trader in traders.items():
        assert trader.cash == own[name] >= 0
        held = trader.agent.positions.values()
        # Equity is first cash plus P&L, in exact micros and at any price.
        marks = {one.market_id: venue.markets[one.market_id].price() for one in held}
        value = sum(one.mark_value(marks[one.market_id]) for one in held)
        unrealized = sum(one.unrealized(marks[one.market_id]) for one in held)
        assert trader.cash + value == FIRST_CASH + trader.agent.realized + unrealized
        assert all(one.shares(side) % SHARE_QUANTUM == 0 for one in held for side in Side)


@pytest.mark.slow
@given(st.lists(orders, max_size=15), sides, st.integers(1, 50_000))
@examples()
def test_a_round_trip_through_the_exchange_never_profits(
    sequence: Orders, side: Side, cents: int
) -> None:
    venue = exchange()
    bea = Trader(venue, "bea")
    for _, market_id, other, _, spend, _ in sequence:
        with suppress(errors.Refusal):
            bea.buy(spend / 100, market_id=market_id, side=other)
    ada = Trader(venue)
    with suppress(errors.Refusal):
        ada.sell(ada.buy(cents / 100, side=side).shares, side=side)
    assert ada.cash + ada.agent.positions["m1"].cost(side) <= FIRST_CASH
    assert ada.agent.realized <= 0
