"""What was typed on the ticket, judged: an order, or one sentence saying why not."""

import re
from dataclasses import dataclass, replace
from typing import Final

from service_tui.console.forms.limit_draft import LimitError, read_limit, why_too_small
from service_tui.console.keys import cap
from service_tui.desk.commands.trading import PlaceTrade
from service_tui.desk.freshness import why_not_traded
from service_tui.desk.slices.holding_key import holding_key
from service_tui.desk.slices.orders import kept_by_buys, kept_by_sales
from service_tui.desk.slices.records import MarketView, Topic
from service_tui.desk.slices.redemption import Stage
from service_tui.desk.state import DeskState
from service_tui.desk.trading.live_orders import token_shown
from service_tui.terms import MONEY_OF, Action, MarketStatus, Mode, Side, Venue
from service_tui.units import AMOUNT_MAX, ONE, SHARE_QUANTUM, Micros, Timestamp, decimal

MONEY_DECIMALS: Final = 2
SHARE_DECIMALS: Final = 5
BUY_PRESETS: Final = (Micros(5 * ONE), Micros(25 * ONE), Micros(100 * ONE))
SELL_FRACTIONS: Final = ((1, 4), (1, 2), (3, 4), (1, 1))

_SECRET: Final = re.compile(r"(?:0x)?[0-9a-fA-F]{64}")
_NUMBER: Final = re.compile(r"([0-9]*)(?:\.([0-9]*))?")
_NOT_FINITE: Final = re.compile(r"[+-]?(?:nan|inf|infinity)", re.IGNORECASE)
_DIGITS_MAX: Final = len(str(int(AMOUNT_MAX)))


class DraftError(ValueError):
    """What was typed is no order; the text says what to do instead."""


@dataclass(frozen=True, slots=True)
class Draft:
    """What the ticket holds at one moment. `rests`: at the `limit` that was typed."""

    market: MarketView
    side: Side
    action: Action
    amount: str
    reasoning: str = ""
    venue: Venue = Venue.SIM
    rests: bool = False
    limit: str = ""


def holds_secret(text: str) -> bool:
    """True if the text holds what looks like a private key: 64 hex digits in a row."""
    return _SECRET.search(text) is not None


def read_amount(text: str, *, decimals: int) -> Micros:
    """Micros of an amount typed by a person.

    Only plain digits with one point are taken: a comma means thousands to one reader and
    decimals to the next.

    Returns:
        The amount, exact, 0 < amount <= `AMOUNT_MAX`.

    Raises:
        DraftError: it is empty, not a plain number, not above zero, too fine, or too large.
    """
    given = text.strip()
    if not given:
        raise DraftError("type an amount, or take one of the presets")
    if _NOT_FINITE.fullmatch(given):
        raise DraftError(f"{given} is not an amount: type digits, such as 25.00")
    if given.startswith("-"):
        raise DraftError("an amount is above zero: leave out the minus")
    found = _NUMBER.fullmatch(given)
    if found is None or given == ".":
        raise DraftError("not a number: type digits and at most one point, such as 25.00")
    whole, fraction = found.group(1).lstrip("0"), (found.group(2) or "").rstrip("0")
    if len(fraction) > decimals:
        raise DraftError(f"at most {decimals} decimals, such as {12.3456789:.{decimals}f}")
    if len(whole) > _DIGITS_MAX:
        raise DraftError(f"too large: at most {AMOUNT_MAX:,.0f}")
    amount = Micros(int(whole or "0") * ONE + int(fraction.ljust(6, "0")))
    if not 0 < amount <= AMOUNT_MAX * ONE:
        raise DraftError(
            "an amount is above zero" if not amount else f"too large: at most {AMOUNT_MAX:,.0f}"
        )
    return amount


def typed(amount: Micros, *, decimals: int) -> str:
    """An amount as a person would type it, rounded down, without idle zeros after the point."""
    scale = 10 ** (6 - decimals)
    text = f"{amount // scale * scale / ONE:.{decimals}f}"
    return text if decimals == MONEY_DECIMALS else text.rstrip("0").rstrip(".")


@dataclass(frozen=True, slots=True)
class Holding:
    """What is held of one side of a market on one venue, and what that cost."""

    shares: Micros
    cost: Micros


def holding(
    state: DeskState, market_id: str, side: Side, venue: Venue = Venue.SIM
) -> Holding | None:
    """The open position on one side of a market, on this venue alone; None without one."""
    if venue is Venue.SIM:
        held = next((one for one in state.held(market_id) if one.side is side), None)
        return None if held is None else Holding(held.shares, held.cost)
    wanted = (market_id, side, venue, Stage.ACTIVE)
    found = (
        Holding(one.shares, one.cost)
        for one in state.redemption.rows
        if (one.market_id, one.side, one.venue, one.stage) == wanted
    )
    return next(found, None)


def sellable(state: DeskState, market_id: str) -> tuple[Side, Venue] | None:
    """The first that is held of a market, on sim before the real venues; None if nothing is."""
    held = (
        (side, venue)
        for venue in Venue
        for side in Side
        if holding(state, market_id, side, venue) is not None
    )
    return next(held, None)


def is_simulated(state: DeskState) -> bool:
    """Whether the real venues of this service are simulated, and their money is play."""
    return state.service.embedded or state.wallet.simulated


def venues_of(market: MarketView) -> tuple[Venue, ...]:
    """Where a market may be traded; anywhere, where the service does not say."""
    return market.venues or tuple(Venue)


def venues_in_words(market: MarketView) -> str:
    """The same for a sentence."""
    return " and ".join(one.value for one in venues_of(market))


def buy_max(state: DeskState, venue: Venue = Venue.SIM) -> Micros | None:
    """The most that a buy may spend now: cash, a trade's limit, what is left of the day."""
    if state.account is None or state.limits is None:
        return None
    return max(Micros(0), min(bound for bound, _ in _bounds(state, venue)))


def _bounds(state: DeskState, venue: Venue) -> list[tuple[Micros, str]]:
    """What a buy may spend at most, and what to say beyond; the first that is broken is said."""
    account, limits = state.account, state.limits
    if account is None or limits is None:
        return []
    if venue is Venue.SIM:
        return [
            (account.cash, "more than your cash"),
            (limits.max_trade, "more than one trade may spend"),
        ]
    # The daily limit is one of real money. Source: decisions, "Spend limits by venue".
    left = Micros(limits.day_spend_max - limits.day_spent)
    bounds = [(left, "more than is left of the day's limit")]
    if state.rails is not None:
        bounds.append((state.rails.max_trade, "more than one trade may spend"))
    if venue is Venue.EVM and state.wallet.usdc is not None:
        free = Micros(state.wallet.usdc - kept_by_buys(state.orders, venue))
        words = (
            "lies in the wallet" if free == state.wallet.usdc else "open buys leave in the wallet"
        )
        bounds.append((free, f"more than {words}"))
    return bounds


def presets(state: DeskState, draft: Draft) -> tuple[tuple[str, str], ...]:
    """Label and text of each preset: three amounts and the most, or parts of what is held."""
    if draft.action is Action.BUY:
        most = buy_max(state, draft.venue)
        fixed = tuple((f"{decimal(m):.0f}", f"{decimal(m):.2f}") for m in BUY_PRESETS)
        return (*fixed, ("max", "" if most is None else typed(most, decimals=MONEY_DECIMALS)))
    held = holding(state, draft.market.market_id, draft.side, draft.venue)
    shares = held.shares if held is not None else Micros(0)
    return tuple(
        ("all" if part == of else f"{100 * part // of} %", _part_of(shares, part, of))
        for part, of in SELL_FRACTIONS
    )


def why_closed(market: MarketView) -> str:
    """Why a market takes no orders, in one sentence; empty when it does."""
    if market.is_open:
        return ""
    if market.status is MarketStatus.CLOSED:
        return "this market is closed: no orders are taken while its outcome is awaited"
    outcome = {True: " YES", False: " NO", None: ""}[market.outcome]
    return f"this market has resolved{outcome}: no orders are taken"


def read_order(state: DeskState, draft: Draft, now: Timestamp) -> PlaceTrade:
    """The order that the ticket would place now.

    Returns:
        The order; a sale of all but less than a quantum of what is held sells everything.

    Raises:
        DraftError: something stands against it, said in one sentence with what to do.
    """
    market = draft.market
    if draft.venue not in venues_of(market):
        raise DraftError(
            f"this market trades on {venues_in_words(market)} only: press {cap('ticket.venue')}"
        )
    if draft.venue is Venue.SIM and state.service.mode is Mode.LIVE:
        raise DraftError(
            f"play money is not traded on this service: {cap('ticket.venue')} takes a real venue"
        )
    if draft.venue is not Venue.SIM and not state.wallet.live:
        raise DraftError(
            f"real money is switched off: press {cap('app.redemption')}, {cap('app.wallet')}, "
            f"{cap('wallet.live')}, and type LIVE"
        )
    closed = why_closed(market)
    if closed:
        raise DraftError(closed)
    if market.market_id not in state.markets:
        raise DraftError("this market is not listed any more: leave the ticket")
    if draft.action is Action.BUY:
        order = _read_buy(state, draft, now)
    else:
        order = _read_sale(state, draft, now)
    if holds_secret(draft.reasoning):
        raise DraftError("the reasoning holds what looks like a private key: take it out")
    order = _as_shown(order, market)
    return _at_limit(state, draft, order) if draft.rests else order


def _as_shown(order: PlaceTrade, market: MarketView) -> PlaceTrade:
    """The order with the token and the fee that are shown now: nothing else may be signed."""
    if order.venue is not Venue.EVM or not market.condition_id:
        return order
    token = token_shown(market, order.side)
    return replace(order, token=token, fee_rate_bps=market.fee_rate_bps)


def why_no_rest(state: DeskState, venue: Venue) -> str:
    """Why no order can rest on a venue; empty where one can."""
    if venue is Venue.SIM:
        return (
            f"sim has no book on which an order could rest: {cap('ticket.venue')} takes a "
            "real venue"
        )
    if venue is Venue.SOL and not is_simulated(state):
        # Source: wire reference, 3.3. A limit order sent there would be carried out at once.
        return f"{venue.value} takes orders at the market alone on this service"
    return ""


def _at_limit(state: DeskState, draft: Draft, order: PlaceTrade) -> PlaceTrade:
    """The order at the limit that was typed; a DraftError says why it cannot rest there."""
    why = why_no_rest(state, draft.venue)
    if why:
        raise DraftError(why)
    try:
        price = read_limit(draft.limit, draft.market.tick)
    except LimitError as refused:
        raise DraftError(str(refused)) from None
    size = order.amount if order.action is Action.BUY else order.shares
    why = why_too_small(draft.venue, order.action, size, price)
    if why:
        raise DraftError(why)
    return replace(order, price=price / ONE, rests=True)


def _read_buy(state: DeskState, draft: Draft, now: Timestamp) -> PlaceTrade:
    old = why_not_traded(state, (Topic.MARKETS, Topic.ACCOUNT), now)
    if old:
        raise DraftError(old)
    if state.account is None or state.limits is None:
        raise DraftError("cash and limits are not known yet: wait for the service's answer")
    if state.halted_since is not None:
        raise DraftError(
            f"trading is halted: sales pass, buys wait for the word RESUME ({cap('app.halt')})"
        )
    if state.limits.paused:
        raise DraftError("trading is paused: sales pass, buys wait until it is resumed")
    spend = read_amount(draft.amount, decimals=MONEY_DECIMALS)
    for bound, words in _bounds(state, draft.venue):
        if not spend <= bound:
            unit = MONEY_OF[draft.venue]
            raise DraftError(f"{words}: at most {max(0.0, decimal(bound)):,.2f} {unit}")
    return PlaceTrade(
        market_id=draft.market.market_id,
        side=draft.side,
        action=Action.BUY,
        venue=draft.venue,
        amount=spend,
        reasoning=draft.reasoning.strip(),
        question=draft.market.question,
    )


def _read_sale(state: DeskState, draft: Draft, now: Timestamp) -> PlaceTrade:
    old = why_not_traded(state, (Topic.MARKETS, Topic.POSITIONS), now)
    if old:
        raise DraftError(old)
    held = holding(state, draft.market.market_id, draft.side, draft.venue)
    if held is None or held.shares <= 0:
        word = draft.side.value.upper()
        raise DraftError(f"you hold no {word} {_where(draft.venue)}: take the other side, or buy")
    shares = read_amount(draft.amount, decimals=SHARE_DECIMALS)
    if not shares <= held.shares:
        raise DraftError(f"more than you hold: at most {typed(held.shares, decimals=5)} shares")
    kept = kept_by_sales(state.orders, holding_key(draft.market.market_id, draft.side, draft.venue))
    if not shares <= held.shares - kept:
        raise DraftError(
            f"{typed(kept, decimals=5)} of your shares stand in open orders: cancel them first "
            f"({cap('portfolio.orders')} on {cap('app.portfolio')} or {cap('app.blotter')}), "
            "or sell fewer"
        )
    # The last quantum cannot be typed when the service holds finer shares: all means all.
    everything = held.shares - shares < SHARE_QUANTUM
    return PlaceTrade(
        market_id=draft.market.market_id,
        side=draft.side,
        action=Action.SELL,
        venue=draft.venue,
        shares=held.shares if everything else shares,
        reasoning=draft.reasoning.strip(),
        question=draft.market.question,
        everything=everything,
    )


def _where(venue: Venue) -> str:
    return "here" if venue is Venue.SIM else f"on {venue.value}"


def _part_of(shares: Micros, part: int, of: int) -> str:
    amount = Micros(shares * part // of)
    return typed(amount, decimals=SHARE_DECIMALS) if amount >= SHARE_QUANTUM else ""
