"""Checks whether an agent can trade on a venue, before real money moves.

Source: wire reference, 4.1 step 3, and section 5.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

from service_tui.terms import Plan, Venue
from service_tui.wire.agents import AgentBody
from service_tui.wire.briefing import BriefingBody
from service_tui.wire.positions import PositionBody


@dataclass(frozen=True, slots=True)
class Spending:
    """A planned trade: money of a buy, or 0 for a sale, which no balance limits; units.

    `exposure_cap` is what may be held on the venue altogether; None is no cap.
    """

    venue: Venue
    amount: float
    exposure_cap: float | None


@dataclass(frozen=True, slots=True)
class Preflight:
    """The answer, and what it rests on. Money in units; None is not known.

    Attributes:
        ok: nothing known speaks against the trade.
        reasons: what does.
        balance: cash on the venue.
        exposure: value of what is held there.
        exposure_cap: from EXPOSURE_CAP_USD.
    """

    venue: Venue
    agent_id: str
    tier: Plan
    real_trading_enabled: bool
    balance: float | None
    exposure: float
    exposure_cap: float | None
    reasons: tuple[str, ...] = field(default=())

    @property
    def ok(self) -> bool:
        """True when the trade may be sent."""
        return not self.reasons


def preflight_of(
    planned: Spending,
    agent: AgentBody,
    briefing: BriefingBody,
    positions: Sequence[PositionBody],
) -> Preflight:
    """Weigh what three reads brought.

    Args:
        planned: where, how much, and the cap.
        agent: agent that would trade.
        briefing: cash by venue, and whether entries are paused.
        positions: what is held, everywhere.

    Returns:
        The result of the checks.
    """
    venue, amount, cap = planned.venue, planned.amount, planned.exposure_cap
    block = briefing.venues.get(venue.value)
    balance = None if block is None else block.balance
    if block is not None and block.cash_balance is not None:
        balance = block.cash_balance
    exposure = sum(row.current_value for row in positions if row.venue is venue)
    is_real = venue is not Venue.SIM
    against = (
        (is_real and not agent.claimed, "the agent is not claimed: open its claim link"),
        (is_real and not agent.real_trading_enabled, "real trading is not enabled"),
        (amount > 0 and bool(briefing.trading_paused), "trading is paused"),
        (
            balance is not None and not amount <= balance,
            f"insufficient balance on {venue.value}: {amount:.2f} planned",
        ),
        (
            cap is not None and amount > 0 and not exposure + amount <= cap,
            f"exposure {exposure:.2f} plus {amount:.2f} is above the cap",
        ),
    )
    return Preflight(
        venue=venue,
        agent_id=agent.agent_id,
        tier=agent.rate_limits.tier if agent.rate_limits is not None else Plan.FREE,
        real_trading_enabled=agent.real_trading_enabled,
        balance=balance,
        exposure=exposure,
        exposure_cap=cap,
        reasons=tuple(reason for speaks, reason in against if speaks),
    )
