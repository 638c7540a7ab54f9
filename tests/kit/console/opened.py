"""A dialog in front of a bare app: typed into and read from outside.

async with opened(MonitorForm(state, NOW, monitor), state) as t:
    await t.type("stop-percent", "10")
    await t.press("enter")
    assert t.returned == [...]
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from textual.pilot import Pilot
from textual.screen import ModalScreen
from textual.widgets import Input, Static

from kit.console.host import Host, until
from kit.console.painted import strips_of, words_of
from kit.samples.desk import sample_state
from service_tui.console.widgets.dialog import Dialog as Armed
from service_tui.desk.command import Command
from service_tui.desk.state import DeskState

Dialog = TypeVar("Dialog", bound=ModalScreen[Any])


@dataclass  # noqa: PLR0904  (all that a person does and sees there)
class Opened(Generic[Dialog]):
    """An open dialog, and what it returned."""

    pilot: Pilot[None]
    app: Host
    dialog: Dialog
    returned: list[Any] = field(default_factory=list)

    @property
    def given(self) -> list[Command]:
        """The commands that it gave."""
        return self.app.given

    @property
    def said(self) -> list[str]:
        """The toasts that it showed."""
        return self.app.said

    @property
    def problem(self) -> str:
        return self.told("form-problem")

    @property
    def text(self) -> str:
        """What is painted."""
        return "\n".join(strip.text for strip in strips_of(self.app.screen))

    @property
    def focused(self) -> str | None:
        """The widget with the focus, by its id."""
        return None if self.app.focused is None else self.app.focused.id

    def told(self, name: str) -> str:
        """The text of a block of the dialog in front."""
        return str(self.app.screen.query_one(f"#{name}", Static).content)

    def line(self, name: str) -> Input:
        return self.app.screen.query_one(f"#{name}", Input)

    def lines(self, *names: str) -> list[str]:
        """The texts of lines."""
        return [self.line(name).value for name in names]

    def is_off(self, name: str) -> bool:
        """Whether a button or a line takes nothing."""
        return self.app.screen.query_one(f"#{name}").disabled

    async def press(self, *keys: str) -> None:
        await self.pilot.press(*keys)
        await self.pilot.pause()

    async def type(self, name: str, text: str) -> None:
        """Replace the text of a line, which has the focus then."""
        line = self.line(name)
        line.focus()
        line.value = text
        line.cursor_position = len(text)
        await self.pilot.pause()

    async def click(self, name: str, x: int = 1) -> None:
        await self.pilot.click(f"#{name}", offset=(x, 0))
        await self.pilot.pause()

    async def bring(self, state: DeskState | None = None, later_s: float = 0.0) -> None:
        """Bring a newer state, so much later."""
        self.app.bring(state, later_s)
        await self.pilot.pause()

    async def armed(self) -> None:
        """Wait until the dialog in front was seen for long enough to be answered."""
        front = self.app.screen
        assert isinstance(front, Armed)
        await until(self.pilot, lambda: front.is_armed)

    async def again(self, dialog: Dialog) -> None:
        """Open another dialog in the place of this one; its results are counted anew."""
        if self.dialog in self.app.screen_stack:
            self.dialog.dismiss(None)
            await until(self.pilot, lambda: len(self.app.screen_stack) == 1)
        self.dialog = dialog
        self.returned = []
        self.app.push_screen(dialog, self.returned.append)
        await self.pilot.pause()


@asynccontextmanager
async def opened(
    dialog: Dialog, state: DeskState | None = None, size: tuple[int, int] = (100, 30)
) -> AsyncIterator[Opened[Dialog]]:
    """The dialog, once it is there."""
    app = Host(sample_state() if state is None else state)
    async with app.run_test(size=size) as pilot:
        seen = Opened(pilot, app, dialog)
        await seen.again(dialog)
        yield seen


async def words_in(dialog: ModalScreen[Any]) -> str:
    """All that a dialog says when it opens, in one line."""
    async with opened(dialog, size=(120, 50)) as seen:
        return words_of(seen.app.screen)
