"""The columns of the redemption queue.

Knows the desk's records and the formats. Must not know a widget but the table's columns.
Used by the redemption screen.
"""

from collections.abc import Callable
from typing import Final

from rich.text import Text

from service_tui.console import formats
from service_tui.console.freshness import is_private
from service_tui.console.widgets.columns import Column
from service_tui.desk.records_redemption import (
    RedemptionRow,
    RedemptionView,
    RunState,
    RunView,
    Stage,
)
from service_tui.desk.state import DeskState
from service_tui.terms import Side, Venue
from service_tui.units import Micros, Timestamp

STAGES: Final = {
    Stage.READY: ("●", "profit"),
    Stage.AWAITING: ("◐", "warn"),
    Stage.ACTIVE: ("○", "muted"),
    Stage.REDEEMED: ("✓", "muted"),
}
"""Sign and tone of each state, in the order of what can be done about it."""

_ORDER: Final = {stage: place for place, stage in enumerate(STAGES)}
_MARKS: Final = {
    RunState.PREPARED: ("?", "accent"),
    RunState.RUNNING: ("▶", "accent"),
    RunState.UNCONFIRMED: ("◌", "warn"),
    RunState.REPORTING: ("▶", "profit"),
    RunState.REFUSED: ("!", "warn"),
    RunState.FAILED: ("✗", "loss"),
    RunState.DONE: ("✓", "profit"),
}
_LOST: Final = ("✗", "loss")
_BY_HAND: Final = ("☞", "warn")


def is_told(row: RedemptionRow, run: RunView | None) -> bool:
    """Whether a run says more of a row than the queue does."""
    return run is not None and not (run.state is RunState.DONE and row.stage is Stage.REDEEMED)


def stage_text(row: RedemptionRow, run: RunView | None = None) -> Text:
    """A state in a sign and its words; the sign is the run's where one is under way."""
    glyph, tone = STAGES[row.stage]
    if run is not None and (run.state.is_open or run.state is RunState.PREPARED):
        glyph, tone = _MARKS[run.state]
    if row.lost and row.stage is Stage.READY:
        glyph, tone = _LOST
        return Text(f"{glyph} Lost", tone)
    if row.manual and row.stage is Stage.READY:
        glyph, tone = _BY_HAND
    return Text(f"{glyph} {row.stage.value}", tone)


def order_of(row: RedemptionRow) -> float:
    """What can be done something about stands first; lost ones stand after what waits."""
    place = _ORDER[row.stage]
    return place + (2.5 if row.lost and row.stage is Stage.READY else 0.0)


def next_text(row: RedemptionRow, view: RedemptionView) -> Text:
    """What happens next, or how the run under way stands."""
    run = view.run(row.key)
    if run is None or not is_told(row, run):
        return formats.plain(row.next_words)
    glyph, tone = _MARKS[run.state]
    return Text.assemble((f"{glyph} ", tone), formats.plain(run.words))


def side_text(row: RedemptionRow) -> Text:
    """The side in its colour."""
    return Text(row.side.value.upper(), "yes" if row.side is Side.YES else "no")


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
        Column[RedemptionRow]("side", "side", 4, side_text, sort_key=lambda row: row.side.value),
        Column[RedemptionRow](
            "amount",
            "pays",
            9,
            lambda row: formats.money(row.amount, masked=masked()),
            sort_key=lambda row: row.amount,
            numeric=True,
        ),
        Column[RedemptionRow](
            "age",
            "age",
            4,
            lambda row: formats.age(row.since, now()),
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


def _made(row: RedemptionRow) -> Micros | None:
    if row.stage in {Stage.ACTIVE, Stage.AWAITING} or (
        row.stage is Stage.REDEEMED and not row.amount
    ):
        return None
    return Micros(row.amount - row.cost)
