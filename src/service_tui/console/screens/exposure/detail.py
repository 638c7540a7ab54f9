"""A group, a market or a holding in full."""

from collections.abc import Iterator, Sequence
from typing import Final

from rich.text import Text

from service_tui.console import formats
from service_tui.console.figures import Figure, labelled, section
from service_tui.console.forms.explain import Explanation
from service_tui.console.own_notes import note_section
from service_tui.console.questions import short_question, side_question
from service_tui.console.screens.exposure.table import change, limit_used
from service_tui.console.view_context import ViewContext
from service_tui.console.widgets.detail_pane import Detail
from service_tui.console.widgets.line_fit import Bit
from service_tui.desk.holdings.rows import (
    ExposureRow,
    GroupRow,
    HeldRow,
    Summary,
    holdings_of,
)
from service_tui.desk.own_notes import day_of
from service_tui.desk.slices.holdings import HoldingsView
from service_tui.desk.slices.own_notes import NoteOn
from service_tui.evaluation.calendar import DueSlot
from service_tui.evaluation.exposure import AgentHolding, Exposure, Opposition
from service_tui.terms import MONEY_OF, counted
from service_tui.units import Micros

_LABEL: Final = 17
SHOWN: Final = 8
"""Holdings that are named; the rest are counted."""


def describe(row: ExposureRow, held: HoldingsView, found: Summary, view: ViewContext) -> Detail:
    """The blocks of the pane."""
    behind = holdings_of(row, held)
    head = Text(formats.plain(row.question).plain, "bold")
    if isinstance(row, HeldRow):
        return Detail(
            head, labelled(tuple(_position(row, view)), _LABEL), _both(behind, found, view)
        )
    body = labelled((*_limited(row, view), *_figures(row.exposure, view)), _LABEL)
    blocks = (*_note(row, view), *_slot(row, view), *_parts(behind, found, view))
    return Detail(head, body, Text("\n\n").join(blocks))


def _figures(one: Exposure, view: ViewContext) -> Iterator[Figure]:
    unit = f", {one.money}"
    yield f"cost{unit}", _right(view.money(one.cost))
    yield "sale value now", _right(view.money(one.value))
    yield "pays at worst", _with_change(one.worst, one, view)
    yield "pays at best", _with_change(one.best, one, view)
    yield "if all end YES", _with_change(one.if_yes, one, view)
    yield "if all end NO", _with_change(one.if_no, one, view)
    yield "YES up 10 pt", _right(view.pnl(one.after_rise))
    yield "YES down 10 pt", _right(view.pnl(one.after_fall))


def _limited(row: GroupRow, view: ViewContext) -> Iterator[Figure]:
    """The limit of the group, and what it does with a further buy."""
    used = limit_used(row)
    if row.limit is not None and used is not None:
        does = "refused" if row.limit.refuses else "warned about"
        part = "" if view.masked else f", {used:.0%} used"
        yield (
            "limit",
            Text.assemble(view.money(row.limit.cost_max), f"{part}; a buy beyond it is {does}"),
        )


def _note(row: GroupRow, view: ViewContext) -> Iterator[Text]:
    """The note on the day of a row of the calendar."""
    if row.slot is not None and row.resolves_at is not None:
        note = note_section(view, NoteOn.DAY, day_of(row.resolves_at))
        if note.plain:
            yield note


def _slot(row: GroupRow, view: ViewContext) -> Iterator[Text]:
    """What else resolves in the same hour or day."""
    slot = row.slot
    if slot is None:
        return
    lines = [
        Text.assemble(
            view.money(one.cost), f" {one.money}  at worst ", view.pnl(change(one.worst, one)),
        )
        for one in slot.totals
    ]  # fmt: skip
    markets = {one.key for one in slot.markets}
    title = f"{_when(slot)}: {counted(len(markets), 'market')}"
    yield section(title, Text("\n").join(lines))


def _when(slot: DueSlot) -> str:
    if slot.is_overdue:
        return "Overdue"
    if slot.begins_at is None:
        return "No end told"
    return "Same hour" if slot.is_hour else "Same day"


def _with_change(paid: Micros, one: Exposure, view: ViewContext) -> Text:
    return Text.assemble(_right(view.money(paid)), "  ", _right(view.pnl(change(paid, one))))


def _right(amount: Text) -> Text:
    """An amount whose decimals stand below those of the others."""
    amount.pad_left(max(0, _AMOUNT - amount.cell_len))
    return amount


_AMOUNT: Final = 10


def _position(row: HeldRow, view: ViewContext) -> Iterator[Figure]:
    yield "agent", formats.plain(row.agent_name, 60)
    yield "what", Text(f"{row.what}, {row.side.value.upper()}")
    yield "shares", view.shares(row.shares)
    yield f"cost, {MONEY_OF[row.venue]}", view.money(row.cost)
    yield "sale value now", view.money(row.value)
    yield "P&L if sold", view.pnl(row.pnl)
    yield "price now", formats.price(row.price)
    yield "stop", _stop(row)
    yield "target", formats.price(row.target)


def _stop(row: HeldRow) -> Text:
    """The price of the stop, and how far the price is above it."""
    if row.to_stop is None:
        return formats.price(row.stop)
    return Text.assemble(formats.price(row.stop), f", {100 * row.to_stop:.1f} pt below the price")


def _parts(behind: Sequence[AgentHolding], found: Summary, view: ViewContext) -> Iterator[Text]:
    lines = Text("\n").join(_holding(one, view) for one in behind[:SHOWN])
    if len(behind) > SHOWN:
        lines.append(f"\nand {len(behind) - SHOWN:,} more", "muted")
    yield section("Largest", lines)
    yield _both(behind, found, view)


def _holding(one: AgentHolding, view: ViewContext) -> Text:
    return Text.assemble(
        view.money(one.cost), f" {MONEY_OF[one.venue]}  ", formats.side(one.side),
        f"  {formats.plain(one.agent_name, 20).plain}: {short_question(one.question)}",
    )  # fmt: skip


def _both(behind: Sequence[AgentHolding], found: Summary, view: ViewContext) -> Text:
    """Who holds both sides of these markets."""
    markets = {one.market_id for one in behind}
    both = [one for one in found.both if one.market_id in markets]
    if not both:
        return Text()
    lines = Text("\n").join(opposed(one, view) for one in both[:SHOWN])
    return section("Both sides held", lines)


def opposed(one: Opposition, view: ViewContext) -> Text:
    """Who holds which side of a market, and that the spread is paid twice."""
    yes, no = (
        ", ".join(formats.plain(name, 20).plain for name, _ in owners)
        for owners in (one.yes, one.no)
    )
    return Text.assemble(
        (short_question(one.question), "bold"), f": {yes} YES, {no} NO; ",
        view.shares(one.paired), " of each cancel out, the spread is paid twice",
    )  # fmt: skip


def sums(shown: Summary, whole: Summary, view: ViewContext) -> tuple[Bit, ...]:
    """What the rows shown come to, and what is lost of it if everything resolves against it.

    Args:
        shown: of the marked rows, or of those that a search leaves.
        whole: of all that is held.
        view: how amounts are written.
    """
    soon = {one.money: one for one in shown.soon}
    every = {one.money: one.count for one in whole.all}
    bits: list[Bit] = []
    for place, one in enumerate(shown.all):
        near = soon.get(one.money)
        of = "" if one.count == every.get(one.money) else f" of {every.get(one.money, 0):,}"
        against = view.pnl(change(one.worst, one))
        bits.append(Bit(Text.assemble((f"{one.count:,}{of} in {one.money}", "bold")), place))
        bits.append(Bit(Text.assemble(("if all lose ", "muted"), against), place))
        if near is not None:
            within = view.pnl(change(near.worst, near))
            text, short = (
                Text.assemble((words, "muted"), within) for words in ("of it within 24 h ", "24 h ")
            )
            bits.append(Bit(text, 20 + place, short=short, short_rank=10 + place))
        value = Text.assemble(("sale value ", "muted"), view.money(one.value))
        bits.append(Bit(value, 30 + place))
    return tuple(bits)


def explain_exposure(row: ExposureRow | None, view: ViewContext) -> tuple[Explanation, ...]:
    """What the figures of a row are made of."""
    if row is None or isinstance(row, HeldRow):
        return ()
    one = row.exposure
    source = "positions of all agents, as the service tells them; each sold by itself"
    return (
        Explanation(
            "at worst",
            view.pnl(change(one.worst, one)),
            "paid if every market ends against what is held of it - sale value now; "
            "each market is taken to end by itself, so that nothing worse can come",
            (("paid at worst", view.money(one.worst)), ("sale value", view.money(one.value))),
            source,
            Text(),
        ),
        Explanation(
            "all YES, all NO",
            Text.assemble(
                view.pnl(change(one.if_yes, one)), ", ", view.pnl(change(one.if_no, one))
            ),
            "shares of that side, each of which pays 1 - sale value now",
            (("YES shares", view.shares(one.if_yes)), ("NO shares", view.shares(one.if_no))),
            source,
            Text(),
        ),
        Explanation(
            "YES up or down 10 pt",
            Text.assemble(view.pnl(one.after_rise), ", ", view.pnl(one.after_fall)),
            "change of the marks if each price of YES moves so far, within 0 and 1",
            (),
            source,
            Text(),
        ),
    )


def title_of(row: ExposureRow) -> str:
    """The name of a row."""
    return side_question(row.side, row.question) if isinstance(row, HeldRow) else row.question
