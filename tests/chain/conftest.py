from collections.abc import Iterator

import pytest

from kit.chain.artifacts import WITHOUT, Artifacts, artifacts
from kit.chain.nodes import AnvilNode, Node
from kit.chain.stand_in import MONEY, TOKENS
from kit.chain.world import World, creation, opened
from service_tui.signing.book import POLYGON
from service_tui.signing.signer import LocalSigner

RICH_KEYS = tuple(f"{number:064x}" for number in range(1_001, 1_101))
FUNDED = [LocalSigner(key).address for key in RICH_KEYS]


@pytest.fixture(scope="session", params=["anvil", "py-evm", "stand-in"])
def world(request: pytest.FixtureRequest) -> Iterator[World]:
    """`anvil` and `py-evm` hold the published contracts, `stand-in` those written by hand."""
    from kit.chain.inner_node import InnerNode  # noqa: PLC0415  (slow to load, and often not wanted)

    is_real = request.param != "stand-in"
    found = artifacts() if is_real else Artifacts()
    if found.missing:
        pytest.skip(WITHOUT + found.missing)
    code = {POLYGON.conditional_tokens: found.conditional_tokens if is_real else TOKENS}
    money = found.mintable_token if is_real else creation(MONEY)
    node: Node
    if request.param == "anvil":
        if found.anvil is None:
            pytest.skip(f"{WITHOUT}the node is not made for this machine")
        node = AnvilNode(found.anvil, code, FUNDED)
    else:
        node = InnerNode(code, FUNDED)
    try:
        yield opened(node, money, is_real=is_real)
    finally:
        node.close()


@pytest.fixture(scope="session")
def purse() -> Iterator[str]:
    return iter(RICH_KEYS)
