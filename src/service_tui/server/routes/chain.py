"""Routes of the simulated chain: node calls (JSON-RPC), the relay, and the operator's controls.

The operator can slow the chain down, change its gas price, let transactions fail, and fill or empty
a linked wallet.
"""

from typing import Final

from pydantic import JsonValue

from service_tui.engine.chain.chain import GWEI, WEI, pace_changes
from service_tui.engine.chain_events import ChainSet, PlannedOutcome, WalletFilled
from service_tui.engine.tick import redeem_due
from service_tui.loading import imported
from service_tui.server.chain_node.node import RpcFault, answer
from service_tui.server.chain_node.relay import Refused, relay
from service_tui.server.http.refusals import denied, sent_micros
from service_tui.server.http.service import ETHEREUM, RequestContext, Routes
from service_tui.server.projections.wallet import chain_body, wallet_body
from service_tui.wire.chain import (
    BroadcastBody,
    BroadcastRequest,
    ChainBody,
    ChainPatch,
    RpcBody,
    RpcErrorBody,
    RpcRequest,
)
from service_tui.wire.endpoints.wallet import (
    BROADCAST,
    CHAIN_RPC,
    DESK_CHAIN,
    DESK_PATCH_CHAIN,
    DESK_PATCH_WALLET,
)
from service_tui.wire.wallet import DeskWalletPatch, WalletBody


async def settle(request: RequestContext) -> None:
    """Advance the chain to now, so that no caller reads an older block."""
    request.service.world_store.check_whole()
    await request.service.world_store.commit(redeem_due(request.world, request.now))


async def call(request: RequestContext) -> RpcBody:
    """One JSON-RPC call; an error of the protocol is returned in the body, not raised."""
    await imported(ETHEREUM)
    body = request.body_as(RpcRequest)
    await settle(request)
    params: tuple[JsonValue, ...] = body.params
    try:
        result = answer(request.world, body.method, params, request.now)
    except RpcFault as fault:
        error = RpcErrorBody(code=fault.code, message=fault.message)
        return RpcBody(id=body.id, error=error)
    return RpcBody(id=body.id, result=result)


async def broadcast(request: RequestContext) -> BroadcastBody:
    """Relay a redemption or approval of the linked wallet; the same bytes again change nothing."""
    await imported(ETHEREUM)
    await settle(request)
    signed_tx = request.body_as(BroadcastRequest).signed_tx
    taken = relay(request.world, request.agent.agent_id, signed_tx, request.now)
    if isinstance(taken, Refused):
        return BroadcastBody(
            success=False,
            error=taken.error,
            error_code=taken.code,
            retryable=taken.retryable,
            fix=taken.fix,
            simulated=True,
        )
    await request.service.world_store.commit(taken.events)
    return BroadcastBody(
        success=True,
        tx_hash=taken.tx.sent.tx_hash,
        status=taken.tx.status.value,
        simulated=True,
    )


async def read_chain(request: RequestContext) -> ChainBody:
    """The simulated chain: its block, pace, gas price and planned faults."""
    return chain_body(request.world, request.now)


async def write_chain(request: RequestContext) -> ChainBody:
    """Set block time, gas price, delay and faults; each next transaction takes one fault."""
    patch = request.body_as(ChainPatch)
    await settle(request)
    changes: dict[str, object] = {}
    if patch.block_s is not None:
        changes["block_s"] = patch.block_s
    if patch.gas_price_gwei is not None:
        changes["gas_price"] = round(patch.gas_price_gwei * GWEI)
    if patch.delay_blocks is not None:
        changes["delay_blocks"] = patch.delay_blocks
    if patch.faults is not None:
        changes["faults"] = tuple(PlannedOutcome(word) for word in patch.faults)
    if changes:
        event = ChainSet(request.now, pace_changes(request.world.chain, changes, request.now))
        await request.write(request.world.note(event))
    return chain_body(request.world, request.now)


async def write_wallet(request: RequestContext) -> WalletBody:
    """Set the balances of an agent's linked wallet, or restrict it at the venue.

    Returns:
        The wallet.

    Raises:
        Denied: 409 if no wallet is linked.
    """
    agent = request.world.agent(request.path["agent_id"])
    patch = request.body_as(DeskWalletPatch)
    await settle(request)
    wallet = request.world.chain.wallet_of(agent.agent_id)
    if wallet is None:
        fix = "link a wallet first; a managed one needs nothing"
        raise denied(409, "this agent has no linked wallet", fix)
    changes: dict[str, int] = {}
    if patch.gas is not None:
        changes["gas"] = round(patch.gas * WEI)
    if patch.restricted is not None:
        changes["restricted"] = int(patch.restricted)
    for name, field in (("pay", "pay_usdc"), ("native_usdc", "native_usdc")):
        value: float | None = getattr(patch, field)
        if value is not None:
            changes[name] = int(sent_micros(("body", field), value))
    if changes:
        event = WalletFilled(agent.agent_id, request.now, wallet.address, changes)
        await request.write(request.world.note(event))
    return wallet_body(request.world, agent, request.service.exchange)


ROUTES: Final[Routes] = {
    CHAIN_RPC: call,
    BROADCAST: broadcast,
    DESK_CHAIN: read_chain,
    DESK_PATCH_CHAIN: write_chain,
    DESK_PATCH_WALLET: write_wallet,
}
