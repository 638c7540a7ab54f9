"""Events of wallets and of the chain from JSON, and their part of the snapshot."""

from collections.abc import Callable
from dataclasses import asdict
from typing import Any, Final

from service_tui.engine.chain.chain import Chain, ChainPace, Tx, Wallet
from service_tui.engine.chain_events import (
    CallKind,
    CallPaid,
    ChainCall,
    ChainEvent,
    ChainSet,
    CredentialsKept,
    OrderSigned,
    PlannedOutcome,
    TxMined,
    TxSent,
    TxStatus,
    WalletFilled,
    WalletLinked,
)

Fields = list[Any]
"""A record's fields in order, as decoded from JSON and not typed yet."""

Named = dict[str, Any]
"""A record's fields by name, as decoded from JSON and not typed yet."""


def _call_of(row: Fields) -> ChainCall:
    kind, condition, numbers, *rest = row
    return ChainCall(CallKind(kind), condition, tuple(numbers), *rest)


def sent_of(fields: Fields) -> TxSent:
    """The event of a sent transaction from its fields."""
    known: Fields = [
        *fields[:6],
        _call_of(fields[6]),
        *fields[7:10],
        PlannedOutcome(fields[10]),
        *fields[11:],
    ]
    return TxSent(*known)


def mined_of(fields: Fields) -> TxMined:
    """The event of a mined transaction from its fields."""
    known: Fields = [*fields[:3], TxStatus(fields[3]), *fields[4:]]
    return TxMined(*known)


def pace_of(changes: Named) -> Named:
    """Fields of `ChainPace` with their types."""
    kinds: dict[str, Callable[[Any], object]] = {
        "faults": lambda rows: tuple(PlannedOutcome(row) for row in rows)
    }
    return {name: kinds.get(name, lambda as_is: as_is)(value) for name, value in changes.items()}


def _set_of(fields: Fields) -> ChainSet:
    at, changes = fields
    return ChainSet(at, pace_of(changes))


CHAIN_DECODERS: Final[dict[str, Callable[[Fields], ChainEvent]]] = {
    "wallet": lambda fields: WalletLinked(*fields),
    "wallet_fill": lambda fields: WalletFilled(*fields),
    "credentials": lambda fields: CredentialsKept(*fields),
    "signed": lambda fields: OrderSigned(*fields),
    "tx": sent_of,
    "tx_mined": mined_of,
    "chain": _set_of,
    "paid": lambda fields: CallPaid(*fields),
}
"""Decoders by the name of an event's kind in the journal."""


def chain_fields(chain: Chain) -> Named:
    """The chain's part of the snapshot: everything but the ledger."""
    return {
        "pace": asdict(chain.pace),
        "wallets": [
            asdict(wallet) | {"approvals": sorted(wallet.approvals)}
            for wallet in chain.wallets.values()
        ],
        "linked": chain.linked,
        "txs": [[tx.sent, tx.mined] for tx in chain.txs.values()],
        "hashes": chain.hashes,
        "paid": chain.paid,
    }


def restore_chain(chain: Chain, fields: Named | None) -> None:
    """Fill the chain from a snapshot; an old snapshot has none (None) and changes nothing."""
    if fields is None:
        return
    chain.pace = ChainPace(**pace_of(fields["pace"]))
    for row in fields["wallets"]:
        wallet = Wallet(**(row | {"approvals": set(row["approvals"])}))
        chain.wallets[wallet.address.lower()] = wallet
    chain.linked = dict(fields["linked"])
    for sent, mined in fields["txs"]:
        tx = Tx(sent_of(sent), None if mined is None else mined_of(mined))
        chain.txs[tx.sent.tx_hash] = tx
    chain.hashes = {agent_id: dict(own) for agent_id, own in fields["hashes"].items()}
    chain.paid = dict(fields["paid"])
