"""Paying for one call above the rate limit, with play money: the offer and the payment.

Source: spec, "Pay-per-call after 429". An authorisation is valid once: its nonce is stored.
"""

import base64
from typing import Final

from pydantic import ValidationError

from service_tui.addresses import checksummed, keccak256
from service_tui.engine.agents.agents import Agent
from service_tui.engine.chain_events import CallPaid
from service_tui.engine.world import World
from service_tui.signing.errors import MalformedError
from service_tui.signing.payments import (
    Authorization,
    SignedAuthorization,
    authorization_signer,
)
from service_tui.units import Micros, Timestamp
from service_tui.wire.errors import ErrorBody
from service_tui.wire.payment import (
    PAY_NETWORK,
    PAY_PRICE,
    PAY_SECONDS,
    PAY_TOKEN,
    PAY_TOKEN_NAME,
    PAY_TOKEN_VERSION,
    PaidBody,
    PaymentBody,
    PayOfferBody,
    TokenDomainBody,
)

VERSION: Final = 1
TEXT_MAX: Final = 4_096
AHEAD_MAX_S: Final = 600
"""Seconds for which an authorisation may be good. # ours: a longer one is a risk without a use."""

RECIPIENT: Final = "0xdFEec63CcC411f160756B1bB8BC5bAac23EB5eAC"
"""Address that is paid. # ours: the end of the hash of "service-tui: paid calls": nobody has a key
for it; the money is play money."""


class PaymentRefused(Exception):
    """No payment was checked_payment; `str()` is the reason."""


def offer_for(url: str, price: int = PAY_PRICE) -> PayOfferBody:
    """The one way to pay for a call; the price in micros of USDC."""
    return PayOfferBody(
        network=PAY_NETWORK,
        max_amount_required=str(price),
        resource=url,
        description="one call, with play money",
        pay_to=RECIPIENT,
        max_timeout_seconds=PAY_SECONDS,
        asset=PAY_TOKEN,
        extra=TokenDomainBody(name=PAY_TOKEN_NAME, version=PAY_TOKEN_VERSION),
    )


def refusal_body(why: str, url: str, price: int = PAY_PRICE) -> ErrorBody:
    """Body of a 402: why the payment was not checked_payment, and the offer again."""
    return ErrorBody(
        error=why,
        detail=why,
        fix="sign exactly the offer, once, with the key of the linked wallet; or wait",
        x402_url=url,
        x402_version=VERSION,
        accepts=(offer_for(url, price),),
    )


def checked_payment(
    world: World,
    agent: Agent,
    text: str,
    call: tuple[str, Timestamp],
    *,
    price: int = PAY_PRICE,
) -> CallPaid:
    """Check the payment in a header.

    Args:
        world: the world of the agent.
        agent: the caller.
        text: value of the header, base64 of JSON.
        call: URL of the call, and wall time.
        price: price of the call, micros of USDC.

    Returns:
        The event of the payment, not yet applied.

    Raises:
        PaymentRefused: it is not exactly what was offered, or was checked_payment before.
    """
    url, at = call
    payment = _payment_of(text)
    authorization = payment.payload.authorization
    wallet = world.chain.wallet_of(agent.agent_id)
    payer = checksummed(authorization.sender)
    key = f"{payer.lower()}:{authorization.nonce.lower()}"
    for is_wrong, why in (
        (wallet is None or wallet.address != payer, "the payer is not the linked wallet"),
        (payment.network != PAY_NETWORK, "the payment is for another chain"),
        (checksummed(authorization.to) != RECIPIENT, "the payment goes to somebody else"),
        (int(authorization.value) != price, "the payment is not the price"),
        (int(authorization.valid_after) > at, "the authorisation is not good yet"),
        (int(authorization.valid_before) <= at, "the authorisation has expired"),
        (int(authorization.valid_before) > at + AHEAD_MAX_S, "it is good for too long"),
        (key in world.chain.paid, "the authorisation was used before"),
        (_signer(payment) != payer, "the signature is not the payer's"),
        (world.chain.pay_balance(payer) < price, "insufficient balance on the paying chain"),
    ):
        if is_wrong:
            raise PaymentRefused(f"payment refused: {why}")
    return CallPaid(agent.agent_id, at, payer, authorization.nonce.lower(), Micros(price), url)


def receipt(paid: CallPaid) -> str:
    """Text of the header that goes with the answer."""
    number = keccak256(f"{paid.payer}:{paid.nonce}".encode()).hex()
    body = PaidBody(success=True, transaction="0x" + number, payer=paid.payer)
    return base64.b64encode(body.model_dump_json(by_alias=True).encode()).decode()


def _payment_of(text: str) -> PaymentBody:
    if len(text) > TEXT_MAX:
        raise PaymentRefused("payment refused: it is too long")
    try:
        raw = base64.b64decode(text, validate=True)
        return PaymentBody.model_validate_json(raw)
    except (ValueError, ValidationError) as error:
        raise PaymentRefused("payment refused: it has not the form of the protocol") from error


def _signer(payment: PaymentBody) -> str | None:
    """The signer's address; None for an invalid signature."""
    stated = payment.payload.authorization
    authorization = Authorization(
        payer=checksummed(stated.sender),
        pay_to=checksummed(stated.to),
        amount=int(stated.value),
        after_s=int(stated.valid_after),
        before_s=int(stated.valid_before),
        nonce=bytes.fromhex(stated.nonce[2:]),
    )
    try:
        return authorization_signer(SignedAuthorization(authorization, payment.payload.signature))
    except MalformedError:
        return None
