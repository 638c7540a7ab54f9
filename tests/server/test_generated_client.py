"""A client that others' tools make of the served document trades, on a served desk."""

import asyncio
import importlib
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import httpx
import pytest

from kit.service.served import open_served
from kit.service.stage import ANSWER_S

NAME = "client_of_the_document"
REGISTER = "agent.routed_api_sdk_agents_register_post"
TRADE = "trade.routed_api_sdk_trade_post"


def made(document: Path, folder: Path) -> list[str]:
    """Make the client in a folder; returns what the generator found wrong with the document."""
    # Imported by its own test: it costs each worker a third of a second.
    from openapi_python_client import generate  # noqa: PLC0415
    from openapi_python_client.config import Config, ConfigFile, MetaType  # noqa: PLC0415

    settings = ConfigFile(post_hooks=[], package_name_override=NAME)
    config = Config.from_sources(
        settings, MetaType.NONE, document, "utf-8", overwrite=False, output_path=folder / NAME
    )
    return [f"{one.header} {one.detail}" for one in generate(config=config)]


@pytest.fixture
def _imports_end() -> Any:
    """What a test has imported of its client is forgotten after it."""
    yield
    for name in [one for one in sys.modules if one.partition(".")[0] == NAME]:
        del sys.modules[name]


def part(name: str) -> ModuleType:
    return importlib.import_module(f"{NAME}.{name}")


@pytest.mark.slow
@pytest.mark.usefixtures("_imports_end")
async def test_a_generated_client_registers_buys_and_sells(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with open_served(tmp_path / "data") as served:
        # The document is made of all models at the first call, which takes a while.
        async with httpx.AsyncClient(timeout=ANSWER_S) as line:
            text = (await line.get(f"{served.url}/openapi.json")).text
        document = tmp_path / "openapi.json"
        document.write_text(text, encoding="utf-8")
        assert await asyncio.to_thread(made, document, tmp_path) == []
        monkeypatch.syspath_prepend(tmp_path)
        client, models = part("client"), part("models")
        register, trade = part(f"api.{REGISTER}"), part(f"api.{TRADE}")

        order = models.RoutedApiSdkTradePostTradeRequest
        side = models.RoutedApiSdkTradePostTradeRequestSide
        action = models.RoutedApiSdkTradePostTradeRequestAction
        with pytest.raises(TypeError, match="'market_id' and 'side'"):
            order()

        async with client.Client(base_url=served.url, timeout=httpx.Timeout(ANSWER_S)) as stranger:
            begun = await register.asyncio(
                client=stranger,
                body=models.RoutedApiSdkAgentsRegisterPostRegisterRequest(name="heron"),
            )
        market_id = served.market_id
        async with client.AuthenticatedClient(
            base_url=served.url, token=begun.api_key, timeout=httpx.Timeout(ANSWER_S)
        ) as own:
            bought = await trade.asyncio(
                client=own, body=order(market_id=market_id, side=side.YES, amount=10.0)
            )
            assert (bought.success, bought.market_id, bought.side) == (True, market_id, "yes")
            assert bought.cost == pytest.approx(10.0)
            sold = await trade.asyncio(
                client=own,
                body=order(
                    market_id=market_id,
                    side=side.YES,
                    action=action.SELL,
                    shares=bought.shares_bought,
                ),
            )
            assert (sold.success, sold.shares_sold) == (True, bought.shares_bought)
        assert served.posts == ["POST /api/sdk/agents/register", *["POST /api/sdk/trade"] * 2]
