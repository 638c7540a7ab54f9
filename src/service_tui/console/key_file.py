"""A person's own keys: `keys.toml` maps ids of actions to keys."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import combinations
from pathlib import Path
from types import MappingProxyType
from typing import Final

from textual.binding import Binding
from textual.keys import Keys, key_to_character

from service_tui.console.keys import KEYS, KeyBinding, key_name, readable
from service_tui.toml_lines import TomlEntry, TomlError, entries, nearest, printable, read_text

RENAMED: Final = MappingProxyType({
    "portfolio.closed": "portfolio.list",
    "orders.cancel": "portfolio.cancel",
    "orders.all": "portfolio.cancel_all",
    "orders.market": "portfolio.market",
})
"""Former ids of actions, which a file may still have, and the present ones."""

_SCREENS: Final = (
    "attention", "portfolio", "markets", "monitors", "reactor", "redemption", "research",
    "agents", "settings", "blotter", "log", "timeline", "exposure",
    "approvals",
)  # fmt: skip
_PANEL_GROUPS: Final = (
    "wallet",
    "sort_menu",
    "column_menu",
    "saved_filters",
    "watchlists",
    "beside_menu",
    "compare_menu",
    "event_page",
    "stored_keys",
    "aside",
    "halt",
    "webhooks",
    "agent_alerts",
    "skill_log",
    "chart",
)
_FORM_GROUPS: Final = (
    "approval",
    "start_skill",
    "leash_form",
    "price_alert",
    "webhook_form",
    "agent_alert_form",
)
PLACES: Final = (
    *((screen, "rows", "app") for screen in _SCREENS),
    *(("dialog", panel) for panel in _PANEL_GROUPS),
    *(("form", form) for form in _FORM_GROUPS),
    ("ticket",),
    ("command_line",),
)
"""Groups of the key table whose keys work at one time, in one place."""

_NAMES: Final = frozenset({
    "plus",
    *(key.value for key in Keys),
    *(name for key in KEYS for name in key.keys),
})
_MODIFIERS: Final = frozenset({"ctrl", "alt", "shift"})
_SAME: Final = MappingProxyType({
    "ctrl+i": "tab",
    "ctrl+m": "enter",
    "ctrl+h": "backspace",
    "ctrl+left_square_bracket": "escape",
})
"""Keys that a terminal sends as another one."""

_FORMS: Final = frozenset({
    "ticket", "command_line", *(group for place in PLACES if place[0] == "form" for group in place),
})  # fmt: skip
_WALKS: Final = frozenset({"tab", "shift+tab", "up", "down"})
"""Groups with input lines, and the keys that move between these."""

_NEEDED: Final = ("escape", "enter", "tab", "shift+tab", "ctrl+c", "ctrl+d", "ctrl+z", "ctrl+q")
"""Keys that leave, choose, go on or end wherever they are pressed."""

ANSWERS: Final = frozenset({"y", "p", "enter", "left", "right", *"123456789"})
"""Keys that answer a dialog, or choose among its answers, whatever else is moved."""


@dataclass(frozen=True, slots=True)
class OwnKeys:
    """The keys of each moved action by its id, and the problems of the file.

    If there is any problem, no action is moved.
    """

    moved: Mapping[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])
    problems: tuple[str, ...] = ()


def read_own_keys(path: Path) -> OwnKeys:
    """The keys of a file, which may be missing; never raises."""
    try:
        text = read_text(path)
        result = OwnKeys() if text is None else own_keys(text.text)
    except TomlError as error:
        result = OwnKeys(problems=(str(error),))
    shown = printable(str(path))
    return OwnKeys(result.moved, tuple(f"{shown}: {problem}" for problem in result.problems))


def own_keys(text: str) -> OwnKeys:
    """The keys that a text of TOML gives to actions; a problem names its line or its ids."""
    try:
        result = entries(text)
    except TomlError as error:
        return OwnKeys(problems=(str(error),))
    moved: dict[str, tuple[str, ...]] = {}
    problems: list[str] = []
    for entry in result:
        try:
            moved[RENAMED.get(entry.key, entry.key)] = _keys_of(entry)
        except TomlError as error:
            problems.append(f"line {entry.line}: {error}")
    problems += () if problems else _clashes(moved)
    return OwnKeys(problems=tuple(problems)) if problems else OwnKeys(moved)


def _keys_of(entry: TomlEntry) -> tuple[str, ...]:
    """The keys of one action.

    Returns:
        Textual's names of them.

    Raises:
        TomlError: there is no such action or key, or the key cannot do it.
    """
    ident = printable(entry.key)
    name = RENAMED.get(entry.key, entry.key)
    action = next((key for key in KEYS if key.ident == name), None)
    if action is None:
        idents = [key.ident for key in KEYS]
        raise TomlError(f"no action is called {ident}{nearest(entry.key, idents)}")
    named: list[object] = entry.value if isinstance(entry.value, list) else [entry.value]  # pyright: ignore[reportUnknownVariableType, reportUnknownMemberType] - of TOML
    if not named or not all(isinstance(name, str) for name in named):
        raise TomlError(f'{ident} needs a key such as "ctrl+b", or a list of keys')
    keys = tuple(_checked(str(name)) for name in named)
    _refuse_needed(action, keys)
    return keys


def _refuse_needed(action: KeyBinding, keys: tuple[str, ...]) -> None:
    """Raise if an action takes a key that an input line, or a dialog, needs itself.

    Raises:
        TomlError: the action works there, and one of its keys is such a key.
    """
    ident = action.ident
    works_in_inputs = action.priority or action.group in _FORMS
    typed = [key for key in keys if _is_typed(key)]
    # The ticket's default letters only work outside of its input lines.
    if works_in_inputs and typed and not any(_is_typed(key) for key in action.keys):
        text = f"{ident} works while you type, too: give it a function key or one with ctrl"
        raise TomlError(f"{text}, not {readable(typed[0])}")
    for key in keys:
        if works_in_inputs and key not in action.keys and key in _editing():
            raise TomlError(
                f"{ident} cannot lie on {readable(key)}: where you type, that key is needed"
            )
        if action.group == "dialog" and key in ANSWERS:
            raise TomlError(f"{ident} cannot lie on {readable(key)}: it answers a dialog")


def read_key(text: str) -> str:
    """Textual's name of a key that a person wrote.

    Raises:
        TomlError: there is no such key, or terminals send it as another one.
    """
    return _checked(text)


def keys_in_use(screen: str, moved: Mapping[str, tuple[str, ...]]) -> Mapping[str, str]:
    """What each key means on a screen: the id of an action, or what it does in a list."""
    from service_tui.console.widgets.record_table import RecordTable  # noqa: PLC0415  (only where keys are given)

    taken = {
        key: binding.description or binding.action
        for binding in RecordTable.BINDINGS
        if isinstance(binding, Binding)
        for key in binding.key.split(",")
    }
    for action in KEYS:
        if action.group in {screen, "rows", "app"}:
            taken |= dict.fromkeys(_now(action, moved), action.ident)
    return taken | dict.fromkeys(_NEEDED, "a key of every terminal")


def _is_typed(key: str) -> bool:
    return len(readable(key)) == 1 or key == "space"


def _editing() -> frozenset[str]:
    """The keys of an input line, and those that lead to the next one."""
    from textual.widgets import Input  # noqa: PLC0415  (only where keys are moved)

    bound = [binding for binding in Input.BINDINGS if isinstance(binding, Binding)]
    return _WALKS.union(key for binding in bound for key in binding.key.split(","))


def _checked(text: str) -> str:
    """Textual's name of a key.

    Returns:
        The name.

    Raises:
        TomlError: there is no such key, or terminals send it as another one.
    """
    key = key_name(text)
    *modifiers, base = key.split("+")
    is_known = base in _NAMES or key_to_character(base) is not None
    if not base or not is_known or not set(modifiers) <= _MODIFIERS:
        raise TomlError(f"there is no key called {printable(text)!r}")
    if key in _SAME:
        sent = readable(_SAME[key])
        raise TomlError(f"a terminal sends {readable(key)} as {sent}: choose another key")
    return key


def _clashes(moved: Mapping[str, tuple[str, ...]]) -> Iterator[str]:
    """Conflicts of two actions of one place on one key, if the default table has none."""
    text: set[str] = set()
    for place in PLACES:
        actions = [
            key for key in KEYS if key.group in place or (key.group == "app" and key.priority)
        ]
        for one, other in combinations(actions, 2):
            new = ({*_now(one, moved)} & {*_now(other, moved)}) - ({*one.keys} & {*other.keys})
            both = f"{one.ident} and {other.ident} are both on"
            text |= {f"{both} {readable(key)}" for key in new}
        if {"rows", "dialog"} & {*place}:
            text.update(_clashes_in_lists(actions, moved))
    yield from sorted(text)


def _clashes_in_lists(
    actions: list[KeyBinding], moved: Mapping[str, tuple[str, ...]]
) -> Iterator[str]:
    """Conflicts of moved actions with keys that move in lists and pages; enter is free there."""
    from service_tui.console.widgets.record_table import RecordTable  # noqa: PLC0415  (only where keys are moved)

    taken = {
        key: binding.description
        for binding in RecordTable.BINDINGS
        if isinstance(binding, Binding) and (binding.id or "").startswith("table.")
        for key in binding.key.split(",")
        if key != "enter"
    }
    for action in actions:
        for key in moved.get(action.ident, ()):
            if key in taken:
                yield f"{action.ident} cannot lie on {readable(key)}: there it means {taken[key]}"


def _now(action: KeyBinding, moved: Mapping[str, tuple[str, ...]]) -> tuple[str, ...]:
    return moved.get(action.ident, action.keys)
