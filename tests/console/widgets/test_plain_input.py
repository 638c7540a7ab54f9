"""A line of text: what a paste, a click and a key leave in it."""

import pytest
from textual import events
from textual.app import App, ComposeResult
from textual.widgets import Button

from service_tui.console.widgets.plain_input import PlainInput, holds_secret

KEY = "0x" + "ab" * 32


@pytest.mark.parametrize(
    ("text", "is_secret"),
    [
        (KEY, True),
        (f"my key {'Ab' * 32} there", True),
        ("ab" * 31 + "a", False),
        ("sk_live_12345678", True),
        ("sk_live_1234567", False),
        ("0x" + "ab" * 20, False),
        ("", False),
    ],
)
def test_what_looks_like_a_key_is_a_secret(text: str, *, is_secret: bool) -> None:
    assert holds_secret(text) is is_secret


class Bare(App[None]):
    """A line beside a button."""

    AUTO_FOCUS = "Button"

    def __init__(self) -> None:
        super().__init__()
        self.line = PlainInput()
        self.cleared = 0

    def compose(self) -> ComposeResult:
        yield Button("other")
        yield self.line

    def on_plain_input_secret_cleared(self, event: PlainInput.SecretCleared) -> None:
        assert event.control is self.line
        self.cleared += 1


@pytest.mark.slow
async def test_a_paste_is_one_line_that_fits_and_no_secret() -> None:
    app = Bare()
    async with app.run_test(size=(90, 8)) as pilot:
        for value, selected, most, pasted, shown in (
            ("", 0, None, "a\n b\tc\u202e", "a b c"),
            ("abc", 0, 5, "12345", "abc12"),
            ("abc", 2, 5, "12345", "a1234"),
            ("abcde", 0, 5, "1", "abcde"),
            ("abc", 0, None, f"key\n{KEY}", ""),
        ):
            app.line.max_length = most
            app.line.value = value
            app.line.selection = type(app.line.selection)(len(value) - selected, len(value))
            app.line.post_message(events.Paste(pasted))
            await pilot.pause()
            assert app.line.value == shown
        assert app.cleared == 1
        app.line.focus()
        await pilot.press(*"ab" * 31)
        assert len(app.line.value) == 62
        await pilot.press("a", "b")
        assert (app.line.value, app.cleared) == ("", 2)


@pytest.mark.slow
async def test_the_click_that_brings_the_focus_selects_all_and_the_next_sets_the_cursor() -> None:
    app = Bare()
    async with app.run_test(size=(40, 8)) as pilot:
        app.line.value = "text"
        await pilot.click(PlainInput, offset=(5, 1))
        assert app.line.selected_text == "text"
        await pilot.click(PlainInput, offset=(5, 1))
        assert (app.line.selected_text, app.line.cursor_position) == ("", 2)
        # A key after the focus came makes the first click set the cursor.
        app.query_one(Button).focus()
        await pilot.pause()
        app.line.focus()
        await pilot.press("end")
        await pilot.click(PlainInput, offset=(5, 1))
        assert app.line.selected_text == ""
