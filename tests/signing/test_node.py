"""What web3 may ask over our line, and what it makes of a node that lies."""

import asyncio
from typing import Any

import pytest
from eth_abi.abi import encode
from web3 import AsyncWeb3
from web3.exceptions import Web3Exception
from web3.types import RPCResponse

from service_tui.addresses import checksummed, keccak256
from service_tui.signing.book import POLYGON
from service_tui.signing.chain import Answer, Parameter
from service_tui.signing.errors import ChainError
from service_tui.signing.node import Relayed, chain_of, contracts_of

OWN = checksummed("0x" + "aa" * 20)
ASKED_OF_A_NODE = {
    "eth_chainId",
    "eth_blockNumber",
    "eth_getBalance",
    "eth_getTransactionCount",
    "eth_gasPrice",
    "eth_estimateGas",
    "eth_getTransactionReceipt",
    "eth_call",
}


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


async def test_a_yes_or_no_is_one_or_the_other() -> None:
    with pytest.raises(ChainError):
        await contracts_of(Asked(f"0x{2:064x}"), POLYGON).is_approved_for_all(OWN, OWN)


@pytest.mark.parametrize("number", [2**256, -1, "0x" + "f" * 65, "0x", "1", 7, 0.5, True])
async def test_numbers_that_no_chain_has_are_refused(number: Answer) -> None:
    node = chain_of(Asked(hex(number) if isinstance(number, int) and number > 9 else number))
    for asked in (node.block(), node.balance(OWN), node.count(OWN, "latest"), node.check_chain()):
        with pytest.raises(ChainError):
            await asked


async def test_a_revert_that_names_an_address_has_nothing_fetched() -> None:
    """EIP-3668: a contract may say where to look the answer up. Nobody looks here."""
    met: list[object] = []
    server = await asyncio.start_server(lambda *_: met.append(_), "127.0.0.1", 0)
    url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/{{sender}}/{{data}}"
    lookup = keccak256(b"OffchainLookup(address,string[],bytes,bytes4,bytes)")[:4]
    kinds = ("address", "string[]", "bytes", "bytes4", "bytes")
    revert = lookup + encode(kinds, (OWN.lower(), [url], b"", bytes(4), b""))

    class Reverting(Relayed):
        ccip_read_allow_http = True

        async def make_request(self, *_: Any) -> RPCResponse:
            error = {"code": 3, "message": "execution reverted", "data": "0x" + revert.hex()}
            return {"jsonrpc": "2.0", "id": 1, "error": error}

    web = AsyncWeb3(Reverting(Asked(None), {}), middleware=[])
    with pytest.raises(Web3Exception):
        await web.eth.call({"to": OWN, "data": "0x"})
    server.close()
    await server.wait_closed()
    assert met == []
