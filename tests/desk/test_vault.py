"""One key: open or not, and nothing of it left once it is locked."""

from dataclasses import dataclass, field

import pytest

from service_tui.desk.slices.wallet import KeyState, StoredKeyView
from service_tui.desk.vault import KeyView, Vault
from service_tui.signing.errors import KeystoreError, LockedError
from service_tui.signing.signer import Signer

OWN, OTHER = "0x" + "aB" * 20, "0x" + "cd" * 20


@dataclass
class Held:
    """A signer that can forget."""

    address: str = OWN
    is_forgotten: bool = False

    def sign(self, digest: bytes) -> bytes:
        return digest

    def forget(self) -> None:
        self.is_forgotten = True


@dataclass
class Keys:
    """Keys of this machine, and what was asked of them."""

    rows: list[StoredKeyView] = field(default_factory=lambda: [StoredKeyView(OWN, "first")])
    asked: list[tuple[str, ...]] = field(default_factory=list)

    def stored(self) -> tuple[StoredKeyView, ...]:
        return tuple(self.rows)

    def passed_over(self) -> tuple[str, ...]:
        return ("x.json: no key",)

    def opened(self, address: str, passphrase: str) -> Signer:
        self.asked.append((address, passphrase))
        if passphrase != "right":  # noqa: S105
            raise KeystoreError("wrong passphrase")
        return Held(address)

    def keep(self, passphrase: str, secret: str) -> StoredKeyView:
        self.asked.append((passphrase, secret))
        self.rows.append(StoredKeyView(OTHER, "second"))
        return self.rows[-1]

    def remove(self, address: str) -> None:
        self.asked.append((address,))
        self.rows = [one for one in self.rows if one.address != address]


PASSED = ("x.json: no key",)
FIRST, SECOND = StoredKeyView(OWN, "first"), StoredKeyView(OTHER, "second")


def looked() -> tuple[Vault, Keys]:
    keys = Keys()
    vault = Vault(keys)
    vault.look()
    return vault, keys


def test_a_stored_key_is_locked_until_its_passphrase_is_given() -> None:
    vault, keys = looked()
    assert vault.view() == KeyView(OWN, KeyState.LOCKED, "keystore", (FIRST,), PASSED)
    assert vault.signer is None
    with pytest.raises(KeystoreError, match="wrong passphrase"):
        vault.unlock(OWN, "wrong")
    assert vault.view().state is KeyState.LOCKED
    vault.unlock(OWN, "right")
    assert vault.view() == KeyView(OWN, KeyState.UNLOCKED, "keystore", (FIRST,), PASSED)
    assert keys.asked == [(OWN, "wrong"), (OWN, "right")]


def test_the_open_key_signs_for_its_own_address_alone() -> None:
    vault, _ = looked()
    with pytest.raises(LockedError, match="the wallet is locked"):
        vault.signer_of(OWN)
    vault.unlock(OWN, "right")
    assert vault.signer_of(OWN.lower()) is vault.signer
    with pytest.raises(LockedError, match=f"{OWN}, and the linked wallet is {OTHER}"):
        vault.signer_of(OTHER)


def test_a_key_that_is_locked_is_forgotten() -> None:
    signer = Held()
    vault = Vault(Keys(), signer)
    assert vault.view() == KeyView(OWN, KeyState.UNLOCKED, "environment", ())
    vault.lock()
    assert signer.is_forgotten
    assert vault.signer is None
    assert vault.view() == KeyView("", KeyState.NONE, "", ())
    vault.lock()


def test_a_key_is_kept_and_listed() -> None:
    vault, keys = looked()
    assert vault.keep("right", "secret") == OTHER
    # Nothing was open: what was just typed opens it.
    assert keys.asked == [("right", "secret"), (OTHER, "right")]
    assert vault.view().stored == (FIRST, SECOND)
    assert (vault.view().address, vault.view().state) == (OTHER, KeyState.UNLOCKED)


def test_a_key_that_is_kept_beside_an_open_one_stays_locked() -> None:
    signer = Held()
    vault = Vault(Keys([FIRST]), signer)
    vault.keep("right", "secret")
    assert vault.signer is signer


@pytest.mark.parametrize(("address", "stays"), [(OWN.lower(), False), (OTHER, True)])
def test_the_open_key_is_forgotten_with_its_file_and_not_with_another(
    address: str, *, stays: bool
) -> None:
    signer = Held()
    keys = Keys([FIRST, SECOND])
    vault = Vault(keys, signer)
    vault.remove(address)
    assert keys.asked == [(address,)]
    assert (vault.signer is signer, signer.is_forgotten) == (stays, not stays)
    assert vault.view().stored == tuple(keys.rows)


def test_without_a_place_for_keys_none_is_opened_kept_or_removed() -> None:
    vault = Vault()
    vault.look()
    assert vault.view() == KeyView("", KeyState.NONE, "", ())
    for work in (
        lambda: vault.unlock(OWN, "right"),
        lambda: vault.keep("pass", ""),
        lambda: vault.remove(OWN),
    ):
        with pytest.raises(KeystoreError):
            work()
