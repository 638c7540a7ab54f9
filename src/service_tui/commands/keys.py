"""`service-tui keys`: create, import, list and remove keys of wallets.

A key is never an argument: it is typed unseen, piped in, or read from the environment, which then
drops it.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from service_tui.addresses import checked_address
from service_tui.credentials.wallet_keys import WalletKeys
from service_tui.desk.commands.wallet import TAIL
from service_tui.signing.errors import KeystoreError, SigningError


class KeysCommandError(Exception):
    """The command cannot be done; one plain sentence, without any secret."""


@dataclass(frozen=True, slots=True)
class KeyRequest:
    """The command's arguments, and a function that reads secrets."""

    action: str
    address: str | None
    wallet_key: str | None
    in_keyring: bool
    read_secret: Callable[[str], str]


@dataclass(frozen=True, slots=True)
class KeyReport:
    """The result, one line a fact, and the number of files to mend before all is well."""

    lines: tuple[str, ...]
    trouble_count: int = 0


def run_command(wallet_keys: WalletKeys, request: KeyRequest) -> KeyReport:
    """Run a command on the keys of wallets.

    Returns:
        The lines to print; never a key, a passphrase, or the content of a file.

    Raises:
        KeysCommandError: it cannot be done; gives the reason.
    """
    try:
        return _ACTIONS[request.action](wallet_keys, request)
    except (SigningError, ValueError) as error:
        raise KeysCommandError(str(error)) from error


def _create(wallet_keys: WalletKeys, request: KeyRequest) -> KeyReport:
    return _store(wallet_keys, request, "")


def _import(wallet_keys: WalletKeys, request: KeyRequest) -> KeyReport:
    secret = (
        request.wallet_key
        or request.read_secret("Private key (64 hex digits, not shown): ").strip()
    )
    if not secret:
        raise KeystoreError("no key entered")
    return _store(wallet_keys, request, secret)


def _store(wallet_keys: WalletKeys, request: KeyRequest, secret: str) -> KeyReport:
    if request.in_keyring:
        wallet_keys.check_keyring()
    passphrase = request.read_secret("Passphrase for the key file: ")
    if passphrase != request.read_secret("Repeat the passphrase: "):
        raise KeystoreError("the passphrases differ; nothing stored")
    stored = wallet_keys.keep(passphrase, secret)
    lines = [stored.address, "stored; without the passphrase the key is lost"]
    if request.in_keyring:
        wallet_keys.remember_passphrase(stored.address, passphrase)
        lines.append("passphrase stored in the system keyring")
    return KeyReport(tuple(lines))


def _list(wallet_keys: WalletKeys, _: KeyRequest) -> KeyReport:
    """List every key that can be opened; one bad file hides none of them."""
    in_keyring = wallet_keys.remembered_passphrase
    lines = [
        key.address + ("  passphrase in the keyring" if in_keyring(key.address) else "")
        for key in wallet_keys.stored()
    ] or ["no keys stored; 'service-tui keys create' makes one"]
    over = [f"invalid file: {problem}" for problem in wallet_keys.passed_over()]
    return KeyReport((*lines, *over), len(over))


def _remove(wallet_keys: WalletKeys, request: KeyRequest) -> KeyReport:
    if request.address is None:
        raise KeystoreError("give the address: service-tui keys remove 0x...")
    address = checked_address(request.address)
    if all(key.address != address for key in wallet_keys.stored()):
        problems = wallet_keys.passed_over()
        matching = [
            problem for problem in problems if address.lower() in problem.lower()
        ] or problems[:1]
        reason = "".join(f"; {problem}" for problem in matching)
        raise KeystoreError(f"no key of {address} stored{reason}")
    tail = request.read_secret(
        f"Deletes the key. This cannot be undone. Type the last {TAIL} digits of {address}: "
    ).strip()
    if tail.lower() != address[-TAIL:].lower():
        raise KeystoreError("digits do not match; nothing removed")
    wallet_keys.remove(address)
    return KeyReport((f"removed {address}",))


_ACTIONS: Final = {"create": _create, "import": _import, "list": _list, "remove": _remove}
