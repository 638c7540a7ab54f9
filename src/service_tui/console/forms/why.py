"""Trade history: the links from the signal to the exit, each with its time and its figures."""

import textwrap
from typing import Final, Protocol

from rich.text import Text

from service_tui.console import formats
from service_tui.console.forms.page import Page
from service_tui.console.keys import cap
from service_tui.console.reasons import without_amounts
from service_tui.desk.audit.why import LabelledValue, Link, TradeHistory, Unit
from service_tui.units import Micros, Timestamp

_NAME: Final = 12
_GAP: Final = "   "
_TEXT_MAX: Final = 600
WIDTH: Final = 66
"""Cells of a line of figures; the dialog is as wide on the narrowest terminal."""


class _Written(Protocol):
    """A format of an amount."""

    def __call__(self, amount: Micros | None, *, masked: bool) -> Text:
        """The amount, hidden if `masked`."""
        ...


_AMOUNTS: Final[dict[Unit, _Written]] = {
    Unit.MONEY: formats.money,
    Unit.SHARES: formats.shares,
    Unit.PNL: formats.pnl,
}


class Why(Page):
    """One trade history; scrolls."""

    def __init__(
        self, chain: TradeHistory, now: Timestamp, *, masked: bool, clock: str = ""
    ) -> None:
        closes = f"{cap('dialog.close')} closes, j and k scroll"
        super().__init__("Why this trade", closes, now, clock)
        self._chain = chain
        self._now = now
        self._masked = masked

    def text(self) -> Text:
        """The history."""
        return chain_text(self._chain, self._now, masked=self._masked)


def chain_text(chain: TradeHistory, now: Timestamp, *, masked: bool) -> Text:
    """Its title, then the links under one another, a line of the same colour beside them."""
    title = without_amounts(formats.plain(chain.title, _TEXT_MAX).plain, masked=masked)
    lines = [Text(title, "bold"), Text()]
    last = len(chain.links) - 1
    for place, link in enumerate(chain.links):
        rail = "│ " if place < last else "  "
        lines.append(_head(link, now))
        lines += [Text.assemble((rail, "faint"), row) for row in _rows(link, masked=masked)]
    return Text("\n").join(lines)


def _head(link: Link, now: Timestamp) -> Text:
    """The name of a link with its time, or that it is unknown."""
    sign, tone = ("○ ", "muted") if link.missing else ("● ", "accent")
    name = Text.assemble(
        (sign, tone), (link.name.ljust(_NAME), "bold" if not link.missing else "muted")
    )
    if link.at is not None:
        name.append_text(formats.date_time(link.at))
        name.append_text(Text.assemble("  ", formats.age(link.at, now), (" ago", "muted")))
    elif not link.missing:
        name.append(link.when, "muted")
    return name


def _rows(link: Link, *, masked: bool) -> list[Text]:
    """The figures in lines of at most `WIDTH` cells."""
    if link.missing:
        return [Text(link.missing, "muted")]
    rows: list[Text] = [Text()]
    pieces = [_piece(shown, masked=masked) for shown in link.values]
    for piece in (line for whole in pieces for line in _wrapped(whole)):
        if rows[-1].plain and rows[-1].cell_len + len(_GAP) + piece.cell_len > WIDTH:
            rows.append(Text())
        if rows[-1].plain:
            rows[-1].append(_GAP)
        rows[-1].append_text(piece)
    return rows


def _wrapped(piece: Text) -> list[Text]:
    """A piece split into several lines if it is too long for one."""
    if piece.cell_len <= WIDTH:
        return [piece]
    return [Text(line) for line in textwrap.wrap(piece.plain, WIDTH)]


def _piece(labelled: LabelledValue, *, masked: bool) -> Text:
    label = (f"{labelled.label} ", "muted") if labelled.label else ""
    return Text.assemble(label, _value(labelled, masked=masked))


def _value(labelled: LabelledValue, *, masked: bool) -> Text:
    value = labelled.value
    if isinstance(value, str):
        return Text(without_amounts(formats.plain(value, _TEXT_MAX).plain, masked=masked))
    if labelled.unit in _AMOUNTS:
        return _AMOUNTS[labelled.unit](Micros(round(value)), masked=masked)
    return formats.points(value) if labelled.unit is Unit.POINTS else formats.price(value)
