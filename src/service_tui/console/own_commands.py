"""A person's own commands: `commands.toml` gives keys and names to lines for the shell."""

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from itertools import combinations
from pathlib import Path
from typing import Final

from service_tui.console import formats
from service_tui.console.command_line.verbs import REFUSED, SCREEN_NAMES, verb_of
from service_tui.console.key_file import keys_in_use, read_key
from service_tui.console.keys import readable
from service_tui.console.own_names import own_names
from service_tui.console.parts.table_screen import TableScreen
from service_tui.console.widgets.numbered_view import NumberedView
from service_tui.desk.commands.own_commands import RunOwnCommand
from service_tui.terms import counted
from service_tui.toml_lines import (
    TomlError,
    TomlTable,
    nearest,
    printable,
    read_text,
    tables,
)

COMMANDS_MAX: Final = 40
LINE_MAX: Final = 2_000
VALUE_MAX: Final = 500
# ours: as many as a page of help has room for, each as long as a person reads.

VARIABLES: Final = (
    "SCREEN", "MARKET_ID", "QUESTION", "MARKET_URL", "PRICE", "SIDE", "VENUE", "AGENT", "AGENT_ID",
    "TRADE_ID",
)  # fmt: skip
"""Every variable that a line gets; one that the row does not have is empty."""

_FIELDS: Final = ("name", "key", "run", "screens", "about")
_NAME: Final = re.compile(r"[a-z][a-z0-9-]{0,23}")
_OTHERS: Final = 0o077
_URL: Final = re.compile(r"https?://[!-~]+")
_NO_KEYS: Final[Mapping[str, tuple[str, ...]]] = {}


@dataclass(frozen=True, slots=True)
class OwnCommand:
    """One command. `screens` are names of `keys.py`; empty: it works on all of them."""

    name: str
    line: str
    keys: tuple[str, ...] = ()
    screens: tuple[str, ...] = ()
    about: str = ""

    def works_on(self, screen: str) -> bool:
        """True on this screen."""
        return not self.screens or screen in self.screens

    @property
    def cap(self) -> str:
        """Its first key, as printed on the key cap, else what is typed."""
        return readable(self.keys[0]) if self.keys else f":{self.name}"

    @property
    def help(self) -> str:
        """Its effect in a few words, with its key."""
        about = self.about or self.line
        return f"{about} ({self.cap})" if self.keys else about


@dataclass(frozen=True, slots=True)
class OwnCommands:
    """The commands of a file, and its problems; if there is any, there is no command."""

    commands: tuple[OwnCommand, ...] = ()
    problems: tuple[str, ...] = ()

    @property
    def names(self) -> tuple[tuple[str, str], ...]:
        """The name of each command with its help."""
        return tuple((one.name, one.help) for one in self.commands)

    @property
    def keys(self) -> tuple[str, ...]:
        """The keys of all commands, each once."""
        return tuple(dict.fromkeys(key for one in self.commands for key in one.keys))

    def on(self, screen: str) -> tuple[OwnCommand, ...]:
        """The commands that work on a screen."""
        return tuple(one for one in self.commands if one.works_on(screen))


def read_own_commands(path: Path, moved: Mapping[str, tuple[str, ...]] = _NO_KEYS) -> OwnCommands:
    """The commands of a file, which may be missing; never raises.

    Args:
        path: the file. What others can read or change is not run.
        moved: the person's own keys of actions.
    """
    shown = printable(str(path))
    try:
        file = read_text(path)
    except TomlError as error:
        return OwnCommands(problems=(f"{shown}: {error}",))
    if file is None:
        return OwnCommands()
    if file.mode & _OTHERS or file.owner != os.getuid():
        why = f"others can read or change it: chmod 600 {shown}"
        return OwnCommands(problems=(f"{shown}: {why}",))
    result = own_commands(file.text, moved)
    return replace(result, problems=tuple(f"{shown}: {one}" for one in result.problems))


def own_commands(text: str, moved: Mapping[str, tuple[str, ...]] = _NO_KEYS) -> OwnCommands:
    """The commands of a text of TOML; a problem names its line."""
    try:
        found = tables(text)
    except TomlError as error:
        return OwnCommands(problems=(str(error),))
    commands: list[OwnCommand] = []
    problems: list[str] = []
    for table in found:
        try:
            if (command := _command_of(table)) is not None:
                commands.append(command)
        except TomlError as error:
            problems.append(f"line {table.line}: {error}")
    if len(commands) > COMMANDS_MAX:
        problems.append(f"{counted(len(commands), 'command')}: at most {COMMANDS_MAX}")
    problems += () if problems else _clashes(commands, moved)
    return OwnCommands(problems=tuple(problems)) if problems else OwnCommands(tuple(commands))


def _command_of(table: TomlTable) -> OwnCommand | None:
    """The command of a table; None for a top without a value.

    Raises:
        TomlError: it is none.
    """
    if not table.name and not table.values:
        return None
    if table.name != "command":
        raise TomlError("a command stands below a line [[command]]")
    for name in table.values:
        if name not in _FIELDS:
            raise TomlError(f"a command has no {printable(name)}{nearest(name, _FIELDS)}")
    name, line = _text(table, "name", VALUE_MAX), _text(table, "run", LINE_MAX)
    if _NAME.fullmatch(name) is None:
        raise TomlError("name is small letters, digits and dashes, at most 24")
    if (verb_of(name) is not None and name not in own_names()) or name in REFUSED:
        raise TomlError(f"{name} is a command already: choose another name")
    if not line.strip() or "\0" in line:
        raise TomlError(f"{name} needs a line for the shell: run = '...'")
    keys = tuple(read_key(key) for key in _texts(table, "key"))
    about = formats.plain(_text(table, "about", VALUE_MAX), VALUE_MAX).plain
    return OwnCommand(name, line, keys, tuple(map(_screen, _texts(table, "screens"))), about)


def _text(table: TomlTable, name: str, letters: int) -> str:
    value = table.values.get(name, "")
    if not isinstance(value, str) or len(value) > letters:
        raise TomlError(f"{name} is a text of at most {letters:,} letters")
    return value


def _texts(table: TomlTable, name: str) -> list[str]:
    """The texts of a list, or the one that stands in its place."""
    value = table.values.get(name, [])
    found: list[object] = value if isinstance(value, list) else [value]  # pyright: ignore[reportUnknownVariableType] - of TOML
    if not all(isinstance(one, str) for one in found):
        raise TomlError(f"{name} is a text, or a list of texts")
    return [str(one) for one in found]


def _screen(name: str) -> str:
    """The screen of a name in a command."""
    found = SCREEN_NAMES.get(name)
    if found is None:
        names = tuple(SCREEN_NAMES)
        raise TomlError(f"no screen is called {printable(name)}{nearest(name, names)}")
    return found


def _clashes(commands: Sequence[OwnCommand], moved: Mapping[str, tuple[str, ...]]) -> Iterator[str]:
    """Names that are given twice, and keys that do something else where the command works."""
    for one, other in combinations(commands, 2):
        if one.name == other.name:
            yield f"two commands are called {one.name}"
        both = not one.screens or not other.screens or {*one.screens} & {*other.screens}
        for key in ({*one.keys} & {*other.keys}) if both else ():
            yield f"{one.name} and {other.name} are both on {readable(key)}"
    for command in commands:
        for screen in command.screens or tuple(SCREEN_NAMES.values()):
            taken = keys_in_use(screen, moved)
            found = next((key for key in command.keys if key in taken), None)
            if found is not None:
                yield f"{command.name} cannot lie on {readable(found)}: it means {taken[found]}"
                break


def order_of(command: OwnCommand, screen: NumberedView) -> RunOwnCommand:
    """The order to run a command on the highlighted row."""
    return RunOwnCommand(command.name, command.line, variables_of(screen))


def variables_of(screen: NumberedView) -> tuple[tuple[str, str], ...]:
    """The fields of the highlighted row, each one line of harmless text.

    Amounts are none of them: a line is run whether these are masked or not.
    """
    row = _row_of(screen)
    market = screen.state.markets.get(screen.current_market())
    found = {
        "SCREEN": screen.name_in_keys,
        "MARKET_ID": screen.current_market(),
        "QUESTION": _field(row, "question") if market is None else market.question,
        "SIDE": _field(row, "side"),
        "VENUE": _field(row, "venue"),
        "AGENT": _field(row, "agent_name") or _field(row, "name"),
        "AGENT_ID": _field(row, "agent_id"),
        "TRADE_ID": _field(row, "trade_id"),
    }
    if market is not None:
        found["PRICE"] = f"{market.price:.6f}"
        # What begins otherwise could be an option, or a file, of the program that opens it.
        found["MARKET_URL"] = market.url if _URL.fullmatch(market.url) else ""
    return tuple((name, formats.plain(found.get(name, ""), VALUE_MAX).plain) for name in VARIABLES)


def _row_of(screen: NumberedView) -> object:
    """The highlighted row of any screen; None without one."""
    return screen.selected() if isinstance(screen, TableScreen) else None  # pyright: ignore[reportUnknownVariableType] - of any type


def _field(row: object, name: str) -> str:
    value: object = getattr(row, name, "")
    if isinstance(value, Enum):
        value = value.value
    return value if isinstance(value, str) else ""
