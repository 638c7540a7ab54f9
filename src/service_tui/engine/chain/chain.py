"""A small simulated chain as values: blocks by time, wallets, nonces, gas, transactions.

Tokens and USDC stand where the venue keeps them: a wallet on the chain is a view of its agent's
account there. Gas is wei, and is given by the issuer or burned; what pays for calls is in accounts
of the ledger of its own.
"""

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Final

from service_tui.addresses import checksummed
from service_tui.engine.amm.ledger import Ledger
from service_tui.engine.chain_events import (
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
from service_tui.units import ONE, Micros, Timestamp

GWEI: Final = 10**9
WEI: Final = 10**18

GAS_GRANT: Final = WEI
"""Play POL of an address that is linked for the first time. # ours: some fifty redemptions."""

PAY_GRANT: Final = Micros(ONE)
"""Play USDC on the chain where calls are paid. # ours: two hundred calls."""

POL_PRICE: Final = 0.45
"""USD of one POL. # ours: what makes a redemption cost about 0.01 USD, as the spec says."""

GAS_REDEEM: Final = 180_000
GAS_APPROVE: Final = 50_000
# ours: gas that is used; both are what such calls use on real chains.

TXS_KEPT: Final = 500
HASHES_KEPT: Final = 5_000
"""Transactions of the chain, and hashes of signed orders of an agent, that are remembered."""

PAID_KEPT: Final = 5_000

ISSUER: Final = "issuer:pay"
SERVICE: Final = "pay:service"


def pay_account(address: str) -> str:
    """The ledger account of an address that pays for calls."""
    return f"pay:{address.lower()}"


@dataclass(frozen=True, slots=True)
class ChainPace:
    """How the chain runs: what the operator may change. `base_*` keep the blocks from jumping."""

    # ours: two seconds, as on the chain that is meant; its price makes a redemption cost 0.01 USD.
    block_s: float = 2.0
    gas_price: int = 120 * GWEI
    delay_blocks: int = 1
    faults: tuple[PlannedOutcome, ...] = ()
    base_at: Timestamp = Timestamp(0.0)
    base_block: int = 0
    # Receipts that were withheld from what was sent before are shown.
    shown_at: Timestamp = Timestamp(0.0)


@dataclass(slots=True)
class Wallet:
    """One address. `nonce` is that of the next transaction on the chain."""

    address: str
    agent_id: str
    linked_at: Timestamp
    gas: int = 0
    nonce: int = 0
    native_usdc: Micros = Micros(0)
    restricted: bool = False
    approvals: set[str] = field(default_factory=set[str])
    credentials_at: Timestamp | None = None


@dataclass(slots=True)
class Tx:
    """A transaction that the relay took, and what became of it."""

    sent: TxSent
    mined: TxMined | None = None

    @property
    def status(self) -> TxStatus:
        """Its state."""
        return TxStatus.PENDING if self.mined is None else self.mined.status


@lru_cache(maxsize=4_096)
def managed_address(agent_id: str) -> str:
    """The address of the wallet that the service holds for an agent, the same for ever."""
    # ours: derived from the id, as nobody holds a key of it and no chain knows it.
    digest = hashlib.sha256(f"{agent_id}:managed wallet".encode()).hexdigest()
    return checksummed("0x" + digest[-40:])


def address_of_wallet(agent_id: str, wallet: str | None) -> str | None:
    """The address of an agent's wallet that is named as in `Payout`; None where none is."""
    if wallet is None:
        return None
    return checksummed(wallet) if wallet else managed_address(agent_id)


class Chain:
    """Wallets and transactions. Changed by `apply` alone, which never refuses."""

    __slots__ = ("hashes", "ledger", "linked", "pace", "paid", "txs", "wallets")

    def __init__(self, ledger: Ledger) -> None:
        self.ledger = ledger
        self.pace = ChainPace()
        self.wallets: dict[str, Wallet] = {}
        self.linked: dict[str, str] = {}
        self.txs: dict[str, Tx] = {}
        self.hashes: dict[str, dict[str, Timestamp]] = {}
        self.paid: dict[str, Timestamp] = {}

    # -- readings --------------------------------------------------------------------------

    def block_at(self, at: Timestamp) -> int:
        """The number of the newest block."""
        pace = self.pace
        return pace.base_block + max(0, int((at - pace.base_at) / pace.block_s))

    def wallet_of(self, agent_id: str) -> Wallet | None:
        """The linked wallet of an agent."""
        address = self.linked.get(agent_id)
        return None if address is None else self.wallets[address]

    def wallet(self, address: str) -> Wallet | None:
        """What is known of an address, linked or not."""
        return self.wallets.get(address.lower())

    def pending(self, address: str) -> list[Tx]:
        """Transactions of an address that are not on the chain yet, by nonce."""
        found = [
            tx
            for tx in self.txs.values()
            if tx.mined is None and tx.sent.sender.lower() == address.lower()
        ]
        return sorted(found, key=lambda tx: tx.sent.nonce)

    def next_nonce(self, address: str) -> int:
        """The nonce after everything that was sent."""
        wallet = self.wallet(address)
        nonce = 0 if wallet is None else wallet.nonce
        for tx in self.pending(address):
            nonce += tx.sent.nonce == nonce
        return nonce

    def pay_balance(self, address: str) -> Micros:
        """Money of an address that pays for calls."""
        return self.ledger.balance(pay_account(address))

    def due(self, at: Timestamp) -> list[Tx]:
        """Transactions whose block has come, in the order of their execution."""
        block = self.block_at(at)
        found = [tx for tx in self.txs.values() if tx.mined is None and tx.sent.due <= block]
        return sorted(found, key=lambda tx: (tx.sent.sender, tx.sent.nonce))

    # -- events ----------------------------------------------------------------------------

    def apply(self, event: ChainEvent) -> None:  # noqa: C901  (a line a kind)
        """Apply an event. Never refuses and checks nothing."""
        match event:
            case WalletLinked():
                self._link(event)
            case WalletFilled():
                self._fill(event)
            case CredentialsKept():
                self.wallets[event.address.lower()].credentials_at = event.at
            case OrderSigned():
                own = self.hashes.setdefault(event.agent_id, {})
                own[event.order_hash] = event.at
                _forget(own, HASHES_KEPT)
            case TxSent():
                self._send(event)
            case TxMined():
                self._mine(event)
            case ChainSet():
                self.pace = replace(self.pace, **event.changes)  # pyright: ignore[reportArgumentType]
            case CallPaid():
                self.paid[f"{event.payer.lower()}:{event.nonce.lower()}"] = event.at
                _forget(self.paid, PAID_KEPT)
                self.ledger.transfer(pay_account(event.payer), SERVICE, event.amount)

    def _link(self, event: WalletLinked) -> None:
        if not event.address:
            self.linked.pop(event.agent_id, None)
            return
        key = event.address.lower()
        wallet = self.wallets.setdefault(key, Wallet(event.address, event.agent_id, event.at))
        wallet.agent_id, wallet.linked_at = event.agent_id, event.at
        wallet.gas += event.gas
        self.linked[event.agent_id] = key
        if event.pay:
            self.ledger.transfer(ISSUER, pay_account(key), event.pay)

    def _fill(self, event: WalletFilled) -> None:
        wallet = self.wallets[event.address.lower()]
        for name, value in event.changes.items():
            if name == "pay":
                account = pay_account(event.address)
                more = value - self.ledger.balance(account)
                giver, taker = (ISSUER, account) if more > 0 else (account, ISSUER)
                if more:
                    self.ledger.transfer(giver, taker, Micros(abs(more)))
            elif name == "restricted":
                wallet.restricted = bool(value)
            elif name == "native_usdc":
                wallet.native_usdc = Micros(value)
            else:
                wallet.gas = value

    def _send(self, event: TxSent) -> None:
        self.txs[event.tx_hash] = Tx(event)
        # Each transaction takes one fault, if there are any left.
        self.pace = replace(self.pace, faults=self.pace.faults[1:])
        for old in list(self.txs)[: max(0, len(self.txs) - TXS_KEPT)]:
            if self.txs[old].mined is not None:
                del self.txs[old]

    def _mine(self, event: TxMined) -> None:
        tx = self.txs[event.tx_hash]
        tx.mined = event
        if event.status is TxStatus.DROPPED:
            return
        wallet = self.wallets[tx.sent.sender.lower()]
        wallet.nonce = tx.sent.nonce + 1
        wallet.gas -= event.fee
        if event.status is TxStatus.CONFIRMED and tx.sent.call.approval:
            wallet.approvals.add(tx.sent.call.approval)


def _forget(entries: dict[str, Timestamp], kept: int) -> None:
    """Drop the oldest of what has become too many."""
    for key in list(entries)[: max(0, len(entries) - kept)]:
        del entries[key]


def pace_changes(chain: Chain, patch: Mapping[str, object], at: Timestamp) -> dict[str, object]:
    """What an operator's wish changes: with the length of a block its count goes on from here."""
    changes = dict(patch)
    if "block_s" in changes:
        changes |= {"base_at": at, "base_block": chain.block_at(at)}
    if "faults" in changes:
        changes["shown_at"] = at
    return changes


def approvals_set(wallet: Wallet, keys: Iterable[str]) -> bool:
    """Whether a wallet has given every one of some approvals."""
    return wallet.approvals.issuperset(keys)


def gas_of(call: ChainCall) -> int:
    """Gas that a call uses."""
    return GAS_APPROVE if call.approval else GAS_REDEEM
