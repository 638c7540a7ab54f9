"""`make pictures SCREEN=markets`: make the pictures of one screen anew, and show what has changed.

First the pictures of the suite (tests/console/snapshots), as text, then those of the README and
the documents (screenshots/): the screens, and `tour`, which moves. Without SCREEN all of them; the
texts of the suite that are of several screens are made in any case. What is shown is the difference
to what was committed: look at it before it is committed too.
"""

import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from kit import loop

# First of all, as in conftest.py: the pictures of the README must not depend on the machine's pace.
loop.patch()

from kit import clock  # noqa: E402
from kit.console import idle  # noqa: E402
from kit.readme.picture import read, written  # noqa: E402
from kit.readme.tour import tour  # noqa: E402
from service_tui.commands.demo import make_screenshots  # noqa: E402

ROOT = Path(__file__).resolve().parent.parent
BIN = Path(sys.executable).parent
SNAPSHOTS = Path("tests/console/snapshots")
SCREENSHOTS = ROOT / "screenshots"
TEXTS = "test_every"
"""Texts that are of several screens; made anew within a second."""


def main(screen: str) -> int:
    made = _snapshots(screen)
    if made:
        return made
    changed = _changed(SNAPSHOTS)
    for path in changed:
        print(f"\n{path.stem}")
        for line in _difference(path):
            print(f"  {line}")
    readme = _screenshots(screen)
    print(f"\n{len(changed)} picture(s) of the suite and {len(readme)} of the README have changed")
    for path in readme:
        print(f"  {path.relative_to(ROOT)}")
    return 0


def _snapshots(screen: str) -> int:
    """Run the tests that keep pictures of a screen, which writes them anew."""
    chosen = ["-k", f"{screen} or {TEXTS}"] if screen else ["-n", "auto"]
    done = subprocess.run(
        [BIN / "pytest", "-q", "--no-header", *_picture_tests(), *chosen],
        cwd=ROOT,
        env={**os.environ, "SNAPSHOT_UPDATE": "1"},
        check=False,
        stdout=subprocess.PIPE,
        text=True,
    )
    if done.returncode:
        print(done.stdout)
    return done.returncode


def _picture_tests() -> Iterator[str]:
    """The tests that keep pictures, as pytest names them."""
    for path in sorted((ROOT / "tests" / "console").rglob("test_*.py")):
        if path.name == "test_snapshot.py":  # tries out what keeps the pictures
            continue
        for test in re.split(r"^(?=(?:async )?def )", path.read_text("utf-8"), flags=re.MULTILINE):
            name = re.match(r"(?:async )?def (test_\w+)", test)
            if name and re.search(r"assert_(snapshot|text)\(", test):
                yield f"{path.relative_to(ROOT)}::{name[1]}"


def _changed(folder: Path) -> list[Path]:
    listed = subprocess.run(
        ["git", "status", "--porcelain", "--", folder],
        cwd=ROOT,
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    return [ROOT / line[3:] for line in listed.splitlines()]


def _difference(path: Path) -> list[str]:
    """Lines of the screen that differ; the digests of the styles are left out."""
    shown = subprocess.run(
        ["git", "diff", "--unified=0", "--no-color", "HEAD", "--", path],
        cwd=ROOT,
        check=True,
        capture_output=True,
        text=True,
    ).stdout.splitlines()
    lines = [line for line in shown if line[:1] in {"+", "-"} and line[:3] not in {"+++", "---"}]
    text = [line for line in lines if not line[1:3].isdigit()]
    return text or ["new" if not shown else "other colours alone"]


def _screenshots(screen: str) -> list[Path]:
    """Draw the README's pictures anew and keep those of the screen that are others now."""
    os.environ["TZ"] = "UTC"
    time.tzset()
    clock.patch()
    idle.patch()
    loop.patch_toasts()
    kept: list[Path] = []
    for name, svg in _drawn(screen):
        there = SCREENSHOTS / name
        if not there.exists() or there.read_text("utf-8") != svg:
            there.write_text(svg, "utf-8")
            kept.append(there)
    return kept


def _drawn(screen: str) -> Iterator[tuple[str, str]]:
    """Name and content of each picture whose name begins so."""
    with tempfile.TemporaryDirectory() as folder:
        for made in make_screenshots(Path(folder), screen):
            yield made.name, written([read(made.read_text("utf-8"))])
    if "tour".startswith(screen):
        yield "tour.svg", tour()


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1] if len(sys.argv) > 1 else ""))
