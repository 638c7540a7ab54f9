"""Reads the YAML at the head of a skill's document, as plain values only."""

from collections.abc import Iterable
from typing import Final, cast

import yaml

from service_tui.skills.errors import NotASkillError

DEPTH_MAX: Final = 16
"""Lists in lists; an honest document has three."""


def fields_of(text: str) -> tuple[dict[str, str], dict[str, str]]:
    """The texts of a piece of YAML, and those of its `metadata`; what is nested deeper is left out.

    Raises:
        NotASkillError: it is no YAML, or none that a skill needs.
    """
    try:
        return _fields(text)
    except yaml.MarkedYAMLError as error:
        # One line more than the parser counts: that of the dashes.
        line = 1 if error.problem_mark is None else error.problem_mark.line + 2
        raise NotASkillError(
            f"line {line} of its document is not YAML: {error.problem}; "
            "quote a text that contains a colon"
        ) from error
    except (yaml.YAMLError, RecursionError) as error:
        raise NotASkillError(f"frontmatter is not YAML: {error}") from error


def _fields(text: str) -> tuple[dict[str, str], dict[str, str]]:
    depth = 0
    for event in cast("Iterable[object]", yaml.parse(text, yaml.SafeLoader)):  # pyright: ignore[reportUnknownMemberType]
        depth += isinstance(event, yaml.CollectionStartEvent)
        depth -= isinstance(event, yaml.CollectionEndEvent)
        if isinstance(event, yaml.AliasEvent):
            # A few of them in each other make a document without end.
            raise NotASkillError("its frontmatter has an alias, which is not taken here")
        if depth > DEPTH_MAX:
            raise NotASkillError("its frontmatter has too many lists in lists")
    root = cast("object", yaml.compose(text, yaml.SafeLoader))  # pyright: ignore[reportUnknownMemberType]
    nested = {name: node for name, node in _pairs(root) if isinstance(node, yaml.MappingNode)}
    return _texts(root), _texts(nested.get("metadata"))


def _texts(node: object) -> dict[str, str]:
    """Plain fields as written, so that version 1.10 keeps its zero."""
    return {name: str(one.value) for name, one in _pairs(node) if isinstance(one, yaml.ScalarNode)}


def _pairs(node: object) -> list[tuple[str, yaml.Node]]:
    """The fields of a mapping; NotASkillError where a name is there twice."""
    if not isinstance(node, yaml.MappingNode):
        return []
    pairs = [(str(name.value), value) for name, value in node.value]
    if len(dict(pairs)) != len(pairs):
        raise NotASkillError("its frontmatter has a name twice")
    return pairs
