"""`service-tui keys`: make, take in, list and remove keys of wallets.

A key is never an argument: it is typed unseen, piped in, or taken from the environment, which
forgets it.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from service_tui.addresses import checked_address
from service_tui.desk.commands.wallet import TAIL
from service_tui.signing.errors import KeystoreError, SigningError
from service_tui.wiring.wallet_keys import WalletKeys


class KeyWordsError(Exception):
    """What was asked for cannot be done; one plain sentence, without any secret."""


@dataclass(frozen=True, slots=True)
class KeyRequest:
    """What the command line says, and how to ask for what it must not hold."""

    action: str
    address: str | None
    wallet_key: str | None
    is_held: bool
    ask: Callable[[str], str]


@dataclass(frozen=True, slots=True)
class KeyReport:
    """What came of it, a line a fact, and how many files are to be mended before all is well."""

    lines: tuple[str, ...]
    trouble_count: int = 0


def said(keys: WalletKeys, asked: KeyRequest) -> KeyReport:
    """Do what was asked.

    Returns:
        What to tell; never a key, a passphrase, or what stands in a file.

    Raises:
        KeyWordsError: it cannot be done; says why.
    """
    try:
        return _DOING[asked.action](keys, asked)
    except (SigningError, ValueError) as error:
        raise KeyWordsError(str(error)) from error


def _create(keys: WalletKeys, asked: KeyRequest) -> KeyReport:
    return _kept(keys, asked, "")


def _import(keys: WalletKeys, asked: KeyRequest) -> KeyReport:
    secret = asked.wallet_key or asked.ask("Private key (64 hex digits, not shown): ").strip()
    if not secret:
        raise KeystoreError("no key was given")
    return _kept(keys, asked, secret)


def _kept(keys: WalletKeys, asked: KeyRequest, secret: str) -> KeyReport:
    if asked.is_held:
        keys.check_keyring()
    passphrase = asked.ask("Passphrase for the key file: ")
    if passphrase != asked.ask("The same once more: "):
        raise KeystoreError("the two passphrases differ; nothing was stored")
    kept = keys.keep(passphrase, secret)
    lines = [kept.address, "stored; without its passphrase nobody can open it, not even you"]
    if asked.is_held:
        keys.hold(kept.address, passphrase)
        lines.append("the system's keyring holds the passphrase")
    return KeyReport(tuple(lines))


def _list(keys: WalletKeys, _: KeyRequest) -> KeyReport:
    """Every key that can be opened; one bad file hides none of them."""
    lines = [
        f"{key.address}{'  passphrase in the keyring' if keys.held(key.address) else ''}"
        for key in keys.stored()
    ] or ["no keys lie here; 'service-tui keys create' makes one"]
    over = [f"passed over: {words}" for words in keys.passed_over()]
    return KeyReport((*lines, *over), len(over))


def _remove(keys: WalletKeys, asked: KeyRequest) -> KeyReport:
    if asked.address is None:
        raise KeystoreError("say which: service-tui keys remove 0x...")
    address = checked_address(asked.address)
    if all(key.address != address for key in keys.stored()):
        overs = keys.passed_over()
        meant = [words for words in overs if address.lower() in words.lower()] or overs[:1]
        over = "".join(f"; {words}" for words in meant)
        raise KeystoreError(f"no key of {address} lies here{over}")
    tail = asked.ask(
        f"This deletes the key for good. Type the last {TAIL} digits of {address}: "
    ).strip()
    if tail.lower() != address[-TAIL:].lower():
        raise KeystoreError("those are other digits; nothing was removed")
    keys.remove(address)
    return KeyReport((f"removed {address}",))


_DOING: Final = {"create": _create, "import": _import, "list": _list, "remove": _remove}
