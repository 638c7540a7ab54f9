"""Trades of a wallet of the Solana venue: a quote, signed by the wallet. Wire reference, 2.3."""

from typing import Annotated, Final, Literal

from pydantic import Field, StringConstraints

from service_tui.terms import Action, Side
from service_tui.wire.base import (
    Amount,
    Identifier,
    LenientModel,
    Line,
    Moment,
    Price,
    SentLine,
    SentProse,
    WireModel,
)
from service_tui.wire.settings import SolanaAddress
from service_tui.wire.trades import SkillSlug

SIGNED_MAX: Final = 2_000
"""Letters of a signed transaction in base64."""


class SolQuoteRequest(WireModel):
    """A buy gives `amount` of money, a sale gives `shares`; the other is 0."""

    market_id: Identifier
    side: Side
    wallet_address: SolanaAddress
    amount: Amount = 0.0
    shares: Amount = 0.0
    action: Action = Action.BUY


class SolQuoteBody(LenientModel):
    """What the wallet is to sign. `in_amount` is given, `out_amount` got; money in USDC."""

    success: bool
    transaction: str = ""
    quote_id: Line = ""
    in_amount: Amount = 0.0
    out_amount: Amount = 0.0
    price: Price = 0.0
    error: Line = ""
    # ours: the fee beside the money, until when it can be submitted, and what to do about an error.
    fee: Amount = 0.0
    expires_at: Moment | None = None
    fix: Line = ""
    simulated: bool = True


class SolSubmitRequest(WireModel):
    """The transaction of a quote, signed by the wallet."""

    signed_transaction: Annotated[
        str, StringConstraints(min_length=1, max_length=SIGNED_MAX), Field(repr=False)
    ]
    quote_id: Identifier
    market_id: Identifier
    side: Side
    action: Action = Action.BUY
    reasoning: SentProse | None = None
    source: SentLine | None = None
    skill_slug: SkillSlug | None = None


class SolSubmitBody(LenientModel):
    """What became of it, under the names of both documents."""

    success: bool
    tx_signature: Line = ""
    trade_id: Line | None = None
    market_id: Line = ""
    side: Side | None = None
    shares: Amount = 0.0
    shares_bought: Amount = 0.0
    shares_sold: Amount = 0.0
    cost: Amount = 0.0
    cost_usdc: Amount = 0.0
    fee: Amount = 0.0
    price: Price = 0.0
    fill_status: Literal["filled", "partially_filled", "submitted", "failed"] = "failed"
    retryable: bool = False
    error: Line = ""
    error_code: Line | None = None
    fix: Line = ""
    simulated: bool = True
