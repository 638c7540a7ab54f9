"""Routes of the fleet: permissions, pending trades, and each agent's actions."""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Final

from service_tui.engine.agents.agents import Agent
from service_tui.engine.agents.leash import Leash
from service_tui.engine.agents.pending_trades import check_leash, spent_of
from service_tui.engine.amm.exchange import Order
from service_tui.engine.errors import LeashBudget, LeashObserves, PriceBeyondApproval, Refusal
from service_tui.engine.events import Event, Fill, LeashSet, OrderPlaced, PendingEnded, TradePending
from service_tui.server.http.refusals import Denied, denied, invalid_items, sent_micros
from service_tui.server.http.service import RequestContext, Routes
from service_tui.server.routes import outcomes, positions, trades
from service_tui.terms import MONEY_DECIMALS, Action, PendingStatus, Venue
from service_tui.units import Micros, decimal
from service_tui.wire.base import WireModel, moment
from service_tui.wire.endpoints.fleet import (
    DESK_AGENT_OUTCOMES,
    DESK_AGENT_POSITIONS,
    DESK_AGENT_TRADES,
    DESK_APPROVE,
    DESK_FREE_LEASH,
    DESK_LEASHES,
    DESK_PENDING_TRADES,
    DESK_REFUSE,
    DESK_SET_LEASH,
    PENDING_TRADES,
)
from service_tui.wire.errors import ErrorBody
from service_tui.wire.fleet import (
    ApproveRequest,
    DecidedBody,
    HeldQuery,
    HeldTradeBody,
    HeldTradesBody,
    LeashBody,
    LeashesBody,
    LeashQuery,
    LeashRequest,
    OtherSideBody,
    RefuseRequest,
)
from service_tui.wire.outcomes import OutcomesBody
from service_tui.wire.positions import PositionsBody
from service_tui.wire.trades import TradeBody, TradeRequest, TradesBody

NO_REASON: Final = "refused by the operator"
"""What an agent hears of a refusal without a reason."""

OTHERS_SHOWN: Final = 5
"""Owners of the other side that are named."""

NO_OF_THE_VENUE: Final = "the venue said no"


# -- leashes -------------------------------------------------------------------------------


def _leash_body(request: RequestContext, agent: Agent, slug: str) -> LeashBody:
    leash = agent.leashes[slug]
    return LeashBody(
        agent_id=agent.agent_id,
        skill_slug=slug,
        mode=leash.mode,
        threshold=decimal(leash.threshold),
        daily_budget=None if leash.budget is None else decimal(leash.budget),
        wait_s=leash.wait_s,
        spent=decimal(spent_of(agent, slug, request.now)),
    )


def _leashes(request: RequestContext) -> LeashesBody:
    matching = tuple(
        _leash_body(request, agent, slug)
        for agent in request.world.agents.values()
        for slug in sorted(agent.leashes)
    )
    return LeashesBody(leashes=matching)


async def list_leashes(request: RequestContext) -> LeashesBody:
    """Every leash, by agent; the agent's own before those of its skills."""
    return _leashes(request)


async def set_leash(request: RequestContext) -> LeashBody:
    """Put an agent, or one of its skills, on a leash; what waits already still waits."""
    agent = request.world.agent(request.path["agent_id"])
    sent = request.body_as(LeashRequest)
    leash = _leash_of(sent, agent.leashes.get(sent.skill_slug))
    event = LeashSet(
        agent.agent_id, request.now, sent.skill_slug,
        leash.mode, leash.threshold, leash.budget, leash.wait_s,
    )  # fmt: skip
    request.service.world_store.check_whole()
    await request.write(request.world.note(event))
    return _leash_body(request, request.world.agent(agent.agent_id), sent.skill_slug)


def _leash_of(sent: LeashRequest, before: Leash | None) -> Leash:
    """The requested leash: fields that were not sent stay as before."""
    # ours: as monitors do, so that a change of the mode takes no budget off.
    threshold, wait_s = sent_micros(("body", "threshold"), sent.threshold), sent.wait_s
    budget = None
    if sent.daily_budget is not None:
        budget = sent_micros(("body", "daily_budget"), sent.daily_budget)
    if before is not None:
        named_fields = sent.model_fields_set
        threshold = threshold if "threshold" in named_fields else before.threshold
        budget = budget if "daily_budget" in named_fields else before.budget
        wait_s = wait_s if "wait_s" in named_fields else before.wait_s
    return Leash(sent.mode, threshold, budget, wait_s)


async def free_leash(request: RequestContext) -> LeashesBody:
    """Take a leash off; where there is none nothing changes."""
    agent = request.world.agent(request.path["agent_id"])
    slug = request.query_as(LeashQuery).skill_slug
    if slug in agent.leashes:
        event = LeashSet(agent.agent_id, request.now, slug, None, Micros(0), None, 0)
        request.service.world_store.check_whole()
        await request.write(request.world.note(event))
    return _leashes(request)


# -- trades that wait ----------------------------------------------------------------------


def pending_trade_body(
    request: RequestContext, trade: TradePending, end: PendingEnded | None = None
) -> HeldTradeBody:
    """A trade that waits, with what it would get now, or how it ended."""
    world = request.world
    agent, market = world.agent(trade.agent_id), world.markets.get(trade.market_id)
    buys = trade.action is Action.BUY
    got = None if end is not None else _estimate(request, trade)
    note = trade.note
    return HeldTradeBody(
        held_id=trade.pending_id,
        agent_id=trade.agent_id,
        agent_name=agent.settings.name,
        status=PendingStatus.WAITING if end is None else end.status,
        market_id=trade.market_id,
        question=trade.question or world.question_of(trade.market_id),
        venue=trade.venue,
        side=trade.side,
        action=trade.action,
        order_type=trade.order_type,
        amount=decimal(trade.size) if buys else 0.0,
        shares=0.0 if buys else decimal(trade.size),
        price_limit=trade.price,
        price=None if market is None else market.price_of(trade.side),
        avg_price=None if got is None else got.avg_price,
        shares_estimate=None if got is None else got.shares,
        reasoning=note.reasoning,
        source=note.source,
        skill_slug=note.skill_slug,
        signal_data=note.signal_data,
        created_at=moment(trade.at),
        expires_at=moment(trade.expires_at),
        decided_at=None if end is None else moment(end.at),
        decided_amount=None if end is None or not end.size else decimal(end.size),
        decided_by="" if end is None else end.by,
        price_asked=trade.asked,
        decided_bound=None if end is None else end.bound,
        other_side=_other_side(request, trade) if request.person is not None else (),
        reason="" if end is None else end.reason,
        trade_id="" if end is None else end.trade_id,
    )


def _other_side(request: RequestContext, trade: TradePending) -> tuple[OtherSideBody, ...]:
    """The agents that hold the other side of a trade's market on its venue, the most first."""
    world, side, market_id = request.world, trade.side.other, trade.market_id
    found: list[tuple[Agent, Micros]] = []
    for agent in world.agents.values():
        position = agent.positions.get(market_id)
        if trade.venue is not Venue.SIM:
            account = world.venues.account(agent.agent_id, trade.venue)
            holding = account.holdings.get(market_id)
            position = None if holding is None else holding.position
        if position is not None and position.shares(side) > 0:
            found.append((agent, position.shares(side)))
    found.sort(key=lambda one: -one[1])
    return tuple(
        OtherSideBody(
            agent_id=agent.agent_id, agent_name=agent.settings.name, shares=decimal(shares)
        )
        for agent, shares in found[:OTHERS_SHOWN]
    )


def _estimate(request: RequestContext, pending: TradePending) -> TradeBody | None:
    """What the trade would get now on sim; None where the market does not take it."""
    if pending.venue is not Venue.SIM:
        return None
    agent = request.world.agent(pending.agent_id)
    order = Order(agent, pending.market_id, pending.side, pending.action, pending.size)
    try:
        return trades.quoted(request, order)
    except Refusal:
        return None


def _pending_trades(request: RequestContext, *, of: str | None = None) -> HeldTradesBody:
    """Pending trades of one agent or of all, with the decided ones on request."""
    pending = request.world.pending_trades
    waiting = [trade for trade in pending.waiting.values() if of in {None, trade.agent_id}]
    waiting.sort(key=lambda trade: trade.expires_at)
    rows = [pending_trade_body(request, trade) for trade in waiting]
    if request.query_as(HeldQuery).status == "all":
        ended = reversed(pending.ended)
        rows += [
            pending_trade_body(request, trade, end)
            for trade, end in ended
            if of in {None, trade.agent_id}
        ]
    return HeldTradesBody(held=tuple(rows), waiting_count=len(waiting))


async def own_pending_trades(request: RequestContext) -> HeldTradesBody:
    """The calling agent's own trades that wait, and with `all` how the last ones ended."""
    return _pending_trades(request, of=request.agent.agent_id)


async def all_pending_trades(request: RequestContext) -> HeldTradesBody:
    """The trades of all agents that wait, the nearest deadline first."""
    return _pending_trades(request)


async def approve(request: RequestContext) -> DecidedBody:
    """Carry a pending trade out; a refusal of the venue decides it as well.

    Returns:
        How it was decided.

    Raises:
        Denied: it waits on, by a no that the operator can mend: of the day's budget, or of a size
            that is the operator's own. 422 for a bound of the other action.
    """
    pending = request.world.pending_trades.find(request.path["held_id"])
    approval = request.body_as(ApproveRequest)
    size = pending.size if approval.amount is None else _new_size(pending, approval.amount)
    bound = _bound_of(pending, approval)
    released = request_of(pending, size)
    agent = request.world.agent(pending.agent_id)
    decision = _Decision(request, pending, size, bound)
    with suppress(LeashObserves):  # Decided below, as every other no.
        _check_budget(agent, pending, size, request)
    going = replace(
        request,
        caller=agent,
        body=released,
        approved=True,
        average_bound=bound,
        also=decision.end,
    )
    request.service.world_store.check_whole()
    try:
        trade = await trades.place(going)
    except Denied as no:
        if decision.is_changed:
            raise
        reason = no.body.error if isinstance(no.body, ErrorBody) else NO_OF_THE_VENUE
        await request.write(decision.fail(reason))
        return _decided(request, pending, None)
    if decision.is_changed and not trade.success and not is_beyond(trade):
        # ours: an amount that cannot be carried out must not use up the trade that was requested.
        fix = trade.fix or "approve it at the size that was asked, or at a smaller one"
        raise denied(409, f"{trade.error or NO_OF_THE_VENUE}; it waits on", fix)
    return _decided(request, pending, trade)


def _check_budget(
    agent: Agent, pending: TradePending, size: Micros, request: RequestContext
) -> None:
    try:
        check_leash(
            agent, pending.note.skill_slug, pending.action, size, approved=True, at=request.now
        )
    except LeashBudget as no:
        fix = "raise the budget of the leash, or approve a smaller amount"
        raise denied(409, f"{no.error}; it waits on", fix) from no


def is_beyond(trade: TradeBody) -> bool:
    """True if the price was beyond the operator's bound, and nothing was traded for it.

    That decides the trade, at whatever size: the agent may ask again at once, as it may not after
    a person's refusal.
    """
    # ours: the answer to "not above 0.47" is no; the interface knows no bound of an approval.
    return trade.error_code == PriceBeyondApproval.code


class _Decision:
    """How an approved trade ends, written in the same transaction as the trade.

    The bound of the person is part of that row: no program reads a fill without it.
    """

    def __init__(
        self, request: RequestContext, pending: TradePending, size: Micros, bound: float | None
    ) -> None:
        self._request, self._pending, self._size = request, pending, size
        self._bound = bound

    @property
    def is_changed(self) -> bool:
        """True if the operator changed the size."""
        return self._size != self._pending.size

    def end(self, events: Sequence[Event], reply: WireModel) -> Sequence[Event]:
        """The end that goes with these events and this answer."""
        if not isinstance(reply, TradeBody) or not reply.success:
            trade = reply if isinstance(reply, TradeBody) else None
            waits_on = self.is_changed and not (trade is not None and is_beyond(trade))
            error = None if trade is None else trade.error
            return () if waits_on else self.fail(error or NO_OF_THE_VENUE)
        trade_id = next(ids_of(events), "")
        reason = "approved at another size" if self.is_changed else "approved"
        return self._end(PendingStatus.APPROVED, reason, trade_id)

    def fail(self, why: str) -> list[PendingEnded]:
        """The end of a trade that the venue did not take."""
        return self._end(PendingStatus.FAILED, why, "")

    def _end(self, status: PendingStatus, reason: str, trade_id: str) -> list[PendingEnded]:
        size = self._size if status is PendingStatus.APPROVED else Micros(0)
        by = self._request.operator.name
        pending_id, at = self._pending.pending_id, self._request.now
        ended = PendingEnded(pending_id, at, status, reason, size, trade_id, by, self._bound)
        return self._request.world.pending_trades.end([ended])


def ids_of(events: Sequence[Event]) -> Iterator[str]:
    """The ids of the trades and orders that events made."""
    for event in events:
        if isinstance(event, Fill):
            yield event.trade_id
        elif isinstance(event, OrderPlaced):
            yield event.order_id


def _bound_of(pending: TradePending, approval: ApproveRequest) -> float | None:
    """The worst average price that the operator allows; None for any.

    Raises:
        Denied: 422 for a bound that the action does not have.
    """
    buys = pending.action is Action.BUY
    bound, other = approval.not_above, approval.not_below
    name, text = "not_below", "a buy is bounded by not_above"
    if not buys:
        bound, other = other, bound
        name, text = "not_above", "a sale is bounded by not_below"
    if other is not None:
        raise invalid_items([(("body", name), text, "value")])
    return bound


def _new_size(pending: TradePending, amount: float) -> Micros:
    """The size that the operator wants instead.

    Returns:
        Money.

    Raises:
        Denied: 422 for a sale, which is sized by shares, or for parts of a cent.
    """
    if pending.action is not Action.BUY:
        raise invalid_items([(("body", "amount"), "a sale is not sized by money", "value")])
    size = sent_micros(("body", "amount"), amount)
    if size % trades.CENT:
        raise invalid_items([
            (("body", "amount"), f"at most {MONEY_DECIMALS} decimals", "decimal_max_places")
        ])
    return size


def request_of(pending: TradePending, size: Micros) -> TradeRequest:
    """The order as its agent had sent it, at the size that was decided."""
    buys, note = pending.action is Action.BUY, pending.note
    return TradeRequest(
        market_id=pending.market_id,
        side=pending.side,
        amount=decimal(size) if buys else 0.0,
        shares=0.0 if buys else decimal(size),
        action=pending.action,
        venue=pending.venue,
        order_type=pending.order_type,
        price=pending.price,
        expiration=pending.expiration,
        reasoning=note.reasoning or None,
        source=note.source or None,
        skill_slug=note.skill_slug or None,
        signal_data=note.signal_data,
    )


async def refuse(request: RequestContext) -> DecidedBody:
    """Refuse a pending trade; the list of held trades shows the reason to the agent."""
    pending = request.world.pending_trades.find(request.path["held_id"])
    reason = request.body_as(RefuseRequest).reason or NO_REASON
    request.service.world_store.check_whole()
    ended = PendingEnded(
        pending.pending_id, request.now, PendingStatus.REFUSED, reason, by=request.operator.name
    )
    await request.write(request.world.pending_trades.end([ended]))
    return _decided(request, pending, None)


def _decided(
    request: RequestContext, pending: TradePending, trade: TradeBody | None
) -> DecidedBody:
    found = (end for one, end in reversed(request.world.pending_trades.ended) if one == pending)
    return DecidedBody(held=pending_trade_body(request, pending, next(found, None)), trade=trade)


# -- what each agent did -------------------------------------------------------------------


def _as_agent(request: RequestContext) -> RequestContext:
    """The same request in the name of the agent."""
    return replace(request, caller=request.world.agent(request.path["agent_id"]))


async def trades_of(request: RequestContext) -> TradesBody:
    """An agent's trades and payouts, newest first, with its reasons."""
    return await trades.history(_as_agent(request))


async def positions_of(request: RequestContext) -> PositionsBody:
    """What an agent holds, or held."""
    return await positions.positions(_as_agent(request))


async def outcomes_of(request: RequestContext) -> OutcomesBody:
    """What an agent's trades came to, of all skills or of one."""
    return await outcomes.outcomes(_as_agent(request))


ROUTES: Final[Routes] = {
    PENDING_TRADES: own_pending_trades,
    DESK_LEASHES: list_leashes,
    DESK_SET_LEASH: set_leash,
    DESK_FREE_LEASH: free_leash,
    DESK_PENDING_TRADES: all_pending_trades,
    DESK_APPROVE: approve,
    DESK_REFUSE: refuse,
    DESK_AGENT_TRADES: trades_of,
    DESK_AGENT_POSITIONS: positions_of,
    DESK_AGENT_OUTCOMES: outcomes_of,
}
