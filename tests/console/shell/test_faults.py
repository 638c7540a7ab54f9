"""A screen or a dialog that fails is closed and named in a toast; the console stays open."""

import asyncio
from dataclasses import replace
from typing import Any, Final

import pytest
from textual.widget import Widget

from kit.console.doors import Running, running, seen_before
from kit.console.textual_private import failed
from kit.samples.desk import sample_state
from kit.samples.research import research_sample, run_of, session_of
from kit.service.stage import ANSWER_S
from service_tui.console.app import TICK_S
from service_tui.console.parts.view_memory import LAST_SCREEN
from service_tui.console.shell.views import FAULTS_MAX
from service_tui.desk.state import DeskState

STATE: Final = seen_before(sample_state())
WRONG: Any = "soon"
"""A text where a number belongs: no reader lets one pass, until one does."""


def with_research(**run: Any) -> DeskState:
    research = research_sample()
    sessions = (session_of(run=run_of(**run), is_open=True), *research.sessions[1:])
    return replace(STATE, research=replace(research, sessions=sessions))


BROKEN: Final = with_research(deadline_s=WRONG)


def front(seen: Running) -> str:
    return seen.app.front.name_in_keys


async def assert_it_goes_on(seen: Running, key: str) -> None:
    await seen.until(lambda: front(seen) == "attention")
    await seen.until(lambda: any("failed and was closed" in one for one in seen.toasts))
    assert any(f"open it again with {key}" in one for one in seen.toasts)
    await seen.press("2")
    await seen.until(lambda: front(seen) == "markets")
    assert "Moonbase" in seen.text or "MARKET" in seen.text.upper()
    await seen.bring(replace(STATE, stars=frozenset({"x"})))
    assert seen.app.is_running


async def test_a_screen_that_fails_while_opening_is_closed() -> None:
    async with running(BROKEN) as seen:
        await seen.press("6")
        await assert_it_goes_on(seen, "6")
        await seen.press("6")
        await seen.until(lambda: front(seen) == "research")


async def test_a_screen_that_fails_at_a_newer_state_is_closed() -> None:
    async with running(with_research()) as seen:
        await seen.press("6")
        await seen.until(lambda: front(seen) == "research")
        await seen.bring(BROKEN)
        await assert_it_goes_on(seen, "6")


async def test_a_first_screen_that_fails_is_closed_and_not_opened_at_the_next_start() -> None:
    state = replace(BROKEN, preferences={**BROKEN.preferences, LAST_SCREEN: "research"})
    async with running(state, first="") as seen:
        await assert_it_goes_on(seen, "6")
        await seen.until(lambda: seen.doors.views.get(LAST_SCREEN) in {"attention", "markets"})


async def test_a_screen_that_fails_at_a_key_is_closed() -> None:
    wrong: Any = frozenset({"a set is no JSON"})
    research = research_sample()
    experiments = tuple(replace(one, commit=wrong) for one in research.experiments)
    async with running(replace(STATE, research=replace(research, experiments=experiments))) as seen:
        await seen.press("6")
        await seen.until(lambda: front(seen) == "research")
        await seen.press("Y")
        await assert_it_goes_on(seen, "6")


async def test_a_dialog_that_fails_is_closed_and_the_screen_below_goes_on() -> None:
    async with running(STATE) as seen:
        await seen.press("W")
        await seen.until(lambda: len(seen.app.screen_stack) == 2)
        await seen.bring(replace(STATE, wallet=replace(STATE.wallet, gas=WRONG)))
        await seen.until(lambda: len(seen.app.screen_stack) == 1)
        await seen.until(lambda: any("a dialog failed and was closed" in t for t in seen.toasts))
        await seen.press("2")
        await seen.until(lambda: front(seen) == "markets")


async def test_a_failure_of_the_home_screen_ends_the_console_with_code_70() -> None:
    wrong: Any = 7
    with pytest.raises(Exception, match="alerts"):  # noqa: PT012 - it comes when the pilot ends
        async with running(STATE) as seen:
            seen.doors.bring(replace(STATE, briefing=wrong))
            await asyncio.wait_for(failed(seen.app), ANSWER_S)
    assert seen.app.return_code == 70


async def test_repeated_failures_of_a_screen_end_the_console_with_code_70() -> None:
    with pytest.raises(TypeError):  # noqa: PT012 - it comes when the pilot ends
        async with running(BROKEN) as seen:
            for _ in range(FAULTS_MAX):
                await seen.press("6")
                await seen.until(lambda: front(seen) == "attention")
            await seen.press("6")
            await asyncio.wait_for(failed(seen.app), ANSWER_S)
    assert seen.app.return_code == 70


class Slow(Widget):
    """Part of a screen that takes longer to leave than the clock needs for its next tick."""

    async def on_unmount(self) -> None:
        await asyncio.sleep(1.1 * TICK_S)


@pytest.mark.slow
async def test_a_tick_during_shutdown_is_not_a_failure() -> None:
    async with running(STATE) as seen:
        await seen.app.screen.mount(Slow())
    assert seen.app.return_code is None
