"""The tables of the exposure screen: groups, calendar, and all positions."""

from collections.abc import Callable
from typing import Final, TypeVar

from rich.text import Text

from service_tui.console import formats
from service_tui.console.freshness import awaited
from service_tui.console.own_notes import sign_of
from service_tui.console.table_spec import (
    TableSpec,
    amount_column,
    market_column,
    price_column,
    side_column,
    venue_market_column,
    word_column,
)
from service_tui.console.view_context import ViewContext
from service_tui.console.widgets.columns import Column
from service_tui.desk.holdings.rows import GroupRow, HeldRow, due_rows, group_rows, held_rows
from service_tui.desk.own_notes import day_of
from service_tui.desk.slices.holdings import HoldingsView
from service_tui.desk.slices.own_notes import NoteOn
from service_tui.desk.slices.rows import LastMade
from service_tui.desk.state import DeskState
from service_tui.evaluation.exposure import Exposure
from service_tui.folding import folded
from service_tui.units import Micros, Timestamp

Row = TypeVar("Row")


def _once(
    make: Callable[[HoldingsView], tuple[Row, ...]],
) -> Callable[[DeskState], tuple[Row, ...]]:
    """The rows of a state, made once of the same holdings; none until these are known."""
    last = LastMade[tuple[Row, ...]]()

    def rows(state: DeskState) -> tuple[Row, ...]:
        held = state.holdings
        return () if held is None else last.of((held,), lambda: make(held))

    return rows


def _by_agent(held: HoldingsView) -> tuple[HeldRow, ...]:
    rows = held_rows(held)
    return tuple(sorted(rows, key=lambda row: (row.agent_name, row.what, row.question)))


def _left(at: Timestamp | None, now: Timestamp) -> Text:
    if at is None:
        return Text(formats.NOT_KNOWN, "muted")
    return Text(formats.duration_short(at - now)) if at > now else Text("due", "warn")


def _left_column(name: str, title: str, *, tier: int = 0) -> Column[GroupRow | HeldRow]:
    """The time until its market resolves, by the clock of the world."""
    return Column(
        name,
        title,
        6,
        lambda row, view: _left(row.resolves_at, view.world_now),
        sort_key=lambda row, _: row.resolves_at,
        align="right",
        glows=False,
        tier=tier,
    )


def _is_loaded(state: DeskState) -> bool:
    return state.holdings is not None


def _empty_text(state: DeskState) -> str:
    if state.holdings is None:
        if not state.service.embedded:
            return "This service does not tell what other agents hold."
        return awaited(state, "Loading what all agents hold.")
    return "Nobody holds anything.\n\nPositions and open orders of every agent are listed here."


def change(amount: Micros | None, exposure: Exposure) -> Micros | None:
    """How far an amount lies from what selling now would bring."""
    if amount is None or exposure.value is None:
        return None
    return Micros(amount - exposure.value)


def _money(
    title: str, name: str, amount: Callable[[Row], Micros | None], *, tier: int = 0
) -> Column[Row]:
    return amount_column(name, title, 11, amount, formats.money, tier=tier)


def _pnl(
    title: str, name: str, amount: Callable[[Row], Micros | None], *, tier: int = 0
) -> Column[Row]:
    return amount_column(name, title, 11, amount, formats.pnl, tier=tier)


_OUTCOMES: Final[tuple[Column[GroupRow], ...]] = (
    _pnl("at worst", "worst", lambda row: change(row.exposure.worst, row.exposure)),
    _pnl("at best", "best", lambda row: change(row.exposure.best, row.exposure), tier=90),
    _pnl("all YES", "yes", lambda row: change(row.exposure.if_yes, row.exposure), tier=104),
    _pnl("all NO", "no", lambda row: change(row.exposure.if_no, row.exposure), tier=104),
)
"""What is won or lost, of what selling now would bring."""


def _limit(row: GroupRow, view: ViewContext) -> Text:
    """The limit of the group; red once it is reached, with ! where it only warns."""
    if row.limit is None:
        return Text()
    text = formats.money(row.limit.cost_max, masked=view.masked)
    if not row.limit.refuses:
        text.append("!")
    if row.exposure.cost >= row.limit.cost_max and not view.masked:
        text.stylize("loss")
    return text


EXPOSURE: Final = TableSpec[GroupRow](
    "exposure",
    rows=_once(group_rows),
    key=lambda row: row.key,
    columns=(
        Column[GroupRow](
            "name",
            "group",
            14,
            lambda row, _: formats.plain(row.exposure.name),
            sort_key=lambda row, _: row.exposure.name,
            flex=True,
            keeps_end=True,
            of_row=True,
        ),
        Column[GroupRow](
            "held",
            "held",
            5,
            lambda row, _: formats.count(row.exposure.count),
            sort_key=lambda row, _: row.exposure.count,
            numeric=True,
            tier=76,
        ),
        _money("cost", "cost", lambda row: row.exposure.cost),
        _money("sale value", "value", lambda row: row.exposure.value),
        *_OUTCOMES,
        _pnl("YES +10 pt", "rise", lambda row: row.exposure.after_rise, tier=128),
        _pnl("YES -10 pt", "fall", lambda row: row.exposure.after_fall, tier=128),
        Column("limit", "limit", 9, _limit, numeric=True, tier=84, of_row=True),
        word_column("money", "money", 6, lambda row: row.exposure.money),
    ),
    search_text=lambda row, _: folded(row.question),
    empty_text=_empty_text,
    is_loaded=_is_loaded,
)


def when(row: GroupRow) -> Text:
    """When it resolves, by the clock of the world."""
    if row.slot is not None and row.slot.is_overdue:
        return Text("overdue", "warn")
    if row.resolves_at is None:
        return Text("no end told", "muted")
    return formats.date_time(row.resolves_at)


def _when(row: GroupRow, view: ViewContext) -> Text:
    if row.resolves_at is None:
        return when(row)
    return Text.assemble(when(row), sign_of(view, NoteOn.DAY, day_of(row.resolves_at)))


CALENDAR: Final = TableSpec[GroupRow](
    "calendar",
    rows=_once(due_rows),
    key=lambda row: row.key,
    columns=(
        Column[GroupRow](
            "when",
            "resolves",
            13,
            _when,
            sort_key=lambda row, _: row.resolves_at,
            glows=False,
        ),
        _left_column("in", "in"),
        market_column(),
        _money("pays if YES", "pays_yes", lambda row: row.exposure.if_yes),
        _money("pays if NO", "pays_no", lambda row: row.exposure.if_no),
        _money("cost", "cost", lambda row: row.exposure.cost, tier=90),
        _money("sale value", "value", lambda row: row.exposure.value, tier=104),
        _pnl("at worst", "worst", lambda row: change(row.exposure.worst, row.exposure), tier=80),
        word_column("money", "money", 6, lambda row: row.exposure.money),
    ),
    search_text=lambda row, _: folded(row.question),
    empty_text=_empty_text,
    is_loaded=_is_loaded,
)

HELD: Final = TableSpec[HeldRow](
    "held",
    rows=_once(_by_agent),
    key=lambda row: row.key,
    columns=(
        word_column("agent", "agent", 14, lambda row: row.agent_name),
        word_column("what", "what", 9, lambda row: row.what, tier=90),
        side_column(),
        venue_market_column(),
        amount_column("shares", "shares", 9, lambda row: row.shares, formats.shares),
        _money("cost", "cost", lambda row: row.cost, tier=104),
        _money("sale value", "value", lambda row: row.value),
        _pnl("P&L if sold", "pnl", lambda row: row.pnl, tier=76),
        price_column("price", "price", 6, lambda row: row.price, tier=112),
        price_column("stop", "stop", 6, lambda row: row.stop, tier=96),
        price_column("target", "target", 6, lambda row: row.target, tier=124),
        _left_column("ends", "ends in", tier=118),
    ),
    search_text=lambda row, _: folded(f"{row.question}\n{row.agent_name}\n{row.what}"),
    empty_text=_empty_text,
    is_loaded=_is_loaded,
)

TABLES: Final = (EXPOSURE, CALENDAR, HELD)
