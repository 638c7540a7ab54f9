"""A view of a chart without an app: which cell a click picks, and which way the wheel turns."""

from collections.abc import Sequence
from typing import Any

from textual.geometry import Offset, Size

from kit.console.alone import event
from service_tui.console.widgets.chart_view import ChartView


class View(ChartView):
    """A view of a size that keeps what it sends and for which size it drew."""

    size = Size(30, 4)

    def __init__(self) -> None:
        super().__init__(self.lines_for)
        self.sent: list[Any] = []
        self.asked: list[tuple[int, int]] = []
        self.painted = 0

    def lines_for(self, size: tuple[int, int]) -> Sequence[Any]:
        self.asked.append(size)
        return ()

    def refresh(self, *_: Any, **__: Any) -> Any:
        self.painted += 1
        return self

    def post_message(self, message: Any) -> bool:
        self.sent.append(message)
        return True


def offset_of(_: object) -> Offset:
    return Offset(7, 2)


def no_offset(_: object) -> None:
    """Outside the chart."""


def test_a_click_picks_the_cell_under_it() -> None:
    view = View()
    click = event(get_content_offset=offset_of)
    view._clicked(click)
    (picked,) = view.sent
    assert (picked.x, picked.y, click.stopped) == (7, 2, ["stop"])
    outside = event(get_content_offset=no_offset)
    view._clicked(outside)
    assert (len(view.sent), outside.stopped) == (1, [])


def test_the_wheel_turns_up_or_down_by_one() -> None:
    view = View()
    up, down = event(), event()
    view._wheel_up(up)
    view._wheel_down(down)
    assert [one.by for one in view.sent] == [-1, 1]
    assert up.stopped == down.stopped == ["stop"]


def test_lines_are_asked_for_at_each_new_size() -> None:
    view = View()
    view._resized()
    assert (view.asked, view.painted) == ([(30, 4)], 1)
