"""Reasons and fixes as values, in plain English without keys. The console adds the keys.

The desk, its logs and the command line show them as they are: plain English without keys. The
console adds the keys as they are bound now.
"""

from enum import StrEnum
from typing import Final, NamedTuple

from service_tui.terms import ORDER_SHARES_MIN, PROSE_MAX


class Fix(StrEnum):
    """What the operator does about a reason. The value is its plain English.

    A fix that comes from the service is a plain text instead.
    """

    # -- limits
    RAISE_LIMIT = "wait for midnight UTC, or raise the limit in Settings"
    LOWER_OR_RAISE = "lower the amount, or raise the limit in Settings"
    LOWER_AMOUNT = "lower the amount"
    SELL_FEWER = "sell fewer shares"
    LOWER_OR_SELL = "lower the amount, or sell in this market first"
    RAISE_CAP = "wait for midnight UTC, or raise the reactor daily cap"
    SET_LIMIT_AGAIN = "set the limit again in Settings"

    # -- the halt, pauses and leashes
    END_HALT = "sales stay possible; end the halt to buy again"
    HALT_FIRST = "halt first: sell all needs blocked buys"
    SEE_HALT = "see Halt for the reason"
    HALT_TAKES_BACK = "a halt cancels open buys"
    RESUME_AGENT = "resume the agent in Agents; selling stays possible"
    RESUME_THERE = "resume in the service's settings"
    LENGTHEN_LEASH = "widen its leash in Agents"
    RAISE_BUDGET = "raise its budget in Agents, or wait for midnight UTC"
    BUY_YOURSELF = "refused by you within the last hour; your own buy is not blocked"

    # -- real money
    CLAIM = "claim the agent in Agents"
    SWITCH_ON_REAL_MONEY = "turn live trading on"
    CONFIRM_ON_TICKET = "place the order from its ticket"
    TYPE_LIMIT = "enter a limit price"
    TYPE_EXPIRY = "enter a later or an earlier expiry"
    ALLOW_REAL_TRADES = "allow real trades for this agent"
    LINK_WALLET = "add a key, then link its wallet"
    GIVE_APPROVALS = "give the approvals"
    MAKE_CREDENTIALS = "derive credentials (signs a message, moves no funds)"
    UNLOCK_KEY = "unlock the key"
    OPEN_OR_KEEP_KEY = "unlock the key, or add a key"
    LINK_ANOTHER_KEY = "add another key and link its wallet; agent, API key and history carry over"
    SEE_WALLET = "see the setup steps in the wallet panel"
    SWITCH_OFF_REAL_MONEY = "turn live trading off"
    PAY_OFFER = "pay the offer in the wallet panel"
    PLAY_MONEY_ONLY = "use sim"
    SWAP_USDC = "swap native USDC to USDC.e (bridged)"

    # -- orders
    OTHER_PRICES = "retry once the book has other prices"
    SMALLER_OR_LATER = "use a smaller amount, or retry in a moment"
    NEW_QUOTE = "review the new quote, or use a smaller amount"
    RAISE_WORST = "raise the price of not above, or leave it empty"
    NEW_PRICE = "review the new price and order again"
    WAIT_OR_ELSEWHERE = "wait, or trade another market"
    NEW_TICKET = "reopen the ticket: the tick has changed"
    LEAST_SHARES = f"order {ORDER_SHARES_MIN} shares or more; smaller positions await resolution"
    CONFIRM_SHOWN = "open the market and confirm on its ticket, or trade on the venue's own page"
    TRADE_ELSEWHERE = "the service names another token: trade on the venue's own page only"
    WAIT_FOR_BOOK = "retry when the book has orders"
    REAL_VENUE = "choose a real venue"
    OTHER_VENUE = "choose another venue"
    OTHER_SIDE = "choose the other side, or buy"
    CANCEL_FIRST = "cancel those orders first, or sell fewer"
    LIST_ORDERS = "see the open orders"
    ORDER_AGAIN = "nothing was placed; check the position and place a new order"
    GIVE_AMOUNT = f"enter an amount above 0 and a note of at most {PROSE_MAX:,} plain letters"
    WAIT_FOR_END = "wait for its result"
    CLEAR_UP_FIRST = "place no order here until this is clear; see Orders"
    SEND_AGAIN_YOURSELF = (
        "check the positions, place the order again if needed, then close this entry"
    )
    NEVER_MIRRORED_AGAIN = "signals are never mirrored twice; close this entry"
    CHECK_POSITIONS = "the order may have executed: check the positions, then close this entry"

    # -- mirrors and alerts
    WAIT_FOR_ANSWER = "wait for the answer"
    WAIT_FOR_NEXT = "wait for the next signal"
    SET_VENUE = "change the venue of the reactor"
    RESET_BREAKER = "reset the breaker, or wait for its hour to end"
    SEE_ALERTS = "see Monitors"
    REMOVE_ALERT = "remove a price alert in Monitors first"

    # -- redemption
    ABANDON = "abandon the redemption, then redeem again"
    REDEEM_AGAIN = "redeem again to retry the step"
    CHECK_HASH = "check the transaction hash; it is never signed again"

    # -- the service and this desk
    WAIT_FOR_SERVICE = "wait for the service's answer"
    READ_NOW = "refresh now"
    WHEN_SERVICE_ANSWERS = "retry when the service answers"
    WRITABLE_DESK = "start without --read-only"
    FREE_DISK = "free disk space"
    MEND_CONSOLE = "close that console and start it again, or restore its database"


class Reason(NamedTuple):
    """Why something is not possible, and the fix."""

    text: str
    fix: Fix | str = ""

    def plain(self) -> str:
        """Both in one line."""
        return f"{self.text} — {self.fix}" if self.fix else self.text


HALTED: Final = Reason("trading is halted, buys are blocked", Fix.END_HALT)
READ_ONLY: Final = "this desk is read-only: no changes"
