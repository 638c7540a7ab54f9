from collections.abc import Iterator

import pytest

from kit.chain.artifacts import artifacts
from kit.chain.nodes import AnvilNode, Node
from kit.chain.stand_in import MONEY, TOKENS
from kit.chain.world import World, creation, opened
from service_tui.signing.book import POLYGON
from service_tui.signing.signer import LocalSigner

RICH_KEYS = tuple(f"{number:064x}" for number in range(1_001, 1_101))
FUNDED = [LocalSigner(key).address for key in RICH_KEYS]


def worlds() -> list[str]:
    """The EVMs and contracts of this run; never none."""
    found = artifacts()
    if found.missing:
        return ["stand-in"]
    return [*(["anvil"] if found.anvil else []), "py-evm", "stand-in"]


def pytest_report_header() -> str:
    missing = artifacts().missing
    return f"chain tests run on: {', '.join(worlds())}" + (f" ({missing})" if missing else "")


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "world" in metafunc.fixturenames:
        metafunc.parametrize("world", worlds(), indirect=True, scope="session")


@pytest.fixture(scope="session")
def world(request: pytest.FixtureRequest) -> Iterator[World]:
    """`anvil` and `py-evm` hold the published contracts, `stand-in` those written by hand."""
    from kit.chain.inner_node import InnerNode  # noqa: PLC0415  (slow to load, and often not wanted)

    found = artifacts()
    is_real = request.param != "stand-in"
    code = {POLYGON.conditional_tokens: found.conditional_tokens if is_real else TOKENS}
    money = found.mintable_token if is_real else creation(MONEY)
    node: Node
    if request.param == "anvil":
        assert found.anvil is not None
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
