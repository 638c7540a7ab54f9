"""The line between a list and its pane: moved by keys and by the mouse, and kept."""

from dataclasses import replace

import pytest

from kit.console.doors import Running, running, seen_before
from kit.samples.guarded import guarded_state
from service_tui.console.parts.table_screen import (
    LIST_CELLS,
    LIST_LINES,
    PANE_CELLS,
    STEP_CELLS,
    STEP_LINES,
)
from service_tui.console.parts.view_memory import VIEW, ViewMemory

STATE = seen_before(guarded_state())


def pane_width(seen: Running) -> int:
    return seen.app.front.pane.outer_size.width


def pane_height(seen: Running) -> int:
    return seen.app.front.pane.outer_size.height


async def test_keys_move_the_line_beside_a_list_within_bounds() -> None:
    async with running(STATE, first="markets", size=(160, 40)) as seen:
        usual = pane_width(seen)
        await seen.press("alt+left", "alt+left", "alt+right")
        assert pane_width(seen) == usual + STEP_CELLS
        for _ in range(60):
            await seen.press("alt+left")
        assert seen.app.front.table.outer_size.width >= LIST_CELLS
        for _ in range(60):
            await seen.press("alt+right")
        assert pane_width(seen) == PANE_CELLS


async def test_keys_move_the_line_below_a_list() -> None:
    async with running(STATE, first="monitors", size=(100, 40)) as seen:
        usual = pane_height(seen)
        await seen.press("alt+up", "alt+up")
        assert pane_height(seen) == usual + 2 * STEP_LINES
        for _ in range(40):
            await seen.press("alt+up")
        assert seen.app.front.table.outer_size.height >= LIST_LINES - 3


@pytest.mark.parametrize(
    ("screen", "size", "by"), [("markets", (160, 40), (-10, 0)), ("monitors", (100, 36), (0, -3))]
)
async def test_the_mouse_drags_the_line(
    screen: str, size: tuple[int, int], by: tuple[int, int]
) -> None:
    async with running(STATE, first=screen, size=size) as seen:
        pane, (dx, dy) = seen.app.front.pane, by
        # On the line itself, away from its corner.
        before, (x, y) = pane.outer_size, pane.region.offset + ((0, 2) if dx else (2, 0))
        await seen.pilot.mouse_down(offset=(x, y))
        await seen.pilot.hover(offset=(x + dx, y + dy))
        await seen.pilot.mouse_up(offset=(x + dx, y + dy))
        await seen.pilot.pause()
        after = pane.outer_size
        assert (after.width - before.width, after.height - before.height) == (-dx, -dy)
        # Let go, the line stays where it is.
        await seen.pilot.hover(offset=(x + 1, y + 1))
        assert pane.outer_size == after


async def test_the_next_start_has_the_pane_as_it_was_left() -> None:
    kept = ViewMemory(pane=(70, 0)).to_text()
    state = replace(STATE, preferences={**STATE.preferences, f"{VIEW}markets": kept})
    async with running(state, first="markets", size=(160, 40)) as seen:
        assert pane_width(seen) == 70
    # A narrower terminal leaves the list its room.
    async with running(state, first="markets", size=(120, 40)) as seen:
        assert pane_width(seen) == 70
        assert seen.app.front.table.outer_size.width >= LIST_CELLS


async def test_a_screen_without_such_a_line_says_so() -> None:
    async with running(STATE, first="markets", size=(80, 24)) as seen:
        await seen.press("alt+left")
        assert "no detail beside the list" in seen.toasts[-1]
