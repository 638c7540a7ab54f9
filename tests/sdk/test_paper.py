import asyncio
from pathlib import Path

import pytest

from kit.service.served import Served, open_served
from service_tui.clock import ManualClock
from service_tui.sdk.paper import Paper, mid_of
from service_tui.terms import Action, MarketStatus, OrderType, Side, Venue
from service_tui.wire.markets import MarketBody
from service_tui.wire.trades import TradeRequest


def market(
    price: float = 0.4, *, status: MarketStatus = MarketStatus.ACTIVE, outcome: bool | None = None
) -> MarketBody:
    return MarketBody(
        id="m", question="Will it?", current_probability=price, status=status, outcome=outcome
    )


def order(
    side: Side = Side.YES,
    *,
    amount: float = 0.0,
    shares: float = 0.0,
    venue: Venue = Venue.SIM,
    dry_run: bool = False,
    price: float | None = None,
) -> TradeRequest:
    return TradeRequest(
        market_id="m",
        side=side,
        amount=amount,
        shares=shares,
        action=Action.BUY if amount else Action.SELL,
        venue=venue,
        dry_run=dry_run,
        price=price,
        order_type=OrderType.GTC,
    )


def test_a_round_trip_at_one_price_costs_nothing_on_sim() -> None:
    paper = Paper(ManualClock())
    bought = paper.trade(market(), order(amount=100.0))
    assert bought.success
    assert bought.on_paper
    assert (bought.trade_id or "").startswith("paper_1800000000")
    assert (bought.shares_bought, bought.cost, bought.balance) == (250.0, 100.0, 9_900.0)
    sold = paper.trade(market(), order(shares=250.0))
    assert (sold.cost, sold.balance) == (100.0, 10_000.0)
    assert paper.positions() == []
    assert [row.action for row in paper.trades()] == ["sell", "buy"]


def test_a_book_takes_half_a_spread_each_way() -> None:
    paper = Paper(ManualClock())
    bought = paper.trade(market(), order(amount=41.0, venue=Venue.EVM))
    assert bought.avg_price == pytest.approx(0.41)
    sold = paper.trade(market(), order(shares=50.0, venue=Venue.EVM))
    assert sold.cost == pytest.approx(19.5)
    # Half of it is sold at 0.39, half is worth the mid.
    assert paper.portfolio().pnl_total == pytest.approx(-1.5, abs=1e-5)


def test_no_is_one_minus_yes_with_a_floor() -> None:
    assert mid_of(market(0.3), Side.NO) == pytest.approx(0.7)
    assert mid_of(market(1.0), Side.NO) == 0.001
    assert mid_of(market(0.0), Side.YES) == 0.001


def test_a_quote_books_nothing() -> None:
    paper = Paper(ManualClock())
    quote = paper.trade(market(), order(amount=100.0, dry_run=True))
    assert quote.success
    assert quote.trade_id is None
    assert paper.positions() == []
    assert paper.portfolio().sim_balance == 10_000


def test_what_cannot_be_is_refused_in_the_services_words() -> None:
    paper = Paper(ManualClock())
    closed = market(status=MarketStatus.CLOSED)
    assert "not open" in (paper.trade(closed, order(amount=5.0)).error or "")
    assert "insufficient balance" in (paper.trade(market(), order(amount=10_000.01)).error or "")
    assert "position not found" in (paper.trade(market(), order(shares=1.0)).error or "")
    paper.trade(market(), order(amount=4.0))
    assert "insufficient shares" in (paper.trade(market(), order(shares=11.0)).error or "")
    bound = paper.trade(market(), order(amount=4.0, price=0.39))
    assert "beyond the limit" in (bound.error or "")
    assert paper.portfolio().sim_balance == 9_996


def test_an_outcome_pays_one_a_winning_share() -> None:
    for outcome, cash in ((True, 9_960 + 60), (False, 9_960 + 40)):
        paper = Paper(ManualClock())
        paper.trade(market(0.5), order(Side.YES, amount=30.0))
        paper.trade(market(0.25), order(Side.NO, amount=10.0))
        paper.see([market(status=MarketStatus.RESOLVED)])
        assert paper.held == ("m",)
        paper.see([market(status=MarketStatus.RESOLVED, outcome=outcome)])
        paper.see([market(status=MarketStatus.RESOLVED, outcome=outcome)])
        assert paper.held == ()
        expected = cash if outcome else 9_960 + 13.33333
        assert paper.portfolio().sim_balance == pytest.approx(expected)


async def test_paper_trades_never_reach_the_service(tmp_path: Path) -> None:
    def script(served: Served) -> None:
        with served.client(live=False) as client:
            bought = client.trade(served.market_id, "yes", 50, source="sdk:p")
            assert bought.on_paper
            assert client.trade(served.markets[1], "no", 20, venue="evm_venue").success
            rows = client.get_positions()
            assert {row.market_id for row in rows} == set(served.markets[:2])
            assert [row.venue for row in client.get_positions("evm_venue")] == ["evm_venue"]
            assert [row.sources for row in client.get_positions(source="sdk:p")] == [("sdk:p",)]
            portfolio = client.get_portfolio()
            assert portfolio.sim_balance == 9_930
            assert client.get_trades().total_count == 2
            assert client.get_agent().balance == 10_000
            assert client.get_open_orders() == []
            for cancel in (client.cancel_all_orders, lambda: client.cancel_order("o1")):
                with pytest.raises(ValueError, match="paper"):
                    cancel()

    async with open_served(tmp_path) as served:
        await asyncio.to_thread(script, served)
        assert served.posts == []
        assert served.stage.agent.trades_count == 0
