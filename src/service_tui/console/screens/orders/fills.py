"""The table of fills: of all agents and consoles, of every venue, newest first."""

from collections import Counter
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Final

from rich.text import Text

from service_tui.console import formats
from service_tui.console.figures import Figure, figures
from service_tui.console.forms.explain import Explanation
from service_tui.console.freshness import is_answered, not_loaded_text, on_wall
from service_tui.console.keys import with_keys
from service_tui.console.own_notes import note_text, sign_of
from service_tui.console.table_spec import (
    TableSpec,
    amount_column,
    market_column,
    price_column,
    side_column,
    venue_mark,
    word_column,
)
from service_tui.console.view_context import ViewContext
from service_tui.console.widgets.columns import Column
from service_tui.console.widgets.line_fit import Bit
from service_tui.console.widgets.sums_bar import sums_bit
from service_tui.desk.all_fills import all_fills
from service_tui.desk.slices.agents import FillView
from service_tui.desk.slices.own_notes import NoteOn
from service_tui.desk.slices.risk import BY_MONITOR, exit_cause, seller
from service_tui.desk.slices.topics import Topic
from service_tui.desk.state import DeskState
from service_tui.folding import folded
from service_tui.terms import MONEY_OF, Action, TradeStatus, Venue, agent_with
from service_tui.units import Micros, decimal, sum_of

_NONE: Final = (
    "No fills yet.\n\nFills of every agent and console appear here.\n"
    "Markets ({app.markets}): {markets.buy} opens the order ticket."
)


# -- cells --------------------------------------------------------------------------------------


def _time_text(fill: FillView, view: ViewContext) -> Text:
    """The time of day; the day for fills of another one."""
    then = datetime.fromtimestamp(fill.at, UTC).astimezone()
    today = datetime.fromtimestamp(view.now, UTC).astimezone()
    sign = sign_of(view, NoteOn.TRADE, fill.trade_id)
    if then.date() == today.date():
        return Text.assemble(sign, formats.clock_time(fill.at))
    day = Text(f"{then:%d %b}" if then.year == today.year else f"{then:%Y}", "muted")
    return Text.assemble(sign, day)


def _pnl_text(fill: FillView, view: ViewContext) -> Text:
    return Text() if fill.action is Action.BUY else view.pnl(fill.realized)


def _state_text(fill: FillView, view: ViewContext) -> Text:
    """Whether the rest of its order still works on the book; a dash where that is unknown."""
    state = view.state
    if fill.venue is Venue.SIM:
        # Nothing rests there.
        return Text("✓ filled", "profit")
    if any(order.trade_id == fill.trade_id for order in state.orders):
        return Text("◐ partial", "warn")
    # The open orders are those of the own agent alone.
    is_own = state.account is not None and state.account.agent_id == fill.agent_id
    is_read = is_answered(state, Topic.ORDERS) and not state.service.dropped.get(Topic.ORDERS)
    if not (is_own and is_read):
        return Text(formats.NOT_KNOWN, "muted")
    found = next((one for one in state.trades if one.trade_id == fill.trade_id), None)
    if found is not None and found.status is TradeStatus.PARTIALLY_FILLED:
        return Text("◐ partial", "warn")
    return Text("✓ filled", "profit")


def source_text(source: str) -> str:
    """What caused a fill: an exit by its cause, another trade by the name that its trader gave."""
    cause = exit_cause(source)
    if not cause:
        return source
    return f"exit, {cause}, by {seller(by_service=source.startswith(BY_MONITOR))}"


def _venue_text(fill: FillView) -> Text:
    if fill.venue is Venue.SIM:
        return Text(Venue.SIM.value, "muted")
    return Text(venue_mark(fill.venue), "live")


# -- rows ---------------------------------------------------------------------------------------


def _search_text(fill: FillView, _: ViewContext) -> str:
    parts = (
        fill.question,
        fill.agent_name,
        fill.by,
        fill.source,
        fill.action.value,
        fill.side.value,
        f"{fill.venue.value} {MONEY_OF[fill.venue]}",
        fill.trade_id,
    )
    return folded("\n".join(parts))


def _empty_text(state: DeskState) -> str:
    is_read = is_answered(state, Topic.TRADES) or bool(state.fills)
    return with_keys(_NONE) if is_read else not_loaded_text("fills")


FILLS: Final = TableSpec[FillView](
    "fills",
    rows=all_fills,
    key=lambda fill: fill.key,
    columns=(
        Column(
            "time",
            "wall time",
            9,
            _time_text,
            sort_key=lambda fill, _: fill.at,
            numeric=True,
            glows=False,
        ),
        market_column(width=18),
        Column(
            "action",
            "action",
            6,
            lambda fill, _: Text(fill.action.value),
            sort_key=lambda fill, _: fill.action.value,
        ),
        side_column(),
        amount_column("shares", "shares", 9, lambda fill: fill.shares, formats.shares),
        price_column("price", "price", 6, lambda fill: fill.price),
        amount_column("money", "amount", 9, lambda fill: fill.money, formats.money, tier=110),
        amount_column("fee", "fee", 6, lambda fill: fill.fee, formats.money, tier=158),
        Column(
            "pnl",
            "P&L",
            9,
            _pnl_text,
            sort_key=lambda fill, _: None if fill.action is Action.BUY else fill.realized,
            numeric=True,
            tier=96,
        ),
        word_column("agent", "agent", 12, lambda fill: fill.agent_name, tier=78, wide=(110, 17)),
        word_column("skill", "skill", 12, lambda fill: fill.by, tier=159),
        Column(
            "venue",
            "venue",
            5,
            lambda fill, _: _venue_text(fill),
            sort_key=lambda fill, _: fill.venue.value,
            tier=116,
        ),
        Column("state", "state", 9, _state_text, tier=157),
    ),
    search_text=_search_text,
    newest_on_top=True,
    empty_text=_empty_text,
    sort="time",
    falling=True,
    # Shares, a price, money, money, seconds.
    compared={
        "shares": lambda fill, _: decimal(fill.shares),
        "price": lambda fill, _: fill.price,
        "money": lambda fill, _: decimal(fill.money),
        "pnl": lambda fill, _: decimal(fill.realized),
        "age": lambda fill, view: view.now - fill.at,
    },
)


def totals(fills: Iterable[FillView], view: ViewContext) -> tuple[Bit, ...]:
    """Sums of the fills listed, for each currency by itself."""
    listed = tuple(fills)
    counts = Counter(MONEY_OF[fill.venue] for fill in listed)
    bits: list[Bit] = []
    for currency, count in counts.most_common():
        own = [fill for fill in listed if MONEY_OF[fill.venue] == currency]
        sums = (
            ("bought", view.money(_sum(own, Action.BUY))),
            ("sold", view.money(_sum(own, Action.SELL))),
            ("fees", view.money(_fees(own))),
            ("sales P&L", view.pnl(_realized(own))),
        )
        bits.append(sums_bit(f"{count:,} in {currency}", sums, ahead=len(bits)))
    return tuple(bits)


def _sum(fills: Iterable[FillView], action: Action) -> Micros:
    return sum_of(fill.money for fill in fills if fill.action is action)


def _realized(fills: Iterable[FillView]) -> Micros:
    return sum_of(fill.realized for fill in fills if fill.action is Action.SELL)


def _fees(fills: Iterable[FillView]) -> Micros | None:
    """The fees of all, unknown while one of them is."""
    fees = [fill.fee for fill in fills]
    known = [fee for fee in fees if fee is not None]
    return sum_of(known) if len(known) == len(fees) else None


# -- one fill -----------------------------------------------------------------------------------


def describe_fill(fill: FillView, view: ViewContext) -> Text:
    """One fill in full."""
    side = "yes" if fill.side.value == "yes" else "no"
    head = Text.assemble(
        (f"{fill.action.value.upper()} ", "bold"),
        (f"{fill.side.value.upper()}  ", f"bold {side}"),
        _state_text(fill, view),
    )
    currency = MONEY_OF[fill.venue]
    money = "cost" if fill.action is Action.BUY else "proceeds"
    rows: tuple[Figure, ...] = (
        ("shares", view.shares(fill.shares)),
        ("average price", formats.price(fill.price)),
        (f"{money}, {currency}", view.money(fill.money)),
        (f"fee, {currency}", view.money(fill.fee)),
        *(() if fill.action is Action.BUY else ((f"P&L, {currency}", view.pnl(fill.realized)),)),
        ("price after", formats.price(fill.price_after)),
    )
    by = agent_with(fill.agent_name, fill.skill)
    width = min(view.width, _FIGURES_MAX)
    note = note_text(view, NoteOn.TRADE, fill.trade_id)
    lines = (
        ("filled", Text.assemble(formats.moment_of(fill.at, view.now), "  ", _ago(fill, view))),
        ("agent", formats.plain(by)),
        *((("source", formats.plain(source_text(fill.source))),) if fill.source else ()),
        ("venue", Text(fill.venue.value, "" if fill.venue is Venue.SIM else "live")),
        ("reference", formats.plain(fill.trade_id)),
    )
    return Text("\n").join([
        head,
        formats.plain(fill.question),
        *((Text.assemble(("own note".ljust(_LABEL), "muted"), note),) if note.plain else ()),
        figures(rows, across=2 if width >= _TWO_ACROSS else 1, width=width),
        *(Text.assemble((label.ljust(_LABEL), "muted"), value) for label, value in lines),
    ])


_TWO_ACROSS: Final = 60
_FIGURES_MAX: Final = 76
_LABEL: Final = 11
"""Cells from which figures stand in two columns, and that they take at most; cells of a label."""


def _ago(fill: FillView, view: ViewContext) -> Text:
    return Text.assemble(formats.age(fill.at, view.now), " ago", style="muted")


def explain_fill(fill: FillView, view: ViewContext) -> tuple[Explanation, ...]:
    """The average price of a fill, and the P&L of a sale."""
    age = formats.age(fill.at, view.now)
    source = f"fill {fill.trade_id}, service data"
    inputs = (
        ("amount", view.money(fill.money)),
        ("shares", view.shares(fill.shares)),
        (f"filled{on_wall(view.state)}", formats.moment_of(fill.at, view.now)),
    )
    price = Explanation("price", formats.price(fill.price), "amount / shares", inputs, source, age)
    if fill.action is Action.BUY:
        return (price,)
    cost = Micros(fill.money - fill.realized)
    sold = (("proceeds", view.money(fill.money)), ("average cost", view.money(cost)))
    pnl = Explanation("P&L", view.pnl(fill.realized), "proceeds - average cost", sold, source, age)
    return (price, pnl)
