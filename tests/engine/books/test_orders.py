"""Orders on a book of known quotes: what they get, what rests, what is refused at each bound."""

from typing import Any

import pytest

from kit.engine.bare import AT, HOUR, bare_world, listed
from service_tui.engine.books import resting
from service_tui.engine.books.book import Match, Resting
from service_tui.engine.books.liquidity import REFRESH_S, PriceLevel, RefreshedQuotes, refresh_at
from service_tui.engine.books.orders import (
    OPEN_MAX,
    VenueOrder,
    VenueQuote,
    buffered,
    check,
    default_type,
    executable,
    open_book,
    place,
    quote,
    with_remainder,
)
from service_tui.engine.books.resting import cancel, end_due, match_due
from service_tui.engine.books.venues import VenueAccount, VenuePosition
from service_tui.engine.errors import (
    AgentSuspended,
    BelowMinimum,
    InsufficientBalance,
    InsufficientShares,
    InvalidExpiration,
    InvalidTick,
    MarketNotFound,
    MarketNotOpen,
    MarketTooLarge,
    NoLiquidity,
    NotClaimed,
    NotFilledWhole,
    OrderNotFound,
    OrderTooSmall,
    PriceBeyondApproval,
    PriceOutOfRange,
    RealTradingOff,
    Refusal,
    TooManyOrders,
    TradingPaused,
    VenueNotServed,
)
from service_tui.engine.events import Note, OrderEnded, OrderFilled, OrderPlaced
from service_tui.engine.position import Position, SidePosition
from service_tui.engine.world import World
from service_tui.terms import Action, Category, OrderEnd, OrderType, Side, Venue
from service_tui.units import ONE, Micros, Timestamp

MARKET = "10000000-0000-4000-8000-000000000001"
YES, NO, BUY, SELL = Side.YES, Side.NO, Action.BUY, Action.SELL
FAK, FOK, GTC, GTD = OrderType.FAK, OrderType.FOK, OrderType.GTC, OrderType.GTD
TIMES = (AT, Timestamp(AT + 1))
CENT = 10_000


def levels(*pairs: tuple[int, int]) -> tuple[PriceLevel, ...]:
    return tuple(PriceLevel(Micros(cents * CENT), Micros(shares * ONE)) for cents, shares in pairs)


BIDS, ASKS = levels((40, 100), (38, 50)), levels((42, 100), (44, 50))


def traded(category: Category = Category.SCIENCE, **changes: Any) -> World:
    """Ada and bea, and a book of two levels a side; science pays no fee."""
    settings: dict[str, Any] = {
        "claimed": True, "real_trading_enabled": True, "max_trade": Micros(1_000 * ONE),
        "day_spend_max": Micros(10_000 * ONE), "auto_risk_monitor_enabled": False,
    }  # fmt: skip
    world = bare_world("ada", "bea", **(settings | changes))
    listed(world, MARKET, home=Venue.EVM, category=category)
    stand(world, BIDS, ASKS)
    return world


def stand(
    world: World, bids: tuple[PriceLevel, ...], asks: tuple[PriceLevel, ...], at_s: float = 1
) -> None:
    """Let these quotes stand at a moment."""
    book = world.venues.book(MARKET)
    number = refresh_at(book.listing, Timestamp(AT + at_s))
    book.stand(RefreshedQuotes(number, 0.41, Micros(CENT), bids, asks))


def order(world: World, name: str = "ada", **fields: Any) -> VenueOrder:
    known: dict[str, Any] = {
        "side": YES, "action": BUY, "size": Micros(21 * ONE), "venue": Venue.EVM,
        "order_type": FAK,
    }  # fmt: skip
    return VenueOrder(world.agents[name], MARKET, **(known | fields))


def held(world: World, yes: int = 0, no: int = 0, name: str = "ada") -> VenuePosition:
    position = Position(name, MARKET)
    position.yes = SidePosition(Micros(yes), Micros(yes // 2))
    position.no = SidePosition(Micros(no), Micros(no // 4))
    found = VenuePosition(position, "Held?", "science", Timestamp(AT + HOUR))
    account = VenueAccount(name, Venue.EVM, holdings={MARKET: found})
    world.venues.accounts[name, Venue.EVM] = account
    return found


def got(found: VenueQuote) -> tuple[float, ...]:
    """Shares, money, what rests and is reserved, and the prices, in units."""
    amounts = (found.walked.shares, found.walked.money, found.rests, found.reserved)
    return (*(one / ONE for one in amounts), found.price_before, found.price_after)


# -- quotes --------------------------------------------------------------------------------

QUOTES: dict[str, tuple[dict[str, Any], tuple[float, ...]]] = {
    "a buy at the best ask": ({}, (50, 21, 0, 0, 0.42, 0.42)),
    "a buy of two levels": (
        {"size": Micros(46_400_000)},
        (110, 46.4, 0, 0, 0.42, 0.44),
    ),
    "a buy of the other side meets the bids": (
        {"side": NO, "size": Micros(30 * ONE)},
        (50, 30, 0, 0, 0.6, 0.6),
    ),
    "a sale at the best bid": (
        {"action": SELL, "size": Micros(50 * ONE)},
        (50, 20, 0, 0, 0.4, 0.4),
    ),
    "a sale of two levels": (
        {"action": SELL, "size": Micros(120 * ONE)},
        (120, 47.6, 0, 0, 0.4, 0.38),
    ),
    "a sale of the other side meets the asks": (
        {"action": SELL, "side": NO, "size": Micros(10 * ONE)},
        (10, 5.8, 0, 0, 0.58, 0.58),
    ),
    "a sale within its limit": (
        {"action": SELL, "size": Micros(120 * ONE), "price": Micros(39 * CENT)},
        (100, 40, 0, 0, 0.4, 0.4),
    ),
    "a buy that rests": (
        {"order_type": GTC, "price": Micros(41 * CENT)},
        (0, 0, 51.21951, 21, 0.41, 0.41),
    ),
    "a buy of the other side that rests": (
        {"order_type": GTC, "side": NO, "price": Micros(57 * CENT)},
        (0, 0, 36.8421, 20.999_997, 0.59, 0.59),
    ),
    "a buy that takes a level and rests": (
        {"order_type": GTC, "price": Micros(42 * CENT), "size": Micros(63 * ONE)},
        (100, 42, 50, 21, 0.42, 0.42),
    ),
    "a sale that takes a level and rests": (
        {"order_type": GTC, "action": SELL, "price": Micros(40 * CENT), "size": Micros(130 * ONE)},
        (100, 40, 30, 0, 0.4, 0.4),
    ),
    "a resting buy without a price goes a tick beyond the best one": (
        {"order_type": GTC, "size": Micros(47_300_000)},
        (100, 42, 10, 4.3, 0.42, 0.42),
    ),
}


@pytest.mark.parametrize("name", QUOTES)
def test_an_order_gets_what_stands_and_rests_for_the_rest(name: str) -> None:
    fields, expected = QUOTES[name]
    world = traded()
    found = quote(world.venues, order(world, **fields), TIMES)
    assert got(found) == pytest.approx(expected, abs=1e-9)
    buys = fields.get("action", BUY) is BUY
    requested = found.walked.shares + found.rests if buys else fields["size"]
    assert found.requested == requested


def test_a_limit_bounds_a_buy_at_once() -> None:
    world = traded()
    wish = order(world, size=Micros(46_400_000), price=Micros(42 * CENT))
    found = quote(world.venues, wish, TIMES)
    assert got(found)[:2] == (100, 42)
    assert not found.walked.is_whole
    assert found.walked.matches == (
        Match(Micros(42 * CENT), Micros(100 * ONE), Micros(42 * ONE), None),
    )


def test_a_fee_is_paid_on_top_of_a_buy_and_out_of_a_sale() -> None:
    world = traded(Category.POLITICS)
    bought = quote(world.venues, order(world), TIMES)
    # 50 shares x 4 % x 0.42 x 0.58.
    assert bought.walked.fee == 487_200
    assert bought.net(BUY) == 21 * ONE + 487_200
    sold = quote(world.venues, order(world, action=SELL, size=Micros(50 * ONE)), TIMES)
    assert sold.walked.fee == 480_000
    assert sold.net(SELL) == 20 * ONE - 480_000
    rests = order(world, order_type=GTC, price=Micros(42 * CENT), size=Micros(63 * ONE))
    assert quote(world.venues, rests, TIMES).net(BUY) == 63 * ONE + 974_400


REFUSED: dict[str, tuple[dict[str, Any], type[Refusal]]] = {
    "a whole fill that is not there": (
        {"order_type": FOK, "size": Micros(65 * ONE)},
        NotFilledWhole,
    ),
    "nothing at the limit": ({"price": Micros(41 * CENT)}, NoLiquidity),
    "fewer than five shares": ({"size": Micros(2_099_900)}, OrderTooSmall),
    "a sale of fewer than five": ({"action": SELL, "size": Micros(5 * ONE - 1)}, OrderTooSmall),
    "too few at the limit itself": (
        {"order_type": GTC, "price": Micros(42 * CENT), "size": Micros(2_099_000)},
        OrderTooSmall,
    ),
    "a price below the range": ({"price": Micros(999)}, PriceOutOfRange),
    "a price above the range": ({"price": Micros(999_001)}, PriceOutOfRange),
    "a resting price between two ticks": (
        {"order_type": GTC, "price": Micros(405_000)},
        InvalidTick,
    ),
    "another venue": ({"venue": Venue.SOL}, VenueNotServed),
    "sim": ({"venue": Venue.SIM}, VenueNotServed),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_a_book_does_not_take_is_refused(name: str) -> None:
    fields, kind = REFUSED[name]
    world = traded()
    with pytest.raises(kind):
        quote(world.venues, order(world, **fields), TIMES)


@pytest.mark.parametrize(
    "fields",
    [
        {"size": Micros(2_100_000)},
        {"action": SELL, "size": Micros(5 * ONE)},
        {"order_type": FOK, "size": Micros(64 * ONE)},
        {"price": Micros(999_000)},
        {"price": Micros(425_000)},
        {"action": SELL, "size": Micros(9 * ONE), "price": Micros(1_000)},
    ],
)
def test_an_order_at_a_bound_is_taken(fields: dict[str, Any]) -> None:
    world = traded()
    assert quote(world.venues, order(world, **fields), TIMES).walked.shares > 0


def test_an_empty_book_gives_no_price_to_take_over() -> None:
    world = traded()
    stand(world, BIDS, ())
    with pytest.raises(NoLiquidity, match="name a price"):
        quote(world.venues, order(world, order_type=GTC), TIMES)
    with pytest.raises(NoLiquidity):
        quote(world.venues, order(world), TIMES)
    rests = order(world, order_type=GTC, price=Micros(50 * CENT))
    assert got(quote(world.venues, rests, TIMES))[:4] == (0, 0, 42, 21)


def test_a_sale_that_brings_no_more_than_its_fee_is_refused() -> None:
    world = traded(Category.CRYPTO)
    stand(world, levels((0, 0)), ASKS)
    book = world.venues.book(MARKET)
    bids = (PriceLevel(Micros(1), Micros(5 * ONE)),)
    number = refresh_at(book.listing, TIMES[1])
    book.stand(RefreshedQuotes(number, 0.5, Micros(1_000), bids, ASKS))
    with pytest.raises(BelowMinimum):
        quote(world.venues, order(world, action=SELL, size=Micros(5 * ONE)), TIMES)


def test_a_market_that_is_not_there_or_closed_has_no_book() -> None:
    world = traded()
    with pytest.raises(MarketNotFound):
        open_book(world.venues, "m9", Venue.EVM, TIMES)
    with pytest.raises(MarketNotOpen):
        open_book(world.venues, MARKET, Venue.EVM, (AT, Timestamp(AT + HOUR)))
    with pytest.raises(VenueNotServed) as refused:
        open_book(world.venues, MARKET, Venue.SOL, TIMES)
    assert refused.value.fix == "trade it on sim or on evm_venue"
    listed(world, "m2")
    with pytest.raises(VenueNotServed) as refused:
        open_book(world.venues, "m2", Venue.EVM, TIMES)
    assert refused.value.fix == "trade it on sim"


@pytest.mark.parametrize(
    ("side", "action", "cents"), [(YES, BUY, 42), (YES, SELL, 40), (NO, BUY, 60), (NO, SELL, 58)]
)
def test_the_executable_price_is_that_of_who_takes(side: Side, action: Action, cents: int) -> None:
    book = traded().venues.book(MARKET)
    price = executable(book, side, action, TIMES)
    assert price == cents * CENT
    worse = cents + 1 if action is BUY else cents - 1
    assert buffered(book, Micros(cents * CENT), action, TIMES) == worse * CENT


@pytest.mark.parametrize(
    ("price", "action", "bound"), [(999_000, BUY, 999_000), (1_000, SELL, 1_000)]
)
def test_a_buffer_stays_in_the_range_of_prices(price: int, action: Action, bound: int) -> None:
    book = traded().venues.book(MARKET)
    assert buffered(book, Micros(price), action, TIMES) == bound


# -- limits of who orders ------------------------------------------------------------------


@pytest.mark.parametrize(
    ("changes", "kind"),
    [
        ({"claimed": False}, NotClaimed),
        ({"suspended": True}, AgentSuspended),
        ({"real_trading_enabled": False}, RealTradingOff),
        ({"trading_paused": True}, TradingPaused),
        ({"max_position": Micros(21 * ONE - 1)}, MarketTooLarge),
    ],
)
def test_an_agent_that_may_not_buy_is_refused(changes: dict[str, Any], kind: type[Refusal]) -> None:
    world = traded(**changes)
    with pytest.raises(kind):
        check(world.venues, order(world), TIMES)


def test_who_is_paused_may_still_sell() -> None:
    world = traded(trading_paused=True)
    held(world, yes=10 * ONE)
    assert check(world.venues, order(world, action=SELL, size=Micros(10 * ONE)), TIMES)


def rests(world: World, order_id: str, name: str = "ada", **fields: Any) -> Resting:
    known: dict[str, Any] = {
        "side": YES, "action": BUY, "order_type": GTC, "price": Micros(10 * CENT),
        "requested": Micros(50 * ONE), "left": Micros(50 * ONE), "reserved": Micros(5 * ONE),
        "at": AT, "world_at": AT,
    }  # fmt: skip
    one = Resting(order_id, name, Venue.EVM, MARKET, **(known | fields))
    if one.reserved:
        world.ledger.transfer(f"agent:{name}:evm_venue", "orders:evm_venue", one.reserved)
    world.venues.book(MARKET).orders[order_id] = one
    return one


@pytest.mark.parametrize(("most", "taken"), [(26 + 7, True), (26 + 6, False)])
def test_a_position_counts_with_what_open_buys_may_still_spend(*, most: int, taken: bool) -> None:
    world = traded(max_position=Micros(most * ONE))
    held(world, yes=14 * ONE)
    rests(world, "o1")
    rests(world, "o2", "bea")
    if taken:
        assert check(world.venues, order(world), TIMES)
    else:
        with pytest.raises(MarketTooLarge):
            check(world.venues, order(world), TIMES)


@pytest.mark.parametrize(
    ("fields", "bound", "taken"),
    [
        ({}, 0.42, True),
        ({}, 0.4199, False),
        # 100 at 0.42 and 10 at 0.44: 0.42182 on average.
        ({"size": Micros(46_400_000)}, 0.4219, True),
        ({"size": Micros(46_400_000)}, 0.4218, False),
        # Ten cents buy 0.23809 shares: what is lost by rounding is no worse price.
        ({"size": Micros(10_000_000)}, 0.42, True),
        # What rests may fill at its own price later.
        ({"order_type": GTC, "price": Micros(43 * CENT), "size": Micros(63 * ONE)}, 0.43, True),
        ({"order_type": GTC, "price": Micros(43 * CENT), "size": Micros(63 * ONE)}, 0.42, False),
        ({"action": SELL, "size": Micros(50 * ONE)}, 0.4, True),
        ({"action": SELL, "size": Micros(50 * ONE)}, 0.4001, False),
        ({"action": SELL, "size": Micros(120 * ONE)}, 0.3966, True),
        ({"action": SELL, "size": Micros(120 * ONE)}, 0.3967, False),
    ],
)
def test_an_approved_order_keeps_the_average_that_was_allowed(
    fields: dict[str, Any], bound: float, *, taken: bool
) -> None:
    world = traded()
    held(world, yes=200 * ONE)
    wish = order(world, **fields)._replace(average_bound=bound)
    if taken:
        assert check(world.venues, wish, TIMES)
    else:
        with pytest.raises(PriceBeyondApproval, match=f"price beyond {bound:g}: "):
            check(world.venues, wish, TIMES)


@pytest.mark.parametrize(("less", "taken"), [(0, True), (1, False)])
def test_a_buy_needs_its_money_to_the_micro(*, less: int, taken: bool) -> None:
    world = traded()
    spare = Micros(979 * ONE + less)
    world.ledger.transfer("agent:ada:evm_venue", "issuer:evm_venue", spare)
    if taken:
        assert check(world.venues, order(world), TIMES)
    else:
        with pytest.raises(InsufficientBalance, match=r"21\.00 USDC needed with the fee, 21\.00"):
            check(world.venues, order(world), TIMES)


@pytest.mark.parametrize(("shares", "taken"), [(30 * ONE, True), (30 * ONE + 10, False)])
def test_a_sale_needs_its_shares_free_of_open_sales(*, shares: int, taken: bool) -> None:
    world = traded()
    held(world, yes=50 * ONE, no=99 * ONE)
    rests(world, "o1", action=SELL, left=Micros(20 * ONE), reserved=Micros(0))
    sale = order(world, action=SELL, size=Micros(shares))
    if taken:
        assert check(world.venues, sale, TIMES)
    else:
        with pytest.raises(InsufficientShares):
            check(world.venues, sale, TIMES)


@pytest.mark.parametrize(("count", "taken"), [(OPEN_MAX - 1, True), (OPEN_MAX, False)])
def test_so_many_orders_may_be_open(*, count: int, taken: bool) -> None:
    world = traded()
    for number in range(count):
        rests(world, f"o{number}", reserved=Micros(0))
    rests(world, "b1", "bea")
    wish = order(world, order_type=GTC, price=Micros(41 * CENT))
    if taken:
        assert check(world.venues, wish, TIMES)
    else:
        with pytest.raises(TooManyOrders):
            check(world.venues, wish, TIMES)
    # What does not rest is bound by nothing.
    assert check(world.venues, order(world), TIMES)


YEAR_S = 366 * 86_400.0


@pytest.mark.parametrize(
    ("kind", "after_s", "expires_s"),
    [
        (GTD, None, 86_400.0),
        # The venue lists none that dies sooner.
        (GTD, 180.0, 180.0),
        (GTD, 179.9, None),
        (GTD, 1.0, None),
        (GTD, YEAR_S, YEAR_S),
        (GTD, 0.0, None),
        (GTD, YEAR_S + 1, None),
        (GTC, 9.0, None),
        (FAK, 9.0, None),
        (None, 9.0, None),
    ],
)
def test_only_a_gtd_order_dies_and_within_a_year(
    *, kind: OrderType | None, after_s: float | None, expires_s: float | None
) -> None:
    world = traded()
    expires_at = None if after_s is None else Timestamp(AT + after_s)
    wish = order(world, order_type=kind, price=Micros(41 * CENT), expires_at=expires_at)
    if expires_s is None:
        with pytest.raises(InvalidExpiration):
            check(world.venues, wish, TIMES)
    else:
        assert check(world.venues, wish, TIMES).expires_at == AT + expires_s


@pytest.mark.parametrize(("action", "kind"), [(BUY, "FAK"), (SELL, "GTC")])
def test_an_order_without_a_type_is_told_which_one_it_has(action: Action, kind: str) -> None:
    world = traded()
    held(world, yes=50 * ONE)
    wish = order(world, order_type=None, action=action, expires_at=Timestamp(AT + 9))
    with pytest.raises(InvalidExpiration, match=f"not to {kind}"):
        check(world.venues, wish, TIMES)


def test_other_orders_never_die() -> None:
    world = traded()
    assert check(world.venues, order(world), TIMES).expires_at == 0


@pytest.mark.parametrize(
    ("fields", "size"),
    [
        ({}, 12 * ONE),
        ({"size": Micros(7 * ONE)}, 7 * ONE),
        ({"size": Micros(7 * ONE + 1)}, 12 * ONE),
        ({"size": Micros(12 * ONE - 1)}, 12 * ONE),
        ({"size": Micros(12 * ONE)}, 12 * ONE),
        ({"size": Micros(13 * ONE)}, 13 * ONE),
        ({"size": Micros(4 * ONE)}, 4 * ONE),
        ({"signed": True}, 10 * ONE),
        ({"signed": True, "size": Micros(12 * ONE - 9_999)}, 12 * ONE),
        ({"signed": True, "size": Micros(12 * ONE - 10_000)}, 12 * ONE - 10_000),
        ({"action": BUY}, 10 * ONE),
        ({"venue": Venue.SIM}, 10 * ONE),
        ({"side": NO}, 10 * ONE),
    ],
)
def test_a_sale_takes_along_what_no_order_could_sell(fields: dict[str, Any], size: int) -> None:
    world = traded()
    held(world, yes=12 * ONE, no=15 * ONE)
    wish = order(world, **({"action": SELL, "size": Micros(10 * ONE)} | fields))
    assert with_remainder(world.venues, wish).size == size


# -- carried out ---------------------------------------------------------------------------


def test_an_order_is_written_down_with_all_that_it_got() -> None:
    world = traded(Category.POLITICS)
    held(world, yes=200 * ONE)
    world.venues.order_count = 6
    note = Note("why", "sdk:p")
    sale = order(
        world, action=SELL, size=Micros(130 * ONE), price=Micros(40 * CENT), order_type=GTD,
        expires_at=Timestamp(AT + 200), note=note,
    )  # fmt: skip
    (placed,) = place(world.venues, sale, TIMES)
    assert placed == OrderPlaced(
        order_id="o7", agent_id="ada", venue=Venue.EVM, market_id=MARKET, side=YES, action=SELL,
        order_type=GTD, size=Micros(130 * ONE), price=Micros(40 * CENT),
        requested=Micros(130 * ONE), shares=Micros(100 * ONE), money=Micros(40 * ONE),
        fee=Micros(960_000), rests=Micros(30 * ONE), reserved=Micros(0), price_before=0.4,
        price_after=0.4, at=AT, world_at=TIMES[1], realized=Micros(-10 * ONE - 960_000),
        expires_at=Timestamp(AT + 200), number=refresh_at(world.markets[MARKET].listing, TIMES[1]),
        taken=((Micros(40 * CENT), Micros(100 * ONE)),), note=note,
    )  # fmt: skip
    assert world.venues.cash("ada", Venue.EVM) == 1_000 * ONE + 40 * ONE - 960_000
    assert world.venues.free_shares("ada", MARKET, YES) == 70 * ONE
    # What was taken stands no more.
    assert executable(world.venues.book(MARKET), YES, SELL, TIMES) == 38 * CENT


def test_a_maker_is_filled_at_its_own_price_and_ended_when_whole() -> None:
    world = traded()
    maker = order(world, "bea", order_type=GTC, price=Micros(41 * CENT), size=Micros(41 * ONE))
    place(world.venues, maker, TIMES)
    assert world.venues.cash("bea", Venue.EVM) == 959 * ONE
    held(world, yes=200 * ONE)
    taker = order(world, action=SELL, size=Micros(60 * ONE))
    placed, filled = place(world.venues, taker, TIMES)
    assert (placed.shares, placed.money) == (60 * ONE, 24_600_000)
    assert filled == OrderFilled(
        "o1", "bea", MARKET, Micros(60 * ONE), Micros(24_600_000), Micros(0), AT, TIMES[1],
        refresh_at(world.markets[MARKET].listing, TIMES[1]), (), YES, BUY, "", Venue.EVM, "",
        0.41,
    )  # fmt: skip
    *_, ended = place(world.venues, taker._replace(size=Micros(40 * ONE)), TIMES)
    assert ended == OrderEnded(
        "o1", "bea", MARKET, OrderEnd.FILLED, *TIMES, Micros(100 * ONE), Micros(41 * ONE),
        Micros(0), Micros(0),
    )  # fmt: skip
    bought = world.venues.account("bea", Venue.EVM).holdings[MARKET].position
    assert (bought.yes.shares, bought.yes.cost) == (100 * ONE, 41 * ONE)
    assert world.ledger.balance("orders:evm_venue") == 0
    assert world.venues.book(MARKET).orders == {}


def test_only_the_order_that_is_named_is_cancelled_and_only_by_its_owner() -> None:
    world = traded()
    rests(world, "o1")
    rests(world, "o2")
    (ended,) = cancel(world.venues, world.agents["ada"], TIMES, order_id="o2")
    assert ended == OrderEnded(
        "o2", "ada", MARKET, OrderEnd.CANCELLED, *TIMES, Micros(0), Micros(0), Micros(0),
        Micros(5 * ONE),
    )  # fmt: skip
    assert list(world.venues.book(MARKET).orders) == ["o1"]
    assert world.venues.cash("ada", Venue.EVM) == 995 * ONE
    for name, order_id in (("bea", "o1"), ("ada", "o2")):
        with pytest.raises(OrderNotFound):
            cancel(world.venues, world.agents[name], TIMES, order_id=order_id)


def test_orders_end_with_their_hour_and_with_their_market() -> None:
    world = traded()
    rests(world, "soon", expires_at=AT)
    rests(world, "later", expires_at=Timestamp(AT + 1))
    rests(world, "never")
    assert [(one.order_id, one.reason) for one in end_due(world.venues, TIMES)] == [
        ("soon", OrderEnd.EXPIRED)
    ]
    before = (AT, Timestamp(AT + HOUR - 1))
    assert end_due(world.venues, before) == []
    ended = end_due(world.venues, (AT, Timestamp(AT + HOUR)))
    assert [(one.order_id, one.reason) for one in ended] == [
        ("later", OrderEnd.MARKET_CLOSED),
        ("never", OrderEnd.MARKET_CLOSED),
    ]


def test_what_falls_due_is_ended_by_market_whoever_looked_at_a_book_first() -> None:
    world = traded()
    for market_id in ("m9", "m3", "m7"):
        listed(world, market_id, home=Venue.EVM)
        one = rests(world, f"of {market_id}")
        del world.venues.book(MARKET).orders[one.order_id]
        one.market_id = market_id
        world.venues.book(market_id).orders[one.order_id] = one
    rests(world, "last", expires_at=AT)
    ended = end_due(world.venues, (AT, Timestamp(AT + HOUR)))
    assert [one.order_id for one in ended] == ["last", "of m3", "of m7", "of m9"]


@pytest.mark.parametrize(
    ("fields", "shares", "money"),
    [
        # Asks of 42 and 44 cents have come to a bid of 43, or of 44, and to one of less.
        ({"price": Micros(43 * CENT), "left": Micros(60 * ONE)}, 60, 25.8),
        ({"price": Micros(44 * CENT), "left": Micros(140 * ONE)}, 140, 61.6),
        ({"price": Micros(42 * CENT), "left": Micros(140 * ONE)}, 100, 42),
        ({"price": Micros(41 * CENT)}, 0, 0),
        # And bids of 40 and 38 to asks.
        ({"action": SELL, "price": Micros(39 * CENT), "left": Micros(30 * ONE)}, 30, 11.7),
        ({"action": SELL, "price": Micros(38 * CENT), "left": Micros(200 * ONE)}, 150, 57),
        ({"action": SELL, "price": Micros(41 * CENT)}, 0, 0),
        ({"side": NO, "price": Micros(60 * CENT), "left": Micros(30 * ONE)}, 30, 18),
    ],
)
def test_fresh_quotes_fill_what_they_have_crossed_at_its_own_price(
    *, fields: dict[str, Any], shares: float, money: float
) -> None:
    world = traded()
    held(world, yes=300 * ONE)
    reserved = Micros(0 if fields.get("action") is SELL else 100 * ONE)
    one = rests(world, "o1", reserved=reserved, **fields)
    left = one.left
    events = match_due(world.venues, TIMES)
    filled = [event for event in events if isinstance(event, OrderFilled)]
    assert [(event.shares / ONE, event.money / ONE) for event in filled] == (
        [(shares, money)] if shares else []
    )
    assert one.left == left - round(shares * ONE)
    assert any(isinstance(event, OrderEnded) for event in events) is (one.left == 0)
    if fields.get("action") is SELL and shares:
        # Half a dollar a share was paid for them.
        assert filled[0].realized == round((money - shares / 2) * ONE)


def test_orders_are_met_best_price_first_and_then_oldest(monkeypatch: pytest.MonkeyPatch) -> None:
    world = traded()
    for name, cents in (("low", 30), ("high", 35), ("later", 35)):
        rests(world, name, price=Micros(cents * CENT))
    rests(world, "sale", action=SELL, price=Micros(45 * CENT))
    met: list[str] = []

    def cross(_: object, __: object, order: Resting, ___: object) -> list[object]:
        met.append(order.order_id)
        return []

    monkeypatch.setattr(resting, "_cross", cross)
    assert match_due(world.venues, TIMES) == []
    assert met == ["high", "later", "low", "sale"]


@pytest.mark.parametrize(
    ("venue", "action", "kind"),
    [
        (Venue.EVM, BUY, FAK),
        (Venue.EVM, SELL, GTC),
        (Venue.SOL, BUY, FAK),
        (Venue.SOL, SELL, FAK),
    ],
)
def test_an_order_without_a_type_has_that_of_its_venue(
    venue: Venue, action: Action, kind: OrderType
) -> None:
    assert default_type(venue, action) is kind
    world = traded()
    size = Micros(21 * ONE if action is BUY else 130 * ONE)
    if venue is Venue.EVM:
        wish = order(world, order_type=None, action=action, size=size)
        found = quote(world.venues, wish, TIMES)
        assert found.order_type is kind
        # A sale takes the best bid, and rests a tick below it.
        assert found.rests == (30 * ONE if action is SELL else 0)


def test_a_skill_that_has_spent_its_day_buys_no_more() -> None:
    world = traded(skill_day_max=Micros(40 * ONE))
    note = Note(skill_slug="dips")
    place(world.venues, order(world, note=note), TIMES)
    with pytest.raises(Refusal):
        check(world.venues, order(world, note=note), TIMES)
    assert check(world.venues, order(world, note=Note(skill_slug="other")), TIMES)
    assert check(world.venues, order(world), TIMES)


def test_a_failure_pauses_buys_of_its_own_side_alone() -> None:
    world = traded()
    world.agents["ada"].failed[f"{MARKET}:no"] = Timestamp(AT - 60)
    with pytest.raises(Refusal):
        check(world.venues, order(world, side=NO), TIMES)
    assert check(world.venues, order(world), TIMES)
    assert check(world.venues, order(world, "bea", side=NO), TIMES)
    # An exit is bound by no pause.
    assert check(world.venues, order(world, side=NO, unlimited=True), TIMES)


def test_a_days_money_bounds_a_buy_by_what_was_spent() -> None:
    world = traded(day_spend_max=Micros(42 * ONE))
    place(world.venues, order(world, size=Micros(21 * ONE)), TIMES)
    assert check(world.venues, order(world), TIMES)
    with pytest.raises(Refusal):
        check(world.venues, order(world, size=Micros(21 * ONE + 1)), TIMES)
    next_day = (Timestamp(AT + 86_400), TIMES[1])
    assert check(world.venues, order(world, size=Micros(42 * ONE)), next_day)


def test_an_order_that_moves_the_price_tells_it_before_and_after_by_the_tapes_time() -> None:
    world = traded(Category.POLITICS)
    late = (AT, Timestamp(TIMES[1] + 3 * REFRESH_S))
    (placed,) = place(world.venues, order(world, size=Micros(400 * ONE)), late)
    assert placed.price_before < placed.price_after
    assert placed.number == refresh_at(world.markets[MARKET].listing, late[1])
    assert placed.number != refresh_at(world.markets[MARKET].listing, AT)
