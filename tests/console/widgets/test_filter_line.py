"""The search of a table: when it is in sight, and what it tells the table."""

from textual import events
from textual.app import App, ComposeResult

from service_tui.console.messages import ToastMessage
from service_tui.console.widgets.filter_line import FilterLine


class Bare(App[None]):
    """A search with nothing around it; keeps what it tells."""

    AUTO_FOCUS = ""

    def __init__(self, typed: str = "") -> None:
        super().__init__()
        self.line = FilterLine(typed)
        self.told: list[str] = []

    def compose(self) -> ComposeResult:
        yield self.line

    def on_filter_line_typed(self, event: FilterLine.Typed) -> None:
        self.told.append(event.text)

    def on_filter_line_left(self) -> None:
        self.told.append("left")

    def on_toast_message(self, event: ToastMessage) -> None:
        self.told.append(f"{event.tone}: {event.text}")


async def test_a_search_is_in_sight_while_it_is_typed_or_hides_rows() -> None:
    app = Bare()
    async with app.run_test(size=(40, 5)) as pilot:
        assert not app.line.display
        app.line.begin()
        await pilot.press(*"ab")
        assert (app.line.display, app.told) == (True, ["a", "ab"])
        await pilot.press("enter", "c")
        assert (app.line.display, app.line.typed, app.told[2:]) == (True, "ab", ["left"])
        app.line.begin()
        await pilot.press("escape", "c")
        assert (app.line.display, app.line.typed) == (False, "")
        assert sorted(app.told[3:]) == ["", "left"]
        app.line.put("words")
        await pilot.pause()
        assert (app.line.display, app.told[-1]) == (True, "words")
        app.line.begin()
        await pilot.press("down")
        assert (app.line.typed, app.told[-1], app.focused) == ("words", "left", None)
        app.line.put("")
        assert not app.line.display
        app.line.begin()
        await pilot.press("down")
        assert not app.line.display
    async with Bare("kept").run_test(size=(40, 5)) as pilot:
        assert pilot.app.query_one(FilterLine).display


async def test_a_secret_in_a_search_is_cleared_with_a_warning() -> None:
    app = Bare()
    async with app.run_test(size=(40, 5)) as pilot:
        app.line.begin()
        await pilot.pause()
        assert app.focused is not None
        app.focused.post_message(events.Paste("ab" * 32))
        await pilot.pause()
        assert (app.line.typed, app.told) == ("", ["warn: possible secret key: cleared"])
