"""Copy the positions of wallets once, on request. Source: wire reference, 2.3."""

from typing import Annotated, Final

from pydantic import Field

from service_tui.terms import SIM_TRADE_MAX, WALLETS_MAX, Action, Side, Venue
from service_tui.wire.base import (
    Amount,
    AnyVenue,
    Count,
    LenientModel,
    Line,
    Price,
    WireModel,
)
from service_tui.wire.chain import Address

COPY_DEFAULT: Final = 50.0
COPIES_MAX: Final = 30
"""Money of one copy, and copies of one call. # ours: as many as a batch has trades."""


class CopyRequest(WireModel):
    """Whose positions to copy. Money in units; `top_n` are the largest positions of each wallet."""

    wallets: Annotated[
        tuple[Address, ...], Field(strict=False, min_length=1, max_length=WALLETS_MAX)
    ]
    top_n: Annotated[int, Field(ge=1, le=COPIES_MAX)] | None = None
    max_usd_per_position: Annotated[float, Field(gt=0, le=SIM_TRADE_MAX)] = COPY_DEFAULT
    dry_run: bool = False
    buy_only: bool = True
    detect_whale_exits: bool = False
    max_trades: Annotated[int, Field(ge=1, le=COPIES_MAX)] | None = None
    # ours: sim where none is named, as everywhere.
    venue: AnyVenue = Venue.SIM


class CopyTradeBody(LenientModel):
    """One copy, or with `dry_run` what it would be."""

    market_id: Line
    question: Line = ""
    side: Side
    action: Action
    wallet: Line = ""
    success: bool = False
    trade_id: Line | None = None
    shares: Amount = 0.0
    cost: Amount = 0.0
    price: Price = 0.0
    error: Line | None = None


class CopyBody(LenientModel):
    """What became of the call. Counters count positions and trades."""

    success: bool
    wallets_checked: Count = 0
    positions_found: Count = 0
    trades_needed: Count = 0
    trades_executed: Count = 0
    trades: tuple[CopyTradeBody, ...] = ()
    summary: Line = ""
    errors: tuple[Line, ...] = ()
    dry_run: bool = False
