"""Reasons and fixes as text: with the keys as they are bound now, amounts masked."""

from collections.abc import Mapping
from typing import Final

from service_tui.console.formats import MASK
from service_tui.console.keys import cap
from service_tui.desk.reasons import Fix, Reason

_TIME_DIGITS: Final = 2
"""Units of hours, of minutes and of seconds."""

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
    """A sentence with every word that has a digit hidden if `masked`.

    A sentence comes as text from the service, from a skill or from the blotter on disk. Its amounts
    cannot be told from its other numbers, so none of them is shown.
    """
    if not masked:
        return sentence
    return "\n".join(
        " ".join(_masked(word) for word in line.split(" ")) for line in sentence.split("\n")
    )


def _masked(word: str) -> str:
    if not any(letter.isdigit() for letter in word) or _is_time(word.rstrip(".,;)")):
        return word
    end = word[-1] if word[-1] in ".,:;)" else ""
    return f"{MASK}{end}"


def _is_time(word: str) -> bool:
    """True if a word is a time of day, such as 14:03 or 14:03:20."""
    parts = word.split(":")
    return len(parts) > 1 and all(part.isdigit() and len(part) == _TIME_DIGITS for part in parts)
