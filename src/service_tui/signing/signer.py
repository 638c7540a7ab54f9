"""Signers: an address and its signatures; the key itself never leaves the signer."""

import re
from typing import TYPE_CHECKING, Final, NoReturn, Protocol

from service_tui.signing.errors import KeyFormatError, LockedError, MalformedError

if TYPE_CHECKING:
    from eth_keys.backends.base import BaseECCBackend

ORDER: Final = 2**256 - 0x1_45512319_50B75FC4_402DA173_2FC9BEBF
"""Order of the curve: keys and the halves of a signature are below it. Source: SEC 2, 2.4.1."""

SIGNATURE_BYTES: Final = 65
DIGEST_BYTES: Final = 32
V_OFFSET: Final = 27
"""What is added to the parity in the last byte of a signature. Source: Yellow Paper, appendix F."""

# ours: wallets write their keys with 0x, the spec's variable is read either way.
_KEY: Final = re.compile(r"(?:0[xX])?([0-9a-fA-F]{64})\Z")


class Signer(Protocol):
    """Signs for one address."""

    @property
    def address(self) -> str:
        """The address, checksummed."""
        ...

    def sign(self, digest: bytes) -> bytes:
        """The signature of a digest of 32 bytes.

        Returns:
            65 bytes: r, s (low), and 27 or 28.

        Raises:
            LockedError: no key is at hand now.
        """
        ...


class LocalSigner:
    """A key in the memory of this process. No repr, format, copy or pickle shows it."""

    __slots__ = ("__secret", "_address")

    def __init__(self, key: str | bytes) -> None:
        """Load a key: 64 hex digits, with or without `0x`, or 32 bytes.

        Raises:
            KeyFormatError: it is none; the text is not repeated.
        """
        self.__secret: bytes | None = key_bytes(key)
        self._address = ""

    @property
    def address(self) -> str:
        """The checksummed address; computed at first use, as that loads the curve."""
        if not self._address and self.__secret is not None:
            self._address = address_of(self.__secret)
        return self._address

    def forget(self) -> None:
        """Drop the key; every signature from here on is refused. The address stays known."""
        self._address = self.address
        self.__secret = None

    def sign(self, digest: bytes) -> bytes:
        """The signature of a digest: deterministic (RFC 6979), s in the lower half.

        Returns:
            65 bytes: r, s, and 27 or 28.

        Raises:
            LockedError: the key was forgotten.
            MalformedError: not 32 bytes.
        """
        if self.__secret is None:
            raise LockedError(f"the key of {self.address} is locked; unlock it first")
        if len(digest) != DIGEST_BYTES:
            raise MalformedError(f"a digest has {DIGEST_BYTES} bytes, not {len(digest)}")
        from eth_keys.datatypes import PrivateKey  # noqa: PLC0415

        key = PrivateKey(self.__secret, curve())
        signature = key.sign_msg_hash(digest).to_bytes()
        return signature[:-1] + bytes([signature[-1] + V_OFFSET])

    def __repr__(self) -> str:
        return f"LocalSigner({self.address})"

    def __getstate__(self) -> NoReturn:
        raise TypeError("a signer is never copied or written anywhere")

    def __reduce_ex__(self, _: object) -> NoReturn:
        raise TypeError("a signer is never copied or written anywhere")


def key_bytes(key: str | bytes) -> bytes:
    """A private key in 32 bytes.

    Returns:
        The bytes of the number.

    Raises:
        KeyFormatError: it is none; what was given is not repeated.
    """
    if isinstance(key, str):
        match = _KEY.match(key.strip())
        if match is None:
            raise KeyFormatError("a private key is 64 hex digits, with 0x before them or not")
        key = bytes.fromhex(match[1])
    if len(key) != DIGEST_BYTES or not 0 < int.from_bytes(key, "big") < ORDER:
        raise KeyFormatError("a private key is 32 bytes, above 0 and below the curve's order")
    return key


def curve() -> "BaseECCBackend":
    """The curve in C; in Python where that library is missing, slower and with the same bytes."""
    from eth_keys.backends.coincurve import (  # noqa: PLC0415
        CoinCurveECCBackend,
        is_coincurve_available,
    )

    if is_coincurve_available():
        return CoinCurveECCBackend()
    # Not by eth_keys' own choice: that takes any class which the environment names.
    from eth_keys.backends.native.main import NativeECCBackend  # noqa: PLC0415

    return NativeECCBackend()


def address_of(secret: bytes) -> str:
    """The address of a private key of 32 bytes, checksummed."""
    from eth_keys.datatypes import PrivateKey  # noqa: PLC0415

    return PrivateKey(secret, curve()).public_key.to_checksum_address()


def recovered(digest: bytes, signature: bytes) -> str:
    """Address that signed a digest.

    Args:
        digest: 32 bytes.
        signature: 65 bytes: r, s in the lower half, and 27 or 28 (0 and 1 are taken as well).

    Returns:
        The address, checksummed.

    Raises:
        MalformedError: no signature, or one that belongs to no key.
    """
    if len(signature) != SIGNATURE_BYTES or len(digest) != DIGEST_BYTES:
        raise MalformedError(f"a signature has {SIGNATURE_BYTES} bytes, not {len(signature)}")
    parity = signature[-1] - V_OFFSET if signature[-1] >= V_OFFSET else signature[-1]
    r, s = int.from_bytes(signature[:32], "big"), int.from_bytes(signature[32:64], "big")
    # The upper half is the same signature written twice. Source: EIP-2.
    if parity not in {0, 1} or not 0 < r < ORDER or not 0 < s <= ORDER // 2:
        raise MalformedError("the signature's numbers are out of range")
    from eth_keys.datatypes import Signature  # noqa: PLC0415
    from eth_keys.exceptions import BadSignature  # noqa: PLC0415

    try:
        public = Signature(
            signature[:-1] + bytes([parity]), backend=curve()
        ).recover_public_key_from_msg_hash(digest)
    except BadSignature as error:
        raise MalformedError("the signature belongs to no key") from error
    return public.to_checksum_address()
