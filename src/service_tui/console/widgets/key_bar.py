"""The bottom line: the screens by number, and the few keys that matter here; all clickable."""

from typing import Final

from rich.text import Text
from textual import events, on

from service_tui.console.keys import KeyBinding, key_named, keys_of, shown_key
from service_tui.console.messages import KeyChosen
from service_tui.console.widgets.bar import Bar
from service_tui.console.widgets.line_fit import Bit, bit_at, fitted_bits, joined
from service_tui.console.widgets.numbered_view import NumberedView

NOT_NUMBERED: Final = frozenset({"app.log", "app.timeline"})
"""Screens without a place in the bottom line."""

IN_REPLAY: Final = ("app.earlier", "app.later", "app.replay")
"""Keys that the footer offers on a recorded state."""

MENU: Final = "app.palette"
"""The action of a click on the screen in front: a list of every action that works there, also
those for which the line has no room."""

_KEY_RANK: Final = 4
"""The order in which keys are cut: the last first; screens, help (which lists everything else) and
the halt are never cut."""

_NAME_RANK: Final = 2
_LAST_RANKS: Final = {"app.help": 3, "app.halt": 1}

_NAMES_FROM: Final = 190
_SHORT_FROM: Final = 140
"""Widths from which each screen has its name, or a short one; below, its digit alone."""

_SHORT: Final = {
    "app.attention": "needs",
    "app.portfolio": "port",
    "app.markets": "mkts",
    "app.monitors": "mon",
    "app.reactor": "react",
    "app.redemption": "redeem",
    "app.research": "research",
    "app.agents": "agents",
    "app.settings": "set",
    "app.blotter": "orders",
}

_COUNT_MAX: Final = 99


class KeyBar(Bar):
    """The screens on the left, the keys on the right."""

    def __init__(self) -> None:
        super().__init__(id="key-bar")
        self._front = ""
        self._shown: tuple[object, ...] = ()
        self._needing = 0
        self._here: tuple[KeyBinding, ...] = ()

    def show(self, front: NumberedView, needing: int) -> None:
        """Show the keys of the screen in front; `needing` counts the rows of the first screen."""
        self._front, self._needing, self._here = front.name_in_keys, needing, keys_here(front)
        shown = (self._front, needing, self._here, screen_keys())
        if shown != self._shown:
            self._shown = shown
            self.refresh()

    def drawn(self, width: int, height: int) -> Text:
        """The screens, each at the same place whatever is in front, and the keys that fit."""
        del height
        return joined(fitted_bits(self._bits(width), width), width)

    def _bits(self, width: int) -> tuple[Bit, ...]:
        screens = screen_keys()
        bits = [_screen_bit(key, self._front, self._needing, width) for key in screens]
        if self._has_name(width):
            labels = (key.label for key in screens if key.action == f"go('{self._front}')")
            name = next(labels, self._front)
            bits.append(Bit(Text(name, "bold accent"), _NAME_RANK))
        bits += [_key_bit(key, place) for place, key in enumerate(self._here, start=1)]
        return tuple(bits)

    def _has_name(self, width: int) -> bool:
        """True if the name of the screen in front stands behind the digits: no digit shows it."""
        numbered = any(key.action == f"go('{self._front}')" for key in screen_keys())
        return width < _SHORT_FROM or not numbered

    def _keys(self, width: int) -> tuple[KeyBinding, ...]:
        """The key of each bit."""
        name = (key_named(MENU),) if self._has_name(width) else ()
        return (*screen_keys(), *name, *self._here)

    @on(events.Click)
    def _clicked(self, event: events.Click) -> None:
        event.stop()
        offset = event.get_content_offset(self)
        if offset is None:
            return
        width = self.size.width
        index = bit_at(self._bits(width), width, offset.x)
        if index is not None:
            selected = self._keys(width)[index]
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
        front.as_offered(key)
        for group in groups
        for key in keys_of(group)
        if key.footer and not front.disabled_reason(key)
    ]
    replay = IN_REPLAY if front.state.rewound_to is not None else ()
    rest = (key for key in keys_of("app") if key.footer)
    return (*own, *map(key_named, replay), *rest)


def needing_text(needing: int) -> str:
    """How many rows need the person, in four cells at most; empty for none."""
    if not needing:
        return ""
    return f"!{_COUNT_MAX}+" if needing > _COUNT_MAX else f"!{needing}"


def _screen_bit(key: KeyBinding, front: str, needing: int, width: int) -> Bit:
    """A screen in as many cells as for any count and any screen in front."""
    number = shown_key(key)
    name = key.label if width >= _NAMES_FROM else _SHORT[key.ident]
    text = Text(number if width < _SHORT_FROM else f"{number} {name}", "muted")
    text.stylize("accent", 0, len(number))
    if _is_first(key):
        text.append(f"{needing_text(needing):<4}", "bold warn")
    if key.action == f"go('{front}')":
        return Bit(Text(text.plain, "bold reverse accent"))
    return Bit(text)


def _is_first(key: KeyBinding) -> bool:
    return key.ident == "app.attention"


def _key_bit(key: KeyBinding, place: int) -> Bit:
    text = Text.assemble((shown_key(key), "accent"), (f" {key.label}", "muted"))
    last = _LAST_RANKS.get(key.ident)
    if last is None:
        return Bit(text, _KEY_RANK + place, right=True)
    return Bit(text, last, Text(shown_key(key), "accent"), right=True)
