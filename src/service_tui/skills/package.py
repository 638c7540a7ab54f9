"""A skill on disk, as described by its folder.

Runs nothing and does not trust what it reads: sizes are bounded, and a folder that is no skill is
passed over. Source: wire reference, section 10.
"""

import hashlib
import json
import logging
import os
import re
import stat
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Final, TypeGuard

from service_tui.skills.errors import NotASkillError
from service_tui.toml_lines import decoded

log = logging.getLogger(__name__)

BUNDLED: Final = Path(__file__).parent / "bundled"
"""The skills that come with the program."""

DOCUMENT: Final = "SKILL.md"
MANIFEST: Final = "clawhub.json"
FILE_MAX: Final = 262_144
FRONTMATTER_MAX: Final = 16_384
PACKAGES_MAX: Final = 200
"""Bounds of what is read; an honest document has ten kilobytes."""

DAILY_BUDGET_USD: Final = 20.0
"""Daily spend of a skill without a setting. Source: spec, "Limits"."""

_NOT_A_WORD: Final = re.compile(r"[^A-Z0-9]+")
_SLUG: Final = re.compile(r"[a-z0-9][a-z0-9_\-]{0,127}")


UNREADABLE: Final = (OSError, ValueError, RuntimeError)
"""What a path or text of a stranger raises: NUL bytes, lone surrogates, loops of links."""


@dataclass(frozen=True, slots=True)
class SkillPackage:
    """One installed skill. `content_hash` is the SHA-256 of its script, hexadecimal."""

    slug: str
    name: str
    description: str
    version: str | None
    metadata: Mapping[str, str]
    requires: tuple[str, ...]
    content_hash: str | None


def installed(folders: Iterable[Path]) -> list[SkillPackage]:
    """Every skill in these folders by its slug; of two the one in the earlier folder counts."""
    packages: dict[str, SkillPackage] = {}
    for folder in folders:
        if not folder.is_dir():
            continue
        read = _bundled_package if folder == BUNDLED else _package_in
        for path in sorted(folder.iterdir())[:PACKAGES_MAX]:
            package = None if path.name in packages else read(path)
            if package is not None:
                packages[package.slug] = package
    return [packages[slug] for slug in sorted(packages)]


def _package_in(path: Path) -> SkillPackage | None:
    """Skill of a folder; None if it is none, with the reason in the log."""
    try:
        return read_package(path) if (path / DOCUMENT).is_file() else None
    except UNREADABLE as error:
        log.warning("%r is passed over: %s", str(path), error)
        return None


@lru_cache(PACKAGES_MAX)
def _bundled_package(path: Path) -> SkillPackage | None:
    """A skill that comes with the program, read once: its folder changes with the program alone."""
    return _package_in(path)


def read_package(path: Path) -> SkillPackage:
    """The skill in a folder.

    Returns:
        Content of its files.

    Raises:
        NotASkillError: no frontmatter, or its name is not the folder's.
        OSError: a file cannot be read.
    """
    top, metadata = frontmatter(read_text(path / DOCUMENT))
    name = top.get("name", "")
    if not _SLUG.fullmatch(path.name) or name != path.name:
        raise NotASkillError(f"its document names {name!r}, not the folder")
    manifest = _manifest(path / MANIFEST)
    try:
        script = entry_script(path)
    except NotASkillError:
        # It is listed, and cannot be run.
        script = None
    return SkillPackage(
        slug=path.name,
        name=metadata.get("displayName", name),
        description=" ".join(top.get("description", "").split()),
        version=metadata.get("version") or top.get("version"),
        metadata=metadata,
        requires=_requires(manifest),
        content_hash=None if script is None else _hash(script),
    )


def budget_variable(slug: str) -> str:
    """The variable that holds what a skill may spend a day. Source: spec, "Limits"."""
    return f"{settings_of(slug)}DAILY_BUDGET_USD"


def settings_of(slug: str) -> str:
    """How the names of a skill's own variables begin."""
    return f"SERVICE_{_NOT_A_WORD.sub('_', slug.upper())}_"


def is_slug(name: str) -> bool:
    """True if a name may be that of a skill's folder."""
    return _SLUG.fullmatch(name) is not None


def entry_script(path: Path) -> Path:
    """The script by which a skill runs.

    Returns:
        A file of the folder itself.

    Raises:
        NotASkillError: none, several and none named, or one that lies elsewhere.
    """
    named = _object(_manifest(path / MANIFEST).get("automaton")).get("entrypoint")
    if isinstance(named, str):
        return _named(path, named)
    scripts = sorted(path.glob("*.py"))
    if len(scripts) == 1 and stat.S_ISREG(scripts[0].lstat().st_mode):
        return scripts[0]
    problem = "no entry script" if not scripts else "there are several scripts"
    raise NotASkillError(
        f"{problem}: write one, or name it in {MANIFEST}: "
        '{"automaton": {"entrypoint": "run.py"}}'
    )


def _named(path: Path, named: str) -> Path:
    """The script of that name in the folder; NotASkillError where it is none."""
    script = path / named
    try:
        inside = script.resolve().is_relative_to(path.resolve()) and not script.is_symlink()
        there = script.is_file()
    except UNREADABLE as error:
        raise NotASkillError(f"invalid entry script name {named[:60]!r}") from error
    if not inside:
        raise NotASkillError(f"the entry script {named[:60]!r} is not in the skill's folder")
    if not there:
        raise NotASkillError(f"the entry script {named[:60]!r} is missing")
    return script


def frontmatter(text: str) -> tuple[dict[str, str], dict[str, str]]:
    """Fields between the two lines of dashes, and those below `metadata:`.

    Returns:
        Top fields and metadata, all as text; what is nested deeper is passed over.

    Raises:
        NotASkillError: there is no frontmatter.
    """
    lines = text.lstrip("\ufeff").splitlines()
    if not lines or lines[0].strip() != "---":
        raise NotASkillError("its document does not begin with ---")
    end = next((n for n, line in enumerate(lines[1:], 1) if line.strip() == "---"), None)
    if end is None:
        raise NotASkillError("its frontmatter does not end")
    text = "\n".join(lines[1:end])
    if len(text) > FRONTMATTER_MAX:
        raise NotASkillError("its frontmatter is too long")
    # Loaded by the first document: a desk without skills needs no YAML.
    from service_tui.skills.frontmatter import fields_of  # noqa: PLC0415

    return fields_of(text)


def read_text(path: Path) -> str:
    """The text of a file of honest size; NotASkillError where it is larger."""
    # Not blocking: a pipe without a writer would be waited for for ever.
    with os.fdopen(os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise NotASkillError(f"{path.name} is not a plain file")
        raw = file.read(FILE_MAX + 1)
    if len(raw) > FILE_MAX:
        raise NotASkillError(f"{path.name} is too large")
    return decoded(raw, "replace").replace("\r\n", "\n")


def _manifest(path: Path) -> Mapping[str, object]:
    """The manifest, empty where there is none that can be read."""
    if not path.is_file():
        return {}
    try:
        return _object(json.loads(read_text(path)))
    except (ValueError, RecursionError):
        return {}


def _is_object(value: object) -> TypeGuard[dict[str, object]]:
    return isinstance(value, dict)


def _is_list(value: object) -> TypeGuard[list[object]]:
    return isinstance(value, list)


def _object(value: object) -> Mapping[str, object]:
    return value if _is_object(value) else {}


def _requires(manifest: Mapping[str, object]) -> tuple[str, ...]:
    """Python packages and variables that the skill wants, in this order."""
    requires = _object(manifest.get("requires"))
    names_required: list[str] = []
    for kind in ("pip", "env"):
        names = requires.get(kind)
        if _is_list(names):
            names_required += [name for name in names if isinstance(name, str)]
    return tuple(names_required)


def _hash(script: Path) -> str | None:
    try:
        return hashlib.sha256(read_text(script).encode()).hexdigest()
    except NotASkillError:
        return None
