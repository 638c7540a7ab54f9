"""The terminal as the program writes to it: it may be closed or stop reading at any moment.

Knows Textual's driver. Its thread dies with a closed terminal, after which its queue, once full,
would hold every writer for ever.
Used by the frame.
"""

import asyncio
import os
import termios
from collections.abc import Callable, Iterable
from contextlib import suppress
from queue import Full
from typing import Final

from textual import events
from textual._xterm_parser import XTermParser
from textual.drivers import linux_driver
from textual.drivers.linux_driver import LinuxDriver
from textual.message import Message

LOOK_AGAIN_S: Final = 0.2
"""How long a full queue is waited for before the thread behind it is looked at again."""

GIVE_BACK: Final = (
    "\x1b[?2026l\x1b[?2048l\x1b[?2004l\x1b[?1006l\x1b[?1015l\x1b[?1003l\x1b[?1000l\x1b[?1004l"
    "\x1b[<u\x1b[?7h\x1b[?1049l\x1b[?25h\x1b[0m"
)
"""Ends all that the console ever switches on; what is off already stays so."""


ESCAPE: Final = "\x1b"

_ONE_KEY: Final = frozenset("[O\x7f")
"""What makes one key with an escape before it: the sequences of a terminal, and alt with backspace.

ours: not b and f, which a terminal sends for alt and an arrow as well: ctrl and the arrow step by
words, and an escape is never lost.
"""


class KeyParser(XTermParser):
    """Reads an escape and the key behind it as two keys, also where they arrive together.

    Textual takes both for one key with alt, which has no meaning here: esc and 1 would be lost.
    """

    def _sequence_to_key_events(self, sequence: str, alt: bool = False) -> Iterable[events.Key]:  # noqa: FBT001, FBT002 - Textual's own signature
        letter = sequence.removeprefix(ESCAPE)
        if len(letter) == 1 and (alt or (letter != sequence and letter not in _ONE_KEY)):
            yield events.Key("escape", ESCAPE)
            yield from super()._sequence_to_key_events(letter)
        else:
            yield from super()._sequence_to_key_events(sequence, alt)


# The driver makes its parser by this name, and offers no other way to give it one.
linux_driver.XTermParser = KeyParser  # pyright: ignore[reportPrivateImportUsage]


class Terminal(LinuxDriver):
    """A driver that says so when its terminal is gone, and waits for nobody then."""

    on_lost: Callable[[], object] | None = None
    """Called once, on the loop, when nothing can be written any more."""

    def write(self, data: str) -> None:
        """Have something written, as long as there is a terminal."""
        thread = self._writer_thread
        while thread is not None and thread.is_alive():
            with suppress(Full):
                thread._queue.put(data, timeout=LOOK_AGAIN_S)  # noqa: SLF001  # pyright: ignore[reportPrivateUsage]
                return
        self._tell()

    def send_message(self, message: Message) -> None:
        """Pass on a key; one that comes when the loop has ended is nobody's any more."""
        posting = self._app._post_message(message)  # noqa: SLF001  # pyright: ignore[reportPrivateUsage, reportUnknownMemberType]
        try:
            asyncio.run_coroutine_threadsafe(posting, loop=self._loop)
        except RuntimeError:
            # Python would complain of what nobody awaits, on a terminal that is given back already.
            posting.close()

    def close(self) -> None:
        """Wait until all is written, as long as there is a terminal."""
        thread = self._writer_thread
        while thread is not None and thread.is_alive():
            with suppress(Full):
                thread._queue.put(None, timeout=LOOK_AGAIN_S)  # noqa: SLF001  # pyright: ignore[reportPrivateUsage]
                thread.join()

    def give_back(self) -> None:
        """Restore the terminal at once, from any thread, whatever the others are doing."""
        if self._writer_thread is None:
            return
        descriptor = self._writer_thread.fileno()
        if self.attrs_before is not None:
            with suppress(termios.error):
                termios.tcsetattr(self.fileno, termios.TCSANOW, self.attrs_before)
        # Who does not read must not keep us; the shell shares this setting.
        os.set_blocking(descriptor, False)
        try:
            os.write(descriptor, GIVE_BACK.encode())
        finally:
            os.set_blocking(descriptor, True)

    def _tell(self) -> None:
        tell, self.on_lost = self.on_lost, None
        if tell is not None:
            self._loop.call_soon_threadsafe(tell)
