"""`service-tui skills`: list, install, check, new, run; on the command line, without a desk."""

import asyncio
import codecs
import os
import random
import secrets
import signal
import threading
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Final

from service_tui.app.halts import is_halted
from service_tui.app.output import OutputError, print_error, print_text
from service_tui.clock import Clock, SystemClock
from service_tui.config import INSECURE_VARIABLE, KEY_VARIABLE, TRUE_VALUES, URL_VARIABLE
from service_tui.desk.agents.stored_leash import StoredLeash
from service_tui.inherited import inherited, settings_in
from service_tui.skills.checking import problems_of
from service_tui.skills.install import SkillRefusedError, forget_halves, install
from service_tui.skills.package import (
    BUNDLED,
    DAILY_BUDGET_USD,
    DOCUMENT,
    UNREADABLE,
    budget_variable,
    entry_script,
    installed,
    settings_of,
)
from service_tui.skills.process import Launch, SkillProcess
from service_tui.skills.template import new_skill
from service_tui.storage.db.lock import holder_of
from service_tui.storage.errors import StorageError
from service_tui.terms import LeashMode
from service_tui.units import Micros, micros
from service_tui.wire.text import line

FOLDER: Final = "skills"
"""Folder of a person's own skills, below the data directory."""

BY_HAND: Final = "by-hand"
"""Folder of the homes of skills that are run by hand, below the data directory."""

VENUE_VARIABLE: Final = "TRADING_VENUE"
LOOK_S: Final = 0.05
PART_BYTES: Final = 64 * 1024
GRACE_S: Final = 3.0
"""How long a skill may take to end after ctrl+c; then it is killed."""

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
    folder = skill_folder(data_dir, name)
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

    It is started as the console starts one: with an agent of its own, a little of the environment
    and a folder of its own; nothing of it runs on afterwards.

    Returns:
        Its exit code.

    Raises:
        SkillsError: it is no skill, or there is no service to run it against.
    """
    folder = skill_folder(data_dir, name)
    problems = problems_of(folder)
    if problems:
        raise SkillsError(f"{folder.name}: {line(problems[0])}")
    try:
        script = entry_script(folder)
    except UNREADABLE as error:
        raise SkillsError(str(error)) from error
    settings = settings_in(os.environ, settings_of(folder.name))
    launch = Launch(
        run_id=f"by-hand-{secrets.token_hex(12)}",
        folder=data_dir / BY_HAND / folder.name,
        script=script,
        arguments=tuple(argv),
        own=inherited(os.environ, (VENUE_VARIABLE, *settings)),
        hidden=(data_dir,),
    )
    try:
        return asyncio.run(_run(data_dir, folder.name, launch))
    except OSError as error:
        raise SkillsError(f"cannot run {script}: {error.strerror}") from error


async def _run(data_dir: Path, slug: str, launch: Launch) -> int:
    """Run a skill to its end; ctrl+c ends it in order, and what does not end is killed."""
    clock = SystemClock()
    async with _service(data_dir, slug) as own:
        known = replace(launch, own={**launch.own, **own})
        said, complained = _Shown(print_text), _Shown(print_error)
        try:
            process = SkillProcess.start(known, os.environ, (said.end, complained.end))
        finally:
            said.begin()
            complained.begin()
        try:
            while (code := process.exit_code()) is None:
                await clock.sleep(LOOK_S)
            return code
        finally:
            await _end(process, clock)
            said.finish()
            complained.finish()


class _Shown:
    """Shows what a skill writes at the pipe's `end`: a terminal obeys nothing of it."""

    def __init__(self, show: Callable[[str], None]) -> None:
        self._show = show
        self._source, self.end = os.pipe()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def begin(self) -> None:
        """Show from now on; the end is the skill's alone."""
        os.close(self.end)
        self._thread.start()

    def finish(self) -> None:
        """Wait a little for the last of it: a stray process may hold the pipe open."""
        self._thread.join(GRACE_S)

    def _run(self) -> None:
        decoder = codecs.getincrementaldecoder("utf-8")("replace")
        # A reader that is gone ends the pipe, and with it a skill that goes on writing.
        with open(self._source, "rb", buffering=0) as source, suppress(OutputError):  # noqa: PTH123
            while part := source.read(PART_BYTES):
                self._show(decoder.decode(part))


async def _end(process: SkillProcess, clock: Clock) -> None:
    """End a process that still runs: in order, and soon by force."""
    until = clock.monotonic() + GRACE_S
    if process.exit_code() is None:
        process.signal(signal.SIGTERM)
    while process.exit_code() is None and clock.monotonic() < until:
        await clock.sleep(LOOK_S)
    process.kill()


def skill_folder(data_dir: Path, name: str) -> Path:
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


@asynccontextmanager
async def _service(data_dir: Path, slug: str) -> AsyncGenerator[Mapping[str, str]]:
    """Key and address for a run: those of an agent of its own.

    The service is the one that the environment names with a key, else that of this machine. The
    person's key stays here. Before a named service the agent's key does, too, as in the console:
    the skill calls it over a leash.

    Yields:
        The variables.

    Raises:
        SkillsError: there is no service, or it registers no agent.
    """
    # The client library takes a while to import, and only a run needs it.
    from service_tui.client.errors import ServiceError  # noqa: PLC0415
    from service_tui.sdk.client import ServiceClient  # noqa: PLC0415

    named = os.environ.get(URL_VARIABLE, "") if os.environ.get(KEY_VARIABLE) else ""
    address, budget = named or _local_address(data_dir), _budget_of(slug)
    try:
        made = await asyncio.to_thread(
            ServiceClient.register, slug, description="run by hand", base_url=address
        )
        if not named:
            yield {KEY_VARIABLE: made.api_key, URL_VARIABLE: address}
            return
    except ServiceError as error:
        raise SkillsError(f"cannot register an agent: {error}") from error
    leash = StoredLeash(made.agent_id, slug, slug, LeashMode.AUTO, budget=budget)

    async with _leashed(address, leash, made.api_key, partial(is_halted, data_dir)) as own:
        yield own


@asynccontextmanager
async def _leashed(
    address: str, leash: StoredLeash, key: str, is_halted: Callable[[], bool]
) -> AsyncGenerator[Mapping[str, str]]:
    """A way to a service over a leash; the agent's key stays with this program."""
    clock = SystemClock()
    import httpx  # noqa: PLC0415  (as above)

    from service_tui.client.api_keys import ApiKey, ApiKeys  # noqa: PLC0415
    from service_tui.client.client import Client  # noqa: PLC0415
    from service_tui.client.proxies import proxy_for  # noqa: PLC0415
    from service_tui.desk.agents.skill_proxy import SkillProxies  # noqa: PLC0415

    try:
        transport = httpx.AsyncHTTPTransport(retries=0, proxy=proxy_for(address, os.environ))
        made = Client(
            transport, address, ApiKeys(ApiKey(key, address)), clock=clock,
            rng=random.SystemRandom(),
            allow_insecure=os.environ.get(INSECURE_VARIABLE, "").lower() in TRUE_VALUES,
        )  # fmt: skip
    except ValueError as error:
        raise SkillsError(str(error)) from error
    async with made as client:
        lines = SkillProxies(client, clock, _ignore, is_halted)
        own_address, own_key = await lines.open(leash.agent_id, leash, key)
        async with asyncio.TaskGroup() as tasks:
            looking = tasks.create_task(lines.run())
            try:
                yield {KEY_VARIABLE: own_key, URL_VARIABLE: own_address}
            finally:
                looking.cancel()
                await lines.close()


def _ignore(_: object) -> None:
    """Ignore a fact: there is no desk here."""


def _budget_of(slug: str) -> Micros:
    """What a skill may spend a day, by its variable.

    Raises:
        SkillsError: it holds no amount.
    """
    # ours: nobody is there to approve what a skill buys that runs by hand: its budget bounds it.
    name = budget_variable(slug)
    word = os.environ.get(name, "")
    try:
        budget = micros(float(word) if word else DAILY_BUDGET_USD)
    except ValueError as error:
        raise SkillsError(f"{name}: {line(word, 40)!r} is not an amount") from error
    if budget < 0:
        raise SkillsError(f"{name}: below 0")
    return budget


def _local_address(data_dir: Path) -> str:
    """Address of the service of a data directory; SkillsError if there is none."""
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
    return address
