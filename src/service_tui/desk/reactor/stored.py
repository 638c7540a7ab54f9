"""Stored signals and wallet choices, and the reactor's slice at the start of a desk."""

import logging
from collections.abc import Iterable
from dataclasses import replace

from service_tui.desk.slices.reactor import (
    SIGNALS_MAX,
    Policy,
    ReactorView,
    SignalState,
    SignalView,
    Tally,
    WalletChoice,
)
from service_tui.storage.errors import StorageError
from service_tui.storage.reactor import StoredReactor, StoredSignal, StoredTally, StoredWallet
from service_tui.terms import Side, Venue
from service_tui.units import Micros, Timestamp

log = logging.getLogger(__name__)


def row_of(signal: SignalView) -> StoredSignal:
    """A signal as it is stored."""
    return StoredSignal(
        signal_id=signal.signal_id,
        tx_hash=signal.tx_hash,
        wallet=signal.wallet,
        label=signal.label,
        market_id=signal.market_id,
        question=signal.question,
        side=signal.side.value,
        venue=signal.venue.value,
        size=int(signal.size),
        price=signal.price,
        amount=int(signal.amount),
        price_max=signal.price_max,
        at=signal.at,
        expires_at=signal.expires_at,
        state=signal.state.value,
        words=signal.detail,
        price_now=signal.price_now,
        ticket_id=signal.ticket_id,
        shares=int(signal.shares),
        cost=int(signal.cost),
        name=signal.name,
        sold=int(signal.sold),
        proceeds=int(signal.proceeds),
    )


def view_of(row: StoredSignal) -> SignalView | None:
    """A stored signal as it is shown; None where it has no meaning here."""
    try:
        side, venue, state = Side(row.side), Venue(row.venue), SignalState(row.state)
    except ValueError:
        return None
    return SignalView(
        signal_id=row.signal_id,
        tx_hash=row.tx_hash,
        wallet=row.wallet,
        label=row.label,
        market_id=row.market_id,
        question=row.question,
        side=side,
        venue=venue,
        size=Micros(row.size),
        price=row.price,
        amount=Micros(row.amount),
        price_max=row.price_max,
        at=Timestamp(row.at),
        expires_at=Timestamp(row.expires_at),
        state=state,
        detail=row.words,
        price_now=row.price_now,
        ticket_id=row.ticket_id,
        shares=Micros(row.shares),
        cost=Micros(row.cost),
        name=row.name,
        sold=Micros(row.sold or 0),
        proceeds=Micros(row.proceeds or 0),
    )


def choice_of(row: StoredWallet) -> WalletChoice | None:
    """A stored choice; None where it has no meaning here."""
    try:
        return WalletChoice(row.address, row.label, Policy(row.policy))
    except ValueError:
        return None


def known_reactor(stored: StoredReactor, initial: ReactorView) -> ReactorView:
    """The slice with which a desk begins: what it saw and chose before. Blocks.

    Returns:
        The slice; the given one where nothing can be read.
    """
    try:
        views = [view_of(row) for row in stored.recent(SIGNALS_MAX)]
        choices = [choice_of(row) for row in stored.wallets()]
        past = past_of(stored.tallies(beyond=SIGNALS_MAX))
    except StorageError as error:
        log.warning("cannot read the signals of earlier runs: %s", error)
        return initial
    signals = tuple(one for one in views if one is not None)
    chosen = {one.address: one for one in choices if one is not None}
    return replace(initial, signals=signals, choices=chosen, past=past)


def past_of(rows: Iterable[StoredTally]) -> dict[str, Tally]:
    """The tallies of older signals, by wallet."""
    past: dict[str, Tally] = {}
    for row in rows:
        old = past.get(row.wallet) or Tally()
        counts = {state: row.count if row.state == state.value else 0 for state in SignalState}
        last_at = Timestamp(row.last_at if old.last_at is None else max(row.last_at, old.last_at))
        past[row.wallet] = Tally(
            signals_count=old.signals_count + row.count,
            mirrored_count=old.mirrored_count + counts[SignalState.MIRRORED],
            skipped_count=old.skipped_count + counts[SignalState.SKIPPED],
            failed_count=old.failed_count + counts[SignalState.FAILED],
            spent=Micros(old.spent + row.spent),
            shares=Micros(old.shares + row.shares),
            source_cost=Micros(old.source_cost + round(row.source_cost)),
            pnl=Micros(old.pnl + round(row.pnl)),
            last_at=last_at,
        )
    return past
