"""Encrypted key files, version 3: made and opened. Both calls take about a second: use a thread.

Both calls take about a second: a thread's.
"""

from collections.abc import Mapping
from typing import Final

from service_tui.addresses import checksummed, is_address
from service_tui.signing import keep_recursion_limit
from service_tui.signing.errors import KeyFormatError, KeystoreError
from service_tui.signing.signer import LocalSigner, address_of, key_bytes

WORK: Final = 2**18
"""Rounds of scrypt for new files: a second, 256 MB. Source: go-ethereum, StandardScryptN."""

PASSPHRASE_MIN: Final = 8
"""ours: letters of a new passphrase; the file is only as good as that."""

_MEMORY_MAX: Final = 2**29
_WORK_MAX: Final = 2**25
_ROUNDS_MAX: Final = 10_000_000
"""Bound on the cost of opening a key file, which the file itself sets. Source: failures."""


def sealed(secret: str | bytes, passphrase: str, *, work: int = WORK) -> dict[str, object]:
    """A key as the content of a file that only its passphrase opens.

    Args:
        secret: the key; 64 hex digits or 32 bytes.
        passphrase: eight letters or more.
        work: rounds of scrypt, a power of two.

    Returns:
        Version 3, scrypt, with the address beside it.

    Raises:
        KeyFormatError: the secret is no key.
        KeystoreError: the passphrase is too short.
    """
    key = key_bytes(secret)
    if len(passphrase) < PASSPHRASE_MIN:
        raise KeystoreError(f"a passphrase has {PASSPHRASE_MIN} letters or more")
    from eth_account import Account  # noqa: PLC0415

    keep_recursion_limit()
    made: Mapping[str, object] = Account.encrypt(key, passphrase, kdf="scrypt", iterations=work)
    return {**made, "address": address_of(key)[2:].lower()}


def address_in(content: Mapping[str, object]) -> str | None:
    """The address that a file names, checksummed; None where it names none."""
    found = content.get("address")
    address = f"0x{found.removeprefix('0x')}" if isinstance(found, str) else ""
    return checksummed(address) if is_address(address) else None


def opened(content: Mapping[str, object], passphrase: str) -> LocalSigner:
    """Signer with the key of a file.

    Returns:
        The signer; the key is nowhere else.

    Raises:
        KeystoreError: no key file of version 3, one that would cost too much to open, a wrong
            passphrase, or a key that is not that of the address beside it.
    """
    check_form(content)
    from eth_account import Account  # noqa: PLC0415

    keep_recursion_limit()
    try:
        key = bytes(Account.decrypt(dict(content), passphrase))
    # From None: what these hold are pieces of the file.
    except (KeyError, TypeError, ValueError) as error:
        sentence = "the passphrase is wrong" if "MAC" in str(error) else "the key file is malformed"
        raise KeystoreError(sentence) from None
    try:
        signer = LocalSigner(key)
    except KeyFormatError:
        raise KeystoreError("the key file holds no key") from None
    if address_in(content) not in {None, signer.address}:
        raise KeystoreError("the key file names another address than its key has")
    return signer


def check_form(content: Mapping[str, object]) -> None:
    """Refuse what no passphrase is worth being tried on; nothing is opened.

    Raises:
        KeystoreError: no key file of version 3, or one that asks for more memory or time than an
            honest one.
    """
    match content:
        case {
            "version": 3,
            "crypto": {
                "cipher": "aes-128-ctr",
                "kdf": "scrypt",
                "kdfparams": {"n": int(n), "r": int(r), "p": int(p), "dklen": 32},
            },
        } if n > 1 and r > 0 and p > 0:
            is_fair = n.bit_count() == 1 and 128 * n * r <= _MEMORY_MAX and n * r * p <= _WORK_MAX
        case {
            "version": 3,
            "crypto": {
                "cipher": "aes-128-ctr",
                "kdf": "pbkdf2",
                "kdfparams": {"c": int(c), "prf": "hmac-sha256", "dklen": 32},
            },
        }:
            is_fair = 0 < c <= _ROUNDS_MAX
        case _:
            raise KeystoreError("that is no key file of version 3")
    if not is_fair:
        raise KeystoreError("the key file asks for more memory or time than an honest one")
