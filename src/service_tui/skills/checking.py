"""Checks a skill's folder without running it; problems are sentences with their fix.

What is checked is never run.
"""

import ast
import json
import unicodedata
from pathlib import Path
from typing import Final

from service_tui.skills.package import (
    DOCUMENT,
    FILE_MAX,
    MANIFEST,
    UNREADABLE,
    NotASkillError,
    entry_script,
    frontmatter,
    is_slug,
    read_text,
)

DESCRIPTION_MAX: Final = 1_024
"""Source: wire reference, section 10."""

VERSION_MAX: Final = 40


def problems_of(path: Path) -> list[str]:
    """Problems that keep a folder from being a runnable skill; empty without any."""
    document = path / DOCUMENT
    try:
        if not document.is_file():
            return [f"no {DOCUMENT}"]
        top, metadata = frontmatter(read_text(document))
    except UNREADABLE as error:
        return [f"{DOCUMENT}: {error}"]
    problems = [*_of_name(path.name, top.get("name", "")), *_of_description(top)]
    problems += _of_letters({**top, **metadata})
    version = metadata.get("version", top.get("version", ""))
    if len(version) > VERSION_MAX:
        problems.append(
            f"{DOCUMENT}: the version has {len(version)} letters, at most {VERSION_MAX}"
        )
    if not version:
        problems.append(
            f"{DOCUMENT}: no version; write it below metadata, for example version: 1.0.0"
        )
    return [*problems, *_of_manifest(path / MANIFEST), *_of_script(path)]


def _of_name(folder: str, name: str) -> list[str]:
    if not name:
        return [f"{DOCUMENT}: no name; write name: {folder}"]
    if not is_slug(name):
        return [f"{DOCUMENT}: the name {name[:40]!r} is not of lower-case letters, digits and -"]
    if name != folder:
        return [f"{DOCUMENT}: it names {name!r}, its folder is {folder[:40]!r}; make them equal"]
    return []


def _of_letters(fields: dict[str, str]) -> list[str]:
    """Problems of control characters that a terminal would obey."""
    return [
        f"{DOCUMENT}: {name[:40]} contains control characters; remove them"
        for name, text in fields.items()
        if any(unicodedata.category(letter) == "Cc" and letter != "\t" for letter in text)
    ]


def _of_description(top: dict[str, str]) -> list[str]:
    description = top.get("description", "")
    if not description:
        return [f"{DOCUMENT}: no description; describe the skill in a sentence"]
    if len(description) > DESCRIPTION_MAX:
        return [
            f"{DOCUMENT}: the description has {len(description)} letters, at most {DESCRIPTION_MAX}"
        ]
    return []


def _of_manifest(path: Path) -> list[str]:
    """A manifest may be missing; one that cannot be read is a mistake of its writer."""
    if not path.is_file():
        return []
    try:
        made: object = json.loads(read_text(path))
    except (NotASkillError, OSError, ValueError, RecursionError) as error:
        return [f"{MANIFEST}: {error}"]
    return [] if isinstance(made, dict) else [f"{MANIFEST}: not an object"]


def _parse(text: str, name: str) -> None:
    """Parse a script; SyntaxError, or an error of `UNREADABLE`, where that is not possible."""
    for is_last in (False, False, True):
        try:
            ast.parse(text, name)
        except SystemError:
            # CPython 3.11 to 3.13 compares the depth of its recursion with the limit of a moment
            # before: a library that another thread is loading may have changed the limit since.
            if is_last:
                raise
        else:
            return


def _of_script(path: Path) -> list[str]:
    try:
        script = entry_script(path)
    except NotASkillError as error:
        return [str(error)]
    except UNREADABLE as error:
        return [f"the script cannot be read: {error}"]
    try:
        _parse(read_text(script), script.name)
    except SyntaxError as error:
        return [f"{script.name}: line {error.lineno}: {error.msg}"]
    except (*UNREADABLE, MemoryError, SystemError) as error:
        return [f"{script.name}: {error} (at most {FILE_MAX} bytes of text)"]
    return []
