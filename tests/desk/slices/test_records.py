"""What the records that screens show say of themselves."""

from dataclasses import replace

import pytest

from kit.samples.desk import NOW, sample_state
from service_tui.desk.slices.records import (
    NO_TRACE,
    NOT_FOUND,
    Deal,
    PositionView,
    ServiceView,
    TicketState,
    TicketView,
    Topic,
    TradeView,
    WorldView,
    remark,
    summed,
)
from service_tui.terms import Action, MarketStatus, Side, TradeStatus, Venue
from service_tui.units import ONE, Micros, Probability, Timestamp

STATE = sample_state(12)
MARKET = replace(
    next(one for one in STATE.markets.values() if one.is_open),
    price=Probability(0.4),
    price_24h_ago=0.25,
    venue_price=0.46,
    bid=0.3,
    ask=0.45,
)
HELD = PositionView(
    market_id=MARKET.market_id,
    question="Will it?",
    category="of old",
    side=Side.YES,
    venue=Venue.SIM,
    status=MarketStatus.ACTIVE,
    shares=Micros(100 * ONE),
    cost=Micros(20 * ONE),
    average=0.2,
    mark_price=0.5,
    mark_value=Micros(50 * ONE),
    exit_value=Micros(45 * ONE),
    unrealized=Micros(30 * ONE),
    realized=Micros(7 * ONE),
    resolves_at=Timestamp(NOW + 5),
    opened_at=Timestamp(NOW - 9),
)


# -- markets ------------------------------------------------------------------------------------


def test_both_sides_of_a_market_are_worth_one_together() -> None:
    assert MARKET.price_of(Side.YES) == 0.4
    assert MARKET.price_of(Side.NO) == pytest.approx(0.6)


def test_who_sells_yes_buys_no() -> None:
    assert MARKET.quotes_of(Side.YES) == (0.3, 0.45)
    assert MARKET.quotes_of(Side.NO) == pytest.approx((0.55, 0.7))
    assert replace(MARKET, bid=None).quotes_of(Side.NO) == (pytest.approx(0.55), None)
    assert replace(MARKET, ask=None).quotes_of(Side.NO) == (None, pytest.approx(0.7))


def test_a_change_and_a_gap_are_measured_from_the_price_here() -> None:
    assert MARKET.change == pytest.approx(0.15)
    assert MARKET.gap == pytest.approx(0.06)
    assert replace(MARKET, price_24h_ago=None).change is None
    assert replace(MARKET, venue_price=None).gap is None


@pytest.mark.parametrize("status", MarketStatus)
def test_an_active_market_alone_takes_orders(status: MarketStatus) -> None:
    assert replace(MARKET, status=status).is_open == (status is MarketStatus.ACTIVE)


# -- positions ----------------------------------------------------------------------------------


@pytest.mark.parametrize("status", MarketStatus)
@pytest.mark.parametrize("outcome", [None, True, False])
@pytest.mark.parametrize("shares", [0, 5])
def test_a_position_was_sold_when_its_market_ended_without_it(
    status: MarketStatus, shares: int, *, outcome: bool | None
) -> None:
    held = replace(HELD, status=status, outcome=outcome, shares=Micros(shares))
    is_over = status is MarketStatus.RESOLVED
    is_sold = is_over and outcome is None and shares == 0
    assert (held.is_closed, held.is_sold) == (is_over, is_sold)
    assert held.end_text == ("sold" if is_sold else status.value)


def test_the_result_of_a_position_is_what_was_made_and_what_is_open() -> None:
    assert HELD.pnl == 37 * ONE
    assert HELD.pnl_pct == 1.5
    assert replace(HELD, cost=Micros(0)).pnl_pct is None


@pytest.mark.parametrize(
    ("venue", "status", "waits"),
    [
        (Venue.EVM, MarketStatus.RESOLVED, True),
        (Venue.EVM, MarketStatus.CLOSED, False),
        # On sim a win is paid at once.
        (Venue.SIM, MarketStatus.RESOLVED, False),
    ],
)
def test_a_win_on_a_real_venue_waits_for_its_redemption(
    venue: Venue, status: MarketStatus, *, waits: bool
) -> None:
    held = replace(HELD, venue=venue, status=status, mark_value=Micros(9 * ONE))
    assert held.to_redeem == (9 * ONE if waits else 0)


@pytest.mark.parametrize(("side", "price"), [(Side.YES, 0.4), (Side.NO, 0.6)])
def test_a_position_follows_its_market_and_keeps_what_it_cost(side: Side, price: float) -> None:
    seen = remark(replace(HELD, side=side), MARKET)
    value = Micros(int(100 * ONE * price))
    assert seen == replace(
        HELD,
        side=side,
        category=MARKET.category,
        mark_price=pytest.approx(price),
        mark_value=value,
        exit_value=Micros(45 * value // 50),
        unrealized=Micros(value - 20 * ONE),
        resolves_at=MARKET.resolves_at,
    )


@pytest.mark.parametrize("side", list(Side))
def test_a_rounded_price_takes_nothing_from_a_value_by_the_whole_price(side: Side) -> None:
    whole = 0.412_345_678_9
    own = whole if side is Side.YES else 1.0 - whole
    held = replace(
        HELD, side=side, mark_price=own, mark_value=Micros(int(100 * ONE * own)),
        exit_value=Micros(40 * ONE), category=MARKET.category, resolves_at=MARKET.resolves_at,
    )  # fmt: skip
    assert remark(held, replace(MARKET, price=Probability(round(whole, 6)))) is held
    moved = remark(held, replace(MARKET, price=Probability(round(whole, 6) + 2e-6)))
    assert moved.mark_value != held.mark_value


def test_the_worth_of_a_position_is_never_rounded_up() -> None:
    odd = replace(HELD, shares=Micros(10), mark_value=Micros(3), exit_value=Micros(2))
    seen = remark(odd, replace(MARKET, price=Probability(0.99)))
    assert (seen.mark_value, seen.exit_value) == (9, 6)


def test_a_position_that_has_ended_or_whose_market_is_not_known_stays() -> None:
    assert remark(HELD, None) is HELD
    over = replace(HELD, status=MarketStatus.CLOSED)
    assert remark(over, MARKET) is over
    same = replace(HELD, mark_value=Micros(40 * ONE))
    assert remark(same, MARKET) is same
    assert remark(same, replace(MARKET, status=MarketStatus.CLOSED)).status is MarketStatus.CLOSED


def test_what_selling_brings_stays_as_it_was_told_where_nothing_can_be_made_of_it() -> None:
    assert remark(replace(HELD, exit_value=None), MARKET).exit_value is None
    worthless = replace(HELD, mark_value=Micros(0), exit_value=Micros(3))
    assert remark(worthless, MARKET).exit_value == 3


# -- sums ---------------------------------------------------------------------------------------

OTHER = replace(
    HELD, mark_value=Micros(11 * ONE), exit_value=Micros(9 * ONE), unrealized=Micros(-4 * ONE)
)
ACCOUNT = replace(
    STATE.account, cash=Micros(1_000 * ONE), start=Micros(900 * ONE), day_open=Micros(1_040 * ONE)
)


def test_the_sums_of_an_account_fit_its_cash_and_its_positions() -> None:
    assert summed(ACCOUNT, (HELD, OTHER)) == replace(
        ACCOUNT,
        equity=Micros(1_054 * ONE),
        day_pnl=Micros(14 * ONE),
        total_pnl=Micros(154 * ONE),
        unrealized=Micros(26 * ONE),
        realized=Micros(135 * ONE),
        mark_equity=Micros(1_061 * ONE),
    )


def test_cash_that_is_newer_than_the_account_counts() -> None:
    known = summed(ACCOUNT, (HELD,), Micros(500 * ONE))
    assert (known.cash, known.mark_equity, known.equity) == (500 * ONE, 550 * ONE, 545 * ONE)
    assert summed(ACCOUNT, None, Micros(500 * ONE)).cash == 500 * ONE


def test_a_sum_of_which_a_part_is_unknown_is_unknown() -> None:
    assert summed(ACCOUNT, None) == replace(
        ACCOUNT,
        equity=None,
        day_pnl=None,
        total_pnl=None,
        unrealized=None,
        realized=None,
        mark_equity=None,
    )
    assert summed(replace(ACCOUNT, day_open=None), (HELD,)).day_pnl is None
    partly = summed(ACCOUNT, (HELD, replace(OTHER, exit_value=None)))
    assert (partly.is_at_mark, partly.equity) == (True, partly.mark_equity)
    none = summed(ACCOUNT, ())
    assert (none.is_at_mark, none.equity) == (False, 1_000 * ONE)


# -- trades and tickets -------------------------------------------------------------------------


def trade(action: str, shares: int, cost: int) -> TradeView:
    return replace(
        STATE.trades[0],
        action=action,
        shares=Micros(shares),
        cost=Micros(cost),
        status=TradeStatus.FILLED,
    )


@pytest.mark.parametrize(
    ("action", "shares", "cost", "deal", "is_fill", "did"),
    [
        ("buy", 5, 3, Deal.BUY, True, "buy"),
        ("sell", 5, 3, Deal.SALE, True, "sell"),
        ("sell", 5, 0, Deal.SALE, True, "sell"),
        ("buy", 0, 3, Deal.BUY, False, "buy"),
        ("buy", 0, 0, Deal.ORDER, False, "buy order"),
        ("sell", 0, 0, Deal.ORDER, False, "sell order"),
        ("redeem", 5, 3, Deal.PAYOUT, False, "payout"),
        ("redeem", 0, 0, Deal.PAYOUT, False, "payout"),
    ],
)
def test_a_row_of_the_history_is_a_fill_a_payout_or_an_order_without_either(
    action: str, shares: int, cost: int, deal: Deal, *, did: str, is_fill: bool
) -> None:
    row = trade(action, shares, cost)
    assert (row.deal, row.is_fill, row.did) == (deal, is_fill, did)


@pytest.mark.parametrize("state", TicketState)
@pytest.mark.parametrize(
    ("outcome", "has_no_trace", "is_lost"),
    [
        (NO_TRACE, True, True),
        (f"{NOT_FOUND}: some trades are unreadable", False, True),
        ("sent, no answer yet; looking it up", False, False),
        (f"{NO_TRACE}; closed by you", False, False),
    ],
)
def test_a_ticket_may_be_closed_by_hand_while_its_end_is_unknown_and_was_looked_for(
    state: TicketState, outcome: str, *, has_no_trace: bool, is_lost: bool
) -> None:
    ticket = TicketView("t", "trade", "m", "buy", state, NOW, outcome=outcome)
    is_unknown = state is TicketState.UNKNOWN
    assert ticket.has_no_trace == (is_unknown and has_no_trace)
    assert ticket.is_lost == (is_unknown and is_lost)
    assert ticket.in_flight == (
        state in {TicketState.QUEUED, TicketState.SENT, TicketState.UNKNOWN}
    )


# -- the rest -----------------------------------------------------------------------------------


def test_the_world_goes_on_by_its_speed_and_never_back() -> None:
    world = WorldView(now=Timestamp(5_000.0), wall_at=NOW, speed=60, seed=7)
    assert world.time_at(Timestamp(NOW + 2)) == 5_120.0
    assert world.time_at(Timestamp(NOW - 2)) == 5_000.0


def test_rows_that_cannot_be_used_are_counted_over_all_topics() -> None:
    service: ServiceView = STATE.service
    assert service.dropped_rows == 0
    dropped = {Topic.MARKETS: 2, Topic.TRADES: 3}
    assert replace(service, dropped=dropped).dropped_rows == 5


def test_a_buy_alone_is_a_buy() -> None:
    assert {trade(one.value, 1, 1).deal for one in Action} == {Deal.BUY, Deal.SALE}
