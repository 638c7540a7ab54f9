"""One row that needs the person, the order of several, and alike ones in one row. Pure."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from operator import attrgetter
from typing import Final

from rich.text import Text

from service_tui.units import Micros

LAST_S: Final = 600.0
"""An alert in its last ten minutes turns red and rings. Source: spec, "Risk alert lifecycle"."""

TIERS_S: Final = (60.0, LAST_S, 3_600.0, 86_400.0)
"""Steps of time left: within one, money decides, so that a second does not outweigh a fortune."""

FOLD_FROM: Final = 3
"""So many alike rows become one."""

GROUP_FROM: Final = 2
"""So many alike rows of one wallet, market or agent become one."""

_POINTS: Final = 100

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
        agent: the name of the agent that it is about; empty if it is the person's own, or none's.
        agent_id: its id, by which it can be muted.
        is_pinned: it holds money or a decision of the person: it stays above all others.
        topic: what rows of its sort are called where they are muted; empty: they cannot be.
        group: the wallet or agent whose alike rows become one row from two on.
        market: its market's name, by which those alone of their group become one row; empty: none.
        edge: how far the price has moved the signal's way since, in probability; None: unknown.
        is_clock: `figure` is a time, which changes by itself.
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
    agent: str = ""
    agent_id: str = ""
    is_pinned: bool = False
    topic: str = ""
    group: str = ""
    market: str = ""
    edge: float | None = None
    is_clock: bool = False

    @property
    def can_be_muted(self) -> bool:
        """True unless it is pinned, or about real money."""
        return bool(self.topic) and not self.is_pinned and not self.is_real

    @property
    def search_text(self) -> str:
        """Everything by which a search finds it."""
        return f"{self.word} {self.what} {self.agent} {self.group} {self.note}"


Rank = tuple[bool, bool, int, int, bool, int, float]


def rank(need: Need) -> Rank:
    """Sort key of a need: pinned ones first, then the step of its time left, then money.

    Among the pinned ones, real money comes before play money. Within a step it does as well,
    whatever the amounts: they are never compared. Needs without a deadline come last, the gravest
    first, then by money. An unknown amount counts as none.

    Returns:
        Smaller is earlier.
    """
    money = -abs(int(need.money or 0))
    is_play = not need.is_real
    place = (not need.is_pinned, need.is_pinned and is_play)
    if need.left_s is None:
        gravity = _GRAVITY.get(need.tone, len(_GRAVITY))
        return (*place, len(TIERS_S) + 1, gravity, is_play, money, 0.0)
    left = max(0.0, need.left_s)
    return (*place, step_of(left), 0, is_play, money, left)


def step_of(left_s: float) -> int:
    """The step of a time left, 0 for less than a minute; money decides within one."""
    return sum(left_s > tier for tier in TIERS_S)


def ranked(unranked: Iterable[Need]) -> tuple[Need, ...]:
    """The needs, the most urgent first; equal ones by key, so that rows do not move."""
    return tuple(sorted(unranked, key=lambda need: (rank(need), need.key)))


def folded(found: Sequence[Need], opened: frozenset[str] = frozenset()) -> tuple[Need, ...]:
    """The needs, with alike ones in one row, where the first of them was.

    Three of a kind become one row. Of one wallet or agent two do; else of one market.

    Args:
        found: in their order.
        opened: keys of rows of several whose members follow them.
    """
    several = _several(found)
    rows: list[Need] = []
    for need in found:
        group, members = several.get(need.key, ("", ()))
        if not members:
            rows.append(need)
        elif need is members[0]:
            rows.append(row := _together(members, group, opened))
            rows.extend(members if row.key in opened else ())
    return tuple(rows)


def _several(found: Sequence[Need]) -> dict[str, tuple[str, list[Need]]]:
    """The group of each row that stands with others, and those, by its key."""
    several: dict[str, tuple[str, list[Need]]] = {}
    for name in (attrgetter("group"), attrgetter("market")):
        alike: dict[tuple[str, str], list[Need]] = {}
        for need in found:
            if need.kind and need.key not in several:
                alike.setdefault((need.kind, name(need)), []).append(need)
        for (_, group), needs in alike.items():
            if len(needs) >= (GROUP_FROM if group else FOLD_FROM):
                several |= {need.key: (group, needs) for need in needs}
    return several


def _together(alike: Sequence[Need], group: str, opened: frozenset[str]) -> Need:
    """One row for several of a kind; it sums play money alone."""
    first = alike[0]
    key = f"kind {first.kind} {group}" if group else f"kind {first.kind}"
    is_open = key in opened
    ends = {need.otherwise for need in alike}
    agents = {(need.agent, need.agent_id) for need in alike}
    agent, agent_id = agents.pop() if len(agents) == 1 else ("", "")
    lefts = [need.left_s for need in alike if need.left_s is not None]
    return replace(
        first,
        key=key,
        glyph="▾" if is_open else "▸",
        what=_together_text(alike, group),
        figure=Text(),
        otherwise=ends.pop() if len(ends) == 1 else "as each row says",
        note="",
        row=None,
        is_dismissable=all(need.is_dismissable for need in alike),
        left_s=min(lefts, default=None),
        money=_summed(alike),
        verb="Fold" if is_open else "Show all",
        act="",
        is_last=False,
        members=tuple(alike),
        agent=agent,
        agent_id=agent_id,
        edge=None,
        topic=first.topic if all(need.can_be_muted for need in alike) else "",
    )


def _summed(alike: Sequence[Need]) -> Micros | None:
    """The play money of several; None where it is real, or unknown, or a profit."""
    amounts = [need.money for need in alike if not need.is_real]
    known = [int(amount) for amount in amounts if amount is not None]
    return Micros(sum(known)) if len(known) == len(alike) else None


def _together_text(alike: Sequence[Need], group: str) -> str:
    """The number and the kind; then whose they are and the best, or the first of them."""
    first = alike[0]
    if not group:
        return f"{len(alike)} {first.kind}: {first.what}"
    edges = [need.edge for need in alike if need.edge is not None]
    best = f", best {max(edges) * _POINTS:+.1f} pt" if edges else ""
    return f"{len(alike)} {first.kind}, {group}{best}"
