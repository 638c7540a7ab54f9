import json
import math
import re
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kit.samples.desk import sample_state
from service_tui.desk.fixes import FIX_OF, fix_of
from service_tui.desk.slices.markets import BookLevelView
from service_tui.desk.slices.positions import PositionView
from service_tui.desk.translate import (
    account_view,
    amount,
    detail_of_history,
    detail_of_tape,
    filled_text,
    limits_view,
    market_view,
    position_views,
    quote_view,
    trade_view,
    world_view,
)
from service_tui.terms import Action, MarketStatus, Plan, Side, TradeStatus, Venue
from service_tui.units import ONE, Micros
from service_tui.wire.agents import AgentBody
from service_tui.wire.markets import HistoryBody, MarketBody
from service_tui.wire.positions import PortfolioBody, PositionBody
from service_tui.wire.settings import SettingsBody, UserSettingsBody
from service_tui.wire.trades import TradeBody, TradeRow
from service_tui.wire.world import TapeBody, WorldBody

AT = datetime(2027, 1, 15, 8, 0, tzinfo=UTC)
MARKET = sample_state().markets["m-00001"]
HELD = {"market_id": "m", "question": "Will it?", "current_price": 0.4}
SIDE = {
    "side": "yes",
    "shares": 100.0,
    "cost_basis": 35.0,
    "avg_cost": 0.35,
    "mark_price": 0.4,
    "current_value": 40.0,
    "exit_value": 39.0,
    "realized_pnl": 2.0,
    "opened_at": AT,
}


def views(**fields: Any) -> tuple[PositionView, ...]:
    return position_views(PositionBody(**{**HELD, **fields}), None)


# -- positions ----------------------------------------------------------------------------------


def test_a_position_that_tells_its_sides_apart_is_taken_as_it_is() -> None:
    (view,) = position_views(PositionBody(**HELD, sides=(SIDE,)), MARKET)
    assert (view.key, view.shares, view.cost) == ("m:yes", 100 * ONE, 35 * ONE)
    assert (view.mark_value, view.exit_value) == (40 * ONE, 39 * ONE)
    assert (view.unrealized, view.realized, view.pnl) == (5 * ONE, 2 * ONE, 7 * ONE)
    assert view.category == MARKET.category
    assert view.opened_at == AT.timestamp()
    assert view.status is MarketStatus.ACTIVE


def test_one_side_of_a_published_row_gets_all_of_its_cost() -> None:
    (view,) = views(shares_no=50.0, cost_basis=25.0, current_value=30.0, realized_pnl=1.0)
    assert (view.side, view.shares, view.cost) == (Side.NO, 50 * ONE, 25 * ONE)
    assert view.mark_price == pytest.approx(0.6)
    assert view.average == 0.5
    assert view.exit_value is None
    assert view.opened_at is None


@given(
    yes=st.floats(0.00001, 1e6),
    no=st.floats(0.00001, 1e6),
    price=st.floats(0, 1),
    cost=st.floats(0, 1e6),
    value=st.floats(0, 1e6),
)
def test_the_cost_of_a_published_row_is_shared_out_whole(
    *, yes: float, no: float, price: float, cost: float, value: float
) -> None:
    both = views(
        shares_yes=yes,
        shares_no=no,
        current_price=price,
        cost_basis=cost,
        current_value=value,
        realized_pnl=-cost,
    )
    assert [view.side for view in both] == [Side.YES, Side.NO]
    assert abs(sum(view.cost for view in both) - amount(cost)) <= 1
    assert abs(sum(view.realized for view in both) + amount(cost)) <= 1
    assert all(0 <= view.average <= 1 for view in both)


def test_nothing_held_is_no_position() -> None:
    assert views() == ()


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        ("active", MarketStatus.ACTIVE),
        ("closed", MarketStatus.CLOSED),
        ("resolved", MarketStatus.RESOLVED),
        ("settled", MarketStatus.RESOLVED),
        ("of tomorrow", MarketStatus.RESOLVED),
    ],
)
def test_the_status_of_a_position(said: str, meant: MarketStatus) -> None:
    (view,) = views(status=said, sides=(SIDE,))
    assert view.status is meant
    assert (view.unrealized == 0) == (meant is MarketStatus.RESOLVED)


@pytest.mark.parametrize(
    ("status", "side", "outcome"),
    [
        ("won", "yes", True),
        ("won", "no", False),
        ("lost", "yes", False),
        ("lost", "no", True),
        ("resolved", "yes", None),
        ("active", "yes", None),
    ],
)
def test_a_side_that_won_or_lost_tells_the_outcome(
    status: str,
    side: str,
    outcome: bool | None,  # noqa: FBT001
) -> None:
    (view,) = views(status=status, sides=({**SIDE, "side": side},))
    assert view.outcome is outcome
    assert view.is_closed == (status != "active")


def test_a_side_that_is_neither_yes_nor_no_is_no_position() -> None:
    with pytest.raises(ValueError, match="maybe"):
        views(sides=({**SIDE, "side": "maybe"},))


# -- markets, history, world --------------------------------------------------------------------


@given(
    st.datetimes(timezones=st.sampled_from([UTC, timezone(timedelta(hours=14))])),
    st.floats(0, 1),
    st.none() | st.floats(-1e9, 1e9),
)
def test_every_market_that_the_wire_takes_can_be_shown(
    at: datetime, price: float, volume: float | None
) -> None:
    body = MarketBody(
        id="m", question="?", current_probability=price, volume_24h=volume, resolves_at=at
    )
    view = market_view(body)
    assert view.price == price
    assert view.resolves_at == at.timestamp()
    assert view.change is None
    assert view.category == ""
    assert (view.volume is None) == (volume is None)


def test_the_first_tag_is_the_category() -> None:
    body = MarketBody(id="m", question="?", current_probability=0.5, tags=("weather", "wind"))
    assert market_view(body).category == "weather"


def test_a_history_is_a_chart_of_yes_and_nothing_else() -> None:
    point = {"timestamp": AT, "price_yes": 0.3, "price_no": 0.7}
    body = HistoryBody(market_id="m", points=(point,), interval_minutes=5)
    detail = detail_of_history(body, 3_600, "as the log says")
    assert detail.points == ((AT.timestamp(), 0.3),)
    assert (detail.news, detail.trades) == ((), ())
    assert (detail.span_s, detail.criteria) == (3_600, "as the log says")


def test_the_tape_of_a_market_is_taken_whole() -> None:
    news = {"at": AT, "market_id": "m", "headline": "x", "price_before": 0.1, "price_after": 0.2}
    trade = {
        "at": AT,
        "trader": "heron",
        "side": "no",
        "action": "sell",
        "shares": 2.5,
        "price": 0.8,
    }
    body = TapeBody(
        market_id="m",
        resolution_criteria="so",
        points=({"at": AT, "price": 0.2},),
        news=(news,),
        trades=(trade, trade | {"action": "hold"}, trade | {"trader": "wren"}),
        bids=({"price": 0.2, "shares": 3.0},),
        asks=({"price": 0.3, "shares": 4.0},),
    )
    detail = detail_of_tape(body, 60)
    assert (detail.market_id, detail.span_s, detail.criteria) == ("m", 60, "so")
    assert [one.trader for one in detail.trades] == ["heron", "wren"]
    assert detail.bids == (BookLevelView(0.2, Micros(3_000_000)),)
    assert detail.asks == (BookLevelView(0.3, Micros(4_000_000)),)
    assert detail.news[0].headline == "x"
    assert (detail.trades[0].side, detail.trades[0].action) == (Side.NO, Action.SELL)
    assert detail.trades[0].shares == 2_500_000


def test_what_happened_meanwhile_comes_with_the_world() -> None:
    resolved = {
        "at": AT,
        "market_id": "m",
        "question": "?",
        "outcome": True,
        "payout": 12.5,
        "pnl": -3.0,
    }
    body = WorldBody(
        now=AT,
        wall_at=AT,
        speed=10,
        seed=7,
        open_count=3,
        meanwhile={
            "closed_at": AT,
            "opened_at": AT + timedelta(hours=1),
            "world_elapsed_s": 36_000.0,
            "resolved_count": 1,
            "listed_count": 2,
            "resolved": (resolved,),
            "equity_before": 100.0,
        },
    )
    world = world_view(body)
    assert world.time_at(world.wall_at + 2) == world.now + 20
    assert world.time_at(world.wall_at - 9) == world.now
    assert world.meanwhile.resolved[0].payout == 12_500_000
    assert world.meanwhile.resolved[0].pnl == -3 * ONE
    assert (world.meanwhile.equity_before, world.meanwhile.equity_after) == (100 * ONE, None)


# -- account and limits -------------------------------------------------------------------------


def agent(**fields: Any) -> AgentBody:
    known = {
        "agent_id": "a",
        "name": "desk",
        "status": "unclaimed",
        "balance": 900.0,
        "sim_pnl": 0.0,
        "total_pnl": -20.0,
        "total_pnl_percent": 0.0,
        "trades_count": 2,
        "win_count": 1,
        "loss_count": 1,
        "claimed": False,
        "real_trading_enabled": False,
        "created_at": AT.isoformat(),
    }
    return AgentBody.model_validate_json(json.dumps({**known, **fields}))


def test_the_figures_of_an_account_fit_each_other() -> None:
    holdings = views(sides=(SIDE,))
    portfolio = PortfolioBody(
        sim={"balance": 950.0, "total_exposure": 40.0}, pnl_24h=99.0, pnl_total=-10.0,
        exit_equity=989.0, pnl_today=7.0,
    )  # fmt: skip
    account = account_view(agent(), portfolio, holdings)
    assert account.cash == 950 * ONE
    assert account.mark_equity == account.cash + 40 * ONE
    assert account.equity == account.cash + 39 * ONE
    # What selling brings is one less than the mark.
    assert (account.total_pnl, account.day_pnl) == (-11 * ONE, 7 * ONE)
    assert account.realized + account.unrealized == -10 * ONE
    assert account.plan is Plan.FREE


def test_a_service_that_tells_little_gets_an_account_all_the_same() -> None:
    account = account_view(agent(), PortfolioBody(), ())
    assert (account.cash, account.equity, account.total_pnl) == (900 * ONE, 900 * ONE, -20 * ONE)
    assert account.day_pnl is None
    assert (account.mark_equity, account.is_at_mark) == (900 * ONE, False)


def test_without_an_exit_value_the_equity_is_by_the_mark_and_says_so() -> None:
    holdings = views(shares_yes=1.0)
    account = account_view(agent(), PortfolioBody(), holdings)
    assert account.is_at_mark
    assert account.equity == account.mark_equity


@pytest.mark.parametrize("account_paused", [True, False])
@pytest.mark.parametrize("user_paused", [True, False])
def test_either_document_may_pause(account_paused: bool, user_paused: bool) -> None:  # noqa: FBT001
    limits = limits_view(
        SettingsBody(sdk_real_trading_enabled=False, trading_paused=account_paused),
        UserSettingsBody(trading_paused=user_paused),
        sim=True,
    )
    assert limits.paused == (account_paused or user_paused)


def test_a_service_that_does_not_say_counts_as_paused() -> None:
    body = SettingsBody(sdk_real_trading_enabled=False)
    assert limits_view(body, UserSettingsBody(trading_paused=False), sim=True).paused


def test_the_cap_of_a_trade_is_the_venues() -> None:
    body = SettingsBody(
        sdk_real_trading_enabled=False, sdk_max_trade_amount=-1.0, trading_paused=False
    )
    user = UserSettingsBody(trading_paused=False)
    assert limits_view(body, user, sim=True).max_trade == 500 * ONE
    assert limits_view(body, user, sim=False).max_trade == -ONE


# -- trades and quotes --------------------------------------------------------------------------


def row(**fields: Any) -> TradeRow:
    return TradeRow(
        id="t",
        trade_id="t",
        market_id="m",
        side=Side.YES,
        action="buy",
        shares=2.0,
        cost=1.0,
        created_at=AT,
        **fields,
    )


def test_our_reference_is_found_again_in_a_trade() -> None:
    assert trade_view(row(signal_data={"client_ref": "abc", "edge": 0.2})).client_ref == "abc"
    assert trade_view(row(signal_data={"edge": 0.2})).client_ref == ""
    assert trade_view(row()).client_ref == ""
    assert trade_view(row(status=TradeStatus.FAILED)).status is TradeStatus.FAILED


def test_a_signal_value_that_cannot_be_read_hides_no_trade() -> None:
    given = {"edge": True, "n": math.nan, "list": [1], "none": None, "why": "radar", "x": 2}
    assert dict(trade_view(row(signal_data=given)).signal_data) == {"why": "radar", "x": "2"}


def answer(**fields: Any) -> TradeBody:
    return TradeBody(market_id="m", side=Side.YES, **fields)


FILLED = {
    "success": True,
    "shares": 50.0,
    "cost": 20.0,
    "new_price": 0.42,
    "price_before": 0.39,
    "balance": 980.0,
}


def test_a_quote_to_buy_may_lose_its_spend_and_win_the_rest() -> None:
    quote = quote_view(3, answer(**FILLED), Action.BUY, Micros(0))
    assert quote.ok
    assert (quote.request_id, quote.money, quote.shares) == (3, 20 * ONE, 50 * ONE)
    assert (quote.max_loss, quote.max_win) == (20 * ONE, 30 * ONE)
    assert quote.average == 0.4
    assert quote.slippage == pytest.approx(0.01)


def test_a_quote_to_sell_gives_up_what_the_shares_may_pay() -> None:
    quote = quote_view(3, answer(**FILLED), Action.SELL, Micros(50 * ONE))
    assert (quote.max_loss, quote.max_win) == (30 * ONE, 20 * ONE)
    less = quote_view(3, answer(**FILLED), Action.SELL, Micros(10 * ONE))
    assert less.max_loss == 0


def test_the_fee_of_a_quote_comes_on_top_of_a_buy_and_off_a_sale() -> None:
    fee = answer(**FILLED, fee=0.42)
    buy = quote_view(3, fee, Action.BUY, Micros(0))
    assert (buy.money, buy.fee) == (20 * ONE, 420_000)
    assert (buy.max_loss, buy.max_win) == (20_420_000, 29_580_000)
    sale = quote_view(3, fee, Action.SELL, Micros(50 * ONE))
    assert (sale.net, sale.max_win, sale.max_loss) == (19_580_000, 19_580_000, 30_420_000)


def test_a_no_is_advised_in_words_that_this_console_has_keys_for() -> None:
    said = "let the order rest with order_type GTC"
    refused = TradeBody(success=False, error="no", error_code="NO_LIQUIDITY", fix=said)
    quote = quote_view(1, refused, Action.BUY, Micros(0))
    assert quote.fix == FIX_OF["NO_LIQUIDITY"]
    assert fix_of("SOMETHING_ELSE", "as they say") == "as they say"
    assert fix_of(None, "") == ""
    for words in FIX_OF.values():
        assert not re.search(r"order_type|PATCH|POST|GET|/api/", words)


@pytest.mark.parametrize(
    ("source", "venues"),
    [
        (None, ()),
        ("sim", (Venue.SIM,)),
        ("evm_venue", (Venue.SIM, Venue.EVM)),
        ("polymarket", (Venue.SIM, Venue.EVM)),
        ("sol_venue", (Venue.SIM, Venue.SOL)),
        ("a venue of tomorrow", ()),
    ],
)
def test_a_market_trades_on_sim_and_on_the_book_of_its_quotes(
    source: str | None, venues: tuple[Venue, ...]
) -> None:
    body = MarketBody(id="m", question="?", current_probability=0.5, import_source=source)
    assert market_view(body).venues == venues


def test_a_quote_of_nothing_has_no_average() -> None:
    quote = quote_view(1, answer(success=True), Action.BUY, Micros(0))
    assert quote.average is None
    assert quote.slippage is None


@pytest.mark.parametrize(
    ("fields", "problem", "fix"),
    [
        ({}, "refused without a reason", ""),
        ({"error": "no", "error_hint": "hint"}, "no", "hint"),
        ({"error": "no", "error_hint": "hint", "fix": "do"}, "no", "do"),
    ],
)
def test_a_quote_that_is_refused_says_why(fields: dict[str, str], problem: str, fix: str) -> None:
    quote = quote_view(1, answer(success=False, **fields), Action.BUY, Micros(0))
    assert (quote.ok, quote.problem, quote.fix) == (False, problem, fix)


@pytest.mark.parametrize(
    ("fields", "action", "words"),
    [
        (FILLED, Action.BUY, "bought 50.00 shares, for 20.00 (average 0.400); price now 0.420"),
        (FILLED, Action.SELL, "sold 50.00 shares, brought 20.00 (average 0.400); price now 0.420"),
        (
            {"success": True, "shares_bought": 2.0, "cost": 1.0},
            Action.BUY,
            "bought 2.00 shares, for 1.00 (average 0.500)",
        ),
        (
            {"success": True, "fill_status": TradeStatus.SUBMITTED},
            Action.BUY,
            "submitted: no shares yet",
        ),
        ({"success": True}, Action.BUY, "bought 0.00 shares, for 0.00 (average 0.000)"),
    ],
)
def test_an_order_that_went_through_in_words(
    fields: dict[str, Any], action: Action, words: str
) -> None:
    assert filled_text(answer(**fields), action) == words


@pytest.mark.parametrize(
    ("fee", "action", "words"),
    [
        ({"fee": 1.08}, Action.BUY,
         "for 20.00 USDC.e (average 0.400), fee 1.08 USDC.e on top; price"),
        ({"fee": 0.93}, Action.SELL,
         "brought 20.00 USDC.e (average 0.400), fee 0.93 USDC.e taken off; price"),
        ({"fee": 0.0}, Action.BUY, "(average 0.400), no fee; price"),
        ({"fee_rate_bps": 550}, Action.BUY, "fee not reported, rate 5.5%; price"),
        ({}, Action.BUY, "(average 0.400), fee not reported; price"),
    ],
)  # fmt: skip
def test_a_real_trade_tells_its_money_and_its_fee(
    fee: dict[str, Any], action: Action, words: str
) -> None:
    assert words in filled_text(answer(**FILLED, **fee), action, Venue.EVM)


@pytest.mark.parametrize(("fee", "known"), [({"fee": 1.08}, 1_080_000), ({}, None)])
def test_a_listed_trade_has_its_fee_or_says_that_it_is_not_told(
    fee: dict[str, Any], known: int | None
) -> None:
    row = TradeRow(
        id="t", market_id="m", side=Side.YES, action="buy", venue=Venue.EVM, created_at=AT, **fee
    )
    assert trade_view(row).fee == known


@given(st.floats(-1e9, 1e9))
def test_an_amount_of_the_wire_becomes_the_nearest_micro(value: float) -> None:
    assert abs(amount(value) / ONE - value) <= 0.5e-6 + abs(value) * 1e-15


def test_a_position_that_was_sold_has_no_outcome_of_its_own() -> None:
    sold = {**SIDE, "shares": 0.0, "cost_basis": 0.0, "avg_cost": None, "current_value": 0.0}
    for later in ({}, {"outcome": False, "resolved_at": AT}):
        (view,) = views(status="sold", sides=(sold,), **later)
        assert (view.is_closed, view.is_sold, view.outcome) == (True, True, None)
        assert view.end_text == "sold"
    (resolved,) = views(status="lost", sides=(SIDE,))
    assert (resolved.is_sold, resolved.end_text) == (False, "resolved")
