from pathlib import Path
from typing import Any, Final

import pytest

from kit.clock import leap
from kit.service.line import Line, change, line_to
from kit.service.stage import open_stage
from service_tui.engine.events import Fill, Note
from service_tui.server.past.agent_past import AgentFill, in_one_form
from service_tui.server.routes.market_context import AMOUNTS, discipline_part
from service_tui.terms import Action, Side, Venue
from service_tui.units import ONE, Micros, Timestamp
from service_tui.wire.endpoints.public import MARKET, MARKET_CONTEXT, PLACE_TRADE

NOW: Final = Timestamp(1_800_000_000.0)


async def context(line: Line, market_id: str, **params: object) -> dict[str, Any]:
    return await line.said(MARKET_CONTEXT, path={"market_id": market_id}, **params)


async def trade(line: Line, market_id: str, **fields: object) -> dict[str, Any]:
    order = {"market_id": market_id, "side": "yes"} | fields
    said = await line.said(PLACE_TRADE, json=order)
    assert said["success"], said["error"]
    return said


@pytest.mark.slow
async def test_the_estimates_are_what_a_dry_run_gets(tmp_path: Path) -> None:
    async with open_stage(tmp_path, speed=0) as stage:
        line = line_to(stage)
        # The most liquid one takes every size.
        market_id = max(stage.open_markets(), key=lambda one: one.b).market_id
        for chance, side in ((0.999, "yes"), (0.001, "no")):
            said = (await context(line, market_id, my_probability=chance))["slippage"]
            assert (said["venue"], said["side"], said["spread_pct"]) == ("sim", side, 0)
            assert [one["amount_usd"] for one in said["estimates"]] == list(AMOUNTS)
            for one in said["estimates"]:
                order = {"market_id": market_id, "side": side, "amount": one["amount_usd"]}
                quote = await line.said(PLACE_TRADE, json=order | {"dry_run": True})
                assert (one["shares"], one["avg_price"]) == (quote["shares"], quote["avg_price"])
                slipped = quote["avg_price"] / quote["price_before"] - 1
                assert one["slippage_pct"] == pytest.approx(slipped, abs=1e-6)
            slips = [one["slippage_pct"] for one in said["estimates"]]
            assert slips == sorted(slips)


@pytest.mark.slow
async def test_the_market_and_the_position_agree_with_their_own_endpoints(tmp_path: Path) -> None:
    async with open_stage(tmp_path, speed=0) as stage:
        line = line_to(stage)
        market_id = stage.open_markets()[-1].market_id
        empty = await context(line, market_id)
        assert empty["position"]["has_position"] is False
        assert not any(value is None for name, value in empty["position"].items() if name != "side")
        assert empty["positions"] == {"sim": None, "evm_venue": None, "sol_venue": None}
        await trade(line, market_id, amount=20)
        bought = await trade(line, market_id, side="no", amount=60, reasoning="because")
        await leap(stage.clock, 1_800)
        said = await context(line, market_id)
        one = (await line.said(MARKET, path={"market_id": market_id}))["market"]
        for name in ("question", "status", "current_price", "price_24h_ago", "url", "tags"):
            assert said["market"][name] == one[name]
        held = said["position"]
        assert said["positions"]["sim"] == held
        assert (held["side"], held["shares"]) == ("no", bought["shares"])
        assert held["avg_cost_basis"] == pytest.approx(60 / bought["shares"])
        assert held["unrealized_pnl"] == pytest.approx(held["current_value"] - 60)
        assert held["pnl_pct"] == pytest.approx(held["unrealized_pnl"] / 60, abs=1e-6)
        assert held["position_age_hours"] == pytest.approx(0.5, abs=0.01)
        assert [row["action"] for row in said["recent_trades"]] == ["buy_no", "buy_yes"]
        assert said["recent_trades"][0]["reasoning"] == "because"
        assert said["discipline"]["last_action"] == "buy_no"
        assert said["discipline"]["direction_changes_24h"] == 1
        elsewhere = await context(line, market_id, venue="polymarket")
        assert elsewhere["position"]["has_position"] is False


def fills(*actions: str, step_s: float = 60.0) -> list[AgentFill]:
    """Trades like "buy_yes", given oldest first, as a history gives them: newest first."""
    made = [
        Fill(
            f"t{count}", "a", "m", Side(side), Action(action), Micros(ONE), Micros(ONE // 2), 0.5,
            0.5, Timestamp(NOW - step_s * (len(actions) - count)), NOW, Micros(0), Note(),
        )
        for count, (action, _, side) in enumerate(one.partition("_") for one in actions)
    ]  # fmt: skip
    return [one for one in in_one_form(made) if isinstance(one, AgentFill)][::-1]


TURNS: Final = {
    (): (0, "none"),
    ("buy_yes", "buy_yes"): (0, "none"),
    ("buy_yes", "sell_no"): (0, "none"),
    ("buy_yes", "sell_yes"): (1, "mild"),
    ("buy_yes", "buy_no"): (1, "mild"),
    ("buy_no", "sell_yes", "buy_yes"): (1, "mild"),
    ("buy_yes", "sell_yes", "buy_yes"): (2, "mild"),
    ("buy_yes", "buy_no", "buy_yes", "buy_no"): (3, "severe"),
}


@pytest.mark.parametrize("actions", TURNS, ids=" ".join)
def test_a_turn_is_a_change_of_the_direction_not_of_the_action(actions: tuple[str, ...]) -> None:
    said = discipline_part(fills(*actions), NOW)
    assert (said.direction_changes_24h, said.warning_level) == TURNS[actions]
    assert (said.flip_flop_warning is None) is (said.warning_level == "none")


def test_turns_of_yesterday_do_not_count() -> None:
    said = discipline_part(fills("buy_yes", "buy_no", "buy_yes", step_s=50_000), NOW)
    assert said.direction_changes_24h == 0
    assert said.last_action == "buy_yes"


@pytest.mark.slow
async def test_an_edge_is_worth_a_trade_from_the_threshold_on(tmp_path: Path) -> None:
    async with open_stage(tmp_path, speed=0) as stage:
        line = line_to(stage)
        markets = [one for one in stage.open_markets() if 0.3 < one.price() < 0.7]
        soon = min(markets, key=lambda one: one.listing.resolves_at)
        price = soon.price()
        nothing = (await context(line, soon.market_id))["edge"]
        assert nothing == {
            "suggested_threshold": 0.05,
            "base_threshold": 0.05,
            "time_factor": 1.0,
            "user_probability": None,
            "user_edge": None,
            "recommended_side": None,
            "recommendation": None,
        }
        cases = {0.06: ("yes", "TRADE"), -0.06: ("no", "TRADE"), 0.04: ("yes", "SKIP")}
        for edge, wanted in cases.items():
            said = (await context(line, soon.market_id, my_probability=price + edge))["edge"]
            assert (said["recommended_side"], said["recommendation"]) == wanted
            assert said["user_edge"] == pytest.approx(edge, abs=1e-6)
        # That a thing is impossible is a probability as well.
        sure = (await context(line, soon.market_id, my_probability=0))["edge"]
        assert (sure["user_probability"], sure["recommended_side"]) == (0.0, "no")
        await trade(line, soon.market_id, amount=1)
        near = soon.price() + 0.01
        held = (await context(line, soon.market_id, my_probability=near))["edge"]
        assert held["recommendation"] == "HOLD"
        late = max(markets, key=lambda one: one.listing.resolves_at)
        left_s = late.listing.resolves_at - stage.world.world_at
        assert left_s > 7 * 86_400
        assert (await context(line, late.market_id))["edge"]["suggested_threshold"] == 0.075


@pytest.mark.slow
async def test_what_speaks_against_a_trade_is_said(tmp_path: Path) -> None:
    async with open_stage(tmp_path, speed=1) as stage:
        line = line_to(stage)
        market = min(stage.open_markets(), key=lambda one: one.listing.resolves_at)
        assert (
            "the market resolves within the hour"
            in (await context(line, market.market_id))["warnings"]
        )
        await change(stage, trading_paused=True)
        await line.wait(market.listing.resolves_at - stage.world.world_at + 0.1)
        closed = await context(line, market.market_id, my_probability=0.5)
        assert "the market is closed and awaits its outcome" in closed["warnings"]
        assert "trading is paused: entries are blocked" in closed["warnings"]
        assert closed["slippage"]["estimates"] == []
        assert closed["edge"]["recommendation"] == "SKIP"
        await line.wait(market.listing.resolved_at - stage.world.world_at + 1)
        over = await context(line, market.market_id)
        assert over["market"]["outcome"] is market.listing.outcome
        assert "the market is resolved" in over["warnings"]
        await line.said(MARKET_CONTEXT, 404, path={"market_id": "nowhere"})


@pytest.mark.slow
async def test_the_context_knows_the_book_and_the_position_of_a_real_venue(tmp_path: Path) -> None:
    async with open_stage(tmp_path, speed=0) as stage:
        line = line_to(stage)
        await change(stage, claimed=True, real_trading_enabled=True)
        market = next(one for one in stage.open_markets() if one.listing.home is Venue.EVM)
        market_id = market.market_id
        one = (await line.said(MARKET, path={"market_id": market_id}))["market"]
        order = {"market_id": market_id, "side": "yes", "venue": "polymarket", "amount": 10}
        said = await context(line, market_id, venue="evm_venue")
        for name in ("external_price_yes", "divergence", "fee_rate_bps", "spread", "spread_cents"):
            assert said["market"][name] == one[name], name
        assert said["slippage"]["venue"] == "evm_venue"
        assert said["slippage"]["spread_pct"] == pytest.approx(one["spread"])
        for row in said["slippage"]["estimates"]:
            quote = await line.said(
                PLACE_TRADE,
                json=order | {"amount": row["amount_usd"], "order_type": "FOK", "dry_run": True},
            )
            assert (row["shares"], row["avg_price"]) == (quote["shares"], quote["avg_price"])
        bought = await line.said(PLACE_TRADE, json=order)
        assert bought["success"], bought["error"]
        held = await context(line, market_id)
        assert held["positions"]["sim"] is None
        assert held["positions"]["evm_venue"]["shares"] == bought["shares"]
        assert held["position"] == held["positions"]["evm_venue"]
        assert (await context(line, market_id, venue="sim"))["position"]["has_position"] is False


@pytest.mark.slow
async def test_trades_on_a_real_venue_are_turns_too(tmp_path: Path) -> None:
    async with open_stage(tmp_path, speed=0) as stage:
        line = line_to(stage)
        await change(stage, claimed=True, real_trading_enabled=True)
        market = next(one for one in stage.open_markets() if one.listing.home is Venue.EVM)
        on_book = {"venue": "evm_venue", "amount": 20, "reasoning": "the wind has turned"}
        await trade(line, market.market_id, amount=5)
        await trade(line, market.market_id, side="no", **on_book)
        said = await context(line, market.market_id)
        assert said["discipline"]["last_action"] == "buy_no"
        assert said["discipline"]["direction_changes_24h"] == 1
        assert [one["action"] for one in said["recent_trades"]] == ["buy_no", "buy_yes"]
        assert said["recent_trades"][0]["reasoning"] == "the wind has turned"
        # An order that only rests has changed nothing yet.
        await trade(line, market.market_id, order_type="GTC", price=0.01, **on_book)
        again = await context(line, market.market_id)
        assert again["discipline"]["direction_changes_24h"] == 1
