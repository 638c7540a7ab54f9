"""Paying for one call after a 429. Source: spec, "Pay-per-call after 429"; wire reference, 7.

The offer and the payment have the shape of the published protocol's first version, scheme `exact`:
the offer says who is paid how much of which token on which chain; the payment is an authorisation
of EIP-3009, sent base64 in the header `X-PAYMENT`.
"""

from typing import Annotated, Final, Literal

from pydantic import Field, StringConstraints

from service_tui.wire.base import Count, Line, WireModel
from service_tui.wire.chain import Address, Hash

PAYMENT_HEADER: Final = "X-PAYMENT"
PAID_HEADER: Final = "X-PAYMENT-RESPONSE"

PAY_NETWORK: Final = "base"
PAY_TOKEN: Final = "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913"  # noqa: S105  (a contract)
"""USDC on that chain, of six decimals."""

PAY_TOKEN_NAME: Final = "USD Coin"  # noqa: S105  (of the contract's EIP-712 domain)
PAY_TOKEN_VERSION: Final = "2"  # noqa: S105  (likewise)

PAY_PRICE: Final = 5_000
"""Micros of USDC for one call: 0.005. Source: spec, "Pay-per-call after 429"."""

PAY_SECONDS: Final = 60
"""How long an authorisation need be good. # ours: the published default."""

RESOURCE_MAX: Final = 500
ADDRESS_MAX: Final = 100
NETWORK_MAX: Final = 50
OFFERS_MAX: Final = 8
"""Letters and rows of an offer that are looked at."""

Whole = Annotated[str, StringConstraints(pattern=r"^[0-9]{1,78}$")]
"""A whole number as text, as in JSON for 256 bits."""


class TokenDomainBody(WireModel):
    """Name and version of the token's EIP-712 domain."""

    name: Line = ""
    version: Line = ""


class PayOfferBody(WireModel):
    """One way to pay for the call."""

    scheme: Line = "exact"
    network: Line = ""
    max_amount_required: Whole = Field(
        default="0", validation_alias="maxAmountRequired", serialization_alias="maxAmountRequired"
    )
    resource: Annotated[str, StringConstraints(max_length=RESOURCE_MAX)] = ""
    description: Line = ""
    mime_type: Line = Field(
        default="application/json", validation_alias="mimeType", serialization_alias="mimeType"
    )
    pay_to: Annotated[str, StringConstraints(max_length=ADDRESS_MAX)] = Field(
        default="", validation_alias="payTo", serialization_alias="payTo"
    )
    max_timeout_seconds: Count = Field(
        default=PAY_SECONDS,
        validation_alias="maxTimeoutSeconds",
        serialization_alias="maxTimeoutSeconds",
    )
    asset: Annotated[str, StringConstraints(max_length=ADDRESS_MAX)] = ""
    extra: TokenDomainBody | None = None


class Offers(WireModel):
    """The offers of a 429, looked at by themselves."""

    accepts: Annotated[tuple[PayOfferBody, ...], Field(max_length=OFFERS_MAX, strict=False)] = ()


class AuthorizationBody(WireModel):
    """A transfer that its sender has signed: EIP-3009, `TransferWithAuthorization`."""

    sender: Address = Field(validation_alias="from", serialization_alias="from")
    to: Address
    value: Whole
    valid_after: Whole = Field(validation_alias="validAfter", serialization_alias="validAfter")
    valid_before: Whole = Field(validation_alias="validBefore", serialization_alias="validBefore")
    nonce: Hash


class ExactPayloadBody(WireModel):
    """The signed transfer."""

    signature: Annotated[str, StringConstraints(pattern=r"^0x[0-9a-fA-F]{130}$")]
    authorization: AuthorizationBody


class PaymentBody(WireModel):
    """What the header `X-PAYMENT` holds, base64 of JSON."""

    version: Literal[1] = Field(
        default=1, validation_alias="x402Version", serialization_alias="x402Version"
    )
    scheme: Literal["exact"] = "exact"
    network: Annotated[str, StringConstraints(max_length=NETWORK_MAX)]
    payload: ExactPayloadBody


class PaidBody(WireModel):
    """What the header `X-PAYMENT-RESPONSE` holds, base64 of JSON."""

    success: bool
    transaction: Line = ""
    network: Line = PAY_NETWORK
    payer: Line = ""
