"""The overview while nothing needs the person: agents' day, resolutions, last actions. Pure."""

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, zip_longest
from typing import Final

from rich.text import Text

from service_tui.console import formats
from service_tui.console.fleet_strip import NAME_MAX, standings
from service_tui.console.keys import cap
from service_tui.console.questions import short_question, side_question
from service_tui.console.view_context import ViewContext
from service_tui.console.widgets.braille import DOTS_X
from service_tui.console.widgets.spark import sparkline
from service_tui.desk.buy_limits import DAY_S, next_midnight
from service_tui.desk.figures import equity_points
from service_tui.desk.slices.agents import AgentView, FillView
from service_tui.desk.slices.positions import PositionView
from service_tui.desk.slices.supervision import PendingStatus
from service_tui.desk.slices.tickets import TicketState
from service_tui.desk.state import DeskState
from service_tui.terms import Action, MarketStatus, Venue
from service_tui.units import Micros, Timestamp

NEXT_MAX: Final = 5
DONE_MAX: Final = 5
"""Most rows of what resolves next and of what was done last."""

WIDE_FROM: Final = 140
"""Width from which agents are beside the rest."""

_AMOUNT: Final = 11
_WHEN: Final = 9
_WHO: Final = 11
_SPARK_MIN: Final = 8
_SPARK_MAX: Final = 40
_BESIDE_SPARK: Final = 52
"""Cells of an agent's line, and of what is beside it."""
_LABEL: Final = 8
_GAP: Final = "   "
_REAL: Final = " real"

DONE: Final = {PendingStatus.APPROVED: "approved", PendingStatus.REFUSED: "refused"}
"""Decisions of the person that are among the last things done."""


@dataclass(frozen=True, slots=True)
class Section:
    """Rows below one title."""

    title: str
    rows: tuple[Text, ...]


def calm_text(view: ViewContext, lines: int) -> Text:
    """The day while nothing needs the person, in at most so many lines of `view.width` cells.

    Returns:
        The P&L of the day; agents with their day as a line; the next resolutions of what is held;
        the last things done. What has no room is left out from the end of each part.
    """
    shown = [_day(view)]
    if view.width >= WIDE_FROM:
        half = (view.width - len(_GAP)) // 2
        agents, *others = _sections(replace(view, width=half))
        left, right = _titled((agents,), lines - 2), _titled(others, lines - 2)
        pairs = zip_longest(left, right, fillvalue=Text())
        shown += [Text(), *(_beside(one, other, half) for one, other in pairs)]
    else:
        sections = _sections(replace(view, width=view.width - _LABEL))
        shown += _stacked(sections, lines - 1)
    for line in shown[:lines]:
        line.truncate(max(1, view.width), overflow="ellipsis")
    return Text("\n").join(shown[:lines])


def _sections(view: ViewContext) -> tuple[Section, ...]:
    """The parts, their rows made for the width."""
    return (
        Section("agents", tuple(_agents(view))),
        Section("next", tuple(_resolutions(view))),
        Section("done", tuple(_done(view))),
    )


# -- the room -------------------------------------------------------------------------------------


def shares_of(wanted: Sequence[int], lines: int) -> tuple[int, ...]:
    """How many rows each part gets of so many lines: one more to each in turn, until none is left.

    Args:
        wanted: the rows that each part has.
        lines: all lines there are.
    """
    given = [0] * len(wanted)
    left = max(0, lines)
    while left and any(got < want for got, want in zip(given, wanted, strict=True)):
        for place, want in enumerate(wanted):
            if left and given[place] < want:
                given[place] += 1
                left -= 1
    return tuple(given)


def _stacked(sections: Sequence[Section], lines: int) -> list[Text]:
    """Parts below each other, the title before the first row of each; with room, apart."""
    wanted = [len(section.rows) for section in sections]
    gaps = len(sections)
    is_roomy = sum(wanted) + gaps <= lines
    shares = shares_of(wanted, lines - (gaps if is_roomy else 0))
    shown: list[Text] = []
    for section, count in zip(sections, shares, strict=True):
        if is_roomy:
            shown.append(Text())
        for place, row in enumerate(section.rows[:count]):
            label = section.title if not place else ""
            shown.append(Text.assemble((f"{label:<{_LABEL}}", "heading"), row))
    return shown


def _titled(sections: Sequence[Section], lines: int) -> list[Text]:
    """Parts below each other, each with its title on a line and a blank line after it."""
    shares = shares_of([len(one.rows) for one in sections], lines - 2 * len(sections))
    shown: list[Text] = []
    for section, count in zip(sections, shares, strict=True):
        shown += [Text(section.title, "bold heading"), *section.rows[:count], Text()]
    return shown


def _beside(left: Text, right: Text, half: int) -> Text:
    line = left.copy()
    line.truncate(half, overflow="ellipsis", pad=True)
    return Text.assemble(line, _GAP, right)


def _right(text: Text, cells: int) -> Text:
    return Text.assemble(" " * max(0, cells - text.cell_len), text)


def _fitted(text: str, cells: int) -> str:
    shown = formats.plain(text)
    shown.truncate(cells, overflow="ellipsis", pad=True)
    return shown.plain


# -- the day --------------------------------------------------------------------------------------


def day_begins(now: Timestamp) -> Timestamp:
    """The last midnight UTC."""
    return Timestamp(next_midnight(now) - DAY_S)


def _day(view: ViewContext) -> Text:
    """The P&L of today and the equity of the person's own agent, and the P&L of the others."""
    account, fleet = view.state.account, view.state.fleet
    if account is None:
        return Text("account not loaded yet", "muted")
    made = formats.pnl(account.day_pnl, masked=view.masked, arrow=True)
    line = Text.assemble(
        (f"{'today':<{_LABEL}}", "heading"),
        made,
        (" $SIM   equity ", "muted"),
        view.money(account.equity),
        ("   cash ", "muted"),
        view.money(account.cash),
    )
    others = [] if fleet is None else [one for one in fleet.agents if not one.is_own]
    if others:
        total = Micros(sum(one.day_pnl for one in others))
        line.append("   other agents ", "muted")
        line.append_text(view.pnl(total))
    return line


Point = tuple[Timestamp, float]
"""A value at a time."""


def moved_most(points: Sequence[Point]) -> float:
    """The greatest distance from the first value, >= 0."""
    return max((abs(value - points[0][1]) for _, value in points), default=0.0)


def day_line(
    points: Sequence[Point], now: Timestamp, cells: int, *, most: float | None = None
) -> str:
    """Values of today as a line from midnight UTC to now.

    Args:
        points: oldest first; the time before the first one stays blank.
        now: wall time.
        cells: of the line.
        most: the distance from the first value that fills the height; None: their own greatest.
    """
    if not points:
        return " " * cells
    begins, columns = day_begins(now), DOTS_X * cells
    step = (now - begins) / columns
    times = [at for at, _ in points]
    values: list[float] = []
    for column in range(1, columns + 1):
        place = bisect_right(times, begins + step * column)
        if place:
            values.append(points[place - 1][1])
    first = values[0] if values else 0.0
    if most is None:
        most = max((abs(value - first) for value in values), default=0.0)
    return sparkline([(value - first) / (most or 1.0) for value in values], cells, span=2.0)


def day_points(agent: AgentView, state: DeskState, now: Timestamp) -> tuple[Point, ...]:
    """The day of an agent: its equity where that is known, else what its trades realized."""
    begins = day_begins(now)
    if agent.is_own:
        return tuple(
            (at, float(equity)) for at, equity in equity_points(state, now) if at >= begins
        )
    fills = sorted(
        (one for one in state.fills if one.agent_id == agent.agent_id and one.at >= begins),
        key=lambda fill: fill.at,
    )
    # ours: other agents have no curve of their equity here; the end is what the whole day made.
    sums = accumulate(float(fill.realized) for fill in fills)
    made = zip((fill.at for fill in fills), sums, strict=True)
    return ((begins, 0.0), *made, (now, float(agent.day_pnl)))


def _agents(view: ViewContext) -> Iterator[Text]:
    """Every agent with its P&L of today as a figure and as a line, those that moved most first."""
    state = view.state
    if not state.service.embedded:
        return
    agents = () if state.fleet is None else state.fleet.agents
    words = {one.name: one for one in standings(state)}
    alive = [one for one in agents if not one.retired]
    if not any(not one.is_own for one in alive):
        yield Text(f"No agent yet? {cap('attention.run')} runs one.", "accent")
    cells = min(_SPARK_MAX, max(_SPARK_MIN, view.width - _BESIDE_SPARK))
    days = {agent.agent_id: day_points(agent, state, view.now) for agent in alive}
    # On one scale: a line that moved more is higher.
    most = max(map(moved_most, days.values()), default=0.0)
    for agent in sorted(alive, key=lambda one: (one.is_own, -abs(one.day_pnl))):
        made, equity = _figures(agent, state)
        ink = "profit" if made > 0 else "loss" if made < 0 else "muted"
        known = words.get(formats.plain(agent.name, NAME_MAX).plain)
        standing = Text() if known is None or agent.is_own else Text(known.word, known.tone)
        yield Text.assemble(
            (_fitted("you" if agent.is_own else agent.name, NAME_MAX), "bold" * agent.is_own),
            " ",
            (day_line(days[agent.agent_id], view.now, cells, most=most), ink),
            _right(formats.pnl(made, masked=view.masked), _AMOUNT),
            _right(view.money(equity), _AMOUNT + 1),
            "  ",
            standing,
        )


def _figures(agent: AgentView, state: DeskState) -> tuple[Micros, Micros]:
    """The P&L of today and the equity of an agent; the own one's as the head shows them."""
    account = state.account
    if not agent.is_own or account is None or account.equity is None:
        return agent.day_pnl, agent.equity
    return agent.day_pnl if account.day_pnl is None else account.day_pnl, account.equity


def next_resolutions(state: DeskState, now: Timestamp) -> tuple[PositionView, ...]:
    """What is held and resolves next, the nearest first; `now` is the world's time."""
    held = [
        (position.resolves_at, position)
        for position in (*state.positions, *state.on_venues)
        if position.status is MarketStatus.ACTIVE
        and position.shares
        and position.resolves_at is not None
        and position.resolves_at > now
    ]
    held.sort(key=lambda one: (one[0], one[1].key))
    return tuple(position for _, position in held[:NEXT_MAX])


def _resolutions(view: ViewContext) -> Iterator[Text]:
    """The next resolutions, with the time left and the money at stake."""
    found = next_resolutions(view.state, view.world_now)
    if not found:
        yield Text("None of your positions resolves.", "muted")
    room = max(8, view.width - _WHEN - _AMOUNT - len(_REAL))
    for position in found:
        left = formats.duration((position.resolves_at or view.world_now) - view.world_now)
        stake = position.mark_value if position.exit_value is None else position.exit_value
        yield Text.assemble(
            (f"{left:<{_WHEN}}", "accent"),
            _fitted(side_question(position.side, position.question), room),
            _right(view.money(stake), _AMOUNT),
            ("" if position.venue is Venue.SIM else _REAL, "live"),
        )


# -- done -----------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class DoneThing:
    """Something that was done: when, by whom, what."""

    at: Timestamp
    who: str
    what: str


def last_done(state: DeskState) -> tuple[DoneThing, ...]:
    """The last fills, decisions and commands, newest first; amounts are in the words."""
    own = "" if state.account is None else state.account.agent_id
    fills = [_fill(fill, own) for fill in state.fills[: 2 * DONE_MAX]]
    decided = [
        DoneThing(
            one.decided_at,
            "you",
            f"{DONE[one.status]} {one.action.value.upper()} "
            f"{side_question(one.side, one.question)} of {one.agent_name}",
        )
        for one in state.supervision.decided[:DONE_MAX]
        if one.decided_at is not None and one.status in DONE
    ]
    # A trade that was carried out is among the fills.
    tickets = [
        DoneThing(ticket.settled_at, "you", ticket.what)
        for ticket in state.tickets[: 4 * DONE_MAX]
        if ticket.settled_at is not None
        and ticket.state is TicketState.DONE
        and (ticket.kind != "trade" or not state.fills)
    ]
    found: Iterable[DoneThing] = (*fills, *decided, *tickets)
    return tuple(sorted(found, key=lambda one: (-one.at, one.what)))[:DONE_MAX]


def _fill(fill: FillView, own: str) -> DoneThing:
    did = "bought" if fill.action is Action.BUY else "sold"
    size = f"{formats.shares(fill.shares).plain} {fill.side.value.upper()}"
    at = formats.price(fill.price).plain
    what = f"{did} {size} at {at}: {short_question(fill.question)}"
    return DoneThing(fill.at, "you" if fill.agent_id == own else fill.agent_name, what)


def _done(view: ViewContext) -> Iterator[Text]:
    """The last things done: how long ago, by whom, what."""
    found = last_done(view.state)
    if not found:
        yield Text("Nothing done yet.", "muted")
    for one in found:
        ago = f"{formats.age(one.at, view.now).plain} ago"
        yield Text.assemble(
            (f"{ago:<{_WHEN}}", "muted"),
            (_fitted(one.who, _WHO - 1), "bold" if one.who == "you" else ""),
            " ",
            view.sentence(one.what),
        )
