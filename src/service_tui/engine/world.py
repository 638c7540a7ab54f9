"""The sim as one value: markets, agents, ledger and the tape's clock; `tick` moves it.

Each command checks, makes events, applies them and returns them; the server writes them down before
it answers, and a restart applies them again.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from service_tui.engine.agents.agents import Agent, AgentSettings, ClosedPosition, question_before
from service_tui.engine.agents.exposure_limits import CostPart, ExposureLimits
from service_tui.engine.agents.halt import HaltState
from service_tui.engine.agents.marks import MINUTE_S, Mark
from service_tui.engine.agents.pending_trades import PendingTrades
from service_tui.engine.amm.exchange import Exchange, Order
from service_tui.engine.amm.ledger import Ledger
from service_tui.engine.amm.market import Market, Quote
from service_tui.engine.books.catalogue import event_of
from service_tui.engine.books.venues import Venues
from service_tui.engine.chain.chain import Chain
from service_tui.engine.chain_events import ChainEvent, WalletLinked
from service_tui.engine.errors import AgentNotFound, MakerBoundError, MarketNotFound
from service_tui.engine.events import (
    AgentChanged,
    AgentRegistered,
    ClientSeen,
    Event,
    ExperimentLogged,
    ExposureLimitSet,
    Fill,
    FleetEvent,
    HaltSet,
    KeyRotated,
    LeashSet,
    MarketListed,
    MarketResolved,
    OperatorActed,
    PlanSet,
    ReactorEvent,
    RiskEvent,
    SessionBegun,
    SpeedSet,
    Ticked,
    TradeFailed,
    VenueEvent,
)
from service_tui.engine.limits import day_of
from service_tui.engine.notify.agent_alerts import AgentAlertBook
from service_tui.engine.notify.price_alerts import PriceAlertBook
from service_tui.engine.notify.webhooks import Webhooks
from service_tui.engine.notify_events import (
    AgentAlertEvent,
    NotifyEvent,
    WebhookDeleted,
    WebhookSet,
    WebhookTried,
)
from service_tui.engine.reactor.apply_wallet_trades import apply_wallet_trades
from service_tui.engine.reactor.reactor import Reactor
from service_tui.engine.reactor.wallet_trades import WalletContext
from service_tui.engine.research.research import Research
from service_tui.engine.risk.risk import UNSEEN_MAX, Risk
from service_tui.engine.tape.absence import Absence, count_unseen
from service_tui.engine.tape.belief import first_beliefs
from service_tui.engine.tape.feed import NewsItem, tape_of
from service_tui.engine.tape.history import HistoryStart
from service_tui.engine.tape.recorded import MarketTape, RecordedTape
from service_tui.engine.tape.topics import Topics
from service_tui.outcome import Outcome
from service_tui.terms import Plan, Venue
from service_tui.units import Micros, Timestamp, sum_of

ISSUER: Final = "issuer"
CROWD: Final = "crowd"
MAKERS: Final = "makers"
"""Accounts of the world: who gives first cash, who trades beside the agents, what makers keep."""

PREFILL: Final = 16
"""Prices of a market's life before it was watched: one a column of the sparkline."""

LOSS_SLACK: Final = 10
"""Micros by which the arithmetic in doubles may miss the exact bound."""

RESOLVED_KEPT: Final = 200
"""Resolved markets that stay listed; older ones are dropped, positions in them stay as closed."""

CLOSED_KEPT: Final = 1_000
"""Closed positions of an agent in each snapshot; older ones are in the history and the sums."""


Noted = (
    ClientSeen
    | TradeFailed
    | ReactorEvent
    | ChainEvent
    | ExperimentLogged
    | SessionBegun
    | LeashSet
    | NotifyEvent
)
"""What happens to an agent, or what it does, without a trade."""


class World:  # noqa: PLR0904  (the aggregate: commands, readings, one apply)
    """Everything that the embedded service knows, changed by `apply` alone."""

    def __init__(
        self,
        seed: int,
        at: Timestamp,
        topics: Topics,
        balances: Mapping[str, Micros] | None = None,
        *,
        history: HistoryStart | None = None,
    ) -> None:
        self.seed = seed
        self.topics = topics
        self.history = history
        self.tape: MarketTape = (
            tape_of(seed, topics) if history is None else RecordedTape(topics.history_of(history))
        )
        self.markets: dict[str, Market] = {}
        # Markets that ended since the server last wrote some down: it takes them from here.
        self.ended: dict[str, Market] = {}
        self.agents: dict[str, Agent] = {}
        self.ledger = Ledger(balances)
        self.halt = HaltState()
        self.exposure_limits = ExposureLimits(self.held_parts)
        self.exchange = Exchange(
            self.markets,
            self.agents,
            self.ledger,
            self.halt,
            check_exposure=self.check_exposure,
        )
        self.plan: Plan | None = None
        self.venues = Venues(
            seed, self.markets, self.agents, self.ledger, self.halt, self.check_exposure
        )
        self.risk = Risk(self.agents, self.venues)
        self._unseen = self.risk.filled
        self.reactor = Reactor(self.venues.mirrors)
        self.chain = Chain(self.ledger)
        self.research = Research()
        self.pending_trades = PendingTrades(self.agents)
        self.price_alerts = PriceAlertBook()
        self.agent_alerts = AgentAlertBook()
        self.webhooks = Webhooks()
        self.wallet_context = WalletContext(
            seed, self.tape, self.markets, self.venues, self.reactor
        )
        self.speed = 1
        self.at = at
        self.world_at = at if history is None else history.begins_at
        self.tick_count = self.trade_count = 0
        self.listed_count = self.resolved_count = 0
        self._by_key_hash: dict[str, Agent] = {}
        # Until when what agents are worth is noted: the end of the minute of the last event.
        self.marked_until = 0.0
        self.meanwhile: Absence | None = None

    # -- limits on what all agents hold ----------------------------------------------------

    def held_parts(self, venue: Venue) -> Iterator[CostPart]:
        """What each market without an outcome costs each agent on a venue."""
        for agent in self.agents.values():
            for market_id, cost in self._costs(agent, venue).items():
                yield self.held_part(agent.agent_id, market_id, cost)

    def held_part(self, agent_id: str, market_id: str, cost: Micros) -> CostPart:
        """So much money of an agent in a market, with the groups that it belongs to."""
        market = self.markets.get(market_id)
        event = None if market is None else event_of(market.listing)
        category = "" if market is None else market.listing.category.value
        return CostPart(
            agent_id, market_id, category, "" if event is None else event.event_id, cost
        )

    def _costs(self, agent: Agent, venue: Venue) -> dict[str, Micros]:
        if venue is Venue.SIM:
            return {one.market_id: one.total_cost() for one in agent.open_positions()}
        held = self.venues.account(agent.agent_id, venue).holdings
        costs = {
            market_id: one.position.total_cost()
            for market_id, one in held.items()
            if one.outcome is None
        }
        for order in self.venues.orders(agent.agent_id):
            if order.venue is venue:
                spent = costs.get(order.market_id, Micros(0)) + order.reserved
                costs[order.market_id] = Micros(spent)
        return costs

    def check_exposure(self, agent_id: str, market_id: str, venue: Venue, size: Micros) -> None:
        """Refuse a buy beyond a limit of the operator; see `ExposureLimits.check`."""
        if self.exposure_limits.kept:
            self.exposure_limits.check(self.held_part(agent_id, market_id, size), venue)

    # -- commands: check, then events ------------------------------------------------------

    def register(self, event: AgentRegistered) -> list[Event]:
        """Take in a new agent."""
        return self.did([event])

    def change(self, agent: Agent, changes: dict[str, object], at: Timestamp) -> list[Event]:
        """Give an agent new settings."""
        return self.did([AgentChanged(agent.agent_id, at, changes)])

    def decide(
        self, decision: KeyRotated | PlanSet | HaltSet | ExposureLimitSet | OperatorActed
    ) -> list[Event]:
        """Apply the operator's decision about one agent, or about all."""
        return self.did([decision])

    def note(self, event: Noted) -> list[Event]:
        """Take note of something that happened to an agent, or that it did without trading."""
        return self.did([event])

    def place(self, order: Order, at: Timestamp) -> Fill:
        """Carry out an order.

        Returns:
            The fill, already applied; the caller writes it down before it answers.

        Raises:
            Refusal: nothing changed.
        """
        fill = self.exchange.check(order, f"t{self.trade_count + 1}", (at, self.world_at))
        if at >= self.marked_until:
            self._mark(at)
        self.exchange.apply(fill)
        self.trade_count += 1
        unseen = self._unseen
        unseen.append(fill)
        if len(unseen) > UNSEEN_MAX:
            self.risk.settle()
        if fill.note.signal_data:
            self.reactor.mirrors.count_fill(fill)
        return fill

    def quote(self, order: Order) -> Quote:
        """What an order would get now; a Refusal where the market does not take it."""
        return self.exchange.quote(order, self.world_at)

    # -- readings --------------------------------------------------------------------------

    def market(self, market_id: str) -> Market:
        """The market with this id, open or not; MarketNotFound where there is none."""
        market = self.markets.get(market_id)
        if market is None:
            raise MarketNotFound(f"market not found: {market_id}")
        return market

    def cash(self, agent: Agent) -> Micros:
        """Cash of an agent."""
        return self.ledger.balance(agent.cash_account)

    def equity(self, agent: Agent) -> Micros:
        """Cash plus the mark value of all positions."""
        value = sum_of(
            position.mark_value(self.markets[market_id].price())
            for market_id, position in agent.positions.items()
        )
        return Micros(self.cash(agent) + value)

    def exit_equity(self, agent: Agent) -> Micros:
        """Cash plus the proceeds of selling every position now: own price impact adds nothing."""
        value = sum_of(
            part
            for market_id, position in agent.positions.items()
            for part in self.markets[market_id].exit_parts(position)
        )
        return Micros(self.cash(agent) + value)

    def gained_today(self, agent: Agent, at: Timestamp) -> Micros:
        """Change of the exit equity since midnight UTC.

        Source: decisions, "Hours and days": by the service's clock, also while the world is paused.
        """
        if agent.equity_day != day_of(at):
            # Nothing has happened since midnight.
            return Micros(0)
        return Micros(self.exit_equity(agent) - agent.day_equity)

    def gained_since(self, agent: Agent, since: Timestamp) -> Micros | None:
        """Change of the equity since a moment in the agent's life.

        None where that is not known: an older program noted no worth.
        """
        first = agent.marks.first()
        if first is None or first.at > since:
            return None
        known = agent.marks.worth_at(since)
        return Micros(0 if known is None else self.equity(agent) - known.equity)

    def news(self, since: Timestamp, limit: int) -> list[NewsItem]:
        """News of the open markets, newest first."""
        items = [
            item
            for market in self.markets.values()
            if market.resolved_at is None
            for item in self.tape.news(market.listing, since, self.world_at)
        ]
        items.sort(key=lambda item: item.at, reverse=True)
        return items[:limit]

    def agent(self, agent_id: str) -> Agent:
        """The agent with this id; AgentNotFound where there is none."""
        agent = self.agents.get(agent_id)
        if agent is None:
            raise AgentNotFound(f"agent not found: {agent_id}")
        return agent

    def by_key_hash(self, key_hash: str) -> Agent | None:
        """The agent to whom a key belongs."""
        return self._by_key_hash.get(key_hash)

    # -- events ----------------------------------------------------------------------------

    def did(self, events: Sequence[Event]) -> list[Event]:
        """Apply events of a command, and hand them on."""
        for event in events:
            self.apply(event)
        return list(events)

    def apply(self, event: Event) -> None:  # noqa: C901, PLR0911, PLR0912, PLR0915  (a line a kind)
        """Apply an event to the world. Never refuses and checks nothing."""
        if isinstance(event, VenueEvent):
            # Play USDC is no part of the day's equity: nothing to note before it moves.
            self.venues.apply(event)
            return
        if isinstance(event, RiskEvent):
            self.risk.apply(event)
            return
        if isinstance(event, ReactorEvent):
            self.reactor.apply(event)
            return
        if isinstance(event, ChainEvent):
            if isinstance(event, WalletLinked):
                # What was bought before was bought by the wallet of before.
                self.risk.settle()
                self.venues.take_wallet(event, self.chain.linked.get(event.agent_id, ""))
            self.chain.apply(event)
            return
        if isinstance(event, FleetEvent):
            self.pending_trades.apply(event)
            return
        if isinstance(event, WebhookSet | WebhookDeleted | WebhookTried):
            self.webhooks.apply(event)
            return
        if isinstance(event, AgentAlertEvent):
            self.agent_alerts.apply(event)
            return
        if isinstance(event, NotifyEvent):
            self.price_alerts.apply(event)
            return
        if event.at >= self.marked_until:
            self._mark(event.at)
        match event:
            case Fill():
                self.exchange.apply(event)
                self.trade_count += 1
                self._unseen.append(event)
                if event.note.signal_data:
                    self.reactor.mirrors.count_fill(event)
            case Ticked():
                self._apply_tick(event)
            case MarketListed():
                self._apply_listing(event)
            case MarketResolved():
                self._apply_resolution(event)
            case AgentRegistered():
                self._apply_agent(event)
            case AgentChanged():
                # What was bought before was bought under the settings of before.
                self.risk.settle()
                self.agents[event.agent_id].apply(event)
                self.risk.take_settings(self.agents[event.agent_id])
            case ClientSeen() | TradeFailed():
                self.agents[event.agent_id].apply(event)
            case ExperimentLogged():
                self.research.apply(event)
            case SessionBegun():
                self.research.begin(event)
            case KeyRotated():
                agent = self.agents[event.agent_id]
                del self._by_key_hash[agent.key_hash]
                agent.key_hash = event.key_hash
                self._by_key_hash[event.key_hash] = agent
            case PlanSet():
                self.plan = event.plan
            case ExposureLimitSet():
                self.exposure_limits.apply(event)
            case HaltSet():
                self.halt.since = event.at if event.halted else None
            case OperatorActed():
                # It names who was behind the rows beside it, and moves nothing.
                pass
            case SpeedSet():
                # Time that passed while the tape stood still left no event: it must not run later.
                self.at = max(self.at, event.at)
                self.speed = event.speed

    def _apply_agent(self, event: AgentRegistered) -> None:
        account = f"agent:{event.agent_id}"
        agent = Agent(
            agent_id=event.agent_id,
            created_at=event.at,
            description=event.description,
            key_hash=event.key_hash,
            claim_code=event.claim_code,
            settings=AgentSettings(name=event.name, plan=event.plan),
            cash_account=account,
            equity_day=day_of(event.at),
            day_equity=event.cash,
            peak=event.cash,
        )
        agent.marks.add(Mark(event.at, event.cash, event.cash))
        self.adopt(agent)
        self.ledger.transfer(ISSUER, account, event.cash)
        self.venues.admit(event.agent_id)

    def adopt(self, agent: Agent) -> None:
        """Take an agent in whose cash the ledger already knows."""
        self.agents[agent.agent_id] = agent
        self._by_key_hash[agent.key_hash] = agent

    def _apply_listing(self, event: MarketListed) -> None:
        listing, world_at = self.tape.bound(event.listing), event.world_at
        market = Market(listing)
        market.listed_at = event.at
        self.markets[listing.market_id] = market
        self.listed_count += 1
        # Prices from before the desk looked come from the tape; they are for charts only.
        step_s = (world_at - listing.opens_at) / PREFILL
        if step_s > 0:
            market.samples += first_beliefs(listing, step_s, PREFILL)
        for trade in event.opening:
            self.ledger.transfer(CROWD, market.account, trade.cost)
            market.move(trade.side, trade.shares)
        if event.charged_to:
            self.agents[event.charged_to].count_import(event.at)

    def _apply_tick(self, event: Ticked) -> None:
        if event.closed:
            count_unseen(self.markets.values(), event.world_at)
            self.agent_alerts.cross(self.at, event.at)
        self.at = event.at
        self.world_at = event.world_at
        self.venues.close_windows(event.world_at)
        self.tick_count += 1
        for trade in event.trades:
            market = self.markets[trade.market_id]
            self.ledger.transfer(CROWD, market.account, trade.cost)
            market.move(trade.side, trade.shares)
            if event.closed and market.listing.origin is None:
                # One move stands for many trades that were not listed: it is left out of the tape.
                continue
            market.count_volume(event.world_at, trade.cost)
            price = market.price_of(trade.side)
            market.tape.append((
                event.world_at,
                trade.trader,
                trade.side,
                "buy",
                trade.shares,
                price,
            ))
        apply_wallet_trades(self.wallet_context, event, CROWD)
        for market in self.markets.values():
            if market.resolved_at is None:
                market.sample(event.world_at)

    def _mark(self, at: Timestamp) -> None:
        """Note what every agent is worth at the first event of a minute, before anything moves."""
        self.marked_until = (at // MINUTE_S + 1) * MINUTE_S
        day = day_of(at)
        for agent in self.agents.values():
            if agent.equity_day != day:
                agent.equity_day = day
                agent.day_equity = self.exit_equity(agent)
            if agent.marks.first() is not None or agent.trades_count:
                mark = Mark(at, self.equity(agent), self.exit_equity(agent))
                agent.marks.add(mark)
                agent.peak = max(agent.peak, mark.exit_equity)

    def _apply_resolution(self, event: MarketResolved) -> None:
        self.risk.take_outcome(event.market_id, event.at)
        self.price_alerts.end_market(event.market_id)
        market = self.markets[event.market_id]
        listing = market.listing
        for paid in event.payouts:
            agent = self.agents[paid.agent_id]
            if paid.payout:
                self.ledger.transfer(market.account, agent.cash_account, paid.payout)
            realized = Micros(paid.payout - paid.cost)
            agent.realized = Micros(agent.realized + realized)
            agent.win_count += realized > 0
            agent.loss_count += realized < 0
            agent.closed.append(
                ClosedPosition(
                    market_id=market.market_id,
                    question=listing.question,
                    category=listing.category.value,
                    side=paid.side,
                    shares=paid.shares,
                    cost=paid.cost,
                    payout=paid.payout,
                    realized=Micros(realized + paid.realized_before),
                    outcome=event.outcome,
                    opened_at=paid.opened_at,
                    resolved_at=event.world_at,
                    sources=paid.sources,
                )
            )
        for agent in self.agents.values():
            agent.positions.pop(market.market_id, None)
            agent.sources.pop(market.market_id, None)
            del agent.closed[:-CLOSED_KEPT]
        if event.crowd_payout:
            self.ledger.transfer(market.account, CROWD, event.crowd_payout)
        self._close_maker(market, event.outcome)
        self.venues.settle(event)
        self.reactor.records.settle(event)
        market.outcome = event.outcome
        market.resolved_at = event.world_at
        self.ended[market.market_id] = market
        self.resolved_count += 1
        self._forget_old()

    def _close_maker(self, market: Market, outcome: Outcome) -> None:
        """Empty the account of a resolved market's maker, whose loss has its bound."""
        left = self.ledger.balance(market.account)
        # ours: money back is not what shares are worth, so that no bound holds then: who sold at
        # a profit keeps it, and the makers make up for what others get back.
        if not outcome.is_void and not int(left) >= -market.worst_loss() - LOSS_SLACK:
            raise MakerBoundError(f"{market.market_id}: the maker lost {-left} micros")
        if left > 0:
            self.ledger.transfer(market.account, MAKERS, left)
        elif left < 0:
            self.ledger.transfer(MAKERS, market.account, Micros(-left))

    def _forget_old(self) -> None:
        resolved = [
            (market.resolved_at, key)
            for key, market in self.markets.items()
            if market.resolved_at is not None
        ]
        if len(resolved) > RESOLVED_KEPT:
            for _, market_id in sorted(resolved)[: len(resolved) - RESOLVED_KEPT]:
                del self.markets[market_id]

    def question_of(self, market_id: str) -> str:
        """The question of a market; empty when it is forgotten."""
        market = self.markets.get(market_id)
        if market is not None:
            return market.listing.question
        return question_before(self.agents.values(), market_id)
