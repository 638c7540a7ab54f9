"""Endpoints of agents' wallets and of deposit wallets. Source: wire reference, 2.5."""

from typing import Final

from service_tui.terms import Plan
from service_tui.wire import agent_wallets
from service_tui.wire.endpoint import SDK, Endpoint

USER_WALLET: Final = "/api/user/wallet"
_AGENT_WALLET: Final = "/api/user/agent/{agent_id}/wallet"

AGENT_WALLETS = Endpoint(
    "GET",
    f"{SDK}/agent-wallets",
    agent_wallets.AgentWalletsBody,
    plan=Plan.ELITE,
    summary="The wallet that the agent trades with",
)
REGISTER_AGENT_WALLET = Endpoint(
    "POST",
    f"{SDK}/agent-wallet/register",
    agent_wallets.AgentWalletBody,
    request=agent_wallets.AgentWalletRequest,
    plan=Plan.ELITE,
    refuses=410,
    summary="Refused: such wallets are not registered any more",
)
UPDATE_AGENT_CREDS = Endpoint(
    "POST",
    f"{SDK}/agent-wallet/update-creds",
    agent_wallets.AgentWalletBody,
    request=agent_wallets.AgentWalletRequest,
    plan=Plan.ELITE,
    refuses=409,
    summary="Refused: credentials go to /wallet/credentials",
)
AGENT_WALLET_PNL = Endpoint(
    "GET",
    f"{SDK}/agent-wallet/{{agent_id}}/pnl",
    agent_wallets.AgentWalletPnlBody,
    plan=Plan.ELITE,
    summary="P&L of the agent by venue",
)


def _deposit(path: str) -> "Endpoint[agent_wallets.DepositWalletBody]":
    return Endpoint(
        "POST",
        path,
        agent_wallets.DepositWalletBody,
        request=agent_wallets.DepositWalletRequest,
        bodyless=True,
        refuses=409,
        summary="Refused: the embedded chain has no deposit wallets",
    )


DW_PREPARE = _deposit(f"{USER_WALLET}/external/dw-approvals/prepare")
DW_SUBMIT = _deposit(f"{USER_WALLET}/external/dw-approvals/submit")
AGENT_DW_PREPARE = _deposit(f"{_AGENT_WALLET}/external/dw-approvals/prepare")
AGENT_DW_SUBMIT = _deposit(f"{_AGENT_WALLET}/external/dw-approvals/submit")
UPGRADE_TO_DW = _deposit(f"{USER_WALLET}/external-upgrade-to-deposit-wallet")
WRAP_PREPARE = _deposit(f"{USER_WALLET}/wrap-on-dw/external/prepare")
WRAP_SUBMIT = _deposit(f"{USER_WALLET}/wrap-on-dw/external/submit")

ALL_AGENT_WALLETS: Final = (
    AGENT_WALLETS,
    REGISTER_AGENT_WALLET,
    UPDATE_AGENT_CREDS,
    AGENT_WALLET_PNL,
    DW_PREPARE,
    DW_SUBMIT,
    AGENT_DW_PREPARE,
    AGENT_DW_SUBMIT,
    UPGRADE_TO_DW,
    WRAP_PREPARE,
    WRAP_SUBMIT,
)
"""Every endpoint of agents' wallets and of deposit wallets."""
