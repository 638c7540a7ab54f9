"""Answers JSON-RPC calls from the simulated chain, as a node would."""

import re
from collections.abc import Callable, Sequence
from typing import Final

from pydantic import JsonValue

from service_tui.addresses import checksummed, is_address, keccak256
from service_tui.engine.chain.block_production import CallResult, outcome_of
from service_tui.engine.chain.chain import GWEI, Tx, gas_of
from service_tui.engine.chain_events import ChainCall, PlannedOutcome, TxStatus
from service_tui.engine.world import World
from service_tui.server.chain_node.contract_calls import Reverted, called
from service_tui.server.chain_node.relay import chain_call
from service_tui.signing.book import CHAIN_ID, POLYGON
from service_tui.signing.calls import ZERO_32, decode_call
from service_tui.signing.errors import MalformedError
from service_tui.signing.transactions import bytes_of_hex
from service_tui.units import Timestamp

METHOD_UNKNOWN: Final = -32601
PARAMS_INVALID: Final = -32602
REVERTED: Final = 3
"""Source: JSON-RPC 2.0, and EIP-1474."""

PLAIN_GAS: Final = 21_000

_HASH: Final = re.compile(r"0x[0-9a-fA-F]{64}\Z")
PAYOUT_TOPIC: Final = "0x2682012a4a4f1973119f1c9b90745d1bd91fa2bab387344f044cb3586864d18d"
"""The hash of PayoutRedemption(address,address,bytes32,bytes32,uint256[],uint256)."""

Params = Sequence[JsonValue]


class RpcFault(Exception):
    """An error of JSON-RPC: its code and one sentence."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message


def answer(world: World, method: str, params: Params, at: Timestamp) -> JsonValue:
    """The `result` of a call.

    Args:
        world: the world of the chain, advanced to `at`.
        method: a method of JSON-RPC, such as `eth_call`.
        params: the parameters, unchecked.
        at: wall time.

    Returns:
        The result that a node would return.

    Raises:
        RpcFault: no such method, wrong parameters, or a call that reverts.
    """
    known = _METHODS.get(method)
    if known is None:
        raise RpcFault(METHOD_UNKNOWN, f"the method {method} is not served here")
    return known(world, params, at)


def _chain_id(_: World, __: Params, ___: Timestamp) -> JsonValue:
    return hex(CHAIN_ID)


def _block_number(world: World, _: Params, at: Timestamp) -> JsonValue:
    return hex(world.chain.block_at(at))


def _gas_price(world: World, _: Params, __: Timestamp) -> JsonValue:
    return hex(world.chain.pace.gas_price)


def _tip(_: World, __: Params, ___: Timestamp) -> JsonValue:
    # ours: the tip is a part of the one price that gas has here.
    return hex(30 * GWEI)


def _block(world: World, _: Params, at: Timestamp) -> JsonValue:
    """The newest block, with the fields that fees need."""
    return {
        "number": hex(world.chain.block_at(at)),
        "timestamp": hex(int(at)),
        "baseFeePerGas": hex(world.chain.pace.gas_price),
        "transactions": [],
    }


def _balance(world: World, params: Params, _: Timestamp) -> JsonValue:
    wallet = world.chain.wallet(_address(params, 0))
    return hex(0 if wallet is None else wallet.gas)


def _nonce(world: World, params: Params, _: Timestamp) -> JsonValue:
    address = _address(params, 0)
    if len(params) > 1 and params[1] == "pending":
        return hex(world.chain.next_nonce(address))
    wallet = world.chain.wallet(address)
    return hex(0 if wallet is None else wallet.nonce)


def _call(world: World, params: Params, _: Timestamp) -> JsonValue:
    """`eth_call`: read a contract, or dry-run a redemption or approval; changes nothing."""
    tx = _record(params)
    to, data = _text(tx, "to"), _bytes(tx)
    call = _dry_run(world, tx)
    if call is not None:
        return "0x"
    try:
        return "0x" + called(world, to, data).hex()
    except Reverted as error:
        raise RpcFault(REVERTED, str(error)) from error


def _estimate(world: World, params: Params, _: Timestamp) -> JsonValue:
    tx = _record(params)
    call = _dry_run(world, tx)
    return hex(PLAIN_GAS if call is None else gas_of(call))


def _dry_run(world: World, tx: dict[str, JsonValue]) -> ChainCall | None:
    """Dry-run a transaction.

    Returns:
        The redemption or approval; None for any other call, which changes nothing here.

    Raises:
        RpcFault: it would revert, with the contract's reason.
    """
    try:
        call = chain_call(_text(tx, "to"), decode_call(_bytes(tx)))
    except MalformedError:
        return None
    if call is None or call.approval:
        return call
    sender = tx.get("from")
    outcome = (
        outcome_of(world.chain, world.venues, sender, call)
        if isinstance(sender, str) and is_address(sender)
        else CallResult()
    )
    if outcome.why:
        raise RpcFault(REVERTED, f"execution reverted: {outcome.why}")
    return call


def _receipt(world: World, params: Params, _: Timestamp) -> JsonValue:
    """A receipt; null while the transaction is on its way, lost, or its receipt held back."""
    tx = world.chain.txs.get(_hash(params))
    mined = None if tx is None else tx.mined
    if tx is None or mined is None or mined.status is TxStatus.DROPPED:
        return None
    if tx.sent.planned is PlannedOutcome.WITHHOLD and tx.sent.at >= world.chain.pace.shown_at:
        return None
    return {
        "transactionHash": tx.sent.tx_hash,
        "transactionIndex": "0x0",
        "blockNumber": hex(mined.block),
        "blockHash": "0x" + keccak256(f"block {mined.block}".encode()).hex(),
        "from": tx.sent.sender,
        "to": tx.sent.to,
        "status": "0x1" if mined.status is TxStatus.CONFIRMED else "0x0",
        "gasUsed": hex(mined.gas_used),
        "cumulativeGasUsed": hex(mined.gas_used),
        "effectiveGasPrice": hex(mined.fee // max(1, mined.gas_used)),
        "type": "0x2",
        "contractAddress": None,
        "logs": _logs(tx) if mined.status is TxStatus.CONFIRMED else [],
    }


def _logs(tx: Tx) -> list[JsonValue]:
    """The log of a standard redemption: how much it paid."""
    call, mined = tx.sent.call, tx.mined
    if mined is None or call.approval or tx.sent.to != POLYGON.conditional_tokens:
        return []
    from service_tui.signing import codec  # noqa: PLC0415

    kinds = ("bytes32", "uint256[]", "uint256")
    data = codec.encode_values(
        kinds, (bytes.fromhex(call.condition[2:]), call.numbers, mined.payout)
    )
    topics: list[JsonValue] = [
        PAYOUT_TOPIC,
        "0x" + bytes(12).hex() + tx.sent.sender[2:].lower(),
        "0x" + bytes(12).hex() + POLYGON.usdc_bridged[2:].lower(),
        "0x" + ZERO_32.hex(),
    ]
    return [
        {
            "address": tx.sent.to,
            "topics": topics,
            "data": "0x" + data.hex(),
            "blockNumber": hex(mined.block),
            "transactionHash": tx.sent.tx_hash,
            "logIndex": "0x0",
        }
    ]


def _transaction(world: World, params: Params, _: Timestamp) -> JsonValue:
    tx = world.chain.txs.get(_hash(params))
    if tx is None or tx.status is TxStatus.DROPPED:
        return None
    return {
        "hash": tx.sent.tx_hash,
        "from": tx.sent.sender,
        "to": tx.sent.to,
        "nonce": hex(tx.sent.nonce),
        "gas": hex(tx.sent.gas),
        "maxFeePerGas": hex(tx.sent.max_fee),
        "value": "0x0",
        "type": "0x2",
        "chainId": hex(CHAIN_ID),
        "blockNumber": None if tx.mined is None else hex(tx.mined.block),
    }


_METHODS: Final[dict[str, Callable[[World, Params, Timestamp], JsonValue]]] = {
    "eth_chainId": _chain_id,
    "eth_blockNumber": _block_number,
    "eth_gasPrice": _gas_price,
    "eth_maxPriorityFeePerGas": _tip,
    "eth_getBlockByNumber": _block,
    "eth_getBalance": _balance,
    "eth_getTransactionCount": _nonce,
    "eth_call": _call,
    "eth_estimateGas": _estimate,
    "eth_getTransactionReceipt": _receipt,
    "eth_getTransactionByHash": _transaction,
}


def _invalid(message: str) -> RpcFault:
    return RpcFault(PARAMS_INVALID, message)


def _address(params: Params, index: int) -> str:
    found = params[index] if index < len(params) else None
    if not isinstance(found, str) or not is_address(found):
        raise _invalid("an address is expected")
    return found


def _hash(params: Params) -> str:
    found = params[0] if params else None
    if not isinstance(found, str) or not _HASH.match(found):
        raise _invalid("the hash of a transaction is expected")
    return found.lower()


def _record(params: Params) -> dict[str, JsonValue]:
    found = params[0] if params else None
    if not isinstance(found, dict):
        raise _invalid("a call is expected: from, to, data")
    return found


def _text(tx: dict[str, JsonValue], name: str) -> str:
    found = tx.get(name)
    if not isinstance(found, str) or not is_address(found):
        raise _invalid(f"{name} is an address")
    return checksummed(found)


def _bytes(tx: dict[str, JsonValue]) -> bytes:
    found = tx.get("data", tx.get("input", "0x"))
    try:
        return bytes_of_hex(found) if isinstance(found, str) else b""
    except MalformedError as error:
        raise _invalid("data is 0x and hex digits") from error
