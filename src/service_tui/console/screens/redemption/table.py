"""The table of redemptions: positions with their state and next action."""

from typing import Final

from rich.text import Text

from service_tui.console import formats
from service_tui.console.freshness import is_answered, of_wall
from service_tui.console.keys import cap
from service_tui.console.table_spec import TableSpec, amount_column, market_column, side_column
from service_tui.console.view_context import ViewContext
from service_tui.console.widgets.columns import Column
from service_tui.desk.slices.redemption import (
    ChainRunState,
    RedemptionRow,
    RunView,
    Stage,
)
from service_tui.desk.slices.service import Phase
from service_tui.desk.slices.topics import Topic
from service_tui.desk.state import DeskState
from service_tui.folding import folded
from service_tui.terms import Venue
from service_tui.units import Micros, Timestamp, decimal

_STAGES: Final = {
    Stage.READY: ("●", "profit"),
    Stage.AWAITING: ("◐", "warn"),
    Stage.ACTIVE: ("○", "muted"),
    Stage.REDEEMED: ("✓", "muted"),
}
"""Sign and tone of each state, in the order of the possible action."""

_ORDER: Final = {stage: place for place, stage in enumerate(_STAGES)}
_MARKS: Final = {
    ChainRunState.PREPARED: ("?", "accent"),
    ChainRunState.RUNNING: ("▶", "accent"),
    ChainRunState.UNCONFIRMED: ("◌", "warn"),
    ChainRunState.REPORTING: ("▶", "profit"),
    ChainRunState.REFUSED: ("!", "warn"),
    ChainRunState.FAILED: ("✗", "loss"),
    ChainRunState.DONE: ("✓", "profit"),
}
_LOST: Final = ("✗", "loss")
_BY_HAND: Final = ("☞", "warn")


# -- cells --------------------------------------------------------------------------------------


def stage_text(row: RedemptionRow, run: RunView | None = None) -> Text:
    """A state as a sign and its text; the sign is the run's if one is under way."""
    glyph, tone = _STAGES[row.stage]
    if run is not None and (run.state.is_open or run.state is ChainRunState.PREPARED):
        glyph, tone = _MARKS[run.state]
    if row.lost and row.stage is Stage.READY:
        glyph, tone = _LOST
        return Text(f"{glyph} Lost", tone)
    if row.manual and row.stage is Stage.READY:
        glyph, tone = _BY_HAND
    return Text(f"{glyph} {row.stage.value}", tone)


def _order(row: RedemptionRow) -> float:
    """Rows with a possible action come first; lost ones after those that wait."""
    place = _ORDER[row.stage]
    return place + (2.5 if row.lost and row.stage is Stage.READY else 0.0)


def _next_text(row: RedemptionRow, view: ViewContext) -> Text:
    """The next step, or the state of the run under way."""
    run = view.state.redemption.run(row.key)
    if run is None or (run.state is ChainRunState.DONE and row.stage is Stage.REDEEMED):
        return Text(view.sentence(row.next_text))
    glyph, tone = _MARKS[run.state]
    return Text.assemble((f"{glyph} ", tone), view.sentence(run.words))


def _age(row: RedemptionRow, view: ViewContext) -> Text:
    """Age of the state by the wall; none where only the world's time of it is known."""
    return formats.age(_since(row, view), view.now)


def _since(row: RedemptionRow, view: ViewContext) -> Timestamp | None:
    has_wall = not row.in_world or not of_wall(view.state)
    return row.since if has_wall else None


def _made(row: RedemptionRow) -> Micros | None:
    if row.stage in {Stage.ACTIVE, Stage.AWAITING} or (
        row.stage is Stage.REDEEMED and not row.amount
    ):
        return None
    return Micros(row.amount - row.cost)


# -- what a search finds, and why there are no rows ---------------------------------------------


def _search_text(row: RedemptionRow, _: ViewContext) -> str:
    return folded(f"{row.question}\n{stage_text(row).plain}\n{row.venue.value}")


def _empty_text(state: DeskState) -> str:
    """Why the queue is empty, and what to do."""
    if state.service.phase is Phase.OFFLINE:
        return f"The service cannot be reached: {state.service.problem}"
    if not is_answered(state, Topic.REDEMPTIONS):
        return "Loading positions on the real venues."
    return (
        "No positions on the real venues.\n\nWinning positions appear here; "
        f"{cap('redemption.redeem')} redeems them. Positions on sim pay out automatically."
    )


QUEUE: Final = TableSpec[RedemptionRow](
    "redemptions",
    rows=lambda state: state.redemption.rows,
    key=lambda row: row.key,
    columns=(
        Column(
            "state",
            "state",
            21,
            lambda row, view: stage_text(row, view.state.redemption.run(row.key)),
            sort_key=lambda row, _: _order(row),
        ),
        market_column(),
        side_column(),
        amount_column("amount", "pays", 9, lambda row: row.amount, formats.money),
        Column(
            "money",
            "ccy",
            6,
            lambda row, _: Text(row.money, "live"),
            sort_key=lambda row, _: row.money,
            tier=72,
        ),
        Column(
            "age",
            "age",
            4,
            _age,
            sort_key=_since,
            align="right",
            glows=False,
        ),
        Column(
            "next",
            "next",
            22,
            _next_text,
            flex=True,
            glows=False,
            tier=100,
        ),
        Column(
            "venue",
            "venue",
            9,
            lambda row, _: Text(row.venue.value, "muted" if row.venue is Venue.SIM else "accent"),
            sort_key=lambda row, _: row.venue.value,
            tier=118,
        ),
        amount_column("pnl", "P&L", 9, _made, formats.pnl, tier=140),
    ),
    search_text=_search_text,
    empty_text=_empty_text,
    sort="state",
    compared={"amount": lambda row, _: decimal(row.amount)},
    is_loaded=lambda state: is_answered(state, Topic.REDEMPTIONS),
)
