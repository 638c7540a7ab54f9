"""Pages of positions: all rows once, what can still change first, in the order of one long list."""

from itertools import product
from pathlib import Path

import pytest

from kit.service.line import Line, change, line_to
from kit.service.stage import open_stage
from service_tui.engine import world as world_room
from service_tui.engine.books import venues as venues_room
from service_tui.server.results import positions as past_positions
from service_tui.terms import Venue
from service_tui.units import ONE, Micros
from service_tui.wire.endpoints.public import PLACE_TRADE, POSITIONS

RICH: dict[str, object] = {
    "claimed": True,
    "real_trading_enabled": True,
    "auto_redeem_enabled": False,
    "day_spend_max": Micros(100_000 * ONE),
}


def key(row: dict[str, object]) -> str:
    return f"{row['venue']} {row['market_id']} {row['status']} {row['sides']}"


async def pages(line: Line, limit: int, **query: object) -> list[dict[str, object]]:
    found: list[dict[str, object]] = []
    while True:
        page = await line.said(POSITIONS, **query, limit=limit, offset=len(found))
        assert len(page["positions"]) <= limit
        found += page["positions"]
        if len(page["positions"]) < limit:
            return found


@pytest.mark.slow
async def test_pages_are_the_whole_list_in_its_order(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(world_room, "CLOSED_KEPT", 2)
    monkeypatch.setattr(venues_room, "SETTLED_KEPT", 2)
    monkeypatch.setattr(past_positions, "PAGE", 3)
    async with open_stage(tmp_path, speed=1) as stage:
        stage.sim.service.limits = False
        await change(stage, **RICH)
        line = line_to(stage)
        soon = sorted(stage.open_markets(), key=lambda one: one.listing.resolved_at)
        for venue in Venue:
            at_home = [one for one in soon if one.listing.home is venue]
            for market, side in product([*at_home[:6], at_home[-1]], ("yes", "no")):
                order = {"market_id": market.market_id, "side": side, "amount": 10}
                await line.said(PLACE_TRADE, json=order | {"venue": venue.value})
        stage.clock.set(stage.clock.now() + 4 * 3_600)
        await stage.sim.service.world_store.advance(stage.clock.now())
        whole = await line.said(POSITIONS, venue="all", status="all")
        rows = whole["positions"]
        ended = [row["outcome"] is not None and not row["redeemable"] for row in rows]
        assert sorted(ended) == ended
        assert 5 < sum(ended) < len(rows)
        assert len({row["venue"] for row, over in zip(rows, ended, strict=True) if over}) == 3
        for limit in (1, 4, 500):
            found = await pages(line, limit, venue="all", status="all")
            assert [key(row) for row in found] == [key(row) for row in rows]
        page = await line.said(POSITIONS, venue="all", status="all", limit=1, offset=3)
        assert page["total_value"] == pytest.approx(whole["total_value"])
        assert (await line.said(POSITIONS, status="all", limit=5, offset=900))["positions"] == []
