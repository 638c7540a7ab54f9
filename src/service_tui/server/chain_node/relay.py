"""The relay: which signed transactions are passed on to the simulated chain.

Source: interface, "Redemption flow": it rejects what goes to no known redemption contract. The
approvals of the wire reference, 6.5, pass as well.
"""

from functools import cache
from typing import Final, NamedTuple

from service_tui.engine.chain.chain import GWEI, Tx, Wallet, gas_of
from service_tui.engine.chain_events import (
    CallKind,
    ChainCall,
    PlannedOutcome,
    TxMined,
    TxSent,
    TxStatus,
)
from service_tui.engine.events import Event
from service_tui.engine.world import World
from service_tui.signing.approvals import approvals
from service_tui.signing.book import CHAIN_ID, POLYGON, ExchangeVersion
from service_tui.signing.calls import (
    ZERO_32,
    Approve,
    Call,
    RedeemNegRisk,
    RedeemPositions,
    SetApprovalForAll,
    decode_call,
)
from service_tui.signing.errors import MalformedError, OtherTypeError
from service_tui.signing.transactions import SignedTransaction, decode_transaction, hash_of
from service_tui.units import Micros, Timestamp

GAS_MAX: Final = 1_500_000
"""Source: decisions, "Redemption targets"."""

BUMP: Final = 110
"""Percent of the old fee that a replacement must offer. Source: what nodes ask."""


class Refused(NamedTuple):
    """Why a transaction was not passed on."""

    code: str
    error: str
    fix: str
    retryable: bool = False


class Taken(NamedTuple):
    """A transaction that the chain has now, or had before; the events are applied."""

    tx: Tx
    events: tuple[Event, ...] = ()


SIGN_AGAIN: Final = "request the transaction again, and sign exactly that"


@cache
def approval_keys(exchange: ExchangeVersion) -> tuple[str, ...]:
    """The approvals without which nothing can be traded, by their names."""
    # ours: native USDC has approvals of its own in the list, but the venue takes none of it.
    return tuple(one.key for one in approvals(POLYGON, exchange) if "native" not in one.key)


def order_keys(exchange: ExchangeVersion) -> tuple[str, ...]:
    """The approvals that orders on the venue need: those of its exchanges."""
    adapters = (POLYGON.neg_risk_adapter, POLYGON.collateral_adapter)
    others = tuple(one.lower() for one in (*adapters, POLYGON.neg_risk_collateral_adapter))
    return tuple(key for key in approval_keys(exchange) if not key.endswith(others))


ADAPTER_KEY: Final = f"ctf_{POLYGON.neg_risk_adapter.lower()}"


def relay(world: World, agent_id: str, signed_tx: str, at: Timestamp) -> Taken | Refused:
    """Pass a signed transaction on to the chain, or refuse it with a reason."""
    try:
        signed = decode_transaction(signed_tx)
    except MalformedError as error:
        kind = "WRONG_TYPE" if isinstance(error, OtherTypeError) else "MALFORMED"
        return Refused(
            kind, str(error), "sign a type 2 transaction, and send 0x and its hex digits"
        )
    known = world.chain.txs.get(signed.tx_hash)
    if known is not None and known.status is not TxStatus.DROPPED:
        # The same bytes again: nothing is carried out twice.
        return Taken(known) if known.sent.agent_id == agent_id else _of_others()
    call = _call_of(signed)
    if isinstance(call, Refused):
        return call
    wallet = world.chain.wallet_of(agent_id)
    if wallet is None or signed.sender.lower() != wallet.address.lower():
        return _of_others()
    return _fees(world, signed, wallet) or _take(world, signed, call, (wallet, at))


def _of_others() -> Refused:
    return Refused(
        "WRONG_SIGNER",
        "the transaction is not signed by the wallet that is linked to this account",
        "link the wallet first, or sign with its key",
    )


def _call_of(signed: SignedTransaction) -> ChainCall | Refused:
    """The call of a transaction, if it is an allowed one."""
    tx = signed.transaction
    for is_wrong, code, why, fix in (
        (
            tx.chain_id != CHAIN_ID,
            "WRONG_CHAIN",
            f"chain {tx.chain_id} is not {CHAIN_ID}",
            "",
        ),
        (
            tx.value != 0,
            "WRONG_VALUE",
            "the transaction moves POL",
            "sign it with value 0",
        ),
        (
            tx.gas > GAS_MAX,
            "GAS_TOO_HIGH",
            f"more than {GAS_MAX} gas",
            "estimate the gas again",
        ),
    ):
        if is_wrong:
            return Refused(code, why, fix or SIGN_AGAIN)
    try:
        found = chain_call(tx.to, decode_call(tx.data))
    except MalformedError as error:
        return Refused("WRONG_CALL", str(error), SIGN_AGAIN)
    why = f"{tx.to} is no known redemption contract for this call"
    return found or Refused("WRONG_TARGET", why, SIGN_AGAIN)


def chain_call(to: str, call: Call) -> ChainCall | None:
    """A call as the chain carries it out; None where that contract takes no such call from here."""
    match call:
        case RedeemPositions() if to == POLYGON.conditional_tokens:
            plain = call.parent_collection_id == ZERO_32 and call.collateral == POLYGON.usdc_bridged
            sets = call.index_sets if plain else ()
            return ChainCall(CallKind.REDEEM, "0x" + call.condition_id.hex(), sets)
        case RedeemNegRisk() if to == POLYGON.neg_risk_adapter:
            condition = "0x" + call.condition_id.hex()
            return ChainCall(CallKind.REDEEM_ADAPTER, condition, call.amounts, operator=ADAPTER_KEY)
        case Approve() | SetApprovalForAll():
            return _approval(to, call)
        case _:
            return None


def _approval(to: str, call: Approve | SetApprovalForAll) -> ChainCall | None:
    """An approval of the list, and in full: the largest amount, or all tokens."""
    for exchange in ExchangeVersion:
        for one in approvals(POLYGON, exchange):
            if (one.to, one.call) == (to, call):
                return ChainCall(CallKind.APPROVE, approval=one.key)
    return None


def _fees(world: World, signed: SignedTransaction, wallet: Wallet) -> Refused | None:
    """Whether gas and nonce are such that a node would take it."""
    tx, chain = signed.transaction, world.chain
    if tx.max_fee < chain.pace.gas_price or tx.max_priority_fee > tx.max_fee:
        price = chain.pace.gas_price / GWEI
        why = f"gas costs {price:g} gwei now"
        return Refused("UNDERPRICED", why, "raise maxFeePerGas", retryable=True)
    if tx.cost_max > wallet.gas:
        return Refused(
            "INSUFFICIENT_GAS",
            "insufficient funds for gas: the wallet has too little POL",
            "send a little POL to the wallet",
            retryable=True,
        )
    expected, lowest = chain.next_nonce(wallet.address), wallet.nonce
    if not lowest <= tx.nonce <= expected:
        word = "low" if tx.nonce < lowest else "high"
        return Refused(
            "WRONG_NONCE",
            f"nonce too {word}: the next one is {expected}",
            "request the pending transaction count and sign again",
        )
    old = _replaced(world, wallet.address, tx.nonce)
    if old is not None and tx.max_fee * 100 < old.sent.max_fee * BUMP:
        return Refused(
            "UNDERPRICED",
            "replacement transaction underpriced",
            "offer at least a tenth more, or wait for the first one",
        )
    return None


def _replaced(world: World, address: str, nonce: int) -> Tx | None:
    return next((tx for tx in world.chain.pending(address) if tx.sent.nonce == nonce), None)


def _take(
    world: World, signed: SignedTransaction, call: ChainCall, whose: tuple[Wallet, Timestamp]
) -> Taken:
    """Put it among those that wait for their block."""
    wallet, at = whose
    tx, chain = signed.transaction, world.chain
    old = _replaced(world, wallet.address, tx.nonce)
    events: list[Event] = []
    if old is not None:
        gone = (old.sent.tx_hash, wallet.agent_id, at, TxStatus.DROPPED, 0, 0, 0, Micros(0))
        events += world.note(TxMined(*gone, "replaced by another of the same nonce"))
    pace = chain.pace
    events += world.note(
        TxSent(
            tx_hash=hash_of(signed.raw),
            agent_id=wallet.agent_id,
            at=at,
            sender=wallet.address,
            nonce=tx.nonce,
            to=tx.to,
            call=call,
            gas=tx.gas,
            max_fee=tx.max_fee,
            due=chain.block_at(at) + max(1, pace.delay_blocks),
            planned=pace.faults[0] if pace.faults else PlannedOutcome.OK,
            replaces="" if old is None else old.sent.tx_hash,
        )
    )
    return Taken(chain.txs[signed.tx_hash], tuple(events))


def gas_needed(world: World) -> int:
    """Wei that a redemption needs in the wallet: gas with 30 % to spare, at twice the price."""
    return gas_of(ChainCall(CallKind.REDEEM)) * 13 // 10 * 2 * world.chain.pace.gas_price
