"""Trades under permissions: which pass, which wait for approval, and their end."""

from collections import deque
from collections.abc import Callable, Iterable, Mapping
from typing import Final

from service_tui.engine.agents.agents import Agent
from service_tui.engine.agents.leash import OWN, Leash, approval_leash, binding
from service_tui.engine.errors import (
    LeashBudget,
    LeashObserves,
    NeedsApproval,
    PendingTradeNotFound,
    PriceBeyondApproval,
    RefusedBefore,
    TooManyPending,
)
from service_tui.engine.events import FleetEvent, LeashSet, PendingEnded, TradePending
from service_tui.terms import MARKET_ENDED, PENDING_SHOWN, Action, LeashMode, PendingStatus
from service_tui.units import SHARE_QUANTUM, Micros, Timestamp, decimal

REFUSED_S: Final = 3_600.0
"""ours: how long a refused trade stays refused, so that an agent does not repeat it."""

ENDED_KEPT: Final = 200
"""Decided trades that agent and person can still ask for; the journal keeps all."""

DEADLINE: Final = "approval timed out"


def check_leash(
    agent: Agent, slug: str, action: Action, size: Micros, *, approved: bool, at: Timestamp
) -> None:
    """Whether a trade may go out automatically.

    Args:
        agent: whose trade; it is on a leash.
        slug: the skill that trades, empty where none was named.
        action: a sale is bound by `observe` alone.
        size: money of a buy.
        approved: the person has let this trade pass.
        at: wall time.

    Raises:
        LeashObserves: the agent may only look.
        LeashBudget: with what was bought today, above a budget.
        NeedsApproval: the person has to decide.
    """
    bound = binding(agent.leashes, slug)
    if bound and bound[0].mode is LeashMode.OBSERVE:
        raise LeashObserves("observe-only leash: no orders allowed")
    if action is not Action.BUY:
        # ours: a sale takes risk away, and must not wait for somebody who is not there.
        return
    for name in {OWN, slug} & agent.leashes.keys():
        _check_budget(agent, name, size, at)
    if not approved and approval_leash(agent.leashes, slug, size) is not None:
        raise NeedsApproval(f"a buy for {decimal(size):,.2f} needs the operator's approval")


def check_average(
    bound: float | None, action: Action, money: Micros, shares: Micros, *, rests_at: float | None
) -> None:
    """Whether a fill keeps the price at which the operator let the trade pass.

    Args:
        bound: the worst average price that was allowed; None for any.
        action: a buy may not be above it, a sale not below.
        money: what the fill moves, without a fee.
        shares: of the fill; 0 where nothing fills at once.
        rests_at: price at which a rest of the order stays on a book; None without one.

    Raises:
        PriceBeyondApproval: the average would be beyond the bound, or the rest could become so.
    """
    if bound is None:
        return
    # The fill at one price is rounded to a quantum of shares, which is no worse price.
    way, slack = (1 if action is Action.BUY else -1), SHARE_QUANTUM
    # Written so that no number that compares to nothing passes.
    if not way * (decimal(money) - bound * decimal(shares)) <= decimal(slack):
        average = money / shares
        raise PriceBeyondApproval(f"price beyond {bound:g}: it would be {average:.4f} on average")
    if rests_at is not None and not way * (rests_at - bound) <= 0:
        raise PriceBeyondApproval(f"price beyond {bound:g}: the rest would wait at {rests_at:g}")


def spent_of(agent: Agent, slug: str, at: Timestamp) -> Micros:
    """Money of today's buys that counts against a leash: of a skill, or of the agent."""
    if slug == OWN:
        return agent.spent_today(at)
    return agent.skills_today(at).get(slug, Micros(0))


def _check_budget(agent: Agent, slug: str, size: Micros, at: Timestamp) -> None:
    budget = agent.leashes[slug].budget
    if budget is None:
        return
    spent = spent_of(agent, slug, at)
    if not spent + size <= budget:
        whose = f"of skill {slug} " if slug else ""
        raise LeashBudget(
            f"daily budget {whose}reached: {decimal(budget):,.2f}, {decimal(spent):,.2f} spent"
        )


def _same(one: TradePending, other: TradePending) -> bool:
    """Whether two trades are the same to an operator, at whatever size."""
    return (one.agent_id, one.note.skill_slug, one.venue, one.market_id, one.side, one.action) == (
        other.agent_id,
        other.note.skill_slug,
        other.venue,
        other.market_id,
        other.side,
        other.action,
    )


def how_ended(end: PendingEnded) -> str:
    """What was decided, by whom, and the reason where a person gave one."""
    by = f" by {end.by}" if end.by else ""
    reason = f" ({end.reason})" if end.reason and end.status is PendingStatus.REFUSED else ""
    return f"{end.status.value}{by}{reason}"


class PendingTrades:
    """The trades that wait, and the last ones that were decided."""

    __slots__ = ("agents", "count", "ended", "waiting")

    def __init__(self, agents: Mapping[str, Agent]) -> None:
        self.agents = agents
        self.count = 0
        self.waiting: dict[str, TradePending] = {}
        self.ended: deque[tuple[TradePending, PendingEnded]] = deque(maxlen=ENDED_KEPT)

    def let_wait(self, pending: TradePending) -> TradePending:
        """Let a trade wait; the caller writes it down.

        Returns:
            The trade with its id and its deadline, already applied.

        Raises:
            TooManyPending: so many of the agent's wait already.
            RefusedBefore: the operator has refused the same trade within the last hour.
        """
        self._check_refused(pending)
        agent = self.agents[pending.agent_id]
        if sum(one.agent_id == pending.agent_id for one in self.waiting.values()) >= PENDING_SHOWN:
            raise TooManyPending(f"{PENDING_SHOWN} trades of this agent already need approval")
        leash = approval_leash(agent.leashes, pending.note.skill_slug, pending.size)
        wait_s = 0 if leash is None else leash.wait_s
        made = pending._replace(
            pending_id=f"h{self.count + 1}", expires_at=Timestamp(pending.at + wait_s)
        )
        self.apply(made)
        return made

    def _check_refused(self, pending: TradePending) -> None:
        for one, end in reversed(self.ended):
            is_recent = 0 <= pending.at - end.at < REFUSED_S
            if end.status is PendingStatus.REFUSED and is_recent and _same(one, pending):
                minutes = max(1, round((pending.at - end.at) / 60))
                raise RefusedBefore(f"refused by the operator {minutes} min ago")

    def find(self, pending_id: str) -> TradePending:
        """A trade that waits; PendingTradeNotFound where it does not, saying how it ended."""
        pending = self.waiting.get(pending_id)
        if pending is not None:
            return pending
        for one, end in self.ended:
            if one.pending_id == pending_id:
                raise PendingTradeNotFound(f"{pending_id} was already decided: {how_ended(end)}")
        raise PendingTradeNotFound(f"no pending trade {pending_id}")

    def agent_of(self, pending_id: str) -> str:
        """Whose trade this is, waiting or decided; PendingTradeNotFound where there is none."""
        if pending_id in self.waiting:
            return self.waiting[pending_id].agent_id
        for one, _ in self.ended:
            if one.pending_id == pending_id:
                return one.agent_id
        raise PendingTradeNotFound(f"no pending trade {pending_id}")

    def due(self, at: Timestamp) -> list[PendingEnded]:
        """Refuse the trades whose deadline has passed; their ends are applied already."""
        if not self.waiting:
            return []
        late = [one for one in self.waiting.values() if one.expires_at <= at]
        return self.end(
            PendingEnded(one.pending_id, at, PendingStatus.EXPIRED, DEADLINE) for one in late
        )

    def lapse(self, at: Timestamp, is_open: Callable[[str], bool]) -> list[PendingEnded]:
        """End the trades that no answer could carry out; their ends are applied already.

        Args:
            at: wall time.
            is_open: whether the market of an id takes orders.
        """
        over = [one for one in self.waiting.values() if not is_open(one.market_id)]
        return self.end(
            PendingEnded(one.pending_id, at, PendingStatus.EXPIRED, MARKET_ENDED) for one in over
        )

    def end(self, ends: Iterable[PendingEnded]) -> list[PendingEnded]:
        """Decide trades; the caller writes it down."""
        decided = list(ends)
        for one in decided:
            self.apply(one)
        return decided

    def apply(self, event: FleetEvent) -> None:
        """Change by something that happened."""
        match event:
            case LeashSet():
                leashes = dict(self.agents[event.agent_id].leashes)
                if event.mode is None:
                    leashes.pop(event.skill_slug, None)
                else:
                    leashes[event.skill_slug] = Leash(
                        event.mode, event.threshold, event.budget, event.wait_s
                    )
                self.agents[event.agent_id].leashes = leashes
            case TradePending():
                self.count += 1
                self.waiting[event.pending_id] = event
            case PendingEnded():
                self.ended.append((self.waiting.pop(event.pending_id), event))
