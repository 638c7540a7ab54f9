"""The environment of programs that we start: variables by name, and never a secret.

Everything that begins a process picks its variables here, by name; what is not named stays out.
"""

import re
from collections.abc import Iterable, Mapping
from typing import Final

LOCALES: Final = (
    "LANG", "LC_ALL", "LC_COLLATE", "LC_CTYPE", "LC_MESSAGES", "LC_MONETARY", "LC_NUMERIC",
    "LC_TIME",
)  # fmt: skip

SYSTEM: Final = (
    "PATH", "PYTHONPATH", "VIRTUAL_ENV", "TZ", "TMPDIR", "SYSTEMROOT", "SSL_CERT_FILE",
    "SSL_CERT_DIR",
)  # fmt: skip
"""By these a program finds its interpreter, its libraries and its certificates."""

PERSON: Final = (
    "HOME", "USER", "LOGNAME", "SHELL", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME",
    "XDG_CACHE_HOME",
)  # fmt: skip
"""By these a program finds what is the person's own."""

DESKTOP: Final = (
    "DISPLAY", "WAYLAND_DISPLAY", "XDG_RUNTIME_DIR", "DBUS_SESSION_BUS_ADDRESS", "XAUTHORITY",
    "XDG_CURRENT_DESKTOP", "XDG_DATA_DIRS", "BROWSER",
)  # fmt: skip
"""By these a program opens a window, or a page in the person's browser."""

GIT: Final = (
    "GIT_CEILING_DIRECTORIES", "GIT_DISCOVERY_ACROSS_FILESYSTEM", "XDG_CONFIG_HOME", "EMAIL",
    "GIT_AUTHOR_NAME", "GIT_AUTHOR_EMAIL", "GIT_COMMITTER_NAME", "GIT_COMMITTER_EMAIL",
)  # fmt: skip
"""Variables of the person that say where git looks, how it is set up, and who commits; those that
lead it to another repository, index or working tree stay out."""

GIT_SET_UP: Final = "GIT_CONFIG"
"""Begins the names of the variables that set git up: `safe.directory` may stand there."""

OURS: Final = "SERVICE_TUI_"
"""Begins the names of this program's own variables."""

_NAMED_SECRET: Final = re.compile(
    r"KEY|SECRET|TOKEN|PASS|PRIVATE|MNEMONIC|CREDENTIAL|WALLET", re.IGNORECASE
)
_LOCALE: Final = re.compile(r"C|POSIX|C\.[\w-]{1,16}|[a-z]{2,3}(_[A-Z]{2})?(\.[\w-]{1,16})?(@\w+)?")
_SECRET: Final = re.compile(r"://\S*@|passw(or)?d\s*=", re.IGNORECASE)
"""A URL that names a user, with or without a password; and a database's words for one."""


def inherited(environ: Mapping[str, str], names: Iterable[str] = ()) -> dict[str, str]:
    """The variables of a program.

    Args:
        environ: our own environment.
        names: what it gets beside the system's variables and the language.

    Returns:
        Those of `names`, of the system and of the language that are set and hold no secret.
    """
    found = {name: environ[name] for name in (*SYSTEM, *names) if name in environ}
    plain = {name: value for name, value in found.items() if not _SECRET.search(value)}
    spoken = {name: environ[name] for name in LOCALES if _LOCALE.fullmatch(environ.get(name, ""))}
    return plain | spoken


def settings_in(environ: Mapping[str, str], begin: str) -> list[str]:
    """Names of a skill's settings, by how they begin: none of our own, none that names a secret."""
    return [
        name
        for name in environ
        if name.startswith(begin) and not name.startswith(OURS) and not _NAMED_SECRET.search(name)
    ]


def inherited_by_git(environ: Mapping[str, str]) -> dict[str, str]:
    """The variables of a git that works for the person: their own configuration goes with it."""
    set_up = {name: value for name, value in environ.items() if name.startswith(GIT_SET_UP)}
    return inherited(environ, (*PERSON, *GIT)) | set_up
