"""Redemption on the wire. Source: spec, "Redemption"; wire reference, 2.5 and 6.6."""

from typing import Annotated

from pydantic import Field

from service_tui.terms import TRADES_PAGE_MAX, Side
from service_tui.wire.base import (
    Amount,
    AnyVenue,
    Count,
    Identifier,
    LenientModel,
    Line,
    Moment,
    WireModel,
)
from service_tui.wire.chain import Hash, UnsignedTxBody


class RedeemRequest(WireModel):
    """Which side of which market is to be redeemed."""

    market_id: Identifier
    side: Side


class RedeemBody(LenientModel):
    """What is to be signed, or with a managed wallet what was done.

    A refusal is `success: false` with `error_code`: `ALREADY_REDEEMED` (marked claimed),
    `NOT_FINALIZED` (retryable), `POSITION_LOST`, `NOT_HELD`, `NOT_REDEEMABLE`.
    """

    success: bool
    tx_hash: Line | None = None
    unsigned_tx: UnsignedTxBody | None = None
    error: Line | None = None
    error_code: Line | None = None
    error_hint: Line | None = None
    retryable: bool = False
    fix: Line = ""
    # ours: everything below: what is redeemed, and what it brings or brought.
    market_id: Line = ""
    side: Side | None = None
    shares: Amount = 0.0
    payout: Amount = 0.0
    lifecycle: Line | None = None
    simulated: bool = False


class ReportRequest(WireModel):
    """The client's word that its transaction is through."""

    market_id: Identifier
    side: Side
    tx_hash: Hash


class ReportBody(LenientModel):
    """What the service makes of the report; the same again for the same hash.

    `status`: `redeemed`, `pending` (not on the chain yet: report again), `failed`, `unknown`.
    """

    success: bool
    market_id: Line = ""
    side: Side | None = None
    tx_hash: Line | None = None
    status: Line = ""
    payout: Amount = 0.0
    message: Line = ""
    error: Line | None = None
    error_code: Line | None = None
    retryable: bool = False
    fix: Line = ""


class RedemptionsQuery(WireModel):
    """ours: how many of the redeemed ones come along; what is not redeemed comes always."""

    limit: Annotated[int, Field(ge=1, le=TRADES_PAGE_MAX)] = 50


class RedemptionBody(LenientModel):
    """ours: one side of a position on a real venue, on its way to money."""

    market_id: Line
    side: Side
    question: Line = ""
    venue: AnyVenue | None = None
    # A state of the spec's lifecycle.
    state: Line
    # True or false once the outcome is final, null before.
    won: bool | None = None
    shares: Amount = 0.0
    # What a redemption brings now, or brought; a losing side brings nothing.
    payout: Amount = 0.0
    cost: Amount = 0.0
    redeemable: bool = False
    # True where it is done on the venue's own page: nothing here redeems it.
    manual: bool = False
    # Whom it waits for: `market`, `oracle`, `venue`, `client`, `service`, `gas`, `chain`, `person`.
    waits_for: Line | None = None
    resolves_at: Moment | None = None
    resolved_at: Moment | None = None
    # Wall time of the same moment, as `redeemed_at`; those before are the world's.
    ready_at: Moment | None = None
    redeemed_at: Moment | None = None
    tx_hash: Line | None = None
    # `pending`, `confirmed`, `failed`; and whether the client has reported it.
    tx_status: Line | None = None
    reported: bool = False
    condition_id: Line | None = None
    token_id: Line | None = None
    neg_risk: bool = False
    url: Line | None = None
    simulated: bool = False


class VenueRedemptionsBody(WireModel):
    """What waits to be redeemed on one venue, and all that ever was, in its own money."""

    redeemable_count: Count = 0
    redeemable_amount: Amount = 0.0
    redeemed_count: Count = 0
    redeemed_amount: Amount = 0.0


class RedemptionsBody(LenientModel):
    """ours: the queue: what waits first, then what is redeemed, newest first.

    The list has the newest redeemed ones; `by_venue` counts all. No sum has two monies in it.
    """

    redemptions: tuple[RedemptionBody, ...] = ()
    redeemable_count: Count = 0
    redeemed_count: Count = 0
    by_venue: dict[str, VenueRedemptionsBody] = Field(
        default_factory=dict[str, VenueRedemptionsBody]
    )
    auto_redeem_enabled: bool = True
    # Why auto-redeem stands still, null while it does not: too little gas.
    paused: Line | None = None
