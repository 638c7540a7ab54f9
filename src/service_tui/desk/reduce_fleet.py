"""How the slice of leashes, waiting trades and skills changes: (slice, fact) -> slice. Pure.

Knows the slice and its facts. Must not know wire, network, time.
Used by desk.reduce.
"""

from collections.abc import Iterator
from dataclasses import replace
from typing import Final, assert_never

from service_tui.desk.facts_fleet import (
    AgentDetailSeen,
    AgentNeedsSeen,
    FleetFact,
    HeldSeen,
    LeashesSeen,
    LogTailSeen,
    PastsSeen,
    SkillRunChanged,
    SkillRunGone,
    SkillsSeen,
)
from service_tui.desk.records import NoticeKind
from service_tui.desk.records_fleet import HeldView, SkillRunState, SkillRunView, SupervisionView
from service_tui.desk.rows import in_place
from service_tui.terms import Action, HeldStatus
from service_tui.units import decimal

News = tuple[str, str, NoticeKind]
"""Tone, words and kind of a notice."""

RUNS_MAX: Final = 100
"""What the state keeps of runs; those that live are never forgotten."""

_TONES: Final = {SkillRunState.CRASHED: "bad", SkillRunState.BACKING_OFF: "warn"}


def reduce_fleet(view: SupervisionView, fact: FleetFact) -> SupervisionView:  # noqa: C901, PLR0911, PLR0912  (one closed union, one line a kind)
    """The slice after a fact."""
    match fact:
        case LeashesSeen():
            return view if fact.leashes == view.leashes else replace(view, leashes=fact.leashes)
        case HeldSeen():
            if (fact.held, fact.decided) == (view.held, view.decided):
                return view
            return replace(view, held=fact.held, decided=fact.decided)
        case AgentDetailSeen():
            return replace(view, detail=fact.detail)
        case AgentNeedsSeen():
            return view if fact.needs == view.needs else replace(view, needs=fact.needs)
        case PastsSeen():
            return replace(view, pasts=fact.pasts, pasts_at=fact.at)
        case SkillsSeen():
            return replace(view, skills=fact.skills)
        case LogTailSeen():
            return replace(view, tail=fact.tail)
        case SkillRunChanged() | SkillRunGone():
            return replace(view, runs=_with_run(view.runs, fact))
        case _:
            assert_never(fact)


def _with_run(
    runs: tuple[SkillRunView, ...], fact: SkillRunChanged | SkillRunGone
) -> tuple[SkillRunView, ...]:
    """The list with this run in its place, or first; of the ended ones the oldest go."""
    if isinstance(fact, SkillRunGone):
        return tuple(run for run in runs if run.run_id != fact.run_id)
    run = fact.run
    known = in_place(runs, run, lambda one: one.run_id)
    if known is not None:
        return known
    listed = (run, *runs)
    over = [old.run_id for old in listed if not old.state.is_alive][RUNS_MAX:]
    return tuple(old for old in listed if old.run_id not in over)


def news_of_fleet(before: SupervisionView, after: SupervisionView) -> Iterator[News]:
    """What the person is told once: a trade that waits, one that nobody decided, a crash."""
    known = {held.held_id for held in before.held}
    fresh = [held for held in after.held if held.held_id not in known]
    if fresh:
        yield "warn", _asks(fresh[-1], len(after.held)), NoticeKind.APPROVAL
    for held in after.decided:
        if held.held_id in known and held.status is HeldStatus.EXPIRED:
            words = f"nobody decided in time: {asked_in_words(held)}"
            yield "bad", words, NoticeKind.APPROVAL
    states = {run.run_id: run.state for run in before.runs}
    for run in after.runs:
        tone = _TONES.get(run.state)
        if tone and states.get(run.run_id, run.state) is not run.state:
            yield tone, f"{run.skill_slug} as {run.agent_name}: {run.why}", NoticeKind.AGENT


def _asks(held: HeldView, waiting: int) -> str:
    """That a trade waits, and how many do."""
    asked = f"{held.agent_name} asks to {order_in_words(held)}"
    return asked if waiting == 1 else f"{waiting} trades wait for you, the newest: {asked}"


def asked_in_words(held: HeldView) -> str:
    """A waiting trade with whose it is, for what is written down of the answer to it."""
    return f"{held.agent_name}, {order_in_words(held)}"


def order_in_words(held: HeldView) -> str:
    """A waiting trade as a person would say it."""
    side = held.side.value.upper()
    if held.action is Action.BUY:
        return f"buy {side} for {decimal(held.amount):,.2f}, {held.question}"
    return f"sell {decimal(held.shares):,.2f} {side}, {held.question}"
