"""The wheel and the sdist, installed as a person installs them, and the console opened.

    python tests/installed.py [pip|core|pipx|uv|newest|lowest]...

Builds both, installs each into an empty environment by the named tools (pip without one), opens the
console in a terminal of its own, waits for its first screen, and leaves by `q`. `core` takes no
extra, every other way all of them. `newest` takes the newest of every library, `lowest` the oldest
that pyproject.toml allows, by uv; these three take the wheel alone.
A tool that is not on the machine fails the run. Nothing of the checkout can be imported meanwhile.
"""

import fcntl
import os
import pty
import select
import shutil
import struct
import subprocess
import sys
import tempfile
import termios
import time
from collections.abc import Callable, Mapping
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
OPEN_S, LEAVE_S = 120.0, 30.0
SIZE = (40, 120)
FIRST, ASKS = b"welcome", b"leave"
"""Words of the welcome page, in lower case, and of the question before the end."""


class InstallError(Exception):
    """What was installed does not work."""


def run(*words: str | Path, **more: str) -> None:
    """A command, with variables of its own; it must end well."""
    subprocess.run([str(word) for word in words], check=True, env={**clean(), **more})


def clean() -> dict[str, str]:
    """The environment without a way to the checkout."""
    return {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}


def whole(package: Path) -> str:
    """A package with every extra, as each tool takes it."""
    return f"service-tui[all] @ {package.as_uri()}"


def by_pip(package: Path, folder: Path, *options: str, light: bool = False) -> Path:
    run(sys.executable, "-m", "venv", folder)
    wanted = package if light else whole(package)
    run(folder / "bin" / "python", "-m", "pip", "install", "-q", *options, wanted)
    return folder / "bin" / "service-tui"


def by_core(package: Path, folder: Path) -> Path:
    return by_pip(package, folder, light=True)


def by_newest(package: Path, folder: Path) -> Path:
    return by_pip(package, folder, "--upgrade", "--upgrade-strategy", "eager")


def by_pipx(package: Path, folder: Path) -> Path:
    places = {"PIPX_HOME": str(folder), "PIPX_BIN_DIR": str(folder / "bin")}
    run("pipx", "install", "--quiet", "--python", sys.executable, whole(package), **places)
    return folder / "bin" / "service-tui"


def by_uv(package: Path, folder: Path) -> Path:
    places = {"UV_TOOL_DIR": str(folder), "UV_TOOL_BIN_DIR": str(folder / "bin")}
    run("uv", "tool", "install", "--quiet", "--python", sys.executable, whole(package), **places)
    return folder / "bin" / "service-tui"


def by_lowest(package: Path, folder: Path) -> Path:
    run("uv", "venv", "--quiet", "--python", sys.executable, folder)
    lowest = ("--resolution", "lowest-direct", "--python", folder / "bin" / "python")
    run("uv", "pip", "install", "--quiet", *lowest, whole(package))
    return folder / "bin" / "service-tui"


WAYS: Mapping[str, Callable[[Path, Path], Path]] = {
    "pip": by_pip,
    "core": by_core,
    "pipx": by_pipx,
    "uv": by_uv,
    "newest": by_newest,
    "lowest": by_lowest,
}


class Terminal:
    """A program in a terminal; `shown` is all that it wrote, in lower case."""

    def __init__(self, program: Path, home: Path) -> None:
        environ = {"HOME": str(home), "TERM": "xterm-256color", "PATH": "/usr/bin:/bin"}
        self.shown = b""
        self.pid, self._descriptor = pty.fork()
        if self.pid == 0:
            os.execve(program, [str(program)], environ)  # noqa: S606 - the child of the fork
        fcntl.ioctl(self._descriptor, termios.TIOCSWINSZ, struct.pack("HHHH", *SIZE, 0, 0))

    def until(self, word: bytes, within_s: float) -> None:
        """Read until it has written a word."""
        end = time.monotonic() + within_s
        while word not in self.shown:
            if time.monotonic() > end or not self._read(within_s):
                raise InstallError(f"{word!r} is not shown; the end: {self.shown[-2_000:]!r}")

    def type(self, keys: str) -> None:
        os.write(self._descriptor, keys.encode())

    def status(self) -> int:
        """The exit status, once it has closed its terminal."""
        while self._read(LEAVE_S):
            pass
        return os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])

    def _read(self, within_s: float) -> bool:
        if not select.select([self._descriptor], [], [], within_s)[0]:
            raise InstallError(f"it is silent; the end: {self.shown[-2_000:]!r}")
        try:
            chunk = os.read(self._descriptor, 65_536)
        except OSError:
            return False
        self.shown += chunk.lower()
        return bool(chunk)


def opened(program: Path, home: Path) -> None:
    """Open the console on a new home, see its first screen, and leave."""
    home.mkdir()
    terminal = Terminal(program, home)
    terminal.until(FIRST, OPEN_S)
    terminal.type("\r")
    terminal.until(b"demo-news", OPEN_S)
    terminal.type("q")
    status = terminal.status()
    if status:
        raise InstallError(f"it ended with {status}: {terminal.shown[-2_000:]!r}")


def main() -> int:
    ways = sys.argv[1:] or ["pip"]
    if unknown := set(ways) - set(WAYS):
        print(f"installed.py knows {', '.join(WAYS)}, not {', '.join(sorted(unknown))}")
        return 2
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        packages = folder / "dist"
        subprocess.run(
            [sys.executable, "-m", "hatchling", "build", "-d", packages], cwd=ROOT, check=True
        )
        wheel, sdist = next(packages.glob("*.whl")), next(packages.glob("*.tar.gz"))
        for way in ways:
            for package in (wheel,) if way in {"core", "newest", "lowest"} else (wheel, sdist):
                began = time.monotonic()
                place = folder / f"{way}{package.suffix}"
                program = WAYS[way](package, place)
                run(program, "--version")
                opened(program, folder / f"home-{place.name}")
                print(f"== {way}, {package.name}: {time.monotonic() - began:.0f} s", flush=True)
                shutil.rmtree(place)
    return 0


if __name__ == "__main__":
    sys.exit(main())
