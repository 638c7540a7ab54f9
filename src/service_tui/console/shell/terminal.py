"""The terminal as an output: it may be closed or stop reading at any moment.

Its thread dies with a closed terminal, after which its queue, once full, would block every writer
for ever.
"""

import asyncio
import logging
import math
import os
import re
import selectors
import termios
import time
from codecs import IncrementalDecoder, getincrementaldecoder
from collections.abc import Callable, Iterable
from contextlib import suppress
from functools import partial
from itertools import chain
from queue import Full
from typing import Final

from textual import events
from textual._ansi_sequences import ANSI_SEQUENCES_KEYS
from textual._xterm_parser import XTermParser
from textual.app import App
from textual.driver import Driver
from textual.drivers.linux_driver import LinuxDriver
from textual.geometry import Size
from textual.message import Message

log = logging.getLogger(__name__)

CHECK_AGAIN_S: Final = 0.2
"""How often a writer on a full queue checks that the queue's thread is alive."""

GIVE_BACK: Final = (
    "\x1b[?2026l\x1b[?2048l\x1b[?2004l\x1b[?1006l\x1b[?1015l\x1b[?1003l\x1b[?1000l\x1b[?1004l"
    "\x1b[<u\x1b[?7h\x1b[?1049l\x1b[?25h\x1b[0m"
)
"""Switches off all modes that the console ever switches on; harmless for one that is off."""


WIDTH_MAX: Final = 2_000
HEIGHT_MAX: Final = 1_000
"""# ours: cells of the largest window; a message in the stream of keys may claim any."""

ESCAPE: Final = "\x1b"
ESCAPE_S: Final = 0.1
"""How often it is looked whether an escape stays without more, which is the key. Source: Textual,
which waits so long, or as long as ESCDELAY says."""

BYTES_AT_ONCE: Final = 4_096
WAKE: Final = b"."

PASTE_S: Final = 1.0
"""A paste is over when nothing of it comes for so long: ssh, tmux and ConPTY lose its end."""

ALONE_S: Final = 0.05
"""ours: silence before a function key that ends a paste; a paste itself seldom rests so long."""

CALM_S: Final = 0.5
"""ours: silence, after a paste that time has ended, before a letter that comes alone is a key. The
rest of a paste that a line held back comes as many letters at once: none of them may press keys."""

PASTE_MAX: Final = 1_000_000
"""ours: letters of a paste that are kept; what stands behind them is swallowed."""

PASTE_STARTS: Final = "\x1b[200~"
PASTE_ENDS: Final = "\x1b[201~"
_FUNCTION_KEYS: Final = frozenset(
    sequence
    for sequence, keys in ANSI_SEQUENCES_KEYS.items()
    if isinstance(keys, tuple) and re.fullmatch(r"(?:\w+\+)*f\d+", keys[0].value)
)
_MARK: Final = re.compile("|".join(map(re.escape, (PASTE_STARTS, PASTE_ENDS))))
_HALF_A_MARK: Final = len(PASTE_ENDS) - 1
_HALF_A_SEQUENCE: Final = re.compile(r"\x1b(?:\[[\d;\[]*|O)?\Z")

_ONE_KEY: Final = frozenset("[O\x7f")
"""Second characters of one key with an escape before it: terminal sequences, alt with backspace.

ours: not b and f, which a terminal sends for alt and an arrow as well: ctrl and the arrow step by
words, and an escape is never lost.
"""


class _Pasting:
    """A paste that is not over: what is kept of it, and its last letters, maybe half a mark."""

    def __init__(self) -> None:
        self._parts: list[str] = []
        self._room = PASTE_MAX
        self._last = ""
        self._begun = ""

    def take(self, data: str) -> str | None:
        """Take what came; what stands behind the mark that ends the paste, None without one."""
        text, mark, behind = (self._last + data).partition(PASTE_ENDS)
        if mark:
            self._last = ""
            self._keep(text)
            return behind
        self._keep(text[:-_HALF_A_MARK])
        self._last = text[-_HALF_A_MARK:]
        return None

    def key_in(self, data: str, *, is_quiet: bool) -> str | None:
        """The function key that came alone, maybe in pieces; None where a text came.

        Empty: what came may become one, and is kept until more comes.
        """
        began = self._begun + data
        if not ((self._begun or is_quiet) and _begins_a_key(began)):
            self.take(self._begun)
            began = data if is_quiet and _begins_a_key(data) else ""
        self._begun = began
        if not began:
            return None
        return began if began in _FUNCTION_KEYS else ""

    @property
    def text(self) -> str:
        """What is kept, without half a sequence at its end."""
        return _HALF_A_SEQUENCE.sub("", "".join((*self._parts, self._last))[:PASTE_MAX])

    @property
    def half(self) -> str:
        """The end of all that came, which may be the first half of a mark."""
        return (self._last + self._begun)[-_HALF_A_MARK:]

    def _keep(self, text: str) -> None:
        kept = text[: self._room]
        if kept:
            self._parts.append(kept)
            self._room -= len(kept)


def _begins_a_key(text: str) -> bool:
    return any(key.startswith(text) for key in _FUNCTION_KEYS)


class KeyParser(XTermParser):
    """Reads an escape and the key behind it as two keys, also where they arrive together.

    Textual takes both for one key with alt, which has no meaning here: esc and 1 would be lost.

    A paste ends with its mark, with a function key that comes alone, or when nothing comes for a
    while: Textual waits for the mark for ever, and takes every key for a part of it. What time has
    ended may go on: until a letter comes alone, letters are dropped, because they would press keys.
    """

    def __init__(
        self,
        debug: bool = False,  # noqa: FBT001, FBT002 - Textual's own signature
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        super().__init__(debug)  # pyright: ignore[reportUnknownMemberType]
        self._now = now
        self._paste: _Pasting | None = None
        """The paste that is not over; None outside of one."""
        self._is_cut = False
        """Whether time has ended a paste, which may go on."""
        self._came_at = -math.inf
        self._before = ""
        """The end of what came before, which may hold the first half of a mark."""

    @property
    def awaits_more(self) -> bool:
        """Whether time alone can bring something: after an escape, and within a paste."""
        return self._timeout_time is not None or self._paste is not None

    def feed(self, data: str) -> Iterable[Message]:
        """The messages that a text completes; no text, as half a letter brings, completes none."""
        if not data:
            return
        silent_s, self._came_at = self._now() - self._came_at, self._now()
        if len(data) == 1 and silent_s >= CALM_S:
            self._is_cut = False
        paste = self._paste
        key = paste.key_in(data, is_quiet=silent_s >= ALONE_S) if paste is not None else None
        if paste is None or key is None:
            yield from self._read(data)
        elif key:
            self._paste = None
            yield from _paste_of(paste.text)
            yield from super().feed(key)

    def _read(self, data: str) -> Iterable[Message]:
        """The messages of a text inside and outside of pastes."""
        rest: str | None = data
        while rest:
            paste = self._paste
            if paste is None:
                mark, typed, rest = self._until_mark(rest)
                yield from self._typed(typed, mark)
                continue
            rest = paste.take(rest)
            if rest is not None:
                self._paste = None
                yield from _paste_of(paste.text)

    def tick(self) -> Iterable[Message]:
        """The messages that time completes."""
        yield from super().tick()
        paste, now = self._paste, self._now()
        if paste is not None and now - self._came_at >= PASTE_S:
            self._paste, self._is_cut, self._came_at = None, True, now
            self._before = paste.half
            yield from _paste_of(paste.text)

    def _until_mark(self, data: str) -> tuple[str, str, str]:
        """The first mark, empty without one, the text as far as it, and what stands behind it."""
        whole = self._before + data
        found = _MARK.search(whole)
        if found is None:
            self._before = whole[-_HALF_A_MARK:]
            return "", data, ""
        end = found.end() - len(self._before)
        self._before = ""
        return found.group(), data[:end], data[end:]

    def _typed(self, data: str, mark: str) -> Iterable[Message]:
        """The messages of a text outside of a paste, and of the mark at its end."""
        if mark == PASTE_STARTS:
            # Textual's own paste ends at once.
            data += PASTE_ENDS
            self._paste = _Pasting()
        for message in super().feed(data):
            if not (isinstance(message, events.Paste) or (self._is_cut and _is_letter(message))):
                yield message
        if mark:
            self._is_cut = False

    def _sequence_to_key_events(self, sequence: str, alt: bool = False) -> Iterable[events.Key]:  # noqa: FBT001, FBT002 - Textual's own signature
        letter = sequence.removeprefix(ESCAPE)
        if len(letter) == 1 and (alt or (letter != sequence and letter not in _ONE_KEY)):
            yield events.Key("escape", ESCAPE)
            yield from super()._sequence_to_key_events(letter)
            return
        try:
            yield from super()._sequence_to_key_events(sequence, alt)
        except (ValueError, OverflowError):
            # Numbers of a key that no terminal has: read the input letter by letter.
            return

    def parse_mouse_code(self, code: str) -> Message | None:
        """The mouse message. Its position is in cells: pixels were never requested.

        Textual takes it for pixels from the first report of a window's size on, also from a
        terminal that counts cells: every click would land near the upper left corner.
        """
        self.mouse_pixels = False
        return super().parse_mouse_code(code)


def _is_letter(message: Message) -> bool:
    """Whether a message is a key that stands in texts: a letter, a blank, or the end of a line."""
    letter = message.character if isinstance(message, events.Key) else None
    return letter is not None and (letter.isprintable() or letter.isspace())


def _paste_of(text: str) -> Iterable[Message]:
    """A paste as the app gets it; none of nothing."""
    text = text.replace("\0", "")
    if text:
        yield events.Paste(text)


def lenient(encoding: str) -> Callable[[], IncrementalDecoder]:
    """A decoder that replaces invalid bytes: a strict one would end the thread."""
    return partial(getincrementaldecoder(encoding), errors="replace")


def of_a_window(size: Size) -> Size | None:
    """The part of a window's size that is painted, in cells: more takes hours and all memory.

    Returns:
        The size within the bounds; None for what no window has.
    """
    width, height = size
    if width <= 0 or height <= 0:
        return None
    return Size(min(width, WIDTH_MAX), min(height, HEIGHT_MAX))


class Losable(Driver):
    """A driver that reports a lost terminal once, and keeps the window's size within bounds."""

    on_lost: Callable[[], object] | None = None
    """Called once, on the loop, when nothing can be written any more."""

    def process_message(self, message: Message) -> None:
        """Post a message; of a size what can be painted, and nothing of one that no window has."""
        if isinstance(message, events.Resize):
            size = of_a_window(message.size)
            if size is None:
                return
            if size != message.size:
                message = events.Resize(size, size)
        super().process_message(message)

    def send_message(self, message: Message) -> None:
        """Post a key; drop it if the loop has ended."""
        posting = self._app._post_message(message)  # noqa: SLF001  # pyright: ignore[reportPrivateUsage, reportUnknownMemberType]
        try:
            asyncio.run_coroutine_threadsafe(posting, loop=self._loop)
        except RuntimeError:
            # Python would print a warning for a coroutine never awaited, on the restored terminal.
            posting.close()

    def report_lost(self) -> None:
        """Report that nothing can be written any more, from any thread."""
        report, self.on_lost = self.on_lost, None
        if report is not None:
            # A closed loop has ended already.
            with suppress(RuntimeError):
                self._loop.call_soon_threadsafe(report)


class Terminal(Losable, LinuxDriver):
    """A driver that does not wait for a lost terminal, and stops reading at once.

    Textual's own thread reads on for two tenths of a second, and a person waits for the end.
    """

    def __init__(
        self,
        app: App[object],
        *,
        debug: bool = False,
        mouse: bool = True,
        size: tuple[int, int] | None = None,
    ) -> None:
        super().__init__(app, debug=debug, mouse=mouse, size=size)  # pyright: ignore[reportUnknownMemberType]
        self._woken, self._waker = os.pipe()

    def write(self, data: str) -> None:
        """Queue data for the terminal, as long as there is one."""
        thread = self._writer_thread
        while thread is not None and thread.is_alive():
            with suppress(Full):
                thread._queue.put(data, timeout=CHECK_AGAIN_S)  # noqa: SLF001  # pyright: ignore[reportPrivateUsage]
                return
        self.report_lost()

    def _get_terminal_size(self) -> tuple[int, int]:
        """The painted part of the window: this size reaches the app without `process_message`."""
        size = Size(*super()._get_terminal_size())
        return of_a_window(size) or size

    def _enable_mouse_pixels(self) -> None:
        """Request no pixels: some terminals that report their size do not switch to them."""

    def run_input_thread(self) -> None:
        """Read input until the end; invalid input is dropped without ending the thread."""
        while not self.exit_event.is_set():
            try:
                self._read()
            except (ArithmeticError, LookupError, ValueError) as error:
                log.warning("unreadable input from the terminal: %s", type(error).__name__)

    def _read(self) -> None:
        decode = lenient("utf-8")().decode
        parser = KeyParser(self._debug)
        with selectors.SelectSelector() as waiting:
            waiting.register(self.fileno, selectors.EVENT_READ)
            waiting.register(self._woken, selectors.EVENT_READ)
            while not self.exit_event.is_set():
                # An escape that nothing follows is a key: known a moment after it came.
                pause_s = ESCAPE_S if parser.awaits_more else None
                ready = {key.fd for key, _ in waiting.select(pause_s)}
                text = decode(os.read(self.fileno, BYTES_AT_ONCE)) if self.fileno in ready else ""
                # Half a letter is no text yet, and no text would be the end to the parser.
                for message in chain(parser.feed(text) if text else (), parser.tick()):
                    self.process_message(message)

    def _sigcont_application(self, *_: object) -> None:
        """Take the terminal again, and give it back first where the stop came without notice.

        A second thread beside the one that reads still would take every other key from it, and the
        first one would never end.
        """
        thread = self._key_thread
        if self._auto_restart and thread is not None and thread.is_alive():
            self.suspend_application_mode()
            # Everything is painted again: the terminal has lost its content.
            self._must_signal_resume = True
        super()._sigcont_application()  # pyright: ignore[reportUnknownMemberType]

    def disable_input(self) -> None:
        """Stop reading."""
        os.write(self._waker, WAKE)
        super().disable_input()
        os.read(self._woken, len(WAKE))

    def close(self) -> None:
        """Wait until all is written, as long as there is a terminal."""
        thread = self._writer_thread
        while thread is not None and thread.is_alive():
            with suppress(Full):
                thread._queue.put(None, timeout=CHECK_AGAIN_S)  # noqa: SLF001  # pyright: ignore[reportPrivateUsage]
                thread.join()

    def give_back(self) -> None:
        """Restore the terminal at once, from any thread, whatever the others are doing."""
        if self._writer_thread is None:
            return
        descriptor = self._writer_thread.fileno()
        if self.attrs_before is not None:
            with suppress(termios.error):
                termios.tcsetattr(self.fileno, termios.TCSANOW, self.attrs_before)
        # A terminal that does not read must not block us; the shell shares this setting.
        os.set_blocking(descriptor, False)
        try:
            os.write(descriptor, GIVE_BACK.encode())
        finally:
            os.set_blocking(descriptor, True)
