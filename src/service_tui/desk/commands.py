"""What an operator may order. Frozen values; each knows how to say itself in words.

Knows terms and units. Must not know how an order is carried out.
Used by console and CLI (which make them) and by the desk's handlers.
"""

from dataclasses import dataclass
from typing import ClassVar

from service_tui.terms import Action, Side, Venue
from service_tui.units import Micros, decimal


@dataclass(frozen=True, slots=True)
class PlaceTrade:
    """Buy for `amount` of money, or sell `shares`; the other is 0.

    `question` is for words only. `everything` marks a sale of the whole position.
    """

    kind: ClassVar[str] = "trade"
    moves_money: ClassVar[bool] = True

    market_id: str
    side: Side
    action: Action
    venue: Venue
    amount: Micros = Micros(0)
    shares: Micros = Micros(0)
    reasoning: str = ""
    question: str = ""
    everything: bool = False

    @property
    def holding(self) -> str:
        """Row key of the position that the order adds to or takes from."""
        return f"{self.market_id}:{self.side.value}"

    def in_words(self) -> str:
        """The order as a person would say it."""
        if self.action is Action.BUY:
            return f"buy {self.side.value.upper()} for {decimal(self.amount):,.2f}"
        size = "all" if self.everything else f"{decimal(self.shares):,.2f}"
        return f"sell {size} {self.side.value.upper()}"


@dataclass(frozen=True, slots=True)
class SetSpeed:
    """Set the pace of the offline world: 0, 1, 10 or 60."""

    kind: ClassVar[str] = "speed"
    moves_money: ClassVar[bool] = False

    speed: int

    def in_words(self) -> str:
        """The order as a person would say it."""
        return "pause the world" if self.speed == 0 else f"run the world at {self.speed}x"


@dataclass(frozen=True, slots=True)
class AskQuote:
    """What the order would get now. A reading: leaves no row, and a newer one replaces it."""

    kind: ClassVar[str] = "quote"
    moves_money: ClassVar[bool] = False

    request_id: int
    order: PlaceTrade

    def in_words(self) -> str:
        """The order as a person would say it."""
        return f"quote: {self.order.in_words()}"


@dataclass(frozen=True, slots=True)
class WatchMarket:
    """Keep the chart, news and trades of one market fresh; None stops. A reading."""

    kind: ClassVar[str] = "watch"
    moves_money: ClassVar[bool] = False

    market_id: str | None
    span_s: int = 0

    def in_words(self) -> str:
        """The order as a person would say it."""
        return f"watch {self.market_id}"


@dataclass(frozen=True, slots=True)
class Refresh:
    """Ask the service for everything now. A reading."""

    kind: ClassVar[str] = "refresh"
    moves_money: ClassVar[bool] = False

    def in_words(self) -> str:
        """The order as a person would say it."""
        return "refresh"


@dataclass(frozen=True, slots=True)
class SetStar:
    """Put a market on the operator's own watchlist, or take it off. Stays on this machine."""

    kind: ClassVar[str] = "star"
    moves_money: ClassVar[bool] = False

    market_id: str
    on: bool

    def in_words(self) -> str:
        """The order as a person would say it."""
        return f"{'star' if self.on else 'unstar'} {self.market_id}"


@dataclass(frozen=True, slots=True)
class SetPreference:
    """Remember something of the console: theme, sort orders, that the welcome was seen."""

    kind: ClassVar[str] = "preference"
    moves_money: ClassVar[bool] = False

    name: str
    value: str

    def in_words(self) -> str:
        """The order as a person would say it."""
        return f"remember {self.name}"


@dataclass(frozen=True, slots=True)
class GiveUp:
    """Close an order whose outcome is unknown and of which no trace was found in time."""

    kind: ClassVar[str] = "give up"
    moves_money: ClassVar[bool] = False

    ticket_id: str

    def in_words(self) -> str:
        """The order as a person would say it."""
        return "close an order without a trace"


Command = (
    GiveUp | PlaceTrade | SetSpeed | AskQuote | WatchMarket | Refresh | SetStar | SetPreference
)
"""Every command there is."""
