"""The slices of redemptions and the wallet after a fact. Pure.

Knows records and facts. Must not know the rest of the state, wire, network or time.
Used by desk.reduce.
"""

from dataclasses import replace
from typing import Final

from service_tui.desk.facts_wallet import AutoChanged, ChainRunChanged, QueueSeen
from service_tui.desk.records_redemption import RedemptionView, RunView

RUNS_MAX: Final = 200
"""What the state keeps of runs; the database keeps the rest."""


def reduce_redemption(
    view: RedemptionView, fact: QueueSeen | ChainRunChanged | AutoChanged
) -> RedemptionView:
    """The queue after a fact about it."""
    match fact:
        case QueueSeen():
            return replace(view, rows=fact.rows)
        case ChainRunChanged():
            return replace(view, runs=_with_run(view.runs, fact.run))
        case AutoChanged():
            auto = view.auto
            changed = replace(
                auto,
                on_service=auto.on_service if fact.on_service is None else fact.on_service,
                allowed=auto.allowed if fact.allowed is None else fact.allowed,
                paused=auto.paused if fact.paused is None else fact.paused,
            )
            executes = view.executes if fact.executes is None else fact.executes
            told = replace(view, auto=changed, executes=executes)
            return view if told == view else told


def _with_run(runs: tuple[RunView, ...], run: RunView) -> tuple[RunView, ...]:
    """One run a row, the newest; what changed last stands first."""
    rest = tuple(one for one in runs if one.key != run.key)
    return (run, *rest)[:RUNS_MAX]
