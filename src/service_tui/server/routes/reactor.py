"""Routes of the reactor: config, pending signals, their results, the circuit breaker."""

from typing import Final

from service_tui.engine.agents.agents import Agent
from service_tui.engine.books.catalogue import condition_of, has_event, slug_of, token_of
from service_tui.engine.events import (
    BreakerReset,
    Reacted,
    ReactorChanged,
    ReactorEvent,
    SignalDismissed,
)
from service_tui.engine.reactor.reactor import Signal, When
from service_tui.engine.reactor.recorded_wallets import KnownWallet, known_wallets
from service_tui.server.http.refusals import invalid_items, sent_micros
from service_tui.server.http.service import RequestContext, Routes
from service_tui.terms import FAILURES_MAX, Side, Venue
from service_tui.units import Timestamp, decimal
from service_tui.wire.base import moment
from service_tui.wire.endpoints.desk import DESK_RESET_REACTOR, DESK_WALLETS
from service_tui.wire.endpoints.public import (
    DELETE_SIGNAL,
    PATCH_REACTOR,
    PENDING_SIGNALS,
    POST_REACTION,
    REACTIONS,
    REACTOR,
)
from service_tui.wire.reactor import (
    BreakerBody,
    KnownWalletBody,
    KnownWalletsBody,
    PendingBody,
    PendingQuery,
    ReactedBody,
    ReactionBody,
    ReactionRequest,
    ReactionsBody,
    ReactionsQuery,
    ReactorConfigBody,
    ReactorConfigPatch,
    SignalBody,
    SignalGoneBody,
    WhaleBody,
)

AMOUNTS: Final = frozenset({"min_size", "max_size", "daily_cap"})
"""Fields that the engine keeps in micros."""

MAKER: Final = "maker"
HEAD: Final = frozenset({"event_tx_hash", "decision"})
"""Fields of a reaction that the engine itself reads."""


# -- config --------------------------------------------------------------------------------


async def read(request: RequestContext) -> ReactorConfigBody:
    """The agent's config, the state of its breaker, and what its mirrors have cost today."""
    return config_body(request, request.agent)


async def patch(request: RequestContext) -> ReactorConfigBody:
    """Change the config; it counts from the next poll on. What is already so leaves no trace."""
    config = request.world.reactor.state(request.agent.agent_id).config
    sent = request.body_as(ReactorConfigPatch)
    changes = {name: engine_value(name, value) for name, value in sent.changes().items()}
    changes = {name: new for name, new in changes.items() if getattr(config, name) != new}
    if changes:
        await _note(request, ReactorChanged(request.agent.agent_id, request.now, changes))
    return config_body(request, request.agent).model_copy(update={"warnings": sent.warnings()})


def engine_value(name: str, value: object) -> object:
    """A field as the engine keeps it.

    Returns:
        Micros of sizes and money, everything else as it is.

    Raises:
        Denied: 422 for an amount that is finer than a micro.
    """
    if name not in AMOUNTS or not isinstance(value, float):
        return value
    whole = sent_micros(("body", name), value)
    if not whole and value:
        message = f"{value} is less than a millionth"
        raise invalid_items([(("body", name), message, "decimal")])
    return whole


async def _note(request: RequestContext, *events: ReactorEvent) -> None:
    """Apply and write down, unless memory is ahead of the disk."""
    world_store = request.service.world_store
    world_store.check_whole()
    await request.write([done for event in events for done in request.world.note(event)])


def config_body(request: RequestContext, agent: Agent) -> ReactorConfigBody:
    """The eight fields, and the reactor's state."""
    reactor = request.world.reactor
    config = reactor.state(agent.agent_id).config
    return ReactorConfigBody(
        wallets=config.wallets,
        min_size=decimal(config.min_size),
        max_size=decimal(config.max_size),
        mirror_fraction=config.mirror_fraction,
        daily_cap=decimal(config.daily_cap),
        venue=config.venue,
        enabled=config.enabled,
        price_buffer=config.price_buffer,
        breaker=breaker_body(request, agent),
        daily_spent=decimal(reactor.spent_today(agent.agent_id, request.now)),
        signal_ttl_s=request.service.signal_ttl_s,
    )


def breaker_body(request: RequestContext, agent: Agent) -> BreakerBody:
    """The present state of an agent's circuit breaker."""
    found = request.world.reactor.breaker(agent.agent_id, request.now)
    return BreakerBody(
        state="running" if found.paused_at is None else "paused",
        failures=found.failures,
        failures_max=FAILURES_MAX,
        paused_at=None if found.paused_at is None else moment(found.paused_at),
        resets_at=None if found.resets_at is None else moment(found.resets_at),
        skipped=found.skipped,
    )


# -- signals -------------------------------------------------------------------------------


async def pending(request: RequestContext) -> PendingBody:
    """The signals that wait, oldest first; none while the reactor is off or its breaker open."""
    world, agent = request.world, request.agent
    caps = (request.query_as(PendingQuery).caps or "").lower().split(",")
    when = When(request.now, world.world_at, request.service.signal_ttl_s)
    is_maker = MAKER in {cap.strip() for cap in caps}
    found = world.reactor.pending(agent, world.markets, when, maker=is_maker)
    return PendingBody(
        reactor_signals=tuple(signal_body(signal) for signal in found),
        breaker=breaker_body(request, agent),
        daily_spent=decimal(world.reactor.spent_today(agent.agent_id, request.now)),
    )


def signal_body(signal: Signal) -> SignalBody:
    """A signal with the names of the spec and, nested, those of the published skill."""
    one, listing = signal.settled, signal.listing
    taker_side = one.action.value.upper()
    size = decimal(one.shares)
    is_on_chain = one.venue is Venue.EVM
    neg_risk = has_event(listing)
    token = token_of(one.market_id, one.side, neg_risk=neg_risk) if is_on_chain else ""
    return SignalBody(
        tx_hash=one.tx_hash,
        signal_id=signal.signal_id,
        venue=signal.venue,
        taker_wallet=one.wallet,
        taker_side=taker_side,
        taker_size=size,
        taker_price=one.price,
        market_id=one.market_id,
        market_title=listing.question,
        side=one.side,
        action=one.action,
        amount=decimal(signal.amount),
        whale=WhaleBody(
            wallet=one.wallet,
            side=taker_side,
            size=size,
            price=one.price,
            token=token,
            condition_id=condition_of(one.market_id) if is_on_chain else "",
            market_title=listing.question,
            market_slug=slug_of(listing),
            outcome="Yes" if one.side is Side.YES else "No",
        ),
        created_at=moment(signal.at),
        expires_at=moment(signal.expires_at),
        taker_label=one.label,
    )


async def delete(request: RequestContext) -> SignalGoneBody:
    """Take a signal out; again, or after its expiry, changes nothing and is no fault."""
    agent_id = request.agent.agent_id
    reactor = request.world.reactor
    gone = reactor.state(agent_id).gone
    named = reactor.ids_of(request.path["signal_id"])
    fresh = [signal_id for signal_id in named if signal_id not in gone]
    await _note(request, *(SignalDismissed(agent_id, request.now, one) for one in fresh))
    return SignalGoneBody()


# -- reactions -----------------------------------------------------------------------------


async def reactions(request: RequestContext) -> ReactionsBody:
    """What became of the agent's signals, newest first."""
    limit = request.query_as(ReactionsQuery).limit
    found = request.world.reactor.reactions(request.agent.agent_id, request.now, limit)
    return ReactionsBody(reactions=tuple(_reaction_body(one) for one in found))


def _reaction_body(one: Reacted) -> ReactionBody:
    details: dict[str, object] = dict(one.details)
    return ReactionBody.model_validate(
        details
        | {
            "event_tx_hash": one.tx_hash,
            "decision": one.decision,
            "created_at": moment(one.at),
        }
    )


async def react(request: RequestContext) -> ReactedBody:
    """Keep what became of a signal; failures in a row open the circuit breaker."""
    reaction = request.body_as(ReactionRequest)
    rest = reaction.model_dump(exclude_none=True, exclude=set(HEAD))
    await _note(
        request,
        Reacted(
            request.agent.agent_id, request.now, reaction.event_tx_hash, reaction.decision, rest
        ),
    )
    return ReactedBody(breaker=breaker_body(request, request.agent))


# -- the operator's ------------------------------------------------------------------------


async def reset(request: RequestContext) -> ReactorConfigBody:
    """Close an agent's circuit breaker now, and count its failures from 0 again."""
    agent = request.world.agent(request.path["agent_id"])
    if request.world.reactor.breaker(agent.agent_id, request.now).failures:
        await _note(request, BreakerReset(agent.agent_id, request.now))
    return config_body(request, agent)


async def wallets(request: RequestContext) -> KnownWalletsBody:
    """The wallets that trade here, with their record since this world began."""
    world = request.world
    found = known_wallets(world.wallet_context, world.world_at)
    return KnownWalletsBody(wallets=tuple(_wallet_body(request, one) for one in found))


def _wallet_body(request: RequestContext, wallet: KnownWallet) -> KnownWalletBody:
    record = request.world.reactor.records.of(wallet.address)
    last_at = record.last_at
    return KnownWalletBody(
        address=wallet.address,
        label=wallet.label,
        venue=wallet.venue,
        trades_count=record.trades_count,
        bought=decimal(record.bought),
        win_count=record.win_count,
        loss_count=record.loss_count,
        realized_pnl=decimal(record.realized),
        last_trade_at=None if last_at is None else moment(Timestamp(last_at)),
    )


ROUTES: Final[Routes] = {
    REACTOR: read,
    PATCH_REACTOR: patch,
    PENDING_SIGNALS: pending,
    DELETE_SIGNAL: delete,
    REACTIONS: reactions,
    POST_REACTION: react,
    DESK_WALLETS: wallets,
    DESK_RESET_REACTOR: reset,
}
