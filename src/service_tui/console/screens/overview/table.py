"""The table of the needs, and its text when there are none."""

from typing import Final

from rich.text import Text

from service_tui.console import formats
from service_tui.console.keys import cap
from service_tui.console.needs import needs, unloaded_topics
from service_tui.console.ranking import Need, step_of
from service_tui.console.table_spec import TableSpec
from service_tui.console.view_context import ViewContext
from service_tui.console.widgets.columns import Column
from service_tui.desk.state import DeskState
from service_tui.folding import folded
from service_tui.units import Timestamp, decimal

AGENT_FROM: Final = 80
AGENT_CELLS: Final = 10
AGENT_WIDE: Final = 17
"""Width from which the agent is a column, and its cells."""

PIN: Final = "┃"
"""The mark of a pinned row, in the gutter."""

VERB_FROM: Final = 120
ADVICE_FROM: Final = 160
"""Widths from which verb and advice are columns; below the latter, a line shows both."""

ALL_CLEAR: Final = "All clear"
ALL_RUN: Final = "All agents funded and running."

_CHECKED: Final = (
    "No alert, approval or signal pending.\n"
    "No order pending, none refused in the last ten minutes.\n"
    "No position resolving within 15 minutes, none moved by more than 15 %.\n"
    f"{ALL_RUN}\n"
    "All daily limits below 80 %."
)
_WAITING: Final = "Not loaded yet: no answer from the service since the start."


_STEPS: Final = ("bold breach", "bold warn", "warn", "")
"""Tones of a time left by its step; rows of one tone are ordered by money."""


def _subject(need: Need, view: ViewContext) -> Text:
    """The figure and the subject; an urgent one is red and bold in every theme."""
    del view
    text = formats.plain(need.what)
    if need.is_last:
        text = Text(text.plain, "bold breach")
    real = ("real ", "live") if need.is_real else ""
    figure = Text(need.figure.plain.strip(), need.figure.style)
    if not figure.plain or need.is_clock:
        return Text.assemble(real, text)
    return Text.assemble(real, figure, " ", text)


def _left(need: Need) -> Text:
    """The time left, in the tone of its step; else how long ago it was."""
    if need.left_s is None and need.is_clock:
        return Text(f"{need.figure.plain.strip()} ago", "muted")
    if need.left_s is None:
        return Text(formats.NOT_KNOWN, "muted")
    step = step_of(max(0.0, need.left_s))
    text = formats.duration_short(need.left_s) if need.left_s > 0 else "now"
    return Text(text, _STEPS[min(step, len(_STEPS) - 1)])


def _agent(need: Need) -> Text:
    return formats.plain(need.agent, AGENT_WIDE)


def order_text(snoozed: int, muted: int) -> Text:
    """In which order the rows are, and how many are hidden."""
    parts = [f"{snoozed:,} snoozed" if snoozed else "", f"{muted:,} muted" if muted else ""]
    hidden = ", ".join(filter(None, parts))
    line = Text.assemble((PIN, "accent"), (" pinned, then time left, then amount", "muted"))
    if hidden:
        line.append(f"   {hidden}", "warn")
        line.append(f" ({cap('attention.mute')} lists them)", "muted")
    return line


def end_text(need: Need) -> Text:
    """What happens if the person does nothing, and the note on the row."""
    text = formats.plain(need.otherwise)
    if note := formats.plain(need.note).plain:
        text.append(f" ({note})", "muted")
    return text


def _rows(state: DeskState) -> tuple[Need, ...]:
    # As of the newest answer: the screen, which has the time, reads them itself.
    return needs(state, max(state.seen.values(), default=Timestamp(0.0)))


def all_is_well() -> str:
    """The text without any need, and what was checked."""
    return f"{ALL_CLEAR}.\n\n{_CHECKED}"


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
        Column(
            "pin",
            "",
            1,
            lambda need, _: Text(PIN if need.is_pinned else " ", "accent"),
            in_gutter=True,
            glows=False,
        ),
        Column("kind", "", 11, lambda need, _: Text(f"{need.glyph} {need.word}", need.tone)),
        Column("what", "needs attention", 24, _subject, flex=True),
        Column(
            "agent",
            "agent",
            AGENT_CELLS,
            lambda need, _: _agent(need),
            tier=AGENT_FROM,
            glows=False,
            wide=(110, AGENT_WIDE),
            fits=True,
        ),
        Column(
            "verb",
            "action",
            14,
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
        Column(
            "amount",
            "amount",
            10,
            lambda need, view: view.money(need.money) if need.money is not None else Text(""),
            align="right",
            glows=False,
        ),
        Column("left", "left", 7, lambda need, _: _left(need), align="right", glows=False),
    ),
    search_text=lambda need, _: folded(need.search_text),
    empty_text=_empty_text,
    compared={
        "amount": lambda need, _: None if need.money is None else float(decimal(need.money)),
        "left": lambda need, _: need.left_s,
    },
    is_loaded=lambda state: not unloaded_topics(state),
    newest_on_top=True,
)
