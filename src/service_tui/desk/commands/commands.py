"""What an operator may order. Frozen values; each knows how to say itself in words."""

from dataclasses import dataclass
from enum import StrEnum
from typing import ClassVar, Final

from service_tui.desk.command import Command
from service_tui.desk.slices.holding_key import holding_key
from service_tui.desk.slices.orders import price_in_words
from service_tui.desk.slices.risk import Condition
from service_tui.terms import MONEY_OF, Action, Plan, Side, Venue, counted, venue_marked
from service_tui.units import Micros, decimal


@dataclass(frozen=True, slots=True)
class PlaceTrade(Command):
    """Buy for `amount` of money, or sell `shares`; the other is 0.

    `question` is for words only. `everything` marks a sale of the whole position. `price` is the
    worst that may be taken on a real venue, None for any; `confirmed`: a person has seen this very
    order on its dialog for real money. `rests`: what nothing meets at once stays on the book at
    `price` until it is cancelled. `token` and `fee_rate_bps` are the outcome token and the highest
    fee that were shown with it; nothing else is signed then.
    """

    kind: ClassVar[str] = "trade"
    is_ticketed: ClassVar[bool] = True

    market_id: str
    side: Side
    action: Action
    venue: Venue
    amount: Micros = Micros(0)
    shares: Micros = Micros(0)
    reasoning: str = ""
    question: str = ""
    everything: bool = False
    price: float | None = None
    confirmed: bool = False
    rests: bool = False
    token: str = ""
    fee_rate_bps: int | None = None

    @property
    def holding(self) -> str:
        """Row key of the position that the order adds to or takes from."""
        return holding_key(self.market_id, self.side, self.venue)

    def in_words(self) -> str:
        """The order as a person would say it; one for real money says so, and names its venue."""
        unit = f" {MONEY_OF[self.venue]}" if self.action is Action.BUY else ""
        return venue_marked(self.bare_words(), self.venue, unit)

    def bare_words(self) -> str:
        """The order without its money and its venue."""
        at = f" at {price_in_words(self.price)}" if self.rests and self.price else ""
        side = self.side.value.upper()
        if self.action is Action.BUY:
            return f"buy {side}{at} for {decimal(self.amount):,.2f}"
        size = "all" if self.everything else _shares_in_words(self.shares)
        return f"sell {size} {side}{at}"


def _shares_in_words(shares: Micros) -> str:
    """Two decimals, or as many as it takes: a hundred-thousandth is not zero."""
    whole, _, part = f"{decimal(shares):,.5f}".partition(".")
    return f"{whole}.{part.rstrip('0'):0<2}"


@dataclass(frozen=True, slots=True)
class SetSpeed(Command):
    """Set the pace of the offline world: 0, 1, 10 or 60."""

    kind: ClassVar[str] = "speed"

    speed: int

    def in_words(self) -> str:
        """The order as a person would say it."""
        return "pause the world" if self.speed == 0 else f"run the world at {self.speed}x"


@dataclass(frozen=True, slots=True)
class AskQuote(Command):
    """What the order would get now. A reading: leaves no row, and a newer one replaces it."""

    kind: ClassVar[str] = "quote"

    request_id: int
    order: PlaceTrade

    def in_words(self) -> str:
        """The order as a person would say it."""
        return f"quote: {self.order.in_words()}"


@dataclass(frozen=True, slots=True)
class WatchMarket(Command):
    """Keep the chart, news and trades of one market fresh; None stops. A reading."""

    kind: ClassVar[str] = "watch"

    market_id: str | None
    span_s: int = 0

    def in_words(self) -> str:
        """The order as a person would say it."""
        return f"watch {self.market_id}"


@dataclass(frozen=True, slots=True)
class Refresh(Command):
    """Ask the service for everything now. A reading."""

    kind: ClassVar[str] = "refresh"

    def in_words(self) -> str:
        """The order as a person would say it."""
        return "refresh"


@dataclass(frozen=True, slots=True)
class SetStar(Command):
    """Put a market on the operator's own watchlist, or take it off. Stays on this machine."""

    kind: ClassVar[str] = "star"

    market_id: str
    on: bool

    def in_words(self) -> str:
        """The order as a person would say it."""
        return f"{'star' if self.on else 'unstar'} {self.market_id}"


@dataclass(frozen=True, slots=True)
class SetPreference(Command):
    """Remember something of the console: theme, sort orders, that the welcome was seen."""

    kind: ClassVar[str] = "preference"

    name: str
    value: str

    def in_words(self) -> str:
        """The order as a person would say it."""
        return f"remember {self.name}"


@dataclass(frozen=True, slots=True)
class GiveUp(Command):
    """Close an order whose outcome is unknown and of which no trace was found in time."""

    kind: ClassVar[str] = "give up"

    ticket_id: str

    def in_words(self) -> str:
        """The order as a person would say it."""
        return "close an order without a trace"


class AgentAct(StrEnum):
    """What an operator may do with an agent; the words are those of a sentence."""

    CLAIM = "claim"
    CODE = "make a claim code for"
    NEW_KEY = "give a new key to"
    PAUSE = "pause"
    RESUME = "resume"
    SUSPEND = "suspend"
    READMIT = "readmit"
    RETIRE = "retire"
    PLAN = "change the plan of"


@dataclass(frozen=True, slots=True)
class Govern(Command):
    """Do something with an agent of the embedded service. `plan` counts for a change of plan.

    Without an `agent_id` the plan is that of new agents.
    """

    kind: ClassVar[str] = "agent"

    act: AgentAct
    agent_id: str = ""
    name: str = ""
    plan: Plan | None = None

    def in_words(self) -> str:
        """The order as a person would say it."""
        tail = f" to {self.plan.value}" if self.plan is not None else ""
        return f"{self.act.value} {self.name or 'new agents'}{tail}"


@dataclass(frozen=True, slots=True)
class Forget(Command):
    """The secret that was shown has been seen."""

    kind: ClassVar[str] = "forget"

    def in_words(self) -> str:
        """The order as a person would say it."""
        return "forget what was shown"


@dataclass(frozen=True, slots=True)
class SetMonitor(Command):
    """Have a position monitored: exit when it is down by `stop_pct`, or up by `target_pct`.

    `stop_pct` is in (0, 1], `target_pct` above 0; None is off, and one of them is needed.
    """

    kind: ClassVar[str] = "monitor"

    market_id: str
    side: Side
    venue: Venue
    stop_pct: float | None
    target_pct: float | None
    question: str = ""

    def in_words(self) -> str:
        """The order as a person would say it."""
        stop = "no stop" if self.stop_pct is None else f"stop {self.stop_pct:.1%} down"
        target = "no target" if self.target_pct is None else f"target {self.target_pct:.1%} up"
        return f"monitor {self.side.value.upper()}: {stop}, {target}"


@dataclass(frozen=True, slots=True)
class SetMonitors(Command):
    """Have several positions monitored; one that is refused stops no other."""

    kind: ClassVar[str] = "monitors"

    monitors: tuple[SetMonitor, ...]

    def in_words(self) -> str:
        """The order as a person would say it."""
        return f"monitor {counted(len(self.monitors), 'position')}"


@dataclass(frozen=True, slots=True)
class RemoveMonitor(Command):
    """Have a position monitored no longer."""

    kind: ClassVar[str] = "monitor"

    market_id: str
    side: Side
    venue: Venue
    question: str = ""

    def in_words(self) -> str:
        """The order as a person would say it."""
        return f"remove the monitor of {self.side.value.upper()}"


@dataclass(frozen=True, slots=True)
class ExitAlert(Command):
    """Exit for an alert now, or try again one whose exit failed or left no trace."""

    kind: ClassVar[str] = "exit"

    alert_id: str

    def in_words(self) -> str:
        """The order as a person would say it."""
        return "exit for an alert now"


@dataclass(frozen=True, slots=True)
class SetPriceAlert(Command):
    """Tell once when the price of a side is there. `threshold` is in (0, 1). Stays here."""

    kind: ClassVar[str] = "price alert"

    market_id: str
    side: Side
    condition: Condition
    threshold: float
    question: str = ""

    def in_words(self) -> str:
        """The order as a person would say it."""
        where = f"{self.condition.in_words} {self.threshold:.4f}"
        return f"tell when {self.side.value.upper()} is {where}"


@dataclass(frozen=True, slots=True)
class RemovePriceAlert(Command):
    """Forget a price alert, fired or not."""

    kind: ClassVar[str] = "price alert"

    alert_id: str

    def in_words(self) -> str:
        """The order as a person would say it."""
        return "forget a price alert"


@dataclass(frozen=True, slots=True)
class Halt(Command):
    """Block every entry at once, here and on the service, until it is resumed. Asks nothing."""

    kind: ClassVar[str] = "halt"

    def in_words(self) -> str:
        """The order as a person would say it."""
        return "halt"


RESUME_WORD: Final = "RESUME"
"""What a person types to let entries pass again."""


@dataclass(frozen=True, slots=True)
class Resume(Command):
    """End the halt. `word` is what the person typed."""

    kind: ClassVar[str] = "resume"

    word: str

    def in_words(self) -> str:
        """The order as a person would say it."""
        return "resume trading"


@dataclass(frozen=True, slots=True)
class ExitAll(Command):
    """Sell these positions whole, while halted. `holdings` are the row keys that were confirmed."""

    kind: ClassVar[str] = "exit all"

    holdings: tuple[str, ...]

    def in_words(self) -> str:
        """The order as a person would say it."""
        return f"exit {counted(len(self.holdings), 'position')}"
