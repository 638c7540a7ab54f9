"""The simulated venues over the wire: orders, their ends, positions, balances and P&L."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from datetime import datetime
from pathlib import Path
from typing import Any, Final

import httpx
import pytest

from kit.service.stage import OPERATOR, Stage, open_stage
from service_tui.engine.amm.market import Market
from service_tui.engine.books.liquidity import fee_rate_bps
from service_tui.engine.books.resting import Part, meet
from service_tui.engine.chain.redemption import redeem
from service_tui.engine.codec.events import dumps
from service_tui.engine.codec.snapshot import fields_of
from service_tui.server.embedded import BASE_URL
from service_tui.terms import Action, Plan, Side, Venue
from service_tui.units import Timestamp
from service_tui.wire.briefing import BriefingBody
from service_tui.wire.markets import OneMarketBody
from service_tui.wire.orders import OrdersBody
from service_tui.wire.positions import PortfolioBody, PositionsBody
from service_tui.wire.trades import TradeBody

Json = dict[str, Any]
EVM, SOL = Venue.EVM, Venue.SOL
PUBLIC: Final = {EVM: "polymarket", SOL: "kalshi"}


class Line:
    """An agent's own line to the service."""

    def __init__(self, stage: Stage, client: httpx.AsyncClient) -> None:
        self.stage = stage
        self.client = client

    async def ask(self, method: str, path: str, *, status: int = 200, **sent: Any) -> Json:
        response = await self.client.request(method, f"/api/sdk/{path}", **sent)
        assert response.status_code == status, response.text
        return response.json()

    async def trade(self, market: Market, **fields: object) -> Json:
        body = {"market_id": market.market_id, "side": "yes", "venue": market.listing.home.value}
        body |= {"amount": 20} if fields.get("action") != "sell" else {}
        answer = await self.ask("POST", "trade", json=body | fields)
        TradeBody.model_validate_json(dumps(answer))
        return answer

    async def rest(self, market: Market, **fields: object) -> Json:
        """A buy of YES that joins the best bid and rests."""
        price = (await self.book(market))["best_bid"]
        return await self.trade(market, **({"order_type": "GTC", "price": price} | fields))

    async def book(self, market: Market) -> Json:
        return (await self.ask("GET", f"markets/{market.market_id}"))["market"]

    async def orders(self) -> list[Json]:
        answer = await self.ask("GET", "orders/open")
        OrdersBody.model_validate_json(dumps(answer))
        assert answer["count"] == len(answer["orders"])
        return answer["orders"]

    async def settings(self) -> Json:
        return await self.ask("GET", "settings")

    async def cash(self, venue: Venue = EVM) -> float:
        return (await self.settings())[f"{PUBLIC[venue]}_usdc_balance"]

    async def pass_to(self, world_at: float) -> None:
        world = self.stage.world
        await self.stage.sim.service.world_store.advance(
            Timestamp(world.at + world_at - world.world_at)
        )


def market_on(stage: Stage, venue: Venue, life_s: float = 7_200.0) -> Market:
    """A market of the venue near even odds that stays open for a while, with a fee."""
    world = stage.world
    return min(
        (
            one
            for one in stage.open_markets()
            if one.listing.home is venue
            and one.listing.resolves_at > world.world_at + life_s
            and fee_rate_bps(one.listing)
        ),
        key=lambda one: abs(world.venues.book(one.market_id).mid((world.at, world.world_at)) - 0.5),
    )


@asynccontextmanager
async def line(
    path: Path, *, claimed: bool = True, real: bool = True, **settings: object
) -> AsyncGenerator[Line]:
    async with open_stage(path, plan=Plan.ELITE) as stage:
        await stage.clock.advance(1.5)
        service = stage.sim.service
        if claimed:
            await service.world_store.commit(
                stage.world.change(stage.agent, {"claimed": True}, stage.world.at)
            )
        headers = {"Authorization": f"Bearer {stage.key}"}
        async with httpx.AsyncClient(
            transport=stage.sim.transport, base_url=BASE_URL, headers=headers
        ) as client:
            own = Line(stage, client)
            if real:
                wanted = {"sdk_real_trading_enabled": True} | settings
                await own.ask("POST", "settings", json=wanted)
            yield own


@pytest.mark.slow
@pytest.mark.parametrize("venue", [EVM, SOL])
async def test_a_buy_fills_at_once_and_is_marked_as_simulated(tmp_path: Path, venue: Venue) -> None:
    async with line(tmp_path) as own:
        market = market_on(own.stage, venue)
        quote = await own.trade(market, dry_run=True)
        assert await own.cash(venue) == 1_000
        said = await own.trade(market, source="sdk:test", signal_data={"edge": 0.1})
        for name in ("shares_bought", "cost", "fee", "new_price", "avg_price", "fee_rate_bps"):
            assert said[name] == quote[name]
        assert said["success"] is said["simulated"] is True
        assert (said["status"], said["fill_status"]) == ("filled", "filled")
        assert said["order_status"] == "matched"
        assert said["trade_id"] == said["order_id"]
        assert said["shares"] == said["shares_bought"] > 0
        assert said["fee_rate_bps"] == fee_rate_bps(market.listing) > 0
        rate, price = said["fee_rate_bps"] / 10_000, said["avg_price"]
        assert said["fee"] == pytest.approx(said["shares"] * rate * price * (1 - price), rel=0.01)
        assert said["fee"] == round(said["fee"], 5)
        assert said["balance"] == pytest.approx(1_000 - said["cost"] - said["fee"])
        assert said["balance"] == quote["balance"] == await own.cash(venue)
        assert said["position"]["sim_balance"] == 10_000
        assert (await own.settings())["sdk_daily_spent"] == said["cost"]


@pytest.mark.parametrize("venue", [EVM, SOL])
async def test_a_mirror_on_a_book_buys_and_rests_no_more_shares_than_its_bound(
    tmp_path: Path, venue: Venue
) -> None:
    async with line(tmp_path) as own:
        market = market_on(own.stage, venue)
        config = {"max_size": 7.5, "venue": venue.value, "daily_cap": 100}
        await own.ask("PATCH", "reactor/config", json=config)
        mirror = {"signal_data": {"tx_hash": "0xab"}, "price": 0.99}
        quote = await own.trade(market, dry_run=True, **mirror)
        said = await own.trade(market, **mirror)
        assert said["shares"] == said["shares_requested"] == quote["shares"] == 7.5
        assert said["cost"] < 20
        rests = await own.rest(market, signal_data={"tx_hash": "0xac"})
        assert (rests["shares_requested"], rests["reserved"] < 7.5) == (7.5, True)
        (order,) = await own.orders()
        assert order["shares"] == 7.5


@pytest.mark.slow
async def test_a_limit_order_is_submitted_listed_and_cancelled(tmp_path: Path) -> None:
    async with line(tmp_path) as own:
        market = market_on(own.stage, EVM)
        said = await own.rest(market, source="sdk:maker")
        assert (said["status"], said["fill_status"]) == ("submitted", "submitted")
        assert (said["order_status"], said["shares"], said["cost"]) == ("live", 0, 0)
        assert said["balance"] == pytest.approx(1_000 - said["reserved"])
        (row,) = await own.orders()
        book = await own.book(market)
        assert row["order_id"] == row["trade_id"] == said["order_id"]
        assert (row["market_id"], row["question"]) == (market.market_id, market.listing.question)
        assert (row["side"], row["trade_type"], row["venue"]) == ("yes", "buy", "evm_venue")
        assert row["cost_usdc"] == said["reserved"]
        assert row["shares"] * row["price"] == pytest.approx(row["cost_usdc"], abs=1e-5)
        assert row["condition_id"] == book["polymarket_id"]
        assert row["token_id_yes"] == book["polymarket_token_id"]
        assert row["source"] == "sdk:maker"
        assert row["simulated"] is True
        (trade,) = (await own.ask("GET", "trades"))["trades"]
        assert (trade["status"], trade["shares"], trade["trade_id"]) == (
            "submitted",
            0,
            said["trade_id"],
        )
        ended = await own.ask("DELETE", f"orders/{said['order_id']}")
        assert ended["success"] is True
        assert ended["order_id"] == said["order_id"]
        assert ended["cancelled"] == 1
        assert ended["returned_usdc"] == said["reserved"]
        assert await own.cash() == 1_000
        assert await own.orders() == []
        again = await own.ask("DELETE", f"orders/{said['order_id']}", status=404)
        assert "order not found" in again["error"]
        assert again["fix"]
        (trade,) = (await own.ask("GET", "trades?venue=evm_venue"))["trades"]
        assert (trade["status"], trade["shares"]) == ("cancelled", 0)


@pytest.mark.slow
async def test_orders_are_cancelled_by_market_and_side_and_all_at_once(tmp_path: Path) -> None:
    async with line(tmp_path, sdk_daily_limit=900) as own:
        one, other = market_on(own.stage, EVM), market_on(own.stage, SOL)
        await own.rest(one)
        await own.rest(one)
        low = {"price": 0.05, "order_type": "GTC", "amount": 10}
        await own.trade(one, side="no", **low)
        await own.trade(other, **low)
        path = f"markets/{one.market_id}/orders"
        assert (await own.ask("DELETE", f"{path}?side=no"))["cancelled"] == 1
        assert len(await own.orders()) == 3
        assert (await own.ask("DELETE", path))["cancelled"] == 2
        ended = await own.ask("DELETE", "orders")
        assert (ended["cancelled"], len(ended["cancelled_orders"])) == (1, 1)
        assert (await own.ask("DELETE", "orders"))["cancelled"] == 0
        assert await own.cash() == await own.cash(SOL) == 1_000
        assert (await own.settings())["sdk_daily_spent"] == 0
        missing = await own.ask("DELETE", "markets/nowhere/orders", status=404)
        assert missing["fix"]


@pytest.mark.slow
async def test_the_trades_of_all_agents_tell_the_fate_of_each_order(tmp_path: Path) -> None:
    async with line(tmp_path, sdk_daily_limit=900) as own:
        market = market_on(own.stage, EVM)
        await own.trade(market)
        for _ in range(3):
            await own.rest(market)
            await own.ask("DELETE", "orders")
        await own.trade(market, price=0.05, order_type="GTC", amount=10)
        trades = (await own.ask("GET", "trades?venue=all"))["trades"]
        assert [one["status"] for one in trades] == ["submitted", *["cancelled"] * 3, "filled"]
        headers = {"Authorization": f"Bearer {OPERATOR}"}
        found, before = list[Json](), ""
        while before is not None:
            path = f"/api/desk/trades?limit=2{before}"
            page = (await own.client.get(path, headers=headers)).json()
            found += page["trades"]
            before = None if page["before"] is None else f"&before={page['before']}"
        assert [one | {"agent_id": own.stage.agent_id} for one in trades] == found


@pytest.mark.slow
async def test_a_gtd_order_dies_at_its_expiration(tmp_path: Path) -> None:
    async with line(tmp_path) as own:
        clock = own.stage.clock
        until = clock.now() + 190
        await own.rest(market_on(own.stage, EVM), amount=6, expiration=until, order_type="GTD")
        if not (found := await own.orders()):
            pytest.fail("the order was met before it could die")
        assert found[0]["order_type"] == "GTD"
        assert datetime.fromisoformat(found[0]["expires_at"]).timestamp() == until
        own.stage.world.speed = 0
        await clock.advance(191)
        assert await own.orders() == []
        assert await own.cash() == 1_000


async def test_a_gtd_order_that_would_die_within_three_minutes_is_refused(tmp_path: Path) -> None:
    async with line(tmp_path) as own:
        soon = own.stage.clock.now() + 179
        said = await own.trade(
            market_on(own.stage, EVM), amount=6, price=0.4, expiration=soon, order_type="GTD"
        )
        assert (said["success"], said["error_code"]) == (False, "INVALID_EXPIRATION")
        assert "180 s or longer" in said["error"]
        assert "three minutes ahead or more" in said["fix"]
        assert await own.orders() == []


@pytest.mark.slow
async def test_an_open_buy_names_the_monitor_that_it_will_set(tmp_path: Path) -> None:
    async with line(tmp_path) as own:
        low = {"price": 0.05, "order_type": "GTC", "amount": 10}
        market = market_on(own.stage, EVM)
        await own.trade(market, **low)
        await own.trade(market, **low, stop_loss_pct=0.25, take_profit_pct=0.5)
        found = [
            (one.get("stop_loss_pct"), one.get("take_profit_pct")) for one in await own.orders()
        ]
        assert found == [(None, None), (0.25, 0.5)]


@pytest.mark.slow
async def test_nobody_sees_or_cancels_the_orders_of_others(tmp_path: Path) -> None:
    async with line(tmp_path) as own:
        said = await own.rest(market_on(own.stage, EVM))
        other = await own.ask("POST", "agents/register", json={"name": "other"})
        own.client.headers["Authorization"] = f"Bearer {other['api_key']}"
        assert await own.orders() == []
        await own.ask("DELETE", f"orders/{said['order_id']}", status=404)
        assert (await own.ask("DELETE", "orders"))["cancelled"] == 0
        assert (await own.ask("GET", "trades"))["total_count"] == 0


REFUSED: Final[dict[str, tuple[Json, str]]] = {
    "too small": ({"amount": 0.5, "price": 0.5}, "ORDER_TOO_SMALL"),
    "a price beyond the range": ({"price": 0.9995}, "PRICE_OUT_OF_RANGE"),
    "a price between ticks": ({"price": 0.4567, "order_type": "GTC"}, "INVALID_TICK_SIZE"),
    "fill or kill": ({"price": 0.01, "order_type": "FOK"}, "FOK_NOT_FILLED"),
    "nothing there": ({"price": 0.01}, "NO_LIQUIDITY"),
    "no shares": ({"action": "sell", "amount": 0, "shares": 10}, "INSUFFICIENT_SHARES"),
    "too much": ({"amount": 100.01}, "TRADE_TOO_LARGE"),
    "an expiration in the past": ({"order_type": "GTD", "expiration": 1}, "INVALID_EXPIRATION"),
    "another venue": ({"venue": "sol_venue"}, "VENUE_NOT_SERVED"),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", REFUSED)
async def test_a_bad_order_is_answered_with_what_to_do(tmp_path: Path, name: str) -> None:
    fields, code = REFUSED[name]
    async with line(tmp_path) as own:
        market = market_on(own.stage, EVM)
        standing = fields_of(own.stage.world)
        assert standing["agents"][0].pop("failed") == {}
        before = dumps(standing)
        said = await own.trade(market, **fields)
        assert said["success"] is False
        assert said["error_code"] == code
        assert said["error"]
        assert said["error_hint"] == said["fix"]
        assert said["shares"] == said["cost"] == said["shares_bought"] == 0
        assert said["balance"] == 1_000
        after = fields_of(own.stage.world)
        # When it failed is remembered: this side of the market rests for a while.
        assert bool(after["agents"][0].pop("failed")) is (
            code in {"NO_LIQUIDITY", "FOK_NOT_FILLED"}
        )
        assert dumps(after) == before


@pytest.mark.slow
async def test_the_unclaimed_and_the_not_enabled_trade_no_real_money(tmp_path: Path) -> None:
    async with line(tmp_path / "a", claimed=False) as own:
        order = {"market_id": market_on(own.stage, EVM).market_id, "side": "yes", "amount": 20}
        said = await own.ask("POST", "trade", json={**order, "venue": EVM.value}, status=403)
        assert said["detail"] == "Agent must be claimed before trading"
        assert said["claim_url"]
        assert "claim" in said["fix"]
        assert (await own.settings())["polymarket_allowances_set"] is False
        portfolio = await own.ask("GET", "portfolio")
        assert portfolio["evm_venue"] is portfolio["sol_venue"] is portfolio["balance_usdc"] is None
        briefing = await own.ask("GET", "briefing")
        assert briefing["venues"]["evm_venue"] is briefing["venues"]["sol_venue"] is None
    async with line(tmp_path / "b", real=False) as own:
        said = await own.trade(market_on(own.stage, EVM))
        assert said["error_code"] == "REAL_TRADING_DISABLED"
        assert (await own.settings())["polymarket_allowances_set"] is True


@pytest.mark.slow
async def test_the_days_money_is_bounded_and_said(tmp_path: Path) -> None:
    async with line(tmp_path, sdk_daily_limit=30) as own:
        market = market_on(own.stage, EVM)
        await own.trade(market)
        said = await own.trade(market)
        assert said["error_code"] == "DAILY_LIMIT"
        assert "Daily limit reached: $30" in said["error"]


@pytest.mark.slow
async def test_a_public_name_of_a_venue_is_the_same_venue(tmp_path: Path) -> None:
    async with line(tmp_path) as own:
        assert (await own.trade(market_on(own.stage, EVM), venue="polymarket"))["success"]
        assert (await own.trade(market_on(own.stage, SOL), venue="kalshi"))["success"]
        for name in ("kalshi", "sol_venue"):
            answer = await own.ask("GET", f"trades?venue={name}")
            assert [row["venue"] for row in answer["trades"]] == [name]
        assert (await own.ask("GET", "trades?venue=sim"))["total_count"] == 0
        both = await own.ask("GET", "trades?venue=all&limit=1&offset=1")
        assert (len(both["trades"]), both["total_count"]) == (1, 2)


@pytest.mark.slow
async def test_a_market_shows_its_order_book(tmp_path: Path) -> None:
    async with line(tmp_path) as own:
        await own.pass_to(own.stage.world.world_at + 1.25)
        market = market_on(own.stage, EVM)
        answer = await own.ask("GET", f"markets/{market.market_id}")
        OneMarketBody.model_validate_json(dumps(answer))
        book = answer["market"]
        assert 0 < book["best_bid"] < book["best_ask"] < 1
        assert book["spread"] == pytest.approx(book["best_ask"] - book["best_bid"])
        assert book["spread_cents"] == pytest.approx(book["spread"] * 100)
        assert book["best_bid_size"] > 0
        assert book["best_ask_size"] > 0
        assert book["tick_size"] in {0.01, 0.001}
        assert 0 <= book["quote_age_seconds"] < 3
        world_at = own.stage.world.world_at
        assert book["quote_ts"] == pytest.approx(world_at - book["quote_age_seconds"], abs=1e-3)
        assert book["liquidity_tier"] in {"tight", "moderate", "wide"}
        divergence = book["external_price_yes"] - book["current_probability"]
        assert book["divergence"] == pytest.approx(divergence, abs=1e-6)
        assert (book["import_source"], book["simulated"]) == ("evm_venue", True)
        assert book["is_orderbook_open"] is True
        assert book["fee_rate_bps"] == fee_rate_bps(market.listing)
        assert book["polymarket_id"].startswith("0x")
        assert len(book["polymarket_id"]) == 66
        assert book["polymarket_token_id"] != book["polymarket_no_token_id"]
        assert book["polymarket_neg_risk"] is False
        plain = next(m for m in own.stage.open_markets() if m.listing.home is Venue.SIM)
        answer = await own.book(plain)
        assert (answer["best_bid"], answer["simulated"], answer["fee_rate_bps"]) == (None, False, 0)
        sol = await own.book(market_on(own.stage, SOL))
        assert (sol["import_source"], sol["polymarket_id"]) == ("sol_venue", None)
        listed = await own.ask("GET", "markets?venue=sol_venue&limit=500")
        assert {one["import_source"] for one in listed["markets"]} == {"sol_venue"}


@pytest.mark.slow
async def test_the_executable_price_is_the_best_of_the_other_side(tmp_path: Path) -> None:
    async with line(tmp_path) as own:
        market = market_on(own.stage, EVM)
        book = await own.book(market)
        path = f"markets/{market.market_id}/executable-price"

        async def price(side: str, action: str, buffer: str = "False") -> float:
            params = {"side": side, "action": action, "apply_buffer": buffer}
            said = await own.ask("GET", path, params=params)
            assert (said["success"], said["simulated"]) == (True, True)
            return said["price"]

        bid, ask, tick = book["best_bid"], book["best_ask"], book["tick_size"]
        assert await price("yes", "buy") == ask
        assert await price("yes", "sell") == bid
        assert await price("no", "buy") == pytest.approx(1 - bid)
        assert await price("no", "sell") == pytest.approx(1 - ask)
        assert await price("yes", "buy", "True") == pytest.approx(ask + tick)
        assert await price("no", "sell", "true") == pytest.approx(1 - ask - tick)
        # Clients send what they were told.
        sent = {"order_type": "GTC", "price": await price("yes", "buy", "True")}
        assert (await own.trade(market, **sent))["fill_status"] == "filled"
        plain = next(m for m in own.stage.open_markets() if m.listing.home is Venue.SIM)
        path = f"markets/{plain.market_id}/executable-price"
        said = await own.ask("GET", f"{path}?side=yes&action=buy")
        assert (said["success"], said["price"]) == (False, 0)
        assert said["fix"]
        path = "markets/nowhere/executable-price"
        await own.ask("GET", f"{path}?side=yes&action=buy", status=404)
        await own.ask("GET", path, status=422)


@pytest.mark.slow
async def test_sales_by_shares_and_a_position_with_all_its_fields(tmp_path: Path) -> None:
    async with line(tmp_path) as own:
        market = market_on(own.stage, EVM)
        bought = await own.trade(market, source="sdk:test")
        answer = await own.ask("GET", "positions?venue=evm_venue")
        PositionsBody.model_validate_json(dumps(answer))
        (held,) = answer["positions"]
        book = await own.book(market)
        assert (held["venue"], held["currency"]) == ("evm_venue", "USDC")
        assert (held["status"], held["lifecycle"]) == ("active", "active")
        assert held["shares_yes"] == bought["shares"]
        assert held["cost_basis"] == pytest.approx(bought["cost"] + bought["fee"])
        mid = (book["best_bid"] + book["best_ask"]) / 2
        assert held["current_price"] == pytest.approx(mid)
        assert held["current_value"] == pytest.approx(bought["shares"] * mid, abs=1e-5)
        assert held["condition_id"] == book["polymarket_id"]
        assert held["token_id_yes"] == book["polymarket_token_id"]
        for name in ("best_bid", "best_ask", "best_bid_size", "best_ask_size", "spread"):
            assert held[name] == book[name]
        assert (held["sources"], held["redeemable"], held["simulated"]) == (
            ["sdk:test"],
            False,
            True,
        )
        (side,) = held["sides"]
        assert 0 < side["exit_value"] < side["current_value"]
        sold = await own.trade(market, action="sell", shares=bought["shares"], order_type="FAK")
        assert sold["shares_sold"] == bought["shares"]
        assert sold["cost"] - sold["fee"] == pytest.approx(side["exit_value"])
        assert (await own.ask("GET", "positions?venue=evm_venue"))["positions"] == []
        (row,) = (await own.ask("GET", "positions?venue=evm_venue&status=closed"))["positions"]
        assert (row["status"], row["lifecycle"]) == ("sold", None)
        row = (await own.ask("GET", "trades"))["trades"][0]
        assert row["pnl"] == pytest.approx(side["exit_value"] - held["cost_basis"])
        assert await own.cash() == pytest.approx(1_000 + row["pnl"])


async def test_what_needs_attention_on_a_venue_has_its_sides_price_and_whole_micros(
    tmp_path: Path,
) -> None:
    async with line(tmp_path) as own:
        soon = market_on(own.stage, EVM)
        for side, amount in (("yes", 20), ("no", 13)):
            said = await own.trade(soon, side=side, amount=amount)
            assert said["success"], said["error"]
        (position,) = (await own.ask("GET", "positions?venue=evm_venue"))["positions"]
        block = (await own.ask("GET", "briefing"))["venues"]["evm_venue"]
        rows = block["positions_needing_attention"]
        for row, side in zip(rows, position["sides"], strict=True):
            assert (row["side"], row["url"]) == (side["side"], position["url"])
            assert row["current_price"] == side["mark_price"]
            assert row["pnl"] == round(side["current_value"] - side["cost_basis"], 6)


async def test_a_source_counts_its_sales_before_its_first_buy(tmp_path: Path) -> None:
    async with line(tmp_path) as own:
        market = market_on(own.stage, EVM)
        bought = await own.trade(market, source="sdk:first")
        half = {"action": "sell", "order_type": "FAK", "source": "sdk:second"}
        for shares in (10, 5):
            assert (await own.trade(market, shares=shares, **half))["success"]
        assert bought["shares"] > 15
        sums = (await own.ask("GET", "portfolio?venue=evm_venue"))["by_source"]
        assert {tag: one["trade_count"] for tag, one in sums.items()} == {"sdk:first": 1}
        await own.trade(market, source="sdk:second")
        sums = (await own.ask("GET", "portfolio?venue=evm_venue"))["by_source"]
        assert sums["sdk:second"]["trade_count"] == 3


@pytest.mark.slow
async def test_a_sale_without_a_type_rests_with_what_is_not_met(tmp_path: Path) -> None:
    async with line(tmp_path) as own:
        market = market_on(own.stage, EVM)
        bought = await own.trade(market, amount=100)
        wanted = {"action": "sell", "shares": bought["shares"], "order_type": None}
        said = await own.trade(market, **wanted)
        if said["fill_status"] != "filled":
            assert said["order_status"] == "live"
            assert (await own.orders())[0]["trade_type"] == "sell"
        assert said["success"] is True


@pytest.mark.slow
async def test_portfolio_and_briefing_have_a_block_for_each_venue(tmp_path: Path) -> None:
    async with line(tmp_path) as own:
        await own.trade(market_on(own.stage, EVM))
        await own.trade(market_on(own.stage, SOL))
        await own.rest(market_on(own.stage, EVM), side="no", amount=30)
        portfolio = await own.ask("GET", "portfolio")
        PortfolioBody.model_validate_json(dumps(portfolio))
        evm, sol = portfolio["evm_venue"], portfolio["sol_venue"]
        assert (evm["positions_count"], sol["positions_count"]) == (1, 1)
        assert portfolio["total"]["positions_count"] == 2
        assert portfolio["positions_count"] == 1
        assert portfolio["balance_usdc"] == evm["balance"] == await own.cash()
        assert evm["simulated"] is sol["simulated"] is True
        assert evm["total_exposure"] > 15
        assert portfolio["total"]["total_exposure"] == pytest.approx(
            evm["total_exposure"] + sol["total_exposure"]
        )
        alone = await own.ask("GET", "portfolio?venue=sol_venue")
        assert alone["total"]["positions_count"] == 1
        assert alone["total_exposure"] == pytest.approx(sol["total_exposure"])
        # What is asked for narrows the totals; a block tells the truth of its venue all the same.
        assert alone["evm_venue"] == evm
        assert alone["positions_count"] == 1
        assert (await own.ask("GET", "portfolio?venue=sim"))["sol_venue"] == sol
        briefing = await own.ask("GET", "briefing")
        BriefingBody.model_validate_json(dumps(briefing))
        block = briefing["venues"]["evm_venue"]
        assert (block["currency"], block["simulated"]) == ("USDC", True)
        assert block["balance"] == block["cash_balance"] == evm["balance"]
        assert block["reserved"] == evm["reserved"]
        assert 900 < block["portfolio_value"] < 1_010
        assert block["redeemable_count"] == 0
        assert briefing["evm_venue"] == {"redeemable_count": 0, "actions": []}


@pytest.mark.slow
async def test_the_lifecycle_on_the_wire(tmp_path: Path) -> None:  # noqa: PLR0915
    async with line(tmp_path) as own:
        stage = own.stage
        await own.ask("PATCH", "agents/me/settings", json={"auto_redeem_enabled": False})
        market = min(
            (m for m in stage.open_markets() if m.listing.home is EVM),
            key=lambda one: one.listing.resolved_at,
        )
        listing = market.listing
        winner = Side.YES if listing.outcome else Side.NO
        bought = {}
        for side in Side:
            bought[side] = await own.trade(market, side=side.value, amount=30)

        async def row(status: str) -> Json | None:
            answer = await own.ask("GET", f"positions?venue=evm_venue&status={status}")
            return next(iter(answer["positions"]), None)

        await own.pass_to(listing.resolves_at)
        closed = await row("active")
        assert closed is not None
        assert (closed["status"], closed["lifecycle"]) == ("closed", "awaiting_settlement")
        assert (closed["redeemable"], closed["outcome"]) == (False, None)
        cash = await own.cash()
        await own.pass_to(listing.resolved_at)
        assert await row("active") is None
        settled = await row("resolved")
        assert settled is not None
        assert settled["lifecycle"] == "ready_to_redeem"
        assert settled["outcome"] is listing.outcome
        won = bought[winner]["success"]
        assert settled["status"] == ("won" if won else "lost")
        assert settled["redeemable"] is won
        assert settled["redeemable_side"] == (winner.value if won else None)
        assert await own.cash() == cash
        briefing = await own.ask("GET", "briefing")
        assert briefing["evm_venue"]["redeemable_count"] == won
        assert briefing["venues"]["evm_venue"]["redeemable_count"] == won
        assert (await own.ask("GET", "portfolio"))["redeemable_count"] == won
        assert won, "the seed must let both sides be bought"
        assert briefing["actions"] == briefing["evm_venue"]["actions"]
        assert "1 won position on evm_venue to redeem" in briefing["actions"][0]
        before = (await own.ask("GET", "portfolio"))["evm_venue"]
        await stage.clock.advance(2.0)

        world = stage.world
        times = (world.at, world.world_at)
        events = redeem(world.venues, stage.agent, (market.market_id, winner), times)
        await stage.sim.service.world_store.commit(events)
        redeemed = await row("all")
        assert redeemed is not None
        assert (redeemed["lifecycle"], redeemed["redeemable"]) == ("redeemed", False)
        assert await own.cash() == pytest.approx(cash + bought[winner]["shares"])
        # The venue's P&L is of the same moment as the cash that the redemption brought.
        after = (await own.ask("GET", "portfolio"))["evm_venue"]
        assert after["pnl_as_of"] > before["pnl_as_of"]
        assert after["pnl"] == pytest.approx(after["balance"] - 1_000)
        past = (await own.ask("GET", "trades?venue=evm_venue"))["trades"][0]
        assert (past["action"], past["shares"]) == ("redeem", bought[winner]["shares"])
        assert (await own.ask("GET", "briefing"))["evm_venue"]["redeemable_count"] == 0


@pytest.mark.slow
async def test_what_becomes_of_an_order_is_told_as_it_happens(tmp_path: Path) -> None:
    async with line(tmp_path) as own, own.stage.sim.service.subscribe() as events:
        await anext(events)
        market = market_on(own.stage, EVM)
        await own.trade(market)
        rests = await own.rest(market)
        await own.ask("DELETE", f"orders/{rests['order_id']}")
        bodies = [await anext(events) for _ in range(3)]
        told = [one.order for one in bodies]
        assert [one.state for one in told if one] == ["filled", "submitted", "cancelled"]
        assert told[0] is not None
        assert told[0].shares > 0
        assert told[0].question == market.listing.question
        # What was met is a trade as any other; what only rests is none.
        fill = bodies[0].fill
        assert fill is not None
        assert (fill.venue, fill.side, fill.action) == (EVM, Side.YES, Action.BUY)
        assert (fill.shares, fill.money) == (told[0].shares, told[0].money)
        assert fill.price == pytest.approx(fill.money / fill.shares)
        assert [one.fill for one in bodies[1:]] == [None, None]


@pytest.mark.slow
async def test_a_fill_of_a_resting_order_is_told_as_a_trade_of_its_owner(tmp_path: Path) -> None:
    async with line(tmp_path) as own, own.stage.sim.service.subscribe() as events:
        await anext(events)
        market = market_on(own.stage, EVM)
        rests = await own.rest(market, skill_slug="patience")
        venues = own.stage.world.venues
        order = venues.book(market.market_id).orders[rests["order_id"]]
        times = (own.stage.world.at, own.stage.world.world_at)
        made = meet(venues, order, Part(order.left, order.reserved), times)
        await own.stage.sim.service.world_store.commit(made)
        placed, filled, ended = [await anext(events) for _ in range(3)]
        assert placed.fill is None
        assert filled.fill is not None
        assert filled.fill.agent_id == own.stage.agent_id
        assert (filled.fill.side, filled.fill.action) == (Side.YES, Action.BUY)
        assert (filled.fill.venue, filled.fill.skill_slug) == (EVM, "patience")
        assert filled.fill.price == pytest.approx(rests["reserved"] / filled.fill.shares)
        assert ended.order is not None
        assert (ended.order.state, ended.fill) == ("filled", None)
