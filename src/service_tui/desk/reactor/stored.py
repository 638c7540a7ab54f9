"""Stored signals and wallet choices, and the reactor's slice at the start of a desk."""

import logging
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import TypeVar

from service_tui.desk.slices.reactor import (
    SIGNALS_MAX,
    ReactorView,
    SignalState,
    SignalView,
    Tally,
    WalletChoice,
)
from service_tui.records import Named, fields_of_record, read
from service_tui.storage.errors import StorageError
from service_tui.storage.reactor import StoredReactor, StoredTally
from service_tui.units import Micros, Timestamp

log = logging.getLogger(__name__)

Made = TypeVar("Made")


def row_of(signal: SignalView) -> Named:
    """A signal as it is stored; on disk since the first version under another name of `detail`."""
    fields = fields_of_record(signal)
    return fields | {"words": fields.pop("detail")}


def view_of(row: Named) -> SignalView:
    """A stored signal.

    Raises:
        ValueError: it has no meaning here.
    """
    fields = {"detail" if name == "words" else name: row[name] for name in row}
    # Versions that did not follow sales left these empty.
    unsold = {name: fields.get(name) or 0 for name in ("sold", "proceeds")}
    return read(SignalView, fields | unsold)


def known_reactor(stored: StoredReactor, initial: ReactorView) -> ReactorView:
    """The slice with which a desk begins: what it saw and chose before. Blocks.

    Returns:
        The slice; the given one where nothing can be read.
    """
    try:
        signals = _meant(view_of, stored.recent(SIGNALS_MAX))
        choices = _meant(partial(read, WalletChoice), stored.wallets())
        past = past_of(stored.tallies(beyond=SIGNALS_MAX))
    except StorageError as error:
        log.warning("cannot read the signals of earlier runs: %s", error)
        return initial
    chosen = {one.address: one for one in choices}
    return replace(initial, signals=tuple(signals), choices=chosen, past=past)


def _meant(made: Callable[[Named], Made], rows: Iterable[Named]) -> list[Made]:
    """What the rows are made into, without those that have no meaning here."""
    found: list[Made] = []
    for row in rows:
        with suppress(ValueError):
            found.append(made(row))
    return found


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
