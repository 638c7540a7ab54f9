"""The action log as an operator sees it: what was done, by whom, and whether its chain holds."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from service_tui.units import Timestamp


class LogEvent(StrEnum):
    """Type of a log entry. `asks`: an agent needs approval; `decision`: the answer.

    `intent`: a command was submitted. `confirmed`: a dialog was confirmed. `result`, `refusal`,
    `unknown`: how an order ended. `trade`: an agent traded. `run`: a skill began, ended or fell.
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
"""Texts of an order's result."""


@dataclass(frozen=True, slots=True)
class ActionView:
    """One entry. `number` counts from 1; `hash` follows from the one before it.

    `what` is a word of `LogEvent`, or one of an older log; `kind` says of which sort of thing.
    `words` name a market by its id; `market` is that id and `question` what it asks, where that is
    known.
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
    """The newest entries, newest first, and how far the chain was followed.

    `count` is how many lines there are, `verified` how many of them were found to follow from one
    another, at `checked_at`; None: it was not checked yet. `problem` shows where the chain breaks.
    """

    entries: tuple[ActionView, ...] = ()
    count: int = 0
    verified: int = 0
    last_hash: str = ""
    problem: str = ""
    checked_at: Timestamp | None = None
