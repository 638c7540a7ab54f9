"""A moment in full."""

from collections.abc import Iterator
from typing import Final

from rich.text import Text

from service_tui.console import formats
from service_tui.console.figures import Figure, labelled
from service_tui.console.forms.explain import Explanation
from service_tui.console.freshness import of_wall
from service_tui.console.keys import cap
from service_tui.console.moments import MomentView
from service_tui.console.own_notes import note_text
from service_tui.console.screens.timeline.table import SIGNS, words
from service_tui.console.view_context import ViewContext
from service_tui.console.widgets.detail_pane import Detail
from service_tui.desk.own_notes import day_of
from service_tui.desk.slices.own_notes import NoteOn
from service_tui.terms import MONEY_OF

_LABEL: Final = 17


def describe(moment: MomentView, view: ViewContext) -> Detail:
    """The blocks of the pane."""
    glyph, tone = SIGNS[moment.kind]
    head = Text.assemble((f"{glyph} {moment.kind.value}  ", tone), (words(moment, view), "bold"))
    return Detail(head, labelled(tuple(_facts(moment, view)), _LABEL), _leads(moment))


def _facts(moment: MomentView, view: ViewContext) -> Iterator[Figure]:
    wall = of_wall(view.state)
    at = Text(formats.date_time_s(moment.at))
    if moment.world_at is not None:
        yield "time, world", Text(formats.date_time_s(moment.world_at))
        yield f"time{wall}", Text.assemble(("about ", "muted"), at)
    else:
        yield f"time{wall}", at
    if moment.is_away:
        yield "while", Text("this desk was closed", "warn")
    if moment.who:
        yield "who", formats.plain(moment.who, 60)
    if moment.question:
        yield "market", formats.plain(moment.question, 200)
    note = note_text(view, NoteOn.DAY, day_of(moment.at))
    if note.plain:
        yield "note on the day", note
    if moment.money is not None:
        yield f"money, {MONEY_OF[moment.venue]}", view.money(moment.money)


def _leads(moment: MomentView) -> Text:
    """The screen that has more of it."""
    if not moment.screen:
        return Text()
    return Text(f"{cap('timeline.open')} shows it on {cap(f'app.{moment.screen}')}", "muted")


def explain_moment(moment: MomentView, view: ViewContext) -> tuple[Explanation, ...]:
    """Where the time of a moment comes from."""
    del view
    if moment.world_at is None:
        return ()
    return (
        Explanation(
            "time",
            Text(formats.date_time_s(moment.at)),
            "wall time at which the offline world most likely reached the time of the event",
            (("time, world", Text(formats.date_time_s(moment.world_at))),),
            "the world's clock and its present pace; an earlier pace is not known",
            Text(),
        ),
    )
