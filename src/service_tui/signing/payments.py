"""Pay per call: one authorisation for one documented price, or nothing."""

from dataclasses import dataclass
from typing import Final

from service_tui.addresses import ZERO_ADDRESS, checksummed, is_address
from service_tui.signing.errors import PolicyRefusedError, Rule
from service_tui.signing.signer import Signer, recovered
from service_tui.signing.transactions import bytes_of_hex
from service_tui.signing.typed import Domain, Struct, TypedData, TypedField

PRICE: Final = 5_000
"""Millionths of a USDC for a call. Source: spec, "Limits"."""

LIFE_MAX_S: Final = 120
"""ours: longest validity of an authorisation; offers are valid for about a minute."""

NETWORKS: Final = frozenset({"base", "eip155:8453"})
"""How offers of both published versions name the chain."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PaymentToken:
    """The token of the payment, with the name and version of its contract."""

    chain_id: int = 8453
    address: str = "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913"
    name: str = "USD Coin"
    version: str = "2"

    @property
    def domain(self) -> Domain:
        """EIP-712 domain for which an authorisation is valid."""
        return Domain(
            name=self.name,
            version=self.version,
            chain_id=self.chain_id,
            verifying_contract=self.address,
        )


USDC: Final = PaymentToken()


@dataclass(frozen=True, slots=True, kw_only=True)
class PaymentOffer:
    """Price of one call as offered by a service; untrusted. `amount` in millionths."""

    host: str
    scheme: str
    network: str
    asset: str
    pay_to: str
    amount: int
    life_s: int


@dataclass(frozen=True, slots=True, kw_only=True)
class PaymentPolicy:
    """Allowed recipient and amounts. `host` is the service's; `day_max` in millionths, 0 is off.

    `recipient` None: the one that the operator confirmed in the offer.
    """

    host: str
    day_max: int
    recipient: str | None = None
    price: int = PRICE
    token: PaymentToken = USDC


@dataclass(frozen=True, slots=True, kw_only=True)
class Authorization:
    """Permission to take an amount once, between two times (seconds since 1970)."""

    payer: str
    pay_to: str
    amount: int
    after_s: int
    before_s: int
    nonce: bytes


@dataclass(frozen=True, slots=True)
class SignedAuthorization:
    """An authorisation and its signature."""

    authorization: Authorization
    signature: str


def judge_offer(offer: PaymentOffer, policy: PaymentPolicy, *, paid_today: int) -> None:
    """Refuse every offer but the documented one.

    Raises:
        PolicyRefusedError: another host, scheme, chain, token, price or recipient, or the day's
            cap would be passed; the decoded offer comes along.
    """
    lines = describe_offer(offer)
    price = policy.price
    is_paid = is_address(offer.pay_to) and offer.pay_to.lower() != ZERO_ADDRESS
    is_known = policy.recipient is None or (
        is_paid and checksummed(offer.pay_to) == checksummed(policy.recipient)
    )
    is_asset = is_address(offer.asset) and checksummed(offer.asset) == policy.token.address
    for is_wrong, rule, sentence in (
        (offer.host != policy.host, Rule.TARGET, "the offer comes from another host"),
        (offer.scheme != "exact", Rule.FORM, "the offer is not for an exact price"),
        (offer.network not in NETWORKS, Rule.CHAIN, "the offer is for another chain"),
        (not is_asset, Rule.TARGET, "the offer asks for another token than USDC"),
        (not is_paid, Rule.TARGET, "the offer names no address to be paid"),
        (not is_known, Rule.TARGET, "the offer is to be paid to another address"),
        (offer.amount != price, Rule.PRICE, f"it asks for {offer.amount} millionths, not {price}"),
        (not 0 <= paid_today <= policy.day_max - price, Rule.DAY, "the day's cap would be passed"),
    ):
        if is_wrong:
            raise PolicyRefusedError(rule, sentence, lines)


def sign_payment(
    offer: PaymentOffer,
    policy: PaymentPolicy,
    signer: Signer,
    *,
    now_s: int,
    nonce: bytes,
    paid_today: int,
) -> SignedAuthorization:
    """Sign permission to take exactly the documented price, once, soon.

    Args:
        offer: price of the service, as the operator saw it.
        policy: what may be paid.
        signer: whose wallet pays.
        now_s: seconds since 1970.
        nonce: 32 random bytes; kept by the caller with the intent, so that it is never paid twice.
        paid_today: millionths that went out today.

    Returns:
        The authorisation and its signature.

    Raises:
        PolicyRefusedError: as `judge_offer`.
        LockedError: the key is not at hand.
    """
    judge_offer(offer, policy, paid_today=paid_today)
    authorization = Authorization(
        payer=signer.address,
        pay_to=checksummed(offer.pay_to),
        amount=policy.price,
        after_s=0,
        before_s=now_s + min(max(offer.life_s, 1), LIFE_MAX_S),
        nonce=nonce,
    )
    digest = typed_authorization(authorization, policy.token).digest()
    return SignedAuthorization(authorization, "0x" + signer.sign(digest).hex())


def authorization_signer(signed: SignedAuthorization, token: PaymentToken = USDC) -> str:
    """Address that signed an authorisation.

    Returns:
        The address, checksummed; the caller compares it with the payer.

    Raises:
        MalformedError: no signature, or a number that its type cannot hold.
    """
    digest = typed_authorization(signed.authorization, token).digest()
    return recovered(digest, bytes_of_hex(signed.signature))


def typed_authorization(authorization: Authorization, token: PaymentToken = USDC) -> TypedData:
    """The message that is signed. Source: EIP-3009."""
    return TypedData(
        token.domain,
        Struct(
            "TransferWithAuthorization",
            (
                TypedField("address", "from", authorization.payer),
                TypedField("address", "to", authorization.pay_to),
                TypedField("uint256", "value", authorization.amount),
                TypedField("uint256", "validAfter", authorization.after_s),
                TypedField("uint256", "validBefore", authorization.before_s),
                TypedField("bytes32", "nonce", authorization.nonce),
            ),
        ),
    )


def describe_offer(offer: PaymentOffer) -> tuple[str, ...]:
    """Describe an offer, a line a fact; harmless to show."""
    known = checksummed(offer.pay_to) if is_address(offer.pay_to) else "no address"
    return (f"host: {offer.host}", f"price: {offer.amount} millionths of USDC", f"paid to: {known}")
