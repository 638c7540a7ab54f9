"""Orders of the venue: exact amounts, typed data of both exchange generations, signatures.

Amounts and prices are integers in millionths; no float comes in or goes out.
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from service_tui.addresses import ZERO_ADDRESS
from service_tui.signing.book import POLYGON, AddressBook, ExchangeVersion
from service_tui.signing.calls import UINT_MAX, ZERO_32
from service_tui.signing.errors import MalformedError, PolicyRefusedError, Rule
from service_tui.signing.signer import Signer, recovered
from service_tui.signing.transactions import bytes_of_hex
from service_tui.signing.typed import Domain, Struct, TypedData, TypedField

MILLION: Final = 1_000_000
CENT: Final = 10_000
SHARES_MIN: Final = 5 * MILLION
"""Source: wire reference, 6.2; as of 2026-11."""

BUILDER: Final = bytes.fromhex("ed9222e433d100f617b2d2b125fd36f055ee6ebf792e44d2c522ed33e55697f8")
"""Source: wire reference, 6.2."""

TICK: Final = 10_000
"""For a market that names no tick: where it names one, that is compared with what was shown, and
signed. Source: wire reference, 6.2."""

FEE_MAX_BPS: Final = 1_000
"""ours: the highest fee that is signed, basis points; the venue's own highest as of 2026-11. What
the market lists is compared with the fee that was shown."""

TICKS: Final = frozenset({100_000, 10_000, 5_000, 2_500, 1_000, 100})
"""Ticks that the venue has, millionths; as of 2026-11. Source: wire reference, 6.2. One that a
market lists and that is not here is refused before anything is signed."""

AT_ONCE_QUANTUM: Final = 100
"""What the amount received by a FAK or FOK order is a multiple of, at any tick, millionths: the
shares of a buy, the money of a sale. What it gives, and the shares of a resting order, are
multiples of `CENT`. Source: decisions, "At-once orders"."""

SALT_BITS: Final = 53
"""ours: the salt travels as a JSON number, which every reader keeps exactly below 2^53."""

_MILLIS_MIN: Final = 10**12
_MILLIS_MAX: Final = 10**13


class OrderAction(StrEnum):
    """As the venue writes it."""

    BUY = "BUY"
    SELL = "SELL"


@dataclass(frozen=True, slots=True, kw_only=True)
class OrderTerms:
    """Terms of an order: a spend (buy) or shares (either), at a price; millionths.

    `is_immediate`: FAK or FOK, not resting.
    """

    token_id: int
    action: OrderAction
    price: int
    spend: int | None = None
    shares: int | None = None
    tick: int = TICK
    is_neg_risk: bool = False
    is_immediate: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class SignableOrder:
    """One order as it is signed. V1 alone has `fee_rate_bps`, V2 alone `at_ms` and `builder`.

    `expires_s` is when a GTD order dies, Unix seconds; 0 for every other. V1 signs it, in V2 it
    only travels beside what is signed.
    """

    exchange: ExchangeVersion
    salt: int
    maker: str
    token_id: int
    maker_amount: int
    taker_amount: int
    action: OrderAction
    fee_rate_bps: int = 0
    at_ms: int = 0
    builder: bytes = BUILDER
    expires_s: int = 0


@dataclass(frozen=True, slots=True)
class SignedOrder:
    """An order and its signature."""

    order: SignableOrder
    signature: str

    def body(self) -> dict[str, str | int]:
        """The order as `signed_order` carries it. Source: wire reference, 6.2."""
        order = self.order
        common: dict[str, str | int] = {
            "salt": order.salt,
            "maker": order.maker,
            "signer": order.maker,
            "tokenId": str(order.token_id),
            "makerAmount": str(order.maker_amount),
            "takerAmount": str(order.taker_amount),
            "side": order.action.value,
            "signatureType": 0,
            "signature": self.signature,
            "expiration": str(order.expires_s),
        }
        if order.exchange is ExchangeVersion.V1:
            fee = str(order.fee_rate_bps)
            return {**common, "taker": ZERO_ADDRESS, "nonce": "0", "feeRateBps": fee}
        return {
            **common,
            "timestamp": str(order.at_ms),
            "metadata": "0x" + ZERO_32.hex(),
            "builder": "0x" + order.builder.hex(),
        }


def amounts(terms: OrderTerms) -> tuple[int, int]:
    """Maker's amounts given and taken, millionths: (USD, shares) of a buy, the reverse of a sale.

    Returns:
        Maker amount, taker amount. What is given is never more than was wished. At once: at most
        two decimals given and four received (decisions, "At-once orders"); a sale's money is
        rounded up, so that no share is sold below the confirmed price.

    Raises:
        PolicyRefusedError: a tick that is not in the table, a price outside of the market, nothing
            left, or below five shares.
    """
    tick = terms.tick
    if tick not in TICKS:
        raise PolicyRefusedError(Rule.TICK, f"the venue has no tick of {tick / MILLION:f}")
    is_buy = terms.action is OrderAction.BUY
    # ours: never across the price that was confirmed, where the reference rounds half up.
    price = (terms.price if is_buy else terms.price + tick - 1) // tick * tick
    if not tick <= price <= MILLION - tick:
        raise PolicyRefusedError(Rule.PRICE, "the price lies outside of the market's ticks")
    if is_buy and terms.is_immediate:
        money = _spend(terms, price) // CENT * CENT
        shares = money * MILLION // price // AT_ONCE_QUANTUM * AT_ONCE_QUANTUM
    else:
        shares = (terms.shares or _spend(terms, price) * MILLION // price) // CENT * CENT
        money = -(-shares * price // MILLION)
        if terms.is_immediate:
            money = -(-money // AT_ONCE_QUANTUM) * AT_ONCE_QUANTUM
    if shares < SHARES_MIN or money <= 0:
        raise PolicyRefusedError(Rule.TOTAL, "Order too small: the venue takes 5 shares or more")
    return (money, shares) if is_buy else (shares, money)


def build_order(  # noqa: PLR0913  (what the two structs need)
    terms: OrderTerms,
    maker: str,
    *,
    exchange: ExchangeVersion,
    salt: int,
    now_ms: int,
    fee_rate_bps: int = 0,
    builder: bytes = BUILDER,
    expires_s: int = 0,
) -> SignableOrder:
    """Unsigned order with these terms.

    Args:
        terms: what is to be ordered.
        maker: whose wallet gives and signs.
        exchange: generation of the venue's exchange.
        salt: random, below 2^53.
        now_ms: milliseconds since 1970; part of a v2 order.
        fee_rate_bps: the market's fee; part of a v1 order.
        builder: 32 bytes; part of a v2 order. Zeros opt out.
        expires_s: when a GTD order dies, Unix seconds; 0 never.

    Returns:
        The order, ready to sign.

    Raises:
        PolicyRefusedError: as `amounts`, or a token, salt, time or fee out of range.
    """
    if not 0 <= fee_rate_bps <= FEE_MAX_BPS:
        raise PolicyRefusedError(Rule.FEE, f"a fee of {fee_rate_bps} bps is not signed")
    in_range = (
        0 < terms.token_id <= UINT_MAX,
        0 <= salt < 1 << SALT_BITS,
        _MILLIS_MIN <= now_ms < _MILLIS_MAX,
        len(builder) == len(ZERO_32),
        expires_s == 0 or (not terms.is_immediate and now_ms < expires_s * 1_000 < _MILLIS_MAX),
    )
    if not all(in_range):
        raise PolicyRefusedError(
            Rule.FORM, "token, salt, time, fee, builder or expiration is out of range"
        )
    maker_amount, taker_amount = amounts(terms)
    is_first = exchange is ExchangeVersion.V1
    return SignableOrder(
        exchange=exchange,
        salt=salt,
        maker=maker,
        token_id=terms.token_id,
        maker_amount=maker_amount,
        taker_amount=taker_amount,
        action=terms.action,
        fee_rate_bps=fee_rate_bps if is_first else 0,
        at_ms=0 if is_first else now_ms,
        builder=ZERO_32 if is_first else builder,
        expires_s=expires_s,
    )


def sign_order(
    order: SignableOrder, signer: Signer, *, is_neg_risk: bool, book: AddressBook = POLYGON
) -> SignedOrder:
    """Sign an order for the exchange that its market trades on.

    Returns:
        The order with its signature.

    Raises:
        PolicyRefusedError: the order is another wallet's.
        LockedError: the key is not at hand.
    """
    if order.maker != signer.address:
        raise PolicyRefusedError(Rule.SENDER, "the order is another wallet's")
    digest = typed_order(order, is_neg_risk=is_neg_risk, book=book).digest()
    return SignedOrder(order, "0x" + signer.sign(digest).hex())


def order_signer(signed: SignedOrder, *, is_neg_risk: bool, book: AddressBook = POLYGON) -> str:
    """Address that signed an order.

    Returns:
        The address, checksummed; the caller compares it with the order's maker.

    Raises:
        MalformedError: no signature, or a number that its type cannot hold.
    """
    typed = typed_order(signed.order, is_neg_risk=is_neg_risk, book=book)
    return recovered(typed.digest(), bytes_of_hex(signed.signature))


def typed_order(
    order: SignableOrder, *, is_neg_risk: bool, book: AddressBook = POLYGON
) -> TypedData:
    """The message that is signed. Source: wire reference, 6.2.

    Returns:
        The struct of the order's generation, under the domain of the exchange of its market.
    """
    is_first = order.exchange is ExchangeVersion.V1
    contracts = {
        (ExchangeVersion.V1, False): book.v1_exchange,
        (ExchangeVersion.V1, True): book.v1_neg_risk_exchange,
        (ExchangeVersion.V2, False): book.v2_exchange,
        (ExchangeVersion.V2, True): book.v2_neg_risk_a,
    }
    domain = Domain(
        name="Polymarket CTF Exchange",
        version="1" if is_first else "2",
        chain_id=book.chain_id,
        verifying_contract=contracts[order.exchange, is_neg_risk],
    )
    return TypedData(domain, Struct("Order", _fields_v1(order) if is_first else _fields_v2(order)))


def _fields_v1(order: SignableOrder) -> tuple[TypedField, ...]:
    return (
        *_head(order),
        TypedField("address", "taker", ZERO_ADDRESS),
        *_body(order),
        TypedField("uint256", "expiration", order.expires_s),
        TypedField("uint256", "nonce", 0),
        TypedField("uint256", "feeRateBps", order.fee_rate_bps),
        *_tail(order),
    )


def _fields_v2(order: SignableOrder) -> tuple[TypedField, ...]:
    return (
        *_head(order),
        *_body(order),
        *_tail(order),
        TypedField("uint256", "timestamp", order.at_ms),
        TypedField("bytes32", "metadata", ZERO_32),
        TypedField("bytes32", "builder", order.builder),
    )


def _head(order: SignableOrder) -> tuple[TypedField, ...]:
    return (
        TypedField("uint256", "salt", order.salt),
        TypedField("address", "maker", order.maker),
        TypedField("address", "signer", order.maker),
    )


def _body(order: SignableOrder) -> tuple[TypedField, ...]:
    return (
        TypedField("uint256", "tokenId", order.token_id),
        TypedField("uint256", "makerAmount", order.maker_amount),
        TypedField("uint256", "takerAmount", order.taker_amount),
    )


def _tail(order: SignableOrder) -> tuple[TypedField, ...]:
    return (
        TypedField("uint8", "side", 0 if order.action is OrderAction.BUY else 1),
        TypedField("uint8", "signatureType", 0),
    )


def _spend(terms: OrderTerms, price: int) -> int:
    """USD spent by a buy, from its spend or its shares."""
    if terms.spend is not None:
        return terms.spend
    return (terms.shares or 0) * price // MILLION


def read_order(body: dict[str, object], exchange: ExchangeVersion) -> SignedOrder:
    """A signed order from the wire, if it has exactly the form made here.

    Returns:
        The order, its signature not yet checked.

    Raises:
        MalformedError: a field is missing, of another form, or not as every order of ours has it.
    """
    text = {name: str(value) for name, value in body.items() if isinstance(value, str | int)}
    try:
        order = SignableOrder(
            exchange=exchange,
            salt=_decimal(text["salt"]),
            maker=text["maker"],
            token_id=_decimal(text["tokenId"]),
            maker_amount=_decimal(text["makerAmount"]),
            taker_amount=_decimal(text["takerAmount"]),
            action=OrderAction(text["side"]),
            fee_rate_bps=_decimal(text["feeRateBps"]) if exchange is ExchangeVersion.V1 else 0,
            at_ms=_decimal(text["timestamp"]) if exchange is ExchangeVersion.V2 else 0,
            builder=bytes_of_hex(text["builder"]) if exchange is ExchangeVersion.V2 else ZERO_32,
            expires_s=_decimal(text["expiration"]),
        )
        signed = SignedOrder(order, text["signature"])
    except (KeyError, ValueError) as error:
        raise MalformedError(f"the signed order lacks or garbles {error}") from error
    expected = {name: str(value) for name, value in signed.body().items()}
    other = sorted(name for name in expected if text.get(name) != expected[name])
    if other:
        raise MalformedError(f"the signed order has another {other[0]} than is taken here")
    return signed


def token_number(text: str) -> int | None:
    """The number of a token by its decimal digits.

    Returns:
        1 to 2^256 - 1; None for a text that is no such number, of whatever length.
    """
    try:
        number = _decimal(text)
    except ValueError:
        return None
    return number if 0 < number <= UINT_MAX else None


def _decimal(text: str) -> int:
    if not (text.isascii() and text.isdecimal() and len(text) <= len(str(UINT_MAX))):
        raise ValueError("a number")
    return int(text)
