"""Import of markets that the venues know already. Source: wire reference, 2.2."""

from typing import Annotated, Final, Literal, Self

from pydantic import Field, StringConstraints, model_validator

from service_tui.terms import LINE_MAX, MARKET_IDS_MAX, SEARCH_MIN
from service_tui.wire.base import (
    AMOUNT_MAX,
    AnyVenue,
    Count,
    Identifier,
    Line,
    Moment,
    Money,
    Price,
    WireModel,
)

ADDRESS_MAX: Final = 500
CATEGORY_MAX: Final = 100
IMPORTABLE_PAGE_MAX: Final = 100

Address = Annotated[str, StringConstraints(min_length=1, max_length=ADDRESS_MAX)]
"""An address as text. It is taken apart, never opened."""


class ImportableQuery(WireModel):
    """Which of the venues' questions; a `min_volume` below 1,000 counts as 1,000."""

    min_volume: Annotated[float, Field(ge=0, le=AMOUNT_MAX)] = 10_000.0
    limit: Annotated[int, Field(ge=1, le=IMPORTABLE_PAGE_MAX)] = 50
    category: Annotated[str, StringConstraints(max_length=CATEGORY_MAX)] | None = None
    venue: AnyVenue | None = None
    q: Annotated[str, StringConstraints(min_length=SEARCH_MIN, max_length=LINE_MAX)] | None = None


class ImportableBody(WireModel):
    """A question that a venue trades and this service does not list yet."""

    question: Line
    url: Line
    condition_id: Line
    current_price: Price
    volume_24h: Money
    # ours: which venue, when it ends, and the event that it is an outcome of, with its address.
    venue: AnyVenue
    category: Line
    resolves_at: Moment
    ticker: Line
    event_name: Line | None = None
    event_url: Line | None = None


class ImportablesBody(WireModel):
    """Most traded first."""

    markets: tuple[ImportableBody, ...]
    total: Count


class CheckQuery(WireModel):
    """Exactly one name of a question."""

    url: Address | None = None
    condition_id: Annotated[str, StringConstraints(min_length=1, max_length=LINE_MAX)] | None = None
    ticker: Annotated[str, StringConstraints(min_length=1, max_length=LINE_MAX)] | None = None

    @model_validator(mode="after")
    def _one_name(self) -> Self:
        given = [name for name in (self.url, self.condition_id, self.ticker) if name is not None]
        if len(given) != 1:
            raise ValueError("give one of url, condition_id and ticker")
        return self


class EventOutcomeBody(WireModel):
    """One outcome of an event that was asked for as if it were a market."""

    question: Line
    outcome_name: Line
    url: Line
    condition_id: Line
    ticker: Line
    exists: bool
    market_id: Line | None = None
    status: Line | None = None


class CheckBody(WireModel):
    """Whether the service lists a question already.

    An event with several outcomes is no market: `exists` is false, and `outcomes` has each of them
    with its own address, listed here or not. Source: decisions, "Events".
    """

    exists: bool
    market_id: Line | None = None
    question: Line | None = None
    status: Line | None = None
    event_name: Line | None = None
    outcomes: tuple[EventOutcomeBody, ...] = ()
    hint: Line | None = None


class ImportRequest(WireModel):
    """A question or event by its address.

    `market_ids` chooses outcomes of an event, by condition id or market id; otherwise up to 10.
    """

    polymarket_url: Address
    # ours: accepted; a market of the embedded service is listed for all of its agents.
    shared: bool = True
    market_ids: (
        Annotated[
            tuple[Identifier, ...], Field(strict=False, min_length=1, max_length=MARKET_IDS_MAX)
        ]
        | None
    ) = None


class ImportTickerRequest(WireModel):
    """A question of the Solana venue, by its address or its bare ticker."""

    kalshi_url: Address


class ImportEventRequest(WireModel):
    """An event of the Solana venue, by its ticker; it counts as one import."""

    event_ticker: Annotated[str, StringConstraints(min_length=1, max_length=LINE_MAX)]


class OutcomeBody(WireModel):
    """One outcome of an imported event."""

    market_id: Line
    question: Line
    outcome_name: Line
    current_probability: Price


class ImportBody(WireModel):
    """What became of an import: fields of one question, or of an event with its outcomes."""

    success: bool = True
    status: Literal["imported", "already_exists", "resolved"]
    market_id: Line | None = None
    question: Line | None = None
    current_probability: Price | None = None
    external_price_yes: Price | None = None
    resolves_at: Moment | None = None
    kalshi_ticker: Line | None = None
    event_id: Line | None = None
    event_name: Line | None = None
    markets: tuple[OutcomeBody, ...] = ()
    markets_imported: Count = 0
    markets_skipped: Count = 0
    import_source: AnyVenue | None = None
