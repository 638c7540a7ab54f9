"""The desk's own agent: cash, equity, P&L, trading limits."""

from dataclasses import dataclass, replace

from service_tui.desk.slices.positions import PositionView
from service_tui.terms import (
    AgentStatus,
    Plan,
)
from service_tui.units import Micros, Timestamp, sum_of


@dataclass(frozen=True, slots=True)
class AccountView:
    """The desk's own agent. Money in micros; `equity` is cash plus what selling all would bring.

    A service that does not say what selling brings has the mark value in its place
    (`is_at_mark`). `mark_equity` is cash plus mark value in any case. `start` is the equity
    without any P&L, `day_open` the equity at midnight UTC; the P&L of all time and of the day are
    the equity less these, realized and unrealized P&L add up to the mark equity less the start.
    What is made of the positions is None as long as they were never read. `wins` and `losses` count
    sales and payouts on sim that gained or lost.
    """

    agent_id: str
    name: str
    status: AgentStatus
    plan: Plan
    claimed: bool
    cash: Micros
    start: Micros
    day_open: Micros | None
    equity: Micros | None
    day_pnl: Micros | None
    total_pnl: Micros | None
    realized: Micros | None
    unrealized: Micros | None
    trades_count: int
    win_rate: float | None
    wins: int = 0
    losses: int = 0
    mark_equity: Micros | None = None
    is_at_mark: bool = False


@dataclass(frozen=True, slots=True)
class LimitsView:
    """Trading limits. `paused` is True unless the service reported false.

    The day's spend binds real venues, the day's trades (buys only) bind every venue: those that got
    shares, and `day_resting`, which rest without any.
    """

    paused: bool
    max_trade: Micros
    day_spend_max: Micros
    day_spent: Micros
    day_trades_max: int | None
    day_trades: int | None = None
    day_resting: int = 0


@dataclass(frozen=True, slots=True)
class EquityPoint:
    """Equity at a wall time."""

    at: Timestamp
    equity: Micros


def summed(
    account: AccountView, positions: tuple[PositionView, ...] | None, cash: Micros | None = None
) -> AccountView:
    """The account with its sums recomputed from cash and positions.

    None where those are unknown, or no price of one of them.
    """
    own = account.cash if cash is None else cash
    values = [held.mark_value for held in positions or () if held.mark_value is not None]
    gains = [held.unrealized for held in positions or () if held.unrealized is not None]
    if positions is None or len(values) != len(positions) or len(gains) != len(positions):
        return replace(
            account,
            cash=own,
            equity=None,
            day_pnl=None,
            total_pnl=None,
            unrealized=None,
            realized=None,
            mark_equity=None,
        )
    marked = Micros(own + sum_of(values))
    parts = [
        held.exit_value if held.exit_together is None else held.exit_together for held in positions
    ]
    exits = [part for part in parts if part is not None]
    is_at_mark = len(exits) != len(positions)
    equity = marked if is_at_mark else Micros(own + sum_of(exits))
    unrealized = sum_of(gains)
    return replace(
        account,
        cash=own,
        equity=equity,
        day_pnl=None if account.day_open is None else Micros(equity - account.day_open),
        total_pnl=Micros(equity - account.start),
        unrealized=unrealized,
        realized=Micros(marked - account.start - unrealized),
        mark_equity=marked,
        is_at_mark=is_at_mark,
    )
