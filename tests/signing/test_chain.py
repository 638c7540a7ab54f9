"""Reads of the chain before signing: prices, nonces and receipts."""

import re
from collections.abc import Callable, Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st
from web3.exceptions import Web3Exception

from kit.examples import examples
from service_tui.addresses import checksummed
from service_tui.signing.approvals import approvals
from service_tui.signing.book import POLYGON, ExchangeVersion
from service_tui.signing.chain import Answer, ChainReader, Parameter, as_chain_error
from service_tui.signing.errors import (
    ChainError,
    MalformedError,
    NotEnoughGasError,
    NotRedeemableError,
)
from service_tui.signing.node import chain_of, contracts_of
from service_tui.signing.policy import GWEI, Redemption, SignableCall, SigningPolicy
from service_tui.signing.redemption import check_redeemable
from service_tui.signing.transactions import Transaction

OWN = "0x" + "Aa" * 20
HASH = "0x" + "ab" * 32
JUDGED = SigningPolicy().approval(approvals(POLYGON, ExchangeVersion.V1)[0])
FAIR: dict[str, Answer] = {
    "eth_chainId": "0x89",
    "eth_blockNumber": "0x10",
    "eth_call": "0x" + "00" * 32,
    "eth_getTransactionCount": "0x7",
    "eth_gasPrice": hex(100 * GWEI),
    "eth_estimateGas": hex(50_000),
    "eth_getBalance": "0x0",
    "eth_getTransactionReceipt": None,
}
RECEIPT: dict[str, Answer] = {
    "transactionHash": HASH,
    "status": "0x1",
    "blockNumber": "0x10",
    "gasUsed": "0x5208",
    "effectiveGasPrice": "0x3b9aca00",
}


class Scripted:
    """A node that answers what it was told to, and fails where it was told nothing."""

    def __init__(self, answers: Mapping[str, Answer]) -> None:
        self.answers = answers
        self.asked: list[tuple[str, list[Parameter]]] = []

    async def __call__(self, method: str, parameters: list[Parameter], /) -> Answer:
        self.asked.append((method, parameters))
        if method not in self.answers:
            raise ChainError(f"{method} failed")
        return self.answers[method]


def chain(**changes: Answer) -> ChainReader:
    return chain_of(Scripted({**FAIR, **changes}))


async def test_the_price_has_gas_to_spare_and_the_fees_of_the_reference() -> None:
    price = await chain().price(JUDGED, OWN)
    assert (price.nonce, price.gas) == (7, 65_000)
    assert (price.max_fee, price.max_priority_fee) == (200 * GWEI, 30 * GWEI)
    # A transaction takes whole gas.
    assert repr((await chain(eth_estimateGas=hex(50_001)).price(JUDGED, OWN)).gas) == "65001"
    dear = await chain(eth_gasPrice=hex(400 * GWEI)).price(JUDGED, OWN)
    assert (dear.max_fee, dear.max_priority_fee) == (800 * GWEI, 100 * GWEI)


async def test_every_attempt_is_a_quarter_dearer() -> None:
    fees = [(await chain().price(JUDGED, OWN, attempt=turn)).max_fee for turn in range(3)]
    assert fees == [200 * GWEI, 250 * GWEI, 312_500_000_000]


async def test_a_ceiling_is_never_below_its_tip() -> None:
    cheap = await chain(eth_gasPrice="0x1").price(JUDGED, OWN)
    assert cheap.max_fee == cheap.max_priority_fee == 30 * GWEI


async def test_what_fails_on_trial_is_not_priced() -> None:
    without = {name: answer for name, answer in FAIR.items() if name != "eth_call"}
    with pytest.raises(ChainError):
        await chain_of(Scripted(without)).price(JUDGED, OWN)


@pytest.mark.parametrize(("hint", "gas"), [(123_456, 123_456), (None, 300_000)])
async def test_without_an_estimate_the_hint_is_taken(hint: int | None, gas: int) -> None:
    without = {name: answer for name, answer in FAIR.items() if name != "eth_estimateGas"}
    judged = SignableCall(JUDGED.to, JUDGED.call, JUDGED.contract, JUDGED.lines, gas_hint=hint)
    assert (await chain_of(Scripted(without)).price(judged, OWN)).gas == gas


ANYTHING: st.SearchStrategy[Answer] = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=70)
    | st.lists(st.text(max_size=3), max_size=2)
    | st.sampled_from(["0x", "0xg1", "-0x1", " 0x1", "0x" + "f" * 65, "0X1", "1e9", "0x1\n"])
)


def is_number(answer: Answer) -> bool:
    return isinstance(answer, str) and re.fullmatch("0x[0-9a-fA-F]{1,64}", answer) is not None


@pytest.mark.slow
@examples()
@given(ANYTHING.filter(lambda answer: not is_number(answer)))
async def test_an_answer_that_is_no_number_prices_nothing(answer: Answer) -> None:
    questions: tuple[tuple[str, Callable[[ChainReader], object]], ...] = (
        ("eth_getTransactionCount", lambda node: node.price(JUDGED, OWN)),
        ("eth_gasPrice", lambda node: node.price(JUDGED, OWN)),
        ("eth_chainId", lambda node: node.check_chain()),
        ("eth_blockNumber", lambda node: node.block()),
        ("eth_getBalance", lambda node: node.balance(OWN)),
    )
    for method, ask in questions:
        with pytest.raises(ChainError):
            await ask(chain(**{method: answer}))  # pyright: ignore[reportGeneralTypeIssues]


async def test_a_receipt_tells_what_became_of_it() -> None:
    assert await chain().receipt(HASH) is None
    found = await chain(eth_getTransactionReceipt=RECEIPT).receipt(HASH)
    assert found is not None
    assert (found.succeeded, found.block, found.cost) == (True, 16, 21_000 * 10**9)
    failed = {**RECEIPT, "status": "0x0"}
    lost = await chain(eth_getTransactionReceipt=failed).receipt(HASH)
    assert lost is not None
    assert not lost.succeeded


@pytest.mark.parametrize(
    "receipt",
    [
        {},
        [],
        "0x1",
        True,
        {**RECEIPT, "transactionHash": "0x" + "cd" * 32},
        {**RECEIPT, "transactionHash": None},
        {**RECEIPT, "status": True},
        {**RECEIPT, "status": None},
        {**RECEIPT, "blockNumber": None},
        {**RECEIPT, "gasUsed": "many"},
    ],
)
async def test_a_receipt_of_another_form_confirms_nothing(receipt: Answer) -> None:
    with pytest.raises(ChainError):
        await chain(eth_getTransactionReceipt=receipt).receipt(HASH)


@pytest.mark.parametrize(
    "word", [None, "0x", "0x1", "0x" + "00" * 31, "0x" + "00" * 33, "0x" + "zz" * 32, 1, []]
)
async def test_a_contract_that_answers_no_word_redeems_nothing(word: Answer) -> None:
    contracts = contracts_of(Scripted({"eth_call": word}), POLYGON)
    asked = Redemption(condition_id=bytes(32), is_yes=True, is_neg_risk=False)
    with pytest.raises(ChainError):
        await check_redeemable(contracts, asked, OWN, collateral=POLYGON.usdc_bridged)


async def test_a_position_without_a_condition_is_not_asked_about() -> None:
    node = Scripted(FAIR)
    asked = Redemption(condition_id=None, is_yes=True, is_neg_risk=False)
    with pytest.raises(MalformedError):
        await check_redeemable(
            contracts_of(node, POLYGON), asked, OWN, collateral=POLYGON.usdc_bridged
        )
    assert node.asked == []


async def test_an_open_market_costs_one_question() -> None:
    node = Scripted(FAIR)
    asked = Redemption(condition_id=bytes(32), is_yes=True, is_neg_risk=False)
    with pytest.raises(NotRedeemableError):
        await check_redeemable(
            contracts_of(node, POLYGON), asked, OWN, collateral=POLYGON.usdc_bridged
        )
    assert len(node.asked) == 1


SEND = Transaction(
    chain_id=137,
    nonce=1,
    max_priority_fee=1,
    max_fee=10,
    gas=100,
    to=POLYGON.usdc_bridged,
    data=b"",
)


async def test_a_wallet_that_holds_exactly_the_gas_may_send() -> None:
    await chain(eth_getBalance=hex(1_000)).check_gas(SEND, OWN)


async def test_a_wallet_that_lacks_a_wei_is_told_both_figures() -> None:
    with pytest.raises(NotEnoughGasError) as refused:
        await chain(eth_getBalance=hex(999)).check_gas(SEND, OWN)
    assert (refused.value.needed, refused.value.balance) == (1_000, 999)


async def test_a_node_of_the_right_chain_is_taken_and_named_where_it_is_another() -> None:
    await chain().check_chain()
    with pytest.raises(ChainError, match=r"^the node is on chain 1, not on 137$"):
        await chain(eth_chainId="0x1").check_chain()


@pytest.mark.parametrize(("count", "taken"), [(1 << 32, True), ((1 << 32) + 1, False)])
async def test_a_nonce_that_no_wallet_reaches_is_not_believed(*, count: int, taken: bool) -> None:
    node = chain(eth_getTransactionCount=hex(count))
    if taken:
        assert await node.count(OWN, "latest") == count
    else:
        with pytest.raises(ChainError, match="more than any wallet"):
            await node.count(OWN, "latest")


async def test_a_price_is_asked_for_our_own_call_and_the_nonce_behind_what_waits() -> None:
    node = Scripted(FAIR)
    await chain_of(node).price(JUDGED, OWN)
    call = {"from": OWN, "to": JUDGED.to, "data": "0x" + JUDGED.data.hex()}
    asked = {
        method: [
            {name: text.lower() for name, text in one.items()} if isinstance(one, dict) else one
            for one in parameters
        ]
        for method, parameters in node.asked
    }
    lowered = {name: text.lower() for name, text in call.items()}
    assert asked["eth_call"] == asked["eth_estimateGas"] == [lowered, "latest"]
    assert node.asked[1] == ("eth_getTransactionCount", [checksummed(OWN), "pending"])
    assert len(node.asked) == 4


async def test_figures_are_those_of_the_newest_block() -> None:
    node = Scripted({**FAIR, "eth_getBalance": "0x2a"})
    reader = chain_of(node)
    assert await reader.balance(OWN) == 42
    assert await reader.block() == 16
    assert node.asked[0] == ("eth_getBalance", [checksummed(OWN), "latest"])


async def test_the_tip_rises_with_every_attempt_too() -> None:
    dear = chain(eth_gasPrice=hex(400 * GWEI))
    tips = [(await dear.price(JUDGED, OWN, attempt=turn)).max_priority_fee for turn in range(3)]
    assert tips == [100 * GWEI, 125 * GWEI, 156_250_000_000]


@pytest.mark.parametrize("kind", [Web3Exception, ValueError, TypeError, OverflowError])
def test_whatever_the_library_makes_of_an_answer_is_one_kind_of_failure(
    kind: type[Exception],
) -> None:
    with pytest.raises(ChainError, match="the node's answer makes no sense"), as_chain_error():
        raise kind


async def test_a_receipt_is_known_by_its_hash_in_capitals_too() -> None:
    found = await chain(eth_getTransactionReceipt=RECEIPT).receipt(HASH.upper().replace("X", "x"))
    assert found is not None
    assert (found.succeeded, found.block, found.cost) == (True, 16, 21_000 * GWEI)


async def test_a_receipt_without_a_price_confirms_at_a_cost_that_is_not_known() -> None:
    older = {name: value for name, value in RECEIPT.items() if name != "effectiveGasPrice"}
    found = await chain(eth_getTransactionReceipt=older).receipt(HASH)
    assert found is not None
    assert (found.succeeded, found.block, found.cost) == (True, 16, 0)
