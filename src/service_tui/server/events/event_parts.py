"""Events of the engine as events of the stream: what each kind shows to a console.

A kind that is not in `PARTS` is not reported.
"""

from collections.abc import Callable
from typing import Any, Final

from service_tui.engine.agents.agents import status_of
from service_tui.engine.chain_events import WalletLinked
from service_tui.engine.events import (
    AgentChanged,
    AgentRegistered,
    AlertEnded,
    Breached,
    Event,
    ExperimentLogged,
    Fill,
    HaltSet,
    KeyRotated,
    LeashSet,
    MarkedRedeemed,
    MarketListed,
    MarketResolved,
    MonitorDeleted,
    MonitorSet,
    OrderEnded,
    OrderFilled,
    OrderPlaced,
    PendingEnded,
    PlanSet,
    PositionRedeemed,
    SpeedSet,
    TradePending,
)
from service_tui.engine.world import World
from service_tui.server.ends import announced, ended_fields
from service_tui.terms import Action, AlertStatus, PendingStatus, Side, Venue
from service_tui.units import Micros, decimal
from service_tui.wire.base import moment
from service_tui.wire.events import (
    AgentPart,
    EventBody,
    EventKind,
    ExperimentPart,
    FillPart,
    HeldPart,
    MarketPart,
    MonitorPart,
    OrderPart,
    PayoutPart,
    RiskAlertPart,
)

Parts = dict[str, object]

_Ordered = OrderPlaced | OrderFilled | OrderEnded | PositionRedeemed


def _fill(world: World, fill: Fill) -> Parts:
    agent = world.agents[fill.agent_id]
    part = FillPart(
        trade_id=fill.trade_id,
        agent_id=fill.agent_id,
        agent_name=agent.settings.name,
        market_id=fill.market_id,
        question=world.question_of(fill.market_id),
        side=fill.side,
        action=fill.action,
        shares=decimal(fill.shares),
        price=min(1.0, fill.money / fill.shares),
        price_after=fill.price_after,
        money=decimal(fill.money),
        realized_pnl=decimal(fill.realized),
        source=fill.note.source,
        skill_slug=fill.note.skill_slug,
        fee=0.0,
    )
    return {"kind": EventKind.FILL.value, "fill": part}


def _order(world: World, event: _Ordered, state: str, order_id: str) -> Parts:
    money = event.payout if isinstance(event, PositionRedeemed) else event.money
    part = OrderPart(
        order_id=order_id,
        agent_id=event.agent_id,
        agent_name=world.agents[event.agent_id].settings.name,
        market_id=event.market_id,
        question=world.question_of(event.market_id),
        state=state,
        shares=decimal(event.shares),
        money=decimal(money),
    )
    return {"kind": EventKind.ORDER.value, "order": part}


def _marked_redeemed(world: World, event: MarkedRedeemed) -> Parts:
    """The position is redeemable no more; its money came with the event before."""
    part = OrderPart(
        order_id="",
        agent_id=event.agent_id,
        agent_name=world.agents[event.agent_id].settings.name,
        market_id=event.market_id,
        question=world.question_of(event.market_id),
        state="claimed",
        shares=0.0,
        money=0.0,
    )
    return {"kind": EventKind.ORDER.value, "order": part}


def _placed(world: World, event: OrderPlaced) -> Parts:
    parts = _order(world, event, "submitted" if event.rests else "filled", event.order_id)
    if not event.shares:
        return parts
    note = event.note
    origin = (note.source, note.skill_slug)
    traded = _traded(world, event, (event.venue, event.side, event.action), origin)
    return parts | {"fill": traded.model_copy(update={"price_after": event.price_after})}


def _met(world: World, event: OrderFilled) -> Parts:
    parts = _order(world, event, "filled", event.order_id)
    if event.venue is None or event.side is None or event.action is None:
        return parts
    kind, origin = (event.venue, event.side, event.action), (event.source, event.skill_slug)
    return parts | {"fill": _traded(world, event, kind, origin)}


def _traded(
    world: World,
    event: OrderPlaced | OrderFilled,
    kind: tuple[Venue, Side, Action],
    origin: tuple[str, str],
) -> FillPart:
    """A trade on an order book, in the form of any other trade."""
    venue, side, action = kind
    price = min(1.0, event.money / event.shares)
    return FillPart(
        trade_id=event.order_id,
        agent_id=event.agent_id,
        agent_name=world.agents[event.agent_id].settings.name,
        market_id=event.market_id,
        question=world.question_of(event.market_id),
        venue=venue,
        side=side,
        action=action,
        shares=decimal(event.shares),
        price=price,
        price_after=price,
        money=decimal(event.money),
        realized_pnl=decimal(event.realized),
        source=origin[0],
        skill_slug=origin[1],
        # A maker pays none.
        fee=decimal(event.fee) if isinstance(event, OrderPlaced) else 0.0,
    )


def _ended(world: World, event: OrderEnded) -> Parts:
    return _order(world, event, event.reason.value, event.order_id)


def _redeemed(world: World, event: PositionRedeemed) -> Parts:
    return _order(world, event, "redeemed", "")


def _agent(world: World, agent_id: str, kind: EventKind, changed: tuple[str, ...]) -> Parts:
    agent = world.agents[agent_id]
    settings = agent.settings
    part = AgentPart(
        agent_id=agent_id,
        name=settings.name,
        status=status_of(agent, world.cash(agent)),
        plan=settings.plan,
        claimed=settings.claimed,
        trading_paused=settings.is_paused,
        suspended=settings.suspended,
        changed=changed,
    )
    return {"kind": kind.value, "agent": part}


def _registered(world: World, event: AgentRegistered) -> Parts:
    return _agent(world, event.agent_id, EventKind.AGENT_REGISTERED, ())


def _changed(world: World, event: AgentChanged) -> Parts:
    return _agent(world, event.agent_id, EventKind.AGENT_CHANGED, tuple(event.changes))


def _linked(world: World, event: WalletLinked) -> Parts:
    return _agent(world, event.agent_id, EventKind.AGENT_CHANGED, ("wallet",))


def _rotated(world: World, event: KeyRotated) -> Parts:
    return _agent(world, event.agent_id, EventKind.AGENT_CHANGED, ("key",))


def _listed(world: World, event: MarketListed) -> Parts:
    listing = world.tape.bound(event.listing)
    part = MarketPart(
        market_id=listing.market_id,
        question=listing.question,
        resolves_at=announced(listing),
    )
    return {"kind": EventKind.MARKET_LISTED.value, "market": part}


def _resolved(world: World, event: MarketResolved) -> Parts:
    part = MarketPart(
        market_id=event.market_id,
        question=world.question_of(event.market_id),
        **ended_fields(event.outcome),
        payouts=tuple(
            PayoutPart(
                agent_id=paid.agent_id,
                payout=decimal(paid.payout),
                pnl=decimal(Micros(paid.payout - paid.cost)),
            )
            for paid in event.payouts
            if paid.shares
        ),
    )
    return {"kind": EventKind.MARKET_RESOLVED.value, "market": part}


def _speed(_: World, event: SpeedSet) -> Parts:
    return {"kind": EventKind.SPEED.value, "speed": event.speed}


def _plan(_: World, event: PlanSet) -> Parts:
    return {"kind": EventKind.PLAN.value, "plan": event.plan}


def _halt(_: World, event: HaltSet) -> Parts:
    return {"kind": EventKind.HALT.value, "halted": event.halted}


def _monitor(world: World, event: MonitorSet | MonitorDeleted, state: str) -> Parts:
    part = MonitorPart(
        agent_id=event.agent_id,
        agent_name=world.agents[event.agent_id].settings.name,
        market_id=event.market_id,
        question=world.question_of(event.market_id),
        venue=event.venue,
        side=event.side,
        state=state,
    )
    return {"kind": EventKind.MONITOR.value, "monitor": part}


def _set(world: World, event: MonitorSet) -> Parts:
    return _monitor(world, event, "set")


def _deleted(world: World, event: MonitorDeleted) -> Parts:
    return _monitor(world, event, "deleted")


def _alert(world: World, breach: Breached, state: str) -> Parts:
    part = RiskAlertPart(
        id=breach.alert_id,
        agent_id=breach.agent_id,
        agent_name=world.agents[breach.agent_id].settings.name,
        market_id=breach.market_id,
        question=world.question_of(breach.market_id),
        venue=breach.venue,
        side=breach.side,
        state=state,
        exit_reason=breach.reason.value,
        shares=decimal(breach.shares),
        price=breach.price,
        breached_at=moment(breach.at),
    )
    return {"kind": EventKind.RISK_ALERT.value, "risk_alert": part}


def _breached(world: World, event: Breached) -> Parts:
    return _alert(world, event, AlertStatus.PENDING.value)


def _alert_ended(world: World, event: AlertEnded) -> Parts:
    past = world.risk.history_of(event.agent_id)
    found = next((one for one in past if one.breach.alert_id == event.alert_id), None)
    if found is None:
        # Reported late, to one who comes back after many others have ended.
        return {"kind": EventKind.RISK_ALERT.value}
    return _alert(world, found.breach, event.status.value)


def _experiment(world: World, event: ExperimentLogged) -> Parts:
    part = ExperimentPart(
        id=event.experiment_id,
        agent_id=event.agent_id,
        agent_name=world.agents[event.agent_id].settings.name,
        skill_slug=event.skill,
        experiment_number=event.number,
        segment=event.segment,
        state=event.status.value,
    )
    return {"kind": EventKind.EXPERIMENT.value, "experiment": part}


def _waits(world: World, pending: TradePending, state: str = PendingStatus.WAITING.value) -> Parts:
    part = HeldPart(
        held_id=pending.pending_id,
        agent_id=pending.agent_id,
        agent_name=world.agents[pending.agent_id].settings.name,
        market_id=pending.market_id,
        question=pending.question or world.question_of(pending.market_id),
        state=state,
    )
    return {"kind": EventKind.PENDING.value, "held": part}


def _decided(world: World, event: PendingEnded) -> Parts:
    found = (trade for trade, end in reversed(world.pending_trades.ended) if end == event)
    trade = next(found, None)
    if trade is None:
        # Reported late, to one who comes back after many others were decided.
        return {"kind": EventKind.PENDING.value}
    return _waits(world, trade, event.status.value)


def _leash(world: World, event: LeashSet) -> Parts:
    return _agent(world, event.agent_id, EventKind.LEASH, ("leash",))


PARTS: Final[dict[type[Event], Callable[[World, Any], Parts]]] = {
    Fill: _fill,
    AgentRegistered: _registered,
    AgentChanged: _changed,
    KeyRotated: _rotated,
    WalletLinked: _linked,
    MarketListed: _listed,
    MarketResolved: _resolved,
    SpeedSet: _speed,
    PlanSet: _plan,
    OrderPlaced: _placed,
    OrderFilled: _met,
    OrderEnded: _ended,
    PositionRedeemed: _redeemed,
    MarkedRedeemed: _marked_redeemed,
    HaltSet: _halt,
    MonitorSet: _set,
    MonitorDeleted: _deleted,
    Breached: _breached,
    AlertEnded: _alert_ended,
    ExperimentLogged: _experiment,
    TradePending: _waits,
    PendingEnded: _decided,
    LeashSet: _leash,
}
"""Serialiser by kind of event. Any: the type of a table cannot pair each kind with its own."""


def body_of(world: World, seq: int, event: Event) -> EventBody:
    """An event of interest as it goes over the stream."""
    parts = PARTS[type(event)](world, event)
    return EventBody.model_validate({"seq": seq, "at": moment(event.at), **parts})
