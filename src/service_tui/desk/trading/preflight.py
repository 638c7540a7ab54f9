"""The desk's own checks of an order before anything is sent.

The ticket form calls them at every key, the handlers once more at the order's turn.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Final

from service_tui.desk.buy_limits import broken_by
from service_tui.desk.commands.trading import PlaceTrade
from service_tui.desk.freshness import TRADED_ON, untradable
from service_tui.desk.reasons import HALTED, Fix, Reason
from service_tui.desk.slices.markets import MarketView
from service_tui.desk.slices.orders import (
    SHARES_MIN,
    kept_by_buys,
    limit_text,
    price_text,
)
from service_tui.desk.slices.redemption import Stage
from service_tui.desk.slices.tickets import TicketView
from service_tui.desk.state import DeskState
from service_tui.desk.trading.live_orders import against_real
from service_tui.terms import (
    GTD_LIFE_MIN_S,
    MONEY_OF,
    Action,
    MarketStatus,
    Mode,
    Side,
    Venue,
    counted,
)
from service_tui.units import ONE, Micros, Timestamp, decimal, sum_of

CENT: Final = 10_000

LIFE_MIN_S: Final = 30.0
LIFE_MAX_S: Final = 365 * 86_400.0 + 1.0
"""ours: shortest and longest life of an order with an expiry; a venue needs time to list it. The
rule of a venue is in `GTD_LIFE_MIN_S`. An expiry is a whole second, rounded up."""

CONFIRM_S: Final = 60.0
"""ours: what is typed lies so much further ahead, so that there is time to read and confirm it."""


_SAME_PRICE: Final = 1e-9
"""Two prices no further apart are one: that of NO is 1 less that of YES."""


def preflight(
    state: DeskState, order: PlaceTrade, now: Timestamp, *, ticket_id: str = ""
) -> Reason | None:
    """The desk's objection to an order; None without one.

    Args:
        state: the newest.
        order: with its size.
        now: wall time.
        ticket_id: the order's own ticket, where it has one: what is older takes its share first.
    """
    any_size = preflight_any_size(state, order, now)
    return any_size or preflight_size(state, order, now, ticket_id=ticket_id)


def preflight_any_size(state: DeskState, order: PlaceTrade, now: Timestamp) -> Reason | None:
    """Objection to an order whatever its size; None without one."""
    buys = order.action is Action.BUY
    reasons = (
        _against_venue(state, order),
        against_real(state, order) if order.venue is not Venue.SIM else (),
        _against_market(state, order),
        _against_age(state, order, now),
        (_against_any_buy if buys else _against_any_sale)(state, order),
        _against_cooldown(state, order, now) if buys else (),
    )
    return next(chain.from_iterable(reasons), None)


def preflight_size(
    state: DeskState, order: PlaceTrade, now: Timestamp, *, ticket_id: str = ""
) -> Reason | None:
    """Objection to the order's size or price; None without one."""
    state = without_replaced(state, order)
    # What earlier orders may still spend or sell is not there for this one: two at the same moment
    # cannot both pass on the same money.
    earlier = _earlier(state, ticket_id)
    before = _under_way(earlier)
    buys = order.action is Action.BUY
    reasons = (
        (_against_buying if buys else _against_selling)(state, order, before),
        broken_by(state, order, now, earlier) if buys else (),
        _against_resting(order, now),
        _against_quote(state, order),
    )
    return next(chain.from_iterable(reasons), None)


def without_replaced(state: DeskState, order: PlaceTrade) -> DeskState:
    """The state without the open order that this one replaces: what it reserves is free then."""
    if not order.replaces:
        return state
    kept = tuple(each for each in state.orders if each.order_id != order.replaces)
    return replace(state, orders=kept)


def _earlier(state: DeskState, ticket_id: str) -> list[TicketView]:
    """Orders older than this one, newest first."""
    newest_first = iter(state.tickets)
    if any(ticket.ticket_id == ticket_id for ticket in state.tickets):
        while next(newest_first).ticket_id != ticket_id:
            continue
    return list(newest_first)


# -- whatever the size --------------------------------------------------------------------------


def _against_venue(state: DeskState, order: PlaceTrade) -> Iterator[Reason]:
    market = state.markets.get(order.market_id)
    if market is not None and order.venue not in venues_of(market):
        yield Reason(f"market trades on {venues_text(market)} only", Fix.OTHER_VENUE)
    service = state.service
    if order.venue is Venue.SIM and not (service.venue is Venue.SIM and service.mode is Mode.SIM):
        yield Reason("no play-money trading on this service", Fix.REAL_VENUE)
    if order.rests:
        why = why_no_rest(state, order.venue)
        yield from () if why is None else (why,)


def venues_of(market: MarketView) -> tuple[Venue, ...]:
    """Venues of a market; all if the service does not report them."""
    return market.venues or tuple(Venue)


def venues_text(market: MarketView) -> str:
    """The same for a sentence."""
    return " and ".join(one.value for one in venues_of(market))


def is_simulated(state: DeskState) -> bool:
    """True if the service simulates its real venues with play money."""
    return state.service.embedded or state.wallet.simulated


def why_no_rest(state: DeskState, venue: Venue) -> Reason | None:
    """Reason why a venue takes no limit orders; None if it does."""
    if venue is Venue.SIM:
        return Reason("no limit orders on sim", Fix.REAL_VENUE)
    if venue is Venue.SOL and not is_simulated(state):
        # Source: wire reference, 3.3. A limit order sent there would be carried out at once.
        return Reason(f"only market orders on {venue.value} here")
    return None


def why_closed(market: MarketView) -> str:
    """Reason why a market takes no orders; empty if it does."""
    if market.is_open:
        return ""
    if market.status is MarketStatus.CLOSED:
        return "market closed, awaiting resolution: no orders"
    outcome = "" if market.outcome is None else f" {market.outcome.word}"
    return f"market resolved{outcome}: no orders"


def _against_market(state: DeskState, order: PlaceTrade) -> Iterator[Reason]:
    market = state.markets.get(order.market_id)
    if market is not None and not market.is_open:
        yield Reason(why_closed(market))


def _against_age(state: DeskState, order: PlaceTrade, now: Timestamp) -> Iterator[Reason]:
    why = untradable(state, TRADED_ON[order.action], now)
    if why is not None:
        yield why


def _against_any_buy(state: DeskState, order: PlaceTrade) -> Iterator[Reason]:
    del order
    if state.halted_since is not None:
        yield HALTED
    if state.account is None or state.limits is None:
        yield Reason("cash and limits not loaded yet", Fix.WAIT_FOR_SERVICE)
    elif state.limits.paused:
        yield Reason("trading is paused, buys are blocked", Fix.RESUME_THERE)


def _against_cooldown(state: DeskState, order: PlaceTrade, now: Timestamp) -> Iterator[Reason]:
    known = () if state.buy_limits is None else state.buy_limits.cooldowns
    for one in known:
        is_here = (one.market_id, one.side) == (order.market_id, order.side)
        left_s = one.until + (state.service.skew_s or 0.0) - now
        if is_here and one.binds(order.venue) and left_s > 0:
            side = one.side.value.upper()
            for_s = f"{max(1.0, left_s):.0f} s"
            text = f"cooldown after {one.after}: no {side} buy in this market for {for_s}"
            yield Reason(text, Fix.WAIT_OR_ELSEWHERE)


def _against_any_sale(state: DeskState, order: PlaceTrade) -> Iterator[Reason]:
    held = holding(state, order.market_id, order.side, order.venue)
    if held is None or held.shares <= 0:
        where = "here" if order.venue is Venue.SIM else f"on {order.venue.value}"
        yield Reason(f"no {order.side.value.upper()} position {where}", Fix.OTHER_SIDE)


# -- by the size --------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class HeldSide:
    """Shares of one side of a market on one venue, and their cost."""

    shares: Micros
    cost: Micros


def holding(
    state: DeskState, market_id: str, side: Side, venue: Venue = Venue.SIM
) -> HeldSide | None:
    """The open position on one side of a market, on this venue alone; None without one."""
    if venue is Venue.SIM:
        held = next((one for one in state.held(market_id) if one.side is side), None)
        return None if held is None else HeldSide(held.shares, held.cost)
    position_key = (market_id, side, venue, Stage.ACTIVE)
    views = (
        HeldSide(one.shares, one.cost)
        for one in state.redemption.rows
        if (one.market_id, one.side, one.venue, one.stage) == position_key
    )
    return next(views, None)


def buy_bounds(
    state: DeskState, venue: Venue, before: Sequence[TicketView] | None = None
) -> list[tuple[Micros, str]]:
    """Upper bounds of a buy's amount with what each is; the first one broken is shown.

    Args:
        state: the newest.
        venue: where it is spent.
        before: orders under way, whose money is spoken for; None for all that there are.

    Returns:
        Amounts in the venue's money, below zero where more is spoken for than there is.
    """
    account, limits = state.account, state.limits
    if account is None or limits is None:
        return []
    # Source: decisions, "Unknown outcome".
    under_way = _under_way(state.tickets) if before is None else before
    kept = sum_of(ticket.amount for ticket in under_way if ticket.venue is venue)
    if venue is Venue.SIM:
        text = "cash left by pending orders" if kept else "cash"
        cash = Micros(account.cash - kept)
        return [(cash, text), (limits.max_trade, "limit per trade")]
    # The daily limit is one of real money. Source: decisions, "Spend limits by venue".
    left = Micros(limits.day_spend_max - limits.day_spent)
    bounds = [(left, "left of the daily limit")]
    if state.buy_limits is not None:
        bounds.append((state.buy_limits.max_trade, "limit per trade"))
    # The Solana-type venue alone knows its balance: it refuses if there is too little.
    if venue is Venue.EVM and state.wallet.usdc is not None:
        kept += kept_by_buys(state.orders, venue)
        text = "in the wallet, less open buys" if kept else "in the wallet"
        bounds.append((Micros(state.wallet.usdc - kept), text))
    return bounds


def _under_way(tickets: Sequence[TicketView]) -> list[TicketView]:
    """Orders whose end is not known.

    Of what has surely left no trace nothing is reserved any more; the person decides.
    """
    return [ticket for ticket in tickets if ticket.in_flight and not ticket.has_no_trace]


def _against_buying(
    state: DeskState, order: PlaceTrade, before: Sequence[TicketView]
) -> Iterator[Reason]:
    """Limits are written so that a number that is none fails them."""
    if order.venue is Venue.EVM and state.wallet.usdc is None:
        yield Reason("wallet balance not loaded yet", Fix.WAIT_FOR_SERVICE)
    for bound, text in buy_bounds(state, order.venue, before):
        if not 0 < order.amount <= bound:
            most = f"{max(0.0, decimal(bound)):,.2f} {MONEY_OF[order.venue]}"
            yield Reason(f"above the {most} {text}", Fix.LOWER_AMOUNT)


def _against_selling(
    state: DeskState, order: PlaceTrade, before: Sequence[TicketView]
) -> Iterator[Reason]:
    held = holding(state, order.market_id, order.side, order.venue)
    shares = Micros(0) if held is None else held.shares
    if not 0 < order.shares <= shares:
        most = f"{decimal(shares):.5f}".rstrip("0").rstrip(".")
        yield Reason(f"above your {most} shares", Fix.SELL_FEWER)
    selling = sum_of(ticket.shares for ticket in before if ticket.holding == order.holding)
    if not order.shares <= shares - selling:
        yield Reason("a sale of these shares is pending", Fix.WAIT_FOR_END)


def _against_resting(order: PlaceTrade, now: Timestamp) -> Iterator[Reason]:
    if not order.rests:
        return
    least_s = GTD_LIFE_MIN_S.get(order.venue, LIFE_MIN_S)
    if order.expires_at is not None and not least_s <= order.expires_at - now <= LIFE_MAX_S:
        yield Reason(life_text(order.venue), Fix.TYPE_EXPIRY)
        return
    if order.price is None or not 0 < order.price < 1:
        yield Reason("limit price must be above 0 and below 1", Fix.TYPE_LIMIT)
        return
    size = order.amount if order.action is Action.BUY else order.shares
    why = why_too_small(order.venue, order.action, size, Micros(round(order.price * ONE)))
    if why:
        yield Reason(why)


def life_text(venue: Venue) -> str:
    """How far ahead an expiry has to be typed, for a venue to take it."""
    minutes = int(typed_life_min_s(venue) // 60)
    return f"expiry must be {counted(minutes, 'minute')} to 365 days ahead"


def typed_life_min_s(venue: Venue) -> float:
    """How many seconds ahead an expiry is typed at least, with the time to confirm the order."""
    least_s = GTD_LIFE_MIN_S.get(venue)
    # Of a venue without a rule half of it is for the confirmation.
    return CONFIRM_S if least_s is None else least_s + CONFIRM_S


def why_too_small(venue: Venue, action: Action, size: Micros, price: Micros) -> str:
    """Reason why a venue takes no limit order this small; empty if it does.

    Args:
        venue: where it would rest.
        action: a buy is sized by money, a sale by shares.
        size: micros of either.
        price: the limit, micros.

    Returns:
        A sentence that names the least it takes.
    """
    least = SHARES_MIN.get(venue)
    if least is None:
        return ""
    if action is Action.SELL:
        return "" if size >= least else f"minimum order: {decimal(least):g} shares"
    # Shares rest in hundredths. Source: wire reference, 6.2.
    if size * ONE // price // CENT * CENT >= least:
        return ""
    spend = -(-least * price // ONE // CENT) * CENT
    while spend * ONE // price // CENT * CENT < least:
        spend += CENT
    enough = f"{decimal(Micros(spend)):,.2f} {MONEY_OF[venue]}"
    return (
        f"minimum order: {decimal(least):g} shares; "
        f"at {limit_text(price / ONE)} spend {enough} or more"
    )


def _against_quote(state: DeskState, order: PlaceTrade) -> Iterator[Reason]:
    market = state.markets.get(order.market_id)
    if order.rests or order.price is None or market is None:
        return
    buys = order.action is Action.BUY
    if order.venue is Venue.SIM:
        # ours: sim takes no limit on the wire, so the desk itself holds the order to its quote.
        price = market.price_of(order.side)
    else:
        # ours: an order that finds no offer within its bound begins a cooldown of half an hour.
        bid, ask = market.quotes_of(order.side)
        price = ask if buys else bid
    if price is None:
        return
    beyond = price - order.price if buys else order.price - price
    if beyond > _SAME_PRICE and order.keeps_price:
        yield Reason(
            f"price {price_text(price)} is above {limit_text(order.price)}", Fix.RAISE_WORST
        )
    elif beyond > _SAME_PRICE:
        yield Reason("price moved beyond the quote", Fix.NEW_PRICE)
