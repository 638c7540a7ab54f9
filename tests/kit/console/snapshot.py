"""Pictures of a running app that a person can read in a diff: the text, then digests of its styles.

    await assert_snapshot(pilot, "portfolio_80x24", themes=("night", "paper"))

SNAPSHOT_UPDATE=1 in the environment writes the pictures anew. A file is the screen line for line,
then one block a theme: the number of a line and four hex digits of its styles, so that a change of
colour is one small change in one block.
"""

import difflib
import hashlib
import os
from collections.abc import Iterable, Iterator
from itertools import groupby
from pathlib import Path
from typing import Final

from rich.segment import Segment
from rich.style import Style
from textual.pilot import Pilot
from textual.widgets import Input

from kit.console.idle import wait_for_idle
from kit.console.painted import strips_of
from service_tui.console.app import ConsoleApp
from service_tui.console.widgets.record_view import RecordView
from service_tui.console.widgets.text_block import TextBlock

FOLDER: Final = Path(__file__).resolve().parents[2] / "console" / "snapshots"

_EDGE: Final = "│"
_PER_LINE: Final = 10


async def assert_snapshot(
    pilot: Pilot[object], name: str, *, themes: tuple[str, ...] = ("night",)
) -> None:
    """Compare what is on the screen with the picture of that name."""
    assert_same(name, await picture(pilot, themes))


def assert_same(name: str, now: str, folder: Path | None = None) -> None:
    """Compare a text with the kept one of that name."""
    path = (folder or FOLDER) / f"{name}.txt"
    if os.environ.get("SNAPSHOT_UPDATE") == "1":
        path.parent.mkdir(exist_ok=True, parents=True)
        path.write_text(now, encoding="utf-8")
        return
    before = path.read_text(encoding="utf-8") if path.exists() else ""
    if now != before:
        changes = difflib.unified_diff(
            before.splitlines(), now.splitlines(), f"{name} kept", f"{name} now", lineterm=""
        )
        hint = "SNAPSHOT_UPDATE=1 keeps what is seen now, if it is right"
        raise AssertionError("\n".join((f"{name} looks different: {hint}", *changes)))


async def picture(pilot: Pilot[object], themes: Iterable[str]) -> str:
    """The screen as text, with digests for each theme; the theme before comes back."""
    app = pilot.app
    for field in app.screen.query(Input):
        # A cursor that blinks would be there or not, as chance has it.
        field.cursor_blink = False
    worn = app.theme
    lines: list[str] = []
    blocks: list[str] = []
    for theme in themes:
        is_new, app.theme = app.theme != theme, theme
        if isinstance(app, ConsoleApp):
            # The theme's name stands on a screen, which else waits for the next tick.
            app.show_state()
        # What draws with colours of its own draws anew once it was painted in other ones.
        await (pilot.pause() if is_new else _rest(pilot))
        for table in app.screen.query(RecordView):
            # What has changed glows for a moment, and no picture is of that moment.
            table._rest()
        for words in app.screen.query(TextBlock):
            # Nor of the room that a longer text has left.
            words._give_back()
        await pilot.pause()
        rows = list(_rows(pilot))
        lines = ["".join(text for text, _ in row) for row in rows]
        blocks += [f"-- {theme}", *_digests(rows)]
    if app.theme != worn:
        app.theme = worn
        await pilot.pause()
    width, height = app.size
    head = f"{width} x {height}"
    # The edge keeps blanks at the end visible, and editors from cutting them off.
    return "\n".join((head, *(line + _EDGE for line in lines), *blocks)) + "\n"


async def _rest(pilot: Pilot[object]) -> None:
    """Let everything come to rest, unpainted: what is seen is painted after that."""
    await wait_for_idle()
    pilot.app.screen._on_timer_update()


def _rows(pilot: Pilot[object]) -> Iterator[list[tuple[str, str]]]:
    for strip in strips_of(pilot.app.screen):
        yield [
            ("".join(segment.text for segment in run), style)
            for style, run in groupby(strip, key=_style_text)
        ]


def _style_text(segment: Segment) -> str:
    style = segment.style or Style()
    colours = [
        "default" if colour is None else colour.name for colour in (style.color, style.bgcolor)
    ]
    # What a cell means (links, click actions) is not what it looks like: only the looks count.
    looks = [name for name in _ATTRIBUTES if getattr(style, name)]
    return " ".join((*colours, *looks))


_ATTRIBUTES: Final = ("bold", "dim", "italic", "underline", "reverse", "strike", "blink")


def _digests(rows: Iterable[list[tuple[str, str]]]) -> list[str]:
    digests: list[str] = []
    for number, row in enumerate(rows, start=1):
        runs = ";".join(f"{len(text)} {style}" for text, style in row)
        digests.append(f"{number:02d} {hashlib.sha256(runs.encode()).hexdigest()[:4]}")
    return [
        "  ".join(digests[start : start + _PER_LINE]) for start in range(0, len(digests), _PER_LINE)
    ]
