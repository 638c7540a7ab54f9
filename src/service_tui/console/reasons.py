"""Reasons and fixes as text: with the keys as they are bound now, amounts masked."""

import re
from collections.abc import Mapping
from typing import Final

from service_tui.console.formats import MASK
from service_tui.console.keys import cap
from service_tui.desk.reasons import Fix, Reason

_WORD: Final = re.compile(r"(?<!\S)([(\[]*)(\S*?\d\S*?)([.,:;)!?\]]*)(?!\S)")
"""A word with a digit: what opens it, itself, and the punctuation behind it."""

_NO_AMOUNT: Final = re.compile(
    r"(?<!\S)[(\[]?(?:"
    r"\d\d:\d\d(?::\d\d)?"
    r"|\d{1,2} (?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]*(?: \d{4})?"
    r"|(?:at|now|average|price) 0\.\d{2,4}"
    r"|\d{1,4} (?:agent|alert|approval|hour|market|minute|order|point|position|second|signal|skill"
    r"|source|time|trade)s?"
    r")(?=[\s.,:;)!?\]]|$)"
)
"""Numbers that are no amounts: a time of day, a date, a price, a count of things."""

_WALLET: Final = ("app.redemption", "app.wallet")
_AGENTS: Final = ("app.agents",)

KEYS_OF: Final[Mapping[Fix, tuple[str, ...]]] = {
    Fix.RAISE_LIMIT: ("app.settings",),
    Fix.LOWER_OR_RAISE: ("app.settings",),
    Fix.SET_LIMIT_AGAIN: ("app.settings",),
    Fix.END_HALT: ("app.halt",),
    Fix.HALT_FIRST: ("app.halt",),
    Fix.SEE_HALT: ("app.halt",),
    Fix.HALT_TAKES_BACK: ("app.halt",),
    Fix.RESUME_AGENT: (*_AGENTS, "agents.pause"),
    Fix.LENGTHEN_LEASH: (*_AGENTS, "agents.leash"),
    Fix.RAISE_BUDGET: (*_AGENTS, "agents.leash"),
    Fix.CLAIM: (*_AGENTS, "agents.claim"),
    Fix.SWITCH_ON_REAL_MONEY: (*_WALLET, "wallet.live"),
    Fix.SWITCH_OFF_REAL_MONEY: (*_WALLET, "wallet.live"),
    Fix.ALLOW_REAL_TRADES: (*_WALLET, "wallet.allow"),
    Fix.LINK_WALLET: (*_WALLET, "wallet.keep", "wallet.link"),
    Fix.GIVE_APPROVALS: (*_WALLET, "wallet.approve"),
    Fix.MAKE_CREDENTIALS: (*_WALLET, "wallet.credentials"),
    Fix.UNLOCK_KEY: (*_WALLET, "wallet.unlock"),
    Fix.OPEN_OR_KEEP_KEY: (*_WALLET, "wallet.unlock", "wallet.keep"),
    Fix.LINK_ANOTHER_KEY: (*_WALLET, "wallet.keep", "wallet.link"),
    Fix.SEE_WALLET: _WALLET,
    Fix.PAY_OFFER: (*_WALLET, "wallet.pay"),
    Fix.REAL_VENUE: ("ticket.venue",),
    Fix.OTHER_VENUE: ("ticket.venue",),
    Fix.CANCEL_FIRST: ("app.portfolio", "portfolio.orders"),
    Fix.LIST_ORDERS: ("app.portfolio", "portfolio.orders"),
    Fix.CLEAR_UP_FIRST: ("app.blotter",),
    Fix.SEND_AGAIN_YOURSELF: ("app.attention", "attention.dismiss"),
    Fix.NEVER_MIRRORED_AGAIN: ("app.attention", "attention.dismiss"),
    Fix.CHECK_POSITIONS: ("app.attention", "attention.dismiss"),
    Fix.ABANDON: ("app.redemption", "redemption.abandon"),
    Fix.SEE_ALERTS: ("app.monitors",),
    Fix.REMOVE_ALERT: ("app.monitors",),
    Fix.READ_NOW: ("app.refresh",),
}
"""The actions of `keys` that carry a fix out, to be pressed one after another."""


def fix_text(fix: Fix | str, *, masked: bool = False, within: str = "") -> str:
    """A fix, with the keys that do it: `claim it on the agents screen (7, C)`.

    Args:
        fix: one of ours, or the plain text of a service or of an earlier version.
        masked: whether amounts are hidden. Only a text that is not ours can hold any.
        within: the place already in front, `wallet`: the keys that lead there are left out.
    """
    try:
        ours = Fix(fix)
    except ValueError:
        return without_amounts(fix, masked=masked)
    keys = KEYS_OF.get(ours, ())
    if within and any(key.startswith(f"{within}.") for key in keys):
        keys = tuple(key for key in keys if key.startswith(f"{within}."))
    return f"{ours} ({', '.join(map(cap, keys))})" if keys else ours.value


def reason_text(reason: Reason, *, masked: bool = False) -> str:
    """A reason and its fix, as two sentences in one line."""
    text = without_amounts(reason.text, masked=masked)
    return f"{text}. {sentence(fix_text(reason.fix, masked=masked))}" if reason.fix else text


def sentence(text: str) -> str:
    """A text with its first letter as a capital."""
    return f"{text[:1].upper()}{text[1:]}"


def without_amounts(sentence: str, *, masked: bool) -> str:
    """A sentence without its amounts if `masked`: every number that may be one is hidden.

    A sentence comes as text from the service, from a skill or from the blotter on disk. Its amounts
    cannot be distinguished from most other numbers. Times, dates, prices and plain counts can, and
    stay.
    """
    if not masked:
        return sentence
    parts: list[str] = []
    end = 0
    for kept in _NO_AMOUNT.finditer(sentence):
        parts += (_hidden(sentence[end : kept.start()]), kept[0])
        end = kept.end()
    return "".join((*parts, _hidden(sentence[end:])))


def _hidden(text: str) -> str:
    """A text with every word that has a digit hidden; brackets and punctuation stay."""
    return _WORD.sub(lambda word: f"{word[1]}{MASK}{word[3]}", text)
