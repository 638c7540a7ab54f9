"""Sums of an account over cash and positions."""

from dataclasses import replace

from kit.samples.desk import NOW, sample_state
from service_tui.desk.slices.account import summed
from service_tui.desk.slices.positions import PositionView
from service_tui.terms import MarketStatus, Side, Venue
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
    unpriced = replace(OTHER, mark_price=None, mark_value=None, unrealized=None)
    assert summed(ACCOUNT, (HELD, unpriced)) == summed(ACCOUNT, None)
    none = summed(ACCOUNT, ())
    assert (none.is_at_mark, none.equity) == (False, 1_000 * ONE)
