"""A dialog on a bare app: keys and lines go in, texts, commands and results come out.

async with opened(ReactorForm(STATE, NOW, config)) as form:
    await form.write("reactor-cap", "50")
    await form.press("enter")
    assert form.left == [SetReactorConfig(daily_cap=Micros(50 * ONE))]
"""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from textual.pilot import Pilot
from textual.widgets import Input, Static

from kit.console.host import Host, until
from kit.console.painted import strips_of
from service_tui.console.widgets.dialog import Dialog
from service_tui.desk.command import Command
from service_tui.desk.state import DeskState


@dataclass
class OpenDialog:
    """A dialog in front of an app, seen from outside."""

    app: Host
    pilot: Pilot[None]
    dialog: Dialog[Any]
    left: list[Any] = field(default_factory=list)
    """Its results; None when it was left without one."""

    @property
    def given(self) -> list[Command]:
        return self.app.given

    @property
    def toasts(self) -> list[str]:
        return self.app.said

    @property
    def screen(self) -> str:
        """All that stands on the screen."""
        return "\n".join(strip.text for strip in strips_of(self.app.screen))

    @property
    def problem(self) -> str:
        return self.text("#form-problem")

    def text(self, selector: str) -> str:
        """What a block of the dialog in front says."""
        return str(self.app.screen.query_one(selector, Static).content)

    def value(self, name: str) -> str:
        """What stands in a line."""
        return self.app.screen.query_one(f"#{name}", Input).value

    def is_off(self, selector: str) -> bool:
        return self.app.screen.query_one(selector).disabled

    async def press(self, *keys: str) -> None:
        await self.pilot.press(*keys)
        await self.pilot.pause()

    async def write(self, name: str, text: str) -> None:
        """Replace the text of a line."""
        self.app.screen.query_one(f"#{name}", Input).value = text
        await self.pilot.pause()

    async def bring(self, state: DeskState | None = None, later_s: float = 0.0) -> None:
        """Hand a newer state, so much later, to the dialog in front."""
        self.app.bring(state, later_s)
        await self.pilot.pause()

    async def armed(self) -> None:
        """Wait until the dialog in front was seen for long enough to be answered."""
        front = self.app.screen
        assert isinstance(front, Dialog)
        await until(self.pilot, lambda: front.is_armed)

    async def again(self, dialog: Dialog[Any]) -> None:
        """Open another dialog in the place of this one; its results are counted anew."""
        if self.dialog in self.app.screen_stack:
            self.dialog.dismiss(None)
            await until(self.pilot, lambda: len(self.app.screen_stack) == 1)
        self.dialog = dialog
        self.left = []
        self.app.push_screen(dialog, self.left.append)
        await self.pilot.pause()


@asynccontextmanager
async def opened(
    dialog: Dialog[Any], state: DeskState, size: tuple[int, int] = (120, 40)
) -> AsyncGenerator[OpenDialog]:
    """The dialog in front of an app with nothing below, whose desk has this state."""
    app = Host(state)
    async with app.run_test(size=size) as pilot:
        seen = OpenDialog(app, pilot, dialog)
        await seen.again(dialog)
        yield seen
