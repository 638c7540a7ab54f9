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

from kit.console.host import Host
from kit.console.painted import strips_of
from kit.samples.desk import sample_state
from service_tui.desk.state import DeskState

Dialog = TypeVar("Dialog", bound=ModalScreen[Any])


@dataclass
class Opened(Generic[Dialog]):
    """An open dialog, and what it returned."""

    pilot: Pilot[None]
    app: Host
    form: Dialog
    returned: list[Any] = field(default_factory=list)

    @property
    def text(self) -> str:
        """What is painted."""
        return "\n".join(strip.text for strip in strips_of(self.app.screen))

    @property
    def focused(self) -> str | None:
        """The widget with the focus, by its id."""
        return None if self.app.focused is None else self.app.focused.id

    def told(self, name: str) -> str:
        """The text of a block."""
        return str(self.form.query_one(f"#{name}", Static).content)

    def line(self, name: str) -> Input:
        return self.form.query_one(f"#{name}", Input)

    def lines(self, *names: str) -> list[str]:
        """The texts of lines."""
        return [self.line(name).value for name in names]

    def is_off(self, name: str) -> bool:
        """Whether a button or a line takes nothing."""
        return self.form.query_one(f"#{name}").disabled

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


@asynccontextmanager
async def opened(
    form: Dialog, state: DeskState | None = None, size: tuple[int, int] = (100, 30)
) -> AsyncIterator[Opened[Dialog]]:
    """The dialog, once it is there."""
    app = Host(sample_state() if state is None else state)
    async with app.run_test(size=size) as pilot:
        seen = Opened(pilot, app, form)
        app.push_screen(form, seen.returned.append)
        await pilot.pause()
        yield seen
