"""A position that is sold whole stays in the book of what was closed."""

from pathlib import Path

import pytest

from line import Line
from service_tui.wire.endpoints import PLACE_TRADE, POSITIONS
from support import open_stage


async def test_a_position_sold_whole_is_listed_as_sold(tmp_path: Path) -> None:
    async with open_stage(tmp_path, speed=0) as stage:
        own = Line(stage, stage.key)
        order = {"market_id": stage.open_markets()[0].market_id, "side": "yes"}
        bought = (await own.ask(PLACE_TRADE, json={**order, "amount": 20})).json()
        sale = {**order, "action": "sell", "shares": bought["shares_bought"]}
        sold = (await own.ask(PLACE_TRADE, json=sale)).json()
        assert (await own.ask(POSITIONS)).json()["positions"] == []
        (row,) = (await own.ask(POSITIONS, status="closed")).json()["positions"]
        assert (row["status"], row["outcome"]) == ("sold", None)
        assert row["realized_pnl"] == pytest.approx(sold["cost"] - 20)
        assert (await own.ask(POSITIONS, status="resolved")).json()["positions"] == []
