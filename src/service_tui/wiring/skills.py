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
"""Where a person's own skills lie, below the data directory."""

Say = Callable[[str], object]


class SkillsError(Exception):
    """What was wished cannot be done; one plain sentence."""


def list_skills(data_dir: Path, say: Say) -> None:
    """One line a skill: name, version, where it comes from, what it does."""
    own = data_dir / FOLDER
    found = installed((own, BUNDLED))
    width = max((len(one.slug) for one in found), default=0)
    for one in found:
        where = "own" if (own / one.slug / DOCUMENT).is_file() else "bundled"
        version = line(one.version or "-", 40)
        say(f"{one.slug:<{width}}  {version:<8} {where:<8} {line(one.description)}")
    if not found:
        say("no skill is installed")


def install_skill(data_dir: Path, source: Path, say: Say) -> None:
    """Install from a folder or an archive, or say why not; SkillsError."""
    own = data_dir / FOLDER
    taken = [one.slug for one in installed((BUNDLED,))]
    forget_halves(own)
    try:
        made = install(source, own, taken)
    except SkillRefusedError as error:
        raise SkillsError(line(f"not installed: {error}")) from error
    say(f"installed {made.slug} {line(made.version or '', 40)}".rstrip())


def check_skill(data_dir: Path, name: str, say: Say) -> None:
    """Say everything that is wrong with a skill, by its name or its folder; SkillsError."""
    folder = _folder(data_dir, name)
    problems = problems_of(folder)
    for problem in problems:
        say(line(problem))
    if problems:
        raise SkillsError(f"{folder.name}: {len(problems)} thing(s) to mend")
    say(f"{folder.name}: nothing is wrong")


def make_skill(slug: str, parent: Path, say: Say) -> None:
    """Write a template that works into a new folder; SkillsError."""
    try:
        folder = new_skill(slug, parent)
    except SkillRefusedError as error:
        raise SkillsError(str(error)) from error
    say(f"{folder}: change {folder / 'run.py'}; beside an open desk, or 'service-tui serve',")
    say(f"  'service-tui skills run {folder} -- --once' tries it on paper;")
    say(f"  'service-tui skills install {folder}' puts it among those that the desk runs")


def run_skill(data_dir: Path, name: str, words: Sequence[str]) -> int:
    """Run a skill in the foreground, on paper unless the words hold --live.

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
    command = [sys.executable, "-u", str(script), *words]
    try:
        return subprocess.run(command, cwd=folder, env=environment, check=False).returncode  # noqa: S603  (a skill is run, that is the wish)
    except OSError as error:
        raise SkillsError(f"{script} cannot be run: {error.strerror}") from error


def _folder(data_dir: Path, name: str) -> Path:
    """A skill's folder by its name, or a folder that was given as such.

    Returns:
        The folder.

    Raises:
        SkillsError: there is none.
    """
    try:
        given = Path(name).expanduser()
        if len(given.parts) > 1 or (given / DOCUMENT).is_file():
            return given.resolve()
        for parent in (data_dir / FOLDER, BUNDLED):
            if (parent / name / DOCUMENT).is_file():
                return parent / name
    except UNREADABLE as error:
        raise SkillsError(f"{name[:60]!r} is no name of a skill or folder") from error
    raise SkillsError(f"no skill is called {name!r}; 'service-tui skills list' shows them")


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
    # The client library takes a while to import, and only this line wants it.
    from service_tui.client.errors import ServiceError  # noqa: PLC0415
    from service_tui.sdk.client import ServiceClient  # noqa: PLC0415

    try:
        made = ServiceClient.register(slug, description="run by hand", base_url=address)
    except ServiceError as error:
        raise SkillsError(f"no agent could be registered: {error}") from error
    return {KEY_VARIABLE: made.api_key, URL_VARIABLE: address}
