"""The action log on `@`: newest first, filtered, and the state of its chain in words."""

from dataclasses import replace

import pytest

from kit.console.doors import Running, running, seen_before
from kit.samples.desk import NOW, sample_state
from kit.samples.log import sample_log
from service_tui.console.forms.about import About
from service_tui.console.screens.log.detail import chain_text, entry_text
from service_tui.console.screens.log.screen import LogScreen
from service_tui.console.screens.log.table import EVENT_SIGNS
from service_tui.console.widgets.dialog import ARMED_AFTER_S
from service_tui.desk.commands.agents import ReadLog
from service_tui.desk.slices.log import LogEvent, LogView
from service_tui.desk.state import DeskState


def logged(**other: object) -> DeskState:
    return replace(seen_before(sample_state()), log=sample_log(**other))


def rows(seen: Running) -> list[int]:
    front = seen.app.front
    assert isinstance(front, LogScreen)
    order = front.table.order
    return [order[place].number for place in range(len(order))]


def test_the_chain_is_told_in_words() -> None:
    assert chain_text(LogView(), NOW).plain == "loading the log"
    held = chain_text(sample_log(), NOW).plain
    assert held == "✓ 97 entries verified 30s ago, 2 not yet (v)"
    broken = chain_text(sample_log(problem="line 98 is torn, or no entry"), NOW).plain
    assert broken.startswith("✗ log damaged: line 98 is torn, or no entry  verified up to entry 97")


def test_every_deed_has_a_glyph() -> None:
    assert set(EVENT_SIGNS) == set(LogEvent)


def test_an_entry_is_told_whole_and_masked_where_amounts_are() -> None:
    state = logged()
    told = entry_text(state.log.entries[-1], state, NOW).plain
    assert "buy YES for 25.00" in told
    assert f"{90:064x}" in told
    private = replace(state, preferences={"privacy": "on"})
    assert "25.00" not in entry_text(state.log.entries[-1], private, NOW).plain


@pytest.mark.slow
async def test_the_log_opens_newest_first_is_filtered_and_verified_anew() -> None:
    async with running(logged(), first="settings") as seen:
        await seen.press("at")
        await seen.until(lambda: seen.app.front.name_in_keys == "log")
        # The order of entry 90 is told by its end, entry 91.
        assert rows(seen) == list(range(99, 90, -1))
        assert "entries verified" in seen.text
        assert [one for one in seen.doors.submitted if isinstance(one, ReadLog)] == [ReadLog()]
        await seen.press("slash", *"refused", "enter")
        assert rows(seen) == [96, 95]
        await seen.press("escape", "escape")
        seen.app.front.focus_row("93")
        await seen.press("w")
        assert rows(seen) == [95, 94, 93]
        assert "only heron" in seen.text
        await seen.press("w", "enter")
        assert isinstance(seen.app.screen, About)
        await seen.press("escape", "v")
        assert sum(isinstance(one, ReadLog) for one in seen.doors.submitted) == 2


@pytest.mark.slow
async def test_a_yes_is_written_down() -> None:
    async with running(first="agents") as seen:
        await seen.press("K")
        await seen.pilot.pause(ARMED_AFTER_S * 2)
        await seen.press("escape")
        assert seen.doors.confirmed == []
        await seen.press("K")
        await seen.pilot.pause(ARMED_AFTER_S * 2)
        await seen.press("y")
        await seen.until(lambda: len(seen.doors.confirmed) == 1)
