"""The reactor's wire bodies as views, with this desk's own bounds on what a service proposes.

Nothing of a signal is believed that its own fields or the config contradict. Source: failures,
T-24.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final

from service_tui.addresses import checksummed, is_address
from service_tui.desk.slices.reactor import (
    BreakerView,
    KnownWalletView,
    ReactorConfigView,
    SignalView,
    mirror_shares,
)
from service_tui.desk.wire_values import amount
from service_tui.terms import (
    BREAKER_S,
    FAILURES_MAX,
    ID_PATTERN,
    MIRROR_PRICE_MAX,
    SIGNAL_TTL_MAX_S,
    SIGNAL_TTL_S,
    Action,
)
from service_tui.units import ONE, Micros, Timestamp
from service_tui.wire.base import Moment, timestamp
from service_tui.wire.reactor import (
    BreakerBody,
    KnownWalletBody,
    ReactionBody,
    ReactorConfigBody,
    SignalBody,
)

COPYTRADE: Final = "copytrade"
"""Signals of another type are for other skills. Source: wire reference, 8."""

SIGNALS_READ_MAX: Final = 1_000
"""ours: of one listing; a feed that is fuller than that is no feed for a person."""

CENT: Final = ONE // 100
RUNNING: Final = "running"
FAILED: Final = "failed"
BUY: Final = "BUY"

# An id stands in a path and in a reaction; a market's in an order.
_ID: Final = re.compile(r"[A-Za-z0-9_:.\-]{1,256}", re.ASCII)
_MARKET_ID: Final = re.compile(ID_PATTERN, re.ASCII)


class BrokenSignalError(ValueError):
    """A signal that cannot be used; the text is the reason."""


@dataclass(slots=True)
class SignalListing:
    """Usable signals of one listing, oldest first, and the problems of the others."""

    signals: list[SignalView] = field(default_factory=list[SignalView])
    labels: dict[str, str] = field(default_factory=dict[str, str])
    dropped: int = 0
    broken: str = ""

    def drop(self, why: str, count: int = 1) -> None:
        """Count signals that cannot be used; the first reason is kept."""
        self.dropped += count
        self.broken = self.broken or why


def identity(tx_hash: str, signal_id: str | None) -> str:
    """Identity of a signal: its transaction, or the leg of it that it names.

    Returns:
        Small letters, so that no spelling makes a second one.
    """
    tx, own = tx_hash.strip().lower(), (signal_id or "").strip().lower()
    # An id that is not of its own transaction would let one trade be mirrored under many names.
    return own if own.startswith(f"{tx}:") else tx


def listing_of(
    bodies: Iterable[SignalBody],
    config: ReactorConfigView,
    *,
    now: Timestamp,
    ahead_s: float = 0.0,
    dropped: int = 0,
) -> SignalListing:
    """The signals of one answer.

    Args:
        bodies: as they came, oldest first.
        config: what bounds them.
        now: wall time.
        ahead_s: how far our clock is ahead of the service's.
        dropped: rows that were not of the protocol.

    Returns:
        Those that can be shown; one that cannot is counted, and the others go on.
    """
    listing = SignalListing()
    if dropped:
        listing.drop("malformed signal", dropped)
    known: set[str] = set()
    for place, body in enumerate(bodies):
        if body.type != COPYTRADE:
            continue
        if place >= SIGNALS_READ_MAX:
            listing.drop(f"more than {SIGNALS_READ_MAX:,} signals at once")
            continue
        try:
            view = signal_view(body, config, now=now, ahead_s=ahead_s)
        except (ValueError, ArithmeticError) as error:
            listing.drop(str(error) if isinstance(error, BrokenSignalError) else "invalid value")
            continue
        if view.signal_id not in known:
            known.add(view.signal_id)
            listing.signals.append(view)
            if body.taker_label:
                listing.labels[view.wallet] = body.taker_label
    return listing


def signal_view(
    body: SignalBody, config: ReactorConfigView, *, now: Timestamp, ahead_s: float = 0.0
) -> SignalView:
    """One signal within the bounds of the config.

    Returns:
        The signal; what it spends is cut to what the config allows.

    Raises:
        BrokenSignalError: its fields contradict themselves or the config.
    """
    why = _why_broken(body, config)
    if why:
        raise BrokenSignalError(f"{_named(body)}: {why}")
    price = body.taker_price
    spend = Micros(min(amount(body.amount) // CENT * CENT, mirror_max(body, config)))
    if not spend > 0:
        raise BrokenSignalError(f"{_named(body)}: amount rounds to 0")
    at, expires_at = _life(body, config, now, ahead_s)
    wallet = checksummed(body.taker_wallet)
    title = body.market_title or ("" if body.whale is None else body.whale.market_title)
    return SignalView(
        signal_id=identity(body.tx_hash, body.signal_id),
        tx_hash=body.tx_hash,
        wallet=wallet,
        label=body.taker_label or "",
        market_id=body.market_id,
        question=title,
        side=body.side,
        venue=body.venue or config.venue,
        size=amount(body.taker_size),
        price=price,
        amount=spend,
        price_max=min(MIRROR_PRICE_MAX, round(price * (1.0 + config.price_buffer), 6)),
        at=at,
        expires_at=expires_at,
        name=body.signal_id or body.tx_hash,
    )


def _why_broken(body: SignalBody, config: ReactorConfigView) -> str:
    """Problem of a signal; empty if it can be mirrored."""
    name = body.signal_id or body.tx_hash
    faults = {
        "invalid id": not (_ID.fullmatch(body.tx_hash) and _ID.fullmatch(name)),
        "invalid wallet address": not is_address(body.taker_wallet),
        "invalid market id": not _MARKET_ID.fullmatch(body.market_id),
        "only buys are mirrored": body.action is not Action.BUY or body.taker_side.upper() != BUY,
        "price not between 0 and 1": not 0 < body.taker_price < 1,
        "price above the mirror's limit": not body.taker_price <= MIRROR_PRICE_MAX,
        "size not above 0": not body.taker_size > 0,
        "spends nothing": not body.amount > 0,
        f"venue {body.venue} differs from the config": (
            body.venue is not None and body.venue is not config.venue
        ),
    }
    return next((why for why, is_so in faults.items() if is_so), "")


def _named(body: SignalBody) -> str:
    """The beginning of its hash, so that a person can find it."""
    return f"signal {body.tx_hash[:10] or 'without a hash'}"


def mirror_max(body: SignalBody, config: ReactorConfigView) -> Micros:
    """The most that a mirror may spend by the config, whatever the service computes.

    Returns:
        Whole cents, one more than the exact product, as both sides round.
    """
    exact = int(mirror_shares(amount(body.taker_size), config) * body.taker_price)
    return Micros(min(-(-exact // CENT) * CENT, config.daily_cap)) if exact > 0 else Micros(0)


def _life(
    body: SignalBody, config: ReactorConfigView, now: Timestamp, ahead_s: float
) -> tuple[Timestamp, Timestamp]:
    """From when until when a signal counts, by our clock; absurd times count as none."""
    ttl_s = min(SIGNAL_TTL_MAX_S, config.signal_ttl_s)
    at = _our_time(body.created_at, now, ahead_s)
    if at is None or not now - SIGNAL_TTL_MAX_S <= at <= now:
        at = now
    expires_at = _our_time(body.expires_at, now, ahead_s)
    if expires_at is None or not at <= expires_at <= now + SIGNAL_TTL_MAX_S:
        expires_at = Timestamp(at + ttl_s)
    return at, expires_at


def _our_time(moment: Moment | None, now: Timestamp, ahead_s: float) -> Timestamp | None:
    if moment is None:
        return None
    try:
        return Timestamp(timestamp(moment) + ahead_s)
    except (ValueError, OverflowError):
        # The year 1 of a service is before every clock.
        return now


# -- config, breaker and wallets ---------------------------------------------------------------


def config_view(body: ReactorConfigBody) -> ReactorConfigView:
    """The config; a figure out of its range is cut to it, so that nothing grows by a fault."""
    wallets = dict.fromkeys(checksummed(one) for one in body.wallets if is_address(one))
    ttl_s = body.signal_ttl_s or SIGNAL_TTL_S
    return ReactorConfigView(
        wallets=tuple(wallets),
        min_size=amount(body.min_size),
        max_size=amount(body.max_size),
        mirror_fraction=min(1.0, body.mirror_fraction),
        daily_cap=amount(body.daily_cap),
        venue=body.venue,
        enabled=body.enabled,
        price_buffer=min(0.2, body.price_buffer),
        signal_ttl_s=min(SIGNAL_TTL_MAX_S, ttl_s),
    )


def spent_of(body: float | None) -> Micros | None:
    """Cost of the day's mirrors, if the service reports it."""
    return None if body is None else amount(body)


def breaker_view(body: BreakerBody | None, ahead_s: float = 0.0) -> BreakerView | None:
    """The circuit breaker by our clock; None if the service does not report it."""
    if body is None:
        return None
    paused_at = None if body.paused_at is None else timestamp(body.paused_at) + ahead_s
    resets_at = None if body.resets_at is None else timestamp(body.resets_at) + ahead_s
    is_open = body.state != RUNNING
    if is_open and paused_at is None:
        paused_at = 0.0 if resets_at is None else resets_at - BREAKER_S
    return BreakerView(
        failures=body.failures,
        failures_max=body.failures_max,
        paused_at=Timestamp(paused_at) if is_open and paused_at is not None else None,
        resets_at=Timestamp(resets_at) if is_open and resets_at is not None else None,
        skipped=body.skipped,
    )


def breaker_of_reactions(
    reactions: Iterable[ReactionBody], *, since: Timestamp, ahead_s: float = 0.0
) -> BreakerView:
    """The circuit breaker, derived from reactions, newest first.

    Args:
        reactions: as the service lists them.
        since: what is older was reset here.
        ahead_s: how far our clock is ahead of the service's.

    Returns:
        It counts the failures in a row, and is open for an hour after the one that was too many.
    """
    failed: list[Timestamp | None] = []
    for one in reactions:
        at = None if one.created_at is None else Timestamp(timestamp(one.created_at) + ahead_s)
        if one.decision != FAILED or (at is not None and at <= since):
            break
        failed.append(at)
    if len(failed) < FAILURES_MAX:
        return BreakerView(failures=len(failed))
    # The oldest of the newest five is not the one that opened it, but none opened it before.
    newest = failed[0]
    if newest is None:
        return BreakerView(failures=len(failed), paused_at=Timestamp(since))
    return BreakerView(len(failed), FAILURES_MAX, newest, Timestamp(newest + BREAKER_S))


def known_wallets(bodies: Iterable[KnownWalletBody]) -> tuple[KnownWalletView, ...]:
    """The wallets that the service offers; one without an address is none."""
    return tuple(_known_wallet(body) for body in bodies if is_address(body.address))


def _known_wallet(body: KnownWalletBody) -> KnownWalletView:
    last_at = body.last_trade_at
    return KnownWalletView(
        address=checksummed(body.address),
        label=body.label,
        venue=body.venue,
        trades_count=body.trades_count,
        bought=amount(body.bought),
        win_count=body.win_count,
        loss_count=body.loss_count,
        realized=amount(body.realized_pnl),
        last_trade_at=None if last_at is None else timestamp(last_at),
    )
