"""The desk's access to the chain.

Prices, nonces, one signature at a time, signed bytes sent as stored.

Every nonce of the wallet is given here, one after the other, so that no two runs ever take the same
place unknowingly. Source: failures, T-05, F-17 and F-19.
"""

import asyncio
import logging
from dataclasses import dataclass
from typing import Final

from pydantic import JsonValue

from service_tui.client.errors import ServiceError
from service_tui.desk.buy_limits import spending_day_began
from service_tui.desk.chain.run_state import SignedCall, TransactionRunState, dump, load
from service_tui.desk.ports import Ports
from service_tui.desk.slices.redemption import CallView
from service_tui.desk.vault import Vault
from service_tui.loading import imported
from service_tui.signing.chain import Answer, ChainReader, Parameter, Receipt
from service_tui.signing.contracts import Contracts
from service_tui.signing.errors import ChainError, MalformedError
from service_tui.signing.policy import GWEI, Price, SignableCall, SigningPolicy
from service_tui.signing.skew import check_skew
from service_tui.signing.transactions import Transaction, digest_of, sign_transaction
from service_tui.storage.chain_runs import ChainRun, ChainRuns, RunSignature
from service_tui.units import Micros
from service_tui.wire.chain import BroadcastBody, BroadcastRequest, RpcRequest
from service_tui.wire.endpoints.wallet import BROADCAST, CHAIN_RPC

log = logging.getLogger(__name__)

WEI_PER_MICRO: Final = 10**12
"""Wei in a millionth of the chain's own money."""

GAP_MAX: Final = 64
"""So many places that nobody explains are refused; fewer want a typed yes. Source: decisions,
"Nonce"."""

READINGS: Final = 3
DEPTH: Final = 2
"""A receipt counts once it was read so often and so many blocks lie on it. Source: F-20."""


@dataclass(frozen=True, slots=True)
class Place:
    """The next free place of a wallet.

    `gap` counts the places before it which neither a block nor a run of ours explains; `taken` and
    `resting` are the nonces from the chain's count on of which our runs wait for an end, or do not.
    """

    latest: int
    nonce: int
    gap: int
    taken: frozenset[int]
    resting: frozenset[int]

    def suits(self, nonce: int) -> bool:
        """True if a nonce that was shown may still be signed: the next one, or an own one again."""
        return nonce == self.nonce or (self.latest <= nonce < self.nonce and nonce in self.resting)

    def can_come(self, nonce: int) -> bool:
        """True if our transaction can be mined once all before it are."""
        return nonce < self.nonce


@dataclass(slots=True)
class Watch:
    """Readings of one receipt: equal ones in a row, since it was first seen."""

    seen: Receipt | None = None
    count: int = 0


class ChainGateway:
    """Reads the chain through the service, signs under the policy, and broadcasts."""

    def __init__(
        self,
        ports: Ports,
        runs: ChainRuns,
        vault: Vault,
        policy: SigningPolicy,
        *,
        chain: ChainReader | None = None,
    ) -> None:
        """Bind to a desk; without a reader of the node, the service's node is read."""
        self._ports = ports
        self._checked = False
        self.runs = runs
        self.vault = vault
        self.policy = policy
        self._chain = chain
        self._contracts: Contracts | None = None
        self.turn = asyncio.Lock()
        """Held from the moment a nonce is read until what takes it is on disk."""

    async def chain(self) -> ChainReader:
        """Reader of the node, through our own client; the first call imports web3 in a thread."""
        if self._chain is None:
            await imported("service_tui.signing.node")
            from service_tui.signing.node import chain_of  # noqa: PLC0415

            self._chain = chain_of(self.rpc, self.policy.book.chain_id)
        return self._chain

    async def contracts(self) -> Contracts:
        """Reader of the contracts, through our own client.

        The first call imports web3 in a thread.
        """
        if self._contracts is None:
            await imported("service_tui.signing.node")
            from service_tui.signing.node import contracts_of  # noqa: PLC0415

            self._contracts = contracts_of(self.rpc, self.policy.book)
        return self._contracts

    async def check(self) -> None:
        """Make sure once that it is the right chain.

        Raises:
            ChainError: another one, or no answer.
        """
        if not self._checked:
            await (await self.chain()).check_chain()
            self._checked = True

    async def built(self, signable: SignableCall, wallet: str, *, nonce: int) -> Transaction:
        """The transaction of a signable call, priced and within every cap.

        Args:
            signable: what came through the policy.
            wallet: who pays and signs.
            nonce: its place among the wallet's transactions, read in the same turn.

        Returns:
            What would be signed.

        Raises:
            PolicyRefusedError: above a cap, or a clock too far off to know the day.
            NotEnoughGasError: the wallet cannot pay for it.
            ChainError: no answer, or the call would fail.
        """
        check_skew(self._ports.client.skew_s or 0.0)
        await self.check()
        price = await (await self.chain()).price(signable, wallet)
        placed = Price(
            nonce=nonce,
            gas=price.gas,
            max_fee=price.max_fee,
            max_priority_fee=price.max_priority_fee,
        )
        spent = await asyncio.to_thread(self._spent_today, wallet)
        transaction = self.policy.transaction(signable, placed, spent_today=spent)
        await (await self.chain()).check_gas(transaction, wallet)
        return transaction

    def _spent_today(self, wallet: str) -> int:
        """Wei that may have been spent since midnight UTC. Blocks."""
        began = spending_day_began(self._ports.now(), self._ports.client.skew_s or 0.0)
        return sum(cost_max(run) for run in self.runs.signed_since(wallet, began))

    async def sign(self, number: int, body: TransactionRunState, wallet: str) -> RunSignature:
        """Sign a run's transaction and store it before anything is sent.

        Returns:
            The bytes and their hash, as they lie on disk.

        Raises:
            LockedError: the key of this wallet is not open.
            MalformedError: the run has nothing that can be signed.
            PolicyRefusedError: a clock too far off; everything else was checked before.
        """
        if body.to_sign is None:
            raise MalformedError("nothing to sign")
        check_skew(self._ports.client.skew_s or 0.0)
        signer = self.vault.signer_of(wallet)
        made = await asyncio.to_thread(sign_transaction, transaction_of(body.to_sign), signer)
        signed = RunSignature(made.transaction.nonce, made.hex, made.tx_hash)
        await self.runs.sign(number, "broadcast", dump(body), signed, now=self._ports.now())
        return signed

    async def broadcast(self, raw: str) -> BroadcastBody:
        """Send stored bytes to the relay; safe to repeat.

        Returns:
            Answer of the relay.

        Raises:
            ServiceError: it refused, or did not answer.
        """
        reply = await self._ports.client.call(BROADCAST, body=BroadcastRequest(signed_tx=raw))
        return reply.answer

    async def confirmed(self, tx_hash: str, watch: Watch) -> Receipt | None:
        """Read the receipt once more.

        Returns:
            The receipt once it is sure, None while it is not; one that vanished begins anew.

        Raises:
            ChainError: no answer.
        """
        receipt = await (await self.chain()).receipt(tx_hash)
        if receipt is None:
            watch.seen, watch.count = None, 0
            return None
        watch.count = watch.count + 1 if receipt == watch.seen else 1
        watch.seen = receipt
        if watch.count < READINGS or await (await self.chain()).block() - receipt.block < DEPTH:
            return None
        return receipt

    async def place(self, wallet: str) -> Place:
        """The next free place, of the chain's counts and of our runs that can still be mined.

        Returns:
            The nonce, and how many free ones before it belong to no known run.

        Raises:
            ChainError: no answer, or a gap above `GAP_MAX`.
        """
        latest = await (await self.chain()).count(wallet, "latest")
        pending = await (await self.chain()).count(wallet, "pending")
        taken, signed = await asyncio.to_thread(self.runs.signed_nonces, wallet, latest)
        if pending - latest > GAP_MAX + len(signed):
            raise ChainError(
                f"the node reports {pending - latest} pending transactions, more than {GAP_MAX}"
            )
        nonce, gap = latest, 0
        while nonce < pending or nonce in taken:
            gap += nonce not in signed
            nonce += 1
        if gap > GAP_MAX:
            raise ChainError(
                f"{gap} nonces of the wallet are unaccounted for: another program uses the key"
            )
        return Place(latest, nonce, gap, taken, signed - taken)

    async def next_nonce(self, wallet: str) -> int:
        """The nonce after every transaction that the chain has accepted from this wallet.

        Returns:
            A count of transactions.

        Raises:
            ChainError: no answer.
        """
        return await (await self.chain()).count(wallet, "latest")

    async def rpc(self, method: str, parameters: list[Parameter], /) -> Answer:
        """One question to the node, through the service.

        Returns:
            Its `result`.

        Raises:
            ChainError: no answer, or the node's own error.
        """
        params = tuple(_plain(one) for one in parameters)
        request = RpcRequest(method=method, params=params, id=1)
        try:
            reply = await self._ports.client.call(CHAIN_RPC, body=request)
        except ServiceError as error:
            raise ChainError(f"no response from the chain: {error}") from error
        if reply.answer.error is not None:
            raise ChainError(f"chain error: {reply.answer.error.message}")
        return reply.answer.result


def _plain(parameter: Parameter) -> JsonValue:
    return parameter if isinstance(parameter, str) else {**parameter}


def transaction_of(call: SignedCall) -> Transaction:
    """The transaction that the figures describe."""
    return Transaction(
        chain_id=call.chain_id,
        nonce=call.nonce,
        max_priority_fee=call.max_priority_fee,
        max_fee=call.max_fee,
        gas=call.gas,
        to=call.to,
        data=bytes.fromhex(call.data),
    )


def call_of(transaction: Transaction) -> SignedCall:
    """The figures of a transaction."""
    return SignedCall(
        chain_id=transaction.chain_id,
        nonce=transaction.nonce,
        gas=transaction.gas,
        max_fee=transaction.max_fee,
        max_priority_fee=transaction.max_priority_fee,
        to=transaction.to,
        data=transaction.data.hex(),
    )


def shown(
    transaction: Transaction, signable: SignableCall, note: str = "", gap: int = 0
) -> CallView:
    """The transaction as a person confirms it."""
    pairs = [tuple(line.split(": ", 1)) for line in signable.lines]
    arguments = [(pair[0], pair[1]) for pair in pairs if len(pair) == 2]  # noqa: PLR2004
    function = next((value for name, value in arguments if name == "function"), "")
    rest = [pair for pair in arguments if pair[0] != "function"]
    if note:
        rest.append(("note", note))
    if gap:
        rest.append((
            "gap",
            (
                f"{gap} nonces of the wallet are not from this desk: does another "
                "program use the key?"
            ),
        ))
    return CallView(
        digest=digest_of(transaction).hex(),
        contract=signable.contract,
        to=transaction.to,
        function=function,
        arguments=tuple(rest),
        chain_id=transaction.chain_id,
        nonce=transaction.nonce,
        gas=transaction.gas,
        fee_gwei=transaction.max_fee / GWEI,
        fee_max=micros_up(transaction.cost_max),
        gap=gap,
    )


def micros_up(wei: int) -> Micros:
    """Millionths of the chain's money, rounded up: what it may cost."""
    return Micros(-(-wei // WEI_PER_MICRO))


def micros_down(wei: int) -> Micros:
    """Millionths of the chain's money, rounded down: what there is."""
    return Micros(wei // WEI_PER_MICRO)


def cost_max(run: ChainRun) -> int:
    """The most that a run's transaction may cost, wei; 0 for one that signs nothing."""
    try:
        call = load(run.body).to_sign
    except ValueError:
        log.warning("cannot read a transaction of the journal: %s", run.number)
        return 0
    return 0 if call is None else call.cost_max
