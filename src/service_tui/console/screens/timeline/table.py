"""The table of the timeline."""

from typing import Final

from rich.text import Text

from service_tui.console import formats
from service_tui.console.freshness import awaited, is_private
from service_tui.console.moments import MomentKind, Moments, MomentView
from service_tui.console.own_notes import sign_of
from service_tui.console.reasons import without_amounts
from service_tui.console.table_spec import TableSpec, listed_name
from service_tui.console.view_context import ViewContext
from service_tui.console.widgets.columns import SENTENCE_WHOLE, Column
from service_tui.desk.own_notes import day_of
from service_tui.desk.slices.own_notes import NoteOn
from service_tui.desk.state import DeskState
from service_tui.folding import folded
from service_tui.units import decimal

SIGNS: Final = {
    MomentKind.FILL: ("●", "profit"),
    MomentKind.PAYOUT: ("◉", "profit"),
    MomentKind.ORDER: ("→", "accent"),
    MomentKind.COMMAND: ("▪", "muted"),
    MomentKind.REFUSED: ("✗", "loss"),
    MomentKind.UNKNOWN: ("?", "breach"),
    MomentKind.APPROVAL: ("◆", "warn"),
    MomentKind.ALERT: ("▼", "warn"),
    MomentKind.PRICE: ("◷", "warn"),
    MomentKind.SIGNAL: ("○", "accent"),
    MomentKind.NEWS: ("»", "muted"),
    MomentKind.RESOLVED: ("■", "foreground"),
    MomentKind.RESULT: ("∆", "accent"),
    MomentKind.AGENT: ("▶", "muted"),
    MomentKind.CONNECTION: ("!", "loss"),
    MomentKind.TEAM: ("☺", "accent"),
    MomentKind.LOG: ("·", "muted"),
}
"""Glyph and tone of each kind."""

AWAY: Final = "◂"
"""Marks what happened while the desk was closed."""

_WORDS_MAX: Final = 500


def words(moment: MomentView, view: ViewContext) -> str:
    """What happened, without amounts while these are masked."""
    text = moment.words
    if moment.market_id and moment.question:
        # The log names a market by its id; its question has a place of its own.
        text = text.replace(moment.market_id, "it")
    plain = formats.plain(text, _WORDS_MAX).plain
    return without_amounts(plain, masked=view.masked)


def _time(moment: MomentView, view: ViewContext) -> Text:
    text = formats.moment_of(moment.at, view.now)
    mark = Text(AWAY if moment.is_away else " ", "warn")
    about = Text("~" if moment.world_at is not None else " ", "muted")
    note = sign_of(view, NoteOn.DAY, day_of(moment.at))
    return Text.assemble(note if note.plain and not moment.is_away else mark, about, text)


def _what(moment: MomentView, view: ViewContext) -> Text:
    text = Text(words(moment, view))
    if moment.question:
        name = listed_name(moment.market_id, moment.question, view.state)
        text.append(f" · {formats.plain(name).plain}", "muted")
    return text


def _kind(moment: MomentView) -> Text:
    glyph, tone = SIGNS[moment.kind]
    return Text(f"{glyph} {moment.kind.value}", tone)


def _money(moment: MomentView, view: ViewContext) -> Text:
    if moment.money is None:
        return Text()
    amount = formats.money(moment.money, masked=view.masked)
    return Text.assemble(amount, (f" {formats.unit(moment.venue)}", "muted"))


def search_text(moment: MomentView, view: ViewContext) -> str:
    """The text in which a search finds a moment, casefolded."""
    parts = (moment.kind.value, moment.who, words(moment, view), moment.question)
    return folded("\n".join((*parts, "away" if moment.is_away else "")))


def _empty_text(state: DeskState) -> str:
    if state.log.checked_at is None and not state.fills:
        return awaited(state, "Loading what happened.")
    return (
        "Nothing has happened yet.\n\nTrades, orders, alerts, signals, news and results are listed."
    )


def timeline_table(wall: str) -> TableSpec[MomentView]:
    """All moments; `wall` stands behind the title of their times where there are two clocks."""
    return TableSpec[MomentView](
        "timeline",
        rows=Moments(),
        key=lambda row: row.key,
        columns=(
            Column(
                "time",
                "  wall time" if wall else "  time",
                17,
                _time,
                lambda row, _: row.at,
                glows=False,
            ),
            Column("kind", "kind", 12, lambda row, _: _kind(row), lambda row, _: row.kind.value),
            Column(
                "who",
                "who",
                12,
                lambda row, _: Text(formats.plain(row.who, 40).plain, "muted"),
                lambda row, _: row.who,
                tier=100,
                wide=(110, 17),
                fits=True,
            ),
            Column("words", "what", 26, _what, flex=True, whole=SENTENCE_WHOLE),
            Column(
                "money",
                "money",
                12,
                _money,
                lambda row, _: row.money,
                numeric=True,
                tier=90,
            ),
        ),
        search_text=search_text,
        newest_on_top=True,
        empty_text=_empty_text,
        sort="time",
        falling=True,
        compared={
            "money": lambda row, view: (
                None if row.money is None or is_private(view.state) else decimal(row.money)
            )
        },
    )
