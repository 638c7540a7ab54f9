"""The offline world, for the operator: its clock and pace, and the tape of one market."""

from typing import Final

from service_tui.engine.amm.market import Market
from service_tui.engine.tape.chart import prices
from service_tui.engine.tick import change_speed
from service_tui.engine.world import World
from service_tui.server.http.service import RequestContext, Routes
from service_tui.server.projections.present import news_body, payout_to
from service_tui.terms import MarketStatus
from service_tui.units import Timestamp, decimal
from service_tui.wire.base import moment
from service_tui.wire.endpoints.desk import SET_SPEED, TAPE, WORLD
from service_tui.wire.world import (
    MeanwhileBody,
    ResolvedBody,
    SpeedRequest,
    TapeBody,
    TapePoint,
    TapeQuery,
    TapeTrade,
    WorldBody,
)

NEWS_MAX: Final = 60
MEANWHILE_MAX: Final = 40
DAY_S: Final = 86_400.0


def _meanwhile(asked: RequestContext) -> MeanwhileBody | None:
    """What happened while the desk was closed, seen by the operator's own agent."""
    world = asked.world
    gone = world.meanwhile
    if gone is None:
        return None
    own = asked.service.operator_agent or ""
    agent = world.agents.get(own)
    before = gone.equity_before.get(own)
    rows = [
        ResolvedBody(
            at=moment(event.world_at),
            market_id=event.market_id,
            question=world.question_of(event.market_id),
            outcome=event.outcome,
            payout=decimal(payout_to(event, own)[0]),
            pnl=decimal(payout_to(event, own)[1]),
        )
        for event in gone.resolved
        if any(paid.agent_id == own and paid.shares for paid in event.payouts)
    ]
    rows.sort(key=lambda row: row.at, reverse=True)
    return MeanwhileBody(
        closed_at=moment(gone.closed_at),
        opened_at=moment(gone.opened_at),
        world_elapsed_s=gone.opened_at - gone.closed_at,
        resolved_count=gone.resolved_count,
        listed_count=gone.listed_count,
        resolved=tuple(rows[:MEANWHILE_MAX]),
        news=tuple(
            news_body(item)
            for item in world.news(gone.closed_at, MEANWHILE_MAX)
            if item.at <= gone.opened_at
        ),
        equity_before=None if before is None else decimal(before),
        equity_after=None if agent is None else decimal(world.equity(agent)),
    )


async def read(asked: RequestContext) -> WorldBody:
    """The world's clock, pace and last news."""
    world = asked.world
    is_open = [m.status(world.world_at) is MarketStatus.ACTIVE for m in world.markets.values()]
    return WorldBody(
        now=moment(world.world_at),
        wall_at=moment(world.at),
        speed=world.speed,
        seed=world.seed,
        open_count=sum(is_open),
        news=tuple(
            news_body(item) for item in world.news(Timestamp(world.world_at - DAY_S), NEWS_MAX)
        ),
        meanwhile=_meanwhile(asked),
        halted_at=None if world.halt.since is None else moment(world.halt.since),
    )


async def set_speed(asked: RequestContext) -> WorldBody:
    """Change the pace of the tape from now on."""
    wanted = asked.body_as(SpeedRequest).speed
    await asked.service.keeper.commit(change_speed(asked.world, wanted, asked.now))
    return await read(asked)


def _points(world: World, market: Market, query: TapeQuery) -> tuple[TapePoint, ...]:
    """Prices over the span, oldest first."""
    since = world.world_at - query.span_s if query.span_s else market.listing.opens_at
    found = prices(market, Timestamp(since), world.world_at, query.points)
    return tuple(TapePoint(at=moment(at), price=round(price, 6)) for at, price in found)


async def tape(asked: RequestContext) -> TapeBody:
    """Chart, news and trades of one market."""
    world = asked.world
    market = world.market(asked.path["market_id"])
    items = world.tape.news(market.listing, market.listing.opens_at, world.world_at)
    return TapeBody(
        market_id=market.market_id,
        resolution_criteria=market.listing.criteria,
        points=_points(world, market, asked.query_as(TapeQuery)),
        news=tuple(news_body(item) for item in reversed(items)),
        trades=tuple(
            TapeTrade(
                at=moment(at),
                trader=trader,
                side=side.value,
                action=action,
                shares=decimal(shares),
                price=price,
            )
            for at, trader, side, action, shares, price in reversed(market.tape)
        ),
    )


ROUTES: Final[Routes] = {WORLD: read, SET_SPEED: set_speed, TAPE: tape}
