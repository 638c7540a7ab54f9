"""Single trades: what a refusal says and pauses, and which page of the history is asked for."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from kit.engine.bare import AT, bare_world
from kit.service.bare import bare_service, request_to
from kit.service.line import change, line_to
from kit.service.stage import open_stage
from service_tui.engine.amm.exchange import Order
from service_tui.engine.errors import MarketNotOpen, NoLiquidity, NotFilledWhole, Refusal
from service_tui.engine.events import TradeFailed
from service_tui.server.routes.trades import failure_of, refused_body
from service_tui.terms import Action, Side, Venue
from service_tui.units import ONE, Micros
from service_tui.wire.endpoints.public import PLACE_TRADE, TRADES
from service_tui.wire.trades import TradeBody, TradeRequest


@pytest.mark.parametrize(
    ("refusal", "pauses"),
    [(NoLiquidity("x"), True), (NotFilledWhole("x"), True), (MarketNotOpen("x"), False)],
)
def test_a_side_pauses_after_an_order_that_met_too_little(
    refusal: Refusal, *, pauses: bool
) -> None:
    world = bare_world()
    order = Order(world.agents["ada"], "m1", Side.NO, Action.BUY, Micros(5 * ONE))
    found = failure_of(request_to(bare_service(world), "ada"), order, refusal)
    assert found == ([TradeFailed("ada", AT, "m1", Side.NO, refusal.code)] if pauses else [])


@pytest.mark.parametrize(
    ("venue", "refusal", "fields"),
    [
        (Venue.SIM, NoLiquidity("x"), {"balance": 10_000.0, "retryable": True}),
        (Venue.EVM, MarketNotOpen("x"), {"balance": 1_000.0, "simulated": True}),
    ],
)
@pytest.mark.parametrize("dry", [True, False])
def test_a_refused_order_tells_the_money_of_its_venue_and_whether_it_may_be_tried_again(
    venue: Venue, refusal: Refusal, fields: dict[str, Any], *, dry: bool
) -> None:
    sent = TradeRequest(market_id="m1", side=Side.NO, amount=5.0, venue=venue, dry_run=dry)
    body = refused_body(request_to(bare_service(), "ada"), sent, refusal)
    assert body == TradeBody(
        success=False, market_id="m1", side=Side.NO, dry_run=dry, error=refusal.error,
        error_code=refusal.code, error_hint=refusal.fix, fix=refusal.fix, **fields,
    )  # fmt: skip


@pytest.mark.slow
async def test_a_size_with_too_many_decimals_is_named_with_how_many_there_may_be(
    tmp_path: Path,
) -> None:
    async with open_stage(tmp_path, speed=0) as stage:
        line, order = line_to(stage), {"market_id": stage.open_markets()[0].market_id}
        for more, named, decimals in (
            ({"amount": 1.005}, "amount", 2),
            ({"action": "sell", "shares": 1.000_001}, "shares", 5),
        ):
            said = await line.said(PLACE_TRADE, 422, json=order | {"side": "no"} | more)
            assert said["detail"][0]["loc"] == ["body", named]
            assert said["detail"][0]["msg"] == f"at most {decimals} decimals"


@pytest.mark.slow
async def test_a_sale_tells_what_it_left_and_a_buy_nothing(tmp_path: Path) -> None:
    async with open_stage(tmp_path, speed=0) as stage:
        line, order = line_to(stage), {"market_id": stage.open_markets()[0].market_id}
        bought = await line.said(PLACE_TRADE, json=order | {"side": "no", "amount": 5})
        assert bought["warnings"] == []
        shares = bought["shares_bought"]
        sold = await line.said(
            PLACE_TRADE, json=order | {"side": "no", "action": "sell", "shares": round(shares, 5)}
        )
        assert sold["success"], sold
        assert sold["shares_sold"] == pytest.approx(shares, abs=1e-5)


@pytest.mark.slow
async def test_a_history_is_of_its_own_agent_and_of_what_was_asked_for(tmp_path: Path) -> None:
    async with open_stage(tmp_path, speed=0) as stage:
        await change(stage, claimed=True, real_trading_enabled=True)
        line, moments = line_to(stage), list[str]()
        at_home = [one for one in stage.open_markets() if one.listing.home is Venue.EVM]
        first, second = (one.market_id for one in at_home[:2])
        made: list[str] = []
        for market_id, venue in (
            (first, "sim"), (second, "sim"), (first, "evm_venue"), (second, "evm_venue"),
        ):  # fmt: skip
            moments.append(datetime.fromtimestamp(stage.clock.now(), UTC).isoformat())
            order = {"market_id": market_id, "side": "no", "amount": 5, "venue": venue}
            done = await line.said(PLACE_TRADE, json=order)
            assert done["success"], done["error"]
            made.append(done["trade_id"])
            await line.wait(10)

        async def listed(**query: Any) -> tuple[list[str], int]:
            said = await line.said(TRADES, **query)
            return [row["id"] for row in said["trades"]], said["total_count"]

        newest = made[::-1]
        assert await listed() == await listed(agent_id=stage.agent_id) == (newest, 4)
        assert await listed(venue="sim") == (newest[2:], 2)
        assert await listed(venue="evm_venue") == (newest[:2], 2)
        # All of a venue's orders are read, and then the page is cut.
        assert await listed(venue="evm_venue", limit=1, offset=1) == ([newest[1]], 2)
        assert await listed(limit=2, offset=1) == (newest[1:3], 4)
        assert await listed(market_id=first) == ([newest[1], newest[3]], 2)
        assert await listed(since=moments[2]) == (newest[:2], 2)
        assert await listed(until=moments[2]) == (newest[2:], 2)
        refused = await line.said(TRADES, 404, agent_id="bea")
        assert refused["fix"]
