"""Reads the reactor: waiting signals, and less often its config and wallets.

A service without a reactor for us is no failure: there is one notice.
"""

import logging
from dataclasses import dataclass
from typing import Final

from service_tui.client.errors import NotFoundError, PlanRequiredError, ServiceError
from service_tui.desk.changes import Loaded
from service_tui.desk.facts import Fact
from service_tui.desk.ports import Ports
from service_tui.desk.reactor.translate import (
    breaker_of_reactions,
    breaker_view,
    config_view,
    known_wallets,
    listing_of,
    spent_of,
)
from service_tui.desk.slices.reactor import (
    BreakerView,
    KnownWalletView,
    ReactorBarred,
    ReactorConfigView,
    ReactorSeen,
    ReactorView,
    SignalsSeen,
)
from service_tui.units import Timestamp
from service_tui.wire.endpoints.desk import DESK_WALLETS
from service_tui.wire.endpoints.public import PENDING_SIGNALS, REACTIONS, REACTOR
from service_tui.wire.reactor import PendingQuery, ReactionsQuery, ReactorConfigBody

log = logging.getLogger(__name__)

CONFIG_EVERY_S: Final = 30.0
"""ours: so often the config is read while signals are polled; another console may change it."""

IDLE_S: Final = 10.0
"""ours: the same while the reactor is off, where nothing else is read."""

MAKER: Final = "maker"
"""Fills in which the wallet was the maker are understood. Source: wire reference, 8."""

NO_REACTOR: Final = "this service has no reactor. Use the embedded service"
PRO_ONLY: Final = "choose the Pro plan in Agents"


@dataclass(slots=True)
class ReactorWatch:
    """Memory of the reactor's poller.

    `config_at` is when the config was read, monotonic. `breaker_reset_at` is when the person reset
    the breaker of a service that keeps none of its own.
    """

    config_at: float | None = None
    breaker_reset_at: Timestamp = Timestamp(0.0)


def period_s(reactor: ReactorView, usual_s: float, barred_s: float) -> float:
    """Seconds until the reactor is read again."""
    if reactor.barred:
        return barred_s
    return usual_s if reactor.is_enabled else IDLE_S


async def read_signals(ports: Ports, watch: ReactorWatch) -> tuple[list[Fact], float | None]:
    """Read the reactor once.

    Returns:
        What became known, and how long the last call took; None where we have no reactor.
    """
    try:
        return await _read(ports, watch)
    except PlanRequiredError as error:
        return [ReactorBarred(f"{error.error} — {error.fix or PRO_ONLY}")], None
    except NotFoundError as error:
        log.info("no reactor: %s", error)
        return [ReactorBarred(NO_REACTOR)], None


async def _read(ports: Ports, watch: ReactorWatch) -> tuple[list[Fact], float]:
    facts: list[Fact] = []
    reactor, now = ports.state().reactor, ports.clock.monotonic()
    config, latency_s = reactor.config, 0.0
    is_old = watch.config_at is None or now - watch.config_at >= CONFIG_EVERY_S
    if config is None or not reactor.is_enabled or is_old:
        reply = await ports.client.call(REACTOR)
        watch.config_at, latency_s = now, reply.latency_s
        config = config_view(reply.answer)
        facts.append(seen_of(reply.answer, config, ports.client.skew_s or 0.0))
        facts += await _wallets(ports)
    if not config.enabled:
        return facts, latency_s
    pending = await ports.client.call(PENDING_SIGNALS, query=PendingQuery(caps=MAKER))
    ahead_s = ports.client.skew_s or 0.0
    listing = listing_of(
        pending.answer.reactor_signals,
        config,
        now=ports.now(),
        ahead_s=ahead_s,
        dropped=pending.dropped,
    )
    breaker = breaker_view(pending.answer.breaker, ahead_s)
    if breaker is None:
        breaker = await _breaker_by_reactions(ports, watch, ahead_s)
    facts.append(
        SignalsSeen(
            at=ports.now(),
            signals=tuple(listing.signals),
            breaker=breaker,
            day_spent=spent_of(pending.answer.daily_spent),
            labels=listing.labels,
            dropped=listing.dropped,
            broken=listing.broken,
        )
    )
    return facts, pending.latency_s


def seen_of(body: ReactorConfigBody, config: ReactorConfigView, ahead_s: float) -> ReactorSeen:
    """The fact that an answer with the config is."""
    return ReactorSeen(config, breaker_view(body.breaker, ahead_s), spent_of(body.daily_spent))


async def _wallets(ports: Ports) -> list[Fact]:
    """The wallets that the embedded service offers; no other does."""
    if not ports.state().service.embedded:
        return []
    try:
        reply = await ports.client.call(DESK_WALLETS)
    except ServiceError as error:
        log.info("cannot read the known wallets: %s", error)
        return []
    wallets = known_wallets(reply.answer.wallets)
    known = ports.state().reactor.known
    is_same = {one.address: one for one in wallets} == known
    return [] if is_same else [Loaded(KnownWalletView, wallets)]


async def _breaker_by_reactions(
    ports: Ports, watch: ReactorWatch, ahead_s: float
) -> BreakerView | None:
    """The breaker of a service that does not show it, as the published skill counts."""
    try:
        reply = await ports.client.call(REACTIONS, query=ReactionsQuery())
    except (NotFoundError, PlanRequiredError):
        return None
    return breaker_of_reactions(
        reply.answer.reactions, since=watch.breaker_reset_at, ahead_s=ahead_s
    )
