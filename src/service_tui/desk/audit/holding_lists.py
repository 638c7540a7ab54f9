"""What all agents hold, as rows of plain values for scripts. Pure.

The keys of a row are stable: scripts depend on them. A value that is not known is None.
"""

from service_tui.desk.audit.exports import Row, Rows, text_of_moment
from service_tui.desk.slices.holdings import HoldingsView
from service_tui.desk.state import DeskState
from service_tui.evaluation.calendar import calendar
from service_tui.evaluation.exposure import Exposure, Grouping, exposures
from service_tui.terms import MONEY_OF
from service_tui.units import Micros, decimal


def exposure_rows(state: DeskState) -> Rows:
    """What each group of each grouping can come to; the most at risk of a grouping first."""
    view = state.holdings
    if view is None:
        return []
    held = view.holdings
    limits = {(one.group.value, one.key, MONEY_OF[one.venue]): one for one in view.limits}
    return [
        {
            "by": grouping.value,
            "key": one.key,
            "name": one.name,
            **_figures(one),
            "limit": None
            if (limit := limits.get((grouping.value, one.key, one.money))) is None
            else decimal(limit.cost_max),
            "limit_refuses": None if limit is None else limit.refuses,
        }
        for grouping in Grouping
        for one in exposures(held, grouping)
    ]


def calendar_rows(state: DeskState) -> Rows:
    """What resolves when: overdue, then in the order of the ends, then what has none."""
    held = state.holdings
    if held is None:
        return []
    ends = {one.market_id: one.resolves_at for one in held.holdings}
    rows = [
        (ends[one.key], slot.is_overdue, one)
        for slot in calendar(held.holdings, held.world_at)
        for one in slot.markets
    ]
    return [
        {
            "resolves": text_of_moment(at),
            "overdue": is_overdue,
            "market": one.key,
            "question": one.name,
            **_figures(one),
        }
        for at, is_overdue, one in sorted(rows, key=lambda row: row[0] or float("inf"))
    ]


def _figures(one: Exposure) -> Row:
    return {
        "money": one.money,
        "holdings": one.count,
        "cost": decimal(one.cost),
        "sale_value": _money(one.value),
        "pays_worst": decimal(one.worst),
        "pays_best": decimal(one.best),
        "pays_yes": decimal(one.if_yes),
        "pays_no": decimal(one.if_no),
        "rise_10": _money(one.after_rise),
        "fall_10": _money(one.after_fall),
    }


def _money(amount: Micros | None) -> float | None:
    return None if amount is None else decimal(amount)


def everything_held(state: DeskState) -> Rows:
    """Positions of all agents with their stops, then their open orders."""
    held = state.holdings
    return [] if held is None else [*_positions(held), *_orders(held)]


def _positions(held: HoldingsView) -> Rows:
    return [
        {
            "agent": one.agent_id,
            "agent_name": one.agent_name,
            "what": "position",
            "market": one.market_id,
            "question": one.question,
            "side": one.side.value,
            "venue": one.venue.value,
            "money": MONEY_OF[one.venue],
            "shares": decimal(one.shares),
            "cost": decimal(one.cost),
            "sale_value": _money(one.value),
            "price": one.price,
            "stop": one.stop,
            "target": one.target,
            "resolves": text_of_moment(one.resolves_at),
            "order": None,
        }
        for one in held.holdings
    ]


def _orders(held: HoldingsView) -> Rows:
    return [
        {
            "agent": row.agent_id,
            "agent_name": row.agent_name,
            "what": f"open {row.order.action.value}",
            "market": row.order.market_id,
            "question": row.order.question,
            "side": row.order.side.value,
            "venue": row.order.venue.value,
            "money": MONEY_OF[row.order.venue],
            "shares": decimal(row.order.shares),
            "cost": decimal(row.order.money),
            "sale_value": None,
            "price": row.order.price,
            "stop": None,
            "target": None,
            "resolves": None,
            "order": row.order.order_id,
        }
        for row in held.orders
    ]
