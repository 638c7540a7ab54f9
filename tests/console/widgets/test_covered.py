"""While a dialog is open, what changes behind it is repainted, and nothing else."""

import re
from dataclasses import replace
from typing import Any

import pytest
from rich.text import Text

from kit.console.doors import Running, running, seen_before
from kit.console.painting import each_frame
from kit.console.textual_private import Compositor, LayoutUpdate
from kit.samples.desk import sample_state
from service_tui.console.forms.confirm import Confirm, Question
from service_tui.console.forms.trade_form import TradeForm
from service_tui.desk.state import DeskState
from service_tui.units import Micros

pytestmark = pytest.mark.slow

STATE = seen_before(sample_state())
_PART = re.compile(r"\x1b\[(\d+);(\d+)H|\x1b\[H|\x1b\[[0-9;?]*[a-zA-Z]|[\r\n]|([^\x1b\r\n]+)")


class Painted:
    """The cells of a terminal, and how often all of them were written."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, size: tuple[int, int]) -> None:
        self.rows = [[" "] * size[0] for _ in range(size[1])]
        self.whole = 0
        render_update = Compositor.render_update

        def paint(compositor: Compositor, **named: Any) -> Any:
            update = render_update(compositor, **named)
            if update is not None:
                self.whole += isinstance(update, LayoutUpdate)
                self._write(update.render_segments(compositor.root.app.console))
            return update

        monkeypatch.setattr(Compositor, "render_update", paint)

    def _write(self, text: str) -> None:
        y = x = 0
        for part in _PART.finditer(text):
            if part.group(1):
                y, x = int(part.group(1)) - 1, int(part.group(2)) - 1
            elif part.group(0) == "\x1b[H":
                y = x = 0
            elif part.group(0) == "\r":
                x = 0
            elif part.group(0) == "\n":
                y += 1
            elif part.group(3):
                self.rows[y][x : x + len(part.group(3))] = part.group(3)
                x += len(part.group(3))

    @property
    def text(self) -> str:
        return "\n".join(map("".join, self.rows))


def with_cash(cash: int, **changes: Any) -> DeskState:
    assert STATE.account is not None
    return replace(STATE, account=replace(STATE.account, cash=Micros(cash * 1_000_000)), **changes)


async def changed_behind(seen: Running, painted: Painted) -> None:
    """Change the head twice, the rows once, and compare."""
    await seen.bring(with_cash(1))
    before = painted.whole
    for cash in (4_321, 4_322):
        await seen.bring(with_cash(cash))
        assert f"{cash:,}" in painted.text
        assert painted.text == seen.text
    await seen.bring(with_cash(4_322, stars=frozenset(list(STATE.markets)[:2])))
    assert painted.text == seen.text
    assert painted.whole == before


async def test_a_figure_behind_a_dialog_does_not_repaint_the_screen(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with each_frame():
        painted = Painted(monkeypatch, (120, 40))
        async with running(STATE, size=(120, 40)) as seen:
            await seen.press("2", "b")
            await seen.until(lambda: isinstance(seen.app.screen, TradeForm))
            await changed_behind(seen, painted)


async def test_nor_does_one_behind_two_dialogs(monkeypatch: pytest.MonkeyPatch) -> None:
    with each_frame():
        painted = Painted(monkeypatch, (120, 40))
        async with running(STATE, size=(120, 40)) as seen:
            await seen.press("2", "b")
            await seen.until(lambda: isinstance(seen.app.screen, TradeForm))
            seen.app.push_screen(Confirm(Question("Sure?", Text("Nothing comes of it."), "yes")))
            await seen.until(lambda: isinstance(seen.app.screen, Confirm))
            await seen.press("x")
            await changed_behind(seen, painted)
