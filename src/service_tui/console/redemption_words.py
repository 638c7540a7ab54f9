"""How a position on its way to money is said in a sign and a few words."""

from typing import Final

from rich.text import Text

from service_tui.console import formats
from service_tui.desk.slices.redemption import (
    ChainRunState,
    RedemptionRow,
    RedemptionView,
    RunView,
    Stage,
)

STAGES: Final = {
    Stage.READY: ("●", "profit"),
    Stage.AWAITING: ("◐", "warn"),
    Stage.ACTIVE: ("○", "muted"),
    Stage.REDEEMED: ("✓", "muted"),
}
"""Sign and tone of each state, in the order of what can be done about it."""

_ORDER: Final = {stage: place for place, stage in enumerate(STAGES)}
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


def is_told(row: RedemptionRow, run: RunView | None) -> bool:
    """Whether a run says more of a row than the queue does."""
    return run is not None and not (run.state is ChainRunState.DONE and row.stage is Stage.REDEEMED)


def stage_text(row: RedemptionRow, run: RunView | None = None) -> Text:
    """A state in a sign and its words; the sign is the run's where one is under way."""
    glyph, tone = STAGES[row.stage]
    if run is not None and (run.state.is_open or run.state is ChainRunState.PREPARED):
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
