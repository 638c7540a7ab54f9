"""Addresses of services as a person writes them, before anything heavy is imported."""

from typing import Final
from urllib.parse import urlsplit

from service_tui.config import INSECURE_VARIABLE

LOOPBACK: Final = frozenset({"localhost", "127.0.0.1", "::1"})


class AddressError(ValueError):
    """Malformed address of a service, or one that would expose the key; one plain sentence."""


def check_url(url: str, *, may_be_plain: bool) -> str:
    """Normalise the address of a service, without its trailing slash.

    Args:
        url: as a person wrote it.
        may_be_plain: accept unencrypted http to any host; otherwise to this machine only.

    Returns:
        The address, its host in small letters.

    Raises:
        AddressError: it is no http(s) address, or would send the key unencrypted.
    """
    try:
        parts = urlsplit(url.strip())
        is_address = parts.scheme in {"http", "https"} and parts.hostname and parts.port != 0
    except ValueError:
        raise AddressError(f"{url!r} is not a service address, like https://host") from None
    if "@" in parts.netloc:
        raise AddressError("an address with a user name or password is not accepted")
    if not is_address or any(mark in url.strip() for mark in " ?#") or not url.isprintable():
        raise AddressError(f"{url!r} is not a service address, like https://host")
    host = parts.hostname or ""
    is_here = host in LOOPBACK or host.endswith(".localhost")
    if parts.scheme == "http" and not (is_here or may_be_plain):
        raise AddressError(
            f"unencrypted http to {host} would expose the key: use https, or set "
            f"{INSECURE_VARIABLE}"
        )
    return f"{parts.scheme}://{parts.netloc.lower()}{parts.path}".rstrip("/")


def folder_of(url: str) -> str:
    """The folder name of a service: host, port and path in letters that any file system takes."""
    parts = urlsplit(url)
    return "at-" + "".join(
        letter if letter.isalnum() or letter in ".-" else "_"
        for letter in f"{parts.netloc}{parts.path}"
    )
