"""Places of a wallet, receipts that are sure, and what is shown before it is signed."""

from dataclasses import replace
from typing import Any, ClassVar, cast

import pytest

from kit.desk.offline import Asked, Offline
from kit.desk.redeeming import CountingSigner
from kit.samples.desk import NOW, sample_state
from service_tui.client.errors import Called, UnreachableError
from service_tui.desk.buy_limits import spending_day_began
from service_tui.desk.chain.gateway import (
    DEPTH,
    GAP_MAX,
    READINGS,
    ChainGateway,
    Place,
    Watch,
    call_of,
    cost_max,
    micros_down,
    micros_up,
    shown,
    transaction_of,
)
from service_tui.desk.chain.run_state import TransactionRunState, dump
from service_tui.desk.slices.redemption import ChainRunState, RunView
from service_tui.desk.vault import Vault
from service_tui.signing.calls import Approve
from service_tui.signing.chain import Receipt
from service_tui.signing.errors import (
    ChainError,
    MalformedError,
    NotEnoughGasError,
    PolicyRefusedError,
)
from service_tui.signing.policy import Price, SignableCall, SigningPolicy
from service_tui.signing.transactions import Transaction, sign_transaction
from service_tui.storage.chain_runs import ChainRun, RunSignature
from service_tui.terms import Side, Venue
from service_tui.wire.chain import BroadcastRequest, RpcBody, RpcErrorBody, RpcRequest
from service_tui.wire.endpoints.wallet import BROADCAST, CHAIN_RPC

RECEIPT = Receipt("0xhash", succeeded=True, block=100, cost=3)
TRANSACTION = Transaction(
    chain_id=137, nonce=5, max_priority_fee=7, max_fee=30_000_000_000, gas=90_000,
    to="0x" + "11" * 20, data=b"\x05\x06",
)  # fmt: skip


class Node:
    """A node that says what a test wants, and notes what it was asked."""

    def __init__(self, **other: Any) -> None:
        self.counts = {"latest": 5, "pending": 5}
        self.receipts: list[Receipt | None] = []
        self.height = 100 + DEPTH
        self.asked: list[tuple[object, ...]] = []
        self.problem: Exception | None = None
        for name, value in other.items():
            setattr(self, name, value)

    async def count(self, wallet: str, which: str) -> int:
        self.asked.append(("count", wallet, which))
        return self.counts[which]

    async def receipt(self, tx_hash: str) -> Receipt | None:
        self.asked.append(("receipt", tx_hash))
        return self.receipts.pop(0)

    async def block(self) -> int:
        return self.height

    async def check_chain(self) -> None:
        self.asked.append(("check",))

    async def price(self, signable: object, wallet: str) -> Price:
        self.asked.append(("price", signable, wallet))
        return Price(nonce=99, gas=11, max_fee=22, max_priority_fee=3)

    async def check_gas(self, transaction: Transaction, wallet: str) -> None:
        self.asked.append(("gas", transaction, wallet))
        if self.problem is not None:
            raise self.problem


class Runs:
    """The journal's word on signed places, and on what was spent."""

    def __init__(self, taken: set[int] = frozenset(), signed: set[int] = frozenset()) -> None:  # type: ignore[assignment]
        self.taken, self.signed = frozenset(taken), frozenset(signed)
        self.asked: list[tuple[object, ...]] = []

    def signed_nonces(self, wallet: str, latest: int) -> tuple[frozenset[int], frozenset[int]]:
        self.asked.append((wallet, latest))
        return self.taken, self.signed

    def signed_since(self, wallet: str, began: float) -> list[object]:
        self.asked.append((wallet, began))
        return []


def gateway(
    node: Node,
    runs: Runs | None = None,
    policy: object = None,
    *,
    skew_s: float | None = None,
    vault: Vault | None = None,
) -> ChainGateway:
    on = Offline(sample_state(8), skew_s=skew_s)
    return ChainGateway(
        on.ports, cast("Any", runs or Runs()), vault or Vault(),
        cast("Any", policy or SigningPolicy()), chain=cast("Any", node),
    )  # fmt: skip


# -- places -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("nonce", "suits", "can_come"),
    [(3, False, True), (4, False, True), (5, True, True), (6, True, False), (7, False, False)],
)
def test_the_next_place_is_signed_or_one_of_ours_again(
    nonce: int, *, suits: bool, can_come: bool
) -> None:
    place = Place(5, 6, 0, frozenset({4}), frozenset({4, 5}))
    assert (place.suits(nonce), place.can_come(nonce)) == (suits, can_come)


@pytest.mark.parametrize(
    ("latest", "pending", "taken", "signed", "place"),
    [
        (5, 5, set(), set(), (5, 5, 0)),
        (5, 7, {5, 6}, {5, 6}, (5, 7, 0)),
        (5, 5, {5, 6}, {5, 6}, (5, 7, 0)),
        (5, 6, set(), set(), (5, 6, 1)),
        (5, 6, set(), {5}, (5, 6, 0)),
        (5, 6, {6}, {6}, (5, 7, 1)),
        (5, 5, {7}, {7}, (5, 5, 0)),
    ],
)
async def test_a_place_is_the_first_that_neither_the_node_nor_a_run_has_taken(
    latest: int, pending: int, taken: set[int], signed: set[int], *, place: tuple[int, int, int]
) -> None:
    node, runs = Node(counts={"latest": latest, "pending": pending}), Runs(taken, signed)
    found = await gateway(node, runs).place("0xW")
    assert (found.latest, found.nonce, found.gap) == place
    assert (found.taken, found.resting) == (frozenset(taken), frozenset(signed - taken))
    assert node.asked == [("count", "0xW", "latest"), ("count", "0xW", "pending")]
    assert runs.asked == [("0xW", latest)]


async def test_more_places_than_can_be_explained_are_refused() -> None:
    at_most = Node(counts={"latest": 5, "pending": 5 + GAP_MAX})
    assert (await gateway(at_most).place("0xW")).gap == GAP_MAX
    beyond = Node(counts={"latest": 5, "pending": 6 + GAP_MAX})
    with pytest.raises(ChainError, match=f"{GAP_MAX + 1} pending transactions"):
        await gateway(beyond).place("0xW")
    elsewhere = Runs(set(), {99})
    with pytest.raises(ChainError, match=f"{GAP_MAX + 1} nonces of the wallet are unaccounted"):
        await gateway(beyond, elsewhere).place("0xW")


async def test_the_count_of_the_chain_is_that_of_accepted_transactions() -> None:
    assert await gateway(Node(counts={"latest": 5, "pending": 9})).next_nonce("0xW") == 5


# -- receipts -----------------------------------------------------------------------------------


async def readings(node: Node, *receipts: Receipt | None) -> list[Receipt | None]:
    node.receipts, watch, made = list(receipts), Watch(), gateway(node)
    return [await made.confirmed("0xhash", watch) for _ in receipts]


async def test_a_receipt_counts_once_it_was_read_alike_often_enough() -> None:
    assert await readings(Node(), *[RECEIPT] * READINGS) == [*[None] * (READINGS - 1), RECEIPT]
    other = replace(RECEIPT, block=99)
    changed = [RECEIPT, RECEIPT, other, other, other]
    assert await readings(Node(), *changed) == [None] * 4 + [other]
    gone = [RECEIPT, RECEIPT, None, RECEIPT, RECEIPT, RECEIPT]
    assert await readings(Node(), *gone) == [None] * 5 + [RECEIPT]


@pytest.mark.parametrize(("blocks", "is_sure"), [(DEPTH - 1, False), (DEPTH, True)])
async def test_a_receipt_counts_once_enough_blocks_lie_on_it(blocks: int, *, is_sure: bool) -> None:
    found = await readings(Node(height=100 + blocks), *[RECEIPT] * READINGS)
    assert found[-1] == (RECEIPT if is_sure else None)


class Capped(SigningPolicy):
    """A policy that notes what it judges, and allows it."""

    judged: ClassVar[list[tuple[object, Price, int]]] = []

    def transaction(self, signable: object, price: Price, *, spent_today: int) -> Transaction:
        self.judged.append((signable, price, spent_today))
        return TRANSACTION


# -- what is built ------------------------------------------------------------------------------


async def test_a_transaction_is_built_on_its_place_and_within_every_cap() -> None:
    node, asked = Node(), Capped.judged
    asked.clear()
    made = gateway(node, policy=Capped())
    signable = cast("Any", object())
    for _ in range(2):
        assert await made.built(signable, "0xW", nonce=5) is TRANSACTION
    price = Price(nonce=5, gas=11, max_fee=22, max_priority_fee=3)
    assert asked == [(signable, price, 0)] * 2
    each = [("price", signable, "0xW"), ("gas", TRANSACTION, "0xW")]
    assert node.asked == [("check",), *each, *each], "the chain is checked once"


async def test_a_chain_that_was_the_wrong_one_is_checked_until_it_is_right() -> None:
    node = Node()
    faults = [ChainError("another chain"), ChainError("no answer")]

    async def check_chain() -> None:
        node.asked.append(("check",))
        if faults:
            raise faults.pop(0)

    node.check_chain = check_chain  # type: ignore[method-assign]
    made = gateway(node)
    for _ in range(2):
        with pytest.raises(ChainError):
            await made.check()
    await made.check()
    await made.check()
    assert node.asked == [("check",)] * 3


async def test_a_wallet_that_cannot_pay_or_a_clock_that_is_off_builds_nothing() -> None:
    policy = Capped()
    node = Node(problem=NotEnoughGasError(needed=2, balance=1))
    with pytest.raises(NotEnoughGasError):
        await gateway(node, policy=policy).built(cast("Any", None), "0xW", nonce=5)
    node = Node()
    with pytest.raises(PolicyRefusedError):
        await gateway(node, policy=policy, skew_s=3_600.0).built(cast("Any", None), "0xW", nonce=5)
    assert node.asked == []


def test_a_transaction_is_kept_in_figures_and_made_of_them_again() -> None:
    call = call_of(TRANSACTION)
    assert (call.chain_id, call.nonce, call.gas, call.max_fee) == (137, 5, 90_000, 30_000_000_000)
    assert (call.max_priority_fee, call.to, call.data) == (7, "0x" + "11" * 20, "0506")
    assert transaction_of(call) == TRANSACTION


def test_what_is_shown_is_what_is_signed() -> None:
    lines = ("contract: Exchange", "function: redeem", "amount: 5: five", "no pair")
    signable = SignableCall("0xto", Approve("0x", 1), "Exchange", lines)
    view = shown(TRANSACTION, signable)
    assert (view.contract, view.to, view.function) == ("Exchange", "0x" + "11" * 20, "redeem")
    assert view.arguments == (("contract", "Exchange"), ("amount", "5: five"))
    assert (view.chain_id, view.nonce, view.gas, view.gap) == (137, 5, 90_000, 0)
    assert (view.fee_gwei, view.fee_max, view.fee_money) == (30.0, 2_700, None)
    other = shown(replace(TRANSACTION, nonce=6), signable)
    assert other.digest != view.digest
    noted = shown(TRANSACTION, signable, "compare it", 2)
    assert noted.arguments[2:] == (
        ("note", "compare it"),
        ("gap", "2 nonces of the wallet are not from this desk: does another program use the key?"),
    )
    assert (noted.gap, noted.digest) == (2, view.digest)


def test_what_it_costs_is_rounded_up_and_what_there_is_down() -> None:
    micro = 10**12
    assert [micros_up(wei) for wei in (0, 1, micro, micro + 1)] == [0, 1, 1, 2]
    assert [micros_down(wei) for wei in (0, micro - 1, micro, 2 * micro - 1)] == [0, 0, 1, 1]


# -- what was spent, signed and asked --------------------------------------------------------------


BODY = TransactionRunState(
    RunView("m1", Side.YES, Venue.EVM, "Will it?", ChainRunState.RUNNING), call_of(TRANSACTION)
)


def run_of(body: str, number: int = 1) -> ChainRun:
    return ChainRun(
        subject="s", wallet="0xW", opened_at=1.0, changed_at=1.0, step="sign", body=body,
        number=number,
    )  # fmt: skip


def test_a_run_costs_at_most_what_it_signs_and_one_that_signs_nothing_costs_nothing() -> None:
    assert cost_max(run_of(dump(BODY))) == 90_000 * 30_000_000_000
    assert cost_max(run_of(dump(replace(BODY, to_sign=None)))) == 0
    assert cost_max(run_of("{")) == 0


@pytest.mark.parametrize("skew_s", [3.0, None])
async def test_a_day_s_costs_are_those_of_its_wallet_since_the_day_began(
    skew_s: float | None,
) -> None:
    runs = Runs()
    runs.signed_since = lambda *given: (  # type: ignore[method-assign]
        runs.asked.append(given) or [run_of(dump(BODY)), run_of("{"), run_of(dump(BODY))]
    )
    Capped.judged.clear()
    made = gateway(Node(), runs, Capped(), skew_s=skew_s)
    await made.built(cast("Any", None), "0xW", nonce=5)
    assert [spent for _, _, spent in Capped.judged] == [2 * 90_000 * 30_000_000_000]
    assert runs.asked == [("0xW", spending_day_began(NOW, skew_s or 0.0))]


async def test_what_was_shown_is_signed_by_its_wallet_and_written_down_before_it_leaves() -> None:
    signer, kept = CountingSigner(), list[tuple[object, ...]]()

    async def sign(*given: object, now: float) -> None:
        kept.append((*given, now))

    runs = Runs()
    runs.sign = sign  # type: ignore[attr-defined]
    made = gateway(Node(), runs, vault=Vault(None, signer))
    signed = await made.sign(7, BODY, signer.address)
    assert signer.count == 1
    whole = sign_transaction(TRANSACTION, CountingSigner())
    assert signed == RunSignature(5, whole.hex, whole.tx_hash)
    assert kept == [(7, "broadcast", dump(BODY), signed, NOW)]


@pytest.mark.parametrize(
    ("body", "skew_s", "error"),
    [(replace(BODY, to_sign=None), None, MalformedError), (BODY, 3_600.0, PolicyRefusedError)],
)
async def test_nothing_is_signed_without_figures_or_by_a_clock_that_is_off(
    body: TransactionRunState, skew_s: float | None, error: type[Exception]
) -> None:
    signer = CountingSigner()
    made = gateway(Node(), skew_s=skew_s, vault=Vault(None, signer))
    with pytest.raises(error):
        await made.sign(7, body, signer.address)
    assert signer.count == 0


def asking(answer: object) -> tuple[ChainGateway, Offline]:
    on = Offline(sample_state(8), {CHAIN_RPC: answer, BROADCAST: answer})
    return ChainGateway(on.ports, cast("Any", Runs()), Vault(), SigningPolicy()), on


async def test_a_question_to_the_node_goes_through_the_service_as_it_is() -> None:
    made, on = asking(RpcBody(result="0x5"))
    call = {"to": "0xC", "data": "0x"}
    assert await made.rpc("eth_call", [call, "latest"]) == "0x5"  # type: ignore[list-item]
    request = RpcRequest(method="eth_call", params=({"to": "0xC", "data": "0x"}, "latest"), id=1)
    assert on.asked == [Asked(CHAIN_RPC, body=request)]


@pytest.mark.parametrize(
    ("answer", "text"),
    [
        (RpcBody(result="0x5", error=RpcErrorBody(code=3, message="reverted")),
         "chain error: reverted"),
        (UnreachableError("away", Called("POST", "/x")), "no response from the chain: "),
    ],
)  # fmt: skip
async def test_a_question_without_an_answer_is_a_fault_of_the_chain(
    answer: object, text: str
) -> None:
    made, _ = asking(answer)
    with pytest.raises(ChainError, match=text):
        await made.rpc("eth_call", [])


async def test_the_stored_bytes_are_sent_and_the_relay_s_answer_is_given_back() -> None:
    made, on = asking("the relay's answer")
    assert await made.broadcast("0x02f8aabbcc") == "the relay's answer"
    assert on.asked == [Asked(BROADCAST, body=BroadcastRequest(signed_tx="0x02f8aabbcc"))]


async def test_one_holds_the_turn_at_a_time() -> None:
    its = gateway(Node())
    async with its.turn:
        assert its.turn.locked()
    assert not its.turn.locked()
