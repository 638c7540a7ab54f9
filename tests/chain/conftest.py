from collections.abc import Iterator

import pytest

from chain.artifacts import artifacts
from chain.nodes import AnvilNode, Node
from chain.stand_in import STAND_IN_MONEY, STAND_IN_TOKENS
from chain.world import World, opened
from service_tui.signing.book import POLYGON
from service_tui.signing.signer import LocalSigner

RICH_KEYS = tuple(f"{number:064x}" for number in range(1_001, 1_041))
FUNDED = [LocalSigner(key).address for key in RICH_KEYS]


def nodes() -> list[str]:
    """The EVMs of this run: both where npm is there, and never none."""
    found = artifacts()
    return ["anvil", "py-evm"] if found.anvil and not found.missing else ["py-evm"]


def pytest_report_header() -> str:
    found = artifacts()
    if found.missing:
        return f"chain tests: on py-evm with stand-in contracts only ({found.missing})"
    return f"chain tests: the published contracts on {' and '.join(nodes())}"


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "world" in metafunc.fixturenames:
        metafunc.parametrize("world", nodes(), indirect=True, scope="session")


@pytest.fixture(scope="session")
def world(request: pytest.FixtureRequest) -> Iterator[World]:
    found = artifacts()
    tokens = found.conditional_tokens or STAND_IN_TOKENS
    code = {POLYGON.conditional_tokens: tokens}
    node: Node
    if request.param == "anvil":
        assert found.anvil is not None
        node = AnvilNode(found.anvil, code, FUNDED)
    else:
        from chain.inner_node import InnerNode  # noqa: PLC0415  (slow to load, and often not wanted)

        node = InnerNode(code, FUNDED)
    yield opened(node, found.mintable_token or STAND_IN_MONEY, found.missing)
    node.close()


@pytest.fixture(scope="session")
def purse() -> Iterator[str]:
    return iter(RICH_KEYS)
