"""Rows of the service as positions: one for each side, with its cost, mark, status and outcome."""

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kit.samples.desk import sample_state
from service_tui.desk.positions.translate import position_views
from service_tui.desk.slices.positions import PositionView, remark
from service_tui.desk.wire_values import amount
from service_tui.outcome import NO, YES, Outcome
from service_tui.terms import MarketStatus, Side
from service_tui.units import ONE
from service_tui.wire.positions import PositionBody

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


def test_a_position_with_sides_keeps_the_figures_of_each_side() -> None:
    (view,) = position_views(PositionBody(**HELD, sides=(SIDE,)), MARKET)
    assert (view.key, view.shares, view.cost) == ("m:yes", 100 * ONE, 35 * ONE)
    assert (view.mark_value, view.exit_value) == (40 * ONE, 39 * ONE)
    assert (view.unrealized, view.realized, view.pnl) == (5 * ONE, 2 * ONE, 7 * ONE)
    assert view.category == MARKET.category
    assert view.opened_at == AT.timestamp()
    assert view.status is MarketStatus.ACTIVE


def test_a_row_with_one_side_gives_it_the_whole_cost() -> None:
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
def test_the_cost_of_a_row_is_split_over_both_sides_without_a_remainder(
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


def test_a_row_without_a_price_has_no_mark_and_no_unrealized_pnl() -> None:
    both = views(current_price=None, shares_yes=30.0, shares_no=10.0, cost_basis=16.0)
    for view in both:
        assert (view.mark_price, view.mark_value, view.unrealized, view.pnl) == (None,) * 4
        assert view.pnl_pct is None
    assert [view.cost for view in both] == [12 * ONE, 4 * ONE]
    # With the market's price the figures are known.
    (yes, _) = (replace(one, market_id=MARKET.market_id) for one in both)
    marked = remark(yes, MARKET)
    assert marked.mark_price == MARKET.price_of(Side.YES)
    assert marked.unrealized == marked.mark_value - marked.cost


def test_a_side_of_a_resolved_market_is_marked_at_its_payout() -> None:
    ended = {"current_price": None, "status": "won", "outcome": True, "cost_basis": 16.0}
    (won,) = views(**ended, shares_yes=30.0)
    assert (won.mark_price, won.outcome) == (1.0, YES)


def test_a_row_without_shares_gives_no_position() -> None:
    assert views() == ()


@pytest.mark.parametrize(
    ("sent", "status"),
    [
        ("active", MarketStatus.ACTIVE),
        ("closed", MarketStatus.CLOSED),
        ("resolved", MarketStatus.RESOLVED),
        ("settled", MarketStatus.RESOLVED),
        ("of tomorrow", MarketStatus.RESOLVED),
    ],
)
def test_each_status_is_mapped_and_an_unknown_one_counts_as_resolved(
    sent: str, status: MarketStatus
) -> None:
    (view,) = views(status=sent, sides=(SIDE,))
    assert view.status is status
    assert (view.unrealized == 0) == (status is MarketStatus.RESOLVED)


@pytest.mark.parametrize(
    ("status", "side", "outcome"),
    [
        ("won", "yes", YES),
        ("won", "no", NO),
        ("lost", "yes", NO),
        ("lost", "no", YES),
        ("resolved", "yes", None),
        ("active", "yes", None),
    ],
)
def test_the_outcome_follows_from_a_side_that_won_or_lost(
    status: str,
    side: str,
    outcome: Outcome | None,
) -> None:
    (view,) = views(status=status, sides=({**SIDE, "side": side},))
    assert view.outcome == outcome
    assert view.is_closed == (status != "active")


def test_a_side_other_than_yes_or_no_raises() -> None:
    with pytest.raises(ValueError, match="maybe"):
        views(sides=({**SIDE, "side": "maybe"},))


def test_a_sold_position_is_closed_and_has_no_outcome() -> None:
    sold = {**SIDE, "shares": 0.0, "cost_basis": 0.0, "avg_cost": None, "current_value": 0.0}
    for later in ({}, {"outcome": False, "resolved_at": AT}):
        (view,) = views(status="sold", sides=(sold,), **later)
        assert (view.is_closed, view.is_sold, view.outcome) == (True, True, None)
        assert view.end_text == "sold"
    (resolved,) = views(status="lost", sides=(SIDE,))
    assert (resolved.is_sold, resolved.end_text) == (False, "resolved")
