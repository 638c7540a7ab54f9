"""The table of the action log."""

from collections.abc import Iterator
from typing import Final

from rich.text import Text

from service_tui.console import formats
from service_tui.console.freshness import awaited, is_private
from service_tui.console.reasons import without_amounts
from service_tui.console.table_spec import TableSpec
from service_tui.console.view_context import ViewContext
from service_tui.console.widgets.columns import SENTENCE_WHOLE, Column
from service_tui.desk.slices.log import ActionView, LogEvent, without_reported_orders
from service_tui.desk.state import DeskState
from service_tui.folding import folded
from service_tui.units import Timestamp

EVENT_SIGNS: Final = {
    LogEvent.INTENT: ("→", "accent"),
    LogEvent.CONFIRMED: ("✓", "accent"),
    LogEvent.RESULT: ("✓", "profit"),
    LogEvent.REFUSAL: ("✗", "loss"),
    LogEvent.UNKNOWN: ("?", "breach"),
    LogEvent.TRADE: ("●", "profit"),
    LogEvent.ORDER: ("○", "accent"),
    LogEvent.APPROVAL: ("?", "warn"),
    LogEvent.DECISION: ("◆", "accent"),
    LogEvent.RUN: ("▶", "muted"),
    LogEvent.RISK: ("▼", "warn"),
    LogEvent.AGENT: ("·", "muted"),
    LogEvent.LOST: ("!", "breach"),
}
"""Glyph and tone of each event; unknown events of an older log have neither."""

_ENTRY_TEXT_MAX: Final = 2_000

_UNREAD: Final = "Loading the log."
_NONE: Final = (
    "No entries.\n\nOrders, approvals, refusals, results and agents' trades are logged here.\n"
    "Any later change or removal is detected."
)


def event_text(entry: ActionView) -> Text:
    """An entry's event, as glyph and word."""
    known = next((event for event in LogEvent if event.value == entry.what), None)
    glyph, tone = EVENT_SIGNS.get(known, ("·", "muted")) if known is not None else ("·", "muted")
    return Text(f"{glyph} {formats.plain(entry.what, 12).plain}", tone)


def words(entry: ActionView, state: DeskState) -> str:
    """Its text, without amounts while these are masked."""
    result = entry.words
    for market_id, question in _questions(entry, state):
        result = result.replace(market_id, question)
    if entry.question and entry.question not in result:
        result = f"{result}, {entry.question}"
    return without_amounts(formats.plain(result, _ENTRY_TEXT_MAX).plain, masked=is_private(state))


def _questions(entry: ActionView, state: DeskState) -> Iterator[tuple[str, str]]:
    """The markets that an entry names by their ids, with their questions."""
    if entry.market and entry.question:
        yield entry.market, entry.question
        return
    for word in entry.words.split():
        market = state.markets.get(word.strip(".,:;()"))
        if market is not None:
            yield market.market_id, market.question


def search_text(entry: ActionView, _: ViewContext) -> str:
    """The text in which a search finds an entry, casefolded."""
    parts = (entry.who, entry.what, entry.kind, entry.words, entry.question, entry.hash)
    return folded("\n".join(parts))


def _when(entry: ActionView, now: Timestamp) -> Text:
    return formats.moment_of(entry.at, now) if entry.at else Text(formats.NOT_KNOWN, "muted")


def _empty_text(state: DeskState) -> str:
    return awaited(state, _UNREAD) if state.log.checked_at is None else _NONE


def log_table(wall: str) -> TableSpec[ActionView]:
    """The entries; `wall` stands behind the title of their times where there are two clocks."""
    return TableSpec[ActionView](
        "log",
        rows=lambda state: without_reported_orders(state.log.entries),
        key=lambda one: one.key,
        columns=(
            Column(
                "number",
                "#",
                6,
                lambda one, _: f"{one.number:,}",
                lambda one, _: one.number,
                numeric=True,
                tier=120,
                glows=False,
            ),
            Column(
                "time",
                "wall time" if wall else "time",
                15,
                lambda one, view: _when(one, view.now),
                lambda one, _: one.number,
                glows=False,
            ),
            Column(
                "who",
                "who",
                11,
                lambda one, _: formats.plain(one.who, 40),
                lambda one, _: one.who,
                wide=(110, 17),
                fits=True,
            ),
            Column("what", "what", 11, lambda row, _: event_text(row), lambda one, _: one.what),
            Column(
                "kind",
                "source",
                12,
                lambda one, _: Text(formats.plain(one.kind, 40).plain, "muted"),
                lambda one, _: one.kind,
                tier=120,
            ),
            Column(
                "words",
                "details",
                20,
                lambda one, view: words(one, view.state),
                flex=True,
                whole=SENTENCE_WHOLE,
            ),
            Column(
                "hash", "hash", 8, lambda one, _: Text(one.hash[:8], "muted"), tier=160, glows=False
            ),
        ),
        search_text=search_text,
        newest_on_top=True,
        empty_text=_empty_text,
        sort="time",
        falling=True,
    )
