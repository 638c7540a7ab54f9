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
    RAISE_LIMIT = "wait for midnight UTC, or raise the limit in the settings"
    LOWER_OR_RAISE = "lower the amount, or raise the limit in the settings"
    LOWER_OR_SELL = "lower the amount, or sell in this market first"
    RAISE_CAP = "wait for midnight UTC, or raise the cap of the reactor"
    SET_LIMIT_AGAIN = "set it again in the settings"

    # -- the halt, pauses and leashes
    END_HALT = "sales pass; the word RESUME in the halt ends it"
    HALT_FIRST = "halt first: entries stay blocked while everything is sold"
    SEE_HALT = "the halt shows why"
    HALT_TAKES_BACK = "a halt takes back every open order"
    RESUME_AGENT = "resume it on the agents screen; selling stays possible"
    RESUME_THERE = "it was paused through the service's settings; resume it there"
    LENGTHEN_LEASH = "give it a longer leash on the agents screen"
    RAISE_BUDGET = "raise its budget on the agents screen, or wait for midnight UTC"
    BUY_YOURSELF = "you refused it within the last hour: a buy of your own is not bound by that"

    # -- real money
    CLAIM = "claim it on the agents screen"
    SWITCH_ON_REAL_MONEY = "switch real money on and type LIVE"
    CONFIRM_ON_TICKET = "place it from its ticket"
    TYPE_LIMIT = "type its limit price"
    ALLOW_REAL_TRADES = "allow this agent real trades"
    LINK_WALLET = "keep a key here, then link its wallet"
    GIVE_APPROVALS = "see and give the approvals"
    MAKE_CREDENTIALS = "make the credentials: a proof is signed that moves nothing"
    UNLOCK_KEY = "unlock the key"
    OPEN_OR_KEEP_KEY = "unlock the key with its passphrase, or keep a key here"
    LINK_ANOTHER_KEY = "keep another key and link it; agent, key and history carry over"
    SEE_WALLET = "look in the wallet panel: it says what is missing"
    SWITCH_OFF_REAL_MONEY = "switch it off"
    PAY_OFFER = "see the offer and pay it in the wallet panel"
    PLAY_MONEY_ONLY = "use the venue sim"
    SWAP_USDC = "swap it to USDC.e (bridged)"

    # -- orders
    OTHER_PRICES = "try again in a moment, when the book has other prices"
    SMALLER_OR_LATER = "take a smaller amount, or try again in a moment"
    NEW_QUOTE = "the price has moved: look at the new quote, or take a smaller amount"
    NEW_PRICE = "look at the new price, and order again"
    NEW_TICKET = "open the ticket again: it takes a price on a tick of now"
    LEAST_SHARES = (
        f"order {ORDER_SHARES_MIN} shares or more; "
        "fewer that are held wait for the market's outcome"
    )
    WAIT_FOR_BOOK = "try again when the book has orders"
    REAL_VENUE = "take a real venue"
    OTHER_VENUE = "take another venue"
    OTHER_SIDE = "take the other side, or buy"
    CANCEL_FIRST = "cancel them first, or sell fewer"
    LIST_ORDERS = "the list of open orders shows it"
    ORDER_AGAIN = "nothing was placed; check the position and place a new order"
    GIVE_AMOUNT = f"give an amount above 0, and at most {PROSE_MAX:,} plain letters of reasoning"
    WAIT_FOR_END = "wait until it has its end"
    CLEAR_UP_FIRST = "order nothing here before this is cleared up; the blotter shows the trades"
    SEND_AGAIN_YOURSELF = (
        "check the positions, send it again yourself if you want it, then close this one"
    )
    NEVER_MIRRORED_AGAIN = "a signal is never mirrored a second time; close this one"
    CHECK_POSITIONS = (
        "it may have happened all the same: check the positions first, then close this one"
    )

    # -- mirrors and alerts
    WAIT_FOR_ANSWER = "wait for an answer"
    WAIT_FOR_NEXT = "wait for the next one"
    SET_VENUE = "set the venue"
    RESET_BREAKER = "reset the breaker, or wait until its hour is over"
    SEE_ALERTS = "the monitors screen shows them"

    # -- redemption
    ABANDON = "abandon it; then it can be redeemed anew"
    REDEEM_AGAIN = "redeem it again to have the step taken once more"
    CHECK_HASH = "check the hash; it is never signed again"

    # -- the service and this desk
    WAIT_FOR_SERVICE = "wait for the service's answer"
    READ_NOW = "ask the service now"
    WHEN_SERVICE_ANSWERS = "try again when the service answers"
    WRITABLE_DESK = "start it without --read-only"
    FREE_DISK = "free disk space"


class Reason(NamedTuple):
    """Why something is not possible, and the fix."""

    text: str
    fix: Fix | str = ""

    def plain(self) -> str:
        """Both in one line."""
        return f"{self.text} — {self.fix}" if self.fix else self.text


HALTED: Final = Reason("trading is halted: entries are blocked", Fix.END_HALT)
READ_ONLY: Final = "this desk is read-only: it changes nothing"
