"""Keys are handled one after the other, also those typed faster than a dialog opens.

Textual hands a key to the focused widget when it arrives; a dialog that the key opens comes later,
so that of `b 1 2 5`, typed in one go, an order ticket would get only the 5.
"""

import asyncio
from collections import deque
from functools import partial
from typing import Final, Protocol, runtime_checkable

from textual import events, on
from textual.app import App
from textual.message import Message
from textual.screen import ModalScreen, Screen
from textual.timer import Timer
from textual.widget import Widget

from service_tui.console.keys import cap, keys_of, readable
from service_tui.console.messages import ToastMessage

CHECK_AGAIN_S: Final = 0.01
IDLE_S: Final = 2.0
"""A person who types nothing for this long is reading, and notices no pause."""

SETTLE_S: Final = 1.0
"""How long a key waits for the dialog that the former one opened; then it goes to the focus."""

REST_S: Final = 0.4
"""Keys are ignored for this long after a dialog has closed automatically."""


GONE: Final = "The list has just changed: nothing sent. {again} for this row."
BEHIND: Final = "The list has just changed: keys typed since are ignored"
"""Toast for a key whose row is gone, and for keys typed for the dialog it would open."""


def foreign_letter_hint(character: str | None) -> str:
    """What to tell of a letter that no key has: another layout is on; empty for other keys."""
    if character is None or character.isascii() or not character.isalpha():
        return ""
    return f"{character} is no key here: switch the keyboard to Latin letters"


def is_of_the_app(key: str) -> bool:
    """True if a key, in Textual's word, does something on every screen."""
    return any(key in one.keys for one in keys_of("app"))


class KeyDone(Message):
    """Follows a key through the same widgets. Its second arrival ends the handling of the key.

    The key itself may make its widget send a message, as an enter does in a line of text: only the
    second one runs behind that.
    """

    def __init__(
        self, number: int, target: Widget | Screen[object], *, is_last: bool = False
    ) -> None:
        super().__init__()
        self.number = number
        self.target = target
        self.is_last = is_last


@runtime_checkable
class KnowsPresses(Protocol):
    """An app that records when its keys were pressed."""

    @property
    def pressed_at(self) -> float | None:
        """When the key in hand was pressed, by the loop's clock; None without one."""
        ...


class KeyQueue(App[int]):
    """An app that passes the next key on after the former one has had its whole effect."""

    def __init__(self) -> None:
        super().__init__()
        self._typed: deque[events.Key | events.Paste] = deque()
        self._is_busy = False
        self._number = 0
        self._waited_s = 0.0
        self._patience: Timer | None = None
        self._typed_at = -IDLE_S
        self._pressed_at = 0.0
        self._pressed_key = ""
        self._rests_until = 0.0
        self._why_rest = ""
        self._has_hinted = False

    @property
    def is_idle(self) -> bool:
        """True if no key was typed for a while."""
        return not self._is_busy and asyncio.get_running_loop().time() - self._typed_at >= IDLE_S

    @property
    def pressed_at(self) -> float | None:
        """When the key in hand was pressed, by the loop's clock; None without one."""
        return self._pressed_at if self._is_busy else None

    @property
    def pressed_key(self) -> str:
        """The key in hand as printed on its cap; empty without one."""
        return self._pressed_key if self._is_busy else ""

    def give_again(self, event: events.Key) -> None:
        """Handle a key again, next of all: its receiver makes room for the dialog it opens."""
        again = events.Key(event.key, event.character)
        again.time = event.time
        self._typed.appendleft(again)

    def forget_typed(self) -> None:
        """Drop the keys that wait for their turn."""
        self._typed.clear()

    def rest_keys(self, why: str) -> None:
        """Refuse the keys that wait for their turn, and those of the next moment.

        Args:
            why: the toast for the first of them, whenever it comes.
        """
        self._rests_until = asyncio.get_running_loop().time() + REST_S
        self._why_rest = why
        if self._typed:
            self.forget_typed()
            self._show_refusal()

    def _show_refusal(self) -> None:
        """Show once for all of them why keys did nothing."""
        if self._why_rest:
            self.post_message(ToastMessage(self._why_rest, "warn"))
        self._why_rest = ""

    async def _has_overtaken(self, event: events.Key | events.Paste) -> bool:
        """Handle a key with priority, which ends or stops something, at once; True for one."""
        if not self.screen_stack:
            # The console is ending: no key has a receiver.
            return True
        return isinstance(event, events.Key) and await self._check_bindings(event.key, True)  # noqa: FBT003 - Textual's own

    def on_key(self, event: events.Key) -> None:
        """Say why a key did nothing: a dialog is in front, or the keyboard has another layout."""
        if isinstance(self.screen, ModalScreen) and is_of_the_app(event.key):
            self.post_message(ToastMessage(f"{cap('dialog.close')} closes this first", "warn"))
            return
        hint = "" if self._has_hinted else foreign_letter_hint(event.character)
        if hint:
            self._has_hinted = True
            self.post_message(ToastMessage(hint, "warn"))

    async def on_event(self, event: events.Event) -> None:
        """Keep keys in their order; other events pass unchanged."""
        if not isinstance(event, events.Key | events.Paste) or event.is_forwarded:
            await super().on_event(event)
        elif event.time < self._rests_until:
            # By when it was pressed: a busy machine hands it over later.
            if not await self._has_overtaken(event):
                self._show_refusal()
        elif not self._is_busy:
            await self._give(event)
        elif not await self._has_overtaken(event):
            self._typed.append(event)

    async def _give(self, event: events.Key | events.Paste) -> None:
        self._is_busy = True
        self._typed_at = asyncio.get_running_loop().time()
        self._pressed_at = event.time
        self._pressed_key = readable(event.key) if isinstance(event, events.Key) else ""
        self._number += 1
        target = self.focused or self.screen
        await super().on_event(event)
        done = KeyDone(self._number, target)
        target.post_message(done)
        self._await(done, asyncio.get_running_loop().time() + SETTLE_S)

    def _await(self, key: KeyDone, until: float) -> None:
        """Settle at once where the key has removed its target, which passes nothing on."""

        async def check() -> None:
            is_late, target = asyncio.get_running_loop().time() >= until, key.target
            if is_late or not target.is_attached or target.screen not in self.screen_stack:
                await self._settle(key.number)
            else:
                self._await(key, until)

        self._patience = self.set_timer(CHECK_AGAIN_S, check)

    @on(KeyDone)
    def _key_done(self, message: KeyDone) -> None:
        message.stop()
        if message.number != self._number:
            return
        if not message.is_last:
            message.target.post_message(KeyDone(message.number, message.target, is_last=True))
        else:
            # After the focus that the key moved, which is set by a message of the same queue.
            self.call_later(self._settle, message.number)

    async def _settle(self, number: int) -> None:
        """Pass the next key on, once the widget that the last one opened can take it.

        A key may settle by its message and by its timer: the later of the two is ignored, or it
        would end the next key.
        """
        if number != self._number or not self._is_busy:
            return
        if self._patience is not None:
            self._patience.stop()
            self._patience = None
        if not self.screen_stack:
            # The console has ended since: the next key has no receiver.
            self._typed.clear()
            return
        if not self._is_ready() and self._waited_s < SETTLE_S:
            self._waited_s += CHECK_AGAIN_S
            self.set_timer(CHECK_AGAIN_S, partial(self._settle, number))
            return
        self._waited_s = 0.0
        if self._typed:
            await self._give(self._typed.popleft())
        else:
            self._is_busy = False

    def _is_ready(self) -> bool:
        """True if the screen on top is mounted, with the focus where it belongs."""
        screen = self.screen
        return screen.is_mounted and (screen.focused is not None or not screen.focus_chain)


def pressed_at(acting: Widget) -> float:
    """When the key in hand was pressed, by the loop's clock; else now."""
    app: App[object] = acting.app  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType] - untyped
    key = app.pressed_at if isinstance(app, KnowsPresses) else None
    return asyncio.get_running_loop().time() if key is None else key


def rest_keys(dialog: Widget, why: str) -> None:
    """Refuse keys typed for a dialog, which would act on the screen behind it; `why` is shown."""
    app: App[object] = dialog.app  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType] - untyped
    if isinstance(app, KeyQueue):
        app.rest_keys(why)


def show_row_gone(acting: Widget) -> None:
    """Show that a key did nothing because its row is gone, and drop the keys typed behind it."""
    acting.post_message(ToastMessage(gone_text(_pressed_key(acting)), "warn"))
    rest_keys(acting, BEHIND)


def gone_text(key: str) -> str:
    """The toast for a key whose row is gone; the key as the cap shows it, empty for a click."""
    return GONE.format(again=f"Press {key} again" if key else "Choose again")


def _pressed_key(acting: Widget) -> str:
    """The key in hand, as printed on its cap; empty without one."""
    app: App[object] = acting.app  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType] - untyped
    return app.pressed_key if isinstance(app, KeyQueue) else ""
