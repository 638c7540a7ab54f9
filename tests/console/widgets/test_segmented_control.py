"""A row of options: what a key and a click request."""

from textual.app import App, ComposeResult

from service_tui.console.widgets.segmented_control import SegmentedControl


class Bare(App[None]):
    """A row that keeps what was requested of it."""

    def __init__(self) -> None:
        super().__init__()
        self.row = SegmentedControl(id="row")
        self.picked: list[int] = []

    def compose(self) -> ComposeResult:
        yield self.row

    def on_segmented_control_picked(self, event: SegmentedControl.Picked) -> None:
        assert event.control is self.row
        self.picked.append(event.index)


async def test_arrows_request_the_neighbour_round_and_round() -> None:
    app = Bare()
    async with app.run_test(size=(40, 3)) as pilot:
        app.row.focus()
        app.row.show(("a", "b", "c"), 2)
        await pilot.press("right", "left")
        assert app.picked == [0, 1]
        # Without options, or without a selected one, there is no neighbour.
        for labels, place in (((), 0), (("a", "b"), None)):
            app.row.show(labels, place)
            await pilot.press("right", "left")
        assert app.picked == [0, 1]


async def test_a_click_requests_the_option_under_the_pointer() -> None:
    app, labels = Bare(), ("one", "three", "x")
    async with app.run_test(size=(60, 3)) as pilot:
        for place in (0, 1, None):
            app.picked.clear()
            app.row.show(labels, place)
            await pilot.pause()
            text = str(app.row.content)
            for label in labels:
                await pilot.click("#row", offset=(text.index(label), 0))
            assert app.picked == [0, 1, 2]
            await pilot.click(offset=(len(text), 0))
            assert len(app.picked) == 3
            assert text.count("●") == (place is not None)
            assert place is None or f"● {labels[place]}" in text
