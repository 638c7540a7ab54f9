"""The spec's words, once: closed sets as string enums.

Must stay free of logic, I/O and numbers that change.
"""

from enum import StrEnum
from typing import Final

NEW_AGENT_CASH_SIM: Final = 10_000
"""$SIM that every new agent receives. Source: spec, "Venues"."""


class Venue(StrEnum):
    """Where an order goes. Source: spec, "Venues"."""

    SIM = "sim"
    EVM = "evm_venue"
    SOL = "sol_venue"


VENUE_ALIASES: Final = {
    "sandbox": Venue.SIM,
    "polymarket": Venue.EVM,
    "kalshi": Venue.SOL,
}
"""Names of the public wire for the same venues. Source: wire reference, section 0."""


PUBLIC_VENUES: Final = {
    venue: name for name, venue in VENUE_ALIASES.items() if venue is not Venue.SIM
}
"""The same the other way round; `sim` has one name everywhere."""

MONEY_OF: Final = {Venue.SIM: "$SIM", Venue.EVM: "USDC.e", Venue.SOL: "USDC"}
"""What each venue is paid in: no sum holds two of them. Source: spec, "Venues"."""


class Side(StrEnum):
    """The claim that pays 1 when the market ends YES or NO."""

    YES = "yes"
    NO = "no"

    @property
    def other(self) -> "Side":
        """The opposite side."""
        return Side.NO if self is Side.YES else Side.YES


class Action(StrEnum):
    """What an order does to a position."""

    BUY = "buy"
    SELL = "sell"


class OrderType(StrEnum):
    """How long an order may rest on a book; `sim` always fills at once."""

    GTC = "GTC"
    GTD = "GTD"
    FOK = "FOK"
    FAK = "FAK"


class OrderEnd(StrEnum):
    """Why an order rests no more."""

    FILLED = "filled"
    CANCELLED = "cancelled"
    EXPIRED = "expired"
    MARKET_CLOSED = "market_closed"


class MarketStatus(StrEnum):
    """Where a market stands. `closed`: past `resolves_at`, outcome not confirmed."""

    ACTIVE = "active"
    CLOSED = "closed"
    RESOLVED = "resolved"


class TradeStatus(StrEnum):
    """Source: spec, "Trade status"; the last two come from the wire reference, 3.4."""

    SUBMITTED = "submitted"
    FILLED = "filled"
    PARTIALLY_FILLED = "partially_filled"
    UNCONFIRMED = "unconfirmed"
    CONFIRMED = "confirmed"
    FAILED = "failed"
    # ours: an order that ended without a fill is neither submitted, filled nor failed.
    CANCELLED = "cancelled"


class AgentStatus(StrEnum):
    """Source: wire reference, 3.1."""

    UNCLAIMED = "unclaimed"
    ACTIVE = "active"
    CLAIMED = "claimed"
    BROKE = "broke"
    SUSPENDED = "suspended"


class Plan(StrEnum):
    """What an account has paid for. Source: spec, "Plans"."""

    FREE = "free"
    PRO = "pro"
    ELITE = "elite"


class WalletKind(StrEnum):
    """Who holds the key of an agent's wallet. Source: spec, "Wallet types"."""

    MANAGED = "managed"
    EXTERNAL = "external"


class ExitReason(StrEnum):
    """Which threshold of a monitor a price has crossed."""

    STOP_LOSS = "stop_loss"
    TAKE_PROFIT = "take_profit"


class AlertStatus(StrEnum):
    """Where a risk alert stands. Source: spec, "Risk alert lifecycle"."""

    PENDING = "pending"
    EXECUTED = "executed"
    EXPIRED = "expired"
    # ours: acknowledged by its owner without a sale.
    DISMISSED = "dismissed"
    # ours: the market ended first, or the position was gone: nothing was left to sell.
    RESOLVED = "resolved"
    # ours: what is left to sell is below the least order of its venue.
    REMAINDER = "remainder"


class LeashMode(StrEnum):
    """How free an agent or one of its skills is.

    `observe`: it may ask what an order would bring, and place none. `ask`: a buy above a threshold
    waits for the person. `auto`: it buys by itself within its budget.
    """

    OBSERVE = "observe"
    ASK = "ask"
    AUTO = "auto"


class HeldStatus(StrEnum):
    """Where a trade stands that had to wait for the person."""

    WAITING = "waiting"
    APPROVED = "approved"
    REFUSED = "refused"
    EXPIRED = "expired"
    # Approved, and then the venue said no.
    FAILED = "failed"
    # Approved and sent, and no answer came: it is looked up.
    UNKNOWN = "unknown"


class Mode(StrEnum):
    """What a trade on this desk means, in the word that the header shows."""

    SIM = "SIM"
    DRY = "DRY"
    LIVE = "LIVE"


class Category(StrEnum):
    """Subject of a market of the embedded service; the first of its tags."""

    POLITICS = "politics"
    SPORTS = "sports"
    WEATHER = "weather"
    CRYPTO = "crypto"
    SCIENCE = "science"
    CULTURE = "culture"


def counted(number: int, noun: str) -> str:
    """A number of things in words: `1 position`, `3 positions`."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def win_rate(wins: int, losses: int) -> float | None:
    """Wins among sales and payouts that gained or lost, 0 to 1; None while there are none."""
    decided = wins + losses
    return wins / decided if decided else None


def venue_marked(words: str, venue: Venue, unit: str = "") -> str:
    """Words of an order or a fill: one for real money says so, with its unit and its venue."""
    if venue is Venue.SIM:
        return words
    return f"{Mode.LIVE.value} {words}{unit} on {venue.value}"


class ExperimentStatus(StrEnum):
    """How an experiment ended. Source: spec, "Experiment outcomes"; wire reference, section 0."""

    KEEP = "keep"
    DISCARD = "discard"
    CRASH = "crash"
    CHECKS_FAILED = "checks_failed"

    @property
    def is_crash(self) -> bool:
        """True where it counts towards the pause. Source: wire reference, 9.2."""
        return self in {ExperimentStatus.CRASH, ExperimentStatus.CHECKS_FAILED}


class SessionState(StrEnum):
    """Where a series of experiments stands. Source: spec, "Autoresearch session"."""

    RUNNING = "running"
    PAUSED = "paused"
    CAPPED = "capped"


class Direction(StrEnum):
    """Which way a metric is better. Source: spec, "Autoresearch experiment tool parameters"."""

    HIGHER = "higher"
    LOWER = "lower"

    def is_better(self, one: float, other: float) -> bool:
        """Whether `one` is strictly better than `other`."""
        return one > other if self is Direction.HIGHER else one < other
