"""Keys of other services in a file of ours or in the system's keyring; the file says which."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

from service_tui.wiring.keys import KeysError, Profile, forget_profile, keep_profile, profiles
from service_tui.wiring.system_keyring import KEYRING_SERVICE, NO_KEYRING, Keyring, system_keyring

T = TypeVar("T")
FindKeyring = Callable[[], Keyring | None]


def keep(
    config_dir: Path, profile: Profile, *, in_keyring: bool, find: FindKeyring = system_keyring
) -> None:
    """Store a service and its key; a key that the keyring held under this name goes.

    Raises:
        KeysError: there is no keyring, or it or the file takes nothing.
    """
    before = profiles(config_dir).get(profile.name)
    if in_keyring:
        _ask(find, lambda ring: ring.set_password(KEYRING_SERVICE, _entry(profile), profile.key))
    kept = replace(profile, key="", in_keyring=True) if in_keyring else profile
    keep_profile(config_dir, kept)
    if (
        before is not None
        and before.in_keyring
        and (not in_keyring or _entry(before) != _entry(kept))
    ):
        _ask(find, lambda ring: ring.delete_password(KEYRING_SERVICE, _entry(before)))


def key_of(profile: Profile, *, find: FindKeyring = system_keyring) -> str:
    """The key of a stored service, from where it is held.

    Returns:
        The key.

    Raises:
        KeysError: the keyring is not there, or has lost it.
    """
    if not profile.in_keyring:
        return profile.key
    key = _ask(find, lambda ring: ring.get_password(KEYRING_SERVICE, _entry(profile)))
    if not key:
        raise KeysError(f"the keyring holds no key for {profile.url}: log in again")
    return key


def forget(config_dir: Path, name: str, *, find: FindKeyring = system_keyring) -> Profile | None:
    """Remove a stored service and its key, wherever it is held.

    Returns:
        What was removed; None where nothing is stored under the name.

    Raises:
        KeysError: the keyring or the file cannot be changed.
    """
    profile = profiles(config_dir).get(name)
    if profile is None:
        return None
    if profile.in_keyring:
        entry = _entry(profile)
        if _ask(find, lambda ring: ring.get_password(KEYRING_SERVICE, entry)) is not None:
            _ask(find, lambda ring: ring.delete_password(KEYRING_SERVICE, entry))
    forget_profile(config_dir, name)
    return profile


def _entry(profile: Profile) -> str:
    """The name in the keyring; with its address, to which the key is bound."""
    return f"{profile.name} {profile.url}"


def _ask(find: FindKeyring, what: Callable[[Keyring], T]) -> T:
    """What the keyring does.

    Returns:
        Its answer.

    Raises:
        KeysError: there is none, or it refuses.
    """
    ring = find()
    if ring is None:
        raise KeysError(NO_KEYRING)
    try:
        return what(ring)
    except Exception as error:  # noqa: BLE001  (each system's keyring has errors of its own)
        # From None, by its kind alone: what a backend says may hold what it was given.
        raise KeysError(f"the system's keyring refuses ({type(error).__name__})") from None
