"""The signature of an order for real money by an own wallet: rebuilt here, then signed.

Source: decisions, "Live orders on evm_venue"; wire reference, 6.2.
"""

import asyncio
import hashlib
import logging
from typing import Final

from service_tui.desk.commands.trading import PlaceTrade
from service_tui.desk.ports import Ports
from service_tui.desk.slices.orders import price_text
from service_tui.desk.slices.wallet import Ownership
from service_tui.desk.trading.live_orders import HALFWAY, worst_price
from service_tui.desk.trading.signed_terms import (
    check_market,
    holding_of,
    is_confirmed,
    kept_of,
    signed_terms,
)
from service_tui.signing.book import ExchangeVersion
from service_tui.signing.errors import PolicyRefusedError, Rule
from service_tui.signing.orders import OrderAction, OrderTerms, build_order, sign_order
from service_tui.signing.skew import check_skew
from service_tui.storage.errors import StorageError
from service_tui.storage.kept_tokens import KeptToken
from service_tui.terms import Action, Side, Venue
from service_tui.units import ONE, Micros, decimal
from service_tui.wire.endpoints.public import MARKET
from service_tui.wire.markets import MarketBody
from service_tui.wire.signed_order import SignedOrderBody
from service_tui.wire.trades import TradeRequest

log = logging.getLogger(__name__)

SALT_DIGITS: Final = 13
"""Hex digits of a salt: 52 bits, which every reader of JSON keeps."""

MILLISECONDS: Final = 1_000


def may_sign(ports: Ports, venue: Venue) -> bool:
    """True if an order of this venue needs no signature, or would get one."""
    wallet, signer = ports.state().wallet, ports.vault.signer
    if venue is not Venue.EVM:
        return True
    if wallet.ownership is not Ownership.EXTERNAL:
        return wallet.ownership is not None
    return signer is not None and signer.address.lower() == wallet.address.lower()


async def as_signed(ports: Ports, order: PlaceTrade, request: TradeRequest) -> TradeRequest:
    """The request with the wallet's own signature, where the venue wants one.

    Args:
        ports: the vault, the policy and the service.
        order: what the person has confirmed, or an exit.
        request: the same in the words of the wire, without a signature.

    Returns:
        The request that may leave; unchanged for every other venue and wallet.

    Raises:
        SigningError: the key is not open, the order is none that the venue takes, or it is not
            what was shown or kept.
        ServiceError: the market could not be read.
        StorageError: the token of the position could not be read, or kept.
    """
    wallet = ports.state().wallet
    if request.venue is not Venue.EVM or wallet.ownership is not Ownership.EXTERNAL:
        return _with_worst(ports, order, request)
    if order.action is Action.BUY:
        # The day's limits hang on the time; a sale is never kept back for it.
        check_skew(ports.client.skew_s or 0.0)
    signer = ports.vault.signer_of(wallet.address)
    holding = holding_of(order, signer.address)
    kept = await asyncio.to_thread(ports.tokens.find, holding)
    reply = await ports.client.call(MARKET, path={"market_id": request.market_id})
    market = reply.answer.market
    listed = ports.state().markets.get(order.market_id)
    is_first = ports.policy.exchange is ExchangeVersion.V1
    bound = signed_terms(order, kept, listed, market, signs_fee=is_first)
    if not is_confirmed(order):
        first = await asyncio.to_thread(ports.tokens.find_token, str(bound.token), holding.wallet)
        check_market(holding, kept, first)
    price = _bound(ports, order, market)
    terms = OrderTerms(
        token_id=bound.token,
        action=OrderAction.BUY if order.action is Action.BUY else OrderAction.SELL,
        price=price,
        spend=int(order.amount) if order.action is Action.BUY else None,
        shares=None if order.action is Action.BUY else int(order.shares),
        tick=round(market.tick_size * ONE),
        is_neg_risk=bound.is_neg_risk,
        is_immediate=not order.rests,
    )
    made = build_order(
        terms,
        signer.address,
        exchange=ports.policy.exchange,
        salt=_salt(ports.new_id()),
        now_ms=round((ports.now() - (ports.client.skew_s or 0.0)) * MILLISECONDS),
        fee_rate_bps=bound.fee_rate_bps,
        expires_s=int(order.expires_at or 0) if order.rests else 0,
    )
    if order.action is Action.BUY or (is_confirmed(order) and (kept is None or not kept.bought)):
        await _keep(ports, order, kept_of(holding, bound, ports.now()))
    signed = await asyncio.to_thread(
        lambda: sign_order(made, signer, is_neg_risk=bound.is_neg_risk, book=ports.policy.book)
    )
    return request.model_copy(
        update={
            "price": price / ONE,
            "signed_order": SignedOrderBody.model_validate(signed.body()),
            "wallet_address": signer.address,
        }
    )


async def _keep(ports: Ports, order: PlaceTrade, kept: KeptToken) -> None:
    """Keep what is signed, before it is: every exit of the position is bound by it."""
    try:
        await ports.tokens.keep(kept)
    except StorageError as error:
        if order.action is Action.BUY:
            raise
        # A full disk keeps no person from a sale.
        log.warning("the token of a sale was not kept: %s", error)


def _salt(fresh: str) -> int:
    """A number that no other order has, of fresh random text."""
    return int(hashlib.sha256(fresh.encode()).hexdigest()[:SALT_DIGITS], 16)


def _with_worst(ports: Ports, order: PlaceTrade, request: TradeRequest) -> TradeRequest:
    """The request of an order that others sign, with its bound where it names none."""
    worst = _worst(ports, order)
    if request.venue is Venue.SIM or request.price is not None or worst is None:
        return request
    market = ports.state().markets.get(order.market_id)
    tick = Micros(10_000) if market is None else market.tick
    price = _on_tick(round(worst * ONE), tick, buys=order.action is Action.BUY)
    return request.model_copy(update={"price": price / ONE})


def _worst(ports: Ports, order: PlaceTrade) -> float | None:
    """Price bound of an order without a quote: of what is shown, for a sale of the last minutes."""
    worst = worst_price(ports.state(), order)
    if worst is None or order.action is Action.BUY:
        return worst
    ports.marks.note(ports.state().on_venues, ports.clock.monotonic())
    return max(worst, ports.marks.highest(order.holding) * HALFWAY)


def _refuse_made_up(ports: Ports, order: PlaceTrade, price: float) -> None:
    """Refuse the book's price where it is too far from the one that was shown, or none was."""
    worst = _worst(ports, order)
    if worst is None:
        raise PolicyRefusedError(Rule.UNSEEN, "price of this market never shown here")
    is_buy = order.action is Action.BUY
    if price <= worst if is_buy else price >= worst:
        return
    than = "above" if is_buy else "below"
    text = f"book price {price_text(price)} is {than} the bound of {price_text(worst)}"
    raise PolicyRefusedError(Rule.UNSEEN, f"{text} without a quote: review again")


def _on_tick(millionths: int, tick: Micros, *, buys: bool) -> int:
    """Never above what is wanted on a buy, never below it on a sale."""
    return millionths // tick * tick if buys else -(-millionths // tick) * tick


def _bound(ports: Ports, order: PlaceTrade, market: MarketBody) -> int:
    """The worst price that is signed, on a tick: what was confirmed, else the book's.

    Returns:
        Millionths of the money for a share.

    Raises:
        PolicyRefusedError: there is nobody on the other side of the book, a price far from the one
            that was shown, or none was.
    """
    buys, yes = order.action is Action.BUY, order.side is Side.YES
    best = market.best_ask if buys is yes else market.best_bid
    if order.rests and order.price is None:
        raise PolicyRefusedError(Rule.PRICE, "limit order without a price")
    if order.price is None and best is None:
        raise PolicyRefusedError(Rule.PRICE, "no price on the book")
    price = order.price
    if price is None and best is not None:
        price = best if yes else 1.0 - best
        _refuse_made_up(ports, order, price)
    tick = Micros(max(1, round(market.tick_size * ONE)))
    limit_micros = round((price or 0.0) * ONE)
    if order.rests and limit_micros % tick:
        # It would rest at another price than the one that was confirmed.
        text = f"price off the tick, now {decimal(tick):g}"
        raise PolicyRefusedError(Rule.TICK, text)
    return _on_tick(limit_micros, tick, buys=buys)
