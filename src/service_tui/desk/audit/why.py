"""History of a trade from signal to exit, link by link. Pure.

A link without data has the reason instead: nothing is made up.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Final

from service_tui.desk.all_fills import all_fills
from service_tui.desk.audit.report import known_pasts
from service_tui.desk.chain.run_tickets import KIND as REDEMPTION
from service_tui.desk.fill_tickets import KIND as FILL
from service_tui.desk.fill_tickets import fill_id, ticket_of_fill
from service_tui.desk.slices.agents import AgentDetailView, FillView, ReasonedTradeView
from service_tui.desk.slices.position_key import position_key
from service_tui.desk.slices.positions import PositionView
from service_tui.desk.slices.reactor import SignalView
from service_tui.desk.slices.redemption import RunView
from service_tui.desk.slices.risk import AlertView, ExitView, MonitorView, exit_cause
from service_tui.desk.slices.supervision import PendingTradeView
from service_tui.desk.slices.tickets import TicketState, TicketView
from service_tui.desk.slices.trades import Deal, TradeView
from service_tui.desk.state import DeskState
from service_tui.terms import Action, PendingStatus, Side, TradeStatus, Venue
from service_tui.units import Timestamp, sum_of

_MANY: Final = {
    Deal.BUY: "buys",
    Deal.SALE: "sales",
    Deal.PAYOUT: "payouts",
    Deal.ORDER: "orders",
}

_APPROVED: Final = frozenset({PendingStatus.APPROVED, PendingStatus.FAILED, PendingStatus.UNKNOWN})
"""States of a trade that the person has let pass, whatever became of it then."""

WITH_IT: Final = "given with the order"
OTHERS_MAX: Final = 5
"""Fills beside the explained one that are listed one by one."""


class Unit(StrEnum):
    """Unit of a figure, which decides how it is formatted and masked."""

    TEXT = "text"
    MONEY = "money"
    SHARES = "shares"
    PRICE = "price"
    PNL = "pnl"
    POINTS = "points"


@dataclass(frozen=True, slots=True)
class LabelledValue:
    """A label and its value: money and shares in micros, prices and points as fractions."""

    label: str
    value: str | float | int
    unit: Unit = Unit.TEXT


@dataclass(frozen=True, slots=True)
class Link:
    """One link of the history. `missing` is the reason why it has no figures.

    `when` is the text in place of an unknown time.
    """

    name: str
    at: Timestamp | None = None
    values: tuple[LabelledValue, ...] = ()
    missing: str = ""
    when: str = "time not recorded"


@dataclass(frozen=True, slots=True)
class TradeHistory:
    """All links of one trade in the order of time, with its subject."""

    title: str
    links: tuple[Link, ...]


@dataclass(frozen=True, slots=True)
class _Known:
    """The data about one side of one market; `entry` is the trade to explain.

    `by_fills` are the trades of its agent from the list of fills, newest first; None if its own
    history was read. `held` is the position of another agent (`is_own` false), if known.
    """

    state: DeskState
    market_id: str
    side: Side | None
    entry: TradeView | None
    ticket: TicketView | None = None
    venue: Venue = Venue.SIM
    by_fills: tuple[TradeView, ...] | None = None
    held: PositionView | None = None
    is_own: bool = True

    @property
    def holding(self) -> str:
        if self.side is None:
            return ""
        return position_key(self.market_id, self.side, self.venue)

    @property
    def trades(self) -> tuple[TradeView, ...]:
        """Trades of the agent on this side, newest first."""
        known = self.state.trades if self.by_fills is None else self.by_fills
        return tuple(one for one in known if self.is_here(one))

    @property
    def exits(self) -> list[ExitView]:
        """Exits of the own agent on this side since the trade, newest first."""
        if not self.is_own:
            return []
        return [one for one in self.state.risk.exits if self.is_here(one) and self.is_since(one)]

    @property
    def sales(self) -> list[TradeView]:
        """Sales and payouts on this side since the trade, newest first."""
        ends = {Deal.SALE, Deal.PAYOUT}
        return [one for one in self.trades if one.deal in ends and self.is_since(one)]

    def is_since(self, one: TradeView | ExitView) -> bool:
        """True if it is no older than the trade explained."""
        return self.entry is None or one.at >= self.entry.at

    def is_here(self, one: TradeView | ExitView) -> bool:
        own = (self.market_id, self.side, self.venue)
        return (one.market_id, one.side, one.venue) == own


def why_position(state: DeskState, position: PositionView) -> TradeHistory:
    """History of a position: that of its last buy, with the number of the others."""
    known = _Known(state, position.market_id, position.side, None, venue=position.venue)
    entry = next((one for one in known.trades if one.deal is Deal.BUY), None)
    title = f"{position.side.value.upper()} {position.question}"
    return _chain(
        title, _Known(state, position.market_id, position.side, entry, venue=position.venue)
    )


def why_ticket(state: DeskState, ticket: TicketView) -> TradeHistory:
    """History of a command: that of the trade with its reference, if there is one."""
    run = _run_of(state, ticket)
    if run is not None:
        return _why_redeemed(state, run, ticket)
    ref = ticket.client_ref
    own = (one for one in state.trades if (ref and one.client_ref == ref) or _is_row(ticket, one))
    trade = next(own, None)
    named = (
        (side, venue)
        for side in Side
        for venue in Venue
        if position_key(ticket.market_id, side, venue) == ticket.holding
    )
    known_side, venue = next(named, (None, Venue.SIM))
    if trade is not None:
        known_side, venue = trade.side, trade.venue
    about = state.question_of(ticket)
    title = f"{ticket.what}: {about}" if about else ticket.what
    return _chain(title, _Known(state, ticket.market_id, known_side, trade, ticket, venue))


def why_fill(state: DeskState, fill: FillView) -> TradeHistory:
    """History of a fill; for another agent it is made from the list of fills."""
    title = f"{ticket_of_fill(fill).what}: {fill.question}"
    mine = next(
        (one for one in state.trades if one.trade_id and one.trade_id == fill.trade_id), None
    )
    if mine is not None:
        return _chain(title, _Known(state, fill.market_id, fill.side, mine, venue=fill.venue))
    past = known_pasts(state).get(fill.agent_id)
    read = {} if past is None else {one.trade.trade_id: one for one in past.trades}
    entry, found = _trade_of(fill), read.get(fill.trade_id)
    if found is not None:
        signals = tuple((name, str(value)) for name, value in found.signal_data.items())
        entry = replace(found.trade, skill_slug=found.skill_slug, signal_data=signals)
    others = (
        entry if one.key == fill.key else _trade_of(one)
        for one in all_fills(state)
        if one.agent_id == fill.agent_id
    )
    place = position_key(fill.market_id, fill.side, fill.venue)
    positions = () if past is None else past.positions
    known = _Known(
        state,
        fill.market_id,
        fill.side,
        entry,
        venue=fill.venue,
        by_fills=tuple(others),
        is_own=state.account is not None and state.account.agent_id == fill.agent_id,
        held=next((one for one in positions if one.key == place and not one.is_closed), None),
    )
    return _chain(f"{fill.agent_name}: {title}" if fill.agent_name else title, known)


def why_past(
    state: DeskState, past: AgentDetailView, one: ReasonedTradeView, agent_name: str
) -> TradeHistory:
    """History of a trade of an agent whose past was read in full."""
    signals = tuple((name, str(value)) for name, value in one.signal_data.items())
    entry = replace(one.trade, skill_slug=one.skill_slug, signal_data=signals)
    every = tuple(entry if each is one else each.trade for each in past.trades)
    place = position_key(entry.market_id, entry.side, entry.venue)
    known = _Known(
        replace(state, trades=every),
        entry.market_id,
        entry.side,
        entry,
        venue=entry.venue,
        is_own=state.account is not None and state.account.agent_id == past.agent_id,
        held=next((each for each in past.positions if each.key == place), None),
    )
    return _chain(
        f"{agent_name}: {entry.action} {entry.side.value.upper()} {entry.question}", known
    )


def why_request(trade: PendingTradeView) -> TradeHistory:
    """History of a trade that waits for a person, or was decided by one."""
    signals = tuple(LabelledValue(name, str(value)) for name, value in trade.signal_data.items())
    skill = (LabelledValue("skill", trade.skill_slug),) if trade.skill_slug else ()
    signal = Link("signal", missing="none given with the order")
    if skill or signals:
        signal = Link("signal", trade.created_at, (*skill, *signals))
    reasoning = Link("reasoning", missing="none given")
    if trade.reasoning:
        author = (LabelledValue("by", trade.source),) if trade.source else ()
        reasoning = Link(
            "reasoning", trade.created_at, (LabelledValue("", trade.reasoning), *author)
        )
    what = f"{trade.action.value} {trade.side.value.upper()} {trade.question}"
    links = (signal, reasoning, _requested(trade), _decided(trade))
    return TradeHistory(f"{trade.agent_name}: {what}", links)


def _requested(trade: PendingTradeView) -> Link:
    is_buy = trade.action is Action.BUY
    size = LabelledValue("amount", int(trade.amount), Unit.MONEY)
    values = [size if is_buy else LabelledValue("shares", int(trade.shares), Unit.SHARES)]
    values += [
        LabelledValue(label, price, Unit.PRICE)
        for label, price in (
            ("limit", trade.price_limit), ("expected", trade.asked), ("now", trade.average)
        )
        if price is not None
    ]  # fmt: skip
    return Link("request", trade.created_at, (*values, LabelledValue("venue", trade.venue.value)))


def _decided(trade: PendingTradeView) -> Link:
    if trade.is_waiting:
        return Link("decision", missing="none yet: a person decides, or the deadline refuses it")
    values = [LabelledValue("state", trade.status.value)]
    values += [
        LabelledValue(label, text)
        for label, text in (("reason", trade.reason), ("trade", trade.trade_id))
        if text
    ]
    return Link("decision", trade.decided_at, tuple(values))


def _trade_of(fill: FillView) -> TradeView:
    """A fill as a trade, as far as the list of fills describes it."""
    return TradeView(
        trade_id=fill.trade_id,
        market_id=fill.market_id,
        question=fill.question,
        side=fill.side,
        action=fill.action.value,
        shares=fill.shares,
        cost=fill.money,
        average=fill.price,
        price_before=None,
        price_after=fill.price_after,
        venue=fill.venue,
        status=TradeStatus.FILLED,
        reasoning="",
        source=fill.source,
        at=fill.at,
        pnl=None if fill.action is Action.BUY else fill.realized,
        skill_slug=fill.skill,
        fee=fill.fee,
    )


def _run_of(state: DeskState, ticket: TicketView) -> RunView | None:
    """Redemption that a row of the blotter is about; None for any other command."""
    if ticket.kind != REDEMPTION:
        return None
    name = ticket.ticket_id.removeprefix(f"{REDEMPTION}:")
    runs = (run for run in state.redemption.runs if run.key == name)
    return next((run for run in runs if run.tx_hash == ticket.client_ref), None)


def _why_redeemed(state: DeskState, run: RunView, ticket: TicketView) -> TradeHistory:
    """History of a redemption: position, outcome, who ordered it, and each step."""
    title = f"redeem {run.side.value.upper()} {run.question}"
    place = position_key(run.market_id, run.side, run.venue)
    held = next((one for one in (*state.on_venues, *state.closed) if one.place == place), None)
    known = _Known(state, run.market_id, run.side, None, venue=run.venue)
    bought = [one for one in known.trades if one.deal is Deal.BUY]
    cost = sum_of(one.cost for one in bought)
    position = Link("position", missing="unknown: its buys are not among the newest trades")
    if bought:
        shares = sum_of(one.shares for one in bought)
        values = (
            LabelledValue("bought", int(shares), Unit.SHARES),
            LabelledValue("for", int(cost), Unit.MONEY),
        )
        position = Link("position", bought[-1].at, values)
    outcome = Link("outcome", missing="unknown: position not among those read")
    if held is not None and held.outcome is not None:
        ended: tuple[LabelledValue, ...] = (LabelledValue("market ended", held.outcome.word),)
        if state.service.embedded:
            ended = (*ended, LabelledValue("clock", "world time"))
        outcome = Link("outcome", held.resolves_at, ended)
    by = "this desk, automatic" if run.by_itself else "you"
    ordered = Link(
        "ordered", run.opened_at, (LabelledValue("by", by), LabelledValue("venue", run.venue.value))
    )
    steps = tuple(Link(one.step.value, one.at, ()) for one in run.steps)
    ends = [LabelledValue("state", f"{ticket.state.value}: {run.words}".rstrip(": "))]
    if run.amount:
        ends.append(LabelledValue("pays", int(run.amount), Unit.MONEY))
    if run.tx_hash:
        ends.append(LabelledValue("transaction", run.tx_hash))
    end = Link("payout", run.settled_at, tuple(ends), when="no result yet")
    return TradeHistory(title, (position, outcome, ordered, *steps, end))


def _is_row(ticket: TicketView, trade: TradeView) -> bool:
    """True if a row of the blotter is a fill that no command of this console made."""
    return ticket.kind == FILL and ticket.ticket_id == fill_id(trade)


def _chain(title: str, known: _Known) -> TradeHistory:
    links = (_signal(known), _reasoning(known), _quote(known), _fill(known), _monitor(known))
    return TradeHistory(title, (*links, *_exits(known)))


# -- before it traded ---------------------------------------------------------------------------


def _mirrored(known: _Known) -> SignalView | None:
    """The signal of a watched wallet that the trade mirrors."""
    ticket = known.ticket or _ticket_of(known)
    names = {known.entry.client_ref} if known.entry is not None else set[str]()
    if ticket is not None:
        names |= {ticket.ticket_id, ticket.client_ref}
    names.discard("")
    signals = known.state.reactor.signals
    return next((one for one in signals if one.ticket_id and one.ticket_id in names), None)


def _ticket_of(known: _Known) -> TicketView | None:
    """The order of the entry, while the blotter has it."""
    ref = "" if known.entry is None else known.entry.client_ref
    return next((one for one in known.state.tickets if ref and one.client_ref == ref), None)


def _approved_trade(known: _Known) -> PendingTradeView | None:
    """The approval that the trade came from, if any."""
    entry = known.entry
    return next(
        (
            one
            for one in known.state.supervision.decided
            if entry is not None and one.trade_id and one.trade_id == entry.trade_id
        ),
        None,
    )


def _signal(known: _Known) -> Link:
    mirrored, entry = _mirrored(known), known.entry
    if mirrored is not None:
        wallet = mirrored.label or mirrored.wallet
        values = (
            LabelledValue("from", f"wallet {wallet}"),
            LabelledValue("its price", mirrored.price, Unit.PRICE),
            LabelledValue("its size", int(mirrored.size), Unit.SHARES),
            LabelledValue("state", mirrored.state.value),
        )
        return Link("signal", mirrored.at, values)
    data = () if entry is None else entry.signal_data
    trade = _approved_trade(known)
    if not data and trade is not None:
        data = tuple((name, str(value)) for name, value in trade.signal_data.items())
    if data:
        skill = (
            ()
            if entry is None or not entry.skill_slug
            else (LabelledValue("skill", entry.skill_slug),)
        )
        when = None if trade is None else trade.created_at
        values = (*skill, *(LabelledValue(name, value) for name, value in data))
        return Link("signal", when, values, when=WITH_IT)
    return Link("signal", missing=_unread(known) or "none given with the order")


def _unread(known: _Known) -> str:
    """Reason why a link that comes with the fill is unknown; empty if the fill was read in full."""
    if known.entry is None:
        is_filled = known.ticket is None or (
            known.ticket.state is TicketState.DONE and known.ticket.limit is None
        )
        return _no_entry(known) if is_filled else "unknown until filled"
    if known.by_fills is None or known.entry.reasoning or known.entry.signal_data:
        return ""
    return "unknown: not in the list of fills"


def _no_entry(known: _Known) -> str:
    """Reason why there is no trade to explain."""
    if known.ticket is not None:
        return "unknown: no trade has this order's reference"
    return "unknown: the buy is not among the newest trades"


def _reasoning(known: _Known) -> Link:
    entry, trade = known.entry, _approved_trade(known)
    text = "" if entry is None else entry.reasoning
    text = text or ("" if trade is None else trade.reasoning)
    if not text:
        return Link("reasoning", missing=_unread(known) or "none given")
    author = () if entry is None or not entry.source else (LabelledValue("by", entry.source),)
    decided = (
        (LabelledValue("approved", _approval(trade)),)
        if trade is not None and trade.status in _APPROVED
        else ()
    )
    values = (LabelledValue("", text), *author, *decided)
    return Link("reasoning", None if trade is None else trade.decided_at, values, when=WITH_IT)


def _approval(trade: PendingTradeView) -> str:
    """Who approved the trade, and whether at the requested size."""
    asked = trade.amount if trade.action is Action.BUY else trade.shares
    is_changed = trade.decided_amount not in {None, asked}
    return "by you, at another size" if is_changed else "by you"


def _quote(known: _Known) -> Link:
    """Expected price: the price before, the bound, and the quote on screen."""
    entry, trade, mirrored = known.entry, _approved_trade(known), _mirrored(known)
    ticket = known.ticket or _ticket_of(known)
    values: list[LabelledValue] = []
    if entry is not None and entry.price_before is not None:
        values.append(LabelledValue("price before", entry.price_before, Unit.PRICE))
    if trade is not None and trade.average is not None:
        values.append(LabelledValue("quoted average", trade.average, Unit.PRICE))
    if mirrored is not None:
        values.append(LabelledValue("limit", mirrored.price_max, Unit.PRICE))
    if ticket is not None and ticket.amount:
        values.append(LabelledValue("amount ordered", int(ticket.amount), Unit.MONEY))
    if ticket is not None and ticket.shares:
        values.append(LabelledValue("shares ordered", int(ticket.shares), Unit.SHARES))
    if not values:
        return Link("quote", missing=_unread(known) or "unknown: quotes are not stored")
    quoted_at = None if ticket is None else ticket.sent_at or ticket.opened_at
    return Link("quote", quoted_at, tuple(values), when="before the fill")


# -- when it traded -----------------------------------------------------------------------------


def _fill(known: _Known) -> Link:
    entry, ticket = known.entry, known.ticket
    if entry is None:
        if ticket is None:
            return Link("fill", missing=_no_entry(known))
        ending = LabelledValue("order", f"{ticket.state.value}: {ticket.outcome}".rstrip(": "))
        return Link("fill", ticket.settled_at, (ending,))
    values = [
        LabelledValue(entry.did, int(entry.shares), Unit.SHARES),
        LabelledValue("for", int(entry.cost), Unit.MONEY),
        LabelledValue("venue", entry.venue.value),
        LabelledValue("status", entry.status.value),
    ]
    if entry.average is not None:
        values.insert(2, LabelledValue("average", entry.average, Unit.PRICE))
    if entry.fee:
        values.append(LabelledValue("fee", int(entry.fee), Unit.MONEY))
    if entry.average is not None and entry.price_before is not None:
        values.append(LabelledValue("slippage", entry.average - entry.price_before, Unit.POINTS))
    if entry.price_after is not None:
        values.append(LabelledValue("price after", entry.price_after, Unit.PRICE))
    others = [one for one in known.trades if one.deal is entry.deal and one is not entry]
    if others:
        more = sum_of(one.shares for one in others)
        count, many = len(others), _MANY[entry.deal]
        words = f"one more {many.removesuffix('s')}" if count == 1 else f"{count} more {many}"
        values.append(LabelledValue(words, int(more), Unit.SHARES))
    return Link("fill", entry.at, tuple(values))


# -- after it traded ----------------------------------------------------------------------------


def _monitor(known: _Known) -> Link:
    if not known.is_own:
        return Link("monitor", missing="Stops of other agents are not shown here")
    risk = known.state.risk
    monitor = risk.monitor(known.holding)
    alerts = [one for one in risk.alerts if one.holding == known.holding]
    values = [] if monitor is None else list(_thresholds(monitor))
    values += [_alert(one) for one in alerts]
    if values:
        return Link("monitor", alerts[0].breached_at if alerts else None, tuple(values))
    fired = _fired(known)
    if fired is not None:
        return fired
    if known.state.position(known.holding) is None:
        return Link("monitor", missing="unknown: the position has ended, and its monitor with it")
    return Link("monitor", missing="none: side not protected")


def _thresholds(monitor: MonitorView) -> Iterator[LabelledValue]:
    yield LabelledValue("set", "auto (on buy)" if monitor.automatic else "manual")
    if monitor.stop_price is not None:
        yield LabelledValue("stop at", monitor.stop_price, Unit.PRICE)
    if monitor.target_price is not None:
        yield LabelledValue("target at", monitor.target_price, Unit.PRICE)
    if monitor.mark is not None:
        yield LabelledValue("price now", monitor.mark, Unit.PRICE)
    yield LabelledValue("state", monitor.state.value)


def _fired(known: _Known) -> Link | None:
    """The monitor that sold the position, by its exit or by the source of the sale."""
    done = next(iter(known.exits), None)
    if done is not None:
        values = [LabelledValue("sold by", done.cause)]
        if done.trigger_price is not None:
            values.append(LabelledValue("at", done.trigger_price, Unit.PRICE))
        return Link("monitor", done.at, tuple(values))
    sold = next((one for one in known.sales if exit_cause(one.source)), None)
    if sold is None:
        return None
    return Link("monitor", sold.at, (LabelledValue("sold by", exit_cause(sold.source)),))


def _alert(alert: AlertView) -> LabelledValue:
    return LabelledValue("alert", f"{alert.reason}: {alert.state.value}")


def _exits(known: _Known) -> Iterator[Link]:
    """Exits so far: sales, exits of alerts, the outcome."""
    sales, exits = known.sales, known.exits
    closed = _closed(known) if known.is_own else None
    payout = next((one for one in sales if one.deal is Deal.PAYOUT), None)
    for sale in reversed(sales[:OTHERS_MAX]):
        # A payout and the outcome that it comes from are one exit.
        yield _sale(sale, exits, closed if sale is payout else None)
    if not sales:
        yield from (_exit(one) for one in reversed(exits[:OTHERS_MAX]))
    if closed is not None and payout is None:
        values = (
            _outcome(closed),
            LabelledValue("realized", int(closed.realized), Unit.PNL),
        )
        if known.state.service.embedded:
            # All other links have wall time.
            values = (*values, LabelledValue("clock", "world time"))
        yield Link("exit", closed.resolves_at, values)
    elif not sales and not exits:
        yield _no_exit(known)


def _closed(known: _Known) -> PositionView | None:
    """The position after its outcome; None while it is open, or if it was sold."""
    real = (one for one in known.state.on_venues if one.is_closed)
    ended = (one for one in (*known.state.closed, *real) if one.outcome is not None)
    return next((one for one in ended if one.place == known.holding), None)


def _outcome(closed: PositionView) -> LabelledValue:
    word = "unknown" if closed.outcome is None else closed.outcome.word
    return LabelledValue("outcome", word)


def _no_exit(known: _Known) -> Link:
    """The open position, or the reason why no exit is known."""
    held = known.state.position(known.holding) if known.is_own else known.held
    if held is not None:
        return Link("exit", values=_open(held), when="not yet")
    if not known.is_own:
        return Link("exit", missing="unknown: no later sale in the list of fills")
    return Link("exit", missing="unknown: neither an open position nor among the sales")


def _open(position: PositionView) -> tuple[LabelledValue, ...]:
    """Not sold yet: what it is worth."""
    values = [LabelledValue("held", int(position.shares), Unit.SHARES)]
    if position.mark_value is not None:
        values.append(LabelledValue("mark", int(position.mark_value), Unit.MONEY))
    if position.exit_value is not None:
        values.append(LabelledValue("if sold now", int(position.exit_value), Unit.MONEY))
    if position.unrealized is not None:
        values.append(LabelledValue("unrealized", int(position.unrealized), Unit.PNL))
    return tuple(values)


def _sale(sale: TradeView, exits: list[ExitView], closed: PositionView | None) -> Link:
    values = [
        LabelledValue(
            "sold" if sale.deal is Deal.SALE else "redeemed", int(sale.shares), Unit.SHARES
        )
    ]
    values.append(LabelledValue("for", int(sale.cost), Unit.MONEY))
    if sale.average is not None:
        values.append(LabelledValue("average", sale.average, Unit.PRICE))
    if sale.fee:
        values.append(LabelledValue("fee", int(sale.fee), Unit.MONEY))
    if sale.pnl is not None:
        values.append(LabelledValue("P&L", int(sale.pnl), Unit.PNL))
    if closed is not None:
        values.append(_outcome(closed))
    near = next((one.cause for one in exits if abs(one.at - sale.at) <= 1.0), "")
    cause = near or exit_cause(sale.source)
    if cause or sale.reasoning:
        values.append(LabelledValue("because", cause or sale.reasoning))
    return Link("exit", sale.at, tuple(values))


def _exit(sale: ExitView) -> Link:
    values = [
        LabelledValue("sold", int(sale.shares), Unit.SHARES),
        LabelledValue("for", int(sale.proceeds), Unit.MONEY),
        LabelledValue("because", sale.cause),
        LabelledValue("by", "the service" if sale.by_service else "this desk, or another client"),
    ]
    if sale.pnl is not None:
        values.append(LabelledValue("P&L", int(sale.pnl), Unit.PNL))
    return Link("exit", sale.at, tuple(values))
