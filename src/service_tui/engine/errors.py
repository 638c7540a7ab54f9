"""Refusals of the venue, each with its fix.

    Refusal
    ├── NotFound       MarketNotFound, AgentNotFound, OrderNotFound, PositionNotFound,
    │                  MonitorNotFound, AlertNotFound, SignalNotFound, PendingTradeNotFound,
    │                  PriceAlertNotFound, AgentAlertNotFound, WebhookNotFound
    ├── NotAllowed     NotClaimed, TradingPaused, TradingHalted, AgentBroke, AgentSuspended,
    │                  VenueNotServed, RealTradingOff, LeashObserves, NeedsApproval,
    │                  CannotWait
    ├── LimitReached   DayTrades, DaySpend, DayImports, Cooldown, TradeTooLarge, MarketTooLarge,
    │                  TooManyOrders, LeashBudget, TooManyPending, TooManyPriceAlerts,
    │                  TooManyAgentAlerts, TooManyWebhooks
    ├── BadOrder       BelowMinimum (OrderTooSmall), InsufficientBalance, InsufficientShares,
    │                  MarketNotOpen, PriceOutOfRange, PriceBeyondLimit,
    │                  PriceBeyondApproval, SlippageBeyond, InvalidTick, NoLiquidity,
    │                  NotFilledWhole, OwnOrderInTheWay, InvalidExpiration, NothingWatched,
    │                  TimeStopPast
    ├── NotRedeemable  AlreadyRedeemed, NotFinalized, PositionLost, ManualOnly
    └── WalletProblem  NotLinked, WalletRefused, InsufficientGas, ApprovalMissing,
                       CredentialsMissing, WalletRestricted, SignatureMissing, OrderNotAsSigned,
                       OrderReplayed, TransactionRefused

Raised by the engine before anything changed; made into an answer by server.refusals only.
"""

from typing import ClassVar

from service_tui.terms import ORDER_SHARES_MIN


class Refusal(Exception):
    """A refusal: `error` is the reason, `fix` what to do, `code` is for machines.

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


class AgentNotFound(NotFound):
    """No agent has this id, or this claim code."""

    code = "AGENT_NOT_FOUND"
    fix = "take the id from the list of agents, or the claim link from GET /api/sdk/context"


class PriceAlertNotFound(NotFound):
    """No price alert of this agent that waits has this id."""

    code = "PRICE_ALERT_NOT_FOUND"
    fix = "take the id from GET /api/sdk/alerts"


class AgentAlertNotFound(NotFound):
    """No alert on this agent has this id."""

    code = "AGENT_ALERT_NOT_FOUND"
    fix = "take the id from GET /api/desk/alerts"


class WebhookNotFound(NotFound):
    """No webhook of this agent has this id."""

    code = "WEBHOOK_NOT_FOUND"
    fix = "take the id from GET /api/sdk/webhooks"


class NotAllowed(Refusal):
    """The agent may not do this now."""

    code = "NOT_ALLOWED"


class NotClaimed(NotAllowed):
    """A real venue wants a claimed agent."""

    code = "NOT_CLAIMED"
    fix = "open the claim link and claim the agent; until then it trades on sim only"


class TradingPaused(NotAllowed):
    """Buys are paused; selling stays possible."""

    code = "TRADING_PAUSED"
    fix = "send trading_paused false to PATCH /api/sdk/user/settings; selling stays possible"


class TradingHalted(NotAllowed):
    """The operator halted buys of every agent; selling stays possible."""

    code = "TRADING_HALTED"
    fix = "wait until the operator resumes trading; selling stays possible"


class ExposureLimitReached(NotAllowed):
    """The operator limits what all agents hold of a category or an event, or one agent in all."""

    code = "EXPOSURE_LIMIT"
    fix = "buy for less, sell what is held there, or wait until the operator raises the limit"


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
    """A limit on buys is reached."""

    code = "LIMIT_REACHED"


class TooManyPriceAlerts(LimitReached):
    """The agent has as many price alerts as it may."""

    code = "TOO_MANY_PRICE_ALERTS"
    fix = "delete one first: DELETE /api/sdk/alerts/{id}"


class TooManyAgentAlerts(LimitReached):
    """The agent has as many alerts on it as it may."""

    code = "TOO_MANY_AGENT_ALERTS"
    fix = "remove one first: DELETE /api/desk/agents/{id}/alerts/{alert_id}"


class TooManyWebhooks(LimitReached):
    """The agent has as many webhooks as it may."""

    code = "TOO_MANY_WEBHOOKS"
    fix = "delete one first: DELETE /api/sdk/webhooks/{id}"


class DayTrades(LimitReached):
    """The day's buys are used up."""

    code = "DAILY_TRADES"
    fix = "raise max_trades_per_day with PATCH /api/sdk/user/settings, or wait for midnight UTC"


class DaySpend(LimitReached):
    """The day's money for real venues is used up."""

    code = "DAILY_LIMIT"
    fix = "raise sdk_daily_limit with POST /api/sdk/settings, or wait for midnight UTC"


class SkillSpend(LimitReached):
    """The day's money of one skill is used up."""

    code = "SKILL_BUDGET"
    fix = "raise skill_daily_budget with PATCH /api/sdk/user/settings, or wait for midnight UTC"


class DayImports(LimitReached):
    """The day's imports are used up."""

    code = "DAILY_IMPORTS"
    fix = "wait for midnight UTC; a market that was imported before costs nothing"


class Cooldown(LimitReached):
    """Too soon after the last order for the same side of the same market."""

    code = "COOLDOWN"
    fix = "wait, or trade another market"
    retryable = True


class TradeTooLarge(LimitReached):
    """One order above the limit of the venue."""

    code = "TRADE_TOO_LARGE"
    fix = "lower the amount or split the order"


class MarketTooLarge(LimitReached):
    """Too much money in one market."""

    code = "MARKET_LIMIT"
    fix = "lower the amount, or sell in this market first"


class LeashObserves(NotAllowed):
    """The operator lets this agent, or this skill, only look."""

    code = "LEASH_OBSERVE"
    fix = "send dry_run true for a quote; the operator sets the leash"


class NeedsApproval(NotAllowed):
    """The operator has to decide; a single order waits for that by itself."""

    code = "NEEDS_APPROVAL"
    fix = "send it alone to POST /api/sdk/trade: the operator can approve it there"


class RefusedBefore(NotAllowed):
    """The operator has refused this trade a while ago."""

    code = "REFUSED_BEFORE"
    fix = "trade another market, or wait an hour"


class CannotWait(NotAllowed):
    """The operator would have to decide on an order that lapses meanwhile."""

    code = "CANNOT_WAIT"
    fix = "request a wider leash from the operator: a signed order cannot wait for approval"


class NobodyAsked(NotAllowed):
    """No person would be asked about a buy that is only proposed."""

    code = "NOBODY_ASKED"
    fix = "the operator sets this agent's permissions to ask, above a smaller amount than this"


class LeashBudget(LimitReached):
    """The day's money of an agent or skill on a leash is used up."""

    code = "LEASH_BUDGET"
    fix = "wait for midnight UTC, or request a larger budget; selling stays possible"


class TooManyPending(LimitReached):
    """More trades of one agent wait for the operator than he can decide."""

    code = "TOO_MANY_HELD"
    fix = "wait until some are decided: GET /api/sdk/trades/held"
    retryable = True


class PendingTradeNotFound(NotFound):
    """No trade waits under this id."""

    code = "HELD_NOT_FOUND"
    fix = "reload the pending trades: GET /api/desk/held"


class BadOrder(Refusal):
    """The order cannot be carried out as it is."""

    code = "BAD_ORDER"


class BelowMinimum(BadOrder):
    """Too small to buy or bring anything."""

    code = "BELOW_MINIMUM"
    fix = "raise the amount"


class NothingWatched(BadOrder):
    """A change would leave a monitor without a threshold."""

    code = "NOTHING_WATCHED"
    fix = "keep one threshold, or remove the monitor"


class TimeStopPast(BadOrder):
    """A time stop is not in the future."""

    code = "TIME_STOP_PAST"
    fix = "give exit_at in Unix seconds, in the future"


class TrailingStopTooWide(BadOrder):
    """A trailing stop in points reaches 0 or below, where no mark comes."""

    code = "TRAILING_STOP_TOO_WIDE"
    fix = "give trailing_stop_points below the price now, or trailing_stop_pct"


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


class PriceBeyondApproval(BadOrder):
    """The order would fill at an average beyond the price at which the operator let it pass."""

    code = "PRICE_BEYOND_APPROVAL"
    fix = "ask again: the operator sees the price of now"
    retryable = True


class SlippageBeyond(BadOrder):
    """A fill of a batch would lie further from the first price than was allowed."""

    code = "SLIPPAGE_LIMIT"
    fix = "raise max_slippage or lower the amounts"
    retryable = True


class OrderNotFound(NotFound):
    """No open order of this agent has this id."""

    code = "ORDER_NOT_FOUND"
    fix = "it may have filled or ended: look at /api/sdk/orders/open and /api/sdk/trades"


class PositionNotFound(NotFound):
    """The agent holds nothing there."""

    code = "POSITION_NOT_FOUND"
    fix = "list the positions again"


class MonitorNotFound(NotFound):
    """Nothing watches this side of a market for the agent."""

    code = "MONITOR_NOT_FOUND"
    fix = "it may have been breached or its position sold: look at GET /api/sdk/positions/monitors"


class AlertNotFound(NotFound):
    """No alert of the agent waits there."""

    code = "ALERT_NOT_FOUND"
    fix = "it may have been executed or expired: GET /api/sdk/risk-alerts?include_history=true"


class SignalNotFound(NotFound):
    """No signal of the last minutes has this id or hash."""

    code = "SIGNAL_NOT_FOUND"
    fix = "it may have expired long ago: list the pending signals again and take an id from there"


class RealTradingOff(NotAllowed):
    """The agent's switch for the real venues is off."""

    code = "REAL_TRADING_DISABLED"
    fix = "send sdk_real_trading_enabled true to POST /api/sdk/settings; sim needs no switch"


class TooManyOrders(LimitReached):
    """More orders rest than one agent may have."""

    code = "TOO_MANY_ORDERS"
    fix = "cancel an open order first"


class OrderTooSmall(BelowMinimum):
    """Fewer shares than the venue takes in one order."""

    code = "ORDER_TOO_SMALL"
    fix = f"raise the amount to at least {ORDER_SHARES_MIN} shares"


class InvalidTick(BadOrder):
    """A resting price must lie on the market's ticks."""

    code = "INVALID_TICK_SIZE"
    fix = "round the price to the market's tick_size"


class NoLiquidity(BadOrder):
    """Nothing stands on the other side of the book at this price."""

    code = "NO_LIQUIDITY"
    fix = "move the price, or let the order rest with order_type GTC"
    retryable = True


class NotFilledWhole(BadOrder):
    """A fill-or-kill order could be filled in part only, so nothing was traded."""

    code = "FOK_NOT_FILLED"
    fix = "lower the size, move the price, or take what there is with order_type FAK"
    retryable = True


class OwnOrderInTheWay(BadOrder):
    """The order would trade with one of the agent's own."""

    code = "OWN_ORDER"
    fix = "cancel the open order first"


class InvalidExpiration(BadOrder):
    """The time at which an order shall die is missing its sense."""

    code = "INVALID_EXPIRATION"
    fix = "give expiration in Unix seconds, three minutes ahead or more, with order_type GTD only"


class NotRedeemable(Refusal):
    """There is no payout to take now."""

    code = "NOT_REDEEMABLE"


class AlreadyRedeemed(NotRedeemable):
    """The payout was taken already."""

    code = "ALREADY_REDEEMED"
    fix = "nothing to do: the on-chain token balance is 0"


class NotFinalized(NotRedeemable):
    """The outcome is not final yet."""

    code = "NOT_FINALIZED"
    fix = "retry in 10 to 30 minutes"
    retryable = True


class PositionLost(NotRedeemable):
    """The other side won."""

    code = "POSITION_LOST"
    fix = "nothing to do: a losing share pays 0"


class ManualOnly(NotRedeemable):
    """The venue redeems on its own page only. Source: spec, "Redemption flow"."""

    code = "MANUAL_ONLY"
    fix = "redeem it on the venue's dashboard"


class WalletProblem(Refusal):
    """Something about the external wallet is not as it must be."""

    code = "WALLET"


class NotLinked(WalletProblem):
    """The wallet is external, and none is linked."""

    code = "WALLET_NOT_LINKED"
    fix = "link a wallet: GET /api/sdk/wallet/link/challenge, sign its message, then POST the link"


class WalletRefused(WalletProblem):
    """The wallet cannot be linked, or not now."""

    code = "LINK_REFUSED"


class InsufficientGas(WalletProblem):
    """The wallet cannot pay for a transaction."""

    code = "INSUFFICIENT_GAS"
    fix = "send some POL to the wallet; auto-redeem continues then"
    retryable = True


class ApprovalMissing(WalletProblem):
    """The wallet has not let the venue move its tokens."""

    code = "ALLOWANCE_MISSING"
    fix = "activate trading: send the missing approvals from the wallet"


class CredentialsMissing(WalletProblem):
    """The service cannot place orders at the venue for this wallet."""

    code = "CREDENTIALS_MISSING"
    fix = "sign the venue's headers and POST /api/sdk/wallet/credentials/derive-via-proxy"


class WalletRestricted(WalletProblem):
    """The venue takes no orders from this wallet."""

    code = "WALLET_RESTRICTED"
    fix = "link a new wallet: agent, key and history carry over"


class SignatureMissing(WalletProblem):
    """An external wallet trades by its own signature only."""

    code = "SIGNATURE_REQUIRED"
    fix = "sign the order with the wallet's key and send it as signed_order"


class OrderNotAsSigned(WalletProblem):
    """The signed order differs from the request, or another account signed it."""

    code = "SIGNED_ORDER_INVALID"
    fix = "sign the order again with the figures of the request"


class OrderReplayed(WalletProblem):
    """The signed order was taken before."""

    code = "SIGNED_ORDER_REPLAYED"
    fix = "sign a new order with a new salt"


class TransactionRefused(WalletProblem):
    """The relay does not pass this transaction on."""

    code = "TRANSACTION_REFUSED"
    fix = "sign the transaction that the service gave, for chain 137, as type 2 with value 0"


class MakerBoundError(AssertionError):
    """The market maker lost more than it can: a fault of ours, not a refusal."""
