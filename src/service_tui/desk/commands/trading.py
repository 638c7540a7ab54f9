"""Commands for trades: place, quote, give up, cancel."""

from dataclasses import dataclass
from typing import ClassVar, Final

from service_tui.desk.command import Command
from service_tui.desk.slices.orders import limit_text, moment_text
from service_tui.desk.slices.position_key import position_key
from service_tui.terms import MONEY_OF, Action, OrderType, Side, Venue, counted, venue_marked
from service_tui.units import Micros, Timestamp, decimal


@dataclass(frozen=True, slots=True)
class PlaceTrade(Command):
    """Buy for `amount` of money, or sell `shares`; the other is 0.

    `question` is for words only. `everything` marks a sale of the whole position. `price` is the
    worst that may be taken on a real venue, None for any; `confirmed`: a person has seen this very
    order on its dialog for real money. `rests`: what nothing meets at once stays on the book at
    `price` until it is cancelled. `token` and `fee_rate_bps` are the outcome token and the highest
    fee that were shown with it; nothing else is signed then. `replaces` is the open order that is
    cancelled first, with `filled_before` traded of it: without that, nothing is placed.
    `stop_loss_pct` and `take_profit_pct` are the monitor that a buy sets when it fills, in
    fractions of the average cost; the embedded service alone sets one. `keeps_price`: a person
    typed `price`, and the service of a paper venue is given it as well. `whole`: a market order
    fills all of its size at once, or nothing. `expires_at` is the whole second at which an open
    limit order is cancelled; None leaves it until it is cancelled.
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
    replaces: str = ""
    filled_before: Micros = Micros(0)
    whole: bool = False
    expires_at: Timestamp | None = None
    stop_loss_pct: float | None = None
    take_profit_pct: float | None = None
    keeps_price: bool = False

    @property
    def order_type(self) -> OrderType:
        """Type of the order on a real venue."""
        if self.rests:
            return OrderType.GTC if self.expires_at is None else OrderType.GTD
        return OrderType.FOK if self.whole else OrderType.FAK

    @property
    def exits_text(self) -> str:
        """The stop and the target that the buy sets, to follow its size; empty without both."""
        stop = "" if self.stop_loss_pct is None else f", stop {self.stop_loss_pct:.1%} down"
        return stop + (
            "" if self.take_profit_pct is None else f", target {self.take_profit_pct:.1%} up"
        )

    @property
    def holding(self) -> str:
        """Row key of the position that the order adds to or takes from."""
        return position_key(self.market_id, self.side, self.venue)

    def describe(self) -> str:
        """Describe the order in plain English; one for real money names its venue."""
        unit = f" {MONEY_OF[self.venue]}" if self.action is Action.BUY else ""
        return venue_marked(self.bare_text(), self.venue, unit) + self.exits_text

    def bare_text(self) -> str:
        """The order without its currency, its venue, and the stop and target that it sets."""
        at = f" at {limit_text(self.price)}" if self.rests and self.price else ""
        if self.keeps_price and self.price:
            at = f" not above {limit_text(self.price)}"
        at += _TERMS.get(self.order_type, "")
        if self.rests and self.expires_at is not None:
            at += f" until {moment_text(self.expires_at)}"
        side = self.side.value.upper()
        if self.action is Action.BUY:
            return f"buy {side}{at} for {decimal(self.amount):,.2f}"
        size = "all" if self.everything else _shares_text(self.shares)
        return f"sell {size} {side}{at}"


@dataclass(frozen=True, slots=True)
class BuySet(Command):
    """Buy the outcomes of one event, `name`: leg by leg, until the first that is not bought.

    Each leg is an ordinary order with a ticket of its own.
    """

    kind: ClassVar[str] = "set"

    name: str
    legs: tuple[PlaceTrade, ...]

    def describe(self) -> str:
        """Describe the command in plain English."""
        return f"set of {self.name}"


_TERMS: Final = {OrderType.FOK: " fill-or-kill"}


def _shares_text(shares: Micros) -> str:
    """Two decimals, or as many as it takes: a hundred-thousandth is not zero."""
    whole, _, part = f"{decimal(shares):,.5f}".partition(".")
    return f"{whole}.{part.rstrip('0'):0<2}"


@dataclass(frozen=True, slots=True)
class RequestQuote(Command):
    """Request an indicative quote. Leaves no row; a newer one replaces it."""

    kind: ClassVar[str] = "quote"

    request_id: int
    order: PlaceTrade

    def describe(self) -> str:
        """Describe the command in plain English."""
        return f"quote: {self.order.describe()}"


@dataclass(frozen=True, slots=True)
class GiveUp(Command):
    """Close an order whose outcome is unknown and of which no trace was found in time."""

    kind: ClassVar[str] = "give up"

    ticket_id: str

    def describe(self) -> str:
        """Describe the command in plain English."""
        return "close an unknown order"


@dataclass(frozen=True, slots=True)
class CancelOrders(Command):
    """Cancel open orders; `what` describes a single one."""

    kind: ClassVar[str] = "cancel"

    order_ids: tuple[str, ...]
    what: str = ""

    def describe(self) -> str:
        """Describe the command in plain English."""
        return f"cancel {self.what or counted(len(self.order_ids), 'open order')}"
