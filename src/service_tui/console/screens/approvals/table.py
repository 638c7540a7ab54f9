"""The table of trades that need approval."""

from typing import Final

from rich.text import Text

from service_tui.console import formats
from service_tui.console.freshness import is_answered, of_wall
from service_tui.console.signs import edge_now, signal_number
from service_tui.console.table_spec import (
    TableSpec,
    figure_column,
    market_column,
    price_column,
    word_column,
)
from service_tui.console.view_context import ViewContext
from service_tui.console.widgets.columns import Column
from service_tui.console.widgets.spark import sparkline
from service_tui.desk.slices.supervision import PendingTradeView
from service_tui.desk.slices.topics import Topic
from service_tui.desk.state import DeskState
from service_tui.folding import folded
from service_tui.terms import MONEY_OF, Action
from service_tui.units import decimal

URGENT_S: Final = 60.0
"""With less time left the figure changes its tone."""

_SPARK_CELLS: Final = 8


def _edge(trade: PendingTradeView) -> float | None:
    """The edge now, else the one that the agent sent with the trade."""
    now = edge_now(trade)
    return signal_number(trade, "edge") if now is None else now


def size_text(trade: PendingTradeView, view: ViewContext) -> Text:
    """Money of a buy, shares of a sale."""
    if trade.action is Action.BUY:
        return Text.assemble(view.money(trade.amount), (f" {MONEY_OF[trade.venue]}", "muted"))
    return Text.assemble(view.shares(trade.shares), (" sh", "muted"))


def order_text(trade: PendingTradeView) -> Text:
    """What is to be done, with the side in its colour."""
    side = trade.side.value
    return Text.assemble((f"{trade.action.value.upper()} ", "bold"), (side.upper(), f"bold {side}"))


def spark_text(trade: PendingTradeView, view: ViewContext) -> Text:
    """The market's price over 24 hours; blank while it is not known."""
    market = view.state.markets.get(trade.market_id)
    values = () if market is None else market.sparkline
    return Text(sparkline(values, _SPARK_CELLS), "flat")


def _size(trade: PendingTradeView) -> float:
    return decimal(trade.amount if trade.action is Action.BUY else trade.shares)


def _left_text(trade: PendingTradeView, view: ViewContext) -> Text:
    left = trade.left_s(view.now)
    return Text(formats.duration_short(left), "breach" if left < URGENT_S else "warn")


def _confidence_text(value: float | None) -> Text:
    return formats.percent(value, 0)


def _search_text(trade: PendingTradeView, _: ViewContext) -> str:
    words = (
        trade.agent_name, trade.question, trade.action.value, trade.side.value,
        trade.venue.value, trade.skill_slug, trade.source,
    )  # fmt: skip
    return folded(" ".join(words))


def is_known(state: DeskState) -> bool:
    """True once the service has said which trades wait; another service reports none."""
    return not state.service.embedded or is_answered(state, Topic.FLEET)


def _empty_text(state: DeskState) -> str:
    if not is_known(state):
        return "Approvals not loaded yet."
    decided = state.supervision.decided
    if not decided:
        return "No approvals pending.\n\nTrades of agents on leash `ask` appear here."
    lines = [
        f"{formats.clock_time(one.decided_at).plain}  {one.status.value}  "
        f"{formats.plain(one.agent_name, 20).plain}: {one.action.value} {one.side.value.upper()} "
        f"{formats.plain(one.question, 60).plain}"
        for one in decided[:5]
    ]
    return "\n".join(("No approvals pending.", "", f"Last decisions{of_wall(state)}:", *lines))


APPROVALS: Final = TableSpec[PendingTradeView](
    "approvals",
    rows=lambda state: state.supervision.pending_trades,
    key=lambda trade: trade.pending_id,
    columns=(
        word_column("agent", "agent", 14, lambda trade: trade.agent_name, wide=(110, 17)),
        market_column("question", "market", 16),
        Column(
            "order",
            "order",
            8,
            lambda trade, _: order_text(trade),
            sort_key=lambda trade, _: f"{trade.action.value} {trade.side.value}",
        ),
        Column(
            "size",
            "size",
            13,
            size_text,
            sort_key=lambda trade, _: _size(trade),
            numeric=True,
            fits=True,
        ),
        price_column("price", "price", 6, lambda trade: trade.price),
        price_column("limit", "limit", 6, lambda trade: trade.price_limit, tier=120),
        figure_column("edge", "edge", 6, _edge, formats.points, tier=60),
        figure_column(
            "confidence",
            "conf",
            5,
            lambda trade: signal_number(trade, "confidence"),
            _confidence_text,
            tier=90,
        ),
        Column("spark", "24 h", _SPARK_CELLS, spark_text, tier=150, glows=False),
        word_column("skill", "skill", 14, lambda trade: trade.skill_slug, tier=180),
        Column(
            "left",
            "left",
            6,
            _left_text,
            sort_key=lambda trade, _: trade.expires_at,
            align="right",
            glows=False,
        ),
    ),
    search_text=_search_text,
    empty_text=_empty_text,
    sort="left",
    compared={
        "size": lambda trade, _: _size(trade),
        "price": lambda trade, _: trade.price,
        "edge": lambda trade, _: _edge(trade),
        "confidence": lambda trade, _: signal_number(trade, "confidence"),
        "left": lambda trade, view: trade.left_s(view.now),
    },
    is_loaded=is_known,
)
