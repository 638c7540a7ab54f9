"""Parsing of an order typed on the ticket, and the bounds of its amount."""

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kit.console.limit_draft import open_order
from kit.console.real_ticket import REAL
from kit.samples.desk import NOW, sample_state
from kit.samples.numbers import NOT_MONEY
from kit.samples.risk import monitor_of
from service_tui.console.fields import FieldError, amount_rule, parse_number
from service_tui.console.forms.limit_draft import first_limit, stepped
from service_tui.console.forms.order_draft import (
    Draft,
    _money_of,
    _shares_of,
    buy_max,
    presets,
    read_order,
    takes_exits,
    typed,
)
from service_tui.console.forms.ticket_text import exits_text, market_line, order_text
from service_tui.desk.commands.trading import PlaceTrade
from service_tui.desk.slices.buy_limits import RiskDefaults
from service_tui.desk.slices.risk import RiskView
from service_tui.desk.slices.service import Phase
from service_tui.desk.slices.topics import Topic
from service_tui.desk.slices.wallet import Ownership
from service_tui.desk.state import DeskState
from service_tui.desk.trading.live_orders import token_shown
from service_tui.outcome import NO, YES
from service_tui.terms import Action, MarketStatus, Mode, OrderType, Side, Venue
from service_tui.units import ONE, SHARE_QUANTUM, Micros, Timestamp

STATE = sample_state()
HELD = STATE.positions[0]
MARKET = STATE.markets[HELD.market_id]


@pytest.mark.parametrize(("text", "said"), NOT_MONEY)
def test_what_is_no_amount_is_said_in_a_sentence(text: str, said: str) -> None:
    with pytest.raises(FieldError, match=said.replace("[", r"\[")):
        parse_number(text, amount_rule(2))


@pytest.mark.parametrize(
    ("text", "decimals", "amount"),
    [
        ("25", 2, 25_000_000),
        ("25.", 2, 25_000_000),
        (".5", 2, 500_000),
        ("0.01", 2, 10_000),
        (" 7.50 ", 2, 7_500_000),
        ("1.500000", 2, 1_500_000),
        ("0007", 2, 7_000_000),
        ("0.00001", 5, 10),
        ("123.45678", 5, 123_456_780),
        ("1000000000", 2, 10**15),
    ],
)
def test_a_plain_number_is_read_exactly(text: str, decimals: int, amount: int) -> None:
    assert parse_number(text, amount_rule(decimals)) == amount


@given(st.integers(1, 10**15), st.sampled_from([2, 5]))
def test_what_is_typed_for_an_amount_reads_back_rounded_down(amount: int, decimals: int) -> None:
    scale = 10 ** (6 - decimals)
    text = typed(Micros(amount), decimals=decimals)
    if amount >= scale:
        assert parse_number(text, amount_rule(decimals)) == amount // scale * scale


@pytest.mark.slow
@given(st.text(max_size=40))
def test_no_text_ever_reads_as_less_than_nothing_or_ends_in_another_error(text: str) -> None:
    try:
        assert 0 < parse_number(text, amount_rule(2)) <= 10**15
    except FieldError:
        return


def draft(**changes: object) -> Draft:
    fresh = Draft(market=MARKET, side=HELD.side, action=Action.BUY, amount="25")
    return replace(fresh, **changes)


def limited(**changes: object) -> DeskState:
    assert STATE.limits is not None
    return replace(STATE, limits=replace(STATE.limits, **changes))


def real(**changes: object) -> DeskState:
    """Where real money is spent, and the daily limit binds."""
    assert STATE.account is not None
    wallet = replace(
        STATE.wallet,
        live=True,
        usdc=Micros(1_000 * ONE),
        ownership=Ownership.MANAGED,
        real_trading=True,
    )
    account = replace(STATE.account, claimed=True)
    return replace(limited(**changes), wallet=wallet, account=account)


def poor(cash: int) -> DeskState:
    assert STATE.account is not None
    return replace(STATE, account=replace(STATE.account, cash=Micros(cash)), tickets=())


ON_CHAIN: dict[str, object] = {"venue": Venue.EVM}
REFUSED_BUYS = [
    (poor(24_990_000), {}, r"Above the 24\.99 \$SIM cash"),
    (poor(-5), {}, r"Above the 0\.00 \$SIM cash"),
    (limited(max_trade=Micros(10 * ONE)), {}, r"Above the 10\.00 \$SIM limit per trade"),
    (
        real(day_spent=Micros(490 * ONE)),
        ON_CHAIN,
        r"Above the 10\.00 USDC\.e left of",
    ),
    (
        real(day_spent=Micros(900 * ONE)),
        ON_CHAIN,
        r"Above the 0\.00 USDC\.e left of",
    ),
    (limited(paused=True), {}, "Trading is paused"),
    (replace(STATE, limits=None), {}, "not loaded yet"),
    (replace(STATE, account=None), {}, "not loaded yet"),
    (replace(STATE, from_cache=True), {}, "last session"),
    (replace(STATE, seen={}), {}, "not loaded yet"),
    (replace(STATE, polls={}), {}, "not loaded yet"),
    (replace(STATE, seen={**STATE.seen, Topic.MARKETS: Timestamp(NOW - 11)}), {}, "11 s old"),
    (replace(STATE, service=replace(STATE.service, phase=Phase.OFFLINE)), {}, "cannot be reached"),
    (replace(STATE, service=replace(STATE.service, phase=Phase.CONNECTING)), {}, "connecting"),
    (replace(STATE, service=replace(STATE.service, read_only=True)), {}, "read-only"),
    (replace(STATE, service=replace(STATE.service, mode=Mode.LIVE)), {}, "No play-money trading"),
    (STATE, ON_CHAIN, "Live trading is off"),
    (STATE, {"market": replace(MARKET, status=MarketStatus.CLOSED)}, "Market closed"),
    (
        STATE,
        {"market": replace(MARKET, status=MarketStatus.RESOLVED, outcome=NO)},
        "Market resolved NO",
    ),
    (STATE, {"amount": "9000"}, "cash left by pending orders"),
    (real(), {**ON_CHAIN, "amount": "400"}, r"Above the 380\.00 USDC\.e left of the daily limit"),
]


@pytest.mark.parametrize(("state", "changes", "said"), REFUSED_BUYS)
def test_a_buy_that_cannot_be_is_refused_in_words(
    state: DeskState, changes: dict[str, object], said: str
) -> None:
    with pytest.raises(FieldError, match=said):
        read_order(state, draft(**changes), NOW)


def test_a_buy_becomes_the_order_that_was_typed() -> None:
    order = read_order(STATE, draft(amount="25.50", reasoning="  the gauge rises "), NOW)
    assert (order.market_id, order.side, order.action) == (MARKET.market_id, HELD.side, Action.BUY)
    assert (order.amount, order.shares, order.everything) == (25_500_000, 0, False)
    assert order.reasoning == "the gauge rises"
    assert order.question == MARKET.question


def test_a_pause_lets_sales_pass() -> None:
    order = read_order(limited(paused=True), draft(action=Action.SELL, amount="1"), NOW)
    assert order.action is Action.SELL
    assert order.shares == ONE


def test_a_sale_of_more_than_is_held_is_refused() -> None:
    with pytest.raises(FieldError, match="Above your"):
        read_order(STATE, draft(action=Action.SELL, amount="100000"), NOW)


def test_a_sale_of_the_other_side_is_refused() -> None:
    with pytest.raises(FieldError, match="No YES position"):
        read_order(STATE, draft(action=Action.SELL, side=HELD.side.other, amount="1"), NOW)


@given(st.integers(10, 10**12))
def test_selling_all_sells_every_micro_that_is_held(shares: int) -> None:
    held = replace(HELD, shares=Micros(shares))
    state = replace(STATE, positions=(held,))
    ticket = draft(action=Action.SELL)
    label, text = presets(state, ticket)[-1]
    order = read_order(state, replace(ticket, amount=text), NOW)
    assert label == "all"
    assert order.everything
    assert order.shares == shares


def test_parts_of_a_holding_are_offered_rounded_down() -> None:
    state = replace(STATE, positions=(replace(HELD, shares=Micros(10_000_050)),))
    offered = presets(state, draft(action=Action.SELL))
    assert dict(offered) == {
        "25 %": "2.50001",
        "50 %": "5.00002",
        "75 %": "7.50003",
        "all": "10.00005",
    }


def test_the_most_that_can_be_bought_is_the_least_of_the_bounds() -> None:
    assert buy_max(STATE) == 500 * ONE
    assert buy_max(poor(7_123_456)) == 7_123_456
    assert presets(poor(7_123_456), draft())[-1] == ("max", "7.12")
    assert buy_max(real(day_spent=Micros(900 * ONE)), Venue.EVM) == 0
    assert buy_max(replace(STATE, account=None)) is None


def test_every_preset_of_a_buy_is_an_amount() -> None:
    for _, text in presets(STATE, draft()):
        assert read_order(STATE, draft(amount=text), NOW).amount > 0


def test_sides_are_never_mixed_up() -> None:
    for side in Side:
        assert read_order(STATE, draft(side=side), NOW).side is side


REST = replace(MARKET, venues=(Venue.SIM, Venue.EVM), tick=Micros(10_000))


@pytest.mark.parametrize(
    ("size", "shares"),
    [
        ("25%", "2.50001"),
        ("50 %", "5.00002"),
        ("12.5%", "1.25"),
        ("100%", "10.00005"),
        ("0.01%", "0.001"),
    ],
)
def test_a_sale_is_sized_in_per_cent_of_the_position(size: str, shares: str) -> None:
    held = replace(HELD, shares=Micros(10_000_050))
    state = replace(STATE, positions=(held, *STATE.positions[1:]))
    order = read_order(state, Draft(MARKET, held.side, Action.SELL, size), NOW)
    assert order.shares == Micros(round(float(shares) * ONE))
    assert order.everything is (size == "100%")


@pytest.mark.parametrize("part", ["100%", "33.33%", "99.99 %"])
def test_a_part_of_a_position_is_exact_however_many_shares_are_held(part: str) -> None:
    held = Micros(9_007_199_254_740_993 * 10)
    hundredths = round(float(part.rstrip(" %")) * 100)
    exact = held * hundredths // 10_000 // SHARE_QUANTUM * SHARE_QUANTUM
    assert (_shares_of(part, held), exact <= held) == (exact, True)


def test_shares_that_cost_less_than_a_cent_are_refused_with_the_fewest_that_do_not() -> None:
    market = replace(REST, tick=Micros(1_000))
    draft = Draft(market, Side.YES, Action.BUY, "1sh", venue=Venue.EVM, rests=True, limit="0.001")
    with pytest.raises(FieldError, match=r"Too few: at 0\.001, 10 shares cost the least, 0\.01"):
        _money_of(draft)
    assert _money_of(replace(draft, amount="10sh")) == 10_000


@pytest.mark.parametrize("size", ["101%", "-5%", "%", "x%", "1.005%"])
def test_a_percentage_that_is_none_is_refused(size: str) -> None:
    with pytest.raises(FieldError):
        read_order(STATE, Draft(MARKET, HELD.side, Action.SELL, size), NOW)


@pytest.mark.parametrize(
    ("size", "limit", "money"),
    [("20sh", "0.45", 9_000_000), ("20 SH", "0.45", 9_000_000), ("7.5sh", "0.33", 2_470_000)],
)
def test_shares_of_a_limit_buy_are_worth_their_limit_price_rounded_down(
    size: str, limit: str, money: int
) -> None:
    draft = Draft(REST, Side.YES, Action.BUY, size, venue=Venue.EVM, rests=True, limit=limit)
    assert _money_of(draft) == money
    # Never more shares than typed.
    shares = float(size.lower().removesuffix("sh"))
    assert money / ONE / float(limit) <= shares
    with pytest.raises(FieldError, match="need a limit price"):
        _money_of(replace(draft, rests=False))


@pytest.mark.parametrize(
    ("text", "ticks", "after"),
    [
        ("0.45", 1, "0.46"),
        ("0.45", -1, "0.44"),
        ("0.455", 1, "0.46"),
        ("0.455", -1, "0.45"),
        ("0.99", 1, "0.99"),
        ("0.01", -1, "0.01"),
        ("", 1, "0.51"),
        ("abc", -1, "0.49"),
    ],
)
def test_a_limit_price_moves_by_ticks_and_stays_a_price(text: str, ticks: int, after: str) -> None:
    assert stepped(text, Micros(10_000), ticks) == after


def test_a_limit_order_begins_at_the_best_price_of_its_own_side() -> None:
    market = replace(REST, bid=0.443, ask=0.46)
    assert first_limit(market, Side.YES, Action.BUY) == "0.44"
    assert first_limit(market, Side.YES, Action.SELL) == "0.46"
    assert first_limit(market, Side.NO, Action.BUY) == "0.54"
    assert first_limit(replace(market, bid=None), Side.YES, Action.BUY) == ""


def draft_with(stop: str = "", target: str = "", **other: Any) -> Draft:
    given = {"side": HELD.side, "action": Action.BUY, "amount": "25", "venue": Venue.SIM, **other}
    return Draft(market=MARKET, stop=stop, target=target, **given)


def test_a_buy_takes_a_stop_and_a_target_in_percent() -> None:
    order = read_order(STATE, draft_with("20", "50%"), NOW)
    assert (order.stop_loss_pct, order.take_profit_pct) == (0.2, 0.5)
    assert order.describe().endswith("for 25.00, stop 20.0% down, target 50.0% up")
    assert order_text(order).endswith("for 25.00 $SIM")
    real = replace(order, venue=Venue.EVM).describe()
    assert real.endswith("for 25.00 USDC.e on evm_venue, stop 20.0% down, target 50.0% up")
    plain = read_order(STATE, draft_with("", " "), NOW)
    assert (plain.stop_loss_pct, plain.take_profit_pct, plain.exits_text) == (None, None, "")
    with pytest.raises(FieldError, match="at most 100 % down"):
        read_order(STATE, draft_with("101"), NOW)
    with pytest.raises(FieldError, match="target"):
        read_order(STATE, draft_with("", "0"), NOW)
    # The service attaches its default stop to a buy without one: a single order cannot refuse it.
    with pytest.raises(FieldError, match="not for one order"):
        read_order(STATE, draft_with("off"), NOW)


def test_a_buy_with_one_threshold_names_the_other_as_it_stands() -> None:
    def exits(state: DeskState, stop: str, target: str) -> tuple[float | None, float | None]:
        order = read_order(state, draft_with(stop, target), NOW)
        return order.stop_loss_pct, order.take_profit_pct

    defaults = RiskDefaults(0.3, 0.9, auto_monitor=True)
    bare = replace(STATE, risk=RiskView(), buy_limits=replace(STATE.buy_limits, defaults=defaults))
    assert exits(bare, "10", "") == (0.1, 0.9)
    assert exits(bare, "", "50") == (0.3, 0.5)
    assert exits(bare, "", "") == (None, None)
    present = monitor_of(MARKET.market_id, side=HELD.side, stop_loss_pct=0.15, take_profit_pct=None)
    guarded = replace(bare, risk=RiskView(monitors=(present,)))
    assert exits(guarded, "", "50") == (0.15, 0.5)
    assert exits(guarded, "10", "") == (0.1, None)
    # One that has breached watches no more.
    spent = replace(bare, risk=RiskView(monitors=(replace(present, is_spent=True),)))
    assert exits(spent, "10", "") == (0.1, 0.9)


def test_a_sale_sets_no_stop_and_another_service_is_offered_none() -> None:
    sale = draft_with("20", "50", action=Action.SELL, amount="1")
    order = read_order(STATE, sale, NOW)
    assert (order.stop_loss_pct, order.take_profit_pct) == (None, None)
    assert takes_exits(STATE, draft_with())
    assert not takes_exits(STATE, sale)
    elsewhere = replace(STATE, service=replace(STATE.service, embedded=False))
    assert not takes_exits(elsewhere, draft_with())
    assert read_order(elsewhere, draft_with("20"), NOW).stop_loss_pct is None


def test_the_ticket_says_what_stop_and_target_mean() -> None:
    guards = replace(STATE, risk=RiskView(monitors=(monitor_of(MARKET.market_id, side=HELD.side),)))

    def said(state: DeskState, stop: str = "", target: str = "") -> str:
        draft = draft_with(stop, target)
        return exits_text(state, draft, read_order(state, draft, NOW)).plain

    bare = replace(STATE, risk=RiskView())
    assert said(replace(bare, buy_limits=None)) == "empty: as in Settings"
    for automatic, text in ((True, "default stop, 20 % below (about -5.00)"), (False, "no stop")):
        defaults = RiskDefaults(0.2, None, auto_monitor=automatic)
        limits = replace(STATE.buy_limits, defaults=defaults)
        assert said(replace(bare, buy_limits=limits)) == f"empty: {text}"
    assert said(bare, "20") == "loss at the stop 5.00 $SIM, slippage and fees extra"
    assert said(bare, "", "50") == "loss at the stop 5.00 $SIM, slippage and fees extra"
    manual = replace(STATE.buy_limits, defaults=RiskDefaults(0.2, None, auto_monitor=False))
    assert said(replace(bare, buy_limits=manual), "", "50") == "no stop"
    assert said(guards) == "empty: the present monitor stays"
    assert said(guards, "10").endswith(
        "2.50 $SIM, slippage and fees extra; replaces the present one"
    )
    # The loss is shown also beside a target that cannot be reached.
    assert said(bare, "", "9900").endswith(
        "above 1; loss at the stop 5.00 $SIM, slippage and fees extra"
    )
    without = replace(bare, buy_limits=manual)
    assert said(without, "", "9900") == "target never reached: above 1; no stop"
    assert said(bare, "20", "9900").endswith(
        "above 1; loss at the stop 5.00 $SIM, slippage and fees extra"
    )
    masked = replace(bare, preferences={"privacy": "on"})
    assert "5.00" not in said(masked, "20")


def test_the_target_of_a_limit_order_is_that_of_its_limit() -> None:
    book = replace(MARKET, venues=(Venue.SIM, Venue.EVM), bid=0.55, ask=0.6, tick=Micros(10_000))
    state = replace(STATE, markets={**STATE.markets, book.market_id: book}, risk=RiskView())
    order = PlaceTrade(
        book.market_id, Side.YES, Action.BUY, Venue.EVM, Micros(25 * ONE), take_profit_pct=1.0
    )
    draft = replace(draft_with("", "100"), market=book, side=Side.YES, venue=Venue.EVM)
    never = "target never reached: above 1; no stop"
    assert exits_text(state, draft, order).plain == never
    # At 0.30 the target is 0.60, whatever the price is now.
    rests = replace(order, rests=True, price=0.3)
    assert exits_text(state, draft, rests).plain == "no stop"
    assert exits_text(state, draft, replace(rests, price=0.51)).plain == never


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({"resolves_at": Timestamp(NOW + 250)}, "active, resolves in 4m 10s"),
        ({"resolves_at": Timestamp(NOW - 1)}, "active, resolution is due"),
        (
            {"resolves_at": Timestamp(NOW - 1), "status": MarketStatus.CLOSED},
            "closed, resolution is due",
        ),
        ({"status": MarketStatus.RESOLVED, "outcome": YES}, "resolved YES"),
        ({"status": MarketStatus.RESOLVED, "outcome": NO}, "resolved NO"),
        ({"status": MarketStatus.RESOLVED, "outcome": None}, "resolved"),
    ],
)
def test_the_line_of_a_market_says_when_or_how_it_resolves(
    changes: dict[str, Any], text: str
) -> None:
    state = replace(STATE, world=None)
    draft = replace(draft_with(), market=replace(MARKET, **changes))
    assert market_line(state, draft, NOW).plain.endswith(f"on sim   {text}")


def test_a_market_that_is_no_longer_listed_takes_no_order() -> None:
    with pytest.raises(FieldError, match="no longer listed"):
        read_order(replace(STATE, markets={}), draft(), NOW)


def test_shares_in_open_orders_cannot_be_sold_again() -> None:
    mine = open_order(
        market_id=MARKET.market_id,
        side=HELD.side,
        venue=Venue.SIM,
        shares=Micros(HELD.shares - ONE),
    )
    state = replace(STATE, orders=(mine,))
    sale = draft(action=Action.SELL, amount="1")
    assert read_order(state, sale, NOW).shares == ONE
    with pytest.raises(FieldError, match="of your shares are in open orders"):
        read_order(state, replace(sale, amount="1.01"), NOW)
    for other in (
        replace(mine, action=Action.BUY), replace(mine, market_id="m-x"),
        replace(mine, side=HELD.side.other),
    ):  # fmt: skip
        assert read_order(replace(STATE, orders=(other,)), replace(sale, amount="2"), NOW)


@pytest.mark.parametrize(
    ("rests", "until", "whole", "order_type"),
    [
        (False, None, False, OrderType.FAK), (False, None, True, OrderType.FOK),
        (True, None, False, OrderType.GTC), (True, "2h", False, OrderType.GTD),
        (True, "", True, OrderType.GTD), (True, None, True, OrderType.GTC),
    ],
)  # fmt: skip
def test_an_order_type_follows_from_what_is_selected(
    order_type: OrderType, until: str | None, *, rests: bool, whole: bool
) -> None:
    assert draft(rests=rests, until=until, whole=whole).order_type is order_type


CHAINED = replace(REAL.markets[MARKET.market_id], condition_id=f"0x{'12' * 32}", fee_rate_bps=25)


@pytest.mark.parametrize("side", Side)
def test_an_order_of_a_market_on_the_chain_has_the_token_and_the_fee_that_are_shown(
    side: Side,
) -> None:
    state = replace(REAL, markets={MARKET.market_id: CHAINED})
    order = read_order(state, draft(market=CHAINED, venue=Venue.EVM, side=side, amount="10"), NOW)
    assert (order.token, order.fee_rate_bps) == (token_shown(CHAINED, side), 25)
    assert order.token not in {"", token_shown(CHAINED, side.other)}


def test_an_order_of_any_other_market_has_no_token() -> None:
    bare = replace(CHAINED, condition_id="")
    for market, venue in ((bare, Venue.EVM), (CHAINED, Venue.SIM)):
        state = replace(REAL, markets={MARKET.market_id: market})
        order = read_order(state, draft(market=market, venue=venue, amount="10"), NOW)
        assert (order.token, order.fee_rate_bps) == ("", None)


def test_an_order_that_replaces_none_has_filled_nothing_before() -> None:
    order = read_order(STATE, draft(), NOW)
    assert (order.replaces, order.filled_before) == ("", 0)
