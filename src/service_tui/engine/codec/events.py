"""Events as JSON and back: what the journal's rows hold.

A field is added at the end of a record, with a default, and never moved: yesterday's rows must read
today.
"""

import json
from collections.abc import Callable
from typing import Any, Final

from service_tui.engine.codec.chain import CHAIN_DECODERS
from service_tui.engine.codec.notify import NOTIFY_DECODERS
from service_tui.engine.events import (
    KINDS,
    AgentChanged,
    AgentRegistered,
    AlertEnded,
    Breached,
    BreakerReset,
    Claimed,
    ClientSeen,
    CrowdTrade,
    Event,
    ExperimentLogged,
    Fill,
    HaltSet,
    HeldEnded,
    KeyRotated,
    LeashSet,
    MarketListed,
    MarketResolved,
    MonitorDeleted,
    MonitorSet,
    Note,
    OperatorActed,
    OrderEnded,
    OrderFilled,
    OrderPlaced,
    Payout,
    PeakRaised,
    PlanSet,
    PositionRedeemed,
    Reacted,
    ReactorChanged,
    SessionBegun,
    Settlement,
    SignalDismissed,
    SpeedSet,
    Ticked,
    TradeFailed,
    TradeHeld,
)
from service_tui.engine.listing import Listing, NewsReport
from service_tui.terms import (
    Action,
    AlertStatus,
    Category,
    Direction,
    ExitReason,
    ExperimentStatus,
    HeldStatus,
    LeashMode,
    OrderEnd,
    OrderType,
    Plan,
    Side,
    Venue,
    WalletKind,
)

Fields = list[Any]
"""A record's fields in order, as JSON gives them; every use below makes typed values of them."""

Named = dict[str, Any]
"""A record's fields by name, likewise."""


class JournalError(ValueError):
    """A row of the journal that this program cannot read."""


class NewerJournalError(JournalError):
    """A row or a snapshot that a newer program has written: nothing is wrong with it."""


def listing_fields(listing: Listing) -> Named:
    """A listing as JSON-able fields by name."""
    # As `asdict` would, without its copies of what never changes: a world writes eighty at once.
    return {name: getattr(listing, name) for name in Listing.__slots__}


def listing_of(fields: Named) -> Listing:
    """A listing from its fields."""
    known: Named = {
        **fields,
        "category": Category(fields["category"]),
        "tags": tuple(fields["tags"]),
        "news": tuple(NewsReport(*row) for row in fields["news"]),
        "home": Venue(fields.get("home", Venue.SIM)),
    }
    return Listing(**known)


def note_of(fields: Fields) -> Note:
    """The trader's note, read back."""
    return Note(*fields)


def fill_of(fields: Fields) -> Fill:
    """A fill, read back."""
    head, side, action, tail = fields[:3], Side(fields[3]), Action(fields[4]), fields[5:-1]
    known: Fields = [*head, side, action, *tail, note_of(fields[-1])]
    return Fill(*known)


def payout_of(fields: Fields) -> Payout:
    """A payout, read back."""
    sources = None if len(fields) < _PAYOUT or fields[-1] is None else tuple(fields[-1])
    known: Fields = [fields[0], Side(fields[1]), *fields[2:_PAYOUT_OLD], sources]
    return Payout(*known)


_PAYOUT: Final = len(Payout._fields)
_PAYOUT_OLD: Final = _PAYOUT - 1
"""How many fields a payout has, and how many before it named its sources."""


def order_of(fields: Fields) -> OrderPlaced:
    """An order that was placed, read back."""
    known: Fields = [
        *fields[:2],
        Venue(fields[2]),
        fields[3],
        Side(fields[4]),
        Action(fields[5]),
        OrderType(fields[6]),
        *fields[7:22],
        _taken_of(fields[22]),
        note_of(fields[23]),
        *fields[24:],
    ]
    return OrderPlaced(*known)


def order_end_of(fields: Fields) -> OrderEnded:
    """The end of an order, read back."""
    known: Fields = [*fields[:3], OrderEnd(fields[3]), *fields[4:]]
    return OrderEnded(*known)


def redeemed_of(fields: Fields) -> PositionRedeemed:
    """A redemption, read back."""
    known: Fields = [fields[0], Venue(fields[1]), fields[2], Side(fields[3]), *fields[4:]]
    return PositionRedeemed(*known)


def claimed_of(fields: Fields) -> Claimed:
    """The end of a redemption on the chain, read back."""
    known: Fields = [fields[0], Venue(fields[1]), fields[2], Side(fields[3]), *fields[4:]]
    return Claimed(*known)


def order_fill_of(fields: Fields) -> OrderFilled:
    """A part of a resting order that was met, read back."""
    side, action, source, venue, *rest = [*fields[10:], *_OMITTED[len(fields) - 10 :]]
    known: Fields = [
        *fields[:9],
        _taken_of(fields[9]),
        side and Side(side),
        action and Action(action),
        source,
        venue and Venue(venue),
        *rest,
    ]
    return OrderFilled(*known)


_OMITTED: Final = (None, None, "", None)
"""What rows of older programs leave out."""


def _taken_of(rows: Fields) -> tuple[tuple[Any, ...], ...]:
    return tuple(tuple(row) for row in rows)


def _ticked_of(fields: Fields) -> Ticked:
    at, world_at, trades, *rest = fields
    settled = tuple(settlement_of(row) for row in rest[1]) if len(rest) > 1 else ()
    return Ticked(at, world_at, _trades_of(trades), *rest[:1], settled=settled)


def settlement_of(fields: Fields) -> Settlement:
    """A trade of a named wallet, read back."""
    known: Fields = [
        *fields[:3],
        Venue(fields[3]),
        *fields[4:7],
        Side(fields[7]),
        Action(fields[8]),
        *fields[9:],
    ]
    return Settlement(*known)


def reactor_config_of(changes: Named) -> Named:
    """What an agent chose for its reactor, with the types that its config has."""
    kinds: dict[str, Callable[[Any], object]] = {"wallets": tuple, "venue": Venue}
    return {name: kinds.get(name, lambda as_is: as_is)(value) for name, value in changes.items()}


def _trades_of(rows: Fields) -> tuple[CrowdTrade, ...]:
    return tuple(CrowdTrade(row[0], Side(row[1]), *row[2:]) for row in rows)


def _listed_of(fields: Fields) -> MarketListed:
    at, world_at, listing, *rest = fields
    opening = _trades_of(rest[0]) if rest else ()
    return MarketListed(at, world_at, listing_of(listing), opening, *rest[1:])


def _resolved_of(fields: Fields) -> MarketResolved:
    payouts = tuple(payout_of(row) for row in fields[4])
    settled = fields[6] if len(fields) > len(_RESOLVED_OLD) else ()
    on_venues = tuple((Venue(venue), payout_of(row)) for venue, row in settled)
    known: Fields = [*fields[:4], payouts, fields[5], on_venues]
    return MarketResolved(*known)


_RESOLVED_OLD: Final = MarketResolved._fields[:6]
"""Fields of a resolution before it included the real venues."""


def _agent_of(fields: Fields) -> AgentRegistered:
    known: Fields = [*fields[:6], Plan(fields[6]), *fields[7:]]
    return AgentRegistered(*known)


def _change_of(fields: Fields) -> AgentChanged:
    agent_id, at, changes = fields
    if "plan" in changes:
        changes["plan"] = Plan(changes["plan"])
    if "wallet" in changes:
        changes["wallet"] = WalletKind(changes["wallet"])
    return AgentChanged(agent_id, at, changes)


def _reactor_of(fields: Fields) -> ReactorChanged:
    agent_id, at, changes = fields
    return ReactorChanged(agent_id, at, reactor_config_of(changes))


def _failed_of(fields: Fields) -> TradeFailed:
    known: Fields = [*fields[:3], Side(fields[3]), *fields[4:]]
    return TradeFailed(*known)


def _monitor_of(fields: Fields) -> MonitorSet:
    known: Fields = [*fields[:2], Venue(fields[2]), fields[3], Side(fields[4]), *fields[5:]]
    return MonitorSet(*known)


def _monitor_end_of(fields: Fields) -> MonitorDeleted:
    known: Fields = [*fields[:2], Venue(fields[2]), fields[3], Side(fields[4]), *fields[5:]]
    return MonitorDeleted(*known)


def _peak_of(fields: Fields) -> PeakRaised:
    known: Fields = [*fields[:2], Venue(fields[2]), fields[3], Side(fields[4]), *fields[5:]]
    return PeakRaised(*known)


def breach_of(fields: Fields) -> Breached:
    """A breach, read back."""
    where = Venue(fields[4]), fields[5], Side(fields[6])
    known: Fields = [*fields[:4], *where, ExitReason(fields[7]), *fields[8:]]
    return Breached(*known)


def _alert_end_of(fields: Fields) -> AlertEnded:
    known: Fields = [*fields[:4], AlertStatus(fields[4]), *fields[5:]]
    return AlertEnded(*known)


def experiment_of(fields: Fields) -> ExperimentLogged:
    """The result of an experiment, read back."""
    status, direction = ExperimentStatus(fields[6]), Direction(fields[10])
    known: Fields = [*fields[:6], status, *fields[7:10], direction, *fields[11:]]
    return ExperimentLogged(*known)


def session_of(fields: Fields) -> SessionBegun:
    """The beginning of a series, read back."""
    known: Fields = [*fields[:7], Direction(fields[7]), *fields[8:]]
    return SessionBegun(*known)


def _leash_of(fields: Fields) -> LeashSet:
    mode = fields[3] and LeashMode(fields[3])
    known: Fields = [*fields[:3], mode, *fields[4:]]
    return LeashSet(*known)


def held_of(fields: Fields) -> TradeHeld:
    """A trade that waits, read back."""
    venue, market_id, side, action, size, kind, price, expiration, note, *rest = fields[4:]
    known: Fields = [
        *fields[:4],
        Venue(venue),
        market_id,
        Side(side),
        Action(action),
        size,
        kind and OrderType(kind),
        price,
        expiration,
        note_of(note),
        *rest,
    ]
    return TradeHeld(*known)


def held_end_of(fields: Fields) -> HeldEnded:
    """How a waiting trade was decided, read back."""
    known: Fields = [*fields[:2], HeldStatus(fields[2]), *fields[3:]]
    return HeldEnded(*known)


def acted_of(fields: Fields) -> OperatorActed:
    """What a person changed, read back."""
    return OperatorActed(*fields)


_DECODERS: Final[dict[str, Callable[[Fields], Event]]] = {
    "agent": _agent_of,
    "change": _change_of,
    "listed": _listed_of,
    "fill": fill_of,
    "crowd": _ticked_of,
    "resolved": _resolved_of,
    "speed": lambda fields: SpeedSet(*fields),
    "key": lambda fields: KeyRotated(*fields),
    "plan": lambda fields: PlanSet(fields[0], Plan(fields[1])),
    "order": order_of,
    "order_fill": order_fill_of,
    "order_end": order_end_of,
    "redeemed": redeemed_of,
    "client": lambda fields: ClientSeen(*fields),
    "failed": _failed_of,
    "halt": lambda fields: HaltSet(*fields),
    "monitor": _monitor_of,
    "monitor_end": _monitor_end_of,
    "peak": _peak_of,
    "breach": breach_of,
    "alert_end": _alert_end_of,
    "reactor": _reactor_of,
    "signal_gone": lambda fields: SignalDismissed(*fields),
    "reaction": lambda fields: Reacted(*fields),
    "breaker_reset": lambda fields: BreakerReset(*fields),
    "claimed": claimed_of,
    **CHAIN_DECODERS,
    "experiment": experiment_of,
    "session": session_of,
    "leash": _leash_of,
    "held": held_of,
    "held_end": held_end_of,
    **NOTIFY_DECODERS,
    "acted": acted_of,
}
if set(_DECODERS) != set(KINDS):
    raise AssertionError("every kind of event has its decoder")


def encode(event: Event) -> str:
    """The event's fields in order, as JSON."""
    fields: object = event
    if isinstance(event, MarketListed):
        fields = [event.at, event.world_at, listing_fields(event.listing), *event[3:]]
    if isinstance(event, MarketResolved):
        # Read back from an older row and written again it is that row still.
        paid = [one if one.sources is not None else one[:_PAYOUT_OLD] for one in event.payouts]
        fields = [*event[:4], paid, *event[5:]]
    return dumps(fields)


def dumps(fields: object) -> str:
    """JSON without blanks; a number that is not finite is an error, not a token."""
    return json.dumps(fields, separators=(",", ":"), allow_nan=False, ensure_ascii=False)


def decode(kind: str, body: str) -> Event:
    """An event from its row.

    Returns:
        The event, equal to the one that was encoded.

    Raises:
        JournalError: the row is of no shape or, as a subclass, of no kind that this program knows.
    """
    decoder = _DECODERS.get(kind)
    if decoder is None:
        raise NewerJournalError(f"the journal holds {kind!r} rows, which a newer program wrote")
    try:
        return decoder(json.loads(body))
    except (KeyError, TypeError, ValueError, IndexError, RecursionError) as error:
        raise JournalError(f"a {kind!r} row of the journal cannot be read: {error}") from error
