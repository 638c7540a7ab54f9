"""A console is closed and opened again on the same data: it opens where it was left."""

from pathlib import Path

import pytest

from kit.console.walk import walking
from service_tui.clock import ManualClock
from service_tui.console.widgets.plain_input import PlainInput


@pytest.mark.slow
async def test_the_console_opens_where_it_was_left(tmp_path: Path) -> None:
    clock = ManualClock()
    async with walking(tmp_path, clock, size=(120, 30), pace_s=0.2) as walk:
        await walk.until(lambda s: walk.is_open and not s.from_cache and s.markets)
        await walk.press("escape")
        await walk.press("colon", *"sort", "space", *"price", "enter")
        await walk.press("ctrl+d", "ctrl+d", "j")
        table = walk.app.front.table
        before = table.state()
        assert (before.sort, before.falling) == ("price", True)
        assert before.place > before.scroll > 0
        # The last key comes right before the end: it is written all the same.
        walk.app.exit()
    async with walking(tmp_path, clock, size=(120, 30), pace_s=0.2) as again:
        assert again.app.front.name_in_keys == "markets"
        await again.until(lambda s: again.is_open and not s.from_cache and s.markets)
        table = again.app.front.table
        assert table.selected() is not None
        assert (table.state().cursor, table.state().sort) == (before.cursor, "price")
        assert table.state().place - table.state().scroll == before.place - before.scroll
        await again.press("colon", "up")
        line = again.app.screen.query_one("#command-typed", PlainInput)
        assert line.value == "sort price"
