"""Poll loops: each reads a topic of the service and emits facts.

A poller backs off to 30 s while its calls fail, stops polling while the key is refused, and always
leaves a fact behind.
"""

import logging
import random
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from typing import Final

from service_tui.client.api_keys import TRIED_AGAIN_S
from service_tui.client.errors import (
    Called,
    InvalidError,
    MalformedError,
    NotFoundError,
    PlanRequiredError,
    ServiceError,
    UnauthenticatedError,
)
from service_tui.client.reply import Reply
from service_tui.client.retry import next_delay
from service_tui.desk.account.translate import account_view, limits_view
from service_tui.desk.agents.translate import fleet_view
from service_tui.desk.briefing.heartbeat import AT_LEAST_S
from service_tui.desk.briefing.translate import briefing_view
from service_tui.desk.buy_limits import DAY_S, next_midnight
from service_tui.desk.changes import Changed, Loaded
from service_tui.desk.facts import (
    AccountSeen,
    Fact,
    PositionsSeen,
    ServiceAnswered,
    WorldSeen,
)
from service_tui.desk.feed.fills import read_fills
from service_tui.desk.feed.fleet import read_supervision
from service_tui.desk.feed.holdings import read_holdings
from service_tui.desk.feed.market_pages import ALL_AT_ONCE, STATE_BY_STATE, all_markets
from service_tui.desk.feed.orders import read_orders, venue_sums
from service_tui.desk.feed.poller_memory import PollerMemory, Read, Reading
from service_tui.desk.feed.team import read_team
from service_tui.desk.feed.wallet import read_redemptions, read_wallet
from service_tui.desk.markets.translate import detail_of_history, detail_of_tape, news_view
from service_tui.desk.ports import Ports
from service_tui.desk.positions.pages import all_positions
from service_tui.desk.positions.translate import position_views
from service_tui.desk.reactor.poll import period_s, read_signals
from service_tui.desk.reading_failures import READING, failure_of, show_failure
from service_tui.desk.research.translate import source_view
from service_tui.desk.restarting import fault_text
from service_tui.desk.risk.translate import alert_view, exit_views, monitor_view
from service_tui.desk.settings.translate import buy_limits_view
from service_tui.desk.slices.account import EquityPoint
from service_tui.desk.slices.markets import BesideView, DetailView
from service_tui.desk.slices.positions import PositionView
from service_tui.desk.slices.research import ResearchSeen, Source
from service_tui.desk.slices.risk import AlertsSeen, MonitorView
from service_tui.desk.slices.rows import LastMade
from service_tui.desk.slices.service import ServiceView
from service_tui.desk.slices.tickets import TicketState
from service_tui.desk.slices.topics import Topic
from service_tui.desk.state import DeskState
from service_tui.desk.trading.handlers import recent_trades
from service_tui.desk.wire_values import UNTRANSLATABLE, amount
from service_tui.desk.world.translate import world_view
from service_tui.storage.errors import StorageError
from service_tui.terms import EXPERIMENTS_PAGE_MAX, HISTORY_HOURS_MAX, Mode, Venue
from service_tui.units import Micros, Timestamp
from service_tui.wire.briefing import BriefingQuery
from service_tui.wire.endpoints.desk import DESK_AGENTS, TAPE, WORLD
from service_tui.wire.endpoints.public import (
    AGENT,
    BRIEFING,
    MARKET_HISTORY,
    MONITORS,
    PORTFOLIO,
    POSITIONS,
    RISK_ALERTS,
    SETTINGS,
    USER_SETTINGS,
)
from service_tui.wire.endpoints.research import DESK_RESEARCH, EXPERIMENTS, RESEARCH_STATE
from service_tui.wire.markets import HistoryBody, HistoryQuery
from service_tui.wire.monitors import RiskAlertBody, RiskAlertsBody, RiskAlertsQuery
from service_tui.wire.positions import PortfolioQuery, PositionsBody, PositionsQuery
from service_tui.wire.research import ExperimentsQuery, ResearchBody, StateQuery
from service_tui.wire.world import TapeBody, TapeQuery

log = logging.getLogger(__name__)

PERIODS: Final = {
    Topic.MARKETS: 2.0,
    Topic.POSITIONS: 5.0,
    Topic.ACCOUNT: 10.0,
    Topic.BRIEFING: 15.0,
    Topic.TRADES: 30.0,
    Topic.WORLD: 2.0,
    Topic.DETAIL: 2.0,
    Topic.AGENTS: 5.0,
    Topic.MONITORS: 15.0,
    Topic.REACTOR: 2.0,
    Topic.REDEMPTIONS: 10.0,
    Topic.WALLET: 20.0,
    Topic.FLEET: 2.0,
    Topic.RESEARCH: 15.0,
    Topic.ORDERS: 10.0,
    Topic.TEAM: 3.0,
    Topic.HOLDINGS: 3.0,
}
"""Seconds between two readings; all within the rates of the Pro plan (wire reference, 7)."""

QUIET_S: Final = 10.0
_TOLD: Final = frozenset({
    Topic.MARKETS, Topic.POSITIONS, Topic.WORLD, Topic.DETAIL, Topic.AGENTS,
})  # fmt: skip
"""Topics that change by events alone in a paused world, and are read then every `QUIET_S`."""

QUIET_FLEET_S: Final = 5.0
"""The fleet's alerts run by wall time as well: an agent that is silent is no event."""

ASIDE_S: Final = {Topic.REACTOR: 1.0}
"""How much later than the others a topic is read first: the reactor half a period beside the list
of markets, whose pages would hold the loop between a signal and its mirror."""

EQUITY_EVERY_S: Final = 20.0
HOUR_S: Final = 3_600
CHART_POINTS: Final = 300
REFUSED_REST_S: Final = 3_600.0
REFUSED_BRIEFING_S: Final = AT_LEAST_S - 300.0
"""Pause before a topic is polled again whose key or plan was refused, or the open orders if they
were not found; a refresh polls at once."""


async def read_markets(ports: Ports, memory: PollerMemory) -> Read:
    """Read all markets, page by page."""
    if not memory.needs_plain_names:
        try:
            fact, latency_s = await all_markets(ports, ALL_AT_ONCE, memory.markets)
        except InvalidError:
            memory.needs_plain_names = True
        else:
            return [fact], latency_s
    fact, latency_s = await all_markets(ports, STATE_BY_STATE, memory.markets)
    return [fact], latency_s


async def read_positions(ports: Ports, memory: PollerMemory) -> Read:
    """Read open and past positions."""

    async def read_page(query: PositionsQuery) -> Reply[PositionsBody]:
        return await ports.client.call(POSITIONS, query=query)

    reply = await all_positions(read_page, memory.ended)
    known = ports.state()
    views: list[PositionView] = []
    dropped = reply.dropped
    for body in reply.rows:
        try:
            views.extend(position_views(body, known.markets.get(body.market_id)))
        except UNTRANSLATABLE:
            # A side that is neither yes nor no: the wire takes any word there.
            dropped += 1
    ours = [view for view in views if view.venue is Venue.SIM]
    real = tuple(view for view in views if view.venue is not Venue.SIM)
    held = tuple(view for view in ours if not view.is_closed and view.shares > 0)
    closed = tuple(view for view in ours if view.is_closed)
    cash = _cash_of(reply.answer)
    if cash is None and _shares(held) != _shares(known.positions):
        # Shares went or came, so money did as well: both, or the equity is wrong for seconds.
        ports.refresh(Topic.ACCOUNT)
    return [PositionsSeen(held, closed, dropped, cash, real)], reply.latency_s


def _cash_of(body: PositionsBody) -> Micros | None:
    """Cash reported beside the positions, on the envelope or on a row."""
    balances = (body.sim_balance, *(row.sim_balance for row in body.positions))
    return next((amount(balance) for balance in balances if balance is not None), None)


def _shares(held: tuple[PositionView, ...]) -> dict[str, Micros]:
    return {view.key: view.shares for view in held}


async def read_account(ports: Ports, _: PollerMemory) -> Read:
    """Read the own agent, its money, settings and limits."""
    requested_at = ports.now()
    agent = await ports.client.call(AGENT)
    portfolio = await ports.client.call(PORTFOLIO, query=PortfolioQuery())
    settings = await ports.client.call(SETTINGS)
    user = await ports.client.call(USER_SETTINGS)
    sim = ports.state().service.mode is Mode.SIM
    known = ports.state()
    account = account_view(agent.answer, portfolio.answer, known.positions)
    midnight = next_midnight(Timestamp(requested_at - (ports.client.skew_s or 0.0)))
    if known.account is not None and known.account.cash != account.cash:
        # The same the other way round.
        ports.refresh(Topic.POSITIONS)
    return [
        AccountSeen(account, venue_sums(portfolio.answer)),
        Changed(limits_view(settings.answer, user.answer, sim=sim)),
        Changed(
            buy_limits_view(
                settings.answer,
                user.answer,
                at=requested_at,
                midnight=midnight,
                own_spent=_own_spent(ports, midnight),
            )
        ),
    ], agent.latency_s


def _own_spent(ports: Ports, midnight: Timestamp) -> Micros | None:
    """This desk's spend in the day that ends at a midnight; None if the blotter cannot be read."""
    since = midnight - DAY_S + (ports.client.skew_s or 0.0)
    try:
        return Micros(ports.blotter.reserved(since))
    except StorageError as error:
        log.warning("what this desk spent today cannot be read: %s", error)
        return None


async def read_briefing(ports: Ports, _: PollerMemory) -> Read:
    """The heartbeat, and every alert that it or the list of alerts names."""
    reply = await ports.client.call(BRIEFING, query=BriefingQuery())
    heartbeat = Changed(briefing_view(reply.answer), reply.dropped)
    try:
        listed = await ports.client.call(RISK_ALERTS, query=RiskAlertsQuery(include_history=True))
        alerts = listed.answer
    except (NotFoundError, PlanRequiredError) as error:
        # A service may list its alerts in the briefing alone.
        log.info("no list of alerts: %s", error)
        alerts_listed = reply.answer.triggered_risk_alerts or ()
        whole = tuple(one for one in alerts_listed if isinstance(one, RiskAlertBody))
        alerts = RiskAlertsBody(risk_alerts=whole)
    return [heartbeat, _alerts_of(alerts, ports.now())], reply.latency_s


def _alerts_of(listed: RiskAlertsBody, now: Timestamp) -> AlertsSeen:
    """Fact with waiting alerts, ended alerts, and the exits among those."""
    listed_alerts = {
        one.alert_id: one for one in (alert_view(body, now) for body in listed.risk_alerts)
    }
    ended = tuple(alert_view(body, now) for body in listed.history)
    over = {alert.alert_id for alert in ended}
    waiting = tuple(
        one for one in listed_alerts.values() if one.state.is_open and one.alert_id not in over
    )
    return AlertsSeen(now, waiting, ended, exit_views(listed.history))


async def read_monitors(ports: Ports, _: PollerMemory) -> Read:
    """The thresholds that the service watches."""
    reply = await ports.client.call(MONITORS)
    rows = reply.answer.monitors or reply.answer.settings
    views = tuple(monitor_view(row) for row in rows)
    return [Loaded(MonitorView, views, reply.dropped)], reply.latency_s


async def read_trades(ports: Ports, _: PollerMemory) -> Read:
    """The newest trades."""
    fact, latency_s = await recent_trades(ports)
    return [fact], latency_s


async def read_world(ports: Ports, _: PollerMemory) -> Read:
    """The offline world's clock, pace and news."""
    reply = await ports.client.call(WORLD)
    news = tuple(news_view(row) for row in reply.answer.news)
    return [WorldSeen(world_view(reply.answer), news)], reply.latency_s


async def read_detail(ports: Ports, memory: PollerMemory) -> Read:
    """Chart, news and trades of the market in focus, and the prices of the one compared with it."""
    market_id, span_s, beside_id = memory.market_id, memory.span_s, memory.beside_id
    if market_id is None:
        return [], None
    detail, reply = await _detail_of(ports, market_id, span_s, memory.detail)
    dropped = reply.dropped
    if isinstance(reply.answer, TapeBody):
        dropped += len(reply.answer.trades) - len(detail.trades)
    if beside_id:
        detail = replace(detail, beside=await _read_beside(ports, beside_id, span_s, memory))
    return [Changed(detail, dropped)], reply.latency_s


async def _read_beside(
    ports: Ports, market_id: str, span_s: int, memory: PollerMemory
) -> BesideView:
    """The prices of a second market; without them the first one is shown all the same."""
    try:
        detail, _ = await _detail_of(ports, market_id, span_s, memory.beside)
    except UnauthenticatedError:
        raise
    except ServiceError as error:
        return BesideView(market_id, problem=str(error))
    except UNTRANSLATABLE as error:
        return BesideView(market_id, problem=str(_foreign(Topic.DETAIL, error)))
    return BesideView(market_id, detail.points)


async def _detail_of(
    ports: Ports, market_id: str, span_s: int, made: LastMade[DetailView]
) -> tuple[DetailView, Reply[TapeBody] | Reply[HistoryBody]]:
    """What the service knows of one market over a span; of any other one the prices alone."""
    path = {"market_id": market_id}
    if ports.state().service.embedded:
        tape = await ports.client.call(
            TAPE, path=path, query=TapeQuery(span_s=span_s, points=CHART_POINTS)
        )
        body = tape.answer
        detail = made.of((body,), lambda: detail_of_tape(body, span_s))
        # The same bytes with another span: the market is younger than both.
        return detail if detail.span_s == span_s else replace(detail, span_s=span_s), tape
    hours = min(HISTORY_HOURS_MAX, max(1, -(-span_s // HOUR_S))) if span_s else HISTORY_HOURS_MAX
    step = max(5, hours * 60 // CHART_POINTS)
    history = await ports.client.call(
        MARKET_HISTORY, path=path, query=HistoryQuery(hours=hours, interval=step)
    )
    known = ports.state().markets.get(market_id)
    criteria = known.criteria if known else ""
    return detail_of_history(history.answer, span_s, criteria), history


async def read_agents(ports: Ports, memory: PollerMemory) -> Read:
    """Read all agents of the embedded service, its account, and fills not streamed."""
    reply = await ports.client.call(DESK_AGENTS)
    fleet = fleet_view(reply.answer)
    fills = () if memory.fills is None else await read_fills(ports, memory.fills, fleet)
    return [Changed(fleet), *fills], reply.latency_s


async def read_reactor(ports: Ports, watched: PollerMemory) -> Read:
    """The signals that wait, and now and then the config."""
    return await read_signals(ports, watched.reactor)


async def read_research(ports: Ports, _: PollerMemory) -> Read:
    """Read sessions and experiments: of all agents as operator, else of our own."""
    query = ExperimentsQuery(limit=EXPERIMENTS_PAGE_MAX)
    try:
        if ports.state().service.embedded:
            reply = await ports.client.call(DESK_RESEARCH, query=query)
            return [ResearchSeen(source_view(reply.answer))], reply.latency_s
        state = await ports.client.call(RESEARCH_STATE, query=StateQuery())
        experiments = await ports.client.call(EXPERIMENTS, query=query)
    except PlanRequiredError:
        # A missing plan is no fault: the screen shows which one it takes.
        return [ResearchSeen(Source(), needs_plan=True)], None
    body = ResearchBody(experiments=experiments.answer.experiments, sessions=(state.answer,))
    return [ResearchSeen(source_view(body))], experiments.latency_s


READINGS: Final[dict[Topic, Reading]] = {
    Topic.MARKETS: read_markets,
    Topic.POSITIONS: read_positions,
    Topic.ACCOUNT: read_account,
    Topic.BRIEFING: read_briefing,
    Topic.TRADES: read_trades,
    Topic.WORLD: read_world,
    Topic.DETAIL: read_detail,
    Topic.AGENTS: read_agents,
    Topic.MONITORS: read_monitors,
    Topic.REACTOR: read_reactor,
    Topic.REDEMPTIONS: read_redemptions,
    Topic.WALLET: read_wallet,
    Topic.FLEET: read_supervision,
    Topic.RESEARCH: read_research,
    Topic.ORDERS: read_orders,
    Topic.TEAM: read_team,
    Topic.HOLDINGS: read_holdings,
}
_EMBEDDED_ONLY: Final = frozenset({Topic.WORLD, Topic.AGENTS, Topic.FLEET, Topic.HOLDINGS})
_OF_OPERATORS: Final = _EMBEDDED_ONLY | {Topic.TEAM}


def is_quiet(state: DeskState) -> bool:
    """True while events tell all that changes: our own world is paused, and its stream is open."""
    world, service = state.world, state.service
    is_own = service.embedded and not service.attached
    # A history can be stepped without an event, and a drill moves its prices itself.
    is_still = world is not None and not world.speed and not world.history and state.drill is None
    return is_own and is_still and state.listening


def periods_of(state: DeskState) -> Mapping[Topic, float]:
    """Seconds between two readings of each topic, as the desk has it now."""
    if not is_quiet(state):
        return PERIODS
    rare = dict.fromkeys(_TOLD, QUIET_S) | {Topic.FLEET: QUIET_FLEET_S}
    return {topic: max(period, rare.get(topic, 0.0)) for topic, period in PERIODS.items()}


def topics_of(service: ServiceView) -> tuple[Topic, ...]:
    """What can be read of a service."""
    absent = frozenset[Topic]() if service.embedded else _EMBEDDED_ONLY
    if not service.shared:
        absent |= {Topic.TEAM}
    return tuple(topic for topic in READINGS if topic not in absent)


def _emit_no_detail(ports: Ports, memory: PollerMemory, problem: str) -> None:
    """Show that the chart of the focused market failed; an older one stays."""
    known = ports.state().detail
    market_id = memory.market_id
    if market_id is not None and (known is None or known.market_id != market_id):
        ports.emit(Changed(DetailView(market_id, memory.span_s, "", (), (), (), problem)))


async def poll(
    topic: Topic,
    ports: Ports,
    memory: PollerMemory,
    *,
    rest: Callable[[Topic, float], Awaitable[None]],
    rng: random.Random,
) -> None:
    """Poll a topic, for ever.

    Args:
        topic: topic to poll.
        ports: dependencies of the reading.
        memory: kept between readings.
        rest: returns after so many seconds, or at once when the topic is refreshed.
        rng: jitter of the back-off.
    """
    embedded = ports.state().service.embedded
    by_operator = topic in _OF_OPERATORS or (embedded and topic in {Topic.DETAIL, Topic.RESEARCH})
    failures = 0
    READING.set(topic)
    await rest(topic, ASIDE_S.get(topic, 0.0))
    while True:
        try:
            facts, latency_s = await _read(topic, ports, memory)
            for fact in facts:
                _emit(topic, fact, ports)
        except ServiceError as error:
            if isinstance(error, UnauthenticatedError) and ports.renew():
                # Another console, or the holder, has given the desk another key.
                continue
            failures += 1
            failure = failure_of(topic, error, ports.now())
            show_failure(ports, replace(failure, by_operator=by_operator))
            if topic is Topic.DETAIL:
                _emit_no_detail(ports, memory, str(error))
            await rest(topic, _rest_after_s(topic, error) or next_delay(failures, rng))
        else:
            failures = 0
            # A reading that sent no request must not count as an answer of the service.
            if latency_s is not None:
                skew_s = ports.client.skew_s
                ports.emit(ServiceAnswered(topic, ports.now(), latency_s, skew_s, by_operator))
            await rest(topic, _period_s(topic, ports))


def _period_s(topic: Topic, ports: Ports) -> float:
    """Seconds until a topic is read again."""
    if topic is not Topic.REACTOR:
        return periods_of(ports.state())[topic]
    return period_s(ports.state().reactor, PERIODS[topic], REFUSED_REST_S)


def _rest_after_s(topic: Topic, error: ServiceError) -> float | None:
    """Pause of a topic that was refused, in seconds.

    Returns:
        Seconds, never many for the heartbeat; None where it backs off as usual.
    """
    if isinstance(error, UnauthenticatedError):
        return TRIED_AGAIN_S
    is_barred = isinstance(error, PlanRequiredError)
    if not is_barred and not (topic is Topic.ORDERS and isinstance(error, NotFoundError)):
        return None
    return REFUSED_BRIEFING_S if topic is Topic.BRIEFING else REFUSED_REST_S


async def _read(topic: Topic, ports: Ports, memory: PollerMemory) -> Read:
    """Poll once; an unexpected answer must not end the desk. Source: failures, F-06."""
    try:
        return await READINGS[topic](ports, memory)
    except ServiceError:
        raise
    except Exception as error:  # noqa: BLE001  (whatever an answer causes, it ends no desk)
        raise _foreign(topic, error) from None


def _emit(topic: Topic, fact: Fact, ports: Ports) -> None:
    """Emit a fact; an answer that fails only in the reducer must not end the desk either."""
    try:
        ports.emit(fact)
    except Exception as error:  # noqa: BLE001  (the same)
        raise _foreign(topic, error) from None


def _foreign(topic: Topic, error: Exception) -> MalformedError:
    log.warning("%s: %s", topic.value, fault_text(error))
    text = "unexpected data in the response"
    return MalformedError(text, Called("GET", topic.value))


async def mark_equity(ports: Ports) -> None:
    """Add a point to the equity curve now and then, while the figures are fresh."""
    while True:
        state = ports.state()
        equity = None if state.account is None else state.account.equity
        if equity is not None and _is_whole(state):
            last = state.equity[-1].at if state.equity else Timestamp(0.0)
            # A last point in the future means that the clock was set back.
            if not 0 <= ports.now() - last < EQUITY_EVERY_S / 2:
                ports.emit(Changed(EquityPoint(ports.now(), equity)))
        await ports.clock.sleep(EQUITY_EVERY_S)


def _is_whole(state: DeskState) -> bool:
    """True if cash and positions are of one moment: a trade changes one, then the other."""
    if state.from_cache or Topic.ACCOUNT not in state.seen:
        return False
    last_point = state.seen.get(Topic.POSITIONS)
    return last_point is not None and all(
        ticket.state is not TicketState.DONE or (ticket.settled_at or 0.0) <= last_point
        for ticket in state.tickets
    )
