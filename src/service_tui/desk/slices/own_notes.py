"""The person's notes on markets, trades and days."""

from dataclasses import dataclass
from enum import StrEnum

from service_tui.units import Timestamp


class NoteOn(StrEnum):
    """What a note can be on."""

    MARKET = "market"
    TRADE = "trade"
    DAY = "day"


@dataclass(frozen=True, slots=True)
class Noted:
    """What a note is on: the id of a market or a trade, or a date; `about` is its question."""

    on: NoteOn
    key: str
    about: str = ""
    market_id: str = ""


@dataclass(frozen=True, slots=True)
class OwnNote:
    """A note, and when it was written last. `person` is empty on a desk of one."""

    noted: Noted
    text: str
    at: Timestamp
    person: str = ""
