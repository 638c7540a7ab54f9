"""The screens' lists as rows of plain values, for scripts. Pure.

The keys of a row are stable: scripts depend on them. A value that is not known is None.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Final

from service_tui.desk.audit.exports import (
    Row,
    Rows,
    agent_rows,
    alert_row,
    alert_rows,
    note_rows,
    own_id,
    position_row,
    text_of_moment,
    trade_rows,
)
from service_tui.desk.audit.report import Pasts
from service_tui.desk.freshness import is_answered
from service_tui.desk.holdings.rows import GroupRow, HeldRow, due_rows, group_rows, held_rows
from service_tui.desk.markets.events import EventView, events_of
from service_tui.desk.own_notes import all_notes
from service_tui.desk.slices.account import AccountView
from service_tui.desk.slices.agents import AgentView, ReturnsView
from service_tui.desk.slices.markets import MarketView
from service_tui.desk.slices.orders import OpenOrderView
from service_tui.desk.slices.positions import PositionView
from service_tui.desk.slices.risk import AlertView
from service_tui.desk.slices.supervision import AgentAlertView
from service_tui.desk.slices.topics import Topic
from service_tui.desk.state import DeskState
from service_tui.desk.wanted import DAY, PastPart, Wanted
from service_tui.evaluation.events import SET_SHARES
from service_tui.evaluation.returns import Period
from service_tui.terms import MONEY_OF, Venue
from service_tui.units import Micros, Timestamp, decimal

Maker = Callable[[DeskState, Pasts, Timestamp], Rows]


@dataclass(frozen=True, slots=True)
class ScriptList:
    """One command: what is read, the rows, and the keys shown as a table."""

    wanted: Wanted
    rows: Maker
    columns: tuple[str, ...]


def _money(amount: Micros | None) -> float | None:
    return None if amount is None else decimal(amount)


def status_row(state: DeskState) -> Row:
    """The account, the service and what needs a person, in one object."""
    account, limits, world = state.account, state.limits, state.world
    return {
        "service": state.service.label,
        "money": MONEY_OF[Venue.SIM],
        **_account(account),
        "buys_today": None if limits is None else limits.day_trades,
        "buys_a_day": None if limits is None else limits.day_trades_max,
        "paused": None if limits is None else limits.paused,
        "halted_since": text_of_moment(state.halted_since),
        "positions": len(state.positions) if is_answered(state, Topic.POSITIONS) else None,
        "open_orders": len(state.orders) if is_answered(state, Topic.ORDERS) else None,
        "approvals": len(state.supervision.pending_trades)
        if is_answered(state, Topic.FLEET)
        else None,
        "alerts": sum(one.state.is_open for one in state.risk.alerts)
        if is_answered(state, Topic.MONITORS)
        else None,
        "world_time": None if world is None else text_of_moment(world.now),
        "world_speed": None if world is None else world.speed,
    }


def _account(account: AccountView | None) -> Row:
    if account is None:
        return dict.fromkeys(_ACCOUNT)
    return {
        "agent": account.agent_id,
        "plan": account.plan.value,
        "cash": decimal(account.cash),
        "equity": _money(account.equity),
        "mark_equity": _money(account.mark_equity),
        "day_pnl": _money(account.day_pnl),
        "total_pnl": _money(account.total_pnl),
        "realized": _money(account.realized),
        "unrealized": _money(account.unrealized),
    }


_ACCOUNT: Final = (
    "agent", "plan", "cash", "equity", "mark_equity", "day_pnl", "total_pnl", "realized",
    "unrealized",
)  # fmt: skip


def market_rows(state: DeskState) -> Rows:
    """Every listed market; the most traded first."""
    markets = sorted(state.markets.values(), key=lambda one: -(one.volume or 0))
    return [market_row(one) for one in markets]


def market_row(one: MarketView) -> Row:
    """A market."""
    return {
        "market": one.market_id,
        "question": one.question,
        "category": one.category,
        "status": one.status.value,
        "yes": one.price,
        "change_24h": None if one.change is None else round(one.change, 6),
        "volume_24h": _money(one.volume),
        "liquidity": _money(one.liquidity),
        "ends": text_of_moment(one.resolves_at),
        "outcome": None if one.outcome is None else one.outcome.word.lower(),
        "venues": " ".join(venue.value for venue in one.venues),
        "venue_yes": one.venue_price,
        "bid": one.bid,
        "ask": one.ask,
    }


def event_rows(state: DeskState) -> Rows:
    """Every event of several open outcomes that are listed.

    A set is `set_shares` of each outcome; what it pays is certain only if exactly one comes true.
    """
    return [_event_row(event) for event in events_of(state.markets.values())]


def _event_row(event: EventView) -> Row:
    sums = event.sums()
    return {
        "event": event.event_id,
        "name": event.name,
        "outcomes": len(event.outcomes),
        "sum_yes": round(sums.sum_yes, 6),
        "set_shares": decimal(SET_SHARES),
        "yes_set_cost": _money(sums.yes_set.cost),
        "yes_set_pays": decimal(sums.yes_set.pays),
        "no_set_cost": _money(sums.no_set.cost),
        "no_set_pays": decimal(sums.no_set.pays),
        "asks": None if sums.asks is None else round(sums.asks, 6),
        "bids": None if sums.bids is None else round(sums.bids, 6),
        "markets": " ".join(one.market_id for one in event.outcomes),
    }


def open_positions(state: DeskState) -> Rows:
    """The own positions that are open or wait for their payout, each in the money of its venue."""
    own = own_id(state)
    waits = (one for one in state.on_venues if not one.is_closed or one.to_redeem)
    return [position_row(own, one) for one in (*state.positions, *waits)]


def order_rows(state: DeskState) -> Rows:
    """The own orders that rest on the books of venues."""
    return [order_row(one) for one in state.orders]


def order_row(one: OpenOrderView) -> Row:
    """An order on the book of a venue."""
    return {
        "order": one.order_id,
        "market": one.market_id,
        "question": one.question,
        "venue": one.venue.value,
        "money": MONEY_OF[one.venue],
        "side": one.side.value,
        "action": one.action.value,
        "type": one.order_type.value,
        "price": one.price,
        "shares": _money(one.shares),
        "filled": _money(one.filled),
        "reserved": _money(one.money),
        "created": text_of_moment(one.created_at),
        "expires": text_of_moment(one.expires_at),
    }


def agent_alert_rows(state: DeskState) -> Rows:
    """The alerts on agents, with their last firing."""
    return [agent_alert_row(one) for one in state.supervision.agent_alerts]


def agent_alert_row(one: AgentAlertView) -> Row:
    """An alert on an agent; `limit` and `value` count by its kind, as on the wire."""
    return {
        "alert": one.alert_id,
        "agent": one.agent_id,
        "agent_name": one.agent_name,
        "kind": one.kind.value,
        "limit": decimal(one.limit),
        "minutes": one.minutes or None,
        "skill": one.skill_slug or None,
        "then": one.action.value,
        "watches": one.describe(),
        "firing": one.is_beyond,
        "fired": one.fired_count,
        "fired_at": text_of_moment(one.fired_at),
        "value": _money(one.last_value),
    }


def fleet_rows(state: DeskState, now: Timestamp) -> Rows:
    """Every agent with its figures, the largest equity first; None where one is undefined."""
    agents = () if state.fleet is None else state.fleet.agents
    ranked = sorted(agents, key=lambda one: -one.equity)
    return [fleet_row(one, state.supervision.returns_of(one.agent_id), now) for one in ranked]


def fleet_row(agent: AgentView, known: ReturnsView | None, now: Timestamp) -> Row:
    """An agent's figures, in $SIM; week and month are those of now, UTC."""
    found = (known or ReturnsView(agent.agent_id)).brought_to(agent.equity, now)
    return {
        "agent": agent.agent_id,
        "agent_name": agent.name,
        "equity": decimal(agent.equity),
        "day_pnl": decimal(agent.day_pnl),
        "week_pnl": None if known is None else _money(found.gained(Period.WEEK, now)),
        "month_pnl": None if known is None else _money(found.gained(Period.MONTH, now)),
        "total_pnl": decimal(agent.total_pnl),
        "return": found.total_return,
        "drawdown": _part(found.drawdown),
        "max_drawdown": _part(found.max_drawdown),
        "sharpe": found.sharpe,
        "hit_rate": agent.win_rate,
        "trades": agent.trades_count,
    }


def _part(fraction: float | None) -> float | None:
    """A fraction to the millionth: what is smaller is of the arithmetic."""
    return None if fraction is None else round(fraction, 6)


def row_of(state: DeskState, record: object) -> Row | None:
    """A row of a screen as the list of the same name has it; None for what no list has."""
    match record:
        case MarketView():
            return market_row(record)
        case PositionView():
            return position_row(own_id(state), record)
        case OpenOrderView():
            return order_row(record)
        case AlertView():
            return alert_row(record)
        case _:
            return None


def fill_rows(state: DeskState, pasts: Pasts) -> Rows:
    """The fills of every agent, the newest first; as screen 9, without payouts."""
    filled = {
        agent_id: replace(past, trades=tuple(one for one in past.trades if one.trade.is_fill))
        for agent_id, past in pasts.items()
    }
    return sorted(trade_rows(state, filled), key=lambda row: str(row["at"]), reverse=True)


# -- what all agents hold ----------------------------------------------------------------------


def exposure_rows(state: DeskState) -> Rows:
    """What each group of each grouping can come to; the most at risk of a grouping first."""
    rows = () if state.holdings is None else group_rows(state.holdings)
    return [
        {
            "by": row.grouping.value,
            "key": row.exposure.key,
            "name": row.exposure.name,
            **_figures(row),
            "limit": None if row.limit is None else decimal(row.limit.cost_max),
            "limit_refuses": None if row.limit is None else row.limit.refuses,
        }
        for row in rows
    ]


def calendar_rows(state: DeskState) -> Rows:
    """What resolves when: overdue, then in the order of the ends, then what has none."""
    rows = () if state.holdings is None else due_rows(state.holdings)
    return [
        {
            "resolves": text_of_moment(row.resolves_at),
            "overdue": row.slot is not None and row.slot.is_overdue,
            "market": row.market_id,
            "question": row.question,
            **_figures(row),
        }
        for row in rows
    ]


def _figures(row: GroupRow) -> Row:
    one = row.exposure
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


def everything_held(state: DeskState) -> Rows:
    """Positions of all agents with their stops, then their open orders."""
    rows = () if state.holdings is None else held_rows(state.holdings)
    return [_held_row(row) for row in rows]


def _held_row(row: HeldRow) -> Row:
    return {
        "agent": row.agent_id,
        "agent_name": row.agent_name,
        "what": row.what,
        "market": row.market_id,
        "question": row.question,
        "side": row.side.value,
        "venue": row.venue.value,
        "money": MONEY_OF[row.venue],
        "shares": decimal(row.shares),
        "cost": decimal(row.cost),
        "sale_value": _money(row.value),
        "price": row.price,
        "stop": row.stop,
        "stop_distance": row.to_stop,
        "target": row.target,
        "other_side": ", ".join(row.others) or None,
        "resolves": text_of_moment(row.resolves_at),
        "order": row.order_id or None,
    }


LISTINGS: Final[Mapping[str, ScriptList]] = {
    "status": ScriptList(
        Wanted((Topic.ACCOUNT, Topic.POSITIONS, Topic.ORDERS, Topic.MONITORS, Topic.FLEET,
                Topic.WORLD)),
        lambda state, _pasts, _now: [status_row(state)],
        (),
    ),
    "markets": ScriptList(
        Wanted((Topic.MARKETS,)),
        lambda state, _pasts, _now: market_rows(state),
        ("market", "yes", "change_24h", "volume_24h", "ends", "question"),
    ),
    # Without the markets: a position comes with its price whole, and one of a list is rounded.
    "positions": ScriptList(
        Wanted((Topic.ACCOUNT, Topic.POSITIONS)),
        lambda state, _pasts, _now: open_positions(state),
        ("market", "side", "shares", "average", "mark_price", "exit_value", "unrealized",
         "realized", "to_redeem", "money", "question"),
    ),
    "orders": ScriptList(
        Wanted((Topic.ORDERS,)),
        lambda state, _pasts, _now: order_rows(state),
        ("order", "action", "side", "shares", "price", "type", "reserved", "money", "expires",
         "question"),
    ),
    "fills": ScriptList(
        Wanted((Topic.AGENTS,), frozenset({PastPart.TRADES})),
        lambda state, pasts, _now: fill_rows(state, pasts),
        ("at", "agent", "agent_name", "action", "side", "shares", "average", "cost", "fee", "pnl",
         "money", "question"),
    ),
    "agents": ScriptList(
        Wanted((Topic.AGENTS, Topic.FLEET), DAY),
        agent_rows,
        (),
    ),
    "alerts": ScriptList(
        Wanted((Topic.MONITORS,)),
        lambda state, _pasts, _now: alert_rows(state),
        ("at", "side", "reason", "trigger_price", "shares", "state", "question"),
    ),
    "events": ScriptList(
        Wanted((Topic.MARKETS,)),
        lambda state, _pasts, _now: event_rows(state),
        ("name", "outcomes", "sum_yes", "yes_set_cost", "yes_set_pays", "no_set_cost",
         "no_set_pays"),
    ),
    "exposure": ScriptList(
        Wanted((Topic.HOLDINGS,)),
        lambda state, _pasts, _now: exposure_rows(state),
        ("by", "name", "holdings", "cost", "sale_value", "pays_worst", "pays_best", "pays_yes",
         "pays_no", "money"),
    ),
    "calendar": ScriptList(
        Wanted((Topic.HOLDINGS,)),
        lambda state, _pasts, _now: calendar_rows(state),
        ("resolves", "cost", "sale_value", "pays_yes", "pays_no", "money", "question"),
    ),
    "held": ScriptList(
        Wanted((Topic.HOLDINGS,)),
        lambda state, _pasts, _now: everything_held(state),
        ("agent_name", "what", "side", "shares", "cost", "sale_value", "price", "stop",
         "stop_distance", "target", "money", "resolves", "question"),
    ),
    "fleet": ScriptList(
        Wanted((Topic.AGENTS, Topic.FLEET), returns=True),
        lambda state, _pasts, now: fleet_rows(state, now),
        ("agent_name", "equity", "day_pnl", "week_pnl", "month_pnl", "return", "drawdown",
         "sharpe", "hit_rate"),
    ),
    "notes": ScriptList(
        Wanted(()),
        lambda state, _pasts, _now: note_rows(all_notes((state.preferences,))),
        ("at", "on", "text", "question"),
    ),
    "agent-alerts": ScriptList(
        Wanted((Topic.AGENTS, Topic.FLEET)),
        lambda state, _pasts, _now: agent_alert_rows(state),
        ("alert", "agent_name", "watches", "then", "firing", "fired", "fired_at"),
    ),
}  # fmt: skip
"""What can be listed, by the name of its command."""
