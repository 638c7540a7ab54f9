"""What web3 may ask over our line, and what it makes of a node that lies."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any
from unittest.mock import AsyncMock

import pytest
from aiohttp import ClientError
from eth_abi.abi import encode
from web3 import AsyncWeb3
from web3.exceptions import Web3Exception
from web3.types import RPCResponse
from web3.utils import async_exception_handling

from kit.ports import until_closed
from service_tui.addresses import checksummed, keccak256
from service_tui.server.chain_node.node import PAYOUT_TOPIC
from service_tui.signing import node
from service_tui.signing.approvals import approvals
from service_tui.signing.book import POLYGON, ExchangeVersion
from service_tui.signing.chain import Answer, Parameter
from service_tui.signing.errors import ChainError
from service_tui.signing.node import Relayed, chain_of, contracts_of
from service_tui.signing.policy import SigningPolicy

OWN = checksummed("0x" + "aa" * 20)
JUDGED = SigningPolicy().approval(approvals(POLYGON, ExchangeVersion.V1)[0])


class Asked:
    """A line that answers the same to everything, and writes down what was asked."""

    def __init__(self, answer: Answer) -> None:
        self.answer = answer
        self.methods: list[str] = []

    async def __call__(self, method: str, _: list[Parameter], /) -> Answer:
        self.methods.append(method)
        return self.answer


@pytest.mark.parametrize(
    "ask",
    [
        lambda eth: eth.send_raw_transaction("0x00"),
        lambda eth: eth.send_transaction({"from": OWN, "to": OWN, "value": 1}),
        lambda eth: eth.sign(OWN, text="all my money"),
        lambda eth: eth.accounts,
        lambda eth: eth.fee_history(1, "latest"),
        lambda eth: eth.get_code(OWN),
    ],
)
async def test_what_is_not_in_the_table_never_leaves(ask: Any) -> None:
    line = Asked("0x1")
    for made in (chain_of(line), contracts_of(line, POLYGON)):
        web = made._eth if hasattr(made, "_eth") else made._known.w3.eth
        with pytest.raises(ChainError, match="is not asked here"):
            await ask(web)
    assert line.methods == []


async def test_a_name_is_never_looked_up() -> None:
    line = Asked("0x" + "00" * 32)
    with pytest.raises((ChainError, ValueError)):
        await chain_of(line).balance("vitalik.eth")
    assert line.methods == []


@pytest.mark.parametrize(
    "word",
    [
        "0x" + "00" * 31,
        "0x" + "00" * 33,
        "0x" + "00" * 64,
        "0x",
        None,
        1,
        True,
        [],
        {},
        "0x" + "g" * 64,
    ],
)
async def test_a_contract_answers_one_word_or_nothing_is_known(word: Answer) -> None:
    contracts = contracts_of(Asked(word), POLYGON)
    with pytest.raises(ChainError):
        await contracts.token_balance(OWN, 1)
    with pytest.raises(ChainError):
        await contracts.token_id(
            bytes(32), is_yes=True, collateral=POLYGON.usdc_bridged, is_neg_risk=True
        )


@pytest.mark.parametrize("number", [2**256, -1, "0x" + "f" * 65, "0x", "1", 7, 0.5, True])
async def test_numbers_that_no_chain_has_are_refused(number: Answer) -> None:
    node = chain_of(Asked(hex(number) if isinstance(number, int) and number > 9 else number))
    for asked in (node.block(), node.balance(OWN), node.count(OWN, "latest"), node.check_chain()):
        with pytest.raises(ChainError):
            await asked


async def test_an_address_is_one_word_of_twenty_bytes() -> None:
    node = contracts_of(Asked(f"0x{1:08x}{2**150:056x}"), POLYGON)
    with pytest.raises(ChainError):
        await node.token_id(
            bytes(32), is_yes=True, collateral=POLYGON.usdc_bridged, is_neg_risk=True
        )


@pytest.mark.parametrize("chain_id", ["0x1", "0x0", "0x2105", hex(137 + 2**64), "0x13882"])
async def test_a_node_of_another_chain_is_not_asked_further(chain_id: str) -> None:
    with pytest.raises(ChainError, match="is on chain"):
        await chain_of(Asked(chain_id)).check_chain()


# -- a revert that says where to look the answer up --------------------------------------------


@asynccontextmanager
async def listening() -> AsyncGenerator[tuple[str, list[object]]]:
    """An address that a contract may name, and who came there."""
    met: list[object] = []

    async def hear(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        met.append(reader)
        writer.write(b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
        await writer.drain()
        writer.close()

    async with until_closed(await asyncio.start_server(hear, "127.0.0.1", 0)) as server:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/{{sender}}/{{data}}", met


def lookup_at(url: str) -> str:
    """What a contract reverts with that wants its answer looked up. Source: EIP-3668."""
    named = keccak256(b"OffchainLookup(address,string[],bytes,bytes4,bytes)")[:4]
    kinds = ("address", "string[]", "bytes", "bytes4", "bytes")
    return "0x" + (named + encode(kinds, (OWN.lower(), [url], b"", bytes(4), b""))).hex()


class Reverting(Relayed):
    """A line that hands web3 the revert itself, which ours never does."""

    ccip_read_allow_http = True
    revert = ""

    async def make_request(self, *_: Any) -> RPCResponse:
        error = {"code": 3, "message": "execution reverted", "data": self.revert}
        return {"jsonrpc": "2.0", "id": 1, "error": error}


@pytest.mark.parametrize("follows", [False, True])
async def test_a_revert_that_names_an_address_has_nothing_fetched(
    monkeypatch: pytest.MonkeyPatch, *, follows: bool
) -> None:
    # The library itself spares this machine's own addresses, and so would prove nothing here.
    allowed = AsyncMock(return_value=None)
    monkeypatch.setattr(async_exception_handling, "async_validate_ccip_url_host", allowed)
    async with listening() as (url, met):
        provider = Reverting(Asked(None), {})
        provider.revert = lookup_at(url)
        if follows:
            # The counterpart: left as the library has it, somebody comes.
            provider.global_ccip_read_enabled = True
        web = AsyncWeb3(provider, middleware=[])
        with pytest.raises((Web3Exception, ClientError)):
            await web.eth.call({"to": OWN, "data": "0x"})
    assert bool(met) is follows


@pytest.mark.parametrize("as_answer", [False, True])
async def test_a_relay_that_hands_on_a_revert_has_nothing_fetched(*, as_answer: bool) -> None:
    async with listening() as (url, met):
        line = Asked(lookup_at(url) if as_answer else {"error": {"data": lookup_at(url)}})
        with pytest.raises(ChainError):
            await contracts_of(line, POLYGON).money(POLYGON.usdc_bridged, OWN)
        with pytest.raises(ChainError):
            await chain_of(line).price(JUDGED, OWN)
    assert met == []


def test_the_topic_of_a_payout_is_the_hash_of_its_event() -> None:
    event = "PayoutRedemption(address,address,bytes32,bytes32,uint256[],uint256)"
    assert "0x" + keccak256(event.encode()).hex() == PAYOUT_TOPIC


WORD = "0x" + "ab" * 32


@pytest.mark.parametrize(
    ("form", "answer", "is_one"),
    [
        ("_bytes", "0x", True), ("_bytes", "0xab", True), ("_bytes", WORD, True),
        ("_bytes", WORD + "cd" * 32, True), ("_bytes", "0xabc", False), ("_bytes", "ab", False),
        ("_bytes", None, False), ("_bytes", "0x" + "ab" * 32_768, True),
        ("_bytes", "0x" + "ab" * 32_769, False),
        ("_word", WORD, True), ("_word", WORD + "cd", False), ("_word", "0xab", False),
        ("_word", 7, False),
        ("_quantity", "0x0", True), ("_quantity", WORD, True), ("_quantity", WORD + "0", False),
        ("_quantity", "0x", False), ("_quantity", 7, False),
    ],
    ids=lambda one: str(one)[:12],
)  # fmt: skip
def test_an_answer_of_a_node_has_its_form(form: str, answer: Any, *, is_one: bool) -> None:
    check = getattr(node, form)
    if is_one:
        assert check("eth_call", answer) == answer
        return
    with pytest.raises(ChainError):
        check("eth_call", answer)
