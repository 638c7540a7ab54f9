"""The heartbeat answer. Source: spec, "Redemption objects"; wire reference, 3.7."""

from typing import Annotated

from pydantic import Field, StringConstraints

from service_tui.terms import Venue
from service_tui.wire.base import Amount, Count, LenientModel, Line, Moment, Money, Price, WireModel


class BriefingQuery(WireModel):
    """Since when; 24 hours by default."""

    since: Moment | None = None
    skill_versions: Annotated[str, StringConstraints(max_length=4_000)] | None = None


class AttentionBody(WireModel):
    """A position that moved more than 15 percent or resolves within 48 hours."""

    market_id: Line
    question: Line
    url: Line | None = None
    side: Line
    shares: Amount
    current_price: Price
    pnl: Money
    move_pct: Money
    time_to_resolution: Line | None = None


class VenueBlock(WireModel):
    """One venue at a glance. `cash_balance` and `balance` are the same figure."""

    currency: Line
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


class OpportunitiesBody(WireModel):
    """At most 10 markets and 3 skills."""

    new_markets: tuple[NewMarketBody, ...] = ()
    recommended_skills: tuple[RecommendedSkill, ...] = ()


class PerformanceBody(WireModel):
    """How the agent does among all agents of the service."""

    total_pnl: Money | None = None
    pnl_percent: Money | None = None
    win_rate: Price | None = None
    rank: Count | None = None
    total_agents: Count | None = None


class RedeemBlock(WireModel):
    """The spec's block of redemption data for the EVM venue."""

    redeemable_count: Count = 0
    actions: tuple[Line, ...] = ()


class BriefingBody(LenientModel):
    """Both shapes: `venues.<venue>` and the spec's top-level blocks (decisions, "Wire")."""

    venues: dict[str, VenueBlock | None]
    opportunities: OpportunitiesBody = OpportunitiesBody()
    performance: PerformanceBody = PerformanceBody()
    checked_at: Moment
    actions: tuple[Line, ...] = ()
    evm: RedeemBlock = Field(default=RedeemBlock(), alias=Venue.EVM.value)
    risk_alerts: tuple[Line, ...] = ()
    risk_warnings: tuple[Line, ...] = ()
    trading_paused: bool | None = None
