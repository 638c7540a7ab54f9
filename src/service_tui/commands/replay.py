"""The console without a desk: it shows what was recorded in a data directory, and sends nothing."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Final

from service_tui.app.first_state import service_view
from service_tui.app.logfile import note_stacks
from service_tui.app.options import BESIDE, Options
from service_tui.clock import SystemClock
from service_tui.console.app import ConsoleApp
from service_tui.console.desk_api import DeskApi
from service_tui.console.freshness import NO_DESK
from service_tui.console.key_file import read_own_keys
from service_tui.console.shell.ending import Ending
from service_tui.console.theme import load_themes, shipped_folder
from service_tui.desk.command import Command
from service_tui.desk.recording.moment import RecordError
from service_tui.desk.recording.player import Player
from service_tui.desk.slices.service import Phase
from service_tui.desk.state import DeskState
from service_tui.settings import KEY_FILE
from service_tui.storage.cached_state import read_preferences
from service_tui.storage.db.connection import DATABASE_FILE
from service_tui.storage.recordings import RECORDING_FILE, Recordings
from service_tui.units import Timestamp

FAR: Final = float("inf")


class ReplayError(Exception):
    """There is nothing to replay; the sentence gives the reason."""


class NoDesk:
    """In the place of a desk: one state that never changes, and no command goes anywhere."""

    def __init__(self, state: DeskState) -> None:
        self.state = state

    async def changes(self) -> AsyncIterator[DeskState]:
        """The state, and no newer one."""
        yield self.state
        await asyncio.Event().wait()

    def submit(self, command: Command) -> None:
        """Drop the command: in a replay the console refuses every command anyway."""
        del command


def open_replay(options: Options, at: Timestamp) -> int:
    """Run the console on the recording of a data directory.

    Args:
        options: of the start; no desk is opened, and nothing in the directory is changed.
        at: the moment that is shown first.

    Returns:
        The exit code.

    Raises:
        ReplayError: nothing is recorded there, or it cannot be read.
    """
    player = player_of(options.data_dir, at)
    preferences = {**read_preferences(options.data_dir / DATABASE_FILE), "welcome": "seen"}
    # Marked as recorded from the first frame on: no key looks as if it did anything.
    service = replace(service_view(options), phase=Phase.OFFLINE, problem=NO_DESK)
    initial = DeskState(service=service, preferences=preferences, rewound_to=at)

    @asynccontextmanager
    async def no_desk() -> AsyncGenerator[DeskApi]:
        yield NoDesk(initial)

    app = ConsoleApp(
        open_desk=no_desk,
        initial=initial,
        now=SystemClock().now,
        themes=load_themes(shipped_folder(), options.config_dir / "themes"),
        log_path=str(options.log_path),
        data_path=str(options.data_dir),
        own_keys=read_own_keys(options.config_dir / KEY_FILE),
        player=lambda: player,
        replay_at=at,
    )
    app.ending = Ending(note=note_stacks)
    app.run()
    return app.return_code or 0


def player_of(data_dir: Path, at: Timestamp) -> Player:
    """The recording of a data directory that reaches closest to a time from before.

    Consoles that were attached to another program have recordings of their own.

    Raises:
        ReplayError: nothing is recorded there, or it cannot be read.
    """
    best: tuple[float, Player] | None = None
    problem = ""
    for folder in _folders(data_dir):
        player = Player(Recordings(folder))
        try:
            span = player.span()
            here = None if span is None else player.neighbour(Timestamp(at + 0.001), -1)
        except RecordError as error:
            problem = str(error)
            continue
        if span is None:
            continue
        distance = FAR if here is None else at - here
        if best is None or distance < best[0]:
            best = distance, player
    if best is None:
        raise ReplayError(problem or f"nothing is recorded in {data_dir}")
    return best[1]


def _folders(data_dir: Path) -> Iterator[Path]:
    yield data_dir
    for path in sorted((data_dir / BESIDE).glob(f"*/{RECORDING_FILE}")):
        yield path.parent
