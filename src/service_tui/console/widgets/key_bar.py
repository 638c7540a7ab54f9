"""The bottom line: the screens by number, and the few keys that matter here; all clickable."""

from typing import Final

from rich.text import Text
from textual import events, on

from service_tui.console.keys import KeyBinding, key_named, keys_of, shown_key
from service_tui.console.messages import KeyChosen
from service_tui.console.widgets.bar import Bar
from service_tui.console.widgets.line_fit import Bit, bit_at, fitted_bits, joined
from service_tui.console.widgets.numbered_view import NumberedView

NOT_NUMBERED: Final = frozenset({"app.log"})
"""Screens without a place in the bottom line."""

MENU: Final = "app.palette"
"""The action of a click on the screen in front: a list of every action that works there, also
those for which the line has no room."""

_LABEL_RANK: Final = 30
_KEY_RANK: Final = 4
"""The order in which items are cut: first the labels of screens, then keys, then these labels;
digits, help (which lists everything else) and the halt are never cut."""

_FRONT_RANK: Final = 3
_LAST_RANKS: Final = {"app.help": 2, "app.halt": 1}


class KeyBar(Bar):
    """The screens on the left, the keys on the right."""

    def __init__(self) -> None:
        super().__init__(id="key-bar")
        self._front = ""
        self._keys: tuple[KeyBinding, ...] = ()
        self._bits: tuple[Bit, ...] = ()

    def show(self, front: NumberedView, needing: int) -> None:
        """Show the keys of the screen in front; `needing` counts the rows of the first screen."""
        self._front = front.name_in_keys
        here = keys_here(front)
        screens = screen_keys()
        bits = [
            _screen_bit(key, place, front.name_in_keys, needing)
            for place, key in enumerate(screens)
        ]
        bits += [_key_bit(key, place) for place, key in enumerate(here)]
        if tuple(bits) != self._bits:
            self._keys, self._bits = (*screens, *here), tuple(bits)
            self.refresh()

    def drawn(self, width: int, height: int) -> Text:
        """The items that fit."""
        del height
        return joined(fitted_bits(self._bits, width), width)

    @on(events.Click)
    def _clicked(self, event: events.Click) -> None:
        event.stop()
        offset = event.get_content_offset(self)
        if offset is None:
            return
        index = bit_at(self._bits, self.size.width, offset.x)
        if index is not None:
            selected = self._keys[index]
            # A click on the screen in front opens the list of its actions.
            is_front = selected.action == f"go('{self._front}')"
            self.post_message(KeyChosen(key_named(MENU) if is_front else selected))


def screen_keys() -> tuple[KeyBinding, ...]:
    """The numbered screens, in their order."""
    return tuple(
        key
        for key in keys_of("app")
        if key.action.startswith("go(") and key.ident not in NOT_NUMBERED
    )


def keys_here(front: NumberedView) -> tuple[KeyBinding, ...]:
    """The keys for the footer, those of the screen first; disabled ones are left out."""
    groups = (front.name_in_keys, "rows")
    own = [
        key
        for group in groups
        for key in keys_of(group)
        if key.footer and not front.disabled_reason(key)
    ]
    return (*own, *(key for key in keys_of("app") if key.footer))


def _screen_bit(key: KeyBinding, place: int, front: str, needing: int) -> Bit:
    number, name = shown_key(key), key.label
    if key.action == f"go('{front}')":
        tone = "bold reverse accent"
        return Bit(Text(f" {number} {name} ", tone), _FRONT_RANK, Text(f" {number} ", tone))
    count = Text(f" {needing}", "bold warn") if _is_first(key) and needing else Text()
    # Beside a digit another number would read as a screen.
    short = Text(f"!{needing}", "bold warn") if count.plain else Text()
    digit = Text.assemble((number, "accent"), short)
    full = Text.assemble((number, "accent"), (f" {name}", "muted"), count)
    return Bit(full, _LABEL_RANK + place, digit)


def _is_first(key: KeyBinding) -> bool:
    return key.ident == "app.attention"


def _key_bit(key: KeyBinding, place: int) -> Bit:
    text = Text.assemble((shown_key(key), "accent"), (f" {key.label}", "muted"))
    last = _LAST_RANKS.get(key.ident)
    if last is None:
        return Bit(text, _KEY_RANK + place, right=True)
    return Bit(text, last, Text(shown_key(key), "accent"), right=True)
