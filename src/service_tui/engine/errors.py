"""What the venue says no to, and what to do about it.

    Refusal
    ├── NotFound       MarketNotFound
    ├── NotAllowed     NotClaimed, TradingPaused, AgentBroke, AgentSuspended, VenueNotServed
    ├── LimitReached   DayTrades, DayImports, TradeTooLarge, MarketTooLarge
    └── BadOrder       BelowMinimum, InsufficientBalance, InsufficientShares, MarketNotOpen,
                       PriceOutOfRange, PriceBeyondLimit

Knows nothing. Raised by the engine before anything changed; made into an answer by
server.refusals only.
"""

from typing import ClassVar


class Refusal(Exception):
    """An orderly no: `error` says what, `fix` what to do, `code` is for machines.

    `retryable` is True where the same order may pass later without a change.
    """

    code: ClassVar[str] = "REFUSED"
    fix: str = "see the error"
    retryable: ClassVar[bool] = False

    def __init__(self, error: str, fix: str | None = None) -> None:
        super().__init__(error)
        self.error = error
        if fix is not None:
            self.fix = fix


class NotFound(Refusal):
    """The thing named is not here."""

    code = "NOT_FOUND"


class MarketNotFound(NotFound):
    """No market has this id."""

    code = "MARKET_NOT_FOUND"
    fix = "list the markets again and take an id from there"


class NotAllowed(Refusal):
    """The agent may not do this now."""

    code = "NOT_ALLOWED"


class NotClaimed(NotAllowed):
    """A real venue wants a claimed agent."""

    code = "NOT_CLAIMED"
    fix = "open the claim link and claim the agent; until then it trades on sim only"


class TradingPaused(NotAllowed):
    """Entries are blocked; sales pass."""

    code = "TRADING_PAUSED"
    fix = "send trading_paused false to PATCH /api/sdk/user/settings; selling stays possible"


class AgentBroke(NotAllowed):
    """Nothing is left to trade with."""

    code = "AGENT_BROKE"
    fix = "register a new agent"


class AgentSuspended(NotAllowed):
    """The operator suspended this agent."""

    code = "AGENT_SUSPENDED"
    fix = "ask the operator"


class VenueNotServed(NotAllowed):
    """This service does not trade on that venue."""

    code = "VENUE_NOT_SERVED"
    fix = "trade on sim"


class LimitReached(Refusal):
    """A safety rail."""

    code = "LIMIT_REACHED"


class DayTrades(LimitReached):
    """The day's buys are used up."""

    code = "DAILY_TRADES"
    fix = "raise max_trades_per_day with PATCH /api/sdk/user/settings, or wait for midnight UTC"


class DayImports(LimitReached):
    """The day's imports are used up."""

    code = "DAILY_IMPORTS"
    fix = "wait for midnight UTC, or choose a larger plan"


class TradeTooLarge(LimitReached):
    """One order above the limit of the venue."""

    code = "TRADE_TOO_LARGE"
    fix = "lower the amount or split the order"


class MarketTooLarge(LimitReached):
    """Too much money in one market."""

    code = "MARKET_LIMIT"
    fix = "lower the amount, or sell in this market first"


class BadOrder(Refusal):
    """The order cannot be carried out as it stands."""

    code = "BAD_ORDER"


class BelowMinimum(BadOrder):
    """Too small to buy or bring anything."""

    code = "BELOW_MINIMUM"
    fix = "raise the amount"


class InsufficientBalance(BadOrder):
    """Not enough cash."""

    code = "INSUFFICIENT_BALANCE"
    fix = "lower the amount or sell something first"


class InsufficientShares(BadOrder):
    """More to sell than held."""

    code = "INSUFFICIENT_SHARES"
    fix = "sell at most what is held"


class MarketNotOpen(BadOrder):
    """The market takes no orders any more."""

    code = "MARKET_NOT_OPEN"
    fix = "choose an open market; a position here is paid out when the outcome is confirmed"


class PriceOutOfRange(BadOrder):
    """The order would push the price outside [0.0001, 0.9999]."""

    code = "PRICE_OUT_OF_RANGE"
    fix = "lower the amount"


class PriceBeyondLimit(BadOrder):
    """The order would fill beyond the price that it names."""

    code = "PRICE_BEYOND_LIMIT"
    fix = "raise the price limit or lower the amount"
    retryable = True


class MakerBoundError(AssertionError):
    """The market maker lost more than it can: a fault of ours, not a refusal."""
