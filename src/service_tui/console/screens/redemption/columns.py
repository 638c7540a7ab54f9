"""The columns of the redemption queue."""

from collections.abc import Callable

from rich.text import Text

from service_tui.console import formats
from service_tui.console.freshness import is_private, world_now
from service_tui.console.parts.standard_columns import amount_column, side_column
from service_tui.console.redemption_words import next_text, order_of, stage_text
from service_tui.console.widgets.columns import Column
from service_tui.desk.slices.redemption import RedemptionRow, Stage
from service_tui.desk.state import DeskState
from service_tui.terms import Venue
from service_tui.units import Micros, Timestamp


def redemption_columns(
    state: Callable[[], DeskState], now: Callable[[], Timestamp]
) -> tuple[Column[RedemptionRow], ...]:
    """The columns, from left to right; `now` is wall time."""

    def masked() -> bool:
        return is_private(state())

    return (
        Column[RedemptionRow](
            "state",
            "state",
            21,
            lambda row: stage_text(row, state().redemption.run(row.key)),
            sort_key=order_of,
        ),
        Column[RedemptionRow](
            "market",
            "market",
            14,
            lambda row: formats.plain(row.question),
            sort_key=lambda row: row.question.casefold(),
            flex=True,
        ),
        side_column(),
        amount_column("amount", "pays", 9, lambda row: row.amount, formats.money, masked),
        Column[RedemptionRow](
            "money",
            "money",
            6,
            lambda row: Text(row.money, "live"),
            sort_key=lambda row: row.money,
            tier=72,
        ),
        Column[RedemptionRow](
            "age",
            "age",
            4,
            lambda row: _age(row, state(), now()),
            sort_key=lambda row: row.since,
            align="right",
            glows=False,
        ),
        Column[RedemptionRow](
            "next",
            "next",
            22,
            lambda row: next_text(row, state().redemption),
            flex=True,
            glows=False,
            tier=100,
        ),
        Column[RedemptionRow](
            "venue",
            "venue",
            9,
            lambda row: Text(row.venue.value, "muted" if row.venue is Venue.SIM else "accent"),
            sort_key=lambda row: row.venue.value,
            tier=118,
        ),
        Column[RedemptionRow](
            "pnl",
            "made",
            9,
            lambda row: formats.pnl(_made(row), masked=masked()),
            sort_key=_made,
            numeric=True,
            tier=140,
        ),
    )


def _age(row: RedemptionRow, state: DeskState, now: Timestamp) -> Text:
    """How long it stands so: a question ends by the world's time, money comes by ours."""
    is_ours = row.stage is Stage.REDEEMED
    return formats.age(row.since, now if is_ours else world_now(state, now))


def _made(row: RedemptionRow) -> Micros | None:
    if row.stage in {Stage.ACTIVE, Stage.AWAITING} or (
        row.stage is Stage.REDEEMED and not row.amount
    ):
        return None
    return Micros(row.amount - row.cost)
