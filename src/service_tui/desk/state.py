"""The state of the desk as one frozen value: a slice a screen."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from service_tui.desk.slices.account import AccountView, EquityPoint, LimitsView
from service_tui.desk.slices.agents import DEMO_AGENTS, AgentView, FillView, FleetView, RevealedView
from service_tui.desk.slices.briefing import BriefingView
from service_tui.desk.slices.buy_limits import BuyLimitsView
from service_tui.desk.slices.drill import DrillView
from service_tui.desk.slices.halt import HaltView
from service_tui.desk.slices.holdings import HoldingsView
from service_tui.desk.slices.log import LogView
from service_tui.desk.slices.markets import DetailView, MarketView, NewsView
from service_tui.desk.slices.notices import Notice
from service_tui.desk.slices.orders import OpenOrderView
from service_tui.desk.slices.positions import PositionView
from service_tui.desk.slices.quote import QuoteView
from service_tui.desk.slices.reactor import ReactorView
from service_tui.desk.slices.redemption import RedemptionView
from service_tui.desk.slices.research import ResearchView
from service_tui.desk.slices.risk import RiskView
from service_tui.desk.slices.service import ServiceView
from service_tui.desk.slices.supervision import SupervisionView
from service_tui.desk.slices.team import TeamView
from service_tui.desk.slices.tickets import TicketView
from service_tui.desk.slices.topics import Topic
from service_tui.desk.slices.trades import TradeView
from service_tui.desk.slices.venues import VenueSumView
from service_tui.desk.slices.wallet import WalletView
from service_tui.desk.slices.webhooks import WebhooksView
from service_tui.desk.slices.world import WorldView
from service_tui.units import Micros, Timestamp


@dataclass(frozen=True, slots=True)
class DeskState:
    """Everything that the console shows.

    `from_cache` is True until the first answer. `seen` holds, by topic, when the service last
    answered; a missing topic was never read. `polls` holds each topic's period in seconds.
    `tickets`, `trades` and `fills` are newest first; `equity` is oldest first. `fills` are those of
    all agents, since this desk began `listening`; `revealed` is a secret until it has been seen.
    `risk` protects the positions; `buy_limits` are those that the service reports.
    `halt` is this desk's own halt, None while there is none. `reactor` is the feed of signals.
    `redemption` is the queue of payouts on real venues, `wallet` the wallet behind them,
    `research` all of autoresearch, `supervision` the leashes of agents, trades that need approval,
    and the skills that this desk runs. `log` is the action log, once read,
    and `webhooks` are those of this desk's agent.
    `positions` and `closed` are in play money; `on_venues` are those in real money, open or ended,
    and `venue_sums` what lies there besides: no sum holds both. `orders` rest on books there;
    `gone_orders` were cancelled here, and are not listed again by an answer that was on its way.
    `cash_beside` is the cash in the last answer with positions, None where a service leaves it out;
    `is_cash_disputed` once an account answer had another figure. `awaited` is the topic without
    which cash and positions are of two moments, None for none. `drill` is the one that is played.
    `team` is the people of a shared desk, None on a desk of one.
    `holdings` is what all agents hold, None until a page shows it.
    `rewound_to` is the time at which a recorded state was written, None for the present one.
    """

    service: ServiceView
    account: AccountView | None = None
    limits: LimitsView | None = None
    markets: Mapping[str, MarketView] = field(default_factory=dict[str, MarketView])
    positions: tuple[PositionView, ...] = ()
    closed: tuple[PositionView, ...] = ()
    trades: tuple[TradeView, ...] = ()
    tickets: tuple[TicketView, ...] = ()
    world: WorldView | None = None
    news: tuple[NewsView, ...] = ()
    detail: DetailView | None = None
    quote: QuoteView | None = None
    equity: tuple[EquityPoint, ...] = ()
    stars: frozenset[str] = frozenset()
    preferences: Mapping[str, str] = field(default_factory=dict[str, str])
    notices: tuple[Notice, ...] = ()
    seen: Mapping[Topic, Timestamp] = field(default_factory=dict[Topic, Timestamp])
    polls: Mapping[Topic, float] = field(default_factory=dict[Topic, float])
    from_cache: bool = False
    positions_read: bool = False
    fleet: FleetView | None = None
    fills: tuple[FillView, ...] = ()
    revealed: RevealedView | None = None
    listening: bool = False
    briefing: BriefingView | None = None
    risk: RiskView = field(default_factory=RiskView)
    buy_limits: BuyLimitsView | None = None
    halt: HaltView | None = None
    reactor: ReactorView = field(default_factory=ReactorView)
    redemption: RedemptionView = field(default_factory=RedemptionView)
    wallet: WalletView = field(default_factory=WalletView)
    research: ResearchView = field(default_factory=ResearchView)
    supervision: SupervisionView = field(default_factory=SupervisionView)
    log: LogView = field(default_factory=LogView)
    webhooks: WebhooksView | None = None
    on_venues: tuple[PositionView, ...] = ()
    venue_sums: tuple[VenueSumView, ...] = ()
    orders: tuple[OpenOrderView, ...] = ()
    gone_orders: frozenset[str] = frozenset()
    cash_beside: Micros | None = None
    is_cash_disputed: bool = False
    awaited: Topic | None = None
    drill: DrillView | None = None
    team: TeamView | None = None
    rewound_to: Timestamp | None = None
    holdings: HoldingsView | None = None

    @property
    def halted_since(self) -> Timestamp | None:
        """Since when no entry passes: by this desk's own halt, or by its service's."""
        if self.halt is not None:
            return self.halt.since
        return None if self.world is None else self.world.halted_at

    @property
    def demo_agents(self) -> tuple[str, ...]:
        """Ids of the demo agents of the offline world; empty where there are none."""
        kept = self.preferences.get(DEMO_AGENTS, "")
        return tuple(kept.split(",")) if kept else ()

    @property
    def living_demos(self) -> tuple[AgentView, ...]:
        """The demo agents that are not retired."""
        every = () if self.fleet is None else self.fleet.agents
        return tuple(one for one in every if one.agent_id in self.demo_agents and not one.retired)

    @property
    def in_flight(self) -> int:
        """Commands whose end is not known."""
        return sum(ticket.in_flight for ticket in self.tickets)

    def position(self, key: str) -> PositionView | None:
        """The open position with this row key."""
        every = (*self.positions, *self.on_venues)
        return next((held for held in every if held.key == key and not held.is_closed), None)

    def question_of(self, ticket: TicketView) -> str:
        """Question of a command's market, else its id; empty without a market."""
        market = self.markets.get(ticket.market_id)
        return market.question if market is not None else ticket.question or ticket.market_id

    def held(self, market_id: str) -> tuple[PositionView, ...]:
        """Open positions of one market: none, one, or both sides."""
        return tuple(held for held in self.positions if held.market_id == market_id)
