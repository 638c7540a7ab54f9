"""The pages of a drill: which is shown when, and what the drill command does."""

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


def test_the_brief_is_shown_first_and_its_answer_starts_the_drill() -> None:
    page, shell = pages()
    page.show()
    ((brief, answered),) = shell.pushed
    assert isinstance(brief, DrillBrief)
    assert answered is not None
    answered(None)
    text = f"the clock stands still; {cap('app.command')} drill shows the brief"
    assert (shell.toasts, shell.given) == ([(text, "info")], [])
    brief.has_begun = True
    answered(None)
    assert (len(shell.toasts), shell.given) == (1, [BeginDrill()])


def test_a_running_drill_shows_how_to_end_it_and_no_drill_shows_nothing() -> None:
    page, shell = pages(replace(DRILL, phase=DrillPhase.RUNNING))
    page.show()
    text = f"{cap('app.command')} drill end stops the drill, without a score"
    assert (shell.toasts, shell.pushed) == ([(text, "info")], [])
    page, shell = pages(None)
    page.show()
    assert (shell.toasts, shell.pushed) == ([], [])


def test_the_result_is_shown_when_it_arrives_and_only_once() -> None:
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
    # It can be shown again on request.
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
async def test_the_drill_command_ends_shows_or_starts_a_drill(
    message: DrillRequested, done: tuple[object, ...]
) -> None:
    page, shell = pages()
    await page.take_request(message)
    assert (shell.given, len(shell.pushed), page.next_name, shell.actions) == done


async def test_a_replay_neither_starts_nor_ends_a_drill() -> None:
    for message in (DrillRequested("calm"), DrillRequested(ends=True), DrillRequested()):
        page, shell = pages(rewound_to=NOW)
        await page.take_request(message)
        assert (shell.given, shell.pushed, page.next_name, shell.actions) == ([], [], "", [])
        ((_, tone),) = shell.toasts
        assert tone == "warn"
