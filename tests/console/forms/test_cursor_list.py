"""A list with a cursor: it stays with its row, falls with it, and acts on no other."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from rich.text import Text

from kit.console.opened import Opened, opened
from kit.samples.desk import NOW, sample_state
from service_tui.console.forms.cursor_list import CursorList
from service_tui.console.key_queue import gone_text
from service_tui.console.widgets.cursor_loss import DEAD_S

pytestmark = pytest.mark.slow

STATE = sample_state()


class Letters(CursorList[None, str]):
    """Rows that a test gives."""

    name_in_keys = "sort_menu"
    title_text = "Letters"
    lines_of_a_row = 2

    def __init__(self, letters: str) -> None:
        self.letters = letters
        super().__init__(STATE, NOW)

    def rows(self) -> tuple[str, ...]:
        return tuple(self.letters)

    def key_of(self, row: str) -> str:
        return row

    def text(self) -> Text:
        return Text("\n\n".join(f"[{row}]" if row == self.at else row for row in self.rows()))


@asynccontextmanager
async def letters(rows: str = "abc") -> AsyncIterator[Opened[Letters]]:
    async with opened(Letters(rows), STATE, (60, 12)) as seen:
        yield seen


def hint(t: Opened[Letters]) -> str:
    return str(t.dialog.query_one("#frame").border_subtitle).strip()


async def bring(t: Opened[Letters], rows: str) -> None:
    t.dialog.letters = rows
    await t.bring(later_s=1.0)


async def test_the_cursor_steps_to_either_end_and_stays_with_its_row() -> None:
    async with letters() as t:
        assert "[a]" in t.text
        for key, row in (
            ("j", "b"),
            ("down", "c"),
            ("j", "c"),
            ("k", "b"),
            ("up", "a"),
            ("k", "a"),
        ):
            await t.press(key)
            assert f"[{row}]" in t.text
            assert t.dialog.row_or_toast() == row
        await t.press("j")
        for rows in ("bac", "cab", "b", "xyzb"):
            await bring(t, rows)
            assert t.dialog.row_or_toast() == "b"
        await t.press("k")
        assert (t.dialog.row_or_toast(), t.app.said) == ("z", [])
        # The row before stays in sight with it.
        await bring(t, "abcdefghijz")
        await t.press("k", "j")
        assert "j" in t.text
        assert "[z]" in t.text


async def test_a_key_does_nothing_on_the_row_to_which_the_cursor_fell() -> None:
    for rows, to in (("ac", "c"), ("a", "a"), ("xyz", "y")):
        async with letters() as t:
            await t.press("j")
            await bring(t, rows)
            assert f"[{to}]" in t.text
            assert t.dialog.row_or_toast() is None
            await t.pilot.pause()
            assert t.app.said == [gone_text("")]
            # A move of the hand means it; so does a moment.
            if to == "c":
                await t.press("j")
            else:
                await asyncio.sleep(DEAD_S)
                await t.press("x")
            assert t.dialog.row_or_toast() == to


async def test_an_empty_list_has_no_row_and_takes_its_first_one_as_it_comes() -> None:
    async with letters() as t:
        await bring(t, "")
        await t.press("j")
        assert (t.dialog.current_row(), t.dialog.row_or_toast()) == (None, None)
        await t.pilot.pause()
        assert t.app.said == [gone_text("")]
        assert hint(t) == "esc closes"
    async with letters("") as t:
        assert t.dialog.row_or_toast() is None
        await bring(t, "ab")
        assert (t.dialog.row_or_toast(), t.app.said) == ("a", [])
        assert hint(t).endswith("   esc closes")
        await t.press("escape")
        assert t.returned == [None]
