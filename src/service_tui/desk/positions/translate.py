"""Positions as views of the desk, side by side."""

from typing import Final

from service_tui.desk.slices.markets import (
    MarketView,
)
from service_tui.desk.slices.positions import PositionView
from service_tui.desk.wire_values import amount, amount_or_none, moment_or_none
from service_tui.outcome import NO, YES, Outcome, outcome_in
from service_tui.terms import (
    MarketStatus,
    Side,
    Venue,
)
from service_tui.units import Micros
from service_tui.wire.positions import PositionBody, PositionSideBody


def position_views(body: PositionBody, market: MarketView | None) -> tuple[PositionView, ...]:
    """One view for each side; rebuilt if the service does not separate sides."""
    sides = body.sides or tuple(
        _rebuilt(body, side, shares)
        for side, shares in ((Side.YES, body.shares_yes), (Side.NO, body.shares_no))
        if shares > 0
    )
    return tuple(_position_view(body, side, market) for side in sides)


def _rebuilt(body: PositionBody, side: Side, shares: float) -> PositionSideBody:
    """A side of a published row, which mixes both: cost and P&L are shared out by value.

    By shares where the row has no price: a value is not made up.
    """
    yes = body.current_price
    outcome = _outcome_of(body, side)
    if yes is None and outcome is not None:
        yes = outcome.part
    price = yes if yes is None or side is Side.YES else 1.0 - yes
    value = None if price is None else shares * price
    # By the value of these shares, not by the row's own: the parts then sum to one.
    whole = body.shares_yes + body.shares_no
    weight = shares
    if yes is not None and value is not None:
        whole, weight = body.shares_yes * yes + body.shares_no * (1.0 - yes), value
    part = weight / whole if whole > 0 else 1.0
    cost = body.cost_basis * part
    return PositionSideBody.model_construct(
        side=side.value,
        shares=shares,
        cost_basis=cost,
        avg_cost=min(1.0, cost / shares),
        mark_price=price,
        current_value=value,
        exit_value=None,
        realized_pnl=body.realized_pnl * part,
        opened_at=None,
    )


def _position_view(
    body: PositionBody, side: PositionSideBody, market: MarketView | None
) -> PositionView:
    value, cost = amount_or_none(side.current_value), amount(side.cost_basis)
    closed = body.status not in {"active", "closed"}
    realized = amount(side.realized_pnl)
    reported = amount_or_none(side.unrealized_pnl)
    unrealized = None if value is None else Micros(value - cost)
    if closed and body.venue is Venue.SIM:
        unrealized = Micros(0)
    left = amount_or_none(side.exit_value)
    if reported is not None:
        unrealized = reported
    if closed and not _waits(body, side) and body.venue is not Venue.SIM:
        # What was paid is cash by now, and no value beside it.
        value, left = Micros(0), None if left is None else Micros(0)
    if closed:
        # Nothing can change any more. Source: decisions, "Won, not redeemed".
        realized, unrealized = Micros(realized + (unrealized or 0)), Micros(0)
    return PositionView(
        market_id=body.market_id,
        question=body.question,
        category=market.category if market else "",
        side=Side(side.side),
        venue=body.venue,
        status=MarketStatus.RESOLVED if closed else _open_status(body.status),
        shares=amount(side.shares),
        cost=cost,
        average=side.avg_cost,
        mark_price=side.mark_price,
        mark_value=value,
        exit_value=left,
        unrealized=unrealized,
        realized=realized,
        resolves_at=moment_or_none(body.resolved_at or body.resolves_at),
        opened_at=moment_or_none(side.opened_at),
        outcome=_outcome_of(body, Side(side.side)),
        exit_together=amount_or_none(side.exit_together),
        wallet=body.wallet or "",
    )


def _waits(body: PositionBody, side: PositionSideBody) -> bool:
    """True if a side's payout needs redeeming; on sim it is paid at the outcome."""
    if not body.redeemable or body.redeemable_side in {None, side.side}:
        return body.redeemable
    # Where both sides pay the body names one of them: the other one waits while it has a value.
    outcome = outcome_in(body)
    return outcome is not None and outcome.winner is None and bool(side.current_value)


def _outcome_of(body: PositionBody, side: Side) -> Outcome | None:
    """Outcome that a position had, which a service may report as won or lost only.

    A position that was sold has none: the market's came after it, or is still to come.
    """
    if body.status == _SOLD:
        return None
    outcome = outcome_in(body)
    if outcome is None and body.status in {"won", "lost"}:
        return YES if (body.status == "won") is (side is Side.YES) else NO
    return outcome


_SOLD: Final = "sold"
"""The word of the wire for a side that was sold whole before its market ended."""


def _open_status(status: str) -> MarketStatus:
    return MarketStatus.CLOSED if status == MarketStatus.CLOSED.value else MarketStatus.ACTIVE
