"""Starts the console: first paints the cached state, then opens the desk behind it."""

import asyncio
import importlib
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from service_tui.app.collecting import Collecting, collect_from_now
from service_tui.app.first_state import first_state
from service_tui.app.logfile import note_stacks
from service_tui.app.options import Options
from service_tui.app.picture import keep
from service_tui.clock import SystemClock
from service_tui.console.app import ConsoleApp
from service_tui.console.desk_api import DeskApi
from service_tui.console.key_file import read_own_keys
from service_tui.console.shell.ending import Ending
from service_tui.console.theme import load_themes, shipped_folder
from service_tui.desk.state import DeskState
from service_tui.settings import COMMAND_FILE, KEY_FILE
from service_tui.storage.errors import StorageError
from service_tui.storage.halt_mark import mark_halt
from service_tui.units import Timestamp

if TYPE_CHECKING:
    from service_tui.console.own_commands import OwnCommands
    from service_tui.desk.recording.player import Player
    from service_tui.storage.recordings import Recordings


def _mark(data_dir: Path, at: Timestamp) -> str:
    """Mark a directory as halted; why that cannot be done, empty if it is."""
    try:
        mark_halt(data_dir, at)
    except StorageError as error:
        return str(error)
    return ""


class Recorded:
    """Where the desk is recorded; `store` is None before one was open.

    It stays when the desk is closed: what was recorded can be looked at until the console ends.
    """

    store: "Recordings | None" = None
    _player: "Player | None" = None

    def player(self) -> "Player | None":
        """The recording of the open desk; None without one."""
        if self._player is None and self.store is not None:
            from service_tui.desk.recording.player import Player  # noqa: PLC0415 - not at first

            self._player = Player(self.store)
        return self._player


@asynccontextmanager
async def open_desk(
    options: Options, initial: DeskState, recorded: Recorded | None = None
) -> AsyncGenerator[DeskApi]:
    """The desk behind the console.

    Args:
        options: of the start.
        initial: its first state.
        recorded: receives where the desk is recorded; None: it is not.

    Yields:
        The desk, as the console uses it.

    Raises:
        DeskClosedError: it cannot be opened; gives the reason and the fix.
    """
    # In a thread: the console keeps responding during half a second of imports.
    await asyncio.to_thread(importlib.import_module, "service_tui.app.live")
    collect_from_now()
    from service_tui.app import closed, live  # noqa: PLC0415  (there already, so this costs nothing)

    async with AsyncExitStack() as stack:
        # Only the opening is explained so: an error in an open desk is a bug.
        with closed.explain_closed_desk():
            desk = await stack.enter_async_context(live.open_desk_of(options, initial))
        if recorded is not None:
            from service_tui.app.recording import recording  # noqa: PLC0415 - not in the first frame

            recorded.store = await stack.enter_async_context(recording(desk, SystemClock()))
        yield desk


Drills = Callable[[], tuple[tuple[str, str], ...]]
"""Reads name and title of each drill."""


class ConsoleEnd(NamedTuple):
    """How a console ended: its exit code, and the drill that the person chose, empty for none."""

    code: int
    drill: str = ""


def open_console(options: Options, *, drills: Drills = tuple, has_tour: bool = False) -> ConsoleEnd:
    """Run the console.

    Args:
        options: of the start.
        drills: name and title of each drill that may take its place, read when somebody looks for
            one; none for a page in a browser, which has no place to give.
        has_tour: whether it begins with the tour.

    Returns:
        Its end.
    """
    app = console_of(options, drills=drills, has_tour=has_tour)
    app.ending = Ending(note=note_stacks)
    collecting = Collecting()
    collecting.begin()
    app.housekeeping = collecting.collect
    app.run()
    keep(options.data_dir, app.picture)
    code = app.return_code or 0
    return ConsoleEnd(code, "" if code else app.drill.next_name)


def _own_commands(path: Path, moved: Mapping[str, tuple[str, ...]]) -> "OwnCommands | None":
    """The person's own commands; None without a file of them."""
    if not path.exists():
        return None
    # It brings every command of the console, which no first paint waits for.
    from service_tui.console.own_commands import read_own_commands  # noqa: PLC0415

    return read_own_commands(path, moved)


def console_of(options: Options, *, drills: Drills = tuple, has_tour: bool = False) -> ConsoleApp:
    """The console for these options, not running yet; see `open_console`."""
    themes = load_themes(shipped_folder(), options.config_dir / "themes")
    initial = first_state(options, SystemClock().now())
    own_keys = read_own_keys(options.config_dir / KEY_FILE)
    recorded = Recorded() if options.recording and not options.scripted else None
    return ConsoleApp(
        open_desk=lambda: open_desk(options, initial, recorded),
        initial=initial,
        now=SystemClock().now,
        themes=themes,
        log_path=str(options.log_path),
        data_path=str(options.data_dir),
        own_keys=own_keys,
        own_commands=_own_commands(options.config_dir / COMMAND_FILE, own_keys.moved),
        drills=drills,
        has_tour=has_tour,
        has_demo=options.demo and options.url is None,
        player=(lambda: None) if recorded is None else recorded.player,
        mark_halt=partial(_mark, options.data_dir),
    )
