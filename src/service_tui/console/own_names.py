"""Registers the names of the person's own commands beside the program's."""

from collections.abc import Iterable, Mapping

_in_use: dict[str, str] = {}
"""The help of each by its name: one process has one console."""


def use_own_names(named: Iterable[tuple[str, str]]) -> None:
    """Take these names, each with its help, in place of all before."""
    _in_use.clear()
    _in_use.update(named)


def own_names() -> Mapping[str, str]:
    """The help of each own command, by its name."""
    return _in_use
