"""Events of wallets and the simulated chain, named in the past tense.

A replay applies these in order without any other input. `events` lists them with the others.
"""

from enum import StrEnum
from typing import Final, NamedTuple

from service_tui.units import Micros, Timestamp


class CallKind(StrEnum):
    """What a transaction does on which contract."""

    REDEEM = "redeem"
    REDEEM_ADAPTER = "redeem_adapter"
    APPROVE = "approve"


class PlannedOutcome(StrEnum):
    """The outcome that the operator plans for a transaction, to rehearse failures."""

    OK = "ok"
    REVERT = "revert"
    DROP = "drop"
    WITHHOLD = "withhold"


class TxStatus(StrEnum):
    """State of a transaction."""

    PENDING = "pending"
    CONFIRMED = "confirmed"
    FAILED = "failed"
    DROPPED = "dropped"


class ChainCall(NamedTuple):
    """A decoded call.

    `numbers` are index sets of the standard contract (1 YES, 2 NO) or amounts of the adapter (YES,
    NO), `condition` the condition id; `approval` names what is approved, `operator` the approval
    that the adapter itself needs. A redemption out of another collateral than the venue's comes
    without numbers: it finds nothing to burn.
    """

    kind: CallKind
    condition: str = ""
    numbers: tuple[int, ...] = ()
    approval: str = ""
    operator: str = ""


class WalletLinked(NamedTuple):
    """An agent proved that an address is its own; an empty address: back to the managed wallet.

    `gas` (wei) and `pay` (micros) are play money that an address gets when it is first seen.
    `left` is the address of the wallet that goes, empty for the managed one: its money and
    positions stay with it. None, as in rows of older programs, lets the first ones follow.
    """

    agent_id: str
    at: Timestamp
    address: str
    gas: int = 0
    pay: Micros = Micros(0)
    left: str | None = None


class WalletFilled(NamedTuple):
    """The operator set what a simulated wallet holds, or whether its venue restricts it.

    `changes` are `gas` (wei), `pay` and `native_usdc` (micros), `restricted`.
    """

    agent_id: str
    at: Timestamp
    address: str
    changes: dict[str, int]


class CredentialsKept(NamedTuple):
    """The service can place orders at the venue for an address. The secret is not stored."""

    agent_id: str
    at: Timestamp
    address: str
    how: str


class OrderSigned(NamedTuple):
    """An order signed by an external wallet was accepted; its hash is never accepted again."""

    agent_id: str
    at: Timestamp
    order_hash: str


class TxSent(NamedTuple):
    """The relay accepted a signed transaction. `due` is the block in which it will be mined.

    `max_fee` is wei a unit of gas; `replaces` the hash of one of the same nonce.
    """

    tx_hash: str
    agent_id: str
    at: Timestamp
    sender: str
    nonce: int
    to: str
    call: ChainCall
    gas: int
    max_fee: int
    due: int
    planned: PlannedOutcome = PlannedOutcome.OK
    replaces: str = ""


class TxMined(NamedTuple):
    """A transaction was mined or dropped. Its payout to the agent is a separate event.

    `fee` is wei, `payout` micros of USDC; `why` is the reason of a failure.
    """

    tx_hash: str
    agent_id: str
    at: Timestamp
    status: TxStatus
    block: int
    gas_used: int
    fee: int
    payout: Micros = Micros(0)
    why: str = ""


class ChainSet(NamedTuple):
    """The operator made the chain slower, dearer or failing. `changes` are names of ChainPace."""

    at: Timestamp
    changes: dict[str, object]


class CallPaid(NamedTuple):
    """A call above the rate was paid for: an authorisation that is void from now on."""

    agent_id: str
    at: Timestamp
    payer: str
    nonce: str
    amount: Micros
    resource: str


ChainEvent = (
    WalletLinked
    | WalletFilled
    | CredentialsKept
    | OrderSigned
    | TxSent
    | TxMined
    | ChainSet
    | CallPaid
)
"""What happens to wallets and on the chain."""

CHAIN_KINDS: Final[dict[str, type[ChainEvent]]] = {
    "wallet": WalletLinked,
    "wallet_fill": WalletFilled,
    "credentials": CredentialsKept,
    "signed": OrderSigned,
    "tx": TxSent,
    "tx_mined": TxMined,
    "chain": ChainSet,
    "paid": CallPaid,
}
"""Names of the kinds in the journal. They are on disk: never rename one."""
