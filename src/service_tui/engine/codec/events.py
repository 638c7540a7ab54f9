"""Events as JSON and back: the rows of the journal.

A field is added at the end of a record, with a default, and never moved: yesterday's rows must read
today.
"""

import json
from typing import Final

from service_tui.engine.agents.agents import AgentSettings
from service_tui.engine.chain.chain import ChainPace
from service_tui.engine.chain_events import ChainSet
from service_tui.engine.codec.errors import JournalError, NewerJournalError
from service_tui.engine.events import (
    KINDS,
    AgentChanged,
    Event,
    MarketResolved,
    Payout,
    ReactorChanged,
)
from service_tui.engine.reactor.reactor import ReactorConfig
from service_tui.records import json_of, read, read_some

_CHANGED: Final = {AgentChanged: AgentSettings, ReactorChanged: ReactorConfig, ChainSet: ChainPace}
"""Whose fields the `changes` of an event name."""

_PAYOUT_OLD: Final = Payout._fields.index("sources")
"""How many fields a payout had before it named its sources."""

_UNKNOWN: Final = (None,) * (len(Payout._fields) - _PAYOUT_OLD)
"""What a row of that time is read as."""


def encode(event: Event) -> str:
    """The event's fields in order, as JSON."""
    fields: object = event
    if isinstance(event, MarketResolved):
        # Read back from an older row and written again it is that row still.
        paid = [
            one[:_PAYOUT_OLD] if one[_PAYOUT_OLD:] == _UNKNOWN else fields_of_payout(one)
            for one in event.payouts
        ]
        settled = [(venue, fields_of_payout(one)) for venue, one in event.settled]
        fields = [*event[:4], paid, event.crowd_payout, settled]
    return dumps(fields)


def fields_of_payout(payout: Payout) -> tuple[object, ...]:
    """The fields of a payout in order; without a wallet as they were before there was one."""
    return payout if payout.wallet is not None else payout[:-1]


def dumps(fields: object) -> str:
    """JSON without blanks; a number that is not finite is an error, not a token."""
    return json.dumps(
        fields,
        separators=(",", ":"),
        allow_nan=False,
        ensure_ascii=False,
        default=json_of,
    )


def decode(kind: str, body: str) -> Event:
    """An event from its row.

    Returns:
        The event, equal to the one that was encoded.

    Raises:
        JournalError: the row is of no shape or, as a subclass, of no kind that this program knows.
    """
    record = KINDS.get(kind)
    if record is None:
        raise NewerJournalError(f"the journal holds {kind!r} rows, which a newer program wrote")
    try:
        event = read(record, json.loads(body))
        if isinstance(event, AgentChanged | ReactorChanged | ChainSet):
            event = event._replace(changes=read_some(_CHANGED[type(event)], event.changes))
    except (KeyError, TypeError, ValueError, IndexError, RecursionError) as error:
        raise JournalError(f"a {kind!r} row of the journal cannot be read: {error}") from error
    return event
