"""Checks that an external wallet's signed order matches the request and is its own.

Source: wire reference, 6.2; decisions, "Live orders on evm_venue".
"""

from typing import Final, NamedTuple

from service_tui.engine.agents.agents import Agent
from service_tui.engine.books.catalogue import has_event, token_of
from service_tui.engine.books.orders import RESTING
from service_tui.engine.chain.chain import Wallet
from service_tui.engine.errors import (
    ApprovalMissing,
    CredentialsMissing,
    OrderNotAsSigned,
    OrderReplayed,
    SignatureMissing,
    WalletRestricted,
)
from service_tui.engine.world import World
from service_tui.server.chain_node.relay import order_keys
from service_tui.signing.book import ExchangeVersion
from service_tui.signing.errors import MalformedError
from service_tui.signing.orders import (
    AT_ONCE_QUANTUM,
    CENT,
    SignableOrder,
    SignedOrder,
    order_signer,
    read_order,
    typed_order,
)
from service_tui.terms import Action, OrderType, Venue
from service_tui.units import ONE, Micros, Timestamp
from service_tui.wire.trades import TradeRequest

AGE_MAX_S: Final = 600.0
AHEAD_MAX_S: Final = 60.0
"""How old a version 2 order may be, and how far ahead a client's clock. # ours: as order books do;
no memory of used orders has to reach back further."""

LEFT_MAX: Final = 20_000
"""Micros that the venue's rounding may take off what was requested."""


class VerifiedOrder(NamedTuple):
    """A signed order that holds: its hash, its limit and size, micros, and when it dies."""

    order_hash: str
    price: Micros
    size: Micros
    expires_at: Timestamp | None = None


def verified(
    world: World, agent: Agent, request: TradeRequest, at: Timestamp
) -> VerifiedOrder | None:
    """The signed order of a request to the EVM venue.

    Args:
        world: whose markets and wallets are meant.
        agent: the caller.
        request: as it came.
        at: wall time.

    Returns:
        What was signed; None where the wallet is not one that signs for itself.

    Raises:
        WalletProblem: the order is refused, and why.
    """
    wallet, sent = world.chain.wallet_of(agent.agent_id), request.signed_order
    if request.venue is not Venue.EVM or wallet is None:
        # ours: a signature that nobody requested would bind nobody here.
        return None
    # Both generations are traded on: the order says for which it was signed.
    exchange = None if sent is None else ExchangeVersion(sent.version)
    _check_wallet(wallet, exchange)
    if sent is None or exchange is None:
        raise SignatureMissing("an external wallet trades by its own signature: none was sent")
    try:
        signed = read_order(sent.model_dump(by_alias=True, exclude_none=True), exchange)
        neg_risk = has_event(world.market(request.market_id).listing)
        digest = typed_order(signed.order, is_neg_risk=neg_risk).digest()
        _check_signer(signed, wallet, is_neg_risk=neg_risk)
    except MalformedError as error:
        raise OrderNotAsSigned(f"signed order refused: {error}") from error
    check_time(signed.order, at)
    _check_expiration(signed.order, request)
    _check_decimals(signed.order, request)
    order_hash = digest.hex()
    if order_hash in world.chain.hashes.get(agent.agent_id, {}):
        raise OrderReplayed("this signed order was sent before: its salt is used")
    return _as_requested(world, request, signed.order, order_hash)


def check_ready(world: World, agent: Agent, venue: Venue) -> None:
    """Refuse what would be refused of any order of the agent, before it is signed.

    Raises:
        WalletProblem: the wallet that would sign it cannot trade yet.
    """
    wallet = world.chain.wallet_of(agent.agent_id)
    if venue is Venue.EVM and wallet is not None:
        _check_wallet(wallet, None)


def _check_wallet(wallet: Wallet, exchange: ExchangeVersion | None) -> None:
    """Refuse what the venue would refuse of any order of this wallet for a generation, or any."""
    if wallet.restricted:
        raise WalletRestricted("the wallet is restricted by the venue")
    if wallet.credentials_at is None:
        raise CredentialsMissing("unauthorized: invalid api key, no credentials of this wallet")
    generations = tuple(ExchangeVersion) if exchange is None else (exchange,)
    if not any(wallet.approvals.issuperset(order_keys(one)) for one in generations):
        where = "" if exchange is None else f" on exchange {exchange.value}"
        raise ApprovalMissing(f"not enough balance / allowance: trading is not activated{where}")


def _check_signer(signed: SignedOrder, wallet: Wallet, *, is_neg_risk: bool) -> None:
    """The linked wallet itself, for the exchange of this market."""
    if signed.order.maker.lower() != wallet.address.lower():
        raise OrderNotAsSigned("signed order refused: its maker is not the linked wallet")
    if order_signer(signed, is_neg_risk=is_neg_risk).lower() == wallet.address.lower():
        return
    other = order_signer(signed, is_neg_risk=not is_neg_risk).lower() == wallet.address.lower()
    kind = "negative-risk" if is_neg_risk else "standard"
    raise OrderNotAsSigned(
        f"signed order refused: this market trades on the {kind} exchange"
        if other
        else "signed order refused: the signature is not the maker's"
    )


def check_time(order: SignableOrder, at: Timestamp) -> None:
    """A version 2 order carries its time; one of version 1 has none."""
    if order.exchange is ExchangeVersion.V1:
        return
    age_s = at - order.at_ms / 1_000
    if not -AHEAD_MAX_S <= age_s <= AGE_MAX_S:
        raise OrderNotAsSigned("signed order refused: it has expired, or its time is wrong")


def _check_expiration(order: SignableOrder, request: TradeRequest) -> None:
    """Refuse an expiration that differs between signature and request, or is not GTD's."""
    if order.expires_s and request.order_type is not OrderType.GTD:
        raise OrderNotAsSigned("signed order refused: an expiration belongs to GTD orders")
    expiration = request.expiration
    if expiration is not None and int(expiration) != order.expires_s:
        raise OrderNotAsSigned("signed order refused: its expiration is not that of the request")


def _check_decimals(order: SignableOrder, request: TradeRequest) -> None:
    """Refuse amounts finer than the venue takes. Source: decisions, "At-once orders"."""
    buys = request.action is Action.BUY
    kind = request.order_type or (OrderType.FAK if buys else OrderType.GTC)
    if kind in RESTING:
        is_fine = (order.taker_amount if buys else order.maker_amount) % CENT == 0
    else:
        is_fine = order.maker_amount % CENT == 0 and order.taker_amount % AT_ONCE_QUANTUM == 0
    if not is_fine:
        raise OrderNotAsSigned(
            "signed order refused: invalid amounts, a market order gives at most 2 decimals and "
            "receives at most 4, a resting one is for shares of at most 2"
        )


def _as_requested(
    world: World, request: TradeRequest, order: SignableOrder, order_hash: str
) -> VerifiedOrder:
    """Compare the signed order with the request, figure by figure."""
    neg_risk = has_event(world.market(request.market_id).listing)
    if order.token_id != int(token_of(request.market_id, request.side, neg_risk=neg_risk)):
        raise OrderNotAsSigned("signed order refused: its token is another market's or side's")
    buys = request.action is Action.BUY
    if order.action.value != request.action.value.upper():
        raise OrderNotAsSigned("signed order refused: it trades the other way")
    size = Micros(round((request.amount if buys else request.shares) * ONE))
    if not 0 <= size - order.maker_amount <= LEFT_MAX:
        raise OrderNotAsSigned("signed order refused: its amount is not that of the request")
    money, shares = order.maker_amount, order.taker_amount
    if not buys:
        money, shares = shares, money
    if not shares > 0:
        raise OrderNotAsSigned("signed order refused: it is for no shares")
    tick = world.venues.book(request.market_id).quotes(world.world_at).tick
    price = Micros((money * ONE // shares + tick // 2) // tick * tick)
    if abs(money - shares * price // ONE) > CENT:
        raise OrderNotAsSigned("signed order refused: its price lies between two ticks")
    if request.price is not None and abs(price - round(request.price * ONE)) > tick // 2:
        raise OrderNotAsSigned("signed order refused: its price is not that of the request")
    expires_at = Timestamp(order.expires_s) if order.expires_s else None
    return VerifiedOrder(order_hash, price, Micros(order.maker_amount), expires_at)
