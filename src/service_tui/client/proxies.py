"""The proxy that the environment names for an address; none for this machine itself."""

import ipaddress
import re
import socket
from collections.abc import Mapping
from contextlib import suppress
from typing import Final

import httpx

from service_tui.settings import PORT_MAX

_SCHEMES: Final = frozenset({"http", "https"})
_HOST: Final = re.compile(rb"[A-Za-z0-9_.:-]{1,253}")
NO_PROXY: Final = "no_proxy"
ALL_PROXY: Final = "all_proxy"


def proxy_for(base_url: str, environ: Mapping[str, str]) -> str | None:
    """The proxy through which an address is reached.

    Args:
        base_url: of the service.
        environ: HTTPS_PROXY or HTTP_PROXY by the address's scheme, else ALL_PROXY; NO_PROXY names
            hosts that are reached without. Small letters win over capitals, as with curl.

    Returns:
        The proxy's address, with its password if it has one; None where there is none.

    Raises:
        ValueError: the variable names no proxy that can be used. Its text is not repeated: it may
            hold a password.
    """
    url = httpx.URL(base_url.strip())
    if is_loopback(url.host) or _is_excepted(url, _value(NO_PROXY, environ)):
        return None
    for name in (f"{url.scheme}_proxy", ALL_PROXY):
        # Source: CVE-2016-5385; a caller of a CGI script sets this one by a header.
        is_forged = name == "http_proxy" and "REQUEST_METHOD" in environ
        given = environ.get(name, "") if is_forged else _value(name, environ)
        if given:
            return _checked(given, name.upper(), url.host)
    return None


def is_loopback(host: str) -> bool:
    """True for a name or number of this machine itself, in every form that leads to it."""
    host = host.strip("[]").removesuffix(".")
    if host == "localhost" or host.endswith(".localhost"):
        return True
    with suppress(ValueError, OSError):
        address = _number_of(host)
        inner = getattr(address, "ipv4_mapped", None) or address
        return inner.is_loopback or inner.is_unspecified
    return False


def _number_of(host: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address:
    # A resolver reads 127.1 and 2130706433 as numbers too.
    return ipaddress.ip_address(host if ":" in host else socket.inet_aton(host))


def _value(name: str, environ: Mapping[str, str]) -> str:
    return environ.get(name, environ.get(name.upper(), "")).strip()


def _checked(given: str, name: str, host: str) -> str:
    url = httpx.URL()
    with suppress(httpx.InvalidURL, ValueError):
        url = httpx.URL(given if "://" in given else f"http://{given}")
    if url.scheme.startswith("socks"):
        raise ValueError(
            f"{name} names a SOCKS proxy, which is not supported: give http://host:port, or set "
            f"NO_PROXY={host}"
        )
    is_host = _HOST.fullmatch(url.raw_host) is not None
    is_port = url.port is None or 0 < url.port <= PORT_MAX
    if url.scheme not in _SCHEMES or not (is_host and is_port) or url.path not in {"", "/"}:
        raise ValueError(f"{name} names no proxy: give http://host:port, or unset it")
    return str(url)


def _is_excepted(url: httpx.URL, excepted: str) -> bool:
    return any(_matches(url, one.strip().lower()) for one in excepted.split(","))


def _matches(url: httpx.URL, one: str) -> bool:
    """Whether an entry of NO_PROXY means a host: itself, a domain above it, or its network."""
    if one == "*":
        return True
    with suppress(ValueError):
        return ipaddress.ip_address(url.host) in ipaddress.ip_network(one.strip("[]"), strict=False)
    name, colon, port = one.rpartition(":")
    if colon and port.isdecimal():
        at = url.port or (443 if url.scheme == "https" else 80)
        if int(port) != at:
            return False
        one = name
    one = one.strip("[]").removeprefix("*").removeprefix(".")
    return bool(one) and (url.host == one or url.host.endswith(f".{one}"))
