"""States and values of a position."""

from dataclasses import replace

import pytest

from kit.samples.desk import NOW, sample_state
from service_tui.desk.slices.positions import PositionView, remark
from service_tui.outcome import NO, VOID, YES, Outcome
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


@pytest.mark.parametrize("status", MarketStatus)
@pytest.mark.parametrize("outcome", [None, YES, NO, VOID])
@pytest.mark.parametrize("shares", [0, 5])
def test_a_position_was_sold_when_its_market_ended_without_it(
    status: MarketStatus, shares: int, outcome: Outcome | None
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
