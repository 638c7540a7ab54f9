"""A signed order of the EVM venue on the wire. Source: wire reference, 6.2."""

from typing import Annotated, Final, Literal

from pydantic import Field, StringConstraints

from service_tui.wire.base import WireModel
from service_tui.wire.chain import Address, Hash
from service_tui.wire.payment import Whole

SIGNATURE_TYPE_MAX: Final = 3
WORD: Final = 2**256


class SignedOrderBody(WireModel):
    """What an external wallet has signed: of version 2 with a timestamp, else of version 1."""

    # Texts, as the published client sends them; a number is taken too.
    salt: Whole | Annotated[int, Field(ge=0, lt=WORD)]
    maker: Address
    signer: Address
    token_id: Whole = Field(validation_alias="tokenId", serialization_alias="tokenId")
    maker_amount: Whole = Field(validation_alias="makerAmount", serialization_alias="makerAmount")
    taker_amount: Whole = Field(validation_alias="takerAmount", serialization_alias="takerAmount")
    side: Literal["BUY", "SELL"]
    signature_type: Annotated[int, Field(ge=0, le=SIGNATURE_TYPE_MAX)] = Field(
        default=0, validation_alias="signatureType", serialization_alias="signatureType"
    )
    signature: Annotated[str, StringConstraints(pattern=r"^0x[0-9a-fA-F]{130,1000}$")]
    expiration: Whole = "0"
    # Version 2.
    timestamp: Whole | None = None
    metadata: Hash | None = None
    builder: Hash | None = None
    # Version 1.
    taker: Address | None = None
    nonce: Whole | None = None
    fee_rate_bps: Whole | None = Field(
        default=None, validation_alias="feeRateBps", serialization_alias="feeRateBps"
    )

    @property
    def version(self) -> Literal["v1", "v2"]:
        """Of the exchange that it is meant for."""
        return "v1" if self.timestamp is None else "v2"
