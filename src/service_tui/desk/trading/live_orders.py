"""Orders for real money: their preconditions, the token and the worst price that are shown.

Of the state alone; `order_signature` signs them. Source: decisions, "Live orders on evm_venue".
"""

from collections.abc import Iterator
from typing import Final

from service_tui.desk.buy_limits import broken_by, buy_limits
from service_tui.desk.commands.trading import PlaceTrade
from service_tui.desk.reasons import Fix, Reason
from service_tui.desk.slices.buy_limits import BuyLimit
from service_tui.desk.slices.markets import MarketView
from service_tui.desk.slices.wallet import Ownership
from service_tui.desk.state import DeskState
from service_tui.signing.errors import MalformedError
from service_tui.signing.tokens import condition_bytes, outcome_token
from service_tui.terms import Action, Side, Venue
from service_tui.units import Micros, Timestamp, decimal

HALFWAY: Final = 0.5
"""Part of the way to nothing, or to one, that a price may go without a quote. # ours."""


def against_real(state: DeskState, order: PlaceTrade) -> Iterator[Reason]:
    """Missing preconditions of an order for real money; empty if all are met.

    Yields:
        A reason and what to do about it, the first thing first.
    """
    wallet, account = state.wallet, state.account
    if not wallet.live:
        yield Reason("live trading is off", Fix.SWITCH_ON_REAL_MONEY)
    if not order.confirmed:
        yield Reason("real-money order not confirmed", Fix.CONFIRM_ON_TICKET)
    if account is None or not account.claimed:
        yield Reason("agent not claimed", Fix.CLAIM)
    if not wallet.real_trading:
        yield Reason(
            "real trades not allowed by the service (sdk_real_trading_enabled)",
            Fix.ALLOW_REAL_TRADES,
        )
    if wallet.restricted:
        yield Reason(
            "wallet not accepted by the venue",
            Fix.LINK_ANOTHER_KEY,
        )
    if order.venue is Venue.EVM:
        yield from _against_wallet(state)


def against_skill(
    state: DeskState, order: PlaceTrade, now: Timestamp, spent: Micros
) -> Iterator[Reason]:
    """Missing preconditions of a skill's real buy, and the desk limits it would break.

    Args:
        state: the newest.
        order: the buy; confirmed by the person, or by a leash that lets it pass.
        now: wall time.
        spent: money of the skills' buys of this day, of which the desk's tickets know nothing.

    Yields:
        A reason and what to do about it, the first thing first.
    """
    yield from against_real(state, order)
    if state.buy_limits is None:
        yield Reason("limits not loaded yet", Fix.WAIT_FOR_SERVICE)
    yield from broken_by(state, order, now, state.tickets)
    own = next((one for one in buy_limits(state, now) if one.limit_kind is BuyLimit.DESK_DAY), None)
    if own is None or own.limit is None:
        return
    if not order.amount + spent + (own.used or 0) <= own.limit:
        most, used = decimal(Micros(own.limit)), decimal(spent)
        yield Reason(
            f"desk limit (daily spend) is {most:,.2f}, skills spent {used:,.2f}",
            Fix.RAISE_LIMIT,
        )


def _against_wallet(state: DeskState) -> Iterator[Reason]:
    wallet = state.wallet
    if wallet.ownership is None:
        yield Reason("wallet not loaded yet", Fix.WAIT_FOR_SERVICE)
    if wallet.ownership is not Ownership.EXTERNAL:
        return
    if not wallet.can_sign:
        yield Reason(
            "no signing key for the linked wallet",
            Fix.UNLOCK_KEY,
        )
    if wallet.usdc_native and not wallet.usdc:
        yield Reason(
            "native USDC not accepted by the venue",
            Fix.SWAP_USDC,
        )
    missing = next((one for one in wallet.served if one.is_done is False), None)
    if missing is not None:
        yield Reason(f"setup step missing: {missing.name}", missing.fix)


def token_shown(market: MarketView, side: Side) -> str:
    """The outcome token of a side, by its digits; empty for a market that has none."""
    return token_of(market.condition_id, side, neg_risk=market.neg_risk)


def token_of(condition_id: str, side: Side, *, neg_risk: bool) -> str:
    """The outcome token of a condition's side, by its digits; empty where the text is none."""
    try:
        condition = condition_bytes(condition_id)
    except MalformedError:
        return ""
    return str(outcome_token(condition, is_yes=side is Side.YES, is_neg_risk=neg_risk))


def worst_price(state: DeskState, order: PlaceTrade) -> float | None:
    """Price bound of an order without a quote: halfway from the shown price to nothing.

    # ours: a sale of the desk must pass in a falling market, and not at a price that one answer
    made up. What is shown is polled; `shown_marks` remembers what was shown some minutes before.

    Returns:
        The least price of a sale, the highest of a buy; None where no price was ever shown.
    """
    held = (*state.positions, *state.on_venues)
    marks = (one.mark_price for one in held if one.key == order.holding and not one.is_closed)
    prices = [mark for mark in marks if mark is not None]
    market = state.markets.get(order.market_id)
    if market is not None:
        prices.append(market.price_of(order.side))
    sells = order.action is Action.SELL
    # A price of nothing may be one that the service left out, and would bind no sale; nor would
    # one of all the money bind a buy.
    shown = next((price for price in prices if 0 < price < 1 or (sells and price == 1)), None)
    if shown is None:
        return None
    return shown * HALFWAY if sells else 1.0 - (1.0 - shown) * HALFWAY
