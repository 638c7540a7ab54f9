"""The key of the desk's wallet: stored keys, the unlocked one, and its signer."""

from dataclasses import dataclass
from typing import Protocol

from service_tui.desk.slices.wallet import KeyState, StoredKeyView
from service_tui.signing.errors import KeystoreError, LockedError
from service_tui.signing.signer import Signer


class Keystore(Protocol):
    """Encrypted keys on this machine. Every call blocks; opening one takes a second."""

    def stored(self) -> tuple[StoredKeyView, ...]:
        """Addresses of the stored keys."""
        ...

    def passed_over(self) -> tuple[str, ...]:
        """A sentence for each file beside them that is ignored."""
        ...

    def opened(self, address: str, passphrase: str) -> Signer:
        """Signer of an address; raises KeystoreError for a wrong passphrase or a broken file."""
        ...

    def keep(self, passphrase: str, secret: str) -> StoredKeyView:
        """Store a key encrypted; an empty secret creates a new key."""
        ...

    def remove(self, address: str) -> None:
        """Delete the key of an address."""
        ...


@dataclass(frozen=True, slots=True)
class KeyView:
    """Public state of the key."""

    address: str
    state: KeyState
    source: str
    stored: tuple[StoredKeyView, ...]
    passed_over: tuple[str, ...] = ()


class Vault:
    """One wallet's key, locked or unlocked."""

    def __init__(self, keystore: Keystore | None = None, signer: Signer | None = None) -> None:
        """Begin unlocked with a signer, else locked.

        Args:
            keystore: stores encrypted keys; None if the desk stores none.
            signer: signs with `WALLET_PRIVATE_KEY`; unlocked for the whole session.
        """
        self._keystore = keystore
        self._signer = signer
        self._source = "environment" if signer is not None else ""
        self._stored: tuple[StoredKeyView, ...] = ()
        self._passed_over: tuple[str, ...] = ()

    @property
    def signer(self) -> Signer | None:
        """Signer of the unlocked key; None while locked."""
        return self._signer

    def view(self) -> KeyView:
        """Public state of the key."""
        known = self._stored, self._passed_over
        if self._signer is not None:
            return KeyView(self._signer.address, KeyState.UNLOCKED, self._source, *known)
        if self._stored:
            return KeyView(self._stored[0].address, KeyState.LOCKED, "keystore", *known)
        return KeyView("", KeyState.NONE, "", *known)

    def look(self) -> None:
        """Load the list of stored keys. Blocks."""
        if self._keystore is not None:
            self._stored = self._keystore.stored()
            self._passed_over = self._keystore.passed_over()

    def unlock(self, address: str, passphrase: str) -> None:
        """Open a key. Blocks for about a second.

        Raises:
            KeystoreError: a wrong passphrase, or no such key.
        """
        if self._keystore is None:
            raise KeystoreError("no keys are kept here: create or import one first")
        self._signer = self._keystore.opened(address, passphrase)
        self._source = "keystore"

    def lock(self) -> None:
        """Forget the open key."""
        forget = getattr(self._signer, "forget", None)
        if callable(forget):
            forget()
        self._signer = None
        self._source = ""

    def keep(self, passphrase: str, secret: str) -> str:
        """Store a key encrypted, and open it where none is open. Blocks.

        Whoever stores it has just typed the passphrase: the next step may sign.

        Returns:
            Its address.

        Raises:
            KeystoreError: there is no place for keys, or the disk refuses.
            KeyFormatError: the secret is no key.
        """
        if self._keystore is None:
            raise KeystoreError("this desk has no place for keys")
        kept = self._keystore.keep(passphrase, secret)
        self.look()
        if self._signer is None:
            self.unlock(kept.address, passphrase)
        return kept.address

    def remove(self, address: str) -> None:
        """Delete a key, and forget it where it is open. Blocks.

        Raises:
            KeystoreError: no such key.
        """
        if self._keystore is None:
            raise KeystoreError("no keys are kept here")
        self._keystore.remove(address)
        if self._signer is not None and self._signer.address.lower() == address.lower():
            self.lock()
        self.look()

    def signer_of(self, address: str) -> Signer:
        """Signer of this address.

        Returns:
            The signer.

        Raises:
            LockedError: no key is unlocked.
        """
        signer = self._signer
        if signer is None:
            raise LockedError("the wallet is locked: unlock it with its passphrase first")
        if signer.address.lower() != address.lower():
            raise LockedError(
                f"the open key is that of {signer.address}, and the linked wallet is {address}"
            )
        return signer
