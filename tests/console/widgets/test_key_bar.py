"""The bottom line: which keys it offers, what it counts, and when it is drawn anew."""

from functools import partial
from types import SimpleNamespace
from typing import Any

import pytest
from textual.geometry import Offset, Size

from kit.console.alone import event
from service_tui.console.keys import KeyBinding, key_named
from service_tui.console.messages import KeyChosen
from service_tui.console.widgets import key_bar
from service_tui.console.widgets.key_bar import KeyBar, keys_here, screen_keys


def front(name: str = "markets", *, rewound: bool = False, disabled: str = "") -> Any:
    state = SimpleNamespace(rewound_to=1.0 if rewound else None)
    return SimpleNamespace(
        name_in_keys=name,
        state=state,
        as_offered=lambda key: key,
        disabled_reason=lambda key: "not here" if key.ident == disabled else "",
    )


@pytest.mark.parametrize(
    ("needing", "shown"), [(0, "    "), (1, "!1  "), (99, "!99 "), (100, "!99+")]
)
def test_what_needs_the_person_is_counted_up_to_99(needing: int, shown: str) -> None:
    text = key_bar._screen_bit(screen_keys()[0], "markets", needing, 100).text
    assert text.plain.endswith(shown)
    # The line keeps its width whichever screen is in front.
    ahead = key_bar._screen_bit(screen_keys()[0], "attention", needing, 100).text
    assert (ahead.plain, str(ahead.style)) == (text.plain, "bold reverse accent")


def test_the_keys_of_a_recorded_state_are_offered_on_one_alone() -> None:
    def idents(*, rewound: bool) -> set[str]:
        return {key.ident for key in keys_here(front(rewound=rewound))}

    assert idents(rewound=True) >= set(key_bar.IN_REPLAY)
    assert idents(rewound=True) - idents(rewound=False) == set(key_bar.IN_REPLAY)


def test_a_key_that_is_disabled_here_is_left_out() -> None:
    first = keys_here(front())[0]
    assert first.ident not in {key.ident for key in keys_here(front(disabled=first.ident))}


def test_the_line_is_drawn_anew_with_each_of_its_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    drawn: list[str] = []
    bar, screens = KeyBar(), screen_keys()
    monkeypatch.setattr(bar, "refresh", lambda: drawn.append("drawn"))

    def show(name: str, needing: int, keys: tuple[KeyBinding, ...]) -> int:
        monkeypatch.setattr(key_bar, "screen_keys", lambda: keys)
        bar.show(front(name), needing)
        return len(drawn)

    assert show("markets", 0, screens) == 1
    assert show("markets", 0, screens) == 1
    assert show("markets", 1, screens) == 2
    # A person has given a screen another key.
    assert show("markets", 1, screens[:-1]) == 3
    assert show("agents", 1, screens[:-1]) == 4


WIDTH = 150


def offset_of(offset: Offset | None, _: object) -> Offset | None:
    return offset


class Clicked(KeyBar):
    """A bar of a width that keeps what it sends."""

    def __init__(self, name: str, width: int) -> None:
        super().__init__()
        self.cells = Size(width, 1)
        self.sent: list[Any] = []
        self.show(front(name), 0)

    @property
    def size(self) -> Size:
        return self.cells

    def refresh(self, *_: Any, **__: Any) -> Any:
        return self

    def post_message(self, message: Any) -> bool:
        self.sent.append(message)
        return True

    def chosen(self, x: int | None) -> str | None:
        """The key that a click chooses."""
        offset = None if x is None else Offset(x, 0)
        click = event(get_content_offset=partial(offset_of, offset))
        self.sent.clear()
        self._clicked(click)
        assert click.stopped == ["stop"]
        for message in self.sent:
            assert isinstance(message, KeyChosen)
        return self.sent[0].key.ident if self.sent else None


@pytest.mark.parametrize("width", [80, WIDTH, 200])
def test_a_click_on_a_key_chooses_exactly_that_key(width: int) -> None:
    bar = Clicked("markets", width)
    line = bar.drawn(width, 1).plain
    assert len(line) <= width
    keys = bar._keys(width)
    assert len(keys) == len(bar._bits(width))
    # Every place where a key may begin, and one beyond it.
    chosen = {x: bar.chosen(x) for x in range(width) if line[x : x + 1].strip() and x % 2 == 0}
    chosen |= {at: bar.chosen(at) for at in (line.index(key_bar.shown_key(key)) for key in
        screen_keys())}  # fmt: skip
    assert bar.chosen(None) is None
    for key in screen_keys():
        at = line.index(key_bar.shown_key(key))
        # The screen in front opens the list of its actions.
        expected = key_bar.MENU if key.ident == "app.markets" else key.ident
        assert chosen[at] == expected
    offered = {key.ident for key in keys_here(front())}
    assert {one for one in chosen.values() if one} <= {*offered, key_bar.MENU, *(
        key.ident for key in screen_keys())}  # fmt: skip
    assert offered & set(chosen.values())
    label = key_named("app.help").label
    if label in line:
        assert bar.chosen(line.index(label)) == "app.help"


@pytest.mark.parametrize(
    ("name", "width", "is_named"),
    [("markets", 139, True), ("markets", 140, False), ("log", 200, True), ("log", 100, True)],
)
def test_the_screen_in_front_has_its_name_where_no_digit_shows_it(
    name: str, width: int, *, is_named: bool
) -> None:
    bar = Clicked(name, width)
    assert bar._has_name(width) is is_named
    assert (bar._keys(width)[len(screen_keys())].ident == key_bar.MENU) is is_named


def test_the_screens_have_their_names_from_a_width_on() -> None:
    label = next(key.label for key in screen_keys() if key.ident == "app.portfolio")
    assert label in Clicked("markets", 190).drawn(190, 1).plain
    line = Clicked("markets", 189).drawn(189, 1).plain
    assert label not in line
    assert "port" in line
