"""Keys are dealt with one after the other, also those typed faster than a dialog opens.

Textual hands a key to whatever has the focus when it arrives; what that key opens comes later, so
that of `b 1 2 5`, typed in one go, an order ticket would get only the 5.
"""

import asyncio
from collections import deque
from typing import Final, Protocol, runtime_checkable

from textual import events, on
from textual.app import App
from textual.message import Message
from textual.timer import Timer
from textual.widget import Widget

from service_tui.console.messages import ToastMessage

LOOK_AGAIN_S: Final = 0.01
IDLE_S: Final = 2.0
"""Who has typed nothing for so long is reading, and notices no pause."""

SETTLE_S: Final = 1.0
"""How long a key waits for what the one before it opened; then it goes where the focus is."""

REST_S: Final = 0.4
"""So long no key goes to what comes to sight when a dialog has closed by itself."""


GONE: Final = "the row you were on is gone: nothing was done, press again for the row shown"
BEHIND: Final = "the keys typed right behind it did nothing, either"
"""Said of a key that acts on a row which has gone, and of what was typed for what it would open."""


class KeyDone(Message):
    """Follows a key through the same widgets: when it arrives, the key has been dealt with."""

    def __init__(self, number: int) -> None:
        super().__init__()
        self.number = number


@runtime_checkable
class KnowsPresses(Protocol):
    """An app that knows when its keys were pressed."""

    @property
    def pressed_at(self) -> float | None:
        """When the key that is dealt with now was pressed, by the loop's clock; None for none."""
        ...


class KeyQueue(App[int]):
    """An app that gives out the next key when the last one has had its whole effect."""

    def __init__(self) -> None:
        super().__init__()
        self._typed: deque[events.Key | events.Paste] = deque()
        self._is_busy = False
        self._number = 0
        self._waited_s = 0.0
        self._patience: Timer | None = None
        self._typed_at = -IDLE_S
        self._pressed_at = 0.0
        self._rests_until = 0.0
        self._why_rest = ""

    @property
    def is_idle(self) -> bool:
        """Whether nobody has typed for a while."""
        return not self._is_busy and asyncio.get_running_loop().time() - self._typed_at >= IDLE_S

    @property
    def pressed_at(self) -> float | None:
        """When the key that is dealt with now was pressed, by the loop's clock; None for none."""
        return self._pressed_at if self._is_busy else None

    def give_again(self, event: events.Key) -> None:
        """Give a key once more, next of all: whoever got it makes room for what it opens."""
        again = events.Key(event.key, event.character)
        again.time = event.time
        self._typed.appendleft(again)

    def forget_typed(self) -> None:
        """Drop the keys that have not had their turn."""
        self._typed.clear()

    def rest_keys(self, why: str) -> None:
        """Refuse the keys that have not had their turn, and those of the next moment.

        Args:
            why: what is said of the first of them, whenever it comes.
        """
        self._rests_until = asyncio.get_running_loop().time() + REST_S
        self._why_rest = why
        if self._typed:
            self.forget_typed()
            self._say_refused()

    def _say_refused(self) -> None:
        """Say why keys did nothing, once for all of them."""
        if self._why_rest:
            self.post_message(ToastMessage(self._why_rest, "warn"))
        self._why_rest = ""

    async def _has_overtaken(self, event: events.Key | events.Paste) -> bool:
        """Whether it was a key with priority, one that ends or stops something, and has done so."""
        return isinstance(event, events.Key) and await self._check_bindings(event.key, True)  # noqa: FBT003 - Textual's own

    async def on_event(self, event: events.Event) -> None:
        """Keep keys in their order; everything else goes on as ever."""
        if not isinstance(event, events.Key | events.Paste) or event.is_forwarded:
            await super().on_event(event)
        elif asyncio.get_running_loop().time() < self._rests_until:
            if not await self._has_overtaken(event):
                self._say_refused()
        elif not self._is_busy:
            await self._give(event)
        elif not await self._has_overtaken(event):
            self._typed.append(event)

    async def _give(self, event: events.Key | events.Paste) -> None:
        self._is_busy = True
        self._typed_at = asyncio.get_running_loop().time()
        self._pressed_at = event.time
        self._number += 1
        target = self.focused or self.screen
        await super().on_event(event)
        target.post_message(KeyDone(self._number))
        # A widget that the key has removed passes nothing on.
        self._patience = self.set_timer(SETTLE_S, self._settle)

    @on(KeyDone)
    def _key_done(self, message: KeyDone) -> None:
        message.stop()
        if message.number == self._number:
            # After the focus that the key asked for, which is set by a message of the same queue.
            self.call_later(self._settle)

    async def _settle(self) -> None:
        """Give out the next key, once what the last one opened can take it."""
        if self._patience is not None:
            self._patience.stop()
            self._patience = None
        if not self.screen_stack:
            # The console has ended since: nobody takes the next key.
            self._typed.clear()
            return
        if not self._is_ready() and self._waited_s < SETTLE_S:
            self._waited_s += LOOK_AGAIN_S
            self.set_timer(LOOK_AGAIN_S, self._settle)
            return
        self._waited_s = 0.0
        if self._typed:
            await self._give(self._typed.popleft())
        else:
            self._is_busy = False

    def _is_ready(self) -> bool:
        """Whether the screen on top is there, with the focus where it belongs."""
        screen = self.screen
        return screen.is_mounted and (screen.focused is not None or not screen.focus_chain)


def pressed_at(acting: Widget) -> float:
    """When the key was pressed that is dealt with now, by the loop's clock; else now."""
    app: App[object] = acting.app  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType] - untyped
    key = app.pressed_at if isinstance(app, KnowsPresses) else None
    return asyncio.get_running_loop().time() if key is None else key


def rest_keys(dialog: Widget, why: str) -> None:
    """Let no key that was typed for a dialog act on what is behind it, and say why."""
    app: App[object] = dialog.app  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType] - untyped
    if isinstance(app, KeyQueue):
        app.rest_keys(why)


def say_gone(acting: Widget) -> None:
    """Say that a key did nothing as its row has gone, and drop what was typed right behind it."""
    acting.post_message(ToastMessage(GONE, "warn"))
    rest_keys(acting, BEHIND)
