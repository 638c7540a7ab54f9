"""Keys of other services in the system's keyring."""

from pathlib import Path

import pytest

from service_tui.credentials.api_keys import PROFILES_FILE, ApiKeysError, Profile, profiles
from service_tui.credentials.login import forget, keep, key_of

SECRET = "sk_live_a_canary_that_sings"  # noqa: S105
PROFILE = Profile("office", "https://h", SECRET)


class Ring:
    """A keyring in memory."""

    def __init__(self) -> None:
        self.held: dict[str, str] = {}

    def get_password(self, _: str, name: str, /) -> str | None:
        return self.held.get(name)

    def set_password(self, _: str, name: str, word: str, /) -> None:
        self.held[name] = word

    def delete_password(self, _: str, name: str, /) -> None:
        del self.held[name]


def test_the_keyring_holds_the_key_and_the_file_its_place(tmp_path: Path) -> None:
    ring = Ring()
    keep(tmp_path, PROFILE, in_keyring=True, find=lambda: ring)
    assert SECRET not in (tmp_path / PROFILES_FILE).read_text()
    stored = profiles(tmp_path)["office"]
    assert SECRET not in repr(stored)
    assert key_of(stored, find=lambda: ring) == SECRET
    assert forget(tmp_path, "office", find=lambda: ring) == stored
    assert (profiles(tmp_path), ring.held) == ({}, {})
    assert forget(tmp_path, "office", find=lambda: ring) is None


def test_a_key_moves_from_the_keyring_to_the_file(tmp_path: Path) -> None:
    ring = Ring()
    keep(tmp_path, Profile("office", "https://old", SECRET), in_keyring=True, find=lambda: ring)
    keep(tmp_path, PROFILE, in_keyring=False, find=lambda: ring)
    assert (profiles(tmp_path)["office"], ring.held) == (PROFILE, {})


def test_without_a_keyring_nothing_is_stored(tmp_path: Path) -> None:
    with pytest.raises(ApiKeysError, match="no system keyring"):
        keep(tmp_path, PROFILE, in_keyring=True, find=lambda: None)
    assert profiles(tmp_path) == {}


def test_what_a_keyring_says_of_its_fault_is_not_repeated(tmp_path: Path) -> None:
    class Broken(Ring):
        def set_password(self, _: str, name: str, word: str, /) -> None:
            raise RuntimeError(name + word)

    with pytest.raises(ApiKeysError) as caught:
        keep(tmp_path, PROFILE, in_keyring=True, find=Broken)
    assert SECRET not in str(caught.value)
    assert profiles(tmp_path) == {}


def test_a_key_has_its_name_and_address_in_the_keyring(tmp_path: Path) -> None:
    ring = Ring()
    keep(tmp_path, PROFILE, in_keyring=True, find=lambda: ring)
    assert ring.held == {"office https://h": SECRET}
    # Kept again it stays; at another address the older entry goes.
    keep(tmp_path, PROFILE, in_keyring=True, find=lambda: ring)
    assert ring.held == {"office https://h": SECRET}
    keep(tmp_path, Profile("office", "https://new", "other"), in_keyring=True, find=lambda: ring)
    assert ring.held == {"office https://new": "other"}


def test_a_key_of_the_file_asks_no_keyring(tmp_path: Path) -> None:
    ring = Ring()
    ring.held["office https://h"] = "another"
    keep(tmp_path, PROFILE, in_keyring=False, find=lambda: ring)
    assert key_of(profiles(tmp_path)["office"], find=lambda: ring) == SECRET
    keep(tmp_path, Profile("office", "https://h", "newer"), in_keyring=False, find=lambda: ring)
    assert ring.held == {"office https://h": "another"}
    assert forget(tmp_path, "office", find=lambda: ring) is not None
    assert ring.held == {"office https://h": "another"}


def test_a_key_that_the_keyring_has_lost_is_missed(tmp_path: Path) -> None:
    ring = Ring()
    keep(tmp_path, PROFILE, in_keyring=True, find=lambda: ring)
    ring.held.clear()
    with pytest.raises(ApiKeysError, match="no key for https://h in the keyring: log in again"):
        key_of(profiles(tmp_path)["office"], find=lambda: ring)
    assert forget(tmp_path, "office", find=lambda: ring) is not None
    assert profiles(tmp_path) == {}
