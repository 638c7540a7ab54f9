"""One row that needs the person, the order of several, and alike ones in one row. Pure."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Final

from rich.text import Text

from service_tui.units import Micros

LAST_S: Final = 600.0
"""An alert in its last ten minutes turns red and rings. Source: spec, "Risk alert lifecycle"."""

TIERS_S: Final = (60.0, LAST_S, 3_600.0, 86_400.0)
"""Steps of time left: within one, money decides, so that a second does not outweigh a fortune."""

FOLD_FROM: Final = 3
"""So many alike rows become one."""

_GRAVITY: Final = {"breach": 0, "loss": 1, "warn": 2, "profit": 3}


@dataclass(frozen=True, slots=True)
class Need:
    """One row that needs the person.

    Args:
        key: identifies the row while the need lasts.
        tone: a name of a meaning, for the glyph and the word.
        glyph: one cell with the same meaning as the colour.
        word: the kind, in one or two words.
        what: the subject, with its owner if that is not the person.
        figure: the one number that matters.
        otherwise: what happens if the person does nothing; follows the word "otherwise".
        screen: the target of Enter.
        row: the row there.
        note: what to know before acting.
        is_real: the money is of a real venue.
        is_dismissable: True if it stays until the person dismisses it.
        left_s: seconds until it decides itself; 0: it is overdue; None: it has no deadline.
        money: the amount at stake, None if unknown.
        verb: the label of Enter.
        act: the action of the key table that Enter performs there; empty: it only goes there.
        is_last: it turns red, and rings once.
        kind: what alike rows are called together, if they can be one row; empty: each stands alone.
        members: the alike rows that this row stands for.
    """

    key: str
    tone: str
    glyph: str
    word: str
    what: str
    figure: Text
    otherwise: str
    screen: str
    row: str | None = None
    note: str = ""
    is_real: bool = False
    is_dismissable: bool = False
    left_s: float | None = None
    money: Micros | None = None
    verb: str = "Show"
    act: str = ""
    is_last: bool = False
    kind: str = ""
    members: tuple["Need", ...] = ()


Rank = tuple[int, int, bool, int, float]


def rank(need: Need) -> Rank:
    """Sort key of a need: the step of its time left, then money, then the time itself.

    Real money comes before play money, whatever the amounts: they are never compared. Needs without
    a deadline come last, the gravest first, then by money. An unknown amount counts as none.

    Returns:
        Smaller is earlier.
    """
    money = -abs(int(need.money or 0))
    if need.left_s is None:
        gravity = _GRAVITY.get(need.tone, len(_GRAVITY))
        return (len(TIERS_S) + 1, gravity, not need.is_real, money, 0.0)
    left = max(0.0, need.left_s)
    return (sum(left > tier for tier in TIERS_S), 0, not need.is_real, money, left)


def ranked(unranked: Iterable[Need]) -> tuple[Need, ...]:
    """The needs, the most urgent first; equal ones by key, so that rows do not move."""
    return tuple(sorted(unranked, key=lambda need: (rank(need), need.key)))


def folded(found: Sequence[Need], opened: frozenset[str] = frozenset()) -> tuple[Need, ...]:
    """The needs, with three or more of a kind in one row, where the first of them was.

    Args:
        found: in their order.
        opened: keys of rows of several whose members follow them.
    """
    alike: dict[str, list[Need]] = {}
    for need in found:
        # A row that has no kind is the only one of its own.
        alike.setdefault(need.kind or need.key, []).append(need)
    several = {kind: needs for kind, needs in alike.items() if len(needs) >= FOLD_FROM}
    rows: list[Need] = []
    for need in found:
        members = several.get(need.kind, [])
        if not members:
            rows.append(need)
        elif need is members[0]:
            rows.append(row := _together(members, opened))
            rows.extend(members if row.key in opened else ())
    return tuple(rows)


def _together(alike: list[Need], opened: frozenset[str]) -> Need:
    """One row for several of a kind; it sums nothing."""
    first, key = alike[0], f"kind {alike[0].kind}"
    is_open = key in opened
    ends = {need.otherwise for need in alike}
    return replace(
        first,
        key=key,
        glyph="▾" if is_open else "▸",
        what=f"{len(alike)} {first.kind}: {first.what}",
        figure=Text(),
        otherwise=ends.pop() if len(ends) == 1 else "as each row says",
        note="",
        row=None,
        is_dismissable=all(need.is_dismissable for need in alike),
        verb="Fold" if is_open else "Show all",
        act="",
        is_last=False,
        members=tuple(alike),
    )
