"""One market of the market maker: shares sold, quotes, and its outcome.

All share and money arithmetic here is in micros: x, the log-odds against a side, has no unit, and
the LMSR functions take spend, shares and b in one unit of the caller's choice.
"""

import math
from bisect import bisect_right
from collections import deque
from operator import itemgetter
from typing import Final, NamedTuple

from service_tui.engine.amm import lmsr
from service_tui.engine.errors import BelowMinimum, MarketNotOpen, PriceOutOfRange
from service_tui.engine.listing import Listing
from service_tui.engine.position import Position
from service_tui.outcome import Outcome
from service_tui.terms import MarketStatus, Side
from service_tui.units import (
    ONE,
    PRICE_MAX,
    PRICE_MIN,
    SHARE_QUANTUM,
    Micros,
    Probability,
    Timestamp,
    decimal,
)

TAPE_MAX: Final = 30
"""Trades of anybody that a market remembers for its tape."""

FILLED_MAX: Final = 60
"""ours: trades of agents that it remembers beside its tape."""

SAMPLES_MAX: Final = 400
"""Price samples over a market's life; a chart has no more columns than that."""

RECENT_MAX: Final = 600
"""Ticks of which every price is remembered, ten minutes at 1x; not kept over a restart."""

SAMPLE_STEP_MIN_S: Final = 2.0
HOUR_S: Final = 3_600
VOLUME_HOURS: Final = 24
_YES: Final = Side.YES

_ODDS_MAX: Final = math.log(PRICE_MAX / PRICE_MIN) - 1e-12
"""The price range as log-odds: no order is too large to be compared with it. A hair less, so that
the price itself, in doubles, stays inside."""


class Quote(NamedTuple):
    """What an order gets now: shares and money in micros, prices of the side traded."""

    shares: Micros
    money: Micros
    price_before: float
    price_after: float


TapeTrade = tuple[Timestamp, str, Side, str, Micros, float]
"""A trade of anybody, as a public tape shows it: the tape's own time, the trader's name, side,
"buy" or "sell", shares, and the price after. A plain tuple: every trade makes one.
"""


class Market:  # noqa: PLR0904  (one book, its quotes and its memory)
    """The market maker's book of one question.

    `yes` and `no` are the shares outstanding, the start offset included: `start` shares of YES
    (negative below even odds) belong to nobody and only set the first price.
    """

    __slots__ = (
        "account",
        "b",
        "filled",
        "last_sample_at",
        "listed_at",
        "listing",
        "market_id",
        "no",
        "outcome",
        "recent",
        "resolved_at",
        "sample_step_s",
        "samples",
        "start",
        "tape",
        "volumes",
        "yes",
    )

    def __init__(self, listing: Listing) -> None:
        self.listing = listing
        self.market_id = listing.market_id
        self.account = f"maker:{listing.market_id}"
        self.b = listing.b
        odds = math.log(listing.start_price / (1.0 - listing.start_price))
        self.start = Micros(round(listing.b * odds))
        self.yes: Micros = self.start
        self.no: Micros = Micros(0)
        self.outcome: Outcome | None = None
        self.resolved_at: Timestamp | None = None
        self.tape: deque[TapeTrade] = deque(maxlen=TAPE_MAX)
        # Trades of agents alone: the tape moves past them, and they are still theirs.
        self.filled: deque[TapeTrade] = deque(maxlen=FILLED_MAX)
        self.samples: list[tuple[Timestamp, float]] = []
        self.last_sample_at = Timestamp(0.0)
        self.recent: deque[tuple[Timestamp, float]] = deque(maxlen=RECENT_MAX)
        life_s = listing.resolves_at - listing.opens_at
        self.sample_step_s = max(SAMPLE_STEP_MIN_S, life_s / SAMPLES_MAX)
        self.volumes: dict[int, int] = {}
        # Wall time, unlike all others here: "what is new" is asked by people and programs.
        self.listed_at = Timestamp(0.0)

    def note_fill(self, trade: TapeTrade) -> None:
        """Put a trade of an agent on the tape, and remember it when the tape moves on."""
        self.tape.append(trade)
        self.filled.append(trade)

    def price(self) -> Probability:
        """Price of YES."""
        return Probability(lmsr.price((self.no - self.yes) / self.b))

    def price_of(self, side: Side) -> float:
        """Price of a side."""
        x = (self.no - self.yes) / self.b
        return lmsr.price(x if side is _YES else -x)

    def status(self, world_at: Timestamp) -> MarketStatus:
        """Where the market stands at a moment of the tape. Source: spec, resolution semantics."""
        if self.resolved_at is not None:
            return MarketStatus.RESOLVED
        if world_at >= self.listing.resolves_at:
            return MarketStatus.CLOSED
        return MarketStatus.ACTIVE

    def check_open(self, world_at: Timestamp) -> None:
        """Refuse orders once the market may resolve.

        Raises:
            MarketNotOpen: the market is closed or resolved.
        """
        if self.resolved_at is not None or world_at >= self.listing.resolves_at:
            state = "resolved" if self.resolved_at is not None else "closed, awaiting its outcome"
            raise MarketNotOpen(f"the market is {state}: {self.listing.question}")

    def quote_buy(self, side: Side, spend: Micros, shares_max: Micros | None = None) -> Quote:
        """Shares for a spend, rounded down, whole quanta.

        Returns:
            The shares, what they cost, and the price before and after. They cost the spend itself,
            and less where it would buy more than `shares_max`.

        Raises:
            BelowMinimum: the spend buys less than one quantum.
            PriceOutOfRange: the price would leave its range.
        """
        b = self.b
        x = (self.no - self.yes) / b if side is _YES else (self.yes - self.no) / b
        exact = lmsr.shares_for_spend(int(spend), b=int(b), x=x)
        shares = int(exact // int(SHARE_QUANTUM)) * SHARE_QUANTUM
        if shares_max is not None and shares > shares_max:
            shares = shares_max // SHARE_QUANTUM * SHARE_QUANTUM
            cost = math.ceil(lmsr.cost_of_shares(int(shares), b=int(b), x=x))
            spend = min(spend, Micros(cost))
        if shares <= 0:
            raise BelowMinimum(f"{decimal(spend)} $SIM buys less than 0.00001 shares")
        after = x - shares / b
        if not after >= -_ODDS_MAX:
            most = lmsr.spend_to_price(PRICE_MAX, b=int(b), x=x) / ONE
            raise PriceOutOfRange(
                f"the order would push the price of {side.value.upper()} above {PRICE_MAX}",
                f"spend at most {max(0.0, math.floor(most * 100) / 100):.2f} $SIM here now",
            )
        return Quote(Micros(shares), spend, lmsr.price(x), lmsr.price(after))

    def quote_sell(self, side: Side, shares: Micros) -> Quote:
        """Proceeds for shares, rounded down.

        Returns:
            The shares themselves, the proceeds, and the price before and after.

        Raises:
            BelowMinimum: the sale brings less than a micro.
            PriceOutOfRange: the price would leave its range.
        """
        b = self.b
        x = (self.no - self.yes) / b if side is _YES else (self.yes - self.no) / b
        after = x + shares / b
        if not after <= _ODDS_MAX:
            raise PriceOutOfRange(
                f"the sale would push the price of {side.value.upper()} below {PRICE_MIN}",
                "sell fewer shares, or wait for the outcome",
            )
        proceeds = int(-lmsr.cost_of_shares(int(-shares), b=int(b), x=x))
        if proceeds <= 0:
            raise BelowMinimum(
                f"selling {decimal(shares)} shares brings less than a micro", "sell more shares"
            )
        return Quote(shares, Micros(proceeds), lmsr.price(x), lmsr.price(after))

    def exit_value(self, side: Side, shares: Micros) -> Micros:
        """What selling all of it now brings, the price range aside."""
        x = (self.no - self.yes) / self.b if side is _YES else (self.yes - self.no) / self.b
        return Micros(max(0, int(-lmsr.cost_of_shares(int(-shares), b=int(self.b), x=x))))

    def exit_parts(self, position: Position) -> tuple[Micros, Micros]:
        """What selling all of both sides together now brings, as the parts of YES and of NO.

        A pair of both brings exactly 1, whatever the price, so that only the rest moves it.
        """
        yes, no = position.shares(Side.YES), position.shares(Side.NO)
        pairs = min(yes, no)
        part = Micros(int(pairs * self.price()))
        rest = Side.YES if yes > no else Side.NO
        left = self.exit_value(rest, Micros(max(yes, no) - pairs)) if yes != no else Micros(0)
        if rest is Side.YES:
            return Micros(part + left), Micros(pairs - part)
        return part, Micros(pairs - part + left)

    def move(self, side: Side, shares: Micros) -> None:
        """Count shares as sold (positive) or taken back (negative)."""
        if side is _YES:
            self.yes += shares
        else:
            self.no += shares

    def sold(self, side: Side) -> Micros:
        """Shares of a side that are held."""
        return self.yes - self.start if side is _YES else self.no

    def sample(self, world_at: Timestamp) -> None:
        """Remember the price: each tick for a while, once a step for good."""
        price = round(self.price(), 4)
        self.recent.append((world_at, price))
        if world_at - self.last_sample_at >= self.sample_step_s:
            self.last_sample_at = world_at
            self.samples.append((world_at, price))

    def count_volume(self, world_at: Timestamp, money: Micros) -> None:
        """Count money traded in the tape's hour; hours older than a day are dropped."""
        hour = int(world_at // HOUR_S)
        try:
            self.volumes[hour] += int(money)
        except KeyError:
            recent = hour - VOLUME_HOURS
            if min(self.volumes, default=hour) <= recent:
                self.volumes = {then: sum_ for then, sum_ in self.volumes.items() if then > recent}
            self.volumes[hour] = int(money)

    def volume_24h(self, world_at: Timestamp) -> Micros:
        """Money traded in the last 24 hours of the tape."""
        since = int(world_at // HOUR_S) - VOLUME_HOURS
        return Micros(sum(money for hour, money in self.volumes.items() if hour > since))

    def price_ago(self, world_at: Timestamp, ago_s: float) -> float:
        """Price of YES that long ago, or the first one known."""
        if not self.samples:
            return self.listing.start_price
        index = bisect_right(self.samples, world_at - ago_s, key=itemgetter(0))
        return self.samples[max(0, index - 1)][1]

    def worst_loss(self) -> float:
        """Bound of the market maker's loss, micros."""
        return lmsr.worst_loss(int(self.b), self.listing.start_price)
