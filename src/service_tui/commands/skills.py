"""`service-tui skills`: list, install, check, new, run; on the command line, without a desk."""

import os
import subprocess  # the child is a skill that the person names
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

from service_tui.config import KEY_VARIABLE, URL_VARIABLE, WALLET_VARIABLE
from service_tui.skills.checking import problems_of
from service_tui.skills.install import SkillRefusedError, forget_halves, install
from service_tui.skills.package import (
    BUNDLED,
    DOCUMENT,
    UNREADABLE,
    entry_script,
    installed,
)
from service_tui.skills.template import new_skill
from service_tui.storage.db.lock import holder_of
from service_tui.storage.errors import StorageError
from service_tui.wire.text import line

FOLDER: Final = "skills"
"""Folder of a person's own skills, below the data directory."""

Write = Callable[[str], object]


class SkillsError(Exception):
    """The command cannot be done; one plain sentence."""


def list_skills(data_dir: Path, write: Write) -> None:
    """Write one line a skill: name, version, source, purpose."""
    own = data_dir / FOLDER
    skills = installed((own, BUNDLED))
    width = max((len(skill.slug) for skill in skills), default=0)
    for skill in skills:
        where = "own" if (own / skill.slug / DOCUMENT).is_file() else "bundled"
        version = line(skill.version or "-", 40)
        write(f"{skill.slug:<{width}}  {version:<8} {where:<8} {line(skill.description)}")
    if not skills:
        write("no skill installed")


def install_skill(data_dir: Path, source: Path, write: Write) -> None:
    """Install from a folder or an archive; SkillsError if that fails."""
    own = data_dir / FOLDER
    bundled = [skill.slug for skill in installed((BUNDLED,))]
    forget_halves(own)
    try:
        made = install(source, own, bundled)
    except SkillRefusedError as error:
        raise SkillsError(line(f"not installed: {error}")) from error
    write(f"installed {made.slug} {line(made.version or '', 40)}".rstrip())


def check_skill(data_dir: Path, name: str, write: Write) -> None:
    """Write every problem of a skill, given by its name or folder; SkillsError."""
    folder = _folder(data_dir, name)
    problems = problems_of(folder)
    for problem in problems:
        write(line(problem))
    if problems:
        raise SkillsError(f"{folder.name}: {len(problems)} problem(s)")
    write(f"{folder.name}: no problems")


def make_skill(slug: str, parent: Path, write: Write) -> None:
    """Write a working template into a new folder; SkillsError."""
    try:
        folder = new_skill(slug, parent)
    except SkillRefusedError as error:
        raise SkillsError(str(error)) from error
    write(f"{folder}: edit {folder / 'run.py'}; with a desk or 'service-tui serve' open,")
    write(f"  'service-tui skills run {folder} -- --once' runs it on paper;")
    write(f"  'service-tui skills install {folder}' adds it to the desk")


def run_skill(data_dir: Path, name: str, argv: Sequence[str]) -> int:
    """Run a skill in the foreground, on paper unless the arguments have --live.

    Returns:
        Its exit code.

    Raises:
        SkillsError: it is no skill, or there is no service to run it against.
    """
    folder = _folder(data_dir, name)
    problems = problems_of(folder)
    if problems:
        raise SkillsError(f"{folder.name}: {line(problems[0])}")
    try:
        script = entry_script(folder)
    except UNREADABLE as error:
        raise SkillsError(str(error)) from error
    environment = {key: value for key, value in os.environ.items() if key != WALLET_VARIABLE}
    environment |= _service(data_dir, folder.name, environment)
    command = [sys.executable, "-u", str(script), *argv]
    try:
        return subprocess.run(command, cwd=folder, env=environment, check=False).returncode  # noqa: S603  (a skill is run, that is the wish)
    except OSError as error:
        raise SkillsError(f"cannot run {script}: {error.strerror}") from error


def _folder(data_dir: Path, name: str) -> Path:
    """A skill's folder, by the skill's name or by path.

    Returns:
        The folder.

    Raises:
        SkillsError: there is none.
    """
    try:
        path = Path(name).expanduser()
        if len(path.parts) > 1 or (path / DOCUMENT).is_file():
            return path.resolve()
        for parent in (data_dir / FOLDER, BUNDLED):
            if (parent / name / DOCUMENT).is_file():
                return parent / name
    except UNREADABLE as error:
        raise SkillsError(f"{name[:60]!r} is not the name of a skill or folder") from error
    raise SkillsError(f"no skill {name!r}; 'service-tui skills list' lists them")


def _service(data_dir: Path, slug: str, environment: dict[str, str]) -> dict[str, str]:
    """Key and address for a run: the environment's, else an agent of its own on this machine."""
    if environment.get(KEY_VARIABLE) and environment.get(URL_VARIABLE):
        return {}
    try:
        holder = holder_of(data_dir)
    except StorageError:
        holder = None
    address = None if holder is None else holder.address
    if not address:
        raise SkillsError(
            f"no service: set {URL_VARIABLE} and {KEY_VARIABLE}, or open the desk "
            "('service-tui' or 'service-tui serve') and run the skill beside it"
        )
    # The client library takes a while to import, and only this function needs it.
    from service_tui.client.errors import ServiceError  # noqa: PLC0415
    from service_tui.sdk.client import ServiceClient  # noqa: PLC0415

    try:
        made = ServiceClient.register(slug, description="run by hand", base_url=address)
    except ServiceError as error:
        raise SkillsError(f"cannot register an agent: {error}") from error
    return {KEY_VARIABLE: made.api_key, URL_VARIABLE: address}
