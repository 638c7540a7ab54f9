"""Positions and portfolio of the calling agent.

| A position is | if | on sim read from | on a real venue read from |
|---|---|---|---|
| open | it has shares, its market no outcome | the agent | the account |
| sold out | every share was sold, its market has no outcome | the agent | the account |
| redeemable | its market has an outcome, its payout is due | never: paid at once | the account |
| closed | its market has an outcome, nothing is due | agent, then journal | account, then journal |

A page lists open, sold out and redeemable positions first, then closed ones, newest first.
"""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from heapq import merge
from itertools import chain, islice
from typing import Final

from service_tui.engine.agents.agents import Agent, ClosedPosition
from service_tui.engine.books.venues import REAL
from service_tui.engine.limits import DAY_S
from service_tui.engine.transitions import PositionState
from service_tui.engine.world import World
from service_tui.outcome import outcome_in
from service_tui.server.http.service import RequestContext, Routes
from service_tui.server.projections.present import (
    agent_pnl,
    position_body,
    sold_bodies,
    time_left,
    unrealized,
)
from service_tui.server.projections.venues import ended_body, sold_on_venue, venue_positions
from service_tui.server.results.by_source import SourceSums, by_source
from service_tui.server.results.positions import ended_on
from service_tui.terms import MarketStatus, Venue
from service_tui.units import Micros, Timestamp, decimal
from service_tui.wire.base import moment
from service_tui.wire.endpoints.public import EXPIRING, PORTFOLIO, POSITIONS
from service_tui.wire.positions import (
    Concentration,
    ExpiringBody,
    ExpiringQuery,
    ExpiringsBody,
    PnlBody,
    PnlSummary,
    PortfolioBody,
    PortfolioQuery,
    PortfolioTotal,
    PortfolioVenue,
    PositionBody,
    PositionsBody,
    PositionsQuery,
    SourceBody,
)

HOUR_S: Final = 3_600.0
READ_MAX: Final = 5
"""How often the journal is read, at most, if markets end during the reading."""

AT_ONCE: Final = 200
"""Rows that are built before other tasks get a turn."""

NEVER: Final = Timestamp(0.0)
UNSETTLED: Final = frozenset({PositionState.ACTIVE, PositionState.AWAITING})
SETTLED: Final = frozenset({PositionState.READY, PositionState.REDEEMED})


def _open(world: World, agent: Agent) -> list[PositionBody]:
    """Positions with shares, largest value first."""
    held = [position_body(world, agent, position.market_id) for position in agent.open_positions()]
    return sorted(held, key=lambda body: -body.current_value)


@dataclass(frozen=True, slots=True)
class PositionPage:
    """The rows of a page, and the value of all open positions."""

    rows: list[PositionBody]
    value: float


def page_of(
    query: PositionsQuery, live: list[PositionBody], over: Sequence[list[PositionBody]]
) -> PositionPage:
    """The requested page: positions that can still change, then closed ones, newest first.

    Args:
        query: source, limit and offset.
        live: open, sold out and redeemable positions, in their order.
        over: lists of closed positions, each newest first.
    """
    live = _of_source(live, query)
    # Merged, not sorted: the first rows are the same however many are read.
    ended = merge(*(_of_source(rows, query) for rows in over), key=_age)
    last = None if query.limit is None else query.offset + query.limit
    rows = islice(chain(live, ended), query.offset, last)
    return PositionPage(
        list(rows), sum(row.current_value for row in live if outcome_in(row) is None)
    )


async def _select(request: RequestContext, query: PositionsQuery) -> PositionPage:
    """The page of the requested status and venue."""
    venues = [venue for venue in Venue if query.venue in {None, "all", venue}]
    stored = await _ended(request, query, venues) if query.status != "active" else {}
    # Nothing is awaited from here on: all rows are of one moment.
    world, agent = request.world, request.agent
    live: list[PositionBody] = []
    over: list[list[PositionBody]] = []
    for venue in venues:
        if query.status in {"active", "all"}:
            live += _held(world, agent, venue)
        if query.status in {"closed", "all"}:
            live += _sold(world, agent, venue)
        if query.status != "active":
            settled = _settled(world, agent, venue)
            live += [row for row in settled if row.redeemable]
            over.append([row for row in settled if not row.redeemable] + stored[venue])
    return page_of(query, live, over)


def _age(body: PositionBody) -> float:
    """Sort key: the newest comes first."""
    return -(body.resolved_at or moment(NEVER)).timestamp()


def _of_source(bodies: list[PositionBody], query: PositionsQuery) -> list[PositionBody]:
    """Positions of the requested source; all if none is requested."""
    if not query.source:
        return bodies
    return [body for body in bodies if any(query.source in tag for tag in body.sources)]


async def _ended(
    request: RequestContext, query: PositionsQuery, venues: Sequence[Venue]
) -> dict[Venue, list[PositionBody]]:
    """Closed positions from the journal, by venue; read again if a market ends meanwhile."""
    found: dict[Venue, list[PositionBody]] = {}
    for _ in range(READ_MAX):
        before = _moment(request)
        for venue in venues:
            # A limit counts rows of the requested source; only the rows show theirs: read all.
            is_cut = query.limit is not None and not query.source
            limit = query.offset + (query.limit or 0) if is_cut else None
            past = await ended_on(request.service.world_store, request.agent, venue, limit)
            found[venue] = await _closed_bodies(past, venue)
        if _moment(request) == before:
            break
    return found


def _moment(request: RequestContext) -> tuple[int, str | None]:
    """Changes when a position moves between memory and journal: count of ends, and wallet."""
    world = request.world
    return world.resolved_count, world.venues.wallets.get(request.agent.agent_id)


async def _closed_bodies(past: Sequence[ClosedPosition], venue: Venue) -> list[PositionBody]:
    """Rows of closed positions; other tasks get a turn after every `AT_ONCE`."""
    rows: list[PositionBody] = []
    for start in range(0, len(past), AT_ONCE):
        rows += [ended_body(one, venue) for one in past[start : start + AT_ONCE]]
        await asyncio.sleep(0)
    return rows


def _held(world: World, agent: Agent, venue: Venue) -> list[PositionBody]:
    """Positions of markets without an outcome."""
    if venue is Venue.SIM:
        return _open(world, agent)
    return venue_positions(world, agent, venue, UNSETTLED)


def _sold(world: World, agent: Agent, venue: Venue) -> list[PositionBody]:
    """Sides of which every share was sold, in markets without an outcome."""
    if venue is Venue.SIM:
        return sold_bodies(world, agent)
    return sold_on_venue(world, agent, venue, settled=False)


def _settled(world: World, agent: Agent, venue: Venue) -> list[PositionBody]:
    """Redeemable and closed positions in a real venue's account, newest first; none on sim."""
    if venue is Venue.SIM:
        return []
    rows = venue_positions(world, agent, venue, SETTLED)
    rows += sold_on_venue(world, agent, venue, settled=True)
    return sorted(rows, key=lambda row: row.resolved_at or moment(NEVER), reverse=True)


def pnl_of(world: World, agent: Agent) -> PnlBody:
    """P&L of the agent on sim."""
    floating = unrealized(world, agent)
    return PnlBody(
        realized=decimal(agent.realized),
        unrealized=decimal(floating),
        total=decimal(Micros(agent.realized + floating)),
    )


def venue_pnl(request: RequestContext, venue: Venue) -> PnlBody:
    """P&L of the agent as a real venue reports it, with the time of the figure."""
    reported = request.service.reported.of(
        request.world, request.agent.agent_id, venue, request.now
    )
    return PnlBody(
        realized=decimal(reported.realized),
        unrealized=decimal(reported.unrealized),
        total=decimal(reported.total),
        as_of=moment(reported.at),
    )


def _summed(*parts: PnlBody) -> PnlBody:
    """P&L summed over venues, with $SIM and USDC counted alike."""
    return PnlBody(
        realized=sum(part.realized for part in parts),
        unrealized=sum(part.unrealized for part in parts),
        total=sum(part.total for part in parts),
    )


async def _with_ends(request: RequestContext, rows: list[PositionBody]) -> tuple[PositionBody, ...]:
    """The same rows; those from the journal get the time their market was to resolve."""
    ended = [row for row in rows if outcome_in(row) is not None]
    unknown = {row.market_id for row in ended if row.resolves_at is None}
    heads = await request.service.world_store.past.heads(unknown) if unknown else {}
    return tuple(
        row
        if row.resolves_at is not None or (head := heads.get(row.market_id)) is None
        else row.model_copy(update={"resolves_at": moment(Timestamp(head.resolves_at))})
        for row in rows
    )


async def positions(request: RequestContext) -> PositionsBody:
    """The agent's positions and its P&L by venue."""
    found = await _select(request, request.query_as(PositionsQuery))
    # The time at which a market was to resolve never changes: the rows stay of one moment.
    rows = await _with_ends(request, found.rows)
    world, agent = request.world, request.agent
    pnl = pnl_of(world, agent)
    evm, sol = (venue_pnl(request, venue) for venue in REAL)
    combined = _summed(pnl, evm, sol)
    return PositionsBody(
        agent_id=agent.agent_id,
        agent_name=agent.settings.name,
        sim_balance=decimal(world.cash(agent)),
        positions=rows,
        total_value=found.value,
        total_pnl=combined.total,
        sim_pnl=pnl.total,
        polymarket_pnl=evm.total,
        kalshi_pnl=sol.total,
        pnl_summary=PnlSummary(sim=pnl, polymarket=evm, kalshi=sol, combined=combined),
    )


def concentration_of(values: Sequence[float]) -> Concentration:
    """The share of the largest position, and of the largest three, in the value of all."""
    largest, exposure = sorted(values, reverse=True), sum(values)
    return Concentration(
        top_market_pct=largest[0] / exposure if exposure else 0.0,
        top_3_markets_pct=min(1.0, sum(largest[:3]) / exposure) if exposure else 0.0,
    )


def _by_source(sums: Mapping[str, SourceSums]) -> dict[str, SourceBody]:
    """Figures by the source tags of the buys; a market with two tags counts for both."""
    return {
        tag: SourceBody(
            positions=one.positions,
            exposure=decimal(one.exposure),
            realized_pnl=decimal(one.realized),
            unrealized_pnl=decimal(one.unrealized),
            trade_count=one.trades,
        )
        for tag, one in sums.items()
    }


def _bucket(
    request: RequestContext, venue: Venue, held: list[PositionBody]
) -> PortfolioVenue | None:
    """One real venue of the portfolio; unclaimed agents have none."""
    agent, venues = request.agent, request.world.venues
    if not agent.settings.claimed:
        return None
    pnl = venue_pnl(request, venue)
    own = [body.current_value for body in held]
    return PortfolioVenue(
        balance=decimal(venues.cash(agent.agent_id, venue)),
        pnl=pnl.total,
        positions_count=len(own),
        total_exposure=sum(own),
        reserved=decimal(venues.reserved(agent.agent_id, venue)),
        pnl_as_of=pnl.as_of,
        trades_count=venues.account(agent.agent_id, venue).trades_count,
        simulated=True,
    )


async def portfolio(request: RequestContext) -> PortfolioBody:
    """Cash, exposure and P&L, by venue and in sum."""
    selected = request.query_as(PortfolioQuery).venue
    service = request.service
    # Of sim, or of the one real venue that is requested: no figure adds $SIM and real money.
    where = Venue.SIM if selected == "all" else Venue(selected)
    sums = await by_source(service.world_store, service.source_sums, request.agent.agent_id, where)
    # Nothing is awaited from here on: everything is of one moment.
    world, agent = request.world, request.agent
    on_sim = _open(world, agent)
    by_venue = {Venue.SIM: on_sim} | {
        venue: venue_positions(world, agent, venue, UNSETTLED) for venue in REAL
    }
    # The requested venue narrows the totals; the block of a venue counts all its positions.
    held = [row for venue, rows in by_venue.items() if selected in {"all", venue} for row in rows]
    exposure = sum(body.current_value for body in held)
    evm, sol = (_bucket(request, venue, by_venue[venue]) for venue in REAL)
    redeemable = [world.venues.account(agent.agent_id, venue).redeemable_count() for venue in REAL]
    total = decimal(agent_pnl(world, agent))
    day_ago = Timestamp(request.now - DAY_S)
    # All P&L of an agent younger than a day was made in this day.
    is_younger = agent.created_at >= day_ago
    gained = agent_pnl(world, agent) if is_younger else world.gained_since(agent, day_ago)
    cash = decimal(world.cash(agent))
    on_venues = sum(world.venues.account(agent.agent_id, venue).trades_count for venue in REAL)
    return PortfolioBody(
        sim=PortfolioVenue(
            balance=cash,
            pnl=total,
            positions_count=len(on_sim),
            total_exposure=sum(body.current_value for body in on_sim),
            trades_count=agent.trades_count - on_venues,
        ),
        polymarket=evm,
        kalshi=sol,
        balance_usdc=None if evm is None else evm.balance,
        total=PortfolioTotal(positions_count=len(held), total_exposure=exposure),
        sim_balance=cash,
        sim_pnl=total,
        total_exposure=exposure,
        # The flat count means positions on the EVM venue. Source: wire reference, 3.6.
        positions_count=0 if evm is None else evm.positions_count,
        redeemable_count=sum(redeemable),
        pnl_24h=None if gained is None else decimal(gained),
        pnl_today=decimal(world.gained_today(agent, request.now)),
        exit_equity=decimal(world.exit_equity(agent)),
        pnl_total=total,
        concentration=concentration_of([body.current_value for body in held]),
        by_source=_by_source(sums),
        warnings=tuple(
            f"{body.question} is closed and awaits its outcome"
            for body in held
            if body.status == MarketStatus.CLOSED.value
        ),
    )


async def expiring(request: RequestContext) -> ExpiringsBody:
    """Positions whose markets resolve within so many hours of world time, soonest first."""
    hours = request.query_as(ExpiringQuery).hours
    now = moment(request.world.world_at)
    rows: list[ExpiringBody] = []
    for body in (await _select(request, PositionsQuery())).rows:
        left_s = (body.resolves_at - now).total_seconds() if body.resolves_at else None
        if left_s is not None and left_s <= hours * HOUR_S:
            left_s = max(0.0, left_s)
            # Not `model_dump`, which would turn the nested models of a row into dicts.
            row = ExpiringBody.model_construct(
                **dict(body),
                hours_to_resolution=round(left_s / HOUR_S, 4),
                time_to_resolution=time_left(left_s),
            )
            rows.append(row)
    rows.sort(key=lambda row: row.hours_to_resolution)
    return ExpiringsBody(
        agent_id=request.agent.agent_id, positions=tuple(rows), count=len(rows), hours=hours
    )


ROUTES: Final[Routes] = {POSITIONS: positions, PORTFOLIO: portfolio, EXPIRING: expiring}
