"""The reactor: followed wallets, pending signals, and the circuit breaker.

A signal is no thing that is kept: it is a settlement of the last minute, seen through an agent's
own config.

Source: spec, "Reactor config", "Reactor flow", "Reactor circuit breaker"; decisions, "Reactor
sizing".
"""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Final, NamedTuple

from service_tui.engine.agents.agents import Agent
from service_tui.engine.agents.mirrors import MirrorReserves, mirrored_by
from service_tui.engine.amm.exchange import Order
from service_tui.engine.amm.market import Market
from service_tui.engine.books.book import shares_for
from service_tui.engine.books.orders import ORDER_MIN
from service_tui.engine.errors import DaySpend, SignalNotFound
from service_tui.engine.events import (
    BreakerReset,
    Reacted,
    ReactorChanged,
    ReactorEvent,
    Settlement,
    SignalDismissed,
)
from service_tui.engine.limits import TRADE_MAX
from service_tui.engine.listing import Listing
from service_tui.engine.reactor.wallet_records import WalletRecords
from service_tui.terms import (
    BREAKER_S,
    FAILURES_MAX,
    MIRROR_PRICE_MAX,
    SIGNAL_TTL_MAX_S,
    SIGNAL_TTL_S,
    Action,
    MarketStatus,
    Venue,
)
from service_tui.units import ONE, Micros, Timestamp, decimal

RECENT_MAX: Final = 1_000
"""Settlements kept; at the fastest pace of the tape a minute brings half as many."""

REACTIONS_KEPT: Final = 200

CENT: Final = Micros(ONE // 100)
FAILED: Final = "failed"
MIRRORED: Final = "mirrored"
RESET: Final = "reset"


@dataclass(frozen=True, slots=True)
class ReactorConfig:
    """What an agent has chosen. Sizes are micros of shares, `daily_cap` micros of money.

    ours: the values before anybody has chosen: nothing is followed, and mirrors would be small.
    """

    wallets: tuple[str, ...] = ()
    min_size: Micros = Micros(0)
    max_size: Micros = Micros(100 * ONE)
    mirror_fraction: float = 0.1
    daily_cap: Micros = Micros(100 * ONE)
    venue: Venue = Venue.SIM
    enabled: bool = False
    price_buffer: float = 0.02

    def matches(self, one: Settlement) -> bool:
        """Whether a settlement is one to mirror; only buys are. Source: spec, "Reactor flow", 4."""
        return (
            self.enabled
            and one.action is Action.BUY
            and one.shares >= self.min_size
            and one.wallet in self.wallets
        )

    def trades(self, listing: Listing) -> bool:
        """Whether a question is traded on the venue of the mirrors."""
        return self.venue is Venue.SIM or listing.home is self.venue


Pause = tuple[Timestamp, Timestamp]
"""From when until when the breaker was open, wall time."""


@dataclass(slots=True)
class ReactorState:
    """One agent's reactor. `pauses` are those that are over, `gone` is what was taken out."""

    config: ReactorConfig = ReactorConfig()
    failures: int = 0
    skipped: int = 0
    paused_at: Timestamp | None = None
    pauses: list[Pause] = field(default_factory=list[Pause])
    gone: dict[str, Timestamp] = field(default_factory=dict[str, Timestamp])
    reactions: list[Reacted] = field(default_factory=list[Reacted])

    def is_paused(self, at: Timestamp) -> bool:
        """Whether the breaker holds signals back at a moment."""
        # A clock that was set back by more than the pause must not lock anybody out.
        return self.paused_at is not None and -BREAKER_S < at - self.paused_at < BREAKER_S

    def pauses_until(self, at: Timestamp) -> list[Pause]:
        """The pauses that are over, with the one whose hour has just run out."""
        if self.paused_at is None or self.is_paused(at):
            return self.pauses
        return [*self.pauses, (self.paused_at, Timestamp(self.paused_at + BREAKER_S))]


class Breaker(NamedTuple):
    """The circuit breaker's state at a time; without times it is closed."""

    failures: int
    skipped: int
    paused_at: Timestamp | None = None
    resets_at: Timestamp | None = None


class Signal(NamedTuple):
    """A settlement that waits to be mirrored: `amount` is money of the mirror's venue."""

    signal_id: str
    settled: Settlement
    listing: Listing
    venue: Venue
    amount: Micros
    at: Timestamp
    expires_at: Timestamp


class When(NamedTuple):
    """A moment: wall time, the tape's, and how long signals live, seconds of wall time."""

    at: Timestamp
    world_at: Timestamp
    ttl_s: float = SIGNAL_TTL_S


def signal_id_of(one: Settlement) -> str:
    """The identity of a signal. Source: wire reference, 8."""
    if one.leg < 0:
        return one.tx_hash
    # Where the wallet was the maker, one transaction may have filled it several times.
    # ours: a number of the side's own, as the signals of earlier versions have it.
    digest = hashlib.sha256(f"{one.market_id}:{one.side.value}".encode()).hexdigest()
    token = int(digest, 16)
    return f"{one.tx_hash}:maker:{one.leg}:{one.wallet.lower()}:{token}"


class Reactor:
    """The reactors of all agents, over the settlements of the last minutes."""

    __slots__ = ("mirrors", "recent", "records", "states")

    def __init__(self, mirrors: MirrorReserves) -> None:
        self.mirrors = mirrors
        self.records = WalletRecords()
        self.states: dict[str, ReactorState] = {}
        self.recent: dict[str, tuple[Settlement, Timestamp]] = {}

    # -- readings --------------------------------------------------------------------------

    def state(self, agent_id: str) -> ReactorState:
        """An agent's reactor; an empty one, not kept, where it has set nothing."""
        return self.states.get(agent_id) or ReactorState()

    def breaker(self, agent_id: str, at: Timestamp) -> Breaker:
        """State of an agent's circuit breaker."""
        state = self.state(agent_id)
        if state.paused_at is None:
            return Breaker(state.failures, state.skipped)
        if not state.is_paused(at):
            return Breaker(0, state.skipped)
        resets_at = Timestamp(state.paused_at + BREAKER_S)
        return Breaker(state.failures, state.skipped, state.paused_at, resets_at)

    def reactions(self, agent_id: str, at: Timestamp, limit: int) -> list[Reacted]:
        """What became of an agent's signals, newest first; a breaker that closed is among them."""
        state = self.state(agent_id)
        found = state.reactions[: -limit - 1 : -1]
        if state.paused_at is not None and not state.is_paused(at):
            found.insert(0, _closed(agent_id, Timestamp(state.paused_at + BREAKER_S)))
        return found[:limit]

    def spent_today(self, agent_id: str, at: Timestamp) -> Micros:
        """What an agent's mirrors have cost since midnight UTC, on the venue of its config."""
        return self.mirrors.spent_today(agent_id, self.state(agent_id).config.venue, at)

    def cap_left(self, agent_id: str, at: Timestamp) -> Micros:
        """What an agent's mirrors may still cost today, >= 0."""
        cap = self.state(agent_id).config.daily_cap
        return Micros(max(0, cap - self.spent_today(agent_id, at)))

    def check_cap(self, order: Order, at: Timestamp) -> None:
        """Whether a mirror keeps within the daily cap of its agent; any other trade passes.

        Raises:
            DaySpend: the mirrors of the day would cost more.
        """
        state = self.states.get(order.agent.agent_id)
        is_mirror = order.action is Action.BUY and mirrored_by(order.note) is not None
        if state is None or not is_mirror or order.venue is not state.config.venue:
            return
        # ours: signals wait side by side, so that the last of them may find no room any more.
        if not order.size <= self.cap_left(order.agent.agent_id, at):
            cap = decimal(state.config.daily_cap)
            raise DaySpend(
                f"the daily cap of mirrors is reached: {cap:,.2f}",
                "mirror it for less, raise daily_cap, or wait for midnight UTC",
            )

    def pending(
        self, agent: Agent, markets: Mapping[str, Market], when: When, *, maker: bool = False
    ) -> list[Signal]:
        """The signals that wait for an agent, oldest first.

        Each amount is cut to what mirrors have left of the daily cap: one that waits has spent
        nothing. `check_cap` keeps the mirrors themselves within it.

        Args:
            agent: whose config counts.
            markets: what is listed.
            when: the moment.
            maker: whether fills in which the wallet was the maker are wanted.

        Returns:
            Signals that can be traded now.
        """
        state = self.states.get(agent.agent_id)
        if state is None or not state.config.enabled or state.is_paused(when.at):
            return []
        config = state.config
        left = self.cap_left(agent.agent_id, when.at)
        done = self.mirrors.done.get(agent.agent_id, {})
        found: list[Signal] = []
        for signal_id, (one, seen_at) in self.recent.items():
            market = markets.get(one.market_id)
            if (
                market is None
                or not _waits(state, signal_id, (one, seen_at), when)
                or (one.leg >= 0 and not maker)
                or not config.trades(market.listing)
                or market.status(when.world_at) is not MarketStatus.ACTIVE
            ):
                continue
            # One that is mirrored and not yet taken out shows what it has cost.
            amount = done.get(signal_id) or done.get(one.tx_hash)
            if amount is None:
                amount = mirror_amount(config, one, agent, left)
            if amount > 0:
                expires_at = Timestamp(seen_at + when.ttl_s)
                found.append(
                    Signal(
                        signal_id, one, market.listing, config.venue, amount, seen_at, expires_at
                    )
                )
        return found

    def follows(self, one: Settlement, home: Venue) -> bool:
        """Whether any agent would mirror a settlement in a question of a venue."""
        return any(
            state.config.matches(one) and state.config.venue in {Venue.SIM, home}
            for state in self.states.values()
        )

    def ids_of(self, name: str) -> list[str]:
        """The signals that an id or the hash of a transaction names.

        Returns:
            At least one.

        Raises:
            SignalNotFound: none is known by that name.
        """
        tx_hash = name.lower()
        found = [tx_hash] if tx_hash in self.recent else []
        found = found or [key for key, (one, _) in self.recent.items() if one.tx_hash == tx_hash]
        if not found:
            raise SignalNotFound(f"signal not found: {name}")
        return found

    # -- events ----------------------------------------------------------------------------

    def note(self, one: Settlement, at: Timestamp) -> bool:
        """Take in a settlement.

        Returns:
            True if it is new: a repeated one counts once.
        """
        signal_id = signal_id_of(one)
        if signal_id in self.recent:
            return False
        self.recent[signal_id] = one, at
        while self.recent:
            oldest, (_, seen_at) = next(iter(self.recent.items()))
            if len(self.recent) <= RECENT_MAX and at - seen_at < SIGNAL_TTL_MAX_S:
                break
            del self.recent[oldest]
        for state in self.states.values():
            if state.is_paused(at) and state.config.matches(one):
                state.skipped += 1
        return True

    def apply(self, event: ReactorEvent) -> None:
        """Change by something that an agent or its operator did."""
        state = self.states.setdefault(event.agent_id, ReactorState())
        _wake(state, event.agent_id, event.at)
        match event:
            case ReactorChanged():
                changes = event.changes
                state.config = replace(state.config, **changes)  # pyright: ignore[reportArgumentType]
            case SignalDismissed():
                state.gone = {key: then for key, then in state.gone.items() if key in self.recent}
                state.gone[event.signal_id] = event.at
            case BreakerReset():
                if state.paused_at is not None:
                    _close(state, event.agent_id, event.at)
                state.failures = 0
            case Reacted():
                _keep(state, event)
                _count(state, event)


def followed_wallets(reactor: Reactor) -> frozenset[str]:
    """The wallets that any agent follows."""
    return frozenset(one for state in reactor.states.values() for one in state.config.wallets)


def _waits(
    state: ReactorState, signal_id: str, seen: tuple[Settlement, Timestamp], when: When
) -> bool:
    """True if a settlement is a signal of an agent's watchlist and not yet taken out."""
    one, seen_at = seen
    return (
        # A clock that was set back makes nothing wait for longer than a life.
        abs(when.at - seen_at) < when.ttl_s
        and state.config.matches(one)
        and signal_id not in state.gone
        and not any(since <= seen_at < until for since, until in state.pauses_until(when.at))
    )


def price_bound(config: ReactorConfig, one: Settlement) -> float:
    """The most that a mirror pays for a share, six decimals."""
    return min(MIRROR_PRICE_MAX, round(one.price * (1.0 + config.price_buffer), 6))


def shares_max(reactor: Reactor, order: Order) -> Micros | None:
    """The most shares that a mirror may buy, whatever the price has become since.

    Returns:
        The share of the source trade that it mirrors, at most `max_size`; `max_size` where the
        source is not remembered any more. None where the order mirrors nothing.
    """
    state = reactor.states.get(order.agent.agent_id)
    signal = mirrored_by(order.note)
    if state is None or signal is None or order.action is not Action.BUY:
        return None
    try:
        sources = [reactor.recent[found][0] for found in reactor.ids_of(signal)]
    except SignalNotFound:
        return state.config.max_size
    # A hash may name several fills: whichever is meant, no more than the largest allows.
    return max(mirror_shares(state.config, one) for one in sources)


def mirror_shares(config: ReactorConfig, one: Settlement) -> Micros:
    """The most shares that a mirror of a settlement buys."""
    return min(Micros(int(one.shares * config.mirror_fraction)), config.max_size)


def mirror_amount(config: ReactorConfig, one: Settlement, agent: Agent, left: Micros) -> Micros:
    """What a mirror spends.

    Args:
        config: the agent's choice.
        one: the source trade.
        agent: whose own limit of one trade counts on real venues.
        left: what is left of the daily cap.

    Returns:
        Money in whole cents; 0 where that would be below the venue's minimum.
    """
    shares = mirror_shares(config, one)
    # ours: above what one trade may be, every mirror would fail.
    most = TRADE_MAX.get(config.venue, agent.settings.max_trade)
    amount = Micros(min(int(shares * one.price), most, left) // CENT * CENT)
    least = ORDER_MIN.get(config.venue, Micros(0))
    # The venue counts the shares that the money buys at the bound itself.
    bound = Micros(round(price_bound(config, one) * ONE))
    return amount if shares_for(amount, bound) >= least else Micros(0)


def _wake(state: ReactorState, agent_id: str, at: Timestamp) -> None:
    """Close a breaker whose hour is over."""
    if state.paused_at is not None and not state.is_paused(at):
        _close(state, agent_id, Timestamp(state.paused_at + BREAKER_S))


def _close(state: ReactorState, agent_id: str, at: Timestamp) -> None:
    """Let signals through again, and record that among the reactions.

    Without that row the newest five would all be failures still, at which a skill stops.
    """
    if state.paused_at is not None:
        # Older ones are older than any signal that could still wait.
        recent = [one for one in state.pauses if at - one[1] < SIGNAL_TTL_MAX_S]
        state.pauses = [*recent, (state.paused_at, at)]
    state.paused_at, state.failures = None, 0
    _keep(state, _closed(agent_id, at))


def _closed(agent_id: str, at: Timestamp) -> Reacted:
    return Reacted(agent_id, at, "", RESET, {})


def _keep(state: ReactorState, reaction: Reacted) -> None:
    state.reactions.append(reaction)
    del state.reactions[:-REACTIONS_KEPT]


def _count(state: ReactorState, reaction: Reacted) -> None:
    """Count failures in a row; what was not tried at all is neither one nor a success."""
    if state.paused_at is not None:
        # Mirrors that were on their way when the breaker opened neither close it nor hold it open.
        return
    if reaction.decision == MIRRORED:
        state.failures = 0
    elif reaction.decision == FAILED:
        state.failures += 1
        if state.failures >= FAILURES_MAX:
            state.paused_at, state.skipped = reaction.at, 0
