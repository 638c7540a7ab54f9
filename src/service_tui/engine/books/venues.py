"""The simulated real-money venues as state: books, accounts, positions and their lifecycle.

`apply` changes by what happened and never refuses.

Money of a venue stays in accounts of its own, so that play USDC and $SIM never mix:
`issuer:<venue>`, `agent:<agent_id>:<venue>`, `orders:<venue>` (kept for open buys),
`venue:<venue>` (everybody else's side of each trade) and `fees:<venue>`.
`aside:<agent_id>:<venue>:<address>` is the money of a wallet that is not linked now; the managed
one has no address.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from service_tui.engine.agents.agents import Agent
from service_tui.engine.agents.exposure_limits import CheckExposure, no_limit
from service_tui.engine.agents.halt import HaltState
from service_tui.engine.agents.mirrors import MirrorReserves
from service_tui.engine.amm.ledger import Ledger
from service_tui.engine.amm.market import Market
from service_tui.engine.books.book import Book, Resting, Times, resting_of
from service_tui.engine.books.catalogue import has_event
from service_tui.engine.chain_events import WalletLinked
from service_tui.engine.errors import MarketNotFound
from service_tui.engine.events import (
    NO_NOTE,
    MarkedRedeemed,
    MarketResolved,
    Note,
    OrderEnded,
    OrderFilled,
    OrderPlaced,
    PositionRedeemed,
    VenueEvent,
)
from service_tui.engine.limits import counted_in, counts_as, day_of
from service_tui.engine.listing import Listing
from service_tui.engine.position import Position
from service_tui.engine.transitions import PositionState, PositionTrigger, moved
from service_tui.outcome import Outcome
from service_tui.terms import Action, Side, Venue
from service_tui.units import ONE, Micros, Timestamp, sum_of

GRANT: Final = Micros(1_000 * ONE)
"""Play USDC that every agent has on each venue at first. # ours: ten times the largest trade.
Replays of old journals grant it too, so it must never change."""

REAL: Final = (Venue.EVM, Venue.SOL)
SETTLED_KEPT: Final = 200
"""Positions without a payout to take, lost or redeemed, that an account remembers."""


def cash_account(agent_id: str, venue: Venue) -> str:
    """State of an agent's cash on a venue."""
    return f"agent:{agent_id}:{venue.value}"


def orders_account(venue: Venue) -> str:
    """Where the money of open buys is kept."""
    return f"orders:{venue.value}"


def aside_account(agent_id: str, address: str) -> str:
    """The ledger account of a wallet's money while the agent has another one linked."""
    return f"aside:{agent_id}:{Venue.EVM.value}:{address}"


@dataclass(slots=True)
class VenuePosition:
    """A position on a real venue, with what must be known of its market when that is forgotten.

    `burned_*` are shares that an external wallet redeemed on the chain and has not reported yet;
    `neg_risk` questions are redeemed by the adapter's contract. `resolved_at` is world time;
    `ready_at`, the same moment, and `redeemed_at` are wall time. `wallet` is that of its payout,
    once the oracle has settled.
    """

    position: Position
    question: str
    category: str
    resolves_at: Timestamp
    state: PositionState = PositionState.ACTIVE
    sources: tuple[str, ...] = ()
    outcome: Outcome | None = None
    resolved_at: Timestamp | None = None
    burned_yes: Micros = Micros(0)
    burned_no: Micros = Micros(0)
    neg_risk: bool = False
    redeemed_at: Timestamp | None = None
    tx_hash: str = ""
    paid: Micros = Micros(0)
    ready_at: Timestamp | None = None
    wallet: str | None = None

    def on_chain(self, side: Side) -> Micros:
        """Shares of a side that a token contract would still show."""
        if self.state is PositionState.REDEEMED:
            return Micros(0)
        burned = self.burned_yes if side is Side.YES else self.burned_no
        return Micros(self.position.shares(side) - burned)

    def pays(self, side: Side) -> bool:
        """Whether the oracle has settled, and the shares of a side bring anything."""
        return self.worth(side) > 0

    def worth(self, side: Side) -> Micros:
        """What all shares of a side bring, those that are redeemed as well; 0 before the end."""
        held = self.position.on(side)
        return (
            Micros(0) if self.outcome is None else self.outcome.paid(side, held.shares, held.cost)
        )

    def brings(self, side: Side, shares: Micros) -> Micros:
        """What the next shares of a side bring that are redeemed; parts sum up to the whole."""
        if self.outcome is None or shares <= 0:
            return Micros(0)
        held = self.position.on(side)
        burned = self.burned_yes if side is Side.YES else self.burned_no
        before, after = (
            self.outcome.paid(side, Micros(many), Micros(held.cost * many // held.shares))
            for many in (burned, burned + shares)
        )
        return Micros(after - before)

    def brought(self, side: Side) -> Micros:
        """What all shares of a side have brought, and will; of one that pays nothing 0."""
        if self.pays(side.other):
            return self.worth(side)
        return Micros(self.payout() + self.paid) if self.pays(side) else Micros(0)

    def payout(self, side: Side | None = None) -> Micros:
        """Money that can be redeemed now: of a side, or of both."""
        if self.state is not PositionState.READY:
            return Micros(0)
        sides = Side if side is None else (side,)
        return sum_of(self.brings(one, self.on_chain(one)) for one in sides)

    def is_redeemable(self, side: Side | None = None) -> bool:
        """Whether it shows as redeemable: until the report, though the payout may be there.

        Of two sides that both pay the one that has left the chain does not, while the other stays.
        """
        if self.state is not PositionState.READY:
            return False
        sides = Side if side is None else (side,)
        some_left = self.payout() > 0
        return any(self.pays(one) and (self.on_chain(one) > 0 or not some_left) for one in sides)

    def is_held(self) -> bool:
        """Whether there are shares of either side."""
        return bool(self.position.yes.shares or self.position.no.shares)


Holdings = dict[str, VenuePosition]
"""What one wallet holds, by market."""


@dataclass(slots=True)
class VenueAccount:
    """One agent on one venue. `realized` counts an outcome when it is settled, not redeemed.

    On the EVM venue `holdings` are those of the wallet that is linked now, the rest is the agent's.
    """

    agent_id: str
    venue: Venue
    realized: Micros = Micros(0)
    trades_count: int = 0
    win_count: int = 0
    loss_count: int = 0
    holdings: dict[str, VenuePosition] = field(default_factory=dict[str, VenuePosition])

    def redeemable_count(self) -> int:
        """Positions whose payout waits to be taken, or for its report."""
        return sum(holding.is_redeemable() for holding in self.holdings.values())


class Traded(NamedTuple):
    """Shares of a side that changed hands: money with the fee, and the shares left after it.

    `note` is that of an order which fills for the first time.
    """

    event: OrderPlaced | OrderFilled
    venue: Venue
    side: Side
    action: Action
    money: Micros
    left: Micros
    note: Note = NO_NOTE


class Venues:  # noqa: PLR0904  (the aggregate: readings, one apply)
    """Books and accounts of both venues, over the world's markets, agents and ledger."""

    __slots__ = (
        "_closes_at",
        "accounts",
        "agents",
        "aside",
        "books",
        "check_exposure",
        "halt",
        "ledger",
        "markets",
        "mirrors",
        "order_count",
        "payable",
        "seed",
        "spent",
        "traded",
        "wallets",
    )

    def __init__(  # noqa: PLR0917  (what the world shares with it, each once)
        self,
        seed: int,
        markets: dict[str, Market],
        agents: dict[str, Agent],
        ledger: Ledger,
        halt: HaltState | None = None,
        check_exposure: CheckExposure = no_limit,
    ) -> None:
        self.halt = halt or HaltState()
        self.check_exposure = check_exposure
        self.seed = seed
        self.markets = markets
        self.agents = agents
        self.ledger = ledger
        self.books: dict[str, Book] = {}
        self.accounts: dict[tuple[str, Venue], VenueAccount] = {}
        self.spent: dict[str, tuple[int, Micros]] = {}
        # The wallet that is linked now, of agents whose wallet has changed; and what each of their
        # other ones holds, by agent and address.
        self.wallets: dict[str, str] = {}
        self.aside: dict[tuple[str, str], Holdings] = {}
        self.order_count = 0
        # Shares exchanged that no monitor has seen yet; see risk.
        self.traded: list[Traded] = []
        self.mirrors = MirrorReserves()
        # What a tick would otherwise look for in every account: markets whose payout waits on the
        # EVM venue, by agent, and a time before which no window of a held market ends.
        self.payable: dict[str, set[str]] = {}
        self._closes_at = Timestamp(0.0)

    # -- readings --------------------------------------------------------------------------

    def book(self, market_id: str) -> Book:
        """The order book of a market.

        Returns:
            The book, empty of orders where nobody traded yet.

        Raises:
            MarketNotFound: there is no such market.
        """
        book = self.books.get(market_id)
        if book is None:
            market = self.markets.get(market_id)
            if market is None:
                raise MarketNotFound(f"market not found: {market_id}")
            book = self.books[market_id] = Book(self.seed, market.listing)
        return book

    def account(self, agent_id: str, venue: Venue) -> VenueAccount:
        """An agent's account on a venue; an empty one, not kept, where none is."""
        return self.accounts.get((agent_id, venue)) or VenueAccount(agent_id, venue)

    def pools(self) -> Iterator[tuple[VenueAccount, Holdings, str | None]]:
        """All that is held.

        Yields:
            Account, holdings, and the wallet as in `Payout`: what is linked now, then the others.
        """
        for account in self.accounts.values():
            on_chain = account.venue is Venue.EVM
            wallet = self.wallets.get(account.agent_id) if on_chain else None
            yield account, account.holdings, wallet
        for (agent_id, address), holdings in self.aside.items():
            yield self.accounts[agent_id, Venue.EVM], holdings, address

    def holdings_in(self, market_id: str) -> Iterator[VenuePosition]:
        """What anybody holds in a market, in whichever wallet."""
        for _, holdings, _ in self.pools():
            if market_id in holdings:
                yield holdings[market_id]

    def left_behind(self, agent_id: str) -> Iterator[tuple[str, VenuePosition]]:
        """What an agent's wallets hold on the EVM venue that are not linked now, by address."""
        for (whose, address), holdings in self.aside.items():
            if whose == agent_id:
                yield from ((address, holding) for holding in holdings.values())

    def is_linked(self, agent_id: str, address: str) -> bool:
        """Whether an agent's account on the EVM venue is that of an address now."""
        return self.wallets.get(agent_id, address.lower()) == address.lower()

    def cash(self, agent_id: str, venue: Venue) -> Micros:
        """Cash that an agent can spend; what open buys keep is not in it."""
        return self.ledger.balance(cash_account(agent_id, venue))

    def orders(self, agent_id: str | None, venue: Venue | None = None) -> list[Resting]:
        """Open orders of an agent, or of all, oldest first."""
        found = [
            order
            for book in self.books.values()
            for order in book.orders.values()
            if agent_id in {None, order.agent_id} and venue in {None, order.venue}
        ]
        return sorted(found, key=lambda order: (order.at, len(order.order_id), order.order_id))

    def reserved(self, agent_id: str, venue: Venue) -> Micros:
        """Money that open buys keep."""
        return sum_of(order.reserved for order in self.orders(agent_id, venue))

    def free_shares(self, agent_id: str, market_id: str, side: Side) -> Micros:
        """Shares that are held and not promised to an open sale."""
        book = self.book(market_id)
        holding = self.account(agent_id, book.listing.home).holdings.get(market_id)
        held = 0 if holding is None else holding.position.shares(side)
        promised = sum_of(
            order.left
            for order in book.orders.values()
            if (order.agent_id, order.side, order.action) == (agent_id, side, Action.SELL)
        )
        return Micros(held - promised)

    def spent_today(self, agent_id: str, at: Timestamp) -> Micros:
        """Money of the buys since midnight UTC on both venues, open orders included."""
        day, spent = self.spent.get(agent_id, (0, Micros(0)))
        return spent if counts_as(day, at) else Micros(0)

    def price(self, holding: VenuePosition, times: Times) -> float:
        """The mark price of YES: the middle of the book, the last one known, or the outcome.

        # ours: where the money went back it is what a share of YES cost, or all but that of NO.
        """
        if holding.outcome is not None:
            yes, no = holding.position.yes, holding.position.no
            if holding.outcome.is_void and not yes.shares and no.shares:
                return 1.0 - holding.outcome.price(Side.NO, no.shares, no.cost)
            return holding.outcome.price(Side.YES, yes.shares, yes.cost)
        return self.book(holding.position.market_id).mid(times)

    def unrealized(self, account: VenueAccount, times: Times) -> Micros:
        """Unrealized P&L of what the oracle has not settled."""
        total = 0
        for holding in account.holdings.values():
            if holding.outcome is None:
                value = _mark_value(holding.position, self.price(holding, times))
                total += value - holding.position.total_cost()
        return Micros(total)

    def equity(self, account: VenueAccount, times: Times) -> Micros:
        """Cash, money in open buys, payouts that wait, and the mark value of the rest."""
        total = self.cash(account.agent_id, account.venue)
        total += self.reserved(account.agent_id, account.venue)
        for holding in account.holdings.values():
            if holding.outcome is None:
                total += _mark_value(holding.position, self.price(holding, times))
            total += holding.payout()
        return Micros(total)

    # -- events ----------------------------------------------------------------------------

    def admit(self, agent_id: str) -> None:
        """Give an agent its play money on both venues."""
        for venue in REAL:
            self.ledger.transfer(f"issuer:{venue.value}", cash_account(agent_id, venue), GRANT)

    def take_wallet(self, event: WalletLinked, before: str) -> None:
        """Let the account on the EVM venue be that of another wallet.

        Args:
            event: the wallet, and whether money stays behind; from the first time on it always
                does.
            before: the address that was linked before, empty for the managed wallet.
        """
        agent_id, address = event.agent_id, event.address.lower()
        if event.left is None and agent_id not in self.wallets:
            # As older programs did: money and positions follow.
            return
        self.wallets[agent_id] = address
        if address == before:
            return
        account, cash = self._kept(agent_id, Venue.EVM), cash_account(agent_id, Venue.EVM)
        self._move(cash, aside_account(agent_id, before), self.ledger.balance(cash))
        self.aside[agent_id, before] = account.holdings
        known = self.aside.pop((agent_id, address), None)
        account.holdings = {} if known is None else known
        if known is None:
            # ours: a rehearsal without money would show nothing.
            self.ledger.transfer(f"issuer:{Venue.EVM.value}", cash, GRANT)
        else:
            kept = aside_account(agent_id, address)
            self._move(kept, cash, self.ledger.balance(kept))
        self.payable.pop(agent_id, None)
        for holding in account.holdings.values():
            self._note_payout(account, holding)

    def apply(self, event: VenueEvent) -> None:
        """Apply an event. Never refuses and checks nothing."""
        match event:
            case OrderPlaced():
                self._apply_placed(event)
            case OrderFilled():
                self._apply_filled(event)
            case OrderEnded():
                self._apply_ended(event)
            case PositionRedeemed():
                self._apply_redeemed(event)
            case MarkedRedeemed():
                self._apply_mark(event)

    def _apply_placed(self, event: OrderPlaced) -> None:
        agent = self.agents[event.agent_id]
        book = self.book(event.market_id)
        book.take(event.number, event.taken)
        self.order_count += 1
        buys = event.action is Action.BUY
        cash = cash_account(event.agent_id, event.venue)
        if buys:
            spent = Micros(event.money + event.reserved)
            agent.count_buy(event.at, spent, has_filled=event.shares > 0)
            self._spend(event.agent_id, event.at, spent)
            if event.note.skill_slug:
                agent.count_skill(event.note.skill_slug, spent, event.at)
            gone = Micros(event.money + event.fee + event.reserved)
            self.mirrors.count((event.agent_id, event.venue), event.at, gone, event.note)
            self._move(cash, orders_account(event.venue), event.reserved)
        if event.shares:
            agent.trades_count += 1
            agent.last_trade_at = event.at
            account = self._kept(event.agent_id, event.venue)
            account.trades_count += 1
            kind = (event.side, event.action)
            self._exchange(event, kind, cash, event.fee, note=event.note)
            if buys and event.note.source:
                holding = account.holdings[event.market_id]
                if event.note.source not in holding.sources:
                    holding.sources = (*holding.sources, event.note.source)
        if event.rests:
            book.orders[event.order_id] = resting_of(event)

    def _apply_filled(self, event: OrderFilled) -> None:
        book = self.book(event.market_id)
        book.take(event.number, event.taken)
        order = book.orders[event.order_id]
        giver = cash_account(order.agent_id, order.venue)
        if order.action is Action.BUY:
            giver = orders_account(order.venue)
            order.reserved = Micros(order.reserved - event.money)
        if not order.shares:
            agent = self.agents[event.agent_id]
            agent.trades_count += 1
            if order.action is Action.BUY:
                agent.count_first_fill(order.at, event.at)
            self._kept(event.agent_id, order.venue).trades_count += 1
        self.agents[event.agent_id].last_trade_at = event.at
        # Only its first fill sets a monitor: the person may have changed it by the next one.
        note = NO_NOTE if order.shares else order.note
        self._exchange(event, (order.side, order.action), giver, Micros(0), note=note)
        order.left = Micros(order.left - event.shares)
        order.shares = Micros(order.shares + event.shares)
        order.money = Micros(order.money + event.money)
        order.realized = Micros(order.realized + event.realized)
        source = order.note.source
        if order.action is Action.BUY and source:
            holding = self.account(order.agent_id, order.venue).holdings[order.market_id]
            if source not in holding.sources:
                holding.sources = (*holding.sources, source)

    def _exchange(
        self,
        event: OrderPlaced | OrderFilled,
        kind: tuple[Side, Action],
        giver: str,
        fee: Micros,
        *,
        note: Note,
    ) -> None:
        """Shares for money between an agent and the venue, and the taker's fee."""
        side, action = kind
        venue = self.book(event.market_id).listing.home
        account = self._kept(event.agent_id, venue)
        pool = f"venue:{venue.value}"
        if action is Action.BUY:
            self._move(giver, pool, event.money)
            position = self._holding(account, event.market_id).position
            spend = Micros(event.money + fee)
            position.buy(side, event.shares, spend, event.at, mark=event.mark)
        else:
            self._move(pool, giver, event.money)
            position = account.holdings[event.market_id].position
            position.sell(side, event.shares, Micros(event.money - fee))
            account.realized = Micros(account.realized + event.realized)
            account.win_count += event.realized > 0
            account.loss_count += event.realized < 0
        self._move(giver, f"fees:{venue.value}", fee)
        money = Micros(event.money + fee if action is Action.BUY else event.money - fee)
        left = position.shares(side)
        self.traded.append(Traded(event, venue, side, action, money, left=left, note=note))

    def _apply_ended(self, event: OrderEnded) -> None:
        order = self.book(event.market_id).orders.pop(event.order_id)
        taker = cash_account(order.agent_id, order.venue)
        self._move(orders_account(order.venue), taker, event.returned)
        who = (order.agent_id, order.venue)
        self.mirrors.give_back(who, order.at, event.returned, order.note)
        # What was never spent does not count against the day on which it was promised.
        day, spent = self.spent.get(order.agent_id, (0, Micros(0)))
        if event.returned and day == day_of(order.at):
            self.spent[order.agent_id] = day, Micros(max(0, spent - event.returned))
        agent = self.agents[order.agent_id]
        agent.give_back(event.returned, order.at)
        if order.action is Action.BUY and not order.shares:
            agent.forget_resting(order.at)
        if event.returned and order.note.skill_slug:
            agent.count_skill(order.note.skill_slug, Micros(-event.returned), order.at)

    def _apply_redeemed(self, event: PositionRedeemed) -> None:
        account = self.account(event.agent_id, event.venue)
        holding = account.holdings[event.market_id]
        taker = cash_account(event.agent_id, event.venue)
        self._move(f"venue:{event.venue.value}", taker, event.payout)
        holding.paid = Micros(holding.paid + event.payout)
        holding.redeemed_at = event.at
        holding.tx_hash = event.tx_hash or holding.tx_hash
        if event.tx_hash or holding.payout(event.side.other):
            if event.side is Side.YES:
                holding.burned_yes = Micros(holding.burned_yes + event.shares)
            else:
                holding.burned_no = Micros(holding.burned_no + event.shares)
            self._note_payout(account, holding)
            return
        holding.state = moved(holding.state, PositionTrigger.REDEEMED_WINNER)
        self._note_payout(account, holding)
        _forget_old(account.holdings)

    def _note_payout(self, account: VenueAccount, holding: VenuePosition) -> None:
        """Remember whose payout waits; the other venue redeems on a page of its own."""
        if account.venue is not Venue.EVM:
            return
        waiting = self.payable.setdefault(account.agent_id, set())
        if holding.payout():
            waiting.add(holding.position.market_id)
        else:
            waiting.discard(holding.position.market_id)
        if not waiting:
            del self.payable[account.agent_id]

    def _apply_mark(self, event: MarkedRedeemed) -> None:
        account = self.account(event.agent_id, event.venue)
        holding = account.holdings[event.market_id]
        found = not event.tx_hash
        trigger = PositionTrigger.BALANCE_ZERO if found else PositionTrigger.REDEEMED_WINNER
        holding.tx_hash = event.tx_hash or holding.tx_hash
        if holding.payout(event.side.other):
            # The other side pays as well, and is still on the chain.
            return
        holding.state = moved(holding.state, trigger)
        self._note_payout(account, holding)
        _forget_old(account.holdings)

    def close_windows(self, world_at: Timestamp) -> None:
        """Move positions along whose market window has ended."""
        if world_at < self._closes_at:
            return
        nearest = math.inf
        for _, holdings, _ in self.pools():
            for holding in holdings.values():
                if holding.state is not PositionState.ACTIVE:
                    continue
                if world_at >= holding.resolves_at:
                    holding.state = moved(holding.state, PositionTrigger.WINDOW_ENDED)
                else:
                    nearest = min(nearest, holding.resolves_at)
        self._closes_at = Timestamp(nearest)

    def keep(self, account: VenueAccount) -> None:
        """Take in an account that was written down."""
        self.accounts[account.agent_id, account.venue] = account
        self._closes_at = Timestamp(0.0)
        for holding in account.holdings.values():
            self._note_payout(account, holding)

    def settle(self, event: MarketResolved) -> None:
        """The oracle has settled a market: winners and losers are ready to redeem."""
        self.books.pop(event.market_id, None)
        for account, holdings, wallet in self.pools():
            holding = holdings.get(event.market_id)
            if holding is None:
                continue
            holding.wallet = wallet
            if holding.state is PositionState.ACTIVE:
                holding.state = moved(holding.state, PositionTrigger.WINDOW_ENDED)
            holding.state = moved(holding.state, PositionTrigger.ORACLE_SETTLED)
            holding.outcome, holding.resolved_at = event.outcome, event.world_at
            holding.ready_at = event.at
            realized = holding.payout() - holding.position.total_cost()
            account.realized = Micros(account.realized + realized)
            account.win_count += realized > 0
            account.loss_count += realized < 0
            if holdings is account.holdings:
                # What another wallet holds waits until that is linked again.
                self._note_payout(account, holding)
            _forget_old(holdings)

    def _kept(self, agent_id: str, venue: Venue) -> VenueAccount:
        """An agent's account on a venue, made at its first trade."""
        account = self.account(agent_id, venue)
        return self.accounts.setdefault((agent_id, venue), account)

    def _holding(self, account: VenueAccount, market_id: str) -> VenuePosition:
        holding = account.holdings.get(market_id)
        if holding is None:
            listing: Listing = self.markets[market_id].listing
            holding = account.holdings[market_id] = VenuePosition(
                Position(account.agent_id, market_id),
                listing.question,
                listing.category.value,
                listing.resolves_at,
                neg_risk=has_event(listing),
            )
            self._closes_at = min(self._closes_at, listing.resolves_at)
        return holding

    def _spend(self, agent_id: str, at: Timestamp, money: Micros) -> None:
        day, _ = self.spent.get(agent_id, (0, Micros(0)))
        spent = Micros(self.spent_today(agent_id, at) + money)
        self.spent[agent_id] = counted_in(day, at), spent

    def _move(self, giver: str, taker: str, amount: Micros) -> None:
        """Transfer what is more than nothing."""
        if amount:
            self.ledger.transfer(giver, taker, amount)


def _mark_value(position: Position, price: float) -> Micros:
    return Micros(position.yes.mark_value(price) + position.no.mark_value(1.0 - price))


def _forget_old(holdings: Holdings) -> None:
    """Drop the oldest settled positions that can bring nothing any more."""
    over = [
        (holding.resolved_at, market_id)
        for market_id, holding in holdings.items()
        if holding.resolved_at is not None and not holding.payout()
    ]
    for _, market_id in sorted(over)[: max(0, len(over) - SETTLED_KEPT)]:
        del holdings[market_id]
