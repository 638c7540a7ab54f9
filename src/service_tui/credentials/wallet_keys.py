"""Keys of wallets in the data directory: one encrypted file a key, readable by its owner alone.

Every call blocks; opening takes about a second.
"""

import secrets
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Final

from service_tui.credentials.api_keys import ApiKeysError, read_private, write_private
from service_tui.credentials.system_keyring import KEYRING_SERVICE, NO_KEYRING, Keyring
from service_tui.desk.slices.wallet import StoredKeyView
from service_tui.signing.errors import KeyFormatError, KeystoreError
from service_tui.signing.keystore import WORK, address_in, check_form, opened, sealed
from service_tui.signing.signer import LocalSigner, address_of, key_bytes
from service_tui.storage.db.lock import private_directory
from service_tui.storage.errors import StorageError
from service_tui.wire.text import line

FOLDER: Final = "wallets"

SUFFIX: Final = ".json"

_OTHERS: Final = 0o077

_LINK: Final = "{} is a link; move it away: key files are never links"

KEYS_MAX: Final = 100
"""ours: key files that are looked at; nobody has more wallets by hand."""

_NAME_MAX: Final = 80

_FILE_TEXT_MAX: Final = 600
"""Longest name and sentence shown: a stranger may have named a file."""


class WalletKeys:
    """The key files of one data directory."""

    def __init__(
        self,
        data_dir: Path,
        *,
        keyring: Callable[[], Keyring | None] = lambda: None,
        work: int = WORK,
    ) -> None:
        """Set up; no file is read yet.

        Args:
            data_dir: the data directory.
            keyring: finds the system's keyring at the first use; it is slow to load.
            work: rounds of scrypt for new files.
        """
        self._folder = data_dir / FOLDER
        self._find_keyring = keyring
        self._work = work

    @cached_property
    def _keyring(self) -> Keyring | None:
        return self._find_keyring()

    def stored(self) -> tuple[StoredKeyView, ...]:
        """The stored keys, by address; a file that is no key is passed over.

        Returns:
            Possibly none.

        Raises:
            KeystoreError: the folder cannot be read.
        """
        checks = ((path, self._check(path)) for path in self._paths()[:KEYS_MAX])
        return tuple(
            StoredKeyView(check.address, path.name) for path, check in checks if check.address
        )

    def passed_over(self) -> tuple[str, ...]:
        """The files that are not opened, one sentence each: the problem and the fix.

        Returns:
            Possibly none. A key that others may read is listed here and stored all the same. No
            sentence holds any content of a file.

        Raises:
            KeystoreError: the folder cannot be read.
        """
        if self._folder.is_symlink():
            return (_LINK.format(_shown(self._folder)),)
        paths = self._paths()
        problems = [
            check.trouble for path in paths[:KEYS_MAX] if (check := self._check(path)).trouble
        ]
        if len(paths) > KEYS_MAX:
            over = f"{len(paths) - KEYS_MAX} more files in {_shown(self._folder)}"
            problems.append(f"{over} were not read; move away files that are not keys")
        return tuple(problems)

    def _paths(self) -> list[Path]:
        """The files of the folder, hidden ones aside; links are not followed.

        Returns:
            Files with a key's name first, in the order of names.

        Raises:
            KeystoreError: the folder cannot be read.
        """
        # The folder of another place is not ours to describe.
        if self._folder.is_symlink():
            return []
        try:
            paths = [path for path in self._folder.iterdir() if not path.name.startswith(".")]
        except FileNotFoundError:
            return []
        except OSError as error:
            message = f"cannot read {_shown(self._folder)}: {error.strerror}"
            raise KeystoreError(message) from error
        return sorted(paths, key=lambda path: (path.suffix != SUFFIX, path.name))

    def opened(self, address: str, passphrase: str) -> LocalSigner:
        """A signer for an address.

        Args:
            address: one of the stored keys.
            passphrase: its passphrase; empty reads it from the system's keyring.

        Returns:
            The signer.

        Raises:
            KeystoreError: no such key, a wrong passphrase, or a file that is no key.
        """
        content = self._content(self._path(address))
        if not content:
            raise KeystoreError(f"no key of {address} stored")
        signer = opened(content, passphrase or self.remembered_passphrase(address) or "")
        if signer.address != address:
            raise KeystoreError("the key file names another address than its key")
        return signer

    def keep(self, passphrase: str, secret: str) -> StoredKeyView:
        """Store a key, encrypted; without a secret a new one is made.

        Returns:
            The stored key.

        Raises:
            KeyFormatError: the secret is no key.
            KeystoreError: a short passphrase, a key that is stored already, or a full disk.
        """
        key = key_bytes(secret) if secret else _fresh()
        address = address_of(key)
        path = self._path(address)
        if self._content(path):
            raise KeystoreError(f"a key of {address} is stored already; remove it first")
        content = sealed(key, passphrase, work=self._work)
        # Open it once before trusting it: a lost key is lost money.
        opened(content, passphrase)
        try:
            private_directory(self._folder.parent)
            self._refuse_links(self._folder)
            write_private(path, content)
        except (ApiKeysError, StorageError) as error:
            raise KeystoreError(str(error)) from error
        return StoredKeyView(address, path.name)

    def remove(self, address: str) -> None:
        """Delete a key, and its passphrase from the keyring.

        Raises:
            KeystoreError: no such key, a link in its place, or it cannot be deleted.
        """
        path = self._path(address)
        self._refuse_links(self._folder, path)
        try:
            path.unlink()
        except FileNotFoundError as error:
            raise KeystoreError(f"no key of {address} stored") from error
        except OSError as error:
            raise KeystoreError(f"cannot delete the key: {error.strerror}") from error
        if self._keyring is not None and self.remembered_passphrase(address) is not None:
            self._keyring.delete_password(KEYRING_SERVICE, address)

    def check_keyring(self) -> None:
        """Check that the system has a keyring.

        Raises:
            KeystoreError: there is none.
        """
        if self._keyring is None:
            raise KeystoreError(NO_KEYRING)

    def remember_passphrase(self, address: str, passphrase: str) -> None:
        """Store a passphrase in the system's keyring, after it has opened the key.

        Raises:
            KeystoreError: there is no keyring, or the passphrase is wrong.
        """
        self.check_keyring()
        self.opened(address, passphrase)
        if self._keyring is not None:
            self._keyring.set_password(KEYRING_SERVICE, address, passphrase)

    def remembered_passphrase(self, address: str) -> str | None:
        """The passphrase in the system's keyring; None if it has none."""
        if self._keyring is None:
            return None
        return self._keyring.get_password(KEYRING_SERVICE, address)

    def _path(self, address: str) -> Path:
        return self._folder / f"{address.lower()}{SUFFIX}"

    def _check(self, path: Path) -> "_FileCheck":
        """Check one file of the folder."""
        shown = _shown(path)
        try:
            address = self._address_of(path)
            others_read = path.lstat().st_mode & _OTHERS
        except ApiKeysError as error:
            return _FileCheck(trouble=line(str(error).replace(str(path), shown), _FILE_TEXT_MAX))
        except KeystoreError as error:
            return _FileCheck(trouble=f"{shown} {error}")
        except OSError as error:
            return _FileCheck(trouble=f"cannot read {shown}: {error.strerror}")
        message = f"others may read {shown}: chmod 600 it first"
        return _FileCheck(address, message if others_read else "")

    def _address_of(self, path: Path) -> str:
        """The address of a key file.

        Returns:
            The address; the file has it as its name.

        Raises:
            ApiKeysError: it cannot be read; names the file.
            KeystoreError: it is no key of ours; the caller adds the file's name to the message.
        """
        if path.is_symlink():
            raise KeystoreError(_LINK.format("").strip())
        content = read_private(path)
        try:
            check_form(content)
        except KeystoreError as error:
            raise KeystoreError(f"cannot be opened: {error}; repair it or move it away") from error
        address = address_in(content)
        if address is None:
            raise KeystoreError("names no address; move it away, and import its key")
        if self._path(address) != path:
            name = self._path(address).name
            # Nobody has proved that it is a copy: one laid over the other may destroy a key.
            if self._path(address).exists():
                raise KeystoreError(
                    f"names the address of {name}, which is stored here; move it away"
                )
            raise KeystoreError(f"is not named after its key; rename it to {name}")
        return address

    @staticmethod
    def _refuse_links(*places: Path) -> None:
        """Raise if a link stands in place of the folder or of a key."""
        for place in places:
            if place.is_symlink():
                raise KeystoreError(_LINK.format(place))

    def _content(self, path: Path) -> dict[str, object]:
        self._refuse_links(self._folder, path)
        try:
            if path.exists() and path.lstat().st_mode & _OTHERS:
                raise KeystoreError(f"others may read {path}; chmod 600 {path}")
            return read_private(path)
        except (ApiKeysError, OSError) as error:
            raise KeystoreError(str(error)) from error


@dataclass(frozen=True, slots=True)
class _FileCheck:
    """Result for a file in the folder of keys: its address, a problem, or both."""

    address: str = ""
    trouble: str = ""


def _shown(path: Path) -> str:
    """A path safe to show: its name may come from a stranger."""
    return f"{line(str(path.parent), _FILE_TEXT_MAX)}/{line(path.name, _NAME_MAX)}"


def _fresh() -> bytes:
    """A new key: 32 bytes from the system's source, drawn until they are a valid key."""
    while True:
        try:
            return key_bytes(secrets.token_bytes(32))
        except KeyFormatError:
            continue
