"""Agents on the wire. Source: spec, "Agent"; wire reference, 2.1 and 3.1."""

from typing import Annotated

from pydantic import AfterValidator, Field

from service_tui.terms import NEW_AGENT_CASH_SIM, AgentStatus, Plan
from service_tui.wire.base import (
    Count,
    Line,
    Moment,
    Money,
    NamingModel,
    Price,
    SentLine,
    SentProse,
    WireModel,
)


def visible(name: str) -> str:
    """A name of which something is left after cleaning.

    Returns:
        The name.

    Raises:
        ValueError: nothing is left.
    """
    if not name:
        raise ValueError("a name needs a visible letter")
    return name


AgentName = Annotated[
    SentLine,
    AfterValidator(visible),
    Field(description="with a visible letter", json_schema_extra={"minLength": 1}),
]
"""What an agent is called."""


class RegisterRequest(WireModel):
    """Registration of an agent."""

    name: AgentName
    description: SentProse | None = None
    homepage: SentLine | None = None
    skill_url: SentLine | None = None
    # ours: a service that is open to a network takes in whom it has invited.
    invitation: SentLine | None = Field(default=None, repr=False)


class RegisterLimits(WireModel):
    """Limits of an unclaimed agent, in units of money."""

    sim: bool = True
    real_trading: bool = False
    max_trade_usd: Money = 100.0
    daily_limit_usd: Money = 500.0


class RegisterBody(WireModel):
    """The only answer that ever carries the key."""

    agent_id: Line
    api_key: str = Field(repr=False)
    key_prefix: Line
    claim_url: Line
    claim_code: Line
    status: AgentStatus
    starting_balance: Money = float(NEW_AGENT_CASH_SIM)
    limits: RegisterLimits = Field(default_factory=RegisterLimits)


class RateLimit(WireModel):
    """Calls that one key may make of one endpoint."""

    requests_per_minute: Count


class RateLimits(WireModel):
    """Rate limits of the plan. `tier` is the plan's name on the wire."""

    endpoints: dict[str, RateLimit] = Field(default_factory=dict[str, RateLimit])
    tier: Plan = Plan.FREE


class AgentBody(WireModel):
    """Answer of `GET /api/sdk/agents/me`. Money in units, rates 0 to 1; P&L is by the mark."""

    agent_id: Line
    name: Line
    status: AgentStatus
    balance: Money
    sim_pnl: Money
    total_pnl: Money
    total_pnl_percent: Money
    trades_count: Count
    win_count: Count
    loss_count: Count
    win_rate: Price | None = None
    claimed: bool
    real_trading_enabled: bool
    created_at: Moment
    description: Line | None = None
    last_trade_at: Moment | None = None
    rate_limits: RateLimits | None = None
    auto_redeem_enabled: bool = True
    wallet_address: Line | None = None
    wallet_ownership: Line = "native"
    claim_url: Line | None = None


class AgentSettingsPatch(NamingModel):
    """Settings that an agent may change itself."""

    auto_redeem_enabled: bool | None = None
    name: AgentName | None = None


class AgentSettingsBody(WireModel):
    """The settings after the change."""

    success: bool = True
    auto_redeem_enabled: bool
    name: Line
    # ours: names in the body that nobody reads.
    warnings: tuple[Line, ...] = ()


class ContextBody(WireModel):
    """Answer of `GET /api/sdk/context`: who I am, and the way back to a lost claim link."""

    agent_id: Line
    name: Line
    status: AgentStatus
    claimed: bool
    claim_url: Line
    plan: Plan
    balance: Money
    positions_count: Count
    trading_paused: bool
    checked_at: Moment


class ClaimBody(WireModel):
    """Public data of an agent for holders of its claim link."""

    name: Line
    description: Line = ""
    status: AgentStatus
    claimed: bool
    created_at: Moment
    claim_url: Line
