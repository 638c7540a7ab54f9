"""Settings from the environment; only `app` reads them, and none is passed on whole."""

import os
from collections.abc import MutableMapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from platformdirs import PlatformDirs

from service_tui.pasted import api_key

APP: Final = "service-tui"
KEY_VARIABLE: Final = "SERVICE_API_KEY"
URL_VARIABLE: Final = "SERVICE_API_URL"
INSECURE_VARIABLE: Final = "SERVICE_ALLOW_INSECURE_BASE_URL"
WALLET_VARIABLE: Final = "WALLET_PRIVATE_KEY"
EXCHANGE_VARIABLE: Final = "SERVICE_POLYMARKET_EXCHANGE_VERSION"
"""Source: wire reference, 6.1."""

NOW_VARIABLE: Final = "SERVICE_NOW"
"""# ours: the time of day in a trial, Unix seconds; told to the process of a skill."""

DATA_VARIABLE: Final = "SERVICE_TUI_DATA_DIR"
DATABASE_VARIABLE: Final = "SERVICE_TUI_DATABASE"
TRUE_VALUES: Final = frozenset({"1", "true", "yes"})

_DUMPABLE: Final = 4
"""The process attribute by which others of the same user may look into one. Source: prctl(2)."""


@dataclass(frozen=True, slots=True)
class Environment:
    """Settings from environment variables. No key shows in a repr."""

    api_key: str | None = field(repr=False)
    api_url: str | None
    allow_insecure: bool
    data_dir: Path
    config_dir: Path
    wallet_key: str | None = field(default=None, repr=False)
    exchange: str = ""


def read_environment(environ: MutableMapping[str, str]) -> Environment:
    """Read our variables, and remove the wallet's key from what children inherit."""
    # The signer takes this key from here; children and other readers never find it.
    if environ is os.environ and WALLET_VARIABLE in environ:
        _wipe(WALLET_VARIABLE)
    wallet_key = environ.pop(WALLET_VARIABLE, None)
    folders = PlatformDirs(APP)
    own = environ.get(DATA_VARIABLE, "")
    return Environment(
        api_key=api_key(environ.get(KEY_VARIABLE, "")) or None,
        api_url=environ.get(URL_VARIABLE) or None,
        allow_insecure=environ.get(INSECURE_VARIABLE, "").lower() in TRUE_VALUES,
        data_dir=_at_home(own) if own else folders.user_data_path,
        config_dir=folders.user_config_path,
        wallet_key=wallet_key or None,
        exchange=environ.get(EXCHANGE_VARIABLE, ""),
    )


def _wipe(name: str) -> None:
    """Overwrite a variable in what this process was started with, and close its memory to others.

    Taking it out of the mapping leaves it there, where every process of the same user can read it.
    """
    import ctypes  # noqa: PLC0415  (only where there is a key)

    with suppress(OSError, AttributeError, TypeError):
        library = ctypes.CDLL(None)
        library.getenv.restype = ctypes.c_void_p
        place: int | None = library.getenv(name.encode())
        if place:
            ctypes.memset(place, ord("*"), len(ctypes.string_at(place)))
        library.prctl(_DUMPABLE, 0, 0, 0, 0)


def _at_home(folder: str) -> Path:
    """A path with '~' expanded, if there is such a home."""
    try:
        return Path(folder).expanduser()
    except RuntimeError:
        return Path(folder)
