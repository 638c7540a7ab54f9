"""Keys on disk: the desk's own for the embedded service, and profiles of other services.

Files are 0600, written whole or not at all; a key is bound to its service's address.
"""

import json
import os
import secrets
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from service_tui.storage.db.lock import open_private, private_directory
from service_tui.storage.errors import StorageError
from service_tui.terms import PERSON_KEY_PREFIX
from service_tui.toml_lines import decoded

DESK_FILE: Final = "keys.json"
PROFILES_FILE: Final = "profiles.json"
FILE_MAX: Final = 65_536


class ApiKeysError(Exception):
    """A key file that cannot be used; names the file and the fix."""


@dataclass(frozen=True, slots=True)
class Profile:
    """Another service and its key, which is empty if the system's keyring holds it."""

    name: str
    url: str
    key: str = field(repr=False)
    in_keyring: bool = False


@dataclass(frozen=True, slots=True)
class DeskKeys:
    """Keys of the embedded service: the operator's, and the desk's own agent's once registered.

    `is_renewed`: the agent's is new since this start; `is_first`: the agent is, the first of its
    world. Neither is stored.
    """

    operator: str = field(repr=False)
    agent: str | None = field(default=None, repr=False)
    agent_id: str | None = None
    is_renewed: bool = False
    is_first: bool = False


def desk_keys(data_dir: Path) -> DeskKeys:
    """The keys of a data directory; the first start creates the operator's.

    Returns:
        The operator's key, and the agent's once it is registered.

    Raises:
        ApiKeysError: the file cannot be read.
    """
    api_keys = stored_desk_keys(data_dir)
    if api_keys is None:
        api_keys = DeskKeys(operator=f"{PERSON_KEY_PREFIX}{secrets.token_urlsafe(24)}")
        keep_desk_keys(data_dir, api_keys)
    return api_keys


def stored_desk_keys(data_dir: Path) -> DeskKeys | None:
    """The stored keys of a data directory; creates none.

    Returns:
        The keys, None where there are none yet.

    Raises:
        ApiKeysError: the file cannot be read.
    """
    path = data_dir / DESK_FILE
    record = read_private(path)
    if not record:
        return None
    operator, agent, agent_id = (record.get(name) for name in ("operator", "agent", "agent_id"))
    if not isinstance(operator, str):
        raise ApiKeysError(f"{path} has no operator key; restore it, or move it away to start anew")
    return DeskKeys(
        operator,
        agent if isinstance(agent, str) else None,
        agent_id if isinstance(agent_id, str) else None,
    )


def keep_desk_keys(data_dir: Path, api_keys: DeskKeys) -> None:
    """Write the keys of a data directory.

    Raises:
        ApiKeysError: the file cannot be written.
    """
    write_private(
        data_dir / DESK_FILE,
        {"operator": api_keys.operator, "agent": api_keys.agent, "agent_id": api_keys.agent_id},
    )


def profiles(config_dir: Path) -> dict[str, Profile]:
    """Stored services by name.

    Returns:
        The profiles, possibly none; an entry that is no profile is passed over.

    Raises:
        ApiKeysError: the file cannot be read.
    """
    stored: dict[str, Profile] = {}
    for name, entry in read_private(config_dir / PROFILES_FILE).items():
        match entry:
            case {"url": str(url), "key": str(key)}:
                stored[name] = Profile(name, url, key)
            case {"url": str(url), "keyring": True}:
                stored[name] = Profile(name, url, "", in_keyring=True)
            case _:
                continue
    return stored


def keep_profile(config_dir: Path, profile: Profile) -> None:
    """Store or replace a service.

    Raises:
        ApiKeysError: the file cannot be read or written.
    """
    path = config_dir / PROFILES_FILE
    stored = read_private(path)
    key_fields = {"keyring": True} if profile.in_keyring else {"key": profile.key}
    write_private(path, {**stored, profile.name: {"url": profile.url, **key_fields}})


def forget_profile(config_dir: Path, name: str) -> None:
    """Remove a stored service.

    Raises:
        ApiKeysError: the file cannot be read or written.
    """
    path = config_dir / PROFILES_FILE
    stored = read_private(path)
    write_private(path, {other: entry for other, entry in stored.items() if other != name})


def read_private(path: Path) -> dict[str, object]:
    """The content of a private file.

    Returns:
        The record, empty where there is no file.

    Raises:
        ApiKeysError: it cannot be read, or others may write it.
    """
    try:
        with os.fdopen(open_private(path, os.O_RDONLY), "rb") as file:
            raw = file.read(FILE_MAX + 1)
        if len(raw) > FILE_MAX:
            raise ApiKeysError(f"{path} is too large for a key file; move it away")
        found: object = json.loads(decoded(raw))
        if isinstance(found, dict):
            return {**found}
    except (FileNotFoundError, NotADirectoryError):
        return {}
    except StorageError as error:
        raise ApiKeysError(str(error)) from error
    except OSError as error:
        message = f"cannot read {path} ({error.strerror}); repair it or move it away"
        raise ApiKeysError(message) from error
    except (RecursionError, TypeError, ValueError):
        # From None: the decoder's error holds the text that it met, which may be a key.
        raise ApiKeysError(f"{path} is malformed; repair it or move it away") from None
    raise ApiKeysError(f"{path} is malformed; repair it or move it away")


def write_private(path: Path, content: dict[str, object]) -> None:
    """Replace a file in one step, unreadable to others from the first byte.

    Raises:
        ApiKeysError: it cannot be written; the old content stays.
    """
    fresh = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        private_directory(path.parent)
        fresh.unlink(missing_ok=True)
        descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        try:
            with os.fdopen(descriptor, "w", encoding="utf-8") as file:
                json.dump(content, file)
                file.flush()
                os.fsync(file.fileno())
            fresh.replace(path)
        except OSError:
            fresh.unlink(missing_ok=True)
            raise
    except StorageError as error:
        raise ApiKeysError(str(error)) from error
    except OSError as error:
        raise ApiKeysError(f"cannot write {path}: {error.strerror}") from error
