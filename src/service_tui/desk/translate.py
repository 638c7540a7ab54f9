"""Wire bodies of markets, positions, trades, agents and the service as views of the desk.

Amounts become micros here, once. Other rooms of the desk have a `translate.py` of their own.
"""

from collections.abc import Iterable
from typing import Final

from service_tui.desk.fixes import fix_of
from service_tui.desk.slices.account import AccountView, LimitsView, summed
from service_tui.desk.slices.agents import (
    AgentLimitsView,
    AgentView,
    FillView,
    FleetView,
    VenueMoneyView,
)
from service_tui.desk.slices.briefing import (
    BriefingView,
    NewMarketView,
    StandingView,
    VenueBriefing,
)
from service_tui.desk.slices.markets import (
    BookLevelView,
    DetailView,
    MarketView,
    NewsView,
    TapeTradeView,
)
from service_tui.desk.slices.orders import price_text
from service_tui.desk.slices.positions import PositionView
from service_tui.desk.slices.quote import QuoteView
from service_tui.desk.slices.trades import TradeView
from service_tui.desk.slices.world import AbsenceView, ResolvedView, WorldView
from service_tui.terms import (
    MONEY_OF,
    SIM_TRADE_MAX,
    VENUE_NAMES,
    Action,
    AgentStatus,
    MarketStatus,
    Plan,
    Side,
    TradeStatus,
    Venue,
    win_rate,
)
from service_tui.units import ONE, Micros, Probability, Timestamp, decimal
from service_tui.wire.agents import AgentBody
from service_tui.wire.base import Moment, timestamp
from service_tui.wire.briefing import (
    AnyAlert,
    BriefingBody,
    NewMarketBody,
    PerformanceBody,
    VenueBlock,
)
from service_tui.wire.buy_limits import BuyLimitsBody
from service_tui.wire.desk import DeskAgentBody, DeskAgentsBody
from service_tui.wire.events import EventBody, FillPart
from service_tui.wire.markets import HistoryBody, MarketBody
from service_tui.wire.positions import PortfolioBody, PositionBody, PositionSideBody
from service_tui.wire.settings import SettingsBody, UserSettingsBody
from service_tui.wire.text import line
from service_tui.wire.trades import CLIENT_REF, TradeBody, TradeRow
from service_tui.wire.world import (
    AbsenceBody,
    NewsBody,
    ResolvedBody,
    TapeBody,
    TapeTrade,
    WorldBody,
)

UNTRANSLATABLE = (ValueError, ArithmeticError, LookupError)
"""What a body may raise here that the wire takes and the desk has no word or number for."""


def amount(value: float) -> Micros:
    """Micros of a wire amount; a service may send more decimals than a micro, so nearest."""
    return Micros(round(value * ONE))


def _amount_or_none(value: float | None) -> Micros | None:
    return None if value is None else amount(value)


def _at(moment: Moment | None) -> Timestamp | None:
    return None if moment is None else timestamp(moment)


def market_view(body: MarketBody) -> MarketView:
    """One market as the console shows it."""
    return MarketView(
        market_id=body.id,
        question=body.question,
        category=body.tags[0] if body.tags else "",
        tags=body.tags,
        status=body.status,
        price=Probability(body.current_probability),
        price_24h_ago=body.price_24h_ago,
        volume=_amount_or_none(body.volume_24h),
        opens_at=_at(body.opens_at),
        resolves_at=_at(body.resolves_at),
        resolved_at=_at(body.resolved_at),
        outcome=body.outcome,
        liquidity=_amount_or_none(body.liquidity),
        sparkline=body.sparkline,
        criteria=body.resolution_criteria or "",
        venues=_venues_of(body.import_source),
        tick=Micros(max(1, round(body.tick_size * ONE))),
        condition_id=body.polymarket_id or "",
        neg_risk=body.polymarket_neg_risk,
        fee_rate_bps=body.fee_rate_bps,
        venue_price=body.external_price_yes,
        bid=body.best_bid,
        ask=body.best_ask,
        url=body.url or "",
    )


def _venues_of(source: str | None) -> tuple[Venue, ...]:
    """Venues of a market: always sim, and the book that its quotes come from."""
    home = VENUE_NAMES.get(source or "")
    return () if home is None else tuple(dict.fromkeys((Venue.SIM, home)))


def position_views(body: PositionBody, market: MarketView | None) -> tuple[PositionView, ...]:
    """One view for each side; rebuilt if the service does not separate sides."""
    sides = body.sides or tuple(
        _rebuilt(body, side, shares)
        for side, shares in ((Side.YES, body.shares_yes), (Side.NO, body.shares_no))
        if shares > 0
    )
    return tuple(_position_view(body, side, market) for side in sides)


def _rebuilt(body: PositionBody, side: Side, shares: float) -> PositionSideBody:
    """A side of a published row, which mixes both: cost and P&L are shared out by value."""
    price = body.current_price if side is Side.YES else 1.0 - body.current_price
    value = shares * price
    # By the value of these shares, not by the row's own: the parts then sum to one.
    whole = body.shares_yes * body.current_price + body.shares_no * (1.0 - body.current_price)
    part = value / whole if whole > 0 else 1.0
    cost = body.cost_basis * part
    return PositionSideBody.model_construct(
        side=side.value,
        shares=shares,
        cost_basis=cost,
        avg_cost=min(1.0, cost / shares),
        mark_price=price,
        current_value=value,
        exit_value=None,
        realized_pnl=body.realized_pnl * part,
        opened_at=None,
    )


def _position_view(
    body: PositionBody, side: PositionSideBody, market: MarketView | None
) -> PositionView:
    value, cost = amount(side.current_value), amount(side.cost_basis)
    closed = body.status not in {"active", "closed"}
    realized = amount(side.realized_pnl)
    reported = _amount_or_none(side.unrealized_pnl)
    unrealized = Micros(0 if closed and body.venue is Venue.SIM else value - cost)
    left = _amount_or_none(side.exit_value)
    if reported is not None:
        unrealized = reported
    if closed and not _waits(body, side) and body.venue is not Venue.SIM:
        # What was paid is cash by now, and no value beside it.
        value, left = Micros(0), None if left is None else Micros(0)
    if closed:
        # Nothing can change any more. Source: decisions, "Won, not redeemed".
        realized, unrealized = Micros(realized + unrealized), Micros(0)
    return PositionView(
        market_id=body.market_id,
        question=body.question,
        category=market.category if market else "",
        side=Side(side.side),
        venue=body.venue,
        status=MarketStatus.RESOLVED if closed else _open_status(body.status),
        shares=amount(side.shares),
        cost=cost,
        average=side.avg_cost,
        mark_price=side.mark_price,
        mark_value=value,
        exit_value=left,
        unrealized=unrealized,
        realized=realized,
        resolves_at=_at(body.resolved_at or body.resolves_at),
        opened_at=_at(side.opened_at),
        outcome=_outcome_of(body, Side(side.side)),
        exit_together=_amount_or_none(side.exit_together),
        wallet=body.wallet or "",
    )


def _waits(body: PositionBody, side: PositionSideBody) -> bool:
    """True if a side's payout needs redeeming; on sim it is paid at the outcome."""
    return body.redeemable and body.redeemable_side in {None, side.side}


def _outcome_of(body: PositionBody, side: Side) -> bool | None:
    """Outcome that a position had, which a service may report as won or lost only.

    A position that was sold has none: the market's came after it, or is still to come.
    """
    if body.status == _SOLD:
        return None
    if body.outcome is None and body.status in {"won", "lost"}:
        return (body.status == "won") is (side is Side.YES)
    return body.outcome


_SOLD: Final = "sold"
"""The word of the wire for a side that was sold whole before its market ended."""


def _open_status(status: str) -> MarketStatus:
    return MarketStatus.CLOSED if status == MarketStatus.CLOSED.value else MarketStatus.ACTIVE


def account_view(
    agent: AgentBody, portfolio: PortfolioBody, holdings: tuple[PositionView, ...]
) -> AccountView:
    """View of the own agent; equity is cash plus the positions' mark value."""
    sim = portfolio.sim
    cash = amount(sim.balance if sim and sim.balance is not None else agent.balance)
    # The service's own equity, of the same moment as its P&L: their difference never moves.
    equity = cash + amount(sim.total_exposure if sim else portfolio.total_exposure)
    total = portfolio.pnl_total if portfolio.pnl_total is not None else agent.total_pnl
    sold, day = portfolio.exit_equity, portfolio.pnl_today
    none = Micros(0)
    rate = win_rate(agent.win_count, agent.loss_count)
    account = AccountView(
        agent_id=agent.agent_id,
        name=agent.name,
        status=AgentStatus(agent.status),
        plan=agent.rate_limits.tier if agent.rate_limits else Plan.FREE,
        claimed=agent.claimed,
        cash=cash,
        start=Micros(equity - amount(total)),
        # "Today" begins at midnight UTC: the published `pnl_24h` is another figure.
        day_open=None if day is None or sold is None else Micros(amount(sold) - amount(day)),
        equity=Micros(equity),
        day_pnl=none,
        total_pnl=none,
        realized=none,
        unrealized=none,
        trades_count=agent.trades_count,
        win_rate=agent.win_rate if rate is None else rate,
        wins=agent.win_count,
        losses=agent.loss_count,
    )
    return summed(account, holdings)


def limits_view(settings: SettingsBody, user: UserSettingsBody, *, sim: bool) -> LimitsView:
    """View of the limits. Either document may pause; a cap of the simulated venue is fixed."""
    return LimitsView(
        paused=settings.trading_paused or user.trading_paused,
        max_trade=amount(SIM_TRADE_MAX if sim else settings.sdk_max_trade_amount),
        day_spend_max=amount(settings.sdk_daily_limit),
        day_spent=amount(settings.sdk_daily_spent),
        day_trades_max=user.max_trades_per_day,
        day_trades=user.trades_today,
        day_resting=0 if user.rails is None else user.rails.trades_resting,
    )


def trade_view(row: TradeRow) -> TradeView:
    """One row of the trade history."""
    signal = row.signal_data or {}
    return TradeView(
        # A service may send only one of the two names. Source: wire reference, 3.5.
        trade_id=row.trade_id or row.id,
        market_id=row.market_id,
        question=row.market_question,
        side=row.side,
        action=row.action,
        shares=amount(row.shares),
        cost=amount(row.cost),
        average=row.avg_price,
        price_before=row.price_before,
        price_after=row.price_after,
        venue=row.venue,
        # A word that is not ours confirms nothing.
        status=row.status if isinstance(row.status, TradeStatus) else TradeStatus.UNCONFIRMED,
        reasoning=row.reasoning or "",
        source=row.source or "",
        at=timestamp(row.created_at),
        pnl=_amount_or_none(row.pnl),
        # A missing field does not mean that there was none.
        fee=amount(row.fee) if "fee" in row.model_fields_set else None,
        client_ref=str(signal.get(CLIENT_REF, "")),
        skill_slug=row.skill_slug or "",
        signal_data=tuple(
            (name, str(value)) for name, value in signal.items() if name != CLIENT_REF
        ),
    )


def quote_view(request_id: int, body: TradeBody, action: Action, held: Micros) -> QuoteView:
    """View of a dry run. `held` are the side's shares, for the loss of a sale."""
    if not body.success:
        return QuoteView(
            request_id=request_id,
            ok=False,
            problem=body.error or "refused without a reason",
            fix=fix_of(body.error_code, body.fix or body.error_hint or ""),
        )
    shares = amount(shares_of(body, action))
    money, fee = amount(body.cost), amount(body.fee)
    rests = _rests_of(body, shares)
    reserved = amount(body.reserved) if rests else Micros(0)
    spent, brings = Micros(money + fee + reserved), Micros(money - fee)
    buys = action is Action.BUY
    return QuoteView(
        request_id=request_id,
        ok=True,
        shares=shares,
        money=money,
        average=body.avg_price if body.avg_price is not None else _ratio(money, shares),
        price_before=body.price_before,
        price_after=body.new_price,
        cash_after=_amount_or_none(body.balance),
        max_loss=spent if buys else Micros(max(0, min(shares, held) - brings)),
        max_win=Micros(shares + rests - spent) if buys else brings,
        fee=fee,
        rests=rests,
        reserved=reserved,
    )


def _rests_of(body: TradeBody, shares: Micros) -> Micros:
    """The shares of an order that would stay on the book."""
    if (body.order_status or "").lower() != "live":
        return Micros(0)
    return Micros(max(0, amount(body.shares_requested) - shares))


def _ratio(money: Micros, shares: Micros) -> float | None:
    return money / shares if shares else None


def news_view(body: NewsBody) -> NewsView:
    """A line of news."""
    return NewsView(
        at=timestamp(body.at),
        market_id=body.market_id,
        headline=body.headline,
        price_before=body.price_before,
        price_after=body.price_after,
    )


def _resolved_view(body: ResolvedBody) -> ResolvedView:
    return ResolvedView(
        at=timestamp(body.at),
        market_id=body.market_id,
        question=body.question,
        outcome=body.outcome,
        payout=amount(body.payout),
        pnl=amount(body.pnl),
    )


def _absence_view(body: AbsenceBody | None) -> AbsenceView | None:
    if body is None:
        return None
    return AbsenceView(
        closed_at=timestamp(body.closed_at),
        opened_at=timestamp(body.opened_at),
        world_elapsed_s=body.world_elapsed_s,
        resolved_count=body.resolved_count,
        listed_count=body.listed_count,
        resolved=tuple(_resolved_view(row) for row in body.resolved),
        news=tuple(news_view(row) for row in body.news),
        equity_before=_amount_or_none(body.equity_before),
        equity_after=_amount_or_none(body.equity_after),
    )


def world_view(body: WorldBody) -> WorldView:
    """The offline world's clock and pace."""
    return WorldView(
        now=timestamp(body.now),
        wall_at=timestamp(body.wall_at),
        speed=body.speed,
        seed=body.seed,
        open_count=body.open_count,
        meanwhile=_absence_view(body.meanwhile),
        halted_at=_at(body.halted_at),
    )


def detail_of_tape(body: TapeBody, span_s: int) -> DetailView:
    """Chart, news and trades of one market of the embedded service; rows that are none go."""
    return DetailView(
        market_id=body.market_id,
        span_s=span_s,
        criteria=body.resolution_criteria,
        points=tuple((timestamp(point.at), point.price) for point in body.points),
        news=tuple(news_view(row) for row in body.news),
        trades=tuple(view for row in body.trades if (view := _tape_trade_view(row)) is not None),
        bids=tuple(BookLevelView(row.price, amount(row.shares)) for row in body.bids),
        asks=tuple(BookLevelView(row.price, amount(row.shares)) for row in body.asks),
    )


def _tape_trade_view(row: TapeTrade) -> TapeTradeView | None:
    """One row of the tape; None when it is neither buy nor sale, of neither yes nor no."""
    try:
        side, action = Side(row.side), Action(row.action)
    except ValueError:
        return None
    return TapeTradeView(
        at=timestamp(row.at),
        trader=row.trader,
        side=side,
        action=action,
        shares=amount(row.shares),
        price=row.price,
    )


def detail_of_history(body: HistoryBody, span_s: int, criteria: str) -> DetailView:
    """The same of any other service: a chart and nothing else."""
    return DetailView(
        market_id=body.market_id,
        span_s=span_s,
        criteria=criteria,
        points=tuple((timestamp(point.timestamp), point.price_yes) for point in body.points),
        news=(),
        trades=(),
    )


def shares_of(body: TradeBody, action: Action) -> float:
    """Shares bought or sold by an answer."""
    own = body.shares_bought if action is Action.BUY else body.shares_sold
    return own or body.shares


def _limits_view(body: BuyLimitsBody) -> AgentLimitsView:
    return AgentLimitsView(
        sim_trade_max=amount(body.sim_trade_max),
        sim_market_max=amount(body.sim_market_max),
        trade_max=amount(body.max_trade),
        day_spend_max=amount(body.daily_limit),
        day_spent=amount(body.daily_spent),
        position_max=None if body.max_position is None else amount(body.max_position),
        buys_today=body.trades_today,
        buys_resting=body.trades_resting,
        buys_max=body.trades_per_day,
        skill_budget=None if body.skill_daily_budget is None else amount(body.skill_daily_budget),
        skills=tuple((one.skill_slug, amount(one.spent)) for one in body.skills_today),
        cooldowns_count=len(body.cooldowns),
    )


def _agent_view(body: DeskAgentBody) -> AgentView:
    marked = amount(body.equity)
    sold = marked if body.exit_equity is None else amount(body.exit_equity)
    return AgentView(
        agent_id=body.agent_id,
        name=body.name,
        description=body.description,
        status=body.status,
        plan=body.plan,
        claimed=body.claimed,
        claim_url=body.claim_url,
        paused=body.trading_paused,
        suspended=body.suspended,
        cash=amount(body.cash),
        equity=sold,
        total_pnl=Micros(amount(body.pnl_total) - marked + sold),
        day_pnl=amount(body.pnl_today),
        positions_count=body.positions_count,
        trades_count=body.trades_count,
        last_trade_at=_at(body.last_trade_at),
        created_at=timestamp(body.created_at),
        is_own=body.is_own,
        retired=body.retired,
        mark_equity=marked,
        venues=tuple(
            VenueMoneyView(
                venue=row.venue,
                cash=amount(row.cash),
                reserved=amount(row.reserved),
                equity=amount(row.equity),
                total_pnl=amount(row.pnl),
                positions_count=row.positions_count,
                orders_count=row.orders_count,
                to_redeem=amount(row.to_redeem),
            )
            for row in body.venues
        ),
        wins=body.wins,
        losses=body.losses,
        spent_today=amount(body.spent_today),
        limits=None if body.rails is None else _limits_view(body.rails),
    )


def fleet_view(body: DeskAgentsBody) -> FleetView:
    """View of all agents of the embedded service."""
    return FleetView(
        tuple(_agent_view(row) for row in body.agents),
        body.account.plan,
        body.account.agents_max,
    )


def fill_view(body: EventBody, fill: FillPart) -> FillView:
    """View of a streamed trade of any agent."""
    return FillView(
        seq=body.seq,
        at=timestamp(body.at),
        agent_id=fill.agent_id,
        agent_name=fill.agent_name,
        market_id=fill.market_id,
        question=fill.question,
        venue=fill.venue,
        side=fill.side,
        action=fill.action,
        shares=amount(fill.shares),
        price=fill.price,
        price_after=fill.price_after,
        money=amount(fill.money),
        realized=amount(fill.realized_pnl),
        source=fill.source,
        skill=fill.skill_slug,
        trade_id=fill.trade_id,
        fee=None if fill.fee is None else amount(fill.fee),
    )


def filled_text(body: TradeBody, action: Action, venue: Venue = Venue.SIM) -> str:
    """The outcome of a trade in one sentence; on a real venue with its money and its fee."""
    shares = shares_of(body, action)
    state = body.fill_status or body.status or body.order_status
    if state is not None and shares <= 0:
        return f"{state}: no shares yet"
    average = body.cost / shares if shares > 0 else 0.0
    verb, tail = ("bought", "for") if action is Action.BUY else ("sold", "brought")
    after = f"; price now {price_text(body.new_price)}" if body.new_price else ""
    paid = f"{body.cost:,.2f} (average {price_text(average)})"
    if venue is not Venue.SIM:
        unit = MONEY_OF[venue]
        fee = amount(body.fee) if "fee" in body.model_fields_set else None
        fee_text = venue_fee_text(fee, action, venue)
        if fee is None and body.fee_rate_bps:
            fee_text = f"fee not reported, rate {body.fee_rate_bps / 100:g}%"
        paid = f"{body.cost:,.2f} {unit} (average {price_text(average)}), {fee_text}"
    return f"{verb} {shares:,.2f} shares, {tail} {paid}{after}"


def venue_fee_text(fee: Micros | None, action: Action, venue: Venue) -> str:
    """Text about a real venue's fee; a buy pays it on top, a sale receives less."""
    if fee is None:
        return "fee not reported"
    if fee <= 0:
        return "no fee"
    how = "on top" if action is Action.BUY else "taken off"
    return f"fee {decimal(fee):,.2f} {MONEY_OF[venue]} {how}"


NAME_MAX: Final = 40


def briefing_view(body: BriefingBody) -> BriefingView:
    """View of a heartbeat."""
    blocks = {line(name, NAME_MAX): block for name, block in body.venues.items()}
    blocks.setdefault(Venue.EVM.value, None)
    venues = tuple(_venue_view(name, block, body) for name, block in blocks.items())
    return BriefingView(
        checked_at=timestamp(body.checked_at),
        # A venue without any field is not worth a line.
        venues=tuple(venue for venue in venues if venue != VenueBriefing(venue.venue)),
        alerts=_once(_alert_sentence(one) for one in (*body.risk_alerts, *_triggered(body))),
        warnings=_once(body.risk_warnings),
        actions=_once(body.actions),
        new_markets=tuple(_new_market(one) for one in body.opportunities.new_markets),
        skills=_once(one.name for one in body.opportunities.recommended_skills),
        standing=_standing(body.performance),
    )


def _new_market(body: NewMarketBody) -> NewMarketView:
    left = body.time_to_resolution or ""
    return NewMarketView(body.market_id, body.question, body.opportunity_score, left)


def _standing(body: PerformanceBody) -> StandingView:
    return StandingView(body.pnl_percent, body.win_rate, body.rank, body.total_agents)


def _venue_view(name: str, block: VenueBlock | None, body: BriefingBody) -> VenueBriefing:
    """View of one venue; the EVM venue also reads the spec's own block."""
    block = block or VenueBlock()
    actions, count = block.actions, block.redeemable_count
    if name == Venue.EVM:
        actions, count = (*actions, *body.evm.actions), max(count, body.evm.redeemable_count)
    return VenueBriefing(name, _once(actions), count, len(block.positions_needing_attention))


def _triggered(body: BriefingBody) -> tuple[AnyAlert, ...]:
    return body.triggered_risk_alerts or ()


def _alert_sentence(alert: str | AnyAlert) -> str:
    """An alert as a sentence, built from its parts if the service sends none."""
    if isinstance(alert, str):
        return alert
    side = f"{alert.side.upper()} of " if alert.side else ""
    return alert.message or f"{alert.exit_reason or 'alert'}: {side}{alert.market_id}".strip(": ")


def _once(texts: Iterable[str]) -> tuple[str, ...]:
    """Each text once, none empty."""
    return tuple(dict.fromkeys(text for text in texts if text))
