"""Redemption: a managed wallet's at once, an external one's in three steps."""

from typing import Final

from service_tui.addresses import keccak256
from service_tui.engine.agents.agents import Agent
from service_tui.engine.books.catalogue import condition_of
from service_tui.engine.books.venues import VenuePosition
from service_tui.engine.chain.chain import Tx, Wallet
from service_tui.engine.chain.redemption import (
    AccountPosition,
    check_chain,
    found_in,
    mark_redeemed,
    mark_what_is_gone,
    paying,
    redeem,
)
from service_tui.engine.chain_events import TxStatus
from service_tui.engine.errors import (
    AlreadyRedeemed,
    ApprovalMissing,
    InsufficientGas,
    NotLinked,
    Refusal,
)
from service_tui.engine.events import Event
from service_tui.engine.transitions import PositionState
from service_tui.engine.world import World
from service_tui.loading import imported
from service_tui.server.chain_node.relay import ADAPTER_KEY, GAS_MAX, gas_needed
from service_tui.server.http.service import ETHEREUM, RequestContext, Routes
from service_tui.server.projections.wallet import STATES, redemptions_body, with_redeemed
from service_tui.server.results.by_source import redeemed_of
from service_tui.server.routes.chain import settle
from service_tui.signing.book import POLYGON
from service_tui.signing.calls import (
    ZERO_32,
    RedeemNegRisk,
    RedeemPositions,
    encode_call,
)
from service_tui.terms import Side, Venue, WalletKind
from service_tui.units import Micros, decimal, sum_of
from service_tui.wire.chain import CHAIN_ID, UnsignedTxBody
from service_tui.wire.endpoints.wallet import DESK_REDEEM, REDEEM, REDEMPTIONS, REPORT_REDEMPTION
from service_tui.wire.redemption import (
    RedeemBody,
    RedeemRequest,
    RedemptionsBody,
    RedemptionsQuery,
    ReportBody,
    ReportRequest,
)

GAS: Final = 300_000
"""Where nobody estimates. Source: wire reference, 6.6."""


async def start(request: RequestContext) -> RedeemBody:
    """Redeem a paying side; an external wallet gets what it has to sign. A no is an answer."""
    sent = request.body_as(RedeemRequest)
    await settle(request)
    try:
        return await _redeemed(request, request.agent, sent, by_hand=False)
    except Refusal as refusal:
        return _refused(request, sent, refusal)


async def by_operator(request: RequestContext) -> RedeemBody:
    """Redeem what its venue redeems on its own page only: the operator stands for that page."""
    sent = request.body_as(RedeemRequest)
    await settle(request)
    agent = request.world.agent(request.path["agent_id"])
    try:
        return await _redeemed(request, agent, sent, by_hand=True)
    except Refusal as refusal:
        return _refused(request, sent, refusal)


async def _redeemed(
    request: RequestContext, agent: Agent, sent: RedeemRequest, *, by_hand: bool
) -> RedeemBody:
    """What a request comes to.

    Returns:
        The payout of a managed wallet, or the transaction for an external one.

    Raises:
        Refusal: nothing was redeemed.
    """
    if agent.settings.wallet is not WalletKind.MANAGED:
        await imported(ETHEREUM)
    world, side = request.world, sent.side
    times, place = (request.now, world.world_at), (sent.market_id, side)
    found = paying(world.venues, agent, place)
    is_manual = found.account.venue is not Venue.EVM
    if not by_hand:
        check_chain(found.account.venue)
    events = mark_what_is_gone(world.venues, found, side, times)
    if events or not found.holding.on_chain(side):
        await request.write(events)
        raise AlreadyRedeemed("on-chain token balance is 0: already redeemed; marked as claimed")
    if agent.settings.wallet is WalletKind.MANAGED or (by_hand and is_manual):
        events = redeem(world.venues, agent, place, times)
        await request.write(events)
        paid = sum_of(event.payout for event in events)
        return _body(found.holding, sent, paid, tx_hash=own_hash(agent, sent))
    wallet = world.chain.wallet_of(agent.agent_id)
    if wallet is None:
        raise NotLinked("no wallet is linked: link the wallet that signs")
    check_means(world, wallet, found.holding)
    payout = found.holding.payout(side)
    return _body(found.holding, sent, payout, unsigned=unsigned_tx(found, wallet))


def own_hash(agent: Agent, request: RedeemRequest) -> str:
    """The hash of the service's own redemption. # ours: made up, its wallets have no chain."""
    text = f"{agent.agent_id}:{request.market_id}:{request.side.value}"
    return "0x" + keccak256(text.encode()).hex()


def check_means(world: World, wallet: Wallet, holding: VenuePosition) -> None:
    """Refuse what would fail on the chain for want of gas or of an approval."""
    if wallet.gas < gas_needed(world):
        raise InsufficientGas("the wallet has too little POL for gas; auto-redeem is paused")
    if holding.neg_risk and ADAPTER_KEY not in wallet.approvals:
        raise ApprovalMissing("the negative-risk adapter may not move the wallet's tokens")


def unsigned_tx(found: AccountPosition, wallet: Wallet) -> UnsignedTxBody:
    """The redemption that a wallet has to sign. Source: wire reference, 6.6."""
    holding = found.holding
    condition = bytes.fromhex(condition_of(holding.position.market_id)[2:])
    if holding.neg_risk:
        amounts = (int(holding.on_chain(Side.YES)), int(holding.on_chain(Side.NO)))
        to, call = (
            POLYGON.neg_risk_adapter,
            RedeemNegRisk(condition, amounts),
        )
    else:
        to = POLYGON.conditional_tokens
        call = RedeemPositions(POLYGON.usdc_bridged, ZERO_32, condition, (1, 2))
    return UnsignedTxBody(
        to=to,
        data="0x" + encode_call(call).hex(),
        sender=wallet.address,
        gas=min(GAS, GAS_MAX),
        chain_id=CHAIN_ID,
    )


def _body(
    holding: VenuePosition,
    request: RedeemRequest,
    payout: Micros,
    *,
    tx_hash: str | None = None,
    unsigned: UnsignedTxBody | None = None,
) -> RedeemBody:
    return RedeemBody(
        success=True,
        tx_hash=tx_hash,
        unsigned_tx=unsigned,
        market_id=request.market_id,
        side=request.side,
        shares=decimal(holding.position.shares(request.side)),
        payout=decimal(payout),
        lifecycle=STATES[holding.state],
        simulated=True,
    )


def _refused(request: RequestContext, sent: RedeemRequest, refusal: Refusal) -> RedeemBody:
    """The refusal, with the state of the position."""
    agent_id = request.path.get("agent_id") or request.agent.agent_id
    found = found_in(request.world.venues, request.world.agents[agent_id], sent.market_id)
    return RedeemBody(
        success=False,
        error=refusal.error,
        error_code=refusal.code,
        error_hint=refusal.fix,
        fix=refusal.fix,
        retryable=refusal.retryable,
        market_id=sent.market_id,
        side=sent.side,
        lifecycle=None if found is None else STATES[found.holding.state],
        simulated=True,
    )


def progress_of(tx: Tx, holding: VenuePosition, side: Side) -> tuple[str, str]:
    """How far a transaction about a position has brought its redemption: a word and a sentence."""
    if tx.status is not TxStatus.CONFIRMED:
        word = "pending" if tx.status is TxStatus.PENDING else "failed"
        return word, f"the transaction is {tx.status.value}"
    if holding.state is not PositionState.REDEEMED and holding.on_chain(side):
        return "failed", "the tokens are still there: not redeemed"
    return "redeemed", "the position is redeemed"


async def report(request: RequestContext) -> ReportBody:
    """Take note that a redemption is on the chain; the same report again changes nothing."""
    sent = request.body_as(ReportRequest)
    await settle(request)
    world, agent = request.world, request.agent
    tx = world.chain.txs.get(sent.tx_hash.lower())
    found = found_in(world.venues, agent, sent.market_id)
    if tx is None or found is None or not is_about(world, tx, (agent, sent.market_id)):
        return _reported(sent, "unknown", None, "no such redemption was relayed for this market")
    word, message = progress_of(tx, found.holding, sent.side)
    if word != "redeemed":
        return _reported(sent, word, None, message)
    payout = found.holding.brought(sent.side)
    if found.holding.state is not PositionState.REDEEMED:
        receipt = ((request.now, world.world_at), tx.sent.tx_hash)
        event: Event = mark_redeemed(world.venues, found, sent.side, receipt)
        await request.service.world_store.commit((event,))
    return _reported(sent, word, payout, message)


def is_about(world: World, tx: Tx, position: tuple[Agent, str]) -> bool:
    """Whether a transaction is of the agent's linked wallet, and about a market."""
    agent, market_id = position
    is_own = tx.sent.agent_id == agent.agent_id
    is_own = is_own and world.venues.is_linked(agent.agent_id, tx.sent.sender)
    return is_own and tx.sent.call.condition == condition_of(market_id)


def _reported(
    request: ReportRequest, status: str, payout: Micros | None, message: str
) -> ReportBody:
    """The answer to a report; a payout where it is redeemed."""
    done = payout is not None
    return ReportBody(
        success=done,
        market_id=request.market_id,
        side=request.side,
        tx_hash=request.tx_hash,
        status=status,
        payout=decimal(payout or Micros(0)),
        message=message,
        error=None if done else message,
        error_code=None if done else f"REDEMPTION_{status.upper()}",
        retryable=status == "pending",
        fix="" if done else _FIXES[status],
    )


_FIXES: Final = {
    "pending": "report again when the receipt is there",
    "failed": "ask for the redemption again",
    "unknown": "send the hash that broadcast-tx gave",
}


async def read(request: RequestContext) -> RedemptionsBody:
    """Every side of every position on a real venue, by how far it is."""
    await settle(request)
    limit = request.query_as(RedemptionsQuery).limit
    service = request.service
    redeemed = await redeemed_of(service.world_store, service.source_sums, request.agent.agent_id)
    return with_redeemed(redemptions_body(request.world, request.agent, limit), redeemed)


ROUTES: Final[Routes] = {
    REDEEM: start,
    DESK_REDEEM: by_operator,
    REPORT_REDEMPTION: report,
    REDEMPTIONS: read,
}
