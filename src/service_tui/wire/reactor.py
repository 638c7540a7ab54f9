"""Bodies of the reactor: watchlist, signals, their results, the circuit breaker.

Source: spec, "Reactor config", "Reactor pending signal", "Reactor flow"; wire reference, 2.6 and 8.
"""

from typing import Annotated, Literal

from pydantic import AfterValidator, Field, StringConstraints

from service_tui.addresses import checked_address
from service_tui.terms import (
    FAILURES_MAX,
    LINE_MAX,
    PRICE_BUFFER_DEFAULT,
    PRICE_BUFFER_MAX,
    TRADES_PAGE_MAX,
    WALLETS_MAX,
    Action,
    Side,
    Venue,
)
from service_tui.units import AMOUNT_MAX
from service_tui.wire.base import (
    MICRO,
    Amount,
    AnyVenue,
    Count,
    LenientModel,
    Line,
    Moment,
    Money,
    NamingModel,
    Price,
    Prose,
    SentLine,
    SentProse,
    WireModel,
)


def _no_twins(wallets: tuple[str, ...]) -> tuple[str, ...]:
    """Refuse a wallet that is followed twice, however it is spelled.

    Returns:
        The wallets as they came.

    Raises:
        ValueError: two are the same.
    """
    if len(set(wallets)) != len(wallets):
        raise ValueError("the same wallet stands there twice")
    return wallets


Wallet = Annotated[
    str,
    StringConstraints(pattern=r"^0[xX][0-9a-fA-F]{40}$"),
    AfterValidator(checked_address),
    Field(description="an EVM address; capitals and small letters mixed must be its checksum"),
]
Watchlist = Annotated[
    tuple[Wallet, ...],
    Field(max_length=WALLETS_MAX, json_schema_extra={"uniqueItems": True}),
    AfterValidator(_no_twins),
]
Fraction = Annotated[float, Field(ge=0, le=1)]
PriceBuffer = Annotated[float, Field(ge=0, le=PRICE_BUFFER_MAX)]
Size = Annotated[
    float,
    Field(
        ge=0,
        le=AMOUNT_MAX,
        description="units, at most six decimals",
        json_schema_extra={"multipleOf": MICRO},
    ),
]


class BreakerBody(LenientModel):
    """ours: the circuit breaker, which the spec names and shows nowhere.

    `failures` are those in a row; at `failures_max` it pauses until `resets_at`. `skipped` counts
    the signals that came while it was paused.
    """

    state: Literal["running", "paused"] | Line = "running"
    failures: Count = 0
    failures_max: Count = FAILURES_MAX
    paused_at: Moment | None = None
    resets_at: Moment | None = None
    skipped: Count = 0


class ReactorConfigBody(LenientModel):
    """Answer of `GET` and `PATCH /api/sdk/reactor/config`: the eight fields, and its state."""

    wallets: tuple[Line, ...] = ()
    min_size: Amount = 0.0
    max_size: Amount = 0.0
    mirror_fraction: Amount = 0.0
    daily_cap: Amount = 0.0
    venue: AnyVenue = Venue.SIM
    enabled: bool = False
    price_buffer: Amount = PRICE_BUFFER_DEFAULT
    # ours: None where a service does not say; the rest a client would have to add up by itself.
    breaker: BreakerBody | None = None
    daily_spent: Amount | None = None
    signal_ttl_s: Amount | None = None
    # ours: names in the body of a change that nobody reads; empty in every other answer.
    warnings: tuple[Line, ...] = ()


class ReactorConfigPatch(NamingModel):
    """Payload of `PATCH /api/sdk/reactor/config`: only what is sent changes.

    `min_size` and `max_size` are shares of the source and of the mirror; `daily_cap` is money of
    the venue.
    """

    wallets: Watchlist | None = None
    min_size: Size | None = None
    max_size: Size | None = None
    mirror_fraction: Fraction | None = None
    daily_cap: Size | None = None
    venue: AnyVenue | None = None
    enabled: bool | None = None
    price_buffer: PriceBuffer | None = None


class WhaleBody(LenientModel):
    """The source trade as the published skill reads it. Source: wire reference, 8."""

    wallet: Line
    side: Line = "BUY"
    size: Amount = 0.0
    price: Price = 0.0
    token: Line = ""
    condition_id: Line = ""
    market_title: Line = ""
    market_slug: Line = ""
    outcome: Line = ""


class SignalBody(LenientModel):
    """One trade to mirror: the spec's flat names, and the nested ones of the published skill.

    `amount` is what the mirror spends. `created_at` and `expires_at` are wall time.
    """

    tx_hash: Line
    # Absent: the hash is the identity. Source: wire reference, 8.
    signal_id: Line | None = None
    type: Line = "copytrade"
    venue: AnyVenue | None = None
    taker_wallet: Line
    taker_side: Line = "BUY"
    taker_size: Amount
    taker_price: Price
    market_id: Line
    market_title: Line = ""
    side: Side
    action: Action = Action.BUY
    amount: Amount
    whale: WhaleBody | None = None
    created_at: Moment | None = None
    expires_at: Moment | None = None
    # ours: the name under which the wallet is known here.
    taker_label: Line | None = None


class PendingQuery(WireModel):
    """`caps=maker`: signals of fills in which the wallet was the maker are understood, too."""

    caps: Annotated[str, StringConstraints(max_length=LINE_MAX)] | None = None


class PendingBody(LenientModel):
    """Signals that wait, oldest first."""

    reactor_signals: tuple[SignalBody, ...] = ()
    # ours: as in the config, so that who polls the signals need not poll that as well.
    breaker: BreakerBody | None = None
    daily_spent: Amount | None = None


class SignalGoneBody(LenientModel):
    """A signal waits no more."""

    ok: bool = True


SignalId = Annotated[
    str,
    StringConstraints(pattern=r"^[A-Za-z0-9_:.\-]{1,256}$"),
    Field(description="a signal's id: tx, or tx:maker:leg:maker:token"),
]
Decision = Literal["mirrored", "failed", "skipped_filter"]


class ReactionRequest(WireModel):
    """What became of a signal. Source: wire reference, 8."""

    event_tx_hash: SignalId
    decision: Decision
    taker_wallet: SentLine | None = None
    taker_side: SentLine | None = None
    taker_token: SentLine | None = None
    taker_price: Annotated[float, Field(ge=0, le=1)] | None = None
    taker_size: Size | None = None
    condition_id: SentLine | None = None
    market_title: SentLine | None = None
    market_slug: SentLine | None = None
    outcome: SentLine | None = None
    trade_id: SentLine | None = None
    reason: SentProse | None = None
    # ours: tells signals of one transaction apart.
    signal_id: SignalId | None = None


class ReactionBody(LenientModel):
    """One of them, read back. ours: `decision` is `reset` where the breaker was closed again."""

    event_tx_hash: Line = ""
    decision: Line
    taker_wallet: Line | None = None
    taker_side: Line | None = None
    taker_token: Line | None = None
    taker_price: Price | None = None
    taker_size: Amount | None = None
    condition_id: Line | None = None
    market_title: Line | None = None
    market_slug: Line | None = None
    outcome: Line | None = None
    trade_id: Line | None = None
    reason: Prose | None = None
    signal_id: Line | None = None
    created_at: Moment | None = None


class ReactionsQuery(WireModel):
    """How many of the newest."""

    limit: Annotated[int, Field(ge=1, le=TRADES_PAGE_MAX)] = 10


class ReactionsBody(LenientModel):
    """What became of signals, newest first."""

    reactions: tuple[ReactionBody, ...] = ()


class ReactedBody(LenientModel):
    """A reaction is kept; and how the breaker stands after it."""

    ok: bool = True
    breaker: BreakerBody | None = None


class KnownWalletBody(LenientModel):
    """ours: a wallet that trades here, with its record since this world began.

    `venue` is where it mostly trades. Money in units; `realized_pnl` counts what is decided.
    """

    address: Line
    label: Line
    venue: AnyVenue
    trades_count: Count = 0
    bought: Amount = 0.0
    win_count: Count = 0
    loss_count: Count = 0
    realized_pnl: Money = 0.0
    last_trade_at: Moment | None = None


class KnownWalletsBody(LenientModel):
    """ours: wallets that can be followed here, so that a console can offer them."""

    wallets: tuple[KnownWalletBody, ...] = ()
