"""Bodies of the operator's view of all agents and of the account.

ours: the spec has no such endpoints; all stand under `/api/desk/` and want the operator key.
"""

from typing import Annotated

from pydantic import Field, StringConstraints

from service_tui.terms import AgentStatus, Plan, WalletKind
from service_tui.wire.base import (
    Amount,
    AnyVenue,
    Count,
    Line,
    Moment,
    Money,
    OperatorModel,
    SentLine,
    WireModel,
)
from service_tui.wire.buy_limits import BuyLimitsBody


class DeskVenueBody(WireModel):
    """What an agent has on a real venue: play USDC. `reserved` is kept by open buys.

    `to_redeem` is won and not paid out yet; the P&L counts it as realized.
    """

    venue: AnyVenue
    cash: Amount
    reserved: Amount
    equity: Amount
    pnl: Money
    positions_count: Count
    orders_count: Count
    to_redeem: Amount = 0.0


class DeskAgentBody(WireModel):
    """One agent as its operator sees it. Money in $SIM; today begins at midnight UTC.

    `equity` and `pnl_total` are by the mark, `exit_equity` and `pnl_today` by what selling all
    would bring now: one's own price impact is no gain.

    `venues` are the real ones on which it has traded or has orders.
    """

    agent_id: Line
    name: Line
    description: Line = ""
    status: AgentStatus
    plan: Plan
    claimed: bool
    claim_url: Line
    trading_paused: bool
    suspended: bool
    cash: Amount
    equity: Amount
    exit_equity: Amount | None = None
    pnl_total: Money
    pnl_today: Money
    positions_count: Count
    trades_count: Count
    last_trade_at: Moment | None = None
    created_at: Moment
    sdk_version: Line | None = None
    # The agent by which the person at the console trades.
    is_own: bool = False
    # ours: who exits at a breach: the service, or with an external wallet the client.
    wallet: WalletKind = WalletKind.MANAGED
    rails: BuyLimitsBody | None = None
    # ours: sales and payouts that won or lost on sim, and money of all buys since midnight UTC.
    wins: Count = 0
    losses: Count = 0
    spent_today: Amount = 0.0
    venues: tuple[DeskVenueBody, ...] = ()
    retired: bool = False
    # ours: the person whose agent it is, empty for nobody's.
    owner: Line = ""


class AccountBody(WireModel):
    """The account of the person who asks. `plan` is what new agents get.

    What is nobody's counts for the owner, whose `agents_max` is that of the world where the service
    was started with one. The console's own agent is none of those that are counted, nor are those
    that are retired.
    """

    plan: Plan
    agents_count: Count
    agents_max: Count


class AccountPatch(OperatorModel):
    """Another plan for new agents, and on request for those that are here already."""

    plan: Plan | None = None
    all_agents: bool = False


class DeskAgentsBody(WireModel):
    """All agents in the order of their registration, and the account they belong to."""

    agents: tuple[DeskAgentBody, ...]
    account: AccountBody


class DeskAgentPatch(OperatorModel):
    """What the operator may change of an agent; null leaves it as it is."""

    name: Annotated[SentLine, StringConstraints(min_length=1)] | None = None
    plan: Plan | None = None
    trading_paused: bool | None = None
    suspended: bool | None = None
    # ours: suspended, and out of the plan's count of agents; false takes it back into a free slot.
    retired: bool | None = None
    # ours: a rehearsal of an external wallet, until one is linked.
    wallet: WalletKind | None = None


class ClaimCodeBody(WireModel):
    """The code that the claim page asks for. It is good once, and void after `tries` misses."""

    agent_id: Line
    code: Line
    claim_url: Line
    expires_at: Moment
    tries: Count


class NewKeyBody(WireModel):
    """The only answer that ever carries the agent's new key."""

    agent_id: Line
    api_key: str = Field(repr=False)
    key_prefix: Line
