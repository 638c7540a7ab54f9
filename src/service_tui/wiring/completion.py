"""Scripts with which a shell completes our command line; made from its parser by shtab."""

import argparse
from collections.abc import Iterator, Mapping
from typing import Final, cast

import shtab

KINDS: Final = {"DIR": shtab.DIRECTORY, "FILE": shtab.FILE, "PATH": shtab.FILE}
"""What is completed in the place of a word, by the name that the help has for it."""


def script(parser: argparse.ArgumentParser, shell: str) -> str:
    """The script that a shell reads; where the help says DIR or FILE, it completes paths."""
    for action in _actions(parser):
        kind = KINDS.get(str(action.metavar))
        if kind is not None:
            setattr(action, "complete", kind)  # noqa: B010  (shtab's way: argparse has no such name)
    return shtab.complete(parser, shell)


def _actions(parser: argparse.ArgumentParser) -> Iterator[argparse.Action]:
    """Every flag and word of a parser, and of those below it."""
    for action in parser._actions:  # noqa: SLF001  # pyright: ignore[reportPrivateUsage]  (argparse has no other way)
        yield action
        for below in _below(action.choices):
            yield from _actions(below)


def _below(choices: object) -> Iterator[argparse.ArgumentParser]:
    """The parsers behind the words of an action; none where the words are no commands."""
    if isinstance(choices, Mapping):
        for each in cast("Mapping[str, object]", choices).values():
            if isinstance(each, argparse.ArgumentParser):
                yield each
