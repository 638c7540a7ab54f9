"""Paper trading: fills, payouts and P&L."""

import asyncio
from pathlib import Path

import pytest

from kit.service.served import Served, open_served
from service_tui.clock import ManualClock
from service_tui.sdk.paper import Paper, mid_of, paper_price
from service_tui.terms import Action, MarketStatus, OrderType, Side, Venue
from service_tui.units import Timestamp
from service_tui.wire.base import moment
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


@pytest.mark.parametrize(
    ("ended", "cash"),
    [
        # 60 YES for 30, and 13.33333 NO for 10.
        ({"payout_per_yes": 0.35}, 9_960 + 60 * 0.35 + 13.33333 * 0.65),
        ({"voided": True}, 10_000),
    ],
)
def test_a_part_of_one_and_money_back_are_paid_on_paper(
    ended: dict[str, object], cash: float
) -> None:
    paper = Paper(ManualClock())
    paper.trade(market(0.5), order(Side.YES, amount=30.0))
    paper.trade(market(0.25), order(Side.NO, amount=10.0))
    paper.see([market(status=MarketStatus.RESOLVED).model_copy(update=ended)])
    assert paper.held == ()
    assert paper.portfolio().sim_balance == pytest.approx(cash, abs=1e-5)


def test_a_paper_fill_is_told_with_all_its_figures() -> None:
    paper = Paper(ManualClock())
    wish = order(Side.NO, amount=12.0).model_copy(
        update={"source": "sdk:p", "skill_slug": "dips", "reasoning": "cheap"}
    )
    bought = paper.trade(market(0.4), wish)
    told = bought.model_dump()
    wanted = {
        "success": True,
        "trade_id": "paper_1800000000_1",
        "market_id": "m",
        "side": Side.NO,
        "shares_bought": 20.0,
        "shares_sold": 0.0,
        "shares_requested": 20.0,
        "shares": 20.0,
        "status": "filled",
        "fill_status": "filled",
        "cost": 12.0,
        "new_price": 0.6,
        "avg_price": 0.6,
        "balance": 9_988.0,
        "dry_run": False,
        "error": None,
    }
    assert {name: told[name] for name in wanted} == wanted
    assert told["position"]["sim_balance"] == 9_988.0
    (row,) = paper.trades()
    assert (row.id, row.trade_id, row.market_id) == (*["paper_1800000000_1"] * 2, "m")
    assert (row.side, row.action, row.shares, row.cost, row.avg_price) == (
        Side.NO,
        "buy",
        20.0,
        12.0,
        0.6,
    )
    assert (row.source, row.skill_slug, row.reasoning) == ("sdk:p", "dips", "cheap")
    assert (row.venue, row.created_at) == (Venue.SIM, moment(Timestamp(1_800_000_000.0)))
    sold = paper.trade(market(0.4), order(Side.NO, shares=5.0))
    assert (sold.trade_id, sold.shares_bought, sold.shares_sold) == ("paper_1800000000_2", 0, 5.0)
    assert (sold.shares_requested, sold.cost, sold.balance) == (5.0, 3.0, 9_991.0)


def test_a_refused_paper_order_asked_for_its_shares_and_moved_nothing() -> None:
    refused = Paper(ManualClock()).trade(market(), order(shares=3.0))
    assert (refused.success, refused.shares_requested, refused.shares) == (False, 3.0, 0.0)
    assert (refused.status, refused.avg_price, refused.balance) == (None, None, 10_000.0)


def test_a_paper_position_is_told_at_the_last_prices() -> None:
    paper = Paper(ManualClock())
    for side, amount in ((Side.YES, 40.0), (Side.NO, 30.0)):
        wish = order(side, amount=amount).model_copy(update={"source": side.value})
        paper.trade(market(0.4), wish)
    paper.trade(market(0.4), order(Side.YES, shares=25.0))
    paper.see([market(0.5)])
    (row,) = paper.positions()
    assert (row.market_id, row.question, row.venue) == ("m", "Will it?", Venue.SIM)
    assert (row.shares_yes, row.shares_no, row.current_price) == (75.0, 50.0, 0.5)
    assert (row.current_value, row.cost_basis, row.pnl) == (62.5, 60.0, 2.5)
    assert (row.avg_cost, row.sources) == (60 / 125, ("yes", "no"))
    told = paper.portfolio()
    assert (told.sim_balance, told.total_exposure, told.pnl_total) == (9_940.0, 62.5, 2.5)
    assert (told.sim_pnl, told.warnings) == (2.5, ("paper trading: in memory only",))
    assert told.sim is not None
    assert told.sim.model_dump(exclude_defaults=True) == {
        "balance": 9_940.0,
        "pnl": 2.5,
        "positions_count": 1,
        "total_exposure": 62.5,
    }


def test_a_profit_on_paper_is_told_to_the_micro() -> None:
    paper = Paper(ManualClock())
    paper.trade(market(0.4), order(amount=10.0))
    paper.see([market(0.400_123)])
    assert paper.portfolio().pnl_total == 0.003_075


@pytest.mark.parametrize(
    ("venue", "cents", "outside", "buy", "sell"),
    [
        (Venue.SIM, 4.0, 0.7, 0.4, 0.4),
        (Venue.EVM, 4.0, 0.7, 0.72, 0.68),
        (Venue.EVM, None, None, 0.41, 0.39),
        (Venue.SOL, 4.0, 0.7, 0.7, 0.7),
    ],
)
def test_a_paper_price_is_that_of_its_venue(
    *, venue: Venue, cents: float | None, outside: float | None, buy: float, sell: float
) -> None:
    one = market().model_copy(update={"spread_cents": cents, "external_price_yes": outside})
    assert paper_price(one, order(amount=1.0, venue=venue)) == pytest.approx(buy)
    assert paper_price(one, order(shares=1.0, venue=venue)) == pytest.approx(sell)


@pytest.mark.parametrize(
    ("price", "bought", "sold"), [(0.998, 0.999, 0.988), (0.005, 0.015, 0.001)]
)
def test_a_paper_price_stays_in_the_range_of_a_book(
    price: float, bought: float, sold: float
) -> None:
    one = market(price)
    assert paper_price(one, order(amount=1.0, venue=Venue.EVM)) == pytest.approx(bought)
    assert paper_price(one, order(shares=1.0, venue=Venue.EVM)) == pytest.approx(sold)


def test_paper_orders_at_their_very_bounds_are_filled() -> None:
    paper = Paper(ManualClock())
    assert paper.trade(market(), order(amount=10_000.0, price=0.4)).success
    assert paper.trade(market(), order(shares=25_000.0, price=0.4)).success
    assert paper.portfolio().sim_balance == 10_000.0
    bound = paper.trade(market(), order(amount=5.0, price=0.399))
    assert bound.error == "the price is 0.4000, beyond the limit"
    paper.trade(market(), order(amount=4.0))
    assert not paper.trade(market(), order(shares=1.0, price=0.401)).success


def test_the_cost_of_what_stays_is_rounded_against_the_owner() -> None:
    paper = Paper(ManualClock())
    paper.trade(market(0.3), order(amount=1.0))
    paper.trade(market(0.3), order(shares=1.0))
    # 3.33333 shares cost 1; those that go take 300001 micros along, not 300000.3.
    assert paper.positions()[0].cost_basis == 0.699_999


@pytest.mark.slow
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
