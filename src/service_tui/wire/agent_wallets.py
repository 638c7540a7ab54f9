"""Bodies of agents' wallets and of deposit wallets (none here). Wire reference, 2.5."""

from pydantic import Field

from service_tui.wire.base import Count, Identifier, LenientModel, Line, Money, WireModel
from service_tui.wire.sol_trades import SIGNED_MAX


class AgentWalletBody(LenientModel):
    """The wallet that one agent trades with."""

    id: Line
    agent_id: Line
    wallet_address: Line | None = None
    approvals_set: bool = False
    agent_name: Line = ""
    # ours: who holds its key.
    wallet_ownership: Line = ""


class AgentWalletsBody(LenientModel):
    """Wallets that the caller may see: its own."""

    wallets: tuple[AgentWalletBody, ...] = ()


class AgentWalletRequest(WireModel):
    """Registration of a wallet; what it names is not looked at, for the answer is always no."""

    agent_id: Identifier | None = None


class AgentWalletPnlBody(LenientModel):
    """P&L of one agent by venue, each in its own money."""

    agent_id: Line
    wallet_address: Line | None = None
    sim_pnl: Money = 0.0
    polymarket_pnl: Money = 0.0
    kalshi_pnl: Money = 0.0
    trades_count: Count = 0


class DepositWalletRequest(WireModel):
    """Anything: the embedded chain has no deposit wallets, and the answer reports it."""

    combo: bool = False
    signature: str | None = Field(default=None, max_length=SIGNED_MAX, repr=False)


class DepositWalletBody(LenientModel):
    """Never sent: the refusal stands in its place."""

    success: bool = False
