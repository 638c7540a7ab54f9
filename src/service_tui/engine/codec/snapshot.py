"""The whole world as JSON-able values and back, so that a restart replays few rows.

`world_of(fields_of(world), topics)` trades on exactly as `world` would.
"""

from collections.abc import Iterable
from typing import Final

from service_tui.engine.agents.agents import Agent
from service_tui.engine.amm.market import Market
from service_tui.engine.codec.agents import pending_fields, restore_pending
from service_tui.engine.codec.books import (
    position_fields,
    position_of,
    restore_venues,
    venue_fields,
)
from service_tui.engine.codec.chain import chain_fields, restore_chain
from service_tui.engine.codec.errors import JournalError, NewerJournalError
from service_tui.engine.codec.notify import (
    agent_alert_fields,
    notify_fields,
    restore_agent_alerts,
    restore_notify,
)
from service_tui.engine.codec.reactor import reactor_fields, restore_reactor
from service_tui.engine.codec.research import research_fields, restore_research
from service_tui.engine.codec.risk import restore_risk, risk_fields
from service_tui.engine.events import ExposureLimitSet
from service_tui.engine.listing import Listing
from service_tui.engine.tape.history import HistoryStart
from service_tui.engine.tape.recorded import MarketTape
from service_tui.engine.tape.topics import Topics
from service_tui.engine.world import World
from service_tui.outcome import Outcome
from service_tui.records import Fields, Named, fields_of_record, read
from service_tui.terms import Plan, Side
from service_tui.units import Micros

FORMAT: Final = 1
"""Raised when a field changes its meaning; a newer format than this is refused."""

_WORLD_PLAIN: Final = (
    "speed",
    "at",
    "world_at",
    "tick_count",
    "trade_count",
    "listed_count",
    "resolved_count",
)


def fields_of(world: World) -> Named:
    """Everything that the world is."""
    return {
        "format": FORMAT,
        "seed": world.seed,
        # Left out until it is chosen, as in the snapshots of before there was a choice.
        **({} if world.plan is None else {"plan": world.plan}),
        **({} if world.history is None else {"history": world.history}),
        **({} if world.halt.since is None else {"halted_at": world.halt.since}),
        **_limit_fields(world),
        **({"marked_until": world.marked_until} if world.marked_until else {}),
        **{name: getattr(world, name) for name in _WORLD_PLAIN},
        "ledger": {name: amount for name, amount in world.ledger.balances().items() if amount},
        "agents": [_agent_fields(agent) for agent in world.agents.values()],
        "markets": [market_fields(market) for market in world.markets.values()],
        "venues": venue_fields(world.venues),
        "risk": risk_fields(world.risk),
        "reactor": reactor_fields(world.reactor),
        "chain": chain_fields(world.chain),
        "research": research_fields(world.research),
        "holding": pending_fields(world.pending_trades),
        **notify_fields(world.price_alerts, world.webhooks),
        **agent_alert_fields(world.agent_alerts),
    }


def _limit_fields(world: World) -> Named:
    """Left out while there are none, as in the snapshots of before there were any."""
    kept = world.exposure_limits.kept.values()
    return {"exposure_limits": [[*one] for one in kept]} if kept else {}


def _restore_limits(world: World, rows: Iterable[Fields]) -> None:
    for row in rows:
        world.exposure_limits.apply(read(ExposureLimitSet, row))


def world_of(fields: Named, topics: Topics) -> World:
    """The world that was written down.

    Returns:
        A world that trades on exactly as the one that was written down.

    Raises:
        JournalError: it is not whole or, as a subclass, of a newer format.
    """
    try:
        _check_format(fields["format"])
        began = fields.get("history")
        history = None if began is None else read(HistoryStart, began)
        world = World(fields["seed"], fields["at"], topics, fields["ledger"], history=history)
        for name in _WORLD_PLAIN:
            setattr(world, name, fields[name])
        plan = fields.get("plan")
        world.plan = None if plan is None else Plan(plan)
        world.halt.since = fields.get("halted_at")
        _restore_limits(world, fields.get("exposure_limits", ()))
        world.marked_until = fields.get("marked_until", 0.0)
        for row in fields["markets"]:
            market = market_of(row, world.tape)
            world.markets[market.market_id] = market
        for row in fields["agents"]:
            world.adopt(_agent_of(row))
        restore_venues(world.venues, fields.get("venues"))
        restore_risk(world.risk, fields.get("risk"))
        restore_reactor(world.reactor, fields.get("reactor"))
        restore_chain(world.chain, fields.get("chain"))
        restore_research(world.research, fields.get("research"))
        restore_pending(world.pending_trades, fields.get("holding"))
        restore_notify(world.price_alerts, world.webhooks, fields.get("notify"))
        restore_agent_alerts(world.agent_alerts, fields.get("agent_alerts"))
        if "marked_until" not in fields:
            # An older program noted the equity of the day's beginning by the mark.
            for agent in world.agents.values():
                own_impact = world.exit_equity(agent) - world.equity(agent)
                agent.day_equity = Micros(agent.day_equity + own_impact)
    except NewerJournalError:
        raise
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise JournalError(f"the snapshot cannot be read: {error}") from error
    return world


def _check_format(found: int) -> None:
    if found > FORMAT:
        raise NewerJournalError("the snapshot was written by a newer program")


def market_fields(market: Market) -> Named:
    """A market as JSON-able fields by name."""
    return {
        "listing": market.listing,
        "yes": market.yes,
        "no": market.no,
        "start": market.start,
        "outcome": market.outcome,
        "resolved_at": market.resolved_at,
        "tape": list(market.tape),
        "filled": list(market.filled),
        "samples": market.samples,
        "last_sample_at": market.last_sample_at,
        "volumes": list(market.volumes.items()),
        "listed_at": market.listed_at,
    }


def market_of(row: Named, tape: MarketTape | None = None) -> Market:
    """A market from its fields; with its tape one that trades on."""
    listing = read(Listing, row["listing"])
    market = Market(listing if tape is None else tape.bound(listing))
    market.yes, market.no, market.start = row["yes"], row["no"], row["start"]
    market.outcome = None if row["outcome"] is None else Outcome.of(row["outcome"])
    market.resolved_at = row["resolved_at"]
    market.tape.extend((at, who, Side(side), *rest) for at, who, side, *rest in row["tape"])
    # An older program has kept none of them.
    filled = row.get("filled", ())
    market.filled.extend((at, who, Side(side), *rest) for at, who, side, *rest in filled)
    market.samples = [(at, price) for at, price in row["samples"]]
    market.last_sample_at = row["last_sample_at"]
    market.volumes = dict(row["volumes"])
    market.listed_at = row.get("listed_at", 0.0)
    return market


def _agent_fields(agent: Agent) -> Named:
    fields = fields_of_record(agent)
    # Those on leashes are written down with the trades that wait.
    del fields["leashes"]
    if not any(agent.marks.tiers):
        # As in the snapshots of before.
        del fields["marks"]
    return fields | {"positions": [position_fields(one) for one in agent.positions.values()]}


def _agent_of(row: Named) -> Agent:
    positions = [position_of(one) for one in row["positions"]]
    # A snapshot of yesterday lacks what an agent has learned since: its default stands.
    agent = read(Agent, row | {"positions": {}})
    if "peak" not in row:
        agent.peak = max((mark.exit_equity for mark in agent.marks.all()), default=agent.day_equity)
    agent.positions = {one.market_id: one for one in positions}
    return agent
