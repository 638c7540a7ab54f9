"""What is asked of a contract: which function, of which contract, with which arguments."""

from collections.abc import Awaitable, Callable

import pytest
from eth_abi.abi import encode

from service_tui.addresses import checksummed, keccak256
from service_tui.signing.book import POLYGON
from service_tui.signing.chain import Answer, Parameter
from service_tui.signing.contracts import Contracts
from service_tui.signing.errors import ChainError
from service_tui.signing.node import contracts_of

OWN = "0x" + "Aa" * 20
TOKEN = checksummed("0x" + "cc" * 20)
CONDITION = bytes(range(32))
COLLECTION = bytes(range(32, 64))


def data(signature: str, *values: object) -> str:
    """Call data, made without the code that is tested."""
    kinds = [kind for kind in signature.partition("(")[2].rstrip(")").split(",") if kind]
    return "0x" + (keccak256(signature.encode())[:4] + encode(kinds, values)).hex()


class Answers:
    """A node whose contracts answer one word after another; it keeps what was asked."""

    def __init__(self, *words: int) -> None:
        self.words = list(words)
        self.asked: list[tuple[str, object]] = []

    async def __call__(self, method: str, parameters: list[Parameter], /) -> Answer:
        request, block = parameters
        assert (method, block) == ("eth_call", "latest")
        assert isinstance(request, dict)
        self.asked.append((request["to"].lower(), request["data"]))
        return f"0x{self.words.pop(0):064x}"


READS: dict[str, tuple[Callable[[Contracts], Awaitable[object]], str, str]] = {
    "denominator": (
        lambda asked: asked.payout_denominator(CONDITION),
        POLYGON.conditional_tokens,
        data("payoutDenominator(bytes32)", CONDITION),
    ),
    "numerator of yes": (
        lambda asked: asked.payout_numerator(CONDITION, is_yes=True),
        POLYGON.conditional_tokens,
        data("payoutNumerators(bytes32,uint256)", CONDITION, 0),
    ),
    "numerator of no": (
        lambda asked: asked.payout_numerator(CONDITION, is_yes=False),
        POLYGON.conditional_tokens,
        data("payoutNumerators(bytes32,uint256)", CONDITION, 1),
    ),
    "tokens": (
        lambda asked: asked.token_balance(OWN, 77),
        POLYGON.conditional_tokens,
        data("balanceOf(address,uint256)", OWN.lower(), 77),
    ),
    "money": (
        lambda asked: asked.money(TOKEN, OWN),
        TOKEN,
        data("balanceOf(address)", OWN.lower()),
    ),
}


@pytest.mark.parametrize("name", READS)
async def test_a_read_asks_its_contract_this_and_gives_its_number(name: str) -> None:
    ask, target, expected = READS[name]
    node = Answers(41)
    assert await ask(contracts_of(node, POLYGON)) == 41
    assert node.asked == [(target.lower(), expected)]


def derivation(index_set: int, collateral: str) -> list[tuple[str, str]]:
    tokens = POLYGON.conditional_tokens.lower()
    signature = "getCollectionId(bytes32,bytes32,uint256)"
    return [
        (tokens, data(signature, bytes(32), CONDITION, index_set)),
        (tokens, data("getPositionId(address,bytes32)", collateral.lower(), COLLECTION)),
    ]


@pytest.mark.parametrize(("is_yes", "index_set"), [(True, 1), (False, 2)])
async def test_a_token_is_derived_from_the_side_and_the_collateral(
    *, is_yes: bool, index_set: int
) -> None:
    node = Answers(int.from_bytes(COLLECTION), 99)
    found = await contracts_of(node, POLYGON).token_id(
        CONDITION, is_yes=is_yes, collateral=TOKEN, is_neg_risk=False
    )
    assert found == 99
    assert node.asked == derivation(index_set, TOKEN)


async def test_a_negative_risk_token_stands_on_what_the_adapter_names() -> None:
    wrapped = "0x" + "dd" * 20
    node = Answers(int(wrapped, 16), int.from_bytes(COLLECTION), 99)
    found = await contracts_of(node, POLYGON).token_id(
        CONDITION, is_yes=False, collateral=TOKEN, is_neg_risk=True
    )
    assert found == 99
    adapter = (POLYGON.neg_risk_adapter.lower(), data("wcol()"))
    assert node.asked == [adapter, *derivation(2, wrapped)]


async def test_a_node_that_fails_leaves_a_read_without_a_number() -> None:
    async def failing(_method: str, _parameters: list[Parameter], /) -> Answer:
        raise ChainError("no line")

    with pytest.raises(ChainError, match=r"^no line$"):
        await contracts_of(failing, POLYGON).money(TOKEN, OWN)
