"""Bodies of refusals. Source: spec, "Errors"; wire reference, section 7."""

from pydantic import Field

from service_tui.wire.base import Line, Prose, WireModel
from service_tui.wire.payment import PayOfferBody


class ErrorBody(WireModel):
    """Any 4xx but 422: what happened and what to do."""

    error: Line
    detail: Line = ""
    fix: Prose = ""
    claim_url: Line | None = None
    limit: int | None = None
    x402_url: Line | None = None
    x402_price: Line | None = None
    # ours: the offer in full, so that whoever may pay knows whom, how much and where.
    x402_version: int | None = Field(
        default=None, validation_alias="x402Version", serialization_alias="x402Version"
    )
    accepts: tuple[PayOfferBody, ...] | None = None


class ValidationItem(WireModel):
    """One field that failed. `input` is never sent: it could echo a secret."""

    loc: tuple[str | int, ...]
    msg: Line
    type: Line


class ValidationBody(WireModel):
    """Body of a 422."""

    detail: tuple[ValidationItem, ...] = Field(default=())
    fix: Prose = ""
