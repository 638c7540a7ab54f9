"""The desk's one way to change: (state, fact) -> state."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Final

from service_tui.desk.changes import Changed, Loaded, Removed
from service_tui.desk.facts import (
    AccountSeen,
    Acted,
    Fact,
    FillsRead,
    FillsReceived,
    Listening,
    LookedUp,
    MarketsSeen,
    Noticed,
    OrdersSeen,
    PositionsSeen,
    PreferenceSet,
    Served,
    ServiceAnswered,
    ServiceFailed,
    StarSet,
    WorldSeen,
)
from service_tui.desk.figures import agreed
from service_tui.desk.reduce_risk import (
    RISK_KINDS,
    marked,
    news_of,
    reduce_risk,
    with_ticket,
    with_trades,
)
from service_tui.desk.slices import reactor as reactors
from service_tui.desk.slices.account import EquityPoint, LimitsView, summed
from service_tui.desk.slices.agents import FillView, FleetView, RevealedView
from service_tui.desk.slices.briefing import BriefingView
from service_tui.desk.slices.buy_limits import BuyLimitsView
from service_tui.desk.slices.drill import DrillView
from service_tui.desk.slices.halt import HaltView
from service_tui.desk.slices.holdings import HoldingsView
from service_tui.desk.slices.log import LogView
from service_tui.desk.slices.markets import DetailView, MarketView
from service_tui.desk.slices.notices import Notice, NoticeKind
from service_tui.desk.slices.orders import OpenOrderView, end_text
from service_tui.desk.slices.positions import PositionView, remark
from service_tui.desk.slices.quote import QuoteView
from service_tui.desk.slices.reactor import (
    REACTOR_KINDS,
    ReactorBarred,
    ReactorFact,
    ReactorSeen,
    SignalsSeen,
    SignalView,
    WalletChosen,
)
from service_tui.desk.slices.redemption import AutoChanged, QueueSeen, RunView, reduce_redemption
from service_tui.desk.slices.research import (
    BacktestRequested,
    BacktestSeen,
    DiffView,
    EvaluationsSeen,
    FilesSeen,
    ResearchFact,
    ResearchSeen,
    reduce_research,
)
from service_tui.desk.slices.risk import AlertsSeen, RiskFact
from service_tui.desk.slices.rows import in_place
from service_tui.desk.slices.service import Phase, ServiceView
from service_tui.desk.slices.supervision import (
    FLEET_KINDS,
    FleetFact,
    PastsSeen,
    PendingTradesSeen,
    news_of_fleet,
    reduce_fleet,
)
from service_tui.desk.slices.team import TeamView, leader_news
from service_tui.desk.slices.tickets import TicketView
from service_tui.desk.slices.topics import Topic
from service_tui.desk.slices.trades import TradeView
from service_tui.desk.slices.wallet import PayView, WalletView
from service_tui.desk.slices.webhooks import WebhooksView
from service_tui.desk.state import DeskState
from service_tui.terms import Side, TradeStatus, Venue
from service_tui.units import Micros, Probability, Timestamp, decimal


def listed(before: DeskState, fact: OrdersSeen) -> tuple[OpenOrderView, ...]:
    """Open orders of a listing, less those cancelled since it was requested."""
    hidden = before.gone_orders - fact.gone
    orders = tuple(one for one in fact.orders if one.order_id not in hidden)
    if not fact.dropped:
        return orders
    # What is missing may be among the rows that cannot be read.
    read = {order.order_id for order in orders}
    return (*orders, *(order for order in before.orders if order.order_id not in read))


def still_gone(gone: frozenset[str], fact: OrdersSeen) -> frozenset[str]:
    """The cancelled orders that an older listing may yet name.

    One requested since the cancel has the last word: what it still has does rest, whatever the
    cancel was answered.

    Returns:
        Ids of orders.
    """
    return gone if fact.dropped else gone - fact.gone


def news_of_orders(before: DeskState, after: tuple[OpenOrderView, ...]) -> Iterator[Noticed]:
    """One notice for each order that was met in part, and for each that is open no more."""
    now = {order.order_id: order for order in after}
    trades = {trade.trade_id: trade for trade in before.trades}
    for order in before.orders:
        still = now.get(order.order_id)
        if still is None:
            yield _ended(order, trades)
        elif still.filled > order.filled:
            got = f"{decimal(still.filled):,.2f} filled, {decimal(still.shares):,.2f} left"
            yield Noticed("good", f"{order.describe()}: {got}", NoticeKind.FILL)


def _ended(order: OpenOrderView, trades: Mapping[str, TradeView]) -> Noticed:
    """Notice about an order that is no longer open, with the end that its trade shows."""
    trade = trades.get(order.trade_id)
    if trade is None or trade.status is TradeStatus.SUBMITTED:
        text = "no longer open: result not reported yet"
        return Noticed("warn", f"{order.describe()}: {text}", NoticeKind.FILL)
    if not trade.shares:
        return Noticed("warn", f"{order.describe()}: ended unfilled", NoticeKind.FILL)
    text = end_text(order, trade.shares, trade.cost)
    whole = trade.status in {TradeStatus.FILLED, TradeStatus.CONFIRMED}
    tail = "filled" if whole else "ended, the rest unfilled"
    tone = "good" if whole else "warn"
    return Noticed(tone, f"{order.describe()}: {tail}: {text}", NoticeKind.FILL)


TICKETS_MAX: Final = 500
NOTICES_MAX: Final = 20
EQUITY_MAX: Final = 2_000
NEWS_MAX: Final = 200
FILLS_MAX: Final = 1_000
"""What the state keeps of endless things; the database keeps the rest."""

ESSENTIAL: Final = frozenset({Topic.MARKETS, Topic.POSITIONS, Topic.ACCOUNT})
"""Without an answer to any of these there is nothing to work with."""

RowFact = Loaded | Changed | Removed
"""A fact about rows of a kind."""

OFFLINE_AFTER_S: Final = 5.0
"""ours: one path that fails while others answer is no outage; all are silent for so long in one."""


def reduce(state: DeskState, fact: Fact) -> DeskState:
    """The state after a fact, with figures that several of its parts share kept equal."""
    return agreed(state, _reduced(state, fact))


def _reduced(state: DeskState, fact: Fact) -> DeskState:  # noqa: C901, PLR0911, PLR0912  (one closed union, one line a kind)
    match fact:
        case MarketsSeen():
            return _with_markets(state, fact)
        case PositionsSeen():
            return _with_positions(state, fact)
        case AccountSeen():
            return _with_account(state, fact)
        case Loaded() | Changed() | Removed():
            return _REDUCERS[fact.kind](state, fact)
        case WorldSeen():
            world = fact.world if state.world is None else state.world.seen_again(fact.world)
            return replace(state, world=world, news=fact.news[:NEWS_MAX])
        case ServiceAnswered():
            return _answered(state, fact)
        case ServiceFailed():
            return _failed(state, fact)
        case LookedUp():
            looked = replace(state.service, lookup_problem=fact.problem)
            return replace(state, service=looked)
        case Served():
            served = replace(state.service, address=fact.address, attached=fact.attached)
            return replace(state, service=served)
        case StarSet():
            change = state.stars.union if fact.on else state.stars.difference
            return replace(state, stars=change({fact.market_id}))
        case PreferenceSet():
            return replace(state, preferences={**state.preferences, fact.name: fact.value})
        case FillsReceived():
            return _with_fills(state, fact)
        case FillsRead():
            return replace(state, fills=_with_past(state.fills, fact.fills))
        case Listening():
            return replace(state, listening=fact.on)
        case Noticed():
            return _noticed(state, fact)
        case Acted():
            return state
        case OrdersSeen():
            return _with_orders(state, fact)
        case ReactorSeen() | ReactorBarred() | SignalsSeen() | WalletChosen():
            return _with_reactor(state, fact)
        case PendingTradesSeen() | PastsSeen():
            return _with_supervision(state, fact)
        case QueueSeen() | AutoChanged():
            return _with_redemption(state, fact)
        case (
            ResearchSeen() | FilesSeen() | BacktestRequested() | BacktestSeen() | EvaluationsSeen()
        ):
            return _with_research(state, fact)
        case _:
            return _with_risk(state, fact)


def _with_markets(state: DeskState, fact: MarketsSeen) -> DeskState:
    """New prices; positions are marked to them at once, what is unchanged keeps its object."""
    known = state.markets
    markets = {} if fact.complete else dict(known)
    for market in fact.markets:
        old = known.get(market.market_id)
        markets[market.market_id] = market if old is None or old != market else old
    return _dropped(_marked(replace(state, markets=markets)), Topic.MARKETS, fact.dropped)


def _with_account(state: DeskState, fact: AccountSeen) -> DeskState:
    """The account, with cash and positions of one moment; no sum is made of two moments."""
    known, account = state.account, fact.account
    if known is not None and known.agent_id != account.agent_id:
        # Positions of the agent before count for no sum, however alike the cash is.
        state = replace(state, cash_beside=None, positions_read=False, awaited=Topic.POSITIONS)
    beside, is_disputed = state.cash_beside, False
    cash, awaited = account.cash, state.awaited
    if beside is not None and beside != account.cash:
        # It may have been requested before the positions were; a second answer is newer.
        is_disputed = True
        awaited = Topic.POSITIONS if state.is_cash_disputed else awaited
        cash = account.cash if awaited is Topic.POSITIONS else beside
    elif beside is None and awaited is Topic.ACCOUNT:
        awaited = None
    elif beside is None and awaited is None and known is not None and known.cash != cash:
        awaited = Topic.POSITIONS
    after = replace(state, venue_sums=fact.venues, is_cash_disputed=is_disputed, awaited=awaited)
    return replace(after, account=summed(account, _held(after), cash))


def _with_positions(state: DeskState, fact: PositionsSeen) -> DeskState:
    closed = state.closed if fact.closed is None else fact.closed
    account = state.account
    awaited = Topic.ACCOUNT if state.awaited is Topic.ACCOUNT and fact.cash is None else None
    if account is not None and fact.cash is not None:
        # Cash and positions of one answer belong together: no figure may see only one of them.
        account = replace(account, cash=fact.cash)
    elif fact.cash is None and state.awaited is None and state.positions_read:
        # Shares went or came, so money did as well, and its figure is yet to come.
        has_moved = _shares(state.positions) != _shares(fact.positions)
        awaited = Topic.ACCOUNT if has_moved else None
    # Those on real venues stay as reported: their books have prices of their own.
    real = state.on_venues if fact.on_venues is None else fact.on_venues
    renewed = replace(
        state,
        positions=fact.positions,
        closed=closed,
        on_venues=real,
        positions_read=True,
        cash_beside=fact.cash,
        is_cash_disputed=False,
        awaited=awaited,
    )
    marked = _marked(replace(renewed, account=account))
    return _with_resolutions(state, _dropped(marked, Topic.POSITIONS, fact.dropped))


def _with_resolutions(before: DeskState, after: DeskState) -> DeskState:
    """A notice for each position that was open and has its outcome."""
    if before.from_cache or after.closed is before.closed:
        return after
    was_open = {position.key for position in before.positions}
    known = {held.key for held in before.closed}
    for held in after.closed:
        if held.key in was_open and held.key not in known and held.outcome is not None:
            ended, made = held.outcome.word, decimal(held.realized)
            text = f"resolved {ended}: {made:+,.2f} with {held.side.value.upper()}"
            tone = "good" if made > 0 else "info" if held.outcome.is_void else "warn"
            after = _noticed(after, Noticed(tone, f"{text}, {held.question}", NoticeKind.FILL))
    return after


def _with_fills(state: DeskState, fact: FillsReceived) -> DeskState:
    """Add fills and the prices they left; a fill delivered twice counts once."""
    known = {fill.seq for fill in state.fills if fill.seq}
    fresh = {fill.seq: fill for fill in fact.fills if fill.seq not in known}
    if not fresh:
        return state
    # The history may have delivered it a moment before, as a whole order instead of a part.
    whole = {(fill.trade_id, fill.shares) for fill in fresh.values()}
    others = (one for one in state.fills if one.seq or (one.trade_id, one.shares) not in whole)
    fills = (*reversed(fresh.values()), *others)[:FILLS_MAX]
    moved: dict[str, MarketView] = {}
    for fill in fresh.values():
        market = state.markets.get(fill.market_id)
        # The price of a market is that of the market maker; order books have their own.
        if market is not None and fill.venue is Venue.SIM and 0 < fill.price_after < 1:
            yes = fill.price_after if fill.side is Side.YES else 1.0 - fill.price_after
            moved[fill.market_id] = replace(market, price=Probability(yes))
    if not moved:
        return replace(state, fills=fills)
    return _marked(replace(state, fills=fills, markets={**state.markets, **moved}))


def _with_past(streamed: tuple[FillView, ...], read: tuple[FillView, ...]) -> tuple[FillView, ...]:
    """Streamed fills, and those of the history that were not streamed; newest first."""
    known = {fill.trade_id for fill in streamed if fill.seq}
    agents = {fill.agent_id for fill in read}
    older = [fill for fill in streamed if not fill.seq and fill.agent_id not in agents]
    past = [*older, *(fill for fill in read if fill.trade_id not in known)]
    now = [fill for fill in streamed if fill.seq]
    every = sorted((*now, *past), key=lambda one: (one.at, one.seq), reverse=True)
    return tuple(every[:FILLS_MAX])


def _dropped(state: DeskState, topic: Topic, count: int) -> DeskState:
    """Count the rows of a topic's last answer that could not be used."""
    if state.service.dropped.get(topic, 0) == count:
        return state
    dropped = {**state.service.dropped, topic: count}
    return replace(state, service=replace(state.service, dropped=dropped))


def _held(state: DeskState) -> tuple[PositionView, ...] | None:
    """The open positions; None while they are not known, or of another moment than the cash."""
    is_known = state.positions_read or state.positions
    return state.positions if is_known and state.awaited is None else None


def _shares(held: tuple[PositionView, ...]) -> dict[str, Micros]:
    return {view.key: view.shares for view in held}


def _marked(state: DeskState) -> DeskState:
    """Every open position at the market's price of now, and the account's sums with it."""
    positions = tuple(
        remark(position, state.markets.get(position.market_id)) for position in state.positions
    )
    known = positions if _held(state) is not None else None
    account = None if state.account is None else summed(state.account, known)
    risk = marked(state.risk, positions, state.markets)
    reactor = reactors.marked(state.reactor, state.markets, state.closed)
    return replace(state, positions=positions, account=account, risk=risk, reactor=reactor)


def _with_risk(state: DeskState, fact: RiskFact) -> DeskState:
    """The slice of monitors and alerts at current prices, with its notices."""
    risk = marked(reduce_risk(state.risk, fact), state.positions, state.markets)
    after = replace(state, risk=risk)
    if isinstance(fact, Loaded):
        after = _dropped(after, Topic.MONITORS, fact.dropped)
    if isinstance(fact, AlertsSeen):
        is_first = Topic.BRIEFING not in state.seen
        for notice in news_of(state.risk, risk, is_first=is_first):
            after = _noticed(after, notice)
    return after


def _with_reactor(state: DeskState, fact: ReactorFact) -> DeskState:
    """The reactor's slice at current prices, with its notices."""
    reactor = reactors.reduce_reactor(state.reactor, fact)
    if not (isinstance(fact, Changed) and fact.kind is SignalView):
        reactor = reactors.marked(reactor, state.markets, state.closed)
    after = replace(state, reactor=reactor)
    for tone, text, kind in reactors.news_of(state.reactor, reactor, fact):
        after = _noticed(after, Noticed(tone, text, kind))
    return after


def _with_orders(state: DeskState, fact: OrdersSeen) -> DeskState:
    """The open orders, with a notice for each that filled or ended."""
    orders, gone = listed(state, fact), still_gone(state.gone_orders, fact)
    listing = replace(state, orders=orders, gone_orders=gone)
    after = _dropped(listing, Topic.ORDERS, fact.dropped)
    for notice in news_of_orders(state, orders):
        after = _noticed(after, notice)
    return after


def _with_supervision(state: DeskState, fact: FleetFact) -> DeskState:
    """The slice of leashes, waiting trades and skills, with a notice for each piece of news."""
    view = reduce_fleet(state.supervision, fact)
    if view is state.supervision:
        return state
    after = replace(state, supervision=view)
    for tone, text, kind in news_of_fleet(state.supervision, view):
        after = _noticed(after, Noticed(tone, text, kind))
    return after


def _with_quote(state: DeskState, fact: RowFact) -> DeskState:
    """A newer question's answer is never replaced by an older one's."""
    match fact:
        case Changed(row=QuoteView() as quote):
            is_older = state.quote is not None and state.quote.request_id > quote.request_id
            return state if is_older else replace(state, quote=quote)
        case _:
            raise _unexpected(fact)


def _with_trades(state: DeskState, fact: RowFact) -> DeskState:
    """The newest trades, and what exits and mirrors learn from them."""
    if not isinstance(fact, Loaded):
        raise _unexpected(fact)
    trades = fact.of(TradeView)
    traded = replace(
        state,
        trades=trades,
        risk=with_trades(state.risk, trades),
        reactor=reactors.with_trades(state.reactor, trades),
    )
    return _dropped(traded, Topic.TRADES, fact.dropped)


def _with_changed_ticket(state: DeskState, fact: RowFact) -> DeskState:
    """A ticket that was queued, sent or ended."""
    match fact:
        case Changed(row=TicketView() as ticket):
            return replace(
                state,
                tickets=_with_ticket(state.tickets, ticket),
                risk=with_ticket(state.risk, ticket),
                reactor=reactors.with_ticket(state.reactor, ticket),
            )
        case _:
            raise _unexpected(fact)


def without_order(state: DeskState, fact: RowFact) -> DeskState:
    """An order that this desk has cancelled."""
    if not isinstance(fact, Removed):
        raise _unexpected(fact)
    left = tuple(one for one in state.orders if one.order_id != fact.key)
    return replace(state, orders=left, gone_orders=state.gone_orders | {fact.key})


def _with_equity(state: DeskState, fact: RowFact) -> DeskState:
    """A point of the equity curve."""
    match fact:
        case Changed(row=EquityPoint() as point):
            return replace(state, equity=_thinned((*state.equity, point)))
        case _:
            raise _unexpected(fact)


def _with_team(state: DeskState, fact: RowFact) -> DeskState:
    """The people of a shared desk, with a notice when another process leads it."""
    match fact:
        case Changed(row=TeamView() as team):
            after = replace(state, team=team)
            news = leader_news(state.team, team)
            return _noticed(after, Noticed("warn", news, NoticeKind.CONNECTION)) if news else after
        case _:
            raise _unexpected(fact)


def _with_wallet(state: DeskState, fact: RowFact) -> DeskState:
    """The wallet's slice; pay per call is a fact of its own."""
    match fact:
        case Changed(row=WalletView() as wallet):
            return replace(state, wallet=replace(wallet, pay=state.wallet.pay))
        case Changed(row=PayView() as pay):
            return replace(state, wallet=replace(state.wallet, pay=pay))
        case _:
            raise _unexpected(fact)


def _with_redemption(state: DeskState, fact: QueueSeen | AutoChanged | RowFact) -> DeskState:
    """The redemption queue with the runs of its rows."""
    if isinstance(fact, Loaded | Removed):
        raise _unexpected(fact)
    after = replace(state, redemption=reduce_redemption(state.redemption, fact))
    is_listing = isinstance(fact, QueueSeen)
    return _dropped(after, Topic.REDEMPTIONS, fact.dropped) if is_listing else after


def _with_research(state: DeskState, fact: ResearchFact) -> DeskState:
    """Experiments and sessions from the service and from files."""
    return replace(state, research=reduce_research(state.research, fact))


def _with_single(state: DeskState, fact: RowFact) -> DeskState:
    """A single row in its field; None once removed."""
    field, topic = _FIELDS[fact.kind]
    match fact:
        case Loaded():
            raise _unexpected(fact)
        case Changed():
            after = replace(state, **{field: fact.row})
            return after if topic is None else _dropped(after, topic, fact.dropped)
        case Removed():
            return replace(state, **{field: None})


def _unexpected(fact: Fact) -> TypeError:
    """Error for a fact that no reducer accepts."""
    return TypeError(f"nothing keeps {fact}")


def _with_ticket(tickets: tuple[TicketView, ...], ticket: TicketView) -> tuple[TicketView, ...]:
    """The list with this ticket in its place, or first."""
    return in_place(tickets, ticket, lambda one: one.ticket_id) or capped((ticket, *tickets))


def capped(tickets: tuple[TicketView, ...]) -> tuple[TicketView, ...]:
    """The newest `TICKETS_MAX`; one whose end is not known is never among those forgotten."""
    if len(tickets) <= TICKETS_MAX:
        return tickets
    room = TICKETS_MAX - sum(ticket.in_flight for ticket in tickets)
    ended = [ticket for ticket in tickets if not ticket.in_flight][max(0, room) :]
    forgotten = {ticket.ticket_id for ticket in ended}
    return tuple(ticket for ticket in tickets if ticket.ticket_id not in forgotten)


def _answered(state: DeskState, fact: ServiceAnswered) -> DeskState:
    seen = {**state.seen, fact.topic: fact.at}
    failures = {of: why for of, why in state.service.failures.items() if of is not fact.topic}
    if fact.by_operator and state.service.phase is Phase.UNAUTHORIZED:
        # The agent's key is refused all the same. Source: failures, F-04.
        return replace(state, seen=seen, service=replace(state.service, failures=failures))
    service = replace(
        state.service,
        phase=Phase.ONLINE,
        last_ok_at=fact.at,
        latency_s=fact.latency_s,
        skew_s=fact.skew_s,
        failures=failures,
    )
    # What another topic met stands until that one answers: a broken path must not be hushed up.
    if state.service.phase is not Phase.ONLINE or fact.topic is service.problem_of:
        service = replace(service, problem="", problem_of=None, problem_status=0)
    # Cached figures are shown as old until markets and positions were both read.
    fresh = Topic.MARKETS in seen and Topic.POSITIONS in seen
    cached = state.from_cache and not fresh
    return _phase_notice(state, replace(state, service=service, seen=seen, from_cache=cached))


def _failed(state: DeskState, fact: ServiceFailed) -> DeskState:
    service = state.service
    phase = service.phase
    failures = {**service.failures, fact.topic: fact.problem}
    if fact.unauthorized and not fact.by_operator:
        phase = Phase.UNAUTHORIZED
    elif phase is Phase.UNAUTHORIZED:
        # Polling has stopped; the error of a late call must not hide what is to be checked.
        return state
    elif (fact.offline or failures.keys() >= ESSENTIAL) and not _answered_lately(service, fact.at):
        # An orderly no to everything leaves as little to work with as silence.
        phase = Phase.OFFLINE
    failed = replace(
        service,
        phase=phase,
        problem=fact.problem,
        problem_of=fact.topic,
        problem_status=fact.status,
        failures=failures,
    )
    return _phase_notice(state, replace(state, service=failed))


def _answered_lately(service: ServiceView, now: Timestamp) -> bool:
    """True if any topic was answered a moment ago; False once the clock was set back."""
    return service.last_ok_at is not None and 0 <= now - service.last_ok_at < OFFLINE_AFTER_S


def _phase_notice(before: DeskState, after: DeskState) -> DeskState:
    """One notice a transition, none a poll."""
    old, new = before.service.phase, after.service.phase
    if old is new or (old is Phase.CONNECTING and new is Phase.ONLINE):
        return after
    tone, text = (
        ("good", "the service answers again")
        if new is Phase.ONLINE
        else ("bad", after.service.problem or "the service does not answer")
    )
    return _noticed(after, Noticed(tone, text, NoticeKind.CONNECTION))


def _noticed(state: DeskState, fact: Noticed) -> DeskState:
    last = state.notices[-1].notice_id if state.notices else 0
    notice = Notice(last + 1, fact.tone, fact.text, fact.kind, fact.about, fact.fix)
    return replace(state, notices=(*state.notices, notice)[-NOTICES_MAX:])


def _thinned(points: tuple[EquityPoint, ...]) -> tuple[EquityPoint, ...]:
    """Equity points with every other one of the older half dropped if there are too many."""
    if len(points) <= EQUITY_MAX:
        return points
    half = len(points) // 2
    return points[:half:2] + points[half:]


_FIELDS: Final[Mapping[type[object], tuple[str, Topic | None]]] = {
    LimitsView: ("limits", None),
    BuyLimitsView: ("buy_limits", None),
    BriefingView: ("briefing", Topic.BRIEFING),
    DetailView: ("detail", Topic.DETAIL),
    FleetView: ("fleet", None),
    RevealedView: ("revealed", None),
    LogView: ("log", None),
    HaltView: ("halt", None),
    HoldingsView: ("holdings", Topic.HOLDINGS),
    WebhooksView: ("webhooks", None),
    DrillView: ("drill", None),
}
"""What there is one of: its field, and the topic whose rows are counted that could not be read."""

_REDUCERS: Final[Mapping[type[object], Callable[[DeskState, RowFact], DeskState]]] = {
    **dict.fromkeys(_FIELDS, _with_single),
    **dict.fromkeys(FLEET_KINDS, _with_supervision),
    **dict.fromkeys(RISK_KINDS, _with_risk),
    **dict.fromkeys(REACTOR_KINDS, _with_reactor),
    TradeView: _with_trades,
    TicketView: _with_changed_ticket,
    QuoteView: _with_quote,
    OpenOrderView: without_order,
    EquityPoint: _with_equity,
    WalletView: _with_wallet,
    TeamView: _with_team,
    PayView: _with_wallet,
    RunView: _with_redemption,
    DiffView: _with_research,
}
"""Who keeps the rows of a kind."""

KINDS: Final = frozenset(_REDUCERS)
