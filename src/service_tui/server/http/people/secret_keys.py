"""Secrets that are shown once and kept as a hash: a person's key, an invitation's code."""

import hashlib
import hmac
import secrets
from dataclasses import dataclass, field
from typing import Final

INVITATION_PREFIX: Final = "inv_"


@dataclass(frozen=True, slots=True)
class NewSecret:
    """A fresh secret, with the salt and hash that are stored of it."""

    text: str = field(repr=False)
    salt: str = field(repr=False)
    digest: str = field(repr=False)


def new_secret(prefix: str) -> NewSecret:
    """A secret of 192 random bits behind its prefix."""
    text, salt = prefix + secrets.token_urlsafe(24), secrets.token_hex(16)
    return NewSecret(text, salt, salted(text, salt))


def salted(secret: str, salt: str) -> str:
    """The stored hash of a secret. One round is enough: it has 192 random bits."""
    return hashlib.sha256(f"{salt}{secret}".encode()).hexdigest()


def is_secret(sent: str, salt: str, digest: str) -> bool:
    """True if this is the secret of a stored hash."""
    return hmac.compare_digest(salted(sent, salt), digest)
