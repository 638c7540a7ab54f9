"""Routes of agents' wallets; calls about deposit wallets are refused, as there are none."""

from typing import Final, NoReturn

from service_tui.server.http.refusals import Denied, denied
from service_tui.server.http.service import RequestContext, Routes
from service_tui.server.projections.present import OWNERSHIP, agent_pnl, wallet_address
from service_tui.server.projections.wallet import wallet_body
from service_tui.terms import Venue
from service_tui.units import Micros, decimal
from service_tui.wire.agent_wallets import (
    AgentWalletBody,
    AgentWalletPnlBody,
    AgentWalletsBody,
)
from service_tui.wire.base import WireModel
from service_tui.wire.endpoints.agent_wallets import (
    AGENT_DW_PREPARE,
    AGENT_DW_SUBMIT,
    AGENT_WALLET_PNL,
    AGENT_WALLETS,
    DW_PREPARE,
    DW_SUBMIT,
    REGISTER_AGENT_WALLET,
    UPDATE_AGENT_CREDS,
    UPGRADE_TO_DW,
    WRAP_PREPARE,
    WRAP_SUBMIT,
)


async def read(request: RequestContext) -> AgentWalletsBody:
    """The wallet of the calling agent."""
    # ours: an agent's key sees its own agent alone.
    world, agent = request.world, request.agent
    wallet = wallet_body(world, agent, request.service.exchange)
    row = AgentWalletBody(
        id=agent.agent_id,
        agent_id=agent.agent_id,
        wallet_address=wallet.wallet_address,
        approvals_set=wallet.approvals_set,
        agent_name=agent.settings.name,
        wallet_ownership=OWNERSHIP[agent.settings.wallet],
    )
    return AgentWalletsBody(wallets=(row,))


async def register(request: RequestContext) -> WireModel:
    """Refuse: such wallets are not registered any more. Source: wire reference, 2.5."""
    del request
    raise denied(
        410,
        "wallets of agents are not registered any more",
        "link the agent's own wallet: GET /api/sdk/wallet/link/challenge, then POST "
        "/api/sdk/wallet/link",
    )


async def update_creds(request: RequestContext) -> WireModel:
    """Refuse: an agent's credentials have one way in."""
    del request
    raise denied(
        409,
        "the credentials of an agent's wallet are not updated here",
        "send them to POST /api/sdk/wallet/credentials with the agent's own key",
    )


async def pnl(request: RequestContext) -> AgentWalletPnlBody:
    """P&L of the calling agent, by venue."""
    world, agent = request.world, request.agent
    if request.path["agent_id"] != agent.agent_id:
        raise _unknown_agent()
    times = (request.now, world.world_at)

    def on(venue: Venue) -> float:
        account = world.venues.account(agent.agent_id, venue)
        return decimal(Micros(account.realized + world.venues.unrealized(account, times)))

    return AgentWalletPnlBody(
        agent_id=agent.agent_id,
        wallet_address=wallet_address(world, agent),
        sim_pnl=decimal(agent_pnl(world, agent)),
        polymarket_pnl=on(Venue.EVM),
        kalshi_pnl=on(Venue.SOL),
        trades_count=agent.trades_count
        + sum(
            world.venues.account(agent.agent_id, venue).trades_count
            for venue in (Venue.EVM, Venue.SOL)
        ),
    )


def _unknown_agent() -> Denied:
    return denied(404, "agent not found", "a key sees its own agent alone")


async def no_deposit_wallet(request: RequestContext) -> WireModel:
    """Refuse: the embedded chain has no deposit wallets."""
    agent_id = request.path.get("agent_id")
    if agent_id is not None and agent_id != request.agent.agent_id:
        raise _unknown_agent()
    _refuse_deposit_wallet()


def _refuse_deposit_wallet() -> NoReturn:
    raise denied(
        409,
        "the embedded chain has no deposit wallets; nothing was changed",
        "trade with the managed wallet, or link an external one: its approvals are those of GET "
        "/api/sdk/wallet",
    )


ROUTES: Final[Routes] = {
    AGENT_WALLETS: read,
    REGISTER_AGENT_WALLET: register,
    UPDATE_AGENT_CREDS: update_creds,
    AGENT_WALLET_PNL: pnl,
    DW_PREPARE: no_deposit_wallet,
    DW_SUBMIT: no_deposit_wallet,
    AGENT_DW_PREPARE: no_deposit_wallet,
    AGENT_DW_SUBMIT: no_deposit_wallet,
    UPGRADE_TO_DW: no_deposit_wallet,
    WRAP_PREPARE: no_deposit_wallet,
    WRAP_SUBMIT: no_deposit_wallet,
}
