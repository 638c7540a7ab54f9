"""What is told about the action log: its chain in one line, its columns, one entry whole."""

from collections.abc import Callable, Iterator, Sequence
from typing import Final

from rich.text import Text

from service_tui.console import formats
from service_tui.console.amounts import told
from service_tui.console.freshness import is_private, of_wall, on_wall
from service_tui.console.widgets.columns import Column
from service_tui.desk.slices.log import ActionView, Deed, LogView
from service_tui.desk.state import DeskState
from service_tui.units import Timestamp

DEEDS: Final = {
    Deed.INTENT: ("→", "accent"),
    Deed.CONFIRMED: ("✓", "accent"),
    Deed.RESULT: ("✓", "profit"),
    Deed.REFUSAL: ("✗", "loss"),
    Deed.UNKNOWN: ("?", "breach"),
    Deed.TRADE: ("●", "profit"),
    Deed.ORDER: ("○", "accent"),
    Deed.ASKS: ("?", "warn"),
    Deed.DECISION: ("◆", "accent"),
    Deed.RUN: ("▶", "muted"),
    Deed.RISK: ("▼", "warn"),
    Deed.AGENT: ("·", "muted"),
    Deed.LOST: ("!", "breach"),
}
"""Glyph and tone of each word; what an older log calls otherwise has neither."""

_WORDS_MAX: Final = 2_000
_LABEL: Final = 9


def chain_line(log: LogView, now: Timestamp) -> Text:
    """How far the chain was followed, and what was written since."""
    if log.checked_at is None:
        return Text("the log is being read", "muted")
    if log.problem:
        upto = f"  verified up to entry {log.verified:,}; service-tui log verify says the same"
        broken = formats.plain(log.problem).plain
        return Text.assemble(("✗ chain broken: ", "bold loss"), broken, (upto, "muted"))
    since = log.count - log.verified
    age = formats.age(log.checked_at, now)
    more = f"; {since:,} written since" if since > 0 else ""
    return Text.assemble(
        ("✓ chain holds", "profit"),
        f"  verified up to entry {log.verified:,}",
        (f" of {log.count:,}, {age} ago{more}", "muted"),
    )


def deed_text(entry: ActionView) -> Text:
    """What an entry is, as glyph and word."""
    known = next((one for one in Deed if one.value == entry.what), None)
    glyph, tone = DEEDS.get(known, ("·", "muted")) if known is not None else ("·", "muted")
    return Text(f"{glyph} {formats.plain(entry.what, 12).plain}", tone)


def said(entry: ActionView, state: DeskState) -> str:
    """Its words, without amounts while these are masked."""
    words = entry.words
    for market_id, question in _questions(entry, state):
        words = words.replace(market_id, question)
    if entry.question and entry.question not in words:
        words = f"{words}, {entry.question}"
    return told(formats.plain(words, _WORDS_MAX).plain, masked=is_private(state))


def _questions(entry: ActionView, state: DeskState) -> Iterator[tuple[str, str]]:
    """The markets that an entry names by their ids, with what they ask."""
    if entry.market and entry.question:
        yield entry.market, entry.question
        return
    for word in entry.words.split():
        market = state.markets.get(word.strip(".,:;()"))
        if market is not None:
            yield market.market_id, market.question


def one_line_each(entries: Sequence[ActionView]) -> tuple[ActionView, ...]:
    """The entries without the orders whose end stands among them and says what was ordered.

    Args:
        entries: newest first.

    Returns:
        The rest, in the same order; the log itself keeps every line.
    """
    ends: dict[tuple[str, str], list[str]] = {}
    kept: list[ActionView] = []
    for entry in entries:
        key = (entry.who, entry.kind)
        if entry.what in _ENDS:
            ends.setdefault(key, []).append(entry.words)
        elif entry.what == Deed.INTENT.value:
            told_by = next((w for w in ends.get(key, ()) if w.startswith(f"{entry.words}: ")), None)
            if told_by is not None:
                ends[key].remove(told_by)
                continue
        kept.append(entry)
    return tuple(kept)


_ENDS: Final = frozenset({Deed.RESULT.value, Deed.REFUSAL.value, Deed.UNKNOWN.value})
"""Words of how an order ended."""


def words_of(entry: ActionView) -> str:
    """Everything that a search finds an entry by, casefolded."""
    parts = (entry.who, entry.what, entry.kind, entry.words, entry.question, entry.hash)
    return "\n".join(parts).casefold()


def log_columns(
    state: Callable[[], DeskState], now: Callable[[], Timestamp]
) -> tuple[Column[ActionView], ...]:
    """Number, time, who, what, and the words."""
    return (
        Column[ActionView](
            "number", "#", 6, lambda one: f"{one.number:,}", lambda one: one.number, numeric=True,
            tier=120, glows=False,
        ),
        Column[ActionView](
            "time",
            f"time{on_wall(state())}",
            15,
            lambda one: _when(one, now()),
            lambda one: one.number,
            glows=False,
        ),
        Column[ActionView](
            "who", "who", 11, lambda one: formats.plain(one.who, 40), lambda one: one.who
        ),
        Column[ActionView]("what", "what", 11, deed_text, lambda one: one.what),
        Column[ActionView](
            "kind", "of", 12, lambda one: Text(formats.plain(one.kind, 40).plain, "muted"),
            lambda one: one.kind, tier=120,
        ),
        Column[ActionView]("words", "words", 20, lambda one: said(one, state()), flex=True),
        Column[ActionView](
            "hash", "hash", 8, lambda one: Text(one.hash[:8], "muted"), tier=160, glows=False
        ),
    )  # fmt: skip


def _when(entry: ActionView, now: Timestamp) -> Text:
    return formats.moment_of(entry.at, now) if entry.at else Text(formats.NOT_KNOWN, "muted")


def entry_text(entry: ActionView, state: DeskState, now: Timestamp) -> Text:
    """One entry whole."""
    day = formats.date_time(entry.at or None).plain.rpartition(" ")[0]
    when = Text(f"{day} {formats.clock_time(entry.at or None).plain}".strip())
    clock = (of_wall(state).replace(",", ""), "muted")
    age = Text.assemble(("  ", ""), formats.age(entry.at or None, now), (" ago", "muted"))
    lines = [
        Text.assemble(
            deed_text(entry), ("  by ", "muted"), (formats.plain(entry.who, 60).plain, "bold")
        ),
        Text(said(entry, state) or "no words"),
        Text.assemble(("when".ljust(_LABEL), "muted"), when, clock, age),
        Text.assemble(("of".ljust(_LABEL), "muted"), formats.plain(entry.kind, 60).plain or "-"),
        Text.assemble(("entry".ljust(_LABEL), "muted"), f"{entry.number:,}"),
        Text.assemble(("hash".ljust(_LABEL), "muted"), (entry.hash, "muted")),
    ]
    return Text("\n").join(lines)
