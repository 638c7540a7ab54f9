"""The table of the needs, and its text when there are none."""

from typing import Final

from rich.text import Text

from service_tui.console import formats
from service_tui.console.keys import cap
from service_tui.console.needs import needs, unloaded_topics
from service_tui.console.ranking import Need
from service_tui.console.table_spec import TableSpec
from service_tui.console.widgets.columns import Column
from service_tui.desk.state import DeskState
from service_tui.folding import folded
from service_tui.units import Timestamp

VERB_FROM: Final = 120
ADVICE_FROM: Final = 160
"""Widths from which verb and advice are columns; below the latter, a line shows both."""

_CHECKED: Final = (
    "No alert, approval or signal pending.\n"
    "No order pending, none refused in the last ten minutes.\n"
    "No position resolving within 15 minutes, none moved by more than 15 %.\n"
    "No agent without money, no experiment or skill stopped.\n"
    "All daily limits below 80 %."
)
_WAITING: Final = "Not loaded yet: no answer from the service since the start."


def _subject(need: Need) -> Text:
    """The subject; an urgent one is red and bold in every theme."""
    text = formats.plain(need.what)
    return Text(text.plain, "bold breach") if need.is_last else text


def end_text(need: Need) -> Text:
    """What happens if the person does nothing, and the note on the row."""
    text = formats.plain(need.otherwise)
    if note := formats.plain(need.note).plain:
        text.append(f" ({note})", "muted")
    return text


def _rows(state: DeskState) -> tuple[Need, ...]:
    # As of the newest answer: the screen, which has the time, reads them itself.
    return needs(state, max(state.seen.values(), default=Timestamp(0.0)))


def all_is_well(since: str = "") -> str:
    """The text without any need, and what was checked."""
    return f"All clear{since}.\n\n{_CHECKED}"


def _empty_text(state: DeskState) -> str:
    """The topics still to load; else the text without any need."""
    if state.from_cache or not state.seen:
        return _WAITING
    missing = ", ".join(unloaded_topics(state))
    if not missing:
        return all_is_well()
    return f"Not loaded yet: {missing}.\n\n{cap('app.refresh')} refreshes."


NEEDS: Final = TableSpec[Need](
    "needs",
    rows=_rows,
    key=lambda need: need.key,
    columns=(
        Column("kind", "", 11, lambda need, _: Text(f"{need.glyph} {need.word}", need.tone)),
        Column("what", "needs attention", 24, lambda need, _: _subject(need), flex=True),
        Column("figure", "", 11, lambda need, _: need.figure, align="right", glows=False),
        Column(
            "verb",
            "action",
            19,
            lambda need, _: Text(need.verb, "accent"),
            tier=VERB_FROM,
            glows=False,
        ),
        Column(
            "otherwise",
            "otherwise",
            38,
            lambda need, _: end_text(need),
            tier=ADVICE_FROM,
        ),
    ),
    search_text=lambda need, _: folded(need.what),
    empty_text=_empty_text,
    is_loaded=lambda state: not unloaded_topics(state),
)
