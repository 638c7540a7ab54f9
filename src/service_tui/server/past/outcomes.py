"""Splits an agent's closing profits over the skills that bought.

Each skill has a book of its own for every side of every market on every venue, in each wallet. A
sale takes from the book of the skill that sells, then from the others of its wallet, oldest first;
a payout closes every book.
Whatever the order, the P&L of all skills together is money received less money spent, to the micro.
A sale is a trade of the skill from whose book it took first, whoever gave it.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field

from service_tui.engine.position import SidePosition
from service_tui.server.past.agent_past import AgentFill, AgentPayout
from service_tui.terms import Action, Side, Venue
from service_tui.units import Micros, Timestamp, sum_of

Place = tuple[Venue, str, Side]
"""One side of one market on one venue."""

Owner = tuple[str, str]
"""A wallet, and a skill that bought for it."""


@dataclass(frozen=True, slots=True)
class Closing:
    """What a part of a book brought. `settled` distinguishes a payout from a sale."""

    skill: str
    venue: Venue
    market_id: str
    at: Timestamp
    pnl: Micros
    settled: bool


@dataclass(slots=True)
class Books:
    """Shares and cost of every skill, by side and market, and all closings so far.

    With `apart` false everything of a wallet stands in one book a side, as in its own positions.
    """

    apart: bool
    held: dict[Place, dict[Owner, SidePosition]] = field(
        default_factory=dict[Place, dict[Owner, SidePosition]]
    )
    closings: list[Closing] = field(default_factory=list[Closing])
    skills: dict[str, str] = field(default_factory=dict[str, str])
    """Skill of each trade, by its id."""

    def take(self, past: AgentFill | AgentPayout) -> None:
        """Enter one thing that happened; in the order in which they happened."""
        if isinstance(past, AgentPayout):
            self._pay(past)
        elif past.action is Action.BUY:
            self.skills[past.trade_id] = self._skill_of(past)
            own = self.held.setdefault(_place(past), {})
            book = own.setdefault((past.wallet, self._skill_of(past)), SidePosition())
            book.shares = Micros(book.shares + past.shares)
            book.cost = Micros(book.cost + past.money)
        else:
            self._sell(past)

    def _sell(self, fill: AgentFill) -> None:
        held = self.held.get(_place(fill), {}).items()
        # Shares of another wallet are not sold by this one, whatever they cost.
        books = {skill: book for (wallet, skill), book in held if wallet == fill.wallet}
        own = self._skill_of(fill)
        left, proceeds = fill.shares, fill.money
        for skill in (*([own] if own in books else []), *(one for one in books if one != own)):
            book = books[skill]
            sold = Micros(min(left, book.shares))
            if not sold:
                continue
            # The last book takes what rounding left, so that nothing of the proceeds is lost.
            self.skills.setdefault(fill.trade_id, skill)
            part = Micros(proceeds * sold // left)
            cost = book.cost_of(sold)
            book.shares = Micros(book.shares - sold)
            book.cost = Micros(book.cost - cost)
            pnl = Micros(part - cost)
            self.closings.append(
                Closing(skill, fill.venue, fill.market_id, fill.at, pnl, settled=False)
            )
            left, proceeds = Micros(left - sold), Micros(proceeds - part)
            if not left:
                break
        # Of what was bought before the journal began nothing is known but the seller.
        self.skills.setdefault(fill.trade_id, own)

    def _skill_of(self, fill: AgentFill) -> str:
        return fill.skill if self.apart else ""

    def _pay(self, paid: AgentPayout) -> None:
        held = [one for one in self.held.pop(_place(paid), {}).items() if one[1].shares]
        whole = sum_of(book.cost for _, book in held)
        # Where the money goes back it is that of the position: books know their own costs alone.
        is_of_one = len({wallet for (wallet, _), _ in held}) == 1
        back = paid.payout if is_of_one else whole
        shares = cost = before = Micros(0)
        for (_, skill), book in held:
            # Each book has its part of what all of them bring, so that rounding loses nothing.
            shares, cost = Micros(shares + book.shares), Micros(cost + book.cost)
            part = Micros(back * cost // whole) if whole else Micros(0)
            after = paid.outcome.paid(paid.side, shares, part)
            pnl = Micros(after - before - book.cost)
            before = after
            self.closings.append(
                Closing(skill, paid.venue, paid.market_id, paid.at, pnl, settled=True)
            )


def _place(one: AgentFill | AgentPayout) -> Place:
    return one.venue, one.market_id, one.side


def books_of(past: Iterable[AgentFill | AgentPayout], *, apart: bool = True) -> Books:
    """The books after an agent's past, which is given oldest first; by skill where `apart`."""
    books = Books(apart)
    for one in past:
        books.take(one)
    return books
