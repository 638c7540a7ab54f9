"""Collects everything that happened from the state: each thing once, the newest first. Pure."""

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import chain
from typing import Final

from service_tui.console import formats
from service_tui.console.team_text import act_text
from service_tui.desk.slices.agents import FillView
from service_tui.desk.slices.log import (
    ActionView,
    LogEvent,
    registered_text,
    without_reported_orders,
)
from service_tui.desk.slices.markets import NewsView
from service_tui.desk.slices.reactor import SignalView
from service_tui.desk.slices.research import ExperimentView
from service_tui.desk.slices.risk import AlertView, PriceAlertView
from service_tui.desk.slices.service import Phase
from service_tui.desk.slices.trades import Deal, TradeView
from service_tui.desk.slices.world import AbsenceView, WorldView
from service_tui.desk.state import DeskState
from service_tui.terms import Action, Venue
from service_tui.units import Micros, Timestamp, decimal


class MomentKind(StrEnum):
    """Kind of a moment; the values are its labels."""

    FILL = "fill"
    PAYOUT = "payout"
    ORDER = "order"
    COMMAND = "command"
    REFUSED = "refused"
    UNKNOWN = "unknown"
    APPROVAL = "approval"
    ALERT = "alert"
    PRICE = "price"
    SIGNAL = "signal"
    NEWS = "news"
    RESOLVED = "resolved"
    RESULT = "result"
    AGENT = "agent"
    CONNECTION = "connection"
    TEAM = "team"
    LOG = "other"


@dataclass(frozen=True, slots=True)
class MomentView:
    """One thing that happened.

    Args:
        key: its identity.
        at: wall time; of an event of the offline world an estimate, see `world_at`.
        kind: its kind.
        who: agent, wallet or program; empty where it does not matter.
        words: what happened, in plain English.
        market_id: the market, empty without one.
        question: its question.
        money: what it moved or brought, None without an amount.
        venue: the venue whose money that is.
        world_at: time of the offline world, for an event of it; else None.
        screen: the screen that shows the thing, and `row` the key of its row there; empty: none.
        row: see `screen`.
        is_away: it happened while this desk was closed.
        is_own: it is about this desk or its agents, or about a market they traded or starred.
    """

    key: str
    at: Timestamp
    kind: MomentKind
    words: str
    who: str = ""
    market_id: str = ""
    question: str = ""
    money: Micros | None = None
    venue: Venue = Venue.SIM
    world_at: Timestamp | None = None
    screen: str = ""
    row: str = ""
    is_away: bool = False
    is_own: bool = True


MOMENTS_MAX: Final = 2_000
RESOLVED_MAX: Final = 200
"""ours: more is in the lists of fills and in the log, which can be searched there."""

_OF_LOG: Final = {
    LogEvent.INTENT.value: MomentKind.COMMAND,
    LogEvent.RESULT.value: MomentKind.COMMAND,
    LogEvent.ORDER.value: MomentKind.ORDER,
    LogEvent.REFUSAL.value: MomentKind.REFUSED,
    LogEvent.UNKNOWN.value: MomentKind.UNKNOWN,
    LogEvent.APPROVAL.value: MomentKind.APPROVAL,
    LogEvent.DECISION.value: MomentKind.APPROVAL,
    LogEvent.RUN.value: MomentKind.AGENT,
    LogEvent.AGENT.value: MomentKind.AGENT,
}
"""Kinds of the entries of the log, unless they are of an order."""

_ORDERS: Final = frozenset({"trade", "exit", "exit all", "set", "cancel", "give up"})
"""Kinds of the commands that send an order, or take one back."""

_ELSEWHERE: Final = frozenset({
    LogEvent.TRADE.value, LogEvent.RISK.value, LogEvent.CONFIRMED.value,
})  # fmt: skip
"""Entries of what the lists of fills and alerts have with more figures, or that changed nothing."""

_DONE: Final = ": done: "
REGISTERED: Final = "agent_registered"
"""The kind of a log entry about an agent that was registered."""

TOGETHER_S: Final = 60.0
"""ours: agents that are registered within this time of each other are one row."""

ANSWER_S: Final = 10.0
"""ours: the answer to a command that repeats its words comes within this time."""

SAME_S: Final = 3.0
"""ours: an own order is done at its fill; the log writes it down within this time."""


def moments(state: DeskState) -> tuple[MomentView, ...]:
    """Everything that happened, newest first; equal times stand in the order of their keys.

    Amounts are in the words as they are; who shows them masks them.
    """
    found = chain(
        map(_fill, state.fills),
        _payouts(state.trades),
        _logged(state),
        map(_alert, state.risk.alerts),
        _price_alerts(state.risk.price_alerts),
        map(_signal, state.reactor.signals),
        map(_experiment, state.research.experiments),
        _news(state),
        _resolved(state),
        _connection(state),
        _acts(state),
    )
    absence = None if state.world is None else state.world.meanwhile
    unique = {one.key: one for one in found}
    known = _known_markets(state)
    marked = (
        replace(_with_absence(one, absence), is_own=_is_own(one, known)) for one in unique.values()
    )
    return tuple(sorted(marked, key=lambda one: (-one.at, one.key))[:MOMENTS_MAX])


def _acts(state: DeskState) -> Iterator[MomentView]:
    """What other people of a shared desk changed; my own is in the log of this desk."""
    team = state.team
    for act in () if team is None else team.acts:
        if team is not None and act.person != team.name:
            yield MomentView(
                f"act {act.seq}", act.at, MomentKind.TEAM, act_text(act), who=act.person
            )


class Moments:
    """The moments of the newest state, collected once for all who ask for them."""

    def __init__(self) -> None:
        self._state: DeskState | None = None
        self._rows: tuple[MomentView, ...] = ()

    def __call__(self, state: DeskState) -> tuple[MomentView, ...]:
        """Everything that happened, as `moments` gives it."""
        if state is not self._state:
            self._state, self._rows = state, moments(state)
        return self._rows


def outcomes_and_own(state: DeskState) -> object:
    """What of the markets the moments depend on, besides their names; cheap to compare."""
    ended = frozenset(name for name, one in state.markets.items() if one.resolved_at is not None)
    return ended, _known_markets(state)


def _known_markets(state: DeskState) -> frozenset[str]:
    """Ids of the markets that somebody here has traded or starred."""
    rows = chain(state.positions, state.on_venues, state.closed, state.trades, state.fills)
    return state.stars | {row.market_id for row in rows}


def _is_own(moment: MomentView, known: frozenset[str]) -> bool:
    is_public = moment.kind in {MomentKind.NEWS, MomentKind.RESOLVED}
    return not is_public or moment.market_id in known


def _with_absence(moment: MomentView, absence: AbsenceView | None) -> MomentView:
    if absence is None or moment.is_away or moment.world_at is not None:
        return moment
    if absence.closed_at <= moment.at <= absence.opened_at:
        return replace(moment, is_away=True)
    return moment


# -- trades ---------------------------------------------------------------------------------------


def _fill(fill: FillView) -> MomentView:
    did = "bought" if fill.action is Action.BUY else "sold"
    shares, price = formats.shares(fill.shares).plain, formats.price(fill.price).plain
    return MomentView(
        f"fill {fill.key}",
        fill.at,
        MomentKind.FILL,
        f"{did} {shares} {fill.side.value.upper()} at {price}",
        who=fill.agent_name,
        market_id=fill.market_id,
        question=fill.question,
        money=fill.money,
        venue=fill.venue,
        screen="blotter",
        row=fill.key,
    )


def _payouts(trades: Iterable[TradeView]) -> Iterator[MomentView]:
    for trade in trades:
        if trade.deal is Deal.PAYOUT:
            yield MomentView(
                f"payout {trade.trade_id}",
                trade.at,
                MomentKind.PAYOUT,
                f"{trade.side.value.upper()} paid out",
                market_id=trade.market_id,
                question=trade.question,
                money=trade.cost,
                venue=trade.venue,
                screen="markets",
                row=trade.market_id,
            )


# -- the log --------------------------------------------------------------------------------------


def _logged(state: DeskState) -> Iterator[MomentView]:
    """Commands, refusals, approvals and programs; without what fills and alerts tell already."""
    own = "" if state.account is None else state.account.agent_id
    untold = sorted((f for f in state.fills if f.agent_id == own), key=lambda fill: fill.at)
    for entry in _without_answered(without_reported_orders(state.log.entries)):
        if entry.what in _ELSEWHERE:
            continue
        if entry.kind != REGISTERED and not (_is_fill(entry) and _takes_fill(entry, untold)):
            yield _entry(entry)
    yield from _registered(state)


def _without_answered(entries: Sequence[ActionView]) -> Iterator[ActionView]:
    """The entries, newest first, without each command whose answer repeats its words."""
    answered: dict[str, Timestamp] = {}
    for entry in entries:
        said = entry.words.casefold()
        if entry.what == LogEvent.RESULT.value:
            answered[said] = entry.at
        elif (
            entry.what == LogEvent.INTENT.value
            and 0 <= answered.pop(said, Timestamp(-ANSWER_S)) - entry.at <= ANSWER_S
        ):
            continue
        yield entry


def _registered(state: DeskState) -> Iterator[MomentView]:
    """Agents that were registered; those that came one after the other in one row."""
    found = (one for one in state.log.entries if one.kind == REGISTERED)
    groups: list[list[ActionView]] = []
    for entry in sorted(found, key=lambda one: one.number):
        if groups and 0 <= entry.at - groups[-1][-1].at <= TOGETHER_S:
            groups[-1].append(entry)
        else:
            groups.append([entry])
    for group in groups:
        row = _entry(group[0])
        names = [one.who for one in group]
        words = row.words if len(names) == 1 else registered_text(names)
        yield replace(row, at=group[-1].at, words=words, who=row.who if len(names) == 1 else "")


def _is_fill(entry: ActionView) -> bool:
    is_trade = entry.what == LogEvent.RESULT.value and entry.kind == "trade"
    return is_trade and _DONE in entry.words


def _takes_fill(entry: ActionView, fills: list[FillView]) -> bool:
    """Take the fill of an entry out of those by time: of its time and market, of as many shares.

    Returns:
        False if there is none.
    """
    place = bisect_left(fills, entry.at - SAME_S, key=lambda fill: fill.at)
    while place < len(fills) and fills[place].at <= entry.at + SAME_S:
        fill = fills[place]
        is_of_market = not entry.market or entry.market == fill.market_id
        if is_of_market and f" {decimal(fill.shares):,.2f} shares" in entry.words:
            del fills[place]
            return True
        place += 1
    return False


def _kind_of(entry: ActionView) -> MomentKind:
    kind = _OF_LOG.get(entry.what, MomentKind.LOG)
    is_order = kind is MomentKind.COMMAND and entry.kind in _ORDERS
    return MomentKind.ORDER if is_order else kind


def _entry(entry: ActionView) -> MomentView:
    return MomentView(
        f"log {entry.number}",
        entry.at,
        _kind_of(entry),
        entry.words,
        who=entry.who,
        market_id=entry.market,
        question=entry.question,
        screen="log",
        row=entry.key,
    )


def _connection(state: DeskState) -> Iterator[MomentView]:
    """A service that does not answer now; the log keeps none of its silences."""
    service = state.service
    if service.phase is Phase.OFFLINE and service.last_ok_at is not None:
        why = service.problem or "no answer"
        yield MomentView(
            "offline", service.last_ok_at, MomentKind.CONNECTION, f"service lost: {why}"
        )


# -- risk, signals, experiments -------------------------------------------------------------------


def _alert(alert: AlertView) -> MomentView:
    state = f"{alert.state.value}; {alert.detail}" if alert.detail else alert.state.value
    return MomentView(
        f"alert {alert.alert_id} {alert.breached_at:.3f}",
        alert.breached_at,
        MomentKind.ALERT,
        f"{alert.reason} of {alert.side.value.upper()}: {state}",
        market_id=alert.market_id,
        question=alert.question,
        venue=alert.venue,
        screen="monitors",
        row=alert.alert_id,
    )


def _price_alerts(alerts: Iterable[PriceAlertView]) -> Iterator[MomentView]:
    for alert in alerts:
        if alert.triggered_at is not None:
            yield MomentView(
                f"price {alert.alert_id}",
                alert.triggered_at,
                MomentKind.PRICE,
                f"{alert.side.value.upper()} at {formats.price(alert.triggered_price).plain}, "
                f"alert at {formats.price(alert.threshold).plain}",
                market_id=alert.market_id,
                question=alert.question,
                screen="monitors",
                row=alert.alert_id,
            )


def _signal(signal: SignalView) -> MomentView:
    name = signal.label or formats.address(signal.wallet).plain
    price = formats.price(signal.price).plain
    state = f"{signal.state.value}; {signal.detail}" if signal.detail else signal.state.value
    return MomentView(
        f"signal {signal.signal_id}",
        signal.at,
        MomentKind.SIGNAL,
        f"bought {signal.side.value.upper()} at {price}: {state}",
        who=name,
        market_id=signal.market_id,
        question=signal.question,
        money=signal.cost or None,
        venue=signal.venue,
        screen="reactor",
        row=signal.signal_id,
    )


def _experiment(one: ExperimentView) -> MomentView:
    return MomentView(
        f"result {one.key}",
        one.at,
        MomentKind.RESULT,
        f"experiment {one.number}: {one.status.value}; {one.description}",
        who=one.skill,
        screen="research",
        row=one.key,
    )


# -- the offline world ----------------------------------------------------------------------------


def _news(state: DeskState) -> Iterator[MomentView]:
    absence = None if state.world is None else state.world.meanwhile
    for news in () if absence is None else absence.news:
        yield _of_news(news, state, is_away=True)
    missed = frozenset[NewsView]() if absence is None else frozenset(absence.news)
    for news in state.news:
        if news not in missed:
            yield _of_news(news, state, is_away=False)


def _of_news(news: NewsView, state: DeskState, *, is_away: bool) -> MomentView:
    before, after = (formats.price(price).plain for price in (news.price_before, news.price_after))
    market = state.markets.get(news.market_id)
    return _of_world(
        MomentView(
            f"news {news.market_id} {news.at:.3f} {news.headline}",
            news.at,
            MomentKind.NEWS,
            f"{news.headline}: {before} → {after}",
            market_id=news.market_id,
            question="" if market is None else market.question,
            screen="markets",
            row=news.market_id,
            is_away=is_away,
        ),
        state,
    )


def _resolved(state: DeskState) -> Iterator[MomentView]:
    absence = None if state.world is None else state.world.meanwhile
    missed = {} if absence is None else {one.market_id: one for one in absence.resolved}
    for one in missed.values():
        moment = MomentView(
            f"resolved {one.market_id}",
            one.at,
            MomentKind.RESOLVED,
            f"resolved {one.outcome.word}",
            market_id=one.market_id,
            question=one.question,
            money=one.payout,
            screen="markets",
            row=one.market_id,
            is_away=True,
        )
        yield _of_world(moment, state)
    ended = [market for market in state.markets.values() if market.resolved_at is not None]
    ended.sort(key=lambda market: -(market.resolved_at or 0.0))
    for market in ended[:RESOLVED_MAX]:
        if market.market_id in missed or market.resolved_at is None or market.outcome is None:
            continue
        moment = MomentView(
            f"resolved {market.market_id}",
            market.resolved_at,
            MomentKind.RESOLVED,
            f"resolved {market.outcome.word}",
            market_id=market.market_id,
            question=market.question,
            screen="markets",
            row=market.market_id,
        )
        yield _of_world(moment, state)


def _of_world(moment: MomentView, state: DeskState) -> MomentView:
    """The moment at the wall time at which the world most likely reached its time."""
    world = state.world
    if world is None or not state.service.embedded:
        return moment
    return replace(moment, at=_wall_of(moment, world), world_at=moment.at)


def _wall_of(moment: MomentView, world: WorldView) -> Timestamp:
    """Reckoned back at the present pace; what came while the desk was closed, at its opening."""
    absence = world.meanwhile
    if absence is not None and moment.is_away:
        return absence.opened_at
    at = world.wall_at - (world.now - moment.at) / max(1, world.speed)
    if absence is not None and at < absence.opened_at:
        at = min(at, absence.closed_at)
    return Timestamp(at)
