"""Actions of the timeline: show the thing itself, filter by kind or by absence."""

from typing import Final, TypeAlias

from service_tui.console.actions import ScreenAction
from service_tui.console.messages import GoTo
from service_tui.console.moments import MomentKind, MomentView
from service_tui.console.parts.shared_actions import can_note, has_row, open_note
from service_tui.console.parts.table_screen import Only, TableScreen
from service_tui.desk.own_notes import day_of
from service_tui.desk.slices.own_notes import Noted, NoteOn

Timeline: TypeAlias = TableScreen[MomentView]

AWAY: Final = Only[MomentView](lambda row: row.is_away, "while you were away")


OURS: Final = Only[MomentView](lambda row: row.is_own, "this desk and its markets")
"""ours: news and outcomes of all other markets would leave no room for anything else."""


def of_kind(kind: MomentKind) -> Only[MomentView]:
    """The choice of one kind."""
    return Only[MomentView](lambda row: row.kind is kind, kind.value)


def leads_somewhere(screen: Timeline) -> str:
    """The highlighted moment has a row on a screen."""
    row = screen.selected()
    return "" if row is None or row.screen else "nothing to show: no other screen has it"


def open_thing(screen: Timeline) -> None:
    """Show the highlighted moment's own row on its screen."""
    row = screen.row_in_focus()
    if row is not None:
        screen.post_message(GoTo(row.screen, row.row or None))


def has_market(screen: Timeline) -> str:
    """The highlighted moment is about a market."""
    row = screen.selected()
    return "" if row is None or row.market_id else "no market in this row"


def open_market(screen: Timeline) -> None:
    """Show the market of the highlighted moment."""
    row = screen.row_in_focus()
    if row is not None:
        screen.post_message(GoTo("markets", row.market_id))


def next_kind(screen: Timeline) -> None:
    """Show all, then each kind that there is alone, then what is about this desk."""
    if screen.only is OURS:
        screen.only = None
        screen.filter_rows()
        return
    present = {row.kind for row in screen.spec.rows(screen.state)}
    kinds = [kind for kind in MomentKind if kind in present]
    names = [kind.value for kind in kinds]
    place = names.index(screen.only.name) + 1 if screen.only and screen.only.name in names else 0
    screen.only = of_kind(kinds[place]) if place < len(kinds) else OURS
    screen.filter_rows()


def only_away(screen: Timeline) -> None:
    """Show only what happened while the desk was closed, or what is about this desk."""
    screen.only = OURS if screen.only is AWAY else AWAY
    screen.filter_rows()


def write_note(screen: Timeline) -> None:
    """Write a note on the day of the highlighted moment."""
    row = screen.row_in_focus()
    if row is not None:
        open_note(screen, Noted(NoteOn.DAY, day_of(row.at)))


ACTIONS: Final[tuple[ScreenAction[Timeline], ...]] = (
    ScreenAction("timeline.open", open_thing, (has_row, leads_somewhere)),
    ScreenAction("timeline.market", open_market, (has_row, has_market)),
    ScreenAction("timeline.note", write_note, (has_row, can_note)),
    ScreenAction("timeline.kind", next_kind),
    ScreenAction("timeline.away", only_away),
)
