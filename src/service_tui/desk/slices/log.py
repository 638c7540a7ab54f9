"""The action log as shown to the operator: its entries, and whether its hashes are verified."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from service_tui.terms import counted
from service_tui.units import Timestamp


class LogEvent(StrEnum):
    """Type of a log entry. `asks`: an agent needs approval; `decision`: the answer.

    `intent`: a command was submitted. `confirmed`: a dialog was confirmed. `result`, `refusal`,
    `unknown`: the outcome of an order. `trade`: an agent traded. `run`: a skill began, ended or
    crashed. `lost`: entries could not be written.
    """

    INTENT = "intent"
    CONFIRMED = "confirmed"
    RESULT = "result"
    REFUSAL = "refusal"
    UNKNOWN = "unknown"
    TRADE = "trade"
    ORDER = "order"
    APPROVAL = "asks"
    DECISION = "decision"
    RUN = "run"
    RISK = "risk"
    AGENT = "agent"
    LOST = "lost"


_ENDS: Final = frozenset({LogEvent.RESULT.value, LogEvent.REFUSAL.value, LogEvent.UNKNOWN.value})
"""Types of the entries with an order's outcome."""


@dataclass(frozen=True, slots=True)
class ActionView:
    """One entry. `number` counts from 1; `hash` is computed with the hash of the entry before.

    `who` is the actor: a person, an agent or this desk. `what` is the type: a value of `LogEvent`,
    or one of an older program. `kind` is the kind of command or thing that it is about, such as
    "trade". `words` is the text, which names a market by its id; `market` is that id and `question`
    the market's question, empty if unknown. Records store these names: they do not change.
    """

    number: int
    hash: str
    at: Timestamp
    who: str
    what: str
    kind: str
    words: str
    market: str = ""
    question: str = ""

    @property
    def key(self) -> str:
        """Identity of the row."""
        return str(self.number)


def without_reported_orders(entries: Sequence[ActionView]) -> tuple[ActionView, ...]:
    """The entries without the orders whose listed result repeats the order.

    Args:
        entries: newest first.

    Returns:
        The other entries, in the same order; the log itself keeps every line.
    """
    ends: dict[tuple[str, str], list[str]] = {}
    kept: list[ActionView] = []
    for entry in entries:
        key = (entry.who, entry.kind)
        if entry.what in _ENDS:
            ends.setdefault(key, []).append(entry.words)
        elif entry.what == LogEvent.INTENT.value:
            reported_end = next(
                (w for w in ends.get(key, ()) if w.startswith(f"{entry.words}: ")), None
            )
            if reported_end is not None:
                ends[key].remove(reported_end)
                continue
        kept.append(entry)
    return tuple(kept)


@dataclass(frozen=True, slots=True)
class LogView:
    """The newest entries, newest first, and the result of the check of their hashes.

    `count` is the number of lines in the file, `verified` the number of lines whose hashes were
    correct at `checked_at`, None before the first check. `problem` describes the first wrong line.
    """

    entries: tuple[ActionView, ...] = ()
    count: int = 0
    verified: int = 0
    last_hash: str = ""
    problem: str = ""
    checked_at: Timestamp | None = None


def registered_text(names: Sequence[str]) -> str:
    """That agents were registered, in a few words: one by its name, several with their number."""
    if len(names) == 1:
        return f"{names[0]} registered"
    return f"{counted(len(names), 'agent')} registered ({', '.join(names)})"
