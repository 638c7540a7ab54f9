"""Which package may import which, and how many modules a start loads."""

import ast
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

pytestmark = pytest.mark.process


ROOT = Path(__file__).resolve().parents[2]
SOURCE = ROOT / "src" / "service_tui"
HEAVY = (
    "starlette",
    "sqlmodel",
    "sqlalchemy",
    "httpx",
    "pydantic",
    "uvicorn",
    "web3",
    "mcp",
    "eth_account",
    "eth_keys",
    "eth_abi",
    "yaml",
    "psutil",
)
# Of the wallets, of a network, of a shared desk, of autoresearch: loaded by the part that needs it.
OF_PARTS = ("web3", "mcp", "eth_account", "eth_keys", "eth_abi", "yaml", "psutil", "psycopg")


CONSOLE = SOURCE / "console"
SCREENS = ", ".join(
    sorted(
        ".".join(path.relative_to(ROOT / "src").with_suffix("").parts)
        for path in CONSOLE.rglob("*.py")
        if path.name != "__init__.py"
    )
)
CHAIN = ", ".join(
    f"service_tui.{room}"
    for room in ("server.app", "app.serving", "sdk.client", "desk.desk", "signing.chain")
)
STARTS = (
    ("service_tui.cli.main", "service_tui.commands.research_server"),
    ("service_tui.app.start", SCREENS),
    (
        "service_tui.app.start, service_tui.app.live",
        "service_tui.app.live, service_tui.commands.serve",
        CHAIN,
    ),
    ("service_tui.commands.serve",),
    (
        "service_tui.commands.lists",
        "service_tui.commands.report, service_tui.commands.reading",
    ),
    ("service_tui.sdk.client",),
    ("service_tui.engine.world",),
)
"""What each program imports, one after the other: imports are all that it costs.

The first of each are counted. Of a later one only tests know that say what is not loaded: what is
not there after it and those before it is not there after it alone.
"""


@cache
def names_along(steps: tuple[str, ...]) -> list[set[str]]:
    """The names of all modules after each of some imports, by one program."""
    code = "import sys" + "".join(f"; import {step}; print(*sys.modules)" for step in steps)
    done = subprocess.run(
        [sys.executable, "-c", code], check=True, capture_output=True, text=True, cwd=ROOT
    )
    return [set(line.split()) for line in done.stdout.splitlines()]


def names_after(imported: str) -> set[str]:
    (steps,) = (each for each in STARTS if imported in each)
    return names_along(steps)[steps.index(imported)]


def modules_after(imported: str) -> set[str]:
    return {name.partition(".")[0] for name in names_after(imported)}


MODULES_MOST = {
    "service_tui.cli.main": (150, 20),
    "service_tui.app.start": (561, 169),
    "service_tui.app.start, service_tui.app.live": (1_281, 662),
    "service_tui.commands.serve": (853, 359),
    "service_tui.commands.lists": (249, 85),
    "service_tui.commands.report, service_tui.commands.reading": (900, 482),
    "service_tui.sdk.client": (532, 113),
}
"""Modules loaded before the first word, the first paint, a live desk, the first answer of `serve`,
a list of notes, one of a service, and a skill's first call: all of them, and ours. A start is
mostly imports."""

ORM = ("sqlmodel", "sqlalchemy")

NOT_BEFORE = {
    "service_tui.cli.main": (*HEAVY, "textual", "rich", "anyio", "asyncio", "sqlite3"),
    "service_tui.app.start": (*HEAVY, "anyio"),
    "service_tui.commands.lists": (*HEAVY, "anyio", "rich", "textual"),
    "service_tui.commands.report, service_tui.commands.reading": (
        *OF_PARTS, *ORM, "starlette", "anyio", "uvicorn", "textual", "Crypto", "cffi",
    ),
    "service_tui.app.start, service_tui.app.live": (*OF_PARTS, *ORM, "uvicorn", "Crypto", "cffi"),
    "service_tui.commands.serve": (*OF_PARTS, *ORM, "textual", "Crypto", "cffi"),
    "service_tui.sdk.client": (*OF_PARTS, *ORM, "starlette", "uvicorn", "textual"),
}  # fmt: skip
"""The one list of libraries that are not loaded before: the first word, the first paint, the notes
of a directory, a list of its service, a live desk (and its first write), the first answer of
`serve`, a skill's first call.
"""


@pytest.mark.parametrize("imported", MODULES_MOST)
def test_a_start_loads_no_more_modules(imported: str) -> None:
    names = names_after(imported)
    ours = {name for name in names if name.partition(".")[0] == "service_tui"}
    most, most_of_ours = MODULES_MOST[imported]
    assert len(names) <= most
    assert len(ours) <= most_of_ours


@pytest.mark.parametrize("imported", NOT_BEFORE)
def test_a_library_waits_for_what_needs_it(imported: str) -> None:
    assert not modules_after(imported) & set(NOT_BEFORE[imported])


def loaded_by(data_dir: Path, *commands: str) -> set[str]:
    """The libraries that a program has loaded once it has done some commands."""
    code = (
        "import sys; from service_tui.cli.main import run\n"
        f"codes = [run([one, '--data-dir', {str(data_dir)!r}]) for one in {commands!r}]\n"
        "print(codes); print(*sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], check=True, capture_output=True, text=True, cwd=ROOT
    )
    *_, codes, names = done.stdout.splitlines()
    assert codes == str([0] * len(commands))
    return {name.partition(".")[0] for name in names.split()}


@pytest.mark.slow
def test_no_command_on_sqlite_loads_an_orm_to_read_or_to_write(tmp_path: Path) -> None:
    assert not loaded_by(tmp_path, "status", "halt") & {*ORM, "textual"}
    reads = loaded_by(tmp_path, "status", "fills", "fleet", "held", "report")
    assert not reads & {*OF_PARTS, *ORM, "starlette", "uvicorn", "textual"}


def test_no_screen_of_the_console_loads_anything_heavy() -> None:
    """They are loaded on the loop that paints, the first of them before the first frame."""
    assert not modules_after(SCREENS) & {*HEAVY, "Crypto"}


def test_the_first_answer_of_the_research_server_needs_the_protocol_only() -> None:
    rooms = {
        name.split(".")[1]
        for name in names_after("service_tui.commands.research_server")
        if name.startswith("service_tui.")
    }
    assert not rooms & {"client", "console", "desk", "engine", "sdk", "server", "storage", "wire"}


def test_the_engine_needs_the_standard_library_only() -> None:
    assert not modules_after("service_tui.engine.world") & {*HEAVY, "textual", "rich"}


def test_a_service_answers_before_a_desk_is_loaded() -> None:
    needed = names_after("service_tui.commands.serve")
    rooms = ("service_tui.desk", "service_tui.console.", "service_tui.autoresearch")
    loaded = {name for name in needed if name.startswith(rooms)}
    assert loaded == {"service_tui.console.closed_desk"}


def test_a_desk_of_one_loads_nothing_of_a_shared_database() -> None:
    needed = names_after("service_tui.app.live, service_tui.commands.serve")
    assert not {name for name in needed if "psycopg" in name or "postgresql" in name}


def test_the_libraries_of_the_chain_wait_until_a_wallet_needs_them() -> None:
    needed = modules_after(CHAIN)
    assert not needed & {"web3", "eth_account", "eth_abi", "eth_keys", "aiohttp", "requests"}


@pytest.mark.slow
def test_only_the_console_imports_textual() -> None:
    offenders = [
        path.relative_to(SOURCE)
        for path in SOURCE.rglob("*.py")
        if "console" not in path.parts
        and any(name in {"textual", "rich"} for name in imported_roots(path))
        and path.parts[-2:] != ("commands", "demo.py")
    ]
    assert offenders == []


def imported_roots(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module.partition(".")[0]
