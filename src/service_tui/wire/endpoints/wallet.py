"""The endpoints of wallets, credentials, redemption and the chain.

`endpoints` lists them with the others.
"""

from typing import Final

from service_tui.terms import PersonRole
from service_tui.wire import chain, redemption, wallet
from service_tui.wire.endpoint import DESK, SDK, Endpoint

WALLET = Endpoint(
    "GET",
    f"{SDK}/wallet",
    wallet.WalletBody,
    summary="The wallet, what is in it, and what real trades still need",
)
LINK_CHALLENGE = Endpoint(
    "GET",
    f"{SDK}/wallet/link/challenge",
    wallet.ChallengeBody,
    query=wallet.ChallengeQuery,
    summary="A text whose signature proves that a wallet is the caller's",
)
LINK_WALLET = Endpoint(
    "POST",
    f"{SDK}/wallet/link",
    wallet.LinkBody,
    request=wallet.LinkRequest,
    summary="Link an external wallet by its signature of the challenge",
)
UNLINK_WALLET = Endpoint(
    "POST", f"{SDK}/wallet/unlink", wallet.LinkBody, summary="Go back to the managed wallet"
)
CHECK_CREDENTIALS = Endpoint(
    "GET",
    f"{SDK}/wallet/credentials/check",
    wallet.CredentialsCheckBody,
    summary="Whether the service has the venue's credentials of the linked wallet",
)
POST_CREDENTIALS = Endpoint(
    "POST",
    f"{SDK}/wallet/credentials",
    wallet.CredentialsBody,
    request=wallet.CredentialsRequest,
    summary="Hand over credentials that the client has derived",
)
DERIVE_CREDENTIALS = Endpoint(
    "POST",
    f"{SDK}/wallet/credentials/derive-via-proxy",
    wallet.CredentialsBody,
    request=wallet.DeriveRequest,
    summary="Have credentials derived from signed headers",
)
ALLOWANCES = Endpoint(
    "GET",
    "/api/polymarket/allowances/{address}",
    wallet.AllowancesBody,
    query=wallet.AllowancesQuery,
    summary="Which approvals an address has given to the venue's contracts",
)
CHAIN_RPC = Endpoint(
    "POST",
    "/api/rpc/polygon",
    chain.RpcBody,
    request=chain.RpcRequest,
    summary="Ask the chain: gas, nonce, balance, receipt, a call without effect",
)
BROADCAST = Endpoint(
    "POST",
    f"{SDK}/wallet/broadcast-tx",
    chain.BroadcastBody,
    request=chain.BroadcastRequest,
    summary="Relay a signed redemption or approval to the chain",
)
REDEEM = Endpoint(
    "POST",
    f"{SDK}/redeem",
    redemption.RedeemBody,
    request=redemption.RedeemRequest,
    summary="Redeem a winning side: done for a managed wallet, else what is to be signed",
)
REPORT_REDEMPTION = Endpoint(
    "POST",
    f"{SDK}/redeem/report",
    redemption.ReportBody,
    request=redemption.ReportRequest,
    summary="Say that the redemption is on the chain",
)
REDEMPTIONS = Endpoint(
    "GET",
    f"{SDK}/redemptions",
    redemption.RedemptionsBody,
    query=redemption.RedemptionsQuery,
    summary="Every position on its way to money, by the state it is in",
)
DESK_CHAIN = Endpoint(
    "GET", f"{DESK}/chain", chain.ChainBody, role=PersonRole.OBSERVER, summary="The simulated chain"
)
DESK_PATCH_CHAIN = Endpoint(
    "PATCH",
    f"{DESK}/chain",
    chain.ChainBody,
    request=chain.ChainPatch,
    role=PersonRole.SUPERVISOR,
    summary="Make the simulated chain slow, dear or failing, for a rehearsal",
)
DESK_PATCH_WALLET = Endpoint(
    "PATCH",
    f"{DESK}/agents/{{agent_id}}/wallet",
    wallet.WalletBody,
    request=wallet.DeskWalletPatch,
    role=PersonRole.SUPERVISOR,
    summary="Fill or empty an agent's simulated wallet, or restrict it",
)
DESK_REDEEM = Endpoint(
    "POST",
    f"{DESK}/agents/{{agent_id}}/redeem",
    redemption.RedeemBody,
    request=redemption.RedeemRequest,
    role=PersonRole.TRADER,
    summary="Redeem by hand what its venue redeems on its own page only",
)

ALL_WALLET: Final = (
    WALLET,
    LINK_CHALLENGE,
    LINK_WALLET,
    UNLINK_WALLET,
    CHECK_CREDENTIALS,
    POST_CREDENTIALS,
    DERIVE_CREDENTIALS,
    ALLOWANCES,
    CHAIN_RPC,
    BROADCAST,
    REDEEM,
    REPORT_REDEMPTION,
    REDEMPTIONS,
    DESK_CHAIN,
    DESK_PATCH_CHAIN,
    DESK_PATCH_WALLET,
    DESK_REDEEM,
)
"""Every one of them."""
