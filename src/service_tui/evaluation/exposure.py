"""Exposure of all agents' positions. Money in micros; $SIM and real money are never added.

A side of a market pays 1 a share if the market ends on it, else nothing. The worst case takes
markets to end independently of each other. The best case lets at most one outcome of an event come
true: nobody says whether exactly one must, and so neither case is rosier than the truth.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from service_tui.terms import MONEY_OF, Side, Venue
from service_tui.units import Micros, Probability, Timestamp, sum_of

SOON_S: Final = 86_400.0
"""What resolves within a day of now, or is overdue, resolves soon."""

STEP: Final = 0.1
"""The move of a price that a group is tried with: ten points."""


class Grouping(StrEnum):
    """By what holdings are added up."""

    CATEGORY = "category"
    EVENT = "event"
    MARKET = "market"
    AGENT = "agent"
    VENUE = "venue"
    SIDE = "side"


@dataclass(frozen=True, slots=True)
class AgentHolding:
    """One side of one market, held by one agent on one venue, before its outcome is known.

    `value` is what selling all of it would bring now, `price` that of the side now; None where
    nobody says. `stop` and `target` are the prices at which it is sold by itself. `event` is the id
    of a question with several outcomes, empty where it has two.
    """

    agent_id: str
    agent_name: str
    market_id: str
    question: str
    category: str
    event: str
    venue: Venue
    side: Side
    shares: Micros
    cost: Micros
    value: Micros | None
    price: Probability | None
    resolves_at: Timestamp | None
    stop: float | None = None
    target: float | None = None

    def is_soon(self, now: Timestamp) -> bool:
        """True if its market resolves within a day, or is overdue."""
        return self.resolves_at is not None and self.resolves_at <= now + SOON_S


@dataclass(frozen=True, slots=True)
class Exposure:
    """What the holdings of one group come to, in one kind of money.

    `worst` is what is paid if every market ends against what is held of it; `best` if every market
    ends for it that can: of an event at most one outcome comes true. `if_yes` and `if_no` if every
    market ends YES, or NO, though those of an event cannot all end YES. `after_rise` and
    `after_fall` are how the marks change if each price of YES moves by ten points up, or down; a
    price stays within 0 and 1.
    None: an input is not known. `name` is a label, `key` what it stands for.
    """

    key: str
    name: str
    money: str
    count: int
    cost: Micros
    value: Micros | None
    worst: Micros
    best: Micros
    if_yes: Micros
    if_no: Micros
    after_rise: Micros | None
    after_fall: Micros | None

    @property
    def loss(self) -> Micros | None:
        """What is lost in the worst case, of what selling now would bring; never below 0."""
        return None if self.value is None else Micros(max(0, self.value - self.worst))


@dataclass(frozen=True, slots=True)
class Opposition:
    """Both sides of one market held on one venue: together they pay the spread twice.

    `paired` shares of each side pay 1 together, whatever the outcome is. Owners are names with
    their shares, the most first.
    """

    market_id: str
    question: str
    venue: Venue
    yes: tuple[tuple[str, Micros], ...]
    no: tuple[tuple[str, Micros], ...]

    @property
    def paired(self) -> Micros:
        """Shares of each side that only cancel each other."""
        yes, no = (sum_of(shares for _, shares in owners) for owners in (self.yes, self.no))
        return min(yes, no)


def exposures(holdings: Iterable[AgentHolding], grouping: Grouping) -> tuple[Exposure, ...]:
    """The groups, those with the most at risk first; one group for each kind of money in it.

    What is at risk is the loss of the worst case, or the cost where the value is not known.
    """
    key = _KEY_OF[grouping]
    groups: dict[tuple[str, str], list[AgentHolding]] = defaultdict(list)
    names: dict[str, str] = {}
    for one in holdings:
        place, name = key(one)
        names.setdefault(place, name)
        groups[place, MONEY_OF[one.venue]].append(one)
    found = [_exposure(place, names[place], money, own) for (place, money), own in groups.items()]
    return tuple(sorted(found, key=lambda one: (-at_risk(one), one.name, one.money)))


def at_risk(exposure: Exposure) -> Micros:
    """The loss of the worst case; the cost, less what is paid at least, where that is not known."""
    known = exposure.loss
    return Micros(max(0, exposure.cost - exposure.worst)) if known is None else known


def group_of(one: AgentHolding, grouping: Grouping) -> tuple[str, str]:
    """Key and money of the group that a holding belongs to."""
    return _KEY_OF[grouping](one)[0], MONEY_OF[one.venue]


def totals(holdings: Iterable[AgentHolding]) -> tuple[Exposure, ...]:
    """All holdings, one row for each kind of money."""
    by_money: dict[str, list[AgentHolding]] = defaultdict(list)
    for one in holdings:
        by_money[MONEY_OF[one.venue]].append(one)
    return tuple(_exposure("", "all", money, own) for money, own in by_money.items())


def oppositions(holdings: Iterable[AgentHolding]) -> tuple[Opposition, ...]:
    """Markets of which both sides are held on the same venue, the most shares of both first."""
    held: dict[tuple[str, Venue], list[AgentHolding]] = defaultdict(list)
    for one in holdings:
        if one.shares:
            held[one.market_id, one.venue].append(one)
    found = [
        Opposition(market_id, own[0].question, venue, _owners(own, Side.YES), _owners(own, Side.NO))
        for (market_id, venue), own in held.items()
    ]
    return tuple(sorted((one for one in found if one.paired), key=lambda one: -one.paired))


def _owners(holdings: Iterable[AgentHolding], side: Side) -> tuple[tuple[str, Micros], ...]:
    own = [(one.agent_name, one.shares) for one in holdings if one.side is side]
    return tuple(sorted(own, key=lambda owner: (-owner[1], owner[0])))


def _exposure(key: str, name: str, money: str, holdings: Sequence[AgentHolding]) -> Exposure:
    # One pass: a page has thousands of holdings in each of its groupings.
    ends: dict[str, dict[str, list[Micros]]] = {}
    cost, value, rise, fall = Micros(0), Micros(0), 0, 0
    has_value = has_price = True
    for one in holdings:
        cost += one.cost
        if one.value is None:
            has_value = False
        else:
            value += one.value
        if one.price is None:
            has_price = False
        else:
            rise += _moved(one, one.price, STEP)
            fall += _moved(one, one.price, -STEP)
        outcomes = ends.setdefault(one.event or one.market_id, {})
        end = outcomes.setdefault(one.market_id, [Micros(0), Micros(0)])
        end[one.side is Side.NO] += one.shares
    every = [tuple(end) for outcomes in ends.values() for end in outcomes.values()]
    return Exposure(
        key=key,
        name=name,
        money=money,
        count=len(holdings),
        cost=cost,
        value=value if has_value else None,
        worst=Micros(sum(min(end) for end in every)),
        best=sum_of(_best(outcomes.values()) for outcomes in ends.values()),
        if_yes=Micros(sum(yes for yes, _ in every)),
        if_no=Micros(sum(no for _, no in every)),
        after_rise=Micros(rise) if has_price else None,
        after_fall=Micros(fall) if has_price else None,
    )


def _best(outcomes: Iterable[Sequence[Micros]]) -> Micros:
    """What shares of YES and NO of an event's outcomes pay at best: all end NO, or all but one."""
    gain = all_no = Micros(0)
    for yes, no in outcomes:
        gain = max(gain, yes - no)
        all_no += no
    return all_no + gain


def _moved(one: AgentHolding, price: float, step: float) -> int:
    """How the mark of a holding changes if the price of YES moves, to the nearest micro."""
    moved = price + (step if one.side is Side.YES else -step)
    return round((min(1.0, max(0.0, moved)) - price) * one.shares)


_KEY_OF: Final[dict[Grouping, Callable[[AgentHolding], tuple[str, str]]]] = {
    Grouping.CATEGORY: lambda one: (one.category, one.category or "no category"),
    Grouping.EVENT: lambda one: (one.event or one.market_id, one.question),
    Grouping.MARKET: lambda one: (one.market_id, one.question),
    Grouping.AGENT: lambda one: (one.agent_id, one.agent_name),
    Grouping.VENUE: lambda one: (one.venue.value, one.venue.value),
    Grouping.SIDE: lambda one: (one.side.value, one.side.value.upper()),
}
