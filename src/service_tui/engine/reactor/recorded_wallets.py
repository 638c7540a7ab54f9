"""Wallets of a recorded tape: their trades in a step, and their labels."""

import hashlib
from collections.abc import Iterable, Iterator
from operator import attrgetter
from typing import Final, NamedTuple

from service_tui.engine.events import CrowdTrade, Settlement
from service_tui.engine.listing import Listing
from service_tui.engine.reactor.reactor import followed_wallets
from service_tui.engine.reactor.wallet_trades import WalletContext, trades_of_wallets
from service_tui.engine.reactor.wallets import ROSTER, address_of
from service_tui.engine.tape.history import RecordedMarkets, RecordedTrade
from service_tui.engine.tape.recorded import SLOT, MarketTape
from service_tui.terms import Venue
from service_tui.units import Micros, Timestamp

MOVE_MAX: Final = 100
"""Trades of one step, those of followed wallets not counted: the largest. # ours: an hour of a
large recording has thousands, and each is written down."""

SHOWN_MAX: Final = 50
"""Recorded wallets that are offered. # ours: more than a person can compare."""


class KnownWallet(NamedTuple):
    """A wallet that trades here; `label` is empty for a recorded one, known by its address."""

    address: str
    label: str
    venue: Venue


def _recording_of(tape: MarketTape, at: Timestamp) -> RecordedMarkets | None:
    """The recording whose wallets trade, from their first trade on: that one will is the future."""
    recording = tape.recording
    first = None if recording is None else recording.wallets_from
    return recording if first is not None and first <= at else None


def settlements_in(
    context: WalletContext, span: tuple[int, Timestamp, Timestamp], crowd: Iterable[CrowdTrade]
) -> tuple[Settlement, ...]:
    """The trades of wallets in one tick: the recorded ones from the first of them on, else drawn.

    Args:
        context: the world.
        span: number of the move of the tape, and the tape's time before and after it.
        crowd: what the crowd trades in it.

    Returns:
        Their settlements, in order. A recorded one moves no price here: what it did to the price is
        in the recorded one.
    """
    _, since, until = span
    recording = _recording_of(context.tape, until)
    if recording is None:
        return trades_of_wallets(context, span, crowd)
    found = list(_settlements(context, recording.trades(since, until), until))
    followed = followed_wallets(context.reactor)
    others = [one for one in found if one.wallet not in followed]
    if len(others) > MOVE_MAX:
        others.sort(key=lambda one: -one.shares * one.price)
        dropped = set(map(attrgetter("tx_hash"), others[MOVE_MAX:]))
        found = [one for one in found if one.tx_hash not in dropped]
    return tuple(found)


def _settlements(
    context: WalletContext, trades: Iterable[RecordedTrade], at: Timestamp
) -> Iterator[Settlement]:
    for one in trades:
        listing = context.tape.known(SLOT, one.market, at)
        market = None if listing is None else context.markets.get(listing.market_id)
        if listing is not None and market is not None and market.resolved_at is None:
            yield _settlement(one, listing)


def _settlement(one: RecordedTrade, listing: Listing) -> Settlement:
    # The hash of the chain may stand for several trades; here each has its own.
    named = f"{one.number}:{one.wallet}:{listing.market_id}"
    return Settlement(
        tx_hash="0x" + hashlib.sha256(named.encode()).hexdigest(),
        wallet=one.wallet,
        # A recorded wallet has no name: screens show the ends of its address.
        label="",
        # An address is a wallet of the chain.
        venue=Venue.EVM,
        market_id=listing.market_id,
        slot=listing.slot,
        number=listing.number,
        side=one.side,
        action=one.action,
        shares=one.shares,
        price=round(one.price, 6),
        cost=Micros(0),
        leg=0 if one.waited else -1,
    )


def known_wallets(context: WalletContext, at: Timestamp) -> tuple[KnownWallet, ...]:
    """The wallets with names; from the first recorded trade on those that have traded most here.

    Args:
        context: the world.
        at: the tape's time.

    Returns:
        One row each; nothing in them tells what comes later.
    """
    named = {
        address_of(context.seed, one): KnownWallet(
            address_of(context.seed, one), one.label, one.venue
        )
        for one in ROSTER
    }
    if _recording_of(context.tape, at) is None:
        return tuple(named.values())
    counted = sorted(
        (-record.trades_count, address)
        for address, record in context.reactor.records.by_address.items()
    )
    recorded = (KnownWallet(address, "", Venue.EVM) for _, address in counted)
    return tuple(named.get(one.address, one) for one in recorded)[:SHOWN_MAX]
