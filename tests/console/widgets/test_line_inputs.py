"""Rows of options and lines of text without an app: what a key, a click or a paste does."""

from types import SimpleNamespace
from typing import Any

import pytest

from kit.console.alone import event
from service_tui.console.messages import ToastMessage
from service_tui.console.widgets.filter_line import FilterLine
from service_tui.console.widgets.plain_input import PlainInput, holds_secret
from service_tui.console.widgets.segmented_control import SegmentedControl

# -- a row of options ---------------------------------------------------------------------------


def options(labels: tuple[str, ...], place: int | None) -> Any:
    row: Any = SegmentedControl(id="row")
    row.sent = []
    row.post_message = row.sent.append
    row.show(labels, place)
    return row


def picked(row: Any) -> list[int]:
    assert all(one.control is row for one in row.sent)
    return [one.index for one in row.sent]


def test_arrows_request_the_neighbour_round_and_round() -> None:
    row = options(("a", "b", "c"), 2)
    row.action_step(1)
    row.action_step(-1)
    assert picked(row) == [0, 1]
    for labels, place in (((), 0), (("a", "b"), None)):
        none = options(labels, place)
        none.action_step(1)
        assert picked(none) == []


@pytest.mark.parametrize("place", [0, 1, None])
def test_a_click_requests_the_option_under_the_pointer(place: int | None) -> None:
    row = options(("one", "three", "x"), place)
    text = str(row.content)
    marks = [] if place is None else [text.index("●")]
    for index, label in enumerate(("one", "three", "x")):
        row.sent.clear()
        row.on_click(event(x=text.index(label)))
        assert picked(row) == [index]
        if index == place:
            assert text[marks[0] + 2 :].startswith(label)
    row.sent.clear()
    row.on_click(event(x=len(text)))
    assert picked(row) == []
    assert text.count("●") == len(marks)


# -- the search of a table ------------------------------------------------------------------------


class Search:
    """The `/` line with nothing around it."""

    def __init__(self, typed: str = "") -> None:
        self.sent: list[Any] = []
        self.focused: list[str] = []
        line: Any = FilterLine(typed)
        kind: Any = line.__class__
        screen = SimpleNamespace(set_focus=lambda one: self.focused.append(f"{one}"))
        line.__class__ = type(kind.__name__, (kind,), {"screen": screen})
        line.update_node_styles = self.ignore
        line.post_message = self.sent.append
        line._line = SimpleNamespace(value=typed, focus=lambda: self.focused.append("line"))
        self.line = line

    def ignore(self, **_: Any) -> None:
        """Style nothing."""

    @property
    def names(self) -> list[str]:
        return [type(one).__name__ for one in self.sent]


def test_a_search_is_shown_while_it_is_typed_or_hides_rows() -> None:
    assert Search("kept").line.has_class("-on")
    search = Search()
    line = search.line
    assert not line.has_class("-on")
    line.begin()
    assert line.has_class("-on")
    assert search.focused == ["line"]
    line.action_leave()
    assert not line.has_class("-on")
    assert (search.focused, search.names) == (["line", "None"], ["Left"])
    line.put("words")
    assert line.typed == "words"
    line.action_leave()
    assert line.has_class("-on")
    line.put("")
    assert not line.has_class("-on")


def test_escape_empties_a_search_and_enter_keeps_it() -> None:
    search = Search("words")
    entered = event()
    search.line._submitted(entered)
    assert (search.line.typed, search.names, entered.stopped) == ("words", ["Left"], ["stop"])
    search.line.action_clear()
    assert (search.line.typed, search.names) == ("", ["Left", "Left"])
    assert not search.line.has_class("-on")


def test_each_change_of_a_search_is_told_and_a_secret_is_warned_of() -> None:
    search = Search("words")
    changed, cleared = event(), event()
    search.line._changed(changed)
    search.line._cleared(cleared)
    typed, warned = search.sent
    assert typed.text == "words"
    assert isinstance(warned, ToastMessage)
    assert (warned.text, warned.tone) == ("possible secret key: cleared", "warn")
    assert changed.stopped == cleared.stopped == ["stop"]


# -- a line of text ----------------------------------------------------------------------------


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


class Pasted:
    """A line of text for one of its methods at a time."""

    def __init__(self, value: str = "", selected: str = "", most: int | None = None) -> None:
        self.value, self.selected_text, self.max_length = value, selected, most
        self.selection = (len(value), len(value))
        self.did: list[Any] = []
        self._kept_length = len(value) - len(selected)
        self._is_entering = True
        self.select_on_focus = True

    def replace(self, text: str, *place: int) -> None:
        self.did.append((text, *place))

    def _clear(self) -> None:
        self.did.append("cleared")

    def select_all(self) -> None:
        self.did.append("all")


@pytest.mark.parametrize(
    ("line", "pasted", "did"),
    [
        (Pasted(), "a\n b\tc\u202e", ("a b c", 0, 0)),
        (Pasted("abc", most=5), "12345", ("12", 3, 3)),
        (Pasted("abc", "bc", most=5), "12345", ("1234", 3, 3)),
        (Pasted("abcdef", most=5), "1", ("", 6, 6)),
        (Pasted(), f"key\n{KEY}", "cleared"),
    ],
)
def test_a_paste_is_one_line_that_fits_and_no_secret(line: Any, pasted: str, did: Any) -> None:
    paste = event(text=pasted)
    PlainInput._on_paste(line, paste)
    assert line.did == [did]
    assert sorted(paste.stopped) == ["prevent_default", "stop"]


def test_a_typed_secret_is_cleared_and_other_text_stays() -> None:
    line: Any = Pasted()
    PlainInput.watch_value(line, "words")
    assert line.did == []
    PlainInput.watch_value(line, KEY)
    assert line.did == ["cleared"]
    sent: list[Any] = []
    stub: Any = SimpleNamespace(value=KEY, post_message=sent.append)
    stub.SecretCleared = lambda one: ("cleared", one.value)
    PlainInput._clear(stub)
    assert (stub.value, sent) == ("", [("cleared", "")])
    assert PlainInput.SecretCleared(line).control is line


async def test_the_click_that_brings_the_focus_selects_all_and_the_next_sets_the_cursor() -> None:
    line: Any = Pasted("text")
    first, second = event(), event()
    await PlainInput._on_mouse_down(line, first)
    await PlainInput._on_mouse_down(line, second)
    assert (line.did, first.stopped, second.stopped) == (["all"], ["prevent_default"], [])
    line._is_entering = True
    PlainInput._on_blur(line, event())
    assert not line._is_entering
    for from_app in (True, False):
        PlainInput._on_focus(line, event(from_app_focus=from_app))
        assert line._is_entering is not from_app


@pytest.mark.parametrize("is_together", [True, False])
async def test_a_key_that_came_with_an_escape_is_no_letter(*, is_together: bool) -> None:
    line: Any = Pasted("text")
    line.screen = SimpleNamespace(is_with_escape=lambda _: is_together)
    key = event()
    await PlainInput._on_key(line, key)
    assert key.stopped == (["prevent_default"] if is_together else [])
    assert not line._is_entering
    line.screen = SimpleNamespace()
    other = event()
    await PlainInput._on_key(line, other)
    assert other.stopped == []
