"""Several buys in one call. Source: wire reference, 2.3."""

from typing import Annotated, ClassVar, Literal

from pydantic import ConfigDict, Field
from pydantic.config import JsonDict

from service_tui.terms import Side, Venue
from service_tui.units import AMOUNT_MAX
from service_tui.wire.base import (
    Amount,
    AnyVenue,
    Count,
    Identifier,
    Line,
    Money,
    NamingModel,
    Price,
    SentLine,
    WireModel,
)
from service_tui.wire.trades import GoLiveBody

LEGS_MAX = 30

Spend = Annotated[
    float, Field(gt=0, le=AMOUNT_MAX, json_schema_extra={"multipleOf": 0.01}, description="money")
]


class LegRequest(WireModel):
    """One buy of a batch."""

    market_id: Identifier
    side: Side
    amount: Spend
    # ours: a batch buys only; passed over like any unknown field, a sale would become a buy.
    action: Literal["buy"] = "buy"


_ATOMIC_ON_SIM: JsonDict = {
    "not": {
        "properties": {"atomic": {"const": True}, "venue": {"enum": [Venue.EVM, Venue.SOL]}},
        "required": ["atomic", "venue"],
    }
}


class BatchRequest(NamingModel):
    """1 to 30 buys; `atomic` means all or none.

    `max_slippage` binds each trade where it is sent, probability points above the price before the
    batch. Source: decisions, "Slippage of a batch".
    """

    # ours: a misspelt bound binds nothing, so that the answer names it.
    has: ClassVar[str] = "field"
    model_config = ConfigDict(json_schema_extra=_ATOMIC_ON_SIM)

    trades: Annotated[
        tuple[LegRequest, ...], Field(strict=False, min_length=1, max_length=LEGS_MAX)
    ]
    venue: AnyVenue = Venue.SIM
    source: SentLine | None = None
    dry_run: bool = False
    atomic: bool = False
    max_slippage: Annotated[float, Field(ge=0, le=1)] | None = None

    @property
    def is_quote(self) -> bool:
        """Whether nothing is to be carried out."""
        return self.dry_run


class LegBody(WireModel):
    """What became of one buy. `aborted` marks one that failed only because another did.

    `dry_run_price` is the average price that the buy would have had alone, before the batch;
    `slippage` the average price less the price before the batch.
    """

    market_id: Line
    success: bool
    trade_id: Line | None = None
    error: Line | None = None
    # ours: the code and the way out, as a single trade has them.
    error_code: Line | None = None
    fix: Line | None = None
    cost: Amount = 0.0
    shares: Amount = 0.0
    price: Price = 0.0
    dry_run_price: Price = 0.0
    slippage: Money = 0.0
    aborted: bool = False


class BatchBody(WireModel):
    """Results in the order of the request; `success` when none failed."""

    success: bool
    results: tuple[LegBody, ...]
    total_cost: Amount
    failed_count: Count
    warnings: tuple[Line, ...] = ()
    execution_time_ms: Count = 0
    dry_run: bool = False
    balance: Money | None = None
    # ours: a batch may pass a milestone as well as a trade.
    go_live: GoLiveBody | None = None
