"""The challenge that links a wallet: a readable text, signed as shown."""

import re
from dataclasses import dataclass
from math import inf
from typing import Final

from service_tui.addresses import checksummed, is_address
from service_tui.signing import keep_recursion_limit
from service_tui.signing.errors import PolicyRefusedError, Rule
from service_tui.signing.signer import Signer, recovered
from service_tui.signing.typed import digest_of_message

TEXT_MAX: Final = 2_000
"""ours: letters of a challenge, which a person could still read; nothing but plain text."""

_NONCE: Final = re.compile(r"[A-Za-z0-9_\-]{8,128}\Z")
_HEX: Final = re.compile(r"0[xX][0-9a-fA-F]{40,}")
_HOST: Final = re.compile(r"(?:[A-Za-z0-9-]+\.)+[A-Za-z]{2,}\b")
_IP: Final = re.compile(r"(?<![\w.])\d{1,3}(?:\.\d{1,3}){3}(?!\.?\w)")
_IP6: Final = re.compile(r"\[([0-9a-fA-F:.]*:[0-9a-fA-F:.]*)\]")
_LOCAL: Final = re.compile(r"(?<![\w.\-])localhost\b", re.IGNORECASE)
_URL: Final = re.compile(r"://([^\s/:?#\[]+)")
_SIGN_IN: Final = re.compile(r"(\S+?)(?::\d+)? wants you to sign in")
_BLOB: Final = re.compile(r"[0-9a-fA-F]{64,}")
_GAPS: Final = re.compile(r"\s+")
_HOSTS: Final = (_HOST, _IP, _IP6, _LOCAL, _URL, _SIGN_IN)


@dataclass(frozen=True, slots=True, kw_only=True)
class Challenge:
    """Challenge of the service. `expires_s` in seconds since 1970."""

    address: str
    nonce: str
    message: str
    expires_s: float


def sign_challenge(challenge: Challenge, signer: Signer, *, host: str, now_s: float) -> str:
    """Sign a challenge, where it is one.

    Args:
        challenge: what the service sent.
        signer: whose wallet is linked.
        host: the service's host; the text must name this one exactly, and no other.
        now_s: seconds since 1970.

    Returns:
        The signature, `0x` and 130 hex digits.

    Raises:
        PolicyRefusedError: no challenge of this service for this wallet; nothing was signed.
        LockedError: the key is not at hand.
    """
    check_challenge(challenge, signer.address, host=host, now_s=now_s)
    return "0x" + signer.sign(message_digest(challenge.message)).hex()


def check_challenge(challenge: Challenge, own: str, *, host: str, now_s: float) -> None:
    """Check that a text is a challenge of this service for this wallet. Signs nothing.

    Args:
        challenge: what the service sent.
        own: the wallet's address, checksummed.
        host: the service's host; the text must name this one exactly, and no other.
        now_s: seconds since 1970.

    Raises:
        PolicyRefusedError: it is none, and would not be signed.
    """
    for is_wrong, rule, sentence in _faults(challenge, own, host, now_s):
        if is_wrong:
            raise PolicyRefusedError(rule, sentence)


def message_digest(message: str) -> bytes:
    """Digest of a personal message. Source: EIP-191, version 0x45."""
    from eth_account.messages import encode_defunct  # noqa: PLC0415

    keep_recursion_limit()
    return digest_of_message(encode_defunct(text=message))


def message_signer(message: str, signature: bytes) -> str:
    """Address that signed a personal message.

    Returns:
        The address, checksummed.

    Raises:
        MalformedError: no signature.
    """
    return recovered(message_digest(message), signature)


def _faults(
    challenge: Challenge, own: str, host: str, now_s: float
) -> tuple[tuple[bool, Rule, str], ...]:
    """Checks of a challenge, each with the text of its failure."""
    text = challenge.message
    is_ours = is_address(challenge.address) and checksummed(challenge.address) == own
    named = {found.lower() for found in _HEX.findall(text)}
    hosts = {found.lower() for every in _HOSTS for found in every.findall(text)}
    bare = _GAPS.sub("", _HEX.sub("-", text))
    return (
        (not is_ours, Rule.SENDER, "the challenge is for another wallet"),
        (
            not now_s < challenge.expires_s < inf,
            Rule.TIME,
            "the challenge has expired, or does not expire: ask for a new one",
        ),
        (not 0 < len(text) <= TEXT_MAX, Rule.TEXT, "the challenge is empty or too long to be read"),
        (
            not text.replace("\n", "").isprintable() or not text.isascii(),
            Rule.TEXT,
            "the challenge holds characters that cannot be read",
        ),
        (not _NONCE.match(challenge.nonce), Rule.NONCE, "the challenge's nonce has no known form"),
        (challenge.nonce not in text, Rule.TEXT, "the text does not hold the challenge's nonce"),
        (named != {own.lower()}, Rule.TEXT, "the text names another address, or not this wallet's"),
        (
            _BLOB.search(bare) is not None or _BLOB.search(_GAPS.sub("", text)) is not None,
            Rule.TEXT,
            "the text holds a hash, which could be anything",
        ),
        (
            hosts != {host.lower()},
            Rule.TEXT,
            "the text is that of another service, or does not name this one",
        ),
    )
