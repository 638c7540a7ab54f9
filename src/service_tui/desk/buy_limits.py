"""The limits on buys: figures, use, and the limits that an order would break.

Each limit has a figure of the service, one of this desk, or both; the smaller binds. An order whose
outcome is unknown counts against every limit. Source: decisions,
"Unknown outcome".
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from service_tui.desk.commands.buy_limits import limit_figure_text
from service_tui.desk.commands.trading import PlaceTrade
from service_tui.desk.reasons import Fix, Reason
from service_tui.desk.slices.buy_limits import RULES, BuyLimit, BuyLimitsView, BuyLimitView
from service_tui.desk.slices.tickets import TicketState, TicketView
from service_tui.desk.slices.topics import Topic
from service_tui.desk.state import DeskState
from service_tui.terms import Action, Venue
from service_tui.units import Micros, Timestamp, sum_of

DAY_S: Final = 86_400
OWN: Final = "limits."
"""Prefix of the preferences that store this desk's own figures; the kind of limit follows."""

FIGURE_MAX: Final = 10**15
"""Micros of one billion, the largest amount there is."""

_NEVER_SPENT: Final = frozenset({TicketState.REFUSED, TicketState.FAILED})


@dataclass(frozen=True, slots=True)
class _Counted:
    """Use of the limits: the service's figures, and tickets that those do not include yet.

    `open_money` and `open_buys` are of pending orders; `own_money` is the spend of this desk's
    orders since the service's last answer, `later_buys` the number of those filled since then.
    """

    known: BuyLimitsView
    is_new_day: bool
    resets_at: Timestamp
    open_money: int
    open_buys: int
    later_buys: int
    own_money: int
    day_buys: int
    by_market: dict[str, int]


def service_now(state: DeskState, now: Timestamp) -> Timestamp:
    """The service's time, by which its days begin. Source: failures, F-09."""
    return Timestamp(now - (state.service.skew_s or 0.0))


def next_midnight(at: Timestamp) -> Timestamp:
    """The next midnight UTC."""
    return Timestamp((at // DAY_S + 1) * DAY_S)


def spending_day_began(now: Timestamp, skew_s: float) -> float:
    """Start of a spending day by our clock: the earlier of our midnight and the service's.

    Args:
        now: wall time.
        skew_s: how far our clock is ahead of the service's, seconds.

    Returns:
        Seconds since 1970.
    """
    return min(now // DAY_S * DAY_S, (now - skew_s) // DAY_S * DAY_S + skew_s)


def own_figure(state: DeskState, limit_kind: BuyLimit) -> tuple[int | None, bool]:
    """This desk's own figure of a limit or None, and whether the stored text is unreadable."""
    text = state.preferences.get(OWN + limit_kind.value, "")
    if not text:
        return None, False
    # Plain digits and no more: what else stands there was not written by this program.
    if not (text.isascii() and text.isdecimal() and 0 < int(text[:20]) <= FIGURE_MAX):
        return None, True
    return int(text), False


def buy_limits(
    state: DeskState, now: Timestamp, earlier: Sequence[TicketView] | None = None
) -> tuple[BuyLimitView, ...]:
    """Every limit with its current figures.

    Args:
        state: the newest.
        now: wall time.
        earlier: the tickets that count, newest first; None: all.

    Returns:
        One view a limit, in the order of the rules; empty until the service has reported them.
    """
    if state.buy_limits is None:
        return ()
    counted = _counted(state, state.buy_limits, now, state.tickets if earlier is None else earlier)
    views: list[BuyLimitView] = []
    for limit_kind in RULES:
        own, is_broken = own_figure(state, limit_kind)
        view = _READ[limit_kind](counted)
        resets_at = counted.resets_at if RULES[limit_kind].by_day else None
        views.append(replace(view, own=own, is_broken=is_broken, resets_at=resets_at))
    return tuple(views)


def _counted(
    state: DeskState, known: BuyLimitsView, now: Timestamp, tickets: Sequence[TicketView]
) -> _Counted:
    at = service_now(state, now)
    is_new_day = at >= known.resets_at
    midnight = next_midnight(at) if is_new_day else known.resets_at
    began = midnight - DAY_S + (state.service.skew_s or 0.0)
    buys = _buys(tickets)
    # Unknown orders that were searched for and not found reserve no money.
    waiting = [one for one in buys if one.in_flight and not one.has_no_trace]
    ended = [one for one in buys if one.state is TicketState.DONE]
    since = began if is_new_day else known.at
    # `known.own_spent` includes the orders opened before the answer already.
    fresh = [one for one in (*waiting, *ended) if one.opened_at >= since]
    own_money = sum_of(one.amount for one in fresh)
    if is_new_day:
        own_money += sum_of(one.amount for one in waiting if one.opened_at < since)
    return _Counted(
        known=known,
        is_new_day=is_new_day,
        resets_at=midnight,
        open_money=int(sum_of(one.amount for one in waiting)),
        open_buys=len(waiting),
        later_buys=sum((one.settled_at or 0.0) >= since for one in ended),
        own_money=int(own_money),
        day_buys=_bought(state, known, began),
        by_market=_by_market(state, buys),
    )


def _buys(tickets: Sequence[TicketView]) -> list[TicketView]:
    """Orders that may have spent money."""
    return [one for one in tickets if one.amount > 0 and one.state not in _NEVER_SPENT]


def _by_market(state: DeskState, buys: Sequence[TicketView]) -> dict[str, int]:
    """Spend by market, with tickets newer than the last answer about positions."""
    seen = state.seen.get(Topic.POSITIONS, 0.0)
    costs: dict[str, int] = {}
    for held in state.positions:
        costs[held.market_id] = int(costs.get(held.market_id, 0) + held.cost)
    for one in buys:
        waits = one.in_flight and not one.has_no_trace
        if waits or (one.state is TicketState.DONE and (one.settled_at or 0.0) > seen):
            costs[one.market_id] = int(costs.get(one.market_id, 0) + one.amount)
    return costs


def _bought(state: DeskState, known: BuyLimitsView, began: float) -> int:
    """Buys since midnight UTC: the service's count, else those among the known trades."""
    if known.day_buys is not None:
        return known.day_buys
    bought = (one for one in state.trades if one.action == Action.BUY and one.shares > 0)
    return sum(one.at >= began for one in bought)


def _sim_trade(counted: _Counted) -> BuyLimitView:
    return BuyLimitView(BuyLimit.SIM_TRADE, int(counted.known.sim_trade_max), None)


def _trade(counted: _Counted) -> BuyLimitView:
    return BuyLimitView(BuyLimit.TRADE, int(counted.known.max_trade), None)


def _market(counted: _Counted) -> BuyLimitView:
    """The limit per market, with the market that used most of it."""
    known = counted.known
    most = max(counted.by_market, key=lambda one: counted.by_market[one], default="")
    service = min(known.sim_market_max, known.position_max or known.sim_market_max)
    return BuyLimitView(
        BuyLimit.MARKET, int(service), None, counted.by_market.get(most, 0), about=most
    )


def _day_buys(counted: _Counted) -> BuyLimitView:
    service = counted.known
    bought = 0 if counted.is_new_day else counted.day_buys
    waiting = counted.open_buys + (0 if counted.is_new_day else service.day_resting)
    used = bought + counted.later_buys + waiting
    return BuyLimitView(BuyLimit.DAY_BUYS, service.day_buys_max, None, used, waiting)


def _day_spend(counted: _Counted) -> BuyLimitView:
    # Pending orders of this desk are on sim, where this limit does not apply.
    known = counted.known
    spent = 0 if counted.is_new_day else known.day_spent
    return BuyLimitView(BuyLimit.DAY_SPEND, int(known.day_spend_max), None, int(spent))


def _desk_day(counted: _Counted) -> BuyLimitView:
    known = 0 if counted.is_new_day else counted.known.own_spent or 0
    return BuyLimitView(
        BuyLimit.DESK_DAY, None, None, int(known + counted.own_money), counted.open_money
    )


def _skill_day(counted: _Counted) -> BuyLimitView:
    """The daily limit per skill, with the skill that spent most."""
    skills = () if counted.is_new_day else counted.known.skills
    largest = max(skills, key=lambda one: one.spent, default=None)
    used, slug = (0, "") if largest is None else (largest.spent, largest.slug)
    most = counted.known.skill_day_max
    return BuyLimitView(
        BuyLimit.SKILL_DAY, None if most is None else int(most), None, int(used), about=slug
    )


_READ: Final[dict[BuyLimit, Callable[[_Counted], BuyLimitView]]] = {
    BuyLimit.SIM_TRADE: _sim_trade,
    BuyLimit.TRADE: _trade,
    BuyLimit.MARKET: _market,
    BuyLimit.DAY_BUYS: _day_buys,
    BuyLimit.DAY_SPEND: _day_spend,
    BuyLimit.DESK_DAY: _desk_day,
    BuyLimit.SKILL_DAY: _skill_day,
}


def broken_by(
    state: DeskState, order: PlaceTrade, now: Timestamp, earlier: Sequence[TicketView]
) -> Iterator[Reason]:
    """Limits that a buy would break, each with its fix.

    Yields:
        An objection and its fix; none if every limit holds.
    """
    views = {view.limit_kind: view for view in buy_limits(state, now, earlier)}
    amounts = {
        (BuyLimit.SIM_TRADE if order.venue is Venue.SIM else BuyLimit.TRADE): order.amount,
        BuyLimit.DAY_BUYS: 1 + (views[BuyLimit.DAY_BUYS].used or 0) if views else 1,
        BuyLimit.DESK_DAY: order.amount + (views[BuyLimit.DESK_DAY].used or 0) if views else 0,
        BuyLimit.MARKET: order.amount + _by_market(state, _buys(earlier)).get(order.market_id, 0),
    }
    if order.venue is not Venue.SIM and views:
        amounts[BuyLimit.DAY_SPEND] = order.amount + (views[BuyLimit.DAY_SPEND].used or 0)
    for view in views.values():
        if view.is_broken:
            yield Reason(
                f"desk limit unreadable: {RULES[view.limit_kind].name}",
                Fix.SET_LIMIT_AGAIN,
            )
    for limit_kind, amount in amounts.items():
        limit = views[limit_kind].limit if limit_kind in views else None
        if limit is not None and not amount <= limit:
            yield _reason(views[limit_kind], limit)


def _reason(view: BuyLimitView, limit: int) -> Reason:
    rule = RULES[view.limit_kind]
    owner = "desk limit" if view.source == "desk" else "limit"
    text = f"{owner} ({rule.name}) is {limit_figure_text(view.limit_kind, limit)}"
    if view.used is None:
        return Reason(text, Fix.LOWER_OR_RAISE)
    if view.limit_kind is BuyLimit.MARKET:
        return Reason(text, Fix.LOWER_OR_SELL)
    used = limit_figure_text(view.limit_kind, view.used)
    waiting = limit_figure_text(view.limit_kind, view.reserved)
    more = f" ({waiting} of it pending)" if view.reserved else ""
    text = f"{text}, {used} used{more}"
    return Reason(text, Fix.RAISE_LIMIT)


def desk_budget(state: DeskState, now: Timestamp) -> tuple[float, Micros] | None:
    """Start of the spending day and this desk's own daily limit; None without one.

    The blotter checks it again in the transaction that stores the order, so that two orders at the
    same time cannot both take the rest. Source: failures, F-10.

    Returns:
        A time by our clock, and micros.
    """
    own, is_broken = own_figure(state, BuyLimit.DESK_DAY)
    return None if own is None or is_broken else (day_began(state, now), Micros(own))


def day_began(state: DeskState, now: Timestamp) -> float:
    """Start of the service's day by our clock."""
    midnight = next_midnight(service_now(state, now))
    return midnight - DAY_S + (state.service.skew_s or 0.0)
