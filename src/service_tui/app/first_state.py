"""What is known before the service answers: the state of the first paint, of a halt, of a line."""

from dataclasses import replace
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from service_tui.app.halts import kept_halts
from service_tui.app.options import BESIDE, BESIDE_MAX, Options
from service_tui.desk.cached_state import STATE_KEY, load_state
from service_tui.desk.slices.halt import newest
from service_tui.desk.slices.service import Phase, ServiceView
from service_tui.desk.state import DeskState
from service_tui.storage.cached_state import read_cache, read_preferences
from service_tui.storage.db.connection import DATABASE_FILE
from service_tui.storage.db.lock import holder_of
from service_tui.storage.errors import StorageError
from service_tui.terms import Mode, Venue
from service_tui.units import Timestamp

STARS: Final = "stars"


def first_state(options: Options, now: Timestamp | None = None) -> DeskState:
    """The state of the first paint: the last known one, marked as cached; `now` is wall time."""
    path = options.data_dir / DATABASE_FILE
    preferences = {**read_preferences(path), **_of_attached(options.data_dir)}
    state = DeskState(service=service_view(options), preferences=preferences)
    kept = read_cache(path).get(STATE_KEY)
    if kept is not None:
        state = load_state(kept[1], state, now)
    stars = frozenset(name for name in preferences.get(STARS, "").split(",") if name)
    return replace(state, stars=stars, halt=newest(kept_halts(options.data_dir)))


def _of_attached(data_dir: Path) -> dict[str, str]:
    """Preferences of the attached console that this start will be; empty where nobody serves yet.

    As `data.open_beside` chooses the place, without the imports of a database.
    """
    try:
        if holder_of(data_dir) is None:
            return {}
        for place in range(1, BESIDE_MAX + 1):
            folder = data_dir / BESIDE / str(place)
            if holder_of(folder) is None:
                return read_preferences(folder / DATABASE_FILE)
    except StorageError:
        # The opening, a moment later, names it.
        return {}
    return {}


def service_view(options: Options) -> ServiceView:
    """The service that the options name, before its first answer."""
    shared = options.is_for_person
    embedded = options.url is None or shared
    return ServiceView(
        label="embedded" if options.url is None else urlsplit(options.url or "").netloc,
        mode=Mode.SIM,
        venue=Venue.SIM,
        embedded=embedded,
        shared=shared,
        phase=Phase.CONNECTING,
        read_only=options.read_only,
    )
