"""Risk monitors and risk alerts on the wire. Source: spec, "Risk monitor settings"; wire, 2.4."""

from typing import Annotated, ClassVar, Final, Literal, Self

from pydantic import ConfigDict, Field, model_validator
from pydantic.config import JsonDict

from service_tui.terms import (
    PUBLISHED_THRESHOLDS,
    STOP_MAX,
    TARGET_MAX,
    THRESHOLDS,
    TRAIL_MAX,
    Side,
)
from service_tui.wire.base import (
    EXPIRATION_MAX,
    Amount,
    AnyVenue,
    Count,
    Identifier,
    LenientModel,
    Line,
    Moment,
    Money,
    NamingModel,
    Prose,
    WireModel,
)

StopFraction = Annotated[float, Field(gt=0, le=STOP_MAX)]
"""Fraction down at which to close. Source: decisions, "Stop and target prices"."""

TakeFraction = Annotated[float, Field(gt=0, le=TARGET_MAX)]
"""Fraction up at which to close."""

TrailDistance = Annotated[float, Field(gt=0, lt=TRAIL_MAX)]
"""Distance below the highest mark at which to close: a fraction of it, or points of price."""

ExitMoment = Annotated[float, Field(gt=0, le=EXPIRATION_MAX)]
"""Unix seconds."""

_NAMES: Final = tuple(kind.name for kind in THRESHOLDS)
"""What a monitor watches; it has one of these at least."""

_PUBLISHED: Final = _NAMES[:PUBLISHED_THRESHOLDS]

_ONE_AT_LEAST: JsonDict = {
    "anyOf": [{"required": [name]} for name in _NAMES],
    "not": {
        "anyOf": [
            {
                "required": [*_PUBLISHED],
                "properties": {name: {"type": "null"} for name in _NAMES},
            },
            {
                "required": ["trailing_stop_pct", "trailing_stop_points"],
                "properties": {
                    "trailing_stop_pct": {"type": "number"},
                    "trailing_stop_points": {"type": "number"},
                },
            },
        ]
    },
}
"""For the document of the service."""


class MonitorRequest(NamingModel):
    """Thresholds of one side of a position; what is left out stays, and null removes it."""

    # ours: a misspelt threshold watches nothing, so that the answer names it.
    has: ClassVar[str] = "field"
    model_config = ConfigDict(json_schema_extra=_ONE_AT_LEAST)

    side: Side
    stop_loss_pct: StopFraction | None = None
    take_profit_pct: TakeFraction | None = None
    trailing_stop_pct: TrailDistance | None = None
    trailing_stop_points: TrailDistance | None = None
    exit_at: ExitMoment | None = None
    # ours: without it, where the agent holds the side; published clients never send it.
    venue: AnyVenue | None = None

    @model_validator(mode="after")
    def _one_at_least(self) -> Self:
        """A monitor watches something."""
        sent = self.model_fields_set.intersection(_NAMES)
        if not sent:
            raise ValueError("give stop_loss_pct, take_profit_pct or both")
        if sent.issuperset(_PUBLISHED) and all(getattr(self, name) is None for name in sent):
            raise ValueError("both are null: DELETE removes a monitor")
        if self.trailing_stop_pct is not None and self.trailing_stop_points is not None:
            raise ValueError("give trailing_stop_pct or trailing_stop_points, not both")
        return self


class SentMonitorRequest(MonitorRequest):
    """The same thresholds with nulls sent: they remove what a monitor has."""

    sends_null: ClassVar[bool] = True


class MonitorQuery(WireModel):
    """Which monitor of a market. The side is a query parameter. Source: wire reference, 2.4."""

    side: Side
    # ours: without it, where there is a monitor on the side.
    venue: AnyVenue | None = None


class MonitorBody(LenientModel):
    """One monitor as it is. Prices are of the side held; `cost_basis` and values in units."""

    market_id: Line
    side: Side
    venue: AnyVenue | None = None
    question: Line = ""
    stop_loss_pct: float | None = None
    take_profit_pct: float | None = None
    shares: Amount = 0.0
    cost_basis: Amount = 0.0
    # ours: everything below: the published record stops at the thresholds and the cost.
    stop_price: float | None = None
    # Above 1 where no price can reach it.
    take_profit_price: float | None = None
    entry_price: float | None = None
    # What the stop is measured from: the entry, or the mark right after the buy if that was lower.
    reference_price: float | None = None
    current_price: float | None = None
    current_value: Amount = 0.0
    exit_value: Amount = 0.0
    # False for one that was set by hand, which stays when the automatic is turned off.
    automatic: bool = False
    set_at: Moment | None = None
    simulated: bool = False
    # The price that the trailing stop makes now, and the highest mark that it has seen.
    trailing_stop_pct: float | None = None
    trailing_stop_points: float | None = None
    trailing_stop_price: float | None = None
    peak_price: float | None = None
    exit_at: Moment | None = None


class MonitorSetBody(MonitorBody):
    """The monitor that was set; it replaces an earlier one of the same side."""

    success: bool = True
    message: Line = ""
    # ours: names in the body that nobody reads.
    warnings: tuple[Line, ...] = ()


class MonitorsBody(LenientModel):
    """All active monitors of the caller.

    The same rows under both keys: the document of the service reports one, clients read the other.
    Source: wire reference, 2.4, "Answer both keys".
    """

    monitors: tuple[MonitorBody, ...] = ()
    settings: tuple[MonitorBody, ...] = ()
    count: Count = 0


class MonitorRemovedBody(WireModel):
    """What was removed."""

    success: bool
    market_id: Line
    side: Side
    venue: AnyVenue | None = None
    message: Line = ""


class RiskAlertsQuery(WireModel):
    """ours: the ended alerts too, newest first; clients would execute what stands in the list."""

    include_history: bool = False


class RiskAlertQuery(WireModel):
    """ours: which alert, where a side of a market has several: the oldest one without these."""

    venue: AnyVenue | None = None
    alert_id: Identifier | None = None


class RiskAlertBody(LenientModel):
    """A breach and its exit. The first four are what clients need. Source: wire reference, 2.4.

    `shares` are those to sell: never more than are held now. Prices are of the side held.
    """

    market_id: Line
    side: Side
    shares: Amount
    # `stop_loss` or `take_profit`; ours: `trailing_stop` or `time_stop`.
    exit_reason: Line
    venue: AnyVenue | None = None
    token_id: Line | None = None
    # ours: everything below.
    id: Line = ""
    question: Line = ""
    # The fraction that was registered, and the price that it made.
    threshold_pct: float | None = None
    threshold_price: float | None = None
    entry_price: float | None = None
    triggered_price: float | None = None
    # Wall time; an alert is dead an hour after its breach.
    breached_at: Moment | None = None
    expires_at: Moment | None = None
    # A word of `AlertStatus`.
    status: Line = "pending"
    ended_at: Moment | None = None
    shares_sold: Amount = 0.0
    proceeds: Amount = 0.0
    realized_pnl: Money = 0.0
    trade_id: Line | None = None
    # Who exits: the service for a managed wallet, the client for an external one. Once it ended:
    # who has sold, null where nobody did.
    executed_by: Literal["service", "client"] | None = None
    # Why the service could not sell yet.
    error: Prose | None = None
    message: Line = ""
    simulated: bool = False


class RiskAlertsBody(LenientModel):
    """Alerts that wait for their exit, oldest first."""

    risk_alerts: tuple[RiskAlertBody, ...] = ()
    count: Count = 0
    # ours: those that ended, newest first; empty unless asked for.
    history: tuple[RiskAlertBody, ...] = ()


class RiskAlertEndedBody(WireModel):
    """The alert that was acknowledged, and how it ended: `executed` or `dismissed`."""

    success: bool
    market_id: Line
    side: Side
    venue: AnyVenue | None = None
    id: Line = ""
    status: Line = ""
    message: Line = ""
