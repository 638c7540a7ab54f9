"""The heartbeat answer. Source: spec, "Redemption objects"; wire reference, 3.7."""

from typing import Annotated, Final

from pydantic import (
    AfterValidator,
    AliasChoices,
    ConfigDict,
    Field,
    StringConstraints,
    TypeAdapter,
    ValidationError,
    field_validator,
)

from service_tui.terms import PUBLIC_VENUES, VENUE_ALIASES, Venue
from service_tui.wire.base import (
    Amount,
    Count,
    LenientModel,
    Line,
    Moment,
    Money,
    Price,
    WireModel,
)
from service_tui.wire.moments import RequestedMoment
from service_tui.wire.monitors import RiskAlertBody

_VERSIONS: Final = TypeAdapter(
    dict[
        Annotated[str, StringConstraints(strict=True, pattern=r"^[A-Za-z0-9_\-]{1,128}$")],
        Annotated[str, StringConstraints(strict=True, pattern=r"^[A-Za-z0-9.+\-]{1,64}$")],
    ],
    config=ConfigDict(defer_build=True),
)
VERSIONS_MAX: Final = 100
VERSIONS_LETTERS_MAX: Final = 4_000


class BriefingQuery(WireModel):
    """Since when, wall time, 24 hours ago by default; and the versions of the asker's skills."""

    since: RequestedMoment | None = None
    skill_versions: Annotated[str, StringConstraints(max_length=VERSIONS_LETTERS_MAX)] | None = None

    def versions(self) -> dict[str, str] | None:
        """Version by slug, as it was sent."""
        return None if self.skill_versions is None else _VERSIONS.validate_json(self.skill_versions)

    @field_validator("skill_versions")
    @classmethod
    def _flat(cls, value: str | None) -> str | None:
        """JSON text of one flat object, slugs and versions."""
        if value is None:
            return None
        try:
            versions = _VERSIONS.validate_json(value)
        except ValidationError:
            # Its own words would repeat what was sent.
            raise ValueError("not a flat JSON object of slugs and versions") from None
        if len(versions) > VERSIONS_MAX:
            raise ValueError(f"at most {VERSIONS_MAX} skills")
        return value


class AttentionBody(WireModel):
    """A side that moved more than 15 percent or resolves within 48 hours, at its own price."""

    market_id: Line
    question: Line
    url: Line | None = None
    side: Line
    shares: Amount
    current_price: Price
    pnl: Money
    move_pct: Money
    time_to_resolution: Line | None = None


class SkillBlock(WireModel):
    """What the positions of one source tag are worth more or less than they cost."""

    positions: Count = 0
    total_pnl: Money = 0.0


class VenueBlock(WireModel):
    """One venue at a glance. `cash_balance` and `balance` are the same figure."""

    currency: Line = ""
    balance: Money | None = None
    cash_balance: Money | None = None
    portfolio_value: Money | None = None
    pnl: Money | None = None
    realized_pnl: Money | None = None
    unrealized_pnl: Money | None = None
    positions_count: Count = 0
    positions_needing_attention: tuple[AttentionBody, ...] = ()
    actions: tuple[Line, ...] = ()
    redeemable_count: Count = 0
    by_skill: dict[str, SkillBlock] = Field(default_factory=dict[str, SkillBlock])
    # ours: when `pnl` was taken, money in open orders, and that the venue is simulated.
    pnl_as_of: Moment | None = None
    reserved: Amount = 0.0
    simulated: bool = False


class NewMarketBody(WireModel):
    """A market listed since the last look."""

    market_id: Line
    question: Line
    opportunity_score: Money | None = None
    time_to_resolution: Line | None = None


class RecommendedSkill(WireModel):
    """A skill that the service suggests."""

    id: Line
    name: Line
    install: Line = ""
    best_when: Line | None = None


class SkillUpdateBody(WireModel):
    """A skill of the asker that is installed here in a newer version."""

    slug: Line
    current: Line
    latest: Line


class SdkUpdateBody(WireModel):
    """That the asker's client is too old. # ours: the reference names the field alone."""

    current: Line
    latest: Line
    message: Line = ""


class OpportunitiesBody(WireModel):
    """At most 10 markets and 3 skills."""

    new_markets: tuple[NewMarketBody, ...] = ()
    recommended_skills: tuple[RecommendedSkill, ...] = ()


class PerformanceBody(WireModel):
    """How the agent does among all agents of the service.

    `total_pnl`, `pnl_percent` and `rank` are of sim and by what selling all now would bring, as on
    the leaderboard; the P&L of the venue blocks, of the agent and of its portfolio is by the mark.
    """

    # ours: a figure that stands alone is what selling would bring.
    total_pnl: Money | None = None
    pnl_percent: Money | None = None
    win_rate: Price | None = None
    rank: Count | None = None
    total_agents: Count | None = None


class RedeemBlock(WireModel):
    """The spec's block of redemption data for the EVM venue."""

    redeemable_count: Count = 0
    actions: tuple[Line, ...] = ()


class AlertBody(WireModel):
    """What a service may say of an alert without saying what to sell."""

    market_id: Line = ""
    side: Line = ""
    exit_reason: Line = ""
    message: Line = ""


AnyAlert = Annotated[RiskAlertBody | AlertBody, Field(union_mode="left_to_right")]
"""An alert that can be executed; what lacks a part of that is only reported."""


def _neutral(blocks: dict[str, VenueBlock | None]) -> dict[str, VenueBlock | None]:
    """Blocks under the neutral names of their venues, whichever names the service speaks."""
    return {VENUE_ALIASES.get(name, name): block for name, block in blocks.items()}


class BriefingBody(LenientModel):
    """Both shapes: `venues.<venue>` and the spec's top-level blocks (decisions, "Wire")."""

    venues: Annotated[dict[str, VenueBlock | None], AfterValidator(_neutral)]
    opportunities: OpportunitiesBody = OpportunitiesBody()
    performance: PerformanceBody = PerformanceBody()
    checked_at: Moment
    actions: tuple[Line, ...] = ()
    evm: RedeemBlock = Field(
        default=RedeemBlock(),
        validation_alias=AliasChoices(Venue.EVM.value, PUBLIC_VENUES[Venue.EVM]),
        serialization_alias=Venue.EVM.value,
    )
    # Text or objects. Source: wire reference, 3.7.
    risk_alerts: tuple[Line | AnyAlert, ...] = ()
    # Those of the same alerts that the client is to execute; None where there are none.
    triggered_risk_alerts: tuple[AnyAlert, ...] | None = None
    risk_warnings: tuple[Line, ...] = ()
    sdk_update: SdkUpdateBody | None = None
    # None unless the asker said which versions it runs.
    skill_updates: tuple[SkillUpdateBody, ...] | None = None
    trading_paused: bool | None = None
