"""A list with a cursor: it stays with its row, falls with it, and acts on no other."""

from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest
from rich.text import Text
from textual import events
from textual.geometry import Offset

from kit.console.unopened import Unopened, unopened
from kit.samples.desk import NOW, sample_state
from service_tui.console.forms import cursor_list
from service_tui.console.forms.cursor_list import CursorList
from service_tui.console.forms.sort_menu import USUAL, SortChoice, SortMenu
from service_tui.units import Timestamp

STATE = sample_state()


class Letters(CursorList[None, str]):
    """Rows that a test gives."""

    name_in_keys = "sort_menu"
    title_text = "Letters"
    lines_of_a_row = 2
    given: tuple[str, ...] = ("a", "b", "c")

    def rows(self) -> tuple[str, ...]:
        return self.given

    def key_of(self, row: str) -> str:
        return row

    def text(self) -> Text:
        return Text(" ".join(f"[{row}]" if row == self.at else row for row in self.rows()))


class Falls:
    """The moment after a fall, which lasts until it is ended."""

    def __init__(self, _: object) -> None:
        self.is_fresh = False

    def begin(self) -> None:
        self.is_fresh = True

    def end(self) -> None:
        self.is_fresh = False


@pytest.fixture
def gone(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """The lists that told a person that a row is gone."""
    told: list[object] = []
    monkeypatch.setattr(cursor_list, "Fall", Falls)
    monkeypatch.setattr(cursor_list, "show_row_gone", lambda *acting: told.extend(acting))
    return told


@pytest.fixture
def t(gone: list[object]) -> Iterator[Unopened[Letters]]:
    assert gone == []
    with unopened(Letters(STATE, NOW)) as seen:
        yield seen


def bring(t: Unopened[Letters], rows: str) -> None:
    t.form.given = tuple(rows)
    t.form.take(STATE, Timestamp(NOW + 1))


def shown(t: Unopened[Letters]) -> str:
    return str(t.form.query_one(".list-rows").render())


def test_the_cursor_begins_at_the_first_row_and_steps_to_either_end(
    t: Unopened[Letters],
) -> None:
    assert (shown(t), t.form.current_row()) == ("[a] b c", "a")
    for by, row in ((1, "b"), (1, "c"), (1, "c"), (-1, "b"), (-5, "a"), (-1, "a"), (9, "c")):
        t.form.action_step(by)
        assert (t.form.current_row(), t.form.row_or_toast()) == (row, row)
        assert f"[{row}]" in shown(t)
    # The row before stays in sight, each with its two lines.
    assert [y for _, y in t.scrolled] == [0, 2, 2, 0, 0, 0, 2]


def test_the_cursor_stays_with_its_row_wherever_that_goes(
    t: Unopened[Letters], gone: list[object]
) -> None:
    t.form.action_step(1)
    for rows in ("bac", "cab", "b"):
        bring(t, rows)
        assert t.form.row_or_toast() == "b"
    assert t.form.now == NOW + 1
    bring(t, "xyzb")
    t.form.action_step(-1)
    assert (t.form.row_or_toast(), gone) == ("z", [])


@pytest.mark.parametrize(("rows", "to"), [("ac", "c"), ("a", "a"), ("xyz", "y")])
def test_a_key_does_nothing_on_the_row_to_which_the_cursor_fell(
    t: Unopened[Letters], gone: list[object], rows: str, to: str
) -> None:
    t.form.action_step(1)
    bring(t, rows)
    assert (t.form.at, t.form.current_row()) == (to, to)
    assert t.form.row_or_toast() is None
    assert gone == [t.form]
    t.form.action_step(0)
    assert t.form.row_or_toast() == to


def test_a_list_that_empties_has_no_row_and_says_so(
    t: Unopened[Letters], gone: list[object]
) -> None:
    bring(t, "")
    t.form.action_step(1)
    assert (t.form.current_row(), t.form.row_or_toast(), gone) == (None, None, [t.form])
    assert str(t.form.query_one("#frame").border_subtitle).strip() == "esc closes"


def test_a_list_that_begins_empty_takes_its_first_row_as_it_comes(
    gone: list[object], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Letters, "given", ())
    with unopened(Letters(STATE, NOW)) as t:
        assert (t.form.row_or_toast(), gone) == (None, [])
        bring(t, "ab")
        assert (t.form.row_or_toast(), gone) == ("a", [])
        assert len(str(t.form.query_one("#frame").border_subtitle)) > len(" esc closes ")
        t.form.action_close()
        assert t.returned == [None]


CHOICES = (
    SortChoice("price", "price", "p"),
    SortChoice("age", "age", "a", falling=True),
    SortChoice("cost", "cost", "c", is_shown=False),
    SortChoice(USUAL, "usual order", "0"),
)


@pytest.fixture
def menu() -> Iterator[Unopened[SortMenu]]:
    with unopened(SortMenu(STATE, NOW, CHOICES)) as seen:
        yield seen


def test_the_menu_begins_at_the_present_order_and_returns_the_one_under_the_cursor(
    menu: Unopened[SortMenu],
) -> None:
    lines = str(menu.form.query_one(".list-rows").render()).splitlines()
    assert [line.split() for line in lines] == [
        ["p", "price"],
        ["▌", "a", "age", "↓", "reverse", "to", "↑"],
        ["c", "cost", "hidden", "at", "this", "width"],
        ["0", "usual", "order"],
    ]
    menu.form.action_choose()
    menu.form.action_step(1)
    menu.form.action_choose()
    menu.form.action_step(-2)
    menu.form.action_choose()
    assert menu.returned == ["age", "cost", "price"]


@pytest.mark.parametrize(("letter", "column"), [("p", "price"), ("0", USUAL), ("x", None)])
def test_a_letter_of_the_menu_sorts_by_its_column_and_goes_no_further(
    menu: Unopened[SortMenu], letter: str, column: str | None
) -> None:
    key = events.Key(letter, letter)
    menu.form.on_key(key)
    is_known = column is not None
    assert menu.returned == ([column] if is_known else [])
    assert (key._stop_propagation, key._no_default_action) == (is_known, is_known)


@pytest.mark.parametrize(
    ("offset", "column"),
    [(Offset(2, 0), "price"), (Offset(0, 3), USUAL), (Offset(0, 4), None), (None, None)],
)
def test_a_click_sorts_by_the_column_of_its_line(
    menu: Unopened[SortMenu], offset: Offset | None, column: str | None
) -> None:
    stopped: list[bool] = []
    event: Any = SimpleNamespace(
        get_content_offset=lambda _: offset, stop=lambda: stopped.append(True)
    )
    menu.form._clicked(event)
    assert menu.returned == ([] if column is None else [column])
    assert len(stopped) == len(menu.returned)


def test_a_menu_of_rising_order_offers_the_falling_one() -> None:
    rising = (SortChoice("age", "age", "a", falling=False), CHOICES[-1])
    with unopened(SortMenu(STATE, NOW, rising)) as menu:
        assert "↑ reverse to ↓" in str(menu.form.query_one(".list-rows").render())
    plain = (CHOICES[0], CHOICES[-1])
    with unopened(SortMenu(STATE, NOW, plain)) as menu:
        menu.form.action_choose()
        assert menu.returned == ["price"]
