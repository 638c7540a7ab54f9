"""Pages of positions, and what they come to."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from kit.engine.bare import AT
from kit.service.line import change, line_to
from kit.service.stage import open_stage
from service_tui.server.routes.positions import concentration_of, page_of
from service_tui.terms import Venue
from service_tui.wire.endpoints.public import PLACE_TRADE, PORTFOLIO, POSITIONS
from service_tui.wire.positions import PositionBody, PositionsQuery


def row(name: str, value: float = 1.0, **other: Any) -> PositionBody:
    return PositionBody(market_id=name, current_value=value, **other)


def ended(name: str, ago_s: float, **other: Any) -> PositionBody:
    at = datetime.fromtimestamp(AT - ago_s, UTC)
    return row(name, 0.0, outcome=True, resolved_at=at, **other)


LIVE = [
    row("s1", 2.0), row("s2", 0.0), row("e1", 3.0, sources=("sdk:dip",)),
    row("e9", 4.0, sources=("news",)), row("e3", 7.0, redeemable=True, outcome=True),
]  # fmt: skip
OVER = [
    [ended("s5", 10, sources=("a", "dip")), ended("s6", 50)],
    [ended("e4", 25), ended("e5", 30), row("never", 0.0, outcome=True)],
    [ended("o4", 20)],
]


@pytest.mark.parametrize(
    ("query", "names", "value"),
    [
        ({}, "s1 s2 e1 e9 e3 s5 o4 e4 e5 s6 never", 9.0),
        ({"limit": 3}, "s1 s2 e1", 9.0),
        ({"limit": 3, "offset": 4}, "e3 s5 o4", 9.0),
        ({"offset": 9}, "s6 never", 9.0),
        ({"limit": 0}, "", 9.0),
        ({"source": "dip"}, "e1 s5", 3.0),
        ({"source": "dip", "limit": 1, "offset": 1}, "s5", 3.0),
    ],
)
def test_what_can_still_change_comes_first_and_then_what_ended_newest_first(
    query: dict[str, Any], names: str, value: float
) -> None:
    page = page_of(PositionsQuery(**query), LIVE, OVER)
    assert [one.market_id for one in page.rows] == names.split()
    # What has no outcome counts, on every page.
    assert page.value == value


@pytest.mark.parametrize(
    ("values", "first", "three"),
    [((1.0, 4.0, 2.0, 3.0), 0.4, 0.9), ((5.0,), 1.0, 1.0), ((), 0.0, 0.0), ((0.0,), 0.0, 0.0)],
)
def test_it_is_told_how_much_lies_in_the_largest_markets(
    values: tuple[float, ...], first: float, three: float
) -> None:
    found = concentration_of(values)
    assert found.top_market_pct == pytest.approx(first)
    assert found.top_3_markets_pct == pytest.approx(three)


@pytest.mark.slow
async def test_positions_and_portfolio_tell_each_venue_in_its_own_money_and_their_sum(
    tmp_path: Path,
) -> None:
    async with open_stage(tmp_path, speed=0) as stage:
        line = line_to(stage)
        body = await line.said(PORTFOLIO)
        # An agent that nobody has claimed has no real venues.
        assert (body["evm_venue"], body["sol_venue"], body["positions_count"]) == (None, None, 0)
        await change(stage, claimed=True, real_trading_enabled=True)
        for venue, amount in ((Venue.SIM, 30), (Venue.SIM, 60), (Venue.EVM, 9), (Venue.SOL, 6)):
            at_home = [one for one in stage.open_markets() if one.listing.home is venue]
            at_home.sort(key=lambda one: -one.listing.resolves_at)
            market = at_home[amount == 60]
            order = {"market_id": market.market_id, "side": "yes", "amount": amount}
            done = await line.said(PLACE_TRADE, json=order | {"venue": venue.value})
            assert done["success"], done["error"]
        found = await line.said(POSITIONS)
        rows = found["positions"]
        assert [one["venue"] for one in rows] == ["sim", "sim", "evm_venue", "sol_venue"]
        assert rows[0]["current_value"] > rows[1]["current_value"]
        assert found["total_value"] == pytest.approx(sum(one["current_value"] for one in rows))
        summary = found["pnl_summary"]
        parts = [summary[venue.value] for venue in Venue]
        for name in ("realized", "unrealized", "total"):
            assert summary["combined"][name] == pytest.approx(sum(one[name] for one in parts))
        assert found["total_pnl"] == summary["combined"]["total"]
        assert [bool(one.get("as_of")) for one in parts] == [False, True, True]
        body = await line.said(PORTFOLIO)
        for venue, count, trades in (("sim", 2, 2), ("evm_venue", 1, 1), ("sol_venue", 1, 1)):
            block = body[venue]
            mine = [one["current_value"] for one in rows if one["venue"] == venue]
            assert (block["positions_count"], block["trades_count"]) == (count, trades)
            assert block["total_exposure"] == pytest.approx(sum(mine))
        assert body["total"]["positions_count"] == 4
        assert body["total_exposure"] == pytest.approx(found["total_value"])
        assert body["balance_usdc"] == body["evm_venue"]["balance"]
        # What is requested narrows the totals, and no block.
        one = await line.said(PORTFOLIO, venue="sol_venue")
        assert (one["total"]["positions_count"], one["sim"]["positions_count"]) == (1, 2)
        assert one["concentration"]["top_market_pct"] == 1.0
        only = await line.said(POSITIONS, venue="sol_venue")
        assert [row["venue"] for row in only["positions"]] == ["sol_venue"]
