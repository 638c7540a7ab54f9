"""The pages of a drill: which is shown when, and what a typed word does."""

from dataclasses import replace
from typing import Any

import pytest

from kit.console.shell import Shell
from kit.samples.desk import NOW, sample_state
from kit.samples.filled import filled
from service_tui.console.forms.drill import DrillBrief, DrillEnd
from service_tui.console.keys import cap
from service_tui.console.messages import DrillRequested
from service_tui.console.shell.drill_pages import DrillPages
from service_tui.desk.commands.drill import BeginDrill, EndDrill
from service_tui.desk.slices.drill import DrillPhase, DrillResult, DrillView

DRILL = DrillView("thin-book", "A thin book", "Sell what you hold.", 10)
RESULT = filled(DrillResult, 3)


def pages(drill: DrillView | None = DRILL, **other: Any) -> tuple[DrillPages, Shell]:
    shell = Shell(replace(sample_state(6), drill=drill, **other))
    return DrillPages(shell.app), shell


def test_the_brief_is_shown_before_the_clock_runs() -> None:
    page, shell = pages()
    page.show()
    ((brief, answered),) = shell.pushed
    assert isinstance(brief, DrillBrief)
    assert answered is not None
    answered(None)
    words = f"the clock stands still; {cap('app.command')} drill shows the brief"
    assert (shell.toasts, shell.given) == ([(words, "info")], [])
    brief.has_begun = True
    answered(None)
    assert (len(shell.toasts), shell.given) == (1, [BeginDrill()])


def test_while_it_runs_the_way_out_is_told_and_without_one_nothing() -> None:
    page, shell = pages(replace(DRILL, phase=DrillPhase.RUNNING))
    page.show()
    words = f"{cap('app.command')} drill end stops the drill, without a score"
    assert (shell.toasts, shell.pushed) == ([(words, "info")], [])
    page, shell = pages(None)
    page.show()
    assert (shell.toasts, shell.pushed) == ([], [])


def test_the_result_is_shown_once_it_is_there_and_only_once() -> None:
    done = replace(DRILL, phase=DrillPhase.RUNNING, result=RESULT)
    page, shell = pages(done)
    for drill in (None, DRILL, done, done):
        page.follow(drill)
    ((result, _),) = shell.pushed
    assert isinstance(result, DrillEnd)
    private, masked = pages(done, preferences={"privacy": "on"})
    private.show()
    for drawn, is_masked in ((result, False), (masked.pushed[0][0], True)):
        assert isinstance(drawn, DrillEnd)
        assert drawn._masked is is_masked
    # It can be asked for again.
    page.show()
    assert len(shell.pushed) == 2


@pytest.mark.parametrize(
    ("message", "done"),
    [
        (DrillRequested(ends=True), ([EndDrill()], 0, "", [])),
        (DrillRequested("calm", ends=True), ([EndDrill()], 0, "", [])),
        (DrillRequested(), ([], 1, "", [])),
        (DrillRequested("calm"), ([], 0, "calm", ["quit"])),
    ],
)
async def test_a_typed_word_ends_shows_or_leads_into_a_drill(
    message: DrillRequested, done: tuple[object, ...]
) -> None:
    page, shell = pages()
    await page.take_request(message)
    assert (shell.given, len(shell.pushed), page.next_name, shell.actions) == done


async def test_on_a_recorded_state_nothing_begins_or_ends() -> None:
    for message in (DrillRequested("calm"), DrillRequested(ends=True), DrillRequested()):
        page, shell = pages(rewound_to=NOW)
        await page.take_request(message)
        assert (shell.given, shell.pushed, page.next_name, shell.actions) == ([], [], "", [])
        ((_, tone),) = shell.toasts
        assert tone == "warn"
