"""Addresses, conditions and events of questions on the venues, and which can be imported.

An address ends in the slot and number of its question, so that it is found by arithmetic; the words
before them must be the question's own.
"""

import hashlib
import re
from datetime import UTC, datetime
from functools import lru_cache
from typing import Final, NamedTuple

from service_tui.engine.books.liquidity import background, refresh_at
from service_tui.engine.listing import Listing, Origin
from service_tui.engine.tape.draws import mix, unit
from service_tui.engine.tape.recorded import MarketTape, RecordedTape
from service_tui.engine.tape.slots import IMPORT_SLOTS, SLOT_BY_INDEX, numbers_at
from service_tui.pasted import WebPlace
from service_tui.signing.tokens import outcome_token
from service_tui.terms import Side, Venue
from service_tui.units import Timestamp

HOSTS: Final = {Venue.EVM: "evm-venue.example", Venue.SOL: "sol-venue.example"}
# ours: names that nobody can own; the questions behind these addresses are invented.

PUBLIC_HOSTS: Final = {"polymarket.com": Venue.EVM, "kalshi.com": Venue.SOL}
"""The venues' own hosts, read in the same way. Source: wire reference, section 0."""

_SLUG_PARTS_MAX: Final = 100
"""Letters of a question that stand in its address."""

_TAIL: Final = re.compile(r"(?:^|-)e?(\d{1,5})-(\d{1,12})\Z")

_VOLUME: Final = (2_000.0, 400_000.0)
# ours: money traded in a day on the venue itself, log-uniform, a trait of the question.


class Event(NamedTuple):
    """Several questions that are the outcomes of one event. `slots` are those of its questions."""

    event_id: str
    name: str
    slug: str
    slots: tuple[int, ...]
    number: int


class CatalogueMatch(NamedTuple):
    """What an address or ticker points at: one question, or all of an event."""

    listings: tuple[Listing, ...]
    event: Event | None = None


@lru_cache(maxsize=4_096)
def condition_of(market_id: str) -> str:
    """The condition id of a market id that the oracle would report on: 0x and 64 hex digits."""
    return "0x" + hashlib.sha256(f"{market_id}:condition".encode()).hexdigest()


@lru_cache(maxsize=4_096)
def token_of(market_id: str, side: Side, *, neg_risk: bool) -> str:
    """The id of a side's outcome token, derived from its condition as the contract does it."""
    condition = bytes.fromhex(condition_of(market_id)[2:])
    return str(outcome_token(condition, is_yes=side is Side.YES, is_neg_risk=neg_risk))


def ticker_of(listing: Listing) -> str:
    """The short name that the Solana venue gives a question."""
    return f"{listing.category.value.upper()}-{listing.slot}-{listing.number}"


def slug_of(listing: Listing) -> str:
    """The last part of a question's address."""
    return f"{_slug_parts(listing.question)}-{listing.slot}-{listing.number}"


def url_of(listing: Listing) -> str | None:
    """Where the venue shows the question; None for one that only the market maker trades."""
    if listing.home not in HOSTS:
        return None
    last = slug_of(listing) if listing.home is Venue.EVM else ticker_of(listing)
    return f"https://{HOSTS[listing.home]}/event/{last}"


def venue_at(host: str) -> Venue | None:
    """The venue whose pages lie at a host; None for any other."""
    return PUBLIC_HOSTS.get(host) or next((one for one in HOSTS if HOSTS[one] == host), None)


def is_at(listing: Listing, place: WebPlace) -> bool:
    """True for the question that a page of its venue is about."""
    names = {slug_of(listing), ticker_of(listing).lower()}
    return venue_at(place.host) is listing.home and place.name.lower() in names


def event_url(event: Event, home: Venue) -> str:
    """Where the venue shows an event with all its outcomes."""
    return f"https://{HOSTS[home]}/event/{event.slug}"


def has_event(listing: Listing) -> bool:
    """Whether a question is one outcome of an event, so that its market is a negative-risk one."""
    slot = SLOT_BY_INDEX.get(listing.slot)
    return slot is not None and slot.event is not None


def event_of(listing: Listing) -> Event | None:
    """The event that a question is an outcome of; None if it belongs to none."""
    if listing.origin is not None:
        return _recorded_event(listing, listing.origin)
    slot = SLOT_BY_INDEX.get(listing.slot)
    if slot is None or slot.event is None:
        return None
    then = datetime.fromtimestamp(listing.resolves_at, UTC)
    name = f"{listing.tags[1].capitalize()}, {then:%Y-%m-%d %H:%M} UTC"
    return Event(
        event_id=f"event-{slot.event}-{listing.number}",
        name=name,
        slug=f"{_slug_parts(name)}-e{slot.event}-{listing.number}",
        slots=tuple(one.index for one in IMPORT_SLOTS if one.event == slot.event),
        number=listing.number,
    )


def _recorded_event(listing: Listing, origin: Origin) -> Event | None:
    """The event that the source names; its outcomes are found among those that are listed."""
    if not origin.event:
        return None
    return Event(
        event_id=f"event-{origin.source}-{_slug_parts(origin.event)}",
        name=origin.event,
        slug=f"{_slug_parts(origin.event)}-e{listing.slot}-{listing.number}",
        slots=(),
        number=listing.number,
    )


def outside_price(seed: int, listing: Listing, at: Timestamp) -> float | None:
    """Price of YES on the venue itself; None for a question that no venue trades."""
    if listing.home not in HOSTS:
        return None
    return round(background(seed, listing, refresh_at(listing, at)).external, 6)


def outside_volume(listing: Listing) -> float:
    """Money that a day brings on the venue itself."""
    low, high = _VOLUME
    return round(low * (high / low) ** unit(mix(listing.slot, listing.number), 3), 2)


def importable_at(tape: MarketTape, at: Timestamp) -> tuple[Listing, ...]:
    """Questions that the venues trade at a moment and that the tape lists on request only."""
    if isinstance(tape, RecordedTape):
        return ()
    return tuple(
        listing
        for slot in IMPORT_SLOTS
        for number in numbers_at(tape.seed, slot, at)
        if (listing := tape.listing_of(slot.index, number)).opens_at <= at < listing.resolves_at
    )


def named_by(tape: MarketTape, name: str, at: Timestamp) -> CatalogueMatch | None:
    """What the last part of an address, or a ticker, points at.

    Args:
        tape: the world's questions.
        name: text of others.
        at: moment of the tape; what opens later is not known yet.

    Returns:
        The question or the event, ended or not, in whatever letters it is named; None for anything
        else.
    """
    name = name.lower()
    found = _TAIL.search(name)
    if found is None:
        return None
    listing = _known(tape, int(found[1]), int(found[2]), at)
    if listing is None:
        return None
    event = event_of(listing)
    if name in {slug_of(listing), ticker_of(listing).lower()}:
        return CatalogueMatch((listing,), event)
    if event is None or event.slug != name:
        return None
    members = (_known(tape, slot, event.number, at) for slot in event.slots)
    return CatalogueMatch(tuple(one for one in members if one is not None), event)


def _known(tape: MarketTape, index: int, number: int, at: Timestamp) -> Listing | None:
    """A question that a venue has opened by a moment."""
    listing = tape.known(index, number, at)
    return None if listing is None or listing.home not in HOSTS else listing


@lru_cache(maxsize=4_096)
def _slug_parts(text: str) -> str:
    """Text as the lower-case words of an address."""
    parts = re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")
    return parts[:_SLUG_PARTS_MAX].rstrip("-")
