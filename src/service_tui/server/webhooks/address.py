"""Which addresses a webhook may have, and which a delivery may reach.

A delivery is a request that an agent makes this machine send: it must not reach what only this
machine can reach. A name is resolved once a delivery, every address of it must be public, and the
connection goes to the address that was checked, not to the name.
"""

import asyncio
import ipaddress
import socket
import threading
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Final
from urllib.parse import urlsplit

from service_tui.settings import PORT_MAX

IpAddress = ipaddress.IPv4Address | ipaddress.IPv6Address

Lookup = Callable[[str, int], Awaitable[Sequence[str]]]
"""The numbers of a name, as text; an OSError where it has none."""

_PORTS: Final = {"https": 443, "http": 80}
_RELAYS: Final = ipaddress.ip_network("192.88.99.0/24")
_UNICAST: Final = ipaddress.ip_network("2000::/3")
_UNROUTED: Final = tuple(
    map(ipaddress.ip_network, ("2001:db8::/32", "2002::/16", "2001::/32", "3fff::/20"))
)
"""Ranges of IPv6: only the first is given out, and these parts of it lead elsewhere."""

_NAT64: Final = ipaddress.ip_network("64:ff9b::/96")


class AddressRefusedError(Exception):
    """A webhook may not have this address; `str()` is the reason."""


@dataclass(frozen=True, slots=True)
class WebhookAddress:
    """An address taken apart; `number` is the host where it is one, `target` path and query."""

    scheme: str
    host: str
    port: int
    target: str
    number: IpAddress | None

    @property
    def host_header(self) -> str:
        """The value of the Host header."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == _PORTS[self.scheme] else f"{host}:{self.port}"


def parsed(url: str, *, allows_loopback: bool) -> WebhookAddress:
    """Take an address apart.

    Args:
        url: as the agent sent it.
        allows_loopback: True where the operator lets webhooks reach this machine.

    Returns:
        Its parts.

    Raises:
        AddressRefusedError: it is not https, or http to a loopback number that is allowed; it has
            a user name or a fragment; or its number is not public.
    """
    try:
        parts = urlsplit(url)
        host, port = (parts.hostname or "").rstrip("."), parts.port
    except ValueError as error:
        raise AddressRefusedError("not an address") from error
    if parts.scheme not in _PORTS or not host:
        raise AddressRefusedError("a webhook needs an https address")
    if parts.username is not None or parts.password is not None or parts.fragment:
        raise AddressRefusedError("no user name and no fragment in a webhook address")
    port = _PORTS[parts.scheme] if port is None else port
    if not 0 < port <= PORT_MAX:
        raise AddressRefusedError("not a port")
    number = _number_of(host)
    if number is not None:
        check_number(number, allows_loopback=allows_loopback)
    is_loopback = number is not None and number.is_loopback
    if parts.scheme == "http" and not is_loopback:
        raise AddressRefusedError("a webhook needs an https address; http is for loopback only")
    target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    return WebhookAddress(parts.scheme, host, port, target, number)


def _number_of(host: str) -> IpAddress | None:
    """The number that a host is, None for a name."""
    try:
        return ipaddress.ip_address(host)
    except ValueError:
        return None


def check_number(number: IpAddress, *, allows_loopback: bool) -> None:
    """Refuse a number that is not public.

    Raises:
        AddressRefusedError: it is loopback that is not allowed, private, link-local, multicast, or
            an IPv6 form of such a number.
    """
    inner = _inner(number)
    if inner is not None:
        # An IPv6 number with an IPv4 number inside: only the plain form of loopback is allowed.
        check_number(inner, allows_loopback=False)
    elif number.is_loopback:
        if not allows_loopback:
            raise AddressRefusedError("the operator does not allow webhooks to this machine")
        return
    if not number.is_global or number.is_multicast or not _is_routed(number):
        raise AddressRefusedError(f"{number} is not a public address")


def _is_routed(number: IpAddress) -> bool:
    """True for a number of the public internet, as far as its range shows."""
    if isinstance(number, ipaddress.IPv4Address):
        return number not in _RELAYS
    if number.scope_id is not None:
        return False
    return number in _NAT64 or (number in _UNICAST and all(number not in net for net in _UNROUTED))


def _inner(number: IpAddress) -> ipaddress.IPv4Address | None:
    """The IPv4 number inside an IPv6 number, None where there is none."""
    if isinstance(number, ipaddress.IPv4Address):
        return None
    inner = number.ipv4_mapped or number.sixtofour
    if number.teredo is not None:
        inner = number.teredo[1]
    elif number in _NAT64:
        inner = ipaddress.IPv4Address(int(number) & 0xFFFF_FFFF)
    return inner


async def reachable(address: WebhookAddress, lookup: Lookup, *, allows_loopback: bool) -> IpAddress:
    """The number to connect to.

    Raises:
        AddressRefusedError: the name has no number, or one that is not public. Loopback is
            reached by its number alone, never by a name.
    """
    if address.number is not None:
        check_number(address.number, allows_loopback=allows_loopback)
        return address.number
    try:
        found = [ipaddress.ip_address(text) for text in await lookup(address.host, address.port)]
    except (OSError, ValueError) as error:
        raise AddressRefusedError(f"unknown host {address.host}") from error
    if not found:
        raise AddressRefusedError(f"unknown host {address.host}")
    for number in found:
        check_number(number, allows_loopback=False)
    return found[0]


async def system_lookup(host: str, port: int) -> list[str]:
    """The numbers of a name, by the machine's own resolver, in a thread that ends no program."""
    loop = asyncio.get_running_loop()
    future: asyncio.Future[list[str]] = loop.create_future()

    def settle(result: list[str] | OSError) -> None:
        if future.done():
            return
        if isinstance(result, OSError):
            future.set_exception(result)
        else:
            future.set_result(result)

    def look() -> None:
        result: list[str] | OSError
        try:
            found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
            result = [str(row[4][0]) for row in found]
        except (OSError, UnicodeError) as error:
            result = error if isinstance(error, OSError) else OSError(str(error))
        # The loop may be closed by then, and the result is not needed any more.
        with suppress(RuntimeError):
            loop.call_soon_threadsafe(settle, result)

    # Neither the loop's own threads, which reads of the disk need, nor one that an end waits for.
    threading.Thread(target=look, name="webhook-lookup", daemon=True).start()
    return await future
