"""The offline world, for the operator: its clock and pace, and the tape of one market."""

from typing import Final

from service_tui.engine.amm.market import Market
from service_tui.engine.amm.market import TapeTrade as MarketTrade
from service_tui.engine.tape.chart import prices
from service_tui.engine.tick import change_speed, step
from service_tui.engine.world import World
from service_tui.server.ends import ended_fields
from service_tui.server.http.refusals import denied
from service_tui.server.http.service import RequestContext, Routes
from service_tui.server.projections.present import news_body, payout_to
from service_tui.terms import INVENTED_SPEED_MAX, SPEEDS, MarketStatus, Venue
from service_tui.units import ONE, Micros, Timestamp, decimal, sum_of
from service_tui.wire.base import moment
from service_tui.wire.endpoints.desk import SET_SPEED, STEP, TAPE, WORLD
from service_tui.wire.world import (
    AbsenceBody,
    BookLevel,
    ResolvedBody,
    SpeedRequest,
    StepRequest,
    TapeBody,
    TapePoint,
    TapeQuery,
    TapeTrade,
    WorldBody,
    WorldHistoryBody,
)

NEWS_MAX: Final = 60
ABSENCE_MAX: Final = 40
LEVELS_MAX: Final = 10
DAY_S: Final = 86_400.0


def _absence(request: RequestContext) -> AbsenceBody | None:
    """What happened while the desk was closed, seen by the operator's own agent."""
    world = request.world
    gone = world.meanwhile
    if gone is None:
        return None
    own = request.service.own_agent(request.person)
    agent = world.agents.get(own)
    before = gone.equity_before.get(own)
    rows = [
        ResolvedBody(
            at=moment(event.world_at),
            market_id=event.market_id,
            question=world.question_of(event.market_id),
            **ended_fields(event.outcome),
            payout=decimal(payout_to(event, own)[0]),
            pnl=decimal(payout_to(event, own)[1]),
        )
        for event in gone.resolved
        if any(paid.agent_id == own and paid.shares for paid in event.payouts)
    ]
    rows.sort(key=lambda row: row.at, reverse=True)
    return AbsenceBody(
        closed_at=moment(gone.closed_at),
        opened_at=moment(gone.opened_at),
        world_elapsed_s=gone.opened_at - gone.closed_at,
        resolved_count=gone.resolved_count,
        listed_count=gone.listed_count,
        resolved=tuple(rows[:ABSENCE_MAX]),
        news=tuple(
            news_body(item)
            for item in world.news(gone.closed_at, ABSENCE_MAX)
            if item.at <= gone.opened_at
        ),
        equity_before=None if before is None else decimal(before),
        equity_after=None if agent is None else decimal(world.exit_equity(agent)),
    )


async def read(request: RequestContext) -> WorldBody:
    """The world's clock, pace and last news."""
    world = request.world
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
        meanwhile=_absence(request),
        halted_at=None if world.halt.since is None else moment(world.halt.since),
        history=_history(world),
    )


def speed_max(world: World) -> int:
    """The highest speed of a world."""
    return INVENTED_SPEED_MAX if world.history is None else SPEEDS[-1]


def _history(world: World) -> WorldHistoryBody | None:
    if world.history is None:
        return None
    return WorldHistoryBody(
        name=world.history.name,
        began_at=moment(world.history.begins_at),
        is_over=world.tape.is_over(world.world_at),
    )


async def set_speed(request: RequestContext) -> WorldBody:
    """Change the pace of the tape from now on; a scripted one keeps its own."""
    if request.service.is_scripted:
        raise denied(409, "the pace of this world is scripted", "play it at its own pace")
    speed = request.body_as(SpeedRequest).speed
    if speed > speed_max(request.world):
        raise denied(
            409,
            f"an invented world runs at {INVENTED_SPEED_MAX}x at most",
            "a history runs at up to 3600x",
        )
    await request.write(change_speed(request.world, speed, request.now))
    return await read(request)


HOUR_S: Final = 3_600
"""What a step takes in one move, as a tick at the highest speed does: the crowd trades hourly."""


async def step_on(request: RequestContext) -> WorldBody:
    """Move a world on a history on at once, paused or not."""
    world, left = request.world, request.body_as(StepRequest).seconds
    if world.history is None:
        raise denied(409, "an invented world cannot be stepped", "raise its speed")
    if world.tape.is_over(world.world_at):
        raise denied(409, "the recording ends here", "begin another world on an earlier time")
    while left > 0:
        await request.write(step(world, min(left, HOUR_S), request.now))
        left -= HOUR_S
    return await read(request)


def _points(world: World, market: Market, query: TapeQuery) -> tuple[TapePoint, ...]:
    """Prices over the span, oldest first."""
    since = world.world_at - query.span_s if query.span_s else market.listing.opens_at
    found = prices(market, Timestamp(since), world.world_at, query.points)
    return tuple(TapePoint(at=moment(at), price=round(price, 6)) for at, price in found)


async def tape(request: RequestContext) -> TapeBody:
    """Chart, news and trades of one market."""
    world = request.world
    market_id = request.path["market_id"]
    market = world.markets.get(market_id)
    if market is None:
        # Ended, and forgotten: a chart shows it all the same.
        market = await request.service.world_store.past.market(market_id)
    items = world.tape.news(market.listing, market.listing.opens_at, world.world_at)
    return TapeBody(
        market_id=market.market_id,
        resolution_criteria=market.listing.criteria,
        points=_points(world, market, request.query_as(TapeQuery)),
        news=tuple(news_body(item) for item in reversed(items)),
        trades=tuple(_tape_trade(one) for one in reversed(market.tape)),
        filled=tuple(_tape_trade(one) for one in reversed(market.filled) if one not in market.tape),
        bids=_levels(world, market, bids=True),
        asks=_levels(world, market, bids=False),
    )


def _tape_trade(trade: MarketTrade) -> TapeTrade:
    at, trader, side, action, shares, price = trade
    return TapeTrade(
        at=moment(at),
        trader=trader,
        side=side.value,
        action=action,
        shares=decimal(shares),
        price=price,
    )


def _levels(world: World, market: Market, *, bids: bool) -> tuple[BookLevel, ...]:
    """The best prices of one side of the book, each with all shares at it."""
    if market.listing.home is Venue.SIM or market.status(world.world_at) is not MarketStatus.ACTIVE:
        return ()
    book = world.venues.book(market.market_id)
    shares: dict[Micros, Micros] = {}
    for offer in book.offers((world.at, world.world_at), bids=bids):
        shares[offer.price] = sum_of((shares.get(offer.price, Micros(0)), offer.shares))
    best = list(shares.items())[:LEVELS_MAX]
    return tuple(BookLevel(price=price / ONE, shares=left / ONE) for price, left in best)


ROUTES: Final[Routes] = {WORLD: read, SET_SPEED: set_speed, STEP: step_on, TAPE: tape}
