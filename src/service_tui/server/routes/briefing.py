"""The briefing, or heartbeat: one answer with everything that an agent should check now."""

import asyncio
import math
import re
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Final, NamedTuple

from service_tui.engine.agents.agents import Agent
from service_tui.engine.agents.halt import is_stopped, no_entry
from service_tui.engine.amm.market import Market
from service_tui.engine.books.book import Times
from service_tui.engine.books.catalogue import url_of
from service_tui.engine.books.venues import REAL
from service_tui.engine.risk.monitors import MonitoredSide
from service_tui.engine.transitions import PositionState
from service_tui.engine.world import World
from service_tui.server.client_versions import LEAST, lacks_of
from service_tui.server.http.service import RequestContext, Routes
from service_tui.server.projections.present import (
    exit_pnl,
    left_of,
    opportunity_of,
    time_left,
    unrealized,
)
from service_tui.server.projections.risk import alert_body
from service_tui.server.projections.venues import CURRENCY, venue_positions
from service_tui.server.results.by_source import SourceSums, by_source
from service_tui.server.routes.positions import UNSETTLED, pnl_of, venue_pnl
from service_tui.skills.package import SkillPackage, installed
from service_tui.terms import AlertStatus, MarketStatus, Side, Venue, win_rate
from service_tui.units import Micros, Timestamp, decimal, micros
from service_tui.wire.base import moment, timestamp
from service_tui.wire.briefing import (
    AttentionBody,
    BriefingBody,
    BriefingQuery,
    NewMarketBody,
    OpportunitiesBody,
    PerformanceBody,
    RecommendedSkill,
    RedeemBlock,
    SdkUpdateBody,
    SkillBlock,
    SkillUpdateBody,
    VenueBlock,
)
from service_tui.wire.endpoints.public import BRIEFING
from service_tui.wire.monitors import RiskAlertBody
from service_tui.wire.positions import PositionBody

WARNINGS_MAX: Final = 20
"""Warnings of one briefing. # ours: the list is for reading."""


class RiskNews(NamedTuple):
    """`alerts` await their exit; `triggered` are those that the client has to execute."""

    alerts: tuple[RiskAlertBody, ...]
    triggered: tuple[RiskAlertBody, ...]
    warnings: tuple[str, ...]
    actions: tuple[str, ...]


def risk_news(world: World, agent: Agent, times: Times, since: Timestamp) -> RiskNews:
    """Alerts, warnings and actions for an agent, and the alerts that expired since a time."""
    risk, now = world.risk, times[0]
    alerts = tuple(
        alert_body(world, alert, times)
        for alert in risk.alerts_of(agent.agent_id)
        if now < alert.expires_at
    )
    triggered = tuple(one for one in alerts if one.executed_by == "client")
    stuck = [f"the exit waits: {one.error} ({one.message})" for one in alerts if one.error]
    missed = [
        f"an alert expired without its exit: {alert_body(world, alert, times).message}"
        for alert in risk.history_of(agent.agent_id)
        if alert.status is AlertStatus.EXPIRED and (alert.ended_at or 0.0) >= since
    ]
    return RiskNews(
        alerts=alerts,
        triggered=triggered,
        warnings=(*stuck, *missed, *unprotected(world, agent))[:WARNINGS_MAX],
        actions=tuple(_action(one, now) for one in triggered),
    )


def _action(alert: RiskAlertBody, now: Timestamp) -> str:
    """Instruction for an alert that the client executes, with its deadline."""
    left_s = alert.expires_at.timestamp() - now if alert.expires_at else 0.0
    return (
        f"sell {alert.shares:g} {alert.side.value.upper()} of {alert.market_id} within "
        f"{max(1, int(left_s // 60))} min ({alert.exit_reason})"
    )


def unprotected(world: World, agent: Agent) -> list[str]:
    """A warning about positions without a monitor and without an alert; none if there are none."""
    risk = world.risk
    guarded = {monitor.watched for monitor in risk.monitors_of(agent.agent_id)}
    guarded |= {alert.watched for alert in risk.alerts_of(agent.agent_id)}
    bare = [held for held in _open_sides(world, agent) if held not in guarded]
    if not bare:
        return []
    what = "1 position has" if len(bare) == 1 else f"{len(bare)} positions have"
    return [f"{what} no monitor"]


def _open_sides(world: World, agent: Agent) -> list[MonitoredSide]:
    """Sides with shares that can still be sold."""
    found = [
        MonitoredSide(agent.agent_id, Venue.SIM, market_id, side)
        for market_id, position in agent.positions.items()
        for side in Side
        if position.shares(side)
    ]
    for venue in REAL:
        holdings = world.venues.account(agent.agent_id, venue).holdings
        found += [
            MonitoredSide(agent.agent_id, venue, market_id, side)
            for market_id, holding in holdings.items()
            if holding.state is PositionState.ACTIVE
            for side in Side
            if holding.position.shares(side)
        ]
    return found


RECOMMENDED_MAX: Final = 3
"""Source: wire reference, 3.7."""

_NUMBER: Final = re.compile(r"\d{1,9}")


def recommended(
    packages: Sequence[SkillPackage], known: Mapping[str, str]
) -> tuple[RecommendedSkill, ...]:
    """Installed skills that the calling agent does not run."""
    # ours: those with a `best_when` come first; nothing else is known about their fit.
    fresh = [one for one in packages if one.slug not in known]
    fresh.sort(key=lambda one: ("best_when" not in one.metadata, one.slug))
    return tuple(
        RecommendedSkill(
            id=one.slug,
            name=one.name,
            install="installed",
            best_when=one.metadata.get("best_when"),
        )
        for one in fresh[:RECOMMENDED_MAX]
    )


def updates(
    packages: Sequence[SkillPackage], known: Mapping[str, str]
) -> tuple[SkillUpdateBody, ...]:
    """Skills of the calling agent that are installed in a newer version."""
    return tuple(
        SkillUpdateBody(slug=one.slug, current=known[one.slug], latest=one.version)
        for one in packages
        if one.slug in known and one.version and _order(one.version) > _order(known[one.slug])
    )


def _order(version: str) -> tuple[int, ...]:
    """The numbers of a version, in which newer ones are greater."""
    return tuple(int(found) for found in _NUMBER.findall(version)[:4])


MOVE_PCT: Final = 0.15
SOON_S: Final = 48 * 3_600.0
NEW_MAX: Final = 10
DAY_S: Final = 86_400.0
"""A position needs attention when it moved this far or resolves this soon. Source: wire, 3.7."""


def attention_of(world: World, agent: Agent) -> tuple[AttentionBody, ...]:
    """Positions that moved far or resolve soon."""
    rows: list[AttentionBody] = []
    for market_id, position in agent.positions.items():
        market = world.markets[market_id]
        left_s = market.listing.resolves_at - world.world_at
        for side in Side:
            cost = position.cost(side)
            if not cost:
                continue
            pnl = position.on(side).mark_value(market.price_of(side)) - cost
            move = pnl / cost
            if abs(move) > MOVE_PCT or left_s < SOON_S:
                rows.append(
                    AttentionBody(
                        market_id=market_id,
                        question=market.listing.question,
                        url=url_of(market.listing),
                        side=side.value,
                        shares=decimal(position.shares(side)),
                        current_price=market.price_of(side),
                        pnl=decimal(Micros(pnl)),
                        move_pct=round(move, 4),
                        time_to_resolution=time_left(left_s),
                    )
                )
    return tuple(rows)


def by_skill(sums: Mapping[str, SourceSums]) -> dict[str, SkillBlock]:
    """Positions and P&L by source tag; a market with two tags counts for both."""
    return {
        tag: SkillBlock(
            positions=one.positions, total_pnl=decimal(Micros(one.realized + one.unrealized))
        )
        for tag, one in sums.items()
    }


def new_markets(world: World, since: Timestamp) -> tuple[NewMarketBody, ...]:
    """Markets listed since a wall time, newest first."""
    # Wall time, as programs ask by their own clock; the tape may run faster.
    fresh: list[Market] = sorted(
        (
            market
            for market in world.markets.values()
            if market.listed_at >= since and market.status(world.world_at) is MarketStatus.ACTIVE
        ),
        key=lambda market: (-market.listed_at, -market.listing.opens_at),
    )
    return tuple(
        NewMarketBody(
            market_id=market.market_id,
            question=market.listing.question,
            opportunity_score=opportunity_of(market),
            time_to_resolution=left_of(market.listing, world.world_at),
        )
        for market in fresh[:NEW_MAX]
    )


def performance(world: World, agent: Agent) -> PerformanceBody:
    """P&L of the agent if it sold all now, and by that its rank among the agents of the service."""
    own = exit_pnl(world, agent)
    better = sum(exit_pnl(world, other) > own for other in world.agents.values())
    first = world.exit_equity(agent) - own
    return PerformanceBody(
        total_pnl=decimal(own),
        pnl_percent=round(own / first * 100, 4) if first > 0 else None,
        win_rate=win_rate(agent.win_count, agent.loss_count),
        rank=better + 1,
        total_agents=len(world.agents),
    )


def venue_attention(held: Sequence[PositionBody], now: datetime) -> tuple[AttentionBody, ...]:
    """Positions on a venue that moved far or resolve soon."""
    rows: list[AttentionBody] = []
    for body in held:
        left_s = (body.resolves_at - now).total_seconds() if body.resolves_at else math.inf
        for side in body.sides:
            pnl = decimal(micros(side.current_value) - micros(side.cost_basis))
            move = pnl / side.cost_basis if side.cost_basis else 0.0
            if abs(move) > MOVE_PCT or left_s < SOON_S:
                rows.append(
                    AttentionBody(
                        market_id=body.market_id,
                        question=body.question,
                        url=body.url,
                        side=side.side,
                        shares=side.shares,
                        current_price=side.mark_price,
                        pnl=pnl,
                        move_pct=round(move, 4),
                        time_to_resolution=None if left_s == math.inf else time_left(left_s),
                    )
                )
    return tuple(rows)


def _venue_block(
    request: RequestContext, venue: Venue, sums: Mapping[str, SourceSums]
) -> VenueBlock | None:
    """One real venue at a glance; unclaimed agents get only sim."""
    world, agent = request.world, request.agent
    if not agent.settings.claimed:
        return None
    account = world.venues.account(agent.agent_id, venue)
    pnl = venue_pnl(request, venue)
    held = venue_positions(world, agent, venue, UNSETTLED)
    cash = decimal(world.venues.cash(agent.agent_id, venue))
    return VenueBlock(
        currency=CURRENCY,
        balance=cash,
        cash_balance=cash,
        portfolio_value=decimal(world.venues.equity(account, (request.now, world.world_at))),
        pnl=pnl.total,
        realized_pnl=pnl.realized,
        unrealized_pnl=pnl.unrealized,
        positions_count=len(held),
        positions_needing_attention=venue_attention(held, moment(world.world_at)),
        actions=redeem_prompt(venue, account.redeemable_count()),
        redeemable_count=account.redeemable_count(),
        by_skill=by_skill(sums),
        pnl_as_of=pnl.as_of,
        reserved=decimal(world.venues.reserved(agent.agent_id, venue)),
        simulated=True,
    )


def redeem_prompt(venue: Venue, count: int) -> tuple[str, ...]:
    """Instruction for pending redemptions. Source: spec, "Events", Redeem prompt."""
    if not count:
        return ()
    how = "POST /api/sdk/redeem" if venue is Venue.EVM else "by hand, from the dashboard"
    return (f"{count} won position{'s'[: count > 1]} on {venue.value} to redeem: {how}",)


def stopped(world: World, agent: Agent) -> tuple[str, ...]:
    """Instruction for an agent whose buys are refused."""
    if world.halt.since is None and not agent.settings.operator_paused:
        return ("trading is paused: resume it in the settings",)
    refusal = no_entry(agent.settings, world.halt)
    return (f"{refusal.error}; {refusal.fix}",)


def _sdk_update(agent: Agent) -> SdkUpdateBody | None:
    """Update notice if the agent's version of the published client lacks something; else None."""
    lacks = lacks_of(agent.sdk_version) if agent.sdk_version else []
    if agent.sdk_version is None or not lacks:
        return None
    return SdkUpdateBody(
        current=agent.sdk_version, latest=LEAST, message=f"update: {'; '.join(lacks)}"
    )


async def briefing(request: RequestContext) -> BriefingBody:
    """The briefing of the calling agent."""
    query = request.query_as(BriefingQuery)
    versions = query.versions()
    packages = await asyncio.to_thread(installed, request.service.skill_folders)
    service, agent_id = request.service, request.agent.agent_id
    sums = {
        venue: await by_source(service.world_store, service.source_sums, agent_id, venue)
        for venue in Venue
    }
    # After the waits: everything else is of one moment.
    world, agent = request.world, request.agent
    since = timestamp(query.since) if query.since else Timestamp(request.now - DAY_S)
    cash = decimal(world.cash(agent))
    pnl = pnl_of(world, agent)
    paused = is_stopped(agent.settings, world.halt)
    actions = stopped(world, agent) if paused else ()
    block = VenueBlock(
        currency="$SIM",
        balance=cash,
        cash_balance=cash,
        portfolio_value=decimal(world.equity(agent)),
        pnl=pnl.total,
        realized_pnl=pnl.realized,
        unrealized_pnl=decimal(unrealized(world, agent)),
        positions_count=len(agent.open_positions()),
        positions_needing_attention=attention_of(world, agent),
        actions=actions,
        by_skill=by_skill(sums[Venue.SIM]),
    )
    real = {venue: _venue_block(request, venue, sums[venue]) for venue in REAL}
    evm = real[Venue.EVM]
    news = risk_news(world, agent, (request.now, world.world_at), since)
    prompts = tuple(action for one in real.values() if one is not None for action in one.actions)
    body = BriefingBody(
        venues={Venue.SIM.value: block} | {venue.value: one for venue, one in real.items()},
        opportunities=OpportunitiesBody(
            new_markets=new_markets(world, since),
            recommended_skills=recommended(packages, versions or {}),
        ),
        performance=performance(world, agent),
        checked_at=moment(request.now),
        actions=actions + news.actions + prompts,
        risk_alerts=news.alerts,
        triggered_risk_alerts=news.triggered or None,
        risk_warnings=news.warnings,
        sdk_update=_sdk_update(agent),
        skill_updates=None if versions is None else updates(packages, versions),
        trading_paused=paused,
    )
    if evm is None:
        return body
    redeem = RedeemBlock(redeemable_count=evm.redeemable_count, actions=evm.actions)
    return body.model_copy(update={"evm": redeem})


ROUTES: Final[Routes] = {BRIEFING: briefing}
