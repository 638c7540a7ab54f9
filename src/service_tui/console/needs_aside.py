"""Rows that the person has put aside: snoozed until a time or a change, muted by kind or agent."""

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, cast

from service_tui.console.ranking import Need
from service_tui.units import Timestamp

SNOOZED: Final = "attention.snoozed"
MUTED: Final = "attention.muted"
"""Preferences: what is snoozed and what is muted, as JSON lists."""

ASIDE_MAX: Final = 200
"""Most snoozed rows and most mutes that are kept. # ours: the oldest go first."""

CHANGED_FROM: Final = 0.1
"""ours: a figure that differs by less than a tenth has not changed: prices tick all the time."""

LAST_S: Final = 120.0
"""ours: a row with a deadline comes back for its last two minutes, however long it is snoozed."""

PINNED_MAX_S: Final = 3_600.0
"""ours: what holds money or a decision is hidden for an hour at most."""

_LARGEST: Final = 1e15
"""Beyond it no time and no figure is meant; this leaves out what is infinite or undefined."""

_NUMBER: Final = re.compile(r"[-+]?[0-9][0-9,]*(?:\.[0-9]+)?")


@dataclass(frozen=True, slots=True)
class Snooze:
    """A row that is hidden until a time, or until it differs from what it was then.

    Args:
        key: the row.
        what: its subject, for the list of what is hidden.
        until: wall time; None: until it changes.
        look: its tone and its word then.
        figure: its figure then, None if it had none that counts.
        money: the amount at stake then, micros.
    """

    key: str
    what: str
    until: float | None
    look: str
    figure: float | None
    money: int | None

    def hides(self, need: Need, now: Timestamp) -> bool:
        """True while the row is to stay hidden."""
        if self.until is None and not may_wait_for_change(need):
            return False
        if self.until is not None and now >= self.until:
            return False
        if need.left_s is not None and need.left_s <= LAST_S:
            return False
        money = None if need.money is None else float(need.money)
        return (
            self.look == look_of(need)
            and _is_alike(self.figure, figure_of(need))
            and _is_alike(None if self.money is None else float(self.money), money)
        )


@dataclass(frozen=True, slots=True)
class Mute:
    """A kind of rows, or an agent, that is hidden. `name` is the topic, or the agent's id."""

    name: str
    label: str
    is_agent: bool = False

    def hides(self, need: Need) -> bool:
        """True for a row of this kind or agent, unless it is about approvals or real money."""
        known = need.agent_id if self.is_agent else need.topic
        return need.can_be_muted and known == self.name


def may_wait_for_change(need: Need) -> bool:
    """True if a change of the row would be seen: it is not pinned, has no deadline, and a figure.

    A row of the service's state has one key for every outage: hidden until it changes, the next
    one would be hidden as well.
    """
    if need.is_pinned or need.left_s is not None:
        return False
    return figure_of(need) is not None or need.money is not None


def look_of(need: Need) -> str:
    """The tone and the word of a row."""
    return f"{need.tone} {need.word}"


def figure_of(need: Need) -> float | None:
    """The number that a row shows; None for none, and for a time."""
    found = None if need.is_clock else _NUMBER.search(need.figure.plain)
    return None if found is None else float(found[0].replace(",", ""))


def _is_alike(before: float | None, now: float | None) -> bool:
    """True for two figures within a tenth; an unknown one is like any."""
    if before is None or now is None:
        return True
    return abs(now - before) <= CHANGED_FROM * max(abs(before), abs(now))


def snooze_of(need: Need, until: Timestamp | None, now: Timestamp) -> Snooze:
    """The snooze that hides a row as it is now."""
    if need.is_pinned:
        until = Timestamp(now + PINNED_MAX_S if until is None else min(until, now + PINNED_MAX_S))
    money = None if need.money is None else int(need.money)
    return Snooze(need.key, need.what, until, look_of(need), figure_of(need), money)


def mutes_of(need: Need) -> tuple[Mute, ...]:
    """How a row can be muted: by its kind, and by its agent; empty if it cannot be."""
    if not need.can_be_muted:
        return ()
    by_agent = (Mute(need.agent_id, need.agent, is_agent=True),) if need.agent_id else ()
    return (Mute(need.topic, need.topic), *by_agent)


@dataclass(frozen=True, slots=True)
class Aside:
    """Everything that is snoozed and muted."""

    snoozes: tuple[Snooze, ...] = ()
    mutes: tuple[Mute, ...] = ()

    def is_snoozed(self, need: Need, now: Timestamp) -> bool:
        """True if a row is snoozed at this time."""
        return any(one.key == need.key and one.hides(need, now) for one in self.snoozes)

    def is_muted(self, need: Need) -> bool:
        """True if a row is muted."""
        return any(one.hides(need) for one in self.mutes)

    def topics(self) -> frozenset[str]:
        """The kinds of rows that are muted."""
        return frozenset(one.name for one in self.mutes if not one.is_agent)


def snoozed_text(
    known: Sequence[Snooze], needs: Iterable[Need], until: Timestamp | None, now: Timestamp
) -> str:
    """The preference that snoozes more rows; those whose time is over are dropped."""
    added = [snooze_of(need, until, now) for need in needs]
    keys = {one.key for one in added}
    kept = [one for one in known if one.key not in keys and (one.until is None or now < one.until)]
    return written_snoozes([*kept, *added])


def written_snoozes(snoozes: Sequence[Snooze]) -> str:
    """Snoozes as the preference keeps them; empty for none."""
    rows = [
        [one.key, one.what, one.until, one.look, one.figure, one.money]
        for one in snoozes[-ASIDE_MAX:]
    ]
    return json.dumps(rows, ensure_ascii=False) if rows else ""


def written_mutes(mutes: Sequence[Mute]) -> str:
    """Mutes as the preference keeps them; empty for none."""
    rows = [[one.name, one.label, one.is_agent] for one in mutes[-ASIDE_MAX:]]
    return json.dumps(rows, ensure_ascii=False) if rows else ""


@lru_cache(maxsize=4)
def aside_of(snoozed: str, muted: str) -> Aside:
    """What two preferences put aside; parts that cannot be read hide nothing."""
    snoozes = tuple(filter(None, map(_snooze, _rows(snoozed))))
    mutes = tuple(filter(None, map(_mute, _rows(muted))))
    return Aside(snoozes[-ASIDE_MAX:], mutes[-ASIDE_MAX:])


def _rows(text: str) -> list[list[object]]:
    try:
        kept: object = json.loads(text or "[]")
    except (ValueError, RecursionError):
        return []
    rows = cast("list[object]", kept) if isinstance(kept, list) else []
    return [cast("list[object]", row) for row in rows if isinstance(row, list)]


def _snooze(row: list[object]) -> Snooze | None:
    match row:
        case [str(key), str(what), until, str(look), figure, money]:
            whole = int(money) if isinstance(money, int) else None
            return Snooze(key, what, _number(until), look, _number(figure), whole)
        case _:
            return None


def _mute(row: list[object]) -> Mute | None:
    match row:
        case [str(name), str(label), bool(is_agent)]:
            return Mute(name, label, is_agent)
        case _:
            return None


def _number(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if -_LARGEST < value < _LARGEST else None
