"""Random keys, sizes, mouse and data on the console: it stands whatever comes."""

import random
from collections.abc import Generator
from contextlib import suppress
from dataclasses import replace

import pytest
from textual import events
from textual.app import App, ComposeResult
from textual.command import CommandList, CommandPalette
from textual.pilot import OutOfBounds

from kit.console import painting
from kit.console.doors import Running, running, seen_before
from kit.console.textual_private import end, no_matches_timer
from kit.examples import DEPTH, seeds
from kit.samples.desk import sample_state
from service_tui.console import theme
from service_tui.console.widgets.dialog import Dialog
from service_tui.console.widgets.price_chart import PriceChart
from service_tui.units import Timestamp

KEYS = [
    *"1234567",
    *"1234567",
    "tab",
    "down",
    "up",
    "enter",
    "escape",
    "j",
    "k",
    "G",
    "slash",
    "g",
    "pageup",
    "pagedown",
    "end",
]
DIALOGS = ["colon", "ctrl+p", "question_mark", "b", "i", "ampersand", "T", "at", "Q", "s", "W"]
SIZES = [(1, 1), (2, 2), (10, 2), (40, 5), (120, 40), (80, 24), (200, 2), (3, 60)]
EVENTS = 120 * DEPTH**2


@pytest.fixture(autouse=True)
def each_frame() -> Generator[None]:
    """A storm is painted frame by frame, as a terminal does it."""
    with painting.each_frame():
        yield


class Bare(App[None]):
    def compose(self) -> ComposeResult:
        yield PriceChart()

    def get_theme_variable_defaults(self) -> dict[str, str]:
        return theme.variable_defaults(self.current_theme)


async def test_a_chart_without_room_hears_of_its_size_and_stands() -> None:
    app = Bare()
    async with app.run_test(size=(60, 12)) as pilot:
        chart = app.query_one(PriceChart)
        chart.show([(Timestamp(1.0), 0.5), (Timestamp(2.0), 0.6)], title="YES")
        await pilot.pause()
        chart.display = False
        await pilot.pause()
        assert not chart.size
        chart._strips = []
        chart._resized()
        chart.render_line(0)
        chart.action_read(-1)
        assert chart.reading() is None
        chart.display = True
        await pilot.pause()


@pytest.mark.slow
async def test_a_palette_that_closes_before_it_has_found_nothing_stays_closed() -> None:
    async with running(size=(120, 40)) as seen:
        await seen.pilot.press("ctrl+p", *"zzzz")
        palette = seen.app.screen
        assert isinstance(palette, CommandPalette)
        await seen.until(lambda: no_matches_timer(palette) is not None)
        timer = no_matches_timer(palette)
        assert timer is not None
        await palette.query(CommandList).remove()
        end(timer)
        assert seen.app.is_running


class Plain(Dialog[str]):
    """A dialog that shows nothing."""


@pytest.mark.slow
async def test_a_dialog_takes_away_itself_alone_once_and_when_it_is_on_top() -> None:
    async with running(size=(120, 40)) as seen:
        below, above = Plain(), Plain()
        heard: list[object] = []
        seen.app.push_screen(below, heard.append)
        seen.app.push_screen(above, heard.append)
        await seen.pilot.pause()
        below.dismiss("late")
        below.dismiss("again")
        await seen.pilot.pause()
        assert seen.app.screen is above
        above.dismiss("first")
        above.dismiss("second")
        await seen.until(lambda: len(seen.app.screen_stack) == 1)
        assert heard == ["late", "first"]
        above.dismiss("third")
        await seen.pilot.press("2")
        assert len(seen.app.screen_stack) == 1
        assert seen.app.is_running


def mouse(kind: type[events.MouseEvent], x: int, y: int) -> events.MouseEvent:
    return kind(None, x, y, 0, 0, 1, False, False, False, screen_x=x, screen_y=y)  # noqa: FBT003


@pytest.mark.slow
async def test_a_click_where_the_palette_was_before_the_terminal_shrank_closes_it() -> None:
    async with running(size=(120, 40)) as seen:
        await seen.pilot.press("ctrl+p")
        palette = seen.app.screen
        assert isinstance(palette, CommandPalette)
        await seen.pilot.resize_terminal(40, 12)
        click = events.Click.from_event(palette, mouse(events.MouseUp, 100, 30))
        palette.post_message(click)
        await seen.until(lambda: seen.app.screen is not palette)
        await seen.pilot.press("2")
        assert seen.app.is_running


@pytest.mark.slow
async def test_keys_in_a_palette_without_room_for_a_row_do_nothing() -> None:
    async with running(size=(120, 40)) as seen:
        await seen.pilot.press("ctrl+p")
        palette = seen.app.screen
        assert isinstance(palette, CommandPalette)
        await seen.until(lambda: palette.query_one(CommandList).option_count)
        await seen.pilot.resize_terminal(1, 1)
        await seen.pilot.press("pageup", "pagedown", "home", "end", "up", "down")
        await seen.pilot.resize_terminal(120, 40)
        await seen.pilot.press("escape", "2")
        assert seen.app.is_running


async def blow(seen: Running, rng: random.Random) -> None:
    """One thing that a person, a terminal or the service may do."""
    match rng.randrange(7):
        case 0:
            await seen.pilot.resize_terminal(*rng.choice(SIZES))
        case 1:
            width, height = seen.app.size
            with suppress(OutOfBounds):
                await seen.pilot.hover(offset=(rng.randrange(width), rng.randrange(height)))
        case 2:
            count = rng.choice([0, 1, 80])
            state = seen_before(sample_state(max(count, 8), held=min(count, 7), seed=count))
            gone = {} if count else {"markets": {}, "positions": (), "account": None}
            seen.doors.bring(replace(state, **gone))
            await seen.pilot.pause()
        case 3:
            # A mouse tells where it was when the terminal had another size.
            for kind in (events.MouseDown, events.MouseUp):
                seen.app.post_message(mouse(kind, rng.randrange(200), rng.randrange(60)))
            await seen.pilot.resize_terminal(*rng.choice(SIZES))
        case _:
            await seen.pilot.press(rng.choice(KEYS if rng.randrange(4) else DIALOGS))


@pytest.mark.slow
@pytest.mark.parametrize("seed", seeds(20, few=1))
async def test_a_storm_of_keys_sizes_mouse_and_data_ends_no_console(seed: int) -> None:
    rng = random.Random(seed)
    async with running(size=(120, 40)) as seen:
        for _ in range(EVENTS):
            await blow(seen, rng)
        await seen.pilot.resize_terminal(120, 40)
        await seen.pilot.pause()
        assert seen.app.is_running
        assert seen.text.strip()


@pytest.mark.slow
async def test_screens_switched_while_the_terminal_changes_stand() -> None:
    async with running(size=(120, 40)) as seen:
        for turn, key in enumerate("132471324712"):
            await seen.pilot.press(key)
            await seen.pilot.resize_terminal(*[(10, 2), (40, 5), (120, 40)][turn % 3])
        await seen.pilot.pause()
        assert seen.app.is_running
