"""The bottom line: which keys it offers, what it counts, and when it is drawn anew."""

from types import SimpleNamespace
from typing import Any

import pytest

from service_tui.console.keys import KeyBinding
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
