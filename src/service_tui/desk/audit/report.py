"""Daily report of each agent: trades, reasons, results, and refusals. Pure.

A day begins at midnight UTC.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from service_tui.desk.agents.health import spend_of, strictest_leash
from service_tui.desk.freshness import is_answered, leashes_known
from service_tui.desk.slices.agents import (
    AgentDetailView,
    AgentView,
    ReasonedTradeView,
    SkillResultView,
    VenueMoneyView,
)
from service_tui.desk.slices.supervision import LeashView, PendingTradeView, SkillRunView
from service_tui.desk.slices.topics import Topic
from service_tui.desk.slices.trades import Deal
from service_tui.desk.state import DeskState
from service_tui.terms import MONEY_OF, Side, Venue
from service_tui.units import Micros, Timestamp, sum_of

DAY_S: Final = 86_400.0
UNREAD: Final = "trades not read"

Pasts = Mapping[str, AgentDetailView]
"""Histories of agents by their ids, as far as they were read."""


@dataclass(frozen=True, slots=True)
class MoneyDay:
    """A day in the money of one venue, micros of it; of one agent, or of several in sum.

    `bought` is what the buys cost, `sold` what the sales brought, `paid` what payouts did;
    `realized` is the P&L that became final: of sales, and of outcomes, redeemed or not (`to_redeem`
    is won and not paid out yet). An order without a fill counts nowhere.
    `equity` and `total_pnl` are as of now; `day_pnl` is None where the service
    does not report it.
    """

    venue: Venue
    equity: Micros
    day_pnl: Micros | None
    total_pnl: Micros
    positions: int
    buys: int
    sales: int
    bought: Micros
    sold: Micros
    realized: Micros
    best: ReasonedTradeView | None = None
    worst: ReasonedTradeView | None = None
    skills: tuple[SkillResultView, ...] = ()
    payouts: int = 0
    paid: Micros = Micros(0)
    to_redeem: Micros = Micros(0)

    @property
    def money(self) -> str:
        """Currency of its amounts."""
        return MONEY_OF[self.venue]


@dataclass(frozen=True, slots=True)
class DayReport:
    """One agent's day; `problem` is the reason why its trades are unknown.

    `monies` are its figures by currency, $SIM first; real money is listed if the agent ever traded
    with it. `spent` is the spend that counts against the binding budget, and that budget, None
    without one: a budget counts all money alike. `leash` is the strictest one that binds, known
    only if `leash_known`. `decisions` counts decided approvals by their status.
    """

    agent: AgentView
    since: Timestamp
    trades: tuple[ReasonedTradeView, ...]
    monies: tuple[MoneyDay, ...]
    decisions: Mapping[str, int]
    waiting: int
    leash: LeashView | None
    runs: tuple[SkillRunView, ...]
    problem: str = ""
    spent: tuple[Micros, Micros | None] = (Micros(0), None)
    leash_known: bool = True


def midnight(now: Timestamp) -> Timestamp:
    """Start of the UTC day."""
    return Timestamp(now // DAY_S * DAY_S)


def day_reports(state: DeskState, now: Timestamp, pasts: Pasts) -> tuple[DayReport, ...]:
    """The day of every agent, those with the largest day's P&L, either way, first."""
    fleet = state.fleet
    agents = () if fleet is None else fleet.agents
    reports = [_report(agent, state, now, pasts) for agent in agents]
    return tuple(sorted(reports, key=lambda one: -abs(one.agent.day_pnl)))


def known_pasts(state: DeskState) -> dict[str, AgentDetailView]:
    """Histories that the state already has: the focused agent's trades, and the own agent's."""
    pasts: dict[str, AgentDetailView] = {}
    if state.account is not None:
        own = tuple(ReasonedTradeView(trade, trade.skill_slug) for trade in state.trades)
        unread = "" if is_answered(state, Topic.TRADES) else UNREAD
        pasts[state.account.agent_id] = AgentDetailView(
            state.account.agent_id, own, (), problem=unread
        )
    pasts |= {past.agent_id: past for past in state.supervision.pasts}
    if state.supervision.detail is not None and state.supervision.detail.agent_id not in pasts:
        pasts[state.supervision.detail.agent_id] = state.supervision.detail
    return pasts


def totals(reports: Sequence[DayReport]) -> tuple[MoneyDay, ...]:
    """The day of all agents together, each money for itself."""
    every = [day for one in reports for day in one.monies]
    return tuple(_sum_of(venue, own) for venue in Venue if (own := _of(every, venue)))


def _of(days: Sequence[MoneyDay], venue: Venue) -> list[MoneyDay]:
    return [day for day in days if day.venue is venue]


def _sum_of(venue: Venue, days: Sequence[MoneyDay]) -> MoneyDay:
    today = [day.day_pnl for day in days if day.day_pnl is not None]
    return MoneyDay(
        venue=venue,
        equity=sum_of(day.equity for day in days),
        day_pnl=sum_of(today) if today else None,
        total_pnl=sum_of(day.total_pnl for day in days),
        positions=sum(day.positions for day in days),
        buys=sum(day.buys for day in days),
        sales=sum(day.sales for day in days),
        bought=sum_of(day.bought for day in days),
        sold=sum_of(day.sold for day in days),
        realized=sum_of(day.realized for day in days),
        payouts=sum(day.payouts for day in days),
        paid=sum_of(day.paid for day in days),
        to_redeem=sum_of(day.to_redeem for day in days),
    )


def _report(agent: AgentView, state: DeskState, now: Timestamp, pasts: Pasts) -> DayReport:
    since, view, past = midnight(now), state.supervision, pasts.get(agent.agent_id)
    known = () if past is None else past.trades
    trades = tuple(one for one in known if one.trade.at >= since)
    return DayReport(
        agent=agent,
        since=since,
        trades=trades,
        monies=_monies(agent, trades, past),
        decisions=_decisions(view.decided, agent.agent_id, since),
        waiting=sum(trade.agent_id == agent.agent_id for trade in view.pending_trades),
        leash=strictest_leash(agent, view),
        spent=spend_of(agent, view),
        leash_known=leashes_known(state),
        runs=view.runs_of(agent.agent_id),
        problem=past.problem if past is not None else UNREAD,
    )


_Trades = Sequence[ReasonedTradeView]
_Place = tuple[str, Side, Venue]
_Owners = Mapping[tuple[str, Deal], str]
"""Skill of each trade, by its id and type."""


def _monies(
    agent: AgentView, trades: _Trades, past: AgentDetailView | None
) -> tuple[MoneyDay, ...]:
    """Figures of the day by currency; play money is always present."""
    realized = dict(past.realized_today) if past is not None else {}
    shown = {
        # A trade of today whose venue the service leaves out has figures of its own.
        **{one.trade.venue: _nothing(one.trade.venue) for one in trades},
        **{row.venue: row for row in agent.venues},
        Venue.SIM: replace(
            _nothing(Venue.SIM),
            equity=agent.equity,
            total_pnl=agent.total_pnl,
            positions_count=agent.positions_count,
        ),
    }
    owners = _owners_of(() if past is None else past.trades)
    days = (
        _money_day(
            shown[venue],
            agent.day_pnl if venue is Venue.SIM else None,
            [
                one
                for one in trades
                if one.trade.venue is venue and one.trade.deal is not Deal.ORDER
            ],
            owners,
        )
        for venue in Venue
        if venue in shown
    )
    return tuple(replace(day, realized=realized.get(day.venue, day.realized)) for day in days)


def _nothing(venue: Venue) -> VenueMoneyView:
    none = Micros(0)
    return VenueMoneyView(venue, none, none, none, none, 0, 0)


def _money_day(
    has: VenueMoneyView, day_pnl: Micros | None, trades: _Trades, owners: _Owners
) -> MoneyDay:
    buys, sales, payouts = (
        [one for one in trades if one.trade.deal is deal]
        for deal in (Deal.BUY, Deal.SALE, Deal.PAYOUT)
    )
    decided = [one for one in trades if one.trade.pnl is not None]
    ranked = sorted(decided, key=lambda one: one.trade.pnl or 0)
    return MoneyDay(
        venue=has.venue,
        equity=has.equity,
        day_pnl=day_pnl,
        total_pnl=has.total_pnl,
        positions=has.positions_count,
        buys=len(buys),
        sales=len(sales),
        bought=sum_of(one.trade.cost for one in buys),
        sold=sum_of(one.trade.cost for one in sales),
        realized=sum_of(one.trade.pnl or Micros(0) for one in (*sales, *payouts)),
        best=ranked[-1] if ranked and (ranked[-1].trade.pnl or 0) > 0 else None,
        worst=ranked[0] if ranked and (ranked[0].trade.pnl or 0) < 0 else None,
        skills=_skills(trades, owners),
        payouts=len(payouts),
        paid=sum_of(one.trade.cost for one in payouts),
        to_redeem=has.to_redeem,
    )


def _skills(trades: _Trades, owners: _Owners) -> tuple[SkillResultView, ...]:
    """The day's trades by their skills, the busiest first; its whole past is elsewhere."""
    by_slug: dict[str, list[ReasonedTradeView]] = {}
    for one in trades:
        by_slug.setdefault(owners[_named(one)], []).append(one)
    results: list[SkillResultView] = []
    for slug, own in by_slug.items():
        pnls = [one.trade.pnl for one in own if one.trade.pnl is not None]
        wins, losses = sum(pnl > 0 for pnl in pnls), sum(pnl < 0 for pnl in pnls)
        count = sum(one.trade.deal is not Deal.PAYOUT for one in own)
        results.append(SkillResultView(slug, count, sum_of(pnls), wins, losses))
    return tuple(sorted(results, key=lambda one: (-one.trades_count, one.skill_slug)))


def results_by_skill(pasts: Iterable[AgentDetailView]) -> tuple[SkillResultView, ...]:
    """Results of several agents' trades by skill and venue, the best first.

    Args:
        pasts: what is read of each agent; one with a problem counts for nothing.

    Returns:
        Each skill once a venue, in the venue's money; the name is empty for trades without one.
    """
    found: dict[tuple[Venue, str], list[SkillResultView]] = {}
    for past in pasts:
        owners = _owners_of(past.trades)
        for venue in Venue:
            own = tuple(one for one in past.trades if one.trade.venue is venue)
            for result in _skills(own, owners):
                found.setdefault((venue, result.skill_slug), []).append(result)
    merged = [
        SkillResultView(
            slug,
            sum(one.trades_count for one in results),
            sum_of(one.pnl for one in results),
            sum(one.wins for one in results),
            sum(one.losses for one in results),
            venue=venue,
        )
        for (venue, slug), results in found.items()
    ]
    return tuple(sorted(merged, key=lambda one: (-one.pnl, one.skill_slug, one.venue)))


def _named(one: ReasonedTradeView) -> tuple[str, Deal]:
    return one.trade.trade_id, one.trade.deal


def _owners_of(known: _Trades) -> _Owners:
    """Skill of each trade; a sale or payout belongs to the skill that bought.

    A sale takes shares that its own skill bought, then those of other skills, oldest first, as the
    service does; it belongs to the first skill of these.
    """
    bought: dict[_Place, dict[str, int]] = {}
    owners: dict[tuple[str, Deal], str] = {}
    # Of trades of one moment, the later one is listed first.
    oldest_first = known[::-1]
    for one in sorted(oldest_first, key=lambda one: one.trade.at):
        trade, slug = one.trade, one.skill_slug
        lots = bought.setdefault((trade.market_id, trade.side, trade.venue), {})
        if trade.deal is Deal.BUY:
            lots[slug] = lots.get(slug, 0) + int(trade.shares)
        elif trade.deal is not Deal.ORDER:
            slug = _take_from(lots, slug, int(trade.shares))
        owners[_named(one)] = slug
    return owners


def _take_from(lots: dict[str, int], own: str, shares: int) -> str:
    """Take shares out of the lots of skills; returns the first skill of which any was taken.

    If no lots are left, because not all buys are known: `own`, or else the last skill that bought.
    """
    owner = None
    for slug in sorted(lots, key=lambda slug: slug != own):
        taken = min(shares, lots[slug])
        if taken > 0:
            owner = slug if owner is None else owner
            lots[slug] -= taken
            shares -= taken
    return owner if owner is not None else own or next(reversed(lots), "")


def _decisions(
    decided: Sequence[PendingTradeView], agent_id: str, since: Timestamp
) -> dict[str, int]:
    statuses = (
        trade.status.value
        for trade in decided
        if trade.agent_id == agent_id and (trade.decided_at or since) >= since
    )
    return dict(Counter(statuses))
