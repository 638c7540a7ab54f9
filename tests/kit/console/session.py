"""A console on a real embedded world, whose wallet has a known key and passphrase."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from hashlib import sha256

from textual.pilot import Pilot

from kit.service.stage import Stage as Setting
from service_tui.console.app import ConsoleApp
from service_tui.console.screens.wallet.forms import SecretInput
from service_tui.desk.state import DeskState

SIZE = (120, 40)


PASSPHRASE = "correct horse & battery staple"  # noqa: S105 - a canary


KEY = sha256(b"a canary").hexdigest()


WORK = 2**4


@dataclass
class Session:
    """A console on a desk whose key lies encrypted on the disk, and what was seen of it."""

    app: ConsoleApp
    pilot: Pilot[int]
    stage: Setting
    is_filmed: bool = False
    """Whether a picture is kept after each key."""
    pictures: list[str] = field(default_factory=list)

    @property
    def state(self) -> DeskState:
        return self.app.desk_state

    async def until(self, is_so: Callable[[DeskState], object]) -> DeskState:
        for _ in range(400):
            if is_so(self.state):
                await self.pilot.pause()
                return self.state
            await self.stage.clock.advance(0.25)
            await self.stage.database.write(lambda _: None)
            await asyncio.to_thread(int)
            await asyncio.sleep(0.005)
        raise AssertionError("the console never showed the wanted state")

    async def press(self, *keys: str) -> None:
        await self.pilot.press(*keys)
        await self.pilot.pause(0.05)
        self._film()

    async def write(self, *texts: str) -> None:
        for line, text in zip(self.app.screen.query(SecretInput), texts, strict=True):
            line.value = text
        await self.pilot.pause()
        self._film()

    def _film(self) -> None:
        if self.is_filmed:
            self.pictures.append(self.app.export_screenshot())
