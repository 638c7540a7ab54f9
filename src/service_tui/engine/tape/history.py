"""The interface between a world and its recording; other modules read the file."""

from typing import NamedTuple, Protocol

from service_tui.engine.listing import PricePath
from service_tui.outcome import Outcome
from service_tui.terms import Action, Side
from service_tui.units import Micros, Timestamp


class RecordedMarket(NamedTuple):
    """What a recording knows of a market; `number` is its place in the order of opening.

    `opens_at` is the time of its first price, `closes_at` the end that was announced, None where
    none was; `ends_at` when its outcome stood, None where the recording ends first. `outcome` is
    None likewise.
    """

    number: int
    source: str
    native_id: str
    event: str
    question: str
    category: str
    opens_at: Timestamp
    closes_at: Timestamp | None
    ends_at: Timestamp | None
    outcome: Outcome | None


class RecordedTrade(NamedTuple):
    """A trade of a wallet as it was recorded, at the price of its own side.

    `number` tells trades of one moment apart, `market` is the number of the market, `wallet` a
    checksummed address. `waited` where its order stood on the book.
    """

    at: Timestamp
    number: int
    market: int
    wallet: str
    side: Side
    action: Action
    waited: bool
    shares: Micros
    price: float


class RecordedMarkets(Protocol):
    """A recording, read where it lies: never all of it at once."""

    @property
    def name(self) -> str:
        """What a person calls it."""
        ...

    @property
    def digest(self) -> str:
        """Tells it from every other one, also of the same name."""
        ...

    @property
    def ends_at(self) -> Timestamp:
        """The time of the last thing that is recorded."""
        ...

    def standing_at(self, at: Timestamp) -> tuple[RecordedMarket, ...]:
        """Markets with `opens_at` <= at that have not ended, in the order of opening."""
        ...

    def next_turn(self, at: Timestamp) -> Timestamp:
        """When the next market opens or ends after a moment; `ends_at` where none does."""
        ...

    def market(self, number: int) -> RecordedMarket | None:
        """The market with a number; None where there is none."""
        ...

    def ended_count(self, since: Timestamp, until: Timestamp) -> int:
        """How many markets have since < `ends_at` <= until."""
        ...

    def path(self, number: int) -> PricePath:
        """The prices of a market."""
        ...

    @property
    def wallets_from(self) -> Timestamp | None:
        """When a wallet traded first; None where no trade of one is recorded."""
        ...

    def trades(self, since: Timestamp, until: Timestamp) -> tuple[RecordedTrade, ...]:
        """Trades of wallets with since < their time <= until, in order; of very many the last."""
        ...


class HistoryStart(NamedTuple):
    """Which recording a world runs on, and the time at which it began."""

    name: str
    digest: str
    begins_at: Timestamp
