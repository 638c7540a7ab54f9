"""What a person at this desk does about a no that is worded for programs.

Used wherever a refused order or quote is shown. Source: engine.errors, whose advice names calls and
fields that the console has keys for, or has not at all.
"""

from collections.abc import Mapping
from typing import Final

_RAILS: Final = "raise it on the settings screen (8), or wait for midnight UTC"
_TAKE_BACK: Final = "a halt (F9) takes back every open order"

ADVICE: Final[Mapping[str, str]] = {
    "NO_LIQUIDITY": "try again in a moment, when the book has other prices",
    "FOK_NOT_FILLED": "take a smaller amount, or try again in a moment",
    "PRICE_BEYOND_LIMIT": "the price has moved: look at the new quote, or take a smaller amount",
    "DAILY_TRADES": _RAILS,
    "DAILY_LIMIT": _RAILS,
    "SKILL_BUDGET": _RAILS,
    "TRADING_PAUSED": "resume it on the agents screen (7, then H); selling stays possible",
    "NOT_CLAIMED": "claim it on the agents screen (7, then C)",
    "REAL_TRADING_DISABLED": "press 5, W, then R: it allows this agent real trades",
    "WALLET_NOT_LINKED": "press 5, W, then l: it links the wallet",
    "ALLOWANCE_MISSING": "press 5, W, then A: it gives the approvals",
    "CREDENTIALS_MISSING": "press 5, W, then C: it makes the credentials",
    "SIGNATURE_REQUIRED": "press 5, W, then U, and unlock the key",
    "OWN_ORDER": _TAKE_BACK,
    "TOO_MANY_ORDERS": _TAKE_BACK,
    "REFUSED_BEFORE": "you refused it within the last hour: a buy of your own is not bound by that",
    "LEASH_OBSERVE": "give it a longer leash on the agents screen (7, then l)",
    "LEASH_BUDGET": "raise its budget on the agents screen (7, then l), or wait for midnight UTC",
}
"""By code. Nothing here names what the ticket cannot do."""


def advice_of(code: str | None, said: str) -> str:
    """What to do about a refusal: in this console's words where it has some, else as it was said.

    Args:
        code: the refusal's, for machines.
        said: what the service advises.

    Returns:
        One sentence; empty where neither knows.
    """
    return ADVICE.get(code or "", said)
