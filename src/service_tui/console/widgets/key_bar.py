"""The bottom lines: the screens by number and name, and the keys that matter here; all clickable.

On low terminals both share one line.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Final, NamedTuple

from rich.text import Text
from textual import events, on

from service_tui.console.keys import KeyBinding, key_named, keys_of, shown_key
from service_tui.console.messages import KeyChosen
from service_tui.console.widgets.bar import Bar
from service_tui.console.widgets.line_fit import Bit, bit_at, fitted_bits, joined, spare
from service_tui.console.widgets.numbered_view import NumberedView

NOT_NUMBERED: Final = frozenset({"app.log", "app.timeline", "app.exposure"})
"""Screens without a place in the bottom line."""

IN_REPLAY: Final = ("app.earlier", "app.later", "app.replay")
"""Keys that the footer offers on a recorded state."""

MENU: Final = "app.palette"
"""The action of a click on the screen in front: a list of every action that works there, also
those for which the line has no room."""

NEEDS: Final = "app.attention"
"""The screen whose count is an alarm."""

_KEY_RANK: Final = 4
"""The order in which keys are cut: the last first; screens, help (which lists everything else) and
the halt are never cut."""

_NAME_RANK: Final = 2
_LAST_RANKS: Final = {"app.help": 3, "app.halt": 1}

_SHORT: Final = {
    "app.attention": "needs",
    "app.redemption": "redeem",
    "app.research": "research",
}
"""Names of screens where the whole ones do not fit; the others keep theirs."""

_SHORTER: Final = {
    **_SHORT,
    "app.portfolio": "port",
    "app.monitors": "mon",
    "app.settings": "set",
}

_SHORTEST: Final = {
    "app.attention": "need",
    "app.portfolio": "port",
    "app.markets": "mkts",
    "app.monitors": "mon",
    "app.reactor": "react",
    "app.redemption": "redm",
    "app.research": "res",
    "app.agents": "agt",
    "app.settings": "set",
    "app.blotter": "ord",
}

_COUNT_MAX: Final = 99
_COUNT_CELLS: Final = 4
_KEYS_LEAST: Final = 7
"""Cells that are kept for help and the halt where the keys have no line of their own."""

Counts = Mapping[str, int]
"""How much waits on a screen, by the id of its key."""


class _Line(NamedTuple):
    """One line: its pieces, the key of each, and the blank cells between two."""

    bits: tuple[Bit, ...]
    keys: tuple[KeyBinding, ...]
    gap: int


class KeyBar(Bar):
    """The keys of the screen in front, and below them all screens."""

    def __init__(self) -> None:
        super().__init__(id="key-bar")
        self._front = ""
        self._shown: tuple[object, ...] = ()
        self._counts: Counts = {}
        self._here: tuple[KeyBinding, ...] = ()

    def show(self, front: NumberedView, counts: Counts) -> None:
        """Show the keys of the screen in front, and the counts beside the screens."""
        self._front, self._counts, self._here = front.name_in_keys, counts, keys_here(front)
        shown = (self._front, counts, self._here, screen_keys())
        if shown != self._shown:
            self._shown = shown
            self.refresh()

    def drawn(self, width: int, height: int) -> Text:
        """The screens, each at the same place whatever is in front, and the keys that fit."""
        lines = self._lines(width, height)
        return Text("\n").join(
            joined(fitted_bits(line.bits, width, line.gap), width) for line in lines
        )

    def _lines(self, width: int, height: int) -> tuple[_Line, ...]:
        is_alone = height > 1
        own = tuple(
            _key_bit(key, place, right=not is_alone or key.group == "app")
            for place, key in enumerate(self._here, start=1)
        )
        is_numbered = any(map(self._is_front, screen_keys()))
        screens = self._screens(width if is_alone else width - _KEYS_LEAST)
        has_names = screens.bits[1].text.cell_len > 1
        # The name of the screen in front, where no other piece shows it, and the list of its keys.
        is_named = is_numbered and (is_alone or has_names)
        name = () if is_named else (self._front_bit(),)
        menu = () if is_named else (key_named(MENU),)
        if is_alone:
            return _Line((*name, *own), (*menu, *self._here), 2), screens
        keys = (*screens.keys, *menu, *self._here)
        return (_Line((*screens.bits, *name, *own), keys, screens.gap),)

    def _front_bit(self) -> Bit:
        label = next((key.label for key in screen_keys() if self._is_front(key)), self._front)
        return Bit(Text(label, "bold accent"), _NAME_RANK)

    def _screens(self, width: int) -> _Line:
        """The screens, with the longest names that fit whatever the counts are.

        A name that changed with a count would have to be read anew.
        """
        # All pieces and the gaps between them fit.
        fullest = self._forms(dict.fromkeys(self._counts, _COUNT_MAX))
        *forms, digits = zip(fullest, self._forms(self._counts), strict=True)
        fitting = (shown for full, shown in forms if spare(full.bits, width, full.gap) >= -full.gap)
        return next(fitting, digits[1])

    def _forms(self, counts: Counts) -> Iterator[_Line]:
        """The screens from the longest form to digits alone."""
        keys = screen_keys()
        for short in ({}, _SHORT):
            for gap in (2, 1):
                yield _Line(self._bits(short, counts), keys, gap)
        yield _Line(self._bits(_SHORTER, counts), keys, 1)
        for shown in (counts, _needs_alone(counts)):
            yield _Line(self._bits(_SHORTEST, shown), keys, 1)
        yield _Line(self._bits({}, _needs_alone(counts), names=False), keys, 2)

    def _bits(
        self, short: Mapping[str, str], counts: Counts, *, names: bool = True
    ) -> tuple[Bit, ...]:
        return tuple(
            self._screen_bit(key, short.get(key.ident, key.label) if names else "", counts)
            for key in screen_keys()
        )

    def _screen_bit(self, key: KeyBinding, name: str, counts: Counts) -> Bit:
        """A screen with its count, in as many cells whatever screen is in front."""
        number = shown_key(key)
        text = Text(f"{number} {name}".rstrip(), "muted")
        text.stylize("accent", 0, len(number))
        if key.ident == NEEDS:
            count = needing_text(counts.get(NEEDS, 0))
            text.append(f"{count:<{_COUNT_CELLS}}", "bold warn")
        elif key.ident in counts:
            text.append(_waiting_text(counts[key.ident]), "warn")
        return Bit(Text(text.plain, "bold reverse accent") if self._is_front(key) else text)

    def _is_front(self, key: KeyBinding) -> bool:
        return key.action == f"go('{self._front}')"

    @on(events.Click)
    def _clicked(self, event: events.Click) -> None:
        event.stop()
        offset = event.get_content_offset(self)
        if offset is None:
            return
        width, height = self.size
        line = self._lines(width, height)[offset.y]
        index = bit_at(line.bits, width, offset.x, line.gap)
        if index is not None:
            selected = line.keys[index]
            # A click on the screen in front opens the list of its actions.
            self.post_message(KeyChosen(key_named(MENU) if self._is_front(selected) else selected))


def screen_keys() -> tuple[KeyBinding, ...]:
    """The numbered screens, in their order."""
    return tuple(
        key
        for key in keys_of("app")
        if key.action.startswith("go(") and key.ident not in NOT_NUMBERED
    )


def keys_here(front: NumberedView) -> tuple[KeyBinding, ...]:
    """The keys for the footer, those of the screen first; disabled ones are left out.

    On an empty list the key that brings its first row comes before all others.
    """
    groups = (front.name_in_keys, "rows")
    first = front.first_step()
    own = [
        front.as_offered(key)
        for group in groups
        for key in keys_of(group)
        if (key.footer or key.ident == first) and not front.disabled_reason(key)
    ]
    own.sort(key=lambda key: key.ident != first)
    replay = IN_REPLAY if front.state.rewound_to is not None else ()
    rest = (key for key in keys_of("app") if key.footer)
    return (*own, *map(_in_replay, replay), *rest)


def _in_replay(ident: str) -> KeyBinding:
    """A key of the replay; the one that opened it returns to the present."""
    key = key_named(ident)
    return replace(key, label="now") if ident == "app.replay" else key


def _needs_alone(counts: Counts) -> Counts:
    return {NEEDS: counts.get(NEEDS, 0)}


def needing_text(needing: int) -> str:
    """How many rows need the person, in four cells at most; empty for none."""
    if not needing:
        return ""
    return f"!{_COUNT_MAX}+" if needing > _COUNT_MAX else f"!{needing}"


def _waiting_text(count: int) -> str:
    """How much waits on another screen, in three cells at most; empty for none."""
    return f" {min(count, _COUNT_MAX)}" if count else ""


def _key_bit(key: KeyBinding, place: int, *, right: bool) -> Bit:
    text = Text.assemble((shown_key(key), "accent"), (f" {key.label}", "muted"))
    last = _LAST_RANKS.get(key.ident)
    if last is None:
        return Bit(text, _KEY_RANK + place, right=right)
    return Bit(text, last, Text(shown_key(key), "accent"), right=right)
