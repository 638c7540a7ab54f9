"""Loops that ask the service and turn its answers into facts; none ever sees a widget.

Knows client, translate and facts. Must not know the state's owner.
Used by desk.desk, which owns their tasks. A poller backs off to 30 s while its calls fail, stops
asking while the key is refused, and always leaves a fact behind.
"""

import random
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Final

from service_tui.client.errors import (
    ServiceError,
    ServiceFaultError,
    UnauthenticatedError,
    UnreachableError,
)
from service_tui.client.retry import next_delay
from service_tui.desk.facts import (
    AccountSeen,
    DetailSeen,
    EquityMarked,
    Fact,
    LimitsSeen,
    MarketsSeen,
    PositionsSeen,
    ServiceAnswered,
    ServiceFailed,
    TradesSeen,
    WorldSeen,
)
from service_tui.desk.handlers.trades import recent_trades
from service_tui.desk.ports import Ports
from service_tui.desk.records import EquityPoint, PositionView, Topic
from service_tui.desk.translate import (
    account_view,
    detail_of_history,
    detail_of_tape,
    limits_view,
    market_view,
    news_view,
    position_views,
    world_view,
)
from service_tui.terms import Mode
from service_tui.units import Timestamp
from service_tui.wire.briefing import BriefingQuery
from service_tui.wire.endpoints import (
    AGENT,
    BRIEFING,
    MARKET_HISTORY,
    MARKETS,
    PORTFOLIO,
    POSITIONS,
    SETTINGS,
    TAPE,
    USER_SETTINGS,
    WORLD,
)
from service_tui.wire.markets import HistoryQuery, MarketBody, MarketsQuery
from service_tui.wire.positions import PortfolioQuery, PositionsQuery
from service_tui.wire.world import TapeQuery

PERIODS: Final = {
    Topic.MARKETS: 2.0,
    Topic.POSITIONS: 5.0,
    Topic.ACCOUNT: 10.0,
    Topic.BRIEFING: 15.0,
    Topic.TRADES: 30.0,
    Topic.WORLD: 2.0,
    Topic.DETAIL: 2.0,
}
"""Seconds between two readings; all within the rates of the Pro plan (wire reference, 7)."""

PAGE: Final = 500
PAGES_MAX: Final = 20
EQUITY_EVERY_S: Final = 20.0
HOUR_S: Final = 3_600
HISTORY_HOURS_MAX: Final = 168
CHART_POINTS: Final = 300


@dataclass(slots=True)
class Watched:
    """The market in focus, set by the console; None is none."""

    market_id: str | None = None
    span_s: int = 0


Reading = Callable[[Ports, Watched], Awaitable[tuple[list[Fact], float]]]
"""Asks once; returns what became known and how long the call took, seconds."""


async def read_markets(ports: Ports, _: Watched) -> tuple[list[Fact], float]:
    """All markets, page by page."""
    bodies: list[MarketBody] = []
    dropped = 0
    latency_s = 0.0
    for page in range(PAGES_MAX):
        query = MarketsQuery(
            status="all",
            limit=PAGE,
            offset=page * PAGE,
            include="sparkline",
            tradeable_only=False,
        )
        reply = await ports.client.call(MARKETS, query=query)
        bodies.extend(reply.answer.markets)
        dropped += reply.dropped
        latency_s = reply.latency_s
        if len(reply.answer.markets) + reply.dropped < PAGE:
            break
    views = tuple(market_view(body) for body in bodies)
    return [MarketsSeen(views, dropped=dropped)], latency_s


async def _holdings(ports: Ports) -> tuple[tuple[PositionView, ...], int, float]:
    reply = await ports.client.call(POSITIONS, query=PositionsQuery(status="all"))
    markets = ports.state().markets
    views = tuple(
        view
        for body in reply.answer.positions
        for view in position_views(body, markets.get(body.market_id))
    )
    return views, reply.dropped, reply.latency_s


async def read_positions(ports: Ports, _: Watched) -> tuple[list[Fact], float]:
    """What is held, and what was."""
    views, dropped, latency_s = await _holdings(ports)
    fact = PositionsSeen(
        tuple(view for view in views if view.outcome is None and view.shares > 0),
        tuple(view for view in views if view.outcome is not None),
        dropped,
    )
    return [fact], latency_s


async def read_account(ports: Ports, _: Watched) -> tuple[list[Fact], float]:
    """Who we are, what we have, what binds us."""
    agent = await ports.client.call(AGENT)
    portfolio = await ports.client.call(PORTFOLIO, query=PortfolioQuery())
    settings = await ports.client.call(SETTINGS)
    user = await ports.client.call(USER_SETTINGS)
    sim = ports.state().service.mode is Mode.SIM
    account = account_view(agent.answer, portfolio.answer, ports.state().positions)
    return [
        AccountSeen(account),
        LimitsSeen(limits_view(settings.answer, user.answer, sim=sim)),
    ], agent.latency_s


async def read_briefing(ports: Ports, _: Watched) -> tuple[list[Fact], float]:
    """The heartbeat."""
    reply = await ports.client.call(BRIEFING, query=BriefingQuery())
    return [], reply.latency_s


async def read_trades(ports: Ports, _: Watched) -> tuple[list[Fact], float]:
    """The newest trades."""
    started = ports.clock.monotonic()
    trades = await recent_trades(ports)
    return [TradesSeen(trades)], ports.clock.monotonic() - started


async def read_world(ports: Ports, _: Watched) -> tuple[list[Fact], float]:
    """The offline world's clock, pace and news."""
    reply = await ports.client.call(WORLD)
    news = tuple(news_view(row) for row in reply.answer.news)
    return [WorldSeen(world_view(reply.answer), news)], reply.latency_s


async def read_detail(ports: Ports, watched: Watched) -> tuple[list[Fact], float]:
    """Chart, news and trades of the market in focus; nothing when none is."""
    market_id, span_s = watched.market_id, watched.span_s
    if market_id is None:
        return [], 0.0
    path = {"market_id": market_id}
    if ports.state().service.embedded:
        tape = await ports.client.call(
            TAPE, path=path, query=TapeQuery(span_s=span_s, points=CHART_POINTS)
        )
        return [DetailSeen(detail_of_tape(tape.answer, span_s))], tape.latency_s
    hours = min(HISTORY_HOURS_MAX, max(1, -(-span_s // HOUR_S))) if span_s else HISTORY_HOURS_MAX
    step = max(5, hours * 60 // CHART_POINTS)
    history = await ports.client.call(
        MARKET_HISTORY, path=path, query=HistoryQuery(hours=hours, interval=step)
    )
    known = ports.state().markets.get(market_id)
    criteria = known.criteria if known else ""
    return [DetailSeen(detail_of_history(history.answer, span_s, criteria))], history.latency_s


READINGS: Final[dict[Topic, Reading]] = {
    Topic.MARKETS: read_markets,
    Topic.POSITIONS: read_positions,
    Topic.ACCOUNT: read_account,
    Topic.BRIEFING: read_briefing,
    Topic.TRADES: read_trades,
    Topic.WORLD: read_world,
    Topic.DETAIL: read_detail,
}
EMBEDDED_ONLY: Final = frozenset({Topic.WORLD})


async def poll(
    topic: Topic,
    ports: Ports,
    watched: Watched,
    *,
    rest: Callable[[Topic, float], Awaitable[None]],
    rng: random.Random,
) -> None:
    """Ask again and again, for ever.

    Args:
        topic: what is asked.
        ports: the outside.
        watched: the market in focus.
        rest: returns after so many seconds, or at once when somebody poked the topic.
        rng: jitter of the back-off.
    """
    reading = READINGS[topic]
    failures = 0
    while True:
        try:
            facts, latency_s = await reading(ports, watched)
        except UnauthenticatedError as error:
            ports.say(ServiceFailed(topic, ports.now(), str(error), unauthorized=True))
            await rest(topic, 3_600.0)
        except ServiceError as error:
            failures += 1
            offline = isinstance(error, (UnreachableError, ServiceFaultError))
            ports.say(ServiceFailed(topic, ports.now(), str(error), offline=offline))
            await rest(topic, next_delay(failures, rng))
        else:
            failures = 0
            for fact in facts:
                ports.say(fact)
            ports.say(ServiceAnswered(topic, ports.now(), latency_s))
            await rest(topic, PERIODS[topic])


async def mark_equity(ports: Ports) -> None:
    """Add a point to the equity curve now and then, while the figures are fresh."""
    while True:
        state = ports.state()
        if state.account is not None and not state.from_cache:
            fresh = Topic.ACCOUNT in state.seen
            last = state.equity[-1].at if state.equity else Timestamp(0.0)
            if fresh and ports.now() - last >= EQUITY_EVERY_S / 2:
                ports.say(EquityMarked(EquityPoint(ports.now(), state.account.equity)))
        await ports.clock.sleep(EQUITY_EVERY_S)
