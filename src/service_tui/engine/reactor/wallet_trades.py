"""Simulated trades of the named wallets in one step of the tape.

Everything is a function of seed, tick, prices and of what the wallets hold. Those on the chain
trade against the quotes of the order books, the others with the market maker of `sim`.
"""

import hashlib
import math
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import Final, NamedTuple, Protocol, TypeVar
from zlib import crc32

from service_tui.engine.amm import lmsr
from service_tui.engine.amm.market import Market
from service_tui.engine.books.book import Book, Offer, TakeRequest, is_bid, own_price, walk
from service_tui.engine.books.venues import Venues
from service_tui.engine.errors import Refusal
from service_tui.engine.events import CrowdTrade, Settlement
from service_tui.engine.listing import Listing
from service_tui.engine.reactor.reactor import Reactor
from service_tui.engine.reactor.wallets import ROSTER, SourceWallet, address_of, opinion
from service_tui.engine.tape.draws import Draws, mix, unit
from service_tui.engine.tape.recorded import MarketTape
from service_tui.engine.tape.slots import IMPORT_SLOTS, home_of, numbers_at
from service_tui.terms import Action, Side, Venue
from service_tui.units import ONE, SHARE_QUANTUM, Micros, Timestamp

Item = TypeVar("Item")

_CHAIN: Final = Venue.EVM
_CROWD: Final = Venue.SIM

# ours: every figure; the spec says only that wallets trade.
LEFT_MIN_S: Final = 120.0
"""Nobody with a name enters a question that ends sooner."""

_KNOWS: Final = 0.6
"""Skill from which on a wallet does not pay more than its own chance to be right."""

_OFF_BOOK_LEFT_S: Final = 43_200.0
"""The same for who trades off the books."""

_PRICES: Final = (0.10, 0.90)
"""Range of prices in which there is something to win."""

_EXPLORES: Final = 0.25
_EXPLORED_LEFT_S: Final = 3_600.0
"""How often a trade on the chain is in a question that the service does not list yet, and how much
time that one has left."""

_EXPLORED: Final = tuple(slot for slot in IMPORT_SLOTS if home_of(slot) is _CHAIN)
_TRIES: Final = 24

_LEAVES: Final = 0.12
_LEAVES_TURNING: Final = 0.5
_LEAVES_WHOLE: Final = 0.5
"""How often a wallet looks at what it holds instead, one that turns more often, and how often it
then sells all of it, not half."""

_IS_MAKER: Final = 0.2
_FIRST_LEG: Final = 0.6
"""How often a bid on the chain had to wait, and was met by two sellers; the first one's share."""

_REPORTED_TWICE: Final = 0.05
"""How often the chain repeats a settlement."""

_STREAM: Final = crc32(b"wallets")
_CENT: Final = ONE // 100
_LOT_MIN: Final = Micros(ONE)


class WalletContext(NamedTuple):
    """The parts of the world that wallets read, and that their trades change."""

    seed: int
    tape: MarketTape
    markets: Mapping[str, Market]
    venues: Venues
    reactor: Reactor


class Luck(Protocol):
    """Draws that are taken one after the other."""

    def unit(self) -> float:
        """A draw between 0 and 1."""
        ...

    def pick(self, items: Sequence[Item], /) -> Item:
        """One of some items."""
        ...


class Chance(NamedTuple):
    """What decides about a trade besides prices and holdings.

    Attributes:
        roster: the wallets.
        unit: whether a wallet acts, by the moment and its place in the roster; 0 to 1.
        draws: its luck, by the moment, its place and the stream.
        opinion: which side a wallet believes in.
    """

    roster: tuple[SourceWallet, ...] = ROSTER
    unit: Callable[[int, int], float] = unit
    draws: Callable[[int, int, int], Luck] = Draws
    opinion: Callable[[int, SourceWallet, Listing, Timestamp], Side] = opinion


_CHANCE: Final = Chance()


def trades_of_wallets(
    context: WalletContext,
    span: tuple[int, Timestamp, Timestamp],
    crowd: Iterable[CrowdTrade],
    chance: Chance = _CHANCE,
) -> tuple[Settlement, ...]:
    """The trades of the wallets in one tick, at most one each.

    Args:
        context: the world.
        span: number of the move of the tape, and the tape's time before and after it.
        crowd: what the crowd trades in it: prices there are of before, so nobody else goes there.
        chance: wallets, luck and opinions; the world's own by default.

    Returns:
        Their settlements, in order; a few are repeated, as on a chain.
    """
    tick, before, world_at = span
    span_s = world_at - before
    moment = mix(context.seed, tick, _STREAM)
    taken = {trade.market_id for trade in crowd}
    found: list[Settlement] = []
    for index, wallet in enumerate(chance.roster):
        if chance.unit(moment, index) >= span_s / wallet.pace_s:
            continue
        draws = chance.draws(moment, index, 1)
        address = address_of(context.seed, wallet)
        trade = _Trade(context, wallet, address, (tick, world_at), draws, chance)
        settled = _leave(trade, taken) or _enter(trade, taken)
        taken.update(one.market_id for one in settled)
        found += settled
        if settled and wallet.venue is _CHAIN and draws.unit() < _REPORTED_TWICE:
            found += settled
    return tuple(found)


class _Trade(NamedTuple):
    """One wallet at one moment."""

    context: WalletContext
    wallet: SourceWallet
    address: str
    moment: tuple[int, Timestamp]
    draws: Luck
    chance: Chance

    @property
    def at(self) -> Timestamp:
        """The tape's time."""
        return self.moment[1]

    def settled(  # noqa: PLR0913  (the figures of a settlement)
        self,
        listing: Listing,
        side: Side,
        action: Action,
        *,
        shares: Micros,
        money: float,
        cost: Micros = Micros(0),
        leg: int = -1,
    ) -> Settlement:
        """The settlement; its transaction is a function of world, moment and wallet."""
        named = f"{self.context.seed}:{self.moment[0]}:{self.address}"
        return Settlement(
            tx_hash="0x" + hashlib.sha256(named.encode()).hexdigest(),
            wallet=self.address,
            label=self.wallet.label,
            venue=self.wallet.venue,
            market_id=listing.market_id,
            slot=listing.slot,
            number=listing.number,
            side=side,
            action=action,
            shares=shares,
            price=round(money / shares, 6),
            cost=cost,
            leg=leg,
        )


# -- entering ------------------------------------------------------------------------------


def _enter(trade: _Trade, busy: Collection[str]) -> list[Settlement]:
    """A buy in a question of the wallet's choice; none where it finds nothing."""
    context, wallet, draws = trade.context, trade.wallet, trade.draws
    listing = _chosen(trade, busy)
    if listing is None:
        return []
    side = trade.chance.opinion(context.seed, wallet, listing, trade.at)
    if not _is_worth_it(wallet, context, listing, side):
        return []
    low, high = wallet.money
    money = Micros(round(low * (high / low) ** draws.unit() * 100) * _CENT)
    if wallet.discount:
        return _buy_off_book(trade, context.markets[listing.market_id], side, money)
    if wallet.venue is _CHAIN:
        return _buy_on_chain(trade, listing, side, money)
    return _buy_of_maker(trade, context.markets[listing.market_id], side, money)


def _is_worth_it(
    wallet: SourceWallet, context: WalletContext, listing: Listing, side: Side
) -> bool:
    """True if a skilled wallet would pay the price; unskilled wallets pay any."""
    market = context.markets.get(listing.market_id)
    return wallet.skill < _KNOWS or market is None or market.price_of(side) < wallet.skill


def _chosen(trade: _Trade, busy: Collection[str]) -> Listing | None:
    """A question that suits the wallet, drawn, and drawn again where it does not."""
    context, draws = trade.context, trade.draws
    explores = context.tape.has_imports and trade.wallet.venue is _CHAIN
    if explores and draws.unit() < _EXPLORES:
        return _explored(trade)
    markets = tuple(context.markets.values())
    for _ in range(_TRIES if markets else 0):
        market = draws.pick(markets)
        listing = market.listing
        if (
            market.resolved_at is None
            and market.market_id not in busy
            and _suits(trade.wallet, listing, listing.resolves_at - trade.at)
            and _PRICES[0] < market.price() < _PRICES[1]
        ):
            return listing
    return None


def _explored(trade: _Trade) -> Listing | None:
    """A question of the chain's venue that is not listed here yet."""
    context, at = trade.context, trade.at
    slot = trade.draws.pick(_EXPLORED)
    for number in numbers_at(context.seed, slot, at):
        listing = context.tape.listing_of(slot.index, number)
        if (
            listing.opens_at <= at < listing.resolves_at - _EXPLORED_LEFT_S
            and listing.market_id not in context.markets
        ):
            return listing
    return None


def _suits(wallet: SourceWallet, listing: Listing, left_s: float) -> bool:
    """Whether a wallet trades a question with so much time left."""
    if wallet.discount:
        # Where no bid can rest, and where prices do not fall to its own within a minute.
        return listing.home is _CROWD and left_s > _OFF_BOOK_LEFT_S
    return left_s > LEFT_MIN_S and (wallet.venue is _CROWD or listing.home is _CHAIN)


def _buy_of_maker(trade: _Trade, market: Market, side: Side, money: Micros) -> list[Settlement]:
    """A buy from the market maker, small enough to be mirrored at that price."""
    price = market.price_of(side)
    target = min(_PRICES[1], price * (1.0 + trade.wallet.push))
    x = math.log((1.0 - price) / price)
    most = lmsr.spend_to_price(target, b=int(market.b), x=x) if target > price else 0.0
    spend = Micros(int(min(money, most) // _CENT) * _CENT)
    if spend < _LOT_MIN:
        return []
    try:
        quote = market.quote_buy(side, spend)
    except Refusal:
        return []
    return [
        trade.settled(
            market.listing, side, Action.BUY, shares=quote.shares, money=int(spend), cost=spend
        )
    ]


def _buy_off_book(trade: _Trade, market: Market, side: Side, money: Micros) -> list[Settlement]:
    """A buy from the crowd, far below the market: no mirror gets that price."""
    price = market.price_of(side) * (1.0 - trade.wallet.discount)
    shares = Micros(int(money / price) // SHARE_QUANTUM * SHARE_QUANTUM)
    return [trade.settled(market.listing, side, Action.BUY, shares=shares, money=shares * price)]


def _buy_on_chain(trade: _Trade, listing: Listing, side: Side, money: Micros) -> list[Settlement]:
    """A buy against the quotes of the order book, or by a bid that had to wait for its sellers."""
    at = trade.at
    book = _book(trade.context, listing)
    bids = is_bid(side, Action.BUY)
    if trade.draws.unit() < _IS_MAKER:
        best = next(book.levels(at, bids=bids), None)
        price = 0 if best is None else own_price(side, best.price)
        if not _PRICES[0] < price / ONE < _PRICES[1]:
            return []
        shares = [money * share / price for share in (_FIRST_LEG, 1.0 - _FIRST_LEG)]
        return [
            trade.settled(listing, side, Action.BUY, shares=lot, money=lot * price / ONE, leg=leg)
            for leg, share in enumerate(shares)
            if (lot := Micros(int(share) * ONE)) > 0
        ]
    offers = [Offer(price, shares, None) for price, shares in book.levels(at, bids=not bids)]
    walked = walk(offers, TakeRequest("", side, Action.BUY, None, money, None), 0)
    if not walked.shares or not _PRICES[0] < walked.money / walked.shares < _PRICES[1]:
        return []
    return [trade.settled(listing, side, Action.BUY, shares=walked.shares, money=int(walked.money))]


def _book(context: WalletContext, listing: Listing) -> Book:
    if listing.market_id in context.markets:
        return context.venues.book(listing.market_id)
    return Book(context.seed, listing)


# -- leaving -------------------------------------------------------------------------------


def _held(trade: _Trade, busy: Collection[str]) -> Iterator[Market]:
    """The markets in which the wallet holds something that it can sell now."""
    context = trade.context
    for market_id in context.reactor.records.held(trade.address):
        market = context.markets.get(market_id)
        if (
            market is not None
            and market_id not in busy
            and market.resolved_at is None
            and market.listing.resolves_at > trade.at
        ):
            yield market


def _leave(trade: _Trade, busy: Collection[str]) -> list[Settlement]:
    """A sale of what the wallet holds: now and then, and whenever it looks and has turned."""
    context, wallet, draws = trade.context, trade.wallet, trade.draws
    looks = _LEAVES if wallet.turns == 1 else _LEAVES_TURNING
    # A wallet that holds nothing does not look; most that hold something look away.
    if wallet.discount or next(_held(trade, busy), None) is None or draws.unit() >= looks:
        return []
    market = draws.pick(list(_held(trade, busy)))
    listing = market.listing
    holding = context.reactor.records.holding(trade.address, market.market_id)
    probability = trade.chance.opinion(context.seed, wallet, listing, trade.at)
    side = probability.other if holding.shares(probability.other) else probability
    whole = side is not probability or draws.unit() < _LEAVES_WHOLE
    shares = holding.shares(side)
    if not whole:
        shares = Micros(shares // 2 // SHARE_QUANTUM * SHARE_QUANTUM)
    return _sell(trade, market, side, shares) if shares > 0 else []


def _sell(trade: _Trade, market: Market, side: Side, shares: Micros) -> list[Settlement]:
    """A sale where the wallet trades: to the market maker, or into the order book."""
    listing = market.listing
    if trade.wallet.venue is _CROWD:
        try:
            quote = market.quote_sell(side, shares)
        except Refusal:
            return []
        return [
            trade.settled(
                listing,
                side,
                Action.SELL,
                shares=shares,
                money=int(quote.money),
                cost=Micros(-quote.money),
            )
        ]
    levels = _book(trade.context, listing).levels(trade.at, bids=not is_bid(side, Action.SELL))
    offers = [Offer(price, size, None) for price, size in levels]
    walked = walk(offers, TakeRequest("", side, Action.SELL, None, None, shares), 0)
    if not walked.shares:
        return []
    return [
        trade.settled(listing, side, Action.SELL, shares=walked.shares, money=int(walked.money))
    ]
