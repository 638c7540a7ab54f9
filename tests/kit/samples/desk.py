"""A desk full of plausible things, for tests and pictures of the console. No I/O, no clock."""

import math
import random
from dataclasses import replace
from functools import cache

from service_tui.desk.slices.account import AccountView, EquityPoint, LimitsView
from service_tui.desk.slices.agents import AgentView, FillView, FleetView
from service_tui.desk.slices.briefing import (
    BriefingView,
    NewMarketView,
    StandingView,
    VenueBriefing,
)
from service_tui.desk.slices.buy_limits import (
    BuyLimitsView,
    CooldownView,
    RiskDefaults,
    SkillDaySpend,
)
from service_tui.desk.slices.markets import DetailView, MarketView, NewsView, TapeTradeView
from service_tui.desk.slices.positions import PositionView
from service_tui.desk.slices.reactor import ReactorView
from service_tui.desk.slices.service import Phase, ServiceView
from service_tui.desk.slices.tickets import TicketState, TicketView
from service_tui.desk.slices.topics import Topic
from service_tui.desk.slices.trades import TradeView
from service_tui.desk.slices.world import WorldView
from service_tui.desk.state import DeskState
from service_tui.terms import (
    Action,
    AgentStatus,
    Category,
    MarketStatus,
    Mode,
    Plan,
    Side,
    TradeStatus,
    Venue,
)
from service_tui.units import Micros, Probability, Timestamp

NOW = Timestamp(1_800_000_000.0)
QUESTIONS = (
    "Will the harbour at Port Ellery log gusts above 92 km/h by 18:00 UTC on 16 Jan?",
    "Will Marlow Vale council pass the night-bus budget by 09:00 UTC on 17 Jan?",
    "Will the Kestrels win the second leg by two goals or more?",
    "Will the Windrose 9 probe be launched by 12:00 UTC on 15 Jan?",
    "Will Lumen trade above $410 at 12:00 UTC on 16 Jan?",
    "Will the festival's closing film run longer than 140 minutes?",
    "Will the river gauge at Anselm Bridge read above 3.2 m at dawn?",
)


def market(index: int, rng: random.Random) -> MarketView:
    price = min(0.97, max(0.03, rng.betavariate(1.2, 1.2)))
    category = list(Category)[index % 6]
    status = MarketStatus.ACTIVE if index % 11 else MarketStatus.CLOSED
    walk = [price]
    for _ in range(15):
        walk.append(min(0.98, max(0.02, walk[-1] + rng.gauss(0, 0.03))))
    return MarketView(
        market_id=f"m-{index:05d}",
        question=f"{QUESTIONS[index % len(QUESTIONS)][:-1]} ({index})?",
        category=category.value,
        tags=(category.value,),
        status=status,
        price=Probability(round(price, 4)),
        price_24h_ago=round(walk[-1], 4),
        volume=Micros(int(rng.lognormvariate(8, 1.2) * 1e6)),
        opens_at=Timestamp(NOW - 86_400 * rng.random() * 5),
        resolves_at=Timestamp(NOW + math.exp(rng.uniform(5, 14))),
        resolved_at=None,
        outcome=None,
        liquidity=Micros(int(rng.uniform(300, 5000) * 1e6)),
        sparkline=tuple(reversed(walk)),
        criteria="Counts as YES when the official reading says so at the time named. "
        "Otherwise NO. Source: the public log.",
    )


def position(view: MarketView, side: Side, rng: random.Random) -> PositionView:
    shares = rng.uniform(5, 400)
    average = min(0.95, max(0.05, view.price_of(side) + rng.gauss(0, 0.1)))
    value = shares * view.price_of(side)
    cost = shares * average
    return PositionView(
        market_id=view.market_id,
        question=view.question,
        category=view.category,
        side=side,
        venue=Venue.SIM,
        status=view.status,
        shares=Micros(int(shares * 1e6)),
        cost=Micros(int(cost * 1e6)),
        average=average,
        mark_price=view.price_of(side),
        mark_value=Micros(int(value * 1e6)),
        exit_value=Micros(int(value * 0.97 * 1e6)),
        unrealized=Micros(int((value - cost) * 1e6)),
        realized=Micros(0),
        resolves_at=view.resolves_at,
        opened_at=Timestamp(NOW - 90_000),
    )


def fleet(cash: Micros, equity: Micros) -> FleetView:
    names = ("desk", "heron", "moss-runner", "tide [/red]")
    statuses = (
        AgentStatus.UNCLAIMED,
        AgentStatus.ACTIVE,
        AgentStatus.SUSPENDED,
        AgentStatus.UNCLAIMED,
    )
    agents = tuple(
        AgentView(
            agent_id=f"a-{place + 1}",
            name=name,
            description="watches the gauges of the river" if place == 1 else "",
            status=status,
            plan=Plan.ELITE if place == 2 else Plan.PRO,
            claimed=status is not AgentStatus.UNCLAIMED,
            claim_url=f"http://127.0.0.1:8017/claim/reef-{place}",
            paused=place == 3,
            suspended=status is AgentStatus.SUSPENDED,
            cash=Micros(cash - place * 1_310_000_000),
            equity=Micros(equity - place * 640_000_000),
            total_pnl=Micros((120 - 170 * place) * 1_000_000),
            day_pnl=Micros((41 - 23 * place) * 1_000_000),
            positions_count=7 - place,
            trades_count=131 * place + 12,
            last_trade_at=Timestamp(NOW - 40 * (place + 1)) if place < 3 else None,
            created_at=Timestamp(NOW - 86_400 * 3),
            is_own=place == 0,
        )
        for place, (name, status) in enumerate(zip(names, statuses, strict=True))
    )
    return FleetView(agents, Plan.PRO, 10)


def fills(views: list[MarketView]) -> tuple[FillView, ...]:
    return tuple(
        FillView(
            seq=900 - place,
            at=Timestamp(NOW - 7 * place),
            agent_id=f"a-{place % 3 + 1}",
            agent_name=("desk", "heron", "moss-runner")[place % 3],
            market_id=views[place].market_id,
            question=views[place].question,
            venue=Venue.SIM,
            side=Side.YES if place % 2 else Side.NO,
            action=Action.SELL if place % 4 == 3 else Action.BUY,
            shares=Micros(51_200_000),
            price=0.412,
            price_after=0.418,
            money=Micros(21_094_000 + place * 1_700_000),
            realized=Micros(3_100_000),
            source="desk" if place % 3 == 0 else "",
            skill="" if place % 3 == 0 else "gauge-watcher",
            fee=Micros(0),
        )
        for place in range(min(9, len(views)))
    )


def sample_briefing(views: list[MarketView]) -> BriefingView:
    fresh = tuple(NewMarketView(one.market_id, one.question, 0.7, "4h 20m") for one in views[40:46])
    return BriefingView(
        checked_at=NOW,
        venues=(
            VenueBriefing("sim", attention_count=2),
            VenueBriefing("evm_venue", ("redeem m-00012: the outcome is final",), 1),
        ),
        warnings=("one market holds 41 % of what is at risk",),
        new_markets=fresh,
        skills=("gauge-watcher",),
        standing=StandingView(-1.2, 0.54, 2, 4),
    )


def sample_rails() -> BuyLimitsView:
    return BuyLimitsView(
        at=NOW,
        resets_at=Timestamp((NOW // 86_400 + 1) * 86_400),
        paused=False,
        max_trade=Micros(100_000_000),
        day_spend_max=Micros(500_000_000),
        day_spent=Micros(120_000_000),
        sim_trade_max=Micros(500_000_000),
        sim_market_max=Micros(2_000_000_000),
        position_max=None,
        day_buys_max=500,
        day_buys=7,
        defaults=RiskDefaults(0.2, None, auto_monitor=True),
        day_buys_ceiling=5_000,
        skill_day_max=Micros(20_000_000),
        skills=(
            SkillDaySpend("gauge-watcher", Micros(17_400_000)),
            SkillDaySpend("tide-table", Micros(3_000_000)),
        ),
        cooldowns=(
            CooldownView("m-00003", Side.YES, Timestamp(NOW + 1_260), "an order that failed"),
        ),
        imports_today=3,
        failed_cooldown_s=1_800.0,
        own_spent=Micros(164_500_000),
    )


def sample_state(count: int = 80, *, held: int = 7, seed: int = 7) -> DeskState:
    """A desk with so many markets; what can be changed in it is its own."""
    state = _drawn(count, held, seed)
    return replace(
        state,
        service=replace(state.service, dropped={}, failures={}),
        markets=dict(state.markets),
        preferences={},
        seen=dict(state.seen),
        polls=dict(state.polls),
        reactor=ReactorView(),
    )


@cache
def _drawn(count: int, held: int, seed: int) -> DeskState:
    """Drawn once a process: hundreds of tests begin with one."""
    rng = random.Random(seed)
    markets = {view.market_id: view for view in (market(i, rng) for i in range(count))}
    views = list(markets.values())
    positions = tuple(
        position(views[(i * 5 + 1) % count], Side.YES if i % 3 else Side.NO, rng)
        for i in range(min(held, count))
    )
    cash = Micros(8_214_330_000)
    marked = Micros(cash + sum(p.mark_value for p in positions))
    equity = Micros(cash + sum(p.exit_value or 0 for p in positions))
    news = tuple(
        NewsView(
            at=Timestamp(NOW - 60 * i),
            market_id=views[i].market_id,
            headline=f"Officials at station {i + 1} revise their reading upwards",
            price_before=0.41,
            price_after=0.47,
        )
        for i in range(min(12, count))
    )
    trades = tuple(
        TradeView(
            trade_id=f"t-{i}",
            market_id=p.market_id,
            question=p.question,
            side=p.side,
            action="buy",
            shares=p.shares,
            cost=p.cost,
            average=p.average,
            price_before=p.average,
            price_after=p.mark_price,
            venue=Venue.SIM,
            status=TradeStatus.FILLED,
            reasoning="the gauge rises faster than the price",
            source="desk",
            at=Timestamp(NOW - 400 * i),
            pnl=None,
        )
        for i, p in enumerate(positions)
    )
    states = (
        TicketState.DONE,
        TicketState.REFUSED,
        TicketState.DONE,
        TicketState.UNKNOWN,
        TicketState.FAILED,
    )
    tickets = tuple(
        TicketView(
            ticket_id=f"k-{i}",
            kind="trade",
            market_id=views[i].market_id,
            what="buy YES for 25.00",
            state=state,
            opened_at=Timestamp(NOW - 90 * i - 5),
            sent_at=Timestamp(NOW - 90 * i - 4.99),
            settled_at=Timestamp(NOW - 90 * i - 4.97) if state is not TicketState.UNKNOWN else None,
            outcome={
                TicketState.DONE: "got 51.20 shares at 0.488",
                TicketState.REFUSED: "insufficient balance: 12.10 $SIM",
                TicketState.FAILED: "the service could not be reached; nothing sent",
                TicketState.UNKNOWN: "sent, no answer yet; looking it up",
            }[state],
            fix="lower the amount or sell something" if state is TicketState.REFUSED else "",
            amount=Micros(25_000_000),
        )
        for i, state in enumerate(states)
    )
    watched = views[0]
    points = tuple(
        (Timestamp(NOW - 60 * (200 - i)), 0.5 + 0.2 * math.sin(i / 17) + rng.gauss(0, 0.01))
        for i in range(200)
    )
    detail = DetailView(
        market_id=watched.market_id,
        span_s=0,
        criteria=watched.criteria,
        points=points,
        news=news[:4],
        trades=tuple(
            TapeTradeView(
                at=Timestamp(NOW - 20 * i),
                trader=f"heron{i}",
                side=Side.YES if i % 2 else Side.NO,
                action=Action.BUY,
                shares=Micros(int(rng.uniform(1, 90) * 1e6)),
                price=0.48,
            )
            for i in range(10)
        ),
    )
    return DeskState(
        service=ServiceView(
            label="embedded",
            mode=Mode.SIM,
            venue=Venue.SIM,
            embedded=True,
            phase=Phase.ONLINE,
            last_ok_at=NOW,
            latency_s=0.004,
        ),
        account=AccountView(
            agent_id="a-1",
            name="desk",
            status=AgentStatus.UNCLAIMED,
            plan=Plan.PRO,
            claimed=False,
            cash=cash,
            start=Micros(equity + 118_400_000),
            day_open=Micros(equity - 41_200_000),
            equity=equity,
            day_pnl=Micros(41_200_000),
            total_pnl=Micros(-118_400_000),
            realized=Micros(marked - equity - 90_000_000),
            unrealized=Micros(-28_400_000),
            mark_equity=marked,
            trades_count=len(trades),
            win_rate=0.54,
        ),
        limits=LimitsView(
            paused=False,
            max_trade=Micros(500_000_000),
            day_spend_max=Micros(500_000_000),
            day_spent=Micros(120_000_000),
            day_trades_max=500,
            day_trades=7,
        ),
        buy_limits=sample_rails(),
        briefing=sample_briefing(views),
        markets=markets,
        positions=positions,
        trades=trades,
        tickets=tickets,
        world=WorldView(now=NOW, wall_at=NOW, speed=1, seed=7, open_count=count),
        news=news,
        detail=detail,
        equity=tuple(
            EquityPoint(
                at=Timestamp(NOW - 60 * (120 - i)),
                equity=Micros(int(equity + 60e6 * math.sin(i / 11))),
            )
            for i in range(120)
        ),
        stars=frozenset({views[2].market_id, views[5].market_id}) if count > 5 else frozenset(),
        fleet=fleet(cash, equity),
        fills=fills(views),
        listening=True,
        seen=dict.fromkeys(Topic, NOW),
        polls=dict.fromkeys(Topic, 2.0),
    )
