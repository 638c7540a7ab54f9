"""Keys of other services in a private file or in the system's keyring; the file names the place."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

from service_tui.credentials.api_keys import (
    ApiKeysError,
    Profile,
    forget_profile,
    keep_profile,
    profiles,
)
from service_tui.credentials.system_keyring import (
    KEYRING_SERVICE,
    NO_KEYRING,
    Keyring,
    system_keyring,
)

T = TypeVar("T")
FindKeyring = Callable[[], Keyring | None]


def keep(
    config_dir: Path, profile: Profile, *, in_keyring: bool, find: FindKeyring = system_keyring
) -> None:
    """Store a service and its key; an older key of this name leaves the keyring.

    Raises:
        ApiKeysError: there is no keyring, or it or the file cannot be written.
    """
    before = profiles(config_dir).get(profile.name)
    if in_keyring:
        _call_keyring(
            find,
            lambda keyring: keyring.set_password(KEYRING_SERVICE, _entry(profile), profile.key),
        )
    kept = replace(profile, key="", in_keyring=True) if in_keyring else profile
    keep_profile(config_dir, kept)
    if (
        before is not None
        and before.in_keyring
        and (not in_keyring or _entry(before) != _entry(kept))
    ):
        _call_keyring(
            find, lambda keyring: keyring.delete_password(KEYRING_SERVICE, _entry(before))
        )


def key_of(profile: Profile, *, find: FindKeyring = system_keyring) -> str:
    """The key of a stored service, from the file or the keyring.

    Returns:
        The key.

    Raises:
        ApiKeysError: there is no keyring, or it has lost the key.
    """
    if not profile.in_keyring:
        return profile.key
    key = _call_keyring(
        find, lambda keyring: keyring.get_password(KEYRING_SERVICE, _entry(profile))
    )
    if not key:
        raise ApiKeysError(f"no key for {profile.url} in the keyring: log in again")
    return key


def forget(config_dir: Path, name: str, *, find: FindKeyring = system_keyring) -> Profile | None:
    """Remove a stored service and its key, from the file or the keyring.

    Returns:
        The removed service; None if none is stored under the name.

    Raises:
        ApiKeysError: the keyring or the file cannot be changed.
    """
    profile = profiles(config_dir).get(name)
    if profile is None:
        return None
    if profile.in_keyring:
        entry = _entry(profile)
        if (
            _call_keyring(find, lambda keyring: keyring.get_password(KEYRING_SERVICE, entry))
            is not None
        ):
            _call_keyring(find, lambda keyring: keyring.delete_password(KEYRING_SERVICE, entry))
    forget_profile(config_dir, name)
    return profile


def _entry(profile: Profile) -> str:
    """The name in the keyring; includes the address to which the key is bound."""
    return f"{profile.name} {profile.url}"


def _call_keyring(find: FindKeyring, call: Callable[[Keyring], T]) -> T:
    """Call the keyring.

    Returns:
        The keyring's answer.

    Raises:
        ApiKeysError: there is no keyring, or it refuses.
    """
    keyring = find()
    if keyring is None:
        raise ApiKeysError(NO_KEYRING)
    try:
        return call(keyring)
    except Exception as error:  # noqa: BLE001  (each system's keyring has errors of its own)
        # From None, by its kind alone: a backend's message may hold the secret.
        raise ApiKeysError(f"the system keyring refused ({type(error).__name__})") from None
