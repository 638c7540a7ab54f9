"""An output that is followed shows its end; whoever scrolls up reads on in peace."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from textual.app import App, ComposeResult
from textual.pilot import Pilot

from kit.console.painted import strips_of
from service_tui.console.log_lines import ShownLine
from service_tui.console.widgets.output_view import OutputView

HEIGHT = 10


class Shown(App[None]):
    """An app with nothing but an output."""

    def compose(self) -> ComposeResult:
        yield OutputView()


def lines(count: int) -> list[ShownLine]:
    return [ShownLine(number, f"line {number}") for number in range(count)]


@asynccontextmanager
async def output(count: int) -> AsyncIterator[tuple[OutputView, Pilot[None]]]:
    app = Shown()
    async with app.run_test(size=(40, HEIGHT)) as pilot:
        view = app.query_one(OutputView)
        view.show(lines(count), [], -1)
        await pilot.pause()
        yield view, pilot


def texts(view: OutputView) -> list[str]:
    return [strip.text.rstrip(" ▁▂▃▄▅▆▇█") for strip in strips_of(view.screen)]


async def test_who_follows_sees_the_end_and_who_stops_stays() -> None:
    async with output(30) as (view, pilot):
        assert (texts(view)[-1], view.top, view.below) == ("line 29", 20, 0)
        view.step(-3)
        await pilot.pause()
        assert (view.follows, view.top, view.below) == (False, 17, 3)
        view.show(lines(40), [], -1)
        await pilot.pause()
        assert (texts(view)[0], view.below) == ("line 17", 13)
        view.step(1)
        assert (view.follows, view.top) == (False, 18)
        view.follow(on=True)
        await pilot.pause()
        assert (texts(view)[-1], view.below) == ("line 39", 0)
        # A wheel upwards is a wish to read on too.
        view.scroll_up(animate=False)
        await pilot.pause()
        assert not view.follows


async def test_a_line_is_placed_as_far_as_there_are_lines_and_a_found_one_in_the_middle() -> None:
    async with output(30) as (view, pilot):
        for line, top in ((-3, 0), (4, 4), (20, 20), (99, 20)):
            view.place(line)
            await pilot.pause()
            assert view.top == top
        assert view.follows
        view.reveal(17)
        await pilot.pause()
        assert (view.follows, view.top) == (False, 12)
        view.left = 3
        view.refresh()
        await pilot.pause()
        assert texts(view)[0] == "e 12"


async def test_a_line_that_matches_is_marked_and_the_one_in_focus_more() -> None:
    async with output(4) as (view, pilot):
        view.show(lines(4), [1, 2], 2)
        await pilot.pause()
        styles = [next(iter(view.render_line(place))).style for place in range(5)]
        plain, found, focused, _, empty = styles
        assert found is not None
        assert focused is not None
        assert (found.bold, bool(found.reverse)) == (True, False)
        assert (focused.bold, focused.reverse) == (True, True)
        assert plain == styles[3] == empty
        assert texts(view)[4] == ""
