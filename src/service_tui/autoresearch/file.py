"""Reads and writes a repository's session file, also while a server works there.

A person begins and ends sessions so while an agent works.
"""

from collections.abc import Mapping
from pathlib import Path

from service_tui.autoresearch.errors import ToolError
from service_tui.autoresearch.worktree import Repository
from service_tui.notes import notebook
from service_tui.notes.notebook import Config, Notes
from service_tui.wire.research_tools import InitArguments


def notes_of(repository: Repository) -> Notes:
    """Content of a repository's session file.

    Returns:
        Its notes.

    Raises:
        ToolError: it is there, and cannot be read.
    """
    try:
        return notebook.read(repository.file)
    except OSError as error:
        raise ToolError(
            f"{repository.file} cannot be read ({error.strerror or error})", "move it away"
        ) from error


def turn_off(repository: Repository, skill: str, now_ms: int) -> str:
    """End a skill's session, by default the newest, until a new one begins.

    It is only written down: a server that works there sees it before it does anything more.

    Returns:
        The skill.

    Raises:
        ToolError: there is no session of it, or the file cannot be written.
    """
    notes = notes_of(repository)
    config = notes.config_of(skill or notes.last_skill)
    if config is None:
        raise ToolError(f"no session of {skill or 'any skill'} here: nothing to turn off")
    line = {"type": "off", "skillSlug": config.skill, "timestamp": now_ms}
    _append(repository, line)
    return config.skill


def fresh(notes: Notes, skill: str, now_ms: int) -> InitArguments:
    """A session under a new name, with the metric of before; of the newest skill without one.

    Returns:
        How it begins.

    Raises:
        ToolError: there was none before.
    """
    before = notes.config_of(skill or notes.last_skill)
    if before is None:
        raise ToolError(
            f"no session of {skill or 'any skill'} here", "begin one: autoresearch SKILL"
        )
    return InitArguments(
        name=f"{before.name.partition(' @')[0][:160]} @{now_ms}",
        skill_slug=before.skill,
        metric_name=before.metric_name,
        metric_unit=before.metric_unit,
        direction=before.direction,
    )


def begin_beside(repository: Repository, request: InitArguments, cap: int, now_ms: int) -> Config:
    """Begin a session where a server works: that one sees it before it does anything more.

    Returns:
        The session.

    Raises:
        ToolError: there is one of that name, or the file cannot be written.
    """
    before = notes_of(repository).config_of(request.skill_slug)
    if before is not None and before.name == request.name:
        raise ToolError(f"the session {request.name} is there", "give a new name")
    config = Config(
        name=request.name,
        skill=request.skill_slug,
        metric_name=request.metric_name,
        metric_unit=request.metric_unit,
        direction=request.direction,
        segment=0 if before is None else before.segment + 1,
        started_ms=now_ms,
        cap=cap,
    )
    _append(repository, config.line())
    return config


def _append(repository: Repository, line: Mapping[str, object]) -> None:
    try:
        notebook.append(repository.file, line)
    except OSError as error:
        raise ToolError(f"{repository.file} cannot be written ({error.strerror})") from error


def size_of(path: Path) -> int:
    """Bytes of a file; 0 where there is none."""
    try:
        return path.stat().st_size
    except OSError:
        return 0
