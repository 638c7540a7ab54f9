"""A skill's rounds: its ideas become buys within the day's budget; each round is reported."""

import itertools
import json
import math
import os
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from typing import Final

from service_tui.clock import Clock
from service_tui.sdk.client import ServiceClient
from service_tui.sdk.guards import CONFLICT, REBUY
from service_tui.sdk.opening import clock_of
from service_tui.sdk.result import TradeResult
from service_tui.skills.package import DAILY_BUDGET_USD, budget_variable
from service_tui.terms import TRADES_PAGE_MAX, Action, TradeStatus
from service_tui.units import Timestamp
from service_tui.wire.base import SignalValue, moment

DAY_S: Final = 86_400.0
"""Trades of one reading; the most that the service gives."""

TRADES: Final = 2
"""Buys of one round."""

REFUSALS: Final = 3
"""Ideas of one round that may be refused; what is held already is passed over and counts not."""

STANDING: Final = frozenset({
    "AGENT_BROKE",
    "AGENT_SUSPENDED",
    "DAILY_LIMIT",
    "DAILY_TRADES",
    "HALTED",
    "LEASH_BUDGET",
    "LEASH_OBSERVE",
    "NOT_CLAIMED",
    "REAL_MONEY",
    "REAL_TRADING_DISABLED",
    "SKILL_BUDGET",
    "TOO_MANY_HELD",
    "TRADING_HALTED",
    "TRADING_PAUSED",
    "VENUE_NOT_SERVED",
})
"""Refusals that the next idea would meet too: they end a round."""

REFUSED: Final = "REFUSED_BEFORE"
"""What the operator has refused a while ago: the round goes on behind it."""

USED_UP: Final = "daily budget used up"
WAITS: Final = "buys wait for approval or a fill"


def _nothing() -> None:
    """Ignore the report."""


@dataclass(frozen=True, slots=True)
class Idea:
    """A buy that a skill wants, and why.

    Attributes:
        market_id: which market.
        side: `yes` or `no`.
        amount: money.
        reasoning: why, in a sentence; others may read it.
        signal_source: what it was seen in.
        edge: how much better than its price the side is believed to be.
        confidence: how sure that is, 0 to 1.
        probability: of YES, as it is believed to be.
        more: further signal data, flat.
        price: bound, 0.001 to 0.999.
        allow_rebuy: buy although the market is held already.
        bought: called once the order was taken, though it may wait still.
    """

    market_id: str
    side: str
    amount: float
    reasoning: str
    signal_source: str
    edge: float
    confidence: float
    probability: float
    more: Mapping[str, SignalValue] = field(default_factory=dict[str, SignalValue])
    price: float | None = None
    allow_rebuy: bool = False
    bought: Callable[[], object] = _nothing


Ideas = Callable[[ServiceClient], Iterable[Idea]]
"""What a skill is: a look at the service, and what it would buy now, the best first."""


@dataclass(frozen=True, slots=True)
class RoundReport:
    """Report of one round. Source: wire reference, section 10.

    `reserved_usd` is money of buys that wait for the operator or rest on a book: no trades yet.
    """

    signals: int = 0
    trades_attempted: int = 0
    trades_executed: int = 0
    amount_usd: float = 0.0
    skip_reason: str | None = None
    reserved_usd: float = 0.0

    def as_line(self) -> str:
        """As the desk reads it."""
        fields = {name: value for name, value in asdict(self).items() if value is not None}
        del fields["reserved_usd"]
        return json.dumps({"automaton": fields})


def one_round(
    client: ServiceClient,
    slug: str,
    ideas: Ideas,
    *,
    left: float,
    trades: int = TRADES,
    reserved: float = 0.0,
) -> RoundReport:
    """Buy what a skill wants now, until enough was bought; what is above the budget is left out.

    It ends early where the service refuses too much, or says what it would say to every idea.

    Args:
        client: the way to the service.
        slug: the skill's.
        ideas: what it wants.
        left: money that may still be spent.
        trades: buys at most.
        reserved: money of earlier rounds that still waits: it is not left, and not spent either.

    Returns:
        What was seen, tried and bought, and why something was not.

    Raises:
        ServiceError: the service did not answer, or an answer may have been lost.
    """
    seen = tried = taken = done = refused = 0
    spent, waiting, why = 0.0, 0.0, None
    # Written so that what is no number leaves nothing to spend.
    if not left > 0:
        return RoundReport(skip_reason=WAITS if left + reserved > 0 else USED_UP)
    for idea in ideas(client):
        seen += 1
        if not round(spent + waiting + idea.amount, 2) <= left:
            # What waits is not spent: without it there may be room.
            fits = round(spent + idea.amount, 2) <= left + reserved
            why = WAITS if waiting + reserved and fits else USED_UP
            continue
        tried += 1
        result = client.trade(
            idea.market_id,
            idea.side,
            idea.amount,
            reasoning=idea.reasoning,
            source=f"sdk:{slug}",
            skill_slug=slug,
            signal_data={
                "edge": round(idea.edge, 4),
                "confidence": round(idea.confidence, 4),
                "probability": round(idea.probability, 4),
                "signal_source": idea.signal_source,
                **idea.more,
            },
            price=idea.price,
            allow_rebuy=idea.allow_rebuy,
        )
        if not result.success:
            why = result.skip_reason or result.error
            is_passed = result.skip_reason in {CONFLICT, REBUY} or result.error_code == REFUSED
            refused += not is_passed
            if refused >= REFUSALS or result.error_code in STANDING:
                break
            continue
        taken += 1
        if _waits(result):
            waiting, why = waiting + idea.amount, WAITS
        else:
            done, spent = done + 1, spent + idea.amount
        idea.bought()
        if taken >= trades:
            break
    return RoundReport(seen, tried, done, round(spent, 2), why, round(waiting, 2))


def _waits(result: TradeResult) -> bool:
    """True if an order was accepted and nothing of it has filled yet."""
    states = {result.status, result.fill_status}
    return TradeStatus.SUBMITTED in states and not result.shares_filled


class Rounds:
    """A skill's rounds. A script's `round = Rounds(SLUG, ideas)` is what a trial calls.

    It knows what the skill has spent today: at the first round of a day, and while buys wait, it
    asks the service for that.
    """

    def __init__(self, slug: str, ideas: Ideas, *, trades: int = TRADES) -> None:
        self._slug, self._ideas, self._trades = slug, ideas, trades
        self._day, self._spent, self._reserved = 0, 0.0, 0.0

    def __call__(self, client: ServiceClient, now: datetime) -> RoundReport:
        """Buy what the skill wants at a moment, within SERVICE_<SLUG>_DAILY_BUDGET_USD.

        Returns:
            What was seen, tried and bought.

        Raises:
            ServiceError: the service did not answer, or an answer may have been lost.
            ValueError: the budget in the environment is no amount of money.
        """
        budget = budget_of(self._slug)
        today = int(now.timestamp() // DAY_S)
        if today != self._day or self._reserved:
            # What waited may be bought by now, refused, or wait still.
            self._day, self._spent = today, spent_on(client, self._slug, today)
            self._reserved = reserved_on(client, self._slug)
        report = one_round(
            client,
            self._slug,
            self._ideas,
            left=budget - self._spent - self._reserved,
            trades=self._trades,
            reserved=self._reserved,
        )
        self._spent += report.amount_usd
        self._reserved += report.reserved_usd
        return report


def run_skill(
    slug: str,
    ideas: Ideas,
    *,
    pause_s: float,
    trades: int = TRADES,
    clock: Clock | None = None,
    words: Sequence[str] | None = None,
) -> None:
    """Run a skill: read, buy, report a line, wait, repeat; `--once` runs one round.

    Without `--live` it trades on paper. SERVICE_<SLUG>_DAILY_BUDGET_USD is what it may spend from
    midnight to midnight UTC: what it bought before it was started again counts, by the trades of
    the service; on paper nothing outlives the process.

    Args:
        slug: the skill's.
        ideas: what it wants.
        pause_s: seconds between two rounds.
        trades: buys of a round at most.
        clock: time; the machine's own by default.
        words: those of the command line by default.

    A ServiceError ends it: whoever runs it starts it again. What the environment sets wrongly, as
    the budget or the key, ends it with one sentence, by SystemExit.
    """
    words = sys.argv if words is None else words
    try:
        clock = clock or clock_of(os.environ)
        budget_of(slug)
        client = ServiceClient(live="--live" in words, clock=clock)
    except ValueError as error:
        raise SystemExit(f"{slug}: {error}") from error
    rounds = Rounds(slug, ideas, trades=trades)
    with client:
        while True:
            report = rounds(client, datetime.fromtimestamp(clock.now(), UTC))
            sys.stdout.write(f"{report.as_line()}\n")
            sys.stdout.flush()
            if "--once" in words:
                return
            client.pause(pause_s)


def spent_on(client: ServiceClient, slug: str, day: int) -> float:
    """Money of a skill's buys of one UTC day, by the trades that the service remembers.

    Args:
        client: the way to the service.
        slug: the skill's.
        day: days since 1970-01-01.

    Returns:
        The money, with fees.

    Raises:
        ServiceError: the service did not answer.
    """
    since, until = (moment(Timestamp(one * DAY_S)) for one in (day, day + 1))
    money: dict[str, float] = {}
    for offset in itertools.count(step=TRADES_PAGE_MAX):
        page = client.get_trades(
            limit=TRADES_PAGE_MAX, offset=offset, since=since, until=until
        ).trades
        # Pages overlap where something is traded meanwhile; one with nothing new is the last.
        is_new = any(row.id not in money for row in page)
        for row in page:
            is_own = slug == row.skill_slug or row.source == f"sdk:{slug}"
            counts = is_own and row.action == Action.BUY.value and since <= row.created_at < until
            money[row.id] = row.cost + row.fee if counts else 0.0
        if not is_new or len(page) < TRADES_PAGE_MAX or page[-1].created_at < since:
            break
    return round(sum(money.values()), 6)


def reserved_on(client: ServiceClient, slug: str) -> float:
    """Money of a skill's buys that wait for the operator, or rest on a book, now.

    Args:
        client: the way to the service.
        slug: the skill's.

    Returns:
        The money; 0 where the service lets no trade wait.

    Raises:
        ServiceError: the service did not answer.
    """
    waiting = client.waiting_buys()
    return round(sum(money for whose, money in waiting if whose in {slug, f"sdk:{slug}"}), 6)


def budget_of(slug: str) -> float:
    """Daily budget of a skill.

    Returns:
        Money, 0 or more.

    Raises:
        ValueError: the variable is no amount of money.
    """
    variable = budget_variable(slug)
    given = os.environ.get(variable, str(DAILY_BUDGET_USD))
    try:
        budget = float(given)
    except ValueError:
        budget = math.nan
    if not 0 <= budget < math.inf:
        raise ValueError(f"{variable} is {given!r}: give a number of money, such as 20")
    return budget
