"""Permissions stored by this desk if the service has none: a trade passes, waits or is refused.

`now` is wall time. Pure.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Final

from service_tui.desk.slices.supervision import LeashView, PendingTradeView
from service_tui.terms import PENDING_SHOWN, Action, LeashMode, PendingStatus, Side, Venue
from service_tui.units import Micros, Timestamp, decimal
from service_tui.wire.trades import TradeRequest

DAY_S: Final = 86_400
REFUSED_S: Final = 3_600.0
"""ours: so long the operator's no to a trade stands, as at the embedded service."""

DECIDED_KEPT: Final = 100
DEADLINE: Final = "approval timed out"
NO_REASON: Final = "refused by the operator"


@dataclass(frozen=True, slots=True)
class LeashRefusal:
    """A refusal in the format of a service that keeps leashes itself."""

    code: str
    text: str
    fix: str


_OBSERVES: Final = LeashRefusal(
    "LEASH_OBSERVE",
    "observe-only leash: no orders allowed",
    "send dry_run true for a quote; the operator sets the leash",
)


@dataclass(frozen=True, slots=True)
class Waiting:
    """A trade that needs approval: its row, and the request as received."""

    view: PendingTradeView
    body: Mapping[str, object]


@dataclass(frozen=True, slots=True, kw_only=True)
class Unknown:
    """A buy that was sent, and whose answer was lost or proves nothing.

    `ref` stands among the private notes of its trade, where `is_marked`. `approved` is its row,
    where a person had approved it.
    It is forgotten with the desk: its money then counts as spent until the day ends.
    """

    ref: str
    market_id: str
    side: Side
    venue: Venue
    size: Micros
    counted_at: Timestamp
    approved: PendingTradeView | None = None
    is_marked: bool = True


@dataclass(slots=True)
class StoredLeash:
    """The leash of one run of a skill, what it spent today, what of it waits or is unknown."""

    agent_id: str
    agent_name: str
    skill_slug: str
    mode: LeashMode
    threshold: Micros = Micros(0)
    budget: Micros | None = None
    wait_s: int = 300
    day: int = 0
    spent: Micros = Micros(0)
    count: int = 0
    waiting: dict[str, Waiting] = field(default_factory=dict[str, Waiting])
    decided: list[PendingTradeView] = field(default_factory=list[PendingTradeView])
    unknown: dict[str, Unknown] = field(default_factory=dict[str, Unknown])

    def view(self, now: Timestamp) -> LeashView:
        """The leash as a person sees it."""
        return LeashView(
            self.agent_id,
            self.skill_slug,
            self.mode,
            self.threshold,
            self.budget,
            self.wait_s,
            self.spent_on(now),
        )

    def spent_on(self, now: Timestamp) -> Micros:
        """Money of the buys of this UTC day."""
        # A clock that was set back begins no new day.
        return self.spent if int(now // DAY_S) <= self.day else Micros(0)

    def count_buy(self, money: Micros, at: Timestamp) -> Micros:
        """Count the money of a buy before it is sent; less than 0 gives it back.

        Args:
            money: what is to count.
            at: when the buy was counted: what is given back after midnight is not the new day's.

        Returns:
            What it moved.
        """
        if money < 0 and int(at // DAY_S) < self.day:
            return Micros(0)
        before = self.spent_on(at)
        self.spent = Micros(max(0, before + money))
        self.day = max(self.day, int(at // DAY_S))
        return Micros(self.spent - before)

    def check(self, order: TradeRequest, size: Micros, now: Timestamp) -> LeashRefusal | bool:
        """Decide about an order: True to send it, False to wait for approval, or the refusal."""
        observes = self.mode is LeashMode.OBSERVE
        if order.is_quote or (not observes and order.action is not Action.BUY):
            return True
        if observes:
            return _OBSERVES
        if not self.has_left(size, now):
            return self._over_budget(now)
        if self.mode is not LeashMode.ASK or size <= self.threshold:
            return True
        return self._may_wait(order, now) or False

    def has_left(self, size: Micros, now: Timestamp) -> bool:
        """True if a buy fits into the day's budget."""
        return self.budget is None or self.spent_on(now) + size <= self.budget

    def _over_budget(self, now: Timestamp) -> LeashRefusal:
        budget, spent = decimal(self.budget or Micros(0)), decimal(self.spent_on(now))
        return LeashRefusal(
            "LEASH_BUDGET",
            f"daily budget of skill {self.skill_slug} reached: {budget:,.2f}, {spent:,.2f} spent",
            "wait for midnight UTC, or request a larger budget",
        )

    def _refused_before(self, order: TradeRequest, now: Timestamp) -> LeashRefusal | None:
        """The operator's no to the same trade, within the last hour; None where there was none."""
        terms = (order.venue, order.market_id, order.side, order.action)
        for one in self.decided:
            at = one.decided_at
            is_recent = at is not None and 0 <= now - at < REFUSED_S
            same = (one.venue, one.market_id, one.side, one.action) == terms
            if one.status is PendingStatus.REFUSED and is_recent and same:
                text = "refused by the operator within the last hour"
                return LeashRefusal("REFUSED_BEFORE", text, "trade another market, or wait")
        return None

    def _may_wait(self, order: TradeRequest, now: Timestamp) -> LeashRefusal | None:
        if order.signed_order is not None:
            return LeashRefusal(
                "CANNOT_WAIT", "a signed order would expire before approval", "send it unsigned"
            )
        no = self._refused_before(order, now)
        if no is not None:
            return no
        if len(self.waiting) >= PENDING_SHOWN:
            text = f"{PENDING_SHOWN} trades of this agent already need approval"
            return LeashRefusal("TOO_MANY_HELD", text, "wait for the operator's decisions")
        return None

    def let_wait(
        self, order: TradeRequest, size: Micros, body: Mapping[str, object], now: Timestamp
    ) -> PendingTradeView:
        """Let an order wait for the person.

        Returns:
            What is shown of it.
        """
        self.count += 1
        trade = PendingTradeView(
            pending_id=f"{self.agent_id}-h{self.count}",
            agent_id=self.agent_id,
            agent_name=self.agent_name,
            status=PendingStatus.WAITING,
            market_id=order.market_id,
            question=order.market_id,
            venue=order.venue,
            side=order.side,
            action=order.action,
            amount=size,
            shares=Micros(0),
            price_limit=order.price,
            price=None,
            average=None,
            reasoning=order.reasoning or "",
            source=order.source or "",
            skill_slug=self.skill_slug,
            signal_data=order.signal_data or {},
            created_at=now,
            expires_at=Timestamp(now + self.wait_s),
        )
        self.waiting[trade.pending_id] = Waiting(trade, body)
        return trade

    def take(self, pending_id: str) -> Waiting | None:
        """Remove and return a waiting trade; None if it does not wait."""
        return self.waiting.pop(pending_id, None)

    def refuse(self, pending_id: str, reason: str, now: Timestamp) -> bool:
        """Refuse a trade that waits; whether it did."""
        waiting = self.take(pending_id)
        if waiting is not None:
            self.end(waiting.view, PendingStatus.REFUSED, reason or NO_REASON, now)
        return waiting is not None

    def is_recorded(self, trade: PendingTradeView, status: PendingStatus, reason: str) -> bool:
        """True if the decided row has this status and reason already."""
        same = (trade.pending_id, status, reason)
        return any((one.pending_id, one.status, one.reason) == same for one in self.decided)

    def against_approval(
        self, trade: PendingTradeView, size: Micros, now: Timestamp
    ) -> tuple[PendingStatus, str] | None:
        """End of a trade that cannot be approved any more; None if it can."""
        if trade.expires_at <= now:
            return PendingStatus.EXPIRED, DEADLINE
        if not self.has_left(size, now):
            return PendingStatus.FAILED, "daily budget reached"
        return None

    def end(
        self,
        trade: PendingTradeView,
        status: PendingStatus,
        reason: str,
        now: Timestamp,
        *,
        trade_id: str = "",
        approved: Micros | None = None,
    ) -> None:
        """Remember how a trade that waited was decided; `approved` is the size that went out."""
        ended = replace(
            trade,
            status=status,
            reason=reason,
            decided_at=now,
            trade_id=trade_id,
            decided_amount=approved,
        )
        # One whose end was unknown has its row already.
        others = [one for one in self.decided if one.pending_id != trade.pending_id]
        self.decided = [ended, *others][:DECIDED_KEPT]

    def expire(self, now: Timestamp) -> bool:
        """Refuse trades whose time is over; True if there were any."""
        late = [one for one in self.waiting.values() if one.view.expires_at <= now]
        for one in late:
            self.waiting.pop(one.view.pending_id)
            self.end(one.view, PendingStatus.EXPIRED, DEADLINE, now)
        return bool(late)
