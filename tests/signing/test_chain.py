import re
from collections.abc import Callable, Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kit.examples import examples
from service_tui.signing.approvals import approvals
from service_tui.signing.book import POLYGON, ExchangeVersion
from service_tui.signing.chain import Answer, ChainReader, Parameter
from service_tui.signing.errors import ChainError, MalformedError, NotRedeemableError
from service_tui.signing.node import chain_of, contracts_of
from service_tui.signing.policy import GWEI, Redemption, SignableCall, SigningPolicy
from service_tui.signing.redemption import check_redeemable

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
