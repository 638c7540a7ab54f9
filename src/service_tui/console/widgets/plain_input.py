"""An input line for printable text only, without secrets."""

import re
from typing import Final, Protocol, runtime_checkable

from textual import events
from textual.message import Message
from textual.widgets import Input

_SECRET: Final = re.compile(r"[0-9a-fA-F]{64}|sk_live_[0-9A-Za-z_-]{8,}")
"""A private key is 64 hex digits; an API key begins so. Source: failures, B4 and B9."""


def holds_secret(text: str) -> bool:
    """True if the text contains what looks like a private key or an API key."""
    return _SECRET.search(text) is not None


@runtime_checkable
class KnowsEscapes(Protocol):
    """A screen that records the escapes that left it open."""

    def is_with_escape(self, event: events.Key) -> bool:
        """True if a key arrived together with such an escape."""
        ...


class PlainInput(Input):
    """One line of printable text; what looks like a key is cleared at once, with a message."""

    class SecretCleared(Message):
        """What looked like a private key was typed or pasted, and is cleared."""

        def __init__(self, line: "PlainInput") -> None:
            super().__init__()
            self.line = line

        @property
        def control(self) -> "PlainInput":
            """The line that was cleared."""
            return self.line

    _is_entering: bool = False

    def update_node_styles(self, animate: bool = True) -> None:  # noqa: FBT001, FBT002 - Textual's own
        """Style it again, once it is mounted: mounting styles it anyway."""
        if self.parent is not None:  # pyright: ignore[reportUnknownMemberType] - untyped
            super().update_node_styles(animate)

    def _on_focus(self, event: events.Focus) -> None:
        # Textual selects all of it here; the click that brought the focus comes next.
        self._is_entering = not event.from_app_focus

    def _on_blur(self, event: events.Blur) -> None:
        del event
        self._is_entering = False

    async def _on_key(self, event: events.Key) -> None:
        self._is_entering = False
        screen: object = self.screen  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType] - untyped
        if isinstance(screen, KnowsEscapes) and screen.is_with_escape(event):
            # Textual would insert its letter; the screen decides what it does instead.
            event.prevent_default()

    async def _on_mouse_down(self, event: events.MouseDown) -> None:
        if self._is_entering and self.select_on_focus and self.value:
            # As with tab: the next text replaces the present one. A second
            # click sets the cursor.
            event.prevent_default()
            self.select_all()
        self._is_entering = False

    def _on_paste(self, event: events.Paste) -> None:
        # Textual calls every class's handler in turn: without this the raw text goes in too.
        event.prevent_default()
        event.stop()
        if holds_secret(event.text):
            self._clear()
            return
        text = " ".join(event.text.split())
        line = "".join(char for char in text if char.isprintable())
        room = len(line) if self.max_length is None else self.max_length - self._kept_length
        self.replace(line[: max(0, room)], *self.selection)

    def watch_value(self, value: str) -> None:
        """Clear text that must not stay in an open field."""
        if holds_secret(value):
            self._clear()

    @property
    def _kept_length(self) -> int:
        """Letters that stay when the selection is replaced."""
        return len(self.value) - len(self.selected_text)

    def _clear(self) -> None:
        self.value = ""
        self.post_message(self.SecretCleared(self))
