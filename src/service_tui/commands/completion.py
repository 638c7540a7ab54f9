"""Completion scripts for the command line, made from its parser by shtab."""

import argparse
from collections.abc import Iterator, Mapping
from typing import Final, cast

import shtab

KINDS: Final = {"DIR": shtab.DIRECTORY, "FILE": shtab.FILE, "PATH": shtab.FILE}
"""Kind of completion by the metavar of the help."""


def script(parser: argparse.ArgumentParser, shell: str) -> str:
    """The completion script of a shell; it completes paths where the help has DIR or FILE."""
    for action in _actions(parser):
        kind = KINDS.get(str(action.metavar))
        if kind is not None:
            setattr(action, "complete", kind)  # noqa: B010  (shtab's way: argparse has no such name)
    return shtab.complete(parser, shell)


def _actions(parser: argparse.ArgumentParser) -> Iterator[argparse.Action]:
    """Every flag and argument of a parser and its subparsers."""
    for action in parser._actions:  # noqa: SLF001  # pyright: ignore[reportPrivateUsage]  (argparse has no other way)
        yield action
        for below in _below(action.choices):
            yield from _actions(below)


def _below(choices: object) -> Iterator[argparse.ArgumentParser]:
    """The subparsers of an action; none if it has no commands."""
    if isinstance(choices, Mapping):
        for parser in cast("Mapping[str, object]", choices).values():
            if isinstance(parser, argparse.ArgumentParser):
                yield parser
