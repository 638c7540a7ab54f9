"""Keys, and the one address that each may be sent to.

Knows addresses. Must not know calls; no repr of this room shows a secret.
Used by client; made in wiring.
"""

import re
from dataclasses import dataclass, field
from typing import Final

import httpx

_LOOPBACK: Final = frozenset({"localhost", "127.0.0.1", "::1"})
_PORTS: Final = {"http": 80, "https": 443}
_HOST: Final = re.compile(rb"[A-Za-z0-9_.:-]{1,253}")
_PORT_MAX: Final = 65_535
_KEY: Final = re.compile(r"[!-~]{8,200}")
"""ours: shorter than eight letters is a typing error, and could not be masked in foreign text."""


class ForeignHostError(ValueError):
    """A key was about to go to an address that it does not belong to."""


@dataclass(frozen=True, slots=True)
class Key:
    """A secret of one service, which `base_url` names. Source: failures, T-07.

    Raises:
        ValueError: the secret holds spaces, line breaks or foreign letters.
    """

    secret: str = field(repr=False)
    base_url: str

    def __post_init__(self) -> None:
        if not _KEY.fullmatch(self.secret):
            raise ValueError(
                "the key is too short, or holds spaces, line breaks or foreign letters"
            )

    def authorization(self, url: httpx.URL) -> str:
        """The header's value.

        Returns:
            The secret behind its scheme.

        Raises:
            ForeignHostError: scheme, host or port of `url` are not the key's own.
        """
        if origin(url) != origin(httpx.URL(self.base_url)):
            raise ForeignHostError(f"this key belongs to {self.base_url}, not to {url.host}")
        return f"Bearer {self.secret}"


@dataclass(frozen=True, slots=True)
class Keys:
    """What a client may authenticate with; `operator` governs the embedded service."""

    api: Key | None = None
    operator: Key | None = None

    def masked(self, raw: bytes) -> bytes:
        """What came from outside, without these keys: a service may echo what it was sent."""
        for key in (self.api, self.operator):
            if key is not None:
                raw = raw.replace(key.secret.encode(), b"[key]")
        return raw


def origin(url: httpx.URL) -> tuple[str, str, int | None]:
    """Scheme, host and port."""
    return url.scheme, url.host, url.port or _PORTS.get(url.scheme)


def service_address(base_url: str, *, may_be_plain: bool) -> httpx.URL:
    """Where a service lives, without a slash at the end.

    Args:
        base_url: as a person wrote it.
        may_be_plain: unencrypted http is accepted to any host, not to loopback only.

    Returns:
        The address.

    Raises:
        ValueError: no address, another scheme, a user name in it, or unencrypted http to a host
            that is not loopback.

    Source: wire reference, section 1.
    """
    try:
        url = httpx.URL(base_url.strip().rstrip("/"))
    except httpx.InvalidURL as error:
        raise ValueError("the base address cannot be read") from error
    if url.scheme not in _PORTS or not _HOST.fullmatch(url.raw_host):
        raise ValueError("the base address must begin with https:// and name a host")
    # The marks themselves count: 'https://host?' would swallow every path behind it.
    if url.userinfo or "?" in base_url or "#" in base_url:
        raise ValueError("the base address holds more than scheme, host, port and path")
    if url.port is not None and not 0 < url.port <= _PORT_MAX:
        raise ValueError("the base address names no port from 1 to 65535")
    local = url.host in _LOOPBACK or url.host.endswith(".localhost")
    if url.scheme == "http" and not local and not may_be_plain:
        raise ValueError(f"unencrypted http to {url.host} would show the key: use https")
    return url
