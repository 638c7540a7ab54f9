"""A command of the `:` line as data: its name, arguments, help, effect and completion."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from difflib import get_close_matches
from functools import partial
from typing import Any, Final, TypeAlias

from service_tui.console.keys import KeyBinding, key_named
from service_tui.console.messages import GoTo, KeyChosen
from service_tui.console.parts.table_screen import TableScreen
from service_tui.desk.state import DeskState
from service_tui.units import Timestamp

Effect: TypeAlias = Callable[[], object]
"""Runs a command that was read without a problem, once the line is closed."""

_SHOWN_MAX: Final = 40
"""Letters of a typed word that a message repeats."""


class CommandError(ValueError):
    """A command that cannot be run; the sentence names the problem and what is valid."""


@dataclass(frozen=True)
class CommandContext:
    """What a command works on.

    Args:
        front: the screen in front.
        disabled_reason: why a key is disabled here; empty if it works.
        row: key of the row that was highlighted when the command was begun.
    """

    front: TableScreen[Any]
    disabled_reason: Callable[[KeyBinding], str]
    row: str | None

    @property
    def state(self) -> DeskState:
        """The newest state."""
        return self.front.state

    @property
    def now(self) -> Timestamp:
        """Wall time."""
        return self.front.now


Prepare: TypeAlias = Callable[[CommandContext, str], Effect]
"""Reads the arguments, and returns the effect; raises CommandError."""

Complete: TypeAlias = Callable[[CommandContext, str], Iterable[str]]
"""The whole arguments that may follow from these."""


def nothing(_: CommandContext, __: str) -> Iterable[str]:
    """No completion."""
    return ()


@dataclass(frozen=True)
class Verb:
    """One command.

    Args:
        name: its first word.
        arguments: as the help shows them; an optional one is in brackets.
        help: its effect, in a few words.
        prepare: reads the arguments.
        complete: completes them.
        aliases: other first words.
    """

    name: str
    arguments: str
    help: str
    prepare: Prepare
    complete: Complete = nothing
    aliases: tuple[str, ...] = ()

    @property
    def usage(self) -> str:
        """The name and the arguments."""
        return f"{self.name} {self.arguments}".rstrip()


def key_verb(name: str, ident: str, help_text: str = "", *aliases: str) -> Verb:
    """A command that does what a key does, with its help."""
    key = key_named(ident)
    return Verb(name, "", help_text or key.tooltip, partial(_press, name, ident), aliases=aliases)


def _press(name: str, ident: str, context: CommandContext, rest: str) -> Effect:
    refuse_rest(name, rest)
    return press(context, ident)


def press(context: CommandContext, ident: str) -> Effect:
    """The effect of a key; raises CommandError with the reason while it is disabled."""
    key = key_named(ident)
    why = context.disabled_reason(key)
    if why:
        raise CommandError(f"{key.label}: {why}")
    return partial(context.front.post_message, KeyChosen(key))


def go(context: CommandContext, screen: str, row: str | None = None, act: str = "") -> Effect:
    """Show a screen, and there a row; then perform the key with this id."""
    key = key_named(act) if act else None
    return partial(context.front.post_message, GoTo(screen, row, key))


def refuse_rest(name: str, rest: str) -> None:
    """Raise if a command without arguments has some."""
    if rest:
        raise CommandError(f"{name} takes no arguments: remove {shown(rest)}")


def one_of(what: str, word: str, known: Iterable[str]) -> str:
    """The known word that is meant, whatever its capitals; raises CommandError for another."""
    names = {each.casefold(): each for each in known}
    found = names.get(word.casefold())
    if found is None:
        raise CommandError(f"no {what} {shown(word)}: {suggestion(word, names)}")
    return found


def suggestion(word: str, known: Iterable[str]) -> str:
    """The most similar known word, else all of them."""
    names = list(known)
    close = get_close_matches(word.casefold(), names, n=1)
    return f"did you mean {close[0]}?" if close else f"one of {', '.join(names)}"


def shown(text: str) -> str:
    """Typed text as a message repeats it."""
    plain = "".join(letter if letter.isprintable() else "?" for letter in text)
    short = plain if len(plain) <= _SHOWN_MAX else f"{plain[: _SHOWN_MAX - 1]}…"
    return f"'{short}'"


def beginning(rest: str, known: Iterable[str]) -> Iterator[str]:
    """The known words that begin so."""
    begun = rest.casefold()
    return (word for word in known if word.casefold().startswith(begun))
