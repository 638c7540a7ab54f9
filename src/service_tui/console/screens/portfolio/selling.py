"""Sells several positions at once: the sales, those left out, and the confirmation."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Final

from rich.text import Text

from service_tui.console import formats
from service_tui.console.forms.confirm import Question
from service_tui.console.money_kind import money_kind
from service_tui.console.questions import short_question
from service_tui.console.reasons import reason_text
from service_tui.console.view_context import ViewContext
from service_tui.desk.commands.trading import PlaceTrade
from service_tui.desk.slices.orders import kept_by_sales
from service_tui.desk.slices.positions import PositionView
from service_tui.desk.trading.preflight import is_simulated, preflight
from service_tui.terms import Action, Venue, counted
from service_tui.units import Micros

SALES_MAX: Final = 50
# ours: the desk's inbox holds 64 commands; so many sales leave room for a halt and its exits.

_REAL: Final = "real money, sell each by its ticket"
_IN_ORDERS: Final = "all shares in open orders"
_TOO_MANY: Final = f"beyond {SALES_MAX} at once"

_NAME_CELLS: Final = 56


@dataclass(frozen=True)
class Sales:
    """The orders that one answer sends, each with its position, and why others are left out."""

    able: tuple[tuple[PositionView, PlaceTrade], ...]
    left_out: str = ""


def sales_of(positions: Iterable[PositionView], view: ViewContext) -> Sales:
    """The sales of positions, each whole but for what its open orders sell already."""
    able: list[tuple[PositionView, PlaceTrade]] = []
    reasons: list[str] = []
    for position in positions:
        order = _sale_of(position, view)
        why = _against(order, view)
        if not why and len(able) >= SALES_MAX:
            why = _TOO_MANY
        if why:
            reasons.append(why)
        else:
            able.append((position, order))
    counts = Counter(reasons).items()
    return Sales(tuple(able), "; ".join(f"{count} {why}" for why, count in counts))


def _sale_of(position: PositionView, view: ViewContext) -> PlaceTrade:
    kept = kept_by_sales(view.state.orders, position.key)
    return PlaceTrade(
        position.market_id,
        position.side,
        Action.SELL,
        position.venue,
        shares=Micros(max(0, position.shares - kept)),
        question=position.question,
        everything=not kept,
    )


def _against(order: PlaceTrade, view: ViewContext) -> str:
    """Why an order is not sent with the others; empty if it is."""
    if order.venue is not Venue.SIM and not is_simulated(view.state):
        # ours: real money is confirmed one order at a time, with its price bound on the ticket.
        return _REAL
    if not order.shares:
        return _IN_ORDERS
    why = preflight(view.state, confirmed(order), view.now)
    return "" if why is None else reason_text(why, masked=view.masked)


def confirmed(order: PlaceTrade) -> PlaceTrade:
    """The order as a person's answer to the question sends it."""
    return replace(order, confirmed=order.venue is not Venue.SIM)


def sales_question(sales: Sales, view: ViewContext) -> tuple[Question, tuple[Text, ...]]:
    """The question before the sales, and a line for each of them."""
    unknown = sum(position.exit_value is None for position, _ in sales.able)
    body = Text.assemble(
        f"Sells {counted(len(sales.able), 'position')} at market, no price limit, one order "
        "each. Sale value now about ",
        _sums([position for position, _ in sales.able], view),
        f", plus {unknown} of unknown sale value" if unknown else "",
        ". Each sale moves its price. This cannot be undone.",
    )
    if sales.left_out:
        body.append(f"\nNOT sold: {sales.left_out}", "warn")
    body.append("\n")
    lines = tuple(_line(position, order, view) for position, order in sales.able)
    return Question("Sell the marked positions?", body, "sell all"), lines


def _sums(positions: Iterable[PositionView], view: ViewContext) -> Text:
    """The sale value by venue, each with the kind of its money; two are never added."""
    sums: dict[Venue, int] = {}
    for position in positions:
        sums[position.venue] = sums.get(position.venue, 0) + int(position.exit_value or 0)
    texts = (
        Text.assemble(
            view.money(Micros(total)),
            f" {formats.unit(venue)} ",
            (f"({money_kind(view.state, venue)})", "muted"),
        )
        for venue, total in sums.items()
    )
    return Text(" and ").join(texts)


def _line(position: PositionView, order: PlaceTrade, view: ViewContext) -> Text:
    whole = "all " if order.everything else ""
    return Text.assemble(
        formats.side(position.side),
        f" {formats.plain(short_question(position.question), _NAME_CELLS).plain}\n",
        (f"    {whole}", "muted"),
        view.shares(order.shares),
        (" shares for about ", "muted"),
        view.money(position.exit_value if order.everything else None),
        (f" {formats.unit(position.venue)}, {position.venue.value}", "muted"),
    )
